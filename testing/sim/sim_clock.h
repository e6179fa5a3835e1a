/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Time of a simulated probe and its target.
 *
 * Modelled time is TCK periods and one round trip for each exchange. The cores' time is that plus idle time: whenever
 * the client lets more than 2 ms of wall time pass between two exchanges, the cores run on by the real gap (but for the
 * pace tck). Shorter gaps are the client's own computing and count for nothing. Units are picoseconds, so that any TCK
 * has a whole number of them.
 */

#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum sim_pace {
	SIM_PACE_MODEL,		/* nobody waits */
	SIM_PACE_REAL,		/* an exchange lasts as long as the model says */
	SIM_PACE_TCK,		/* nobody waits, and no gap counts, however long */
};

struct sim_clock {
	enum sim_pace pace;
	uint64_t now_ps;	/* the cores' time */
	uint64_t modelled_ps;
	uint64_t idle_ps;
	uint64_t tck;		/* clocks so far */
	uint64_t tck_ps;	/* period */
	uint64_t rtt_ps;	/* round trip of an exchange */
	uint64_t exchanges;
	bool started;		/* an exchange was answered and the client is still there: gaps count */
	uint64_t arrived_ns;	/* wall time of the exchange in work */
	uint64_t answered_ns;	/* wall time of the last answer */
	uint64_t due_ns;	/* when that was to be given */
	uint64_t gap_ps;	/* of the present gap: given to the cores already */
};

/** The pace called @a name. @returns false: there is none, @a pace is as before. */
bool sim_clock_pace_find(const char *name, enum sim_pace *pace);

/** Wall clock in nanoseconds, monotonic. */
uint64_t sim_clock_wall_ns(void);

/** TCK in kHz; 0 is not asked for. */
void sim_clock_set_tck(struct sim_clock *clock, unsigned int khz);

/** @a n TCK periods pass. */
static inline void sim_clock_tck(struct sim_clock *clock, uint64_t n)
{
	clock->tck += n;
	clock->now_ps += n * clock->tck_ps;
	clock->modelled_ps += n * clock->tck_ps;
}

/** Modelled time other than TCK passes. */
void sim_clock_wait(struct sim_clock *clock, uint64_t ps);

/**
 * Give the cores what the present gap between exchanges has to give by now.
 * @returns how long in ns until it is worth asking again, 0 if gaps do not count at present.
 */
uint64_t sim_clock_idle(struct sim_clock *clock);

/** An exchange has come: its wall time is noted, and the gap before it ends. */
void sim_clock_arrived(struct sim_clock *clock);

/** An exchange is done that took @a ps of modelled time: wait for its time in real pace, then a gap begins. */
void sim_clock_answer(struct sim_clock *clock, uint64_t ps);

/** No client: gaps do not count. */
void sim_clock_stop(struct sim_clock *clock);

/** Cycles that a clock of @a hz has done at @a ps. */
static inline uint64_t sim_clock_cycles(uint64_t ps, uint64_t hz)
{
	uint64_t ns = ps / 1000;

	return ns / 1000000000u * hz + ns % 1000000000u * hz / 1000000000u;
}

#endif
