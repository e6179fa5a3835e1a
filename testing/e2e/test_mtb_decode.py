# SPDX-License-Identifier: GPL-2.0-or-later
# check-group: mtb
"""MTB trace of compiled programs through the standalone program and OpenOCD's command.

The names B1 .. B16 are the wishes of users that testing/README.md lists.
"""

import json
import os
import re
import shutil
import struct
import subprocess

import pytest

from mtb_walker import TOOLS, Program, Walk, compile_program

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ITRACE = os.environ.get("ITRACE") or os.path.join(TOP, "build/bin/itrace")
OPENOCD = os.environ.get("OPENOCD") or os.path.join(TOP, "build/bin/openocd")
CHAPTER = os.path.join(TOP, "src-overlay/doc/itrace.texi")
LONG = os.environ.get("LONG") == "1"

BUILDS = [(target, level) for target in ("thumbv6m-none-eabi", "thumbv8m.main-none-eabi")
          for level in ("-O0", "-O1", "-O2", "-Os")]
CHAINS = ["return-value", "whole-return", "half-return"]

pytestmark = pytest.mark.skipif(not all(shutil.which(tool) for tool in TOOLS), reason="no clang, lld or llvm-objdump")


def itrace(*arguments, stdin=subprocess.DEVNULL):
    return subprocess.run([ITRACE, "decode"] + [str(a) for a in arguments], stdin=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False, universal_newlines=True)


@pytest.fixture(name="programs", scope="module")
def fixture_programs(tmp_path_factory):
    made = {}

    def program(target="thumbv6m-none-eabi", level="-O1"):
        if (target, level) not in made:
            folder = tmp_path_factory.mktemp("program")
            made[target, level] = Program(compile_program(folder, target, level), target)
        return made[target, level]

    return program


def regs(**values):
    return [part for name, value in values.items() for part in ("--reg", "%s=0x%x" % (name, value))]


def decode(path, program, *arguments, **registers):
    return itrace("--trace", path, "--protocol", "mtb", "--elf", program.elf, *regs(**registers), *arguments)


def addresses(text):
    """Of a listing of instructions."""
    return [int(address, 16) for address in re.findall(r"^0x([0-9a-f]{16}) ", text, re.M)]


def events(text):
    return [json.loads(line) for line in text.splitlines()]


# ── what is decoded is what ran ───────────────────────────────────────────────────────


def agree(numbers, expected):
    """Whether @a numbers are the exceptions that are sure, and any of the others, in this order."""
    begun = {0}	# how many of the numbers can be used up
    for number, sure in expected:
        used = {n + 1 for n in begun if n < len(numbers) and numbers[n] == number}
        begun = used if sure else begun | used
    return len(numbers) in begun


@pytest.mark.parametrize("target, level", BUILDS)
@pytest.mark.parametrize("chain", CHAINS)
def test_every_instruction(programs, tmp_path, target, level, chain):
    program = programs(target, level)
    for seed in range(40 if LONG else 3):
        walk = Walk(program, "%s %s %s %d" % (target, level, chain, seed), 1500, chain=chain)
        for mask in (1, 4, 8, 9):
            ring, position = walk.ring(mask)
            path = tmp_path / "buffer"
            path.write_bytes(ring)
            first, expected = walk.held(mask)
            run = decode(path, program, "--format", "json", POSITION=position, MASTER=0x80000000 | mask,
                         PC_ARM=walk.arm, PC_HALT=walk.halt)
            assert run.returncode == 0, run.stderr
            got = []
            taken = []
            for event in events(run.stdout):
                if event["kind"] == "range":
                    addr = int(event["addr"], 16)
                    while addr < int(event["end"], 16):
                        got.append(addr)
                        addr += program.code[addr].size
                elif event["kind"] == "exception":
                    taken.append(event["number"])
            assert got == expected, (seed, mask)
            assert agree(taken, walk.exceptions(first)), (seed, mask)


def test_instructions_with_symbol_and_line(programs, tmp_path):
    """B2: no branches only"""
    program = programs()
    walk = Walk(program, 1, 300, interrupts=0)
    path = tmp_path / "packets"
    path.write_bytes(walk.linear())
    run = decode(path, program, "--format", "instructions", PC_ARM=walk.arm, PC_HALT=walk.halt)
    assert run.returncode == 0
    assert addresses(run.stdout) == walk.log
    assert re.search(r"^\S*program\.c:\d+$", run.stdout, re.M)
    assert re.search(r"<leaf(\+0x[0-9a-f]+)?>", run.stdout)
    assert "POSITION; the file is taken as packets in order" in run.stderr


