// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A program to be profiled: one round after the other of a dozen functions, each with its own share of the time, that
 * never changes. A round checks its own results: `rounds` counts them, `errors` those that came out wrong, as they do
 * if somebody changes a register behind the program's back. Integer work in registers and memory, no interrupts.
 */

#include "xtensa_work.h"

#define TEXT_LEN	240
#define MATRIX		6
#define SORTED		40
#define PRIMES		400
#define TABLE		64

/* What one_round() gives, worked out on another machine. */
#define PROFILE_CHECKSUM	0xed87ca7cu

volatile uint32_t rounds;
volatile uint32_t errors;

static uint8_t text[TEXT_LEN] __attribute__((aligned(4)));
static int32_t left[MATRIX][MATRIX];
static int32_t right[MATRIX][MATRIX];
static int32_t product[MATRIX][MATRIX];
static uint32_t numbers[SORTED];
static uint8_t composite[PRIMES];
static uint32_t table[TABLE];
uint32_t copied[TEXT_LEN / 4];	/* not static: the copy is not to be optimised away */

WORK static void fill(uint32_t seed)
{
	for (unsigned int i = 0; i < TEXT_LEN; i++)
		text[i] = 'a' + (next_random(&seed) & 15);
	for (unsigned int i = 0; i < MATRIX; i++)
		for (unsigned int j = 0; j < MATRIX; j++) {
			left[i][j] = next_random(&seed) & 255;
			right[i][j] = next_random(&seed) & 255;
		}
	for (unsigned int i = 0; i < SORTED; i++)
		numbers[i] = next_random(&seed);
}

WORK static uint32_t crc32(const uint8_t *bytes, unsigned int len)
{
	uint32_t crc = ~0u;

	for (unsigned int i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

WORK static uint32_t multiply_matrices(void)
{
	uint32_t trace = 0;

	for (unsigned int i = 0; i < MATRIX; i++) {
		for (unsigned int j = 0; j < MATRIX; j++) {
			int32_t sum = 0;
			for (unsigned int k = 0; k < MATRIX; k++)
				sum += left[i][k] * right[k][j];
			product[i][j] = sum;
		}
		trace += product[i][i];
	}
	return trace;
}

WORK static uint32_t sort_numbers(void)
{
	for (unsigned int i = 1; i < SORTED; i++) {
		const uint32_t number = numbers[i];
		unsigned int j = i;
		for (; j && numbers[j - 1] > number; j--)
			numbers[j] = numbers[j - 1];
		numbers[j] = number;
	}
	return numbers[0] ^ numbers[SORTED / 2] ^ numbers[SORTED - 1];
}

WORK static uint32_t count_primes(void)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < PRIMES; i++)
		composite[i] = 0;
	for (unsigned int i = 2; i < PRIMES; i++) {
		if (composite[i])
			continue;
		count++;
		for (unsigned int j = i + i; j < PRIMES; j += i)
			composite[j] = 1;
	}
	return count;
}

WORK static uint32_t search_text(const uint8_t *what, unsigned int len)
{
	uint32_t found = 0;

	for (unsigned int i = 0; i + len <= TEXT_LEN; i++) {
		unsigned int j = 0;
		while (j < len && text[i + j] == what[j])
			j++;
		found = found * 5 + j;
	}
	return found;
}

WORK static uint32_t hash_text(void)
{
	uint32_t hash = 2166136261u;

	for (unsigned int i = 0; i < TEXT_LEN; i++)
		hash = (hash ^ text[i]) * 16777619u;
	return hash;
}

WORK static uint32_t fibonacci(uint32_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

WORK static uint32_t scan_words(void)
{
	enum { OUTSIDE, WORD, CAPITAL, NUMBER } state = OUTSIDE;
	uint32_t seen = 0;

	for (unsigned int i = 0; i < TEXT_LEN; i++) {
		const unsigned int c = text[i];
		switch (state) {
		case OUTSIDE:
			state = c < 'e' ? WORD : c < 'h' ? CAPITAL : OUTSIDE;
			break;
		case WORD:
			if (c > 'm')
				state = NUMBER;
			seen += 1;
			break;
		case CAPITAL:
			state = c & 1 ? WORD : OUTSIDE;
			seen += 16;
			break;
		case NUMBER:
			state = c > 'g' ? OUTSIDE : NUMBER;
			seen += 256;
			break;
		}
	}
	return seen;
}

WORK static uint32_t count_bits(void)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < SORTED; i++)
		for (uint32_t word = numbers[i]; word; word &= word - 1)
			count++;
	return count;
}

WORK static uint32_t fill_table(void)
{
	uint32_t probes = 0;

	for (unsigned int i = 0; i < TABLE; i++)
		table[i] = 0;
	for (unsigned int i = 0; i < SORTED; i++) {
		unsigned int at = numbers[i] * 2654435761u >> 26;
		while (table[at]) {
			at = (at + 1) % TABLE;
			probes++;
		}
		table[at] = numbers[i] | 1;
	}
	return probes;
}

WORK static uint32_t copy_text(void)
{
	const uint32_t *from = (const uint32_t *)(const void *)text;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < TEXT_LEN / 4; i++) {
		copied[i] = from[i];
		sum += from[i] >> (i & 7);
	}
	return sum;
}

WORK static uint32_t mix_random(uint32_t seed)
{
	uint32_t mixed = 0;

	for (unsigned int i = 0; i < 150; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
		mixed += seed & ~mixed;
	}
	return mixed;
}

static inline uint32_t rotate(uint32_t value)
{
	return value << 7 | value >> 25;
}

WORK static uint32_t one_round(void)
{
	static const uint8_t what[] = { 'a', 'c' };
	uint32_t sum;

	fill(12345);
	sum = crc32(text, TEXT_LEN);
	sum = rotate(sum) ^ multiply_matrices();
	sum = rotate(sum) ^ sort_numbers();
	sum = rotate(sum) ^ count_primes();
	sum = rotate(sum) ^ search_text(what, sizeof(what));
	sum = rotate(sum) ^ hash_text();
	sum = rotate(sum) ^ fibonacci(10);
	sum = rotate(sum) ^ scan_words();
	sum = rotate(sum) ^ count_bits();
	sum = rotate(sum) ^ fill_table();
	sum = rotate(sum) ^ copy_text();
	return rotate(sum) ^ mix_random(sum | 1);
}

int main(void)
{
	const uint32_t first = one_round();

	if (first != PROFILE_CHECKSUM)
		errors = errors + 1;
	for (;;) {
		if (one_round() != first)
			errors = errors + 1;
		rounds = rounds + 1;
	}
}
