// SPDX-License-Identifier: GPL-2.0-or-later

#include "ete_element.h"

#include <string.h>

#define QUEUE_MASK		(ITRACE_ELEMENT_QUEUE_NUM - 1)
#define PACKET_ENTRIES_MAX	3u	/* entries that one packet can add */

_Static_assert(!(ITRACE_ELEMENT_QUEUE_NUM & QUEUE_MASK), "the queue is a ring of a power of two entries");
_Static_assert(ITRACE_ELEMENT_NUM <= 32, "sets of element kinds are 32-bit words");

#define SET(kind) (1u << ITRACE_ELEMENT_ ## kind)

/* Kinds that stand for something that has happened whatever is speculated: neither cancelled nor discarded. */
static const uint32_t never_cancelled = SET(EVENT) | SET(TIMESTAMP) | SET(CYCLES) | SET(MARKER) | SET(INSTRUMENTATION);

static bool in_set(uint32_t set, const struct itrace_ete_element *element)
{
	return set >> element->kind & 1;
}

static struct itrace_ete_element *entry(struct itrace_ete_elements *elements, uint32_t index)
{
	return &elements->queue[(elements->head + index) & QUEUE_MASK];
}

static void drop_head(struct itrace_ete_elements *elements)
{
	elements->head = (elements->head + 1) & QUEUE_MASK;
	elements->count--;
}

/* How many P0 elements an entry stands for. */
static uint32_t p0_count(const struct itrace_ete_elements *elements, const struct itrace_ete_element *element)
{
	switch (element->kind) {
	case ITRACE_ELEMENT_ATOMS:
		return element->atom_count;
	case ITRACE_ELEMENT_UNSEEN:
		return element->number;
	case ITRACE_ELEMENT_EXCEPTION:
	case ITRACE_ELEMENT_Q:
	case ITRACE_ELEMENT_SOURCE_ADDR:
	case ITRACE_ELEMENT_FUNCTION_RETURN:
		return 1;
	case ITRACE_ELEMENT_EXCEPTION_RETURN:
		return elements->stream.config->profile == ITRACE_PROFILE_M;
	case ITRACE_ELEMENT_TRANSACTION_START:
		return elements->stream.config->start_is_p0;
	default:
		return 0;
	}
}

/* A new newest entry, empty but for its kind and place. There is room: make_room() saw to it. */
static struct itrace_ete_element *push(struct itrace_ete_elements *elements, enum itrace_element_kind kind,
		const struct itrace_ete_packet *packet)
{
	struct itrace_ete_element *element = entry(elements, elements->count++);

	memset(element, 0, sizeof(*element));
	element->kind = (uint8_t)kind;
	element->off = packet->off;
	return element;
}

/* The same for a kind that may be P0. */
static struct itrace_ete_element *push_p0(struct itrace_ete_elements *elements, enum itrace_element_kind kind,
		const struct itrace_ete_packet *packet)
{
	struct itrace_ete_element *element = push(elements, kind, packet);

	if (!elements->awaits_addr)
		elements->depth += p0_count(elements, element);
	return element;
}

static void fill_gap(struct itrace_ete_elements *elements, enum itrace_gap cause, uint64_t off, uint32_t number)
{
	memset(&elements->gap, 0, sizeof(elements->gap));
	elements->gap.kind = ITRACE_ELEMENT_GAP;
	elements->gap.info = (uint8_t)cause;
	elements->gap.off = off;
	elements->gap.number = number;
	elements->has_gap = true;
}

static void forget_queue(struct itrace_ete_elements *elements)
{
	elements->count = 0;
	elements->depth = 0;
	elements->awaits_addr = false;
	elements->commit = 0;
	elements->cancel = 0;
	elements->mispredict = false;
	elements->has_cycles = false;
}

/*
 * The packets make no sense from here on: give up what is not committed and wait for the next A-Sync.
 * @param now say so at once; else with the next packet
 */
