// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * WSR: for cores on which XSR.DDR does not swap. Two flushes a sample, in a closed loop: a3 is read, and only when the
 * host has it, it is used to carry the PC and written back.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "stop_and_go.h"

static int wsr_begin(struct sampling *sampling)
{
	int retval = stopped_stop(sampling);

	if (retval != ERROR_OK)
		return retval;
	if (stopped_register_test(sampling) != ERROR_OK) {
		stopped_release(sampling);
		return ERROR_FAIL;
	}
	sampling->stop_ns = sampling->link.end_ns;
	return ERROR_OK;
}

/* The first flush: a3 of cores that stand. */
static bool wsr_save_a3(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;

	xdm_link_begin(link);
	unsigned int a3 = stopped_queue_read_a3(sampling);
	unsigned int dsr = xdm_link_read(link, XDM_DSR);

	if (xdm_link_run(link) != ERROR_OK) {
		sampling->lost[SAMPLING_LOST_LINK]++;
		sampling_stop(sampling, SAMPLING_LINK, "the adapter reports an error");
		return false;
	}
	stopped_judge(sampling, dsr);
	if (!sampling->stopped) {
		sampling->lost[SAMPLING_LOST_DOUBT]++;
		return false;
	}
	for (unsigned int i = 0; i < link->core_count; i++)
		sampling->a3[i] = xdm_link_value(link, a3, i);
	return true;
}

static unsigned int wsr_queue_sample(struct sampling *sampling)
{
	unsigned int pc = stopped_queue_read_pc(sampling);

	stopped_queue_write_a3(sampling, sampling->a3);
	xdm_link_exec(&sampling->link, XDM_INSN_RFDO);
	return pc;
}

static void wsr_pass(struct sampling *sampling)
{
	if (!sampling->stopped || wsr_save_a3(sampling))
		stop_and_go_pass(sampling, wsr_queue_sample);
}

const struct sampling_method sampling_wsr = {
	.name = "wsr",
	.summary = "the core is stopped for each sample, two flushes a sample",
	.stops_cores = true,
	.begin = wsr_begin,
	.pass = wsr_pass,
	.finish = stopped_release,
};
