// SPDX-License-Identifier: GPL-2.0-or-later

#include "xtensa_soc.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_CYCLES	2000u	/* cores take turns at least this often */
#define PRID_CPU0	0xcdcdu
#define PRID_CPU1	0xababu
#define BOOT_PS		0x20u	/* user mode, no exception, level 0 */

static const struct xtensa_soc_type types[] = {
	{
		.name = "esp32",
		.cores = 2,
		.idcode = 0x120034e5,
		.debug_level = 6,
		.excm_level = 3,
		.ar_count = 64,
		.vecbase = 0x40000000,
		.park = 0x400c0000,
		.region = {
			{ 0x3ffae000, 0x52000, false },
			{ 0x40070000, 0x30000, false },
			{ 0x40000000, 0x65000, false },
			{ 0x400d0000, 0x330000, false },
			{ 0x400c0000, 0x2000, false },
			{ 0x3f400000, 0x400000, false },
			{ 0x3f800000, 0x400000, false },
			{ 0x3ff80000, 0x2000, false },
			{ 0x3ff90000, 0x10000, false },
			{ 0x50000000, 0x2000, false },
			{ 0x3ff00000, 0x71000, true },
		},
		.watchdog = {
			{ 0x3ff5f048, 0x3ff5f060, 0x3ff5f064 },
			{ 0x3ff60048, 0x3ff60060, 0x3ff60064 },
			{ 0x3ff4808c, 0x3ff480a0, 0x3ff480a4 },
		},
	}, {
		.name = "esp32s3",
		.cores = 2,
		.idcode = 0x120034e5,
		.debug_level = 6,
		.excm_level = 3,
		.ar_count = 64,
		.vecbase = 0x40000000,
		.park = 0x40370000,
		.region = {
			{ 0x3fc88000, 0x78000, false },
			{ 0x40370000, 0x70000, false },
			{ 0x40000000, 0x60000, false },
			{ 0x42000000, 0x400000, false },
			{ 0x3c000000, 0x400000, false },
			{ 0x3ff00000, 0x20000, false },
			{ 0x50000000, 0x2000, false },
			{ 0x600fe000, 0x2000, false },
			{ 0x60000000, 0xfe000, true },
		},
		.watchdog = {
			{ 0x6001f048, 0x6001f060, 0x6001f064 },
			{ 0x60020048, 0x60020060, 0x60020064 },
			{ 0x60008098, 0x600080ac, 0x600080b0 },
		},
	}, {
		.name = "esp32s2",
		.cores = 1,
		.idcode = 0x120034e5,
		.debug_level = 6,
		.excm_level = 3,
		.ar_count = 64,
		.vecbase = 0x40000000,
		.region = {
			{ 0x3ffb0000, 0x50000, false },
			{ 0x40020000, 0x50000, false },
			{ 0x40000000, 0x20000, false },
			{ 0x40080000, 0x400000, false },
			{ 0x40070000, 0x2000, false },
			{ 0x3f000000, 0x400000, false },
			{ 0x3f500000, 0x400000, false },
			{ 0x3ff9e000, 0x12000, false },
			{ 0x50000000, 0x2000, false },
			{ 0x3f400000, 0xd4000, true },
		},
		.watchdog = {
			{ 0x3f41f048, 0x3f41f060, 0x3f41f064 },
			{ 0x3f420048, 0x3f420060, 0x3f420064 },
			{ 0x3f408094, 0x3f4080a8, 0x3f4080ac },
		},
	}, {
		.name = "xtensa-jtag",
		.cores = 1,
		.idcode = 0x120034e5,
		.debug_level = 4,
		.excm_level = 2,
		.ar_count = 32,
		.vecbase = 0x24020000,
		.region = {
			{ 0x24000000, 0x10000, false },
			{ 0x24020000, 0x10000, false },
			{ 0x00000000, 0x500000, false },
			{ 0x20000000, 0x500000, false },
		},
	}, {
		.name = "xtensa-dap",
		.cores = 1,
		.dap = true,
		.idcode = 0x4ba00477,
		.debug_level = 4,
		.excm_level = 2,
		.ar_count = 32,
		.vecbase = 0x24020000,
		.region = {
			{ 0x24000000, 0x10000, false },
			{ 0x24020000, 0x10000, false },
			{ 0x00000000, 0x500000, false },
			{ 0x20000000, 0x500000, false },
		},
	},
};

