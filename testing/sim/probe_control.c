// SPDX-License-Identifier: GPL-2.0-or-later

#include "probe_control.h"

#include "xtensa_verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS	8u

static void ok(struct sim_buffer *out)
{
	sim_buffer_text(out, "ok");
}

static void error(struct sim_buffer *out, const char *why)
{
	sim_buffer_printf(out, "error %s", why);
}

static void pair(struct sim_buffer *out, const char *key, uint64_t value)
{
	sim_buffer_printf(out, " %s %" PRIu64, key, value);
}

static void hex(struct sim_buffer *out, const char *key, uint32_t value)
{
	sim_buffer_printf(out, " %s 0x%" PRIx32, key, value);
}

static void numbered(struct sim_buffer *out, const char *key, unsigned int n, uint64_t value)
{
	sim_buffer_printf(out, " %s%u %" PRIu64, key, n, value);
}

static bool number(const char *word, uint32_t *value)
{
	char *end;

	*value = strtoul(word, &end, 0);
	return *word && !*end;
}

static struct xtensa_soc_core *core_named(struct probe *probe, const char *word, struct sim_buffer *out)
{
	uint32_t n;

	if (number(word, &n) && n < probe->soc.cores)
		return &probe->soc.core[n];
	error(out, "no such core");
	return NULL;
}

static void do_mark(struct probe_control *control, char **word, struct sim_buffer *out)
{
	(void)word;
	if (probe_mark(control->probe))
		ok(out);
	else
		error(out, "out of memory");
}

static uint64_t microseconds(const struct probe *probe, uint64_t cycles)
{
	return cycles * 1000000u / probe->soc.hz;
}

static void core_counters(const struct probe *probe, unsigned int n, const struct probe_totals *now,
	struct sim_buffer *out)
{
	const struct xdm_counts *is = &now->core[n].xdm;
	const struct xdm_counts *was = &probe->mark.core[n].xdm;
	const struct xtensa_soc_core *core = &probe->soc.core[n];

	numbered(out, "debugpc_reads", n, is->debugpc_reads - was->debugpc_reads);
	numbered(out, "dir_exec", n, is->dir_exec - was->dir_exec);
	numbered(out, "exec_ignored", n, is->exec_ignored - was->exec_ignored);
	numbered(out, "dcrset_halts", n, is->dcrset_halts - was->dcrset_halts);
	numbered(out, "rfdo", n, is->rfdo - was->rfdo);
	numbered(out, "stops", n, is->stops - was->stops);
	numbered(out, "standing_us", n, microseconds(probe, now->core[n].standing - probe->mark.core[n].standing));
	numbered(out, "watchdog_bites", n, now->core[n].bites - probe->mark.core[n].bites);
	numbered(out, "pc_samples", n, is->pc_samples - was->pc_samples);
	numbered(out, "max_standing_us", n, n < probe->soc.cores ? microseconds(probe, xdm_longest_stop(&core->xdm)) : 0);
	numbered(out, "retired", n, now->core[n].retired - probe->mark.core[n].retired);
}

static void cortexm_counters(const struct probe_totals *now, const struct probe_totals *was, const struct probe *probe,
	struct sim_buffer *out)
{
	pair(out, "transactions", now->cortexm.transactions - was->cortexm.transactions);
	pair(out, "accesses", now->cortexm.accesses - was->cortexm.accesses);
	pair(out, "reads_at_0", now->cortexm.reads_at_0 - was->cortexm.reads_at_0);
	pair(out, "cycles", now->cortexm.cycles - was->cortexm.cycles);
	pair(out, "retired", now->cortexm.retired - was->cortexm.retired);
	pair(out, "halts", now->cortexm.halts - was->cortexm.halts);
	pair(out, "resets", now->cortexm.resets - was->cortexm.resets);
	pair(out, "packets", now->cortexm.packets - was->cortexm.packets);
	pair(out, "standing_us", (now->cortexm.standing - was->cortexm.standing) * 1000000u / probe->cortexm.hz);
	pair(out, "late_us", (now->cortexm.late - was->cortexm.late) * 1000000u / probe->cortexm.hz);
}

