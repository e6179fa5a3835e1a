// SPDX-License-Identifier: GPL-2.0-or-later

#include "bitbang_server.h"

#define CLIENT_BUFFER	512u

static void edge(struct bitbang_server *server, unsigned int pins)
{
	bool tck = pins & 4;

	if (tck && !server->tck)
		jtag_chain_clock(&server->probe->chain, pins & 2, pins & 1);
	server->tck = tck;
}

static void reset(struct bitbang_server *server, unsigned int lines)
{
	if (lines & 2)
		probe_reset_line(server->probe, true, true);
	probe_reset_line(server->probe, false, lines & 1);
}

static bool character(struct bitbang_server *server, uint8_t c)
{
	if (c >= '0' && c <= '7')
		edge(server, c - '0');
	else if (c == 'R')
		sim_buffer_byte(&server->out, '0' + jtag_chain_tdo(&server->probe->chain));
	else if (c >= 'r' && c <= 'u')
		reset(server, c - 'r');
	else
		return c == 'B' || c == 'b' || c == 'Q';
	return true;
}

bool bitbang_server_receive(struct bitbang_server *server, const uint8_t *data, size_t len)
{
	if (!server->in_burst)
		server->tck_before = probe_burst_begin(server->probe);
	server->in_burst = true;
	server->burst_len += len;
	for (size_t i = 0; i < len; i++) {
		if (!character(server, data[i]))
			return false;
	}
	return true;
}

bool bitbang_server_unfinished(const struct bitbang_server *server)
{
	return server->burst_len && server->burst_len % CLIENT_BUFFER == 0;
}

void bitbang_server_drained(struct bitbang_server *server)
{
	if (!server->in_burst)
		return;
	server->in_burst = false;
	server->burst_len = 0;
	probe_burst_end(server->probe, server->tck_before, server->out.len > 0);
}
