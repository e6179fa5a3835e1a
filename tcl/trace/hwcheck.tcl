# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the silicon of a real board answers to questions that no manual does:
#
#     source [find trace/hwcheck.tcl]
#     hwcheck
#
# prints a report, and returns it, to paste into a bug. It needs no command that OpenOCD 0.12.0 does not have.
#
# Each kind of target has its own part: a procedure of the name in hwcheck_kinds. A part gives lines by hwcheck_line, or
# puts its questions, one procedure each, through hwcheck_ask.
#
# An answer that was not expected is `error "hwcheck: ..."`: it becomes one line, and the next question follows. Any
# other error (an adapter that fails, an error in this script) ends the report, after everything is restored.

set hwcheck_kinds [dict create xtensa {xtensa esp32 esp32s2 esp32s3}]

add_usage_text hwcheck {[xtensa] [-target NAME] [-stops N]}
add_help_text hwcheck "Asks the debug hardware of a target what its manual does not say, without harm, and returns a\
	report. Stops a core that runs for some milliseconds at a time. The kind is that of the target, by default."

proc hwcheck {args} {
	global hwcheck_kinds
	set options [dict create -target [target current] -stops 32]
	set kind ""
	if {[llength $args] % 2} {
		set kind [lindex $args 0]
		set args [lrange $args 1 end]
	}
	foreach {name value} $args {
		if {![dict exists $options $name]} {
			error "hwcheck: no option $name; usage: hwcheck ?xtensa? ?-target NAME? ?-stops N?"
		}
		dict set options $name $value
	}
	set target [dict get $options -target]
	if {![string is integer -strict [dict get $options -stops]] || [dict get $options -stops] < 1} {
		error "hwcheck: -stops is a number, 1 or more"
	}
	if {$target ni [target names]} {
		error "hwcheck: there is no target $target"
	}
	set type [$target cget -type]
	foreach {name types} $hwcheck_kinds {
		if {$type in $types && $kind in [list "" $name]} {
			return [hwcheck_$name $target $options]
		}
	}
	error "hwcheck: no questions [expr {$kind eq "" ? "" : "of kind $kind "}]for a target of type $type"
}

# ── for all kinds ─────────────────────────────────────────────────────────────────────

proc hwcheck_begin {} {
	global hwcheck_report hwcheck_told
	set hwcheck_report {}
	set hwcheck_told {}
}

# To the user, not for the report.
proc hwcheck_once {text} {
	global hwcheck_told
	if {$text ni $hwcheck_told} {
		lappend hwcheck_told $text
		echo $text
	}
}

proc hwcheck_line {question answer} {
	global hwcheck_report
	set dots [string repeat . [hwcheck_max 3 [expr {52 - [string length $question]}]]]
	lappend hwcheck_report "$question $dots $answer"
	echo [lindex $hwcheck_report end]
}

# The answer is not known, and why.
proc hwcheck_unknown {question why} {
	hwcheck_line $question "not known: $why"
}

# Runs a script with OpenOCD's log at another level; -3: nothing at all.
proc hwcheck_at_level {level script} {
	set before 2
	regexp -- {-?[0-9]+} [debug_level] before
	debug_level $level
	set failed [catch {uplevel 1 $script} text]
	debug_level $before
	if {$failed} {
		error $text
	}
	return $text
}

# What a command prints, its first line.
proc hwcheck_said {command} {
	set text ""
	hwcheck_at_level -3 {
		catch $command text
	}
	return [string trim [lindex [split [string trim $text] \n] 0]]
}

proc hwcheck_microseconds {} {
	if {[catch {clock microseconds} now]} {
		return [expr {[ms] * 1000}]
	}
	return $now
}

proc hwcheck_max {a b} {
	return [expr {$a > $b ? $a : $b}]
}

proc hwcheck_hex {value} {
	return [format 0x%08x $value]
}

proc hwcheck_speed_khz {} {
	set khz 0
	regexp {([0-9]+) *kHz} [hwcheck_said {adapter speed}] all khz
	return $khz
}

proc hwcheck_header {target} {
	hwcheck_line "OpenOCD" [version]
	set khz [hwcheck_speed_khz]
	hwcheck_line "adapter" "[hwcheck_said {adapter name}], [expr {$khz ? "$khz kHz" : "speed not known"}]"
	hwcheck_line "target" "$target, type [$target cget -type], [$target curstate]"
}

# Scripts run with polling off: the callback of OpenOCD's timer could scan between two of our scans.
proc hwcheck_polling {} {
	return [expr {[string match "*polling: off*" [hwcheck_said poll]] ? "off" : "on"}]
}

# The TAPs of the chain, in its order: pairs of name and length of IR.
proc hwcheck_chain {} {
	set chain {}
	foreach line [split [capture scan_chain] \n] {
		if {[regexp {^ *[0-9]+ +([^ ]+) +Y +[^ ]+ +[^ ]+ +([0-9]+) } $line all name length]} {
			lappend chain $name $length
		}
	}
	return $chain
}

# One line of SVF for one TAP, the others in BYPASS. What: `ir VALUE`, `dr BITS VALUE`, `dr BITS VALUE WANT MASK`,
# `idle TCK`. The scans are written in full: padding by `svf -tap` counts TAPs that are disabled, and HDR or TDR are
# skipped once `-tap` was used.
proc hwcheck_svf_line {tap what} {
	lassign $what kind bits value want mask
	if {$kind eq "idle"} {
		return "RUNTEST $bits TCK;"
	}
	set before 0
	set behind 0
	set mine 0
	foreach {name length} [hwcheck_chain] {
		set add [expr {$kind eq "ir" ? $length : 1}]
		if {$name eq $tap} {
			set mine $length
		} elseif {$mine} {
			incr behind $add
		} else {
			incr before $add
		}
	}
	if {$kind eq "ir"} {
		set ones [expr {((1 << $behind) - 1) << ($before + $mine) | ((1 << $before) - 1)}]
		return [format "SIR %d TDI (%x);" [expr {$before + $mine + $behind}] [expr {$bits << $before | $ones}]]
	}
	set line [format "SDR %d TDI (%x)" [expr {$before + $bits + $behind}] [expr {$value << $before}]]
	if {$want ne ""} {
		append line [format " TDO (%x) MASK (%x)" [expr {$want << $before}] [expr {$mask << $before}]]
	}
	return "$line;"
}

# Writes scans to a file, each once for each time it is in the list.
proc hwcheck_svf_write {tap scans} {
	if {[catch {file tempfile} path]} {
		error "hwcheck: no temporary file: $path"
	}
	set file [open $path w]
	foreach scan $scans {
		if {![info exists line($scan)]} {
			set line($scan) [hwcheck_svf_line $tap $scan]
		}
		puts $file $line($scan)
	}
	close $file
	return $path
}

