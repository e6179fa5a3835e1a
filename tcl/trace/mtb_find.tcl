# SPDX-License-Identifier: GPL-2.0-or-later
#
# Where the Micro Trace Buffer (MTB) of a core is, by the words that say so: its ROM table and ID registers. Only reads,
# by the memory of a target. For the files mtb_*.cfg in tcl/target, and for trace/hwcheck.tcl.
#
# Sources: Arm CoreSight architecture (ROM tables of class 1 and 9, CIDR, PIDR, DEVARCH), NXP, Microchip and TI headers
# (DEVARCH and DEVTYPE of the MTB).

# Reads words without a line in the log when nothing answers. Returns numbers, or an empty list.
proc mtb_find_words {target address count} {
	set before 2
	regexp -- {-?[0-9]+} [debug_level] before
	debug_level -3
	set failed [catch {$target read_memory $address 32 $count} words]
	debug_level $before
	if {$failed} {
		return {}
	}
	set numbers {}
	foreach word $words {
		lappend numbers [expr {$word + 0}]
	}
	return $numbers
}

# What a component says of itself: a dict of cidr, part, designer, class, devarch, devtype; empty if it cannot be read.
proc mtb_find_ids {target base} {
	set ids [mtb_find_words $target [expr {$base + 0xfd0}] 12]
	set arch [mtb_find_words $target [expr {$base + 0xfbc}] 1]
	set type [mtb_find_words $target [expr {$base + 0xfcc}] 1]
	if {[llength $ids] < 12 || $arch eq "" || $type eq ""} {
		return {}
	}
	# PIDR4 to 7, then 0 to 3, then CIDR0 to 3
	lassign $ids pidr4 pidr5 pidr6 pidr7 pidr0 pidr1 pidr2 pidr3 cidr0 cidr1 cidr2 cidr3
	set part [expr {($pidr0 & 0xff) | ($pidr1 & 0xf) << 8}]
	set designer [expr {($pidr4 & 0xf) << 8 | (($pidr2 & 7) << 4 | ($pidr1 >> 4 & 0xf))}]
	set cidr [expr {($cidr0 & 0xff) | ($cidr1 & 0xff) << 8 | ($cidr2 & 0xff) << 16 | ($cidr3 & 0xff) << 24}]
	return [dict create cidr $cidr class [expr {$cidr >> 12 & 0xf}] part $part designer $designer \
		revision [expr {$pidr2 >> 4 & 0xf}] devarch $arch devtype $type]
}

# The preamble of CIDR, class 9; ARCHID 0x0a31 by Arm (0x23b); a trace sink, basic trace router.
proc mtb_find_is_mtb {ids} {
	if {$ids eq ""} {
		return 0
	}
	return [expr {[dict get $ids cidr] == 0xb105900d && ([dict get $ids devarch] & 0xfff0ffff) == 0x47700a31 &&
		([dict get $ids devtype] & 0xff) == 0x31}]
}

# The address in the AP's BASE register; empty: it says none, or the adapter does not let us see it.
proc mtb_find_rom {target} {
	if {[catch {$target cget -dap} dap] || $dap eq ""} {
		return ""
	}
	set ap 0
	catch {set ap [expr {[$target cget -ap-num]}]}
	if {$ap < 0 || $ap > 255} {
		set ap 0
	}
	if {[catch {expr {[string trim [$dap baseaddr $ap]]}} base]} {
		return ""
	}
	# 0xffffffff: of old, no ROM table; bit 0: present, in the newer form
	set base [expr {$base & 0xffffffff}]
	if {$base == 0xffffffff || (($base & 2) && !($base & 1))} {
		return ""
	}
	return [expr {$base & 0xfffff000}]
}

# Addresses of all MTBs that a ROM table leads to. Tables within tables 4 deep, and 64 entries of each, are enough for
# microcontrollers.
proc mtb_find_in_table {target base {depth 0}} {
	set found {}
	set entries [mtb_find_words $target $base 1]
	for {set i 0} {$i < 64 && $entries ne ""} {incr i} {
		set entry [mtb_find_words $target [expr {$base + 4 * $i}] 1]
		if {$entry eq "" || $entry == 0} {
			break
		}
		if {!($entry & 1)} {
			continue
		}
		set component [expr {($base + ($entry & 0xfffff000)) & 0xffffffff}]
		set ids [mtb_find_ids $target $component]
		if {[mtb_find_is_mtb $ids]} {
			lappend found $component
		} elseif {$ids ne "" && $depth < 4 && $component != $base &&
				([dict get $ids class] == 1 || ([dict get $ids devarch] & 0xffff) == 0x0af7)} {
			lappend found {*}[mtb_find_in_table $target $component [expr {$depth + 1}]]
		}
	}
	return $found
}
