# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the silicon of a real board answers to questions that no manual does:
#
#     source [find trace/hwcheck.tcl]
#     hwcheck
#
# prints a report to paste into a bug, line by line. A script finds the lines in the list hwcheck_report.
# It needs no command that OpenOCD 0.12.0 does not have.
#
# Each kind of target has its own part: a procedure of the name in hwcheck_kinds. A part gives lines by hwcheck_line, or
# puts its questions, one procedure each.
#
# An answer that was not expected is `error "hwcheck: ..."`: it becomes one line, and the next question follows. Any
# other error (an adapter that fails, an error in this script) ends the report, after everything is restored.

# kind: types of target, options with their defaults
set hwcheck_kinds [dict create \
	xtensa {{xtensa esp32 esp32s2 esp32s3} {-stops 32}} \
	mtb {{cortex_m hla_target} {-baseaddr "" -rambase "" -stop-trace no}}]
set hwcheck_dir [file dirname [info script]]

add_usage_text hwcheck {[xtensa] [-target NAME] [-stops N] | [mtb] [-target NAME] [-baseaddr A] [-rambase A] [-stop-trace yes]}
add_help_text hwcheck "Asks the debug hardware of a target what its manual does not say, without harm: prints\
	a report. Stops an Xtensa core that runs for some milliseconds at a time. The kind is that of the target, by default."

proc hwcheck {args} {
	global hwcheck_kinds
	if {[command mode] eq "config"} {
		return -code error "hwcheck: only behind init"
	}
	set kind ""
	if {[llength $args] && ![string match -* [lindex $args 0]]} {
		set kind [lindex $args 0]
		set args [lrange $args 1 end]
	}
	if {[llength $args] % 2} {
		error "hwcheck: [lindex $args end]: a value is missing, or it is a stray word"
	}
	set target [expr {[dict exists $args -target] ? [dict get $args -target] : [target current]}]
	if {$target ni [target names]} {
		error "hwcheck: there is no target $target"
	}
	set type [$target cget -type]
	foreach {name description} $hwcheck_kinds {
		lassign $description types options
		if {$type in $types && $kind in [list "" $name]} {
			return [hwcheck_$name $target [hwcheck_options $name $options $args]]
		}
	}
	error "hwcheck: no questions [expr {$kind eq "" ? "" : "of kind $kind "}]for a target of type $type"
}

# The kind's options with what was given.
proc hwcheck_options {kind options given} {
	foreach {name value} $given {
		if {$name ne "-target" && ![dict exists $options $name]} {
			error "hwcheck: no option $name; options of kind $kind: -target [join [dict keys $options]]"
		}
		dict set options $name $value
	}
	foreach {name least} {-stops 1 -baseaddr 0 -rambase 0} {
		if {![dict exists $options $name] || ([dict get $options $name] eq "" && $name ne "-stops")} {
			continue
		}
		if {![string is integer -strict [dict get $options $name]] || [dict get $options $name] < $least} {
			error "hwcheck: $name is a number, $least or more"
		}
	}
	return $options
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
	global hwcheck_x
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
}

# ── Micro Trace Buffer of Cortex-M0+, M23, M33 ────────────────────────────────────────
#
# The array hwcheck_m:
#     target, base, how       where the registers are, and who says so
#     ids                     as from mtb_find_ids
#     cpu                     part number in CPUID
#     rambase                 BASE, or as given
#     MASTER, FLOW, ...       as found, trace stopped
#     was_on                  it was not stopped
#     aw                      address bits of the MTB's RAM, 0: not known
#
# No core is halted, no packet is written, and of the RAM nothing but reads. MASTER.NSEN, SECURE and what else decides on
# access are not written.

set hwcheck_m_offset [dict create POSITION 0x000 MASTER 0x004 FLOW 0x008 BASE 0x00c TSTART 0x010 TSTOP 0x014]

# A register, or any word, that has to answer: an error is that of OpenOCD.
proc hwcheck_m_word {address} {
	global hwcheck_m
	return [expr {[$hwcheck_m(target) read_memory $address 32 1] + 0}]
}

proc hwcheck_m_read {name} {
	global hwcheck_m hwcheck_m_offset
	return [hwcheck_m_word [expr {$hwcheck_m(base) + [dict get $hwcheck_m_offset $name]}]]
}

