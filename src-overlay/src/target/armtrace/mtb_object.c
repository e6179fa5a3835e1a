// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <helper/binarybuffer.h>
#include <helper/time_support.h>
#include <jtag/jtag.h>
#include <target/cortex_m.h>
#include <target/register.h>
#include <target/target.h>
#include <target/target_type.h>

#include "mtb_object.h"
#include "ocd_compat.h"

#define SCB_VTOR	0xe000ed08u
#define PACKET_LEN	8u
#define RETRY_MS	50	/* of a target that does not answer the timer */

static OOCD_LIST_HEAD(all_mtb);

/* ---- small things ---- */

static int fail(char *why, size_t why_size, int retval, const struct arm_mtb *mtb, const char *format, ...)
	__attribute__((format(PRINTF_ATTRIBUTE_FORMAT, 5, 6)));

/* One line that begins with the object's name. @returns @a retval, which is no success */
static int fail(char *why, size_t why_size, int retval, const struct arm_mtb *mtb, const char *format, ...)
{
	const int len = snprintf(why, why_size, "%s: ", mtb->name);
	va_list ap;

	va_start(ap, format);
	if (len > 0 && (size_t)len < why_size)
		vsnprintf(why + len, why_size - (size_t)len, format, ap);
	va_end(ap);
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

bool arm_mtb_has_core(const struct arm_mtb *mtb)
{
	const char *type = target_type_name(mtb->target);

	return !strcmp(type, "cortex_m") || !strcmp(type, "hla_target");
}

/* As OpenOCD knows it; a mem_ap has no core that could stand. */
static bool is_halted(const struct arm_mtb *mtb)
{
	return arm_mtb_has_core(mtb) && mtb->target->state == TARGET_HALTED;
}

static bool core_pc(const struct arm_mtb *mtb, uint32_t *pc)
{
	if (!is_halted(mtb))
		return false;
	struct reg *reg = register_get_by_name(mtb->target->reg_cache, "pc", true);
	if (!reg || (!reg->valid && reg->type->get(reg) != ERROR_OK))
		return false;
	*pc = buf_get_u32(reg->value, 0, 32) & ~UINT32_C(1);
	return true;
}

static void run_event(struct arm_mtb *mtb, enum arm_mtb_event event)
{
	Jim_Interp *interp = mtb->interp;

	if (!mtb->config.events[event])
		return;
	/* the body speaks to the target of the trace, as its own event handlers do */
	struct command_context *ctx = current_command_context(interp);
	struct target *saved = ctx->current_target_override;
	ctx->current_target_override = mtb->target;
	/* not among the variables of the procedure that happens to run */
	if (Jim_EvalGlobal(interp, Jim_GetString(mtb->config.events[event], NULL)) != JIM_OK) {
		Jim_MakeErrorMessage(interp);
		LOG_ERROR("%s: event: %s", mtb->name, Jim_GetString(Jim_GetResult(interp), NULL));
	}
	ctx->current_target_override = saved;
}

/* Bytes of the buffer that hold packets. */
static uint32_t used_bytes(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	if (state->position & ARM_MTB_POSITION_WRAP)
		return mtb->buffer.size;
	return state->position & ARM_MTB_POSITION_POINTER & (mtb->buffer.size - 1);
}

uint32_t arm_mtb_packets(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	return mtb->buffer.size ? used_bytes(mtb, state) / PACKET_LEN : 0;
}

bool arm_mtb_is_full(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	const bool at_watermark = !((state->position ^ state->flow) & ARM_MTB_POSITION_POINTER);

	return state->master & ARM_MTB_MASTER_HALTREQ || (mtb->when_full == ARM_MTB_STOP && at_watermark &&
			state->flow & ARM_MTB_FLOW_AUTOSTOP);
}

const char *arm_mtb_error(const struct arm_mtb *mtb)
{
	return mtb->error[0] ? mtb->error : mtb->drain.error;
}

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
		fail(why, why_size, ERROR_FAIL, mtb, "out of memory");
		return false;
	}
	for (size_t i = 0; i < mtb->config.elf_count; i++) {
		if (!arm_mtb_program_load(&programs->list[i], mtb->config.elfs[i], reason, sizeof(reason))) {
			free_programs(programs);
			fail(why, why_size, ERROR_FAIL, mtb, "-elf: %s", reason);
			return false;
		}
		programs->count++;
	}
	return true;
}

