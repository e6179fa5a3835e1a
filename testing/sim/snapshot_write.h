/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Writes a CoreSight snapshot: a directory with snapshot.ini, trace.ini, one ini file for each core and each trace
 * source, the memory images and the trace buffer. OpenCSD's trc_pkt_lister reads it as it is.
 */

#ifndef SNAPSHOT_WRITE_H
#define SNAPSHOT_WRITE_H

#include "cs_formatter.h"
#include "ete_encoder.h"

/** A piece of memory that the program was executed from. */
struct snapshot_image {
	uint64_t address;
	const uint8_t *data;	/* not owned */
	size_t len;		/* even */
};

/** One core and its trace source. */
struct snapshot_stream {
	const struct ete_config *config;
	const char *core_type;
	const struct snapshot_image *images;
	unsigned int image_count;
	const struct sim_buffer *truth;	/* written as truth.log, or truth.<id>.log if there are several streams */
};

/**
 * Write the directory; it is created if needed, files in it are overwritten.
 * @param trace Raw bytes of the only stream, or frames.
 * @returns 0, or -1 with errno set.
 */
int snapshot_write(const char *dir, const struct snapshot_stream *streams, unsigned int count, enum cs_framing framing,
		const struct sim_buffer *trace);

/** Create a directory and its parents. @returns 0, or -1 with errno set. */
int snapshot_make_dir(const char *dir);

#endif
