# SPDX-License-Identifier: GPL-2.0-or-later
"""`coresight discover` on the simulated Cortex-M chips: what their ROM tables name, also when they lie.

check-group: mtb
"""

import os
import re
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe	# noqa: E402  pylint: disable=wrong-import-position

OPENOCD = os.environ.get("OPENOCD") or os.path.join(probe.TOP, "build/bin/openocd")
PROGRAMS = {"cortex-m0plus": "cm-work-m0-O1", "cortex-m33": "cm-work-m33-O1"}
MTB = {"cortex-m0plus": "0xf0000000", "cortex-m33": "0xe0043000"}
CORE = {"0xe000e000": "SCS", "0xe0001000": "DWT"}

# Tcl's own eyes: each line is a dict. Keys of a line, one a line here, so that nothing is parsed twice.
LINES = """
foreach line [split [coresight discover chip.dap] "\\n"] {
	set pairs {}
	foreach key [dict keys $line] { append pairs "|$key=[dict get $line $key]" }
	echo "LINE$pairs"
}
"""


@pytest.fixture(name="built", scope="session", autouse=True)
def fixture_built():
    if not shutil.which("clang"):
        pytest.skip("no clang")
    probe.build()


def one_probe(target, transport="swd", **options):
    return probe.Probe(target, PROGRAMS[target], transport=transport, **options)


def run(sim, script):
    return sim.openocd(script, openocd=OPENOCD)


def lines(text):
    return [dict(pair.split("=", 1) for pair in line.split("|")[1:])
            for line in re.findall(r"^LINE(.*)$", text, re.M)]


def discover(sim, before="", after=""):
    """@returns the lines as dicts"""
    got = run(sim, "init\n" + before + LINES + after)
    assert got.ok, got.text + sim.said()
    return lines(got.text)


def at(found, address):
    here = [line for line in found if line.get("address") == address]
    assert len(here) == 1, found
    return here[0]


@pytest.mark.parametrize("transport", ["swd", "jtag"])
@pytest.mark.parametrize("target", MTB)
def test_components(target, transport):
    with one_probe(target, transport) as sim:
        found = discover(sim)
    assert found[0]["ap"] == "0" and found[0]["type"] in ("AHB3-AP", "AHB5-AP")
    mtb = at(found, MTB[target])
    assert (mtb["name"], mtb["state"], mtb["depth"]) == ("MTB", "ok", "1")
    assert mtb["part"] == {"cortex-m0plus": "0x932", "cortex-m33": "0xd21"}[target]
    assert mtb["designer"] == "ARM Ltd" and mtb["devarch"] == "0x47700a31" and mtb["devtype"] == "0x31"
    for address, name in CORE.items():
        assert at(found, address)["name"] == name
    assert at(found, "0xe00ff000")["name"] == "ROM table"
    assert at(found, "0xe000e000")["depth"] == str(int(at(found, "0xe00ff000")["depth"]) + 1)
    assert found[-1]["mem-aps"] == "1" and found[-1]["unreadable"] == "0"
    assert found[-1]["looked-at"] == "AP 0 to 8"
    assert int(found[-1]["components"]) == len([line for line in found if line.get("name", "ROM table") != "ROM table"])


def test_depth_is_seen():
    with one_probe("cortex-m0plus") as sim:
        printed = run(sim, "init\necho [coresight discover chip.dap]").text
    assert re.search(r"^ap 0  address 0xf0002000  depth 0 .*\n  ap 0  address 0xf0000000  depth 1 ", printed, re.M), printed
    assert re.search(r"^    ap 0  address 0xe000e000  depth 2 ", printed, re.M), printed


@pytest.mark.parametrize("target", MTB)
def test_mtb_absent(target):
    with one_probe(target, mtb_absent=True) as sim:
        found = discover(sim)
    assert not [line for line in found if line.get("name") == "MTB"]
    if target == "cortex-m33":
        slot = at(found, "0xe0043000")
        assert slot["state"] == "absent" and "part" not in slot and "not present" in slot["note"]


@pytest.mark.parametrize("target,base", [("cortex-m0plus", "0x41006000"), ("cortex-m33", "0xe0044000")])
def test_mtb_elsewhere(target, base):
    with one_probe(target, mtb_base=base) as sim:
        assert at(discover(sim), base)["name"] == "MTB"


def test_running_core_and_nothing_changes():
    """Only reads, with the core running: no halt, no register of the chip is another one."""
    watched = [0xf0000000, 0xf0000004, 0xf0000008, 0xf0001020, 0xf0001028, 0xf0001200, 0xe0001020, 0xe0001028, 0xe000edfc]
    with one_probe("cortex-m0plus") as sim:
        look = "foreach reg {%s} { echo \"WHEN $reg [read_memory $reg 32 1]\" }\n" % " ".join(map(hex, watched))
        got = run(sim, "init\nhalt\nresume\nset halts [dict get [sim counters] halts]\n"
                  + look.replace("WHEN", "before") + "coresight discover chip.dap\n" + look.replace("WHEN", "after")
                  + "echo \"halts [expr {[dict get [sim counters] halts] - $halts}] [chip.cpu curstate]\"")
    assert got.ok, got.text
    before, after = (re.findall(r"^%s (.*)$" % when, got.text, re.M) for when in ("before", "after"))
    assert len(before) == len(watched) and before == after
    assert "halts 0 running" in got.text