static void lose_sync(struct itrace_ete_elements *elements, enum itrace_gap cause, uint64_t off, uint32_t number,
		bool now)
{
	forget_queue(elements);
	fill_gap(elements, cause, off, number);
	elements->state = ITRACE_ELEMENTS_NO_SYNC;
	elements->no_sync = ITRACE_NO_SYNC_BAD_PACKET;
	elements->no_sync_now = now;
	elements->markers_seen = false;
	elements->last_is = 0;
	/* where packets begin is no longer sure: an A-Sync may stand anywhere */
	itrace_ete_stream_resync(&elements->stream);
}

static void begin(struct itrace_ete_elements *elements, enum itrace_no_sync why)
{
	elements->head = 0;
	elements->packet_off = 0;
	elements->release = 0;
	elements->has_gap = false;
	elements->no_sync_now = false;
	elements->state = ITRACE_ELEMENTS_NO_SYNC;
	elements->no_sync = (uint8_t)why;
	elements->last_is = 0;
	elements->markers_seen = false;
	elements->end_done = false;
	forget_queue(elements);
}

void itrace_ete_elements_init(struct itrace_ete_elements *elements, const struct itrace_ete_config *config,
		struct itrace_ledger *ledger)
{
	itrace_ete_stream_init(&elements->stream, config, ledger);
	begin(elements, ITRACE_NO_SYNC_INIT);
}

void itrace_ete_elements_reset(struct itrace_ete_elements *elements, enum itrace_no_sync why)
{
	itrace_ete_stream_reset(&elements->stream);
	begin(elements, why);
}

void itrace_ete_elements_feed(struct itrace_ete_elements *elements, uint64_t off, const uint8_t *bytes, size_t len)
{
	itrace_ete_stream_feed(&elements->stream, off, bytes, len);
}

void itrace_ete_elements_finish(struct itrace_ete_elements *elements)
{
	itrace_ete_stream_finish(&elements->stream);
}

/* --- packets to queue entries --- */

static void set_context(const struct itrace_ete_elements *elements, struct itrace_ete_element *element,
		const struct itrace_ete_packet *packet)
{
	const struct itrace_ete_config *config = elements->stream.config;

	/* an ID that this trace unit does not have is not there, whatever the packet says */
	element->info = packet->info;
	if (!config->vmid_len)
		element->info &= (uint8_t)~ITRACE_CONTEXT_HAS_VMID;
	if (!config->cid_len)
		element->info &= (uint8_t)~ITRACE_CONTEXT_HAS_CID;
	element->vmid = packet->vmid;
	element->cid = packet->cid;
}

/* The address, and maybe the context, for which the newest entry waits. */
static void give_addr(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	struct itrace_ete_element *element = entry(elements, elements->count - 1);

	if (packet->flags & ITRACE_PKT_CONTEXT) {
		set_context(elements, element, packet);
		element->flags |= ITRACE_ELEMENT_HAS_CONTEXT;
	}
	if (packet->flags & ITRACE_PKT_ADDR) {
		element->addr = packet->addr;
		element->is = packet->is;
		element->flags |= ITRACE_ELEMENT_HAS_ADDR;
		elements->awaits_addr = false;
		elements->depth += p0_count(elements, element);
	}
}

static void push_addr_context(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	if (packet->flags & ITRACE_PKT_ADDR)
		elements->last_is = packet->is;
	if (elements->awaits_addr) {
		give_addr(elements, packet);
		return;
	}
	if (packet->flags & (ITRACE_PKT_CONTEXT | ITRACE_PKT_CONTEXT_SAME)) {
		struct itrace_ete_element *context = push(elements, ITRACE_ELEMENT_CONTEXT, packet);
		context->is = elements->last_is;
		if (packet->flags & ITRACE_PKT_CONTEXT)
			set_context(elements, context, packet);
		else
			context->flags |= ITRACE_ELEMENT_SAME;
		if (packet->flags & ITRACE_PKT_ADDR)
			context->flags |= ITRACE_ELEMENT_WITH_ADDR;
	}
	if (packet->flags & ITRACE_PKT_ADDR) {
		struct itrace_ete_element *addr = push(elements, ITRACE_ELEMENT_ADDR, packet);
		addr->addr = packet->addr;
		addr->is = packet->is;
	}
}

