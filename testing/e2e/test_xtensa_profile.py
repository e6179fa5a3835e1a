# SPDX-License-Identifier: GPL-2.0-or-later
"""`xtensa profile` on the simulated probe: what is reported is what the probe knows, and the core is as it was.

check-group: xtensa

The matrix is pairwise; with LONG=1 it is the full product.
"""

import itertools
import os
import random
import re
import shutil
import sys
import threading
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position
import profiling	# noqa: E402  pylint: disable=wrong-import-position
from profiling import Session, check_intact, check_samples	# noqa: E402  pylint: disable=wrong-import-position

LONG = os.environ.get("LONG") == "1"

pytestmark = pytest.mark.skipif(not shutil.which("xtensa-lx106-elf-gcc"), reason="no xtensa-lx106-elf-gcc")


@pytest.fixture(name="built", scope="session", autouse=True)
def fixture_built():
    if shutil.which("xtensa-lx106-elf-gcc"):
        probe.build()


# ---- the matrix ----

MATRIX = {
    "wire": ["jlink", "bitbang", "dap"],
    "taps": [1, 2],
    "debugpc": ["on", "zero"],
    "latency": ["0", "100", "500", "random:1000"],
    "event": ["nothing", "breakpoint", "core-reset", "debug-reset", "power-off", "exception", "probe-error-done",
              "probe-error-lost"],
    "method": ["auto", "pipeline", "wsr", "batch", "debugpc"],
    "xsr": ["swaps", "reads", "faults"],
}

ENDS = {
    "breakpoint": r"\S+ was stopped by something else: breakpoint",
    "core-reset": r"\S+ was reset \(PWRSTAT 0x",
    "debug-reset": r"\S+ was reset \(PWRSTAT 0x",
    "power-off": r"\S+: the debug module does not answer",
    "exception": r"\S+: an injected instruction faulted.* its a3 may have been changed",
    "probe-error-done": r"the adapter reports an error",
    "probe-error-lost": r"the adapter reports an error",
}


def possible(cell):
    """Whether there is such a thing; a cell may be incomplete."""
    if cell.get("wire") == "dap" and cell.get("taps") == 2:
        return False	# one module behind the DAP
    if cell.get("wire") == "bitbang" and str(cell.get("event")).startswith("probe-error"):
        return False	# its protocol has no status
    return not (cell.get("method") == "debugpc" and cell.get("debugpc") == "zero")


def pairwise(factors):
    """Rows in which each possible pair of values occurs. Greedy, and the same each time."""
    names = list(factors)
    uncovered = [frozenset(((a, x), (b, y))) for a, b in itertools.combinations(names, 2)
                 for x in factors[a] for y in factors[b] if possible({a: x, b: y})]
    rows = []
    while uncovered:
        row = dict(uncovered[0])
        for name in names:
            if name in row:
                continue
            best = None
            for value in factors[name]:
                if not possible(dict(row, **{name: value})):
                    continue
                won = sum(1 for pair in uncovered if (name, value) in pair and
                          all(row.get(key, item) == item for key, item in pair if key != name))
                if best is None or won > best[0]:
                    best = (won, value)
            assert best, row
            row[name] = best[1]
        done = {frozenset(pair) for pair in itertools.combinations(row.items(), 2)}
        assert done & set(uncovered), row
        uncovered = [pair for pair in uncovered if pair not in done]
        rows.append({name: row[name] for name in names})
    return rows


def full(factors):
    """All but what XSR does, which takes turns."""
    names = [name for name in factors if name != "xsr"]
    rows = (dict(zip(names, values)) for values in itertools.product(*(factors[name] for name in names)))
    turns = itertools.cycle(factors["xsr"])
    return [dict(row, xsr=next(turns)) for row in rows if possible(row)]


def cells():
    rows = full(MATRIX) if LONG else pairwise(MATRIX)
    return [pytest.param(row, id="-".join(str(value).replace(":", "") for value in row.values())) for row in rows]


def method_of(cell):
    """The method that must be used."""
    swaps = cell["xsr"] == "swaps"
    if cell["method"] == "auto":
        return "debugpc" if cell["debugpc"] == "on" else "pipeline" if swaps else "wsr"
    return cell["method"] if swaps or cell["method"] in ("wsr", "debugpc") else "wsr"


def midway(cell):
    """The fault that makes an event happen some hundred samples after the beginning."""
    event = cell["event"]
    if event in ("nothing", "breakpoint"):
        return ""
    if event == "exception" and method_of(cell) != "batch":
        # where an exchange begins: at the first injected instruction of a sample
        return "exception when exchanges %u" % (700 if cell["wire"] == "bitbang" else 400)
    # a flush of DEBUGPC reads has 250
    return "%s when samples %u" % (event, 300 if method_of(cell) == "debugpc" else 80)


