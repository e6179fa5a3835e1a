// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <target/arm_adi_v5.h>
#include <target/armv7m.h>
#include <target/target.h>

#include "mtb_port.h"
#include "ocd_compat.h"

#define CS_DEVARCH	0xfbc
#define CS_DEVTYPE	0xfcc
#define CS_PIDR4	0xfd0
/* so often a doubtful read is repeated */
#define PROOFS_MAX	3u

#define CS_ID_NUM	12u	/* PIDR4 .. 7, PIDR0 .. 3, CIDR0 .. 3 */

#define MTB_ARCHID	0x0a31u
#define MTB_DEVTYPE	0x31u
#define MTB_PART_M0	0x9a3u	/* on Cortex-M0: another model, of which no description is public */

/* By which accesses can be queued; NULL: each one is an exchange of its own. */
static struct adiv5_ap *access_port(struct target *target)
{
	return strcmp(target_type_name(target), "cortex_m") ? NULL : target_to_armv7m(target)->debug_ap;
}

bool arm_mtb_port_find_ap(struct target *target, struct adiv5_dap **dap, uint64_t *ap_num)
{
	const struct adiv5_ap *ap = access_port(target);
	const struct adiv5_private_config *config = target->private_config;

	if (ap) {
		*dap = ap->dap;
		*ap_num = ap->ap_num;
		return true;
	}
	if (strcmp(target_type_name(target), "mem_ap") || !config)
		return false;
	*dap = config->dap;
	*ap_num = config->ap_num;
	return true;
}

void arm_mtb_port_resync(struct target *target)
{
	struct adiv5_dap *dap;
	uint64_t ap_num;

	if (arm_mtb_port_find_ap(target, &dap, &ap_num))
		dap_invalidate_cache(dap);
}

int arm_mtb_port_read_word(struct target *target, target_addr_t addr, uint32_t *value)
{
	arm_mtb_port_resync(target);
	return target_read_u32(target, addr, value);
}

int arm_mtb_port_write_word(struct target *target, target_addr_t addr, uint32_t value)
{
	arm_mtb_port_resync(target);
	return target_write_u32(target, addr, value);
}

int arm_mtb_port_read_still_word(struct target *target, target_addr_t addr, uint32_t mask, uint32_t *value)
{
	uint32_t last = 0;

	for (unsigned int i = 0; i <= PROOFS_MAX; i++) {
		const int retval = arm_mtb_port_read_word(target, addr, value);
		if (retval != ERROR_OK)
			return retval;
		if (i && !((*value ^ last) & mask))
			return ERROR_OK;
		last = *value;
	}
	return ERROR_FAIL;
}

/* Reading changes nothing in an MTB or in RAM, so that a disturbed transfer can be repeated. */
static int read_again(const struct arm_mtb_port *port, target_addr_t addr, uint32_t count, uint8_t *bytes)
{
	int retval = ERROR_FAIL;

	/* what a lost exchange leaves alone must not look like an answer */
	memset(bytes, 0, 4 * (size_t)count);
	for (unsigned int i = 0; i < 2 && retval != ERROR_OK; i++) {
		arm_mtb_port_resync(port->target);
		retval = target_read_memory(port->target, addr, 4, count, bytes);
	}
	return retval;
}

/* Is what is read really from there? */
static int prove_link(const struct arm_mtb_port *port)
{
	uint8_t devarch[4];

	for (unsigned int i = 0; i < 2; i++) {
		const int retval = read_again(port, port->base + CS_DEVARCH, 1, devarch);
		if (retval != ERROR_OK)
			return retval;
		if (target_buffer_get_u32(port->target, devarch) == port->devarch)
			return ERROR_OK;
	}
	return ERROR_FAIL;
}

static bool has_zero_word(const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += 4)
		if (!(bytes[i] | bytes[i + 1] | bytes[i + 2] | bytes[i + 3]))
			return true;
	return false;
}

