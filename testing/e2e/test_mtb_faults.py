# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that can go wrong on the way to an MTB: the error is one clear line, what OpenOCD says of the state is
true, nothing that was captured is lost, and it goes on afterwards.

check-group: mtb
"""

import random

import pytest

import mtb_session as mtb
import probe
from mtb_session import CHIPS, LONG, SEED, Session

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
# fault, what it waits for
WIRE = [("swd-wait", "transactions"), ("swd-fault", "transactions"), ("swd-parity", "transactions"),
        ("bus-error", "accesses"), ("probe-error-lost", "exchanges"), ("probe-error-done", "exchanges")]


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def places(count, most, seed):
    """Numbers from 1 to @a most: the first and last ones, and some between."""
    rand = random.Random("%s %s" % (SEED, seed))
    if LONG or most <= count:
        return list(range(1, most + 1)) if most < 400 else sorted(rand.sample(range(1, most + 1), 400))
    ends = [1, 2, 3, most - 1, most]
    return sorted(set(ends + rand.sample(range(4, most - 1), min(count - 5, most - 5))))


def cost(session, what, options, prepare, command):
    """How many @a what (of the counters) a command takes that nothing disturbs."""
    run = session.run(session.create(options) + prepare + "\nsim mark\n%s\nsay cost [dict get [sim counters] %s]" % (command, what))
    return int(run.said["cost"])


def one_line(run, name):
    """Whether it went well; if not, it said why in one line."""
    good, text = run.tried(name)
    assert good or (text.strip() and "\n" not in text.strip()), "%s: %r\n%s" % (name, text, run.text)
    return good


@pytest.mark.parametrize("target, wire", mtb.cover(1, TARGETS, WIRE))
def test_stop(tmp_path, target, wire):
    """The capture is complete, at once or at the next attempt; the core stands as it stood"""
    kind, what = wire
    with Session(tmp_path, target) as session:
        options = "-buffer %#x 256" % session.chip.free
        most = cost(session, what, options, "m start\nrun_for 3", "m stop")
        tries = places(8, most, "stop" + kind)
        run = session.run(session.create(options) + mtb.SETTLE + """
m start
run_for 3
m stop
set n 0
set faults 0
foreach at {PLACES} {
	sim log start DIR/f$n.log
	m start
	run_for 3
	set before [sim state 0]
	sim mark
	sim fault KIND when WHAT $at
	try stop$n { m stop }
	incr faults [dict get [sim counters] faults]
	settle
	say same$n [expr {$before eq [sim state 0]}]
	truth $n
	try again$n { m stop }
	sim log stop
	try listing$n { listing f$n }
	m disable
	say off$n [expr {[dict get [sim mtb] master] >> 31}]
	incr n
}
say faults $faults
""".replace("PLACES", " ".join(map(str, tries))).replace("KIND", kind).replace("WHAT", what).replace("DIR", str(tmp_path)))
        for n, at in enumerate(tries):
            good = one_line(run, "stop%d" % n)
            again = one_line(run, "again%d" % n)
            assert again or good, "number %d: cannot be stopped: %s" % (at, run.said["again%d" % n])
            assert run.said["same%d" % n] == "1", "number %d: the core changed" % at
            assert run.said["off%d" % n] == "0"
            assert run.is_true(str(n), "armed", "stopped")["state"] == "stopped" or not good
            assert run.tried("listing%d" % n)[0], run.said["listing%d" % n]
            run.same("f%d" % n, 32)
        # what can be done again is done again by itself, but it has happened
        assert int(run.said["faults"]) >= len(tries) // 2, run.text


@pytest.mark.parametrize("target, wire", mtb.cover(1, TARGETS, WIRE))
def test_start(tmp_path, target, wire):
    """Nothing is armed half-way, and the next one works"""
    kind, what = wire
    with Session(tmp_path, target) as session:
        options = "-buffer %#x 256" % session.chip.free
        for first in (True, False):
            # with what it asks once, and without
            warm = "m start\nm stop\nm disable\n" if not first else ""
            most = cost(session, what, options, warm, "m start")
            # exchanges are few: each of them
            tries = places(most if what == "exchanges" else 5, most, "start" + kind)
            script = mtb.SETTLE
            for n, at in enumerate(tries):
                script += session.create(options, name="m%d" % n) + (warm.replace("m ", "m%d " % n)) + """
