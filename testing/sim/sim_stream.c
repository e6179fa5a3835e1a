// SPDX-License-Identifier: GPL-2.0-or-later

#include "sim_stream.h"

#include <string.h>

static const char * const feature_names[SIM_FEATURE_NUM] = {
	[SIM_FEATURE_CC] = "cc",
	[SIM_FEATURE_COMMOPT] = "commopt",
	[SIM_FEATURE_TS] = "ts",
	[SIM_FEATURE_TSMARK] = "tsmark",
	[SIM_FEATURE_CTX] = "ctx",
	[SIM_FEATURE_RS] = "rs",
	[SIM_FEATURE_BB] = "bb",
	[SIM_FEATURE_SPEC] = "spec",
	[SIM_FEATURE_UNSEEN] = "unseen",
	[SIM_FEATURE_SRCADDR] = "srcaddr",
	[SIM_FEATURE_Q] = "q",
	[SIM_FEATURE_ITE] = "ite",
	[SIM_FEATURE_TME] = "tme",
	[SIM_FEATURE_EVENT] = "event",
	[SIM_FEATURE_IGNORE] = "ignore",
	[SIM_FEATURE_SYNC] = "sync",
	[SIM_FEATURE_FILTER] = "filter",
	[SIM_FEATURE_OVERFLOW] = "overflow",
	[SIM_FEATURE_DISCARD] = "discard",
	[SIM_FEATURE_IRQ] = "irq",
	[SIM_FEATURE_IRQ_STORM] = "irq_storm",
	[SIM_FEATURE_SVC] = "svc",
	[SIM_FEATURE_WFX] = "wfx",
	[SIM_FEATURE_ISB] = "isb",
	[SIM_FEATURE_PAUTH] = "pauth",
	[SIM_FEATURE_MIX] = "mix",
	[SIM_FEATURE_EL64] = "el64",
	[SIM_FEATURE_HIGH] = "high",
	[SIM_FEATURE_RESET] = "reset",
	[SIM_FEATURE_FNRET] = "fnret",
	[SIM_FEATURE_CHAIN] = "chain",
	[SIM_FEATURE_GARBAGE] = "garbage",
	[SIM_FEATURE_CUT] = "cut",
	[SIM_FEATURE_STRAIGHT] = "straight",
	[SIM_FEATURE_WRONG_EVENT] = "wrong_event",
	[SIM_FEATURE_WRONG_SOURCE] = "wrong_source",
	[SIM_FEATURE_Q_FOLLOWING] = "q_following",
	[SIM_FEATURE_SOURCE_RETURN] = "source_return",
	[SIM_FEATURE_E10_RS] = "e10_rs",
	[SIM_FEATURE_LONE_CONTEXT] = "lone_context",
	[SIM_FEATURE_TIGHT] = "tight",
	[SIM_FEATURE_BARE_EXCEPTION] = "bare_exception",
};

#define CONTEXT_NEST 8

struct run {
	struct sim_stream *stream;
	const struct sim_stream_options *options;
	struct ete_encoder *enc;
	struct sim_random random;
	struct sim_cpu *handler_cpu;
	uint64_t return_pc;	/* where an A64 handler returns to, as traced */
	enum sim_isa return_isa;
	struct ete_context context;
	struct ete_context saved[CONTEXT_NEST];
	unsigned int nest;
	uint64_t time;
	bool filtered;
	bool level_returns;	/* the context changes after the instruction being reported */
};

const char *sim_feature_name(enum sim_feature feature)
{
	return feature_names[feature];
}

enum sim_feature sim_feature_find(const char *name)
{
	size_t len = strcspn(name, ",");
	unsigned int feature;

	for (feature = 0; feature < SIM_FEATURE_NUM; feature++) {
		if (strlen(feature_names[feature]) == len && !strncmp(feature_names[feature], name, len))
			break;
	}
	return feature;
}

static bool has(const struct sim_stream *stream, enum sim_feature feature)
{
	return stream->features & SIM_BIT(feature);
}

static bool chance(struct run *run, unsigned int permille)
{
	return sim_random_chance(&run->random, permille);
}

/* Rate of something if the feature is on. */
static unsigned int rate(const struct sim_stream *stream, enum sim_feature feature, unsigned int permille)
{
	return has(stream, feature) ? permille : 0;
}

