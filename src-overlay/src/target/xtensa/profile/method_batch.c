// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Batch: many samples a flush, open loop. That a core stands when its registers are touched is likely, by a guard time
 * taken from measured latencies, and known afterwards, by a DSR read in the middle of each sample; a core that stops
 * later than ever seen before loses a3. So this is never chosen unasked, and it ends with the first sample that has no
 * evidence. That nothing faulted and the power stayed on until the PC was read is told by the next sample's read of
 * DSR, or by one more at the end of the flush.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>

#include <server/server.h>

#include "profile_clock.h"
#include "stopped.h"

#define CALIBRATIONS		50u
#define CALIBRATIONS_MIN	8u	/* on slow adapters, which then take as long as this: */
#define CALIBRATION_NS		UINT64_C(2000000000)
#define CALIBRATION_READS	32u
#define GUARD_FACTOR		4u
#define GUARD_MARGIN_TCK	16u
#define WINDOW_TCK		64u	/* mean of the random part of the run window */
#define BATCH_MAX		(XDM_READS_MAX / 2 - 1)
#define BURST_NS		UINT64_C(10000000)	/* of samples of a slow rate */

struct batch_sample {
	unsigned int dsr;
	unsigned int pc;
};

/* Ask for a stop and look at once, many times: how long does it take? @returns TCK, or UINT32_MAX: longer than that */
static unsigned int batch_measure_latency(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;

	xdm_link_begin(link);
	stopped_queue_clear(sampling);
	xdm_link_idle(link, profile_random_upto(&sampling->random, 4 * WINDOW_TCK));
	xdm_link_write(link, XDM_DCRSET, XDM_DCR_STOP);
	unsigned int asked_tck = link->tck;
	unsigned int first = link->read_count;

	for (unsigned int i = 0; i < CALIBRATION_READS; i++)
		xdm_link_read(link, XDM_DSR);
	if (xdm_link_run(link) != ERROR_OK) {
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return UINT32_MAX;
	}

	sampling->asked_ns = link->end_ns;
	for (unsigned int i = first; i < first + CALIBRATION_READS; i++) {
		stopped_judge(sampling, i);
		if (sampling->stopped)
			return link->reads[i].tck - asked_tck;
	}
	return UINT32_MAX;
}

/* Of a sample, beside its run window. */
static unsigned int batch_sample_tck(const struct sampling *sampling)
{
	return 8 * xdm_link_access_tck(&sampling->link) + sampling->guard_tck;
}

static bool batch_calibrate(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	unsigned int worst = 0;

	uint64_t begin_ns = profile_clock_ns();
	unsigned int count = 0;

	while (count < CALIBRATIONS && (count < CALIBRATIONS_MIN || profile_clock_ns() - begin_ns < CALIBRATION_NS)) {
		unsigned int latency = batch_measure_latency(sampling);

		stopped_release(sampling);
		keep_alive();
		if (latency == UINT32_MAX || openocd_is_shutdown_pending())
			return false;
		if (latency > worst)
			worst = latency;
		count++;
	}

	/* from the request to the evidence; the address of its read takes a part of that */
	unsigned int guard = GUARD_FACTOR * worst + GUARD_MARGIN_TCK;
	unsigned int passed = link->data8_bits + link->adapter->dr_extra;

	sampling->guard_tck = guard > passed ? guard - passed : 0;
	sampling_note(sampling, "stops took at most %u TCK in %u trials, guard %u TCK", worst, count,
		sampling->guard_tck);
	/* a flush must have room for a sample: no exchange is to end while a core stands */
	return batch_sample_tck(sampling) + 2 * WINDOW_TCK < link->room_tck;
}

static int batch_begin(struct sampling *sampling)
{
	int retval = stopped_begin(sampling);

	if (retval != ERROR_OK)
		return retval;
	stopped_release(sampling);
	if (!batch_calibrate(sampling)) {
		if (sampling->end == SAMPLING_GOES_ON)
			snprintf(sampling->why, sizeof(sampling->why), "%s stops too late for batch: use pipeline",
				target_name(sampling->target));
		return ERROR_FAIL;
	}
	sampling->stop_ns = profile_clock_ns();
	return ERROR_OK;
}

/*
 * What a flush cannot hold is waited for behind it, while the cores run: for the duty, so that they ran as long as they
 * are to; for a rate, so that no more samples were taken than there are to be.
 */
static void batch_wait(struct sampling *sampling)
{
	const struct run_window *window = &sampling->window;
	uint64_t now_ns = profile_clock_ns();
	uint64_t until_ns = sampling->begin_ns + sampling->sample_count * window->period_ns;
	double missing_ns = window->duty * window->total_ns - window->run_ns;

	if (missing_ns > 0 && now_ns + (uint64_t)(missing_ns / (1 - window->duty)) > until_ns)
		until_ns = now_ns + missing_ns / (1 - window->duty);
	if (until_ns > now_ns)
		sampling_wait(sampling, until_ns);
}

