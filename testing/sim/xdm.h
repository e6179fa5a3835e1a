/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The Xtensa debug module of one core: its registers with exactly the side effects that accesses have, what stops
 * the core (the host, the break network), and the power and reset controls. It knows neither JTAG nor APB: xdm_tap.h
 * and xdm_apb.h are its two faces. Registers are named by their NAR number.
 */

#ifndef XDM_H
#define XDM_H

#include "pc_counts.h"
#include "sim_buffer.h"
#include "xtensa_cpu.h"

#include <stdio.h>

enum xdm_nar {
	XDM_DEBUGPC = 0x0f,
	XDM_OCDID = 0x40,
	XDM_DCRCLR = 0x42,
	XDM_DCRSET = 0x43,
	XDM_DSR = 0x44,
	XDM_DDR = 0x45,
	XDM_DDREXEC = 0x46,
	XDM_DIR0EXEC = 0x47,
	XDM_DIR0 = 0x48,	/* ... DIR7 = 0x4f */
	XDM_NAR_COUNT = 0x80,
	/* Not behind the NAR; numbers for the log. */
	XDM_PWRCTL = 0x80,
	XDM_PWRSTAT = 0x81,
};

#define XDM_DCR_ENABLE_OCD		(1u << 0)
#define XDM_DCR_DEBUG_INTERRUPT		(1u << 1)
#define XDM_DCR_ALL_CONDITIONS		(1u << 2)
#define XDM_DCR_BREAK_IN_EN		(1u << 16)
#define XDM_DCR_BREAK_OUT_EN		(1u << 17)
#define XDM_DCR_RUN_STALL_IN_EN		(1u << 21)
#define XDM_DCR_DEBUG_MODE_OUT_EN	(1u << 22)

#define XDM_DSR_EXEC_DONE		(1u << 0)
#define XDM_DSR_EXEC_EXCEPTION		(1u << 1)
#define XDM_DSR_EXEC_BUSY		(1u << 2)
#define XDM_DSR_EXEC_OVERRUN		(1u << 3)
#define XDM_DSR_STOPPED			(1u << 4)
#define XDM_DSR_CORE_WROTE_DDR		(1u << 10)
#define XDM_DSR_CORE_READ_DDR		(1u << 11)
#define XDM_DSR_HOST_WROTE_DDR		(1u << 14)
#define XDM_DSR_HOST_READ_DDR		(1u << 15)
#define XDM_DSR_PEND_BREAK		(1u << 16)
#define XDM_DSR_PEND_HOST		(1u << 17)
#define XDM_DSR_INT_BREAK		(1u << 20)
#define XDM_DSR_INT_HOST		(1u << 21)
#define XDM_DSR_RUN_STALL_TOGGLE	(1u << 23)
#define XDM_DSR_RUN_STALL_SAMPLE	(1u << 24)
#define XDM_DSR_POWER_ON		(1u << 31)

/* Power control and status, as the JTAG face has them. */
#define XDM_PWRCTL_JTAG_DEBUG_USE	(1u << 7)
#define XDM_PWRCTL_DEBUG_RESET		(1u << 6)
#define XDM_PWRCTL_CORE_RESET		(1u << 4)
#define XDM_PWRSTAT_DEBUG_WAS_RESET	(1u << 6)
#define XDM_PWRSTAT_CORE_WAS_RESET	(1u << 4)
#define XDM_PWRSTAT_ON			0x0fu	/* core still needed; debug, memory and core domain on */

/* How an access went: what a NAR scan captures as the status of the last one. */
#define XDM_STATUS_ERROR		(1u << 0)
#define XDM_STATUS_BUSY			(1u << 1)

/* All only grow; who wants a difference keeps a copy. */
struct xdm_counts {
	uint64_t debugpc_reads;
	uint64_t dir_exec;		/* requests to execute, the ignored ones too */
	uint64_t exec_ignored;
	uint64_t dcrset_halts;
	uint64_t rfdo;
	uint64_t stops;
	uint64_t pc_samples;
};

