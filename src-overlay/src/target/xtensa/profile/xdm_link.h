/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Lean access to the debug modules of one or several cores: accesses are queued, then run in one flush.
 *
 * Against OpenOCD's own access (xtensa_debug_module.c) the instruction register is scanned once a flush and not once
 * an access, the TAPs of several cores take part in the same scan, reads through a DAP are queued, and the TCK of
 * everything are counted, so that a flush can be made to fit into the adapter's buffer.
 *
 *	xdm_link_begin(link);
 *	xdm_link_write(link, XDM_DCRSET, XDM_DCR_STOP);
 *	dsr = xdm_link_read(link, XDM_DSR);
 *	if (xdm_link_run(link) == ERROR_OK)
 *		value = xdm_link_value(link, dsr, core);
 *
 * Nothing here looks at values. What is not checked: that the target was examined.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_XDM_LINK_H
#define OPENOCD_TARGET_XTENSA_PROFILE_XDM_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <target/target.h>

#include "xdm_access.h"

#define XDM_CORES_MAX	4u
#define XDM_READS_MAX	1024u	/* in one flush */

/* What is known of an adapter's driver. */
struct xdm_adapter {
	const char *driver;
	unsigned int flush_tck;		/* its buffer: more is more than one exchange */
	unsigned int flush_reads;	/* the same for captures; each read takes one */
	unsigned int ir_extra;		/* TCK of a scan from Run-Test/Idle and back beside the bits shifted */
	unsigned int dr_extra;
	bool last_bit_apart;		/* captures the last bit of a scan apart, as one more capture */
};

enum xdm_link_kind {
	XDM_LINK_TAP,		/* one core, its TAP; the others are in BYPASS */
	XDM_LINK_TAPS,		/* several cores, all their TAPs in one scan */
	XDM_LINK_DAP,		/* through MEM-APs, core after core */
};

struct xdm_core {
	struct target *target;
	struct xtensa *xtensa;
	unsigned int ir_pos;		/* XDM_LINK_TAPS: bit position in scans of the instruction register, */
	unsigned int data8_pos;		/* of 8 bits a core, */
	unsigned int data32_pos;	/* of 32 bits a core */
};

struct xdm_read {
	uint8_t bits;			/* 8 or 32 */
	uint32_t tck;			/* counted from the beginning of the flush */
};

struct xdm_link {
	enum xdm_link_kind kind;
	struct xdm_core cores[XDM_CORES_MAX];
	unsigned int core_count;
	const struct xdm_adapter *adapter;
	unsigned int khz;		/* of TCK */
	bool is_khz_measured;		/* the adapter does not tell */
	unsigned int room_tck;		/* that a flush should not exceed */

	/* scans of the chain: bits in all */
	unsigned int ir_bits;
	unsigned int data8_bits;
	unsigned int data32_bits;
	bool dummy_bit;			/* a read is scanned one bit further, see last_bit_apart */

	/* the flush being queued */
	int error;			/* first failure to queue */
	unsigned int tck;		/* so far */
	unsigned int exchange_tck;	/* of these, before the exchange being filled */
	unsigned int read_count;
	struct xdm_read reads[XDM_READS_MAX];
	uint8_t *captured;		/* stride bytes a read */
	unsigned int stride;
	uint32_t unused[XDM_CORES_MAX];	/* for reads that only pass time */

	/* over all flushes */
	uint64_t flush_count;
	uint64_t exchange_ns;		/* what an exchange takes beside its clocks, smoothed */
	uint64_t begin_ns, end_ns;	/* of the last flush, of a clock that only goes forward */
};

/*
 * @param targets @a count (1 ... XDM_CORES_MAX) Xtensa targets; all on TAPs or all behind a DAP
 * @param[out] why one line on failure, at most @a why_size bytes
 * @returns ERROR_OK; ERROR_FAIL: a TAP is disabled, no adapter, no memory
 */
int xdm_link_open(struct xdm_link *link, struct target *const *targets, unsigned int count, char *why,
		size_t why_size);
void xdm_link_close(struct xdm_link *link);

/* Begin a flush. */
void xdm_link_begin(struct xdm_link *link);

/* Queue a write of @a value to the same register of every core. */
void xdm_link_write(struct xdm_link *link, enum xdm_reg reg, uint32_t value);

/* Queue an instruction for every core: a word of xdm_access.h, as little-endian cores have it. */
void xdm_link_exec(struct xdm_link *link, uint32_t insn);

/* As xdm_link_exec() for those cores only that @a chosen says. */
void xdm_link_exec_some(struct xdm_link *link, uint32_t insn, const bool *chosen);

/* As xdm_link_write() with a value for each core. */
void xdm_link_write_each(struct xdm_link *link, enum xdm_reg reg, const uint32_t *values);

/* Queue a read; at most XDM_READS_MAX in a flush. @returns its number, for xdm_link_value(). */
unsigned int xdm_link_read(struct xdm_link *link, enum xdm_reg reg);

/* Queue a read of PWRSTAT that clears nothing. */
unsigned int xdm_link_read_pwrstat(struct xdm_link *link);

/* Let @a tck pass (behind a DAP: about as many). */
void xdm_link_idle(struct xdm_link *link, unsigned int tck);

/* End an exchange with the adapter here and go on in the next one, in the same flush. */
void xdm_link_split(struct xdm_link *link);

/*
 * Carry out what was queued.
 * What was not captured reads as 0, also after an error: with drivers that lose errors the values must tell.
 * @returns ERROR_OK, or the driver's error: it is then not known how much of it was carried out
 */
int xdm_link_run(struct xdm_link *link);

/*
 * An exchange with a DAP may have got lost, perhaps in the middle of a scan: then what follows is junk to the TAP, and
 * may have switched the DP's power off or changed SELECT, CSW and TAR behind OpenOCD's back. All of that is made sure
 * of. Done by xdm_link_run() for errors that it sees; some drivers report only those of a flush's last exchange.
 */
void xdm_link_resync(const struct xdm_link *link);

/* @returns what the last flush read as number @a read from core @a core. */
uint32_t xdm_link_value(const struct xdm_link *link, unsigned int read, unsigned int core);

/* TCK that one access takes. */
unsigned int xdm_link_access_tck(const struct xdm_link *link);

/* TCK that still fit into this flush. */
unsigned int xdm_link_room(const struct xdm_link *link);

static inline uint64_t xdm_link_tck_to_ns(const struct xdm_link *link, uint64_t tck)
{
	return tck * 1000000u / link->khz;
}

static inline uint64_t xdm_link_ns_to_tck(const struct xdm_link *link, uint64_t ns)
{
	return ns * link->khz / 1000000u;
}

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_XDM_LINK_H */
