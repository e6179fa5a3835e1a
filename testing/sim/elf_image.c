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

static bool is_32(const Elf64_Ehdr *ehdr)
{
	return ehdr->e_ident[EI_CLASS] == ELFCLASS32;
}

/* The 64-bit structures serve for both classes: these widen the others. */
static void widen_header(Elf64_Ehdr *to, const Elf32_Ehdr *from)
{
	memcpy(to->e_ident, from->e_ident, sizeof(to->e_ident));
	to->e_entry = from->e_entry;
	to->e_phoff = from->e_phoff;
	to->e_shoff = from->e_shoff;
	to->e_phentsize = from->e_phentsize;
	to->e_phnum = from->e_phnum;
	to->e_shentsize = from->e_shentsize;
	to->e_shnum = from->e_shnum;
}

static void widen_segment(Elf64_Phdr *to, const Elf32_Phdr *from)
{
	to->p_type = from->p_type;
	to->p_flags = from->p_flags;
	to->p_offset = from->p_offset;
	to->p_vaddr = from->p_vaddr;
	to->p_filesz = from->p_filesz;
	to->p_memsz = from->p_memsz;
}

static void widen_section(Elf64_Shdr *to, const Elf32_Shdr *from)
{
	to->sh_type = from->sh_type;
	to->sh_offset = from->sh_offset;
	to->sh_size = from->sh_size;
	to->sh_link = from->sh_link;
}

static bool header(const struct elf_image *image, Elf64_Ehdr *ehdr)
{
	const uint8_t *at = part(image, 0, EI_NIDENT);
	Elf32_Ehdr narrow;

	if (!at || memcmp(at, ELFMAG, SELFMAG) || at[EI_DATA] != ELFDATA2LSB)
		return false;
	if (at[EI_CLASS] == ELFCLASS32) {
		at = part(image, 0, sizeof(narrow));
		if (!at)
			return false;
		memcpy(&narrow, at, sizeof(narrow));
		widen_header(ehdr, &narrow);
		return ehdr->e_phentsize == sizeof(Elf32_Phdr) && ehdr->e_shentsize == sizeof(Elf32_Shdr);
	}
	at = part(image, 0, sizeof(*ehdr));
	if (!at)
		return false;
	memcpy(ehdr, at, sizeof(*ehdr));
	return ehdr->e_ident[EI_CLASS] == ELFCLASS64 && ehdr->e_phentsize == sizeof(Elf64_Phdr) &&
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
	return header(image, &ehdr) ? NULL : "not a little-endian ELF file";
}

static bool program_header(const struct elf_image *image, const Elf64_Ehdr *ehdr, unsigned int n, Elf64_Phdr *phdr)
{
	const uint8_t *at = part(image, ehdr->e_phoff + n * ehdr->e_phentsize, ehdr->e_phentsize);
	Elf32_Phdr narrow;

	if (!at)
		return false;
	if (is_32(ehdr)) {
		memcpy(&narrow, at, sizeof(narrow));
		widen_segment(phdr, &narrow);
	} else {
		memcpy(phdr, at, sizeof(*phdr));
	}
	return true;
}

bool elf_image_segment(const struct elf_image *image, unsigned int n, struct elf_segment *segment)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;

	if (!header(image, &ehdr))
		return false;
	for (unsigned int i = 0; i < ehdr.e_phnum; i++) {
		if (!program_header(image, &ehdr, i, &phdr))
			return false;
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

uint64_t elf_image_entry(const struct elf_image *image)
{
	Elf64_Ehdr ehdr;

	return header(image, &ehdr) ? ehdr.e_entry : 0;
}

static bool section(const struct elf_image *image, const Elf64_Ehdr *ehdr, unsigned int n, Elf64_Shdr *shdr)
{
	const uint8_t *at = part(image, ehdr->e_shoff + n * ehdr->e_shentsize, ehdr->e_shentsize);
	Elf32_Shdr narrow;

	if (!at || n >= ehdr->e_shnum)
		return false;
	if (is_32(ehdr)) {
		memcpy(&narrow, at, sizeof(narrow));
		widen_section(shdr, &narrow);
	} else {
		memcpy(shdr, at, sizeof(*shdr));
	}
	return true;
}

/* One symbol: its name's place among the strings, and its value. */
static bool symbol(const struct elf_image *image, const Elf64_Shdr *symbols, uint64_t n, bool narrow,
		uint64_t *name, uint64_t *value)
{
	const size_t len = narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	const uint8_t *at = part(image, symbols->sh_offset + n * len, len);
	Elf32_Sym sym32;
	Elf64_Sym sym64;

	if (!at)
		return false;
	if (narrow) {
		memcpy(&sym32, at, sizeof(sym32));
		*name = sym32.st_name;
		*value = sym32.st_value;
	} else {
		memcpy(&sym64, at, sizeof(sym64));
		*name = sym64.st_name;
		*value = sym64.st_value;
	}
	return true;
}

static bool find_in(const struct elf_image *image, const Elf64_Shdr *symbols, const Elf64_Shdr *strings, bool narrow,
		const char *name, uint64_t *address)
{
	const char *text = (const char *)part(image, strings->sh_offset, strings->sh_size);
	const uint64_t count = symbols->sh_size / (narrow ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym));
	uint64_t at;

	if (!text || !strings->sh_size || text[strings->sh_size - 1])
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!symbol(image, symbols, i, narrow, &at, address))
			return false;
		if (at < strings->sh_size && !strcmp(text + at, name))
			return true;
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
				find_in(image, &symbols, &strings, is_32(&ehdr), name, address))
			return true;
	}
	return false;
}

void elf_image_free(struct elf_image *image)
{
	sim_buffer_free(&image->file);
}
