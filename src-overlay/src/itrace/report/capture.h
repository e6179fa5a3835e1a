/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A capture that a driver holds in memory: as a source of a decode, and as a snapshot.
 */

#ifndef OPENOCD_ITRACE_REPORT_CAPTURE_H
#define OPENOCD_ITRACE_REPORT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ete_config.h"
#include "../mtb_flow.h"
#include "../mtb_ring.h"

/*
 * Everything is the caller's and stays as it is during a call.
 * Not checked: that the registers, the bytes and the program belong together; what contradicts shows as a gap.
 */
struct itrace_capture {
	const char *name;			/* of the object, for messages */
	enum itrace_protocol protocol;		/* ITRACE_PROTOCOL_MTB is the only one so far; others are refused */
	const char *core;			/* type of the core as -core takes it ("Cortex-M33") */
	struct itrace_mtb_registers mtb;	/* those that are given; without POSITION the bytes are packets in order */
	const uint8_t *bytes;			/* of the buffer, from its first on (POSITION given), or packets in order */
	uint64_t len;
	const struct itrace_seam *seams;	/* ascending off; packets in order only */
	size_t seam_count;
	const char *const *elfs;		/* program files used where a decode names none */
	size_t elf_count;
};

/*
 * Write as a snapshot (class=mtb) into @a dir, which is made when it is not there; the code of the ELF files is written
 * as memory dumps.
 * @param[out] why on failure one line that names the file or the object
 * @returns false when it could not be written
 */
bool itrace_capture_write_snapshot(const struct itrace_capture *capture, const char *dir, char *why, size_t why_size);

#endif /* OPENOCD_ITRACE_REPORT_CAPTURE_H */
