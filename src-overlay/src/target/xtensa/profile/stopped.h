/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Stopping cores, proving that they stand, reading their PC, letting them go: what pipeline, wsr and batch share.
 *
 * The rule of this file: nothing is injected into a core unless a DSR read after the request, and after the causes of
 * older stops were cleared while the core ran, shows that it stands by that request. A register is changed only when
 * its value is in DDR or known here.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_STOPPED_H
#define OPENOCD_TARGET_XTENSA_PROFILE_STOPPED_H

#include "sampling.h"

/* Queue: forget the causes of older stops (the core runs), so that the next stop tells its own. */
void stopped_queue_clear(struct sampling *sampling);

/*
 * Queue the sample of cores that stand: PC into DDR by way of a3, which is swapped with DDR and back; then let them
 * run.
 * @returns the number of the read that has the PC
 */
unsigned int stopped_queue_sample(struct sampling *sampling);

/* Queue: a3 into DDR. @returns the number of the read that has it */
unsigned int stopped_queue_read_a3(struct sampling *sampling);

/* Queue: the PC into DDR by way of a3, whose value is lost. @returns the number of the read that has the PC */
unsigned int stopped_queue_read_pc(struct sampling *sampling);

/* Queue: a3 of each core gets the value of @a a3. */
void stopped_queue_write_a3(struct sampling *sampling, const uint32_t *a3);

/* Queue what lets @a ns pass while the cores run; less than SAMPLING_HOST_WAIT_NS. @returns what will really pass. */
uint64_t stopped_queue_run(struct sampling *sampling, uint64_t ns);

/* Longer windows are waited for by the host, between flushes. */
#define SAMPLING_HOST_WAIT_NS	20000000u

/* What read number @a read (of DSR) proves of all cores: the worst of them. */
enum xdm_evidence stopped_evidence(const struct sampling *sampling, unsigned int read);

/* End the profile for evidence that is neither XDM_OURS nor XDM_RUNS. */
void stopped_end_for(struct sampling *sampling, enum xdm_evidence evidence, unsigned int read);

/*
 * What the DSR at the end of a flush (read number @a read) tells: the cores stand and may be sampled (they are marked
 * so), they still run, or it is the end.
 */
void stopped_judge(struct sampling *sampling, unsigned int read);

/*
 * Ask all cores to stop and wait for it, in a closed loop.
 * @returns ERROR_OK: all stand by our request; ERROR_NOT_IMPLEMENTED: not cores of this kind. Else sampling->why says
 * why not, and they are left as they were.
 */
int stopped_stop(struct sampling *sampling);

/*
 * Of cores that stand: is a3 read, changed and restored as expected?
 * @returns ERROR_OK, or ERROR_FAIL: not, see sampling->why; the cores still stand
 */
int stopped_register_test(struct sampling *sampling);

/*
 * The self-test of cores that stand: the register test, and does XSR.DDR swap?
 * @returns ERROR_OK: sampling->failed_swap tells whether XSR.DDR may be used. Else a3 cannot be read or restored, see
 * sampling->why; the cores still stand.
 */
int stopped_self_test(struct sampling *sampling);

/*
 * Stop the cores and test them: the beginning of a method that needs the swap.
 * @returns ERROR_OK: they stand and XSR.DDR swaps. Else as stopped_stop(), ERROR_NOT_IMPLEMENTED also when it does not
 * swap, and the cores are let go.
 */
int stopped_begin(struct sampling *sampling);

/*
 * Let go every core that stands by our request, take back requests that are pending, leave alone what others stopped.
 * Whatever happened before: an error or two of the adapter are no reason to give up. It takes a second at most, unless
 * the adapter's own patience is longer. Does nothing when sampling->is_left_standing.
 */
void stopped_release(struct sampling *sampling);

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_STOPPED_H */
