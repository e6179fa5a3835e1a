# SPDX-License-Identifier: GPL-2.0-or-later
"""Profile files of an Xtensa program, opened by the programs that they are for.

check-group: xtensa

A small program for three regions (ROM, IRAM, flash) is compiled, samples are made up, and what gprof,
callgrind_annotate and a reader of each text format say of the files must be what was put in. profile_write.c is the
program that writes.
"""

import collections
import csv
import os
import platform
import random
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
REPORT = TOP / "src-overlay/src/itrace/report"
XTENSA = "xtensa-lx106-elf-"
SOURCES = ["pc_histogram", "profile_walk", "profile_top", "profile_file", "profile_gmon", "profile_folded",
           "profile_callgrind", "profile_csv", "symbols", "output"]

pytestmark = pytest.mark.skipif(not shutil.which(XTENSA + "gcc"), reason="no xtensa-lx106-elf-gcc")

PROGRAM_C = r"""
#define IRAM __attribute__((section(".iram.text"), noinline))
#define ROM __attribute__((section(".rom.text"), noinline))
#define FLASH __attribute__((noinline))
volatile int sink;

static inline __attribute__((always_inline)) int twice(int n)
{
	sink += 0x01020304;
	return n * 2;
}

FLASH int work(int n)
{
	int sum = 0x12345678;

	while (n--)
		sum = sum * 7 + 0x5a5a5a5a;
	return twice(sum);
}

static FLASH int helper(int n)
{
	return work(n) ^ 0x33333333;
}

IRAM int isr(int n)
{
	sink += 0x44556677;
	return n + sink;
}

ROM int rom_copy(int n)
{
	for (int i = 0; i < n; i++)
		sink = i;
	return 0x55667788;
}

int start(int);

int main(void)
{
	for (;;)
		sink = helper(sink) + isr(1) + rom_copy(3) + start(5);
}
"""

# A function without a size, with a label of the assembler inside; a literal with a name in a section of code; and a
# function above all others, because gprof gives no samples to the highest one.
START_S = r"""
	.section .iram.literal, "ax"
	.align	4
constant:
	.word	0x11223344
	.section .iram.text, "ax"
	.align	4
	.global	start
	.type	start, @function
start:
	addi	a2, a2, 1
.Lagain:
	addi	a2, a2, -1
	bnez	a2, .Lagain
	ret
	.section .last.text, "ax"
	.global	last
	.type	last, @function
last:
	ret
	.size	last, . - last
"""

LINKER_LD = r"""
ENTRY(main)
SECTIONS
{
	.rom.text 0x40000000 : { *(.rom.text.literal .rom.text) }
	.iram.literal 0x40080000 : { *(.iram.literal) }
	.iram.text 0x40080100 : { *(.iram.text.literal .iram.text) }
	.text 0x400d0000 : { *(.literal .text) }
	.last.text 0x400f0000 : { *(.last.text) }
	.data 0x3ffb0000 : { *(.data .bss COMMON .rodata) }
}
"""


def run(*command, check=True, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                          check=False, universal_newlines=True, **options)
    if check:
        assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(name="elf", scope="module")
def fixture_elf(tmp_path_factory):
    where = tmp_path_factory.mktemp("elf")
    for name, text in (("program.c", PROGRAM_C), ("start.S", START_S), ("linker.ld", LINKER_LD)):
        (where / name).write_text(text)
    # local labels are kept: they must not get into the way
    run(XTENSA + "gcc", "-g", "-O1", "-ffreestanding", "-nostdlib", "-mlongcalls", "-mtext-section-literals", "-Wa,-L",
        "-Wl,-T,linker.ld", "-o", "program.elf", "program.c", "start.S", cwd=where)
    return where / "program.elf"


