/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The control socket's language: one line in, one line out. It serves tests: counters, faults, state, what really
 * happened.
 */

#ifndef PROBE_CONTROL_H
#define PROBE_CONTROL_H

#include "probe.h"

struct probe_control {
	struct probe *probe;
	bool bitbang;		/* the wire has no status that could report an error */
	bool quit;
};

/** Carry out @a line (without line end; gets cut into words) and append the answer to @a out, line end included. */
void probe_control_line(struct probe_control *control, char *line, struct sim_buffer *out);

#endif