# An SVF file goes to the adapter as one queue, which scans by drscan never do. A check that fails tells what was read.
# OpenOCD writes that to the log as an error; a silent run keeps it from there, and then only whether there were any is
# known. Returns the numbers of the scans whose check failed, each followed by what was read; `some` if silent.
proc hwcheck_svf {tap scans silent} {
	set path [hwcheck_svf_write $tap $scans]
	if {$silent} {
		set failed [catch {hwcheck_at_level -3 {svf $path quiet}} text]
		file delete $path
		return [expr {$failed ? "some" : ""}]
	}
	hwcheck_once "(each `tdo check error` that follows is a reading, not a fault)"
	set failed [catch {hwcheck_at_level 0 {capture {svf $path quiet ignore_error}}} text]
	file delete $path
	if {$failed} {
		error "svf failed: $text"
	}
	set before 0
	foreach {name length} [hwcheck_chain] {
		if {$name eq $tap} {
			break
		}
		incr before
	}
	set found {}
	foreach line [split $text \n] {
		if {[regexp {tdo check error at line ([0-9]+)} $line all number]} {
			set bits [lindex $scans [incr number -1] 1]
			lappend found $number
		} elseif {[regexp {READ = (0x[0-9a-fA-F]+)} $line all value]} {
			lappend found [expr {$value >> $before & ((1 << $bits) - 1)}]
		}
	}
	return $found
}

# What file and text alone cost: a dry run.
proc hwcheck_svf_nothing {tap scans} {
	set path [hwcheck_svf_write $tap $scans]
	catch {hwcheck_at_level -3 {svf $path quiet nil}}
	file delete $path
}

# ── Xtensa: access to the debug module ────────────────────────────────────────────────
#
# The array hwcheck_x:
#     target, stops           as asked for
#     was, dcr, pwrstat       at the beginning; running or halted, and two registers
#     tap                     or dap, ap and base
#     keep_ir, narsel         IR need not be scanned for each access: that is known; IR is NARSEL
#     status                  captured with the last address
#     wait                    above 0 until it is known that an instruction is done by the next access, -1: it is not
#     level, load             the debug level; how to read memory
#     held, since, longest    we stopped the core; when, and the longest such time, us
#     other                   something else stopped it
#     saved, a3               a3 has to become this again

set hwcheck_x_offset [dict create 0x0f 0x003c 0x40 0x2000 0x42 0x2008 0x43 0x200c 0x44 0x2010 0x45 0x2014 \
	0x47 0x201c]

proc hwcheck_x_nar {name} {
	return [dict get {
		DEBUGPC 0x0f OCDID 0x40 DCRCLR 0x42 DCRSET 0x43 DSR 0x44 DDR 0x45 DIR0EXEC 0x47
	} $name]
}

proc hwcheck_x_insn {name} {
	global hwcheck_x
	return [dict get [dict create \
		NOP 0x0020f0 RFDO 0xf1e000 WSR.DDR 0x136830 RSR.DDR 0x036830 XSR.DDR 0x616830 RSR.PS 0x03e630 \
		RSR.CCOUNT 0x03ea30 RSR.DEBUGCAUSE 0x03e930 LDDR32.P 0x0073e0 L32I 0x002332 \
		RSR.EPC [expr {0x030030 | (0xb0 + $hwcheck_x(level)) << 8}]] $name]
}

proc hwcheck_x_is_tap {} {
	global hwcheck_x
	return [expr {$hwcheck_x(tap) ne ""}]
}

# One scan of the data register; the number of bits may be beyond that of the register.
proc hwcheck_x_dr {bits value} {
	global hwcheck_x
	if {[catch {drscan $hwcheck_x(tap) $bits [format 0x%x $value]} text]} {
		set hwcheck_x(narsel) 0
		error $text
	}
	# with or without 0x
	regsub -nocase {^0x} [string trim $text] "" text
	return [expr {"0x$text" + 0}]
}

proc hwcheck_x_ir {value} {
	global hwcheck_x
	set hwcheck_x(narsel) [expr {$value == 0x1c}]
	irscan $hwcheck_x(tap) $value
}

proc hwcheck_x_address {nar write} {
	global hwcheck_x
	if {!$hwcheck_x(keep_ir) || !$hwcheck_x(narsel)} {
		hwcheck_x_ir 0x1c
	}
	set hwcheck_x(status) [hwcheck_x_dr 8 [expr {$nar << 1 | $write}]]
}

proc hwcheck_x_apb {offset {value ""}} {
	global hwcheck_x
	$hwcheck_x(dap) apreg $hwcheck_x(ap) 0x04 [hwcheck_hex [expr {$hwcheck_x(base) + $offset}]]
	if {$value ne ""} {
		$hwcheck_x(dap) apreg $hwcheck_x(ap) 0x0c [hwcheck_hex $value]
		return
	}
	return [expr {[string trim [$hwcheck_x(dap) apreg $hwcheck_x(ap) 0x0c]]}]
}

proc hwcheck_x_read {name} {
	global hwcheck_x_offset
	set nar [hwcheck_x_nar $name]
	if {![hwcheck_x_is_tap]} {
		return [hwcheck_x_apb [dict get $hwcheck_x_offset $nar]]
	}
	hwcheck_x_address $nar 0
	return [hwcheck_x_dr 32 0]
}

proc hwcheck_x_write {name value} {
	global hwcheck_x_offset
	set nar [hwcheck_x_nar $name]
	if {![hwcheck_x_is_tap]} {
		hwcheck_x_apb [dict get $hwcheck_x_offset $nar] $value
		return
	}
	hwcheck_x_address $nar 1
	hwcheck_x_dr 32 $value
}

# PWRSTAT, with zeros shifted in: they clear nothing.
proc hwcheck_x_pwrstat {} {
	if {![hwcheck_x_is_tap]} {
		return [hwcheck_x_apb 0x3024]
	}
	hwcheck_x_ir 0x09
	return [hwcheck_x_dr 8 0]
}

proc hwcheck_x_dsr {} {
	set dsr [hwcheck_x_read DSR]
	if {!($dsr & 0x80000000) || $dsr == 0xffffffff} {
		error "hwcheck: the debug module does not answer (DSR [hwcheck_hex $dsr])"
	}
	return $dsr
}

proc hwcheck_x_stopped {dsr} {
	return [expr {$dsr >> 4 & 1}]
}

proc hwcheck_x_wait {} {
	global hwcheck_x
	for {set i 0} {[hwcheck_x_dsr] & 4 && $i < 100} {incr i} {
	}
	if {$i} {
		set hwcheck_x(wait) -1
	} elseif {$hwcheck_x(wait) > 0 && [incr hwcheck_x(wait)] > 4} {
		set hwcheck_x(wait) 0
	}
}

# Executed only by a core that is stopped. What goes wrong leaves sticky bits, for hwcheck_x_done. In a core with a slow
# clock an instruction may take longer than an access; four that did not show that this one is not.
proc hwcheck_x_exec {args} {
	global hwcheck_x
	foreach name $args {
		hwcheck_x_write DIR0EXEC [hwcheck_x_insn $name]
		if {$hwcheck_x(wait)} {
			hwcheck_x_wait
		}
	}
}

