// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Runs a program with a long input on a pipe: FILE again and again, LENGTH bytes in all. Prints its exit status, its
 * peak resident memory in KiB, its CPU time in seconds, and how many bytes it did not take.
 *
 * This is a program of its own because a child's peak memory is never less than that of what it was forked from.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: pipe_run LENGTH FILE PROGRAM [ARGUMENT ...]\n");
		return 2;
	}
	unsigned long long left = strtoull(argv[1], NULL, 0);
	FILE *file = fopen(argv[2], "rb");
	static unsigned char bytes[256 * 1024];
	size_t len = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
	if (!len || len == sizeof(bytes)) {
		fprintf(stderr, "pipe_run: %s: 1 to %zu bytes are wanted\n", argv[2], sizeof(bytes) - 1);
		return 2;
	}

	int ends[2];
	if (pipe(ends)) {
		perror("pipe_run");
		return 2;
	}
	pid_t child = fork();
	if (!child) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		execvp(argv[3], argv + 3);
		perror(argv[3]);
		_exit(127);
	}
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);

	size_t pos = 0;
	while (left) {
		size_t n = len - pos;
		ssize_t written = write(ends[1], bytes + pos, n < left ? n : (size_t)left);
		if (written <= 0)
			break;
		left -= (unsigned long long)written;
		pos = (pos + (size_t)written) % len;
	}
	close(ends[1]);

	int status;
	struct rusage usage;
	if (wait4(child, &status, 0, &usage) < 0) {
		perror("pipe_run");
		return 2;
	}
	printf("%d %ld %.3f %llu\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, usage.ru_maxrss,
		(double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec
		+ 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec), left);
	return 0;
}
