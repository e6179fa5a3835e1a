# SPDX-License-Identifier: GPL-2.0-or-later
"""What people and programs do wrong with an mtb object: one clear line, no RAM is overwritten, and there is a way out.

check-group: mtb
"""

import os
import re
import subprocess
import time

import pytest

import mtb_session as mtb
import probe
from mtb_session import CHIPS, Session

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

TARGETS = list(CHIPS)
EN, HALTREQ = 1 << 31, 1 << 9


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


@pytest.mark.parametrize("target", TARGETS)
def test_buffer_without_memory(tmp_path, target):
    """The MTB knows no -rambase: it would write to the same place of its own RAM"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-rambase 0x30000000 -buffer 0x30000000 64") + """
set before [sim mtb]
try it { m start }
say same [expr {$before eq [sim mtb]}]
say state [field state]
""")
        run.refusal("it", "0x30000000", "-rambase")
        assert run.said["same"] == "1" and run.said["state"] == "idle"


@pytest.mark.parametrize("target", TARGETS)
def test_program_changes_the_mask(tmp_path, target):
    """A drain that lost its buffer says so, keeps what it has, and does not hold the core"""
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + "poll on\n" + mtb.DRAIN + """
m start
resume
drain_until 3
mww %#x 0x8000001f
sleep 300
try stop { m stop }
try list { listing one }
try off { m disable }
if {[chip.cpu curstate] eq "halted"} { resume }
sleep 20
set before [dict get [sim counters] retired]
sleep 50
say ran [expr {[dict get [sim counters] retired] - $before}]
say master [dict get [sim mtb] master]
""" % (session.chip.mtb + 4))
        run.refusal("stop", "MASTER", "disable")
        assert run.tried("list")[0] and run.listing("one")
        assert run.tried("off")[0], run.text
        assert int(run.said["ran"]) > 1000 and not int(run.said["master"], 0) & (EN | HALTREQ), run.text


@pytest.mark.parametrize("more", ["", "step; step", "resume; drain_until [expr {[fillings] + 2}]; halt"])
@pytest.mark.parametrize("target", TARGETS)
def test_drain_over_a_reset(tmp_path, target, more):
    """The piece before the reset ends where the core was then, whatever comes behind"""
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + "poll on\n" + mtb.DRAIN + """
sim log start DIR/one.log
m start
resume
drain_until 3
halt
reset halt
%s
sim log stop
listing one
say ledger [m ledger]
""".replace("DIR", str(tmp_path)) % more)
        assert "gaps 0 " in run.said["ledger"] + " ", run.said["ledger"]
        lines, got = run.log("one"), run.listing("one")
        at = [words[0] for words in lines].index("Z")
        before = mtb.window(lines[:at])
        wrong = mtb.differ(got[:len(before)], before)
        assert not wrong, wrong
        if "drain" in more:
            behind = mtb.window(lines[at:], armed=False)
            wrong = mtb.differ(got[len(before):], behind)
            assert not wrong, wrong


@pytest.mark.parametrize("resets", ["reset halt", "reset halt\nreset halt", "reset halt\nstep\nreset halt"])
@pytest.mark.parametrize("target", TARGETS)
def test_drain_of_nothing_over_a_reset(tmp_path, target, resets):
    """Where the core stood before a reset is nowhere on the way behind it"""
    with Session(tmp_path, target, rtt=300) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + "poll on\n" + mtb.DRAIN + """
reset halt
run_for 3
m start
%s
sim log start DIR/one.log
resume
drain_until 3
halt
sim log stop
m stop
listing one
say ledger [m ledger]
""".replace("DIR", str(tmp_path)) % resets)
        assert "gaps 0 " in run.said["ledger"] + " ", run.said["ledger"]
        run.same("one")


@pytest.mark.parametrize("target", TARGETS)
def test_stop_mode_behind_reset_run(tmp_path, target):
    """What the first packets behind the reset tell stays, however often OpenOCD looks later"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full stop" % session.chip.free) + """
poll on
set resets 0
m configure -event reset { incr ::resets }
m start
sim log start DIR/one.log
reset run
sleep 400
halt
sim log stop
m stop
listing one
say resets $resets
""".replace("DIR", str(tmp_path)))
        assert run.said["resets"] == "1" and "not by OpenOCD" not in run.text, run.text
        lines = run.log("one")
        at = [words[0] for words in lines].index("Z")
        expected, got = mtb.window(lines[at:], armed=False, halted=False), run.listing("one")
        assert got and not mtb.differ(got, expected[:len(got)]), mtb.differ(got, expected[:len(got)])


@pytest.mark.parametrize("target", TARGETS)
def test_step_in_drain(tmp_path, target):
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full drain" % session.chip.free) + """
run_for 1
m start
step
step
m stop
""")
        assert run.text.count("halted due to single-step") == 2, run.text


def test_full_buffer_says_so(tmp_path):
    """Else it is a halt without a reason: once for each filling, whatever was asked of the object between"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 256 -when-full halt" % session.chip.free) + """
poll on
m start
foreach between {{} {m status} {m decode} {m flush} {}} { resume; wait_halt 20000; eval $between }
# nobody has looked yet
foreach first {{m flush} {m decode} {m status}} { resume; after 200; eval $first; wait_halt 20000 }
m stop
""")
        assert len(re.findall(r"m: the buffer is full \(\d+ packets\)", run.text)) == 8, run.text
        assert run.text.count("m: the buffer is full (28 packets)") >= 1, run.text


