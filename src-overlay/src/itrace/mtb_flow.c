// SPDX-License-Identifier: GPL-2.0-or-later

#include "mtb_flow.h"

#include <string.h>

#define LOOSE_MAX	4u	/* instructions of an IT block */
#define SPACE		ITRACE_SPACE_ANY	/* the trace says nothing of security states */

#define LOCKUP_NUMBER	0x1au

/* In place of a packet's kind: the core was halted in front of the source. */
#define HALT		ITRACE_MTB_KIND_NUM

enum place {
	NOWHERE,
	AT,		/* the next instruction is at addr */
	ON_WAY_BACK,	/* a branch went to the value addr; where that leads is in the next packet */
	LOCKED_UP
};

/* --- events out --- */

static inline void emit(struct itrace_mtb_flow *flow, const struct itrace_event *event)
{
	if (flow->ledger && event->kind == ITRACE_EVENT_GAP)
		itrace_ledger_count(flow->ledger, event, 1);
	else if (flow->ledger)
		flow->ledger->event_count[event->kind]++;
	if (flow->out < flow->out_end)
		*flow->out++ = *event;
	else
		flow->pending[flow->pending_count++] = *event;
}

static void emit_simple(struct itrace_mtb_flow *flow, enum itrace_event_kind kind, unsigned int cause)
{
	struct itrace_event event = { .off = flow->packet.off, .tag = itrace_event_tag(kind, 0, cause) };

	emit(flow, &event);
}

/* @a end and @a detail: as the cause asks for, see event.h. */
static void emit_gap(struct itrace_mtb_flow *flow, enum itrace_gap cause, uint32_t addr, uint64_t end, uint32_t detail)
{
	struct itrace_event event = {
		.off = flow->packet.off,
		.addr = addr,
		.end = end,
		.count = detail,
		.tag = itrace_event_tag(ITRACE_EVENT_GAP, ITRACE_EVENT_HAS_ADDR, cause),
	};

	emit(flow, &event);
}

static void emit_no_memory(struct itrace_mtb_flow *flow, uint32_t addr)
{
	emit_gap(flow, ITRACE_GAP_NO_MEMORY, addr, SPACE, 2);
}

static uint32_t executed_mask(void)
{
	return itrace_event_tag(0, ITRACE_EVENT_EXECUTED, 0);
}

static inline void emit_range(struct itrace_mtb_flow *flow, const struct itrace_block *block, uint32_t tag)
{
	struct itrace_ledger *ledger = flow->ledger;

	if (ledger) {
		ledger->event_count[ITRACE_EVENT_RANGE]++;
		ledger->instruction_count += block->count;
		ledger->source_count[block->source < ITRACE_LEDGER_SOURCES ? block->source : ITRACE_LEDGER_SOURCES] +=
			block->count;
	}
	struct itrace_event *event = flow->out < flow->out_end ? flow->out++ : &flow->pending[flow->pending_count++];
	event->off = flow->packet.off;
	event->addr = block->start;
	event->end = block->start + block->len;
	event->count = block->count;
	event->tag = tag;
}

/* --- places --- */

static void lose_place(struct itrace_mtb_flow *flow)
{
	flow->place = NOWHERE;
	flow->it_left = 0;
	flow->loose = 0;
	flow->ran = false;
	flow->branched = false;
	flow->excepted = false;
}

static void go_to(struct itrace_mtb_flow *flow, uint32_t addr)
{
	flow->place = AT;
	flow->addr = addr;
	flow->it_left = 0;
	flow->loose = 0;
	flow->ran = false;
	flow->branched = false;
	flow->excepted = false;
}

/* @a block ran. */
static inline void moved_to(struct itrace_mtb_flow *flow, uint32_t addr, const struct itrace_block *block)
{
	flow->addr = addr;
	flow->it_left = block->end & ITRACE_BLOCK_IT_MASK;
	flow->loose = block->count < flow->loose ? (uint8_t)(flow->loose - block->count) : 0;
	flow->ran = true;
	flow->branched = false;
	flow->excepted = false;
}

static bool is_mapped(struct itrace_mtb_flow *flow, uint32_t addr)
{
	size_t avail;

	return itrace_image_at(flow->cache.image, addr, SPACE, &avail, NULL);
}

static uint32_t find_exception(struct itrace_mtb_flow *flow, uint32_t handler,
		const struct itrace_mtb_interrupted *from, unsigned int *flags)
{
	*flags = ITRACE_EVENT_UNKNOWN;
	if (!flow->hints.has_vtor)
		return 0;
	return itrace_mtb_vectors_find(&flow->vectors, flow->cache.image, flow->hints.vtor, handler, from, flags);
}

/* --- open exceptions --- */

static void push_frame(struct itrace_mtb_flow *flow, uint32_t addr)
{
	const bool here = flow->place == AT && addr == flow->addr;

	if (flow->frame_count == ITRACE_MTB_FRAME_NUM) {
		memmove(&flow->frames[0], &flow->frames[1], (ITRACE_MTB_FRAME_NUM - 1) * sizeof(flow->frames[0]));
		flow->frame_count--;
	}
	flow->frames[flow->frame_count].addr = addr;
	flow->frames[flow->frame_count].it_left = here ? flow->it_left : 0;
	flow->frames[flow->frame_count].loose = here ? flow->loose : LOOSE_MAX;
	flow->frame_count++;
}

