// SPDX-License-Identifier: GPL-2.0-or-later

/* Lines of text, as literals; and buffers that are too small for them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/text.h>

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))

/* which of the functions */
enum text_function {
	PACKET_OPENCSD,
	PACKET,
	ELEMENT,
	EVENT_OPENCSD,
	EVENT
};

struct thing {
	enum text_function function;
	unsigned int trace_id;
	const struct itrace_ete_config *config;
	const struct itrace_ete_packet *packet;
	const struct itrace_ete_element *element;
	const struct itrace_event *event;
};

static size_t make(const struct thing *thing, char *buf, size_t size)
{
	bool m_profile = thing->config->profile == ITRACE_PROFILE_M;

	switch (thing->function) {
	case PACKET_OPENCSD:
		return itrace_text_packet_opencsd(thing->config, thing->trace_id, thing->packet, buf, size);
	case PACKET:
		return itrace_text_packet(thing->config, thing->packet, buf, size);
	case ELEMENT:
		return itrace_text_element(thing->element, m_profile, buf, size);
	case EVENT_OPENCSD:
		return itrace_text_event_opencsd(thing->trace_id, thing->event, buf, size);
	default:
		return itrace_text_event(thing->event, m_profile, buf, size);
	}
}

/* The line is @a expected, and any smaller buffer holds the beginning of it and a 0. */
static void check(const struct thing *thing, const char *expected)
{
	size_t len = strlen(expected);
	char *whole = malloc(ITRACE_TEXT_MAX);

	memset(whole, 0x55, ITRACE_TEXT_MAX);
	assert_int_equal(make(thing, whole, ITRACE_TEXT_MAX), len);
	assert_string_equal(whole, expected);
	free(whole);

	for (size_t size = 1; size <= len + 2; size++) {
		size_t cut = size > len ? len : size - 1;
		char *buf = malloc(size);

		memset(buf, 0x55, size);
		assert_int_equal(make(thing, buf, size), cut);
		assert_int_equal(buf[cut], 0);
		assert_memory_equal(buf, expected, cut);
		free(buf);
	}

	char guard = 0x55;
	assert_int_equal(make(thing, &guard, 0), 0);
	assert_int_equal(guard, 0x55);
}

static struct itrace_ete_config ete_config, etmv4_config, m_config;

static int setup(void **state)
{
	ete_config.protocol = ITRACE_PROTOCOL_ETE;
	ete_config.profile = ITRACE_PROFILE_A;
	ete_config.vmid_len = 4;
	ete_config.cid_len = 4;
	etmv4_config.protocol = ITRACE_PROTOCOL_ETMV4;
	etmv4_config.profile = ITRACE_PROFILE_A;
	m_config.protocol = ITRACE_PROTOCOL_ETMV4;
	m_config.profile = ITRACE_PROFILE_M;
	return 0;
}

/* OpenCSD's packets */

struct packet_row {
	struct itrace_ete_packet packet;
	const struct itrace_ete_config *config;	/* NULL: ete_config */
	const char *opencsd;			/* behind "Idx:N; ID:N;<tab>" */
	const char *plain;			/* behind the bytes */
};

/* without bytes: they are one a5 */
#define P(k, ...)	{ .kind = ITRACE_PACKET_##k, __VA_ARGS__ }
#define BYTES(literal)	.bytes = (const uint8_t *)literal, .len = sizeof(literal) - 1

