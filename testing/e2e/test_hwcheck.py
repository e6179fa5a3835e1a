# SPDX-License-Identifier: GPL-2.0-or-later
"""tcl/trace/hwcheck.tcl on the simulated probe: the report says what the simulator was set to, and nothing is left behind.

check-group: xtensa
"""

import os
import re
import shutil
import struct

import probe
import pytest

SCRIPT = os.path.join(probe.TOP, "tcl/trace/hwcheck.tcl")
PATCHED = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
IDCODE = "0x120034e5"
OCDID = "0x0733bff2"

pytestmark = pytest.mark.skipif(not shutil.which("xtensa-lx106-elf-gcc"), reason="no xtensa-lx106-elf-gcc")

# What the simulator is, whatever its options, as patterns.
ALWAYS = {
    "OpenOCD": r"Open On-Chip Debugger .*",
    "OCDID": OCDID,
    "DCR.InterruptAllConds": r"the bit is kept, cleared again .*its effect is not known: .*",
    "PWRSTAT": r"two reads are the same; whether zeros clear is not known.*CoreOn.*",
    "LDDR32.P exists": r"yes \(from .*",
    "CCOUNT of a stopped core": r"it counts on \(.*",
}
TAP = {
    "IDCODE": IDCODE,
    "NAR: address and data alternate without IR scan": r"yes, .*\(%s\)" % OCDID,
    "NAR: a scan of IR begins with the address again": r"yes, the next scan is an address .*afterwards %s\)" % OCDID,
    "NAR: a data scan of 33 bits is harmless": r"yes \(OCDID 0x[01]0733bff2, afterwards %s\)" % OCDID,
    "NAR: status after a good access":
        r"0x00: no Error, not Busy \(after a read\), 0x00: no Error, not Busy \(after a write\)",
}
RUNNING = {
    "a stop that was asked for": r"DebugPendHost clears itself, DebugIntHost is set \(DSR 0x8020[8c][4c]11\)",
    "RFDO, causes not cleared: it runs on": r"yes, stopped in none of 16 reads .*",
    "a request to a core that is stopped": r"stays pending, the host can clear it .*",
    "DIR0EXEC to a running core can be told": r"no, ignored without a trace .*",
    # a core that is very late may never have been seen to stand
    "afterwards": r"as before: running, DCR 0x\w+, DSR 0x\w+(, longest stop [0-9.]+ ms)?",
}
XSR = {
    "swaps": r"yes \(a3 (0x\w+) -> DDR \1, PC (0x\w+) \(slow way \2\), a3 then \1\)",
    "reads": r"no, DDR keeps what the host wrote \(a3 .*",
    "faults": r"no: an instruction faulted \(DSR .*",
}


def openocds():
    """The patched one; in the long run the distribution's as well (test_stock_openocd runs it always)."""
    if os.environ.get("LONG") != "1":
        return [pytest.param(PATCHED, id="patched")]
    return [pytest.param(PATCHED, id="patched"),
            pytest.param(probe.STOCK_OPENOCD, id="stock", marks=pytest.mark.skipif(
                not os.path.exists(probe.STOCK_OPENOCD), reason="no OpenOCD of the distribution"))]


@pytest.fixture(scope="module", autouse=True)
def fixture_built():
    probe.build()


class Report:
    """What one run said: lines of the report by question, the simulator's state before and after."""

    def __init__(self, run):
        self.run = run
        self.said = run.text
        marks = re.findall(r"^MARK (\w+) (.*)$", run.stdout, re.M)
        self.marks = {name: dict(zip(text.split()[::2], text.split()[1::2])) for name, text in marks}
        returned = run.stdout.partition("BEGIN REPORT\n")[2].partition("END REPORT\n")[0]
        self.lines = dict(re.match(r"(.+?) \.{3,} (.*)", line).groups() for line in returned.splitlines())
        assert returned.strip() and len(self.lines) == len(returned.splitlines())
        for line in returned.splitlines():
            assert line in run.stderr + run.stdout.partition("BEGIN REPORT")[0]	# printed as well as returned

    def check(self, *expected):
        for lines in expected:
            for question, pattern in lines.items():
                assert re.fullmatch(pattern, self.lines[question]), "%s: %s" % (question, self.lines[question])

    def same(self, core, *names):
        before, after = self.marks["before%d" % core], self.marks["after%d" % core]
        for name in names:
            assert before[name] == after[name], name


