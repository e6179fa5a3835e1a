// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../status.h"
#include "capture.h"
#include "decode_plan.h"
#include "framing_guess.h"
#include "message.h"

#define FIRST_ID	0x01u
#define LAST_ID		0x6fu
#define LISTED_IDS	16u	/* in a message */

static bool fail(const struct itrace_plan *plan, const char *text)
{
	itrace_error(plan->io, "%s", text);
	return false;
}

const char *itrace_plan_label(const struct itrace_plan_buffer *buffer)
{
	return strcmp(buffer->path, "-") ? buffer->path : "standard input";
}

/* ---- registers ---- */

/* Those that decoding of every trace needs; the rest only matters for what they enable. */
static const char *const needed_registers[] = {
	"TRCCONFIGR", "TRCDEVARCH", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8"
};

static bool is_given(const struct itrace_decode_options *options, const char *name)
{
	struct itrace_ete_registers regs;

	for (size_t i = 0; i < options->reg_count; i++)
		/* as values of one struct, because names are told apart without regard to case */
		if (itrace_ete_register(&regs, options->regs[i].name) == itrace_ete_register(&regs, name))
			return true;
	return false;
}

/* Those of an MTB are no help to another trace unit. */
static bool check_registers(const struct itrace_plan *plan)
{
	struct itrace_ete_registers regs;

	for (size_t i = 0; i < plan->options->reg_count; i++) {
		if (itrace_ete_register(&regs, plan->options->regs[i].name))
			continue;
		itrace_error(plan->io, "%sreg: %s is a register of an MTB, and this trace is of another trace unit (MTB: "
				"%sprotocol mtb)", plan->dash, plan->options->regs[i].name, plan->dash);
		return false;
	}
	return true;
}

static void apply_registers(const struct itrace_decode_options *options, struct itrace_ete_registers *regs)
{
	for (size_t i = 0; i < options->reg_count; i++)
		*itrace_ete_register(regs, options->regs[i].name) = options->regs[i].value;
}

static void list_defaulted(struct itrace_plan *plan, struct itrace_ete_registers *regs)
{
	size_t len = 0;

	for (size_t i = 0; i < sizeof(needed_registers) / sizeof(needed_registers[0]); i++) {
		const char *name = needed_registers[i];
		if (is_given(plan->options, name))
			continue;
		int n = snprintf(plan->defaulted + len, sizeof(plan->defaulted) - len, "%s%s=0x%08" PRIx32, len ? " " : "",
				name, *itrace_ete_register(regs, name));
		if (n < 0 || (size_t)n >= sizeof(plan->defaulted) - len)
			return;
		len += (size_t)n;
	}
}

/* ---- streams ---- */

static struct itrace_plan_stream *add_stream(struct itrace_plan *plan, size_t buffer, unsigned int id)
{
	struct itrace_plan_stream *grown = realloc(plan->streams, (plan->stream_count + 1) * sizeof(*grown));

	if (!grown) {
		fail(plan, "no memory");
		return NULL;
	}
	plan->streams = grown;
	struct itrace_plan_stream *stream = &grown[plan->stream_count++];
	memset(stream, 0, sizeof(*stream));
	stream->buffer = buffer;
	stream->id = id;
	stream->source_index = SIZE_MAX;
	return stream;
}

static enum itrace_protocol file_protocol(const struct itrace_decode_options *options)
{
	return options->protocol < 0 ? ITRACE_PROTOCOL_ETE : (enum itrace_protocol)options->protocol;
}

/* A stream of a file: one set of registers, by the options, for whatever trace ID. */
static bool add_file_stream(struct itrace_plan *plan, unsigned int id)
{
	const struct itrace_decode_options *options = plan->options;
	struct itrace_plan_stream *stream = add_stream(plan, 0, id);

	if (!stream)
		return false;
	stream->protocol = file_protocol(options);
	itrace_core_type(options->core ? options->core : "ARM-AA64", &stream->profile, &stream->arch);
	itrace_ete_registers_default(stream->protocol, &stream->regs);
	apply_registers(options, &stream->regs);
	if (id != ITRACE_ID_NONE)
		stream->regs.trctraceidr = id;
	else if (options->trace_id >= 0)
		stream->regs.trctraceidr = (uint32_t)options->trace_id;
	if (!plan->defaulted[0])
		list_defaulted(plan, &stream->regs);
	return true;
}

