// SPDX-License-Identifier: GPL-2.0-or-later
/* check-group: mtb */

/*
 * Random programs that run, with interrupts, and the packets that an MTB would store: what is decoded is what ran,
 * instruction by instruction, through a ring of any size, in any chunks, with any cache.
 *
 * The programs are made here, so that what each instruction does is known without a decoder. The packets follow the
 * rules of the manual; tail-chaining has all the shapes that it leaves open.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/mtb_flow.h>
#include <itrace/mtb_ring.h>

#define CODE_BASE	0x400u
#define CODE_NUM	1024u		/* halfwords */
#define HANDLERS	4u
#define LOG_MAX		4000u
#define PACKETS_MAX	16384u
#define TAKEN_MAX	8192u
#define RING_ADDR	0x20000000u
#define SEAMS_MAX	4096u

enum op { OP_NONE, OP_PLAIN, OP_PLAIN32, OP_BCC, OP_B, OP_BL, OP_BX_LR, OP_SVC, OP_IT, OP_CBZ };

struct instruction {
	uint8_t op, size;
	uint8_t it;		/* OP_IT: how many follow */
	bool conditional;	/* in an IT block */
	uint32_t target;
};

struct machine {
	uint64_t seed;
	struct instruction code[CODE_NUM];	/* by halfword */
	uint16_t image[CODE_NUM];
	uint32_t vectors[64];
	uint32_t handlers[HANDLERS];
	uint32_t vector_of[HANDLERS];
	unsigned int main_num;			/* halfwords of the program; handlers are behind it */

	uint32_t log[LOG_MAX];			/* addresses of what ran */
	unsigned int log_num;
	uint32_t packets[PACKETS_MAX][2];
	unsigned int packet_log[PACKETS_MAX];	/* what had run in front of the packet's source */
	unsigned int packet_num;
	uint32_t taken[TAKEN_MAX];		/* exceptions, */
	unsigned int taken_packet[TAKEN_MAX];	/* and the packets that say so */
	unsigned int taken_num;

	uint32_t pc;
	uint32_t calls[64];
	unsigned int call_num;
	struct { uint32_t pc; unsigned int call_num, handler; } frames[8];
	unsigned int frame_num;
	bool entry_interrupted;			/* an exception was taken at the first instruction of a handler */
};

static uint32_t any(struct machine *m, uint32_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->seed >> 33) % below;
}

static struct instruction *at(struct machine *m, uint32_t addr)
{
	return &m->code[(addr - CODE_BASE) / 2];
}

/* --- the program --- */

static void encode(struct machine *m, unsigned int pos)
{
	struct instruction *i = &m->code[pos];
	const uint32_t addr = CODE_BASE + 2 * pos;
	const int32_t off = (int32_t)(i->target - (addr + 4));

	switch (i->op) {
	case OP_PLAIN:
		m->image[pos] = 0x3001;
		break;
	case OP_PLAIN32:	/* LDR.W R1, [R2, #4] */
		m->image[pos] = 0xf8d2;
		m->image[pos + 1] = 0x1004;
		break;
	case OP_BCC:
		m->image[pos] = (uint16_t)(0xd100 | (off >> 1 & 0xff));
		break;
	case OP_CBZ:
		m->image[pos] = (uint16_t)(0xb100 | (off >> 1 & 0x1f) << 3 | (off >> 6 & 1) << 9);
		break;
	case OP_B:
		m->image[pos] = (uint16_t)(0xe000 | (off >> 1 & 0x7ff));
		break;
	case OP_BL:
		m->image[pos] = (uint16_t)(0xf000 | (off < 0 ? 0x400 : 0) | (off >> 12 & 0x3ff));
		m->image[pos + 1] = (uint16_t)(0xf800 | (off >> 1 & 0x7ff));
		break;
	case OP_BX_LR:
		m->image[pos] = 0x4770;
		break;
	case OP_SVC:
		m->image[pos] = 0xdf05;
		break;
	case OP_IT:	/* EQ; the mask's lowest 1 says how many */
		m->image[pos] = (uint16_t)(0xbf00 | (0x10 >> i->it));
		break;
	}
}