reset halt
set before [sim mtb]
set core [sim state 0]
sim fault {kind} when {what} {at}
set failed [try start{n} {{ m{n} start }}]
settle
if {{$failed}} {{
	say same{n} [expr {{$before eq [sim mtb] && $core eq [sim state 0]}}]
	say mtb{n} "$before | [sim mtb]"
	try again{n} {{ m{n} start }}
}}
record f{n} {{ run_for 3; m{n} stop }}
try listing{n} {{ m{n} decode -format instructions -o {d}/f{n}.list }}
m{n} disable
""".format(kind=kind, what=what, at=at, n=n, d=tmp_path)
            run = session.run(script)
            for n, at in enumerate(tries):
                if not one_line(run, "start%d" % n):
                    assert run.said["same%d" % n] == "1", "number %d: armed half-way: %s" % (at, run.said["mtb%d" % n])
                    assert run.tried("again%d" % n)[0], run.said["again%d" % n]
                assert run.tried("listing%d" % n)[0], "number %d: %s" % (at, run.said["listing%d" % n])
                run.same("f%d" % n, 32)


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["flush", "decode -format summary"]))
def test_flush_and_decode(tmp_path, target, command):
    """What the buffer holds is still there for the next attempt; trace is still on"""
    with Session(tmp_path, target) as session:
        options = "-buffer %#x 256" % session.chip.free
        tries = places(12, 60, "flush")
        run = session.run(session.create(options) + mtb.SETTLE + """
set n 0
set faults 0
foreach at {PLACES} {
	foreach kind {swd-fault bus-error probe-error-lost} what {transactions accesses exchanges} {
		reset halt
		sim log start DIR/f$n.log
		m start
		run_for 3
		if {$what eq "exchanges"} { set at [expr {$at % 5 + 1}] }
		sim mark
		sim fault $kind when $what $at
		try it$n { m COMMAND }
		incr faults [dict get [sim counters] faults]
		settle
		say enabled$n [expr {[dict get [sim mtb] master] >> 31}]
		sim log stop
		try again$n { listing f$n }
		m stop
		m disable
		incr n
	}
}
say count $n
say faults $faults
""".replace("PLACES", " ".join(map(str, tries))).replace("DIR", str(tmp_path)).replace("COMMAND", command))
        assert int(run.said["faults"]) >= int(run.said["count"]) // 2, run.text
        for n in range(int(run.said["count"])):
            one_line(run, "it%d" % n)
            assert run.said["enabled%d" % n] == "1"
            assert run.tried("again%d" % n)[0], run.said["again%d" % n]
            run.same("f%d" % n, 32)


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["stop", "flush", "decode", "status", "regs", "start", "adopt", "disable"]))
def test_nothing_answers(tmp_path, target, command):
    """The chip sleeps so deep that its debug port has nothing behind it; then it wakes"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + mtb.SETTLE + """
m start
run_for 3
m stop
m disable
sim log start DIR/one.log
if {"COMMAND" ni {start adopt}} { m start; run_for 3 }
sim fault sleep when us 0
try it { m COMMAND }
settle
sim log stop
if {"COMMAND" ni {start adopt disable}} {
	catch {m stop}
	try listing { listing one }
} else {
	# of a disable that could not be carried out it is still started
	catch {m stop}
	try again { m start }
	m stop
}
""".replace("DIR", str(tmp_path)).replace("COMMAND", command))
        good, text = run.tried("it")
        if command != "status":
            assert not good, text
        if not good:
            assert "\n" not in text.strip() and text.strip()
        if "listing" in run.said:
            assert run.tried("listing")[0], run.said["listing"]
            run.same("one", 32)
        else:
            assert run.tried("again")[0], run.said["again"]


@pytest.mark.parametrize("target", TARGETS)
def test_deep_sleep(tmp_path, target):
    """The program itself sleeps so (WFI with SLEEPDEEP), and wakes; its trace is whole"""
    with Session(tmp_path, target, deep_sleep="dark") as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + """
# a write is only known to have arrived when it can be read
proc wake {} {
	mww 0xe000ed10 0
	if {[word 0xe000ed10]} { error "sleeps again" }
}
record one {
	m start
	resume
	after 5
	halt
	mww 0xe000ed10 4
	resume
	after 150
	try stop { m stop }
	# it is awake now and then
	for {set n 0} {$n < 300 && [catch {wake}]} {incr n} { sim irq 0; after 3 }
	say awake $n
	sim irq 0
	after 3
	for {set n 0} {$n < 20 && [catch {halt}]} {incr n} { catch {poll} }
	for {set n 0} {$n < 5 && [catch {m stop}]} {incr n} {}
	truth end
}
listing one
""")
        good, text = run.tried("stop")
        assert good or "\n" not in text.strip()
        assert run.is_true("end", "stopped")["error"] == ""
        got = " %s " % " ".join(map(str, run.listing("one")))
        assert got in " %s " % " ".join(map(str, mtb.cortexm_log.instructions(run.log("one"))))
        assert len(run.listing("one")) > 50


@pytest.mark.parametrize("target, kind", mtb.cover(1, TARGETS, ["disconnect", "probe-error-lost", "probe-error-done"]))
def test_probe_goes_away_in_stop(tmp_path, target, kind):
    """This session has its error; the next one reads the same buffer"""
    with Session(tmp_path, target) as session:
        for at in (1, 2, 3, 4):
            first = session.run(session.create("-buffer %#x 256" % session.chip.free) + """
