// SPDX-License-Identifier: GPL-2.0-or-later

/* Work without exceptions: calls, recursion, tables of code, function pointers, conditions, copies, division. */

#include "cortexm.h"

#include <stddef.h>

#define ITEMS 48

static uint32_t items[ITEMS];
static uint32_t copy[ITEMS];
static uint32_t seed;
volatile uint32_t rounds;
volatile uint32_t watched;

/* For the trace: the program does not touch it, nor does the start-up code. */
uint32_t __mtb_buffer__[256] __attribute__((section(".noinit"), aligned(1024), used));

static NOINLINE uint32_t next(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static NOINLINE uint32_t fibonacci(uint32_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOINLINE uint32_t hanoi(uint32_t n, uint32_t from, uint32_t to)
{
	if (!n)
		return 0;
	return hanoi(n - 1, from, 6 - from - to) * 2 + from * to + hanoi(n - 1, 6 - from - to, to);
}

static NOINLINE void sort(uint32_t *a, int low, int high)
{
	uint32_t pivot = a[(low + high) / 2];
	int i = low;
	int j = high;

	while (i <= j) {
		while (a[i] < pivot)
			i++;
		while (a[j] > pivot)
			j--;
		if (i <= j) {
			uint32_t other = a[i];
			a[i++] = a[j];
			a[j--] = other;
		}
	}
	if (low < j)
		sort(a, low, j);
	if (i < high)
		sort(a, i, high);
}

/* Dense: a table of jumps. */
static NOINLINE uint32_t machine(const uint8_t *code, uint32_t len)
{
	uint32_t a = 1;
	uint32_t b = 2;

	for (uint32_t i = 0; i < len; i++) {
		switch (code[i] % 12) {
		case 0: a += b; break;
		case 1: b ^= a << 3; break;
		case 2: a -= 7; break;
		case 3: b = b >> 1 | b << 31; break;
		case 4: a *= 5; break;
		case 5: b += code[i]; break;
		case 6: { uint32_t c = a; a = b; b = c; } break;
		case 7: a = ~a; break;
		case 8: b |= a & 0xff; break;
		case 9: a ^= fibonacci(b & 3); break;
		case 10: if (a & 1) i++; break;
		default: b -= a; break;
		}
	}
	return a ^ b;
}

/* Conditional instructions where there are any. */
static NOINLINE uint32_t conditions(uint32_t x, uint32_t y)
{
	uint32_t sum = 0;

	sum += x > y ? x - y : y - x;
	sum ^= (int32_t)x < 0 ? -x : x;
	if (x & 4)
		sum += 3;
	else
		sum -= 5;
	if ((x ^ y) & 1) {
		sum <<= 1;
		x++;
	}
	return sum + (x == y ? 11 : x);
}

static uint32_t add(uint32_t a, uint32_t b) { return a + b; }
static uint32_t sub(uint32_t a, uint32_t b) { return a - b; }
static uint32_t divide(uint32_t a, uint32_t b) { return a / (b | 1) + a % (b | 1); }
static uint32_t either(uint32_t a, uint32_t b) { return (a | b) - (a & b); }

static uint32_t (*const operations[])(uint32_t a, uint32_t b) = { add, sub, divide, either, conditions };

static NOINLINE uint32_t one_round(uint32_t sum)
{
	for (size_t i = 0; i < ITEMS; i++)
		items[i] = next() & 0xffff;
	__builtin_memcpy(copy, items, sizeof(items));
	sort(items, 0, ITEMS - 1);
	for (size_t i = 1; i < ITEMS; i++) {
		if (items[i - 1] > items[i])
			result |= 2;
		sum = mix(sum, operations[i % 5](copy[i], items[i]));
	}
	sum = mix(sum, machine((const uint8_t *)copy, sizeof(copy)));
	sum = mix(sum, hanoi(4, 1, 3));
	sum = mix(sum, fibonacci(7));
	return sum;
}

#ifndef ROUNDS
#define ROUNDS 20
#endif

int main(void)
{
	uint32_t sum = 0;

	seed = 1;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		sum = one_round(sum);
		watched++;
		rounds = i + 1;
	}
	checksum = sum;
	result |= 1;
	for (;;) {	/* something that can be watched and profiled */
		sum = one_round(sum);
		watched++;
		rounds++;
	}
}
