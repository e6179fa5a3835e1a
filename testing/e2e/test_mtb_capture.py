# SPDX-License-Identifier: GPL-2.0-or-later
"""Capturing with an `mtb` object: whatever the buffer, and however it gets full, what is decoded is what was executed.

check-group: mtb

The names B1 .. B16 are the wishes of users that testing/README.md lists.
"""

import json
import itertools
import os
import random
import re
import shlex
import subprocess

import pytest

import mtb_session as mtb
import probe
from mtb_session import BIG_FREE, BIG_RAM, CHIPS, LONG, SEED, Session

import cortexm_random	# pylint: disable=wrong-import-order; mtb_session knows where it is

pytestmark = pytest.mark.skipif(bool(mtb.need_tools()), reason="no " + ", ".join(mtb.need_tools()))

SIZES = [32, 64, 512, 1024, 4096, 8192]
TARGETS = list(CHIPS)
MODES = ["wrap", "stop", "halt", "drain"]


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def ms_for(size):
    """Time in which a buffer of this size wraps, at 4 MHz and a packet each 8 instructions or so."""
    return 4 + size // 1024 * 3


def big(target, size, **options):
    """Arguments for a Session with this much RAM to spare, and where that is."""
    if size <= 4096:
        return dict(options), CHIPS[target].free
    return dict(BIG_RAM[target], **options), BIG_FREE[target]


# ---- all of the ways to be full ----

