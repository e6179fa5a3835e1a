// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <helper/binarybuffer.h>
#include <helper/log.h>
#include <jtag/adapter.h>
#include <jtag/interface.h>
#include <jtag/jtag.h>
#include <target/arm_adi_v5.h>
#include <target/armtrace/ocd_compat.h>
#include <transport/transport.h>

#include "profile_clock.h"
#include "xdm_link.h"

#define TAP_NARSEL	0x1cu
#define TAP_PWRSTAT	0x09u

#define SCAN_BITS_MAX	512u
#define APB_PWRSTAT	0x3024u
#define DAP_ACCESS_TCK	52u	/* a JTAG-DP scan of 35 bits and the clocks behind it, about */
#define DAP_CAPTURES	4u	/* of an access, at most: acknowledge of the address, and that and two parts of the data */
#define DAP_IDLE_MAX	64u	/* accesses that only pass time */
#define FLUSH_MS_MAX	100u	/* a flush must end before clients are missed */
#define KHZ_MAX		200000u
#define MEASURE_TCK_MIN	1024u	/* clocks by which an unknown speed is measured: until they take long enough */
#define MEASURE_TCK_MAX	(1024u * 1024u)
#define MEASURE_NS	4000000u
#define PAUSE_NS	2000000u	/* the host does not take that long to go on */

static const struct {
	uint8_t nar;
	uint16_t apb;
} xdm_regs[XDM_REG_NUM] = {
	[XDM_DEBUGPC] = { 0x0f, 0x003c },
	[XDM_DCRSET] = { 0x43, 0x200c },
	[XDM_DSR] = { 0x44, 0x2010 },
	[XDM_DDR] = { 0x45, 0x2014 },
	[XDM_DIR0EXEC] = { 0x47, 0x201c },
};

/* The last row is for all others. */
static const struct xdm_adapter xdm_adapters[] = {
	{ "jlink", 2048 * 8, 256, 8, 7, true },
	{ "ftdi", 24000, 500, 6, 5, false },
	{ "esp_usb_jtag", 16384, 64, 8, 7, false },
	{ "cmsis-dap", 16384, 64, 8, 7, false },
	{ NULL, 16384, 250, 6, 5, false },
};

static const struct xdm_adapter *xdm_adapter_find(const char *driver)
{
	const struct xdm_adapter *adapter = xdm_adapters;

	while (adapter->driver && strcmp(adapter->driver, driver))
		adapter++;
	return adapter;
}

static struct xdm_core *xdm_link_core_of(struct xdm_link *link, const struct jtag_tap *tap)
{
	for (unsigned int i = 0; i < link->core_count; i++) {
		if (link->cores[i].target->tap == tap)
			return &link->cores[i];
	}
	return NULL;
}

/* Where each core's bits are when all TAPs take part in a scan: the first in the chain is shifted first. */
static void xdm_link_lay_out(struct xdm_link *link)
{
	bool last_is_ours = false;

	for (struct jtag_tap *tap = jtag_tap_next_enabled(NULL); tap; tap = jtag_tap_next_enabled(tap)) {
		struct xdm_core *core = xdm_link_core_of(link, tap);

		last_is_ours = core;
		if (core) {
			core->ir_pos = link->ir_bits;
			core->data8_pos = link->data8_bits;
			core->data32_pos = link->data32_bits;
		}
		link->ir_bits += tap->ir_length;
		link->data8_bits += core ? 8 : 1;
		link->data32_bits += core ? 32 : 1;
	}
	link->dummy_bit = link->adapter->last_bit_apart && last_is_ours;
}

static bool xdm_link_taps_enabled(struct xdm_link *link, char *why, size_t why_size)
{
	for (unsigned int i = 0; i < link->core_count; i++) {
		struct target *target = link->cores[i].target;

		if (!target->tap || target->tap->enabled)
			continue;
		snprintf(why, why_size, "%s: TAP %s is disabled: enable it with 'jtag tapenable', or choose another target",
			target_name(target), target->tap->dotted_name);
		return false;
	}
	return true;
}

