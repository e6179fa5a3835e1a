// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A program that fits no cache, and its trace.
 *
 * The program is a random control-flow graph of A64 code: functions of a few blocks with conditional branches, jumps,
 * loops, direct and indirect calls. A walk through it is encoded as a trace unit would: atoms are packed into the
 * longest packets, addresses are sent relative to the last three, an A-Sync comes every few KiB. The encoder is written
 * from the protocol's description and shares nothing with the decoder; what it walked is the truth for both decoders.
 */

#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define COLD_BASE		0xffff800010000000ull
#define COLD_SYNC_LEN		4096u	/* bytes of trace from one A-Sync to the next */
#define COLD_STACK_NUM		256u	/* calls of the walk that are remembered */
#define COLD_CALL_NEAR		64u	/* functions: how far a near call goes */
#define COLD_CONTEXT		0x31	/* AArch64, EL1, Non-secure */

enum cold_kind {
	COLD_JUMP,
	COLD_COND,
	COLD_CALL,
	COLD_CALL_INDIRECT,
	COLD_RETURN,
};

struct cold_block {
	uint32_t start;		/* index of its first instruction */
	uint32_t target;	/* block (jump, cond) or function (call) */
	uint8_t count;		/* instructions */
	uint8_t kind;		/* enum cold_kind */
	uint8_t bias;		/* COND: how many of 256 times it is taken */
};

struct cold {
	uint64_t random;
	uint8_t *code;
	uint32_t insn_count;
	struct cold_block *blocks;
	uint32_t block_count;
	uint32_t *functions;	/* their first blocks */
	uint32_t function_count;

	/* the trace unit */
	uint8_t *out;
	size_t len;
	size_t sync_off;
	uint64_t history[3];
	uint32_t atoms;		/* not sent yet, oldest in bit 0 */
	uint32_t atom_count;
};

static uint32_t cold_below(struct cold *cold, uint32_t n)
{
	return (uint32_t)((bench_random(&cold->random) >> 32) * n >> 32);
}

/* ---- the program ---- */

static void cold_set(struct cold *cold, uint32_t index, uint32_t opcode)
{
	for (unsigned int i = 0; i < 4; i++)
		cold->code[index * 4 + i] = (uint8_t)(opcode >> 8 * i);
}

/* An instruction that ends no block. */
static uint32_t cold_filler(struct cold *cold)
{
	static const uint32_t opcodes[] = {
		0x91000000, 0xf9400000, 0xf9000000, 0xaa0003e0, 0xb9400000, 0x8b000000, 0x52800000, 0x90000000,
		0xeb00001f, 0x1e602000, 0x4ea01c00, 0xa9400000, 0x38400400, 0x9ac02000, 0xd503201f,
	};
	uint32_t which = cold_below(cold, sizeof(opcodes) / sizeof(opcodes[0]));
	if (opcodes[which] == 0xd503201f)	/* NOP */
		return opcodes[which];
	return opcodes[which] | cold_below(cold, 31) | cold_below(cold, 31) << 5;
}

static uint32_t cold_branch(struct cold *cold, const struct cold_block *block, uint32_t index)
{
	uint32_t to = block->kind == COLD_CALL ? cold->functions[block->target] : block->target;
	uint32_t distance = cold->blocks[to].start - index;
	uint32_t reg = cold_below(cold, 30);

	switch (block->kind) {
	case COLD_JUMP:
		return 0x14000000 | (distance & 0x3ffffff);
	case COLD_CALL:
		return 0x94000000 | (distance & 0x3ffffff);
	case COLD_CALL_INDIRECT:
		return 0xd63f0000 | reg << 5;
	case COLD_RETURN:
		return 0xd65f03c0;
	default:
		break;
	}
	switch (cold_below(cold, 8)) {
	case 0:		/* CBZ, CBNZ */
	case 1:
		return 0xb4000000 | cold_below(cold, 2) << 24 | (distance & 0x7ffff) << 5 | reg;
	case 2:		/* TBZ, TBNZ */
		return 0x36000000 | cold_below(cold, 2) << 24 | cold_below(cold, 32) << 19 | (distance & 0x3fff) << 5 | reg;
	default:	/* B.cond */
		return 0x54000000 | (distance & 0x7ffff) << 5 | cold_below(cold, 14);
	}
}

