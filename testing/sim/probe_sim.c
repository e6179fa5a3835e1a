// SPDX-License-Identifier: GPL-2.0-or-later

/* The simulated probe as a program: options, sockets, and the loop around them. README.md has the manual. */

#include "bitbang_server.h"
#include "jlink_server.h"
#include "probe_control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ADVERTISE_MS	1	/* a client listens for 20 ms */
#define BURST_REST_MS	1	/* how long a piece of a burst waits for the next */
#define CONTROLLERS	4u
#define LINE_MAX_LEN	1024u
#define CHUNK		65536u
#define XTENSA_HZ	20000000u
#define CORTEXM_HZ	4000000u	/* Unicorn with a look at each instruction keeps up with it */

struct controller {
	int fd;			/* -1: free */
	char line[LINE_MAX_LEN];
	size_t len;
};

struct program {
	struct probe probe;
	struct probe_control control;
	struct jlink_server jlink;
	struct bitbang_server bitbang;
	bool is_jlink;
	int listen_fd;
	int client_fd;		/* -1: none */
	int udp_fd;
	int signal_fd;
	int control_fd;		/* -1: none */
	const char *control_path;
	const char *client_path;	/* of a unix socket, NULL: TCP */
	struct controller controller[CONTROLLERS];
	bool failed;
	bool end;
};

static const char usage[] =
	"usage: probe_sim --target esp32|esp32s2|esp32s3|xtensa-jtag|xtensa-dap --program ELF [--program2 ELF]\n"
	"       probe_sim --target cortex-m0plus|cortex-m33 --program ELF\n"
	"                 --jlink [--jtag2] | --bitbang PORT|PATH   [--control PATH] [--taps 1|2] [--pace model|real|tck]\n"
	"                 [--rtt US] [--tck KHZ] [--clock HZ] [--halt-latency TCK|random:N] [--debugpc on|zero]\n"
	"                 [--xsr swaps|reads|faults] [--log FILE] [--seed N]\n"
	"                 [--ram BASE/SIZE] [--flash BASE/SIZE] [--mtb-base ADDR] [--mtb-aw BITS] [--mtb-rambase ADDR]\n"
	"                 [--mtb-ram BASE/SIZE] [--mtb-rambase-zero|--mtb-base-reads VALUE]\n"
	"                 [--mtb-tail-chain direct|unstacked]\n"
	"                 [--mtb-lockup packet|none] [--mtb-debug-pc always|changed] [--mtb-halt-skid N]\n"
	"                 [--reg-delay N] [--deep-sleep debug|dark] [--mtb-absent] [--mtb-clock ADDR[,zero]]\n";

static void die(const char *what, const char *why)
{
	fprintf(stderr, "probe_sim: %s: %s\n", what, why);
	exit(1);
}

static void wrong_use(const char *why)
{
	fprintf(stderr, "probe_sim: %s\n%s", why, usage);
	exit(2);
}

static int listen_tcp(unsigned int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
			bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		die("TCP port", strerror(errno));
	return fd;
}

static int listen_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		die(path, "path too long for a socket");
	strcpy(address.sun_path, path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, CONTROLLERS))
		die(path, strerror(errno));
	return fd;
}

static bool send_all(int fd, struct sim_buffer *out)
{
	size_t at = 0;

	while (at < out->len) {
		ssize_t n = send(fd, out->data + at, out->len - at, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
	}
	bool good = at == out->len;
	sim_buffer_clear(out);
	return good;
}

static uint8_t jlink_jtag_io(void *ctx, const uint8_t *tms, const uint8_t *tdi, uint8_t *tdo, unsigned int bits)
{
	struct program *program = ctx;

	return probe_exchange(&program->probe, tms, tdi, tdo, bits) ? JLINK_STATUS_OK : JLINK_STATUS_ERROR;
}

static uint8_t jlink_swd_io(void *ctx, const uint8_t *dir, const uint8_t *out, uint8_t *in, unsigned int bits)
{
	struct program *program = ctx;

	return probe_exchange_swd(&program->probe, dir, out, in, bits) ? JLINK_STATUS_OK : JLINK_STATUS_ERROR;
}

static void jlink_set_speed(void *ctx, unsigned int khz)
{
	struct program *program = ctx;

	probe_set_speed(&program->probe, khz);
}

static void jlink_reset(void *ctx, bool trst, bool low)
{
	struct program *program = ctx;

	probe_reset_line(&program->probe, trst, low);
}

static void advertise(const struct program *program)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(JLINK_PORT),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	uint8_t message[JLINK_ADVERTISEMENT];

	jlink_server_advertisement(message);
	/* Nobody listens most of the time: that is no error. */
	(void)!sendto(program->udp_fd, message, sizeof(message), MSG_DONTWAIT, (struct sockaddr *)&address,
		sizeof(address));
}