static void xdm_link_scan_ir(struct xdm_link *link, uint32_t instruction)
{
	uint8_t out[SCAN_BITS_MAX / 8];

	if (link->kind == XDM_LINK_TAP) {
		struct jtag_tap *tap = link->cores[0].target->tap;
		struct scan_field field = { .num_bits = tap->ir_length, .out_value = out };

		buf_set_u32(out, 0, tap->ir_length, instruction);
		jtag_add_ir_scan(tap, &field, TAP_IDLE);
	} else {
		/* all ones is BYPASS for those that are not ours */
		memset(out, 0xff, sizeof(out));
		for (unsigned int i = 0; i < link->core_count; i++)
			buf_set_u32(out, link->cores[i].ir_pos, link->cores[i].target->tap->ir_length, instruction);
		jtag_add_plain_ir_scan(link->ir_bits, out, NULL, TAP_IDLE);
	}
	link->tck += link->ir_bits + link->adapter->ir_extra;
}

/*
 * A scan that captures, with one bit more behind it where that saves a capture: a driver that fetches the last bit of a
 * scan apart is made to fetch a bit that nobody wants.
 */
static void xdm_link_scan_in(struct xdm_link *link, unsigned int bits, unsigned int chain_bits, uint8_t *in)
{
	uint8_t zeros[SCAN_BITS_MAX / 8] = { 0 };

	if (link->kind == XDM_LINK_TAP) {
		struct scan_field fields[2] = {
			{ .num_bits = bits, .out_value = zeros, .in_value = in },
			{ .num_bits = 1, .out_value = zeros },
		};
		jtag_add_dr_scan(link->cores[0].target->tap, link->dummy_bit ? 2 : 1, fields, TAP_IDLE);
	} else if (link->dummy_bit) {
		jtag_add_plain_dr_scan(chain_bits, zeros, in, TAP_DRSHIFT);
		jtag_add_plain_dr_scan(1, zeros, NULL, TAP_IDLE);
	} else {
		jtag_add_plain_dr_scan(chain_bits, zeros, in, TAP_IDLE);
	}
	link->tck += chain_bits + link->dummy_bit + link->adapter->dr_extra;
}

/* @a values: one for each core */
static void xdm_link_scan_out(struct xdm_link *link, unsigned int bits, unsigned int chain_bits,
		const uint32_t *values)
{
	uint8_t out[SCAN_BITS_MAX / 8] = { 0 };

	if (link->kind == XDM_LINK_TAP) {
		struct scan_field field = { .num_bits = bits, .out_value = out };

		buf_set_u32(out, 0, bits, values[0]);
		jtag_add_dr_scan(link->cores[0].target->tap, 1, &field, TAP_IDLE);
	} else {
		for (unsigned int i = 0; i < link->core_count; i++) {
			const struct xdm_core *core = &link->cores[i];

			buf_set_u32(out, bits == 8 ? core->data8_pos : core->data32_pos, bits, values[i]);
		}
		jtag_add_plain_dr_scan(chain_bits, out, NULL, TAP_IDLE);
	}
	link->tck += chain_bits + link->adapter->dr_extra;
}

static uint32_t xdm_nar_address(enum xdm_reg reg, bool write)
{
	return (uint32_t)xdm_regs[reg].nar << 1 | write;
}

static void xdm_link_note(struct xdm_link *link, int retval)
{
	if (link->error == ERROR_OK)
		link->error = retval;
}

static target_addr_t xdm_core_apb(const struct xdm_core *core, uint32_t offset)
{
	return core->xtensa->dbg_mod.ap_offset + offset;
}

static void xdm_link_dap_read(struct xdm_link *link, uint32_t offset, uint8_t *in)
{
	for (unsigned int i = 0; i < link->core_count; i++) {
		const struct xdm_core *core = &link->cores[i];
		struct adiv5_ap *ap = core->xtensa->dbg_mod.debug_ap;

		/* calloc'd memory and a stride of words: aligned */
		xdm_link_note(link, ap ? mem_ap_read_u32(ap, xdm_core_apb(core, offset), (uint32_t *)(void *)in + i) :
				ERROR_TARGET_NOT_EXAMINED);
	}
	link->tck += DAP_ACCESS_TCK * link->core_count;
}

