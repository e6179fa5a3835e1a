// SPDX-License-Identifier: GPL-2.0-or-later

#include "ete_flow.h"

#include <string.h>

#include "ete_packet_fast.h"

/* M profile: a preferred return address that says "tail-chained" or "deferred", and is none */
#define PRA_TAIL_CHAIN		0xfffffffeu
#define EXCEPTION_LAZY_FP	0x19u

/* A walk to a preferred return address passes no waypoint, so it is not longer than the longest straight-line code. */
#define STRAIGHT_BLOCKS_MAX	16u

/* --- events out --- */

static void emit(struct itrace_ete_flow *flow, const struct itrace_event *event)
{
	if (flow->ledger)
		itrace_ledger_count(flow->ledger, event, 1);
	if (flow->out < flow->out_end)
		*flow->out++ = *event;
	else
		flow->pending[flow->pending_count++] = *event;
}

static void emit_simple(struct itrace_ete_flow *flow, enum itrace_event_kind kind, uint64_t off, unsigned int cause)
{
	struct itrace_event event = { .off = off, .tag = itrace_event_tag(kind, 0, cause) };

	emit(flow, &event);
}

static void emit_gap(struct itrace_ete_flow *flow, enum itrace_gap cause, uint64_t off, uint64_t addr, uint32_t detail)
{
	struct itrace_event event = {
		.off = off,
		.addr = addr,
		.end = flow->space,
		.count = detail,
		.tag = itrace_event_tag(ITRACE_EVENT_GAP, ITRACE_EVENT_HAS_ADDR, cause),
	};

	emit(flow, &event);
}

static void count_source(struct itrace_ete_flow *flow, uint8_t source, uint32_t count)
{
	if (flow->ledger)
		flow->ledger->source_count[source < ITRACE_LEDGER_SOURCES ? source : ITRACE_LEDGER_SOURCES] += count;
}

/* A range that ran through the whole block. @a tag: with or without ITRACE_EVENT_EXECUTED. */
static void emit_block(struct itrace_ete_flow *flow, uint64_t off, const struct itrace_block *block, uint32_t tag)
{
	struct itrace_event event = {
		.off = off,
		.addr = block->start,
		.end = block->start + block->len,
		.count = block->count,
		.tag = tag,
	};

	count_source(flow, block->source, block->count);
	emit(flow, &event);
}

static uint32_t executed_mask(void)
{
	return itrace_event_tag(0, ITRACE_EVENT_EXECUTED, 0);
}

/* --- state --- */

/* The memory space of code in a context. Exception levels above those of Realm and Root follow OpenCSD. */
static uint8_t context_space(uint8_t context)
{
	const unsigned int el = context & ITRACE_CONTEXT_EL_MASK;

	switch (context & ITRACE_CONTEXT_SECURITY) {
	case ITRACE_SECURITY_ROOT:
		return ITRACE_SPACE_ROOT;
	case ITRACE_SECURITY_REALM:
		return el <= 1 ? ITRACE_SPACE_EL1R : el == 2 ? ITRACE_SPACE_EL2R : ITRACE_SPACE_ROOT;
	case ITRACE_SECURITY_NON_SECURE:
		return el <= 1 ? ITRACE_SPACE_EL1N : el == 2 ? ITRACE_SPACE_EL2N : ITRACE_SPACE_EL3;
	default:
		return el <= 1 ? ITRACE_SPACE_EL1S : el == 2 ? ITRACE_SPACE_EL2S : ITRACE_SPACE_EL3;
	}
}

static uint8_t isa_of(const struct itrace_ete_flow *flow, uint8_t is)
{
	if (flow->context & ITRACE_CONTEXT_SF)
		return ITRACE_ISA_A64;
	return is ? ITRACE_ISA_T32 : ITRACE_ISA_A32;
}

/* Nothing is known of where the program is. */
static void lose_place(struct itrace_ete_flow *flow)
{
	flow->need_addr = true;
	flow->pop_pending = false;
	flow->branched_away = false;
	flow->excepted = false;
	flow->it_left = 0;
}

static void go_to(struct itrace_ete_flow *flow, uint64_t addr, uint8_t isa)
{
	flow->addr = addr;
	flow->isa = isa;
	flow->it_left = 0;
	flow->need_addr = false;
	flow->pop_pending = false;
	flow->branched_away = false;
	flow->excepted = false;
}

static void start_over(struct itrace_ete_flow *flow)
{
	lose_place(flow);
	flow->addr = 0;
	flow->isa = ITRACE_ISA_A64;
	flow->need_context = true;
	flow->push_blocked = false;
	flow->left_by_eret = false;
	flow->atom_count = 0;
	itrace_return_stack_flush(&flow->stack);
}

