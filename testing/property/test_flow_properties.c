// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The same trace gives the same events however it is cut, wherever it lies in memory, whatever the size of the block
 * cache, through the fast path or the layers, a few events at a time or many; and the ledger always balances.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <itrace/ete_flow.h>
#include "stream_random.h"

/* How one decode is done. */
struct manner {
	uint32_t chunk_max;	/* bytes a chunk at most; 0: all at once */
	uint32_t align;		/* offset of each chunk in memory */
	size_t blocks;
	unsigned int events;	/* a call */
	bool layered;
	bool split_at_n;
};

struct outcome {
	struct itrace_event *events;
	size_t count;
	size_t room;
	struct itrace_ledger ledger;
};

/* A decode may give no more than so many events a byte: 24 atoms, and what hangs on them. */
#define EVENTS_PER_BYTE	64u

static void add(struct outcome *outcome, const struct itrace_event *events, unsigned int n)
{
	if (outcome->count + n > outcome->room) {
		outcome->room = 2 * outcome->room + n + 1024;
		outcome->events = realloc(outcome->events, outcome->room * sizeof(*events));
		assert_non_null(outcome->events);
	}
	memcpy(outcome->events + outcome->count, events, n * sizeof(*events));
	outcome->count += n;
}

static void drain(struct itrace_ete_flow *flow, const struct manner *manner, struct outcome *outcome)
{
	struct itrace_event events[64];
	unsigned int n;

	for (;;) {
		memset(events, 0xa5, sizeof(events));
		n = itrace_ete_flow_next(flow, events, manner->events);
		assert_true(n <= manner->events);
		if (!n)
			return;
		add(outcome, events, n);
	}
}

static void decode(struct random_case *c, const struct manner *manner, struct outcome *outcome)
{
	struct itrace_ete_flow *flow = malloc(sizeof(*flow));
	struct itrace_image *image = malloc(sizeof(*image));
	struct itrace_block *blocks = malloc(manner->blocks * sizeof(*blocks));
	uint64_t cut_state = c->state;

	assert_non_null(flow);
	assert_non_null(image);
	assert_non_null(blocks);
	memset(outcome, 0, sizeof(*outcome));
	itrace_ledger_init(&outcome->ledger);
	itrace_image_init(image, c->segments, 3, NULL, NULL);
	memset(flow, 0xcd, sizeof(*flow));
	itrace_ete_flow_init(flow, &c->config, image, blocks, manner->blocks, &outcome->ledger);
	flow->layered = manner->layered;
	flow->split_at_n = manner->split_at_n;
	for (size_t at = 0; at < c->len;) {
		size_t len = c->len - at;
		if (manner->chunk_max) {
			uint32_t chunk = random_below(c, manner->chunk_max + 1);
			if (chunk < len)
				len = chunk;
		}
		/* each chunk in memory of its own: a pointer kept too long, or a byte read too far, is seen */
		uint8_t *copy = malloc(len + manner->align + (len + manner->align == 0));
		assert_non_null(copy);
		memcpy(copy + manner->align, c->stream + at, len);
		itrace_ete_flow_feed(flow, at, copy + manner->align, len);
		drain(flow, manner, outcome);
		free(copy);
		at += len;
	}
	itrace_ete_flow_finish(flow);
	drain(flow, manner, outcome);
	c->state = cut_state + 1;
	free(blocks);
	free(image);
	free(flow);
}

static void compare(uint64_t seed, const struct manner *manner, const struct outcome *a, const struct outcome *b)
{
	size_t n = a->count < b->count ? a->count : b->count;

	for (size_t i = 0; i < n; i++) {
		const struct itrace_event *x = &a->events[i];
		const struct itrace_event *y = &b->events[i];
		if (x->off != y->off || x->addr != y->addr || x->end != y->end || x->count != y->count || x->tag != y->tag)
			fail_msg("seed %llu chunk %u blocks %zu events %u layered %d: event %zu: kind %u off %llu addr %llx, not "
				"kind %u off %llu addr %llx", (unsigned long long)seed, manner->chunk_max, manner->blocks,
				manner->events, manner->layered, i, y->kind, (unsigned long long)y->off,
				(unsigned long long)y->addr, x->kind, (unsigned long long)x->off, (unsigned long long)x->addr);
	}
	if (a->count != b->count)
		fail_msg("seed %llu chunk %u blocks %zu: %zu events, not %zu", (unsigned long long)seed, manner->chunk_max,
			manner->blocks, b->count, a->count);
	assert_memory_equal(&a->ledger, &b->ledger, sizeof(a->ledger));
}

static unsigned long cases(void)
{
	const char *count = getenv("COUNT");

	return count ? strtoul(count, NULL, 0) : 400;
}

