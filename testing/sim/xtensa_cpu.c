// SPDX-License-Identifier: GPL-2.0-or-later

/* State of the Xtensa core: registers, exceptions, interrupts, windows, memory, time, and stopping for the debugger. */

#include "xtensa_insn.h"

#include <stdlib.h>
#include <string.h>

#define DECODED_COUNT	65536u		/* a power of two; an instruction's place is its address modulo this */
#define NMI_LEVEL	7u
#define FOREVER		UINT64_MAX

/* ---- time ---- */

/* The clock that CCOUNT counts. */
static uint64_t ccount_time(const struct xtensa_cpu *cpu)
{
	return cpu->cycle - (cpu->config.ccount_stops ? cpu->standing : 0);
}

static uint32_t ccount(const struct xtensa_cpu *cpu)
{
	return (uint32_t)ccount_time(cpu) + cpu->ccount_offset;
}

/* When CCOUNT gets to be CCOMPARE, from the next cycle on. */
static void timer_set(struct xtensa_cpu *cpu, unsigned int timer)
{
	const uint32_t wait = cpu->sr[XTENSA_SR_CCOMPARE0 + timer] - ccount(cpu) - 1;

	cpu->timer_due[timer] = ccount_time(cpu) + 1 + wait;
	cpu->limit = 0;
}

static bool timer_there(const struct xtensa_cpu *cpu, unsigned int timer)
{
	return cpu->config.interrupt_level[cpu->config.timer_interrupt[timer] % 32];
}

static void timers_expire(struct xtensa_cpu *cpu)
{
	const uint64_t now = ccount_time(cpu);

	for (unsigned int i = 0; i < 3; i++) {
		if (!timer_there(cpu, i) || cpu->timer_due[i] > now)
			continue;
		cpu->interrupts |= 1u << (cpu->config.timer_interrupt[i] % 32);
		/* once each time that CCOUNT has gone all around */
		cpu->timer_due[i] += ((now - cpu->timer_due[i]) >> 32 << 32) + (1ull << 32);
	}
}

/* The cycle when the next timer expires. */
static uint64_t next_timer(const struct xtensa_cpu *cpu)
{
	uint64_t next = FOREVER;

	for (unsigned int i = 0; i < 3; i++)
		if (timer_there(cpu, i) && cpu->timer_due[i] < next)
			next = cpu->timer_due[i];
	return next == FOREVER ? next : next + cpu->cycle - ccount_time(cpu);
}

/* ---- windows ---- */

/* The highest number of a window: groups of 4 AR. */
static uint32_t last_window(const struct xtensa_cpu *cpu)
{
	return cpu->ar_mask / 4;
}

bool xtensa_window_live(const struct xtensa_cpu *cpu, int panes)
{
	return (cpu->sr[XTENSA_SR_WINDOWSTART] >> ((cpu->sr[XTENSA_SR_WINDOWBASE] + panes) & last_window(cpu))) & 1;
}

/* To be called when WINDOWBASE, WINDOWSTART, PS.WOE or PS.EXCM changed. */
static void window_changed(struct xtensa_cpu *cpu)
{
	cpu->window_at = cpu->sr[XTENSA_SR_WINDOWBASE] * 4;
	cpu->panes_free = 3;
	if ((cpu->sr[XTENSA_SR_PS] & (PS_WOE | PS_EXCM)) != PS_WOE)
		return;
	for (unsigned int i = 1; i <= 3; i++)
		if (xtensa_window_live(cpu, i)) {
			cpu->panes_free = i - 1;
			break;
		}
}

void xtensa_rotate(struct xtensa_cpu *cpu, unsigned int panes)
{
	cpu->sr[XTENSA_SR_WINDOWBASE] = (cpu->sr[XTENSA_SR_WINDOWBASE] + panes) & last_window(cpu);
	window_changed(cpu);
}

/* Say whether a frame is at WINDOWBASE. */
void xtensa_window_mark(struct xtensa_cpu *cpu, bool live)
{
	const uint32_t mask = 1u << cpu->sr[XTENSA_SR_WINDOWBASE];

	if (live)
		cpu->sr[XTENSA_SR_WINDOWSTART] |= mask;
	else
		cpu->sr[XTENSA_SR_WINDOWSTART] &= ~mask;
	window_changed(cpu);
}

