// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jtag/adapter.h>
#include <jtag/interface.h>
#include <target/armtrace/ocd_compat.h>

#include "report.h"

static double profile_report_seconds(const struct sampling *sampling)
{
	return (sampling->end_ns - sampling->begin_ns) / 1e9;
}

static void profile_report_samples(struct command_invocation *cmd, const struct sampling *sampling)
{
	const struct xdm_link *link = &sampling->link;
	double seconds = profile_report_seconds(sampling);

	command_print(cmd, "samples   %" PRIu64 " in %.2f s, %.1f a second%s", sampling->sample_count, seconds,
		seconds > 0 ? sampling->sample_count / seconds : 0, link->core_count > 1 ? ", of each core" : "");
	if (sampling->flush_count && sampling->sample_count)
		command_print(cmd, "adapter   %s at %s%u kHz, %.3f flushes a sample", adapter_driver->name,
			link->is_khz_measured ? "about " : "", link->khz,
			(double)sampling->flush_count / sampling->sample_count);
}

static void profile_report_interval(struct command_invocation *cmd, const struct sampling *sampling)
{
	const struct interval_stats *interval = &sampling->interval;

	if (!interval->count)
		return;
	command_print(cmd, "interval  %.1f us mean, %.1f us standard deviation, %.1f to %.1f us",
		interval->mean_ns / 1e3, interval_stats_deviation_ns(interval) / 1e3, interval->min_ns / 1e3,
		interval->max_ns / 1e3);
}

static void profile_report_standing(struct command_invocation *cmd, const struct sampling *sampling)
{
	const struct run_window *window = &sampling->window;

	if (sampling->method == &sampling_legacy)
		command_print(cmd, "stopped   not measured");
	else if (!sampling->method->stops_cores)
		command_print(cmd, "stopped   never");
	else if (window->total_ns)
		command_print(cmd, "stopped   %.1f %% of the time", 100.0 * (1 - (double)window->run_ns / window->total_ns));
}

static void profile_report_losses(struct command_invocation *cmd, const struct sampling *sampling)
{
	static const char *const reasons[SAMPLING_LOSS_NUM] = {
		[SAMPLING_LOST_ZERO] = "read 0 or all ones",
		[SAMPLING_LOST_DOUBT] = "in doubt",
		[SAMPLING_LOST_FAULT] = "faulted",
		[SAMPLING_LOST_LINK] = "lost by the adapter",
	};
	char line[256] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < SAMPLING_LOSS_NUM; i++) {
		if (sampling->lost[i])
			len += snprintf(line + len, sizeof(line) - len, "%s%" PRIu64 " %s", len ? ", " : "",
				sampling->lost[i], reasons[i]);
	}
	command_print(cmd, "lost      %s", len ? line : "none");
	if (sampling->late_count)
		command_print(cmd, "late      %" PRIu64 " looks until a core stood", sampling->late_count);
	if (sampling->options->has_range)
		command_print(cmd, "range     %" PRIu64 " PCs were outside of it", sampling->outside_count);
}

static void profile_report_lines(struct command_invocation *cmd, const char *heading, const char *lines,
		const char *end)
{
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		command_print_sameline(cmd, "%s%.*s%s", heading, (int)len, lines, end);
		lines += len + (lines[len] == '\n');
	}
}

void profile_report_more_warnings(struct command_invocation *cmd, const struct sampling *sampling)
{
	profile_report_lines(cmd, "\nwarning   ", sampling->warnings, "");
}

static void profile_report_top(struct command_invocation *cmd, const struct sampling *sampling,
		const struct itrace_profile *profile, unsigned int core)
{
	struct itrace_profile_place *places;
	uint64_t total = itrace_pc_histogram_total(profile->cores[core].histogram);
	size_t count;

	if (!sampling->options->top || !total ||
			!itrace_profile_top(profile, core, sampling->options->top, &places, &count))
		return;

	command_print(cmd, "top       %s", profile->cores[core].name);
	for (size_t i = 0; i < count; i++) {
		double percent = 100.0 * places[i].count / total;

		if (places[i].name)
			command_print(cmd, "%7.2f %% %10" PRIu64 "  %s", percent, places[i].count, places[i].name);
		else
			command_print(cmd, "%7.2f %% %10" PRIu64 "  0x%08" PRIx64, percent, places[i].count, places[i].addr);
	}
	free(places);
}

void profile_report(struct command_invocation *cmd, const struct sampling *sampling,
		const struct itrace_profile *profile)
{
	command_print(cmd, "method    %s: %s", sampling->method->name, sampling->method->summary);
	profile_report_samples(cmd, sampling);
	profile_report_interval(cmd, sampling);
	profile_report_standing(cmd, sampling);
	profile_report_losses(cmd, sampling);
	profile_report_lines(cmd, "note      ", sampling->notes, "\n");
	profile_report_lines(cmd, "warning   ", sampling->warnings, "\n");
	if (sampling->end != SAMPLING_TIME)
		command_print(cmd, "ended     early: %s", sampling->why);
	for (unsigned int core = 0; core < profile->core_count; core++)
		profile_report_top(cmd, sampling, profile, core);
}
