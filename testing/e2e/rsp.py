# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests: a small GDB (remote serial protocol) and a client of OpenOCD's Tcl port, both on TCP of this namespace.

    client = rsp.Rsp(3333)
    client.command("?")              # b"T05..."
    client.monitor("targets")        # what OpenOCD printed; client.stops has stop replies that came meanwhile

    said = rsp.with_gdb(sim, sim.openocd_command("init"), 'check("stands", gdb.command("?")[:1] == b"T")', "log")
"""

import binascii
import os
import socket
import subprocess
import sys
import time

TIMEOUT = 60
GDB_PORT = 3333
TCL_PORT = 6666

CLIENT = """
import sys, time
sys.path.insert(0, {here!r})
import rsp
tcl = rsp.Tcl(rsp.TCL_PORT)
gdb = rsp.Rsp(rsp.GDB_PORT)
check = rsp.check
gdb.command("qSupported:qXfer:features:read+")
check("stopped by connecting", gdb.command("?")[:1] in (b"T", b"S"))
{session}
print("FINE")
"""


def check(what, good=True):
    """In a client: end with a word of what is wrong."""
    if not good:
        print("WRONG", what)
        sys.exit(1)


def _serves(command):
    """Ports are opened, and what runs its script to the end and leaves stays."""
    at = command.index("gdb_port disabled; tcl_port disabled; telnet_port disabled")
    command[at] = "tcl_port %d; gdb_port %d; telnet_port disabled" % (TCL_PORT, GDB_PORT)
    with open(command[-1], "r+", encoding="utf-8") as file:
        text = file.read()
        assert text.endswith("\nexit\n"), text
        file.seek(0)
        file.truncate()
        file.write(text[:-len("exit\n")])
    return command


def with_gdb(sim, command, session, log):
    """OpenOCD as a server on the probe.Probe @a sim, with GDB and a Tcl client connected to it in the same namespace.

    @param command as sim.openocd_command() made it; its script runs first
    @param session Python text, with `gdb` (Rsp), `tcl` (Tcl) and `check`
    @param log file for what OpenOCD says
    Returns what OpenOCD has said; fails when a check() does.
    """
    command = sim.namespace.inside(_serves(command))
    text = CLIENT.format(here=os.path.dirname(os.path.abspath(__file__)), session=session)
    client = sim.namespace.inside([sys.executable, "-c", text])
    for _ in range(5):
        with open(log, "w", encoding="utf-8") as file:
            server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                      cwd=sim.path)
            try:
                done = subprocess.run(client, timeout=2 * TIMEOUT, check=False, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, universal_newlines=True)
            finally:
                server.terminate()
                server.wait(20)
        with open(log, encoding="utf-8") as file:
            said = file.read()
        # see Probe.openocd()
        if "No J-Link device found" not in said:
            break
    assert done.stdout == "FINE\n", done.stdout + said
    return said


def connect(port):
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            channel = socket.create_connection(("127.0.0.1", port), TIMEOUT)
            channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return channel
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


class Rsp:
    """No escapes: nothing here is binary. No acknowledges: OpenOCD would wait for them while nobody reads here."""

    def __init__(self, port):
        self.channel = connect(port)
        self.data = b""
        self.stops = []
        assert self.command("QStartNoAckMode") == b"OK"
        self.channel.sendall(b"+")

    def _more(self, timeout):
        self.channel.settimeout(timeout)
        try:
            got = self.channel.recv(65536)
        except socket.timeout:
            return False
        if not got:
            raise ConnectionError("OpenOCD hung up")
        self.data += got
        return True

    def packet(self, timeout=TIMEOUT):
        """The next packet, None: there is none in that time."""
        while True:
            start = self.data.find(b"$")
            end = self.data.find(b"#", start)
            if start >= 0 and 0 <= end < len(self.data) - 2:
                body = self.data[start + 1:end]
                assert sum(body) & 255 == int(self.data[end + 1:end + 3], 16), body
                self.data = self.data[end + 3:]
                return body
            if not self._more(timeout):
                return None

    def wait_stop(self, timeout=TIMEOUT):
        """The next packet that is not console output: a stop reply. None: there is none in that time."""
        while True:
            got = self.packet(timeout)
            if got is None or not got.startswith(b"O"):
                return got

    def send(self, text):
        body = text.encode()
        self.channel.sendall(b"$%s#%02x" % (body, sum(body) & 255))

    def command(self, text):
        """Send and return the answer. Console output goes by."""
        self.send(text)
        while True:
            answer = self.packet()
            if answer is None:
                raise TimeoutError(text)
            if not (answer.startswith(b"O") and answer != b"OK"):
                return answer

    def monitor(self, command):
        """`monitor command`: its output. Stop replies on the way are noted."""
        self.send("qRcmd," + binascii.hexlify(command.encode()).decode())
        text = b""
        while True:
            answer = self.packet()
            if answer is None:
                raise TimeoutError(command)
            if answer[:1] in (b"T", b"S", b"W", b"X"):
                self.stops.append(answer)
            elif answer.startswith(b"O") and answer != b"OK":
                text += binascii.unhexlify(answer[1:])
            else:
                if answer not in (b"OK", b"") and answer[:1] != b"E":
                    text += binascii.unhexlify(answer)
                return text.decode()

    def quiet(self, seconds):
        """Whether no stop reply comes in that time; console output may."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            got = self.packet(max(end - time.monotonic(), 0.01))
            if got is not None and not got.startswith(b"O"):
                self.stops.append(got)
        return not self.stops

    def interrupt(self):
        self.channel.sendall(b"\x03")


class Tcl:
    """OpenOCD's Tcl port."""

    def __init__(self, port):
        self.channel = connect(port)

    def command(self, text):
        self.channel.sendall(text.encode() + b"\x1a")
        self.channel.settimeout(TIMEOUT)
        answer = b""
        while not answer.endswith(b"\x1a"):
            got = self.channel.recv(65536)
            if not got:
                raise ConnectionError("OpenOCD hung up")
            answer += got
        return answer[:-1].decode()
