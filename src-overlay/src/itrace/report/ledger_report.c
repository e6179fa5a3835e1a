// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "event_note.h"
#include "json.h"
#include "ledger_report.h"

/* Text that is added to a buffer until it is full. */
struct text {
	char *buf;
	size_t size, len;
	bool full;	/* something did not fit */
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int len = vsnprintf(text->buf + text->len, text->size - text->len, format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= text->size - text->len) {
		text->full = true;
		text->len = text->size - 1;
		return;
	}
	text->len += (size_t)len;
}

static struct text text_begin(char *buf, size_t size)
{
	struct text text = { .buf = buf, .size = size };

	buf[0] = 0;
	return text;
}

/* What is said of a code's source; @a number is an index of source_count. */
static void source_name(const struct itrace_symbols *symbols, unsigned int number, char *name, size_t size)
{
	const char *path = symbols ? itrace_symbols_source_name(symbols, number) : NULL;

	if (number == ITRACE_LEDGER_SOURCES)
		snprintf(name, size, "target memory");
	else if (path)
		snprintf(name, size, "%s", path);
	else
		snprintf(name, size, "source %u", number);
}

/* The last part of a path: enough for a line that people read. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void line_trace(const struct itrace_ledger *ledger, struct text *text)
{
	add(text, "trace     %" PRIu64 " bytes: %" PRIu64 " decoded, %" PRIu64 " padding, %" PRIu64 " not synchronised, %"
			PRIu64 " skipped", ledger->trace_len, ledger->decoded_len, ledger->padding_len, ledger->unsynced_len,
			ledger->skipped_len);
}

static void line_flow(const struct itrace_ledger *ledger, struct text *text)
{
	add(text, "flow      %" PRIu64 " instructions in %" PRIu64 " ranges, %" PRIu64 " exceptions, %" PRIu64 " trace-on",
			ledger->instruction_count, ledger->event_count[ITRACE_EVENT_RANGE],
			ledger->event_count[ITRACE_EVENT_EXCEPTION], ledger->event_count[ITRACE_EVENT_TRACE_ON]);
	if (ledger->event_count[ITRACE_EVENT_SEAM])
		add(text, ", %" PRIu64 " seams", ledger->event_count[ITRACE_EVENT_SEAM]);
}

/* Causes that are about an address name it, the others the byte of the trace. */
static bool is_about_address(enum itrace_gap gap)
{
	return gap == ITRACE_GAP_NO_MEMORY || gap == ITRACE_GAP_NOT_DESCRIBED || gap == ITRACE_GAP_BAD_IMAGE ||
			itrace_gap_is_contradiction(gap);
}

static void line_gaps(const struct itrace_ledger *ledger, struct text *text)
{
	const char *between = ": ";

	add(text, "gaps      %" PRIu64, itrace_ledger_gaps(ledger));
	for (unsigned int gap = 0; gap < ITRACE_GAP_NUM; gap++) {
		char words[32];

		if (!ledger->gap_count[gap])
			continue;
		itrace_gap_words((enum itrace_gap)gap, words, sizeof(words));
		add(text, "%s%" PRIu64 " %s at ", between, ledger->gap_count[gap], words);
		if (is_about_address((enum itrace_gap)gap))
			add(text, "0x%" PRIx64, ledger->gap_first_addr[gap]);
		else
			add(text, "byte %" PRIu64, ledger->gap_first_off[gap]);
		if (gap == ITRACE_GAP_NO_MEMORY && ledger->gap_first_detail[gap])
			add(text, " (%" PRIu32 " bytes wanted)", ledger->gap_first_detail[gap]);
		between = "; ";
	}
}

static void line_code(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols, struct text *text)
{
	const char *between = "";

	add(text, "code      ");
	for (unsigned int i = 0; i <= ITRACE_LEDGER_SOURCES; i++) {
		char name[1024];

		if (!ledger->source_count[i])
			continue;
		source_name(symbols, i, name, sizeof(name));
		add(text, "%s%" PRIu64 " from %s", between, ledger->source_count[i], base_name(name));
		between = ", ";
	}
	if (!*between)
		add(text, "none");
}

void itrace_ledger_line(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols, unsigned int line,
		char *buf, size_t size)
{
	struct text text = text_begin(buf, size);

	switch (line) {
	case 0:
		line_trace(ledger, &text);
		break;
	case 1:
		line_flow(ledger, &text);
		break;
	case 2:
		line_gaps(ledger, &text);
		break;
	case 3:
		line_code(ledger, symbols, &text);
		break;
	default:
		break;
	}
}

struct number {
	const char *key;
	uint64_t value;
};

#define NUMBERS	15

/* The plain numbers, in the order that the header gives. */
static void ledger_numbers(const struct itrace_ledger *ledger, struct number *numbers)
{
	const struct number list[NUMBERS] = {
		{ "trace_len", ledger->trace_len },
		{ "decoded_len", ledger->decoded_len },
		{ "padding_len", ledger->padding_len },
		{ "unsynced_len", ledger->unsynced_len },
		{ "skipped_len", ledger->skipped_len },
		{ "frame_len", ledger->frame_len },
		{ "partial_len", ledger->partial_len },
		{ "presync_len", ledger->presync_len },
		{ "instructions", ledger->instruction_count },
		{ "ranges", ledger->event_count[ITRACE_EVENT_RANGE] },
		{ "exceptions", ledger->event_count[ITRACE_EVENT_EXCEPTION] },
		{ "trace_on", ledger->event_count[ITRACE_EVENT_TRACE_ON] },
		{ "seams", ledger->event_count[ITRACE_EVENT_SEAM] },
		{ "unknown_path", ledger->unknown_path_count },
		{ "gaps", itrace_ledger_gaps(ledger) },
	};

	memcpy(numbers, list, sizeof(list));
}

