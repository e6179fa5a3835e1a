// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A small program worth looking at in a trace: sorting, recursion, dispatch through function pointers, string search, a
 * state machine, a tree, a checksum. No library; output goes through a supervisor call into a buffer.
 */

#include <stddef.h>
#include <stdint.h>

#define ITEM_NUM 24
#define NODE_NUM 16

void put_char(char c);

/* ---- what the exception handlers do ---- */

char output[512];
unsigned int output_len;
unsigned int ticks;

void svc_write(char c)
{
	if (output_len < sizeof(output))
		output[output_len++] = c;
}

void irq_tick(void)
{
	ticks++;
}

/* ---- small library ---- */

void *memcpy(void *to, const void *from, size_t len)
{
	char *t = to;
	const char *f = from;

	while (len--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t len)
{
	char *t = to;

	while (len--)
		*t++ = value;
	return to;
}

static __attribute__((noinline)) void put_string(const char *text)
{
	while (*text)
		put_char(*text++);
}

static __attribute__((noinline)) void put_number(unsigned int number)
{
	if (number >= 10)
		put_number(number / 10);
	put_char('0' + number % 10);
}

/* ---- sorting ---- */

static uint32_t random_state = 12345;

static __attribute__((noinline)) uint32_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static __attribute__((noinline)) void insertion_sort(int *items, int n)
{
	for (int i = 1; i < n; i++) {
		int item = items[i];
		int k = i;
		for (; k > 0 && items[k - 1] > item; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

static __attribute__((noinline)) int partition(int *items, int n)
{
	int pivot = items[n / 2];
	int low = 0;
	int high = n - 1;

	for (;;) {
		while (items[low] < pivot)
			low++;
		while (items[high] > pivot)
			high--;
		if (low >= high)
			return low;
		int swap = items[low];
		items[low++] = items[high];
		items[high--] = swap;
	}
}

static __attribute__((noinline)) void quick_sort(int *items, int n)
{
	if (n <= 6) {
		insertion_sort(items, n);
		return;
	}
	int middle = partition(items, n);
	quick_sort(items, middle);
	quick_sort(items + middle, n - middle);
}

static __attribute__((noinline)) unsigned int sort_demo(void)
{
	static int items[ITEM_NUM];
	unsigned int ordered = 1;

	for (int i = 0; i < ITEM_NUM; i++)
		items[i] = next_random() % 1000;
	quick_sort(items, ITEM_NUM);
	for (int i = 1; i < ITEM_NUM; i++)
		ordered &= items[i - 1] <= items[i];
	return ordered;
}

/* ---- recursion ---- */

static __attribute__((noinline)) unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) unsigned int greatest_divisor(unsigned int a, unsigned int b)
{
	while (b) {
		unsigned int rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* ---- dispatch through function pointers ---- */

struct shape {
	const struct shape_ops *ops;
	unsigned int a;
	unsigned int b;
};

struct shape_ops {
	unsigned int (*area)(const struct shape *shape);
	unsigned int (*edges)(const struct shape *shape);
};

static unsigned int square_area(const struct shape *shape)
{
	return shape->a * shape->a;
}

static unsigned int rectangle_area(const struct shape *shape)
{
	return shape->a * shape->b;
}

static unsigned int triangle_area(const struct shape *shape)
{
	return shape->a * shape->b / 2;
}

static unsigned int four(const struct shape *shape)
{
	(void)shape;
	return 4;
}

static unsigned int three(const struct shape *shape)
{
	(void)shape;
	return 3;
}

static const struct shape_ops square = { square_area, four };
static const struct shape_ops rectangle = { rectangle_area, four };
static const struct shape_ops triangle = { triangle_area, three };

static __attribute__((noinline)) unsigned int shapes_demo(void)
{
	static const struct shape shapes[] = {
		{ &square, 3, 0 }, { &triangle, 4, 5 }, { &rectangle, 2, 7 }, { &triangle, 6, 6 }, { &square, 5, 0 },
	};
	unsigned int sum = 0;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		sum += shapes[i].ops->area(&shapes[i]) * 10 + shapes[i].ops->edges(&shapes[i]);
	return sum;
}

/* ---- string search ---- */

static __attribute__((noinline)) int find_text(const char *text, const char *word)
{
	for (int at = 0; text[at]; at++) {
		int len = 0;
		while (word[len] && text[at + len] == word[len])
			len++;
		if (!word[len])
			return at;
	}
	return -1;
}

/* ---- state machine: sums the numbers of a line, skips quoted text and comments ---- */

enum state {
	STATE_START,
	STATE_NUMBER,
	STATE_WORD,
	STATE_QUOTE,
	STATE_ESCAPE,
	STATE_COMMENT,
};

static __attribute__((noinline)) unsigned int scan(const char *text)
{
	enum state state = STATE_START;
	unsigned int sum = 0;
	unsigned int number = 0;

	for (; *text; text++) {
		char c = *text;
		switch (state) {
		case STATE_START:
			if (c >= '0' && c <= '9') {
				number = c - '0';
				state = STATE_NUMBER;
			} else if (c == '"') {
				state = STATE_QUOTE;
			} else if (c == '#') {
				state = STATE_COMMENT;
			} else if (c != ' ') {
				state = STATE_WORD;
			}
			break;
		case STATE_NUMBER:
			if (c >= '0' && c <= '9') {
				number = number * 10 + c - '0';
			} else {
				sum += number;
				state = STATE_START;
			}
			break;
		case STATE_WORD:
			if (c == ' ')
				state = STATE_START;
			break;
		case STATE_QUOTE:
			if (c == '\\')
				state = STATE_ESCAPE;
			else if (c == '"')
				state = STATE_START;
			break;
		case STATE_ESCAPE:
			state = STATE_QUOTE;
			break;
		case STATE_COMMENT:
			if (c == '\n')
				state = STATE_START;
			break;
		}
	}
	return state == STATE_NUMBER ? sum + number : sum;
}

/* ---- binary tree ---- */

struct node {
	struct node *left;
	struct node *right;
	unsigned int key;
};

static struct node nodes[NODE_NUM];
static unsigned int node_count;

static __attribute__((noinline)) struct node *tree_insert(struct node *tree, unsigned int key)
{
	if (!tree) {
		struct node *fresh = &nodes[node_count++];
		fresh->key = key;
		return fresh;
	}
	if (key < tree->key)
		tree->left = tree_insert(tree->left, key);
	else
		tree->right = tree_insert(tree->right, key);
	return tree;
}

static __attribute__((noinline)) unsigned int tree_depth(const struct node *tree)
{
	if (!tree)
		return 0;
	unsigned int left = tree_depth(tree->left);
	unsigned int right = tree_depth(tree->right);
	return 1 + (left > right ? left : right);
}

static __attribute__((noinline)) unsigned int tree_demo(void)
{
	struct node *root = NULL;

	for (int i = 0; i < NODE_NUM; i++)
		root = tree_insert(root, next_random() % 256);
	return tree_depth(root);
}

/* ---- checksum ---- */

static __attribute__((noinline)) uint32_t checksum(const uint8_t *data, size_t len)
{
	uint32_t crc = ~0u;

	while (len--) {
		crc ^= *data++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static __attribute__((noinline)) void report(const char *name, unsigned int value)
{
	put_string(name);
	put_char('=');
	put_number(value);
	put_char('\n');
}

int main(void)
{
	static const char text[] = "the quick brown fox jumps over the lazy dog";
	static const char line[] = "12 \"34 \\\" 5\" word 7 # 8 9\n100";

	report("sorted", sort_demo());
	report("fibonacci", fibonacci(9));
	report("divisor", greatest_divisor(1071, 462));
	report("shapes", shapes_demo());
	report("found", find_text(text, "lazy"));
	report("scan", scan(line));
	report("depth", tree_demo());
	report("crc", checksum((const uint8_t *)text, sizeof(text) - 1));
	return 0;
}
