// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Runs an Xtensa program on the interpreter and prints what is executed, to be compared with what another one does:
 *
 *     xtensa_trace ELF [--max N] [--regs | --quiet] [--dump SYMBOL WORDS] [--poke SYMBOL VALUE] [--ars 32]
 *         [--ram ADDRESS]
 *
 * A line for each instruction: its address; with --regs also a0 to a15 before it. --quiet prints none of these, and
 * the speed at the end. --dump prints words of memory at the end, --poke writes a word before the start. --ars: how
 * many registers there are, 64 or 32. Memory is plain and lies where the segments are and behind them, and with --ram
 * there.
 */

#include "elf_image.h"
#include "xtensa_cpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLACK		0x10000u	/* memory behind each segment */
#define MAX_REGIONS	8u

struct region {
	uint32_t start, len;
	uint8_t *bytes;
};

struct board {
	struct region region[MAX_REGIONS];
	unsigned int count;
	struct elf_image image;
	struct xtensa_cpu cpu;
};

struct options {
	const char *path;
	const char *dump;
	const char *poke;
	uint64_t max;
	uint32_t words, ars, value, ram;
	bool regs, quiet;
};

static void fail(const char *what)
{
	fprintf(stderr, "xtensa_trace: %s\n", what);
	exit(2);
}

static struct region *region_at(struct board *board, uint32_t addr, uint32_t size)
{
	for (unsigned int i = 0; i < board->count; i++) {
		struct region *region = &board->region[i];
		if (addr - region->start < region->len && region->len - (addr - region->start) >= size)
			return region;
	}
	return NULL;
}

static uint8_t *bus_memory(void *ctx, uint32_t addr, uint32_t *start, uint32_t *len)
{
	const struct region *region = region_at(ctx, addr, 1);

	if (!region)
		return NULL;
	*start = region->start;
	*len = region->len;
	return region->bytes;
}

static const uint8_t *bus_fetch(void *ctx, uint32_t addr, size_t *len)
{
	const struct region *region = region_at(ctx, addr, 1);

	if (!region)
		return NULL;
	*len = region->len - (addr - region->start);
	return region->bytes + (addr - region->start);
}

/* All that there is was found by bus_memory(). */
static enum xtensa_bus_result bus_read(void *ctx, uint32_t addr, unsigned int size, uint32_t *value)
{
	(void)ctx;
	(void)addr;
	(void)size;
	(void)value;
	return XTENSA_BUS_ERROR;
}

static enum xtensa_bus_result bus_write(void *ctx, uint32_t addr, unsigned int size, uint32_t value)
{
	(void)ctx;
	(void)addr;
	(void)size;
	(void)value;
	return XTENSA_BUS_ERROR;
}

static struct region *add_region(struct board *board, uint32_t start, uint32_t len)
{
	struct region *region = &board->region[board->count];

	if (board->count == MAX_REGIONS)
		fail("too many segments");
	region->start = start & ~3u;
	region->len = ((start - region->start + len + 3) & ~3u) + SLACK;
	region->bytes = calloc(1, region->len);
	if (!region->bytes)
		fail("no memory");
	board->count++;
	return region;
}

static uint32_t load(struct board *board, const char *path)
{
	const char *error = elf_image_read(&board->image, path);
	struct elf_segment segment;

	if (error)
		fail(error);
	for (unsigned int i = 0; elf_image_segment(&board->image, i, &segment); i++) {
		if (!segment.mem_len || segment.mem_len > UINT32_MAX - SLACK)
			continue;
		const struct region *region = add_region(board, segment.address, segment.mem_len);
		memcpy(region->bytes + (segment.address - region->start), segment.data, segment.file_len);
	}
	return elf_image_entry(&board->image);
}

static uint32_t symbol(const struct board *board, const char *name)
{
	uint64_t address;

	if (!elf_image_symbol(&board->image, name, &address))
		fail("no such symbol");
	return address;
}

static void start(struct board *board, uint32_t entry, const struct options *options)
{
	struct xtensa_config config = {
		.debug_level = 6,
		.excm_level = 3,
		.reset_vector = entry,
		.vecbase = entry & ~0x3ffu,
		.prid = 0xcdcd,
		/* as in qemu's de212 */
		.timer_interrupt = { 6, 10, 13 },
		.interrupt_level = { [6] = 1, [7] = 1, [10] = 3, [11] = 3, [13] = 5 },
		.ar_count = options->ars,
	};
	const struct xtensa_bus bus = { board, bus_read, bus_write, bus_fetch, bus_memory };

	if (xtensa_cpu_init(&board->cpu, &config, &bus))
		fail("no memory");
}