/* Go to the vector for a frame of @a panes (1 to 3) with WINDOWBASE at that frame. */
static unsigned int window_exception(struct xtensa_cpu *cpu, unsigned int rotate, unsigned int panes, uint32_t vector)
{
	const uint32_t owb = cpu->sr[XTENSA_SR_WINDOWBASE];

	if (cpu->injecting)
		return INSN_FAULTED;
	cpu->sr[XTENSA_SR_EPC1] = cpu->pc;
	cpu->sr[XTENSA_SR_PS] = (cpu->sr[XTENSA_SR_PS] & ~PS_OWB) | owb << PS_OWB_SHIFT | PS_EXCM;
	cpu->pc = cpu->sr[XTENSA_SR_VECBASE] + vector + (panes - 1) * 0x80;
	xtensa_rotate(cpu, rotate);
	cpu->limit = 0;
	return INSN_FAULTED;
}

/* An instruction names registers of the oldest frame: that one has to be saved first. */
unsigned int xtensa_window_overflow(struct xtensa_cpu *cpu)
{
	const int at = cpu->panes_free + 1;
	const unsigned int panes = xtensa_window_live(cpu, at + 1) ? 1 : xtensa_window_live(cpu, at + 2) ? 2 : 3;

	return window_exception(cpu, at, panes, VECTOR_OVERFLOW4);
}

unsigned int xtensa_window_return(struct xtensa_cpu *cpu)
{
	const uint32_t a0 = *xtensa_ar(cpu, 0);
	const unsigned int panes = a0 >> 30;
	const uint32_t ps = cpu->sr[XTENSA_SR_PS];
	const uint32_t old = 1u << cpu->sr[XTENSA_SR_WINDOWBASE];
	const unsigned int caller = xtensa_window_live(cpu, -1) ? 1 : xtensa_window_live(cpu, -2) ? 2 :
		xtensa_window_live(cpu, -3) ? 3 : 0;

	if (!panes || (caller && caller != panes) || !(ps & PS_WOE) || (ps & PS_EXCM))
		return xtensa_raise(cpu, EXC_ILLEGAL);
	if (!caller)
		return window_exception(cpu, 0u - panes, panes, VECTOR_UNDERFLOW4);
	cpu->sr[XTENSA_SR_WINDOWSTART] &= ~old;
	xtensa_rotate(cpu, 0u - panes);
	cpu->pc = (cpu->pc & 0xc0000000) | (a0 & 0x3fffffff);
	return INSN_TAKEN;
}

/* ---- exceptions and interrupts ---- */

static unsigned int current_level(const struct xtensa_cpu *cpu)
{
	const unsigned int level = cpu->sr[XTENSA_SR_PS] & PS_INTLEVEL;

	return (cpu->sr[XTENSA_SR_PS] & PS_EXCM) && level < cpu->config.excm_level ? cpu->config.excm_level : level;
}

void xtensa_ps_write(struct xtensa_cpu *cpu, uint32_t value)
{
	cpu->sr[XTENSA_SR_PS] = value & PS_MASK;
	window_changed(cpu);
	cpu->limit = 0;
}

unsigned int xtensa_raise(struct xtensa_cpu *cpu, enum xtensa_exccause cause)
{
	const uint32_t ps = cpu->sr[XTENSA_SR_PS];
	enum xtensa_vector vector = ps & PS_UM ? VECTOR_USER : VECTOR_KERNEL;

	if (cpu->injecting)
		return INSN_FAULTED;
	cpu->sr[XTENSA_SR_EXCCAUSE] = cause;
	if (ps & PS_EXCM) {
		cpu->sr[XTENSA_SR_DEPC] = cpu->pc;
		vector = VECTOR_DOUBLE;
	} else {
		cpu->sr[XTENSA_SR_EPC1] = cpu->pc;
	}
	xtensa_ps_write(cpu, ps | PS_EXCM);
	cpu->pc = cpu->sr[XTENSA_SR_VECBASE] + vector;
	return INSN_FAULTED;
}

unsigned int xtensa_raise_at(struct xtensa_cpu *cpu, enum xtensa_exccause cause, uint32_t vaddr)
{
	if (!cpu->injecting)
		cpu->sr[XTENSA_SR_EXCVADDR] = vaddr;
	return xtensa_raise(cpu, cause);
}