def ask(sim, script="", openocd=PATCHED, cores=1, options="", after=""):
    """Run hwcheck with all that is needed to judge it."""
    states = "\n".join("puts \"MARK %%s%d [sim state %d]\"" % (core, core) for core in range(cores))
    text = "init\nsource {%s}\n%s\n%s\nhwcheck %s\nset report [join $hwcheck_report \\n]\n%s\nputs \"BEGIN REPORT\\n$report\\nEND REPORT\"\n" % (
        SCRIPT, script, states.replace("%s", "before"), options, states.replace("%s", "after"))
    text += "puts \"MARK counters [sim counters]\"\n" + after
    run = run_openocd(sim, text, openocd)
    assert run.ok, run.text
    return Report(run)


def run_openocd(sim, text, openocd=PATCHED):
    """OpenOCD looks for a J-Link in the network for 20 ms only: on a busy machine that may be too short."""
    for _ in range(5):
        run = sim.openocd(text, openocd=openocd)
        if "No J-Link device found" not in run.text:
            break
    return run


def same_in(run, core=0):
    return re.search(r"^VERIFY%d (.*)$" % core, run.stdout, re.M).group(1) == "same"


@pytest.mark.parametrize("openocd", openocds())
@pytest.mark.parametrize("taps", [1, 2])
@pytest.mark.parametrize("xsr", ["swaps", "reads", "faults"])
def test_xsr_and_the_chain(openocd, taps, xsr):
    options = {"program2": "xtensa-second"} if taps == 2 else {"taps": 1}
    with probe.Probe("esp32", "xtensa-profile", xsr=xsr, **options) as sim:
        report = ask(sim, "targets esp32.cpu0", openocd, cores=taps)
        report.check(ALWAYS, TAP, RUNNING, {
            "XSR.DDR swaps a3": XSR[xsr],
            "target": r"esp32\.cpu0, type esp32, running",
            "adapter": r"jlink, 10000 kHz",
            "debug level": r"6 \(PS 0x\w+, DEBUGCAUSE 0x20\)",
            "break network": r"BreakIn BreakOut \(DCR 0x00030001, .*",
            "halt latency": r"<=%d: 32 \(TCK: stops, of 32; .*" % (18 if taps == 1 else 19),
            "DEBUGPC of a running core is alive": r"yes, \d+ values in 64 reads; low bits [0-3 ]+; 0 in 0 reads .*",
            "DEBUGPC of a stopped core": r"the PC at which the core stopped \((0x\w+); PC \1\)",
            "DEBUGPC in WAITI": r"not known: the core was not found in WAITI in 8 stops",
            "NAR: status after an overrun": r"not known: none came about .*distance of %d TCK.*" % (52 + 2 * taps),
        })
        assert "tdo check error" not in report.said	# nothing to be read from the log when all is quick
        for core in range(taps):
            report.same(core, "in_ocd", "dcr")
            assert sim.control("verify", core) == "same"
        counters = report.marks["counters"]
        assert counters["stops0"] == counters["rfdo0"] and int(counters["stops0"]) > 32
        if taps == 2:
            assert counters["stops1"] == "0"	# the break network was out of the way


@pytest.mark.parametrize("openocd", openocds())
def test_debugpc_that_is_zero(openocd):
    with probe.Probe("esp32s2", "xtensa-profile-s2", debugpc="zero") as sim:
        report = ask(sim, "", openocd)
        report.check(ALWAYS, TAP, RUNNING, {
            "DEBUGPC of a running core is alive": r"no, it reads 0; low bits none; 0 in 64 reads .*",
            "DEBUGPC of a stopped core": r"0 \(0x00000000; PC 0x4\w+\)",
            "break network": r"(none|BreakIn BreakOut) \(DCR .*",
        })
        assert sim.control("verify 0") == "same"


def latencies(line):
    return {int(tck): int(stops) for tck, stops in re.findall(r"<=(\d+): (\d+)", line)}


