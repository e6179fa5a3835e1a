// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Any bytes as an ELF file: headers, symbols and debug information. The first byte says how a small valid header is put
 * over the input, so that random bytes get past it; no value of it hides anything.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

static void look_up(struct itrace_symbols *symbols, uint64_t addr)
{
	struct itrace_inline chain[ITRACE_SYMBOLS_INLINE_MAX];
	struct itrace_source_line at;
	uint64_t off;
	uint64_t start = 0;
	uint64_t end = 0;

	const struct itrace_symbol *symbol = itrace_symbols_find(symbols, addr, &off);
	if (symbol && (addr - symbol->addr != off || off >= symbol->len || !strlen(symbol->name)))
		abort();
	if (symbol && (!itrace_symbols_range(symbols, symbol->name, &start, &end) || end < start))
		abort();
	enum itrace_symbols_content content = itrace_symbols_content_at(symbols, addr);
	if (content >= ITRACE_SYMBOLS_CONTENT_NUM)
		abort();
	bool is_known = itrace_symbols_line(symbols, addr, &at);
	if (is_known != !!at.file || (at.file && strlen(at.file) > 1 << 20))
		abort();
	unsigned int count = itrace_symbols_inlines(symbols, addr, chain, ITRACE_SYMBOLS_INLINE_MAX);
	if (count > ITRACE_SYMBOLS_INLINE_MAX)
		abort();
	for (unsigned int i = 0; i < count; i++) {
		if (strlen(chain[i].function) > 1 << 20 || (chain[i].at.file && strlen(chain[i].at.file) > 1 << 20))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[256];

	if (!size)
		return 0;
	if (!path[0]) {
		/* in memory where there is such a place */
		snprintf(path, sizeof(path), "%s/fuzz_elf.%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
			(long)getpid());
		atexit(remove_file);
	}
	uint8_t *copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	/* past the magic and the machine */
	static const uint8_t idents[2][7] = { { 0x7f, 'E', 'L', 'F', 1, 1, 1 }, { 0x7f, 'E', 'L', 'F', 2, 1, 1 } };
	if (data[0] < 0x40 && size > 20) {
		memcpy(copy, idents[data[0] & 1], 7);
		copy[18] = data[0] & 1 ? 183 : 40;
		copy[19] = 0;
	}
	bool is_xtensa = data[size - 1] & 2;
	if (is_xtensa && size > 20) {
		bool is_big_endian = data[size - 1] & 4;
		memcpy(copy, idents[0], 7);
		copy[5] = is_big_endian ? 2 : 1;
		copy[is_big_endian ? 19 : 18] = 94;
		copy[is_big_endian ? 18 : 19] = 0;
	}
	FILE *f = fopen(path, "wb");
	if (f) {
		fwrite(copy, 1, size, f);
		fclose(f);
	}
	free(copy);
	if (!f)
		return 0;

	struct itrace_symbols *symbols = itrace_symbols_new();
	if (!symbols)
		return 0;
	if (is_xtensa)
		itrace_symbols_set_family(symbols, ITRACE_SYMBOLS_FAMILY_XTENSA);
	int number = itrace_symbols_add_elf(symbols, path, data[size - 1] & 1 ? (uint64_t)data[0] << 56 : 0, why,
		sizeof(why));
	if (number < 0 && !why[0])
		abort();
	size_t count;
	const struct itrace_segment *segments = itrace_symbols_segments(symbols, &count);
	uint32_t sum = 0;
	for (size_t i = 0; i < count && i < 64; i++) {
		for (uint64_t k = 0; k < segments[i].len; k++)
			sum += segments[i].data[k];
		for (uint64_t k = 0; k < segments[i].len && k < 128; k += 2)
			look_up(symbols, segments[i].addr + k);
	}
	look_up(symbols, 0);
	look_up(symbols, UINT64_MAX);
	look_up(symbols, sum);
	itrace_symbols_range(symbols, "main", NULL, NULL);
	itrace_symbols_free(symbols);
	return 0;
}