static void push_source(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	struct itrace_ete_element *element = push_p0(elements, ITRACE_ELEMENT_SOURCE_ADDR, packet);

	element->addr = packet->addr;
	element->is = packet->is;
}

static void push_exception(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	elements->awaits_addr = packet->flags & ITRACE_PKT_ADDR_FOLLOWS;
	struct itrace_ete_element *element = push_p0(elements, ITRACE_ELEMENT_EXCEPTION, packet);
	element->number = packet->number;
	if (packet->flags & ITRACE_PKT_MATCHES_TARGET)
		element->flags |= ITRACE_ELEMENT_MATCHES_TARGET;
	if (packet->flags & ITRACE_PKT_FAULT_PENDING)
		element->flags |= ITRACE_ELEMENT_FAULT_PENDING;
}

static void push_q(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	elements->awaits_addr = packet->flags & ITRACE_PKT_ADDR_FOLLOWS;
	struct itrace_ete_element *element = push_p0(elements, ITRACE_ELEMENT_Q, packet);
	if (packet->flags & ITRACE_PKT_COUNT) {
		element->number = packet->number;
		element->flags |= ITRACE_ELEMENT_HAS_COUNT;
	}
	if (packet->flags & ITRACE_PKT_ADDR) {
		element->addr = packet->addr;
		element->is = packet->is;
		element->flags |= ITRACE_ELEMENT_HAS_ADDR;
		elements->last_is = packet->is;
	}
}

static void push_timestamp(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	/* which moment it names is known only from the first marker on */
	if (elements->stream.config->marker_first && !elements->markers_seen)
		return;
	struct itrace_ete_element *element = push(elements, ITRACE_ELEMENT_TIMESTAMP, packet);
	element->addr = packet->addr;
	if (packet->flags & ITRACE_PKT_CYCLES) {
		element->number = packet->cycles;
		element->flags |= ITRACE_ELEMENT_HAS_COUNT;
	}
}

static void push_atoms(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	struct itrace_ete_element *element = push(elements, ITRACE_ELEMENT_ATOMS, packet);

	element->number = packet->atoms;
	element->atom_count = packet->atom_count;
	elements->depth += packet->atom_count;
}

static void commit_explicit(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	uint64_t n = packet->number;

	if (n > elements->depth) {
		/*
		 * Without speculation everything is committed by the time a cycle count packet commits it again, and formats
		 * 2 and 3 cannot say zero.
		 */
		if (elements->stream.config->max_spec_depth || packet->kind == ITRACE_PACKET_COMMIT)
			fill_gap(elements, ITRACE_GAP_COMMIT_OVERRUN, packet->off, packet->number);
		n = elements->depth;
	}
	elements->commit = (uint32_t)n;
}

static void push_cycles(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	struct itrace_ete_element *element = push(elements, ITRACE_ELEMENT_CYCLES, packet);

	element->number = packet->cycles;
	if (packet->flags & ITRACE_PKT_CYCLES_UNKNOWN)
		element->flags |= ITRACE_ELEMENT_UNKNOWN;
	if (packet->flags & ITRACE_PKT_COMMIT) {
		/* its place is behind what it commits; that is known only then */
		elements->cycles = *element;
		elements->count--;
		elements->has_cycles = true;
		commit_explicit(elements, packet);
	}
}

/* Keep what survives a discard or overflow, to be handed out; forget the rest. */
static void discard(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < elements->count; i++)
		if (in_set(never_cancelled, entry(elements, i)))
			*entry(elements, kept++) = *entry(elements, i);
	forget_queue(elements);
	elements->count = kept;
	elements->release = kept;
	elements->state = ITRACE_ELEMENTS_NO_SYNC;
	elements->no_sync_now = true;
	if (packet->kind == ITRACE_PACKET_OVERFLOW) {
		fill_gap(elements, ITRACE_GAP_OVERFLOW, packet->off, 0);
		elements->no_sync = ITRACE_NO_SYNC_OVERFLOW;
	} else {
		fill_gap(elements, ITRACE_GAP_DISCARD, packet->off, 0);
		elements->no_sync = ITRACE_NO_SYNC_DISCARD;
	}
}