static uint64_t impossible_features(const struct sim_stream_options *options)
{
	uint64_t bits = 0;

	if (options->etmv4)
		bits |= SIM_BIT(SIM_FEATURE_TSMARK) | SIM_BIT(SIM_FEATURE_SRCADDR) | SIM_BIT(SIM_FEATURE_ITE) |
			SIM_BIT(SIM_FEATURE_TME) | SIM_BIT(SIM_FEATURE_RESET) | SIM_BIT(SIM_FEATURE_WRONG_SOURCE) |
			SIM_BIT(SIM_FEATURE_SOURCE_RETURN);
	if (options->isa != SIM_A64)
		bits |= SIM_BIT(SIM_FEATURE_TME) | SIM_BIT(SIM_FEATURE_PAUTH);
	if (options->isa == SIM_A64 || options->m_profile)
		bits |= SIM_BIT(SIM_FEATURE_MIX) | SIM_BIT(SIM_FEATURE_EL64);
	if (!options->m_profile)
		bits |= SIM_BIT(SIM_FEATURE_FNRET) | SIM_BIT(SIM_FEATURE_CHAIN);
	if (options->m_profile)
		bits |= SIM_BIT(SIM_FEATURE_SPEC) | SIM_BIT(SIM_FEATURE_RESET) | SIM_BIT(SIM_FEATURE_Q);
	return bits;
}

static uint64_t choose_features(struct run *run)
{
	const struct sim_stream_options *options = run->options;
	uint64_t bits = options->features;

	if (options->random_features) {
		for (unsigned int i = 0; i < SIM_FEATURE_WRONG_EVENT; i++)
			bits |= chance(run, 300) ? SIM_BIT(i) : 0;
	}
	bits &= ~impossible_features(options);
	if (options->isa != SIM_A64 && !(bits & SIM_BIT(SIM_FEATURE_EL64)))
		bits &= ~SIM_BIT(SIM_FEATURE_HIGH);
	if (bits & SIM_BIT(SIM_FEATURE_COMMOPT))
		bits &= ~SIM_BIT(SIM_FEATURE_CC);
	if (bits & SIM_BIT(SIM_FEATURE_BB))
		bits &= ~SIM_BIT(SIM_FEATURE_RS);
	if (bits & SIM_BIT(SIM_FEATURE_TSMARK))
		bits |= SIM_BIT(SIM_FEATURE_TS);
	if (bits & (SIM_BIT(SIM_FEATURE_CHAIN) | SIM_BIT(SIM_FEATURE_IRQ_STORM)))
		bits |= SIM_BIT(SIM_FEATURE_IRQ);
	if (!(bits & SIM_BIT(SIM_FEATURE_SPEC)))
		bits &= ~(SIM_BIT(SIM_FEATURE_UNSEEN) | SIM_BIT(SIM_FEATURE_CUT));
	return bits;
}