# Did all go well since the last time? Clears what did not. Returns a reason or nothing.
proc hwcheck_x_done {} {
	for {set i 0} {$i < 100} {incr i} {
		set dsr [hwcheck_x_dsr]
		if {!($dsr & 4)} {
			break
		}
	}
	if {$dsr & 0xa} {
		hwcheck_x_write DSR 0xa
	}
	if {![hwcheck_x_stopped $dsr]} {
		return "the core is not stopped any more (DSR [hwcheck_hex $dsr])"
	} elseif {$dsr & 2} {
		return "an instruction faulted (DSR [hwcheck_hex $dsr])"
	} elseif {$dsr & 0xc} {
		return "an instruction was not done in time (DSR [hwcheck_hex $dsr])"
	}
	return ""
}

proc hwcheck_x_must_be_done {} {
	set why [hwcheck_x_done]
	if {$why ne ""} {
		error "hwcheck: $why"
	}
}

# A special register by way of a3.
proc hwcheck_x_special {insn} {
	hwcheck_x_exec $insn WSR.DDR
	set value [hwcheck_x_read DDR]
	hwcheck_x_must_be_done
	return $value
}

proc hwcheck_x_set_a3 {value} {
	hwcheck_x_write DDR $value
	hwcheck_x_exec RSR.DDR
}

# The word at an address, by the core. `how` is LDDR32.P or L32I.
proc hwcheck_x_word {how addr} {
	hwcheck_x_set_a3 $addr
	hwcheck_x_write DDR 0
	hwcheck_x_exec $how
	if {$how eq "L32I"} {
		hwcheck_x_exec WSR.DDR
	}
	set word [hwcheck_x_read DDR]
	hwcheck_x_must_be_done
	return $word
}

# ── Xtensa: stop and go ───────────────────────────────────────────────────────────────

proc hwcheck_x_running_only {} {
	global hwcheck_x
	if {$hwcheck_x(was) ne "running"} {
		error "hwcheck: the core was halted before; resume it and ask again"
	}
}

proc hwcheck_x_other_stop {dsr} {
	global hwcheck_x
	set hwcheck_x(other) 1
	error "hwcheck: the core was stopped by something else (DSR [hwcheck_hex $dsr]); left as it is"
}

# Stop the core if it runs. The request is withdrawn if it does not stop.
proc hwcheck_x_request {} {
	global hwcheck_x
	set dsr [hwcheck_x_dsr]
	if {$hwcheck_x(other) || [hwcheck_x_stopped $dsr]} {
		hwcheck_x_other_stop $dsr
	}
	set hwcheck_x(since) [hwcheck_microseconds]
	set hwcheck_x(held) 1
	hwcheck_x_write DCRSET 3
	for {set i 0} {$i < 100} {incr i} {
		set dsr [hwcheck_x_dsr]
		if {[hwcheck_x_stopped $dsr]} {
			if {$dsr & 0x00500000 && !($dsr & 0x00200000)} {
				set hwcheck_x(held) 0
				hwcheck_x_other_stop $dsr
			}
			return $dsr
		}
	}
	hwcheck_x_write DSR 0x00020000
	if {![hwcheck_x_stopped [hwcheck_x_dsr]]} {
		set hwcheck_x(held) 0
	}
	error "hwcheck: the core does not stop (100 reads of DSR, the last [hwcheck_hex $dsr])"
}

# a3 is a scratch register from here on. Until its value is safe nothing has changed it.
proc hwcheck_x_save_a3 {} {
	global hwcheck_x
	hwcheck_x_exec WSR.DDR
	set value [hwcheck_x_read DDR]
	hwcheck_x_must_be_done
	set hwcheck_x(a3) $value
	set hwcheck_x(saved) 1
}

# Faults do not last: some more tries cost nothing.
proc hwcheck_x_restore_a3 {} {
	global hwcheck_x
	for {set i 0} {$hwcheck_x(saved) && $i < 8} {incr i} {
		hwcheck_x_set_a3 $hwcheck_x(a3)
		hwcheck_x_write DDR [expr {~$hwcheck_x(a3) & 0xffffffff}]
		hwcheck_x_exec WSR.DDR
		set now [hwcheck_x_read DDR]
		set why [hwcheck_x_done]
		if {$why eq "" && $now == $hwcheck_x(a3)} {
			set hwcheck_x(saved) 0
		}
	}
	if {$hwcheck_x(saved)} {
		set hwcheck_x(saved) 0
		error "hwcheck: A3 COULD NOT BE RESTORED to [hwcheck_hex $hwcheck_x(a3)]: [expr {
			$why eq "" ? "it reads [hwcheck_hex $now]" : $why}]"
	}
}

proc hwcheck_x_release {} {
	global hwcheck_x
	for {set i 0} {$i < 4} {incr i} {
		hwcheck_x_exec RFDO
		set dsr [hwcheck_x_dsr]
		if {![hwcheck_x_stopped $dsr]} {
			break
		}
	}
	set took [expr {[hwcheck_microseconds] - $hwcheck_x(since)}]
	set hwcheck_x(longest) [hwcheck_max $took $hwcheck_x(longest)]
	if {[hwcheck_x_stopped $dsr]} {
		error "hwcheck: THE CORE DOES NOT RUN ON after RFDO (DSR [hwcheck_hex $dsr])"
	}
	set hwcheck_x(held) 0
	return $dsr
}

# As it was: a3, and running if it was we who stopped it.
proc hwcheck_x_go {} {
	global hwcheck_x
	set failed 0
	if {($hwcheck_x(held) || $hwcheck_x(saved)) && ![hwcheck_x_stopped [hwcheck_x_dsr]]} {
		set hwcheck_x(held) 0
		set hwcheck_x(saved) 0
		error "hwcheck: the core left debug mode by itself: was it reset?"
	}
	if {$hwcheck_x(saved)} {
		set failed [catch hwcheck_x_restore_a3 message]
	}
	if {$hwcheck_x(held)} {
		hwcheck_x_release
	}
	if {$failed} {
		error $message
	}
}

# Runs a script with the core stopped and a3 saved. As it was afterwards, whatever happens.
proc hwcheck_x_while_stopped {script} {
	global hwcheck_x
	set failed [catch {
		if {$hwcheck_x(was) eq "running"} {
			hwcheck_x_request
		}
		hwcheck_x_save_a3
		uplevel 1 $script
	} message]
	# what an adapter lost once it may do the second time
	if {[catch hwcheck_x_go other]} {
		if {$hwcheck_x(held) || $hwcheck_x(saved)} {
			hwcheck_x_go
		}
		if {!$failed || ![string match "hwcheck: *" $other]} {
			error $other
		}
	}
	if {$failed} {
		error $message
	}
}

# ── Xtensa: the link ──────────────────────────────────────────────────────────────────

proc hwcheck_x_tap_only {{why "the module is behind a DAP, there is no NAR"}} {
	if {![hwcheck_x_is_tap]} {
		error "hwcheck: $why"
	}
}

# Scans that go as one queue. Afterwards IR is not what OpenOCD thinks that it is.
proc hwcheck_x_svf {scans silent} {
	global hwcheck_x
	set hwcheck_x(narsel) 0
	return [hwcheck_svf $hwcheck_x(tap) [concat [hwcheck_x_svf_head] $scans] $silent]
}

