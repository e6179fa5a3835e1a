# SPDX-License-Identifier: GPL-2.0-or-later
# check-group: mtb
"""MTB trace of the simulated Cortex-M cores: what is decoded from a buffer is what the log has over its window.

The simulator executes programs and writes the log (qemu is its witness: test_cortexm_qemu.py), its MTB writes the
buffer; mtb_truth.py takes the window out of the log. Then `itrace decode` on the buffer and its registers has to give
the same list: each instruction, each exception with its number and return address, each return, and each branch to
where nothing is. Simulator and decoder share no code.

LONG=1 takes more random programs, SEED=N others.
"""

import json
import os
import random
import re
import shutil
import sys

import pytest

import mtb_truth
sys.path.insert(0, str(mtb_truth.ROOT / "testing/bench"))
import mtb_density	# noqa: E402  pylint: disable=wrong-import-position
from mtb_truth import AUTOHALT, AUTOSTOP, CORES, EN, Builder, Elf, Run, difference, instructions

LONG = os.environ.get("LONG") == "1"
SEED = int(os.environ.get("SEED", "1"))
PROGRAMS, RUNS = (100, 6) if LONG else (8, 6)	# of each of the 4 parts of each core
LEVELS = ["O0", "O1", "O2", "Os"]
SIZES = [32 << n for n in range(9)]
CHAINS = ["direct", "unstacked"]
LOCKUPS = ["packet", "none"]

pytestmark = pytest.mark.skipif(not shutil.which("clang") or not shutil.which("ld.lld"), reason="no clang or lld")


def same(run, ours, truth):
    found = difference(ours, truth)
    assert not found, "%s\n%s\n%s" % (found, run.command, run.messages)


