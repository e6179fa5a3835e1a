# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a truth log of ete_sim with the element listing of OpenCSD's trc_pkt_lister."""

import collections
import pathlib
import re
import subprocess

ELEMENT = re.compile(r"Idx:(\d+); ID:([0-9a-f]+); OCSD_GEN_TRC_ELEM_(\w+)\((.*)\)\s*$", re.M)
RANGE = re.compile(r"exec range=0x([0-9a-f]+):\[0x([0-9a-f]+)\] num_i\((\d+)\) last_sz\((\d+)\) \(ISA=(\w+)\) ([EN])")
EXCEPTION = re.compile(r"(?:pref ret addr:0x([0-9a-f]+).*; )?excep num \(0x([0-9a-f]+)\)")
CONTEXT = re.compile(r"(?:\(ISA=\w+\) )?(?:EL(\d))?(S|N|Root|Realm); (32|64)-bit; (?:VMID=0x([0-9a-f]+); )?"
                     r"(?:CTXTID=0x([0-9a-f]+); )?")
TIMESTAMP = re.compile(r" \[ TS=0x([0-9a-f]+)\]; (?: \[CC=(\d+)\]; )?")
SECURITY = {"S": "s", "N": "ns", "Root": "root", "Realm": "realm"}
FRAMING_OPTIONS = {"tpiu": ["-tpiu"], "tpiu_hsync": ["-tpiu_hsync"], "dstream": ["-dstream_format"]}


class Difference(Exception):
    """First point where log and listing disagree."""


def run_lister(directory, framing="raw", packets=False):
    """Element listing (with packets too on request) of a snapshot directory."""
    command = ["trc_pkt_lister", "-ss_dir", ".", "-decode", "-logstdout"]
    command += [] if packets else ["-decode_only"]
    command += FRAMING_OPTIONS.get(framing, [])
    # In the snapshot's directory, because it leaves a log file where it runs.
    done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                          check=False)
    return done.stdout.decode("latin-1"), done.returncode


def read_elements(text):
    """(index, id, type, text) of each element line."""
    return [(int(m[1]), int(m[2], 16), m[3], m[4]) for m in ELEMENT.finditer(text)]


def read_truth(path):
    """Entries of a truth log as tuples of strings."""
    with open(path, encoding="ascii") as log:
        return [tuple(line.split()) for line in log]