@pytest.mark.parametrize("openocd", openocds())
@pytest.mark.parametrize("tck", [100, 300, 1000])
def test_halt_latency(openocd, tck):
    with probe.Probe("esp32", "xtensa-profile", taps=1, halt_latency=tck) as sim:
        report = ask(sim, "", openocd, options="-stops 8")
        report.check(ALWAYS, TAP, RUNNING, {"XSR.DDR swaps a3": XSR["swaps"]})
        (found, stops), = latencies(report.lines["halt latency"]).items()
        assert stops == 8 and tck <= found <= tck + 54
        assert "`tdo check error` that follows" in report.said
        assert sim.control("verify 0") == "same"


def test_halt_latency_that_varies():
    with probe.Probe("esp32", "xtensa-profile", taps=1, halt_latency="random:500") as sim:
        report = ask(sim, options="-stops 64")
        found = latencies(report.lines["halt latency"])
        assert sum(found.values()) == 64 and len(found) >= 7 and 300 < max(found) <= 554 and min(found) <= 126
        mean = sum((tck - 27) * stops for tck, stops in found.items()) / 64
        assert 175 < mean < 325	# 250 +- 4 sigma
        assert sim.control("verify 0") == "same"


@pytest.mark.parametrize("tck", [1300, 1700, 20000])
def test_a_core_that_stops_later_than_it_is_looked_for(tck):
    with probe.Probe("esp32", "xtensa-profile", taps=1, halt_latency=tck) as sim:
        report = ask(sim, options="-stops 4")
        assert report.lines["halt latency"].startswith(">1260: 4 (TCK: stops, of 4; ")
        report.check({"afterwards": RUNNING["afterwards"]})
        report.same(0, "dcr", "in_ocd")
        assert sim.control("verify 0") == "same"


@pytest.mark.parametrize("openocd", openocds())
def test_waiti(openocd):
    with probe.Probe("esp32", "xtensa-idle", taps=1) as sim:
        report = ask(sim, "", openocd)
        report.check(ALWAYS, TAP, RUNNING)
        waiti, value = re.fullmatch(r"the instruction behind WAITI \(WAITI at (0x\w+), DEBUGPC (0x\w+)\)",
                                    report.lines["DEBUGPC in WAITI"]).groups()
        assert int(value, 16) == int(waiti, 16) + 3
        with open(probe.program("xtensa-idle"), "rb") as elf:
            assert waiti_in(elf.read(), int(waiti, 16))


def waiti_in(elf, addr):
    """Is there really a WAITI at this address of the program?"""
    offset, size, count = struct.unpack_from("<I", elf, 28) + struct.unpack_from("<HH", elf, 42)
    for i in range(count):
        kind, at, start, _, length = struct.unpack_from("<5I", elf, offset + i * size)
        if kind == 1 and start <= addr < start + length:
            insn = int.from_bytes(elf[at + addr - start:at + addr - start + 3], "little")
            return insn & 0xfff0ff == 0x007000
    return False


@pytest.mark.parametrize("openocd", openocds())
@pytest.mark.parametrize("xsr", ["swaps", "reads"])
def test_a_core_that_is_halted(openocd, xsr):
    with probe.Probe("esp32", "xtensa-profile", program2="xtensa-second", xsr=xsr) as sim:
        report = ask(sim, "targets esp32.cpu0\nhalt", openocd, cores=2, after="""
            resume
            foreach core {0 1} { puts "VERIFY$core [sim verify $core]" }""")
        report.check(ALWAYS, TAP, {
            "XSR.DDR swaps a3": XSR[xsr],
            "target": r"esp32\.cpu0, type esp32, halted",
            "afterwards": r"as before: halted, DCR 0x00030001, .*",
        })
        for question in list(RUNNING)[:-1] + ["halt latency", "DEBUGPC of a running core is alive", "DEBUGPC in WAITI"]:
            assert report.lines[question] == "not known: the core was halted before; resume it and ask again"
        for core in range(2):
            report.same(core, "pc", "in_ocd", "dcr", "ps", "windowbase", "retired", *["a%d" % n for n in range(16)])
            assert same_in(report.run, core)	# after resume
        assert report.marks["counters"]["rfdo0"] in ("0", "1")	# that one is the resume


@pytest.mark.parametrize("openocd", openocds())
def test_overrun(openocd):
    """6 cycles at 1 MHz are longer than an access, and instructions have to be waited for."""
    with probe.Probe("esp32", "xtensa-profile", taps=1, clock=1000000) as sim:
        report = ask(sim, "", openocd)
        report.check(ALWAYS, TAP, RUNNING, {
            "XSR.DDR swaps a3": XSR["swaps"],
            "NAR: status after an overrun": r"0x02: no Error, Busy \(8 NOPs at a distance of 54 TCK: DSR 0x\w+[89]\)",
        })
        assert sim.control("verify 0") == "same"


