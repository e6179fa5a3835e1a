/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Which exception a handler is for, by the vector table in the program image.
 *
 * A packet of a Micro Trace Buffer says that an exception was taken, where it returns to and where its handler is, but
 * not which one it was. The table is read once for each state of the image; which number a handler has is kept.
 * Numbers are those of exception types in trace, as the other protocols have them: interrupt 8 and all behind it are
 * elsewhere (Armv8-M, EXCEPTION packet of ETMv4).
 */

#ifndef OPENOCD_ITRACE_MTB_VECTORS_H
#define OPENOCD_ITRACE_MTB_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

#define ITRACE_MTB_VECTOR_NUM	496u	/* words of a vector table: 16 of the system, 480 interrupts */
#define ITRACE_MTB_HANDLER_NUM	16u

/* Where a handler was entered from. */
struct itrace_mtb_interrupted {
	uint32_t addr;		/* it returns to there */
	bool ran;		/* the instruction in front of addr ran just before */
};

/* Which exception a handler is for, as found before. */
struct itrace_mtb_handler {
	uint32_t addr;
	uint32_t number;
	uint8_t flags;
	uint8_t svc;
	bool known;
};

struct itrace_mtb_vectors {
	uint32_t addr[ITRACE_MTB_VECTOR_NUM];	/* bit 0 of each entry clear */
	uint32_t count;
	bool read;
	unsigned int generation;		/* of the image then */
	struct itrace_mtb_handler handlers[ITRACE_MTB_HANDLER_NUM];
};

/* Nothing is known; the table is read when it is asked for. */
void itrace_mtb_vectors_init(struct itrace_mtb_vectors *vectors);

/*
 * The exception whose handler is at @a handler.
 * @param image the program; the table in it is at @a vtor, the same in all calls since init
 * @param from NULL: not known
 * @param[out] flags ITRACE_EVENT_UNKNOWN: it is not sure, since several exceptions have this handler; else 0
 * @returns its number; 0 (not sure): no exception has this handler
 */
uint32_t itrace_mtb_vectors_find(struct itrace_mtb_vectors *vectors, struct itrace_image *image, uint32_t vtor,
		uint32_t handler, const struct itrace_mtb_interrupted *from, unsigned int *flags);

#endif /* OPENOCD_ITRACE_MTB_VECTORS_H */
