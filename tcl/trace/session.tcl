# SPDX-License-Identifier: GPL-2.0-or-later
#
# The steps that belong together when a trace object (mtb create) is used from a script:
#
#     source [find trace/session.tcl]
#     puts [trace_session until chip.mtb HardFault_Handler -last 40]
#
# Each of them returns what NAME decode returns, and takes its options. What is captured stays with the object, also when a
# session fails: NAME decode shows it.

# name: how it is called, what it does
set trace_session_kinds [dict create \
	run {{NAME BODY ?decode option ...?} "runs the Tcl script BODY under trace"} \
	until {{NAME ADDR|SYM ?-wait MS? ?decode option ...?} "traces until execution reaches ADDR or SYM, where the core is\
		halted then; waits 10000 ms unless told otherwise"} \
	around {{NAME FUNCTION ?-wait MS? ?decode option ...?} "waits for the next call of FUNCTION and traces it until it\
		returns, where the core is halted then; an exception handler until what it interrupted goes on"} \
	last {{NAME N ?decode option ...?} "decodes the last N instructions of what is captured, or of a trace that is on"}]

proc trace_session_usage {} {
	global trace_session_kinds
	set parts {}
	foreach {kind description} $trace_session_kinds {
		lappend parts "$kind [lindex $description 0]"
	}
	return [join $parts " | "]
}

proc trace_session_help {} {
	global trace_session_kinds
	add_usage_text trace_session "([join [dict keys $trace_session_kinds] |]) NAME ..."
	add_help_text trace_session "Uses a trace object from a script, and returns what it decodes."
	foreach {kind description} $trace_session_kinds {
		add_usage_text "trace_session $kind" [lindex $description 0]
		add_help_text "trace_session $kind" [lindex $description 1]
	}
}

trace_session_help

proc trace_session {args} {
	if {[catch {uplevel 1 [list trace_session_any {*}$args]} result]} {
		# an OpenOCD command that fails says why in the log, and returns nothing
		if {$result eq ""} {
			set result "trace_session: failed (see the log above)"
		}
		# of `error` a console would show where it is in this file, too
		return -code error $result
	}
	return $result
}

proc trace_session_any {args} {
	global trace_session_kinds
	set kind [lindex $args 0]
	if {![dict exists $trace_session_kinds $kind] || [llength $args] < 3} {
		error "trace_session: usage: trace_session [trace_session_usage]"
	}
	set name [lindex $args 1]
	if {[catch {$name cget -target} target] || $target ni [target names]} {
		error "trace_session: there is no trace object $name; see mtb create"
	}
	if {$kind eq "run"} {
		# the script sees the variables of the caller
		return [uplevel 1 [list "trace_session $kind" {*}[lrange $args 1 end]]]
	}
	return ["trace_session $kind" {*}[lrange $args 1 end]]
}

# Splits -wait off from the options of a decode. Returns the milliseconds and the rest.
proc trace_session_options {given} {
	set wait 10000
	set rest {}
	for {set i 0} {$i < [llength $given]} {incr i} {
		if {[lindex $given $i] ne "-wait"} {
			lappend rest [lindex $given $i]
			continue
		}
		set wait [lindex $given [incr i]]
		# of more, wait_halt makes a negative number, or refuses it
		if {![string is integer -strict $wait] || $wait < 1 || $wait > 0x7fffffff} {
			error "trace_session: -wait is a number of milliseconds, 1 to [expr {0x7fffffff}]"
		}
		incr wait 0
	}
	return [list $wait $rest]
}

# ── the core ──────────────────────────────────────────────────────────────────────────

proc trace_session_reg {name} {
	return [expr {[lindex [get_reg -force $name] 1] + 0}]
}

proc trace_session_hex {value} {
	return [format 0x%08x $value]
}

# Runs a script with this target as the current one.
proc trace_session_on {target script} {
	set before [target current]
	targets $target
	set failed [catch {uplevel 1 $script} result]
	targets $before
	if {$failed} {
		error $result
	}
	return $result
}

proc trace_session_halt {} {
	if {[[target current] curstate] ne "halted"} {
		halt
	}
}

# Whether there is a breakpoint already: it is used, and stays.
proc trace_session_has_breakpoint {address} {
	return [expr {[string first [trace_session_hex $address] [string tolower [capture bp]]] >= 0}]
}

# How messages name an address, which is that of `name`.
proc trace_session_place {address name} {
	if {[string is integer -strict $name]} {
		return [trace_session_hex $address]
	}
	return "$name ([trace_session_hex $address])"
}

