# SPDX-License-Identifier: GPL-2.0-or-later
"""`xtensa profile` and `profile` as they are used: all targets and programs, one core or all, each option, each format,
with GDB attached.

check-group: xtensa
"""

import collections
import csv
import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position
import profiling	# noqa: E402  pylint: disable=wrong-import-position
import rsp	# noqa: E402  pylint: disable=wrong-import-position
from profiling import Session, check_intact, check_samples	# noqa: E402  pylint: disable=wrong-import-position

STOP = "break 0 when samples 4000"	# ends a profile by DEBUGPC soon

pytestmark = pytest.mark.skipif(not shutil.which("xtensa-lx106-elf-gcc"), reason="no xtensa-lx106-elf-gcc")


@pytest.fixture(name="built", scope="session", autouse=True)
def fixture_built():
    if shutil.which("xtensa-lx106-elf-gcc"):
        probe.build()


def function_at(table, addr):
    return next((name for start, end, name in table if start <= addr < end), None)


# ---- targets, programs, commands ----

@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr", "batch"])
@pytest.mark.parametrize("target", ["esp32s2", "esp32s3", "xtensa-jtag", "xtensa-dap"])
def test_other_targets(target, method):
    with Session(target) as session:
        # what OpenOCD sets up for a chip differs between its versions
        session.script("echo \"network [dict get [sim state 0] dcr]\"")
        session.add("p", "xtensa profile 1 FILE -format csv -method %s" % method,
                    fault="debug-reset when samples 600", verify=True)
        outcome = session.go()["p"]
        network = int(re.search(r"^network (\S+)", session.run.text, re.M).group(1), 0) & profiling.NETWORK
        assert outcome.method == method and outcome.samples > 200, outcome.said
        assert "was reset" in outcome.ended
        assert 0 <= check_samples(outcome, method) <= sum(outcome.lost.values()), outcome.said
        check_intact(outcome, network)
        assert outcome.counters["exec_ignored0"] == 0
        profiling.check_program(outcome)


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr", "batch"])
def test_windowed_program(method):
    """a3 is in every window: overflow and underflow handlers, ENTRY and RETW with WINDOWBASE going round."""
    with Session("esp32", "xtensa-windowed") as session:
        session.add("p", "xtensa profile 1 FILE -format csv -method %s -duty 0" % method, verify=True)
        outcome = session.go()["p"]
        assert outcome.ended is None and check_samples(outcome, method) == 0, outcome.said
        table = profiling.functions("xtensa-windowed")
        seen = {function_at(table, addr) for addr in outcome.reported_counts()}
        assert {"w_fibonacci", "w_sum", "w_mix", "w_climb"} <= seen, seen
        names = profiling.symbols("xtensa-windowed")
        assert session.probe.control("read", names["errors"])["value"] == 0
        assert session.probe.control("read", names["rounds"])["value"] > 5
        check_intact(outcome, 3 << 16)
        profiling.check_program(outcome)


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr"])
def test_idle_program(method):
    """A core in WAITI is stopped out of it and goes back; its timer interrupts go on."""
    names = profiling.symbols("xtensa-idle")
    with Session("esp32", "xtensa-idle", clock=20000000) as session:
        session.script("set before [dict get [sim read 0x%08x] value]" % names["ticks"])
        session.add("p", "xtensa profile 1 FILE -format csv -method %s" % method)
        session.script("""
            after 50
            echo "ticks [expr {[dict get [sim read 0x%08x] value] - $before}]"
            """ % names["ticks"])
        outcome = session.go()["p"]
        assert outcome.ended is None and check_samples(outcome, method) == 0, outcome.said
        shares = {}
        table = profiling.functions("xtensa-idle")
        for addr, count in outcome.reported_counts().items():
            name = function_at(table, addr)
            shares[name] = shares.get(name, 0) + count / outcome.samples
        assert shares["idle"] > 0.75 and shares["tick_work"] > 0.01, shares
        # 1 ms each, of the time that is modelled; a core that stands misses some
        modelled_ms = (outcome.counters["modelled_us"] + outcome.counters["idle_us"]) / 1000
        ticks = int(re.search(r"^ticks (\d+)", session.run.text, re.M).group(1))
        assert ticks > (0.8 if method == "debugpc" else 0.4) * modelled_ms
        check_intact(outcome, 3 << 16)


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr", "batch"])
@pytest.mark.parametrize("target,second", [("esp32", "xtensa-second"), ("esp32s3", "xtensa-second-s3")])
def test_all_cores(target, second, method):
    with Session(target, program2=second, halt_latency=30) as session:
        session.add("p", "xtensa profile 1 FILE -format csv -cores all -method %s" % method, verify=True)
        outcome = session.go()["p"]
        assert outcome.ended is None and not outcome.lost, outcome.said
        names = list(outcome.counted())
        assert names == ["%s.cpu0" % target, "%s.cpu1" % target]
        tables = [profiling.functions(profiling.PROGRAMS[target]), profiling.functions(second)]
        for core in (0, 1):
            assert check_samples(outcome, method, core=core) == 0, outcome.said
            assert all(function_at(tables[core], addr) for addr in outcome.reported_counts(core))
            assert outcome.counters["exec_ignored%u" % core] == 0
            check_intact(outcome, 3 << 16, core)
        profiling.check_program(outcome, 2)
        assert "of each core" in outcome.lines["samples"][0]


