// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "btrace.h"
#include "capture.h"
#include "decode_outcome.h"
#include "decode_pass.h"
#include "decode_run.h"
#include "decode_state.h"
#include "ledger_report.h"
#include "listing.h"
#include "message.h"
#include "snapshot_export.h"

/* The program that the object which was captured from knows, where the options name none. */
static bool take_object_program(struct itrace_decode_state *run)
{
	const struct itrace_capture *capture = run->io->capture;

	if (!capture || run->options.elf_count)
		return true;
	for (size_t i = 0; i < capture->elf_count; i++)
		if (!itrace_decode_options_add_elf(&run->options, capture->elfs[i]))
			return itrace_decode_fail(run, "no memory");
	return true;
}

static bool load_program(struct itrace_decode_state *run)
{
	char why[ITRACE_MESSAGE_MAX];

	run->symbols = itrace_symbols_new();
	run->disassembly = itrace_disassembly_new();
	if (!run->symbols || !run->disassembly)
		return itrace_decode_fail(run, "no memory");
	for (size_t i = 0; i < run->options.elf_count; i++) {
		const struct itrace_option_file *file = &run->options.elfs[i];
		if (itrace_symbols_add_elf(run->symbols, file->path, file->addr, why, sizeof(why)) < 0)
			return itrace_decode_fail(run, why);
		if (why[0])
			itrace_warn(run->io, "%s", why);
	}
	for (size_t i = 0; i < run->options.image_count; i++) {
		const struct itrace_option_file *file = &run->options.images[i];
		if (itrace_symbols_add_image(run->symbols, file->path, file->addr, why, sizeof(why)) < 0)
			return itrace_decode_fail(run, why);
		if (why[0])
			itrace_warn(run->io, "%s", why);
	}
	run->program.symbols = run->symbols;
	run->program.disassembly = run->disassembly;
	return true;
}

static bool load_snapshot(struct itrace_decode_state *run)
{
	char why[ITRACE_MESSAGE_MAX];

	if (!run->options.snapshot)
		return true;
	int number = itrace_symbols_add_source(run->symbols, "memory dumps");
	if (number < 0)
		return itrace_decode_fail(run, "too many ELF files and images");
	run->snapshot = itrace_snapshot_read(run->options.snapshot, (unsigned int)number, why, sizeof(why));
	return run->snapshot || itrace_decode_fail(run, why);
}

static bool resolve(struct itrace_decode_state *run, const char *text, bool *has, uint64_t *addr)
{
	char why[ITRACE_MESSAGE_MAX];

	if (!text)
		return true;
	*has = true;
	if (!itrace_program_address(&run->program, text, addr, why, sizeof(why)))
		return itrace_decode_fail(run, why);
	if (why[0])
		itrace_warn(run->io, "%s", why);
	return true;
}

static bool prepare_selection(struct itrace_decode_state *run)
{
	const struct itrace_decode_options *options = &run->options;
	struct itrace_selection_rules *rules = &run->rules;

	rules->has_first = options->first_given;
	rules->first = options->first;
	rules->has_last = options->last_given;
	rules->last = options->last;
	rules->context = options->context;
	rules->el = options->el;
	if (!resolve(run, options->from, &rules->has_from, &rules->from) ||
			!resolve(run, options->to, &rules->has_to, &rules->to))
		return false;
	run->selecting = !itrace_selection_is_all(rules);
	return true;
}

static bool prepare_memory(struct itrace_decode_state *run)
{
	bool keep = false;

	if (!run->options.memory)
		return true;
	if (!run->io->read_memory) {
		itrace_error(run->io, "%smemory: there is no target to read memory from; give the code as "
				"%self or %simage", run->dash, run->dash, run->dash);
		run->failed = true;
		return false;
	}
	for (size_t i = 0; i < run->options.export_count; i++)
		keep = keep || run->options.exports[i].kind == ITRACE_EXPORT_SNAPSHOT;
	itrace_live_memory_init(&run->live, run->io, keep);
	run->have_live = true;
	return true;
}

static const char *export_path(const struct itrace_decode_state *run, enum itrace_export kind)
{
	for (size_t i = 0; i < run->options.export_count; i++)
		if (run->options.exports[i].kind == kind)
			return run->options.exports[i].path;
	return NULL;
}

/* The buffers are read a second time when a snapshot is written. */
static bool prepare_snapshot_export(struct itrace_decode_state *run)
{
	char why[ITRACE_MESSAGE_MAX];

	if (!export_path(run, ITRACE_EXPORT_SNAPSHOT))
		return true;
	for (size_t i = 0; i < run->plan.buffer_count; i++)
		if (!itrace_trace_file_spool(&run->plan.buffers[i].file, UINT64_MAX, itrace_decode_tick, run, why,
				sizeof(why)))
			return itrace_decode_fail(run, why);
	return true;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return !stat(a, &left) && !stat(b, &right) && S_ISREG(left.st_mode) && left.st_dev == right.st_dev &&
			left.st_ino == right.st_ino;
}

