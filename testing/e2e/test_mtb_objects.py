# SPDX-License-Identifier: GPL-2.0-or-later
"""Several mtb objects, and such as are deleted: each MTB has one that uses it, and none that nobody can reach.

check-group: mtb
"""

import os
import re

import pytest

import mtb_session as mtb
import probe
from mtb_session import CHIPS, Session

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
EN = 1 << 31


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def with_mem_ap(session, script):
    return session.run("target create ap mem_ap -dap chip.dap -ap-num 0\ninit\npoll off\nreset halt\n" + script, init=False)


def both_ways(session):
    """m by the core, q by the memory access port in front of it."""
    return session.create("-buffer %#x 64" % session.chip.free) + (
        "mtb create q -target ap -baseaddr %#x -buffer %#x 64\n" % (session.chip.mtb, session.chip.free + 64))


@pytest.mark.parametrize("target", TARGETS)
def test_two_ways_to_one_mtb(tmp_path, target):
    """The second one is refused and changes nothing, whichever it is"""
    with Session(tmp_path, target) as session:
        run = with_mem_ap(session, both_ways(session) + """
foreach {one two} {m q q m} {
	$one start
	set before [sim mtb]
	try start$one { $two start }
	try adopt$one { $two adopt }
	try disable$one { $two disable }
	say same$one [expr {[sim mtb] eq $before}]
	# what the other has found is no longer what is to be put back
	$one stop
	$two start
	try late$one { $one disable }
	say on$one [dict get [sim mtb] master]
	$two stop
}
""")
        for one in "mq":
            for what in ("start", "adopt", "late"):
                run.refusal(what + one, "traces with the same MTB already", "stop first")
            assert run.said["same" + one] == "1" and int(run.said["on" + one], 0) & EN, run.text
        # q had found nothing yet
        assert run.tried("disablem")[0]
        run.refusal("disableq", "traces with the same MTB already")


@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["halt", "drain"]))
def test_mem_ap_halts_nothing(tmp_path, target, mode):
    """What needs a core is refused where there is none"""
    with Session(tmp_path, target) as session:
        run = with_mem_ap(session, "mtb create q -target ap -baseaddr %#x -buffer %#x 64 -when-full %s\n" % (
            session.chip.mtb, session.chip.free, mode) + """
set before [sim mtb]
try it { q start }
say same [expr {[sim mtb] eq $before}]
""")
        run.refusal("it", "-when-full halt and drain need a cortex_m target; ap is mem_ap")
        assert run.said["same"] == "1"


@pytest.mark.parametrize("target", TARGETS)
def test_two_of_one_core(tmp_path, target):
    """One behind the other; what was found by the first is not put back under the second"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 64" % session.chip.free) +
                          session.create("-buffer %#x 64" % (session.chip.free + 64), name="q") + """
m start
try second { q start }
m stop
q start
try disable { m disable }
say master [dict get [sim mtb] master]
q stop
try later { m disable }
""")
        run.refusal("second", "m traces chip.cpu already", "m stop first")
        run.refusal("disable", "q traces chip.cpu already", "q stop first")
        assert int(run.said["master"], 0) & EN and run.tried("later")[0]


@pytest.mark.parametrize("mode", ["wrap", "drain"])
@pytest.mark.parametrize("target", TARGETS)
def test_deleted_while_it_traces(tmp_path, target, mode):
    """The next object of the name, or of the core, has the MTB for itself"""
    with Session(tmp_path, target, rtt=300) as session:
        create = session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode))
        run = session.run(create + """
m start
resume
sleep 10
rename m {}
%s
halt
record one { m start; run_for 5; m stop }
listing one
m start
rename m {}
%s
q start
say state [q status]
reset halt
say armed [regexp -all armed [capture {q status}]]
q stop
""" % (create, session.create("-buffer %#x 64" % (session.chip.free + 64), name="q")))
        run.same("one", 256 // 8 if mode == "wrap" else None)
        assert len(re.findall("the command of m, which traces with this MTB, is deleted: its trace ends", run.text)) == 2
        assert run.fields("state")["state"] == "armed" and run.said["armed"] == "1"


def test_event_begins_the_next_trace(tmp_path):
    """A pre-disable body that stops and starts: the new trace is not ended by the command that ran the body"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 64" % session.chip.free) + """
set again 1
m configure -event pre-disable { if {$::again} { set ::again 0; m stop; m start } }
foreach end {stop disable} {
	set ::again 1
	m start
	m $end
	say $end "[field state] [dict get [sim mtb] master]"
	m stop
}
""")
        for end in ("stop", "disable"):
            state, master = run.said[end].split()
            assert state == "armed" and int(master, 0) & EN, run.said[end]


def test_event_begins_the_trace_of_another(tmp_path):
    """A pre-disable body that stops and starts another object: what was found before is not put over its registers"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 64" % session.chip.free) +
                          session.create("-buffer %#x 128" % (session.chip.free + 128), name="q") + """