static unsigned int add(struct machine *m, unsigned int pos, enum op op, bool conditional)
{
	m->code[pos].op = (uint8_t)op;
	m->code[pos].size = op == OP_PLAIN32 || op == OP_BL ? 4 : 2;
	m->code[pos].conditional = conditional;
	return pos + m->code[pos].size / 2;
}

/* A start of an instruction within reach, not within an IT block. */
static uint32_t find_target(struct machine *m, unsigned int pos, int from, int to)
{
	const struct instruction *here = &m->code[pos];

	for (unsigned int tries = 0; tries < 100; tries++) {
		const int place = (int)pos + from + (int)any(m, (uint32_t)(to - from));
		if (place >= 0 && place < (int)m->main_num && m->code[place].op && !m->code[place].conditional &&
				place != (int)pos + here->size / 2)
			return CODE_BASE + 2 * (uint32_t)place;
	}
	return 0;
}

static void set_target(struct machine *m, unsigned int pos)
{
	struct instruction *i = &m->code[pos];

	switch (i->op) {
	case OP_BCC:
		i->target = find_target(m, pos, -100, 100);
		break;
	case OP_CBZ:
		i->target = find_target(m, pos, 2, 60);
		break;
	case OP_B:
	case OP_BL:
		i->target = find_target(m, pos, -400, 400);
		break;
	default:
		return;
	}
	if (!i->target) {
		i->op = OP_PLAIN;
		if (i->size == 4)
			i->op = OP_PLAIN32;
	}
}

static void make_program(struct machine *m)
{
	static const uint8_t usual[] = {
		OP_PLAIN, OP_PLAIN, OP_PLAIN, OP_PLAIN32, OP_BCC, OP_BCC, OP_BCC, OP_B, OP_BL, OP_BL, OP_BX_LR, OP_SVC, OP_CBZ,
		OP_IT
	};
	unsigned int pos = 0;

	m->main_num = 200 + any(m, 500);
	while (pos < m->main_num - 12) {
		const enum op op = (enum op)usual[any(m, sizeof(usual))];
		const unsigned int begin = pos;
		pos = add(m, pos, op, false);
		if (op != OP_IT)
			continue;
		m->code[begin].it = (uint8_t)(1 + any(m, 4));
		for (unsigned int i = 1; i < m->code[begin].it; i++)
			pos = add(m, pos, any(m, 2) ? OP_PLAIN : OP_PLAIN32, true);
		/* only the last of them may be a branch */
		pos = add(m, pos, any(m, 2) ? OP_PLAIN : any(m, 2) ? OP_BX_LR : OP_B, true);
	}
	while (pos < m->main_num)
		pos = add(m, pos, OP_PLAIN, false);
	pos = add(m, pos, OP_BX_LR, false);
	m->main_num = pos;
	for (unsigned int i = 0; i < m->main_num; i++)
		set_target(m, i);

	m->vectors[0] = 0x20001000;
	m->vectors[1] = CODE_BASE | 1;
	m->vector_of[0] = 11;
	m->vector_of[1] = 15;
	m->vector_of[2] = 16 + any(m, 20);
	m->vector_of[3] = m->vector_of[2] + 1 + any(m, 10);
	for (unsigned int h = 0; h < HANDLERS; h++) {
		m->handlers[h] = CODE_BASE + 2 * pos;
		m->vectors[m->vector_of[h]] = m->handlers[h] | 1;
		for (uint32_t n = any(m, 6); n; n--)
			pos = add(m, pos, any(m, 3) ? OP_PLAIN : OP_PLAIN32, false);
		pos = add(m, pos, OP_BX_LR, false);
	}
	assert_true(pos <= CODE_NUM);
	for (unsigned int i = 0; i < pos; i++)
		encode(m, i);
}

/* --- running it --- */

static void packet(struct machine *m, uint32_t source, bool atomic, uint32_t destination)
{
	assert_true(m->packet_num < PACKETS_MAX);
	m->packet_log[m->packet_num] = m->log_num;
	m->packets[m->packet_num][0] = source | (atomic ? 1 : 0);
	m->packets[m->packet_num][1] = destination | (m->packet_num ? 0 : 1);
	m->packet_num++;
}