static void take_capture(struct itrace_plan_stream *stream, const struct itrace_capture *capture)
{
	stream->source = capture->name;
	stream->core_type = capture->core;
	if (capture->core)
		itrace_core_type(capture->core, &stream->profile, &stream->arch);
	stream->mtb.regs = capture->mtb;
	stream->mtb.hints.seams = capture->seams;
	stream->mtb.hints.seam_count = capture->seam_count;
}

/* The trace of an MTB, which is read in the order of its ring: of a pipe all is kept. */
static bool add_mtb_stream(struct itrace_plan *plan, size_t index, const struct itrace_snapshot_source *source,
		size_t source_index)
{
	struct itrace_plan_buffer *buffer = &plan->buffers[index];
	const char *wrong = itrace_decode_options_mtb(plan->options);
	char why[ITRACE_MESSAGE_MAX];

	if (wrong)
		return fail(plan, wrong);
	if (buffer->framing != ITRACE_FRAMING_RAW) {
		itrace_error(plan->io, "buffer %s: MTB trace has no frames; give its format as source_data", buffer->name);
		return false;
	}
	struct itrace_plan_stream *stream = add_stream(plan, index, ITRACE_ID_NONE);
	if (!stream)
		return false;
	stream->protocol = ITRACE_PROTOCOL_MTB;
	stream->profile = ITRACE_PROFILE_M;
	stream->arch = ITRACE_ARCH_V8;
	stream->source_index = source_index;
	if (source) {
		stream->source = source->name;
		stream->mtb.regs = source->mtb;
		stream->mtb.hints.seams = source->seams;
		stream->mtb.hints.seam_count = source->seam_count;
	} else if (plan->io->capture) {
		take_capture(stream, plan->io->capture);
	}
	if (!itrace_mtb_source_registers(&stream->mtb, plan->options, plan->dash, plan->io))
		return false;
	if (!itrace_trace_file_spool(&buffer->file, itrace_mtb_source_most(&stream->mtb, plan->options), plan->stop,
			plan->ctx, why, sizeof(why)))
		return fail(plan, why);
	return itrace_mtb_source_find(&stream->mtb, plan->options, itrace_plan_label(buffer), buffer->file.size, plan->dash,
			plan->io);
}

static bool add_source_stream(struct itrace_plan *plan, size_t buffer, unsigned int id, size_t index)
{
	const struct itrace_snapshot_source *source = &plan->snapshot->sources[index];

	if (source->why)
		return fail(plan, source->why);
	if (source->protocol == ITRACE_PROTOCOL_MTB)
		return add_mtb_stream(plan, buffer, source, index);
	if (plan->options->buffer_given) {
		itrace_error(plan->io, "%sbuffer goes with MTB trace; %s is of another trace unit", plan->dash, source->ini);
		return false;
	}
	if (!check_registers(plan))
		return false;
	struct itrace_plan_stream *stream = add_stream(plan, buffer, id);
	if (!stream)
		return false;
	stream->source = source->name;
	stream->source_index = index;
	stream->protocol = source->protocol;
	stream->profile = source->profile;
	stream->arch = source->arch;
	stream->regs = source->regs;
	apply_registers(plan->options, &stream->regs);
	if (source->defaulted[0])
		itrace_inform(plan->io, "%s: registers not given, decoded with their defaults: %s",
				source->ini, source->defaulted);
	return true;
}

/* ---- buffers ---- */