static void cold_lay_function(struct cold *cold, uint32_t *insn)
{
	uint32_t first = cold->block_count;
	uint32_t count = 6 + cold_below(cold, 20);
	cold->functions[cold->function_count++] = first;

	for (uint32_t i = 0; i < count; i++) {
		struct cold_block *block = &cold->blocks[cold->block_count++];
		uint32_t dice = cold_below(cold, 100);
		uint32_t left = count - 1 - i;
		block->start = *insn;
		block->count = (uint8_t)(1 + cold_below(cold, 4) + cold_below(cold, 4));
		*insn += block->count;
		block->bias = 0;
		block->target = 0;
		if (!left) {
			block->kind = COLD_RETURN;
		} else if (dice < 3) {
			block->kind = COLD_CALL_INDIRECT;
		} else if (dice < 11) {
			block->kind = COLD_CALL;
		} else if (dice < 25) {
			block->kind = COLD_JUMP;
			block->target = first + i + 1 + cold_below(cold, left < 3 ? left : 3);
		} else {
			block->kind = COLD_COND;
			block->bias = (uint8_t)(16 + cold_below(cold, 224));
			if (cold_below(cold, 5)) {
				block->target = first + i + 1 + cold_below(cold, left < 4 ? left : 4);
			} else {
				block->target = first + i - cold_below(cold, i < 3 ? i + 1 : 3);
				block->bias = (uint8_t)(block->bias * 3 / 4);
			}
		}
	}
}

static void cold_lay(struct cold *cold)
{
	uint32_t insn = 0;
	while (insn + 25 * 7 < cold->insn_count)
		cold_lay_function(cold, &insn);

	uint32_t function = 0;
	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct cold_block *block = &cold->blocks[b];
		if (function + 1 < cold->function_count && b == cold->functions[function + 1])
			function++;
		if (block->kind == COLD_CALL) {
			/* only to functions further on, else a walk might call in a circle for ever */
			uint32_t left = cold->function_count - 1 - function;
			bool near = cold_below(cold, 2);
			if (left)
				block->target = function + 1 + cold_below(cold, near && left > COLD_CALL_NEAR ? COLD_CALL_NEAR : left);
			else
				block->kind = COLD_CALL_INDIRECT;
		}
		for (uint32_t i = 0; i + 1 < block->count; i++)
			cold_set(cold, block->start + i, cold_filler(cold));
		uint32_t last = block->start + block->count - 1;
		cold_set(cold, last, cold_branch(cold, block, last));
	}
	for (; insn < cold->insn_count; insn++)
		cold_set(cold, insn, 0);
}

/* ---- the trace unit ---- */

static void cold_put(struct cold *cold, uint32_t byte)
{
	cold->out[cold->len++] = (uint8_t)byte;
}

static void cold_history(struct cold *cold, uint64_t addr)
{
	cold->history[2] = cold->history[1];
	cold->history[1] = cold->history[0];
	cold->history[0] = addr;
}

