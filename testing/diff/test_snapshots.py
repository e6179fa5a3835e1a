# SPDX-License-Identifier: GPL-2.0-or-later
"""
Every snapshot in SNAPSHOTS, line for line against the listings of OpenCSD 1.5.2 that lie beside it.

Compared are the lines that begin with "Idx:" and "#######" (see the README of the captures): what OpenCSD's decoder logs
(DCD_...) is no element. differences.py lists the lines that differ, and why.
"""

import difflib
import os
import pathlib
import re
import subprocess

import pytest

from differences import DIFFERENCES

ROOT = pathlib.Path(__file__).resolve().parents[2]
ITRACE = pathlib.Path(os.environ.get("ITRACE", ROOT / "build/bin/itrace"))
SNAPSHOTS = pathlib.Path(os.environ.get("SNAPSHOTS") or ROOT.parent / "shared/data/opencsd")

# expected file -> format and further options
LISTINGS = {
    "expected.pkts.txt": ["opencsd-packets"],
    "expected.elems.txt": ["opencsd-elements"],
    "expected.elems.src_addr_n.txt": ["opencsd-elements", "--src-addr-n"],
}


def options_of(directory):
    """What SUMMARY.tsv says the listings were made with."""
    summary = SNAPSHOTS / "SUMMARY.tsv"
    name = directory.relative_to(SNAPSHOTS).as_posix()
    if not summary.exists():
        return []
    rows = [line.split("\t") for line in summary.read_text().splitlines()]
    column = rows[0].index("lister_options")
    for row in rows[1:]:
        if row[0] == name:
            return ["--all-streams"] if "-multi_session" in row[column] else []
    return []


def cases():
    return [pytest.param(path.parent, path.name, id=f"{path.parent.relative_to(SNAPSHOTS)}-{path.name}")
            for path in sorted(SNAPSHOTS.glob("**/expected.*.txt")) if path.name in LISTINGS]


def normal(text):
    return [line.rstrip() for line in text.splitlines() if line.startswith(("Idx:", "#######"))]


def listing(directory, name):
    form, *more = LISTINGS[name]
    command = [ITRACE, "decode", "--snapshot", directory, "--format", form, *more, *options_of(directory)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1, 3), done.stderr
    return normal(done.stdout)


def blocks(ours, theirs):
    """Where they differ: the lines of one side that stand for the lines of the other."""
    matcher = difflib.SequenceMatcher(a=ours, b=theirs, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag != "equal":
            yield ours[a0:a1], theirs[b0:b1]


def take(pattern, lines):
    """Take the first line that fits out of lines. A pattern None fits nothing, which is always there."""
    if pattern is None:
        return True
    for line in lines:
        if re.fullmatch(pattern, line):
            lines.remove(line)
            return True
    return False


def explain(left, right, entries):
    """Take what entries explain out of both sides; the entries that did."""
    used = []
    for entry in entries:
        ours, theirs = list(left), list(right)
        if take(entry.ours, ours) and take(entry.theirs, theirs):
            left[:], right[:] = ours, theirs
            used.append(entry)
    return used


@pytest.mark.skipif(not SNAPSHOTS.is_dir(), reason=f"no captures in {SNAPSHOTS} (SNAPSHOTS=DIR)")
@pytest.mark.parametrize("directory,name", cases() if SNAPSHOTS.is_dir() else [])
def test_listing_equals_opencsd(directory, name):
    snapshot = directory.relative_to(SNAPSHOTS).as_posix()
    entries = [entry for entry in DIFFERENCES if (entry.snapshot, entry.listing) == (snapshot, name)]
    ours, theirs = listing(directory, name), normal((directory / name).read_text())
    assert theirs, "nothing to compare with"

    used, unexplained = [], []
    if ours != theirs:
        for left, right in blocks(ours, theirs):
            used += explain(left, right, [entry for entry in entries if entry not in used])
            unexplained += ["ours:   " + line for line in left] + ["theirs: " + line for line in right]
    assert not unexplained, f"{len(unexplained)} lines differ without a reason:\n" + "\n".join(unexplained[:20])
    unused = [entry for entry in entries if entry not in used]
    assert not unused, f"listed in differences.py, but does not occur: {unused}"


def test_differences_name_snapshots_that_exist():
    if not SNAPSHOTS.is_dir():
        pytest.skip(f"no captures in {SNAPSHOTS} (SNAPSHOTS=DIR)")
    for entry in DIFFERENCES:
        assert (SNAPSHOTS / entry.snapshot / entry.listing).is_file(), entry
