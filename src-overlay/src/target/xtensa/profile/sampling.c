// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <helper/log.h>
#include <server/server.h>
#include <target/smp.h>
#include <target/target.h>

#include "profile_clock.h"
#include "sampling.h"

#define BREAK_NETWORK	(OCDDCR_BREAKINEN | OCDDCR_BREAKOUTEN | OCDDCR_RUNSTALLINEN | OCDDCR_DEBUGMODEOUTEN)

#define PROGRESS_NS	UINT64_C(10000000000)
#define WAIT_SLICE_MS	50
#define GROUP_LOOK_NS	UINT64_C(500000000)	/* between two looks at the cores that are not sampled */
#define RESTORE_TRIES	3u
#define SHORTEST_TCK	500u	/* mean run window of a duty of 0: all of it is jitter */

static const struct sampling_method *const sampling_methods[] = {
	&sampling_debugpc, &sampling_pipeline, &sampling_wsr, &sampling_batch, &sampling_legacy,
};

/* What 'auto' tries, in this order; the last one works on cores that no other knows. */
static const struct sampling_method *const sampling_safe_methods[] = {
	&sampling_debugpc, &sampling_pipeline, &sampling_wsr, &sampling_legacy,
};

const struct sampling_method *sampling_method_find(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(sampling_methods); i++) {
		if (!strcmp(sampling_methods[i]->name, name))
			return sampling_methods[i];
	}
	return NULL;
}

void sampling_stop(struct sampling *sampling, enum sampling_end end, const char *why, ...)
{
	va_list args;

	if (sampling->end != SAMPLING_GOES_ON)
		return;
	sampling->end = end;
	va_start(args, why);
	vsnprintf(sampling->why, sizeof(sampling->why), why, args);
	va_end(args);
}

/* One line more in @a lines, of SAMPLING_TEXT_SIZE; what does not fit is cut. */
static void sampling_add_line(char *lines, const char *text, va_list args)
{
	size_t len = strlen(lines);

	if (len && len + 1 < SAMPLING_TEXT_SIZE)
		lines[len++] = '\n';
	vsnprintf(lines + len, SAMPLING_TEXT_SIZE - len, text, args);
}

void sampling_note(struct sampling *sampling, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	sampling_add_line(sampling->notes, text, args);
	va_end(args);
}

void sampling_warn(struct sampling *sampling, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	sampling_add_line(sampling->warnings, text, args);
	va_end(args);
}

void sampling_count(struct sampling *sampling, unsigned int core, uint32_t pc)
{
	const struct sampling_options *options = sampling->options;

	if (options->has_range && (pc < options->range_start || pc >= options->range_end)) {
		sampling->outside_count++;
		return;
	}
	itrace_pc_histogram_add(&sampling->histograms[core], pc, 1);
}

bool sampling_lost_exchange(struct sampling *sampling, unsigned int read)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		/* the domains of a core that answers are on: 0 is what was never read */
		if (xdm_link_value(&sampling->link, read, i))
			continue;
		sampling_stop(sampling, SAMPLING_LINK, "the adapter lost an exchange (PWRSTAT of %s reads 0)",
			target_name(sampling->link.cores[i].target));
		return true;
	}
	return false;
}

bool sampling_was_reset(struct sampling *sampling, unsigned int read)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		uint32_t pwrstat = xdm_link_value(&sampling->link, read, i);

		if (pwrstat & sampling->reset_mask[i]) {
			sampling_stop(sampling, SAMPLING_RESET, "%s was reset (PWRSTAT 0x%02" PRIx32 ")",
				target_name(sampling->link.cores[i].target), pwrstat);
			return true;
		}
	}
	return false;
}

/* Serve clients, and look whether it is time to end. */
static void sampling_look_around(struct sampling *sampling)
{
	keep_alive();
	if (openocd_is_shutdown_pending())
		sampling_stop(sampling, SAMPLING_INTERRUPTED, "interrupted");
	if (profile_clock_ns() >= sampling->deadline_ns)
		sampling_stop(sampling, SAMPLING_TIME, "time is up");
}

void sampling_wait(struct sampling *sampling, uint64_t until_ns)
{
	while (sampling->end == SAMPLING_GOES_ON) {
		uint64_t now = profile_clock_ns();

		if (now >= until_ns)
			return;

		uint64_t ms = (until_ns - now) / 1000000;

		if (!ms)
			profile_clock_wait(until_ns - now);
		else
			alive_sleep(ms < WAIT_SLICE_MS ? ms : WAIT_SLICE_MS);
		sampling_look_around(sampling);
	}
}

/* --- getting ready --- */

