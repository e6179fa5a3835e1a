# SPDX-License-Identifier: GPL-2.0-or-later
# check-group: xtensa
"""The Xtensa interpreter against qemu-system-xtensa: same programs, one instruction at a time.

qemu's machine `none` with 2 GB of memory has memory at all addresses that the programs are linked for. With single
stepping and `-d exec,cpu` it writes PC and registers before each instruction to a pipe; xtensa_trace --regs prints the
same of the interpreter. All of them have to be equal. qemu's CPUs differ in their options: lx106 has neither windows
nor loops nor division; de212 has them, with 32 registers where the ESP32 has 64.

LONG=1 takes ten times as many instructions, SEED=N other random programs.
"""

import os
import pathlib
import random
import re
import shutil
import struct
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIM = pathlib.Path(os.environ.get('SIM_BUILD') or ROOT / 'build/sim')
TRACE = SIM / 'xtensa_trace'
QEMU = shutil.which('qemu-system-xtensa')
LONG = 10 if os.environ.get('LONG') == '1' else 1
SEED = int(os.environ.get('SEED', '1'))
CODE, DATA = 0x40080000, 0x3ffb0000

pytestmark = pytest.mark.skipif(not QEMU, reason='no qemu-system-xtensa')


def program(name):
    path = SIM / name
    if not path.exists() and not shutil.which('xtensa-lx106-elf-gcc'):
        pytest.skip('no xtensa-lx106-elf-gcc: %s is not built' % name)
    return path