/* Packets that may stand between an exception and its address: they belong to it, or mean nothing. */
static bool fits_behind_exception(const struct itrace_ete_packet *packet)
{
	if (itrace_packet_is_address(packet->kind))
		return true;
	switch (packet->kind) {
	case ITRACE_PACKET_CONTEXT:
	case ITRACE_PACKET_IGNORE:
	case ITRACE_PACKET_ASYNC:
	case ITRACE_PACKET_OVERFLOW:
	case ITRACE_PACKET_DISCARD:
	case ITRACE_PACKET_INCOMPLETE:
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_RESERVED:
	case ITRACE_PACKET_RESERVED_CFG:
		return true;
	default:
		return false;
	}
}

static void process_decoding(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	if (elements->awaits_addr && !fits_behind_exception(packet)) {
		lose_sync(elements, ITRACE_GAP_BAD_SEQUENCE, packet->off, packet->bytes[0], false);
		return;
	}
	if (itrace_packet_is_atoms(packet->kind)) {
		push_atoms(elements, packet);
		return;
	}
	if (itrace_packet_is_address(packet->kind)) {
		push_addr_context(elements, packet);
		return;
	}
	if (itrace_packet_is_source(packet->kind)) {
		push_source(elements, packet);
		return;
	}
	switch (packet->kind) {
	case ITRACE_PACKET_CONTEXT:
		push_addr_context(elements, packet);
		break;
	case ITRACE_PACKET_EXCEPTION:
	case ITRACE_PACKET_PE_RESET:
		push_exception(elements, packet);
		break;
	case ITRACE_PACKET_EXCEPTION_RETURN:
		push_p0(elements, ITRACE_ELEMENT_EXCEPTION_RETURN, packet);
		break;
	case ITRACE_PACKET_FUNCTION_RETURN:
		push_p0(elements, ITRACE_ELEMENT_FUNCTION_RETURN, packet);
		break;
	case ITRACE_PACKET_TRANSACTION_START:
		push_p0(elements, ITRACE_ELEMENT_TRANSACTION_START, packet);
		break;
	case ITRACE_PACKET_TRANSACTION_COMMIT:
		push(elements, ITRACE_ELEMENT_TRANSACTION_COMMIT, packet);
		break;
	case ITRACE_PACKET_TRANSACTION_FAIL:
		push(elements, ITRACE_ELEMENT_TRANSACTION_FAIL, packet);
		break;
	case ITRACE_PACKET_Q:
		push_q(elements, packet);
		break;
	case ITRACE_PACKET_TRACE_ON:
		push(elements, ITRACE_ELEMENT_TRACE_ON, packet);
		break;
	case ITRACE_PACKET_TRACE_INFO:
		push(elements, ITRACE_ELEMENT_TRACE_INFO, packet);
		break;
	case ITRACE_PACKET_EVENT:
		push(elements, ITRACE_ELEMENT_EVENT, packet)->number = packet->info;
		break;
	case ITRACE_PACKET_TIMESTAMP:
		push_timestamp(elements, packet);
		break;
	case ITRACE_PACKET_MARKER:
		elements->markers_seen = true;
		push(elements, ITRACE_ELEMENT_MARKER, packet);
		break;
	case ITRACE_PACKET_INSTRUMENTATION: {
		struct itrace_ete_element *element = push(elements, ITRACE_ELEMENT_INSTRUMENTATION, packet);
		element->addr = packet->addr;
		element->info = packet->info;
		break;
	}
	case ITRACE_PACKET_CYCLES_F1:
	case ITRACE_PACKET_CYCLES_F2:
	case ITRACE_PACKET_CYCLES_F3:
		push_cycles(elements, packet);
		break;
	case ITRACE_PACKET_COMMIT:
		commit_explicit(elements, packet);
		break;
	case ITRACE_PACKET_CANCEL_F1:
	case ITRACE_PACKET_CANCEL_F1_MISPREDICT:
	case ITRACE_PACKET_CANCEL_F2:
	case ITRACE_PACKET_CANCEL_F3:
	case ITRACE_PACKET_MISPREDICT:
		if (packet->atom_count)
			push_atoms(elements, packet);
		elements->cancel = packet->flags & ITRACE_PKT_CANCEL ? packet->number : 0;
		elements->mispredict = packet->flags & ITRACE_PKT_MISPREDICT;
		break;
	case ITRACE_PACKET_DISCARD:
	case ITRACE_PACKET_OVERFLOW:
		discard(elements, packet);
		break;
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_RESERVED:
	case ITRACE_PACKET_RESERVED_CFG:
		lose_sync(elements, ITRACE_GAP_BAD_PACKET, packet->off, packet->bytes[0], false);
		break;
	default:
		/*
		 * A-Sync, Ignore; a packet that the end of the input cut off; markers and conditional packets of modes that
		 * itrace_ete_config_init() refuses.
		 */
		break;
	}
}

