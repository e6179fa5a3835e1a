// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <helper/command.h>
#include <helper/log.h>

#include "mtb_result.h"
#include "ocd_refuse.h"

int arm_mtb_refuse(struct command_invocation *cmd, int retval, const char *why)
{
	return retval == ERROR_OK ? ERROR_OK : ocd_refuse(cmd, retval, "%s", why);
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