# An SVF file begins with Test-Logic-Reset in 0.12.0. In case that resets PWRCTL, it is written, as in each poll.
proc hwcheck_x_svf_head {} {
	return {{ir 0x08} {dr 8 0x07} {dr 8 0x87} {ir 0x1c}}
}

proc hwcheck_x_q_alternation {question} {
	global hwcheck_x
	hwcheck_x_tap_only
	set id [hwcheck_x_read OCDID]
	hwcheck_x_ir 0x1c
	set seen {}
	for {set i 0} {$i < 8} {incr i} {
		hwcheck_x_dr 8 0x80
		if {$i >= 4} {
			runtest 5
		}
		lappend seen [hwcheck_x_dr 32 0]
	}
	set same [expr {[lsort -unique $seen] eq $id}]
	set hwcheck_x(keep_ir) $same
	hwcheck_line $question [expr {$same ? "yes, idle clocks between the two as well" : "no"}]\ ([
		hwcheck_x_list [lsort -unique $seen]])
}

# An address, a scan of IR, and 32 bits: an address again, or the data?
proc hwcheck_x_q_update_ir {question} {
	hwcheck_x_tap_only
	set id [hwcheck_x_read OCDID]
	hwcheck_x_ir 0x1c
	hwcheck_x_dr 8 0x80
	hwcheck_x_ir 0x1c
	# the upper byte stays in an 8-bit register: OCDID again. The others come out behind its 8 bits and those of BYPASS
	set got [hwcheck_x_dr 32 0x805ac396]
	if {$got == $id} {
		set verdict "no, the data phase survives"
	} elseif {($got >> 8 + [hwcheck_x_others_in_chain] & 0xffff) == 0xc396} {
		set verdict "yes, the next scan is an address"
		hwcheck_x_dr 32 0
	} else {
		set verdict "not known: neither"
	}
	hwcheck_x_ir 0x1c
	set after [hwcheck_x_read OCDID]
	hwcheck_line $question "$verdict (scan of 32 bits [hwcheck_hex $got], OCDID afterwards [hwcheck_hex $after])"
}

proc hwcheck_x_q_33_bits {question} {
	hwcheck_x_tap_only
	set id [hwcheck_x_read OCDID]
	hwcheck_x_address 0x40 0
	set got [hwcheck_x_dr 33 1]
	set after [hwcheck_x_read OCDID]
	set harmless [expr {($got & 0xffffffff) == $id && $after == $id}]
	hwcheck_line $question [format "%s (OCDID 0x%09x, afterwards %s)" [expr {$harmless ? "yes" : "no"}] $got \
		[hwcheck_hex $after]]
}

# Meaning of the bits that are captured with an address.
proc hwcheck_x_status {status} {
	return [format "0x%02x: %s, %s" $status [expr {$status & 1 ? "Error" : "no Error"}] \
		[expr {$status & 2 ? "Busy" : "not Busy"}]]
}

proc hwcheck_x_q_status_good {question} {
	global hwcheck_x
	hwcheck_x_tap_only
	hwcheck_x_read OCDID
	hwcheck_x_read OCDID
	set read $hwcheck_x(status)
	hwcheck_x_write DDR 0x12345678
	hwcheck_x_read OCDID
	set write $hwcheck_x(status)
	hwcheck_line $question "[hwcheck_x_status $read] (after a read), [hwcheck_x_status $write] (after a write)"
}

proc hwcheck_x_q_status_running {question} {
	global hwcheck_x
	hwcheck_x_running_only
	set before [hwcheck_x_dsr]
	if {[hwcheck_x_stopped $before]} {
		hwcheck_x_other_stop $before
	}
	hwcheck_x_write DSR 0xb
	hwcheck_x_exec NOP
	set after [hwcheck_x_dsr]
	set bits [expr {$after & 0xb}]
	set raw "DSR [hwcheck_hex $after]"
	if {[hwcheck_x_is_tap]} {
		set bits [expr {$bits | ($hwcheck_x(status) & 3)}]
		set raw "status [hwcheck_x_status $hwcheck_x(status)]; $raw"
	}
	if {[hwcheck_x_stopped $after]} {
		hwcheck_x_other_stop $after
	}
	hwcheck_x_write DSR [expr {$after & 0xb}]
	hwcheck_line $question [expr {$bits ? "yes, it leaves a trace" : "no, ignored without a trace"}]\ ($raw)
}

# As fast as there can be: one queue. Instructions that do nothing, in a core that is stopped.
proc hwcheck_x_q_overrun {question} {
	hwcheck_x_tap_only
	set exec [list {dr 8 0x8f 0 3} [list dr 32 [hwcheck_x_insn NOP]]]
	set scans [concat {*}[lrepeat 8 $exec] {{dr 8 0x80 0 3} {dr 32 0}}]
	set found {}
	hwcheck_x_while_stopped {
		hwcheck_x_write DSR 0xb
		if {[hwcheck_x_svf $scans 1] ne ""} {
			set found [hwcheck_x_svf $scans 0]
		}
		set dsr [hwcheck_x_dsr]
		hwcheck_x_write DSR 0xa
	}
	set seen {}
	foreach {index status} $found {
		lappend seen [hwcheck_x_status $status]
	}
	set seen [join [lsort -unique $seen] "; "]
	set how "8 NOPs at a distance of [hwcheck_x_tck_per_access] TCK: DSR [hwcheck_hex $dsr]"
	if {$dsr & 8} {
		hwcheck_line $question "[expr {$seen eq "" ? "no bit set, only DSR tells" : $seen}] ($how)"
	} else {
		hwcheck_unknown $question "none came about ($how[expr {$seen eq "" ? "" : "; status seen: $seen"}])"
	}
}

# ── Xtensa: power, DCR ────────────────────────────────────────────────────────────────

proc hwcheck_x_q_pwrstat {question} {
	set first [hwcheck_x_pwrstat]
	set second [hwcheck_x_pwrstat]
	# position of the same bits in the two layouts
	set names [expr {[hwcheck_x_is_tap] ?
		{0 CoreOn 1 MemOn 2 DebugOn 3 CoreStillNeeded 4 CoreWasReset 6 DebugWasReset} :
		{0 CoreOn 4 CoreStillNeeded 8 MemOn 12 DebugOn 16 CoreWasReset 28 DebugWasReset}}]
	if {$first != $second} {
		set verdict "reading with zeros changed it"
	} elseif {$first & [hwcheck_x_was_reset]} {
		set verdict "reading with zeros clears nothing"
	} else {
		set verdict "two reads are the same; whether zeros clear is not known, no WasReset bit was set"
	}
	hwcheck_line $question "$verdict (0x[format %x $first], 0x[format %x $second]: [hwcheck_x_bits $first $names])"
}

# CoreWasReset, DebugWasReset
proc hwcheck_x_was_reset {} {
	return [expr {[hwcheck_x_is_tap] ? 0x50 : 0x10010000}]
}

proc hwcheck_x_bits {value names} {
	set found {}
	foreach {bit name} $names {
		if {$value >> $bit & 1} {
			lappend found $name
		}
	}
	return [expr {[llength $found] ? [join $found " "] : "none"}]
}

