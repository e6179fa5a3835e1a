# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulated Cortex-M: unmodified OpenOCD (and gdb) works with it over SWD and JTAG, its trace buffer does what the
manual says, and the log says what was executed.

check-group: mtb
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position

sys.path.insert(0, probe.SIM)
import cortexm_log	# noqa: E402  pylint: disable=wrong-import-position
import cortexm_random	# noqa: E402  pylint: disable=wrong-import-position

LONG = os.environ.get("LONG") == "1"
SEED = int(os.environ.get("SEED", "1"))
STOCK = probe.STOCK_OPENOCD if os.path.exists(probe.STOCK_OPENOCD) else None

TARGETS = {
    # name of the core in programs, RAM that the programs do not use, address without memory, registers of the MTB
    "cortex-m0plus": ("m0", 0x20001800, 0xa0000000, 0xf0000000),
    "cortex-m33": ("m33", 0x2000a000, 0xa0000000, 0xe0043000),
}
RESET_TARGETS = [(target, transport) for target in TARGETS for transport in ("swd", "jtag")]

SESSION = """
proc value {name} { return [lindex [get_reg -force $name] 1] }
proc same {what is should} {
	if {[expr {$is}] != [expr {$should}]} { error "$what: $is instead of $should" }
}
proc compare {} {
	foreach name {pc r0 r1 r5 r12 sp lr xPSR msp psp} {
		same $name [value $name] [dict get [sim state 0] [string tolower $name]]
	}
}
init
halt
compare
echo [capture {dap info}]
set pc [value pc]
step
compare
if {[value pc] == $pc} { error "step goes nowhere" }
mww SCRATCH 0xcafebabe
same mdw [read_memory SCRATCH 32 1] 0xcafebabe
same memory [dict get [sim read SCRATCH] value] 0xcafebabe
mwb [expr {SCRATCH + 1}] 0x55
mwh [expr {SCRATCH + 2}] 0x1234
same mdb [read_memory SCRATCH 32 1] 0x123455be
same mdb1 [read_memory [expr {SCRATCH + 1}] 8 1] 0x55
same mdh [read_memory [expr {SCRATCH + 2}] 16 1] 0x1234
load_image IMAGE SCRATCH bin
verify_image IMAGE SCRATCH bin
foreach how {"2 hw" "2"} {
	step
	eval bp FUNCTION $how
	resume
	wait_halt 2000
	same "bp $how" [value pc] FUNCTION
	compare
	resume
	wait_halt 2000
	same "again $how" [value pc] FUNCTION
	rbp FUNCTION
	compare
}
foreach how {w a} {
	wp WATCHED 4 $how
	set before [read_memory WATCHED 32 1]
	resume
	wait_halt 4000
	rwp WATCHED
	if {$how == "w"} { same "wp $how" [read_memory WATCHED 32 1] [expr {$before + 1}] }
	echo "wp: [chip.cpu curstate]"
	compare
}
reg r5 0x1234567
compare
if {[catch {read_memory NOTHING 32 1}] == 0} { error "read of nothing" }
same "after a fault" [read_memory SCRATCH 32 1] [read_memory SCRATCH 32 1]
reset halt
compare
same "reset" [value pc] RESET
resume
sleep 30
halt
reset init
same "reset init" [value pc] RESET
reset run
sleep 30
if {[chip.cpu curstate] != "running"} { error "not running behind a reset" }
halt
resume
echo "samples: [profile 1 gmon.out]"
echo "state: [chip.cpu curstate]"
"""


@pytest.fixture(name="built", scope="session", autouse=True)
def fixture_built():
    if not shutil.which("clang"):
        pytest.skip("no clang")
    probe.build()


def need_stock():
    if not STOCK:
        pytest.skip("no stock OpenOCD")


def elf(target, name="work", level="O1"):
    return "cm-%s-%s-%s" % (name, TARGETS[target][0], level)