def test_the_second_core():
    """Sampled while the first one is left alone; by the target's own command, whichever is the current one."""
    with Session("esp32", program2="xtensa-second", debugpc="zero") as session:
        session.add("own", "esp32.cpu1 xtensa profile 1 FILE -format csv", verify=True)
        session.script("targets esp32.cpu1")
        session.add("current", "xtensa profile 1 FILE -format csv", verify=True)
        for outcome in session.go().values():
            assert outcome.method == "pipeline" and not outcome.lost, outcome.said
            assert list(outcome.counted()) == ["esp32.cpu1"]
            ours = outcome.reported_counts()
            assert sum(ours.values()) == outcome.samples == sum(outcome.truth[1].values()) - 2
            assert not ours - outcome.truth[1]
            assert outcome.counters["dir_exec0"] == outcome.counters["stops0"] == 0
            profiling.check_program(outcome, 2)


@pytest.mark.parametrize("target,command", [
    ("esp32", "profile 1 FILE"), ("esp32", "xtensa profile 1 FILE"), ("esp32", "esp32.cpu0 xtensa profile 1 FILE"),
    ("xtensa-jtag", "profile 1 FILE"), ("xtensa-jtag", "xtensa profile 1 FILE"),
    ("xtensa-jtag", "xtensa xtensa profile 1 FILE"), ("esp32s2", "esp32s2 xtensa profile 1 FILE"),
])
def test_commands(target, command):
    """Each way to say it; gmon is the format that there is without an option."""
    with Session(target) as session:
        session.add("p", command, fault="probe-error-lost when samples 1000", verify=True)
        outcome = session.go()["p"]
        assert outcome.method == "debugpc" and outcome.samples > 200, outcome.said
        with open(outcome.path, "rb") as file:
            assert file.read(5) == b"gmon\x01"
        profiling.check_program(outcome)


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "batch"])
@pytest.mark.parametrize("target", ["esp32", "xtensa-dap"])
def test_halted_before_and_after(target, method):
    with Session(target) as session:
        session.script("halt")
        session.add("p", "xtensa profile 1 FILE -format csv -method %s" % method, verify=True)
        outcome = session.go()["p"]
        assert outcome.ended is None and outcome.samples > 1000, outcome.said
        assert set(outcome.curstate.values()) == {"halted"}
        assert outcome.state[0]["in_ocd"] == 1
        check_intact(outcome, 3 << 16 if target == "esp32" else 0)
        assert check_samples(outcome, method, fetches=1) == 0
        profiling.check_program(outcome)


def test_legacy():
    """OpenOCD's default way is there, for comparison: a few samples, at which all registers are fetched."""
    with Session("esp32") as session:
        session.add("p", "xtensa profile 1 FILE -format csv -method legacy", verify=True)
        outcome = session.go()["p"]
        assert outcome.method == "legacy" and outcome.ended is None, outcome.said
        assert 5 < outcome.samples < 100 and outcome.counters["dir_exec0"] > 200 * outcome.samples
        assert not outcome.reported_counts() - outcome.truth[0]
        check_intact(outcome, 3 << 16)
        assert outcome.state[0]["in_ocd"] == 0
        profiling.check_program(outcome)


# ---- options ----

