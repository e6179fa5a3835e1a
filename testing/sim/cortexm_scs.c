// SPDX-License-Identifier: GPL-2.0-or-later

/* System control space, IDs, ROM tables, and the chip's own registers: timers, trace buffer and its MTB_DWT. */

#include "cortexm.h"

#define TIMERS		0x40001000u
#define ROM_TABLE	0xe00ff000u
#define SCS		0xe000e000u
#define DWT		0xe0001000u
#define FPB		0xe0002000u
#define VECTKEY		0x05fau
#define SYSRESETREQ	(1u << 2)
#define VECTCLRACTIVE	(1u << 1)
#define SYSTICK_ENABLE	1u
#define SYSTICK_COUNTED	(1u << 16)
#define IRQ0		16u

enum {
	ACTLR = 0x008,
	SYST_CSR = 0x010,
	SYST_RVR = 0x014,
	SYST_CVR = 0x018,
	SYST_CALIB = 0x01c,
	NVIC_ISER = 0x100,
	NVIC_ICER = 0x180,
	NVIC_ISPR = 0x200,
	NVIC_ICPR = 0x280,
	NVIC_IABR = 0x300,
	NVIC_IPR = 0x400,
	NVIC_IPR_END = 0x420,
	CPUID = 0xd00,
	ICSR = 0xd04,
	VTOR = 0xd08,
	AIRCR = 0xd0c,
	SCR = 0xd10,
	CCR = 0xd14,
	SHPR1 = 0xd18,
	SHPR3 = 0xd20,
	SHCSR = 0xd24,
	CFSR = 0xd28,
	HFSR = 0xd2c,
	MMFAR = 0xd34,
	BFAR = 0xd38,
	STIR = 0xf00,
	DAUTHSTATUS = 0xfb8,
};

static uint64_t bit(unsigned int number)
{
	return 1ull << number;
}

/* ---- IDs ---- */

struct component {
	uint32_t base;
	uint8_t pidr[3];	/* PIDR0 to 2; PIDR4 is 4, PIDR3 0 */
	uint8_t class;		/* CIDR1 */
	uint32_t devarch;
};

static const struct component m0plus[] = {
	{ ROM_TABLE, { 0xc0, 0xb4, 0x0b }, 0x10, 0 },
	{ SCS, { 0x08, 0xb0, 0x0b }, 0xe0, 0 },
	{ DWT, { 0x0a, 0xb0, 0x0b }, 0xe0, 0 },
	{ FPB, { 0x0b, 0xb0, 0x0b }, 0xe0, 0 },
};

static const struct component m33[] = {
	{ ROM_TABLE, { 0xc9, 0xb4, 0x0b }, 0x10, 0 },
	{ SCS, { 0x21, 0xbd, 0x0b }, 0x90, 0x47702a04 },
	{ DWT, { 0x21, 0xbd, 0x0b }, 0x90, 0x47701a02 },
	{ FPB, { 0x21, 0xbd, 0x0b }, 0x90, 0x47701a03 },
};

static const uint32_t rom_m0plus[] = { 0xfff0f003, 0xfff02003, 0xfff03003, 0 };
static const uint32_t rom_m33[] = {
	0xfff0f003, 0xfff02003, 0xfff03003, 0xfff01002, 0xfff41002, 0xfff42002, 0xfff43002, 0xfff44002, 0,
};

#define ROM_MTB		0x1cu

static uint32_t component_id(const struct component *component, uint32_t offset)
{
	static const uint8_t cidr[4] = { 0x0d, 0, 0x05, 0xb1 };

	switch (offset) {
	case 0xfbc:
		return component->devarch;
	case 0xfcc:
		return component->class == 0x10;	/* MEMTYPE: the bus has memory too */
	case 0xfd0:
		return 4;
	case 0xfe0:
	case 0xfe4:
	case 0xfe8:
		return component->pidr[(offset - 0xfe0) / 4];
	case 0xff4:
		return component->class;
	case 0xff0:
	case 0xff8:
	case 0xffc:
		return cidr[(offset - 0xff0) / 4];
	default:
		return 0;
	}
}