@pytest.mark.parametrize("openocd", openocds())
@pytest.mark.parametrize("xsr", ["swaps", "faults"])
def test_behind_a_dap(openocd, xsr):
    with probe.Probe("xtensa-dap", "xtensa-profile-rt600", xsr=xsr) as sim:
        report = ask(sim, "", openocd)
        report.check({**ALWAYS, "PWRSTAT": r"two reads are the same.*\(0x1111, 0x1111: .*"}, RUNNING, {
            "IDCODE": r"0x4ba00477 of the DAP; AP 0, module at 0x00000000",
            "XSR.DDR swaps a3": XSR[xsr],
            "debug level": r"4 \(.*",
            "halt latency": r"not known: plain Tcl cannot put several accesses of an AP into one queue",
            "DEBUGPC of a running core is alive": r"yes, .*",
        })
        for question in [q for q in report.lines if q.startswith("NAR:")]:
            assert report.lines[question] == "not known: the module is behind a DAP, there is no NAR"
        report.same(0, "dcr", "in_ocd")
        assert sim.control("verify 0") == "same"


@pytest.mark.parametrize("openocd", openocds())
def test_generic_core_by_bitbang(openocd):
    with probe.Probe("xtensa-jtag", "xtensa-profile-rt600", wire="bitbang") as sim:
        report = ask(sim, "", openocd, options="xtensa -stops 8")
        report.check(ALWAYS, TAP, RUNNING, {
            "XSR.DDR swaps a3": XSR["swaps"],
            "adapter": r"remote_bitbang, speed not known",
            "debug level": r"4 \(.*",
            "halt latency": r"<=16: 8 \(TCK: stops, of 8; DSR was read every 50 TCK\)",
        })
        assert sim.control("verify 0") == "same"


def test_windows():
    """a3 is another register each time."""
    with probe.Probe("esp32", "xtensa-windowed", taps=1, xsr="reads") as sim:
        for _ in range(3):
            ask(sim).check(ALWAYS, TAP, RUNNING, {"XSR.DDR swaps a3": XSR["reads"]})
            assert sim.control("verify 0") == "same"


def test_time_of_an_access():
    """200 kHz: long enough to be measured on any machine. A busy one can only make it longer: the shortest counts."""
    measured = []
    for _ in range(5):
        with probe.Probe("esp32s2", "xtensa-profile-s2", pace="real") as sim:
            report = ask(sim, "adapter speed 200", options="-stops 1")
        us, tck, khz, scans = re.match(r"([\d.]+) us = ([\d.]+) TCK at (\d+) kHz; by the length of scans (\d+) ",
                                       report.lines["time of one access (IR kept)"]).groups()
        assert (khz, scans) == ("200", "54")
        exchange = float(re.match(r"(\d+) us", report.lines["time of one exchange"]).group(1))
        assert exchange >= 100	# half an access at least
        measured.append((float(us), float(tck)))
        if measured[-1][0] < 300:
            break
    us, tck = min(measured)
    assert 255 < us < 300 and 51 < tck < 60, measured


def test_no_watchdog_bites():
    with probe.Probe("esp32", "xtensa-watchdog", taps=1) as sim:
        report = ask(sim)
        assert report.marks["counters"]["watchdog_bites0"] == "0"
        assert int(report.marks["counters"]["max_standing_us0"]) < 100000
        report.check({"afterwards": RUNNING["afterwards"]})


def test_a_slow_adapter_is_refused():
    with probe.Probe("esp32", "xtensa-watchdog", taps=1, rtt=6000, pace="real") as sim:
        run = run_openocd(sim, "init\nsource {%s}\nputs [catch {hwcheck} said]\nputs $said\nputs [sim counters]" % SCRIPT)
        assert run.ok, run.text
        assert re.search(r"^1\nhwcheck: an access takes \d+ us, .*halt it first", run.stdout, re.M)
        assert "stops0 0 " in run.stdout and "watchdog_bites0 0 " in run.stdout


FAULTS = [(kind, at) for kind in ("exception", "probe-error-done", "probe-error-lost", "stuck-running")
          for at in ((60, 190, 331, 460, 601, 702, 853, 1104) if os.environ.get("LONG") == "1" else (60, 331, 853))]