def test_console_on_a_simulated_chip(tmp_path):
    """testing/sim/cortexm.cfg, as its first lines say, and a chip's MTB file without _TARGETNAME"""
    wire, control = tmp_path / "wire", tmp_path / "control"
    chip = subprocess.Popen([os.path.join(probe.TOP, "build/sim/probe_sim"), "--target", "cortex-m33", "--program",
                             str(mtb.program("cortex-m33")), "--bitbang", str(wire), "--control", str(control)])
    try:
        for _ in range(100):
            if wire.exists():
                break
            time.sleep(0.05)
        done = subprocess.run(
            [mtb.OPENOCD, "-c", "set WIRE %s; set WORK_AREA 0x2000c000" % wire, "-f",
             os.path.join(probe.SIM, "cortexm.cfg"), "-c", "gdb_port disabled; telnet_port disabled; tcl_port disabled",
             "-c", "unset _TARGETNAME; source [find target/mtb_cortex_m33.cfg]; init; reset halt", "-c",
             "chip.cpu.mtb configure -elf %s; chip.cpu.mtb start; resume; after 20; halt" % mtb.program("cortex-m33"),
             "-c", "echo [chip.cpu.mtb decode -last 3]; shutdown"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60, universal_newlines=True)
    finally:
        chip.kill()
        chip.wait()
    assert done.returncode == 0 and re.search(r"^Info : flow +[1-9]\d* instructions", done.stdout, re.M), done.stdout


@pytest.mark.parametrize("body, said", [("error {x\\ny}", "x"), ("mdw 0xa0000000", "pre-enable"), ("exit_is_no_such_command", "exit_is"),
                                        ("m start", "running"), ("return -code break", "pre-enable"), ("error {}", "pre-enable")])
def test_event_that_fails(tmp_path, body, said):
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 64" % session.chip.free) + """
catch { error before }
m configure -event pre-enable { %s }
try it { m start }
say state [field state]
""" % body)
        line = run.refusal("it", "pre-enable", said)
        assert len(line) < 200 and not line.endswith(": ")
        assert run.said["state"] == "idle"


def test_adopt_beyond_the_ram(tmp_path):
    """It cannot be read, and nothing was taken over"""
    with Session(tmp_path, "cortex-m0plus") as session:
        run = session.run(session.create() + """
mww 0xf0000000 4
mww 0xf0000004 0x8000000b
try it { m adopt }
say state [field state]
m configure -buffer %#x 64
try again { m start }
""" % session.chip.free)
        run.refusal("it", "cannot be read")
        assert run.said["state"] == "idle" and run.tried("again")[0], run.text


def test_odd_values(tmp_path):
    """One line each, which shows the value; symbols may have an offset"""
    refused = [
        ('m configure "-x\\ny" 3', r"unknown option -x\?y; there are -target,"), ('m configure "" 3', "unknown option ''"),
        ('m configure -baseaddr "0x1000\\n2"', r"not 0x1000\?2"), ('m configure -baseaddr ""', "not ''"),
        ('m configure -buffer " 0x20000000" 16', "not  0x20000000"), ("m configure -buffer 0x20000000 +16", r"not \+16"),
        ("m configure -ramsize -1", "not -1"), ('m cget -event "a\\nb"', r"not a\?b"),
        ('m address "a\\nb"', r"no symbol a\?b in"), ('m address ""', "no symbol '' in"), ("m address -5", "no symbol -5 in"),
        ("m address 0x100000000", "more than 32 bits"), ("m address 99999999999999999999", "more than 32 bits"),
        ("m address main+x", r"no symbol main\+x in"), ("m address nosuch+4", r"no symbol nosuch\+4 in"),
        ("m address +4", r"no symbol \+4 in"), ("m address main+", r"no symbol main\+ in"),
        ("mtb create [string repeat x 65] -target chip.cpu", "at most 64 characters"),
    ]
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create() + "".join("try r%d {%s}\n" % (n, command)
                                                     for n, (command, _) in enumerate(refused)) + """
say main [m address main]
say behind "[m address main+4] [m address main+0x10] [m address main+5]"
mtb create [string repeat x 64] -target chip.cpu
m start
m stop
try dump { m dump "/nonexi\nst/x" }
try nowhere { m dump "" }
mtb create bare -target chip.cpu -buffer %#x 512
bare start
bare stop
""" % session.chip.free)
        for n, (_, part) in enumerate(refused):
            run.refusal("r%d" % n, part)
        main = int(run.said["main"], 0)
        assert [int(word, 0) - main for word in run.said["behind"].split()] == [4, 16, 4]
        run.refusal("dump", r"m: cannot write '/nonexi\?st/x': No such file")
        run.refusal("nowhere", "m: cannot write '': No such file")
        assert "bare: no program is given (-elf): whether it uses the 512 bytes at 0x2000a000 is not known" in run.text
        assert "m: no program" not in run.text