@pytest.fixture(name="functions", scope="module")
def fixture_functions(elf):
    """name → (start, end) as nm has it; start() has no size and ends where its section does"""
    found = {}
    for line in run(XTENSA + "nm", "-S", elf).splitlines():
        match = re.match(r"([0-9a-f]+) ([0-9a-f]+) [Tt] (\w+)$", line)
        if match:
            start = int(match.group(1), 16)
            found[match.group(3)] = (start, start + int(match.group(2), 16))
    start = int(re.search(r"^([0-9a-f]+) T start$", run(XTENSA + "nm", elf), re.M).group(1), 16)
    size, base = re.search(r" \.iram\.text +([0-9a-f]+) +([0-9a-f]+) ", run(XTENSA + "objdump", "-h", elf)).groups()
    found["start"] = (start, int(base, 16) + int(size, 16))
    del found["last"]
    assert sorted(found) == ["helper", "isr", "main", "rom_copy", "start", "work"]
    return found


@pytest.fixture(name="writer", scope="module")
def fixture_writer(tmp_path_factory):
    pkg = subprocess.run(["pkg-config", "--cflags", "--libs", "libelf", "libdw"], stdout=subprocess.PIPE, check=False,
                         universal_newlines=True)
    if pkg.returncode:
        pytest.skip("no elfutils")
    program = tmp_path_factory.mktemp("writer") / "profile_write"
    run(os.environ.get("CC") or "gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Werror",
        "-Wno-unused-parameter", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-D_GNU_SOURCE",
        "-DHAVE_ELFUTILS=1", "-I%s" % (TOP / "src-overlay/src"), HERE / "profile_write.c",
        *[REPORT / (name + ".c") for name in SOURCES], *pkg.stdout.split(), "-o", program)
    return program


@pytest.fixture(name="write")
def fixture_write(writer, tmp_path):
    """write(format, samples, options) → the file; samples: (core, address) → count"""

    def write(kind, samples, *options, status=0, says=""):
        path = tmp_path / ("out." + kind)
        text = "".join("%u %x %u\n" % (core, addr, count) for (core, addr), count in samples.items())
        done = subprocess.run([str(part) for part in (writer, kind, path) + options], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=300, check=False, universal_newlines=True)
        assert done.returncode == status, done.stdout
        write.text = done.stdout
        if "-top" not in options:
            assert says in done.stdout and (says or not done.stdout)
        return path

    return write


def samples_of(functions, seed, cores=1, largest=300000):
    """Made-up samples in every function of the program, most of them small, at even and odd addresses."""
    rng = random.Random(seed)
    samples = collections.Counter()
    for start, end in functions.values():
        for _ in range(rng.randrange(3, 12)):
            samples[rng.randrange(cores), rng.randrange(start, end)] += int(largest ** rng.random())
    return samples


def by_function(functions, samples, core=None):
    shares = collections.Counter()
    for (which, addr), count in samples.items():
        if core is None or core == which:
            shares[next((name for name, (start, end) in functions.items() if start <= addr < end), None)] += count
    return shares


def gprof(elf, path, tool=XTENSA + "gprof"):
    """(text, name → (percent, self))"""
    text = run(tool, "-b", "-p", elf, path)
    rows = re.findall(r"^ *([0-9.]+) +[0-9.]+ +([0-9.]+) +(\S+)$", text, re.M)
    return text, {name: (percent, share) for percent, share, name in rows}


def assert_gprof(elf, path, shares, per_second=None):
    """gprof's percentages are the shares that were put in, to the last digit that it prints."""
    text, rows = gprof(elf, path)
    total = sum(shares.values())
    for name, count in shares.items():
        if name is not None:
            assert rows[name][0] == "%.2f" % (100 * count / total), text
            if per_second:
                assert float(rows[name][1]) == pytest.approx(count / per_second, rel=0.01, abs=0.006), text
            else:
                assert rows[name][1] == "%.2f" % count, text
    assert set(rows) == {name for name in shares if name}, text
    return text


# ── gprof ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(6))
def test_gprof_says_what_was_put_in(elf, functions, write, seed):
    samples = samples_of(functions, seed)
    text = assert_gprof(elf, write("gmon", samples, "-elf", elf), by_function(functions, samples))
    assert "Each sample counts as 1 samples" in text
    total = sum(samples.values())
    path = write("gmon", samples, "-ns", str(total * 10000))
    text = assert_gprof(elf, path, by_function(functions, samples), 100000)
    assert "Each sample counts as 1e-05 seconds" in text