/* All cores of the group, or the target alone. @returns how many, or 0: sampling->why says what is wrong */
static unsigned int sampling_choose_cores(struct sampling *sampling, struct target **targets)
{
	struct target *target = sampling->target;
	struct target_list *head;
	unsigned int count = 0;

	if (!sampling->options->all_cores || !target->smp) {
		targets[0] = target;
		return 1;
	}

	foreach_smp_target(head, target->smp_targets) {
		if (!target_was_examined(head->target)) {
			snprintf(sampling->why, sizeof(sampling->why),
				"%s was not examined: sample the current core only, or start the other one first",
				target_name(head->target));
			return 0;
		}
		if (count == XDM_CORES_MAX) {
			snprintf(sampling->why, sizeof(sampling->why), "at most %u cores can be sampled at once",
				XDM_CORES_MAX);
			return 0;
		}
		targets[count++] = head->target;
	}
	return count;
}

/* All cores that are halted and resumed together with the target. */
static void sampling_group_find(struct sampling *sampling)
{
	struct target *target = sampling->target;
	struct target_list *head;

	if (!target->smp) {
		sampling->group[sampling->group_count++] = target;
		return;
	}
	foreach_smp_target(head, target->smp_targets) {
		if (target_was_examined(head->target) && sampling->group_count < SAMPLING_GROUP_MAX)
			sampling->group[sampling->group_count++] = head->target;
	}
}

/* A poll that meets the one exchange that got lost is no reason to give up. */
static int sampling_poll(const struct sampling *sampling, struct target *target)
{
	if (target_poll(target) == ERROR_OK)
		return ERROR_OK;
	xdm_link_resync(&sampling->link);
	return target_poll(target);
}

/*
 * All cores that are to be sampled run, those that were halted since sampling->was_halted says so.
 * @returns ERROR_OK, else sampling->why
 */
static int sampling_start_cores(struct sampling *sampling)
{
	sampling_group_find(sampling);
	for (unsigned int i = 0; i < sampling->group_count; i++) {
		struct target *target = sampling->group[i];
		int retval = sampling_poll(sampling, target);

		if (retval != ERROR_OK) {
			snprintf(sampling->why, sizeof(sampling->why), "%s cannot be polled", target_name(target));
			return retval;
		}
		sampling->was_halted[i] = target->state == TARGET_HALTED;
	}

	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		struct target *target = sampling->link.cores[i].target;

		/* one of an SMP group may have taken the others along */
		if (target->state == TARGET_HALTED && target_resume(target, true, 0, true, false) != ERROR_OK) {
			snprintf(sampling->why, sizeof(sampling->why), "%s cannot be resumed", target_name(target));
			return ERROR_FAIL;
		}
		if (target->state != TARGET_RUNNING) {
			snprintf(sampling->why, sizeof(sampling->why), "%s does not run: its state is '%s'",
				target_name(target), target_state_name(target));
			return ERROR_TARGET_NOT_RUNNING;
		}
	}
	return ERROR_OK;
}

/* Halted again, those that were. */
static void sampling_halt_cores(struct sampling *sampling)
{
	for (unsigned int i = 0; i < sampling->group_count; i++) {
		struct target *target = sampling->group[i];

		if (sampling->was_halted[i] && target->state == TARGET_RUNNING && (target_halt(target) != ERROR_OK ||
				target_wait_state(target, TARGET_HALTED, 1000) != ERROR_OK))
			sampling_warn(sampling, "%s could not be halted again", target_name(target));
	}
}

/* --- the break network --- */

/* @returns whether a core stands; @a dsr is 0 when that cannot be known */
static bool sampling_is_stopped(struct target *target, uint32_t *dsr)
{
	struct xtensa_debug_module *dm = &target_to_xtensa(target)->dbg_mod;

	*dsr = xtensa_dm_core_status_read(dm) == ERROR_OK ? xtensa_dm_core_status_get(dm) : 0;
	return *dsr != UINT32_MAX && (*dsr & OCDDSR_DBGMODPOWERON) && (*dsr & OCDDSR_STOPPED);
}

static bool sampling_is_sampled(const struct sampling *sampling, const struct target *target)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		if (sampling->link.cores[i].target == target)
			return true;
	}
	return false;
}

/*
 * Did something stop a core that is not sampled? With the network as it was that would have stopped the sampled ones.
 */
static void sampling_network_look(struct sampling *sampling)
{
	sampling->group_look_ns = profile_clock_ns() + GROUP_LOOK_NS;
	for (unsigned int i = 0; i < sampling->network_count; i++) {
		struct target *target = sampling->group[i];
		uint32_t dsr;

		if (!sampling->group_ran[i] || !(sampling->group_dcr[i] & OCDDCR_BREAKOUTEN) ||
				sampling_is_sampled(sampling, target) || !sampling_is_stopped(target, &dsr))
			continue;
		sampling->group_stopped = true;
		sampling_stop(sampling, SAMPLING_STOPPED, "%s was stopped by something else: breakpoint, watchpoint or "
			"another core (DSR 0x%08" PRIx32 ")", target_name(target), dsr);
	}
}

