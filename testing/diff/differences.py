# SPDX-License-Identifier: GPL-2.0-or-later
"""
Lines in which our listings of the given snapshots differ from OpenCSD 1.5.2's, each with its reason.

Every entry must really occur: an entry that no longer explains a difference is an error, and so is a difference that no
entry explains.
"""

from collections import namedtuple

# snapshot, listing: where; ours, theirs: patterns (re.fullmatch) of the differing lines, None where one side has none
Difference = namedtuple("Difference", "snapshot listing ours theirs reason")

END = r"Idx:%s; ID:%s; OCSD_GEN_TRC_ELEM_EO_TRACE\( \[%s\]\)"


def _unused_id(trace_id):
    return Difference(
        "etmv4/juno-uname-002-ovf", "expected.elems.txt", None, END % (0, trace_id, "end-of-trace"),
        "OpenCSD makes a decoder for each source of the snapshot, and each says that its trace has ended; we decode the "
        "trace IDs that carry bytes, and this one carries none.")


DIFFERENCES = [
    Difference(
        "ete/ete-wfet", "expected.elems.txt", END % (0, 1, "end-of-trace"), END % (150, 1, "end-of-trace"),
        "The second buffer is empty. OpenCSD goes on counting from the last packet of the first one; the end of an empty "
        "buffer is at its byte 0."),
    Difference(
        "ete/ete_spec_2", "expected.elems.txt", None,
        r"Idx:166; ID:1; OCSD_GEN_TRC_ELEM_INSTR_RANGE\(exec range=0x2709c:\[0x270a0\] .*",
        "Atoms behind an exception whose handler's address was not sent. OpenCSD goes on at the return address; what ran is not in "
        "the trace, and we report a gap (no address)."),
    Difference(
        "ete/ete_ip", "expected.elems.txt", None,
        r"Idx:282; ID:2; OCSD_GEN_TRC_ELEM_INSTR_RANGE\(exec range=0x1aa948:\[0x1b37f4\] num_i\(9131\) .*",
        "An indirect return, then an exception whose return address is elsewhere: where the return went is not in the trace. "
        "OpenCSD runs on behind the return, through 36 KB of code that did not run; we report a gap (no address)."),
    Difference(
        "ete/ete_ip", "expected.elems.src_addr_n.txt", None,
        r"Idx:282; ID:2; OCSD_GEN_TRC_ELEM_INSTR_RANGE\(exec range=0x1aa948:\[0x1b37f4\] num_i\(9131\) .*",
        "As in expected.elems.txt."),
    Difference(
        "etmv4/juno-uname-002-ovf", "expected.elems.txt", END % (8188, 16, "overflow"), END % (8188, 16, "end-of-trace"),
        "The trace ends after an overflow, in the middle of a packet. OpenCSD takes the cut packet for an error, and "
        "forgets the overflow over it; that tracing had not resumed is still true."),
    _unused_id("10"),
    _unused_id("12"),
    _unused_id("14"),
    _unused_id("18"),
    _unused_id("1a"),
]
