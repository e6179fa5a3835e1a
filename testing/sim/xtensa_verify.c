// SPDX-License-Identifier: GPL-2.0-or-later

#include "xtensa_verify.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STUCK	1000000u	/* cycles in which nothing retires */
#define MAX_SHOWN	8u		/* words of memory */

static uint32_t level_register(const struct xtensa_cpu *cpu, unsigned int first)
{
	return cpu->sr[first - 1 + cpu->config.debug_level];
}

static uint32_t pc_of(const struct xtensa_cpu *cpu)
{
	return cpu->in_ocd ? level_register(cpu, XTENSA_SR_EPC1) : cpu->pc;
}

static uint32_t ps_of(const struct xtensa_cpu *cpu)
{
	return cpu->in_ocd ? level_register(cpu, XTENSA_SR_EPS2 - 1) : cpu->sr[XTENSA_SR_PS];
}

/* Run to the same number of instructions: each takes a cycle at least, so that the cycles asked for cannot pass it. */
static bool run_as_far(struct xtensa_cpu *reference, const struct xtensa_cpu *cpu)
{
	uint64_t stuck = 0;

	while (reference->retired < cpu->retired) {
		uint64_t before = reference->retired;
		uint64_t cycle = reference->cycle;
		xtensa_cpu_run(reference, cycle + (cpu->retired - before), false);
		stuck = reference->retired == before ? stuck + reference->cycle - cycle : 0;
		if (stuck > MAX_STUCK)
			return false;
	}
	/* An instruction that faults does not retire; the core may be behind it, on its way to the vector. */
	if (pc_of(cpu) != reference->pc)
		xtensa_cpu_run(reference, reference->cycle + 1, false);
	return reference->retired == cpu->retired;
}

static void compare(struct sim_buffer *text, const char *name, uint32_t is, uint32_t should)
{
	if (is != should)
		sim_buffer_printf(text, " %s=0x%08x/0x%08x", name, is, should);
}

static void compare_registers(struct sim_buffer *text, const struct xtensa_cpu *cpu, const struct xtensa_cpu *reference)
{
	static const struct {
		const char *name;
		unsigned int number;
	} special[] = {
		{ "sar", XTENSA_SR_SAR },
		{ "lbeg", XTENSA_SR_LBEG },
		{ "lend", XTENSA_SR_LEND },
		{ "lcount", XTENSA_SR_LCOUNT },
		{ "windowbase", XTENSA_SR_WINDOWBASE },
		{ "windowstart", XTENSA_SR_WINDOWSTART },
	};
	char name[16];

	compare(text, "pc", pc_of(cpu), pc_of(reference));
	compare(text, "ps", ps_of(cpu), ps_of(reference));
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		compare(text, special[i].name, cpu->sr[special[i].number], reference->sr[special[i].number]);
	for (unsigned int i = 0; i < XTENSA_AR_COUNT; i++) {
		snprintf(name, sizeof(name), "ar%u", i);
		compare(text, name, cpu->ar[i], reference->ar[i]);
	}
}

static void compare_memory(struct sim_buffer *text, uint32_t addr, const uint8_t *is, const uint8_t *should,
	uint32_t len)
{
	unsigned int shown = 0;

	for (uint32_t at = 0; at < len && shown < MAX_SHOWN; at++) {
		if (is[at] == should[at])
			continue;
		sim_buffer_printf(text, " [0x%08x]=0x%02x/0x%02x", addr + at, is[at], should[at]);
		shown++;
	}
}

/* What a program owns: its segments, and the stack behind one of them. */
static void compare_segments(struct sim_buffer *text, struct xtensa_soc *soc, unsigned int n,
	struct xtensa_soc *reference)
{
	struct elf_segment segment;
	uint64_t stack_top = 0;

	elf_image_symbol(&soc->program[n], "stack_top", &stack_top);
	for (unsigned int i = 0; elf_image_segment(&soc->program[n], i, &segment); i++) {
		uint32_t addr = segment.address;
		uint32_t len = segment.mem_len;
		if (stack_top > addr + len && xtensa_soc_memory_at(soc, addr, stack_top - addr))
			len = stack_top - addr;
		if (len)
			compare_memory(text, addr, xtensa_soc_memory_at(soc, addr, len),
				xtensa_soc_memory_at(reference, addr, len), len);
	}
}

bool xtensa_verify(struct xtensa_soc *soc, unsigned int n, const char *const path[XTENSA_SOC_CORES],
	struct sim_buffer *text)
{
	struct xtensa_soc *reference = calloc(1, sizeof(*reference));
	const struct xtensa_cpu *cpu = &soc->core[n].cpu;
	struct sim_clock clock = { 0 };
	size_t before = text->len;

	sim_clock_set_tck(&clock, 1000);
	const char *error = reference ? xtensa_soc_init(reference, soc->type, soc->cores, &clock, soc->hz, path) :
		"out of memory";
	if (soc->resets)
		error = "a core was reset";
	if (n >= soc->programs)
		error = "this core has no program";
	if (error) {
		sim_buffer_printf(text, " %s", error);
	} else if (!run_as_far(&reference->core[n].cpu, cpu)) {
		sim_buffer_printf(text, " %llu instructions instead of %llu",
			(unsigned long long)reference->core[n].cpu.retired, (unsigned long long)cpu->retired);
	} else {
		compare_registers(text, cpu, &reference->core[n].cpu);
		compare_segments(text, soc, n, reference);
	}
	if (reference)
		xtensa_soc_free(reference);
	free(reference);
	return text->len == before;
}
