// SPDX-License-Identifier: GPL-2.0-or-later

#include "sim_clock.h"

#include <string.h>
#include <time.h>

#define GAP_NS		2000000u	/* shorter gaps are the client's computing */
#define SPIN_NS		100000u		/* a sleep ends this early, the rest is spun */

bool sim_clock_pace_find(const char *name, enum sim_pace *pace)
{
	static const char *const names[] = {
		[SIM_PACE_MODEL] = "model",
		[SIM_PACE_REAL] = "real",
		[SIM_PACE_TCK] = "tck",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i])) {
			*pace = i;
			return true;
		}
	}
	return false;
}

uint64_t sim_clock_wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sim_clock_set_tck(struct sim_clock *clock, unsigned int khz)
{
	clock->tck_ps = 1000000000u / khz;
}

void sim_clock_wait(struct sim_clock *clock, uint64_t ps)
{
	clock->now_ps += ps;
	clock->modelled_ps += ps;
}

uint64_t sim_clock_idle(struct sim_clock *clock)
{
	if (!clock->started || clock->pace == SIM_PACE_TCK)
		return 0;
	uint64_t gap_ns = sim_clock_wall_ns() - clock->answered_ns;
	if (gap_ns <= GAP_NS)
		return GAP_NS - gap_ns + 1;
	uint64_t more = gap_ns * 1000 - clock->gap_ps;
	clock->gap_ps += more;
	clock->now_ps += more;
	clock->idle_ps += more;
	return GAP_NS;
}

void sim_clock_arrived(struct sim_clock *clock)
{
	clock->arrived_ns = sim_clock_wall_ns();
	/* what the client took to think is no time of the model: the next answer is due as if it had come at once */
	if (clock->started && clock->arrived_ns - clock->due_ns <= GAP_NS)
		clock->arrived_ns = clock->due_ns;
	sim_clock_idle(clock);
	clock->gap_ps = 0;
}

static void wait_until(uint64_t wall_ns)
{
	uint64_t early = wall_ns - SPIN_NS;
	struct timespec at = { .tv_sec = early / 1000000000u, .tv_nsec = early % 1000000000u };

	if (sim_clock_wall_ns() < early)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	while (sim_clock_wall_ns() < wall_ns)
		;
}

void sim_clock_answer(struct sim_clock *clock, uint64_t ps)
{
	clock->due_ns = clock->arrived_ns + ps / 1000;
	if (clock->pace == SIM_PACE_REAL)
		wait_until(clock->due_ns);
	else
		clock->due_ns = sim_clock_wall_ns();
	clock->answered_ns = sim_clock_wall_ns();
	clock->started = true;
}

void sim_clock_stop(struct sim_clock *clock)
{
	clock->started = false;
	clock->gap_ps = 0;
}
