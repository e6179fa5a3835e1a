// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "snapshot_export.h"

#define NAME_SIZE	32

/* Everything that the writer points to. */
/* What of a file is written. */
struct part {
	struct itrace_trace_file *file;
	uint64_t left;
};

struct export {
	struct itrace_snapshot_write_core *cores;
	struct itrace_snapshot_write_source *sources;
	struct itrace_snapshot_write_buffer *buffers;
	struct part *parts;	/* of the files, one for each buffer */
	char (*core_names)[NAME_SIZE];
	char (*source_names)[NAME_SIZE];
	char (*buffer_names)[NAME_SIZE];
};

static long read_buffer(void *ctx, uint8_t *dst, size_t len)
{
	struct part *whole = ctx;
	struct itrace_trace_file *file = whole->file;
	const uint8_t *bytes;
	char why[256];

	if (!whole->left)
		return 0;
	/* the writer's pieces may be smaller than ours: hand out what is left first */
	if (!file->head_len) {
		long got = itrace_trace_file_read(file, &bytes, why, sizeof(why));
		if (got <= 0)
			return got;
		file->head_len = (size_t)got;
	}
	size_t part = file->head_len < len ? file->head_len : len;
	if (part > whole->left)
		part = (size_t)whole->left;
	whole->left -= part;
	memcpy(dst, file->buf, part);
	memmove(file->buf, file->buf + part, file->head_len - part);
	file->head_len -= part;
	return (long)part;
}

static bool allocate(struct export *export, const struct itrace_plan *plan)
{
	size_t streams = plan->stream_count, buffers = plan->buffer_count;

	export->cores = calloc(streams, sizeof(*export->cores));
	export->sources = calloc(streams, sizeof(*export->sources));
	export->buffers = calloc(buffers, sizeof(*export->buffers));
	export->parts = calloc(buffers, sizeof(*export->parts));
	export->core_names = calloc(streams, NAME_SIZE);
	export->source_names = calloc(streams, NAME_SIZE);
	export->buffer_names = calloc(buffers, NAME_SIZE);
	return export->cores && export->sources && export->buffers && export->parts && export->core_names &&
			export->source_names &&
			export->buffer_names;
}

static void release(struct export *export)
{
	free(export->cores);
	free(export->sources);
	free(export->buffers);
	free(export->parts);
	free(export->core_names);
	free(export->source_names);
	free(export->buffer_names);
}

static void fill_streams(struct export *export, const struct itrace_plan *plan, const struct itrace_export_code *code)
{
	for (size_t i = 0; i < plan->stream_count; i++) {
		const struct itrace_plan_stream *stream = &plan->streams[i];

		snprintf(export->core_names[i], NAME_SIZE, "cpu_%zu", i);
		export->cores[i].name = export->core_names[i];
		export->cores[i].profile = stream->profile;
		export->cores[i].arch = stream->arch;
		export->cores[i].type = stream->core_type;
		export->cores[i].segments = code[i].segments;
		export->cores[i].segment_count = code[i].count;

		snprintf(export->source_names[i], NAME_SIZE, "%s_%zu",
				stream->protocol == ITRACE_PROTOCOL_MTB ? "MTB" :
				stream->protocol == ITRACE_PROTOCOL_ETE ? "ETE" : "ETM", i);
		export->sources[i].name = export->source_names[i];
		export->sources[i].protocol = stream->protocol;
		export->sources[i].regs = stream->regs;
		export->sources[i].mtb = stream->mtb.regs;
		export->sources[i].seams = stream->mtb.hints.seams;
		export->sources[i].seam_count = stream->mtb.hints.seam_count;
		/* the front of the buffer is not there: what is there is all that is known, in order */
		if (stream->mtb.ring.front_missing)
			export->sources[i].mtb.given &= ~ITRACE_MTB_REG_POSITION;
		export->sources[i].core = i;
		export->sources[i].buffer = stream->buffer;
	}
}

/* Of a dump of an MTB's memory only its buffer: a snapshot has no address for what is around it. */
static uint64_t choose_part(const struct itrace_plan *plan, size_t buffer, struct part *part)
{
	part->left = UINT64_MAX;
	for (size_t i = 0; i < plan->stream_count; i++) {
		const struct itrace_mtb_ring *ring = &plan->streams[i].mtb.ring;
		if (plan->streams[i].buffer != buffer || plan->streams[i].protocol != ITRACE_PROTOCOL_MTB || !ring->known)
			continue;
		part->left = ring->front_missing ? ring->pieces[0].len : ring->size;
		return ring->dump_off;
	}
	return 0;
}