@pytest.mark.parametrize("kind, at", FAULTS)
def test_faults_leave_nothing_behind(kind, at):
    """The program goes on as if nothing had been; an adapter's error ends the report, another does not."""
    with probe.Probe("esp32", "xtensa-profile", program2="xtensa-second") as sim:
        run = run_openocd(sim, """init
            source {%s}
            targets esp32.cpu0
            set before [dict get [sim state 0] dcr]
            sim fault %s when exchanges %d
            puts "CATCH [catch {hwcheck -stops 8} said]"
            puts "SAID [lindex [split $said \\n] 0]"
            puts "LEVEL [debug_level]"
            puts "[capture poll]"
            sim fault none
            puts "DCR $before [dict get [sim state 0] dcr] OCD [dict get [sim state 0] in_ocd] [dict get [sim state 1] in_ocd]"
            puts "STATE [esp32.cpu0 curstate]"
            foreach core {0 1} { puts "VERIFY$core [sim verify $core]" }""" % (SCRIPT, kind, at))
        assert run.ok, run.text
        assert same_in(run, 0) and same_in(run, 1)
        before, after = re.search(r"^DCR (\w+) (\w+) OCD 0 0$", run.stdout, re.M).groups()
        assert before == after
        assert re.search(r"^STATE running$", run.stdout, re.M)
        assert re.search(r"^LEVEL .*2$", run.stdout, re.M) and "background polling: on" in run.stdout
        caught = re.search(r"^CATCH (\d)$", run.stdout, re.M).group(1)
        if not kind.startswith("probe-error"):
            assert caught == "0" and "afterwards ....." in run.text


def test_a_breakpoint_in_between():
    """Left to OpenOCD, which finds it; the other core was not to stop, as it would not have with the network set aside."""
    with probe.Probe("esp32", "xtensa-profile", taps=1) as sim:
        report = ask(sim, "sim fault break 0 when exchanges 280", after="puts \"STATE [esp32.cpu0 curstate]\"")
        assert report.lines["afterwards"].startswith("NOT AS BEFORE: halted, ")
        assert re.fullmatch(r"not known: the core was stopped by something else \(DSR 0x\w+\); left as it is",
                            report.lines["halt latency"])
        assert re.search(r"^STATE halted$", report.run.stdout, re.M)
        report.same(0, "dcr")


def test_a_reset_in_between():
    with probe.Probe("esp32", "xtensa-profile", taps=1) as sim:
        report = ask(sim, "sim fault core-reset when exchanges 450")
        assert ", A RESET CAME IN BETWEEN" in report.lines["afterwards"]
        report.same(0, "dcr", "in_ocd")


def test_no_power():
    with probe.Probe("esp32", "xtensa-profile", taps=1) as sim:
        run = run_openocd(sim, "init\nsource {%s}\nsim fault power-off when exchanges 5\n"
                               "puts \"CATCH [catch hwcheck said]: $said\"" % SCRIPT)
        assert re.search(r"^CATCH 1: .*(does not answer|cannot be polled|neither running nor halted, but unknown)", run.stdout, re.M), run.text


@pytest.mark.parametrize("words, error", [
    ("cortex_m", "no questions of kind cortex_m for a target of type esp32s2"), ("-stops 0", "-stops is a number"),
    ("-target nothing", "there is no target nothing"), ("-other 1", "no option -other"),
])
def test_wrong_use(words, error):
    with probe.Probe("esp32s2", "xtensa-profile-s2") as sim:
        run = run_openocd(sim, "init\nsource {%s}\nputs \"[catch {hwcheck %s} said] $said\"\nputs [sim counters]" % (
            SCRIPT, words))
        assert run.ok and "1 hwcheck: " + error in run.stdout and "dir_exec0 0 " in run.stdout


@pytest.mark.parametrize("openocd", openocds())
def test_help(openocd):
    with probe.Probe("esp32s2", "xtensa-profile-s2") as sim:
        run = run_openocd(sim, "init\nsource {%s}\nputs [capture {help hwcheck}]" % SCRIPT, openocd)
        assert run.ok and "hwcheck [xtensa] [-target NAME] [-stops N] | [mtb] [-target NAME]" in re.sub(r"\s+", " ", run.text)