static void do_counters(struct probe_control *control, char **word, struct sim_buffer *out)
{
	const struct probe *probe = control->probe;
	const struct probe_totals *was = &probe->mark;
	struct probe_totals now;

	(void)word;
	probe_totals(probe, &now);
	ok(out);
	pair(out, "exchanges", now.exchanges - was->exchanges);
	pair(out, "tck", now.tck - was->tck);
	pair(out, "ir_scans", now.ir_scans - was->ir_scans);
	pair(out, "dr_scans", now.dr_scans - was->dr_scans);
	pair(out, "faults", now.faults - was->faults);
	if (probe->is_cortexm) {
		pair(out, "modelled_us", (now.modelled_ps - was->modelled_ps) / 1000000);
		pair(out, "idle_us", (now.idle_ps - was->idle_ps) / 1000000);
		cortexm_counters(&now, was, probe, out);
		return;
	}
	pair(out, "tck_running", now.core[0].tck_running - was->core[0].tck_running + 0.5);
	pair(out, "tck_running1", now.core[1].tck_running - was->core[1].tck_running + 0.5);
	pair(out, "modelled_us", (now.modelled_ps - was->modelled_ps) / 1000000);
	pair(out, "idle_us", (now.idle_ps - was->idle_ps) / 1000000);
	for (unsigned int i = 0; i < XTENSA_SOC_CORES; i++)
		core_counters(probe, i, &now, out);
}

static bool set_rtt(struct probe *probe, const char *value)
{
	uint32_t us;

	if (!number(value, &us))
		return false;
	probe->clock.rtt_ps = us * 1000000ull;
	return true;
}

static bool set_pace(struct probe *probe, const char *value)
{
	return sim_clock_pace_find(value, &probe->clock.pace);
}

static void do_set(struct probe_control *control, char **word, struct sim_buffer *out)
{
	static const struct {
		const char *name;
		bool (*set)(struct probe *probe, const char *value);
	} options[] = {
		{ "rtt", set_rtt },
		{ "pace", set_pace },
		{ "halt-latency", probe_set_latency },
		{ "debugpc", probe_set_debugpc },
		{ "xsr", probe_set_xsr },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(options[i].name, word[1]))
			continue;
		if (options[i].set(control->probe, word[2]))
			ok(out);
		else
			error(out, "bad value");
		return;
	}
	if (probe_choose(control->probe, word[1], word[2]))
		ok(out);
	else
		error(out, "no such option");
}

/* fault KIND [ARGUMENT] when WHAT N */
static void do_fault(struct probe_control *control, char **word, struct sim_buffer *out)
{
	struct probe *probe = control->probe;
	enum probe_fault_when when = PROBE_WHEN_EXCHANGES;
	uint32_t argument = 0;
	uint32_t n;

	if (!strcmp(word[1], "none")) {
		probe_faults_none(probe);
		ok(out);
		return;
	}
	enum probe_fault_kind kind = probe_fault_kind_find(word[1]);
	bool has_argument = number(word[2], &argument);
	char **rest = word + 2 + has_argument;
	if (kind == PROBE_FAULT_NONE || strcmp(rest[0], "when") || !probe_fault_when_find(rest[1], &when) ||
			!number(rest[2], &n))
		error(out, "usage: fault KIND [ARGUMENT] when exchanges|us|samples|transactions|accesses|instructions N");
	else if (!probe_fault_fits(probe, kind))
		error(out, "this target has no such fault");
	else if (has_argument != (kind == PROBE_FAULT_BREAK) && !(has_argument && kind == PROBE_FAULT_POWER_OFF) &&
			!(has_argument && kind == PROBE_FAULT_SLEEP))
		error(out, "this kind has another argument");
	else if (kind == PROBE_FAULT_BREAK && argument >= probe->soc.cores)
		error(out, "no such core");
	else if (control->bitbang && probe_fault_is_error(kind))
		error(out, "remote_bitbang has no status");
	else {
		probe_faults_arm(probe, kind, argument, when, n);
		ok(out);
	}
}