static void client_gone(struct program *program)
{
	close(program->client_fd);
	program->client_fd = -1;
	program->bitbang = (struct bitbang_server){ .probe = &program->probe, .out = program->bitbang.out };
	sim_buffer_clear(&program->bitbang.out);
	probe_client_gone(&program->probe);
}

static void accept_client(struct program *program)
{
	int fd = accept(program->listen_fd, NULL, NULL);
	int on = 1;

	if (fd < 0)
		return;
	program->client_fd = fd;
	if (!program->client_path)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (!program->is_jlink)
		return;
	jlink_server_hello(&program->jlink);
	if (!send_all(fd, &program->jlink.out))
		client_gone(program);
}

static void refuse(struct program *program, const char *why)
{
	fprintf(stderr, "probe_sim: refused: %s\n", why);
	program->failed = true;
	program->end = true;
}

static ssize_t receive(int fd, uint8_t *data, size_t len)
{
	ssize_t n;

	do {
		n = recv(fd, data, len, MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* libjaylink sends a long command in two pieces, and the second waits for the first one's acknowledgement. */
static void acknowledge_now(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
}

static void serve_jlink(struct program *program)
{
	uint8_t data[CHUNK];
	ssize_t n = receive(program->client_fd, data, sizeof(data));

	acknowledge_now(program->client_fd);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0 && !jlink_server_receive(&program->jlink, data, n))
		refuse(program, program->jlink.error);
	if (n <= 0 || program->probe.hang_up || !send_all(program->client_fd, &program->jlink.out))
		client_gone(program);
	program->probe.hang_up = false;
}

static bool more_comes(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, BURST_REST_MS) > 0;
}

/* All that is there, and the rest of it. @returns false: the client is gone or refused. */
static bool bitbang_burst(struct program *program)
{
	uint8_t data[CHUNK];

	for (;;) {
		ssize_t n = receive(program->client_fd, data, sizeof(data));
		if (n < 0 && errno == EAGAIN) {
			if (program->bitbang.out.len && bitbang_server_unfinished(&program->bitbang) &&
					more_comes(program->client_fd))
				continue;
			return true;
		}
		if (n <= 0)
			return false;
		if (!bitbang_server_receive(&program->bitbang, data, n)) {
			refuse(program, "unknown character");
			return false;
		}
	}
}

static void serve_bitbang(struct program *program)
{
	bool there = bitbang_burst(program);

	bitbang_server_drained(&program->bitbang);
	if (!there || !send_all(program->client_fd, &program->bitbang.out))
		client_gone(program);
}

static void serve_client(struct program *program)
{
	if (program->is_jlink)
		serve_jlink(program);
	else
		serve_bitbang(program);
}

static void accept_controller(struct program *program)
{
	int fd = accept(program->control_fd, NULL, NULL);

	for (unsigned int i = 0; fd >= 0 && i < CONTROLLERS; i++) {
		if (program->controller[i].fd >= 0)
			continue;
		program->controller[i].fd = fd;
		program->controller[i].len = 0;
		return;
	}
	if (fd >= 0)
		close(fd);
}

static bool answer_lines(struct program *program, struct controller *controller)
{
	struct sim_buffer out = { 0 };
	bool good = true;
	char *end;

	while (good && (end = memchr(controller->line, '\n', controller->len))) {
		size_t len = end + 1 - controller->line;
		*end = '\0';
		probe_control_line(&program->control, controller->line, &out);
		good = send_all(controller->fd, &out);
		controller->len -= len;
		memmove(controller->line, end + 1, controller->len);
	}
	sim_buffer_free(&out);
	program->end |= program->control.quit;
	return good && controller->len < sizeof(controller->line);
}

static void serve_controller(struct program *program, struct controller *controller)
{
	ssize_t n = receive(controller->fd, (uint8_t *)controller->line + controller->len,
		sizeof(controller->line) - controller->len);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0) {
		controller->len += n;
		if (answer_lines(program, controller))
			return;
	}
	close(controller->fd);
	controller->fd = -1;
}

