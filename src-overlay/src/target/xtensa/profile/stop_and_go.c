// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "profile_clock.h"
#include "stop_and_go.h"

/* The PCs of a flush that ended well, by the stop before it. */
static void stop_and_go_count(struct sampling *sampling, unsigned int pc)
{
	for (unsigned int core = 0; core < sampling->link.core_count; core++)
		sampling_count(sampling, core, xdm_link_value(&sampling->link, pc, core));
	sampling_counted(sampling, sampling->stop_ns);
}

/* After a flush that ran a sample: was it one? @a dsr is read behind it. */
static void stop_and_go_take(struct sampling *sampling, unsigned int pc, unsigned int pwrstat, unsigned int dsr)
{
	enum xdm_evidence evidence = stopped_evidence(sampling, dsr);

	if (evidence == XDM_FAULTED)
		sampling->lost[SAMPLING_LOST_FAULT]++;
	else if (evidence == XDM_GONE || sampling_lost_exchange(sampling, pwrstat) || sampling_was_reset(sampling, pwrstat))
		sampling->lost[SAMPLING_LOST_DOUBT]++;
	else
		stop_and_go_count(sampling, pc);
}

/* A window too long for idle clocks: read the PC, let the host wait, then ask for the stop. */
static void stop_and_go_wait_long(struct sampling *sampling, uint64_t window_ns, unsigned int pc, unsigned int pwrstat)
{
	struct xdm_link *link = &sampling->link;
	unsigned int dsr = xdm_link_read(link, XDM_DSR);

	if (xdm_link_run(link) != ERROR_OK) {
		sampling->lost[SAMPLING_LOST_LINK]++;
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return;
	}
	stop_and_go_take(sampling, pc, pwrstat, dsr);
	sampling->stopped = false;

	uint64_t since_ns = link->end_ns;

	sampling_wait(sampling, since_ns + window_ns);
	sampling->run_ns += profile_clock_ns() - since_ns;
	if (sampling->end != SAMPLING_GOES_ON)
		return;
	xdm_link_begin(link);
	stopped_queue_clear(sampling);
}

static void stop_and_go_sample(struct sampling *sampling, stop_and_go_queue_sample queue_sample)
{
	struct xdm_link *link = &sampling->link;
	uint64_t window_ns = run_window_next_ns(&sampling->window);
	bool is_long = window_ns >= SAMPLING_HOST_WAIT_NS;

	xdm_link_begin(link);
	unsigned int pc = queue_sample(sampling);
	unsigned int go_tck = link->tck;

	stopped_queue_clear(sampling);
	unsigned int pwrstat = xdm_link_read_pwrstat(link);

	if (is_long) {
		stop_and_go_wait_long(sampling, window_ns, pc, pwrstat);
		if (sampling->end != SAMPLING_GOES_ON)
			return;
	} else {
		uint64_t spent_ns = xdm_link_tck_to_ns(link, link->tck - go_tck);

		if (window_ns > spent_ns)
			spent_ns += stopped_queue_run(sampling, window_ns - spent_ns);
		sampling->run_ns += spent_ns;
	}

	xdm_link_write(link, XDM_DCRSET, XDM_DCR_STOP);
	unsigned int dsr = xdm_link_read(link, XDM_DSR);
	int retval = xdm_link_run(link);

	sampling->asked_ns = link->end_ns;
	if (retval != ERROR_OK) {
		sampling->lost[SAMPLING_LOST_LINK] += !is_long;
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return;
	}
	if (!is_long)
		stop_and_go_take(sampling, pc, pwrstat, dsr);
	stopped_judge(sampling, dsr);
}

/* The stop was asked for, but did not happen yet: look again. */
static void stop_and_go_poll(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	uint64_t since_ns = link->end_ns;

	sampling->late_count++;
	xdm_link_begin(link);
	unsigned int dsr = xdm_link_read(link, XDM_DSR);
	unsigned int pwrstat = xdm_link_read_pwrstat(link);

	if (xdm_link_run(link) != ERROR_OK) {
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return;
	}
	sampling->run_ns += link->end_ns - since_ns;
	/* a reset takes the request with it */
	if (stopped_evidence(sampling, dsr) == XDM_RUNS && sampling_was_reset(sampling, pwrstat))
		return;
	stopped_judge(sampling, dsr);
}

void stop_and_go_pass(struct sampling *sampling, stop_and_go_queue_sample queue_sample)
{
	if (sampling->stopped)
		stop_and_go_sample(sampling, queue_sample);
	else
		stop_and_go_poll(sampling);

	if (sampling->stopped) {
		uint64_t now = sampling->link.end_ns;

		run_window_account(&sampling->window, now - sampling->stop_ns, sampling->run_ns);
		sampling->stop_ns = now;
		sampling->run_ns = 0;
	}
}
