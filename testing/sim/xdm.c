// SPDX-License-Identifier: GPL-2.0-or-later

#include "xdm.h"

#include <inttypes.h>

#define OCDID_VALUE		0x0733bff2u
#define DSR_W1C			0x00f7cc0bu
#define DCR_KEPT		0x03730005u	/* the interrupt request is an event, not a state */
#define EXEC_CYCLES		6u		/* of the core's clock, for an injected instruction */
#define LONGEST_INSN		16u		/* cycles; a divide takes 13 */

#define INSN_RFDO		0xf1e000u
#define INSN_RFDD		0xf1e010u
#define INSN_SR_MASK		0xff000fu
#define INSN_RSR		0x030000u
#define INSN_XSR		0x610000u
#define INSN_SDDR32P		0x0070f0u
#define INSN_SDDR32P_MASK	0xfff0ffu

static const char *const nar_name[] = {
	[0x00] = "TRAXID", [0x01] = "TRAXCTRL", [0x02] = "TRAXSTAT", [0x03] = "TRAXDATA", [0x04] = "TRAXADDR",
	[0x05] = "TRIGGERPC", [0x06] = "PCMATCHCTRL", [0x07] = "DELAYCNT", [0x08] = "MEMADDRSTART",
	[0x09] = "MEMADDREND", [XDM_DEBUGPC] = "DEBUGPC", [0x20] = "PMG", [0x24] = "INTPC",
	[XDM_OCDID] = "OCDID", [XDM_DCRCLR] = "DCRCLR", [XDM_DCRSET] = "DCRSET", [XDM_DSR] = "DSR", [XDM_DDR] = "DDR",
	[XDM_DDREXEC] = "DDREXEC", [XDM_DIR0EXEC] = "DIR0EXEC", [0x48] = "DIR0", [0x49] = "DIR1", [0x4a] = "DIR2",
	[0x4b] = "DIR3", [0x4c] = "DIR4", [0x4d] = "DIR5", [0x4e] = "DIR6", [0x4f] = "DIR7", [0x5a] = "ERISTAT",
	[XDM_PWRCTL] = "PWRCTL", [XDM_PWRSTAT] = "PWRSTAT",
};

static uint32_t epc(const struct xdm *xdm)
{
	return xdm->cpu->sr[XTENSA_SR_EPC1 - 1 + xdm->cpu->config.debug_level];
}

static void log_access(struct xdm *xdm, char what, unsigned int nar, uint32_t value)
{
	if (!xdm->log)
		return;
	const char *name = nar < sizeof(nar_name) / sizeof(nar_name[0]) ? nar_name[nar] : NULL;
	char other[16];
	if (!name) {
		snprintf(other, sizeof(other), "NAR%02x", nar);
		name = other;
	}
	fprintf(xdm->log, "%" PRIu64 " %u %c %s 0x%08" PRIx32 " %s\n", xdm->host.now_ns(xdm->host.ctx), xdm->number, what,
		name, value, xdm->cpu->in_ocd ? "stopped" : "running");
}

void xdm_init(struct xdm *xdm, unsigned int number, struct xtensa_cpu *cpu, const struct xdm_host *host)
{
	*xdm = (struct xdm){
		.host = *host,
		.cpu = cpu,
		.number = number,
		.was_reset = XDM_PWRSTAT_CORE_WAS_RESET | XDM_PWRSTAT_DEBUG_WAS_RESET,
		.powered = true,
		.now_pc = cpu->pc,
	};
	sim_random_seed(&xdm->random, number + 1);
}

void xdm_free(struct xdm *xdm)
{
	pc_counts_free(&xdm->samples);
}

void xdm_entered(struct xdm *xdm)
{
	xdm->counts.stops++;
	xdm->entered = true;
	xdm->stop_cycle = xdm->cpu->cycle;
	xdm->last_pc = epc(xdm);
}

static void left(struct xdm *xdm)
{
	uint64_t cycles = xdm->cpu->cycle - xdm->stop_cycle;

	if (cycles > xdm->longest)
		xdm->longest = cycles;
}

