/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is not a range of instructions, in plain words: the lines that stand between code in our listings.
 */

#ifndef OPENOCD_ITRACE_REPORT_EVENT_NOTE_H
#define OPENOCD_ITRACE_REPORT_EVENT_NOTE_H

#include <stddef.h>

#include "../event.h"
#include "output.h"
#include "program.h"

/* Write one event, without line end: "IRQ (exception 0x0e), return address main+0x10". Ranges give nothing. */
void itrace_event_note(const struct itrace_program *program, const struct itrace_event *event,
		struct itrace_output *out);

/*
 * "EL1 non-secure AArch64, context ID 0x4300, VMID 0x0" of context bits; @a size at least 1, 128 is enough.
 * @returns the length of the text
 */
size_t itrace_context_note(bool m_profile, const struct itrace_event *context, char *text, size_t size);

/* Name of a gap's cause in words for people: "no memory" (itrace_gap_name() without hyphens). @a size: 32 is enough. */
void itrace_gap_words(enum itrace_gap gap, char *text, size_t size);

/* Names for machine reading, of the small enums. Never NULL. */
const char *itrace_no_sync_name(unsigned int cause);
const char *itrace_transaction_name(unsigned int cause);
const char *itrace_isa_name(unsigned int isa);
const char *itrace_security_name(unsigned int context);

#endif /* OPENOCD_ITRACE_REPORT_EVENT_NOTE_H */
