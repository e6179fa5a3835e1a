# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of an mtb object at awkward moments: right behind a reset, while a halt is on its way that OpenOCD has not
seen yet, with registers that are not written yet, out of a handler of its own. A halt of the user's stays one, a halt of
the buffer's is nobody's, and the trace is what was executed.

check-group: mtb
"""

import re

import pytest

import mtb_session as mtb
import probe
from mtb_session import CHIPS, LONG, Session
from test_mtb_bystanders import STEPS_BEFORE, with_checks, without_algorithms
from test_mtb_retry import each, faults, firmware, good_or_one_line

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
RTT = 300	# so that the core runs a few hundred instructions between two looks of OpenOCD
EN, HALTREQ = 1 << 31, 1 << 9
CLOCK = 0x40021000	# bit 0 of this register is the clock of the MTB, where it has one

# For drain: how often somebody saw a halt; and whether the core runs by itself within the next looks of OpenOCD.
LOOKS = mtb.SETTLE + mtb.DRAIN + """
set halts 0
proc watch {} { set ::halts 0; chip.cpu configure -event halted { incr ::halts } }
proc unwatch {} { chip.cpu configure -event halted {} }
proc looks {count} { while {[incr count -1] >= 0} { catch {poll}; after 2 } }
# instructions while OpenOCD looks: without that it stands for a full buffer before long
proc ran {} {
	set before [retired]
	looks 2
	return [expr {[retired] - $before}]
}
"""


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def draining(session, size=256, poll="on"):
    return session.create("-buffer %#x %d -when-full drain" % (session.chip.free, size)) + LOOKS + "poll %s\n" % poll


# ---- behind a reset that OpenOCD did ----

# the reason of the halt before stays with OpenOCD until the next resume of its own
STALE = """
resume
sleep 20
halt
reset run
sleep 250
"""


@pytest.mark.parametrize("target", TARGETS)
def test_drain_behind_halt_and_reset(tmp_path, target):
    """OpenOCD still has the reason of a halt before the reset: it drains all the same, and nobody sees it"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(draining(session) + STALE + """
watch
record one {
	m start
	try drained { drain_until 3 }
	say seen "$halts [chip.cpu curstate]"
	unwatch
	halt
	m stop
}
listing one
""")
        assert run.tried("drained")[0], run.said["drained"]
        assert run.said["seen"] == "0 running"
        run.same("one", armed=False)


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["m stop", "m disable", "shutdown"]))
def test_leave_behind_halt_and_reset(tmp_path, target, command):
    """It stands for the full buffer when the trace ends: nobody else would let it go on"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(draining(session) + STALE + """
poll off
m start
after 30
say stands [dict get [sim state 0] halted]
try it { %s }
%s
""" % (command, "looks 2; say ran [ran]; say state [chip.cpu curstate]" if command != "shutdown" else ""))
        assert run.said["stands"] == "1"
        if command == "shutdown":
            assert not session.state()["halted"]
            return
        assert run.tried("it")[0], run.said["it"]
        assert int(run.said["ran"]) > 1000 and run.said["state"] == "running", run.said


@pytest.mark.parametrize("target, poll", mtb.cover(1, TARGETS, ["on", "off"]))
def test_start_right_behind_a_reset(tmp_path, target, poll):
    """The buffer is full before OpenOCD has looked at the core again"""
    wait = {"on": "drain_until 5", "off": "after 20; for {set k 0} {$k < 60 && [fillings] < 5} {incr k} { poll; after 2 }"}[poll]
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(draining(session, 256, poll) + """
resume
after 10
poll
poll
watch
record one {
	reset run; m start
	try drained { %s }
	looks 3
	say seen "$halts [chip.cpu curstate] [expr {[fillings] >= 5}]"
	unwatch
	halt
	m stop
}
listing one
""" % wait)
        assert run.tried("drained")[0], run.said["drained"]
        assert run.said["seen"] == "0 running 1"
        lines = run.log("one")
        at = [words[0] for words in lines].index("Z")
        wrong = mtb.differ(run.listing("one"), mtb.window(lines[at + 1:], armed=False))
        assert not wrong, wrong


# ---- a core that starts without OpenOCD's resume ----

STARTS = {
    "reset": "reset run\nsleep 250\n",
    # DHCSR without C_HALT, as another debugger writes it
    "outside": "poll off\nmww 0xe000edf0 0xa05f0001\npoll\nsay outside [chip.cpu curstate]\nafter 40\npoll\npoll\n",
}


@pytest.mark.parametrize("target, how", mtb.cover(1, TARGETS, list(STARTS)))
def test_full_behind_a_start_unheard_of(tmp_path, target, how):
    """halt: the next resume goes on at once, and status knows that it was full"""
    size = 1024
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x %d -when-full halt" % (session.chip.free, size)) + LOOKS + """
poll on
m start
%s
say state [chip.cpu curstate]
say fields [m status]
set before [packets]
resume
after 30
say more [expr {[packets] - $before}]
poll
poll
say again [chip.cpu curstate]
""" % STARTS[how])
        assert run.said.get("outside", "running") == "running"
        assert run.said["state"] == "halted"
        fields = run.fields("fields")
        assert fields["full"] == "1" and fields["haltreq"] == "0", fields
        assert int(run.said["more"]) >= size // 16, run.said
        assert run.said["again"] == "halted"


@pytest.mark.parametrize("target, how", mtb.cover(1, TARGETS, list(STARTS)))
def test_drain_behind_a_start_unheard_of(tmp_path, target, how):
    """A halt of the user's behind it is one, and draining goes on behind that"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(draining(session, 2048) + """
