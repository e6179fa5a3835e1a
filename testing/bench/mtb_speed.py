#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later

"""How fast MTB trace is decoded: traced instructions a second, and host instructions for each (callgrind).

The trace is of a compiled program with an exception every 300 and every 36 instructions. All of `itrace decode
--format summary` is measured; its start is taken out by a shorter trace.
"""

import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ITRACE = os.environ.get("ITRACE") or os.path.join(ROOT, "build", "bin", "itrace")
sys.path.insert(0, os.path.join(ROOT, "testing", "e2e"))

from mtb_walker import Program, Walk, compile_program	# noqa: E402 pylint: disable=wrong-import-position

TARGET = "thumbv6m-none-eabi"
SHORT, LONG = 20000, 60000	# instructions
COPIES = 400			# of the long one, to measure time with


def decode(elf, path, *before):
    done = subprocess.run([*before, ITRACE, "decode", "--trace", path, "--protocol", "mtb", "--elf", elf, "--format",
                           "summary"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: itrace decode failed: {done.stderr.strip()}")
    return done


def host_instructions(elf, path):
    done = decode(elf, path, "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def seconds(elf, path):
    """Of the processor, the best of five."""
    best = None
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        decode(elf, path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = took if best is None else min(best, took)
    return best


def measure(program, folder, interrupts, every):
    paths = []
    for count, copies in ((SHORT, 1), (LONG, 1), (LONG, COPIES)):
        path = os.path.join(folder, f"{interrupts}-{count}-{copies}")
        with open(path, "wb") as file:
            # each copy begins with the first packet since trace was started: no gap where two meet
            file.write(Walk(program, 10, count, interrupts=interrupts).linear() * copies)
        paths.append(path)
    took = seconds(program.elf, paths[2]) - seconds(program.elf, paths[1])
    rate = (COPIES - 1) * LONG / took / 1e6
    each = "not counted (no valgrind)"
    if shutil.which("valgrind"):
        counts = [host_instructions(program.elf, path) for path in paths[:2]]
        each = f"{(counts[1] - counts[0]) / (LONG - SHORT):.1f} host instructions for each"
    print(f"an exception every {every:3}: {rate:7.1f} million instructions/s, {each}", flush=True)


def main():
    print("MTB decode, traced instructions")
    with tempfile.TemporaryDirectory() as folder:
        program = Program(compile_program(pathlib.Path(folder), TARGET, "-O2"), TARGET)
        measure(program, folder, 300, 300)
        measure(program, folder, 40, 36)


if __name__ == "__main__":
    main()
