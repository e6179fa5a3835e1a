// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output.h"

bool itrace_output_open(struct itrace_output *out, const char *path, const struct itrace_decode_io *io, char *why,
		size_t why_size)
{
	memset(out, 0, sizeof(*out));
	out->fd = -1;
	out->io = io;
	out->buf = malloc(ITRACE_OUTPUT_SIZE);
	if (!out->buf) {
		snprintf(why, why_size, "no memory for the output buffer (%u bytes)", ITRACE_OUTPUT_SIZE);
		return false;
	}
	if (!path || !strcmp(path, "-"))
		return true;

	out->path = path;
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (out->fd < 0) {
		snprintf(why, why_size, "cannot write '%s': %s", path, strerror(errno));
		free(out->buf);
		out->buf = NULL;
		return false;
	}
	return true;
}

static void output_fail(struct itrace_output *out, int error, bool closed)
{
	out->failed = true;
	out->error = error;
	out->closed = closed;
}

static void output_write_file(struct itrace_output *out)
{
	size_t done = 0;

	while (done < out->len) {
		ssize_t n = write(out->fd, out->buf + done, out->len - done);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			output_fail(out, errno, errno == EPIPE);
			return;
		}
		done += (size_t)n;
	}
}

static void output_write_io(struct itrace_output *out)
{
	const struct itrace_decode_io *io = out->io;

	if (!io || !io->write)
		return;
	errno = 0;
	if (!io->write(io->ctx, out->buf, out->len))
		return;
	int error = errno;
	bool closed = io->write_closed ? io->write_closed(io->ctx) : error == EPIPE;
	output_fail(out, error, closed);
}

void itrace_output_flush(struct itrace_output *out)
{
	if (!out->failed && out->len) {
		if (out->fd >= 0)
			output_write_file(out);
		else
			output_write_io(out);
	}
	out->len = 0;
}

bool itrace_output_close(struct itrace_output *out, char *why, size_t why_size)
{
	if (!out->buf)
		return !out->failed || out->closed;

	itrace_output_flush(out);
	/* a network file system may tell only now that the disk is full */
	if (out->fd >= 0 && close(out->fd) && !out->failed)
		output_fail(out, errno, false);
	out->fd = -1;
	free(out->buf);
	out->buf = NULL;

	if (!out->failed || out->closed)
		return true;
	snprintf(why, why_size, "cannot write %s%s%s: %s", out->path ? "'" : "", out->path ? out->path : "the output",
			out->path ? "'" : "", out->error ? strerror(out->error) : "no more is taken");
	return false;
}

void itrace_output_bytes(struct itrace_output *out, const char *data, size_t len)
{
	while (len) {
		size_t part = len < ITRACE_OUTPUT_ROOM_MAX ? len : ITRACE_OUTPUT_ROOM_MAX;
		memcpy(itrace_output_room(out, part), data, part);
		itrace_output_took(out, part);
		data += part;
		len -= part;
	}
}

void itrace_output_hex(struct itrace_output *out, uint64_t value, unsigned int digits)
{
	static const char digit[] = "0123456789abcdef";
	unsigned int len = 1;

	for (uint64_t rest = value >> 4; rest; rest >>= 4)
		len++;
	if (len < digits)
		len = digits;

	char *text = itrace_output_room(out, len);
	for (unsigned int i = len; i--; value >>= 4)
		text[i] = digit[value & 0xf];
	itrace_output_took(out, len);
}

void itrace_output_decimal(struct itrace_output *out, uint64_t value, unsigned int width)
{
	char text[20];
	unsigned int len = 0;

	do {
		text[sizeof(text) - ++len] = (char)('0' + value % 10);
		value /= 10;
	} while (value);

	char *room = itrace_output_room(out, sizeof(text) + width);
	unsigned int pad = len < width ? width - len : 0;
	memset(room, ' ', pad);
	memcpy(room + pad, text + sizeof(text) - len, len);
	itrace_output_took(out, pad + len);
}

void itrace_output_column(struct itrace_output *out, uint64_t start, unsigned int column)
{
	uint64_t used = out->total_len - start;
	size_t pad = used < column ? (size_t)(column - used) : 1;

	memset(itrace_output_room(out, pad), ' ', pad);
	itrace_output_took(out, pad);
}

void itrace_output_format(struct itrace_output *out, const char *format, ...)
{
	char *room = itrace_output_room(out, ITRACE_OUTPUT_ROOM_MAX);
	va_list args;

	va_start(args, format);
	int len = vsnprintf(room, ITRACE_OUTPUT_ROOM_MAX, format, args);
	va_end(args);
	if (len < 0)
		return;
	itrace_output_took(out, (size_t)len < ITRACE_OUTPUT_ROOM_MAX ? (size_t)len : ITRACE_OUTPUT_ROOM_MAX - 1);
}
