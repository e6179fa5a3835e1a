// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mtb_capture.h"
#include "mtb_port.h"

void arm_mtb_capture_clear(struct arm_mtb_capture *capture)
{
	const struct arm_mtb_capture empty = {
		.bytes = capture->bytes,
		.room = capture->room,
		.seams = capture->seams,
		.seam_room = capture->seam_room,
	};

	*capture = empty;
}

void arm_mtb_capture_free(struct arm_mtb_capture *capture)
{
	free(capture->bytes);
	free(capture->seams);
	memset(capture, 0, sizeof(*capture));
}

uint8_t *arm_mtb_capture_stage(struct arm_mtb_capture *capture, size_t len)
{
	const size_t used = capture->len + capture->staged;

	if (used + len > (capture->most ? capture->most : ARM_MTB_CAPTURE_MAX))
		return NULL;
	if (used + len > capture->room) {
		size_t room = capture->room ? capture->room : 4096;
		while (room < used + len)
			room *= 2;
		uint8_t *grown = realloc(capture->bytes, room);
		if (!grown)
			return NULL;
		capture->bytes = grown;
		capture->room = room;
	}
	capture->staged += len;
	return capture->bytes + used;
}

void arm_mtb_capture_commit(struct arm_mtb_capture *capture)
{
	capture->len += capture->staged;
	capture->staged = 0;
}

bool arm_mtb_capture_seam(struct arm_mtb_capture *capture, const uint32_t *pc)
{
	if (capture->seam_count == capture->seam_room) {
		const size_t room = capture->seam_room ? 2 * capture->seam_room : 64;
		struct itrace_seam *grown = realloc(capture->seams, room * sizeof(*grown));
		if (!grown)
			return false;
		capture->seams = grown;
		capture->seam_room = room;
	}
	struct itrace_seam *seam = &capture->seams[capture->seam_count++];
	memset(seam, 0, sizeof(*seam));
	seam->off = capture->len;
	seam->has_pc = pc;
	seam->pc = pc ? *pc : 0;
	return true;
}

uint64_t arm_mtb_capture_packets(const struct arm_mtb_capture *capture)
{
	return capture->len / ARM_MTB_PACKET_LEN;
}

void arm_mtb_capture_options(const struct arm_mtb_capture *capture, char *text, size_t size)
{
	const struct itrace_mtb_registers *regs = &capture->regs;
	const struct {
		uint32_t bit;
		const char *name;
		uint32_t value;
	} all[] = {
		{ ITRACE_MTB_REG_POSITION, "POSITION", regs->position },
		{ ITRACE_MTB_REG_MASTER, "MASTER", regs->master },
		{ ITRACE_MTB_REG_FLOW, "FLOW", regs->flow },
		{ ITRACE_MTB_REG_BASE, "BASE", regs->base },
		{ ITRACE_MTB_REG_AW, "AW", regs->aw },
		{ ITRACE_MTB_REG_PC_ARM, "PC_ARM", regs->pc_arm },
		{ ITRACE_MTB_REG_PC_HALT, "PC_HALT", regs->pc_halt },
		{ ITRACE_MTB_REG_VTOR, "VTOR", regs->vtor },
	};
	size_t len = 0;

	text[0] = 0;
	if (!capture->in_order)
		len = (size_t)snprintf(text, size, "-buffer 0x%08" PRIx32, capture->buffer);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && len < size; i++) {
		if (!(regs->given & all[i].bit))
			continue;
		const char *form = all[i].bit == ITRACE_MTB_REG_AW ? "%s-reg %s=%" PRIu32 : "%s-reg %s=0x%08" PRIx32;
		len += (size_t)snprintf(text + len, size - len, form, len ? " " : "", all[i].name, all[i].value);
	}
}
