// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The decoder against the log of what ran: random programs are really executed by the simulator, their trace is encoded
 * there, decoded here, and every instruction, exception, context, timestamp and count must be the one of the log.
 *
 *     flow_truth COUNT [SEED [ISA]]     COUNT streams for each instruction set and protocol
 *
 * The lines compared are those of testing/sim/README.md.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <itrace/ete_flow.h>

#include "sim_stream.h"

#define BLOCK_NUM	1024u

static const struct kind {
	const char *name;
	enum sim_isa isa;
	bool m_profile;
	bool etmv4;
} kinds[] = {
	{ "a64-ete", SIM_A64, false, false },
	{ "a64-etmv4", SIM_A64, false, true },
	{ "a32-ete", SIM_A32, false, false },
	{ "a32-etmv4", SIM_A32, false, true },
	{ "t32-ete", SIM_T32, false, false },
	{ "t32-etmv4", SIM_T32, false, true },
	{ "m-etmv4", SIM_T32, true, true },
};

#define KIND_NUM (sizeof(kinds) / sizeof(kinds[0]))

/* A growing text. */
struct text {
	char *data;
	size_t len;
	size_t room;
};

static void put(struct text *text, const char *format, ...)
{
	va_list args;

	if (text->room - text->len < 256) {
		text->room = 2 * text->room + 65536;
		text->data = realloc(text->data, text->room);
		if (!text->data)
			abort();
	}
	va_start(args, format);
	text->len += (size_t)vsnprintf(text->data + text->len, text->room - text->len, format, args);
	va_end(args);
}

/* What turns events into lines of the log. */
struct teller {
	struct text *text;
	struct text *cycles;	/* where cycle counts go: into the text, or apart */
	struct itrace_image *image;
	const struct itrace_ete_config *config;
	bool began;
	bool resumes;		/* after a discard: the Trace On that follows has no line */
	bool bare;		/* exceptions without the address before them: that there is one missing must be said */
};

static unsigned int size_at(const struct teller *t, uint64_t addr, enum itrace_isa isa)
{
	size_t avail;

	if (isa != ITRACE_ISA_T32)
		return 4;
	const uint8_t *bytes = itrace_image_at(t->image, addr, ITRACE_SPACE_ANY, &avail, NULL);
	return bytes && avail > 1 && bytes[1] >= 0xe8 ? 4 : 2;
}

static void tell_range(struct teller *t, const struct itrace_event *event)
{
	static const char *const isa_names[] = { "a64", "a32", "t32" };
	uint64_t addr = event->addr;
	unsigned int size = 0;

	for (uint32_t i = 0; i < event->count; i++) {
		put(t->text, "I %" PRIx64 " %s\n", addr, isa_names[event->isa]);
		size = size_at(t, addr, (enum itrace_isa)event->isa);
		addr += size;
	}
	if (addr != event->end || size != event->last_size)
		put(t->text, "! range ends at %" PRIx64 " with size %u\n", event->end, event->last_size);
}

static void tell_context(struct teller *t, const struct itrace_event *event)
{
	const char *security = "s";
	char cid[24] = "-", vmid[24] = "-";

	switch (event->number & ITRACE_CONTEXT_SECURITY) {
	case ITRACE_SECURITY_NON_SECURE:
		security = "ns";
		break;
	case ITRACE_SECURITY_ROOT:
		security = "root";
		break;
	case ITRACE_SECURITY_REALM:
		security = "realm";
		break;
	default:
		break;
	}
	if (event->number & ITRACE_CONTEXT_HAS_CID && t->config->cid_len)
		snprintf(cid, sizeof(cid), "%" PRIx64, event->addr);
	if (event->number & ITRACE_CONTEXT_HAS_VMID && t->config->vmid_len)
		snprintf(vmid, sizeof(vmid), "%" PRIx64, event->end);
	put(t->text, "C %u %s %s %s %s\n", event->number & ITRACE_CONTEXT_EL_MASK, security, cid, vmid,
		event->number & ITRACE_CONTEXT_SF ? "64" : "32");
}

