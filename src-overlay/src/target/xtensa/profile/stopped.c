// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <string.h>

#include <helper/log.h>

#include "profile_clock.h"
#include "stopped.h"

#define RELEASE_NS	UINT64_C(1000000000)	/* for letting go what stands */
#define GONE_NS		UINT64_C(100000000)	/* for power to come back */
#define RESTORE_TRIES	3u
#define RELEASE_SILENT	3u	/* so many failures in a row: an adapter may take seconds for each */

/* Number of the EPC that holds the PC of a core that stands. */
static uint32_t stopped_epc(const struct sampling *sampling)
{
	return XDM_SR_EPC(sampling->link.cores[0].xtensa->core_config->debug.irq_level);
}

void stopped_queue_clear(struct sampling *sampling)
{
	xdm_link_write(&sampling->link, XDM_DSR, XDM_DSR_CAUSES);
}

unsigned int stopped_queue_sample(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;

	/*                                                          a3  DDR */
	xdm_link_exec(link, XDM_INSN_XSR_A3(XDM_SR_DDR));		/* old A3  */
	xdm_link_exec(link, XDM_INSN_RSR_A3(stopped_epc(sampling)));	/* PC  A3  */
	xdm_link_exec(link, XDM_INSN_XSR_A3(XDM_SR_DDR));		/* A3  PC  */

	unsigned int pc = xdm_link_read(link, XDM_DDR);

	xdm_link_exec(link, XDM_INSN_RFDO);
	return pc;
}

/*
 * A window that does not fit into the adapter's buffer: the time between two exchanges passes too, so it is split on
 * purpose, and that time is counted in.
 */
uint64_t stopped_queue_run(struct sampling *sampling, uint64_t ns)
{
	struct xdm_link *link = &sampling->link;
	uint64_t gap_ns = link->exchange_ns;
	uint64_t passed_ns = 0;

	while (ns > passed_ns) {
		unsigned int tail = 4 * xdm_link_access_tck(link);
		unsigned int room = xdm_link_room(link);
		uint64_t tck = xdm_link_ns_to_tck(link, ns - passed_ns);

		room = room > tail ? room - tail : 0;
		if (tck <= room) {
			xdm_link_idle(link, tck);
			return ns;
		}
		/* one more exchange: idle here what its gap leaves to do, as much as fits */
		tck = ns - passed_ns > gap_ns ? xdm_link_ns_to_tck(link, ns - passed_ns - gap_ns) : 0;
		if (tck > room)
			tck = room;
		xdm_link_idle(link, tck);
		xdm_link_split(link);
		passed_ns += xdm_link_tck_to_ns(link, tck) + gap_ns;
		if (!tck && !gap_ns)
			break;
	}
	return passed_ns;
}

enum xdm_evidence stopped_evidence(const struct sampling *sampling, unsigned int read)
{
	static const unsigned int badness[XDM_EVIDENCE_NUM] = {
		[XDM_OURS] = 0, [XDM_RUNS] = 1, [XDM_FOREIGN] = 2, [XDM_FAULTED] = 3, [XDM_GONE] = 4,
	};
	enum xdm_evidence worst = XDM_OURS;

	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		enum xdm_evidence evidence = xdm_evidence(xdm_link_value(&sampling->link, read, i));

		if (badness[evidence] > badness[worst])
			worst = evidence;
	}
	return worst;
}

/* The core that read number @a read (of DSR) says @a evidence of. */
static unsigned int stopped_core_of(const struct sampling *sampling, enum xdm_evidence evidence, unsigned int read)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		if (xdm_evidence(xdm_link_value(&sampling->link, read, i)) == evidence)
			return i;
	}
	return 0;
}

void stopped_end_for(struct sampling *sampling, enum xdm_evidence evidence, unsigned int read)
{
	unsigned int core = stopped_core_of(sampling, evidence, read);
	const char *name = target_name(sampling->link.cores[core].target);
	uint32_t dsr = xdm_link_value(&sampling->link, read, core);

	switch (evidence) {
	case XDM_GONE:
		sampling_stop(sampling, SAMPLING_POWER,
			"%s: the debug module does not answer (DSR reads 0x%08" PRIx32 "): check power and cable", name, dsr);
		break;
	case XDM_FAULTED:
		sampling_stop(sampling, SAMPLING_FAULT, "%s: an injected instruction faulted (DSR 0x%08" PRIx32 "), its a3 "
			"may have been changed", name, dsr);
		break;
	case XDM_FOREIGN:
		sampling_stop(sampling, SAMPLING_STOPPED, "%s was stopped by something else: breakpoint, watchpoint or "
			"another core (DSR 0x%08" PRIx32 ")", name, dsr);
		break;
	default:
		break;
	}
}