int arm_mtb_port_read_packets(const struct arm_mtb_port *port, target_addr_t addr, uint8_t *bytes, uint32_t len)
{
	int retval = read_again(port, addr, len / 4, bytes);

	if (retval != ERROR_OK || !has_zero_word(bytes, len))
		return retval;

	uint8_t *before = malloc(len);
	if (!before)
		return ERROR_FAIL;
	for (unsigned int i = 0; i < PROOFS_MAX; i++) {
		memcpy(before, bytes, len);
		retval = prove_link(port);
		if (retval == ERROR_OK)
			retval = read_again(port, addr, len / 4, bytes);
		if (retval != ERROR_OK || !has_zero_word(bytes, len) || !memcmp(before, bytes, len))
			break;
		retval = ERROR_FAIL;
	}
	free(before);
	return retval;
}

static int read_state(const struct arm_mtb_port *port, struct arm_mtb_state *state)
{
	uint8_t bytes[16];
	int retval = read_again(port, port->base + ARM_MTB_POSITION, 4, bytes);

	if (retval != ERROR_OK)
		return retval;
	state->position = target_buffer_get_u32(port->target, bytes);
	state->master = target_buffer_get_u32(port->target, bytes + 4);
	state->flow = target_buffer_get_u32(port->target, bytes + 8);
	state->base = target_buffer_get_u32(port->target, bytes + 12);
	return ERROR_OK;
}

/* What a core that runs does not change, but by filling the buffer. */
static bool is_same(const struct arm_mtb_state *a, const struct arm_mtb_state *b)
{
	return a->base == b->base && a->master == b->master && a->flow == b->flow;
}

/* Without a queue: what is read last proves the rest only if nothing was lost in between. */
static int read_unqueued(const struct arm_mtb_port *port, struct arm_mtb_state *state)
{
	for (unsigned int i = 0; i < PROOFS_MAX; i++) {
		const struct arm_mtb_state last = *state;
		int retval = read_state(port, state);
		if (retval != ERROR_OK)
			return retval;
		/* before BASE is known: two times the same, with a proof in between */
		if (port->ram_base ? state->base == port->ram_base : i && port->devarch && is_same(&last, state))
			return ERROR_OK;
		/* the first time, and where BASE reads 0 */
		retval = prove_link(port);
		if (retval != ERROR_OK)
			return retval;
	}
	return ERROR_FAIL;
}

/*
 * DEVARCH comes last, as the next access of others can go where the access port stands if one was lost, and that must
 * not be a register that counts.
 */
int arm_mtb_port_run(const struct arm_mtb_port *port, struct arm_mtb_batch *batch)
{
	uint32_t devarch;

	arm_mtb_batch_read(batch, port->base + CS_DEVARCH, &devarch);
	const int retval = arm_mtb_batch_run(batch);
	return retval == ERROR_OK && devarch != port->devarch ? ERROR_FAIL : retval;
}

bool arm_mtb_port_begin(const struct arm_mtb_port *port, struct arm_mtb_batch *batch)
{
	struct adiv5_ap *ap = access_port(port->target);

	arm_mtb_batch_begin(batch, ap);
	return ap;
}

void arm_mtb_port_add_write(const struct arm_mtb_port *port, struct arm_mtb_batch *batch, unsigned int offset,
		uint32_t value)
{
	arm_mtb_batch_write(batch, port->base + offset, value);
}

void arm_mtb_port_add_state(const struct arm_mtb_port *port, struct arm_mtb_batch *batch, struct arm_mtb_state *state)
{
	arm_mtb_batch_read(batch, port->base + ARM_MTB_POSITION, &state->position);
	arm_mtb_batch_read(batch, port->base + ARM_MTB_MASTER, &state->master);
	arm_mtb_batch_read(batch, port->base + ARM_MTB_FLOW, &state->flow);
	arm_mtb_batch_read(batch, port->base + ARM_MTB_BASE, &state->base);
}

/* Words from register @a first on, then all registers. */
static int exchange(const struct arm_mtb_port *port, unsigned int first, const uint32_t *words, unsigned int count,
		struct arm_mtb_state *state)
{
	struct arm_mtb_batch batch;

	arm_mtb_port_begin(port, &batch);
	for (unsigned int i = 0; i < count; i++)
		arm_mtb_port_add_write(port, &batch, first + 4 * i, words[i]);
	arm_mtb_port_add_state(port, &batch, state);
	return arm_mtb_port_run(port, &batch);
}

