// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#ifndef _WIN32
#include <poll.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_file.h"

#ifndef O_BINARY
#define O_BINARY	0
#endif
#ifndef O_NONBLOCK
#define O_NONBLOCK	0
#endif

#define WAIT_MS	100	/* between two questions whether to stop */

static const char *label(const struct itrace_trace_file *file)
{
	return !strcmp(file->path, "-") ? "standard input" : file->path;
}

static bool fail(const struct itrace_trace_file *file, const char *what, char *why, size_t why_size)
{
	int error = errno;

	snprintf(why, why_size, "%s '%s': %s", what, label(file), strerror(error));
	return false;
}

static bool set_up(struct itrace_trace_file *file, const char *path, char *why, size_t why_size)
{
	memset(file, 0, sizeof(*file));
	file->path = path;
	file->fd = -1;
	file->buf = malloc(ITRACE_TRACE_CHUNK);
	if (!file->buf)
		snprintf(why, why_size, "no memory to read '%s'", path);
	return file->buf;
}

bool itrace_trace_file_open(struct itrace_trace_file *file, const char *path, char *why, size_t why_size)
{
	struct stat status;

	if (!set_up(file, path, why, why_size))
		return false;
	file->fd = !strcmp(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_BINARY | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status))
		return fail(file, "cannot open trace", why, why_size);
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return fail(file, "cannot read trace", why, why_size);
	}
	file->seekable = S_ISREG(status.st_mode) && lseek(file->fd, 0, SEEK_CUR) == 0;
	file->size = file->seekable ? (uint64_t)status.st_size : 0;
	return true;
}

bool itrace_trace_file_open_memory(struct itrace_trace_file *file, const char *label, const uint8_t *bytes,
		uint64_t len, char *why, size_t why_size)
{
	static const uint8_t nothing;

	if (!set_up(file, label, why, why_size))
		return false;
	file->memory = bytes ? bytes : &nothing;
	file->seekable = true;
	file->size = bytes ? len : 0;
	return true;
}

void itrace_trace_file_close(struct itrace_trace_file *file)
{
	if (file->buf && file->fd >= 0)
		close(file->fd);
	free(file->buf);
	file->buf = NULL;
	file->fd = -1;
}

/* Wait until there is something to read, or the end. @returns false when it is not to be waited for */
static bool wait_for_input(const struct itrace_trace_file *file)
{
#ifndef _WIN32
	struct pollfd pollfd = { .fd = file->fd, .events = POLLIN };

	while (!file->seekable) {
		int ready = poll(&pollfd, 1, WAIT_MS);
		if (ready > 0 || (ready < 0 && errno != EINTR))
			break;
		if (file->stop && file->stop(file->stop_ctx))
			return false;
	}
#endif
	return true;
}

static long copy_memory(struct itrace_trace_file *file)
{
	const uint64_t left = file->memory_off < file->size ? file->size - file->memory_off : 0;
	const size_t part = left < ITRACE_TRACE_CHUNK ? (size_t)left : ITRACE_TRACE_CHUNK;

	memcpy(file->buf, file->memory + file->memory_off, part);
	file->memory_off += part;
	return (long)part;
}

/* Fill the buffer as far as the input goes. */
static long read_full(struct itrace_trace_file *file, size_t have, char *why, size_t why_size)
{
	if (file->memory)
		return copy_memory(file);
	while (have < ITRACE_TRACE_CHUNK && wait_for_input(file)) {
		ssize_t n = read(file->fd, file->buf + have, ITRACE_TRACE_CHUNK - have);
		if (n < 0) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			fail(file, "cannot read trace", why, why_size);
			return -1;
		}
		if (!n)
			break;
		have += (size_t)n;
		/* what a pipe has now is decoded now */
		if (!file->seekable && !file->head_len)
			break;
	}
	return (long)have;
}

long itrace_trace_file_peek(struct itrace_trace_file *file, const uint8_t **bytes, char *why, size_t why_size)
{
	*bytes = file->buf;
	if (file->head_len)
		return (long)file->head_len;
	/* not 0, so that a pipe is read until the buffer is full */
	file->head_len = 1;
	long len = read_full(file, 0, why, why_size);
	file->head_len = len > 0 ? (size_t)len : 0;
	return len;
}

long itrace_trace_file_read(struct itrace_trace_file *file, const uint8_t **bytes, char *why, size_t why_size)
{
	long len = (long)file->head_len;

	*bytes = file->buf;
	file->head_len = 0;
	if (!len)
		len = read_full(file, 0, why, why_size);
	if (len > 0)
		file->off += (uint64_t)len;
	return len;
}

bool itrace_trace_file_seek(struct itrace_trace_file *file, uint64_t off, char *why, size_t why_size)
{
	file->off = off;
	file->head_len = 0;
	file->memory_off = off < file->size ? off : file->size;
	return file->memory || lseek(file->fd, (off_t)off, SEEK_SET) == (off_t)off ||
			fail(file, "cannot rewind trace", why, why_size);
}

bool itrace_trace_file_rewind(struct itrace_trace_file *file, char *why, size_t why_size)
{
	return itrace_trace_file_seek(file, 0, why, why_size);
}

static bool write_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

bool itrace_trace_file_spool(struct itrace_trace_file *file, uint64_t most, bool (*stop)(void *ctx), void *ctx,
		char *why, size_t why_size)
{
	const uint8_t *bytes;
	long len = 0;

	if (file->seekable)
		return true;
	FILE *spool = tmpfile();
	int fd = spool ? dup(fileno(spool)) : -1;
	if (spool)
		fclose(spool);
	if (fd < 0)
		return fail(file, "cannot make a temporary file for", why, why_size);

	while (!(stop && stop(ctx))) {
		len = itrace_trace_file_read(file, &bytes, why, why_size);
		if (len <= 0)
			break;
		if (file->off > most) {
			close(fd);
			snprintf(why, why_size, "%s: more than %" PRIu64 " bytes come; no trace of this kind is longer",
					label(file), most);
			return false;
		}
		if (!write_all(fd, bytes, (size_t)len)) {
			close(fd);
			return fail(file, "cannot copy to a temporary file", why, why_size);
		}
	}
	close(file->fd);
	file->fd = fd;
	file->seekable = true;
	file->size = file->off;
	return len >= 0 && itrace_trace_file_rewind(file, why, why_size);
}
