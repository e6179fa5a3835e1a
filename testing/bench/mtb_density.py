#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of a program 1 KB of a Micro Trace Buffer holds: instructions, and cycles of a Cortex-M0+.

The KL25 reference manual says for Dhrystone 2.1: 875 instructions, about 1600 cycles. Here a program of our own with a
like mix (testing/sim/programs/cortexm_density.c) runs on the simulated Cortex-M0+. Instructions and packets are
counted; cycles are modelled: by the timing table of the processor's manual with zero wait states, no bus contention and
no trace writes that delay it.

Lines 'figure NAME VALUE' at the end; status 1 if -O2 is not within 600 to 1200 instructions for each KB.
"""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIM = pathlib.Path(os.environ.get("SIM_BUILD") or ROOT / os.environ.get("O", "build") / "sim")
LEVELS = ("O0", "O1", "O2", "Os")
MANUAL = (875, 1600)
ALLOWED = (600, 1200)
PACKETS_PER_KB = 128
SKIP, COUNT = 20000, 200000

# Cortex-M0+ Technical Reference Manual (DDI 0484C), section 3.3, table 3.1: zero wait states, the multiplier of one
# cycle (the KL25 has it), no port of single cycles. (mask, bits, cycles, for each register of the list, if taken); the
# first that fits; all others: 1 cycle.
TIMES = [
    (0xff00, 0xbd00, 3, 1, 0),		# POP with PC, which is counted with the registers
    (0xff00, 0xbc00, 1, 1, 0),		# POP
    (0xfe00, 0xb400, 1, 1, 0),		# PUSH
    (0xf000, 0xc000, 1, 1, 0),		# LDM, STM
    (0xf800, 0x4800, 2, 0, 0),		# LDR literal
    (0xf000, 0x5000, 2, 0, 0),		# loads and stores by register
    (0xe000, 0x6000, 2, 0, 0),		# LDR, STR, LDRB, STRB
    (0xf000, 0x8000, 2, 0, 0),		# LDRH, STRH
    (0xf000, 0x9000, 2, 0, 0),		# LDR, STR by SP
    (0xff00, 0xdf00, None, 0, 0),	# SVC: an exception, not in the table
    (0xf000, 0xd000, 1, 0, 1),		# B conditional
    (0xf800, 0xe000, 2, 0, 0),		# B
    (0xff00, 0x4700, 2, 0, 0),		# BX, BLX
    (0xff87, 0x4687, 2, 0, 0),		# MOV to PC
    (0xff87, 0x4487, 2, 0, 0),		# ADD to PC
    (0xf800, 0xf000, 3, 0, 0),		# BL, MRS, MSR, barriers
]


def cycles(half, taken):
    """Of an instruction by its first halfword."""
    for mask, bits, base, each, branch in TIMES:
        if half & mask == bits:
            if base is None:
                raise ValueError("no time is known for %#06x" % half)
            # bit 8 of PUSH and POP: LR, PC
            registers = half & (0x1ff if mask & 0x0400 else 0xff)
            return base + each * bin(registers).count("1") + branch * taken
    return 1


def code_of(path):
    """Halfword by address, from the program headers."""
    data = path.read_bytes()
    phoff, = struct.unpack_from("<I", data, 28)
    entsize, count = struct.unpack_from("<HH", data, 42)
    code = {}
    for n in range(count):
        kind, off, addr, _, size = struct.unpack_from("<5I", data, phoff + n * entsize)
        if kind == 1:
            code.update((addr + at, half[0]) for at, half in
                        zip(range(0, size, 2), struct.iter_unpack("<H", data[off:off + size // 2 * 2])))
    return code


def measure(level):
    """Instructions and modelled cycles for each KB of trace."""
    elf = SIM / ("cm-density-m0-%s.elf" % level)
    code = code_of(elf)
    instructions = packets = spent = 0
    with tempfile.NamedTemporaryFile("r") as log:
        subprocess.run([str(SIM / "cortexm_trace"), "--target", "cortex-m0plus", "--program", str(elf),
                        "--skip", str(SKIP), "--max", str(COUNT), "--mtb", "0x1ffff000/0x1000", "--log", log.name],
                       check=True)
        for line in log:
            if line[0] == "I":
                instructions += 1
                spent += cycles(code[int(line[2:10], 16)], line[13] == "T")
            elif line[0] == "M":
                packets += 1
            elif line[0] not in "BE":
                raise ValueError("the program takes exceptions: " + line)
    return PACKETS_PER_KB * instructions / packets, PACKETS_PER_KB * spent / packets


def report():
    """→ lines of text, figures by name"""
    lines = ["MTB: how much 1 KB (128 packets) holds; cycles are modelled (Cortex-M0+ timing table, zero wait states)",
             "%-34s %5d instructions  about %5d cycles" % ("KL25 manual, Dhrystone 2.1", *MANUAL)]
    figures = {}
    for level in LEVELS:
        found = measure(level)
        lines.append("%-34s %5.0f instructions        %5.0f cycles (modelled)" % (
            "program of our own, clang -" + level, *found))
        figures["mtb-instructions-per-kb-" + level], figures["mtb-cycles-per-kb-" + level] = found
    return lines, figures


def build():
    programs = ["%s/cm-density-m0-%s.elf" % (SIM, level) for level in LEVELS]
    subprocess.run(["make", "-s", "-f", str(ROOT / "testing/sim/Makefile.sim"), "BUILD=%s" % SIM,
                    "%s/cortexm_trace" % SIM, *programs], check=True, stdout=subprocess.DEVNULL)


def main():
    build()
    lines, figures = report()
    print(*lines, *("figure %s %.0f" % pair for pair in figures.items()), sep="\n")
    return not ALLOWED[0] <= figures["mtb-instructions-per-kb-O2"] <= ALLOWED[1]


if __name__ == "__main__":
    sys.exit(main())