int arm_mtb_port_read(const struct arm_mtb_port *port, struct arm_mtb_state *state)
{
	int retval = ERROR_FAIL;

	if (!access_port(port->target))
		return read_unqueued(port, state);
	for (unsigned int i = 0; i < PROOFS_MAX && retval != ERROR_OK; i++)
		retval = exchange(port, 0, NULL, 0, state);
	return retval;
}

static int write_words(const struct arm_mtb_port *port, unsigned int offset, const uint32_t *words, unsigned int count)
{
	uint8_t bytes[12];

	for (unsigned int i = 0; i < count; i++)
		target_buffer_set_u32(port->target, bytes + 4 * i, words[i]);
	arm_mtb_port_resync(port->target);
	return target_write_memory(port->target, port->base + offset, 4, count, bytes);
}

/* Words from register @a first on, and how all read then. Whether a failure left something written shows there too. */
static int put(const struct arm_mtb_port *port, unsigned int first, const uint32_t *words, unsigned int count,
		struct arm_mtb_state *state)
{
	const bool queues = access_port(port->target);
	const int retval = queues ? exchange(port, first, words, count, state) : write_words(port, first, words, count);

	return retval == ERROR_OK && queues ? ERROR_OK : arm_mtb_port_read(port, state);
}

int arm_mtb_port_put(const struct arm_mtb_port *port, const struct arm_mtb_state *should, struct arm_mtb_state *state)
{
	const uint32_t words[] = { should->position, should->master, should->flow };

	return put(port, ARM_MTB_POSITION, words, ARRAY_SIZE(words), state);
}

int arm_mtb_port_put_flow(const struct arm_mtb_port *port, uint32_t master, uint32_t flow, struct arm_mtb_state *state)
{
	const uint32_t words[] = { master, flow };

	return put(port, ARM_MTB_MASTER, words, ARRAY_SIZE(words), state);
}

int arm_mtb_port_put_master(const struct arm_mtb_port *port, uint32_t master, struct arm_mtb_state *state)
{
	return put(port, ARM_MTB_MASTER, &master, 1, state);
}

int arm_mtb_port_write_u32(const struct arm_mtb_port *port, unsigned int offset, uint32_t value)
{
	return write_words(port, offset, &value, 1);
}

int arm_mtb_port_set_master(const struct arm_mtb_port *port, uint32_t master, uint32_t mask)
{
	struct arm_mtb_state state;

	for (unsigned int i = 0; i < 2; i++) {
		int retval = arm_mtb_port_put_master(port, master, &state);
		if (retval != ERROR_OK)
			return retval;
		if (!((state.master ^ master) & mask))
			return ERROR_OK;
	}
	return ERROR_FAIL;
}