static void configure(struct run *run)
{
	static const uint8_t vmid_lens[] = { 1, 2, 4 };
	static const uint8_t depths[] = { 1, 2, 3, 4, 6, 8, 16, 40, 255 };
	struct sim_stream *stream = run->stream;
	const struct sim_stream_options *options = run->options;
	struct ete_config *config = &stream->config;
	bool cc = has(stream, SIM_FEATURE_CC) || has(stream, SIM_FEATURE_COMMOPT);
	unsigned int minor_min = 0;
	unsigned int vmid_choices;

	memset(config, 0, sizeof(*config));
	config->etmv4 = options->etmv4;
	config->isa = has(stream, SIM_FEATURE_EL64) ? SIM_A64 : options->isa;
	config->m_profile = options->m_profile;
	config->trace_id = options->trace_id;
	config->v8m = has(stream, SIM_FEATURE_FNRET) || (options->m_profile && chance(run, 500));
	if (options->etmv4) {
		minor_min = has(stream, SIM_FEATURE_WFX) || has(stream, SIM_FEATURE_FNRET) ? 3 : 0;
		config->minor = sim_random_range(&run->random, minor_min, 6);
	} else {
		minor_min = has(stream, SIM_FEATURE_ITE) ? 3 : has(stream, SIM_FEATURE_TSMARK) ? 1 : 0;
		config->minor = sim_random_range(&run->random, minor_min, 3);
	}
	/* ETMv4.0 has VMIDs of one byte only. */
	vmid_choices = options->etmv4 && !config->minor ? 1 : 3;
	if (has(stream, SIM_FEATURE_CTX)) {
		config->cid_len = chance(run, 800) ? 4 : 0;
		if (!options->m_profile && (!config->cid_len || chance(run, 700)))
			config->vmid_len = vmid_lens[sim_random_below(&run->random, vmid_choices)];
	}
	config->cycle_counts = cc;
	config->commopt = has(stream, SIM_FEATURE_COMMOPT);
	config->cc_threshold = cc ? sim_random_range(&run->random, 1, 40) : 0;
	config->timestamps = has(stream, SIM_FEATURE_TS);
	config->ts_markers = has(stream, SIM_FEATURE_TSMARK);
	if (has(stream, SIM_FEATURE_RS))
		config->return_stack_depth = sim_random_range(&run->random, 1, 15);
	config->branch_broadcast = has(stream, SIM_FEATURE_BB);
	if (has(stream, SIM_FEATURE_SPEC))
		config->max_spec_depth = depths[sim_random_below(&run->random, sizeof(depths))];
	config->wfx = has(stream, SIM_FEATURE_WFX) && chance(run, 700);
	config->q_elements = has(stream, SIM_FEATURE_Q);
	config->ite = has(stream, SIM_FEATURE_ITE);
	config->commtrans = has(stream, SIM_FEATURE_TME) && chance(run, 500);
	if (options->m_profile)
		stream->core_type = config->v8m ? "ARMv8-M" : "ARMv7-M";
	else if (config->isa != SIM_A64 && options->etmv4)
		stream->core_type = chance(run, 500) ? "ARMv7-A" : "ARMv8-A";
	else
		stream->core_type = "ARM-AA64";
}

static void choose_rates(struct run *run, struct ete_rates *rates)
{
	const struct sim_stream *stream = run->stream;

	*rates = (struct ete_rates){
		.ignore = rate(stream, SIM_FEATURE_IGNORE, 30),
		.sync = rate(stream, SIM_FEATURE_SYNC, 10),
		.sync_late_address = 300,
		.greedy_atoms = chance(run, 500) ? 1000 : 300,
		.flush_atoms = chance(run, 500) ? 0 : 150,
		.smallest_address = chance(run, 500) ? 1000 : 600,
		.combined_context = 50,
		.same_context = 5,
		.context_last = 150,
		.skip_ids = 400,
		.mispredict = rate(stream, SIM_FEATURE_SPEC, 80),
		.commit = rate(stream, SIM_FEATURE_SPEC, chance(run, 700) ? 300 : 0),
		.cycle_count = 400,
		.cc_unknown = 50,
		.ts_cycle_count = 500,
		.full_timestamp = 100,
		.source_address = rate(stream, SIM_FEATURE_SRCADDR, 250),
		.q = rate(stream, SIM_FEATURE_Q, 100),
		.explicit_return = 80,
		.target_exception = 500,
		.long_exception = 100,
		.function_return = rate(stream, SIM_FEATURE_FNRET, 300),
		.leave_uncommitted = rate(stream, SIM_FEATURE_CUT, 1000),
		.wrong_path_exception = rate(stream, SIM_FEATURE_SPEC, 100),
		.wrong_path_event = rate(stream, SIM_FEATURE_WRONG_EVENT, 500),
		.wrong_path_source = rate(stream, SIM_FEATURE_WRONG_SOURCE, 300),
		.q_following = rate(stream, SIM_FEATURE_Q_FOLLOWING, 500),
		.source_return = rate(stream, SIM_FEATURE_SOURCE_RETURN, 700),
		.target_exception_rs = rate(stream, SIM_FEATURE_E10_RS, 1000),
		.lone_context = rate(stream, SIM_FEATURE_LONE_CONTEXT, 1000),
		.bare_exception = rate(stream, SIM_FEATURE_BARE_EXCEPTION, 500),
	};
}

static void choose_base(struct run *run)
{
	struct sim_stream *stream = run->stream;
	uint64_t high = 0;
	uint64_t base;

	if (run->options->program) {
		stream->base = SIM_CODE_BASE;
		return;
	}
	base = 0x10000 + ((uint64_t)sim_random_below(&run->random, 0x400) << 12);
	base += (uint64_t)run->options->slot << 24;
	if (has(stream, SIM_FEATURE_HIGH))
		high = chance(run, 500) ? 0xffffff8008000000 : 0x0000007f80000000;
	/* Of AArch32 programs only the A64 handlers can be there. */
	stream->base = run->options->isa == SIM_A64 ? base + high : base;
	stream->handler_base = base + 0x00800000 + high;
}