static void begin_decoding(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	elements->state = ITRACE_ELEMENTS_DECODE;
	push(elements, ITRACE_ELEMENT_TRACE_INFO, packet);
	uint32_t unseen = packet->flags & ITRACE_PKT_SPEC ? packet->cid : 0;
	if (unseen > elements->stream.config->max_spec_depth)
		unseen = elements->stream.config->max_spec_depth;	/* the rest is committed already */
	if (unseen) {
		/* elements that were traced before we could see them are committed or cancelled later, like all others */
		push(elements, ITRACE_ELEMENT_UNSEEN, packet)->number = unseen;
		elements->depth += unseen;
	}
	if (packet->info & 0x40)
		push(elements, ITRACE_ELEMENT_TRANSACTION_INIT, packet);
}

/* Bytes that the stream took for packets, but that lie where nothing can be decoded. */
static void count_unsynced(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	struct itrace_ledger *ledger = elements->stream.ledger;

	if (!ledger)
		return;
	switch (packet->kind) {
	case ITRACE_PACKET_NOT_SYNC:
	case ITRACE_PACKET_INCOMPLETE:
	case ITRACE_PACKET_ASYNC:
	case ITRACE_PACKET_IGNORE:
		return;
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_RESERVED:
	case ITRACE_PACKET_RESERVED_CFG:
		ledger->skipped_len -= packet->len;
		break;
	default:
		ledger->decoded_len -= packet->len;
		break;
	}
	ledger->unsynced_len += packet->len;
}

static void process(struct itrace_ete_elements *elements, const struct itrace_ete_packet *packet)
{
	elements->packet_off = packet->off;
	switch (elements->state) {
	case ITRACE_ELEMENTS_NO_SYNC:
		elements->no_sync_now = true;
		elements->state = ITRACE_ELEMENTS_WAIT_ASYNC;
		/* fall through */
	case ITRACE_ELEMENTS_WAIT_ASYNC:
		if (packet->kind == ITRACE_PACKET_ASYNC)
			elements->state = ITRACE_ELEMENTS_WAIT_INFO;
		else
			count_unsynced(elements, packet);
		break;
	case ITRACE_ELEMENTS_WAIT_INFO:
		if (packet->kind == ITRACE_PACKET_TRACE_INFO)
			begin_decoding(elements, packet);
		else if (packet->kind == ITRACE_PACKET_EVENT && elements->stream.config->protocol == ITRACE_PROTOCOL_ETE)
			push(elements, ITRACE_ELEMENT_EVENT, packet)->number = packet->info;
		else
			count_unsynced(elements, packet);
		break;
	default:
		process_decoding(elements, packet);
		break;
	}
	/* a trace unit that holds no more than MaxSpecDepth commits the oldest by itself */
	uint32_t max_depth = elements->stream.config->max_spec_depth;
	if (elements->depth > max_depth && elements->depth - max_depth > elements->commit)
		elements->commit = (uint32_t)(elements->depth - max_depth);
}

