// SPDX-License-Identifier: GPL-2.0-or-later

#include "truth_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_context(struct truth_queue *queue, const struct ete_context *context)
{
	static const char * const security[ETE_SECURITY_NUM] = { "s", "ns", "root", "realm" };

	sim_buffer_printf(queue->text, "C %u %s ", context->el, security[context->security]);
	if (queue->cid_len)
		sim_buffer_printf(queue->text, "%x ", context->cid);
	else
		sim_buffer_text(queue->text, "- ");
	if (queue->vmid_len)
		sim_buffer_printf(queue->text, "%x ", context->vmid);
	else
		sim_buffer_text(queue->text, "- ");
	sim_buffer_text(queue->text, context->aarch64 ? "64\n" : "32\n");
}

/* Kinds that consist of a letter and numbers. */
static void write_numbers(struct sim_buffer *text, const struct truth_entry *entry)
{
	unsigned long long a = entry->a;
	unsigned long long b = entry->b;

	switch (entry->kind) {
	case TRUTH_EXCEPTION:
		sim_buffer_printf(text, entry->flag ? "X %llx %llx\n" : "X %llx -\n", a, b);
		break;
	case TRUTH_TIMESTAMP:
		sim_buffer_printf(text, entry->flag ? "T %llx %llu\n" : "T %llx -\n", a, b);
		break;
	case TRUTH_CYCLES:
		sim_buffer_printf(text, entry->flag ? "K %llu\n" : "K -\n", a);
		break;
	case TRUTH_EVENT:
		sim_buffer_printf(text, "E %llx\n", a);
		break;
	case TRUTH_INSTRUMENTATION:
		sim_buffer_printf(text, "W %llu %llx\n", a, b);
		break;
	case TRUTH_Q:
		sim_buffer_printf(text, "Q %u %llx %llx\n", entry->count, a, b);
		break;
	default:
		break;
	}
}

static void write_insn(struct sim_buffer *text, const struct truth_entry *entry)
{
	sim_buffer_text(text, "I ");
	sim_buffer_hex(text, entry->a);
	sim_buffer_byte(text, ' ');
	sim_buffer_text(text, sim_isa_name(entry->isa));
	sim_buffer_byte(text, '\n');
}

static void write_entry(struct truth_queue *queue, const struct truth_entry *entry)
{
	static const char * const gaps[TRUTH_GAP_NUM] = { "begin", "filter", "overflow", "discard" };
	static const char * const transactions[TRUTH_TRANSACTION_NUM] = { "init", "start", "commit", "fail" };
	struct sim_buffer *text = queue->text;

	switch (entry->kind) {
	case TRUTH_INSN:
		write_insn(text, entry);
		queue->insn_count++;
		break;
	case TRUTH_EXCEPTION_RETURN:
		sim_buffer_text(text, "R\n");
		break;
	case TRUTH_FUNCTION_RETURN:
		sim_buffer_text(text, "F\n");
		break;
	case TRUTH_MARKER:
		sim_buffer_text(text, "S\n");
		break;
	case TRUTH_GAP:
		if (entry->flag)
			sim_buffer_printf(text, "G %s\n", gaps[entry->a]);
		break;
	case TRUTH_TRANSACTION:
		sim_buffer_printf(text, "M %s\n", transactions[entry->a]);
		break;
	case TRUTH_CONTEXT:
		write_context(queue, &entry->context);
		break;
	default:
		write_numbers(text, entry);
		break;
	}
}

/* Elements that are not tied to the execution and so outlive a cancel or a discard. */
static bool survives(const struct truth_entry *entry)
{
	switch (entry->kind) {
	case TRUTH_TIMESTAMP:
	case TRUTH_CYCLES:
	case TRUTH_EVENT:
	case TRUTH_MARKER:
	case TRUTH_INSTRUMENTATION:
		return true;
	default:
		return false;
	}
}

void truth_push(struct truth_queue *queue, const struct truth_entry *entry)
{
	if (queue->head == queue->len)
		queue->head = queue->len = 0;
	if (queue->len == queue->cap) {
		queue->cap = queue->cap ? queue->cap * 2 : 256;
		queue->entries = realloc(queue->entries, queue->cap * sizeof(*queue->entries));
		if (!queue->entries) {
			fputs("out of memory\n", stderr);
			exit(1);
		}
	}
	queue->entries[queue->len++] = *entry;
}

static void compact(struct truth_queue *queue)
{
	if (queue->head < 4096)
		return;
	memmove(queue->entries, queue->entries + queue->head, (queue->len - queue->head) * sizeof(*queue->entries));
	queue->len -= queue->head;
	queue->head = 0;
}

bool truth_commit(struct truth_queue *queue, unsigned int n)
{
	while (n && queue->head < queue->len) {
		const struct truth_entry *entry = &queue->entries[queue->head++];
		write_entry(queue, entry);
		if (entry->p0)
			n--;
	}
	compact(queue);
	return !n;
}

void truth_cancel(struct truth_queue *queue, unsigned int n)
{
	size_t at = queue->len;
	size_t keep_from;

	/* Find where the oldest of them begins: right after the entry that ends the P0 element before it. */
	while (at > queue->head && n) {
		at--;
		if (queue->entries[at].p0)
			n--;
	}
	while (at > queue->head && !queue->entries[at - 1].p0 && queue->entries[at - 1].kind == TRUTH_INSN)
		at--;
	keep_from = at;
	for (size_t i = at; i < queue->len; i++) {
		if (survives(&queue->entries[i]))
			queue->entries[keep_from++] = queue->entries[i];
	}
	queue->len = keep_from;
}

void truth_discard(struct truth_queue *queue, enum truth_gap reason)
{
	struct truth_entry gap = { .kind = TRUTH_GAP, .a = reason, .flag = true };

	while (queue->head < queue->len) {
		const struct truth_entry *entry = &queue->entries[queue->head++];
		if (survives(entry))
			write_entry(queue, entry);
	}
	write_entry(queue, &gap);
}

void truth_finish(struct truth_queue *queue)
{
	bool outstanding = false;

	for (size_t i = queue->head; i < queue->len; i++)
		outstanding |= queue->entries[i].p0;
	while (queue->head < queue->len) {
		const struct truth_entry *entry = &queue->entries[queue->head++];
		if (entry->p0 || entry->kind == TRUTH_INSN || entry->kind == TRUTH_GAP ||
				entry->kind == TRUTH_EXCEPTION_RETURN)
			break;
		if (survives(entry))
			write_entry(queue, entry);
		else if (entry->kind == TRUTH_TRANSACTION && entry->a >= TRUTH_TRANSACTION_COMMIT && !outstanding)
			write_entry(queue, entry);
	}
	queue->head = queue->len = 0;
}

void truth_free(struct truth_queue *queue)
{
	free(queue->entries);
	memset(queue, 0, sizeof(*queue));
}
