// SPDX-License-Identifier: GPL-2.0-or-later

#include "probe.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_KHZ		100u	/* until a client sets it */
#define APB_AP_IDR		0x44770002u
#define JTAG_DP_IDCODE		0x4ba00477u
#define DAP_IR_LEN		4u
#define IDLE_STEP_MS		1

static void accessed(void *ctx)
{
	struct probe *probe = ctx;

	probe_faults_check(&probe->faults, probe);
}

static void make_cortexm_chain(struct probe *probe)
{
	probe->chain.clock = &probe->clock;
	dap_jtag_init(&probe->dap, JTAG_DP_IDCODE);
	probe->dap.ap[0] = &probe->cortexm.ap;
	jtag_chain_add(&probe->chain, &dap_jtag_ops, &probe->dap, DAP_IR_LEN);
	jtag_chain_reset(&probe->chain);
	dap_swd_init(&probe->swd, probe->cortexm.type.dpidr, &probe->clock);
	probe->swd.ap[0] = &probe->cortexm.ap;
	probe->swd.begins = accessed;
	probe->swd.ctx = probe;
	probe->cortexm.accessed = accessed;
	probe->cortexm.accessed_ctx = probe;
}

static void make_chain(struct probe *probe)
{
	const struct xtensa_soc_type *type = probe->options.type;

	probe->chain.clock = &probe->clock;
	if (type->dap) {
		xdm_apb_init(&probe->apb, &probe->soc.core[0].xdm);
		mem_ap_init(&probe->ap, APB_AP_IDR, &xdm_apb_bus, &probe->apb);
		dap_jtag_init(&probe->dap, type->idcode);
		probe->dap.ap[0] = &probe->ap;
		jtag_chain_add(&probe->chain, &dap_jtag_ops, &probe->dap, DAP_IR_LEN);
	}
	for (unsigned int i = 0; !type->dap && i < probe->soc.cores; i++) {
		probe->tap[i] = (struct xdm_tap){ .xdm = &probe->soc.core[i].xdm, .idcode = type->idcode };
		jtag_chain_add(&probe->chain, &xdm_tap_ops, &probe->tap[i], XDM_TAP_IR_LEN);
	}
	jtag_chain_reset(&probe->chain);
}

static const char *init_cortexm(struct probe *probe, const struct probe_options *options)
{
	probe->is_cortexm = true;
	const char *error = cortexm_soc_init(&probe->cortexm, options->cortexm_type, &options->cortexm,
		options->program[0]);
	if (error)
		return error;
	cortexm_soc_start(&probe->cortexm, &probe->clock, options->clock_hz);
	make_cortexm_chain(probe);
	probe_totals(probe, &probe->mark);
	return NULL;
}

const char *probe_init(struct probe *probe, const struct probe_options *options)
{
	probe->options = *options;
	probe->clock = (struct sim_clock){ .pace = options->pace, .rtt_ps = options->rtt_us * 1000000ull };
	sim_clock_set_tck(&probe->clock, options->tck_khz ? options->tck_khz : DEFAULT_KHZ);
	if (options->cortexm_type)
		return init_cortexm(probe, options);
	const char *error = xtensa_soc_init(&probe->soc, options->type, options->taps, &probe->clock, options->clock_hz,
		options->program);
	if (error)
		return error;
	if (options->log_path) {
		probe->log = fopen(options->log_path, "w");
		if (!probe->log)
			return "cannot write the log";
	}
	probe->soc.accessed = accessed;
	probe->soc.accessed_ctx = probe;
	for (unsigned int i = 0; i < probe->soc.cores; i++) {
		probe->soc.core[i].xdm.log = probe->log;
		sim_random_seed(&probe->soc.core[i].xdm.random, options->seed + i);
	}
	make_chain(probe);
	return probe_mark(probe) ? NULL : "no code in the program, or no memory";
}

void probe_free(struct probe *probe)
{
	if (probe->is_cortexm)
		cortexm_soc_free(&probe->cortexm);
	else
		xtensa_soc_free(&probe->soc);
	if (probe->log)
		fclose(probe->log);
}

void probe_set_speed(struct probe *probe, unsigned int khz)
{
	if (!probe->options.tck_khz)
		sim_clock_set_tck(&probe->clock, khz);
}

void probe_reset_line(struct probe *probe, bool trst, bool low)
{
	if (trst) {
		jtag_chain_reset(&probe->chain);
		return;
	}
	if (probe->is_cortexm)
		cortexm_soc_reset_pin(&probe->cortexm, low);
	for (unsigned int i = 0; low && i < probe->soc.cores; i++) {
		probe->soc.resets++;
		xdm_core_reset(&probe->soc.core[i].xdm);
	}
}

static void run_cores(struct probe *probe, bool in_tck)
{
	if (probe->is_cortexm)
		cortexm_soc_sync(&probe->cortexm);
	else
		xtensa_soc_sync(&probe->soc, in_tck);
}

static void wait_ps(struct probe *probe, uint64_t ps)
{
	sim_clock_wait(&probe->clock, ps);
	run_cores(probe, false);
}

static void arrived(struct probe *probe)
{
	sim_clock_arrived(&probe->clock);
	run_cores(probe, false);
	probe_faults_check(&probe->faults, probe);
}

/* All clocks are done; @a after_ps of the round trip is behind them. */
static void answer(struct probe *probe, uint64_t tck_before, uint64_t after_ps, uint64_t round_trip_ps)
{
	run_cores(probe, true);
	wait_ps(probe, after_ps);
	probe_faults_check(&probe->faults, probe);
	sim_clock_answer(&probe->clock, round_trip_ps + (probe->clock.tck - tck_before) * probe->clock.tck_ps);
}

