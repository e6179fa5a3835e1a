# SPDX-License-Identifier: GPL-2.0-or-later
"""What a command of an mtb object that failed leaves behind, and what the next one makes of it: nothing is lost, nothing
twice, the trace goes on as it was asked for, and registers are those that were found last.

check-group: mtb
"""

import random
import re
import shutil

import pytest

import mtb_session as mtb
import probe
from mtb_session import CHIPS, LONG, SEED, Session

import cortexm_log	# pylint: disable=wrong-import-order; mtb_session knows where it is

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
EN = 1 << 31
# fault, what it waits for. The chip that sleeps does so until `settle`: nothing can be made up for within the command
SLEEPS = [("sleep", "accesses"), ("sleep", "exchanges")]
WIRE = SLEEPS + [("swd-wait", "transactions"), ("swd-fault", "transactions"), ("swd-parity", "transactions"),
                 ("bus-error", "accesses"), ("probe-error-lost", "exchanges"), ("probe-error-done", "exchanges")]


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def places(most, count, seed):
    """Numbers from 1 to @a most: the ends, and some between; all of them if there are few, or time for it."""
    rand = random.Random("%s %s" % (SEED, seed))
    count = 100 if LONG else count
    if most <= max(count, 8):
        return list(range(1, most + 1))
    return sorted({1, most - 1, most} | set(rand.sample(range(2, most - 1), count - 3)))


def faults(session, setup, command, count, kinds=None):
    """Faults all over a @a command, which is tried out without one first: (kind, what it waits for, number)."""
    kinds = kinds or WIRE
    if not LONG:
        # the sleeps that were asked for, and two of the others
        others = [kind for kind in kinds if kind not in SLEEPS]
        rand = random.Random("%s %s %s" % (SEED, session.target, setup))
        kinds = [kind for kind in kinds if kind in SLEEPS] + rand.sample(others, min(2, len(others)))
    begin, again = setup.split("#again\n")
    # the second one of a session, as those of the test
    run = session.run(begin + 2 * ("%s\nsim mark\n%s\nset cost [sim counters]\ncatch {m disable}\nreset halt\n" % (again, command))
                      + "foreach what {%s} { say $what [dict get $cost $what] }" % " ".join(sorted({what for _, what in kinds})))
    return [(kind, what, at) for kind, what in kinds
            for at in places(int(run.said[what]), count * (1 + (kind == "sleep")), kind)]


def each(these, body, folder):
    """Tcl that runs @a body for each fault: $n, $kind, $what, $at; in it f$n is a file of the test's folder."""
    return mtb.SETTLE + "set n 0\nforeach {kind what at} {%s} {\n%s\nincr n\n}\n" % (
        " ".join("%s %s %d" % fault for fault in these), body.replace("DIR", str(folder)))


def good_or_one_line(run, name):
    good, text = run.tried(name)
    assert good or (text.strip() and "\n" not in text.strip()), "%s: %r" % (name, text)
    return good


def pieces(lines):
    """The log cut where tracing was switched on again, each from the source of a packet with a start bit on."""
    cuts = [0]
    for n in [n for n in mtb.packets(lines) if int(lines[n][3], 16) & 1][1:]:
        source = int(lines[n][2], 16)
        while not source & 1 and not (lines[n][0] == "I" and int(lines[n][1], 16) == source):
            n -= 1
        cuts.append(n)
    return [lines[begin:end] for begin, end in zip(cuts, cuts[1:] + [len(lines)])]


def ends(lines):
    """What a trace may be that was stopped while the core ran, or while it stood with a full buffer."""
    last = mtb.packets(lines)[-1]
    ways = [mtb.window(lines, halted=False)]
    return ways + [mtb.window(lines[:n]) for n, words in enumerate(lines) if words[0] == "H" and n > last]


# ---- drain: a stop in two attempts ----

