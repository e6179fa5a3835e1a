/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Encoder of Arm ETE (1.0 to 1.3) and ETMv4 instruction trace. It takes what a processor did, in program order, and
 * gives the trace bytes and the truth: the text of what a decoder must find in them (format: README.md).
 *
 * Nothing is checked: the caller must feed facts that follow from each other.
 * Source of the rules: Arm ETE / ETMv4 specifications as described in the project's protocol reference.
 */

#ifndef ETE_ENCODER_H
#define ETE_ENCODER_H

#include "insn_class.h"
#include "sim_buffer.h"

/** What is fixed in a trace unit and how it is programmed. */
struct ete_config {
	bool etmv4;			/* ETMv4 instead of ETE */
	unsigned int minor;		/* ETE 1.minor or ETMv4.minor */
	enum sim_isa isa;		/* of most of the program; decides IASIZE and the core type */
	bool m_profile;
	bool v8m;			/* M profile: Armv8-M, else Armv7-M */
	uint8_t trace_id;		/* 1..0x6f */

	unsigned int cid_len;		/* Context ID bytes: 0 or 4 */
	unsigned int vmid_len;		/* VMID bytes: 0, 1, 2 or 4 */
	bool cycle_counts;
	bool commopt;			/* TRCIDR0.COMMOPT: no commit numbers in cycle count packets */
	unsigned int cc_threshold;
	bool timestamps;
	bool ts_markers;		/* TRCIDR0.TSMARK */
	unsigned int return_stack_depth;	/* 0: disabled; at most 15 */
	bool branch_broadcast;
	unsigned int max_spec_depth;	/* TRCIDR8 */
	bool wfx;			/* TRCIDR2.WFXMODE: WFI and WFE are P0 */
	bool q_elements;
	bool ite;
	bool commtrans;			/* TRCIDR0.COMMTRANS: 1: transaction start is not P0 */
};

/** How often (per mille) the encoder makes a choice that the architecture leaves open. */
struct ete_rates {
	unsigned int ignore;		/* an Ignore packet before another packet */
	unsigned int sync;		/* A-Sync and Trace Info in the middle, per instruction */
	unsigned int sync_late_address;	/* after it, some atoms come before the address */
	unsigned int greedy_atoms;	/* pack atoms as long as possible, else any legal format */
	unsigned int flush_atoms;	/* do not wait for more atoms */
	unsigned int smallest_address;	/* shortest address packet, else any legal one */
	unsigned int combined_context;	/* Address with Context packet although the context has not changed */
	unsigned int same_context;	/* Context packet without payload */
	unsigned int context_last;	/* address packet, then Context packet */
	unsigned int skip_ids;		/* leave unchanged Context ID and VMID out */
	unsigned int mispredict;	/* per atom, if max_spec_depth */
	unsigned int wrong_path_exception;	/* exceptions among cancelled elements */
	unsigned int commit;		/* explicit Commit, per atom packet */
	unsigned int cycle_count;	/* per atom packet */
	unsigned int cc_unknown;	/* cycle count packet without count */
	unsigned int ts_cycle_count;	/* timestamp with cycle count, if cycle counts are on */
	unsigned int full_timestamp;	/* more timestamp bytes than needed */
	unsigned int source_address;	/* per block (ETE) */
	unsigned int q;			/* per block */
	unsigned int explicit_return;	/* address although the return stack has it */
	unsigned int target_exception;	/* exception E=10 instead of address and E=01 */
	unsigned int long_exception;	/* exception packet of three bytes where two do */
	unsigned int function_return;	/* v8-M: a return is one to the Secure state */
	unsigned int leave_uncommitted;	/* at the end */
	/* Legal streams that known decoders take badly; off unless wanted. */
	unsigned int wrong_path_event;	/* events among cancelled elements */
	unsigned int wrong_path_source;	/* source addresses among cancelled elements */
	unsigned int q_following;	/* Q packets whose address is the next packet */
	unsigned int source_return;	/* source address right after a return stack match, and for ERET */
	unsigned int target_exception_rs;	/* exception E=10 while the return stack is on */
	unsigned int lone_context;	/* context without address where the ISA was last changed without address */
	unsigned int bare_exception;	/* exception right after a branch whose target was not traced */
};

enum ete_security {
	ETE_SECURE,
	ETE_NON_SECURE,
	ETE_ROOT,
	ETE_REALM,
	ETE_SECURITY_NUM
};