/* The newest one that returns to @a addr; ITRACE_MTB_FRAME_NUM: none, as where a scheduler switches threads. */
static uint32_t find_frame(const struct itrace_mtb_flow *flow, uint32_t addr)
{
	for (uint32_t i = flow->frame_count; i--;)
		if (flow->frames[i].addr == addr)
			return i;
	return ITRACE_MTB_FRAME_NUM;
}

/* --- set-up --- */

static void set_next_seam(struct itrace_mtb_flow *flow, size_t next)
{
	flow->seam_next = next;
	flow->seam_off = next < flow->hints.seam_count ? flow->hints.seams[next].off : UINT64_MAX;
}

static void clear(struct itrace_mtb_flow *flow, const struct itrace_mtb_hints *hints, enum itrace_no_sync why)
{
	memset(&flow->hints, 0, sizeof(flow->hints));
	if (hints)
		flow->hints = *hints;
	flow->pos = NULL;
	flow->end = NULL;
	flow->off = 0;
	flow->held_len = 0;
	flow->held_off = 0;
	flow->finished = false;
	flow->ended = false;
	flow->first = true;
	flow->begun = false;
	flow->begun_tail = false;
	flow->begin_cause = (uint8_t)why;
	flow->addr = 0;
	flow->return_addr = 0;
	flow->walking = false;
	flow->waiting = false;
	set_next_seam(flow, 0);
	flow->frame_count = 0;
	itrace_mtb_vectors_init(&flow->vectors);
	flow->pending_count = 0;
	flow->pending_next = 0;
	memset(&flow->packet, 0, sizeof(flow->packet));
	lose_place(flow);
	if (flow->hints.has_pc_arm && !flow->hints.wrapped) {
		go_to(flow, flow->hints.pc_arm & ~UINT32_C(1));
		flow->loose = LOOSE_MAX;
	}
}

void itrace_mtb_flow_init(struct itrace_mtb_flow *flow, const struct itrace_mtb_hints *hints,
		struct itrace_image *image, struct itrace_block *blocks, size_t block_count, struct itrace_ledger *ledger)
{
	flow->rules = (struct itrace_insn_rules){ .m_profile = true };
	itrace_block_cache_init(&flow->cache, blocks, block_count, image, &flow->rules, false);
	flow->cache.by_halfword = true;
	flow->one_by_one = false;
	flow->ledger = ledger;
	flow->out = NULL;
	flow->out_end = NULL;
	clear(flow, hints, ITRACE_NO_SYNC_INIT);
}

/* Bytes that are fed and not used up are no part of what was decoded, but the ledger has them. */
static void drop_input(struct itrace_mtb_flow *flow)
{
	const uint64_t rest = flow->held_len + (uint64_t)(flow->end - flow->pos);

	if (flow->ledger)
		flow->ledger->unsynced_len += rest;
	flow->held_len = 0;
	flow->pos = flow->end;
}

void itrace_mtb_flow_reset(struct itrace_mtb_flow *flow, const struct itrace_mtb_hints *hints, enum itrace_no_sync why)
{
	drop_input(flow);
	clear(flow, hints, why);
}

void itrace_mtb_flow_feed(struct itrace_mtb_flow *flow, uint64_t off, const uint8_t *bytes, size_t len)
{
	flow->pos = bytes;
	flow->end = bytes ? bytes + len : bytes;
	flow->off = off;
	if (flow->ledger)
		flow->ledger->trace_len += len;
}

void itrace_mtb_flow_finish(struct itrace_mtb_flow *flow)
{
	flow->finished = true;
}

/* --- packets in --- */

static bool take_packet(struct itrace_mtb_flow *flow)
{
	const size_t avail = (size_t)(flow->end - flow->pos);

	if (!flow->held_len && avail >= ITRACE_MTB_PACKET_LEN) {
		itrace_mtb_packet_read(flow->pos, avail, &flow->packet);
		flow->packet.off = flow->off;
		flow->pos += ITRACE_MTB_PACKET_LEN;
		flow->off += ITRACE_MTB_PACKET_LEN;
	} else {
		if (!flow->held_len)
			flow->held_off = flow->off;
		while (flow->held_len < ITRACE_MTB_PACKET_LEN && flow->pos < flow->end) {
			flow->held[flow->held_len++] = *flow->pos++;
			flow->off++;
		}
		if (itrace_mtb_packet_read(flow->held, flow->held_len, &flow->packet) < 0)
			return false;
		flow->packet.off = flow->held_off;
		flow->held_len = 0;
	}
	if (flow->ledger) {
		flow->ledger->decoded_len += ITRACE_MTB_PACKET_LEN;
		flow->ledger->packet_count[ITRACE_LEDGER_MTB + flow->packet.kind]++;
		flow->ledger->packet_len[ITRACE_LEDGER_MTB + flow->packet.kind] += ITRACE_MTB_PACKET_LEN;
	}
	return true;
}

