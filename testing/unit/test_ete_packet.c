// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Literal bytes to packets, in seven configurations. The bytes and what they mean are from the protocol's description;
 * numbers in comments are the rows of its worked examples.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/ete_packet.h>

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))

/* Configurations */

#define ETE10	0x01u	/* ETE 1.0; no Q; no commit in cycle counts; VMID 4, context ID 4; cycle counter 12 bits */
#define ETE13	0x02u	/* ETE 1.3; Q; commit in cycle counts, depth 20; VMID 2, context ID 4; cycle counter 20 bits */
#define V40A	0x04u	/* ETMv4.0 A; COMMOPT without TRCCCI; VMID 1, context ID 4 */
#define V44M	0x08u	/* ETMv4.4 v8-M; commit in cycle counts, depth 2; no IDs */
#define V42C	0x10u	/* ETMv4.2 A; conditional, data trace; commit in cycle counts, depth 0; VMID 4, context ID 4 */
#define V46A	0x20u	/* ETMv4.6 A; Q; no commit in cycle counts; VMID 1, no context ID */
#define V42M	0x40u	/* ETMv4.2 v7-M; no commit in cycle counts; no VMID, context ID 4 */
#define CONFIG_NUM 7
#define ALL	0x7fu
#define ETE	(ETE10 | ETE13)
#define NO_COMMIT (ETE10 | V46A | V42M)
#define WITH_Q	(ETE13 | V46A)

#define QSUPP	(3u << 15)
#define COMMOPT	(1u << 29)
#define TRCCCI	(1u << 7)

static const struct {
	const char *name;
	uint8_t protocol, profile, arch;
	uint32_t trcdevarch, trcidr0, trcidr1, trcidr2, trcidr8;
} config_rows[CONFIG_NUM] = {
	{ "ETE 1.0", ITRACE_PROTOCOL_ETE, ITRACE_PROFILE_A, ITRACE_ARCH_V9,
		0x47705a13, COMMOPT | TRCCCI, 0x4100fff0, 0x00001088, 0 },
	{ "ETE 1.3", ITRACE_PROTOCOL_ETE, ITRACE_PROFILE_A, ITRACE_ARCH_V9,
		0x47735a13, QSUPP | TRCCCI, 0x4100fff0, 0x10000888, 20 },
	{ "ETMv4.0 A", ITRACE_PROTOCOL_ETMV4, ITRACE_PROFILE_A, ITRACE_ARCH_V8,
		0, COMMOPT, 0x4100f400, 0x00000488, 30 },
	{ "ETMv4.4 v8-M", ITRACE_PROTOCOL_ETMV4, ITRACE_PROFILE_M, ITRACE_ARCH_V8,
		0, TRCCCI, 0x4100f440, 0x00000008, 2 },
	{ "ETMv4.2 with conditional and data trace", ITRACE_PROTOCOL_ETMV4, ITRACE_PROFILE_A, ITRACE_ARCH_V8,
		0, TRCCCI, 0x4100f420, 0x00001088, 0 },
	{ "ETMv4.6 A", ITRACE_PROTOCOL_ETMV4, ITRACE_PROFILE_A, ITRACE_ARCH_V9,
		0, QSUPP | COMMOPT | TRCCCI, 0x4100f460, 0x00000408, 0 },
	{ "ETMv4.2 v7-M", ITRACE_PROTOCOL_ETMV4, ITRACE_PROFILE_M, ITRACE_ARCH_V7,
		0, COMMOPT | TRCCCI, 0x4100f420, 0x00000088, 0 }
};

static struct itrace_ete_config configs[CONFIG_NUM];

static int setup(void **state)
{
	for (unsigned int i = 0; i < CONFIG_NUM; i++) {
		struct itrace_ete_registers regs;

		itrace_ete_registers_default(config_rows[i].protocol, &regs);
		regs.trcdevarch = config_rows[i].trcdevarch;
		regs.trcidr0 = config_rows[i].trcidr0;
		regs.trcidr1 = config_rows[i].trcidr1;
		regs.trcidr2 = config_rows[i].trcidr2;
		regs.trcidr8 = config_rows[i].trcidr8;
		assert_int_equal(itrace_ete_config_init(&configs[i], config_rows[i].protocol, config_rows[i].profile,
				config_rows[i].arch, &regs, NULL), ITRACE_OK);
		if (1u << i == V42C) {	/* refused above the packets, so not by the registers */
			configs[i].conditional = true;
			configs[i].data_trace = true;
		}
	}
	return 0;
}

/* The table */

struct row {
	unsigned int configs;
	const char *bytes;
	size_t len;
	struct itrace_ete_packet packet;	/* of it the fields that the kind has */
	int result;				/* 0: the length */
};