/* --- resolution: commit, cycle count, cancel, mispredict --- */

/* Hand out the first @a n of the P0 elements of the oldest entry. @returns false when there is nothing to hand out. */
static bool take_p0(struct itrace_ete_elements *elements, uint32_t n, struct itrace_ete_element *out)
{
	struct itrace_ete_element *oldest = entry(elements, 0);
	uint32_t has = p0_count(elements, oldest);

	if (n > has)
		n = has;
	elements->commit -= n;
	elements->depth -= n;
	*out = *oldest;
	if (n == has) {
		drop_head(elements);
	} else if (oldest->kind == ITRACE_ELEMENT_ATOMS) {
		oldest->number >>= n;
		oldest->atom_count = (uint8_t)(oldest->atom_count - n);
		out->atom_count = (uint8_t)n;
	} else {
		oldest->number -= n;	/* unseen */
	}
	return out->kind != ITRACE_ELEMENT_UNSEEN;
}

/* Put the cycle count where it belongs: behind what its packet committed. */
static void insert_cycles(struct itrace_ete_elements *elements)
{
	uint32_t place = 0;

	while (place < elements->count && !p0_count(elements, entry(elements, place)))
		place++;
	for (uint32_t i = elements->count; i > place; i--)
		*entry(elements, i) = *entry(elements, i - 1);
	elements->count++;
	*entry(elements, place) = elements->cycles;
	elements->has_cycles = false;
}

/* Take the newest P0 elements away, with what hangs on them. */
static void cancel(struct itrace_ete_elements *elements)
{
	const uint32_t kept_kinds = never_cancelled | SET(TRACE_INFO);
	uint32_t n = elements->cancel;
	uint32_t from = elements->count;

	elements->cancel = 0;
	if (n > elements->depth) {
		lose_sync(elements, ITRACE_GAP_COMMIT_OVERRUN, elements->packet_off, n, true);
		return;
	}
	elements->depth -= n;
	while (n) {
		struct itrace_ete_element *element = entry(elements, --from);
		uint32_t has = p0_count(elements, element);
		if (in_set(kept_kinds, element))
			continue;
		if (has > n) {
			if (element->kind == ITRACE_ELEMENT_ATOMS)
				element->atom_count = (uint8_t)(has - n);
			else
				element->number = has - n;	/* unseen */
			n = 0;
			continue;
		}
		n -= has;
		element->kind = ITRACE_ELEMENT_NUM;
	}
	uint32_t kept = from;
	for (uint32_t i = from; i < elements->count; i++)
		if (entry(elements, i)->kind != ITRACE_ELEMENT_NUM)
			*entry(elements, kept++) = *entry(elements, i);
	elements->count = kept;
}

/* Turn the newest atom. Addresses behind it were those of the wrong way. */
static void mispredict(struct itrace_ete_elements *elements)
{
	elements->mispredict = false;
	for (uint32_t i = elements->count; i > 0; i--) {
		struct itrace_ete_element *element = entry(elements, i - 1);
		switch (element->kind) {
		case ITRACE_ELEMENT_ATOMS:
			element->number ^= 1u << (element->atom_count - 1);
			return;
		case ITRACE_ELEMENT_UNSEEN:
			return;		/* it was one of those */
		case ITRACE_ELEMENT_ADDR:
			/* a context of the same packet stays, but its instruction set was that of the wrong way */
			if (i > 1 && entry(elements, i - 2)->kind == ITRACE_ELEMENT_CONTEXT)
				entry(elements, i - 2)->flags &= (uint8_t)~ITRACE_ELEMENT_WITH_ADDR;
			for (uint32_t k = i; k < elements->count; k++)
				*entry(elements, k - 1) = *entry(elements, k);
			elements->count--;
			break;
		default:
			break;
		}
	}
	lose_sync(elements, ITRACE_GAP_BAD_SEQUENCE, elements->packet_off, 0, true);
}