uint64_t xdm_longest_stop(const struct xdm *xdm)
{
	uint64_t present = xdm->cpu->in_ocd ? xdm->cpu->cycle - xdm->stop_cycle : 0;

	return present > xdm->longest ? present : xdm->longest;
}

/* Cycle from which some debug interrupt is waiting, or never. */
static uint64_t interrupt_at(const struct xdm *xdm)
{
	uint64_t at = UINT64_MAX;

	if (xdm->deaf || !(xdm->dcr & XDM_DCR_ENABLE_OCD))
		return at;
	if (xdm->dsr & XDM_DSR_PEND_HOST)
		at = xdm->host_stop_at;
	if (xdm->dsr & XDM_DSR_PEND_BREAK && xdm->break_at < at)
		at = xdm->break_at;
	return at;
}

/*
 * The host's request is gone once it is taken; that of the break network stays until the host clears it, as a real
 * chip's DSR shows (both kinds taken, only the break still pending).
 */
static void take_interrupt(struct xdm *xdm)
{
	uint64_t now = xdm->cpu->cycle;

	if (xdm->dsr & XDM_DSR_PEND_HOST && xdm->host_stop_at <= now) {
		xdm->dsr &= ~XDM_DSR_PEND_HOST;
		xdm->dsr |= XDM_DSR_INT_HOST;
	}
	if (xdm->dsr & XDM_DSR_PEND_BREAK && xdm->break_at <= now)
		xdm->dsr |= XDM_DSR_INT_BREAK;
	xtensa_cpu_stop(xdm->cpu, XTENSA_CAUSE_DEBUGINT);
	xdm_entered(xdm);
}

/* @returns true if the core stopped by itself. */
static bool run(struct xdm *xdm, uint64_t until)
{
	if (xtensa_cpu_run(xdm->cpu, until, xdm->dcr & XDM_DCR_ENABLE_OCD) != XTENSA_STOPPED)
		return false;
	xdm_entered(xdm);
	return true;
}

/*
 * Run a running core. The last instructions go one by one, so that now_pc is the one which has the core at that very
 * cycle: the instruction that passes it, or the next if the last one ends just there.
 */
static void run_running(struct xdm *xdm, uint64_t until)
{
	struct xtensa_cpu *cpu = xdm->cpu;

	if (until > cpu->cycle + LONGEST_INSN && run(xdm, until - LONGEST_INSN))
		return;
	while (cpu->cycle < until) {
		uint32_t pc = cpu->pc;
		if (cpu->waiting || cpu->run_stall) {
			run(xdm, until);
			break;
		}
		if (run(xdm, cpu->cycle + 1))
			return;
		if (cpu->cycle > until) {
			xdm->now_pc = pc;
			return;
		}
	}
	xdm->now_pc = cpu->pc;
}

void xdm_run(struct xdm *xdm, uint64_t until)
{
	struct xtensa_cpu *cpu = xdm->cpu;

	if (xdm->held) {
		if (cpu->cycle < until)
			cpu->cycle = until;
		return;
	}
	while (!cpu->in_ocd) {
		uint64_t at = interrupt_at(xdm);
		if (at <= cpu->cycle && xtensa_cpu_can_interrupt(cpu, xdm->dcr & XDM_DCR_ALL_CONDITIONS)) {
			take_interrupt(xdm);
			break;
		}
		if (cpu->cycle >= until)
			return;
		if (at <= cpu->cycle)
			run_running(xdm, cpu->cycle + 1);	/* masked: look again after each instruction */
		else
			run_running(xdm, at < until ? at : until);
	}
	if (cpu->cycle < until)
		xtensa_cpu_run(cpu, until, true);
}

static uint32_t latency(struct xdm *xdm)
{
	return xdm->halt_latency_random ? sim_random_range(&xdm->random, 0, xdm->halt_latency_tck) : xdm->halt_latency_tck;
}

static void request_stop(struct xdm *xdm)
{
	xdm->counts.dcrset_halts++;
	if (xdm->dsr & XDM_DSR_PEND_HOST)
		return;
	xdm->dsr |= XDM_DSR_PEND_HOST;
	xdm->host_stop_at = xdm->host.cycle_in(xdm->host.ctx, latency(xdm));
}

