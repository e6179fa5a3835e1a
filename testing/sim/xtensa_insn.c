// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Instructions: one function for each, then the opcode tables, by the fields that the instruction set is laid out in:
 * op0 = bits 0-3, t = 4-7, s = 8-11, r = 12-15, op1 = 16-19, op2 = 20-23.
 */

#include "xtensa_insn.h"

/* Special registers and user registers of the floating point unit. */
#define UR_FCR	232u
#define UR_FSR	233u

static uint32_t get(struct xtensa_cpu *cpu, unsigned int n)
{
	return *xtensa_ar(cpu, n);
}

static unsigned int set(struct xtensa_cpu *cpu, unsigned int n, uint32_t value)
{
	*xtensa_ar(cpu, n) = value;
	return INSN_NEXT;
}

static unsigned int jump(struct xtensa_cpu *cpu, uint32_t pc)
{
	cpu->pc = pc;
	return INSN_TAKEN;
}

static uint32_t sign_extend(uint32_t value, unsigned int bits)
{
	const uint32_t sign = 1u << (bits - 1);

	value &= (sign << 1) - 1;
	return (value ^ sign) - sign;
}

static unsigned int leading_zeros(uint32_t value)
{
	return value ? (unsigned int)__builtin_clz(value) : 32;
}

static unsigned int op_illegal(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return xtensa_raise(cpu, EXC_ILLEGAL);
}

static unsigned int op_nop(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)cpu;
	(void)insn;
	return INSN_NEXT;
}

/* ---- arithmetic: operands are called s, t and imm ---- */

#define COMPUTE(name, target, value) \
	static unsigned int op_##name(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn) \
	{ \
		const uint32_t s = get(cpu, insn->s); \
		const uint32_t t = get(cpu, insn->t); \
		const uint32_t imm = insn->imm; \
		(void)s; \
		(void)t; \
		(void)imm; \
		return set(cpu, insn->target, (value)); \
	}

#define SAR	(cpu->sr[XTENSA_SR_SAR])

static uint32_t clamp(int32_t value, unsigned int bits)
{
	const int32_t top = (int32_t)((1u << bits) - 1);

	return value > top ? top : value < -top - 1 ? -top - 1 : value;
}

COMPUTE(and, r, s & t)
COMPUTE(or, r, s | t)
COMPUTE(xor, r, s ^ t)
COMPUTE(add, r, s + t)
COMPUTE(addx2, r, (s << 1) + t)
COMPUTE(addx4, r, (s << 2) + t)
COMPUTE(addx8, r, (s << 3) + t)
COMPUTE(sub, r, s - t)
COMPUTE(subx2, r, (s << 1) - t)
COMPUTE(subx4, r, (s << 2) - t)
COMPUTE(subx8, r, (s << 3) - t)
COMPUTE(neg, r, -t)
COMPUTE(abs, r, (int32_t)t < 0 ? -t : t)
COMPUTE(nsa, t, leading_zeros((int32_t)s < 0 ? ~s : s) - 1)
COMPUTE(nsau, t, leading_zeros(s))
COMPUTE(sext, r, sign_extend(s, imm + 1))
COMPUTE(clamps, r, clamp(s, imm))
COMPUTE(min, r, (int32_t)s < (int32_t)t ? s : t)
COMPUTE(max, r, (int32_t)s > (int32_t)t ? s : t)
COMPUTE(minu, r, s < t ? s : t)
COMPUTE(maxu, r, s > t ? s : t)
COMPUTE(moveqz, r, !t ? s : get(cpu, insn->r))
COMPUTE(movnez, r, t ? s : get(cpu, insn->r))
COMPUTE(movltz, r, (int32_t)t < 0 ? s : get(cpu, insn->r))
COMPUTE(movgez, r, (int32_t)t >= 0 ? s : get(cpu, insn->r))
COMPUTE(mul16u, r, (s & 0xffff) * (t & 0xffff))
COMPUTE(mul16s, r, (uint32_t)((int32_t)(int16_t)s * (int16_t)t))
COMPUTE(mull, r, s * t)
COMPUTE(muluh, r, ((uint64_t)s * t) >> 32)
COMPUTE(mulsh, r, (uint64_t)((int64_t)(int32_t)s * (int32_t)t) >> 32)

/* Shifts. The pair of registers is 64 bits wide and SAR at most 63, so nothing is undefined here. */
COMPUTE(slli, r, (uint64_t)s << imm)
COMPUTE(srai, r, (uint32_t)((int32_t)t >> imm))
COMPUTE(srli, r, t >> imm)
COMPUTE(src, r, (((uint64_t)s << 32) | t) >> SAR)
COMPUTE(srl, r, (uint64_t)t >> SAR)
COMPUTE(sll, r, ((uint64_t)s << 32) >> SAR)
COMPUTE(sra, r, (uint64_t)((int64_t)(int32_t)t >> SAR))
COMPUTE(extui, r, (t >> insn->offset) & imm)

COMPUTE(addi, t, s + imm)
COMPUTE(movi, t, imm)
COMPUTE(addi_n, r, s + imm)
COMPUTE(movi_n, s, imm)
COMPUTE(mov_n, t, s)

