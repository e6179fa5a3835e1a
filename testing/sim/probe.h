/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The simulated probe without its sockets: time, chain, chip and faults, and what one exchange with the client does. */

#ifndef PROBE_H
#define PROBE_H

#include "cortexm_soc.h"
#include "dap_jtag.h"
#include "dap_swd.h"
#include "jtag_chain.h"
#include "mem_ap.h"
#include "probe_faults.h"
#include "sim_clock.h"
#include "xdm_apb.h"
#include "xdm_tap.h"
#include "xtensa_soc.h"

/** What the command line says. */
struct probe_options {
	const struct xtensa_soc_type *type;
	const struct cortexm_type *cortexm_type;	/* one of the two */
	struct cortexm_soc_options cortexm;
	const char *program[XTENSA_SOC_CORES];
	unsigned int taps;
	uint64_t clock_hz;
	unsigned int tck_khz;		/* 0: as the client sets it */
	uint32_t rtt_us;
	enum sim_pace pace;
	uint64_t seed;
	const char *log_path;
};

/** A copy of all that only grows. */
struct probe_totals {
	uint64_t exchanges, tck, ir_scans, dr_scans, modelled_ps, idle_ps, faults;
	struct {
		struct xdm_counts xdm;
		uint64_t standing;	/* cycles */
		uint64_t retired;
		uint64_t bites;
		double tck_running;
	} core[XTENSA_SOC_CORES];
	struct {
		uint64_t transactions;		/* of SWD */
		uint64_t accesses;		/* on the bus */
		uint64_t reads_at_0;
		uint64_t cycles, retired, halts, resets, packets, standing, late;
	} cortexm;
};

struct probe {
	struct probe_options options;
	struct sim_clock clock;
	struct jtag_chain chain;
	struct xtensa_soc soc;
	struct xdm_tap tap[XTENSA_SOC_CORES];
	struct xdm_apb apb;
	struct mem_ap ap;
	struct dap_jtag dap;
	bool is_cortexm;		/* then there are no Xtensa cores */
	struct cortexm_soc cortexm;
	struct dap_swd swd;
	bool hang_up;			/* a fault: the probe goes away */
	struct probe_faults faults;
	struct probe_totals mark;
	FILE *log;
};

/** @returns NULL or what is wrong (static text). */
const char *probe_init(struct probe *probe, const struct probe_options *options);
void probe_free(struct probe *probe);

/** TCK as the client wants it; a fixed one stays. */
void probe_set_speed(struct probe *probe, unsigned int khz);

/** TRST, or SRST, which resets the cores: an Xtensa core when it gets low, a Cortex-M stands until it is high again. */
void probe_reset_line(struct probe *probe, bool trst, bool low);

/** One exchange: the round trip and all clocks of it. @returns false if the probe has to report an error. */
bool probe_exchange(struct probe *probe, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo, unsigned int bits);
bool probe_exchange_swd(struct probe *probe, const uint8_t *dir, const uint8_t *out, uint8_t *in, unsigned int bits);

/**
 * The same for a wire on which bits come one by one. What the client sends in one go is a burst; if it waits for values
 * that it asked for, that is an exchange, and the round trip passes behind it.
 */
uint64_t probe_burst_begin(struct probe *probe);	/* returns TCK so far, for the end */
void probe_burst_end(struct probe *probe, uint64_t tck_before, bool answered);

/** No client is left. */
void probe_client_gone(struct probe *probe);

/** Let the cores have what the present gap gives them. @returns ms until it is worth calling again, -1: not at all. */
int probe_idle(struct probe *probe);

/** All counters as they are. */
void probe_totals(const struct probe *probe, struct probe_totals *totals);

/** Counters, residency and samples start from zero. @returns false: no memory. */
bool probe_mark(struct probe *probe);

/** Options by text, for all cores, any time. @returns false: not a value of this option. */
bool probe_set_latency(struct probe *probe, const char *text);	/* N or random:N, in TCK */
bool probe_set_debugpc(struct probe *probe, const char *text);	/* on, zero */
bool probe_set_xsr(struct probe *probe, const char *text);	/* swaps, reads, faults */

/** A choice of Cortex-M targets. @returns false: no such choice or value, or no such target. */
bool probe_choose(struct probe *probe, const char *name, const char *text);

#endif
