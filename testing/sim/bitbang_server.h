/* SPDX-License-Identifier: GPL-2.0-or-later */

/* OpenOCD's remote_bitbang protocol: a character for each edge, a character for each value of TDO asked for. */

#ifndef BITBANG_SERVER_H
#define BITBANG_SERVER_H

#include "probe.h"
#include "sim_buffer.h"

struct bitbang_server {
	struct probe *probe;
	bool tck;		/* its level */
	bool in_burst;
	uint64_t tck_before;
	size_t burst_len;	/* characters in the present burst */
	struct sim_buffer out;	/* values that the client has not got yet */
};

/** Characters from the client. @returns false: one that nobody knows. */
bool bitbang_server_receive(struct bitbang_server *server, const uint8_t *data, size_t len);

/** May more of the same burst be on its way? The client sends pieces of 512 without waiting. */
bool bitbang_server_unfinished(const struct bitbang_server *server);

/** Nothing more has come: the burst is complete, and server->out is to be sent. */
void bitbang_server_drained(struct bitbang_server *server);

#endif
