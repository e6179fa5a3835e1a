/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Where text goes: a large buffer in front of the caller's write function or a file.
 *
 * Nothing here fails while it is being written to: a full disk or a closed pipe is remembered, later text is dropped,
 * and itrace_output_close() tells. Whoever makes text in a loop asks itrace_output_stopped() now and then.
 */

#ifndef OPENOCD_ITRACE_REPORT_OUTPUT_H
#define OPENOCD_ITRACE_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "decode_io.h"

#define ITRACE_OUTPUT_SIZE	(1u << 18)	/* bytes of the buffer */
#define ITRACE_OUTPUT_ROOM_MAX	4096u		/* bytes that itrace_output_room() can promise */

struct itrace_output {
	char *buf;
	size_t len;			/* bytes in buf */
	const struct itrace_decode_io *io;	/* where to, when fd is -1; may be NULL: nowhere */
	int fd;				/* of the file, or -1 */
	int error;			/* errno of the first failed write, 0 = none */
	bool failed;			/* writing failed: what comes is dropped */
	bool closed;			/* it failed because the reader went away: no error */
	const char *path;		/* of the file, for messages; the caller's */
	uint64_t total_len;		/* bytes taken, written or not */
};

/*
 * Begin. @a path: a file to create (or to empty), which must stay the caller's; NULL or "-": io->write.
 * @param[out] why   one line when it fails, at most @a why_size bytes
 * @returns false when the file cannot be created or there is no memory.
 */
bool itrace_output_open(struct itrace_output *out, const char *path, const struct itrace_decode_io *io, char *why,
		size_t why_size);

/* Hand on what is in the buffer. */
void itrace_output_flush(struct itrace_output *out);

/*
 * Flush, close and free. May be called again, and on zeroed storage (fd 0 must then not be meant).
 * @returns true when everything was written or the reader went away; else *why is one line that names the file.
 */
bool itrace_output_close(struct itrace_output *out, char *why, size_t why_size);

/* True when no text is taken any more. */
static inline bool itrace_output_stopped(const struct itrace_output *out)
{
	return out->failed;
}

/*
 * Room for @a size bytes (at most ITRACE_OUTPUT_ROOM_MAX) of text, to be filled by the caller, who then says how many
 * there are: itrace_output_took(). This is the fast way: no copy.
 */
static inline char *itrace_output_room(struct itrace_output *out, size_t size)
{
	if (ITRACE_OUTPUT_SIZE - out->len < size)
		itrace_output_flush(out);
	return out->buf + out->len;
}

static inline void itrace_output_took(struct itrace_output *out, size_t len)
{
	out->len += len;
	out->total_len += len;
}

static inline void itrace_output_char(struct itrace_output *out, char c)
{
	*itrace_output_room(out, 1) = c;
	itrace_output_took(out, 1);
}

/* Any length. */
void itrace_output_bytes(struct itrace_output *out, const char *data, size_t len);

static inline void itrace_output_text(struct itrace_output *out, const char *text)
{
	itrace_output_bytes(out, text, strlen(text));
}

/* @a value in hex without 0x, at least @a digits (at most 16) digits. */
void itrace_output_hex(struct itrace_output *out, uint64_t value, unsigned int digits);

/* @a value in decimal, right aligned in @a width (at most 20) columns. */
void itrace_output_decimal(struct itrace_output *out, uint64_t value, unsigned int width);

/* Blanks up to @a column, counted from where @a start (a total_len) was; at least one. */
void itrace_output_column(struct itrace_output *out, uint64_t start, unsigned int column);

/* As printf, for lines that are few; one call writes at most ITRACE_OUTPUT_ROOM_MAX - 1 bytes. */
void itrace_output_format(struct itrace_output *out, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

#endif /* OPENOCD_ITRACE_REPORT_OUTPUT_H */
