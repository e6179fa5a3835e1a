# SPDX-License-Identifier: GPL-2.0-or-later
"""A profile shows where the time went: samples against the cycles that the simulated core really spent at each address.

check-group: xtensa

Each profile ends by a fault at its 20 000th sample, and the record of cycles with it, so that nothing depends on how
fast the machine is. LONG=1: five fixed beginnings of the generator instead of two. With LONG=1 or BASES_RUN=1 also 30 s
at full speed, to the end of what fits into a gmon bucket and gprof's view of it.
"""

import bisect
import collections
import csv
import os
import re
import shutil
import struct
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position

OPENOCD = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
LONG = os.environ.get("LONG") == "1"
BASES_RUN = os.environ.get("BASES_RUN") == "1"
NM = "xtensa-lx106-elf-nm"
GPROF = "xtensa-lx106-elf-gprof"

SEEDS = [1, 2, 3, 4, 5] if LONG else [1, 2]
SAMPLES = 20000
FUNCTIONS_MAX = 12
TOLERANCE = 0.02
TCK_HZ = 10000000
CLOCK = 80000000	# a round of the program is shorter than a flush: gaps between flushes do not matter much
SPIN_CYCLES = 130	# interval that the core's clock is chosen for: half of it is the shortest period there is

# How to end it at some sample of core 0. A core that is stopped anyway cannot be stopped by a BREAK.
END = {"debugpc": "break 0", "pipeline": "power-off", "batch": "power-off"}
METHODS = sorted(END)

pytestmark = pytest.mark.skipif(not shutil.which(NM) or not os.path.exists(OPENOCD),
                                reason="no xtensa-lx106-elf-gcc, or OpenOCD is not built")


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