static uint32_t trace_number(uint32_t vector)
{
	return vector < 24 ? vector : 0x200 + vector - 16;
}

/* An exception that is not active; HANDLERS: none. */
static unsigned int choose_handler(struct machine *m)
{
	const unsigned int handler = 1 + any(m, HANDLERS - 1);

	for (unsigned int i = 0; i < m->frame_num; i++)
		if (m->frames[i].handler == handler)
			return HANDLERS;
	return handler;
}

/* The newest frame is that of @a handler from now on. */
static void enter(struct machine *m, unsigned int handler, uint32_t source)
{
	m->frames[m->frame_num - 1].handler = handler;
	assert_true(m->taken_num < TAKEN_MAX);
	m->taken_packet[m->taken_num] = m->packet_num;
	m->taken[m->taken_num++] = trace_number(m->vector_of[handler]);
	packet(m, source, true, m->handlers[handler]);
	m->pc = m->handlers[handler];
}

static void push(struct machine *m)
{
	for (unsigned int h = 0; h < HANDLERS; h++)
		m->entry_interrupted |= m->pc == m->handlers[h];
	m->frames[m->frame_num].pc = m->pc;
	m->frames[m->frame_num].call_num = m->call_num;
	m->frame_num++;
}

static void interrupt(struct machine *m, unsigned int handler)
{
	if (m->frame_num == 4 || handler == HANDLERS)
		return;
	push(m);
	enter(m, handler, m->pc);
	/* late arrival: another one comes first; either return address is possible */
	const unsigned int late = choose_handler(m);
	if (m->frame_num == 4 || late == HANDLERS || any(m, 6))
		return;
	if (any(m, 2))
		push(m);
	enter(m, late, m->frames[m->frame_num - 1].pc);
}

static void exception_return(struct machine *m)
{
	const uint32_t value = m->frame_num > 1 ? 0xfffffff0 : any(m, 2) ? 0xfffffff8 : 0xfffffffc;
	const uint32_t back = m->frames[m->frame_num - 1].pc;

	packet(m, m->pc, false, value);
	m->log[m->log_num++] = m->pc;
	const unsigned int handler = choose_handler(m);
	switch (handler == HANDLERS ? 3 : any(m, 12)) {
	case 0:
		enter(m, handler, value);
		return;
	case 1:
		packet(m, value, true, back);
		enter(m, handler, back);
		return;
	case 2:
		enter(m, handler, back);
		return;
	default:
		packet(m, value, true, back);
		m->pc = back;
		m->frame_num--;
		m->call_num = m->frames[m->frame_num].call_num;
		return;
	}
}

static void branch(struct machine *m, uint32_t to)
{
	packet(m, m->pc, false, to);
	m->log[m->log_num++] = m->pc;
	m->pc = to;
}

static void step(struct machine *m, bool chatty)
{
	const struct instruction *i = at(m, m->pc);
	const uint32_t behind = m->pc + i->size;
	const bool taken = any(m, 2);

	switch (i->op) {
	case OP_BL:
		if (m->call_num < 60)
			m->calls[m->call_num++] = behind;
		branch(m, i->target);
		return;
	case OP_B:
		if (i->conditional && !taken)
			break;
		branch(m, i->target);
		return;
	case OP_BCC:
	case OP_CBZ:
		if (!taken)
			break;
		branch(m, i->target);
		return;
	case OP_BX_LR:
		if (i->conditional && !taken)
			break;
		if (m->frame_num) {
			if ((m->pc - CODE_BASE) / 2 >= m->main_num)
				exception_return(m);
			else
				branch(m, m->handlers[any(m, HANDLERS)]);
			return;
		}
		if (m->call_num) {
			branch(m, m->calls[--m->call_num]);
			return;
		}
		for (uint32_t to = 0;; ) {
			to = find_target(m, (m->pc - CODE_BASE) / 2, -600, 600);
			if (!to)
				continue;
			branch(m, to);
			return;
		}
	case OP_SVC:
		m->log[m->log_num++] = m->pc;
		m->pc = behind;
		interrupt(m, 0);
		return;
	default:
		break;
	}
	if (chatty && !any(m, 3))
		packet(m, m->pc, false, behind);
	m->log[m->log_num++] = m->pc;
	m->pc = behind;
}

