// SPDX-License-Identifier: GPL-2.0-or-later

#include "sim_buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct sim_buffer *buf, size_t more)
{
	if (buf->len + more <= buf->cap)
		return;
	size_t cap = buf->cap ? buf->cap * 2 : 256;
	while (cap < buf->len + more)
		cap *= 2;
	buf->data = realloc(buf->data, cap);
	if (!buf->data) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	buf->cap = cap;
}

void sim_buffer_append(struct sim_buffer *buf, const void *data, size_t len)
{
	if (!len)
		return;
	reserve(buf, len);
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

void sim_buffer_byte(struct sim_buffer *buf, uint8_t byte)
{
	reserve(buf, 1);
	buf->data[buf->len++] = byte;
}

void sim_buffer_le(struct sim_buffer *buf, uint64_t value, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		sim_buffer_byte(buf, value >> (8 * i));
}

void sim_buffer_printf(struct sim_buffer *buf, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len > 0)
		sim_buffer_append(buf, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

void sim_buffer_hex(struct sim_buffer *buf, uint64_t value)
{
	char digits[16];
	unsigned int at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	sim_buffer_append(buf, digits + at, sizeof(digits) - at);
}

void sim_buffer_text(struct sim_buffer *buf, const char *text)
{
	sim_buffer_append(buf, text, strlen(text));
}

void sim_buffer_clear(struct sim_buffer *buf)
{
	buf->len = 0;
}

void sim_buffer_free(struct sim_buffer *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

void sim_random_seed(struct sim_random *random, uint64_t seed)
{
	random->state = seed * 0x9e3779b97f4a7c15 + 0x1234567;
}

uint64_t sim_random_u64(struct sim_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint32_t sim_random_below(struct sim_random *random, uint32_t n)
{
	if (!n)
		return 0;
	return (sim_random_u64(random) >> 32) % n;
}

uint32_t sim_random_range(struct sim_random *random, uint32_t low, uint32_t high)
{
	return low + sim_random_below(random, high - low + 1);
}

bool sim_random_chance(struct sim_random *random, unsigned int permille)
{
	if (!permille)
		return false;
	return sim_random_below(random, 1000) < permille;
}
