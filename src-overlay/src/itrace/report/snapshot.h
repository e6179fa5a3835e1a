/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * CoreSight snapshots: a directory of ini files, trace buffers and memory dumps, as written by Arm DS, by OpenCSD's
 * tools and by us.
 *
 * The reader accepts what OpenCSD's accepts. What makes one buffer, source or dump unusable does not make the snapshot
 * unusable: each has a line of text that says why, and the rest goes on.
 */

#ifndef OPENOCD_ITRACE_REPORT_SNAPSHOT_H
#define OPENOCD_ITRACE_REPORT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../cs_frame.h"
#include "../ete_config.h"
#include "../image.h"
#include "../mtb_flow.h"
#include "../mtb_ring.h"

/* Bounds: a larger ini file is refused, further devices and dumps are refused, more dump bytes are not loaded. */
#define ITRACE_SNAPSHOT_INI_MAX		((size_t)16 << 20)
#define ITRACE_SNAPSHOT_SEAMS_MAX	400000u	/* so that they fit such a file */
#define ITRACE_SNAPSHOT_DEVICES_MAX	4096u
#define ITRACE_SNAPSHOT_DUMPS_MAX	16384u
#define ITRACE_SNAPSHOT_LOAD_MAX	((uint64_t)1 << 30)

/* A device of class core. */
struct itrace_snapshot_core {
	const char *name;
	const char *type;		/* "Cortex-A53"; "" when the file gives none */
	const char *ini;		/* path of its file */
	bool type_known;		/* false: profile and arch are only assumed */
	enum itrace_profile profile;
	enum itrace_arch arch;
	const struct itrace_segment *segments;	/* its dumps, without those that were refused */
	size_t segment_count;
};

/* A device of class trace_source or mtb. */
struct itrace_snapshot_source {
	const char *name;
	const char *type;		/* "ETE", "ETM4.1"; of an MTB whatever is written */
	const char *ini;		/* path of its file */
	const char *why;		/* NULL: can be decoded; else one line: why not */
	enum itrace_protocol protocol;
	struct itrace_ete_registers regs;	/* given or defaulted */
	struct itrace_mtb_registers mtb;	/* in place of them, those that are given */
	const struct itrace_seam *seams;	/* of an MTB, ascending */
	size_t seam_count;
	const char *defaulted;		/* names of the defaulted ones that matter, "TRCIDR8 TRCIDR9"; "" when none */
	size_t core;			/* index of its core, SIZE_MAX: none is named in [core_trace_sources] */
	enum itrace_profile profile;	/* of its core; A and V9 when there is none */
	enum itrace_arch arch;
};

/* A [bufferN] section. */
struct itrace_snapshot_buffer {
	const char *section;		/* "buffer1" */
	const char *name;		/* "ETB_1" */
	const char *path;		/* of its file, the snapshot's directory included */
	const char *format;		/* as written */
	const char *why;		/* NULL: its file is there; else one line that names ini file, line and section */
	enum itrace_framing framing;	/* source_data: RAW, dstream_coresight: DSTREAM, anything else: CORESIGHT */
	uint64_t len;			/* bytes of the file */
	const size_t *sources;		/* indices of the sources that feed it, in the order of [source_buffers]; of a */
	size_t source_count;		/* RAW buffer only the first is its source */
};

/*
 * A snapshot as read. Everything in it belongs to it and stays until itrace_snapshot_free().
 * Buffers are in the order of their sections in the file: the first is the default one.
 */
struct itrace_snapshot {
	const char *dir;
	struct itrace_snapshot_buffer *buffers;
	size_t buffer_count;
	struct itrace_snapshot_source *sources;
	size_t source_count;
	struct itrace_snapshot_core *cores;
	size_t core_count;
	const char **notes;		/* one line each: dumps that are missing, overlap ...; core types not known */
	size_t note_count;
	void *priv;
};

