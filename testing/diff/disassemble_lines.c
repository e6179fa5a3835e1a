// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Driver of test_disassembly_llvm.py: opcodes in, text out, through itrace_disassemble().
 *
 * Usage: disassemble_lines a64|a32|t32|m ?ADDRESS?
 *
 * Each line of standard input is a sequence of opcodes in hex, of 8 digits or, in T32, of 4 for 16-bit instructions.
 * They stand behind each other in memory from ADDRESS (hex, default 0) on. Answers with one line: the texts, separated
 * by tabs.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disassembly.h"

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum itrace_isa isa;
		bool is_m;
	} sets[] = {
		{ "a64", ITRACE_ISA_A64, false },
		{ "a32", ITRACE_ISA_A32, false },
		{ "t32", ITRACE_ISA_T32, false },
		{ "m", ITRACE_ISA_T32, true },
	};
	size_t set = 0;

	while (argc > 1 && set < 4 && strcmp(argv[1], sets[set].name))
		set++;
	if (argc < 2 || set == 4) {
		fprintf(stderr, "usage: disassemble_lines a64|a32|t32|m ?ADDRESS? <OPCODES\n");
		return 2;
	}
	uint64_t base = argc > 2 ? strtoull(argv[2], NULL, 16) : 0;
	struct itrace_insn_rules rules = { .wfx = true, .v8_3 = !sets[set].is_m, .v9 = !sets[set].is_m,
		.m_profile = sets[set].is_m };
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		struct itrace_disassembly *d = NULL;
		static struct itrace_disassembly *shared;
		uint8_t bytes[64];
		size_t len = 0;
		size_t words = 0;

		for (char *word = strtok(line, " \n"); word && len + 4 <= sizeof(bytes); word = strtok(NULL, " \n")) {
			uint32_t opcode = (uint32_t)strtoul(word, NULL, 16);
			if (strlen(word) > 4 && sets[set].isa == ITRACE_ISA_T32) {
				bytes[len++] = (uint8_t)(opcode >> 16);
				bytes[len++] = (uint8_t)(opcode >> 24);
			}
			bytes[len++] = (uint8_t)opcode;
			bytes[len++] = (uint8_t)(opcode >> 8);
			if (sets[set].isa != ITRACE_ISA_T32) {
				bytes[len++] = (uint8_t)(opcode >> 16);
				bytes[len++] = (uint8_t)(opcode >> 24);
			}
			words++;
		}
		/* what is known of IT blocks must not reach from line to line */
		if (!shared)
			shared = itrace_disassembly_new();
		d = words > 1 ? itrace_disassembly_new() : shared;
		if (!d)
			return 1;
		for (size_t pos = 0; pos < len;) {
			char text[ITRACE_DISASSEMBLY_MAX];
			unsigned int size = itrace_disassemble(d, sets[set].isa, base + pos, bytes + pos, len - pos, &rules, text,
				sizeof(text));
			printf("%s%s", pos ? "\t" : "", text);
			if (!size)
				break;
			pos += size;
		}
		printf("\n");
		if (d != shared)
			itrace_disassembly_free(d);
	}
	return ferror(stdout) ? 1 : 0;
}