def test_dump_and_four_registers(programs, tmp_path):
    """B3: no debugger, a dump of RAM"""
    program = programs()
    walk = Walk(program, 2, 2000)
    ring, position = walk.ring(6, start=0x800)
    path = tmp_path / "ram.bin"
    path.write_bytes(bytes(0x800) + ring + bytes(0x400))
    run = decode(path, program, "--buffer", "0x20000000", "--format", "instructions", POSITION=position,
                 MASTER=0x80000006, FLOW=0, BASE=0x20000000)
    assert run.returncode == 0, run.stderr
    # without the PC at halt what ran behind the last packet is not known
    behind = len(walk.log) - walk.before[-1] - (0 if walk.packets[-1][0] & 1 else 1)
    assert addresses(run.stdout) == walk.held(6)[1][:-behind or None]
    assert "has wrapped: 128 packets" in run.stderr
    assert "PC_HALT" in run.stderr


def test_fold_and_last(programs, tmp_path):
    """B4, B11: a loop that fills the buffer is one entry with a count; oldest first; the end with -last"""
    program = programs()
    loop = next(i.addr for i in program.code.values() if i.kind == "jump" and i.target == i.addr)
    call = next(i for i in program.code.values() if i.kind == "call")
    path = tmp_path / "packets"
    path.write_bytes(struct.pack("<II", call.addr, loop) + struct.pack("<II", loop, loop) * 500)
    folded = decode(path, program, "--format", "instructions", "--fold", "on")
    assert "× 500" in folded.stdout
    assert len(addresses(folded.stdout)) == 2
    last = decode(path, program, "--format", "instructions", "--last", "7")
    assert addresses(last.stdout) == [loop] * 7
    # the call goes elsewhere by the program
    assert "by the trace this branch went to" in folded.stdout and folded.returncode == 3


@pytest.mark.parametrize("base, aw, start, expected", [
    (0, 12, 0x800, 0), (0, None, 0x800, 1), (None, None, 0x800, 1), (0x10000000, None, 0x800, 0),
])
def test_base_that_reads_zero(programs, tmp_path, base, aw, start, expected):
    """B5, B6: never memory at 0; what is missing is named"""
    program = programs()
    walk = Walk(program, 3, 400)
    ring, position = walk.ring(4, start=start)
    path = tmp_path / "ram.bin"
    path.write_bytes(bytes(start) + ring)
    registers = {"POSITION": position, "MASTER": 0x80000004, "PC_HALT": walk.halt}
    if base is not None:
        registers["BASE"] = base
    if aw is not None:
        registers["AW"] = aw
    run = decode(path, program, "--buffer", "0x10000000", "--format", "instructions", **registers)
    assert run.returncode == expected, run.stderr
    if expected:
        assert "AW" in run.stderr and "BASE" in run.stderr and str(path) in run.stderr
    else:
        assert addresses(run.stdout) == walk.held(4)[1]


def test_buffer_of_four_packets(programs, tmp_path):
    """B7: MSPM0"""
    program = programs()
    walk = Walk(program, 4, 200)
    ring, position = walk.ring(1)
    assert len(ring) == 32
    path = tmp_path / "ram.bin"
    path.write_bytes(ring)
    run = decode(path, program, "--buffer", "0x40403000", "--format", "instructions", POSITION=position,
                 MASTER=0x80000001, BASE=0x40403000, AW=5, PC_HALT=walk.halt)
    assert run.returncode == 0, run.stderr
    assert addresses(run.stdout) == walk.held(1)[1]


def exception_packets(program):
    """main, interrupted at its third instruction; the handler returns"""
    main = sorted(i for i in program.code if i >= program.symbols["main"])
    handler = program.symbols["SysTick_Handler"] & ~1
    leave = next(i for i in sorted(program.code) if i >= handler and program.code[i].kind == "return")
    inner = [i for i in program.code.values() if handler <= i.addr < leave and i.kind == "cond"]
    packets = [(main[2] | 1, handler | 1)]
    at = handler
    for branch in inner:
        if at <= branch.addr:
            packets.append((branch.addr, branch.target))
            at = branch.target
    return main, packets + [(leave, 0xfffffff8), (0xfffffff9, main[2])]


def pack(packets):
    return b"".join(struct.pack("<II", *packet) for packet in packets)


