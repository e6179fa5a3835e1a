# SPDX-License-Identifier: GPL-2.0-or-later
"""The Tcl command group `ete` in the patched OpenOCD."""

import fcntl
import os
import pty
import re
import signal
import subprocess
import termios
import time

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPENOCD = os.environ.get("OPENOCD") or os.path.join(TOP, "build/bin/openocd")
SNAPSHOTS = os.environ.get("SNAPSHOTS") or os.path.join(TOP, "../shared/data/opencsd")
CHAPTER = os.path.join(TOP, "src-overlay/doc/itrace.texi")
SOURCES = os.path.join(TOP, "src-overlay/src/target/armtrace")

SYNC = bytes(11) + b"\x80" + b"\x01\x00"	# A-Sync, Trace Info
DUMMY = "adapter driver dummy; adapter speed 1000; jtag newtap t cpu -irlen 4; " \
	"gdb_port disabled; telnet_port disabled; tcl_port disabled; "


class Run:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.log = done.stderr


def openocd(script, timeout=120):
    """Runs a Tcl script; what it puts is .out, the log is .log."""
    done = subprocess.run([OPENOCD, "-c", script, "-c", "shutdown"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    done.stdout = done.stdout.decode("utf-8", "replace")
    done.stderr = done.stderr.decode("utf-8", "replace")
    return Run(done)


def failing(command, before=""):
    """The message of a command that must fail."""
    run = openocd("%s puts \"code [expr {[catch {%s} text] != 0}]\"; puts $text" % (before, command))
    assert run.out.startswith("code 1\n"), run.out + run.log
    return run.out[len("code 1\n"):].rstrip("\n")


@pytest.fixture(name="trace")
def fixture_trace(tmp_path):
    path = tmp_path / "trace.bin"
    path.write_bytes(SYNC + b"\xf7" * 100)
    return path


def snapshot(name):
    path = os.path.join(SNAPSHOTS, name)
    if not os.path.exists(os.path.join(path, "snapshot.ini")):
        pytest.skip("no capture %s in SNAPSHOTS" % name)
    return path


# ── help and manual ───────────────────────────────────────────────────────────────────


def documented():
    """The commands of the groups, and those of an object as `NAME command`."""
    text = ""
    for chapter in (CHAPTER, os.path.join(os.path.dirname(CHAPTER), "mtb_capture.texi")):
        with open(chapter, encoding="utf-8") as file:
            text += file.read().replace("@var{name}", "NAME")
    return set(re.findall(r"^@deffnx? +\{(?:Config )?Command\} +\{([^}]+)\}", text, re.M))


def registered():
    groups = set()
    for name in os.listdir(SOURCES):
        if name.endswith(".c"):
            with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
                for entry in re.findall(r"\{([^{}]*)\}", file.read()):
                    match = re.search(r'\.name = "(\w+)"', entry)
                    if match and ".chain" in entry:
                        groups.add(match.group(1))
    assert "ete" in groups
    log = openocd("; ".join("puts [help %s]" % group for group in sorted(groups)))
    found = set()
    for line in (log.out + log.log).splitlines():
        match = re.match(r"  (\w+) (\w+)", line)
        if match and match.group(1) in groups:
            found.add(" ".join(match.groups()))
    return found


def test_documented_commands_are_the_registered_ones():
    commands = documented()
    assert {command for command in commands if not command.startswith("NAME ")} == registered()
    log = openocd("adapter driver dummy; transport select jtag; jtag newtap c cpu -irlen 4; dap create c.dap -chain-position "
                  "c.cpu; target create c.cpu cortex_m -dap c.dap; mtb create NAME -target c.cpu; puts [help NAME]")
    found = set(re.findall(r"^ +(NAME \w+)", log.out + log.log, re.M))
    assert {command for command in commands if command.startswith("NAME ")} == found


def test_documented_options_are_the_real_ones():
    with open(CHAPTER, encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("@deffn {Command} {ete decode}"):]
    body = body[:body.index("@end deffn")]
    manual = set(re.findall(r"^@itemx? @option\{-([a-z-]+)\}", body, re.M))
    run = openocd("puts [ete decode -help]")
    real = set(re.findall(r"^ +-([a-z-]+)", run.out, re.M))
    assert manual == real


def test_every_cause_of_a_gap_is_in_the_manual():
    with open(os.path.join(TOP, "src-overlay/src/itrace/event.c"), encoding="utf-8") as file:
        causes = set(re.findall(r"\[ITRACE_GAP_\w+\] = \{\s*\"([a-z-]+)\"", file.read()))
    with open(CHAPTER, encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("@section The Ledger"):]
    table = table[:table.index("@end table")]
    assert "no-memory" in causes
    assert set(re.findall(r"^@item ([a-z-]+)$", table, re.M)) == causes


def test_every_command_has_help_and_usage():
    run = openocd("puts [help ete]; puts [usage ete]")
    text = run.out + run.log
    assert text.count("ete decode") >= 2
    assert "'-snapshot' directory" in text


@pytest.mark.parametrize("command", [
    "ete create t -target x", "tmc create t -dap d",
    "funnel create f", "replicator create r", "gdb_btrace auto on",
    "ete decode -trace x -export callgrind=y", "ete decode some_object",
])
def test_what_is_not_there_yet_says_so(command):
    assert "not in this version" in failing(command)


# ── errors ────────────────────────────────────────────────────────────────────────────


def test_no_argument_prints_the_usage():
    # on the log or as the message, as the release has it
    run = openocd("puts [expr {[catch {ete decode} text] != 0}]; puts $text")
    assert run.out.startswith("1\n")
    assert "ete decode ('-snapshot' directory" in run.log + run.out


def test_ledger_takes_no_argument_and_needs_a_decode():
    assert "ete decode" in failing("ete ledger")
    run = openocd("puts [catch {ete ledger x}]")
    assert run.out.strip() != "0"


@pytest.mark.parametrize("arguments, words", [
    ("-nonsense", ["-nonsense"]),
    ("-trace", ["-trace"]),
    ("-format functions", ["-snapshot", "-trace"]),
    ("-trace x -snapshot y", ["-snapshot", "-trace"]),
    ("-trace x -format nonsense", ["nonsense", "functions"]),
    ("-trace x -framing nonsense", ["nonsense", "coresight"]),
    ("-trace /nonexistent/x", ["/nonexistent/x"]),
    ("-trace /", ["/"]),
    ("-snapshot /nonexistent", ["/nonexistent"]),
    ("-trace x -reg TRCIDR0", ["TRCIDR0"]),
    ("-trace x -image y", ["y", "@"]),
])
def test_errors_are_one_line_with_the_culprit(arguments, words):
    text = failing("ete decode " + arguments)
    assert text and "\n" not in text
    for word in words:
        assert word in text


def test_a_decode_of_nothing_is_an_error(tmp_path):
    path = tmp_path / "nothing.bin"
    path.write_bytes(b"\x55" * 1000)
    assert "A-Sync" in failing("ete decode -trace %s -framing raw -format packets" % path)
    path.write_bytes(b"")
    assert str(path) in failing("ete decode -trace %s -framing raw -format packets" % path)


def test_memory_without_a_target(trace):
    text = failing("ete decode -trace %s -framing raw -memory" % trace)
    assert "memory" in text and "\n" not in text


def test_an_uncaught_error_ends_openocd_with_its_message():
    run = openocd("ete decode -trace /nonexistent/x")
    assert run.status == 1
    assert "/nonexistent/x" in run.log + run.out


# ── decoding ──────────────────────────────────────────────────────────────────────────


def packets(path, before=""):
    return openocd(before + "puts [ete decode -trace %s -framing raw -format packets]" % path)


def test_before_init_and_without_an_adapter(trace):
    run = packets(trace)
    assert run.status == 0
    assert len(run.out.splitlines()) >= 102
    assert "trace " in run.log and " bytes: " in run.log


def test_after_init_with_an_adapter(trace):
    run = packets(trace, DUMMY + "catch init; ")
    assert run.status == 0, run.log
    assert run.out == packets(trace).out


def test_output_file(trace, tmp_path):
    path = tmp_path / "out.txt"
    run = openocd("puts <[ete decode -trace %s -framing raw -format packets -o %s]>" % (trace, path))
    assert run.out.strip() == "<>"
    assert path.read_text().rstrip("\n") == packets(trace).out.rstrip("\n")


def test_output_file_that_cannot_be_written(trace):
    text = failing("ete decode -trace %s -framing raw -format packets -o /nonexistent/out" % trace)
    assert "/nonexistent/out" in text and "\n" not in text


def test_result_has_no_line_end_of_its_own(trace):
    run = openocd("puts -nonewline [ete decode -trace %s -framing raw -format packets]" % trace)
    assert run.out and not run.out.endswith("\n")


def test_listing_above_16_mb_is_refused(tmp_path):
    path = tmp_path / "long.bin"
    path.write_bytes(SYNC + b"\xf7" * 1000000)
    text = failing("ete decode -trace %s -framing raw -format packets" % path)
    assert "use -o, -last or -format summary" in text
    # the way out that the message names works
    run = openocd("ete decode -trace %s -framing raw -format packets -o %s/out; puts done" % (path, tmp_path))
    assert "done" in run.out and (tmp_path / "out").stat().st_size > 16 << 20


def test_ledger_is_a_dict_that_balances(trace):
    run = openocd("ete decode -trace %s -framing raw -format packets; foreach {k v} [ete ledger] {puts \"$k=$v\"}"
                  % trace)
    ledger = dict(line.split("=", 1) for line in run.out.splitlines() if "=" in line)
    assert int(ledger["trace_len"]) == len(SYNC) + 100
    assert int(ledger["trace_len"]) == sum(int(ledger[key + "_len"])
                                           for key in ("decoded", "padding", "unsynced", "skipped"))
    assert int(ledger["gaps"]) == 0


def test_wrong_use_keeps_the_last_ledger(trace):
    run = openocd("ete decode -trace %s -framing raw -format packets; set a [ete ledger]; "
                  "catch {ete decode -nonsense}; puts [expr {$a eq [ete ledger]}]" % trace)
    assert run.out.strip().endswith("1")


def test_gaps_are_no_error(tmp_path):
    path = tmp_path / "gap.bin"
    path.write_bytes(SYNC + b"\xf7\x08\xf7" + SYNC + b"\xf7")
    run = openocd("ete decode -trace %s -framing raw -format packets; puts [dict get [ete ledger] gaps]" % path)
    assert run.status == 0, run.log
    assert int(run.out.strip()) >= 1


def own_terminal():
    """In the child: its standard input is its terminal, as OpenOCD wants before it heeds Ctrl-C."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.parametrize("how", ["SIGTERM", "Ctrl-C"])
def test_a_signal_stops_a_long_decode(tmp_path, how):
    path = tmp_path / "long.bin"
    out = tmp_path / "out.txt"
    with open(path, "wb") as file:
        file.write(SYNC)
        for _ in range(64):
            file.write(b"\xf7" * (1 << 20))
    keyboard, terminal = pty.openpty()
    begin = time.monotonic()
    process = subprocess.Popen([OPENOCD, "-c", "ete decode -trace %s -framing raw -format packets -o %s" % (path, out),
                                "-c", "shutdown"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, preexec_fn=own_terminal)
    os.close(terminal)
    while not (out.exists() and out.stat().st_size) and time.monotonic() < begin + 30:
        time.sleep(0.02)
    if how == "SIGTERM":
        process.send_signal(signal.SIGTERM)
    else:
        os.write(keyboard, b"\x03")
    sent = time.monotonic()
    log = process.communicate(timeout=60)[0].decode("utf-8", "replace")
    os.close(keyboard)
    assert time.monotonic() - sent < 5
    assert "interrupted" in log
    assert out.stat().st_size > 0


# ── captures ──────────────────────────────────────────────────────────────────────────


def normal(text):
    """As the README of the captures says: comments away, no trailing blanks."""
    return [line.rstrip() for line in text.splitlines() if line.strip() and not line.startswith("# ")]


@pytest.mark.parametrize("name", ["ete/001-ack_test", "ete/ete-bc-instr", "ete/ts_marker", "ete/ete_spec_1",
                                  "ete/tme_simple", "ete/src_addr"])
def test_capture_lists_as_opencsd_does(name):
    path = snapshot(name)
    run = openocd("puts [ete decode -snapshot %s -format opencsd-elements]" % path)
    with open(os.path.join(path, "expected.elems.txt"), encoding="utf-8") as file:
        expected = normal(file.read())
    assert normal(run.out) == expected


def test_capture_to_instructions():
    path = snapshot("ete/ete-bc-instr")
    run = openocd("puts [ete decode -snapshot %s -format instructions]; puts \"count [dict get [ete ledger] instructions]\""
                  % path)
    assert run.out.strip().endswith("count 10")
