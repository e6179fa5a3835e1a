# SPDX-License-Identifier: GPL-2.0-or-later
"""The instruction classifier against llvm-mc's disassembler, on random opcodes.

Opcodes are the rows of testing/unit/waypoints/*.inc with one bit changed and with more, opcodes of the branch
spaces, and any numbers. What the disassembler prints says class, flags and offset of the target. LONG=1 takes many
more opcodes, SEED=N others.
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
SOURCES = [ROOT / 'src-overlay/src/itrace' / f'insn_{isa}.c' for isa in ('a64', 'a32', 't32')]
WAYPOINTS = ROOT / 'testing/unit/waypoints'
LLVM_MC = '/usr/lib/llvm-22/bin/llvm-mc'
CC = os.environ.get('CC') or 'cc'
COUNT = 1000000 if os.environ.get('LONG') == '1' else 40000
SEED = int(os.environ.get('SEED', '1'))
ADDR = 0x40000000

CLASSES = ('other', 'direct', 'indirect', 'isb', 'wfx', 'tstart', 'undescribed')
LINK, COND, RETURN, ERET, IMPLIED_RETURN = 1, 2, 4, 8, 16
OTHER = ('other', 0, None)

# name: (isa, M profile, llvm-mc options)
CONFIGS = {
    'a64': ('a64', 0, ['-triple=aarch64', '-mattr=+all']),
    'a32': ('a32', 0, ['-triple=armv8a-none-eabi', '-mattr=+v8.5a,+virtualization,+ras,+crc,+neon']),
    't32': ('t32', 0, ['-triple=thumbv8a-none-eabi', '-mattr=+v8.5a,+virtualization,+ras,+crc,+neon']),
    't32m': ('t32', 1, ['-triple=thumbv8.1m.main-none-eabi', '-mattr=+mve.fp,+pacbti,+8msecext,+lob,+dsp,+fp64']),
}

DRIVER = r'''
#include <stdio.h>
#include <itrace/insn.h>

int main(int argc, char **argv)
{
	const struct itrace_insn_rules rules = { true, true, true, argv[2][0] == '1' };
	uint32_t opcode;

	while (fread(&opcode, 4, 1, stdin) == 1) {
		struct itrace_insn insn;
		uint8_t out[16] = { 0 };

		if (argv[1][1] == '6')
			itrace_insn_a64(&rules, opcode, ADDR, &insn);
		else if (argv[1][0] == 'a')
			itrace_insn_a32(&rules, opcode, ADDR, &insn);
		else if (opcode <= 0xffff)
			itrace_insn_t32(&rules, opcode, 0, ADDR, &insn);
		else
			itrace_insn_t32(&rules, opcode >> 16, opcode, ADDR, &insn);
		out[0] = insn.class;
		out[1] = insn.flags;
		for (int i = 0; i < 8; i++)
			out[8 + i] = insn.target >> i * 8;
		fwrite(out, 16, 1, stdout);
	}
	return 0;
}
'''


# ---- what a line of disassembly means: (class, flags, target)

A64_WORDS = {
    'b': ('direct', 0), 'bl': ('direct', LINK), 'b.al': ('direct', 0), 'b.nv': ('direct', 0),
    'bc.al': ('direct', 0), 'bc.nv': ('direct', 0), 'br': ('indirect', 0), 'blr': ('indirect', LINK),
    'isb': ('isb', 0), 'eret': ('indirect', ERET), 'eretaa': ('indirect', ERET), 'eretab': ('indirect', ERET),
    'texit': ('indirect', ERET),
    **{name: ('direct', COND) for name in ('cbz', 'cbnz', 'tbz', 'tbnz')},
    **{name: ('indirect', 0) for name in ('braa', 'brab', 'braaz', 'brabz')},
    **{name: ('indirect', LINK) for name in ('blraa', 'blrab', 'blraaz', 'blrabz')},
    **{name: ('indirect', RETURN) for name in ('ret', 'retaa', 'retab', 'retaasppc', 'retabsppc', 'retaasppcr',
                                               'retabsppcr')},
    **{name: ('wfx', 0) for name in ('wfe', 'wfi', 'wfet', 'wfit')},
}
A64_COND = re.compile(r'bc?\.\w\w|cb[bh]?(gt|ge|hi|hs|eq|ne|lt|lo|le|ls)')


def meaning_a64(word, operands):
    kind, flags = A64_WORDS.get(word) or (('direct', COND) if A64_COND.fullmatch(word) else ('other', 0))
    if kind != 'direct':
        return kind, flags, None
    return kind, flags, (ADDR + int(operands.rpartition('#')[2], 0)) & 0xffffffffffffffff


CONDITIONS = 'eq ne hs lo mi pl vs vc hi ls ge lt gt le'.split()
ARM_DATA = 'and eor sub rsb add adc sbc rsc orr bic mov mvn lsl lsr asr ror rrx adr'.split()
ARM_DATA = {*ARM_DATA, *(name + 's' for name in ARM_DATA)}
ARM_LOADS = {'ldm', 'ldmda', 'ldmdb', 'ldmib', 'pop'}
ARM_WORDS = {*ARM_DATA, *ARM_LOADS, *'ldr b bl blx bx bxj eret mcr wfe wfi isb cbz cbnz le wls'.split()}


def meaning_arm(word, operands, wide, thumb):
    word = word.removesuffix('.w')
    flags = 0
    if word not in ARM_WORDS and word[-2:] in CONDITIONS:
        flags, word = COND, word[:-2]
    first = operands.partition(',')[0]
    pc = ADDR + (4 if thumb else 8)

    def direct(more, base=pc):
        return 'direct', flags | more, (base + int(operands.rpartition('#')[2], 0)) & 0xffffffff

    if word == 'b':
        return direct(0)
    if word in ('bl', 'blx') and '#' in operands:
        return direct(LINK)
    if word in ('cbz', 'cbnz', 'wls') or word.startswith('wlstp.'):
        return direct(COND)
    if word in ('le', 'letp'):
        return direct(COND if first == 'lr' else 0)
    if word in ('bx', 'bxns'):
        return 'indirect', flags | (IMPLIED_RETURN if first == 'lr' else 0), None
    if word == 'bxaut':
        return 'indirect', IMPLIED_RETURN if operands.split(', ')[1] == 'lr' else 0, None
    if word in ('blx', 'blxns'):
        return 'indirect', flags | LINK, None
    if word in ('bxj', 'eret', 'tbb', 'tbh') or word.startswith('rfe'):
        return 'indirect', flags, None
    if word in ('bf', 'bfx', 'bfl', 'bflx', 'bfcsel'):
        return 'undescribed', 0, None
    if word in ARM_DATA and first == 'pc':
        returns = word == 'mov' and operands == 'pc, lr'
        return 'indirect', flags | (IMPLIED_RETURN if returns else 0), None
    if word == 'ldr' and first == 'pc':
        returns = re.fullmatch(r'pc, \[sp\], #\d+', operands)
        return 'indirect', flags | (IMPLIED_RETURN if returns else 0), None
    if word in ARM_LOADS and re.search(r'\{.*\bpc\}', operands):
        returns = word == 'pop' or (word == 'ldm' and first == 'sp!')
        # A32 can name SP in the list; in T32 its bit should be zero
        if re.search(r'\^' if thumb else r'[{ ]sp,|\^', operands):
            returns = False
        return 'indirect', flags | (IMPLIED_RETURN if returns else 0), None
    if word == 'isb' or (word == 'mcr' and re.fullmatch(r'p15, #0, \w+, c7, c5, #4', operands)):
        return 'isb', flags, None
    if word in ('wfe', 'wfi'):
        return 'wfx', flags, None
    return OTHER


# ---- differences that are right
# configurations, mask, value, verdict of the disassembler, our class, reason

SHOULD_BE = 'should-be-zero or should-be-one bits: the classifier does not look at them, the disassembler refuses'

ACCEPTED = (
    ('a64', 0xffffffe0, 0xd5233060, 'valid', 'tstart', 'FEAT_TME is not in llvm any more: it prints a system register'),

    ('a32', 0x0e00f090, 0x0000f010, None, 'other', 'register-shifted register operation on PC is UNPREDICTABLE'),
    ('a32', 0x0fe0f000, 0x03a0f000, 'invalid', 'indirect', SHOULD_BE + ' (MOV PC, #imm: Rn)'),
    ('a32', 0x0fe0f000, 0x03e0f000, 'invalid', 'indirect', SHOULD_BE + ' (MVN PC, #imm: Rn)'),
    ('a32', 0x0fe0f010, 0x01a0f000, 'invalid', 'indirect', SHOULD_BE + ' (MOV PC, Rm: Rn)'),
    ('a32', 0x0fe0f010, 0x01e0f000, 'invalid', 'indirect', SHOULD_BE + ' (MVN PC, Rm: Rn)'),
    ('a32', 0x0ff000c0, 0x01200000, 'invalid', 'indirect', SHOULD_BE + ' (BX, BXJ, BLX)'),
    ('a32', 0x0ff000f0, 0x01600060, 'invalid', 'indirect', SHOULD_BE + ' (ERET)'),
    ('a32', 0xfe500000, 0xf8100000, 'invalid', 'indirect', SHOULD_BE + ' (RFE)'),
    ('a32', 0xfff000f0, 0xf5700060, 'invalid', 'isb', SHOULD_BE + ' (ISB)'),
    ('a32', 0x0fff00fe, 0x03200002, None, 'wfx', SHOULD_BE + ' or takes them for MSR (WFE, WFI)'),

    ('t32 t32m', 0xffffff80, 0x00004780, 'invalid', 'indirect', SHOULD_BE + ' (BLX)'),
    ('t32 t32m', 0xfff000e0, 0xe8d00000, 'invalid', 'indirect', SHOULD_BE + ' (TBB, TBH)'),
    ('t32', 0xffd00000, 0xe8100000, 'invalid', 'indirect', SHOULD_BE + ' (RFEDB)'),
    ('t32', 0xffd00000, 0xe9900000, 'invalid', 'indirect', SHOULD_BE + ' (RFEIA)'),
    ('t32', 0xfff0d000, 0xf3c08000, 'invalid', 'indirect', SHOULD_BE + ' (BXJ)'),
    ('t32', 0xfff0d000, 0xf3d08000, 'invalid', 'indirect', SHOULD_BE + ' (SUBS PC, LR)'),
    ('t32 t32m', 0xfff0d0f0, 0xf3b08060, 'invalid', 'isb', SHOULD_BE + ' (ISB)'),
    ('t32 t32m', 0xfff0d7fe, 0xf3a08002, 'invalid', 'wfx', SHOULD_BE + ' (WFE.W, WFI.W)'),
    ('t32 t32m', 0xffff0000, 0xe89f0000, 'valid', 'other', 'CLRM in Armv8.1-M, LDM with base PC is UNPREDICTABLE'),
    ('t32 t32m', 0xf8008f00, 0xf0000f00, 'unpredictable', 'other', 'data processing (immediate) to PC'),
    ('t32 t32m', 0xfe000f00, 0xea000f00, 'unpredictable', 'other', 'data processing (shifted register) to PC'),
    ('t32 t32m', 0xff80ff00, 0xfa00ff00, 'unpredictable', 'other', 'shift (register) to PC'),
    ('t32', 0xff80d001, 0xf000c001, 'invalid', 'direct', 'low-overhead loops: UNDEFINED but in M profile, not gated'),
    ('t32m', 0xfffff001, 0xf03fc001, 'unpredictable', 'other', 'LE without LR but tail-predicated: no such form'),
    ('t32m', 0xf878f001, 0xf038e001, 'invalid', 'undescribed', 'BFCSEL under AL or NV'),
)


def accepted(name, opcode, verdict, ours):
    for configs, mask, value, llvm, kind, _ in ACCEPTED:
        if name in configs.split() and opcode & mask == value and llvm in (None, verdict) and kind in (None, ours):
            return True
    return False


# (value, mask): where branches are
SPACES = {
    'a64': [(0x14000000, 0x1c000000), (0xd4000000, 0xfc000000), (0xd6000000, 0xfe000000), (0x54000000, 0x5e000000)],
    'a32': [(0x01000000, 0x0f000000), (0x0000f000, 0x0800f000), (0x08108000, 0x0e108000), (0xf0000000, 0xf0000000)],
    't32': [(0xf0008000, 0xf8008000), (0xf850f000, 0xff70f000), (0xe8008000, 0xfe008000), (0xf000c001, 0xf800d001)],
}


def seeds(isa):
    return [int(opcode, 16) for opcode in
            re.findall(r'^\{ (0x[0-9a-f]+),', (WAYPOINTS / f'{isa}.inc').read_text(), re.M)]


def opcodes(name, isa):
    rng = random.Random(f'{name} {SEED}')
    rows = seeds(isa)
    spaces = SPACES[isa]
    # all rows, each with every single bit changed, then what chance gives
    near = [row ^ flip for row in rows for flip in (0, *(1 << bit for bit in range(16 if row <= 0xffff else 32)))]
    out = []
    while near or len(out) < COUNT:
        kind = rng.random()
        if near:
            opcode = near.pop()
        elif kind < 0.6:
            opcode = rng.choice(rows)
            short = opcode <= 0xffff
            for _ in range(rng.randrange(1, 8)):
                opcode ^= 1 << rng.randrange(16 if short else 32)
            if short and opcode >= 0xe800:
                opcode = opcode << 16 | rng.getrandbits(16)
        elif kind < 0.85:
            value, mask = rng.choice(spaces)
            opcode = value | rng.getrandbits(32) & ~mask
        elif isa == 't32' and kind < 0.9:
            opcode = rng.randrange(0xe800)
        else:
            opcode = rng.getrandbits(32)
        if isa == 't32':
            if opcode > 0xffff and opcode >> 16 < 0xe800:
                opcode >>= 16
            elif opcode <= 0xffff and opcode >= 0xe800:
                continue
            # IT and VPT blocks change what the disassembler says of the following instructions
            if opcode >> 8 == 0xbf and opcode & 0xf:
                continue
            if name == 't32m' and opcode >> 24 in (0xee, 0xfe):
                continue
        out.append(opcode)
    return out


def disassemble(options, isa, values):
    """One (verdict, text) for each opcode; verdict: valid, unpredictable, invalid."""
    lines = []
    for opcode in values:
        if isa != 't32':
            raw = opcode.to_bytes(4, 'little')
        elif opcode <= 0xffff:
            raw = opcode.to_bytes(2, 'little')
        else:
            raw = (opcode >> 16).to_bytes(2, 'little') + (opcode & 0xffff).to_bytes(2, 'little')
        # in brackets: a bad one is not tried again from its second half
        lines.append('[' + ' '.join(map(hex, raw)) + ']')
    done = subprocess.run([LLVM_MC, '--disassemble', *options], input='\n'.join(lines) + '\n', text=True,
                          capture_output=True)
    verdicts = ['valid'] * len(values)
    for number, what in re.findall(r'^<stdin>:(\d+):\d+: warning: (invalid|potentially undefined)', done.stderr, re.M):
        verdicts[int(number) - 1] = 'invalid' if what == 'invalid' else 'unpredictable'
    printed = [line.strip() for line in done.stdout.splitlines() if line.startswith('\t')]
    assert len(printed) == len(values) - verdicts.count('invalid')
    printed = iter(printed)
    return [(verdict, '' if verdict == 'invalid' else next(printed)) for verdict in verdicts]


@pytest.fixture(scope='module')
def driver(tmp_path_factory):
    if not os.access(LLVM_MC, os.X_OK):
        pytest.skip(f'{LLVM_MC} missing (Debian package llvm-22)')
    if not shutil.which(CC):
        pytest.skip(f'C compiler {CC} missing')
    folder = tmp_path_factory.mktemp('insn')
    (folder / 'driver.c').write_text(DRIVER)
    subprocess.run([CC, '-O2', '-std=c11', f'-DADDR={ADDR:#x}', f'-I{ROOT / "src-overlay/src"}',
                    '-o', folder / 'driver', folder / 'driver.c', *SOURCES], check=True)
    return folder / 'driver'


@pytest.mark.parametrize('name', CONFIGS)
def test_against_llvm(driver, name):
    isa, m_profile, options = CONFIGS[name]
    values = opcodes(name, isa)
    done = subprocess.run([driver, isa, str(m_profile)], input=struct.pack(f'<{len(values)}I', *values),
                          stdout=subprocess.PIPE, check=True)
    wrong, used = [], 0
    for opcode, (verdict, text), (kind, flags, target) in zip(
            values, disassemble(options, isa, values), struct.iter_unpack('<BB6xQ', done.stdout)):
        ours = (CLASSES[kind], flags, target if CLASSES[kind] == 'direct' else None)
        if verdict == 'invalid':
            theirs = OTHER
        else:
            word, _, operands = text.partition('\t')
            if isa == 'a64':
                theirs = meaning_a64(word, operands)
            else:
                theirs = meaning_arm(word, operands, opcode > 0xffff, isa == 't32')
        if ours == theirs or ours[0] == theirs[0] == 'other':
            used += ours[0] != 'other'
        elif not accepted(name, opcode, verdict, ours[0]):
            wrong.append(f'{opcode:08x} {verdict} "{text}": ours {ours}, theirs {theirs}')
    assert not wrong, f'{len(wrong)} differences:\n' + '\n'.join(wrong[:40])
    # the comparison is about waypoints: many of the opcodes must be some
    assert used > len(values) // 10