/* The buffer is not yet opened. @returns NULL without memory; that has been told. */
static struct itrace_plan_buffer *new_buffer(struct itrace_plan *plan, const char *path, const char *name,
		enum itrace_framing framing, size_t index)
{
	struct itrace_plan_buffer *grown = realloc(plan->buffers, (plan->buffer_count + 1) * sizeof(*grown));

	if (!grown) {
		fail(plan, "no memory");
		return NULL;
	}
	plan->buffers = grown;
	struct itrace_plan_buffer *buffer = &grown[plan->buffer_count++];
	memset(buffer, 0, sizeof(*buffer));
	buffer->path = path;
	buffer->name = name;
	buffer->framing = framing;
	buffer->index = index;
	buffer->file.fd = -1;
	return buffer;
}

static struct itrace_plan_buffer *add_buffer(struct itrace_plan *plan, const char *path, const char *name,
		enum itrace_framing framing, size_t index)
{
	struct itrace_plan_buffer *buffer = new_buffer(plan, path, name, framing, index);
	char why[ITRACE_MESSAGE_MAX];

	if (!buffer)
		return NULL;
	if (!itrace_trace_file_open(&buffer->file, path, why, sizeof(why))) {
		fail(plan, why);
		return NULL;
	}
	buffer->file.stop = plan->stop;
	buffer->file.stop_ctx = plan->ctx;
	return buffer;
}

static void count_ids(struct itrace_cs_frame *frame, uint64_t off, const uint8_t *bytes, size_t len)
{
	struct itrace_frame_run run;

	itrace_cs_frame_feed(frame, off, bytes, len);
	while (itrace_cs_frame_next(frame, &run))
		;
}

/* Which IDs are in a framed buffer: of a file the whole is read, of a pipe the beginning. */
static bool scan_ids(struct itrace_plan *plan, struct itrace_plan_buffer *buffer)
{
	struct itrace_cs_frame frame;
	char why[ITRACE_MESSAGE_MAX];
	const uint8_t *bytes;
	long len;

	itrace_cs_frame_init(&frame, buffer->framing);
	if (!buffer->file.seekable) {
		len = itrace_trace_file_peek(&buffer->file, &bytes, why, sizeof(why));
		if (len < 0)
			return fail(plan, why);
		count_ids(&frame, 0, bytes, (size_t)len);
	} else {
		uint64_t off = 0;
		while (!plan->stop(plan->ctx) && (len = itrace_trace_file_read(&buffer->file, &bytes, why, sizeof(why))) != 0) {
			if (len < 0)
				return fail(plan, why);
			count_ids(&frame, off, bytes, (size_t)len);
			off += (uint64_t)len;
		}
		if (!itrace_trace_file_rewind(&buffer->file, why, sizeof(why)))
			return fail(plan, why);
		buffer->scanned = true;
	}
	memcpy(buffer->id_len, frame.id_len, sizeof(buffer->id_len));
	if (!plan->stop(plan->ctx))
		return true;
	itrace_error(plan->io, "%s: stopped while trace IDs were looked for", itrace_plan_label(buffer));
	return false;
}

unsigned int itrace_plan_list_ids(const struct itrace_plan_buffer *buffer, char *text, size_t size)
{
	unsigned int count = 0;
	size_t len = 0;

	text[0] = 0;
	for (unsigned int id = FIRST_ID; id <= LAST_ID; id++) {
		if (!buffer->id_len[id])
			continue;
		if (count++ >= LISTED_IDS)
			continue;
		int n = snprintf(text + len, size - len, "%s0x%02x (%" PRIu64 " bytes)", len ? ", " : "", id,
				buffer->id_len[id]);
		if (n > 0 && (size_t)n < size - len)
			len += (size_t)n;
	}
	/* so many come of bytes that are no frames */
	if (count > LISTED_IDS)
		snprintf(text + len, size - len, " and %u more (is the framing right?)", count - LISTED_IDS);
	return count;
}

/* ---- the source is a file ---- */