static bool find_address(const struct arm_mtb *mtb, const struct programs *programs, const char *text, uint32_t *addr,
		char *why, size_t why_size)
{
	struct arm_mtb_symbol symbol;
	char *end;

	errno = 0;
	const unsigned long long value = strtoull(text, &end, 0);
	if (*text && !*end) {
		if (errno || value > UINT32_MAX) {
			fail(why, why_size, ERROR_FAIL, mtb, "address %s has more than 32 bits", text);
			return false;
		}
		*addr = (uint32_t)value & ~UINT32_C(1);
		return true;
	}
	for (size_t i = 0; i < programs->count; i++) {
		if (arm_mtb_program_symbol(&programs->list[i], text, &symbol)) {
			*addr = symbol.addr & ~UINT32_C(1);
			return true;
		}
	}
	if (!programs->count)
		fail(why, why_size, ERROR_FAIL, mtb, "%s is no number, and there is no program with symbols: "
				"%s configure -elf FILE", text, mtb->name);
	else
		fail(why, why_size, ERROR_FAIL, mtb, "no symbol %s in %s%s", text, programs->list[0].path,
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

/* ---- the hardware ---- */

static bool is_armv8m(const struct arm_mtb *mtb)
{
	if (!arm_mtb_has_core(mtb))
		return false;
	const struct cortex_m_common *cortex_m = target_to_cm(mtb->target);
	return cortex_m->core_info && cortex_m->core_info->arch == ARM_ARCH_V8M;
}

static int find_base(struct arm_mtb *mtb, char *why, size_t why_size)
{
	uint32_t slot;

	if (mtb->config.base_given) {
		mtb->port.base = mtb->config.base;
		return ERROR_OK;
	}
	if (!is_armv8m(mtb))
		return fail(why, why_size, ERROR_FAIL, mtb, "where the MTB is differs from part to part: give -baseaddr (see "
		"the "
				"part's manual, or coresight discover)");
	int retval = target_read_u32(mtb->target, ARM_MTB_M33_ROM_SLOT, &slot);
	if (retval != ERROR_OK || !(slot & 1)) {
		/* a read that got lost would say the same */
		arm_mtb_port_resync(&mtb->port);
		retval = target_read_u32(mtb->target, ARM_MTB_M33_ROM_SLOT, &slot);
	}
	if (retval != ERROR_OK)
		return fail(why, why_size, retval, mtb, "the core's ROM table (0x%08x) cannot be read: give -baseaddr",
				ARM_MTB_M33_ROM_SLOT);
	if (!(slot & 1))
		return fail(why, why_size, ERROR_FAIL, mtb, "the core's ROM table says that this part has no MTB (0x%08" PRIx32
				" at 0x%08x); if it has, give -baseaddr", slot, ARM_MTB_M33_ROM_SLOT);
	mtb->port.base = ARM_MTB_M33_BASE;
	return ERROR_OK;
}

static int need_target(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (target_was_examined(mtb->target))
		return ERROR_OK;
	return fail(why, why_size, ERROR_TARGET_NOT_EXAMINED, mtb, "target %s is not examined yet: use this after init, or "
			"examine it (arp_examine)", target_name(mtb->target));
}

static int identify(struct arm_mtb *mtb, char *why, size_t why_size)
{
	char reason[ARM_MTB_WHY / 2];
	int retval = need_target(mtb, why, why_size);

	if (retval != ERROR_OK || mtb->identified)
		return retval;
	retval = find_base(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	retval = arm_mtb_port_identify(&mtb->port, &mtb->id, reason, sizeof(reason));
	if (retval != ERROR_OK)
		return fail(why, why_size, retval, mtb, "%s", reason);
	mtb->identified = true;
	return ERROR_OK;
}

static int unreadable(const struct arm_mtb *mtb, int retval, const char *what, char *why, size_t why_size)
{
	return fail(why, why_size, retval, mtb, "%s at " TARGET_ADDR_FMT " cannot be %s: is the part asleep, without "
			"power or "
			"in reset?", !strcmp(what, "read") ? "the MTB's registers" : "an MTB register", mtb->port.base, what);
}

int arm_mtb_look(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size)
{
	int retval = identify(mtb, why, why_size);

	if (retval != ERROR_OK)
		return retval;
	retval = arm_mtb_port_read(&mtb->port, state);
	return retval == ERROR_OK ? ERROR_OK : unreadable(mtb, retval, "read", why, why_size);
}

/* The RAM's place: the user's word wins over BASE. */
static int find_ram(struct arm_mtb *mtb, uint32_t base, char *why, size_t why_size)
{
	if (mtb->config.rambase_given)
		base = mtb->config.rambase;
	else if (!base)
		return fail(why, why_size, ERROR_FAIL, mtb, "BASE reads 0, which some parts have wrong: give -rambase, the "
		"address "
				"of the RAM");
	mtb->ram.base = base;
	mtb->ram.aw = mtb->aw;
	mtb->ram.size = mtb->config.ramsize;
	return ERROR_OK;
}

/* How many address bits; EN is clear, or the core stands. Once for each part. */
static int find_aw(struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	if (mtb->aw)
		return ERROR_OK;
	const int retval = arm_mtb_port_probe_aw(&mtb->port, state->position, &mtb->aw);
	if (retval == ERROR_OK)
		return ERROR_OK;
	mtb->aw = 0;
	return fail(why, why_size, retval, mtb, "POSITION at " TARGET_ADDR_FMT " does not keep what is written: is the MTB "
			"clocked, and writable for the debugger?", mtb->port.base);
}

static bool holds(const struct arm_mtb_state *state, const struct arm_mtb_state *should)
{
	return state->position == should->position && state->master == should->master && state->flow == should->flow;
}

/* As found: POSITION and FLOW while EN is clear, EN last. */
static int put_back(struct arm_mtb *mtb, const struct arm_mtb_state *should)
{
	struct arm_mtb_state off = *should, state;

	mtb->ours = false;
	off.master &= ~ARM_MTB_MASTER_EN;
	for (unsigned int i = 0; i < 3; i++) {
		int retval = arm_mtb_port_write_u32(&mtb->port, ARM_MTB_MASTER, off.master);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_write(&mtb->port, &off);
		if (retval == ERROR_OK)
			retval = arm_mtb_port_read(&mtb->port, &state);
		if (retval == ERROR_OK && holds(&state, &off) && should->master & ARM_MTB_MASTER_EN)
			return arm_mtb_port_set_master(&mtb->port, should->master, ARM_MTB_MASTER_EN);
		if (retval == ERROR_OK && holds(&state, &off))
			return ERROR_OK;
	}
	return ERROR_FAIL;
}

/* ---- arming ---- */

static uint32_t watermark_distance(enum arm_mtb_when_full when_full, uint32_t size)
{
	return when_full == ARM_MTB_STOP ? PACKET_LEN : PACKET_LEN * arm_mtb_drain_margin(size);
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
		mtb->armed.flow |= mtb->armed.position + mtb->buffer.size - watermark_distance(mtb->when_full,
		mtb->buffer.size);
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
	return fail(why, why_size, ERROR_FAIL, mtb, "%s does not keep what is written: 0x%08" PRIx32
			" was written, 0x%08" PRIx32
			" is read; is the MTB clocked, and writable for the debugger?", all[i].name, all[i].wrote, all[i].reads);
}

/* While the core runs, POSITION goes on, and the hardware can have cleared EN or set HALTREQ. */
static bool is_armed(const struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	const uint32_t moves = mtb->buffer.size - 1;
	const bool full = arm_mtb_is_full(mtb, state);
	const bool triggered = mtb->has_start || mtb->has_stop;
	uint32_t master = ARM_MTB_MASTER_HALTREQ;

	if (full || triggered)
		master |= ARM_MTB_MASTER_EN;
	return !((state->position ^ mtb->armed.position) & ARM_MTB_POSITION_POINTER & ~moves) &&
			!((state->master ^ mtb->armed.master) & ~master) && state->flow == mtb->armed.flow &&
			(!is_halted(mtb) || state->position == mtb->armed.position);
}

/* Write all with EN clear and see that it stays. */
static int write_registers(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state = { 0 };

	/* who had EN set can have written a packet between POSITION and MASTER: a second time it cannot */
	for (unsigned int i = 0; i < 3; i++) {
		int retval = arm_mtb_port_write(&mtb->port, &mtb->armed);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "written", why, why_size);
		retval = arm_mtb_port_read(&mtb->port, &state);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "read", why, why_size);
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
		int retval = arm_mtb_port_write_u32(&mtb->port, ARM_MTB_MASTER, mtb->armed.master);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "written", why, why_size);
		retval = arm_mtb_port_read(&mtb->port, &state);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "read", why, why_size);
		if (is_armed(mtb, &state))
			return ERROR_OK;
	}
	return not_kept(mtb, &state, why, why_size);
}