static const struct packet_row packet_rows[] = {
	{ P(NOT_SYNC), .opencsd = "I_NOT_SYNC : I Stream not synchronised", .plain = "not synchronised" },
	{
		P(INCOMPLETE, .intended = ITRACE_PACKET_ADDR_CONTEXT_64_IS0),
		.opencsd = "I_INCOMPLETE_EOT : Incomplete packet at end of trace.[I_ADDR_CTXT_L_64IS0]",
		.plain = "incomplete packet: address 64-bit IS0 with context"
	}, {
		P(BAD_SEQUENCE, .intended = ITRACE_PACKET_EXTENSION),
		.opencsd = "I_BAD_SEQUENCE : Invalid Sequence in packet.[I_EXTENSION]",
		.plain = "malformed packet: extension"
	},
	{ P(RESERVED), .opencsd = "I_RESERVED : Reserved Packet Header", .plain = "reserved header" },
	{
		P(RESERVED_CFG, .intended = ITRACE_PACKET_EXCEPTION_RETURN),
		.opencsd = "I_RESERVED_CFG : Reserved header for current configuration.[I_EXCEPT_RTN]",
		.plain = "header reserved in this configuration: exception return"
	},
	{ P(ASYNC), .opencsd = "I_ASYNC : Alignment Synchronisation.", .plain = "alignment synchronisation" },
	{ P(DISCARD), .opencsd = "I_DISCARD : Discard.", .plain = "discard" },
	{ P(OVERFLOW), .opencsd = "I_OVERFLOW : Overflow.", .plain = "overflow" },
	{
		P(TRACE_INFO, .number = 0x10, .info = 0x10, .cycles = 0),
		.opencsd = "I_TRACE_INFO : Trace Info.; INFO=0x10 { CC.0, TSTATE.0 }",
		.plain = "trace info: info 0x10, cycle threshold 0"
	}, {
		P(TRACE_INFO, .number = 0x41, .info = 0x41, .cycles = 0x16),
		.opencsd = "I_TRACE_INFO : Trace Info.; INFO=0x41 { CC.1, TSTATE.1 }; CC_THRESHOLD=0x16",
		.plain = "trace info: info 0x41, cycle threshold 22"
	}, {
		P(TRACE_INFO, .flags = ITRACE_PKT_SPEC, .number = 0x310, .info = 0x10, .cid = 5), &etmv4_config,
		.opencsd = "I_TRACE_INFO : Trace Info.; INFO=0x310 { CC.0 }",
		.plain = "trace info: info 0x310, cycle threshold 0, speculation depth 5"
	}, {
		P(TIMESTAMP, .addr = 0x6fd7, .addr_bits = 21),
		.opencsd = "I_TIMESTAMP : Timestamp.; Updated val = 0x6fd7", .plain = "timestamp: 0x6fd7"
	}, {
		P(TIMESTAMP, .flags = ITRACE_PKT_CYCLES, .addr = 0x8123456789abcdef, .addr_bits = 64, .cycles = 0x1f),
		.opencsd = "I_TIMESTAMP : Timestamp.; Updated val = 0x8123456789abcdef; CC=0x1f",
		.plain = "timestamp: 0x8123456789abcdef, 31 cycles"
	},
	{ P(TRACE_ON), .opencsd = "I_TRACE_ON : Trace On.", .plain = "trace on" },
	{ P(FUNCTION_RETURN), &m_config, .opencsd = "I_FUNC_RET : V8M - function return.", .plain = "function return" },
	{
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS, .number = 2, BYTES("\x06\x05")),
		.opencsd = "I_EXCEPT : Exception.;  Call; Ret Addr Follows;", .plain = "exception: Call (0x2)"
	}, {
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS | ITRACE_PKT_MATCHES_TARGET, .number = 0xc,
			BYTES("\x06\x58")),
		.opencsd = "I_EXCEPT : Exception.;  Data Fault; Ret Addr Follows, Match Prev;",
		.plain = "exception: Data Fault (0xc), return address is the target before"
	}, {
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS, .number = 0x2e, BYTES("\x06\x9d\x01")),
		.opencsd = "I_EXCEPT : Exception.;  Reserved; Ret Addr Follows;", .plain = "exception: Reserved (0x2e)"
	}, {	/* E = 0 and 3 are reserved: nothing more is printed */
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS, .number = 0xe, BYTES("\x06\x1c")),
		.opencsd = "I_EXCEPT : Exception.;  IRQ;", .plain = "exception: IRQ (0xe)"
	}, {
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS, .number = 0xe, BYTES("\x06\x5d")),
		.opencsd = "I_EXCEPT : Exception.;  IRQ;", .plain = "exception: IRQ (0xe)"
	}, {
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS | ITRACE_PKT_FAULT_PENDING, .number = 0x208,
			BYTES("\x06\x91\x30")), &m_config,
		.opencsd = "I_EXCEPT : Exception.;  IRQ8; Fault Pending; Ret Addr Follows;",
		.plain = "exception: IRQ8 (0x208), fault pending"
	}, {
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS, .number = 0x3ef, BYTES("\x06\x9f\x1f")), &m_config,
		.opencsd = "I_EXCEPT : Exception.;  IRQ495; Ret Addr Follows;", .plain = "exception: IRQ495 (0x3ef)"
	}, {
		P(EXCEPTION, .flags = ITRACE_PKT_ADDR_FOLLOWS, .number = 3, BYTES("\x06\x07")),
		&m_config, .opencsd = "I_EXCEPT : Exception.;  HardFault; Ret Addr Follows;",
		.plain = "exception: HardFault (0x3)"
	},
	{ P(PE_RESET), .opencsd = "I_PE_RESET : PE Reset.", .plain = "PE reset" },
	{ P(TRANSACTION_FAIL), .opencsd = "I_TRANS_FAIL : Transaction Fail.", .plain = "transaction failure" },
	{
		P(EXCEPTION_RETURN), &etmv4_config,
		.opencsd = "I_EXCEPT_RTN : Exception Return.", .plain = "exception return"
	}, {
		P(INSTRUMENTATION, .addr = 0xfffff, .info = 1),
		.opencsd = "I_ITE : Instrumentation; EL1; Payload=0xfffff", .plain = "instrumentation: EL1 0xfffff"
	},
	{ P(TRANSACTION_START), .opencsd = "I_TRANS_ST : Transaction Start.", .plain = "transaction start" },
	{ P(TRANSACTION_COMMIT), .opencsd = "I_TRANS_COMMIT : Transaction Commit.", .plain = "transaction commit" },
	{
		P(CYCLES_F1, .flags = ITRACE_PKT_CYCLES_UNKNOWN, .cycles = 0xffffffff),
		.opencsd = "I_CCNT_F1 : Cycle Count format 1.; Count=0x0", .plain = "cycle count format 1: unknown"
	}, {
		P(CYCLES_F2, .flags = ITRACE_PKT_CYCLES | ITRACE_PKT_COMMIT, .cycles = 0x1a, .number = 3),
		.opencsd = "I_CCNT_F2 : Cycle Count format 2.; Count=0x1a",
		.plain = "cycle count format 2: 26 cycles, commit 3"
	}, {
		P(CYCLES_F3, .flags = ITRACE_PKT_CYCLES, .cycles = 1),
		.opencsd = "I_CCNT_F3 : Cycle Count format 3.; Count=0x1", .plain = "cycle count format 3: 1 cycle"
	}, {
		P(SYNC_NUMBERED, .number = 7), &etmv4_config,
		.opencsd = "I_NUM_DS_MKR : Data Synchronisation Marker - Numbered.",
		.plain = "numbered data sync marker: 7"
	}, {
		P(SYNC_UNNUMBERED, .number = 4), &etmv4_config,
		.opencsd = "I_UNNUM_DS_MKR : Data Synchronisation Marker - Unnumbered.",
		.plain = "unnumbered data sync marker: 4"
	},
	{ P(COMMIT, .number = 133), .opencsd = "I_COMMIT : Commit; Commit(133)", .plain = "commit: 133" },
	{
		P(CANCEL_F1, .number = 4),
		.opencsd = "I_CANCEL_F1 : Cancel Format 1.; Cancel(4)",
		.plain = "cancel format 1: 4"
	},
	{
		P(CANCEL_F1_MISPREDICT, .number = 4),
		.opencsd = "I_CANCEL_F1_MISPRED : Cancel Format 1 + Mispredict.; Cancel(4), Mispredict",
		.plain = "cancel format 1 with mispredict: 4"
	}, {
		P(MISPREDICT, .atom_count = 0),
		.opencsd = "I_MISPREDICT : Mispredict.; Mispredict", .plain = "mispredict: mispredict"
	}, {
		P(MISPREDICT, .atoms = 0, .atom_count = 1),
		.opencsd = "I_MISPREDICT : Mispredict.; Atom: N, Mispredict", .plain = "mispredict: N, mispredict"
	}, {
		P(CANCEL_F2, .atom_count = 0, .number = 1),
		.opencsd = "I_CANCEL_F2 : Cancel Format 2.; Cancel(1), Mispredict",
		.plain = "cancel format 2: cancel 1, mispredict"
	}, {
		P(CANCEL_F2, .atoms = 3, .atom_count = 2, .number = 1),
		.opencsd = "I_CANCEL_F2 : Cancel Format 2.; Atom: EE, Cancel(1), Mispredict",
		.plain = "cancel format 2: EE, cancel 1, mispredict"
	}, {
		P(CANCEL_F3, .atoms = 1, .atom_count = 1, .number = 5),
		.opencsd = "I_CANCEL_F3 : Cancel Format 3.; Atom: E, Cancel(5), Mispredict",
		.plain = "cancel format 3: E, cancel 5, mispredict"
	},
	{ P(COND_FLUSH), .opencsd = "I_COND_FLUSH : Conditional Flush.", .plain = "conditional flush" },
	{
		P(COND_INSTR_F1), .opencsd = "I_COND_I_F1 : Conditional Instruction, format 1.",
		.plain = "conditional instruction format 1"
	}, {
		P(COND_INSTR_F2), .opencsd = "I_COND_I_F2 : Conditional Instruction, format 2.",
		.plain = "conditional instruction format 2"
	}, {
		P(COND_INSTR_F3), .opencsd = "I_COND_I_F3 : Conditional Instruction, format 3.",
		.plain = "conditional instruction format 3"
	}, {
		P(COND_RESULT_F1), .opencsd = "I_COND_RES_F1 : Conditional Result, format 1.",
		.plain = "conditional result format 1"
	}, {
		P(COND_RESULT_F2), .opencsd = "I_COND_RES_F2 : Conditional Result, format 2.",
		.plain = "conditional result format 2"
	}, {
		P(COND_RESULT_F3), .opencsd = "I_COND_RES_F3 : Conditional Result, format 3.",
		.plain = "conditional result format 3"
	}, {
		P(COND_RESULT_F4), .opencsd = "I_COND_RES_F4 : Conditional Result, format 4.",
		.plain = "conditional result format 4"
	},
	{ P(IGNORE), .opencsd = "I_IGNORE : Ignore.", .plain = "ignore" },
	{ P(EVENT, .info = 9), .opencsd = "I_EVENT : Trace Event.", .plain = "event: mask 0x9" },
	{
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT_SAME),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: Same", .plain = "context: same"
	}, {
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0x30),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch64,EL0, NS; ",
		.plain = "context: AArch64 EL0 non-secure"
	}, {
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0x00),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch32, EL0, S; ", .plain = "context: AArch32 EL0 secure"
	}, {
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0x39),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch64,EL1, Realm; ", .plain = "context: AArch64 EL1 realm"
	}, {
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0x1b),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch64,EL3, Root; ", .plain = "context: AArch64 EL3 root"
	}, {
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0xf2, .vmid = 7, .cid = 0x2a01),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, NS; CID=0x00002a01; VMID=0x0007; ",
		.plain = "context: AArch64 EL2 non-secure, VMID 0x7, context ID 0x2a01"
	}, {
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0xf2, .vmid = 0xffffffff, .cid = 0xffffffff),
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, NS; CID=0xffffffff; VMID=0xffffffff; ",
		.plain = "context: AArch64 EL2 non-secure, VMID 0xffffffff, context ID 0xffffffff"
	}, {	/* this trace unit has no IDs */
		P(CONTEXT, .flags = ITRACE_PKT_CONTEXT, .info = 0xf2, .vmid = 0xffffffff, .cid = 0xffffffff),
		&etmv4_config,
		.opencsd = "I_CTXT : Context Packet.; Ctxt: AArch64,EL2, NS; ",
		.plain = "context: AArch64 EL2 non-secure"
	}, {
		P(ADDR_CONTEXT_32_IS0, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_CONTEXT, .addr = 0xc1484, .addr_bits = 32,
			.info = 0x11),
		.opencsd = "I_ADDR_CTXT_L_32IS0 : Address & Context, Long, 32 bit, IS0.; Addr=0x00000000000C1484; "
			"Ctxt: AArch64,EL1, S; ",
		.plain = "address 32-bit IS0 with context: 0xc1484, AArch64 EL1 secure"
	}, {
		P(ADDR_CONTEXT_32_IS1, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_CONTEXT, .addr = 0x1002, .addr_bits = 32,
			.info = 0x20),
		.opencsd = "I_ADDR_CTXT_L_32IS1 : Address & Context, Long, 32 bit, IS0.; Addr=0x0000000000001002; "
			"Ctxt: AArch32, EL0, NS; ",
		.plain = "address 32-bit IS1 with context: 0x1002, AArch32 EL0 non-secure"
	}, {
		P(ADDR_CONTEXT_64_IS0, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_CONTEXT, .addr = 0xffffff8000014610,
			.addr_bits = 64, .info = 0xf1, .vmid = 7, .cid = 0x2a01),
		.opencsd = "I_ADDR_CTXT_L_64IS0 : Address & Context, Long, 64 bit, IS0.; Addr=0xFFFFFF8000014610; "
			"Ctxt: AArch64,EL1, NS; CID=0x00002a01; VMID=0x0007; ",
		.plain = "address 64-bit IS0 with context: 0xffffff8000014610, AArch64 EL1 non-secure, VMID 0x7, "
			"context ID 0x2a01"
	}, {
		P(ADDR_CONTEXT_64_IS1, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_CONTEXT, .addr = 2, .addr_bits = 64,
			.info = 0x01),
		.opencsd = "I_ADDR_CTXT_L_64IS1 : Address & Context, Long, 64 bit, IS1.; Addr=0x0000000000000002; "
			"Ctxt: AArch32, EL1, S; ",
		.plain = "address 64-bit IS1 with context: 0x2, AArch32 EL1 secure"
	},
	{ P(MARKER), .opencsd = "I_TS_MARKER : Timestamp Marker", .plain = "timestamp marker" },
	{
		P(ADDR_MATCH, .flags = ITRACE_PKT_ADDR, .addr = 0xc3d28, .addr_bits = 0, .info = 1),
		.opencsd = "I_ADDR_MATCH : Exact Address Match., [1]; Addr=0x00000000000C3D28; ",
		.plain = "address exact match: entry 1, 0xc3d28"
	}, {
		P(ADDR_SHORT_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0x69ec0, .addr_bits = 17),
		.opencsd = "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000069EC0 ~[0x9EC0]",
		.plain = "address short IS0: 0x69ec0"
	}, {
		P(ADDR_SHORT_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0x63e00, .addr_bits = 9),
		.opencsd = "I_ADDR_S_IS0 : Address, Short, IS0.; Addr=0x0000000000063E00 ~[0x0]",
		.plain = "address short IS0: 0x63e00"
	}, {
		P(ADDR_SHORT_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0x1234567890abcdee, .addr_bits = 8),
		.opencsd = "I_ADDR_S_IS1 : Address, Short, IS1.; Addr=0x1234567890ABCDEE ~[0xEE]",
		.plain = "address short IS1: 0x1234567890abcdee"
	}, {
		P(ADDR_SHORT_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0x1234567890abcdee, .addr_bits = 16),
		.opencsd = "I_ADDR_S_IS1 : Address, Short, IS1.; Addr=0x1234567890ABCDEE ~[0xCDEE]",
		.plain = "address short IS1: 0x1234567890abcdee"
	}, {
		P(ADDR_32_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0x69538, .addr_bits = 32),
		.opencsd = "I_ADDR_L_32IS0 : Address, Long, 32 bit, IS0.; Addr=0x0000000000069538; ",
		.plain = "address 32-bit IS0: 0x69538"
	}, {
		P(ADDR_32_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0x69538, .addr_bits = 32),
		.opencsd = "I_ADDR_L_32IS1 : Address, Long, 32 bit, IS1.; Addr=0x0000000000069538; ",
		.plain = "address 32-bit IS1: 0x69538"
	}, {
		P(ADDR_64_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0xa500000040100a48, .addr_bits = 64),
		.opencsd = "I_ADDR_L_64IS0 : Address, Long, 64 bit, IS0.; Addr=0xA500000040100A48; ",
		.plain = "address 64-bit IS0: 0xa500000040100a48"
	}, {
		P(ADDR_64_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0, .addr_bits = 64),
		.opencsd = "I_ADDR_L_64IS1 : Address, Long, 64 bit, IS1.; Addr=0x0000000000000000; ",
		.plain = "address 64-bit IS1: 0x0"
	}, {
		P(Q, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_COUNT, .addr = 0x67ed0, .addr_bits = 32, .number = 3),
		.opencsd = "I_Q : Q Packet.; Count(3); Addr=0x0000000000067ED0 ~[0x67ED0]",
		.plain = "Q: 3 instructions, 0x67ed0"
	}, {
		P(Q, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_COUNT, .addr = 0x63818, .addr_bits = 17, .number = 1),
		.opencsd = "I_Q : Q Packet.; Count(1); Addr=0x0000000000063818 ~[0x3818]",
		.plain = "Q: 1 instruction, 0x63818"
	}, {
		P(Q, .flags = ITRACE_PKT_ADDR | ITRACE_PKT_COUNT, .addr = 0x63818, .addr_bits = 0, .info = 2,
			.number = 1),
		.opencsd = "I_Q : Q Packet.; Count(1); [2]; Addr=0x0000000000063818",
		.plain = "Q: 1 instruction, entry 2, 0x63818"
	}, {
		P(Q, .flags = ITRACE_PKT_ADDR_FOLLOWS | ITRACE_PKT_COUNT, .number = 300),
		.opencsd = "I_Q : Q Packet.; Count(300)", .plain = "Q: 300 instructions, address follows"
	}, {
		P(Q, .flags = ITRACE_PKT_ADDR_FOLLOWS),
		.opencsd = "I_Q : Q Packet.; Count(Unknown)", .plain = "Q: count unknown, address follows"
	}, {
		P(SOURCE_MATCH, .flags = ITRACE_PKT_ADDR, .addr = 0x10, .addr_bits = 0, .info = 2),
		.opencsd = "I_SRC_ADDR_MATCH : Exact Source Address Match., [2]; Addr=0x0000000000000010; ",
		.plain = "source address exact match: entry 2, 0x10"
	}, {
		P(SOURCE_SHORT_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0x1b120, .addr_bits = 9),
		.opencsd = "I_SRC_ADDR_S_IS0 : Source Address, Short, IS0.; Addr=0x000000000001B120 ~[0x120]",
		.plain = "source address short IS0: 0x1b120"
	}, {
		P(SOURCE_SHORT_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0x1a86f8, .addr_bits = 8),
		.opencsd = "I_SRC_ADDR_S_IS1 : Source Address, Short, IS1.; Addr=0x00000000001A86F8 ~[0xF8]",
		.plain = "source address short IS1: 0x1a86f8"
	}, {
		P(SOURCE_32_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0x606c4, .addr_bits = 32),
		.opencsd = "I_SCR_ADDR_L_32IS0 : Source Address, Long, 32 bit, IS0.; Addr=0x00000000000606C4; ",
		.plain = "source address 32-bit IS0: 0x606c4"
	}, {
		P(SOURCE_32_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0x606c4, .addr_bits = 32),
		.opencsd = "I_SRC_ADDR_L_32IS1 : Source Address, Long, 32 bit, IS1.; Addr=0x00000000000606C4; ",
		.plain = "source address 32-bit IS1: 0x606c4"
	}, {
		P(SOURCE_64_IS0, .flags = ITRACE_PKT_ADDR, .addr = 0x606c4, .addr_bits = 64),
		.opencsd = "I_SRC_ADDR_L_64IS0 : Source Address, Long, 64 bit, IS0.; Addr=0x00000000000606C4; ",
		.plain = "source address 64-bit IS0: 0x606c4"
	}, {
		P(SOURCE_64_IS1, .flags = ITRACE_PKT_ADDR, .addr = 0x606c4, .addr_bits = 64),
		.opencsd = "I_SRC_ADDR_L_64IS1 : Source Address, Long, 64 bit, IS1.; Addr=0x00000000000606C4; ",
		.plain = "source address 64-bit IS1: 0x606c4"
	},
	{
		P(ATOM_F1, .atoms = 1, .atom_count = 1),
		.opencsd = "I_ATOM_F1 : Atom format 1.; E",
		.plain = "atom format 1: E"
	},
	{
		P(ATOM_F2, .atoms = 2, .atom_count = 2),
		.opencsd = "I_ATOM_F2 : Atom format 2.; NE",
		.plain = "atom format 2: NE"
	},
	{
		P(ATOM_F3, .atoms = 1, .atom_count = 3),
		.opencsd = "I_ATOM_F3 : Atom format 3.; ENN",
		.plain = "atom format 3: ENN"
	},
	{
		P(ATOM_F4, .atoms = 14, .atom_count = 4),
		.opencsd = "I_ATOM_F4 : Atom format 4.; NEEE", .plain = "atom format 4: NEEE"
	}, {
		P(ATOM_F5, .atoms = 10, .atom_count = 5),
		.opencsd = "I_ATOM_F5 : Atom format 5.; NENEN", .plain = "atom format 5: NENEN"
	}, {
		P(ATOM_F6, .atoms = 0x7fffff, .atom_count = 24),
		.opencsd = "I_ATOM_F6 : Atom format 6.; EEEEEEEEEEEEEEEEEEEEEEEN",
		.plain = "atom format 6: EEEEEEEEEEEEEEEEEEEEEEEN"
	}
};

