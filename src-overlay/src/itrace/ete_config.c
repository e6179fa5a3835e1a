// SPDX-License-Identifier: GPL-2.0-or-later

#include "ete_config.h"

#include <stddef.h>
#include <string.h>

#include "status.h"

#define TRCDEVARCH_ARCHID_ETE	0xa13u
#define TRCDEVARCH_ARCHVER_ETE	5u

static unsigned int bits(uint32_t value, unsigned int high, unsigned int low)
{
	return (value >> low) & ((2u << (high - low)) - 1);
}

void itrace_ete_registers_default(enum itrace_protocol protocol, struct itrace_ete_registers *regs)
{
	memset(regs, 0, sizeof(*regs));
	regs->trcdevarch = protocol == ITRACE_PROTOCOL_ETE ? 0x47705a13 : 0x47724a13;
	regs->trcidr1 = protocol == ITRACE_PROTOCOL_ETE ? 0x4100fff0 : 0x4100f403;
	regs->trcidr2 = 0x1088;
	regs->trcconfigr = 1;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* What follows @a word at the beginning of @a text, without regard to case; NULL when it does not begin so. */
static const char *behind(const char *text, const char *word)
{
	for (; *word; text++, word++)
		if (lower(*text) != lower(*word))
			return NULL;
	return text;
}

static bool same_word(const char *a, const char *b)
{
	const char *rest = behind(a, b);

	return rest && !*rest;
}

uint32_t *itrace_ete_register(struct itrace_ete_registers *regs, const char *name)
{
	static const struct {
		const char *name;
		size_t offset;
	} table[] = {
		{ "TRCCONFIGR", offsetof(struct itrace_ete_registers, trcconfigr) },
		{ "TRCTRACEIDR", offsetof(struct itrace_ete_registers, trctraceidr) },
		{ "TRCDEVARCH", offsetof(struct itrace_ete_registers, trcdevarch) },
		{ "TRCIDR0", offsetof(struct itrace_ete_registers, trcidr0) },
		{ "TRCIDR1", offsetof(struct itrace_ete_registers, trcidr1) },
		{ "TRCIDR2", offsetof(struct itrace_ete_registers, trcidr2) },
		{ "TRCIDR8", offsetof(struct itrace_ete_registers, trcidr8) },
		{ "TRCIDR9", offsetof(struct itrace_ete_registers, trcidr9) },
		{ "TRCIDR10", offsetof(struct itrace_ete_registers, trcidr10) },
		{ "TRCIDR11", offsetof(struct itrace_ete_registers, trcidr11) },
		{ "TRCIDR12", offsetof(struct itrace_ete_registers, trcidr12) },
		{ "TRCIDR13", offsetof(struct itrace_ete_registers, trcidr13) },
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (same_word(name, table[i].name))
			return (uint32_t *)(void *)((char *)regs + table[i].offset);
	return NULL;
}

/* "ARMv8-A", "ARMv8.3-M", "ARM-AA64-R" ...: @a name behind "ARM". */
static bool architecture_type(const char *name, enum itrace_profile *profile, enum itrace_arch *arch)
{
	const char *rest = behind(name, "-AA64");

	if (rest) {
		*arch = ITRACE_ARCH_V9;
		name = rest;
		if (!*name)
			return true;
	} else if (name[0] == 'v' && name[1] >= '6' && name[1] <= '9') {
		unsigned int major = (unsigned int)(name[1] - '0');
		unsigned int minor = 0;
		name += 2;
		if (*name == '.') {
			for (name++; *name >= '0' && *name <= '9' && minor < 100; name++)
				minor = minor * 10 + (unsigned int)(*name - '0');
		}
		if (major < 8)
			*arch = ITRACE_ARCH_V7;
		else if (major == 8 && minor < 3)
			*arch = ITRACE_ARCH_V8;
		else if (major == 8 && minor == 3)
			*arch = ITRACE_ARCH_V8_3;
		else
			*arch = ITRACE_ARCH_V9;
	} else {
		return false;
	}
	if (name[0] != '-' || !name[1] || name[2])
		return false;
	switch (name[1]) {
	case 'A':
		*profile = ITRACE_PROFILE_A;
		return true;
	case 'R':
		*profile = ITRACE_PROFILE_R;
		return true;
	case 'M':
		*profile = ITRACE_PROFILE_M;
		return true;
	default:
		return false;
	}
}

bool itrace_core_type(const char *name, enum itrace_profile *profile, enum itrace_arch *arch)
{
	static const struct {
		const char *name;
		uint8_t profile;
		uint8_t arch;
	} cores[] = {
		{ "Cortex-A77", ITRACE_PROFILE_A, ITRACE_ARCH_V8_3 },
		{ "Cortex-A76", ITRACE_PROFILE_A, ITRACE_ARCH_V8_3 },
		{ "Cortex-A75", ITRACE_PROFILE_A, ITRACE_ARCH_V8_3 },
		{ "Cortex-A65", ITRACE_PROFILE_A, ITRACE_ARCH_V8_3 },
		{ "Cortex-A55", ITRACE_PROFILE_A, ITRACE_ARCH_V8_3 },
		{ "Cortex-A73", ITRACE_PROFILE_A, ITRACE_ARCH_V8 },
		{ "Cortex-A72", ITRACE_PROFILE_A, ITRACE_ARCH_V8 },
		{ "Cortex-A57", ITRACE_PROFILE_A, ITRACE_ARCH_V8 },
		{ "Cortex-A53", ITRACE_PROFILE_A, ITRACE_ARCH_V8 },
		{ "Cortex-A35", ITRACE_PROFILE_A, ITRACE_ARCH_V8 },
		{ "Cortex-A32", ITRACE_PROFILE_A, ITRACE_ARCH_V8 },
		{ "Cortex-A17", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-A15", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-A12", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-A9", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-A8", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-A7", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-A5", ITRACE_PROFILE_A, ITRACE_ARCH_V7 },
		{ "Cortex-R52", ITRACE_PROFILE_R, ITRACE_ARCH_V8 },
		{ "Cortex-R8", ITRACE_PROFILE_R, ITRACE_ARCH_V7 },
		{ "Cortex-R7", ITRACE_PROFILE_R, ITRACE_ARCH_V7 },
		{ "Cortex-R5", ITRACE_PROFILE_R, ITRACE_ARCH_V7 },
		{ "Cortex-R4", ITRACE_PROFILE_R, ITRACE_ARCH_V7 },
		{ "Cortex-M85", ITRACE_PROFILE_M, ITRACE_ARCH_V8 },
		{ "Cortex-M55", ITRACE_PROFILE_M, ITRACE_ARCH_V8 },
		{ "Cortex-M33", ITRACE_PROFILE_M, ITRACE_ARCH_V8 },
		{ "Cortex-M23", ITRACE_PROFILE_M, ITRACE_ARCH_V8 },
		{ "Cortex-M7", ITRACE_PROFILE_M, ITRACE_ARCH_V7 },
		{ "Cortex-M4", ITRACE_PROFILE_M, ITRACE_ARCH_V7 },
		{ "Cortex-M3", ITRACE_PROFILE_M, ITRACE_ARCH_V7 },
		{ "Cortex-M0+", ITRACE_PROFILE_M, ITRACE_ARCH_V7 },
		{ "Cortex-M0", ITRACE_PROFILE_M, ITRACE_ARCH_V7 },
	};
	*profile = ITRACE_PROFILE_A;
	*arch = ITRACE_ARCH_V9;
	const char *rest = behind(name, "ARM");
	if (rest) {
		enum itrace_profile found_profile = ITRACE_PROFILE_A;
		enum itrace_arch found_arch = ITRACE_ARCH_V9;
		if (!architecture_type(rest, &found_profile, &found_arch))
			return false;
		*profile = found_profile;
		*arch = found_arch;
		return true;
	}
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
		if (same_word(name, cores[i].name)) {
			*profile = (enum itrace_profile)cores[i].profile;
			*arch = (enum itrace_arch)cores[i].arch;
			return true;
		}
	}
	return false;
}

/* What the identification registers say that no trace unit says; NULL when all is well. */
static const char *absurd(const struct itrace_ete_registers *regs)
{
	const unsigned int address_size = bits(regs->trcidr2, 4, 0);
	const unsigned int cid_size = bits(regs->trcidr2, 9, 5);
	const unsigned int vmid_size = bits(regs->trcidr2, 14, 10);

	if (address_size != 4 && address_size != 8)
		return "TRCIDR2.IASIZE is neither 4 nor 8 bytes: TRCIDR2 is wrong";
	if (cid_size && cid_size != 4)
		return "TRCIDR2.CIDSIZE is neither 0 nor 4 bytes: TRCIDR2 is wrong";
	if (vmid_size > 4 || vmid_size == 3)
		return "TRCIDR2.VMIDSIZE is none of 0, 1, 2 and 4 bytes: TRCIDR2 is wrong";
	if (bits(regs->trcidr2, 28, 25) > 8)
		return "TRCIDR2.CCSIZE is more than 20 bits: TRCIDR2 is wrong";
	return NULL;
}

/* What is switched on that is not there. */
static const char *contradiction(const struct itrace_ete_registers *regs)
{
	if (bits(regs->trcconfigr, 4, 4) && !bits(regs->trcidr0, 7, 7))
		return "TRCCONFIGR.CCI is set, but by TRCIDR0.TRCCCI there is no cycle counting: "
			"one of them is wrong or missing";
	if (bits(regs->trcconfigr, 12, 12) && !bits(regs->trcidr0, 9, 9))
		return "TRCCONFIGR.RS is set, but by TRCIDR0.RETSTACK there is no return stack: "
			"one of them is wrong or missing";
	return NULL;
}

/* What the registers ask for that is not decoded; NULL when all is well. */
static const char *not_decoded(const struct itrace_ete_config *config)
{
	const struct itrace_ete_registers *regs = &config->regs;

	if (config->protocol == ITRACE_PROTOCOL_ETE) {
		if (bits(regs->trcdevarch, 11, 0) != TRCDEVARCH_ARCHID_ETE)
			return "TRCDEVARCH is not that of an ETE: bits 11:0 are not 0xa13";
		if (bits(regs->trcdevarch, 15, 12) != TRCDEVARCH_ARCHVER_ETE)
			return "TRCDEVARCH is not that of an ETE: bits 15:12 are not 5";
		return NULL;
	}
	if (bits(regs->trcidr1, 11, 8) != 4)
		return "TRCIDR1 is not that of an ETMv4: bits 11:8 are not 4";
	if (bits(regs->trcconfigr, 2, 1))
		return "TRCCONFIGR.INSTP0 is set: load and store instructions as P0 are not decoded";
	if (bits(regs->trcconfigr, 17, 16))
		return "TRCCONFIGR.DA or DV is set: data trace is not decoded";
	if (bits(regs->trcconfigr, 10, 8))
		return "TRCCONFIGR.COND is set: conditional non-branch trace is not decoded";
	return NULL;
}

static const char *refuse(const struct itrace_ete_config *config)
{
	const char *why = not_decoded(config);

	if (!why)
		why = absurd(&config->regs);
	if (!why)
		why = contradiction(&config->regs);
	return why;
}

static uint8_t vmid_len(const struct itrace_ete_config *config)
{
	unsigned int size = bits(config->regs.trcidr2, 14, 10);

	if (size == 1)
		return 1;
	if ((size == 2 || size == 4) && config->version > 0x40)
		return (uint8_t)size;
	return 0;
}

int itrace_ete_config_init(struct itrace_ete_config *config, enum itrace_protocol protocol,
		enum itrace_profile profile, enum itrace_arch arch, const struct itrace_ete_registers *regs, const char **why)
{
	const bool ete = protocol == ITRACE_PROTOCOL_ETE;

	memset(config, 0, sizeof(*config));
	config->regs = *regs;
	config->protocol = protocol;
	config->profile = profile;
	config->arch = arch;
	if (ete)
		config->version = (uint8_t)(0x50 | bits(regs->trcdevarch, 19, 16));
	else
		config->version = (uint8_t)(0x40 | bits(regs->trcidr1, 7, 4));
	config->trace_id = regs->trctraceidr & 0x7f;
	config->vmid_len = vmid_len(config);
	config->cid_len = bits(regs->trcidr2, 9, 5) == 4 ? 4 : 0;
	config->max_spec_depth = regs->trcidr8;
	unsigned int cycle_bits = bits(regs->trcidr2, 28, 25) + 12;
	config->cycle_mask = cycle_bits >= 32 ? 0xffffffffu : (1u << cycle_bits) - 1;
	config->cycle_count = bits(regs->trcconfigr, 4, 4);
	/* COMMOPT means something only where cycle counting is implemented (TRCCCI) */
	config->commit_in_cc = !(bits(regs->trcidr0, 29, 29) && bits(regs->trcidr0, 7, 7));
	config->conditional = !ete && bits(regs->trcidr0, 6, 6) && bits(regs->trcconfigr, 10, 8);
	config->data_trace = !ete && bits(regs->trcidr0, 4, 3) && bits(regs->trcconfigr, 17, 16);
	config->q_elements = bits(regs->trcidr0, 16, 15);
	config->return_stack = bits(regs->trcconfigr, 12, 12);
	config->marker_first = ete && config->version >= 0x51 && bits(regs->trcidr0, 23, 23);
	config->start_is_p0 = !bits(regs->trcidr0, 30, 30);
	config->rules.wfx = config->version >= 0x43 && bits(regs->trcidr2, 31, 31);
	config->rules.v8_3 = arch >= ITRACE_ARCH_V8_3;
	config->rules.v9 = arch >= ITRACE_ARCH_V9;
	config->rules.m_profile = profile == ITRACE_PROFILE_M;

	const char *refused = refuse(config);
	if (why)
		*why = refused;
	return refused ? ITRACE_BAD_CONFIG : ITRACE_OK;
}