# Runs the halted core until it halts at this address, which is that of `name`.
proc trace_session_run_to {address wait name} {
	set place [trace_session_place $address $name]
	if {[catch resume]} {
		error "trace_session: the core could not be resumed (see the log above)"
	}
	set since [ms]
	if {[catch {wait_halt $wait}]} {
		if {[ms] - $since < $wait} {
			error "trace_session: the core could not be polled while it ran to $place (see the log above)"
		}
		error "trace_session: $place was not reached in $wait ms"
	}
	set pc [trace_session_reg pc]
	if {$pc != $address} {
		error "trace_session: the core halted at [trace_session_hex $pc], not at $place"
	}
}

# Runs a script with a breakpoint at an address, which is that of `name`. A core that something else has not halted is
# as it was.
proc trace_session_with_breakpoint {address name script} {
	set mine [expr {![trace_session_has_breakpoint $address]}]
	if {$mine && [catch {bp $address 2 hw}]} {
		error "trace_session: no hardware breakpoint could be set at [trace_session_place $address $name]:\
			OpenOCD's reason is in the log above; if none is free, rbp frees one"
	}
	set failed [catch {uplevel 1 $script} result]
	if {$mine} {
		catch {rbp $address}
	}
	if {$failed} {
		error $result
	}
	return $result
}

# A session that failed: the core runs if it ran before, else it is halted, wherever it is now.
proc trace_session_as_before {state} {
	set now [[target current] curstate]
	if {$state eq "running" && $now eq "halted"} {
		catch resume
	} elseif {$state eq "halted" && $now eq "running"} {
		catch halt
	}
}

# ── tracing ───────────────────────────────────────────────────────────────────────────

# Runs a script under trace. The trace is stopped whatever happens; the script's error comes before one of stop. Return,
# break and continue (codes 2 to 4) end the script, and are no errors; `return -code error` has the code of an error.
proc trace_session_traced {name script} {
	$name start
	catch {uplevel 1 $script} result how
	set unread [catch {$name stop} why]
	if {[dict get $how -code] ni {0 2 3 4}} {
		if {$result eq ""} {
			set result "the script failed (see the log above)"
		}
		error "$result[expr {$unread ? "; $why" : "; $name decode shows the trace until there"}]"
	}
	if {$unread} {
		error $why
	}
	return $result
}

proc {trace_session run} {name body args} {
	trace_session_traced $name [list uplevel 1 $body]
	return [$name decode {*}$args]
}

proc {trace_session until} {name where args} {
	lassign [trace_session_options $args] wait options
	set address [expr {[$name address $where] & ~1}]
	trace_session_on [$name cget -target] {
		set state [[target current] curstate]
		set failed [catch {
			trace_session_halt
			trace_session_with_breakpoint $address $where {
				trace_session_traced $name {
					trace_session_run_to $address $wait $where
				}
			}
		} message]
		if {$failed} {
			trace_session_as_before $state
			error $message
		}
	}
	return [$name decode {*}$options]
}

# Where a function that has just been called returns to. In LR is its return address, or, when it handles an exception,
# EXC_RETURN; bit 2 of that is the stack with the PC of what was interrupted.
proc trace_session_return_address {} {
	set lr [trace_session_reg lr]
	if {$lr < 0xffffff00} {
		return [expr {$lr & ~1}]
	}
	set frame [trace_session_reg [expr {$lr & 4 ? "psp" : "msp"}]]
	return [expr {[read_memory [expr {$frame + 24}] 32 1] & ~1}]
}

# Calls of the function within the call come back to the same place, but with a lower stack.
proc trace_session_return {address wait function} {
	set sp [trace_session_reg sp]
	set handler [expr {[trace_session_reg lr] >= 0xffffff00}]
	set name "the end of $function"
	trace_session_run_to $address $wait $name
	while {!$handler && [trace_session_reg sp] < $sp} {
		trace_session_run_to $address $wait $name
	}
}

proc {trace_session around} {name function args} {
	lassign [trace_session_options $args] wait options
	set entry [expr {[$name address $function] & ~1}]
	trace_session_on [$name cget -target] {
		set state [[target current] curstate]
		set failed [catch {
			trace_session_halt
			trace_session_with_breakpoint $entry $function {
				trace_session_run_to $entry $wait $function
			}
			set back [trace_session_return_address]
			trace_session_with_breakpoint $back "the end of $function" {
				trace_session_traced $name {
					trace_session_return $back $wait $function
				}
			}
		} message]
		if {$failed} {
			trace_session_as_before $state
			error $message
		}
	}
	return [$name decode {*}$options]
}

proc {trace_session last} {name count args} {
	if {![string is integer -strict $count] || $count < 1} {
		error "trace_session: last takes a number of instructions, 1 or more"
	}
	return [$name decode -last $count {*}$args]
}

# what a console shows of this file
return ""
