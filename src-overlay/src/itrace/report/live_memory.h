/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Code from the target's memory: read what no file has, remember it, and compare what ran with the files.
 */

#ifndef OPENOCD_ITRACE_REPORT_LIVE_MEMORY_H
#define OPENOCD_ITRACE_REPORT_LIVE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../event.h"
#include "../image.h"
#include "decode_io.h"

#define ITRACE_LIVE_PAGES		1024u	/* that ran and are compared, at most */
#define ITRACE_LIVE_KEEP_MAX	(16u << 20)	/* bytes that are remembered, at most */

struct itrace_live_memory {
	const struct itrace_decode_io *io;
	bool keep;			/* remember what was read */
	struct itrace_segment *segments;	/* what was read; owned, with their data */
	size_t count;
	size_t kept_len;
	uint64_t ran[ITRACE_LIVE_PAGES];	/* hash set of page numbers + 1 that ran */
	unsigned int ran_count;
};

void itrace_live_memory_init(struct itrace_live_memory *live, const struct itrace_decode_io *io, bool keep);

void itrace_live_memory_free(struct itrace_live_memory *live);

/* For itrace_image_init(); @a ctx is the struct. */
size_t itrace_live_memory_read(void *ctx, uint64_t addr, unsigned int space, uint8_t *dst, size_t len);

/* Notes where ranges ran. */
void itrace_live_memory_events(struct itrace_live_memory *live, const struct itrace_event *events, unsigned int n);

/*
 * Compare the pages that ran with the target, as far as @a segments hold them.
 * @param[out] addr first difference
 * @param[out] differ pages that differ
 * Reading may take long: io->poll is called before each page, and true from it ends the comparison early.
 * @returns how many pages were compared
 */
unsigned int itrace_live_memory_compare(struct itrace_live_memory *live, const struct itrace_segment *segments,
		size_t count, uint64_t *addr, unsigned int *differ);

#endif /* OPENOCD_ITRACE_REPORT_LIVE_MEMORY_H */