def symbols(elf):
    """(address, size, name) of what has a size, in order."""
    text = subprocess.run([NM, "-S", "-n", probe.program(elf)], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    return [(int(address, 16), int(size, 16), name)
            for address, size, name in re.findall(r"^([0-9a-f]+) ([0-9a-f]+) . (\S+)$", text, re.M)]


def by_function(elf, counts):
    """{address: number} as shares of functions."""
    known = symbols(elf)
    starts = [address for address, _, _ in known]
    total = sum(counts.values())
    found = collections.Counter()
    for address, count in counts.items():
        at = -1 if address == "outside" else bisect.bisect_right(starts, address) - 1
        inside = at >= 0 and address < known[at][0] + known[at][1]
        found[known[at][2] if inside else "elsewhere"] += count / total
    return found


def variation(sampled, true):
    """Total variation, and both beside each other."""
    most = [name for name, _ in true.most_common(FUNCTIONS_MAX - 1)]
    rest = "the rest"
    rows = [(name, sampled[name], true[name]) for name in most]
    rows.append((rest, *(sum(share for name, share in which.items() if name not in most)
                         for which in (sampled, true))))
    distance = sum(abs(ours - theirs) for _, ours, theirs in rows) / 2
    return distance, "\n".join(["total variation %.4f" % distance] +
                               ["%-20s %8.4f sampled %8.4f true" % row for row in rows])


class Taken:
    """A profile, what the simulator knows of it, and its counters."""

    def __init__(self, sim, run):
        assert run.ok, run.text
        self.text = run.text
        assert "ended     early" in run.text, run.text
        words = re.search(r"counters: (.*)", run.text).group(1).split()
        self.counters = dict(zip(words[::2], map(int, words[1::2])))
        self.true = sim.records("residency")[0]
        self.sampled = {}
        with open(os.path.join(sim.path, "profile.csv"), encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                self.sampled[int(row["address"], 16)] = int(row["count"])

    def interval_tck(self):
        """From sample to sample, in time of the program."""
        return self.counters["tck_running"] / sum(self.sampled.values())


def take(elf, method, options="", samples=SAMPLES, period=None, **probe_options):
    """A profile, up to the sample that ends it. Only clocks are time: what a seed gives is the same on every machine."""
    with probe.Probe("esp32", elf, taps=1, pace="tck", **probe_options) as sim:
        if period:
            address = next(address for address, _, name in symbols(elf) if name == "period_cycles")
            sim.control("write", address, period)
        run = sim.openocd("""
            init
            sim mark
            sim fault %s when samples %d
            puts [xtensa profile 60 profile.csv -format csv -method %s -duty 0 -top 0 %s]
            puts "counters: [sim counters]"
            """ % (END[method], samples, method, options), openocd=OPENOCD, timeout=120)
        return Taken(sim, run)


def compare(elf, taken):
    count = sum(taken.sampled.values())
    assert SAMPLES * 0.98 < count <= SAMPLES, taken.text
    return variation(by_function(elf, taken.sampled), by_function(elf, taken.true))


# ---- a program of many functions ----

@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", METHODS)
def test_program(method, seed):
    distance, text = compare("xtensa-profile", take("xtensa-profile", method, "-seed %d" % seed, clock=CLOCK))
    print(text)
    assert distance <= TOLERANCE, text


# ---- loops that are as long as it is from sample to sample ----

@pytest.fixture(name="intervals", scope="module")
def fixture_intervals():
    """Mean interval of each method in TCK, and of debugpc's reads within a flush."""
    found = {method: take("xtensa-spin", method, samples=3000).interval_tck() for method in METHODS}
    path = os.path.join(probe.SIM_BUILD, "residency-%d.log" % os.getpid())
    with probe.Probe("esp32", "xtensa-spin", taps=1, log=path, pace="tck") as sim:
        run = sim.openocd("""
            init
            sim fault break 0 when samples 1000
            xtensa profile 60 profile.csv -format csv -method debugpc -jitter off
            """, openocd=OPENOCD)
        assert run.ok, run.text
        with open(path, encoding="utf-8") as log:
            times = [int(line.split()[0]) for line in log if " R DEBUGPC " in line]
        os.unlink(path)
    spaces = collections.Counter(second - first for first, second in zip(times, times[1:]))
    found["read"] = spaces.most_common(1)[0][0] * TCK_HZ / 1e9
    return found


def spin(method, tck, times, options):
    """
    A loop of @a times @a tck. The core's clock is no multiple of TCK, as they come from two oscillators in life, too:
    in the time of all samples it gets off by one TCK. Otherwise a loop has no more places to be met at than it has TCK.
    """
    clock = round(SPIN_CYCLES * TCK_HZ / tck * (1 + 1 / SAMPLES / tck))
    return compare("xtensa-spin", take("xtensa-spin", method, options, period=round(SPIN_CYCLES * times), clock=clock))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("times", [0.5, 1, 2])
@pytest.mark.parametrize("method", METHODS)
def test_loop_of_an_interval(intervals, method, times, seed):
    distance, text = spin(method, intervals[method], times, "-seed %d" % seed)
    print(text)
    assert distance <= TOLERANCE, text


@pytest.mark.parametrize("seed", SEEDS)
def test_loop_of_a_read(intervals, seed):
    distance, text = spin("debugpc", intervals["read"], 1, "-seed %d" % seed)
    print(text)
    assert distance <= TOLERANCE, text


@pytest.mark.parametrize("method", ["batch", "pipeline"] if LONG else ["pipeline"])
def test_without_jitter(method):
    """
    This is what jitter is for, and what the tests above would see without it. Where in the loop the samples happen to
    fall differs from run to run, and may hide it once.
    """
    tck = take("xtensa-spin", method, "-jitter off", samples=1000).interval_tck()
    seen = []
    for times in (1, 2, 0.5):
        distance, text = spin(method, tck, times, "-jitter off")
        print(text)
        seen.append(distance)
        if distance > TOLERANCE:
            break
    assert max(seen) > TOLERANCE, seen


# ---- as long as nobody counted before ----

def read_gmon(path):
    """Counts by address of all histogram records, and their rate."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"gmon\x01\0\0\0"
    counts = collections.Counter()
    rates = set()
    at = 20
    while at < len(data):
        tag, low, high, buckets, rate = struct.unpack_from("<BIIII", data, at)
        assert tag == 0 and (high - low) == 2 * buckets
        rates.add(rate)
        at += 33
        for i, count in enumerate(struct.unpack_from("<%dH" % buckets, data, at)):
            counts[low + 2 * i] += count
        at += 2 * buckets
    assert len(rates) == 1
    return counts, rates.pop()


def half_a_minute():
    """More samples than OpenOCD's own command takes on any base, more in one place than a bucket of gmon holds."""
    with probe.Probe("esp32", "xtensa-profile") as sim:
        run = sim.openocd("""
            init
            targets esp32.cpu0
            puts [profile 30 profile.gmon]
            """, openocd=OPENOCD, timeout=120)
        assert run.ok, run.text
        assert "method    debugpc" in run.text and "ended" not in run.text, run.text
        samples, seconds = re.search(r"samples +(\d+) in ([0-9.]+) s", run.text).groups()
        path = os.path.join(sim.path, "profile.gmon")
        counts, rate = read_gmon(path)
        text = subprocess.run([GPROF, "-b", "-p", probe.program("xtensa-profile"), path], stdout=subprocess.PIPE,
                              check=True, universal_newlines=True).stdout
    assert int(samples) > 1000000 and float(seconds) >= 30
    assert sum(counts.values()) == int(samples)
    assert max(counts.values()) > 65535
    assert rate == pytest.approx(int(samples) / float(seconds), rel=0.001)
    rows = re.findall(r"^ *[0-9.]+ +([0-9.]+) +([0-9.]+) +(\S+)$", text, re.M)
    assert len(rows) > 10, text
    assert float(rows[-1][0]) == pytest.approx(int(samples) / rate, rel=0.001), text
    shares = {name: float(self_s) * rate / int(samples) for _, self_s, name in rows}
    ours = by_function("xtensa-profile", counts)
    assert variation(shares, ours)[0] < 0.001, text


# a matter of minutes: not in check, and no skip there either
if LONG or BASES_RUN:
    test_half_a_minute = half_a_minute