/* Interrupt levels of an ESP32 by number; 6, 15 and 16 are its timers, 7, 11 and 29 come from inside too, 14 is NMI. */
static const uint8_t interrupt_level[32] = {
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 7, 3, 5, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 3, 4, 3, 4, 5,
};

const struct xtensa_soc_type *xtensa_soc_type_find(const char *name)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, name))
			return &types[i];
	}
	return NULL;
}

static struct xtensa_soc_memory *find(struct xtensa_soc *soc, uint32_t addr)
{
	for (unsigned int i = 0; i < soc->memories; i++) {
		if (addr - soc->memory[i].base < soc->memory[i].size)
			return &soc->memory[i];
	}
	return NULL;
}

static uint32_t load(const uint8_t *bytes, unsigned int size)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint32_t)bytes[i] << 8 * i;
	return value;
}

static void store(uint8_t *bytes, unsigned int size, uint32_t value)
{
	for (unsigned int i = 0; i < size; i++)
		bytes[i] = value >> 8 * i;
}

static uint64_t core_ps(const struct xtensa_soc_core *core)
{
	uint64_t hz = core->soc->hz;

	return core->cpu.cycle / hz * 1000000000000u + core->cpu.cycle % hz * 1000000000u / hz * 1000u;
}

static enum xtensa_bus_result bus_read(void *ctx, uint32_t addr, unsigned int size, uint32_t *value)
{
	struct xtensa_soc_core *core = ctx;
	struct xtensa_soc *soc = core->soc;
	struct xtensa_soc_memory *memory = find(soc, addr);

	if (!memory)
		return XTENSA_BUS_ERROR;
	if (memory->peripheral) {
		for (unsigned int i = 0; i < ESP_WATCHDOGS; i++) {
			if (esp_watchdog_read(&soc->watchdog[i], addr, value))
				return XTENSA_BUS_OK;
		}
	}
	*value = load(memory->bytes + (addr - memory->base), size);
	return XTENSA_BUS_OK;
}

static enum xtensa_bus_result bus_write(void *ctx, uint32_t addr, unsigned int size, uint32_t value)
{
	struct xtensa_soc_core *core = ctx;
	struct xtensa_soc *soc = core->soc;
	struct xtensa_soc_memory *memory = find(soc, addr);

	if (!memory)
		return XTENSA_BUS_ERROR;
	if (memory->peripheral) {
		for (unsigned int i = 0; i < ESP_WATCHDOGS; i++) {
			if (esp_watchdog_write(&soc->watchdog[i], addr, value, core_ps(core)))
				return XTENSA_BUS_OK;
		}
	}
	store(memory->bytes + (addr - memory->base), size, value);
	return XTENSA_BUS_OK;
}

static const uint8_t *bus_fetch(void *ctx, uint32_t addr, size_t *len)
{
	struct xtensa_soc_core *core = ctx;
	struct xtensa_soc_memory *memory = find(core->soc, addr);

	if (!memory || memory->peripheral)
		return NULL;
	*len = memory->size - (addr - memory->base);
	return memory->bytes + (addr - memory->base);
}

static uint8_t *bus_memory(void *ctx, uint32_t addr, uint32_t *start, uint32_t *len)
{
	struct xtensa_soc_core *core = ctx;
	struct xtensa_soc_memory *memory = find(core->soc, addr);

	if (!memory || memory->peripheral)
		return NULL;
	*start = memory->base;
	*len = memory->size;
	return memory->bytes;
}

uint8_t *xtensa_soc_memory_at(struct xtensa_soc *soc, uint32_t addr, uint32_t len)
{
	struct xtensa_soc_memory *memory = find(soc, addr);

	if (!memory || memory->peripheral || memory->size - (addr - memory->base) < len)
		return NULL;
	return memory->bytes + (addr - memory->base);
}

