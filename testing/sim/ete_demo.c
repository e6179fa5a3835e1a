// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * ete_demo: runs the demo program (programs/) from its ELF file and writes a snapshot of its trace with the truth log.
 * See README.md.
 */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_image.h"
#include "sim_stream.h"
#include "snapshot_write.h"

static int usage(void)
{
	fputs("usage: ete_demo --elf FILE --out DIR [--protocol ete|etmv4] [--features LIST] [--seed N]\n", stderr);
	return 2;
}

static bool parse_features(struct sim_stream_options *options, const char *list)
{
	while (*list) {
		enum sim_feature feature = sim_feature_find(list);
		if (feature == SIM_FEATURE_NUM)
			return false;
		options->features |= SIM_BIT(feature);
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return true;
}

static bool parse(struct sim_stream_options *options, const char **elf, const char **out, int argc, char **argv)
{
	enum { ELF, OUT, PROTOCOL, FEATURES, SEED };
	static const struct option longs[] = {
		{ "elf", required_argument, NULL, ELF },
		{ "out", required_argument, NULL, OUT },
		{ "protocol", required_argument, NULL, PROTOCOL },
		{ "features", required_argument, NULL, FEATURES },
		{ "seed", required_argument, NULL, SEED },
		{ NULL, 0, NULL, 0 }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (opt) {
		case ELF:
			*elf = optarg;
			break;
		case OUT:
			*out = optarg;
			break;
		case PROTOCOL:
			options->etmv4 = !strcmp(optarg, "etmv4");
			if (!options->etmv4 && strcmp(optarg, "ete"))
				return false;
			break;
		case FEATURES:
			if (!parse_features(options, optarg))
				return false;
			break;
		case SEED:
			options->seed = strtoull(optarg, NULL, 0);
			break;
		default:
			return false;
		}
	}
	return *elf && *out && optind == argc;
}

static const char *load_code(struct sim_program *program, const struct elf_segment *segment)
{
	if (segment->address != SIM_CODE_BASE || segment->mem_len > SIM_CODE_MAX)
		return "the code is not where the simulator has memory for it";
	memset(program, 0, sizeof(*program));
	memcpy(program->code, segment->data, segment->file_len);
	program->len = (segment->mem_len + 3) & ~3u;
	program->isa = SIM_A64;
	return NULL;
}

static const char *load_data(struct sim_cpu *cpu, const struct elf_segment *segment)
{
	uint8_t *bytes = calloc(1, segment->mem_len);

	if (!bytes)
		return "out of memory";
	memcpy(bytes, segment->data, segment->file_len);
	bool ok = sim_cpu_write(cpu, segment->address, bytes, segment->mem_len);
	free(bytes);
	return ok ? NULL : "the data is not where the simulator has memory for it";
}

static const char *load(const struct elf_image *image, struct sim_program *program, struct sim_cpu *cpu)
{
	struct elf_segment segment;
	const char *error = NULL;

	for (unsigned int i = 0; !error && elf_image_segment(image, i, &segment); i++)
		error = segment.executable ? load_code(program, &segment) : load_data(cpu, &segment);
	return error;
}

static bool offset_of(const struct elf_image *image, const char *name, uint32_t *offset)
{
	uint64_t address;

	if (!elf_image_symbol(image, name, &address)) {
		fprintf(stderr, "ete_demo: no symbol %s\n", name);
		return false;
	}
	*offset = address - SIM_CODE_BASE;
	return true;
}

static void print_output(const struct elf_image *image, struct sim_cpu *cpu)
{
	uint64_t text_at;
	uint64_t len_at;
	uint32_t len;
	char text[512];

	if (!elf_image_symbol(image, "output", &text_at) || !elf_image_symbol(image, "output_len", &len_at))
		return;
	if (!sim_cpu_read(cpu, len_at, &len, sizeof(len)) || len > sizeof(text))
		return;
	if (!sim_cpu_read(cpu, text_at, text, len))
		return;
	fwrite(text, 1, len, stdout);
}

static int write_demo(const struct elf_image *image, const struct sim_stream *stream, const char *out)
{
	struct snapshot_image images[2];
	struct elf_segment segment;
	unsigned int n = 0;

	/* What a decoder may read: the code. Data changes while the program runs. */
	for (unsigned int i = 0; n < 2 && elf_image_segment(image, i, &segment); i++) {
		if (segment.executable)
			images[n++] = (struct snapshot_image){
				.address = segment.address, .data = segment.data, .len = segment.file_len & ~1ull
			};
	}
	struct snapshot_stream snapshot = {
		.config = &stream->config,
		.core_type = stream->core_type,
		.images = images,
		.image_count = n,
		.truth = &stream->truth,
	};
	if (snapshot_write(out, &snapshot, 1, CS_FRAMING_RAW, &stream->trace)) {
		fprintf(stderr, "ete_demo: %s: %s\n", out, strerror(errno));
		return -1;
	}
	return 0;
}

static int run(const struct elf_image *image, struct sim_stream_options *options, struct sim_program *program,
		struct sim_stream *stream, const char *out)
{
	struct sim_cpus cpus = { .cpu[SIM_CPU_A64] = sim_cpu_new(SIM_CPU_A64) };
	uint32_t entry;
	uint32_t stop;
	int result = -1;

	const char *error = cpus.cpu[SIM_CPU_A64] ? load(image, program, cpus.cpu[SIM_CPU_A64]) : "cannot open Unicorn";
	if (!error && offset_of(image, "_start", &entry) && offset_of(image, "demo_stop", &stop) &&
			offset_of(image, "irq_entry", &program->handlers[0]) &&
			offset_of(image, "svc_entry", &program->handlers[1])) {
		program->entry = entry;
		options->program = program;
		options->stop_pc = SIM_CODE_BASE + stop;
		error = sim_stream_run(stream, options, &cpus);
		if (!error) {
			print_output(image, cpus.cpu[SIM_CPU_A64]);
			result = write_demo(image, stream, out);
		}
	}
	if (error)
		fprintf(stderr, "ete_demo: %s\n", error);
	sim_cpus_free(&cpus);
	return result;
}

int main(int argc, char **argv)
{
	struct sim_stream_options options = {
		.isa = SIM_A64, .seed = 1, .trace_id = 0x10, .instructions = 10000000
	};
	struct elf_image image = { 0 };
	const char *elf = NULL;
	const char *out = NULL;

	if (!parse(&options, &elf, &out, argc, argv))
		return usage();
	const char *error = elf_image_read(&image, elf);
	if (error) {
		fprintf(stderr, "ete_demo: %s: %s\n", elf, error);
		return 1;
	}
	struct sim_stream *stream = calloc(1, sizeof(*stream));
	struct sim_program *program = calloc(1, sizeof(*program));
	int result = stream && program ? run(&image, &options, program, stream, out) : -1;
	if (!result)
		printf("%s: %llu instructions in %zu bytes of trace\n", out, (unsigned long long)stream->insns,
				stream->trace.len);
	if (stream)
		sim_stream_free(stream);
	free(stream);
	free(program);
	elf_image_free(&image);
	return result ? 1 : 0;
}
