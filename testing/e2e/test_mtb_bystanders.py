# SPDX-License-Identifier: GPL-2.0-or-later
"""Others who use the core while an mtb object traces it: code that OpenOCD itself runs there, handlers of events, a reset
that nobody here asked for, the end of OpenOCD. They get on as without a trace, and the trace is of the program alone.

check-group: mtb
"""

import re

import pytest

import mtb_session as mtb
import probe
import rsp
from mtb_session import CHIPS, LONG, Session

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
MODES = ["wrap", "stop", "halt", "drain"]
EN, HALTREQ, AUTOHALT = 1 << 31, 1 << 9, 2


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def without_algorithms(lines, target):
    """The log without what ran in OpenOCD's work area; packets stay. Returns it, and how many branches are left out."""
    begin, size = probe.CORTEXM[target][1]
    kept, branches = [], 0
    for words in lines:
        if words[0] == "I" and begin <= int(words[1], 16) < begin + size:
            branches += words[3] == "T"
        else:
            kept.append(words)
    return kept, branches


def same(got, expected, text=""):
    wrong = mtb.differ(got, expected)
    assert not wrong, "%s\n%s" % (wrong, text)
    assert expected


# ---- code of OpenOCD's on the core ----

STEPS_BEFORE = 10	# with a branch or two among them

# what is checked has to be as it was loaded, or not
CHECKS = """
dump_image DIR/right 0 48
dump_image DIR/wrong 0 47
set file [open DIR/wrong ab]
puts -nonewline $file "#"
close $file
proc check {name} {
	load_image DIR/right BUFFER bin
	say right$name [catch {verify_image DIR/right 0 bin} said]
	say wrong$name "[catch {verify_image DIR/wrong 0 bin} said] $said"
	say status$name [m status]
}
proc armed {name} { say master$name [dict get [sim mtb] master] }
"""


def with_checks(session, mode, size, script):
    # loaded next to the buffer
    text = CHECKS.replace("DIR", str(session.folder)).replace("BUFFER", hex(session.chip.free + size))
    run = session.run(session.create("-buffer %#x %d -when-full %s" % (session.chip.free, size, mode)) + mtb.DRAIN
                      + "poll off\n" + text + script)
    for name in re.findall(r"^@@right(\S+)", run.text, re.M):
        assert run.said["right" + name] == "0", run.text
        good, text = run.tried("wrong" + name)
        assert not good and re.findall("0x[0-9a-f]{8}", text) == ["0x0000002f"], run.text
        fields = run.fields("status" + name)
        assert (fields["state"], fields["enabled"], fields["haltreq"]) == ("armed", "1", "0"), fields
        master = int(run.said["master" + name], 0)
        assert master & EN and not master & HALTREQ, hex(master)
    assert "error executing" not in run.text, run.text
    assert "no memory" not in run.text, "decoded what OpenOCD ran"
    return run


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", TARGETS)
def test_algorithm_between_steps(tmp_path, target, mode):
    """A checksum of OpenOCD's has many more branches than the buffer: none of them is there, and all that the program did is.

    Where trace was off and nobody drains, what ran between the last packet and that is not known to the buffer.
    """
    size = 64
    with Session(tmp_path, target) as session:
        run = with_checks(session, mode, size, """
record one {
	m start
	for {set n 0} {$n < %d} {incr n} { step }
	check 1
	step
	armed 1
	foreach n {2 3 4 5} { step }
	m stop
}
listing one
""" % STEPS_BEFORE)
        lines, branches = without_algorithms(run.log("one"), target)
        assert branches > 10 * size // 8
        at = [words[0] for words in lines].index("D")
        behind = mtb.cortexm_log.instructions(lines[at:])
        ways = [mtb.window(lines[:at]) + behind]
        if mode != "drain":
            ways.append(mtb.window(lines[:at], halted=False) + behind)
        assert len(ways[0]) == STEPS_BEFORE + 5
        assert mtb.packets(lines[:at]) and mtb.packets(lines[at:])
        assert run.listing("one") in ways, "%s\n%s" % (mtb.differ(run.listing("one"), ways[0]), run.text)