m start
watch
%s
poll on
try first { drain_until 4 }
say seen "$halts [chip.cpu curstate]"
halt
set pc [dict get [sim state 0] pc]
sleep 100
say stays [expr {[dict get [sim state 0] halted] && $pc == [dict get [sim state 0] pc]}]
resume
set halts 0
try second { drain_until [expr {[fillings] + 4}] }
say behind "$halts [chip.cpu curstate]"
unwatch
halt
m stop
""" % STARTS[how])
        assert run.tried("first")[0] and run.tried("second")[0], "%s %s" % (run.said["first"], run.said)
        assert run.said["seen"] == run.said["behind"] == "0 running"
        assert run.said["stays"] == "1"


# ---- halts that OpenOCD has not seen yet ----

@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["m flush", "listing early"]))
def test_flush_of_a_halt_asked_for(tmp_path, target, command):
    """`halt 0` does not wait: the core halts, and stays halted behind the flush"""
    with Session(tmp_path, target, rtt=20) as session:
        run = session.run(draining(session, 4096) + """
record one {
	m start
	resume
	drain_until 2
	foreach n {1 2} {
		# it may stand for a full buffer by now, and with poll on the halt is seen at once
		poll off
		for {set k 0} {$k < 50} {incr k} { poll; if {![dict get [sim state 0] halted]} { break } }
		halt 0
		set before [dict get [sim counters] retired]
		%s
		say halted$n [dict get [sim state 0] halted]
		poll on
		sleep 120
		say stays$n "[dict get [sim state 0] halted] [chip.cpu curstate] [expr {[dict get [sim counters] retired] - $before}]"
		resume
		try goes_on$n { drain_until [expr {[fillings] + 1}] }
		say state$n [chip.cpu curstate]
	}
	halt
	m stop
}
listing one
""" % command)
        for n in "12":
            assert run.said["halted" + n] == "1" and run.said["stays" + n] == "1 halted 0", run.said
            assert run.tried("goes_on" + n)[0], run.said["goes_on" + n]
            assert run.said["state" + n] == "running"
        run.same("one")


@pytest.mark.parametrize("target, kind", mtb.cover(1, TARGETS, ["bp", "wp"]))
def test_flush_of_a_breakpoint_hit(tmp_path, target, kind):
    """The core stands there already, or comes there in the flush: that halt is seen"""
    with Session(tmp_path, target, rtt=20) as session:
        names = mtb.symbols(session.elf)
        place = {"bp": "bp %#x 2 hw" % names["on_irq3"], "wp": "wp %#x 4 w" % names["depth"]}[kind]
        gone = {"bp": "rbp %#x" % names["on_irq3"], "wp": "rwp %#x" % names["depth"]}[kind]
        delays = [0, 0, 0, 3, 4, 5] * (20 if LONG else 2)
        run = session.run(draining(session, 4096, "off") + """