def test_gprof_of_several_cores(elf, functions, write):
    samples = samples_of(functions, 99, cores=2)
    path = write("gmon", samples, "-cores", "cpu0,cpu1")
    assert_gprof(elf, path, by_function(functions, samples))


def test_gprof_counts_that_no_bucket_holds(elf, functions, write):
    start = functions["work"][0]
    other = functions["isr"][0]
    samples = {(0, start): 65535, (0, start + 2): 65536, (0, start + 4): 1, (0, start + 6): 0x7ffffffe,
               (0, start + 9): 70000, (0, start + 11): 69999, (0, other): 131071}
    path = write("gmon", samples)
    assert_gprof(elf, path, by_function(functions, samples))
    assert path.stat().st_size < 2000000


def test_gprof_counts_that_gprof_cannot_hold(elf, functions, write):
    samples = {(0, functions["work"][0]): 6000000000, (0, functions["isr"][0]): 3000000000}
    path = write("gmon", samples, "-ns", str(9 * 10**9), says="counts are divided by 4")
    text, rows = gprof(elf, path)
    assert rows["work"] == ("66.67", "6.00") and rows["isr"] == ("33.33", "3.00"), text


def test_gprof_of_a_sparse_profile(elf, functions, write):
    """Code in three regions and addresses that nobody knows, 2 GiB apart: the file is as small as what it says."""
    samples = {(0, functions[name][0]): 7 for name in ("rom_copy", "isr", "work")}
    samples[0, 0x400] = 7
    samples[0, 0xbfff0000] = 7
    samples[0, 0xffffffff] = 5
    path = write("gmon", samples)
    assert path.stat().st_size == 20 + 6 * 35
    text, rows = gprof(elf, path)
    assert rows["rom_copy"] == ("17.50", "7.00"), text
    assert rows["isr"] == ("17.50", "7.00"), text
    assert rows["work"] == ("17.50", "7.00"), text


def test_gprof_of_the_last_address(elf, functions, write):
    """The highest sample is there: the last byte of the last function."""
    last = functions["main"][1] - 1
    assert_gprof(elf, write("gmon", {(0, last): 1}), {"main": 1})


@pytest.mark.parametrize("count, seconds, unit, each", [
    (89, 10, "minutes", 1 / 534), (97, 1, "seconds", 1 / 97), (1, 100, "hours", 1 / 36), (5000000, 50, "seconds", 1e-5)])
def test_gprof_prints_the_rate(elf, functions, write, count, seconds, unit, each):
    path = write("gmon", {(0, functions["work"][0]): count}, "-ns", str(seconds * 10**9))
    text, rows = gprof(elf, path)
    assert "Each sample counts as %g %s." % (each, unit) in text
    assert rows["work"][0] == "100.00"
    assert float(rows["work"][1]) == pytest.approx(count * each, abs=0.005)


def test_gprof_of_many_addresses(elf, functions, write):
    """All of the flash of a large program; gprof is done with it soon."""
    samples = {(0, 0x400d0000 + 40 * i): 1 + i % 1000 for i in range(100000)}
    samples[0, functions["isr"][0]] = 5
    text, rows = gprof(elf, write("gmon", samples))
    assert rows["isr"][1] == "5.00", text


def swapped(elf):
    """The program as a big-endian ELF, as far as symbols need it."""
    data = bytearray(elf.read_bytes())
    fields = struct.Struct("<HHIIIIIHHHHHH")
    head = fields.unpack_from(data, 16)
    phoff, shoff, phnum, shnum = head[4], head[5], head[9], head[11]

    def swap(form, at):
        struct.pack_into(">" + form, data, at, *struct.unpack_from("<" + form, data, at))

    for i in range(shnum):
        _, kind, _, _, offset, size = struct.unpack_from("<6I", data, shoff + 40 * i)
        if kind == 2:
            for at in range(offset, offset + size, 16):
                swap("IIIBBH", at)
        swap("10I", shoff + 40 * i)
    for i in range(phnum):
        swap("8I", phoff + 32 * i)
    swap("HHIIIIIHHHHHH", 16)
    data[5] = 2
    return data


