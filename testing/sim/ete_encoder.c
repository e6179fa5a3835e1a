// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * From executed facts to elements: when an atom, an address, a context is due, what may be speculative, and what of it
 * a decoder must report. The bytes of the packets are made in ete_packets.c, the log in truth_queue.c.
 */

#include "ete_encoder.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ete_packets.h"
#include "truth_queue.h"

#define ATOM_MAX 32
#define STACK_MAX 16
#define PASSED_MAX 64

enum block_mode {
	BLOCK_ATOM,	/* each P0 instruction gets an atom */
	BLOCK_SOURCE,	/* not taken branches get nothing, the next taken one a source address */
	BLOCK_Q,	/* a number of instructions get one Q element */
};

struct place {
	uint64_t pc;
	enum sim_isa isa;
};

struct ete_encoder {
	struct ete_config config;
	struct ete_rates rates;
	struct sim_random *random;	/* that of the packets: one sequence for everything */
	struct ete_packets packets;
	struct truth_queue truth;

	uint8_t atoms[ATOM_MAX];	/* not yet written; their entries are already in the truth queue */
	unsigned int atom_count;
	unsigned int atom_limit;
	unsigned int emitted;		/* P0 elements written and not committed */
	unsigned int unseen;		/* of these, from before the trace */

	bool tracing;
	bool need_on;			/* next instruction needs a Trace On */
	bool gap_logged;		/* its gap is in the log already */
	enum truth_gap reason;

	/* Where the decoder is: the instruction after the last P0 element. */
	bool start_known;
	struct place start;
	struct place next;		/* instruction after the last one fed */
	bool address_due;		/* the decoder cannot know start */
	bool address_wanted;		/* after a sync: for decoders that join here */
	unsigned int late;		/* P0 elements before the wanted address */
	bool no_push;			/* no return stack entries until that address */
	bool context_due;
	bool context_wanted;
	struct ete_context context;
	bool pop_pending;		/* the decoder takes start from its return stack */

	struct place *block;		/* instructions since the last P0 element */
	unsigned int block_count;
	unsigned int block_cap;
	enum block_mode mode;
	unsigned int passed[PASSED_MAX];	/* BLOCK_SOURCE: lengths of the block at branches that were not taken */
	unsigned int passed_count;
	unsigned int q_left;
	bool q_branched;		/* a branch in the Q before its last instruction */
	bool q_last_branch;

	struct place stack[STACK_MAX];
	unsigned int stack_count;

	unsigned int cycles;		/* since the last cycle count */
	bool timestamp_due;
	unsigned int timestamp_after;
	uint64_t timestamp;
	bool in_transaction;
};

static bool chance(struct ete_encoder *enc, unsigned int permille)
{
	return sim_random_chance(enc->random, permille);
}

static bool can_speculate(const struct ete_encoder *enc)
{
	return enc->config.max_spec_depth > 1;
}