proc hwcheck_m_write {name value} {
	global hwcheck_m hwcheck_m_offset
	$hwcheck_m(target) write_memory [expr {$hwcheck_m(base) + [dict get $hwcheck_m_offset $name]}] 32 \
		[list [hwcheck_hex $value]]
}

# What a register keeps of a value; it is as found afterwards.
proc hwcheck_m_keeps {name value} {
	global hwcheck_m
	hwcheck_m_write $name $value
	set kept [hwcheck_m_read $name]
	hwcheck_m_write $name [expr {$name in {MASTER FLOW} ? $hwcheck_m(quiet_$name) : $hwcheck_m($name)}]
	return $kept
}

# A word that may not answer.
proc hwcheck_m_perhaps {address} {
	global hwcheck_m
	return [mtb_find_words $hwcheck_m(target) $address 1]
}

proc hwcheck_m_perhaps_text {address} {
	set word [hwcheck_m_perhaps $address]
	return [expr {$word eq "" ? "does not answer" : [hwcheck_hex $word]}]
}

# The PIDR of a part that is not an M0+'s: it has TSTART and TSTOP.
proc hwcheck_m_is_v8 {} {
	global hwcheck_m
	return [expr {$hwcheck_m(cpu) in {0xd20 0xd21}}]
}

proc hwcheck_m_q_identity {question} {
	global hwcheck_m
	set ids $hwcheck_m(ids)
	set names [dict create 0x932 "MTB-M0+" 0xd20 "MTB-M23" 0xd21 "MTB-M33" 0x98e "MTB-M33, early"]
	set part [format 0x%03x [dict get $ids part]]
	hwcheck_line $question "[expr {[dict exists $names $part] ? [dict get $names $part] : "a part not known here"}]\
		(designer [format 0x%03x [dict get $ids designer]], part $part, revision [dict get $ids revision],\
		CIDR [hwcheck_hex [dict get $ids cidr]], DEVARCH [hwcheck_hex [dict get $ids devarch]],\
		DEVTYPE [format 0x%02x [dict get $ids devtype]])"
}

proc hwcheck_m_q_rom {question} {
	global hwcheck_m
	set rom [mtb_find_rom $hwcheck_m(target)]
	if {$rom eq ""} {
		error "hwcheck: the AP names none, or the adapter does not show it"
	}
	set found [mtb_find_in_table $hwcheck_m(target) $rom]
	set text {}
	foreach base $found {
		lappend text [hwcheck_hex $base]
	}
	hwcheck_line $question "[expr {$hwcheck_m(base) in $found ? "yes" : "NO"}] (table at [hwcheck_hex $rom]; MTB at [
		expr {$found eq "" ? "none" : [join $text ", "]}])"
}

proc hwcheck_m_q_slot {question} {
	if {![hwcheck_m_is_v8]} {
		error "hwcheck: only Armv8-M cores have it"
	}
	set slot [hwcheck_m_perhaps 0xe00ff01c]
	if {$slot eq ""} {
		error "hwcheck: it does not answer"
	}
	hwcheck_line $question "[expr {$slot & 1 ? "present" : "absent"}] ([hwcheck_hex $slot])"
}

proc hwcheck_m_q_found {question} {
	global hwcheck_m
	set parts {}
	foreach name {POSITION MASTER FLOW TSTART TSTOP} {
		if {[info exists hwcheck_m($name)]} {
			lappend parts "$name [hwcheck_hex $hwcheck_m($name)]"
		}
	}
	hwcheck_line $question "[join $parts ", "][expr {$hwcheck_m(was_on) ? "; trace was on, and stopped for this" : ""}]"
}

proc hwcheck_m_q_base {question} {
	global hwcheck_m
	set base [hwcheck_m_read BASE]
	set text [hwcheck_hex $base]
	if {$base == 0} {
		append text ", NOT USABLE: -rambase has to be given"
	} elseif {$base != $hwcheck_m(rambase)} {
		append text ", -rambase says [hwcheck_hex $hwcheck_m(rambase)]"
	}
	hwcheck_line $question $text
}

