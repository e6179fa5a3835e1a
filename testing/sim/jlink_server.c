// SPDX-License-Identifier: GPL-2.0-or-later

#include "jlink_server.h"

#include <string.h>

#define PREFIX			0x07u	/* goes before each command on TCP */
#define MAX_BITS		16384u	/* what this probe has buffers for, each of TMS, TDI, TDO */
#define BASE_HZ			100000000u
#define MIN_DIVIDER		2u
#define MAX_KHZ			(BASE_HZ / 1000 / MIN_DIVIDER)
#define HANDLE			1u
#define REGISTER_LEN		0x4cu	/* least length of a connection list */
#define REGISTER_ENTRY		16u

enum { INTERFACE_JTAG, INTERFACE_SWD };

/* GET_HW_VERSION, READ_CONFIG, GET_SPEEDS, GET_FREE_MEMORY, HW_INFO, SELECT_TIF, REGISTER */
#define CAPABILITIES		(1u << 1 | 1u << 4 | 1u << 9 | 1u << 11 | 1u << 12 | 1u << 17 | 1u << 27)

enum {
	CMD_VERSION = 0x01,
	CMD_SET_SPEED = 0x05,
	CMD_HW_STATUS = 0x07,
	CMD_REGISTER = 0x09,
	CMD_GET_SPEEDS = 0xc0,
	CMD_SELECT_TIF = 0xc7,
	CMD_JTAG2 = 0xce,
	CMD_JTAG3 = 0xcf,
	CMD_FREE_MEMORY = 0xd4,
	CMD_CLEAR_RESET = 0xdc,
	CMD_SET_RESET = 0xdd,
	CMD_CLEAR_TRST = 0xde,
	CMD_SET_TRST = 0xdf,
	CMD_CAPS = 0xe8,
	CMD_HW_VERSION = 0xf0,
	CMD_READ_CONFIG = 0xf2,
};

static const char firmware[] = "J-Link simulated, no hardware";

static bool refuse(struct jlink_server *server, const char *why)
{
	server->error = why;
	return false;
}

static uint32_t hw_version(const struct jlink_server *server)
{
	return server->jtag2 ? 40000 : 100000;	/* 4.00, 10.00: from 5.00 on there is the newer JTAG command */
}

static bool do_version(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	sim_buffer_le(&server->out, sizeof(firmware), 2);
	sim_buffer_append(&server->out, firmware, sizeof(firmware));
	return true;
}

static bool do_caps(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	sim_buffer_le(&server->out, CAPABILITIES, 4);
	return true;
}

static bool do_hw_version(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	sim_buffer_le(&server->out, hw_version(server), 4);
	return true;
}

static bool do_config(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	for (unsigned int i = 0; i < 256; i++)
		sim_buffer_byte(&server->out, 0xff);
	return true;
}

static bool do_hw_status(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	sim_buffer_le(&server->out, 3300, 2);	/* mV */
	sim_buffer_le(&server->out, 0, 6);	/* pins */
	return true;
}

static bool do_register(struct jlink_server *server, const uint8_t *args)
{
	if (args[0] != 0x64 && args[0] != 0x65)
		return refuse(server, "neither registers nor unregisters a connection");
	bool list = args[0] == 0x64;
	size_t start = server->out.len;
	sim_buffer_le(&server->out, HANDLE, 2);
	sim_buffer_le(&server->out, list, 2);
	sim_buffer_le(&server->out, REGISTER_ENTRY, 2);
	sim_buffer_le(&server->out, 0, 2);
	if (list) {
		sim_buffer_append(&server->out, args + 1, 10);	/* process, host, interface and connection as given */
		sim_buffer_le(&server->out, HANDLE, 2);
		sim_buffer_le(&server->out, 0, 4);	/* age */
	}
	while (server->out.len - start < REGISTER_LEN)
		sim_buffer_byte(&server->out, 0);
	return true;
}

static bool do_select(struct jlink_server *server, const uint8_t *args)
{
	bool has_swd = server->host.swd_io;

	if (args[0] == 0xff) {
		sim_buffer_le(&server->out, 1u << INTERFACE_JTAG | (uint32_t)has_swd << INTERFACE_SWD, 4);
		return true;
	}
	if (args[0] != 0xfe && args[0] != INTERFACE_JTAG && (args[0] != INTERFACE_SWD || !has_swd))
		return refuse(server, "selects an interface that this probe does not have");
	sim_buffer_le(&server->out, server->swd, 4);
	if (args[0] != 0xfe)
		server->swd = args[0] == INTERFACE_SWD;
	return true;
}

static bool do_get_speeds(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	sim_buffer_le(&server->out, BASE_HZ, 4);
	sim_buffer_le(&server->out, MIN_DIVIDER, 2);
	return true;
}

static bool do_set_speed(struct jlink_server *server, const uint8_t *args)
{
	unsigned int khz = args[0] | args[1] << 8;

	if (!khz || khz > MAX_KHZ)
		return refuse(server, "speed out of range");
	server->host.set_speed(server->host.ctx, khz);
	return true;
}

static bool do_clear_reset(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	server->host.reset(server->host.ctx, false, true);
	return true;
}

static bool do_set_reset(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	server->host.reset(server->host.ctx, false, false);
	return true;
}

