# SPDX-License-Identifier: GPL-2.0-or-later
# check-group: xtensa
"""The programs for the simulated Xtensa cores do what other tests rely on: results, periods, interrupts, symbols."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIM = pathlib.Path(os.environ.get('SIM_BUILD') or ROOT / 'build/sim')

pytestmark = pytest.mark.skipif(not shutil.which('xtensa-lx106-elf-gcc'), reason='no xtensa-lx106-elf-gcc')

# program: where its code and data are, at most 64 KB from there
PLACES = {
    'profile': (0x40080000, 0x3ffb0000),
    'profile-s2': (0x40028000, 0x3ffb8000),
    'profile-s3': (0x40378000, 0x3fc88000),
    'profile-rt600': (0x24020000, 0x24000000),
    'second': (0x40090000, 0x3ffc0000),
    'second-s3': (0x40388000, 0x3fc98000),
    'watchdog': (0x40080000, 0x3ffb0000),
    'idle': (0x40080000, 0x3ffb0000),
    'spin': (0x40080000, 0x3ffb0000),
    'windowed': (0x40080000, 0x3ffb0000),
}
WORKING = [name for name in PLACES if name.startswith(('profile', 'second', 'windowed'))]
WATCHDOG = ('--ram', '0x3ff5f000')


def elf(name):
    return str(SIM / ('xtensa-%s.elf' % name))


def trace(name, *options):
    return subprocess.run([str(SIM / 'xtensa_trace'), elf(name)] + list(options), stdout=subprocess.PIPE, check=True,
                          timeout=60, universal_newlines=True).stdout


def word(name, symbol, count, *options):
    """A word after so many instructions, and the cycles that they took."""
    text = trace(name, '--quiet', '--max', str(count), '--dump', symbol, '1', *options)
    return int(text.split()[-1], 16), int(re.search(r'(\d+) cycles', text).group(1))


def functions(name):
    """name: (address, size)"""
    text = subprocess.run(['xtensa-lx106-elf-nm', '-S', elf(name)], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    return {symbol: (int(addr, 16), int(size, 16)) for addr, size, symbol in
            re.findall(r'^([0-9a-f]{8}) ([0-9a-f]{8}) [tT] (\w+)$', text, re.M)}


@pytest.mark.parametrize('name', WORKING)
def test_rounds(name):
    rounds, cycles = word(name, 'rounds', 3000000)
    assert word(name, 'errors', 3000000)[0] == 0
    assert 3000 < cycles / rounds < 200000


@pytest.mark.parametrize('name', ['profile', 'windowed'])
def test_errors_are_seen(name):
    """A word of the data that is wrong from the start is an error, else `errors` would say nothing."""
    assert word(name, 'errors', 3000000, '--poke', 'errors', '5')[0] == 5
    changed = {'profile': 'crc32', 'windowed': 'w_fibonacci'}[name]
    text = trace(name, '--quiet', '--max', '3000000', '--poke', changed, '0xf03df03d', '--dump', 'errors', '1')
    assert int(text.split()[-1], 16) > 0


@pytest.mark.parametrize('name', list(PLACES))
def test_places(name):
    text = subprocess.run(['xtensa-lx106-elf-readelf', '-lW', elf(name)], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    segments = [(int(addr, 16), int(size, 16)) for addr, size in
                re.findall(r'LOAD +\S+ (\S+) \S+ \S+ (\S+)', text)]
    assert [addr for addr, _ in segments] == list(PLACES[name])
    assert all(size <= 0x4000 for _, size in segments)


@pytest.mark.parametrize('name', ['profile', 'second', 'windowed'])
def test_profile_has_many_functions(name):
    pcs = [int(line.split()[0], 16) for line in trace(name, '--max', '150000').splitlines()]
    share = {}
    for symbol, (addr, size) in functions(name).items():
        assert size or symbol in ('code_base', 'vectors'), symbol
        share[symbol] = sum(addr <= pc < addr + size for pc in pcs) / len(pcs)
    assert sum(share.values()) > 0.9
    least = 4 if name == 'windowed' else 7
    assert sum(part > 0.02 for part in share.values()) >= least, share
    assert max(share.values()) < 0.6


def test_a3_is_busy():
    """In each working function: an instruction that writes a3 and one that reads it."""
    text = subprocess.run(['xtensa-lx106-elf-objdump', '-d', '--no-show-raw-insn', elf('profile')],
                          stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    pcs = trace('profile', '--max', '150000').split()[:150000]
    uses = {line.split(':')[0].strip() for line in text.splitlines() if re.search(r'\ba3\b', line)}
    assert sum(pc in uses for pc in pcs) > 0.2 * len(pcs)


@pytest.mark.parametrize('period', [62, 63, 64, 65, 108, 1000, 4567])
def test_period(period):
    passes, cycles = word('spin', 'passes', 3000000, '--poke', 'period_cycles', str(period))
    # a cycle wrong in each pass would be as many as there are passes
    assert passes > 800
    assert 0 <= cycles - passes * period < 2 * period


def test_shortest_period():
    passes, cycles = word('spin', 'passes', 3000000, '--poke', 'period_cycles', '0')
    assert abs(cycles / passes - 55) < 0.1


def test_watchdog():
    ticks, cycles = word('watchdog', 'ticks', 3000000, *WATCHDOG)
    assert ticks == cycles // 200000
    assert word('watchdog', 'errors', 3000000, *WATCHDOG)[0] == 0
    assert word('watchdog', 'rounds', 3000000, *WATCHDOG)[0] > 0


def test_idle():
    ticks, cycles = word('idle', 'ticks', 1000000)
    assert ticks == cycles // 20000
    # most of the time there is nothing to execute
    assert 1000000 < 0.15 * cycles
