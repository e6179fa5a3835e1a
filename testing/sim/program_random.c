// SPDX-License-Identifier: GPL-2.0-or-later

#include "program_build.h"

#include <assert.h>
#include <string.h>

void build_half(struct builder *b, uint16_t half)
{
	struct sim_program *program = b->program;

	assert(program->len + 2 <= SIM_CODE_MAX);
	program->isa_map[program->len / 2] = b->isa;
	build_set_half(b, program->len, half);
	program->len += 2;
}

uint16_t build_get_half(const struct builder *b, uint32_t at)
{
	return b->program->code[at] | b->program->code[at + 1] << 8;
}

void build_set_half(struct builder *b, uint32_t at, uint16_t half)
{
	b->program->code[at] = half & 0xff;
	b->program->code[at + 1] = half >> 8;
}

uint32_t build_get_data(const struct builder *b, uint32_t at)
{
	return build_get_half(b, at) | (uint32_t)build_get_half(b, at + 2) << 16;
}

void build_set_data(struct builder *b, uint32_t at, uint32_t word)
{
	build_set_half(b, at, word & 0xffff);
	build_set_half(b, at + 2, word >> 16);
}

static bool is_t32_at(const struct builder *b, uint32_t at)
{
	return b->program->isa_map[at / 2] == SIM_T32;
}

uint32_t build_get(const struct builder *b, uint32_t at)
{
	uint32_t word = build_get_data(b, at);

	return is_t32_at(b, at) ? word << 16 | word >> 16 : word;
}

void build_set(struct builder *b, uint32_t at, uint32_t opcode)
{
	build_set_data(b, at, is_t32_at(b, at) ? opcode << 16 | opcode >> 16 : opcode);
}

void build_word(struct builder *b, uint32_t opcode)
{
	uint32_t at = build_here(b);

	build_half(b, 0);
	build_half(b, 0);
	build_set(b, at, opcode);
}

void build_add_call(struct builder *b, uint32_t at, unsigned int func, unsigned int kind)
{
	assert(b->call_count < BUILD_CALL_MAX);
	b->calls[b->call_count++] = (struct build_call){ at, func, kind, b->isa };
}

uint32_t sim_program_opcode(const struct sim_program *program, uint32_t offset)
{
	const uint8_t *code = &program->code[offset];

	if (program->isa_map[offset / 2] != SIM_T32)
		return code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
	uint32_t opcode = (uint32_t)(code[0] | code[1] << 8) << 16;
	if (sim_insn_size(SIM_T32, opcode) == 4)
		opcode |= code[2] | code[3] << 8;
	return opcode;
}

static void fillers(struct builder *b, unsigned int low, unsigned int high)
{
	unsigned int n = sim_random_range(b->random, low, high);

	while (n--)
		b->ops->filler(b);
}

static void items(struct builder *b, unsigned int n, unsigned int depth, bool in_loop);

static void item_if(struct builder *b, unsigned int depth, bool in_loop)
{
	bool near = build_pick(b, 2);
	uint32_t skip = b->ops->branch_if(b, near);

	if (near)
		fillers(b, 1, 4);
	else
		items(b, sim_random_range(b->random, 1, 3), depth + 1, in_loop);
	if (build_pick(b, 3)) {
		b->ops->patch(b, skip, build_here(b));
		return;
	}
	uint32_t over = b->ops->branch(b, true);
	b->ops->patch(b, skip, build_here(b));
	fillers(b, 1, 4);
	b->ops->patch(b, over, build_here(b));
}

static void item_loop(struct builder *b, unsigned int depth)
{
	bool many = !build_pick(b, 6);

	b->ops->loop_begin(b, many ? sim_random_range(b->random, 5, 60) : sim_random_range(b->random, 1, 5));
	uint32_t top = build_here(b);
	if (many)
		fillers(b, 1, 3);
	else
		items(b, sim_random_range(b->random, 1, 3), depth + 1, true);
	b->ops->loop_end(b, top);
}

static void item_call(struct builder *b)
{
	unsigned int func;

	if (b->func + 1 >= b->func_count) {
		b->ops->filler(b);
		return;
	}
	func = sim_random_range(b->random, b->func + 1, b->func_count - 1);
	if (build_pick(b, 3))
		b->ops->call(b, func);
	else
		b->ops->call_indirect(b, func);
}