/* A list element of any text: what Tcl would read otherwise gets a backslash. */
static void add_element(struct text *text, const char *value)
{
	if (!*value)
		add(text, "{}");
	for (const char *c = value; *c; c++) {
		if (*c == '\n')
			add(text, "\\n");
		else if (strchr("{}[]$\"\\; \t\r\v\f#", *c))
			add(text, "\\%c", *c);
		else
			add(text, "%c", *c);
	}
}

static void dict_gaps(const struct itrace_ledger *ledger, struct text *text)
{
	add(text, " gap {");
	const char *between = "";
	for (unsigned int gap = 0; gap < ITRACE_GAP_NUM; gap++) {
		if (!ledger->gap_count[gap])
			continue;
		add(text, "%s%s {count %" PRIu64 " first_off %" PRIu64 " first_addr 0x%" PRIx64 "}", between,
				itrace_gap_name((enum itrace_gap)gap), ledger->gap_count[gap], ledger->gap_first_off[gap],
				ledger->gap_first_addr[gap]);
		between = " ";
	}
	add(text, "}");
}

static void dict_code(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols, struct text *text)
{
	add(text, " code {");
	const char *between = "";
	for (unsigned int i = 0; i <= ITRACE_LEDGER_SOURCES; i++) {
		char name[1024];

		if (!ledger->source_count[i])
			continue;
		source_name(symbols, i, name, sizeof(name));
		add(text, "%s", between);
		add_element(text, name);
		add(text, " %" PRIu64, ledger->source_count[i]);
		between = " ";
	}
	add(text, "}");
}

static void dict_packets(const struct itrace_ledger *ledger, struct text *text)
{
	add(text, " packets {");
	const char *between = "";
	for (unsigned int kind = 0; kind < ITRACE_LEDGER_KINDS; kind++) {
		if (!ledger->packet_count[kind])
			continue;
		add(text, "%s", between);
		add_element(text, itrace_ledger_packet_name(kind));
		add(text, " {%" PRIu64 " %" PRIu64 "}", ledger->packet_count[kind], ledger->packet_len[kind]);
		between = " ";
	}
	add(text, "}");
}

size_t itrace_ledger_dict(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols, char *buf,
		size_t size)
{
	struct number numbers[NUMBERS];
	struct text text = text_begin(buf, size);
	size_t good = 0;

	ledger_numbers(ledger, numbers);
	for (unsigned int i = 0; i < NUMBERS + 3 && !text.full; i++) {
		if (i < NUMBERS)
			add(&text, "%s%s %" PRIu64, i ? " " : "", numbers[i].key, numbers[i].value);
		else if (i == NUMBERS)
			dict_gaps(ledger, &text);
		else if (i == NUMBERS + 1)
			dict_code(ledger, symbols, &text);
		else
			dict_packets(ledger, &text);
		if (!text.full)
			good = text.len;
	}
	buf[good] = 0;
	return good;
}

static void json_gaps(const struct itrace_ledger *ledger, struct itrace_output *out)
{
	const char *between = "";

	itrace_output_text(out, ",\"gap\":{");
	for (unsigned int gap = 0; gap < ITRACE_GAP_NUM; gap++) {
		if (!ledger->gap_count[gap])
			continue;
		itrace_output_format(out, "%s\"%s\":{\"count\":%" PRIu64 ",\"first_off\":%" PRIu64 ",\"first_addr\":\"0x%"
				PRIx64 "\"}", between, itrace_gap_name((enum itrace_gap)gap), ledger->gap_count[gap],
				ledger->gap_first_off[gap], ledger->gap_first_addr[gap]);
		between = ",";
	}
	itrace_output_char(out, '}');
}

static void json_code(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols,
		struct itrace_output *out)
{
	const char *between = "";

	itrace_output_text(out, ",\"code\":[");
	for (unsigned int i = 0; i <= ITRACE_LEDGER_SOURCES; i++) {
		char name[1024];

		if (!ledger->source_count[i])
			continue;
		source_name(symbols, i, name, sizeof(name));
		itrace_output_format(out, "%s{\"instructions\":%" PRIu64, between, ledger->source_count[i]);
		itrace_json_string(out, "source", name);
		itrace_output_char(out, '}');
		between = ",";
	}
	itrace_output_char(out, ']');
}

static void json_packets(const struct itrace_ledger *ledger, struct itrace_output *out)
{
	const char *between = "";

	itrace_output_text(out, ",\"packets\":{");
	for (unsigned int kind = 0; kind < ITRACE_LEDGER_KINDS; kind++) {
		if (!ledger->packet_count[kind])
			continue;
		itrace_output_format(out, "%s\"%s\":{\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", between,
				itrace_ledger_packet_name(kind), ledger->packet_count[kind],
				ledger->packet_len[kind]);
		between = ",";
	}
	itrace_output_char(out, '}');
}

void itrace_ledger_json(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols,
		struct itrace_output *out)
{
	struct number numbers[NUMBERS];

	ledger_numbers(ledger, numbers);
	itrace_json_begin(out, "ledger");
	for (unsigned int i = 0; i < NUMBERS; i++)
		itrace_json_number(out, numbers[i].key, numbers[i].value);
	json_gaps(ledger, out);
	json_code(ledger, symbols, out);
	json_packets(ledger, out);
	itrace_json_end(out);
}