static uint64_t traced(const struct run *run, uint64_t pc)
{
	if (pc == ETE_TAIL_CHAINED)
		return pc;
	return pc - SIM_CODE_BASE + run->stream->base;
}

static void first_context(struct run *run)
{
	const struct ete_config *config = &run->stream->config;
	struct ete_context *context = &run->context;

	memset(context, 0, sizeof(*context));
	context->aarch64 = run->options->isa == SIM_A64;
	if (config->m_profile) {
		context->security = config->v8m && chance(run, 500) ? ETE_NON_SECURE : ETE_SECURE;
	} else {
		context->el = sim_random_below(&run->random, context->aarch64 ? 3 : 2);
		context->security = sim_random_below(&run->random, 2);
		if (!config->etmv4 && context->aarch64 && chance(run, 300))
			context->security = ETE_REALM;
		if (!config->etmv4 && context->aarch64 && chance(run, 100)) {
			context->el = 3;
			context->security = ETE_ROOT;
		}
	}
	context->cid = config->cid_len ? sim_random_u64(&run->random) & 0xffff : 0;
	context->vmid = config->vmid_len ? sim_random_below(&run->random, 256) : 0;
	ete_encoder_context(run->enc, context);
}

static enum sim_cpu_action before(void *ctx, uint64_t pc, bool quiet)
{
	struct run *run = ctx;
	const struct sim_stream *stream = run->stream;

	if (run->options->program && pc == run->options->stop_pc)
		return SIM_CPU_STOP;
	if (quiet)
		return SIM_CPU_GO;
	if (chance(run, rate(stream, SIM_FEATURE_IRQ, has(stream, SIM_FEATURE_IRQ_STORM) ? 100 : 8)))
		return SIM_CPU_EXCEPTION;
	if (chance(run, rate(stream, SIM_FEATURE_RESET, 2)))
		return SIM_CPU_RESET;
	return SIM_CPU_GO;
}

static void change_ids(struct run *run)
{
	const struct ete_config *config = &run->stream->config;

	if (config->cid_len && chance(run, 700))
		run->context.cid = sim_random_u64(&run->random) & (chance(run, 500) ? 0xff : 0xffffffff);
	if (config->vmid_len && chance(run, 500))
		run->context.vmid = sim_random_u64(&run->random) & (0xffffffffu >> (32 - 8 * config->vmid_len));
	ete_encoder_context(run->enc, &run->context);
}

/* Things that happen besides the program. */
static void surroundings(struct run *run)
{
	const struct sim_stream *stream = run->stream;

	if (stream->config.cycle_counts)
		ete_encoder_cycles(run->enc, chance(run, 20) ? sim_random_below(&run->random, 3000) :
				sim_random_range(&run->random, 1, 3));
	if (stream->config.timestamps && chance(run, 20)) {
		run->time += sim_random_u64(&run->random) >> (chance(run, 100) ? 24 : 52);
		ete_encoder_timestamp(run->enc, run->time);
	}
	if (chance(run, rate(stream, SIM_FEATURE_CTX, 10)))
		change_ids(run);
	if (chance(run, rate(stream, SIM_FEATURE_EVENT, 10)))
		ete_encoder_event(run->enc, sim_random_range(&run->random, 1, 15));
	if (chance(run, rate(stream, SIM_FEATURE_ITE, 15)))
		ete_encoder_instrumentation(run->enc, run->context.el, sim_random_u64(&run->random));
	if (chance(run, rate(stream, SIM_FEATURE_OVERFLOW, 4)))
		ete_encoder_overflow(run->enc);
	if (chance(run, rate(stream, SIM_FEATURE_DISCARD, 4)))
		ete_encoder_discard(run->enc);
	if (chance(run, rate(stream, SIM_FEATURE_FILTER, run->filtered ? 30 : 10))) {
		run->filtered = !run->filtered;
		ete_encoder_filter(run->enc, !run->filtered);
	}
}

static void on_insn(void *ctx, const struct ete_insn *insn)
{
	struct run *run = ctx;
	struct ete_insn moved = *insn;

	moved.pc = traced(run, insn->pc);
	moved.next_pc = traced(run, insn->next_pc);
	ete_encoder_insn(run->enc, &moved);
	if (run->level_returns)
		ete_encoder_context(run->enc, &run->context);
	run->level_returns = false;
	surroundings(run);
}

