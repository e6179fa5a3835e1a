// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The standalone decoder: itrace decode SOURCE options. What it does is in the library;
 * here is only where the text goes, and what signals and terminals mean for it.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <itrace/report/decode_run.h>

#define ITRACE_VERSION	"0.1.0"

struct console {
	char buffer[64 * 1024];
	size_t len;
	bool closed;		/* the reader of standard output went away */
	bool failed;		/* standard output takes no more for another cause */
	bool progress;		/* standard error is a terminal */
	bool progress_shown;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

static void progress_clear(struct console *console)
{
	if (console->progress_shown)
		fputs("\r\033[K", stderr);
	console->progress_shown = false;
}

static void console_error(struct console *console, const char *text)
{
	progress_clear(console);
	fprintf(stderr, "itrace: %s\n", text);
}

/* All of it or, once the output took no more, nothing. */
static int console_flush(struct console *console)
{
	size_t done = 0;

	while (done < console->len && !console->closed && !console->failed) {
		ssize_t n = write(STDOUT_FILENO, console->buffer + done, console->len - done);

		if (n >= 0) {
			done += n;
		} else if (errno == EPIPE) {
			console->closed = true;
		} else if (errno != EINTR) {
			char text[256];

			snprintf(text, sizeof(text), "cannot write to standard output: %s", strerror(errno));
			console_error(console, text);
			console->failed = true;
		}
	}
	console->len = 0;
	return console->closed || console->failed ? -1 : 0;
}

static int console_write(void *ctx, const char *data, size_t len)
{
	struct console *console = ctx;

	while (len) {
		size_t part = sizeof(console->buffer) - console->len;

		if (part > len)
			part = len;
		memcpy(console->buffer + console->len, data, part);
		console->len += part;
		data += part;
		len -= part;
		if (console->len == sizeof(console->buffer) && console_flush(console))
			return -1;
	}
	return 0;
}

static bool console_closed(void *ctx)
{
	const struct console *console = ctx;

	/* another cause was reported when it was met */
	return console->closed || console->failed;
}

static void console_message(void *ctx, enum itrace_message_level level, const char *line)
{
	struct console *console = ctx;

	switch (level) {
	case ITRACE_MESSAGE_ERROR:
		console_flush(console);
		console_error(console, line);
		break;
	case ITRACE_MESSAGE_WARNING:
		progress_clear(console);
		fprintf(stderr, "itrace: warning: %s\n", line);
		break;
	case ITRACE_MESSAGE_INFO:
		/* the ledger comes behind the listing also when both go to one terminal */
		console_flush(console);
		progress_clear(console);
		fprintf(stderr, "%s\n", line);
		break;
	case ITRACE_MESSAGE_PROGRESS:
		if (!console->progress)
			break;
		fprintf(stderr, "\r%s\033[K", line);
		console->progress_shown = true;
		break;
	}
}

static bool console_poll(void *ctx)
{
	return interrupted;
}

static const struct itrace_decode_io console_io = {
	.write = console_write,
	.message = console_message,
	.poll = console_poll,
	.write_closed = console_closed,
};

static void print_help(const struct itrace_decode_io *io)
{
	static const char head[] =
		"usage: itrace decode SOURCE [options]\n"
		"       itrace --help | --version\n"
		"\n"
		"Decodes Arm ETE, ETMv4 and MTB trace: which functions and instructions ran.\n"
		"\n";
	static const char tail[] =
		"\n"
		"Exit status: 0 decoded without a gap, 3 decoded with gaps, 1 nothing decoded or\n"
		"unreadable input, 2 wrong usage.\n";

	io->write(io->ctx, head, sizeof(head) - 1);
	itrace_decode_usage("--", io);
	io->write(io->ctx, tail, sizeof(tail) - 1);
}

static int run(int argc, char **argv, struct console *console)
{
	struct itrace_decode_io io = console_io;
	const char *verb = argc > 1 ? argv[1] : "";

	io.ctx = console;

	if (!strcmp(verb, "--help") || !strcmp(verb, "-h") || !strcmp(verb, "help")) {
		print_help(&io);
		return ITRACE_DECODE_OK;
	}
	if (!strcmp(verb, "--version")) {
		char text[512];
		int len = snprintf(text, sizeof(text), "itrace %s (%s)\n"
			"Licence GPL-2.0-or-later; there is no warranty, to the extent permitted by law\n",
			ITRACE_VERSION, itrace_decode_build());

		console_write(console, text, len);
		return ITRACE_DECODE_OK;
	}
	if (strcmp(verb, "decode")) {
		char text[256];

		if (argc > 1)
			snprintf(text, sizeof(text), "'%.100s' is no command; itrace --help says what there is", verb);
		else
			snprintf(text, sizeof(text), "what to do? itrace --help says what there is");
		console_error(console, text);
		return ITRACE_DECODE_USAGE;
	}

	return itrace_decode_run((const char *const *)argv + 2, argc - 2, "--", &io, NULL, 0);
}

/* No file that is opened may become what a closed standard stream is taken for; using one stays an error. */
static void occupy_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(ITRACE_DECODE_NOTHING);
}

int main(int argc, char **argv)
{
	static struct console console;
	struct sigaction interrupt = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };

	occupy_streams();
	/* a second one ends the program at once */
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &interrupt, NULL);
	/* a closed pipe shows as a failing write, and ends the listing quietly */
	signal(SIGPIPE, SIG_IGN);
	/* so does a limit to the size of files, but not quietly */
	signal(SIGXFSZ, SIG_IGN);

	console.progress = isatty(STDERR_FILENO);
	int status = run(argc, argv, &console);
	console_flush(&console);
	progress_clear(&console);
	return console.failed ? ITRACE_DECODE_NOTHING : status;
}