/* --- what a packet does once the way to it has been walked --- */

/* Execution went by a branch to the packet's destination. */
static void arrive_by_branch(struct itrace_mtb_flow *flow)
{
	const uint32_t to = flow->packet.destination;
	struct itrace_event event = { .off = flow->packet.off };

	flow->walking = false;
	switch (itrace_mtb_place(to)) {
	case ITRACE_MTB_EXC_RETURN:
		event.number = to | 1;
		event.tag = itrace_event_tag(ITRACE_EVENT_EXCEPTION_RETURN, 0, 0);
		emit(flow, &event);
		go_to(flow, to);
		flow->place = ON_WAY_BACK;
		break;
	case ITRACE_MTB_FNC_RETURN:
		go_to(flow, to);
		flow->place = ON_WAY_BACK;
		break;
	case ITRACE_MTB_LOCKED_UP:
		event.number = LOCKUP_NUMBER;
		event.tag = itrace_event_tag(ITRACE_EVENT_EXCEPTION, 0, 0);
		emit(flow, &event);
		go_to(flow, to);
		flow->place = LOCKED_UP;
		break;
	default:
		go_to(flow, to);
		flow->branched = true;
		break;
	}
}

/*
 * An exception was taken.
 * @param has_addr whether the packet's source is its return address
 */
static void take_exception(struct itrace_mtb_flow *flow, bool has_addr)
{
	const uint32_t from = flow->packet.source, to = flow->packet.destination;
	const struct itrace_mtb_interrupted interrupted = { .addr = from, .ran = flow->ran };
	const bool at_target = flow->place == AT && flow->branched && from == flow->addr;
	/* its frame is there already: late arrival, or instead of what was being returned to */
	const bool again = (flow->excepted && from == flow->return_addr) ||
		(flow->place == ON_WAY_BACK && find_frame(flow, from) < ITRACE_MTB_FRAME_NUM);
	unsigned int flags = 0;
	uint32_t number = LOCKUP_NUMBER;

	flow->walking = false;
	/* where a branch went to and nothing ran, because nothing is there */
	if (at_target && !is_mapped(flow, from))
		emit_no_memory(flow, from);
	if (flow->packet.kind != ITRACE_MTB_LOCKUP)
		number = find_exception(flow, to, has_addr ? &interrupted : NULL, &flags);
	if (has_addr)
		flags |= ITRACE_EVENT_HAS_ADDR;
	if (at_target)
		flags |= ITRACE_EVENT_MATCHES_TARGET;
	struct itrace_event event = {
		.off = flow->packet.off,
		.addr = has_addr ? from : 0,
		.number = number,
		.tag = itrace_event_tag(ITRACE_EVENT_EXCEPTION, flags, 0),
	};
	emit(flow, &event);
	if (has_addr && !again)
		push_frame(flow, from);
	go_to(flow, to);
	if (flow->packet.kind == ITRACE_MTB_LOCKUP) {
		flow->place = LOCKED_UP;
		return;
	}
	flow->excepted = has_addr;
	flow->return_addr = from;
}

/* The second half of a return. */
static void take_resume(struct itrace_mtb_flow *flow)
{
	const uint32_t to = flow->packet.destination;
	const bool from_exception = itrace_mtb_place(flow->packet.source) == ITRACE_MTB_EXC_RETURN;
	const uint32_t frame = find_frame(flow, to);
	const bool newest = frame + 1 == flow->frame_count;
	unsigned int flags;

	flow->walking = false;
	if (flow->packet.kind == ITRACE_MTB_LOCKUP) {
		take_exception(flow, false);
		return;
	}
	/* a handler, and it was not interrupted there: the next exception was taken at once */
	if (from_exception && !newest && find_exception(flow, to, NULL, &flags)) {
		take_exception(flow, false);
		return;
	}
	go_to(flow, to);
	flow->branched = !from_exception;
	flow->loose = from_exception ? LOOSE_MAX : 0;
	if (from_exception && frame < ITRACE_MTB_FRAME_NUM) {
		flow->it_left = flow->frames[frame].it_left;
		flow->loose = flow->frames[frame].loose;
		flow->frame_count = frame;
	}
}

/* The way to the packet's source cannot be known: go on where the packet went. */
static void arrive_anyhow(struct itrace_mtb_flow *flow)
{
	lose_place(flow);
	flow->walking = flow->packet.kind != HALT;
	if (!flow->walking)
		return;
	if (flow->packet.atomic || flow->packet.kind == ITRACE_MTB_LOCKUP)
		take_exception(flow, true);
	else
		arrive_by_branch(flow);
}

/* --- the walk --- */

/* Address of the last instruction. */
static uint32_t block_last(const struct itrace_block *block)
{
	struct itrace_event event;

	event.tag = block->tag;
	return (uint32_t)(block->start + block->len - event.last_size);
}

