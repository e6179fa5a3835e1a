// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * One instruction as text: our own printer for what ends a block and for what the libraries print differently, a
 * library for the rest, and a table of what the library is not asked for.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#if defined(HAVE_LLVM_DISASSEMBLER) && HAVE_LLVM_DISASSEMBLER
#define WITH_LLVM 1
#define WITH_CAPSTONE 0
#elif defined(HAVE_CAPSTONE) && HAVE_CAPSTONE
#define WITH_LLVM 0
#define WITH_CAPSTONE 1
#else
#define WITH_LLVM 0
#define WITH_CAPSTONE 0
#endif

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if WITH_LLVM
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>
#elif WITH_CAPSTONE
#include <capstone.h>
#endif

#include "disassembly.h"

/* What a library is opened for. */
enum machine {
	MACHINE_A64,
	MACHINE_A32,
	MACHINE_T32,
	MACHINE_T32_M,
	MACHINE_NUM
};

/* The conditions that IT instructions gave to the addresses behind them. */
#define IT_MEMO_NUM	256u

struct it_memo {
	uint64_t addr;
	uint8_t cond;
	bool is_used;
};

struct itrace_disassembly {
	struct it_memo its[IT_MEMO_NUM];
#if WITH_LLVM
	LLVMDisasmContextRef contexts[MACHINE_NUM];
#elif WITH_CAPSTONE
	csh handles[MACHINE_NUM];
	bool is_open[MACHINE_NUM];
#endif
};

#define COND_AL		14u
#define COND_NONE	15u

static const char * const conds[16] = {
	"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "", ""
};

static const char * const regs32[16] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"
};

static const struct itrace_insn_rules everything = { .wfx = true, .v8_3 = true, .v9 = true };

/* A line that is being made. */
struct out {
	char *text;
	size_t size;
	size_t len;
};