class Comparison:
    """Walks through the elements and the log side by side."""

    def __init__(self, truth, elements, v8m_returns=False):
        self.v8m_returns = v8m_returns
        self.lost_returns = 0
        self.truth = truth
        self.elements = elements
        self.at = 0
        self.after_loss = False
        self.overflowed = False
        self.counts = {}

    def where(self, index, text):
        context = [" ".join(entry) for entry in self.truth[max(0, self.at - 3):self.at + 3]]
        return f"Idx {index}: {text}; log line {self.at + 1}, around it: {context}"

    def expect(self, index, kind, text):
        if self.at >= len(self.truth) or self.truth[self.at][0] != kind:
            raise Difference(self.where(index, f"{kind} not expected: {text}"))
        entry = self.truth[self.at]
        self.at += 1
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return entry

    def check(self, index, condition, text):
        if not condition:
            self.at -= 1
            raise Difference(self.where(index, text))

    def instr_range(self, index, text):
        match = RANGE.match(text)
        start, end, count, size = int(match[1], 16), int(match[2], 16), int(match[3]), int(match[4])
        isa = match[5].lower()
        fixed = isa != "t32"
        for i in range(count):
            entry = self.expect(index, "I", text)
            pc = int(entry[1], 16)
            self.check(index, entry[2] == isa, f"ISA: {text}")
            if fixed or i == 0:
                self.check(index, pc == start + 4 * i, f"PC {i}: {text}")
            if i == count - 1:
                self.check(index, pc + size == end, f"end: {text}")

    def exception(self, index, text):
        match = EXCEPTION.search(text)
        entry = self.expect(index, "X", text)
        if entry == ("X", "0", "-") and match[2] == "1f" and match[1] == "0":
            return  # how sim_rewrite.py writes a PE Reset
        self.check(index, int(entry[1], 16) == int(match[2], 16), f"type: {text}")
        if entry[2] == "-":
            # E=10 is how sim_rewrite.py writes a tail chained exception.
            rewritten = match[1] == "fffffffe" and "addr also prev br tgt" in text
            self.check(index, match[1] is None or rewritten, f"no return address: {text}")
        else:
            self.check(index, match[1] is not None and int(match[1], 16) == int(entry[2], 16),
                       f"return address: {text}")

    def pe_context(self, index, text):
        match = CONTEXT.match(text)
        entry = self.expect(index, "C", text)
        self.check(index, match is not None, f"form: {text}")
        self.check(index, match[1] is None or match[1] == entry[1], f"EL: {text}")
        self.check(index, SECURITY[match[2]] == entry[2], f"security: {text}")
        for value, field, name in ((match[5], entry[3], "CID"), (match[4], entry[4], "VMID")):
            same = (value is None) == (field == "-") and (value is None or int(value, 16) == int(field, 16))
            self.check(index, same, f"{name}: {text}")
        self.check(index, match[3] == entry[5], f"width: {text}")

    def timestamp(self, index, text):
        match = TIMESTAMP.match(text)
        entry = self.expect(index, "T", text)
        self.check(index, int(match[1], 16) == int(entry[1], 16), f"value: {text}")
        if match[2] is not None:
            # OpenCSD prints 0 where the packet had no count.
            self.check(index, int(match[2]) == (0 if entry[2] == "-" else int(entry[2])), f"CC: {text}")
        else:
            self.check(index, entry[2] == "-", f"CC missing: {text}")

    def cycle_count(self, index, text):
        entry = self.expect(index, "K", text)
        value = int(re.search(r"CC=(\d+)", text)[1])
        # OpenCSD prints 0 for an unknown count.
        self.check(index, value == (0 if entry[1] == "-" else int(entry[1])), f"count: {text}")

    def gap(self, index, kind, text):
        if kind == "TRACE_ON":
            self.overflowed = False
            if self.after_loss:
                self.after_loss = False
                return
            entry = self.expect(index, "G", text)
            self.check(index, entry[1] in ("begin", "filter"), f"reason: {text}")
            return
        reason = text.strip(" []")
        if reason in ("init-decoder", "reset-decoder"):
            return
        entry = self.expect(index, "G", text)
        # OpenCSD names an overflow until a Trace On has been committed.
        self.overflowed = reason == "overflow" and (self.overflowed or entry[1] == "overflow")
        self.check(index, entry[1] == reason or self.overflowed, f"reason: {text}")
        self.after_loss = True

    def no_path(self, index, text):
        match = re.match(r"first 0x([0-9a-f]+):\[next 0x([0-9a-f]+)\] num_i\((\d+)\)", text)
        entry = self.expect(index, "Q", text)
        got = (int(match[3]), int(match[1], 16), int(match[2], 16))
        self.check(index, got == (int(entry[1]), int(entry[2], 16), int(entry[3], 16)), f"Q: {text}")

    def element(self, index, kind, text):
        if kind == "INSTR_RANGE":
            self.instr_range(index, text)
        elif kind == "EXCEPTION":
            self.exception(index, text)
        elif kind == "EXCEPTION_RET":
            self.expect(index, "R", text)
        elif kind == "PE_CONTEXT":
            self.pe_context(index, text)
        elif kind == "TIMESTAMP":
            self.timestamp(index, text)
        elif kind == "CYCLE_COUNT":
            self.cycle_count(index, text)
        elif kind == "EVENT":
            entry = self.expect(index, "E", text)
            self.check(index, int(re.search(r":(\d+)", text)[1]) == int(entry[1], 16), f"event: {text}")
        elif kind == "SYNC_MARKER":
            self.expect(index, "S", text)
        elif kind == "MEMTRANS":
            entry = self.expect(index, "M", text)
            self.check(index, text.strip().lower() == entry[1], f"transaction: {text}")
        elif kind == "I_RANGE_NOPATH":
            self.no_path(index, text)
        elif kind in ("TRACE_ON", "NO_SYNC"):
            self.gap(index, kind, text)
        elif kind != "EO_TRACE":
            raise Difference(self.where(index, f"unexpected {kind}: {text}"))

    def skip_silent(self):
        """Function returns have no element in OpenCSD."""
        while self.at < len(self.truth) and self.truth[self.at][0] == "F":
            self.at += 1
            self.counts["F"] = self.counts.get("F", 0) + 1

    def lose_v8m_return(self):
        """
        OpenCSD takes exception returns of Armv8-M for non-P0: it drops one that is the last before a discard, or the
        end, and there all that is behind it. Not an excuse for one that is lost in the middle: only times, counts and
        events may stand between R and G or the end.
        """
        at = self.at
        if not self.v8m_returns or at >= len(self.truth) or self.truth[at][0] != "R":
            return
        while at + 1 < len(self.truth) and self.truth[at + 1][0] in "TKESW":
            at += 1
        if at + 1 == len(self.truth):
            self.at = at + 1
            self.lost_returns += 1
        elif self.truth[at + 1][0] == "G":
            self.at += 1
            self.lost_returns += 1

    def run(self):
        for index, _, kind, text in self.elements:
            self.skip_silent()
            if kind not in ("EXCEPTION_RET", "EO_TRACE"):
                self.lose_v8m_return()
            self.element(index, kind, text)
        self.skip_silent()
        self.lose_v8m_return()
        if self.at < len(self.truth):
            raise Difference(self.where(-1, "listing ends early"))
        return self.counts


def compare(truth, elements, v8m_returns=False):
    """Counts of what was compared, by kind of log entry; raises Difference."""
    comparison = Comparison(truth, elements, v8m_returns)
    counts = comparison.run()
    if comparison.lost_returns:
        counts["lost v8-M R"] = comparison.lost_returns
    return counts


def logs_of(directory):
    """(trace ID or None, path) of each truth log of a snapshot."""
    result = []
    for path in sorted(pathlib.Path(directory).glob("truth*.log")):
        parts = path.name.split(".")
        result.append((int(parts[1], 16) if len(parts) == 3 else None, path))
    return result


def compare_directory(directory, framing="raw"):
    """Run the lister and compare all logs of a snapshot: (Counter of entries, list of differences)."""
    text, status = run_lister(directory, framing)
    elements = read_elements(text)
    v8m = "ARMv8-M" in pathlib.Path(directory, "cpu_0.ini").read_text(encoding="ascii")
    counts = collections.Counter()
    differences = []
    for trace_id, path in logs_of(directory):
        own = [e for e in elements if trace_id is None or e[1] == trace_id]
        try:
            counts.update(compare(read_truth(path), own, v8m))
        except Difference as difference:
            differences.append(f"{path}: {difference}" + (f" (lister died: {status})" if status else ""))
    if status and not differences:
        differences.append(f"{directory}: lister died: {status}")
    return counts, differences