/* What interrupts of level 2 and above, and debug exceptions, do with PC and PS. */
static void enter_level(struct xtensa_cpu *cpu, unsigned int level)
{
	cpu->sr[XTENSA_SR_EPC1 - 1 + level] = cpu->pc;
	cpu->sr[XTENSA_SR_EPS2 - 2 + level] = cpu->sr[XTENSA_SR_PS];
	xtensa_ps_write(cpu, (cpu->sr[XTENSA_SR_PS] & ~PS_INTLEVEL) | PS_EXCM | level);
}

static void go_to_level(struct xtensa_cpu *cpu, unsigned int level)
{
	enter_level(cpu, level);
	cpu->pc = cpu->sr[XTENSA_SR_VECBASE] + VECTOR_LEVEL2 + (level - 2) * 0x40;
}

unsigned int xtensa_raise_debug(struct xtensa_cpu *cpu, uint32_t debug_cause)
{
	if (current_level(cpu) >= cpu->config.debug_level)
		return 0;
	if (cpu->ocd_enabled) {
		xtensa_cpu_stop(cpu, debug_cause);
	} else {
		cpu->sr[XTENSA_SR_DEBUGCAUSE] = debug_cause;
		go_to_level(cpu, cpu->config.debug_level);
	}
	return INSN_FAULTED;
}

static uint32_t interrupts_pending(const struct xtensa_cpu *cpu)
{
	return cpu->interrupts | (cpu->irq_lines & ~cpu->level_mask[NMI_LEVEL]);
}

/* The highest level that an interrupt asks for, 0: none. NMI cannot be masked. */
static unsigned int level_asked(const struct xtensa_cpu *cpu)
{
	const uint32_t pending = interrupts_pending(cpu);

	if (pending & cpu->level_mask[NMI_LEVEL])
		return NMI_LEVEL;
	for (unsigned int level = NMI_LEVEL - 1; level; level--)
		if (pending & cpu->sr[XTENSA_SR_INTENABLE] & cpu->level_mask[level])
			return level;
	return 0;
}

static void notice_nmi(struct xtensa_cpu *cpu)
{
	const uint32_t lines = cpu->irq_lines & cpu->level_mask[NMI_LEVEL];

	cpu->interrupts |= lines & ~cpu->nmi_seen;
	cpu->nmi_seen = lines;
}

static void take_interrupt(struct xtensa_cpu *cpu)
{
	notice_nmi(cpu);
	const unsigned int level = level_asked(cpu);
	if (level <= current_level(cpu))
		return;
	cpu->waiting = false;
	if (level == 1) {
		xtensa_raise(cpu, EXC_LEVEL1_INTERRUPT);
		return;
	}
	if (level == NMI_LEVEL)
		cpu->interrupts &= ~cpu->level_mask[NMI_LEVEL];
	go_to_level(cpu, level);
}

void xtensa_cpu_irq(struct xtensa_cpu *cpu, uint32_t lines)
{
	cpu->irq_lines = lines;
	cpu->limit = 0;
}

/* ---- special registers ---- */

/* Interrupts that software can set and clear. */
static uint32_t software_interrupts(const struct xtensa_cpu *cpu, uint32_t value)
{
	uint32_t there = 0;

	for (unsigned int level = 1; level <= XTENSA_INTLEVELS; level++)
		there |= cpu->level_mask[level];
	for (unsigned int i = 0; i < 3; i++)
		there &= ~(1u << (cpu->config.timer_interrupt[i] % 32));
	return value & there;
}

uint32_t xtensa_sr_read(struct xtensa_cpu *cpu, unsigned int sr)
{
	switch (sr) {
	case XTENSA_SR_DDR:
		cpu->ddr_read = true;
		return cpu->ddr;
	case XTENSA_SR_CCOUNT:
		return ccount(cpu);
	case XTENSA_SR_INTERRUPT:
		return interrupts_pending(cpu);
	default:
		return cpu->sr[sr];
	}
}

static void write_interrupts(struct xtensa_cpu *cpu, unsigned int sr, uint32_t value)
{
	if (sr == XTENSA_SR_INTERRUPT)
		cpu->interrupts |= software_interrupts(cpu, value);
	else if (sr == XTENSA_SR_INTCLEAR)
		cpu->interrupts &= ~software_interrupts(cpu, value);
	else
		cpu->sr[sr] = value;
	cpu->limit = 0;
}

static void write_debug(struct xtensa_cpu *cpu, unsigned int sr, uint32_t value)
{
	cpu->sr[sr] = value;
	cpu->watching = (cpu->sr[XTENSA_SR_DBREAKC0] | cpu->sr[XTENSA_SR_DBREAKC0 + 1]) >> 30;
	cpu->limit = 0;
}

