# SPDX-License-Identifier: GPL-2.0-or-later
"""Built without elfutils and capstone, and OpenOCD without the decoder: the rest works."""

import os
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(TOP, os.environ.get("O") or "build")
LONG = os.environ.get("LONG") == "1"

SYNC = bytes(11) + b"\x80" + b"\x01\x00"


@pytest.fixture(name="trace")
def fixture_trace(tmp_path):
    path = tmp_path / "trace.bin"
    path.write_bytes(SYNC + b"\xf7" * 100)
    return str(path)


@pytest.fixture(name="bare", scope="module")
def fixture_bare():
    folder = os.path.join(OUT, "bare")
    subprocess.run(["make", "-s", "-j2", "-f", "contrib/itrace.mk", "VARIANT=plain", "O=" + folder, "ELFUTILS=no",
                    "CAPSTONE=no", "cli"], cwd=TOP, check=True)
    return os.path.join(folder, "itrace")


def test_itrace_says_what_it_lacks(bare):
    text = subprocess.run([bare, "--version"], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    assert "no elfutils" in text and "no disassembler" in text


def test_itrace_links_with_neither(bare):
    text = subprocess.run(["ldd", bare], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    assert "libdw" not in text and "libelf" not in text and "capstone" not in text


def test_itrace_decodes(bare, trace):
    full = os.environ.get("ITRACE") or os.path.join(OUT, "bin/itrace")
    lists = [subprocess.run([program, "decode", "--trace", trace, "--framing", "raw", "--format", "packets"],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
             for program in (bare, full)]
    assert lists[0] == lists[1] and lists[0]


def openocd(name, arguments, script):
    folder = os.path.join(OUT, "without", name)
    env = dict(os.environ, CONFIGURE_ARGS=arguments)
    subprocess.run(["contrib/build-openocd", folder], cwd=TOP, env=env, check=True)
    return subprocess.run([os.path.join(folder, "b/src/openocd"), "-c", script, "-c", "shutdown"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, universal_newlines=True)


if LONG:
    def test_openocd_without_libraries(trace):
        run = openocd("libraries", "--without-elfutils --without-capstone",
                      "puts [ete decode -trace %s -framing raw -format packets]" % trace)
        assert run.returncode == 0, run.stderr
        assert len(run.stdout.splitlines()) >= 102

    def test_openocd_without_the_decoder():
        run = openocd("decoder", "--disable-itrace", "puts [catch {ete decode -trace x} text]; puts $text")
        assert run.returncode == 0, run.stderr
        assert "--disable-itrace" in run.stdout
