# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts for trace objects: files of parts in tcl/target, trace/session.tcl, and the examples of the manual and the
README, which print what they are said to print.

check-group: mtb
"""

import glob
import os
import re
import shutil
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position

OPENOCD = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
CORES = {"cortex-m0plus": "m0", "cortex-m33": "m33"}
TCL = os.path.join(probe.TOP, "tcl")
SESSION = "source [find trace/session.tcl]\n"

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="no clang")


@pytest.fixture(scope="module", autouse=True)
def fixture_built():
    probe.build()


def program(target, name="work", level="O1"):
    return probe.program("cm-%s-%s-%s" % (name, CORES[target], level))


def openocd(sim, script, **options):
    run = sim.openocd(script, openocd=OPENOCD, arguments=["-s", TCL], **options)
    assert run.ok, run.text
    return run


def symbols(elf):
    text = subprocess.run(["nm", elf], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    return {name: int(value, 16) & (~1 if kind in "tT" else ~0)
            for value, kind, name in re.findall(r"^([0-9a-f]+) (.) (\w+)$", text, re.M)}


# ── files of parts ────────────────────────────────────────────────────────────────────

# file: simulated target, its options, what the object has
PARTS = {
    "mtb_kinetis_l": ("cortex-m0plus", {}, "0xf0000000", 0x1ffff000),
    "mtb_lpc81x": ("cortex-m0plus", {"mtb_base": "0x14000000", "ram": "0x10000000/0x1000", "mtb_aw": 12,
                                     "mtb_rambase_zero": True}, "0x14000000", 0x10000000),
    "mtb_lpc82x": ("cortex-m0plus", {"mtb_base": "0x5000c000", "ram": "0x10000000/0x2000", "mtb_aw": 13},
                   "0x5000c000", 0x10000000),
    "mtb_samd": ("cortex-m0plus", {"mtb_base": "0x41006000", "ram": "0x20000000/0x8000", "mtb_aw": 15},
                 "0x41006000", 0x20000000),
    "mtb_samc": ("cortex-m0plus", {"mtb_base": "0x41008000", "ram": "0x20000000/0x8000", "mtb_aw": 15},
                 "0x41008000", 0x20000000),
    "mtb_saml22": ("cortex-m0plus", {"mtb_base": "0x4100a000", "ram": "0x20000000/0x8000", "mtb_aw": 15},
                   "0x4100a000", 0x20000000),
    "mtb_efm32hg": ("cortex-m0plus", {"mtb_base": "0xf0040000", "ram": "0x20000000/0x2000", "mtb_aw": 13},
                    "0xf0040000", 0x20000000),
    "mtb_da1469x": ("cortex-m33", {"ram": "0x20078000/0x8000", "mtb_rambase": "0x2007e000", "mtb_aw": 13},
                    "0xe0043000", 0x2007e000),
    "mtb_an505": ("cortex-m33", {"ram": "0x24000000/0x4000", "mtb_aw": 14}, "0xe0043000", 0x24000000),
    "mtb_ti_32": ("cortex-m0plus", {"mtb_base": "0xf0008000", "mtb_ram": "0x40403000/0x1000", "mtb_aw": 5},
                  "0xf0008000", 0x40403000),
    "mtb_cortex_m33": ("cortex-m33", {}, "0xe0043000", 0x20000000),
}
WAITS = ("mtb_ti_32", "mtb_cortex_m33")	# no object before the core is examined

LOOP = 0x40	# adds r0, #1; b back


def loop_elf(path, stack):
    """A program that needs no RAM, for a chip that has it elsewhere: vectors, and a loop at 0x40."""
    code = struct.pack("<2I", stack, LOOP | 1) + struct.pack("<I", LOOP | 1) * 14 + struct.pack("<I", 0xe7fd3001)
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<2H5I6H", 2, 40, 1, LOOP | 1, 52, 0, 0x05000200,
                                                              52, 32, 1, 40, 0, 0)
    with open(path, "wb") as file:
        file.write(header + struct.pack("<8I", 1, 84, 0, 0, len(code), len(code), 5, 4) + code)
    return str(path)


def test_every_part_has_a_test():
    found = {os.path.basename(path)[:-4] for path in glob.glob(os.path.join(TCL, "target/mtb_*.cfg"))}
    assert found == set(PARTS)


@pytest.mark.parametrize("when", ["before init", "after init"])
@pytest.mark.parametrize("part", PARTS)
def test_part(part, when, tmp_path):
    """The object traces on a chip that is like the part, into the part's RAM."""
    target, options, base, rambase = PARTS[part]
    ram = int(options.get("ram", "0x20000000/0").split("/")[0], 0)
    source = "source [find target/%s.cfg]\n" % part
    buffer = "" if part == "mtb_ti_32" else "chip.cpu.mtb configure -buffer 0x%08x 0x100\n" % (rambase + 0x400)
    elf = loop_elf(tmp_path / "loop.elf", ram + 0x200)
    with probe.Probe(target, elf, **options) as sim:
        run = openocd(sim, "set _TARGETNAME chip.cpu\n%sputs \"BEFORE [info commands chip.cpu.mtb]\"\ninit\n%s%s" % (
            (source, "", "") if when == "before init" else ("", source, source)) + """%s
            puts "BASE [chip.cpu.mtb cget -baseaddr]"
            reset halt
            chip.cpu.mtb start
            resume
            after 5
            halt
            chip.cpu.mtb stop
            puts "STATUS [chip.cpu.mtb status]"
            puts [chip.cpu.mtb decode -elf {%s} -format instructions -last 4]
            """ % (buffer, elf))
        there = when == "before init" and part not in WAITS
        assert ("BEFORE chip.cpu.mtb\n" if there else "BEFORE \n") in run.stdout
        assert "BASE %s\n" % base in run.stdout
        state = sim.control("mtb")
        assert state["packets"] > 10
        assert state["buffer"] == (rambase if part == "mtb_ti_32" else rambase + 0x400)
        assert state["size"] == (32 if part == "mtb_ti_32" else 0x100)
        assert sorted(listed(run.stdout)) == [LOOP, LOOP, LOOP + 2, LOOP + 2]
        # sourced twice, where that is after init
        assert "changed nothing" not in run.text and "no trace object" not in run.text, run.text