watch
record one {
	m start
	set n 0
	foreach ms {%s} {
		%s
		set halts 0
		resume
		if {$ms} { after $ms }
		m flush
		for {set k 0} {$k < 20 && [chip.cpu curstate] ne "halted"} {incr k} { looks 1 }
		say halt$n "[chip.cpu curstate] [dict get [sim state 0] pc]"
		say halts$n $halts
		%s
		incr n
	}
	m stop
}
listing one
""" % (" ".join(map(str, delays)), place, gone))
        for n in range(len(delays)):
            state, pc = run.said["halt%d" % n].split()
            assert state == "halted", run.said
            assert kind == "wp" or int(pc, 0) == names["on_irq3"], run.said
        run.same("one")
        assert [run.said["halts%d" % n] for n in range(len(delays))] == ["1"] * len(delays), "seen more than once, or never"


FAULTS = 16	# exchanges of a poll that drains


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["m flush", "m stop", "m disable", "m decode", "shutdown"]))
def test_watchpoint_out_of_sight(tmp_path, target, command):
    """OpenOCD has halted for it and has then lost sight of the core by a poll that failed: it stands there all the same"""
    with Session(tmp_path, target, rtt=RTT) as session:
        place = mtb.symbols(session.elf)["depth"]
        run = session.run(draining(session, poll="off") + """
m start
wp %#x 4 w
resume
set rounds 0
while {[chip.cpu curstate] ne "halted" && [incr rounds] < 500} { catch {poll}; after 1 }
say seen "[chip.cpu curstate] [dict get [sim state 0] pc]"
sim fault swd-fault when transactions 1
catch {poll}
say lost [chip.cpu curstate]
try it { %s }
say pc "[dict get [sim state 0] halted] [dict get [sim state 0] pc]"
%s
""" % (place, command, "catch {poll}; say state [chip.cpu curstate]" if command != "shutdown" else ""))
        state, pc = run.said["seen"].split()
        assert state == "halted", run.text
        assert run.said["lost"] == "unknown", run.text
        if command == "shutdown":
            assert session.state()["halted"] and session.state()["pc"] == int(pc, 0)
            return
        assert run.said["pc"].split() == ["1", pc], run.text
        assert run.said["state"] == "halted", run.text


@pytest.mark.parametrize("target, poll", mtb.cover(1, TARGETS, ["on", "off"]))
def test_masked_interrupts(tmp_path, target, poll):
    """They stay masked while the core is halted here and let go"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(draining(session, 4096, poll) + """
proc masked {name} { say $name [expr {[dict get [sim state 0] dhcsr] >> 3 & 1}] }
cortex_m maskisr on
m start
resume
masked before
m flush
masked behind
m stop
masked end
halt
cortex_m maskisr auto
""")
        assert [run.said[name] for name in ("before", "behind", "end")] == ["1", "1", "1"], run.said


@pytest.mark.parametrize("target", TARGETS)
def test_flush_of_an_empty_buffer(tmp_path, target):
    """A few steps without a branch, flushed each: where the core stands is where the listing ends"""
    with Session(tmp_path, target) as session:
        run = session.run(draining(session, poll="off") + """
record one {
	m start
	foreach n {1 2 3 4 5 6 7 8 9 10 11 12} {
		step
		m flush
		listing one$n
	}
	m stop
}
listing one
""")
        run.same("one")
        for n in range(1, 13):
            assert len(run.listing("one%d" % n)) == n, run.text


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["m flush", "m stop"]))
def test_breakpoint_behind_a_release(tmp_path, target, command):
    """A release that was reported as failed, though it was done, is not done again to a core at a breakpoint"""
    with Session(tmp_path, target, rtt=20) as session:
        place = mtb.symbols(session.elf)["collatz"]
        run = session.run(draining(session, 4096, "off") + """
