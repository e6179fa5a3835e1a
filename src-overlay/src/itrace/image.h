/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The program image: which bytes are at an address in a memory space.
 *
 * An image is an array of segments in the caller's storage (ELF segments, raw dumps, the dumps of a snapshot) and,
 * behind them, an optional callback (live target memory). The first segment that matches in order of definition wins.
 */

#ifndef OPENOCD_ITRACE_IMAGE_H
#define OPENOCD_ITRACE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory spaces: a set of bits. A segment is seen in a space when the two sets meet. The bits are OpenCSD's. */
#define ITRACE_SPACE_EL1S	0x01u
#define ITRACE_SPACE_EL1N	0x02u
#define ITRACE_SPACE_EL2N	0x04u
#define ITRACE_SPACE_EL3	0x08u
#define ITRACE_SPACE_EL2S	0x10u
#define ITRACE_SPACE_EL1R	0x20u
#define ITRACE_SPACE_EL2R	0x40u
#define ITRACE_SPACE_ROOT	0x80u
#define ITRACE_SPACE_S		0x19u
#define ITRACE_SPACE_N		0x06u
#define ITRACE_SPACE_R		0x60u
#define ITRACE_SPACE_ANY	0xffu

struct itrace_segment {
	uint64_t addr;		/* address of the first byte */
	uint64_t len;		/* bytes; 0 is allowed and matches nothing. addr + len must not pass 2^64 */
	const uint8_t *data;	/* len bytes, owned by the caller, must stay while the image is used */
	uint8_t space;		/* set of ITRACE_SPACE_... */
	uint8_t source;		/* the caller's number of where it came from (which ELF, dump ...), for the ledger */
};

/*
 * Reads live memory. Copies up to @a len bytes at @a addr in @a space to @a dst.
 * @returns the number of bytes copied, 0 when there is nothing to read. Called at most once for each page of
 * ITRACE_IMAGE_PAGE bytes and space until itrace_image_changed().
 */
typedef size_t itrace_image_read(void *ctx, uint64_t addr, unsigned int space, uint8_t *dst, size_t len);

#define ITRACE_IMAGE_PAGE	256u
#define ITRACE_IMAGE_PAGES	64u
#define ITRACE_IMAGE_HINTS	64u
#define ITRACE_SOURCE_LIVE	0xffu	/* source number of bytes that came from the callback */

struct itrace_image_page {
	uint64_t addr;
	uint32_t len;		/* valid bytes from addr on; 0 = the memory cannot be read */
	uint8_t space;
	bool used;
	uint8_t data[ITRACE_IMAGE_PAGE];
};

struct itrace_image {
	const struct itrace_segment *segments;
	size_t count;
	itrace_image_read *read;	/* NULL: none */
	void *read_ctx;
	bool by_space;			/* some segment is not seen in all spaces */
	uint32_t hints[ITRACE_IMAGE_HINTS];	/* segment of the last hit by address, tried first when none overlap */
	bool overlapping;
	unsigned int generation;	/* counts changes; caches compare it */
	unsigned int next_page;
	struct itrace_image_page pages[ITRACE_IMAGE_PAGES];
};

/*
 * Begin an image on @a count segments, which stay the caller's. @a read may be NULL.
 * Segments may overlap: the first in the array wins.
 */
void itrace_image_init(struct itrace_image *image, const struct itrace_segment *segments, size_t count,
		itrace_image_read *read, void *read_ctx);

/* The segments or the live memory changed: forget all that was remembered. */
void itrace_image_changed(struct itrace_image *image, const struct itrace_segment *segments, size_t count);

/*
 * The bytes at @a addr as seen in @a space (set of bits).
 * @param[out] avail  how many bytes follow without a break (>= 1 on success); the pointer is valid until the next call
 * @param[out] source where they came from; may be NULL
 * @returns a pointer to the bytes, NULL when there is no memory at @a addr.
 */
const uint8_t *itrace_image_at(struct itrace_image *image, uint64_t addr, unsigned int space, size_t *avail,
		uint8_t *source);

#endif /* OPENOCD_ITRACE_IMAGE_H */
