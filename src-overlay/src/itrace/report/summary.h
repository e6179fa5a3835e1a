/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What a trace consists of: the ledger, bytes by kind of packet, and which option of the trace unit would save them.
 */

#ifndef OPENOCD_ITRACE_REPORT_SUMMARY_H
#define OPENOCD_ITRACE_REPORT_SUMMARY_H

#include "../ledger.h"
#include "output.h"
#include "symbols.h"

/* Write it all. @param symbols names the sources of code; may be NULL */
void itrace_summary_write(const struct itrace_ledger *ledger, const struct itrace_symbols *symbols,
		struct itrace_output *out);

/*
 * The option (of "NAME configure", without the name) that makes fewer packets of @a kind; "" when none does.
 */
const char *itrace_summary_advice(unsigned int kind);

#endif /* OPENOCD_ITRACE_REPORT_SUMMARY_H */
