// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A program like those that processors are compared with, of our own: a small parts list is kept, so that records are
 * assigned and linked, strings compared and copied, arrays indexed, and small functions called, in loops and by
 * conditions. No input, no exceptions; what it works on changes from round to round.
 */

#include "cortexm.h"

#define PARTS	6
#define SHELF	12
#define TEXT	31

enum kind { BOLT, NUT, WASHER, SPRING, KINDS };

struct part {
	struct part *next;
	enum kind kind;
	int count;
	int price;
	char name[TEXT];
};

static struct part parts[PARTS];
static struct part *head;
static int stock[KINDS][SHELF];
static int row[SHELF];
static int total;
static char low_letter;
static int is_short;

/* Compared with each other again and again, and equal for most of their length. */
static const char first_name[] = "PARTS LIST, THE ENTRY NUMBER A";
static const char second_name[] = "PARTS LIST, THE ENTRY NUMBER B";

static NOINLINE int compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a - *b;
}

static NOINLINE void copy(char *to, const char *from)
{
	while ((*to++ = *from++))
		;
}

static NOINLINE enum kind kind_of(char letter, char other)
{
	char same = letter;

	if (same != other)
		return BOLT;
	low_letter = same;
	return NUT;
}

static NOINLINE int is_before(const char *a, const char *b)
{
	int at = 2;
	char letter = 'A';

	while (at <= 2) {
		if (kind_of(a[at], b[at + 1]) == BOLT) {
			letter = 'A';
			at++;
		}
	}
	if (letter >= 'W' && letter < 'Z')
		at = 7;
	if (letter == 'R')
		return 1;
	if (compare(a, b) > 0) {
		total = at + 7;
		return 1;
	}
	return 0;
}

static NOINLINE int is_nut(enum kind kind)
{
	enum kind wanted = kind;

	return wanted == NUT;
}

static NOINLINE void next_kind(enum kind kind, enum kind *to)
{
	*to = kind;
	if (!is_nut(kind))
		*to = SPRING;
	switch (kind) {
	case BOLT:
		*to = BOLT;
		break;
	case NUT:
		*to = total > 100 ? BOLT : SPRING;
		break;
	case WASHER:
		*to = NUT;
		break;
	default:
		break;
	}
}

static NOINLINE void add_up(int a, int b, int *to)
{
	int sum = a + 2;

	*to = b + sum;
}

static NOINLINE void put_away(int *shelf, int rows[KINDS][SHELF], int at, int value)
{
	int place = at + 3;

	shelf[place] = value;
	shelf[place + 1] = shelf[place];
	shelf[place + 4] = place;
	for (int i = place; i <= place + 1; i++)
		rows[at & 3][i] = place;
	rows[at & 3][place - 1] += 1;
	rows[(at + 1) & 3][place + 3] = shelf[place];
	total = 5;
}

static NOINLINE void first_of(struct part **to)
{
	if (head)
		*to = head->next;
	add_up(10, total, &head->count);
}

static NOINLINE void renew(struct part *part)
{
	struct part *next = part->next;

	*next = *head;
	part->count = 5;
	next->count = part->count;
	next->next = part->next;
	first_of(&next->next);
	if (next->kind == BOLT) {
		next->count = 6;
		next_kind(part->kind, &next->kind);
		next->next = head->next;
		add_up(next->count, 10, &next->count);
	} else {
		*part = *next;
	}
}

static NOINLINE void price(int *value)
{
	int sum = *value + 10;

	while (1) {
		if (low_letter == 'A') {
			sum--;
			*value = sum - total;
			break;
		}
		low_letter = 'A';
	}
}

static NOINLINE void short_of(void)
{
	int is_low = low_letter == 'A';

	is_short |= is_low;
	low_letter = 'B';
}

static NOINLINE void reset_letter(void)
{
	low_letter = 'A';
	is_short = 0;
}

static void set_up(void)
{
	for (int i = 0; i < PARTS; i++) {
		parts[i].next = &parts[(i + 1) % PARTS];
		parts[i].kind = WASHER;
		parts[i].count = 40;
		copy(parts[i].name, first_name);
	}
	head = &parts[0];
}

static NOINLINE uint32_t one_round(int n)
{
	char name[TEXT];
	enum kind kind = NUT;
	int a = 2;
	int b = 3;
	int c = 0;

	reset_letter();
	short_of();
	copy(name, second_name);
	is_short = !is_before(first_name, name);
	while (a < b) {
		c = 5 * a - b;
		add_up(a, b, &c);
		a++;
	}
	put_away(row, stock, a, c + n);
	renew(head);
	for (char letter = 'A'; letter <= low_letter; letter++) {
		if (kind == kind_of(letter, 'C')) {
			next_kind(BOLT, &kind);
			copy(name, first_name);
			b = n;
			total = n;
		}
	}
	b *= a;
	a = b / c;
	b = 7 * (b - c) - a;
	price(&a);
	return (uint32_t)(a + b + c + total) + kind;
}

int main(void)
{
	uint32_t sum = 0;

	set_up();
	for (int n = 1; ; n++) {
		sum = mix(sum, one_round(n));
		checksum = sum;
		result = 1;
	}
}
