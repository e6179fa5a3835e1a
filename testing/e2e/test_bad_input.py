# SPDX-License-Identifier: GPL-2.0-or-later
"""Bad input: a clear line and the right exit status, or a gap; no crash, no hang, nothing lost."""

import os
import resource
import shutil
import signal
import struct
import subprocess
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ITRACE = os.environ.get("ITRACE") or os.path.join(TOP, "build/bin/itrace")

SYNC = bytes(11) + b"\x80" + b"\x01\x00"	# A-Sync, Trace Info
# Trace On, Address and Context (0x10000, EL0, AArch64), five times E
START = SYNC + b"\x04" + bytes([0x85, 0x00, 0x00, 0x01, 0, 0, 0, 0, 0, 0x30]) + b"\xf7" * 5
CODE = struct.pack("<I", 0x14000001) * 64	# b .+4

SNAPSHOT = {
    "snapshot.ini": "[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=etm.ini\n[trace]\nmetadata=trace.ini\n",
    "trace.ini": "[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=B\nfile=trace.bin\nformat=source_data\n"
                 "[source_buffers]\nETE=B\n[core_trace_sources]\ncpu=ETE\n",
    "cpu.ini": "[device]\nname=cpu\nclass=core\ntype=ARM-AA64\n[dump0]\nfile=code.bin\naddress=0x10000\n",
    "etm.ini": "[device]\nname=ETE\nclass=trace_source\ntype=ETE\n[regs]\nTRCCONFIGR=1\nTRCTRACEIDR=0x10\n"
               "TRCIDR0=0\nTRCIDR1=0x4100fff0\nTRCIDR2=0x88\nTRCIDR8=0\nTRCDEVARCH=0x47705a13\n",
    "trace.bin": START,
    "code.bin": CODE,
}


