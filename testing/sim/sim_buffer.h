/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Growing byte buffer and a small seeded random number generator, used by every part of the simulator.
 * Out of memory ends the program: this is a test tool.
 */

#ifndef SIM_BUFFER_H
#define SIM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes owned by the buffer; all zero is a valid empty buffer. */
struct sim_buffer {
	uint8_t *data;
	size_t len;
	size_t cap;
};

/** Append @a len bytes. The bytes are copied. */
void sim_buffer_append(struct sim_buffer *buf, const void *data, size_t len);

/** Append one byte. */
void sim_buffer_byte(struct sim_buffer *buf, uint8_t byte);

/** Append the @a len (1..8) low bytes of @a value, least significant first. */
void sim_buffer_le(struct sim_buffer *buf, uint64_t value, unsigned int len);

/** Append formatted text without its final NUL. */
void sim_buffer_printf(struct sim_buffer *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Append the value as lower case hexadecimal digits without prefix; much faster than printf. */
void sim_buffer_hex(struct sim_buffer *buf, uint64_t value);

/** Append a NUL terminated string without its NUL. */
void sim_buffer_text(struct sim_buffer *buf, const char *text);

/** Forget the contents and keep the storage. */
void sim_buffer_clear(struct sim_buffer *buf);

/** Release the storage; the buffer is empty and usable afterwards. */
void sim_buffer_free(struct sim_buffer *buf);

/** State of a splitmix64 generator: the same seed gives the same sequence on every machine. */
struct sim_random {
	uint64_t state;
};

/** Start a sequence. Any seed is good. */
void sim_random_seed(struct sim_random *random, uint64_t seed);

/** Next 64 random bits. */
uint64_t sim_random_u64(struct sim_random *random);

/** Number from 0 to @a n - 1; 0 if @a n is 0. */
uint32_t sim_random_below(struct sim_random *random, uint32_t n);

/** Number from @a low to @a high, both included. */
uint32_t sim_random_range(struct sim_random *random, uint32_t low, uint32_t high);

/** True @a permille times out of 1000; draws nothing when @a permille is 0. */
bool sim_random_chance(struct sim_random *random, unsigned int permille);

#endif