static int timeout_ms(struct program *program)
{
	if (program->client_fd >= 0)
		return probe_idle(&program->probe);
	return program->is_jlink ? ADVERTISE_MS : -1;
}

static void one_turn(struct program *program)
{
	bool connected = program->client_fd >= 0;
	struct pollfd fd[3 + CONTROLLERS] = {
		{ .fd = program->signal_fd, .events = POLLIN },
		{ .fd = connected ? program->client_fd : program->listen_fd, .events = POLLIN },
		{ .fd = program->control_fd, .events = POLLIN },
	};

	for (unsigned int i = 0; i < CONTROLLERS; i++)
		fd[3 + i] = (struct pollfd){ .fd = program->controller[i].fd, .events = POLLIN };
	if (poll(fd, 3 + CONTROLLERS, timeout_ms(program)) < 0)
		return;
	if (fd[0].revents)
		program->end = true;
	if (fd[1].revents && connected)
		serve_client(program);
	else if (fd[1].revents)
		accept_client(program);
	if (fd[2].revents)
		accept_controller(program);
	for (unsigned int i = 0; i < CONTROLLERS; i++) {
		if (fd[3 + i].revents)
			serve_controller(program, &program->controller[i]);
	}
	if (program->is_jlink && program->client_fd < 0)
		advertise(program);
}

static void open_sockets(struct program *program, const char *bitbang)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	program->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	program->client_fd = -1;
	for (unsigned int i = 0; i < CONTROLLERS; i++)
		program->controller[i].fd = -1;
	if (program->is_jlink) {
		program->udp_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		program->listen_fd = listen_tcp(JLINK_PORT);
	} else if (bitbang[strspn(bitbang, "0123456789")]) {
		program->client_path = bitbang;
		program->listen_fd = listen_unix(bitbang);
	} else {
		program->listen_fd = listen_tcp(strtoul(bitbang, NULL, 10));
	}
	program->control_fd = program->control_path ? listen_unix(program->control_path) : -1;
}

static void close_all(struct program *program)
{
	if (program->control_path)
		unlink(program->control_path);
	if (program->client_path)
		unlink(program->client_path);
	sim_buffer_free(&program->bitbang.out);
	jlink_server_free(&program->jlink);
	probe_free(&program->probe);
}

static uint64_t number_option(const char *name, const char *text, uint64_t least)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 0);

	if (!*text || *end || value < least) {
		fprintf(stderr, "probe_sim: --%s: bad number\n%s", name, usage);
		exit(2);
	}
	return value;
}

/* Options that need the cores, in the order given. */
struct late_options {
	const char *latency;
	const char *debugpc;
	const char *xsr;
};

enum {
	OPT_TARGET, OPT_PROGRAM, OPT_PROGRAM2, OPT_TAPS, OPT_JLINK, OPT_JTAG2, OPT_BITBANG, OPT_CONTROL, OPT_PACE, OPT_RTT,
	OPT_TCK, OPT_CLOCK, OPT_LATENCY, OPT_DEBUGPC, OPT_XSR, OPT_LOG, OPT_SEED, OPT_RAM, OPT_FLASH, OPT_MTB_BASE,
	OPT_MTB_AW, OPT_MTB_RAMBASE, OPT_MTB_RAMBASE_ZERO, OPT_MTB_BASE_READS, OPT_MTB_RAM,
	OPT_MTB_ABSENT, OPT_MTB_CLOCK, OPT_CHOICE,
};

