// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Reader and writer of CoreSight snapshots.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <direct.h>
#endif

#include "snapshot.h"

/* More notes than this help nobody. */
#define NOTES_MAX	256u

#define LINE_MAX_LEN	1024u

static void say(char *why, size_t why_size, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 3, 4)))
#endif
;

static void say(char *why, size_t why_size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_size, format, args);
	va_end(args);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* memory */

/* Bytes of a dump file, shared by all dumps of the same bytes. */
struct block {
	const char *path;
	uint64_t off;
	uint64_t len;
	const uint8_t *data;
};

struct core_dumps {
	struct itrace_segment *segments;
	size_t count;
};

/* [source_buffers] and [core_trace_sources] as written */
struct link {
	const char *from;
	const char *to;
	unsigned int line;
};

struct priv {
	void **allocations;
	size_t allocation_count;
	struct block *blocks;
	size_t block_count;
	uint64_t loaded;
	size_t dump_count;
	unsigned int source;		/* number for segments */
	struct core_dumps *dumps;	/* of each core */
	struct link *buffer_links;
	size_t buffer_link_count;
	struct link *core_links;
	size_t core_link_count;
	const char *ini;		/* path of snapshot.ini */
	const char *trace_ini;
	bool is_out_of_memory;
};

static struct priv *priv_of(const struct itrace_snapshot *snapshot)
{
	return snapshot->priv;
}

/* @a memory belongs to the snapshot from now on. @returns it, NULL when there is no memory */
static void *keep(struct itrace_snapshot *snapshot, void *memory)
{
	struct priv *priv = priv_of(snapshot);

	/* room is a power of two that is full when the count is one */
	if (memory && !(priv->allocation_count & (priv->allocation_count - 1))) {
		size_t room = priv->allocation_count ? priv->allocation_count * 2 : 1;
		void **allocations = realloc(priv->allocations, room * sizeof(*allocations));
		if (!allocations) {
			free(memory);
			memory = NULL;
		} else {
			priv->allocations = allocations;
		}
	}
	if (!memory) {
		priv->is_out_of_memory = true;
		return NULL;
	}
	priv->allocations[priv->allocation_count++] = memory;
	return memory;
}

/* @returns never NULL; "" when there is no memory, which is remembered */
static const char *keep_text(struct itrace_snapshot *snapshot, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = keep(snapshot, malloc(size));
	if (!copy)
		return "";
	memcpy(copy, text, size);
	return copy;
}

/* Make room for one more in an array that grows by doubling. @returns NULL when there is no memory */
static void *grow(void *array, size_t count, size_t size)
{
	if (count & (count - 1))
		return array;
	return realloc(array, (count ? count * 2 : 1) * size);
}