#define DIVIDE(name, value) \
	static unsigned int op_##name(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn) \
	{ \
		const uint32_t s = get(cpu, insn->s); \
		const uint32_t t = get(cpu, insn->t); \
		if (!t) \
			return xtensa_raise(cpu, EXC_DIVIDE_BY_ZERO); \
		set(cpu, insn->r, (value)); \
		return INSN_DIVIDE; \
	}

DIVIDE(quou, s / t)
DIVIDE(remu, s % t)
/* 64 bits, for the most negative number by -1 */
DIVIDE(quos, (uint64_t)((int64_t)(int32_t)s / (int32_t)t))
DIVIDE(rems, (uint64_t)((int64_t)(int32_t)s % (int32_t)t))

#define SET_SAR(name, value) \
	static unsigned int op_##name(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn) \
	{ \
		const uint32_t s = get(cpu, insn->s); \
		(void)s; \
		SAR = (value); \
		return INSN_NEXT; \
	}

SET_SAR(ssr, s % 32)
SET_SAR(ssl, 32 - s % 32)
SET_SAR(ssa8l, s % 4 * 8)
SET_SAR(ssa8b, 32 - s % 4 * 8)
SET_SAR(ssai, insn->imm)

/* ---- loads and stores ---- */

static uint32_t address(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return get(cpu, insn->s) + insn->imm;
}

#define LOAD(name, size, convert) \
	static unsigned int op_##name(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn) \
	{ \
		uint32_t value; \
		const unsigned int fault = xtensa_load(cpu, address(cpu, insn), size, &value); \
		return fault ? fault : set(cpu, insn->t, (convert)); \
	}

LOAD(l8ui, 1, value)
LOAD(l16ui, 2, value)
LOAD(l16si, 2, sign_extend(value, 16))
LOAD(l32i, 4, value)

#define STORE(name, size) \
	static unsigned int op_##name(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn) \
	{ \
		const unsigned int fault = xtensa_store(cpu, address(cpu, insn), size, get(cpu, insn->t)); \
		return fault ? fault : INSN_NEXT; \
	}

STORE(s8i, 1)
STORE(s16i, 2)
STORE(s32i, 4)

static unsigned int op_l32r(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	uint32_t value;
	const unsigned int fault = xtensa_load_literal(cpu, insn->imm, &value);

	return fault ? fault : set(cpu, insn->t, value);
}

static unsigned int op_s32c1i(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const uint32_t addr = address(cpu, insn);
	uint32_t old;
	unsigned int fault = xtensa_load(cpu, addr, 4, &old);

	if (!fault && old == cpu->sr[XTENSA_SR_SCOMPARE1])
		fault = xtensa_store(cpu, addr, 4, get(cpu, insn->t));
	return fault ? fault : set(cpu, insn->t, old);
}

/* For the debugger: between memory and DDR, and on to the next word. */
static unsigned int op_lddr32p(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const uint32_t addr = get(cpu, insn->s);
	uint32_t value;

	if (!cpu->in_ocd || !cpu->config.lddr32p)
		return xtensa_raise(cpu, EXC_ILLEGAL);
	const unsigned int fault = xtensa_load(cpu, addr, 4, &value);
	if (fault)
		return fault;
	xtensa_sr_write(cpu, XTENSA_SR_DDR, value);
	return set(cpu, insn->s, addr + 4);
}

static unsigned int op_sddr32p(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const uint32_t addr = get(cpu, insn->s);

	if (!cpu->in_ocd || !cpu->config.lddr32p)
		return xtensa_raise(cpu, EXC_ILLEGAL);
	const unsigned int fault = xtensa_store(cpu, addr, 4, cpu->ddr);
	if (fault)
		return fault;
	cpu->ddr_read = true;
	return set(cpu, insn->s, addr + 4);
}

/* ---- jumps, branches, calls, loops ---- */

#define BRANCH(name, condition) \
	static unsigned int op_##name(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn) \
	{ \
		const uint32_t s = get(cpu, insn->s); \
		const uint32_t t = get(cpu, insn->t); \
		const uint32_t imm = insn->imm; \
		(void)t; \
		(void)imm; \
		return (condition) ? jump(cpu, insn->pc + insn->offset) : INSN_NEXT; \
	}

BRANCH(bnone, !(s & t))
BRANCH(beq, s == t)
BRANCH(blt, (int32_t)s < (int32_t)t)
BRANCH(bltu, s < t)
BRANCH(ball, !(~s & t))
BRANCH(bbc, !((s >> (t % 32)) & 1))
BRANCH(bbci, !((s >> imm) & 1))
BRANCH(bany, s & t)
BRANCH(bne, s != t)
BRANCH(bge, (int32_t)s >= (int32_t)t)
BRANCH(bgeu, s >= t)
BRANCH(bnall, ~s & t)
BRANCH(bbs, (s >> (t % 32)) & 1)
BRANCH(bbsi, (s >> imm) & 1)
BRANCH(beqz, !s)
BRANCH(bnez, s)
BRANCH(bltz, (int32_t)s < 0)
BRANCH(bgez, (int32_t)s >= 0)
BRANCH(beqi, s == imm)
BRANCH(bnei, s != imm)
BRANCH(blti, (int32_t)s < (int32_t)imm)
BRANCH(bgei, (int32_t)s >= (int32_t)imm)
BRANCH(bltui, s < imm)
BRANCH(bgeui, s >= imm)

