// SPDX-License-Identifier: GPL-2.0-or-later

/* ete_sim: writes snapshots of simulated traces with logs of what must come out. See README.md. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cs_formatter.h"
#include "sim_stream.h"
#include "snapshot_write.h"

#define STREAM_MAX 8

struct settings {
	struct sim_stream_options options;
	enum cs_framing framing;
	unsigned int ids;
	unsigned int count;
	const char *out;
	bool verbose;
};

static const char * const framing_names[CS_FRAMING_NUM] = {
	[CS_FRAMING_RAW] = "raw",
	[CS_FRAMING_MEMORY] = "coresight",
	[CS_FRAMING_TPIU] = "tpiu",
	[CS_FRAMING_TPIU_HSYNC] = "tpiu_hsync",
	[CS_FRAMING_DSTREAM] = "dstream",
};

static int usage(void)
{
	fputs("usage: ete_sim --out DIR [--seed N] [--isa a64|a32|t32|m] [--features LIST|none|random]\n"
		"               [--protocol ete|etmv4] [--framing raw|coresight|tpiu|tpiu_hsync|dstream]\n"
		"               [--ids N] [--instructions N] [--count K] [--verbose]\n"
		"features:", stderr);
	for (unsigned int i = 0; i < SIM_FEATURE_NUM; i++)
		fprintf(stderr, " %s", sim_feature_name(i));
	fputc('\n', stderr);
	return 2;
}

static bool parse_features(struct sim_stream_options *options, const char *list)
{
	while (*list) {
		size_t len = strcspn(list, ",");
		enum sim_feature feature = sim_feature_find(list);
		if (feature < SIM_FEATURE_NUM)
			options->features |= SIM_BIT(feature);
		else if (len == 6 && !strncmp(list, "random", 6))
			options->random_features = true;
		else if (len != 4 || strncmp(list, "none", 4))
			return false;
		list += len;
		list += *list == ',';
	}
	return true;
}

static bool parse_isa(struct sim_stream_options *options, const char *name)
{
	options->m_profile = !strcmp(name, "m");
	if (!strcmp(name, "a64"))
		options->isa = SIM_A64;
	else if (!strcmp(name, "a32"))
		options->isa = SIM_A32;
	else if (!strcmp(name, "t32") || options->m_profile)
		options->isa = SIM_T32;
	else
		return false;
	/* There is no ETE for M profile. */
	options->etmv4 |= options->m_profile;
	return true;
}

static bool parse_framing(struct settings *settings, const char *name)
{
	for (unsigned int i = 0; i < CS_FRAMING_NUM; i++) {
		if (!strcmp(framing_names[i], name)) {
			settings->framing = i;
			return true;
		}
	}
	return false;
}

enum { OUT, SEED, ISA, FEATURES, PROTOCOL, FRAMING, IDS, INSTRUCTIONS, COUNT, VERBOSE };

static bool parse_option(struct settings *settings, int opt, const char *value)
{
	struct sim_stream_options *options = &settings->options;

	switch (opt) {
	case OUT:
		settings->out = value;
		return true;
	case SEED:
		options->seed = strtoull(value, NULL, 0);
		return true;
	case ISA:
		return parse_isa(options, value);
	case FEATURES:
		return parse_features(options, value);
	case PROTOCOL:
		options->etmv4 |= !strcmp(value, "etmv4");
		return !strcmp(value, "ete") || !strcmp(value, "etmv4");
	case FRAMING:
		return parse_framing(settings, value);
	case IDS:
		settings->ids = strtoul(value, NULL, 0);
		return settings->ids >= 1 && settings->ids <= STREAM_MAX;
	case INSTRUCTIONS:
		options->instructions = strtoull(value, NULL, 0);
		return true;
	case COUNT:
		settings->count = strtoul(value, NULL, 0);
		return true;
	case VERBOSE:
		settings->verbose = true;
		return true;
	default:
		return false;
	}
}

static bool parse(struct settings *settings, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "out", required_argument, NULL, OUT },
		{ "seed", required_argument, NULL, SEED },
		{ "isa", required_argument, NULL, ISA },
		{ "features", required_argument, NULL, FEATURES },
		{ "protocol", required_argument, NULL, PROTOCOL },
		{ "framing", required_argument, NULL, FRAMING },
		{ "ids", required_argument, NULL, IDS },
		{ "instructions", required_argument, NULL, INSTRUCTIONS },
		{ "count", required_argument, NULL, COUNT },
		{ "verbose", no_argument, NULL, VERBOSE },
		{ NULL, 0, NULL, 0 }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (!parse_option(settings, opt, optarg))
			return false;
	}
	if (!settings->ids)
		settings->ids = settings->framing == CS_FRAMING_RAW ? 1 : 2;
	if (settings->framing == CS_FRAMING_RAW && settings->ids > 1)
		return false;
	return settings->out && optind == argc;
}

