/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A mouth: whoever reads flow events and writes something. Each kind is a struct that begins with struct itrace_mouth.
 */

#ifndef OPENOCD_ITRACE_REPORT_MOUTH_H
#define OPENOCD_ITRACE_REPORT_MOUTH_H

#include <stdbool.h>

#include "../event.h"
#include "../ledger.h"

/* The stream of events that follows: one trace ID of one buffer. */
struct itrace_stream_info {
	const char *buffer;		/* name of the buffer or file */
	const char *source;		/* name of the trace source; NULL: not known */
	unsigned int trace_id;		/* as shown in listings of elements */
	unsigned int packet_id;		/* as OpenCSD shows it in listings of packets: 0 for unframed trace */
	unsigned int number, count;	/* this is stream number (from 1) of count */
	bool headed;			/* write a heading */
};

struct itrace_mouth;

struct itrace_mouth_ops {
	/* a stream begins; may be NULL */
	void (*begin)(struct itrace_mouth *mouth, const struct itrace_stream_info *info);
	void (*events)(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n);
	/* something was left out here: what follows does not go on from what came before; may be NULL */
	void (*left_out)(struct itrace_mouth *mouth);
	/* the stream ended; may be NULL */
	void (*end)(struct itrace_mouth *mouth);
	/* all streams ended, @a ledger is the sum; may be NULL */
	void (*finish)(struct itrace_mouth *mouth, const struct itrace_ledger *ledger);
	void (*free)(struct itrace_mouth *mouth);
};

struct itrace_mouth {
	const struct itrace_mouth_ops *ops;
};

static inline void itrace_mouth_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	if (mouth->ops->begin)
		mouth->ops->begin(mouth, info);
}

static inline void itrace_mouth_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	mouth->ops->events(mouth, events, n);
}

static inline void itrace_mouth_left_out(struct itrace_mouth *mouth)
{
	if (mouth->ops->left_out)
		mouth->ops->left_out(mouth);
}

static inline void itrace_mouth_end(struct itrace_mouth *mouth)
{
	if (mouth->ops->end)
		mouth->ops->end(mouth);
}

static inline void itrace_mouth_finish(struct itrace_mouth *mouth, const struct itrace_ledger *ledger)
{
	if (mouth->ops->finish)
		mouth->ops->finish(mouth, ledger);
}

/* @param mouth may be NULL */
static inline void itrace_mouth_free(struct itrace_mouth *mouth)
{
	if (mouth)
		mouth->ops->free(mouth);
}

#endif /* OPENOCD_ITRACE_REPORT_MOUTH_H */