static bool read_core_id(const struct cortexm *core, uint32_t addr, uint32_t *value)
{
	const struct component *component = core->type->v8m ? m33 : m0plus;

	for (unsigned int i = 0; i < 4; i++) {
		if (component[i].base == (addr & ~0xfffu) && (addr & 0xfff) >= 0xfbc) {
			*value = component_id(&component[i], addr & 0xfff);
			return true;
		}
	}
	return false;
}

/* A component's entry in the table at @a rom. */
static uint32_t rom_entry(uint32_t rom, uint32_t base, bool present)
{
	return ((base - rom) & ~0xfffu) | 2 | present;
}

static uint32_t read_rom(const struct cortexm *core, uint32_t offset)
{
	if (core->type->v8m && offset == ROM_MTB && core->type->mtb_base)
		return rom_entry(ROM_TABLE, core->type->mtb_base, true);
	unsigned int entries = core->type->v8m ? sizeof(rom_m33) / 4 : sizeof(rom_m0plus) / 4;

	if (offset / 4 >= entries)
		return 0;
	return (core->type->v8m ? rom_m33 : rom_m0plus)[offset / 4];
}

/* ---- what Kinetis L chips have in front of the MTB: two comparators that start and stop it ---- */

static bool has_mtb_dwt(const struct cortexm *core)
{
	return core->type->mtb_base == 0xf0000000u;
}

static uint32_t *mtb_dwt_register(struct cortexm *core, uint32_t offset)
{
	struct cortexm_mtb_dwt *dwt = &core->mtb_dwt;

	switch (offset) {
	case 0x020:
	case 0x030:
		return &dwt->comp[offset >> 4 & 1];
	case 0x024:
	case 0x034:
		return &dwt->mask[offset >> 4 & 1];
	case 0x028:
	case 0x038:
		return &dwt->function[offset >> 4 & 1];
	case 0x200:
		return &dwt->tbctrl;
	default:
		return NULL;
	}
}

static uint32_t mtb_dwt_read(struct cortexm *core, uint32_t offset)
{
	static const struct component ids = { 0, { 0x01, 0xb0, 0x0b }, 0x90, 0 };
	uint32_t *at = mtb_dwt_register(core, offset);

	if (!offset)
		return 2u << 28;
	if (offset == 0xfcc)
		return 0x04;
	if (!at)
		return component_id(&ids, offset);
	uint32_t value = *at;
	if (offset == 0x028 || offset == 0x038)
		*at &= ~(1u << 24);
	return value;
}

static void mtb_dwt_write(struct cortexm *core, uint32_t offset, uint32_t value)
{
	uint32_t *at = mtb_dwt_register(core, offset);

	if (!at)
		return;
	*at = offset == 0x200 ? (value & 3) | 2u << 28 : offset == 0x024 || offset == 0x034 ? value & 0x1f : value;
	cortexm_debug_comparators(core);
}

/* The ROM table of the chip: MTB, MTB_DWT, and the one of the core. */
static uint32_t chip_rom_read(const struct cortexm *core, uint32_t offset)
{
	static const struct component ids = { 0, { 0x02, 0xb0, 0x0b }, 0x10, 0 };
	uint32_t base = core->type->rom_base;

	switch (offset) {
	case 0:
		return rom_entry(base, core->type->mtb_base, core->type->mtb_base);
	case 4:
		return rom_entry(base, core->type->mtb_base + 0x1000, has_mtb_dwt(core));
	case 8:
		return rom_entry(base, ROM_TABLE, true);
	default:
		return component_id(&ids, offset);
	}
}

