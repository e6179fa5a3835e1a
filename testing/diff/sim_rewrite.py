# SPDX-License-Identifier: GPL-2.0-or-later
"""
Rewrites packets that OpenCSD 1.3.3 does not understand into ones of the same meaning that it does, so that it can be a
witness for them too. Packet boundaries come from its own packet listing.
"""

import pathlib
import re
import subprocess

PACKET = re.compile(r"Idx:(\d+); ID:[0-9a-f]+;\t(I_\w+) : (.*)")


def list_packets(directory):
    """(name, description, bytes) of each packet of a raw snapshot."""
    text = subprocess.run(["trc_pkt_lister", "-ss_dir", ".", "-logstdout"], cwd=directory, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False).stdout.decode("latin-1")
    data = pathlib.Path(directory, "trace.bin").read_bytes()
    found = [(int(m[1]), m[2], m[3]) for m in PACKET.finditer(text)]
    ends = [index for index, _, _ in found[1:]] + [len(data)]
    return [(name, description, data[index:end]) for (index, name, description), end in zip(found, ends)]


def number(data, at):
    """LE128 number and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        shift += 7
        at += 1
        if not byte & 0x80:
            return value, at


def le128(value):
    """Bytes of a number."""
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7f | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def cycle_count(data, max_depth):
    """Cycle count with commit number (COMMOPT=0) as cycle count without effect on commits, then Commit."""
    head = data[0]
    if head >= 0x10:
        commit, rest = (head >> 2 & 3) + 1, bytes([head & 3])
    elif head >= 0x0e:
        commit, at = number(data, 1)
        rest = data[at:]
    else:
        commit = (data[1] >> 4) + (1 if head == 0x0c else max_depth - 15)
        rest = bytes([data[1] & 15])
    kept = bytes([head if head in (0x0e, 0x0f) else 0x0e, 0]) + rest
    return kept + (b"\x2d" + le128(commit) if commit else b"")


def trace_info(data):
    """Trace Info with speculation depth as one without, followed by atoms that are swallowed: no address is known."""
    plctl, at = data[1], 2
    sections = []
    for bit in range(4):
        if plctl >> bit & 1:
            value, at = number(data, at)
            sections.append((bit, value))
    depth = dict(sections).get(2, 0)
    kept = b"".join(le128(value) for bit, value in sections if bit != 2)
    return bytes([1, plctl & ~4]) + kept + b"\xf6" * depth


def source_address(data):
    """Source address as target address and E atom: equal only where both are cancelled."""
    heads = {0xb0: 0x90, 0xb1: 0x91, 0xb2: 0x92, 0xb4: 0x95, 0xb5: 0x96, 0xb6: 0x9a, 0xb7: 0x9b, 0xb8: 0x9d, 0xb9: 0x9e}
    return bytes([heads[data[0]]]) + data[1:] + b"\xf7"


def long_address(description):
    """64-bit A64 address packet of the address that a listing line tells."""
    address = int(re.search(r"Addr=0x([0-9A-F]+)", description)[1], 16)
    return bytes([0x9d, address >> 2 & 0x7f, address >> 9 & 0x7f]) + (address >> 16).to_bytes(6, "little")


class Rewriter:
    """Goes through the packets of one stream."""

    def __init__(self, directory):
        self.directory = directory
        ini = pathlib.Path(directory, "source_0.ini").read_text(encoding="ascii")
        self.max_depth = int(re.search(r"TRCIDR8=(\w+)", ini)[1], 16)
        self.commit_numbers = not int(re.search(r"TRCIDR0=(\w+)", ini)[1], 16) >> 29 & 1
        self.instrumentation = []
        self.first_info = True
        self.q_waits = False

    def packet(self, name, data, following):
        """New bytes of a packet; following describes the next packet if it is an address."""
        if name.startswith("I_CCNT") and self.commit_numbers:
            return cycle_count(data, self.max_depth)
        if name == "I_TRACE_INFO" and self.first_info:
            self.first_info = False
            return trace_info(data)
        if name == "I_EXCEPT" and "Addr=0x00000000FFFFFFFE" in following:
            # E=10: no range before the exception, which is what tail chaining means.
            return data[:1] + bytes([data[1] & ~1 | 0x40]) + data[2:]
        if name == "I_PE_RESET":
            # An exception of an unused type at address 0, without range.
            return b"\x06\x7e\x9d" + bytes(8)
        if name == "I_Q":
            self.q_waits = data[0] in (0xac, 0xaf)
            # A Q loses the next entry of the queue: give it one without meaning.
            return data if self.q_waits else data + b"\x80"
        if self.q_waits and "ADDR" in name:
            self.q_waits = False
            return data + b"\x80"
        return data

    def remove_instrumentation(self):
        """Ignore packets instead of ITE; what follows an unknown packet is misread, so the listing is made anew."""
        trace = pathlib.Path(self.directory, "trace.bin")
        while True:
            at = 0
            for name, _, data in list_packets(self.directory):
                if name == "I_RESERVED" and data[0] == 0x09:
                    break
                at += len(data)
            else:
                return
            whole = bytearray(trace.read_bytes())
            self.instrumentation.append((whole[at + 1], int.from_bytes(whole[at + 2:at + 10], "little")))
            whole[at:at + 10] = b"\x70" * 10
            trace.write_bytes(bytes(whole))

    def run(self, drop=(), cancelled_sources=False):
        """Rewrite in place; the number of packets changed."""
        self.remove_instrumentation()
        packets = list_packets(self.directory)
        result = bytearray()
        changed = len(self.instrumentation)
        for i, (name, _, data) in enumerate(packets):
            # The address of an exception may have a context before it.
            following = next((text for kind, text, _ in packets[i + 1:i + 3] if "ADDR" in kind), "")
            new = self.packet(name, data, following)
            if name in drop:
                new = b""
            elif cancelled_sources and name.startswith(("I_SRC_ADDR", "I_SCR_ADDR")):
                new = source_address(data)
            changed += new != data
            result += new
        pathlib.Path(self.directory, "trace.bin").write_bytes(bytes(result))
        return changed


def drop_from_log(directory, kind):
    """Take the entries of a kind out of the log of a snapshot; returns them."""
    path = pathlib.Path(directory, "truth.log")
    lines = path.read_text(encoding="ascii").splitlines(True)
    path.write_text("".join(line for line in lines if line[0] != kind), encoding="ascii")
    return [line.split() for line in lines if line[0] == kind]


def rewrite(directory):
    """Rewrite the trace of a snapshot; the number of packets changed."""
    rewriter = Rewriter(directory)
    changed = rewriter.run()
    logged = [(int(el), int(value, 16)) for _, el, value in drop_from_log(directory, "W")]
    # All instrumentation must have been logged with its values; its place among the other entries is not witnessed.
    assert logged == rewriter.instrumentation
    return changed


def rewrite_cancelled_sources(directory):
    """As rewrite(), for streams that have source addresses on cancelled paths only."""
    return Rewriter(directory).run(cancelled_sources=True)


def rewrite_target_exceptions(directory):
    """
    A64: exceptions with E=10 as address packet and exception with E=01. As this changes the address history, addresses
    told by it are told in full.
    """
    packets = list_packets(directory)
    result = bytearray()
    changed = 0
    for i, (name, description, data) in enumerate(packets):
        new = data
        if name == "I_EXCEPT" and data[1] & 0x41 == 0x40:
            following = next(text for kind, text, _ in packets[i + 1:i + 3] if "ADDR" in kind)
            new = long_address(following) + data[:1] + bytes([data[1] & ~0x40 | 1]) + data[2:]
            changed += 1
        elif name == "I_ADDR_MATCH":
            new = long_address(description)
        result += new
    pathlib.Path(directory, "trace.bin").write_bytes(bytes(result))
    return changed


def drop_events(directory):
    """As rewrite(), without events in trace and log."""
    drop_from_log(directory, "E")
    return Rewriter(directory).run(drop=("I_EVENT",))