for {set at 1} {$at <= %d} {incr at} {
	reset halt
	m start
	resume
	for {set k 0} {$k < 50 && ![dict get [sim state 0] halted]} {incr k} { after 2 }
	sim fault probe-error-done when exchanges $at
	catch {poll}
	settle
	for {set k 0} {$k < 5 && [dict get [sim state 0] halted]} {incr k} { catch {poll} }
	bp %#x 2 hw
	for {set k 0} {$k < 50 && ![dict get [sim state 0] halted]} {incr k} { after 3 }
	say there$at [dict get [sim state 0] pc]
	try it$at { %s }
	say halt$at "[dict get [sim state 0] halted] [dict get [sim state 0] pc]"
	looks 2
	say state$at [chip.cpu curstate]
	rbp all
	m disable
}
""" % (FAULTS, place, command))
        there = [n for n in range(1, FAULTS + 1) if int(run.said["there%d" % n], 0) == place]
        assert len(there) >= 5, run.said
        for n in there:
            assert run.tried("it%d" % n)[0], run.said["it%d" % n]
            halted, pc = run.said["halt%d" % n].split()
            assert halted == "1" and int(pc, 0) == place, "%d: %s" % (n, run.said["halt%d" % n])
            assert run.said["state%d" % n] == "halted", "%d: %s" % (n, run.said["state%d" % n])


# ---- a halt of ours, and the link fails ----

@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["m flush", "m stop"]))
def test_halted_for_a_flush_that_failed(tmp_path, target, command):
    """The core runs again with the next look, or behind the next flush or stop; no packet is lost, none is there twice"""
    with Session(tmp_path, target, rtt=RTT) as session:
        setup = draining(session, 1024, "off") + """#again
m start
resume
for {set look 0} {$look < 3} {incr look} { after 2; poll }
"""
        kinds = [("sleep", "exchanges"), ("probe-error-lost", "exchanges"), ("probe-error-done", "exchanges")]
        these = faults(session, setup, command, 3, kinds)
        # something fails, and then the release goes well
        these += [("probe-error-lost", "exchanges", 4), ("probe-error-lost", "exchanges", 6)]
        begin, again = setup.split("#again\n")
        run = session.run(begin + each(these, """
	reset halt
	sim log start DIR/f$n.log
	%s
	sim fault $kind when $what $at
	try it$n { %s }
	settle
	looks 1
	say runs$n "[chip.cpu curstate] [ran]"
	try again$n { %s }
	if {"%s" eq "m stop"} { sim log stop }
	looks 1
	say behind$n "[chip.cpu curstate] [ran]"
	if {[chip.cpu curstate] ne "halted"} { halt }
	catch {m stop}
	catch {sim log stop}
	listing f$n
	m disable
""" % (again, command, command, command), tmp_path))
        failed = 0
        for n, fault in enumerate(these):
            first = good_or_one_line(run, "it%d" % n)
            failed += not first
            assert first or re.search(r"^m: \w+ \w+", run.tried("it%d" % n)[1]), "%s: it does not say why: %r" % (
                fault, run.said["it%d" % n])
            if command != "m stop":
                assert run.tried("again%d" % n)[0], "%s: %s" % (fault, run.said["again%d" % n])
            elif not first:
                assert run.tried("again%d" % n)[0], "%s: %s" % (fault, run.said["again%d" % n])
            state, count = run.said["behind%d" % n].split()
            assert state == "running" and int(count) > 100, "%s: %s; before: %s; first %s" % (
                fault, run.said["behind%d" % n], run.said["runs%d" % n], run.said["it%d" % n])
            lines, got = run.log("f%d" % n), run.listing("f%d" % n)
            ways = [mtb.window(lines)]
            if command == "m stop":
                last = mtb.packets(lines)[-1]
                ways = [mtb.window(lines, halted=False)]
                ways += [mtb.window(lines[:k]) for k, words in enumerate(lines) if words[0] == "H" and k > last]
            assert got in ways, "%s: %s" % (fault, mtb.differ(got, ways[0]))
        assert failed >= 3, "no fault did anything"


# ---- a PC that is not written yet ----

@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "drain", "halt"]))
def test_pc_set_before_start(tmp_path, target, mode):
    """It is in OpenOCD's cache only until the core goes on: the trace begins there, not where the core stands"""
    with Session(tmp_path, target) as session:
        place = mtb.symbols(session.elf)["main"]
        run = session.run(session.create("-buffer %#x 4096 -when-full %s" % (session.chip.free, mode)) + """
run_for 2
reg pc %#x
record one {
	m start
	foreach n {1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16} { step }
	m stop
}
say pc [dict get [sim state 0] pc]
listing one
say ledger [m ledger]
""" % place)
        assert run.listing("one")[0] == place, run.listing("one")[:5]
        run.same("one", 512)
        assert "gaps 0 " in run.said["ledger"] + " ", run.said["ledger"]


