/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The J-Link protocol as it is spoken over TCP, for one JTAG and SWD probe: commands in, replies out. The caller has
 * the sockets. What a real probe would not understand is refused: the caller ends the program.
 */

#ifndef JLINK_SERVER_H
#define JLINK_SERVER_H

#include "sim_buffer.h"

#include <stdbool.h>

#define JLINK_PORT		19020u	/* TCP, and UDP for discovery */
#define JLINK_SERIAL		123456u
#define JLINK_ADVERTISEMENT	128u	/* bytes */
#define JLINK_STATUS_OK		0u
#define JLINK_STATUS_ERROR	1u

/** What is behind the probe. */
struct jlink_host {
	void *ctx;
	/** @returns the status byte. */
	uint8_t (*jtag_io)(void *ctx, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo, unsigned int bits);
	/** The same for SWD; NULL: the probe has JTAG only. @a dir: 1, the host drives. */
	uint8_t (*swd_io)(void *ctx, const uint8_t *dir, const uint8_t *out, uint8_t *in, unsigned int bits);
	void (*set_speed)(void *ctx, unsigned int khz);
	void (*reset)(void *ctx, bool trst, bool low);	/* TRST or SRST */
};

struct jlink_server {
	struct jlink_host host;
	bool jtag2;		/* the probe has the older JTAG command only */
	bool swd;		/* the interface that is selected */
	struct sim_buffer in;
	struct sim_buffer out;
	const char *error;	/* why it refuses */
};

/** A client has connected: what the probe says first is put in server->out. */
void jlink_server_hello(struct jlink_server *server);

/** Bytes from the client. Replies are put in server->out. @returns false: refused, see server->error. */
bool jlink_server_receive(struct jlink_server *server, const uint8_t *data, size_t len);

/** The datagram by which clients find the probe. */
void jlink_server_advertisement(uint8_t message[JLINK_ADVERTISEMENT]);

void jlink_server_free(struct jlink_server *server);

#endif