def stops_too_late_for_batch(cell):
    """A flush through a DAP has no room for a sample with so long a guard."""
    return method_of(cell) == "batch" and cell["wire"] == "dap" and cell["latency"] == "random:1000"


def run_cell(cell):
    target = "xtensa-dap" if cell["wire"] == "dap" else "esp32"
    options = {"halt_latency": cell["latency"], "debugpc": cell["debugpc"], "xsr": cell["xsr"],
               "clock": 20000000 if cell["taps"] == 1 else 10000000}
    if target == "esp32":
        options["taps"] = cell["taps"]
    if cell["event"] == "breakpoint":
        options["clock"] = 2000000	# a round of the program takes longer than a busy host is away
    with Session(target, wire="bitbang" if cell["wire"] == "bitbang" else "jlink", **options) as session:
        if cell["event"] == "breakpoint":
            session.script("""
                halt
                bp 0x%08x 2 hw
                resume
                wait_halt
                rbp all
                step
                bp 0x%08x 2 hw
                """ % ((profiling.symbols(profiling.PROGRAMS[target])["sort_numbers"],) * 2))
        session.script("echo \"network [dict get [sim state 0] dcr]\"")
        # what ends early may take longer to get there on a busy machine
        to_the_end = cell["event"] == "nothing" or (cell["event"] == "exception" and method_of(cell) == "debugpc")
        session.add("p", "xtensa profile %u FILE -format csv -method %s" % (1 if to_the_end else 5, cell["method"]),
                    fault=midway(cell), verify=cell["event"] not in ("core-reset", "power-off"))
        outcome = session.go()["p"]
        if outcome.failed and stops_too_late_for_batch(cell):
            return outcome, None, None
        if cell["event"] == "breakpoint" and outcome.failed:
            # hit before the first sample, for the host was away after all
            assert re.search(r"no samples|does not run|was stopped by something else", outcome.said), outcome.said
            outcome = session.go()["p"]
        network = int(re.search(r"^network (\S+)", session.run.text, re.M).group(1), 0) & profiling.NETWORK
        assert not outcome.failed, outcome.said
        outcome.counts = outcome.counted()
        unaccounted = check_samples(outcome, cell["method"], cell["xsr"], fetches=int(cell["event"] == "breakpoint"))
    assert network == (3 << 16 if target == "esp32" else 0)
    return outcome, network, unaccounted


def check_lost(cell, outcome, unaccounted):
    """What was handed out and is no sample is exactly what was lost, where that can be known."""
    lost = sum(outcome.lost.values())
    event = cell["event"]
    if event == "nothing":
        assert not outcome.lost, outcome.said
    # a flush through a DAP has a second exchange, that only asks how the first one went, and may do what was not done
    most = 2 * lost if cell["wire"] == "dap" else lost
    lost_unseen = event == "probe-error-lost" and cell["wire"] != "dap"
    if event.startswith("probe-error"):
        # a look at whether the core stands may be hit; nothing is lost then
        assert set(outcome.lost) <= {"lost by the adapter"}, outcome.said
        assert 0 <= unaccounted <= (0 if lost_unseen else most), outcome.said
        assert unaccounted == lost or event == "probe-error-lost" or outcome.method == "wsr", outcome.said
    elif event == "debug-reset" and outcome.method != "batch":
        assert set(outcome.lost) == {"in doubt"} and unaccounted == lost, outcome.said
    else:
        assert 0 <= unaccounted <= lost, outcome.said
    if outcome.method == "debugpc":
        handed_out = outcome.counters["debugpc_reads0"] - profiling.DEBUGPC_PROBES
        known = event != "power-off" and (event != "probe-error-lost" or lost_unseen)
        assert handed_out == outcome.samples + (0 if lost_unseen else lost) or not known, outcome.said


def check_end(cell, outcome):
    event = cell["event"]
    if event == "exception" and outcome.method == "debugpc":
        event = "nothing"	# nothing is injected
    if event == "nothing":
        assert outcome.ended is None, outcome.said
    else:
        assert outcome.ended and re.match(ENDS[event], outcome.ended), outcome.said
    return event