static void write_window(struct xtensa_cpu *cpu, unsigned int sr, uint32_t value)
{
	cpu->sr[sr] = value & (sr == XTENSA_SR_WINDOWBASE ? last_window(cpu) : (2u << last_window(cpu)) - 1);
	window_changed(cpu);
}

static void write_ccount(struct xtensa_cpu *cpu, uint32_t value)
{
	cpu->ccount_offset += value - ccount(cpu);
	for (unsigned int i = 0; i < 3; i++)
		timer_set(cpu, i);
}

static void write_ccompare(struct xtensa_cpu *cpu, unsigned int timer, uint32_t value)
{
	cpu->sr[XTENSA_SR_CCOMPARE0 + timer] = value;
	cpu->interrupts &= ~(1u << (cpu->config.timer_interrupt[timer] % 32));
	timer_set(cpu, timer);
}

void xtensa_sr_write(struct xtensa_cpu *cpu, unsigned int sr, uint32_t value)
{
	switch (sr) {
	case XTENSA_SR_SAR:
		cpu->sr[sr] = value & 63;
		break;
	case XTENSA_SR_WINDOWBASE:
	case XTENSA_SR_WINDOWSTART:
		write_window(cpu, sr, value);
		break;
	case XTENSA_SR_DDR:
		cpu->ddr = value;
		cpu->ddr_written = true;
		break;
	case XTENSA_SR_PS:
		xtensa_ps_write(cpu, value);
		break;
	case XTENSA_SR_INTERRUPT ... XTENSA_SR_INTENABLE:
		write_interrupts(cpu, sr, value);
		break;
	case XTENSA_SR_IBREAKENABLE:
	case XTENSA_SR_ICOUNT:
	case XTENSA_SR_ICOUNTLEVEL:
	case XTENSA_SR_DBREAKC0:
	case XTENSA_SR_DBREAKC0 + 1:
		write_debug(cpu, sr, value);
		break;
	case XTENSA_SR_CCOUNT:
		write_ccount(cpu, value);
		break;
	case XTENSA_SR_CCOMPARE0 ... XTENSA_SR_CCOMPARE0 + 2:
		write_ccompare(cpu, sr - XTENSA_SR_CCOMPARE0, value);
		break;
	case XTENSA_SR_PRID:
	case XTENSA_SR_DEBUGCAUSE:
		break;		/* read only */
	default:
		cpu->sr[sr] = value;
		break;
	}
}

/* ---- memory ---- */

/* Does data breakpoint @a n, if it is for these accesses, lie in the bytes at @a addr? */
static bool watched(const struct xtensa_cpu *cpu, unsigned int n, uint32_t addr, unsigned int size, uint32_t kind)
{
	const uint32_t control = cpu->sr[XTENSA_SR_DBREAKC0 + n];
	const uint32_t mask = control | ~63u;
	const uint32_t start = cpu->sr[XTENSA_SR_DBREAKA0 + n] & mask;

	return (control & kind) && start + ~mask >= addr && addr + size - 1 >= start;
}

static unsigned int watch(struct xtensa_cpu *cpu, uint32_t addr, unsigned int size, uint32_t kind)
{
	for (unsigned int n = 0; n < 2; n++)
		if (!cpu->injecting && watched(cpu, n, addr, size, kind))
			return xtensa_raise_debug(cpu, XTENSA_CAUSE_DBREAK);
	return 0;
}

/* Plain memory at @a addr. @returns NULL if there is none; then the bus is to be asked. */
static uint8_t *plain(struct xtensa_cpu *cpu, struct xtensa_memory *memory, uint32_t addr)
{
	if (addr - memory->start < memory->len)
		return memory->bytes + (addr - memory->start);
	if (!cpu->bus.memory)
		return NULL;
	struct xtensa_memory found = { 0 };
	found.bytes = cpu->bus.memory(cpu->bus.ctx, addr, &found.start, &found.len);
	if (!found.bytes)
		return NULL;
	*memory = found;
	return found.bytes + (addr - found.start);
}

static uint32_t get_bytes(const uint8_t *bytes, unsigned int size)
{
	if (size == 4)
		return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	return size == 2 ? bytes[0] | bytes[1] << 8 : bytes[0];
}

