/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What the registers of a trace unit and the type of its core mean for decoding.
 *
 * ETE is ETMv4 with another configuration. The registers are kept as read; what follows from them is computed once.
 * Source: IHI 0064 (ETMv4) and DDI 0487 (ETE) register descriptions.
 */

#ifndef OPENOCD_ITRACE_ETE_CONFIG_H
#define OPENOCD_ITRACE_ETE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "insn.h"

enum itrace_protocol {
	ITRACE_PROTOCOL_ETE,
	ITRACE_PROTOCOL_ETMV4,
	ITRACE_PROTOCOL_MTB,	/* has registers of its own: mtb_ring.h */
	ITRACE_PROTOCOL_NUM
};

enum itrace_profile {
	ITRACE_PROFILE_A,
	ITRACE_PROFILE_R,
	ITRACE_PROFILE_M,
	ITRACE_PROFILE_NUM
};

/* Architecture version of the core, only as fine as it matters. */
enum itrace_arch {
	ITRACE_ARCH_V7,		/* also Armv6-M */
	ITRACE_ARCH_V8,
	ITRACE_ARCH_V8_3,
	ITRACE_ARCH_V9,		/* Armv8.4 and later; OpenCSD's "AA64" */
	ITRACE_ARCH_NUM
};

/* The registers as read from the trace unit. Those not given hold the value of itrace_ete_registers_default(). */
struct itrace_ete_registers {
	uint32_t trcconfigr;
	uint32_t trctraceidr;
	uint32_t trcdevarch;
	uint32_t trcidr0;
	uint32_t trcidr1;
	uint32_t trcidr2;
	uint32_t trcidr8;
	uint32_t trcidr9;
	uint32_t trcidr10;
	uint32_t trcidr11;
	uint32_t trcidr12;
	uint32_t trcidr13;
};

struct itrace_ete_config {
	struct itrace_ete_registers regs;
	enum itrace_protocol protocol;
	enum itrace_profile profile;
	enum itrace_arch arch;

	/* computed by itrace_ete_config_init() */
	uint8_t version;	/* major << 4 | minor: 0x40 .. 0x46 ETMv4, 0x50 .. 0x53 ETE 1.0 .. 1.3 */
	uint8_t trace_id;	/* TRCTRACEIDR[6:0] */
	uint8_t vmid_len;	/* bytes of a virtual context ID in a context packet: 0, 1, 2, 4 */
	uint8_t cid_len;	/* bytes of a context ID: 0 or 4 */
	uint32_t max_spec_depth;/* TRCIDR8 */
	uint32_t cycle_mask;	/* of the count in a timestamp packet */
	bool cycle_count;	/* TRCCONFIGR.CCI: cycle counting is on */
	bool commit_in_cc;	/* cycle count packets carry a commit number: TRCIDR0.COMMOPT == 0 (or no cycle counting) */
	bool conditional;	/* conditional instruction packets are legal (ETMv4) */
	bool data_trace;	/* data synchronisation markers are legal (ETMv4) */
	bool q_elements;	/* TRCIDR0.QSUPP != 0 */
	bool return_stack;	/* TRCCONFIGR.RS */
	bool marker_first;	/* timestamps mean something only from the first marker on (ETE >= 1.1, TRCIDR0.TSMARK) */
	bool start_is_p0;	/* Transaction Start counts as P0: TRCIDR0.COMMTRANS == 0 */
	struct itrace_insn_rules rules;
};

/* Fill @a regs with what OpenCSD assumes for registers that a snapshot does not name. */
void itrace_ete_registers_default(enum itrace_protocol protocol, struct itrace_ete_registers *regs);

/*
 * The register called @a name ("TRCIDR0", without regard to case), or NULL when decoding needs none of that name.
 * It is a member of @a regs; nothing is read.
 */
uint32_t *itrace_ete_register(struct itrace_ete_registers *regs, const char *name);

/*
 * Profile and architecture from a core's type as snapshots write it: "Cortex-A53", "ARMv8-A", "ARMv8.3-M", "ARM-AA64".
 * @returns false for an unknown name; *profile and *arch are then A and V9.
 */
bool itrace_core_type(const char *name, enum itrace_profile *profile, enum itrace_arch *arch);

/*
 * Compute the properties from @a regs.
 * @param[out] why on ITRACE_BAD_CONFIG one line that names the register and what is wrong with it (static text)
 * @returns ITRACE_OK, or ITRACE_BAD_CONFIG: the registers contradict each other, or ask for data trace, load/store P0
 * or another trace unit architecture, which are not decoded.
 */
int itrace_ete_config_init(struct itrace_ete_config *config, enum itrace_protocol protocol,
		enum itrace_profile profile, enum itrace_arch arch, const struct itrace_ete_registers *regs, const char **why);

#endif /* OPENOCD_ITRACE_ETE_CONFIG_H */