void xdm_link_begin(struct xdm_link *link)
{
	link->error = ERROR_OK;
	link->tck = 0;
	link->exchange_tck = 0;
	link->read_count = 0;

	if (link->kind == XDM_LINK_DAP)
		return;
	if (link->kind == XDM_LINK_TAPS && !link->flush_count) {
		/* tells OpenOCD that all other TAPs are in BYPASS; a plain scan tells it nothing */
		struct jtag_tap *tap = link->cores[0].target->tap;
		uint8_t out[4] = { 0 };
		struct scan_field field = { .num_bits = tap->ir_length, .out_value = out };

		buf_set_u32(out, 0, tap->ir_length, TAP_NARSEL);
		jtag_add_ir_scan(tap, &field, TAP_IDLE);
		link->tck += link->ir_bits + link->adapter->ir_extra;
	}
	/* the instruction stays for the whole flush, and its update begins the address phase */
	xdm_link_scan_ir(link, TAP_NARSEL);
}

/* One write to each core, to registers of their own. */
static void xdm_link_write_regs(struct xdm_link *link, const enum xdm_reg *regs, const uint32_t *values)
{
	if (link->kind != XDM_LINK_DAP) {
		uint32_t address[XDM_CORES_MAX];

		for (unsigned int i = 0; i < link->core_count; i++)
			address[i] = xdm_nar_address(regs[i], true);
		xdm_link_scan_out(link, 8, link->data8_bits, address);
		xdm_link_scan_out(link, 32, link->data32_bits, values);
		return;
	}

	for (unsigned int i = 0; i < link->core_count; i++) {
		const struct xdm_core *core = &link->cores[i];
		struct adiv5_ap *ap = core->xtensa->dbg_mod.debug_ap;

		xdm_link_note(link, ap ? mem_ap_write_u32(ap, xdm_core_apb(core, xdm_regs[regs[i]].apb), values[i]) :
				ERROR_TARGET_NOT_EXAMINED);
	}
	link->tck += DAP_ACCESS_TCK * link->core_count;
}

void xdm_link_write_each(struct xdm_link *link, enum xdm_reg reg, const uint32_t *values)
{
	enum xdm_reg regs[XDM_CORES_MAX];

	for (unsigned int i = 0; i < link->core_count; i++)
		regs[i] = reg;
	xdm_link_write_regs(link, regs, values);
}

void xdm_link_write(struct xdm_link *link, enum xdm_reg reg, uint32_t value)
{
	uint32_t values[XDM_CORES_MAX];

	for (unsigned int i = 0; i < link->core_count; i++)
		values[i] = value;
	xdm_link_write_each(link, reg, values);
}

void xdm_link_exec_some(struct xdm_link *link, uint32_t insn, const bool *chosen)
{
	enum xdm_reg regs[XDM_CORES_MAX];
	uint32_t words[XDM_CORES_MAX];

	/* a write of 0 to DSR clears nothing: what those do that are not chosen */
	for (unsigned int i = 0; i < link->core_count; i++) {
		regs[i] = chosen[i] ? XDM_DIR0EXEC : XDM_DSR;
		words[i] = chosen[i] ? xdm_insn(link->cores[i].xtensa, insn) : 0;
	}
	xdm_link_write_regs(link, regs, words);
}

void xdm_link_exec(struct xdm_link *link, uint32_t insn)
{
	static const bool all[XDM_CORES_MAX] = { true, true, true, true };

	xdm_link_exec_some(link, insn, all);
}

static uint8_t *xdm_link_new_read(struct xdm_link *link, unsigned int bits)
{
	assert(link->read_count < XDM_READS_MAX);

	struct xdm_read *read = &link->reads[link->read_count];

	read->bits = bits;
	/* a DAP answers with the next scan */
	read->tck = link->tck + (link->kind == XDM_LINK_DAP ? DAP_ACCESS_TCK * link->core_count : 0);
	return link->captured + (size_t)link->read_count++ * link->stride;
}