static void tell_trace_on(struct teller *t, const struct itrace_event *event)
{
	if (!t->began)
		put(t->text, "G begin\n");
	else if (event->cause == ITRACE_TRACE_ON_NORMAL && !t->resumes)
		put(t->text, "G filter\n");
	t->began = true;
	t->resumes = false;
}

static void tell_gap(struct teller *t, const struct itrace_event *event)
{
	t->began = true;
	if (event->cause == ITRACE_GAP_DISCARD) {
		put(t->text, "G discard\n");
		t->resumes = true;
	} else if (event->cause == ITRACE_GAP_OVERFLOW) {
		put(t->text, "G overflow\n");
	} else if (t->bare && (event->cause == ITRACE_GAP_NO_ADDRESS || event->cause == ITRACE_GAP_BAD_IMAGE)) {
		;	/* the log has no line for it */
	} else {
		put(t->text, "! gap %s at %" PRIx64 " (byte %" PRIu64 ")\n", itrace_gap_name((enum itrace_gap)event->cause),
			event->addr, event->off);
	}
}

static void tell(struct teller *t, const struct itrace_event *event)
{
	static const char *const transactions[] = { "init", "start", "commit", "fail" };

	switch (event->kind) {
	case ITRACE_EVENT_RANGE:
		tell_range(t, event);
		break;
	case ITRACE_EVENT_RANGE_NO_PATH:
		put(t->text, "Q %u %" PRIx64 " %" PRIx64 "\n", event->count, event->addr, event->end);
		break;
	case ITRACE_EVENT_TRACE_ON:
		tell_trace_on(t, event);
		break;
	case ITRACE_EVENT_CONTEXT:
		tell_context(t, event);
		break;
	case ITRACE_EVENT_EXCEPTION:
		if (event->flags & ITRACE_EVENT_HAS_ADDR)
			put(t->text, "X %x %" PRIx64 "\n", event->number, event->addr);
		else
			put(t->text, "X %x -\n", event->number);
		break;
	case ITRACE_EVENT_EXCEPTION_RETURN:
		put(t->text, "R\n");
		break;
	case ITRACE_EVENT_TIMESTAMP:
		if (event->flags & ITRACE_EVENT_HAS_CYCLES)
			put(t->text, "T %" PRIx64 " %u\n", event->addr, event->count);
		else
			put(t->text, "T %" PRIx64 " -\n", event->addr);
		break;
	case ITRACE_EVENT_CYCLES:
		if (event->flags & ITRACE_EVENT_UNKNOWN)
			put(t->cycles, "K -\n");
		else
			put(t->cycles, "K %u\n", event->count);
		break;
	case ITRACE_EVENT_MARKER:
		put(t->text, "S\n");
		break;
	case ITRACE_EVENT_TRIGGER:
		put(t->text, "E %x\n", event->number);
		break;
	case ITRACE_EVENT_TRANSACTION:
		put(t->text, "M %s\n", transactions[event->cause]);
		break;
	case ITRACE_EVENT_INSTRUMENTATION:
		put(t->text, "W %u %" PRIx64 "\n", event->number, event->addr);
		break;
	case ITRACE_EVENT_GAP:
		tell_gap(t, event);
		break;
	default:
		break;
	}
}

static const char *configure(const struct sim_stream *stream, const struct kind *kind, struct itrace_ete_config *config)
{
	struct ete_register registers[ETE_REGISTER_MAX];
	unsigned int n = ete_config_registers(&stream->config, registers);
	enum itrace_protocol protocol = kind->etmv4 ? ITRACE_PROTOCOL_ETMV4 : ITRACE_PROTOCOL_ETE;
	struct itrace_ete_registers regs;
	enum itrace_profile profile;
	enum itrace_arch arch;
	const char *why = NULL;

	itrace_ete_registers_default(protocol, &regs);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t *reg = itrace_ete_register(&regs, registers[i].name);
		if (reg)
			*reg = registers[i].value;
	}
	if (!itrace_core_type(stream->core_type, &profile, &arch))
		return "unknown core type";
	itrace_ete_config_init(config, protocol, profile, arch, &regs, &why);
	return why;
}