/* At the end of the input: what is not committed may never have happened, and it takes what is behind it along. */
static void end_queue(struct itrace_ete_elements *elements)
{
	const bool settled = !elements->stream.config->max_spec_depth || !elements->depth;
	uint32_t kinds = never_cancelled;
	uint32_t kept = 0;

	if (settled)
		kinds |= SET(TRANSACTION_COMMIT) | SET(TRANSACTION_FAIL);
	for (uint32_t i = 0; i < elements->count; i++) {
		const struct itrace_ete_element *element = entry(elements, i);
		if (p0_count(elements, element) || element->kind == ITRACE_ELEMENT_TRACE_ON ||
				element->kind == ITRACE_ELEMENT_EXCEPTION_RETURN)
			break;
		if (in_set(kinds, element))
			*entry(elements, kept++) = *element;
	}
	forget_queue(elements);
	elements->count = kept;
	elements->release = kept;
}

static void simple_element(const struct itrace_ete_elements *elements, enum itrace_element_kind kind, uint8_t info,
		struct itrace_ete_element *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = (uint8_t)kind;
	out->info = info;
	out->off = elements->packet_off;
}

/* What the last packet left to do. @returns true when that gave an element. */
static bool next_left(struct itrace_ete_elements *elements, struct itrace_ete_element *out)
{
	if (elements->release) {
		elements->release--;
		*out = *entry(elements, 0);
		drop_head(elements);
		return true;
	}
	while (elements->commit && elements->count)
		if (take_p0(elements, elements->commit, out))
			return true;
	if (elements->has_cycles)
		insert_cycles(elements);
	if (elements->has_gap && elements->gap.info == ITRACE_GAP_COMMIT_OVERRUN &&
			elements->state == ITRACE_ELEMENTS_DECODE)
		lose_sync(elements, ITRACE_GAP_COMMIT_OVERRUN, elements->gap.off, elements->gap.number, true);
	if (elements->cancel)
		cancel(elements);
	if (elements->mispredict)
		mispredict(elements);
	if (elements->has_gap) {
		*out = elements->gap;
		elements->has_gap = false;
		return true;
	}
	if (elements->no_sync_now) {
		simple_element(elements, ITRACE_ELEMENT_NO_SYNC, elements->no_sync, out);
		elements->no_sync_now = false;
		/* the reason has been said; whether this packet was an A-Sync, process() knows */
		if (elements->state == ITRACE_ELEMENTS_NO_SYNC)
			elements->state = ITRACE_ELEMENTS_WAIT_ASYNC;
		return true;
	}
	return false;
}

/* Before a packet adds entries. @returns false when an element has to be handed out first. */
static bool make_room(struct itrace_ete_elements *elements)
{
	if (elements->count + PACKET_ENTRIES_MAX <= ITRACE_ELEMENT_QUEUE_NUM)
		return true;
	/* what is older than the oldest P0 element can no longer be cancelled */
	if (!p0_count(elements, entry(elements, 0)))
		elements->release = 1;
	else
		lose_sync(elements, ITRACE_GAP_SPECULATION_DEPTH, elements->packet_off, ITRACE_ELEMENT_QUEUE_NUM, true);
	return false;
}

int itrace_ete_elements_next(struct itrace_ete_elements *elements, struct itrace_ete_element *element)
{
	for (;;) {
		if (next_left(elements, element))
			return 1;
		if (elements->end_done)
			return 0;
		if (!make_room(elements))
			continue;
		struct itrace_ete_packet packet;
		if (itrace_ete_stream_next(&elements->stream, &packet, 1)) {
			process(elements, &packet);
			continue;
		}
		if (!elements->stream.finished)
			return 0;
		if (elements->count) {
			end_queue(elements);
			continue;
		}
		elements->end_done = true;
		simple_element(elements, ITRACE_ELEMENT_END, 0, element);
		return 1;
	}
}