bool xtensa_soc_peek(struct xtensa_soc *soc, uint32_t addr, uint32_t *value)
{
	return bus_read(&soc->core[0], addr & ~3u, 4, value) == XTENSA_BUS_OK;
}

static void code_changed(struct xtensa_soc *soc, uint32_t addr, uint32_t len)
{
	for (unsigned int i = 0; i < soc->cores; i++)
		xtensa_cpu_code_changed(&soc->core[i].cpu, addr, len);
}

bool xtensa_soc_poke(struct xtensa_soc *soc, uint32_t addr, uint32_t value)
{
	if (bus_write(&soc->core[0], addr & ~3u, 4, value) != XTENSA_BUS_OK)
		return false;
	code_changed(soc, addr & ~3u, 4);
	return true;
}

/* The run stall wires: a core in OCD mode holds the others, unless they are in OCD mode too. */
static void set_stalls(struct xtensa_soc *soc)
{
	for (unsigned int i = 0; i < soc->cores; i++) {
		struct xtensa_soc_core *core = &soc->core[i];
		bool stall = false;
		for (unsigned int j = 0; j < soc->cores; j++) {
			const struct xtensa_soc_core *peer = &soc->core[j];
			stall |= j != i && peer->cpu.in_ocd && peer->xdm.dcr & XDM_DCR_DEBUG_MODE_OUT_EN;
		}
		xdm_run_stall(&core->xdm, stall && core->xdm.dcr & XDM_DCR_RUN_STALL_IN_EN && !core->cpu.in_ocd);
	}
}

/* Let the others know that a core has entered OCD mode. */
static void spread(struct xtensa_soc *soc, unsigned int from)
{
	struct xdm *xdm = &soc->core[from].xdm;

	xdm->entered = false;
	for (unsigned int i = 0; i < soc->cores; i++) {
		if (i != from && xdm->dcr & XDM_DCR_BREAK_OUT_EN)
			xdm_break_in(&soc->core[i].xdm, xdm->stop_cycle);
	}
	set_stalls(soc);
}

/*
 * Run all cores to a cycle. A core that stops may stop one that has run already: it stops where it is, and that may
 * in turn concern the first.
 */
static void run_to(struct xtensa_soc *soc, uint64_t cycle)
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned int i = 0; i < soc->cores; i++) {
			xdm_run(&soc->core[i].xdm, cycle);
			if (soc->core[i].xdm.entered) {
				spread(soc, i);
				again = true;
			}
		}
	}
	soc->cycle = cycle;
}

static void reset_core(struct xtensa_soc_core *core)
{
	core->soc->resets++;
	xdm_core_reset(&core->xdm);
}

/* A watchdog resets the chip but for the debug modules. */
static void bite(struct xtensa_soc *soc)
{
	for (unsigned int i = 0; i < ESP_WATCHDOGS; i++)
		esp_watchdog_reset(&soc->watchdog[i], &soc->type->watchdog[i]);
	for (unsigned int i = 0; i < soc->cores; i++) {
		soc->core[i].bites++;
		reset_core(&soc->core[i]);
	}
}

static void watchdogs(struct xtensa_soc *soc, uint64_t now_ps)
{
	for (unsigned int i = 0; i < ESP_WATCHDOGS; i++) {
		if (esp_watchdog_due(&soc->watchdog[i]) <= now_ps) {
			bite(soc);
			return;
		}
	}
}

static uint64_t run_cycles(const struct xtensa_cpu *cpu)
{
	return cpu->cycle - cpu->standing - cpu->stalled;
}

void xtensa_soc_sync(struct xtensa_soc *soc, bool in_tck)
{
	uint64_t until = sim_clock_cycles(soc->clock->now_ps, soc->hz);
	uint64_t before[XTENSA_SOC_CORES];

	for (unsigned int i = 0; i < soc->cores; i++)
		before[i] = run_cycles(&soc->core[i].cpu);
	while (until > soc->cycle + SLICE_CYCLES) {
		run_to(soc, soc->cycle + SLICE_CYCLES);
		watchdogs(soc, core_ps(&soc->core[0]));
	}
	run_to(soc, until);
	watchdogs(soc, soc->clock->now_ps);
	if (!in_tck)
		return;
	double tck_per_cycle = 1e12 / soc->hz / soc->clock->tck_ps;
	for (unsigned int i = 0; i < soc->cores; i++)
		soc->core[i].tck_running += (run_cycles(&soc->core[i].cpu) - before[i]) * tck_per_cycle;
}

