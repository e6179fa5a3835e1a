# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of a simulated Cortex-M (README.md, section "Cortex-M"), and the packets that an MTB must write for it."""

import struct


def vectors(path):
    """Handlers by exception number, from an ELF file that begins with its vector table."""
    with open(path, "rb") as file:
        data = file.read()
    phoff, = struct.unpack_from("<I", data, 28)
    entsize, count = struct.unpack_from("<HH", data, 42)
    for n in range(count):
        kind, offset, _, _, size = struct.unpack_from("<5I", data, phoff + n * entsize)
        if kind == 1 and size >= 192:
            return [word & ~1 for word in struct.unpack_from("<48I", data, offset)]
    raise ValueError("no vector table")


def read(path):
    """Lines as lists of words."""
    with open(path, encoding="utf-8") as file:
        return [line.split() for line in file]


def written(lines):
    """Packets that were written: (source word, destination word)."""
    return [(int(words[2], 16), int(words[3], 16)) for words in lines if words[0] == "M"]


def addresses(lines):
    """Where they were written."""
    return [int(words[1], 16) for words in lines if words[0] == "M"]


class Expected:
    """Packets by the rules of the MTB, from all lines but M: (source word, destination), no start bits."""

    def __init__(self, handlers, unstacked=False, silent_lockup=False, debug_pc=True, lockup=0xfffffffe):
        self.handlers = handlers
        self.unstacked = unstacked
        self.silent_lockup = silent_lockup
        self.lockup = lockup	# 0xeffffffe on Armv8-M
        self.debug_pc = debug_pc
        self.packets = []
        self.branch = None	# source of one whose destination is not known yet

    def arrive(self, pc):
        if self.branch is not None:
            self.packets.append((self.branch, pc & ~1))
        self.branch = None

    def atomic(self, source, destination):
        self.packets.append((source & ~1 | 1, destination & ~1))

    def line(self, words):
        kind, numbers = words[0], words[1:]
        if kind == "I":
            self.arrive(int(numbers[0], 16))
            if numbers[2] == "T":
                self.branch = int(numbers[0], 16)
        elif kind == "X":
            pc = int(numbers[1], 16)
            self.arrive(pc)
            self.atomic(pc, self.handlers[int(numbers[0])])
        elif kind == "T":
            value = int(numbers[1], 16)
            self.arrive(value)
            if self.unstacked:
                self.atomic(value, int(numbers[2], 16))
                value = int(numbers[2], 16)
            self.atomic(value, self.handlers[int(numbers[0])])
        elif kind == "R":
            value = int(numbers[0], 16)
            self.arrive(value)
            self.atomic(value, int(numbers[1], 16))
        elif kind == "L":
            self.arrive(int(numbers[0], 16))
            if not self.silent_lockup:
                self.atomic(int(numbers[0], 16), self.lockup)
        elif kind == "D":
            if self.debug_pc or numbers[0] != numbers[1]:
                self.atomic(int(numbers[0], 16), int(numbers[1], 16))
        elif kind in "HE":
            self.arrive(int(numbers[0], 16))

    def of(self, lines):
        for words in lines:
            if words[0] in "Z":
                raise ValueError("a reset ends the trace")
            if words[0] != "M":
                self.line(words)
        return self.packets


def instructions(lines):
    """Addresses of all that were executed."""
    return [int(words[1], 16) for words in lines if words[0] == "I"]