@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", TARGETS)
def test_wrap(tmp_path, target, size):
    """Halted before and behind; some steps only; armed and stopped while the core runs. B7: no size is assumed"""
    options, buffer = big(target, size)
    with Session(tmp_path, target, **options) as session:
        run = session.run(session.create("-buffer %#x %d" % (buffer, size)) + """
record whole { m start; run_for %d; m stop }
listing whole
say whole [m status]
record steps { m start; step; step; step; m stop }
listing steps
record running { resume; after 5; m start; after %d; m stop; after 3; halt }
listing running
""" % (ms_for(size), ms_for(size)))
        run.same("whole", size // 8)
        fields = run.fields("whole")
        assert int(fields["buffer"], 0) == buffer and int(fields["size"], 0) == size
        # the core halts in between and that is no end of the trace
        assert run.same("steps", size // 8) >= 3
        lines = run.log("running")
        assert len(mtb.packets(lines)) > size // 8, "the buffer did not wrap"
        run.same("running", size // 8, halted=False)


@pytest.mark.parametrize("transport", ["swd", "jtag"])
@pytest.mark.parametrize("name, level", [("work", "O0"), ("faults", "O1"), ("isr", "Os"), ("work", "O2")])
@pytest.mark.parametrize("target", TARGETS)
def test_programs(tmp_path, target, transport, name, level):
    with Session(tmp_path, target, name, level=level, transport=transport) as session:
        run = session.run(session.create("-buffer %#x 2048" % session.chip.free) + """
record begin { m start; run_for 3; m stop }
listing begin
record later { run_for 20; m start; run_for 6; m stop }
listing later
""")
        run.same("begin", 256)
        run.same("later", 256)


@pytest.mark.parametrize("size", [32, 64, 1024, 4096])
@pytest.mark.parametrize("target", TARGETS)
def test_stop_when_full(tmp_path, target, size):
    """B11: the trace stands, the core runs on"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x %d -when-full stop" % (session.chip.free, size)) + """
record one { m start; resume; after %d; say state [chip.cpu curstate]; say full [m status]; m stop; after 3; halt }
listing one
say after [m status]
record two { m start; run_for %d; m stop }
listing two
""" % (ms_for(size), ms_for(size)))
        assert run.said["state"] == "running"
        for name in ("one", "two"):
            count = len(mtb.packets(run.log(name)))
            assert max(size // 8 - 4, size // 16) <= count < size // 8, "%d of %d packets" % (count, size // 8)
            run.same(name, size // 8, halted=False)
        assert run.fields("full")["enabled"] == "0"


@pytest.mark.parametrize("skid", [0, 3])
@pytest.mark.parametrize("size", [32, 64, 1024, 4096])
@pytest.mark.parametrize("target", TARGETS)
def test_halt_when_full(tmp_path, target, size, skid):
    """B11: the core halts; once more after a stop, and it goes on where the user asks for that"""
    with Session(tmp_path, target, mtb_halt_skid=skid if size > 32 else 0) as session:
        run = session.run(session.create("-buffer %#x %d -when-full halt" % (session.chip.free, size)) + """
foreach name {one two} {
	record $name { m start; resume; wait_halt 2000; m stop }
	listing $name
}
set before [dict get [sim counters] retired]
resume
after 5
say state [chip.cpu curstate]
halt
say ran [expr {[dict get [sim counters] retired] - $before}]
record on { m start; resume; wait_halt 2000; resume; after 10; halt; m stop }
listing on
""")
        for name in ("one", "two"):
            assert "H" in {words[0] for words in run.log(name)}
            count = len(mtb.packets(run.log(name)))
            assert size // 16 <= count <= size // 8, "%d of %d packets" % (count, size // 8)
            run.same(name, size // 8)
        assert run.said["state"] == "running" and int(run.said["ran"]) > 5000
        # on until it is full again
        lines = run.log("on")
        assert len(mtb.packets(lines[[words[0] for words in lines].index("H"):])) >= size // 16
        run.same("on", size // 8)


# ---- where the buffer is ----

@pytest.mark.parametrize("target", TARGETS)
def test_buffer_by_symbol(tmp_path, target):
    """B9: the program reserves it"""
    with Session(tmp_path, target, "work") as session:
        run = session.run(session.create() + """
record one { m start; run_for 10; m stop }
listing one
say status [m status]
""")
        fields = run.fields("status")
        assert int(fields["buffer"], 0) == mtb.symbols(session.elf)["__mtb_buffer__"]
        assert int(fields["size"], 0) == 1024
        run.same("one", 128)


def used(elf, target):
    """Ranges of RAM that a program has: sections, and the stack (which ends below a symbol)."""
    names = mtb.symbols(elf)
    return [(names["__bss_start"], names["__bss_end"]), (names["__stack"] - 0x100, names["__stack"])]


@pytest.mark.parametrize("target", TARGETS)
def test_buffer_in_a_free_corner(tmp_path, target):
    """No symbol, no option: RAM that the program does not use, nor OpenOCD"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-ramsize %#x" % session.chip.ram_len) + """
record one { m start; run_for 10; m stop }
listing one
say status [m status]
""")
        fields = run.fields("status")
        begin, size = int(fields["buffer"], 0), int(fields["size"], 0)
        assert size & (size - 1) == 0 and begin % size == 0 and size >= 1024
        assert session.chip.ram <= begin and begin + size <= session.chip.ram + session.chip.ram_len
        area, area_len = probe.CORTEXM[target][1]
        for low, high in used(session.elf, target) + [(area, area + area_len)]:
            assert begin + size <= low or high <= begin, "%#x..%#x is in use" % (low, high)
        run.same("one", size // 8)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("options", ["", "-buffer 0x40403000 32", "-buffer 0x40403000 16"])
def test_memory_of_its_own(tmp_path, target, options):
    """B7: 32 bytes in all"""
    with Session(tmp_path, target, mtb_ram="0x40403000/0x1000", mtb_aw=5) as session:
        size = int(options.split()[-1]) if options else 32
        run = session.run(session.create(options) + """
record one { m start; run_for 5; m stop }
listing one
say status [m status]
""")
        fields = run.fields("status")
        assert int(fields["buffer"], 0) == 0x40403000 and int(fields["size"], 0) == size
        run.same("one", size // 8)


@pytest.mark.parametrize("target", TARGETS)
def test_base_reads_zero(tmp_path, target):
    """B5, B6: never a read at 0; what is given wins"""
    with Session(tmp_path, target, mtb_rambase_zero=True) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + """
set before [sim mtb]
sim mark
try start { m start }
say same [expr {$before eq [sim mtb]}]
say reads [dict get [sim counters] reads_at_0]
m configure -rambase %#x
record one { m start; run_for 5; m stop }
listing one
say reads_behind [dict get [sim counters] reads_at_0]
word 0
say one [dict get [sim counters] reads_at_0]
""" % session.chip.ram)
        run.refusal("start", "-rambase", "BASE")
        assert run.said["same"] == "1"
        run.same("one", 64)
        assert (run.said["reads"], run.said["reads_behind"], run.said["one"]) == ("0", "0", "1")


@pytest.mark.parametrize("target", TARGETS)
def test_base_is_wrong(tmp_path, target):
    """B5: what is given wins over what the part says of itself"""
    with Session(tmp_path, target, mtb_base_reads="0x30000000") as session:
        run = session.run(session.create("-rambase %#x -buffer %#x 512" % (session.chip.ram, session.chip.free)) + """
say base [dict get [sim mtb] base]
record one { m start; run_for 5; m stop }
listing one
""")
        assert int(run.said["base"], 0) == 0x30000000
        run.same("one", 64)


# ---- what is refused ----

def refused(session, options, *parts, elf=True, script="m start", init=True):
    """@a script fails in one line with all of these @a parts, and neither core nor trace buffer are other than before."""
    text = "set mtb [sim mtb]\nset core [sim state 0]\n" if init else ""
    # OpenOCD polls nothing: the core stands
    text += "try it {\n%s%s\n}\n" % (session.create(options, elf=elf), script)
    text += "say mtb [expr {$mtb eq [sim mtb]}]\nsay core [expr {$core eq [sim state 0]}]\n" if init else ""
    run = session.run(text, init=init)
    said = run.refusal("it", *parts)
    if init:
        assert run.said["mtb"] == "1", "registers of the MTB changed"
        assert run.said["core"] == "1", "the core changed"
    return said


WRONG_BUFFERS = [
    # what is added to where the chip has free memory, size, in the message
    (0x40, 1024, "align"),
    (0, 1000, "power of two|power of 2"),
    (0, 8, "16"),
    (0, 0x20000, "MTB|RAM|AW|2000|larg"),
]


@pytest.mark.parametrize("offset, size, part", WRONG_BUFFERS)
@pytest.mark.parametrize("target", TARGETS)
def test_wrong_buffer(tmp_path, target, offset, size, part):
    """B12"""
    with Session(tmp_path, target) as session:
        refused(session, "-buffer %#x %d" % (session.chip.free + offset, size), part)


@pytest.mark.parametrize("target, buffer, size, part", [
    ("cortex-m0plus", 0x30000000, 1024, "0x30000000"),
    ("cortex-m0plus", 0x20000000, 1024, r"\.bss|result|checksum|ticks|counts"),
    ("cortex-m0plus", 0x20000000, 4096, r"\.bss|result|checksum|ticks|counts"),
    ("cortex-m0plus", 0x20002c00, 1024, "stack"),
    ("cortex-m0plus", 0x20002000, 512, "work"),
    ("cortex-m33", 0x20010000, 1024, "0x20010000"),
    ("cortex-m33", 0x20000000, 512, r"\.bss|result|checksum|ticks|counts"),
    ("cortex-m33", 0x20007800, 2048, "stack"),
    ("cortex-m33", 0x2000c000, 1024, "work"),
])
def test_buffer_that_is_in_use(tmp_path, target, buffer, size, part):
    """B9, B14: before arming"""
    with Session(tmp_path, target) as session:
        refused(session, "-buffer %#x %d" % (buffer, size), part)


@pytest.mark.parametrize("target", TARGETS)
def test_initialised_data_are_in_use(tmp_path, target):
    source, elf = tmp_path / "data.c", tmp_path / "data.elf"
    source.write_text("int table[64] = { 1, 2, 3 };\nint _start(void) { return table[0]; }\n")
    free = CHIPS[target].free
    subprocess.run(["clang", "--target=" + cortexm_random.TARGETS[CHIPS[target].core], "-nostdlib", "-ffreestanding",
                    "-fuse-ld=lld", "-Wl,--image-base=0,-Ttext=0x100,-Tdata=%#x" % (free + 0x200), "-o", str(elf), str(source)],
                   check=True)
    with Session(tmp_path, target) as session:
        good = "m configure -elf {%s}\n" % elf
        refused(session, "-buffer %#x 1024" % free, r"\.data|table", elf=False, script=good + "m start")
        run = session.run(session.create("-buffer %#x 512" % free, elf=False) + good + "m start; say state [m status]; m disable")
        assert run.fields("state")["enabled"] == "1"


@pytest.mark.parametrize("options, parts, base", [
    ({"mtb_absent": True}, ["0xf0000[0f]"], ""),
    ({}, ["0xa0000[0f]"], "-baseaddr 0xa0000000"),
    ({}, ["0x20001000", "MTB"], "-baseaddr 0x20001000"),
    ({}, ["0xf0001000", "MTB"], "-baseaddr 0xf0001000"),
    ({}, ["0xe000e000", "MTB"], "-baseaddr 0xe000e000"),
    ({}, ["0xf0000004|align"], "-baseaddr 0xf0000004"),
    ({"mtb_base": "0x41006000"}, ["0xf0000[0f]"], ""),
])
def test_no_such_mtb_m0plus(tmp_path, options, parts, base):
    with Session(tmp_path, "cortex-m0plus", **options) as session:
        refused(session, "-buffer %#x 512 %s" % (session.chip.free, base), *parts)


@pytest.mark.parametrize("options, parts, base", [
    ({"mtb_absent": True}, ["-baseaddr|no MTB|0xe00ff01c"], ""),
    ({"mtb_absent": True}, ["0xe0043000"], "-baseaddr 0xe0043000"),
    ({}, ["0x20001000", "MTB"], "-baseaddr 0x20001000"),
    ({}, ["0xe0001000", "MTB"], "-baseaddr 0xe0001000"),
])
def test_no_such_mtb_m33(tmp_path, options, parts, base):
    with Session(tmp_path, "cortex-m33", **options) as session:
        refused(session, "-buffer %#x 512 %s" % (session.chip.free, base), *parts)


def test_no_base_given_m0plus(tmp_path):
    """Nothing is guessed where there is no place that all parts have"""
    with Session(tmp_path, "cortex-m0plus") as session:
        run = session.run("mtb create m -target chip.cpu -buffer 0x1ffff000 512\nset before [sim mtb]\ntry it { m start }\n"
                          "say same [expr {$before eq [sim mtb]}]")
        run.refusal("it", "-baseaddr")
        assert run.said["same"] == "1"


def test_mtb_at_another_place(tmp_path):
    """B5: -baseaddr wins; without it an Armv8-M core's ROM table leads there"""
    for target, place, given in (("cortex-m0plus", "0x41006000", True), ("cortex-m33", "0xe0044000", True),
                                 ("cortex-m33", "0xe0044000", False)):
        with Session(tmp_path, target, mtb_base=place) as session:
            base = "-baseaddr %s " % place if given else ""
            run = session.run(session.create(base + "-buffer %#x 512" % session.chip.free) + """
record one { m start; run_for 5; m stop }
listing one
""")
            run.same("one", 64)


WRONG_USE = [
    ("mtb create", "NAME|name|usage"),
    ("mtb create m", "-target"),
    ("mtb create m -target", "-target"),
    ("mtb create m -target nosuch", "nosuch"),
    ("mtb create chip.cpu -target chip.cpu", "chip.cpu"),
    ("mtb create puts -target chip.cpu", "puts"),
    ("mtb create mtb -target chip.cpu", "mtb"),
    ("mtb create m -target chip.cpu -nosuch 1", "-nosuch"),
    ("mtb create m -target chip.cpu -baseaddr x", "-baseaddr|x"),
    ("mtb create m -target chip.cpu -buffer 0x20000000", "-buffer"),
    ("mtb create m -target chip.cpu -buffer 0x20000000 big", "-buffer|big"),
    ("mtb create m -target chip.cpu -rambase", "-rambase"),
    ("mtb create m -target chip.cpu -ramsize many", "-ramsize|many"),
    ("mtb create m -target chip.cpu; mtb create m -target chip.cpu", "m"),
    ("mtb create m -target chip.cpu; m configure -when-full never", "-when-full|never"),
    ("mtb create m -target chip.cpu; m configure -when-full", "-when-full"),
    ("mtb create m -target chip.cpu; m configure -nosuch 1", "-nosuch"),
    ("mtb create m -target chip.cpu; m configure -event nosuch {}", "nosuch"),
    ("mtb create m -target chip.cpu; m cget -nosuch", "-nosuch"),
    ("mtb create m -target chip.cpu; m configure -elf /no/such/file; m start", "/no/such/file"),
    ("mtb create m -target chip.cpu; m nosuch", "nosuch|command|usage"),
    ("mtb create m -target chip.cpu; m stop", "start"),
    ("mtb create m -target chip.cpu; m flush", "start"),
    ("mtb create m -target chip.cpu; m decode", "capture|start"),
    ("mtb create m -target chip.cpu; m dump DIR/none", "capture|start"),
    ("mtb create m -target chip.cpu; m dump", "dump|FILE|usage"),
    ("mtb decode nosuch", "nosuch"),
    ("mtb nosuch", "nosuch|command"),
]


@pytest.mark.parametrize("init", [True, False])
def test_wrong_use(tmp_path, init):
    """One line each, before and after init; the hardware is not touched"""
    lines = []
    for n, (command, _) in enumerate(WRONG_USE):
        # an object of a name that is free
        lines.append("try c%d { %s }" % (n, re.sub(r"\bm\b", "m%d" % n, command).replace("DIR", str(tmp_path))))
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run("\n".join(lines) + ("" if init else "\ninit"), init=init)
        for n, (command, part) in enumerate(WRONG_USE):
            good, text = run.tried("c%d" % n)
            name = re.sub(r"\bm\b", "m%d" % n, command.split("; ")[-1]).split(" nosuch")[0]
            if not good and (not text or text.startswith(("  ", name + "\n"))):
                # OpenOCD itself prints which words a command takes, or that it comes too early; later ones return it
                assert re.search(r"^ *%s\b|'%s' command must be used after 'init'" % (name, name), run.text + "\n" + text, re.M), command
            else:
                run.refusal("c%d" % n, part)
        assert not os.path.exists(tmp_path / "none")


def test_before_init(tmp_path):
    """Options are taken; what needs hardware waits for it"""
    with Session(tmp_path, "cortex-m0plus") as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + """
try early { m start }
say status [m status]
init
poll off
reset halt
record one { m start; run_for 5; m stop }
listing one
""", init=False)
        good, text = run.tried("early")
        assert not good and "init" in text + " ".join(re.findall("^Error.*m start.*$", run.text, re.M))
        run.same("one", 64)


def test_target_that_is_not_examined(tmp_path):
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run("chip.cpu configure -defer-examine\n" + session.create("-buffer 0x2000a000 512") + """
init
poll off
try it { m start }
chip.cpu arp_examine
halt
record one { m start; run_for 5; m stop }
listing one
""", init=False)
        run.refusal("it", "examine")
        run.same("one", 64)


def test_symbol_that_is_not_there(tmp_path):
    with Session(tmp_path, "cortex-m33") as session:
        refused(session, "-buffer 0x2000a000 512", "nosuch", script="m configure -start nosuch; m start")
        refused(session, "-buffer 0x2000a000 512", "elf|nosuch", elf=False, script="m configure -stop nosuch; m start")


@pytest.mark.parametrize("how", ["start", "adopt"])
def test_two_objects_of_one_core(tmp_path, how):
    """The second is refused, and the first goes on"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer 0x2000a000 512") + session.create("-buffer 0x2000c000 512", name="n") + """
record one {
	m start
	try second { n %s }
	resume
	after 20
	halt
	m stop
}
listing one
""" % how)
        run.refusal("second", "m traces chip.cpu already", "m stop first")
        run.same("one", 64)


@pytest.mark.parametrize("target", TARGETS)
def test_started_twice(tmp_path, target):
    """The second is refused, and what the first has is still there"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free) + """
record one {
	m start
	run_for 5
	set before [sim mtb]
	try again { m start }
	say same [expr {$before eq [sim mtb]}]
	m stop
}
try stopped { m stop }
listing one
""")
        run.refusal("again", "start")
        assert run.said["same"] == "1"
        run.same("one", 64)


# ---- what must not change ----

@pytest.mark.parametrize("target, transport, mode", mtb.cover(2, TARGETS, ["swd", "jtag"], MODES))
def test_nothing_else_changes(tmp_path, target, transport, mode):
    """Every register of the core and all RAM outside of the buffer; and the MTB is as found behind `disable`"""
    with Session(tmp_path, target, transport=transport) as session:
        buffer, size = session.chip.free, 1024
        run = session.run("""
proc all {name} {
	say $name [sim state 0]
	dump_image DIR/$name.ram RAM LEN
}
CREATE
resume; after 20; halt
say found [sim mtb]
all before
m start
all armed
run_for 10
if {[chip.cpu curstate] ne "halted"} { halt }
all full
m stop
all stopped
m disable
all disabled
say left [sim mtb]
m configure -when-full wrap
record running { resume; after 3; m start; after 5; m stop; after 3; halt; m disable }
""".replace("DIR", str(tmp_path)).replace("RAM", hex(session.chip.ram)).replace("LEN", hex(session.chip.ram_len))
                          .replace("CREATE", session.create("-buffer %#x %d -when-full %s" % (buffer, size, mode))))
        ram = {}
        for name in ("before", "armed", "full", "stopped", "disabled"):
            data = (tmp_path / (name + ".ram")).read_bytes()
            at = buffer - session.chip.ram
            ram[name] = data[:at] + data[at + size:]
            assert len(data) == session.chip.ram_len
        assert ram["before"] == ram["armed"] and run.said["before"] == run.said["armed"]
        assert ram["full"] == ram["stopped"] == ram["disabled"]
        assert run.said["full"] == run.said["stopped"] == run.said["disabled"]
        # it ran, though a short run need not change RAM
        assert (ram["armed"], run.said["armed"]) != (ram["full"], run.said["full"])
        found, left = ({key: fields[key] for key in ("position", "master", "flow", "base")}
                       for fields in (run.fields("found"), run.fields("left")))
        assert found == left
        kinds = {words[0] for words in run.log("running")}
        assert "D" not in kinds
        assert [words[0] for words in run.log("running")].count("H") == 1, "the core was halted to arm or to read"


@pytest.mark.parametrize("target, mode, running, transport", mtb.cover(3, TARGETS, MODES, [False, True], ["swd", "jtag"]))
def test_exchanges(tmp_path, target, mode, running, transport):
    """Arming and reading 4 KB: at most 6 beside the bytes themselves, once it is known what is there.

    By JTAG each access is two: OpenOCD's driver of the port asks for its errors by an exchange of its own. Later versions
    take four for some.
    """
    most = 6 if transport == "swd" else 24 if os.environ.get("BASES_RUN") else 12
    with Session(tmp_path, target, transport=transport) as session:
        buffer = session.chip.free
        run = session.run("chip.cpu configure -event halted {}\npoll off\n"
                          + session.create("-buffer %#x 4096 -when-full %s" % (buffer, mode)) + """
proc cost {name command} {
	sim mark
	uplevel 1 $command
	say $name [dict get [sim counters] exchanges]
}
proc go {} { if {[chip.cpu curstate] eq "halted"} { resume } }
proc stand {} { poll; if {[chip.cpu curstate] ne "halted"} { halt } }
set running RUNNING
m start
resume
after 30
stand
m stop
m disable
foreach {round wait} {1 30 2 WAIT} {
	if {$running} { go }
	record one$round {
		cost start$round { m start }
		go
		after $wait
		if {!$running} { stand }
		cost stop$round { m stop }
	}
	stand
	listing one$round
	regexp {POSITION (0x\\S+)} [m regs] all at
	set words [expr {$at & 4 ? 1024 : ($at & 0xff8) / 4}]
	say words$round $words
	# it also leaves the access port as it is left before stop reads those words
	m disable
	cost bytes$round { read_memory BUFFER 32 $words }
}
""".replace("BUFFER", hex(buffer)).replace("RUNNING", str(int(running)))
                          # not full: the core runs when it is stopped
                          .replace("WAIT", "1" if mode == "drain" else "30"))
        for n in ("1", "2"):
            start, stop, data = (int(run.said[name + n]) for name in ("start", "stop", "bytes"))
            print("%s, %s, %s, %s: %d to arm, %d to read, of these %d for %s words" % (
                target, transport, mode, "running" if running else "halted", start, stop, data, run.said["words" + n]))
            assert start + stop - data <= most, "%d to arm, %d to read, of these %d for the bytes" % (start, stop, data)
            if mode == "drain" and running:
                # to where the core stood while it was read, from where it went on untraced
                got = run.listing("one" + n)
                log = run.log("one" + n)
                assert len(got) >= len(mtb.window(log, halted=False, armed=False))
                assert got == mtb.window(log, armed=False)[:len(got)]
            else:
                run.same("one" + n, None if mode == "drain" else 512, halted=mode != "stop" and not running,
                         armed=not running)


@pytest.mark.parametrize("target", TARGETS)
def test_exchanges_of_a_filling(tmp_path, target):
    """While the core stands to be drained: 4 beside the bytes, the one that sees that it stands among them."""
    with Session(tmp_path, target) as session:
        run = session.run("poll off\n" + session.create("-buffer %#x 1024 -when-full drain" % session.chip.free) + """
proc cost {name command} {
	sim mark
	uplevel 1 $command
	say $name [dict get [sim counters] exchanges]
}
m start
m disable
cost bytes { read_memory BUFFER 32 [expr {(1024 - 4 * 8) / 4}] }
record one {
	m start
	resume
	after 30
	cost filling poll
	say state "[chip.cpu curstate] [dict get [m status] fillings]"
	after 1
	halt
	m stop
}
listing one
""".replace("BUFFER", hex(session.chip.free)))
        assert run.said["state"] == "running 1"
        filling, data = int(run.said["filling"]), int(run.said["bytes"])
        print("%s: %d for a filling of 1024 bytes, of these %d for the bytes" % (target, filling, data))
        assert filling - data <= 4
        run.same("one")


@pytest.mark.parametrize("target", TARGETS)
def test_memory_as_program(tmp_path, target):
    """-memory reads the code out of the target; and shows where a file differs from it"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 512" % session.chip.free, elf=False) + """
record one { m start; run_for 5; m stop }
listing one -memory
say ledger [m ledger]
m configure -elf {ELF}
listing two
""".replace("ELF", str(session.elf)))
        run.same("one", 64)
        run.same("one", 64, listing="two")
        assert "code {target\\ memory " in run.said["ledger"], run.said["ledger"]