@pytest.mark.parametrize("target, mode, size", mtb.cover(2, TARGETS, MODES, [32, 64]))
def test_algorithm_between_runs(tmp_path, target, mode, size):
    """What the program does afterwards is traced, and the buffer gets full of that alone"""
    before, behind = {
        "wrap": ("run_for 2", "run_for 2"),
        "stop": ("step", "resume; after 3; m stop; halt"),
        "halt": ("resume; wait_halt 2000", "resume; wait_halt 2000"),
        "drain": ("poll on; resume; drain_until 3; halt; poll off", "poll on; resume; drain_until 8; halt"),
    }[mode]
    with Session(tmp_path, target, rtt=300) as session:
        run = with_checks(session, mode, size, """
record one {
	m start
	%s
	check 1
	step
	armed 1
	%s
	catch {m stop}
}
listing one
say status [m status]
""" % (before, behind))
        lines, branches = without_algorithms(run.log("one"), target)
        assert branches > 10 * size // 8
        if mode == "stop":
            # the step before has no packet: see above
            lines = lines[[words[0] for words in lines].index("D"):]
        expected = mtb.window(lines, size // 8 if mode != "drain" else None, halted=mode != "stop")
        got = run.listing("one")
        same(got[-len(expected):] if mode == "stop" else got, expected, run.text)
        if mode in ("stop", "halt"):
            last = max(n for n, words in enumerate(lines) if words[0] == "D")
            assert len(mtb.packets(lines[last:])) >= size // 16


# ---- handlers of events ----

HANDLER = """
set halts {}
proc on_halt {} {
	global halts
	lappend halts [dict get [sim state 0] pc] [dict get [sim mtb] packets]
	if {[llength $halts] < 400} { resume }
}
chip.cpu configure -event halted on_halt
"""


@pytest.mark.parametrize("target, poll", mtb.cover(1, TARGETS, ["off", "on"]))
def test_handler_that_resumes(tmp_path, target, poll):
    """Each halt is by a buffer that has got full since the last one"""
    size = 256
    look = {"off": "poll; after 2", "on": "sleep 30"}[poll]
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x %d -when-full halt" % (session.chip.free, size)) + HANDLER + """
poll %s
record one {
	m start
	resume
	for {set n 0} {$n < 15} {incr n} { %s }
	chip.cpu configure -event halted {}
	after 20
	poll
	say state [chip.cpu curstate]
	m stop
}
say halts $halts
listing one
""" % (poll, look))
        counts = [int(count, 0) for count in run.said["halts"].split()[1::2]]
        assert 5 <= len(counts) < 100, run.said["halts"]
        between = [b - a for a, b in zip(counts, counts[1:])]
        assert min(between) >= size // 16, run.said["halts"]
        assert run.said["state"] == "halted"
        run.same("one", size // 8)


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["step", "resume"]))
def test_on_behind_a_halt_that_was_missed(tmp_path, target, command):
    """The link fails just when OpenOCD sees the full buffer; what is asked for then is done all the same"""
    size = 256
    faults = [("probe-error-lost", "exchanges", n) for n in range(1, 9)] + \
        [("swd-fault", "transactions", n) for n in (range(1, 60) if LONG else range(1, 60, 6))]
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x %d -when-full halt" % (session.chip.free, size)) + mtb.SETTLE + """
set n 0
foreach {kind what at} {FAULTS} {
	reset halt
	sim log start DIR/f$n.log
	m start
	resume
	after 6
	sim fault $kind when $what $at
	catch {poll}
	settle
	for {set k 0} {$k < 5 && [chip.cpu curstate] ne "halted"} {incr k} { catch {poll} }
	set before [retired]
	set packets [packets]
	say knows$n [expr {[dict get [get_reg pc] pc] == [dict get [sim state 0] pc]}]
	say it$n "[catch {COMMAND} said] $said"
	after 6
	say ran$n [expr {[retired] - $before}]
	say packets$n [expr {[packets] - $packets}]
	catch {wait_halt 100}
	sim log stop
	m stop
	listing f$n
	m disable
	incr n
}
""".replace("FAULTS", " ".join("%s %s %d" % fault for fault in faults)).replace("DIR", str(tmp_path))
                          .replace("COMMAND", command))
        for n, fault in enumerate(faults):
            assert run.tried("it%d" % n)[0], "%s: %s" % (fault, run.said["it%d" % n])
            if command == "step":
                if run.said["knows%d" % n] != "1":
                    # the registers of before: OpenOCD steps by a breakpoint at a wrong place
                    continue
                # an interrupt taken in the step executes no instruction
                assert run.said["ran%d" % n] in ("1", "0"), "%s: %s" % (fault, run.said["ran%d" % n])
            else:
                assert int(run.said["packets%d" % n]) >= size // 16, "%s: %s" % (fault, run.said["packets%d" % n])
            run.same("f%d" % n, size // 8)
        if command == "step":
            assert sum((run.said["knows%d" % n], run.said["ran%d" % n]) == ("1", "1") for n in range(len(faults))) >= 3


# ---- the end of OpenOCD ----

# what the core does when OpenOCD ends
MOMENTS = {
    "halted": "for {set n 0} {$n < 40} {incr n} { step }",
    "running": "resume",
    "full": "resume\nafter 30",	# with halt and drain it stands there
}


@pytest.mark.parametrize("target, mode, moment", mtb.cover(2, TARGETS, ["halt", "drain"], list(MOMENTS)))
def test_shutdown(tmp_path, target, mode, moment):
    """Nothing is left that stops the core when nobody is there to let it go on"""
    # in halt mode a core that stands for the full buffer is the user's, once OpenOCD has seen it
    stands = moment == "halted"
    with Session(tmp_path, target) as session:
        size = 4096 if moment != "full" else 256
        session.run(session.create("-buffer %#x %d -when-full %s" % (session.chip.free, size, mode)) + """
m start
%s
shutdown
""" % MOMENTS[moment])
        mtb_now, core = session.mtb(), session.state()
        assert not mtb_now["master"] & (EN | HALTREQ), mtb_now
        assert not mtb_now["flow"] & AUTOHALT, mtb_now
        if (mode, moment) != ("halt", "full"):
            assert bool(core["halted"]) == stands, core
            run = session.run("init\npoll off\nset before [retired]\nafter 30\npoll\n"
                              "say state [chip.cpu curstate]\n"
                              "say ran [expr {[retired] - $before}]", init=False)
            assert run.said["state"] == ("halted" if stands else "running")
            assert (int(run.said["ran"]) > 1000) != stands


@pytest.mark.parametrize("target, mode, moment", mtb.cover(2, TARGETS, ["wrap", "stop"], list(MOMENTS)))
def test_trace_over_a_shutdown(tmp_path, target, mode, moment):
    """Trace that stops nobody goes on; the next OpenOCD takes it over"""
    size = 4096 if moment != "full" else 256
    with Session(tmp_path, target) as session:
        session.run(session.create("-buffer %#x %d -when-full %s" % (session.chip.free, size, mode)) + """
sim log start %s/one.log
m start
%s
shutdown
""" % (tmp_path, MOMENTS[moment]))
        armed, core = session.mtb(), session.state()
        assert bool(core["halted"]) == (moment == "halted")
        # a busy machine may give the core the time to fill it
        assert armed["master"] & EN or (mode == "stop" and moment != "halted"), armed
        run = session.run("init\npoll off\nhalt\nsim log stop\n" + session.create() + "m adopt\nlisting one\nsay status [m status]",
                          init=False)
        fields = run.fields("status")
        assert int(fields["buffer"], 0) == session.chip.free and int(fields["size"], 0) == size
        # the new one does not know where it was armed; nor where trace was when it is off
        full = mode == "stop" and fields["enabled"] == "0"
        assert full or (mode, moment) != ("stop", "full")
        same(run.listing("one"), mtb.window(run.log("one"), size // 8, armed=False, halted=not full), run.text)


@pytest.mark.parametrize("target", TARGETS)
def test_disable_while_full(tmp_path, target):
    """With nobody to drain it the core must not stand"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + """
proc registers {} { set all [sim mtb]; dict unset all packets; return $all }
say before [registers]
m start
resume
after 30
say stands [dict get [sim state 0] halted]
m disable
say behind [registers]
set before [retired]
after 20
poll
say state [chip.cpu curstate]
say ran [expr {[retired] - $before}]
say fields [m status]
""")
        assert run.said["stands"] == "1"
        assert run.said["state"] == "running" and int(run.said["ran"]) > 1000
        assert run.said["before"] == run.said["behind"]
        assert run.fields("fields")["enabled"] == "0"


# ---- a reset from outside ----

@pytest.mark.parametrize("target, mode, poll", mtb.cover(2, TARGETS, MODES, ["off", "on"]))
def test_reset_from_outside(tmp_path, target, mode, poll):
    """Once OpenOCD has seen it the trace is armed again, as behind a reset of its own"""
    size = 4096 if mode == "stop" else 1024		# not full before the reset comes
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x %d -when-full %s" % (session.chip.free, size, mode)) + mtb.DRAIN + """
set resets 0
m configure -event reset { incr ::resets }
poll POLL
proc look {} { if {"POLL" eq "on"} { sleep 150 } else { poll; poll; poll } }
record one {
	m start
	resume
	if {"MODE" eq "drain"} { poll on; drain_until 5; poll POLL; say before [m status] }
	sim fault core-reset when us 0
	catch {word 0xe000ed00}
	look
	say behind [m status]
	if {"MODE" eq "drain"} { poll on; drain_until [expr {[fillings] + 3}] } else { after 20 }
	halt
	say resets $resets
	m stop
}
say status [m status]
listing one
""".replace("POLL", poll).replace("MODE", mode))
        said = [line for line in run.text.splitlines() if "reset" in line and re.search("again|re-?arm", line, re.I)]
        assert len(said) == 1, "%s\n%s" % (said, run.text)
        assert run.said["resets"] == "1"
        if mode in ("wrap", "drain"):
            assert run.fields("behind")["enabled"] == "1", run.text
        lines = run.log("one")
        at = [words[0] for words in lines].index("Z")
        behind = mtb.window(lines[at:], size // 8 if mode != "drain" else None, armed=False, halted=mode != "stop")
        got = run.listing("one")
        assert len(behind) > 100
        if mode != "drain":
            same(got, behind, run.text)
            return
        # what was drained before stays; the rest lies in RAM that the program's start may use
        same(got[-len(behind):], behind, run.text)
        rest, ran = got[:-len(behind)], mtb.cortexm_log.instructions(lines[:at])
        same(rest, ran[:len(rest)], run.text)
        drained = mtb.packets(lines)[int(run.fields("before")["captured"]) // 8 - 1]
        assert len(rest) >= len(mtb.cortexm_log.instructions(lines[:drained])), "what was drained is lost"


@pytest.mark.parametrize("target", TARGETS)
def test_reset_from_outside_while_it_is_drained(tmp_path, target):
    """Whichever access of a filling meets the reset, OpenOCD sees it, and the trace is armed again"""
    count = 40 if LONG else 12
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + mtb.DRAIN + """
set resets 0
m configure -event reset { incr ::resets }
poll on
for {set n 0} {$n < %d} {incr n} {
	set resets 0
	m start
	if {[chip.cpu curstate] eq "halted"} { resume }
	drain_until 3
	sim fault core-reset when exchanges [expr {1 + $n %% 12}]
	sleep 250
	say resets$n $resets
	truth $n
	try more$n { drain_until [expr {[fillings] + 3}] }
	m stop
}
""" % count)
        for n in range(count):
            assert run.said["resets%d" % n] == "1" and run.tried("more%d" % n)[0], "reset at exchange %d: %s, %s" % (
                1 + n % 12, run.said["resets%d" % n], run.said["more%d" % n])
            assert run.is_true(str(n), "armed")["enabled"] == "1"


# ---- GDB's flash programming ----

@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "drain"]))
def test_gdb_loads(tmp_path, target, mode):
    """From the begin of an erase or of a write to its end nothing is traced; what the program does is, before and behind.

    The bank is one of memory in OpenOCD: what counts is what OpenOCD tells while it programs one.
    """
    with Session(tmp_path, target) as session:
        script = """
flash bank nowhere faux 0x60000000 0x20000 4 4 chip.cpu
set states {}
proc record_state {} { lappend ::states [expr {[dict get [sim mtb] master] >> 31}] }
# where nothing is said OpenOCD resets the target at the begin and at the end
foreach event {gdb-flash-erase-start gdb-flash-erase-end gdb-flash-write-start gdb-flash-write-end} {
	chip.cpu configure -event $event record_state
}
init
poll off
reset halt
poll on
""" + session.create("-buffer %#x 1024 -when-full %s" % (session.chip.free, mode))
        command = session.probe.openocd_command(session.script(script, init=False), openocd=mtb.OPENOCD)
        rsp.with_gdb(session.probe, command, """
tcl.command("sim log start {d}/one.log; m start")
def run():
    gdb.send("vCont;c")
    time.sleep(0.02)
    gdb.interrupt()
    stop = gdb.wait_stop()
    check("stop %r" % stop, stop and stop[:1] == b"T")
run()
for packet in ("vFlashErase:60000000,00010000", "vFlashWrite:60000000:firmware", "vFlashDone"):
    said = gdb.command(packet)
    check("%s: %r" % (packet, said), said == b"OK")
states = tcl.command("set states")
# handlers of scripts come first
check("EN at begin and end of erase and write: %r" % states, states.split() == ["1", "0", "1", "0"])
check("EN behind: %r" % tcl.command("sim mtb"), int(tcl.command("dict get [sim mtb] master"), 0) >> 31 == 1)
run()
said = tcl.command("m stop; sim log stop; listing one")
check(said, "rror" not in said)
""".format(d=tmp_path), session.folder / "server")
        outcome = mtb.Outcome(tmp_path, probe.Run(0, "", ""))
        lines, got = outcome.log("one"), outcome.listing("one")
        ran = mtb.window(lines, None if mode == "drain" else 128)
        # what ran from there to the next branch is not known: trace was off, and who knows what happened
        gone = next((n for n, (a, b) in enumerate(zip(got, ran)) if a != b), len(got))
        missing = len(ran) - len(got)
        same(got, ran[:gone] + ran[gone + missing:])
        assert 0 <= missing < 200
        # what follows is a branch that began a trace, or the handler of an exception that did; it can begin like what is
        # missing
        began = [[int(word, 16) for word in lines[n][2:4]] for n in mtb.packets(lines) if int(lines[n][3], 16) & 1]
        first = {(to if source & 1 else source) & ~1 for source, to in began}
        cuts = [n for n in range(gone + 1) if got == ran[:n] + ran[n + missing:] and n < len(got)]
        assert not missing or any(got[n] in first for n in cuts)


# ---- what drain cannot do ----

@pytest.mark.parametrize("target", TARGETS)
def test_drain_in_a_group(tmp_path, target):
    """Halts of one core stop the others of its group: their halts would not stay unseen"""
    with Session(tmp_path, target) as session:
        run = session.run("""
target create chip.other cortex_m -dap chip.dap -ap-num 0 -defer-examine
target smp chip.cpu chip.other
targets chip.cpu
init
poll off
chip.cpu arp_halt
chip.cpu arp_waitstate halted 1000
""" + session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + """
set before [sim mtb]
try drain { m start }
say same [expr {$before eq [sim mtb]}]
m configure -when-full halt
try halt { m start }
m disable
m configure -when-full wrap
try wrap { m start }
m disable
""", init=False)
        run.refusal("drain", r"smp", r"halt", r"\bm\b")
        assert run.said["same"] == "1"
        assert run.tried("halt")[0] and run.tried("wrap")[0], run.text


@pytest.mark.parametrize("target, command", mtb.cover(1, TARGETS, ["start", "adopt"]))
def test_big_endian_target(tmp_path, target, command):
    """Registers and packets would be turned round"""
    with Session(tmp_path, target) as session:
        run = session.run("chip.cpu configure -endian big\ninit\npoll off\n"
                          + session.create("-buffer %#x 256" % session.chip.free) + """
set before [sim mtb]
try it { m %s }
say same [expr {$before eq [sim mtb]}]
say state [dict get [m status] state]
""" % command, init=False)
        run.refusal("it", r"endian", r"big")
        assert run.said["same"] == "1" and run.said["state"] == "idle"


@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "drain"]))
def test_drain_without_polling(tmp_path, target, mode):
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode)) + """
poll off
m start
m disable
poll on
m start
m disable
""")
        warned = re.findall(r"^Warn : .*\bpoll\b.*$", run.text, re.M)
        assert len(warned) == (mode == "drain"), run.text
