/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The world around a decode, for tests: text and messages are kept, and writing fails when asked to.
 */

#ifndef TESTING_UNIT_REPORT_SINK_H
#define TESTING_UNIT_REPORT_SINK_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/decode_run.h"

static struct {
	char text[1 << 16];
	size_t len;
	char messages[1 << 14];		/* "E: ...\n" and so on */
	size_t messages_len;
	bool full, closed;		/* writing fails */
} sink;

static inline int sink_write(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	if (sink.full || sink.closed) {
		errno = sink.closed ? EPIPE : ENOSPC;
		return -1;
	}
	if (len > sizeof(sink.text) - 1 - sink.len)
		len = sizeof(sink.text) - 1 - sink.len;
	memcpy(sink.text + sink.len, data, len);
	sink.len += len;
	sink.text[sink.len] = 0;
	return 0;
}

static inline bool sink_closed(void *ctx)
{
	(void)ctx;
	return sink.closed;
}

static inline void sink_message(void *ctx, enum itrace_message_level level, const char *line)
{
	int n = snprintf(sink.messages + sink.messages_len, sizeof(sink.messages) - sink.messages_len, "%c: %s\n",
			"EWIP"[level], line);

	(void)ctx;
	if (n > 0 && (size_t)n < sizeof(sink.messages) - sink.messages_len)
		sink.messages_len += (size_t)n;
}

static inline void sink_clear(void)
{
	memset(&sink, 0, sizeof(sink));
}

static const struct itrace_decode_io sink_io = {
	.write = sink_write, .message = sink_message, .write_closed = sink_closed
};

#endif /* TESTING_UNIT_REPORT_SINK_H */