@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "drain", "stop"]))
def test_pc_set_before_flush(tmp_path, target, mode):
    """The trace ends where the core came to, not where it is sent to; what follows is right, too"""
    with Session(tmp_path, target) as session:
        place = mtb.symbols(session.elf)["main"]
        run = session.run(session.create("-buffer %#x 4096 -when-full %s" % (session.chip.free, mode)) + """
sim log start DIR/early.log
record one {
	m start
	foreach n {1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20} { step }
	reg pc %#x
	m flush
	listing early
	say early [retired]
	say pc [dict get [reg pc] 0]
	foreach n {1 2 3 4 5} { step }
	m stop
}
listing one
""".replace("sim log start DIR/early.log\n", "").replace("dict get [reg pc] 0", "get_reg pc") % place)
        lines = run.log("one")
        at = [n for n, words in enumerate(lines) if words[0] == "D"][-1]
        ran = mtb.cortexm_log.instructions(lines[:at])
        early = run.listing("early")
        # where it stood behind the last packet is not known to OpenOCD's cache any more
        ways = [ran, mtb.window(lines[:at], halted=False)]
        assert len(early) >= 5 and early in ways, "%s\n%s" % (mtb.differ(early, ran), run.text)
        assert int(run.said["pc"].split()[-1], 0) == place
        behind = mtb.cortexm_log.instructions(lines[at:])
        got = run.listing("one")
        assert len(behind) == 5 and got in [way + behind for way in ways], "%s\n%s" % (mtb.differ(got, ran + behind), run.text)


# ---- bodies of events that do more ----

BODIES = ["m stop", "m disable", "m stop; m disable", "m stop; m start"]


@pytest.mark.parametrize("target, mode, body", mtb.cover(1, TARGETS, ["wrap", "drain"], BODIES))
def test_pre_disable_ends_the_trace(tmp_path, target, mode, body):
    """A body that ends the trace itself: no endless call, and what was drained is kept"""
    with Session(tmp_path, target, rtt=RTT) as session:
        wait = "drain_until 4" if mode == "drain" else "after 3"
        run = session.run(session.create("-buffer %#x 512 -when-full %s" % (session.chip.free, mode)) + LOOKS + """
poll on
set calls 0
m configure -event pre-disable { if {[incr ::calls] < 20} { %s } }
record one {
	m start
	resume
	%s
	halt
	try it { m stop }
}
say calls $calls
say status [m status]
m configure -event pre-disable {}
try list { listing one }
try last { m disable }
say master [dict get [sim mtb] master]
""" % (body, wait))
        assert int(run.said["calls"]) <= 2, run.said["calls"]
        good_or_one_line(run, "it")
        if body == "m disable" and mode == "drain":
            # what was not drained before is in no capture
            ran, got = mtb.window(run.log("one")), run.listing("one")
            assert len(got) > 100 and got == ran[:len(got)], mtb.differ(got, ran)
        elif body in ("m stop", "m stop; m disable"):
            run.same("one", 64 if mode == "wrap" else None)
        assert run.tried("last")[0], run.said["last"]
        assert not int(run.said["master"], 0) & (EN | HALTREQ)


@pytest.mark.parametrize("target, body", mtb.cover(1, TARGETS, ["m2 start", "m2 adopt", "m start"]))
def test_pre_enable_starts_another(tmp_path, target, body):
    """A core has one MTB: who is first has it"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free)
                          + session.create("-buffer %#x 1024" % (session.chip.free + 0x400), "m2") + """
