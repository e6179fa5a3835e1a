/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A Cortex-M core. Unicorn executes the instructions; everything else is done here: exceptions, special registers,
 * debug and the system control space. Unicorn knows one mode and one stack pointer only; which stack that is, the
 * special registers and the IT state are kept here. It stops at every instruction that needs any of this.
 *
 * Parts: cortexm_core.c runs, cortexm_exception.c has exceptions, cortexm_special.c the instructions that are not for
 * Unicorn, cortexm_scs.c the system control space, cortexm_debug.c halting, breakpoints and watchpoints.
 */

#ifndef CORTEXM_H
#define CORTEXM_H

#include "cortexm_insn.h"
#include "cortexm_mtb.h"
#include "sim_buffer.h"

#include <stdio.h>
#include <unicorn/unicorn.h>

#define CORTEXM_EXCEPTIONS	48u	/* 16 of the system, 32 interrupts */
#define CORTEXM_REGIONS		4u
#define CORTEXM_TIMERS		4u
#define CORTEXM_FPB		8u
#define CORTEXM_DWT		4u
#define CORTEXM_PPB_BASE	0xe0000000u
#define CORTEXM_PPB_SIZE	0x100000u

enum cortexm_exception {
	CORTEXM_NMI = 2,
	CORTEXM_HARDFAULT = 3,
	CORTEXM_MEMMANAGE = 4,
	CORTEXM_BUSFAULT = 5,
	CORTEXM_USAGEFAULT = 6,
	CORTEXM_SVCALL = 11,
	CORTEXM_DEBUGMON = 12,
	CORTEXM_PENDSV = 14,
	CORTEXM_SYSTICK = 15,
};

/** Fault status, as CFSR has it; on v6-M it only says what happened. */
enum cortexm_fault {
	CORTEXM_IACCVIOL = 1u << 0,
	CORTEXM_IBUSERR = 1u << 8,
	CORTEXM_PRECISERR = 1u << 9,
	CORTEXM_UNSTKERR = 1u << 11,
	CORTEXM_STKERR = 1u << 12,
	CORTEXM_BFARVALID = 1u << 15,
	CORTEXM_UNDEFINSTR = 1u << 16,
	CORTEXM_INVSTATE = 1u << 17,
	CORTEXM_INVPC = 1u << 18,
	CORTEXM_UNALIGNED = 1u << 24,
};

struct cortexm_type {
	const char *name;
	bool v8m;
	int uc_model;
	uint32_t cpuid;
	uint32_t dpidr;
	uint32_t ap_idr;
	uint8_t priority_mask;
	unsigned int fpb;	/* comparators */
	unsigned int dwt;
	unsigned int entry_cycles;
	uint32_t flash_base, flash_size;
	uint32_t ram_base, ram_size;
	uint32_t mtb_base;	/* of its registers; 0: there is none */
	uint32_t rom_base;	/* of the ROM table that the AP names */
	unsigned int mtb_aw;
};

/** How the things look that no manual tells. */
struct cortexm_choices {
	bool chain_unstacked;	/* a tail-chain is a whole return and an entry in the trace, else one packet less */
	bool lockup_silent;	/* going to lock-up writes no packet */
	bool debug_pc_changed;	/* a debugger's write of the PC gives a packet only if it is another */
	unsigned int halt_skid;	/* instructions between HALTREQ and the halt */
	unsigned int reg_delay;	/* reads of DHCSR until a register of the core that was asked for is there */
	bool dark_sleep;	/* in deep sleep the debug port reaches nothing */
};

struct cortexm_region {
	uint32_t base;
	uint32_t size;
	bool read_only;		/* for the program */
	uint8_t *bytes;
};

enum cortexm_stack { CORTEXM_MSP, CORTEXM_PSP };

struct cortexm_last {
	bool valid;
	uint32_t pc;
	uint32_t opcode;
	enum cortexm_insn_kind kind;
};

struct cortexm_timer {
	uint32_t load;		/* cycles, or their greatest number if random */
	uint32_t ctrl;
	uint64_t next;		/* cycle */
	uint64_t fired;
};

struct cortexm_dwt {
	uint32_t comp, mask, function;
};

/** Two comparators of Kinetis L chips that start and stop the trace. */
struct cortexm_mtb_dwt {
	uint32_t comp[2], mask[2], function[2];
	uint32_t tbctrl;
};

