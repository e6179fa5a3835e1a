// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <helper/command.h>
#include <helper/log.h>

#include "mtb_result.h"
#include "ocd_compat.h"

void arm_mtb_printable(const char *text, char *line, size_t size)
{
	size_t len = 0;

	for (; *text && len + 1 < size; text++)
		line[len++] = (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text;
	line[len] = '\0';
}

int arm_mtb_refuse(struct command_invocation *cmd, int retval, const char *why)
{
	char line[1024];

	if (retval == ERROR_OK)
		return ERROR_OK;
	arm_mtb_printable(why, line, sizeof(line));
	ocd_result(cmd, line);
	return retval;
}

void arm_mtb_print_element(struct command_invocation *cmd, const char *text)
{
	Jim_Interp *interp = cmd->ctx->interp;
	Jim_Obj *element = Jim_NewStringObj(interp, text, -1);
	/* a list's string is quoted as Tcl has it */
	Jim_Obj *list = Jim_NewListObj(interp, &element, 1);

	Jim_IncrRefCount(list);
	command_print_sameline(cmd, "%s", Jim_GetString(list, NULL));
	Jim_DecrRefCount(interp, list);
}
