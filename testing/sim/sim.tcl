# SPDX-License-Identifier: GPL-2.0-or-later
#
# The simulated probe's control socket, for OpenOCD scripts. The socket's path is in ::SIM_CONTROL or in the environment
# variable of that name.
#
#     sim mark
#     set exchanges [dict get [sim counters] exchanges]
#
# The answer is what stands behind `ok`; `error` becomes an error of the script.

proc sim_channel {} {
	global sim_channel SIM_CONTROL env
	if {![info exists sim_channel]} {
		if {![info exists SIM_CONTROL]} {
			set SIM_CONTROL $env(SIM_CONTROL)
		}
		set sim_channel [socket unix $SIM_CONTROL]
	}
	return $sim_channel
}

proc sim {args} {
	set channel [sim_channel]
	puts $channel [join $args]
	flush $channel
	set answer [gets $channel]
	if {[lindex $answer 0] ne "ok"} {
		error "sim [join $args]: [expr {$answer eq "" ? "no answer" : $answer}]"
	}
	return [lrange $answer 1 end]
}
