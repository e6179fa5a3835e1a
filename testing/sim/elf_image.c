// SPDX-License-Identifier: GPL-2.0-or-later

#include "elf_image.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* Part of the file, or NULL if it is not all there. Structures are copied out: nothing says that they are aligned. */
static const uint8_t *part(const struct elf_image *image, uint64_t at, uint64_t len)
{
	if (at > image->file.len || len > image->file.len - at)
		return NULL;
	return image->file.data + at;
}

static bool header(const struct elf_image *image, Elf64_Ehdr *ehdr)
{
	const uint8_t *at = part(image, 0, sizeof(*ehdr));

	if (!at)
		return false;
	memcpy(ehdr, at, sizeof(*ehdr));
	return !memcmp(ehdr->e_ident, ELFMAG, SELFMAG) && ehdr->e_ident[EI_CLASS] == ELFCLASS64 &&
		ehdr->e_ident[EI_DATA] == ELFDATA2LSB && ehdr->e_phentsize == sizeof(Elf64_Phdr) &&
		ehdr->e_shentsize == sizeof(Elf64_Shdr);
}

const char *elf_image_read(struct elf_image *image, const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t bytes[4096];
	Elf64_Ehdr ehdr;
	size_t n;

	if (!file)
		return "cannot open it";
	sim_buffer_clear(&image->file);
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		sim_buffer_append(&image->file, bytes, n);
	fclose(file);
	return header(image, &ehdr) ? NULL : "not a 64-bit little-endian ELF file";
}

bool elf_image_segment(const struct elf_image *image, unsigned int n, struct elf_segment *segment)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;

	if (!header(image, &ehdr))
		return false;
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		const uint8_t *at = part(image, ehdr.e_phoff + i * sizeof(phdr), sizeof(phdr));
		if (!at)
			return false;
		memcpy(&phdr, at, sizeof(phdr));
		if (phdr.p_type != PT_LOAD || n--)
			continue;
		*segment = (struct elf_segment){
			.address = phdr.p_vaddr,
			.data = part(image, phdr.p_offset, phdr.p_filesz),
			.file_len = phdr.p_filesz,
			.mem_len = phdr.p_memsz,
			.executable = phdr.p_flags & PF_X,
		};
		return segment->data && phdr.p_memsz >= phdr.p_filesz;
	}
	return false;
}

static bool section(const struct elf_image *image, const Elf64_Ehdr *ehdr, unsigned int n, Elf64_Shdr *shdr)
{
	const uint8_t *at = part(image, ehdr->e_shoff + n * sizeof(*shdr), sizeof(*shdr));

	if (!at || n >= ehdr->e_shnum)
		return false;
	memcpy(shdr, at, sizeof(*shdr));
	return true;
}

static bool find_in(const struct elf_image *image, const Elf64_Shdr *symbols, const Elf64_Shdr *strings,
		const char *name, uint64_t *address)
{
	const char *text = (const char *)part(image, strings->sh_offset, strings->sh_size);
	Elf64_Sym sym;

	if (!text || !strings->sh_size || text[strings->sh_size - 1])
		return false;
	for (uint64_t i = 0; i < symbols->sh_size / sizeof(sym); i++) {
		const uint8_t *at = part(image, symbols->sh_offset + i * sizeof(sym), sizeof(sym));
		if (!at)
			return false;
		memcpy(&sym, at, sizeof(sym));
		if (sym.st_name < strings->sh_size && !strcmp(text + sym.st_name, name)) {
			*address = sym.st_value;
			return true;
		}
	}
	return false;
}

bool elf_image_symbol(const struct elf_image *image, const char *name, uint64_t *address)
{
	Elf64_Ehdr ehdr;
	Elf64_Shdr symbols;
	Elf64_Shdr strings;

	if (!header(image, &ehdr))
		return false;
	for (unsigned int i = 0; i < ehdr.e_shnum; i++) {
		if (!section(image, &ehdr, i, &symbols))
			return false;
		if (symbols.sh_type == SHT_SYMTAB && section(image, &ehdr, symbols.sh_link, &strings) &&
				find_in(image, &symbols, &strings, name, address))
			return true;
	}
	return false;
}

void elf_image_free(struct elf_image *image)
{
	sim_buffer_free(&image->file);
}
