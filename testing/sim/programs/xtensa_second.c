// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A program for the second core of a chip: like xtensa_profile.c, with other functions, so that samples of one core
 * that are given to the other stand out.
 */

#include "xtensa_work.h"

#define HEAP		48
#define BYTES		150
#define CELLS		16

/* What second_round() gives, worked out on another machine. */
#define SECOND_CHECKSUM	0x833f0446u

volatile uint32_t rounds;
volatile uint32_t errors;

static uint32_t heap[HEAP];
static uint8_t bytes[BYTES];
static uint8_t letters[BYTES / 3 * 4];
static uint16_t life[2][CELLS];

WORK static void second_fill(uint32_t seed)
{
	for (unsigned int i = 0; i < HEAP; i++)
		heap[i] = next_random(&seed);
	for (unsigned int i = 0; i < BYTES; i++)
		bytes[i] = next_random(&seed);
	for (unsigned int i = 0; i < CELLS; i++)
		life[0][i] = next_random(&seed);
}

WORK static uint32_t adler(void)
{
	uint32_t a = 1;
	uint32_t b = 0;

	for (unsigned int i = 0; i < BYTES; i++) {
		a += bytes[i];
		if (a >= 65521)
			a -= 65521;
		b += a;
		if (b >= 65521)
			b -= 65521;
	}
	return b << 16 | a;
}

WORK static uint32_t collatz(uint32_t limit)
{
	uint32_t steps = 0;

	for (uint32_t start = 1; start < limit; start++)
		for (uint32_t n = start; n != 1; steps++)
			n = n & 1 ? 3 * n + 1 : n >> 1;
	return steps;
}

WORK static void sift_down(unsigned int at, unsigned int count)
{
	const uint32_t number = heap[at];

	for (unsigned int child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= number)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = number;
}

WORK static uint32_t heap_sort(void)
{
	uint32_t sum = 0;

	for (unsigned int i = HEAP / 2; i--;)
		sift_down(i, HEAP);
	for (unsigned int i = HEAP; --i;) {
		const uint32_t top = heap[0];
		heap[0] = heap[i];
		heap[i] = top;
		sift_down(0, i);
		sum = sum * 3 + top;
	}
	return sum;
}

WORK static uint32_t encode_letters(void)
{
	uint32_t sum = 0;

	for (unsigned int i = 0, at = 0; i < BYTES; i += 3) {
		uint32_t word = bytes[i] << 16 | bytes[i + 1] << 8 | bytes[i + 2];
		for (unsigned int j = 0; j < 4; j++, word <<= 6) {
			letters[at] = ' ' + (word >> 18 & 63);
			sum = sum * 33 ^ letters[at++];
		}
	}
	return sum;
}

WORK static uint32_t encipher(uint32_t left, uint32_t right)
{
	static const uint32_t key[4] = { 0x01234567, 0x89abcdef, 0xfedcba98, 0x76543210 };

	for (uint32_t i = 0, sum = 0; i < 48; i++) {
		left += ((right << 4 ^ right >> 5) + right) ^ (sum + key[sum & 3]);
		sum += 0x9e3779b9;
		right += ((left << 4 ^ left >> 5) + left) ^ (sum + key[sum >> 11 & 3]);
	}
	return left ^ right;
}

WORK static uint32_t greatest_divisor(uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a > b)
			a -= b;
		else
			b -= a;
	}
	return a;
}

WORK static uint32_t queens(uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t found = 0;

	if (columns == 31)
		return 1;
	for (uint32_t free = 31 & ~(columns | left | right); free; free &= free - 1) {
		const uint32_t place = free & -free;
		found += queens(columns | place, (left | place) << 1, (right | place) >> 1);
	}
	return found;
}

WORK static uint32_t next_generation(unsigned int now)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < CELLS; i++) {
		const uint16_t up = life[now][(i + CELLS - 1) % CELLS];
		const uint16_t down = life[now][(i + 1) % CELLS];
		const uint16_t here = life[now][i];
		life[!now][i] = (up ^ down ^ (here << 1) ^ (here >> 1)) & ~(up & down & here);
		sum += life[!now][i];
	}
	return sum;
}

static inline uint32_t rotate(uint32_t value)
{
	return value << 5 | value >> 27;
}

WORK static uint32_t second_round(void)
{
	uint32_t sum;

	second_fill(777);
	sum = adler();
	sum = rotate(sum) ^ collatz(40);
	sum = rotate(sum) ^ heap_sort();
	sum = rotate(sum) ^ encode_letters();
	sum = rotate(sum) ^ encipher(sum, ~sum);
	sum = rotate(sum) ^ greatest_divisor(1071 * 9, 462);
	sum = rotate(sum) ^ queens(0, 0, 0);
	for (unsigned int i = 0; i < 6; i++)
		sum = rotate(sum) ^ next_generation(i & 1);
	return sum;
}

int main(void)
{
	const uint32_t first = second_round();

	if (first != SECOND_CHECKSUM)
		errors = errors + 1;
	for (;;) {
		if (second_round() != first)
			errors = errors + 1;
		rounds = rounds + 1;
	}
}