static void put_bytes(uint8_t *bytes, unsigned int size, uint32_t value)
{
	bytes[0] = value;
	if (size >= 2)
		bytes[1] = value >> 8;
	if (size == 4) {
		bytes[2] = value >> 16;
		bytes[3] = value >> 24;
	}
}

static inline unsigned int load_by(struct xtensa_cpu *cpu, struct xtensa_memory *memory, uint32_t addr,
		unsigned int size, uint32_t *value)
{
	if (addr & (size - 1))
		return xtensa_raise_at(cpu, EXC_UNALIGNED, addr);
	const unsigned int stop = cpu->watching ? watch(cpu, addr, size, 1u << 30) : 0;
	if (stop)
		return stop;
	const uint8_t *bytes = plain(cpu, memory, addr);
	if (bytes)
		*value = get_bytes(bytes, size);
	else if (cpu->bus.read(cpu->bus.ctx, addr, size, value) != XTENSA_BUS_OK)
		return xtensa_raise_at(cpu, EXC_LOAD_STORE_ERROR, addr);
	return 0;
}

unsigned int xtensa_load(struct xtensa_cpu *cpu, uint32_t addr, unsigned int size, uint32_t *value)
{
	return load_by(cpu, &cpu->data, addr, size, value);
}

/* Literals are among the code: another place to remember than that of data. */
unsigned int xtensa_load_literal(struct xtensa_cpu *cpu, uint32_t addr, uint32_t *value)
{
	return load_by(cpu, &cpu->literals, addr, 4, value);
}

unsigned int xtensa_store(struct xtensa_cpu *cpu, uint32_t addr, unsigned int size, uint32_t value)
{
	if (addr & (size - 1))
		return xtensa_raise_at(cpu, EXC_UNALIGNED, addr);
	const unsigned int stop = cpu->watching ? watch(cpu, addr, size, 1u << 31) : 0;
	if (stop)
		return stop;
	uint8_t *bytes = plain(cpu, &cpu->data, addr);
	if (bytes)
		put_bytes(bytes, size, value);
	else if (cpu->bus.write(cpu->bus.ctx, addr, size, value) != XTENSA_BUS_OK)
		return xtensa_raise_at(cpu, EXC_LOAD_STORE_ERROR, addr);
	if (addr <= cpu->code_high && addr + size > cpu->code_low)
		xtensa_cpu_code_changed(cpu, addr, size);
	return 0;
}

/* ---- decoded instructions ---- */

static struct xtensa_decoded *decoded_at(const struct xtensa_cpu *cpu, uint32_t pc)
{
	return &cpu->decoded[pc % DECODED_COUNT];
}

/* No instruction of this address gets looked for there. */
static void forget(const struct xtensa_cpu *cpu, uint32_t pc)
{
	decoded_at(cpu, pc)->pc = ~pc;
}

void xtensa_cpu_code_changed(struct xtensa_cpu *cpu, uint32_t addr, uint32_t len)
{
	/* an instruction may begin up to 2 bytes before */
	const uint32_t count = len + 2 < DECODED_COUNT ? len + 2 : DECODED_COUNT;

	for (uint32_t i = 0; i < count; i++)
		forget(cpu, addr - 2 + i);
}

void xtensa_cpu_map_changed(struct xtensa_cpu *cpu)
{
	cpu->data = cpu->literals = (struct xtensa_memory){ 0 };
	xtensa_cpu_code_changed(cpu, 0, DECODED_COUNT);
	cpu->code_low = UINT32_MAX;
	cpu->code_high = 0;
}

/* @returns false: there is nothing to execute, and an exception was taken. */
static bool fetch(struct xtensa_cpu *cpu)
{
	const uint32_t pc = cpu->pc;
	size_t len = 0;
	const uint8_t *bytes = cpu->bus.fetch(cpu->bus.ctx, pc, &len);

	if (!bytes || !xtensa_decode(decoded_at(cpu, pc), pc, bytes, len)) {
		xtensa_raise_at(cpu, EXC_FETCH_ERROR, pc);
		return false;
	}
	if (pc < cpu->code_low)
		cpu->code_low = pc;
	if (pc + 2 > cpu->code_high)
		cpu->code_high = pc + 2;
	return true;
}

/* ---- running ---- */

static void pass_time(struct xtensa_cpu *cpu, uint32_t pc, uint64_t cycles)
{
	cpu->cycle += cycles;
	if (cpu->profile && pc - cpu->profile_start < cpu->profile_end - cpu->profile_start)
		cpu->profile[pc - cpu->profile_start] += cycles;
	else
		cpu->profile_outside += cycles;
}

