# SPDX-License-Identifier: GPL-2.0-or-later
"""-start and -stop of an mtb object: which packets are there is held against the log of the simulated Cortex-M, and the
comparators are as before when it is over.

check-group: mtb
"""

import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position

sys.path.insert(0, probe.SIM)
import cortexm_log	# noqa: E402  pylint: disable=wrong-import-position
import mtb_session as mtb	# noqa: E402  pylint: disable=wrong-import-position

LONG = os.environ.get("LONG") == "1"
OPENOCD = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
TARGETS = ["cortex-m0plus", "cortex-m33"]
PROGRAMS = {"cortex-m0plus": "cm-work-m0-O1", "cortex-m33": "cm-work-m33-O1"}
MTB = {"cortex-m0plus": 0xf0000000, "cortex-m33": 0xe0043000}
BUFFER = {"cortex-m0plus": 0x20001800, "cortex-m33": 0x2000a000}
# registers of comparators, and the bits of them that have to be as before
COMPARATORS = {
    "cortex-m0plus": {address: 0xffffffff for address in (0xf0001020, 0xf0001024, 0xf0001028, 0xf0001030, 0xf0001034,
                                                          0xf0001038)},
    "cortex-m33": {0xe0001020 + 0x10 * n + offset: 0xfeffffff for n in range(4) for offset in (0, 8)},
}
COMPARATORS["cortex-m0plus"][0xf0001200] = 3
COMPARATORS["cortex-m33"].update({0xe0043010: 15, 0xe0043014: 15})

PROLOGUE = """
proc dump {when} { foreach reg {REGISTERS} { echo "$when $reg [read_memory $reg 32 1]" } }
proc try {args} { if {[catch {uplevel 1 $args} text]} { echo "ERROR $args: $text" } else { echo "DONE $args" } }
mtb create m -target chip.cpu -baseaddr BASE -buffer AT 0x400
init
poll off
reset halt
"""


@pytest.fixture(name="built", scope="session", autouse=True)
def fixture_built():
    if not shutil.which("clang"):
        pytest.skip("no clang")
    probe.build()


