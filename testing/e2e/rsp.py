# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests: a small GDB (remote serial protocol) and a client of OpenOCD's Tcl port, both on TCP of this namespace.

    client = rsp.Rsp(3333)
    client.command("?")              # b"T05..."
    client.monitor("targets")        # what OpenOCD printed; client.stops has stop replies that came meanwhile
"""

import binascii
import socket
import time

TIMEOUT = 60


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