struct cortexm_debug {
	uint32_t dhcsr;		/* C_ bits */
	uint32_t demcr;
	uint32_t dcrdr;
	uint32_t dcrsr;		/* what is still to be transferred */
	unsigned int reg_wait;	/* reads of DHCSR until then; 0: nothing is */
	uint32_t dfsr;
	bool halted;
	bool reset_seen;	/* S_RESET_ST */
	bool retired;		/* S_RETIRE_ST */
	bool pc_written;	/* in debug state */
	uint32_t old_pc;
	uint32_t fp_ctrl;
	uint32_t fp_comp[CORTEXM_FPB];
	uint32_t dwt_ctrl;
	struct cortexm_dwt dwt[CORTEXM_DWT];
	bool any_pc;		/* some comparator looks at the PC */
	bool any_watchpoint;
	bool watch_hit;		/* an access was met: halt behind it */
	unsigned int skid;
	bool skidding;
	uint64_t halts;
};

struct cortexm {
	const struct cortexm_type *type;
	struct cortexm_choices choices;
	uc_engine *uc;
	struct cortexm_region region[CORTEXM_REGIONS];
	unsigned int regions;
	struct cortexm_mtb mtb;
	struct cortexm_mtb_dwt mtb_dwt;
	struct sim_random random;

	/* What Unicorn does not have. */
	uint32_t pc;			/* of the next instruction, while Unicorn stands */
	uint32_t stack[2];		/* of the pointer that is not in use */
	uint32_t ipsr;
	uint32_t control, primask, basepri, faultmask;
	uint32_t limit[2];		/* MSPLIM, PSPLIM: kept, not checked */
	uint8_t it;			/* ITSTATE */
	bool arm_state;			/* xPSR.T is 0: nothing can be executed */

	/* Exceptions, by number. */
	uint64_t pending, active, enabled;
	uint8_t priority[CORTEXM_EXCEPTIONS];
	uint32_t vtor, aircr, scr, ccr, shcsr, cfsr, hfsr, mmfar, bfar, actlr;
	bool reset_request;
	bool event;			/* of WFE */
	bool sleeping;
	bool sleep_for_event;
	bool lockup;
	bool in_reset;			/* by the pin */

	uint32_t systick_csr, systick_rvr, systick_cvr;	/* cvr while it stands */
	uint64_t systick_zero;		/* cycle in which it gets 0 */
	struct cortexm_timer timer[CORTEXM_TIMERS];

	struct cortexm_debug debug;

	/* Running. */
	uint64_t cycle;
	uint64_t until;			/* stop at this cycle */
	bool attention;			/* look around before the next instruction */
	bool code_dirty;		/* memory was written from outside: Unicorn's translations may be wrong */
	struct cortexm_last last;	/* not reported yet: its successor is unknown */
	uint32_t sampled_pc;
	uint64_t retired;
	int intno;			/* reported by Unicorn, -1: none */
	uint32_t fault_addr;

	FILE *log;
	uint64_t resets;
};

/* ---- cortexm_core.c ---- */

/** Make the engine. Regions must be there. @returns NULL or what is wrong. */
const char *cortexm_init(struct cortexm *core);
void cortexm_free(struct cortexm *core);

/** Run for @a cycles, or until it halts or waits for nothing. At most @a max instructions. */
void cortexm_run(struct cortexm *core, uint64_t cycles, uint64_t max);

/** Exactly one instruction, or the entry of an exception that has none. */
void cortexm_step(struct cortexm *core);

/** Registers of Unicorn: UC_ARM_REG_... */
uint32_t cortexm_reg(const struct cortexm *core, int reg);
void cortexm_reg_set(struct cortexm *core, int reg, uint32_t value);

enum cortexm_stack cortexm_stack_in_use(const struct cortexm *core);
uint32_t cortexm_sp(const struct cortexm *core, enum cortexm_stack stack);
void cortexm_sp_set(struct cortexm *core, enum cortexm_stack stack, uint32_t value);

/** Change mode and CONTROL; the stack pointers follow. */
void cortexm_set_mode(struct cortexm *core, uint32_t ipsr, uint32_t control);

/** All of xPSR. Writing it does not change the mode. */
uint32_t cortexm_xpsr(const struct cortexm *core);
void cortexm_xpsr_set(struct cortexm *core, uint32_t value);

bool cortexm_privileged(const struct cortexm *core);

/** Memory; NULL if it is not all there. */
uint8_t *cortexm_memory(const struct cortexm *core, uint32_t addr, uint32_t len);
bool cortexm_load(const struct cortexm *core, uint32_t addr, uint32_t *word);
bool cortexm_store(struct cortexm *core, uint32_t addr, uint32_t word);

/** The instruction at @a pc. @returns false: no memory. */
bool cortexm_fetch(const struct cortexm *core, uint32_t pc, uint32_t *opcode);