static unsigned int exception_type(struct run *run, bool call)
{
	static const uint8_t a_types[] = { 1, 3, 4, 6, 7, 0xa, 0xb, 0xc, 0xe, 0xe, 0xe, 0xf, 0xf, 0x12 };
	static const uint8_t m_types[] = { 2, 3, 4, 5, 6, 0xc, 0xe, 0xf, 0xf };

	if (!run->options->m_profile)
		return call ? 2 : a_types[sim_random_below(&run->random, sizeof(a_types))];
	if (call)
		return 0xb;
	if (chance(run, 400))
		return m_types[sim_random_below(&run->random, sizeof(m_types))];
	if (chance(run, 500))
		return sim_random_range(&run->random, 0x10, 0x17);
	return sim_random_range(&run->random, 0x208, 0x3ef);
}

static enum sim_cpu_action handler_before(void *ctx, uint64_t pc, bool quiet)
{
	(void)ctx;
	(void)pc;
	(void)quiet;
	return SIM_CPU_GO;
}

static void handler_insn(void *ctx, const struct ete_insn *insn)
{
	struct run *run = ctx;
	struct ete_insn moved = *insn;

	moved.pc = insn->pc - SIM_CODE_BASE + run->stream->handler_base;
	moved.next_pc = insn->next_pc - SIM_CODE_BASE + run->stream->handler_base;
	if (insn->next_pc == SIM_RETURN_PAD) {
		moved.next_pc = run->return_pc;
		moved.next_isa = run->return_isa;
	}
	ete_encoder_insn(run->enc, &moved);
	surroundings(run);
}

/* An exception taken from AArch32 to AArch64: another program on another CPU, the same trace. */
static void run_a64_handler(struct run *run, uint64_t pra, enum sim_isa isa)
{
	struct ete_context before_it = run->context;
	struct sim_cpu_client client = {
		.ctx = run,
		.before = handler_before,
		.insn = handler_insn,
		.ends_with_return = true,
	};

	run->return_pc = traced(run, pra);
	run->return_isa = isa;
	run->context.aarch64 = true;
	run->context.el = sim_random_range(&run->random, 1, 2);
	ete_encoder_context(run->enc, &run->context);
	/* Cannot fail: the handler runs to its return. */
	sim_cpu_run(run->handler_cpu, &run->stream->handler, 100000, &client);
	run->context.aarch64 = before_it.aarch64;
	run->context.el = before_it.el;
	ete_encoder_context(run->enc, &run->context);
}

static bool on_exception(void *ctx, bool call, uint64_t pra, enum sim_isa isa)
{
	struct run *run = ctx;
	bool fault = run->options->m_profile && !call && chance(run, 50);

	ete_encoder_exception(run->enc, exception_type(run, call), traced(run, pra), isa, fault);
	if (run->handler_cpu) {
		run_a64_handler(run, pra, isa);
		return false;
	}
	if (pra != ETE_TAIL_CHAINED && run->nest < CONTEXT_NEST)
		run->saved[run->nest++] = run->context;
	if (!run->options->m_profile && run->context.el < 1) {
		run->context.el = 1;
		ete_encoder_context(run->enc, &run->context);
	}
	return true;
}

static bool on_exception_return(void *ctx, bool may_chain)
{
	struct run *run = ctx;
	struct ete_context *saved;

	if (may_chain && chance(run, rate(run->stream, SIM_FEATURE_CHAIN, 300)))
		return false;
	if (!run->nest)
		return true;
	saved = &run->saved[--run->nest];
	/* The IDs belong to what the program does meanwhile, only the level comes back. */
	run->level_returns = saved->el != run->context.el;
	run->context.el = saved->el;
	return true;
}

static void on_reset(void *ctx)
{
	struct run *run = ctx;

	run->nest = 0;
	ete_encoder_pe_reset(run->enc);
}

static void on_transaction(void *ctx, int what)
{
	struct run *run = ctx;

	if (what == 1)
		ete_encoder_transaction_start(run->enc);
	else if (what == 2)
		ete_encoder_transaction_commit(run->enc);
	else
		ete_encoder_transaction_fail(run->enc);
}

void sim_cpus_free(struct sim_cpus *cpus)
{
	for (unsigned int i = 0; i < SIM_CPU_KIND_NUM; i++) {
		sim_cpu_free(cpus->cpu[i]);
		cpus->cpu[i] = NULL;
	}
}

