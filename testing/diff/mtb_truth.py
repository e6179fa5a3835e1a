# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Cortex-M really did, and what of it a Micro Trace Buffer holds: the truth for its decoder.

One run of the simulator gives a log with each instruction, each exception, and each packet where it was written. The
window that the buffer holds follows from the packets alone: the newest ones that fit; from the first of them on, or
from where trace was armed if none was overwritten; up to the halt if trace was on until then, else up to the last one.
Nothing here asks the decoder, and nothing reads packets to find out what ran.

Events, as lists: ["i", address], ["x", number, return address or None], ["r", EXC_RETURN], ["gap", address]: the branch
before it went where no code is. ["chain?", number]: see Window.resumed().
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "testing/sim"))
import cortexm_random	# noqa: E402  pylint: disable=wrong-import-position

SIM = pathlib.Path(os.environ.get("SIM_BUILD") or ROOT / "build/sim")
ITRACE = os.environ.get("ITRACE") or str(ROOT / "build/bin/itrace")
EN = 1 << 31
WRAP = 4
AUTOSTOP, AUTOHALT = 1, 2
LOCKUP = 0x1a	# its number among the exceptions of a trace
LOCKED_UP = (0xfffffffe, 0xeffffffe)

# name: (target of the simulator, its options, RAM, its address bits, where a buffer can be)
CORES = {
    "m0": ("cortex-m0plus", ["--ram", "0x1fffe000/0x8000"], 0x1fffe000, 15, (0x1fffe000, 0x20000000)),
    "m33": ("cortex-m33", [], 0x20000000, 16, (0x2000a000, 0x20010000)),
}


# ---- programs ----

class Elf:
    """What of an ELF file is needed: where its code is, and its vectors."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        data = self.path.read_bytes()
        phoff, = struct.unpack_from("<I", data, 28)
        entsize, count = struct.unpack_from("<HH", data, 42)
        heads = [struct.unpack_from("<5I", data, phoff + n * entsize) for n in range(count)]
        self.code = [(addr, data[off:off + size]) for kind, off, addr, _, size in heads if kind == 1 and size]
        self.vectors = [word & ~1 for word in struct.unpack_from("<24I", self.code[0][1])]

    def has(self, addr):
        return any(start <= addr < start + len(data) for start, data in self.code)

    def numbers(self, handler):
        """Exceptions with this handler."""
        return [n for n in range(2, len(self.vectors)) if self.vectors[n] == handler]


class Builder:
    """Random programs; what is the same in all of them is assembled once."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def assemble(self, core, source, to):
        subprocess.run(["clang", "--target=" + cortexm_random.TARGETS[core], "-c", str(source), "-o", str(to)],
                       check=True)

    def random(self, core, seed, interrupts):
        programs = ROOT / "testing/sim/programs"
        start, source, code, elf = (self.folder / (core + name) for name in ("-start.o", ".s", ".o", ".elf"))
        if not start.exists():
            self.assemble(core, programs / "cortexm_start.S", start)
        source.write_text(cortexm_random.Program(core, seed, interrupts).text(), encoding="utf-8")
        self.assemble(core, source, code)
        subprocess.run(["ld.lld", "-T", str(programs / "cortexm.ld"), "--defsym=CODE=0", "--defsym=DATA=0x20000000",
                        "--defsym=DATA_SIZE=0x3000", "-o", str(elf), str(start), str(code)], check=True)
        return Elf(elf)


# ---- one run ----