static bool guess_framing(struct itrace_plan *plan, struct itrace_plan_buffer *buffer)
{
	const struct itrace_decode_options *options = plan->options;
	enum itrace_protocol protocol = file_protocol(options);
	struct itrace_ete_registers regs;
	struct itrace_ete_config config;
	char reason[ITRACE_MESSAGE_MAX];
	enum itrace_profile profile;
	enum itrace_arch arch;
	const char *why = "";
	const uint8_t *bytes;

	if (options->framing != ITRACE_FRAMING_AUTO) {
		buffer->framing = (enum itrace_framing)options->framing;
		return true;
	}
	itrace_core_type(options->core ? options->core : "ARM-AA64", &profile, &arch);
	itrace_ete_registers_default(protocol, &regs);
	apply_registers(options, &regs);
	if (itrace_ete_config_init(&config, protocol, profile, arch, &regs, &why) != ITRACE_OK) {
		itrace_error(plan->io, "registers: %s", why);
		return false;
	}
	long len = itrace_trace_file_peek(&buffer->file, &bytes, reason, sizeof(reason));
	if (len < 0)
		return fail(plan, reason);
	buffer->framing = itrace_framing_guess(&config, bytes, (size_t)len, reason, sizeof(reason));
	if (len)
		itrace_inform(plan->io, "%s", reason);
	return true;
}

/* The only ID, or with all-streams every ID. */
static bool plan_file_ids(struct itrace_plan *plan, struct itrace_plan_buffer *buffer)
{
	char list[1024], why[ITRACE_MESSAGE_MAX];

	if (!scan_ids(plan, buffer))
		return false;
	/* a pipe, which may have no end, is kept only when there is something in it */
	if (plan->options->all_streams && !buffer->scanned && itrace_plan_list_ids(buffer, list, sizeof(list))) {
		if (!itrace_trace_file_spool(&buffer->file, UINT64_MAX, plan->stop, plan->ctx, why, sizeof(why)))
			return fail(plan, why);
		if (!scan_ids(plan, buffer))
			return false;
	}
	unsigned int count = itrace_plan_list_ids(buffer, list, sizeof(list));
	if (!count) {
		if (buffer->file.seekable && !buffer->file.size)
			itrace_error(plan->io, "%s: there is no byte of trace (0 bytes)", itrace_plan_label(buffer));
		else
			itrace_error(plan->io, "%s: no trace ID in its %s frames; %sframing auto "
					"looks for another framing", itrace_plan_label(buffer),
					itrace_framing_name(buffer->framing), plan->dash);
		return false;
	}
	if (count > 1 && !plan->options->all_streams) {
		itrace_error(plan->io, "%s holds %u trace IDs: %s; choose one with %strace-id or give "
				"%sall-streams", itrace_plan_label(buffer), count, list, plan->dash, plan->dash);
		return false;
	}
	for (unsigned int id = FIRST_ID; id <= LAST_ID; id++)
		if (buffer->id_len[id] && !add_file_stream(plan, id))
			return false;
	return true;
}

static bool plan_file(struct itrace_plan *plan)
{
	const char *path = plan->options->trace;
	const char *name = strcmp(path, "-") ? path : "stdin";
	struct itrace_plan_buffer *buffer = add_buffer(plan, path, name, ITRACE_FRAMING_RAW, SIZE_MAX);

	if (!buffer)
		return false;
	if (plan->options->protocol == ITRACE_PROTOCOL_MTB)
		return add_mtb_stream(plan, 0, NULL, SIZE_MAX);
	if (!check_registers(plan) || !guess_framing(plan, buffer))
		return false;
	if (buffer->framing == ITRACE_FRAMING_RAW)
		return add_file_stream(plan, ITRACE_ID_NONE);
	if (plan->options->trace_id >= 0)
		return add_file_stream(plan, (unsigned int)plan->options->trace_id);
	return plan_file_ids(plan, buffer);
}

/* ---- the source is a capture in memory ---- */