@pytest.mark.parametrize("target, moment", mtb.cover(1, TARGETS, ["running", "full"]))
def test_second_stop_of_a_drain(tmp_path, target, moment):
    """The link is lost anywhere in the stop, behind the last filling too: no packet is there twice, none is missing"""
    with Session(tmp_path, target, rtt=300) as session:
        setup = session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + mtb.DRAIN + "#again\n" + """
poll off
m start
resume
for {set look 0} {$look < 4} {incr look} { after 2; poll }
""" + ("after 8\n" if moment == "full" else "")
        these = faults(session, setup, "m stop", 3)
        begin, again = setup.split("#again\n")
        run = session.run(begin + each(these, """
	reset halt
	sim log start DIR/f$n.log
	%s
	sim fault $kind when $what $at
	try stop$n { m stop }
	settle
	try again$n { m stop }
	set before [retired]
	after 2
	say runs$n [expr {[retired] - $before}]
	say mtb$n [sim mtb]
	catch {poll}
	catch {halt}
	catch {wait_halt 500}
	sim log stop
	say fillings$n [fillings]
	try listing$n { listing f$n }
	m disable
""" % again, tmp_path))
        for n, fault in enumerate(these):
            good = good_or_one_line(run, "stop%d" % n)
            assert good_or_one_line(run, "again%d" % n) or good, "%s: cannot be stopped: %s" % (fault, run.said["again%d" % n])
            assert int(run.said["runs%d" % n]) > 100, "%s: the core stands: %s" % (fault, run.said["mtb%d" % n])
            assert run.tried("listing%d" % n)[0], run.said["listing%d" % n]
            got, ways = run.listing("f%d" % n), ends(run.log("f%d" % n))
            assert got in ways, "%s: %s" % (fault, mtb.differ(got, ways[0]))
            assert int(run.said["fillings%d" % n]) >= 2
        assert sum(not run.tried("stop%d" % n)[0] for n in range(len(these))) >= 3, "no fault did anything"


# ---- a stop that failed, and then it goes on after all ----