void xtensa_soc_break(struct xtensa_soc *soc, unsigned int core)
{
	struct xtensa_soc_core *it = &soc->core[core];

	if (it->cpu.in_ocd)
		return;
	xtensa_cpu_stop(&it->cpu, XTENSA_CAUSE_BREAK);
	xdm_entered(&it->xdm);
	run_to(soc, soc->cycle);
}

static void host_sync(void *ctx)
{
	struct xtensa_soc_core *core = ctx;

	xtensa_soc_sync(core->soc, true);
}

static uint64_t host_cycle_in(void *ctx, uint32_t tck)
{
	struct xtensa_soc_core *core = ctx;
	const struct sim_clock *clock = core->soc->clock;

	return sim_clock_cycles(clock->now_ps + tck * clock->tck_ps, core->soc->hz);
}

static uint64_t host_now_ns(void *ctx)
{
	struct xtensa_soc_core *core = ctx;

	return core->soc->clock->modelled_ps / 1000;
}

static void host_changed(void *ctx)
{
	struct xtensa_soc_core *core = ctx;

	set_stalls(core->soc);
}

/* A program starts at its entry as a boot ROM leaves the core: out of the state after reset, in which all is masked. */
static void boot(struct xtensa_cpu *cpu)
{
	cpu->sr[XTENSA_SR_PS] = BOOT_PS;
}

static void host_reset(void *ctx)
{
	struct xtensa_soc_core *core = ctx;

	xtensa_cpu_reset(&core->cpu);
	boot(&core->cpu);
}

static void host_stored(void *ctx, uint32_t addr, uint32_t len)
{
	struct xtensa_soc_core *core = ctx;

	code_changed(core->soc, addr, len);
}

static void host_accessed(void *ctx)
{
	struct xtensa_soc_core *core = ctx;

	if (core->soc->accessed)
		core->soc->accessed(core->soc->accessed_ctx);
}

static const char *load_program(struct xtensa_soc *soc, unsigned int n, const char *path, uint32_t *entry)
{
	struct elf_image *image = &soc->program[n];
	struct elf_segment segment;
	const char *error = elf_image_read(image, path);

	if (error)
		return error;
	for (unsigned int i = 0; elf_image_segment(image, i, &segment); i++) {
		uint8_t *at = xtensa_soc_memory_at(soc, segment.address, segment.mem_len);
		if (segment.mem_len && !at)
			return "a segment is where this chip has no memory";
		if (segment.file_len)
			memcpy(at, segment.data, segment.file_len);
	}
	*entry = elf_image_entry(image);
	soc->programs = n + 1;
	return NULL;
}

/* A loop around a WAITI. */
static void park(struct xtensa_soc *soc, uint32_t *entry)
{
	static const uint8_t code[] = { 0x00, 0x70, 0x00, 0x46, 0xfe, 0xff };	/* WAITI 0; J back to it */

	memcpy(xtensa_soc_memory_at(soc, soc->type->park, sizeof(code)), code, sizeof(code));
	*entry = soc->type->park;
}

static const char *make_memory(struct xtensa_soc *soc)
{
	for (unsigned int i = 0; i < XTENSA_SOC_REGIONS && soc->type->region[i].size; i++) {
		const struct xtensa_soc_region *region = &soc->type->region[i];
		soc->memory[i] = (struct xtensa_soc_memory){
			.base = region->base,
			.size = region->size,
			.peripheral = region->peripheral,
			.bytes = calloc(1, region->size),
		};
		soc->memories = i + 1;
		if (!soc->memory[i].bytes)
			return "out of memory";
	}
	return NULL;
}