static struct sim_cpu *get_cpu(struct sim_cpus *cpus, const struct sim_stream_options *options)
{
	enum sim_cpu_kind kind = options->m_profile ? SIM_CPU_M : options->isa == SIM_A64 ? SIM_CPU_A64 : SIM_CPU_A32;

	if (!cpus->cpu[kind])
		cpus->cpu[kind] = sim_cpu_new(kind);
	return cpus->cpu[kind];
}

static void make_program(struct run *run)
{
	struct sim_stream *stream = run->stream;
	struct sim_program_options options = {
		.isa = run->options->isa,
		.m_profile = run->options->m_profile,
		.interworking = has(stream, SIM_FEATURE_MIX),
		.pointer_auth = has(stream, SIM_FEATURE_PAUTH),
		.isb = has(stream, SIM_FEATURE_ISB),
		.wfx = has(stream, SIM_FEATURE_WFX),
		.svc = has(stream, SIM_FEATURE_SVC),
		.transactions = has(stream, SIM_FEATURE_TME),
		.straight = has(stream, SIM_FEATURE_STRAIGHT),
		.tight = has(stream, SIM_FEATURE_TIGHT),
	};

	if (run->options->program) {
		stream->program = *run->options->program;
		return;
	}
	sim_program_random(&stream->program, &options, &run->random);
}

static bool make_handler(struct run *run, struct sim_cpus *cpus)
{
	struct sim_stream *stream = run->stream;
	struct sim_program_options options = { .isa = SIM_A64, .isb = has(stream, SIM_FEATURE_ISB) };

	stream->handler.len = 0;
	if (!has(stream, SIM_FEATURE_EL64))
		return true;
	sim_program_random(&stream->handler, &options, &run->random);
	stream->handler.entry = stream->handler.handlers[0];
	if (!cpus->cpu[SIM_CPU_A64])
		cpus->cpu[SIM_CPU_A64] = sim_cpu_new(SIM_CPU_A64);
	run->handler_cpu = cpus->cpu[SIM_CPU_A64];
	return run->handler_cpu;
}

static void put_garbage(struct run *run)
{
	unsigned int n = sim_random_range(&run->random, 1, 40);

	/* Without zeros, so that no A-Sync arises by chance. */
	while (n--)
		sim_buffer_byte(&run->stream->trace, sim_random_range(&run->random, 1, 255));
}

const char *sim_stream_run(struct sim_stream *stream, const struct sim_stream_options *options, struct sim_cpus *cpus)
{
	struct run run = { .stream = stream, .options = options };
	struct sim_cpu_client client = {
		.ctx = &run,
		.before = before,
		.insn = on_insn,
		.exception = on_exception,
		.exception_return = on_exception_return,
		.reset = on_reset,
		.transaction = on_transaction,
	};
	struct sim_cpu *cpu = get_cpu(cpus, options);
	struct ete_rates rates;
	unsigned int unseen = 0;

	if (!cpu)
		return "cannot open Unicorn";
	sim_random_seed(&run.random, options->seed);
	sim_buffer_clear(&stream->trace);
	sim_buffer_clear(&stream->truth);
	stream->features = choose_features(&run);
	configure(&run);
	choose_rates(&run, &rates);
	choose_base(&run);
	make_program(&run);
	if (!make_handler(&run, cpus))
		return "cannot open Unicorn";
	run.time = sim_random_u64(&run.random) >> sim_random_range(&run.random, 8, 40);
	if (has(stream, SIM_FEATURE_GARBAGE))
		put_garbage(&run);
	if (has(stream, SIM_FEATURE_UNSEEN))
		unseen = sim_random_range(&run.random, 1, stream->config.max_spec_depth);
	run.enc = ete_encoder_new(&stream->config, &rates, sim_random_u64(&run.random), unseen, &stream->trace,
			&stream->truth);
	first_context(&run);
	const char *error = sim_cpu_run(cpu, &stream->program, options->instructions, &client);
	ete_encoder_finish(run.enc);
	stream->insns = ete_encoder_logged(run.enc);
	ete_encoder_free(run.enc);
	return error;
}

void sim_stream_free(struct sim_stream *stream)
{
	sim_buffer_free(&stream->trace);
	sim_buffer_free(&stream->truth);
}
