/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A chip with one Cortex-M core: memory map, program, time, and the bus that a debug port reaches. */

#ifndef CORTEXM_SOC_H
#define CORTEXM_SOC_H

#include "cortexm.h"
#include "elf_image.h"
#include "mem_ap.h"
#include "sim_clock.h"

/** What the command line says about the chip; zero or NULL: as the type has it. */
struct cortexm_soc_options {
	const char *ram;		/* BASE/SIZE */
	const char *flash;
	const char *mtb_ram;		/* more memory, for the trace alone */
	uint32_t mtb_base;
	bool mtb_absent;
	unsigned int mtb_aw;
	uint32_t mtb_rambase;
	bool mtb_base_reads_given;
	uint32_t mtb_base_reads;	/* what BASE says, where it is wrong */
	const char *mtb_clock;		/* ADDR[,zero] of the register that gates its clock */
	struct cortexm_choices choices;
	uint64_t seed;
};

struct cortexm_soc {
	struct cortexm_type type;
	struct cortexm core;
	uint32_t mtb_rambase;
	uint32_t mtb_clock;		/* address of the register that gates its clock; 0: none */
	bool mtb_clock_zero;		/* without it the MTB reads 0; else it is a bus error */
	struct sim_clock *clock;
	uint64_t hz;
	uint64_t done;			/* cycles of the clock that are dealt with */
	uint64_t standing;		/* of them: halted */
	uint64_t late;			/* cycles that were too many to be executed */
	struct mem_ap ap;
	uint64_t accesses;		/* through the port */
	uint64_t reads_at_0;		/* of them, from the first 16 bytes */
	uint64_t dark_until_ps;		/* a fault that was armed: the bus is not reachable */
	bool bus_error;			/* another: of the next access */
	void (*accessed)(void *ctx);	/* after each; may be NULL */
	void *accessed_ctx;
};

/** Type by name, NULL: there is none. */
const struct cortexm_type *cortexm_soc_type_find(const char *name);

/** Make a chip and load @a program. @returns NULL or what is wrong (static text). */
const char *cortexm_soc_init(struct cortexm_soc *soc, const struct cortexm_type *type,
	const struct cortexm_soc_options *options, const char *program);
void cortexm_soc_free(struct cortexm_soc *soc);

/** Choices by name. @returns false: no such name or value. */
bool cortexm_soc_choose(struct cortexm_choices *choices, const char *name, const char *value);

/** Time, from now on. */
void cortexm_soc_start(struct cortexm_soc *soc, struct sim_clock *clock, uint64_t hz);

/** Run up to the clock's now. */
void cortexm_soc_sync(struct cortexm_soc *soc);

/** The reset pin. */
void cortexm_soc_reset_pin(struct cortexm_soc *soc, bool low);

/** Begin or end (path NULL) the log. @returns false: cannot write it. */
bool cortexm_soc_log(struct cortexm_soc *soc, const char *path);

#endif
