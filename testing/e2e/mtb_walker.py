# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiled Thumb programs, paths through them, and the packets that an MTB stores on the way.

The walk knows the instructions from LLVM's disassembler and takes each conditional branch as it
likes: no data, but every path is one that the code allows. Packets are made by the manual's rules.
It shares nothing with the decoder.
"""

import random
import re
import struct
import subprocess

SOURCE = r"""
typedef void handler(void);
extern char _stack[];
int main(void);
void Reset_Handler(void) { main(); for (;;) ; }
volatile int ticks, level, faults;
void Default_Handler(void) { faults++; }
void HardFault_Handler(void) __attribute__((alias("Default_Handler")));
void NMI_Handler(void) __attribute__((alias("Default_Handler")));
void SysTick_Handler(void) { ticks++; if (ticks > 100) level = 0; }
void SVC_Handler(void) { level += 3; }
void IRQ9_Handler(void) { for (int i = 0; i < 3; i++) level ^= i; }

__attribute__((section(".vectors"), used)) handler *const __Vectors[26] = {
	(handler *)0x20001000, Reset_Handler, NMI_Handler, HardFault_Handler, 0, 0, 0, 0, 0, 0, 0, SVC_Handler,
	0, 0, 0, SysTick_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, IRQ9_Handler
};

__attribute__((noinline)) int leaf(int a, int b) { return a > b ? a - b : b - a; }
__attribute__((noinline)) int sum(const int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += p[i] > 3 ? leaf(p[i], s) : p[i];
	return s;
}
__attribute__((noinline)) int gcd(int a, int b)
{
	while (a != b) {
		if (a > b)
			a -= b;
		else
			b -= a;
	}
	return a;
}
__attribute__((noinline)) void call(handler *const *h) { (*h)(); asm volatile("svc #3"); level--; }
void nothing(void) { level += 2; }
void other(void) { level -= leaf(level, 2); }
void spin(void) { for (;;) asm volatile(""); }
handler *calls[2] = { nothing, other };
int numbers[8];

