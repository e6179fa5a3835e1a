// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Names of packets and elements.
 */

#include "ete_element.h"
#include "ete_packet.h"
#include "ledger.h"
#include "mtb_packet.h"

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))

struct packet_names {
	const char *opencsd;
	const char *plain;
};

/* I_SCR_ADDR_L_32IS0 is what OpenCSD prints */
static const struct packet_names packet_names[] = {
	[ITRACE_PACKET_NOT_SYNC] = { "I_NOT_SYNC", "not synchronised" },
	[ITRACE_PACKET_INCOMPLETE] = { "I_INCOMPLETE_EOT", "incomplete packet" },
	[ITRACE_PACKET_BAD_SEQUENCE] = { "I_BAD_SEQUENCE", "malformed packet" },
	[ITRACE_PACKET_RESERVED] = { "I_RESERVED", "reserved header" },
	[ITRACE_PACKET_RESERVED_CFG] = { "I_RESERVED_CFG", "header reserved in this configuration" },
	[ITRACE_PACKET_EXTENSION] = { "I_EXTENSION", "extension" },
	[ITRACE_PACKET_ASYNC] = { "I_ASYNC", "alignment synchronisation" },
	[ITRACE_PACKET_DISCARD] = { "I_DISCARD", "discard" },
	[ITRACE_PACKET_OVERFLOW] = { "I_OVERFLOW", "overflow" },
	[ITRACE_PACKET_TRACE_INFO] = { "I_TRACE_INFO", "trace info" },
	[ITRACE_PACKET_TIMESTAMP] = { "I_TIMESTAMP", "timestamp" },
	[ITRACE_PACKET_TRACE_ON] = { "I_TRACE_ON", "trace on" },
	[ITRACE_PACKET_FUNCTION_RETURN] = { "I_FUNC_RET", "function return" },
	[ITRACE_PACKET_EXCEPTION] = { "I_EXCEPT", "exception" },
	[ITRACE_PACKET_PE_RESET] = { "I_PE_RESET", "PE reset" },
	[ITRACE_PACKET_TRANSACTION_FAIL] = { "I_TRANS_FAIL", "transaction failure" },
	[ITRACE_PACKET_EXCEPTION_RETURN] = { "I_EXCEPT_RTN", "exception return" },
	[ITRACE_PACKET_INSTRUMENTATION] = { "I_ITE", "instrumentation" },
	[ITRACE_PACKET_TRANSACTION_START] = { "I_TRANS_ST", "transaction start" },
	[ITRACE_PACKET_TRANSACTION_COMMIT] = { "I_TRANS_COMMIT", "transaction commit" },
	[ITRACE_PACKET_CYCLES_F1] = { "I_CCNT_F1", "cycle count format 1" },
	[ITRACE_PACKET_CYCLES_F2] = { "I_CCNT_F2", "cycle count format 2" },
	[ITRACE_PACKET_CYCLES_F3] = { "I_CCNT_F3", "cycle count format 3" },
	[ITRACE_PACKET_SYNC_NUMBERED] = { "I_NUM_DS_MKR", "numbered data sync marker" },
	[ITRACE_PACKET_SYNC_UNNUMBERED] = { "I_UNNUM_DS_MKR", "unnumbered data sync marker" },
	[ITRACE_PACKET_COMMIT] = { "I_COMMIT", "commit" },
	[ITRACE_PACKET_CANCEL_F1] = { "I_CANCEL_F1", "cancel format 1" },
	[ITRACE_PACKET_CANCEL_F1_MISPREDICT] = { "I_CANCEL_F1_MISPRED", "cancel format 1 with mispredict" },
	[ITRACE_PACKET_MISPREDICT] = { "I_MISPREDICT", "mispredict" },
	[ITRACE_PACKET_CANCEL_F2] = { "I_CANCEL_F2", "cancel format 2" },
	[ITRACE_PACKET_CANCEL_F3] = { "I_CANCEL_F3", "cancel format 3" },
	[ITRACE_PACKET_COND_INSTR_F1] = { "I_COND_I_F1", "conditional instruction format 1" },
	[ITRACE_PACKET_COND_INSTR_F2] = { "I_COND_I_F2", "conditional instruction format 2" },
	[ITRACE_PACKET_COND_INSTR_F3] = { "I_COND_I_F3", "conditional instruction format 3" },
	[ITRACE_PACKET_COND_FLUSH] = { "I_COND_FLUSH", "conditional flush" },
	[ITRACE_PACKET_COND_RESULT_F1] = { "I_COND_RES_F1", "conditional result format 1" },
	[ITRACE_PACKET_COND_RESULT_F2] = { "I_COND_RES_F2", "conditional result format 2" },
	[ITRACE_PACKET_COND_RESULT_F3] = { "I_COND_RES_F3", "conditional result format 3" },
	[ITRACE_PACKET_COND_RESULT_F4] = { "I_COND_RES_F4", "conditional result format 4" },
	[ITRACE_PACKET_IGNORE] = { "I_IGNORE", "ignore" },
	[ITRACE_PACKET_EVENT] = { "I_EVENT", "event" },
	[ITRACE_PACKET_CONTEXT] = { "I_CTXT", "context" },
	[ITRACE_PACKET_ADDR_CONTEXT_32_IS0] = { "I_ADDR_CTXT_L_32IS0", "address 32-bit IS0 with context" },
	[ITRACE_PACKET_ADDR_CONTEXT_32_IS1] = { "I_ADDR_CTXT_L_32IS1", "address 32-bit IS1 with context" },
	[ITRACE_PACKET_ADDR_CONTEXT_64_IS0] = { "I_ADDR_CTXT_L_64IS0", "address 64-bit IS0 with context" },
	[ITRACE_PACKET_ADDR_CONTEXT_64_IS1] = { "I_ADDR_CTXT_L_64IS1", "address 64-bit IS1 with context" },
	[ITRACE_PACKET_MARKER] = { "I_TS_MARKER", "timestamp marker" },
	[ITRACE_PACKET_ADDR_MATCH] = { "I_ADDR_MATCH", "address exact match" },
	[ITRACE_PACKET_ADDR_SHORT_IS0] = { "I_ADDR_S_IS0", "address short IS0" },
	[ITRACE_PACKET_ADDR_SHORT_IS1] = { "I_ADDR_S_IS1", "address short IS1" },
	[ITRACE_PACKET_ADDR_32_IS0] = { "I_ADDR_L_32IS0", "address 32-bit IS0" },
	[ITRACE_PACKET_ADDR_32_IS1] = { "I_ADDR_L_32IS1", "address 32-bit IS1" },
	[ITRACE_PACKET_ADDR_64_IS0] = { "I_ADDR_L_64IS0", "address 64-bit IS0" },
	[ITRACE_PACKET_ADDR_64_IS1] = { "I_ADDR_L_64IS1", "address 64-bit IS1" },
	[ITRACE_PACKET_Q] = { "I_Q", "Q" },
	[ITRACE_PACKET_SOURCE_MATCH] = { "I_SRC_ADDR_MATCH", "source address exact match" },
	[ITRACE_PACKET_SOURCE_SHORT_IS0] = { "I_SRC_ADDR_S_IS0", "source address short IS0" },
	[ITRACE_PACKET_SOURCE_SHORT_IS1] = { "I_SRC_ADDR_S_IS1", "source address short IS1" },
	[ITRACE_PACKET_SOURCE_32_IS0] = { "I_SCR_ADDR_L_32IS0", "source address 32-bit IS0" },
	[ITRACE_PACKET_SOURCE_32_IS1] = { "I_SRC_ADDR_L_32IS1", "source address 32-bit IS1" },
	[ITRACE_PACKET_SOURCE_64_IS0] = { "I_SRC_ADDR_L_64IS0", "source address 64-bit IS0" },
	[ITRACE_PACKET_SOURCE_64_IS1] = { "I_SRC_ADDR_L_64IS1", "source address 64-bit IS1" },
	[ITRACE_PACKET_ATOM_F1] = { "I_ATOM_F1", "atom format 1" },
	[ITRACE_PACKET_ATOM_F2] = { "I_ATOM_F2", "atom format 2" },
	[ITRACE_PACKET_ATOM_F3] = { "I_ATOM_F3", "atom format 3" },
	[ITRACE_PACKET_ATOM_F4] = { "I_ATOM_F4", "atom format 4" },
	[ITRACE_PACKET_ATOM_F5] = { "I_ATOM_F5", "atom format 5" },
	[ITRACE_PACKET_ATOM_F6] = { "I_ATOM_F6", "atom format 6" }
};