/* It may tell of a trace that is to be kept: see that it is back. */
static int restore_position(const struct arm_mtb_port *port, uint32_t position)
{
	uint8_t bytes[4];
	int retval = ERROR_FAIL;

	for (unsigned int i = 0; i < PROOFS_MAX; i++) {
		retval = arm_mtb_port_write_u32(port, ARM_MTB_POSITION, position);
		if (retval == ERROR_OK)
			retval = read_again(port, port->base + ARM_MTB_POSITION, 1, bytes);
		if (retval == ERROR_OK && target_buffer_get_u32(port->target, bytes) == position)
			return ERROR_OK;
	}
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

static int probe_once(const struct arm_mtb_port *port, uint32_t position, unsigned int *aw)
{
	uint8_t bytes[4];
	int retval = arm_mtb_port_write_u32(port, ARM_MTB_POSITION, ARM_MTB_POSITION_POINTER);

	if (retval == ERROR_OK)
		retval = read_again(port, port->base + ARM_MTB_POSITION, 1, bytes);

	const int restored = restore_position(port, position);
	if (retval != ERROR_OK)
		return retval;
	if (restored != ERROR_OK)
		return restored;

	/* ones from bit 3 up, then zeros */
	const uint64_t size = ((uint64_t)target_buffer_get_u32(port->target, bytes) | 7) + 1;
	if (size & (size - 1) || size < 16 || size > UINT64_C(1) << ARM_MTB_AW_MAX)
		return ERROR_FAIL;
	*aw = 0;
	while (UINT64_C(1) << *aw < size)
		(*aw)++;
	return ERROR_OK;
}

int arm_mtb_port_probe_aw(const struct arm_mtb_port *port, uint32_t position, unsigned int *aw)
{
	unsigned int before = 0;
	int retval = ERROR_FAIL;

	/* the same twice: a wrong one would have trace written anywhere */
	for (unsigned int i = 0; i < PROOFS_MAX; i++) {
		retval = probe_once(port, position, aw);
		if (retval != ERROR_OK)
			*aw = 0;
		else if (*aw == before)
			return ERROR_OK;
		before = *aw;
	}
	return retval == ERROR_OK ? ERROR_FAIL : retval;
}

/* ---- identification ---- */

static bool is_coresight(struct target *target, const uint8_t *cidr)
{
	static const uint8_t expected[] = { 0x0d, 0x90, 0x05, 0xb1 };

	for (unsigned int i = 0; i < 4; i++)
		if (target_buffer_get_u32(target, cidr + 4 * i) != expected[i])
			return false;
	return true;
}

static int identify_once(const struct arm_mtb_port *port, struct arm_mtb_id *id, char *why, size_t why_size)
{
	uint8_t ids[4 * CS_ID_NUM], devarch[4], devtype[4];
	struct target *target = port->target;
	int retval = read_again(port, port->base + CS_PIDR4, CS_ID_NUM, ids);

	if (retval == ERROR_OK)
		retval = read_again(port, port->base + CS_DEVARCH, 1, devarch);
	if (retval == ERROR_OK)
		retval = read_again(port, port->base + CS_DEVTYPE, 1, devtype);
	if (retval != ERROR_OK) {
		snprintf(why, why_size, "the ID registers at " TARGET_ADDR_FMT " cannot be read: is this the MTB's -baseaddr, "
				"and has it power and clock (-event pre-enable)?", port->base + CS_PIDR4);
		return retval;
	}

	const uint8_t *pidr0 = ids + 16;
	id->part = (target_buffer_get_u32(target, pidr0) & 0xff) | (target_buffer_get_u32(target, pidr0 + 4) & 0xf) << 8;
	id->devarch = target_buffer_get_u32(target, devarch);
	id->devtype = target_buffer_get_u32(target, devtype);
	if (!is_coresight(target, ids + 32)) {
		snprintf(why, why_size, "no CoreSight component at " TARGET_ADDR_FMT " (CIDR0..3 read 0x%02" PRIx32
				" 0x%02" PRIx32 " 0x%02" PRIx32 " 0x%02" PRIx32 "): give the MTB's address as -baseaddr, or switch on "
				"its clock (-event pre-enable)", port->base, target_buffer_get_u32(target, ids + 32),
				target_buffer_get_u32(target, ids + 36), target_buffer_get_u32(target, ids + 40),
				target_buffer_get_u32(target, ids + 44));
		return ERROR_FAIL;
	}
	if (id->part == MTB_PART_M0 && !id->devarch) {
		snprintf(why, why_size, "the trace unit at " TARGET_ADDR_FMT " is the one of Cortex-M0 parts (PIDR part "
				"0x9a3), not an MTB-M0+, M23 or M33: it cannot be driven", port->base);
		return ERROR_FAIL;
	}
	if ((id->devarch & 0xffff) != MTB_ARCHID || (id->devtype & 0xff) != MTB_DEVTYPE) {
		snprintf(why, why_size, "the component at " TARGET_ADDR_FMT " is no MTB (DEVARCH 0x%08" PRIx32 ", DEVTYPE 0x%02"
				PRIx32 ", part 0x%03x): give the MTB's address as -baseaddr", port->base, id->devarch, id->devtype,
				id->part);
		return ERROR_FAIL;
	}
	return ERROR_OK;
}

int arm_mtb_port_identify(struct arm_mtb_port *port, struct arm_mtb_id *id, char *why, size_t why_size)
{
	int retval = identify_once(port, id, why, why_size);

	if (retval != ERROR_OK)
		retval = identify_once(port, id, why, why_size);
	if (retval == ERROR_OK)
		port->devarch = id->devarch;
	return retval;
}