static bool fill_buffers(struct export *export, struct itrace_plan *plan, char *why, size_t why_size)
{
	for (size_t i = 0; i < plan->buffer_count; i++) {
		struct itrace_plan_buffer *buffer = &plan->buffers[i];

		export->parts[i].file = &buffer->file;
		if (!itrace_trace_file_seek(&buffer->file, choose_part(plan, i, &export->parts[i]), why, why_size))
			return false;
		snprintf(export->buffer_names[i], NAME_SIZE, "ETB_%zu", i);
		export->buffers[i].name = export->buffer_names[i];
		export->buffers[i].framing = buffer->framing;
		export->buffers[i].read = read_buffer;
		export->buffers[i].ctx = &export->parts[i];
	}
	return true;
}

static bool is_same_place(const char *a, const char *b)
{
	struct stat left, right;

	return !stat(a, &left) && !stat(b, &right) && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

/* Whether the file @a path is called like one that is written, and lies in @a dir. */
static bool is_in_the_way(const char *path, const char *dir)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char own[1024];

	if (strncmp(name, "trace", 5) && strncmp(name, "core", 4) && strncmp(name, "source", 6) &&
			strcmp(name, "snapshot.ini"))
		return false;
	int len = snprintf(own, sizeof(own), "%s/%s", dir, name);
	return len > 0 && (size_t)len < sizeof(own) && is_same_place(own, path);
}

static const char *input_in_the_way(const struct itrace_plan *plan, const char *dir)
{
	const struct itrace_decode_options *options = plan->options;

	for (size_t i = 0; i < plan->buffer_count; i++)
		if (!plan->buffers[i].file.memory && is_in_the_way(plan->buffers[i].path, dir))
			return plan->buffers[i].path;
	for (size_t i = 0; i < options->elf_count; i++)
		if (is_in_the_way(options->elfs[i].path, dir))
			return options->elfs[i].path;
	for (size_t i = 0; i < options->image_count; i++)
		if (is_in_the_way(options->images[i].path, dir))
			return options->images[i].path;
	return NULL;
}

bool itrace_snapshot_export_check(const char *dir, const struct itrace_plan *plan, char *why, size_t why_size)
{
	struct stat status;

	/* a snapshot written over itself would lose what it is made of */
	if (plan->snapshot && is_same_place(dir, plan->snapshot->dir)) {
		snprintf(why, why_size, "snapshot: '%s' is the snapshot that is decoded; name another directory", dir);
		return false;
	}
	if (!stat(dir, &status) && !S_ISDIR(status.st_mode)) {
		snprintf(why, why_size, "snapshot: '%s' is not a directory", dir);
		return false;
	}
	const char *lost = input_in_the_way(plan, dir);
	if (lost) {
		snprintf(why, why_size, "snapshot: '%s' would be written over; name another directory", lost);
		return false;
	}
	for (size_t i = 0; i < plan->buffer_count; i++) {
		if (plan->buffers[i].framing == ITRACE_FRAMING_TPIU) {
			snprintf(why, why_size, "snapshot: '%s' has TPIU frames, which a snapshot cannot describe",
					itrace_plan_label(&plan->buffers[i]));
			return false;
		}
	}
	return true;
}

bool itrace_snapshot_export(const char *dir, struct itrace_plan *plan, const struct itrace_export_code *code, char *why,
		size_t why_size)
{
	struct export export = { 0 };
	bool ok = false;

	if (!allocate(&export, plan)) {
		snprintf(why, why_size, "snapshot: no memory");
	} else if (fill_buffers(&export, plan, why, why_size)) {
		fill_streams(&export, plan, code);
		struct itrace_snapshot_content content = {
			.cores = export.cores, .core_count = plan->stream_count,
			.sources = export.sources, .source_count = plan->stream_count,
			.buffers = export.buffers, .buffer_count = plan->buffer_count,
		};
		ok = !itrace_snapshot_write(dir, &content, why, why_size);
	}
	release(&export);
	return ok;
}