def symbol(name, what):
    text = subprocess.run(["nm", probe.program(name)], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout
    value, kind = re.search(r"^([0-9a-f]+) (.) %s$" % what, text, re.M).groups()
    return int(value, 16) & (~1 if kind in "tT" else ~0)


def fill(script, **values):
    for name, value in values.items():
        script = re.sub(r"\b%s\b" % name, value if isinstance(value, str) else hex(value), script)
    return script


def one_probe(target, transport="swd", program=None, **options):
    return probe.Probe(target, program or elf(target), transport=transport, **options)


def openocd(sim, script, **options):
    run = sim.openocd(script, openocd=probe.STOCK_OPENOCD, **options)
    assert run.ok, run.text + sim.said()
    return run


# ---- unmodified OpenOCD ----

@pytest.mark.parametrize("target,transport", RESET_TARGETS)
def test_session(target, transport, tmp_path):
    need_stock()
    name = elf(target)
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1500))
    with one_probe(target, transport) as sim:
        script = fill(SESSION, SCRATCH=TARGETS[target][1], IMAGE=str(image), FUNCTION=symbol(name, "machine"),
                      WATCHED=symbol(name, "watched"), NOTHING=TARGETS[target][2], RESET=symbol(name, "reset"))
        run = openocd(sim, script)
        for found in ("(Data Watchpoint and Trace)", "(ROM Table)") if target == "cortex-m0plus" else ("Cortex-M33",):
            assert found in run.text, run.text
        assert "0x%x" % TARGETS[target][3] in run.text
        assert run.text.count("wp: halted") == 2
        assert "state: running" in run.text
        assert "falling back" not in run.text.lower() and "PCSR sampling not supported" not in run.text
        samples = re.search(r"(\d+) samples", run.text)
        assert samples and int(samples.group(1)) > 500, run.text
        counters = sim.control("counters")
        assert (counters["transactions"] > 1000) == (transport == "swd")
        assert counters["late_us"] == 0


def test_reset_pin():
    need_stock()
    with one_probe("cortex-m0plus") as sim:
        reset = symbol(elf("cortex-m0plus"), "reset")
        for config in ("srst_only", "srst_only srst_nogate connect_assert_srst"):
            run = openocd(sim, "reset_config %s\ninit\nreset halt\necho \"pc [reg pc force]\"\nreset run\nsleep 10\nhalt"
                          % config)
            assert "pc (/32): 0x%08x" % reset in run.text, run.text
            assert sim.control("state", 0)["pc"] != reset


@pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="no gdb-multiarch")
@pytest.mark.parametrize("target", TARGETS)
def test_gdb(target, tmp_path):
    need_stock()
    name = elf(target, level="O0")
    script = tmp_path / "gdb"
    script.write_text("\n".join([
        "set pagination off", "set confirm off", "target extended-remote :3333", "break sort", "continue", "bt",
        "info registers pc xPSR", "delete", "watch watched", "continue", "continue", "print watched > 0", "stepi",
        "monitor reset halt", "maintenance flush register-cache", "print/x $pc", "detach", "quit", ""]))
    with one_probe(target, program=name) as sim:
        command = sim.namespace.inside([probe.STOCK_OPENOCD, "-c", "tcl_port disabled; telnet_port disabled"]
                                       + probe.WIRES["jlink"] + probe.CONFIGS[sim.config]
                                       + ["-c", "gdb_memory_map disable"])
        with open(tmp_path / "openocd", "w+", encoding="utf-8") as log:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                end = time.monotonic() + 20
                while "Listening on port 3333" not in (tmp_path / "openocd").read_text() and time.monotonic() < end:
                    time.sleep(0.05)
                run = subprocess.run(sim.namespace.inside(["gdb-multiarch", "-nx", "-batch", "-x", str(script),
                                                           probe.program(name)]), stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, universal_newlines=True, timeout=60, check=False)
            finally:
                server.terminate()
                server.wait(10)
    assert "Breakpoint 1, sort" in run.stdout, run.stdout
    assert re.search(r"#\d+ .* in main ", run.stdout)
    assert run.stdout.count("New value = ") == 2
    assert "$1 = 1" in run.stdout
    assert "$2 = 0x%x" % symbol(name, "reset") in run.stdout


# ---- the log and the packets, without a probe ----