record one { m start; run_for 3 }
sim fault %s when exchanges %d
try stop { m stop }
""" % (kind, at), good=False)
            if "stop" in first.said:
                one_line(first, "stop")
            run = session.run("init\npoll off\npoll\nsay state [chip.cpu curstate]\n" + session.create() + """
try adopt { m adopt }
try listing { listing one }
m disable
reset halt
""", init=False)
            assert run.said["state"] == "halted"
            assert run.tried("adopt")[0], run.said["adopt"]
            expected = mtb.window(first.log("one"), 32)
            got = run.listing("one")
            # whether trace was still on when the core halted, and where it was armed, only the first session knew
            assert got and len(got) <= len(expected)
            at_end = expected[-len(got):]
            packets_only = mtb.window(first.log("one"), 32, halted=False)
            assert got in (at_end, packets_only), mtb.differ(got, expected)


@pytest.mark.parametrize("target", TARGETS)
def test_reset_from_outside(tmp_path, target):
    """Trace is off then, and that is said; what the RAM still holds can be had"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + mtb.SETTLE + """
record one {
	m start
	run_for 5
}
sim fault core-reset when us 0
catch {word 0xe000ed00}
settle
say off [expr {[dict get [sim mtb] master] >> 31}]
say status [m status]
try stop { m stop }
try listing { listing one }
poll
poll
halt
catch {m disable}
record two { m start; run_for 3; m stop }
listing two
""")
        assert run.said["off"] == "0"
        assert run.fields("status")["enabled"] == "0"
        assert one_line(run, "stop"), run.said["stop"]
        assert run.tried("listing")[0], run.said["listing"]
        # that the core had halted with trace on is not known any more
        run.same("one", 32, halted=False)
        run.same("two", 32)


# ---- in the middle of a drain ----

DRAIN = mtb.SETTLE + "poll on\n" + mtb.DRAIN


@pytest.mark.parametrize("target, wire", mtb.cover(1, TARGETS, WIRE))
def test_drain(tmp_path, target, wire):
    """Not one branch is missing, whenever the fault comes"""
    kind, what = wire
    with Session(tmp_path, target, rtt=300) as session:
        rand = random.Random("%d %s" % (SEED, kind))
        steps = ""
        for n in range(60 if LONG else 8):
            at = rand.randrange(1, 20 if what == "exchanges" else 400)
            steps += "sim fault %s when %s %d\ncatch {sleep 40}\nsettle\n" % (kind, what, at)
            steps += "truth %d\ncatch {resume_if_full}\ndrain_until [expr {[fillings] + 5}]\n" % n
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + DRAIN + """
proc resume_if_full {} {}
record one {
	m start
	resume
	drain_until 5
	%s
	halt
	truth end
	try stop { m stop }
	try again { m stop }
}
listing one
""" % steps, timeout=probe.TIMEOUT * 3)
        good = one_line(run, "stop")
        assert good or one_line(run, "again"), run.text
        run.same("one")
        for n in range(60 if LONG else 8):
            run.is_true(str(n), "armed")
        assert run.is_true("end", "armed")["error"] == ""
        lines = run.log("one")
        assert sum(int(lines[n][3], 16) & 1 for n in mtb.packets(lines)) == 1, "trace was off in between"


@pytest.mark.parametrize("target", TARGETS)
def test_probe_goes_away_in_drain(tmp_path, target):
    """What was drained until then can still be decoded and dumped, without a chip"""
    with Session(tmp_path, target, rtt=300) as session:
        for at in (1, 4, 9):
            run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + DRAIN + """
sim log start DIR/one.log
m start
resume
drain_until 20
sim fault disconnect when exchanges %d
catch {sleep 50}
sim log stop
try stop { m stop }
say status [m status]
try listing { listing one }
try dump { m dump DIR/raw }
say done 1
""".replace("DIR", str(tmp_path)) % at, good=False)
            assert run.said.get("done"), run.text
            assert not one_line(run, "stop")
            status = run.fields("status")
            assert status["state"] == "armed" and status["error"], status
            assert run.tried("listing")[0], run.said["listing"]
            assert run.tried("dump")[0], run.said["dump"]
            assert (tmp_path / "raw").stat().st_size >= 20 * 128
            got = run.listing("one")
            ran = mtb.cortexm_log.instructions(run.log("one"))
            assert len(got) > 1000 and got == ran[:len(got)], mtb.differ(got, ran)
            session.run("")


@pytest.mark.parametrize("target", TARGETS)
def test_chip_sleeps_in_drain(tmp_path, target):
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + DRAIN + """
record one {
	m start
	resume
	drain_until 10
	sim fault sleep when us 0
	catch {sleep 200}
	say asleep [m status]
	settle
	drain_until [expr {[fillings] + 10}]
	truth awake
	halt
	m stop
}
listing one
""")
        run.same("one")
        asleep = run.fields("asleep")
        assert asleep["state"] == "armed" and asleep["error"], asleep
        assert run.is_true("awake", "armed")["error"] == ""
