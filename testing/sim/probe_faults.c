// SPDX-License-Identifier: GPL-2.0-or-later

#include "probe_faults.h"

#include "probe.h"

#include <string.h>

#define FAILING_INJECTIONS	5u

static const struct {
	const char *name;
	enum probe_fault_kind kind;
} kinds[] = {
	{ "core-reset", PROBE_FAULT_CORE_RESET },
	{ "debug-reset", PROBE_FAULT_DEBUG_RESET },
	{ "power-off", PROBE_FAULT_POWER_OFF },
	{ "exception", PROBE_FAULT_EXCEPTION },
	{ "probe-error-done", PROBE_FAULT_ERROR_DONE },
	{ "probe-error-lost", PROBE_FAULT_ERROR_LOST },
	{ "stuck-running", PROBE_FAULT_STUCK },
	{ "break", PROBE_FAULT_BREAK },
	{ "disconnect", PROBE_FAULT_DISCONNECT },
	{ "swd-wait", PROBE_FAULT_SWD_WAIT },
	{ "swd-fault", PROBE_FAULT_SWD_FAULT },
	{ "swd-parity", PROBE_FAULT_SWD_PARITY },
	{ "bus-error", PROBE_FAULT_BUS_ERROR },
	{ "sleep", PROBE_FAULT_SLEEP },
};

static const char *const whens[] = {
	[PROBE_WHEN_EXCHANGES] = "exchanges",
	[PROBE_WHEN_US] = "us",
	[PROBE_WHEN_SAMPLES] = "samples",
	[PROBE_WHEN_TRANSACTIONS] = "transactions",
	[PROBE_WHEN_ACCESSES] = "accesses",
	[PROBE_WHEN_INSTRUCTIONS] = "instructions",
};

enum probe_fault_kind probe_fault_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, name))
			return kinds[i].kind;
	}
	return PROBE_FAULT_NONE;
}

bool probe_fault_when_find(const char *name, enum probe_fault_when *when)
{
	for (size_t i = 0; i < sizeof(whens) / sizeof(whens[0]); i++) {
		if (!strcmp(whens[i], name)) {
			*when = i;
			return true;
		}
	}
	return false;
}

static uint64_t counted(const struct probe *probe, enum probe_fault_when when)
{
	const struct xdm_counts *counts = &probe->soc.core[0].xdm.counts;

	switch (when) {
	case PROBE_WHEN_EXCHANGES:
		return probe->clock.exchanges;
	case PROBE_WHEN_US:
		return probe->clock.modelled_ps / 1000000;
	case PROBE_WHEN_SAMPLES:
		return counts->debugpc_reads + counts->pc_samples;
	case PROBE_WHEN_TRANSACTIONS:
		return probe->swd.transactions;
	case PROBE_WHEN_ACCESSES:
		return probe->cortexm.accesses;
	case PROBE_WHEN_INSTRUCTIONS:
		return probe->cortexm.core.retired;
	}
	return 0;
}

void probe_faults_arm(struct probe *probe, enum probe_fault_kind kind, uint32_t argument, enum probe_fault_when when,
	uint64_t n)
{
	probe->faults = (struct probe_faults){
		.kind = kind,
		.argument = argument,
		.when = when,
		.at = counted(probe, when) + n,
	};
	probe_faults_check(&probe->faults, probe);
}

void probe_faults_none(struct probe *probe)
{
	probe->faults = (struct probe_faults){ 0 };
	probe->swd.injection = DAP_SWD_GOOD;
	probe->cortexm.dark_until_ps = 0;
	probe->cortexm.bus_error = false;
	for (unsigned int i = 0; i < probe->soc.cores; i++) {
		struct xdm *xdm = &probe->soc.core[i].xdm;
		xdm->deaf = false;
		xdm->failing = 0;
		if (!xdm->powered)
			xdm->power_on_ns = 0;
	}
}

static uint64_t power_on_ns(const struct probe *probe, uint32_t us)
{
	return us ? probe->clock.modelled_ps / 1000 + us * 1000ull : UINT64_MAX;
}

