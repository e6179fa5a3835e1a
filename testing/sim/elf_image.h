/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The little of ELF that the simulators need: PT_LOAD segments and symbols of a little-endian executable, 32 or 64
 * bits.
 */

#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include "sim_buffer.h"

/** A loaded file; all zero is empty. */
struct elf_image {
	struct sim_buffer file;
};

/** A segment as in memory; bytes from file_len to mem_len are zero. */
struct elf_segment {
	uint64_t address;
	const uint8_t *data;	/* in the image */
	uint64_t file_len;
	uint64_t mem_len;
	bool executable;
};

/** Read a file. @returns NULL or what is wrong with it (static text). */
const char *elf_image_read(struct elf_image *image, const char *path);

/** Get the @a n th PT_LOAD segment. @returns false if there are fewer. */
bool elf_image_segment(const struct elf_image *image, unsigned int n, struct elf_segment *segment);

/** Where execution begins. */
uint64_t elf_image_entry(const struct elf_image *image);

/** Address of a symbol. @returns false if there is none. */
bool elf_image_symbol(const struct elf_image *image, const char *name, uint64_t *address);

/** Release the contents. */
void elf_image_free(struct elf_image *image);

#endif
