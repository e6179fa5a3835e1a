# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of tcl/trace/hwcheck.tcl for Micro Trace Buffers: the report says what the simulator was set to, and nothing
is left behind.

check-group: mtb
"""

import os
import re
import shutil

import probe
import pytest

SCRIPT = os.path.join(probe.TOP, "tcl/trace/hwcheck.tcl")
PATCHED = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
OPENOCDS = [pytest.param(PATCHED, id="patched"), pytest.param(probe.STOCK_OPENOCD, id="stock", marks=pytest.mark.skipif(
    not os.path.exists(probe.STOCK_OPENOCD), reason="no OpenOCD of the distribution"))]
TARGETS = {"cortex-m0plus": ("m0", 0xf0000000), "cortex-m33": ("m33", 0xe0043000)}

pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="no clang")

BOTH = {
    "authentication": r"invasive on, non-invasive on \(AUTHSTATUS 0x0000000f\)",
    "POSITION stands while trace is off": r"yes \(8 reads: 0x\w{8}\)",
    "MASTER.TSTOPEN is kept": r"yes \(MASTER 0x\w+\); TSTARTEN is not written: .*",
    "MASTER.NSEN: what it does": r"not known: it is not written; it reads 0",
    "lock, claim tags, other":
        r"LSR 0x00000000, CLAIMSET 0x00000000, CLAIMCLR 0x00000000, ITCTRL 0x00000000, DEVID 0x00000000",
    "the AP's ROM table leads to it": r"yes \(table at 0x\w+; MTB at 0x\w+\)",
    "afterwards": r"as before: POSITION 0x\w+, MASTER 0x\w+, FLOW 0x\w+.*",
}
EACH = {
    "cortex-m0plus": {
        "core": r"Cortex-M0\+ \(CPUID 0x410cc601\)",
        "MTB": r"0xf0000000, by the ROM table at 0xf0002000",
        "identification": r"MTB-M0\+ \(designer 0x43b, part 0x932, revision 0, CIDR 0xb105900d, DEVARCH 0x47700a31, "
                          r"DEVTYPE 0x31\)",
        "BASE": "0x1ffff000",
        "address bits (AW)": r"15, 32768 bytes; WRAP is kept, bits 1:0 read 0 \(POSITION 0x00007ffc of 0xffffffff\)",
        "largest MASK": r"0x1f reads 31; AW-4 is 11, whether more acts as that .*",
        "FLOW keeps": r"WATERMARK 0x00007ff8, bit 2 0 .*",
        "RAM behind BASE": r"16384 bytes answer from 0x1ffff000 on, 32768 do not: give -ramsize .*",
        "TSTART and TSTOP keep what is written": "not known: only Armv8-M cores have them",
        "slot 0xe00ff01c of the core's ROM table": "not known: only Armv8-M cores have it",
        "MTB_DWT": r"2 comparators \(CTRL 0x20000000, .*",
        "MTB_DWT: functions that are kept": r"[\d, ]*\b4, 5, 6, 7\b.*",
    },
    "cortex-m33": {
        "core": r"Cortex-M33 \(CPUID 0x410fd214\)",
        "MTB": r"0xe0043000, by slot 0xe00ff01c, 0xfff44003",
        "identification": r"MTB-M33 \(designer 0x43b, part 0xd21, .*",
        "BASE": "0x20000000",
        "address bits (AW)": r"16, 65536 bytes; .*",
        "RAM behind BASE": r"65536 bytes answer from 0x20000000 on, as many as the MTB decodes .*",
        "TSTART and TSTOP keep what is written": r"yes \(TSTART 0x0000000f, TSTOP 0x0000000f of 0xffffffff\)",
        "slot 0xe00ff01c of the core's ROM table": r"present \(0xfff44003\)",
        "SECURE or WIDTH at 0x018, 0x020": r"0x018 0x00000000, 0x020 0x00000000; which of them .*",
        "DWT comparators for addresses of instructions": r"4 of 4 \(ID of each: 0x0b, 0x1e, 0x0a, 0x1e; TRCENA .*",
        "MTB_DWT": "not known: looked for on Kinetis only, where the MTB is at 0xf0000000",
    },
}


@pytest.fixture(scope="module", autouse=True)
def fixture_built():
    probe.build()


def program(target, name="work", level="O1"):
    return "cm-%s-%s-%s" % (name, TARGETS[target][0], level)


def mtb(sim):
    state = sim.control("mtb")
    return {name: state[name] for name in ("position", "master", "flow")}


class Report:
    """What one run said: its lines by question, whether it failed, the log."""

    def __init__(self, run):
        self.run = run
        self.failed = re.search(r"^FAILED (\d)$", run.stdout, re.M).group(1) == "1"
        self.returned = run.stdout.partition("BEGIN REPORT\n")[2].partition("\nEND REPORT\n")[0]
        lines = re.findall(r"^(.+?) \.{3,} (.*)$", run.stderr + run.stdout.partition("FAILED")[0], re.M)
        self.lines = dict(lines)
        if not self.failed:
            assert self.returned.splitlines() == ["%s %s %s" % (q, "." * max(3, 52 - len(q)), a) for q, a in lines]

    def check(self, *expected):
        for lines in expected:
            for question, pattern in lines.items():
                assert re.fullmatch(pattern, self.lines[question]), "%s: %s" % (question, self.lines[question])


def ask(sim, options="", before="", after="", openocd=PATCHED):
    run = sim.openocd("""init
        source {%s}
        %s
        puts "FAILED [catch {hwcheck %s; join $hwcheck_report \\n} report]"
        puts "BEGIN REPORT\\n$report\\nEND REPORT"
        %s""" % (SCRIPT, before, options, after), openocd=openocd)
    assert run.ok, run.text
    return Report(run)


@pytest.mark.parametrize("openocd", OPENOCDS)
@pytest.mark.parametrize("state", ["running", "halted"])
@pytest.mark.parametrize("target", TARGETS)
def test_report(target, state, openocd):
    """Every register and all of the RAM is as before; a core that runs is never halted."""
    with probe.Probe(target, program(target), seed=7) as sim:
        registers = mtb(sim)
        report = ask(sim, before="halt\nset before [sim state 0]" if state == "halted" else "set halts [sim counters]",
                     after="puts [expr {$before eq [sim state 0]}]" if state == "halted" else
                     "puts \"HALTS [dict get $halts halts] [dict get [sim counters] halts]\"", openocd=openocd)
        assert not report.failed, report.returned
        report.check(BOTH, EACH[target], {"target": r"chip\.cpu, type cortex_m, " + state})
        assert mtb(sim) == registers
        if state == "halted":
            assert re.search(r"^1$", report.run.stdout, re.M)
        else:
            first, last = re.search(r"^HALTS (\d+) (\d+)$", report.run.stdout, re.M).groups()
            assert first == last
        assert sim.control("mtb")["packets"] == 0
        assert report.lines["tail-chaining: shape of its packets"].startswith("not known: ")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("aw", [5, 12, 14])
def test_width(target, aw):
    with probe.Probe(target, program(target), mtb_aw=aw, mtb_ram="0x40403000/0x1000") as sim:
        report = ask(sim, "mtb")
        report.check({
            "address bits (AW)": r"%d, %d bytes; .*" % (aw, 1 << aw),
            "largest MASK": r"0x1f reads 31; AW-4 is %d, .*" % (aw - 4),
            "BASE": "0x40403000",
            "RAM behind BASE": r"%d bytes answer from 0x40403000 on, .*" % min(1 << aw, 4096),
        })


@pytest.mark.parametrize("given", ["", "-rambase 0x1ffff000"])
def test_base_that_reads_zero(given):
    with probe.Probe("cortex-m0plus", program("cortex-m0plus"), mtb_rambase_zero=True) as sim:
        report = ask(sim, given)
        report.check({"BASE": r"0x00000000, NOT USABLE: -rambase has to be given"})
        assert report.lines["RAM behind BASE"].startswith("16384 bytes" if given else "not known: BASE reads 0")


def test_another_place():
    with probe.Probe("cortex-m0plus", program("cortex-m0plus"), mtb_base="0x41006000") as sim:
        ask(sim).check({"MTB": r"0x41006000, by the ROM table at 0x\w+"})
        report = ask(sim, "-baseaddr 0x41006000")
        report.check(BOTH, {"MTB": "0x41006000, as given",
                            "MTB_DWT": "not known: looked for on Kinetis only, where the MTB is at 0xf0000000"})


@pytest.mark.parametrize("target", TARGETS)
def test_there_is_none(target):
    with probe.Probe(target, program(target), mtb_absent=True) as sim:
        report = ask(sim)
        assert report.failed and re.fullmatch(r"hwcheck: no MTB found by the ROM table \(0x\w+\): give -baseaddr, "
                                              r"if there is one", report.returned)


def test_what_is_there_is_none():
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        before = sim.control("counters")["accesses"]
        report = ask(sim, "-baseaddr 0xe0001000")
        assert report.failed and "what is at 0xe0001000 is no MTB (CIDR 0x" in report.returned
        assert "nothing was written" in report.returned and sim.control("counters")["accesses"] > before


@pytest.mark.parametrize("target", TARGETS)
def test_trace_that_is_on(target):
    """Refused; with -stop-trace it goes on afterwards."""
    base = TARGETS[target][1]
    with probe.Probe(target, program(target)) as sim:
        arm = "halt\nmww 0x%08x 0\nmww 0x%08x 0\nmww 0x%08x 0x80000006\nresume" % (base + 8, base, base + 4)
        report = ask(sim, before=arm + "\nset packets [dict get [sim mtb] packets]")
        assert report.failed and "trace is on, or waits for its start (MASTER 0x800000" in report.returned
        assert sim.control("mtb")["master"] & 0x8000001f == 0x80000006
        report = ask(sim, "-stop-trace yes", after="after 20\nputs \"PACKETS [dict get [sim mtb] packets]\"")
        assert not report.failed
        report.check({"registers as found": r".*; trace was on, and stopped for this", "afterwards": r"as before: .*"})
        state = sim.control("mtb")
        assert state["master"] & 0x8000001f == 0x80000006 and state["flow"] == 0 and state["packets"] > 100


@pytest.mark.parametrize("chain, shape", [
    pytest.param("direct", r"EXC_RETURN and the next handler in one packet: [1-9]\d*; .*", id="direct"),
    pytest.param("unstacked", r".* in one packet: 0; a whole return and then an entry: [1-9].*", id="unstacked"),
])
@pytest.mark.parametrize("target", TARGETS)
def test_shape_of_tail_chaining(target, chain, shape):
    """Seen in what a trace has left in the buffer."""
    base = TARGETS[target][1]
    with probe.Probe(target, program(target, "isr"), mtb_tail_chain=chain) as sim:
        free = 0x1800 if target == "cortex-m0plus" else 0x4000	# 2 KB that the program does not use
        report = ask(sim, before="halt\nmww 0x%08x 0\nmww 0x%08x 0x%x\nmww 0x%08x 0x80000007\nresume\nafter 300\nhalt\n"
                                 "mww 0x%08x 7\nresume" % (base + 8, base, free, base + 4, base + 4))
        report.check({"tail-chaining: shape of its packets": shape})


def test_packet_of_lock_up():
    for choice, pattern in (("packet", r"1 packets, the last one from 0x\w+ \(A=1\) to 0x\wffffffe"),
                            ("none", r"not known: no packet leads there among the \d+ in the buffer as found")):
        with probe.Probe("cortex-m33", program("cortex-m33", "lockup"), mtb_lockup=choice) as sim:
            report = ask(sim, before="""reset halt
                mww 0xe0043008 0
                mww 0xe0043000 0x4000
                mww 0xe0043004 0x80000008
                resume
                after 100
                halt
                mww 0xe0043004 8""")
            report.check({"lock-up: packet": pattern})


@pytest.mark.parametrize("kind", ["swd-fault", "swd-wait", "swd-parity", "bus-error", "probe-error-done"])
@pytest.mark.parametrize("at", [40, 160] if os.environ.get("LONG") != "1" else range(10, 300, 10))
def test_faults_leave_nothing_behind(kind, at):
    """Whatever fails once, MASTER, POSITION and FLOW are as before."""
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        registers = mtb(sim)
        report = ask(sim, before="sim fault %s when %s %d" % (kind, "accesses" if kind == "bus-error" else "exchanges"
                                                               if kind.startswith("probe") else "transactions", at),
                     after="sim fault none\nputs [capture poll]")
        assert "background polling: on" in report.run.stdout
        assert mtb(sim) == registers
        assert report.failed or report.lines["afterwards"].startswith("as before: ")


@pytest.mark.parametrize("openocd", OPENOCDS)
@pytest.mark.parametrize("words", ["", "mtb", "mtb -baseaddr 0xe0043000", "xtensa"])
def test_before_init(words, openocd):
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        run = sim.openocd("source {%s}\nputs \"[catch {hwcheck %s} said] $said\"\ninit" % (SCRIPT, words),
                          openocd=openocd)
        assert run.ok and "1 hwcheck: only behind init\n" in run.stdout, run.text


@pytest.mark.parametrize("words, error", [
    ("-stops 3", "no option -stops; options of kind mtb: -target -baseaddr -rambase -stop-trace"),
    ("-baseaddr here", "-baseaddr is a number, 0 or more"), ("-stop-trace perhaps", "-stop-trace is yes or no"),
    ("xtensa", "no questions of kind xtensa for a target of type cortex_m"),
    ("mtb -baseaddr", "-baseaddr: a value is missing, or it is a stray word"), ("-baseaddr 0 more", "more: a value is"),
])
def test_wrong_use(words, error):
    with probe.Probe("cortex-m33", program("cortex-m33")) as sim:
        registers = mtb(sim)
        report = ask(sim, words)
        assert report.failed and report.returned.startswith("hwcheck: " + error)
        assert mtb(sim) == registers