def test_gprof_of_a_big_endian_core(elf, functions, write, tmp_path):
    plain = tmp_path / "plain.elf"
    run(XTENSA + "strip", "-g", "-o", plain, elf)
    big = tmp_path / "big.elf"
    big.write_bytes(swapped(plain))
    samples = samples_of(functions, 5)
    path = write("gmon", samples, "-endian", "big", "-elf", big)
    assert_gprof(big, path, by_function(functions, samples))
    folded = dict(line.rsplit(" ", 1) for line in write("folded", samples, "-elf", big).read_text().splitlines())
    assert {name: int(count) for name, count in folded.items()} == dict(by_function(functions, samples))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="needs a little-endian 64-bit host")
def test_gprof_of_a_64_bit_program(write, tmp_path):
    (tmp_path / "host.c").write_text("int f(int n) { return n * 3; }\nint main(void) { return f(4); }\n")
    run("gcc", "-O0", "-no-pie", "-o", tmp_path / "host", tmp_path / "host.c")
    addr = int(re.search(r"^([0-9a-f]+) T f$", run("nm", tmp_path / "host"), re.M).group(1), 16)
    path = write("gmon", {(0, addr): 70000, (0, 0xffffffff80000000): 30000}, "-bits", "64")
    text, rows = gprof(tmp_path / "host", path, "gprof")
    assert rows["f"] == ("70.00", "70000.00"), text


# ── callgrind ─────────────────────────────────────────────────────────────────────────


def annotate(path, *options):
    if not shutil.which("callgrind_annotate"):
        pytest.skip("no callgrind_annotate")
    return run("callgrind_annotate", "--threshold=100", *options, path)


def number(text):
    return 0 if text == "." else int(text.replace(",", ""))


def test_callgrind_functions(elf, functions, write):
    samples = samples_of(functions, 11)
    samples[0, 0x60000000] = 4
    text = annotate(write("callgrind", samples, "-elf", elf, "-command", "xtensa profile"), "--auto=no")
    assert "Profiled target:  xtensa profile" in text
    assert re.search(r"^ *%s \(100\.0%%\)  PROGRAM TOTALS" % "{:,}".format(sum(samples.values())), text, re.M), text
    have = collections.Counter()
    for count, name in re.findall(r"^ *([0-9,]+) \([ 0-9.]+%\)  \S+:(\S+) \[", text, re.M):
        have[name] += number(count)
    want = by_function(functions, samples)
    want["0x60000000"] = want.pop(None)
    assert have == want


def test_callgrind_lines(elf, functions, write):
    """Each source line has the samples of its instructions, those that were inlined, too."""
    samples = collections.Counter()
    for name in ("work", "helper", "isr", "rom_copy", "main"):
        for addr in range(*functions[name]):
            samples[0, addr] = 1 + addr % 5
    text = annotate(write("callgrind", samples, "-elf", elf), "--auto=yes", "--context=1000")
    want = collections.Counter()
    pairs = run(XTENSA + "addr2line", "-e", elf, *["%x" % addr for _, addr in samples]).splitlines()
    for (key, count), place in zip(samples.items(), pairs):
        file, line = re.match(r".*?([^/]+):(\d+)", place).groups()
        assert file == "program.c", (key, place)
        want[int(line)] += count
    source = PROGRAM_C.splitlines()
    listing = text.split("Auto-annotated source: ")[1].splitlines()
    begin = next(i for i, line in enumerate(listing) if line.endswith("#define IRAM " + source[1].split("IRAM ")[1]))
    have = collections.Counter()
    for i, line in enumerate(listing[begin:begin + len(source) - 1]):
        count, rest = re.match(r"^ *([0-9,]+|\.)(?: \([ 0-9.]+%\))?(.*)$", line).groups()
        assert rest.strip() == source[1 + i].strip()
        have[2 + i] += number(count)
    assert +have == want
    assert have[source.index("\tsink += 0x01020304;") + 1] > 0