unsigned int ete_config_registers(const struct ete_config *config, struct ete_register registers[ETE_REGISTER_MAX])
{
	unsigned int n = 0;
	uint32_t configr = 1 | config->branch_broadcast << 3 | config->cycle_counts << 4 |
		(config->cid_len ? 1 << 6 : 0) | (config->vmid_len ? 1 << 7 : 0) | config->timestamps << 11 |
		(config->return_stack_depth ? 1 << 12 : 0) | (config->q_elements ? 3 << 13 : 0);
	uint32_t idr0 = 1 | 1 << 5 | config->cycle_counts << 7 | 1 << 9 | 3 << 10 | (config->q_elements ? 3 << 15 : 0) |
		config->ite << 22 | config->ts_markers << 23 | 8 << 24 | config->commopt << 29 |
		(uint32_t)config->commtrans << 30;
	/* ETE tells its version in TRCDEVARCH only. */
	uint32_t idr1 = config->etmv4 ? 0x4100f400 | config->minor << 4 : 0x4100fff0;
	uint32_t idr2 = (config->isa == SIM_A64 ? 8 : 4) | config->cid_len << 5 | config->vmid_len << 10 | 8 << 25 |
		(uint32_t)config->wfx << 31;

	registers[n++] = (struct ete_register){ "TRCCONFIGR", configr };
	registers[n++] = (struct ete_register){ "TRCTRACEIDR", config->trace_id };
	registers[n++] = (struct ete_register){ "TRCIDR0", idr0 };
	registers[n++] = (struct ete_register){ "TRCIDR1", idr1 };
	registers[n++] = (struct ete_register){ "TRCIDR2", idr2 };
	registers[n++] = (struct ete_register){ "TRCIDR8", config->max_spec_depth };
	if (!config->etmv4)
		registers[n++] = (struct ete_register){ "TRCDEVARCH", 0x47705a13 | config->minor << 16 };
	return n;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The wire: atoms are collected, every other packet pushes them out first. */

/* P0 elements were written: what goes beyond the greatest depth is committed without a word. */
static void count_emitted(struct ete_encoder *enc, unsigned int n)
{
	enc->emitted += n;
	if (enc->emitted <= enc->config.max_spec_depth)
		return;
	bool enough = truth_commit(&enc->truth, enc->emitted - enc->config.max_spec_depth);
	assert(enough);
	(void)enough;
	enc->emitted = enc->config.max_spec_depth;
}

static void flush_atoms(struct ete_encoder *enc)
{
	unsigned int done = 0;

	while (done < enc->atom_count) {
		unsigned int n = ete_put_atoms(&enc->packets, enc->atoms + done, enc->atom_count - done);
		done += n;
		count_emitted(enc, n);
	}
	enc->atom_count = 0;
	enc->atom_limit = chance(enc, 500) ? 24 : sim_random_range(enc->random, 1, 24);
}

static void push_simple(struct ete_encoder *enc, enum truth_kind kind, bool p0)
{
	struct truth_entry entry = { .kind = kind, .p0 = p0 };

	truth_push(&enc->truth, &entry);
}

static void push_context(struct ete_encoder *enc)
{
	struct truth_entry entry = { .kind = TRUTH_CONTEXT, .context = enc->context };

	truth_push(&enc->truth, &entry);
}

static void push_insns(struct ete_encoder *enc, unsigned int from, unsigned int to, bool p0)
{
	struct truth_entry entry = { .kind = TRUTH_INSN };

	for (unsigned int i = from; i < to; i++) {
		entry.isa = enc->block[i].isa;
		entry.a = enc->block[i].pc;
		entry.p0 = p0 && i + 1 == to;
		truth_push(&enc->truth, &entry);
	}
}

/* The instructions since the last P0 element go to the log; @a p0: they end with one. */
static void push_block(struct ete_encoder *enc, bool p0)
{
	push_insns(enc, 0, enc->block_count, p0);
	enc->block_count = 0;
	enc->passed_count = 0;
}

static void add_to_block(struct ete_encoder *enc, uint64_t pc, enum sim_isa isa)
{
	if (enc->block_count == enc->block_cap) {
		enc->block_cap = enc->block_cap ? enc->block_cap * 2 : 64;
		enc->block = realloc(enc->block, enc->block_cap * sizeof(*enc->block));
		if (!enc->block) {
			fputs("out of memory\n", stderr);
			exit(1);
		}
	}
	enc->block[enc->block_count++] = (struct place){ pc, isa };
}

static void put_timestamp_now(struct ete_encoder *enc)
{
	struct truth_entry entry = { .kind = TRUTH_TIMESTAMP, .a = enc->timestamp };
	bool with_cycles = enc->config.cycle_counts && chance(enc, enc->rates.ts_cycle_count);
	int32_t cycles = with_cycles ? (int32_t)(enc->cycles & 0xfffff) : -1;

	enc->timestamp_due = false;
	flush_atoms(enc);
	ete_put_timestamp(&enc->packets, enc->timestamp, cycles);
	entry.flag = with_cycles;
	entry.b = with_cycles ? (uint64_t)cycles : 0;
	truth_push(&enc->truth, &entry);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Synchronisation and position */

static void put_sync(struct ete_encoder *enc)
{
	ete_put_async(&enc->packets);
	ete_put_trace_info(&enc->packets, enc->emitted, enc->in_transaction);
	/* The decoder may drop its entries here, so none may be relied on. */
	enc->stack_count = 0;
	enc->no_push = true;
}

/* Synchronisation in the middle: decoders that join here need context and address, soon but not at once. */
static void resync(struct ete_encoder *enc)
{
	flush_atoms(enc);
	put_sync(enc);
	if (enc->pop_pending)
		enc->address_due = true;
	enc->pop_pending = false;
	enc->address_wanted = true;
	enc->context_wanted = true;
	enc->late = chance(enc, enc->rates.sync_late_address) ? sim_random_range(enc->random, 1, 4) : 0;
}

static void trace_on(struct ete_encoder *enc, const struct ete_insn *insn)
{
	struct truth_entry entry = { .kind = TRUTH_GAP, .a = enc->reason, .flag = !enc->gap_logged };

	flush_atoms(enc);
	ete_put_header(&enc->packets, 0x04);
	truth_push(&enc->truth, &entry);
	enc->gap_logged = false;
	enc->reason = TRUTH_GAP_FILTER;
	enc->need_on = false;
	enc->stack_count = 0;
	enc->pop_pending = false;
	enc->block_count = 0;
	enc->passed_count = 0;
	enc->start = (struct place){ insn->pc, insn->isa };
	enc->start_known = true;
	enc->address_due = true;
	enc->context_due = true;
}

static void put_position(struct ete_encoder *enc)
{
	struct ete_packets *p = &enc->packets;
	const struct place *at = &enc->start;

	if (!enc->address_due) {
		ete_put_context(p, &enc->context, false);
		push_context(enc);
	} else if (chance(enc, enc->context_due ? 600 : enc->rates.combined_context)) {
		ete_put_address_context(p, at->pc, at->isa, &enc->context, false);
		push_context(enc);
	} else if (!enc->context_due) {
		ete_put_address(p, ETE_ADDRESS_TARGET, at->pc, at->isa);
	} else if (chance(enc, enc->rates.context_last)) {
		ete_put_address(p, ETE_ADDRESS_TARGET, at->pc, at->isa);
		ete_put_context(p, &enc->context, false);
		push_context(enc);
	} else {
		ete_put_context(p, &enc->context, false);
		push_context(enc);
		ete_put_address(p, ETE_ADDRESS_TARGET, at->pc, at->isa);
	}
}

static void position_was_put(struct ete_encoder *enc, bool address)
{
	enc->context_due = false;
	enc->context_wanted = false;
	if (!address)
		return;
	enc->address_due = false;
	enc->address_wanted = false;
	enc->late = 0;
	enc->no_push = false;
}

/*
 * Known decoders take the instruction set from the last address packet when a context comes alone. Where that is
 * another one, send an address too; not if the decoder is to pop its return stack: then the context has to wait.
 */
static bool lone_context_waits(struct ete_encoder *enc)
{
	bool same_isa = enc->packets.history[0].is1 == (enc->start.isa == SIM_T32);

	if (enc->address_due || !enc->context_due || same_isa || chance(enc, enc->rates.lone_context))
		return false;
	if (enc->pop_pending)
		return true;
	enc->address_due = true;
	return false;
}

/* Before a P0 element: tell the decoder what it cannot know of where it starts. */
static void prepare(struct ete_encoder *enc)
{
	if (enc->address_wanted) {
		if (!enc->late || enc->address_due) {
			enc->address_due = true;
			enc->context_due |= enc->context_wanted;
		} else {
			enc->late--;
		}
	}
	if (lone_context_waits(enc))
		return;
	if (enc->address_due || enc->context_due) {
		flush_atoms(enc);
		bool address = enc->address_due;
		put_position(enc);
		position_was_put(enc, address);
	} else if (chance(enc, enc->rates.same_context)) {
		flush_atoms(enc);
		ete_put_header(&enc->packets, 0x80);
	}
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Speculation: the elements of a wrong path are written, then cancelled. */

static void push_wrong(struct ete_encoder *enc, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		push_simple(enc, TRUTH_WRONG, true);
}

static uint64_t near_address(struct ete_encoder *enc)
{
	uint64_t far = (uint64_t)sim_random_below(enc->random, 0x8000) * 4;

	return (enc->start.pc & ~3ull) ^ far;
}

static void put_wrong_atoms(struct ete_encoder *enc, unsigned int n)
{
	flush_atoms(enc);
	push_wrong(enc, n);
	for (unsigned int i = 0; i < n; i++)
		enc->atoms[enc->atom_count++] = chance(enc, 700);
	flush_atoms(enc);
}

static void put_wrong_exception(struct ete_encoder *enc)
{
	ete_put_exception(&enc->packets, 1, 2, false);
	ete_put_address(&enc->packets, ETE_ADDRESS_OF_EXCEPTION, near_address(enc), enc->start.isa);
	push_wrong(enc, 1);
	count_emitted(enc, 1);
}

static void put_wrong_source(struct ete_encoder *enc)
{
	ete_put_address(&enc->packets, ETE_ADDRESS_SOURCE, near_address(enc), enc->start.isa);
	push_wrong(enc, 1);
	count_emitted(enc, 1);
}

static void put_event_now(struct ete_encoder *enc, unsigned int mask)
{
	struct truth_entry entry = { .kind = TRUTH_EVENT, .a = mask };

	flush_atoms(enc);
	ete_put_header(&enc->packets, 0x70 | mask);
	truth_push(&enc->truth, &entry);
}

/* @a n P0 elements that will be cancelled, with addresses and events among them. */
static void put_wrong_path(struct ete_encoder *enc, unsigned int n)
{
	while (n) {
		if (chance(enc, 300))
			ete_put_address(&enc->packets, ETE_ADDRESS_TARGET, near_address(enc), enc->start.isa);
		if (chance(enc, enc->rates.wrong_path_event))
			put_event_now(enc, sim_random_range(enc->random, 1, 15));
		if (chance(enc, enc->rates.wrong_path_exception)) {
			put_wrong_exception(enc);
			n--;
		} else if (!enc->config.etmv4 && chance(enc, enc->rates.wrong_path_source)) {
			put_wrong_source(enc);
			n--;
		} else {
			unsigned int run = sim_random_range(enc->random, 1, n < 24 ? n : 24);
			put_wrong_atoms(enc, run);
			n -= run;
		}
	}
}

static void cancel(struct ete_encoder *enc, unsigned int n)
{
	truth_cancel(&enc->truth, n);
	enc->emitted -= n;
}

/* The last atom, still to be written, goes out in the very packet that says it is wrong. */
static void mispredict_in_one_packet(struct ete_encoder *enc, bool taken)
{
	if (taken) {
		enc->atom_count--;
		flush_atoms(enc);
		ete_put_header(&enc->packets, 0x33);
		count_emitted(enc, 1);
	} else if (enc->atom_count > 1 && enc->atoms[enc->atom_count - 2] && chance(enc, 500)) {
		enc->atom_count -= 2;
		flush_atoms(enc);
		ete_put_header(&enc->packets, 0x32);
		count_emitted(enc, 2);
	} else if (chance(enc, 500)) {
		enc->atom_count--;
		flush_atoms(enc);
		push_wrong(enc, 1);
		ete_put_header(&enc->packets, 0x36);
		count_emitted(enc, 2);
		cancel(enc, 1);
	} else {
		enc->atom_count--;
		flush_atoms(enc);
		ete_put_header(&enc->packets, 0x31);
		count_emitted(enc, 1);
	}
}

/* Cancel @a n and mispredict, in the form that brings @a n - 1 or @a n of them along. */
static void mispredict_after_path(struct ete_encoder *enc, unsigned int n)
{
	bool together = chance(enc, 500);

	if (n == 1 && together) {
		push_wrong(enc, 1);
		ete_put_header(&enc->packets, chance(enc, 500) ? 0x35 : 0x37);
		count_emitted(enc, 1);
	} else if (n >= 2 && n <= 5 && together) {
		put_wrong_path(enc, n - 1);
		push_wrong(enc, 1);
		ete_put_header(&enc->packets, 0x39 | (n - 2) << 1);
		count_emitted(enc, 1);
	} else {
		put_wrong_path(enc, n);
		if (n == 0)
			ete_put_header(&enc->packets, 0x30);
		else if (n == 1 && chance(enc, 700))
			ete_put_header(&enc->packets, 0x34);
		else if (n >= 2 && n <= 5 && chance(enc, 700))
			ete_put_header(&enc->packets, 0x38 | (n - 2) << 1);
		else
			ete_put_number(&enc->packets, 0x2f, n);
	}
	cancel(enc, n);
}

/* The processor first took the wrong way at the newest atom. */
static void mispredict(struct ete_encoder *enc)
{
	unsigned int last = enc->atom_count - 1;
	bool taken = enc->atoms[last];
	unsigned int most = enc->config.max_spec_depth - 1;

	if (chance(enc, 300)) {
		mispredict_in_one_packet(enc, taken);
		return;
	}
	enc->atoms[last] = !taken;
	flush_atoms(enc);
	mispredict_after_path(enc, sim_random_below(enc->random, (most < 12 ? most : 12) + 1));
}

/* An indirect branch was right, its target wrong: cancel, and the right address follows. */
static void wrong_target(struct ete_encoder *enc)
{
	unsigned int most = enc->config.max_spec_depth - 1;
	unsigned int n = sim_random_range(enc->random, 1, most < 12 ? most : 12);

	flush_atoms(enc);
	ete_put_address(&enc->packets, ETE_ADDRESS_TARGET, near_address(enc), enc->start.isa);
	put_wrong_path(enc, n);
	ete_put_number(&enc->packets, 0x2e, n);
	cancel(enc, n);
}

static void commit(struct ete_encoder *enc, unsigned int n)
{
	bool enough = truth_commit(&enc->truth, n);

	assert(enough);
	(void)enough;
	enc->emitted -= n;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Cycle counts and commits that follow P0 elements */

static void put_cycle_count_now(struct ete_encoder *enc)
{
	struct truth_entry entry = { .kind = TRUTH_CYCLES };
	bool known = !chance(enc, enc->rates.cc_unknown) && enc->cycles <= 0xfffff;
	unsigned int n = 0;

	flush_atoms(enc);
	if (!enc->config.commopt)
		n = sim_random_below(enc->random, enc->emitted + 1);
	ete_put_cycle_count(&enc->packets, known ? (int32_t)enc->cycles : -1, n);
	entry.flag = known;
	entry.a = known ? enc->cycles : 0;
	truth_push(&enc->truth, &entry);
	if (n)
		commit(enc, n);
	enc->cycles = 0;
}

static void after_p0(struct ete_encoder *enc)
{
	enc->mode = BLOCK_ATOM;
	enc->pop_pending = false;
	if (enc->config.cycle_counts && enc->cycles >= enc->config.cc_threshold && chance(enc, enc->rates.cycle_count))
		put_cycle_count_now(enc);
	if (enc->emitted && chance(enc, enc->rates.commit)) {
		flush_atoms(enc);
		unsigned int n = sim_random_range(enc->random, 1, enc->emitted);
		ete_put_number(&enc->packets, 0x2d, n);
		commit(enc, n);
	}
	if (enc->timestamp_due) {
		if (!enc->timestamp_after)
			put_timestamp_now(enc);
		else
			enc->timestamp_after--;
	}
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Q elements */

/*
 * The instructions of the block become one Q element. A decoder can follow them only if none but the last is a branch,
 * taken or not, because it has no atoms for them.
 */
static void close_q(struct ete_encoder *enc, uint64_t next, enum sim_isa isa)
{
	bool following = !ete_q_can_hold(&enc->packets, next) || chance(enc, enc->rates.q_following);
	bool unknown = following && chance(enc, 300);
	struct truth_entry entry = {
		.kind = TRUTH_Q, .p0 = true, .a = enc->start.pc, .b = next, .count = unknown ? 0 : enc->block_count
	};

	if (!enc->block_count)
		return;
	prepare(enc);
	flush_atoms(enc);
	following |= !ete_q_can_hold(&enc->packets, next);
	if (enc->q_branched || unknown) {
		truth_push(&enc->truth, &entry);
		enc->block_count = 0;
	} else {
		push_block(enc, true);
	}
	ete_put_q(&enc->packets, entry.count, next, isa, following);
	if (following)
		ete_put_address(&enc->packets, ETE_ADDRESS_OF_EXCEPTION, next, isa);
	count_emitted(enc, 1);
	enc->start = (struct place){ next, isa };
	after_p0(enc);
}

static void settle_q(struct ete_encoder *enc)
{
	if (enc->mode == BLOCK_Q)
		close_q(enc, enc->next.pc, enc->next.isa);
}

static void insn_in_q(struct ete_encoder *enc, const struct ete_insn *insn, struct sim_insn_class class)
{
	enc->q_branched |= enc->q_last_branch;
	enc->q_last_branch = class.kind == SIM_INSN_DIRECT || class.kind == SIM_INSN_INDIRECT;
	add_to_block(enc, insn->pc, insn->isa);
	if (!--enc->q_left)
		close_q(enc, insn->next_pc, insn->next_isa);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Instructions */

static void choose_mode(struct ete_encoder *enc)
{
	enc->mode = BLOCK_ATOM;
	if (enc->config.q_elements && !enc->pop_pending && chance(enc, enc->rates.q)) {
		enc->mode = BLOCK_Q;
		enc->q_left = sim_random_range(enc->random, 1, chance(enc, 500) ? 6 : 200);
		enc->q_branched = false;
		enc->q_last_branch = false;
	} else if (!enc->config.etmv4 && (!enc->pop_pending || chance(enc, enc->rates.source_return)) &&
			chance(enc, enc->rates.source_address)) {
		enc->mode = BLOCK_SOURCE;
	}
}

static bool is_p0(const struct ete_encoder *enc, struct sim_insn_class class)
{
	if (class.kind == SIM_INSN_WFX)
		return enc->config.wfx;
	return class.kind != SIM_INSN_OTHER;
}

static bool is_taken(const struct ete_insn *insn, struct sim_insn_class class)
{
	uint64_t sequential = insn->pc + sim_insn_size(insn->isa, insn->opcode);

	if (class.kind != SIM_INSN_DIRECT && class.kind != SIM_INSN_INDIRECT)
		return true;
	if (insn->next_pc != sequential || insn->next_isa != insn->isa || insn->taken)
		return true;
	/* In T32 any branch may be conditional by an IT block; handlers return unconditionally. */
	return class.exception_return || (!class.conditional && insn->isa != SIM_T32);
}

static void stack_push(struct ete_encoder *enc, const struct ete_insn *insn)
{
	unsigned int depth = enc->config.return_stack_depth;

	if (!depth || enc->no_push)
		return;
	if (enc->stack_count == depth) {
		memmove(enc->stack, enc->stack + 1, (depth - 1) * sizeof(enc->stack[0]));
		enc->stack_count--;
	}
	enc->stack[enc->stack_count].pc = insn->pc + sim_insn_size(insn->isa, insn->opcode);
	enc->stack[enc->stack_count++].isa = insn->isa;
}

static bool stack_match(struct ete_encoder *enc, const struct ete_insn *insn)
{
	if (!enc->stack_count || chance(enc, enc->rates.explicit_return))
		return false;
	const struct place *top = &enc->stack[enc->stack_count - 1];
	if (top->pc != insn->next_pc || top->isa != insn->next_isa)
		return false;
	enc->stack_count--;
	return true;
}

/* What a taken branch leaves: an address to tell, return stack entries. */
static void after_branch(struct ete_encoder *enc, const struct ete_insn *insn, struct sim_insn_class class)
{
	bool returns = class.exception_return || insn->exception_return;

	if (class.link)
		stack_push(enc, insn);
	if (class.kind == SIM_INSN_DIRECT) {
		enc->address_due |= enc->config.branch_broadcast;
		return;
	}
	if (!class.link && !returns && stack_match(enc, insn)) {
		enc->pop_pending = true;
		return;
	}
	enc->address_due = true;
}

static void put_atom(struct ete_encoder *enc, bool taken)
{
	enc->atoms[enc->atom_count++] = taken;
	if (can_speculate(enc) && chance(enc, enc->rates.mispredict))
		mispredict(enc);
	else if (enc->atom_count >= enc->atom_limit || chance(enc, enc->rates.flush_atoms))
		flush_atoms(enc);
}

static void exception_return(struct ete_encoder *enc)
{
	/* Armv7-M and later M profile: the element counts as P0. */
	bool p0 = enc->config.m_profile;

	flush_atoms(enc);
	ete_put_header(&enc->packets, 0x07);
	push_simple(enc, TRUTH_EXCEPTION_RETURN, p0);
	if (p0)
		count_emitted(enc, 1);
}

static void function_return(struct ete_encoder *enc)
{
	flush_atoms(enc);
	ete_put_header(&enc->packets, 0x05);
	push_simple(enc, TRUTH_FUNCTION_RETURN, true);
	count_emitted(enc, 1);
}

static void put_source(struct ete_encoder *enc, const struct ete_insn *insn)
{
	flush_atoms(enc);
	ete_put_address(&enc->packets, ETE_ADDRESS_SOURCE, insn->pc, insn->isa);
	count_emitted(enc, 1);
}

/* No source address for this instruction: the branches passed over get their N atoms after all. */
static void passed_as_atoms(struct ete_encoder *enc)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < enc->passed_count; i++) {
		push_insns(enc, done, enc->passed[i], true);
		done = enc->passed[i];
		put_atom(enc, false);
	}
	memmove(enc->block, enc->block + done, (enc->block_count - done) * sizeof(*enc->block));
	enc->block_count -= done;
	enc->passed_count = 0;
}

static void p0_insn(struct ete_encoder *enc, const struct ete_insn *insn, struct sim_insn_class class, bool taken)
{
	bool returns = class.exception_return || insn->exception_return;
	/* ETE has no packet for it: part of the meaning of an ERET's atom; for AArch32 left open, so not logged. */
	bool return_by_atom = !enc->config.etmv4 && class.exception_return && insn->isa == SIM_A64;
	bool source = enc->mode == BLOCK_SOURCE && taken &&
		((!class.exception_return && class.kind != SIM_INSN_TSTART) || chance(enc, enc->rates.source_return));

	prepare(enc);
	if (!source)
		passed_as_atoms(enc);
	push_block(enc, !return_by_atom);
	if (return_by_atom)
		push_simple(enc, TRUTH_EXCEPTION_RETURN, true);
	enc->pop_pending = false;
	if (source)
		put_source(enc, insn);
	else
		put_atom(enc, taken);

	enc->start = (struct place){ insn->next_pc, insn->next_isa };
	bool popped = false;
	if (taken && (class.kind == SIM_INSN_DIRECT || class.kind == SIM_INSN_INDIRECT)) {
		if (returns && enc->config.etmv4)
			exception_return(enc);
		after_branch(enc, insn, class);
		popped = enc->pop_pending;
		if (class.kind == SIM_INSN_INDIRECT && enc->address_due && !class.link && !returns &&
				chance(enc, enc->rates.function_return))
			function_return(enc);
		if (enc->address_due && can_speculate(enc) && chance(enc, enc->rates.mispredict))
			wrong_target(enc);
	}
	after_p0(enc);
	enc->pop_pending = popped;
}

void ete_encoder_insn(struct ete_encoder *enc, const struct ete_insn *insn)
{
	struct sim_insn_class class = sim_insn_classify(insn->isa, insn->opcode);

	if (!enc->tracing)
		return;
	if (enc->need_on)
		trace_on(enc, insn);
	if (!enc->start_known) {
		enc->start = (struct place){ insn->pc, insn->isa };
		enc->start_known = true;
	}
	if (chance(enc, enc->rates.sync))
		resync(enc);
	if (enc->mode == BLOCK_Q && (class.exception_return || insn->exception_return))
		close_q(enc, insn->pc, insn->isa);
	if (!enc->block_count)
		choose_mode(enc);
	enc->next = (struct place){ insn->next_pc, insn->next_isa };
	if (enc->mode == BLOCK_Q && !class.exception_return && !insn->exception_return) {
		insn_in_q(enc, insn, class);
		return;
	}
	if (enc->mode == BLOCK_Q)
		enc->mode = BLOCK_ATOM;
	add_to_block(enc, insn->pc, insn->isa);
	if (!is_p0(enc, class))
		return;
	bool taken = is_taken(insn, class);
	if (enc->mode == BLOCK_SOURCE && !taken && enc->passed_count < PASSED_MAX) {
		enc->passed[enc->passed_count++] = enc->block_count;
		return;
	}
	p0_insn(enc, insn, class, taken);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Exceptions */

static void put_exception_address(struct ete_encoder *enc, uint64_t pra, enum sim_isa isa)
{
	struct ete_packets *p = &enc->packets;
	bool with_context = enc->context_due;
	/* As for contexts that come alone: before the address, a context would get the wrong instruction set. */
	bool together = p->history[0].is1 != (isa == SIM_T32) && !chance(enc, enc->rates.lone_context);

	if (with_context && (together || chance(enc, 500))) {
		ete_put_address_context(p, pra, isa, &enc->context, true);
	} else {
		if (with_context)
			ete_put_context(p, &enc->context, true);
		ete_put_address(p, ETE_ADDRESS_OF_EXCEPTION, pra, isa);
	}
	if (with_context) {
		push_context(enc);
		enc->context_due = false;
	}
}

/* E=10 tells the target of the last branch and the return address at once; else the target may need an own packet. */
static unsigned int choose_e(struct ete_encoder *enc, uint64_t pra)
{
	bool nothing_ran = !enc->block_count;
	bool rs_ok = !enc->config.return_stack_depth || chance(enc, enc->rates.target_exception_rs);

	if (pra == ETE_TAIL_CHAINED && enc->config.m_profile)
		return 1;
	if (nothing_ran && enc->address_due && rs_ok && chance(enc, enc->rates.target_exception))
		return 2;
	if (nothing_ran && enc->address_due && chance(enc, enc->rates.bare_exception))
		return 1;
	if (enc->block_count || enc->address_due)
		prepare(enc);
	return 1;
}

void ete_encoder_exception(struct ete_encoder *enc, unsigned int type, uint64_t pra, enum sim_isa isa,
		bool fault_pending)
{
	struct truth_entry entry = { .kind = TRUTH_EXCEPTION, .p0 = true, .flag = true, .a = type, .b = pra };
	bool chained = enc->config.m_profile && pra == ETE_TAIL_CHAINED;

	if (!enc->tracing || enc->need_on)
		return;
	if (enc->mode == BLOCK_Q)
		close_q(enc, pra, isa);
	if (!enc->start_known)
		enc->start = (struct place){ pra, isa };
	enc->start_known = true;
	flush_atoms(enc);
	unsigned int e = choose_e(enc, pra);
	flush_atoms(enc);
	ete_put_exception(&enc->packets, e, type, fault_pending);
	put_exception_address(enc, pra, isa);
	push_block(enc, false);
	entry.flag = !chained;
	truth_push(&enc->truth, &entry);
	count_emitted(enc, 1);
	enc->start_known = false;
	enc->address_due = true;
	after_p0(enc);
}

/* The decoder loses its place: what ran since the last P0 element cannot be known. */
static void lose_place(struct ete_encoder *enc)
{
	enc->block_count = 0;
	enc->passed_count = 0;
	enc->mode = BLOCK_ATOM;
	enc->start_known = false;
	enc->address_due = true;
	enc->pop_pending = false;
	enc->stack_count = 0;
}

void ete_encoder_pe_reset(struct ete_encoder *enc)
{
	struct truth_entry entry = { .kind = TRUTH_EXCEPTION, .p0 = true };

	if (!enc->tracing || enc->need_on)
		return;
	settle_q(enc);
	flush_atoms(enc);
	ete_put_exception_special(&enc->packets, 0);
	truth_push(&enc->truth, &entry);
	lose_place(enc);
	count_emitted(enc, 1);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Everything else */

void ete_encoder_context(struct ete_encoder *enc, const struct ete_context *context)
{
	enc->context = *context;
	enc->context_due = true;
}

void ete_encoder_cycles(struct ete_encoder *enc, unsigned int cycles)
{
	enc->cycles += cycles;
}

void ete_encoder_timestamp(struct ete_encoder *enc, uint64_t timestamp)
{
	if (enc->need_on || !enc->tracing)
		return;
	if (enc->timestamp_due)
		put_timestamp_now(enc);
	enc->timestamp = timestamp;
	enc->timestamp_due = true;
	enc->timestamp_after = 0;
	if (enc->config.ts_markers) {
		flush_atoms(enc);
		ete_put_header(&enc->packets, 0x88);
		push_simple(enc, TRUTH_MARKER, false);
		enc->timestamp_after = sim_random_below(enc->random, 5);
	}
	if (!enc->timestamp_after)
		put_timestamp_now(enc);
}

void ete_encoder_event(struct ete_encoder *enc, unsigned int mask)
{
	put_event_now(enc, mask);
}

void ete_encoder_instrumentation(struct ete_encoder *enc, unsigned int el, uint64_t value)
{
	struct truth_entry entry = { .kind = TRUTH_INSTRUMENTATION, .a = el, .b = value };

	if (!enc->tracing || enc->need_on)
		return;
	flush_atoms(enc);
	ete_put_instrumentation(&enc->packets, el, value);
	truth_push(&enc->truth, &entry);
}

static void push_transaction(struct ete_encoder *enc, enum truth_transaction what, bool p0)
{
	struct truth_entry entry = { .kind = TRUTH_TRANSACTION, .a = what, .p0 = p0 };

	truth_push(&enc->truth, &entry);
}

void ete_encoder_transaction_start(struct ete_encoder *enc)
{
	enc->in_transaction = true;
	if (!enc->tracing || enc->need_on)
		return;
	settle_q(enc);
	flush_atoms(enc);
	ete_put_header(&enc->packets, 0x0a);
	push_transaction(enc, TRUTH_TRANSACTION_START, !enc->config.commtrans);
	if (!enc->config.commtrans)
		count_emitted(enc, 1);
}

void ete_encoder_transaction_commit(struct ete_encoder *enc)
{
	enc->in_transaction = false;
	if (!enc->tracing || enc->need_on)
		return;
	flush_atoms(enc);
	ete_put_header(&enc->packets, 0x0b);
	push_transaction(enc, TRUTH_TRANSACTION_COMMIT, false);
}

void ete_encoder_transaction_fail(struct ete_encoder *enc)
{
	enc->in_transaction = false;
	if (!enc->tracing || enc->need_on)
		return;
	settle_q(enc);
	flush_atoms(enc);
	ete_put_exception_special(&enc->packets, 0x18);
	push_transaction(enc, TRUTH_TRANSACTION_FAIL, false);
	lose_place(enc);
}

void ete_encoder_filter(struct ete_encoder *enc, bool on)
{
	if (on == enc->tracing)
		return;
	enc->tracing = on;
	if (!on) {
		lose_place(enc);
		return;
	}
	if (!enc->need_on)
		enc->reason = TRUTH_GAP_FILTER;
	enc->need_on = true;
}

static void interrupted(struct ete_encoder *enc, uint8_t extension, enum truth_gap reason)
{
	flush_atoms(enc);
	ete_put_bytes2(&enc->packets, 0x00, extension);
	truth_discard(&enc->truth, reason);
	enc->emitted = 0;
	enc->timestamp_due = false;
	lose_place(enc);
	put_sync(enc);
	if (enc->in_transaction)
		push_transaction(enc, TRUTH_TRANSACTION_INIT, false);
	enc->need_on = true;
}

void ete_encoder_overflow(struct ete_encoder *enc)
{
	/* Between Trace Info and the first Trace On nothing can overflow that matters. */
	if (enc->need_on)
		return;
	interrupted(enc, 0x05, TRUTH_GAP_OVERFLOW);
	enc->gap_logged = true;
}

void ete_encoder_discard(struct ete_encoder *enc)
{
	if (enc->need_on)
		return;
	interrupted(enc, 0x03, TRUTH_GAP_DISCARD);
	enc->gap_logged = true;
}

void ete_encoder_finish(struct ete_encoder *enc)
{
	if (chance(enc, 500))
		settle_q(enc);
	flush_atoms(enc);
	if (enc->timestamp_due)
		put_timestamp_now(enc);
	if (enc->emitted && !chance(enc, enc->rates.leave_uncommitted)) {
		ete_put_number(&enc->packets, 0x2d, enc->emitted);
		commit(enc, enc->emitted);
	}
	truth_finish(&enc->truth);
}

struct ete_encoder *ete_encoder_new(const struct ete_config *config, const struct ete_rates *rates, uint64_t seed,
		unsigned int unseen, struct sim_buffer *trace, struct sim_buffer *truth)
{
	struct ete_encoder *enc = calloc(1, sizeof(*enc));

	if (!enc) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	enc->config = *config;
	enc->rates = *rates;
	enc->packets.out = trace;
	enc->packets.config = *config;
	enc->packets.rates = *rates;
	sim_random_seed(&enc->packets.random, seed);
	enc->random = &enc->packets.random;
	enc->truth.text = truth;
	enc->truth.cid_len = config->cid_len;
	enc->truth.vmid_len = config->vmid_len;
	enc->tracing = true;
	enc->need_on = true;
	enc->reason = TRUTH_GAP_BEGIN;
	enc->atom_limit = 1;
	enc->emitted = unseen;
	push_wrong(enc, unseen);
	put_sync(enc);
	return enc;
}

void ete_encoder_free(struct ete_encoder *enc)
{
	truth_free(&enc->truth);
	free(enc->block);
	free(enc);
}

uint64_t ete_encoder_logged(const struct ete_encoder *enc)
{
	return enc->truth.insn_count;
}