static void item_special(struct builder *b)
{
	const struct sim_program_options *options = b->options;

	switch (build_pick(b, 5)) {
	case 0:
		if (options->isb)
			b->ops->isb(b);
		break;
	case 1:
		if (options->wfx)
			b->ops->wfx(b);
		break;
	case 2:
		if (options->svc && !b->handler)
			b->ops->svc(b);
		break;
	case 3:
		if (options->transactions && b->ops->transaction && !b->handler)
			b->ops->transaction(b);
		break;
	default:
		/* The main loop has nowhere to return to. */
		if (b->func)
			b->ops->early_return(b);
		break;
	}
}

static void item(struct builder *b, unsigned int depth, bool in_loop)
{
	unsigned int what = build_pick(b, 100);

	if (what < (b->options->straight ? 70u : 25u))
		fillers(b, 1, b->options->straight ? 40 : 6);
	else if (what < 50 && depth < 3)
		item_if(b, depth, in_loop);
	else if (what < 62 && depth < 3 && !in_loop)
		item_loop(b, depth);
	else if (what < 78)
		item_call(b);
	else if (what < 88)
		b->ops->jump(b);
	else
		item_special(b);
}

static void items(struct builder *b, unsigned int n, unsigned int depth, bool in_loop)
{
	while (n--)
		item(b, depth, in_loop);
}

static void set_isa(struct builder *b, enum sim_isa isa)
{
	b->isa = isa;
	b->ops = isa == SIM_A64 ? &build_a64 : isa == SIM_A32 ? &build_a32 : &build_t32;
}

static void align(struct builder *b)
{
	while (build_here(b) & 3)
		build_half(b, 0xbf00);
}

static void main_loop(struct builder *b)
{
	b->func = 0;
	b->program->entry = b->func_at[0] = build_here(b);
	items(b, sim_random_range(b->random, 4, 9), 0, false);
	uint32_t back = b->ops->branch(b, false);
	b->ops->patch(b, back, b->func_at[0]);
}

static void function(struct builder *b, unsigned int func)
{
	b->func = func;
	b->func_at[func] = build_here(b);
	b->ops->prologue(b);
	items(b, sim_random_range(b->random, 1, 6), 0, false);
	b->ops->epilogue(b);
}

static void handler(struct builder *b, unsigned int n)
{
	/* Handlers may call the last function only, to stay short. */
	b->func = b->func_count > 2 ? b->func_count - 2 : b->func_count - 1;
	b->handler = true;
	b->program->handlers[n] = build_here(b);
	b->ops->prologue(b);
	items(b, sim_random_range(b->random, 0, 2), 1, false);
	b->ops->epilogue(b);
	b->handler = false;
}

static enum sim_isa function_isa(struct builder *b)
{
	if (!b->options->interworking || build_pick(b, 2))
		return b->options->isa;
	return b->options->isa == SIM_A32 ? SIM_T32 : SIM_A32;
}

void sim_program_random(struct sim_program *program, const struct sim_program_options *options,
		struct sim_random *random)
{
	static const uint8_t orders[3][BUILD_FUNC_MAX] = {
		{ 0, 1, 2, 3, 4, 5 }, { 5, 4, 3, 2, 1, 0 }, { 3, 0, 5, 1, 4, 2 }
	};
	struct builder b = { .program = program, .options = options, .random = random };
	const uint8_t *order = orders[sim_random_below(random, 3)];

	program->len = 0;
	program->isa = options->isa;
	program->m_profile = options->m_profile;
	memset(program->isa_map, options->isa, sizeof(program->isa_map));
	b.func_count = sim_random_range(random, 2, BUILD_FUNC_MAX);
	for (unsigned int i = 0; i < b.func_count; i++)
		b.func_isa[i] = i ? function_isa(&b) : options->isa;
	for (unsigned int i = 0; i < BUILD_FUNC_MAX; i++) {
		if (order[i] >= b.func_count)
			continue;
		align(&b);
		set_isa(&b, b.func_isa[order[i]]);
		if (order[i])
			function(&b, order[i]);
		else
			main_loop(&b);
	}
	for (unsigned int i = 0; i < SIM_HANDLER_NUM; i++) {
		align(&b);
		set_isa(&b, function_isa(&b));
		handler(&b, i);
	}
	for (unsigned int i = 0; i < b.call_count; i++) {
		set_isa(&b, b.calls[i].isa);
		b.ops->patch_call(&b, &b.calls[i]);
	}
	if (options->tight)
		return;
	/* Decoders may read a whole word at the last halfword. */
	set_isa(&b, options->isa);
	align(&b);
	build_word(&b, 0);
}