def elf(machine=183, word_size=64, loads=((0x10000, CODE),), cut=None, sections=0):
    """A small ELF, or what remains of it."""
    head, entry = (64, 56) if word_size == 64 else (52, 32)
    offset = head + entry * len(loads)
    table, body = b"", b""
    for addr, code in loads:
        at, size = offset + len(body), len(code)
        table += struct.pack("<IIQQQQQQ", 1, 5, at, addr, addr, size, size, 4) if word_size == 64 else \
            struct.pack("<IIIIIIII", 1, at, addr, addr, size, size, 5, 4)
        body += code
    ident = b"\x7fELF" + bytes([word_size // 32, 1, 1]) + bytes(9)
    words = "<HHIQQQIHHHHHH" if word_size == 64 else "<HHIIIIIHHHHHH"
    header = ident + struct.pack(words, 2, machine, 1, 0x10000, head, sections, 0, head, entry, len(loads), 64,
                                 1 if sections else 0, 0)
    return (header + table + body)[:cut]


def itrace(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([ITRACE, "decode"] + [str(a) for a in arguments], stderr=subprocess.PIPE, timeout=60,
                          check=False, universal_newlines=True, errors="replace", **options)


def errors(run):
    return [line for line in run.stderr.splitlines()
            if line.startswith("itrace: ") and not line.startswith("itrace: warning: ")]


def check_error(run, status, *parts):
    """The status, and one line that says all of @a parts."""
    assert run.returncode == status, run.stderr
    lines = errors(run)
    assert len(lines) == 1, run.stderr
    for part in parts:
        assert part in lines[0]
    assert "\x1b" not in run.stderr


@pytest.fixture(name="work")
def fixture_work(tmp_path):
    """A directory with a trace, its code and a snapshot of both."""
    for name, content in (("trace.bin", START), ("code.bin", CODE), ("fw.elf", elf())):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "snap").mkdir()
    write_snapshot(tmp_path / "snap")
    return tmp_path


def write_snapshot(folder, **changes):
    for name, content in SNAPSHOT.items():
        content = changes.get(name.replace(".", "_"), content)
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def raw(work):
    return ["--trace", work / "trace.bin", "--framing", "raw"]


def test_what_the_others_start_from_is_good(work):
    for source in (["--snapshot", work / "snap"], raw(work) + ["--elf", work / "fw.elf"],
                   raw(work) + ["--image", "%s@0x10000" % (work / "code.bin")]):
        run = itrace(*source)
        assert run.returncode == 0, run.stderr
        assert "5 instructions" in run.stderr


@pytest.mark.parametrize("arguments, parts", [
    (["--reg", "TRCIDR0"], ["--reg", "NAME=VALUE"]),
    (["--reg", "TRCIDR0=-1"], ["TRCIDR0", "32-bit"]),
    (["--reg", "TRCIDR0=0x100000000"], ["TRCIDR0", "32-bit"]),
    (["--reg", "TRCIDR0=1.5"], ["TRCIDR0", "32-bit"]),
    (["--reg", "TRCVICTLR=1"], ["TRCVICTLR", "TRCCONFIGR"]),
    (["--reg", "POSITION=1"], ["POSITION", "MTB", "protocol mtb"]),
    (["--buffer", "0x20000000"], ["--buffer", "--protocol mtb"]),
    (["--buffer", "0x100000000"], ["--buffer", "0x100000000"]),
    (["--reg", "\x1b[2J\nX=1"], ["?[2J?X"]),
    (["--reg", "TRCIDR0=1", "--reg", "trcidr0=2"], ["trcidr0", "0x1", "0x2"]),
    (["--trace", "other"], ["--trace", "twice"]),
    (["--snapshot", "other"], ["one source"]),
    (["--export", "btrace=a", "--export", "btrace=b"], ["btrace", "twice"]),
    (["--export", "callgrind=a"], ["callgrind", "not in this version"]),
    (["--export", "btrace"], ["btrace", "names no file"]),
    (["-o", ""], ["-o", "names no file"]),
    (["--first", "0"], ["--first"]), (["--last", "0"], ["--last"]), (["--first", "18446744073709551616"], ["--first"]),
    (["--first", "-1"], ["--first"]), (["--el", "9"], ["--el"]), (["--context", "-1"], ["--context"]),
    (["--timeout", "0"], ["--timeout"]), (["--timeout", "-1"], ["--timeout"]), (["--timeout", "nan"], ["--timeout"]),
    (["--jobs", "0"], ["--jobs"]), (["--trace-id", "0x70"], ["--trace-id"]), (["--fold", "maybe"], ["on, off"]),
    (["--image", "code.bin"], ["code.bin", "no address"]), (["--memory=1"], ["--memory", "no value"]),
    (["--core", "Z80"], ["Z80"]), (["--trace-id", "1", "--all-streams"], ["one"]), (["stray"], ["stray"]), ([""], ["source"]),
])
def test_wrong_use(work, arguments, parts):
    run = itrace(*raw(work), *arguments)
    check_error(run, 2, *parts)
    assert run.stdout == ""


@pytest.mark.parametrize("option", [
    "snapshot", "trace", "protocol", "framing", "trace-id", "core", "reg", "buffer", "elf", "image", "format", "first",
    "last", "from", "to", "context", "el", "fold", "export", "jobs", "timeout",
])
def test_a_value_is_missing(option):
    check_error(itrace("--" + option), 2, "--" + option, "a value is missing")


@pytest.mark.parametrize("registers, part", [
    (["TRCIDR2=0"], "TRCIDR2"), (["TRCIDR2=0xffffffff"], "TRCIDR2"), (["TRCDEVARCH=0"], "TRCDEVARCH"),
    (["TRCCONFIGR=0x11"], "TRCIDR0"), (["TRCCONFIGR=0x1001"], "RETSTACK"),
])
def test_registers_that_cannot_be(work, registers, part):
    arguments = [word for register in registers for word in ("--reg", register)]
    check_error(itrace(*raw(work), "--image", "%s@0x10000" % (work / "code.bin"), *arguments), 1, part)


@pytest.mark.parametrize("framing", ["auto", "raw", "coresight", "tpiu", "dstream"])
@pytest.mark.parametrize("size", [0, 1, 4096])
def test_no_trace_at_all(tmp_path, framing, size):
    for byte in b"\x00\xff\x70\x80":
        (tmp_path / "fill.bin").write_bytes(bytes([byte]) * size)
        run = itrace("--trace", tmp_path / "fill.bin", "--framing", framing, "--format", "packets")
        check_error(run, 1, "fill.bin", "0 bytes" if not size else "A-Sync" if framing in ("auto", "raw") else "trace ID")


def frames(ids):
    return b"".join(bytes([i << 1 | 1]) + bytes(14) + b"\x00" for i in ids)


def test_the_other_framing_is_named(work):
    (work / "many.bin").write_bytes(frames(range(1, 100)))
    check_error(itrace("--trace", work / "many.bin", "--framing", "coresight"), 1, "99 trace IDs", "83 more", "framing")
    (work / "few.bin").write_bytes(frames([5, 6]))
    check_error(itrace("--trace", work / "few.bin", "--framing", "coresight"), 1, "0x05 (14 bytes), 0x06 (14 bytes)",
                "--trace-id")
    check_error(itrace("--trace", work / "few.bin", "--framing", "coresight", "--trace-id", "7"), 1, "it holds 0x05")


def framed(data):
    """Frames that each begin with trace ID 0x10."""
    out = b""
    for at in range(0, len(data), 14):
        part = data[at:at + 14].ljust(14, b"\x00")
        odd, even = part[0::2], part[1::2]	# of the frame: an even byte's bit 0 is in the last byte
        pairs = b"".join(bytes([odd[i], even[i] & 0xfe]) for i in range(7))
        out += b"\x21" + pairs + bytes([sum((even[i] & 1) << (i + 1) for i in range(7))])
    return out


@pytest.mark.parametrize("content, framing, advice", [
    (framed(START * 4), "raw", "framing coresight would fit better than raw"), (START * 40, "coresight", "--framing auto"),
    (framed(START * 4), "tpiu", "--framing auto"),
], ids=["frames as raw", "raw as frames", "frames as tpiu"])
def test_wrong_framing(work, content, framing, advice):
    (work / "other.bin").write_bytes(content)
    source = ["--trace", work / "other.bin", "--elf", work / "fw.elf"]
    run = itrace(*source, "--framing", framing)
    check_error(run, 1, "other.bin")
    assert advice in run.stderr
    run = itrace(*source)
    assert run.returncode == 0, run.stderr
    assert "framing %s: " % ("coresight" if content.startswith(b"\x21") else "raw") in run.stderr


def test_cut_at_every_byte(work):
    """Whatever is left: an error, or the beginning of what the whole gives."""
    whole = itrace(*raw(work), "--elf", work / "fw.elf", "--format", "instructions").stdout
    for size in range(len(START)):
        (work / "cut.bin").write_bytes(START[:size])
        run = itrace("--trace", work / "cut.bin", "--framing", "raw", "--elf", work / "fw.elf", "--format", "instructions")
        if run.returncode:
            check_error(run, 1, "cut.bin")
        else:
            assert run.stdout and whole.startswith(run.stdout)


@pytest.mark.parametrize("content, part", [
    (b"", "empty"), (b"\x7fELF", "cut off"), (b"nonsense" * 20, "not an ELF"), (elf(machine=62), "x86-64"),
    (elf(cut=100), "cut off"), (elf(cut=-1), "cut off"), (elf(loads=()), "program headers"),
    (elf(loads=((2**64 - 8, CODE),)), "end of the address space"),
], ids=["nothing", "4 bytes", "text", "x86", "cut headers", "cut code", "no segments", "wraps"])
def test_elf_that_is_none(work, content, part):
    (work / "bad.elf").write_bytes(content)
    check_error(itrace(*raw(work), "--elf", work / "bad.elf"), 1, "bad.elf", part)


@pytest.mark.parametrize("content, part", [
    (elf(machine=40, word_size=32), "AArch32"), (elf(sections=1 << 40), "cut off before its section headers"),
], ids=["another machine", "cut"])
def test_elf_that_is_doubtful(work, content, part):
    (work / "odd.elf").write_bytes(content)
    run = itrace(*raw(work), "--elf", work / "odd.elf")
    assert run.returncode in (0, 3), run.stderr
    if "without elfutils" in run.stderr:
        return	# no symbols, so none are missed
    assert any(part in line and "odd.elf" in line for line in run.stderr.splitlines() if "warning" in line)


def test_code_that_is_missing_or_another(work):
    check_error(itrace(*raw(work)), 1, "0x10000", "--elf")
    (work / "other.elf").write_bytes(elf(loads=((0x10000, CODE[:8]),)))
    run = itrace(*raw(work), "--elf", work / "other.elf")
    assert run.returncode == 3 and "no memory at 0x10008" in run.stderr


@pytest.mark.parametrize("value, part", [
    ("code.bin@0xfffffffffffffff0", "end of the address space"), ("/@0", "is a directory"), ("none@0", "No such file"),
    ("/dev/zero@0", "not a regular file"), ("huge@0", "at most"), ("empty@0", "empty"),
])
def test_images(work, value, part):
    (work / "empty").write_bytes(b"")
    with open(work / "huge", "wb") as file:
        file.truncate(1 << 40)
    check_error(itrace(*raw(work), "--image", value, cwd=work), 1, value.split("@", 1)[0], part)


CHANGES = [
    ({"snapshot_ini": None}, "snapshot.ini: No such file"), ({"snapshot_ini": ""}, "metadata"),
    ({"snapshot_ini": b"\x00\x01\xff"}, "not a text file"), ({"snapshot_ini": ";" * (17 << 20)}, "larger"),
    ({"snapshot_ini": SNAPSHOT["snapshot.ini"] * 2}, "version is given twice"),
    ({"snapshot_ini": SNAPSHOT["snapshot.ini"].replace("etm.ini", "gone.ini")}, "gone.ini"),
    ({"snapshot_ini": SNAPSHOT["snapshot.ini"].replace("etm.ini", "/etc/passwd")}, "snapshot.ini:5"),
    ({"snapshot_ini": SNAPSHOT["snapshot.ini"].replace("etm.ini", "snapshot.ini")}, "no trace source"),
    ({"snapshot_ini": SNAPSHOT["snapshot.ini"].replace("etm.ini", ".")}, "is a directory"),
    ({"trace_ini": SNAPSHOT["trace.ini"].replace("trace.bin", "gone.bin")}, "gone.bin"),
    ({"trace_ini": SNAPSHOT["trace.ini"].replace("trace.bin", ".")}, "is a directory"),
    ({"trace_ini": "hello\n"}, "trace.ini:1"), ({"trace_bin": b""}, "0 bytes"),
    ({"etm_ini": SNAPSHOT["etm.ini"].replace("TRCIDR0=0", "TRCIDR0=junk")}, "etm.ini:8: TRCIDR0"),
    ({"etm_ini": SNAPSHOT["etm.ini"].replace("TRCIDR0=0", "TRCIDR0=0x100000000")}, "32 bits"),
    ({"etm_ini": SNAPSHOT["etm.ini"].replace("TRCIDR0=0\n", "")}, "TRCIDR0 is missing"),
    ({"etm_ini": SNAPSHOT["etm.ini"].replace("TRCIDR2=0x88", "TRCIDR2=0xffffffff")}, "TRCIDR2"),
    ({"etm_ini": SNAPSHOT["etm.ini"].replace("type=ETE", "type=\x1b[2J")}, "?[2J"),
    ({"cpu_ini": SNAPSHOT["cpu.ini"].replace("code.bin", "gone.bin")}, "0x10000"),
]


@pytest.mark.parametrize("changes, part", CHANGES)
def test_snapshot_errors(work, changes, part):
    write_snapshot(work / "snap", **changes)
    run = itrace("--snapshot", work / "snap")
    assert run.returncode == 1
    assert len(errors(run)) == 1 and "\x1b" not in run.stderr
    assert any(part in line for line in run.stderr.splitlines() if line.startswith("itrace: ")), run.stderr


MANY = SNAPSHOT["trace.ini"].replace("buffers=buffer0", "buffers=buffer0," + ",".join("b%d" % i for i in range(60000)))


@pytest.mark.parametrize("changes, part", [
    ({name.replace(".", "_"): SNAPSHOT[name].replace("\n", "\r\n") for name in ("snapshot.ini", "trace.ini", "etm.ini")}, ""),
    ({"etm_ini": SNAPSHOT["etm.ini"] + "[%s]\n%s=%s\n" % ("x" * 1000000, "k" * 1000000, "v" * 1000000)}, ""),
    ({"trace_ini": MANY + "".join("[q%d]\n" % i for i in range(100000))}, ""),
    ({"cpu_ini": SNAPSHOT["cpu.ini"] + "space=LIMBO\n"}, "LIMBO"),
    ({"cpu_ini": SNAPSHOT["cpu.ini"].replace("ARM-AA64", "Z80")}, "Z80"),
])
def test_snapshot_oddities(work, changes, part):
    write_snapshot(work / "snap", **changes)
    run = itrace("--snapshot", work / "snap")
    assert run.returncode == 0, run.stderr
    assert part in run.stderr


def test_one_bad_buffer_of_two_is_no_success(work):
    write_snapshot(work / "snap", trace_ini=SNAPSHOT["trace.ini"].replace("buffers=buffer0", "buffers=buffer0,buffer1").replace(
        "[source_buffers]", "[buffer1]\nname=C\nfile=gone.bin\nformat=source_data\n[source_buffers]\nETE=C"))
    run = itrace("--snapshot", work / "snap", "--all-streams")
    check_error(run, 1, "gone.bin")
    assert "5 instructions" in run.stderr


@pytest.mark.parametrize("path, part", [
    ("/", "directory"), ("none/x", "No such file"), ("/dev/full", "No space left"), ("trace.bin", "the trace itself"),
    ("fw.elf", "the program itself"),
])
def test_outputs(work, path, part):
    for option in ("-o", "--export=btrace="):
        arguments = ["-o", path] if option == "-o" else [option + path]
        run = itrace("--trace", "trace.bin", "--framing", "raw", "--elf", "fw.elf", *arguments, cwd=work)
        check_error(run, 1, path, part)
    assert (work / "trace.bin").read_bytes() == START and (work / "fw.elf").read_bytes() == elf()


def test_nothing_that_is_read_is_written_over(work):
    (work / "trace0.bin").write_bytes(START)
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    code = ["--elf", "fw.elf"]
    with open(work / "trace.bin", "rb") as file:
        check_error(itrace("--trace", "-", "--framing", "raw", *code, "-o", "trace.bin", cwd=work, stdin=file), 1, "itself")
    check_error(itrace("--trace", "trace0.bin", "--framing", "raw", *code, "--export", "snapshot=.", cwd=work), 1,
                "trace0.bin", "written over")
    for name in SNAPSHOT:
        check_error(itrace("--snapshot", "snap", "-o", "snap/" + name, cwd=work), 1, name, "itself")
    check_error(itrace("--snapshot", "snap", "--export", "snapshot=snap", cwd=work), 1, "another directory")
    assert before == {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    check_error(itrace(*raw(work), *code, "-o", "new", "--export", "btrace=new", cwd=work), 1, "same file")


def test_streams_that_are_closed(work):
    base = [ITRACE, "decode", "--framing", "raw", "--elf", str(work / "fw.elf")]
    out = work / "out.txt"
    subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"] + base + ["--trace", str(work / "trace.bin"), "-o", str(out)],
                   check=True, timeout=30)
    assert "0x10000" in out.read_text() or "10000" in out.read_text()
    assert "instructions in" not in out.read_text()
    run = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh"] + base + ["--trace", "-"], stderr=subprocess.PIPE, check=False,
                         universal_newlines=True, timeout=30)
    check_error(run, 1, "standard input")


def wait_for_end(process, seconds=10):
    begin = time.monotonic()
    stderr = process.communicate(timeout=seconds)[1].decode()
    return stderr, time.monotonic() - begin


@pytest.mark.parametrize("source", ["fifo", "pipe", "/dev/zero"])
@pytest.mark.parametrize("stop", ["timeout", "interrupt"])
def test_what_never_ends_can_be_stopped(work, source, stop):
    """A FIFO that nobody writes, a pipe that holds a trace but does not end, and a device without end."""
    os.mkfifo(work / "fifo")
    read_end, write_end = os.pipe()
    os.write(write_end, START)
    arguments = ["--trace", {"fifo": str(work / "fifo"), "pipe": "-"}.get(source, source), "--framing", "raw",
                 "--elf", str(work / "fw.elf")]
    if stop == "timeout":
        arguments += ["--timeout", "0.3"]
    process = subprocess.Popen([ITRACE, "decode"] + arguments, stdin=read_end, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if stop == "interrupt":
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    stderr, seconds = wait_for_end(process)
    os.close(read_end)
    os.close(write_end)
    assert seconds < 5
    assert "stopped (%s" % stop in stderr
    assert process.returncode == (0 if source == "pipe" else 1)


def test_a_limit_to_the_size_of_files(work):
    (work / "long.bin").write_bytes(SYNC + b"\xf7" * 10000)
    run = itrace("--trace", work / "long.bin", "--framing", "raw", "--format", "packets", "-o", work / "out.txt",
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
    check_error(run, 1, "out.txt", "File too large")


def test_a_directory_is_no_input(work):
    for arguments in (["--trace", work], raw(work) + ["--elf", work], raw(work) + ["--image", "%s@0" % work]):
        check_error(itrace(*arguments), 1, str(work), "irectory")
    check_error(itrace("--snapshot", work), 1, "snapshot.ini")
    check_error(itrace("--snapshot", work / "trace.bin"), 1, "not a directory")


def test_names_that_are_not_there(work):
    source = raw(work) + ["--elf", work / "fw.elf"]
    for option in ("--from", "--to"):
        check_error(itrace(*source, option, "nosuch"), 1, "nosuch")
    check_error(itrace(*source, "--from", "0x1"), 1, "did not reach")
    check_error(itrace(*source, "--el", "3"), 1, "exception level")
    check_error(itrace(*source, "--context", "5"), 1, "context ID")


def test_no_exception_is_said(work):
    run = itrace("--snapshot", work / "snap", "--format", "exceptions")
    assert run.returncode == 0 and run.stdout == "no exception in 5 instructions\n"


def test_an_elf_of_many_overlapping_segments(work):
    loads = [(0x10000, CODE)] + [(0x20000 + 2 * i, b"") for i in range(4000)]
    offset = 64 + 56 * len(loads)
    content = bytearray(elf(loads=loads))
    for i in range(1, len(loads)):	# all of the same bytes
        struct.pack_into("<QQQQQ", content, 64 + 56 * i + 8, offset, 0x20000 + 2 * i, 0, len(CODE), len(CODE))
    (work / "loads.elf").write_bytes(content)
    begin = time.monotonic()
    run = itrace(*raw(work), "--elf", work / "loads.elf", "--export", "snapshot=%s" % (work / "out"))
    assert run.returncode == 0, run.stderr
    assert time.monotonic() - begin < 5
    shutil.rmtree(work / "out")