class Run:
    """A program that ran under trace."""

    def __init__(self, folder, core, elf, *, size, count, skip=0, seed=1, addr=None, flow=0, choices=(), stop=None):
        target, options, self.ram, self.aw, places = CORES[core]
        self.core, self.elf, self.size = core, elf, size
        self.unstacked = "mtb-tail-chain=unstacked" in choices
        addr = next(place for place in places if place % size == 0) if addr is None else addr
        self.log, self.image = folder / "log", folder / "image"
        command = [str(SIM / "cortexm_trace"), "--target", target, *options, "--program", str(elf.path), "--max",
                   str(count), "--skip", str(skip), "--seed", str(seed), "--log", str(self.log),
                   "--mtb", "%#x/%#x" % (addr, size), "--flow", "%#x" % flow, "--image", str(self.image)]
        for choice in choices:
            command += ["--choose", choice]
        if stop:
            command += ["--stop", hex(stop)]
        self.command = " ".join(command)
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=120, universal_newlines=True).stdout
        self.registers = {name: int(value, 16) for name, value in re.findall(r"(\w+) 0x([0-9a-f]+)", text)}
        self.addr = self.registers["buffer"]
        assert self.addr == addr, text
        self.read_log()

    def read_log(self):
        with open(self.log, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        assert lines[0][0] == "B" and lines[-1][0] == "E"
        self.pc_arm, self.pc_halt = int(lines[0][1], 16), int(lines[-1][1], 16)
        self.sizes = {}
        self.packets = 0
        # what happened, and the packets of each
        self.happened = []
        for words in lines[1:-1]:
            if words[0] == "M":
                self.happened[-1][1].append((self.packets, int(words[2], 16), int(words[3], 16)))
                self.packets += 1
            elif words[0] != "H":
                self.happened.append((words, []))
                if words[0] == "I":
                    self.sizes[int(words[1], 16)] = int(words[2])

    @property
    def wrapped(self):
        return self.packets >= self.size // 8

    @property
    def on(self):
        """Trace was on until the end."""
        return bool(self.registers["master"] & EN)

    def expected(self, halt_known=True, arm_known=True):
        """Events of the window that the buffer holds."""
        window = Window(self.elf, max(0, self.packets - self.size // 8), self.packets, v8m=self.core == "m33",
                        unstacked=self.unstacked)
        from_arm = arm_known and not self.wrapped
        to_halt = halt_known and self.on
        for words, packets in self.happened:
            kept = [packet for packet in packets if packet[0] >= window.first]
            # what has no packet in the buffer is known if it is between two that are, or at an end that is known
            window.inside = window.inside or bool(kept) or from_arm
            if not window.inside:
                continue
            if not kept and not to_halt and window.done:
                break
            window.line(words, packets, kept)
        window.end()
        return window.events

    # ---- the decoder ----

    def options(self, halt_known=True, arm_known=True, without=()):
        registers = {"POSITION": self.registers["position"], "MASTER": self.registers["master"],
                     "FLOW": self.registers["flow"], "BASE": self.ram, "AW": self.aw, "VTOR": 0}
        if halt_known:
            registers["PC_HALT"] = self.pc_halt
        if arm_known:
            registers["PC_ARM"] = self.pc_arm
        return [word for name, value in registers.items() if name not in without
                for word in ("--reg", "%s=%#x" % (name, value))]

    def decode(self, *arguments, image=None, options=None):
        command = [ITRACE, "decode", "--trace", str(image or self.image), "--protocol", "mtb",
                   "--elf", str(self.elf.path)]
        command += self.options() if options is None else options
        self.command = self.command.split("\n")[0] + "\n" + " ".join(command)
        done = subprocess.run(command + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=120, universal_newlines=True)
        self.messages = done.stderr
        # a packet or two can tell of an exception, and of no instruction
        assert done.returncode in (0, 3) or (done.returncode == 1 and '"range"' not in done.stdout), done.stderr
        return done.stdout

    def decoded(self, *arguments, image=None, options=None):
        """The same events, as the decoder has them."""
        events = []
        for line in self.decode("--format", "json", *arguments, image=image, options=options).splitlines():
            event = json.loads(line)
            kind = event["kind"]
            if kind == "range":
                self.walk(int(event["addr"], 16), int(event["end"], 16), event["count"], events)
            elif kind == "exception":
                back = int(event["return_addr"], 16) if event.get("return_addr") else None
                events.append(["x", event["number"], back])
            elif kind == "exception-return":
                # bit 0 is the packet's own flag
                events.append(["r", int(event["exc_return"], 16) & ~1])
            elif kind == "gap":
                events.append(["gap", int(event["addr"], 16)] if event["cause"] == "no-memory" else event)
        return events

    def walk(self, addr, end, count, events):
        before = len(events)
        while addr < end:
            events.append(["i", addr])
            addr += self.sizes.get(addr, 2)		# what never ran is a difference anyway
        if len(events) - before != count:
            events.append("counted as %d instructions" % count)


class Window:
    """Events of a log from packet @a first on, of which there are @a count in all."""

    def __init__(self, elf, first, count, *, v8m, unstacked):
        self.elf, self.first, self.count, self.v8m, self.unstacked = elf, first, count, v8m, unstacked
        self.events = []
        self.inside = False
        self.done = count == 0		# the last packet was seen
        self.target = None		# of the branch just before, if it is known
        self.returning = False		# the branch to EXC_RETURN was seen
        self.open = []			# return addresses of exceptions that were entered here

    def exception(self, number, back):
        if back is not None and back == self.target and not self.elf.has(back):
            self.events.append(["gap", back])
        self.events.append(["x", number, back])
        self.target = None

    def resumed(self, pc, value):
        """
        A handler that was interrupted before its first instruction is gone back to. When it was interrupted is not in
        the buffer any more: by the packets it can as well have been chained to, if EXC_RETURN is one to a handler.
        """
        known = pc in self.open
        numbers = self.elf.numbers(pc)
        if numbers and not known and not value & 8:
            self.events.append(["chain?", numbers[0]])

    def line(self, words, packets, kept):
        kind = words[0]
        self.done = self.done or any(packet[0] == self.count - 1 for packet in kept)
        if kind == "I":
            self.instruction(words, kept)
        elif kind == "X":
            self.exception(int(words[1]), int(words[2], 16))
            self.open.append(int(words[2], 16))
        elif kind in "RT":
            value = int(words[1] if kind == "R" else words[2], 16) & ~1
            if not self.returning and kept and kept[0] == packets[0]:
                self.events.append(["r", value])
            self.returning = False
            self.target = None
            back = packets[0][2] & ~1
            if kind == "R" and kept:
                self.resumed(back, value)
                while self.open and self.open.pop() != back:
                    pass
            elif self.unstacked and kept and kept[0] == packets[0]:
                # to there and away again at once
                self.resumed(back, value)
            # trace can stop between the two packets of the one kind
            if kind == "T" and kept and len(packets) == 1 + self.unstacked:
                # from the value itself, or from where the return went to
                self.exception(int(words[1]), packets[1][1] & ~1 if self.unstacked else None)
        elif kind == "L":
            source = int(words[1], 16)
            if kept:
                self.exception(LOCKUP, None if self.returning else source)
            self.returning = False
        else:
            raise ValueError("a log line %s" % " ".join(words))

    def instruction(self, words, kept):
        self.events.append(["i", int(words[1], 16)])
        self.target = kept[0][2] & ~1 if kept else None
        self.returning = words[3] == "T" and kept and self.is_exc_return(self.target)
        if self.returning:
            self.events.append(["r", self.target])

    def is_exc_return(self, addr):
        return addr >= (0xff000000 if self.v8m else 0xf0000000) and addr not in LOCKED_UP

    def end(self):
        if self.target is not None and not self.returning and not self.elf.has(self.target):
            self.events.append(["gap", self.target])


def settle(ours, truth):
    """Take out of @a truth what either may be, and of @a ours the other reading of it."""
    ours, settled = list(ours), []
    for event in truth:
        if event[0] != "chain?":
            settled.append(event)
        elif ours[len(settled):len(settled) + 1] == [["x", event[1], None]]:
            del ours[len(settled)]
    return ours, settled


def difference(ours, truth):
    """None, or where two lists of events differ, with what is around."""
    ours, truth = settle(ours, truth)
    if ours == truth:
        return None
    at = next((n for n, (one, other) in enumerate(zip(ours, truth)) if one != other), min(len(ours), len(truth)))

    def show(events):
        return " ".join(" ".join(hex(part) if isinstance(part, int) else str(part) for part in event)
                        if isinstance(event, list) else str(event) for event in events[max(0, at - 8):at + 4])

    return "event %d of %d (true: %d)\n  decoded: %s\n  true:    %s" % (
        at, len(ours), len(truth), show(ours), show(truth))


def instructions(events):
    return [event[1] for event in events if event[0] == "i"]
