// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * DEBUGPC: the module gives the PC of a core that runs. Reads follow each other as fast as the adapter can; DSR reads
 * among them prove that the core ran all the time.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <string.h>

#include "profile_clock.h"
#include "sampling.h"
#include "stopped.h"

#define PROBE_READS	8u	/* spaced unevenly; one that is not 0 is enough */
#define EVIDENCE_READS	126u	/* samples between two reads of DSR: two halves of a flush of 256 reads */
#define SEGMENTS_MAX	(XDM_READS_MAX / EVIDENCE_READS + 1)

/*
 * Spacing by the adapter alone is constant, and a loop of the same period would be met at one place only. Two things
 * break that: a random pause before every eighth read, and one that is the same before each of these eight, so that
 * eight reads of a loop that is as long as a read are no eight reads of one place. With pauses of up to 63 TCK alone,
 * at the same cost, 20 000 samples of such a loop were off by up to 2.5 % (total variation); 15 TCK before each read
 * are far worse.
 */
#define JITTER_EVERY	8u
#define JITTER_TCK	47u
#define JITTER_READ_TCK	2u

/* Where the reads of a flush are: evidence[i] is behind the samples of segment i. */
struct debugpc_flush {
	unsigned int evidence[SEGMENTS_MAX];
	unsigned int segments;
	unsigned int samples;
	unsigned int pwrstat;
	unsigned int read_pause_tck;	/* of the present JITTER_EVERY reads */
};

/* Is what was read from a core a program counter? */
static int debugpc_check(struct sampling *sampling, unsigned int core, const unsigned int *reads)
{
	struct target *target = sampling->link.cores[core].target;
	uint32_t first = xdm_link_value(&sampling->link, reads[0], core);
	uint32_t seen = 0;
	bool changes = false;

	for (unsigned int i = 0; i < PROBE_READS; i++) {
		uint32_t pc = xdm_link_value(&sampling->link, reads[i], core);

		seen |= pc;
		changes = changes || pc != first;
	}
	if (!seen) {
		snprintf(sampling->why, sizeof(sampling->why), "DEBUGPC of %s reads 0", target_name(target));
		return ERROR_NOT_IMPLEMENTED;
	}
	/* known to be the PC of chips of Espressif; elsewhere a value that stays may be anything */
	if (!changes && !sampling->options->method && !strcmp(target_type_name(target), "xtensa")) {
		snprintf(sampling->why, sizeof(sampling->why), "DEBUGPC of %s reads 0x%08" PRIx32 " all the time",
			target_name(target), first);
		return ERROR_NOT_IMPLEMENTED;
	}
	return ERROR_OK;
}

static int debugpc_begin(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	unsigned int pc[PROBE_READS];

	xdm_link_begin(link);
	/* faults of the past would hide whether the core stands */
	xdm_link_write(link, XDM_DSR, XDM_DSR_FAULTS);
	for (unsigned int i = 0; i < PROBE_READS; i++) {
		pc[i] = xdm_link_read(link, XDM_DEBUGPC);
		xdm_link_idle(link, 37 + 7 * i);
	}
	unsigned int dsr = xdm_link_read(link, XDM_DSR);

	if (xdm_link_run(link) != ERROR_OK) {
		sampling_stop(sampling, SAMPLING_LINK, "the adapter failed while DEBUGPC was looked for");
		return ERROR_FAIL;
	}
	enum xdm_evidence evidence = stopped_evidence(sampling, dsr);

	if (evidence == XDM_GONE || evidence == XDM_FOREIGN) {
		stopped_end_for(sampling, evidence, dsr);
		return ERROR_FAIL;
	}

	for (unsigned int core = 0; core < link->core_count; core++) {
		int retval = debugpc_check(sampling, core, pc);

		if (retval != ERROR_OK)
			return retval;
	}
	return ERROR_OK;
}

/* Pause before a read that the rate asks for, TCK. */
static unsigned int debugpc_pause_tck(const struct sampling *sampling, unsigned int samples_max)
{
	const struct xdm_link *link = &sampling->link;
	const uint64_t period_ns = sampling->window.period_ns;

	if (!period_ns)
		return 0;
	return xdm_link_ns_to_tck(link, run_window_pause_ns(period_ns, xdm_link_tck_to_ns(link, xdm_link_access_tck(link)),
			xdm_link_tck_to_ns(link, link->room_tck), sampling->gap_ns, samples_max));
}

static unsigned int debugpc_jitter_tck(struct sampling *sampling, struct debugpc_flush *flush)
{
	const struct xdm_link *link = &sampling->link;

	if (flush->samples % JITTER_EVERY)
		return flush->read_pause_tck;
	/* behind a DAP the shortest pause is an access, and an expensive one: now and then */
	if (link->kind == XDM_LINK_DAP)
		return profile_random_upto(&sampling->random, 4) ? 0 : xdm_link_access_tck(link);
	flush->read_pause_tck = profile_random_upto(&sampling->random, JITTER_READ_TCK);
	return flush->read_pause_tck + profile_random_upto(&sampling->random, JITTER_TCK);
}

/* Pause before the next read of a flush. */
static void debugpc_queue_pause(struct sampling *sampling, struct debugpc_flush *flush, unsigned int pause_tck)
{
	bool jitter = sampling->options->jitter;
	unsigned int tck = jitter ? profile_random_upto(&sampling->random, 2 * pause_tck) : pause_tck;

	/* a pause that varies by less than that is no jitter */
	if (jitter && 2 * pause_tck < JITTER_TCK)
		tck += debugpc_jitter_tck(sampling, flush);
	xdm_link_idle(&sampling->link, tck);
}