void stopped_judge(struct sampling *sampling, unsigned int read)
{
	enum xdm_evidence evidence = stopped_evidence(sampling, read);
	uint64_t now = sampling->link.end_ns;

	sampling->stopped = evidence == XDM_OURS;
	if (evidence == XDM_OURS)
		return;
	if (evidence != XDM_RUNS) {
		stopped_end_for(sampling, evidence, read);
		return;
	}
	if (now - sampling->asked_ns > SAMPLING_STOP_MS * UINT64_C(1000000)) {
		unsigned int core = stopped_core_of(sampling, XDM_RUNS, read);

		sampling_stop(sampling, SAMPLING_STUCK, "%s did not stop within %u ms: it runs at an interrupt level that "
			"masks debug interrupts, or its clock is off", target_name(sampling->link.cores[core].target),
			SAMPLING_STOP_MS);
	}
}

/* The cores must have the registers that are used here. */
static int stopped_check_cores(struct sampling *sampling)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		const struct xtensa_config *config = sampling->link.cores[i].xtensa->core_config;
		unsigned int level = config->debug.irq_level;

		/* one instruction word goes to all cores */
		if (config->core_type == XT_LX && level >= 2 && level <= 7 && XDM_SR_EPC(level) == stopped_epc(sampling))
			continue;
		snprintf(sampling->why, sizeof(sampling->why), "%s is no LX core with a debug level ('xtensa xtdef', "
			"'xtensa xtopt debuglevel')", target_name(sampling->link.cores[i].target));
		return ERROR_NOT_IMPLEMENTED;
	}
	return ERROR_OK;
}

int stopped_stop(struct sampling *sampling)
{
	struct xdm_link *link = &sampling->link;
	int checked = stopped_check_cores(sampling);

	if (checked != ERROR_OK)
		return checked;

	xdm_link_begin(link);
	/* faults of the past must not be taken for ours */
	xdm_link_write(link, XDM_DSR, XDM_DSR_CAUSES | XDM_DSR_FAULTS);

	unsigned int before = xdm_link_read(link, XDM_DSR);

	xdm_link_write(link, XDM_DCRSET, XDM_DCR_STOP);

	unsigned int dsr = xdm_link_read(link, XDM_DSR);
	int retval = xdm_link_run(link);

	sampling->asked_ns = link->end_ns;
	if (retval == ERROR_OK && stopped_evidence(sampling, before) == XDM_GONE)
		stopped_end_for(sampling, XDM_GONE, before);

	while (retval == ERROR_OK && sampling->end == SAMPLING_GOES_ON) {
		stopped_judge(sampling, dsr);
		if (sampling->stopped || sampling->end != SAMPLING_GOES_ON)
			break;
		keep_alive();
		xdm_link_begin(link);
		dsr = xdm_link_read(link, XDM_DSR);
		retval = xdm_link_run(link);
	}

	if (retval != ERROR_OK)
		sampling_stop(sampling, SAMPLING_LINK, "the adapter failed while the core was to be stopped");
	if (sampling->end == SAMPLING_GOES_ON) {
		sampling->stop_ns = link->end_ns;
		return ERROR_OK;
	}
	stopped_release(sampling);
	return ERROR_FAIL;
}

unsigned int stopped_queue_read_a3(struct sampling *sampling)
{
	xdm_link_exec(&sampling->link, XDM_INSN_WSR_A3(XDM_SR_DDR));
	return xdm_link_read(&sampling->link, XDM_DDR);
}

unsigned int stopped_queue_read_pc(struct sampling *sampling)
{
	xdm_link_exec(&sampling->link, XDM_INSN_RSR_A3(stopped_epc(sampling)));
	return stopped_queue_read_a3(sampling);
}

void stopped_queue_write_a3(struct sampling *sampling, const uint32_t *a3)
{
	xdm_link_write_each(&sampling->link, XDM_DDR, a3);
	xdm_link_exec(&sampling->link, XDM_INSN_RSR_A3(XDM_SR_DDR));
}