static void clear(struct itrace_ete_flow *flow)
{
	start_over(flow);
	flow->context = 0;
	flow->space = ITRACE_SPACE_S;
	flow->vmid = 0;
	flow->cid = 0;
	flow->overflowed = false;
	flow->splitting = false;
	flow->pending_count = 0;
	flow->pending_next = 0;
}

void itrace_ete_flow_init(struct itrace_ete_flow *flow, const struct itrace_ete_config *config,
		struct itrace_image *image, struct itrace_block *blocks, size_t block_count, struct itrace_ledger *ledger)
{
	itrace_ete_elements_init(&flow->elements, config, ledger);
	itrace_block_cache_init(&flow->cache, blocks, block_count, image, &config->rules,
		config->return_stack);
	flow->ledger = ledger;
	flow->split_at_n = false;
	flow->layered = false;
	flow->out = NULL;
	flow->out_end = NULL;
	clear(flow);
}

void itrace_ete_flow_reset(struct itrace_ete_flow *flow, enum itrace_no_sync why)
{
	itrace_ete_elements_reset(&flow->elements, why);
	clear(flow);
}

void itrace_ete_flow_feed(struct itrace_ete_flow *flow, uint64_t off, const uint8_t *bytes, size_t len)
{
	itrace_ete_elements_feed(&flow->elements, off, bytes, len);
}

void itrace_ete_flow_finish(struct itrace_ete_flow *flow)
{
	itrace_ete_elements_finish(&flow->elements);
}

static bool uses_stack(const struct itrace_ete_flow *flow)
{
	return flow->elements.stream.config->return_stack;
}

/* --- the walk through the program --- */

static const struct itrace_block *find_block(struct itrace_ete_flow *flow)
{
	uint32_t key = itrace_block_key(&flow->cache, flow->isa, flow->it_left, flow->space);

	return itrace_block_cache_find(&flow->cache, flow->addr, key, flow->space);
}

/* The place a return without an address goes to. @returns false when that is not known. */
static bool pop(struct itrace_ete_flow *flow)
{
	uint64_t addr;
	uint8_t isa;

	flow->pop_pending = false;
	if (!itrace_return_stack_pop(&flow->stack, &addr, &isa))
		return false;
	go_to(flow, addr, isa);
	return true;
}

static void push_return(struct itrace_ete_flow *flow, uint64_t addr)
{
	if (uses_stack(flow) && !flow->push_blocked)
		itrace_return_stack_push(&flow->stack, addr, flow->isa);
}

/*
 * The waypoint that ends @a block was executed.
 * Whatever it is, the trace unit's view is the same for an atom and for a source address.
 */
static void take_branch(struct itrace_ete_flow *flow, uint64_t off, const struct itrace_block *block)
{
	const unsigned int flags = itrace_event_flags(block->tag);
	const uint64_t behind = block->start + block->len;

	flow->it_left = 0;
	flow->left_by_eret = false;
	switch (itrace_event_branch(block->tag)) {
	case ITRACE_INSN_DIRECT:
		if (flags & ITRACE_INSN_LINK)
			push_return(flow, behind);
		flow->addr = block->target;
		if (block->end & ITRACE_BLOCK_EXCHANGE)
			flow->isa = flow->isa == ITRACE_ISA_T32 ? ITRACE_ISA_A32 : ITRACE_ISA_T32;
		break;
	case ITRACE_INSN_INDIRECT:
		if (flags & ITRACE_INSN_LINK)
			push_return(flow, behind);
		flow->addr = behind;
		flow->need_addr = true;
		flow->branched_away = true;
		flow->pop_pending = uses_stack(flow);
		flow->left_by_eret = flags & ITRACE_INSN_ERET;
		/* ETE has no packet for it */
		if (flow->left_by_eret && flow->elements.stream.config->protocol == ITRACE_PROTOCOL_ETE)
			emit_simple(flow, ITRACE_EVENT_EXCEPTION_RETURN, off, 0);
		break;
	default:
		flow->addr = behind;
		flow->it_left = block->end & ITRACE_BLOCK_IT_MASK;
		break;
	}
}

/* Why a walk ended where it must not. @returns true when it did: the place is lost then. */
static bool emit_walk_end(struct itrace_ete_flow *flow, uint64_t off, const struct itrace_block *block)
{
	const uint64_t behind = block->start + block->len;

	switch (block->end & ITRACE_BLOCK_CUT_MASK) {
	case ITRACE_BLOCK_NO_MEMORY:
		emit_gap(flow, ITRACE_GAP_NO_MEMORY, off, behind, flow->isa == ITRACE_ISA_T32 ? 2 : 4);
		break;
	case ITRACE_BLOCK_UNDESCRIBED:
		emit_gap(flow, ITRACE_GAP_NOT_DESCRIBED, off, behind, 0);
		break;
	default:
		return false;
	}
	lose_place(flow);
	flow->addr = behind;
	return true;
}

