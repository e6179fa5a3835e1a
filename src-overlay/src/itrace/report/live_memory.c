// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "live_memory.h"

#define PAGE	ITRACE_IMAGE_PAGE

void itrace_live_memory_init(struct itrace_live_memory *live, const struct itrace_decode_io *io, bool keep)
{
	memset(live, 0, sizeof(*live));
	live->io = io;
	live->keep = keep;
}

void itrace_live_memory_free(struct itrace_live_memory *live)
{
	for (size_t i = 0; i < live->count; i++)
		free((void *)(uintptr_t)live->segments[i].data);
	free(live->segments);
	live->segments = NULL;
	live->count = 0;
}

static bool is_kept(const struct itrace_live_memory *live, uint64_t addr)
{
	for (size_t i = live->count; i--;)
		if (addr >= live->segments[i].addr && addr - live->segments[i].addr < live->segments[i].len)
			return true;
	return false;
}

/* What cannot be remembered is only missing in an exported snapshot. */
static void keep(struct itrace_live_memory *live, uint64_t addr, const uint8_t *bytes, size_t len)
{
	if (!live->keep || live->kept_len + len > ITRACE_LIVE_KEEP_MAX || is_kept(live, addr))
		return;
	struct itrace_segment *grown = realloc(live->segments, (live->count + 1) * sizeof(*grown));
	uint8_t *copy = malloc(len);
	if (grown)
		live->segments = grown;
	if (!grown || !copy) {
		free(copy);
		return;
	}
	memcpy(copy, bytes, len);
	live->segments[live->count++] = (struct itrace_segment){
		.addr = addr, .len = len, .data = copy, .space = ITRACE_SPACE_ANY, .source = ITRACE_SOURCE_LIVE
	};
	live->kept_len += len;
}

size_t itrace_live_memory_read(void *ctx, uint64_t addr, unsigned int space, uint8_t *dst, size_t len)
{
	struct itrace_live_memory *live = ctx;

	(void)space;
	size_t got = live->io->read_memory(live->io->ctx, addr, dst, len);
	if (got)
		keep(live, addr, dst, got);
	return got;
}

static void add_page(struct itrace_live_memory *live, uint64_t page)
{
	size_t i = (size_t)((page * 0x9e3779b97f4a7c15ull) >> 40) % ITRACE_LIVE_PAGES;

	/* one slot stays free, so that every search ends */
	if (live->ran_count == ITRACE_LIVE_PAGES - 1)
		return;
	while (live->ran[i]) {
		if (live->ran[i] == page + 1)
			return;
		i = (i + 1) % ITRACE_LIVE_PAGES;
	}
	live->ran[i] = page + 1;
	live->ran_count++;
}

void itrace_live_memory_events(struct itrace_live_memory *live, const struct itrace_event *events, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (events[i].kind != ITRACE_EVENT_RANGE || !events[i].count)
			continue;
		add_page(live, events[i].addr / PAGE);
		add_page(live, (events[i].end - 1) / PAGE);
	}
}

/* Bytes of @a page that a segment holds, from *addr on. */
static const uint8_t *find_bytes(const struct itrace_segment *segments, size_t count, uint64_t page, uint64_t *addr,
		size_t *len)
{
	for (size_t i = 0; i < count; i++) {
		const struct itrace_segment *segment = &segments[i];
		uint64_t first = page * PAGE > segment->addr ? page * PAGE : segment->addr;
		uint64_t last = page * PAGE + (PAGE - 1);
		if (!segment->len || first > last || first - segment->addr >= segment->len)
			continue;
		uint64_t left = segment->len - (first - segment->addr);
		*addr = first;
		*len = (size_t)(left < last - first + 1 ? left : last - first + 1);
		return segment->data + (first - segment->addr);
	}
	return NULL;
}

unsigned int itrace_live_memory_compare(struct itrace_live_memory *live, const struct itrace_segment *segments,
		size_t count, uint64_t *addr, unsigned int *differ)
{
	uint8_t bytes[PAGE];
	unsigned int compared = 0;

	*differ = 0;
	for (size_t i = 0; i < ITRACE_LIVE_PAGES; i++) {
		uint64_t start;
		size_t len, same = 0;

		if (!live->ran[i])
			continue;
		const uint8_t *expected = find_bytes(segments, count, live->ran[i] - 1, &start, &len);
		if (!expected)
			continue;
		if (live->io->poll && live->io->poll(live->io->ctx))
			break;
		size_t got = live->io->read_memory(live->io->ctx, start, bytes, len);
		compared += got > 0;
		while (same < got && bytes[same] == expected[same])
			same++;
		if (same == got)
			continue;
		if (!*differ || start + same < *addr)
			*addr = start + same;
		(*differ)++;
	}
	return compared;
}