@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "stop", "halt"]))
def test_flush_behind_a_stop(tmp_path, target, mode):
    """The core runs; stop fails; flush, and the trace is as it was armed"""
    size = 512
    with Session(tmp_path, target) as session:
        setup = session.create("-buffer %#x %d -when-full %s" % (session.chip.free, size, mode)) + "#again\nm start\nresume\n"
        these = faults(session, setup, "m stop", 3, SLEEPS[:1] + WIRE[2:])
        run = session.run(setup.split("#again\n")[0] + each(these, """
	reset halt
	sim log start DIR/f$n.log
	m start
	say armed$n [sim mtb]
	resume
	sim fault $kind when $what $at
	set failed [try stop$n { m stop }]
	settle
	if {$failed} {
		try flush$n { m flush }
		say flow$n [dict get [sim mtb] flow]
		set packets [packets]
		after 5
		say packets$n [expr {[packets] - $packets}]
		say status$n [m status]
		say halted$n [dict get [sim state 0] halted]
		try again$n { m stop }
		poll
		halt
		try listing$n { listing f$n }
	} else { poll; halt }
	sim log stop
	say left$n [sim mtb]
	m disable
""", tmp_path))
        failed = 0
        for n, fault in enumerate(these):
            good = good_or_one_line(run, "stop%d" % n)
            left = run.fields("left%d" % n)
            assert not int(left["master"], 0) & EN and not int(left["flow"], 0), "%s: stopped, but %s" % (fault, left)
            if good:
                continue
            failed += 1
            for command in ("flush", "again", "listing"):
                assert run.tried("%s%d" % (command, n))[0], "%s: %s: %s" % (fault, command, run.said["%s%d" % (command, n)])
            assert int(run.said["flow%d" % n], 0) == int(run.fields("armed%d" % n)["flow"], 0) or mode == "wrap", fault
            packets, fields = int(run.said["packets%d" % n]), run.fields("status%d" % n)
            assert run.said["halted%d" % n] == str(int(mode == "halt")), "%s: %s" % (fault, fields)
            if mode == "wrap":
                assert fields["enabled"] == "1" and packets > size // 8, "%s: %d packets, %s" % (fault, packets, fields)
            else:
                # in halt mode it may have been full before already: that halt is the user's
                assert packets < size // 8, "%s: %d packets, %s" % (fault, packets, fields)
            if mode == "stop":
                assert fields["full"] == "1" and fields["enabled"] == "0", "%s: %s" % (fault, fields)
            part = pieces(run.log("f%d" % n))[-1]
            expected = mtb.window(part, size // 8, armed=False, halted=mode == "halt")
            got = run.listing("f%d" % n)
            assert expected and got[-len(expected):] == expected, "%s: %s" % (fault, mtb.differ(got[-len(expected):], expected))
        assert failed >= 3, "no fault did anything"


# ---- the window of -start and -stop ----

def packets_outside(lines, start, stop):
    """Packets of branches that are not between an arrival at @a start and one at @a stop; and how many are between."""
    on, inside, wrong, pc = False, 0, [], 0
    for words in lines:
        if words[0] == "I":
            pc = int(words[1], 16)
            on = (on or pc == start) and pc != stop
        elif words[0] == "M":
            if on:
                inside += 1
            else:
                wrong.append(words)
    return wrong, inside


@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["stop", "halt", "wrap"]))
def test_flush_beside_the_window(tmp_path, target, mode):
    """-start is never reached again: flush, and a stop that fails before it, must not switch tracing on"""
    with Session(tmp_path, target) as session:
        options = "-buffer %#x 1024 -when-full %s -start main -stop collatz" % (session.chip.free, mode)
        setup = session.create(options) + "#again\nm start\nresume\nafter 2\n"
        these = faults(session, setup, "m stop", 3, SLEEPS[:1] + WIRE[-2:])
        run = session.run(setup.split("#again\n")[0] + each(these, """
	reset halt
	sim log start DIR/f$n.log
	m start
	resume
	after 2
	say first$n [dict get [sim mtb] master]
	if {$n == 0} { m flush } else {
		sim fault $kind when $what $at
		if {[try stop$n { m stop }]} {
			settle
			try flush$n { m flush }
		}
	}
	settle
	say second$n [dict get [sim mtb] master]
	after 2
	sim log stop
	try again$n { m stop }
	poll
	halt
	m disable
""", tmp_path))
        names = mtb.symbols(session.elf)
        for n, fault in enumerate(these):
            assert not int(run.said["first%d" % n], 0) & EN
            assert not int(run.said["second%d" % n], 0) & EN, fault
            wrong, inside = packets_outside(run.log("f%d" % n), names["main"], names["collatz"])
            assert not wrong, "%s: %d packets outside of the window, the first one %s" % (fault, len(wrong), wrong[0])
            assert inside > 0
            if n and not good_or_one_line(run, "stop%d" % n):
                assert run.tried("flush%d" % n)[0], "%s: %s" % (fault, run.said["flush%d" % n])


@pytest.mark.parametrize("target", TARGETS)
def test_flush_in_the_window(tmp_path, target):
    """Within it tracing goes on behind a flush, also behind a stop that failed"""
    with Session(tmp_path, target) as session:
        setup = session.create("-buffer %#x 1024 -start main" % session.chip.free) + "#again\nm start\nresume\nafter 2\n"
        these = faults(session, setup, "m stop", 3, SLEEPS[:1] + WIRE[-2:])
        run = session.run(setup.split("#again\n")[0] + each(these, """
	reset halt
	m start
	resume
	after 2
	set failed 0
	if {$n} {
		sim fault $kind when $what $at
		set failed [try stop$n { m stop }]
	}
	settle
	if {!$n || $failed} {
		try flush$n { m flush }
		set packets [packets]
		after 2
		say packets$n [expr {[packets] - $packets}]
		try again$n { m stop }
	}
	poll
	halt
	m disable
""", tmp_path))
        for n, fault in enumerate(these):
            if "flush%d" % n not in run.said:
                continue
            assert run.tried("flush%d" % n)[0] and run.tried("again%d" % n)[0], run.text
            assert int(run.said["packets%d" % n]) > 50, fault


