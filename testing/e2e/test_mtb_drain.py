# SPDX-License-Identifier: GPL-2.0-or-later
"""`-when-full drain`: a trace of any length out of a small buffer, without a hole, and nobody sees the halts.

check-group: mtb
"""

import json
import re

import pytest

import mtb_session as mtb
import probe
import rsp
from mtb_session import CHIPS, LONG, Session

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
REFILLS = 10000 if LONG else 200

# Modelled time passes with each exchange: between two looks of OpenOCD the core runs a few hundred instructions.
RTT = 300


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def created(session, size, options=""):
    return session.create("-buffer %#x %d -when-full drain %s" % (session.chip.free, size, options)) + "poll on\n" + mtb.DRAIN


def drain(session, size, refills, options="", more=""):
    return created(session, size, options) + """
record one {
	m start
	resume
	drain_until %d
	%s
	halt
	m stop
}
say status [m status]
listing one
say ledger [m ledger]
""" % (refills, more)


def seams_of(run, name="one"):
    """Places of the listing's seams: how many instructions stand before each."""
    places, count = [], 0
    with open(run.folder / (name + ".list"), encoding="utf-8") as file:
        for line in file:
            count += bool(re.match(r"0x[0-9a-f]{16} ", line))
            if line.startswith("-- seam"):
                places.append(count)
    return places


