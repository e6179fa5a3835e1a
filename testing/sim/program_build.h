/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Inside of the program generator: what the structured generator needs of each instruction set. */

#ifndef PROGRAM_BUILD_H
#define PROGRAM_BUILD_H

#include "program_random.h"

#define BUILD_FUNC_MAX 6
#define BUILD_CALL_MAX 1024

struct build_ops;

/* A place that holds a function's address, filled in when all functions are placed. */
struct build_call {
	uint32_t at;
	uint8_t func;
	uint8_t kind;	/* meaning known to the instruction set */
	uint8_t isa;	/* of the code at the place */
};

struct builder {
	struct sim_program *program;
	const struct sim_program_options *options;
	struct sim_random *random;
	const struct build_ops *ops;
	enum sim_isa isa;		/* of the function being written */
	unsigned int func;		/* its number: decides the loop counter register */
	bool handler;
	unsigned int frame;		/* how the prologue saved LR; meaning known to the instruction set */
	uint32_t func_at[BUILD_FUNC_MAX];
	enum sim_isa func_isa[BUILD_FUNC_MAX];
	unsigned int func_count;
	struct build_call calls[BUILD_CALL_MAX];
	unsigned int call_count;
};

struct build_ops {
	/* One or a few instructions that do not branch. */
	void (*filler)(struct builder *b);
	/* Branch forward if a pseudo-random condition holds; near: the target is less than 100 bytes away. */
	uint32_t (*branch_if)(struct builder *b, bool near);
	uint32_t (*branch)(struct builder *b, bool near);
	/* Let the branch at @at go to @target. */
	void (*patch)(struct builder *b, uint32_t at, uint32_t target);
	void (*loop_begin)(struct builder *b, unsigned int count);
	void (*loop_end)(struct builder *b, uint32_t top);
	void (*call)(struct builder *b, unsigned int func);
	void (*call_indirect)(struct builder *b, unsigned int func);
	void (*patch_call)(struct builder *b, const struct build_call *call);
	/* A computed jump to one of a few places which all go on behind it. */
	void (*jump)(struct builder *b);
	void (*prologue)(struct builder *b);
	void (*epilogue)(struct builder *b);
	/* Return in the middle under a condition. */
	void (*early_return)(struct builder *b);
	void (*isb)(struct builder *b);
	void (*wfx)(struct builder *b);
	void (*svc)(struct builder *b);
	void (*transaction)(struct builder *b);	/* may be NULL */
};

extern const struct build_ops build_a64;
extern const struct build_ops build_a32;
extern const struct build_ops build_t32;

static inline uint32_t build_here(const struct builder *b)
{
	return b->program->len;
}

static inline unsigned int build_pick(struct builder *b, unsigned int n)
{
	return sim_random_below(b->random, n);
}

/* Append a halfword. */
void build_half(struct builder *b, uint16_t half);

/* Append an A64 or A32 instruction, or a T32 one of 32 bits (first halfword high). */
void build_word(struct builder *b, uint32_t opcode);

/* Read and overwrite an instruction as appended by build_word(), or a plain little-endian word. */
uint32_t build_get(const struct builder *b, uint32_t at);
void build_set(struct builder *b, uint32_t at, uint32_t opcode);
uint32_t build_get_data(const struct builder *b, uint32_t at);
void build_set_data(struct builder *b, uint32_t at, uint32_t word);
uint16_t build_get_half(const struct builder *b, uint32_t at);
void build_set_half(struct builder *b, uint32_t at, uint16_t half);

/* Remember that the place needs a function's address. */
void build_add_call(struct builder *b, uint32_t at, unsigned int func, unsigned int kind);

#endif