/*
 * A core that stops must not stop the others. What was set is read from the module itself: a script may have written
 * to it.
 */
static int sampling_network_open(struct sampling *sampling)
{
	int retval = ERROR_OK;

	if (sampling->network_count)
		return ERROR_OK;

	for (unsigned int i = 0; i < sampling->group_count; i++) {
		struct xtensa *xtensa = target_to_xtensa(sampling->group[i]);
		uint32_t dsr;

		sampling->group_ran[i] = !sampling_is_stopped(sampling->group[i], &dsr);
		retval = xtensa_smpbreak_read(xtensa, &sampling->group_dcr[i]);
		if (retval == ERROR_OK && (sampling->group_dcr[i] & BREAK_NETWORK))
			retval = xtensa_smpbreak_write(xtensa, 0);
		if (retval != ERROR_OK) {
			snprintf(sampling->why, sizeof(sampling->why), "%s: the break network cannot be set aside",
				target_name(sampling->group[i]));
			/* the write may have been carried out */
			sampling->network_count = i + (sampling->group_dcr[i] ? 1 : 0);
			return retval;
		}
	}
	sampling->network_count = sampling->group_count;
	return retval;
}

static bool sampling_network_write(struct xtensa *xtensa, uint32_t wanted)
{
	uint32_t dcr;

	for (unsigned int i = 0; i < RESTORE_TRIES; i++) {
		if (xtensa_smpbreak_write(xtensa, wanted) == ERROR_OK && xtensa_smpbreak_read(xtensa, &dcr) == ERROR_OK &&
				(dcr & BREAK_NETWORK) == wanted)
			return true;
	}
	return false;
}

/* As it was before. */
static void sampling_network_restore(struct sampling *sampling)
{
	for (unsigned int i = 0; i < sampling->network_count; i++) {
		uint32_t wanted = sampling->group_dcr[i] & BREAK_NETWORK;

		if (wanted && !sampling_network_write(target_to_xtensa(sampling->group[i]), wanted))
			sampling_warn(sampling, "%s: the break network could not be restored: use 'xtensa smpbreak'",
				target_name(sampling->group[i]));
	}
}

/* What the network would have done: with one core stopped by something else the others of its group stop too. */
static void sampling_network_follow(struct sampling *sampling)
{
	bool stopped = false;

	for (unsigned int i = 0; i < sampling->network_count; i++) {
		struct target *target = sampling->group[i];

		if (sampling_poll(sampling, target) == ERROR_OK && target->state == TARGET_HALTED && sampling->group_ran[i] &&
				(sampling->group_dcr[i] & OCDDCR_BREAKOUTEN))
			stopped = true;
	}
	for (unsigned int i = 0; stopped && i < sampling->network_count; i++) {
		struct target *target = sampling->group[i];

		if (target->state == TARGET_RUNNING && (sampling->group_dcr[i] & OCDDCR_BREAKINEN) &&
				target_halt(target) == ERROR_OK)
			target_wait_state(target, TARGET_HALTED, 1000);
	}
}

/* PWRSTAT may have reset bits that cannot be cleared; those tell nothing. */
static int sampling_learn_reset_mask(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	struct xtensa_debug_module *dm = &link->cores[0].xtensa->dbg_mod;

	xdm_link_begin(link);
	unsigned int read = xdm_link_read_pwrstat(link);
	int retval = xdm_link_run(link);

	for (unsigned int i = 0; i < link->core_count; i++)
		sampling->reset_mask[i] = (PWRSTAT_DEBUGWASRESET_DM(dm) | PWRSTAT_COREWASRESET_DM(dm)) &
			~xdm_link_value(link, read, i);
	return retval;
}

static int sampling_open(struct sampling *sampling)
{
	const struct sampling_options *options = sampling->options;
	struct target *targets[XDM_CORES_MAX];
	unsigned int count = sampling_choose_cores(sampling, targets);

	if (!count)
		return ERROR_FAIL;
	for (unsigned int i = 0; i < count; i++) {
		if (!itrace_pc_histogram_init(&sampling->histograms[i], ITRACE_PC_HISTOGRAM_SLOTS / count)) {
			snprintf(sampling->why, sizeof(sampling->why), "out of memory");
			return ERROR_FAIL;
		}
	}

	int retval = xdm_link_open(&sampling->link, targets, count, sampling->why, sizeof(sampling->why));
	if (retval != ERROR_OK)
		return retval;

	profile_random_init(&sampling->random, options->has_seed ? options->seed : profile_clock_ns());
	run_window_init(&sampling->window, options->duty_percent / 100.0,
		xdm_link_tck_to_ns(&sampling->link, options->jitter ? SHORTEST_TCK : 1),
		options->rate_hz ? 1000000000u / options->rate_hz : 0, options->jitter, &sampling->random, 1000000);
	return ERROR_OK;
}