def test_range():
    names = profiling.symbols("xtensa-profile")
    start, end = names["crc32"], names["multiply_matrices"]
    with Session("esp32") as session:
        session.add("option", "xtensa profile 1 FILE -format csv -range 0x%08x 0x%08x" % (start, end), fault=STOP)
        session.script("settle")
        session.add("stock", "profile 1 FILE 0x%08x 0x%08x" % (start, end), fault=STOP)
        outcomes = session.go()
        option = outcomes["option"]
        ours = option.reported_counts()
        assert ours and all(start <= addr < end for addr in ours)
        truth = sum(count for addr, count in option.truth[0].items() if start <= addr < end)
        assert truth - profiling.DEBUGPC_PROBES - sum(option.lost.values()) <= sum(ours.values()) <= truth
        outside = int(re.match(r"(\d+) PCs were outside", option.lines["range"][0]).group(1))
        assert sum(ours.values()) + outside == option.samples
        with open(outcomes["stock"].path, "rb") as file:
            data = file.read()
        low, high = (int.from_bytes(data[21 + 4 * i:25 + 4 * i], "little") for i in range(2))
        assert start <= low < high <= end


@pytest.mark.parametrize("top", [0, 3, 10])
def test_top(top):
    with Session("esp32") as session:
        session.add("p", "xtensa profile 1 FILE -format csv -top %u -elf %s" % (top, probe.program("xtensa-profile")),
                    fault=STOP)
        outcome = session.go()["p"]
        found = re.findall(r"^ +([0-9.]+) % +(\d+)  (\S+)$", outcome.said, re.M)
        assert len(found) == top, outcome.said
        assert bool(outcome.lines["top"]) == bool(top)
        table = profiling.functions("xtensa-profile")
        counts = {}
        for addr, count in outcome.reported_counts().items():
            name = function_at(table, addr)
            counts[name] = counts.get(name, 0) + count
        busiest = sorted(counts.values(), reverse=True)[:top]
        assert [int(count) for _, count, _ in found] == busiest
        assert all(counts[name] == int(count) for _, count, name in found)


@pytest.mark.parametrize("method,rate,rtt", [
    ("debugpc", 200, 500), ("debugpc", 20000, 0), ("debugpc", 2900, 1450), ("debugpc", 3900, 1450), ("pipeline", 200, 200),
    ("pipeline", 50, 500), ("wsr", 100, 100),
])
def test_rate(method, rate, rtt):
    rates = []
    for _ in range(3):	# a busy machine may miss it now and then
        with Session("esp32", pace="real", rtt=rtt) as session:
            session.add("p", "xtensa profile 1 FILE -format csv -method %s -rate %u" % (method, rate))
            outcome = session.go()["p"]
            assert outcome.ended is None and check_samples(outcome, method) == 0, outcome.said
            rates.append(outcome.rate)
        if 0.75 * rate < outcome.rate < 1.25 * rate:
            break
    else:
        raise AssertionError("%r instead of %u" % (rates, rate))


@pytest.mark.parametrize("duty", [0, 50, 80])
def test_duty(duty):
    """What is reported as standing time is what the core stood; the share asked for is reached."""
    shares = []
    for _ in range(3):	# a busy machine may miss it now and then
        with Session("esp32", pace="real", rtt=500) as session:
            session.add("p", "xtensa profile 2 FILE -format csv -method pipeline -duty %u" % duty)
            outcome = session.go()["p"]
            assert outcome.ended is None and check_samples(outcome, "pipeline") == 0, outcome.said
        counters = outcome.counters
        # short gaps between exchanges are not in the modelled time; the core stands then
        passed_us = 1e6 * outcome.samples / outcome.rate
        known_us = counters["modelled_us"] + counters["idle_us"]
        stood = 100 * (counters["standing_us0"] + max(passed_us - known_us, 0)) / max(passed_us, known_us)
        shares.append((stood, outcome.stopped_percent))
        reached = stood > 80 if duty == 0 else stood < 100 - duty + 10
        if reached and abs(stood - outcome.stopped_percent) < 10:
            break
    else:
        raise AssertionError("stood and reported, percent: %r" % shares)


def steps(path, register, most=1500):
    """Modelled time from access to access of a register, ns."""
    times = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[2] in register[0] and words[3] == register[1]:
                times.append(int(words[0]))
    # the first ones are those of self-test or probing
    return [b - a for a, b in zip(times[10:], times[11:])][:most]


@pytest.mark.parametrize("method,options,register", [
    ("debugpc", "", ("R", "DEBUGPC")), ("pipeline", "-duty 0", ("W", "DCRSET")),
])
def test_seed_and_jitter(method, options, register):
    """The same seed gives the same pauses, another seed others, no jitter none."""
    def run(more):
        session = Session("esp32", taps=1)
        log = os.path.join(session.probe.path, "log")
        session.probe.options["log"] = log
        with session:
            session.add("p", "xtensa profile 1 FILE -format csv -method %s %s %s" % (method, options, more),
                        fault="probe-error-lost when samples 1800")
            outcome = session.go()["p"]
            assert outcome.samples >= 1500, outcome.said
            session.probe.control("counters")	# writes the log out
            return steps(log, register)

    first = run("-seed 7")
    assert len(first) == 1500
    assert len(set(first)) > 20
    assert run("-seed 7") == first
    assert run("-seed 8") != first
    # all but the first of a flush, and those behind a read of DSR
    steady = collections.Counter(run("-jitter off"))
    assert steady.most_common(1)[0][1] > 1400, steady


