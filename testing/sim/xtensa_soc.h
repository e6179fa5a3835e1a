/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A chip with one or two Xtensa cores: memory map, watchdogs, debug modules, and the wires between the cores (break
 * network, run stall). Cores run only when somebody asks for the present time, all of them up to the same cycle.
 */

#ifndef XTENSA_SOC_H
#define XTENSA_SOC_H

#include "elf_image.h"
#include "esp_watchdog.h"
#include "sim_clock.h"
#include "xdm.h"
#include "xtensa_cpu.h"

#define XTENSA_SOC_CORES	2u
#define XTENSA_SOC_REGIONS	16u

struct xtensa_soc_region {
	uint32_t base;
	uint32_t size;
	bool peripheral;	/* registers: words that are kept, and the watchdogs among them */
};

/** What differs between chips. */
struct xtensa_soc_type {
	const char *name;
	unsigned int cores;
	bool dap;			/* debug modules are behind an APB */
	uint32_t idcode;
	unsigned int debug_level;
	unsigned int excm_level;
	unsigned int ar_count;
	uint32_t vecbase;
	uint32_t park;			/* where a core without a program waits */
	struct xtensa_soc_region region[XTENSA_SOC_REGIONS];	/* up to one of size 0 */
	struct esp_watchdog_map watchdog[ESP_WATCHDOGS];
};

struct xtensa_soc_memory {
	uint32_t base;
	uint32_t size;
	bool peripheral;
	uint8_t *bytes;
};

struct xtensa_soc;

struct xtensa_soc_core {
	struct xtensa_soc *soc;
	struct xtensa_cpu cpu;
	struct xdm xdm;
	uint64_t bites;			/* resets by a watchdog */
	double tck_running;		/* TCK during which it ran */
};

struct xtensa_soc {
	const struct xtensa_soc_type *type;
	struct sim_clock *clock;
	uint64_t hz;
	unsigned int cores;
	struct xtensa_soc_core core[XTENSA_SOC_CORES];
	struct xtensa_soc_memory memory[XTENSA_SOC_REGIONS];
	unsigned int memories;
	struct esp_watchdog watchdog[ESP_WATCHDOGS];
	struct elf_image program[XTENSA_SOC_CORES];
	unsigned int programs;
	uint64_t cycle;			/* to which the cores have run */
	uint64_t resets;		/* of any core, by any cause */
	void (*accessed)(void *ctx);	/* after each access to a debug module; may be NULL */
	void *accessed_ctx;
};

/** Type by name, NULL: there is none. */
const struct xtensa_soc_type *xtensa_soc_type_find(const char *name);

/**
 * Make a chip with @a cores cores and load a program for each; a second core without one waits in WAITI for ever.
 * @returns NULL or what is wrong (static text).
 */
const char *xtensa_soc_init(struct xtensa_soc *soc, const struct xtensa_soc_type *type, unsigned int cores,
	struct sim_clock *clock, uint64_t hz, const char *const path[XTENSA_SOC_CORES]);
void xtensa_soc_free(struct xtensa_soc *soc);

/** Run all cores up to the clock's now. @a in_tck: the time since the last call was TCK, not waiting. */
void xtensa_soc_sync(struct xtensa_soc *soc, bool in_tck);

/** Memory as the program sees it, without effects on peripherals. @returns false if nothing is there. */
bool xtensa_soc_peek(struct xtensa_soc *soc, uint32_t addr, uint32_t *value);
bool xtensa_soc_poke(struct xtensa_soc *soc, uint32_t addr, uint32_t value);

/** Plain memory from @a addr on, at least @a len bytes, or NULL. */
uint8_t *xtensa_soc_memory_at(struct xtensa_soc *soc, uint32_t addr, uint32_t len);

/** A core stops as if it had met a BREAK. */
void xtensa_soc_break(struct xtensa_soc *soc, unsigned int core);

/** Record residency from now on, from zero. @returns false: no memory. */
bool xtensa_soc_record(struct xtensa_soc *soc);

#endif