static bool is_open_file(const char *path, int fd)
{
	struct stat left, right;

	return !stat(path, &left) && !fstat(fd, &right) && S_ISREG(left.st_mode) && left.st_dev == right.st_dev &&
			left.st_ino == right.st_ino;
}

/* What the decode reads that is the file @a path; NULL: nothing. */
static const char *input_at(const struct itrace_decode_state *run, const char *path)
{
	const struct itrace_decode_options *options = &run->options;

	/* standard input has no path, but may be a file */
	for (size_t i = 0; i < run->plan.buffer_count; i++)
		if (is_open_file(path, run->plan.buffers[i].file.fd))
			return "the trace itself";
	for (size_t i = 0; i < options->elf_count; i++)
		if (is_same_file(path, options->elfs[i].path))
			return "the program itself";
	for (size_t i = 0; i < options->image_count; i++)
		if (is_same_file(path, options->images[i].path))
			return "the program itself";
	return run->snapshot && itrace_snapshot_has_file(run->snapshot, path) ? "a file of the snapshot itself" : NULL;
}

static bool check_output(struct itrace_decode_state *run, const char *option, const char *path)
{
	const char *what = path ? input_at(run, path) : NULL;

	if (!what)
		return true;
	itrace_error(run->io, "%s '%s' is %s; name another file", option, path, what);
	run->failed = true;
	return false;
}

/*
 * Nothing that is read may be written over; also before a long decode it is said that there is no place for its result.
 */
static bool check_outputs(struct itrace_decode_state *run)
{
	const char *dir = export_path(run, ITRACE_EXPORT_SNAPSHOT);
	char why[ITRACE_MESSAGE_MAX];

	if (!check_output(run, "-o", run->options.output) ||
			!check_output(run, "btrace:", export_path(run, ITRACE_EXPORT_BTRACE)))
		return false;
	return !dir || itrace_snapshot_export_check(dir, &run->plan, why, sizeof(why)) || itrace_decode_fail(run, why);
}

static bool open_output(struct itrace_decode_state *run)
{
	char why[ITRACE_MESSAGE_MAX];

	return itrace_output_open(&run->out, run->options.output, run->io, why, sizeof(why)) ||
			itrace_decode_fail(run, why);
}

static bool open_mouths(struct itrace_decode_state *run)
{
	const char *path = export_path(run, ITRACE_EXPORT_BTRACE);

	if (itrace_decode_tap(run->format) == ITRACE_TAP_NONE) {
		run->listing = itrace_listing_new(run->format, &run->program, &run->out, run->options.fold);
		if (!run->listing)
			return itrace_decode_fail(run, "no memory");
	}
	if (path && run->options.output && is_same_file(path, run->options.output))
		return itrace_decode_fail(run, "-o and btrace name the same file; give each its own");
	if (path) {
		run->btrace = itrace_btrace_new(&run->program, path);
		if (!run->btrace)
			return itrace_decode_fail(run, "no memory");
		if (itrace_btrace_error(run->btrace))
			return itrace_decode_fail(run, itrace_btrace_error(run->btrace));
	}
	run->interleaved = run->options.all_streams && !run->selecting && !run->btrace &&
			(run->format == ITRACE_FORMAT_OPENCSD_PACKETS || run->format == ITRACE_FORMAT_OPENCSD_ELEMENTS);
	return true;
}

static void choose_format(struct itrace_decode_state *run)
{
	run->format = run->options.format;
	if (run->format == ITRACE_FORMAT_DEFAULT)
		run->format = itrace_symbols_have_names(run->symbols) ? ITRACE_FORMAT_FUNCTIONS : ITRACE_FORMAT_INSTRUCTIONS;
}

static bool prepare(struct itrace_decode_state *run)
{
	if (!take_object_program(run) || !load_program(run) || !load_snapshot(run))
		return false;
	choose_format(run);
	if (!prepare_selection(run) || !prepare_memory(run))
		return false;
	if (!itrace_plan_make(&run->plan, &run->options, run->dash, run->io, run->snapshot, itrace_decode_tick, run)) {
		run->failed = true;
		return false;
	}
	/* the others are decoded, but that one is not is no success */
	run->failed = run->plan.incomplete;
	return check_outputs(run) && prepare_snapshot_export(run) && open_output(run) && open_mouths(run);
}