/*
 * All with EN in one access, and see that it is so; @returns false: it is not, and EN is clear again.
 * Only where a part of it that gets lost does no harm: nothing is traced while the core stands, and what runs is traced
 * into the same buffer as before.
 */
static bool arm_at_once(struct arm_mtb *mtb)
{
	const uint32_t master = mtb->armed.master;
	struct arm_mtb_state state;

	if (mtb->has_start || mtb->has_stop || !(is_halted(mtb) || mtb->ours))
		return false;
	mtb->armed.master |= ARM_MTB_MASTER_EN;
	if (arm_mtb_port_write(&mtb->port, &mtb->armed) == ERROR_OK && arm_mtb_port_read(&mtb->port, &state) == ERROR_OK &&
			is_armed(mtb, &state))
		return true;
	mtb->armed.master = master;
	return false;
}

/* Registers, comparators, EN. */
static int arm(struct arm_mtb *mtb, char *why, size_t why_size)
{
	char reason[ARM_MTB_WHY / 2];
	uint32_t bits = 0;

	if (arm_at_once(mtb))
		return ERROR_OK;
	int retval = write_registers(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	if (mtb->has_start || mtb->has_stop) {
		retval = arm_mtb_trigger_set(&mtb->trigger, mtb->target, mtb->port.base, mtb->has_start ? &mtb->start : NULL,
				mtb->has_stop ? &mtb->stop : NULL, &bits, reason, sizeof(reason));
		if (retval != ERROR_OK)
			return fail(why, why_size, retval, mtb, "%s", reason);
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

static int place_buffer(struct arm_mtb *mtb, const struct programs *programs, char *why, size_t why_size)
{
	const struct arm_mtb_buffer before = mtb->buffer;
	struct arm_mtb_neighbours neighbours;
	char reason[ARM_MTB_WHY - 64];
	const char *from;

	find_neighbours(mtb, programs, &neighbours);
	if (mtb->config.buffer_given) {
		mtb->buffer = mtb->config.buffer;
		if (!arm_mtb_buffer_check(&mtb->buffer, &mtb->ram, &neighbours, reason, sizeof(reason)))
			return fail(why, why_size, ERROR_FAIL, mtb, "%s", reason);
		mtb->ours &= mtb->buffer.addr == before.addr && mtb->buffer.size == before.size;
		return ERROR_OK;
	}
	if (!arm_mtb_buffer_choose(&mtb->buffer, &mtb->ram, &neighbours, &from, reason, sizeof(reason)))
		return fail(why, why_size, ERROR_FAIL, mtb, "%s", reason);
	LOG_INFO("%s: buffer of %" PRIu32 " bytes at 0x%08" PRIx32 " (%s)", mtb->name, mtb->buffer.size, mtb->buffer.addr,
			from ? from : "a part of RAM that the program does not use");
	mtb->ours &= mtb->buffer.addr == before.addr && mtb->buffer.size == before.size;
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

	if (mtb->before_known && mtb->aw)
		return find_ram(mtb, mtb->before.base, why, why_size);

	int retval = arm_mtb_look(mtb, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	mtb->before = state;
	mtb->before_known = true;
	mtb->port.ram_base = state.base;
	retval = find_ram(mtb, state.base, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	if (state.master & (ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ)) {
		retval = arm_mtb_port_set_master(&mtb->port, state.master & ~(ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ),
				ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "written", why, why_size);
		/* POSITION can have moved since */
		retval = arm_mtb_port_read(&mtb->port, &state);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "read", why, why_size);
		mtb->before.position = state.position;
	}
	retval = find_aw(mtb, &state, why, why_size);
	mtb->ram.aw = mtb->aw;
	return retval;
}

static int prepare(struct arm_mtb *mtb, const struct programs *programs, char *why, size_t why_size)
{
	int retval = find_trigger_addresses(mtb, programs, why, why_size);

	if (retval == ERROR_OK)
		retval = find_hardware(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = place_buffer(mtb, programs, why, why_size);
	return retval;
}

static void undo(struct arm_mtb *mtb)
{
	arm_mtb_trigger_clear(&mtb->trigger, false);
	if (mtb->before_known && put_back(mtb, &mtb->before) != ERROR_OK)
		LOG_WARNING("%s: the MTB's registers could not be put back", mtb->name);
}

static int capture_drained(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size);
static void start_draining(struct arm_mtb *mtb);
static void stop_draining(struct arm_mtb *mtb);

/* A core has one MTB: two objects would undo each other's work. */
static int need_alone(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	const struct arm_mtb *other;

	list_for_each_entry(other, &all_mtb, lh)
		if (other != mtb && other->target == mtb->target && other->phase == ARM_MTB_ARMED)
			return fail(why, why_size, ERROR_FAIL, mtb, "%s traces %s already: %s stop first", other->name,
					target_name(mtb->target), other->name);
	return ERROR_OK;
}

int arm_mtb_start(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct programs programs;

	if (mtb->disabling) {
		const int disabled = arm_mtb_disable(mtb, why, why_size);
		if (disabled != ERROR_OK)
			return disabled;
	}
	if (mtb->phase == ARM_MTB_ARMED)
		return fail(why, why_size, ERROR_FAIL, mtb, "it is started already: %s stop first", mtb->name);
	if ((mtb->config.when_full == ARM_MTB_HALT || mtb->config.when_full == ARM_MTB_DRAIN) && !arm_mtb_has_core(mtb))
		return fail(why, why_size, ERROR_FAIL, mtb, "-when-full halt and drain need a cortex_m target; %s is %s",
				target_name(mtb->target), target_type_name(mtb->target));
	if (mtb->config.when_full == ARM_MTB_DRAIN && mtb->target->smp)
		return fail(why, why_size, ERROR_FAIL, mtb, "-when-full drain is not for cores of an SMP group: use halt");
	int retval = need_target(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = need_alone(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	if (!load_programs(mtb, &programs, why, why_size))
		return ERROR_FAIL;

	run_event(mtb, ARM_MTB_PRE_ENABLE);
	mtb->when_full = mtb->config.when_full;
	retval = prepare(mtb, &programs, why, why_size);
	free_programs(&programs);
	if (retval == ERROR_OK) {
		compose(mtb);
		retval = arm(mtb, why, why_size);
	}
	if (retval != ERROR_OK) {
		undo(mtb);
		return retval;
	}

	mtb->phase = ARM_MTB_ARMED;
	mtb->adopted = mtb->paused = mtb->rearm = mtb->reset_seen = mtb->full = mtb->stopping = false;
	mtb->fresh = true;
	mtb->error[0] = 0;
	mtb->has_pc_arm = core_pc(mtb, &mtb->pc_arm);
	if (is_halted(mtb))
		mtb->vtor_known = false;
	arm_mtb_drain_init(&mtb->drain, &mtb->port, &mtb->drained);
	if (mtb->when_full == ARM_MTB_DRAIN)
		start_draining(mtb);
	run_event(mtb, ARM_MTB_POST_ENABLE);
	return ERROR_OK;
}

/* ---- capturing ---- */

static void add_register(struct itrace_mtb_registers *regs, uint32_t bit, uint32_t *reg, uint32_t value)
{
	*reg = value;
	regs->given |= bit;
}

/* Once while the core only runs; each time it stands, it can have come from elsewhere. */
static void read_vtor(struct arm_mtb *mtb)
{
	if (!arm_mtb_has_core(mtb) || (mtb->vtor_known && !is_halted(mtb)))
		return;
	mtb->vtor_known = target_read_u32(mtb->target, SCB_VTOR, &mtb->vtor) == ERROR_OK;
}

static void note_registers(struct arm_mtb *mtb, struct arm_mtb_capture *capture, const struct arm_mtb_state *state)
{
	struct itrace_mtb_registers *regs = &capture->regs;

	memset(regs, 0, sizeof(*regs));
	add_register(regs, ITRACE_MTB_REG_MASTER, &regs->master, state->master);
	add_register(regs, ITRACE_MTB_REG_FLOW, &regs->flow, state->flow);
	if (!capture->in_order) {
		add_register(regs, ITRACE_MTB_REG_POSITION, &regs->position, state->position);
		add_register(regs, ITRACE_MTB_REG_BASE, &regs->base, mtb->ram.base);
		add_register(regs, ITRACE_MTB_REG_AW, &regs->aw, mtb->ram.aw);
	}
	if (mtb->has_pc_arm)
		add_register(regs, ITRACE_MTB_REG_PC_ARM, &regs->pc_arm, mtb->pc_arm);
	if (mtb->vtor_known)
		add_register(regs, ITRACE_MTB_REG_VTOR, &regs->vtor, mtb->vtor);
	capture->buffer = mtb->buffer.addr;
	capture->buffer_size = mtb->buffer.size;
}

/* Does POSITION still lie in the buffer that was armed? */
static int check_position(const struct arm_mtb *mtb, const struct arm_mtb_state *state, char *why, size_t why_size)
{
	const uint32_t size = 16u << arm_mtb_mask_of(mtb->buffer.size);

	if (((state->position ^ mtb->armed.position) & ~(size - 1) & ARM_MTB_POSITION_POINTER) == 0 &&
			((state->master ^ mtb->armed.master) & ARM_MTB_MASTER_MASK) == 0)
		return ERROR_OK;
	return fail(why, why_size, ERROR_FAIL, mtb, "POSITION 0x%08" PRIx32 " and MASTER 0x%08" PRIx32 " are not of the "
			"buffer that was armed (0x%08" PRIx32 ", %" PRIu32 " bytes): the program or a reset changed them; "
			"disable ends this, adopt then takes what is there", state->position, state->master, mtb->buffer.addr,
			mtb->buffer.size);
}

/* The bytes that hold packets, into a capture of their own: the old one stays when this fails. */
static int read_buffer(struct arm_mtb *mtb, const struct arm_mtb_state *state, struct arm_mtb_capture *capture,
		char *why, size_t why_size)
{
	const uint32_t len = used_bytes(mtb, state);

	memset(capture, 0, sizeof(*capture));
	if (!len)
		return ERROR_OK;
	uint8_t *bytes = arm_mtb_capture_stage(capture, len);
	if (!bytes)
		return fail(why, why_size, ERROR_FAIL, mtb, "out of memory");
	const int retval = arm_mtb_port_read_packets(&mtb->port, mtb->buffer.addr, bytes, len);
	if (retval != ERROR_OK) {
		arm_mtb_capture_free(capture);
		return fail(why, why_size, retval, mtb, "the buffer (%" PRIu32 " bytes at 0x%08" PRIx32 ") cannot be "
				"read: is the part asleep, without power or in reset? It still holds the trace; try again", len,
				mtb->buffer.addr);
	}
	arm_mtb_capture_commit(capture);
	return ERROR_OK;
}

/*
 * EN off if the core runs: reading would meet packets half written. @param[out] state is final then
 * @param end FLOW and comparators too: tracing ends
 */
static int hold_still(struct arm_mtb *mtb, bool halted, bool end, struct arm_mtb_state *state, char *why,
		size_t why_size)
{
	const uint32_t off = ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ |
			(end ? ARM_MTB_MASTER_TSTARTEN | ARM_MTB_MASTER_TSTOPEN : 0);
	const uint32_t flow = end ? 0 : state->flow;
	const uint32_t master = state->master & ~off;

	if (halted || !(state->master & off))
		return ERROR_OK;
	mtb->paused = true;
	for (unsigned int i = 0; i < 3; i++) {
		int retval = arm_mtb_port_write_master(&mtb->port, master, flow);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "written", why, why_size);
		retval = arm_mtb_port_read(&mtb->port, state);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "read", why, why_size);
		if (!(state->master & off) && state->flow == flow)
			return ERROR_OK;
	}
	return fail(why, why_size, ERROR_FAIL, mtb, "MASTER.EN cannot be cleared (0x%08" PRIx32 ")", state->master);
}

/* Tracing was off and nobody here did it: say why, if that can be told. */
static void tell_found_off(struct arm_mtb *mtb, const struct arm_mtb_state *state)
{
	if (state->master & ARM_MTB_MASTER_EN || mtb->paused || !(mtb->armed.master & ARM_MTB_MASTER_EN) || mtb->adopted)
		return;
	if (arm_mtb_is_full(mtb, state)) {
		mtb->full = true;
		return;
	}
	if (mtb->armed.master & ARM_MTB_MASTER_TSTOPEN)
		return;
	LOG_WARNING("%s: tracing was off already (MASTER.EN is 0): the part was reset, or the program changed it; what the "
			"buffer holds is captured", mtb->name);
}

/* Into mtb->capture; the hardware stays held still. */
static int capture_buffer(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size)
{
	const bool halted = is_halted(mtb);
	struct arm_mtb_capture capture;
	uint32_t pc;
	int retval = arm_mtb_port_read(&mtb->port, state);

	if (retval != ERROR_OK)
		return unreadable(mtb, retval, "read", why, why_size);
	/* the stop before this one got so far */
	if (mtb->stopping && !(state->master & ARM_MTB_MASTER_EN))
		return ERROR_OK;
	tell_found_off(mtb, state);
	if (state->master & ARM_MTB_MASTER_HALTREQ)
		mtb->full = true;
	retval = check_position(mtb, state, why, why_size);
	if (retval == ERROR_OK)
		retval = hold_still(mtb, halted, end, state, why, why_size);
	if (retval == ERROR_OK)
		retval = read_buffer(mtb, state, &capture, why, why_size);
	if (retval != ERROR_OK)
		return retval;

	read_vtor(mtb);
	/* what led to a reset is worth more than nothing */
	if (mtb->reset_seen && !capture.len && mtb->capture.exists) {
		arm_mtb_capture_free(&capture);
		LOG_INFO("%s: nothing was traced since the reset; the capture is of before", mtb->name);
		return ERROR_OK;
	}
	note_registers(mtb, &capture, state);
	if (halted && state->master & ARM_MTB_MASTER_EN && core_pc(mtb, &pc))
		add_register(&capture.regs, ITRACE_MTB_REG_PC_HALT, &capture.regs.pc_halt, pc);
	capture.exists = true;
	arm_mtb_capture_free(&mtb->capture);
	mtb->capture = capture;
	mtb->reset_seen = false;
	mtb->fresh = false;
	return ERROR_OK;
}

/* What was drained is the capture now, and its end no longer where the core stood at the last flush. */
static void take_drained(struct arm_mtb *mtb)
{
	if (mtb->fresh && mtb->drained.exists) {
		arm_mtb_capture_free(&mtb->capture);
		mtb->capture = mtb->drained;
		memset(&mtb->drained, 0, sizeof(mtb->drained));
		mtb->drain.capture = &mtb->capture;
		mtb->fresh = false;
		/* if it ends here, because the probe goes away, this is what is known */
		if (mtb->has_pc_arm)
			add_register(&mtb->capture.regs, ITRACE_MTB_REG_PC_ARM, &mtb->capture.regs.pc_arm, mtb->pc_arm);
		if (mtb->vtor_known)
			add_register(&mtb->capture.regs, ITRACE_MTB_REG_VTOR, &mtb->capture.regs.vtor, mtb->vtor);
	}
	mtb->capture.regs.given &= ~ITRACE_MTB_REG_PC_HALT;
}

/* The rest of a drained trace. @param end tracing ends with it */
static int capture_drained(struct arm_mtb *mtb, bool end, struct arm_mtb_state *state, char *why, size_t why_size)
{
	bool has_pc;
	uint32_t pc;
	const int retval = arm_mtb_drain_now(&mtb->drain, end, state, &pc, &has_pc);

	take_drained(mtb);
	if (retval != ERROR_OK)
		return fail(why, why_size, retval, mtb, "%s", mtb->drain.error);
	tell_found_off(mtb, state);
	read_vtor(mtb);
	if (!mtb->fresh) {
		struct arm_mtb_capture *capture = &mtb->capture;
		note_registers(mtb, capture, state);
		if (has_pc && state->master & ARM_MTB_MASTER_EN)
			add_register(&capture->regs, ITRACE_MTB_REG_PC_HALT, &capture->regs.pc_halt, pc);
	}
	return ERROR_OK;
}

/* Tracing goes on after hold_still(). */
static int let_go(struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (!mtb->paused)
		return ERROR_OK;
	struct arm_mtb_state state;
	int retval = arm_mtb_port_write_u32(&mtb->port, ARM_MTB_MASTER, mtb->armed.master | ARM_MTB_MASTER_EN);
	if (retval == ERROR_OK)
		retval = arm_mtb_port_read(&mtb->port, &state);
	if (retval == ERROR_OK && !(state.master & ARM_MTB_MASTER_EN) && !arm_mtb_is_full(mtb, &state) &&
			!(state.master & ARM_MTB_MASTER_TSTOPEN))
		retval = arm_mtb_port_set_master(&mtb->port, mtb->armed.master | ARM_MTB_MASTER_EN, ARM_MTB_MASTER_EN);
	if (retval != ERROR_OK)
		return unreadable(mtb, retval, "written", why, why_size);
	mtb->paused = false;
	return ERROR_OK;
}

static int need_armed(const struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (mtb->phase == ARM_MTB_ARMED)
		return need_target(mtb, why, why_size);
	return fail(why, why_size, ERROR_FAIL, mtb, "it is not started");
}

int arm_mtb_flush(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;
	char later[ARM_MTB_WHY];
	int retval = need_armed(mtb, why, why_size);

	if (retval != ERROR_OK)
		return retval;
	if (mtb->target_poll)
		return capture_drained(mtb, false, &state, why, why_size);
	retval = capture_buffer(mtb, false, &state, why, why_size);
	const int resumed = let_go(mtb, later, sizeof(later));
	if (retval == ERROR_OK && resumed != ERROR_OK) {
		snprintf(why, why_size, "%s", later);
		retval = resumed;
	}
	return retval;
}

/* Nothing of ours stays in the hardware. @a state: as last read */
static int disarm(struct arm_mtb *mtb, struct arm_mtb_state *state, char *why, size_t why_size)
{
	const uint32_t off = ARM_MTB_MASTER_EN | ARM_MTB_MASTER_HALTREQ | ARM_MTB_MASTER_TSTARTEN | ARM_MTB_MASTER_TSTOPEN;
	int retval = ERROR_OK;

	for (unsigned int i = 0; i < 3 && (state->master & off || state->flow); i++) {
		retval = arm_mtb_port_write_master(&mtb->port, state->master & ~off, 0);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "written", why, why_size);
		retval = arm_mtb_port_read(&mtb->port, state);
		if (retval != ERROR_OK)
			return unreadable(mtb, retval, "read", why, why_size);
	}
	if (state->master & off || state->flow)
		return fail(why, why_size, ERROR_FAIL, mtb, "MASTER 0x%08" PRIx32 " and FLOW 0x%08" PRIx32 " cannot be cleared",
				state->master, state->flow);
	retval = arm_mtb_trigger_clear(&mtb->trigger, false);
	if (retval != ERROR_OK)
		return fail(why, why_size, retval, mtb, "the comparators of -start and -stop could not be put back");
	return ERROR_OK;
}

int arm_mtb_stop(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;
	int retval = need_armed(mtb, why, why_size);

	if (retval != ERROR_OK)
		return retval;
	run_event(mtb, ARM_MTB_PRE_DISABLE);
	if (mtb->target_poll)
		retval = capture_drained(mtb, true, &state, why, why_size);
	else
		retval = capture_buffer(mtb, true, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	mtb->stopping = true;
	retval = disarm(mtb, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	stop_draining(mtb);
	mtb->phase = ARM_MTB_STOPPED;
	mtb->ours = true;
	mtb->paused = mtb->adopted = false;
	return ERROR_OK;
}

int arm_mtb_disable(struct arm_mtb *mtb, char *why, size_t why_size)
{
	if (mtb->phase != ARM_MTB_ARMED && !mtb->before_known)
		return ERROR_OK;
	int retval = need_target(mtb, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	if (mtb->phase == ARM_MTB_ARMED)
		run_event(mtb, ARM_MTB_PRE_DISABLE);
	mtb->disabling = true;
	retval = arm_mtb_trigger_clear(&mtb->trigger, false);
	if (retval == ERROR_OK && mtb->before_known && !mtb->adopted)
		retval = put_back(mtb, &mtb->before);
	if (retval != ERROR_OK)
		return unreadable(mtb, retval, "written", why, why_size);
	stop_draining(mtb);
	mtb->phase = ARM_MTB_IDLE;
	/* what was put back is what the next start would find */
	mtb->before_known &= !mtb->adopted;
	mtb->paused = mtb->adopted = mtb->rearm = mtb->stopping = mtb->disabling = false;
	return ERROR_OK;
}

int arm_mtb_adopt(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;

	if (mtb->phase == ARM_MTB_ARMED && !mtb->adopted)
		return fail(why, why_size, ERROR_FAIL, mtb, "it is started already: %s stop first", mtb->name);
	int retval = need_alone(mtb, why, why_size);
	if (retval == ERROR_OK)
		retval = arm_mtb_look(mtb, &state, why, why_size);
	if (retval != ERROR_OK)
		return retval;
	const bool still = is_halted(mtb) || !(state.master & ARM_MTB_MASTER_EN);
	if (!still && !mtb->aw)
		return fail(why, why_size, ERROR_FAIL, mtb, "where POSITION points to can only be found out while nothing is "
				"traced: halt the core first");
	retval = find_aw(mtb, &state, why, why_size);
	if (retval == ERROR_OK)
		retval = find_ram(mtb, state.base, why, why_size);
	if (retval != ERROR_OK)
		return retval;

	const uint64_t size = UINT64_C(16) << (state.master & ARM_MTB_MASTER_MASK);
	const uint64_t most = UINT64_C(1) << mtb->aw;
	mtb->buffer.size = (uint32_t)(size > most ? most : size);
	mtb->buffer.addr = arm_mtb_address_of(&mtb->ram, state.position & ~(mtb->buffer.size - 1));
	mtb->armed = state;
	mtb->armed.position = state.position & ~(mtb->buffer.size - 1) & ARM_MTB_POSITION_POINTER;
	mtb->armed.master &= ~ARM_MTB_MASTER_HALTREQ;
	mtb->when_full = state.flow & ARM_MTB_FLOW_AUTOHALT ? ARM_MTB_HALT :
			state.flow & ARM_MTB_FLOW_AUTOSTOP ? ARM_MTB_STOP : ARM_MTB_WRAP;
	mtb->has_pc_arm = mtb->paused = mtb->rearm = mtb->reset_seen = mtb->full = mtb->stopping = false;
	mtb->vtor_known = false;
	mtb->adopted = mtb->fresh = true;
	mtb->phase = ARM_MTB_ARMED;
	if (!still) {
		LOG_INFO("%s: adopted; the core runs: flush, stop or decode captures", mtb->name);
		return ERROR_OK;
	}
	return capture_buffer(mtb, false, &state, why, why_size);
}

bool arm_mtb_get_capture(const struct arm_mtb *mtb, struct itrace_capture *capture)
{
	const struct arm_mtb_capture *own = &mtb->capture;

	memset(capture, 0, sizeof(*capture));
	if (!own->exists)
		return false;
	capture->name = mtb->name;
	capture->protocol = ITRACE_PROTOCOL_MTB;
	if (arm_mtb_has_core(mtb)) {
		const struct cortex_m_common *cortex_m = target_to_cm(mtb->target);
		if (cortex_m->core_info)
			capture->core = cortex_m->core_info->name;
	}
	capture->mtb = own->regs;
	capture->bytes = own->bytes;
	capture->len = own->len;
	capture->seams = own->seams;
	capture->seam_count = own->seam_count;
	capture->elfs = (const char *const *)mtb->config.elfs;
	capture->elf_count = mtb->config.elf_count;
	return true;
}

/* ---- in the background ---- */

static struct arm_mtb *draining_of(const struct target *target)
{
	struct arm_mtb *mtb;

	list_for_each_entry(mtb, &all_mtb, lh)
		if (mtb->target_poll && mtb->target == target)
			return mtb;
	return NULL;
}

/* In place of the target's own poll: a halt that is the buffer's is nobody else's business. */
static int poll_draining(struct target *target)
{
	struct arm_mtb *mtb = draining_of(target);

	if (!mtb)
		return ERROR_FAIL;
	const uint64_t fillings = mtb->drain.fillings;
	const bool done = arm_mtb_drain_poll(&mtb->drain);
	if (mtb->drain.fillings != fillings)
		take_drained(mtb);
	return done ? ERROR_OK : mtb->target_poll(target);
}

/* Scripts of reset are in charge of the target. */
static bool is_masked(void)
{
	const bool saved = jtag_poll_mask();

	jtag_poll_unmask(saved);
	return !saved;
}

static void rearm_after_reset(struct arm_mtb *mtb);

static int tick(void *priv)
{
	struct arm_mtb *mtb = priv;

	/* a buffer that is full before OpenOCD has seen the core run again would be a halt that it sees */
	if (mtb->rearm && !is_masked() && !(mtb->target_poll && mtb->target->state == TARGET_RESET))
		rearm_after_reset(mtb);
	/* anything else is for OpenOCD's own poll, which comes ten times a second */
	if (mtb->target_poll && mtb->target->state != TARGET_HALTED && is_jtag_poll_safe() &&
			timeval_ms() >= mtb->retry_at) {
		const uint64_t fillings = mtb->drain.fillings;
		if (!arm_mtb_drain_poll(&mtb->drain))
			mtb->retry_at = timeval_ms() + RETRY_MS;
		if (mtb->drain.fillings != fillings)
			take_drained(mtb);
	}
	return ERROR_OK;
}

static void set_ticking(struct arm_mtb *mtb, bool on)
{
	if (on == mtb->ticking)
		return;
	mtb->ticking = on;
	if (on)
		target_register_timer_callback(tick, 1, TARGET_TIMER_TYPE_PERIODIC, mtb);
	else
		target_unregister_timer_callback(tick, mtb);
}

static void start_draining(struct arm_mtb *mtb)
{
	arm_mtb_capture_clear(&mtb->drained);
	mtb->drain.buffer = mtb->buffer;
	mtb->drain.position = mtb->armed.position;
	mtb->drain.master = mtb->armed.master;
	mtb->target_poll = mtb->target->type->poll;
	mtb->target->type->poll = poll_draining;
	set_ticking(mtb, true);
}

static void stop_draining(struct arm_mtb *mtb)
{
	set_ticking(mtb, false);
	if (!mtb->target_poll)
		return;
	mtb->target->type->poll = mtb->target_poll;
	mtb->target_poll = NULL;
}

static void tell_background(struct arm_mtb *mtb, const char *why)
{
	snprintf(mtb->error, sizeof(mtb->error), "%s", why);
	LOG_ERROR("%s", why);
}

/* HALTREQ would halt the core again as soon as it is resumed. */
static int clear_haltreq(struct arm_mtb *mtb, char *why, size_t why_size)
{
	struct arm_mtb_state state;
	int retval = arm_mtb_port_read(&mtb->port, &state);

	if (retval != ERROR_OK)
		return unreadable(mtb, retval, "read", why, why_size);
	if (!(state.master & ARM_MTB_MASTER_HALTREQ))
		return ERROR_OK;
	mtb->full = true;
	retval = arm_mtb_port_set_master(&mtb->port, state.master & ~ARM_MTB_MASTER_HALTREQ, ARM_MTB_MASTER_HALTREQ);
	return retval == ERROR_OK ? ERROR_OK : unreadable(mtb, retval, "written", why, why_size);
}

static void on_halted(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];

	if (mtb->rearm)
		return rearm_after_reset(mtb);
	if (mtb->target_poll) {
		if (arm_mtb_drain_halted(&mtb->drain) != ERROR_OK)
			LOG_ERROR("%s: %s", mtb->name, mtb->drain.error);
		take_drained(mtb);
	} else if (mtb->when_full == ARM_MTB_HALT) {
		if (clear_haltreq(mtb, why, sizeof(why)) != ERROR_OK)
			tell_background(mtb, why);
	}
}

/* Programs that write flash run on the core: they are not what is to be traced. */
static void pause_trace(struct arm_mtb *mtb, bool pause)
{
	char why[ARM_MTB_WHY];
	struct arm_mtb_state state;
	int retval = ERROR_OK;

	if (!pause)
		retval = let_go(mtb, why, sizeof(why));
	else if (!mtb->paused && arm_mtb_port_read(&mtb->port, &state) == ERROR_OK && state.master & ARM_MTB_MASTER_EN)
		retval = hold_still(mtb, false, false, &state, why, sizeof(why));
	if (retval != ERROR_OK)
		tell_background(mtb, why);
}

static int on_target_event(struct target *target, enum target_event event, void *priv)
{
	struct arm_mtb *mtb = priv;

	if (target != mtb->target || mtb->phase != ARM_MTB_ARMED)
		return ERROR_OK;
	switch (event) {
	case TARGET_EVENT_HALTED:
		on_halted(mtb);
		break;
	case TARGET_EVENT_GDB_FLASH_ERASE_START:
	case TARGET_EVENT_GDB_FLASH_WRITE_START:
		pause_trace(mtb, true);
		break;
	case TARGET_EVENT_GDB_FLASH_ERASE_END:
	case TARGET_EVENT_GDB_FLASH_WRITE_END:
		pause_trace(mtb, false);
		break;
	default:
		break;
	}
	return ERROR_OK;
}

/* Before a reset: what led to it is captured, since start-up code may use that RAM. */
static int on_target_reset(struct target *target, enum target_reset_mode mode, void *priv)
{
	struct arm_mtb *mtb = priv;
	struct arm_mtb_state state;
	char why[ARM_MTB_WHY];

	if (target != mtb->target)
		return ERROR_OK;
	mtb->ours = mtb->vtor_known = false;
	if (mtb->phase != ARM_MTB_ARMED)
		mtb->before_known = false;
	if (mtb->phase != ARM_MTB_ARMED || mtb->adopted)
		return ERROR_OK;
	if (target_was_examined(target)) {
		const int retval = mtb->target_poll ? capture_drained(mtb, true, &state, why, sizeof(why)) :
				capture_buffer(mtb, false, &state, why, sizeof(why));
		if (retval != ERROR_OK)
			LOG_WARNING("%s (before the reset)", why);
	}
	mtb->rearm = true;
	set_ticking(mtb, true);
	return ERROR_OK;
}

static void rearm_after_reset(struct arm_mtb *mtb)
{
	char why[ARM_MTB_WHY];

	mtb->rearm = false;
	run_event(mtb, ARM_MTB_RESET);
	arm_mtb_trigger_clear(&mtb->trigger, true);
	compose(mtb);
	if (arm(mtb, why, sizeof(why)) != ERROR_OK) {
		tell_background(mtb, why);
		LOG_ERROR("%s: it could not be armed again after the reset: it is stopped", mtb->name);
		mtb->phase = ARM_MTB_STOPPED;
		stop_draining(mtb);
		return;
	}
	mtb->paused = mtb->full = false;
	/* OpenOCD keeps the reason of a halt over a reset, which has ended that halt */
	if (!is_halted(mtb))
		mtb->target->debug_reason = DBG_REASON_NOTHALTED;
	mtb->reset_seen = true;
	mtb->has_pc_arm = core_pc(mtb, &mtb->pc_arm);
	mtb->drain.uncertain = mtb->drain.release = false;
	set_ticking(mtb, mtb->target_poll);
	LOG_INFO("%s: armed again after the reset", mtb->name);
}

/* ---- objects ---- */

struct arm_mtb *arm_mtb_find(const char *name)
{
	struct arm_mtb *mtb;

	list_for_each_entry(mtb, &all_mtb, lh)
		if (!strcmp(mtb->name, name))
			return mtb;
	return NULL;
}

struct arm_mtb *arm_mtb_new(Jim_Interp *interp, const char *name, struct target *target, char *why, size_t why_size)
{
	static const char *const types[] = { "cortex_m", "hla_target", "mem_ap" };
	bool known = false;

	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		known |= !strcmp(target_type_name(target), types[i]);
	if (!known) {
		snprintf(why, why_size, "%s: target %s is %s; an MTB needs cortex_m, hla_target or mem_ap", name,
				target_name(target), target_type_name(target));
		return NULL;
	}
	struct arm_mtb *mtb = calloc(1, sizeof(*mtb));
	if (mtb)
		mtb->name = strdup(name);
	if (!mtb || !mtb->name) {
		free(mtb);
		snprintf(why, why_size, "%s: out of memory", name);
		return NULL;
	}
	mtb->target = target;
	mtb->interp = interp;
	mtb->port.target = target;
	mtb->decoder.group = mtb->name;
	mtb->decoder.protocol = "mtb";
	list_add_tail(&mtb->lh, &all_mtb);
	target_register_event_callback(on_target_event, mtb);
	target_register_reset_callback(on_target_reset, mtb);
	return mtb;
}

void arm_mtb_free(struct arm_mtb *mtb)
{
	stop_draining(mtb);
	target_unregister_event_callback(on_target_event, mtb);
	target_unregister_reset_callback(on_target_reset, mtb);
	list_del(&mtb->lh);
	for (unsigned int i = 0; i < ARM_MTB_EVENT_NUM; i++)
		if (mtb->config.events[i])
			Jim_DecrRefCount(mtb->interp, mtb->config.events[i]);
	for (size_t i = 0; i < mtb->config.elf_count; i++)
		free(mtb->config.elfs[i]);
	free(mtb->config.elfs);
	free(mtb->config.start);
	free(mtb->config.stop);
	arm_mtb_capture_free(&mtb->capture);
	arm_mtb_capture_free(&mtb->drained);
	free(mtb->decoder.ledger);
	free(mtb->name);
	free(mtb);
}

void arm_mtb_cleanup_all(void)
{
	struct arm_mtb *mtb, *next;

	list_for_each_entry_safe(mtb, next, &all_mtb, lh)
		arm_mtb_free(mtb);
}
