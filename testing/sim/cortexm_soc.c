// SPDX-License-Identifier: GPL-2.0-or-later

#include "cortexm_soc.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RUN		2000000u	/* instructions at one time: a client shall not wait for ever */

static const struct cortexm_type types[] = {
	{
		.name = "cortex-m0plus",	/* memory and trace as in a Kinetis KL25Z128 */
		.uc_model = UC_CPU_ARM_CORTEX_M0,
		.cpuid = 0x410cc601,
		.dpidr = 0x0bc11477,
		.ap_idr = 0x84770001,
		.priority_mask = 0xc0,
		.fpb = 4,
		.dwt = 2,
		.entry_cycles = 15,
		.flash_base = 0, .flash_size = 0x20000,
		.ram_base = 0x1ffff000, .ram_size = 0x4000,
		.mtb_base = 0xf0000000,
		.rom_base = 0xf0002000,
		.mtb_aw = 15,
	}, {
		.name = "cortex-m33",
		.v8m = true,
		.uc_model = UC_CPU_ARM_CORTEX_M33,
		.cpuid = 0x410fd214,
		.dpidr = 0x0be12477,
		.ap_idr = 0x14770015,
		.priority_mask = 0xe0,
		.fpb = 8,
		.dwt = 4,
		.entry_cycles = 12,
		.flash_base = 0, .flash_size = 0x40000,
		.ram_base = 0x20000000, .ram_size = 0x10000,
		.mtb_base = 0xe0043000,
		.rom_base = 0xe00ff000,
		.mtb_aw = 16,
	},
};

const struct cortexm_type *cortexm_soc_type_find(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

bool cortexm_soc_choose(struct cortexm_choices *choices, const char *name, const char *value)
{
	const struct {
		const char *name;
		const char *no, *yes;
		bool *choice;
	} switches[] = {
		{ "mtb-tail-chain", "direct", "unstacked", &choices->chain_unstacked },
		{ "mtb-lockup", "packet", "none", &choices->lockup_silent },
		{ "mtb-debug-pc", "always", "changed", &choices->debug_pc_changed },
		{ "deep-sleep", "debug", "dark", &choices->dark_sleep },
	};

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		if (strcmp(switches[i].name, name))
			continue;
		*switches[i].choice = !strcmp(value, switches[i].yes);
		return *switches[i].choice || !strcmp(value, switches[i].no);
	}
	char *end;
	const unsigned long number = strtoul(value, &end, 0);
	if (!*value || *end)
		return false;
	if (!strcmp(name, "mtb-halt-skid"))
		choices->halt_skid = number;
	else if (!strcmp(name, "reg-delay"))
		choices->reg_delay = number;
	else
		return false;
	return true;
}

/* BASE/SIZE; both have to be whole pages. */
static bool parse_region(const char *text, uint32_t *base, uint32_t *size)
{
	char *end;

	*base = strtoul(text, &end, 0);
	if (end == text || *end != '/')
		return false;
	text = end + 1;
	*size = strtoul(text, &end, 0);
	return end != text && !*end && *size && !((*base | *size) & 0xfff);
}

static bool add_region(struct cortexm *core, uint32_t base, uint32_t size, bool read_only)
{
	uint8_t *bytes = calloc(1, size);

	core->region[core->regions++] = (struct cortexm_region){ base, size, read_only, bytes };
	return bytes;
}

static const char *add_regions(struct cortexm_soc *soc, const struct cortexm_soc_options *options)
{
	const struct cortexm_type *type = &soc->type;
	uint32_t size;

	if (!add_region(&soc->core, type->flash_base, type->flash_size, true) ||
			!add_region(&soc->core, type->ram_base, type->ram_size, false))
		return "out of memory";
	soc->mtb_rambase = options->mtb_rambase ? options->mtb_rambase : type->ram_base;
	if (!options->mtb_ram)
		return NULL;
	if (!parse_region(options->mtb_ram, &soc->mtb_rambase, &size))
		return "--mtb-ram wants BASE/SIZE in whole pages";
	return add_region(&soc->core, soc->mtb_rambase, size, false) ? NULL : "out of memory";
}

static const char *load(struct cortexm *core, const char *path)
{
	struct elf_image image = { 0 };
	struct elf_segment segment;
	const char *error = elf_image_read(&image, path);

	for (unsigned int i = 0; !error && elf_image_segment(&image, i, &segment); i++) {
		uint8_t *to = cortexm_memory(core, segment.address, segment.mem_len);
		if (to)
			memcpy(to, segment.data, segment.file_len);
		else if (segment.mem_len)
			error = "a segment is not in the memory of this target";
	}
	elf_image_free(&image);
	return error;
}

