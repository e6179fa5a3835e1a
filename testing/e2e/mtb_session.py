# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests: OpenOCD with an `mtb` object named m on a simulated Cortex-M, held against the log of what was executed.

    with Session(tmp_path, "cortex-m33", "isr") as session:
        run = session.run(session.create("-buffer 0x2000e000 1024") + '''
            record one { m start; run_for 5; m stop }
            listing one
        ''')
        run.same("one", 128)

A script says things by `say NAME VALUE`, notes whether a command is refused by `try NAME {...}`, logs by `record NAME
{...}`, and writes the instructions of a decode by `listing NAME ?option ...?`.
"""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys

import probe

sys.path.insert(0, probe.SIM)
import cortexm_log	# noqa: E402  pylint: disable=wrong-import-position

LONG = os.environ.get("LONG") == "1"
SEED = int(os.environ.get("SEED", "1"))
OPENOCD = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
ITRACE = os.environ.get("ITRACE") or os.path.join(probe.TOP, "build/bin/itrace")
NOTHING = 0xa0000000	# address without memory


class Chip:
    """What the simulated chips have (testing/sim/README.md)."""

    def __init__(self, core, mtb, aw, ram, ram_len, free, mask):
        self.core = core
        self.mtb = mtb
        self.aw = aw
        self.ram = ram
        self.ram_len = ram_len
        self.free = free	# 8 KB that no program uses, aligned; not OpenOCD's work area either
        self.master = mask	# bits of MASTER beside EN, HALTREQ and MASK after a reset


CHIPS = {
    # the 4 KB below 0x20000000 are all that programs leave of the KL25's RAM
    "cortex-m0plus": Chip("m0", 0xf0000000, 15, 0x1ffff000, 0x4000, 0x1ffff000, 0x80),
    "cortex-m33": Chip("m33", 0xe0043000, 16, 0x20000000, 0x10000, 0x2000a000, 0),
}
BIG_RAM = {"cortex-m0plus": {"ram": "0x1fffc000/0x8000"}, "cortex-m33": {}}	# with 8 KB to spare
BIG_FREE = {"cortex-m0plus": 0x1fffe000, "cortex-m33": 0x2000a000}

PROCEDURES = r"""
proc say {name value} { echo "@@$name [string map {\\ \\\\ \n \\n} $value]" }
proc try {name command} {
	set failed [catch {uplevel 1 $command} said]
	say $name "$failed $said"
	return $failed
}
proc record {name command} {
	sim log start DIR/$name.log
	set failed [catch {uplevel 1 $command} said]
	sim log stop
	if {$failed} { error "$name: $said" }
	return $said
}
proc listing {name args} { m decode -format instructions -o DIR/$name.list {*}$args }
proc field {key} { return [dict get [m status] $key] }
proc word {address} { return [read_memory $address 32 1] }
# The core's time goes on with the next exchange at the latest.
proc packets {} { catch {word 0xe000ed00}; return [dict get [sim mtb] packets] }
proc retired {} { catch {word 0xe000ed00}; return [dict get [sim counters] retired] }
# What the object and OpenOCD say, beside what is so.
proc truth {name} {
	catch {poll}
	if {[catch {m status} said]} { set said "error [list $said]" }
	say status$name $said
	say mtb$name [sim mtb]
	say core$name "[chip.cpu curstate] [dict get [sim state 0] halted]"
}
# The core runs for so many ms; OpenOCD does not look.
proc run_for {ms} { resume; after $ms; halt }
"""

# Behind a fault of the link: errors that belong to the command before are taken.
SETTLE = """
proc settle {} {
	sim fault none
	# errors of the link that belong to the command before
	catch {word 0xe000ed00}
	catch {word 0xe000ed00}
}
"""

# With drain: until so many fillings are read. `sleep` lets OpenOCD do what it does by itself; the core runs all the same.
DRAIN = """
proc fillings {} { return [dict get [m status] fillings] }
proc drain_until {count} {
	set rounds 0
	while {[fillings] < $count} {
		sleep 10
		if {[incr rounds] > 300 + $count} { error "no more than [fillings] fillings: [m status], core [chip.cpu curstate] [sim state 0]" }
	}
}
"""


def need_tools():
    return [tool for tool in ("clang", "ld.lld", "nm") if not shutil.which(tool)]


def cover(together, *choices):
    """Cases for parametrize: as few as have each @a together of the values in one of them; all if there is time."""
    cases = list(itertools.product(*choices))
    if LONG:
        return cases
    def parts(case):
        return set(itertools.combinations(enumerate(case), together))
    chosen, left = [], set().union(*map(parts, cases))
    while left:
        chosen.append(max(cases, key=lambda case: len(parts(case) & left)))
        left -= parts(chosen[-1])
    return chosen


def program(target, name="isr", level="O2"):
    return probe.program("cm-%s-%s-%s" % (name, CHIPS[target].core, level))


def symbols(path):
    """Addresses without the Thumb bit, by name."""
    text = subprocess.run(["nm", str(path)], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    return {name: int(value, 16) & (~1 if kind in "tTwW" else ~0)
            for value, kind, name in re.findall(r"^([0-9a-f]+) (\S) (\S+)$", text, re.M)}


def packets(lines):
    return [n for n, words in enumerate(lines) if words[0] == "M"]


def window(lines, slots=None, halted=True, armed=True):
    """Addresses of the instructions that a buffer of @a slots packets tells of.

    @param slots None: as many as there are
    @param halted the core was halted in the end while trace was on; else nothing is known behind the newest packet
    @param armed where the core was when trace began is known; else nothing is known before the oldest packet's source
    """
    at = packets(lines)
    if not at:
        return cortexm_log.instructions(lines) if armed and halted else []
    begin, end = 0, len(lines) if halted else at[-1]
    wrapped = slots is not None and len(at) >= slots
    if wrapped or not armed:
        oldest = at[-slots] if wrapped else at[0]
        source = int(lines[oldest][2], 16)
        begin = oldest
        while not source & 1 and not (lines[begin][0] == "I" and int(lines[begin][1], 16) == source):
            begin -= 1
    return cortexm_log.instructions(lines[begin:end])


def listed(path):
    """Addresses of a listing of instructions."""
    with open(path, encoding="utf-8") as file:
        return [int(address, 16) for address in re.findall(r"^0x([0-9a-f]{16}) ", file.read(), re.M)]


def differ(got, expected):
    """None, or where two lists of addresses differ, for people."""
    if got == expected:
        return None
    first = next((n for n, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
    def around(these):
        return " ".join("%x" % address for address in these[max(first - 3, 0):first + 4])
    return "%d instructions instead of %d, number %d differs: %s | %s" % (
        len(got), len(expected), first, around(got), around(expected))


class Outcome:
    """How a script went."""

    def __init__(self, folder, run):
        self.folder = folder
        self.ok = run.ok
        self.text = run.text
        self.said = {}
        for name, value in re.findall(r"^@@(\S+) (.*)$", run.text, re.M):
            self.said[name] = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found.group(1), found.group(1)), value)

    def tried(self, name):
        """Whether `try NAME` went well, and what was said."""
        failed, _, text = self.said[name].partition(" ")
        return failed == "0", text

    def refusal(self, name, *parts):
        """`try NAME` failed, in one line which has all these @a parts. Returns the line."""
        good, text = self.tried(name)
        assert not good, "%s was not refused: %s" % (name, self.text)
        assert text and "\n" not in text.strip(), text
        for part in parts:
            assert re.search(part, text, re.I), "%s: no %r in: %s" % (name, part, text)
        return text

    def fields(self, name):
        """What was said as a Tcl dict (without nesting)."""
        words = re.findall(r"\{([^{}]*)\}|(\S+)", self.said[name])
        words = [braced or bare for braced, bare in words]
        return dict(zip(words[::2], words[1::2]))

    def is_true(self, name, *states):
        """`truth NAME`: what was said is so. Of a core that runs only what it does not change. Returns the status."""
        said, so, (seen, halted) = self.fields("status" + name), self.fields("mtb" + name), self.said["core" + name].split()
        assert said["state"] in states, said
        assert seen != "halted" or halted == "1", "%s: %s" % (name, self.said["core" + name])
        if seen == "halted":
            assert [int(said[key], 0) for key in ("position", "master", "flow")] == [
                int(so[key], 0) for key in ("position", "master", "flow")], "%s: %s, %s" % (name, said, so)
            assert int(said["enabled"]) == int(so["master"], 0) >> 31 & 1
            assert int(said["haltreq"]) == int(so["master"], 0) >> 9 & 1
        return said

    def log(self, name):
        return cortexm_log.read(self.folder / (name + ".log"))

    def listing(self, name):
        return listed(self.folder / (name + ".list"))

    def same(self, name, slots=None, listing=None, **options):
        """The listing is exactly what was executed. Returns how many instructions that were."""
        expected = window(self.log(name), slots, **options)
        wrong = differ(self.listing(listing or name), expected)
        assert not wrong, "%s: %s\n%s" % (name, wrong, self.text)
        assert expected
        return len(expected)


class Session:
    """One simulated chip; each run() is an OpenOCD on it."""

    def __init__(self, folder, target, name="isr", transport="swd", level="O2", **options):
        self.folder = folder
        self.target = target
        self.chip = CHIPS[target]
        self.elf = name if os.sep in str(name) else program(target, name, level)
        self.probe = probe.Probe(target, str(self.elf), transport=transport, **options)

    def __enter__(self):
        self.probe.__enter__()
        return self

    def __exit__(self, *args):
        self.probe.__exit__(*args)

    def control(self, *words):
        return self.probe.control(*words)

    def state(self):
        return self.probe.control("state", 0)

    def mtb(self):
        """The trace buffer's registers as the hardware has them."""
        found = self.probe.control("mtb")
        return {name: found[name] for name in ("position", "master", "flow", "base")}

    def create(self, options="", name="m", elf=True):
        """Tcl that makes the object; with the address of its registers where no core says it."""
        base = " -baseaddr %#x" % self.chip.mtb if self.target == "cortex-m0plus" and "-baseaddr" not in options else ""
        text = "mtb create %s -target chip.cpu%s %s\n" % (name, base, options)
        return text + ("%s configure -elf {%s}\n" % (name, self.elf) if elf else "")

    def script(self, text, init=True):
        head = PROCEDURES.replace("DIR", str(self.folder))
        return head + ("init\npoll off\nreset halt\n" if init else "") + text

    def run(self, text, init=True, good=True, timeout=probe.TIMEOUT, **options):
        run = self.probe.openocd(self.script(text, init), openocd=OPENOCD, timeout=timeout, **options)
        assert run.ok or not good, run.text + self.probe.said()
        assert run.returncode is not None, "it hangs: " + run.text
        # later versions of OpenOCD end by SIGPIPE when the connection to a J-Link by network is gone
        gone = os.environ.get("BASES_RUN") and not good and run.returncode == -signal.SIGPIPE
        assert run.returncode >= 0 or gone, "it crashed: " + run.text
        return Outcome(self.folder, run)