/** Processor context as the trace unit reports it. */
struct ete_context {
	bool aarch64;
	uint8_t el;
	enum ete_security security;
	uint32_t cid;
	uint32_t vmid;
};

/** One executed instruction. */
struct ete_insn {
	uint64_t pc;
	uint64_t next_pc;	/* of the instruction that follows or would follow if no exception came */
	uint32_t opcode;	/* as for sim_insn_classify() */
	enum sim_isa isa;
	enum sim_isa next_isa;
	bool exception_return;	/* M profile: this branch returns from an exception */
	bool taken;		/* only read for conditional branches whose target is the next instruction */
};

/** A trace unit register by its name in snapshots. */
struct ete_register {
	const char *name;
	uint32_t value;
};

/** Registers of ete_config_registers(). */
#define ETE_REGISTER_MAX 8

/** Preferred return address of an M profile tail chained exception. */
#define ETE_TAIL_CHAINED 0xfffffffeull

struct ete_encoder;

/**
 * Registers that describe a configuration.
 * @returns how many of @a registers were filled.
 */
unsigned int ete_config_registers(const struct ete_config *config, struct ete_register registers[ETE_REGISTER_MAX]);

/**
 * Start a trace: writes A-Sync and Trace Info.
 * @param config, rates Copied.
 * @param seed Of all choices the encoder makes.
 * @param unseen Speculation depth in the first Trace Info: P0 elements from before the trace. At most max_spec_depth.
 * @param trace, truth Bytes and log are appended here; the caller owns them and keeps them until ete_encoder_free().
 * @returns the encoder, to be released by ete_encoder_free().
 */
struct ete_encoder *ete_encoder_new(const struct ete_config *config, const struct ete_rates *rates, uint64_t seed,
		unsigned int unseen, struct sim_buffer *trace, struct sim_buffer *truth);

/** Release the encoder, not its buffers. */
void ete_encoder_free(struct ete_encoder *enc);

/** An instruction was executed. */
void ete_encoder_insn(struct ete_encoder *enc, const struct ete_insn *insn);

/**
 * An exception was taken.
 * @param type Number as in the packet: up to 31 for A and R profile, 10 bits for M profile.
 * @param pra Preferred return address or ETE_TAIL_CHAINED.
 * @param isa Instruction set at @a pra.
 * @param fault_pending M profile only.
 */
void ete_encoder_exception(struct ete_encoder *enc, unsigned int type, uint64_t pra, enum sim_isa isa,
		bool fault_pending);

/** The processor was reset (ETE); the next instruction is the one at the reset vector. */
void ete_encoder_pe_reset(struct ete_encoder *enc);

/** The context changed; takes effect with the next instruction. */
void ete_encoder_context(struct ete_encoder *enc, const struct ete_context *context);

/** Cycles went by. */
void ete_encoder_cycles(struct ete_encoder *enc, unsigned int cycles);

/** A timestamp was requested. With ts_markers the marker comes now and the timestamp a few elements later. */
void ete_encoder_timestamp(struct ete_encoder *enc, uint64_t timestamp);

/** Trace events; bit n set: event n. 1..15. */
void ete_encoder_event(struct ete_encoder *enc, unsigned int mask);

/** Instrumentation (ETE 1.3): a TRCIT instruction wrote @a value at exception level @a el. */
void ete_encoder_instrumentation(struct ete_encoder *enc, unsigned int el, uint64_t value);

/** A transaction started, was committed or failed (ETE). After a failure any instruction may follow. */
void ete_encoder_transaction_start(struct ete_encoder *enc);
void ete_encoder_transaction_commit(struct ete_encoder *enc);
void ete_encoder_transaction_fail(struct ete_encoder *enc);

/** Filtering turned the trace off or on again; facts fed while off are lost. */
void ete_encoder_filter(struct ete_encoder *enc, bool on);

/** The trace unit's buffer overflowed: elements were lost, trace starts anew with the next instruction. */
void ete_encoder_overflow(struct ete_encoder *enc);

/** Trace was disabled and enabled again: uncommitted elements are lost. */
void ete_encoder_discard(struct ete_encoder *enc);

/** End of trace: writes what is due. Call once, before ete_encoder_free(). */
void ete_encoder_finish(struct ete_encoder *enc);

/** @returns the number of instructions written to the truth log so far. */
uint64_t ete_encoder_logged(const struct ete_encoder *enc);

#endif
