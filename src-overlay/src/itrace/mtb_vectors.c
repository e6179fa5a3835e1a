// SPDX-License-Identifier: GPL-2.0-or-later

#include "mtb_vectors.h"

#include <string.h>

#include "event.h"

#define SPACE		ITRACE_SPACE_ANY	/* the trace says nothing of security states */

#define VECTOR_FIRST	2u	/* NMI; a reset leaves no packet */
#define VECTOR_SVC	11u
#define VECTOR_IRQ0	16u

enum svc {
	SVC_NOT,
	SVC_PERHAPS,
	SVC_SURELY
};

void itrace_mtb_vectors_init(struct itrace_mtb_vectors *vectors)
{
	vectors->read = false;
}

/* Up to 4 bytes of the image as one number, byte by byte. @returns false when some are missing. */
static bool read_bytes(struct itrace_image *image, uint32_t addr, unsigned int len, uint32_t *value)
{
	size_t avail;

	*value = 0;
	for (unsigned int i = 0; i < len; i++) {
		const uint8_t *byte = itrace_image_at(image, addr + i, SPACE, &avail, NULL);
		if (!byte)
			return false;
		*value |= (uint32_t)*byte << 8 * i;
	}
	return true;
}

/* How many interrupts there are is not known: what can be none of their handlers is behind the table. */
static bool may_be_handler(struct itrace_image *image, uint32_t entry)
{
	size_t avail;

	return !entry || (entry & 1 && itrace_image_at(image, entry & ~UINT32_C(1), SPACE, &avail, NULL));
}

static void read_table(struct itrace_mtb_vectors *vectors, struct itrace_image *image, uint32_t vtor)
{
	if (vectors->read && vectors->generation == image->generation)
		return;
	vectors->read = true;
	vectors->generation = image->generation;
	vectors->count = 0;
	memset(vectors->handlers, 0, sizeof(vectors->handlers));
	for (uint32_t i = 0; i < ITRACE_MTB_VECTOR_NUM; i++) {
		uint32_t entry;
		if (!read_bytes(image, vtor + 4 * i, 4, &entry) || (i >= VECTOR_IRQ0 && !may_be_handler(image, entry)))
			break;
		vectors->addr[i] = entry & ~UINT32_C(1);
		vectors->count = i + 1;
	}
}

static bool handles(const struct itrace_mtb_vectors *vectors, uint32_t vector, uint32_t handler)
{
	return vector < vectors->count && vectors->addr[vector] == handler;
}

/* SVC is the only instruction that asks for an exception; its return address is behind it. */
static enum svc behind_svc(struct itrace_image *image, const struct itrace_mtb_interrupted *from)
{
	uint32_t opcode;

	if (!from || !read_bytes(image, from->addr - 2, 2, &opcode))
		return SVC_PERHAPS;
	if ((opcode & 0xff00) != 0xdf00)
		return SVC_NOT;
	return from->ran ? SVC_SURELY : SVC_PERHAPS;
}

/* As exception types are numbered in trace. */
static uint32_t exception_number(uint32_t vector)
{
	return vector < VECTOR_IRQ0 + 8 ? vector : 0x200 + vector - VECTOR_IRQ0;
}

/* The first one of this handler. @a svc: whether it may be SVC */
static uint32_t search(const struct itrace_mtb_vectors *vectors, uint32_t handler, enum svc svc, unsigned int *flags)
{
	uint32_t found = 0;

	*flags = ITRACE_EVENT_UNKNOWN;
	if (svc == SVC_SURELY && handles(vectors, VECTOR_SVC, handler)) {
		*flags = 0;
		return VECTOR_SVC;
	}
	for (uint32_t i = VECTOR_FIRST; i < vectors->count; i++) {
		if (vectors->addr[i] != handler || (i == VECTOR_SVC && svc == SVC_NOT))
			continue;
		if (found)
			return exception_number(found);
		found = i;
	}
	if (found)
		*flags = 0;
	return exception_number(found);
}

uint32_t itrace_mtb_vectors_find(struct itrace_mtb_vectors *vectors, struct itrace_image *image, uint32_t vtor,
		uint32_t handler, const struct itrace_mtb_interrupted *from, unsigned int *flags)
{
	enum svc svc = SVC_NOT;

	*flags = ITRACE_EVENT_UNKNOWN;
	/* an entry of 0 is for an exception that the core does not have */
	if (!handler)
		return 0;
	read_table(vectors, image, vtor);
	/* to other handlers it makes no difference */
	if (handles(vectors, VECTOR_SVC, handler))
		svc = behind_svc(image, from);
	struct itrace_mtb_handler *memo = &vectors->handlers[(handler >> 2 ^ handler >> 5) % ITRACE_MTB_HANDLER_NUM];
	if (!memo->known || memo->addr != handler || memo->svc != svc) {
		memo->number = search(vectors, handler, svc, flags);
		memo->addr = handler;
		memo->svc = (uint8_t)svc;
		memo->flags = (uint8_t)*flags;
		memo->known = true;
	}
	*flags = memo->flags;
	return memo->number;
}
