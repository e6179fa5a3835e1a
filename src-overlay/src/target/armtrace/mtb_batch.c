// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <assert.h>
#include <string.h>

#include <target/arm_adi_v5.h>

#include "mtb_batch.h"

void arm_mtb_batch_begin(struct arm_mtb_batch *batch, struct adiv5_ap *ap)
{
	batch->ap = ap;
	batch->count = 0;
}

static void add(struct arm_mtb_batch *batch, struct arm_mtb_batch_word word)
{
	assert(batch->count < ARM_MTB_BATCH_MAX);
	batch->words[batch->count++] = word;
}

void arm_mtb_batch_write(struct arm_mtb_batch *batch, target_addr_t addr, uint32_t value)
{
	add(batch, (struct arm_mtb_batch_word) { .addr = addr, .value = value });
}

void arm_mtb_batch_read(struct arm_mtb_batch *batch, target_addr_t addr, uint32_t *into)
{
	add(batch, (struct arm_mtb_batch_word) { .addr = addr, .into = into });
}

int arm_mtb_batch_run(struct arm_mtb_batch *batch)
{
	/* static: behind an error a queue can still fill in a word when this function is long left */
	static uint32_t values[ARM_MTB_BATCH_MAX];
	int retval = ERROR_OK;

	memset(values, 0, sizeof(values));
	dap_invalidate_cache(batch->ap->dap);
	for (unsigned int i = 0; i < batch->count && retval == ERROR_OK; i++) {
		const struct arm_mtb_batch_word *word = &batch->words[i];
		retval = word->into ? mem_ap_read_u32(batch->ap, word->addr, &values[i]) :
				mem_ap_write_u32(batch->ap, word->addr, word->value);
	}
	const int run = dap_run(batch->ap->dap);
	for (unsigned int i = 0; i < batch->count; i++)
		if (batch->words[i].into)
			*batch->words[i].into = values[i];
	return retval == ERROR_OK ? run : retval;
}