static const uint8_t a5[] = { 0xa5 };

static void test_packets(void **state)
{
	bool seen[ITRACE_PACKET_NUM] = { false };

	for (size_t i = 0; i < ARRAY_NUM(packet_rows); i++) {
		const struct packet_row *row = &packet_rows[i];
		struct itrace_ete_packet packet = row->packet;
		struct thing thing = { .config = row->config ? row->config : &ete_config, .packet = &packet };
		char text[ITRACE_TEXT_MAX], hex[32] = "";

		seen[packet.kind] = true;
		if (!packet.bytes) {
			packet.bytes = a5;
			packet.len = 1;
		}
		packet.off = i * 1237;
		thing.function = PACKET_OPENCSD;
		thing.trace_id = i % 0x70;
		snprintf(text, sizeof(text), "Idx:%zu; ID:%x;\t%s", i * 1237, thing.trace_id, row->opencsd);
		check(&thing, text);

		thing.function = PACKET;
		for (unsigned int k = 0; k < packet.len; k++)
			snprintf(hex + 3 * k, sizeof(hex) - 3 * k, "%02x ", packet.bytes[k]);
		snprintf(text, sizeof(text), "%8zu  %-18s %s", i * 1237, hex, row->plain);
		check(&thing, text);
	}
	for (unsigned int kind = 0; kind < ITRACE_PACKET_NUM; kind++)
		if (!seen[kind] && kind != ITRACE_PACKET_EXTENSION)
			fail_msg("no line for %s", itrace_packet_name(kind));
}