# The bits above AW read as zero. WRAP is not set: nothing but the pointer counts here.
proc hwcheck_m_q_width {question} {
	global hwcheck_m
	set kept [hwcheck_m_keeps POSITION 0xffffffff]
	set top [expr {($kept & 0xfffffff8) + 8}]
	set aw 0
	while {(1 << $aw) < $top} {
		incr aw
	}
	if {(1 << $aw) != $top || $aw < 5} {
		error "hwcheck: POSITION keeps no run of ones ([hwcheck_hex $kept] of 0xffffffff)"
	}
	set hwcheck_m(aw) $aw
	hwcheck_line $question "$aw, $top bytes; WRAP [expr {$kept & 4 ? "is kept" : "IS NOT KEPT"}], bits 1:0 read [
		expr {$kept & 3}] (POSITION [hwcheck_hex $kept] of 0xffffffff)"
}

proc hwcheck_m_q_mask {question} {
	global hwcheck_m
	set kept [expr {[hwcheck_m_keeps MASTER [expr {$hwcheck_m(quiet_MASTER) | 0x1f}]] & 0x1f}]
	set most [expr {$hwcheck_m(aw) ? "AW-4 is [expr {$hwcheck_m(aw) - 4}]" : "AW is not known"}]
	hwcheck_line $question "0x1f reads $kept; $most[expr {$kept > $hwcheck_m(aw) - 4 ?
		", whether more acts as that only a full buffer would show" : ""}]"
}

proc hwcheck_m_q_flow {question} {
	set kept [hwcheck_m_keeps FLOW 0xfffffffc]
	hwcheck_line $question "WATERMARK [hwcheck_hex [expr {$kept & 0xfffffff8}]], bit 2 [expr {$kept >> 2 & 1}]\
		(of 0xfffffffc; AUTOHALT and AUTOSTOP not written)"
}

proc hwcheck_m_q_starts {question} {
	global hwcheck_m
	if {![info exists hwcheck_m(TSTART)]} {
		error "hwcheck: only Armv8-M cores have them"
	}
	set start [hwcheck_m_keeps TSTART 0xffffffff]
	set stop [hwcheck_m_keeps TSTOP 0xffffffff]
	hwcheck_line $question "[expr {$start || $stop ? "yes" : "no, they read as zero"}] (TSTART [hwcheck_hex $start],\
		TSTOP [hwcheck_hex $stop] of 0xffffffff)"
}

proc hwcheck_m_q_enables {question} {
	global hwcheck_m
	set kept [hwcheck_m_keeps MASTER [expr {$hwcheck_m(quiet_MASTER) | 0x40}]]
	hwcheck_line $question "[expr {$kept & 0x40 ? "yes" : "NO"}] (MASTER [hwcheck_hex $kept]); TSTARTEN is not written:\
		a pulse could start the trace"
}

# Which of the two is SECURE and which WIDTH the sources do not agree about.
proc hwcheck_m_q_secure {question} {
	global hwcheck_m
	if {![hwcheck_m_is_v8]} {
		error "hwcheck: only Armv8-M cores have it"
	}
	set at18 [hwcheck_m_perhaps [expr {$hwcheck_m(base) + 0x18}]]
	set text "0x018 [hwcheck_m_perhaps_text [expr {$hwcheck_m(base) + 0x18}]],\
		0x020 [hwcheck_m_perhaps_text [expr {$hwcheck_m(base) + 0x20}]]"
	if {$hwcheck_m(aw) && $at18 ne "" && $at18 == $hwcheck_m(aw)} {
		append text "; 0x018 is the number of address bits: WIDTH"
	} else {
		append text "; which of them is SECURE this does not tell"
	}
	hwcheck_line $question $text
}

proc hwcheck_m_q_nsen {question} {
	global hwcheck_m
	hwcheck_unknown $question "it is not written; it reads [expr {$hwcheck_m(MASTER) >> 30 & 1}]"
}

proc hwcheck_m_q_lock {question} {
	global hwcheck_m
	set words [list]
	foreach {name offset} {LSR 0xfb4 CLAIMSET 0xfa0 CLAIMCLR 0xfa4 ITCTRL 0xf00 DEVID 0xfc8} {
		lappend words "$name [hwcheck_m_perhaps_text [expr {$hwcheck_m(base) + $offset}]]"
	}
	hwcheck_line $question [join $words ", "]
}

