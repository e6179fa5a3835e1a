/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The elements of a trace in program order that are not yet known to be committed, and the text of those that are.
 * Mirrors what the specification says on commit, cancel and discard, so that the log holds what a decoder must report.
 */

#ifndef TRUTH_QUEUE_H
#define TRUTH_QUEUE_H

#include "ete_encoder.h"

enum truth_kind {
	TRUTH_INSN,		/* a: pc, isa */
	TRUTH_EXCEPTION,	/* a: type, b: preferred return address, flag: it is known */
	TRUTH_EXCEPTION_RETURN,
	TRUTH_FUNCTION_RETURN,
	TRUTH_GAP,		/* a: enum truth_gap, flag: to be logged (else a Trace On whose gap was) */
	TRUTH_CONTEXT,		/* context */
	TRUTH_TIMESTAMP,	/* a: value, b: cycles, flag: b is known */
	TRUTH_CYCLES,		/* a: count, flag: it is known */
	TRUTH_EVENT,		/* a: mask */
	TRUTH_MARKER,
	TRUTH_INSTRUMENTATION,	/* a: exception level, b: value */
	TRUTH_TRANSACTION,	/* a: enum truth_transaction */
	TRUTH_Q,		/* a: first, b: next, count; path unknown */
	TRUTH_WRONG,		/* on the wrong path: never logged */
	TRUTH_KIND_NUM
};

enum truth_gap {
	TRUTH_GAP_BEGIN,
	TRUTH_GAP_FILTER,
	TRUTH_GAP_OVERFLOW,
	TRUTH_GAP_DISCARD,
	TRUTH_GAP_NUM
};

enum truth_transaction {
	TRUTH_TRANSACTION_INIT,
	TRUTH_TRANSACTION_START,
	TRUTH_TRANSACTION_COMMIT,
	TRUTH_TRANSACTION_FAIL,
	TRUTH_TRANSACTION_NUM
};

struct truth_entry {
	enum truth_kind kind;
	enum sim_isa isa;
	bool flag;
	bool p0;		/* last entry of a P0 element: commit and cancel count these */
	unsigned int count;
	uint64_t a;
	uint64_t b;
	struct ete_context context;
};

struct truth_queue {
	struct truth_entry *entries;
	size_t head;
	size_t len;
	size_t cap;
	struct sim_buffer *text;	/* not owned */
	unsigned int cid_len;		/* what contexts hold */
	unsigned int vmid_len;
	uint64_t insn_count;		/* instructions logged */
};

/** Append an entry at the new end. */
void truth_push(struct truth_queue *queue, const struct truth_entry *entry);

/** Log everything up to the @a n th oldest P0 element. @returns false if there are fewer. */
bool truth_commit(struct truth_queue *queue, unsigned int n);

/** Remove the @a n newest P0 elements; events, times and counts among them stay. */
void truth_cancel(struct truth_queue *queue, unsigned int n);

/** Log events, times and counts, drop everything else, then log the gap. */
void truth_discard(struct truth_queue *queue, enum truth_gap reason);

/** End of trace: log what needs no later P0 element, drop the rest. */
void truth_finish(struct truth_queue *queue);

/** Release the storage. */
void truth_free(struct truth_queue *queue);

#endif