static void cortexm_state(const struct cortexm *core, struct sim_buffer *out)
{
	char name[8];

	ok(out);
	hex(out, "pc", core->pc);
	pair(out, "halted", core->debug.halted);
	pair(out, "sleeping", core->sleeping);
	pair(out, "lockup", core->lockup);
	for (unsigned int i = 0; i <= 12; i++) {
		snprintf(name, sizeof(name), "r%u", i);
		hex(out, name, cortexm_reg(core, UC_ARM_REG_R0 + (int)i));
	}
	hex(out, "sp", cortexm_sp(core, cortexm_stack_in_use(core)));
	hex(out, "lr", cortexm_reg(core, UC_ARM_REG_LR));
	hex(out, "xpsr", cortexm_xpsr(core));
	hex(out, "msp", cortexm_sp(core, CORTEXM_MSP));
	hex(out, "psp", cortexm_sp(core, CORTEXM_PSP));
	hex(out, "control", core->control);
	hex(out, "primask", core->primask);
	hex(out, "basepri", core->basepri);
	hex(out, "faultmask", core->faultmask);
	hex(out, "msplim", core->limit[0]);
	hex(out, "psplim", core->limit[1]);
	hex(out, "dhcsr", core->debug.dhcsr);
	hex(out, "dfsr", core->debug.dfsr);
	pair(out, "retired", core->retired);
	pair(out, "cycle", core->cycle);
}

static void do_state(struct probe_control *control, char **word, struct sim_buffer *out)
{
	if (control->probe->is_cortexm) {
		cortexm_state(&control->probe->cortexm.core, out);
		return;
	}
	struct xtensa_soc_core *core = core_named(control->probe, word[1], out);

	if (!core)
		return;
	const struct xtensa_cpu *cpu = &core->cpu;
	const struct xdm *xdm = &core->xdm;
	unsigned int level = cpu->config.debug_level;
	char name[8];
	ok(out);
	hex(out, "pc", cpu->in_ocd ? cpu->sr[XTENSA_SR_EPC1 - 1 + level] : cpu->pc);
	pair(out, "in_ocd", cpu->in_ocd);
	pair(out, "waiting", cpu->waiting);
	hex(out, "dcr", xdm->dcr);
	hex(out, "dsr", xdm_dsr(xdm));
	hex(out, "pwrstat", xdm->powered ? XDM_PWRSTAT_ON | xdm->was_reset : 0);
	for (unsigned int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		hex(out, name, xtensa_cpu_a(cpu, i));
	}
	hex(out, "windowbase", cpu->sr[XTENSA_SR_WINDOWBASE]);
	hex(out, "ps", cpu->in_ocd ? cpu->sr[XTENSA_SR_EPS2 - 2 + level] : cpu->sr[XTENSA_SR_PS]);
	pair(out, "retired", cpu->retired);
	hex(out, "debugcause", cpu->debug_cause);
	pair(out, "bites", core->bites);
}

static void do_verify(struct probe_control *control, char **word, struct sim_buffer *out)
{
	struct xtensa_soc_core *core = core_named(control->probe, word[1], out);
	struct sim_buffer text = { 0 };

	if (!core)
		return;
	if (xtensa_verify(&control->probe->soc, core->xdm.number, control->probe->options.program, &text)) {
		sim_buffer_text(out, "ok same");
	} else {
		sim_buffer_text(out, "ok differs");
		sim_buffer_append(out, text.data, text.len);
	}
	sim_buffer_free(&text);
}

