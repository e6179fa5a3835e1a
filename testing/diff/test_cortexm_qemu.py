# SPDX-License-Identifier: GPL-2.0-or-later
# check-group: mtb
"""The simulated Cortex-M cores against qemu-system-arm: same programs, every instruction and every exception.

qemu's microbit (Cortex-M0) and mps2-an505 (Cortex-M33) write each instruction before it is executed (-singlestep -d
exec,nochain) and each exception (-d int) to a pipe. cortexm_trace writes the log that decoders are held against. Both
are brought into one form:

    pc of an instruction that was completed (also one of an IT block whose condition fails), or x NUMBER of an exception

Programs: those of testing/sim/programs whose exceptions are raised by the program itself, at all levels of
optimisation, and random ones in machine code. Timer interrupts come at other times in qemu: test_probe_cortexm.py has
those. qemu's M33 has the security extension and is in Secure state; the programs make nothing of EXC_RETURN.

LONG=1 takes more random programs, SEED=N others.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'testing/sim'))
import cortexm_random	# noqa: E402  pylint: disable=wrong-import-position

SIM = pathlib.Path(os.environ.get('SIM_BUILD') or ROOT / 'build/sim')
QEMU = shutil.which('qemu-system-arm')
LONG = os.environ.get('LONG') == '1'
SEED = int(os.environ.get('SEED', '1'))
LEVELS = ['O0', 'O1', 'O2', 'Os']

pytestmark = pytest.mark.skipif(not QEMU, reason='no qemu-system-arm')

CORES = {
    # qemu's machine, ours, our options, name in the programs' files, code and data of the random ones
    'm0': ('microbit', 'cortex-m0plus', [], 'm0', 0, 0x20000000),
    'm33': ('mps2-an505', 'cortex-m33', ['--flash', '0x10000000/0x40000', '--ram', '0x38000000/0x10000'], 'm33q',
            0x10000000, 0x38000000),
}
EVENT = re.compile(rb'^Trace 0: \S+ \[[0-9a-f]+/([0-9a-f]{8})/|^Taking exception (\d+) |^\.\.\.taking pending \S+ exception (\d+)'
                   rb'|^(Stopped execution)', re.M)
# qemu's numbers of what ends an instruction that is not completed: undefined, prefetch and data abort, v7-M usage faults
FAULTS = {1, 3, 4, 7, 10, 17, 18, 19, 20, 21, 22}


def program(name):
    path = SIM / name
    if not path.exists() and not shutil.which('clang'):
        pytest.skip('no clang: %s is not built' % name)
    return path


def qemu_events(tmp_path, core, elf, count):
    """The first @a count events of qemu."""
    fifo = str(tmp_path / 'qemu-log')
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [QEMU, '-M', CORES[core][0], '-display', 'none', '-serial', 'none', '-monitor', 'none', '-kernel', str(elf),
         '-singlestep', '-d', 'exec,nochain,int', '-D', fifo], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    events = []
    rest = b''
    with open(fifo, 'rb') as log:
        while len(events) < count + 2:
            block = log.read(1 << 20)
            if not block:
                break
            end = block.rfind(b'\n') + 1
            block, rest = rest + block[:end], block[end:]
            for pc, taken, number, stopped in EVENT.findall(block):
                if pc:
                    events.append(int(pc, 16))
                elif number:
                    events.append('x%d' % int(number))
                elif stopped or int(taken) in FAULTS:
                    events.pop()
        process.kill()
    process.communicate()
    os.unlink(fifo)
    return events


def our_events(core, elf, count, stop=None):
    _, target, options, *_ = CORES[core]
    command = [str(SIM / 'cortexm_trace'), '--target', target, '--program', str(elf), '--max', str(count), '--log', '-']
    if stop:
        command += ['--stop', hex(stop)]
    text = subprocess.run(command + options, stdout=subprocess.PIPE, check=True, timeout=120,
                          universal_newlines=True).stdout
    events = []
    for line in text.splitlines():
        words = line.split()
        if words[0] == 'I':
            events.append(int(words[1], 16))
        elif words[0] in 'XT':
            events.append('x' + words[1])
        elif words[0] == 'L':
            events.append('lock-up')
    return events


def show(event):
    return event if isinstance(event, str) else '%08x' % event


def compare(tmp_path, core, elf, count, stop=None):
    """@returns our events, which are qemu's"""
    ours = our_events(core, elf, count, stop)
    theirs = qemu_events(tmp_path, core, elf, len(ours))
    for at, (one, other) in enumerate(zip(ours, theirs)):
        if one != other:
            context = ' '.join(map(show, ours[max(0, at - 12):at]))
            raise AssertionError('event %d: %s here, %s in qemu, behind %s' % (at, show(one), show(other), context))
    assert len(theirs) >= len(ours), 'qemu has %d events only' % len(theirs)
    return ours