@pytest.mark.parametrize("cell", cells())
def test_matrix(cell):
    outcome, network, unaccounted = run_cell(cell)
    if stops_too_late_for_batch(cell):
        assert outcome.failed and "stops too late for batch: use pipeline" in outcome.said, outcome.said
        assert outcome.state[0]["in_ocd"] == outcome.counters["exec_ignored0"] == 0
        return
    assert outcome.method == method_of(cell), outcome.said
    if outcome.method != cell["method"] and cell["xsr"] != "swaps" and outcome.method == "wsr":
        assert any("XSR.DDR does not swap" in note for note in outcome.notes), outcome.said
    if cell["debugpc"] == "zero" and cell["method"] == "auto":
        assert any("DEBUGPC of" in note and "reads 0" in note for note in outcome.notes), outcome.said
    assert outcome.samples > (3 if cell["event"] == "breakpoint" else 20), outcome.said
    event = check_end(cell, outcome)
    check_lost(cell, outcome, unaccounted)

    ignored = outcome.counters["exec_ignored0"]
    if event == "core-reset":
        # what was on its way when the core left OCD mode by its reset
        assert ignored <= (4 if outcome.method in ("pipeline", "wsr") else 200)
    elif event == "probe-error-lost" and outcome.method == "batch" and cell["wire"] == "dap":
        assert ignored <= 8	# a flush that took two exchanges after all
    else:
        assert ignored == 0
    if event == "power-off":
        assert set(outcome.curstate.values()) <= {"unknown"}, outcome.curstate
        return
    check_intact(outcome, network)
    assert outcome.state[0]["in_ocd"] == (event == "breakpoint")
    if event == "breakpoint":
        target = "xtensa-dap" if cell["wire"] == "dap" else "esp32"
        assert outcome.state[0]["pc"] == profiling.symbols(profiling.PROGRAMS[target])["sort_numbers"]
        assert set(outcome.curstate.values()) == {"halted"}
        assert all(state["in_ocd"] for state in outcome.state.values())
    elif len(outcome.state) == 2:
        # that the other module was reset, too, OpenOCD finds out when it polls it
        polled = event != "debug-reset" or outcome.method != "debugpc"
        check_intact(outcome, network if polled else 0, 1)
    # by remote_bitbang each read ends an exchange, and wsr has one between a3's way out and its way back
    restored = event != "exception" or outcome.method == "pipeline" or (outcome.method == "wsr" and
                                                                       cell["wire"] != "bitbang")
    if event != "core-reset" and restored:
        profiling.check_program(outcome)
        assert all(int(outcome.verify["dcr%u" % core], 0) & profiling.NETWORK == network for core in outcome.state)


# ---- many samples with random faults ----

# behind these it still means something to verify
HARMLESS = ["debug-reset", "exception", "probe-error-done", "probe-error-lost", "break 1"]
RESETS = ["core-reset", "power-off"]


def fault_at(rand, kind, least, most):
    count = rand.randint(least, most)
    if kind == "exception":
        return "exception when exchanges %u" % (2 * count)
    if kind == "break 1":
        return "break 1 when us %u" % (60 * count)
    return "%s when samples %u" % (kind, count)


def check_after_fault(outcome, method, kind, network):
    assert not outcome.failed and outcome.method == method, outcome.said
    if kind == "break 1":
        assert outcome.ended and outcome.ended.startswith("esp32.cpu1 was stopped by something else"), outcome.said
        assert set(outcome.curstate.values()) == {"halted"}, outcome.said
    else:
        assert outcome.ended and re.match(ENDS[kind], outcome.ended), outcome.said
    lost = sum(outcome.lost.values())
    assert 0 <= check_samples(outcome, method, fetches=int(kind == "break 1")) <= lost <= 1, outcome.said
    if kind in RESETS:
        return
    assert outcome.counters["exec_ignored0"] == 0
    for core in (0, 1):
        check_intact(outcome, network, core)
    profiling.check_program(outcome)


@pytest.mark.parametrize("method,total,least,most", [("pipeline", 10000, 50, 600), ("wsr", 1000, 20, 80)])
def test_random_faults(method, total, least, most):
    """One profile after the other, each ended by a fault; nothing is lost or changed."""
    rand = random.Random(2026)
    resets = itertools.cycle(RESETS)
    taken = 0
    while taken < total:
        kinds = rand.sample(2 * HARMLESS, k=2 * len(HARMLESS)) + [next(resets)]
        with Session("esp32", debugpc="zero", seed=rand.randrange(1000)) as session:
            for i, kind in enumerate(kinds):
                session.script("sim set halt-latency random:%u" % rand.choice([0, 30, 300, 3000]))
                session.add("p%u" % i, "xtensa profile 5 FILE -format csv -top 0 -method %s" % method,
                            fault=fault_at(rand, kind, least, most), verify=kind in HARMLESS)
            for kind, outcome in zip(kinds, session.go(timeout=120).values()):
                check_after_fault(outcome, method, kind, 3 << 16)
                taken += outcome.samples


