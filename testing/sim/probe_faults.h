/* SPDX-License-Identifier: GPL-2.0-or-later */

/* One fault, armed by the control socket: what happens, and when. It fires once. */

#ifndef PROBE_FAULTS_H
#define PROBE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct probe;

enum probe_fault_kind {
	PROBE_FAULT_NONE,
	PROBE_FAULT_CORE_RESET,
	PROBE_FAULT_DEBUG_RESET,
	PROBE_FAULT_POWER_OFF,		/* argument: us until it comes back, 0: never */
	PROBE_FAULT_EXCEPTION,
	PROBE_FAULT_ERROR_DONE,		/* the exchange is carried out, the reply says it was not */
	PROBE_FAULT_ERROR_LOST,		/* it is not carried out */
	PROBE_FAULT_STUCK,
	PROBE_FAULT_BREAK,		/* argument: core */
	/* Cortex-M targets only */
	PROBE_FAULT_DISCONNECT,		/* the probe goes away in the exchange */
	PROBE_FAULT_SWD_WAIT,
	PROBE_FAULT_SWD_FAULT,
	PROBE_FAULT_SWD_PARITY,
	PROBE_FAULT_BUS_ERROR,		/* the next access behind the port */
	PROBE_FAULT_SLEEP,		/* argument: us in which nothing behind the port can be reached, 0: for ever */
};

enum probe_fault_when {
	PROBE_WHEN_EXCHANGES,
	PROBE_WHEN_US,			/* of modelled time */
	PROBE_WHEN_SAMPLES,		/* PCs read from core 0 */
	PROBE_WHEN_TRANSACTIONS,	/* of SWD */
	PROBE_WHEN_ACCESSES,		/* on the bus behind the port */
	PROBE_WHEN_INSTRUCTIONS,
};

struct probe_faults {
	enum probe_fault_kind kind;
	enum probe_fault_when when;
	uint64_t at;			/* value of what is counted */
	uint32_t argument;
	uint64_t fired;
};

/** By name; PROBE_FAULT_NONE: no such kind. */
enum probe_fault_kind probe_fault_kind_find(const char *name);

/** Does the target have such a fault? */
bool probe_fault_fits(const struct probe *probe, enum probe_fault_kind kind);

/** Does the probe itself fail? */
bool probe_fault_is_error(enum probe_fault_kind kind);

/** By name. @returns false: no such thing is counted. */
bool probe_fault_when_find(const char *name, enum probe_fault_when *when);

/** Arm: @a n from now. */
void probe_faults_arm(struct probe *probe, enum probe_fault_kind kind, uint32_t argument, enum probe_fault_when when,
	uint64_t n);

/** Disarm, and end the faults that last: stuck, exceptions, no power. */
void probe_faults_none(struct probe *probe);

/** Something was counted: fire if the time has come. */
void probe_faults_check(struct probe_faults *faults, struct probe *probe);

/** An exchange begins. @returns what is wrong with it. */
enum probe_fault_kind probe_faults_exchange(struct probe_faults *faults, struct probe *probe);

#endif
