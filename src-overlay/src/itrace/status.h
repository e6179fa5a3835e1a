/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Results of the packet and configuration layers: bytes used, need more, or bad.
 */

#ifndef OPENOCD_ITRACE_STATUS_H
#define OPENOCD_ITRACE_STATUS_H

enum itrace_status {
	ITRACE_OK = 0,
	ITRACE_NEED_MORE = -1,		/* the input ends inside the object: give more bytes, nothing was consumed */
	ITRACE_RESERVED = -2,		/* reserved header byte: no packet of any configuration starts with it */
	ITRACE_RESERVED_CFG = -3,	/* header byte reserved in this configuration */
	ITRACE_BAD_SEQUENCE = -4,	/* a packet whose later bytes cannot follow its header */
	ITRACE_BAD_CONFIG = -5		/* registers contradict each other or ask for what is not decoded */
};

#endif /* OPENOCD_ITRACE_STATUS_H */