WHO = {
    "idle": ("reset or the program",) * 5,
    "armed": ("start", "start", "start", "start", "reset or the program"),
    # EN is set when the address is reached
    "ran": ("the hardware", "the hardware", "start", "start", "reset or the program"),
    "stopped": ("the hardware", "stop", "stop", "reset or the program", "reset or the program"),
    "adopted": ("the program", "the program", "the program", "reset or the program", "reset or the program"),
}


def test_who_set_registers(tmp_path):
    """A line for each register, with its value and who set it"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 4096 -start %#x" % (
            session.chip.free, mtb.symbols(session.elf)["main"])) + """
proc who {name} { say $name [m regs] }
who idle
m start
who armed
run_for 20
who ran
m stop
who stopped
m disable
m configure -start {}
mww 0xe0043000 0
mww 0xe0043004 0x80000004
m adopt
who adopted
""")
        for name, expected in WHO.items():
            lines = run.said[name].splitlines()
            assert [line.split()[0] for line in lines] == ["POSITION", "MASTER", "FLOW", "BASE", "TSTART", "TSTOP"], lines
            who = [re.search(r"0x[0-9a-f]{8}  .*; set by (.*)$", line).group(1) for line in lines]
            assert who.pop(3) == "the part"
            assert tuple(who) == expected, (name, who)


# ---- flush, adopt, reset ----

def pieces(lines):
    """The log cut where tracing was switched on again: lists of lines, each from a packet with a start bit on."""
    starts = [n for n in mtb.packets(lines) if int(lines[n][3], 16) & 1]
    # what leads to the first packet belongs to its piece
    cuts = [0]
    for n in starts[1:]:
        source = int(lines[n][2], 16)
        while not source & 1 and not (lines[n][0] == "I" and int(lines[n][1], 16) == source):
            n -= 1
        cuts.append(n)
    return [lines[begin:end] for begin, end in zip(cuts, cuts[1:] + [len(lines)])]


@pytest.mark.parametrize("target", TARGETS)
def test_flush_of_a_running_core(tmp_path, target):
    """What is there now; tracing goes on"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 1024" % session.chip.free) + """
record all {
	m start
	resume
	after 5
	m flush
	say state [chip.cpu curstate]
	say status [m status]
	after 10
	halt
	m stop
}
listing last
""")
        assert run.said["state"] == "running" and run.fields("status")["enabled"] == "1"
        parts = pieces(run.log("all"))
        assert len(parts) == 2
        expected = mtb.window(parts[1], 128, armed=False)
        wrong = mtb.differ(run.listing("last")[-len(expected):], expected)
        assert not wrong, wrong


