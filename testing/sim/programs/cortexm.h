/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Registers of the core and of the simulated chip, for the programs. */

#ifndef CORTEXM_PROGRAM_H
#define CORTEXM_PROGRAM_H

#include <stdint.h>

#define REG(addr)	(*(volatile uint32_t *)(addr))
#define SYST_CSR	REG(0xe000e010)
#define SYST_RVR	REG(0xe000e014)
#define SYST_CVR	REG(0xe000e018)
#define NVIC_ISER	REG(0xe000e100)
#define NVIC_ISPR	REG(0xe000e200)
#define NVIC_IPR(n)	REG(0xe000e400 + 4 * (n))
#define ICSR		REG(0xe000ed04)
#define SCR		REG(0xe000ed10)
#define SHPR2		REG(0xe000ed1c)
#define SHPR3		REG(0xe000ed20)
#define SHCSR		REG(0xe000ed24)
#define PENDSVSET	(1u << 28)
#define TIMER_LOAD(n)	REG(0x40001000 + 16 * (n))
#define TIMER_CTRL(n)	REG(0x40001004 + 16 * (n))

#define NOINLINE	__attribute__((noinline))

static inline uint32_t mix(uint32_t sum, uint32_t value)
{
	return (sum << 7 | sum >> 25) ^ (value * 0x9e3779b1u);
}

/* What a program ends with: its own idea of whether all was right. */
extern volatile uint32_t result, checksum;

int main(void);

#endif
