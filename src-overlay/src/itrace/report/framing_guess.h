/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * How the bytes of a trace buffer are framed, found by trying.
 */

#ifndef OPENOCD_ITRACE_REPORT_FRAMING_GUESS_H
#define OPENOCD_ITRACE_REPORT_FRAMING_GUESS_H

#include <stddef.h>
#include <stdint.h>

#include "../cs_frame.h"
#include "../ete_config.h"

/* "raw", "coresight" ...: as option values. Never NULL. */
const char *itrace_framing_name(enum itrace_framing framing);

/*
 * Decode @a bytes (the beginning of the buffer) in each framing and take the one in which most is understood; raw when
 * nothing is in any.
 * @param[out] reason one line: what was found
 */
enum itrace_framing itrace_framing_guess(const struct itrace_ete_config *config, const uint8_t *bytes, size_t len,
		char *reason, size_t reason_size);

/* Of how many percent of the bytes packets are made in this framing (of the best trace ID). */
unsigned int itrace_framing_score(enum itrace_framing framing, const struct itrace_ete_config *config,
		const uint8_t *bytes, size_t len);

#endif /* OPENOCD_ITRACE_REPORT_FRAMING_GUESS_H */