# ---- formats ----

def take_all(session):
    """The same core in each format; STOP ends each of them soon."""
    elf = probe.program("xtensa-profile")
    for name in ("gmon", "folded", "callgrind", "csv"):
        session.add(name, "xtensa profile 1 FILE -format %s -elf %s" % (name, elf), fault=STOP)
        session.script("settle")
    return session.go()


def run_tool(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=60,
                         universal_newlines=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_formats():
    with Session("esp32") as session:
        outcomes = take_all(session)
        names = {name for _, _, name in profiling.functions("xtensa-profile")}
        truth = {}
        for name, outcome in outcomes.items():
            table = profiling.functions("xtensa-profile")
            counts = truth[name] = {}
            for addr, count in outcome.truth[0].items():
                counts[function_at(table, addr)] = counts.get(function_at(table, addr), 0) + count
        busiest = max(truth["gmon"], key=truth["gmon"].get)

        text = run_tool("xtensa-lx106-elf-gprof", "-b", "-p", probe.program("xtensa-profile"), outcomes["gmon"].path)
        rows = re.findall(r"^ +([0-9.]+) +[0-9.]+ +[0-9.]+ .*?(\w+)$", text, re.M)
        assert rows and rows[0][1] == busiest, text
        assert {name for _, name in rows} <= names
        assert abs(float(rows[0][0]) / 100 - truth["gmon"][busiest] / sum(truth["gmon"].values())) < 0.05

        with open(outcomes["folded"].path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        counts = {}
        for line in lines:
            match = re.fullmatch(r"([^; ]+) (\d+)", line)
            assert match, line
            counts[match.group(1)] = int(match.group(2))
        assert sum(counts.values()) == outcomes["folded"].samples
        assert set(counts) <= names
        assert all(count <= truth["folded"][name] for name, count in counts.items())

        if shutil.which("callgrind_annotate"):
            text = run_tool("callgrind_annotate", outcomes["callgrind"].path)
            total = re.search(r"([0-9,]+) .*PROGRAM TOTALS", text).group(1)
            assert int(total.replace(",", "")) == outcomes["callgrind"].samples, text
            assert busiest in text

        with open(outcomes["csv"].path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert sum(int(row["count"]) for row in rows) == outcomes["csv"].samples
        table = profiling.functions("xtensa-profile")
        assert all(row["function"] == function_at(table, int(row["address"], 0)) for row in rows)
        sources = {os.path.basename(row["file"]) for row in rows}
        assert "xtensa_profile.c" in sources
        assert sources <= {"xtensa_profile.c", "xtensa_start.S", "xtensa_work.h", ""}


def test_formats_keep_cores_apart():
    with Session("esp32", program2="xtensa-second") as session:
        elf = probe.program("xtensa-profile")
        second = probe.program("xtensa-second")
        session.add("folded", "xtensa profile 1 FILE -format folded -cores all -elf %s" % elf, fault=STOP)
        session.script("settle")
        session.add("second", "esp32.cpu1 xtensa profile 1 FILE -format folded -elf %s" % second,
                    fault="break 1 when us 9000")
        outcomes = session.go()
        sums = {}
        names = {name for _, _, name in profiling.functions("xtensa-profile")}
        with open(outcomes["folded"].path, encoding="utf-8") as file:
            for line in file:
                match = re.fullmatch(r"(esp32\.cpu[01]);([^; ]+) (\d+)\n", line)
                assert match, line
                # what the ELF does not know is there by its address
                assert (match.group(2) in names) == (match.group(1) == "esp32.cpu0"), line
                sums[match.group(1)] = sums.get(match.group(1), 0) + int(match.group(3))
        assert sums == dict.fromkeys(("esp32.cpu0", "esp32.cpu1"), outcomes["folded"].samples)
        with open(outcomes["second"].path, encoding="utf-8") as file:
            assert {line.split()[0] for line in file} <= {name for _, _, name in profiling.functions("xtensa-second")}


# ---- GDB ----

CLIENT = """
def registers():
    answer = gdb.command("g")
    check("g: %r" % answer, len(answer) > 100 and answer[:1] != b"E")
    return answer
def interrupt():
    gdb.interrupt()
    stop = gdb.wait_stop()
    check("interrupted: %r" % stop, stop and stop[:1] in (b"T", b"S"))
    registers()
"""


def with_gdb(text, target="esp32", **options):
    """OpenOCD as a server, and the Python text @a text with `gdb` and `tcl` connected (rsp.py). Returns how the core is."""
    with Session(target, **options) as session:
        sim = session.probe
        command = sim.openocd_command("init\ntargets [lindex [target names] 0]")
        rsp.with_gdb(sim, command, CLIENT + text.replace("DIR", sim.path), os.path.join(sim.path, "log"))
        return sim.control("state", 0), sim.control("verify", 0)


@pytest.mark.parametrize("command", ["profile 1 DIR/p", "xtensa profile 1 DIR/p -method pipeline",
                                     "xtensa profile 1 DIR/p -method batch", "xtensa profile 1 DIR/p -cores all"])
def test_gdb_profiles(command):
    """`monitor profile` of a halted target: no stop reply, and GDB's commands work behind it."""
    state, verified = with_gdb("""
before = registers()
said = gdb.monitor("%s")
check(said, "samples " in said and "Wrote" in said)
check("stops %%r" %% gdb.stops, gdb.quiet(0.3))
check("?", gdb.command("?")[:1] in (b"T", b"S"))
after = registers()
check("it ran", after != before)
check("the same layout", len(after) == len(before))
gdb.send("vCont;c")
check("runs on: %%r" %% gdb.stops, gdb.quiet(0.3))
interrupt()
tcl.command("resume")
""" % command)
    assert not state["in_ocd"]
    assert verified == "same"


@pytest.mark.parametrize("method", ["auto", "pipeline", "wsr", "batch"])
def test_gdb_waits_while_somebody_else_profiles(method):
    """GDB has continued the target; a profile from the Tcl side is nothing that it sees."""
    state, verified = with_gdb("""
gdb.send("vCont;c")
check("runs: %%r" %% gdb.stops, gdb.quiet(0.2))
said = tcl.command("xtensa profile 1 DIR/p -method %s")
check(said, "samples " in said and "ended" not in said)
check("no stop: %%r" %% gdb.stops, gdb.quiet(0.3))
interrupt()
tcl.command("resume")
""" % method)
    assert not state["in_ocd"]
    assert verified == "same"


def test_gdb_is_told_of_a_breakpoint():
    """What ends a profile early is a stop that GDB has waited for."""
    addr = profiling.symbols("xtensa-profile")["sort_numbers"]
    state, _ = with_gdb("""
check("rounds", gdb.command("Z1,%x,3") == b"OK")
gdb.send("vCont;c")
stop = gdb.wait_stop()
check("at the breakpoint", stop[:1] in (b"T", b"S"))
check("z", gdb.command("z1,%x,3") == b"OK")
gdb.command("vCont;s")
check("Z", gdb.command("Z1,%x,3") == b"OK")
gdb.send("vCont;c")
said = tcl.command("xtensa profile 1 DIR/p")
check(said, "was stopped by something else" in said or "does not run" in said)
stop = gdb.wait_stop()
check("told: %%r" %% stop, stop and stop[:1] in (b"T", b"S"))
registers()
""" % (addr, addr, addr), clock=2000000)
    assert state["in_ocd"] and state["pc"] == addr


# ---- what is no Xtensa core ----

def test_other_targets_keep_the_stock_way():
    """A target of another type gets OpenOCD's own profile, word for word as unmodified OpenOCD does it."""
    script = """
        adapter driver dummy
        transport select jtag
        jtag newtap x tap -irlen 4
        target create x.t testee -chain-position x.tap
        init
        catch {profile 1 %s} said
        echo "said: $said"
        catch {profile 1} said
        echo "said: $said"
        catch {xtensa profile 1 %s} said
        echo "said: $said"
        shutdown
        """
    texts = []
    for openocd in (os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd"), probe.STOCK_OPENOCD):
        if not os.path.exists(openocd):
            pytest.skip("no " + openocd)
        run = subprocess.run([openocd] + probe.QUIET + ["-c", script % (os.devnull, os.devnull)], timeout=60,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                             universal_newlines=True)
        texts.append(run.stdout)
    assert "tarting profiling. Halting and resuming the target as often as we can" in texts[0], texts[0]
    if not os.environ.get("BASES_RUN"):		# there the unmodified one is of another version, with other words
        assert texts[0] == texts[1]