proc hwcheck_m_q_auth {question} {
	global hwcheck_m
	set auth [hwcheck_m_perhaps [expr {$hwcheck_m(base) + 0xfb8}]]
	if {$auth eq ""} {
		error "hwcheck: AUTHSTATUS does not answer"
	}
	set names [dict create 0 "not told" 1 "not told" 2 off 3 on]
	hwcheck_line $question "invasive [dict get $names [expr {$auth & 3}]], non-invasive [
		dict get $names [expr {$auth >> 2 & 3}]] (AUTHSTATUS [hwcheck_hex $auth])"
}

# It moves only when it is written or trace is on.
proc hwcheck_m_q_stands {question} {
	set values {}
	for {set i 0} {$i < 8} {incr i} {
		set position [hwcheck_hex [hwcheck_m_read POSITION]]
		if {$position ni $values} {
			lappend values $position
		}
	}
	hwcheck_line $question "[expr {[llength $values] == 1 ? "yes" : "NO"}] (8 reads: [join $values ", "])"
}

# How much RAM answers from BASE on. It is looked at in steps that double.
proc hwcheck_m_q_ram {question} {
	global hwcheck_m
	if {$hwcheck_m(rambase) == 0} {
		error "hwcheck: BASE reads 0; give -rambase"
	}
	set top [expr {$hwcheck_m(aw) ? $hwcheck_m(aw) : 20}]
	set size 0
	for {set bits 5} {$bits <= $top} {incr bits} {
		if {[hwcheck_m_perhaps [expr {$hwcheck_m(rambase) + (1 << $bits) - 4}]] eq ""} {
			break
		}
		set size [expr {1 << $bits}]
	}
	set first [hwcheck_m_perhaps_text $hwcheck_m(rambase)]
	hwcheck_line $question "[expr {$size ? "$size bytes answer" : "NO RAM THERE"}] from [hwcheck_hex $hwcheck_m(rambase)]\
		on[expr {$bits <= $top ? ", [expr {1 << $bits}] do not: give -ramsize" : ", as many as the MTB decodes"}]\
		(first word $first)"
}

# ID[4:0] of each FUNCTION register: with bit 3 it can match the address of an instruction.
proc hwcheck_m_q_dwt {question} {
	if {![hwcheck_m_is_v8]} {
		error "hwcheck: only Armv8-M cores start and stop a trace by the DWT"
	}
	set count [expr {[hwcheck_m_word 0xe0001000] >> 28}]
	set ids {}
	set usable 0
	for {set i 0} {$i < $count} {incr i} {
		set id [expr {[hwcheck_m_word [expr {0xe0001028 + 16 * $i}]] >> 27 & 0x1f}]
		lappend ids [format 0x%02x $id]
		incr usable [expr {($id & 8) != 0}]
	}
	set trcena [expr {[hwcheck_m_word 0xe000edfc] >> 24 & 1}]
	hwcheck_line $question "$usable of $count (ID of each: [join $ids ", "]; TRCENA [expr {$trcena ? "set" :
		"clear: these may read as zero"}])"
}

# Kinetis only: the comparators that start and stop the trace. Their place behind the MTB is read only there.
proc hwcheck_m_q_mtb_dwt {question} {
	global hwcheck_m
	set base [expr {$hwcheck_m(base) + 0x1000}]
	if {$hwcheck_m(base) != 0xf0000000} {
		error "hwcheck: looked for on Kinetis only, where the MTB is at 0xf0000000"
	}
	set ids [mtb_find_ids $hwcheck_m(target) $base]
	if {$ids eq "" || [dict get $ids cidr] != 0xb105900d} {
		error "hwcheck: no component at [hwcheck_hex $base]"
	}
	set ctrl [hwcheck_m_word $base]
	set tbctrl [hwcheck_m_word [expr {$base + 0x200}]]
	hwcheck_line $question "[expr {$ctrl >> 28}] comparators (CTRL [hwcheck_hex $ctrl], TBCTRL [hwcheck_hex $tbctrl],\
		part [format 0x%03x [dict get $ids part]], DEVTYPE [hwcheck_hex [dict get $ids devtype]])"
}

