/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One profile being taken: where the samples come from (a method), how they are counted, why it ended.
 *
 *	command -> sampling_run() -> method: begin, pass, pass ... finish -> histograms -> file and report
 *
 * While it lasts OpenOCD goes on believing that the target runs: no event is sent, no register fetched, GDB sees
 * nothing. What the target really is afterwards, target_poll() finds out.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_SAMPLING_H
#define OPENOCD_TARGET_XTENSA_PROFILE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include <itrace/report/pc_histogram.h>
#include <itrace/report/profile_file.h>

#include "interval_stats.h"
#include "run_window.h"
#include "xdm_link.h"

#define SAMPLING_TEXT_SIZE	512u
#define SAMPLING_GROUP_MAX	16u
#define SAMPLING_STOP_MS	200u	/* a core that does not stop within this time is left alone */

struct sampling;

/* Why it ended. */
enum sampling_end {
	SAMPLING_GOES_ON,
	SAMPLING_TIME,		/* all of the time asked for */
	SAMPLING_INTERRUPTED,	/* OpenOCD is to end */
	SAMPLING_STOPPED,	/* something else stopped a core: breakpoint, watchpoint, another debugger */
	SAMPLING_RESET,
	SAMPLING_POWER,		/* the debug module does not answer */
	SAMPLING_LINK,		/* the adapter reports an error */
	SAMPLING_FAULT,		/* an injected instruction faulted */
	SAMPLING_STUCK,		/* a core does not stop when asked to */
	SAMPLING_DOUBT,		/* batch: a sample without evidence */
	SAMPLING_END_NUM
};

/* Why a sample was thrown away. */
enum sampling_loss {
	SAMPLING_LOST_ZERO,	/* DEBUGPC read 0 */
	SAMPLING_LOST_DOUBT,	/* taken while the core may have stood, been reset or been without power */
	SAMPLING_LOST_FAULT,
	SAMPLING_LOST_LINK,	/* the adapter lost it */
	SAMPLING_LOSS_NUM
};

struct sampling_options {
	uint32_t seconds;
	const char *path;
	enum itrace_profile_format format;
	const struct sampling_method *method;	/* NULL: auto */
	const char *elf;		/* NULL: none */
	bool has_range;
	uint64_t range_start, range_end;	/* [start, end) */
	bool all_cores;
	uint32_t rate_hz;		/* at most so many samples a second; 0: as many as there can be */
	unsigned int duty_percent;
	bool jitter;
	unsigned int top;
	bool has_seed;
	uint64_t seed;
};

/* A way to get at the program counter. */
struct sampling_method {
	const char *name;
	const char *summary;		/* for the report */
	bool stops_cores;		/* then the break network is set aside */

	/*
	 * Get ready; the cores run, and run again when it fails.
	 * @returns ERROR_OK; ERROR_NOT_IMPLEMENTED: not on these cores, sampling->why says why, another method may do;
	 * others: sampling->why says why
	 */
	int (*begin)(struct sampling *sampling);

	/* Take some samples; sampling_stop() ends it. */
	void (*pass)(struct sampling *sampling);

	/* Let the cores run as before. Called once after each begin() that succeeded. */
	void (*finish)(struct sampling *sampling);
};

struct sampling {
	const struct sampling_options *options;
	struct target *target;
	const struct sampling_method *method;
	struct xdm_link link;
	struct profile_random random;
	struct run_window window;
	struct interval_stats interval;
	struct itrace_pc_histogram histograms[XDM_CORES_MAX];	/* in the order of link.cores */

	uint64_t begin_ns, end_ns, deadline_ns;
	uint64_t sample_count;		/* of each core */
	uint64_t outside_count;		/* PCs outside of the range, of all cores */
	uint64_t lost[SAMPLING_LOSS_NUM];
	uint64_t late_count;		/* stops that took more than a flush */
	uint64_t flush_count;		/* of the link, during sampling */
	uint32_t reset_mask[XDM_CORES_MAX];	/* bits of PWRSTAT that mean a reset */

