// SPDX-License-Identifier: GPL-2.0-or-later

/* Interrupts at any time: SysTick, timers of several priorities, SVC and PendSV between them, sleeping in between. */

#include "cortexm.h"

volatile uint32_t counts[8];
static volatile uint32_t depth;
volatile uint32_t deepest, ticks, switches;

void on_systick(void);
void on_pendsv(void);
void on_svc(void);
void on_irq0(void);
void on_irq1(void);
void on_irq2(void);
void on_irq3(void);

static NOINLINE uint32_t spend(uint32_t n)
{
	uint32_t sum = n;

	for (uint32_t i = 0; i < n; i++)
		sum = mix(sum, i);
	return sum;
}

static void enter(uint32_t what)
{
	counts[what]++;
	if (++depth > deepest)
		deepest = depth;
}

void on_systick(void)
{
	enter(0);
	ticks++;
	ICSR = PENDSVSET;	/* chains unless it interrupted something */
	depth--;
}

void on_pendsv(void)
{
	enter(1);
	switches++;
	spend(5);
	depth--;
}

void on_svc(void)
{
	enter(2);
	spend(3);
	depth--;
}

void on_irq0(void) { enter(3); spend(2); depth--; }
void on_irq1(void) { enter(4); spend(9); depth--; }
void on_irq2(void) { enter(5); spend(20); ICSR = PENDSVSET; depth--; }
void on_irq3(void) { enter(6); spend(40); depth--; }

static NOINLINE uint32_t collatz(uint32_t n)
{
	uint32_t steps = 0;

	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

int main(void)
{
	uint32_t sum = 0;

	SHPR2 = 0x80000000;
	SHPR3 = 0x40c00000;
	NVIC_IPR(0) = 0xc0804000;
	NVIC_ISER = 0xf;
	SYST_RVR = 2999;
	SYST_CVR = 0;
	SYST_CSR = 7;
	static const uint16_t loads[4] = { 3000, 4000, 5000, 7000 };
	for (uint32_t i = 0; i < 4; i++) {
		TIMER_LOAD(i) = loads[i];
		TIMER_CTRL(i) = 3;
	}
	for (uint32_t i = 1; i <= 400; i++) {
		sum = mix(sum, collatz(i));
		if (!(i & 7))
			__asm__ volatile("svc #0" ::: "memory");
		if (!(i & 63))
			__asm__ volatile("wfi" ::: "memory");
	}
	checksum = sum;
	result = 1;
	for (;;)
		__asm__ volatile("wfi" ::: "memory");
}