unsigned int xdm_link_read(struct xdm_link *link, enum xdm_reg reg)
{
	if (link->kind != XDM_LINK_DAP) {
		uint32_t address[XDM_CORES_MAX];

		for (unsigned int i = 0; i < link->core_count; i++)
			address[i] = xdm_nar_address(reg, false);
		xdm_link_scan_out(link, 8, link->data8_bits, address);
	}

	uint8_t *in = xdm_link_new_read(link, 32);

	memset(in, 0, link->stride);
	if (link->kind == XDM_LINK_DAP)
		xdm_link_dap_read(link, xdm_regs[reg].apb, in);
	else
		xdm_link_scan_in(link, 32, link->data32_bits, in);
	return link->read_count - 1;
}

unsigned int xdm_link_read_pwrstat(struct xdm_link *link)
{
	uint8_t *in = xdm_link_new_read(link, link->kind == XDM_LINK_DAP ? 32 : 8);

	memset(in, 0, link->stride);
	if (link->kind == XDM_LINK_DAP) {
		xdm_link_dap_read(link, APB_PWRSTAT, in);
	} else {
		/* what is shifted in clears bits: zeros */
		xdm_link_scan_ir(link, TAP_PWRSTAT);
		xdm_link_scan_in(link, 8, link->data8_bits, in);
		xdm_link_scan_ir(link, TAP_NARSEL);
	}
	return link->read_count - 1;
}

/* There is no idle access in the queue of a DAP: read something, or end the exchange and wait. */
static void xdm_link_dap_idle(struct xdm_link *link, unsigned int tck)
{
	unsigned int count = tck / (DAP_ACCESS_TCK * link->core_count);

	if (count > DAP_IDLE_MAX) {
		xdm_link_split(link);
		profile_clock_wait(xdm_link_tck_to_ns(link, tck));
		link->tck += tck;
		return;
	}
	while (count--)
		xdm_link_dap_read(link, xdm_regs[XDM_DSR].apb, (uint8_t *)link->unused);
}

void xdm_link_idle(struct xdm_link *link, unsigned int tck)
{
	if (!tck)
		return;
	if (link->kind == XDM_LINK_DAP) {
		xdm_link_dap_idle(link, tck);
		return;
	}
	jtag_add_runtest(tck, TAP_IDLE);
	link->tck += tck;
}

void xdm_link_split(struct xdm_link *link)
{
	struct xtensa_debug_module *dm = &link->cores[0].xtensa->dbg_mod;

	if (link->kind == XDM_LINK_DAP) {
		xdm_link_note(link, dap_run(dm->dap));
		link->exchange_tck = link->tck;
		return;
	}
	/*
	 * Some drivers lose an error of what comes before a sleep. The chain is left here as it is left at the end of a
	 * flush, where this one found it: so what follows means the same even if nothing of what came before was done.
	 */
	xtensa_dm_queue_tdi_idle(dm);
	jtag_add_sleep(0);
	link->exchange_tck = link->tck;
	xdm_link_scan_ir(link, TAP_NARSEL);
}

/* From the end of the flush before, @a since_ns: an adapter may work while the host prepares what comes next. */
static void xdm_link_learn_exchange(struct xdm_link *link, uint64_t since_ns)
{
	uint64_t clocks_ns = xdm_link_tck_to_ns(link, link->tck);
	uint64_t took_ns = link->end_ns - since_ns;

	/* a flush that was split, or one after a pause, says nothing of one exchange */
	if (link->exchange_tck || took_ns < clocks_ns || link->begin_ns - since_ns > PAUSE_NS)
		return;
	took_ns -= clocks_ns;
	link->exchange_ns = link->exchange_ns ? (7 * link->exchange_ns + took_ns) / 8 : took_ns;
}