/* Offsets and IDs of every length; the longest packet in bytes. */
static void test_numbers(void **state)
{
	struct itrace_ete_packet packet = P(TRACE_ON, .bytes = a5, .len = 1);
	struct thing thing = { .config = &ete_config, .packet = &packet };
	char text[ITRACE_TEXT_MAX];
	uint8_t bytes[ITRACE_PACKET_LEN_MAX];

	for (uint64_t off = 1; ; off *= 10) {
		for (int step = -1; step <= 1; step++) {
			packet.off = off + step;
			thing.trace_id = (unsigned int)off % 0x80;
			thing.function = PACKET_OPENCSD;
			snprintf(text, sizeof(text), "Idx:%llu; ID:%x;\tI_TRACE_ON : Trace On.",
				(unsigned long long)packet.off, thing.trace_id);
			check(&thing, text);
			thing.function = PACKET;
			snprintf(text, sizeof(text), "%8llu  a5                 trace on",
				(unsigned long long)packet.off);
			check(&thing, text);
		}
		if (off > UINT64_MAX / 10)
			break;
	}
	packet.off = UINT64_MAX;
	thing.function = PACKET_OPENCSD;
	thing.trace_id = 0;
	check(&thing, "Idx:18446744073709551615; ID:0;\tI_TRACE_ON : Trace On.");

	packet.off = 5;
	packet.len = ITRACE_PACKET_LEN_MAX;
	packet.bytes = bytes;
	size_t len = (size_t)snprintf(text, sizeof(text), "       5  ");
	for (unsigned int i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(i * 29);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%02x ", bytes[i]);
	}
	snprintf(text + len, sizeof(text) - len, " trace on");
	thing.function = PACKET;
	check(&thing, text);
}

