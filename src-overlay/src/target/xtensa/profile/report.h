/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * What is said at the end of a profile, as the result of the command.
 */

#ifndef OPENOCD_TARGET_XTENSA_PROFILE_REPORT_H
#define OPENOCD_TARGET_XTENSA_PROFILE_REPORT_H

#include <helper/command.h>

#include "sampling.h"

/*
 * Say how the profile went: method, samples, interval, how long cores stood, what was lost, the first places.
 * @param profile what was counted, as it was written to the file
 */
void profile_report(struct command_invocation *cmd, const struct sampling *sampling,
		const struct itrace_profile *profile);

/*
 * Only what is not as it was before: for a profile that failed, of which there is no more to say. The line that says
 * why stands before, without its end; the last one here has none either.
 */
void profile_report_more_warnings(struct command_invocation *cmd, const struct sampling *sampling);

#endif /* OPENOCD_TARGET_XTENSA_PROFILE_REPORT_H */
