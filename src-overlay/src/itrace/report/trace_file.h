/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The bytes of a trace buffer: a file, a pipe that can be read once, or memory.
 */

#ifndef OPENOCD_ITRACE_REPORT_TRACE_FILE_H
#define OPENOCD_ITRACE_REPORT_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITRACE_TRACE_CHUNK	65536u

struct itrace_trace_file {
	const char *path;	/* the caller's; "-" is standard input */
	int fd;			/* -1: not open, or memory */
	const uint8_t *memory;	/* the caller's; NULL: there is a file */
	uint64_t memory_off;	/* what of it is copied to buf next */
	bool seekable;
	uint64_t size;		/* bytes, when seekable */
	uint64_t off;		/* of the next byte that is read */
	uint8_t *buf;		/* ITRACE_TRACE_CHUNK bytes */
	size_t head_len;	/* bytes of the beginning that are in buf and come first */
	bool (*stop)(void *ctx);	/* asked while a pipe has nothing: true is the end of the input. May be NULL */
	void *stop_ctx;
};

/*
 * Never waits: a FIFO that nobody writes yet is open, and is waited for by the first read.
 * @param[out] why on failure one line that names the file
 * @returns false when it cannot be read (missing, a directory, no permission ...). Call itrace_trace_file_close() in
 * either case.
 */
bool itrace_trace_file_open(struct itrace_trace_file *file, const char *path, char *why, size_t why_size);

/*
 * Bytes in memory, which stay the caller's and there until the close. @param label stands for the path in messages
 * @returns false without memory for a buffer, *why filled. Call itrace_trace_file_close() in either case.
 */
bool itrace_trace_file_open_memory(struct itrace_trace_file *file, const char *label, const uint8_t *bytes,
		uint64_t len, char *why, size_t why_size);

void itrace_trace_file_close(struct itrace_trace_file *file);

/*
 * Read the beginning, at most ITRACE_TRACE_CHUNK bytes, without taking it: the next read hands it out again.
 * Only before the first read.
 * @returns bytes, or -1 with *why filled. They are valid until the next read.
 */
long itrace_trace_file_peek(struct itrace_trace_file *file, const uint8_t **bytes, char *why, size_t why_size);

/*
 * The next bytes, at most ITRACE_TRACE_CHUNK.
 * @returns bytes (off is then behind them), 0 at the end, -1 with *why filled. They are valid until the next read.
 */
long itrace_trace_file_read(struct itrace_trace_file *file, const uint8_t **bytes, char *why, size_t why_size);

/* Go back to the beginning. Only of a file that is seekable. */
bool itrace_trace_file_rewind(struct itrace_trace_file *file, char *why, size_t why_size);

/* The next bytes that are read are those from @a off on. Only of a file that is seekable. */
bool itrace_trace_file_seek(struct itrace_trace_file *file, uint64_t off, char *why, size_t why_size);

/*
 * Make a pipe seekable: its bytes go to a temporary file that vanishes by itself. Only before the first read.
 * @param most  bytes; more are refused
 * @param stop  asked now and then; true ends the copy early. May be NULL
 */
bool itrace_trace_file_spool(struct itrace_trace_file *file, uint64_t most, bool (*stop)(void *ctx), void *ctx,
		char *why, size_t why_size);

#endif /* OPENOCD_ITRACE_REPORT_TRACE_FILE_H */