void xdm_break_in(struct xdm *xdm, uint64_t cycle)
{
	if (!(xdm->dcr & XDM_DCR_BREAK_IN_EN) || xdm->dsr & XDM_DSR_PEND_BREAK)
		return;
	xdm->dsr |= XDM_DSR_PEND_BREAK;
	xdm->break_at = cycle;
}

void xdm_run_stall(struct xdm *xdm, bool stall)
{
	if (xdm->cpu->run_stall == stall)
		return;
	xdm->cpu->run_stall = stall;
	xdm->dsr |= XDM_DSR_RUN_STALL_TOGGLE;
}

/* A request that was pending in OCD mode counts at once, or after one instruction if requests are slow here. */
static void resumed(struct xdm *xdm)
{
	struct xtensa_cpu *cpu = xdm->cpu;

	left(xdm);
	xdm->counts.rfdo++;
	xdm->busy_until = cpu->cycle;
	xdm->now_pc = cpu->pc;
	if (xdm->dsr & XDM_DSR_PEND_HOST)
		xdm->host_stop_at = cpu->cycle + !!xdm->halt_latency_tck;
	xdm->host.changed(xdm->host.ctx);
}

static bool reads_pc(const struct xdm *xdm, uint32_t insn)
{
	uint32_t op = insn & INSN_SR_MASK;

	return (op == INSN_RSR || op == INSN_XSR) &&
		(insn >> 8 & 0xff) == XTENSA_SR_EPC1 - 1 + xdm->cpu->config.debug_level;
}

static void note_store(struct xdm *xdm, uint32_t insn)
{
	uint32_t op0 = insn & 0xf;
	uint32_t r = insn >> 12 & 0xf;

	if ((insn & INSN_SDDR32P_MASK) == INSN_SDDR32P)
		xdm->host.stored(xdm->host.ctx, xtensa_cpu_a(xdm->cpu, insn >> 8 & 0xf), 4);
	else if ((op0 == 2 && r >= 4 && r <= 6) || op0 == 9)	/* S8I, S16I, S32I; S32I.N: wherever it was */
		xdm->host.stored(xdm->host.ctx, 0, UINT32_MAX);
}

static enum xtensa_inject inject(struct xdm *xdm, uint32_t insn)
{
	if (xdm->failing && insn != INSN_RFDO && insn != INSN_RFDD) {
		xdm->failing--;
		return XTENSA_INJECT_EXCEPTION;
	}
	if (reads_pc(xdm, insn)) {
		xdm->counts.pc_samples++;
		pc_counts_add(&xdm->samples, epc(xdm));
	}
	note_store(xdm, insn);
	return xtensa_cpu_inject(xdm->cpu, insn);
}

/* A running core ignores the request and leaves no trace of it. */
static void execute(struct xdm *xdm)
{
	struct xtensa_cpu *cpu = xdm->cpu;

	xdm->counts.dir_exec++;
	if (!cpu->in_ocd) {
		xdm->counts.exec_ignored++;
		return;
	}
	if (cpu->cycle < xdm->busy_until) {
		xdm->dsr |= XDM_DSR_EXEC_OVERRUN;
		return;
	}
	xdm->busy_until = cpu->cycle + EXEC_CYCLES;
	xdm->dsr |= XDM_DSR_EXEC_DONE;
	switch (inject(xdm, xdm->dir[0])) {
	case XTENSA_INJECT_EXCEPTION:
		xdm->dsr |= XDM_DSR_EXEC_EXCEPTION;
		break;
	case XTENSA_INJECT_RESUMED:
		resumed(xdm);
		break;
	case XTENSA_INJECT_DONE:
		break;
	}
}

uint32_t xdm_busy(struct xdm *xdm)
{
	if (!xdm->cpu->in_ocd)
		return 0;
	xdm->host.sync(xdm->host.ctx);
	return xdm->cpu->in_ocd && xdm->cpu->cycle < xdm->busy_until ? XDM_STATUS_BUSY : 0;
}