static unsigned int op_j(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return jump(cpu, insn->imm);
}

static unsigned int op_jx(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return jump(cpu, get(cpu, insn->s));
}

static unsigned int op_ret(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return jump(cpu, get(cpu, 0));
}

/* CALLn and CALLXn; n / 4 is in r. The two upper bits of a windowed return address say by how much to rotate back. */
static unsigned int call(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn, uint32_t to)
{
	uint32_t back = insn->pc + 3;

	if (insn->r) {
		back = (back & 0x3fffffff) | ((uint32_t)insn->r << 30);
		cpu->sr[XTENSA_SR_PS] = (cpu->sr[XTENSA_SR_PS] & ~PS_CALLINC) | ((uint32_t)insn->r << PS_CALLINC_SHIFT);
	}
	set(cpu, insn->r * 4u, back);
	return jump(cpu, to);
}

static unsigned int op_call(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return call(cpu, insn, insn->imm);
}

static unsigned int op_callx(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return call(cpu, insn, get(cpu, insn->s));
}

static unsigned int start_loop(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	cpu->sr[XTENSA_SR_LCOUNT] = get(cpu, insn->s) - 1;
	cpu->sr[XTENSA_SR_LBEG] = insn->pc + 3;
	cpu->sr[XTENSA_SR_LEND] = insn->pc + insn->offset;
	return INSN_NEXT;
}

static unsigned int op_loop(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return start_loop(cpu, insn);
}

static unsigned int op_loopnez(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const bool none = !get(cpu, insn->s);

	start_loop(cpu, insn);
	return none ? jump(cpu, insn->pc + insn->offset) : INSN_NEXT;
}

static unsigned int op_loopgtz(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const bool none = (int32_t)get(cpu, insn->s) <= 0;

	start_loop(cpu, insn);
	return none ? jump(cpu, insn->pc + insn->offset) : INSN_NEXT;
}

/* ---- windows ---- */

static unsigned int op_entry(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const uint32_t ps = cpu->sr[XTENSA_SR_PS];
	const unsigned int panes = (ps & PS_CALLINC) >> PS_CALLINC_SHIFT;

	if (insn->s > 3 || !(ps & PS_WOE) || (ps & PS_EXCM))
		return xtensa_raise(cpu, EXC_ILLEGAL);
	if (panes > cpu->panes_free)
		return xtensa_window_overflow(cpu);
	set(cpu, panes * 4 + insn->s, get(cpu, insn->s) - insn->imm);
	xtensa_rotate(cpu, panes);
	xtensa_window_mark(cpu, true);
	return INSN_NEXT;
}

static unsigned int op_retw(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return xtensa_window_return(cpu);
}

static unsigned int op_movsp(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	if (!xtensa_window_live(cpu, -1) && !xtensa_window_live(cpu, -2) && !xtensa_window_live(cpu, -3))
		return xtensa_raise(cpu, EXC_ALLOCA);
	return set(cpu, insn->t, get(cpu, insn->s));
}

static unsigned int op_rotw(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	xtensa_rotate(cpu, insn->imm);
	return INSN_NEXT;
}

static unsigned int return_from_window(struct xtensa_cpu *cpu, bool live)
{
	const uint32_t ps = cpu->sr[XTENSA_SR_PS];

	xtensa_window_mark(cpu, live);
	xtensa_rotate(cpu, ((ps & PS_OWB) >> PS_OWB_SHIFT) - cpu->sr[XTENSA_SR_WINDOWBASE]);
	xtensa_ps_write(cpu, ps & ~PS_EXCM);
	return jump(cpu, cpu->sr[XTENSA_SR_EPC1]);
}

static unsigned int op_rfwo(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return return_from_window(cpu, false);
}

static unsigned int op_rfwu(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return return_from_window(cpu, true);
}

/* ---- exceptions, interrupts, debugging ---- */

static unsigned int op_syscall(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return xtensa_raise(cpu, EXC_SYSCALL);
}

static unsigned int op_break(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const unsigned int fault = xtensa_raise_debug(cpu, insn->len == 2 ? XTENSA_CAUSE_BREAKN : XTENSA_CAUSE_BREAK);

	return fault ? fault : INSN_NEXT;
}

static unsigned int op_rfe(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	xtensa_ps_write(cpu, cpu->sr[XTENSA_SR_PS] & ~PS_EXCM);
	return jump(cpu, cpu->sr[XTENSA_SR_EPC1]);
}

static unsigned int op_rfde(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	(void)insn;
	return jump(cpu, cpu->sr[XTENSA_SR_DEPC]);
}

static unsigned int op_rfi(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	if (insn->s < 2 || insn->s > XTENSA_INTLEVELS)
		return xtensa_raise(cpu, EXC_ILLEGAL);
	xtensa_ps_write(cpu, cpu->sr[XTENSA_SR_EPS2 - 2 + insn->s]);
	return jump(cpu, cpu->sr[XTENSA_SR_EPC1 - 1 + insn->s]);
}

