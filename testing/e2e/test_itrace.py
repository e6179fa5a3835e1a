# SPDX-License-Identifier: GPL-2.0-or-later
"""The standalone program: where its text goes and how it ends."""

import os
import re
import signal
import subprocess
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ITRACE = os.environ.get("ITRACE") or os.path.join(TOP, "build/bin/itrace")
CHAPTER = os.path.join(TOP, "src-overlay/doc/itrace.texi")

SYNC = bytes(11) + b"\x80" + b"\x01\x00"	# A-Sync, Trace Info
PACKETS = ["--framing", "raw", "--format", "packets"]


def itrace(*arguments, **options):
    return subprocess.run([ITRACE] + [str(a) for a in arguments], stdin=options.pop("stdin", subprocess.DEVNULL),
                          stdout=options.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, timeout=120,
                          check=False, universal_newlines=True, **options)


@pytest.fixture(name="trace")
def fixture_trace(tmp_path):
    path = tmp_path / "trace.bin"
    path.write_bytes(SYNC + b"\xf7" * 100)
    return path


@pytest.fixture(name="endless", scope="module")
def fixture_endless(tmp_path_factory):
    path = tmp_path_factory.mktemp("endless") / "trace.bin"
    with open(path, "wb") as file:
        file.write(SYNC)
        for _ in range(64):
            file.write(b"\xf7" * (1 << 20))
    return path


def test_help_names_every_documented_option():
    run = itrace("--help")
    assert run.returncode == 0 and run.stderr == ""
    with open(CHAPTER, encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("@deffn {Command} {ete decode}"):]
    body = body[:body.index("@end deffn")]
    for option in re.findall(r"^@itemx? @option\{-([a-z-]+)\}", body, re.M):
        assert re.search(r"^ +--?%s\b" % option, run.stdout, re.M), option


def test_version():
    run = itrace("--version")
    assert run.returncode == 0
    assert re.match(r"itrace \d+\.\d+\.\d+ \(.*\)\n", run.stdout)


@pytest.mark.parametrize("arguments", [
    [], ["nonsense"], ["decode"], ["decode", "--nonsense"], ["decode", "--trace"], ["decode", "-trace", "x"],
    ["decode", "--trace", "x", "--format", "nonsense"],
])
def test_wrong_use_is_2(arguments):
    run = itrace(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("itrace: ") and run.stderr.count("\n") == 1


def test_unreadable_input_is_1():
    run = itrace("decode", "--trace", "/nonexistent/x", *PACKETS)
    assert run.returncode == 1
    assert "/nonexistent/x" in run.stderr
    assert run.stdout == ""


def test_nothing_is_1(tmp_path):
    path = tmp_path / "nothing.bin"
    path.write_bytes(b"\x55" * 1000)
    run = itrace("decode", "--trace", path, *PACKETS)
    assert run.returncode == 1
    assert "A-Sync" in run.stderr


def test_decoded_is_0(trace):
    run = itrace("decode", "--trace", trace, *PACKETS)
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 102
    assert re.search(r"^trace +114 bytes: ", run.stderr, re.M)
    assert "\r" not in run.stderr


def test_gaps_are_3(tmp_path):
    path = tmp_path / "gap.bin"
    path.write_bytes(SYNC + b"\xf7\x08\xf7" + SYNC + b"\xf7")
    run = itrace("decode", "--trace", path, *PACKETS)
    assert run.returncode == 3, run.stderr
    assert re.search(r"^gaps +1: 1 bad.packet at byte 15", run.stderr, re.M)


def test_from_standard_input(trace):
    with open(trace, "rb") as file:
        run = itrace("decode", "--trace", "-", *PACKETS, stdin=file)
    assert run.returncode == 0
    assert run.stdout == itrace("decode", "--trace", trace, *PACKETS).stdout


def test_output_file_and_dash(trace, tmp_path):
    plain = itrace("decode", "--trace", trace, *PACKETS)
    dash = itrace("decode", "--trace", trace, *PACKETS, "-o", "-")
    assert dash.stdout == plain.stdout
    path = tmp_path / "out.txt"
    run = itrace("decode", "--trace", trace, *PACKETS, "-o", path)
    assert run.stdout == ""
    assert path.read_text() == plain.stdout


def test_a_closed_pipe_ends_quietly(endless):
    process = subprocess.Popen([ITRACE, "decode", "--trace", str(endless)] + PACKETS, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdout.read(1000)
    process.stdout.close()
    begin = time.monotonic()
    errors = process.stderr.read().decode()
    assert process.wait(timeout=30) in (0, 3)
    assert time.monotonic() - begin < 5
    assert "itrace: " not in errors


def test_a_full_disk_is_an_error(trace):
    with open("/dev/full", "w", encoding="ascii") as full:
        run = itrace("decode", "--trace", trace, *PACKETS, stdout=full)
    assert run.returncode == 1
    assert "No space left" in run.stderr
    run = itrace("decode", "--trace", trace, *PACKETS, "-o", "/dev/full")
    assert run.returncode == 1
    assert "/dev/full" in run.stderr and "No space left" in run.stderr


def test_an_interrupt_keeps_what_there_is(endless):
    process = subprocess.Popen([ITRACE, "decode", "--trace", str(endless), "--framing", "raw", "--format", "packets",
                                "-o", "/dev/null"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=30)[1].decode()
    assert process.returncode in (0, 3)
    assert re.search(r"^trace +\d+ bytes: ", errors, re.M)