/* Samples in a flush: of slow rates only as many as there are to be in some ms. */
static unsigned int batch_samples_max(const struct sampling *sampling)
{
	uint64_t period_ns = sampling->window.period_ns;

	if (!period_ns || period_ns * BATCH_MAX < BURST_NS)
		return BATCH_MAX;
	return period_ns < BURST_NS ? BURST_NS / period_ns : 1;
}

/* Queue one sample. */
static struct batch_sample batch_queue_sample(struct sampling *sampling, uint64_t *run_tck)
{
	struct xdm_link *link = &sampling->link;
	unsigned int begin_tck = link->tck;
	struct batch_sample sample;

	stopped_queue_clear(sampling);
	xdm_link_idle(link, sampling->options->jitter ? profile_random_upto(&sampling->random, 2 * WINDOW_TCK) :
		WINDOW_TCK);
	xdm_link_write(link, XDM_DCRSET, XDM_DCR_STOP);
	*run_tck += link->tck - begin_tck;
	xdm_link_idle(link, sampling->guard_tck);
	sample.dsr = xdm_link_read(link, XDM_DSR);
	sample.pc = stopped_queue_sample(sampling);
	return sample;
}

/* @a samples: one more than are taken, that has a DSR read and nothing else. @returns how many are taken */
static unsigned int batch_queue(struct sampling *sampling, struct batch_sample *samples, unsigned int *pwrstat,
		uint64_t *run_tck)
{
	struct xdm_link *link = &sampling->link;
	unsigned int access = xdm_link_access_tck(link);
	unsigned int needed = batch_sample_tck(sampling) + 2 * WINDOW_TCK + 3 * access;
	unsigned int samples_max = batch_samples_max(sampling);
	unsigned int count = 0;

	*run_tck = 0;
	xdm_link_begin(link);
	/* a flush must end while the cores run: never in the middle of a sample */
	do {
		samples[count++] = batch_queue_sample(sampling, run_tck);
	} while (count < samples_max && 2 * count + 4 < link->adapter->flush_reads && xdm_link_room(link) > needed);

	unsigned int end_tck = link->tck;

	samples[count].dsr = xdm_link_read(link, XDM_DSR);
	*pwrstat = xdm_link_read_pwrstat(link);
	*run_tck += link->tck - end_tck;
	return count;
}

/* After a sample: did what was injected do its work? */
static bool batch_is_sound(const struct sampling *sampling, unsigned int dsr)
{
	enum xdm_evidence evidence = stopped_evidence(sampling, dsr);

	return evidence != XDM_FAULTED && evidence != XDM_GONE;
}

static void batch_end_in_doubt(struct sampling *sampling, unsigned int dsr)
{
	enum xdm_evidence evidence = stopped_evidence(sampling, dsr);

	if (evidence == XDM_RUNS)
		sampling_stop(sampling, SAMPLING_DOUBT, "sample %" PRIu64 " is in doubt: %s did not stop in time, its a3 "
			"may have been changed", sampling->sample_count + 1, target_name(sampling->target));
	else
		stopped_end_for(sampling, evidence, dsr);
}

static void batch_pass(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	struct batch_sample samples[BATCH_MAX + 1];
	unsigned int pwrstat;
	uint64_t run_tck;
	unsigned int count = batch_queue(sampling, samples, &pwrstat, &run_tck);
	int retval = xdm_link_run(link);

	if (retval != ERROR_OK) {
		sampling->lost[SAMPLING_LOST_LINK] += count;
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return;
	}
	if (stopped_evidence(sampling, samples[count].dsr) != XDM_GONE && sampling_was_reset(sampling, pwrstat)) {
		sampling->lost[SAMPLING_LOST_DOUBT] += count;
		return;
	}

	for (unsigned int i = 0; i < count; i++) {
		bool is_ours = stopped_evidence(sampling, samples[i].dsr) == XDM_OURS;

		if (!is_ours || !batch_is_sound(sampling, samples[i + 1].dsr)) {
			batch_end_in_doubt(sampling, samples[is_ours ? i + 1 : i].dsr);
			sampling->lost[SAMPLING_LOST_DOUBT] += count - i;
			break;
		}
		for (unsigned int core = 0; core < link->core_count; core++)
			sampling_count(sampling, core, xdm_link_value(link, samples[i].pc, core));
		sampling_counted(sampling, link->begin_ns + xdm_link_tck_to_ns(link, link->reads[samples[i].dsr].tck));
	}

	/* what is not in the flush's own clocks is time between flushes: the cores run */
	uint64_t cycle_ns = link->end_ns - sampling->stop_ns;
	uint64_t flush_ns = xdm_link_tck_to_ns(link, link->tck);
	uint64_t gap_ns = cycle_ns > flush_ns ? cycle_ns - flush_ns : 0;

	run_window_account(&sampling->window, cycle_ns, xdm_link_tck_to_ns(link, run_tck) + gap_ns);
	sampling->stop_ns = link->end_ns;
	batch_wait(sampling);
}

const struct sampling_method sampling_batch = {
	.name = "batch",
	.summary = "the core is stopped for each sample, many samples a flush, open loop",
	.stops_cores = true,
	.begin = batch_begin,
	.pass = batch_pass,
	.finish = stopped_release,
};