/* How many of the waiting atoms the longest packet takes, and its header. */
static unsigned int cold_pack(const struct cold *cold, uint32_t *header)
{
	uint32_t atoms = cold->atoms;
	unsigned int run = 0;
	while (run < cold->atom_count && atoms >> run & 1)
		run++;

	/* format 6: 3 to 23 E, then one of either kind */
	if (run >= 24) {
		*header = 0xd4;
		return 24;
	}
	if (run >= 3 && run < cold->atom_count) {
		*header = 0xe0 | (run - 3);
		return run + 1;
	}
	if (run >= 4) {
		*header = 0xc0 | (run - 4);
		return run;
	}
	if (cold->atom_count >= 5) {
		switch (atoms & 0x1f) {
		case 0x1e:
			*header = 0xf5;	/* NEEEE */
			return 5;
		case 0x00:
			*header = 0xd5;	/* NNNNN */
			return 5;
		case 0x0a:
			*header = 0xd6;	/* NENEN */
			return 5;
		case 0x15:
			*header = 0xd7;	/* ENENE */
			return 5;
		default:
			break;
		}
	}
	if (cold->atom_count >= 4) {
		switch (atoms & 0xf) {
		case 0xe:
			*header = 0xdc;	/* NEEE */
			return 4;
		case 0x0:
			*header = 0xdd;	/* NNNN */
			return 4;
		case 0xa:
			*header = 0xde;	/* NENE */
			return 4;
		case 0x5:
			*header = 0xdf;	/* ENEN */
			return 4;
		default:
			break;
		}
	}
	if (cold->atom_count >= 3) {
		*header = 0xf8 | (atoms & 7);
		return 3;
	}
	if (cold->atom_count == 2) {
		*header = 0xd8 | (atoms & 3);
		return 2;
	}
	*header = 0xf6 | (atoms & 1);
	return 1;
}

/* Send packets until at most @a keep atoms wait. */
static void cold_flush(struct cold *cold, unsigned int keep)
{
	while (cold->atom_count > keep) {
		uint32_t header;
		unsigned int n = cold_pack(cold, &header);
		cold_put(cold, header);
		cold->atoms >>= n;
		cold->atom_count -= n;
	}
}

static void cold_atom(struct cold *cold, bool taken)
{
	cold->atoms |= (uint32_t)taken << cold->atom_count++;
	if (cold->atom_count > 24)
		cold_flush(cold, 24);
}

static void cold_put_long(struct cold *cold, uint64_t addr, unsigned int bytes)
{
	cold_put(cold, addr >> 2 & 0x7f);
	cold_put(cold, addr >> 9 & 0x7f);
	for (unsigned int i = 2; i < bytes; i++)
		cold_put(cold, addr >> 8 * i & 0xff);
}

static void cold_addr(struct cold *cold, uint64_t addr)
{
	cold_flush(cold, 0);
	uint64_t differs = addr ^ cold->history[0];
	if (!differs) {
		cold_put(cold, 0x90);
	} else if (addr == cold->history[1]) {
		cold_put(cold, 0x91);
	} else if (addr == cold->history[2]) {
		cold_put(cold, 0x92);
	} else if (!(differs >> 9)) {
		cold_put(cold, 0x95);
		cold_put(cold, addr >> 2 & 0x7f);
	} else if (!(differs >> 17)) {
		cold_put(cold, 0x95);
		cold_put(cold, 0x80 | (addr >> 2 & 0x7f));
		cold_put(cold, addr >> 9 & 0xff);
	} else if (!(differs >> 32)) {
		cold_put(cold, 0x9a);
		cold_put_long(cold, addr, 4);
	} else {
		cold_put(cold, 0x9d);
		cold_put_long(cold, addr, 8);
	}
	cold_history(cold, addr);
}

/* A-Sync, Trace Info, and where the program is. */
static void cold_sync(struct cold *cold, uint64_t addr)
{
	cold_flush(cold, 0);
	cold->sync_off = cold->len;
	for (unsigned int i = 0; i < 11; i++)
		cold_put(cold, 0);
	cold_put(cold, 0x80);
	cold_put(cold, 0x01);
	cold_put(cold, 0x01);
	cold_put(cold, 0x00);
	memset(cold->history, 0, sizeof(cold->history));
	if (cold->len == 15)
		cold_put(cold, 0x04);	/* Trace On */
	cold_put(cold, 0x85);
	cold_put_long(cold, addr, 8);
	cold_put(cold, COLD_CONTEXT);
	cold_history(cold, addr);
}

/* ---- the walk ---- */

