/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One packet, element or event as one line of text in the caller's buffer.
 *
 * Every function writes at most @a size bytes including the terminating 0, no line end, and returns the length of the
 * text without the 0 (never more than size - 1). A buffer of ITRACE_TEXT_MAX holds every line.
 */

#ifndef OPENOCD_ITRACE_TEXT_H
#define OPENOCD_ITRACE_TEXT_H

#include <stddef.h>

#include "ete_element.h"
#include "ete_packet.h"
#include "event.h"
#include "mtb_packet.h"

#define ITRACE_TEXT_MAX	512

/* Line for line as OpenCSD 1.5.2's trc_pkt_lister prints a packet ("Idx:12; ID:0;\tI_TRACE_ON : Trace On."). */
size_t itrace_text_packet_opencsd(const struct itrace_ete_config *config, unsigned int trace_id,
		const struct itrace_ete_packet *packet, char *buf, size_t size);

/*
 * As trc_pkt_lister prints a generic element. Events that have no such element (gaps other than missing memory) give
 * an empty text (0).
 */
size_t itrace_text_event_opencsd(unsigned int trace_id, const struct itrace_event *event, char *buf, size_t size);

/* Our own listings: offset, bytes in hex, plain words. */
size_t itrace_text_packet(const struct itrace_ete_config *config, const struct itrace_ete_packet *packet, char *buf,
		size_t size);
size_t itrace_text_element(const struct itrace_ete_element *element, bool m_profile, char *buf, size_t size);
/* A packet of an MTB as its two words say, and as what it means. */
size_t itrace_text_mtb_packet(const struct itrace_mtb_packet *packet, char *buf, size_t size);
size_t itrace_text_mtb_element(const struct itrace_mtb_packet *packet, char *buf, size_t size);
size_t itrace_text_event(const struct itrace_event *event, bool m_profile, char *buf, size_t size);

#endif /* OPENOCD_ITRACE_TEXT_H */