def test_exception_return_is_one(programs, tmp_path):
    """B8: from the right instruction; EXC_RETURN is never code"""
    program = programs()
    main, packets = exception_packets(program)
    path = tmp_path / "packets"
    path.write_bytes(pack(packets))
    run = decode(path, program, "--format", "instructions", PC_ARM=main[0], PC_HALT=main[4])
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("exception return") == 1
    assert "-- exception SysTick (0x0f), returns to main+0x" in run.stdout
    assert "-- exception return, EXC_RETURN 0xfffffff9" in run.stdout
    assert not any(address > 0xf0000000 for address in addresses(run.stdout))
    assert addresses(run.stdout)[:2] == main[:2]
    assert addresses(run.stdout)[-2:] == main[2:4]


def test_exception_by_the_vector_table(programs, tmp_path):
    """B13: the number is not in the trace"""
    program = programs()
    main, packets = exception_packets(program)
    path = tmp_path / "packets"
    path.write_bytes(pack(packets))
    run = decode(path, program, "--format", "exceptions", PC_ARM=main[0], PC_HALT=main[4])
    assert "SysTick (0x0f) at main+0x" in run.stdout and "-> SysTick_Handler" in run.stdout
    assert "return to main+0x" in run.stdout
    assert "vector table at 0x4000 (__Vectors)" in run.stderr
    # no symbol: the beginning of the program
    code = tmp_path / "code.bin"
    subprocess.run(["llvm-objcopy", "-O", "binary", "-j", ".text", str(program.elf), str(code)], check=True)
    run = itrace("--trace", path, "--protocol", "mtb", "--image", "%s@0x4000" % code, "--format", "exceptions",
                 *regs(PC_ARM=main[0], PC_HALT=main[4]))
    assert "SysTick (0x0f)" in run.stdout and "vector table at 0x4000 (the beginning" in run.stderr
    # a register wins
    run = decode(path, program, "--format", "exceptions", PC_ARM=main[0], PC_HALT=main[4], VTOR=0x20000000)
    assert "exception that no vector leads to" in run.stdout
    # several have one handler
    path.write_bytes(pack([(main[2] | 1, (program.symbols["Default_Handler"] & ~1) | 1)]))
    run = decode(path, program, "--format", "exceptions", PC_ARM=main[0])
    assert "NMI (0x02) or another with this handler at main+0x" in run.stdout


@pytest.mark.parametrize("fault", [True, False])
def test_branch_to_nowhere(programs, tmp_path, fault):
    """B16: the trace ends with where it went, and which exception came of it"""
    program = programs()
    jump = next(i for i in program.code.values() if i.kind == "icall" and i.addr >= program.symbols["call"])
    packets = [(jump.addr, 0xdeadbeee | 1)]
    if fault:
        packets.append((0xdeadbeef, program.symbols["Default_Handler"] & ~1))
    path = tmp_path / "packets"
    path.write_bytes(pack(packets))
    run = decode(path, program, "--format", "instructions")
    assert run.returncode == 3
    assert "branched to unmapped 0xdeadbeee from 0x%x <call+0x" % jump.addr in run.stderr
    assert "gap: no memory at 0xdeadbeee" in run.stdout
    if fault:
        assert "exception NMI (0x02) or another with this handler" in run.stdout


# ── formats ───────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="walked")
def fixture_walked(programs, tmp_path):
    program = programs()
    walk = Walk(program, 5, 1200)
    path = tmp_path / "packets"
    path.write_bytes(walk.linear())
    return program, walk, path


@pytest.mark.parametrize("kind, wanted", [
    ("functions", "main"), ("calls", "leaf"), ("calls", "[SysTick] SysTick_Handler"), ("hot", "leaf"),
    ("exceptions", "IRQ"), ("contexts", "")
])
def test_formats(walked, kind, wanted):
    program, walk, path = walked
    run = decode(path, program, "--format", kind, PC_ARM=walk.arm, PC_HALT=walk.halt)
    assert run.returncode == 0, run.stderr
    assert wanted in run.stdout
    assert "flow      %d instructions in" % len(walk.log) in run.stderr
    assert "trace     %d bytes: %d decoded, 0 padding, 0 not synchronised, 0 skipped" % (
        path.stat().st_size, path.stat().st_size) in run.stderr
    assert "gaps      0" in run.stderr


def test_packets_and_elements(walked):
    program, walk, path = walked
    run = decode(path, program, "--format", "packets")
    lines = run.stdout.splitlines()
    assert run.returncode == 0 and len(lines) == len(walk.packets)
    for number, (line, (source, destination)) in enumerate(zip(lines, walk.packets)):
        assert line.startswith("%8d  %08x %08x " % (8 * number, source, destination))
    run = decode(path, program, "--format", "elements")
    assert len(run.stdout.splitlines()) == len(walk.packets)
    assert run.stdout.splitlines()[0].startswith("       0  trace on, branch at 0x")
    assert "EXC_RETURN 0xfffffff9" in run.stdout