/* Events */

#define TAG(k, f, c)		{ .kind = ITRACE_EVENT_##k, .flags = f, .cause = c }
#define RANGE(i, b, f, s)	{ .kind = ITRACE_EVENT_RANGE, .flags = f, .branch = b, .isa = i, .last_size = s }

struct event_row {
	uint64_t addr;
	uint64_t end;
	uint32_t count;		/* or number */
	struct {
		uint8_t kind, flags, cause, branch, isa, last_size;
		bool m_profile;
	} tag;
	const char *opencsd;	/* behind "Idx:N; ID:N; OCSD_GEN_TRC_ELEM_" */
	const char *plain;
};

#define E	ITRACE_EVENT_EXECUTED

static const struct event_row event_rows[] = {
	{
		0x1000, 0x1008, 2, RANGE(ITRACE_ISA_A64, ITRACE_INSN_DIRECT, ITRACE_INSN_COND, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) N BR   <cond>)",
		"range 0x1000 .. 0x1008: 2 A64, conditional branch not taken"
	}, {
		0x1000, 0x1008, 2, RANGE(ITRACE_ISA_A64, ITRACE_INSN_DIRECT, ITRACE_INSN_COND | E, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) E BR   <cond>)",
		"range 0x1000 .. 0x1008: 2 A64, conditional branch taken"
	}, {
		0xffffffc000109ea4, 0xffffffc000109ea8, 1,
		RANGE(ITRACE_ISA_A64, ITRACE_INSN_DIRECT, ITRACE_INSN_LINK | E, 4),
		"INSTR_RANGE(exec range=0xffffffc000109ea4:[0xffffffc000109ea8] "
			"num_i(1) last_sz(4) (ISA=A64) E BR  b+link )",
		"range 0xffffffc000109ea4 .. 0xffffffc000109ea8: 1 A64, call taken"
	}, {
		0x0, 0x4, 1, RANGE(ITRACE_ISA_A64, ITRACE_INSN_DIRECT, E, 4),
		"INSTR_RANGE(exec range=0x0:[0x4] num_i(1) last_sz(4) (ISA=A64) E BR  )",
		"range 0x0 .. 0x4: 1 A64, branch taken"
	}, {
		0x10, 0x1000, 1020, RANGE(ITRACE_ISA_A64, ITRACE_INSN_INDIRECT, ITRACE_INSN_RETURN | E, 4),
		"INSTR_RANGE(exec range=0x10:[0x1000] num_i(1020) last_sz(4) (ISA=A64) E iBR A64:ret )",
		"range 0x10 .. 0x1000: 1020 A64, return taken"
	}, {
		0x10, 0x14, 1, RANGE(ITRACE_ISA_A64, ITRACE_INSN_INDIRECT, ITRACE_INSN_ERET | E, 4),
		"INSTR_RANGE(exec range=0x10:[0x14] num_i(1) last_sz(4) (ISA=A64) E iBR A64:eret )",
		"range 0x10 .. 0x14: 1 A64, exception return taken"
	}, {
		0x10, 0x14, 1, RANGE(ITRACE_ISA_A64, ITRACE_INSN_INDIRECT, E, 4),
		"INSTR_RANGE(exec range=0x10:[0x14] num_i(1) last_sz(4) (ISA=A64) E iBR )",
		"range 0x10 .. 0x14: 1 A64, indirect branch taken"
	}, {
		0x10, 0x14, 1, RANGE(ITRACE_ISA_A64, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK | E, 4),
		"INSTR_RANGE(exec range=0x10:[0x14] num_i(1) last_sz(4) (ISA=A64) E iBR b+link )",
		"range 0x10 .. 0x14: 1 A64, indirect call taken"
	}, {
		0x10, 0x14, 1, RANGE(ITRACE_ISA_A32, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN | E, 4),
		"INSTR_RANGE(exec range=0x10:[0x14] num_i(1) last_sz(4) (ISA=A32) E iBR V7:impl ret)",
		"range 0x10 .. 0x14: 1 A32, return taken"
	}, {
		0x1000, 0x1008, 4,
		RANGE(ITRACE_ISA_T32, ITRACE_INSN_INDIRECT, ITRACE_INSN_IMPLIED_RETURN | ITRACE_INSN_COND, 2),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(4) last_sz(2) (ISA=T32) N iBR V7:impl ret <cond>)",
		"range 0x1000 .. 0x1008: 4 T32, conditional return not taken"
	}, {
		0x1000, 0x1008, 4, RANGE(ITRACE_ISA_T32, ITRACE_INSN_INDIRECT, ITRACE_INSN_LINK | ITRACE_INSN_COND, 2),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(4) last_sz(2) (ISA=T32) N iBR b+link  <cond>)",
		"range 0x1000 .. 0x1008: 4 T32, conditional indirect call not taken"
	}, {
		0x1000, 0x1008, 3, RANGE(ITRACE_ISA_T32, ITRACE_INSN_OTHER, ITRACE_INSN_COND | E, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(3) last_sz(4) (ISA=T32) E ---  <cond>)",
		"range 0x1000 .. 0x1008: 3 T32, no branch"
	}, {
		0x1000, 0x1008, 2, RANGE(ITRACE_ISA_A64, ITRACE_INSN_OTHER, E, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) E --- )",
		"range 0x1000 .. 0x1008: 2 A64, no branch"
	}, {
		0x1000, 0x1008, 2, RANGE(ITRACE_ISA_A64, ITRACE_INSN_ISB, E, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) E ISB )",
		"range 0x1000 .. 0x1008: 2 A64, instruction barrier"
	}, {
		0x1000, 0x1008, 2, RANGE(ITRACE_ISA_A64, ITRACE_INSN_WFX, E, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) E WFI.WFE)",
		"range 0x1000 .. 0x1008: 2 A64, wait"
	}, {
		0x1000, 0x1008, 2, RANGE(ITRACE_ISA_A64, ITRACE_INSN_TSTART, E, 4),
		"INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) E TSTART)",
		"range 0x1000 .. 0x1008: 2 A64, transaction start"
	}, {
		UINT64_MAX, UINT64_MAX, UINT32_MAX, RANGE(ITRACE_ISA_A64, ITRACE_INSN_OTHER, 0, 255),
		"INSTR_RANGE(exec range=0xffffffffffffffff:[0xffffffffffffffff] "
			"num_i(4294967295) last_sz(255) (ISA=A64) N --- )",
		"range 0xffffffffffffffff .. 0xffffffffffffffff: 4294967295 A64, no branch"
	}, {
		0x1000, 0x67ed0, 3, TAG(RANGE_NO_PATH, 0, 0),
		"I_RANGE_NOPATH(first 0x1000:[next 0x67ed0] num_i(3) )", "range 0x1000 .. 0x67ed0: 3 by an unknown path"
	}, {
		0x1000, 0x67ed0, 0, TAG(RANGE_NO_PATH, 0, 0),
		"I_RANGE_NOPATH(first 0x1000:[next 0x67ed0] num_i(0) )", "range 0x1000 .. 0x67ed0: ? by an unknown path"
	},
	{ 0, 0, 0, TAG(TRACE_ON, 0, 0), "TRACE_ON( [begin or filter])", "trace on: begin or filter" },
	{ 0, 0, 0, TAG(TRACE_ON, 0, 1), "TRACE_ON( [overflow])", "trace on: after overflow" },
	{
		0x4300, 0, 0xf1, TAG(CONTEXT, 0, 0),
		"PE_CONTEXT((ISA=A64) EL1N; 64-bit; VMID=0x0; CTXTID=0x4300; )",
		"context: AArch64 EL1 non-secure, VMID 0x0, context ID 0x4300"
	}, {
		0, 0, 0x10, TAG(CONTEXT, 0, 0),
		"PE_CONTEXT((ISA=A64) EL0S; 64-bit; )", "context: AArch64 EL0 secure"
	}, {
		0, 0, 0x00, { .kind = ITRACE_EVENT_CONTEXT, .isa = ITRACE_ISA_A32 },
		"PE_CONTEXT((ISA=A32) EL0S; 32-bit; )", "context: AArch32 EL0 secure"
	}, {
		0x2a01, 0, 0xa0, { .kind = ITRACE_EVENT_CONTEXT, .isa = ITRACE_ISA_T32 },
		"PE_CONTEXT((ISA=T32) EL0N; 32-bit; CTXTID=0x2a01; )",
		"context: AArch32 EL0 non-secure, context ID 0x2a01"
	}, {
		0, 7, 0x7a, TAG(CONTEXT, 0, 0),
		"PE_CONTEXT((ISA=A64) EL2Realm; 64-bit; VMID=0x7; )", "context: AArch64 EL2 realm, VMID 0x7"
	}, {
		0, 0, 0x1b, TAG(CONTEXT, 0, 0),
		"PE_CONTEXT((ISA=A64) EL3Root; 64-bit; )", "context: AArch64 EL3 root"
	}, {
		0x1010, 0, 0xe, TAG(EXCEPTION, ITRACE_EVENT_HAS_ADDR, 0),
		"EXCEPTION(pref ret addr:0x1010; excep num (0x0e) )", "exception: IRQ (0xe), return address 0x1010"
	}, {
		0x1010, 0, 0xc, TAG(EXCEPTION, ITRACE_EVENT_HAS_ADDR | ITRACE_EVENT_MATCHES_TARGET, 0),
		"EXCEPTION(pref ret addr:0x1010 [addr also prev br tgt]; excep num (0x0c) )",
		"exception: Data Fault (0xc), return address 0x1010, which is the target before"
	}, {
		0x1010, 0, 0x208,
		{ .kind = ITRACE_EVENT_EXCEPTION, .flags = ITRACE_EVENT_FAULT_PENDING, .m_profile = true },
		"EXCEPTION(excep num (0x208) )", "exception: IRQ8 (0x208), fault pending"
	},
	{ 0, 0, 0, TAG(EXCEPTION, 0, 0), "EXCEPTION(excep num (0x00) )", "exception: PE Reset (0x0)" },
	{ 0, 0, 0, TAG(EXCEPTION_RETURN, 0, 0), "EXCEPTION_RET()", "exception return" },
	{ 0x6fd7, 0, 0, TAG(TIMESTAMP, 0, 0), "TIMESTAMP( [ TS=0x000000006fd7]; )", "timestamp: 0x6fd7" },
	{
		0x8123456789abcdef, 0, 31, TAG(TIMESTAMP, ITRACE_EVENT_HAS_CYCLES, 0),
		"TIMESTAMP( [ TS=0x8123456789abcdef];  [CC=31]; )", "timestamp: 0x8123456789abcdef, 31 cycles"
	},
	{ 0, 0, 27, TAG(CYCLES, 0, 0), "CYCLE_COUNT( [CC=27]; )", "cycle count: 27 cycles" },
	{ 0, 0, 5, TAG(CYCLES, ITRACE_EVENT_UNKNOWN, 0), "CYCLE_COUNT( [CC=0]; )", "cycle count: unknown" },
	{ 0, 0, 0, TAG(MARKER, 0, 0), "SYNC_MARKER( [Timestamp marker(0x00000000)])", "timestamp marker" },
	{ 0, 0, 1, TAG(TRIGGER, 0, 0), "EVENT( Numbered:1; )", "event: mask 0x1" },
	{ 0, 0, 15, TAG(TRIGGER, 0, 0), "EVENT( Numbered:15; )", "event: mask 0xf" },
	{ 0, 0, 0, TAG(TRANSACTION, 0, 0), "MEMTRANS(Init)", "transaction: under way" },
	{ 0, 0, 0, TAG(TRANSACTION, 0, 1), "MEMTRANS(Start)", "transaction: start" },
	{ 0, 0, 0, TAG(TRANSACTION, 0, 2), "MEMTRANS(Commit)", "transaction: commit" },
	{ 0, 0, 0, TAG(TRANSACTION, 0, 3), "MEMTRANS(Fail)", "transaction: failure" },
	{
		0xfffff, 0, 1, TAG(INSTRUMENTATION, 0, 0),
		"INSTRUMENTATION(EL1; 0x00000000000fffff)", "instrumentation: EL1 0xfffff"
	},
	{ 0x2c4, 0, 0, TAG(SEAM, ITRACE_EVENT_HAS_ADDR, 0), NULL, "seam: the core stood at 0x2c4" },
	{ 0, 0, 0, TAG(SEAM, 0, 0), NULL, "seam" },
	{
		0x5000, 0x02, 4, TAG(GAP, ITRACE_EVENT_HAS_ADDR, ITRACE_GAP_NO_MEMORY),
		"ADDR_NACC( 0x5000; Memspace [0x2:EL1N] )", "gap: no-memory at 0x5000 (4 bytes wanted in space EL1N)"
	},
	{ 0, 0, 0, TAG(NO_SYNC, 0, 0), "NO_SYNC( [init-decoder])", "not synchronised: begin" },
	{ 0, 0, 0, TAG(NO_SYNC, 0, 1), "NO_SYNC( [reset-decoder])", "not synchronised: further input" },
	{ 0, 0, 0, TAG(NO_SYNC, 0, 2), "NO_SYNC( [overflow])", "not synchronised: overflow" },
	{ 0, 0, 0, TAG(NO_SYNC, 0, 3), "NO_SYNC( [discard])", "not synchronised: discard" },
	{ 0, 0, 0, TAG(NO_SYNC, 0, 4), "NO_SYNC( [bad-packet])", "not synchronised: error" },
	{ 0, 0, 0, TAG(END, 0, 0), "EO_TRACE( [end-of-trace])", "end of trace" },
	{ 0, 0, 0, TAG(END, 0, 1), "EO_TRACE( [overflow])", "end after overflow" },
	{ 0, 0, 0, TAG(GAP, 0, ITRACE_GAP_OVERFLOW), NULL, "gap: overflow" },
	{ 0x1000, 0, 0, TAG(GAP, ITRACE_EVENT_HAS_ADDR, ITRACE_GAP_BAD_IMAGE), NULL, "gap: bad-image at 0x1000" },
	{ 0, 0, 0x47, TAG(GAP, 0, ITRACE_GAP_BAD_PACKET), NULL, "gap: bad-packet 0x47" },
	/* MTB */
	{
		0x1000, 0x2000, 0x3000, TAG(GAP, ITRACE_EVENT_HAS_ADDR, ITRACE_GAP_TARGET_DIFFERS), NULL,
		"gap: target-differs at 0x1000: to 0x2000 by the trace, to 0x3000 by the program"
	}, {
		0x1000, 0x2000, 0x1002, TAG(GAP, ITRACE_EVENT_HAS_ADDR, ITRACE_GAP_NOT_A_BRANCH), NULL,
		"gap: not-a-branch at 0x1000: to 0x2000 by the trace, to 0x1002 by the program"
	}, {
		0x1000, 0x800, 0, TAG(GAP, ITRACE_EVENT_HAS_ADDR, ITRACE_GAP_NO_WAY), NULL,
		"gap: no-way at 0x1000: to 0x800 by the trace, nowhere by the program"
	},
	{
		0, 0, 0xfffffffd, TAG(EXCEPTION_RETURN, 0, 0), "EXCEPTION_RET()",
		"exception return, EXC_RETURN 0xfffffffd"
	},
};