static void mtb_store(void *ctx, uint32_t addr, uint32_t value)
{
	cortexm_store(ctx, addr, value);
}

static void make_mtb(struct cortexm_soc *soc, const struct cortexm_soc_options *options)
{
	const struct cortexm_mtb_options mtb = {
		.m33 = soc->type.v8m,
		.aw = soc->type.mtb_aw,
		.ram_base = soc->mtb_rambase,
		.base_reads = options->mtb_base_reads_given ? options->mtb_base_reads : soc->mtb_rambase & ~0x1fu,
		.gated = soc->mtb_clock,
	};

	cortexm_mtb_init(&soc->core.mtb, &mtb, sim_random_u64(&soc->core.random));
	soc->core.mtb.store = mtb_store;
	soc->core.mtb.ctx = &soc->core;
}

static const char *take_options(struct cortexm_type *type, const struct cortexm_soc_options *options)
{
	if (options->ram && !parse_region(options->ram, &type->ram_base, &type->ram_size))
		return "--ram wants BASE/SIZE in whole pages";
	if (options->flash && !parse_region(options->flash, &type->flash_base, &type->flash_size))
		return "--flash wants BASE/SIZE in whole pages";
	if (options->mtb_base & 0xfff)
		return "--mtb-base is not the address of a page";
	if (options->mtb_base) {
		type->mtb_base = options->mtb_base;
		if (!type->v8m)
			type->rom_base = options->mtb_base + 0x2000;
	}
	if (options->mtb_absent)
		type->mtb_base = 0;
	if (options->mtb_aw)
		type->mtb_aw = options->mtb_aw;
	return type->mtb_aw < 4 || type->mtb_aw > 31 ? "--mtb-aw is from 4 to 31" : NULL;
}

static bool parse_clock(struct cortexm_soc *soc, const char *text)
{
	char *end;

	soc->mtb_clock = strtoul(text, &end, 0);
	soc->mtb_clock_zero = !strcmp(end, ",zero");
	return soc->mtb_clock && !(soc->mtb_clock & 3) && (soc->mtb_clock_zero || !*end);
}

static bool bus_read(void *ctx, uint64_t addr, unsigned int size, uint32_t *value);
static bool bus_write(void *ctx, uint64_t addr, unsigned int size, uint32_t value);
static const struct mem_ap_bus bus = { .read = bus_read, .write = bus_write };

const char *cortexm_soc_init(struct cortexm_soc *soc, const struct cortexm_type *type,
	const struct cortexm_soc_options *options, const char *program)
{
	soc->type = *type;
	soc->core.type = &soc->type;
	soc->core.choices = options->choices;
	sim_random_seed(&soc->core.random, options->seed);
	const char *error = take_options(&soc->type, options);
	if (!error && options->mtb_clock && !parse_clock(soc, options->mtb_clock))
		error = "--mtb-clock is the address of a word, with ,zero behind it or nothing";
	if (error)
		return error;
	error = add_regions(soc, options);
	if (error)
		return error;
	error = load(&soc->core, program);
	if (error)
		return error;
	make_mtb(soc, options);
	mem_ap_init(&soc->ap, soc->type.ap_idr, &bus, soc);
	soc->ap.base = soc->type.rom_base | 3;
	return cortexm_init(&soc->core);
}

void cortexm_soc_free(struct cortexm_soc *soc)
{
	cortexm_free(&soc->core);
}

/* ---- time ---- */

void cortexm_soc_start(struct cortexm_soc *soc, struct sim_clock *clock, uint64_t hz)
{
	soc->clock = clock;
	soc->hz = hz;
	soc->done = sim_clock_cycles(clock->now_ps, hz);
}

void cortexm_soc_sync(struct cortexm_soc *soc)
{
	uint64_t now = sim_clock_cycles(soc->clock->now_ps, soc->hz);

	if (now <= soc->done)
		return;
	uint64_t cycles = now - soc->done;
	uint64_t before = soc->core.cycle;
	soc->done = now;
	cortexm_run(&soc->core, cycles, MAX_RUN);
	uint64_t ran = soc->core.cycle - before;
	if (ran >= cycles)
		soc->done += ran - cycles;	/* an exception may take longer */
	else if (soc->core.debug.halted || soc->core.in_reset)
		soc->standing += cycles - ran;
	else
		soc->late += cycles - ran;
}

