/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One simulated trace stream: a random program, run, encoded, with its truth log, all in memory. This is what ete_sim
 * writes to disk, for callers that want seeds for fuzzing or properties.
 */

#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "cpu_unicorn.h"

/** What happens in a stream; bits of sim_stream_options.features. */
enum sim_feature {
	SIM_FEATURE_CC,			/* cycle counts with commit numbers (COMMOPT=0) */
	SIM_FEATURE_COMMOPT,		/* cycle counts without (COMMOPT=1) */
	SIM_FEATURE_TS,
	SIM_FEATURE_TSMARK,
	SIM_FEATURE_CTX,		/* Context ID and VMID, changing */
	SIM_FEATURE_RS,			/* return stack */
	SIM_FEATURE_BB,			/* branch broadcast */
	SIM_FEATURE_SPEC,		/* speculation */
	SIM_FEATURE_UNSEEN,		/* ... uncommitted elements before the start */
	SIM_FEATURE_SRCADDR,
	SIM_FEATURE_Q,
	SIM_FEATURE_ITE,
	SIM_FEATURE_TME,
	SIM_FEATURE_EVENT,
	SIM_FEATURE_IGNORE,
	SIM_FEATURE_SYNC,		/* A-Sync in the middle */
	SIM_FEATURE_FILTER,
	SIM_FEATURE_OVERFLOW,
	SIM_FEATURE_DISCARD,
	SIM_FEATURE_IRQ,
	SIM_FEATURE_IRQ_STORM,		/* many of them, also right after branches */
	SIM_FEATURE_SVC,
	SIM_FEATURE_WFX,
	SIM_FEATURE_ISB,
	SIM_FEATURE_PAUTH,
	SIM_FEATURE_MIX,		/* A32 and T32 */
	SIM_FEATURE_EL64,		/* A32, T32: exceptions are taken to A64 */
	SIM_FEATURE_HIGH,		/* code above 4 GB */
	SIM_FEATURE_RESET,
	SIM_FEATURE_FNRET,
	SIM_FEATURE_CHAIN,		/* M profile: tail chained exceptions */
	SIM_FEATURE_GARBAGE,		/* bytes before the first A-Sync */
	SIM_FEATURE_CUT,		/* uncommitted elements at the end */
	SIM_FEATURE_STRAIGHT,		/* long blocks */
	/* Legal, but decoders are known to disagree; never chosen by "random". */
	SIM_FEATURE_WRONG_EVENT,	/* the first of these */
	SIM_FEATURE_WRONG_SOURCE,
	SIM_FEATURE_Q_FOLLOWING,
	SIM_FEATURE_SOURCE_RETURN,
	SIM_FEATURE_E10_RS,
	SIM_FEATURE_LONE_CONTEXT,
	SIM_FEATURE_TIGHT,		/* the image ends with the last instruction */
	SIM_FEATURE_BARE_EXCEPTION,
	SIM_FEATURE_NUM
};

#define SIM_BIT(feature) (1ull << (feature))

struct sim_stream_options {
	enum sim_isa isa;
	bool m_profile;
	bool etmv4;
	uint64_t features;
	bool random_features;		/* add a random choice to @a features */
	uint64_t seed;
	uint64_t instructions;		/* to execute; fewer are logged where trace is off */
	uint8_t trace_id;
	/* A64 only: run this program, at its own addresses, up to stop_pc, instead of a random one. */
	const struct sim_program *program;
	uint64_t stop_pc;
	unsigned int slot;		/* streams of different slots (0..63) have code at different addresses */
};

/** A stream. Owned by the caller, filled by sim_stream_run(); all zero before the first use, reusable. */
struct sim_stream {
	struct sim_program program;
	uint64_t base;			/* address of program.code as traced */
	struct sim_program handler;	/* A64 code of exceptions; handler.len 0: none */
	uint64_t handler_base;
	struct ete_config config;
	const char *core_type;		/* static text, as in snapshots */
	uint64_t features;		/* those in effect */
	uint64_t insns;			/* in the truth log */
	struct sim_buffer trace;
	struct sim_buffer truth;
};

/** CPUs of each kind, opened when first needed. All zero before the first use. */
struct sim_cpus {
	struct sim_cpu *cpu[SIM_CPU_KIND_NUM];
};

/** Release the CPUs. */
void sim_cpus_free(struct sim_cpus *cpus);

/**
 * Make a stream. Features that the protocol or instruction set does not have are left out.
 * @returns NULL or what went wrong (static text).
 */
const char *sim_stream_run(struct sim_stream *stream, const struct sim_stream_options *options, struct sim_cpus *cpus);

/** Release the buffers. */
void sim_stream_free(struct sim_stream *stream);

/** Name of a feature as on the command line. */
const char *sim_feature_name(enum sim_feature feature);

/** Feature of a name, SIM_FEATURE_NUM if there is none; the name ends at a comma or NUL. */
enum sim_feature sim_feature_find(const char *name);

#endif
