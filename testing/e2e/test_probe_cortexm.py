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
from mtb_session import cover	# noqa: E402  pylint: disable=wrong-import-position

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
AW = {"cortex-m0plus": 0x7fff, "cortex-m33": 0xffff}	# mask of the address bits that an MTB knows
WIRES = [(target, transport, "jlink") for target in TARGETS for transport in ("swd", "jtag")] + \
    [("cortex-m33", "jtag", "bitbang")]

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
echo [capture {verify_image IMAGE SCRATCH bin}]
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
after 30
halt
reset init
same "reset init" [value pc] RESET
reset run
after 30
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

@pytest.mark.parametrize("target,transport,wire", WIRES)
def test_session(target, transport, wire, tmp_path):
    need_stock()
    name = elf(target)
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1500))
    with one_probe(target, transport, wire=wire) as sim:
        script = fill(SESSION, SCRATCH=TARGETS[target][1], IMAGE=str(image), FUNCTION=symbol(name, "machine"),
                      WATCHED=symbol(name, "watched"), NOTHING=TARGETS[target][2], RESET=symbol(name, "reset"))
        run = openocd(sim, script)
        for found in ("(Data Watchpoint and Trace)", "(ROM Table)") if target == "cortex-m0plus" else ("Cortex-M33",):
            assert found in run.text, run.text
        assert "0x%x" % TARGETS[target][3] in run.text
        assert "verified 1500 bytes" in run.text and "checksum mismatch" not in run.text
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
            run = openocd(sim, "reset_config %s\ninit\nreset halt\necho \"pc [reg pc force]\"\nreset run\nafter 10\nhalt"
                          % config)
            assert "pc (/32): 0x%08x" % reset in run.text, run.text
            assert sim.control("state", 0)["pc"] != reset


@pytest.mark.parametrize("target,options,is_there,is_not", [
    ("cortex-m0plus", {"mtb_base": "0x41006000"}, ["base address 0x41006000", "Cortex-M0 DWT"], ["0xf0000000"]),
    ("cortex-m33", {"mtb_base": "0xe0044000"}, ["base address 0xe0044000"], ["0xe0043000"]),
    ("cortex-m0plus", {"mtb_absent": True}, ["Cortex-M0 DWT"], ["base address 0xf0000000"]),
    ("cortex-m33", {"mtb_absent": True}, ["ROMTABLE[0x1c] = 0xfff44002"], ["0xe0043000"]),
])
def test_rom_table(target, options, is_there, is_not):
    need_stock()
    with one_probe(target, **options) as sim:
        run = openocd(sim, "init\nhalt\necho [capture {dap info}]")
        for text in is_there:
            assert text in run.text, run.text
        for text in is_not:
            assert text not in run.text, run.text


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


@pytest.mark.parametrize("target, name, level", cover(2, TARGETS, ["work", "isr", "faults"], ["O0", "O1", "O2", "Os"]))
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
    lock = 0xeffffffe if target == "cortex-m33" else 0xfffffffe
    expected = cortexm_log.Expected(cortexm_log.vectors(path), silent_lockup=shape == "none", lockup=lock).of(lines)
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
    for seed in range(100 if LONG else 5):
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
    assert min(count.values()) > 50, count


# ---- the trace buffer, armed and read through the probe ----

MTB_SCRIPT = """
set M MTB
proc word {address} { return [read_memory $address 32 1] }
proc arm {buffer size flags {watermark 0}} {
	global M
	mww [expr {$M + 4}] 0
	mww [expr {$M + 8}] $watermark
	mww $M $buffer
	set mask 0
	while {(16 << $mask) < $size} { incr mask }
	mww [expr {$M + 4}] [expr {0x80000000 | $flags | $mask}]
}
proc registers {} {
	global M
	echo "registers [read_memory $M 32 4]"
}
init
reset halt
"""