static void run(struct machine *m, unsigned int count)
{
	const bool chatty = !any(m, 4);
	const uint32_t often = 3 + any(m, 60);

	m->pc = CODE_BASE;
	while (m->log_num < count) {
		step(m, chatty);
		if (m->packet_num && !any(m, often) && m->packet_num < PACKETS_MAX - 16)
			interrupt(m, choose_handler(m));
	}
}

/* --- decoding it --- */

static struct itrace_image image;
static struct itrace_mtb_flow flow;

struct got {
	uint32_t log[LOG_MAX];
	unsigned int log_num;
	uint32_t taken[TAKEN_MAX];
	unsigned int taken_num;
	unsigned int gaps;
	struct itrace_event seams[SEAMS_MAX];
	unsigned int seam_log[SEAMS_MAX];	/* what had run in front of each */
	unsigned int seam_num;
	uint64_t hash;		/* of all events */
};

static void hash(struct got *got, uint64_t value)
{
	got->hash = (got->hash ^ value) * 0x100000001b3u;
	got->hash ^= got->hash >> 29;
}

/* Expand ranges: by the sizes that are known here. */
static void take(struct machine *m, struct got *got, const struct itrace_event *event)
{
	hash(got, event->off);
	hash(got, event->addr);
	hash(got, event->end);
	hash(got, (uint64_t)event->tag << 32 | event->count);
	if (event->kind == ITRACE_EVENT_GAP) {
		got->gaps++;
	} else if (event->kind == ITRACE_EVENT_SEAM) {
		assert_true(got->seam_num < SEAMS_MAX);
		got->seams[got->seam_num] = *event;
		got->seam_log[got->seam_num++] = got->log_num;
	} else if (event->kind == ITRACE_EVENT_EXCEPTION) {
		assert_true(got->taken_num < TAKEN_MAX);
		got->taken[got->taken_num++] = event->number;
		assert_false(event->flags & ITRACE_EVENT_UNKNOWN);
	} else if (event->kind == ITRACE_EVENT_RANGE) {
		uint32_t addr = (uint32_t)event->addr, count = 0;
		for (; addr < event->end; count++) {
			assert_true(got->log_num < LOG_MAX);
			got->log[got->log_num++] = addr;
			addr += at(m, addr)->size;
		}
		assert_int_equal(addr, event->end);
		assert_int_equal(count, event->count);
		assert_int_equal(event->isa, ITRACE_ISA_T32);
	}
}

static void drain(struct machine *m, struct got *got, unsigned int n)
{
	struct itrace_event events[16];
	unsigned int count;

	while ((count = itrace_mtb_flow_next(&flow, events, n)))
		for (unsigned int i = 0; i < count; i++)
			take(m, got, &events[i]);
}

/* The last packets that a buffer of 2^(mask + 4) bytes holds, as they lie in it. */
static uint8_t *fill_ring(const struct machine *m, unsigned int mask, uint32_t *position)
{
	const uint32_t slots = 2u << mask;
	uint8_t *ring = malloc(8 * slots);

	memset(ring, 0xa5, 8 * slots);
	for (unsigned int i = 0; i < m->packet_num; i++)
		for (unsigned int byte = 0; byte < 8; byte++)
			ring[8 * (i % slots) + byte] = (uint8_t)(m->packets[i][byte / 4] >> byte % 4 * 8);
	*position = 8 * (m->packet_num % slots) | (m->packet_num >= slots ? ITRACE_MTB_POSITION_WRAP : 0);
	return ring;
}

/* Where fillings of a buffer meet, and what had run there. */
struct seams {
	struct itrace_seam seams[SEAMS_MAX];
	unsigned int from[SEAMS_MAX], to[SEAMS_MAX];	/* the first and the last possible */
	unsigned int num;
};