static void put(struct out *out, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
;

static void put(struct out *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(out->text + out->len, out->size - out->len, format, args);
	va_end(args);
	if (len < 0)
		return;
	out->len += (size_t)len;
	if (out->len > out->size - 1)
		out->len = out->size - 1;
}

static uint32_t field(uint32_t opcode, unsigned int lsb, unsigned int width)
{
	return opcode >> lsb & ((UINT32_C(1) << width) - 1);
}

static uint64_t signed_field(uint32_t opcode, unsigned int lsb, unsigned int width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	return (field(opcode, lsb, width) ^ sign) - sign;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* A64 */

/* General register as an operand: x0 .. x30 and xzr, or w. */
static const char *a64_reg(uint32_t number, bool is_64)
{
	static const char * const names[2][32] = {
		{
			"w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11", "w12", "w13", "w14", "w15",
			"w16", "w17", "w18", "w19", "w20", "w21", "w22", "w23", "w24", "w25", "w26", "w27", "w28", "w29", "w30",
			"wzr"
		}, {
			"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
			"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30",
			"xzr"
		}
	};

	return names[is_64][number & 31];
}

/* The same where 31 is the stack pointer. */
static const char *a64_reg_sp(uint32_t number)
{
	return (number & 31) == 31 ? "sp" : a64_reg(number, true);
}

static void a64_compare_branch(struct out *out, uint32_t opcode, uint64_t target)
{
	static const char * const by_reg[8] = { "gt", "ge", "hi", "hs", "", "", "eq", "ne" };
	static const char * const by_imm[8] = { "gt", "lt", "hi", "lo", "", "", "eq", "ne" };
	bool is_64 = opcode >> 31;

	if (opcode & 0x01000000) {
		put(out, "cb%s %s, #%u, 0x%" PRIx64, by_imm[field(opcode, 21, 3)], a64_reg(opcode, is_64),
			(unsigned int)field(opcode, 15, 6), target);
		return;
	}
	static const char * const sizes[4] = { "", "", "b", "h" };
	put(out, "cb%s%s %s, %s, 0x%" PRIx64, sizes[field(opcode, 14, 2)], by_reg[field(opcode, 21, 3)],
		a64_reg(opcode, is_64), a64_reg(opcode >> 16, is_64), target);
}

/* Branches to a register, exception returns. */
static void a64_branch_register(struct out *out, uint32_t opcode)
{
	const char *rn = a64_reg(opcode >> 5, true);
	const char *key = opcode & 0x400 ? "b" : "a";

	switch (opcode & 0xfffffc1f) {
	case 0xd61f0000:
		put(out, "br %s", rn);
		return;
	case 0xd63f0000:
		put(out, "blr %s", rn);
		return;
	case 0xd65f0000:
		if (field(opcode, 5, 5) == 30)
			put(out, "ret");
		else
			put(out, "ret %s", rn);
		return;
	default:
		break;
	}
	if (opcode == 0xd69f03e0)
		put(out, "eret");
	else if ((opcode & 0xfffffbff) == 0xd69f0bff)
		put(out, "ereta%s", key);
	else if ((opcode & 0xfffffbff) == 0xd6ff03e0)
		put(out, opcode & 0x400 ? "texit nb" : "texit");
	else if ((opcode & 0xfffffbff) == 0xd65f0bff)
		put(out, "reta%s", key);
	else if ((opcode & 0xfffffbe0) == 0xd65f0be0)
		put(out, "reta%ssppcr %s", key, a64_reg(opcode, true));
	else if ((opcode & 0xffdff81f) == 0xd61f081f)
		put(out, "%sa%sz %s", opcode & 0x200000 ? "blr" : "br", key, rn);
	else if ((opcode & 0xffdff800) == 0xd71f0800)
		put(out, "%sa%s %s, %s", opcode & 0x200000 ? "blr" : "br", key, rn, a64_reg_sp(opcode));
}

static void a64_system(struct out *out, uint32_t opcode)
{
	uint32_t rt = opcode & 31;

	if ((opcode & 0xfffff0ff) == 0xd50330df) {
		put(out, "isb");
		if (field(opcode, 8, 4) != 15)
			put(out, " #%u", (unsigned int)field(opcode, 8, 4));
	} else if ((opcode & 0xffffffdf) == 0xd503205f) {
		put(out, opcode & 0x20 ? "wfi" : "wfe");
	} else if ((opcode & 0xffffffc0) == 0xd5031000) {
		put(out, "%s %s", opcode & 0x20 ? "wfit" : "wfet", a64_reg(rt, true));
	} else if ((opcode & 0xffffffe0) == 0xd5233060) {
		put(out, "tstart %s", a64_reg(rt, true));
	}
}

static void a64_waypoint(struct out *out, uint32_t opcode, const struct itrace_insn *insn, uint64_t addr)
{
	bool is_64 = opcode >> 31;

	switch (opcode >> 24 & 0x7e) {
	case 0x14:
	case 0x16:
		put(out, "%s 0x%" PRIx64, is_64 ? "bl" : "b", insn->target);
		return;
	case 0x34:
		put(out, "%s %s, 0x%" PRIx64, opcode & 0x01000000 ? "cbnz" : "cbz", a64_reg(opcode, is_64), insn->target);
		return;
	case 0x36:
		put(out, "%s %s, #%u, 0x%" PRIx64, opcode & 0x01000000 ? "tbnz" : "tbz", a64_reg(opcode, is_64),
			(unsigned int)(field(opcode, 31, 1) << 5 | field(opcode, 19, 5)), insn->target);
		return;
	case 0x74:
		a64_compare_branch(out, opcode, insn->target);
		return;
	case 0x54:
		if (!is_64 && !(opcode & 0x01000000)) {
			static const char * const always[2] = { "al", "nv" };
			uint32_t cond = opcode & 15;
			put(out, "%s.%s 0x%" PRIx64, opcode & 0x10 ? "bc" : "b", cond >= 14 ? always[cond - 14] : conds[cond],
				insn->target);
		} else if ((opcode & 0xffc0001f) == 0x5500001f) {
			put(out, "reta%ssppc 0x%" PRIx64, opcode & 0x200000 ? "b" : "a",
				addr - field(opcode, 5, 16) * UINT64_C(4));
		} else if ((opcode & 0xff000000) == 0xd5000000) {
			a64_system(out, opcode);
		}
		return;
	case 0x56:
		a64_branch_register(out, opcode);
		return;
	default:
		return;
	}
}

/* Hints, of which the libraries know different ones. */
static void a64_hint(struct out *out, uint32_t number)
{
	static const char * const names[] = {
		[0] = "nop", [1] = "yield", [2] = "wfe", [3] = "wfi", [4] = "sev", [5] = "sevl", [6] = "dgh", [7] = "xpaclri",
		[8] = "pacia1716", [10] = "pacib1716", [12] = "autia1716", [14] = "autib1716",
		[16] = "esb", [17] = "psb csync", [18] = "tsb csync", [20] = "csdb", [22] = "clrbhb",
		[24] = "paciaz", [25] = "paciasp", [26] = "pacibz", [27] = "pacibsp",
		[28] = "autiaz", [29] = "autiasp", [30] = "autibz", [31] = "autibsp",
		[34] = "bti c", [36] = "bti j", [38] = "bti jc",
	};

	if (number < sizeof(names) / sizeof(names[0]) && names[number])
		put(out, "%s", names[number]);
	else
		put(out, "hint #%u", (unsigned int)number);
}

/* Addresses relative to the instruction, which the libraries print in different ways. */
static bool a64_literal(struct out *out, uint32_t opcode, uint64_t addr)
{
	uint32_t rt = opcode & 31;

	if ((opcode & 0x1f000000) == 0x10000000) {
		uint64_t offset = signed_field(opcode, 5, 19) * 4 | field(opcode, 29, 2);
		if (opcode >> 31)
			put(out, "adrp %s, 0x%" PRIx64, a64_reg(rt, true),
				(addr & ~UINT64_C(0xfff)) + offset * 0x1000);
		else
			put(out, "adr %s, 0x%" PRIx64, a64_reg(rt, true), addr + offset);
		return true;
	}
	if ((opcode & 0x3b000000) != 0x18000000)
		return false;

	static const char prefetches[3][4] = { "pld", "pli", "pst" };
	uint64_t target = addr + signed_field(opcode, 5, 19) * 4;
	bool is_vector = opcode & 0x04000000;
	switch (opcode >> 30) {
	case 0:
	case 1:
		if (is_vector)
			put(out, "ldr %c%u, 0x%" PRIx64, opcode >> 30 ? 'd' : 's', (unsigned int)rt, target);
		else
			put(out, "ldr %s, 0x%" PRIx64, a64_reg(rt, opcode >> 30), target);
		return true;
	case 2:
		if (is_vector)
			put(out, "ldr q%u, 0x%" PRIx64, (unsigned int)rt, target);
		else
			put(out, "ldrsw %s, 0x%" PRIx64, a64_reg(rt, true), target);
		return true;
	default:
		if (is_vector)
			return false;
		if (rt >> 3 < 3 && (rt >> 1 & 3) < 3)
			put(out, "prfm %sl%u%s, 0x%" PRIx64, prefetches[rt >> 3], (unsigned int)(rt >> 1 & 3) + 1,
				rt & 1 ? "strm" : "keep", target);
		else
			put(out, "prfm #%u, 0x%" PRIx64, (unsigned int)rt, target);
		return true;
	}
}

/*
 * MSR and MRS of registers that are printed by their numbers: debug registers (op0 is 2), and those that a library
 * knows by a name that is no longer theirs or, for a write, read-only.
 */
static bool a64_has_numbered_register(uint32_t opcode)
{
	if ((opcode & 0xffd80000) == 0xd5100000)
		return true;
	switch (opcode & 0xffdfffe0) {
	case 0xd518cd00:
	case 0xd51cc980:
	case 0xd51ccb40:
	case 0xd51ccba0:
	case 0xd51ff200:
		return true;
	default:
		return (opcode & 0xffffffe0) == 0xd5184240;
	}
}

static void a64_numbered_register(struct out *out, uint32_t opcode)
{
	bool is_read = opcode & 0x00200000;
	const char *rt = a64_reg(opcode, true);

	if (is_read)
		put(out, "mrs %s, ", rt);
	else
		put(out, "msr ");
	put(out, "s%u_%u_c%u_c%u_%u", (unsigned int)field(opcode, 19, 2), (unsigned int)field(opcode, 16, 3),
		(unsigned int)field(opcode, 12, 4), (unsigned int)field(opcode, 8, 4), (unsigned int)field(opcode, 5, 3));
	if (!is_read)
		put(out, ", %s", rt);
}

/* @returns true: a waypoint, no library is to print it */
static bool a64_print(struct out *out, uint32_t opcode, uint64_t addr)
{
	struct itrace_insn insn;

	itrace_insn_a64(&everything, opcode, addr, &insn);
	if (insn.class != ITRACE_INSN_OTHER)
		a64_waypoint(out, opcode, &insn, addr);
	else if ((opcode & 0xfffff01f) == 0xd503201f)
		a64_hint(out, field(opcode, 5, 7));
	else if (opcode == 0xd50330ff)
		put(out, "sb");
	else if (a64_has_numbered_register(opcode))
		a64_numbered_register(out, opcode);
	else
		a64_literal(out, opcode, addr);
	return insn.class != ITRACE_INSN_OTHER;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* A32, and what it shares with T32 */

static void put_register_list(struct out *out, uint32_t list)
{
	const char *comma = "";

	put(out, "{");
	for (unsigned int i = 0; i < 16; i++) {
		if (list >> i & 1) {
			put(out, "%s%s", comma, regs32[i]);
			comma = ", ";
		}
	}
	put(out, "}");
}

/* ", lsl #2" behind a register; nothing when the shift does nothing */
static void put_shift(struct out *out, uint32_t type, uint32_t amount)
{
	static const char * const names[4] = { "lsl", "lsr", "asr", "ror" };

	if (!type && !amount)
		return;
	if (type == 3 && !amount)
		put(out, ", rrx");
	else
		put(out, ", %s #%u", names[type & 3], (unsigned int)(amount ? amount : 32));
}

static void a32_data_processing(struct out *out, uint32_t opcode, const char *cond)
{
	static const char * const names[16] = {
		"and", "eor", "sub", "rsb", "add", "adc", "sbc", "rsc", "tst", "teq", "cmp", "cmn", "orr", "mov", "bic", "mvn"
	};
	static const char * const shifts[4] = { "lsl", "lsr", "asr", "ror" };
	uint32_t code = field(opcode, 21, 4);
	bool is_move = code == 13 || code == 15;
	const char *s = opcode & 0x00100000 ? "s" : "";
	uint32_t rn = field(opcode, 16, 4);
	const char *rm = regs32[opcode & 15];
	uint32_t type = field(opcode, 5, 2);
	uint32_t amount = field(opcode, 7, 5);
	bool is_immediate = opcode & 0x02000000;

	/* Rn of a move should be zero */
	if (is_move && rn)
		return;
	if (code == 13 && !is_immediate && (type || amount)) {
		if (type == 3 && !amount)
			put(out, "rrx%s%s pc, %s", s, cond, rm);
		else
			put(out, "%s%s%s pc, %s, #%u", shifts[type], s, cond, rm, (unsigned int)(amount ? amount : 32));
		return;
	}
	put(out, "%s%s%s pc, ", names[code], s, cond);
	if (!is_move)
		put(out, "%s, ", regs32[rn]);
	if (!is_immediate) {
		put(out, "%s", rm);
		put_shift(out, type, amount);
		return;
	}
	uint32_t imm = opcode & 0xff;
	unsigned int rotate = (unsigned int)field(opcode, 8, 4) * 2;
	uint32_t value = rotate ? imm >> rotate | imm << (32 - rotate) : imm;
	/* the same value with a smaller rotation would assemble to another opcode */
	for (unsigned int smaller = 0; smaller < rotate; smaller += 2) {
		if (!((smaller ? value << smaller | value >> (32 - smaller) : value) & ~UINT32_C(0xff))) {
			put(out, "#%u, #%u", (unsigned int)imm, rotate);
			return;
		}
	}
	put(out, "#0x%" PRIx32, value);
}

static void a32_load(struct out *out, uint32_t opcode, const char *cond)
{
	const char *rn = regs32[field(opcode, 16, 4)];
	const char *sign = opcode & 0x00800000 ? "" : "-";
	bool is_register = opcode & 0x02000000;
	bool is_indexed = opcode & 0x01000000;
	uint32_t imm = field(opcode, 0, 12);

	if ((opcode & 0x0fffffff) == 0x049df004) {
		put(out, "pop%s {pc}", cond);
		return;
	}
	put(out, "ldr%s pc, [%s", cond, rn);
	if (!is_indexed)
		put(out, "]");
	if (is_register) {
		put(out, ", %s%s", sign, regs32[opcode & 15]);
		put_shift(out, field(opcode, 5, 2), field(opcode, 7, 5));
	} else if (imm || *sign || !is_indexed || opcode & 0x00200000) {
		put(out, ", #%s%u", sign, (unsigned int)imm);
	}
	if (is_indexed)
		put(out, "]%s", opcode & 0x00200000 ? "!" : "");
}

/* IB, IA ... by the bits P and U */
static const char * const block_modes[4] = { "da", "", "db", "ib" };

static void a32_load_multiple(struct out *out, uint32_t opcode, const char *cond)
{
	uint32_t list = opcode & 0xffff;

	if ((opcode & 0x0fff0000) == 0x08bd0000 && list & (list - 1))
		put(out, "pop%s ", cond);
	else
		put(out, "ldm%s%s %s%s, ", block_modes[field(opcode, 23, 2)], cond, regs32[field(opcode, 16, 4)],
			opcode & 0x00200000 ? "!" : "");
	put_register_list(out, list);
	if (opcode & 0x00400000)
		put(out, " ^");
}

static void put_isb(struct out *out, const char *cond, uint32_t option)
{
	if (option == 15)
		put(out, "isb%s sy", cond);
	else
		put(out, "isb%s #%u", cond, (unsigned int)option);
}

static void a32_unconditional(struct out *out, uint32_t opcode, const struct itrace_insn *insn)
{
	if ((opcode & 0xfe000000) == 0xfa000000)
		put(out, "blx 0x%" PRIx64, insn->target);
	else if ((opcode & 0xfe50ffff) == 0xf8100a00)
		put(out, "rfe%s %s%s", field(opcode, 23, 2) == 1 ? "ia" : block_modes[field(opcode, 23, 2)],
			regs32[field(opcode, 16, 4)], opcode & 0x00200000 ? "!" : "");
	else if ((opcode & 0xfffffff0) == 0xf57ff060)
		put_isb(out, "", opcode & 15);
}

static void a32_waypoint(struct out *out, uint32_t opcode, const struct itrace_insn *insn)
{
	const char *cond = conds[opcode >> 28];

	if (opcode >> 28 == 15) {
		a32_unconditional(out, opcode, insn);
		return;
	}
	switch (field(opcode, 25, 3)) {
	case 0:
		if ((opcode & 0x0f900000) == 0x01000000) {
			/* bits that should be one or zero and are not: left to .inst */
			if ((opcode & 0x0ffffff0) == 0x012fff10)
				put(out, "bx%s %s", cond, regs32[opcode & 15]);
			else if ((opcode & 0x0ffffff0) == 0x012fff20)
				put(out, "bxj%s %s", cond, regs32[opcode & 15]);
			else if ((opcode & 0x0ffffff0) == 0x012fff30)
				put(out, "blx%s %s", cond, regs32[opcode & 15]);
			else if ((opcode & 0x0fffffff) == 0x0160006e)
				put(out, "eret%s", cond);
			break;
		}
		a32_data_processing(out, opcode, cond);
		break;
	case 1:
		if ((opcode & 0x0ffffffe) == 0x0320f002)
			put(out, "%s%s", opcode & 1 ? "wfi" : "wfe", cond);
		else if ((opcode & 0x0f900000) != 0x03000000)
			a32_data_processing(out, opcode, cond);
		break;
	case 2:
	case 3:
		a32_load(out, opcode, cond);
		break;
	case 4:
		a32_load_multiple(out, opcode, cond);
		break;
	case 5:
		put(out, "%s%s 0x%" PRIx64, opcode & 0x01000000 ? "bl" : "b", cond, insn->target);
		break;
	case 7:
		put(out, "mcr%s p15, #0, %s, c7, c5, #4", cond, regs32[field(opcode, 12, 4)]);
		break;
	default:
		break;
	}
}

static bool a32_print(struct out *out, uint32_t opcode, uint64_t addr)
{
	struct itrace_insn insn;

	itrace_insn_a32(&everything, opcode, addr, &insn);
	if (insn.class != ITRACE_INSN_OTHER)
		a32_waypoint(out, opcode, &insn);
	return insn.class != ITRACE_INSN_OTHER;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* T32 */

static void t32_waypoint16(struct out *out, uint32_t hw, const struct itrace_insn *insn, const char *cond, bool is_m)
{
	const char *rm = regs32[field(hw, 3, 4)];

	switch (hw >> 12) {
	case 0x4:
		if ((hw & 0xff07) == 0x4700)
			put(out, "%s%s %s", hw & 0x80 ? "blx" : "bx", cond, rm);
		else if ((hw & 0xff07) == 0x4704 && is_m)
			put(out, "%s%s %s", hw & 0x80 ? "blxns" : "bxns", cond, rm);
		else if ((hw & 0xff87) == 0x4687)
			put(out, "mov%s pc, %s", cond, rm);
		else if ((hw & 0xff87) == 0x4487)
			put(out, "add%s pc, %s", cond, rm);
		break;
	case 0xb:
		if ((hw & 0xff00) == 0xbd00) {
			put(out, "pop%s ", cond);
			put_register_list(out, (hw & 0xff) | 0x8000);
		} else if ((hw & 0xf500) == 0xb100) {
			put(out, "%s %s, 0x%" PRIx64, hw & 0x800 ? "cbnz" : "cbz", regs32[hw & 7], insn->target);
		} else if ((hw & 0xffef) == 0xbf20) {
			put(out, "%s%s", hw & 0x10 ? "wfi" : "wfe", cond);
		}
		break;
	case 0xd:
		put(out, "b%s 0x%" PRIx64, conds[field(hw, 8, 4)], insn->target);
		break;
	case 0xe:
		put(out, "b%s 0x%" PRIx64, cond, insn->target);
		break;
	default:
		break;
	}
}

static void t32_load_pc(struct out *out, uint32_t opcode, const char *cond)
{
	uint32_t rn = field(opcode, 16, 4);
	uint32_t imm12 = opcode & 0xfff;
	uint32_t imm8 = opcode & 0xff;

	if (rn == 15) {
		put(out, "ldr%s.w pc, [pc, #%s%u]", cond, opcode & 0x00800000 ? "" : "-", (unsigned int)imm12);
	} else if (opcode & 0x00800000) {
		put(out, "ldr%s.w pc, [%s", cond, regs32[rn]);
		if (imm12)
			put(out, ", #%u", (unsigned int)imm12);
		put(out, "]");
	} else if (!(opcode & 0x800)) {
		put(out, "ldr%s.w pc, [%s, %s", cond, regs32[rn], regs32[opcode & 15]);
		put_shift(out, 0, field(opcode, 4, 2));
		put(out, "]");
	} else {
		const char *sign = opcode & 0x200 ? "" : "-";
		put(out, "ldr%s pc, [%s", cond, regs32[rn]);
		if (opcode & 0x400)
			put(out, ", #%s%u]%s", sign, (unsigned int)imm8, opcode & 0x100 ? "!" : "");
		else
			put(out, "], #%s%u", sign, (unsigned int)imm8);
	}
}

/* Armv8.1-M: loops, and branch future, of which only the mnemonic is certain to mean something to a reader */
static void t32_loop(struct out *out, uint32_t opcode, const struct itrace_insn *insn, uint64_t addr)
{
	static const char * const sizes[4] = { "8", "16", "32", "64" };
	const char *rn = regs32[field(opcode, 16, 4)];

	if ((opcode & 0xfffff001) == 0xf00fc001) {
		put(out, "le lr, 0x%" PRIx64, insn->target);
	} else if ((opcode & 0xfffff001) == 0xf02fc001) {
		put(out, "le 0x%" PRIx64, insn->target);
	} else if ((opcode & 0xfffff001) == 0xf01fc001) {
		put(out, "letp lr, 0x%" PRIx64, insn->target);
	} else if ((opcode & 0xfff0f001) == 0xf040c001) {
		put(out, "wls lr, %s, 0x%" PRIx64, rn, insn->target);
	} else if ((opcode & 0xffc0f001) == 0xf000c001) {
		put(out, "wlstp.%s lr, %s, 0x%" PRIx64, sizes[field(opcode, 20, 2)], rn, insn->target);
	} else if (insn->class == ITRACE_INSN_UNDESCRIBED) {
		uint64_t branch = (uint32_t)(addr + 4 + field(opcode, 23, 4) * 2);
		/* imm5 or imm7 or imm11 : imm10 : imm1 : 0 */
		uint32_t low = field(opcode, 1, 10) << 2 | field(opcode, 11, 1) << 1;
		if ((opcode & 0xf800f001) == 0xf000c001)
			put(out, "bfl 0x%" PRIx64 ", 0x%" PRIx64, branch,
				(uint64_t)(uint32_t)(addr + 4 + (uint64_t)(signed_field(opcode, 16, 7) * 4096) + low));
		else if ((opcode & 0xf860f001) == 0xf040e001)
			put(out, "bf 0x%" PRIx64 ", 0x%" PRIx64, branch,
				(uint64_t)(uint32_t)(addr + 4 + (uint64_t)(signed_field(opcode, 16, 5) * 4096) + low));
		else if ((opcode & 0xf860ffff) == 0xf060e001)
			put(out, "%s 0x%" PRIx64 ", %s", opcode & 0x00100000 ? "bflx" : "bfx", branch, rn);
	}
}

static void t32_waypoint32(struct out *out, uint32_t opcode, const struct itrace_insn *insn, uint64_t addr,
		const char *cond, bool is_m)
{
	const char *rn = regs32[field(opcode, 16, 4)];

	if ((opcode & 0xf8008000) == 0xf0008000) {
		if ((opcode & 0xf800d000) == 0xf0009000)
			put(out, "b%s.w 0x%" PRIx64, cond, insn->target);
		else if ((opcode & 0xf800d000) == 0xf000d000)
			put(out, "bl%s 0x%" PRIx64, cond, insn->target);
		else if ((opcode & 0xf800d001) == 0xf000c000 && !is_m)
			put(out, "blx%s 0x%" PRIx64, cond, insn->target);
		else if ((opcode & 0xf800d001) == 0xf000c001 && is_m)
			t32_loop(out, opcode, insn, addr);
		else if ((opcode & 0xfffffff0) == 0xf3bf8f60)
			put_isb(out, cond, opcode & 15);
		else if ((opcode & 0xfffffffe) == 0xf3af8002)
			put(out, "%s%s.w", opcode & 1 ? "wfi" : "wfe", cond);
		else if ((opcode & 0xfff0ffff) == 0xf3c08f00)
			put(out, "bxj%s %s", cond, rn);
		else if (opcode == 0xf3de8f00)
			put(out, "eret%s", cond);
		else if ((opcode & 0xffffff00) == 0xf3de8f00)
			put(out, "subs%s pc, lr, #%u", cond, (unsigned int)(opcode & 0xff));
		else if ((opcode & 0x03800000) != 0x03800000 && (opcode & 0xf800d000) == 0xf0008000)
			put(out, "b%s.w 0x%" PRIx64, conds[field(opcode, 22, 4)], insn->target);
		return;
	}
	switch (field(opcode, 25, 4)) {
	case 0x4:
		if ((opcode & 0xfff0ffe0) == 0xe8d0f000) {
			put(out, opcode & 0x10 ? "tbh%s [%s, %s, lsl #1]" : "tbb%s [%s, %s]", cond, rn, regs32[opcode & 15]);
		} else if ((opcode & 0xffd0ffff) == 0xe810c000 || (opcode & 0xffd0ffff) == 0xe990c000) {
			put(out, "rfe%s%s %s%s", opcode & 0x00800000 ? "ia" : "db", cond, rn, opcode & 0x00200000 ? "!" : "");
		} else if (((opcode & 0xffd00000) == 0xe8900000 || (opcode & 0xffd00000) == 0xe9100000) &&
				!(opcode & 0x2000) && (opcode & 0xffff) != 0x8000) {
			/* one register, SP in the list: UNPREDICTABLE, left to .inst */
			if ((opcode & 0xffff0000) == 0xe8bd0000)
				put(out, "pop%s.w ", cond);
			else
				put(out, "ldm%s%s%s %s%s, ", opcode & 0x01000000 ? "db" : "", cond, opcode & 0x01000000 ? "" : ".w",
					rn, opcode & 0x00200000 ? "!" : "");
			put_register_list(out, opcode & 0xffff);
		}
		return;
	case 0x7:
		put(out, "mcr%s p15, #0, %s, c7, c5, #4", cond, regs32[field(opcode, 12, 4)]);
		return;
	case 0xc:
		t32_load_pc(out, opcode, cond);
		return;
	case 0xd:
		put(out, "bxaut%s %s, %s, %s", cond, regs32[field(opcode, 12, 4)], rn, regs32[opcode & 15]);
		return;
	default:
		return;
	}
}

/* IT: it, itt, ite ... and the condition */
static void t32_it(struct out *out, uint32_t hw)
{
	uint32_t first = field(hw, 4, 4);
	uint32_t mask = hw & 15;

	put(out, "it");
	for (unsigned int bit = 3; mask & ((1u << bit) - 1); bit--)
		put(out, (mask >> bit & 1) == (first & 1) ? "t" : "e");
	put(out, " %s", first == COND_AL ? "al" : conds[first]);
}

/* Hints of M profile that tell its cores from others, and test target, which the libraries know in part. */
static void t32_other(struct out *out, uint32_t opcode, unsigned int size, uint64_t addr, const char *cond, bool is_m)
{
	static const char * const hints[] = { "nop", "yield", "wfe", "wfi", "sev", "sevl" };
	/* SEVL is of Armv8-A */
	uint32_t hint_count = is_m ? 5 : 6;
	uint32_t hw = opcode >> 16;
	uint64_t pc = (uint32_t)((addr & ~UINT64_C(3)) + 4);

	if (size == 2) {
		if ((hw & 0xff00) == 0xbf00 && hw & 15 && (hw & 0xf0) != 0xf0)
			t32_it(out, hw);
		else if ((hw & 0xff0f) == 0xbf00 && field(hw, 4, 4) < hint_count)
			put(out, "%s%s", hints[field(hw, 4, 4)], cond);
		else if ((hw & 0xff0f) == 0xbf00)
			put(out, "hint%s #%u", cond, (unsigned int)field(hw, 4, 4));
		else if ((hw & 0xf800) == 0xa000)
			put(out, "adr%s %s, 0x%" PRIx64, cond, regs32[field(hw, 8, 3)], pc + (hw & 0xff) * 4);
		return;
	}
	if ((opcode & 0xfbff8000) == 0xf20f0000 || (opcode & 0xfbff8000) == 0xf2af0000) {
		uint32_t imm = field(opcode, 26, 1) << 11 | field(opcode, 12, 3) << 8 | (opcode & 0xff);
		uint32_t target = (uint32_t)pc + (opcode & 0x00a00000 ? -imm : imm);
		put(out, "adr%s.w %s, 0x%" PRIx32, cond, regs32[field(opcode, 8, 4)], target);
		return;
	}
	if ((opcode & 0xffffff00) == 0xf3af8000) {
		uint32_t number = opcode & 0xff;
		if (number < hint_count)
			put(out, "%s%s.w", hints[number], cond);
		else if (is_m && number == 0x1d)
			put(out, "pac r12, lr, sp");
		else if (is_m && number == 0x0d)
			put(out, "pacbti r12, lr, sp");
		else if (is_m && number == 0x2d)
			put(out, "aut r12, lr, sp");
		else if (is_m && number == 0x0f)
			put(out, "bti");
		else if (number == 0x14)
			put(out, "csdb%s", cond);
		else if (number < 0xf0)
			put(out, "hint%s.w #%u", cond, (unsigned int)number);
		else
			put(out, "dbg%s #%u", cond, (unsigned int)(number & 15));
		return;
	}
	if (!is_m)
		return;
	if (opcode == 0xe97fe97f)
		put(out, "sg");
	else if ((opcode & 0xfff0f03f) == 0xe840f000 && field(opcode, 16, 4) < 13 && field(opcode, 8, 4) < 13)
		put(out, "tt%s%s%s %s, %s", opcode & 0x80 ? "a" : "", opcode & 0x40 ? "t" : "", cond,
			regs32[field(opcode, 8, 4)], regs32[field(opcode, 16, 4)]);
}

static bool t32_print(struct out *out, uint32_t opcode, unsigned int size, uint64_t addr, unsigned int cond, bool is_m)
{
	struct itrace_insn_rules rules = everything;
	struct itrace_insn insn;

	rules.m_profile = is_m;
	itrace_insn_t32(&rules, (uint16_t)(opcode >> 16), (uint16_t)opcode, addr, &insn);
	if (insn.class == ITRACE_INSN_OTHER)
		t32_other(out, opcode, size, addr, conds[cond], is_m);
	else if (size == 2)
		t32_waypoint16(out, opcode >> 16, &insn, conds[cond], is_m);
	else
		t32_waypoint32(out, opcode, &insn, addr, conds[cond], is_m);
	/* IT with the condition 1111 is UNPREDICTABLE */
	return insn.class != ITRACE_INSN_OTHER || (opcode >> 24) == 0xbf;
}

/* Remember the conditions that the IT instruction @a hw at @a addr gives to what follows it. */
static void t32_remember_it(struct itrace_disassembly *d, uint32_t hw, uint64_t addr, const uint8_t *bytes, size_t len)
{
	uint32_t first = field(hw, 4, 4);
	size_t pos = 2;

	for (unsigned int bit = 4; hw & ((1u << bit) - 1) & 15 && pos + 2 <= len; bit--) {
		/* bit 4 of the mask that the first instruction uses is the condition's own lowest bit */
		struct it_memo *memo = &d->its[(addr + pos) / 2 % IT_MEMO_NUM];
		memo->addr = addr + pos;
		memo->cond = (uint8_t)((first & 14) | (hw >> bit & 1));
		memo->is_used = true;
		pos += itrace_insn_t32_size((uint16_t)(bytes[pos] | bytes[pos + 1] << 8));
	}
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* libraries */

#if WITH_LLVM || WITH_CAPSTONE

/*
 * What the library is not asked for, because it reads another instruction there. The first row that fits decides; rows
 * that let an opcode through stand before those that do not. Found by testing/diff/test_disassembly_llvm.py.
 */
struct guard {
	uint32_t mask;
	uint32_t value;
	bool is_good;
};

static const struct guard guards_a64[] = {
	/* CLREX, DSB, DMB; SB is ours */
	{ 0xfffff0ff, 0xd503305f, true },
	{ 0xfffff0df, 0xd503309f, true },
	/* MSR immediate */
	{ 0xfff8f01f, 0xd500401f, true },
	/* MSR and MRS with op0 of 0 are read as of op0 3 */
	{ 0xffd80000, 0xd5000000, false },
	/* IC and TLBI without a register that have one */
	{ 0xfff8001f, 0xd508001f, true },
	{ 0xfffffbe0, 0xd5087100, false },
	{ 0xfff9fbe0, 0xd5088300, false },
	{ 0xfffffbe0, 0xd50c8380, false },
	{ 0xfffffbe0, 0xd50c83c0, false },
	/* CSEL to CSNEG with AL and NV: read as an alias that they do not have */
	{ 0x1fe0e000, 0x1a80e000, false },
	{ 0, 0, true }
};

#if WITH_CAPSTONE

static const struct guard guards_a32[] = {
	/* VLDM, VSTM, FLDMX, FSTMX of more than 16 registers */
	{ 0x0f200e00, 0x0d000a00, true },
	{ 0x0e000f80, 0x0c000b80, false },
	{ 0x0e000f40, 0x0c000b40, false },
	{ 0x0e000f30, 0x0c000b30, false },
	{ 0x0e000f28, 0x0c000b28, false },
	{ 0x0e000f24, 0x0c000b24, false },
	{ 0x0e000f22, 0x0c000b22, false },
	/* MRS and MSR of banked registers */
	{ 0x0fb002f0, 0x01000200, false },
	{ 0x0fb002f0, 0x01200200, false },
	/* MSR of no field */
	{ 0x0fbf00f0, 0x01200000, false },
	{ 0x0fff0000, 0x03600000, false },
	{ 0, 0, true }
};

static const struct guard guards_t32[] = {
	/* VLDM, VSTM, FLDMX, FSTMX of more than 16 registers */
	{ 0xff200e00, 0xed000a00, true },
	{ 0xfe000f80, 0xec000b80, false },
	{ 0xfe000f40, 0xec000b40, false },
	{ 0xfe000f30, 0xec000b30, false },
	{ 0xfe000f28, 0xec000b28, false },
	{ 0xfe000f24, 0xec000b24, false },
	{ 0xfe000f22, 0xec000b22, false },
	/* data processing with the bit that is zero in hw2 set */
	{ 0xfe008000, 0xea008000, false },
	/* hw2 11.0 ...1: UNDEFINED, or Armv8.1-M loops, which are ours */
	{ 0xf800d001, 0xf000c001, false },
	/* MRS and MSR of banked registers */
	{ 0xffe0d020, 0xf3808020, false },
	{ 0xffe0d020, 0xf3e08020, false },
	/* barriers; the rest of their space is read as Advanced SIMD of A32 */
	{ 0xffffff00, 0xf3bf8f00, true },
	{ 0xfff0d000, 0xf3b08000, false },
	/* HVC, SMC, UDF */
	{ 0xfff0f000, 0xf7e08000, true },
	{ 0xfff0f000, 0xf7f08000, true },
	{ 0xfff0f000, 0xf7f0a000, true },
	{ 0xff80d000, 0xf7808000, false },
	/* SSAT, USAT, SBFX, UBFX, BFI with bits set that should be zero, with PC, or as Advanced SIMD of A32 */
	{ 0xff008000, 0xf7000000, false },
	{ 0xfa108000, 0xf2100000, false },
	{ 0xff508020, 0xf3000020, false },
	{ 0xff008f00, 0xf3000f00, false },
	/* LDC2, STC2, MCRR2: read as SHA256 of A32 */
	{ 0xfe000000, 0xfc000000, false },
	/* MSR of no field */
	{ 0xffe0df00, 0xf3808000, false },
	{ 0, 0, true }
};

static const struct guard guards_t32_m[] = {
	/* no Advanced SIMD */
	{ 0xef000000, 0xef000000, false },
	{ 0xff100000, 0xf9000000, false },
	{ 0xffb00000, 0xf9a00000, false },
	{ 0xff000f30, 0xee000b30, false },
	{ 0xff400f10, 0xee400b10, false },
	{ 0xff000f90, 0xee000b90, false },
	/* no HLT, PLDW, doubleword exclusives, CRC32 */
	{ 0xffc00000, 0xba800000, false },
	{ 0xff70f000, 0xf830f000, false },
	{ 0xffe00070, 0xe8c00070, false },
	{ 0xffe0f0c0, 0xfac0f080, false },
	/* VLDM, VSTM, FLDMX, FSTMX of more than 16 registers */
	{ 0xff200e00, 0xed000a00, true },
	{ 0xfe000f80, 0xec000b80, false },
	{ 0xfe000f40, 0xec000b40, false },
	{ 0xfe000f30, 0xec000b30, false },
	{ 0xfe000f28, 0xec000b28, false },
	{ 0xfe000f24, 0xec000b24, false },
	{ 0xfe000f22, 0xec000b22, false },
	/* data processing with the bit that is zero in hw2 set */
	{ 0xfe008000, 0xea008000, false },
	/* hw2 11.0 ...1: UNDEFINED, or Armv8.1-M loops, which are ours */
	{ 0xf800d001, 0xf000c001, false },
	/* MRS and MSR of banked registers */
	{ 0xffe0d020, 0xf3808020, false },
	{ 0xffe0d020, 0xf3e08020, false },
	/* barriers; the rest of their space is read as Advanced SIMD of A32 */
	{ 0xffffff00, 0xf3bf8f00, true },
	{ 0xfff0d000, 0xf3b08000, false },
	/* UDF; no HVC, SMC */
	{ 0xfff0f000, 0xf7f0a000, true },
	{ 0xff80d000, 0xf7808000, false },
	/* SSAT, USAT, SBFX, UBFX, BFI with bits set that should be zero, with PC, or as Advanced SIMD of A32 */
	{ 0xff008000, 0xf7000000, false },
	{ 0xfa108000, 0xf2100000, false },
	{ 0xff508020, 0xf3000020, false },
	{ 0xff008f00, 0xf3000f00, false },
	/* LDC2, STC2, MCRR2: read as SHA256 of A32 */
	{ 0xfe000000, 0xfc000000, false },
	{ 0, 0, true }
};

#endif

/* Whether the library reads @a opcode for what it is. */
static bool library_knows(enum machine machine, uint32_t opcode)
{
	static const struct guard * const guards[MACHINE_NUM] = {
		[MACHINE_A64] = guards_a64,
#if WITH_CAPSTONE
		[MACHINE_A32] = guards_a32,
		[MACHINE_T32] = guards_t32,
		[MACHINE_T32_M] = guards_t32_m,
#endif
	};
	const struct guard *guard = guards[machine];

	if (!guard)
		return true;
	while ((opcode & guard->mask) != guard->value)
		guard++;
	return guard->is_good;
}

#endif

#if WITH_LLVM || WITH_CAPSTONE

/*
 * Tabs to spaces, blanks at the ends off, one blank behind the mnemonic.
 * @param is_32 AArch32: r9 to r12 by their numbers, too
 */
static void put_line(struct out *out, const char *line, bool is_32)
{
	static const char aliases[][4] = { "sb", "sl", "fp", "ip" };
	bool is_mnemonic = true;
	bool is_blank = false;

	line += strspn(line, " \t");
	while (*line) {
		size_t len = strcspn(line, " \t,[]{}!#-:");
		if (!len)
			len = 1;
		if (*line == ' ' || *line == '\t') {
			is_blank = true;
			line++;
			continue;
		}
		if (is_blank) {
			put(out, " ");
			is_mnemonic = false;
		}
		is_blank = false;
		size_t alias = 0;
		while (is_32 && !is_mnemonic && len == 2 && alias < 4 && memcmp(line, aliases[alias], 2))
			alias++;
		if (is_32 && !is_mnemonic && len == 2 && alias < 4)
			put(out, "%s", regs32[9 + alias]);
		else
			put(out, "%.*s", (int)len, line);
		line += len;
	}
}

#endif

#if WITH_LLVM

static const struct {
	const char *triple;
	const char *features;
} llvm_machines[MACHINE_NUM] = {
#if LLVM_VERSION_MAJOR >= 15
	[MACHINE_A64] = { "aarch64", "+all" },
#else
	[MACHINE_A64] = { "aarch64", "+v8.7a,+crypto,+fullfp16,+fp16fml,+mte,+rand,+sve2,+sve2-bitperm,+bf16,+i8mm,+ls64" },
#endif
	[MACHINE_A32] = { "armv8.6a", "+neon,+fp-armv8,+fullfp16,+fp16fml,+aes,+sha2,+sb,+dotprod,+virtualization,+mp" },
	[MACHINE_T32] = { "thumbv8.6a", "+neon,+fp-armv8,+fullfp16,+fp16fml,+aes,+sha2,+sb,+dotprod,+virtualization,+mp" },
	/* without MVE, whose VPT blocks change the text of what follows them */
	[MACHINE_T32_M] = { "thumbv8.1m.main", "+fp-armv8,+fullfp16,+dsp,+8msecext" },
};

static void library_open(struct itrace_disassembly *d)
{
	LLVMInitializeAArch64TargetInfo();
	LLVMInitializeAArch64TargetMC();
	LLVMInitializeAArch64Disassembler();
	LLVMInitializeARMTargetInfo();
	LLVMInitializeARMTargetMC();
	LLVMInitializeARMDisassembler();
	for (unsigned int i = 0; i < MACHINE_NUM; i++)
		d->contexts[i] = LLVMCreateDisasmCPUFeatures(llvm_machines[i].triple, "", llvm_machines[i].features, NULL, 0,
			NULL, NULL);
}

static void library_close(struct itrace_disassembly *d)
{
	for (unsigned int i = 0; i < MACHINE_NUM; i++) {
		if (d->contexts[i])
			LLVMDisasmDispose(d->contexts[i]);
	}
}

static void library_print(struct itrace_disassembly *d, enum machine machine, uint32_t opcode, uint64_t addr,
		const uint8_t *bytes, unsigned int size, unsigned int cond, struct out *out)
{
	char line[ITRACE_DISASSEMBLY_MAX];
	uint8_t copy[4];

	if (!d->contexts[machine] || !library_knows(machine, opcode))
		return;
	if (cond < COND_AL) {
		uint8_t it[2] = { (uint8_t)(cond << 4 | 8), 0xbf };
		LLVMDisasmInstruction(d->contexts[machine], it, 2, addr - 2, line, sizeof(line));
	}
	memcpy(copy, bytes, size);
	if (LLVMDisasmInstruction(d->contexts[machine], copy, size, addr, line, sizeof(line)) == size)
		put_line(out, line, machine != MACHINE_A64);
}

#elif WITH_CAPSTONE

static void library_open(struct itrace_disassembly *d)
{
	static const struct {
		cs_arch arch;
		int mode;
	} machines[MACHINE_NUM] = {
		[MACHINE_A64] = { CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN },
		[MACHINE_A32] = { CS_ARCH_ARM, CS_MODE_ARM | CS_MODE_V8 },
		[MACHINE_T32] = { CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_V8 },
		[MACHINE_T32_M] = { CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_MCLASS | CS_MODE_V8 },
	};

	for (unsigned int i = 0; i < MACHINE_NUM; i++)
		d->is_open[i] = cs_open(machines[i].arch, (cs_mode)machines[i].mode, &d->handles[i]) == CS_ERR_OK;
}

static void library_close(struct itrace_disassembly *d)
{
	for (unsigned int i = 0; i < MACHINE_NUM; i++) {
		if (d->is_open[i])
			cs_close(&d->handles[i]);
	}
}

/*
 * Whether a T32 opcode was read by the table of A32: capstone does so with the Advanced SIMD and SHA instructions of
 * Armv8, which have other places in T32.
 */
static bool is_misplaced(uint32_t opcode, const char *text)
{
	switch (opcode >> 24) {
	case 0xef:
	case 0xff:
		return false;
	case 0xec:
	case 0xed:
	case 0xee:
	case 0xf9:
	case 0xfe:
		return !strncmp(text, "sha", 3) || !strncmp(text, "aes", 3);
	default:
		return *text == 'v' || !strncmp(text, "sha", 3) || !strncmp(text, "aes", 3);
	}
}

static void library_print(struct itrace_disassembly *d, enum machine machine, uint32_t opcode, uint64_t addr,
		const uint8_t *bytes, unsigned int size, unsigned int cond, struct out *out)
{
	uint8_t code[6];
	size_t len = 0;
	cs_insn *insn;

	if (!d->is_open[machine] || !library_knows(machine, opcode))
		return;
	if (cond < COND_AL) {
		code[len++] = (uint8_t)(cond << 4 | 8);
		code[len++] = 0xbf;
	}
	memcpy(code + len, bytes, size);
	size_t wanted = len ? 2 : 1;
	size_t count = cs_disasm(d->handles[machine], code, len + size, addr - len, wanted, &insn);
	bool is_t32 = machine == MACHINE_T32 || machine == MACHINE_T32_M;
	if (count == wanted && insn[count - 1].size == size &&
			!(is_t32 && is_misplaced(opcode, insn[count - 1].mnemonic))) {
		char line[sizeof(insn->mnemonic) + sizeof(insn->op_str) + 1];
		snprintf(line, sizeof(line), "%s %s", insn[count - 1].mnemonic, insn[count - 1].op_str);
		put_line(out, line, machine != MACHINE_A64);
	}
	if (count)
		cs_free(insn, count);
}

#else

static void library_open(struct itrace_disassembly *d)
{
	(void)d;
}

static void library_close(struct itrace_disassembly *d)
{
	(void)d;
}

static void library_print(struct itrace_disassembly *d, enum machine machine, uint32_t opcode, uint64_t addr,
		const uint8_t *bytes, unsigned int size, unsigned int cond, struct out *out)
{
	(void)d;
	(void)machine;
	(void)opcode;
	(void)addr;
	(void)bytes;
	(void)size;
	(void)cond;
	(void)out;
}

#endif

/* ------------------------------------------------------------------------------------------------------------------ */

struct itrace_disassembly *itrace_disassembly_new(void)
{
	struct itrace_disassembly *d = calloc(1, sizeof(*d));
	if (d)
		library_open(d);
	return d;
}

void itrace_disassembly_free(struct itrace_disassembly *d)
{
	if (!d)
		return;
	library_close(d);
	free(d);
}

unsigned int itrace_disassemble(struct itrace_disassembly *d, enum itrace_isa isa, uint64_t addr, const uint8_t *bytes,
		size_t len, const struct itrace_insn_rules *rules, char *text, size_t size)
{
	struct out out = { .text = text, .size = size };
	bool is_m = rules && rules->m_profile;
	unsigned int insn_len = 4;
	unsigned int cond = COND_AL;
	enum machine machine = MACHINE_A64;
	bool is_ours;
	uint32_t opcode;

	text[0] = 0;
	if (len < (isa == ITRACE_ISA_T32 ? 2 : 4))
		return 0;
	if (isa == ITRACE_ISA_T32) {
		opcode = (uint32_t)(bytes[0] | bytes[1] << 8) << 16;
		insn_len = itrace_insn_t32_size((uint16_t)(opcode >> 16));
		if (len < insn_len)
			return 0;
		if (insn_len == 4)
			opcode |= (uint32_t)(bytes[2] | bytes[3] << 8);
		machine = is_m ? MACHINE_T32_M : MACHINE_T32;
		struct it_memo *memo = &d->its[addr / 2 % IT_MEMO_NUM];
		bool is_conditional = memo->is_used && memo->addr == addr;
		if (is_conditional)
			cond = memo->cond;
		memo = &d->its[(addr + insn_len) / 2 % IT_MEMO_NUM];
		if ((opcode >> 24) == 0xbf && opcode & 0x000f0000)
			t32_remember_it(d, opcode >> 16, addr, bytes, len);
		else if (!is_conditional && memo->addr == addr + insn_len)
			/* no IT is before the next instruction: what was known of it is of other code */
			memo->is_used = false;
		is_ours = t32_print(&out, opcode, insn_len, addr, cond, is_m);
	} else {
		opcode = (uint32_t)(bytes[0] | bytes[1] << 8) | (uint32_t)(bytes[2] | bytes[3] << 8) << 16;
		if (isa == ITRACE_ISA_A32) {
			machine = MACHINE_A32;
			/* M profile has no A32: nothing of it means anything */
			is_ours = is_m || a32_print(&out, opcode, addr);
		} else {
			is_ours = a64_print(&out, opcode, addr);
		}
	}
	if (!out.len && !is_ours)
		library_print(d, machine, opcode, addr, bytes, insn_len, cond, &out);
	if (!out.len && insn_len == 2)
		put(&out, ".inst.n 0x%04x", (unsigned int)(opcode >> 16));
	else if (!out.len)
		put(&out, "%s 0x%08" PRIx32, isa == ITRACE_ISA_T32 ? ".inst.w" : ".inst", opcode);
	return insn_len;
}

const char *itrace_disassembly_build(void)
{
#if WITH_LLVM
	return "LLVM " LLVM_VERSION_STRING;
#elif WITH_CAPSTONE
	static char text[32];
	int major;
	int minor;
	cs_version(&major, &minor);
	snprintf(text, sizeof(text), "capstone %d.%d.%d", major, minor, CS_VERSION_EXTRA);
	return text;
#else
	return "no disassembler";
#endif
}
