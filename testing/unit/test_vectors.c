// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Short synthetic traces to flow events, as lines. Those with a number of their own in comments (8.x, C.x) are cases in
 * which decoders differ from each other or once failed. Each is decoded in many ways: all give the same events.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <itrace/cs_frame.h>
#include <itrace/ete_flow.h>
#include <itrace/text.h>

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))

/* Memory */

#define NOP	"\x1f\x20\x03\xd5"
#define BEQ_8	"\x40\x00\x00\x54"	/* B.EQ .+8 */
#define BEQ_16	"\x80\x00\x00\x54"
#define RET	"\xc0\x03\x5f\xd6"
#define ERET	"\xe0\x03\x9f\xd6"
#define BR_X0	"\x00\x00\x1f\xd6"
#define BL_3C	"\x0f\x00\x00\x94"	/* BL .+0x3c */
#define PAIR	NOP BEQ_8		/* on an N atom: eight bytes on */

struct memory {
	uint64_t addr;
	const char *bytes;
	size_t len;
};

#define MEMORY(addr, literal)	{ addr, literal, sizeof(literal) - 1 }
#define END_OF_MEMORY		{ 0, NULL, 0 }

static const struct memory pairs[] = {
	MEMORY(0x1000, PAIR PAIR PAIR PAIR PAIR PAIR PAIR PAIR), END_OF_MEMORY
};
static const struct memory branch_ret[] = { MEMORY(0x1000, NOP BEQ_16 NOP RET), END_OF_MEMORY };
static const struct memory calls[] = {
	MEMORY(0x1000, NOP BL_3C NOP BEQ_8), MEMORY(0x1040, NOP RET), MEMORY(0x1100, NOP BEQ_8), END_OF_MEMORY
};
static const struct memory handler[] = { MEMORY(0x1000, NOP ERET), MEMORY(0x2000, NOP NOP NOP BR_X0), END_OF_MEMORY };
static const struct memory texit[] = { MEMORY(0x1000, NOP "\xe0\x03\xff\xd6"), END_OF_MEMORY };
static const struct memory cmpbr[] = {
	MEMORY(0x1000, NOP "\x40\x00\x00\x74" NOP NOP "\x40\x00\x00\xf5" NOP NOP "\x40\xc0\x00\x74" NOP NOP
		"\x40\x80\x00\x74" NOP NOP),
	END_OF_MEMORY
};
/* T32 */
#define T_NOP	"\x00\xbf"
#define T_ADDS	"\x01\x31"
#define T_BEQ	"\x00\xd0"		/* BEQ .+4 */
static const struct memory it_cut[] = {	/* ITTTT and two of its four */
	MEMORY(0x1000, "\x01\xbf" T_ADDS T_ADDS), MEMORY(0x2000, T_NOP "\xfe\xe7"), END_OF_MEMORY
};
static const struct memory low_overhead[] = {	/* NOP; WLS LR,R0,0x100e; ADDS; NOP; LE LR,0x1006; NOP */
	MEMORY(0x1000, T_NOP "\x40\xf0\x05\xc0" T_ADDS T_NOP "\x0f\xf0\x05\xc0" T_NOP), END_OF_MEMORY
};
static const struct memory it_return[] = {	/* NOP; CMP; IT EQ; BXEQ LR */
	MEMORY(0x1000, T_NOP "\x00\x28\x08\xbf\x70\x47"), END_OF_MEMORY
};
static const struct memory m_handler[] = {	/* NOP; BX LR. NOP; BEQ */
	MEMORY(0x1000, T_NOP "\x70\x47"), MEMORY(0x1020, T_NOP T_BEQ T_NOP T_BEQ), END_OF_MEMORY
};
static const struct memory wide[] = {	/* NOP; LDMIA R1!,{R2,R3} in four bytes; NOP; NOP; B . */
	MEMORY(0x1000, T_NOP "\xb1\xe8\x0c\x00" T_NOP T_NOP "\xfe\xe7"), END_OF_MEMORY
};

/* Configurations */

struct setup {
	uint8_t protocol;
	const char *core;
	uint32_t trcconfigr, trcdevarch, trcidr0, trcidr1, trcidr2, trcidr8;
};

#define CCI	0x0010u
#define RS	0x1000u
#define TRCCCI	0x00000080u
#define TSMARK	0x00800000u
#define QSUPP	0x00018000u

#define ETE_SETUP(...)	{ ITRACE_PROTOCOL_ETE, "ARM-AA64", .trcidr1 = 0x4100fff0, .trcidr2 = 0x1088, __VA_ARGS__ }
#define V4_SETUP(type, ...) { ITRACE_PROTOCOL_ETMV4, type, .trcidr1 = 0x4100f440, .trcidr2 = 0x1088, __VA_ARGS__ }