static void note(struct itrace_snapshot *snapshot, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
;

static void note(struct itrace_snapshot *snapshot, const char *format, ...)
{
	char line[LINE_MAX_LEN];
	va_list args;

	if (snapshot->note_count > NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	const char **notes = grow(snapshot->notes, snapshot->note_count, sizeof(*notes));
	if (!notes) {
		priv_of(snapshot)->is_out_of_memory = true;
		return;
	}
	snapshot->notes = notes;
	snapshot->notes[snapshot->note_count] = keep_text(snapshot,
		snapshot->note_count == NOTES_MAX ? "further notes on the snapshot are left out" : line);
	snapshot->note_count++;
}

static const char *keep_path(struct itrace_snapshot *snapshot, const char *name)
{
	size_t dir_len = strlen(snapshot->dir);
	size_t size = dir_len + strlen(name) + 2;
	char *path = keep(snapshot, malloc(size));
	if (!path)
		return "";
	bool has_slash = dir_len && snapshot->dir[dir_len - 1] == '/';
	snprintf(path, size, "%s%s%s", snapshot->dir, has_slash ? "" : "/", name);
	return path;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ini files */

struct ini {
	const char *path;
	char *text;
	char *pos;
	char *end;
	unsigned int line;
	unsigned int section_number;	/* counts headers */
	const char *section;		/* NULL before the first header */
	const char *key;		/* NULL: this item is a section's header */
	char *value;
};

static char *trim(char *text)
{
	while (*text == ' ' || *text == '\t' || *text == '\v' || *text == '\f')
		text++;
	char *end = text + strlen(text);
	while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\v' || end[-1] == '\f'))
		*--end = 0;
	return text;
}

/* @returns false with *why filled; else ini_close() is due */
static bool ini_open(struct ini *ini, const char *path, char *why, size_t why_size)
{
	struct stat st;

	memset(ini, 0, sizeof(*ini));
	ini->path = path;
	if (stat(path, &st)) {
		say(why, why_size, "%s: %s", path, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		say(why, why_size, "%s: %s", path, S_ISDIR(st.st_mode) ? "is a directory" : "not a regular file");
		return false;
	}
	if ((uint64_t)st.st_size > ITRACE_SNAPSHOT_INI_MAX) {
		say(why, why_size, "%s: larger than %zu bytes, no ini file of a snapshot", path, ITRACE_SNAPSHOT_INI_MAX);
		return false;
	}
	FILE *f = fopen(path, "rb");
	if (!f) {
		say(why, why_size, "%s: %s", path, strerror(errno));
		return false;
	}
	size_t size = (size_t)st.st_size;
	ini->text = malloc(size + 1);
	if (!ini->text) {
		say(why, why_size, "%s: no memory", path);
		fclose(f);
		return false;
	}
	size_t len = fread(ini->text, 1, size, f);
	fclose(f);
	ini->text[len] = 0;
	if (memchr(ini->text, 0, len)) {
		say(why, why_size, "%s: not a text file", path);
		free(ini->text);
		ini->text = NULL;
		return false;
	}
	ini->pos = ini->text;
	ini->end = ini->text + len;
	if (len >= 3 && !memcmp(ini->text, "\xef\xbb\xbf", 3))
		ini->pos += 3;
	return true;
}

static void ini_close(struct ini *ini)
{
	free(ini->text);
	ini->text = NULL;
}

/* @returns 1 with the next header or key, 0 at the end, -1 with *why filled */
static int ini_next(struct ini *ini, char *why, size_t why_size)
{
	while (ini->pos < ini->end) {
		char *line = ini->pos;
		char *stop = memchr(line, '\n', (size_t)(ini->end - line));
		ini->pos = stop ? stop + 1 : ini->end;
		if (stop)
			*stop = 0;
		ini->line++;
		line[strcspn(line, ";#\r")] = 0;
		line = trim(line);
		if (!*line)
			continue;

		if (*line == '[') {
			char *close = strchr(line, ']');
			if (!close) {
				say(why, why_size, "%s:%u: section '%.80s' has no ]", ini->path, ini->line, line);
				return -1;
			}
			*close = 0;
			ini->section = trim(line + 1);
			ini->section_number++;
			ini->key = NULL;
			ini->value = NULL;
			return 1;
		}
		char *equals = strchr(line, '=');
		if (!equals) {
			say(why, why_size, "%s:%u: '%.80s' is neither [section] nor key=value", ini->path, ini->line, line);
			return -1;
		}
		if (!ini->section) {
			say(why, why_size, "%s:%u: '%.80s' stands before the first [section]", ini->path, ini->line, line);
			return -1;
		}
		*equals = 0;
		ini->key = trim(line);
		ini->value = trim(equals + 1);
		return 1;
	}
	return 0;
}

/* The keys that were seen, to find those that are given twice: a hash table of pointers into the ini's text. */
struct keys {
	struct {
		const char *key;
		unsigned int section;
	} *slots;
	size_t room;	/* power of two */
	size_t count;
};

static size_t key_hash(unsigned int section, const char *key)
{
	uint32_t hash = 2166136261u ^ section;
	while (*key)
		hash = (hash ^ (uint8_t)*key++) * 16777619u;
	return hash;
}

static size_t keys_slot(const struct keys *keys, unsigned int section, const char *key)
{
	size_t slot = key_hash(section, key) & (keys->room - 1);

	while (keys->slots[slot].key && (keys->slots[slot].section != section || strcmp(keys->slots[slot].key, key)))
		slot = (slot + 1) & (keys->room - 1);
	return slot;
}

static bool keys_hold(const struct keys *keys, unsigned int section, const char *key)
{
	return keys->room && keys->slots[keys_slot(keys, section, key)].key;
}

/* @returns 1 when @a key is new in @a section, 0 when it is not, -1: no memory */
static int keys_add(struct keys *keys, unsigned int section, const char *key)
{
	if (keys->count * 2 >= keys->room) {
		struct keys more = { .room = keys->room ? keys->room * 2 : 64, .count = keys->count };
		more.slots = calloc(more.room, sizeof(*more.slots));
		if (!more.slots)
			return -1;
		for (size_t i = 0; i < keys->room; i++) {
			if (keys->slots[i].key)
				more.slots[keys_slot(&more, keys->slots[i].section, keys->slots[i].key)] = keys->slots[i];
		}
		free(keys->slots);
		*keys = more;
	}
	size_t slot = keys_slot(keys, section, key);
	if (keys->slots[slot].key)
		return 0;
	keys->slots[slot].key = key;
	keys->slots[slot].section = section;
	keys->count++;
	return 1;
}

/* @returns false with *why filled when the key that @a ini stands on was there before in @a section */
static bool key_is_new(struct keys *keys, const struct ini *ini, unsigned int section, char *why, size_t why_size)
{
	int result = keys_add(keys, section, ini->key);
	if (result < 0)
		say(why, why_size, "%s: no memory", ini->path);
	else if (!result)
		say(why, why_size, "%s:%u: %.80s is given twice in [%.80s]", ini->path, ini->line, ini->key, ini->section);
	return result > 0;
}

/* C-style number that fills the whole text. */
static bool parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 0);
	if (errno || *end)
		return false;
	*value = number;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* dumps */

static const struct {
	const char *name;
	uint8_t space;
} spaces[] = {
	/* the writer takes the first that fits, so sets come before their members and today's names before old ones */
	{ "ANY", ITRACE_SPACE_ANY },
	{ "S", ITRACE_SPACE_S },
	{ "N", ITRACE_SPACE_N },
	{ "R", ITRACE_SPACE_R },
	{ "EL1S", ITRACE_SPACE_EL1S },
	{ "EL1N", ITRACE_SPACE_EL1N },
	{ "EL1R", ITRACE_SPACE_EL1R },
	{ "EL2S", ITRACE_SPACE_EL2S },
	{ "EL2", ITRACE_SPACE_EL2N },
	{ "EL2N", ITRACE_SPACE_EL2N },
	{ "EL2R", ITRACE_SPACE_EL2R },
	{ "EL3", ITRACE_SPACE_EL3 },
	{ "ROOT", ITRACE_SPACE_ROOT },
	{ "H", ITRACE_SPACE_EL2N },
	{ "P", ITRACE_SPACE_EL1N },
	{ "NP", ITRACE_SPACE_EL1N },
	{ "SP", ITRACE_SPACE_EL1S },
};

#define SPACES_NUM	(sizeof(spaces) / sizeof(spaces[0]))

uint8_t itrace_snapshot_space(const char *name)
{
	for (size_t i = 0; name && i < SPACES_NUM; i++) {
		if (!strcmp(spaces[i].name, name))
			return spaces[i].space;
	}
	return ITRACE_SPACE_ANY;
}

struct dump {
	unsigned int line;		/* of its header */
	const char *section;
	const char *path;
	const char *bad_key;		/* a number that is none */
	bool has_addr;
	bool is_open;
	uint64_t addr;
	uint64_t len;			/* 0: to the end of the file */
	uint64_t off;
	uint8_t space;
};

static bool ranges_meet(const struct itrace_segment *segment, uint64_t addr, uint64_t len)
{
	return len && segment->len && addr <= segment->addr + (segment->len - 1) && segment->addr <= addr + (len - 1);
}

/* @returns the bytes, NULL when they cannot be had; *reason then says why */
static const uint8_t *load_block(struct itrace_snapshot *snapshot, const char *path, uint64_t off, uint64_t len,
		const char **reason)
{
	struct priv *priv = priv_of(snapshot);

	for (size_t i = 0; i < priv->block_count; i++) {
		const struct block *block = &priv->blocks[i];
		if (block->off == off && block->len == len && !strcmp(block->path, path))
			return block->data;
	}
	if (len > ITRACE_SNAPSHOT_LOAD_MAX - priv->loaded) {
		*reason = "more bytes of dumps than are loaded";
		return NULL;
	}
	*reason = "no memory";
	struct block *blocks = grow(priv->blocks, priv->block_count, sizeof(*blocks));
	if (!blocks)
		return NULL;
	priv->blocks = blocks;
	uint8_t *data = malloc(len ? (size_t)len : 1);
	if (!data)
		return NULL;
	*reason = "cannot be read";
	FILE *f = fopen(path, "rb");
	bool is_ok = f && off <= LONG_MAX && !fseek(f, (long)off, SEEK_SET) && fread(data, 1, (size_t)len, f) == len;
	if (f)
		fclose(f);
	if (!is_ok) {
		free(data);
		return NULL;
	}
	if (!keep(snapshot, data)) {
		*reason = "no memory";
		return NULL;
	}
	priv->loaded += len;
	priv->blocks[priv->block_count].path = path;
	priv->blocks[priv->block_count].off = off;
	priv->blocks[priv->block_count].len = len;
	priv->blocks[priv->block_count++].data = data;
	*reason = NULL;
	return data;
}

/* The section of a dump is complete: make a segment of it, or a note why not. */
static void finish_dump(struct itrace_snapshot *snapshot, const char *ini, struct dump *dump, struct core_dumps *core)
{
	struct stat st;
	const char *reason = NULL;

	if (!dump->is_open)
		return;
	dump->is_open = false;
	if (priv_of(snapshot)->dump_count == ITRACE_SNAPSHOT_DUMPS_MAX) {
		reason = "too many dumps";
	} else if (dump->bad_key) {
		note(snapshot, "%s:%u: [%.80s] left out: %s is not a number", ini, dump->line, dump->section, dump->bad_key);
		return;
	} else if (!dump->path || !dump->has_addr) {
		reason = dump->path ? "no address=" : "no file=";
	} else if (dump->addr & 1) {
		reason = "address is odd";
	}
	if (reason) {
		note(snapshot, "%s:%u: [%.80s] left out: %s", ini, dump->line, dump->section, reason);
		return;
	}
	if (stat(dump->path, &st)) {
		reason = strerror(errno);
	} else if (!S_ISREG(st.st_mode)) {
		reason = S_ISDIR(st.st_mode) ? "is a directory" : "not a regular file";
	} else {
		uint64_t size = (uint64_t)st.st_size;
		uint64_t len = dump->len;
		if (!len && dump->off <= size)
			len = (size - dump->off) & ~(uint64_t)1;
		if (dump->off > size || len > size - dump->off) {
			note(snapshot, "%s:%u: [%.80s] left out: 0x%" PRIx64 " bytes from offset 0x%" PRIx64
				" are more than %s has (0x%" PRIx64 ")", ini, dump->line, dump->section, len, dump->off, dump->path,
				size);
			return;
		}
		if (!len)
			reason = "no bytes in it";
		else if (len & 1)
			reason = "length is odd";
		else if (len - 1 > UINT64_MAX - dump->addr)
			reason = "passes the end of the address space";
		for (size_t i = 0; !reason && i < core->count; i++) {
			const struct itrace_segment *other = &core->segments[i];
			if ((other->space & dump->space) && ranges_meet(other, dump->addr, len)) {
				note(snapshot, "%s:%u: [%.80s] left out: 0x%" PRIx64 " to 0x%" PRIx64
					" overlaps an earlier dump at 0x%" PRIx64, ini, dump->line, dump->section, dump->addr,
					dump->addr + (len - 1), other->addr);
				return;
			}
		}
		if (!reason) {
			struct itrace_segment *segments = grow(core->segments, core->count, sizeof(*segments));
			const uint8_t *data = NULL;
			if (segments) {
				core->segments = segments;
				data = load_block(snapshot, dump->path, dump->off, len, &reason);
			} else {
				reason = "no memory";
			}
			if (data) {
				struct itrace_segment *segment = &segments[core->count++];
				segment->addr = dump->addr;
				segment->len = len;
				segment->data = data;
				segment->space = dump->space;
				segment->source = (uint8_t)priv_of(snapshot)->source;
				priv_of(snapshot)->dump_count++;
			}
		}
	}
	if (reason)
		note(snapshot, "%s:%u: [%.80s] left out: %s: %s", ini, dump->line, dump->section, dump->path, reason);
}

static void dump_key(struct itrace_snapshot *snapshot, const struct ini *ini, struct dump *dump)
{
	struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {
		{ "address", &dump->addr },
		{ "length", &dump->len },
		{ "offset", &dump->off },
	};

	if (!strcmp(ini->key, "file")) {
		dump->path = keep_path(snapshot, ini->value);
		return;
	}
	if (!strcmp(ini->key, "space")) {
		dump->space = itrace_snapshot_space(ini->value);
		if (dump->space == ITRACE_SPACE_ANY && strcmp(ini->value, "ANY"))
			note(snapshot, "%s:%u: space=%.80s is not known, taken for ANY", ini->path, ini->line, ini->value);
		return;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(ini->key, numbers[i].key))
			continue;
		if (!parse_number(ini->value, numbers[i].value))
			dump->bad_key = numbers[i].key;
		else if (!i)
			dump->has_addr = true;
	}
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* devices */

/* Registers that matter, in the order in which they are named. */
static const struct {
	const char *name;
	bool is_mandatory;
	bool is_ete;
	bool is_etmv4;
} registers[] = {
	{ "TRCCONFIGR", true, true, true },
	{ "TRCTRACEIDR", true, true, true },
	{ "TRCDEVARCH", false, true, false },
	{ "TRCIDR0", true, true, true },
	{ "TRCIDR1", false, true, true },
	{ "TRCIDR2", true, true, true },
	{ "TRCIDR8", false, true, true },
	{ "TRCIDR9", false, false, true },
	{ "TRCIDR10", false, false, true },
	{ "TRCIDR11", false, false, true },
	{ "TRCIDR12", false, false, true },
	{ "TRCIDR13", false, false, true },
};

#define REGISTERS_NUM	(sizeof(registers) / sizeof(registers[0]))

#define MTB_REGISTERS_NUM	8u

/* A register as its line says. */
struct device_register {
	bool is_given;
	uint64_t value;
	unsigned int line;
	const char *bad_text;	/* not a number */
};

/* A device's file as far as it is read before its class is known. */
struct device {
	const char *name;
	const char *class;
	const char *type;
	struct device_register regs[REGISTERS_NUM];
	struct device_register mtb[MTB_REGISTERS_NUM];
	struct itrace_seam *seams;
	size_t seam_count;
	unsigned int bad_seam_line;	/* the first that is none; 0: all are good */
	struct core_dumps dumps;
};

static bool same_name(const char *a, const char *b)
{
	while (*a && toupper((unsigned char)*a) == toupper((unsigned char)*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

static void take_register(struct itrace_snapshot *snapshot, struct ini *ini, struct device_register *reg)
{
	reg->is_given = true;
	reg->line = ini->line;
	if (!parse_number(ini->value, &reg->value)) {
		ini->value[strlen(ini->value) > 80 ? 80 : strlen(ini->value)] = 0;
		reg->bad_text = keep_text(snapshot, ini->value);
	}
}

static void device_register(struct itrace_snapshot *snapshot, struct ini *ini, struct device *device)
{
	for (size_t i = 0; i < REGISTERS_NUM; i++)
		if (same_name(ini->key, registers[i].name))
			take_register(snapshot, ini, &device->regs[i]);
	for (unsigned int i = 0; i < MTB_REGISTERS_NUM; i++)
		if (same_name(ini->key, itrace_mtb_register_name(i)))
			take_register(snapshot, ini, &device->mtb[i]);
}

/* OFFSET, or OFFSET PC. */
static bool parse_seam(char *text, struct itrace_seam *seam)
{
	uint64_t pc = 0;
	char *comma = strchr(text, ',');

	memset(seam, 0, sizeof(*seam));
	if (comma)
		*comma = 0;
	if (!parse_number(trim(text), &seam->off))
		return false;
	seam->has_pc = comma;
	if (comma && (!parse_number(trim(comma + 1), &pc) || pc > UINT32_MAX))
		return false;
	seam->pc = (uint32_t)pc;
	return true;
}

static void seam_key(struct itrace_snapshot *snapshot, struct ini *ini, struct device *device)
{
	struct itrace_seam seam;

	if (strncmp(ini->key, "seam", 4) || device->bad_seam_line)
		return;
	if (!parse_seam(ini->value, &seam) || device->seam_count == ITRACE_SNAPSHOT_SEAMS_MAX ||
			(device->seam_count && seam.off < device->seams[device->seam_count - 1].off)) {
		device->bad_seam_line = ini->line;
		return;
	}
	struct itrace_seam *seams = grow(device->seams, device->seam_count, sizeof(*seams));
	if (!seams) {
		priv_of(snapshot)->is_out_of_memory = true;
		return;
	}
	device->seams = seams;
	seams[device->seam_count++] = seam;
}

/* @returns false with *why filled */
static bool read_device(struct itrace_snapshot *snapshot, const char *path, struct device *device, char *why,
		size_t why_size)
{
	enum { OTHER, DEVICE, REGS, SEAMS, DUMP } section = OTHER;
	struct dump dump = { 0 };
	struct keys keys = { 0 };
	struct ini ini;
	int result;

	if (!ini_open(&ini, path, why, why_size))
		return false;
	while ((result = ini_next(&ini, why, why_size)) > 0) {
		if (!ini.key) {
			finish_dump(snapshot, path, &dump, &device->dumps);
			if (!strcmp(ini.section, "device")) {
				section = DEVICE;
			} else if (!strcmp(ini.section, "regs")) {
				section = REGS;
			} else if (!strcmp(ini.section, "seams")) {
				section = SEAMS;
			} else if (!strncmp(ini.section, "dump", 4)) {
				section = DUMP;
				memset(&dump, 0, sizeof(dump));
				dump.is_open = true;
				dump.line = ini.line;
				dump.section = ini.section;
				dump.space = ITRACE_SPACE_ANY;
			} else {
				section = OTHER;
			}
			continue;
		}
		if (section == OTHER)
			continue;
		if (section == REGS) {
			char *key = (char *)ini.text + (ini.key - ini.text);
			key[strcspn(key, "(")] = 0;
			ini.key = trim(key);
		}
		/* sections of the same name are one, but each dump is its own */
		if (!key_is_new(&keys, &ini, section == DUMP ? ini.section_number + DUMP : section, why, why_size)) {
			result = -1;
			break;
		}
		switch (section) {
		case DEVICE:
			if (!strcmp(ini.key, "name"))
				device->name = keep_text(snapshot, ini.value);
			else if (!strcmp(ini.key, "class"))
				device->class = keep_text(snapshot, ini.value);
			else if (!strcmp(ini.key, "type"))
				device->type = keep_text(snapshot, ini.value);
			break;
		case REGS:
			device_register(snapshot, &ini, device);
			break;
		case SEAMS:
			seam_key(snapshot, &ini, device);
			break;
		case DUMP:
			dump_key(snapshot, &ini, &dump);
			break;
		case OTHER:
			break;
		}
	}
	if (!result)
		finish_dump(snapshot, path, &dump, &device->dumps);
	free(keys.slots);
	ini_close(&ini);
	return !result;
}

static const char *keep_line(struct itrace_snapshot *snapshot, const char *format, ...)
#if defined(__GNUC__)
	__attribute__((format(printf, 2, 3)))
#endif
;

static const char *keep_line(struct itrace_snapshot *snapshot, const char *format, ...)
{
	char line[LINE_MAX_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return keep_text(snapshot, line);
}

/* @returns false when its value is none; the source then says why it cannot be decoded */
static bool check_register(struct itrace_snapshot *snapshot, const struct device_register *reg, const char *name,
		struct itrace_snapshot_source *source)
{
	const char *why = NULL;

	if (reg->bad_text)
		why = keep_line(snapshot, "%s:%u: %s: '%s' is not a number", source->ini, reg->line, name, reg->bad_text);
	else if (reg->value > UINT32_MAX)
		why = keep_line(snapshot, "%s:%u: %s: 0x%" PRIx64 " does not fit 32 bits", source->ini, reg->line, name,
			reg->value);
	if (why && !source->why)
		source->why = why;
	return !why;
}

static void source_registers(struct itrace_snapshot *snapshot, const struct device *device,
		struct itrace_snapshot_source *source)
{
	char defaulted[REGISTERS_NUM * 12] = "";
	size_t len = 0;
	bool is_ete = source->protocol == ITRACE_PROTOCOL_ETE;

	itrace_ete_registers_default(source->protocol, &source->regs);
	for (size_t i = 0; i < REGISTERS_NUM; i++) {
		if (!device->regs[i].is_given) {
			if (!(is_ete ? registers[i].is_ete : registers[i].is_etmv4))
				continue;
			if (registers[i].is_mandatory && !source->why)
				source->why = keep_line(snapshot, "%s: register %s is missing", source->ini, registers[i].name);
			if (!registers[i].is_mandatory)
				len += (size_t)snprintf(defaulted + len, sizeof(defaulted) - len, "%s%s", len ? " " : "",
					registers[i].name);
			continue;
		}
		uint32_t *reg = itrace_ete_register(&source->regs, registers[i].name);
		if (check_register(snapshot, &device->regs[i], registers[i].name, source) && reg)
			*reg = (uint32_t)device->regs[i].value;
	}
	source->defaulted = keep_text(snapshot, defaulted);
}

/* Which of an MTB's registers are missing is told when it is known what for. */
static void mtb_registers(struct itrace_snapshot *snapshot, const struct device *device,
		struct itrace_snapshot_source *source)
{
	for (unsigned int i = 0; i < MTB_REGISTERS_NUM; i++) {
		const char *name = itrace_mtb_register_name(i);
		uint32_t bit;
		uint32_t *reg = itrace_mtb_register(&source->mtb, name, &bit);

		if (!device->mtb[i].is_given || !check_register(snapshot, &device->mtb[i], name, source))
			continue;
		*reg = (uint32_t)device->mtb[i].value;
		source->mtb.given |= bit;
	}
}

static void mtb_seams(struct itrace_snapshot *snapshot, struct device *device, struct itrace_snapshot_source *source)
{
	if (device->bad_seam_line && !source->why)
		source->why = keep_line(snapshot,
			"%s:%u: a seam is OFFSET or OFFSET,PC, none before the one above it; at most %u", source->ini,
			device->bad_seam_line, ITRACE_SNAPSHOT_SEAMS_MAX);
	source->seams = device->seams;
	if (!keep(snapshot, device->seams))
		return;
	source->seam_count = device->seam_count;
	device->seams = NULL;
}

/* Whether @a type is @a name, with whatever behind a dot. */
static bool is_type(const char *type, const char *name)
{
	size_t len = strlen(name);
	return !strncmp(type, name, len) && (!type[len] || type[len] == '.');
}

static void add_source(struct itrace_snapshot *snapshot, const char *path, struct device *device, bool is_mtb)
{
	static const char * const others[] = { "ETM3", "PTM1", "PFT1", "STM", "ITM" };
	struct itrace_snapshot_source *sources = grow(snapshot->sources, snapshot->source_count, sizeof(*sources));

	if (!sources) {
		priv_of(snapshot)->is_out_of_memory = true;
		return;
	}
	snapshot->sources = sources;
	struct itrace_snapshot_source *source = &sources[snapshot->source_count++];
	memset(source, 0, sizeof(*source));
	source->name = device->name;
	source->type = device->type;
	source->ini = path;
	source->core = SIZE_MAX;
	source->profile = ITRACE_PROFILE_A;
	source->arch = ITRACE_ARCH_V9;
	source->protocol = ITRACE_PROTOCOL_ETE;
	source->defaulted = "";
	if (is_mtb) {
		source->protocol = ITRACE_PROTOCOL_MTB;
		mtb_registers(snapshot, device, source);
		if (device->seams || device->bad_seam_line)
			mtb_seams(snapshot, device, source);
		return;
	}
	if (is_type(device->type, "ETE")) {
		source_registers(snapshot, device, source);
		return;
	}
	if (is_type(device->type, "ETM4")) {
		source->protocol = ITRACE_PROTOCOL_ETMV4;
		source_registers(snapshot, device, source);
		return;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (is_type(device->type, others[i])) {
			source->why = keep_line(snapshot, "%s: trace of type %.80s cannot be decoded, only ETE and ETM4", path,
				device->type);
			return;
		}
	}
	source->why = keep_line(snapshot, "%s: type='%.80s' is no trace source that is known (ETE, ETM4)", path,
		device->type);
}

static void add_core(struct itrace_snapshot *snapshot, const char *path, const struct device *device)
{
	struct priv *priv = priv_of(snapshot);
	struct itrace_snapshot_core *cores = grow(snapshot->cores, snapshot->core_count, sizeof(*cores));
	struct core_dumps *dumps = grow(priv->dumps, snapshot->core_count, sizeof(*dumps));

	if (cores)
		snapshot->cores = cores;
	if (dumps)
		priv->dumps = dumps;
	if (!cores || !dumps) {
		priv->is_out_of_memory = true;
		free(device->dumps.segments);
		return;
	}
	dumps[snapshot->core_count] = device->dumps;
	struct itrace_snapshot_core *core = &cores[snapshot->core_count++];
	memset(core, 0, sizeof(*core));
	core->name = device->name;
	core->type = device->type;
	core->ini = path;
	core->type_known = itrace_core_type(device->type, &core->profile, &core->arch);
	core->segments = device->dumps.segments;
	core->segment_count = device->dumps.count;
	if (!core->type_known)
		note(snapshot, "%s: core type '%.80s' is not known, taken for Armv9-A", path, device->type);
}

/* @returns false with *why filled */
static bool add_device(struct itrace_snapshot *snapshot, const char *path, char *why, size_t why_size)
{
	struct device device = { .name = "", .class = "", .type = "" };

	if (!read_device(snapshot, path, &device, why, why_size)) {
		free(device.dumps.segments);
		free(device.seams);
		return false;
	}
	if (!strcmp(device.class, "core")) {
		add_core(snapshot, path, &device);
		free(device.seams);
		return true;
	}
	free(device.dumps.segments);
	if (!*device.class)
		note(snapshot, "%s: no [device] with class=core, class=trace_source or class=mtb in it, left out", path);
	bool is_mtb = !strcmp(device.class, "mtb");
	if (is_mtb || !strcmp(device.class, "trace_source"))
		add_source(snapshot, path, &device, is_mtb);
	free(device.seams);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* buffers */

/* Add the elements of the comma-separated @a list, which is cut up. @returns false when there is no memory */
static bool keys_add_list(struct keys *keys, unsigned int section, char *list)
{
	while (*list) {
		char *next = list + strcspn(list, ",");
		if (*next)
			*next++ = 0;
		if (keys_add(keys, section, trim(list)) < 0)
			return false;
		list = next;
	}
	return true;
}

/* The section of a buffer is complete. */
static void finish_buffer(struct itrace_snapshot *snapshot, const char *ini, unsigned int line, unsigned int file_line,
		struct itrace_snapshot_buffer *buffer)
{
	struct stat st;
	const char *missing = !buffer->name ? "name" : !buffer->path ? "file" : !buffer->format ? "format" : NULL;

	if (!buffer->section)
		return;
	struct itrace_snapshot_buffer *buffers = grow(snapshot->buffers, snapshot->buffer_count, sizeof(*buffers));
	if (!buffers) {
		priv_of(snapshot)->is_out_of_memory = true;
		return;
	}
	snapshot->buffers = buffers;
	buffer->framing = ITRACE_FRAMING_CORESIGHT;
	if (buffer->format && !strcmp(buffer->format, "source_data"))
		buffer->framing = ITRACE_FRAMING_RAW;
	else if (buffer->format && !strcmp(buffer->format, "dstream_coresight"))
		buffer->framing = ITRACE_FRAMING_DSTREAM;
	else if (buffer->format && strcmp(buffer->format, "coresight"))
		note(snapshot, "%s:%u: [%.80s] format=%.80s is not known, taken for coresight", ini, line, buffer->section,
			buffer->format);
	if (missing) {
		buffer->why = keep_line(snapshot, "%s:%u: [%.80s] has no %s=", ini, line, buffer->section, missing);
	} else if (stat(buffer->path, &st)) {
		buffer->why = keep_line(snapshot, "%s:%u: [%.80s] trace file %s: %s", ini, file_line, buffer->section,
			buffer->path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		buffer->why = keep_line(snapshot, "%s:%u: [%.80s] trace file %s: %s", ini, file_line, buffer->section,
			buffer->path, S_ISDIR(st.st_mode) ? "is a directory" : "not a regular file");
	} else {
		buffer->len = (uint64_t)st.st_size;
	}
	if (!buffer->name)
		buffer->name = buffer->section;
	if (!buffer->path)
		buffer->path = "";
	if (!buffer->format)
		buffer->format = "";
	snapshot->buffers[snapshot->buffer_count++] = *buffer;
}

static void add_link(struct itrace_snapshot *snapshot, struct link **links, size_t *count, const char *from,
		const char *to, unsigned int line)
{
	struct link *more = grow(*links, *count, sizeof(*more));
	if (!more) {
		priv_of(snapshot)->is_out_of_memory = true;
		return;
	}
	*links = more;
	more[*count].from = keep_text(snapshot, from);
	more[*count].to = keep_text(snapshot, to);
	more[*count].line = line;
	(*count)++;
}

/* @returns false with *why filled */
static bool read_trace(struct itrace_snapshot *snapshot, const char *path, char *why, size_t why_size)
{
	enum { OTHER, BUFFERS, BUFFER, SOURCES, CORES } section = OTHER;
	struct priv *priv = priv_of(snapshot);
	struct itrace_snapshot_buffer buffer = { 0 };
	const char *list = NULL;
	struct keys listed = { 0 };
	struct keys keys = { 0 };
	unsigned int line = 0;
	unsigned int file_line = 0;
	struct ini ini;
	int result;

	if (!ini_open(&ini, path, why, why_size))
		return false;
	while ((result = ini_next(&ini, why, why_size)) > 0) {
		if (!ini.key) {
			finish_buffer(snapshot, path, line, file_line, &buffer);
			memset(&buffer, 0, sizeof(buffer));
			if (!strcmp(ini.section, "trace_buffers")) {
				section = BUFFERS;
			} else if (!strcmp(ini.section, "source_buffers")) {
				section = SOURCES;
			} else if (!strcmp(ini.section, "core_trace_sources")) {
				section = CORES;
			} else if (keys_hold(&listed, 0, ini.section)) {
				section = BUFFER;
				buffer.section = keep_text(snapshot, ini.section);
				line = ini.line;
				file_line = ini.line;
			} else {
				section = OTHER;
				if (!strncmp(ini.section, "buffer", 6))
					note(snapshot, "%s:%u: [%.80s] is left out: no [trace_buffers] before it names it", path, ini.line,
						ini.section);
			}
			continue;
		}
		if ((section == BUFFERS || section == BUFFER) &&
			!key_is_new(&keys, &ini, section == BUFFER ? ini.section_number + CORES : section, why, why_size)) {
			result = -1;
			break;
		}
		switch (section) {
		case BUFFERS:
			if (!strcmp(ini.key, "buffers")) {
				list = keep_text(snapshot, ini.value);
				if (!keys_add_list(&listed, 0, ini.value))
					priv->is_out_of_memory = true;
			}
			break;
		case BUFFER:
			if (!strcmp(ini.key, "name")) {
				buffer.name = keep_text(snapshot, ini.value);
			} else if (!strcmp(ini.key, "file")) {
				buffer.path = keep_path(snapshot, ini.value);
				file_line = ini.line;
			} else if (!strcmp(ini.key, "format")) {
				buffer.format = keep_text(snapshot, ini.value);
			}
			break;
		case SOURCES:
			/* a device may feed several buffers, and a cpu may own several devices: no key is given twice */
			add_link(snapshot, &priv->buffer_links, &priv->buffer_link_count, ini.key, ini.value, ini.line);
			break;
		case CORES:
			add_link(snapshot, &priv->core_links, &priv->core_link_count, ini.key, ini.value, ini.line);
			break;
		case OTHER:
			break;
		}
	}
	if (!result)
		finish_buffer(snapshot, path, line, file_line, &buffer);
	if (!result && !list) {
		say(why, why_size, "%s: no [trace_buffers] with buffers= in it", path);
		result = -1;
	} else if (!result && !snapshot->buffer_count) {
		say(why, why_size, "%s: none of the buffers '%.80s' has a section behind [trace_buffers]", path, list);
		result = -1;
	}
	free(keys.slots);
	free(listed.slots);
	ini_close(&ini);
	return !result;
}

/* An index of names: pointers to them, sorted. */
struct name {
	const char *name;
	size_t index;
};

static int name_compare(const void *left, const void *right)
{
	const struct name *a = left;
	const struct name *b = right;
	int order = strcmp(a->name, b->name);

	if (order)
		return order;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* @returns the index of the first that is called @a name, SIZE_MAX when there is none */
static size_t names_find(const struct name *names, size_t count, const char *name)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(names[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && !strcmp(names[low].name, name) ? names[low].index : SIZE_MAX;
}

/* Which core owns which source. @returns false when there is no memory */
static bool link_cores(struct itrace_snapshot *snapshot, const char *ini, const struct name *sources)
{
	struct priv *priv = priv_of(snapshot);
	struct name *cores = calloc(snapshot->core_count + 1, sizeof(*cores));
	if (!cores)
		return false;
	for (size_t i = 0; i < snapshot->core_count; i++) {
		cores[i].name = snapshot->cores[i].name;
		cores[i].index = i;
	}
	qsort(cores, snapshot->core_count, sizeof(*cores), name_compare);
	for (size_t i = 0; i < priv->core_link_count; i++) {
		const struct link *link = &priv->core_links[i];
		size_t core = names_find(cores, snapshot->core_count, link->from);
		size_t source = names_find(sources, snapshot->source_count, link->to);
		if (core == SIZE_MAX || source == SIZE_MAX) {
			note(snapshot, "%s:%u: no %s called '%.80s' among the devices", ini, link->line,
				core == SIZE_MAX ? "core" : "trace source", core == SIZE_MAX ? link->from : link->to);
			continue;
		}
		snapshot->sources[source].core = core;
		snapshot->sources[source].profile = snapshot->cores[core].profile;
		snapshot->sources[source].arch = snapshot->cores[core].arch;
	}
	free(cores);
	return true;
}

/* Which sources feed which buffer: sorted pairs of (buffer, order in the file), then cut into one array a buffer. */
struct feed {
	size_t buffer;
	size_t order;
	size_t source;
};

static int feed_compare(const void *left, const void *right)
{
	const struct feed *a = left;
	const struct feed *b = right;

	if (a->buffer != b->buffer)
		return a->buffer < b->buffer ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool link_buffers(struct itrace_snapshot *snapshot, const char *ini, const struct name *sources)
{
	struct priv *priv = priv_of(snapshot);
	struct name *buffers = calloc(snapshot->buffer_count + 1, sizeof(*buffers));
	struct feed *feeds = calloc(priv->buffer_link_count + 1, sizeof(*feeds));
	size_t *indices = keep(snapshot, calloc(priv->buffer_link_count + 1, sizeof(*indices)));
	size_t count = 0;
	bool is_ok = buffers && feeds && indices;

	for (size_t i = 0; is_ok && i < snapshot->buffer_count; i++) {
		buffers[i].name = snapshot->buffers[i].name;
		buffers[i].index = i;
	}
	if (is_ok)
		qsort(buffers, snapshot->buffer_count, sizeof(*buffers), name_compare);
	for (size_t i = 0; is_ok && i < priv->buffer_link_count; i++) {
		const struct link *link = &priv->buffer_links[i];
		size_t source = names_find(sources, snapshot->source_count, link->from);
		size_t buffer = names_find(buffers, snapshot->buffer_count, link->to);
		if (source == SIZE_MAX || buffer == SIZE_MAX) {
			note(snapshot, "%s:%u: no %s called '%.80s'", ini, link->line,
				source == SIZE_MAX ? "trace source" : "buffer", source == SIZE_MAX ? link->from : link->to);
			continue;
		}
		feeds[count].buffer = buffer;
		feeds[count].order = i;
		feeds[count++].source = source;
	}
	if (is_ok)
		qsort(feeds, count, sizeof(*feeds), feed_compare);
	for (size_t i = 0; is_ok && i < count; i++) {
		struct itrace_snapshot_buffer *buffer = &snapshot->buffers[feeds[i].buffer];
		indices[i] = feeds[i].source;
		if (!buffer->source_count)
			buffer->sources = &indices[i];
		buffer->source_count++;
	}
	free(buffers);
	free(feeds);
	return is_ok;
}

static bool link_all(struct itrace_snapshot *snapshot, const char *ini)
{
	struct name *sources = calloc(snapshot->source_count + 1, sizeof(*sources));
	if (!sources)
		return false;
	for (size_t i = 0; i < snapshot->source_count; i++) {
		sources[i].name = snapshot->sources[i].name;
		sources[i].index = i;
	}
	qsort(sources, snapshot->source_count, sizeof(*sources), name_compare);
	bool is_ok = link_cores(snapshot, ini, sources) && link_buffers(snapshot, ini, sources);
	free(sources);
	return is_ok;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* the whole */

/*
 * Read snapshot.ini and the devices it lists.
 * @param[out] trace the path of the file that describes the buffers
 */
static bool read_snapshot(struct itrace_snapshot *snapshot, const char **trace, char *why, size_t why_size)
{
	enum { OTHER, SNAPSHOT, DEVICES, TRACE } section = OTHER;
	const char *path = keep_path(snapshot, "snapshot.ini");
	struct keys keys = { 0 };
	size_t devices = 0;
	struct ini ini;
	int result;

	priv_of(snapshot)->ini = path;
	*trace = NULL;
	if (!ini_open(&ini, path, why, why_size))
		return false;
	while ((result = ini_next(&ini, why, why_size)) > 0) {
		if (!ini.key) {
			section = !strcmp(ini.section, "snapshot") ? SNAPSHOT : !strcmp(ini.section, "device_list") ? DEVICES :
				!strcmp(ini.section, "trace") ? TRACE : OTHER;
			continue;
		}
		if ((section == SNAPSHOT || section == TRACE) && !key_is_new(&keys, &ini, section, why, why_size)) {
			result = -1;
			break;
		}
		if (section == SNAPSHOT && !strcmp(ini.key, "version") && strcmp(ini.value, "1") && strcmp(ini.value, "1.0")) {
			say(why, why_size, "%s:%u: version=%.80s, only 1.0 can be read", path, ini.line, ini.value);
			result = -1;
			break;
		}
		if (section == TRACE && !strcmp(ini.key, "metadata"))
			*trace = keep_path(snapshot, ini.value);
		if (section != DEVICES)
			continue;
		if (devices++ == ITRACE_SNAPSHOT_DEVICES_MAX) {
			say(why, why_size, "%s:%u: more than %u devices", path, ini.line, ITRACE_SNAPSHOT_DEVICES_MAX);
			result = -1;
			break;
		}
		char reason[LINE_MAX_LEN];
		const char *device = keep_path(snapshot, ini.value);
		struct stat st;
		if (stat(device, &st)) {
			say(why, why_size, "%s:%u: [device_list] %s: %s", path, ini.line, device, strerror(errno));
			result = -1;
			break;
		}
		if (!add_device(snapshot, device, reason, sizeof(reason))) {
			say(why, why_size, "%s", reason);
			result = -1;
			break;
		}
	}
	if (!result && !*trace) {
		say(why, why_size, "%s: no [trace] with metadata= in it: a snapshot without trace", path);
		result = -1;
	}
	free(keys.slots);
	ini_close(&ini);
	return !result;
}

struct itrace_snapshot *itrace_snapshot_read(const char *dir, unsigned int source, char *why, size_t why_size)
{
	struct stat st;
	const char *trace;

	why[0] = 0;
	if (stat(dir, &st)) {
		say(why, why_size, "%s: %s", dir, strerror(errno));
		return NULL;
	}
	if (!S_ISDIR(st.st_mode)) {
		say(why, why_size, "%s: not a directory; a snapshot is one with a snapshot.ini in it", dir);
		return NULL;
	}
	struct itrace_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct priv *priv = calloc(1, sizeof(*priv));
	if (!snapshot || !priv) {
		say(why, why_size, "%s: no memory", dir);
		free(snapshot);
		free(priv);
		return NULL;
	}
	snapshot->priv = priv;
	priv->source = source;
	snapshot->dir = keep_text(snapshot, dir);

	if (!read_snapshot(snapshot, &trace, why, why_size))
		trace = NULL;
	priv->trace_ini = trace;
	if (!trace || !read_trace(snapshot, trace, why, why_size)) {
		itrace_snapshot_free(snapshot);
		return NULL;
	}
	if (!link_all(snapshot, trace) || priv->is_out_of_memory) {
		say(why, why_size, "%s: no memory", dir);
		itrace_snapshot_free(snapshot);
		return NULL;
	}
	return snapshot;
}

void itrace_snapshot_free(struct itrace_snapshot *snapshot)
{
	if (!snapshot)
		return;
	struct priv *priv = priv_of(snapshot);
	for (size_t i = 0; i < snapshot->core_count; i++)
		free(priv->dumps[i].segments);
	for (size_t i = 0; i < priv->allocation_count; i++)
		free(priv->allocations[i]);
	free(priv->allocations);
	free(priv->blocks);
	free(priv->dumps);
	free(priv->buffer_links);
	free(priv->core_links);
	free(priv);
	free(snapshot->buffers);
	free(snapshot->sources);
	free(snapshot->cores);
	free(snapshot->notes);
	free(snapshot);
}

struct itrace_segment *itrace_snapshot_segments(const struct itrace_snapshot *snapshot, size_t buffer, size_t source,
		size_t *count)
{
	const struct itrace_snapshot_buffer *from = &snapshot->buffers[buffer];
	size_t own = snapshot->sources[source].core;
	size_t room = own != SIZE_MAX ? snapshot->cores[own].segment_count : 0;
	bool *is_taken = calloc(snapshot->core_count + 1, sizeof(*is_taken));

	*count = SIZE_MAX;
	if (!is_taken)
		return NULL;
	if (own != SIZE_MAX)
		is_taken[own] = true;
	for (size_t i = 0; i < from->source_count; i++) {
		size_t core = snapshot->sources[from->sources[i]].core;
		if (core != SIZE_MAX && !is_taken[core]) {
			is_taken[core] = true;
			room += snapshot->cores[core].segment_count;
		}
	}
	struct itrace_segment *segments = malloc((room ? room : 1) * sizeof(*segments));
	if (!segments) {
		free(is_taken);
		return NULL;
	}

	size_t n = 0;
	if (own != SIZE_MAX && snapshot->cores[own].segment_count) {
		n = snapshot->cores[own].segment_count;
		memcpy(segments, snapshot->cores[own].segments, n * sizeof(*segments));
		is_taken[own] = false;
	}
	for (size_t i = 0; i < from->source_count; i++) {
		size_t core = snapshot->sources[from->sources[i]].core;
		if (core == SIZE_MAX || core == own || !is_taken[core])
			continue;
		is_taken[core] = false;
		for (size_t k = 0; k < snapshot->cores[core].segment_count; k++) {
			const struct itrace_segment *segment = &snapshot->cores[core].segments[k];
			bool is_free = true;
			for (size_t j = 0; is_free && j < n; j++)
				is_free = !(segments[j].space & segment->space) ||
					!ranges_meet(&segments[j], segment->addr, segment->len);
			if (is_free)
				segments[n++] = *segment;
		}
	}
	free(is_taken);
	*count = n;
	if (!n) {
		free(segments);
		return NULL;
	}
	return segments;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat first;
	struct stat second;

	if (!strcmp(a, b))
		return true;
	if (stat(a, &first) || stat(b, &second))
		return false;
	return first.st_ino && first.st_ino == second.st_ino && first.st_dev == second.st_dev;
}

bool itrace_snapshot_has_file(const struct itrace_snapshot *snapshot, const char *path)
{
	const struct priv *priv = priv_of(snapshot);
	bool is_in = is_same_file(path, priv->ini) || is_same_file(path, priv->trace_ini);

	for (size_t i = 0; i < snapshot->buffer_count; i++)
		is_in = is_in || is_same_file(path, snapshot->buffers[i].path);
	for (size_t i = 0; i < snapshot->source_count; i++)
		is_in = is_in || is_same_file(path, snapshot->sources[i].ini);
	for (size_t i = 0; i < snapshot->core_count; i++)
		is_in = is_in || is_same_file(path, snapshot->cores[i].ini);
	for (size_t i = 0; i < priv->block_count; i++)
		is_in = is_in || is_same_file(path, priv->blocks[i].path);
	return is_in;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* writer */

/*
 * Files are written beside those that they replace, and take their places when all of them are whole: one that fails
 * costs nobody the snapshot that stood there.
 */
#define WRITER_SUFFIX	".new"

struct writer {
	const char *dir;
	char *why;
	size_t why_size;
	char *path;		/* of the file that is open, in its place */
	FILE *f;
	struct written *files;	/* in the order in which they were begun */
	size_t file_count;
};

struct written {
	char name[64];
};

/* @returns NULL: no memory, which is told */
static char *writer_path(struct writer *writer, const char *name, const char *suffix)
{
	const size_t size = strlen(writer->dir) + strlen(name) + strlen(suffix) + 2;
	char *path = malloc(size);

	if (path)
		snprintf(path, size, "%s/%s%s", writer->dir, name, suffix);
	else
		say(writer->why, writer->why_size, "%s: no memory", writer->dir);
	return path;
}

/* What goes wrong now is said of @a name. */
static bool writer_name(struct writer *writer, const char *name)
{
	free(writer->path);
	writer->path = writer_path(writer, name, "");
	return writer->path;
}

static bool writer_remember(struct writer *writer, const char *name)
{
	struct written *files = grow(writer->files, writer->file_count, sizeof(*files));

	if (!files) {
		say(writer->why, writer->why_size, "%s: no memory", writer->dir);
		return false;
	}
	writer->files = files;
	snprintf(files[writer->file_count++].name, sizeof(files->name), "%s", name);
	return true;
}

static bool writer_open(struct writer *writer, const char *name)
{
	struct stat status;

	if (!writer_name(writer, name))
		return false;
	if (!stat(writer->path, &status) && !S_ISREG(status.st_mode)) {
		say(writer->why, writer->why_size, "%s: not a file", writer->path);
		return false;
	}
	char *beside = writer_path(writer, name, WRITER_SUFFIX);
	if (!beside || !writer_remember(writer, name)) {
		free(beside);
		return false;
	}
	writer->f = fopen(beside, "wb");
	if (!writer->f)
		say(writer->why, writer->why_size, "%s: %s", writer->path, strerror(errno));
	free(beside);
	return writer->f;
}

/* @a name takes its place, or vanishes. */
static bool writer_settle(struct writer *writer, const char *name, bool is_good)
{
	char *beside = writer_path(writer, name, WRITER_SUFFIX);
	bool is_ok = beside && writer_name(writer, name);

	if (is_ok && is_good) {
#ifdef _WIN32
		/* there nothing is replaced by rename() */
		remove(writer->path);
#endif
		is_ok = !rename(beside, writer->path);
		if (!is_ok)
			say(writer->why, writer->why_size, "%s: %s", writer->path, strerror(errno));
	}
	if (beside && !(is_ok && is_good))
		remove(beside);
	free(beside);
	return is_ok;
}

/* snapshot.ini is the last of them, and the first to go: what is without it is none. */
static bool writer_end(struct writer *writer, bool is_ok)
{
	if (is_ok) {
		is_ok = writer_name(writer, "snapshot.ini");
		if (is_ok)
			remove(writer->path);
	}
	for (size_t i = 0; i < writer->file_count; i++)
		is_ok = writer_settle(writer, writer->files[i].name, is_ok) && is_ok;
	free(writer->files);
	free(writer->path);
	return is_ok;
}

static bool writer_close(struct writer *writer)
{
	/* an earlier write that failed has left its reason */
	int error = ferror(writer->f) ? errno : 0;
	bool is_ok = !ferror(writer->f);
	if (fclose(writer->f)) {
		is_ok = false;
		error = error ? error : errno;
	}
	writer->f = NULL;
	if (!is_ok)
		say(writer->why, writer->why_size, "%s: %s", writer->path, error ? strerror(error) : "cannot be written");
	return is_ok;
}

/* A name can stand in an ini file when nothing in it ends a name there. */
static bool name_is_writable(struct writer *writer, const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len && len < 256 && !strpbrk(name, ";#=[](),\r\n\t") && name[0] != ' ' && name[len - 1] != ' ')
		return true;
	say(writer->why, writer->why_size, "%s: '%.80s' cannot be the name of a device or buffer in a snapshot",
		writer->dir, name ? name : "");
	return false;
}

/* Bytes that become a dump, or part of one. */
struct piece {
	uint64_t addr;
	uint64_t len;
	const uint8_t *data;
	uint8_t space;
	size_t checked;		/* meets none of so many of the pieces that are done */
};

struct pieces {
	struct piece *items;
	size_t count;
};

static bool pieces_add(struct pieces *list, uint64_t addr, uint64_t len, const uint8_t *data, uint8_t space,
		size_t checked)
{
	struct piece *items = grow(list->items, list->count, sizeof(*items));
	if (!items)
		return false;
	list->items = items;
	items[list->count].addr = addr;
	items[list->count].len = len;
	items[list->count].data = data;
	items[list->count].checked = checked;
	items[list->count++].space = space;
	return true;
}

static int piece_compare(const void *left, const void *right)
{
	const struct piece *a = left;
	const struct piece *b = right;

	if (a->space != b->space)
		return a->space < b->space ? -1 : 1;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

/*
 * Cut segments into pieces that do not overlap in any memory space; where they do, the first segment wins.
 * @returns false when there is no memory
 */
static bool cut_segments(const struct itrace_segment *segments, size_t count, struct pieces *done)
{
	struct pieces todo = { 0 };
	bool is_ok = true;

	for (size_t i = 0; is_ok && i < count; i++) {
		const struct itrace_segment *segment = &segments[i];
		size_t before = done->count;

		if (!segment->len || !segment->space)
			continue;
		todo.count = 0;
		is_ok = pieces_add(&todo, segment->addr, segment->len, segment->data, segment->space, 0);
		while (is_ok && todo.count) {
			struct piece piece = todo.items[--todo.count];
			size_t k = piece.checked;
			for (; k < before; k++) {
				const struct piece *other = &done->items[k];
				if ((other->space & piece.space) && piece.addr <= other->addr + (other->len - 1) &&
					other->addr <= piece.addr + (piece.len - 1))
					break;
			}
			if (k == before) {
				is_ok = pieces_add(done, piece.addr, piece.len, piece.data, piece.space, 0);
				continue;
			}
			const struct piece *other = &done->items[k];
			uint64_t first = other->addr > piece.addr ? other->addr : piece.addr;
			uint64_t other_last = other->addr + (other->len - 1);
			uint64_t piece_last = piece.addr + (piece.len - 1);
			uint64_t last = other_last < piece_last ? other_last : piece_last;
			uint8_t rest = piece.space & (uint8_t)~other->space;
			if (first > piece.addr)
				is_ok = pieces_add(&todo, piece.addr, first - piece.addr, piece.data, piece.space, k);
			if (is_ok && last < piece_last)
				is_ok = pieces_add(&todo, last + 1, piece_last - last, piece.data + (last + 1 - piece.addr),
					piece.space, k);
			if (is_ok && rest)
				is_ok = pieces_add(&todo, first, last - first + 1, piece.data + (first - piece.addr), rest, k);
		}
	}
	free(todo.items);
	if (is_ok && done->count)
		qsort(done->items, done->count, sizeof(*done->items), piece_compare);
	return is_ok;
}

/* Write @a len bytes from @a addr on of pieces that follow each other. @returns false with the reason said */
static bool write_dump(struct writer *writer, const char *name, const struct piece *pieces, size_t count, uint64_t addr,
		uint64_t len)
{
	if (!writer_open(writer, name))
		return false;
	uint64_t skip = addr - pieces[0].addr;
	for (size_t i = 0; i < count && len; i++) {
		uint64_t part = pieces[i].len - skip < len ? pieces[i].len - skip : len;
		if (fwrite(pieces[i].data + skip, 1, (size_t)part, writer->f) != part)
			break;
		len -= part;
		skip = 0;
	}
	return writer_close(writer);
}

/*
 * The dumps of a core: files, and their sections into @a ini.
 * @param index the core after which the files are called
 * @param is_there the files have been written
 */
static bool write_dumps(struct writer *writer, const struct itrace_snapshot_write_core *core, size_t index,
		bool is_there, FILE *ini)
{
	struct pieces pieces = { 0 };
	unsigned int file_count = 0;
	unsigned int dump_count = 0;
	bool is_ok = cut_segments(core->segments, core->segment_count, &pieces);

	if (!is_ok)
		say(writer->why, writer->why_size, "%s: no memory", writer->dir);
	for (size_t i = 0, next; is_ok && i < pieces.count; i = next) {
		const struct piece *first = &pieces.items[i];
		uint64_t len = first->len;
		for (next = i + 1; next < pieces.count && pieces.items[next].space == first->space &&
			pieces.items[next].addr == first->addr + len && pieces.items[next].addr; next++)
			len += pieces.items[next].len;

		uint64_t addr = first->addr + (first->addr & 1);
		len = (len - (first->addr & 1)) & ~(uint64_t)1;
		if (!len)
			continue;
		char name[64];
		snprintf(name, sizeof(name), "core%zu_%u.bin", index, ++file_count);
		if (!is_there)
			is_ok = write_dump(writer, name, first, next - i, addr, len);
		uint8_t left = first->space;
		for (size_t k = 0; is_ok && left && k < SPACES_NUM; k++) {
			if (spaces[k].space & ~left)
				continue;
			left &= (uint8_t)~spaces[k].space;
			fprintf(ini, "\n[dump%u]\nfile=%s\naddress=0x%" PRIx64 "\nlength=0x%" PRIx64 "\n", ++dump_count, name, addr,
				len);
			if (spaces[k].space != ITRACE_SPACE_ANY)
				fprintf(ini, "space=%s\n", spaces[k].name);
		}
	}
	free(pieces.items);
	return is_ok;
}

static const char *core_type_name(enum itrace_profile profile, enum itrace_arch arch)
{
	static const char * const names[ITRACE_ARCH_NUM][ITRACE_PROFILE_NUM] = {
		[ITRACE_ARCH_V7] = { "ARMv7-A", "ARMv7-R", "ARMv7-M" },
		[ITRACE_ARCH_V8] = { "ARMv8-A", "ARMv8-R", "ARMv8-M" },
		[ITRACE_ARCH_V8_3] = { "ARMv8.3-A", "ARMv8.3-R", "ARMv8.3-M" },
		[ITRACE_ARCH_V9] = { "ARM-AA64", "ARM-AA64-R", "ARM-AA64-M" },
	};

	return names[arch][profile];
}

static bool write_core(struct writer *writer, const struct itrace_snapshot_content *content, size_t index)
{
	const struct itrace_snapshot_write_core *core = &content->cores[index];
	size_t files = 0;
	char name[64];

	/* cores that share their segments share the files */
	while (content->cores[files].segments != core->segments ||
		content->cores[files].segment_count != core->segment_count)
		files++;

	snprintf(name, sizeof(name), "core%zu.ini", index);
	if (!writer_open(writer, name))
		return false;
	FILE *ini = writer->f;
	writer->f = NULL;
	fprintf(ini, "[device]\nname=%s\nclass=core\ntype=%s\n", core->name,
		core->type ? core->type : core_type_name(core->profile, core->arch));
	if (!write_dumps(writer, core, files, files != index, ini)) {
		fclose(ini);
		return false;
	}
	/* the dumps were written through the same writer */
	if (!writer_name(writer, name)) {
		fclose(ini);
		return false;
	}
	writer->f = ini;
	return writer_close(writer);
}

static void write_mtb_source(struct writer *writer, const struct itrace_snapshot_write_source *source)
{
	struct itrace_mtb_registers regs = source->mtb;
	const char *name;

	fprintf(writer->f, "[device]\nname=%s\nclass=mtb\ntype=MTB\n\n[regs]\n", source->name);
	for (unsigned int i = 0; (name = itrace_mtb_register_name(i)); i++) {
		uint32_t bit;
		const uint32_t *reg = itrace_mtb_register(&regs, name, &bit);
		if (regs.given & bit)
			fprintf(writer->f, bit == ITRACE_MTB_REG_AW ? "%s=%" PRIu32 "\n" : "%s=0x%08" PRIx32 "\n", name, *reg);
	}
	if (source->seam_count)
		fprintf(writer->f, "\n[seams]\n");
	for (size_t i = 0; i < source->seam_count; i++) {
		const struct itrace_seam *seam = &source->seams[i];
		fprintf(writer->f, "seam%zu=0x%" PRIx64, i, seam->off);
		if (seam->has_pc)
			fprintf(writer->f, ",0x%" PRIx32, seam->pc);
		fputc('\n', writer->f);
	}
}

static bool write_source(struct writer *writer, const struct itrace_snapshot_write_source *source, size_t index)
{
	struct itrace_ete_registers regs = source->regs;
	bool is_ete = source->protocol == ITRACE_PROTOCOL_ETE;
	char name[64];

	snprintf(name, sizeof(name), "source%zu.ini", index);
	if (!writer_open(writer, name))
		return false;
	if (source->protocol == ITRACE_PROTOCOL_MTB) {
		write_mtb_source(writer, source);
		return writer_close(writer);
	}
	fprintf(writer->f, "[device]\nname=%s\nclass=trace_source\n", source->name);
	if (is_ete)
		fprintf(writer->f, "type=ETE\n");
	else
		fprintf(writer->f, "type=ETM4.%u\n", (unsigned int)(regs.trcidr1 >> 4 & 0xf));
	fprintf(writer->f, "\n[regs]\n");
	for (size_t i = 0; i < REGISTERS_NUM; i++) {
		const uint32_t *reg = itrace_ete_register(&regs, registers[i].name);
		if (reg && (is_ete ? registers[i].is_ete : registers[i].is_etmv4))
			fprintf(writer->f, "%s=0x%08" PRIx32 "\n", registers[i].name, *reg);
	}
	return writer_close(writer);
}

static long read_file(void *ctx, uint8_t *dst, size_t len)
{
	FILE *f = ctx;
	size_t got = fread(dst, 1, len, f);
	return !got && ferror(f) ? -1 : (long)got;
}

static bool write_trace(struct writer *writer, const struct itrace_snapshot_write_buffer *buffer, size_t index)
{
	long (*read)(void *ctx, uint8_t *dst, size_t len) = buffer->read;
	void *ctx = buffer->ctx;
	const char *from = buffer->path ? buffer->path : buffer->name;
	FILE *f = NULL;
	char name[64];

	snprintf(name, sizeof(name), "trace%zu.bin", index);
	char *path = writer_path(writer, name, "");
	uint8_t *block = malloc(65536);
	bool is_ok = path && block;
	if (!is_ok) {
		say(writer->why, writer->why_size, "%s: no memory", writer->dir);
		goto done;
	}

	if (!read && (!buffer->path || is_same_file(buffer->path, path))) {
		struct stat st;
		is_ok = !stat(path, &st) && S_ISREG(st.st_mode);
		if (!is_ok)
			say(writer->why, writer->why_size, "%s: no trace is there", path);
		goto done;
	}
	if (!read) {
		f = fopen(buffer->path, "rb");
		if (!f) {
			say(writer->why, writer->why_size, "%s: %s", buffer->path, strerror(errno));
			is_ok = false;
			goto done;
		}
		read = read_file;
		ctx = f;
	}
	is_ok = writer_open(writer, name);
	if (!is_ok)
		goto done;
	long len;
	while ((len = read(ctx, block, 65536)) > 0) {
		if (fwrite(block, 1, (size_t)len, writer->f) != (size_t)len)
			break;
	}
	is_ok = writer_close(writer);
	if (is_ok && len < 0) {
		say(writer->why, writer->why_size, "%s: the trace cannot be read", from);
		is_ok = false;
	}
done:
	if (f)
		fclose(f);
	free(block);
	free(path);
	return is_ok;
}

static bool write_trace_ini(struct writer *writer, const struct itrace_snapshot_content *content)
{
	if (!writer_open(writer, "trace.ini"))
		return false;
	fprintf(writer->f, "[trace_buffers]\nbuffers=");
	for (size_t i = 0; i < content->buffer_count; i++)
		fprintf(writer->f, "%sbuffer%zu", i ? "," : "", i);
	fprintf(writer->f, "\n");
	for (size_t i = 0; i < content->buffer_count; i++) {
		const struct itrace_snapshot_write_buffer *buffer = &content->buffers[i];
		fprintf(writer->f, "\n[buffer%zu]\nname=%s\nfile=trace%zu.bin\nformat=%s\n", i, buffer->name, i,
			buffer->framing == ITRACE_FRAMING_RAW ? "source_data" :
			buffer->framing == ITRACE_FRAMING_DSTREAM ? "dstream_coresight" : "coresight");
	}
	fprintf(writer->f, "\n[source_buffers]\n");
	for (size_t i = 0; i < content->source_count; i++)
		fprintf(writer->f, "%s=%s\n", content->sources[i].name, content->buffers[content->sources[i].buffer].name);
	fprintf(writer->f, "\n[core_trace_sources]\n");
	for (size_t i = 0; i < content->source_count; i++)
		fprintf(writer->f, "%s=%s\n", content->cores[content->sources[i].core].name, content->sources[i].name);
	return writer_close(writer);
}

static bool write_snapshot_ini(struct writer *writer, const struct itrace_snapshot_content *content)
{
	size_t number = 0;

	if (!writer_open(writer, "snapshot.ini"))
		return false;
	fprintf(writer->f, "[snapshot]\nversion=1.0\n\n[device_list]\n");
	for (size_t i = 0; i < content->core_count; i++)
		fprintf(writer->f, "device%zu=core%zu.ini\n", number++, i);
	for (size_t i = 0; i < content->source_count; i++)
		fprintf(writer->f, "device%zu=source%zu.ini\n", number++, i);
	fprintf(writer->f, "\n[trace]\nmetadata=trace.ini\n");
	return writer_close(writer);
}

/* Names must be writable and must differ within their kind, and indices must fit. */
static bool check_content(struct writer *writer, const struct itrace_snapshot_content *content)
{
	for (size_t i = 0; i < content->core_count; i++) {
		const struct itrace_snapshot_write_core *core = &content->cores[i];
		if (!name_is_writable(writer, core->name) || (core->type && !name_is_writable(writer, core->type)))
			return false;
		if ((unsigned int)core->profile >= ITRACE_PROFILE_NUM || (unsigned int)core->arch >= ITRACE_ARCH_NUM) {
			say(writer->why, writer->why_size, "%s: core %s has no architecture", writer->dir, core->name);
			return false;
		}
	}
	for (size_t i = 0; i < content->buffer_count; i++) {
		if (!name_is_writable(writer, content->buffers[i].name))
			return false;
		if (content->buffers[i].framing == ITRACE_FRAMING_TPIU) {
			say(writer->why, writer->why_size, "%s: a snapshot has no format for TPIU frames with half syncs",
				writer->dir);
			return false;
		}
	}
	for (size_t i = 0; i < content->source_count; i++) {
		const struct itrace_snapshot_write_source *source = &content->sources[i];
		if (!name_is_writable(writer, source->name))
			return false;
		if (source->core >= content->core_count || source->buffer >= content->buffer_count) {
			say(writer->why, writer->why_size, "%s: %s has no core or no buffer", writer->dir, source->name);
			return false;
		}
		if (source->seam_count > ITRACE_SNAPSHOT_SEAMS_MAX) {
			say(writer->why, writer->why_size,
				"%s: %s has %zu seams, a snapshot can hold %u; write its bytes to a file", writer->dir,
				source->name, source->seam_count, ITRACE_SNAPSHOT_SEAMS_MAX);
			return false;
		}
		for (size_t k = 0; k < i; k++) {
			if (!strcmp(content->sources[k].name, source->name)) {
				say(writer->why, writer->why_size, "%s: two sources are called %s", writer->dir, source->name);
				return false;
			}
		}
	}
	return true;
}

static bool make_directory(struct writer *writer)
{
	struct stat st;

	if (!stat(writer->dir, &st)) {
		if (S_ISDIR(st.st_mode))
			return true;
		say(writer->why, writer->why_size, "%s: not a directory", writer->dir);
		return false;
	}
#ifdef _WIN32
	int result = _mkdir(writer->dir);
#else
	int result = mkdir(writer->dir, 0777);
#endif
	if (result)
		say(writer->why, writer->why_size, "%s: %s", writer->dir, strerror(errno));
	return !result;
}

int itrace_snapshot_write(const char *dir, const struct itrace_snapshot_content *content, char *why, size_t why_size)
{
	struct writer writer = { .dir = dir, .why = why, .why_size = why_size };

	why[0] = 0;
	bool is_ok = check_content(&writer, content) && make_directory(&writer);
	for (size_t i = 0; is_ok && i < content->core_count; i++)
		is_ok = write_core(&writer, content, i);
	for (size_t i = 0; is_ok && i < content->source_count; i++)
		is_ok = write_source(&writer, &content->sources[i], i);
	for (size_t i = 0; is_ok && i < content->buffer_count; i++)
		is_ok = write_trace(&writer, &content->buffers[i], i);
	if (is_ok)
		is_ok = write_trace_ini(&writer, content) && write_snapshot_ini(&writer, content);
	return writer_end(&writer, is_ok) ? 0 : -1;
}