static uint32_t change_level(struct xtensa_cpu *cpu, uint32_t level)
{
	const uint32_t ps = cpu->sr[XTENSA_SR_PS];

	xtensa_ps_write(cpu, (ps & ~PS_INTLEVEL) | level);
	return ps;
}

static unsigned int op_rsil(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return set(cpu, insn->t, change_level(cpu, insn->s));
}

static unsigned int op_waiti(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	change_level(cpu, insn->s);
	cpu->waiting = true;
	return INSN_NEXT;
}

/* RFDO and RFDD. */
static unsigned int op_rfdx(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const unsigned int level = cpu->config.debug_level;

	(void)insn;
	if (!cpu->in_ocd)
		return xtensa_raise(cpu, EXC_ILLEGAL);
	cpu->in_ocd = false;
	xtensa_ps_write(cpu, cpu->sr[XTENSA_SR_EPS2 - 2 + level]);
	return jump(cpu, cpu->sr[XTENSA_SR_EPC1 - 1 + level]);
}

static unsigned int op_rsr(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return set(cpu, insn->t, xtensa_sr_read(cpu, insn->imm));
}

static unsigned int op_wsr(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	xtensa_sr_write(cpu, insn->imm, get(cpu, insn->t));
	return INSN_NEXT;
}

static unsigned int op_xsr(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	/* found before: XSR.WINDOWBASE names a register of the old window */
	uint32_t *const ar = xtensa_ar(cpu, insn->t);

	if (insn->imm == XTENSA_SR_DDR && cpu->injecting) {
		if (cpu->config.xsr_ddr == XTENSA_XSR_FAULTS)
			return xtensa_raise(cpu, EXC_ILLEGAL);
		if (cpu->config.xsr_ddr == XTENSA_XSR_READS_ONLY)
			return op_rsr(cpu, insn);
	}
	const uint32_t old = xtensa_sr_read(cpu, insn->imm);
	xtensa_sr_write(cpu, insn->imm, *ar);
	*ar = old;
	return INSN_NEXT;
}

/* ---- coprocessor 0, the floating point unit: registers only ---- */

static bool no_fpu(const struct xtensa_cpu *cpu)
{
	return !(cpu->sr[XTENSA_SR_CPENABLE] & 1);
}

static bool no_ur(const struct xtensa_cpu *cpu, unsigned int ur)
{
	return (ur == UR_FCR || ur == UR_FSR) && no_fpu(cpu);
}

static unsigned int op_rur(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return no_ur(cpu, insn->imm) ? xtensa_raise(cpu, EXC_COPROCESSOR0) : set(cpu, insn->r, cpu->ur[insn->imm]);
}

static unsigned int op_wur(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	if (no_ur(cpu, insn->imm))
		return xtensa_raise(cpu, EXC_COPROCESSOR0);
	cpu->ur[insn->imm] = get(cpu, insn->t);
	return INSN_NEXT;
}

static unsigned int op_rfr(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	return no_fpu(cpu) ? xtensa_raise(cpu, EXC_COPROCESSOR0) : set(cpu, insn->r, cpu->fr[insn->s]);
}

static unsigned int op_wfr(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	if (no_fpu(cpu))
		return xtensa_raise(cpu, EXC_COPROCESSOR0);
	cpu->fr[insn->r] = get(cpu, insn->s);
	return INSN_NEXT;
}

static unsigned int op_mov_s(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	if (no_fpu(cpu))
		return xtensa_raise(cpu, EXC_COPROCESSOR0);
	cpu->fr[insn->r] = cpu->fr[insn->s];
	return INSN_NEXT;
}

static unsigned int op_lsi(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const unsigned int fault = no_fpu(cpu) ? xtensa_raise(cpu, EXC_COPROCESSOR0) :
		xtensa_load(cpu, address(cpu, insn), 4, &cpu->fr[insn->t]);

	return fault ? fault : INSN_NEXT;
}

static unsigned int op_ssi(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn)
{
	const unsigned int fault = no_fpu(cpu) ? xtensa_raise(cpu, EXC_COPROCESSOR0) :
		xtensa_store(cpu, address(cpu, insn), 4, cpu->fr[insn->t]);

	return fault ? fault : INSN_NEXT;
}

/* ---- decoding ---- */

/* What else an instruction word says than its fields r, s and t: which of them are AR, and the constants. */
enum { R = 1, S = 2, T = 4, FLOW = 8 };

enum constant {
	NONE,
	IMM8, IMM8X2, IMM8X4,	/* unsigned, of loads and stores */
	SIMM8, SIMM8X256, SIMM12,
	L32E_OFFSET,
	SHIFT_LEFT, SHIFT_RIGHT, SHIFT_S, SHIFT_SAR, FIELD,
	SIGN_BIT,
	SPECIAL, USER_READ, USER_WRITE,
	PANES,
	FRAME,
	L32R_ADDRESS, JUMP, CALL, CALLX,
	TO8, TO8_BIT, TO8_SIGNED, TO8_UNSIGNED, TO12, TO8_FORWARD, TO_NARROW,
	NARROW_X4, NARROW_ADD, NARROW_MOVE,
};