static void debugpc_queue(struct sampling *sampling, struct debugpc_flush *flush, unsigned int samples_max)
{
	struct xdm_link *link = &sampling->link;
	unsigned int pause_tck = debugpc_pause_tck(sampling, samples_max);
	unsigned int tail = 5 * xdm_link_access_tck(link) + 2 * pause_tck + JITTER_TCK;

	flush->segments = 0;
	flush->samples = 0;
	flush->read_pause_tck = 0;
	xdm_link_begin(link);
	while (flush->samples < samples_max) {
		if (samples_max > 1)
			debugpc_queue_pause(sampling, flush, pause_tck);
		xdm_link_read(link, XDM_DEBUGPC);
		flush->samples++;

		bool last = flush->samples == samples_max || xdm_link_room(link) < tail;

		if (last || flush->samples % EVIDENCE_READS == 0)
			flush->evidence[flush->segments++] = xdm_link_read(link, XDM_DSR);
		if (last)
			break;
	}
	flush->pwrstat = xdm_link_read_pwrstat(link);
}

static void debugpc_count_read(struct sampling *sampling, unsigned int read)
{
	struct xdm_link *link = &sampling->link;
	bool is_any = false;

	for (unsigned int core = 0; core < link->core_count; core++) {
		uint32_t pc = xdm_link_value(link, read, core);
		bool is_pc = pc && pc != UINT32_MAX;

		if (is_pc)
			sampling_count(sampling, core, pc);
		else
			sampling->lost[SAMPLING_LOST_ZERO]++;
		is_any = is_any || is_pc;
	}
	if (!is_any)
		return;
	sampling_counted(sampling, link->begin_ns + xdm_link_tck_to_ns(link, link->reads[read].tck));
}

/* Count the samples of each segment that is proved, from the first on. */
static void debugpc_count(struct sampling *sampling, const struct debugpc_flush *flush)
{
	unsigned int read = 0;
	unsigned int counted = 0;

	for (unsigned int i = 0; i < flush->segments; i++) {
		enum xdm_evidence evidence = stopped_evidence(sampling, flush->evidence[i]);

		/* nobody asked for a stop here: it is somebody else's */
		if (evidence == XDM_OURS)
			evidence = XDM_FOREIGN;
		if (evidence != XDM_RUNS) {
			sampling->lost[SAMPLING_LOST_DOUBT] += flush->samples - counted;
			stopped_end_for(sampling, evidence, flush->evidence[i]);
			return;
		}
		for (; read < flush->evidence[i]; read++, counted++)
			debugpc_count_read(sampling, read);
		read++;
	}
}

/* A rate so slow that the host can wait between samples. */
static void debugpc_wait(struct sampling *sampling)
{
	uint64_t period_ns = sampling->window.period_ns;
	uint64_t now = profile_clock_ns();

	sampling->due_ns += sampling->options->jitter ?
		profile_random_upto(&sampling->random, 2 * (period_ns / 1000)) * UINT64_C(1000) : period_ns;
	/* no hurry after what took longer than it should */
	if (sampling->due_ns + period_ns < now)
		sampling->due_ns = now;
	sampling_wait(sampling, sampling->due_ns);
}

/*
 * What one flush was late by can be missing at the next: to leave that out would let the rate get too high. What is
 * read beside samples is time between them, too.
 */
static void debugpc_learn_gap(struct sampling *sampling, const struct debugpc_flush *flush)
{
	const struct xdm_link *link = &sampling->link;
	int64_t flush_ns = xdm_link_tck_to_ns(link, link->tck) -
		xdm_link_tck_to_ns(link, (flush->segments + 1) * xdm_link_access_tck(link));
	int64_t cycle_ns = link->end_ns - sampling->stop_ns;

	if (sampling->stop_ns)
		sampling->gap_ns = (3 * sampling->gap_ns + cycle_ns - flush_ns) / 4;
	sampling->stop_ns = link->end_ns;
}

static void debugpc_pass(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	uint64_t period_ns = sampling->window.period_ns;
	/* a read of DSR for each segment, one for the rest, and PWRSTAT */
	unsigned int samples_max = link->adapter->flush_reads - link->adapter->flush_reads / EVIDENCE_READS - 3;
	struct debugpc_flush flush;

	if (xdm_link_ns_to_tck(link, period_ns) > link->room_tck / 4) {
		debugpc_wait(sampling);
		if (sampling->end != SAMPLING_GOES_ON)
			return;
		samples_max = 1;
	}

	debugpc_queue(sampling, &flush, samples_max);
	if (xdm_link_run(link) != ERROR_OK) {
		sampling->lost[SAMPLING_LOST_LINK] += flush.samples;
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return;
	}
	debugpc_learn_gap(sampling, &flush);
	if (stopped_evidence(sampling, flush.evidence[flush.segments - 1]) != XDM_GONE &&
			sampling_was_reset(sampling, flush.pwrstat)) {
		sampling->lost[SAMPLING_LOST_DOUBT] += flush.samples;
		return;
	}
	debugpc_count(sampling, &flush);
}

static void debugpc_finish(struct sampling *sampling)
{
}

const struct sampling_method sampling_debugpc = {
	.name = "debugpc",
	.summary = "DEBUGPC is read while the core runs",
	.begin = debugpc_begin,
	.pass = debugpc_pass,
	.finish = debugpc_finish,
};
