// SPDX-License-Identifier: GPL-2.0-or-later

/* What the compiler calls: there is no library. */

#include "cortexm.h"

#include <stddef.h>

volatile uint32_t result, checksum;

void *memcpy(void *to, const void *from, size_t len);
void *memset(void *to, int value, size_t len);
void __aeabi_memcpy(void *to, const void *from, size_t len);
void __aeabi_memcpy4(void *to, const void *from, size_t len);
void __aeabi_memclr(void *to, size_t len);
void __aeabi_memclr4(void *to, size_t len);
uint64_t __aeabi_uidivmod(uint32_t n, uint32_t d);
uint64_t __aeabi_idivmod(int32_t n, int32_t d);
uint32_t __aeabi_uidiv(uint32_t n, uint32_t d);
int32_t __aeabi_idiv(int32_t n, int32_t d);

void *memcpy(void *to, const void *from, size_t len)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	for (; len && ((uintptr_t)t | (uintptr_t)f) & 3; len--)
		*t++ = *f++;
	for (; len >= 4; len -= 4, t += 4, f += 4)
		*(uint32_t *)(void *)t = *(const uint32_t *)(const void *)f;
	while (len--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t len)
{
	for (volatile uint8_t *t = to; len--; t++)
		*t = value;
	return to;
}

void __aeabi_memcpy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

void __aeabi_memcpy4(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
}

void __aeabi_memclr(void *to, size_t len)
{
	memset(to, 0, len);
}

void __aeabi_memclr4(void *to, size_t len)
{
	memset(to, 0, len);
}

/* Quotient in r0, remainder in r1. */
uint64_t __aeabi_uidivmod(uint32_t n, uint32_t d)
{
	uint32_t quotient = 0;
	uint32_t rest = 0;

	for (int i = 31; i >= 0; i--) {
		rest = rest << 1 | (n >> i & 1);
		if (rest >= d) {
			rest -= d;
			quotient |= 1u << i;
		}
	}
	return (uint64_t)rest << 32 | quotient;
}

uint64_t __aeabi_idivmod(int32_t n, int32_t d)
{
	uint64_t both = __aeabi_uidivmod(n < 0 ? -n : n, d < 0 ? -d : d);
	uint32_t quotient = (uint32_t)both;
	uint32_t rest = both >> 32;

	if ((n < 0) != (d < 0))
		quotient = -quotient;
	if (n < 0)
		rest = -rest;
	return (uint64_t)rest << 32 | quotient;
}

uint32_t __aeabi_uidiv(uint32_t n, uint32_t d)
{
	return (uint32_t)__aeabi_uidivmod(n, d);
}

int32_t __aeabi_idiv(int32_t n, int32_t d)
{
	return (int32_t)__aeabi_idivmod(n, d);
}