struct form {
	unsigned int (*execute)(struct xtensa_cpu *cpu, const struct xtensa_decoded *insn);
	uint8_t fields;
	uint8_t constant;
};

static const struct form illegal = { op_illegal, 0, NONE };

static const struct form rst0[16] = {
	[0x1] = { op_and, R | S | T, NONE },
	[0x2] = { op_or, R | S | T, NONE },
	[0x3] = { op_xor, R | S | T, NONE },
	[0x8] = { op_add, R | S | T, NONE },
	[0x9] = { op_addx2, R | S | T, NONE },
	[0xa] = { op_addx4, R | S | T, NONE },
	[0xb] = { op_addx8, R | S | T, NONE },
	[0xc] = { op_sub, R | S | T, NONE },
	[0xd] = { op_subx2, R | S | T, NONE },
	[0xe] = { op_subx4, R | S | T, NONE },
	[0xf] = { op_subx8, R | S | T, NONE },
};

/* op0 = op1 = op2 = 0, by r */
static const struct form st0[16] = {
	[0x1] = { op_movsp, S | T, NONE },
	[0x4] = { op_break, FLOW, NONE },
	[0x6] = { op_rsil, T, NONE },
};

/* r = 0, by t */
static const struct form snm0[16] = {
	[0x8] = { op_ret, FLOW, NONE },
	[0x9] = { op_retw, FLOW, NONE },
	[0xa] = { op_jx, S | FLOW, NONE },
	[0xc] = { op_callx, S | FLOW, CALLX },
	[0xd] = { op_callx, S | FLOW, CALLX },
	[0xe] = { op_callx, S | FLOW, CALLX },
	[0xf] = { op_callx, S | FLOW, CALLX },
};

/* r = 2, by t: ISYNC, RSYNC, ESYNC, DSYNC; EXCW; MEMW, EXTW; NOP */
static const struct form sync[16] = {
	[0x0] = { op_nop, 0, NONE },
	[0x1] = { op_nop, 0, NONE },
	[0x2] = { op_nop, 0, NONE },
	[0x3] = { op_nop, 0, NONE },
	[0x8] = { op_nop, 0, NONE },
	[0xc] = { op_nop, 0, NONE },
	[0xd] = { op_nop, 0, NONE },
	[0xf] = { op_nop, 0, NONE },
};

/* r = 3, t = 0, by s; t = 1 is RFI */
static const struct form rfet[16] = {
	[0x0] = { op_rfe, FLOW, NONE },
	[0x2] = { op_rfde, FLOW, NONE },
	[0x4] = { op_rfwo, FLOW, NONE },
	[0x5] = { op_rfwu, FLOW, NONE },
};

static const struct form rfi = { op_rfi, FLOW, NONE };

/* r = 5, t = 0, by s */
static const struct form syscall_form = { op_syscall, FLOW, NONE };

/* r = 7, by t */
static const struct form waiti[16] = {
	[0x0] = { op_waiti, FLOW, NONE },
	[0xe] = { op_lddr32p, S, NONE },
	[0xf] = { op_sddr32p, S, NONE },
};

/* op0 = op1 = 0, op2 = 4, by r */
static const struct form st1[16] = {
	[0x0] = { op_ssr, S, NONE },
	[0x1] = { op_ssl, S, NONE },
	[0x2] = { op_ssa8l, S, NONE },
	[0x3] = { op_ssa8b, S, NONE },
	[0x4] = { op_ssai, 0, SHIFT_SAR },
	[0x8] = { op_rotw, 0, PANES },
	[0xe] = { op_nsa, S | T, NONE },
	[0xf] = { op_nsau, S | T, NONE },
};

/* op2 = 5, by r: of region protection, IITLB, WITLB, IDTLB, WDTLB have nothing to do; those that read are not there */
static const struct form tlb[16] = {
	[0x4] = { op_nop, S, NONE },
	[0x6] = { op_nop, S | T, NONE },
	[0xc] = { op_nop, S, NONE },
	[0xe] = { op_nop, S | T, NONE },
};

/* op2 = 6, by s */
static const struct form rt0[16] = {
	[0x0] = { op_neg, R | T, NONE },
	[0x1] = { op_abs, R | T, NONE },
};

static const struct form rst1[16] = {
	[0x0] = { op_slli, R | S, SHIFT_LEFT },
	[0x1] = { op_slli, R | S, SHIFT_LEFT },
	[0x2] = { op_srai, R | T, SHIFT_RIGHT },
	[0x3] = { op_srai, R | T, SHIFT_RIGHT },
	[0x4] = { op_srli, R | T, SHIFT_S },
	[0x6] = { op_xsr, T, SPECIAL },
	[0x8] = { op_src, R | S | T, NONE },
	[0x9] = { op_srl, R | T, NONE },
	[0xa] = { op_sll, R | S, NONE },
	[0xb] = { op_sra, R | T, NONE },
	[0xc] = { op_mul16u, R | S | T, NONE },
	[0xd] = { op_mul16s, R | S | T, NONE },
};