proc hwcheck_x_q_network {question} {
	global hwcheck_x
	set dsr [hwcheck_x_dsr]
	hwcheck_line $question "[hwcheck_x_bits $hwcheck_x(dcr) {
		16 BreakIn 17 BreakOut 21 RunStallIn 22 DebugModeOut 24 BreakOutITO 25 BreakInAckITO
	}] (DCR [hwcheck_hex $hwcheck_x(dcr)], DSR [hwcheck_hex $dsr])"
}

proc hwcheck_x_q_all_conditions {question} {
	global hwcheck_x
	if {$hwcheck_x(dcr) & 4} {
		error "hwcheck: it was set before (DCR [hwcheck_hex $hwcheck_x(dcr)])"
	}
	hwcheck_x_write DCRSET 4
	set dcr [hwcheck_x_read DCRSET]
	hwcheck_x_write DCRCLR 4
	set after [hwcheck_x_read DCRSET]
	hwcheck_line $question "[expr {$dcr & 4 ? "the bit is kept" : "the bit is not kept"}], [expr {
		$after & 4 ? "COULD NOT BE CLEARED" : "cleared again"}] (DCR [hwcheck_hex $dcr], then [hwcheck_hex $after]);\
		its effect is not known: only a core that masks the debug interrupt would show it"
}

# ── Xtensa: DEBUGPC ───────────────────────────────────────────────────────────────────

proc hwcheck_x_list {values} {
	set text {}
	foreach value [lrange $values 0 7] {
		lappend text [hwcheck_hex $value]
	}
	if {[llength $values] > 8} {
		lappend text ...
	}
	return [join $text " "]
}

proc hwcheck_x_samples {count} {
	set values {}
	for {set i 0} {$i < $count} {incr i} {
		lappend values [hwcheck_x_read DEBUGPC]
	}
	return $values
}

proc hwcheck_x_q_debugpc_running {question} {
	hwcheck_x_running_only
	set values [hwcheck_x_samples 64]
	set different [lsort -unique $values]
	set zeros [llength [lsearch -all -exact $values 0]]
	set lows {}
	foreach value $different {
		if {$value && ($value & 3) ni $lows} {
			lappend lows [expr {$value & 3}]
		}
	}
	if {$zeros == 64} {
		set verdict "no, it reads 0"
	} elseif {[llength $different] == 1} {
		set verdict "it is not 0, but always the same: does the core wait?"
	} else {
		set verdict "yes, [llength $different] values in 64 reads"
	}
	append verdict "; low bits [expr {[llength $lows] ? [lsort $lows] : "none"}]"
	hwcheck_line $question "$verdict; 0 in $zeros reads ([hwcheck_x_list $values])"
}

proc hwcheck_x_q_debugpc_stopped {question} {
	hwcheck_x_while_stopped {
		set pc [hwcheck_x_special RSR.EPC]
		set values [lsort -unique [hwcheck_x_samples 4]]
	}
	if {$values eq "0"} {
		set verdict "0"
	} elseif {[llength $values] > 1} {
		set verdict "changes"
	} elseif {$values == $pc} {
		set verdict "the PC at which the core stopped"
	} else {
		set verdict "constant, [expr {$values - $pc}] bytes from the PC"
	}
	hwcheck_line $question "$verdict ([hwcheck_x_list $values]; PC [hwcheck_hex $pc])"
}

# The three bytes before the PC, which tell whether the core was in WAITI when it was stopped.
proc hwcheck_x_insn_before {pc} {
	global hwcheck_x
	set addr [expr {$pc - 3 & ~3}]
	set low [hwcheck_x_word $hwcheck_x(load) $addr]
	set high [hwcheck_x_word $hwcheck_x(load) [expr {$addr + 4}]]
	return [expr {($high << 32 | $low) >> (($pc - 3 & 3) * 8) & 0xffffff}]
}

proc hwcheck_x_q_debugpc_waiti {question} {
	global hwcheck_x
	hwcheck_x_running_only
	if {$hwcheck_x(load) eq ""} {
		error "hwcheck: no way to read instructions was found, so WAITI cannot be told"
	}
	for {set i 0} {$i < 8} {incr i} {
		set values [lsort -unique [hwcheck_x_samples 4]]
		hwcheck_x_while_stopped {
			set pc [hwcheck_x_special RSR.EPC]
			set insn [hwcheck_x_insn_before $pc]
		}
		if {($insn & 0xfff0ff) == 0x007000 && [llength $values] == 1} {
			break
		}
	}
	if {$i == 8} {
		error "hwcheck: the core was not found in WAITI in 8 stops"
	}
	set verdict "reads as [hwcheck_hex $values]"
	set waiti [expr {$pc - 3}]
	if {$values == 0} {
		set verdict "reads 0"
	} elseif {$values == $waiti} {
		set verdict "the address of WAITI"
	} elseif {$values == $pc} {
		set verdict "the instruction behind WAITI"
	}
	hwcheck_line $question "$verdict (WAITI at [hwcheck_hex $waiti], DEBUGPC [hwcheck_x_list $values])"
}

# ── Xtensa: the stopped core ──────────────────────────────────────────────────────────

# Taking a debug interrupt sets PS.INTLEVEL to the debug level, so a stopped core tells it.
proc hwcheck_x_q_level {question} {
	global hwcheck_x
	hwcheck_x_while_stopped {
		set ps [hwcheck_x_special RSR.PS]
		set cause [hwcheck_x_special RSR.DEBUGCAUSE]
	}
	set level [expr {$ps & 15}]
	set type [$hwcheck_x(target) cget -type]
	if {$level < 2 || $level > 7} {
		hwcheck_unknown $question "PS.INTLEVEL of a stopped core is no level (PS [hwcheck_hex $ps])"
		return
	}
	set hwcheck_x(level) $level
	hwcheck_line $question "$level (PS [hwcheck_hex $ps], DEBUGCAUSE 0x[format %x $cause])[expr {
		[string match esp32* $type] && $level != 6 ? "; 6 WAS EXPECTED" : ""}]"
}

# X, R, X: a3 and the PC, against the way without XSR.
proc hwcheck_x_q_xsr {question} {
	global hwcheck_x
	set swapped 0
	hwcheck_x_while_stopped {
		set pc [hwcheck_x_special RSR.EPC]
		set a3 $hwcheck_x(a3)
		set other [expr {$a3 ^ 0x5a5aa5a5}]
		hwcheck_x_set_a3 $a3
		hwcheck_x_write DDR $other
		hwcheck_x_must_be_done
		hwcheck_x_exec XSR.DDR
		set out [hwcheck_x_read DDR]
		hwcheck_x_exec RSR.EPC XSR.DDR
		set pc2 [hwcheck_x_read DDR]
		hwcheck_x_exec WSR.DDR
		set a32 [hwcheck_x_read DDR]
		set why [hwcheck_x_done]
	}
	set raw "a3 [hwcheck_hex $a3] -> DDR [hwcheck_hex $out], PC [hwcheck_hex $pc2] (slow way [hwcheck_hex $pc]),\
		a3 then [hwcheck_hex $a32]"
	if {$why ne ""} {
		hwcheck_line $question "no: $why"
	} elseif {$out == $a3 && $pc2 == $pc && $a32 == $a3} {
		hwcheck_line $question "yes ($raw)"
	} else {
		hwcheck_line $question "no, [expr {$out == $other ? "DDR keeps what the host wrote" : "something else"}] ($raw)"
	}
}