static void frame_streams(const struct settings *settings, const struct sim_stream *streams, uint64_t seed,
		struct sim_buffer *out)
{
	struct cs_source sources[STREAM_MAX];
	struct sim_random random;
	struct cs_rates rates;

	sim_random_seed(&random, seed ^ 0xc5);
	rates = (struct cs_rates){
		.switch_source = sim_random_range(&random, 5, 400),
		.null_bytes = sim_random_below(&random, 2) ? 10 : 0,
		.repeat_id = 20,
		.late_id = 500,
		.fsync = sim_random_range(&random, 10, 300),
		.hsync = sim_random_range(&random, 5, 200),
	};
	for (unsigned int i = 0; i < settings->ids; i++)
		sources[i] = (struct cs_source){
			.id = streams[i].config.trace_id, .data = streams[i].trace.data, .len = streams[i].trace.len
		};
	cs_format(sources, settings->ids, settings->framing, &rates, &random, out);
}

static int write_one(const struct settings *settings, const char *dir, uint64_t seed, struct sim_stream *streams,
		struct sim_cpus *cpus, struct sim_buffer *frames)
{
	struct snapshot_stream snapshots[STREAM_MAX];
	struct snapshot_image images[STREAM_MAX][2];
	struct sim_stream_options options = settings->options;
	const struct sim_buffer *trace = &streams[0].trace;

	for (unsigned int i = 0; i < settings->ids; i++) {
		options.seed = seed * STREAM_MAX + i;
		options.slot = i;
		options.trace_id = 0x10 + 7 * i;
		const char *error = sim_stream_run(&streams[i], &options, cpus);
		if (error) {
			fprintf(stderr, "ete_sim: seed %llu: %s\n", (unsigned long long)seed, error);
			return -1;
		}
		images[i][0] = (struct snapshot_image){
			.address = streams[i].base, .data = streams[i].program.code, .len = streams[i].program.len
		};
		images[i][1] = (struct snapshot_image){
			.address = streams[i].handler_base,
			.data = streams[i].handler.code,
			.len = streams[i].handler.len
		};
		snapshots[i] = (struct snapshot_stream){
			.config = &streams[i].config,
			.core_type = streams[i].core_type,
			.images = images[i],
			.image_count = streams[i].handler.len ? 2 : 1,
			.truth = &streams[i].truth,
		};
		if (settings->verbose)
			printf("%s id %x: %llu instructions in %zu bytes\n", dir, options.trace_id,
					(unsigned long long)streams[i].insns, streams[i].trace.len);
	}
	if (settings->framing != CS_FRAMING_RAW) {
		sim_buffer_clear(frames);
		frame_streams(settings, streams, seed, frames);
		trace = frames;
	}
	if (snapshot_write(dir, snapshots, settings->ids, settings->framing, trace)) {
		fprintf(stderr, "ete_sim: %s: %s\n", dir, strerror(errno));
		return -1;
	}
	return 0;
}

static int write_all(const struct settings *settings, struct sim_stream *streams)
{
	struct sim_cpus cpus = { 0 };
	struct sim_buffer frames = { 0 };
	int result = 0;

	for (unsigned int i = 0; i < (settings->count ? settings->count : 1) && !result; i++) {
		char dir[4096];
		if (settings->count)
			snprintf(dir, sizeof(dir), "%s/%04u", settings->out, i);
		else
			snprintf(dir, sizeof(dir), "%s", settings->out);
		result = write_one(settings, dir, settings->options.seed + i, streams, &cpus, &frames);
	}
	sim_cpus_free(&cpus);
	sim_buffer_free(&frames);
	return result;
}

int main(int argc, char **argv)
{
	struct settings settings = { .options = { .isa = SIM_A64, .seed = 1, .instructions = 500 } };
	struct sim_stream *streams;

	if (!parse(&settings, argc, argv))
		return usage();
	streams = calloc(STREAM_MAX, sizeof(*streams));
	if (!streams)
		return 1;
	int result = write_all(&settings, streams);
	for (unsigned int i = 0; i < STREAM_MAX; i++)
		sim_stream_free(&streams[i]);
	free(streams);
	return result ? 1 : 0;
}
