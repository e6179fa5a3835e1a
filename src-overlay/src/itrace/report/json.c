// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "json.h"

void itrace_json_begin(struct itrace_output *out, const char *kind)
{
	itrace_output_text(out, "{\"kind\":\"");
	itrace_output_text(out, kind);
	itrace_output_char(out, '"');
}

static void write_key(struct itrace_output *out, const char *key)
{
	itrace_output_bytes(out, ",\"", 2);
	itrace_output_text(out, key);
	itrace_output_bytes(out, "\":", 2);
}

void itrace_json_number(struct itrace_output *out, const char *key, uint64_t value)
{
	write_key(out, key);
	itrace_output_decimal(out, value, 0);
}

void itrace_json_hex(struct itrace_output *out, const char *key, uint64_t value)
{
	write_key(out, key);
	itrace_output_bytes(out, "\"0x", 3);
	itrace_output_hex(out, value, 1);
	itrace_output_char(out, '"');
}

void itrace_json_bool(struct itrace_output *out, const char *key, bool value)
{
	write_key(out, key);
	itrace_output_text(out, value ? "true" : "false");
}

/* Bytes of the UTF-8 sequence at @a text, 0 when there is none. */
static unsigned int utf8_len(const unsigned char *text)
{
	unsigned int len = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 :
			text[0] < 0xf5 ? 4 : 0;

	for (unsigned int i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* too long, surrogate, above U+10FFFF */
	if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
			(text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
}

void itrace_json_string(struct itrace_output *out, const char *key, const char *value)
{
	const unsigned char *text = (const unsigned char *)value;

	write_key(out, key);
	itrace_output_char(out, '"');
	while (*text) {
		unsigned int len = utf8_len(text);
		if (!len || *text < 0x20 || *text == 0x7f) {
			itrace_output_bytes(out, "\\u", 2);
			itrace_output_hex(out, *text, 4);
			text++;
			continue;
		}
		if (*text == '"' || *text == '\\')
			itrace_output_char(out, '\\');
		itrace_output_bytes(out, (const char *)text, len);
		text += len;
	}
	itrace_output_char(out, '"');
}

void itrace_json_end(struct itrace_output *out)
{
	itrace_output_bytes(out, "}\n", 2);
}
