# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of `xtensa profile`: run it on the simulated probe, and hold what it says against what the probe knows.

    with profiling.Session("esp32", "xtensa-profile", debugpc="zero") as session:
        session.add("run", "xtensa profile 1 FILE -format csv", fault="core-reset when samples 300")
        outcome = session.go()["run"]
        assert outcome.method == "pipeline" and outcome.ended.startswith("esp32.cpu0 was reset")

A session is one probe and one OpenOCD on it. Profiles are added, with whatever else is to happen, and then carried out
in that order. FILE stands for the profile's path; each has its own.
"""

import collections
import csv
import os
import re
import subprocess

import probe

NETWORK = 1 << 16 | 1 << 17 | 1 << 21 | 1 << 22	# of DCR
PENDING = 7 << 16	# of DSR: stops that somebody still waits for

DEBUGPC_PROBES = 8	# reads of DEBUGPC by which each profile begins that may use it

PROGRAMS = {
    "esp32": "xtensa-profile",
    "esp32s2": "xtensa-profile-s2",
    "esp32s3": "xtensa-profile-s3",
    "xtensa-jtag": "xtensa-profile-rt600",
    "xtensa-dap": "xtensa-profile-rt600",
}

PROCEDURES = """
proc note {file key value} { puts $file "$key $value" }

# Carry out a profile; what is known right behind it goes to a file.
proc take {path fault command} {
	sim mark
	if {$fault ne ""} {
		sim fault {*}$fault
	}
	set failed [catch $command said]
	sim samples $path.samples
	set file [open $path.result w]
	note $file failed $failed
	note $file counters [sim counters]
	foreach core {0 1} {
		if {![catch {sim state $core} state]} {
			note $file state$core $state
		}
	}
	foreach target [target names] {
		note $file curstate "$target [$target curstate]"
	}
	note $file said ""
	puts $file $said
	close $file
}

# The core runs again, without what was arranged for the profile. It goes on exactly where it is: OpenOCD would step
# over the BREAK that it takes a stop of this kind for.
proc settle {} {
	sim fault none
	rbp all
	set names [target names]
	foreach target $names {
		$target arp_poll
	}
	set current [target current]
	if {[$current curstate] eq "halted"} {
		for {set i 0} {$i < [llength $names]} {incr i} {
			if {[dict get [sim state $i] debugcause] == 8} {
				targets [lindex $names $i]
			}
		}
		resume [lindex [get_reg pc] 1]
		targets $current
	}
	after 3
}

proc verify {path} {
	settle
	set file [open $path.verify w]
	foreach core {0 1} {
		if {![catch {sim verify $core} said]} {
			puts $file "$core $said"
			puts $file "dcr$core [dict get [sim state $core] dcr]"
		}
	}
	foreach target [target names] {
		puts $file "$target [$target curstate]"
	}
	close $file
}
"""

LINE = re.compile(r"^(method|samples|adapter|interval|stopped|lost|late|range|note|ended|top) +(.*)$", re.M)


def symbols(elf):
    """Addresses of what @a elf names."""
    text = subprocess.run(["xtensa-lx106-elf-nm", probe.program(elf)], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    return {name: int(addr, 16) for addr, name in re.findall(r"^([0-9a-f]+) \S (\S+)$", text, re.M)}


def functions(elf):
    """(start, end, name) of each function of @a elf."""
    text = subprocess.run(["xtensa-lx106-elf-nm", "-S", probe.program(elf)], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    return [(int(start, 16), int(start, 16) + int(size, 16), name)
            for start, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\S+)$", text, re.M)]


def _pairs(text):
    words = text.split()
    return {key: int(value, 0) for key, value in zip(words[::2], words[1::2])}


class Outcome:
    """One profile: what was said of it, what is in its file, what the probe knows."""

    def __init__(self, path, samples_of):
        self.path = path
        with open(path + ".result", encoding="utf-8") as file:
            head, _, self.said = file.read().partition("\nsaid \n")
        self.said = self.said[:-1]	# of puts
        assert not self.said.endswith("\n"), "a result ends in a line end: %r" % self.said
        self.failed = self.counters = None
        self.state, self.curstate = {}, {}
        for line in head.splitlines():
            key, _, value = line.partition(" ")
            if key == "failed":
                self.failed = value != "0"
            elif key == "counters":
                self.counters = _pairs(value)
            elif key == "curstate":
                name, _, self.curstate[name] = value.partition(" ")
            else:
                self.state[int(key[-1])] = _pairs(value)
        self.truth = samples_of(path + ".samples")
        self.verify = {}
        if os.path.exists(path + ".verify"):
            with open(path + ".verify", encoding="utf-8") as file:
                for line in file:
                    core, _, said = line.rstrip("\n").partition(" ")
                    self.verify[int(core) if core.isdigit() else core] = said
        self._read_report()

    def _read_report(self):
        lines = collections.defaultdict(list)
        for key, value in LINE.findall(self.said):
            lines[key].append(value)
        self.lines = lines
        self.method = lines["method"][0].partition(":")[0] if lines["method"] else None
        match = re.match(r"(\d+) in [0-9.]+ s, ([0-9.]+) a second", lines["samples"][0]) if lines["samples"] else None
        self.samples = int(match.group(1)) if match else None
        self.rate = float(match.group(2)) if match else None
        self.notes = lines["note"]
        self.ended = lines["ended"][0].partition("early: ")[2] if lines["ended"] else None
        self.lost = {}
        for part in lines["lost"][0].split(", ") if lines["lost"] and lines["lost"] != ["none"] else []:
            count, _, why = part.partition(" ")
            self.lost[why] = int(count)
        match = re.match(r"([0-9.]+) %", lines["stopped"][0]) if lines["stopped"] else None
        self.stopped_percent = float(match.group(1)) if match else None

    def counted(self):
        """{core name: Counter of addresses} of the profile's file, which is csv."""
        found = {}
        with open(self.path, encoding="utf-8", newline="") as file:
            rows = csv.reader(line for line in file if not line.startswith("#"))
            next(rows)
            for row in rows:
                found.setdefault(row[0], collections.Counter())[int(row[1], 0)] += int(row[2])
        return found

    def reported_counts(self, core=0):
        """The counts of one core, by its place among those that are in the file; there must be as many as reported."""
        counted = list(self.counted().values())
        return counted[core] if core < len(counted) else collections.Counter()