static void check_manners(const struct manner *manners, size_t n, bool split_at_n)
{
	for (uint64_t seed = 1; seed <= cases(); seed++) {
		struct random_case c;
		struct outcome first;
		const struct manner plain = { 0, 0, 1024, 16, false, split_at_n };
		random_case_make(&c, seed);
		decode(&c, &plain, &first);
		assert_true(itrace_ledger_balances(&first.ledger));
		assert_int_equal(first.ledger.trace_len, c.len);
		assert_true(first.count <= (c.len + 16) * EVENTS_PER_BYTE);
		assert_int_equal(first.events[first.count - 1].kind, ITRACE_EVENT_END);
		for (size_t i = 0; i < n; i++) {
			struct outcome other;
			struct manner manner = manners[i];
			manner.split_at_n = split_at_n;
			decode(&c, &manner, &other);
			compare(seed, &manner, &first, &other);
			free(other.events);
		}
		free(first.events);
		random_case_free(&c);
	}
}

static void any_split_gives_the_same(void **state)
{
	static const struct manner manners[] = {
		{ .chunk_max = 1, .blocks = 1024, .events = 16 },
		{ .chunk_max = 7, .align = 3, .blocks = 1024, .events = 16 },
		{ .chunk_max = 300, .align = 1, .blocks = 1024, .events = 64 },
	};

	(void)state;
	check_manners(manners, sizeof(manners) / sizeof(manners[0]), false);
}

static void any_cache_and_batch_give_the_same(void **state)
{
	static const struct manner manners[] = {
		{ .blocks = 1, .events = 1 },
		{ .blocks = 4, .events = 3, .align = 5 },
		{ .blocks = 16384, .events = 64 },
	};

	(void)state;
	check_manners(manners, sizeof(manners) / sizeof(manners[0]), false);
}

static void the_layers_give_the_same_as_the_fast_path(void **state)
{
	static const struct manner manners[] = {
		{ .blocks = 1024, .events = 16, .layered = true },
		{ .chunk_max = 40, .blocks = 16, .events = 2, .layered = true },
	};

	(void)state;
	check_manners(manners, sizeof(manners) / sizeof(manners[0]), false);
	check_manners(manners, sizeof(manners) / sizeof(manners[0]), true);
}

/* Splitting source address ranges at N atoms changes where ranges end, not what ran. */
static void splitting_keeps_the_instructions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= cases(); seed++) {
		struct random_case c;
		struct outcome whole, split;
		const struct manner plain = { 0, 0, 1024, 16, false, false };
		const struct manner at_n = { 0, 0, 1024, 16, false, true };
		random_case_make(&c, seed);
		decode(&c, &plain, &whole);
		decode(&c, &at_n, &split);
		if (!itrace_ledger_gaps(&whole.ledger))
			assert_int_equal(whole.ledger.instruction_count, split.ledger.instruction_count);
		free(whole.events);
		free(split.events);
		random_case_free(&c);
	}
}

/* A reset anywhere, as where two captures meet, loses what was begun and no byte of the ledger. */
static void reset_keeps_the_balance(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= cases(); seed++) {
		struct random_case c;
		struct itrace_event events[16];
		struct itrace_ledger ledger;
		static struct itrace_ete_flow flow;
		static struct itrace_image image;
		static struct itrace_block blocks[256];
		random_case_make(&c, seed);
		const size_t cut = random_below(&c, (uint32_t)c.len + 1);
		itrace_ledger_init(&ledger);
		itrace_image_init(&image, c.segments, 3, NULL, NULL);
		itrace_ete_flow_init(&flow, &c.config, &image, blocks, 256, &ledger);
		itrace_ete_flow_feed(&flow, 0, c.stream, cut);
		while (itrace_ete_flow_next(&flow, events, 16))
			;
		itrace_ete_flow_reset(&flow, ITRACE_NO_SYNC_RESET);
		itrace_ete_flow_feed(&flow, cut, c.stream + cut, c.len - cut);
		while (itrace_ete_flow_next(&flow, events, 16))
			;
		itrace_ete_flow_finish(&flow);
		while (itrace_ete_flow_next(&flow, events, 16))
			;
		assert_true(itrace_ledger_balances(&ledger));
		assert_int_equal(ledger.trace_len, c.len);
		random_case_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_split_gives_the_same),
		cmocka_unit_test(any_cache_and_batch_give_the_same),
		cmocka_unit_test(the_layers_give_the_same_as_the_fast_path),
		cmocka_unit_test(splitting_keeps_the_instructions),
		cmocka_unit_test(reset_keeps_the_balance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
