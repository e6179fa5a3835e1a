// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <string.h>

#include <helper/log.h>
#include <target/cortex_m.h>
#include <target/target.h>

#include "mtb_service.h"

#define REG_PC		15u	/* of DCRSR */
#define TRIES		3u
#define PC_TRIES	10u	/* of a slow core */

void arm_mtb_service_init(struct arm_mtb_service *service, struct arm_mtb_port *port)
{
	memset(service, 0, sizeof(*service));
	service->port = port;
}

void arm_mtb_service_begin(struct arm_mtb_service *service)
{
	service->reset_met = service->awaited = false;
}

static struct cortex_m_common *core(const struct arm_mtb_service *service)
{
	return target_to_cm(service->port->target);
}

void arm_mtb_service_end_stand(struct arm_mtb_service *service)
{
	service->has_pc = service->lent = service->awaited = false;
}

void arm_mtb_service_end(struct arm_mtb_service *service)
{
	arm_mtb_service_end_stand(service);
	service->dhcsr = 0;
}

/* Debugging is on, and bits that no core has are clear: it is not what a bad line makes of it. */
static bool is_control(uint32_t dhcsr)
{
	return dhcsr & C_DEBUGEN && !(dhcsr & 0xff80);
}

static bool is_dhcsr(uint32_t dhcsr)
{
	return is_control(dhcsr) && !(dhcsr & 0xf8000000);
}

/* @param retval of the exchange. That DHCSR was read has cleared S_RESET_ST, so a part of the answer counts, too */
static void note_dhcsr(struct arm_mtb_service *service, int retval, uint32_t dhcsr)
{
	if (retval == ERROR_OK)
		service->dhcsr = service->port->target->state == TARGET_HALTED ? 0 : dhcsr;
	if (retval != ERROR_OK && !is_dhcsr(dhcsr))
		return;
	core(service)->dcb_dhcsr_cumulated_sticky |= dhcsr & S_RESET_ST;
	service->reset_met |= !!(dhcsr & S_RESET_ST);
}

bool arm_mtb_service_is_reset_unseen(const struct arm_mtb_service *service)
{
	return core(service)->dcb_dhcsr_cumulated_sticky & S_RESET_ST;
}

/* ---- words of the core ---- */

/* DHCSR is never 0: it proves the rest. */
int arm_mtb_service_read_core(struct arm_mtb_service *service, uint32_t *dhcsr)
{
	int retval = ERROR_FAIL;

	for (unsigned int i = 0; i < TRIES && retval != ERROR_OK; i++) {
		struct arm_mtb_batch batch;

		arm_mtb_port_begin(service->port, &batch);
		arm_mtb_batch_read(&batch, DCB_DHCSR, dhcsr);
		arm_mtb_batch_read(&batch, NVIC_DFSR, &service->dfsr);
		retval = arm_mtb_batch_run(&batch);
		if (retval == ERROR_OK && !*dhcsr)
			retval = ERROR_FAIL;
		note_dhcsr(service, retval, *dhcsr);
	}
	service->dfsr_known = retval == ERROR_OK;
	return retval;
}

/*
 * @param bits C_HALT or none. Whether interrupts are masked stays, since it must not change while the core is let go:
 * OpenOCD knows what it wrote last, and what was read since tells what others did
 */
static uint32_t control(const struct arm_mtb_service *service, uint32_t bits)
{
	const uint32_t ours = service->dhcsr, openocds = core(service)->dcb_dhcsr;
	/* what OpenOCD has written has the key above */
	const uint32_t now = is_dhcsr(ours) ? ours : is_control(openocds) ? openocds : 0;

	return DBGKEY | C_DEBUGEN | bits | (now & C_MASKINTS);
}

int arm_mtb_service_do_not_halt(struct arm_mtb_service *service)
{
	int retval = ERROR_FAIL;

	for (unsigned int i = 0; i < TRIES && retval != ERROR_OK; i++) {
		struct arm_mtb_batch batch;
		uint32_t dhcsr;

		arm_mtb_port_begin(service->port, &batch);
		arm_mtb_batch_write(&batch, DCB_DHCSR, control(service, 0));
		arm_mtb_batch_read(&batch, DCB_DHCSR, &dhcsr);
		retval = arm_mtb_batch_run(&batch);
		if (retval == ERROR_OK && (!dhcsr || dhcsr & C_HALT))
			retval = ERROR_FAIL;
		note_dhcsr(service, retval, dhcsr);
	}
	return retval;
}

int arm_mtb_service_release(struct arm_mtb_service *service, uint32_t *dhcsr)
{
	struct arm_mtb_batch batch;

	arm_mtb_port_begin(service->port, &batch);
	if (service->lent)
		arm_mtb_batch_write(&batch, DCB_DCRDR, service->kept);
	arm_mtb_batch_write(&batch, NVIC_DFSR, DFSR_EXTERNAL | DFSR_HALTED);
	arm_mtb_batch_write(&batch, DCB_DHCSR, control(service, 0));
	arm_mtb_batch_read(&batch, DCB_DHCSR, dhcsr);
	int retval = arm_mtb_batch_run(&batch);
	const bool done = retval == ERROR_OK && *dhcsr;
	note_dhcsr(service, retval, *dhcsr);
	service->has_pc = service->awaited = false;
	/* not once more, if that was lost: it may run, and stand again since because the buffer is full */
	if (!done)
		retval = arm_mtb_service_read_core(service, dhcsr);
	if (done || (retval == ERROR_OK && !(*dhcsr & S_HALT)))
		service->lent = false;
	return retval;
}