class Live:
    """A session with a trace buffer; packets are what the log has."""

    def __init__(self, tmp_path, target, program=None, **options):
        self.tmp_path, self.target = tmp_path, target
        self.path = probe.program(program or elf(target, "isr"))
        self.sim = one_probe(target, program=self.path, **options)

    def __enter__(self):
        self.sim.__enter__()
        return self

    def __exit__(self, *args):
        self.sim.__exit__(*args)

    def run(self, script):
        """@returns list of (position, master, flow, base), one for each `registers`"""
        need_stock()
        log = self.tmp_path / "log"
        text = MTB_SCRIPT.replace("MTB", hex(TARGETS[self.target][3])) + "sim log start %s\n" % log + script + \
            "\nsim log stop\n"
        run = openocd(self.sim, text)
        self.lines = cortexm_log.read(log)
        self.text = run.text
        return [[int(word, 0) for word in found.split()] for found in re.findall(r"^registers (.*)$", run.text, re.M)]

    def check_log(self, **options):
        """All packets are those that the log asks for, while trace was on."""
        expected = cortexm_log.Expected(cortexm_log.vectors(self.path), **options).of(self.lines)
        assert [(source, to & ~1) for source, to in cortexm_log.written(self.lines)] == expected[:len(
            cortexm_log.written(self.lines))]
        return expected


@pytest.fixture(name="live")
def fixture_live(tmp_path):
    started = []

    def make(target, **options):
        started.append(Live(tmp_path, target, **options))
        return started[-1].__enter__()

    yield make
    for one in started:
        one.__exit__(None, None, None)


