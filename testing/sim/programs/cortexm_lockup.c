// SPDX-License-Identifier: GPL-2.0-or-later

/* Calls something that is not there, and its fault handler does so again: lock-up. */

#include "cortexm.h"

void on_hardfault(void);

static void (*volatile nowhere)(void);

static NOINLINE void jump(uint32_t address)
{
	nowhere = (void (*)(void))address;
	nowhere();
}

void on_hardfault(void)
{
	result = 1;
	jump(0x30000001);
}

int main(void)
{
	for (uint32_t i = 0; i < 5; i++)
		checksum = mix(checksum, i);
	jump(0x08000001);
	return 0;
}