@pytest.mark.parametrize("target", TARGETS)
def test_decode_of_a_running_core(tmp_path, target):
    """B13: direct from the target"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 1024" % session.chip.free) + """
record all {
	m start
	resume
	after 5
	listing one
	say state [chip.cpu curstate]
	after 5
	listing two
	after 5
	halt
	listing three
}
""")
        assert run.said["state"] == "running"
        parts = pieces(run.log("all"))
        assert len(parts) == 3
        for name, part, halted in zip(("one", "two", "three"), parts, (False, False, True)):
            expected = mtb.window(part, 128, halted=halted, armed=name == "one")
            wrong = mtb.differ(run.listing(name)[-len(expected):], expected)
            assert not wrong, name + ": " + wrong


FIRMWARE = """
proc firmware {buffer mask} {
	mww [expr {MTB + 8}] 0
	mww MTB [expr {$buffer & AWMASK}]
	mww [expr {MTB + 4}] [expr {0x80000000 | $mask}]
}
"""


def firmware(session):
    return FIRMWARE.replace("AWMASK", hex((1 << session.chip.aw) - 1)).replace("MTB", hex(session.chip.mtb))


ADOPT = """
record one {
	firmware %#x 5
	resume
	after 10
	%s
	set before [sim mtb]
	try adopt { m adopt }
	foreach {key value} [sim mtb] {
		if {$key ne "position" && $key ne "packets" && $value != [dict get $before $key]} { say changed $key }
	}
	say state [chip.cpu curstate]
	if {![dict get [m status] captured]} { halt; m adopt }
	listing one
	say status [m status]
}
say enabled [expr {[dict get [sim mtb] master] >> 31 & 1}]
"""


@pytest.mark.parametrize("target", TARGETS)
def test_adopt(tmp_path, target):
    """What the program has armed itself is read and stays as it is"""
    with Session(tmp_path, target) as session:
        run = session.run(firmware(session) + session.create() + ADOPT % (session.chip.free, "halt"))
        assert run.said["adopt"].startswith("0 ") and run.said["enabled"] == "1" and "changed" not in run.said
        assert run.said["state"] == "halted"
        fields = run.fields("status")
        assert int(fields["buffer"], 0) == session.chip.free and int(fields["size"], 0) == 512
        run.same("one", 64, armed=False)


@pytest.mark.parametrize("options", ["", "-buffer %#x 512"])
@pytest.mark.parametrize("target", TARGETS)
def test_adopt_while_it_runs(tmp_path, target, options):
    """It may be refused; what is captured was executed, without a hole, and trace is still on"""
    with Session(tmp_path, target) as session:
        options = options and options % session.chip.free
        run = session.run(firmware(session) + session.create(options) + ADOPT % (session.chip.free, ""))
        if not run.tried("adopt")[0]:
            run.refusal("adopt", "halt")
        assert run.said["enabled"] == "1" and "changed" not in run.said and run.said["state"] == "running"
        got = run.listing("one")
        assert len(got) > 50
        assert " %s " % " ".join(map(str, got)) in " %s " % " ".join(map(str, mtb.cortexm_log.instructions(run.log("one"))))


def test_adopt_of_nothing(tmp_path):
    """As the registers are after power-on: they stay so, and trace is not said to be on"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create() + """