static bool chip_read(struct cortexm *core, uint32_t addr, uint32_t *value)
{
	uint32_t page = addr & ~0xfffu;
	uint32_t offset = addr & 0xfff;

	if (core->type->mtb_base && page == core->type->mtb_base)
		*value = cortexm_mtb_read(&core->mtb, offset);
	else if (page == core->type->mtb_base + 0x1000 && has_mtb_dwt(core))
		*value = mtb_dwt_read(core, offset);
	else if (page == core->type->rom_base && page != ROM_TABLE)
		*value = chip_rom_read(core, offset);
	else
		return false;
	return true;
}

static bool chip_write(struct cortexm *core, uint32_t addr, uint32_t value, bool privileged)
{
	uint32_t page = addr & ~0xfffu;

	if (core->type->mtb_base && page == core->type->mtb_base) {
		cortexm_mtb_write(&core->mtb, addr & 0xfff, value, privileged);
		core->attention = true;
	} else if (page == core->type->mtb_base + 0x1000 && has_mtb_dwt(core)) {
		mtb_dwt_write(core, addr & 0xfff, value);
	} else {
		return page == core->type->rom_base;
	}
	return true;
}

/* ---- timers ---- */

static bool timer_read(const struct cortexm *core, uint32_t addr, uint32_t *value)
{
	const struct cortexm_timer *timer = &core->timer[addr >> 4 & (CORTEXM_TIMERS - 1)];
	const uint32_t words[4] = { timer->load, timer->ctrl, (uint32_t)timer->fired, 0 };

	*value = words[addr >> 2 & 3];
	return true;
}

static bool timer_write(struct cortexm *core, uint32_t addr, uint32_t value)
{
	struct cortexm_timer *timer = &core->timer[addr >> 4 & (CORTEXM_TIMERS - 1)];

	if ((addr >> 2 & 3) == 0)
		timer->load = value ? value : 1;
	else if ((addr >> 2 & 3) == 1)
		timer->ctrl = value & 3;
	timer->next = core->cycle + 1;
	timer->next += timer->ctrl & 2 ? sim_random_below(&core->random, timer->load) : timer->load;
	core->attention = true;
	core->until = 0;	/* it may be the next event */
	return true;
}

/* ---- SysTick ---- */

static uint32_t systick_value(const struct cortexm *core)
{
	if (!(core->systick_csr & SYSTICK_ENABLE))
		return core->systick_cvr;
	uint64_t left = core->systick_zero > core->cycle ? core->systick_zero - core->cycle : 0;
	return left > core->systick_rvr ? 0 : left;
}

static void systick_start(struct cortexm *core, uint32_t value)
{
	if (!value && !core->systick_rvr)
		core->systick_zero = UINT64_MAX;
	else
		core->systick_zero = core->cycle + (value ? value : 1 + core->systick_rvr);
	core->until = 0;
	core->attention = true;
}

static void systick_write(struct cortexm *core, uint32_t offset, uint32_t value)
{
	uint32_t was = systick_value(core);
	bool ran = core->systick_csr & SYSTICK_ENABLE;

	if (offset == SYST_RVR) {
		core->systick_rvr = value & 0xffffff;
		if (ran && core->systick_zero == UINT64_MAX)
			systick_start(core, 0);
	} else if (offset == SYST_CVR) {
		core->systick_cvr = 0;
		core->systick_csr &= ~SYSTICK_COUNTED;
		if (ran)
			systick_start(core, 0);
	} else {
		core->systick_csr = (core->systick_csr & SYSTICK_COUNTED) | (value & 7);
		core->systick_cvr = was;
		if (value & SYSTICK_ENABLE && !ran)
			systick_start(core, was);
		core->attention = true;
		core->until = 0;
	}
}

static uint32_t systick_read(struct cortexm *core, uint32_t offset)
{
	uint32_t csr = core->systick_csr;

	if (offset == SYST_RVR)
		return core->systick_rvr;
	if (offset == SYST_CVR)
		return systick_value(core);
	core->systick_csr &= ~SYSTICK_COUNTED;
	return csr;
}