static void go_on(struct xtensa_cpu *cpu, uint32_t pc)
{
	if (pc == cpu->sr[XTENSA_SR_LEND] && cpu->sr[XTENSA_SR_LCOUNT] && !(cpu->sr[XTENSA_SR_PS] & PS_EXCM)) {
		cpu->sr[XTENSA_SR_LCOUNT]--;
		pc = cpu->sr[XTENSA_SR_LBEG];
	}
	cpu->pc = pc;
}

/* Execute up to the cycle limit, at least one instruction. */
static void burst(struct xtensa_cpu *cpu)
{
	do {
		const uint32_t pc = cpu->pc;
		const struct xtensa_decoded *insn = decoded_at(cpu, pc);
		if (insn->pc != pc && !fetch(cpu)) {
			pass_time(cpu, pc, 1);
			return;
		}
		const uint8_t len = insn->len;
		const unsigned int done = insn->panes > cpu->panes_free ? xtensa_window_overflow(cpu) :
			insn->execute(cpu, insn);
		pass_time(cpu, pc, done & INSN_CYCLES);
		if (!(done & INSN_MOVED))
			go_on(cpu, pc + len);
		if (!(done & INSN_FAULT))
			cpu->retired++;
	} while (cpu->cycle < cpu->limit);
}

/* IBREAK and ICOUNT. @returns true if the next instruction is not to be executed. */
static bool debug_before(struct xtensa_cpu *cpu)
{
	uint32_t cause = 0;

	for (unsigned int n = 0; n < 2; n++)
		if (((cpu->sr[XTENSA_SR_IBREAKENABLE] >> n) & 1) && cpu->sr[XTENSA_SR_IBREAKA0 + n] == cpu->pc)
			cause |= XTENSA_CAUSE_IBREAK;
	if (current_level(cpu) < cpu->sr[XTENSA_SR_ICOUNTLEVEL] && cpu->sr[XTENSA_SR_ICOUNT] == UINT32_MAX)
		cause |= XTENSA_CAUSE_ICOUNT;
	return cause && xtensa_raise_debug(cpu, cause);
}

/* One instruction, with breakpoints and the instruction counter looked after. */
static void burst_of_one(struct xtensa_cpu *cpu)
{
	if (debug_before(cpu))
		return;
	const bool counts = current_level(cpu) < cpu->sr[XTENSA_SR_ICOUNTLEVEL];
	const uint32_t icount = cpu->sr[XTENSA_SR_ICOUNT];
	const uint64_t retired = cpu->retired;
	cpu->limit = 0;
	burst(cpu);
	if (counts && cpu->retired != retired && cpu->sr[XTENSA_SR_ICOUNT] == icount)
		cpu->sr[XTENSA_SR_ICOUNT]++;
}

static bool debug_looks(const struct xtensa_cpu *cpu)
{
	return (cpu->sr[XTENSA_SR_IBREAKENABLE] & 3) || cpu->sr[XTENSA_SR_ICOUNTLEVEL];
}

static void settle(struct xtensa_cpu *cpu)
{
	timers_expire(cpu);
	take_interrupt(cpu);
}

static void run_program(struct xtensa_cpu *cpu, uint64_t until)
{
	settle(cpu);
	const uint64_t timer = next_timer(cpu);
	const uint64_t limit = timer < until ? timer : until;
	if (cpu->waiting) {
		pass_time(cpu, cpu->pc, limit - cpu->cycle);
	} else if (debug_looks(cpu)) {
		burst_of_one(cpu);
	} else {
		cpu->limit = limit;
		burst(cpu);
	}
}

enum xtensa_run xtensa_cpu_run(struct xtensa_cpu *cpu, uint64_t until, bool ocd_enabled)
{
	if (until <= cpu->cycle)
		return XTENSA_RUNNING;
	if (cpu->in_ocd || cpu->run_stall) {
		*(cpu->in_ocd ? &cpu->standing : &cpu->stalled) += until - cpu->cycle;
		cpu->cycle = until;
		return XTENSA_RUNNING;
	}
	cpu->ocd_enabled = ocd_enabled;
	while (cpu->cycle < until) {
		run_program(cpu, until);
		if (cpu->in_ocd)
			return XTENSA_STOPPED;
	}
	return XTENSA_RUNNING;
}