static bool stopped_same(const struct sampling *sampling, unsigned int read, const uint32_t *values)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++) {
		if (xdm_link_value(&sampling->link, read, i) != values[i])
			return false;
	}
	return true;
}

static void stopped_values(const struct sampling *sampling, unsigned int read, uint32_t *values)
{
	for (unsigned int i = 0; i < sampling->link.core_count; i++)
		values[i] = xdm_link_value(&sampling->link, read, i);
}

/* Run what was queued. @returns whether all cores then stand by our request and nothing faulted, by read @a dsr. */
static bool stopped_run_sound(struct sampling *sampling, unsigned int dsr)
{
	return xdm_link_run(&sampling->link) == ERROR_OK && stopped_evidence(sampling, dsr) == XDM_OURS;
}

static bool stopped_restore(struct sampling *sampling, const uint32_t *a3)
{
	struct xdm_link *link = &sampling->link;

	xdm_link_begin(link);
	xdm_link_write(link, XDM_DSR, XDM_DSR_FAULTS);
	stopped_queue_write_a3(sampling, a3);
	unsigned int restored = stopped_queue_read_a3(sampling);
	unsigned int dsr = xdm_link_read(link, XDM_DSR);

	return stopped_run_sound(sampling, dsr) && stopped_same(sampling, restored, a3);
}

/* When even that fails: the cores are not to run with a wrong a3; they stay as they are, for the user to mend. */
static bool stopped_restore_or_leave(struct sampling *sampling, const uint32_t *a3)
{
	for (unsigned int i = 0; i < RESTORE_TRIES; i++) {
		if (stopped_restore(sampling, a3))
			return true;
	}

	sampling->is_left_standing = true;
	for (unsigned int i = 0; i < sampling->link.core_count; i++)
		sampling_warn(sampling, "%s is left standing, its a3 is to be 0x%08" PRIx32 ": write it before you resume",
			target_name(sampling->link.cores[i].target), a3[i]);
	return false;
}

/* The slow way: a3 and PC by WSR and RSR, a3 known here before it is changed. */
static bool stopped_read_slowly(struct sampling *sampling, uint32_t *a3, uint32_t *pc)
{
	struct xdm_link *link = &sampling->link;

	xdm_link_begin(link);
	unsigned int saved = stopped_queue_read_a3(sampling);
	unsigned int dsr = xdm_link_read(link, XDM_DSR);

	if (!stopped_run_sound(sampling, dsr))
		return false;
	stopped_values(sampling, saved, a3);

	xdm_link_begin(link);
	unsigned int at = stopped_queue_read_pc(sampling);

	stopped_queue_write_a3(sampling, a3);
	unsigned int restored = stopped_queue_read_a3(sampling);

	dsr = xdm_link_read(link, XDM_DSR);
	if (!stopped_run_sound(sampling, dsr) || !stopped_same(sampling, restored, a3)) {
		stopped_restore_or_leave(sampling, a3);
		return false;
	}
	stopped_values(sampling, at, pc);
	return true;
}

/* The fast way, once: does it give the same PC and leave a3 alone? */
static bool stopped_swap_works(struct sampling *sampling, const uint32_t *a3, const uint32_t *pc)
{
	struct xdm_link *link = &sampling->link;
	uint32_t stale[XDM_CORES_MAX];

	/* what DDR holds before must not look like a result */
	for (unsigned int i = 0; i < link->core_count; i++)
		stale[i] = ~a3[i] == pc[i] ? a3[i] ^ 0x55555555 : ~a3[i];

	xdm_link_begin(link);
	xdm_link_write_each(link, XDM_DDR, stale);
	xdm_link_exec(link, XDM_INSN_XSR_A3(XDM_SR_DDR));
	xdm_link_exec(link, XDM_INSN_RSR_A3(stopped_epc(sampling)));
	xdm_link_exec(link, XDM_INSN_XSR_A3(XDM_SR_DDR));
	unsigned int at = xdm_link_read(link, XDM_DDR);
	unsigned int after = stopped_queue_read_a3(sampling);
	unsigned int dsr = xdm_link_read(link, XDM_DSR);

	return stopped_run_sound(sampling, dsr) && stopped_same(sampling, at, pc) && stopped_same(sampling, after, a3);
}