def test_summary(walked):
    program, walk, path = walked
    run = decode(path, program, "--format", "summary", PC_ARM=walk.arm)
    assert re.search(r"^branch +\d+ +\d+ +\d+\.\d\d$", run.stdout, re.M)
    sums = [int(n) for n in re.findall(r"^(?:branch|exception entry|return begins|return ends) +(\d+)", run.stdout, re.M)]
    assert sum(sums) == len(walk.packets)


def test_json(walked):
    program, walk, path = walked
    run = decode(path, program, "--format", "json", PC_ARM=walk.arm, PC_HALT=walk.halt)
    lines = events(run.stdout)
    assert sum(e["count"] for e in lines if e["kind"] == "range") == len(walk.log)
    returns = [e for e in lines if e["kind"] == "exception-return"]
    assert returns and all(e["exc_return"] in ("0xfffffff9", "0xfffffff1") for e in returns)
    assert lines[-1]["kind"] == "ledger" and lines[-1]["instructions"] == len(walk.log)
    # both sides of a contradiction
    call = next(i for i in program.code.values() if i.kind == "call")
    path.write_bytes(pack([(call.addr, program.symbols["spin"])]))
    run = decode(path, program, "--format", "json")
    gap = next(e for e in events(run.stdout) if e["kind"] == "gap")
    assert gap["cause"] == "target-differs" and gap["addr"] == "0x%x" % call.addr
    assert gap["by_trace"] == "0x%x" % program.symbols["spin"] and gap["by_program"] == "0x%x" % call.target


def test_exports(walked, tmp_path):
    program, walk, path = walked
    run = decode(path, program, "--export", "btrace=%s" % (tmp_path / "b.xml"), PC_ARM=walk.arm, PC_HALT=walk.halt)
    assert run.returncode == 0, run.stderr
    assert "<block begin=" in (tmp_path / "b.xml").read_text()


@pytest.mark.parametrize("form", ["ring", "dump", "packets"])
def test_snapshot(programs, tmp_path, form):
    """class=mtb: what is written is read, and says the same"""
    program = programs()
    walk = Walk(program, 6, 1500)
    ring, position = walk.ring(5, start=0x600)
    path = tmp_path / "buffer"
    registers = {"POSITION": position, "MASTER": 0x80000005, "BASE": 0x20000000, "AW": 15, "PC_ARM": walk.arm,
                 "PC_HALT": walk.halt}
    arguments = ["--format", "instructions"]
    path.write_bytes(ring)
    if form == "dump":
        path.write_bytes(bytes(0x600) + ring + bytes(100))
        arguments += ["--buffer", "0x20000000"]
    elif form == "packets":
        path.write_bytes(walk.linear())
        del registers["POSITION"]
    folder = tmp_path / "snapshot"
    first = decode(path, program, "--export", "snapshot=%s" % folder, *arguments, **registers)
    assert first.returncode == 0, first.stderr
    ini = (folder / "source0.ini").read_text()
    assert "class=mtb" in ini and "AW=15" in ini
    assert ("POSITION" in ini) == (form != "packets")
    again = itrace("--snapshot", folder, "--format", "instructions", "--elf", program.elf)
    assert again.returncode == 0, again.stderr
    assert again.stdout.replace("(", "") == first.stdout.replace("(", "")
    assert addresses(again.stdout) == (walk.log if form == "packets" else walk.held(5)[1])


