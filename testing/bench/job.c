// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Reads the description of a snapshot that testing/bench/run makes of its ini files. One item a line:
 *
 *	protocol ete|etmv4
 *	core TYPE
 *	reg NAME VALUE
 *	trace FILE
 *	dump ADDRESS OFFSET LENGTH FILE
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static uint8_t *job_read(const char *path, long off, size_t *len)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END))
		bench_fail("%s: cannot be read", path);
	long file_len = ftell(file);
	if (file_len < 0 || off > file_len || fseek(file, off, SEEK_SET))
		bench_fail("%s: shorter than %ld bytes", path, off);
	if (!*len)
		*len = (size_t)(file_len - off);
	uint8_t *bytes = bench_alloc(*len + 1);
	if (fread(bytes, 1, *len, file) != *len)
		bench_fail("%s: shorter than offset %ld, length %zu", path, off, *len);
	fclose(file);
	return bytes;
}

static void job_dump(struct bench_program *program, const char *text)
{
	uint64_t addr, off, len;
	int path;
	if (sscanf(text, "%" SCNi64 " %" SCNi64 " %" SCNi64 " %n", &addr, &off, &len, &path) != 3)
		bench_fail("bad line: dump %s", text);
	size_t size = (size_t)len;
	uint8_t *bytes = job_read(text + path, (long)off, &size);

	size_t n = program->segment_count++;
	program->segments = realloc(program->segments, (n + 1) * sizeof(program->segments[0]));
	if (!program->segments)
		bench_fail("out of memory");
	program->segments[n] = (struct itrace_segment) {
		.addr = addr,
		.len = size,
		.data = bytes,
		.space = ITRACE_SPACE_ANY,
	};
}

static void job_reg(struct bench_program *program, const char *text)
{
	char name[32];
	uint32_t value;
	if (sscanf(text, "%31s %" SCNi32, name, (int32_t *)&value) != 2)
		bench_fail("bad line: reg %s", text);
	uint32_t *reg = itrace_ete_register(&program->regs, name);
	if (reg)
		*reg = value;
}

void bench_job_load(struct bench_program *program, const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file)
		bench_fail("%s: cannot be read", path);
	memset(program, 0, sizeof(*program));

	char line[4096];
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		char *text = line + strcspn(line, " ");
		if (*text)
			*text++ = '\0';
		if (!strcmp(line, "protocol")) {
			program->protocol = strcmp(text, "ete") ? ITRACE_PROTOCOL_ETMV4 : ITRACE_PROTOCOL_ETE;
			itrace_ete_registers_default(program->protocol, &program->regs);
		} else if (!strcmp(line, "core")) {
			itrace_core_type(text, &program->profile, &program->arch);
		} else if (!strcmp(line, "reg")) {
			job_reg(program, text);
		} else if (!strcmp(line, "trace")) {
			program->trace = job_read(text, 0, &program->trace_len);
		} else if (!strcmp(line, "dump")) {
			job_dump(program, text);
		} else {
			bench_fail("%s: unknown item %s", path, line);
		}
	}
	fclose(file);
	if (!program->trace_len)
		bench_fail("%s: no trace", path);
}
