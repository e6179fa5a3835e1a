// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <target/target.h>

#include "mtb_parts.h"
#include "mtb_trace.h"

/* ---- programs and symbols ---- */

struct programs {
	struct arm_mtb_program *list;
	size_t count;
};

static void free_programs(struct programs *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		arm_mtb_program_free(&programs->list[i]);
	free(programs->list);
	memset(programs, 0, sizeof(*programs));
}

static bool load_programs(const struct arm_mtb *mtb, struct programs *programs, char *why, size_t why_size)
{
	char reason[ARM_MTB_WHY / 2];

	memset(programs, 0, sizeof(*programs));
	if (!mtb->config.elf_count)
		return true;
	programs->list = calloc(mtb->config.elf_count, sizeof(*programs->list));
	if (!programs->list) {
		arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "out of memory");
		return false;
	}
	for (size_t i = 0; i < mtb->config.elf_count; i++) {
		if (!arm_mtb_program_load(&programs->list[i], mtb->config.elfs[i], reason, sizeof(reason))) {
			free_programs(programs);
			arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "-elf: %s", reason);
			return false;
		}
		programs->count++;
	}
	return true;
}

/* @returns false: @a text is no number */
static bool read_number(const char *text, unsigned long long *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		*value = ULLONG_MAX;
	return !*end;
}

static bool find_symbol(const struct programs *programs, const char *name, uint32_t *addr)
{
	struct arm_mtb_symbol symbol;

	for (size_t i = 0; i < programs->count; i++) {
		if (arm_mtb_program_symbol(&programs->list[i], name, &symbol)) {
			*addr = symbol.addr & ~UINT32_C(1);
			return true;
		}
	}
	return false;
}

/* "main+0x10" */
static bool find_behind_symbol(const struct programs *programs, const char *text, uint32_t *addr)
{
	const char *plus = strrchr(text, '+');
	unsigned long long offset;

	if (!plus || !read_number(plus + 1, &offset) || offset > UINT32_MAX)
		return false;
	char *name = strndup(text, (size_t)(plus - text));
	const bool found = name && find_symbol(programs, name, addr);

	free(name);
	if (!found || offset > UINT32_MAX - *addr)
		return false;
	*addr += (uint32_t)offset & ~UINT32_C(1);
	return true;
}

static bool find_address(const struct arm_mtb *mtb, const struct programs *programs, const char *text, uint32_t *addr,
		char *why, size_t why_size)
{
	unsigned long long value;

	if (read_number(text, &value)) {
		*addr = (uint32_t)value & ~UINT32_C(1);
		if (value > UINT32_MAX)
			arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "address %s has more than 32 bits", text);
		return value <= UINT32_MAX;
	}
	if (find_symbol(programs, text, addr) || find_behind_symbol(programs, text, addr))
		return true;
	if (!*text)
		text = "''";
	if (!programs->count)
		arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "%s is no number, and there is no program with symbols: "
				"%s configure -elf FILE", text, mtb->name);
	else
		arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "no symbol %s in %s%s", text, programs->list[0].path,
				programs->count > 1 ? " and the other files" : "");
	return false;
}

bool arm_mtb_address(const struct arm_mtb *mtb, const char *text, uint32_t *addr, char *why, size_t why_size)
{
	struct programs programs;

	if (!load_programs(mtb, &programs, why, why_size))
		return false;
	const bool found = find_address(mtb, &programs, text, addr, why, why_size);
	free_programs(&programs);
	return found;
}

/* ---- registers ---- */

static bool holds(const struct arm_mtb_state *state, const struct arm_mtb_state *should)
{
	return state->position == should->position && state->master == should->master && state->flow == should->flow;
}

/* As found: POSITION and FLOW while EN is clear, EN last. */
int arm_mtb_put_back(struct arm_mtb *mtb)
{
	const struct arm_mtb_state *should = &mtb->before;
	struct arm_mtb_state off = *should, state;

	off.master &= ~ARM_MTB_MASTER_EN;
	for (unsigned int i = 0; i < 3; i++) {
		int retval = arm_mtb_port_write_u32(&mtb->port, ARM_MTB_MASTER, off.master);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_put(&mtb->port, &off, &state);
		if (retval == ERROR_OK && holds(&state, &off) && should->master & ARM_MTB_MASTER_EN)
			return arm_mtb_port_set_master(&mtb->port, should->master, ARM_MTB_MASTER_EN);
		if (retval == ERROR_OK && holds(&state, &off))
			return ERROR_OK;
	}
	return ERROR_FAIL;
}