def test_kinetis_by_the_size_of_its_ram():
    """A BASE that is wrong is not used."""
    with probe.Probe("cortex-m0plus", program("cortex-m0plus"), mtb_rambase_zero=True) as sim:
        run = openocd(sim, "set _TARGETNAME chip.cpu\nset MTB_RAMSIZE 0x4000\nsource [find target/mtb_kinetis_l.cfg]\n"
                           "puts \"[chip.cpu.mtb cget -rambase] [chip.cpu.mtb cget -ramsize]\"\ninit\nhalt\n"
                           "chip.cpu.mtb configure -buffer 0x20001800 0x400\nchip.cpu.mtb start\nchip.cpu.mtb stop\n")
        assert re.search(r"^0x1ffff000 (0x0*4000|16384)$", run.stdout, re.M)
        assert sim.control("mtb")["buffer"] == 0x20001800


@pytest.mark.parametrize("part, target, said", [
    ("mtb_cortex_m33", "cortex-m33", "no MTB (its slot of the ROM table, 0xe00ff01c, reads 0xfff44002: bit 0 is clear)"),
    ("mtb_cortex_m33", "cortex-m0plus", "no MTB (its slot of the ROM table, 0xe00ff01c, reads 0x00000000: bit 0 is clear)"),
    ("mtb_ti_32", "cortex-m33", "no MTB (the ROM table at 0xe00ff000 names none)"),
])
@pytest.mark.parametrize("when", ["before init", "after init"])
def test_there_is_none(part, target, said, when):
    """The file says so, and everything else goes on."""
    options = {"mtb_absent": True} if target == "cortex-m33" else {}
    source = "source [find target/%s.cfg]" % part
    with probe.Probe(target, program(target), **options) as sim:
        run = openocd(sim, "set _TARGETNAME chip.cpu\n%s\ninit\n%s\nputs \"<[info commands chip.cpu.mtb]>\"\nhalt" % (
            (source, "") if when == "before init" else ("", source)))
        assert "chip.cpu: " + said in run.text and "<>" in run.stdout