static const struct option long_options[] = {
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "program", required_argument, NULL, OPT_PROGRAM },
	{ "program2", required_argument, NULL, OPT_PROGRAM2 },
	{ "taps", required_argument, NULL, OPT_TAPS },
	{ "jlink", no_argument, NULL, OPT_JLINK },
	{ "jtag2", no_argument, NULL, OPT_JTAG2 },
	{ "bitbang", required_argument, NULL, OPT_BITBANG },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "pace", required_argument, NULL, OPT_PACE },
	{ "rtt", required_argument, NULL, OPT_RTT },
	{ "tck", required_argument, NULL, OPT_TCK },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "halt-latency", required_argument, NULL, OPT_LATENCY },
	{ "debugpc", required_argument, NULL, OPT_DEBUGPC },
	{ "xsr", required_argument, NULL, OPT_XSR },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "ram", required_argument, NULL, OPT_RAM },
	{ "flash", required_argument, NULL, OPT_FLASH },
	{ "mtb-base", required_argument, NULL, OPT_MTB_BASE },
	{ "mtb-aw", required_argument, NULL, OPT_MTB_AW },
	{ "mtb-rambase", required_argument, NULL, OPT_MTB_RAMBASE },
	{ "mtb-rambase-zero", no_argument, NULL, OPT_MTB_RAMBASE_ZERO },
	{ "mtb-base-reads", required_argument, NULL, OPT_MTB_BASE_READS },
	{ "mtb-absent", no_argument, NULL, OPT_MTB_ABSENT },
	{ "mtb-clock", required_argument, NULL, OPT_MTB_CLOCK },
	{ "mtb-ram", required_argument, NULL, OPT_MTB_RAM },
	{ "mtb-tail-chain", required_argument, NULL, OPT_CHOICE },
	{ "mtb-lockup", required_argument, NULL, OPT_CHOICE },
	{ "mtb-debug-pc", required_argument, NULL, OPT_CHOICE },
	{ "mtb-halt-skid", required_argument, NULL, OPT_CHOICE },
	{ "reg-delay", required_argument, NULL, OPT_CHOICE },
	{ "deep-sleep", required_argument, NULL, OPT_CHOICE },
	{ 0 },
};

static void target_option(struct probe_options *options, const char *name)
{
	options->type = xtensa_soc_type_find(name);
	options->cortexm_type = cortexm_soc_type_find(name);
	if (!options->type && !options->cortexm_type)
		wrong_use("no such target");
}

/* @returns false: it is none of these. */
static bool cortexm_option(struct cortexm_soc_options *options, int option, const char *name)
{
	switch (option) {
	case OPT_RAM:
		options->ram = optarg;
		break;
	case OPT_FLASH:
		options->flash = optarg;
		break;
	case OPT_MTB_ABSENT:
		options->mtb_absent = true;
		break;
	case OPT_MTB_RAM:
		options->mtb_ram = optarg;
		break;
	case OPT_MTB_CLOCK:
		options->mtb_clock = optarg;
		break;
	case OPT_MTB_BASE:
		options->mtb_base = number_option(name, optarg, 1);
		break;
	case OPT_MTB_AW:
		options->mtb_aw = number_option(name, optarg, 1);
		break;
	case OPT_MTB_RAMBASE:
		options->mtb_rambase = number_option(name, optarg, 1);
		break;
	case OPT_MTB_RAMBASE_ZERO:
		options->mtb_base_reads_given = true;
		break;
	case OPT_MTB_BASE_READS:
		options->mtb_base_reads_given = true;
		options->mtb_base_reads = number_option(name, optarg, 0);
		break;
	case OPT_CHOICE:
		if (!cortexm_soc_choose(&options->choices, name, optarg))
			wrong_use("bad value");
		break;
	default:
		return false;
	}
	return true;
}