def test_standard_input_is_kept(walked):
    program, walk, _ = walked
    ring, position = walk.ring(4)
    run = subprocess.run([ITRACE, "decode", "--trace", "-", "--protocol", "mtb", "--elf", str(program.elf), "--format",
                          "instructions"] + regs(POSITION=position, MASTER=4, PC_HALT=walk.halt), input=ring,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    assert run.returncode == 0
    # MASTER.EN is 0: tracing had stopped before the halt
    assert b"PC_HALT is not used" in run.stderr
    assert addresses(run.stdout.decode()) == walk.held(4)[1][:len(addresses(run.stdout.decode()))]


def test_lock_up(walked):
    program, walk, path = walked
    run = decode(path, program, "--format", "instructions", PC_ARM=walk.arm, PC_HALT=0xfffffffe)
    assert run.returncode == 0
    assert "PC_HALT 0xfffffffe: the core was in lock-up" in run.stderr


@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
@pytest.mark.parametrize("triple", ["thumbv6m-none-eabi", "thumbv8m.main-none-eabi"])
@pytest.mark.parametrize("interrupts", [300, 40])
def test_host_instructions(programs, tmp_path, interrupts, triple):
    """At most 60 for each traced instruction, all of the program counted; its start is taken out.

    An exception every 40 instructions, of which some are chained, is one every 36.
    """
    program = programs(triple, "-O2")
    counts = []
    for number in (20000, 60000):
        walk = Walk(program, 10, number, interrupts=interrupts)
        path = tmp_path / ("packets%d" % number)
        path.write_bytes(walk.linear())
        run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + str(tmp_path / "out"), ITRACE,
                              "decode", "--trace", str(path), "--protocol", "mtb", "--elf", str(program.elf), "--format",
                              "summary"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300,
                             universal_newlines=True)
        counts.append(int(re.search(r"Collected : (\d+)", run.stderr).group(1)))
    each = (counts[1] - counts[0]) / 40000
    print("%.1f host instructions for each" % each)
    assert each <= 60


# ── errors ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("registers, buffer, parts", [
    ({"POSITION": 0x8, "MASTER": 8}, None, ["64 bytes", "POSITION=0x8", "MASTER=0x8"]),
    ({"POSITION": 0x48, "MASTER": 8}, None, ["ends before the buffer does", "72 bytes are needed, 8 missing"]),
    ({"POSITION": 0x8, "MASTER": 1, "AW": 40}, None, ["AW=40", "from 4 to 32"]),
    ({"POSITION": 0x20000008, "MASTER": 1, "AW": 15}, None, ["POSITION=0x20000008", "reads as zero"]),
    ({"POSITION": 0x8, "BASE": 0x11}, None, ["BASE=0x11", "multiple of 32"]),
    ({"POSITION": 0x1008, "MASTER": 1, "BASE": 0x20000000, "AW": 15}, 0x20000000,
     ["at 0x20000000", "begins outside", "byte 0x1000"]),
    ({"POSITION": 0x8, "MASTER": 0, "BASE": 0}, 0x10000000, ["give AW, or BASE", "not 0"]),
    ({"POSITION": 0x1c, "MASTER": 0x80000001}, 0x20000000, ["give AW, or BASE"]),
])
def test_registers_that_do_not_fit(walked, tmp_path, registers, buffer, parts):
    """each names the file, the registers and what to do"""
    program, walk, _ = walked
    path = tmp_path / "short.bin"
    path.write_bytes(walk.linear()[:64])
    arguments = ["--format", "packets"] + (["--buffer", hex(buffer)] if buffer is not None else [])
    run = decode(path, program, *arguments, **registers)
    if registers == {"POSITION": 0x8, "MASTER": 8}:
        # not all of the buffer, but all that was traced
        assert run.returncode == 0
        return
    assert run.returncode == 1 and run.stdout == ""
    assert str(path) in run.stderr
    for part in parts:
        assert part in run.stderr