void xtensa_cpu_settle(struct xtensa_cpu *cpu)
{
	if (!cpu->in_ocd && !cpu->run_stall)
		settle(cpu);
}

/* ---- debugging ---- */

bool xtensa_cpu_can_interrupt(const struct xtensa_cpu *cpu, bool all_conditions)
{
	return !cpu->in_ocd && (all_conditions || current_level(cpu) < cpu->config.debug_level);
}

void xtensa_cpu_stop(struct xtensa_cpu *cpu, uint32_t cause)
{
	if (cpu->in_ocd)
		cause |= cpu->debug_cause;
	cpu->debug_cause = cause;
	cpu->sr[XTENSA_SR_DEBUGCAUSE] = cause;
	if (cpu->in_ocd)
		return;
	cpu->in_ocd = true;
	cpu->waiting = false;
	enter_level(cpu, cpu->config.debug_level);
}

enum xtensa_inject xtensa_cpu_inject(struct xtensa_cpu *cpu, uint32_t insn)
{
	const uint8_t bytes[3] = { insn, insn >> 8, insn >> 16 };
	struct xtensa_decoded decoded;

	if (!cpu->in_ocd || !xtensa_decode(&decoded, cpu->pc, bytes, sizeof(bytes)) || decoded.flow ||
			decoded.panes > cpu->panes_free)
		return XTENSA_INJECT_EXCEPTION;
	cpu->injecting = true;
	const unsigned int done = decoded.execute(cpu, &decoded);
	cpu->injecting = false;
	if (done & INSN_FAULT)
		return XTENSA_INJECT_EXCEPTION;
	return done & INSN_MOVED ? XTENSA_INJECT_RESUMED : XTENSA_INJECT_DONE;
}

uint32_t xtensa_cpu_a(const struct xtensa_cpu *cpu, unsigned int n)
{
	return cpu->ar[(cpu->window_at + n) & cpu->ar_mask];
}

/* ---- beginning and end ---- */

void xtensa_cpu_reset(struct xtensa_cpu *cpu)
{
	static const uint8_t cleared[] = {
		XTENSA_SR_LCOUNT, XTENSA_SR_WINDOWBASE, XTENSA_SR_IBREAKENABLE, XTENSA_SR_DBREAKC0, XTENSA_SR_DBREAKC0 + 1,
		XTENSA_SR_INTENABLE, XTENSA_SR_DEBUGCAUSE, XTENSA_SR_ICOUNTLEVEL, XTENSA_SR_EXCCAUSE,
	};

	for (size_t i = 0; i < sizeof(cleared); i++)
		cpu->sr[cleared[i]] = 0;
	cpu->sr[XTENSA_SR_WINDOWSTART] = 1;
	cpu->sr[XTENSA_SR_ATOMCTL] = 0x28;
	cpu->sr[XTENSA_SR_VECBASE] = cpu->config.vecbase;
	cpu->sr[XTENSA_SR_PRID] = cpu->config.prid;
	cpu->pc = cpu->config.reset_vector;
	cpu->interrupts = cpu->nmi_seen = 0;
	cpu->in_ocd = cpu->waiting = cpu->watching = false;
	xtensa_ps_write(cpu, PS_EXCM | PS_INTLEVEL);
	for (unsigned int i = 0; i < 3; i++)
		timer_set(cpu, i);
}

int xtensa_cpu_init(struct xtensa_cpu *cpu, const struct xtensa_config *config, const struct xtensa_bus *bus)
{
	memset(cpu, 0, sizeof(*cpu));
	cpu->config = *config;
	cpu->bus = *bus;
	cpu->ar_mask = (config->ar_count == 32 ? 32 : XTENSA_AR_COUNT) - 1;
	cpu->decoded = calloc(DECODED_COUNT, sizeof(*cpu->decoded));
	if (!cpu->decoded)
		return -1;
	for (unsigned int i = 0; i < 32; i++)
		if (config->interrupt_level[i] && config->interrupt_level[i] <= XTENSA_INTLEVELS)
			cpu->level_mask[config->interrupt_level[i]] |= 1u << i;
	xtensa_cpu_map_changed(cpu);
	xtensa_cpu_reset(cpu);
	return 0;
}

void xtensa_cpu_free(struct xtensa_cpu *cpu)
{
	free(cpu->decoded);
	cpu->decoded = NULL;
}