static int stopped_read_registers(struct sampling *sampling, uint32_t *a3, uint32_t *pc)
{
	if (stopped_read_slowly(sampling, a3, pc))
		return ERROR_OK;
	sampling_stop(sampling, SAMPLING_FAULT, "%s: registers cannot be read through DDR",
		target_name(sampling->target));
	return ERROR_FAIL;
}

int stopped_register_test(struct sampling *sampling)
{
	uint32_t a3[XDM_CORES_MAX];
	uint32_t pc[XDM_CORES_MAX];

	return stopped_read_registers(sampling, a3, pc);
}

int stopped_self_test(struct sampling *sampling)
{
	uint32_t a3[XDM_CORES_MAX];
	uint32_t pc[XDM_CORES_MAX];

	if (stopped_read_registers(sampling, a3, pc) != ERROR_OK)
		return ERROR_FAIL;
	if (stopped_swap_works(sampling, a3, pc)) {
		sampling->failed_swap = false;
		return ERROR_OK;
	}

	sampling->failed_swap = true;
	if (!stopped_restore_or_leave(sampling, a3)) {
		sampling_stop(sampling, SAMPLING_FAULT, "%s: a3 could not be restored after XSR.DDR failed",
			target_name(sampling->target));
		return ERROR_FAIL;
	}
	return ERROR_OK;
}

/*
 * One look at all cores and one act on those that need it; @a gone: a module does not answer.
 * @returns true when nothing is left to do
 */
static bool stopped_release_step(struct sampling *sampling, bool *answered, bool *gone)
{
	struct xdm_link *link = &sampling->link;
	uint32_t clear[XDM_CORES_MAX] = { 0 };
	bool ours[XDM_CORES_MAX] = { false };
	bool done = true;

	xdm_link_begin(link);
	unsigned int read = xdm_link_read(link, XDM_DSR);

	*gone = false;
	*answered = xdm_link_run(link) == ERROR_OK;
	if (!*answered)
		return false;

	for (unsigned int i = 0; i < link->core_count; i++) {
		uint32_t dsr = xdm_link_value(link, read, i);
		enum xdm_evidence evidence = xdm_evidence(dsr);

		if (evidence == XDM_GONE) {
			*gone = true;
			continue;
		}
		clear[i] = dsr & (XDM_DSR_FAULTS | OCDDSR_DEBUGPENDHOST);
		/* of a core that runs nothing is to remain */
		if (evidence == XDM_RUNS)
			clear[i] = dsr & XDM_DSR_CAUSES;
		ours[i] = evidence == XDM_OURS;
		if (clear[i] || ours[i])
			done = false;
	}
	if (done)
		return true;

	xdm_link_begin(link);
	xdm_link_write_each(link, XDM_DSR, clear);
	xdm_link_exec_some(link, XDM_INSN_RFDO, ours);
	*answered = xdm_link_run(link) == ERROR_OK;
	return false;
}

void stopped_release(struct sampling *sampling)
{
	uint64_t begin_ns = profile_clock_ns();
	unsigned int silent = 0;
	bool gone = false;

	sampling->stopped = false;
	if (sampling->is_left_standing)
		return;
	while (silent < RELEASE_SILENT && profile_clock_ns() - begin_ns < RELEASE_NS) {
		bool answered;
		bool done = stopped_release_step(sampling, &answered, &gone);

		if (done && !gone)
			return;
		/* power may come back: the core stands if it stood before */
		if (done && profile_clock_ns() - begin_ns > GONE_NS)
			break;
		keep_alive();
		silent = answered ? 0 : silent + 1;
	}

	if (silent == RELEASE_SILENT) {
		sampling->is_link_lost = true;
		sampling_warn(sampling, "the adapter does not answer: the core may stand still");
	} else if (gone) {
		sampling_warn(sampling, "%s has no power: it may stand still when that is back", target_name(sampling->target));
	} else {
		sampling_warn(sampling, "%s could not be made to run", target_name(sampling->target));
	}
}

int stopped_begin(struct sampling *sampling)
{
	int retval = stopped_stop(sampling);

	if (retval != ERROR_OK)
		return retval;
	retval = stopped_self_test(sampling);
	if (retval == ERROR_OK && !sampling->failed_swap)
		return ERROR_OK;

	stopped_release(sampling);
	if (retval != ERROR_OK)
		return retval;
	snprintf(sampling->why, sizeof(sampling->why), "XSR.DDR does not swap on %s (self-test; a3 was restored)",
		target_name(sampling->target));
	return ERROR_NOT_IMPLEMENTED;
}