/* One way of decoding; which one does not matter to what comes out. */
static void decode(struct machine *m, const struct itrace_mtb_ring *ring, const uint8_t *bytes,
		const struct seams *seams, bool one_by_one, struct itrace_ledger *ledger, struct got *got)
{
	static struct itrace_block blocks[1024];
	const struct itrace_segment segments[] = {
		{ CODE_BASE, sizeof(m->image), (const uint8_t *)m->image, ITRACE_SPACE_ANY, 0 },
		{ 0, sizeof(m->vectors), (const uint8_t *)m->vectors, ITRACE_SPACE_ANY, 1 },
	};
	const struct itrace_mtb_hints hints = {
		.wrapped = ring->wrapped, .has_pc_arm = true, .pc_arm = CODE_BASE, .has_pc_halt = true, .pc_halt = m->pc,
		.has_vtor = true, .vtor = 0, .seams = seams ? seams->seams : NULL, .seam_count = seams ? seams->num : 0,
	};

	itrace_image_init(&image, segments, 2, NULL, NULL);
	itrace_ledger_init(ledger);
	itrace_mtb_flow_init(&flow, &hints, &image, blocks, 1u << any(m, 11), ledger);
	flow.one_by_one = one_by_one;
	memset(got, 0, sizeof(*got));
	const unsigned int n = 1 + any(m, 16), part_max = 1 + any(m, 100);
	for (unsigned int p = 0; p < ring->piece_count; p++) {
		for (uint64_t pos = 0, part; pos < ring->pieces[p].len; pos += part) {
			part = 1 + any(m, part_max);
			if (part > ring->pieces[p].len - pos)
				part = ring->pieces[p].len - pos;
			/* a copy, so that reading a byte behind it is found */
			uint8_t *chunk = malloc(part);
			memcpy(chunk, bytes + ring->pieces[p].off + pos, part);
			itrace_mtb_flow_feed(&flow, ring->pieces[p].off + pos, chunk, part);
			drain(m, got, n);
			free(chunk);
		}
	}
	itrace_mtb_flow_finish(&flow);
	drain(m, got, n);
}

static void check(struct machine *m, unsigned int mask)
{
	static struct got got, slow;
	struct itrace_mtb_registers regs = {
		.master = mask, .given = ITRACE_MTB_REG_POSITION | ITRACE_MTB_REG_MASTER
	};
	struct itrace_ledger ledger, slow_ledger;
	struct itrace_mtb_ring ring;
	uint8_t *bytes = fill_ring(m, mask, &regs.position);

	assert_int_equal(itrace_mtb_ring_find(&ring, &regs, any(m, 2), RING_ADDR, UINT64_C(16) << mask),
		ITRACE_MTB_RING_OK);
	decode(m, &ring, bytes, NULL, false, &ledger, &got);
	decode(m, &ring, bytes, NULL, true, &slow_ledger, &slow);
	free(bytes);
	/* the short cut gives the same events, all fields of them, and the same ledger */
	assert_int_equal(got.hash, slow.hash);
	assert_memory_equal(&ledger, &slow_ledger, sizeof(ledger));

	const unsigned int held = m->packet_num < 2u << mask ? m->packet_num : 2u << mask;
	const unsigned int first_packet = m->packet_num - held;
	const unsigned int from = ring.wrapped ? m->packet_log[first_packet] : 0;
	assert_int_equal(got.gaps, 0);
	assert_int_equal(got.log_num, m->log_num - from);
	assert_memory_equal(got.log, m->log + from, got.log_num * sizeof(got.log[0]));
	unsigned int taken = 0;
	while (taken < m->taken_num && m->taken_packet[taken] < first_packet)
		taken++;
	/* where the entry was overwritten, a return to the first instruction of a handler looks like tail-chaining */
	if (!ring.wrapped || !m->entry_interrupted) {
		assert_int_equal(got.taken_num, m->taken_num - taken);
		assert_memory_equal(got.taken, m->taken + taken, got.taken_num * sizeof(got.taken[0]));
	}
	assert_true(itrace_ledger_balances(&ledger));
	assert_int_equal(ledger.trace_len, 8 * held);
	assert_int_equal(ledger.decoded_len, 8 * held);
	assert_int_equal(ledger.instruction_count, got.log_num);
	assert_int_equal(ledger.source_count[0], got.log_num);
}