@pytest.mark.parametrize("first, second, has, other", [
    ("mtb_cortex_m33", "mtb_samd", "-baseaddr 0xe0043000", "0x41006000"),
    ("mtb_an505", "mtb_da1469x", "-rambase 0x24000000", "0x2007e000"),
    ("mtb_samd", "mtb_cortex_m33", "-baseaddr 0x41006000", "0xe0043000"),
    ("mtb_an505", "mtb_cortex_m33", None, None),
])
@pytest.mark.parametrize("when", ["before init", "after init"])
def test_another_file_behind_it(first, second, has, other, when):
    """The object stays; the file whose addresses are not taken says so. One that waits for init comes last."""
    sources = "".join("source [find target/%s.cfg]\n" % part for part in (first, second))
    if when == "before init" and first in WAITS:
        first, second, has, other = second, first, "-baseaddr " + other, has.split()[1]
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        run = openocd(sim, "set _TARGETNAME chip.cpu\n" + ("%sinit" if when == "before init" else "init\n%s") % sources)
        said = ["%s.cfg: changed nothing: chip.cpu.mtb is there already, with %s (the file has %s)" % (
            second, has, other)]
        assert re.findall(r"^.*changed nothing.*$", run.text, re.M) == (said if has else [])


def test_another_part_with_a_buffer_of_its_own():
    target, options, base, _ = PARTS["mtb_ti_32"]
    with probe.Probe(target, program(target), **options) as sim:
        run = openocd(sim, "set _TARGETNAME chip.cpu\nsource [find target/mtb_samd.cfg]\ninit\n"
                           "source [find target/mtb_ti_32.cfg]")
        assert re.findall(r"^.*(?:changed nothing|no trace object).*$", run.text, re.M) == [
            "mtb_ti_32.cfg: changed nothing: chip.cpu.mtb is there already, with -baseaddr 0x41006000 (the file has %s)"
            % base], run.text


def test_which_target():
    """The only one needs no name"""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        run = openocd(sim, "target create other mem_ap -dap chip.dap -ap-num 0\n"
                      "puts \"[catch {source [find target/mtb_samd.cfg]} said] $said\"\ninit")
        assert "1 mtb_samd.cfg: which target? set _TARGETNAME to one of: chip.cpu other" in run.stdout
        run = openocd(sim, "source [find target/mtb_cortex_m33.cfg]\ninit\nputs \"<[info commands chip.cpu.mtb]>\"")
        assert "<chip.cpu.mtb>" in run.stdout


# ── sessions ──────────────────────────────────────────────────────────────────────────

BASE = {"cortex-m0plus": "0xf0000000", "cortex-m33": "0xe0043000"}
BUFFER = {"cortex-m0plus": "0x20001800 0x800", "cortex-m33": "0x2000a000 0x800"}


def session(sim, target, script, elf=None):
    """The object is `m`; what a `say` prints is to be had by name."""
    run = openocd(sim, """%s
        proc say {name script} {
            set failed [catch {uplevel 1 $script} result]
            puts "SAY $name $failed\\n$result\\nEND"
        }
        mtb create m -target chip.cpu -baseaddr %s
        m configure -buffer %s -elf {%s}
        init
        %s""" % (SESSION, BASE[target], BUFFER[target], elf or program(target), script))
    said = re.findall(r"^SAY (\w+) (-?\d+)\n(.*?)\nEND$", run.stdout, re.M | re.S)
    return run, {name: (failed != "0", result) for name, failed, result in said}


def listed(text):
    """Addresses of the instructions in a listing."""
    return [int(address, 16) for address in re.findall(r"^0x([0-9a-f]+) ", text, re.M)]