/* op1 = 1, op2 = 15, by r: cache tags and RFDO, RFDD */
static const struct form imp[16] = {
	[0x1] = { op_nop, S | T, NONE },
	[0x3] = { op_nop, S | T, NONE },
	[0x9] = { op_nop, S | T, NONE },
	[0xe] = { op_rfdx, 0, NONE },
};

static const struct form rst2[16] = {
	[0x8] = { op_mull, R | S | T, NONE },
	[0xa] = { op_muluh, R | S | T, NONE },
	[0xb] = { op_mulsh, R | S | T, NONE },
	[0xc] = { op_quou, R | S | T, NONE },
	[0xd] = { op_quos, R | S | T, NONE },
	[0xe] = { op_remu, R | S | T, NONE },
	[0xf] = { op_rems, R | S | T, NONE },
};

static const struct form rst3[16] = {
	[0x0] = { op_rsr, T, SPECIAL },
	[0x1] = { op_wsr, T, SPECIAL },
	[0x2] = { op_sext, R | S, SIGN_BIT },
	[0x3] = { op_clamps, R | S, SIGN_BIT },
	[0x4] = { op_min, R | S | T, NONE },
	[0x5] = { op_max, R | S | T, NONE },
	[0x6] = { op_minu, R | S | T, NONE },
	[0x7] = { op_maxu, R | S | T, NONE },
	[0x8] = { op_moveqz, R | S | T, NONE },
	[0x9] = { op_movnez, R | S | T, NONE },
	[0xa] = { op_movltz, R | S | T, NONE },
	[0xb] = { op_movgez, R | S | T, NONE },
	[0xe] = { op_rur, R, USER_READ },
	[0xf] = { op_wur, T, USER_WRITE },
};

static const struct form extui = { op_extui, R | T, FIELD };

/* op1 = 9, by op2 */
static const struct form lsc4[16] = {
	[0x0] = { op_l32i, S | T, L32E_OFFSET },
	[0x4] = { op_s32i, S | T, L32E_OFFSET },
};

/* op1 = 10, op2 = 15, by t */
static const struct form fp1op[16] = {
	[0x0] = { op_mov_s, 0, NONE },
	[0x4] = { op_rfr, R, NONE },
	[0x5] = { op_wfr, S, NONE },
};

static const struct form l32r = { op_l32r, T, L32R_ADDRESS };

/* op0 = 2, by r; 7: the cache instructions */
static const struct form lsai[16] = {
	[0x0] = { op_l8ui, S | T, IMM8 },
	[0x1] = { op_l16ui, S | T, IMM8X2 },
	[0x2] = { op_l32i, S | T, IMM8X4 },
	[0x4] = { op_s8i, S | T, IMM8 },
	[0x5] = { op_s16i, S | T, IMM8X2 },
	[0x6] = { op_s32i, S | T, IMM8X4 },
	[0x7] = { op_nop, S, NONE },
	[0x9] = { op_l16si, S | T, IMM8X2 },
	[0xa] = { op_movi, T, SIMM12 },
	[0xb] = { op_l32i, S | T, IMM8X4 },
	[0xc] = { op_addi, S | T, SIMM8 },
	[0xd] = { op_addi, S | T, SIMM8X256 },
	[0xe] = { op_s32c1i, S | T, IMM8X4 },
	[0xf] = { op_s32i, S | T, IMM8X4 },
};

/* op0 = 3, by r */
static const struct form lsci[16] = {
	[0x0] = { op_lsi, S, IMM8X4 },
	[0x4] = { op_ssi, S, IMM8X4 },
};

static const struct form calln = { op_call, FLOW, CALL };

/* op0 = 6, by t: two bits n, two bits m */
static const struct form si[16] = {
	[0x0] = { op_j, FLOW, JUMP },
	[0x4] = { op_j, FLOW, JUMP },
	[0x8] = { op_j, FLOW, JUMP },
	[0xc] = { op_j, FLOW, JUMP },
	[0x1] = { op_beqz, S | FLOW, TO12 },
	[0x5] = { op_bnez, S | FLOW, TO12 },
	[0x9] = { op_bltz, S | FLOW, TO12 },
	[0xd] = { op_bgez, S | FLOW, TO12 },
	[0x2] = { op_beqi, S | FLOW, TO8_SIGNED },
	[0x6] = { op_bnei, S | FLOW, TO8_SIGNED },
	[0xa] = { op_blti, S | FLOW, TO8_SIGNED },
	[0xe] = { op_bgei, S | FLOW, TO8_SIGNED },
	[0x3] = { op_entry, FLOW, FRAME },
	[0xb] = { op_bltui, S | FLOW, TO8_UNSIGNED },
	[0xf] = { op_bgeui, S | FLOW, TO8_UNSIGNED },
};

/* op0 = 6, t = 7, by r; BF and BT need booleans */
static const struct form b1[16] = {
	[0x8] = { op_loop, S | FLOW, TO8_FORWARD },
	[0x9] = { op_loopnez, S | FLOW, TO8_FORWARD },
	[0xa] = { op_loopgtz, S | FLOW, TO8_FORWARD },
};