set before [sim mtb]
try it { m adopt }
say same [expr {$before eq [sim mtb]}]
say status [m status]
m disable
mww 0xe0043000 0
set before [sim mtb]
try empty { m adopt }
say empty_same [expr {$before eq [sim mtb]}]
say empty_status [m status]
""")
        good, text = run.tried("it")
        assert good or "\n" not in text.strip(), text
        assert run.said["same"] == "1" and run.fields("status")["enabled"] == "0"
        # and where they say that there is nothing, that is said
        run.refusal("empty", "nothing is armed", "POSITION 0x00000000 is at the start")
        assert run.said["empty_same"] == "1" and run.fields("empty_status")["state"] == "idle"


@pytest.mark.parametrize("target, mode", mtb.cover(2, TARGETS, MODES))
def test_adopt_of_what_stop_left(tmp_path, target, mode):
    """It is in the capture already, which stays; what the program arms since is taken"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 256 -when-full %s" % (session.chip.free, mode)) + mtb.DRAIN + """
poll on
record one { m start; resume; sleep 50; halt; m stop }
poll off
set before [list [sim mtb] [m status]]
try adopt { m adopt }
say same [expr {$before eq [list [sim mtb] [m status]]}]
listing one
mww [expr {BASE + 4}] [expr {[word [expr {BASE + 4}]] | 0x80000000}]
try program { m adopt }
say adopted [field adopted]
m disable
""".replace("BASE", hex(session.chip.mtb)))
        run.refusal("adopt", "nothing was armed since m stop" if mode != "drain" else "nothing (is|was) armed")
        assert run.said["same"] == "1"
        run.same("one", 32 if mode != "drain" else None, halted=mode != "stop")
        assert run.tried("program")[0] and run.said["adopted"] == "1", run.text