/** The last instruction is complete and goes on at @a next: log and trace. */
void cortexm_retire(struct cortexm *core, uint32_t next);

/** A packet for the trace, and its line in the log. */
void cortexm_trace(struct cortexm *core, uint32_t source, bool atomic, uint32_t destination);

/** One line of the log, if there is one. */
void cortexm_log(struct cortexm *core, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- cortexm_exception.c ---- */

void cortexm_reset(struct cortexm *core);
void cortexm_pend(struct cortexm *core, unsigned int number);

/** Would anything pending be taken now? @returns its number, 0: nothing. @a masked: no interrupts (C_MASKINTS). */
unsigned int cortexm_pending_to_take(const struct cortexm *core, bool masked);
bool cortexm_wakes(const struct cortexm *core);

/** Take the exception; @a return_pc goes on the stack. */
void cortexm_enter(struct cortexm *core, unsigned int number, uint32_t return_pc);

/** The PC is EXC_RETURN @a value in handler mode. */
void cortexm_exception_return(struct cortexm *core, uint32_t value);

/** A fault of the instruction at @a pc, which is not complete (or of the fetch from there). */
void cortexm_fault(struct cortexm *core, uint32_t status, uint32_t pc, uint32_t addr);

/** BKPT that nobody halts at, an SVC. @a pc is the return address. */
void cortexm_debug_fault(struct cortexm *core, uint32_t pc);
void cortexm_svc(struct cortexm *core, uint32_t pc);

/** A debug event without a debugger, for @a reason (a bit of DFSR): the monitor's, if it is enabled. */
void cortexm_monitor(struct cortexm *core, uint32_t reason);

int cortexm_priority_of(const struct cortexm *core, unsigned int number);
int cortexm_priority_now(const struct cortexm *core);

/** Timers up to the present cycle; the next cycle in which one is due. */
void cortexm_timers(struct cortexm *core);
uint64_t cortexm_next_event(const struct cortexm *core);

/* ---- cortexm_special.c ---- */

/** Execute the special instruction at core->pc. */
void cortexm_special(struct cortexm *core, uint32_t opcode);
void cortexm_it_advance(struct cortexm *core);

/* ---- cortexm_scs.c ---- */

/** Peripherals of the core and of the chip, words. @returns false: nothing is there. */
bool cortexm_scs_read(struct cortexm *core, uint32_t addr, uint32_t *value);
bool cortexm_scs_write(struct cortexm *core, uint32_t addr, uint32_t value, bool privileged);

/* ---- cortexm_debug.c ---- */

bool cortexm_debug_read(struct cortexm *core, uint32_t addr, bool debugger, uint32_t *value);
bool cortexm_debug_write(struct cortexm *core, uint32_t addr, bool debugger, uint32_t value);
void cortexm_debug_init(struct cortexm *core);

/** Comparators or enables have changed. */
void cortexm_debug_comparators(struct cortexm *core);

/** Halting is enabled. */
bool cortexm_debug_on(const struct cortexm *core);

/** Halt before the instruction at core->pc, for this reason (a bit of DFSR). */
void cortexm_halt(struct cortexm *core, uint32_t reason);

/** Is there a comparator that matches @a pc? */
bool cortexm_debug_looks(const struct cortexm *core, uint32_t pc);

/** The instruction at @a pc is to be executed: inputs of the trace. @returns why to halt (bit of DFSR), 0: go. */
uint32_t cortexm_debug_at(struct cortexm *core, uint32_t pc);

/** An access of the program. */
void cortexm_debug_access(struct cortexm *core, uint32_t addr, unsigned int size, bool write);

/** Exception @a number is entered: is there a vector catch for it? */
bool cortexm_vector_catch(const struct cortexm *core, unsigned int number, uint32_t status);

#define CORTEXM_DFSR_HALTED	(1u << 0)
#define CORTEXM_DFSR_BKPT	(1u << 1)
#define CORTEXM_DFSR_DWTTRAP	(1u << 2)
#define CORTEXM_DFSR_VCATCH	(1u << 3)
#define CORTEXM_DFSR_EXTERNAL	(1u << 4)

#define CORTEXM_C_DEBUGEN	(1u << 0)
#define CORTEXM_C_HALT		(1u << 1)
#define CORTEXM_C_STEP		(1u << 2)
#define CORTEXM_C_MASKINTS	(1u << 3)

#define CORTEXM_XPSR_T		(1u << 24)
#define CORTEXM_XPSR_FLAGS	0xf80f0000u	/* NZCVQ and GE: Unicorn has them */
#define CORTEXM_NPRIV		(1u << 0)
#define CORTEXM_SPSEL		(1u << 1)

#endif
