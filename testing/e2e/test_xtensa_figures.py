# SPDX-License-Identifier: GPL-2.0-or-later
"""What a sample costs on the wire, against the floors that testing/bench/profile measures at length.

check-group: xtensa

Only what does not depend on how fast this machine is: flushes, TCK, and rates of modelled time without a duty. The
default duty's rates are the benchmark's: a core is let run as long as it is seen to stand, by the wall clock.
"""

import functools
import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position
import profile_figures as pf	# noqa: E402  pylint: disable=wrong-import-position

OPENOCD = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
LONG = os.environ.get("LONG") == "1"
SECONDS = (1, 10) if LONG else (1, 2)
MEASURED_AT_US = 500	# other round trips are worked out

pytestmark = pytest.mark.skipif(not shutil.which("xtensa-lx106-elf-gcc") or not os.path.exists(OPENOCD),
                                reason="no xtensa-lx106-elf-gcc, or OpenOCD is not built")


@pytest.fixture(name="built", scope="module", autouse=True)
def fixture_built():
    probe.build()


@functools.lru_cache(maxsize=None)
def measured(case, rtt_us=MEASURED_AT_US, pace="model"):
    return pf.measure(case, rtt_us, SECONDS, pace, OPENOCD)


def cost(case, **options):
    return measured(case, **options).sample_cost()


def stock_rate(round_trip):
    if not os.path.exists(probe.STOCK_OPENOCD):
        pytest.skip("no stock OpenOCD")
    return cost(pf.STOCK).rate(pf.ROUND_TRIPS[round_trip])


def check(name, value):
    assert pf.floor_met(name, value), "%s is %.3f, wanted %s" % (name, value, pf.floor_text(name))


def test_stock():
    check("stock-samples-1.45ms", stock_rate("1.45ms"))


@pytest.mark.parametrize("name,case", [("pipeline-tck", pf.PIPELINE), ("pipeline-tck-one-tap", pf.PIPELINE_ONE_TAP)])
def test_pipeline_sample(name, case):
    figures = cost(case)
    check("pipeline-flushes", figures.flushes_a_sample())
    check(name, figures.tck_beside())
    assert figures.exchanges_a_sample() < 1.02


def test_pipeline_with_duty():
    """Its run window is longer than what the adapter takes at once, so there may be more exchanges than flushes."""
    figures = cost(pf.PIPELINE_DUTY, rtt_us=1450, pace="real")
    check("pipeline-duty50-flushes", figures.flushes_a_sample())
    check("pipeline-duty50-tck", figures.tck_beside())
    assert figures.duty() > 0.45	# of a second in the middle; 0.5 is for all of it


@pytest.mark.parametrize("name,case", [("cpu0", pf.DEBUGPC), ("cpu1", pf.DEBUGPC_CPU1)])
def test_debugpc_sample(name, case):
    figures = cost(case)
    check("debugpc-tck-" + name, figures.tck_a_sample())
    check("debugpc-samples-a-flush-" + name, figures.samples_a_flush())
    check("debugpc-of-limit", figures.rate(0) * pf.READ_TCK / pf.KHZ / 1000)
    assert figures.stops == 0
    # between the bits there is nothing but jitter and evidence
    assert figures.exchanges == figures.flushes


def test_memory():
    check("memory-mib", measured(pf.DEBUGPC).memory_mib)


@pytest.mark.parametrize("round_trip", sorted(pf.ROUND_TRIPS))
@pytest.mark.parametrize("name,case", [("pipeline-duty0", pf.PIPELINE), ("debugpc", pf.DEBUGPC),
                                       ("batch", pf.BATCH_FASTEST)])
def test_against_stock(name, case, round_trip):
    check("%s-%s" % (name, round_trip), cost(case).rate(pf.ROUND_TRIPS[round_trip]) / stock_rate(round_trip))


@pytest.mark.parametrize("round_trip", sorted(pf.ROUND_TRIPS))
@pytest.mark.parametrize("name,both,one", [("pipeline-all", pf.PIPELINE_ALL, pf.PIPELINE),
                                           ("debugpc-all", pf.DEBUGPC_ALL, pf.DEBUGPC)])
def test_both_cores(name, both, one, round_trip):
    rtt_us = pf.ROUND_TRIPS[round_trip]
    check("%s-%s" % (name, round_trip), cost(both).rate(rtt_us) / cost(one).rate(rtt_us))
