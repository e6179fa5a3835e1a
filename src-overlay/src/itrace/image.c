// SPDX-License-Identifier: GPL-2.0-or-later

#include "image.h"

#include <string.h>

/* More segments than this are not tested for overlap: they are then searched in order, which is always right. */
#define OVERLAP_TEST_MAX	1024u

/* Addresses this close share a hint. */
#define HINT_SHIFT		12

static bool contains(const struct itrace_segment *segment, uint64_t addr, unsigned int space)
{
	return addr - segment->addr < segment->len && (segment->space & space);
}

static bool any_overlap(const struct itrace_segment *segments, size_t count)
{
	if (count > OVERLAP_TEST_MAX)
		return true;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct itrace_segment *a = &segments[i];
			const struct itrace_segment *b = &segments[j];
			if (a->len && b->len && (a->addr - b->addr < b->len || b->addr - a->addr < a->len))
				return true;
		}
	}
	return false;
}

void itrace_image_changed(struct itrace_image *image, const struct itrace_segment *segments, size_t count)
{
	image->segments = segments;
	image->count = count;
	memset(image->hints, 0, sizeof(image->hints));
	image->by_space = image->read;
	for (size_t i = 0; i < count; i++)
		if (segments[i].space != ITRACE_SPACE_ANY)
			image->by_space = true;
	image->overlapping = any_overlap(segments, count);
	image->generation++;
	image->next_page = 0;
	for (unsigned int i = 0; i < ITRACE_IMAGE_PAGES; i++)
		image->pages[i].used = false;
}

void itrace_image_init(struct itrace_image *image, const struct itrace_segment *segments, size_t count,
		itrace_image_read *read, void *read_ctx)
{
	memset(image, 0, sizeof(*image));
	image->read = read;
	image->read_ctx = read_ctx;
	itrace_image_changed(image, segments, count);
}

static const uint8_t *segment_bytes(const struct itrace_segment *segment, uint64_t addr, size_t *avail, uint8_t *source)
{
	uint64_t skip = addr - segment->addr;
	uint64_t left = segment->len - skip;

	*avail = left > SIZE_MAX ? SIZE_MAX : (size_t)left;
	if (source)
		*source = segment->source;
	return segment->data + skip;
}

/* Where segments overlap, an earlier one may begin behind addr: the bytes from there on are its. */
static void cut_at_earlier(const struct itrace_image *image, size_t index, uint64_t addr, unsigned int space,
		size_t *avail)
{
	for (size_t i = 0; i < index; i++) {
		const struct itrace_segment *segment = &image->segments[i];
		if (segment->len && (segment->space & space) && segment->addr - addr < *avail)
			*avail = (size_t)(segment->addr - addr);
	}
}

/* The page of live memory that holds @a addr; it is read once, also when that fails. */
static struct itrace_image_page *live_page(struct itrace_image *image, uint64_t addr, unsigned int space)
{
	uint64_t page_addr = addr & ~(uint64_t)(ITRACE_IMAGE_PAGE - 1);

	for (unsigned int i = 0; i < ITRACE_IMAGE_PAGES; i++) {
		struct itrace_image_page *page = &image->pages[i];
		if (page->used && page->addr == page_addr && page->space == space)
			return page;
	}
	struct itrace_image_page *page = &image->pages[image->next_page];
	image->next_page = (image->next_page + 1) % ITRACE_IMAGE_PAGES;
	page->used = true;
	page->addr = page_addr;
	page->space = (uint8_t)space;
	size_t got = image->read(image->read_ctx, page_addr, space, page->data, ITRACE_IMAGE_PAGE);
	page->len = got > ITRACE_IMAGE_PAGE ? ITRACE_IMAGE_PAGE : (uint32_t)got;
	return page;
}

static const uint8_t *live_bytes(struct itrace_image *image, uint64_t addr, unsigned int space, size_t *avail,
		uint8_t *source)
{
	if (!image->read)
		return NULL;
	const struct itrace_image_page *page = live_page(image, addr, space);
	uint32_t skip = (uint32_t)(addr - page->addr);
	if (skip >= page->len)
		return NULL;
	*avail = page->len - skip;
	if (source)
		*source = ITRACE_SOURCE_LIVE;
	return page->data + skip;
}

const uint8_t *itrace_image_at(struct itrace_image *image, uint64_t addr, unsigned int space, size_t *avail,
		uint8_t *source)
{
	uint32_t *hint = &image->hints[(addr >> HINT_SHIFT) % ITRACE_IMAGE_HINTS];

	if (!image->overlapping && *hint < image->count && contains(&image->segments[*hint], addr, space))
		return segment_bytes(&image->segments[*hint], addr, avail, source);
	for (size_t i = 0; i < image->count; i++) {
		if (!contains(&image->segments[i], addr, space))
			continue;
		*hint = (uint32_t)i;
		const uint8_t *bytes = segment_bytes(&image->segments[i], addr, avail, source);
		if (image->overlapping)
			cut_at_earlier(image, i, addr, space, avail);
		return bytes;
	}
	return live_bytes(image, addr, space, avail, source);
}