int xdm_link_run(struct xdm_link *link)
{
	struct xtensa_debug_module *dm = &link->cores[0].xtensa->dbg_mod;

	xtensa_dm_queue_tdi_idle(dm);

	uint64_t since_ns = link->end_ns;
	struct profile_signals signals;

	profile_signals_hold(&signals);
	link->begin_ns = profile_clock_ns();
	int retval = xtensa_dm_queue_execute(dm);
	link->end_ns = profile_clock_ns();
	profile_signals_let_go(&signals);
	link->flush_count++;
	if (since_ns)
		xdm_link_learn_exchange(link, since_ns);
	if (retval == ERROR_OK)
		retval = link->error;
	if (retval != ERROR_OK)
		xdm_link_resync(link);
	return retval;
}

void xdm_link_resync(const struct xdm_link *link)
{
	struct adiv5_dap *dap = link->cores[0].xtensa->dbg_mod.dap;

	if (!dap)
		return;
	/* reached from every state, and no register of a DP is changed by it */
	if (transport_is_jtag()) {
		jtag_add_tlr();
		jtag_execute_queue();
	}
	dap_dp_init_or_reconnect(dap);
}

uint32_t xdm_link_value(const struct xdm_link *link, unsigned int read, unsigned int core)
{
	const uint8_t *in = link->captured + (size_t)read * link->stride;
	unsigned int bits = link->reads[read].bits;
	uint32_t word;

	switch (link->kind) {
	case XDM_LINK_DAP:
		memcpy(&word, in + 4 * core, sizeof(word));
		return word;
	case XDM_LINK_TAPS:
		return buf_get_u32(in, bits == 8 ? link->cores[core].data8_pos : link->cores[core].data32_pos, bits);
	default:
		return buf_get_u32(in, 0, bits);
	}
}

unsigned int xdm_link_access_tck(const struct xdm_link *link)
{
	if (link->kind == XDM_LINK_DAP)
		return DAP_ACCESS_TCK * link->core_count;
	return link->data8_bits + link->data32_bits + 2 * link->adapter->dr_extra;
}

unsigned int xdm_link_room(const struct xdm_link *link)
{
	unsigned int used = link->tck - link->exchange_tck;

	return used < link->room_tck ? link->room_tck - used : 0;
}

static bool xdm_link_is_uniform(struct xdm_link *link, char *why, size_t why_size)
{
	for (unsigned int i = 1; i < link->core_count; i++) {
		if (link->cores[i].xtensa->dbg_mod.dap == link->cores[0].xtensa->dbg_mod.dap)
			continue;
		snprintf(why, why_size, "%s and %s are not on the same DAP or the same scan chain: sample them one by one",
			target_name(link->cores[0].target), target_name(link->cores[i].target));
		return false;
	}
	return true;
}

/* Pass @a tck clocks in a flush: behind a DAP by reads, for that has no idle clocks of its own. */
static void xdm_link_pass_clocks(struct xdm_link *link, unsigned int tck)
{
	if (link->kind != XDM_LINK_DAP) {
		xdm_link_idle(link, tck);
		return;
	}
	while (link->tck < tck)
		xdm_link_dap_read(link, xdm_regs[XDM_DSR].apb, (uint8_t *)link->unused);
}

/*
 * Pass @a tck clocks, in flushes of a usual size with a read at the end of each: a driver that only sends does not wait
 * for the clocks, and its socket may get full.
 * @returns how long that takes beside @a flush_ns for each flush: the shortest of some, nanoseconds; UINT64_MAX: it
 * fails
 */
static uint64_t xdm_link_time_clocks(struct xdm_link *link, unsigned int tck, uint64_t flush_ns)
{
	uint64_t shortest = UINT64_MAX;

	for (unsigned int i = 0; i < 3; i++) {
		unsigned int left = tck;
		uint64_t ns = 0;

		do {
			unsigned int piece = left < link->adapter->flush_tck ? left : link->adapter->flush_tck;

			xdm_link_begin(link);
			xdm_link_pass_clocks(link, piece);
			xdm_link_read(link, XDM_DSR);
			if (xdm_link_run(link) != ERROR_OK)
				return UINT64_MAX;

			uint64_t took_ns = link->end_ns - link->begin_ns;

			ns += took_ns > flush_ns ? took_ns - flush_ns : 0;
			left -= piece;
		} while (left);
		if (ns < shortest)
			shortest = ns;
	}
	return shortest;
}