/* ---- system control block and NVIC ---- */

static uint32_t icsr(const struct cortexm *core)
{
	uint64_t pending = core->pending & (core->enabled | 0xffff);
	uint32_t value = core->ipsr;
	unsigned int best = 0;

	for (unsigned int i = 1; i < CORTEXM_EXCEPTIONS; i++) {
		if (pending & bit(i) && (!best || cortexm_priority_of(core, i) < cortexm_priority_of(core, best)))
			best = i;
	}
	value |= best << 12;
	value |= !(core->active & (core->active - 1)) << 11;
	value |= !!(pending >> IRQ0) << 22;
	value |= (core->pending >> CORTEXM_SYSTICK & 1) << 26;
	value |= (core->pending >> CORTEXM_PENDSV & 1) << 28;
	value |= (uint32_t)(core->pending >> CORTEXM_NMI & 1) << 31;
	return value;
}

static void icsr_write(struct cortexm *core, uint32_t value)
{
	if (value >> 31 & 1)
		cortexm_pend(core, CORTEXM_NMI);
	if (value >> 28 & 1)
		cortexm_pend(core, CORTEXM_PENDSV);
	else if (value >> 27 & 1)
		core->pending &= ~bit(CORTEXM_PENDSV);
	if (value >> 26 & 1)
		cortexm_pend(core, CORTEXM_SYSTICK);
	else if (value >> 25 & 1)
		core->pending &= ~bit(CORTEXM_SYSTICK);
}

/* Four priorities in a word, from exception @a first on. */
static uint32_t priorities(const struct cortexm *core, unsigned int first)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < 4; i++)
		value |= (uint32_t)core->priority[first + i] << 8 * i;
	return value;
}

static void set_priorities(struct cortexm *core, unsigned int first, uint32_t value)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (first + i >= 4)
			core->priority[first + i] = value >> 8 * i & core->type->priority_mask;
	}
	core->attention = true;
}

static uint32_t shcsr_active(const struct cortexm *core)
{
	static const uint8_t exceptions[12] = { 4, 5, 0, 6, 0, 0, 0, 11, 12, 0, 14, 15 };
	uint32_t value = 0;

	for (unsigned int i = 0; i < 12; i++) {
		if (exceptions[i] && core->active & bit(exceptions[i]))
			value |= 1u << i;
	}
	return value | (core->pending >> CORTEXM_SVCALL & 1) << 15;
}

static uint32_t scs_read(struct cortexm *core, uint32_t offset)
{
	if (offset >= NVIC_IPR && offset < NVIC_IPR_END)
		return priorities(core, IRQ0 + (offset - NVIC_IPR));
	if (offset >= SHPR1 && offset <= SHPR3)
		return priorities(core, 4 + (offset - SHPR1));
	switch (offset) {
	case ACTLR:
		return core->actlr;
	case SYST_CSR:
	case SYST_RVR:
	case SYST_CVR:
		return systick_read(core, offset);
	case NVIC_ISER:
	case NVIC_ICER:
		return core->enabled >> IRQ0;
	case NVIC_ISPR:
	case NVIC_ICPR:
		return core->pending >> IRQ0;
	case NVIC_IABR:
		return core->type->v8m ? core->active >> IRQ0 : 0;
	case CPUID:
		return core->type->cpuid;
	case ICSR:
		return icsr(core);
	case VTOR:
		return core->vtor;
	case AIRCR:
		return 0xfa050000 | core->aircr;
	case SCR:
		return core->scr;
	case CCR:
		return core->ccr;
	case SHCSR:
		return core->shcsr | shcsr_active(core);
	case CFSR:
		return core->cfsr;
	case HFSR:
		return core->hfsr;
	case MMFAR:
		return core->mmfar;
	case BFAR:
		return core->bfar;
	case DAUTHSTATUS:
		return core->type->v8m ? 0xf : 0;
	default:
		return 0;
	}
}