def trace(tmp_path, target, path, mtb="0x20002000/0x400", maximum=60000, seed=1, choices=()):
    """@returns lines of the log, bytes of the buffer, registers"""
    log, image = tmp_path / "log", tmp_path / "image"
    command = [os.path.join(probe.SIM_BUILD, "cortexm_trace"), "--target", target, "--program", path, "--max", str(maximum),
               "--log", str(log), "--image", str(image), "--mtb", mtb, "--seed", str(seed)]
    for choice in choices:
        command += ["--choose", choice]
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=60, universal_newlines=True).stdout
    words = text.split()
    return cortexm_log.read(log), image.read_bytes(), dict(zip(words[::2], (int(word, 0) for word in words[1::2])))


def same_packets(lines, expected):
    written = cortexm_log.written(lines)
    assert [(source, destination & ~1) for source, destination in written] == expected
    return written


def newest(image, registers):
    """The buffer's packets, oldest first."""
    words = struct.unpack("<%dI" % (len(image) // 4), image)
    packets = list(zip(words[::2], words[1::2]))
    at = (registers["position"] & (len(image) - 1)) // 8
    return packets[at:] + packets[:at] if registers["position"] & 4 else packets[:at]


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "Os"])
@pytest.mark.parametrize("name", ["work", "isr", "faults"])
@pytest.mark.parametrize("target", TARGETS)
def test_packets_of_programs(target, name, level, tmp_path):
    path = probe.program(elf(target, name, level))
    for chain in ("direct", "unstacked"):
        lines, image, registers = trace(tmp_path, target, path, choices=["mtb-tail-chain=" + chain])
        expected = cortexm_log.Expected(cortexm_log.vectors(path), unstacked=chain == "unstacked").of(lines)
        written = same_packets(lines, expected)
        assert len(written) > 1000
        assert written[0][1] & 1 and not any(destination & 1 for _, destination in written[1:])
        assert newest(image, registers) == written[-128:]
        if name == "work":
            break
    kinds = {words[0] for words in lines}
    assert kinds >= ({"I", "M"} if name == "work" else {"I", "M", "X", "R", "T"})


@pytest.mark.parametrize("shape", ["packet", "none"])
@pytest.mark.parametrize("target", TARGETS)
def test_lockup(target, shape, tmp_path):
    path = probe.program(elf(target, "lockup"))
    lines, image, registers = trace(tmp_path, target, path, choices=["mtb-lockup=" + shape])
    expected = cortexm_log.Expected(cortexm_log.vectors(path), silent_lockup=shape == "none").of(lines)
    lock = 0xeffffffe if target == "cortex-m33" else 0xfffffffe
    expected = [(source, lock if destination == 0xfffffffe else destination) for source, destination in expected]
    same_packets(lines, expected)
    assert newest(image, registers) == cortexm_log.written(lines)
    fault = cortexm_log.vectors(path)[3]
    assert expected[-1] == ((0x30000001, lock) if shape == "packet" else (expected[-1][0], 0x30000000))
    assert (0x08000001, fault) in expected
    assert lines[-1][0] == "E"


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("target", TARGETS)
def test_packets_of_random_programs(target, part, tmp_path):
    count = dict.fromkeys("IXTR", 0)
    path = str(tmp_path / "random.elf")
    for seed in range(100 if LONG else 15):
        seed = SEED * 100000 + part * 1000 + seed
        interrupts = "soft" if seed % 5 == 0 else "timer"
        cortexm_random.build(path, TARGETS[target][0], seed, interrupts)
        chain = "unstacked" if seed & 1 else "direct"
        lines, image, registers = trace(tmp_path, target, path, maximum=20000, seed=seed,
                                        choices=["mtb-tail-chain=" + chain])
        expected = cortexm_log.Expected(cortexm_log.vectors(path), unstacked=chain == "unstacked").of(lines)
        written = same_packets(lines, expected)
        assert newest(image, registers) == written[-128:], seed
        assert "L" not in {words[0] for words in lines}, seed
        for words in lines:
            if words[0] in count:
                count[words[0]] += 1
    assert min(count.values()) > 500, count
