/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The world around a decode: where text and messages go, and what else the caller lends.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_IO_H
#define OPENOCD_ITRACE_REPORT_DECODE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum itrace_message_level {
	ITRACE_MESSAGE_ERROR,	/* why nothing came of it; one line */
	ITRACE_MESSAGE_WARNING,
	ITRACE_MESSAGE_INFO,	/* the ledger, notes */
	ITRACE_MESSAGE_PROGRESS	/* how far it is; only worth showing on a terminal */
};

struct itrace_capture;

/* The world around a decode. Every pointer but write and message may be NULL. */
struct itrace_decode_io {
	/* listing text, when no -o is given. @returns 0, or -1: no more is wanted (closed pipe) or can be taken */
	int (*write)(void *ctx, const char *data, size_t len);
	/* one line without line end */
	void (*message)(void *ctx, enum itrace_message_level level, const char *line);
	/* called at least every 200 ms; @returns true to stop with what there is */
	bool (*poll)(void *ctx);
	/* -memory: read target memory; @returns bytes read. NULL: -memory is refused */
	size_t (*read_memory)(void *ctx, uint64_t addr, void *dst, size_t len);
	/* true: the place that write() goes to took no more (tells a closed pipe, which ends quietly, from a full disk) */
	bool (*write_closed)(void *ctx);
	/* what is decoded, see capture.h; NULL: the source is among the options. Else no option may name a source */
	const struct itrace_capture *capture;
	void *ctx;
};

#endif /* OPENOCD_ITRACE_REPORT_DECODE_IO_H */
