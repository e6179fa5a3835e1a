# SPDX-License-Identifier: GPL-2.0-or-later
"""`xtensa profile` and `profile` with wrong input, and on targets that cannot be sampled: one clear line, and target
and files as they were.

check-group: xtensa
"""

import os
import re
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position
# pylint: disable-next=wrong-import-position
from profiling import Session, check_intact, check_program, check_samples	# noqa: E402

PRECIOUS = "what was here before\n"

pytestmark = pytest.mark.skipif(not shutil.which("xtensa-lx106-elf-gcc"), reason="no xtensa-lx106-elf-gcc")


@pytest.fixture(name="built", scope="session", autouse=True)
def fixture_built():
    if shutil.which("xtensa-lx106-elf-gcc"):
        probe.build()


def add_precious(session, name, command, **options):
    """A profile into a file that exists."""
    with open(os.path.join(session.probe.path, name), "w", encoding="utf-8") as file:
        file.write(PRECIOUS)
    session.add(name, command, **options)


def check_refused(outcome, text, touched=False):
    """One line that says @a text; the file is the old one, nothing was sampled."""
    assert outcome.failed, outcome.said
    assert re.search(text, outcome.said), outcome.said
    assert len(outcome.said.splitlines()) == 1, outcome.said
    assert len(outcome.said) < 250, outcome.said
    with open(outcome.path, encoding="utf-8") as file:
        assert file.read() == PRECIOUS
    if not touched:
        for what in ("debugpc_reads0", "dir_exec0", "dcrset_halts0", "stops0"):
            assert outcome.counters[what] == 0, what


# Command, what must be said.
WRONG = [
    ("xtensa profile 1 FILE -method bogus", r"unknown method 'bogus': auto, debugpc"),
    ("xtensa profile 1 FILE -format bogus", r"'bogus' is no format.*gmon"),
    ("xtensa profile 1 FILE -bogus 1", r"unknown option '-bogus'"),
    ("xtensa profile 1 FILE -bogus", r"unknown option '-bogus'"),
    ("xtensa profile 1 FILE bogus", r"unknown option 'bogus'"),
    ("xtensa profile 1 FILE -elf /no/such/elf bogus", r"unknown option 'bogus'"),
    ("xtensa profile 1 FILE -method", r"option '-method' lacks its value"),
    ("xtensa profile 1 FILE -range 1", r"option '-range' lacks its start and end"),
    ("xtensa profile 1 FILE -range 0x100 0x100", r"range from 0x100 to 0x100 is empty"),
    ("xtensa profile 1 FILE -range 0x200 0x100", r"range from 0x200 to 0x100 is empty"),
    ("xtensa profile 1 FILE -range here there", r"range from 'here' to 'there'"),
    ("xtensa profile 1 FILE -range 0 -1", r"range from '0' to '-1'"),
    ("xtensa profile 0 FILE", r"'0' seconds: a profile takes 1 to 604800"),
    ("xtensa profile 604801 FILE", r"'604801' seconds: a profile takes 1 to 604800"),
    ("xtensa profile 4294967297 FILE", r"'4294967297' seconds: a profile takes"),
    ("xtensa profile 99999999999999999999 FILE", r"'99999999999999999999' seconds: a profile takes"),
    ("xtensa profile -1 FILE", r"'-1' seconds: a profile takes"),
    ("xtensa profile soon FILE", r"'soon' seconds: a profile takes"),
    ("xtensa profile 1.5 FILE", r"'1\.5' seconds: a profile takes"),
    ("xtensa profile { 1} FILE", r"' 1' seconds: a profile takes"),
    ("xtensa profile {} FILE", r"'' seconds: a profile takes"),
    (r'xtensa profile "1\n2" FILE', r"'1\?2' seconds: a profile takes"),
    (r'xtensa profile 1 FILE "-x\ny" 1', r"unknown option '-x\?y'"),
    (r'xtensa profile 1 FILE "-x\ny"', r"unknown option '-x\?y'"),
    (r'xtensa profile 1 FILE -method "\x1b\x7f\n"', r"unknown method '\?\?\?': auto"),
    (r'xtensa profile 1 FILE -format "c\nsv"', r"'c\?sv' is no format"),
    (r'xtensa profile 1 FILE -elf "/no/such\nelf"', r"/no/such\?elf: No such file"),
    (r'xtensa profile 1 "/no/such\nfolder/profile"', r"cannot write '/no/such\?folder/profile': No such file"),
    ("xtensa profile 1 FILE -rate 0", r"-rate '0': 1 to"),
    ("xtensa profile 1 FILE -rate fast", r"-rate 'fast': 1 to"),
    ("xtensa profile 1 FILE -duty 100", r"-duty '100': 0 to 99"),
    ("xtensa profile 1 FILE -duty -5", r"-duty '-5': 0 to 99"),
    ("xtensa profile 1 FILE -duty 4294967296", r"-duty '4294967296': 0 to 99"),
    ("xtensa profile 1 FILE -cores few", r"-cores 'few': current or all"),
    ("xtensa profile 1 FILE -cores all -method legacy", r"legacy samples one core"),
    ("xtensa profile 1 FILE -jitter maybe", r"-jitter 'maybe': on or off"),
    ("xtensa profile 1 FILE -top -1", r"-top '-1': 0 to"),
    ("xtensa profile 1 FILE -top 5000", r"-top '5000': 0 to"),
    ("xtensa profile 1 FILE -seed x", r"-seed 'x': a number"),
    ("xtensa profile 1 FILE -elf /no/such/elf", r"/no/such/elf: No such file"),
    ("xtensa profile 1 FILE -elf {}", r"-elf '': the name of the program's file"),
    ("xtensa profile 1 FILE -elf %s" % __file__, r"%s: not an ELF file" % re.escape(__file__)),
    ("xtensa profile 1 FILE -elf %s" % sys.executable, r"%s: ELF for .*, not for Xtensa" % re.escape(sys.executable)),
    ("xtensa profile 1 /no/such/folder/profile", r"cannot write '/no/such/folder/profile': No such file"),
    ("xtensa profile 1 /", r"cannot write '/': is a directory"),
    ("xtensa profile 1 /proc/version", r"cannot write '/proc/version'"),
    ("xtensa profile 1 {}", r"cannot write ''"),
    ("profile 0 FILE", r"'0' seconds: a profile takes"),
    ("profile 1 FILE 0x200 0x100", r"range from 0x200 to 0x100 is empty"),
    ("profile soon FILE", r"'soon' seconds: a profile takes"),
    (r'profile "1\n" FILE', r"'1\?' seconds: a profile takes"),
    ("profile 1 /no/such/folder/profile", r"cannot write '/no/such/folder/profile'"),
]

