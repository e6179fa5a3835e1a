// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A program that waits most of the time: a timer interrupt comes every 20000 cycles (1 ms at 20 MHz) and works for some
 * 1800 of them, then the core is in WAITI again. `ticks` counts.
 */

#include "xtensa_timer.h"
#include "xtensa_work.h"

#define PERIOD		20000u

volatile uint32_t ticks;
volatile uint32_t result;

WORK static uint32_t tick_work(uint32_t seed)
{
	for (unsigned int i = 0; i < 150; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
	}
	return seed;
}

void on_interrupt(void)
{
	timer_next(PERIOD);
	ticks = ticks + 1;
	result = tick_work(ticks);
}

WORK static void idle(void)
{
	for (;;)
		__asm__ volatile ("waiti 0");
}

int main(void)
{
	timer_start(PERIOD);
	idle();
	return 0;
}