/*
 * Of adapters that do not know their speed: with an adaptive clock, or when there is nothing to be set.
 * @returns kHz, or 0: the adapter fails
 */
static unsigned int xdm_link_measure_khz(struct xdm_link *link)
{
	uint64_t flush_ns = xdm_link_time_clocks(link, 0, 0);

	if (flush_ns == UINT64_MAX)
		return 0;

	for (unsigned int tck = MEASURE_TCK_MIN; tck <= MEASURE_TCK_MAX; tck *= 4) {
		uint64_t ns = xdm_link_time_clocks(link, tck, flush_ns);

		if (ns == UINT64_MAX)
			return 0;
		if (ns > MEASURE_NS) {
			uint64_t khz = tck * UINT64_C(1000000) / ns;

			return khz > KHZ_MAX ? KHZ_MAX : khz > 0 ? khz : 1;
		}
	}
	return KHZ_MAX;
}

/* @returns false when the adapter fails */
static bool xdm_link_learn_speed(struct xdm_link *link)
{
	int khz = 0;

	link->room_tck = link->adapter->flush_tck;
	/* an error in the first of several exchanges may get lost in the adapter's driver: one is all there should be */
	if (link->kind == XDM_LINK_DAP && link->room_tck > link->adapter->flush_reads / DAP_CAPTURES * DAP_ACCESS_TCK)
		link->room_tck = link->adapter->flush_reads / DAP_CAPTURES * DAP_ACCESS_TCK;
	if (adapter_driver->khz && adapter_driver->speed_div && adapter_get_speed_readable(&khz) == ERROR_OK && khz > 0) {
		link->khz = khz;
	} else {
		link->is_khz_measured = true;
		link->khz = KHZ_MAX;
		link->khz = xdm_link_measure_khz(link);
	}
	if (link->room_tck > link->khz * FLUSH_MS_MAX)
		link->room_tck = link->khz * FLUSH_MS_MAX;
	return link->khz;
}

int xdm_link_open(struct xdm_link *link, struct target *const *targets, unsigned int count, char *why,
		size_t why_size)
{
	memset(link, 0, sizeof(*link));
	link->core_count = count;
	for (unsigned int i = 0; i < count; i++) {
		link->cores[i].target = targets[i];
		link->cores[i].xtensa = target_to_xtensa(targets[i]);
	}

	if (!adapter_driver) {
		snprintf(why, why_size, "no adapter: choose one with 'adapter driver'");
		return ERROR_FAIL;
	}
	if (!xdm_link_taps_enabled(link, why, why_size) || !xdm_link_is_uniform(link, why, why_size))
		return ERROR_FAIL;

	link->adapter = xdm_adapter_find(adapter_driver->name);
	if (link->cores[0].xtensa->dbg_mod.dap) {
		link->kind = XDM_LINK_DAP;
		link->stride = 4 * count;
	} else {
		link->kind = count > 1 ? XDM_LINK_TAPS : XDM_LINK_TAP;
		xdm_link_lay_out(link);
		link->stride = link->kind == XDM_LINK_TAP ? 4 : DIV_ROUND_UP(link->data32_bits, 8);
		if (link->data32_bits > SCAN_BITS_MAX || link->ir_bits > SCAN_BITS_MAX) {
			snprintf(why, why_size, "the scan chain is too long: %u bits, at most %u can be used",
				link->data32_bits, SCAN_BITS_MAX);
			return ERROR_FAIL;
		}
	}

	link->captured = calloc(XDM_READS_MAX, link->stride);
	if (!link->captured) {
		snprintf(why, why_size, "out of memory");
		return ERROR_FAIL;
	}
	if (!xdm_link_learn_speed(link)) {
		snprintf(why, why_size, "the adapter reports an error: check cable and 'adapter speed'");
		return ERROR_FAIL;
	}
	return ERROR_OK;
}

void xdm_link_close(struct xdm_link *link)
{
	free(link->captured);
	link->captured = NULL;
}