uint32_t xdm_dsr(const struct xdm *xdm)
{
	const struct xtensa_cpu *cpu = xdm->cpu;
	uint32_t dsr = xdm->dsr | XDM_DSR_POWER_ON;

	if (!xdm->powered)
		return 0;
	if (cpu->in_ocd) {
		dsr |= XDM_DSR_STOPPED;
		if (cpu->cycle < xdm->busy_until)
			dsr = (dsr | XDM_DSR_EXEC_BUSY) & ~XDM_DSR_EXEC_DONE;
	}
	if (cpu->ddr_written)
		dsr |= XDM_DSR_CORE_WROTE_DDR;
	if (cpu->ddr_read)
		dsr |= XDM_DSR_CORE_READ_DDR;
	if (cpu->run_stall)
		dsr |= XDM_DSR_RUN_STALL_SAMPLE;
	return dsr;
}

static void dsr_clear(struct xdm *xdm, uint32_t bits)
{
	xdm->dsr &= ~(bits & DSR_W1C);
	if (bits & XDM_DSR_CORE_WROTE_DDR)
		xdm->cpu->ddr_written = false;
	if (bits & XDM_DSR_CORE_READ_DDR)
		xdm->cpu->ddr_read = false;
}

static uint32_t debugpc(struct xdm *xdm)
{
	xdm->counts.debugpc_reads++;
	if (xdm->debugpc_zero)
		return 0;
	if (xdm->cpu->in_ocd)
		return xdm->last_pc;
	if (xdm->now_pc)
		pc_counts_add(&xdm->samples, xdm->now_pc);
	return xdm->now_pc;
}

static uint32_t read_register(struct xdm *xdm, unsigned int nar)
{
	uint32_t value;

	switch (nar) {
	case XDM_DEBUGPC:
		return debugpc(xdm);
	case XDM_OCDID:
		return OCDID_VALUE;
	case XDM_DCRCLR:
	case XDM_DCRSET:
		return xdm->dcr;
	case XDM_DSR:
		return xdm_dsr(xdm);
	case XDM_DDR:
		xdm->dsr |= XDM_DSR_HOST_READ_DDR;
		return xdm->cpu->ddr;
	case XDM_DDREXEC:
		value = xdm->cpu->ddr;
		xdm->dsr |= XDM_DSR_HOST_READ_DDR;
		execute(xdm);
		return value;
	case XDM_DIR0EXEC:
		return xdm->dir[0];
	default:
		return nar >= XDM_DIR0 && nar < XDM_DIR0 + 8 ? xdm->dir[nar - XDM_DIR0] : xdm->store[nar];
	}
}

static void write_dcr(struct xdm *xdm, uint32_t dcr)
{
	xdm->dcr = dcr & DCR_KEPT;
	xdm->host.changed(xdm->host.ctx);
}

static void write_register(struct xdm *xdm, unsigned int nar, uint32_t value)
{
	switch (nar) {
	case XDM_DCRCLR:
		write_dcr(xdm, xdm->dcr & ~value);
		break;
	case XDM_DCRSET:
		write_dcr(xdm, xdm->dcr | value);
		if (value & XDM_DCR_DEBUG_INTERRUPT)
			request_stop(xdm);
		break;
	case XDM_DSR:
		dsr_clear(xdm, value);
		break;
	case XDM_DDR:
	case XDM_DDREXEC:
		xdm->cpu->ddr = value;
		xdm->dsr |= XDM_DSR_HOST_WROTE_DDR;
		if (nar == XDM_DDREXEC)
			execute(xdm);
		break;
	case XDM_DIR0EXEC:
		xdm->dir[0] = value;
		execute(xdm);
		break;
	default:
		if (nar >= XDM_DIR0 && nar < XDM_DIR0 + 8)
			xdm->dir[nar - XDM_DIR0] = value;
		else if (nar < XDM_OCDID && nar != 0x00 && nar != 0x02)	/* neither TRAXID nor TRAXSTAT */
			xdm->store[nar] = value;
	}
}

static void power_sync(struct xdm *xdm)
{
	xdm->host.sync(xdm->host.ctx);
	if (xdm->powered || xdm->host.now_ns(xdm->host.ctx) < xdm->power_on_ns)
		return;
	xdm->powered = true;
	xdm_debug_reset(xdm);
}

