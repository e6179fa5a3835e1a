// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A driver for the fuzz targets where there is no libFuzzer: feeds each file of the named
 * folders, then random changes of them until the time is over. The random numbers are the
 * same in every run.
 *
 * usage: TARGET SECONDS FOLDER...
 */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SEED_MAX	256
#define INPUT_MAX	4096

static uint8_t *seed[SEED_MAX];
static size_t seed_len[SEED_MAX];
static unsigned int seeds;
static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* An exact copy on the heap: a read past its end is seen by the sanitizer. */
static void feed(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		exit(1);
	memcpy(copy, data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static void load(const char *folder)
{
	DIR *dir = opendir(folder);

	if (!dir)
		return;
	for (struct dirent *entry = readdir(dir); entry && seeds < SEED_MAX; entry = readdir(dir)) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
		if (!file)
			continue;
		seed[seeds] = malloc(INPUT_MAX);
		if (seed[seeds]) {
			seed_len[seeds] = fread(seed[seeds], 1, INPUT_MAX, file);
			seeds++;
		}
		fclose(file);
	}
	closedir(dir);
}

static size_t mutate(uint8_t *data)
{
	size_t len;

	if (seeds && next_random() % 8) {
		unsigned int i = next_random() % seeds;

		len = seed_len[i];
		memcpy(data, seed[i], len);
	} else {
		len = next_random() % 256;
		for (size_t i = 0; i < len; i++)
			data[i] = next_random();
	}
	for (unsigned int n = next_random() % 16; n && len; n--) {
		size_t at = next_random() % len;

		switch (next_random() % 4) {
		case 0:
			data[at] ^= 1u << next_random() % 8;
			break;
		case 1:
			data[at] = next_random();
			break;
		case 2:
			memmove(data + at, data + at + 1, len - at - 1);
			len--;
			break;
		default:
			if (len < INPUT_MAX) {
				memmove(data + at + 1, data + at, len - at);
				data[at] = next_random();
				len++;
			}
			break;
		}
	}
	return len;
}

int main(int argc, char **argv)
{
	static uint8_t data[INPUT_MAX];
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	for (int i = 2; i < argc; i++)
		load(argv[i]);
	feed(data, 0);
	for (unsigned int i = 0; i < seeds; i++)
		feed(seed[i], seed_len[i]);

	unsigned long runs = 0;
	while (time(NULL) < end) {
		feed(data, mutate(data));
		runs++;
	}
	printf("%lu runs\n", runs);
	return 0;
}