def test_input_without_an_end(walked):
    """No more of it is kept than an MTB of this AW can have; through a pipe a whole RAM comes as from a file"""
    program, walk, _ = walked
    run = decode("/dev/zero", program, POSITION=0x10, MASTER=0x80000004, AW=16)
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr == "itrace: /dev/zero: more than 65536 bytes come; no trace of this kind is longer\n"
    ring, position = walk.ring(5)
    for len_of_rest, status in ((0, 0), (0x10000 - len(ring), 0), (0x10000 - len(ring) + 1, 1)):
        piped = subprocess.run(
            [ITRACE, "decode", "--protocol", "mtb", "--elf", str(program.elf), "--format", "packets", "--trace", "-",
             "--reg", "POSITION=%#x" % position, "--reg", "MASTER=0x80000005", "--reg", "AW=16"],
            input=ring + bytes(len_of_rest), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        assert piped.returncode == status, piped.stderr


def test_nothing_was_traced(walked, tmp_path):
    """B1: EN is set, and there is no trace"""
    program, _, _ = walked
    path = tmp_path / "buffer"
    path.write_bytes(bytes(64))
    run = decode(path, program, POSITION=0x40, MASTER=0x80000002)
    assert run.returncode == 1
    assert "MASTER.EN is set (0x80000002), but POSITION (0x00000040) says that nothing was traced" in run.stderr
    assert "nothing was traced: POSITION 0x00000040 is at the start of its buffer of 64 bytes" in run.stderr
    run = decode(path, program, POSITION=0x40, MASTER=2)
    assert run.returncode == 1 and "MASTER.EN is set" not in run.stderr
    path.write_bytes(b"")
    run = decode(path, program)
    assert run.returncode == 1 and "no byte of trace (0 bytes)" in run.stderr
    path.write_bytes(b"1234567")
    run = decode(path, program)
    assert run.returncode == 1 and "7 bytes are no packet" in run.stderr


def test_mask_above_the_ram(walked, tmp_path):
    program, walk, _ = walked
    ring, position = walk.ring(3)
    path = tmp_path / "buffer"
    path.write_bytes(ring)
    run = decode(path, program, "--format", "instructions", POSITION=position, MASTER=0x8000001f, AW=7,
                 PC_HALT=walk.halt)
    assert run.returncode == 0
    assert "MASTER.MASK is 31, more than AW-4 = 3" in run.stderr
    assert addresses(run.stdout) == walk.held(3)[1]


def test_trailing_bytes_are_a_note(walked, tmp_path):
    program, walk, path = walked
    path.write_bytes(walk.linear() + b"abc")
    run = decode(path, program, "--format", "instructions", PC_ARM=walk.arm)
    assert run.returncode == 0
    assert "note: the trace ends inside a packet (3 bytes of it)" in run.stderr
    assert "3 not synchronised" in run.stderr


def test_wrong_program(programs, tmp_path):
    """a program that is not what ran: gaps with both sides, and the decode goes on to its end"""
    walk = Walk(programs("thumbv6m-none-eabi", "-O2"), 7, 1500)
    path = tmp_path / "packets"
    path.write_bytes(walk.linear())
    run = decode(path, programs("thumbv6m-none-eabi", "-O0"), "--format", "instructions", PC_HALT=walk.halt)
    assert run.returncode == 3
    assert "contradict each other" in run.stderr
    assert "by the trace" in run.stdout and "by the program" in run.stdout
    assert "%d bytes: %d decoded" % (8 * len(walk.packets), 8 * len(walk.packets)) in run.stderr


@pytest.mark.parametrize("arguments, part", [
    (["--format", "opencsd-packets"], "OpenCSD decodes no MTB trace"),
    (["--format", "opencsd-elements"], "OpenCSD decodes no MTB trace"),
    (["--framing", "tpiu"], "no frames"), (["--trace-id", "3"], "no trace IDs"), (["--el", "1"], "exception level"),
    (["--context", "1"], "context"), (["--core", "Cortex-A9"], "no MTB"), (["--reg", "TRCIDR1=1"], "no register of an MTB"),
    (["--buffer", "x"], "--buffer"),
])
def test_what_does_not_go_with_it(walked, arguments, part):
    program, _, path = walked
    run = decode(path, program, *arguments)
    assert run.returncode == 2 and part in run.stderr and len(run.stderr.splitlines()) == 1


def test_snapshot_errors(programs, tmp_path):
    program = programs()
    walk = Walk(program, 8, 300)
    path = tmp_path / "buffer"
    path.write_bytes(walk.linear())
    folder = tmp_path / "snapshot"
    assert decode(path, program, "--export", "snapshot=%s" % folder).returncode == 0
    for arguments, part in ((["--format", "opencsd-packets"], "OpenCSD decodes no MTB trace"),
                            (["--reg", "TRCIDR1=1"], "TRCIDR1 is no register of an MTB"),
                            (["--reg", "POSITION=0x20000"], "no power of two, so it does not tell the size")):
        run = itrace("--snapshot", folder, *arguments)
        assert run.returncode == 1 and part in run.stderr, run.stderr
    ini = folder / "trace.ini"
    ini.write_text(ini.read_text().replace("format=source_data", "format=coresight"))
    run = itrace("--snapshot", folder)
    assert run.returncode == 1


# ── the manual ────────────────────────────────────────────────────────────────────────


def examples():
    """The command lines of the section's examples."""
    with open(CHAPTER, encoding="utf-8") as file:
        text = file.read()
    section = text[text.index("@section Micro Trace Buffer"):]
    section = section[:section.index("\n@section ", 1)]
    for block in re.findall(r"@example\n(.*?)@end example", section, re.S):
        yield re.sub(r"\\\n *", " ", block).strip()


def test_examples_of_the_manual(programs, tmp_path):
    program = programs()
    walk = Walk(program, 9, 3000)
    # the buffer that the examples tell of: 1 KB at 0x800, wrapped, the next packet goes to 0x830
    walk.packets = walk.packets[:128 + 6]
    ring, position = walk.ring(6, start=0x800)
    assert position == 0x834
    (tmp_path / "ram.bin").write_bytes(bytes(0x800) + ring + bytes(0x1000))
    (tmp_path / "buffer.bin").write_bytes(ring)
    (tmp_path / "packets.bin").write_bytes(walk.linear())
    shutil.copy(program.elf, tmp_path / "fw.elf")
    path = tmp_path / "bin"
    path.mkdir()
    (path / "itrace").symlink_to(ITRACE)
    (path / "openocd").symlink_to(OPENOCD)
    lines = list(examples())
    assert len(lines) == 3
    for line in lines:
        run = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=dict(os.environ, PATH="%s:/usr/bin:/bin" % path),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                             timeout=60, universal_newlines=True)
        assert run.returncode == 0, line + run.stderr
        assert len(run.stdout.splitlines()) >= 10 and "gaps      0" in run.stderr, line + run.stderr