int main(void)
{
	for (;;) {
		level = sum(numbers, 8) + gcd(level, 12);
		if (level & 1)
			call(&calls[level & 2 ? 0 : 1]);
		for (int i = 0; i < 8; i++)
			numbers[i] = leaf(i, level) + (level < 7 ? 3 * i : -i);
	}
}
"""

SCRIPT = """
SECTIONS {
	.text 0x%x : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
	.data 0x20000000 : { *(.data*) *(.bss*) *(COMMON) }
	/DISCARD/ : { *(.ARM.*) *(.comment) }
}
"""

CONDITIONS = "eq|ne|hs|lo|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
TOOLS = ("clang", "ld.lld", "llvm-objdump")
HANDLERS = {11: "SVC_Handler", 15: "SysTick_Handler", 25: "IRQ9_Handler"}


def compile_program(folder, target, level, base=0x4000):
    """→ path of the ELF file"""
    source, script, elf = folder / "program.c", folder / "program.ld", folder / ("%s%s.elf" % (target, level))
    source.write_text(SOURCE)
    script.write_text(SCRIPT % base)
    subprocess.run(["clang", "--target=" + target, level, "-g", "-ffreestanding", "-fno-jump-tables", "-nostdlib",
                    "-fuse-ld=lld", "-Wno-unused-command-line-argument", "-T", str(script), "-e", "Reset_Handler",
                    "-o", str(elf), str(source)], check=True)
    return elf


class Instruction:
    """Address, bytes, and what it can do to the flow: kind is plain, cond, jump, call, icall, return, svc."""

    def __init__(self, addr, size, name, rest):
        self.addr = addr
        self.size = size
        self.name = name
        self.target = None
        self.it = 0
        name = re.sub(r"\.[nw]$", "", name)
        address = re.search(r"0x([0-9a-f]+)", rest)
        if re.fullmatch(r"it[te]{0,3}", name):
            self.kind = "plain"
            self.it = len(name) - 1
        elif name in ("cbz", "cbnz"):
            self.kind = "cond"
        elif name == "bl" or re.fullmatch(r"bl(%s)" % CONDITIONS, name):
            self.kind = "call"
        elif re.fullmatch(r"blx(%s)?" % CONDITIONS, name):
            self.kind = "icall"
        elif re.fullmatch(r"bx([a-z]{2})?", name) or (name.startswith(("pop", "ldm")) and "pc" in rest) or \
                (name.startswith("ldr") and rest.startswith("pc")):
            self.kind = "return"
        elif re.fullmatch(r"b(%s)" % CONDITIONS, name):
            self.kind = "cond"
        elif name == "b":
            self.kind = "jump"
        elif name == "svc":
            self.kind = "svc"
        else:
            assert not re.match(r"(mov|add)\b", name) or not rest.startswith("pc"), "%s %s" % (name, rest)
            self.kind = "plain"
        if self.kind in ("cond", "jump", "call"):
            self.target = int(address.group(1), 16)


class Program:
    """The instructions and symbols of an ELF file."""

    def __init__(self, elf, target):
        self.elf = elf
        # without the target it takes some instructions for data
        text = subprocess.run(["llvm-objdump", "-d", "--triple=" + target, str(elf)], stdout=subprocess.PIPE, check=True,
                              universal_newlines=True).stdout
        self.code = {}
        self.symbols = {}
        for line in text.splitlines():
            label = re.match(r"([0-9a-f]+) <([^>]+)>:", line)
            if label:
                self.symbols[label.group(2)] = int(label.group(1), 16)
            match = re.match(r" +([0-9a-f]+): ((?:[0-9a-f]{2} )+) *\t(\S+)(?:\t(.*))?$", line)
            if match and not match.group(3).startswith((".", "<")):
                addr, size = int(match.group(1), 16), len(match.group(2).split())
                self.code[addr] = Instruction(addr, size, match.group(3), (match.group(4) or "").split("@")[0].strip())
        table = subprocess.run(["llvm-objdump", "-t", str(elf)], stdout=subprocess.PIPE, check=True,
                               universal_newlines=True).stdout
        for addr, name in re.findall(r"^([0-9a-f]{8}) .* (\S+)$", table, re.M):
            self.symbols.setdefault(name, int(addr, 16))
        # where a table call may go
        self.leaves = [self.symbols["nothing"], self.symbols["other"]]


class Walk:
    """One run: log (addresses), packets (source, destination), exceptions (number, packet, since).

    A return to a handler's first instruction has the packet of an exception that is chained. What it is only tells who
    has seen the packet @a since, which interrupted the handler there; of all others since is None.
    """

    def __init__(self, program, seed, count, interrupts=40, chain="return-value"):
        self.program = program
        self.random = random.Random(seed)
        self.log = []
        self.packets = []
        self.before = []	# for each packet: how much had run before its source
        self.taken = []
        self.calls = []
        self.frames = []
        self.chain = chain
        self.it = 0
        self.pc = self.arm = program.symbols["Reset_Handler"] & ~1
        while len(self.log) < count:
            self.step()
            if self.packets and interrupts and self.random.randrange(interrupts) == 0:
                self.interrupt(self.random.choice([15, 25]))
        self.halt = self.pc

    def packet(self, source, atomic, destination):
        self.before.append(len(self.log))
        self.packets.append((source | int(atomic), destination | int(not self.packets)))

    def enter(self, number, source):
        handler = self.program.symbols[HANDLERS[number]] & ~1
        self.take(number)
        self.packet(source, True, handler)
        self.pc = handler
        self.it = 0

    def take(self, number, since=None):
        self.taken.append((number if number < 24 else 0x200 + number - 16, len(self.packets), since))

    def active(self):
        return [frame[3] for frame in self.frames]

    def interrupt(self, number):
        if number in self.active() or len(self.frames) > 2:
            return
        self.frames.append((self.pc, self.calls, self.it, number, len(self.packets)))
        self.calls = []
        self.enter(number, self.pc)

    def leave_handler(self, instruction):
        """Exception return, and perhaps the next exception at once."""
        value = 0xfffffff0 if len(self.frames) > 1 else 0xfffffff8
        back, calls, it, _, since = self.frames[-1]
        self.packet(instruction.addr, False, value)
        self.log.append(instruction.addr)
        others = [n for n in (15, 25) if n not in self.active()]
        if others and self.random.randrange(5) == 0:
            other = self.random.choice(others)
            self.frames[-1] = (back, calls, it, other, since)
            if self.chain == "return-value":
                self.enter(other, value)
            elif self.chain == "whole-return":
                self.come_back(value, back, since)
                self.enter(other, back)
            else:
                self.enter(other, back)
            return
        self.come_back(value, back, since)
        self.frames.pop()
        self.pc, self.calls, self.it = back, calls, it

    def come_back(self, value, back, since):
        for number, name in HANDLERS.items():
            if back == self.program.symbols[name] & ~1:
                self.take(number, since)
        self.packet(value, True, back)

    def branch(self, instruction, destination):
        self.packet(instruction.addr, False, destination)
        self.log.append(instruction.addr)
        self.pc = destination

    def step(self):
        instruction = self.program.code[self.pc]
        behind = instruction.addr + instruction.size
        conditional = self.it > 0 or instruction.kind == "cond"
        self.it = self.it - 1 if self.it else instruction.it
        kind = instruction.kind
        if conditional and kind != "plain" and self.random.random() < 0.5:
            kind = "plain"
        if kind in ("cond", "jump"):
            self.branch(instruction, instruction.target)
        elif kind == "call":
            self.calls.append(behind)
            self.branch(instruction, instruction.target)
        elif kind == "icall":
            self.calls.append(behind)
            self.branch(instruction, self.random.choice(self.program.leaves))
        elif kind == "return":
            if self.calls:
                self.branch(instruction, self.calls.pop())
            elif self.frames:
                self.leave_handler(instruction)
            else:
                # main never returns
                self.branch(instruction, self.program.symbols["main"])
        else:
            self.log.append(instruction.addr)
            self.pc = behind
            if kind == "svc" and 11 not in self.active():
                self.interrupt(11)

    def ring(self, mask, start=0):
        """→ bytes of a buffer of 2^(mask + 4) bytes, and POSITION"""
        slots = 2 << mask
        ring = bytearray(b"\xa5" * 8 * slots)
        for number, packet in enumerate(self.packets):
            ring[number % slots * 8:number % slots * 8 + 8] = struct.pack("<II", *packet)
        position = start + 8 * (len(self.packets) % slots) | (4 if len(self.packets) >= slots else 0)
        return bytes(ring), position

    def held(self, mask):
        """→ number of the oldest packet in such a buffer, and what of the log is known from it"""
        slots = 2 << mask
        first = max(0, len(self.packets) - slots)
        return first, self.log[self.before[first] if len(self.packets) >= slots else 0:]

    def exceptions(self, first):
        """Their numbers from packet @a first on, each with whether it is sure that it is one."""
        return [(number, since is None) for number, packet, since in self.taken
                if packet >= first and (since is None or since < first)]

    def linear(self):
        return b"".join(struct.pack("<II", *packet) for packet in self.packets)