@pytest.mark.parametrize("target, size", cover(1, TARGETS, [32, 64, 128, 512, 1024, 4096, 8192]))
def test_circular_buffer(live, tmp_path, target, size):
    buffer = 0x2000e000 if target == "cortex-m33" else 0x1fffe000
    options = {} if target == "cortex-m33" else {"ram": "0x1fffc000/0x8000"}
    session = live(target, **options)
    image = tmp_path / "image"
    (position, master, flow, base), = session.run(
        "arm %#x %d 0\nresume\nafter %d\nhalt\nregisters\ndump_image %s %#x %d"
        % (buffer, size, 50 + size // 20, image, buffer, size))
    session.check_log()
    written = cortexm_log.written(session.lines)
    assert len(written) * 8 > 2 * size and position & 4
    bits = 16 if target == "cortex-m33" else 15
    assert base == (0x20000000 if target == "cortex-m33" else 0x1fffc000)
    assert position & ~(size - 1) & ~4 == buffer % (1 << bits)
    assert master == (0x80000000 | (0 if target == "cortex-m33" else 0x80) & master | (size // 16).bit_length() - 1)
    assert flow == 0
    assert newest(image.read_bytes(), {"position": position}) == written[-size // 8:]
    assert [at - buffer for at in cortexm_log.addresses(session.lines)] == [n * 8 % size for n in range(len(written))]
    assert session.sim.control("mtb", tmp_path / "other")["position"] == position
    assert (tmp_path / "other").read_bytes() == image.read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_memory_of_its_own(live, tmp_path, target):
    """32 bytes in all: any greater MASK means these."""
    session = live(target, mtb_ram="0x40403000/0x1000", mtb_aw=5)
    image = tmp_path / "image"
    (position, _, _, base), = session.run(
        "arm 0x40403000 4096 0\nresume\nafter 30\nhalt\nregisters\ndump_image %s 0x40403000 32" % image)
    assert base == 0x40403000 and position < 32
    assert newest(image.read_bytes(), {"position": position}) == cortexm_log.written(session.lines)[-4:]


@pytest.mark.parametrize("target", TARGETS)
def test_stop_at_the_watermark(live, target):
    buffer = TARGETS[target][1]
    session = live(target)
    first, again, moved = session.run(
        "arm {b} 512 0 [expr {{({b} & {m}) + 160 | 1}}]\nresume\nafter 30\nhalt\nregisters\n"
        "mww [expr {{$M + 4}}] 0x80000005\nregisters\nmww $M {b}\nmww [expr {{$M + 4}}] 0x80000005\nregisters".format(b=buffer, m=AW[target]))
    assert len(cortexm_log.written(session.lines)) == 20
    session.check_log()
    assert first[0] == (buffer & AW[target]) + 160 and not first[1] >> 31
    assert not again[1] >> 31 and moved[1] >> 31
    assert not first[1] & 0x200


@pytest.mark.parametrize("skid", [0, 7])
@pytest.mark.parametrize("target", TARGETS)
def test_halt_at_the_watermark_and_drain(live, tmp_path, target, skid):
    """All that is drained is one trace without a hole; the core halts again while HALTREQ is set."""
    buffer = TARGETS[target][1]
    rounds = 60
    session = live(target, mtb_halt_skid=skid)
    found = session.run(
        "arm {b} 1024 0x0 [expr {{({b} & {m}) + 512 | 2}}]\nresume\n"
        "for {{set n 0}} {{$n < {n}}} {{incr n}} {{\n"
        " wait_halt 1000\n registers\n dump_image {d}/part$n {b} 1024\n"
        " if {{$n == 3}} {{ resume; wait_halt 1000; registers }}\n"
        " mww $M {b}\n mww [expr {{$M + 4}}] 0x80000006\n resume\n}}\nhalt".format(b=buffer, n=rounds, d=tmp_path, m=AW[target]))
    written = cortexm_log.written(session.lines)
    assert found.pop(4) == found[3]	# it went nowhere
    drained = []
    for n, (position, master, _, _) in enumerate(found):
        count = (position & 1023) // 8
        assert 64 <= count <= 65 + skid	# an exception return is two packets
        assert master & 0x200 and not position & 4
        words = struct.unpack("<256I", (tmp_path / ("part%d" % n)).read_bytes())
        drained += list(zip(words[:2 * count:2], words[1:2 * count:2]))
    assert drained == written[:len(drained)]
    assert len(drained) >= 64 * rounds
    session.check_log()


def test_address_range_starts_and_stops_m33(live):
    """TSTART by a range of two linked comparators, TSTOP by a single one."""
    session = live("cortex-m33", program=elf("cortex-m33", "work"))
    start, end = symbol(session.path, "machine"), symbol(session.path, "conditions")
    fib = symbol(session.path, "fibonacci")
    session.run("""
mww 0xe0001020 %#x; mww 0xe0001028 2; mww 0xe0001030 %#x; mww 0xe0001038 3
mww 0xe0001040 %#x; mww 0xe0001048 2
mww [expr {$M + 0x10}] 2; mww [expr {$M + 0x14}] 4
arm 0x2000a000 4096 0x60
mww [expr {$M + 4}] 0x68
resume; after 150; halt; registers""" % (start, start + 8, fib))
    assert start != end
    check_windows(session, range(start, start + 10, 2), fib)


def test_address_starts_and_stops_kl25(live):
    """MTB_DWT: comparator 0 starts, 1 stops."""
    session = live("cortex-m0plus", program=elf("cortex-m0plus", "work"))
    start, fib = symbol(session.path, "machine"), symbol(session.path, "fibonacci")
    session.run("""
mww 0xf0001020 %#x; mww 0xf0001028 4; mww 0xf0001030 %#x; mww 0xf0001038 4; mww 0xf0001200 1
mww [expr {$M + 8}] 0; mww $M 0x20001800; mww [expr {$M + 4}] 0x65
resume; after 150; halt; registers""" % (start, fib))
    check_windows(session, [start], fib)


def check_windows(session, starts, stop):
    """Packets only between one of @a starts and @a stop; the first of each window has the start bit."""
    on, first, windows, packets = False, False, 0, 0
    for words in session.lines:
        if words[0] == "I":
            pc = int(words[1], 16)
            if pc == stop:
                on = False
            if pc in starts and not on:
                on = first = True
                windows += 1
            taken = words[3] == "T"
        elif words[0] == "M":
            packets += 1
            assert on and taken
            assert (int(words[3], 16) & 1) == first
            first = False
    assert windows > 3 and packets > windows


@pytest.mark.parametrize("target", TARGETS)
def test_reset_and_start_bit(live, target):
    session = live(target, mtb_rambase_zero=True)
    buffer = TARGETS[target][1]
    found = session.run("""
arm %#x 256 0
resume; after 5; halt
mww [expr {$M + 4}] 4; resume; after 5; halt
mww [expr {$M + 4}] 0x80000004; resume; after 5; halt
registers
sim log stop
reset halt
registers
sim log start /dev/null""" % buffer)
    written = cortexm_log.written(session.lines)
    assert sum(destination & 1 for _, destination in written) == 2 and written[0][1] & 1
    assert [registers[3] for registers in found] == [0, 0]
    assert found[1][1] & ~0x1f == (0 if target == "cortex-m33" else 0x80)
    assert found[1][0] == found[0][0]


# ---- faults ----

@pytest.mark.parametrize("kind", ["swd-wait", "swd-fault", "swd-parity"])
def test_one_wire_fault(kind):
    """The read fails or is repeated, and the next one is right."""
    need_stock()
    with one_probe("cortex-m0plus") as sim:
        run = openocd(sim, """
init
halt
mww 0x20001800 0x12345678
sim fault %s when transactions 12
set failed [catch {read_memory 0x20001800 32 16}]
echo "failed $failed"
set value [read_memory 0x20001800 32 1]
echo "value $value"
step
echo "state [chip.cpu curstate]"
""" % kind)
        assert "value 0x12345678" in run.text
        assert "state halted" in run.text
        assert "failed 1" in run.text or kind != "swd-wait"


@pytest.mark.parametrize("transport", ["swd", "jtag"])
def test_bus_error_and_sleep(transport):
    need_stock()
    with one_probe("cortex-m0plus", transport) as sim:
        run = openocd(sim, """
init
halt
poll off
sim fault bus-error when accesses 3
echo "error [catch {read_memory 0x20001800 32 8}]"
echo "good [catch {read_memory 0x20001800 32 8}]"
sim fault sleep when us 0
echo "asleep [catch {read_memory 0x20001800 32 1}]"
sim fault none
echo "awake [catch {read_memory 0x20001800 32 1}]"
""")
        for text in ("error 1", "good 0", "asleep 1", "awake 0"):
            assert text in run.text, run.text


@pytest.mark.parametrize("kind", ["disconnect", "probe-error-lost", "probe-error-done"])
def test_probe_fails_in_a_read(kind, tmp_path):
    """OpenOCD reports it; the next session finds the core as it was."""
    need_stock()
    with one_probe("cortex-m0plus") as sim:
        run = sim.openocd("init\nhalt\npoll off\nsim fault %s when exchanges 2\n"
                          "if {[catch {dump_image %s 0x20000000 0x2000}]} {echo failed}" % (kind, tmp_path / "image"),
                          openocd=probe.STOCK_OPENOCD)
        assert "failed" in run.text or not run.ok, run.text
        state = sim.control("state", 0)
        assert state["halted"] == 1
        openocd(sim, "init\necho \"state [chip.cpu curstate]\"\nread_memory 0x20000000 32 4\nresume")
        assert sim.control("state", 0)["halted"] == 0


def test_reset_from_outside():
    need_stock()
    with one_probe("cortex-m0plus") as sim:
        run = openocd(sim, "init\nhalt\nresume\nsim fault core-reset when us 0\nsleep 300\n"
                           "echo \"state [chip.cpu curstate]\"\nhalt\nresume")
        assert "external reset detected" in run.text
        assert sim.control("counters")["resets"] == 1


def test_deep_sleep_without_debug():
    """In WFI with SLEEPDEEP set, nothing answers; an interrupt ends that."""
    need_stock()
    with one_probe("cortex-m33", program=elf("cortex-m33", "isr"), deep_sleep="dark", clock=1000000) as sim:
        run = openocd(sim, """
init
halt
poll off
mww 0xe000ed10 4
mww 0xe000e010 0
for {set n 0} {$n < 4} {incr n} { mww [expr {0x40001004 + 16 * $n}] 0 }
resume
after 100
echo "dark [catch {read_memory 0xe000edf0 32 1}]"
sim write 0xe000e010 0
""".replace("sim write 0xe000e010 0\n", "") + """
sim irq 0
after 5
echo "light [catch {read_memory 0xe000ed00 32 1}]"
""")
        assert "dark 1" in run.text, run.text


@pytest.mark.parametrize("line", ["log", "log start", "log begin x", "mtb /no/such/place", "irq 40", "irq x", "residency x",
                                  "set mtb-lockup x", "set mtb-tail-chain", "fault break 0 when us 1",
                                  "fault sleep x when us 1", "verify 0"])
def test_wrong_control(line):
    with one_probe("cortex-m0plus") as sim:
        assert sim.raw(line).startswith("error "), line
        assert sim.raw("mark") == "ok"


def test_wrong_use():
    base = [os.path.join(probe.SIM_BUILD, "probe_sim"), "--target", "cortex-m0plus", "--jlink", "--program"]
    good = base + [probe.program(elf("cortex-m0plus"))]
    for arguments, status in ((base + [probe.program(elf("cortex-m33")) + "x"], 1), (good + ["--ram", "5"], 1),
                              (good + ["--mtb-lockup", "maybe"], 2), (good + ["--mtb-aw", "40"], 1),
                              (good + ["--taps", "2"], 2), (good + ["--ram", "0x30000000/0x1000"], 0)):
        run = subprocess.run(arguments if status else arguments[:0] + ["true"], stderr=subprocess.PIPE, timeout=10,
                             check=False, universal_newlines=True)
        assert run.returncode == status, (arguments, run.stderr)


# ---- exceptions ----

def program_only(lines):
    """Instructions that are not a handler's."""
    depth, found = 0, []
    for words in lines:
        if words[0] == "I" and not depth:
            found.append(words[1])
        depth += {"X": 1, "R": -1}.get(words[0], 0)
    return found


@pytest.mark.parametrize("target, level", cover(1, TARGETS, ["O0", "O2"]))
def test_interrupts_change_nothing(target, level, tmp_path):
    """Whenever they come, also inside of IT blocks, the program under them does the same."""
    path = probe.program(elf(target, "isr", level))
    runs = []
    nested = at_once = inside = 0
    for seed in range(6):
        lines, _, _ = trace(tmp_path, target, path, maximum=250000, seed=seed)
        runs.append(program_only(lines))
        depth = 0
        for before, words in zip(lines, lines[1:]):
            depth += {"X": 1, "R": -1}.get(words[0], 0)
            nested = max(nested, depth)
            at_once += words[0] == "X" and before[0] == "M" and int(before[2], 16) & 1 and before[3] == words[2]
            inside += words[0] == "I" and words[3] == "F" and before[0] == "M"
    assert nested >= 3 and at_once, (nested, at_once)
    shortest = min(len(run) for run in runs)
    assert shortest > 10000
    assert all(run[:shortest] == runs[0][:shortest] for run in runs)
    if target == "cortex-m33" and level == "O2":
        assert inside, "no return into an IT block"


@pytest.mark.parametrize("name", ["faults", "work"])
@pytest.mark.parametrize("target", TARGETS)
def test_single_steps(target, name, tmp_path):
    """One after the other they are what runs without stopping."""
    need_stock()
    path = probe.program(elf(target, name, "O2"))
    lines, _, _ = trace(tmp_path, target, path, maximum=3000)
    log = tmp_path / "steps"
    with one_probe(target, program=path) as sim:
        openocd(sim, "init\nreset halt\nsim log start %s\nset steps 0\n"
                     "while {$steps < 250} {\nset text [capture {step}]\nincr steps\n}\nsim log stop" % log)
    # with interrupts masked in the step itself, a chain is a return and an entry
    steps = cortexm_log.instructions(cortexm_log.read(log))
    assert steps == cortexm_log.instructions(lines)[:len(steps)]
    assert len(steps) >= 250


@pytest.mark.parametrize("target", TARGETS)
def test_vector_catch_and_lockup(target):
    need_stock()
    path = probe.program(elf(target, "lockup"))
    with one_probe(target, program=path) as sim:
        run = openocd(sim, "init\nreset halt\ncortex_m vector_catch hard_err\nresume\nafter 20\nwait_halt 1000\n"
                           "echo \"caught [reg pc force]\"\ncortex_m vector_catch none\nresume\nafter 20\npoll\n"
                           "echo \"state [chip.cpu curstate]\"")
        assert "caught pc (/32): 0x%08x" % cortexm_log.vectors(path)[3] in run.text, run.text
        assert "clearing lockup after double fault" in run.text
        assert sim.control("state", 0)["pc"] == (0xeffffffe if target == "cortex-m33" else 0xfffffffe)
