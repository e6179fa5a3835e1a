// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Exceptions that the program raises itself, so that any core does the same at the same instruction: SVC, PendSV, set
 * pending interrupts that nest and chain, and faults that are stepped over.
 */

#include "cortexm.h"

static uint32_t sum;
static uint32_t depth, deepest;
volatile uint32_t faults;

void on_nmi(void);
void on_busfault(void);
void on_usagefault(void);
void on_svc(void);
void on_pendsv(void);
void on_hardfault(void);
void on_fault(uint32_t *frame);
void on_irq0(void);
void on_irq1(void);
void on_irq2(void);
void on_irq3(void);

static void enter(uint32_t what)
{
	sum = mix(sum, what);
	if (++depth > deepest)
		deepest = depth;
}

static void leave(void)
{
	depth--;
}

void on_nmi(void)
{
	enter(11);
	sum = mix(sum, 12);
	leave();
}

/* Whoever calls is privileged afterwards. */
void on_svc(void)
{
	uint32_t control;

	enter(1);
	__asm__ volatile("mrs %0, control" : "=r"(control));
	sum = mix(sum, control);
	__asm__ volatile("msr control, %0" :: "r"(control & ~1u));
	if (sum & 1)
		ICSR = PENDSVSET;	/* of lower priority: follows */
	if (sum & 2)
		NVIC_ISPR = 1;		/* of higher priority: at once */
	sum = mix(sum, 2);
	leave();
}

void on_pendsv(void)
{
	enter(3);
	for (uint32_t i = sum & 3; i; i--)
		sum = mix(sum, i);
	leave();
}

void on_irq0(void)
{
	enter(4);
	NVIC_ISPR = 2;	/* the same priority: follows */
	leave();
}

void on_irq1(void)
{
	enter(5);
	if (sum & 4)
		ICSR = PENDSVSET;
	leave();
}

void on_irq2(void)
{
	enter(6);
	NVIC_ISPR = 1;	/* nested */
	sum = mix(sum, 7);
	leave();
}

void on_irq3(void)
{
	enter(8);
	NVIC_ISPR = 4;	/* nested, which nests again */
	sum = mix(sum, 9);
	leave();
}

/* All faults that can be made here are of 16 or 32-bit instructions: go on behind. */
void on_fault(uint32_t *frame)
{
	uint16_t half = *(const uint16_t *)frame[6];

	faults++;
	enter(10);
	sum = mix(sum, frame[6]);
	frame[6] += half >> 11 >= 0x1d ? 4 : 2;
	leave();
}

__attribute__((naked)) void on_hardfault(void)
{
	__asm__ volatile(
		"mov r1, lr\n"
		"lsls r1, r1, #29\n"	/* bit 2: which stack */
		"bmi 1f\n"
		"mrs r0, msp\n"
		"b 2f\n"
		"1: mrs r0, psp\n"
		"2: ldr r2, =on_fault\n"
		"bx r2\n"		/* which returns from the exception */
		".ltorg\n");
}

#ifdef __ARM_ARCH_8M_MAIN__
/* Faults with handlers of their own. */
__attribute__((naked)) void on_busfault(void)
{
	__asm__ volatile("b.w on_hardfault");
}

__attribute__((naked)) void on_usagefault(void)
{
	__asm__ volatile("b.w on_hardfault");
}

static NOINLINE void unprivileged(void)
{
	uint32_t primask;

	__asm__ volatile(
		"mrs r0, control\n"
		"orr r0, r0, #1\n"
		"msr control, r0\n"
		"isb\n"
		"cpsid i\n"		/* no effect */
		"mrs %0, primask\n"
		"msr basepri, r0\n"	/* none either */
		"svc #1\n"
		: "=r"(primask) :: "r0", "memory");
	sum = mix(sum, primask);
}

static NOINLINE void masks(void)
{
	__asm__ volatile("msr basepri, %0" :: "r"(0x80) : "memory");
	NVIC_ISPR = 2 | 4 | 8;		/* only the first is above */
	sum = mix(sum, 30);
	__asm__ volatile("msr basepri_max, %0" :: "r"(0xc0) : "memory");
	sum = mix(sum, 31);
	__asm__ volatile("msr basepri, %0" :: "r"(0) : "memory");
	sum = mix(sum, 32);
	__asm__ volatile("cpsid f" ::: "memory");
	NVIC_ISPR = 1;
	sum = mix(sum, 33);
	__asm__ volatile("cpsie f\n\tisb" ::: "memory");
}
#endif

static NOINLINE void svc(void)
{
	__asm__ volatile("svc #7" ::: "memory");
}

static NOINLINE void undefined(void)
{
	__asm__ volatile("udf #1" ::: "memory");
}

static NOINLINE uint32_t bad_load(uint32_t addr)
{
	uint32_t value = 5;

	__asm__ volatile("ldr %0, [%1]" : "+r"(value) : "r"(addr) : "memory");
	return value;
}

static NOINLINE void masked(void)
{
	__asm__ volatile("cpsid i" ::: "memory");
	NVIC_ISPR = 1 | 8;
	ICSR = PENDSVSET;
	sum = mix(sum, 20);
	__asm__ volatile("cpsie i\n\tisb" ::: "memory");
	sum = mix(sum, 21);
}

/* The program's stack is the process stack from now on. */
static NOINLINE void use_process_stack(void)
{
	__asm__ volatile(
		"mrs r0, msp\n"
		"msr psp, r0\n"
		"ldr r1, =__process_stack\n"
		"movs r2, #2\n"
		"msr control, r2\n"
		"isb\n"
		"mov sp, r0\n"
		"msr msp, r1\n"
		".pushsection .text\n.popsection\n"
		::: "r0", "r1", "r2", "memory");
}

static NOINLINE void one_round(uint32_t i)
{
	svc();
	NVIC_ISPR = 4;
	sum = mix(sum, i);
	NVIC_ISPR = 8;
	ICSR = PENDSVSET;
	svc();
	masked();
	if (i & 1)
		undefined();
	if (i & 2)
		sum = mix(sum, bad_load(0xa0000000));
	NVIC_ISPR = 1 | 2 | 4 | 8;
	svc();
	if (i % 3 == 2)
		ICSR = 1u << 31;	/* NMI */
#ifdef __ARM_ARCH_8M_MAIN__
	unprivileged();
	masks();
	if (i == 5)
		SHCSR = 7u << 16;
#endif
}

int main(void)
{
	SHPR2 = 0x80000000;		/* SVC */
	SHPR3 = 0x00c00000;		/* PendSV */
	NVIC_IPR(0) = 0xc0804040;	/* 0 and 1 equal, 2 lower, 3 lowest */
	NVIC_ISER = 0xf;
	for (uint32_t i = 0; i < 12; i++) {
		if (i == 6)
			use_process_stack();
		one_round(i);
	}
	checksum = sum;
	result = 1 | (depth ? 2 : 0) | (deepest < 3 ? 4 : 0) | (faults != 12 ? 8 : 0);
	return 0;
}
