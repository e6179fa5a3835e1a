// SPDX-License-Identifier: GPL-2.0-or-later

#include "ledger.h"

#include <string.h>

void itrace_ledger_init(struct itrace_ledger *ledger)
{
	memset(ledger, 0, sizeof(*ledger));
}

static void count_gap(struct itrace_ledger *ledger, const struct itrace_event *event)
{
	if (event->cause >= ITRACE_GAP_NUM)
		return;
	if (!ledger->gap_count[event->cause]++) {
		ledger->gap_first_off[event->cause] = event->off;
		ledger->gap_first_addr[event->cause] = event->addr;
		ledger->gap_first_detail[event->cause] = event->count;
	}
}

void itrace_ledger_count(struct itrace_ledger *ledger, const struct itrace_event *events, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct itrace_event *event = &events[i];
		if (event->kind >= ITRACE_EVENT_NUM)
			continue;
		ledger->event_count[event->kind]++;
		if (event->kind == ITRACE_EVENT_RANGE)
			ledger->instruction_count += event->count;
		else if (event->kind == ITRACE_EVENT_RANGE_NO_PATH)
			ledger->unknown_path_count += event->count;
		else if (event->kind == ITRACE_EVENT_GAP)
			count_gap(ledger, event);
	}
}

static void add_array(uint64_t *to, const uint64_t *from, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		to[i] += from[i];
}

void itrace_ledger_add(struct itrace_ledger *ledger, const struct itrace_ledger *other)
{
	ledger->trace_len += other->trace_len;
	ledger->decoded_len += other->decoded_len;
	ledger->padding_len += other->padding_len;
	ledger->unsynced_len += other->unsynced_len;
	ledger->skipped_len += other->skipped_len;
	ledger->frame_len += other->frame_len;
	ledger->partial_len += other->partial_len;
	ledger->presync_len += other->presync_len;
	for (unsigned int i = 0; i < ITRACE_GAP_NUM; i++) {
		if (!ledger->gap_count[i] && other->gap_count[i]) {
			ledger->gap_first_off[i] = other->gap_first_off[i];
			ledger->gap_first_addr[i] = other->gap_first_addr[i];
			ledger->gap_first_detail[i] = other->gap_first_detail[i];
		}
	}
	add_array(ledger->packet_count, other->packet_count, ITRACE_LEDGER_KINDS);
	add_array(ledger->packet_len, other->packet_len, ITRACE_LEDGER_KINDS);
	add_array(ledger->event_count, other->event_count, ITRACE_EVENT_NUM);
	add_array(ledger->gap_count, other->gap_count, ITRACE_GAP_NUM);
	ledger->instruction_count += other->instruction_count;
	ledger->unknown_path_count += other->unknown_path_count;
	add_array(ledger->source_count, other->source_count, ITRACE_LEDGER_SOURCES + 1);
}

bool itrace_ledger_balances(const struct itrace_ledger *ledger)
{
	return ledger->trace_len == ledger->decoded_len + ledger->padding_len + ledger->unsynced_len + ledger->skipped_len;
}

uint64_t itrace_ledger_gaps(const struct itrace_ledger *ledger)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ITRACE_GAP_NUM; i++)
		sum += ledger->gap_count[i];
	return sum;
}