# The command's usage is said instead.
SYNTAX = ["xtensa profile", "xtensa profile 1", "profile", "profile 1", "profile 1 FILE 5", "profile 1 FILE 5 6 7"]


@pytest.mark.parametrize("halted", [False, True])
def test_wrong_arguments(halted):
    with Session("esp32") as session:
        session.script("poll off")
        if halted:
            session.script("halt")
        for i, (command, _) in enumerate(WRONG):
            add_precious(session, "p%u" % i, command)
        for i, command in enumerate(SYNTAX):
            session.add("s%u" % i, command)
        session.add("fine", "xtensa profile 1 FILE -format csv", verify=True,
                    fault="" if halted else "break 0 when samples 2000")
        outcomes = session.go()
        for i, (command, text) in enumerate(WRONG):
            outcome = outcomes["p%u" % i]
            check_refused(outcome, text)
            assert outcome.counters["exchanges"] == 0, command
            assert set(outcome.curstate.values()) == {"halted" if halted else "running"}, command
        for i, command in enumerate(SYNTAX):
            outcome = outcomes["s%u" % i]
            assert outcome.failed and outcome.counters["exchanges"] == 0, command
            assert not os.path.exists(outcome.path)
        # on the log, or as the error's text
        told = session.run.text + "".join(outcomes["s%u" % i].said for i in range(len(SYNTAX)))
        assert "seconds filename" in told or "profile seconds" in told, told
        assert not outcomes["fine"].failed
        check_program(outcomes["fine"])


def test_before_init():
    with Session("esp32") as session:
        text = session.text
        session.text = ""
        for i, command in enumerate(("xtensa profile 1 FILE", "esp32.cpu0 xtensa profile 1 FILE", "profile 1 FILE")):
            path = os.path.join(session.probe.path, "early%u" % i)
            session.script("puts \"early: [catch {%s} said] $said\"" % command.replace("FILE", path))
        session.text += text
        run = session.start()
        assert run.ok, run.text
        said = re.findall(r"^early: (\d) (.*)$", run.text, re.M)
        assert len(said) == 3
        assert all(failed == "1" for failed, _ in said), said
        assert run.text.count("must be used after 'init'") == 2, run.text
        assert said[2][1] == 'invalid command name "profile"'	# as in unmodified OpenOCD