void arm_mtb_service_give_back(struct arm_mtb_service *service)
{
	service->awaited = false;
	for (unsigned int i = 0; i < TRIES && service->lent; i++) {
		struct arm_mtb_batch batch;
		uint32_t dcrdr, dhcsr;

		arm_mtb_port_begin(service->port, &batch);
		arm_mtb_batch_write(&batch, DCB_DCRDR, service->kept);
		arm_mtb_batch_read(&batch, DCB_DCRDR, &dcrdr);
		arm_mtb_batch_read(&batch, DCB_DHCSR, &dhcsr);
		const int retval = arm_mtb_batch_run(&batch);
		note_dhcsr(service, retval, dhcsr);
		service->lent = retval != ERROR_OK || !dhcsr || dcrdr != service->kept;
	}
}

/* ---- core and MTB ---- */

static void add_core(struct arm_mtb_batch *batch, struct arm_mtb_view *view)
{
	arm_mtb_batch_read(batch, DCB_DHCSR, &view->dhcsr);
	arm_mtb_batch_read(batch, NVIC_DFSR, &view->dfsr);
}

static void note_core(struct arm_mtb_service *service, int retval, const struct arm_mtb_view *view)
{
	note_dhcsr(service, retval, view->dhcsr);
	service->dfsr = view->dfsr;
	service->dfsr_known = retval == ERROR_OK;
}

/* Has the core answered? DHCSR is read before DCRDR. */
static void note_pc(struct arm_mtb_service *service, const struct arm_mtb_view *view)
{
	service->awaited = !(view->dhcsr & S_REGRDY);
	service->has_pc = !service->awaited && !service->reset_met && view->dhcsr & S_HALT && !(view->dcrdr & 1);
	service->pc = view->dcrdr;
}

static int look_once(struct arm_mtb_service *service, bool halt, struct arm_mtb_view *view)
{
	struct arm_mtb_batch batch;

	arm_mtb_port_begin(service->port, &batch);
	if (halt) {
		arm_mtb_batch_read(&batch, DCB_DHCSR, &view->before);
		arm_mtb_batch_write(&batch, DCB_DHCSR, control(service, C_HALT));
	}
	add_core(&batch, view);
	arm_mtb_batch_read(&batch, DCB_DCRDR, &view->dcrdr);
	arm_mtb_port_add_state(service->port, &batch, &view->state);
	const int retval = arm_mtb_port_run(service->port, &batch);
	if (halt)
		note_dhcsr(service, retval, view->before);
	note_core(service, retval, view);
	if (retval == ERROR_OK && !service->lent)
		service->kept = view->dcrdr;
	if (retval == ERROR_OK && service->awaited)
		note_pc(service, view);
	return retval;
}

int arm_mtb_service_look(struct arm_mtb_service *service, struct arm_mtb_view *view)
{
	int retval = ERROR_FAIL;

	for (unsigned int i = 0; i < TRIES && retval != ERROR_OK; i++)
		retval = look_once(service, false, view);
	if (retval != ERROR_OK)
		arm_mtb_service_read_core(service, &view->dhcsr);
	return retval;
}

int arm_mtb_service_halt(struct arm_mtb_service *service, struct arm_mtb_view *view, bool *halted)
{
	int retval = look_once(service, true, view);

	*halted = retval == ERROR_OK && !(view->before & S_HALT);
	for (unsigned int i = 1; i < TRIES && retval != ERROR_OK; i++) {
		retval = look_once(service, true, view);
		/* the try before may have been carried out */
		*halted = retval == ERROR_OK && (!(view->before & S_HALT) || view->dfsr & DFSR_HALTED);
	}
	if (retval != ERROR_OK) {
		arm_mtb_service_read_core(service, &view->dhcsr);
		*halted = true;
	}
	return retval;
}

/*
 * An odd value stays in DCRDR when the request is lost: a PC is even. DCRDR is also the mailbox of target requests: it
 * is put back when the core is let go.
 */
static void ask_pc(struct arm_mtb_service *service, struct arm_mtb_batch *batch)
{
	service->lent = true;
	arm_mtb_batch_write(batch, DCB_DCRDR, 1);
	arm_mtb_batch_write(batch, DCB_DCRSR, REG_PC);
}

/* The core takes a while for the PC: what goes to the MTB is in between. */
int arm_mtb_service_put(struct arm_mtb_service *service, const struct arm_mtb_write *writes, unsigned int count,
		struct arm_mtb_view *view)
{
	/* what was reset may run by now; and a slow core must not be asked again before it has answered */
	const bool ask = !service->has_pc && !service->awaited && !service->reset_met;
	struct arm_mtb_batch batch;

	arm_mtb_port_begin(service->port, &batch);
	if (ask)
		ask_pc(service, &batch);
	for (unsigned int i = 0; i < count; i++)
		arm_mtb_port_add_write(service->port, &batch, writes[i].offset, writes[i].value);
	arm_mtb_port_add_state(service->port, &batch, &view->state);
	add_core(&batch, view);
	arm_mtb_batch_read(&batch, DCB_DCRDR, &view->dcrdr);
	const int retval = arm_mtb_port_run(service->port, &batch);
	note_core(service, retval, view);
	/* then the S_RESET_ST of a reset was read by a try of which the answer was lost: OpenOCD has to look for itself */
	if (retval == ERROR_OK && !(view->dhcsr & S_HALT))
		note_dhcsr(service, retval, view->dhcsr | S_RESET_ST);
	if (retval == ERROR_OK && (ask || service->awaited))
		note_pc(service, view);
	return retval;
}

bool arm_mtb_service_find_pc(struct arm_mtb_service *service)
{
	struct arm_mtb_view view;

	unsigned int failures = 0;

	for (unsigned int i = 0; i < PC_TRIES && failures < TRIES && !service->has_pc && !service->reset_met; i++)
		failures += arm_mtb_service_put(service, NULL, 0, &view) != ERROR_OK;
	return service->has_pc;
}