# Harmless as long as no comparator may start or stop: TSTARTEN and TSTOPEN are clear.
proc hwcheck_m_q_functions {question} {
	global hwcheck_m
	set address [expr {$hwcheck_m(base) + 0x1028}]
	if {$hwcheck_m(base) != 0xf0000000 || [hwcheck_m_perhaps $address] eq ""} {
		error "hwcheck: looked for on Kinetis only, where the MTB is at 0xf0000000"
	}
	set found [hwcheck_m_word $address]
	if {$found & 0xf} {
		error "hwcheck: comparator 0 is in use (FCT0 [hwcheck_hex $found])"
	}
	set codes {}
	set failed [catch {
		for {set code 1} {$code < 16} {incr code} {
			$hwcheck_m(target) write_memory $address 32 [list [hwcheck_hex $code]]
			if {([hwcheck_m_word $address] & 0xf) == $code} {
				lappend codes $code
			}
		}
	} message]
	$hwcheck_m(target) write_memory $address 32 [list [hwcheck_hex [expr {$found & ~0x01000000}]]]
	if {$failed} {
		error $message
	}
	hwcheck_line $question "[expr {$codes eq "" ? "none" : [join $codes ", "]}] (what each of them matches is not known\
		but for 4, 5, 6, 7)"
}

# The newest 8 KB of what is in the buffer, as lists of source, A, destination, S. Left over from power-on it may be
# anything, which has hardly the shapes that are looked for.
proc hwcheck_m_packets {} {
	global hwcheck_m
	if {!$hwcheck_m(aw) || $hwcheck_m(rambase) == 0} {
		error "hwcheck: where the buffer is is not known"
	}
	set all [expr {1 << $hwcheck_m(aw)}]
	set size [expr {16 << ($hwcheck_m(MASTER) & 0x1f)}]
	set size [expr {$size > $all ? $all : $size}]
	set behind [expr {$hwcheck_m(POSITION) & 0xfffffff8 & ($size - 1)}]
	set first [expr {$hwcheck_m(POSITION) & 0xfffffff8 & ~($size - 1)}]
	set at [expr {$hwcheck_m(rambase) + (($first - $hwcheck_m(rambase)) & ($all - 1))}]
	set newer [expr {$behind > 8192 ? 8192 : $behind}]
	set older [expr {$hwcheck_m(POSITION) & 4 ? $size - $behind : 0}]
	set older [expr {$older > 8192 - $newer ? 8192 - $newer : $older}]
	set words {}
	foreach {address bytes} [list [expr {$at + $size - $older}] $older [expr {$at + $behind - $newer}] $newer] {
		set some [expr {$bytes ? [mtb_find_words $hwcheck_m(target) $address [expr {$bytes / 4}]] : ""}]
		if {[llength $some] != $bytes / 4} {
			error "hwcheck: the buffer as found, at [hwcheck_hex $address], cannot be read"
		}
		lappend words {*}$some
	}
	set packets {}
	foreach {source destination} $words {
		lappend packets [list [expr {$source & ~1}] [expr {$source & 1}] [expr {$destination & ~1}]]
	}
	return $packets
}

# The handlers in the vector table, without the initial stack pointer.
proc hwcheck_m_handlers {} {
	global hwcheck_m
	set vtor [hwcheck_m_perhaps 0xe000ed08]
	set table [expr {$vtor eq "" ? 0 : $vtor & 0xffffff80}]
	set handlers {}
	foreach word [lrange [mtb_find_words $hwcheck_m(target) $table 48] 1 end] {
		if {$word & 1} {
			lappend handlers [expr {$word & ~1}]
		}
	}
	return $handlers
}

# Behind the EXC_RETURN the next handler at once, or first what was interrupted, and from there the handler. A handler
# that was interrupted before its first instruction is returned to, which is neither.
proc hwcheck_m_q_tail_chain {question} {
	set packets [hwcheck_m_packets]
	set handlers [hwcheck_m_handlers]
	set interrupted {}
	set direct 0
	set whole 0
	for {set i 0} {$i + 1 < [llength $packets]} {incr i} {
		lassign [lindex $packets $i] source atomic value
		lassign [lindex $packets $i+1] again second next
		if {$atomic && $value < 0xffffff80 && $source in $handlers} {
			lappend interrupted $source
		}
		if {$atomic || $value < 0xffffff80 || $value == 0xfffffffe || $again != $value || !$second} {
			continue
		}
		if {$next in $handlers && $next ni $interrupted} {
			incr direct
			continue
		}
		lassign [lindex $packets $i+2] from third handler
		if {$third eq "1" && $from == $next && $handler in $handlers} {
			incr whole
		}
	}
	if {!$direct && !$whole} {
		error "hwcheck: not one among the [llength $packets] packets in the buffer as found; run interrupts under trace,\
			and ask again"
	}
	hwcheck_line $question "EXC_RETURN and the next handler in one packet: $direct; a whole return and then an entry: $whole\
		(of [llength $packets] packets as found)"
}

