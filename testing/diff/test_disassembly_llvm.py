# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every line of itrace_disassemble() against another authority: LLVM 22's llvm-mc.
#
# Structured-random opcodes of each instruction set are printed by us and disassembled by llvm-mc. A line of ours passes
# when both texts are the same after small differences of syntax are taken out, or when llvm-mc assembles our text to
# the same opcode, or to one that it prints like the given opcode (bits that should be zero or one). A line is wrong
# when it names another instruction or one where LLVM sees none. `.inst` is never wrong, but how often it stands for a
# known instruction is limited, too.
#
# Environment: LONG=1 for many more opcodes, SEED, CC, DISASSEMBLE_LINES (a driver that is built already).

import os
import random
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent.parent / "src-overlay" / "src" / "itrace"
LLVM_MC = os.environ.get("LLVM_MC") or next(
    (path for path in ("/usr/lib/llvm-22/bin/llvm-mc", shutil.which("llvm-mc-22")) if path and os.path.exists(path)),
    None)
LONG = os.environ.get("LONG") == "1"
SEED = int(os.environ.get("SEED", "1"))

pytestmark = pytest.mark.skipif(not LLVM_MC, reason="llvm-mc of LLVM 22 is missing (package llvm-22)")

A_FEATURES = ("+neon,+fp-armv8,+fullfp16,+fp16fml,+aes,+sha2,+crc,+sb,+dotprod,+i8mm,+bf16,+virtualization,+mp,"
              "+trustzone,+hwdiv,+hwdiv-arm,+clrbhb,+ras")
V7_FEATURES = "+neon,+vfp4,+virtualization,+mp,+trustzone,+hwdiv,+hwdiv-arm"
# triples and features: one of them has to agree (Armv8 has only two coprocessors, Armv7 has sixteen)
SETS = {
    "a64": [("aarch64", "+all")],
    "a32": [("armv9a", A_FEATURES), ("armv7a", V7_FEATURES)],
    "t32": [("thumbv9a", A_FEATURES), ("thumbv7a", V7_FEATURES)],
    "m": [("thumbv8.1m.main", "+mve.fp,+fp-armv8,+fp64,+fullfp16,+dsp,+8msecext,+pacbti,+lob"),
          ("thumbv7em", "+vfp4,+fp64,+d32")],
}
# share of the opcodes known to LLVM for which we must have a text; measured values are a little higher
COVERAGE = {"a64": 0.30, "a32": 0.70, "t32": 0.70, "m": 0.60}


def is_long(name, opcode):
    """Whether the opcode has four bytes."""
    return name in ("a64", "a32") or opcode > 0xffff


def to_bytes(name, opcode):
    if name in ("a64", "a32"):
        return struct.pack("<I", opcode)
    if opcode > 0xffff:
        return struct.pack("<HH", opcode >> 16, opcode & 0xffff)
    return struct.pack("<H", opcode)


def from_bytes(name, data):
    if name in ("a64", "a32"):
        return struct.unpack("<I", data)[0]
    if len(data) == 4:
        high, low = struct.unpack("<HH", data)
        return high << 16 | low
    return struct.unpack("<H", data)[0]


def run_llvm(machine, text, disassemble):
    triple, features = machine
    command = [LLVM_MC, f"-triple={triple}", f"-mattr={features}", "--show-encoding"]
    if disassemble:
        command.append("--disassemble")
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return result.stdout, result.stderr


ENCODING = re.compile(r"\s*(?:@|//) encoding: \[([^\]]*)\]")


def parse_listing(line):
    """(text, bytes or None) of a line of llvm-mc --show-encoding."""
    match = ENCODING.search(line)
    if not match:
        return line.strip(), None
    try:
        data = bytes(int(part, 0) for part in match.group(1).split(","))
    except ValueError:
        data = None     # has fixups
    return line[:match.start()].strip(), data


def llvm_disassemble(name, machine, opcodes):
    """Text of each opcode, None for what LLVM does not know."""
    lines = []
    for opcode in opcodes:
        lines.append("[" + " ".join(f"0x{byte:02x}" for byte in to_bytes(name, opcode)) + "]")
    stdout, stderr = run_llvm(machine, "\n".join(lines) + "\n", True)
    bad = {int(number) - 1 for number in re.findall(r"<stdin>:(\d+):\d+: warning: invalid instruction", stderr)}
    texts = [None] * len(opcodes)
    listing = [parse_listing(line) for line in stdout.splitlines() if ENCODING.search(line)]
    position = 0
    for index, opcode in enumerate(opcodes):
        data = to_bytes(name, opcode)
        if index in bad:
            # the second half of a bad 32-bit opcode may have been printed
            while position < len(listing) and len(data) == 4 and name in ("t32", "m") \
                    and listing[position][1] in (data[:2], data[2:]):
                position += 1
            continue
        text, encoding = listing[position]
        position += 1
        assert len(encoding) == len(data), (hex(opcode), text, encoding)
        texts[index] = text
    assert position == len(listing)
    return texts


