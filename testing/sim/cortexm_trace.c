// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Runs a program on a simulated Cortex-M without a probe and writes the log of what was executed, and the trace buffer.
 *
 *     cortexm_trace --target cortex-m0plus --program build/sim/cm-work-m0-O2.elf --max 100000 --log -
 *     cortexm_trace ... --mtb 0x20001000/0x400 --image buffer.bin
 *     cortexm_trace ... --skip 5000 --flow 0x13e2      (log and trace begin later; FLOW: a watermark with AUTOHALT)
 */

#include "cortexm_soc.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AUTOHALT	(1u << 1)	/* in FLOW */

static const char usage[] =
	"usage: cortexm_trace --target cortex-m0plus|cortex-m33 --program ELF [--max N] [--log FILE|-] [--seed N]\n"
	"                     [--ram BASE/SIZE] [--flash BASE/SIZE] [--stop ADDRESS] [--mtb ADDRESS/SIZE] [--image FILE]\n"
	"                     [--flow VALUE] [--skip N] [--choose NAME=VALUE]\n";

static void die(const char *what, const char *why)
{
	fprintf(stderr, "cortexm_trace: %s: %s\n", what, why);
	exit(1);
}

struct arguments {
	const struct cortexm_type *type;
	struct cortexm_soc_options options;
	const char *program, *log, *image, *mtb;
	uint64_t max, skip;
	uint32_t stop, flow;
};

static void choose(struct cortexm_choices *choices, char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		die(text, "is not NAME=VALUE");
	*value = '\0';
	if (!cortexm_soc_choose(choices, text, value + 1))
		die(text, "no such choice");
}

static void parse(struct arguments *arguments, int argc, char **argv)
{
	static const struct option options[] = {
		{ "target", required_argument, NULL, 't' }, { "program", required_argument, NULL, 'p' },
		{ "max", required_argument, NULL, 'n' }, { "log", required_argument, NULL, 'l' },
		{ "seed", required_argument, NULL, 's' }, { "ram", required_argument, NULL, 'r' },
		{ "flash", required_argument, NULL, 'f' }, { "mtb", required_argument, NULL, 'm' },
		{ "image", required_argument, NULL, 'i' }, { "choose", required_argument, NULL, 'c' },
		{ "stop", required_argument, NULL, 'e' }, { "flow", required_argument, NULL, 'w' },
		{ "skip", required_argument, NULL, 'k' }, { 0 },
	};

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
		switch (option) {
		case 't': arguments->type = cortexm_soc_type_find(optarg); break;
		case 'p': arguments->program = optarg; break;
		case 'n': arguments->max = strtoull(optarg, NULL, 0); break;
		case 'l': arguments->log = optarg; break;
		case 's': arguments->options.seed = strtoull(optarg, NULL, 0); break;
		case 'r': arguments->options.ram = optarg; break;
		case 'f': arguments->options.flash = optarg; break;
		case 'm': arguments->mtb = optarg; break;
		case 'i': arguments->image = optarg; break;
		case 'c': choose(&arguments->options.choices, optarg); break;
		case 'e': arguments->stop = strtoul(optarg, NULL, 0); break;
		case 'w': arguments->flow = strtoul(optarg, NULL, 0); break;
		case 'k': arguments->skip = strtoull(optarg, NULL, 0); break;
		default: fputs(usage, stderr); exit(2);
		}
	}
	if (!arguments->type || !arguments->program || optind < argc) {
		fputs(usage, stderr);
		exit(2);
	}
}

/* An empty buffer, from the next instruction on. A debugger is there, so that AUTOHALT can halt. */
static void arm(struct cortexm *core, const char *text, uint32_t flow)
{
	char *end;
	uint32_t addr = strtoul(text, &end, 0);
	uint32_t size = *end == '/' ? strtoul(end + 1, &end, 0) : 0;

	if (*end || size < 16 || size & (size - 1) || addr & (size - 1))
		die(text, "is not ADDRESS/SIZE of a buffer");
	if (flow & AUTOHALT)
		core->debug.dhcsr |= CORTEXM_C_DEBUGEN;
	cortexm_mtb_write(&core->mtb, 4, 0, true);
	cortexm_mtb_write(&core->mtb, 0, addr, true);
	cortexm_mtb_write(&core->mtb, 8, flow, true);
	cortexm_mtb_write(&core->mtb, 4, CORTEXM_MTB_EN | (__builtin_ctz(size) - 4), true);
}

static void write_image(const struct cortexm *core, const char *path)
{
	const struct cortexm_mtb *mtb = &core->mtb;
	uint32_t size = cortexm_mtb_size(mtb);
	uint32_t at = cortexm_mtb_bus(mtb, mtb->position & ~(size - 1));
	const uint8_t *bytes = cortexm_memory(core, at, size);
	FILE *file = fopen(path, "wb");

	if (!file || !bytes || fwrite(bytes, 1, size, file) != size || fclose(file))
		die(path, "cannot write the buffer");
	printf("position 0x%08" PRIx32 " master 0x%08" PRIx32 " flow 0x%08" PRIx32 " base 0x%08" PRIx32
		" buffer 0x%08" PRIx32 " size %" PRIu32 "\n", mtb->position, mtb->master, mtb->flow,
		mtb->options.ram_base, at, size);
}

/* The program's end is a loop at one place, of which one turn is enough. */
static void run(struct cortexm *core, uint64_t max, const struct arguments *arguments)
{
	while (core->retired < max && !(arguments->stop && core->pc == arguments->stop && !core->pending)) {
		uint64_t before = core->retired;
		cortexm_run(core, arguments->stop ? 1 : 1000000, max - core->retired);
		bool for_ever = core->retired == before && core->sleeping && cortexm_next_event(core) == UINT64_MAX;
		if (core->lockup || core->debug.halted || for_ever)
			break;
	}
}

int main(int argc, char **argv)
{
	static struct cortexm_soc soc;
	struct arguments arguments = { .max = 100000, .options = { .seed = 1 } };

	parse(&arguments, argc, argv);
	const char *error = cortexm_soc_init(&soc, arguments.type, &arguments.options, arguments.program);
	if (error)
		die(arguments.program, error);
	run(&soc.core, arguments.skip, &arguments);
	if (arguments.log && !cortexm_soc_log(&soc, strcmp(arguments.log, "-") ? arguments.log : "/dev/stdout"))
		die(arguments.log, "cannot write it");
	if (arguments.mtb)
		arm(&soc.core, arguments.mtb, arguments.flow);
	run(&soc.core, arguments.skip + arguments.max, &arguments);
	if (arguments.log && !cortexm_soc_log(&soc, NULL))
		die(arguments.log, "cannot write it");
	if (arguments.image)
		write_image(&soc.core, arguments.image);
	cortexm_soc_free(&soc);
	return 0;
}