/* op0 = 7, by r */
static const struct form b[16] = {
	[0x0] = { op_bnone, S | T | FLOW, TO8 },
	[0x1] = { op_beq, S | T | FLOW, TO8 },
	[0x2] = { op_blt, S | T | FLOW, TO8 },
	[0x3] = { op_bltu, S | T | FLOW, TO8 },
	[0x4] = { op_ball, S | T | FLOW, TO8 },
	[0x5] = { op_bbc, S | T | FLOW, TO8 },
	[0x6] = { op_bbci, S | FLOW, TO8_BIT },
	[0x7] = { op_bbci, S | FLOW, TO8_BIT },
	[0x8] = { op_bany, S | T | FLOW, TO8 },
	[0x9] = { op_bne, S | T | FLOW, TO8 },
	[0xa] = { op_bge, S | T | FLOW, TO8 },
	[0xb] = { op_bgeu, S | T | FLOW, TO8 },
	[0xc] = { op_bnall, S | T | FLOW, TO8 },
	[0xd] = { op_bbs, S | T | FLOW, TO8 },
	[0xe] = { op_bbsi, S | FLOW, TO8_BIT },
	[0xf] = { op_bbsi, S | FLOW, TO8_BIT },
};

/* 16 bit instructions, by op0 */
static const struct form narrow[16] = {
	[0x8] = { op_l32i, S | T, NARROW_X4 },
	[0x9] = { op_s32i, S | T, NARROW_X4 },
	[0xa] = { op_add, R | S | T, NONE },
	[0xb] = { op_addi_n, R | S, NARROW_ADD },
};

/* op0 = 12, by t */
static const struct form movi_n = { op_movi_n, S, NARROW_MOVE };
static const struct form beqz_n = { op_beqz, S | FLOW, TO_NARROW };
static const struct form bnez_n = { op_bnez, S | FLOW, TO_NARROW };

/* op0 = 13; r = 0: MOV.N; r = 15, by t */
static const struct form mov_n = { op_mov_n, S | T, NONE };
static const struct form s3[16] = {
	[0x0] = { op_ret, FLOW, NONE },
	[0x1] = { op_retw, FLOW, NONE },
	[0x2] = { op_break, FLOW, NONE },
	[0x3] = { op_nop, 0, NONE },
};

static unsigned int field(uint32_t word, unsigned int at)
{
	return (word >> at) & 15;
}

#define FIELD_T(word)	field(word, 4)
#define FIELD_S(word)	field(word, 8)
#define FIELD_R(word)	field(word, 12)
#define FIELD_OP1(word)	field(word, 16)
#define FIELD_OP2(word)	field(word, 20)

static const struct form *form_st0(uint32_t word)
{
	switch (FIELD_R(word)) {
	case 0:
		return &snm0[FIELD_T(word)];
	case 2:
		return &sync[FIELD_T(word)];
	case 3:
		return FIELD_T(word) == 1 ? &rfi : FIELD_T(word) ? &illegal : &rfet[FIELD_S(word)];
	case 5:
		return word & 0xff0 ? &illegal : &syscall_form;
	case 7:
		return &waiti[FIELD_T(word)];
	default:
		return &st0[FIELD_R(word)];
	}
}

static const struct form *form_rst0(uint32_t word)
{
	switch (FIELD_OP2(word)) {
	case 0:
		return form_st0(word);
	case 4:
		return &st1[FIELD_R(word)];
	case 5:
		return &tlb[FIELD_R(word)];
	case 6:
		return &rt0[FIELD_S(word)];
	default:
		return &rst0[FIELD_OP2(word)];
	}
}

static const struct form *form_qrst(uint32_t word)
{
	const unsigned int op2 = FIELD_OP2(word);

	switch (FIELD_OP1(word)) {
	case 0:
		return form_rst0(word);
	case 1:
		return op2 == 15 ? &imp[FIELD_R(word)] : &rst1[op2];
	case 2:
		return &rst2[op2];
	case 3:
		return &rst3[op2];
	case 4:
	case 5:
		return &extui;
	case 9:
		return &lsc4[op2];
	case 10:
		return op2 == 15 ? &fp1op[FIELD_T(word)] : &illegal;
	default:
		return &illegal;
	}
}

static const struct form *form_narrow(uint32_t word)
{
	switch (word & 15) {
	case 12:
		return !(word & 0x80) ? &movi_n : word & 0x40 ? &bnez_n : &beqz_n;
	case 13:
		return FIELD_R(word) == 15 ? &s3[FIELD_T(word)] : FIELD_R(word) ? &illegal : &mov_n;
	default:
		return &narrow[word & 15];
	}
}

static const struct form *form_of(uint32_t word)
{
	switch (word & 15) {
	case 0:
		return form_qrst(word);
	case 1:
		return &l32r;
	case 2:
		return &lsai[FIELD_R(word)];
	case 3:
		return &lsci[FIELD_R(word)];
	case 5:
		return &calln;
	case 6:
		return FIELD_T(word) == 7 ? &b1[FIELD_R(word)] : &si[FIELD_T(word)];
	case 7:
		return &b[FIELD_R(word)];
	case 4:		/* MAC16 */
	case 14:
	case 15:	/* wide instruction formats */
		return &illegal;
	default:
		return form_narrow(word);
	}
}