def random_place(rand, core, size):
    low, high = CORES[core][4]
    return rand.randrange(low // size, high // size) * size


def random_flow(rand, core, addr, size):
    """FLOW of the ways of being full: round and round (most), stop, halt."""
    mode = rand.choice([0, 0, AUTOSTOP, AUTOHALT])
    # the pointer never is behind the buffer: it is at its begin then
    watermark = addr + size - 8 * rand.randrange(1, min(size // 8, 6))
    return watermark & ((1 << CORES[core][3]) - 1) | mode if mode else 0


def random_run(rand, folder, core, elf, *, size=None, **more):
    size = size or rand.choice(SIZES)
    addr = random_place(rand, core, size)
    choices = ["mtb-tail-chain=" + rand.choice(CHAINS), "mtb-lockup=" + rand.choice(LOCKUPS),
               "mtb-halt-skid=%d" % rand.choice([0, 0, 3])]
    arguments = {"count": rand.randrange(1, 2 * size + 200), "skip": rand.randrange(8000),
                 "seed": rand.randrange(1 << 30), "flow": random_flow(rand, core, addr, size)}
    arguments.update(more)
    run = Run(folder, core, elf, size=size, addr=addr, choices=choices, **arguments)
    if run.packets:
        return run
    # no branch yet: without a packet there is nothing to decode (test_mtb_decode.py)
    arguments["count"] += 200
    return Run(folder, core, elf, size=size, addr=addr, choices=choices, **arguments)


class Seen:
    """What the runs had, so that none of it is missing without notice."""

    def __init__(self):
        self.all = set()
        self.instructions = 0

    def take(self, run, truth):
        flow = run.registers["flow"]
        self.all.add("wrapped" if run.wrapped else "not wrapped")
        if flow & AUTOSTOP and not run.on:
            self.all.add("stopped")
        if flow & AUTOHALT and run.registers["master"] & 0x200:
            self.all.add("halted")
        self.all.add(run.size)
        self.all |= {event[1] for event in truth if event[0] == "x"}
        for words, _ in run.happened:
            self.all.add(words[0])
        self.instructions += len(instructions(truth))


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("core", CORES)
def test_random(tmp_path, core, part):
    builder, seen = Builder(tmp_path), Seen()
    for number in range(PROGRAMS):
        seed = "%d %s %d %d" % (SEED, core, part, number)
        rand = random.Random(seed)
        interrupts = "none" if number % 8 == 7 else rand.choice(["soft", "timer", "timer"])
        elf = builder.random(core, rand.randrange(1 << 30), interrupts)
        for turn in range(RUNS):
            run = random_run(rand, tmp_path, core, elf, size=SIZES[(number * RUNS + turn) % len(SIZES)])
            truth = run.expected()
            same(run, run.decoded(), truth)
            assert not truth or "gaps      0" in run.messages
            seen.take(run, truth)
    wanted = {"wrapped", "not wrapped", "stopped", "halted", "I", "X", "R", "T", *SIZES}
    assert seen.all >= wanted, wanted - seen.all
    # SVC, PendSV, SysTick, four interrupts, UDF
    assert len(seen.all & {3, 11, 14, 15, 16, 17, 18, 19}) >= 6, seen.all
    assert seen.instructions > 100 * PROGRAMS * RUNS


@pytest.mark.parametrize("core", CORES)
def test_what_is_not_known(tmp_path, core):
    """Without the PCs of the begin and of the end: the packets alone."""
    builder, shorter = Builder(tmp_path), 0
    for number in range(60 if LONG else 6):
        rand = random.Random("unknown %d %s %d" % (SEED, core, number))
        elf = builder.random(core, rand.randrange(1 << 30), "timer")
        for _ in range(RUNS):
            run = random_run(rand, tmp_path, core, elf)
            known = {"halt_known": rand.random() < 0.3, "arm_known": rand.random() < 0.3}
            truth = run.expected(**known)
            same(run, run.decoded(options=run.options(**known)), truth)
            shorter += len(truth) < len(run.expected())
    assert shorter


def compiled(name, core, level):
    path = mtb_truth.SIM / ("cm-%s-%s-%s.elf" % (name, core, level))
    return Elf(path)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", ["work", "isr", "faults"])
def test_compiled(tmp_path, name, core, level):
    elf, seen = compiled(name, core, level), Seen()
    rand = random.Random("%s %s %s %d" % (name, core, level, SEED))
    # until it is at its end, a loop at one place
    length = {"work": 100000, "isr": 40000, "faults": 15000}[name]
    for turn in range(63 if LONG else 5):
        run = random_run(rand, tmp_path, core, elf, size=SIZES[turn * 2 % 9], skip=rand.randrange(length))
        truth = run.expected()
        same(run, run.decoded(), truth)
        seen.take(run, truth)
    assert "X" in seen.all or name == "work"


@pytest.mark.parametrize("lockup", LOCKUPS)
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("core", CORES)
def test_crash(tmp_path, core, chain, lockup):
    """A call of what is not there, its fault, and lock-up from there: also when only the last packets are kept."""
    for level in LEVELS:
        elf = compiled("lockup", core, level)
        for size in (32, 64, 1024):
            run = Run(tmp_path, core, elf, size=size, count=10000,
                      choices=["mtb-tail-chain=" + chain, "mtb-lockup=" + lockup])
            truth = run.expected()
            same(run, run.decoded(), truth)
            assert ["gap", 0x30000000] in truth
            assert size < 1024 or ["x", 3, 0x08000000] in truth
            assert (["x", mtb_truth.LOCKUP, 0x30000000] in truth) == (lockup == "packet")
            text = run.decode("--format", "instructions")
            assert "gap: no memory at 0x30000000" in text
            assert "branched to unmapped 0x" in run.messages
            assert "PC_HALT 0x%x: the core was in lock-up" % run.pc_halt in run.messages
            assert ("exception HardFault (0x03), returns to 0x08000000" in text) == (["x", 3, 0x08000000] in truth)
            assert ("exception Lockup" in text) == (lockup == "packet")


@pytest.mark.parametrize("core", CORES)
def test_vector_table(tmp_path, core):
    """Which exception it was is by the vector table: of another one, none or the wrong one is said."""
    elf = compiled("lockup", core, "O1")
    run = Run(tmp_path, core, elf, size=1024, count=10000)
    numbers = [event[1] for event in run.decoded() if event[0] == "x"]
    assert numbers == [event[1] for event in run.expected() if event[0] == "x"] and numbers[0] == 3
    # one word on what is the HardFault's place is NMI's
    options = [word if not word.startswith("VTOR") else "VTOR=0x4" for word in run.options()]
    moved = [event[1] for event in run.decoded(options=options) if event[0] == "x"]
    assert moved[0] == 2 and moved[1:] == numbers[1:]


def listed(text, lengths=()):
    """
    Addresses of a listing of instructions. What is folded is written out: stretches from branch to branch, of which
    @a lengths has the number of instructions in each.
    """
    found, lengths = [], iter(lengths)
    left = 0	# of the stretch that is being listed
    for line in text.splitlines():
        insn = re.match(r"0x([0-9a-f]{16}) ", line)
        times = re.match(r" +× (\d+)$", line)
        if insn and not left:
            left = length = next(lengths, 1)
        if insn:
            found.append(int(insn.group(1), 16))
            left -= 1
        elif times:
            assert not left, "a part of a stretch is folded"
            for _ in range(int(times.group(1)) - 1):
                assert next(lengths) == length
                found += found[-length:]
    return found


def stretches(run, *arguments):
    """Numbers of instructions in each."""
    lines = [json.loads(line) for line in run.decode("--format", "json", *arguments).splitlines()]
    return [line["count"] for line in lines if line["kind"] == "range"]


@pytest.mark.parametrize("core", CORES)
def test_fold_and_last(tmp_path, core):
    builder, folded = Builder(tmp_path), 0
    for number in range(40 if LONG else 8):
        rand = random.Random("fold %d %s %d" % (SEED, core, number))
        if number % 2:
            run = random_run(rand, tmp_path, core, builder.random(core, number, "timer"))
        else:
            # goes round in one place in the end
            elf = compiled("faults", core, LEVELS[number // 2 % 4])
            run = random_run(rand, tmp_path, core, elf, skip=rand.choice([4000, 40000]), count=4000)
        truth = instructions(run.expected())
        assert listed(run.decode("--format", "instructions")) == truth
        text = run.decode("--format", "instructions", "--fold", "on")
        assert listed(text, stretches(run)) == truth
        folded += "×" in text
        for last in (1, rand.randrange(1, 100), len(truth), len(truth) + 7):
            assert listed(run.decode("--format", "instructions", "--last", str(last))) == truth[-last:]
            text = run.decode("--format", "instructions", "--last", str(last), "--fold", "on")
            assert listed(text, stretches(run, "--last", str(last))) == truth[-last:]
    assert folded


@pytest.mark.parametrize("core", CORES)
def test_dump_of_ram(tmp_path, core):
    """The buffer in a dump of more: the whole RAM of the chip, a part of it, with anything in the rest."""
    builder = Builder(tmp_path)
    _, _, ram, aw, _ = CORES[core]
    dump = tmp_path / "dump"
    for number in range(60 if LONG else 10):
        rand = random.Random("dump %d %s %d" % (SEED, core, number))
        run = random_run(rand, tmp_path, core, builder.random(core, number, "timer"))
        begin = rand.choice([ram, run.addr - rand.randrange((run.addr - ram) // 4 + 1) * 4])
        end = rand.choice([ram + (1 << aw), run.addr + run.size + rand.randrange(1000)])
        dump.write_bytes(rand.randbytes(run.addr - begin) + run.image.read_bytes() +
                         rand.randbytes(end - run.addr - run.size))
        options = run.options() + ["--buffer", hex(begin)]
        same(run, run.decoded(image=dump, options=options), run.expected())
        # without BASE the low bits of addresses tell the place
        if end - begin <= 1 << aw:
            options = run.options(without=["BASE"]) + ["--buffer", hex(begin)]
            same(run, run.decoded(image=dump, options=options), run.expected())
        # without AW BASE leaves one place only that is in the dump, also on a Kinetis, where it is no multiple of 2^AW
        options = run.options(without=["AW"]) + ["--buffer", hex(begin)]
        same(run, run.decoded(image=dump, options=options), run.expected())


@pytest.mark.parametrize("core", CORES)
def test_stopped_trace_has_no_tail(tmp_path, core):
    """AUTOSTOP: nothing behind the last packet, whatever PC_HALT says."""
    elf = compiled("isr", core, "O1")
    addr = CORES[core][4][0]
    watermark = (addr + 1024 - 8) & ((1 << CORES[core][3]) - 1)
    run = Run(tmp_path, core, elf, size=1024, addr=addr, count=20000, flow=watermark | AUTOSTOP)
    assert not run.registers["master"] & EN and run.packets == 127
    same(run, run.decoded(), run.expected())
    assert "PC_HALT is not used" in run.messages
    # much has run since
    assert len(run.expected()) < len(run.happened) // 4


def test_density():
    """Instructions in 1 KB, as make bench has them; times of the Cortex-M0+ worked by hand."""
    assert mtb_density.ALLOWED[0] <= mtb_density.measure("O2")[0] <= mtb_density.ALLOWED[1]
    times = {0x2001: 1, 0x4348: 1, 0x6808: 2, 0x4801: 2, 0xb510: 3, 0xbc10: 2, 0xbd10: 5, 0xc807: 4, 0xe7fe: 2,
             0x4770: 2, 0x4687: 2, 0x46c0: 1, 0xf000: 3, 0xb2c0: 1, 0xb082: 1}
    assert {half: mtb_density.cycles(half, False) for half in times} == times
    assert (mtb_density.cycles(0xd001, False), mtb_density.cycles(0xd001, True)) == (1, 2)