def logged(path, after=None):
    """Addresses of the instructions in the simulator's log, behind the last halt at an address."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    if after is not None:
        last = max(i for i, line in enumerate(lines) if line[0] == "H" and int(line[1], 16) == after)
        lines = lines[last:]
    return [int(line[1], 16) for line in lines if line[0] == "I"]


def pc(sim):
    return sim.control("state", 0)["pc"]


@pytest.mark.parametrize("target", CORES)
def test_until(target):
    names = symbols(program(target))
    with probe.Probe(target, program(target)) as sim:
        log = os.path.join(sim.path, "log")
        _, said = session(sim, target, """
            reset halt
            sim log start {%s}
            say until { trace_session until m fibonacci -format instructions }
            sim log stop
            puts "STATE [chip.cpu curstate]"
            say breakpoints { capture bp }
            """ % log)
        failed, text = said["until"]
        got, ran = listed(text), logged(log)
        assert not failed and pc(sim) == names["fibonacci"]
        assert len(got) > 100 and got == ran[-len(got):]
        assert "%x" % names["fibonacci"] not in said["breakpoints"][1]


@pytest.mark.parametrize("function", ["one_round", "hanoi", "fibonacci", "machine"])
@pytest.mark.parametrize("target", CORES)
def test_around(target, function):
    """Exactly the instructions between the call and the return, also of a function that calls itself."""
    names = symbols(program(target))
    with probe.Probe(target, program(target)) as sim:
        log = os.path.join(sim.path, "log")
        _, said = session(sim, target, """
            sim log start {%s}
            say around { trace_session around m %s -format instructions }
            sim log stop
            """ % (log, function))
        failed, text = said["around"]
        assert not failed, text
        got, ran = listed(text), logged(log, names[function])
        assert got and got == ran[-len(got):]
        if len(ran) < 400:
            assert got == ran and got[0] == names[function]


@pytest.mark.parametrize("target", CORES)
def test_around_a_handler(target):
    """Until what was interrupted goes on."""
    elf = program(target, "isr")
    names = symbols(elf)
    handler = next(name for name in ("on_systick", "systick", "on_irq0") if name in names)
    with probe.Probe(target, elf) as sim:
        log = os.path.join(sim.path, "log")
        _, said = session(sim, target, """
            sim log start {%s}
            say around { trace_session around m %s -format instructions }
            sim log stop
            """ % (log, handler), elf)
        failed, text = said["around"]
        assert not failed, text
        got, ran = listed(text), logged(log, names[handler])
        assert got and got == ran[-len(got):]


@pytest.mark.parametrize("target", CORES)
def test_run_and_last(target):
    with probe.Probe(target, program(target)) as sim:
        log = os.path.join(sim.path, "log")
        _, said = session(sim, target, """
            halt
            proc inner {} {
                set count 1
                say run { trace_session run m { incr count; resume; after 5; halt } -format instructions }
                say count { set count }
            }
            sim log start {%s}
            inner
            sim log stop
            say last { trace_session last m 10 -format instructions }
            """ % log)
        assert not said["run"][0] and said["count"] == (False, "2")
        got, ran = listed(said["run"][1]), logged(log)
        assert len(got) > 100 and got == ran[-len(got):]
        assert listed(said["last"][1]) == ran[-10:]


def test_a_body_that_fails():
    """The trace is stopped, and kept."""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            halt
            say run { trace_session run m { resume; after 5; halt; error "no more" } }
            say last { trace_session last m 5 -format instructions }
            """)
        assert said["run"] == (True, "no more; m decode shows the trace until there")
        assert len(listed(said["last"][1])) == 5 and not sim.control("mtb")["master"] >> 31


@pytest.mark.parametrize("last, error", [
    ("return 5", None), ("return", None), ("break", None), ("continue", None),
    ("return -code error {no more}", "no more"),
    ("resume", "the script failed (see the log above)"), ("error {}", "the script failed (see the log above)"),
])
def test_how_a_body_ends(last, error):
    """By return, break or continue as by its last line. An error without a text, as of OpenOCD's commands, gets one."""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            halt
            say run { trace_session run m { resume; after 5; %s; error "not the end" } -format instructions -last 5 }
            """ % (last if last == "resume" else "halt; " + last))
        if error:
            assert said["run"] == (True, error + "; m decode shows the trace until there")
        else:
            assert not said["run"][0] and len(listed(said["run"][1])) == 5
        assert not sim.control("mtb")["master"] >> 31


def test_a_wait_that_fails():
    """Is no timeout. What wait_halt takes at most is no reason to fail."""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            halt
            say reached { trace_session until m machine -wait 2147483647 -format instructions -last 3 }
            sim fault swd-fault when transactions 2000
            say until { trace_session until m unexpected -wait 600000 }
            sim fault none
            """)
        assert not said["reached"][0] and len(listed(said["reached"][1])) == 3
        address = symbols(program("cortex-m33"))["unexpected"]
        assert said["until"] == (True, "trace_session: the core could not be polled while it ran to unexpected "
                                 "(0x%08x) (see the log above); m decode shows the trace until there" % address)


