# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the simulator itself that need no decoder: its output is repeatable and holds every kind of packet."""

import filecmp
import os
import pathlib
import shutil
import subprocess

import pytest

import sim_rewrite
import sim_witness

HERE = pathlib.Path(__file__).resolve().parent
SIM = HERE.parent / "sim"
BUILD = pathlib.Path(os.environ.get("SIM_BUILD", HERE.parent.parent / "build" / "sim"))

needs_lister = pytest.mark.skipif(not shutil.which("trc_pkt_lister"), reason="trc_pkt_lister is missing")

# Features that together bring every packet, for the packets that OpenCSD 1.3.3 knows (so without ITE).
COVERAGE = [
    ("a64", "ete", "spec,irq,sync,ctx,cc,ts,event,ignore,wrong_source,srcaddr"),
    ("a64", "ete", "high,irq,sync,ctx,srcaddr,filter,overflow,discard,tsmark,q,q_following"),
    ("a64", "ete", "tme,reset,irq,svc,commopt,bb"),
    ("a64", "ete", "irq_storm,high,q,bb"),
    ("t32", "ete", "mix,el64,high,irq,ctx,srcaddr,q,sync,spec"),
    ("t32", "ete", "irq_storm,q,bb"),
    ("t32", "etmv4", "el64,high,irq_storm,ctx,overflow"),
    ("a64", "etmv4", "straight,q"),
    ("m", "etmv4", "fnret,irq,chain"),
    ("a64", "ete", "none"),
    ("a32", "etmv4", "none"),
]

ALWAYS_RESERVED = {0x08, 0x47, 0x4b, 0x4f, *range(0x60, 0x68), 0x84, 0x87, *range(0x89, 0x90), 0x93, 0x94,
                   *range(0x97, 0x9a), 0x9c, 0x9f, 0xa3, 0xa4, *range(0xa7, 0xaa), 0xad, 0xae, 0xb3,
                   *range(0xba, 0xc0)}
# Data trace and conditional tracing are not simulated; ITE is not known to the lister.
NOT_SIMULATED = {0x09, *range(0x20, 0x2d), *range(0x40, 0x70)}


@pytest.fixture(scope="session", name="build")
def fixture_build():
    """Directory of the built simulator."""
    subprocess.run(["make", "-s", "-f", str(SIM / "Makefile.sim"), f"BUILD={BUILD}", "-j2"], check=True)
    return BUILD


def simulate(build, out, *options):
    """Run ete_sim."""
    subprocess.run([build / "ete_sim", "--out", out, *options], check=True)


def test_repeatable(build, tmp_path):
    """The same options give the same bytes, alone and among others."""
    options = ("--isa", "t32", "--features", "random", "--framing", "tpiu_hsync")
    simulate(build, tmp_path / "a", *options, "--seed", "5", "--count", "3")
    simulate(build, tmp_path / "b", *options, "--seed", "7")
    names = os.listdir(tmp_path / "b")
    match, mismatch, errors = filecmp.cmpfiles(tmp_path / "a" / "0002", tmp_path / "b", names, shallow=False)
    assert len(match) == len(names) and not mismatch and not errors


def test_features_are_known(build, tmp_path):
    """A wrong feature name is an error."""
    done = subprocess.run([build / "ete_sim", "--out", tmp_path / "x", "--features", "nonsense"], check=False,
                          stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert b"features:" in done.stderr


@needs_lister
def test_every_packet(build, tmp_path):
    """Each header that is valid in ETE or ETMv4 A/R/M instruction trace occurs."""
    headers = set()
    for i, (isa, protocol, features) in enumerate(COVERAGE):
        # Runs of nearly 24 atoms are rare: many instructions where they are all there is.
        size = ("--count", "160", "--instructions", "2500") if features == "none" else ("--count", "6")
        simulate(build, tmp_path / str(i), "--isa", isa, "--protocol", protocol, "--features", features,
                 "--seed", "70", "--instructions", "6000", *size)
        for directory in (tmp_path / str(i)).iterdir():
            headers |= {data[0] for _, _, data in sim_rewrite.list_packets(directory)}
    missing = set(range(256)) - headers - ALWAYS_RESERVED - NOT_SIMULATED
    assert not missing, " ".join(f"{header:02x}" for header in sorted(missing))
    assert not headers & ALWAYS_RESERVED, "reserved headers occur"


def test_hsync_everywhere(build, tmp_path):
    """Half syncs occur before each of the halfwords of a frame."""
    places = set()
    simulate(build, tmp_path / "out", "--framing", "tpiu_hsync", "--count", "30")
    for path in (tmp_path / "out").glob("*/trace.bin"):
        data = path.read_bytes()
        halves = [data[i:i + 2] for i in range(0, len(data), 2)]
        in_frame = i = 0
        while i < len(halves):
            if not in_frame and halves[i:i + 2] == [b"\xff\xff", b"\xff\x7f"]:
                i += 2
                continue
            if halves[i] == b"\xff\x7f":
                places.add(in_frame)
            else:
                in_frame = (in_frame + 1) % 8
            i += 1
    assert places == set(range(8))


@pytest.mark.skipif(not shutil.which("clang") or not shutil.which("ld.lld"), reason="clang or lld is missing")
@pytest.mark.parametrize("features", ["", "irq,ts,rs,commopt", "spec,irq_storm,sync,event"])
@pytest.mark.parametrize("elf", ["demo.elf", "demo-bp.elf"])
def test_demo(build, tmp_path, elf, features):
    """The demo computes what it should, and the lister agrees with its log."""
    subprocess.run(["make", "-s", "-f", str(SIM / "Makefile.sim"), f"BUILD={BUILD}", "demos"], check=True)
    done = subprocess.run([build / "ete_demo", "--elf", build / elf, "--out", tmp_path / "out", "--features", features],
                          check=True, stdout=subprocess.PIPE)
    lines = done.stdout.decode().splitlines()
    assert lines[:-1] == ["sorted=1", "fibonacci=34", "divisor=21", "shapes=778", "found=35", "scan=119", "depth=7",
                          "crc=3456913684"]
    if shutil.which("trc_pkt_lister"):
        counts, differences = sim_witness.compare_directory(tmp_path / "out")
        assert not differences, differences[0]
        assert counts["I"] > 10000
