# SPDX-License-Identifier: GPL-2.0-or-later
"""
The decoder against the log of what really ran, over random programs, configurations and protocols: see flow_truth.c.

LONG=1 runs ten times as many streams. SIM_BUILD names the build directory of the simulator.
"""

import os
import pathlib
import re
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
SIM_BUILD = pathlib.Path(os.environ.get("SIM_BUILD", TOP / "build" / "sim"))
# streams for each of the seven kinds
COUNT = 3000 if os.environ.get("LONG") == "1" else 300
# below this a feature is not tested, only met
FEATURE_MIN = 5


def make(*args):
    subprocess.run(["make", "-s", "-C", str(TOP), *args], check=True)


@pytest.fixture(scope="session")
def flow_truth():
    """The program, with the core under the sanitizers."""
    out = TOP / "build" / "asan"
    make("-f", "contrib/itrace.mk", "VARIANT=asan", "O=build/asan", "build/asan/libitrace.a")
    make("-f", "testing/sim/Makefile.sim", f"BUILD={SIM_BUILD}", f"{SIM_BUILD}/libetesim.a")
    program = out / "flow_truth"
    command = ["gcc", "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Wshadow", "-Werror",
               "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
               f"-I{TOP}/src-overlay/src", f"-I{TOP}/testing/sim", str(HERE / "flow_truth.c"),
               str(out / "libitrace.a"), str(SIM_BUILD / "libetesim.a"), "-lunicorn", "-o", str(program)]
    subprocess.run(command, check=True)
    return program


KINDS = ["a64-ete", "a64-etmv4", "a32-ete", "a32-etmv4", "t32-ete", "t32-etmv4", "m-etmv4"]


@pytest.fixture(scope="session")
def outputs():
    """What each kind printed, for the count of features over all of them."""
    return {}


@pytest.mark.parametrize("kind", KINDS)
def test_every_instruction_is_the_one_that_ran(flow_truth, outputs, kind):
    run = subprocess.run([flow_truth, str(COUNT), "1", kind], capture_output=True, text=True, check=False)
    outputs[kind] = run.stdout
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    passed = int(re.search(r"^(\d+) passed, 0 failed$", run.stdout, re.M).group(1))
    assert passed > COUNT * 3 // 4


def test_every_feature_occurs(outputs):
    counts = {}
    for text in outputs.values():
        for name, count in re.findall(r"^feature (\S+) +(\d+) streams$", text, re.M):
            counts[name] = counts.get(name, 0) + int(count)
    for name, count in counts.items():
        print(f"feature {name}: {count} streams")
    assert counts and {name: count for name, count in counts.items() if count < FEATURE_MIN} == {}