static void set_pending(struct cortexm *core, uint32_t value)
{
	for (; value; value &= value - 1)
		cortexm_pend(core, IRQ0 + __builtin_ctz(value));
}

static void aircr_write(struct cortexm *core, uint32_t value)
{
	if (value >> 16 != VECTKEY)
		return;
	core->aircr = core->type->v8m ? value & 0x700 : 0;
	if (value & SYSRESETREQ)
		core->reset_request = true;
	core->attention = true;
}

/* Only v8-M has these. */
static void fault_write(struct cortexm *core, uint32_t offset, uint32_t value)
{
	if (!core->type->v8m)
		return;
	switch (offset) {
	case SHCSR:
		core->shcsr = value & 0x70000;
		break;
	case CFSR:
		core->cfsr &= ~value;
		break;
	case HFSR:
		core->hfsr &= ~value;
		break;
	case STIR:
		set_pending(core, (value & 0x1ff) < 32 ? 1u << (value & 31) : 0);
		break;
	default:
		break;
	}
}

static void scs_write(struct cortexm *core, uint32_t offset, uint32_t value)
{
	if (offset >= NVIC_IPR && offset < NVIC_IPR_END) {
		set_priorities(core, IRQ0 + (offset - NVIC_IPR), value);
		return;
	}
	if (offset >= SHPR1 && offset <= SHPR3) {
		set_priorities(core, 4 + (offset - SHPR1), value);
		return;
	}
	switch (offset) {
	case ACTLR:
		core->actlr = value;
		break;
	case SYST_CSR:
	case SYST_RVR:
	case SYST_CVR:
		systick_write(core, offset, value);
		break;
	case NVIC_ISER:
		core->enabled |= (uint64_t)value << IRQ0;
		core->attention = true;
		break;
	case NVIC_ICER:
		core->enabled &= ~((uint64_t)value << IRQ0);
		break;
	case NVIC_ISPR:
		set_pending(core, value);
		break;
	case NVIC_ICPR:
		core->pending &= ~((uint64_t)value << IRQ0);
		break;
	case ICSR:
		icsr_write(core, value);
		break;
	case VTOR:
		core->vtor = value & ~0x7fu;
		break;
	case AIRCR:
		aircr_write(core, value);
		break;
	case SCR:
		core->scr = value & 0x16;
		break;
	case CCR:
		if (core->type->v8m)
			core->ccr = (value & 0x51b) | 0x200;
		break;
	default:
		fault_write(core, offset, value);
		break;
	}
}

bool cortexm_scs_read(struct cortexm *core, uint32_t addr, uint32_t *value)
{
	if (addr >> 12 == TIMERS >> 12 && (addr & 0xfff) < 16 * CORTEXM_TIMERS)
		return timer_read(core, addr, value);
	if (chip_read(core, addr, value) || read_core_id(core, addr, value))
		return true;
	if (addr >> 12 == ROM_TABLE >> 12)
		*value = read_rom(core, addr & 0xfff);
	else if (addr >> 12 == SCS >> 12)
		*value = scs_read(core, addr & 0xfff);
	else if (addr - CORTEXM_PPB_BASE < CORTEXM_PPB_SIZE)
		*value = 0;
	else
		return false;
	return true;
}

bool cortexm_scs_write(struct cortexm *core, uint32_t addr, uint32_t value, bool privileged)
{
	if (addr >> 12 == TIMERS >> 12 && (addr & 0xfff) < 16 * CORTEXM_TIMERS)
		return timer_write(core, addr, value);
	if (chip_write(core, addr, value, privileged))
		return true;
	if (addr >> 12 == SCS >> 12)
		scs_write(core, addr & 0xfff, value);
	return addr - CORTEXM_PPB_BASE < CORTEXM_PPB_SIZE;
}