def test_adopt_of_what_a_disable_put_back(tmp_path):
    """Registers are those of the first trace then, and RAM is of the second, which is the capture"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer %#x 256" % session.chip.free) + """
m start; run_for 1; m stop
record two { m start; run_for 1; m stop }
m disable
try adopt { m adopt }
listing two
""")
        run.refusal("adopt", "nothing was armed since m stop")
        run.same("two", 32)


def test_adopt_of_what_waits_for_its_start(tmp_path):
    """EN is 0 until a comparator sets it"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create() + """
mww 0xe0043000 %#x
mww 0xe0043004 0x00000025
try it { m adopt }
say status [m status]
try stop { m stop }
say master [dict get [sim mtb] master]
""" % (session.chip.free & 0xffff))
        assert run.tried("it")[0] and run.fields("status")["adopted"] == "1", run.text
        assert run.tried("stop")[0] and not int(run.said["master"], 0) & 0x80000020, run.text


@pytest.mark.parametrize("how", ["halt", "init", "run"])
@pytest.mark.parametrize("target", TARGETS)
def test_target_reset(tmp_path, target, how):
    """It traces again behind it, from the first instruction when that is known"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 1024" % session.chip.free) + """
record one {
	m start
	run_for 5
	reset %s
	say status [m status]
	%s
	after 5
	halt
	m stop
}
listing one
""" % (how, "poll; poll" if how == "run" else "resume"))
        assert run.fields("status")["enabled"] == "1"
        lines = run.log("one")
        behind = lines[[words[0] for words in lines].index("Z") + 1:]
        expected = mtb.window(behind, 128, armed=how != "run")
        wrong = mtb.differ(run.listing("one"), expected)
        assert not wrong, wrong


