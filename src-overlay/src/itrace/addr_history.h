/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The three last addresses of the trace, from which the trace unit sends only what changed.
 *
 * Every address packet is pushed: targets, preferred return addresses, source addresses, Q addresses, exact matches
 * (again), and the zero of a PE Reset or Transaction Failure. Source: DDI 0487 D5 "address compression".
 */

#ifndef OPENOCD_ITRACE_ADDR_HISTORY_H
#define OPENOCD_ITRACE_ADDR_HISTORY_H

#include <stdint.h>

#define ITRACE_ADDR_HISTORY_NUM	3

struct itrace_addr_history {
	uint64_t addr[ITRACE_ADDR_HISTORY_NUM];	/* 0 is the newest */
	uint8_t is[ITRACE_ADDR_HISTORY_NUM];	/* instruction set bit sent with it */
};

/* All entries become address 0, instruction set 0, as at each Trace Info. */
static inline void itrace_addr_history_reset(struct itrace_addr_history *history)
{
	for (unsigned int i = 0; i < ITRACE_ADDR_HISTORY_NUM; i++) {
		history->addr[i] = 0;
		history->is[i] = 0;
	}
}

static inline void itrace_addr_history_push(struct itrace_addr_history *history, uint64_t addr, uint8_t is)
{
	history->addr[2] = history->addr[1];
	history->addr[1] = history->addr[0];
	history->addr[0] = addr;
	history->is[2] = history->is[1];
	history->is[1] = history->is[0];
	history->is[0] = is;
}

/*
 * The address that @a low (its @a bits low bits were sent, 8 .. 64) stands for; pushes it.
 */
static inline uint64_t itrace_addr_history_update(struct itrace_addr_history *history, uint64_t low, unsigned int bits,
		uint8_t is)
{
	if (bits < 64) {
		uint64_t mask = ((uint64_t)1 << bits) - 1;
		low = (history->addr[0] & ~mask) | (low & mask);
	}
	itrace_addr_history_push(history, low, is);
	return low;
}

#endif /* OPENOCD_ITRACE_ADDR_HISTORY_H */