/* Where the core can have stood with @a ran instructions behind it, between packet @a next and the one before. */
static uint32_t place_between(const struct machine *m, unsigned int next, unsigned int first, unsigned int ran)
{
	const bool last = next == m->packet_num;

	if (ran < (last ? m->log_num : m->packet_log[next]))
		return m->log[ran];
	if (ran > first)
		return last ? m->pc : m->packets[next][0] & ~UINT32_C(1);
	return next ? m->packets[next - 1][1] & ~UINT32_C(1) : CODE_BASE;
}

/* Fillings of any length, also empty ones; of some seams the PC is not known, or it is wrong. */
static void make_seams(struct machine *m, struct seams *seams)
{
	const uint32_t often = 1 + any(m, 40);

	seams->num = 0;
	for (unsigned int next = 0; next <= m->packet_num; next++) {
		const bool atomic = next && m->packets[next - 1][0] & 1;
		const unsigned int last = next < m->packet_num ? m->packet_log[next] : m->log_num;
		const unsigned int first = next ? m->packet_log[next - 1] + !atomic : 0;
		unsigned int ran = first;
		uint32_t times = any(m, often) ? 0 : 1 + any(m, 8) / 7;
		uint32_t early = next ? any(m, 8) : 0;
		while (times-- && seams->num < SEAMS_MAX) {
			struct itrace_seam *seam = &seams->seams[seams->num];
			const uint32_t how = times ? 2 : any(m, 10);
			/* inside of the packet before is behind that */
			seam->off = 8 * next - early;
			early = 0;
			ran += any(m, last - ran + 1);
			seam->has_pc = how;
			seam->pc = how == 1 ? any(m, 0x2000) : place_between(m, next, first, ran) | any(m, 2);
			seams->from[seams->num] = how > 1 ? ran : first;
			seams->to[seams->num++] = how > 1 ? ran : last;
			if (how < 2)
				break;
		}
	}
}

/* The trace as one of many fillings: the same instructions, and the seams between those that they were between. */
static void check_seams(struct machine *m)
{
	static struct got got, slow;
	static struct seams seams;
	const struct itrace_mtb_ring ring = {
		.pieces = { { 0, 8 * (uint64_t)m->packet_num } }, .piece_count = 1,
	};
	struct itrace_ledger ledger, slow_ledger;

	make_seams(m, &seams);
	decode(m, &ring, (const uint8_t *)m->packets, &seams, false, &ledger, &got);
	decode(m, &ring, (const uint8_t *)m->packets, &seams, true, &slow_ledger, &slow);
	assert_int_equal(got.hash, slow.hash);
	assert_memory_equal(&ledger, &slow_ledger, sizeof(ledger));
	assert_int_equal(got.gaps, 0);
	assert_int_equal(got.log_num, m->log_num);
	assert_memory_equal(got.log, m->log, got.log_num * sizeof(got.log[0]));
	assert_int_equal(got.taken_num, m->taken_num);
	assert_memory_equal(got.taken, m->taken, got.taken_num * sizeof(got.taken[0]));
	assert_int_equal(ledger.instruction_count, got.log_num);
	assert_int_equal(ledger.event_count[ITRACE_EVENT_SEAM], seams.num);
	assert_int_equal(got.seam_num, seams.num);
	for (unsigned int i = 0; i < seams.num; i++) {
		assert_int_equal(got.seams[i].off, seams.seams[i].off);
		assert_int_equal(got.seams[i].flags & ITRACE_EVENT_HAS_ADDR ? 1 : 0, seams.seams[i].has_pc);
		assert_int_equal(got.seams[i].addr, seams.seams[i].has_pc ? seams.seams[i].pc & ~UINT32_C(1) : 0);
		assert_in_range(got.seam_log[i], seams.from[i], seams.to[i]);
	}
}

static unsigned int cases(void)
{
	const char *long_run = getenv("LONG");

	return long_run && !strcmp(long_run, "1") ? 20000 : 1500;
}

static void what_is_decoded_is_what_ran(void **state)
{
	for (unsigned int seed = 1; seed <= cases(); seed++) {
		struct machine *m = calloc(1, sizeof(*m));
		m->seed = seed * 0x9e3779b97f4a7c15u;
		make_program(m);
		run(m, 1 + any(m, LOG_MAX - 200));
		for (unsigned int round = 0; round < 4; round++)
			check(m, any(m, 12));
		check_seams(m);
		free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_decoded_is_what_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