static const char * const element_names[] = {
	[ITRACE_ELEMENT_ATOMS] = "atoms",
	[ITRACE_ELEMENT_EXCEPTION] = "exception",
	[ITRACE_ELEMENT_Q] = "Q",
	[ITRACE_ELEMENT_SOURCE_ADDR] = "source address",
	[ITRACE_ELEMENT_TRANSACTION_START] = "transaction start",
	[ITRACE_ELEMENT_EXCEPTION_RETURN] = "exception return",
	[ITRACE_ELEMENT_FUNCTION_RETURN] = "function return",
	[ITRACE_ELEMENT_UNSEEN] = "unseen",
	[ITRACE_ELEMENT_ADDR] = "address",
	[ITRACE_ELEMENT_CONTEXT] = "context",
	[ITRACE_ELEMENT_TRACE_ON] = "trace on",
	[ITRACE_ELEMENT_TRACE_INFO] = "trace info",
	[ITRACE_ELEMENT_EVENT] = "event",
	[ITRACE_ELEMENT_TIMESTAMP] = "timestamp",
	[ITRACE_ELEMENT_CYCLES] = "cycle count",
	[ITRACE_ELEMENT_MARKER] = "timestamp marker",
	[ITRACE_ELEMENT_INSTRUMENTATION] = "instrumentation",
	[ITRACE_ELEMENT_TRANSACTION_COMMIT] = "transaction commit",
	[ITRACE_ELEMENT_TRANSACTION_FAIL] = "transaction failure",
	[ITRACE_ELEMENT_TRANSACTION_INIT] = "transaction at trace start",
	[ITRACE_ELEMENT_NO_SYNC] = "not synchronised",
	[ITRACE_ELEMENT_GAP] = "gap",
	[ITRACE_ELEMENT_END] = "end"
};

