# SPDX-License-Identifier: GPL-2.0-or-later
#
# For the files target/mtb_*.cfg: makes the trace object of a chip's Micro Trace Buffer. Each of these files is to be
# sourced behind the chip's own file, which sets _TARGETNAME, before or after init:
#
#     source [find target/klx.cfg]
#     source [find target/mtb_kinetis_l.cfg]
#     init
#     klx.cpu.mtb start

# The target that the chip's own file has made, else the only one that there is.
proc mtb_part_target {file} {
	global _TARGETNAME
	set there [target names]
	if {[info exists _TARGETNAME] && $_TARGETNAME in $there} { return $_TARGETNAME }
	if {[llength $there] == 1} { return [lindex $there 0] }
	if {![llength $there]} { error "$file: there is no target yet; source the chip's own file first" }
	error "$file: which target? set _TARGETNAME to one of: [join $there { }]"
}

# Makes TARGET.mtb with these options of `mtb create`, once. One that has other addresses stays as it is, which is said.
proc mtb_part_create {file target args} {
	set name $target.mtb
	if {[info commands $name] eq ""} {
		mtb create $name -target $target {*}$args
		return
	}
	foreach option {-baseaddr -rambase} {
		# no dict: -buffer has two values
		set at [lsearch -exact $args $option]
		set has [$name cget $option]
		if {$at >= 0 && $has != [lindex $args $at+1]} {
			echo "$file: changed nothing: $name is there already, with [expr {
				$has eq "" ? "no $option" : "$option $has"}] (the file has [lindex $args $at+1])"
			return
		}
	}
}

# The object of a chip whose addresses are known.
proc mtb_part {file args} {
	mtb_part_create $file [mtb_part_target $file] {*}$args
}

# What needs the hardware: at once behind init, else at its end. `script` is run with the names of the file and of the
# target behind it.
proc mtb_part_when_examined {file script} {
	global post_init_commands
	set target [mtb_part_target $file]
	lappend script $file
	if {[command mode] ne "config"} {
		mtb_part_after_init $target $script
		return
	}
	lappend post_init_commands [list mtb_part_after_init $target $script]
	return ""
}

# A chip without trace is to be debugged all the same: nothing here ends init.
proc mtb_part_after_init {target script} {
	if {![$target was_examined]} {
		echo "$target: not examined, no trace object; source the file again when it is"
	} elseif {[catch {{*}$script $target} message]} {
		echo "$target: no trace object: $message"
	}
}

# Armv8-M: the slot of the core's own ROM table (0xe00ff000) that is the MTB's. Bit 0 says whether there is one.
proc mtb_part_from_slot {file target} {
	set table 0xe00ff000
	set entry [mtb_find_words $target [expr {$table + 0x1c}] 1]
	if {$entry eq ""} {
		echo "$target: no MTB (the ROM table at [format 0x%08x $table] cannot be read)"
		return
	}
	if {!($entry & 1)} {
		echo "$target: no MTB (its slot of the ROM table, 0xe00ff01c, reads [format 0x%08x $entry]: bit 0 is clear)"
		return
	}
	set base [expr {($table + ($entry & 0xfffff000)) & 0xffffffff}]
	set ids [mtb_find_ids $target $base]
	if {![mtb_find_is_mtb $ids]} {
		echo "$target: no MTB ([format 0x%08x $base], to which 0xe00ff01c leads, has no ID of one[expr {
			$ids eq "" ? "" : [format ": CIDR 0x%08x, DEVARCH 0x%08x" [dict get $ids cidr] [dict get $ids devarch]]}])"
		return
	}
	mtb_part_create $file $target -baseaddr [format 0x%08x $base]
}

# Any core: the first MTB to which the AP's ROM table leads. `args`: the other options, then the names of the
# file and of the target.
proc mtb_part_from_rom_table {args} {
	lassign [lrange $args end-1 end] file target
	set rom [mtb_find_rom $target]
	if {$rom eq ""} {
		echo "$target: no MTB (the AP names no ROM table)"
		return
	}
	set found [mtb_find_in_table $target $rom]
	if {$found eq ""} {
		echo "$target: no MTB (the ROM table at [format 0x%08x $rom] names none)"
		return
	}
	mtb_part_create $file $target -baseaddr [format 0x%08x [lindex $found 0]] {*}[lrange $args 0 end-2]
}

source [find trace/mtb_find.tcl]