static void write_residency(const struct probe *probe, FILE *file)
{
	for (unsigned int n = 0; n < probe->soc.cores; n++) {
		const struct xtensa_cpu *cpu = &probe->soc.core[n].cpu;
		for (uint32_t i = 0; i < cpu->profile_end - cpu->profile_start; i++) {
			if (cpu->profile[i])
				fprintf(file, "%u 0x%08" PRIx32 " %" PRIu64 "\n", n, cpu->profile_start + i, cpu->profile[i]);
		}
		fprintf(file, "%u outside %" PRIu64 "\n", n, cpu->profile_outside);
	}
}

static void write_samples(const struct probe *probe, FILE *file)
{
	for (unsigned int n = 0; n < probe->soc.cores; n++) {
		const struct pc_counts *samples = &probe->soc.core[n].xdm.samples;
		for (size_t i = 0; i < samples->places; i++) {
			const struct pc_count *place = &samples->place[i];
			if (place->count)
				fprintf(file, "%u 0x%08" PRIx32 " %" PRIu64 "\n", n, place->pc, place->count);
		}
	}
}

static void to_file(const struct probe *probe, const char *path, void (*what)(const struct probe *probe, FILE *file),
	struct sim_buffer *out)
{
	FILE *file = fopen(path, "w");
	bool good = file;

	if (file) {
		what(probe, file);
		good = !ferror(file);
		good &= !fclose(file);
	}
	if (good)
		ok(out);
	else
		error(out, "cannot write it");
}

static void do_residency(struct probe_control *control, char **word, struct sim_buffer *out)
{
	to_file(control->probe, word[1], write_residency, out);
}

static void do_samples(struct probe_control *control, char **word, struct sim_buffer *out)
{
	to_file(control->probe, word[1], write_samples, out);
}

static void do_read(struct probe_control *control, char **word, struct sim_buffer *out)
{
	struct probe *probe = control->probe;
	uint32_t addr;
	uint32_t value;

	if (!number(word[1], &addr) || !(probe->is_cortexm ? cortexm_load(&probe->cortexm.core, addr, &value) :
			xtensa_soc_peek(&probe->soc, addr, &value))) {
		error(out, "no such address");
		return;
	}
	ok(out);
	hex(out, "value", value);
}

static void do_write(struct probe_control *control, char **word, struct sim_buffer *out)
{
	struct probe *probe = control->probe;
	uint32_t addr;
	uint32_t value;

	if (number(word[1], &addr) && number(word[2], &value) &&
			(probe->is_cortexm ? cortexm_store(&probe->cortexm.core, addr, value) :
			xtensa_soc_poke(&probe->soc, addr, value))) {
		probe->cortexm.core.code_dirty = true;
		ok(out);
	} else {
		error(out, "no such address");
	}
}

/* ---- Cortex-M only ---- */

/* log start FILE, log stop */
static void do_log(struct probe_control *control, char **word, struct sim_buffer *out)
{
	bool start = !strcmp(word[1], "start") && *word[2];

	if (!start && (strcmp(word[1], "stop") || *word[2]))
		error(out, "usage: log start FILE, log stop");
	else if (!cortexm_soc_log(&control->probe->cortexm, start ? word[2] : NULL))
		error(out, "cannot write it");
	else
		ok(out);
}

/* The buffer as it is now, and the registers that go with it. */
static void do_mtb(struct probe_control *control, char **word, struct sim_buffer *out)
{
	const struct cortexm *core = &control->probe->cortexm.core;
	const struct cortexm_mtb *mtb = &core->mtb;
	uint32_t size = cortexm_mtb_size(mtb);
	uint32_t at = cortexm_mtb_bus(mtb, mtb->position & ~(size - 1));
	const uint8_t *bytes = cortexm_memory(core, at, size);

	if (*word[1]) {
		FILE *file = fopen(word[1], "wb");
		bool good = file && bytes && fwrite(bytes, 1, size, file) == size;
		if (file)
			good &= !fclose(file);
		if (!good) {
			error(out, bytes ? "cannot write it" : "the buffer is not in memory");
			return;
		}
	}
	ok(out);
	hex(out, "position", mtb->position);
	hex(out, "master", mtb->master);
	hex(out, "flow", mtb->flow);
	hex(out, "base", cortexm_mtb_read(mtb, 0xc));
	hex(out, "buffer", at);
	pair(out, "size", size);
	pair(out, "aw", mtb->options.aw);
	pair(out, "packets", mtb->packets);
}