class Qemu:
    """PC and a0..a15 before each instruction, as bytes in the form of xtensa_trace."""

    STATE = re.compile(rb'^PC=([0-9a-f]{8})|^ A\d\d=([0-9a-f]{8})  A\d\d=([0-9a-f]{8})  A\d\d=([0-9a-f]{8})  '
                       rb'A\d\d=([0-9a-f]{8})', re.M)

    def __init__(self, tmp_path, cpu, elf):
        self.fifo = str(tmp_path / 'qemu-log')
        os.mkfifo(self.fifo)
        self.process = subprocess.Popen(
            [QEMU, '-M', 'none', '-cpu', cpu, '-m', '2G', '-display', 'none', '-serial', 'none', '-monitor', 'none',
             '-device', 'loader,file=%s,cpu-num=0' % elf, '-singlestep', '-d', 'exec,nochain,cpu', '-D', self.fifo],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.log = open(self.fifo, 'rb')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.log.close()
        self.process.communicate()

    def states(self):
        rest = b''
        while True:
            block = self.log.read(1 << 22)
            if not block:
                raise AssertionError('qemu ended')
            block = rest + block
            end = block.rfind(b'Trace 0')
            if end < 0:
                rest = block
                continue
            rest = block[end:]
            fields = [field for match in self.STATE.findall(block[:end]) for field in match if field]
            assert len(fields) % 17 == 0, 'qemu writes something else than expected'
            for at in range(0, len(fields), 17):
                yield b' '.join(fields[at:at + 17])


def compare(tmp_path, cpu, elf, count):
    """@returns the PCs that were executed"""
    pcs = set()
    before = []
    command = [str(TRACE), str(elf), '--regs', '--ars', '32', '--max', str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ours, Qemu(tmp_path, cpu, elf) as qemu:
        for number, theirs, line in zip(range(count), qemu.states(), ours.stdout):
            line = line.rstrip()
            if theirs != line:
                text = b'\n'.join(before[-10:] + [b'qemu:', theirs, b'interpreter:', line]).decode()
                raise AssertionError('instruction %d:\n%s' % (number, text))
            before.append(line)
            if len(before) > 100:
                del before[:90]
            pcs.add(int(line[:8], 16))
        assert number == count - 1, 'only %d instructions' % number
        ours.stdout.close()
    return pcs


def functions(elf):
    """name: address"""
    lines = subprocess.run(['xtensa-lx106-elf-nm', str(elf)], stdout=subprocess.PIPE, check=True,
                           universal_newlines=True).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines if line.split()[1] in 'tT'}


@pytest.mark.parametrize('cpu', ['lx106', 'de212'])
def test_profile(tmp_path, cpu):
    elf = program('xtensa-profile.elf')
    pcs = compare(tmp_path, cpu, elf, 100000 * LONG)
    starts = set(functions(elf).values())
    assert len(starts) > 10 and starts <= pcs, 'not every function ran'


def test_windows(tmp_path):
    elf = program('xtensa-windowed.elf')
    pcs = compare(tmp_path, 'de212', elf, 60000 * LONG)
    handlers = {CODE + 0x40 * n for n in range(6)}
    assert handlers <= pcs, 'not every overflow and underflow was met'
    assert functions(elf)['unexpected'] not in pcs


def test_instructions(tmp_path):
    elf = program('xtensa-insns.elf')
    pcs = compare(tmp_path, 'de212', elf, 112000)
    assert functions(elf)['done'] in pcs, 'it is not done'


# ---- random programs ----

# op2, op1 of r = s op t
THREE = ([(op2, 0) for op2 in (1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15)] + [(op2, 1) for op2 in range(8, 14)] +
         [(op2, 2) for op2 in (8, 12, 13, 14, 15)] + [(op2, 3) for op2 in range(4, 12)])
ZERO_S = {(9, 1), (11, 1)}      # SRL, SRA
ZERO_T = {(10, 1)}              # SLL
BASE = 1                        # a1: start of the data; a0 is the exception handler's
TEXT = CODE + 0x500


class Random:
    """A program without end: straight on, with short branches forward and short loops, and then again."""

    def __init__(self, seed, count):
        self.random = random.Random(seed)
        self.code = []
        self.code += [self.l32r(14), 0x13e7e0, 0x00a0e2, 0x13e6e0, self.l32r(BASE)]   # VECBASE; PS = 0
        self.begin = len(self.code)
        while len(self.code) < count:
            self.add()
        self.literals = [CODE, DATA] + [self.random.getrandbits(32) for _ in range(30)]

    def reg(self):
        return self.random.randrange(2, 16)

    def field(self, bits=4):
        return self.random.getrandbits(bits)

    def rrr(self, op2, op1, r, s, t):
        return op2 << 20 | op1 << 16 | r << 12 | s << 8 | t << 4

    def l32r(self, t, literal=None):
        """Where the literal is depends on where this is: a number for later."""
        return ('l32r', t, {14: 0, BASE: 1}[t] if literal is None else literal)

    def any_literal(self):
        return self.l32r(self.reg(), self.random.randrange(2, 32))

    def three(self):
        op = self.random.choice(THREE)
        return self.rrr(*op, self.reg(), 0 if op in ZERO_S else self.reg(), 0 if op in ZERO_T else self.reg())

    def two(self):
        r, s, t = self.reg(), self.reg(), self.reg()
        return self.random.choice((
            self.rrr(6, 0, r, self.field(1), t),                              # NEG, ABS
            self.rrr(self.field(1), 1, r, s, self.random.randrange(1, 16)),   # SLLI
            self.rrr(2 + self.field(1), 1, r, self.field(), t),               # SRAI
            self.rrr(4, 1, r, self.field(), t),                               # SRLI
            self.rrr(self.field(), 4 + self.field(1), r, self.field(), t),    # EXTUI
            self.rrr(2 + self.field(1), 3, r, s, self.field()),               # SEXT, CLAMPS
            self.rrr(4, 0, 14 + self.field(1), s, t),                         # NSA, NSAU
            self.sar()))

    def sar(self):
        kind = self.random.randrange(5)
        if kind == 4:
            return self.rrr(4, 0, 4, self.field(), self.field(1))
        return self.rrr(4, 0, kind, self.reg(), 0)

    def memory(self):
        r = self.random.choice([0, 1, 2, 4, 5, 6, 9, 11, 15])
        return self.field(8) << 16 | r << 12 | BASE << 8 | self.reg() << 4 | 2

    def constant(self):
        r = self.random.choice([10, 12, 13])
        return self.field(8) << 16 | r << 12 | self.reg() << 8 | self.reg() << 4 | 2

    def narrow(self):
        r, s, t = self.reg(), self.reg(), self.reg()
        return ('n', self.random.choice([
            self.field() << 12 | BASE << 8 | t << 4 | 8, self.field() << 12 | BASE << 8 | t << 4 | 9,
            r << 12 | s << 8 | t << 4 | 10, r << 12 | s << 8 | self.field() << 4 | 11,
            self.field() << 12 | s << 8 | self.field(3) << 4 | 12, s << 8 | t << 4 | 13]))

    def plain(self):
        make = self.random.choice([self.three] * 4 + [self.two] * 3 + [self.memory] * 2 +
                                  [self.narrow, self.constant, self.any_literal])
        return make()

    def branch(self):
        """Over the next few: how far is seen later."""
        s, t = self.reg(), self.reg()
        word = self.random.choice([
            self.field() << 12 | s << 8 | t << 4 | 7, s << 8 | self.field(2) << 6 | 0x16,
            self.field() << 12 | s << 8 | self.field(2) << 6 | 0x26, self.field() << 12 | s << 8 | 2 << 6 | 0x36,
            self.field() << 12 | s << 8 | 3 << 6 | 0x36, ('n', s << 8 | 8 << 4 | self.field(1) << 6 | 12)])
        return ('branch', word, self.random.randrange(1, 5))

    def add(self):
        what = self.random.randrange(20)
        if what < 2:
            self.code.append(self.branch())
            self.code += [self.plain() for _ in range(5)]
        elif what == 2:
            size = self.random.randrange(2, 8)
            counter = self.reg()
            self.code.append(self.random.randrange(1, 5) << 16 | 0xa << 12 | counter << 4 | 2)
            self.code.append(('branch', (8 + self.random.randrange(3)) << 12 | counter << 8 | 0x76, size))
            self.code += [self.plain() for _ in range(size)]
        else:
            self.code.append(self.plain())

    @staticmethod
    def length(insn):
        if isinstance(insn, tuple) and insn[0] == 'branch':
            insn = insn[1]
        return 2 if isinstance(insn, tuple) and insn[0] == 'n' else 3

    def bytes(self):
        lengths = [self.length(insn) for insn in self.code]
        text = b''
        for n, insn in enumerate(self.code):
            if isinstance(insn, int):
                word = insn
            elif insn[0] == 'n':
                word = insn[1]
            elif insn[0] == 'l32r':
                pc = TEXT + len(text)
                word = ((CODE + 0x480 + 4 * insn[2] - ((pc + 3) & ~3)) >> 2 & 0xffff) << 8 | insn[1] << 4 | 1
            else:
                word = self.branch_word(insn, sum(lengths[n:n + 1 + insn[2]]) - 4)
            text += word.to_bytes(3, 'little')[:lengths[n]]
        begin = sum(lengths[:self.begin])
        return text + ((begin - len(text) - 4 & 0x3ffff) << 6 | 6).to_bytes(3, 'little')

    @staticmethod
    def branch_word(insn, offset):
        word = insn[1]
        if isinstance(word, tuple):
            return word[1] | (offset & 15) << 12 | (offset & 0x30)
        return word | (offset << 12 if word & 0x3f == 0x16 else offset << 16)

    def handlers(self):
        """At the kernel vector: go on behind what faulted. The double exception vector stays empty: illegal."""
        skip = b''.join(word.to_bytes(3, 'little') for word in (0x03b100, 0x03c002 | 0xc000, 0x13b100, 0x003000))
        return bytes(0x300) + skip + bytes(0x480 - 0x300 - len(skip)) + struct.pack('<32I', *self.literals)

    def elf(self):
        code = self.handlers() + self.bytes()
        data = bytes(self.random.getrandbits(8) for _ in range(0x400))
        where = 52 + 2 * 32
        header = b'\x7fELF\x01\x01\x01' + bytes(9)
        header += struct.pack('<HHIIIIIHHHHHH', 2, 94, 1, TEXT, 52, 0, 0, 52, 32, 2, 40, 0, 0)
        return header + struct.pack('<8I', 1, where, CODE, CODE, len(code), len(code), 5, 4) + \
            struct.pack('<8I', 1, where + len(code), DATA, DATA, len(data), len(data), 6, 4) + code + data


@pytest.mark.parametrize('number', range(5))
def test_random(tmp_path, number):
    path = tmp_path / 'random.elf'
    path.write_bytes(Random(SEED * 1000 + number, 1500).elf())
    pcs = compare(tmp_path, 'de212', path, 20000 * LONG)
    assert len(pcs) > 1000, 'it stays somewhere'
    assert CODE + 0x300 in pcs, 'nothing was divided by zero'
    assert CODE + 0x3c0 not in pcs