@pytest.mark.parametrize("target", TARGETS)
def test_flush_of_a_halted_core_in_windows(tmp_path, target):
    """Halted inside, then outside of a window: each branch inside has its packet all the same, and no other has"""
    with Session(tmp_path, target, "work", level="O1") as session:
        names = mtb.symbols(session.elf)
        script = "-buffer %#x 2048 -start %#x -stop %#x" % (session.chip.free, names["machine"], names["fibonacci"])
        run = session.run(session.create(script) + """
record one {
	m start
	foreach n {1 2 3} {
		foreach place {%#x %#x} {
			bp $place 2 hw
			resume
			wait_halt 3000
			rbp $place
			m flush
			step
			step
			m flush
		}
	}
	m stop
}
""" % (names["machine"], names["fibonacci"]))
        lines = run.log("one")
        wrong, inside = packets_outside(lines, names["machine"], names["fibonacci"])
        assert not wrong and inside > 5, wrong[:3]
        # and none is missing
        on, taken, pc = False, False, 0
        for words in lines:
            if words[0] == "I":
                assert not taken, "no packet for the branch before %s" % words[1]
                pc = int(words[1], 16)
                on = (on or pc == names["machine"]) and pc != names["fibonacci"]
                taken = on and words[3] == "T"
            elif words[0] == "M":
                taken = False


# ---- drain: what is owed is remembered ----

@pytest.mark.parametrize("target, then", mtb.cover(1, TARGETS, ["halt", "resume"]))
def test_drain_over_a_dead_link(tmp_path, target, then):
    """A filling is read, but whether the pointer went back nobody knows for a while; then the user does something"""
    with Session(tmp_path, target, rtt=300) as session:
        steps = ""
        for kind in ("probe-error-done", "probe-error-lost"):
            for at in range(1, 13 if LONG else 9):
                steps += """
	for {set k 0} {$k < 20 && ![dict get [sim state 0] halted]} {incr k} { after 2 }
	sim fault %s when exchanges %d
	catch {poll}
	foreach k {1 2 3} { sim fault probe-error-lost when exchanges 1; catch {poll} }
	settle
	%s
	drain_on
""" % (kind, at, {"halt": "catch {halt}\ncatch {wait_halt 500}\ncatch {poll}\ncatch {resume}",
                  "resume": "catch {resume}"}[then])
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + mtb.SETTLE + mtb.DRAIN + """
poll off
proc drain_on {} {
	set want [expr {[fillings] + 2}]
	for {set k 0} {[fillings] < $want} {incr k} {
		if {$k > 100} { error "drains no more: [m status] [sim state 0]" }
		after 2
		catch {poll}
	}
}
record one {
	m start
	resume
	drain_on
	%s
	halt
	m stop
}
listing one
say status [m status]
""" % steps)
        run.same("one")
        lines = run.log("one")
        assert sum(int(lines[n][3], 16) & 1 for n in mtb.packets(lines)) == 1, "trace was off in between"


@pytest.mark.parametrize("target", TARGETS)
def test_drain_behind_failed_flushes(tmp_path, target):
    """The chip does not answer for four of them; it drains by itself again, and nobody sees a halt"""
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + mtb.SETTLE + mtb.DRAIN + """
poll on
record one {
	m start
	resume
	drain_until 3
	sim fault sleep when us 0
	foreach n {1 2 3 4} { try flush$n { m flush } }
	settle
	set halts 0
	chip.cpu configure -event halted { incr halts }
	drain_until [expr {[fillings] + 5}]
	say halts $halts
	say state [chip.cpu curstate]
	chip.cpu configure -event halted {}
	halt
	m stop
}
listing one
""")
        for n in range(1, 5):
            run.refusal("flush%d" % n)
        # OpenOCD's own polling waits for longer and longer when it has failed
        assert run.said["halts"] == "0" and run.said["state"] == "running"
        run.same("one")