static struct itrace_ete_flow flow;
static struct itrace_block blocks[BLOCK_NUM];
static struct itrace_image image;

/* Decode the whole stream into lines. @returns why not, or NULL. */
static const char *decode(const struct sim_stream *stream, const struct kind *kind, struct text *text,
		struct text *cycles)
{
	struct itrace_ete_config config;
	struct itrace_segment segments[2] = {
		{ stream->base, stream->program.len, stream->program.code, ITRACE_SPACE_ANY, 0 },
		{ stream->handler_base, stream->handler.len, stream->handler.code, ITRACE_SPACE_ANY, 1 },
	};
	struct itrace_ledger ledger;
	struct itrace_event events[16];
	const char *why = configure(stream, kind, &config);

	if (why)
		return why;
	itrace_ledger_init(&ledger);
	itrace_image_init(&image, segments, 2, NULL, NULL);
	itrace_ete_flow_init(&flow, &config, &image, blocks, BLOCK_NUM, &ledger);
	/* where a count stands among what is not committed yet, the log and the decoder see differently: see README.md */
	const bool apart = config.commit_in_cc && config.max_spec_depth;
	struct teller t = { text, apart ? cycles : text, &image, &config, false, false,
		stream->features & SIM_BIT(SIM_FEATURE_BARE_EXCEPTION) };
	itrace_ete_flow_feed(&flow, 0, stream->trace.data, stream->trace.len);
	for (bool finished = false;;) {
		unsigned int n = itrace_ete_flow_next(&flow, events, 16);
		for (unsigned int i = 0; i < n; i++)
			tell(&t, &events[i]);
		if (n)
			continue;
		if (finished)
			break;
		itrace_ete_flow_finish(&flow);
		finished = true;
	}
	return itrace_ledger_balances(&ledger) ? NULL : "the ledger does not balance";
}

/* The log without what the decoder does not tell, its cycle counts apart if the decoder's are. */
static void split_log(const struct sim_stream *stream, bool apart, struct text *text, struct text *cycles)
{
	const char *line = (const char *)stream->truth.data;
	const char *end = line + stream->truth.len;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end;
		if (*line == 'F')
			;	/* function returns: the next address says it all */
		else if (*line == 'K' && apart)
			put(cycles, "%.*s", (int)(next - line), line);
		else
			put(text, "%.*s", (int)(next - line), line);
		line = next;
	}
}

/* @returns true when equal (@a more: we may have more behind the end of the log); else says where they part. */
static bool same(const char *what, const struct kind *kind, uint64_t seed, const struct text *log,
		const struct text *ours, bool more)
{
	size_t n = log->len < ours->len ? log->len : ours->len;
	size_t at = 0, line = 0, number = 1;

	while (at < n && log->data[at] == ours->data[at]) {
		if (log->data[at] == '\n') {
			line = at + 1;
			number++;
		}
		at++;
	}
	if (at == log->len && (at == ours->len || more))
		return true;
	printf("%s seed %" PRIu64 ": %s line %zu: the log has '%.*s', the decoder '%.*s'\n", kind->name, seed, what, number,
		(int)strcspn(log->data + line, "\n"), log->data + line, (int)strcspn(ours->data + line, "\n"),
		ours->data + line);
	return false;
}

/*
 * Streams whose log knows more than the trace says:
 * with a return stack, an exception without an address before it means that the address was on the stack; with
 * speculation it leaves the address of a wrong way standing; in a Q
 * element that ends in a failed transaction, its last instruction is no branch, so that the way to the next address is
 * not known.
 */