static const struct setup ete = ETE_SETUP(.trcconfigr = 1, .trcdevarch = 0x47735a13);
static const struct setup ete_cc0 = ETE_SETUP(.trcconfigr = 1 | CCI, .trcdevarch = 0x47735a13, .trcidr0 = TRCCCI);
static const struct setup ete_cc4 = ETE_SETUP(.trcconfigr = 1 | CCI, .trcdevarch = 0x47735a13, .trcidr0 = TRCCCI,
	.trcidr8 = 4);
static const struct setup ete_rs = ETE_SETUP(.trcconfigr = 1 | RS, .trcdevarch = 0x47735a13);
static const struct setup ete_q = ETE_SETUP(.trcconfigr = 1, .trcdevarch = 0x47735a13, .trcidr0 = QSUPP);
static const struct setup ete_8 = ETE_SETUP(.trcconfigr = 1, .trcdevarch = 0x47735a13, .trcidr8 = 8);
static const struct setup ete_mark = ETE_SETUP(.trcconfigr = 1, .trcdevarch = 0x47715a13, .trcidr0 = TSMARK);
static const struct setup ete_no_mark = ETE_SETUP(.trcconfigr = 1, .trcdevarch = 0x47705a13, .trcidr0 = TSMARK);
static const struct setup v4_rs = V4_SETUP("Cortex-A53", .trcconfigr = 1 | RS);
static const struct setup v4_8 = V4_SETUP("Cortex-A53", .trcconfigr = 1, .trcidr8 = 8);
static const struct setup v6_m = V4_SETUP("Cortex-M0", .trcconfigr = 1, .trcidr8 = 8);
static const struct setup v7_m = V4_SETUP("Cortex-M7", .trcconfigr = 1, .trcidr8 = 8);
static const struct setup v8_m = V4_SETUP("Cortex-M33", .trcconfigr = 1, .trcidr8 = 8);
static const struct setup v7_m_0 = V4_SETUP("Cortex-M7", .trcconfigr = 1);
static const struct setup v8_m_0 = V4_SETUP("Cortex-M55", .trcconfigr = 1);

/* Traces */

#define A	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"	/* A-Sync */
#define TI	"\x01\x00"
#define ON	"\x04"
#define P	"\x82\x00\x08\x00\x00\x31"	/* 0x1000, AArch64 EL1 non-secure */
#define P_1040	"\x82\x10\x08\x00\x00\x31"
#define P_2000	"\x82\x00\x10\x00\x00\x31"
#define P_T32	"\x83\x00\x10\x00\x00\x00"	/* 0x1000, T32, EL0 secure */
#define N	"\xf6"
#define E	"\xf7"

/* the beginning of nearly all of them, and of their events */
#define BEGIN	A TI ON P			/* 0, 12, 14, 15 .. 20 */
#define BEGIN_EVENTS \
	"0 NO_SYNC( [init-decoder])\n" \
	"14 TRACE_ON( [begin or filter])\n" \
	"15 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
#define BEGIN_T32 A TI ON P_T32
#define BEGIN_T32_EVENTS \
	"0 NO_SYNC( [init-decoder])\n" \
	"14 TRACE_ON( [begin or filter])\n" \
	"15 PE_CONTEXT((ISA=T32) EL0S; 32-bit; )\n"

/* a range: instructions, bytes of the last, how it ended */
#define A64(off, start, end, num, kind) \
	#off " INSTR_RANGE(exec range=" #start ":[" #end "] num_i(" #num ") last_sz(4) (ISA=A64) " kind ")\n"
#define T32(off, start, end, num, size, kind) \
	#off " INSTR_RANGE(exec range=" #start ":[" #end "] num_i(" #num ") last_sz(" #size ") (ISA=T32) " kind ")\n"
#define N_COND	"N BR   <cond>"
#define E_COND	"E BR   <cond>"
#define E_RET	"E iBR A64:ret "

struct vector {
	const char *name;
	const struct setup *setup;
	const struct memory *memory;
	const char *bytes;
	size_t len;
	const char *events;
	const char *or_events;	/* as good; may be NULL */
};

#define BYTES(literal)	literal, sizeof(literal) - 1