uint32_t xdm_read(struct xdm *xdm, unsigned int nar, uint32_t *value)
{
	uint32_t status = XDM_STATUS_ERROR;

	power_sync(xdm);
	*value = 0;
	if (xdm->powered && !(xdm->pwrctl & XDM_PWRCTL_DEBUG_RESET)) {
		*value = read_register(xdm, nar);
		status = 0;
	}
	log_access(xdm, 'R', nar, *value);
	xdm->host.sync(xdm->host.ctx);
	xdm->host.accessed(xdm->host.ctx);
	return status;
}

uint32_t xdm_write(struct xdm *xdm, unsigned int nar, uint32_t value)
{
	uint32_t status = XDM_STATUS_ERROR;

	power_sync(xdm);
	log_access(xdm, 'W', nar, value);
	if (xdm->powered && !(xdm->pwrctl & XDM_PWRCTL_DEBUG_RESET)) {
		write_register(xdm, nar, value);
		status = 0;
	}
	xdm->host.sync(xdm->host.ctx);
	xdm->host.accessed(xdm->host.ctx);
	return status;
}

uint32_t xdm_pwrctl_read(struct xdm *xdm)
{
	power_sync(xdm);
	log_access(xdm, 'R', XDM_PWRCTL, xdm->pwrctl);
	return xdm->pwrctl;
}

void xdm_pwrctl_write(struct xdm *xdm, uint32_t value)
{
	uint32_t old = xdm->pwrctl;

	power_sync(xdm);
	log_access(xdm, 'W', XDM_PWRCTL, value);
	if (old & XDM_PWRCTL_JTAG_DEBUG_USE)
		value &= ~XDM_PWRCTL_JTAG_DEBUG_USE;
	xdm->pwrctl = value;
	if (value & ~old & XDM_PWRCTL_CORE_RESET)
		xdm_core_reset(xdm);
	if (value & ~old & XDM_PWRCTL_DEBUG_RESET)
		xdm_debug_reset(xdm);
	xdm->held = value & XDM_PWRCTL_CORE_RESET;
	xdm->host.sync(xdm->host.ctx);
	xdm->host.accessed(xdm->host.ctx);
}

uint32_t xdm_pwrstat_read(struct xdm *xdm)
{
	power_sync(xdm);
	uint32_t value = xdm->powered ? XDM_PWRSTAT_ON | xdm->was_reset : 0;
	log_access(xdm, 'R', XDM_PWRSTAT, value);
	return value;
}

/* A reset that is still asserted cannot be cleared away. */
void xdm_pwrstat_clear(struct xdm *xdm, uint32_t bits)
{
	power_sync(xdm);
	log_access(xdm, 'W', XDM_PWRSTAT, bits);
	if (xdm->pwrctl & XDM_PWRCTL_CORE_RESET)
		bits &= ~XDM_PWRSTAT_CORE_WAS_RESET;
	if (xdm->pwrctl & XDM_PWRCTL_DEBUG_RESET)
		bits &= ~XDM_PWRSTAT_DEBUG_WAS_RESET;
	xdm->was_reset &= ~bits;
}

void xdm_core_reset(struct xdm *xdm)
{
	struct xtensa_cpu *cpu = xdm->cpu;
	uint64_t cycle = cpu->cycle;

	if (cpu->in_ocd)
		left(xdm);
	xdm->host.reset(xdm->host.ctx);
	cpu->cycle = cycle;
	xdm->now_pc = cpu->pc;
	xdm->busy_until = 0;
	xdm->was_reset |= XDM_PWRSTAT_CORE_WAS_RESET;
	xdm->host.changed(xdm->host.ctx);
}

void xdm_debug_reset(struct xdm *xdm)
{
	xdm->dcr = 0;
	xdm->dsr = 0;
	for (unsigned int i = 0; i < 8; i++)
		xdm->dir[i] = 0;
	xdm->was_reset |= XDM_PWRSTAT_DEBUG_WAS_RESET;
	xdm->host.changed(xdm->host.ctx);
}

void xdm_power_off(struct xdm *xdm, uint64_t on_ns)
{
	xdm->powered = false;
	xdm->power_on_ns = on_ns;
}