# ---- registers are those that were found last ----

FIRMWARE = """
proc registers {} { set all [sim mtb]; dict unset all packets; return $all }
proc firmware {} {
	mww {base} {{position}}
	mww [expr {{base} + 8}] 0
	mww [expr {{base} + 4}] 0x80000003
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_resume_behind_a_failed_flush(tmp_path, target):
    """Of a halted core, which then goes on: what the flush has read without emptying the buffer is not there twice"""
    count = 12 if LONG else 6
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 128 -when-full drain" % session.chip.free) + mtb.SETTLE + """
poll off
for {set n 0} {$n < %d} {incr n} {
	reset halt
	record one$n {
		m start
		foreach k {1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16} { step }
		sim fault sleep when accesses [expr {22 + $n}]
		try flush$n { m flush }
		settle
		resume
		wait_halt 1
		halt
		m stop
	}
	listing one$n
	m disable
}
""".replace("wait_halt 1\n", "after 1\n") % count)
        failed = [n for n in range(count) if not run.tried("flush%d" % n)[0]]
        assert failed, run.said
        for n in range(count):
            run.same("one%d" % n)


def firmware(session):
    """Tcl: what the program does to trace into a buffer of its own."""
    offset = (session.chip.free + 0x800) & ((1 << session.chip.aw) - 1)
    return FIRMWARE.replace("{base}", hex(session.chip.mtb)).replace("{{position}}", hex(offset)).replace(
        "{{base}", "{%#x" % session.chip.mtb)


@pytest.mark.parametrize("target, earlier", mtb.cover(1, TARGETS, ["m start; m stop", "m start; m stop; m disable", "m start; run_for 2; m stop"]))
def test_program_arms_in_between(tmp_path, target, earlier):
    """A start that fails, or one that is disabled: the registers are as the program left them, not as an earlier start found"""
    with Session(tmp_path, target) as session:
        area = probe.CORTEXM[target][1][0]
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + firmware(session) + """
%s
firmware
set before [registers]
say before $before
m configure -start no_such_symbol
try symbol { m start }
say symbol_same [expr {$before eq [registers]}]
m configure -start {} -buffer %#x 512
try buffer { m start }
say buffer_same [expr {$before eq [registers]}]
m configure -buffer %#x 512
m start
m disable
say disable_same [expr {$before eq [registers]}]
say behind [registers]
m start
m stop
m disable
say twice_same [expr {$before eq [registers]}]
""" % (earlier, area, session.chip.free))
        assert int(run.fields("before")["master"], 0) & EN
        run.refusal("symbol", "no_such_symbol")
        run.refusal("buffer", "work")
        for name in ("symbol", "buffer", "disable", "twice"):
            assert run.said[name + "_same"] == "1", "%s: %s, before %s" % (name, run.said["behind"], run.said["before"])


# ---- nothing goes on behind a stop ----

@pytest.mark.parametrize("target, running", mtb.cover(1, TARGETS, [False, True]))
def test_nothing_is_left_running(tmp_path, target, running):
    """Many starts in one line, and then no more exchanges than before"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + """
