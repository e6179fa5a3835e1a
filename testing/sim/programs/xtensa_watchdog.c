// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * xtensa_profile.c with a timer interrupt that feeds a watchdog (ESP32, timer group 0) each 10 ms at 20 MHz. The
 * watchdog is set to bite if it is not fed. `ticks` counts the feeds.
 */

#define main profile_main
#include "xtensa_profile.c"
#undef main

#include "xtensa_timer.h"

#define PERIOD		200000u		/* 10 ms */

#define WDT_CONFIG	(*(volatile uint32_t *)0x3ff5f048)
#define WDT_FEED	(*(volatile uint32_t *)0x3ff5f060)
#define WDT_PROTECT	(*(volatile uint32_t *)0x3ff5f064)
#define WDT_ENABLE	(1u << 31)
#define WDT_KEY		0x50d83aa1u

volatile uint32_t ticks;

WORK static void feed_watchdog(void)
{
	WDT_PROTECT = WDT_KEY;
	WDT_FEED = 1;
	WDT_PROTECT = 0;
}

void on_interrupt(void)
{
	timer_next(PERIOD);
	feed_watchdog();
	ticks = ticks + 1;
}

int main(void)
{
	WDT_PROTECT = WDT_KEY;
	WDT_CONFIG = WDT_ENABLE;
	WDT_PROTECT = 0;
	timer_start(PERIOD);
	return profile_main();
}