static const struct vector vectors[] = {
	/* commit in cycle count packets */
	{
		"8.1", &ete_cc4, pairs, BYTES(A "\x01\x01\x01" ON P N "\x10" N N "\x14" N),
		"0 NO_SYNC( [init-decoder])\n"
		"15 TRACE_ON( [begin or filter])\n"
		"16 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(22, 0x1000, 0x1008, 2, N_COND)
		"23 CYCLE_COUNT( [CC=0]; )\n"
		A64(24, 0x1008, 0x1010, 2, N_COND)
		A64(25, 0x1010, 0x1018, 2, N_COND)
		"26 CYCLE_COUNT( [CC=0]; )\n"
		"27 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		/*
		 * A count belongs to the commit of its own packet, and comes right behind what that commits, or behind
		 * what was committed before. (OpenCSD 1.8.0 gives it behind ranges that a later packet commits.)
		 */
		"8.2", &ete_cc4, pairs, BYTES(A "\x01\x01\x01" ON P N N N "\x0e\x02\x05" N "\x0f\x00" N "\x0f\x02"),
		"0 NO_SYNC( [init-decoder])\n"
		"15 TRACE_ON( [begin or filter])\n"
		"16 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(22, 0x1000, 0x1008, 2, N_COND)
		A64(23, 0x1008, 0x1010, 2, N_COND)
		"25 CYCLE_COUNT( [CC=5]; )\n"
		"29 CYCLE_COUNT( [CC=0]; )\n"
		A64(24, 0x1010, 0x1018, 2, N_COND)
		A64(28, 0x1018, 0x1020, 2, N_COND)
		"32 CYCLE_COUNT( [CC=0]; )\n"
		"32 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.3", &ete_cc0, pairs, BYTES(A "\x01\x01\x01" ON P N "\x10" N),
		"0 NO_SYNC( [init-decoder])\n"
		"15 TRACE_ON( [begin or filter])\n"
		"16 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(22, 0x1000, 0x1008, 2, N_COND)
		"23 CYCLE_COUNT( [CC=0]; )\n"
		A64(24, 0x1008, 0x1010, 2, N_COND)
		"24 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* the return stack and Trace Info: nothing is pushed between it and the next address; what is there stays */
	{
		"8.4", &ete_rs, calls, BYTES(BEGIN A TI E P_1040 E N),
		BEGIN_EVENTS
		A64(35, 0x1000, 0x1008, 2, "E BR  b+link ")
		"36 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(42, 0x1040, 0x1048, 2, E_RET)
		"43 GAP(return-stack)\n"
		"43 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* an underflow costs one gap and nothing else */
		"C4", &ete_rs, calls, BYTES(BEGIN A TI E P_1040 E N N N "\x9a\x40\x08\x00\x00" N),
		BEGIN_EVENTS
		A64(35, 0x1000, 0x1008, 2, "E BR  b+link ")
		"36 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(42, 0x1040, 0x1048, 2, E_RET)
		"43 GAP(return-stack)\n"
		A64(51, 0x1100, 0x1108, 2, N_COND)
		"51 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.5", &ete_rs, calls, BYTES(BEGIN E E A TI N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, "E BR  b+link ")
		A64(22, 0x1040, 0x1048, 2, E_RET)
		A64(37, 0x1008, 0x1010, 2, N_COND)
		"37 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* the other reading: an entry pushed before a Trace Info is still there after the next address */
		"C4, entry kept", &ete_rs, calls, BYTES(BEGIN E A TI "\x9a\x10\x08\x00\x00" E N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, "E BR  b+link ")
		A64(41, 0x1040, 0x1048, 2, E_RET)
		A64(42, 0x1008, 0x1010, 2, N_COND)
		"42 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.7", &ete_rs, calls, BYTES(A TI ON P_1040 E "\x06\x1d\x9a\x02\x08\x00\x00"),
		BEGIN_EVENTS
		A64(21, 0x1040, 0x1048, 2, E_RET)
		"22 EXCEPTION(pref ret addr:0x1008; excep num (0x0e) )\n"
		"24 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* exception, exception return and exception again, with a return stack */
		"C1, ETMv4", &v4_rs, handler,
		BYTES(A TI ON P_2000 "\x06\x1d\x9a\x01\x10\x00\x00" "\x9a\x00\x08\x00\x00" E "\x07" "\x02\x05"
			"\x06\x1d\x9a\x01\x10\x00\x00" "\x9a\x00\x08\x00\x00" E),
		BEGIN_EVENTS
		A64(21, 0x2000, 0x2004, 1, "E --- ")
		"21 EXCEPTION(pref ret addr:0x2004; excep num (0x0e) )\n"
		A64(33, 0x1000, 0x1008, 2, "E iBR A64:eret ")
		"34 EXCEPTION_RET()\n"
		"35 TIMESTAMP( [ TS=0x000000000005]; )\n"
		"37 EXCEPTION(pref ret addr:0x2004; excep num (0x0e) )\n"
		A64(49, 0x1000, 0x1008, 2, "E iBR A64:eret ")
		"49 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"C1, ETE", &ete_rs, handler,
		BYTES(A TI ON P_2000 "\x06\x1d\x9a\x01\x10\x00\x00" "\x9a\x00\x08\x00\x00" E "\x02\x05"
			"\x06\x1d\x9a\x01\x10\x00\x00" "\x9a\x00\x08\x00\x00" E),
		BEGIN_EVENTS
		A64(21, 0x2000, 0x2004, 1, "E --- ")
		"21 EXCEPTION(pref ret addr:0x2004; excep num (0x0e) )\n"
		A64(33, 0x1000, 0x1008, 2, "E iBR A64:eret ")
		"33 EXCEPTION_RET()\n"
		"34 TIMESTAMP( [ TS=0x000000000005]; )\n"
		"36 EXCEPTION(pref ret addr:0x2004; excep num (0x0e) )\n"
		A64(48, 0x1000, 0x1008, 2, "E iBR A64:eret ")
		"48 EXCEPTION_RET()\n"
		"48 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* speculation from before the trace began */
	{
		"8.8", &ete_8, pairs, BYTES(A "\x01\x04\x03" ON P N N "\x2d\x04" N "\x2d\x01"),
		"0 NO_SYNC( [init-decoder])\n"
		"15 TRACE_ON( [begin or filter])\n"
		"16 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(22, 0x1000, 0x1008, 2, N_COND)
		A64(23, 0x1008, 0x1010, 2, N_COND)
		"27 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.9", &ete_8, pairs, BYTES(A "\x01\x04\x02\x30" ON P N "\x2d\x03"),
		"0 NO_SYNC( [init-decoder])\n"
		"16 TRACE_ON( [begin or filter])\n"
		"17 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(23, 0x1000, 0x1008, 2, N_COND)
		"24 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* a Trace Info within speculation does not disturb it */
		"C5, commit", &ete_8, pairs, BYTES(BEGIN N N A TI N "\x2d\x03"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(22, 0x1008, 0x1010, 2, N_COND)
		A64(37, 0x1010, 0x1018, 2, N_COND)
		"38 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"C5, cancel", &ete_8, pairs, BYTES(BEGIN N N A "\x01\x04\x02" N "\x2e\x02" E "\x2d\x02"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(41, 0x1008, 0x1010, 2, E_COND)
		"42 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* cancel and mispredict */
	{
		"mispredict", &ete_8, pairs, BYTES(BEGIN N "\x30" "\x2d\x01"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, E_COND)
		"23 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"cancel one and mispredict", &ete_8, pairs, BYTES(BEGIN N E "\x34" "\x2d\x01"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, E_COND)
		"24 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"add two, cancel one and mispredict", &ete_8, pairs, BYTES(BEGIN "\x36" "\x2d\x01"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* cancel removes an address that it passes, and an exception with its address */
		"cancel over addresses", &ete_8, pairs,
		BYTES(BEGIN N N "\x9a\x10\x08\x00\x00" E "\x06\x1d\x9a\x12\x08\x00\x00" "\x2e\x03" N "\x2d\x02"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(38, 0x1008, 0x1010, 2, N_COND)
		"39 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* more than there are cost the trace up to the next A-Sync */
		"commit too many", &ete_8, pairs, BYTES(BEGIN N "\x2d\x02" N A TI ON P N "\x2d\x01"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 GAP(commit-overrun)\n"
		"22 NO_SYNC( [bad-packet])\n"
		"39 TRACE_ON( [begin or filter])\n"
		"40 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(46, 0x1000, 0x1008, 2, N_COND)
		"47 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* the gap is at the packet that cannot follow */
		"exception without address", &ete, pairs,
		BYTES(BEGIN N "\x06\x1d" ON "\x9a\x00\x08\x00\x00" N A TI ON P N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"24 GAP(bad-sequence)\n"
		"25 NO_SYNC( [bad-packet])\n"
		"45 TRACE_ON( [begin or filter])\n"
		"46 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(52, 0x1000, 0x1008, 2, N_COND)
		"52 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* Q: its offset is its own, the context with its address applies behind it */
	{
		"Q with count", &ete_q, branch_ret, BYTES(BEGIN "\xaa\x02\x08\x00\x00\x02" N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, E_COND)
		A64(27, 0x1008, 0x1010, 2, "N iBR A64:ret ")
		"27 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"Q, address behind", &ete_q, branch_ret, BYTES(BEGIN "\xac\x02" "\x82\x04\x08\x00\x00\x12" N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, E_COND)
		"21 PE_CONTEXT((ISA=A64) EL2S; 64-bit; )\n"
		"29 ADDR_NACC( 0x1010; Memspace [0x10:EL2S] )\n"
		"29 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"Q without count", &ete_q, branch_ret, BYTES(BEGIN "\xaf" "\x9a\x02\x08\x00\x00" N),
		BEGIN_EVENTS
		"21 I_RANGE_NOPATH(first 0x1000:[next 0x1008] num_i(0) )\n"
		A64(27, 0x1008, 0x1010, 2, "N iBR A64:ret ")
		"27 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"Q, another number", &ete_q, branch_ret, BYTES(BEGIN "\xaa\x02\x08\x00\x00\x07" N),
		BEGIN_EVENTS
		"21 I_RANGE_NOPATH(first 0x1000:[next 0x1008] num_i(7) )\n"
		A64(27, 0x1008, 0x1010, 2, "N iBR A64:ret ")
		"27 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* source address: to the instruction at it, which was taken */
	{
		"source address", &ete, branch_ret, BYTES(BEGIN "\xb4\x03" "\x9a\x00\x08\x00\x00" N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1010, 4, E_RET)
		A64(28, 0x1000, 0x1008, 2, N_COND)
		"28 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* a P0 element: can be cancelled */
		"source address cancelled", &ete_8, branch_ret, BYTES(BEGIN "\xb4\x03" "\x2e\x01" N "\x2d\x01"),
		BEGIN_EVENTS
		A64(25, 0x1000, 0x1008, 2, N_COND)
		"26 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* instructions that are new */
	{
		"8.10", &ete, texit, BYTES(BEGIN E),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, "E iBR A64:eret ")
		"21 EXCEPTION_RET()\n"
		"21 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.11", &ete, cmpbr, BYTES(BEGIN N E E E),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(22, 0x1008, 0x1014, 3, E_COND)
		A64(23, 0x1018, 0x1020, 2, E_COND)
		A64(24, 0x1024, 0x102c, 2, E_COND)
		"24 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.12", &v8_m_0, low_overhead, BYTES(BEGIN_T32 N E N),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1006, 2, 4, "N BR   <cond>")
		T32(22, 0x1006, 0x100e, 3, 4, "E BR   <cond>")
		T32(23, 0x1006, 0x100e, 3, 4, "N BR   <cond>")
		"23 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* IT blocks */
	{
		"8.6", &v7_m_0, it_cut, BYTES(BEGIN_T32 E "\x9b\x00\x20\x00\x00" E),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1006, 3, 2, "E ---  <cond>")
		"21 ADDR_NACC( 0x1006; Memspace [0x1:EL1S] )\n"
		T32(27, 0x2000, 0x2004, 2, 2, "E BR  ")
		"27 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"8.13, C6", &v7_m_0, it_return, BYTES(BEGIN_T32 N),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1008, 4, 2, "N iBR V7:impl ret <cond>")
		"21 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* an exception return is a P0 element on every M profile, and on no other */
	{
		"C2, v6-M", &v6_m, m_handler, BYTES(BEGIN_T32 E "\x07" "\x9b\x10\x10\x00\x00" N N "\x2d\x03"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1004, 2, 2, "E iBR V7:impl ret")
		"22 EXCEPTION_RET()\n"
		T32(28, 0x1020, 0x1024, 2, 2, N_COND)
		"30 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"C2, v7-M", &v7_m, m_handler, BYTES(BEGIN_T32 E "\x07" "\x9b\x10\x10\x00\x00" N N "\x2d\x03"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1004, 2, 2, "E iBR V7:impl ret")
		"22 EXCEPTION_RET()\n"
		T32(28, 0x1020, 0x1024, 2, 2, N_COND)
		"30 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"C2, v8-M", &v8_m, m_handler, BYTES(BEGIN_T32 E "\x07" "\x9b\x10\x10\x00\x00" N N "\x2d\x03"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1004, 2, 2, "E iBR V7:impl ret")
		"22 EXCEPTION_RET()\n"
		T32(28, 0x1020, 0x1024, 2, 2, N_COND)
		"30 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"C2, A", &v4_8, m_handler, BYTES(BEGIN_T32 E "\x07" "\x9b\x10\x10\x00\x00" N N "\x2d\x03"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1004, 2, 2, "E iBR V7:impl ret")
		"22 EXCEPTION_RET()\n"
		T32(28, 0x1020, 0x1024, 2, 2, N_COND)
		T32(29, 0x1024, 0x1028, 2, 2, N_COND)
		"30 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* a return address at the start of, in, and behind an instruction of four bytes */
	{
		"C3, start", &v7_m_0, wide, BYTES(BEGIN_T32 "\x06\x1f\x9b\x01\x10\x00\x00"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1002, 1, 2, "E --- ")
		"21 EXCEPTION(pref ret addr:0x1002; excep num (0x0f) )\n"
		"23 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"C3, middle", &v7_m_0, wide, BYTES(BEGIN_T32 "\x06\x1f\x9b\x02\x10\x00\x00"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1006, 2, 4, "E --- ")
		"21 EXCEPTION(pref ret addr:0x1004; excep num (0x0f) )\n"
		"23 EO_TRACE( [end-of-trace])\n",
		/* no source says whether the instruction counts */
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1002, 1, 2, "E --- ")
		"21 EXCEPTION(pref ret addr:0x1004; excep num (0x0f) )\n"
		"23 EO_TRACE( [end-of-trace])\n"
	}, {
		"C3, end", &v7_m_0, wide, BYTES(BEGIN_T32 "\x06\x1f\x9b\x03\x10\x00\x00"),
		BEGIN_T32_EVENTS
		T32(21, 0x1000, 0x1006, 2, 4, "E --- ")
		"21 EXCEPTION(pref ret addr:0x1006; excep num (0x0f) )\n"
		"23 EO_TRACE( [end-of-trace])\n", NULL
	},
	/* plain cases */
	{
		"branch not taken", &ete, branch_ret, BYTES(BEGIN N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"21 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"exception at the target", &ete, branch_ret, BYTES(BEGIN N E "\x06\x5c\x9a\x04\x08\x00\x00"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(22, 0x1008, 0x1010, 2, E_RET)
		"23 EXCEPTION(pref ret addr:0x1010 [addr also prev br tgt]; excep num (0x0e) )\n"
		"25 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"exception with context", &ete, branch_ret, BYTES(BEGIN N "\x06\x1d\x82\x04\x08\x00\x00\x12"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 PE_CONTEXT((ISA=A64) EL2S; 64-bit; )\n"
		A64(22, 0x1008, 0x1010, 2, E_RET)
		"22 EXCEPTION(pref ret addr:0x1010; excep num (0x0e) )\n"
		"24 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"exception of three bytes", &ete, branch_ret, BYTES(BEGIN N "\x06\x9d\x01\x9a\x04\x08\x00\x00"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(22, 0x1008, 0x1010, 2, E_RET)
		"22 EXCEPTION(pref ret addr:0x1010; excep num (0x2e) )\n"
		"25 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* the return address is the address just sent: nothing ran */
		"exception at an exact match", &ete, branch_ret, BYTES(BEGIN N E "\x9a\x04\x08\x00\x00\x06\x17\x90"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		A64(22, 0x1008, 0x1010, 2, E_RET)
		"28 EXCEPTION(pref ret addr:0x1010; excep num (0x0b) )\n"
		"30 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"time before a marker", &ete_mark, branch_ret, BYTES(BEGIN "\x02\x05" E),
		BEGIN_EVENTS
		A64(23, 0x1000, 0x1008, 2, E_COND)
		"23 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"time behind a marker", &ete_mark, branch_ret, BYTES(BEGIN "\x88\x02\x05" E),
		BEGIN_EVENTS
		"21 SYNC_MARKER( [Timestamp marker(0x00000000)])\n"
		"22 TIMESTAMP( [ TS=0x000000000005]; )\n"
		A64(24, 0x1000, 0x1008, 2, E_COND)
		"24 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"time without markers", &ete_no_mark, branch_ret, BYTES(BEGIN "\x02\x05" E),
		BEGIN_EVENTS
		"21 TIMESTAMP( [ TS=0x000000000005]; )\n"
		A64(23, 0x1000, 0x1008, 2, E_COND)
		"23 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"time with cycles", &ete_cc0, branch_ret, BYTES(BEGIN "\x03\x05\x07" E "\x02\x06"),
		BEGIN_EVENTS
		"21 TIMESTAMP( [ TS=0x000000000005];  [CC=7]; )\n"
		A64(24, 0x1000, 0x1008, 2, E_COND)
		"25 TIMESTAMP( [ TS=0x000000000006];  [CC=0]; )\n"
		"25 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"transaction", &ete, branch_ret, BYTES(BEGIN "\x0a" N "\x06\x31\x70" N),
		BEGIN_EVENTS
		"21 MEMTRANS(Start)\n"
		A64(22, 0x1000, 0x1008, 2, N_COND)
		"23 MEMTRANS(Fail)\n"
		A64(26, 0x1008, 0x1010, 2, "N iBR A64:ret ")
		"26 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"transaction under way", &ete, branch_ret, BYTES(A "\x01\x01\x40" ON P N "\x0b"),
		"0 NO_SYNC( [init-decoder])\n"
		"12 MEMTRANS(Init)\n"
		"15 TRACE_ON( [begin or filter])\n"
		"16 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(22, 0x1000, 0x1008, 2, N_COND)
		"23 MEMTRANS(Commit)\n"
		"23 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"instrumentation", &ete, branch_ret, BYTES(BEGIN "\x09\x01\xff\xff\x0f\x00\x00\x00\x00\x00" N),
		BEGIN_EVENTS
		"21 INSTRUMENTATION(EL1; 0x00000000000fffff)\n"
		A64(31, 0x1000, 0x1008, 2, N_COND)
		"31 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"overflow", &ete, branch_ret, BYTES(BEGIN N "\x00\x05" A TI ON P N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 GAP(overflow)\n"
		"22 NO_SYNC( [overflow])\n"
		"38 TRACE_ON( [overflow])\n"
		"39 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(45, 0x1000, 0x1008, 2, N_COND)
		"45 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"overflow at the end", &ete, branch_ret, BYTES(BEGIN N "\x00\x05"),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 GAP(overflow)\n"
		"22 NO_SYNC( [overflow])\n"
		"22 EO_TRACE( [overflow])\n", NULL
	}, {	/* what is no P0 survives: also instrumentation */
		"discard", &ete_8, pairs,
		BYTES(BEGIN N "\x71\x02\x05\x09\x02\x01\x00\x00\x00\x00\x00\x00\x00" N "\x00\x03"),
		"0 NO_SYNC( [init-decoder])\n"
		"22 EVENT( Numbered:1; )\n"
		"23 TIMESTAMP( [ TS=0x000000000005]; )\n"
		"25 INSTRUMENTATION(EL2; 0x0000000000000001)\n"
		"36 GAP(discard)\n"
		"36 NO_SYNC( [discard])\n"
		"36 EO_TRACE( [end-of-trace])\n", NULL
	}, {
		"event between A-Sync and Trace Info", &ete, branch_ret, BYTES(A "\x71"),
		"0 NO_SYNC( [init-decoder])\n"
		"12 EVENT( Numbered:1; )\n"
		"12 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* 07 is no packet of an ETE: decoding goes on at the next A-Sync */
		"reserved header", &ete, branch_ret, BYTES(BEGIN N "\x07" N A TI ON P N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 GAP(bad-packet)\n"
		"23 NO_SYNC( [bad-packet])\n"
		"38 TRACE_ON( [begin or filter])\n"
		"39 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"
		A64(45, 0x1000, 0x1008, 2, N_COND)
		"45 EO_TRACE( [end-of-trace])\n", NULL
	}, {	/* PE Reset: an exception without an address, and decoding goes on */
		"PE reset", &ete, branch_ret, BYTES(BEGIN N "\x06\x01\x70" "\x9a\x00\x08\x00\x00" N),
		BEGIN_EVENTS
		A64(21, 0x1000, 0x1008, 2, N_COND)
		"22 EXCEPTION(excep num (0x00) )\n"
		A64(30, 0x1000, 0x1008, 2, N_COND)
		"30 EO_TRACE( [end-of-trace])\n", NULL
	},
};

/* Decoding */

struct way {
	size_t chunk;		/* bytes of a chunk; 0 = all */
	size_t first;		/* bytes of the first; 0 = like the others */
	unsigned int n;		/* events at once */
	size_t blocks;		/* of the cache */
	bool layered;
};

#define SEGMENT_NUM	4
#define BLOCK_NUM	64
#define TEXT_NUM	8192

static struct itrace_image image;
static struct itrace_block blocks[BLOCK_NUM];

static void make_config(const struct setup *setup, struct itrace_ete_config *config)
{
	struct itrace_ete_registers regs;
	enum itrace_profile profile;
	enum itrace_arch arch;
	const char *why = NULL;

	itrace_ete_registers_default(setup->protocol, &regs);
	regs.trcconfigr = setup->trcconfigr;
	regs.trcidr0 = setup->trcidr0 | (setup->trcconfigr & 1u << 12 ? 1u << 9 : 0);	/* RS needs RETSTACK */
	regs.trcidr1 = setup->trcidr1;
	regs.trcidr2 = setup->trcidr2;
	regs.trcidr8 = setup->trcidr8;
	if (setup->trcdevarch)
		regs.trcdevarch = setup->trcdevarch;
	assert_true(itrace_core_type(setup->core, &profile, &arch));
	if (itrace_ete_config_init(config, setup->protocol, profile, arch, &regs, &why))
		fail_msg("%s: %s", setup->core, why);
}

static void put_events(struct itrace_ete_flow *flow, unsigned int n, char *text)
{
	struct itrace_event events[16];
	unsigned int count;

	while ((count = itrace_ete_flow_next(flow, events, n))) {
		assert_true(count <= n);
		for (unsigned int i = 0; i < count; i++) {
			size_t len = strlen(text);
			char line[ITRACE_TEXT_MAX];
			const char *words = line;

			assert_true(len + sizeof(line) + 32 < TEXT_NUM);
			if (itrace_text_event_opencsd(0, &events[i], line, sizeof(line))) {
				words = strstr(line, "ELEM_");
				assert_non_null(words);
				words += strlen("ELEM_");
			} else {
				snprintf(line, sizeof(line), "GAP(%s)", itrace_gap_name(events[i].cause));
			}
			snprintf(text + len, TEXT_NUM - len, "%llu %s\n", (unsigned long long)events[i].off, words);
		}
	}
}

static void decode(const struct vector *vector, const struct way *way, char *text)
{
	struct itrace_segment segments[SEGMENT_NUM];
	static struct itrace_ete_flow flow;
	struct itrace_ledger ledger;
	struct itrace_ete_config config;
	uint8_t *copies[SEGMENT_NUM];
	size_t count = 0;

	for (; vector->memory[count].bytes; count++) {
		assert_true(count < SEGMENT_NUM);
		copies[count] = malloc(vector->memory[count].len);
		memcpy(copies[count], vector->memory[count].bytes, vector->memory[count].len);
		segments[count] = (struct itrace_segment){
			.addr = vector->memory[count].addr, .len = vector->memory[count].len,
			.data = copies[count], .space = ITRACE_SPACE_ANY
		};
	}
	make_config(vector->setup, &config);
	itrace_image_init(&image, segments, count, NULL, NULL);
	itrace_ledger_init(&ledger);
	itrace_ete_flow_init(&flow, &config, &image, blocks, way->blocks, &ledger);
	flow.layered = way->layered;

	text[0] = 0;
	for (size_t pos = 0, part = way->first ? way->first : way->chunk; pos < vector->len; part = way->chunk) {
		if (!part || part > vector->len - pos)
			part = vector->len - pos;
		uint8_t *chunk = malloc(part);
		memcpy(chunk, vector->bytes + pos, part);
		itrace_ete_flow_feed(&flow, pos, chunk, part);
		put_events(&flow, way->n, text);
		free(chunk);
		pos += part;
	}
	itrace_ete_flow_finish(&flow);
	put_events(&flow, way->n, text);

	ledger.trace_len = vector->len;
	if (!itrace_ledger_balances(&ledger))
		fail_msg("%s: the ledger does not balance", vector->name);
	for (size_t i = 0; i < count; i++)
		free(copies[i]);
}

static void test_events(void **state)
{
	static char text[TEXT_NUM];
	unsigned int failed = 0;

	for (size_t i = 0; i < ARRAY_NUM(vectors); i++) {
		const struct vector *vector = &vectors[i];
		const struct way way = { .n = 16, .blocks = BLOCK_NUM };

		decode(vector, &way, text);
		if (!strcmp(text, vector->events) || (vector->or_events && !strcmp(text, vector->or_events)))
			continue;
		failed++;
		/* in pieces: cmocka cuts long messages */
		print_error("%s:\n", vector->name);
		print_error("%s", text);
		print_error("not:\n");
		print_error("%s\n", vector->events);
	}
	assert_int_equal(failed, 0);
}

/* Every split, every number of events at once, any cache, with and without the short cut: the same events. */
static void test_ways(void **state)
{
	static char whole[TEXT_NUM], text[TEXT_NUM];

	for (size_t i = 0; i < ARRAY_NUM(vectors); i++) {
		const struct vector *vector = &vectors[i];
		const struct way usual = { .n = 16, .blocks = BLOCK_NUM };

		decode(vector, &usual, whole);
		for (size_t first = 1; first < vector->len; first++) {
			for (unsigned int kind = 0; kind < 8; kind++) {
				const struct way way = {
					.first = first,
					.chunk = kind & 1 ? 1 + first % 5 : 0,
					.n = kind & 2 ? 1 + first % 3 : 16,
					.blocks = first % 2 ? 1 : BLOCK_NUM,
					.layered = kind & 4
				};

				decode(vector, &way, text);
				if (strcmp(text, whole))
					fail_msg("%s, first %zu, chunk %zu, n %u, blocks %zu, layered %d:\n%snot:\n%s",
						vector->name, way.first, way.chunk, way.n, way.blocks, way.layered,
						text, whole);
			}
		}
	}
}

/* The worked example of a frame, down to its packets. */
static void test_frame(void **state)
{
	static const uint8_t bytes[] = {
		0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00,
		0x04, 0x82, 0x00, 0x08, 0x00, 0x00, 0x30, 0xf7, 0x23, 0xf6, 0xaa, 0xbb, 0x21, 0xf7, 0xda, 0x98
	};
	static const char * const expected[] = {
		"Idx:0; ID:10;\tI_ASYNC : Alignment Synchronisation.",
		"Idx:12; ID:10;\tI_TRACE_INFO : Trace Info.; INFO=0x0 { CC.0, TSTATE.0 }",
		"Idx:16; ID:10;\tI_TRACE_ON : Trace On.",
		("Idx:17; ID:10;\tI_ADDR_CTXT_L_32IS0 : Address & Context, Long, 32 bit, IS0.; "
			"Addr=0x0000000000001000; Ctxt: AArch64,EL1, NS; "),
		"Idx:23; ID:10;\tI_ATOM_F1 : Atom format 1.; E",
		"Idx:24; ID:10;\tI_ATOM_F1 : Atom format 1.; N",
		"Idx:28; ID:10;\tI_ATOM_F1 : Atom format 1.; E",
		"Idx:29; ID:10;\tI_ATOM_F2 : Atom format 2.; EE"
	};
	struct itrace_ete_config config;
	struct itrace_ete_stream stream;
	struct itrace_cs_frame frame;
	struct itrace_frame_run run;
	size_t count = 0;

	make_config(&ete, &config);
	itrace_ete_stream_init(&stream, &config, NULL);
	itrace_cs_frame_init(&frame, ITRACE_FRAMING_CORESIGHT);
	itrace_cs_frame_feed(&frame, 0, bytes, sizeof(bytes));
	while (itrace_cs_frame_next(&frame, &run) == 1) {
		struct itrace_ete_packet packet;
		char line[ITRACE_TEXT_MAX];

		if (run.id != 0x10)
			continue;
		itrace_ete_stream_feed(&stream, run.off, run.bytes, run.len);
		while (itrace_ete_stream_next(&stream, &packet, 1)) {
			assert_true(count < ARRAY_NUM(expected));
			itrace_text_packet_opencsd(&config, 0x10, &packet, line, sizeof(line));
			assert_string_equal(line, expected[count]);
			count++;
		}
	}
	assert_int_equal(count, ARRAY_NUM(expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