m configure -event pre-disable { m stop; q start }
m start
try it { m disable }
say q "[dict get [q status] state] [dict get [sim mtb] master] [dict get [sim mtb] position]"
""")
        run.refusal("it", "q traces chip.cpu already")
        state, master, position = run.said["q"].split()
        assert state == "armed" and int(master, 0) & EN and int(position, 0) & 0xffff == session.chip.free + 128 & 0xffff


@pytest.mark.parametrize("target", TARGETS)
def test_reset_before_a_drain(tmp_path, target):
    """Nobody has looked at the core since: it is no reset of the trace that begins"""
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + mtb.DRAIN + """
set resets 0
m configure -event reset { incr ::resets }
resume
after 5
sim fault core-reset when us 0
after 5
m start
for {set look 0} {$look < 20} {incr look} { after 2; poll }
m flush
say one "$resets [fillings] [dict get [sim mtb] master]"
for {set look 0} {$look < 20} {incr look} { after 2; poll }
say two "$resets [fillings] [dict get [sim mtb] master]"
m stop
""")
        one, two = run.said["one"].split(), run.said["two"].split()
        assert one[0] == two[0] == "0" and int(two[2], 0) & EN and int(two[1]) > int(one[1]) > 2, run.text


def test_names(tmp_path):
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run("""
try blank { mtb create "a b" -target chip.cpu }
try dash { mtb create -target chip.cpu }
try lines { mtb create "a\\nb" -target chip.cpu }
try command { mtb create puts -target chip.cpu }
""")
        for name, words in (("blank", "'a b' is no name"), ("dash", "'-target' is no name"), ("lines", r"'a\?b' is no name"),
                            ("command", "puts is a command already")):
            run.refusal(name, words)


def test_output_into_a_pipe(tmp_path):
    """OpenOCD would wait for a reader, and serve nobody meanwhile"""
    os.mkfifo(str(tmp_path / "pipe"))
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run((session.create("-buffer %#x 64" % session.chip.free) + """
m start
run_for 1
m stop
try dump { m dump DIR/pipe }
try decode { m decode -o DIR/pipe }
try file { mtb decode -trace DIR/none -o DIR/pipe }
try export { m decode -export btrace=DIR/pipe }
try good { m dump DIR/file }
""").replace("DIR", str(tmp_path)), timeout=30)
        for name in ("dump", "decode", "file", "export"):
            run.refusal(name, "pipe is a pipe that nobody reads", "give a file")
        assert run.tried("good")[0]


def test_dump_as_documented(tmp_path):
    """The examples of the manual; and the ledger of the group is that of the last decode, whose ever"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run((session.create("-buffer %#x 64" % session.chip.free) + """
try none { mtb ledger }
m start
run_for 1
m stop
set own [m decode]
say group [expr {[mtb ledger] eq [m ledger]}]
cd DIR
say file [expr {[mtb decode -trace cap.bin {*}[m dump cap.bin] -elf ELF] eq $own}]
m dump cap/
say dir [expr {[mtb decode -snapshot cap -elf ELF] eq $own}]
mtb decode m -last 1
say both [expr {[dict get [mtb ledger] instructions] == [dict get [m ledger] instructions]}]
""").replace("DIR", str(tmp_path)).replace("ELF", str(session.elf)))
        assert run.refusal("none", "nothing was decoded yet")
        assert [run.said[name] for name in ("group", "file", "dir", "both")] == ["1"] * 4, run.text


def test_start_is_not_reached(tmp_path):
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 64 -start unexpected" % session.chip.free) + """
m start
run_for 1
m stop
try list { m decode }
""")
        assert "m: no packet: -start unexpected was not reached, or no branch was taken behind it" in run.text
        assert "has not wrapped: 0 packets" not in run.text
        run.refusal("list", "nothing was traced")


CLOCK = 0x40021000
GATES = {"error": "", "zero": ",zero"}


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("target", TARGETS)
def test_clock_that_is_off(tmp_path, target, gate):
    """start says so and writes nothing; with a pre-enable body that switches it on, it traces"""
    with Session(tmp_path, target, mtb_clock="%#x%s" % (CLOCK, GATES[gate])) as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + """
set before [sim mtb]
try off { m start }
say same [expr {[sim mtb] eq $before}]
m configure -event pre-enable { mww %#x 1 }
record one { m start; run_for 5; m stop }
listing one
""" % CLOCK)
        run.refusal("off", "0x%05x" % (session.chip.mtb >> 12), "clock")
        assert run.said["same"] == "1"
        run.same("one", 256 // 8)


@pytest.mark.parametrize("target, gate, mode, reset", mtb.cover(2, TARGETS, list(GATES), ["wrap", "stop", "halt", "drain"], [
    "reset halt", "reset run", "resume\nsleep 20\nsim fault core-reset when us 0"]))
def test_clock_that_a_reset_switches_off(tmp_path, target, gate, mode, reset):
    """The body of the event reset switches it on before the trace is armed again; once"""
    with Session(tmp_path, target, mtb_clock="%#x%s" % (CLOCK, GATES[gate]), rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode)) + """
poll on
set clocked 0
proc clock {} { mww %#x 1; incr ::clocked }
m configure -event pre-enable clock -event reset clock
m start
%s
sleep 300
say clocked $clocked
say state [m status]
say master [dict get [sim mtb] master]
if {[chip.cpu curstate] eq "halted"} { resume }
sleep 100
try stop { m stop }
try list { listing one }
""" % (CLOCK, reset))
        assert run.fields("state")["state"] == "armed" and run.said["clocked"] == "2", run.text
        if mode == "wrap" or reset == "reset halt":
            assert int(run.said["master"], 0) & EN, run.text
        assert run.tried("stop")[0] and run.tried("list")[0], run.text
        assert run.listing("one")


def test_clock_that_stays_off(tmp_path):
    """Nothing arms it again: after a second the trace is stopped, and that is said"""
    with Session(tmp_path, "cortex-m33", mtb_clock="%#x" % CLOCK) as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + """
poll on
m configure -event pre-enable { mww %#x 1 }
m start
run_for 5
reset run
sleep 1800
say status [m status]
halt
try list { m decode }
try again { m start }
""" % CLOCK)
        assert run.fields("status")["state"] == "stopped", run.text
        assert "could not be armed again after the reset: it is stopped" in run.text
        # what led to the reset was captured before
        assert run.tried("list")[0] and run.tried("again")[0], run.text