static const char *make_core(struct xtensa_soc *soc, unsigned int n, uint32_t entry)
{
	struct xtensa_soc_core *core = &soc->core[n];
	struct xtensa_config config = {
		.debug_level = soc->type->debug_level,
		.excm_level = soc->type->excm_level,
		.ar_count = soc->type->ar_count,
		.reset_vector = entry,
		.vecbase = soc->type->vecbase,
		.prid = n ? PRID_CPU1 : PRID_CPU0,
		.timer_interrupt = { 6, 15, 16 },
		.lddr32p = true,
	};
	const struct xtensa_bus bus = {
		.ctx = core,
		.read = bus_read,
		.write = bus_write,
		.fetch = bus_fetch,
		.memory = bus_memory,
	};
	const struct xdm_host host = {
		.ctx = core,
		.sync = host_sync,
		.cycle_in = host_cycle_in,
		.now_ns = host_now_ns,
		.changed = host_changed,
		.reset = host_reset,
		.stored = host_stored,
		.accessed = host_accessed,
	};

	memcpy(config.interrupt_level, interrupt_level, sizeof(interrupt_level));
	core->soc = soc;
	if (xtensa_cpu_init(&core->cpu, &config, &bus))
		return "out of memory";
	boot(&core->cpu);
	xdm_init(&core->xdm, n, &core->cpu, &host);
	soc->cores = n + 1;
	return NULL;
}

const char *xtensa_soc_init(struct xtensa_soc *soc, const struct xtensa_soc_type *type, unsigned int cores,
	struct sim_clock *clock, uint64_t hz, const char *const path[XTENSA_SOC_CORES])
{
	uint32_t entry[XTENSA_SOC_CORES] = { 0 };

	*soc = (struct xtensa_soc){ .type = type, .clock = clock, .hz = hz };
	for (unsigned int i = 0; i < ESP_WATCHDOGS; i++)
		esp_watchdog_reset(&soc->watchdog[i], &type->watchdog[i]);
	const char *error = make_memory(soc);
	for (unsigned int i = 0; !error && i < cores; i++) {
		if (path[i])
			error = load_program(soc, i, path[i], &entry[i]);
		else
			park(soc, &entry[i]);
	}
	for (unsigned int i = 0; !error && i < cores; i++)
		error = make_core(soc, i, entry[i]);
	return error;
}

void xtensa_soc_free(struct xtensa_soc *soc)
{
	for (unsigned int i = 0; i < soc->cores; i++) {
		free(soc->core[i].cpu.profile);
		xdm_free(&soc->core[i].xdm);
		xtensa_cpu_free(&soc->core[i].cpu);
	}
	for (unsigned int i = 0; i < soc->programs; i++)
		elf_image_free(&soc->program[i]);
	for (unsigned int i = 0; i < soc->memories; i++)
		free(soc->memory[i].bytes);
}

/* The addresses between the first and the last instruction of all programs. */
static void code_range(const struct xtensa_soc *soc, uint32_t *start, uint32_t *end)
{
	*start = UINT32_MAX;
	*end = 0;
	for (unsigned int n = 0; n < soc->programs; n++) {
		struct elf_segment segment;
		for (unsigned int i = 0; elf_image_segment(&soc->program[n], i, &segment); i++) {
			if (!segment.executable || !segment.mem_len)
				continue;
			if (segment.address < *start)
				*start = segment.address;
			if (segment.address + segment.mem_len > *end)
				*end = segment.address + segment.mem_len;
		}
	}
}

bool xtensa_soc_record(struct xtensa_soc *soc)
{
	uint32_t start;
	uint32_t end;

	code_range(soc, &start, &end);
	if (end <= start)
		return false;
	for (unsigned int i = 0; i < soc->cores; i++) {
		struct xtensa_cpu *cpu = &soc->core[i].cpu;
		free(cpu->profile);
		cpu->profile = calloc(end - start, sizeof(*cpu->profile));
		cpu->profile_start = start;
		cpu->profile_end = end;
		cpu->profile_outside = 0;
		if (!cpu->profile)
			return false;
	}
	return true;
}