static struct itrace_event make_event(const struct event_row *row, uint64_t off)
{
	struct itrace_event event = { .off = off, .addr = row->addr, .end = row->end, .count = row->count };

	if (row->tag.kind == ITRACE_EVENT_RANGE) {
		event.tag = itrace_event_range_tag(row->tag.isa, row->tag.branch, row->tag.flags, row->tag.last_size);
	} else {
		event.tag = itrace_event_tag(row->tag.kind, row->tag.flags, row->tag.cause);
		if (row->tag.kind == ITRACE_EVENT_CONTEXT)
			event.isa = row->tag.isa & 0xf;
	}
	return event;
}

static void test_events(void **state)
{
	bool seen[ITRACE_EVENT_NUM] = { false };

	for (size_t i = 0; i < ARRAY_NUM(event_rows); i++) {
		const struct event_row *row = &event_rows[i];
		struct itrace_event event = make_event(row, i * 997);
		struct thing thing = { .config = row->tag.m_profile ? &m_config : &ete_config, .event = &event };
		char text[ITRACE_TEXT_MAX];

		seen[event.kind] = true;
		thing.function = EVENT_OPENCSD;
		thing.trace_id = i;
		if (row->opencsd)
			snprintf(text, sizeof(text), "Idx:%zu; ID:%zx; OCSD_GEN_TRC_ELEM_%s", i * 997, i, row->opencsd);
		else
			text[0] = 0;
		check(&thing, text);

		thing.function = EVENT;
		snprintf(text, sizeof(text), "%8zu  %s", i * 997, row->plain);
		check(&thing, text);
	}
	for (unsigned int kind = 0; kind < ITRACE_EVENT_NUM; kind++)
		assert_true(seen[kind]);
}