def llvm_assemble(name, machine, texts):
    """Opcode of each text, None for what LLVM does not take. Of 'it eq; moveq ...' it is the last one's."""
    lines = [".syntax unified"] if name != "a64" else []
    for index, text in enumerate(texts):
        lines += [f"label{index}:"] + text.split("; ")
    stdout, _ = run_llvm(machine, "\n".join(lines) + "\n", False)
    found = [[] for _ in texts]
    index = None
    for line in stdout.splitlines():
        match = re.match(r"label(\d+):", line)
        if match:
            index = int(match.group(1))
            continue
        _, data = parse_listing(line)
        if index is not None and data is not None and len(data) in (2, 4):
            found[index].append(from_bytes(name, data))
    return [codes[-1] if len(codes) == text.count("; ") + 1 else None for text, codes in zip(texts, found)]


# ---------------------------------------------------------------------------------------------------------------------
# opcodes


def spread(rng, low, width):
    """A value of `width` bits whose five-bit or four-bit fields like to be all ones or all zeros."""
    kind = rng.randrange(4)
    value = rng.getrandbits(width)
    if kind == 0:
        return value
    step = 5 if kind < 3 else 4
    for position in range(0, width, step):
        choice = rng.randrange(6)
        mask = ((1 << step) - 1) << position
        if choice == 0:
            value |= mask
        elif choice == 1:
            value &= ~mask
    return value & ((1 << width) - 1)