static const char * const mtb_names[] = {
	[ITRACE_MTB_BRANCH] = "branch",
	[ITRACE_MTB_EXCEPTION] = "exception entry",
	[ITRACE_MTB_RETURN] = "return begins",
	[ITRACE_MTB_RESUME] = "return ends",
	[ITRACE_MTB_LOCKUP] = "lock-up"
};

_Static_assert(ARRAY_NUM(mtb_names) == ITRACE_MTB_KIND_NUM, "each kind of MTB packet needs its name");
_Static_assert(ARRAY_NUM(packet_names) == ITRACE_PACKET_NUM, "each kind of packet needs its names");
_Static_assert(ARRAY_NUM(element_names) == ITRACE_ELEMENT_NUM, "each kind of element needs its name");

const char *itrace_packet_opencsd_name(enum itrace_packet_kind kind)
{
	return (unsigned int)kind < ITRACE_PACKET_NUM ? packet_names[kind].opencsd : "I_UNKNOWN";
}

const char *itrace_packet_name(enum itrace_packet_kind kind)
{
	return (unsigned int)kind < ITRACE_PACKET_NUM ? packet_names[kind].plain : "unknown";
}

const char *itrace_element_name(enum itrace_element_kind kind)
{
	return (unsigned int)kind < ITRACE_ELEMENT_NUM ? element_names[kind] : "unknown";
}

const char *itrace_mtb_kind_name(enum itrace_mtb_kind kind)
{
	return (unsigned int)kind < ITRACE_MTB_KIND_NUM ? mtb_names[kind] : "unknown";
}

const char *itrace_ledger_packet_name(unsigned int kind)
{
	if (kind < ITRACE_LEDGER_MTB)
		return itrace_packet_name((enum itrace_packet_kind)kind);
	return itrace_mtb_kind_name((enum itrace_mtb_kind)(kind - ITRACE_LEDGER_MTB));
}