proc hwcheck_m_q_lock_up {question} {
	set packets [hwcheck_m_packets]
	set seen {}
	foreach packet $packets {
		if {[lindex $packet 2] in {0xfffffffe 0xeffffffe 4294967294 4026531838}} {
			lappend seen "[hwcheck_hex [lindex $packet 0]] (A=[lindex $packet 1]) to [hwcheck_hex [lindex $packet 2]]"
		}
	}
	if {$seen eq ""} {
		error "hwcheck: no packet leads there among the [llength $packets] in the buffer as found"
	}
	hwcheck_line $question "[llength $seen] packets, the last one from [lindex $seen end]"
}

# ── Micro Trace Buffer: the report ────────────────────────────────────────────────────

proc hwcheck_m_questions {} {
	return {
		identity "identification"
		rom "the AP's ROM table leads to it"
		slot "slot 0xe00ff01c of the core's ROM table"
		found "registers as found"
		base "BASE"
		width "address bits (AW)"
		mask "largest MASK"
		flow "FLOW keeps"
		starts "TSTART and TSTOP keep what is written"
		enables "MASTER.TSTOPEN is kept"
		nsen "MASTER.NSEN: what it does"
		secure "SECURE or WIDTH at 0x018, 0x020"
		lock "lock, claim tags, other"
		auth "authentication"
		stands "POSITION stands while trace is off"
		ram "RAM behind BASE"
		dwt "DWT comparators for addresses of instructions"
		mtb_dwt "MTB_DWT"
		functions "MTB_DWT: functions that are kept"
		tail_chain "tail-chaining: shape of its packets"
		lock_up "lock-up: packet"
	}
}

# Where it is: as given, by the core's ROM table, by the AP's.
proc hwcheck_m_find {options} {
	global hwcheck_m
	set cpuid [hwcheck_m_word 0xe000ed00]
	set hwcheck_m(cpu) [format 0x%03x [expr {$cpuid >> 4 & 0xfff}]]
	set names [dict create 0xc60 Cortex-M0+ 0xd20 Cortex-M23 0xd21 Cortex-M33]
	hwcheck_line "core" "[expr {[dict exists $names $hwcheck_m(cpu)] ? [dict get $names $hwcheck_m(cpu)] :
		"of a kind not known here"}] (CPUID [hwcheck_hex $cpuid])"
	if {[dict get $options -baseaddr] ne ""} {
		set hwcheck_m(base) [expr {[dict get $options -baseaddr] + 0}]
		set hwcheck_m(how) "as given"
	} elseif {[hwcheck_m_is_v8] && [set slot [hwcheck_m_perhaps 0xe00ff01c]] ne "" && $slot & 1} {
		set hwcheck_m(base) [expr {(0xe00ff000 + ($slot & 0xfffff000)) & 0xffffffff}]
		set hwcheck_m(how) "by slot 0xe00ff01c, [hwcheck_hex $slot]"
	} else {
		set rom [mtb_find_rom $hwcheck_m(target)]
		set found [expr {$rom eq "" ? "" : [mtb_find_in_table $hwcheck_m(target) $rom]}]
		if {$found eq ""} {
			error "hwcheck: no MTB found by the ROM table ([expr {$rom eq "" ? "the AP names none" : [
				hwcheck_hex $rom]}]): give -baseaddr, if there is one"
		}
		set hwcheck_m(base) [lindex $found 0]
		set hwcheck_m(how) "by the ROM table at [hwcheck_hex $rom]"
	}
	hwcheck_line "MTB" "[hwcheck_hex $hwcheck_m(base)], $hwcheck_m(how)"
	set hwcheck_m(ids) [mtb_find_ids $hwcheck_m(target) $hwcheck_m(base)]
	if {![mtb_find_is_mtb $hwcheck_m(ids)]} {
		error "hwcheck: what is at [hwcheck_hex $hwcheck_m(base)] is no MTB ([expr {$hwcheck_m(ids) eq "" ?
			"it does not answer" : "CIDR [hwcheck_hex [dict get $hwcheck_m(ids) cidr]], DEVARCH [
			hwcheck_hex [dict get $hwcheck_m(ids) devarch]], DEVTYPE [hwcheck_hex [
			dict get $hwcheck_m(ids) devtype]]"}]); nothing was written"
	}
}

