/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What part of a trace is wanted: a filter between the core and everything that reads events.
 *
 * Ranges are divided where a part begins or ends inside of them. Filters apply in this order: context and exception
 * level, from and to, first, last. A context event is held back until something of that context is handed on.
 */

#ifndef OPENOCD_ITRACE_REPORT_SELECTION_H
#define OPENOCD_ITRACE_REPORT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../event.h"
#include "program.h"

struct itrace_selection_rules {
	bool has_first, has_last, has_from, has_to;
	uint64_t first, last;	/* instructions, at least 1 */
	uint64_t from, to;	/* addresses */
	int64_t context;	/* context ID, or -1: any */
	int el;			/* or -1: any */
};

struct itrace_selection {
	struct itrace_selection_rules rules;
	struct itrace_program *program;
	void (*emit)(void *ctx, const struct itrace_event *events, unsigned int n);
	void *ctx;
	bool inside;			/* of from .. to */
	bool dropped;			/* instructions were left out since the last that were handed on */
	bool done;			/* nothing more will be selected */
	bool last_cut;			/* the memory of the last N was too small */
	bool reached;			/* @c from was reached once */
	uint64_t count;			/* instructions handed on to the last filter */
	bool context_known;		/* @c context is valid */
	bool context_held;		/* and has not been handed on */
	struct itrace_event context;
	/* of the last N: a ring */
	struct itrace_event *ring;
	size_t ring_size, ring_head, ring_len;
	size_t ring_lead;		/* so many at its head are known to be no ranges */
	uint64_t ring_count;		/* instructions in it */
	bool ring_context_known;
	struct itrace_event ring_context;	/* that of the oldest event in it */
};

/*
 * @a emit gets the selected events; with @a n = 0 it is told that something was left out between what it got before and
 * what it gets next. @a program stays the caller's: its space is kept up to date for dividing ranges.
 */
void itrace_selection_init(struct itrace_selection *selection, const struct itrace_selection_rules *rules,
		struct itrace_program *program, void (*emit)(void *ctx, const struct itrace_event *events, unsigned int n),
		void *ctx);

void itrace_selection_events(struct itrace_selection *selection, const struct itrace_event *events, unsigned int n);

/* Hand on what the last filter holds. */
void itrace_selection_finish(struct itrace_selection *selection);

void itrace_selection_free(struct itrace_selection *selection);

/* True when the rules select everything: then the filter can be left out. */
bool itrace_selection_is_all(const struct itrace_selection_rules *rules);

#endif /* OPENOCD_ITRACE_REPORT_SELECTION_H */