static bool plan_capture(struct itrace_plan *plan)
{
	const struct itrace_capture *capture = plan->io->capture;
	char why[ITRACE_MESSAGE_MAX];
	enum itrace_profile profile;
	enum itrace_arch arch;

	if (capture->protocol != ITRACE_PROTOCOL_MTB) {
		itrace_error(plan->io, "%s: only the capture of an MTB can be decoded from memory", capture->name);
		return false;
	}
	if (capture->core && (!itrace_core_type(capture->core, &profile, &arch) || profile != ITRACE_PROFILE_M)) {
		itrace_error(plan->io, "%s: core type '%s' is no M-profile core that is known", capture->name, capture->core);
		return false;
	}
	struct itrace_plan_buffer *buffer = new_buffer(plan, capture->name, capture->name, ITRACE_FRAMING_RAW, SIZE_MAX);
	if (!buffer)
		return false;
	if (!itrace_trace_file_open_memory(&buffer->file, capture->name, capture->bytes, capture->len, why, sizeof(why)))
		return fail(plan, why);
	return add_mtb_stream(plan, 0, NULL, SIZE_MAX);
}

/* ---- the source is a snapshot ---- */

static unsigned int source_id(const struct itrace_plan *plan, size_t source)
{
	return plan->snapshot->sources[source].regs.trctraceidr & 0x7f;
}

static bool feeds(const struct itrace_plan *plan, const struct itrace_snapshot_buffer *buffer, unsigned int id,
		size_t *source)
{
	for (size_t i = 0; i < buffer->source_count; i++) {
		if (source_id(plan, buffer->sources[i]) != id)
			continue;
		*source = buffer->sources[i];
		return true;
	}
	return false;
}

/* One line on what is left out, because the snapshot does not say how to decode it. */
static void warn_unknown_ids(struct itrace_plan *plan, const struct itrace_plan_buffer *buffer,
		const struct itrace_snapshot_buffer *from)
{
	struct itrace_plan_buffer unknown = *buffer;
	char list[1024];
	size_t source;

	for (unsigned int id = FIRST_ID; id <= LAST_ID; id++)
		if (feeds(plan, from, id, &source))
			unknown.id_len[id] = 0;
	if (itrace_plan_list_ids(&unknown, list, sizeof(list)))
		itrace_warn(plan->io, "buffer %s: trace IDs of which the snapshot knows no source are left out: %s",
				from->name, list);
}

/* Of the IDs that carry bytes: those that a source of the snapshot has. */
static bool plan_snapshot_ids(struct itrace_plan *plan, size_t planned, const struct itrace_snapshot_buffer *from)
{
	struct itrace_plan_buffer *buffer = &plan->buffers[planned];
	const struct itrace_decode_options *options = plan->options;
	unsigned int known = 0;
	char list[1024];
	size_t source;

	if (!scan_ids(plan, buffer))
		return false;
	unsigned int count = itrace_plan_list_ids(buffer, list, sizeof(list));
	for (unsigned int id = FIRST_ID; id <= LAST_ID; id++)
		known += buffer->id_len[id] && feeds(plan, from, id, &source);
	if (options->trace_id < 0 && known > 1 && !options->all_streams) {
		itrace_error(plan->io, "buffer %s holds %u trace IDs: %s; choose one with %strace-id or give "
				"%sall-streams", from->name, count, list, plan->dash, plan->dash);
		return false;
	}
	if (!known) {
		itrace_error(plan->io, "buffer %s: none of its trace IDs (%s) is the TRCTRACEIDR of a source "
				"that [source_buffers] names for it", from->name, count ? list : "it has none");
		return false;
	}
	if (options->trace_id >= 0 && !buffer->id_len[options->trace_id]) {
		itrace_error(plan->io, "buffer %s holds no bytes of trace ID 0x%02x; it holds %s",
				from->name, (unsigned int)options->trace_id, list);
		return false;
	}
	if (options->trace_id < 0)
		warn_unknown_ids(plan, buffer, from);
	for (unsigned int id = FIRST_ID; id <= LAST_ID; id++) {
		if (!buffer->id_len[id] || (options->trace_id >= 0 && id != (unsigned int)options->trace_id))
			continue;
		if (feeds(plan, from, id, &source) && !add_source_stream(plan, planned, id, source))
			return false;
	}
	return true;
}