class Session:
    """One probe, one OpenOCD."""

    def __init__(self, target, elf=None, wire="jlink", khz=10000, before="", **options):
        self.wire = wire
        self.khz = khz
        # slower than the probe's own default: what is simulated, and is simulated again to be verified, is half as much
        options.setdefault("clock", 10000000)
        self.probe = probe.Probe(target, elf or PROGRAMS[target], wire=wire, **options)
        self.text = before
        self.steps = []
        self.run = None

    def __enter__(self):
        self.probe.__enter__()
        self.text = "init\ntargets [lindex [target names] 0]\npoll\n" + self.text
        return self

    def __exit__(self, *_):
        self.probe.__exit__()

    def script(self, text):
        """Something else to do, in Tcl."""
        self.text += text.rstrip("\n") + "\n"

    def add(self, name, command, fault="", verify=False):
        path = os.path.join(self.probe.path, name)
        self.text += "take {%s} {%s} {%s}\n" % (path, fault, re.sub(r"\bFILE\b", path, command))
        if verify:
            self.text += "verify {%s}\n" % path
        self.steps.append(name)

    def start(self, timeout=60, config=None, arguments=()):
        """Run OpenOCD to its end. A probe that a busy machine lets announce itself too late is looked for again."""
        for _ in range(5):
            early = ["-c", "adapter speed %d" % self.khz] if self.wire != "jlink" or self.khz != 10000 else []
            self.run = self.probe.openocd(PROCEDURES + self.text, timeout=timeout, config=config,
                                          arguments=early + list(arguments))
            if "No J-Link device found" not in self.run.text:
                break
        return self.run

    def go(self, **options):
        """Carry everything out. Returns {name: Outcome}."""
        run = self.start(**options)
        assert run.ok, run.text
        return {name: self.outcome(name) for name in self.steps}

    def outcome(self, name):
        return Outcome(os.path.join(self.probe.path, name), self._samples)

    @staticmethod
    def _samples(path):
        found = {0: collections.Counter(), 1: collections.Counter()}
        with open(path, encoding="utf-8") as file:
            for line in file:
                core, where, count = line.split()
                found[int(core)][int(where, 16)] += int(count)
        return found


def self_test_reads(outcome, asked, xsr="swaps"):
    """How often the PC is read before the first sample: pipeline and batch read it twice to compare, wsr once."""
    if outcome.method == "debugpc":
        return 0
    if outcome.method == "wsr" and (asked == "wsr" or xsr == "swaps"):
        return 1
    return 2 if outcome.method in ("pipeline", "batch") else 3


def check_program(outcome, cores=1):
    """The program goes on as if nobody had looked: verified behind a profile, with the targets running again."""
    for core in range(cores):
        assert outcome.verify[core] == "same", outcome.verify
    states = {said for key, said in outcome.verify.items() if key in outcome.curstate}
    assert states == {"running"}, outcome.verify


def check_samples(outcome, asked="auto", xsr="swaps", core=0, fetches=0):
    """
    Every sample is a PC that the probe handed out, and what is not a sample is accounted for: lost ones, those of the
    self-test, and @a fetches of all registers by OpenOCD itself (it reads the PC twice).
    Returns how many were handed out and are not accounted for; what was lost may have been handed out or not.
    """
    ours = outcome.reported_counts(core)
    truth = outcome.truth[core]
    assert sum(ours.values()) == outcome.samples, outcome.said
    strangers = ours - truth
    assert not strangers, "never handed out: %r\n%s" % (strangers, outcome.said)
    more = sum(truth.values()) - sum(ours.values()) - 2 * fetches
    if outcome.method == "debugpc":
        return more - DEBUGPC_PROBES
    return more - self_test_reads(outcome, asked, xsr)


def check_intact(outcome, network, core=0):
    """The module is as it was: nothing pending, the break network set as before; OpenOCD knows the true state."""
    state = outcome.state[core]
    assert state["dsr"] & PENDING == 0, hex(state["dsr"])
    assert state["dcr"] & NETWORK == network, hex(state["dcr"])
    name = list(outcome.curstate)[core]
    assert outcome.curstate[name] == ("halted" if state["in_ocd"] else "running"), outcome.said
