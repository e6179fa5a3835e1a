/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What differs between the OpenOCD releases that these commands are built on.
 * This is the only file with #if on such differences.
 */

#ifndef OPENOCD_TARGET_ARMTRACE_OCD_COMPAT_H
#define OPENOCD_TARGET_ARMTRACE_OCD_COMPAT_H

#include <string.h>

#include <helper/command.h>
#include <helper/log.h>
#include <helper/replacements.h>
#include <helper/types.h>

/* The adapter in use. 0.12.0 does not declare it for others; CMD_JIMTCL_ARGV tells the releases apart. */
#ifndef CMD_JIMTCL_ARGV
struct adapter_driver;
extern struct adapter_driver *adapter_driver;
#endif

/* Members of struct target_type. How long an algorithm may take has a sign in 0.12.0. */
#ifdef CMD_JIMTCL_ARGV
typedef unsigned int ocd_timeout;
#else
typedef int ocd_timeout;
#endif
struct mem_param;
struct reg_param;
struct target;
typedef int ocd_poll_fn(struct target *target);
typedef int ocd_run_algorithm_fn(struct target *target, int num_mem_params, struct mem_param *mem_params,
		int num_reg_params, struct reg_param *reg_params, target_addr_t entry, target_addr_t exit,
		ocd_timeout timeout_ms, void *arch_info);
typedef int ocd_start_algorithm_fn(struct target *target, int num_mem_params, struct mem_param *mem_params,
		int num_reg_params, struct reg_param *reg_params, target_addr_t entry, target_addr_t exit, void *arch_info);
typedef int ocd_wait_algorithm_fn(struct target *target, int num_mem_params, struct mem_param *mem_params,
		int num_reg_params, struct reg_param *reg_params, target_addr_t exit, ocd_timeout timeout_ms, void *arch_info);

/* A list that is empty at first. */
#ifndef OOCD_LIST_HEAD
#define OOCD_LIST_HEAD(name) LIST_HEAD(name)
#endif

/*
 * Make @a text the result of the command, or add it to the result.
 * The last line end is dropped here: 0.12.0 would keep it in the Tcl result, later versions would not.
 */
static inline void ocd_result(struct command_invocation *cmd, const char *text)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '\n')
		len--;
	command_print_sameline(cmd, "%.*s", (int)len, text);
}

#endif /* OPENOCD_TARGET_ARMTRACE_OCD_COMPAT_H */
