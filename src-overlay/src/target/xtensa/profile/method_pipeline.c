// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Pipeline: one flush a sample. A flush reads the PC of the cores that the flush before has proved to stand, lets them
 * run for a window of time, asks them to stop again and looks whether they do. What is looked at by the host is thus
 * never older than one flush, and nothing is injected into a core that might run.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "stop_and_go.h"

static int pipeline_begin(struct sampling *sampling)
{
	int retval = stopped_begin(sampling);

	if (retval == ERROR_OK)
		sampling->stop_ns = sampling->link.end_ns;
	return retval;
}

static void pipeline_pass(struct sampling *sampling)
{
	stop_and_go_pass(sampling, stopped_queue_sample);
}

const struct sampling_method sampling_pipeline = {
	.name = "pipeline",
	.summary = "the core is stopped for each sample, one flush a sample",
	.stops_cores = true,
	.begin = pipeline_begin,
	.pass = pipeline_pass,
	.finish = stopped_release,
};