# Takes note of everything that is written later, with the trace stopped.
proc hwcheck_m_begin {options} {
	global hwcheck_m
	set master [hwcheck_m_read MASTER]
	set hwcheck_m(was_on) [expr {($master & 0x80000000) != 0}]
	if {$master & 0x80000020 && ![dict get $options -stop-trace]} {
		error "hwcheck: trace is on, or waits for its start (MASTER [hwcheck_hex $master]): stop it first, or say\
			-stop-trace yes; it goes on afterwards, with a gap"
	}
	set hwcheck_m(MASTER) $master
	set hwcheck_m(quiet_MASTER) [expr {$master & ~0x80000260}]
	set hwcheck_m(quiet_FLOW) 0
	hwcheck_m_write MASTER $hwcheck_m(quiet_MASTER)
	foreach name {POSITION FLOW} {
		set hwcheck_m($name) [hwcheck_m_read $name]
	}
	if {[hwcheck_m_is_v8]} {
		foreach name {TSTART TSTOP} {
			set hwcheck_m($name) [hwcheck_m_read $name]
		}
	}
	hwcheck_m_write FLOW 0
	set base [hwcheck_m_read BASE]
	set given [dict get $options -rambase]
	set hwcheck_m(rambase) [expr {$given eq "" ? $base : $given + 0}]
}

# As it was before, MASTER last. Tries each register even when one before it fails, and twice.
proc hwcheck_m_restore {} {
	global hwcheck_m
	set problems {}
	foreach name {TSTART TSTOP POSITION FLOW MASTER} {
		if {[info exists hwcheck_m($name)] && [catch {hwcheck_m_write $name $hwcheck_m($name)} message] &&
				[catch {hwcheck_m_write $name $hwcheck_m($name)} message]} {
			lappend problems "$name could not be written back ([hwcheck_hex $hwcheck_m($name)])"
		}
	}
	return $problems
}

proc hwcheck_m_afterwards {} {
	global hwcheck_m
	set parts {}
	set same 1
	foreach name {POSITION MASTER FLOW TSTART TSTOP} {
		if {![info exists hwcheck_m($name)]} {
			continue
		}
		set value [hwcheck_m_read $name]
		if {$value != $hwcheck_m($name)} {
			# an adapter that failed may give one wrong value
			set value [hwcheck_m_read $name]
		}
		lappend parts "$name [hwcheck_hex $value]"
		# a trace that goes on moves it
		if {$value != $hwcheck_m($name) && !($name eq "POSITION" && $hwcheck_m(was_on))} {
			set same 0
		}
	}
	hwcheck_line "afterwards" "[expr {$same ? "as before" : "NOT AS BEFORE"}]: [join $parts ", "]"
}

proc hwcheck_m_ask {name question} {
	if {![catch {hwcheck_m_q_$name $question} message]} {
		return
	}
	if {![string match "hwcheck: *" $message]} {
		error "$question: $message"
	}
	hwcheck_unknown $question [string range $message 9 end]
}

proc hwcheck_m_run {options} {
	global hwcheck_m
	set failed [catch {
		hwcheck_m_begin $options
		foreach {name question} [hwcheck_m_questions] {
			hwcheck_m_ask $name $question
		}
	} message]
	foreach problem [hwcheck_m_restore] {
		hwcheck_line "restoring" $problem
	}
	if {$failed} {
		error $message
	}
	hwcheck_m_afterwards
}

proc hwcheck_mtb {target options} {
	global hwcheck_m hwcheck_dir
	source $hwcheck_dir/mtb_find.tcl
	unset -nocomplain hwcheck_m
	array set hwcheck_m [list target $target aw 0]
	if {![string is boolean -strict [dict get $options -stop-trace]]} {
		error "hwcheck: -stop-trace is yes or no"
	}
	hwcheck_begin
	set polling [hwcheck_polling]
	poll off
	set failed [catch {
		hwcheck_header $target
		hwcheck_m_find $options
		hwcheck_m_run $options
	} message]
	poll $polling
	if {$failed} {
		error $message
	}
}

# what a console shows of this file
return ""