static uint64_t cold_addr_of(const struct cold *cold, uint32_t block)
{
	return COLD_BASE + 4ull * cold->blocks[block].start;
}

static void cold_walk(struct cold *cold, struct bench_slice *slices, size_t slice_count, size_t slice_len)
{
	uint32_t stack[COLD_STACK_NUM];
	uint32_t depth = 0;
	uint32_t at = cold->functions[0];

	for (size_t s = 0; s < slice_count; s++) {
		struct bench_slice *slice = &slices[s];
		memset(slice, 0, sizeof(*slice));
		slice->off = cold->len;
		cold_sync(cold, cold_addr_of(cold, at));
		while (cold->len < slice->off + slice_len) {
			if (cold->len - cold->sync_off >= COLD_SYNC_LEN)
				cold_sync(cold, cold_addr_of(cold, at));

			const struct cold_block *block = &cold->blocks[at];
			bool taken = block->kind != COLD_COND || cold_below(cold, 256) < block->bias;
			uint64_t addr = cold_addr_of(cold, at);
			slice->count.range_count++;
			slice->count.instruction_count += block->count;
			bench_hash_range(&slice->count.hash, addr, addr + 4ull * block->count, block->count, taken);
			cold_atom(cold, taken);

			uint32_t next = at + 1;
			switch (block->kind) {
			case COLD_CALL:
			case COLD_CALL_INDIRECT:
				stack[depth++ % COLD_STACK_NUM] = next;
				next = cold->functions[block->kind == COLD_CALL ? block->target :
					cold_below(cold, cold->function_count)];
				break;
			case COLD_RETURN:
				/* the outermost function returns into a loop that calls others; it is not part of the code */
				next = depth ? stack[--depth % COLD_STACK_NUM] :
					cold->functions[cold_below(cold, cold->function_count)];
				break;
			default:
				if (taken)
					next = block->target;
				break;
			}
			at = next;
			if (block->kind == COLD_CALL_INDIRECT || block->kind == COLD_RETURN)
				cold_addr(cold, cold_addr_of(cold, at));
		}
		cold_flush(cold, 0);
		slice->len = cold->len - slice->off;
	}
}

void bench_cold_make(struct bench_program *program, size_t code_len, struct bench_slice *slices, size_t slice_count,
		size_t slice_len, uint64_t seed)
{
	struct cold cold = {
		.random = seed,
		.insn_count = (uint32_t)(code_len / 4),
	};
	cold.code = bench_alloc(code_len);
	cold.blocks = bench_alloc(cold.insn_count * sizeof(cold.blocks[0]));
	cold.functions = bench_alloc(cold.insn_count * sizeof(cold.functions[0]));
	/* a slice ends with the packets of one block, at most a few bytes more than asked for, and the atoms that wait */
	cold.out = bench_alloc(slice_count * (slice_len + 128));
	cold_lay(&cold);
	cold_walk(&cold, slices, slice_count, slice_len);
	free(cold.blocks);
	free(cold.functions);

	memset(program, 0, sizeof(*program));
	program->protocol = ITRACE_PROTOCOL_ETE;
	program->profile = ITRACE_PROFILE_A;
	program->arch = ITRACE_ARCH_V9;
	itrace_ete_registers_default(ITRACE_PROTOCOL_ETE, &program->regs);
	program->regs.trcconfigr = 0x1;
	program->regs.trctraceidr = 0x10;
	program->regs.trcdevarch = 0x47705a13;
	program->regs.trcidr0 = 0x28000ea1;
	program->regs.trcidr1 = 0x4100fff0;
	program->regs.trcidr2 = 0xc0001088;
	program->segment_count = 1;
	program->segments = bench_alloc(sizeof(program->segments[0]));
	program->segments[0] = (struct itrace_segment) {
		.addr = COLD_BASE,
		.len = code_len,
		.data = cold.code,
		.space = ITRACE_SPACE_ANY,
	};
	program->trace = cold.out;
	program->trace_len = cold.len;
}
