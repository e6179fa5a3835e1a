// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Legacy: OpenOCD's default way, for comparison: halt, fetch all registers, resume, sleep 10 ms.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>

#include "profile_clock.h"
#include "sampling.h"

#define CHUNK_SAMPLES	4096u	/* at less than 100 samples a second: never full */
#define CHUNK_SECONDS	10u

static int legacy_begin(struct sampling *sampling)
{
	if (sampling->link.core_count > 1) {
		snprintf(sampling->why, sizeof(sampling->why), "it samples one core");
		return ERROR_NOT_IMPLEMENTED;
	}
	if (sampling->options->rate_hz)
		sampling_note(sampling, "legacy has a rate of its own");
	return ERROR_OK;
}

static void legacy_pass(struct sampling *sampling)
{
	uint64_t now_ns = profile_clock_ns();
	uint64_t left_ns = now_ns < sampling->deadline_ns ? sampling->deadline_ns - now_ns : 0;
	uint32_t seconds = (left_ns + 500000000u) / 1000000000u;
	uint32_t count = 0;

	if (!seconds) {
		sampling_wait(sampling, sampling->deadline_ns);
		return;
	}
	if (seconds > CHUNK_SECONDS)
		seconds = CHUNK_SECONDS;

	uint32_t *samples = malloc(CHUNK_SAMPLES * sizeof(*samples));

	if (!samples) {
		sampling_stop(sampling, SAMPLING_LINK, "out of memory");
		return;
	}

	uint64_t begin_ns = profile_clock_ns();
	int retval = target_profiling_default(sampling->target, samples, CHUNK_SAMPLES, &count, seconds);
	uint64_t passed_ns = profile_clock_ns() - begin_ns;

	if (retval != ERROR_OK) {
		sampling_stop(sampling, SAMPLING_LINK, "OpenOCD's default profiling failed");
	} else if (sampling->target->state != TARGET_RUNNING && sampling->target->state != TARGET_HALTED) {
		sampling_stop(sampling, SAMPLING_POWER, "%s is in state '%s'", target_name(sampling->target),
			target_state_name(sampling->target));
	}
	for (uint32_t i = 0; i < count; i++) {
		sampling_count(sampling, 0, samples[i]);
		/* it does not say when; evenly, then */
		sampling_counted(sampling, begin_ns + passed_ns * (i + 1) / count);
	}
	free(samples);
}

/* It leaves the core halted or running, as it happens. */
static void legacy_finish(struct sampling *sampling)
{
	struct target *target = sampling->target;

	if (target_poll(target) == ERROR_OK && target->state == TARGET_HALTED)
		target_resume(target, true, 0, false, false);
}

const struct sampling_method sampling_legacy = {
	.name = "legacy",
	.summary = "OpenOCD's default: halt, fetch all registers, resume, sleep",
	.begin = legacy_begin,
	.pass = legacy_pass,
	.finish = legacy_finish,
};
