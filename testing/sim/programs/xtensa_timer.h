/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The first timer of an ESP32's core: CCOMPARE0, interrupt 6, of level 1. Time is in core cycles. */

#ifndef SIM_XTENSA_TIMER_H
#define SIM_XTENSA_TIMER_H

#include <stdint.h>

#define TIMER_INTERRUPT		(1u << 6)

void on_interrupt(void);
void interrupts_start(uint32_t mask);

static inline uint32_t timer_now(void)
{
	uint32_t now;

	__asm__ volatile ("rsr %0, ccount" : "=a"(now));
	return now;
}

/* The next interrupt: a period after the last, or from now, if that is over: the core may have been held for long. */
static inline void timer_next(uint32_t period)
{
	uint32_t at;

	__asm__ volatile ("rsr %0, ccompare0" : "=a"(at));
	at += period;
	if ((int32_t)(at - timer_now()) < 100)
		at = timer_now() + period;
	__asm__ volatile ("wsr %0, ccompare0; esync" : : "a"(at));
}

static inline void timer_start(uint32_t period)
{
	const uint32_t at = timer_now() + period;

	__asm__ volatile ("wsr %0, ccompare0; esync" : : "a"(at));
	interrupts_start(TIMER_INTERRUPT);
}

#endif /* SIM_XTENSA_TIMER_H */
