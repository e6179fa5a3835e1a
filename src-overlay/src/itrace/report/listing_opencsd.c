// SPDX-License-Identifier: GPL-2.0-or-later

/* Format opencsd-elements: as OpenCSD's lister prints generic elements. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>

#include "../text.h"
#include "listing.h"

struct opencsd_elements {
	struct itrace_mouth mouth;
	struct itrace_output *out;
	struct itrace_stream_info info;
};

static void elements_begin(struct itrace_mouth *mouth, const struct itrace_stream_info *info)
{
	struct opencsd_elements *self = (struct opencsd_elements *)mouth;

	/* streams of one buffer come in turn, each is begun again */
	if (!self->info.buffer || self->info.number != info->number)
		itrace_listing_opencsd_begin(self->out, info);
	self->info = *info;
}

static void elements_events(struct itrace_mouth *mouth, const struct itrace_event *events, unsigned int n)
{
	struct opencsd_elements *self = (struct opencsd_elements *)mouth;

	for (unsigned int i = 0; i < n; i++) {
		char *room = itrace_output_room(self->out, ITRACE_TEXT_MAX + 1);
		size_t len = itrace_text_event_opencsd(self->info.trace_id, &events[i], room, ITRACE_TEXT_MAX);
		if (len) {
			room[len] = '\n';
			itrace_output_took(self->out, len + 1);
		}
	}
}

static void elements_end(struct itrace_mouth *mouth)
{
	struct opencsd_elements *self = (struct opencsd_elements *)mouth;

	itrace_listing_opencsd_end(self->out, &self->info);
}

static void elements_free(struct itrace_mouth *mouth)
{
	free(mouth);
}

static const struct itrace_mouth_ops elements_ops = {
	.begin = elements_begin,
	.events = elements_events,
	.end = elements_end,
	.free = elements_free,
};

struct itrace_mouth *itrace_opencsd_elements_new(struct itrace_program *program, struct itrace_output *out, bool fold)
{
	struct opencsd_elements *self = calloc(1, sizeof(*self));

	(void)program;
	(void)fold;
	if (!self)
		return NULL;
	self->mouth.ops = &elements_ops;
	self->out = out;
	return &self->mouth;
}