#define ROW(config, literal, k, ...) \
	{ \
		.configs = config, .bytes = literal, .len = sizeof(literal) - 1, \
		.packet = { .kind = ITRACE_PACKET_##k, __VA_ARGS__ } \
	}
#define BAD(config, literal, k) \
	{ \
		.configs = config, .bytes = literal, .len = sizeof(literal) - 1, .result = ITRACE_BAD_SEQUENCE, \
		.packet = { .kind = ITRACE_PACKET_BAD_SEQUENCE, .intended = ITRACE_PACKET_##k } \
	}

/* fields in groups */
#define ATOMS(count, bits)	.flags = 0, .atom_count = count, .atoms = bits
#define ADDR(bits, is_bit, value) .flags = ITRACE_PKT_ADDR, .addr_bits = bits, .is = is_bit, .addr = value
#define MATCH(entry)		.flags = ITRACE_PKT_ADDR, .addr_bits = 0, .addr = entry, .info = entry
#define ADDR_CONTEXT(bits, is_bit, value, context) \
	.flags = ITRACE_PKT_ADDR | ITRACE_PKT_CONTEXT, .addr_bits = bits, .is = is_bit, .addr = value, .info = context
#define CONTEXT(context)	.flags = ITRACE_PKT_CONTEXT, .info = context
#define TIME(bits, value)	.flags = 0, .addr_bits = bits, .addr = value
#define TIME_CYCLES(bits, value, count) \
	.flags = ITRACE_PKT_CYCLES, .addr_bits = bits, .addr = value, .cycles = count
#define CYCLES(count)		.flags = ITRACE_PKT_CYCLES, .cycles = count
#define CYCLES_COMMIT(count, n)	.flags = ITRACE_PKT_CYCLES | ITRACE_PKT_COMMIT, .cycles = count, .number = n
#define UNKNOWN			.flags = ITRACE_PKT_CYCLES_UNKNOWN
#define UNKNOWN_COMMIT(n)	.flags = ITRACE_PKT_CYCLES_UNKNOWN | ITRACE_PKT_COMMIT, .number = n
#define COMMITS(n)		.flags = ITRACE_PKT_COMMIT, .number = n
#define CANCELS(n)		.flags = ITRACE_PKT_CANCEL, .number = n, .atom_count = 0
#define MISPREDICTS(count, bits) .flags = ITRACE_PKT_MISPREDICT, .atom_count = count, .atoms = bits
#define CANCELS_MISPREDICTS(n, count, bits) \
	.flags = ITRACE_PKT_CANCEL | ITRACE_PKT_MISPREDICT, .number = n, .atom_count = count, .atoms = bits
#define EXCEPTS(type)		.flags = ITRACE_PKT_ADDR_FOLLOWS, .number = type
#define EXCEPTS_AT_TARGET(type)	.flags = ITRACE_PKT_ADDR_FOLLOWS | ITRACE_PKT_MATCHES_TARGET, .number = type
#define EXCEPTS_PENDING(type)	.flags = ITRACE_PKT_ADDR_FOLLOWS | ITRACE_PKT_FAULT_PENDING, .number = type
#define INFO(value, threshold)	.flags = 0, .number = value, .info = (value) & 0xff, .cycles = threshold
#define INFO_SPEC(value, threshold, depth) \
	.flags = ITRACE_PKT_SPEC, .number = value, .info = (value) & 0xff, .cycles = threshold, .cid = depth
#define Q_ADDR(bits, is_bit, value, n) \
	.flags = ITRACE_PKT_ADDR | ITRACE_PKT_COUNT, .addr_bits = bits, .is = is_bit, .addr = value, .number = n
#define Q_MATCH(entry, n) \
	.flags = ITRACE_PKT_ADDR | ITRACE_PKT_COUNT, .addr_bits = 0, .addr = entry, .info = entry, .number = n
#define Q_COUNT(n)		.flags = ITRACE_PKT_COUNT | ITRACE_PKT_ADDR_FOLLOWS, .number = n
#define NOTHING			.flags = 0

#define ZERO10	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

static const struct row rows[] = {
	/* 00: extension */
	ROW(ALL, ZERO10 "\x00\x80", ASYNC, NOTHING),	/* 1 */
	ROW(ALL, "\x00\x03", DISCARD, NOTHING),		/* 42 */
	ROW(ALL, "\x00\x05", OVERFLOW, NOTHING),
	BAD(ALL, "\x00\x01", EXTENSION),
	BAD(ALL, "\x00\x04", EXTENSION),
	BAD(ALL, "\x00\x80", EXTENSION),
	BAD(ALL, "\x00\xff", EXTENSION),
	BAD(ALL, "\x00\x00\x80", ASYNC),
	BAD(ALL, "\x00\x00\x00\x12", ASYNC),
	BAD(ALL, ZERO10 "\x80", ASYNC),
	BAD(ALL, ZERO10 "\x00\x00", ASYNC),
	BAD(ALL, ZERO10 "\x00\x81", ASYNC),

	/* 01: trace info */
	ROW(ALL, "\x01\x00", TRACE_INFO, INFO(0, 0)),			/* 2 */
	ROW(ALL, "\x01\x01\x00", TRACE_INFO, INFO(0, 0)),		/* 3 */
	ROW(ALL, "\x01\x01\x10", TRACE_INFO, INFO(0x10, 0)),		/* 4 */
	ROW(ALL, "\x01\x09\x01\x16", TRACE_INFO, INFO(1, 0x16)),	/* 5 */
	ROW(ALL, "\x01\x01\x7f", TRACE_INFO, INFO(0x7f, 0)),
	ROW(ALL, "\x01\x01\x90\x06", TRACE_INFO, INFO(0x310, 0)),
	ROW(ALL, "\x01\x02\x2a", TRACE_INFO, INFO(0, 0)),
	ROW(ALL, "\x01\x04\x03", TRACE_INFO, INFO_SPEC(0, 0, 3)),
	ROW(ALL, "\x01\x04\x00", TRACE_INFO, INFO_SPEC(0, 0, 0)),
	ROW(ALL, "\x01\x04\x84\x01", TRACE_INFO, INFO_SPEC(0, 0, 132)),
	ROW(ALL, "\x01\x08\x16", TRACE_INFO, INFO(0, 0x16)),
	ROW(ALL, "\x01\x10\x33", TRACE_INFO, INFO(0, 0)),
	ROW(ALL, "\x01\x1f\x01\x02\x03\x04\x05", TRACE_INFO, INFO_SPEC(1, 4, 3)),
	ROW(ALL, "\x01\x1f\xff\xff\xff\xff\x0f\x80\x80\x80\x80\x01\x81\x80\x80\x80\x08"
			"\xff\xff\xff\xff\x0f\x80\x80\x80\x80\x02",
		TRACE_INFO, INFO_SPEC(0xffffffff, 0xffffffff, 0x80000001)),
	ROW(ALL, "\x01\x80\x00", TRACE_INFO, INFO(0, 0)),
	ROW(ALL, "\x01\x89\x00\x01\x16", TRACE_INFO, INFO(1, 0x16)),
	ROW(ALL, "\x01\x89\xff\x80\x7f\x01\x16", TRACE_INFO, INFO(1, 0x16)),
	ROW(ALL, "\x01\x60", TRACE_INFO, INFO(0, 0)),		/* reserved bits of PLCTL say nothing */

	/* 02, 03: timestamp; it updates 7 bits a byte, the ninth byte 8 */
	ROW(ALL, "\x02\x00", TIMESTAMP, TIME(7, 0)),
	ROW(ALL, "\x02\x7f", TIMESTAMP, TIME(7, 0x7f)),
	ROW(ALL, "\x02\x80\x01", TIMESTAMP, TIME(14, 0x80)),
	ROW(ALL, "\x02\xd7\xdf\x01", TIMESTAMP, TIME(21, 0x6fd7)),	/* 60 */
	ROW(ALL, "\x02\x80\x80\x80\x80\x80\x80\x80\x01", TIMESTAMP, TIME(56, 0x2000000000000)),
	ROW(ALL, "\x02\xef\x9b\xaf\xcd\xf8\xac\xd1\x91\x81", TIMESTAMP, TIME(64, 0x8123456789abcdef)),	/* 61 */
	ROW(ALL, "\x02\x80\x80\x80\x80\x80\x80\x80\x80\x00", TIMESTAMP, TIME(64, 0)),
	ROW(ALL, "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff", TIMESTAMP, TIME(64, 0xffffffffffffffff)),
	ROW(ALL, "\x03\x05\x02", TIMESTAMP, TIME_CYCLES(7, 5, 2)),
	ROW(ALL, "\x03\x85\x01\x82\x01", TIMESTAMP, TIME_CYCLES(14, 0x85, 0x82)),
	ROW(ALL, "\x03\xef\x9b\xaf\xcd\xf8\xac\xd1\x91\x81\xff\x0f", TIMESTAMP,
		TIME_CYCLES(64, 0x8123456789abcdef, 0x7ff)),
	/* the count has as many bits as the counter */
	ROW(ETE13, "\x03\xef\x9b\xaf\xcd\xf8\xac\xd1\x91\x81\xff\xff\x7f", TIMESTAMP,
		TIME_CYCLES(64, 0x8123456789abcdef, 0xfffff)),
	ROW(ALL & ~ETE13, "\x03\x01\xff\xff\x7f", TIMESTAMP, TIME_CYCLES(7, 1, 0xfff)),

	/* 04 - 0b */
	ROW(ALL, "\x04", TRACE_ON, NOTHING),	/* 6 */
	ROW(V44M, "\x05", FUNCTION_RETURN, NOTHING),
	ROW(ALL & ~ETE, "\x07", EXCEPTION_RETURN, NOTHING),
	ROW(ETE13, "\x09\x01\xff\xff\x0f\x00\x00\x00\x00\x00", INSTRUMENTATION, NOTHING,	/* 62 */
		.addr = 0xfffff, .info = 1),
	ROW(ETE13, "\x09\x00\x01\x02\x03\x04\x05\x06\x07\x88", INSTRUMENTATION, NOTHING,
		.addr = 0x8807060504030201, .info = 0),
	ROW(ETE13, "\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff", INSTRUMENTATION, NOTHING,
		.addr = UINT64_MAX, .info = 3),
	ROW(ETE, "\x0a", TRANSACTION_START, NOTHING),	/* 48 */
	ROW(ETE, "\x0b", TRANSACTION_COMMIT, NOTHING),

	/* 06: exception */
	ROW(ALL & ~(V44M | V42M), "\x06\x05", EXCEPTION, EXCEPTS(0x02)),		/* 43 */
	ROW(ALL, "\x06\x17", EXCEPTION, EXCEPTS(0x0b)),				/* 44 */
	ROW(ALL, "\x06\x19", EXCEPTION, EXCEPTS(0x0c)),				/* 45 */
	ROW(ALL, "\x06\x09", EXCEPTION, EXCEPTS(0x04)),				/* 46 */
	ROW(ALL, "\x06\x1d", EXCEPTION, EXCEPTS(0x0e)),				/* 47 */
	ROW(ALL, "\x06\x5c", EXCEPTION, EXCEPTS_AT_TARGET(0x0e)),
	BAD(ALL, "\x06\x1c", EXCEPTION),	/* E = 0 and 3 are reserved */
	BAD(ALL, "\x06\x5d", EXCEPTION),
	BAD(ALL, "\x06\x9c\x01", EXCEPTION),
	ROW(ALL, "\x06\x9d\x01", EXCEPTION, EXCEPTS(0x2e)),
	ROW(ALL, "\x06\x91\x10", EXCEPTION, EXCEPTS(0x208)),
	ROW(ALL, "\x06\x9f\x1f", EXCEPTION, EXCEPTS(0x3ef)),
	ROW(ALL, "\x06\xde\x1f", EXCEPTION, EXCEPTS_AT_TARGET(0x3ef)),
	ROW(ALL, "\x06\x9d\x00", EXCEPTION, EXCEPTS(0x0e)),
	ROW(V44M | V42M, "\x06\x87\x20", EXCEPTION, EXCEPTS_PENDING(0x03)),
	ROW(V44M | V42M, "\x06\x9f\x3f", EXCEPTION, EXCEPTS_PENDING(0x3ef)),
	ROW(ETE, "\x06\x01\x70", PE_RESET, NOTHING),
	ROW(ETE, "\x06\x31\x70", TRANSACTION_FAIL, NOTHING),			/* 49 */
	ROW(ALL & ~ETE, "\x06\x01", EXCEPTION, EXCEPTS(0x00)),
	ROW(ALL & ~ETE, "\x06\x31", EXCEPTION, EXCEPTS(0x18)),
	ROW(ETE, "\x06\x81\x00", PE_RESET, NOTHING),
	ROW(ETE, "\x06\xb1\x00", TRANSACTION_FAIL, NOTHING),
	ROW(ETE, "\x06\x81\x01", EXCEPTION, EXCEPTS(0x20)),
	ROW(ETE, "\x06\xb1\x01", EXCEPTION, EXCEPTS(0x38)),

	/* 0c - 1f: cycle counts */
	ROW(NO_COMMIT, "\x0c\x00", CYCLES_F2, CYCLES(0)),
	ROW(NO_COMMIT, "\x0d\xf4", CYCLES_F2, CYCLES(4)),	/* 52 */
	ROW(NO_COMMIT, "\x0d\xff", CYCLES_F2, CYCLES(15)),
	ROW(ALL & ~NO_COMMIT, "\x0c\x05", CYCLES_F2, CYCLES_COMMIT(5, 1)),
	ROW(ALL & ~NO_COMMIT, "\x0c\xff", CYCLES_F2, CYCLES_COMMIT(15, 16)),
	ROW(ETE13, "\x0d\xf3", CYCLES_F2, CYCLES_COMMIT(3, 20)),
	ROW(ETE13, "\x0d\x03", CYCLES_F2, CYCLES_COMMIT(3, 5)),
	ROW(V40A, "\x0d\x13", CYCLES_F2, CYCLES_COMMIT(3, 16)),
	ROW(V44M, "\x0d\xf3", CYCLES_F2, CYCLES_COMMIT(3, 2)),
	ROW(V44M, "\x0d\xd3", CYCLES_F2, CYCLES_COMMIT(3, 0)),
	ROW(V44M, "\x0d\x03", CYCLES_F2, CYCLES_COMMIT(3, 0)),	/* never below 0 */
	ROW(NO_COMMIT, "\x0f", CYCLES_F1, UNKNOWN),		/* 50 */
	ROW(NO_COMMIT, "\x0e\x1e", CYCLES_F1, CYCLES(0x1e)),	/* 51 */
	ROW(NO_COMMIT, "\x0e\x80\x01", CYCLES_F1, CYCLES(0x80)),
	ROW(NO_COMMIT, "\x0e\xff\xff\x3f", CYCLES_F1, CYCLES(0xfffff)),
	ROW(ALL & ~NO_COMMIT, "\x0f\x00", CYCLES_F1, UNKNOWN_COMMIT(0)),
	ROW(ALL & ~NO_COMMIT, "\x0f\x85\x01", CYCLES_F1, UNKNOWN_COMMIT(133)),
	ROW(ALL & ~NO_COMMIT, "\x0f\xff\xff\xff\xff\x0f", CYCLES_F1, UNKNOWN_COMMIT(0xffffffff)),
	ROW(ALL & ~NO_COMMIT, "\x0e\x02\x05", CYCLES_F1, CYCLES_COMMIT(5, 2)),
	ROW(ALL & ~NO_COMMIT, "\x0e\x80\x01\x80\x80\x01", CYCLES_F1, CYCLES_COMMIT(0x4000, 0x80)),
	ROW(ALL & ~NO_COMMIT, "\x0e\xff\xff\xff\xff\x0f\xff\xff\x3f", CYCLES_F1, CYCLES_COMMIT(0xfffff, 0xffffffff)),
	ROW(NO_COMMIT, "\x10", CYCLES_F3, CYCLES(0)),		/* 53 */
	ROW(NO_COMMIT, "\x13", CYCLES_F3, CYCLES(3)),
	ROW(ALL & ~NO_COMMIT, "\x10", CYCLES_F3, CYCLES_COMMIT(0, 1)),
	ROW(ALL & ~NO_COMMIT, "\x16", CYCLES_F3, CYCLES_COMMIT(2, 2)),
	ROW(ALL & ~NO_COMMIT, "\x1f", CYCLES_F3, CYCLES_COMMIT(3, 4)),

	/* 20 - 2c: data synchronisation */
	ROW(V42C, "\x20", SYNC_NUMBERED, NOTHING, .number = 0),
	ROW(V42C, "\x27", SYNC_NUMBERED, NOTHING, .number = 7),
	ROW(V42C, "\x28", SYNC_UNNUMBERED, NOTHING, .number = 0),
	ROW(V42C, "\x2c", SYNC_UNNUMBERED, NOTHING, .number = 4),

	/* 2d - 3f: speculation */
	ROW(ALL, "\x2d\x00", COMMIT, COMMITS(0)),
	ROW(ALL, "\x2d\x04", COMMIT, COMMITS(4)),		/* 38 */
	ROW(ALL, "\x2d\x85\x01", COMMIT, COMMITS(133)),
	ROW(ALL, "\x2d\xff\xff\xff\xff\x0f", COMMIT, COMMITS(0xffffffff)),
	ROW(ALL, "\x2e\x04", CANCEL_F1, CANCELS(4)),		/* 37 */
	ROW(ALL, "\x2e\xff\xff\xff\xff\x0f", CANCEL_F1, CANCELS(0xffffffff)),
	ROW(ALL, "\x2f\x01", CANCEL_F1_MISPREDICT, CANCELS_MISPREDICTS(1, 0, 0)),
	ROW(ALL, "\x2f\x80\x80\x80\x80\x01", CANCEL_F1_MISPREDICT, CANCELS_MISPREDICTS(0x10000000, 0, 0)),
	ROW(ALL, "\x30", MISPREDICT, MISPREDICTS(0, 0)),	/* 39 */
	ROW(ALL, "\x31", MISPREDICT, MISPREDICTS(1, 1)),
	ROW(ALL, "\x32", MISPREDICT, MISPREDICTS(2, 3)),
	ROW(ALL, "\x33", MISPREDICT, MISPREDICTS(1, 0)),
	ROW(ALL, "\x34", CANCEL_F2, CANCELS_MISPREDICTS(1, 0, 0)),	/* 40 */
	ROW(ALL, "\x35", CANCEL_F2, CANCELS_MISPREDICTS(1, 1, 1)),
	ROW(ALL, "\x36", CANCEL_F2, CANCELS_MISPREDICTS(1, 2, 3)),	/* 41 */
	ROW(ALL, "\x37", CANCEL_F2, CANCELS_MISPREDICTS(1, 1, 0)),
	ROW(ALL, "\x38", CANCEL_F3, CANCELS_MISPREDICTS(2, 0, 0)),
	ROW(ALL, "\x39", CANCEL_F3, CANCELS_MISPREDICTS(2, 1, 1)),
	ROW(ALL, "\x3a", CANCEL_F3, CANCELS_MISPREDICTS(3, 0, 0)),
	ROW(ALL, "\x3b", CANCEL_F3, CANCELS_MISPREDICTS(3, 1, 1)),
	ROW(ALL, "\x3c", CANCEL_F3, CANCELS_MISPREDICTS(4, 0, 0)),
	ROW(ALL, "\x3d", CANCEL_F3, CANCELS_MISPREDICTS(4, 1, 1)),
	ROW(ALL, "\x3e", CANCEL_F3, CANCELS_MISPREDICTS(5, 0, 0)),
	ROW(ALL, "\x3f", CANCEL_F3, CANCELS_MISPREDICTS(5, 1, 1)),

	/* 40 - 6f: conditional */
	ROW(V42C, "\x40", COND_INSTR_F2, NOTHING),
	ROW(V42C, "\x42", COND_INSTR_F2, NOTHING),
	ROW(V42C, "\x43", COND_FLUSH, NOTHING),
	ROW(V42C, "\x44", COND_RESULT_F4, NOTHING),
	ROW(V42C, "\x46", COND_RESULT_F4, NOTHING),
	ROW(V42C, "\x48", COND_RESULT_F2, NOTHING),
	ROW(V42C, "\x4a", COND_RESULT_F2, NOTHING),
	ROW(V42C, "\x4c", COND_RESULT_F2, NOTHING),
	ROW(V42C, "\x4e", COND_RESULT_F2, NOTHING),
	ROW(V42C, "\x50\x00", COND_RESULT_F3, NOTHING),
	ROW(V42C, "\x5f\xff", COND_RESULT_F3, NOTHING),
	ROW(V42C, "\x68\x01\x02", COND_RESULT_F1, NOTHING),
	ROW(V42C, "\x6b\x81\x82\x83\x84\x85\x06\x81\x82\x83\x84\x85\x06", COND_RESULT_F1, NOTHING),
	ROW(V42C, "\x6c\x01", COND_INSTR_F1, NOTHING),
	ROW(V42C, "\x6c\x81\x82\x83\x84\x05", COND_INSTR_F1, NOTHING),
	ROW(V42C, "\x6d\x00", COND_INSTR_F3, NOTHING),
	ROW(V42C, "\x6d\xff", COND_INSTR_F3, NOTHING),
	ROW(V42C, "\x6e\x01", COND_RESULT_F1, NOTHING),
	ROW(V42C, "\x6f\x81\x82\x83\x84\x85\x06", COND_RESULT_F1, NOTHING),

	/* 70 - 7f */
	ROW(ETE | V44M | V46A, "\x70", IGNORE, NOTHING),
	ROW(ALL, "\x71", EVENT, NOTHING, .info = 1),		/* 63 */
	ROW(ALL, "\x78", EVENT, NOTHING, .info = 8),
	ROW(ALL, "\x7f", EVENT, NOTHING, .info = 15),

	/* 80, 81: context */
	ROW(ALL, "\x80", CONTEXT, .flags = ITRACE_PKT_CONTEXT_SAME),
	ROW(ALL, "\x81\x30", CONTEXT, CONTEXT(0x30)),		/* 13 */
	ROW(ALL, "\x81\x00", CONTEXT, CONTEXT(0x00)),		/* 14 */
	ROW(ALL, "\x81\x39", CONTEXT, CONTEXT(0x39)),		/* 15 */
	ROW(ETE10 | V42C, "\x81\xf1\x01\x02\x03\x84\x05\x06\x07\x88", CONTEXT, CONTEXT(0xf1),
		.vmid = 0x84030201, .cid = 0x88070605),
	ROW(ETE10 | V42C, "\x81\x71\x01\x02\x03\x84", CONTEXT, CONTEXT(0x71), .vmid = 0x84030201),
	ROW(ETE10 | V42C, "\x81\xb1\x05\x06\x07\x88", CONTEXT, CONTEXT(0xb1), .cid = 0x88070605),
	ROW(ETE13, "\x81\xf1\x01\x82\x05\x06\x07\x88", CONTEXT, CONTEXT(0xf1), .vmid = 0x8201, .cid = 0x88070605),
	ROW(ETE13, "\x81\x71\x01\x82", CONTEXT, CONTEXT(0x71), .vmid = 0x8201),
	ROW(V40A, "\x81\xf1\x81\x05\x06\x07\x88", CONTEXT, CONTEXT(0xf1), .vmid = 0x81, .cid = 0x88070605),
	ROW(V46A, "\x81\xf1\x81", CONTEXT, CONTEXT(0xf1), .vmid = 0x81),
	ROW(V46A, "\x81\x71\xff", CONTEXT, CONTEXT(0x71), .vmid = 0xff),
	ROW(V42M, "\x81\xf1\x05\x06\x07\x88", CONTEXT, CONTEXT(0xf1), .cid = 0x88070605),

	/* 82 - 86: address with context */
	ROW(ALL, "\x82\x21\x0a\x0c\x00\x11", ADDR_CONTEXT_32_IS0, ADDR_CONTEXT(32, 0, 0xc1484, 0x11)),	/* 7 */
	ROW(ALL, "\x82\x33\x1b\x0c\x00\x31", ADDR_CONTEXT_32_IS0, ADDR_CONTEXT(32, 0, 0xc36cc, 0x31)),	/* 8 */
	ROW(ALL, "\x82\x00\x3a\x07\x00\x3a", ADDR_CONTEXT_32_IS0, ADDR_CONTEXT(32, 0, 0x77400, 0x3a)),	/* 9 */
	ROW(ALL, "\x82\x00\x06\x06\x00\x1b", ADDR_CONTEXT_32_IS0, ADDR_CONTEXT(32, 0, 0x60c00, 0x1b)),	/* 10 */
	ROW(ETE10 | V42C, "\x82\x6e\x08\x0a\x00\xf1\x00\x00\x00\x00\x00\x43\x00\x00", ADDR_CONTEXT_32_IS0,	/* 11 */
		ADDR_CONTEXT(32, 0, 0xa11b8, 0xf1), .vmid = 0, .cid = 0x4300),
	ROW(ALL, "\x83\x01\x02\x03\x04\x20", ADDR_CONTEXT_32_IS1, ADDR_CONTEXT(32, 1, 0x04030202, 0x20)),
	ROW(V46A, "\x83\xff\xff\xff\xff\xe0\x7f", ADDR_CONTEXT_32_IS1,
		ADDR_CONTEXT(32, 1, 0xfffffffe, 0xe0), .vmid = 0x7f),
	ROW(V40A, "\x85\x04\x23\x01\x00\x80\xff\xff\xff\xf1\x07\x01\x2a\x00\x00", ADDR_CONTEXT_64_IS0,	/* 12 */
		ADDR_CONTEXT(64, 0, 0xffffff8000014610, 0xf1), .vmid = 7, .cid = 0x2a01),
	ROW(ALL, "\x85\x00\x00\x00\x00\x00\x00\x00\x00\x31", ADDR_CONTEXT_64_IS0, ADDR_CONTEXT(64, 0, 0, 0x31)),
	ROW(ALL, "\x86\xff\xff\xff\xff\xff\xff\xff\xff\x20", ADDR_CONTEXT_64_IS1,
		ADDR_CONTEXT(64, 1, 0xfffffffffffffffe, 0x20)),
	ROW(ETE10 | V42C, "\x86\x01\x02\x03\x04\x05\x06\x07\x08\xe0\x01\x02\x03\x04\x05\x06\x07\x08",
		ADDR_CONTEXT_64_IS1,
		ADDR_CONTEXT(64, 1, 0x0807060504030202, 0xe0), .vmid = 0x04030201, .cid = 0x08070605),
	ROW(ETE13, "\x86\x01\x02\x03\x04\x05\x06\x07\x08\xe0\x01\x02\x05\x06\x07\x08", ADDR_CONTEXT_64_IS1,
		ADDR_CONTEXT(64, 1, 0x0807060504030202, 0xe0), .vmid = 0x0201, .cid = 0x08070605),
	/* IDs of no size are not there, whatever the info byte says */
	ROW(V44M, "\x82\x21\x0a\x0c\x00\xd1", ADDR_CONTEXT_32_IS0, ADDR_CONTEXT(32, 0, 0xc1484, 0xd1)),
	ROW(V44M, "\x86\x01\x02\x03\x04\x05\x06\x07\x08\xe0", ADDR_CONTEXT_64_IS1,
		ADDR_CONTEXT(64, 1, 0x0807060504030202, 0xe0)),
	ROW(V44M, "\x81\xe0", CONTEXT, CONTEXT(0xe0)),

	/* 88 */
	ROW(ETE | V46A, "\x88", MARKER, NOTHING),		/* 60 */

	/* 90 - 9e: addresses */
	ROW(ALL, "\x90", ADDR_MATCH, MATCH(0)),			/* 20 */
	ROW(ALL, "\x91", ADDR_MATCH, MATCH(1)),			/* 21 */
	ROW(ALL, "\x92", ADDR_MATCH, MATCH(2)),			/* 22 */
	ROW(ALL, "\x95\x4b", ADDR_SHORT_IS0, ADDR(9, 0, 0x12c)),	/* 18 */
	ROW(ALL, "\x95\x48", ADDR_SHORT_IS0, ADDR(9, 0, 0x120)),
	ROW(ALL, "\x95\x7f", ADDR_SHORT_IS0, ADDR(9, 0, 0x1fc)),
	ROW(ALL, "\x95\xb0\x4f", ADDR_SHORT_IS0, ADDR(17, 0, 0x9ec0)),	/* 17 */
	ROW(ALL, "\x95\xff\xff", ADDR_SHORT_IS0, ADDR(17, 0, 0x1fffc)),
	ROW(ALL, "\x96\x7f", ADDR_SHORT_IS1, ADDR(8, 1, 0xfe)),
	ROW(ALL, "\x96\x80\x01", ADDR_SHORT_IS1, ADDR(16, 1, 0x100)),
	ROW(ALL, "\x96\xff\xff", ADDR_SHORT_IS1, ADDR(16, 1, 0xfffe)),
	ROW(ALL, "\x9a\x4e\x4a\x06\x00", ADDR_32_IS0, ADDR(32, 0, 0x69538)),	/* 16 */
	ROW(ALL, "\x9a\xff\xff\xff\xff", ADDR_32_IS0, ADDR(32, 0, 0xfffffffc)),	/* bit 7 of the first two is no part */
	ROW(ALL, "\x9a\x80\x80\x00\x00", ADDR_32_IS0, ADDR(32, 0, 0)),
	ROW(ALL, "\x9b\x01\x02\x03\x04", ADDR_32_IS1, ADDR(32, 1, 0x04030202)),
	ROW(ALL, "\x9b\xff\xff\xff\xff", ADDR_32_IS1, ADDR(32, 1, 0xfffffffe)),
	ROW(ALL, "\x9b\x80\x80\x00\x00", ADDR_32_IS1, ADDR(32, 1, 0x8000)),
	ROW(ALL, "\x9d\x12\x05\x10\x40\x00\x00\x00\xa5", ADDR_64_IS0, ADDR(64, 0, 0xa500000040100a48)),	/* 19 */
	ROW(ALL, "\x9d\x80\x80\x00\x00\x00\x00\x00\x00", ADDR_64_IS0, ADDR(64, 0, 0)),
	ROW(ALL, "\x9e\x01\x02\x03\x04\x05\x06\x07\x88", ADDR_64_IS1, ADDR(64, 1, 0x8807060504030202)),
	ROW(ALL, "\x9e\x00\x00\x00\x00\x00\x00\x00\x00", ADDR_64_IS1, ADDR(64, 1, 0)),

	/* a0 - af: Q */
	ROW(WITH_Q, "\xa0\x00", Q, Q_MATCH(0, 0)),
	ROW(WITH_Q, "\xa1\x85\x01", Q, Q_MATCH(1, 133)),
	ROW(WITH_Q, "\xa2\xff\xff\xff\xff\x0f", Q, Q_MATCH(2, 0xffffffff)),
	ROW(WITH_Q, "\xa5\x06\x03", Q, Q_ADDR(9, 0, 0x18, 3)),
	ROW(WITH_Q, "\xa5\x86\x1c\x03", Q, Q_ADDR(17, 0, 0x3818, 3)),	/* 59 */
	ROW(WITH_Q, "\xa5\xff\xff\xff\xff\xff\xff\x0f", Q, Q_ADDR(17, 0, 0x1fffc, 0xffffffff)),
	ROW(WITH_Q, "\xa6\x06\x03", Q, Q_ADDR(8, 1, 0x0c, 3)),
	ROW(WITH_Q, "\xa6\x86\x1c\x83\x01", Q, Q_ADDR(16, 1, 0x1c0c, 131)),
	ROW(WITH_Q, "\xaa\x34\x3f\x06\x00\x03", Q, Q_ADDR(32, 0, 0x67ed0, 3)),	/* 58 */
	ROW(WITH_Q, "\xaa\xff\xff\xff\xff\xff\xff\xff\xff\x0f", Q, Q_ADDR(32, 0, 0xfffffffc, 0xffffffff)),
	ROW(WITH_Q, "\xab\x34\x3f\x06\x00\x03", Q, Q_ADDR(32, 1, 0x63f68, 3)),
	ROW(WITH_Q, "\xab\x00\x80\x00\x00\x80\x01", Q, Q_ADDR(32, 1, 0x8000, 128)),
	ROW(WITH_Q, "\xac\x03", Q, Q_COUNT(3)),
	ROW(WITH_Q, "\xac\x80\x80\x80\x80\x01", Q, Q_COUNT(0x10000000)),
	ROW(WITH_Q, "\xaf", Q, .flags = ITRACE_PKT_ADDR_FOLLOWS),

	/* b0 - b9: source addresses */
	ROW(ETE, "\xb0", SOURCE_MATCH, MATCH(0)),
	ROW(ETE, "\xb1", SOURCE_MATCH, MATCH(1)),
	ROW(ETE, "\xb2", SOURCE_MATCH, MATCH(2)),
	ROW(ETE, "\xb4\x48", SOURCE_SHORT_IS0, ADDR(9, 0, 0x120)),	/* 54 */
	ROW(ETE, "\xb4\xd2\xf1", SOURCE_SHORT_IS0, ADDR(17, 0, 0x1e348)),	/* 55 */
	ROW(ETE, "\xb5\x7c", SOURCE_SHORT_IS1, ADDR(8, 1, 0xf8)),	/* 56 */
	ROW(ETE, "\xb5\xff\xff", SOURCE_SHORT_IS1, ADDR(16, 1, 0xfffe)),
	ROW(ETE, "\xb6\x31\x03\x06\x00", SOURCE_32_IS0, ADDR(32, 0, 0x606c4)),	/* 57 */
	ROW(ETE, "\xb7\x31\x03\x06\x00", SOURCE_32_IS1, ADDR(32, 1, 0x60362)),
	ROW(ETE, "\xb8\x31\x03\x06\x00\x01\x02\x03\x84", SOURCE_64_IS0, ADDR(64, 0, 0x84030201000606c4)),
	ROW(ETE, "\xb9\x31\x03\x06\x00\x01\x02\x03\x84", SOURCE_64_IS1, ADDR(64, 1, 0x8403020100060362)),

	/* c0 - ff: atoms */
	ROW(ALL, "\xf6", ATOM_F1, ATOMS(1, 0)),		/* 23 */
	ROW(ALL, "\xf7", ATOM_F1, ATOMS(1, 1)),		/* 24 */
	ROW(ALL, "\xd8", ATOM_F2, ATOMS(2, 0)),
	ROW(ALL, "\xd9", ATOM_F2, ATOMS(2, 1)),
	ROW(ALL, "\xda", ATOM_F2, ATOMS(2, 2)),		/* 26 */
	ROW(ALL, "\xdb", ATOM_F2, ATOMS(2, 3)),		/* 25 */
	ROW(ALL, "\xf8", ATOM_F3, ATOMS(3, 0)),
	ROW(ALL, "\xf9", ATOM_F3, ATOMS(3, 1)),		/* 27 */
	ROW(ALL, "\xfa", ATOM_F3, ATOMS(3, 2)),
	ROW(ALL, "\xfb", ATOM_F3, ATOMS(3, 3)),		/* 29 */
	ROW(ALL, "\xfc", ATOM_F3, ATOMS(3, 4)),
	ROW(ALL, "\xfd", ATOM_F3, ATOMS(3, 5)),
	ROW(ALL, "\xfe", ATOM_F3, ATOMS(3, 6)),		/* 28 */
	ROW(ALL, "\xff", ATOM_F3, ATOMS(3, 7)),
	ROW(ALL, "\xdc", ATOM_F4, ATOMS(4, 0xe)),	/* 30: NEEE */
	ROW(ALL, "\xdd", ATOM_F4, ATOMS(4, 0x0)),	/* NNNN */
	ROW(ALL, "\xde", ATOM_F4, ATOMS(4, 0xa)),	/* 31: NENE */
	ROW(ALL, "\xdf", ATOM_F4, ATOMS(4, 0x5)),	/* 32: ENEN */
	ROW(ALL, "\xf5", ATOM_F5, ATOMS(5, 0x1e)),	/* 33: NEEEE */
	ROW(ALL, "\xd5", ATOM_F5, ATOMS(5, 0x00)),	/* NNNNN */
	ROW(ALL, "\xd6", ATOM_F5, ATOMS(5, 0x0a)),	/* NENEN */
	ROW(ALL, "\xd7", ATOM_F5, ATOMS(5, 0x15)),	/* ENENE */
	ROW(ALL, "\xc0", ATOM_F6, ATOMS(4, 0xf)),
	ROW(ALL, "\xc2", ATOM_F6, ATOMS(6, 0x3f)),	/* 34 */
	ROW(ALL, "\xd4", ATOM_F6, ATOMS(24, 0xffffff)),	/* 35 */
	ROW(ALL, "\xe0", ATOM_F6, ATOMS(4, 0x7)),	/* 36 */
	ROW(ALL, "\xec", ATOM_F6, ATOMS(16, 0x7fff)),
	ROW(ALL, "\xf4", ATOM_F6, ATOMS(24, 0x7fffff)),
};

/* @a bytes in memory of exactly @a len bytes, into a packet full of 0xff */
static int read_exactly(const struct itrace_ete_config *config, const void *bytes, size_t len,
		struct itrace_ete_packet *packet)
{
	uint8_t *copy = malloc(len);

	memcpy(copy, bytes, len);
	memset(packet, 0xff, sizeof(*packet));
	int result = itrace_ete_packet_read(config, copy, len, packet);
	free(copy);
	return result;
}

static void fail_row(unsigned int index, const struct row *row, const char *what, uint64_t got, uint64_t expected)
{
	char hex[3 * ITRACE_PACKET_LEN_MAX + 1] = "";

	for (size_t i = 0; i < row->len && i < ITRACE_PACKET_LEN_MAX; i++)
		snprintf(hex + 3 * i, sizeof(hex) - 3 * i, "%02x ", (uint8_t)row->bytes[i]);
	fail_msg("%s: %s- %s is %#llx, not %#llx", config_rows[index].name, hex, what, (unsigned long long)got,
		(unsigned long long)expected);
}

#define CHECK(field) do { \
	if (got->field != row->packet.field) \
		fail_row(index, row, #field, got->field, row->packet.field); \
} while (0)

static void check_fields(unsigned int index, const struct row *row, const struct itrace_ete_packet *got)
{
	const struct itrace_ete_config *config = &configs[index];

	CHECK(kind);
	if (got->len != row->len)
		fail_row(index, row, "len", got->len, row->len);
	if (row->result) {
		if (row->result != ITRACE_RESERVED)
			CHECK(intended);
		return;
	}
	CHECK(flags);
	if (row->packet.flags & ITRACE_PKT_ADDR) {
		CHECK(addr);
		CHECK(addr_bits);
		if (row->packet.addr_bits)
			CHECK(is);
		else
			CHECK(info);
	}
	if (row->packet.flags & ITRACE_PKT_CONTEXT) {
		CHECK(info);
		if (row->packet.info & 0x40 && config->vmid_len)
			CHECK(vmid);
		if (row->packet.info & 0x80 && config->cid_len)
			CHECK(cid);
	}
	if (row->packet.flags & ITRACE_PKT_CYCLES)
		CHECK(cycles);
	if (row->packet.flags & (ITRACE_PKT_COMMIT | ITRACE_PKT_CANCEL | ITRACE_PKT_COUNT))
		CHECK(number);

	switch (row->packet.kind) {
	case ITRACE_PACKET_TRACE_INFO:
		CHECK(number);
		CHECK(info);
		CHECK(cycles);
		if (row->packet.flags & ITRACE_PKT_SPEC)
			CHECK(cid);
		break;
	case ITRACE_PACKET_TIMESTAMP:
		CHECK(addr);
		CHECK(addr_bits);
		break;
	case ITRACE_PACKET_EXCEPTION:
	case ITRACE_PACKET_SYNC_NUMBERED:
	case ITRACE_PACKET_SYNC_UNNUMBERED:
		CHECK(number);
		break;
	case ITRACE_PACKET_INSTRUMENTATION:
		CHECK(addr);
		CHECK(info);
		break;
	case ITRACE_PACKET_EVENT:
		CHECK(info);
		break;
	case ITRACE_PACKET_CANCEL_F1:
	case ITRACE_PACKET_CANCEL_F1_MISPREDICT:
	case ITRACE_PACKET_MISPREDICT:
	case ITRACE_PACKET_CANCEL_F2:
	case ITRACE_PACKET_CANCEL_F3:
	case ITRACE_PACKET_ATOM_F1:
	case ITRACE_PACKET_ATOM_F2:
	case ITRACE_PACKET_ATOM_F3:
	case ITRACE_PACKET_ATOM_F4:
	case ITRACE_PACKET_ATOM_F5:
	case ITRACE_PACKET_ATOM_F6:
		CHECK(atom_count);
		if (row->packet.atom_count)
			CHECK(atoms);
		break;
	default:
		break;
	}
}

static void test_table(void **state)
{
	for (size_t i = 0; i < ARRAY_NUM(rows); i++) {
		const struct row *row = &rows[i];
		int expected = row->result ? row->result : (int)row->len;

		for (unsigned int index = 0; index < CONFIG_NUM; index++) {
			struct itrace_ete_packet packet;

			if (!(row->configs >> index & 1))
				continue;
			int result = read_exactly(&configs[index], row->bytes, row->len, &packet);
			if (result != expected)
				fail_row(index, row, "result", (uint64_t)result, (uint64_t)expected);
			check_fields(index, row, &packet);
		}
	}
}

/* What follows a packet is no part of it. */
static void test_followed(void **state)
{
	for (size_t i = 0; i < ARRAY_NUM(rows); i++) {
		const struct row *row = &rows[i];
		int expected = row->result ? row->result : (int)row->len;

		for (unsigned int index = 0; index < CONFIG_NUM; index++) {
			static const uint8_t tails[] = { 0x00, 0x04, 0x7f, 0x80, 0xff };

			if (!(row->configs >> index & 1))
				continue;
			for (size_t tail = 0; tail < ARRAY_NUM(tails); tail++) {
				uint8_t bytes[2 * ITRACE_PACKET_LEN_MAX];
				struct itrace_ete_packet packet;

				memset(bytes, tails[tail], sizeof(bytes));
				memcpy(bytes, row->bytes, row->len);
				int result = read_exactly(&configs[index], bytes, sizeof(bytes), &packet);
				if (result != expected)
					fail_row(index, row, "result with more", (uint64_t)result, (uint64_t)expected);
				check_fields(index, row, &packet);
			}
		}
	}
}

/* Cut at every byte: more is needed, and it is known of what. */
static void test_cut(void **state)
{
	for (size_t i = 0; i < ARRAY_NUM(rows); i++) {
		const struct row *row = &rows[i];

		for (unsigned int index = 0; index < CONFIG_NUM; index++) {
			if (!(row->configs >> index & 1))
				continue;
			for (size_t len = 1; len < row->len; len++) {
				struct itrace_ete_packet packet;
				uint8_t kind = row->result ? row->packet.intended : row->packet.kind;

				int result = read_exactly(&configs[index], row->bytes, len, &packet);
				if (result != ITRACE_NEED_MORE)
					fail_row(index, row, "result of a part", (uint64_t)result, len);
				/* the first byte does not tell these from others */
				if (kind >= ITRACE_PACKET_EXTENSION && kind <= ITRACE_PACKET_OVERFLOW && len == 1)
					kind = ITRACE_PACKET_EXTENSION;
				if (kind == ITRACE_PACKET_PE_RESET || kind == ITRACE_PACKET_TRANSACTION_FAIL) {
					if (len == 1)
						kind = ITRACE_PACKET_EXCEPTION;
					/* nor do two when there are ten bits of type */
					else if (row->bytes[1] & 0x80)
						continue;
				}
				if (kind == ITRACE_PACKET_EXCEPTION && len == 2)
					continue;
				if (packet.kind != kind)
					fail_row(index, row, "kind of a part", packet.kind, kind);
			}
		}
	}
}

static void test_every_kind(void **state)
{
	bool seen[ITRACE_PACKET_NUM] = { false };

	for (size_t i = 0; i < ARRAY_NUM(rows); i++)
		seen[rows[i].packet.kind] = true;
	for (unsigned int kind = ITRACE_PACKET_BAD_SEQUENCE; kind < ITRACE_PACKET_NUM; kind++)
		if (!seen[kind] && kind != ITRACE_PACKET_RESERVED && kind != ITRACE_PACKET_RESERVED_CFG &&
				kind != ITRACE_PACKET_EXTENSION)
			fail_msg("no row for %s", itrace_packet_name(kind));
}

/* Headers */

struct owner {
	uint8_t first, last;
	uint8_t kind;
	unsigned int configs;		/* in which it is one */
	bool by_configuration;		/* where it is not: RESERVED_CFG, else RESERVED */
};

static const struct owner owners[] = {
	{ 0x00, 0x00, ITRACE_PACKET_EXTENSION, ALL, false },
	{ 0x01, 0x01, ITRACE_PACKET_TRACE_INFO, ALL, false },
	{ 0x02, 0x03, ITRACE_PACKET_TIMESTAMP, ALL, false },
	{ 0x04, 0x04, ITRACE_PACKET_TRACE_ON, ALL, false },
	{ 0x05, 0x05, ITRACE_PACKET_FUNCTION_RETURN, V44M, false },
	{ 0x06, 0x06, ITRACE_PACKET_EXCEPTION, ALL, false },
	{ 0x07, 0x07, ITRACE_PACKET_EXCEPTION_RETURN, ALL & ~ETE, true },
	{ 0x09, 0x09, ITRACE_PACKET_INSTRUMENTATION, ETE13, false },
	{ 0x0a, 0x0a, ITRACE_PACKET_TRANSACTION_START, ETE, false },
	{ 0x0b, 0x0b, ITRACE_PACKET_TRANSACTION_COMMIT, ETE, false },
	{ 0x0c, 0x0d, ITRACE_PACKET_CYCLES_F2, ALL, false },
	{ 0x0e, 0x0f, ITRACE_PACKET_CYCLES_F1, ALL, false },
	{ 0x10, 0x1f, ITRACE_PACKET_CYCLES_F3, ALL, false },
	{ 0x20, 0x27, ITRACE_PACKET_SYNC_NUMBERED, V42C, true },
	{ 0x28, 0x2c, ITRACE_PACKET_SYNC_UNNUMBERED, V42C, true },
	{ 0x2d, 0x2d, ITRACE_PACKET_COMMIT, ALL, false },
	{ 0x2e, 0x2e, ITRACE_PACKET_CANCEL_F1, ALL, false },
	{ 0x2f, 0x2f, ITRACE_PACKET_CANCEL_F1_MISPREDICT, ALL, false },
	{ 0x30, 0x33, ITRACE_PACKET_MISPREDICT, ALL, false },
	{ 0x34, 0x37, ITRACE_PACKET_CANCEL_F2, ALL, false },
	{ 0x38, 0x3f, ITRACE_PACKET_CANCEL_F3, ALL, false },
	{ 0x40, 0x42, ITRACE_PACKET_COND_INSTR_F2, V42C, true },
	{ 0x43, 0x43, ITRACE_PACKET_COND_FLUSH, V42C, true },
	{ 0x44, 0x46, ITRACE_PACKET_COND_RESULT_F4, V42C, true },
	{ 0x48, 0x4a, ITRACE_PACKET_COND_RESULT_F2, V42C, true },
	{ 0x4c, 0x4e, ITRACE_PACKET_COND_RESULT_F2, V42C, true },
	{ 0x50, 0x5f, ITRACE_PACKET_COND_RESULT_F3, V42C, true },
	{ 0x68, 0x6b, ITRACE_PACKET_COND_RESULT_F1, V42C, true },
	{ 0x6c, 0x6c, ITRACE_PACKET_COND_INSTR_F1, V42C, true },
	{ 0x6d, 0x6d, ITRACE_PACKET_COND_INSTR_F3, V42C, true },
	{ 0x6e, 0x6f, ITRACE_PACKET_COND_RESULT_F1, V42C, true },
	{ 0x70, 0x70, ITRACE_PACKET_IGNORE, ETE | V44M | V46A, false },
	{ 0x71, 0x7f, ITRACE_PACKET_EVENT, ALL, false },
	{ 0x80, 0x81, ITRACE_PACKET_CONTEXT, ALL, false },
	{ 0x82, 0x82, ITRACE_PACKET_ADDR_CONTEXT_32_IS0, ALL, false },
	{ 0x83, 0x83, ITRACE_PACKET_ADDR_CONTEXT_32_IS1, ALL, false },
	{ 0x85, 0x85, ITRACE_PACKET_ADDR_CONTEXT_64_IS0, ALL, false },
	{ 0x86, 0x86, ITRACE_PACKET_ADDR_CONTEXT_64_IS1, ALL, false },
	{ 0x88, 0x88, ITRACE_PACKET_MARKER, ETE | V46A, false },
	{ 0x90, 0x92, ITRACE_PACKET_ADDR_MATCH, ALL, false },
	{ 0x95, 0x95, ITRACE_PACKET_ADDR_SHORT_IS0, ALL, false },
	{ 0x96, 0x96, ITRACE_PACKET_ADDR_SHORT_IS1, ALL, false },
	{ 0x9a, 0x9a, ITRACE_PACKET_ADDR_32_IS0, ALL, false },
	{ 0x9b, 0x9b, ITRACE_PACKET_ADDR_32_IS1, ALL, false },
	{ 0x9d, 0x9d, ITRACE_PACKET_ADDR_64_IS0, ALL, false },
	{ 0x9e, 0x9e, ITRACE_PACKET_ADDR_64_IS1, ALL, false },
	{ 0xa0, 0xa2, ITRACE_PACKET_Q, WITH_Q, false },
	{ 0xa5, 0xa6, ITRACE_PACKET_Q, WITH_Q, false },
	{ 0xaa, 0xac, ITRACE_PACKET_Q, WITH_Q, false },
	{ 0xaf, 0xaf, ITRACE_PACKET_Q, WITH_Q, false },
	{ 0xb0, 0xb2, ITRACE_PACKET_SOURCE_MATCH, ETE, false },
	{ 0xb4, 0xb4, ITRACE_PACKET_SOURCE_SHORT_IS0, ETE, false },
	{ 0xb5, 0xb5, ITRACE_PACKET_SOURCE_SHORT_IS1, ETE, false },
	{ 0xb6, 0xb6, ITRACE_PACKET_SOURCE_32_IS0, ETE, false },
	{ 0xb7, 0xb7, ITRACE_PACKET_SOURCE_32_IS1, ETE, false },
	{ 0xb8, 0xb8, ITRACE_PACKET_SOURCE_64_IS0, ETE, false },
	{ 0xb9, 0xb9, ITRACE_PACKET_SOURCE_64_IS1, ETE, false },
	{ 0xc0, 0xd4, ITRACE_PACKET_ATOM_F6, ALL, false },
	{ 0xd5, 0xd7, ITRACE_PACKET_ATOM_F5, ALL, false },
	{ 0xd8, 0xdb, ITRACE_PACKET_ATOM_F2, ALL, false },
	{ 0xdc, 0xdf, ITRACE_PACKET_ATOM_F4, ALL, false },
	{ 0xe0, 0xf4, ITRACE_PACKET_ATOM_F6, ALL, false },
	{ 0xf5, 0xf5, ITRACE_PACKET_ATOM_F5, ALL, false },
	{ 0xf6, 0xf7, ITRACE_PACKET_ATOM_F1, ALL, false },
	{ 0xf8, 0xff, ITRACE_PACKET_ATOM_F3, ALL, false },
};

/* Each header has one owner in each configuration; a reserved one is a packet of its own of one byte. */
static void test_headers(void **state)
{
	unsigned int reserved_count = 0;

	for (unsigned int header = 0; header < 0x100; header++) {
		const struct owner *owner = NULL;

		for (size_t i = 0; i < ARRAY_NUM(owners); i++) {
			if (header < owners[i].first || header > owners[i].last)
				continue;
			assert_null(owner);
			owner = &owners[i];
		}
		if (!owner)
			reserved_count++;

		for (unsigned int index = 0; index < CONFIG_NUM; index++) {
			const struct itrace_ete_config *config = &configs[index];
			bool valid = owner && owner->configs >> index & 1;
			unsigned int kind = ITRACE_PACKET_RESERVED;
			struct itrace_ete_packet packet;
			uint8_t byte = (uint8_t)header;

			if (valid)
				kind = owner->kind;
			else if (owner && owner->by_configuration)
				kind = ITRACE_PACKET_RESERVED_CFG;
			if (itrace_ete_packet_kind(config, byte) != kind)
				fail_msg("%s: header %02x is not: %s", config_rows[index].name, header,
					itrace_packet_name(kind));

			int result = read_exactly(config, &byte, 1, &packet);
			if (valid) {
				if (result != 1 && result != ITRACE_NEED_MORE)
					fail_msg("%s: header %02x: %d", config_rows[index].name, header, result);
				assert_int_equal(packet.kind, kind);
				continue;
			}
			if (kind == ITRACE_PACKET_RESERVED)
				assert_int_equal(result, ITRACE_RESERVED);
			else
				assert_int_equal(result, ITRACE_RESERVED_CFG);
			assert_int_equal(packet.kind, kind);
			assert_int_equal(packet.len, 1);
			if (kind == ITRACE_PACKET_RESERVED_CFG)
				assert_int_equal(packet.intended, owner->kind);

			/* and whatever follows */
			uint8_t more[16];
			memset(more, 0x80, sizeof(more));
			more[0] = byte;
			assert_int_equal(read_exactly(config, more, sizeof(more), &packet), result);
			assert_int_equal(packet.len, 1);
		}
	}
	/* 08, 47, 4b, 4f, 60 - 67, 84, 87, 89 - 8f, 93, 94, 97 - 99, 9c, 9f, a3, a4, a7 - a9, ad, ae, b3, ba - bf */
	assert_int_equal(reserved_count, 1 + 3 + 8 + 2 + 7 + 2 + 3 + 2 + 2 + 3 + 2 + 1 + 6);
}

/* An extension of PLCTL without end is no packet. */
static void test_longest(void **state)
{
	uint8_t bytes[4 * ITRACE_PACKET_LEN_MAX];
	struct itrace_ete_packet packet;

	memset(bytes, 0x80, sizeof(bytes));
	bytes[0] = 0x01;
	for (unsigned int index = 0; index < CONFIG_NUM; index++) {
		assert_int_equal(read_exactly(&configs[index], bytes, sizeof(bytes), &packet), ITRACE_BAD_SEQUENCE);
		assert_int_equal(packet.kind, ITRACE_PACKET_BAD_SEQUENCE);
		assert_int_equal(packet.intended, ITRACE_PACKET_TRACE_INFO);
		assert_in_range(packet.len, 1, ITRACE_PACKET_LEN_MAX);
		assert_int_equal(read_exactly(&configs[index], bytes, 20, &packet), ITRACE_NEED_MORE);
		/* before the end can be known to be too far */
		for (size_t len = 1; len < sizeof(bytes); len++) {
			int result = read_exactly(&configs[index], bytes, len, &packet);
			assert_true(result == ITRACE_NEED_MORE || (result == ITRACE_BAD_SEQUENCE && packet.len <= len));
		}
	}
}

/* Any bytes: the answer does not depend on how many follow, and none is read that is not there. */
static void test_any_bytes(void **state)
{
	uint32_t random = 1;

	for (unsigned int round = 0; round < 40000; round++) {
		const struct itrace_ete_config *config = &configs[round % CONFIG_NUM];
		uint8_t bytes[40];
		struct itrace_ete_packet whole, packet;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random = random * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(random >> 24);
			if (round % 3 == 1)
				bytes[i] |= 0x80;
		}
		bytes[0] = (uint8_t)(round / CONFIG_NUM);
		int result = read_exactly(config, bytes, sizeof(bytes), &whole);
		if (result == ITRACE_NEED_MORE)
			continue;	/* a trace info of very long fields */
		size_t len = result > 0 ? (size_t)result : whole.len;
		assert_in_range(len, 1, ITRACE_PACKET_LEN_MAX);
		assert_true(len <= sizeof(bytes));
		assert_int_equal(whole.len, len);
		for (size_t part = 1; part <= len; part++) {
			int expected = part < len ? ITRACE_NEED_MORE : result;
			assert_int_equal(read_exactly(config, bytes, part, &packet), expected);
		}
		const struct row row = {
			.bytes = (const char *)bytes, .len = len, .packet = whole, .result = result > 0 ? 0 : result
		};
		check_fields(round % CONFIG_NUM, &row, &packet);
	}
}

/* VMIDs of two and four bytes came after ETMv4.0; other sizes of either ID are none. */
static void test_id_sizes(void **state)
{
	static const struct { uint8_t protocol, minor, size, vmid_len, cid_len; } sizes[] = {
		{ ITRACE_PROTOCOL_ETMV4, 0, 0, 0, 0 }, { ITRACE_PROTOCOL_ETMV4, 0, 1, 1, 0 },
		{ ITRACE_PROTOCOL_ETMV4, 0, 2, 0, 0 }, { ITRACE_PROTOCOL_ETMV4, 0, 4, 0, 4 },
		{ ITRACE_PROTOCOL_ETMV4, 1, 2, 2, 0 }, { ITRACE_PROTOCOL_ETMV4, 1, 4, 4, 4 },
		{ ITRACE_PROTOCOL_ETMV4, 1, 3, 0, 0 }, { ITRACE_PROTOCOL_ETMV4, 1, 8, 0, 0 },
		{ ITRACE_PROTOCOL_ETE, 0, 1, 1, 0 }, { ITRACE_PROTOCOL_ETE, 0, 2, 2, 0 },
		{ ITRACE_PROTOCOL_ETE, 0, 4, 4, 4 }
	};

	for (size_t i = 0; i < ARRAY_NUM(sizes); i++) {
		struct itrace_ete_registers regs;
		struct itrace_ete_config config;
		struct itrace_ete_packet packet;
		uint8_t bytes[] = { 0x82, 0, 0, 0, 0, 0xf1, 1, 2, 3, 4, 5, 6, 7, 8 };
		uint32_t vmid = 0x04030201, cid = 0;

		itrace_ete_registers_default(sizes[i].protocol, &regs);
		regs.trcidr1 = 0x4100f400 | sizes[i].minor << 4;
		regs.trcidr2 = 8 | sizes[i].size << 5 | (uint32_t)sizes[i].size << 10;
		/* a context ID has 4 bytes or none; other sizes are refused, and read as none */
		assert_int_equal(itrace_ete_config_init(&config, sizes[i].protocol, ITRACE_PROFILE_A, ITRACE_ARCH_V8,
				&regs, NULL), sizes[i].size % 4 || sizes[i].size > 4 ? ITRACE_BAD_CONFIG : ITRACE_OK);
		int len = 6 + sizes[i].vmid_len + sizes[i].cid_len;
		assert_int_equal(read_exactly(&config, bytes, sizeof(bytes), &packet), len);
		if (sizes[i].vmid_len) {
			vmid &= 0xffffffffu >> (32 - 8 * sizes[i].vmid_len);
			assert_int_equal(packet.vmid, vmid);
		}
		for (unsigned int k = 0; k < sizes[i].cid_len; k++)
			cid |= (uint32_t)(1 + sizes[i].vmid_len + k) << 8 * k;
		if (sizes[i].cid_len)
			assert_int_equal(packet.cid, cid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_followed),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_id_sizes),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