static uint32_t watermark_distance(enum arm_mtb_when_full when_full, uint32_t size)
{
	return when_full == ARM_MTB_STOP ? ARM_MTB_PACKET_LEN : ARM_MTB_PACKET_LEN * arm_mtb_drain_margin(size);
}

/* What the registers have to hold for this buffer and mode. */
static void compose(struct arm_mtb *mtb)
{
	static const uint32_t flow[ARM_MTB_WHEN_FULL_NUM] = {
		[ARM_MTB_STOP] = ARM_MTB_FLOW_AUTOSTOP,
		[ARM_MTB_HALT] = ARM_MTB_FLOW_AUTOHALT,
		[ARM_MTB_DRAIN] = ARM_MTB_FLOW_AUTOHALT,
	};
	const uint32_t kept = ARM_MTB_MASTER_SFRWPRIV | ARM_MTB_MASTER_RAMPRIV | ARM_MTB_MASTER_NSEN;

	mtb->armed.position = arm_mtb_position_of(&mtb->ram, mtb->buffer.addr);
	mtb->armed.flow = flow[mtb->when_full];
	if (mtb->armed.flow)
		mtb->armed.flow |= mtb->armed.position + mtb->buffer.size -
				watermark_distance(mtb->when_full, mtb->buffer.size);
	mtb->armed.master = (mtb->before.master & kept) | arm_mtb_mask_of(mtb->buffer.size);
}

static int not_kept(const struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	const struct {
		const char *name;
		uint32_t wrote;
		uint32_t reads;
	} all[] = {
		{ "POSITION", mtb->armed.position, state->position },
		{ "MASTER", mtb->armed.master, state->master },
		{ "FLOW", mtb->armed.flow, state->flow },
	};
	unsigned int i = 0;

	while (i < 2 && all[i].wrote == all[i].reads)
		i++;
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "%s does not keep what is written: 0x%08" PRIx32
			" was written, 0x%08" PRIx32
			" is read; is the MTB clocked, and writable for the debugger?", all[i].name, all[i].wrote, all[i].reads);
}

bool arm_mtb_is_armed(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	const bool triggered = mtb->has_start || mtb->has_stop;
	uint32_t master = ARM_MTB_MASTER_HALTREQ;

	if (triggered || arm_mtb_is_full(mtb, state))
		master |= ARM_MTB_MASTER_EN;
	return arm_mtb_is_in_buffer(state, mtb->armed.position, mtb->armed.master, mtb->buffer.size) &&
			!((state->master ^ mtb->armed.master) & ~master) && state->flow == mtb->armed.flow;
}

void arm_mtb_note_begin(struct arm_mtb *mtb)
{
	/* where -start is met a comparator begins the trace, at once or some instructions later */
	mtb->has_pc_arm = !mtb->has_start && arm_mtb_core_pc(mtb, &mtb->pc_arm);
}

/* Nothing moves while the core stands: FLOW of before, which is written last, may have set HALTREQ. */
static bool is_begun(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	if (!arm_mtb_is_armed(mtb, state))
		return false;
	return !arm_mtb_is_halted(mtb) ||
			(state->position == mtb->armed.position && !(state->master & ARM_MTB_MASTER_HALTREQ));
}

/*
 * The same, looked at once more if not: an answer can be lost, and of a small buffer that got full meanwhile POSITION
 * is of before and MASTER of behind that. To arm it again would lose what is in it.
 * @param retval of the exchange that has armed it, and read @a state
 */
static bool has_begun(const struct arm_mtb *mtb, int retval, struct arm_mtb_state *state)
{
	if (retval == ERROR_OK && is_begun(mtb, state))
		return true;
	return arm_mtb_port_read(&mtb->port, state) == ERROR_OK && is_begun(mtb, state);
}

/* Write all with EN clear and see that it stays. */
static int write_registers(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state = { 0 };

	/* who had EN set can have written a packet between POSITION and MASTER: a second time it cannot */
	for (unsigned int i = 0; i < 3; i++) {
		const int retval = arm_mtb_port_put(&mtb->port, &mtb->armed, &state);
		if (retval != ERROR_OK)
			return arm_mtb_unreachable(mtb, retval, "written", why, why_size);
		if (holds(&state, &mtb->armed))
			return ERROR_OK;
	}
	return not_kept(mtb, &state, why, why_size);
}

/* EN, and see that it is so. */
static int enable(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		const int retval = arm_mtb_port_put_master(&mtb->port, mtb->armed.master, &state);
		if (retval != ERROR_OK)
			return arm_mtb_unreachable(mtb, retval, "written", why, why_size);
		if (has_begun(mtb, retval, &state))
			return ERROR_OK;
	}
	return not_kept(mtb, &state, why, why_size);
}