@pytest.mark.parametrize("state", ["running", "halted"])
def test_no_breakpoint_is_free(state):
    names = symbols(program("cortex-m33"))
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            halt
            for {set i 0} {$i < 8} {incr i} { bp [expr {0x%x + 2 * $i}] 2 hw }
            %s
            say until { trace_session until m machine }
            say around { trace_session around m 0x%x }
            say state { chip.cpu curstate }
            """ % (names["unexpected"], "resume" if state == "running" else "", names["machine"]))
        for kind, place in ("until", "machine (0x%08x)"), ("around", "0x%08x"):
            assert said[kind] == (True, "trace_session: no hardware breakpoint could be set at %s: OpenOCD's reason is in "
                                  "the log above; if none is free, rbp frees one" % (place % names["machine"]))
        assert said["state"][1] == state and not sim.control("mtb")["master"] >> 31


@pytest.mark.parametrize("command", ["trace_session", "trace_session last m 0", "trace_session until m machine -wait 0",
                                     "trace_session until m no_such_function", "trace_session run m { error oh }"])
def test_one_line_at_a_console(command):
    """Of an error no line says where it is in our file."""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            halt
            say caught { %s }
            say console { catch { %s } text; errorInfo $text }
            """ % (command, command))
        text = said["caught"][1]
        assert said["caught"][0] and text and "\n" not in text
        assert text in said["console"][1] and "session.tcl" not in said["console"][1]


@pytest.mark.parametrize("state", ["running", "halted"])
def test_a_place_that_is_not_reached(state):
    """One line; no breakpoint is left, and the core runs or is halted as before."""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            %s
            say until { trace_session until m unexpected -wait 100 }
            say around { trace_session around m unexpected -wait 100 }
            say breakpoints { capture bp }
            say state { chip.cpu curstate }
            """ % ("halt" if state == "halted" else ""))
        address = "0x%08x" % symbols(program("cortex-m33"))["unexpected"]
        place = "unexpected (%s)" % address
        assert said["until"] == (True, "trace_session: %s was not reached in 100 ms; m decode shows the trace until "
                                 "there" % place)
        assert said["around"] == (True, "trace_session: %s was not reached in 100 ms" % place)
        assert said["state"][1] == state and address not in said["breakpoints"][1]
        assert not sim.control("mtb")["master"] >> 31


def test_a_breakpoint_of_ones_own_stays():
    names = symbols(program("cortex-m33"))
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", """
            halt
            bp 0x%08x 2 hw
            say until { trace_session until m machine -last 3 -format instructions }
            say breakpoints { capture bp }
            bp 0x%08x 2 hw
            say other { trace_session until m sort }
            """ % (names["machine"], names["fibonacci"]))
        assert not said["until"][0] and "%08x" % names["machine"] in said["breakpoints"][1]
        assert said["other"][0] and re.fullmatch(r"trace_session: the core halted at 0x\w+, not at sort \(0x%08x\); m decode .*"
                                                 % names["sort"], said["other"][1])


@pytest.mark.parametrize("words, error", [
    ("", "trace_session: usage: trace_session run NAME BODY"), ("walk m x", "trace_session: usage: trace_session run"),
    ("last nothing 5", "trace_session: there is no trace object nothing; see mtb create"),
    ("last m 0", "trace_session: last takes a number of instructions, 1 or more"),
    ("until m main -wait soon", "trace_session: -wait is a number of milliseconds, 1 to 2147483647"),
    ("until m main -wait 99999999999", "trace_session: -wait is a number of milliseconds, 1 to 2147483647"),
    ("around m main -wait 2147483648", "trace_session: -wait is a number of milliseconds, 1 to 2147483647"),
    ("until m main -wait", "trace_session: -wait is a number of milliseconds, 1 to 2147483647"),
])
def test_wrong_use(words, error):
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", "say wrong { trace_session %s }" % words)
        assert said["wrong"][0] and said["wrong"][1].startswith(error)


def test_a_name_that_is_in_no_program():
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        _, said = session(sim, "cortex-m33", "say wrong { trace_session until m no_such_function }")
        assert said["wrong"][0] and "no_such_function" in said["wrong"][1] and "\n" not in said["wrong"][1]


def test_help():
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        run = openocd(sim, SESSION + """
            foreach words {{help trace_session} {help trace_session run} {usage trace_session until}} {
                puts "BEGIN [capture $words]END"
            }
            init""")
        shown = [re.sub(r"\s+", " ", text) for text in re.findall(r"^BEGIN (.*?)END$", run.stdout, re.M | re.S)]
        for part in ("run NAME BODY", "until NAME ADDR|SYM ?-wait MS?", "around NAME FUNCTION", "last NAME N"):
            assert "trace_session " + part in shown[0]
        assert "mode error" not in shown[0]
        assert shown[1].strip().startswith("trace_session run NAME BODY ?decode option ...? runs the Tcl script BODY")
        assert shown[2].strip() == "trace_session until NAME ADDR|SYM ?-wait MS? ?decode option ...?"


@pytest.mark.parametrize("target, base, buffer, aw", [("cortex-m33", 0xe0043000, 0x2000a000, 16),
                                                      ("cortex-m0plus", 0xf0000000, 0x20000400, 15)])
def test_mask_beyond_what_it_addresses(target, base, buffer, aw):
    """No buffer is larger than the RAM that the MTB decodes"""
    with probe.Probe(target, program(target)) as sim:
        run = openocd(sim, """
            init
            reset halt
            mtb create m -target chip.cpu -baseaddr 0x%x -buffer 0x%x 64
            m start
            foreach mask {2 9 %d %d 0x1c 0x1f} {
                mww 0x%x [expr {0x80000000 | $mask}]
                puts [lindex [regexp -inline {MASTER  .*; set by [^\n]*} [m regs]] 0]
            }
            m disable
            """ % (base, buffer, aw - 4, aw - 3, base + 4))
        sizes = re.findall(r"buffer of (.*) bytes(.*);", run.stdout)
        whole = ("all %d" % (1 << aw), " that it addresses")
        assert sizes == [("64", ""), ("8192", ""), (str(1 << aw), ""), whole, whole, whole], run.stdout


@pytest.mark.parametrize("target, base, buffer", [("cortex-m33", 0xe0043000, 0x2000a000),
                                                  ("cortex-m0plus", 0xf0000000, 0x20000400)])
def test_nothing_was_traced_yet(target, base, buffer):
    """Of a trace that just began that is no fault of anybody's"""
    with probe.Probe(target, program(target)) as sim:
        run = openocd(sim, """
            init
            reset halt
            mtb create m -target chip.cpu -baseaddr 0x%x -buffer 0x%x 64 -elf {%s}
            m start
            puts "FAILED [catch {m decode} said]: $said"
            """ % (base, buffer, program(target)))
        assert re.search(r"^FAILED -?\d+: m: nothing was traced: POSITION 0x%08x is at the start" % (
            buffer & 0x7fff if target == "cortex-m0plus" else buffer & 0xffff), run.stdout, re.M), run.text
        assert "another order" not in run.text and not re.search("Warn : (?!DEPRECATED|Did you)", run.text)


