// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Any bytes as the ini files of a snapshot. Zero bytes separate the files: snapshot.ini, trace.ini, cpu.ini, ete.ini;
 * those that the input does not have are good ones.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *name;
	const char *good;
} files[] = {
	{ "trace.ini", "[trace_buffers]\nbuffers=b0,b1\n[b0]\nname=B\nfile=trace.bin\nformat=coresight\n[b1]\nname=C\n"
		"[source_buffers]\nETE=B\nETM=B\n[core_trace_sources]\ncpu=ETE\ncpu2=ETM\n" },
	{ "cpu.ini", "[device]\nname=cpu\nclass=core\ntype=ARM-AA64\n[dump1]\nfile=trace.bin\naddress=0\nlength=4\n" },
	{ "ete.ini", "[device]\nname=ETE\nclass=trace_source\ntype=ETE\n[regs]\nTRCCONFIGR=1\nTRCTRACEIDR=2\nTRCIDR0=3\n"
		"TRCIDR2=4\n" },
	{ "snapshot.ini", "[snapshot]\nversion=1\n[device_list]\nd0=cpu.ini\nd1=ete.ini\nd2=cpu.ini\n[trace]\n"
		"metadata=trace.ini\n" },
	{ "trace.bin", "0123456789" },
};

#define FILES_NUM	(sizeof(files) / sizeof(files[0]))

static char dir[64];

static const char *in_dir(const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void remove_dir(void)
{
	for (size_t i = 0; i < FILES_NUM; i++)
		unlink(in_dir(files[i].name));
	rmdir(dir);
}

static void put_file(const char *name, const void *bytes, size_t len)
{
	FILE *f = fopen(in_dir(name), "wb");
	if (!f)
		return;
	fwrite(bytes, 1, len, f);
	fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[256];

	if (!dir[0]) {
		/* in memory where there is such a place */
		snprintf(dir, sizeof(dir), "%s/fuzz_snapshot.%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
			(long)getpid());
		mkdir(dir, 0700);
		atexit(remove_dir);
	}
	for (size_t i = 0; i < FILES_NUM; i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		size_t len = end ? (size_t)(end - data) : size;
		if (len && i + 1 < FILES_NUM)
			put_file(files[i].name, data, len);
		else
			put_file(files[i].name, files[i].good, strlen(files[i].good));
		data = end ? end + 1 : data + size;
		size = end ? size - len - 1 : 0;
	}

	struct itrace_snapshot *snapshot = itrace_snapshot_read(dir, 1, why, sizeof(why));
	if (!snapshot) {
		if (!why[0] || strchr(why, '\n'))
			abort();
		return 0;
	}
	if (!snapshot->buffer_count)
		abort();
	size_t text_len = 0;
	for (size_t i = 0; i < snapshot->note_count; i++)
		text_len += strlen(snapshot->notes[i]);
	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct itrace_snapshot_source *source = &snapshot->sources[i];
		text_len += strlen(source->name) + strlen(source->type) + strlen(source->ini) + strlen(source->defaulted);
		if (source->core != SIZE_MAX && source->core >= snapshot->core_count)
			abort();
	}
	for (size_t i = 0; i < snapshot->core_count; i++) {
		const struct itrace_snapshot_core *core = &snapshot->cores[i];
		text_len += strlen(core->name) + strlen(core->type) + strlen(core->ini);
		for (size_t k = 0; k < core->segment_count; k++) {
			for (uint64_t n = 0; n < core->segments[k].len; n++)
				text_len += core->segments[k].data[n];
		}
	}
	for (size_t i = 0; i < snapshot->buffer_count; i++) {
		const struct itrace_snapshot_buffer *buffer = &snapshot->buffers[i];
		text_len += strlen(buffer->name) + strlen(buffer->section) + strlen(buffer->path) + strlen(buffer->format);
		for (size_t k = 0; k < buffer->source_count; k++) {
			size_t count;
			if (buffer->sources[k] >= snapshot->source_count)
				abort();
			free(itrace_snapshot_segments(snapshot, i, buffer->sources[k], &count));
		}
	}
	itrace_snapshot_free(snapshot);
	return text_len == SIZE_MAX;
}