static void do_irq(struct probe_control *control, char **word, struct sim_buffer *out)
{
	uint32_t n;

	if (!number(word[1], &n) || n >= CORTEXM_EXCEPTIONS - 16) {
		error(out, "no such interrupt");
		return;
	}
	cortexm_pend(&control->probe->cortexm.core, 16 + n);
	ok(out);
}

/* The trace's start and stop inputs, as a chip's event system has them. */
static void do_input(struct probe_control *control, char **word, struct sim_buffer *out)
{
	bool start = !strcmp(word[0], "tstart");

	cortexm_mtb_inputs(&control->probe->cortexm.core.mtb, start, !start);
	ok(out);
}

static void do_quit(struct probe_control *control, char **word, struct sim_buffer *out)
{
	(void)word;
	control->quit = true;
	ok(out);
}

static const struct command {
	const char *name;
	unsigned int least, most;	/* arguments */
	void (*run)(struct probe_control *control, char **word, struct sim_buffer *out);
} commands[] = {
	{ "mark", 0, 0, do_mark },
	{ "counters", 0, 0, do_counters },
	{ "set", 2, 2, do_set },
	{ "fault", 1, 5, do_fault },
	{ "state", 1, 1, do_state },
	{ "verify", 1, 1, do_verify },
	{ "residency", 1, 1, do_residency },
	{ "samples", 1, 1, do_samples },
	{ "read", 1, 1, do_read },
	{ "write", 2, 2, do_write },
	{ "quit", 0, 0, do_quit },
	{ "log", 1, 2, do_log },
	{ "mtb", 0, 1, do_mtb },
	{ "irq", 1, 1, do_irq },
	{ "tstart", 0, 0, do_input },
	{ "tstop", 0, 0, do_input },
};

/* Is the command one for this target? */
static bool fits(const struct probe *probe, const char *name)
{
	static const char *const both[] = { "mark", "counters", "set", "fault", "state", "read", "write", "quit" };
	static const char *const cortexm[] = { "log", "mtb", "irq", "tstart", "tstop" };

	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		if (!strcmp(both[i], name))
			return true;
	}
	for (size_t i = 0; i < sizeof(cortexm) / sizeof(cortexm[0]); i++) {
		if (!strcmp(cortexm[i], name))
			return probe->is_cortexm;
	}
	return !probe->is_cortexm;
}

/* Words that are not there are empty, so that nobody has to ask for their number again. */
static unsigned int split(char *line, char *word[MAX_WORDS])
{
	static char nothing[1];
	unsigned int n = 0;
	char *rest;

	for (char *at = strtok_r(line, " \t\r", &rest); at && n < MAX_WORDS; at = strtok_r(NULL, " \t\r", &rest))
		word[n++] = at;
	for (unsigned int i = n; i < MAX_WORDS; i++)
		word[i] = nothing;
	return n;
}

static void run(struct probe_control *control, char *line, struct sim_buffer *out)
{
	char *word[MAX_WORDS];
	unsigned int words = split(line, word);

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, word[0]))
			continue;
		if (!fits(control->probe, word[0]))
			error(out, "not for this target");
		else if (words < 1 + commands[i].least || words > 1 + commands[i].most)
			error(out, "wrong number of arguments");
		else
			commands[i].run(control, word, out);
		return;
	}
	error(out, "no such command");
}

void probe_control_line(struct probe_control *control, char *line, struct sim_buffer *out)
{
	run(control, line, out);
	sim_buffer_byte(out, '\n');
	if (control->probe->log)
		fflush(control->probe->log);
}
