// SPDX-License-Identifier: GPL-2.0-or-later

#include "cs_formatter.h"

#include <string.h>

#define FRAME_LEN 16
#define DSTREAM_DATA 504
#define DSTREAM_FOOTER 8
#define ID_NULL 0
#define ID_UNKNOWN 0xff

/* The bytes in the order they go out, each with its source. */
struct item {
	uint8_t id;
	uint8_t byte;
};

struct formatter {
	const struct cs_rates *rates;
	struct sim_random *random;
	struct sim_buffer items;	/* struct item */
	size_t next;
	uint8_t current_id;
};

static const struct item *peek(const struct formatter *f, size_t ahead)
{
	size_t count = f->items.len / sizeof(struct item);

	if (f->next + ahead >= count)
		return NULL;
	return (const struct item *)f->items.data + f->next + ahead;
}

static void add_item(struct formatter *f, uint8_t id, uint8_t byte)
{
	struct item item = { id, byte };

	sim_buffer_append(&f->items, &item, sizeof(item));
}

/* Choose one that has bytes left; there must be one. */
static unsigned int choose_source(struct formatter *f, const struct cs_source *sources, const size_t *done,
		unsigned int count)
{
	unsigned int pick = sim_random_below(f->random, count);

	while (done[pick] == sources[pick].len)
		pick = (pick + 1) % count;
	return pick;
}

static void interleave(struct formatter *f, const struct cs_source *sources, unsigned int count)
{
	size_t done[128] = { 0 };
	size_t left = 0;
	unsigned int source = 0;

	for (unsigned int i = 0; i < count; i++)
		left += sources[i].len;
	for (; left; left--) {
		if (sim_random_chance(f->random, f->rates->null_bytes)) {
			unsigned int n = sim_random_range(f->random, 1, 20);
			while (n--)
				add_item(f, ID_NULL, 0);
		}
		if (done[source] == sources[source].len || sim_random_chance(f->random, f->rates->switch_source))
			source = choose_source(f, sources, done, count);
		add_item(f, sources[source].id, sources[source].data[done[source]++]);
	}
}

/* ID that must go into this even byte: of the next item, or of the one after it if the odd byte is the old ID's. */
static bool choose_id(struct formatter *f, bool has_odd, uint8_t *id, bool *late)
{
	const struct item *first = peek(f, 0);
	const struct item *second = peek(f, 1);
	uint8_t first_id = first ? first->id : ID_NULL;
	uint8_t second_id = second ? second->id : ID_NULL;

	*late = false;
	*id = first_id;
	if (first_id != f->current_id)
		return true;
	if (!has_odd) {
		*id = second_id;
		return false;
	}
	/* Data here would make the odd byte data of this ID as well. */
	if (first && second_id != first_id) {
		*id = second_id;
		*late = true;
		return true;
	}
	return sim_random_chance(f->random, f->rates->repeat_id);
}

static uint8_t take(struct formatter *f)
{
	const struct item *item = peek(f, 0);

	if (!item)
		return 0;
	f->next++;
	return item->byte;
}

static void make_frame(struct formatter *f, uint8_t frame[FRAME_LEN])
{
	memset(frame, 0, FRAME_LEN);
	for (unsigned int pair = 0; pair < 8; pair++) {
		bool has_odd = pair < 7;
		bool late;
		uint8_t id;

		if (!choose_id(f, has_odd, &id, &late)) {
			uint8_t byte = take(f);
			frame[2 * pair] = byte & 0xfe;
			frame[15] |= (byte & 1) << pair;
			if (has_odd)
				frame[2 * pair + 1] = take(f);
			continue;
		}
		frame[2 * pair] = id << 1 | 1;
		if (late)
			frame[15] |= 1 << pair;
		if (!late)
			f->current_id = id;
		if (has_odd)
			frame[2 * pair + 1] = take(f);
		f->current_id = id;
	}
}

static void put_fsync(struct sim_buffer *out)
{
	sim_buffer_le(out, 0x7fffffff, 4);
}

static void put_frame(struct formatter *f, enum cs_framing framing, const uint8_t frame[FRAME_LEN],
		struct sim_buffer *out)
{
	bool syncs = framing != CS_FRAMING_MEMORY;

	while (syncs && sim_random_chance(f->random, f->rates->fsync))
		put_fsync(out);
	for (unsigned int i = 0; i < FRAME_LEN; i += 2) {
		if (framing == CS_FRAMING_TPIU_HSYNC && sim_random_chance(f->random, f->rates->hsync))
			sim_buffer_le(out, 0x7fff, 2);
		sim_buffer_append(out, frame + i, 2);
	}
}

static bool all_taken(const struct formatter *f)
{
	return !peek(f, 0);
}

/* Blocks of a DSTREAM probe: what is in the footer is not known and not trace. */
static void put_blocks(const struct sim_buffer *stream, struct sim_random *random, struct sim_buffer *out)
{
	for (size_t at = 0; at < stream->len; at += DSTREAM_DATA) {
		size_t len = stream->len - at < DSTREAM_DATA ? stream->len - at : DSTREAM_DATA;
		sim_buffer_append(out, stream->data + at, len);
		/* The last block is filled with syncs. */
		for (; len < DSTREAM_DATA; len += 4)
			put_fsync(out);
		for (unsigned int i = 0; i < DSTREAM_FOOTER; i++)
			sim_buffer_byte(out, sim_random_below(random, 256));
	}
}

void cs_format(const struct cs_source *sources, unsigned int count, enum cs_framing framing,
		const struct cs_rates *rates, struct sim_random *random, struct sim_buffer *out)
{
	struct formatter f = { .rates = rates, .random = random, .current_id = ID_UNKNOWN };
	struct sim_buffer blocks = { 0 };
	struct sim_buffer *to = framing == CS_FRAMING_DSTREAM ? &blocks : out;
	uint8_t frame[FRAME_LEN];

	interleave(&f, sources, count);
	if (framing != CS_FRAMING_MEMORY)
		put_fsync(to);
	while (!all_taken(&f)) {
		make_frame(&f, frame);
		put_frame(&f, framing, frame, to);
	}
	if (framing == CS_FRAMING_DSTREAM)
		put_blocks(&blocks, random, out);
	/* An input of whole words is what tools ask for. */
	while (framing == CS_FRAMING_TPIU_HSYNC && out->len % 4)
		sim_buffer_le(out, 0x7fff, 2);
	sim_buffer_free(&blocks);
	sim_buffer_free(&f.items);
}