def test_callgrind_of_several_cores(elf, functions, write):
    samples = samples_of(functions, 13, cores=3)
    path = write("callgrind", samples, "-elf", elf, "-cores", "esp32.cpu0,esp32.cpu1,idle")
    assert "events: Samples_esp32_cpu0 Samples_esp32_cpu1 Samples_idle\n" in path.read_text()
    text = annotate(path, "--auto=no")
    rows = {}
    for line in text.splitlines():
        match = re.match(r"^ *([0-9,.]+)(?: \([ 0-9.]+%\))? +([0-9,.]+)(?: \([ 0-9.]+%\))? +([0-9,.]+)"
                         r"(?: \([ 0-9.]+%\))? +\S+:(\S+) \[", line)
        if match:
            rows[match.group(4)] = [number(match.group(i)) for i in (1, 2, 3)]
    want = [by_function(functions, samples, core) for core in range(3)]
    assert rows == {name: [want[core][name] for core in range(3)] for name in functions}


# ── text ──────────────────────────────────────────────────────────────────────────────


def folded(path):
    found = collections.Counter()
    for line in path.read_text().splitlines():
        match = re.match(r"^((?:[^; ]+;)*[^; ]+) ([1-9][0-9]*)$", line)
        assert match, line
        assert match.group(1) not in found
        found[match.group(1)] = int(match.group(2))
    return found


def test_folded(elf, functions, write):
    samples = samples_of(functions, 21, cores=2)
    samples[1, 0x60000004] = 6
    want = collections.Counter()
    for core in range(2):
        for name, count in by_function(functions, samples, core).items():
            want["c%u;%s" % (core, name or "0x60000004")] += count
    found = folded(write("folded", samples, "-elf", elf, "-cores", "c0,c1"))
    assert found == want and sum(found.values()) == sum(samples.values())

    one = collections.Counter()
    for (_, addr), count in samples.items():
        one[0, addr] += count
    found = folded(write("folded", one, "-elf", elf))
    assert found["0x60000004"] == 6 and found["work"] == by_function(functions, one)["work"]
    found = folded(write("folded", one))
    assert found == {"0x%08x" % addr: count for (_, addr), count in one.items()}


def test_csv(elf, functions, write):
    samples = samples_of(functions, 22, cores=2)
    samples[1, 0x60000004] = 6
    path = write("csv", samples, "-elf", elf, "-cores", "c0,esp32 \"app\"")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert len(rows) == len(samples)
    for row in rows:
        core = ["c0", "esp32 \"app\""].index(row["core"])
        addr = int(row["address"], 16)
        assert int(row["count"]) == samples[core, addr]
        if addr == 0x60000004:
            assert (row["function"], row["offset"], row["file"], row["line"]) == ("", "", "", "")
            continue
        start = functions[row["function"]][0]
        assert addr == start + int(row["offset"], 16)
        file, line = run(XTENSA + "addr2line", "-e", elf, "%x" % addr).split(" ")[0].strip().rsplit(":", 1)
        assert os.path.basename(row["file"]) == os.path.basename(file)
        assert row["line"] == line


def test_top(elf, functions, write):
    samples = samples_of(functions, 23, cores=2)
    samples[1, 0x60000004] = 6
    write("csv", samples, "-elf", elf, "-cores", "c0,c1", "-top", "4")
    want = by_function(functions, samples).most_common(4)
    assert [line.split() for line in write.text.splitlines()] == [
        [name, "0x%x" % functions[name][0], str(count)] for name, count in want]


# ── the ELF ───────────────────────────────────────────────────────────────────────────


def test_labels_and_literals_are_no_functions(elf, functions, write):
    """A sample anywhere is in its function or nowhere, whatever labels the file has."""
    names = run(XTENSA + "nm", elf)
    assert ".Lagain" in names and " constant" in names
    start, end = functions["start"]
    samples = {(0, addr): 1 for addr in range(start, end)}
    for addr in range(0x40080000, 0x40080004):
        samples[0, addr] = 1
    found = folded(write("folded", samples, "-elf", elf))
    assert found == {"start": end - start, "0x40080000": 1, "0x40080001": 1, "0x40080002": 1, "0x40080003": 1}


def test_no_samples_no_file(elf, write, tmp_path):
    for kind in ("gmon", "folded", "callgrind", "csv"):
        path = write(kind, {}, "-elf", elf, status=1, says="no samples")
        assert not path.exists()
    assert not list(tmp_path.iterdir())