def opcodes_a64(rng, count):
    result = []
    for index in range(count):
        result.append((index * 0x9e5 & 0x7ff) << 21 | spread(rng, 0, 21))
    # system instructions, branches, hints: dense and rare
    for _ in range(count // 8):
        result.append(0xd5000000 | rng.getrandbits(22) | (31 if rng.randrange(2) else 0))
        result.append(0xd5030000 | rng.getrandbits(13) | (31 if rng.randrange(2) else 0))
        result.append(0xd6000000 | spread(rng, 0, 25))
        result.append(0x74000000 | spread(rng, 0, 26) | rng.getrandbits(1) << 31)
        result.append(0x54000000 | spread(rng, 0, 26))
    result += [0xd503201f | number << 5 for number in range(128)]
    # barriers and MSR immediate; system instructions and registers, with and without a general register
    result += [0xd503301f | number << 5 for number in range(128)]
    result += [0xd500401f | op1 << 16 | number << 5 for op1 in range(8) for number in range(128)]
    for number in range(rng.randrange(1 if LONG else 11), 1 << 14, 1 if LONG else 11):
        for kind in (0xd5080000, 0xd5100000, 0xd5180000, 0xd5280000, 0xd5300000, 0xd5380000):
            result += [kind | number << 5 | 31, kind | number << 5 | 5]
    return result


def opcodes_a32(rng, count):
    result = []
    for index in range(count):
        cond = (14, 14, 15, rng.randrange(16))[rng.randrange(4)]
        result.append(cond << 28 | (index * 0x9e5 & 0xfff) << 16 | spread(rng, 0, 16))
    for _ in range(count // 8):
        result.append(0xe0000000 | rng.getrandbits(25) & ~0x60 | 0xf000 | rng.getrandbits(2) << 5)
        result.append(0xf0000000 | spread(rng, 0, 28))
        result.append(0x0320f000 | 14 << 28 | rng.getrandbits(8))
        result.append(0xe1000000 | spread(rng, 0, 23))
    return result


def opcodes_t32(rng, count):
    # IT changes what follows in a listing and has a test of its own
    result = [opcode for opcode in range(0, 0xe800, 1 if LONG else 5)
              if not 0xbf00 < opcode < 0xc000 or not opcode & 15]
    for index in range(count):
        high = 0xe800 + (index * 0x9e5) % 0x1800
        result.append(high << 16 | spread(rng, 0, 16))
    for _ in range(count // 8):
        result.append(0xf0008000 | rng.getrandbits(11) << 16 | spread(rng, 0, 15))
        result.append(0xf3af8000 | rng.getrandbits(8))
        result.append(0xf000c001 | rng.getrandbits(11) << 16 | spread(rng, 0, 14))
        result.append(0xe8400000 | rng.getrandbits(20) | (0xf000 if rng.randrange(2) else 0))
        result.append(0xf850f000 | spread(rng, 0, 12) | rng.getrandbits(4) << 16)
        result.append(0xf3800000 | rng.getrandbits(7) << 16 | 0x8000 | spread(rng, 0, 14))
    return result


# VPT and VPST, which give the instructions behind them another text, and what is near them
VPT = [(0xffbf0f00, 0xfe310f00), (0xffb10f50, 0xfe310f40), (0xff811f00, 0xfe011f00), (0xef811f00, 0xee011f00),
       (0xefb10f50, 0xee310f40), (0xefff0f00, 0xee710f00), (0xee800f00, 0xee000f00)]


def is_vpt(opcode):
    return any(opcode & mask == value for mask, value in VPT)


def opcodes(name, count):
    rng = random.Random(f"{name} {SEED}")
    if name == "a64":
        result = opcodes_a64(rng, count)
    elif name == "a32":
        result = opcodes_a32(rng, count)
    else:
        result = [opcode for opcode in opcodes_t32(rng, count) if not is_vpt(opcode)]
    return sorted(set(result))


# ---------------------------------------------------------------------------------------------------------------------
# texts

PC_BIAS = {"a64": 0, "a32": 8, "t32": 4, "m": 4}
RELATIVE = re.compile(r"(?<![#\w\[-])0x([0-9a-f]+)(?=$|, (?!#))")


def assembler_text(name, text):
    """Our text as llvm-mc takes it at address 0: absolute addresses become offsets."""
    def offset(match):
        value = int(match.group(1), 16)
        bits = 64 if name == "a64" else 32
        value -= PC_BIAS[name]
        value &= (1 << bits) - 1
        if value >> (bits - 1):
            value -= 1 << bits
        return f"#{value}"

    if text.startswith("."):
        return text
    return RELATIVE.sub(offset, text)


def canonical(name, text):
    """Without what is only a matter of taste; numbers modulo the size of a register."""
    mask = (1 << (64 if name == "a64" else 32)) - 1
    text = re.split(r"\s*(?://|@)", text.lower())[0]
    text = text.replace("\t", " ").replace("#", "").replace("{ ", "{").replace(" }", "}")
    text = re.sub(r"-?0x[0-9a-f]+|(?<![\w.])-?\d+(?![\w.])", lambda match:
                  str(int(match.group(0), 16 if "x" in match.group(0) else 10) & mask), text)
    return re.sub(r"\s+", " ", text).strip()


def same(name, ours, theirs):
    return canonical(name, assembler_text(name, ours)) == canonical(name, theirs)


# ---------------------------------------------------------------------------------------------------------------------
# the comparison


class Result:
    def __init__(self):
        self.wrong = []         # (opcode, ours, theirs, reassembled)
        self.known = 0          # opcodes that LLVM knows
        self.printed = 0        # of them, those that we print
        self.unknown = {}       # mnemonic of LLVM: how often we print .inst


def run_driver(driver, name, lines):
    """Our answer to each line."""
    result = subprocess.run([driver, name], input="\n".join(lines) + "\n", stdout=subprocess.PIPE, text=True,
                            check=True)
    answers = result.stdout.split("\n")
    assert answers.pop() == "" and len(answers) == len(lines)
    return answers


def judge(name, machine, ours):
    """For each (opcode, text) of ours: (right, text of LLVM or None, opcode that our text assembles to or None)."""
    theirs = llvm_disassemble(name, machine, [opcode for opcode, _ in ours])
    verdicts = [[their is not None and same(name, our, their), their, None] for (_, our), their in zip(ours, theirs)]
    doubtful = [index for index, (right, _, _) in enumerate(verdicts)
                if not right and not ours[index][1].startswith(".")]
    encoded = llvm_assemble(name, machine, [assembler_text(name, ours[index][1]) for index in doubtful])
    others = sorted({code for code in encoded if code is not None})
    texts = dict(zip(others, llvm_disassemble(name, machine, others)))
    for index, code in zip(doubtful, encoded):
        verdict = verdicts[index]
        verdict[2] = code
        verdict[0] = code is not None and \
            (code == ours[index][0] or verdict[1] is not None and texts[code] == verdict[1])
    return verdicts


def compare(driver, name, candidates):
    lines = [f"{opcode:08x}" if is_long(name, opcode) else f"{opcode:04x}" for opcode in candidates]
    ours = list(zip(candidates, run_driver(driver, name, lines)))

    result = Result()
    verdicts = judge(name, SETS[name][0], ours)
    for machine in SETS[name][1:]:
        again = [index for index, (right, _, _) in enumerate(verdicts) if not right]
        for index, other in zip(again, judge(name, machine, [ours[index] for index in again])):
            if other[0] or verdicts[index][1] is None:
                verdicts[index] = other

    for (opcode, our), (right, their, code) in zip(ours, verdicts):
        assert our and our.isprintable()
        if their is not None:
            result.known += 1
        if our.startswith("."):
            assert our.split()[0] in (".inst", ".inst.n", ".inst.w")
            assert our.split()[1] == (f"0x{opcode:08x}" if is_long(name, opcode) else f"0x{opcode:04x}")
            if their is not None:
                mnemonic = their.split()[0]
                result.unknown[mnemonic] = result.unknown.get(mnemonic, 0) + 1
            continue
        if their is not None:
            result.printed += 1
        if not right:
            result.wrong.append((opcode, our, their, code))
    return result


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The program that prints opcodes, built with capstone where it is installed."""
    given = os.environ.get("DISASSEMBLE_LINES")
    if given:
        return given
    program = tmp_path_factory.mktemp("disassembly") / "disassemble_lines"
    command = [os.environ.get("CC", "cc"), "-std=gnu11", "-O2", f"-I{SOURCES / 'report'}",
               str(HERE / "disassemble_lines.c"), str(SOURCES / "report" / "disassembly.c")]
    command += [str(SOURCES / f"insn_{name}.c") for name in ("a64", "a32", "t32")]
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "capstone"], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True, check=False)
    if flags.returncode:
        pytest.skip("capstone is missing (package libcapstone-dev)")
    command += ["-DHAVE_CAPSTONE=1"] + flags.stdout.split() + ["-o", str(program)]
    subprocess.run(command, check=True)
    return str(program)


def describe(result):
    lines = [f"{len(result.wrong)} wrong of {result.printed} printed"]
    for opcode, our, their, code in result.wrong[:40]:
        lines.append(f"  {opcode:08x}: ours '{our}', LLVM '{their}', assembles to "
                     + (f"{code:08x}" if code is not None else "nothing"))
    return "\n".join(lines)


@pytest.mark.parametrize("name", list(SETS))
def test_every_line_is_right(driver, name):
    count = 400000 if LONG else 12000
    result = compare(driver, name, opcodes(name, count))
    assert not result.wrong, describe(result)
    assert result.printed > 1000
    assert result.printed / result.known >= COVERAGE[name], (result.printed, result.known)


CONDITIONS = ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"]


@pytest.mark.parametrize("name", ["t32", "m"])
def test_it_block(driver, name):
    """The instruction behind an IT bears its condition, and is still the same instruction."""
    rng = random.Random(f"it {name} {SEED}")
    candidates = [opcode for opcode in opcodes(name, 20000 if LONG else 2000) if not 0xbf00 <= opcode < 0xc000]
    candidates = rng.sample(candidates, min(len(candidates), 100000 if LONG else 3000))
    pairs = [(0xbf08 | rng.randrange(14) << 4, opcode) for opcode in candidates]
    ours = run_driver(driver, name, [f"{it:04x} {opcode:0{8 if opcode > 0xffff else 4}x}" for it, opcode in pairs])

    doubtful = []
    for (it, opcode), our in zip(pairs, ours):
        first, second = our.split("\t")
        condition = CONDITIONS[it >> 4 & 15]
        assert first == f"it {condition}"
        if not second.startswith(".inst"):
            doubtful.append((it, opcode, first, second))
    assert len(doubtful) > len(pairs) // 4

    # the address of the second instruction is 2 here: label arithmetic is the other test's business
    wrong = [entry for entry in doubtful if not RELATIVE.search(entry[3])]
    for machine in SETS[name]:
        texts = [f"{first}; {second}" for _, _, first, second in wrong]
        codes = llvm_assemble(name, machine, texts)
        known = llvm_disassemble(name, machine, [opcode for _, opcode, _, _ in wrong])
        others = sorted({code for code in codes if code is not None})
        names = dict(zip(others, llvm_disassemble(name, machine, others)))
        # or LLVM prints the same, but for the condition
        left = [(entry, code) for entry, code, text in zip(wrong, codes, known)
                if code != entry[1] and (code is None or text is None or names[code] != text)
                and not (text and same(name, entry[3].replace(entry[2].split()[1], "", 1), text))]
        wrong = [entry for entry, _ in left]
    refused = sum(code is None for _, code in left)
    # UNPREDICTABLE in an IT block, or anywhere: the assembler refuses it
    assert refused < len(doubtful) // 4, [entry for entry, code in left if code is None][:20]
    left = [(entry, code) for entry, code in left if code is not None]
    assert not left, "\n".join(f"{entry[1]:x}: {entry[2]}; {entry[3]} -> {code:x}" for entry, code in left[:20])


def test_it(driver):
    """IT itself: every condition and mask."""
    candidates = [0xbf00 | number for number in range(0xf0) if number & 15]
    ours = run_driver(driver, "t32", [f"{opcode:04x}" for opcode in candidates])
    for opcode, our in zip(candidates, ours):
        their = llvm_disassemble("t32", SETS["t32"][0], [opcode])[0] if LONG or opcode % 7 == 0 else None
        assert their is None or canonical("t32", our) == canonical("t32", their), hex(opcode)
        assert our.split()[1] == (CONDITIONS + ["al"])[opcode >> 4 & 15]