# The word there, or nothing if the load faults.
proc hwcheck_x_word_if {how addr} {
	if {![catch {hwcheck_x_word $how $addr} word]} {
		return $word
	}
	if {![string match "hwcheck: *" $word]} {
		error $word
	}
	return ""
}

# A load that is not there faults wherever it loads from; L32I tells one from the other.
proc hwcheck_x_q_lddr {question} {
	global hwcheck_x
	hwcheck_x_while_stopped {
		set addr [expr {[hwcheck_x_special RSR.EPC] & ~3}]
		set lddr [hwcheck_x_word_if LDDR32.P $addr]
		hwcheck_x_exec WSR.DDR
		set pointer [hwcheck_x_read DDR]
		hwcheck_x_must_be_done
	}
	hwcheck_x_while_stopped {
		set load [hwcheck_x_word_if L32I $addr]
	}
	foreach {how word} [list L32I $load LDDR32.P $lddr] {
		if {$word ne ""} {
			set hwcheck_x(load) $how
		}
	}
	if {$lddr ne ""} {
		set verdict "yes"
		if {$pointer != $addr + 4} {
			set verdict "it does not fault, but a3 is [hwcheck_hex $pointer] afterwards"
		} elseif {$load ne "" && $load != $lddr} {
			set verdict "it does not fault, but gives another word than L32I"
		}
		hwcheck_line $question "$verdict (from [hwcheck_hex $addr]: [hwcheck_hex $lddr], by L32I [expr {
			$load eq "" ? "a fault" : [hwcheck_hex $load]}])"
	} elseif {$load ne ""} {
		hwcheck_line $question "no, it faults (L32I gives [hwcheck_hex $load] from [hwcheck_hex $addr])"
	} else {
		hwcheck_unknown $question "loads from [hwcheck_hex $addr] fault"
	}
}

proc hwcheck_x_q_ccount {question} {
	hwcheck_x_while_stopped {
		hwcheck_x_exec RSR.CCOUNT WSR.DDR
		set first [hwcheck_x_read DDR]
		set t1 [hwcheck_microseconds]
		for {set i 0} {$i < 4} {incr i} {
			hwcheck_x_dsr
		}
		hwcheck_x_exec RSR.CCOUNT WSR.DDR
		set second [hwcheck_x_read DDR]
		set t2 [hwcheck_microseconds]
		hwcheck_x_must_be_done
	}
	set moved [expr {$second - $first & 0xffffffff}]
	# an instruction that is executed may well count its own cycles
	set verdict [expr {$moved == 0 ? "it stands" : $moved < 32 ? "it stands, but for the reading" : "it counts on"}]
	hwcheck_line $question "$verdict ([hwcheck_hex $first], [hwcheck_hex $second]: $moved cycles\
		in [expr {$t2 - $t1}] us of the host)"
}

# ── Xtensa: requests to stop ──────────────────────────────────────────────────────────

proc hwcheck_x_q_request {question} {
	global hwcheck_x
	hwcheck_x_running_only
	hwcheck_x_write DSR 0x00770000
	hwcheck_x_while_stopped {
		set dsr [hwcheck_x_dsr]
	}
	hwcheck_line $question "DebugPendHost [expr {$dsr & 0x20000 ? "STAYS" : "clears itself"}], DebugIntHost [expr {
		$dsr & 0x200000 ? "is set" : "IS NOT SET"}] (DSR [hwcheck_hex $dsr])"
}

proc hwcheck_x_q_run_on {question} {
	global hwcheck_x
	hwcheck_x_running_only
	hwcheck_x_while_stopped {
		set before [hwcheck_x_dsr]
	}
	set stopped 0
	for {set i 0} {$i < 16} {incr i} {
		set after [hwcheck_x_dsr]
		incr stopped [hwcheck_x_stopped $after]
	}
	if {$stopped} {
		# released the second time by what follows
		hwcheck_x_take_back
	}
	hwcheck_line $question "[expr {$stopped ? "no, it stopped again" : "yes, stopped in none of 16 reads"}]\
		(DSR [hwcheck_hex $before] before, [hwcheck_hex $after] after)"
}

# The core stopped, and it was our doing.
proc hwcheck_x_take_back {} {
	global hwcheck_x
	hwcheck_x_write DSR 0x00220000
	set hwcheck_x(held) 1
	set hwcheck_x(since) [hwcheck_microseconds]
	hwcheck_x_go
}

proc hwcheck_x_q_request_stopped {question} {
	global hwcheck_x
	hwcheck_x_running_only
	hwcheck_x_while_stopped {
		set before [hwcheck_x_dsr]
		hwcheck_x_write DCRSET 2
		set pending [hwcheck_x_dsr]
		hwcheck_x_write DSR 0x00020000
		set after [hwcheck_x_dsr]
	}
	set verdict [expr {$pending & 0x20000 ? "stays pending" : "is not kept"}]
	if {$pending & 0x20000} {
		append verdict [expr {$after & 0x20000 ? ", and the host cannot clear it" : ", the host can clear it"}]
	}
	for {set i 0} {$i < 8} {incr i} {
		if {[hwcheck_x_stopped [hwcheck_x_dsr]]} {
			append verdict "; the core stopped once more"
			hwcheck_x_take_back
		}
	}
	hwcheck_line $question "$verdict (DSR [hwcheck_hex $before], then [hwcheck_hex $pending],\
		cleared [hwcheck_hex $after])"
}

# ── Xtensa: time ──────────────────────────────────────────────────────────────────────

# TCK of a scan beyond its bits: the drivers that go straight to Run-Test/Idle need 5, the others 7.
proc hwcheck_x_scan_overhead {} {
	set direct {ftdi remote_bitbang bcm2835gpio linuxgpiod sysfsgpio am335xgpio imx_gpio parport ft232r dummy}
	return [expr {[hwcheck_said {adapter name}] in $direct ? 5 : 7}]
}

proc hwcheck_x_others_in_chain {} {
	return [expr {[llength [hwcheck_chain]] / 2 - 1}]
}

proc hwcheck_x_tck_per_access {} {
	return [expr {40 + 2 * ([hwcheck_x_scan_overhead] + [hwcheck_x_others_in_chain])}]
}

# A stop for the latency: is it running, a request, reads of DSR, RFDO, a while of running.
proc hwcheck_x_latency_scans {reads run} {
	set scans {{dr 8 0x88} {dr 32 0 0 0x10} {dr 8 0x87} {dr 32 3}}
	for {set i 0} {$i < $reads} {incr i} {
		lappend scans {dr 8 0x88} {dr 32 0 0x10 0x10}
	}
	lappend scans {dr 8 0x8f} [list dr 32 [hwcheck_x_insn RFDO]] [list idle $run]
	return $scans
}