static void test_spaces(void **state)
{
	static const struct { uint64_t space; const char *name; } rows[] = {
		{ 0x01, "0x1:EL1S" }, { 0x02, "0x2:EL1N" }, { 0x04, "0x4:EL2N" }, { 0x08, "0x8:EL3" },
		{ 0x10, "0x10:EL2S" },
		{ 0x20, "0x20:EL1R" }, { 0x40, "0x40:EL2R" }, { 0x80, "0x80:Root" }, { 0x19, "0x19:Any S" },
		{ 0x06, "0x6:Any NS" }, { 0x60, "0x60:Any R" }, { 0xff, "0xff:Any" }
	};

	for (size_t i = 0; i < ARRAY_NUM(rows); i++) {
		struct itrace_event event = { .addr = 0xffffffc000109ea4, .end = rows[i].space, .count = 4 };
		struct thing thing = { .function = EVENT_OPENCSD, .config = &ete_config, .event = &event };
		char text[ITRACE_TEXT_MAX];

		event.tag = itrace_event_tag(ITRACE_EVENT_GAP, ITRACE_EVENT_HAS_ADDR, ITRACE_GAP_NO_MEMORY);
		snprintf(text, sizeof(text),
			"Idx:0; ID:0; OCSD_GEN_TRC_ELEM_ADDR_NACC( 0xffffffc000109ea4; Memspace [%s] )", rows[i].name);
		check(&thing, text);
	}
}

/* Elements */

struct element_row {
	struct itrace_ete_element element;
	const char *text;
	bool m_profile;
};

#define EL(k, ...)	{ .kind = ITRACE_ELEMENT_##k, __VA_ARGS__ }

static const struct element_row element_rows[] = {
	{ EL(ATOMS, .number = 0xe, .atom_count = 4), .text = "atoms: NEEE" },
	{
		EL(EXCEPTION, .number = 0xe, .addr = 0x1010,
			.flags = ITRACE_ELEMENT_HAS_ADDR | ITRACE_ELEMENT_MATCHES_TARGET),
		.text = "exception: IRQ (0xe), return address 0x1010 IS0, which is the target before"
	}, {
		EL(EXCEPTION, .number = 0x208, .addr = 0x1010, .is = 1, .info = 0x21,
			.flags = ITRACE_ELEMENT_HAS_ADDR | ITRACE_ELEMENT_FAULT_PENDING | ITRACE_ELEMENT_HAS_CONTEXT),
		.text = "exception: IRQ8 (0x208), return address 0x1010 IS1, fault pending, AArch32 EL1 non-secure",
		.m_profile = true
	},
	{ EL(EXCEPTION, .number = 0), .text = "exception: PE Reset (0x0)" },
	{
		EL(Q, .number = 3, .addr = 0x67ed0, .flags = ITRACE_ELEMENT_HAS_ADDR | ITRACE_ELEMENT_HAS_COUNT),
		.text = "Q: 3 instructions, 0x67ed0 IS0"
	}, {
		EL(Q, .addr = 0x67ed0, .info = 0x31, .flags = ITRACE_ELEMENT_HAS_ADDR | ITRACE_ELEMENT_HAS_CONTEXT),
		.text = "Q: count unknown, 0x67ed0 IS0, AArch64 EL1 non-secure"
	},
	{ EL(SOURCE_ADDR, .addr = 0x1b120), .text = "source address: 0x1b120 IS0" },
	{ EL(TRANSACTION_START), .text = "transaction start" },
	{ EL(EXCEPTION_RETURN), .text = "exception return" },
	{ EL(FUNCTION_RETURN), .text = "function return" },
	{ EL(UNSEEN), .text = "unseen" },
	{ EL(ADDR, .addr = 0x1002, .is = 1), .text = "address: 0x1002 IS1" },
	{
		EL(CONTEXT, .info = 0xf1, .vmid = 7, .cid = 0x2a01),
		.text = "context: AArch64 EL1 non-secure, VMID 0x7, context ID 0x2a01"
	},
	{ EL(CONTEXT, .flags = ITRACE_ELEMENT_SAME), .text = "context: same" },
	{ EL(TRACE_ON), .text = "trace on" },
	{ EL(TRACE_INFO), .text = "trace info" },
	{ EL(EVENT, .number = 3), .text = "event: mask 0x3" },
	{ EL(TIMESTAMP, .addr = 0x6fd7), .text = "timestamp: 0x6fd7" },
	{
		EL(TIMESTAMP, .addr = 0x6fd7, .number = 2, .flags = ITRACE_ELEMENT_HAS_COUNT),
		.text = "timestamp: 0x6fd7, 2 cycles"
	},
	{ EL(CYCLES, .number = 1), .text = "cycle count: 1 cycle" },
	{ EL(CYCLES, .flags = ITRACE_ELEMENT_UNKNOWN), .text = "cycle count: unknown" },
	{ EL(MARKER), .text = "timestamp marker" },
	{ EL(INSTRUMENTATION, .addr = 0xfffff, .info = 1), .text = "instrumentation: EL1 0xfffff" },
	{ EL(TRANSACTION_COMMIT), .text = "transaction commit" },
	{ EL(TRANSACTION_FAIL), .text = "transaction failure" },
	{ EL(TRANSACTION_INIT), .text = "transaction at trace start" },
	{ EL(NO_SYNC, .info = ITRACE_NO_SYNC_DISCARD), .text = "not synchronised: discard" },
	{ EL(GAP, .info = ITRACE_GAP_BAD_SEQUENCE), .text = "gap: bad-sequence" },
	{ EL(END), .text = "end" }
};