static bool undecidable(const struct sim_stream *stream)
{
	const uint64_t bare = SIM_BIT(SIM_FEATURE_BARE_EXCEPTION) | SIM_BIT(SIM_FEATURE_RS);
	const uint64_t q_fails = SIM_BIT(SIM_FEATURE_Q) | SIM_BIT(SIM_FEATURE_TME);
	const uint64_t bare_spec = SIM_BIT(SIM_FEATURE_BARE_EXCEPTION) | SIM_BIT(SIM_FEATURE_SPEC);

	return (stream->features & bare) == bare || (stream->features & bare_spec) == bare_spec ||
		(stream->features & q_fails) == q_fails;
}

static bool check(const struct sim_stream *stream, const struct kind *kind, uint64_t seed)
{
	struct text log = { 0 }, ours = { 0 }, log_cycles = { 0 }, our_cycles = { 0 };
	bool ok = false;

	put(&log, "%s", "");
	put(&ours, "%s", "");
	put(&log_cycles, "%s", "");
	put(&our_cycles, "%s", "");
	const char *why = decode(stream, kind, &ours, &our_cycles);
	if (why) {
		printf("%s seed %" PRIu64 ": %s\n", kind->name, seed, why);
	} else {
		bool apart = stream->config.max_spec_depth && !(stream->config.commopt && stream->config.cycle_counts);
		split_log(stream, apart, &log, &log_cycles);
		/* a count behind what is never committed is not in the log; we know that its commit was before */
		ok = same("flow", kind, seed, &log, &ours, false) &&
			 same("cycle counts", kind, seed, &log_cycles, &our_cycles, true);
	}
	free(log.data);
	free(ours.data);
	free(log_cycles.data);
	free(our_cycles.data);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 20;
	uint64_t first_seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const char *only = argc > 3 ? argv[3] : NULL;
	static struct sim_stream stream;
	struct sim_cpus cpus = { 0 };
	unsigned long feature_count[SIM_FEATURE_NUM] = { 0 };
	unsigned long passed = 0, failed = 0, left_out = 0;
	uint64_t instructions = 0;

	for (unsigned int k = 0; k < KIND_NUM; k++) {
		if (only && strcmp(only, kinds[k].name))
			continue;
		for (uint64_t seed = first_seed; seed < first_seed + count; seed++) {
			const struct sim_stream_options options = {
				.isa = kinds[k].isa,
				.m_profile = kinds[k].m_profile,
				.etmv4 = kinds[k].etmv4,
				.random_features = true,
				/* every feature that is never chosen by chance, now and then */
				.features = seed % 4 ? 0 : SIM_BIT(SIM_FEATURE_CUT + seed / 4 % (SIM_FEATURE_NUM - SIM_FEATURE_CUT)),
				.seed = seed,
				.instructions = 600,
				.trace_id = 0x10,
			};
			const char *why = sim_stream_run(&stream, &options, &cpus);
			if (why) {
				printf("%s seed %" PRIu64 ": simulator: %s\n", kinds[k].name, seed, why);
				failed++;
				continue;
			}
			if (undecidable(&stream)) {
				left_out++;
				continue;
			}
			for (unsigned int i = 0; i < SIM_FEATURE_NUM; i++)
				feature_count[i] += stream.features >> i & 1;
			instructions += stream.insns;
			if (check(&stream, &kinds[k], seed))
				passed++;
			else
				failed++;
		}
	}
	for (unsigned int i = 0; i < SIM_FEATURE_NUM; i++) {
		printf("feature %-16s %lu streams\n", sim_feature_name((enum sim_feature)i), feature_count[i]);
		if (!feature_count[i] && !only)
			failed++;
	}
	printf("%" PRIu64 " instructions compared; %lu streams left out whose log knows more than the trace\n",
		instructions, left_out);
	sim_stream_free(&stream);
	sim_cpus_free(&cpus);
	printf("%lu passed, %lu failed\n", passed, failed);
	return failed != 0;
}