	/* the target with all cores of its SMP group; the break network of the first network_count was set aside */
	struct target *group[SAMPLING_GROUP_MAX];
	bool was_halted[SAMPLING_GROUP_MAX];	/* before it began */
	uint32_t group_dcr[SAMPLING_GROUP_MAX];
	bool group_ran[SAMPLING_GROUP_MAX];	/* at the beginning */
	unsigned int group_count;
	unsigned int network_count;
	bool group_stopped;			/* one that is not sampled was stopped meanwhile */
	uint64_t group_look_ns;		/* when to look at those next */

	enum sampling_end end;
	char why[SAMPLING_TEXT_SIZE];	/* what failed, or how it ended */
	char notes[SAMPLING_TEXT_SIZE];	/* what was found out on the way: lines */
	char warnings[SAMPLING_TEXT_SIZE];	/* what is not as it was before: lines */

	/* stopping methods: see stopped.h */
	bool is_link_lost;		/* the adapter went silent: nothing more is asked of it */
	bool is_left_standing;		/* a3 is wrong and cannot be mended: the cores must not run */
	bool stopped;			/* all cores are proved to stand by our request */
	bool failed_swap;		/* the self-test found that XSR.DDR does not swap */
	uint64_t stop_ns;		/* when they were last seen to stand, or the last flush ended */
	uint64_t asked_ns;		/* when they were last asked to stop */
	uint64_t run_ns;		/* that they ran since stop_ns */
	uint32_t a3[XDM_CORES_MAX];	/* wsr: saved */
	unsigned int guard_tck;		/* batch */
	int64_t gap_ns;			/* debugpc: time of a flush beyond that of its samples, smoothed */
	uint64_t due_ns;		/* debugpc, slow rates: of the next sample */
};

extern const struct sampling_method sampling_debugpc;
extern const struct sampling_method sampling_pipeline;
extern const struct sampling_method sampling_wsr;
extern const struct sampling_method sampling_batch;
extern const struct sampling_method sampling_legacy;

/* @returns the method of that name, NULL: there is none, or "auto". */
const struct sampling_method *sampling_method_find(const char *name);

/*
 * Take a profile of @a target, which was examined and is not in reset.
 * @returns ERROR_OK: sampled, sampling->end says how it ended; else sampling->why says why not, and the target is as
 * it was. The histograms are the caller's to free by sampling_free() in any case.
 */
int sampling_run(struct sampling *sampling, struct target *target, const struct sampling_options *options);
void sampling_free(struct sampling *sampling);

/* For methods: end it, @a why as printf; only the first call counts. */
void sampling_stop(struct sampling *sampling, enum sampling_end end, const char *why, ...)
		__attribute__((format(printf, 3, 4)));

/* For methods: core @a core was at @a pc. */
void sampling_count(struct sampling *sampling, unsigned int core, uint32_t pc);

/* For methods: all cores were counted once at @a time_ns (of the profile's clock). */
static inline void sampling_counted(struct sampling *sampling, uint64_t time_ns)
{
	sampling->sample_count++;
	interval_stats_add(&sampling->interval, time_ns);
}

/* For methods: a line for the report; of a profile that fails it is not said. */
void sampling_note(struct sampling *sampling, const char *text, ...)
		__attribute__((format(printf, 2, 3)));

/* For methods: a line on something that is not as it was before; it is said in any case. */
void sampling_warn(struct sampling *sampling, const char *text, ...)
		__attribute__((format(printf, 2, 3)));

/* For methods: wait while clients are served, until @a until_ns, the end of the profile or of OpenOCD. */
void sampling_wait(struct sampling *sampling, uint64_t until_ns);

/*
 * For methods: whether PWRSTAT as read number @a read, in a flush whose DSR says that the module is on, was not read at
 * all; then it is the end.
 */
bool sampling_lost_exchange(struct sampling *sampling, unsigned int read);

/* For methods: whether PWRSTAT as read number @a read tells of a reset of any core; then it is the end. */
bool sampling_was_reset(struct sampling *sampling, unsigned int read);

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_SAMPLING_H */
