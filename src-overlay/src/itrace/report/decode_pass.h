/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Buffers through decoders to mouths: every stream of the plan, a pass over its buffer for each.
 */

#ifndef OPENOCD_ITRACE_REPORT_DECODE_PASS_H
#define OPENOCD_ITRACE_REPORT_DECODE_PASS_H

#include <stdbool.h>

#include "decode_state.h"

/*
 * Decode all streams; run->ledger is then the sum.
 * @returns false when there was an error, which has been told. What was written before it stays.
 */
bool itrace_decode_streams(struct itrace_decode_state *run);

#endif /* OPENOCD_ITRACE_REPORT_DECODE_PASS_H */