static bool plan_snapshot_buffer(struct itrace_plan *plan, size_t index)
{
	const struct itrace_snapshot_buffer *from = &plan->snapshot->buffers[index];

	if (from->why)
		return fail(plan, from->why);
	if (!from->source_count) {
		itrace_error(plan->io, "%s: [source_buffers] names no trace source for buffer %s (%s)",
				plan->snapshot->dir, from->name, from->section);
		return false;
	}
	if (!add_buffer(plan, from->path, from->name, from->framing, index))
		return false;
	size_t planned = plan->buffer_count - 1;
	if (from->framing == ITRACE_FRAMING_RAW)
		return add_source_stream(plan, planned, ITRACE_ID_NONE, from->sources[0]);
	return plan_snapshot_ids(plan, planned, from);
}

/* The first buffer, or the first that trace-id is in. */
static bool choose_buffer(struct itrace_plan *plan, size_t *index)
{
	const struct itrace_decode_options *options = plan->options;
	size_t source;

	*index = 0;
	if (options->trace_id < 0)
		return true;
	for (size_t i = 0; i < plan->snapshot->buffer_count; i++) {
		*index = i;
		if (feeds(plan, &plan->snapshot->buffers[i], (unsigned int)options->trace_id, &source))
			return true;
	}
	itrace_error(plan->io, "%s: no source with trace ID 0x%02x (TRCTRACEIDR) feeds a buffer",
			plan->snapshot->dir, (unsigned int)options->trace_id);
	return false;
}

static bool plan_snapshot(struct itrace_plan *plan)
{
	const struct itrace_snapshot *snapshot = plan->snapshot;
	size_t index;

	for (size_t i = 0; i < snapshot->note_count; i++)
		itrace_warn(plan->io, "%s", snapshot->notes[i]);
	if (!snapshot->buffer_count) {
		itrace_error(plan->io, "%s: trace.ini names no trace buffer", snapshot->dir);
		return false;
	}
	if (!plan->options->all_streams) {
		if (!choose_buffer(plan, &index) || !plan_snapshot_buffer(plan, index))
			return false;
		if (snapshot->buffer_count > 1)
			itrace_inform(plan->io, "decoding buffer %s, one of %zu; %sall-streams decodes all",
				snapshot->buffers[index].name, snapshot->buffer_count, plan->dash);
		return true;
	}

	/* a buffer that cannot be decoded has had its message; the others go on */
	for (size_t i = 0; i < snapshot->buffer_count; i++)
		if (!plan_snapshot_buffer(plan, i))
			plan->incomplete = true;
	return plan->stream_count > 0;
}

bool itrace_plan_make(struct itrace_plan *plan, const struct itrace_decode_options *options, const char *dash,
		const struct itrace_decode_io *io, const struct itrace_snapshot *snapshot, bool (*stop)(void *ctx),
		void *ctx)
{
	memset(plan, 0, sizeof(*plan));
	plan->options = options;
	plan->dash = dash;
	plan->io = io;
	plan->snapshot = snapshot;
	plan->stop = stop;
	plan->ctx = ctx;
	if (!(io->capture ? plan_capture(plan) : snapshot ? plan_snapshot(plan) : plan_file(plan)))
		return false;
	if (plan->defaulted[0])
		itrace_inform(io, "registers not given (%sreg), decoded with their defaults: %s", dash,
				plan->defaulted);
	return true;
}

void itrace_plan_free(struct itrace_plan *plan)
{
	for (size_t i = 0; i < plan->buffer_count; i++)
		itrace_trace_file_close(&plan->buffers[i].file);
	free(plan->buffers);
	free(plan->streams);
	plan->buffers = NULL;
	plan->streams = NULL;
	plan->buffer_count = 0;
	plan->stream_count = 0;
}