/*
 * Read the snapshot in directory @a dir: all ini files and the bytes of all dumps, not the trace.
 * @param source the source number that segments get (struct itrace_segment)
 * @param[out] why on failure one line that names file, line and what is wrong; @a why_size at least 1
 * @returns NULL: no snapshot could be read.
 */
struct itrace_snapshot *itrace_snapshot_read(const char *dir, unsigned int source, char *why, size_t why_size);

/* @param snapshot may be NULL */
void itrace_snapshot_free(struct itrace_snapshot *snapshot);

/*
 * The program as a decoder of source @a source in buffer @a buffer sees it: the dumps of its own core, then those of
 * the other cores that feed the buffer as far as they do not overlap. The array is the caller's to free(), its bytes
 * are the snapshot's.
 * @param source index in snapshot->sources, @param buffer index in snapshot->buffers; not checked
 * @returns NULL when there are none (*count 0) or no memory (*count SIZE_MAX)
 */
struct itrace_segment *itrace_snapshot_segments(const struct itrace_snapshot *snapshot, size_t buffer, size_t source,
		size_t *count);

/* Whether the file @a path is one of those that @a snapshot consists of: ini files, trace, dumps. */
bool itrace_snapshot_has_file(const struct itrace_snapshot *snapshot, const char *path);

/* Memory spaces by the names that dump sections use; an unknown or NULL name is ITRACE_SPACE_ANY. */
uint8_t itrace_snapshot_space(const char *name);

/* ------------------------------------------------------------------------------------------------------------------ */

struct itrace_snapshot_write_core {
	const char *name;			/* "cpu_0" */
	const char *type;			/* NULL: a name for profile and arch is chosen */
	enum itrace_profile profile;
	enum itrace_arch arch;
	const struct itrace_segment *segments;	/* may overlap: the first wins, as in an image */
	size_t segment_count;
};

struct itrace_snapshot_write_source {
	const char *name;			/* "ETE_0" */
	enum itrace_protocol protocol;
	struct itrace_ete_registers regs;
	struct itrace_mtb_registers mtb;	/* protocol MTB: in place of regs; those not given are not written */
	const struct itrace_seam *seams;	/* protocol MTB; may be NULL when there are none */
	size_t seam_count;			/* at most ITRACE_SNAPSHOT_SEAMS_MAX, more are refused */
	size_t core;				/* index in cores */
	size_t buffer;				/* index in buffers */
};

struct itrace_snapshot_write_buffer {
	const char *name;			/* "ETB_0" */
	enum itrace_framing framing;		/* RAW, CORESIGHT or DSTREAM; a snapshot cannot say TPIU */
	/*
	 * Where the trace comes from. read(ctx, dst, len) copies up to len bytes and returns how many, 0 at the end, -1 on
	 * failure. Without it the file @a path is copied; without that, the file "trace<index>.bin" must be in the
	 * directory already.
	 */
	long (*read)(void *ctx, uint8_t *dst, size_t len);
	void *ctx;
	const char *path;
};

struct itrace_snapshot_content {
	const struct itrace_snapshot_write_core *cores;
	size_t core_count;
	const struct itrace_snapshot_write_source *sources;
	size_t source_count;
	const struct itrace_snapshot_write_buffer *buffers;
	size_t buffer_count;
};

/*
 * Write a snapshot into @a dir, which is made when it is not there. Files of the same names are replaced, when all of
 * the snapshot is written: on failure what stood there stays, unless a file cannot be renamed in the last step.
 * snapshot.ini comes last, so that a directory without it is an unfinished snapshot.
 *
 * OpenCSD rejects dumps that overlap or that begin at an odd address, so the segments are cut into pieces that do not;
 * single bytes at odd ends are left out.
 *
 * Not checked: that the registers make sense together.
 *
 * @param[out] why on failure one line with the file and the system's reason, or which name cannot be written
 * @returns 0, or -1
 */
int itrace_snapshot_write(const char *dir, const struct itrace_snapshot_content *content, char *why, size_t why_size);

#endif /* OPENOCD_ITRACE_REPORT_SNAPSHOT_H */