def symbols(target):
    text = subprocess.run(["nm", probe.program(PROGRAMS[target])], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    found = {name: (int(value, 16), kind) for value, kind, name in re.findall(r"^([0-9a-f]+) (.) (\S+)$", text, re.M)}
    return {name: value & ~1 if kind in "tT" else value for name, (value, kind) in found.items()}


class Session:
    """One run of OpenOCD: what it said, and the log of the core."""

    def __init__(self, target, script, after=True, before=True, **options):
        self.target = target
        self.symbols = symbols(target)
        with probe.Probe(target, PROGRAMS[target], **options) as sim:
            log = os.path.join(sim.path, "log")
            text = PROLOGUE + ("dump before\n" if before else "") + script + ("\ndump after\n" if after else "")
            for name, value in dict(self.symbols, REGISTERS=" ".join(map(hex, COMPARATORS[target])), LOG=log,
                                    BASE=options.get("mtb_base") or MTB[target], AT=BUFFER[target],
                                    ELF=probe.program(PROGRAMS[target])).items():
                if name.isupper():
                    text = re.sub(r"\b%s\b" % name, value if isinstance(value, str) else hex(value), text)
                else:
                    text = text.replace("<%s>" % name, hex(value))
            self.run = sim.openocd(text, openocd=OPENOCD)
            assert self.run.ok, self.run.text + sim.said()
            self.lines = cortexm_log.read(log) if os.path.exists(log) else []
        self.text = self.run.text

    def registers(self, when):
        return {int(reg, 16): int(value, 0) & COMPARATORS[self.target][int(reg, 16)]
                for reg, value in re.findall(r"^%s (0x\S+) (\S+)$" % when, self.text, re.M)}

    def errors(self):
        return re.findall(r"^ERROR (.*)$", self.text, re.M)


def windows(lines, start=None, stop=None):
    """Each taken branch inside of a window has its packet, and no other; the first of each window has the start bit.

    @returns (windows, packets)"""
    on, first = start is None, start is None
    count = packets = 0
    taken = False		# the last instruction branched, with trace on, and its packet did not come yet
    for words in lines:
        if words[0] == "I":
            assert not taken, "no packet for the branch before %s" % words[1]
            pc = int(words[1], 16)
            if pc == start:
                count += not on
                first |= not on
                on = True
            elif pc == stop:
                on = False
            taken = on and words[3] == "T"
        elif words[0] == "M":
            assert on and taken, words
            assert int(words[3], 16) & 1 == int(first), words
            taken = first = False
            packets += 1
    return count, packets


TRACE = """
sim log start LOG
m start
resume
after 150
halt
sim log stop
m stop
"""


@pytest.mark.parametrize("how", ["both", "start", "stop"])
@pytest.mark.parametrize("transport", ["swd", "jtag"])
@pytest.mark.parametrize("target", TARGETS)
def test_windows(target, transport, how):
    options = {"both": "-start [expr {<machine> | 1}] -stop <fibonacci>", "start": "-start <machine>",
               "stop": "-stop <fibonacci>"}[how]
    session = Session(target, "m configure " + options + TRACE, transport=transport)
    start = session.symbols["machine"] if how != "stop" else None
    stop = session.symbols["fibonacci"] if how != "start" else None
    count, packets = windows(session.lines, start, stop)
    executed = cortexm_log.instructions(session.lines)
    if start is not None:
        assert start in executed
        assert count == 1 if how == "start" else count > 1
    if stop is not None:
        assert stop in executed
    assert packets > 20
    assert session.registers("before") == session.registers("after")


@pytest.mark.parametrize("target", TARGETS)
def test_by_name(target):
    session = Session(target, "m configure -elf ELF -start machine -stop fibonacci" + TRACE)
    count, packets = windows(session.lines, session.symbols["machine"], session.symbols["fibonacci"])
    assert count > 1 and packets > 20


@pytest.mark.parametrize("target", TARGETS)
def test_watchpoints_beside(target):
    """It hits, and the trace is as it should be."""
    session = Session(target, """
wp <watched> 4 w
m configure -start <machine> -stop <fibonacci>
sim log start LOG
m start
foreach round {1 2 3} { resume; wait_halt 4000 }
rwp <watched>
resume; after 100; halt
sim log stop
m stop
""")
    assert session.text.count("halted due to watchpoint") == 3, session.text
    assert windows(session.lines, session.symbols["machine"], session.symbols["fibonacci"])[0] > 1
    before, after = session.registers("before"), session.registers("after")
    before.pop(0xe0001020, None), after.pop(0xe0001020, None)	# OpenOCD leaves the address of a watchpoint that is gone
    assert before == after


def test_comparators_in_use():
    """All comparators taken: an error that names who has them; freed: it works. None is left taken behind an error."""
    session = Session("cortex-m33", """
m configure -start <machine> -stop <fibonacci>
foreach n {0 1 2} { wp [expr {<watched> + 4 * $n}] 4 w }
try m start
dump refused
rwp [expr {<watched> + 8}]
try m start
try wp [expr {<watched> + 8}] 4 w
m stop
try wp [expr {<watched> + 8}] 4 w
try wp [expr {<watched> + 12}] 4 w
""", after=False)
    errors = session.errors()
    assert len(errors) == 2, session.text
    assert "need 2 of the DWT's 4 comparators, free 1" in errors[0] and "0x%08x" % session.symbols["watched"] in errors[0]
    assert "resource not available" in session.text and errors[1].startswith("wp")
    assert session.registers("refused") == session.registers("before")


def test_comparators_of_the_program():
    session = Session("cortex-m33", """
mww 0xe0001050 <watched>
mww 0xe0001058 0x804
m configure -start <machine>
m start
dump armed
m stop
mww 0xe0001048 0x804
mww 0xe0001038 0x804
mww 0xe0001028 0x804
try m start
""", after=False)
    armed = session.registers("armed")
    assert armed[0xe0001058] & 0xf == 4 and armed[0xe0001048] & 0xf == 2 and armed[0xe0043010] == 4
    assert len(session.errors()) == 1 and "comparator 3 by the program" in session.errors()[0], session.text


def test_mtb_dwt_of_the_program():
    session = Session("cortex-m0plus", """
mww 0xf0001028 4
m configure -start <machine>
try m start
mww 0xf0001028 0
try m start
m stop
""")
    assert len(session.errors()) == 1 and "MTB_DWT_FCT0" in session.errors()[0], session.text
    assert session.registers("before") == session.registers("after")


def test_no_comparators_at_all():
    """A Cortex-M0+ whose MTB is elsewhere has no MTB_DWT; nothing is read where none is."""
    session = Session("cortex-m0plus", "m configure -start <machine>\ntry m start\n"
                      "echo \"master [read_memory 0x41006004 32 1]\"", after=False, before=False, mtb_base="0x41006000")
    assert "need an MTB_DWT or a DWT with TSTART/TSTOP; this part has neither" in session.errors()[0], session.text
    assert "Failed to read" not in session.text
    master = int(re.search(r"^master (\S+)$", session.text, re.M).group(1), 0)
    assert not master & 0x80000060


@pytest.mark.parametrize("target", TARGETS)
def test_addresses_without_code(target):
    for address, what in (("0x40000000", "no code can be there"), ("0xe000e000", "no code can be there"),
                          ("0x100000000", "0x100000000")):
        session = Session(target, "try m configure -start %s\ntry m start\ncatch {m stop}" % address)
        assert session.errors() and what in session.errors()[0], session.text
        assert session.registers("before") == session.registers("after")
    session = Session(target, "m configure -start 0x101 -stop 0x100\ntry m start")
    assert "both" in session.errors()[0]


@pytest.mark.parametrize("target", TARGETS)
def test_reset_sets_it_again(target):
    """A reset of the target clears the MTB; the trace is armed again, with its addresses."""
    session = Session(target, """
m configure -start <machine> -stop <fibonacci>
m start
resume; after 20
reset halt
sim log start LOG
resume; after 60; halt
sim log stop
m stop
""")
    assert windows(session.lines, session.symbols["machine"], session.symbols["fibonacci"])[1] > 20
    assert session.registers("before") == session.registers("after")


@pytest.mark.parametrize("target", TARGETS)
def test_start_that_fails_leaves_nothing(target):
    """An access of `start` fails, each in turn: an error, and every comparator as before; then it works."""
    counts = range(1, 70, 1 if LONG else 7)
    session = Session(target, "m configure -start <machine> -stop <fibonacci>\n" + "".join("""
sim fault bus-error when accesses %d
set failed [catch {m start} text]
sim fault none
if {$failed} { dump failed%d } else { m stop; dump done%d }
""" % (count, count, count) for count in counts))
    outcomes = [session.registers(what % count) for count in counts for what in ("failed%d", "done%d")]
    outcomes = [registers for registers in outcomes if registers]
    assert len(outcomes) == len(counts)
    assert all(registers == session.registers("before") for registers in outcomes), session.text
    assert session.text.count("failed") > 1


def told(lines, slots, armed, halted):
    """What packets tell of: in each window the first packet's source, and all from there to where the last one went.

    @param armed the first window begins where the core stood
    @param halted the last one ends where the core stood
    """
    at = mtb.packets(lines)
    assert at
    wrapped = slots is not None and len(at) >= slots
    at = at[-slots:] if wrapped else at
    expected = []
    for number, index in enumerate(at):
        source, destination = (int(word, 16) for word in lines[index][2:4])
        if number and not destination & 1:
            expected += cortexm_log.instructions(lines[at[number - 1]:index])
        elif armed and not number and not wrapped:
            expected += cortexm_log.instructions(lines[:index])
        elif not source & 1:
            expected.append(source)
    return expected + cortexm_log.instructions(lines[at[-1]:] if halted else [])


@pytest.mark.parametrize("target, mode, how, begin", mtb.cover(2, TARGETS, ["wrap", "stop", "halt", "drain"],
                                                               ["both", "start", "stop"], ["halted", "running"]))
def test_decode_of_windows(tmp_path, target, mode, how, begin):
    """Where -start is given the trace does not begin where the core was when it was armed."""
    options = {"both": "-start machine -stop fibonacci", "start": "-start machine", "stop": "-stop fibonacci"}[how]
    size = 4096 if mode in ("wrap", "stop") else 256
    with mtb.Session(tmp_path, target, "work", level="O1", rtt=300) as session:
        run = session.run(session.create("-buffer %#x %d -when-full %s %s" % (session.chip.free, size, mode, options))
                          + mtb.DRAIN + """
poll on
proc packets {} { set s [m status]; return [expr {[dict get $s packets] + [dict get $s captured] / 8}] }
if {"BEGIN" eq "running"} { resume }
record one {
	m start
	if {"BEGIN" eq "halted"} { resume }
	for {set n 0} {$n < 50 && ($n < 4 || ("HOW" ne "stop" && [packets] < 20))} {incr n} { sleep 20 }
	halt
	say enabled [field enabled]
	m stop
}
listing one
""".replace("BEGIN", begin).replace("HOW", how))
        lines, got = run.log("one"), run.listing("one")
        expected = told(lines, size // 8 if mode != "drain" else None, how == "stop" and begin == "halted",
                        how != "both" and run.said["enabled"] == "1")
        assert not mtb.differ(got, expected), "%s\n%s" % (mtb.differ(got, expected), run.text)
        assert len(got) > 20 or how == "stop"