static void print_state(const struct xtensa_cpu *cpu, bool regs)
{
	printf("%08" PRIx32, cpu->pc);
	for (unsigned int i = 0; regs && i < 16; i++)
		printf(" %08" PRIx32, xtensa_cpu_a(cpu, i));
	putchar('\n');
}

/* One instruction: any takes a cycle at least. */
static void trace(struct xtensa_cpu *cpu, const struct options *options)
{
	for (uint64_t i = 0; i < options->max; i++) {
		xtensa_cpu_settle(cpu);
		print_state(cpu, options->regs);
		xtensa_cpu_run(cpu, cpu->cycle + 1, false);
	}
	print_state(cpu, true);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static void run_quietly(struct xtensa_cpu *cpu, const struct options *options)
{
	const double begin = seconds();

	while (cpu->retired < options->max && cpu->cycle < 20 * options->max)
		xtensa_cpu_run(cpu, cpu->cycle + (options->max - cpu->retired), false);
	const double took = seconds() - begin;
	printf("%" PRIu64 " instructions, %" PRIu64 " cycles, %.1f million instructions/s\n", cpu->retired, cpu->cycle,
		cpu->retired / took * 1e-6);
	print_state(cpu, true);
}

static uint8_t *word_at(struct board *board, uint32_t addr)
{
	const struct region *region = region_at(board, addr, 4);

	if (!region)
		fail("no memory there");
	return region->bytes + (addr - region->start);
}

static void dump(struct board *board, const struct options *options)
{
	uint32_t addr = symbol(board, options->dump);

	for (uint32_t i = 0; i < options->words; i++, addr += 4) {
		uint32_t word;
		memcpy(&word, word_at(board, addr), 4);
		printf("%08" PRIx32 ": %08" PRIx32 "\n", addr, word);
	}
}

static uint64_t number(const char *text)
{
	char *end;

	errno = 0;
	const uint64_t value = text ? strtoull(text, &end, 0) : 0;
	if (!text || errno || *end || end == text)
		fail("not a number");
	return value;
}

static struct options parse(int argc, char **argv)
{
	struct options options = { .max = 1000 };

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--max")) {
			options.max = number(argv[++i]);
		} else if (!strcmp(argv[i], "--poke") && i + 2 < argc) {
			options.poke = argv[++i];
			options.value = number(argv[++i]);
		} else if (!strcmp(argv[i], "--ram")) {
			options.ram = number(argv[++i]);
		} else if (!strcmp(argv[i], "--ars")) {
			options.ars = number(argv[++i]);
		} else if (!strcmp(argv[i], "--regs")) {
			options.regs = true;
		} else if (!strcmp(argv[i], "--quiet")) {
			options.quiet = true;
		} else if (!strcmp(argv[i], "--dump") && i + 2 < argc) {
			options.dump = argv[++i];
			options.words = number(argv[++i]);
		} else if (argv[i][0] != '-' && !options.path) {
			options.path = argv[i];
		} else {
			fail("usage: ELF [--max N] [--regs | --quiet] [--dump SYMBOL WORDS] [--poke SYMBOL VALUE] "
				"[--ars 32] [--ram ADDRESS]");
		}
	}
	if (!options.path)
		fail("which program?");
	return options;
}

int main(int argc, char **argv)
{
	static struct board board;
	const struct options options = parse(argc, argv);

	start(&board, load(&board, options.path), &options);
	if (options.ram)
		add_region(&board, options.ram, 4);
	if (options.poke)
		memcpy(word_at(&board, symbol(&board, options.poke)), &options.value, 4);
	if (options.quiet)
		run_quietly(&board.cpu, &options);
	else
		trace(&board.cpu, &options);
	if (options.dump)
		dump(&board, &options);
	xtensa_cpu_free(&board.cpu);
	for (unsigned int i = 0; i < board.count; i++)
		free(board.region[i].bytes);
	elf_image_free(&board.image);
	return 0;
}