def test_every_lost_exchange_of_a_dap():
    """
    Behind an exchange that is lost in the middle of a scan the TAP is out of step: what comes next is junk to it, and has
    switched the DP off or written to CSW. The core must be found in its true state all the same.
    """
    with Session("xtensa-dap", clock=20000000) as session:
        count = 200 if LONG else 20
        for i in range(count):
            session.add("p%u" % i, "xtensa profile 5 FILE -format csv -top 0 -method debugpc",
                        fault="probe-error-lost when samples %u" % (1990 + i), verify=i == count - 1)
        for outcome in session.go(timeout=120).values():
            assert not outcome.failed and re.match(ENDS["probe-error-lost"], outcome.ended or ""), outcome.said
            assert set(outcome.curstate.values()) == {"running"}, outcome.said
            check_intact(outcome, 0)
        profiling.check_program(outcome)


# ---- late stops ----

def test_batch_names_the_sample_in_doubt():
    """A core that suddenly takes longer to stop than ever before: batch ends there, and says which sample it was."""
    with Session("esp32", halt_latency=20) as session:
        session.add("p", "xtensa profile 5 FILE -format csv -method batch -seed 1")

        def later():
            while session.probe.control("counters")["pc_samples0"] < 500:
                time.sleep(0.001)
            session.probe.control("set", "halt-latency", 700)

        changed = threading.Thread(target=later)
        changed.start()
        outcome = session.go()["p"]
        changed.join()
        match = re.match(r"sample (\d+) is in doubt: esp32.cpu0 did not stop in time, its a3 may have been changed",
                         outcome.ended or "")
        assert match, outcome.said
        assert int(match.group(1)) == outcome.samples + 1
        assert set(outcome.lost) == {"in doubt"}
        ours, truth = outcome.reported_counts(), outcome.truth[0]
        assert not ours - truth
        check_intact(outcome, 3 << 16)
        assert outcome.state[0]["in_ocd"] == 0


@pytest.mark.parametrize("method", ["pipeline", "wsr"])
def test_a_core_that_does_not_stop(method):
    with Session("esp32") as session:
        session.add("p", "xtensa profile 5 FILE -format csv -method %s" % method, fault="stuck-running when samples 50",
                    verify=True)
        outcome = session.go()["p"]
        assert re.match(r"esp32.cpu0 did not stop within 200 ms", outcome.ended or ""), outcome.said
        assert check_samples(outcome, method) == 0
        check_intact(outcome, 3 << 16)
        assert outcome.state[0]["in_ocd"] == 0 and outcome.counters["exec_ignored0"] == 0
        profiling.check_program(outcome)


@pytest.mark.parametrize("method", ["pipeline", "wsr", "batch"])
def test_a_fault_between_two_instructions_of_a_sample(method):
    """Then the core goes on with the PC in a3, for its RFDO is on the way already. That has to be said."""
    with Session("esp32", debugpc="zero") as session:
        session.add("p", "xtensa profile 5 FILE -format csv -method %s" % method, fault="exception when samples 200")
        outcome = session.go()["p"]
        assert re.match(ENDS["exception"], outcome.ended or ""), outcome.said
        check_samples(outcome, method)
        check_intact(outcome, 3 << 16)


# ---- breakpoints and cores ----

@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr", "batch"])
@pytest.mark.parametrize("network", ["BreakIn BreakOut", "none"])
def test_the_other_core_is_stopped(method, network):
    """With the break network, that stops both; without, it is no concern of the core that is sampled."""
    with Session("esp32", program2="xtensa-second") as session:
        if network == "none":
            session.script("foreach target [target names] { $target xtensa smpbreak none }")
        session.add("p", "xtensa profile 1 FILE -format csv -method %s" % method, fault="break 1 when us 20000",
                    verify=network != "none")
        outcome = session.go()["p"]
        assert not outcome.failed, outcome.said
        wired = network != "none"
        if method == "debugpc":
            assert bool(outcome.ended) == wired, outcome.said
        elif wired:
            assert outcome.ended.startswith("esp32.cpu1 was stopped by something else"), outcome.said
        check_samples(outcome, method, fetches=int(wired))
        for core in (0, 1):
            check_intact(outcome, 3 << 16 if wired else 0, core)
        assert outcome.curstate == {"esp32.cpu0": "halted" if wired else "running", "esp32.cpu1": "halted"}
        if wired:
            profiling.check_program(outcome, 2)


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr"])
def test_software_breakpoint(method):
    """The sampled core is stopped by a BREAK of its own, the other one by the network."""
    addr = profiling.symbols("xtensa-profile")["sort_numbers"]
    with Session("esp32", clock=2000000, program2="xtensa-second") as session:
        session.script("halt\nbp 0x%08x 2 hw\nresume\nwait_halt\nrbp all\nstep\nbp 0x%08x 3" % (addr, addr))
        session.add("p", "xtensa profile 1 FILE -format csv -method %s" % method, verify=True)
        outcome = session.go()["p"]
        assert (outcome.ended or "").startswith("esp32.cpu0 was stopped by something else"), outcome.said
        assert set(outcome.curstate.values()) == {"halted"}
        assert outcome.state[0]["pc"] == addr
        for core in (0, 1):
            check_intact(outcome, 3 << 16, core)
        profiling.check_program(outcome, 2)


