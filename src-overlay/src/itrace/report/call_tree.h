/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Who called whom, from flow events alone. Robust against returns that are missing, against exceptions, and against
 * calls deeper than it keeps.
 */

#ifndef OPENOCD_ITRACE_REPORT_CALL_TREE_H
#define OPENOCD_ITRACE_REPORT_CALL_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "../event.h"
#include "transition.h"

#define ITRACE_CALL_DEPTH	1024u	/* calls that are kept */

struct itrace_call_frame {
	uint64_t return_addr;	/* UINT64_MAX: not known */
	bool exception;
};

struct itrace_call_tree {
	struct itrace_transition transition;
	struct itrace_call_frame frames[ITRACE_CALL_DEPTH];
	uint32_t depth;		/* frames in use */
	uint64_t lost;		/* outer frames that were forgotten because there were too many */
};

/* What a range did to the tree. */
enum itrace_call_change {
	ITRACE_CALL_SAME,	/* goes on in the same call (perhaps in another function: a jump) */
	ITRACE_CALL_CALLED,
	ITRACE_CALL_EXCEPTION,	/* a handler runs; its frame was made by the exception event */
	ITRACE_CALL_RETURNED,	/* to a caller that is in the tree */
	ITRACE_CALL_TAIL,	/* the call ended, by a return to somewhere else than its caller */
	ITRACE_CALL_ROOT,	/* returned to a caller of which the tree knows nothing */
	ITRACE_CALL_RESUMED,	/* what ran before is not known: depth is that of before */
	ITRACE_CALL_CHANGE_NUM
};

void itrace_call_tree_init(struct itrace_call_tree *tree);

/*
 * Before itrace_call_tree_event(): when @a exception was taken where a call went, that call is made.
 * @returns true when it was; tree->depth is then its depth.
 */
bool itrace_call_tree_cut_call(struct itrace_call_tree *tree, const struct itrace_event *exception);

/* An event that is not a range. */
void itrace_call_tree_event(struct itrace_call_tree *tree, const struct itrace_event *event);

/* A range; tree->depth is then its depth. */
enum itrace_call_change itrace_call_tree_range(struct itrace_call_tree *tree, const struct itrace_event *range);

#endif /* OPENOCD_ITRACE_REPORT_CALL_TREE_H */
