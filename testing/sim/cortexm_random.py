#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random programs for the simulated Cortex-M, as assembly text, with or without interrupts.

    testing/sim/cortexm_random.py --core m33 --seed 7 --interrupts timer --out prog.elf

A program is a loop without end that calls functions; functions only call those of a higher number, so that every call
returns. Handlers only make those of a later one in a fixed order pending, so that the loop goes on. The same arguments
give the same program.

r4 is the pseudo-random state, r5 and r6 count loops, r7 points to data. Needs clang and lld.
"""

import argparse
import os
import random
import subprocess

SIM = os.path.dirname(os.path.abspath(__file__))
TARGETS = {"m0": "thumbv6m-none-eabi", "m33": "thumbv8m.main-none-eabi"}
CONDITIONS = ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"]
OPPOSITE = {CONDITIONS[n]: CONDITIONS[n ^ 1] for n in range(14)}
HANDLERS = ["on_irq0", "on_irq1", "on_irq2", "on_irq3", "on_pendsv"]
INTERRUPTS = ["none", "soft", "timer"]


class Program:
    """Text of one program in .text."""

    def __init__(self, core, seed, interrupts):
        self.rand = random.Random("%s %d %s" % (core, seed, interrupts))
        self.v8m = core == "m33"
        self.interrupts = interrupts
        self.out = []
        self.labels = 0
        self.functions = self.rand.randrange(2, 7)
        self.number = 0		# of the function being written
        self.handler = None	# its place in HANDLERS

    def pick(self, *choices):
        return self.rand.choice(choices)

    def put(self, text):
        self.out.extend("\t" + line.strip() for line in text.strip().split("\n"))

    def label(self):
        self.labels += 1
        return ".L%d" % self.labels

    def place(self, label):
        self.out.append(label + ":")

    def low(self):
        return "r%d" % self.rand.randrange(4)

    # ---- pieces ----

    def filler(self):
        d, n, small = self.low(), self.low(), self.rand.randrange(256)
        offset = self.rand.randrange(31) * 4
        choices = ["adds %s, #%d" % (d, small), "movs %s, #%d" % (d, small), "eors %s, %s" % (d, n),
                   "cmp %s, %s" % (d, n), "nop", "muls %s, %s, %s" % (d, n, d), "ldr %s, [r7, #%d]" % (d, offset),
                   "str %s, [r7, #%d]" % (d, offset), "lsls %s, %s, #%d" % (d, n, small % 31 + 1), "mov r12, %s" % d,
                   "rsbs %s, %s, #0" % (d, n), "ldrb %s, [r7, #%d]" % (d, small % 31), "uxth %s, %s" % (d, n),
                   "push {%s}\npop {%s}" % (d, n), "dsb", "isb", "mrs %s, primask" % d, "mrs %s, apsr" % d]
        if self.v8m:
            choices += ["add.w %s, %s, #%d" % (d, n, small), "movw %s, #%d" % (d, small * 7),
                        "udiv %s, %s, %s" % (d, n, d), "ubfx %s, %s, #3, #9" % (d, n), "nop.w",
                        "strd %s, %s, [r7, #%d]" % (d, n, offset), "clz %s, %s" % (d, n), "ldr.w %s, [r7, #%d]" % (d, offset)]
        self.put(self.rand.choice(choices))

    def fillers(self, most):
        for _ in range(self.rand.randrange(1, most + 1)):
            if self.v8m and self.rand.random() < 0.12:
                self.it_block()
            else:
                self.filler()

    def step(self):
        self.put("lsls r3, r4, #13\neors r4, r3\nlsrs r3, r4, #17\neors r4, r3\nlsls r3, r4, #5\neors r4, r3")

    def condition(self):
        """Flags, and a condition that holds sometimes."""
        self.step()
        if self.rand.random() < 0.6:
            self.put("lsls r3, r4, #%d" % self.rand.randrange(1, 31))
            return self.pick("mi", "pl", "cs", "cc", "mi", "pl", "eq", "ne")
        self.put("cmp r4, %s" % self.low())
        return self.rand.choice(CONDITIONS)

    def it_block(self):
        cond = self.condition()
        others = "".join(self.pick("t", "e") for _ in range(self.rand.randrange(4)))
        self.put("it%s %s" % (others, cond))
        for which in "t" + others:
            suffix = cond if which == "t" else OPPOSITE[cond]
            d, n = self.low(), self.low()
            self.put(self.pick("add{c} %s, #%d" % (d, self.rand.randrange(256)), "mov{c} %s, %s" % (d, n),
                               "ldr{c} %s, [r7, #%d]" % (d, self.rand.randrange(31) * 4), "str{c}.w %s, [r7, #8]" % d,
                               "eor{c}.w %s, %s, #5" % (d, n), "nop{c}").format(c=suffix))

    def branch_if(self, label, near):
        """Goes to @a label under a condition."""
        if self.v8m and near and self.rand.random() < 0.3:
            self.step()
            self.put("and r2, r4, #%d" % (1 << self.rand.randrange(8)))
            self.put("%s r2, %s" % (self.pick("cbz", "cbnz"), label))
            return
        cond = self.condition()
        if self.v8m and self.rand.random() < 0.3:
            self.put("it %s\nb%s%s %s" % (cond, cond, "" if near else ".w", label))
        elif self.v8m and (not near or self.rand.random() < 0.2):
            self.put("b%s.w %s" % (cond, label))
        elif near:
            self.put("b%s %s" % (cond, label))
        else:
            over = self.label()
            self.put("b%s %s\nb %s" % (OPPOSITE[cond], over, label))
            self.place(over)

    def choice(self, depth, in_loop):
        near = self.rand.random() < 0.5
        skip = self.label()
        self.branch_if(skip, near)
        if near:
            self.fillers(3)
        else:
            self.items(self.rand.randrange(1, 4), depth + 1, in_loop)
        if self.rand.random() < 0.5:
            end = self.label()
            self.put("b %s" % end)
            self.place(skip)
            self.fillers(4)
            self.place(end)
        else:
            self.place(skip)

    def loop(self, depth):
        counter = "r5" if depth == 0 else "r6"
        top = self.label()
        self.put("movs %s, #%d" % (counter, self.pick(1, 2, 3, 4, self.rand.randrange(5, 40))))
        self.place(top)
        if depth == 0:
            self.items(self.rand.randrange(1, 3), 1, False)
        else:
            self.fillers(4)
        self.put("subs %s, #1" % counter)
        if self.v8m:
            self.put("bne.w %s" % top)
        else:
            end = self.label()
            self.put("beq %s\nb %s" % (end, top))
            self.place(end)

    def constant(self, register, value):
        if self.v8m:
            self.put("movw %s, #:lower16:%s\nmovt %s, #:upper16:%s" % (register, value, register, value))
            return
        word, over = self.label(), self.label()
        self.put("ldr %s, %s\nb %s\n.p2align 2" % (register, word, over))
        self.place(word)
        self.put(".word %s" % value)
        self.place(over)

    def call(self):
        if self.number + 1 >= self.functions:
            self.filler()
            return
        name = "function%d" % self.rand.randrange(self.number + 1, self.functions)
        if self.rand.random() < 0.6:
            self.put("bl %s" % name)
        else:
            self.constant("r3", name)
            self.put("blx r3")

    def table(self):
        ways = self.rand.randrange(2, 6)
        self.step()
        self.put("lsrs r3, r4, #%d\nuxtb r3, r3" % self.rand.randrange(1, 20))
        # modulo the number of ways
        again, done = self.label(), self.label()
        self.place(again)
        self.put("cmp r3, #%d\nblo %s\nsubs r3, #%d\nb %s" % (ways, done, ways, again))
        self.place(done)
        cases = [self.label() for _ in range(ways)]
        end, start = self.label(), self.label()
        if self.v8m and self.rand.random() < 0.7:
            half = self.rand.random() < 0.4
            self.put("tbh [pc, r3, lsl #1]" if half else "tbb [pc, r3]")
            self.place(start)
            for case in cases:
                self.put("%s (%s - %s) / 2" % (".hword" if half else ".byte", case, start))
            self.put(".p2align 1")
        else:
            thumb = self.rand.random() < 0.5
            self.put("lsls r3, r3, #2\n.p2align 2\nadr r2, %s\nldr r2, [r2, r3]\n%s r2\n.p2align 2"
                     % (start, "bx" if thumb else "mov pc,"))
            self.place(start)
            for case in cases:
                self.put(".word %s + %d" % (case, thumb))
        for case in cases:
            self.place(case)
            self.fillers(2)
            if self.rand.random() < 0.8:
                self.put("b %s" % end)
        self.place(end)

    def in_last(self):
        """Handlers call the last function: it makes nothing pending and calls no supervisor."""
        return self.handler is None and self.number == self.functions - 1

    def pend(self):
        later = HANDLERS[0 if self.handler is None else self.handler + 1:]
        if self.interrupts == "none" or not later or self.in_last():
            return
        name = self.rand.choice(later)
        if name == "on_pendsv":
            self.constant("r3", "0xe000ed04")
            self.constant("r2", "0x10000000")
        else:
            self.constant("r3", "0xe000e200")
            self.put("movs r2, #%d" % (1 << HANDLERS.index(name)))
        masks = [("cpsid i", "cpsie i")]
        if self.v8m:
            masks += [("cpsid f", "cpsie f"), ("movs r1, #0x80\nmsr basepri, r1", "movs r1, #0\nmsr basepri, r1")]
        begin, end = self.rand.choice(masks)
        masked = self.handler is None and self.rand.random() < 0.4
        if masked:
            self.put(begin)
        self.put("str r2, [r3]")
        if masked:
            self.fillers(3)
            self.put(end)

    def special(self):
        what = self.rand.randrange(6)
        if what == 0 and self.handler is None and self.interrupts != "none" and not self.in_last():
            self.put("svc #%d" % self.rand.randrange(256))
        elif what == 1 and self.interrupts != "none":
            self.put("udf #%d" % self.rand.randrange(256))
        elif what == 2 and self.interrupts == "timer" and self.handler is None and not self.in_last():
            self.put("wfi")
        elif what == 3 and self.number:
            skip = self.label()
            self.branch_if(skip, True)
            self.epilogue()
            self.place(skip)
        else:
            self.pend()

    def items(self, count, depth, in_loop):
        for _ in range(count):
            what = self.rand.randrange(100)
            if what < 30:
                self.fillers(6)
            elif what < 50 and depth < 3:
                self.choice(depth, in_loop)
            elif what < 60 and depth < 2 and not in_loop:
                self.loop(depth)
            elif what < 75:
                self.call()
            elif what < 85:
                self.table()
            else:
                self.special()

    # ---- functions ----

    def begin(self, name):
        self.out += [".type %s, %%function" % name, ".global " + name, ".thumb_func", name + ":"]

    def prologue(self):
        self.put("push {r4, r5, r6, lr}" if self.handler is not None else "push {r5, r6, lr}")

    def epilogue(self):
        saved = "r4, r5, r6" if self.handler is not None else "r5, r6"
        ways = ["pop {%s, pc}" % saved, "pop {%s}\npop {r3}\nbx r3" % saved]
        if self.handler is None:
            ways.append("pop {%s}\npop {r3}\nmov pc, r3" % saved)
        if self.v8m:
            ways += ["pop {%s}\nldr pc, [sp], #4" % saved, "ldmia.w sp!, {%s, pc}" % saved,
                     "pop.w {%s, lr}\nbx lr" % saved]
        self.put(self.rand.choice(ways))

    def end(self, name):
        self.out += ["\t.size %s, . - %s" % (name, name), "\t.p2align 2"]

    def function(self, number):
        self.number = number
        self.begin("function%d" % number)
        self.prologue()
        self.items(self.rand.randrange(1, 6), 0, False)
        self.epilogue()
        self.end("function%d" % number)

    def handler_of(self, name):
        # they may call the last function, to stay short
        self.number = max(self.functions - 2, 1)
        self.handler = HANDLERS.index(name) if name in HANDLERS else -1
        self.begin(name)
        self.prologue()
        self.items(self.rand.randrange(0, 3), 1, True)
        self.epilogue()
        self.end(name)
        self.handler = None

    def hardfault(self):
        """Goes on behind the UDF."""
        self.begin("on_hardfault")
        self.put("mov r0, lr\nmovs r1, #4\ntst r0, r1\nbne 1f\nmrs r0, msp\nb 2f\n1: mrs r0, psp\n"
                 "2: ldr r1, [r0, #24]\nadds r1, #2\nstr r1, [r0, #24]\nbx lr")
        self.end("on_hardfault")

    def store(self, address, value):
        self.constant("r0", "0x%x" % address)
        self.constant("r1", "0x%x" % value)
        self.put("str r1, [r0]")

    def set_up(self):
        levels = [0x00, 0x40, 0x80, 0xc0]
        priorities = [self.rand.choice(levels) for _ in range(7)]
        self.store(0xe000e400, sum(level << 8 * n for n, level in enumerate(priorities[:4])))
        self.store(0xe000ed1c, priorities[4] << 24)
        self.store(0xe000ed20, priorities[5] << 16 | priorities[6] << 24)
        self.store(0xe000e100, 0xf)
        if self.interrupts == "timer":
            for n in range(self.rand.randrange(1, 5)):
                self.store(0x40001000 + 16 * n, self.rand.randrange(200, 2000))
                self.store(0x40001004 + 16 * n, self.pick(1, 3))
            self.store(0xe000e014, self.rand.randrange(200, 3000))
            self.store(0xe000e018, 0)
            self.store(0xe000e010, 7)
        if self.rand.random() < 0.3:
            # from here on the program is on the process stack; until the other one has a place of its own nothing may come
            self.put("cpsid i\nmrs r0, msp\nmsr psp, r0\nmovs r1, #2\nmsr control, r1\nisb")
            self.constant("r1", "__process_stack - 0x400")
            self.put("msr msp, r1\ncpsie i")

    def main(self):
        self.number = 0
        self.begin("main")
        self.constant("r7", "data_area")
        self.constant("r4", "0x%x" % self.rand.randrange(1, 1 << 32))
        if self.interrupts != "none":
            self.set_up()
        self.put("movs r0, #0\nmovs r1, #0\nmovs r2, #0")
        self.begin("main_loop")
        self.items(self.rand.randrange(4, 10), 0, False)
        self.put("b main_loop" if not self.v8m else "b.w main_loop")
        self.end("main")

    def text(self):
        order = list(range(self.functions))
        self.rand.shuffle(order)
        for number in order:
            if number:
                self.function(number)
            else:
                self.main()
        for name in HANDLERS + ["on_svc", "on_systick"]:
            self.handler_of(name)
        self.hardfault()
        head = ["\t.syntax unified", "\t.thumb", "\t.text"]
        return "\n".join(head + self.out + ["\t.bss", "\t.p2align 3", "data_area:", "\t.space 256", ""])


def build(path, core, seed, interrupts="soft", code=0, data=0x20000000, size=0x3000):
    """Write an ELF file to @a path; code, data: where, size: of the data with the stack."""
    source = str(path) + ".s"
    with open(source, "w", encoding="utf-8") as file:
        file.write(Program(core, seed, interrupts).text())
    subprocess.run(["clang", "--target=" + TARGETS[core], "-nostdlib", "-ffreestanding", "-fuse-ld=lld", "-g",
                    "-Wl,-T,%s/programs/cortexm.ld,--build-id=none,--defsym=CODE=%#x,--defsym=DATA=%#x,--defsym=DATA_SIZE=%#x"
                    % (SIM, code, data, size), "-o", str(path), os.path.join(SIM, "programs/cortexm_start.S"), source],
                   check=True, stdin=subprocess.DEVNULL, timeout=60)
    os.unlink(source)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--core", choices=TARGETS, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--interrupts", choices=INTERRUPTS, default="soft")
    parser.add_argument("--code", type=lambda text: int(text, 0), default=0)
    parser.add_argument("--data", type=lambda text: int(text, 0), default=0x20000000)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    build(arguments.out, arguments.core, arguments.seed, arguments.interrupts, arguments.code, arguments.data)


if __name__ == "__main__":
    main()