@pytest.mark.parametrize("skid", [0, 2])
@pytest.mark.parametrize("name, size", [("isr", 256), ("work", 1024), ("faults", 512), ("isr", 64)])
@pytest.mark.parametrize("target", TARGETS)
def test_no_branch_is_lost(tmp_path, target, name, size, skid):
    """B10: drained pieces are one trace, and each seam is marked where the core stood"""
    main = (name, size, skid) == ("isr", 256, 0)
    refills = REFILLS if main else min(REFILLS // 10, 500)
    with Session(tmp_path, target, name, rtt=RTT, mtb_halt_skid=skid) as session:
        run = session.run(drain(session, size, refills), timeout=probe.TIMEOUT + refills // 5)
    # line by line: there can be millions
    ran, halts, starts, kinds = [], set(), 0, set()
    with open(tmp_path / "one.log", encoding="utf-8") as log:
        for line in log:
            words = line.split()
            kinds.add(words[0])
            if words[0] == "I":
                ran.append(int(words[1], 16))
            elif words[0] == "M":
                starts += int(words[3], 16) & 1
            elif words[0] == "H":
                halts.add(len(ran))
    assert starts == 1, "trace was off in between"
    assert "D" not in kinds
    wrong = mtb.differ(run.listing("one"), ran)
    assert not wrong, wrong
    assert int(run.fields("status")["fillings"]) >= refills
    seams = seams_of(run)
    assert len(seams) >= refills
    assert set(seams) <= halts, "a seam where the core did not stand"
    ledger = run.said["ledger"]
    assert "seams %d " % len(seams) in ledger + " " and "gaps 0 " in ledger + " "


def stopped(run, name="one"):
    """The listing ends where the core was stopped as it ran, or as it stood with a full buffer. Returns the listing."""
    lines, got = run.log(name), run.listing(name)
    last = mtb.packets(lines)[-1]
    ways = [mtb.window(lines, halted=False)]
    ways += [mtb.window(lines[:n]) for n, words in enumerate(lines) if words[0] == "H" and n > last]
    assert got in ways, mtb.differ(got, ways[0])
    return got


@pytest.mark.parametrize("target", TARGETS)
def test_stop_of_a_full_buffer(tmp_path, target):
    """Nobody has looked for a while: the core stands"""
    with Session(tmp_path, target) as session:
        run = session.run(created(session, 512) + """
record one {
	m start
	resume
	after 30
	say state [m status]
	m stop
	after 3
	halt
}
listing one
""")
        stopped(run)


@pytest.mark.parametrize("transport", ["jtag"])
def test_jtag(tmp_path, transport):
    with Session(tmp_path, "cortex-m33", rtt=RTT, transport=transport) as session:
        run = session.run(drain(session, 512, 30))
        run.same("one")


@pytest.mark.parametrize("target", TARGETS)
def test_stop_while_it_runs(tmp_path, target):
    """The rest is drained too; every export has the same"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(created(session, 512) + """
record one {
	m start
	resume
	drain_until 20
	m stop
	say state [chip.cpu curstate]
	halt
}
listing one
m decode -format json -o DIR/one.json
file mkdir DIR/snapshot
m dump DIR/snapshot
try full {m dump /dev/full}
mtb decode -snapshot DIR/snapshot -elf ELF -format json -o DIR/two.json
listing last -last 100
""".replace("DIR", str(tmp_path)).replace("ELF", str(session.elf)))
        got = stopped(run)
        assert run.listing("last") == got[-100:]
        objects = [[json.loads(line) for line in (tmp_path / (name + ".json")).read_text().splitlines()]
                   for name in ("one", "two")]
        assert sum(o["kind"] == "seam" for o in objects[0]) >= 20
        same = [[(o["kind"], o.get("addr"), o.get("end")) for o in one if o["kind"] in ("seam", "range", "exception", "gap")]
                for one in objects]
        assert same[0] == same[1]
        run.refusal("full", "^m: cannot write '/dev/full': No space left on device$")


@pytest.mark.parametrize("target", TARGETS)
def test_decode_in_between(tmp_path, target):
    """A look at what there is so far costs nothing of what comes"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(drain(session, 512, 10, more="halt; listing early; resume; drain_until 25"))
        run.same("one")
        early = run.listing("early")
        assert len(early) > 100 and run.listing("one")[:len(early)] == early


@pytest.mark.parametrize("target", TARGETS)
def test_breakpoint_stays_a_halt(tmp_path, target):
    with Session(tmp_path, target, rtt=RTT) as session:
        place = mtb.symbols(session.elf)["on_pendsv"]
        run = session.run(created(session, 256) + """
record one {
	m start
	bp %#x 2 hw
	foreach n {1 2 3} {
		resume
		set rounds 0
		while {[chip.cpu curstate] ne "halted" && [incr rounds] < 100} { poll; sleep 20 }
		sleep 100
		say halt$n "[chip.cpu curstate] [dict get [sim state 0] pc]"
	}
	rbp all
	m stop
}
say status [m status]
listing one
""" % place)
        for n in "123":
            state, pc = run.said["halt" + n].split()
            assert state == "halted" and int(pc, 0) == place, run.said
        run.same("one")


@pytest.mark.parametrize("target", TARGETS)
def test_user_halt_stays_a_halt(tmp_path, target):
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(drain(session, 256, 10, more="""
	foreach n {1 2 3 4 5} {
		halt
		set pc [dict get [sim state 0] pc]
		sleep 150
		say stays$n [expr {[dict get [sim state 0] halted] && $pc == [dict get [sim state 0] pc]}]
		resume
		sleep 30
	}"""))
        assert [run.said["stays%d" % n] for n in range(1, 6)] == ["1"] * 5
        run.same("one")


@pytest.mark.parametrize("target", TARGETS)
def test_seams_of_halts_unseen(tmp_path, target):
    """Full again before OpenOCD has looked once: the place of the halt before is not that of this one"""
    with Session(tmp_path, target) as session:
        run = session.run(created(session, 256) + """
poll off
record one {
	m start
	foreach n {1 2 3 4 5 6} {
		resume
		after 20
		if {$n % 2} { halt; m flush } else { poll }
		if {[chip.cpu curstate] ne "halted"} { halt }
	}
	m stop
}
listing one
m decode -format json -o DIR/one.json
""".replace("DIR", str(tmp_path)))
        ran, halts = [], set()
        for words in run.log("one"):
            if words[0] == "I":
                ran.append(int(words[1], 16))
            elif words[0] == "H":
                halts.add((len(ran), int(words[1], 16)))
        run.same("one")
        with open(tmp_path / "one.json", encoding="utf-8") as file:
            pcs = [int(found, 16) for found in re.findall(r'"seam".*?"(?:pc|address|addr)":"?(0x[0-9a-f]+)', file.read())]
        seams = seams_of(run)
        assert len(seams) == len(pcs) > 5, run.text
        assert set(zip(seams, pcs)) <= halts


def test_polling_on(tmp_path):
    """OpenOCD's own poll is what most sessions have running"""
    with Session(tmp_path, "cortex-m0plus", rtt=RTT) as session:
        run = session.run("set halts 0\nchip.cpu configure -event halted { incr halts }\n"
                          + drain(session, 256, 50, more="say halts $halts; say state [chip.cpu curstate]"))
        run.same("one")
        assert run.said["halts"] == "0", "the halts for draining are seen"
        assert run.said["state"] == "running"


@pytest.mark.parametrize("target", TARGETS)
def test_reset_in_between(tmp_path, target):
    """It goes on behind the reset; what was drained before is not lost"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(created(session, 512) + """
record one {
	m start
	resume
	drain_until 10
	reset halt
	say behind [m status]
	resume
	sleep 300
	halt
	m stop
}
say status [m status]
listing one
""")
        assert run.fields("behind")["enabled"] == "1"
        lines = run.log("one")
        at = [words[0] for words in lines].index("Z")
        # from the first packet on; where the core was before is the reset's, not the trace's
        behind = mtb.window(lines[at + 1:], armed=False)
        got = run.listing("one")
        assert got[-len(behind):] == behind, mtb.differ(got[-len(behind):], behind)
        before, rest = mtb.window(lines[:at], halted=False), got[:-len(behind)]
        assert len(rest) >= len(before), "%d instructions before the reset are lost" % (len(before) - len(rest))
        ran = mtb.cortexm_log.instructions(lines[:at])
        assert rest == ran[:len(rest)], mtb.differ(rest, ran)


@pytest.mark.parametrize("target", TARGETS)
def test_reset_run_behind_a_halt(tmp_path, target):
    """OpenOCD keeps the reason of a halt over a reset; a full buffer is no halt of the user's all the same"""
    with Session(tmp_path, target, rtt=RTT) as session:
        run = session.run(created(session, 512) + """
halt
m start
reset run
drain_until 3
say state [chip.cpu curstate]
halt
m stop
""")
        assert run.said["state"] == "running"


@pytest.mark.parametrize("target, delay", mtb.cover(1, TARGETS, [1, 2, 3]))
def test_slow_core(tmp_path, target, delay):
    """It does not have its PC ready when it is asked for it; and DCRDR is the program's mailbox"""
    with Session(tmp_path, target, rtt=RTT, reg_delay=delay) as session:
        run = session.run(created(session, 256) + """
record one {
	m start
	poll on
	resume
	drain_until 2
	mww 0xe000edf8 0x00c0ffee
	drain_until 8
	poll off
	say mailbox [word 0xe000edf8]
	say state [chip.cpu curstate]
	m stop
}
say mailbox_behind [word 0xe000edf8]
halt
listing one
""")
        assert run.said["state"] == "running"
        assert run.said["mailbox"] == run.said["mailbox_behind"] == "0xc0ffee", run.said
        assert "cannot be read" not in run.text, run.text
        ran, got = mtb.window(run.log("one")), run.listing("one")
        # to where it stood for stop, from where it went on untraced
        assert got == ran[:len(got)] and len(got) >= len(mtb.window(run.log("one"), halted=False))


@pytest.mark.parametrize("target", TARGETS)
def test_slow_core_that_stands(tmp_path, target):
    """Flushed again and again: DCRDR, which holds something even, is never taken for the PC that is still to come"""
    delays = range(1, 14)
    with Session(tmp_path, target) as session:
        run = session.run(created(session, 256) + "poll off\n" + "".join("""
sim set reg-delay 0
reset halt
record one%d {
	m start
	foreach k {1 2 3 4 5} { step }
	mww 0xe000edf8 0xc0
	sim set reg-delay %d
	m flush
	m flush
	m flush
	sim set reg-delay 0
}
listing one%d
m disable
""" % (n, n, n) for n in delays))
        for n in delays:
            got, ran = run.listing("one%d" % n), mtb.window(run.log("one%d" % n))
            # if it never answered, what ran behind the last packet is not known
            assert got == ran[:len(got)] and len(got) >= len(mtb.window(run.log("one%d" % n), halted=False)), n
            assert got == ran or n > 10, n


# ---- limits ----

@pytest.mark.parametrize("target", TARGETS)
def test_capture_max(tmp_path, target):
    """A drained trace that cannot grow ends there: what it holds is what ran, and the core runs on"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain -capture-max 4000" % session.chip.free) + mtb.DRAIN + """
poll on
record one {
	m start
	resume
	drain_until 16
	sleep 100
	set before [retired]
	sleep 20
	say ran [expr {[retired] > $before}]
	say state "[chip.cpu curstate] [dict get [sim state 0] halted]"
	say off [expr {[dict get [sim mtb] master] >> 31}]
	m stop
}
listing one
say status [m status]
say max [m cget -capture-max]
""")
        assert "cannot grow: tracing was stopped" in run.text
        assert run.said["ran"] == "1" and run.said["state"] == "running 0" and run.said["off"] == "0", run.said
        status = run.fields("status")
        assert 3700 <= int(status["captured"]) <= 4000 and status["state"] == "stopped", status
        assert run.said["max"] == "4000"
        got, ran = run.listing("one"), mtb.window(run.log("one"))
        assert len(got) > 1000 and got == ran[:len(got)], mtb.differ(got, ran)


@pytest.mark.parametrize("target", TARGETS)
def test_capture_max_below_a_filling(tmp_path, target):
    """Refused, with the part and the capture as they were; one filling is enough"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + mtb.DRAIN + """
record one { m start; run_for 3; m stop }
m configure -when-full drain -capture-max 255
set before [list [sim mtb] [m status]]
try start { m start }
say same [expr {$before eq [list [sim mtb] [m status]]}]
listing one
m configure -capture-max 256
poll on
record two { m start; resume; sleep 50; halt; say status [m status]; m stop }
listing two
""")
        run.refusal("start", "-capture-max 255 is less than one buffer of 256 bytes")
        assert run.said["same"] == "1"
        run.same("one", 32)
        assert 0 < int(run.fields("status")["captured"]) <= 256
        got, ran = run.listing("two"), mtb.window(run.log("two"))
        assert got == ran[:len(got)] and len(got) > 20, mtb.differ(got, ran)


@pytest.mark.parametrize("target", TARGETS)
def test_halted_too_late(tmp_path, target):
    """More instructions between HALTREQ and the halt than the margin has packets: what was overwritten is told of"""
    with Session(tmp_path, target, mtb_halt_skid=40) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + mtb.DRAIN + """
poll on
record one {
	m start
	resume
	drain_until 10
	halt
	m stop
}
listing one
say status [m status]
""")
        assert int(run.fields("status")["lost"]) > 0, run.text
        assert re.search(r"Warn : m: the core halted too late: \d+ packets were overwritten; take a larger buffer", run.text)
        got, ran = run.listing("one"), mtb.window(run.log("one"))
        assert len(got) < len(ran)
        # nothing that did not run, in order
        rest = iter(ran)
        assert all(any(address == other for other in rest) for address in got)


# ---- GDB ----

def with_gdb(session, script, client):
    """Run @a script, then the Python text @a client with `gdb` and `tcl` connected (rsp.py)."""
    command = session.probe.openocd_command(session.script(script), openocd=mtb.OPENOCD)
    return rsp.with_gdb(session.probe, command, client, session.folder / "server")


@pytest.mark.parametrize("target", TARGETS)
def test_gdb_sees_no_stop(tmp_path, target):
    """GDB continued; the target runs on for it until it interrupts"""
    with Session(tmp_path, target, rtt=RTT) as session:
        script = created(session, 256)
        with_gdb(session, script, """
tcl.command("sim log start {d}/one.log; m start")
gdb.send("vCont;c")
end = time.monotonic() + 20
while time.monotonic() < end and int(tcl.command("fillings")) < {n}:
    check("stops %r" % gdb.stops, gdb.quiet(0.05))
check("fillings", int(tcl.command("fillings")) >= {n})
check("stops %r" % gdb.stops, gdb.quiet(0.2))
gdb.interrupt()
stop = gdb.wait_stop()
check("interrupted: %r" % stop, stop and stop.startswith(b"T02"))
check("stays: %r" % gdb.stops, gdb.quiet(0.3))
check("registers", len(gdb.command("g")) > 100)
said = tcl.command("m stop; sim log stop; listing one")
check(said, "rror" not in said)
""".format(d=tmp_path, n=60 if not LONG else 1000))
        outcome = mtb.Outcome(tmp_path, probe.Run(0, "", ""))
        outcome.same("one")


def test_gdb_breakpoint(tmp_path):
    """One of GDB's is reported once, with the core there"""
    with Session(tmp_path, "cortex-m33", rtt=RTT) as session:
        place = mtb.symbols(session.elf)["on_irq3"]
        script = created(session, 256)
        with_gdb(session, script, """
tcl.command("sim log start {d}/one.log; m start")
gdb.command("Z1,{place:x},2")
for n in range(8):
    gdb.send("vCont;c")
    stop = gdb.wait_stop()
    check("hit: %r" % stop, stop and stop.startswith(b"T05"))
    check("once: %r" % gdb.stops, gdb.quiet(0.2))
    check("there", int(tcl.command("dict get [sim state 0] pc"), 0) == {place})
gdb.command("z1,{place:x},2")
said = tcl.command("m stop; sim log stop; listing one")
check(said, "rror" not in said)
""".format(d=tmp_path, place=place))
        outcome = mtb.Outcome(tmp_path, probe.Run(0, "", ""))
        assert outcome.same("one") > 100
