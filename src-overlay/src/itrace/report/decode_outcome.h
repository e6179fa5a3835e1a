/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What came of a decode: the ledger for people, and when there is nothing, why.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_OUTCOME_H
#define OPENOCD_ITRACE_REPORT_DECODE_OUTCOME_H

#include <stdbool.h>

#include "decode_state.h"

/* Notes on the ends of the trace, then the four lines of the ledger. */
void itrace_decode_tell_ledger(struct itrace_decode_state *run);

/* Whether there was nothing of what the format lists. */
bool itrace_decode_is_nothing(const struct itrace_decode_state *run);

/* Why: one line with the input and the likely cause. */
void itrace_decode_explain_nothing(struct itrace_decode_state *run);

#endif /* OPENOCD_ITRACE_REPORT_DECODE_OUTCOME_H */