/** What the module needs from the chip around it. */
struct xdm_host {
	void *ctx;
	/** Let all cores run up to now. Called before anything is looked at. */
	void (*sync)(void *ctx);
	/** The core's cycle @a tck clocks from now. */
	uint64_t (*cycle_in)(void *ctx, uint32_t tck);
	/** Modelled time. */
	uint64_t (*now_ns)(void *ctx);
	/** Something changed that concerns other cores: a stop, a resume, DCR, a reset. */
	void (*changed)(void *ctx);
	/** Reset the core. */
	void (*reset)(void *ctx);
	/** The debugger wrote memory through this core. */
	void (*stored)(void *ctx, uint32_t addr, uint32_t len);
	/** An access is complete. */
	void (*accessed)(void *ctx);
};

struct xdm {
	struct xdm_host host;
	struct xtensa_cpu *cpu;
	unsigned int number;		/* of the core */

	/* Options, any time. */
	bool debugpc_zero;
	uint32_t halt_latency_tck;
	bool halt_latency_random;	/* uniform from 0 to halt_latency_tck */
	struct sim_random random;
	FILE *log;

	/* Registers. */
	uint32_t dcr;
	uint32_t dsr;			/* the bits that are kept; see dsr_read() for the others */
	uint32_t dir[8];
	uint32_t store[XDM_NAR_COUNT];	/* TRAX and performance counters: plain storage */
	uint32_t pwrctl;
	uint32_t was_reset;		/* of PWRSTAT */

	/* State. */
	bool powered;
	uint64_t power_on_ns;		/* when the power comes back */
	bool held;			/* in reset */
	uint64_t host_stop_at;		/* cycle from which a pending request of the host counts */
	uint64_t break_at;		/* the same for the break network */
	uint64_t busy_until;		/* cycle */
	bool entered;			/* OCD mode, since the owner cleared it: the break network has to know */
	uint64_t stop_cycle;		/* of the last entry */
	uint32_t last_pc;		/* of the last entry */
	uint32_t now_pc;		/* of the instruction in work when the core was run last */

	/* Faults. */
	bool deaf;			/* takes no debug interrupt */
	unsigned int failing;		/* so many injections will fault */

	struct xdm_counts counts;
	uint64_t longest;		/* cycles of the longest stop that is over */
	struct pc_counts samples;	/* handed to the host */
};

void xdm_init(struct xdm *xdm, unsigned int number, struct xtensa_cpu *cpu, const struct xdm_host *host);
void xdm_free(struct xdm *xdm);

/** Run the core up to a cycle, with all that the debug module may do to it on the way. */
void xdm_run(struct xdm *xdm, uint64_t until);

/** A peer with BreakOut has stopped at @a cycle. */
void xdm_break_in(struct xdm *xdm, uint64_t cycle);

/** Level of the run stall input. */
void xdm_run_stall(struct xdm *xdm, bool stall);

/** The core has stopped by itself, or was stopped from outside: note it. */
void xdm_entered(struct xdm *xdm);

/** Read and write a register. @returns XDM_STATUS_ bits. */
uint32_t xdm_read(struct xdm *xdm, unsigned int nar, uint32_t *value);
uint32_t xdm_write(struct xdm *xdm, unsigned int nar, uint32_t value);

/** Is an instruction still being executed, for the status of an access? */
uint32_t xdm_busy(struct xdm *xdm);

/** Power registers in the JTAG face's layout. Ones clear the status. */
uint32_t xdm_pwrctl_read(struct xdm *xdm);
void xdm_pwrctl_write(struct xdm *xdm, uint32_t value);
uint32_t xdm_pwrstat_read(struct xdm *xdm);
void xdm_pwrstat_clear(struct xdm *xdm, uint32_t bits);

/** DSR without the effects of reading it. */
uint32_t xdm_dsr(const struct xdm *xdm);

/** The core is reset for one moment. */
void xdm_core_reset(struct xdm *xdm);

/** The module loses its registers. */
void xdm_debug_reset(struct xdm *xdm);

/** The module has no power until @a on_ns. */
void xdm_power_off(struct xdm *xdm, uint64_t on_ns);

/** Cycles of the longest stop, the present one included. */
uint64_t xdm_longest_stop(const struct xdm *xdm);

#endif