@pytest.mark.parametrize("method,kind", [
    (method, kind) for method in ("debugpc", "pipeline", "wsr") for kind in HARMLESS[:4] + ["core-reset"]
    if (method, kind) != ("debugpc", "exception")
])
def test_all_cores_and_a_fault(method, kind):
    """Both cores sampled, stopped and released together, with a stop that takes its time; then something happens."""
    where = "exchanges 400" if kind == "exception" else "samples %u" % (300 if method == "debugpc" else 50)
    with Session("esp32", program2="xtensa-second", halt_latency="random:300") as session:
        session.add("p", "xtensa profile 2 FILE -format csv -top 0 -cores all -method %s" % method,
                    fault="%s when %s" % (kind, where), verify=kind != "core-reset")
        outcome = session.go()["p"]
        assert not outcome.failed and outcome.samples > 20, outcome.said
        assert re.match(ENDS[kind], outcome.ended or ""), outcome.said
        for core in (0, 1):
            assert 0 <= check_samples(outcome, method, core=core) <= sum(outcome.lost.values()), outcome.said
            check_intact(outcome, 3 << 16, core)
            assert outcome.counters["exec_ignored%u" % core] == 0 or kind == "core-reset"
            assert outcome.state[core]["in_ocd"] == 0
        if kind != "core-reset":
            profiling.check_program(outcome, 2)
            assert all(int(outcome.verify["dcr%u" % core], 0) & profiling.NETWORK == 3 << 16 for core in (0, 1))


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr"])
def test_breakpoint_of_one_of_all_cores(method):
    """Only the second core gets there. Both are halted then, and both go on as if nothing had been."""
    addr = profiling.symbols("xtensa-second")["heap_sort"]
    with Session("esp32", program2="xtensa-second", clock=2000000) as session:
        session.script("""
            halt
            bp 0x%08x 2 hw
            resume
            wait_halt
            rbp all
            targets esp32.cpu1
            step
            targets esp32.cpu0
            bp 0x%08x 2 hw
            """ % (addr, addr))
        session.add("p", "xtensa profile 2 FILE -format csv -top 0 -cores all -method %s" % method, verify=True)
        outcome = session.go()["p"]
        assert re.match(r"esp32.cpu[01] was stopped by something else", outcome.ended or ""), outcome.said
        assert set(outcome.curstate.values()) == {"halted"}
        assert outcome.state[1]["pc"] == addr
        for core in (0, 1):
            assert 0 <= check_samples(outcome, method, core=core, fetches=1) <= sum(outcome.lost.values()), outcome.said
            check_intact(outcome, 3 << 16, core)
            assert outcome.counters["exec_ignored%u" % core] == 0
        profiling.check_program(outcome, 2)


# ---- watchdogs ----

def test_watchdog_survives():
    """A watchdog of 300 ms, fed from an interrupt: pipeline at the default duty lets it live."""
    seconds = 60 if LONG else 10
    names = profiling.symbols("xtensa-watchdog")
    with Session("esp32", "xtensa-watchdog", pace="real", rtt=1450, debugpc="zero", clock=20000000) as session:
        session.add("p", "xtensa profile %u FILE -format csv -method pipeline" % seconds)
        outcome = session.go(timeout=seconds + 60)["p"]
        assert outcome.ended is None and outcome.samples > 100 * seconds, outcome.said
        assert outcome.counters["watchdog_bites0"] == 0
        assert session.probe.control("read", names["errors"])["value"] == 0
        assert session.probe.control("read", names["ticks"])["value"] > 40 * seconds
        assert session.probe.control("read", names["rounds"])["value"] > 50 * seconds
        assert check_samples(outcome, "pipeline") == 0
        check_intact(outcome, 3 << 16)