m configure -event pre-enable { m configure -event pre-enable {}; BODY; set ::inside [sim mtb] }
record one {
	try it { m start }
	say same [expr {[info exists inside] && $inside eq [sim mtb]}]
	say states "[dict get [m status] state] [dict get [m2 status] state]"
	run_for 1
	catch { m2 stop }
}
catch { m2 decode -format instructions -o DIR/two.list }
""".replace("DIR", str(tmp_path)).replace("BODY", body))
        if body == "m start":
            run.refusal("it", "pre-enable", "still running")
            assert run.said["states"] == "idle idle"
            return
        armed = run.said["states"].split().count("armed")
        assert armed == 1, "%s\n%s" % (run.said, run.text)
        if run.said["states"] == "idle armed":
            run.refusal("it", r"\bm2\b")
            assert run.said["same"] == "1", run.text
        if body == "m2 start":
            assert run.said["states"] == "idle armed"
            run.same("one", 128, listing="two")


@pytest.mark.parametrize("target, mode, event", mtb.cover(1, TARGETS, ["wrap", "halt", "drain"], ["debug-resumed", "debug-halted"]))
def test_flush_while_an_algorithm_runs(tmp_path, target, mode, event):
    """Handlers flush while OpenOCD's own code is on the core: that is neither traced nor disturbed, and no step is missing"""
    size = 128
    with Session(tmp_path, target) as session:
        run = with_checks(session, mode, size, """
record one {
	m start
	for {set n 0} {$n < %d} {incr n} { step }
	chip.cpu configure -event %s { incr ::calls; catch {m flush} }
	check 1
	chip.cpu configure -event %s {}
	say calls $calls
	step
	armed 1
	foreach n {2 3 4 5} { step }
	m stop
}
listing one
""".replace("record", "set calls 0\nrecord", 1) % (STEPS_BEFORE, event, event))
        assert int(run.said["calls"]) >= 2
        lines, branches = without_algorithms(run.log("one"), target)
        assert branches > 10 * size // 8
        at = [words[0] for words in lines].index("D")
        behind = mtb.cortexm_log.instructions(lines[at:])
        ways = [mtb.window(lines[:at]) + behind]
        if mode != "drain":
            ways.append(mtb.window(lines[:at], halted=False) + behind)
        assert run.listing("one") in ways, "%s\n%s" % (mtb.differ(run.listing("one"), ways[0]), run.text)


# ---- resets from outside ----

@pytest.mark.parametrize("target, poll", mtb.cover(1, TARGETS, ["on", "off"]))
def test_reset_from_outside_while_draining(tmp_path, target, poll):
    """What led to it is there, or a line says that it is lost"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(draining(session, 4096) + """
record one {
	m start
	resume
	drain_until 2
	after 1
	sim fault core-reset when us 0
	catch {word 0xe000ed00}
	poll %s
	%s
	halt
	m stop
}
listing one
""" % (poll, "sleep 120" if poll == "on" else "poll; poll; poll; after 1"))
        lines = run.log("one")
        at = [words[0] for words in lines].index("Z")
        before = mtb.window(lines[:at], halted=False)
        got = run.listing("one")
        warned = re.findall(r"^Warn : .*\bm\b.*\b(?:lost|missing).*$", run.text, re.M | re.I)
        assert got[:len(before)] == before or warned, "%s\n%s" % (mtb.differ(got[:len(before)], before), run.text)


@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "drain"]))
def test_registers_behind_a_lost_trace(tmp_path, target, mode):
    """A trace that a reset ended leaves nothing to put back over what the program does since"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512 -when-full %s" % (session.chip.free, mode)) + firmware(session) + """
poll off
m start
resume
after 1
sim fault core-reset when us 0
catch {word 0xe000ed00}
poll
try stop { m stop }
poll
poll
halt
firmware
set before [registers]
try disable { m disable }
say same [expr {$before eq [registers]}]
say before $before
say behind [registers]
""")
        assert run.tried("stop")[0] and run.tried("disable")[0], run.text
        assert int(run.fields("before")["master"], 0) & EN
        assert run.said["same"] == "1", "%s, before %s" % (run.said["behind"], run.said["before"])


# ---- the program's own trace ----

@pytest.mark.parametrize("target", TARGETS)
def test_disable_behind_an_adopted_one(tmp_path, target):
    """What an earlier start found is not what is put back behind the stop of a trace of the program's"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + firmware(session) + """
m start
m stop
firmware
m adopt
m stop
set before [registers]
try disable { m disable }
say same [expr {$before eq [registers]}]
say before $before
say behind [registers]
""")
        assert run.tried("disable")[0], run.text
        assert run.said["same"] == "1", "%s, before %s" % (run.said["behind"], run.said["before"])


@pytest.mark.parametrize("target", TARGETS)
def test_start_of_an_adopted_one(tmp_path, target):
    """A disable that failed before is no reason to end the trace that was adopted since"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + firmware(session) + mtb.SETTLE + """