static bool do_clear_trst(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	server->host.reset(server->host.ctx, true, true);
	return true;
}

static bool do_nothing(struct jlink_server *server, const uint8_t *args)
{
	(void)server;
	(void)args;
	return true;
}

static bool do_free_memory(struct jlink_server *server, const uint8_t *args)
{
	(void)args;
	sim_buffer_le(&server->out, 8192, 4);
	return true;
}

/* All but the JTAG commands: how many bytes follow the command byte, and what it does. */
static const struct command {
	uint8_t code;
	uint8_t args;
	bool (*run)(struct jlink_server *server, const uint8_t *args);
} commands[] = {
	{ CMD_VERSION, 0, do_version },
	{ CMD_SET_SPEED, 2, do_set_speed },
	{ CMD_HW_STATUS, 0, do_hw_status },
	{ CMD_REGISTER, 13, do_register },
	{ CMD_GET_SPEEDS, 0, do_get_speeds },
	{ CMD_SELECT_TIF, 1, do_select },
	{ CMD_FREE_MEMORY, 0, do_free_memory },
	{ CMD_CLEAR_RESET, 0, do_clear_reset },
	{ CMD_SET_RESET, 0, do_set_reset },
	{ CMD_CLEAR_TRST, 0, do_clear_trst },
	{ CMD_SET_TRST, 0, do_nothing },
	{ CMD_CAPS, 0, do_caps },
	{ CMD_HW_VERSION, 0, do_hw_version },
	{ CMD_READ_CONFIG, 0, do_config },
};

/*
 * Bits on the wire: TMS and TDI, or direction and SWDIO. SWD has the newer command only.
 * @returns bytes used up, 0: not all is there yet or refused.
 */
static size_t do_bits(struct jlink_server *server, const uint8_t *data, size_t len)
{
	uint8_t tdo[MAX_BITS / 8];
	bool old = server->jtag2 && !server->swd;

	if (data[0] != (old ? CMD_JTAG2 : CMD_JTAG3)) {
		refuse(server, "uses the JTAG command of another hardware version");
		return 0;
	}
	if (len < 4)
		return 0;
	unsigned int bits = data[2] | data[3] << 8;
	size_t bytes = (bits + 7) / 8;
	if (data[1] || !bits || bits > MAX_BITS) {
		refuse(server, "JTAG command with a bad length");
		return 0;
	}
	if (len < 4 + 2 * bytes)
		return 0;
	uint8_t status = (server->swd ? server->host.swd_io : server->host.jtag_io)(server->host.ctx, data + 4,
		data + 4 + bytes, tdo, bits);
	sim_buffer_append(&server->out, tdo, bytes);
	if (!old)
		sim_buffer_byte(&server->out, status);
	return 4 + 2 * bytes;
}

/* One command without its prefix. @returns bytes used up, 0: not all is there yet or refused. */
static size_t one_command(struct jlink_server *server, const uint8_t *data, size_t len)
{
	if (data[0] == CMD_JTAG2 || data[0] == CMD_JTAG3)
		return do_bits(server, data, len);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *command = &commands[i];
		if (command->code != data[0])
			continue;
		if (len < 1u + command->args || !command->run(server, data + 1))
			return 0;
		return 1u + command->args;
	}
	refuse(server, "unknown command");
	return 0;
}

bool jlink_server_receive(struct jlink_server *server, const uint8_t *data, size_t len)
{
	size_t at = 0;

	sim_buffer_append(&server->in, data, len);
	while (server->in.len - at >= 2) {
		if (server->in.data[at] != PREFIX)
			return refuse(server, "command without its prefix");
		size_t used = one_command(server, server->in.data + at + 1, server->in.len - at - 1);
		if (!used)
			break;
		at += 1 + used;
	}
	memmove(server->in.data, server->in.data + at, server->in.len - at);
	server->in.len -= at;
	return !server->error;
}

void jlink_server_hello(struct jlink_server *server)
{
	static const char name[] = "Simulated";

	server->swd = false;
	sim_buffer_clear(&server->in);
	sim_buffer_clear(&server->out);
	sim_buffer_byte(&server->out, 0);
	sim_buffer_le(&server->out, 1, 2);	/* protocol version */
	sim_buffer_byte(&server->out, sizeof(name));
	sim_buffer_append(&server->out, name, sizeof(name));
}

static void put_le32(uint8_t *at, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++)
		at[i] = value >> 8 * i;
}

void jlink_server_advertisement(uint8_t message[JLINK_ADVERTISEMENT])
{
	static const uint8_t address[] = { 127, 0, 0, 1 };
	static const uint8_t mac[] = { 0x02, 0, 0, 0, 0, 1 };

	memset(message, 0, JLINK_ADVERTISEMENT);
	memcpy(message, "Found", 5);
	memcpy(message + 16, address, sizeof(address));
	memcpy(message + 32, mac, sizeof(mac));
	put_le32(message + 48, JLINK_SERIAL);
	put_le32(message + 52, 100000);
	memcpy(message + 64, "J-Link", 6);
	memcpy(message + 96, "Simulated", 9);
}

void jlink_server_free(struct jlink_server *server)
{
	sim_buffer_free(&server->in);
	sim_buffer_free(&server->out);
}