static bool write_snapshot(struct itrace_decode_state *run, const char *dir)
{
	size_t count = run->plan.stream_count;
	struct itrace_export_code *code = calloc(count, sizeof(*code));
	char why[ITRACE_MESSAGE_MAX] = "snapshot: no memory";
	bool ok = code;

	for (size_t i = 0; i < count && ok; i++) {
		struct itrace_segment *segments;
		ok = itrace_decode_code(run, i, &segments, &code[i].count);
		if (!ok)
			break;
		code[i].segments = segments;
		if (!run->live.count)
			continue;
		struct itrace_segment *all = realloc(segments, (code[i].count + run->live.count) * sizeof(*all));
		ok = all;
		if (!all)
			break;
		memcpy(all + code[i].count, run->live.segments, run->live.count * sizeof(*all));
		code[i].segments = all;
		code[i].count += run->live.count;
	}
	ok = ok && itrace_snapshot_export(dir, &run->plan, code, why, sizeof(why));
	for (size_t i = 0; code && i < count; i++)
		free((void *)(uintptr_t)code[i].segments);
	free(code);
	return ok || itrace_decode_fail(run, why);
}

static void finish_exports(struct itrace_decode_state *run)
{
	const char *dir = export_path(run, ITRACE_EXPORT_SNAPSHOT);

	if (run->btrace) {
		itrace_mouth_finish(run->btrace, &run->ledger);
		if (itrace_btrace_error(run->btrace))
			itrace_decode_fail(run, itrace_btrace_error(run->btrace));
	}
	if (dir)
		write_snapshot(run, dir);
}

static enum itrace_decode_status finish(struct itrace_decode_state *run)
{
	char why[ITRACE_MESSAGE_MAX];

	if (run->listing)
		itrace_mouth_finish(run->listing, &run->ledger);
	finish_exports(run);
	bool closed = itrace_output_stopped(&run->out);
	if (!itrace_output_close(&run->out, why, sizeof(why)))
		itrace_decode_fail(run, why);
	itrace_decode_tell_ledger(run);
	if (run->failed)
		return ITRACE_DECODE_NOTHING;
	if (itrace_decode_is_nothing(run) && !closed) {
		itrace_decode_explain_nothing(run);
		return ITRACE_DECODE_NOTHING;
	}
	return itrace_ledger_gaps(&run->ledger) ? ITRACE_DECODE_GAPS : ITRACE_DECODE_OK;
}

static void release(struct itrace_decode_state *run)
{
	char why[ITRACE_MESSAGE_MAX];

	itrace_output_close(&run->out, why, sizeof(why));
	itrace_mouth_free(run->listing);
	itrace_mouth_free(run->btrace);
	itrace_plan_free(&run->plan);
	itrace_snapshot_free(run->snapshot);
	itrace_live_memory_free(&run->live);
	itrace_disassembly_free(run->disassembly);
	itrace_symbols_free(run->symbols);
}

static enum itrace_decode_status decode(struct itrace_decode_state *run)
{
	itrace_decode_start_clock(run);
	itrace_ledger_init(&run->ledger);
	run->out.fd = -1;
	if (!prepare(run))
		return ITRACE_DECODE_NOTHING;
	run->begun = true;
	if (!itrace_decode_streams(run))
		run->failed = true;
	return finish(run);
}

enum itrace_decode_status itrace_decode_run(const char *const *argv, int argc, const char *dash,
		const struct itrace_decode_io *io, char *ledger_dict, size_t ledger_size)
{
	struct itrace_decode_state *run = calloc(1, sizeof(*run));
	enum itrace_decode_status status = ITRACE_DECODE_USAGE;
	char why[ITRACE_MESSAGE_MAX];

	if (ledger_dict && ledger_size)
		ledger_dict[0] = 0;
	if (!run) {
		itrace_error(io, "no memory");
		return ITRACE_DECODE_NOTHING;
	}
	run->io = io;
	run->dash = dash;
	const char *object = io->capture ? io->capture->name : NULL;
	if (!itrace_decode_options_parse(&run->options, argv, argc, object, dash, why, sizeof(why))) {
		itrace_error(io, "%s", why);
	} else if (run->options.help) {
		itrace_decode_usage(dash, io);
		status = ITRACE_DECODE_OK;
	} else {
		status = decode(run);
		if (run->begun && ledger_dict && ledger_size)
			itrace_ledger_dict(&run->ledger, run->symbols, ledger_dict, ledger_size);
	}
	release(run);
	itrace_decode_options_free(&run->options);
	free(run);
	return status;
}

void itrace_decode_usage(const char *dash, const struct itrace_decode_io *io)
{
	char line[512];

	for (unsigned int i = 0; itrace_decode_options_help(i, dash, line, sizeof(line) - 1); i++) {
		strcat(line, "\n");
		if (io->write(io->ctx, line, strlen(line)))
			return;
	}
}

const char *itrace_decode_build(void)
{
	static char text[160];

	snprintf(text, sizeof(text), "%s, %s", itrace_symbols_build(), itrace_disassembly_build());
	return text;
}