static void fire_at_core(struct probe *probe, enum probe_fault_kind kind, uint32_t argument, struct xdm *xdm)
{
	switch (kind) {
	case PROBE_FAULT_CORE_RESET:
		probe->soc.resets++;
		xdm_core_reset(xdm);
		break;
	case PROBE_FAULT_DEBUG_RESET:
		xdm_debug_reset(xdm);
		break;
	case PROBE_FAULT_POWER_OFF:
		xdm_power_off(xdm, power_on_ns(probe, argument));
		break;
	case PROBE_FAULT_EXCEPTION:
		xdm->failing = FAILING_INJECTIONS;
		break;
	case PROBE_FAULT_STUCK:
		xdm->deaf = true;
		break;
	default:
		break;
	}
}

static void fire_at_cortexm(struct probe *probe, enum probe_fault_kind kind, uint32_t argument)
{
	static const enum dap_swd_injection injections[] = {
		[PROBE_FAULT_SWD_WAIT] = DAP_SWD_WAIT,
		[PROBE_FAULT_SWD_FAULT] = DAP_SWD_FAULT,
		[PROBE_FAULT_SWD_PARITY] = DAP_SWD_PARITY,
	};

	switch (kind) {
	case PROBE_FAULT_CORE_RESET:
		cortexm_reset(&probe->cortexm.core);
		break;
	case PROBE_FAULT_DISCONNECT:
		probe->hang_up = true;
		break;
	case PROBE_FAULT_SWD_WAIT:
	case PROBE_FAULT_SWD_FAULT:
	case PROBE_FAULT_SWD_PARITY:
		probe->swd.injection = injections[kind];
		break;
	case PROBE_FAULT_BUS_ERROR:
		probe->cortexm.bus_error = true;
		break;
	case PROBE_FAULT_SLEEP:
		probe->cortexm.dark_until_ps = argument ? probe->clock.now_ps + argument * 1000000ull : UINT64_MAX;
		break;
	default:
		break;
	}
}

bool probe_fault_fits(const struct probe *probe, enum probe_fault_kind kind)
{
	if (kind == PROBE_FAULT_CORE_RESET || probe_fault_is_error(kind))
		return true;
	return probe->is_cortexm == (kind >= PROBE_FAULT_DISCONNECT);
}

/* All that concerns the chip hits all cores: they share clock, power and reset. */
static void fire(struct probe *probe, enum probe_fault_kind kind, uint32_t argument)
{
	if (kind == PROBE_FAULT_BREAK) {
		xtensa_soc_break(&probe->soc, argument);
		return;
	}
	if (probe->is_cortexm)
		fire_at_cortexm(probe, kind, argument);
	for (unsigned int i = 0; i < probe->soc.cores; i++)
		fire_at_core(probe, kind, argument, &probe->soc.core[i].xdm);
}

bool probe_fault_is_error(enum probe_fault_kind kind)
{
	return kind == PROBE_FAULT_ERROR_DONE || kind == PROBE_FAULT_ERROR_LOST;
}

void probe_faults_check(struct probe_faults *faults, struct probe *probe)
{
	enum probe_fault_kind kind = faults->kind;

	if (kind == PROBE_FAULT_NONE || probe_fault_is_error(kind) || faults->when == PROBE_WHEN_EXCHANGES ||
			counted(probe, faults->when) < faults->at)
		return;
	faults->kind = PROBE_FAULT_NONE;
	faults->fired++;
	fire(probe, kind, faults->argument);
}

/* The exchange that begins is not counted yet. */
enum probe_fault_kind probe_faults_exchange(struct probe_faults *faults, struct probe *probe)
{
	enum probe_fault_kind kind = faults->kind;

	if (kind == PROBE_FAULT_NONE ||
			counted(probe, faults->when) + (faults->when == PROBE_WHEN_EXCHANGES) < faults->at)
		return PROBE_FAULT_NONE;
	faults->kind = PROBE_FAULT_NONE;
	faults->fired++;
	if (probe_fault_is_error(kind))
		return kind;
	fire(probe, kind, faults->argument);
	return PROBE_FAULT_NONE;
}
