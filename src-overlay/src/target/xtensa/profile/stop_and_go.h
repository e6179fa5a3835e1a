/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The rhythm of pipeline and wsr: read the PC of cores that were proved to stand, let them run for a window of time,
 * ask them to stop again, look whether they do.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_STOP_AND_GO_H
#define OPENOCD_TARGET_XTENSA_PROFILE_STOP_AND_GO_H

#include "stopped.h"

/* Queue what reads the PC of cores that stand and lets them run. @returns the number of the read that has the PC */
typedef unsigned int (*stop_and_go_queue_sample)(struct sampling *sampling);

/* One flush: a sample by @a queue_sample if the cores stand, else another look at whether they do. */
void stop_and_go_pass(struct sampling *sampling, stop_and_go_queue_sample queue_sample);

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_STOP_AND_GO_H */