# ── examples ──────────────────────────────────────────────────────────────────────────
#
# An example is run where a comment says so: `@c runs on TARGET PROGRAM` before an @example of the manual, or an HTML
# comment `runs on TARGET PROGRAM` before an indented block of the README. Lines that begin with > are commands, the
# others what a telnet console prints: the log, then the result. Dots alone stand for any number of lines. Of a command
# with nothing behind it nothing is compared.

CLANG = "14"	# by which the programs of the examples were compiled


def manual_examples(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for what, body in re.findall(r"^@c runs on ([^\n]*)\n@(?:small)?example\n(.*?)^@end", text, re.M | re.S):
        body = re.sub(r"^@(end )?group\n", "", body, flags=re.M)
        yield what, re.sub(r"@([@{}])", r"\1", body).replace("@dots{}", "...")


def readme_examples(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for what, body in re.findall(r"^<!-- runs on (.*) -->\n\n((?:    .*\n|\n(?=    ))+)", text, re.M):
        yield what, re.sub(r"^    ", "", body, flags=re.M)


def examples():
    docs = os.path.join(probe.TOP, "src-overlay/doc")
    for path in sorted(glob.glob(os.path.join(docs, "*.texi"))):
        for number, (what, body) in enumerate(manual_examples(path), 1):
            yield pytest.param(what, body, id="%s-%d" % (os.path.basename(path), number))
    for number, (what, body) in enumerate(readme_examples(os.path.join(probe.TOP, "README.md")), 1):
        yield pytest.param(what, body, id="README-%d" % number)


def steps(body):
    """(command, lines) of an example; a command goes on as long as it is not complete or ends in a backslash."""
    found = []
    for line in body.splitlines():
        if line.startswith("> "):
            found.append([line[2:], []])
        elif found and (found[-1][0].endswith("\\") or found[-1][0].count("{") > found[-1][0].count("}")):
            found[-1][0] += "\n" + line
        else:
            found[-1][1].append(line.rstrip())
    return found


def test_there_are_examples():
    assert len(list(examples())) >= 4


def clang_version():
    text = subprocess.run(["clang", "--version"], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    return re.search(r"version (\d+)", text).group(1)


def block(file, line):
    """The example without outputs in which a line is @a line, of the manual."""
    with open(os.path.join(probe.TOP, "src-overlay/doc", file), encoding="utf-8") as text:
        blocks = re.findall(r"^@example\n(.*?)^@end example", text.read(), re.M | re.S)
    blocks = [re.sub(r"@([@{}])", r"\1", body) for body in blocks]
    found = [body for body in blocks if line in body.splitlines()]
    assert len(found) == 1, "%d examples with %s" % (len(found), line)
    return found[0]


def test_session_behind_the_chips_own_file():
    """The file that OpenOCD has for Kinetis, ours behind it, and the manual's session: all as it stands there."""
    with probe.Probe("cortex-m0plus", program("cortex-m0plus"), mtb_rambase="0x1ffff000") as sim:
        os.symlink(probe.program(program("cortex-m0plus")), os.path.join(sim.path, "fw.elf"))
        session = block("mtb_session.texi", "klx.cpu.mtb start")
        assert session.count("\n...\n") == 1 and session.endswith("klx.cpu.mtb decode\n")
        session = session.replace("\n...\n", "\nafter 5\n").replace("klx.cpu.mtb decode", "puts [klx.cpu.mtb decode]")
        run = openocd(sim, block("mtb_session.texi", "source [find target/mtb_kinetis_l.cfg]") + session,
                      config=["-c", "transport select swd"])
        assert sim.control("mtb")["packets"] > 0
        assert re.search(r"^Info : gaps +0$", run.text, re.M), run.text
        # 128 packets; a branch begins what is listed, and there is none without instructions
        assert int(re.search(r"^Info : flow +(\d+) instructions", run.text, re.M).group(1)) >= 128, run.text
        assert re.search(r"^begin +\S", run.stdout, re.M), run.text


def test_discover_in_a_script():
    """The manual's loop over the lines of coresight discover finds the buffer"""
    with probe.Probe("cortex-m0plus", program("cortex-m0plus")) as sim:
        loop = block("itrace.texi", 'foreach line [split [coresight discover kl25.dap] "\\n"] {')
        run = openocd(sim, "init\n" + loop.replace("kl25.dap", "chip.dap"))
        assert re.findall("^MTB at .*$", run.text, re.M) == ["MTB at 0xf0000000"], run.text


@pytest.mark.parametrize("what, body", list(examples()))
def test_example(what, body):
    if clang_version() != CLANG:
        pytest.skip("the examples were made with clang " + CLANG)
    target, name = what.split()
    script = ""
    for number, (command, _) in enumerate(steps(body)):
        script += """set result ""
            puts "BEGIN %d"
            puts -nonewline [capture {set result [%s]; expr {""}}]
            puts "$result\nEND %d"
            """ % (number, command, number)
    with probe.Probe(target, name) as sim:
        os.symlink(probe.program(name), os.path.join(sim.path, "fw.elf"))
        run = openocd(sim, script)
        for number, (command, expected) in enumerate(steps(body)):
            got = re.search(r"^BEGIN %d\n(.*?)\n*^END %d$" % (number, number), run.stdout, re.M | re.S).group(1)
            got = "\n".join(line.rstrip() for line in got.strip("\n").splitlines())
            wanted = "\n".join(expected).strip("\n")
            pattern = re.escape(wanted + "\n").replace(re.escape("...") + "\\\n", "(?:.*\n)*?")
            assert not wanted or re.fullmatch(pattern, got + "\n"), "%s\nprints\n%s\ninstead of\n%s" % (
                command, got, wanted)