def test_every_register_is_in_the_manual():
    with open(CHAPTER, encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("@option{-reg} knows these names"):]
    documented = re.findall(r"^@item ([A-Z_]+)$", table[:table.index("@end table")], re.M)
    usage = itrace("--trace", "x", "--protocol", "mtb", "--reg", "NONE=1").stderr
    assert documented == re.search(r"of an MTB ([A-Z_, ]+)\)", usage).group(1).split(", ")


# ── OpenOCD ───────────────────────────────────────────────────────────────────────────


def openocd(script):
    done = subprocess.run([OPENOCD, "-c", script, "-c", "shutdown"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, check=False, universal_newlines=True)
    return done


def test_command(walked, tmp_path):
    """mtb decode and mtb ledger, with no adapter and before init"""
    program, walk, _ = walked
    ring, position = walk.ring(5)
    path = tmp_path / "buffer"
    path.write_bytes(ring)
    command = "mtb decode -trace %s -elf %s -format instructions -reg POSITION=0x%x -reg MASTER=0x80000005 " \
        "-reg PC_HALT=0x%x" % (path, program.elf, position, walk.halt)
    run = openocd("puts [%s]; puts \"ledger: [dict get [mtb ledger] instructions]\"; catch {ete ledger} text; puts $text"
                  % command)
    assert run.returncode == 0, run.stderr
    expected = walk.held(5)[1]
    assert addresses(run.stdout) == expected
    assert "ledger: %d\n" % len(expected) in run.stdout
    # each group has its own
    assert "nothing was decoded yet: use ete decode first" in run.stdout
    assert "has wrapped: 64 packets" in run.stderr


def test_command_errors(walked, tmp_path):
    _, _, path = walked
    run = openocd("catch {mtb decode -trace %s -reg TRCIDR0=1} a; catch {mtb ledger} b; catch {mtb decode mtb0} c; "
                  "catch {mtb create x -target y} d; catch {mtb decode -trace %s} e; puts \"$a\\n$b\\n$c\\n$d\\n$e\""
                  % (path, tmp_path / "none"))
    lines = run.stdout.splitlines()
    assert "TRCIDR0 is no register of an MTB" in lines[0]
    assert "nothing was decoded yet: use mtb decode first" in lines[1]
    assert "there is no trace object mtb0: mtb create it, or give -trace FILE or -snapshot DIR" in lines[2]
    assert lines[3] == "x: there is no target y"
    assert "none" in lines[4] and "No such file" in lines[4]


def objects(script):
    """OpenOCD with a core on an adapter that is none: objects can be made and asked, there is no hardware."""
    return openocd("""
        adapter driver dummy
        transport select jtag
        jtag newtap x cpu -irlen 4
        dap create x.dap -chain-position x.cpu
        target create x.cpu cortex_m -dap x.dap
        """ + script)


def test_decode_of_no_object():
    """One line, wherever the options are; the name as it was given"""
    run = objects("""
        mtb create there -target x.cpu
        foreach name {NOSUCH {two words} %s %f} {
            foreach options {{} {-format functions} {-trace none}} {
                catch {mtb decode $name {*}$options} said
                puts $said
            }
        }
        catch {mtb decode there} said
        puts $said
        catch {ete decode NOSUCH} said
        puts $said
        """)
    lines = run.stdout.splitlines()
    expected = ["there is no trace object %s: mtb create it, or give -trace FILE or -snapshot DIR" % name
                for name in ("NOSUCH", "two words", "%s", "%f") for _ in range(3)]
    expected.append("there: nothing was captured yet: there start, then stop, flush or adopt")
    assert lines[:13] == expected, run.stdout + run.stderr
    # where there are no objects yet nobody is sent to create one
    assert re.match("'NOSUCH': .*not in this version; give -snapshot DIR or -trace FILE$", lines[13]), lines
    assert len(lines) == 14, lines


def test_stray_words():
    """A word that is no option is called that, whatever it stands behind"""
    run = openocd("""
        foreach command {
            {mtb decode -trace none extra} {mtb decode -fold on extra} {ete decode -trace none extra}
        } {
            catch $command said
            puts $said
        }
        """)
    assert run.stdout.splitlines() == [
        "'extra': neither an option nor the value of one; the source is known, -help lists the options",
        "'extra': neither an option nor the value of one; as source give -snapshot DIR or -trace FILE",
        "'extra': neither an option nor the value of one; the source is known, -help lists the options"], run.stdout + run.stderr
    run = itrace("extra")
    assert run.returncode
    assert "'extra': neither an option nor the value of one; as source give --snapshot DIR or --trace FILE" in run.stderr


def test_names_of_objects():
    """None that is empty, is taken for an option, or breaks messages into lines"""
    run = objects(r"""
        foreach name {"" " " "a b" "a\nb" "a\tb" "\x7f" -target -} {
            catch {mtb create $name -target x.cpu} said
            puts $said
        }
        foreach name {a a-b x.mtb 1 \u00e4} {
            mtb create $name -target x.cpu
            puts [$name cget -target]
        }
        """)
    shown = ("", " ", "a b", "a?b", "a?b", "?", "-target", "-")
    assert run.stdout.splitlines() == [
        "'%s' is no name for an object: it comes first, has no blanks, does not begin with -, and has at most 64 characters" % name
        for name in shown] + ["x.cpu"] * 5, run.stdout + run.stderr


@pytest.mark.parametrize("wrong", ["-buffer foo 7", "-when-full bogus", "-nosuch 1", "-stop", "-target none",
                                   "-capture-max x", "-event nosuch {}", "-ramsize -1"])
def test_configure_is_all_or_nothing(wrong):
    run = objects("""
        proc show {} {
            set all {}
            foreach option {-baseaddr -rambase -ramsize -buffer -capture-max -when-full -start -stop -elf} {
                lappend all $option [m cget $option]
            }
            foreach event {pre-enable post-enable pre-disable reset} { lappend all $event [m cget -event $event] }
            puts $all
        }
        mtb create m -target x.cpu -baseaddr 0xe0043000 -rambase 0x20000000 -ramsize 0x1000 -buffer 0x20000400 64 \
            -when-full stop -start main -stop exit -elf /a -elf {/b c} -event reset {puts 1} -event pre-enable {puts 2}
        show
        puts [catch {m configure -baseaddr 0xf0000000 -rambase 0x30000000 -ramsize 0x2000 -buffer 0x30000000 128 \
            -when-full halt -start 1 -stop {} -elf /d -elf /e -event reset {puts 3} -event pre-enable {} %s}]
        show
        m configure -elf /d -when-full halt -start {} -elf /e -event pre-enable {}
        show
        """ % wrong)
    lines = run.stdout.splitlines()
    assert len(lines) == 4, run.stdout + run.stderr
    assert lines[1] != "0" and lines[2] == lines[0]
    assert "-when-full stop -start main -stop exit -elf {/a {/b c}} pre-enable {puts 2}" in lines[0]
    assert "-when-full halt -start {} -stop exit -elf {/d /e} pre-enable {}" in lines[3]
    assert "reset {puts 1}" in lines[3]


def test_results_are_lists():
    """Names and files with all that is special in Tcl come back as they went in"""
    run = objects(r"""
        set odd [list {two words} a\{b \}c back\\slash end\\ {[exit]} {$x} {"} {#} "tab\there"]
        foreach name [lrange $odd 1 end-1] {
            mtb create $name -target x.cpu
            set status [$name status]
            puts "[expr {[dict get $status name] eq $name}] [dict get $status target] [dict get $status error]."
        }
        mtb create m -target x.cpu
        m configure {*}[concat {*}[lmap file $odd {list -elf $file}]]
        set files [m cget -elf]
        puts "elf [llength $files]"
        foreach one $files two $odd { puts [expr {$one eq $two}] }
        """)
    assert run.stdout.splitlines() == ["1 x.cpu ."] * 8 + ["elf 10"] + ["1"] * 10, run.stdout + run.stderr