/* Bits on one of the two wires. */
static bool exchange(struct probe *probe, bool swd, const uint8_t *first, const uint8_t *second, uint8_t *out,
	unsigned int bits)
{
	uint64_t rtt_ps = probe->clock.rtt_ps;
	uint64_t tck_before = probe->clock.tck;

	arrived(probe);
	enum probe_fault_kind kind = probe_faults_exchange(&probe->faults, probe);
	wait_ps(probe, rtt_ps / 2);
	if (kind == PROBE_FAULT_ERROR_LOST)
		memset(out, 0, (bits + 7) / 8);
	else if (swd)
		dap_swd_io(&probe->swd, first, second, out, bits);
	else
		jtag_chain_io(&probe->chain, first, second, out, bits);
	probe->clock.exchanges++;
	answer(probe, tck_before, rtt_ps - rtt_ps / 2, rtt_ps);
	return kind == PROBE_FAULT_NONE;
}

bool probe_exchange(struct probe *probe, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo, unsigned int bits)
{
	return exchange(probe, false, tms, tdi, tdo, bits);
}

bool probe_exchange_swd(struct probe *probe, const uint8_t *dir, const uint8_t *out, uint8_t *in, unsigned int bits)
{
	return exchange(probe, true, dir, out, in, bits);
}

uint64_t probe_burst_begin(struct probe *probe)
{
	arrived(probe);
	probe_faults_exchange(&probe->faults, probe);
	return probe->clock.tck;
}

void probe_burst_end(struct probe *probe, uint64_t tck_before, bool answered)
{
	uint64_t rtt_ps = answered ? probe->clock.rtt_ps : 0;

	probe->clock.exchanges += answered;
	answer(probe, tck_before, rtt_ps, rtt_ps);
}

void probe_client_gone(struct probe *probe)
{
	sim_clock_stop(&probe->clock);
}

int probe_idle(struct probe *probe)
{
	uint64_t ns = sim_clock_idle(&probe->clock);

	run_cores(probe, false);
	return ns ? IDLE_STEP_MS : -1;
}

static void cortexm_totals(const struct probe *probe, struct probe_totals *totals)
{
	const struct cortexm_soc *soc = &probe->cortexm;

	totals->cortexm.transactions = probe->swd.transactions;
	totals->cortexm.accesses = soc->accesses;
	totals->cortexm.reads_at_0 = soc->reads_at_0;
	totals->cortexm.cycles = soc->core.cycle;
	totals->cortexm.retired = soc->core.retired;
	totals->cortexm.halts = soc->core.debug.halts;
	totals->cortexm.resets = soc->core.resets;
	totals->cortexm.packets = soc->core.mtb.packets;
	totals->cortexm.standing = soc->standing;
	totals->cortexm.late = soc->late;
}

void probe_totals(const struct probe *probe, struct probe_totals *totals)
{
	*totals = (struct probe_totals){
		.exchanges = probe->clock.exchanges,
		.tck = probe->clock.tck,
		.ir_scans = probe->chain.ir_scans,
		.dr_scans = probe->chain.dr_scans,
		.modelled_ps = probe->clock.modelled_ps,
		.idle_ps = probe->clock.idle_ps,
		.faults = probe->faults.fired,
	};
	for (unsigned int i = 0; i < probe->soc.cores; i++) {
		const struct xtensa_soc_core *core = &probe->soc.core[i];
		totals->core[i].xdm = core->xdm.counts;
		totals->core[i].standing = core->cpu.standing;
		totals->core[i].retired = core->cpu.retired;
		totals->core[i].bites = core->bites;
		totals->core[i].tck_running = core->tck_running;
	}
	if (probe->is_cortexm)
		cortexm_totals(probe, totals);
}

bool probe_mark(struct probe *probe)
{
	probe_totals(probe, &probe->mark);
	for (unsigned int i = 0; i < probe->soc.cores; i++) {
		struct xdm *xdm = &probe->soc.core[i].xdm;
		xdm->longest = 0;
		pc_counts_free(&xdm->samples);
	}
	return probe->is_cortexm || xtensa_soc_record(&probe->soc);
}

bool probe_set_latency(struct probe *probe, const char *text)
{
	bool random = !strncmp(text, "random:", 7);
	char *end;
	unsigned long tck = strtoul(random ? text + 7 : text, &end, 10);

	if (end == text || *end)
		return false;
	for (unsigned int i = 0; i < probe->soc.cores; i++) {
		probe->soc.core[i].xdm.halt_latency_tck = tck;
		probe->soc.core[i].xdm.halt_latency_random = random;
	}
	return true;
}

bool probe_set_debugpc(struct probe *probe, const char *text)
{
	if (strcmp(text, "on") && strcmp(text, "zero"))
		return false;
	for (unsigned int i = 0; i < probe->soc.cores; i++)
		probe->soc.core[i].xdm.debugpc_zero = !strcmp(text, "zero");
	return true;
}

bool probe_set_xsr(struct probe *probe, const char *text)
{
	static const char *const names[] = {
		[XTENSA_XSR_SWAPS] = "swaps",
		[XTENSA_XSR_READS_ONLY] = "reads",
		[XTENSA_XSR_FAULTS] = "faults",
	};
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]))
			continue;
		found = true;
		for (unsigned int n = 0; n < probe->soc.cores; n++)
			probe->soc.core[n].cpu.config.xsr_ddr = i;
	}
	return found;
}

bool probe_choose(struct probe *probe, const char *name, const char *text)
{
	return probe->is_cortexm && cortexm_soc_choose(&probe->cortexm.core.choices, name, text);
}