proc cost {ms} {
	sim mark
	sleep $ms
	return [dict get [sim counters] accesses]
}
%s
poll off
sleep 50
say idle [cost 150]
m start; m stop; m start; m stop; m start; m stop
say behind [cost 150]
poll on
sleep 50
say polled [cost 500]
m start; m stop; m start; m stop; m start; m stop
say polled_behind [cost 500]
""" % ("resume" if running else ""))
        assert run.said["idle"] == run.said["behind"] == "0", run.said
        before, behind = int(run.said["polled"]), int(run.said["polled_behind"])
        # five polls or so; a busy machine has fewer, or one more
        assert 0 < before and behind <= before * 1.5 + 3, run.said


# ---- bodies of events ----

@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "drain"]))
def test_pre_enable_fails(tmp_path, target, mode):
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode)) + """
m configure -event pre-enable { error "the trace clock is off" }
set before [sim mtb]
try start { m start }
say same [expr {$before eq [sim mtb]}]
say status [m status]
m configure -event pre-enable { set clock on }
poll on
record one { m start; run_for 2; m stop }
say clock $clock
say behind [m status]
""")
        run.refusal("start", "the trace clock is off")
        assert run.said["same"] == "1"
        fields = run.fields("status")
        assert fields["state"] == "idle" and fields["enabled"] == "0"
        assert run.said["clock"] == "on" and run.fields("behind")["state"] == "stopped"


@pytest.mark.parametrize("target, mode", mtb.cover(1, TARGETS, ["wrap", "halt", "drain"]))
def test_pre_disable_runs_once(tmp_path, target, mode):
    """For each trace, however often its stop has to be tried"""
    with Session(tmp_path, target) as session:
        setup = session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode)) + "#again\nm start\nrun_for 2\n"
        these = faults(session, setup, "m stop", 3, SLEEPS[:1])
        run = session.run(setup.split("#again\n")[0] + "set count 0\nm configure -event pre-disable { incr ::count }\n"
                          + each(these, """
	reset halt
	set count 0
	m start
	run_for 2
	sim fault $kind when $what $at
	try first$n { m stop }
	settle
	sim fault $kind when $what $at
	try second$n { m stop }
	settle
	try third$n { m stop }
	say count$n $count
	m disable
""", tmp_path))
        for n, fault in enumerate(these):
            results = [good_or_one_line(run, name + str(n)) for name in ("first", "second", "third")]
            assert any(results), run.text
            assert run.said["count%d" % n] == "1", "%s: %s times" % (fault, run.said["count%d" % n])
        assert not all(run.tried("first%d" % n)[0] for n in range(len(these)))


# ---- names ----

@pytest.mark.parametrize("name", ["two words.elf", "open{brace.elf", "close}brace.elf", "a$b[c].elf", "quote\".elf", "back\\slash.elf"])
def test_names_of_files(tmp_path, name):
    """Lists and dicts are such whatever a file is called"""
    target = "cortex-m33"
    path = tmp_path / name
    shutil.copy(mtb.program(target), path)
    shutil.copy(mtb.program(target), tmp_path / "plain.elf")
    quoted = re.sub(r"([\\\s{}\[\]$\";])", r"\\\1", str(path))
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free, elf=False) + """
set path %s
m configure -elf $path
say one [m cget -elf]
say one_exact [expr {[lindex [m cget -elf] 0] eq $path && [llength [m cget -elf]] == 1}]
m configure -elf $path -elf %s/plain.elf
say two_exact [expr {[lindex [m cget -elf] 0] eq $path && [llength [m cget -elf]] == 2}]
record one { m start; run_for 2; m stop }
listing one
say size [expr {[dict size [m status]] * 2 == [llength [m status]]}]
say state [dict get [m status] state]
""" % (quoted, tmp_path))
        assert run.said["one_exact"] == "1", run.said["one"]
        assert run.said["two_exact"] == "1"
        assert run.said["size"] == "1" and run.said["state"] == "stopped"
        run.same("one", 64)


@pytest.mark.parametrize("name", ["two words", "open{brace"])
def test_names_of_objects(tmp_path, name):
    """The same for what the object is called, if it may be called so"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run("set name [string map {_ \\{ - { }} {%s}]\n" % name.replace("{", "_").replace(" ", "-") + """
if {![try create { mtb create $name -target chip.cpu }]} {
	say same [expr {[dict get [$name status] name] eq $name}]
	say whole [expr {[dict size [$name status]] * 2 == [llength [$name status]]}]
}
""")
        if good_or_one_line(run, "create"):
            assert run.said["same"] == run.said["whole"] == "1", run.text