# From the checks that failed: for each stop the first read that saw it, `none`, or `bad` if it was stopped before.
# After these two the rest does not count: it may have stopped anywhere in it.
proc hwcheck_x_latency_stops {found stops reads} {
	set head [llength [hwcheck_x_svf_head]]
	set size [llength [hwcheck_x_latency_scans $reads 1]]
	set missed [lrepeat $stops 0]
	set firsts {}
	foreach {index value} $found {
		set k [expr {($index - $head) / $size}]
		set add [expr {($index - $head) % $size == 1 ? 1000 : 1}]
		lset missed $k [expr {[lindex $missed $k] + $add}]
	}
	foreach first $missed {
		lappend firsts [expr {$first >= 1000 ? "bad" : $first == $reads ? "none" : $first}]
		if {$first >= $reads} {
			break
		}
	}
	return $firsts
}

# The last request may be under way still. It is waited for, or withdrawn.
proc hwcheck_x_latency_end {} {
	global hwcheck_x
	set quiet 0
	for {set i 0} {$i < 200 && $quiet < 4} {incr i} {
		set dsr [hwcheck_x_dsr]
		if {[hwcheck_x_stopped $dsr]} {
			hwcheck_x_release
			set quiet 0
		} elseif {!($dsr & 0x20000)} {
			incr quiet
		}
	}
	if {$quiet < 4} {
		hwcheck_x_write DSR 0x20000
	}
	set hwcheck_x(held) 0
}

proc hwcheck_x_latency_batch {stops reads} {
	global hwcheck_x
	set scans {}
	for {set k 0} {$k < $stops} {incr k} {
		lappend scans {*}[hwcheck_x_latency_scans $reads [expr {200 + 37 * $k}]]
	}
	set dsr [hwcheck_x_dsr]
	if {[hwcheck_x_stopped $dsr]} {
		hwcheck_x_other_stop $dsr
	}
	foreach silent {1 0} {
		set hwcheck_x(since) [hwcheck_microseconds]
		set hwcheck_x(held) 1
		set found [hwcheck_x_svf $scans $silent]
		hwcheck_x_latency_end
		if {$found eq ""} {
			break
		}
	}
	return [hwcheck_x_latency_stops $found $stops $reads]
}

proc hwcheck_x_q_latency {question} {
	global hwcheck_x
	set in_batch 4
	set reads 24
	hwcheck_x_running_only
	hwcheck_x_tap_only "plain Tcl cannot put several accesses of an AP into one queue"
	set counts [dict create]
	set done 0
	while {$done < $hwcheck_x(stops)} {
		set left [expr {$hwcheck_x(stops) - $done}]
		set stops [expr {$left < $in_batch ? $left : $in_batch}]
		foreach first [hwcheck_x_latency_batch $stops $reads] {
			dict incr counts $first
			incr done
		}
	}
	# from the update of DCRSET to the capture of the first DSR
	set access [hwcheck_x_tck_per_access]
	set begin [expr {8 + [hwcheck_x_scan_overhead] + [hwcheck_x_others_in_chain] + 3}]
	set parts {}
	for {set i 0} {$i < $reads} {incr i} {
		if {[dict exists $counts $i]} {
			lappend parts "<=[expr {$begin + $i * $access}]: [dict get $counts $i]"
		}
	}
	if {[dict exists $counts none]} {
		lappend parts ">[expr {$begin + ($reads - 1) * $access}]: [dict get $counts none]"
	}
	if {[dict exists $counts bad]} {
		lappend parts "stopped before it was asked to: [dict get $counts bad]"
	}
	hwcheck_line $question "[join $parts ", "] (TCK: stops, of $done; DSR was read every $access TCK)"
}

proc hwcheck_x_q_exchange {question} {
	set begin [hwcheck_microseconds]
	set before [flush_count]
	for {set i 0} {$i < 20} {incr i} {
		hwcheck_x_dsr
	}
	set us [expr {double([hwcheck_microseconds] - $begin)}]
	set queues [expr {[flush_count] - $before}]
	hwcheck_line $question [format "%.0f us (20 reads of DSR, %d queues, %.1f ms)" \
		[expr {$queues ? $us / $queues : 0}] $queues [expr {$us / 1000}]]
}

# Two queues that differ by so many accesses differ by so much time. File and text cost time, too. The least of some
# tries has the least of everything else in it.
proc hwcheck_x_q_tck {question} {
	global hwcheck_x
	hwcheck_x_tap_only
	set access {{dr 8 0x80} {dr 32 0}}
	foreach {name count} {few 200 many 2200 text 2000} {
		set scans($name) [concat {*}[lrepeat $count $access]]
		set least($name) 1000000000
	}
	for {set i 0} {$i < 5} {incr i} {
		foreach name {few many text} {
			set began [hwcheck_microseconds]
			if {$name eq "text"} {
				hwcheck_svf_nothing $hwcheck_x(tap) $scans($name)
			} elseif {[hwcheck_x_svf $scans($name) 1] ne ""} {
				error "hwcheck: a queue of reads failed"
			}
			set took [expr {[hwcheck_microseconds] - $began}]
			set least($name) [expr {$took < $least($name) ? $took : $least($name)}]
		}
	}
	set us [expr {($least(many) - $least(few) - $least(text)) / 2000.0}]
	set raw "$least(few) us for 200, $least(many) us for 2200, $least(text) us of it for the text of 2000"
	if {$us <= 0} {
		error "hwcheck: too short to be measured ($raw)"
	}
	set khz [hwcheck_speed_khz]
	set tck [expr {$khz ? [format "%.1f TCK at %d kHz" [expr {$us * $khz / 1000}] $khz] : "speed not known"}]
	hwcheck_line $question [format "%.2f us = %s; by the length of scans %d (%s)" $us $tck \
		[hwcheck_x_tck_per_access] $raw]
}

# ── Xtensa: the report ────────────────────────────────────────────────────────────────

# In this order: what is found out early is used later.
proc hwcheck_x_questions {} {
	return {
		alternation "NAR: address and data alternate without IR scan"
		update_ir "NAR: a scan of IR begins with the address again"
		33_bits "NAR: a data scan of 33 bits is harmless"
		status_good "NAR: status after a good access"
		pwrstat "PWRSTAT"
		network "break network"
		all_conditions "DCR.InterruptAllConds"
		exchange "time of one exchange"
		tck "time of one access (IR kept)"
		debugpc_running "DEBUGPC of a running core is alive"
		status_running "DIR0EXEC to a running core can be told"
		request "a stop that was asked for"
		run_on "RFDO, causes not cleared: it runs on"
		request_stopped "a request to a core that is stopped"
		level "debug level"
		debugpc_stopped "DEBUGPC of a stopped core"
		xsr "XSR.DDR swaps a3"
		lddr "LDDR32.P exists"
		ccount "CCOUNT of a stopped core"
		debugpc_waiti "DEBUGPC in WAITI"
		overrun "NAR: status after an overrun"
		latency "halt latency"
	}
}