@pytest.mark.parametrize("transport", ["swd", "jtag"])
def test_unreadable_goes_on(transport):
    """Something cannot be reached for a while: it is named, and what comes next is found all the same."""
    with one_probe("cortex-m0plus", transport) as sim:
        found = discover(sim, before="poll off\nsim fault sleep 400 when accesses 30\n")
        clean = discover(sim)
    bad = [line for line in found if line.get("state") == "unreadable"]
    assert bad and len(bad) < 4 and all("access fails" in line["note"] for line in bad), found
    assert found[-1]["unreadable"] == str(len(bad)) and clean[-1]["unreadable"] == "0"
    assert found[-2]["state"] == "ok" and len(found) == len(clean)


@pytest.mark.parametrize("fault", ["swd-wait", "swd-fault", "swd-parity"])
def test_wire_faults(fault):
    """What goes wrong once on the wire, anywhere, costs nothing: reads are repeated."""
    with one_probe("cortex-m33") as sim:
        for number in range(40, 160, 24):
            found = discover(sim, before="sim fault %s when transactions %d\n" % (fault, number))
            assert found[-1]["unreadable"] == "0" and at(found, "0xe0043000")["name"] == "MTB", number


def test_sleeping_chip():
    """Nothing behind the port answers: a line says so, and the command ends."""
    with one_probe("cortex-m33") as sim:
        found = discover(sim, before="poll off\nsim fault sleep when accesses 1\n")
    assert found[1]["state"] == "unreadable" and found[1]["address"] == "0xe00ff000"
    assert found[-1]["components"] == "0"


def test_link_lost():
    """The probe goes away: an error, behind what was found until then."""
    with one_probe("cortex-m33") as sim:
        got = run(sim, "init\npoll off\nsim fault disconnect when accesses 60\n"
                  "if {[catch {coresight discover chip.dap} text]} { echo \"SAID $text\" }\n")
    assert "SAID ap 0  type {AHB5-AP}" in got.text, got.text
    assert re.search(r"^chip.dap: AP 0 does not answer any more", got.text, re.M), got.text


def test_wrong_use():
    with one_probe("cortex-m33") as sim:
        got = run(sim, """
			foreach command {{coresight discover chip.dap} {coresight discover}} {
				catch $command text; echo "before init: $text"
			}
			init
			foreach command {{coresight discover nodap} {coresight discover chip.cpu} {coresight discover}
					{coresight discover chip.dap -make} {coresight discover chip.dap -create more}} {
				if {[catch $command text]} { echo "error: $text" } else { echo "accepted: $command" }
			}
			foreach name {nodap "no\\ndap"} { catch {coresight discover $name} text; echo "<$text>" }
		""")
    assert got.ok, got.text
    assert "accepted" not in got.text
    assert "nodap: there is no DAP of this name" in got.text
    for name in ("nodap", "no?dap"):
        assert "<%s: there is no DAP of this name; 'dap names' lists them>" % name in got.text, got.text
    assert "chip.cpu: there is no DAP of this name" in got.text


# ---- -create ----

# Each line as above, then what the object says.
CREATE = LINES.replace("coresight discover chip.dap", "coresight discover chip.dap -create")


@pytest.mark.parametrize("transport", ["swd", "jtag"])
@pytest.mark.parametrize("target", MTB)
def test_create(target, transport):
    buffer = {"cortex-m0plus": "0x20001800", "cortex-m33": "0x2000a000"}[target]
    with one_probe(target, transport) as sim:
        got = run(sim, "init\nhalt\n" + CREATE + """
			echo "base [chip.cpu.mtb cget -baseaddr] [chip.cpu.mtb cget -target]"
			chip.cpu.mtb configure -buffer %s 0x400
			chip.cpu.mtb start; resume; after 20; halt; chip.cpu.mtb stop
			echo "packets [llength [split [chip.cpu.mtb decode -format packets] "\\n"]]"
		""" % buffer)
        assert got.ok, got.text
    assert at(lines(got.text), MTB[target])["object"] == "chip.cpu.mtb"
    assert len([line for line in lines(got.text) if "object" in line]) == 1
    base, owner = re.search(r"^base (\S+) (\S+)$", got.text, re.M).groups()
    assert (int(base, 0), owner) == (int(MTB[target], 0), "chip.cpu")
    assert int(re.search(r"^packets (\d+)$", got.text, re.M).group(1)) > 10


def test_create_twice():
    with one_probe("cortex-m33") as sim:
        got = run(sim, "init\n" + CREATE + CREATE)
        assert got.ok, got.text
    mtbs = [line for line in lines(got.text) if line.get("name") == "MTB"]
    assert mtbs[0]["object"] == "chip.cpu.mtb"
    assert "object" not in mtbs[1] and "chip.cpu.mtb is a command already" in mtbs[1]["note"]


def test_create_without_an_mtb_or_a_core():
    with one_probe("cortex-m33", mtb_absent=True) as sim:
        got = run(sim, "init\n" + CREATE + "echo \"exists [llength [info commands chip.cpu.mtb]]\"")
        assert got.ok and "exists 0" in got.text, got.text
        assert not [line for line in lines(got.text) if "object" in line]
    with one_probe("cortex-m33") as sim:
        config = [part.replace("target create chip.cpu cortex_m", "target create chip.cpu mem_ap")
                  .replace("; cortex_m reset_config sysresetreq", "") for part in probe.CONFIGS[sim.config]]
        got = sim.openocd("init\n" + CREATE, openocd=OPENOCD, config=config)
        assert got.ok, got.text
    assert "no examined cortex_m target" in at(lines(got.text), "0xe0043000")["note"]
