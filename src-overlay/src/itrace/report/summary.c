// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdlib.h>

#include "ledger_report.h"
#include "listing.h"
#include "summary.h"

const char *itrace_summary_advice(unsigned int kind)
{
	switch (kind) {
	case ITRACE_PACKET_TIMESTAMP:
	case ITRACE_PACKET_MARKER:
		return "-timestamp off";
	case ITRACE_PACKET_CYCLES_F1:
	case ITRACE_PACKET_CYCLES_F2:
	case ITRACE_PACKET_CYCLES_F3:
		return "-cycle-count off, or a higher threshold";
	case ITRACE_PACKET_CONTEXT:
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS1:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS1:
		return "-context-id off, -vmid off, -el or -security for fewer changes";
	case ITRACE_PACKET_ADDR_MATCH:
	case ITRACE_PACKET_ADDR_SHORT_IS0:
	case ITRACE_PACKET_ADDR_SHORT_IS1:
	case ITRACE_PACKET_ADDR_32_IS0:
	case ITRACE_PACKET_ADDR_32_IS1:
	case ITRACE_PACKET_ADDR_64_IS0:
	case ITRACE_PACKET_ADDR_64_IS1:
		return "-return-stack on, -branch-broadcast off";
	case ITRACE_PACKET_EVENT:
		return "no -event-input";
	case ITRACE_PACKET_ATOM_F1:
	case ITRACE_PACKET_ATOM_F2:
	case ITRACE_PACKET_ATOM_F3:
	case ITRACE_PACKET_ATOM_F4:
	case ITRACE_PACKET_ATOM_F5:
	case ITRACE_PACKET_ATOM_F6:
		return "-filter range or function";
	default:
		return "";
	}
}

struct row {
	unsigned int kind;
	uint64_t count, len;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->len != right->len)
		return left->len < right->len ? 1 : -1;
	return left->kind < right->kind ? -1 : 1;
}

/* Kinds that occurred, most bytes first. */
static unsigned int collect_rows(const struct itrace_ledger *ledger, struct row *rows)
{
	unsigned int count = 0;

	for (unsigned int kind = 0; kind < ITRACE_LEDGER_KINDS; kind++)
		if (ledger->packet_count[kind])
			rows[count++] = (struct row){ kind, ledger->packet_count[kind],
					ledger->packet_len[kind] };
	qsort(rows, count, sizeof(rows[0]), compare_rows);
	return count;
}

static void write_packets(const struct itrace_ledger *ledger, struct itrace_output *out)
{
	struct row rows[ITRACE_LEDGER_KINDS];
	unsigned int count = collect_rows(ledger, rows);
	double total = ledger->trace_len ? (double)ledger->trace_len : 1;

	if (!count)
		return;
	itrace_output_format(out, "\n%-36s %10s %12s %6s  %s\n", "packets", "count", "bytes", "%", "fewer with");
	for (unsigned int i = 0; i < count; i++) {
		const char *advice = itrace_summary_advice(rows[i].kind);
		itrace_output_format(out, "%-36s %10" PRIu64 " %12" PRIu64 " %6.2f%s%s\n",
				itrace_ledger_packet_name(rows[i].kind), rows[i].count, rows[i].len, 100 * (double)rows[i].len / total,
				*advice ? "  " : "", advice);
	}
}

static void write_rates(const struct itrace_ledger *ledger, struct itrace_output *out)
{
	if (!ledger->instruction_count)
		return;
	double instructions = (double)ledger->instruction_count;
	uint64_t gaps = itrace_ledger_gaps(ledger);
	itrace_output_format(out, "rates     %.3f bits of trace an instruction, %.1f gaps a million instructions\n",
			8 * (double)ledger->trace_len / instructions, 1e6 * (double)gaps / instructions);
}

void itrace_summary_write(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols,
		struct itrace_output *out)
{
	char line[ITRACE_LEDGER_LINE_MAX];

	for (unsigned int i = 0; i < ITRACE_LEDGER_LINES; i++) {
		itrace_ledger_line(ledger, symbols, i, line, sizeof(line));
		itrace_output_text(out, line);
		itrace_output_char(out, '\n');
	}
	write_rates(ledger, out);
	for (unsigned int gap = 0; gap < ITRACE_GAP_NUM; gap++)
		if (ledger->gap_count[gap])
			itrace_output_format(out, "          %s: %s\n", itrace_gap_name((enum itrace_gap)gap),
					itrace_gap_remedy((enum itrace_gap)gap));
	write_packets(ledger, out);
}

/* ---- the mouth ---- */

struct summary_mouth {
	struct itrace_mouth mouth;
	struct itrace_program *program;
	struct itrace_output *out;
};

static void summary_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	/* the ledger has counted them */
	(void)mouth;
	(void)events;
	(void)n;
}

static void summary_finish(struct itrace_mouth *mouth, const struct itrace_ledger *ledger)
{
	struct summary_mouth *self = (struct summary_mouth *)mouth;

	itrace_summary_write(ledger, self->program->symbols, self->out);
}

static void summary_free(struct itrace_mouth *mouth)
{
	free(mouth);
}

static const struct itrace_mouth_ops summary_ops = {
	.events = summary_events,
	.finish = summary_finish,
	.free = summary_free,
};

struct itrace_mouth *itrace_summary_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct summary_mouth *self = calloc(1, sizeof(*self));

	(void)fold;
	if (!self)
		return NULL;
	self->mouth.ops = &summary_ops;
	self->program = program;
	self->out = out;
	return &self->mouth;
}