static void test_elements(void **state)
{
	bool seen[ITRACE_ELEMENT_NUM] = { false };

	for (size_t i = 0; i < ARRAY_NUM(element_rows); i++) {
		struct itrace_ete_element element = element_rows[i].element;
		struct thing thing = {
			.function = ELEMENT,
			.config = element_rows[i].m_profile ? &m_config : &ete_config,
			.element = &element
		};
		char text[ITRACE_TEXT_MAX];

		seen[element.kind] = true;
		element.off = i;
		snprintf(text, sizeof(text), "%8zu  %s", i, element_rows[i].text);
		check(&thing, text);
	}
	for (unsigned int kind = 0; kind < ITRACE_ELEMENT_NUM; kind++)
		assert_true(seen[kind]);
}

/* Whatever the fields hold: never more than the buffer. */
static void test_wild(void **state)
{
	static const uint8_t bytes[UINT8_MAX];
	uint32_t random = 1;

	for (unsigned int round = 0; round < 20000; round++) {
		union {
			struct itrace_ete_packet packet;
			struct itrace_ete_element element;
			struct itrace_event event;
			uint8_t raw[256];
		} thing;
		char buf[ITRACE_TEXT_MAX];
		const size_t size = round % 3 ? sizeof(buf) : random % sizeof(buf) + 1;
		const struct itrace_ete_config *config = round & 8 ? &ete_config : &m_config;
		size_t len = 0;

		for (size_t i = 0; i < sizeof(thing.raw); i++) {
			random = random * 1664525 + 1013904223;
			thing.raw[i] = round & 1 ? (uint8_t)(random >> 24) : 0xff;
		}
		switch (round % 5) {
		case 0:
			thing.packet.kind = (uint8_t)(round / 5 % (ITRACE_PACKET_NUM + 1));
			thing.packet.bytes = bytes;
			len = itrace_text_packet_opencsd(config, random, &thing.packet, buf, size);
			break;
		case 1:
			thing.packet.kind = (uint8_t)(round / 5 % (ITRACE_PACKET_NUM + 1));
			thing.packet.bytes = bytes;
			len = itrace_text_packet(config, &thing.packet, buf, size);
			break;
		case 2:
			thing.element.kind = (uint8_t)(round / 5 % (ITRACE_ELEMENT_NUM + 1));
			len = itrace_text_element(&thing.element, round & 8, buf, size);
			break;
		case 3:
			thing.event.kind = (uint8_t)(round / 5 % (ITRACE_EVENT_NUM + 1));
			len = itrace_text_event_opencsd(random, &thing.event, buf, size);
			break;
		default:
			thing.event.kind = (uint8_t)(round / 5 % (ITRACE_EVENT_NUM + 1));
			len = itrace_text_event(&thing.event, round & 8, buf, size);
			break;
		}
		assert_true(len < size);
		assert_int_equal(strlen(buf), len);
	}
}

static void test_names(void **state)
{
	for (unsigned int a = 0; a < ITRACE_PACKET_NUM; a++) {
		assert_int_equal(strncmp(itrace_packet_opencsd_name(a), "I_", 2), 0);
		for (unsigned int b = 0; b < a; b++) {
			assert_string_not_equal(itrace_packet_opencsd_name(a), itrace_packet_opencsd_name(b));
			assert_string_not_equal(itrace_packet_name(a), itrace_packet_name(b));
		}
	}
	for (unsigned int a = 0; a < ITRACE_ELEMENT_NUM; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(itrace_element_name(a), itrace_element_name(b));
	for (unsigned int a = 0; a < ITRACE_GAP_NUM; a++) {
		assert_true(strlen(itrace_gap_remedy(a)) > 10);
		for (unsigned int b = 0; b < a; b++) {
			assert_string_not_equal(itrace_gap_name(a), itrace_gap_name(b));
			assert_string_not_equal(itrace_gap_remedy(a), itrace_gap_remedy(b));
		}
	}
	assert_string_equal(itrace_packet_opencsd_name(ITRACE_PACKET_NUM), "I_UNKNOWN");
	assert_string_equal(itrace_packet_name(ITRACE_PACKET_NUM), "unknown");
	assert_string_equal(itrace_element_name(ITRACE_ELEMENT_NUM), "unknown");
	assert_string_equal(itrace_gap_name(ITRACE_GAP_NUM), "unknown");
	assert_non_null(itrace_gap_remedy(ITRACE_GAP_NUM));

	for (unsigned int type = 0; type < 0x400; type++) {
		assert_non_null(itrace_exception_name(false, type));
		assert_non_null(itrace_exception_name(true, type));
		if (type >= 0x10)
			assert_string_equal(itrace_exception_name(false, type), "Reserved");
		if (type >= 0x20)
			assert_string_equal(itrace_exception_name(true, type),
				type >= 0x208 && type <= 0x3ef ? "IRQ" : "Reserved");
	}
	assert_string_equal(itrace_exception_name(false, 4), "System Error");
	assert_string_equal(itrace_exception_name(true, 0x0f), "SysTick");
	assert_string_equal(itrace_exception_name(true, 0x17), "IRQ7");
	assert_string_equal(itrace_exception_name(true, 0x19), "LazyFP Push");
	assert_string_equal(itrace_exception_name(true, 0x1b), "Reserved");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_spaces),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_wild),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