/*
 * All in one access, and see that it is so; @returns false: it is not.
 * Whatever of its end gets lost, EN is set only when all the rest is there; and no FLOW of before meets the new
 * POSITION, which could halt the core.
 */
static bool arm_at_once(struct arm_mtb *mtb)
{
	const struct arm_mtb_port *port = &mtb->port;
	const uint32_t master = mtb->armed.master;
	struct arm_mtb_batch batch;
	struct arm_mtb_state state;

	if (mtb->has_start || mtb->has_stop || !arm_mtb_port_begin(port, &batch))
		return false;
	mtb->armed.master |= ARM_MTB_MASTER_EN;
	arm_mtb_port_add_write(port, &batch, ARM_MTB_MASTER, master);
	arm_mtb_port_add_write(port, &batch, ARM_MTB_FLOW, 0);
	arm_mtb_port_add_write(port, &batch, ARM_MTB_POSITION, mtb->armed.position);
	arm_mtb_port_add_write(port, &batch, ARM_MTB_FLOW, mtb->armed.flow);
	arm_mtb_port_add_write(port, &batch, ARM_MTB_MASTER, mtb->armed.master);
	arm_mtb_port_add_state(port, &batch, &state);
	if (has_begun(mtb, arm_mtb_port_run(port, &batch), &state))
		return true;
	mtb->armed.master = master;
	return false;
}

/* Registers, comparators, EN. */
static int arm(struct arm_mtb *mtb, char *why, size_t why_size)
{
	char reason[ARM_MTB_WHY / 2];
	uint32_t bits = 0;

	mtb->touched = true;
	if (arm_at_once(mtb))
		return ERROR_OK;
	int retval = write_registers(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	if (mtb->has_start || mtb->has_stop) {
		retval = arm_mtb_trigger_set(&mtb->trigger, mtb->target, mtb->port.base, mtb->has_start ? &mtb->start : NULL,
				mtb->has_stop ? &mtb->stop : NULL, &bits, reason, sizeof(reason));
		if (retval != ERROR_OK)
			return arm_mtb_fail(why, why_size, retval, mtb, "%s", reason);
	}
	mtb->armed.master |= bits;
	if (!(bits & ARM_MTB_MASTER_TSTARTEN))
		mtb->armed.master |= ARM_MTB_MASTER_EN;
	return enable(mtb, why, why_size);
}

static void find_neighbours(const struct arm_mtb *mtb, const struct programs *programs,
		struct arm_mtb_neighbours *neighbours)
{
	const struct target *target = mtb->target;

	memset(neighbours, 0, sizeof(*neighbours));
	neighbours->programs = programs->list;
	neighbours->program_count = programs->count;
	if (!target->working_area_size)
		return;
	neighbours->work_area = (uint32_t)(target->working_area_phys_spec ? target->working_area_phys :
			target->working_area_virt);
	neighbours->work_area_size = target->working_area_size;
}

/* A buffer where no memory is would be written somewhere else, if the RAM's address is not the true one. */
static int look_at_buffer(struct arm_mtb *mtb, char *why, size_t why_size)
{
	const struct arm_mtb_buffer *buffer = &mtb->buffer;
	uint32_t word;

	if (mtb->seen.addr == buffer->addr && mtb->seen.size == buffer->size)
		return ERROR_OK;
	int retval = arm_mtb_port_read_word(mtb->target, buffer->addr, &word);
	if (retval == ERROR_OK)
		retval = arm_mtb_port_read_word(mtb->target, buffer->addr + buffer->size - 4, &word);
	if (retval != ERROR_OK)
		return arm_mtb_fail(why, why_size, retval, mtb, "the buffer of %" PRIu32 " bytes at 0x%08" PRIx32 " cannot be "
				"read: is there RAM%s?", buffer->size, buffer->addr,
				mtb->config.rambase_given ? ", and is -rambase right" : "");
	mtb->seen = *buffer;
	return ERROR_OK;
}

static int place_buffer(struct arm_mtb *mtb, const struct programs *programs, char *why, size_t why_size)
{
	struct arm_mtb_neighbours neighbours;
	char reason[ARM_MTB_WHY - 64];
	const char *from;

	find_neighbours(mtb, programs, &neighbours);
	if (mtb->config.buffer_given) {
		mtb->buffer = mtb->config.buffer;
		if (!arm_mtb_buffer_check(&mtb->buffer, &mtb->ram, &neighbours, reason, sizeof(reason)))
			return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "%s", reason);
		if (!programs->count)
			LOG_INFO("%s: no program is given (-elf): whether it uses the %" PRIu32 " bytes at 0x%08" PRIx32
					" is not known", mtb->name, mtb->buffer.size, mtb->buffer.addr);
		return ERROR_OK;
	}
	if (!arm_mtb_buffer_choose(&mtb->buffer, &mtb->ram, &neighbours, &from, reason, sizeof(reason)))
		return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "%s", reason);
	LOG_INFO("%s: buffer of %" PRIu32 " bytes at 0x%08" PRIx32 " (%s)", mtb->name, mtb->buffer.size, mtb->buffer.addr,
			from ? from : "a part of RAM that the program does not use");
	return ERROR_OK;
}

