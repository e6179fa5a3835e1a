/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is decoded: which buffers, how they are framed, which trace IDs in them, and with which registers.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_PLAN_H
#define OPENOCD_ITRACE_REPORT_DECODE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../cs_frame.h"
#include "../ete_config.h"
#include "decode_options.h"
#include "mtb_source.h"
#include "decode_io.h"
#include "snapshot.h"
#include "trace_file.h"

struct itrace_plan_buffer {
	const char *path;
	const char *name;
	enum itrace_framing framing;
	size_t index;			/* in the snapshot; SIZE_MAX: none */
	struct itrace_trace_file file;	/* kept open from plan to decode, because a pipe can be read once */
	uint64_t id_len[ITRACE_ID_NUM];	/* framed: bytes by ID, of the whole buffer or (pipe) of its beginning */
	bool scanned;			/* id_len is of the whole buffer */
};

struct itrace_plan_stream {
	size_t buffer;			/* index in buffers */
	unsigned int id;		/* in the frames; ITRACE_ID_NONE: not framed */
	const char *source;		/* name of the trace source, NULL: not known */
	size_t source_index;		/* in the snapshot; SIZE_MAX: none */
	enum itrace_protocol protocol;
	enum itrace_profile profile;
	enum itrace_arch arch;
	struct itrace_ete_registers regs;
	struct itrace_mtb_source mtb;	/* when protocol says so; regs then mean nothing */
	const char *core_type;		/* as a snapshot has it; NULL: a name for profile and arch */
};

struct itrace_plan {
	const struct itrace_decode_options *options;
	const char *dash;
	const struct itrace_decode_io *io;
	const struct itrace_snapshot *snapshot;
	bool (*stop)(void *ctx);	/* asked now and then while buffers are scanned */
	void *ctx;
	struct itrace_plan_buffer *buffers;
	size_t buffer_count;
	struct itrace_plan_stream *streams;
	size_t stream_count;
	char defaulted[512];		/* registers that were defaulted; "" when none */
	bool incomplete;		/* a buffer is left out because it cannot be decoded */
};

/*
 * Make the plan that the options ask for. @a snapshot is NULL when the source is a file, or io->capture.
 * Everything that goes wrong has been given to io->message.
 * @returns false when nothing can be decoded. Call itrace_plan_free() in either case.
 */
bool itrace_plan_make(struct itrace_plan *plan, const struct itrace_decode_options *options, const char *dash,
		const struct itrace_decode_io *io, const struct itrace_snapshot *snapshot, bool (*stop)(void *ctx),
		void *ctx);

void itrace_plan_free(struct itrace_plan *plan);

/* What a message calls a buffer: the path of its file, or "standard input". */
const char *itrace_plan_label(const struct itrace_plan_buffer *buffer);

/* The IDs of a buffer that carry bytes, "0x10 (4096 bytes), 0x12 (16 bytes)"; of many the first. @returns how many. */
unsigned int itrace_plan_list_ids(const struct itrace_plan_buffer *buffer, char *text, size_t size);

#endif /* OPENOCD_ITRACE_REPORT_DECODE_PLAN_H */