m start
run_for 1
m stop
sim fault sleep when exchanges 2
try disable { m disable }
settle
firmware
try adopt { m adopt }
set before [registers]
try start { m start }
say same [expr {$before eq [registers]}]
say state [dict get [m status] state]
""")
        run.refusal("disable")
        assert run.tried("adopt")[0], run.text
        run.refusal("start", "started already")
        assert run.said["same"] == "1" and run.said["state"] == "armed", run.said


RESET_EVENTS = ["reset-start", "reset-assert-pre", "reset-assert-post", "reset-deassert-pre", "reset-deassert-post",
                "reset-end"]


@pytest.mark.parametrize("target, mode, command, event, reset, state", mtb.cover(
    2, TARGETS, ["wrap", "stop", "halt", "drain"], ["stop", "disable"], RESET_EVENTS, ["halt", "run"],
    ["halted", "running"]))
def test_end_in_a_script_of_reset(tmp_path, target, mode, command, event, reset, state):
    """No reset has come yet, or it has left FLOW alone: no watermark stays behind"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode)) + mtb.DRAIN + """
poll on
set before [sim mtb]
m start
resume
sleep 20
if {"STATE" eq "halted"} { halt }
chip.cpu configure -event EVENT { try COMMAND { m COMMAND } }
reset RESET
sleep 20
truth one
try decode { m decode }
chip.cpu configure -event EVENT {}
poll off
halt
say before $before
say behind [sim mtb]
if {"COMMAND" eq "stop"} { try adopt { m adopt } }
# what start found was before the reset
if {"COMMAND" eq "stop"} { m disable }
say later [sim mtb]
record two { m start; run_for 3; m stop }
listing two
""".replace("EVENT", event).replace("COMMAND", command).replace("RESET", reset).replace("STATE", state))
        assert run.tried(command)[0], run.text
        run.is_true("one", "stopped" if command == "stop" else "idle")
        # what led to the reset
        assert run.tried("decode")[0], run.text
        before, behind = ({key: int(value, 0) for key, value in run.fields(name).items()
                           if key in ("position", "master", "flow")} for name in ("before", "behind"))
        assert not behind["master"] & (EN | HALTREQ)
        # what the trace of a halted core left is not lost before the reset has come
        if command == "disable" and state == "halted" and mode == "wrap" and event in RESET_EVENTS[:2]:
            assert (behind["position"], behind["flow"]) == (before["position"], before["flow"])
        else:
            assert behind["flow"] in ((0, before["flow"]) if command == "disable" else (0,)), behind
        if command == "stop":
            run.refusal("adopt", "nothing (is|was) armed")
            # where it halts it is armed again before the end, for the same start
            assert (event, reset) == ("reset-end", "halt") or run.said["later"] == run.said["behind"]
        assert run.listing("two")


@pytest.mark.parametrize("command", ["stop", "disable"])
def test_end_behind_a_reset_that_takes_the_clock(tmp_path, command):
    """Its FLOW cannot be reached then, and that is said; the program's clock shows what is so"""
    with Session(tmp_path, "cortex-m33", mtb_clock="%#x" % CLOCK) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full halt" % session.chip.free) + """
poll on
m configure -event pre-enable { mww CLOCK 1 }
record one { m start; run_for 1 }
chip.cpu configure -event reset-end { try end { m COMMAND } }
reset halt
listing one
try again { m start; m stop }
""".replace("COMMAND", command).replace("CLOCK", "%#x" % CLOCK))
        assert run.tried("end")[0] and run.tried("again")[0], run.text
        assert len(re.findall("m: the MTB does not answer behind the reset: whether FLOW keeps 0x[0-9a-f]{8} is not known",
                              run.text)) == 1, run.text
        run.same("one", 32)


@pytest.mark.parametrize("target", TARGETS)
def test_stop_right_behind_a_reset_from_outside(tmp_path, target):
    """OpenOCD has seen it, and its timer did not come yet: what the MTB kept of what led there is the capture"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + """
record one {
	m start
	resume
	after 20
	sim fault core-reset when us 0
	catch {word 0xe000ed00}
	poll
	try stop { m stop }
}
say status [m status]
listing one
""")
        assert run.tried("stop")[0] and run.fields("status")["state"] == "stopped", run.text
        lines = run.log("one")
        expected = mtb.window(lines[:[words[0] for words in lines].index("Z")], 32, halted=False)
        assert run.listing("one") == expected and len(expected) > 50, mtb.differ(run.listing("one"), expected)