proc hwcheck_x_find {target} {
	global hwcheck_x
	set hwcheck_x(tap) ""
	set hwcheck_x(narsel) 0
	if {[catch {$target cget -dap} dap] || $dap eq ""} {
		set hwcheck_x(tap) [$target cget -chain-position]
		return
	}
	set hwcheck_x(dap) $dap
	set hwcheck_x(base) 0
	catch {set hwcheck_x(base) [expr {[$target cget -dbgbase]}]}
	set hwcheck_x(ap) -1
	catch {set hwcheck_x(ap) [expr {[$target cget -ap-num]}]}
	for {set i 0} {$hwcheck_x(ap) < 0 && $i < 16} {incr i} {
		# class MEM-AP, type APB
		if {([string trim [$dap apreg $i 0xfc]] & 0x1e00f) == 0x10002} {
			set hwcheck_x(ap) $i
		}
	}
	if {$hwcheck_x(ap) < 0} {
		error "hwcheck: $dap has no APB-AP"
	}
	# words, no increment
	set csw [string trim [$dap apreg $hwcheck_x(ap) 0]]
	$dap apreg $hwcheck_x(ap) 0 [hwcheck_hex [expr {$csw & ~0x37 | 2}]]
}

proc hwcheck_x_ids {} {
	global hwcheck_x
	set idcode "not known"
	if {[hwcheck_x_is_tap]} {
		hwcheck_x_ir 0x1e
		set idcode [hwcheck_hex [hwcheck_x_dr 32 0]]
	} else {
		catch {set idcode [hwcheck_hex [jtag cget [lindex [jtag names] 0] -idcode]]}
	}
	hwcheck_line "IDCODE" "$idcode[expr {[hwcheck_x_is_tap] ? "" : " of the DAP; AP $hwcheck_x(ap), module at [
		hwcheck_hex $hwcheck_x(base)]"}]"
	set id [hwcheck_x_read OCDID]
	hwcheck_line "OCDID" [hwcheck_hex $id]
	if {$id == 0 || $id == 0xffffffff} {
		error "hwcheck: the debug module does not answer"
	}
}

# A stop has up to 35 accesses: no watchdog may bite at that rate. ESP-IDF's waits 300 ms. An access has one exchange
# more here than later, when IR is kept.
proc hwcheck_x_fast_enough {} {
	global hwcheck_x
	set least 1000000000
	for {set i 0} {$i < 8} {incr i} {
		set began [hwcheck_microseconds]
		hwcheck_x_dsr
		set us [expr {[hwcheck_microseconds] - $began}]
		set least [expr {$us < $least ? $us : $least}]
	}
	if {$hwcheck_x(was) eq "running" && $least * 30 > 200000} {
		error "hwcheck: an access takes $least us, the core would stand too long; halt it first, or use another adapter"
	}
}

# A core that something else has stopped in between is left to OpenOCD.
proc hwcheck_x_one {name question} {
	global hwcheck_x
	set dsr [hwcheck_x_dsr]
	if {$hwcheck_x(other) || ($hwcheck_x(was) eq "running" && [hwcheck_x_stopped $dsr])} {
		hwcheck_x_other_stop $dsr
	}
	hwcheck_x_q_$name $question
}

proc hwcheck_x_ask {name question} {
	if {![catch {hwcheck_x_one $name $question} message]} {
		return
	}
	if {![string match "hwcheck: *" $message]} {
		error "$question: $message"
	}
	hwcheck_unknown $question [string range $message 9 end]
}

# A core that stops alone: the others run on, and do not stop it.
proc hwcheck_x_leave_network {} {
	global hwcheck_x
	if {$hwcheck_x(was) eq "running"} {
		hwcheck_x_write DSR 0x00770000
		hwcheck_x_write DCRCLR [expr {$hwcheck_x(dcr) & 0x00630000}]
	}
}

# As it was before. Tries each step even when one before it fails.
proc hwcheck_x_restore {} {
	global hwcheck_x
	set hwcheck_x(keep_ir) 0
	set problems {}
	foreach step {
		hwcheck_x_go
		{hwcheck_x_write DCRCLR [expr {[hwcheck_x_read DCRSET] & ~$hwcheck_x(dcr)}]}
		{hwcheck_x_write DCRSET [expr {$hwcheck_x(dcr) & ~2}]}
		{if {!$hwcheck_x(other) && $hwcheck_x(was) eq "running"} { hwcheck_x_write DSR 0x00330001 }}
	} {
		if {[catch $step message] && [catch $step message]} {
			lappend problems $message
		}
	}
	return $problems
}

proc hwcheck_x_afterwards {} {
	global hwcheck_x
	set dsr [hwcheck_x_dsr]
	set dcr [hwcheck_x_read DCRSET]
	set now [expr {[hwcheck_x_stopped $dsr] ? "halted" : "running"}]
	set same [expr {$now eq $hwcheck_x(was) && $dcr == $hwcheck_x(dcr)}]
	set resets [expr {[hwcheck_x_pwrstat] & ~$hwcheck_x(pwrstat) & [hwcheck_x_was_reset]}]
	hwcheck_line "afterwards" "[expr {$same ? "as before" : "NOT AS BEFORE"}]: $now, DCR [hwcheck_hex $dcr],\
		DSR [hwcheck_hex $dsr][expr {$resets ? ", A RESET CAME IN BETWEEN" : ""}][expr {$hwcheck_x(longest) ?
		", longest stop [format %.1f [expr {$hwcheck_x(longest) / 1000.0}]] ms" : ""}]"
}

proc hwcheck_x_run {} {
	global hwcheck_x
	hwcheck_x_fast_enough
	set hwcheck_x(dcr) [hwcheck_x_read DCRSET]
	set hwcheck_x(pwrstat) [hwcheck_x_pwrstat]
	set failed [catch {
		hwcheck_x_leave_network
		foreach {name question} [hwcheck_x_questions] {
			hwcheck_x_ask $name $question
		}
	} message]
	set problems [hwcheck_x_restore]
	foreach problem $problems {
		hwcheck_line "restoring" $problem
	}
	if {$failed} {
		error $message
	}
	hwcheck_x_afterwards
}

proc hwcheck_xtensa {target options} {
	global hwcheck_x hwcheck_report
	array set hwcheck_x [list target $target stops [dict get $options -stops] \
		keep_ir 0 status 0 level 6 load "" wait 1 held 0 saved 0 a3 0 since 0 \
		longest 0 other 0 was ""]
	hwcheck_begin
	set polling [hwcheck_polling]
	if {[catch {$target arp_poll}]} {
		error "hwcheck: $target cannot be polled"
	}
	set hwcheck_x(was) [$target curstate]
	if {[$target cget -endian] ne "little"} {
		error "hwcheck: instructions of big-endian cores are not known here"
	}
	if {$hwcheck_x(was) ni {running halted}} {
		error "hwcheck: $target is neither running nor halted, but $hwcheck_x(was)"
	}
	poll off
	set failed [catch {
		hwcheck_header $target
		hwcheck_x_find $target
		hwcheck_x_ids
		hwcheck_x_run
	} message]
	poll $polling
	catch {$target arp_poll}
	if {$failed} {
		error $message
	}
	return [join $hwcheck_report \n]
}