/* The instruction at @a addr alone. */
static void one_instruction(struct itrace_mtb_flow *flow, uint32_t addr, uint8_t it_left, struct itrace_block *block)
{
	const struct itrace_walk walk = {
		.addr = addr, .count_max = 1, .isa = ITRACE_ISA_T32, .it_left = it_left, .space = SPACE,
	};

	itrace_block_walk(flow->cache.image, &flow->rules, &walk, block);
	if ((block->end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_FULL)
		block->end &= (uint8_t)~ITRACE_BLOCK_CUT_MASK;
}

/*
 * @a block, whose last instruction is at the packet's source, was executed, and that instruction did what the packet
 * says.
 */
static void finish_branch(struct itrace_mtb_flow *flow, const struct itrace_block *block)
{
	const uint32_t to = flow->packet.destination, behind = (uint32_t)(block->start + block->len);
	const enum itrace_insn_class class = itrace_event_branch(block->tag);
	const bool cond = itrace_event_flags(block->tag) & ITRACE_INSN_COND || block->count <= flow->loose;

	if ((class == ITRACE_INSN_INDIRECT && !(cond && to == behind)) ||
			(class == ITRACE_INSN_DIRECT && to == block->target)) {
		emit_range(flow, block, block->tag);
		arrive_by_branch(flow);
		return;
	}
	/* a packet may come for any instruction, also for one that only went on to the next */
	if (to == behind && (class != ITRACE_INSN_DIRECT || cond)) {
		emit_range(flow, block, class == ITRACE_INSN_DIRECT || class == ITRACE_INSN_INDIRECT ?
			block->tag & ~executed_mask() : block->tag);
		flow->place = AT;
		moved_to(flow, behind, block);
		flow->walking = false;
		return;
	}
	emit_range(flow, block, block->tag);
	if (class == ITRACE_INSN_DIRECT)
		emit_gap(flow, ITRACE_GAP_TARGET_DIFFERS, flow->packet.source, to, (uint32_t)block->target);
	else
		emit_gap(flow, ITRACE_GAP_NOT_A_BRANCH, flow->packet.source, to, behind);
	arrive_by_branch(flow);
}

/* Only the packet's source is known. */
static void begin_at_source(struct itrace_mtb_flow *flow)
{
	struct itrace_block block;

	one_instruction(flow, flow->packet.source, 0, &block);
	if (block.count) {
		flow->loose = LOOSE_MAX;
		finish_branch(flow, &block);
		return;
	}
	emit_no_memory(flow, flow->packet.source);
	arrive_by_branch(flow);
}

/* Why the way ends in front of the packet's source. The place is lost. */
static void stop_walk(struct itrace_mtb_flow *flow, const struct itrace_block *block)
{
	const uint32_t behind = (uint32_t)(block->start + block->len);

	if ((block->end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_NO_MEMORY)
		emit_no_memory(flow, behind);
	else if ((block->end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_UNDESCRIBED)
		emit_gap(flow, ITRACE_GAP_NOT_DESCRIBED, behind, SPACE, 0);
	else
		emit_gap(flow, ITRACE_GAP_NO_WAY, flow->addr, flow->packet.source, block_last(block));
	arrive_anyhow(flow);
}

/*
 * The instructions from addr to @a limit, none of which is a waypoint, without a look at what they are.
 * @returns false when that is not to be had so cheaply
 */
static bool skip_to(struct itrace_mtb_flow *flow, uint32_t limit, struct itrace_block *block)
{
	const uint32_t len = limit - flow->addr;
	uint8_t it_left = flow->it_left, source;
	unsigned int size = 0, flags = 0;
	uint32_t count = 0, pos = 0;
	size_t avail;

	const uint8_t *bytes = itrace_image_at(flow->cache.image, flow->addr, SPACE, &avail, &source);
	if (!bytes || avail < len)
		return false;
	for (; pos < len; pos += size) {
		const uint16_t first = (uint16_t)(bytes[pos] | bytes[pos + 1] << 8);
		struct itrace_insn insn = { .it_count = 0 };
		size = itrace_insn_t32_size(first);
		flags = it_left ? ITRACE_INSN_COND : 0;
		/* hints, and IT */
		if ((first & 0xff00) == 0xbf00)
			itrace_insn_t32(&flow->rules, first, 0, 0, &insn);
		it_left = it_left ? (uint8_t)(it_left - 1) : insn.it_count;
		count++;
	}
	*block = (struct itrace_block){
		.start = flow->addr, .target = limit, .len = len, .count = (uint16_t)count, .source = source, .end = it_left,
		.tag = itrace_event_range_tag(ITRACE_ISA_T32, ITRACE_INSN_OTHER, flags | ITRACE_EVENT_EXECUTED, size),
	};
	return pos == len;
}

/* The source lies inside a block: walk to it, instruction by instruction. */
static void walk_inside(struct itrace_mtb_flow *flow)
{
	const uint32_t source = flow->packet.source;
	const struct itrace_walk walk = {
		.addr = flow->addr, .limit = source, .count_max = ITRACE_BLOCK_COUNT_MAX, .isa = ITRACE_ISA_T32,
		.it_left = flow->it_left, .space = SPACE, .use_limit = true,
	};
	struct itrace_block block, last;

	if (flow->one_by_one || !skip_to(flow, source, &block))
		itrace_block_walk(flow->cache.image, &flow->rules, &walk, &block);
	const uint32_t reached = (uint32_t)(block.start + block.len);
	if (reached != source) {
		/* inside of an instruction */
		if (block.count)
			emit_range(flow, &block, block.tag);
		emit_gap(flow, ITRACE_GAP_NO_WAY, flow->addr, source, reached);
		arrive_anyhow(flow);
		return;
	}
	if (block.count) {
		emit_range(flow, &block, block.tag);
		moved_to(flow, reached, &block);
	}
	if (flow->packet.atomic)
		return;		/* there */
	one_instruction(flow, source, flow->it_left, &last);
	if (last.count)
		finish_branch(flow, &last);
	else
		stop_walk(flow, &last);
}

/* Execution cannot have gone on behind @a block. */
static inline bool leaves(const struct itrace_mtb_flow *flow, const struct itrace_block *block)
{
	const enum itrace_insn_class class = itrace_event_branch(block->tag);

	if (class != ITRACE_INSN_DIRECT && class != ITRACE_INSN_INDIRECT)
		return false;
	if (itrace_event_flags(block->tag) & ITRACE_INSN_COND || block->count <= flow->loose)
		return false;
	return class == ITRACE_INSN_INDIRECT || block->target != block->start + block->len;
}

/*
 * ISB and what only falls through was executed, and a branch to the next instruction need leave no packet; any other
 * that left none was not taken.
 */
static inline uint32_t passed_tag(const struct itrace_block *block)
{
	const enum itrace_insn_class class = itrace_event_branch(block->tag);

	if (class == ITRACE_INSN_DIRECT)
		return block->target == block->start + block->len && !(itrace_event_flags(block->tag) & ITRACE_INSN_COND) ?
			block->tag : block->tag & ~executed_mask();
	return class == ITRACE_INSN_INDIRECT ? block->tag & ~executed_mask() : block->tag;
}

/* The end of the way for a packet whose source was not executed. */
static void arrive_at_source(struct itrace_mtb_flow *flow)
{
	if (flow->packet.kind == HALT)
		flow->walking = false;
	else
		take_exception(flow, true);
}

/* Walk towards the packet's source as far as there is room for events. */
static void walk(struct itrace_mtb_flow *flow)
{
	const uint32_t source = flow->packet.source;
	const bool inclusive = !flow->packet.atomic;

	while (flow->out < flow->out_end) {
		if (!inclusive && flow->addr == source) {
			arrive_at_source(flow);
			return;
		}
		if (flow->addr > source || source - flow->addr > ITRACE_MTB_RANGE_MAX) {
			emit_gap(flow, ITRACE_GAP_NO_WAY, flow->addr, source, 0);
			arrive_anyhow(flow);
			return;
		}
		const uint32_t key = itrace_block_key(&flow->cache, ITRACE_ISA_T32, flow->it_left, SPACE);
		const struct itrace_block *block = itrace_block_cache_find_t32(&flow->cache, flow->addr, key, SPACE);
		const uint32_t behind = (uint32_t)(block->start + block->len);
		const bool cut = block->end & ITRACE_BLOCK_CUT_MASK;
		if (inclusive && !cut && block_last(block) == source) {
			finish_branch(flow, block);
			return;
		}
		if (behind > source || (behind == source && !inclusive && cut)) {
			walk_inside(flow);
			if (!flow->walking)
				return;
			continue;
		}
		if (cut || leaves(flow, block)) {
			/* a branch that always leaves shows that this is not the code that ran */
			if (cut && block->count)
				emit_range(flow, block, block->tag);
			if ((block->end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_FULL) {
				moved_to(flow, behind, block);
				continue;
			}
			stop_walk(flow, block);
			return;
		}
		emit_range(flow, block, passed_tag(block));
		moved_to(flow, behind, block);
	}
}

/* --- packets --- */

/* Whether the packet begins a trace that is not joined to what ran before. */
static bool is_new_start(const struct itrace_mtb_flow *flow)
{
	const bool armed = flow->first && flow->hints.has_pc_arm && !flow->hints.wrapped;

	return flow->packet.start && !armed;
}

static void take_start(struct itrace_mtb_flow *flow)
{
	emit_simple(flow, ITRACE_EVENT_TRACE_ON, ITRACE_TRACE_ON_NORMAL);
	flow->frame_count = 0;
	if (is_new_start(flow))
		lose_place(flow);
}

/* A packet that comes from a return value. */
static void begin_resume(struct itrace_mtb_flow *flow)
{
	if (flow->place == AT)
		/* some way led from here to a return, but its first half is missing */
		emit_gap(flow, ITRACE_GAP_NO_WAY, flow->addr, flow->packet.source, 0);
	if (flow->place != ON_WAY_BACK && itrace_mtb_place(flow->packet.source) == ITRACE_MTB_EXC_RETURN) {
		struct itrace_event event = {
			.off = flow->packet.off,
			.number = flow->packet.source | 1,
			.tag = itrace_event_tag(ITRACE_EVENT_EXCEPTION_RETURN, 0, 0),
		};
		emit(flow, &event);
	}
	take_resume(flow);
}

/*
 * A core in lock-up stands where the instruction failed, which then did not run; that a branch went to such an address
 * by itself shows in the instruction.
 */
static void begin_lockup(struct itrace_mtb_flow *flow)
{
	struct itrace_block block;

	if (flow->place == LOCKED_UP)
		return;		/* still */
	if (itrace_mtb_is_return(flow->packet.source)) {
		begin_resume(flow);
		return;
	}
	one_instruction(flow, flow->packet.source, 0, &block);
	if (flow->packet.atomic || !block.count || itrace_event_branch(block.tag) != ITRACE_INSN_INDIRECT)
		flow->packet.atomic = true;
	flow->walking = flow->place == AT;
	if (!flow->walking && flow->packet.atomic)
		take_exception(flow, true);
	else if (!flow->walking)
		begin_at_source(flow);
}

static void begin_exception(struct itrace_mtb_flow *flow)
{
	/*
	 * Late arrival: the return address is still that of the exception before. On the way back, and in lock-up, no way
	 * led to the source.
	 */
	if (flow->place != AT || (flow->excepted && flow->packet.source == flow->return_addr))
		take_exception(flow, true);
	else
		flow->walking = true;
}

static void begin_branch(struct itrace_mtb_flow *flow)
{
	if (flow->place == AT) {
		flow->walking = true;
		return;
	}
	if (flow->place != NOWHERE)
		/* the second half of a return is missing */
		emit_gap(flow, ITRACE_GAP_NO_ADDRESS, flow->addr, SPACE, 0);
	begin_at_source(flow);
}

static void start_packet(struct itrace_mtb_flow *flow)
{
	if (flow->packet.start)
		take_start(flow);
	flow->first = false;
	switch (flow->packet.kind) {
	case ITRACE_MTB_RESUME:
		begin_resume(flow);
		break;
	case ITRACE_MTB_LOCKUP:
		begin_lockup(flow);
		break;
	case ITRACE_MTB_EXCEPTION:
		begin_exception(flow);
		break;
	default:
		begin_branch(flow);
		break;
	}
}

/* --- the end --- */

static bool knows_halt(const struct itrace_mtb_flow *flow)
{
	return flow->hints.has_pc_halt && itrace_mtb_place(flow->hints.pc_halt & ~UINT32_C(1)) == ITRACE_MTB_CODE;
}

/* What ran behind the last packet, as far as it is known. */
static void start_tail(struct itrace_mtb_flow *flow)
{
	if (flow->place != AT)
		return;
	if (flow->branched && !is_mapped(flow, flow->addr))
		/* where execution went, and what happened there is not in the trace any more */
		emit_no_memory(flow, flow->addr);
	else
		flow->walking = knows_halt(flow);
}

/* --- seams --- */

static bool is_seam_due(const struct itrace_mtb_flow *flow)
{
	return flow->seam_next < flow->hints.seam_count && (flow->begun_tail || flow->packet.off >= flow->seam_off);
}

/*
 * Whether the way that is known leads towards @a pc. It ends at the packet's source: the core cannot have stood behind
 * that, but for a packet with which trace begins anew.
 */
static bool leads_towards(const struct itrace_mtb_flow *flow, uint32_t pc)
{
	if (flow->place != AT || pc <= flow->addr || pc - flow->addr > ITRACE_MTB_RANGE_MAX)
		return false;
	return is_new_start(flow) || (!itrace_mtb_is_return(flow->packet.source) && pc <= flow->packet.source);
}

/*
 * One stretch of the straight way to @a pc.
 * @returns false when there is none: the core stands there, or that is not on the way
 */
static bool approach(struct itrace_mtb_flow *flow, uint32_t pc)
{
	if (!leads_towards(flow, pc))
		return false;
	const uint32_t key = itrace_block_key(&flow->cache, ITRACE_ISA_T32, flow->it_left, SPACE);
	const struct itrace_block *block = itrace_block_cache_find_t32(&flow->cache, flow->addr, key, SPACE);
	const unsigned int cut = block->end & ITRACE_BLOCK_CUT_MASK;

	if (block->start + block->len > pc) {
		const struct itrace_walk walk = {
			.addr = flow->addr, .limit = pc, .count_max = ITRACE_BLOCK_COUNT_MAX, .isa = ITRACE_ISA_T32,
			.it_left = flow->it_left, .space = SPACE, .use_limit = true,
		};
		struct itrace_block head;
		itrace_block_walk(flow->cache.image, &flow->rules, &walk, &head);
		if (head.start + head.len != pc)
			return false;	/* inside of an instruction */
		emit_range(flow, &head, head.tag);
		moved_to(flow, pc, &head);
		return true;
	}
	if (!block->count || (cut && cut != ITRACE_BLOCK_FULL) || (!cut && leaves(flow, block)))
		return false;
	emit_range(flow, block, cut ? block->tag : passed_tag(block));
	moved_to(flow, (uint32_t)(block->start + block->len), block);
	return true;
}

/* One step to the next seam in front of the packet, over it, or to the packet. */
static void step_seam(struct itrace_mtb_flow *flow)
{
	if (!is_seam_due(flow)) {
		flow->waiting = false;
		if (flow->begun_tail)
			start_tail(flow);
		else
			start_packet(flow);
		return;
	}
	const struct itrace_seam *seam = &flow->hints.seams[flow->seam_next];
	const uint32_t pc = seam->pc & ~UINT32_C(1);
	if (seam->has_pc && approach(flow, pc))
		return;
	struct itrace_event event = {
		.off = seam->off,
		.addr = seam->has_pc ? pc : 0,
		.tag = itrace_event_tag(ITRACE_EVENT_SEAM, seam->has_pc ? ITRACE_EVENT_HAS_ADDR : 0, 0),
	};
	emit(flow, &event);
	set_next_seam(flow, flow->seam_next + 1);
	/* where the way was lost it is known again */
	if (seam->has_pc && flow->place == NOWHERE && itrace_mtb_place(pc) == ITRACE_MTB_CODE) {
		go_to(flow, pc);
		flow->loose = LOOSE_MAX;
	}
}

static void begin_packet(struct itrace_mtb_flow *flow)
{
	flow->waiting = is_seam_due(flow);
	if (!flow->waiting)
		start_packet(flow);
}

static void begin_tail(struct itrace_mtb_flow *flow)
{
	flow->begun_tail = true;
	flow->packet.kind = HALT;
	flow->packet.atomic = true;
	flow->packet.start = false;
	/* as far as a seam says, when nothing says where the core is now */
	flow->packet.source = knows_halt(flow) ? flow->hints.pc_halt & ~UINT32_C(1) : UINT32_MAX;
	flow->waiting = is_seam_due(flow);
	if (!flow->waiting)
		start_tail(flow);
}

static void end(struct itrace_mtb_flow *flow)
{
	flow->ended = true;
	if (flow->ledger)
		flow->ledger->partial_len += flow->held_len;
	drop_input(flow);
	emit_simple(flow, ITRACE_EVENT_END, ITRACE_END_OF_TRACE);
}

/* --- the fast path --- */

/* Beside what step() has looked at: the place is known without conditions, and the packet is a plain branch. */
static inline bool may_run(const struct itrace_mtb_flow *flow)
{
	return flow->place == AT && !(flow->held_len | flow->it_left | flow->loose) && !flow->one_by_one &&
		flow->end - flow->pos >= (ptrdiff_t)ITRACE_MTB_PACKET_LEN && flow->off < flow->seam_off &&
		itrace_mtb_is_plain_branch(itrace_mtb_word(flow->pos), itrace_mtb_word(flow->pos + 4));
}

static void settle(struct itrace_mtb_flow *flow, uint8_t source, uint64_t count, uint64_t ranges)
{
	if (!flow->ledger || !ranges)
		return;
	flow->ledger->event_count[ITRACE_EVENT_RANGE] += ranges;
	flow->ledger->instruction_count += count;
	flow->ledger->source_count[source < ITRACE_LEDGER_SOURCES ? source : ITRACE_LEDGER_SOURCES] += count;
}

/* The run went to @a pos and @a out; the last packet's branch was reached or not. */
static void finish_run(struct itrace_mtb_flow *flow, const uint8_t *pos, struct itrace_event *out, uint32_t addr,
		bool arrived)
{
	const uint64_t used = (uint64_t)(pos - flow->pos);

	if (flow->ledger) {
		flow->ledger->decoded_len += used;
		flow->ledger->packet_count[ITRACE_LEDGER_MTB + ITRACE_MTB_BRANCH] += used / ITRACE_MTB_PACKET_LEN;
		flow->ledger->packet_len[ITRACE_LEDGER_MTB + ITRACE_MTB_BRANCH] += used;
	}
	flow->off += used;
	flow->packet = (struct itrace_mtb_packet){
		.off = flow->off - ITRACE_MTB_PACKET_LEN, .source = itrace_mtb_word(pos - ITRACE_MTB_PACKET_LEN),
		.destination = itrace_mtb_word(pos - ITRACE_MTB_PACKET_LEN + 4), .kind = ITRACE_MTB_BRANCH,
	};
	flow->walking = !arrived;
	flow->pos = pos;
	flow->first = false;
	if (out == flow->out)
		return;
	/* the last range ended with the branch, or with one that was passed on the way to it */
	flow->branched = out[-1].flags & ITRACE_EVENT_EXECUTED;
	flow->ran = !flow->branched;
	flow->addr = addr;
	flow->excepted = false;
	flow->out = out;
}

/* The end of the packets, from pos on, that no seam stands in front of. */
static const uint8_t *end_of_run(const struct itrace_mtb_flow *flow)
{
	const uint64_t whole = (uint64_t)(flow->end - flow->pos) / ITRACE_MTB_PACKET_LEN;
	const uint64_t seamless = (flow->seam_off - flow->off - 1) / ITRACE_MTB_PACKET_LEN + 1;

	return flow->pos + ITRACE_MTB_PACKET_LEN * (whole < seamless ? whole : seamless);
}

/*
 * Whether a branch at the end of @a block, taken to @a to when it is at @a source, is plain: nothing but what the block
 * says is to be known. Of one that is not taken only that it is conditional.
 */
static inline bool is_plain(const struct itrace_block *block, uint32_t last, uint32_t source, uint32_t to)
{
	const enum itrace_insn_class class = itrace_event_branch(block->tag);

	if (block->end & (ITRACE_BLOCK_CUT_MASK | ITRACE_BLOCK_IT_MASK))
		return false;
	if (last != source)
		return last < source && class == ITRACE_INSN_DIRECT && itrace_event_flags(block->tag) & ITRACE_INSN_COND;
	/* a conditional return that only went on: the walk knows */
	return (class == ITRACE_INSN_INDIRECT || (class == ITRACE_INSN_DIRECT && to == block->target)) &&
		to != (uint32_t)(block->start + block->len);
}

/*
 * Plain branches between known places, as many as there are and there is room for; there is one. Whatever is not plain
 * is left to the walk, in the middle of a packet, too. The events are the same as without this; a property test holds
 * the two together.
 */
static void run_branches(struct itrace_mtb_flow *flow)
{
	/* what stays the same, where storing events cannot change it */
	const uint32_t key = itrace_block_key(&flow->cache, ITRACE_ISA_T32, 0, SPACE);
	const struct itrace_block *const blocks = flow->cache.blocks;
	const uint64_t mask = flow->cache.mask;
	const struct itrace_event *const out_end = flow->out_end;
	const uint8_t *const begin = flow->pos, *const end = end_of_run(flow);
	/* what makes a pointer behind a packet that packet's offset */
	const uint64_t bias = flow->off - ITRACE_MTB_PACKET_LEN - (uint64_t)(uintptr_t)begin;
	const uint8_t *pos = begin;
	struct itrace_event *out = flow->out, *settled = out;
	uint64_t count = 0;
	uint32_t addr = flow->addr, source, to;
	uint8_t code_source = 0;
	bool arrived = true;

	do {
		source = itrace_mtb_word(pos);
		to = itrace_mtb_word(pos + 4);
		if (!itrace_mtb_is_plain_branch(source, to))
			break;
		pos += ITRACE_MTB_PACKET_LEN;
		do {
			arrived = false;
			const struct itrace_block *block = &blocks[itrace_block_place_t32(addr) & mask];
			if (block->start != addr || block->key != key)
				block = itrace_block_cache_miss(&flow->cache, addr, key, SPACE);
			const uint32_t last = block_last(block);
			if (source - addr > ITRACE_MTB_RANGE_MAX || !is_plain(block, last, source, to))
				goto done;
			if (block->source != code_source) {
				settle(flow, code_source, count, (uint64_t)(out - settled));
				count = 0;
				settled = out;
				code_source = block->source;
			}
			arrived = last == source;
			out->off = bias + (uint64_t)(uintptr_t)pos;
			out->addr = addr;
			addr += block->len;
			out->end = addr;
			out->count = block->count;
			out->tag = block->tag;
			if (!arrived)
				out->tag = block->tag & ~executed_mask();
			count += block->count;
			out++;
		} while (!arrived && out < out_end);
		if (!arrived)
			break;
		addr = to;
	} while (pos < end && out < out_end);
done:
	settle(flow, code_source, count, (uint64_t)(out - settled));
	finish_run(flow, pos, out, addr, arrived);
}

/* @returns false when there is nothing to do without more input. */
static bool step(struct itrace_mtb_flow *flow)
{
	if (!flow->begun) {
		flow->begun = true;
		emit_simple(flow, ITRACE_EVENT_NO_SYNC, flow->begin_cause);
	} else if (flow->walking) {
		walk(flow);
	} else if (flow->waiting) {
		step_seam(flow);
	} else if (may_run(flow)) {
		run_branches(flow);
	} else if (flow->ended) {
		return false;
	} else if (!flow->begun_tail && take_packet(flow)) {
		begin_packet(flow);
	} else if (!flow->finished) {
		return false;
	} else if (!flow->begun_tail) {
		begin_tail(flow);
	} else {
		end(flow);
	}
	return true;
}

unsigned int itrace_mtb_flow_next(struct itrace_mtb_flow *flow, struct itrace_event *events, unsigned int n)
{
	flow->out = events;
	flow->out_end = events + n;
	itrace_block_cache_refresh(&flow->cache);
	while (flow->pending_next < flow->pending_count && flow->out < flow->out_end)
		*flow->out++ = flow->pending[flow->pending_next++];
	if (flow->pending_next == flow->pending_count) {
		flow->pending_next = 0;
		flow->pending_count = 0;
	}
	while (flow->out < flow->out_end && step(flow))
		;
	return (unsigned int)(flow->out - events);
}
