// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * A profile file as a whole: its format by name, and that it is either complete or not there.
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_format.h"

#define TEMPORARY_TRIES	1000u

static const struct {
	const char *name;
	bool (*write)(struct itrace_output *out, const struct itrace_profile *profile, char *note, size_t note_size);
} formats[ITRACE_PROFILE_FORMAT_NUM] = {
	[ITRACE_PROFILE_GMON] = { "gmon", itrace_profile_write_gmon },
	[ITRACE_PROFILE_FOLDED] = { "folded", itrace_profile_write_folded },
	[ITRACE_PROFILE_CALLGRIND] = { "callgrind", itrace_profile_write_callgrind },
	[ITRACE_PROFILE_CSV] = { "csv", itrace_profile_write_csv },
};

const char *itrace_profile_format_name(enum itrace_profile_format format)
{
	return (unsigned int)format < ITRACE_PROFILE_FORMAT_NUM ? formats[format].name : "?";
}

bool itrace_profile_format_find(const char *name, enum itrace_profile_format *format, char *why, size_t why_size)
{
	char list[128];
	size_t len = 0;

	for (unsigned int i = 0; i < ITRACE_PROFILE_FORMAT_NUM; i++) {
		if (!strcmp(name, formats[i].name)) {
			*format = (enum itrace_profile_format)i;
			return true;
		}
		int n = snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", formats[i].name);
		len += n > 0 && (size_t)n < sizeof(list) - len ? (size_t)n : 0;
	}
	snprintf(why, why_size, "'%.64s' is no format of a profile, which are: %s", name, list);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* the file under its own name and under the one that it is written by */

struct target {
	char *path;		/* what is replaced: symbolic links are followed */
	char *temporary;	/* NULL: path is written to directly */
};

static void target_free(struct target *target)
{
	free(target->path);
	free(target->temporary);
	memset(target, 0, sizeof(*target));
}

static bool target_fail(struct target *target, const char *path, const char *reason, char *why, size_t why_size)
{
	snprintf(why, why_size, "cannot write '%s': %s", path, reason);
	target_free(target);
	return false;
}

/* The file that @a path leads to. @returns NULL when there is no memory */
static char *resolve(const char *path)
{
#ifndef _WIN32
	char *resolved = realpath(path, NULL);
	if (resolved)
		return resolved;
#endif
	return strdup(path);
}

/*
 * Make an empty file next to the target that was not there before.
 * @param mode   of the file that is replaced, 0: there is none
 * @returns false with errno set
 */
static bool target_make_temporary(struct target *target, mode_t mode)
{
	size_t size = strlen(target->path) + sizeof(".1000.tmp");

	target->temporary = malloc(size);
	if (!target->temporary) {
		errno = ENOMEM;
		return false;
	}
	for (unsigned int i = 0; i < TEMPORARY_TRIES; i++) {
		snprintf(target->temporary, size, "%s.%u.tmp", target->path, i);
		int fd = open(target->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
		if (fd >= 0) {
			close(fd);
			/* a profile that was private stays so; where the system has no such thing, it is as it is */
			if (mode && chmod(target->temporary, mode & 0777))
				errno = 0;
			return true;
		}
		if (errno != EEXIST)
			break;
	}
	return false;
}

/*
 * Find out how @a path can be written, and make the file that it is to be written by.
 * @returns false with *why filled; nothing is left then
 */
/* Opening a pipe to write waits for its reader, for ever if there is none. */
static bool has_reader(const char *path)
{
#ifdef O_NONBLOCK
	int fd = open(path, O_WRONLY | O_NONBLOCK);

	if (fd < 0)
		return false;
	close(fd);
#endif
	return true;
}

static bool target_begin(struct target *target, const char *path, char *why, size_t why_size)
{
	struct stat st;

	memset(target, 0, sizeof(*target));
	if (!path[0])
		return target_fail(target, path, "the name is empty", why, why_size);
	bool is_there = !stat(path, &st);
	if (!is_there && errno != ENOENT)
		return target_fail(target, path, strerror(errno), why, why_size);
	if (is_there && S_ISDIR(st.st_mode))
		return target_fail(target, path, "is a directory", why, why_size);
	/* whoever took the right to write from a file does not want it replaced either */
	if (is_there && access(path, W_OK))
		return target_fail(target, path, strerror(errno), why, why_size);
	target->path = resolve(path);
	if (!target->path)
		return target_fail(target, path, "no memory", why, why_size);
	if (is_there && S_ISFIFO(st.st_mode) && !has_reader(path))
		return target_fail(target, path, "nobody reads from this pipe", why, why_size);
	if (is_there && !S_ISREG(st.st_mode))
		return true;
	if (!target_make_temporary(target, is_there ? st.st_mode : 0))
		return target_fail(target, path, strerror(errno), why, why_size);
	return true;
}

static void target_drop(struct target *target)
{
	if (target->temporary)
		remove(target->temporary);
	target_free(target);
}

/* Put the complete file in its place. @returns 0, or an errno: nothing is left of it then */
static int target_commit(struct target *target)
{
	int error = 0;

	if (target->temporary) {
#ifdef _WIN32
		/* rename() does not replace there */
		remove(target->path);
#endif
		if (rename(target->temporary, target->path)) {
			error = errno;
			remove(target->temporary);
		}
	}
	target_free(target);
	return error;
}

bool itrace_profile_file_check(const char *path, char *why, size_t why_size)
{
	struct target target;

	if (!target_begin(&target, path, why, why_size))
		return false;
	target_drop(&target);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static bool has_samples(const struct itrace_profile *profile)
{
	for (unsigned int i = 0; i < profile->core_count; i++)
		if (itrace_pc_histogram_total(profile->cores[i].histogram))
			return true;
	return false;
}

/* Add to the note how coarse the addresses are. */
static void note_shift(const struct itrace_profile *profile, char *note, size_t note_size)
{
	unsigned int shift = 0;

	for (unsigned int i = 0; i < profile->core_count; i++)
		if (itrace_pc_histogram_shift(profile->cores[i].histogram) > shift)
			shift = itrace_pc_histogram_shift(profile->cores[i].histogram);
	if (!shift)
		return;
	size_t len = strlen(note);
	snprintf(note + len, note_size - len,
			"%stoo many different addresses: they are rounded down to multiples of %" PRIu64, len ? "; " : "",
			(uint64_t)1 << shift);
}

bool itrace_profile_file_write(const struct itrace_profile *profile, enum itrace_profile_format format,
		const char *path, char *why, size_t why_size)
{
	struct target target;
	struct itrace_output out;
	char note[256] = "";
	char reason[PATH_MAX];

	why[0] = 0;
	if ((unsigned int)format >= ITRACE_PROFILE_FORMAT_NUM || !profile->core_count ||
			profile->core_count > ITRACE_PROFILE_CORES_MAX) {
		snprintf(why, why_size, "cannot write '%s': no such format, or not 1 to %u cores", path,
				ITRACE_PROFILE_CORES_MAX);
		return false;
	}
	if (!has_samples(profile)) {
		snprintf(why, why_size, "no %s: '%s' is not written", itrace_profile_unit(profile), path);
		return false;
	}
	if (!target_begin(&target, path, why, why_size))
		return false;
	if (!itrace_output_open(&out, target.temporary ? target.temporary : target.path, NULL, why, why_size)) {
		target_drop(&target);
		return false;
	}

	bool is_memory = formats[format].write(&out, profile, note, sizeof(note));
	/* a reader that goes away is no error to itrace_output_close(), but a file that is not complete */
	bool is_written = itrace_output_close(&out, reason, sizeof(reason)) && !out.closed;
	if (!is_memory || !is_written) {
		target_drop(&target);
		snprintf(why, why_size, "cannot write '%s': %s", path,
				!is_memory ? "no memory" : out.error ? strerror(out.error) : "no more is taken");
		return false;
	}
	int error = target_commit(&target);
	if (error) {
		snprintf(why, why_size, "cannot write '%s': %s", path, strerror(error));
		return false;
	}
	note_shift(profile, note, sizeof(note));
	snprintf(why, why_size, "%s", note);
	return true;
}