/* Constants of compare and branch, by r. */
static const int32_t b4const[16] = { -1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256 };
static const int32_t b4constu[16] = { 32768, 65536, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256 };

static void set_branch(struct xtensa_decoded *insn, uint32_t word, enum constant kind)
{
	insn->offset = 4 + (int32_t)sign_extend(word >> 16, 8);
	switch (kind) {
	case TO8_BIT:
		insn->imm = insn->t | ((word >> 8) & 0x10);
		break;
	case TO8_SIGNED:
		insn->imm = b4const[insn->r];
		break;
	case TO8_UNSIGNED:
		insn->imm = b4constu[insn->r];
		break;
	case TO12:
		insn->offset = 4 + (int32_t)sign_extend(word >> 12, 12);
		break;
	case TO8_FORWARD:
		insn->offset = 4 + (word >> 16);
		break;
	case TO_NARROW:
		insn->offset = 4 + ((word & 0x30) | insn->r);
		break;
	default:
		break;
	}
}

/* Calls and jumps: to a fixed place. */
static void set_target(struct xtensa_decoded *insn, uint32_t word, enum constant kind)
{
	const uint32_t pc = insn->pc;

	switch (kind) {
	case L32R_ADDRESS:
		insn->imm = ((pc + 3) & ~3u) + (0xfffc0000 | ((word >> 8) << 2));
		break;
	case JUMP:
		insn->imm = pc + 4 + sign_extend(word >> 6, 18);
		break;
	case CALL:
		insn->imm = (pc & ~3u) + 4 + (sign_extend(word >> 6, 18) << 2);
		insn->r = insn->panes = insn->t & 3;
		break;
	default:
		insn->r = insn->t & 3;
		if (insn->panes < insn->r)
			insn->panes = insn->r;
		break;
	}
}

static int32_t constant_value(const struct xtensa_decoded *insn, uint32_t word, enum constant kind)
{
	switch (kind) {
	case IMM8:
		return word >> 16;
	case IMM8X2:
		return word >> 16 << 1;
	case IMM8X4:
		return word >> 16 << 2;
	case SIMM8:
		return sign_extend(word >> 16, 8);
	case SIMM8X256:
		return sign_extend(word >> 16, 8) << 8;
	case SIMM12:
		return sign_extend(insn->s << 8 | word >> 16, 12);
	case L32E_OFFSET:
		return (insn->r << 2) - 64;
	case SHIFT_LEFT:
		return 32 - (((word >> 16) & 0x10) | insn->t);
	case SHIFT_RIGHT:
		return ((word >> 16) & 0x10) | insn->s;
	case SHIFT_S:
		return insn->s;
	case SHIFT_SAR:
		return (word & 0x10) | insn->s;
	case FIELD:
		return (2u << FIELD_OP2(word)) - 1;
	case SIGN_BIT:
		return insn->t + 7;
	case SPECIAL:
	case USER_WRITE:
		return (word >> 8) & 0xff;
	case USER_READ:
		return (word >> 4) & 0xff;
	case PANES:
		return sign_extend(insn->t, 4);
	case FRAME:
		return word >> 12 << 3;
	case NARROW_X4:
		return insn->r << 2;
	case NARROW_ADD:
		return insn->t ? insn->t : -1;
	case NARROW_MOVE:
		/* -32 to 95 */
		return (int32_t)((word & 0x70) | insn->r) - ((word & 0x60) == 0x60 ? 128 : 0);
	default:
		return 0;
	}
}

static void set_constants(struct xtensa_decoded *insn, uint32_t word, enum constant kind)
{
	switch (kind) {
	case L32R_ADDRESS ... CALLX:
		set_target(insn, word, kind);
		break;
	case TO8 ... TO_NARROW:
		set_branch(insn, word, kind);
		break;
	case FIELD:
		insn->offset = ((word >> 12) & 0x10) | insn->s;
		/* fall through */
	default:
		insn->imm = constant_value(insn, word, kind);
		break;
	}
}

static uint8_t highest_pane(const struct xtensa_decoded *insn, unsigned int fields)
{
	unsigned int any = (fields & R ? insn->r : 0);

	if ((fields & S) && insn->s > any)
		any = insn->s;
	if ((fields & T) && insn->t > any)
		any = insn->t;
	return any / 4;
}

bool xtensa_decode(struct xtensa_decoded *insn, uint32_t pc, const uint8_t *bytes, size_t len)
{
	if (!len)
		return false;
	const unsigned int op0 = bytes[0] & 15;
	const uint8_t need = op0 >= 8 && op0 < 14 ? 2 : 3;
	if (len < need)
		return false;
	const uint32_t word = bytes[0] | bytes[1] << 8 | (need == 3 ? bytes[2] << 16 : 0);
	const struct form *form = form_of(word);
	*insn = (struct xtensa_decoded){
		.execute = form->execute ? form->execute : op_illegal,
		.pc = pc,
		.len = need,
		.r = FIELD_R(word),
		.s = FIELD_S(word),
		.t = FIELD_T(word),
		.flow = form->fields & FLOW,
	};
	insn->panes = highest_pane(insn, form->fields);
	set_constants(insn, word, form->constant);
	return true;
}