@pytest.mark.parametrize("examined,command,text", [
    ("", "xtensa profile 1 FILE", r"esp32.cpu0 was not examined"),
    ("", "profile 1 FILE", r"esp32.cpu0 was not examined"),
    ("esp32.cpu0", "xtensa profile 1 FILE -cores all", r"esp32.cpu1 was not examined"),
    ("esp32.cpu0", "esp32.cpu1 xtensa profile 1 FILE", r"esp32.cpu1 was not examined"),
    ("esp32.cpu1", "esp32.cpu1 xtensa profile 1 FILE -cores all", r"esp32.cpu0 was not examined"),
])
def test_not_examined(examined, command, text):
    """Without power at the beginning; then one core is asked again."""
    with Session("esp32") as session:
        session.text = "sim fault power-off when us 0\ncatch init\npoll off\nsim fault none\ntargets esp32.cpu0\n"
        if examined:
            session.script("%s arp_examine" % examined)
        add_precious(session, "p", command)
        check_refused(session.go()["p"], text)


@pytest.mark.parametrize("command", ["esp32.cpu1 xtensa profile 1 FILE", "esp32.cpu0 xtensa profile 1 FILE -cores all"])
def test_tap_disabled(command):
    with Session("esp32") as session:
        session.script("""
            poll off
            jtag configure esp32.cpu1 -event tap-disable {}
            jtag configure esp32.cpu1 -event tap-enable {}
            jtag tapdisable esp32.cpu1
            """)
        add_precious(session, "p", command)
        session.script("jtag tapenable esp32.cpu1")
        check_refused(session.go()["p"], r"esp32.cpu1: TAP esp32.cpu1 is disabled")


def test_debugpc_reads_0():
    with Session("esp32", debugpc="zero") as session:
        add_precious(session, "p", "xtensa profile 1 FILE -method debugpc", verify=True)
        outcome = session.go()["p"]
        check_refused(outcome, r"DEBUGPC of esp32.cpu0 reads 0", touched=True)
        assert outcome.counters["stops0"] == 0
        check_program(outcome)


@pytest.mark.parametrize("method", ["auto", "debugpc", "pipeline", "wsr", "batch"])
@pytest.mark.parametrize("fault,text", [
    ("power-off when us 0", r"cannot be polled|does not answer|was not examined|does not run"),
    ("probe-error-lost when exchanges 1", r"adapter|cannot be polled"),
    ("probe-error-done when exchanges 9", r"adapter|cannot be polled|stopped"),
    ("stuck-running when us 0", r"did not stop within 200 ms"),
])
def test_nothing_to_be_had(fault, text, method):
    """No power, no adapter, no stop: before the first sample."""
    with Session("esp32", debugpc="on" if method == "debugpc" else "zero") as session:
        add_precious(session, "p", "xtensa profile 1 FILE -method %s" % method, fault=fault,
                     verify="power" not in fault)
        outcome = session.go()["p"]
        if method in ("auto", "debugpc") and not outcome.failed:
            # DEBUGPC needs no stop, and what 'auto' loses in looking for it is not the end
            assert "stuck" in fault or outcome.samples, outcome.said
            return
        if not outcome.failed:
            # it hit something that is asked for more than once, or was too late for nothing
            assert not outcome.ended or re.search(text, outcome.ended), outcome.said
        else:
            check_refused(outcome, text, touched=True)
        if "power" in fault:
            return
        assert outcome.counters["exec_ignored0"] == 0
        check_intact(outcome, 3 << 16)
        check_program(outcome)


@pytest.mark.parametrize("method", ["debugpc", "pipeline", "wsr", "batch"])
def test_slow_clock(method):
    with Session("esp32", khz=100) as session:
        session.add("p", "xtensa profile 1 FILE -format csv -method %s" % method, verify=True)
        outcome = session.go()["p"]
        assert outcome.ended is None and outcome.samples > 20, outcome.said
        assert "at 100 kHz" in outcome.lines["adapter"][0]
        assert check_samples(outcome, method) == 0
        check_intact(outcome, 3 << 16)
        check_program(outcome)


def test_no_clock():
    """A chain from which nothing comes: the target cannot be examined, and that is what is said."""
    with Session("esp32") as session:
        session.text = session.text.replace("poll\n", "")
        path = os.path.join(session.probe.path, "p")
        session.text = ("sim fault power-off when us 0\ncatch init\ntargets esp32.cpu0\n"
                        "puts \"said: [catch {xtensa profile 1 %s} said] $said\"\n" % path)
        run = session.start()
        match = re.search(r"^said: \S+ (.*)$", run.text, re.M)
        assert match and "was not examined" in match.group(1), run.text
        assert not os.path.exists(path)
