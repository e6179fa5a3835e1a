# SPDX-License-Identifier: GPL-2.0-or-later
"""
Streams of ete_sim, decoded by Debian's trc_pkt_lister (OpenCSD 1.3.3) and held against their truth logs: a witness that
the encoder, from which decoder tests get their expectations, says what others understand.

LONG=1 runs ten times as many programs. SIM_BUILD names the build directory of the simulator.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import sim_rewrite
import sim_witness

HERE = pathlib.Path(__file__).resolve().parent
SIM = HERE.parent / "sim"
BUILD = pathlib.Path(os.environ.get("SIM_BUILD", HERE.parent.parent / "build" / "sim"))
LONG = os.environ.get("LONG") == "1"
PROGRAMS = 200 if LONG else 20
# Faults need fewer to show.
FAULT_PROGRAMS = 100 if LONG else 20

pytestmark = pytest.mark.skipif(not shutil.which("trc_pkt_lister"), reason="trc_pkt_lister (libopencsd-bin) is missing")

# name: (isa, protocol, features, framing, ids, entries of which there must be some)
CASES = {
    "a64": ("a64", "ete", "none", "raw", 1, "IGC"),
    "a64 etmv4": ("a64", "etmv4", "irq,svc", "raw", 1, "IXR"),
    "a64 pointer authentication": ("a64", "ete", "pauth,isb", "raw", 1, "I"),
    "a64 exceptions": ("a64", "ete", "irq,svc,isb,wfx", "raw", 1, "IXR"),
    "a64 exceptions at branches": ("a64", "ete", "irq_storm,ctx", "raw", 1, "IXR"),
    "a64 high addresses": ("a64", "ete", "high,irq,sync", "raw", 1, "IX"),
    "a64 long blocks": ("a64", "ete", "straight,irq", "raw", 1, "IX"),
    "a32": ("a32", "etmv4", "irq,svc,isb,wfx", "raw", 1, "IXR"),
    "a32 ete": ("a32", "ete", "irq,svc", "raw", 1, "IX"),
    "t32": ("t32", "etmv4", "irq,svc,isb,wfx", "raw", 1, "IXR"),
    "t32 ete": ("t32", "ete", "irq,svc", "raw", 1, "IX"),
    "a32 and t32": ("a32", "etmv4", "mix,irq,svc,ctx", "raw", 1, "IXRC"),
    "a32, a64 handlers": ("a32", "ete", "el64,irq,svc,ctx,mix", "raw", 1, "IXRC"),
    "t32, a64 handlers above 4 GB": ("t32", "etmv4", "el64,high,irq,svc,rs", "raw", 1, "IXRC"),
    "t32 and a32, return stack": ("t32", "ete", "mix,rs,irq", "raw", 1, "IX"),
    "m profile": ("m", "etmv4", "irq,svc,isb,wfx,ctx", "raw", 1, "IXRC"),
    "m profile function return": ("m", "etmv4", "fnret", "raw", 1, "IF"),
    "return stack": ("a64", "ete", "rs,irq,sync,filter", "raw", 1, "IXG"),
    "return stack m profile": ("m", "etmv4", "rs,irq_storm,svc", "raw", 1, "IXR"),
    "branch broadcast": ("a64", "ete", "bb", "raw", 1, "I"),
    "context id and vmid": ("a64", "ete", "ctx,irq,filter", "raw", 1, "IC"),
    "context id and vmid etmv4": ("t32", "etmv4", "ctx,sync", "raw", 1, "IC"),
    "cycle counts commopt 0": ("a64", "ete", "cc,irq", "raw", 1, "IK"),
    "cycle counts commopt 1": ("a64", "ete", "commopt,irq", "raw", 1, "IK"),
    "cycle counts commopt 1, speculation": ("a64", "ete", "commopt,spec", "raw", 1, "IK"),
    "timestamps": ("a64", "etmv4", "ts,commopt,sync", "raw", 1, "ITK"),
    "timestamp markers": ("a64", "ete", "tsmark,irq", "raw", 1, "ITS"),
    "speculation": ("a64", "ete", "spec,irq,ts,event", "raw", 1, "IXTE"),
    "speculation t32": ("t32", "etmv4", "spec,rs,mix", "raw", 1, "I"),
    "speculation, uncommitted end": ("a32", "ete", "spec,cut,discard,event", "raw", 1, "IGE"),
    "source addresses": ("a64", "ete", "srcaddr,irq,svc", "raw", 1, "IX"),
    "source addresses t32": ("t32", "ete", "srcaddr,rs", "raw", 1, "I"),
    "q": ("a64", "ete", "q,q_following,irq", "raw", 1, "IQ"),
    "transactions": ("a64", "ete", "tme,irq,filter,overflow", "raw", 1, "IM"),
    "events, ignore, garbage": ("a64", "ete", "event,ignore,garbage", "raw", 1, "IE"),
    "a-sync in the middle": ("a64", "ete", "sync,ts,irq", "raw", 1, "ITC"),
    "filter": ("a64", "ete", "filter,irq", "raw", 1, "IG"),
    "overflow": ("a64", "etmv4", "overflow,ts,irq", "raw", 1, "IGT"),
    "discard": ("a64", "ete", "discard,overflow,ts,spec", "raw", 1, "IGT"),
    "mixture a64": ("a64", "ete", "commopt,ts,ctx,spec,event,ignore,sync,filter,overflow,discard,irq,svc,wfx,isb,pauth,"
                    "tme,garbage,cut", "raw", 1, "IXRGCTKE"),
    "mixture a64, source addresses": ("a64", "ete", "commopt,ts,ctx,spec,event,sync,filter,overflow,discard,irq,svc,"
                                      "wfx,isb,pauth,srcaddr", "raw", 1, "IXRGCTKE"),
    "mixture a64 etmv4": ("a64", "etmv4", "cc,ts,ctx,rs,q,event,ignore,sync,filter,overflow,discard,irq_storm,svc,wfx,"
                          "isb,pauth,high", "raw", 1, "IXRGCTKEQ"),
    "mixture t32": ("t32", "etmv4", "cc,ts,ctx,rs,mix,el64,event,ignore,filter,overflow,discard,irq_storm,svc,wfx,isb",
                    "raw", 1, "IXRGCTKE"),
    "mixture m": ("m", "etmv4", "commopt,ts,ctx,rs,event,ignore,sync,filter,overflow,discard,irq,svc,wfx,isb,fnret",
                  "raw", 1, "IXRGCTKEF"),
    "two ids": ("a64", "ete", "irq,ts", "coresight", 2, "IXT"),
    "five ids t32": ("t32", "etmv4", "irq,sync,commopt", "coresight", 5, "IXK"),
    "fsync": ("a64", "etmv4", "irq,ts", "tpiu", 2, "IXT"),
    "fsync and hsync": ("a32", "etmv4", "irq,sync", "tpiu_hsync", 3, "IX"),
    "dstream": ("a64", "ete", "irq,ts", "dstream", 2, "IXT"),
}

# Faults of OpenCSD 1.3.3: what triggers each, and how its listing then differs. Each row is exercised below: all
# differences must look like the row says, and there must be some.
# name: (isa, protocol, features, pattern of the difference, reason)
FAULTS = {
    "ite": ("a64", "ete", "ite", r"bad-packet", "packet 09 is reserved before OpenCSD 1.4.0: loses synchronisation"),
    "pe reset": ("a64", "ete", "reset", r"bad-packet", "its decoder forgot I_PE_RESET: loses synchronisation"),
    "unseen speculation": ("a64", "ete", "spec,unseen", r"bad-packet|lister died|NACC|PC \d|not expected|ends early",
                           "SPEC of the first Trace Info is not honoured: a commit of unseen elements is an overrun, "
                           "or it commits too much, or dies"),
    "commit in cycle counts": ("a64", "ete", "spec,cc", r"ends early|not expected|PC \d|bad-packet",
                               "commit numbers of cycle count packets are ignored"),
    "q with speculation": ("a64", "ete", "spec,q", r"not expected|PC \d|end:|NACC|bad-pack|ends|Q:|died",
                           "after a Q the next queue entry is lost"),
    "tail chaining": ("m", "etmv4", "chain", r"I not expected|end:|no return address|PC \d",
                      "return address FFFFFFFE is taken for an address: walks to the end of memory"),
    "tail chaining, return stack": ("m", "etmv4", "chain,rs", r"lister died|not expected|end:|no return|PC \d",
                                    "and pops an empty return stack, on which it dies"),
    "return stack, sync, speculation": ("a64", "ete", "spec,rs,sync", r"bad-packet|not expected|PC \d|end:|ends|died",
                                        "Trace Info empties the return stack before older uncommitted returns"),
    "isa of source address": ("t32", "ete", "mix,srcaddr", r"ISA: .* b\+link",
                              "prints the instruction set after a BLX immediate for the range that ends with it"),
    "context alone after BLX": ("t32", "etmv4", "mix,ctx,lone_context", r"ISA:|PC \d|end:|bad-packet|not expected",
                                "a context takes the instruction set from the last address packet, not from the walk"),
    "16 bit instruction at the end": ("m", "etmv4", "tight,svc", r"NACC|ends early|not expected",
                                      "fetches four bytes for every T32 instruction, also where the image ends"),
    "mispredict behind an event": ("a64", "ete", "spec,wrong_event", r"bad-packet|not expected|PC \d|ends early|end:",
                                   "the search for the atom skips it after [atom, address, event]"),
    "cancelled source address": ("a64", "ete", "spec,srcaddr,wrong_source", r"PC \d|not expected|bad-packet|end:|ends",
                                 "a source address is deleted but not counted by a cancel"),
    "uncommitted source address": ("a64", "ete", "srcaddr,spec,cut,commopt,ts", r"[KTE] not expected",
                                   "at the end of trace it does not hold back what comes after it"),
    "source address and returns": ("a64", "ete", "srcaddr,source_return,irq,rs", r"PC \d|not expected|end:|ends|bad-p",
                                   "no pop before a source address, no exception return for an ERET by source address"),
    "exception E=10, return stack": ("a64", "ete", "irq_storm,rs,e10_rs", r"lister died|PC \d|not exp|ends|end:|bad-p",
                                     "pops for a target that the exception packet gives; dies on an empty stack"),
    "exception without target": ("a64", "ete", "irq_storm,bare_exception",
                                 r"I not expected|PC \d|end:|not expected|ISA|return address",
                                 "walks from the stale address to the return address"),
}

# What the faults above leave unwitnessed is decoded once more with the packets in question rewritten (sim_rewrite.py).
# name: (isa, protocol, features, how)
REWRITTEN = {
    "commit in cycle counts": ("a64", "ete", "spec,cc,irq", sim_rewrite.rewrite),
    "commit in cycle counts, discard": ("a32", "etmv4", "spec,cc,discard,ts", sim_rewrite.rewrite),
    "unseen speculation": ("a64", "ete", "spec,unseen,irq", sim_rewrite.rewrite),
    "tail chaining": ("m", "etmv4", "chain,ctx", sim_rewrite.rewrite),
    "pe reset": ("a64", "ete", "reset,irq,sync", sim_rewrite.rewrite),
    "ite": ("a64", "ete", "ite,irq,spec", sim_rewrite.rewrite),
    "q with speculation": ("a64", "ete", "spec,q,irq", sim_rewrite.rewrite),
    "cancelled source address": ("a64", "ete", "spec,wrong_source", sim_rewrite.rewrite_cancelled_sources),
    "mispredict behind an event": ("a64", "ete", "spec,wrong_event", sim_rewrite.drop_events),
    "exception E=10, return stack": ("a64", "ete", "irq_storm,rs,e10_rs", sim_rewrite.rewrite_target_exceptions),
}

COUNTS = collections.OrderedDict()


@pytest.fixture(scope="session", name="ete_sim")
def fixture_ete_sim():
    """The simulator, built."""
    subprocess.run(["make", "-s", "-f", str(SIM / "Makefile.sim"), f"BUILD={BUILD}", "-j2"], check=True)
    return BUILD / "ete_sim"


def run_programs(ete_sim, out, case, count, seed, change=None):
    """Entries compared and differences of a number of random programs; change is called for each directory."""
    isa, protocol, features, framing, ids = case
    subprocess.run([ete_sim, "--out", out, "--isa", isa, "--protocol", protocol, "--features", features, "--framing",
                    framing, "--ids", str(ids), "--seed", str(seed), "--count", str(count)], check=True)
    counts = collections.Counter()
    differences = []
    if change:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            counts["rewritten"] = sum(pool.map(change, out.iterdir()))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(sim_witness.compare_directory, directory, framing) for directory in sorted(out.iterdir())]
        for job in jobs:
            more, different = job.result()
            counts.update(more)
            differences += different
    return counts, differences


@pytest.mark.parametrize("name", CASES)
def test_agrees(ete_sim, tmp_path, name):
    """No difference at all."""
    *case, required = CASES[name]
    counts, differences = run_programs(ete_sim, tmp_path / "out", case, PROGRAMS, 1000)
    COUNTS[name] = (PROGRAMS, counts)
    assert not differences, "\n".join(differences[:5])
    for kind in required:
        assert counts[kind], f"nothing of kind {kind} was compared"


@pytest.mark.parametrize("name", FAULTS)
def test_known_fault(ete_sim, tmp_path, name):
    """Differences that are explained, and do occur."""
    isa, protocol, features, pattern, reason = FAULTS[name]
    case = (isa, protocol, features, "raw", 1)
    counts, differences = run_programs(ete_sim, tmp_path / "out", case, FAULT_PROGRAMS, 2000)
    COUNTS["fault: " + name] = (FAULT_PROGRAMS, counts)
    COUNTS["fault: " + name][1]["faults"] = len(differences)
    assert differences, f"the fault did not show: {reason}"
    for difference in differences:
        assert re.search(pattern, difference), difference


@pytest.mark.parametrize("name", REWRITTEN)
def test_rewritten(ete_sim, tmp_path, name):
    """No difference at all once the packets are rewritten."""
    *case, change = REWRITTEN[name]
    counts, differences = run_programs(ete_sim, tmp_path / "out", (*case, "raw", 1), PROGRAMS, 4000, change)
    COUNTS["rewritten: " + name] = (PROGRAMS, counts)
    assert not differences, "\n".join(differences[:5])
    assert counts["rewritten"]


def test_v8m_return(ete_sim, tmp_path):
    """The one fault that the comparison itself makes allowance for does occur."""
    counts, differences = run_programs(ete_sim, tmp_path / "out", ("m", "etmv4", "irq_storm,discard", "raw", 1),
                                       100, 3000)
    assert not differences, "\n".join(differences[:5])
    assert counts["lost v8-M R"]
    COUNTS["fault: v8-M return before a discard"] = (100, counts)


def test_summary(capsys):
    """Prints what was compared; nothing may have been left out."""
    if len(COUNTS) < len(CASES) + len(FAULTS):
        pytest.skip("only a part was run")
    with capsys.disabled():
        print()
        for name, (programs, counts) in COUNTS.items():
            print(f"{name:38} {programs:4} programs, entries: " +
                  " ".join(f"{kind}={count}" for kind, count in sorted(counts.items())))
    for name in CASES:
        assert COUNTS[name][1]["I"], name