static enum sim_pace pace_option(const char *text)
{
	enum sim_pace pace;

	if (!sim_clock_pace_find(text, &pace))
		wrong_use("pace is model, real or tck");
	return pace;
}

static void one_option(struct program *program, struct probe_options *options, struct late_options *late,
	const char **bitbang, int option)
{
	switch (option) {
	case OPT_TARGET:
		target_option(options, optarg);
		break;
	case OPT_PROGRAM:
		options->program[0] = optarg;
		break;
	case OPT_PROGRAM2:
		options->program[1] = optarg;
		break;
	case OPT_TAPS:
		options->taps = number_option("taps", optarg, 1);
		break;
	case OPT_JLINK:
		program->is_jlink = true;
		break;
	case OPT_JTAG2:
		program->jlink.jtag2 = true;
		break;
	case OPT_BITBANG:
		*bitbang = optarg;
		break;
	case OPT_CONTROL:
		program->control_path = optarg;
		break;
	case OPT_PACE:
		options->pace = pace_option(optarg);
		break;
	case OPT_RTT:
		options->rtt_us = number_option("rtt", optarg, 0);
		break;
	case OPT_TCK:
		options->tck_khz = number_option("tck", optarg, 1);
		break;
	case OPT_CLOCK:
		options->clock_hz = number_option("clock", optarg, 1000);
		break;
	case OPT_LATENCY:
		late->latency = optarg;
		break;
	case OPT_DEBUGPC:
		late->debugpc = optarg;
		break;
	case OPT_XSR:
		late->xsr = optarg;
		break;
	case OPT_LOG:
		options->log_path = optarg;
		break;
	case OPT_SEED:
		options->seed = number_option("seed", optarg, 0);
		break;
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

static void check_options(const struct program *program, struct probe_options *options, const char *bitbang)
{
	if ((!options->type && !options->cortexm_type) || !options->program[0])
		wrong_use("--target and --program are needed");
	options->cortexm.seed = options->seed;
	if (!options->clock_hz)
		options->clock_hz = options->cortexm_type ? CORTEXM_HZ : XTENSA_HZ;
	if (program->is_jlink == !!bitbang)
		wrong_use("exactly one of --jlink and --bitbang");
	unsigned int cores = options->type ? options->type->cores : 1;
	if (!options->taps)
		options->taps = cores;
	if (options->taps > cores)
		wrong_use("this target has not so many TAPs");
	if (bitbang && !options->tck_khz)
		options->tck_khz = 10000;
}

int main(int argc, char **argv)
{
	static struct program program;
	struct probe_options options = { .pace = SIM_PACE_MODEL, .seed = 1 };
	int index = 0;
	struct late_options late = { "0", "on", "swaps" };
	const char *bitbang = NULL;

	for (int option; (option = getopt_long(argc, argv, "", long_options, &index)) >= 0;) {
		if (!cortexm_option(&options.cortexm, option, long_options[index].name))
			one_option(&program, &options, &late, &bitbang, option);
	}
	if (optind < argc)
		wrong_use("only options are understood");
	check_options(&program, &options, bitbang);
	const char *error = probe_init(&program.probe, &options);
	if (error)
		die(options.program[0], error);
	if (!probe_set_latency(&program.probe, late.latency) || !probe_set_debugpc(&program.probe, late.debugpc) ||
			!probe_set_xsr(&program.probe, late.xsr))
		wrong_use("bad value");
	program.control = (struct probe_control){ .probe = &program.probe, .bitbang = bitbang };
	program.bitbang.probe = &program.probe;
	program.jlink.host = (struct jlink_host){
		.ctx = &program,
		.jtag_io = jlink_jtag_io,
		.swd_io = options.cortexm_type ? jlink_swd_io : NULL,
		.set_speed = jlink_set_speed,
		.reset = jlink_reset,
	};
	open_sockets(&program, bitbang);
	while (!program.end)
		one_turn(&program);
	close_all(&program);
	return program.failed;
}