void cortexm_soc_reset_pin(struct cortexm_soc *soc, bool low)
{
	bool was = soc->core.in_reset;

	soc->core.in_reset = low;
	if (was && !low)
		cortexm_reset(&soc->core);
}

bool cortexm_soc_log(struct cortexm_soc *soc, const char *path)
{
	struct cortexm *core = &soc->core;
	bool good = true;

	if (core->log) {
		cortexm_log(core, "E %08x\n", core->pc);
		good = !ferror(core->log);
		good &= !fclose(core->log);
		core->log = NULL;
	}
	if (!path)
		return good;
	core->log = fopen(path, "w");
	cortexm_log(core, "B %08x\n", core->pc);
	return core->log;
}

/* ---- the bus ---- */

static bool is_dark(struct cortexm_soc *soc)
{
	const struct cortexm *core = &soc->core;

	if (soc->bus_error) {
		soc->bus_error = false;
		return true;
	}
	return soc->clock->now_ps < soc->dark_until_ps || (core->choices.dark_sleep && core->sleeping && core->scr & 4);
}

static void done(struct cortexm_soc *soc)
{
	soc->accesses++;
	if (soc->accessed)
		soc->accessed(soc->accessed_ctx);
	/* what a register asked for happens now, not with the next TCK */
	if (soc->core.reset_request)
		cortexm_reset(&soc->core);
}

/* The MTB without its clock, where that is a bus error. */
static bool is_gated(const struct cortexm_soc *soc, uint32_t addr)
{
	return !soc->core.mtb.clocked && !soc->mtb_clock_zero && (addr & ~0xfffu) == soc->type.mtb_base;
}

/* A register in a word, of which the access may be a part. */
static bool read_register(struct cortexm_soc *soc, uint32_t addr, unsigned int size, uint32_t *value)
{
	uint32_t word = 0;

	if (soc->mtb_clock && addr == soc->mtb_clock) {
		*value = soc->core.mtb.clocked;
		return true;
	}
	if (is_gated(soc, addr))
		return false;
	if (!cortexm_debug_read(&soc->core, addr & ~3u, true, &word) &&
			!cortexm_scs_read(&soc->core, addr & ~3u, &word))
		return false;
	*value = word >> 8 * (addr & 3) & (size == 4 ? ~0u : (1u << 8 * size) - 1);
	return true;
}

static bool bus_read(void *ctx, uint64_t addr, unsigned int size, uint32_t *value)
{
	struct cortexm_soc *soc = ctx;
	bool good = true;

	cortexm_soc_sync(soc);
	const uint8_t *at = cortexm_memory(&soc->core, addr, size);
	*value = 0;
	soc->reads_at_0 += addr < 16;
	if (is_dark(soc) || addr & (size - 1))
		good = false;
	else if (at)
		memcpy(value, at, size);
	else
		good = read_register(soc, addr, size, value);
	done(soc);
	return good;
}

static bool write_register(struct cortexm_soc *soc, uint32_t addr, unsigned int size, uint32_t value)
{
	uint32_t word = value;

	if (soc->mtb_clock && addr == soc->mtb_clock) {
		soc->core.mtb.clocked = value & 1;
		return true;
	}
	if (is_gated(soc, addr))
		return false;
	if (size < 4) {
		uint32_t mask = ((1u << 8 * size) - 1) << 8 * (addr & 3);
		if (!cortexm_scs_read(&soc->core, addr & ~3u, &word))
			return false;
		word = (word & ~mask) | (value << 8 * (addr & 3) & mask);
	}
	return cortexm_debug_write(&soc->core, addr & ~3u, true, word) ||
		cortexm_scs_write(&soc->core, addr & ~3u, word, true);
}

static bool bus_write(void *ctx, uint64_t addr, unsigned int size, uint32_t value)
{
	struct cortexm_soc *soc = ctx;
	bool good = true;

	cortexm_soc_sync(soc);
	uint8_t *at = cortexm_memory(&soc->core, addr, size);
	if (is_dark(soc) || addr & (size - 1)) {
		good = false;
	} else if (at) {
		memcpy(at, &value, size);
		soc->core.code_dirty = true;
	} else {
		good = write_register(soc, addr, size, value);
	}
	done(soc);
	return good;
}