@pytest.mark.parametrize("target", TARGETS)
def test_history_before_a_reset(tmp_path, target):
    """The reset does not lose what led to it"""
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x 1024" % session.chip.free) + """
record one {
	m start
	run_for 5
}
reset halt
listing one
m disable
""")
        run.same("one", 128)


# ---- dump ----

@pytest.mark.parametrize("size", [64, 1024])
@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("target", TARGETS)
def test_dump(tmp_path, target, size, wrapped):
    """B3: the file and the options that the dump names, or the snapshot, give the same in either program"""
    run_on = "run_for %d" % ms_for(size) if wrapped else "for {set n 0} {$n < 10 * %d} {incr n} {step}" % (size // 64)
    with Session(tmp_path, target) as session:
        run = session.run(session.create("-buffer %#x %d" % (session.chip.free, size)) + """
record one { m start; RUN; m stop }
listing one
set options [m dump DIR/raw]
say options $options
file mkdir DIR/snapshot
m dump DIR/snapshot
mtb decode -trace DIR/raw {*}$options -elf ELF -format instructions -o DIR/two.list
mtb decode -snapshot DIR/snapshot -elf ELF -format instructions -o DIR/three.list
mtb decode m -format instructions -o DIR/four.list
m decode -format json -o DIR/one.json
mtb decode -trace DIR/raw {*}$options -elf ELF -format json -o DIR/two.json
""".replace("DIR", str(tmp_path)).replace("ELF", str(session.elf)).replace("RUN", run_on))
        run.same("one", size // 8)
        assert os.path.getsize(tmp_path / "raw") == (size if wrapped else 8 * len(mtb.packets(run.log("one")))) > 0
        for name in ("two", "three", "four"):
            assert run.listing(name) == run.listing("one"), name
        objects = [[json.loads(line) for line in (tmp_path / (name + ".json")).read_text().splitlines()]
                   for name in ("one", "two")]
        objects = [[o for o in one if o["kind"] not in ("stream", "ledger")] for one in objects]
        assert objects[0] == objects[1] and len(objects[0]) > 2
        options = [re.sub(r"^-(?=[a-z])", "--", word) for word in shlex.split(run.said["options"])]
        for source in (["--protocol", "mtb", "--trace", tmp_path / "raw"] + options, ["--snapshot", tmp_path / "snapshot"]):
            done = subprocess.run([mtb.ITRACE, "decode", "--elf", session.elf, "--format", "instructions"] + source,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, universal_newlines=True)
            assert done.returncode == 0, done.stderr
            assert re.findall(r"^0x([0-9a-f]{16}) ", done.stdout, re.M) == ["%016x" % a for a in run.listing("one")]


def test_dump_that_cannot_be_written(tmp_path):
    """The capture is still there"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer 0x2000a000 512") + """
record one { m start; run_for 5; m stop }
try dump { m dump /no/such/place/raw }
try dir { m dump /no/such/place/ }
try decode { m decode -o /no/such/place/list }
try both { m decode -trace /dev/null }
try elf { m decode -elf /no/such/file }
listing one
""")
        run.refusal("dump", "/no/such/place")
        run.refusal("dir", "/no/such/place")
        run.refusal("decode", "/no/such/place")
        run.refusal("both", "-trace", r"\bm\b")
        run.refusal("elf", "/no/such/file")
        run.same("one", 64)


# ---- exceptions and crashes ----

@pytest.mark.parametrize("chain", ["direct", "unstacked"])
@pytest.mark.parametrize("target", TARGETS)
def test_exceptions(tmp_path, target, chain):
    """B13: numbers by the vector table, in the order of the log"""
    with Session(tmp_path, target, "faults", mtb_tail_chain=chain) as session:
        run = session.run(session.create("-buffer %#x 4096" % session.chip.free) + """
bp %#x 2 hw
record one { m start; resume; wait_halt 5000; m stop }
listing one
m decode -format json -o DIR/one.json
""".replace("DIR", str(tmp_path)) % mtb.symbols(session.elf)["done"])
        run.same("one", 512)
        lines = run.log("one")
        first = mtb.packets(lines)[-512:][0]
        expected = [int(words[1]) for words in lines[first - 1:] if words[0] in "XT"]
        assert len(expected) > 20
        got = [json.loads(line) for line in (tmp_path / "one.json").read_text().splitlines()]
        numbers = [event["number"] for event in got if event["kind"] == "exception"]
        assert [n if n < 0x200 else n - 0x200 + 16 for n in numbers][-len(expected):] == expected


@pytest.mark.parametrize("shape", ["packet", "none"])
@pytest.mark.parametrize("target", TARGETS)
def test_crash(tmp_path, target, shape):
    """B16: it ends with where it went, from where, and which exception came of that"""
    with Session(tmp_path, target, "lockup", mtb_lockup=shape) as session:
        run = session.run(session.create("-buffer %#x 1024" % session.chip.free) + """
record one { m start; run_for 10; m stop }
listing one
say functions [m decode -format functions]
say exceptions [m decode -format exceptions]
say ledger [m ledger]
""")
        run.same("one", 128)
        assert re.search(r"branched to unmapped 0x0*8000000 from 0x[0-9a-f]+ <(main|jump)", run.text), run.text
        assert "0x30000000" in run.said["functions"] + run.said["exceptions"]
        # M33 without a handler for bus faults escalates, too
        assert "HardFault" in run.said["exceptions"] and "on_hardfault" in run.said["functions"]