def symbols(elf):
    """name: address, of functions"""
    data = elf.read_bytes()
    shoff, = struct.unpack_from('<I', data, 32)
    entsize, count = struct.unpack_from('<HH', data, 46)
    sections = [struct.unpack_from('<10I', data, shoff + n * entsize) for n in range(count)]
    found = {}
    for section in sections:
        if section[1] != 2:
            continue
        strings = sections[section[6]]
        for at in range(section[4], section[4] + section[5], 16):
            name, value, _, info = struct.unpack_from('<IIIB', data, at)
            text = data[strings[4] + name:]
            found[text[:text.index(b'\0')].decode()] = value & ~1 if info & 15 == 2 else value
    return found


@pytest.mark.parametrize('level', LEVELS)
@pytest.mark.parametrize('core', CORES)
def test_work(tmp_path, core, level):
    elf = program('cm-work-%s-%s.elf' % (CORES[core][3], level))
    events = compare(tmp_path, core, elf, 500000)
    pcs = set(events)
    for name in ('one_round', 'machine', 'sort', 'fibonacci', 'hanoi', 'conditions'):
        assert symbols(elf)[name] in pcs, name


@pytest.mark.parametrize('level', LEVELS)
@pytest.mark.parametrize('core', CORES)
def test_exceptions(tmp_path, core, level):
    elf = program('cm-faults-%s-%s.elf' % (CORES[core][3], level))
    places = symbols(elf)
    events = compare(tmp_path, core, elf, 100000, places['done'])
    taken = {event for event in events if isinstance(event, str)}
    own_faults = {'x5', 'x6'} if core == 'm33' else set()
    assert taken == {'x2', 'x3', 'x11', 'x14', 'x16', 'x17', 'x18', 'x19'} | own_faults
    assert places['unexpected'] not in events


# ---- random programs ----

@pytest.fixture(name='scratch')
def fixture_scratch(tmp_path):
    if not shutil.which('clang'):
        pytest.skip('no clang')
    return tmp_path


def random_events(scratch, core, seed, interrupts):
    _, _, _, _, code, data = CORES[core]
    elf = scratch / 'random.elf'
    cortexm_random.build(elf, core, seed, interrupts, code, data)
    return compare(scratch, core, elf, 20000)


@pytest.mark.parametrize('part', range(4))
@pytest.mark.parametrize('core', CORES)
def test_random(scratch, core, part):
    """Quiet ones and ones that raise exceptions by themselves; some of the latter really have to."""
    taken = set()
    for seed in range(150 if LONG else 10):
        seed = SEED * 100000 + part * 1000 + seed
        interrupts = 'none' if seed % 5 == 0 else 'soft'
        try:
            events = random_events(scratch, core, seed, interrupts)
        except AssertionError as error:
            raise AssertionError('%s, seed %d, %s: %s' % (core, seed, interrupts, error)) from error
        assert len(events) > 10000
        taken |= {event for event in events if isinstance(event, str)}
    assert len(taken) >= 5, taken