/* --- sampling --- */

static int sampling_begin_one(struct sampling *sampling, const struct sampling_method *method)
{
	int retval = method->stops_cores ? sampling_network_open(sampling) : ERROR_OK;

	sampling->method = method;
	return retval == ERROR_OK ? method->begin(sampling) : retval;
}

/* Begin with the method asked for, or with the first safe one that works. */
static int sampling_begin_method(struct sampling *sampling)
{
	const struct sampling_method *wanted = sampling->options->method;
	int retval = ERROR_FAIL;

	if (wanted) {
		retval = sampling_begin_one(sampling, wanted);
		/* the self-test of these has found that only wsr is safe */
		if (retval == ERROR_NOT_IMPLEMENTED && sampling->failed_swap) {
			sampling_note(sampling, "%s: method wsr instead of %s", sampling->why, wanted->name);
			retval = sampling_begin_one(sampling, &sampling_wsr);
		}
		return retval;
	}

	for (unsigned int i = 0; i < ARRAY_SIZE(sampling_safe_methods); i++) {
		retval = sampling_begin_one(sampling, sampling_safe_methods[i]);
		if (retval != ERROR_NOT_IMPLEMENTED)
			return retval;
		sampling_note(sampling, "not %s: %s", sampling->method->name, sampling->why);
	}
	return retval;
}

static void sampling_loop(struct sampling *sampling)
{
	uint64_t next_progress_ns = sampling->begin_ns + PROGRESS_NS;

	while (sampling->end == SAMPLING_GOES_ON) {
		sampling->method->pass(sampling);
		sampling_look_around(sampling);
		if (profile_clock_ns() >= sampling->group_look_ns && sampling->end == SAMPLING_GOES_ON)
			sampling_network_look(sampling);
		if (profile_clock_ns() >= next_progress_ns && sampling->end == SAMPLING_GOES_ON) {
			LOG_INFO("profile: %" PRIu64 " of %" PRIu32 " s, %" PRIu64 " samples",
				(next_progress_ns - sampling->begin_ns) / 1000000000u, sampling->options->seconds,
				sampling->sample_count);
			next_progress_ns += PROGRESS_NS;
		}
	}
}

static int sampling_sample(struct sampling *sampling)
{
	int retval = sampling_learn_reset_mask(sampling);

	if (retval != ERROR_OK) {
		snprintf(sampling->why, sizeof(sampling->why), "the adapter reports an error: check cable and 'adapter speed'");
		return retval;
	}

	retval = sampling_begin_method(sampling);
	if (retval != ERROR_OK)
		return retval;

	uint64_t flushes = sampling->link.flush_count;

	sampling->begin_ns = profile_clock_ns();
	sampling->deadline_ns = sampling->begin_ns + sampling->options->seconds * UINT64_C(1000000000);
	sampling_loop(sampling);
	sampling->end_ns = profile_clock_ns();
	sampling->flush_count = sampling->link.flush_count - flushes;
	sampling->method->finish(sampling);
	return ERROR_OK;
}

/* As it was: halted again, or running, or in the state that something else brought it into. */
static void sampling_end_target(struct sampling *sampling)
{
	if (sampling->is_link_lost)
		return;
	if (sampling->end == SAMPLING_LINK)
		xdm_link_resync(&sampling->link);
	sampling_network_look(sampling);
	/* with the network set aside: a stop that it reports to a core that stands already would wait there */
	if (sampling->end == SAMPLING_STOPPED || sampling->group_stopped)
		sampling_network_follow(sampling);
	sampling_network_restore(sampling);
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		struct target *target = sampling->link.cores[i].target;

		if (sampling_poll(sampling, target) != ERROR_OK)
			sampling_warn(sampling, "%s cannot be polled", target_name(target));
	}
}

int sampling_run(struct sampling *sampling, struct target *target, const struct sampling_options *options)
{
	memset(sampling, 0, sizeof(*sampling));
	sampling->options = options;
	sampling->target = target;

	int retval = sampling_open(sampling);

	if (retval != ERROR_OK)
		return retval;
	retval = sampling_start_cores(sampling);
	if (retval == ERROR_OK) {
		retval = sampling_sample(sampling);
		sampling_end_target(sampling);
	}
	if (!sampling->is_link_lost)
		sampling_halt_cores(sampling);
	return retval;
}

void sampling_free(struct sampling *sampling)
{
	for (unsigned int i = 0; i < XDM_CORES_MAX; i++)
		itrace_pc_histogram_free(&sampling->histograms[i]);
	xdm_link_close(&sampling->link);
}