@pytest.mark.parametrize("target", TARGETS)
def test_crash_that_nobody_traced(tmp_path, target):
    """The program has armed its trace and crashed; a debugger comes later"""
    with Session(tmp_path, target, "lockup") as session:
        first = session.run(firmware(session) + "record one { firmware %#x 6; resume; after 10 }" % session.chip.free)
        run = session.run("init\npoll off\nhalt\n" + session.create() + "m adopt\nlisting one\nsay text [m decode -format exceptions]",
                          init=False)
        expected = mtb.window(first.log("one"), 128, armed=False)
        wrong = mtb.differ(run.listing("one"), expected)
        assert not wrong, wrong
        assert "HardFault" in run.said["text"]


# ---- Tcl ----

def test_tcl(tmp_path):
    """B1: what registers hold is told; status is a dict; each command has help"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer 0x2000a000 512 -when-full wrap") + """
say idle [m status]
say idle_state [dict get [m status] state]
m start
say armed [m status]
say regs [m regs]
run_for 5
m stop
say stopped [m status]
say when_full [m cget -when-full]
say target [m cget -target]
m decode -format summary
say ledger [dict get [m ledger] instructions]
mtb decode m -format summary
say ledger2 [dict get [mtb ledger] instructions]
say help_mtb [capture {help mtb}]
say help_m [capture {help m}]
""")
        states = [run.fields(name)["state"] for name in ("idle", "armed", "stopped")]
        assert len(set(states)) >= 2 and states[0] != states[1] != states[2]
        assert [run.fields(name)["enabled"] for name in ("idle", "armed", "stopped")] == ["0", "1", "0"]
        for name in ("POSITION", "MASTER", "FLOW", "BASE", "TSTART", "TSTOP"):
            assert re.search(r"^.*%s\b.*0x[0-9a-f]+" % name, run.said["regs"], re.M), run.said["regs"]
        assert run.said["when_full"] == "wrap" and run.said["target"] == "chip.cpu"
        assert int(run.said["ledger"]) == int(run.said["ledger2"]) > 50
        assert "mtb create" in run.said["help_mtb"]
        for name in ("start", "stop", "status", "regs", "flush", "adopt", "dump", "decode", "ledger", "disable", "configure"):
            assert re.search(r"^ *m %s\b" % name, run.said["help_m"], re.M), name


def test_events(tmp_path):
    """Board scripts switch on clocks before the first register is touched"""
    with Session(tmp_path, "cortex-m33") as session:
        run = session.run(session.create("-buffer 0x2000a000 512") + """
foreach event {pre-enable post-enable pre-disable reset} {
	m configure -event $event "lappend happened $event; lappend enabled \\[expr {\\[dict get \\[sim mtb\\] master\\] >> 31 & 1}\\]"
}
set happened {}
set enabled {}
m start
run_for 3
reset halt
run_for 3
m stop
m disable
say happened $happened
say enabled $enabled
""")
        pairs = list(zip(run.said["happened"].split(), run.said["enabled"].split()))
        assert pairs[:2] == [("pre-enable", "0"), ("post-enable", "1")], pairs
        assert ("reset", "0") in pairs or ("reset", "1") in pairs
        assert "pre-disable" in run.said["happened"]


# ---- random programs ----

# It stands at the end, seen by OpenOCD; and a program may have no branches any more before it has filled so much.
DRAIN_A_WHILE = mtb.DRAIN + """
proc look {} { poll; if {[chip.cpu curstate] ne "halted"} { halt } }
proc drain_until {count} {
	for {set n 0} {$n < 40 && [fillings] < $count} {incr n} { poll; after 1 }
}
"""

# until the buffer is full, at most a while: a program may be through with its branches
FILL = {"wrap": "", "stop": "", "halt": "catch {wait_halt 40}\n", "drain": "catch {drain_until 2}\n"}


@pytest.mark.parametrize("target", TARGETS)
def test_random_programs(tmp_path, target):
    """One after the other on one chip: each with a buffer of another size, full in another way, interrupts, stopped halted
    or running"""
    count = 400 if LONG else len(SIZES) * len(MODES)
    rand = random.Random(SEED)
    with Session(tmp_path, target, mtb_tail_chain=rand.choice(["direct", "unstacked"]), **BIG_RAM[target]) as session:
        script = session.create("-buffer %#x 1024" % BIG_FREE[target], elf=False) + DRAIN_A_WHILE
        cases = list(itertools.islice(itertools.cycle(itertools.product(SIZES, MODES)), count))
        for n, (size, mode) in enumerate(cases):
            elf = tmp_path / ("p%d.elf" % n)
            cortexm_random.build(elf, session.chip.core, SEED * 1000 + n, "timer" if rand.random() < 0.75 else "soft")
            halted, armed = mode != "wrap" or rand.random() < 0.6, rand.random() < 0.6
            cases[n] += halted, armed
            script += "load_image {%s}\nreset halt\nm configure -buffer %#x %d -when-full %s\n" % (
                elf, BIG_FREE[target], size, mode)
            script += "record p%d {\n%s%safter %d\n%s%s}\nlisting p%d -elf {%s}\nm disable\n" % (
                n, "m start\nresume\n" if armed else "resume\nafter 3\nm start\n", FILL[mode], rand.randrange(3, 8),
                "look\nsay full%d [dict get [m status] full]\n" % n if halted else "",
                "m stop\n" if halted else "m stop\nhalt\n", n, elf)
        run = session.run(script, timeout=probe.TIMEOUT + count)
        total, full = 0, set()
        for n, (size, mode, halted, armed) in enumerate(cases):
            stopped = mode == "stop" and run.said["full%d" % n] == "1"
            total += run.same("p%d" % n, size // 8 if mode == "wrap" else None, halted=halted and not stopped, armed=armed)
            if mode in ("stop", "halt") and run.said["full%d" % n] == "1":
                full.add((size, mode))
        assert total > 100 * count
        assert len(full) > len(SIZES), "hardly any buffer got full"