/* The trace says of this block what this code cannot have done: the image is not what ran. */
static bool is_impossible(const struct itrace_ete_flow *flow, const struct itrace_block *block, bool executed)
{
	if ((block->end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_UNDESCRIBED)
		return flow->isa == ITRACE_ISA_A64;
	return !executed && block->end & ITRACE_BLOCK_ALWAYS;
}

/*
 * The oldest atom, whatever state the flow is in.
 * @returns false when the atom is not used up: its straight-line code is longer than a block.
 */
static bool walk_atom(struct itrace_ete_flow *flow, uint64_t off, bool executed)
{
	if (flow->pop_pending && !pop(flow)) {
		emit_gap(flow, ITRACE_GAP_RETURN_STACK, off, flow->addr, 0);
		return true;
	}
	if (flow->excepted && !flow->need_context) {
		/* the handler's address was not sent, and this ran there */
		emit_gap(flow, ITRACE_GAP_NO_ADDRESS, off, flow->addr, 0);
		lose_place(flow);
	}
	if (flow->need_addr || flow->need_context)
		return true;
	const struct itrace_block *block = find_block(flow);
	const bool cut = block->end & ITRACE_BLOCK_CUT_MASK;
	if (is_impossible(flow, block, executed)) {
		emit_gap(flow, ITRACE_GAP_BAD_IMAGE, off, block->start + block->len, 0);
		lose_place(flow);
		return true;
	}
	if (block->count)
		emit_block(flow, off, block, executed || cut ? block->tag : block->tag & ~executed_mask());
	if (emit_walk_end(flow, off, block))
		return true;
	if (executed && !cut) {
		take_branch(flow, off, block);
		return true;
	}
	flow->addr = block->start + block->len;
	flow->it_left = block->end & ITRACE_BLOCK_IT_MASK;
	return !cut;
}

/* A straight way through the program, which may be longer than a block. */
struct straight {
	struct itrace_block block;	/* its last piece */
	uint64_t start;
	uint32_t count;
	uint8_t source;			/* of its first piece */
};

/* Walk as @a how says (its count_max aside), over at most @a count_max instructions. */
static void walk_straight(struct itrace_ete_flow *flow, const struct itrace_walk *how, uint32_t count_max,
		struct straight *straight)
{
	struct itrace_walk walk = *how;

	straight->start = walk.addr;
	straight->count = 0;
	for (unsigned int i = 0; i < STRAIGHT_BLOCKS_MAX; i++) {
		uint32_t left = count_max - straight->count;
		walk.count_max = left < ITRACE_BLOCK_COUNT_MAX ? left : ITRACE_BLOCK_COUNT_MAX;
		itrace_block_walk(flow->cache.image, flow->cache.rules, &walk, &straight->block);
		straight->count += straight->block.count;
		if (!i)
			straight->source = straight->block.source;
		if ((straight->block.end & ITRACE_BLOCK_CUT_MASK) != ITRACE_BLOCK_FULL ||
				straight->block.count < walk.count_max || straight->count == count_max)
			break;
		walk.addr = straight->block.start + straight->block.len;
		walk.it_left = straight->block.end & ITRACE_BLOCK_IT_MASK;
	}
}

static uint64_t straight_end(const struct straight *straight)
{
	return straight->block.start + straight->block.len;
}

static void emit_straight(struct itrace_ete_flow *flow, uint64_t off, const struct straight *straight, uint32_t tag)
{
	struct itrace_event event = {
		.off = off,
		.addr = straight->start,
		.end = straight_end(straight),
		.count = straight->count,
		.tag = tag,
	};

	if (!straight->count)
		return;
	count_source(flow, straight->source, straight->count);
	emit(flow, &event);
}

/* --- elements --- */

/*
 * The instruction set that a context stands for. A context alone does not change it within AArch32: the last
 * address may
 * be older than a branch that did.
 */
static uint8_t context_isa(const struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	const bool alone = element->kind == ITRACE_ELEMENT_CONTEXT && !(element->flags & ITRACE_ELEMENT_WITH_ADDR);

	if (element->info & ITRACE_CONTEXT_SF)
		return ITRACE_ISA_A64;
	if (alone && !flow->need_context && !flow->need_addr && flow->isa != ITRACE_ISA_A64)
		return flow->isa;
	return element->is ? ITRACE_ISA_T32 : ITRACE_ISA_A32;
}

static void do_context(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	const uint8_t isa = context_isa(flow, element);
	uint8_t seen = flow->context & (ITRACE_CONTEXT_HAS_VMID | ITRACE_CONTEXT_HAS_CID);

	if (element->info & ITRACE_CONTEXT_HAS_VMID)
		flow->vmid = element->vmid;
	if (element->info & ITRACE_CONTEXT_HAS_CID)
		flow->cid = element->cid;
	flow->context = element->info | seen;
	flow->isa = isa;
	flow->space = context_space(flow->context);
	flow->need_context = false;

	struct itrace_event event = {
		.off = element->off,
		.addr = flow->cid,
		.end = flow->vmid,
		.number = flow->context,
		.tag = itrace_event_tag(ITRACE_EVENT_CONTEXT, 0, 0),
	};
	event.isa = flow->isa & 0xf;
	emit(flow, &event);
}

/* The instructions from the current address to the preferred return address of an exception. */
static void walk_to_exception(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	const struct itrace_walk walk = {
		.addr = flow->addr,
		.limit = element->addr,
		.isa = flow->isa,
		.it_left = flow->it_left,
		.space = flow->space,
		.use_limit = true,
		.stop = ITRACE_WALK_PASS,
	};
	struct straight straight;

	walk_straight(flow, &walk, UINT32_MAX, &straight);
	flow->addr = straight_end(&straight);
	if ((straight.block.end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_FULL) {
		/* no straight way leads there, so this code is not what ran */
		emit_gap(flow, ITRACE_GAP_BAD_IMAGE, element->off, flow->addr, 0);
		lose_place(flow);
		return;
	}
	emit_straight(flow, element->off, &straight, straight.block.tag);
	emit_walk_end(flow, element->off, &straight.block);
}

/* M profile: the stacking that a lazy FP context put off. It has no handler; execution goes on where it was. */
static bool is_lazy_fp(const struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	return flow->elements.stream.config->profile == ITRACE_PROFILE_M && element->number == EXCEPTION_LAZY_FP &&
		element->flags & ITRACE_ELEMENT_HAS_ADDR && element->addr != PRA_TAIL_CHAIN;
}

static void do_exception(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	const bool m_profile = flow->elements.stream.config->profile == ITRACE_PROFILE_M;
	bool has_addr = element->flags & ITRACE_ELEMENT_HAS_ADDR;

	if (m_profile && element->addr == PRA_TAIL_CHAIN)
		has_addr = false;
	if (element->flags & ITRACE_ELEMENT_MATCHES_TARGET && has_addr)
		go_to(flow, element->addr, isa_of(flow, element->is));	/* an address, so nothing is popped */
	else if (flow->pop_pending && (flow->left_by_eret || !pop(flow)))
		flow->pop_pending = false;	/* it was taken where a return went; of an exception return none is kept */
	if (element->flags & ITRACE_ELEMENT_HAS_CONTEXT)
		do_context(flow, element);
	/*
	 * The trace does not say where that branch went; between its target and here instructions may be missing. (With a
	 * return stack the address may have been on the trace unit's from before the trace began.)
	 */
	if (has_addr && flow->need_addr && flow->branched_away && !flow->left_by_eret && !uses_stack(flow))
		emit_gap(flow, ITRACE_GAP_NO_ADDRESS, element->off, flow->addr, 0);
	/* an exception right behind another was taken in its handler, whose address was not sent */
	if (has_addr && !flow->need_addr && !flow->need_context && !flow->excepted && element->addr > flow->addr)
		walk_to_exception(flow, element);

	struct itrace_event event = {
		.off = element->off,
		.addr = has_addr ? element->addr : 0,
		.number = element->number,
	};
	unsigned int flags = has_addr ? ITRACE_EVENT_HAS_ADDR : 0;
	if (element->flags & ITRACE_ELEMENT_MATCHES_TARGET)
		flags |= ITRACE_EVENT_MATCHES_TARGET;
	if (element->flags & ITRACE_ELEMENT_FAULT_PENDING)
		flags |= ITRACE_EVENT_FAULT_PENDING;
	event.tag = itrace_event_tag(ITRACE_EVENT_EXCEPTION, flags, 0);
	emit(flow, &event);
	/* the handler's address follows */
	flow->it_left = 0;
	flow->pop_pending = false;
	flow->left_by_eret = false;
	flow->branched_away = false;
	flow->need_addr = true;
	flow->excepted = true;
	if (is_lazy_fp(flow, element))
		go_to(flow, element->addr, flow->isa);
}

static void do_q(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	const bool counted = element->flags & ITRACE_ELEMENT_HAS_COUNT && element->number;
	struct straight straight;
	bool known = false;

	if (flow->pop_pending && !pop(flow))
		lose_place(flow);
	if (counted && !flow->need_addr && !flow->need_context) {
		const struct itrace_walk walk = {
			.addr = flow->addr,
			.isa = flow->isa,
			.it_left = flow->it_left,
			.space = flow->space,
			.stop = ITRACE_WALK_TO_BRANCH,
		};
		walk_straight(flow, &walk, element->number, &straight);
		known = straight.count == element->number &&
			(straight_end(&straight) == element->addr || itrace_event_branch(straight.block.tag) != ITRACE_INSN_OTHER);
	}
	if (known) {
		emit_straight(flow, element->off, &straight, straight.block.tag);
	} else {
		struct itrace_event event = {
			.off = element->off,
			.addr = flow->addr,
			.end = element->addr,
			.count = counted ? element->number : 0,
			.tag = itrace_event_tag(ITRACE_EVENT_RANGE_NO_PATH, flow->need_addr ? 0 : ITRACE_EVENT_HAS_ADDR, 0),
		};
		emit(flow, &event);
	}
	go_to(flow, element->addr, isa_of(flow, element->is));
	flow->push_blocked = false;
	if (element->flags & ITRACE_ELEMENT_HAS_CONTEXT)
		do_context(flow, element);
}

/*
 * Execution went straight from the current address to the instruction at the source address, which was executed.
 * @returns the block of that last instruction alone
 */
static void source_block(struct itrace_ete_flow *flow, uint64_t addr, struct itrace_block *block)
{
	const struct itrace_walk walk = {
		.addr = addr,
		.count_max = 1,
		.isa = flow->isa,
		.space = flow->space,
	};

	itrace_block_walk(flow->cache.image, flow->cache.rules, &walk, block);
	if ((block->end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_FULL)
		block->end &= (uint8_t)~ITRACE_BLOCK_CUT_MASK;
}

/* Its range, or the last piece of it: [flow->addr, source address]. */
static void finish_source(struct itrace_ete_flow *flow, uint64_t off, uint64_t addr, const struct itrace_block *last)
{
	struct itrace_walk walk = {
		.addr = flow->addr,
		.limit = addr + last->len,
		.isa = flow->isa,
		.it_left = flow->it_left,
		.space = flow->space,
		.use_limit = true,
		.stop = ITRACE_WALK_PASS_TAKEN,
	};
	struct straight straight;

	if (flow->need_addr || flow->addr > addr)
		walk.addr = addr;
	walk_straight(flow, &walk, UINT32_MAX, &straight);
	if (straight_end(&straight) != walk.limit) {
		/* not all of the way is known: say so, and show the instruction that is */
		if ((straight.block.end & ITRACE_BLOCK_CUT_MASK) == ITRACE_BLOCK_NO_MEMORY)
			emit_gap(flow, ITRACE_GAP_NO_MEMORY, off, straight_end(&straight), 4);
		else
			emit_gap(flow, ITRACE_GAP_BAD_IMAGE, off, straight_end(&straight), 0);
		emit_block(flow, off, last, last->tag);
	} else {
		/* flags of the walk: an open IT block makes the last instruction conditional */
		emit_straight(flow, off, &straight, straight.block.tag);
	}
	flow->need_addr = false;
	flow->excepted = false;
	take_branch(flow, off, last);
}

static void do_source_addr(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	struct itrace_block last;

	if (flow->pop_pending && !pop(flow))
		lose_place(flow);
	if (flow->need_context)
		return;		/* in which instruction set, nobody knows */
	source_block(flow, element->addr, &last);
	if (!last.count) {
		emit_walk_end(flow, element->off, &last);
		return;
	}
	if (itrace_event_branch(last.tag) == ITRACE_INSN_OTHER) {
		/* a source address is that of a waypoint */
		emit_gap(flow, ITRACE_GAP_BAD_IMAGE, element->off, element->addr, 0);
		lose_place(flow);
		return;
	}
	if (flow->split_at_n && !flow->need_addr && flow->addr < element->addr) {
		flow->splitting = true;
		flow->split_end = element->addr;
		flow->split_off = element->off;
		return;
	}
	finish_source(flow, element->off, element->addr, &last);
}

/* The next piece of a source address range that ends at every N atom. */
static void continue_split(struct itrace_ete_flow *flow)
{
	const struct itrace_block *block = find_block(flow);
	struct itrace_block last;

	if (block->count && flow->addr + block->len <= flow->split_end && !(block->end & ITRACE_BLOCK_CUT_MASK) &&
			!is_impossible(flow, block, false)) {
		emit_block(flow, flow->split_off, block, block->tag & ~executed_mask());
		flow->addr += block->len;
		flow->it_left = block->end & ITRACE_BLOCK_IT_MASK;
		return;
	}
	flow->splitting = false;
	source_block(flow, flow->split_end, &last);
	finish_source(flow, flow->split_off, flow->split_end, &last);
}

static void do_timestamp(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	unsigned int flags = 0;

	if (flow->elements.stream.config->cycle_count)
		flags = element->flags & ITRACE_ELEMENT_HAS_COUNT ? ITRACE_EVENT_HAS_CYCLES : ITRACE_EVENT_UNKNOWN;
	struct itrace_event event = {
		.off = element->off,
		.addr = element->addr,
		.count = flags & ITRACE_EVENT_HAS_CYCLES ? element->number : 0,
		.tag = itrace_event_tag(ITRACE_EVENT_TIMESTAMP, flags, 0),
	};

	emit(flow, &event);
}

/* Elements that are an event of their own and nothing to the flow. */
static void do_value(struct itrace_ete_flow *flow, const struct itrace_ete_element *element,
		enum itrace_event_kind kind)
{
	struct itrace_event event = {
		.off = element->off,
		.addr = element->addr,
		.number = kind == ITRACE_EVENT_INSTRUMENTATION ? element->info : element->number,
		.tag = itrace_event_tag(kind, element->flags & ITRACE_ELEMENT_UNKNOWN ? ITRACE_EVENT_UNKNOWN : 0, 0),
	};

	emit(flow, &event);
}

static void do_trace_on(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	emit_simple(flow, ITRACE_EVENT_TRACE_ON, element->off,
		flow->overflowed ? ITRACE_TRACE_ON_OVERFLOW : ITRACE_TRACE_ON_NORMAL);
	flow->overflowed = false;
	itrace_return_stack_flush(&flow->stack);
	lose_place(flow);
	flow->left_by_eret = false;
}

static void do_gap(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	struct itrace_event event = {
		.off = element->off,
		.number = element->number,
		.tag = itrace_event_tag(ITRACE_EVENT_GAP, 0, element->info),
	};

	emit(flow, &event);
}

static void do_element(struct itrace_ete_flow *flow, const struct itrace_ete_element *element)
{
	switch (element->kind) {
	case ITRACE_ELEMENT_ATOMS:
		flow->atoms = element->number;
		flow->atom_count = element->atom_count;
		flow->atoms_off = element->off;
		break;
	case ITRACE_ELEMENT_ADDR:
		go_to(flow, element->addr, isa_of(flow, element->is));
		flow->push_blocked = false;
		break;
	case ITRACE_ELEMENT_CONTEXT:
		if (!(element->flags & ITRACE_ELEMENT_SAME))
			do_context(flow, element);
		break;
	case ITRACE_ELEMENT_EXCEPTION:
		do_exception(flow, element);
		break;
	case ITRACE_ELEMENT_Q:
		do_q(flow, element);
		break;
	case ITRACE_ELEMENT_SOURCE_ADDR:
		do_source_addr(flow, element);
		break;
	case ITRACE_ELEMENT_EXCEPTION_RETURN:
		flow->left_by_eret = true;	/* M profile: the branch before looked like any other */
		emit_simple(flow, ITRACE_EVENT_EXCEPTION_RETURN, element->off, 0);
		break;
	case ITRACE_ELEMENT_TRACE_ON:
		do_trace_on(flow, element);
		break;
	case ITRACE_ELEMENT_TRACE_INFO:
		flow->push_blocked = true;
		break;
	case ITRACE_ELEMENT_EVENT:
		do_value(flow, element, ITRACE_EVENT_TRIGGER);
		break;
	case ITRACE_ELEMENT_TIMESTAMP:
		do_timestamp(flow, element);
		break;
	case ITRACE_ELEMENT_CYCLES:
		do_value(flow, element, ITRACE_EVENT_CYCLES);
		break;
	case ITRACE_ELEMENT_MARKER:
		emit_simple(flow, ITRACE_EVENT_MARKER, element->off, 0);
		break;
	case ITRACE_ELEMENT_INSTRUMENTATION:
		do_value(flow, element, ITRACE_EVENT_INSTRUMENTATION);
		break;
	case ITRACE_ELEMENT_TRANSACTION_START:
		emit_simple(flow, ITRACE_EVENT_TRANSACTION, element->off, ITRACE_TRANSACTION_START);
		break;
	case ITRACE_ELEMENT_TRANSACTION_COMMIT:
		emit_simple(flow, ITRACE_EVENT_TRANSACTION, element->off, ITRACE_TRANSACTION_COMMIT);
		break;
	case ITRACE_ELEMENT_TRANSACTION_FAIL:
		emit_simple(flow, ITRACE_EVENT_TRANSACTION, element->off, ITRACE_TRANSACTION_FAIL);
		break;
	case ITRACE_ELEMENT_TRANSACTION_INIT:
		emit_simple(flow, ITRACE_EVENT_TRANSACTION, element->off, ITRACE_TRANSACTION_INIT);
		break;
	case ITRACE_ELEMENT_NO_SYNC:
		start_over(flow);
		if (element->info == ITRACE_NO_SYNC_OVERFLOW)
			flow->overflowed = true;
		else if (element->info == ITRACE_NO_SYNC_BAD_PACKET)
			flow->overflowed = false;
		emit_simple(flow, ITRACE_EVENT_NO_SYNC, element->off, element->info);
		break;
	case ITRACE_ELEMENT_GAP:
		do_gap(flow, element);
		break;
	case ITRACE_ELEMENT_END:
		emit_simple(flow, ITRACE_EVENT_END, element->off,
			flow->overflowed ? ITRACE_END_AFTER_OVERFLOW : ITRACE_END_OF_TRACE);
		break;
	default:
		break;		/* function returns say nothing that the next address does not */
	}
}

/* --- the fast path --- */

/*
 * What changes from packet to packet. Only inline functions see it, so that it lives in registers: stores of events
 * would otherwise make every field be read again.
 */
struct fast {
	struct itrace_event *out;
	struct itrace_event *out_end;
	const struct itrace_block *blocks;
	uint64_t mask;
	uint64_t addr;
	uint32_t key;		/* of blocks in the current instruction set */
	bool need_addr;
	bool plain_indirect;	/* no return stack: an indirect branch needs nothing but its address */
	uint8_t source;		/* instructions that are not yet in the ledger: where their code came from, */
	uint64_t count;		/* how many, */
	uint64_t ranges;	/* in how many ranges */
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE void settle(struct itrace_ete_flow *flow, struct fast *fast)
{
	if (flow->ledger) {
		count_source(flow, fast->source, (uint32_t)fast->count);
		flow->ledger->instruction_count += fast->count;
		flow->ledger->event_count[ITRACE_EVENT_RANGE] += fast->ranges;
	}
	fast->count = 0;
	fast->ranges = 0;
}

/*
 * Atoms while their blocks are plain. @returns how many are left; not 0 when a block is not plain, when the address is
 * needed, or when there is no room.
 */
static ALWAYS_INLINE uint32_t fast_atoms(struct itrace_ete_flow *flow, struct fast *fast, uint64_t off, uint32_t *atoms,
		uint32_t left)
{
	const uint32_t executed = executed_mask();

	do {
		const struct itrace_block *block = &fast->blocks[itrace_block_place(fast->addr) & fast->mask];
		const bool taken = *atoms & 1;
		if (block->start != fast->addr || block->key != fast->key)
			block = itrace_block_cache_miss(&flow->cache, fast->addr, fast->key, flow->space);
		if (block->end & ITRACE_BLOCK_ALWAYS && !taken)
			break;		/* it cannot have been not taken */
		const uint8_t how = block->end & (uint8_t)~ITRACE_BLOCK_ALWAYS;
		if (how) {
			/* an indirect branch is plain, too, as long as its target is not on a return stack */
			if (how != ITRACE_BLOCK_INDIRECT || !fast->plain_indirect)
				break;
			fast->need_addr = taken;
		}
		if (block->source != fast->source) {
			settle(flow, fast);
			fast->source = block->source;
		}
		struct itrace_event *event = fast->out++;
		const uint64_t behind = fast->addr + block->len;
		event->off = off;
		event->addr = fast->addr;
		event->end = behind;
		event->count = block->count;
		event->tag = taken ? block->tag : block->tag & ~executed;
		fast->addr = taken ? block->target : behind;
		fast->count += block->count;
		fast->ranges++;
		*atoms >>= 1;
		left--;
	} while (left && !fast->need_addr && fast->out < fast->out_end);
	return left;
}

static ALWAYS_INLINE struct fast begin_fast(const struct itrace_ete_flow *flow)
{
	return (struct fast){
		.out = flow->out,
		.out_end = flow->out_end,
		.blocks = flow->cache.blocks,
		.mask = flow->cache.mask,
		.addr = flow->addr,
		.key = itrace_block_key(&flow->cache, flow->isa, 0, flow->space),
		.need_addr = flow->need_addr,
		.plain_indirect = !flow->cache.links_special,
	};
}

static ALWAYS_INLINE void end_fast(struct itrace_ete_flow *flow, struct fast *fast, uint32_t atoms_left)
{
	settle(flow, fast);
	flow->out = fast->out;
	flow->atom_count = atoms_left;
	flow->addr = fast->addr;
	flow->need_addr = fast->need_addr;
	flow->branched_away = fast->need_addr;	/* it was not needed before, so an indirect branch wants it */
	flow->left_by_eret = false;
	flow->excepted = false;
}

/* As many atoms of one element as are plain. */
static void run_atoms(struct itrace_ete_flow *flow)
{
	struct fast fast = begin_fast(flow);
	uint32_t atoms = flow->atoms;
	uint32_t left = fast_atoms(flow, &fast, flow->atoms_off, &atoms, flow->atom_count);

	flow->atoms = atoms;
	end_fast(flow, &fast, left);
}

/* Work off the atoms of one element, as far as there is room. */
static void do_atoms(struct itrace_ete_flow *flow)
{
	while (flow->atom_count && flow->out < flow->out_end) {
		if (!flow->layered && !flow->need_addr && !flow->need_context && !flow->pop_pending && !flow->it_left)
			run_atoms(flow);
		if (!flow->atom_count || flow->out == flow->out_end)
			return;
		if (walk_atom(flow, flow->atoms_off, flow->atoms & 1)) {
			flow->atoms >>= 1;
			flow->atom_count--;
		}
	}
}

/* A target address straight from the stream. */
static ALWAYS_INLINE void fast_addr(struct itrace_ete_flow *flow, struct fast *fast, const struct itrace_addr_row *row,
		const uint8_t *bytes)
{
	uint8_t is;

	fast->addr = itrace_addr_row_read(row, bytes, &flow->elements.stream.history, &is);
	fast->need_addr = false;
	flow->elements.last_is = is;
	flow->push_blocked = false;
	const uint8_t isa = isa_of(flow, is);
	if (isa == flow->isa)
		return;
	flow->isa = isa;
	fast->key = itrace_block_key(&flow->cache, flow->isa, 0, flow->space);
}

static ALWAYS_INLINE void fast_count(struct itrace_ledger *ledger, uint8_t kind, uint8_t len)
{
	if (!ledger)
		return;
	ledger->packet_count[kind]++;
	ledger->packet_len[kind] += len;
}

/*
 * Atoms and target addresses straight from the stream, while nothing waits in the element layer. The result is the
 * same as through the layers; a property test holds the two together.
 */
static void run_packets(struct itrace_ete_flow *flow)
{
	struct itrace_ete_stream *const stream = &flow->elements.stream;
	struct itrace_ledger *const ledger = flow->ledger;
	const uint8_t *const begin = stream->pos;
	const uint8_t *const end = stream->end;
	const uint64_t begin_off = itrace_ete_stream_off(stream, begin);
	const uint8_t *pos = begin;
	const uint8_t *last = NULL;
	uint32_t left = 0;
	struct fast fast = begin_fast(flow);

	while (pos < end && fast.out < fast.out_end) {
		if (*pos < ITRACE_ATOM_HEADER) {
			const struct itrace_addr_row *row = itrace_addr_row(pos, (size_t)(end - pos));
			if (!row)
				break;
			fast_addr(flow, &fast, row, pos);
			fast_count(ledger, row->kind, row->len);
			last = pos;
			pos += row->len;
			continue;
		}
		if (fast.need_addr)
			break;
		const struct itrace_atoms *packet = &itrace_atoms_table[*pos - ITRACE_ATOM_HEADER];
		uint32_t atoms = packet->bits;
		fast_count(ledger, packet->kind, 1);
		last = pos++;
		left = fast_atoms(flow, &fast, begin_off + (uint64_t)(last - begin), &atoms, packet->count);
		if (left) {
			flow->atoms = atoms;
			flow->atoms_off = begin_off + (uint64_t)(last - begin);
			break;
		}
	}
	if (!last)
		return;
	if (ledger)
		ledger->decoded_len += (uint64_t)(pos - begin);
	flow->elements.packet_off = begin_off + (uint64_t)(last - begin);
	stream->pos = pos;
	end_fast(flow, &fast, left);
}

static bool may_run(const struct itrace_ete_flow *flow)
{
	const struct itrace_ete_stream *stream = &flow->elements.stream;

	return itrace_ete_elements_idle(&flow->elements) && stream->synced && !stream->held_len && !flow->layered &&
		!flow->need_context && !flow->pop_pending && !flow->it_left && stream->pos < stream->end;
}

unsigned int itrace_ete_flow_next(struct itrace_ete_flow *flow, struct itrace_event *events, unsigned int n)
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
	while (flow->out < flow->out_end) {
		struct itrace_ete_element element;
		if (flow->atom_count) {
			do_atoms(flow);
			continue;
		}
		if (flow->splitting) {
			continue_split(flow);
			continue;
		}
		if (may_run(flow)) {
			run_packets(flow);
			if (flow->out == flow->out_end || flow->atom_count)
				continue;
		}
		if (!itrace_ete_elements_next(&flow->elements, &element))
			break;
		do_element(flow, &element);
	}
	return (unsigned int)(flow->out - events);
}