static int find_trigger_addresses(struct arm_mtb *mtb, const struct programs *programs, char *why, size_t why_size)
{
	mtb->has_start = mtb->config.start;
	mtb->has_stop = mtb->config.stop;
	if (mtb->has_start && !find_address(mtb, programs, mtb->config.start, &mtb->start, why, why_size))
		return ERROR_FAIL;
	if (mtb->has_stop && !find_address(mtb, programs, mtb->config.stop, &mtb->stop, why, why_size))
		return ERROR_FAIL;
	return ERROR_OK;
}

/* Registers as found, then EN cleared, so that POSITION can be asked for AW. */
static int find_hardware(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;

	int retval = arm_mtb_look_alone(mtb, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	mtb->before = state;
	mtb->before_known = true;
	mtb->port.ram_base = state.base;
	retval = arm_mtb_find_ram(mtb, state.base, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	mtb->touched = !mtb->aw;
	if (state.master & (ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ)) {
		mtb->touched = true;
		retval = arm_mtb_port_set_master(&mtb->port, state.master & ~(ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ),
				ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ);
		if (retval != ERROR_OK)
			return arm_mtb_unreachable(mtb, retval, "written", why, why_size);
		/* POSITION can have moved since */
		retval = arm_mtb_port_read(&mtb->port, &state);
		if (retval != ERROR_OK)
			return arm_mtb_unreachable(mtb, retval, "read", why, why_size);
		mtb->before.position = state.position;
	}
	retval = arm_mtb_find_aw(mtb, &state, why, why_size);
	mtb->ram.aw = mtb->aw;
	return retval;
}

/* Nothing could be kept. */
static int check_capture_max(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	const uint32_t most = mtb->config.capture_max;

	if (mtb->when_full != ARM_MTB_DRAIN || !most || most >= mtb->buffer.size)
		return ERROR_OK;
	return arm_mtb_fail(why, why_size, ERROR_FAIL, mtb, "-capture-max %" PRIu32 " is less than one buffer of %" PRIu32
			" bytes", most, mtb->buffer.size);
}

static int prepare(struct arm_mtb *mtb, const struct programs *programs, char *why, size_t why_size)
{
	int retval = find_trigger_addresses(mtb, programs, why, why_size);

	if (retval == ERROR_OK)
		retval = find_hardware(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = place_buffer(mtb, programs, why, why_size);
	if (retval == ERROR_OK)
		retval = check_capture_max(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = look_at_buffer(mtb, why, why_size);
	return retval;
}

/* @param before what the start before this one has found; NULL: there is none */
static void undo(struct arm_mtb *mtb, const struct arm_mtb_state *before)
{
	arm_mtb_trigger_clear(&mtb->trigger, false);
	if (mtb->touched && arm_mtb_put_back(mtb) != ERROR_OK) {
		LOG_WARNING("%s: the MTB's registers could not be put back", mtb->name);
		return;
	}
	mtb->before_known = before;
	if (before)
		mtb->before = *before;
}

int arm_mtb_arm_again(struct arm_mtb *mtb, char *why, size_t why_size)
{
	arm_mtb_trigger_clear(&mtb->trigger, true);
	compose(mtb);
	return arm(mtb, why, why_size);
}

int arm_mtb_arm(struct arm_mtb *mtb, char *why, size_t why_size)
{
	const struct arm_mtb_state before = mtb->before;
	const bool known = mtb->before_known;
	struct programs programs;

	mtb->touched = false;
	if (!load_programs(mtb, &programs, why, why_size))
		return ERROR_FAIL;
	int retval = prepare(mtb, &programs, why, why_size);
	free_programs(&programs);
	if (retval == ERROR_OK) {
		compose(mtb);
		retval = arm(mtb, why, why_size);
	}
	if (retval != ERROR_OK)
		undo(mtb, known ? &before : NULL);
	return retval;
}
