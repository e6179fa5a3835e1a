# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests: the simulated probe (testing/sim/README.md), OpenOCD in the same network namespace, and raw JTAG.

    with probe.Probe("esp32", "xtensa-profile", rtt=1450) as sim:
        run = sim.openocd("init; halt; reg pc; resume")
        assert run.ok, run.text
        print(sim.control("counters")["stops0"])

Everything that is started ends with the `with` block, whatever happens. A Probe has its own network namespace, so tests
can run at the same time. Files go to a directory of their own (sim.path), which goes away too.
"""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIM = os.path.join(TOP, "testing/sim")
SIM_BUILD = os.environ.get("SIM_BUILD") or os.path.join(TOP, "build/sim")
STOCK_OPENOCD = "/usr/bin/openocd"
BITBANG_PORT = 5555
TIMEOUT = 60

QUIET = ["-c", "gdb_port disabled; tcl_port disabled; telnet_port disabled"]
WIRES = {
    "jlink": ["-c", "adapter driver jlink; adapter serial 123456; adapter speed 10000"],
    "bitbang": ["-c", "adapter driver remote_bitbang; remote_bitbang host localhost; remote_bitbang port %d"
                % BITBANG_PORT],
}
RT600 = ["-c", "transport select jtag", "-f", "target/xtensa.cfg", "-f", "target/xtensa-core-nxp_rt600.cfg"]


def _cortexm(transport, dpidr, work_area):
    """Configuration of a chip with one Cortex-M core (work area: address, size)."""
    if transport == "swd":
        tap = "transport select swd; swd newdap chip cpu -expected-id 0x%08x" % dpidr
    else:
        tap = "transport select jtag; jtag newtap chip cpu -irlen 4 -expected-id 0x4ba00477"
    return ["-c", tap + "; dap create chip.dap -chain-position chip.cpu; target create chip.cpu cortex_m -dap chip.dap "
            "-ap-num 0 -work-area-phys 0x%08x -work-area-size 0x%x; reset_config none; cortex_m reset_config sysresetreq"
            % work_area]


CORTEXM = {"cortex-m0plus": (0x0bc11477, (0x20002000, 0x800)), "cortex-m33": (0x0be12477, (0x2000c000, 0x2000))}

CONFIGS = {
    "esp32": ["-f", "target/esp32.cfg"],
    "esp32-one": ["-c", "set ESP32_ONLYCPU 1", "-f", "target/esp32.cfg"],
    "esp32s2": ["-f", "target/esp32s2.cfg"],
    "esp32s3": ["-f", "target/esp32s3.cfg"],
    # later versions of OpenOCD look for a target of another name in the second file unless told
    "xtensa-jtag": ["-c", "set XTNAME xtensa"] + RT600,
    "xtensa-dap": ["-c", "set XTENSA_DAP 1; set CPUTAPID 0x4ba00477"] + RT600,
}
CONFIGS.update({"%s-%s" % (target, transport): _cortexm(transport, *CORTEXM[target])
                for target in CORTEXM for transport in ("swd", "jtag")})


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)	# PR_SET_PDEATHSIG


def _start(command, **options):
    return subprocess.Popen([str(part) for part in command], preexec_fn=_die_with_parent, **options)


def _end(process, grace=5):
    """Politely first; SIGKILL is for what does not listen."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            process.kill()
    return process.wait()


def build():
    """Build the probe and the programs, one make at a time."""
    os.makedirs(SIM_BUILD, exist_ok=True)
    with open(os.path.join(SIM_BUILD, ".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        make = ["make", "-s", "-f", os.path.join(SIM, "Makefile.sim"), "BUILD=" + SIM_BUILD]
        subprocess.run(make + ["probe"], check=True, timeout=300, stdin=subprocess.DEVNULL)
        if shutil.which("clang"):
            subprocess.run(make + ["-k", "cortexm_progs"], check=False, timeout=300, stdin=subprocess.DEVNULL)
        if shutil.which("xtensa-lx106-elf-gcc"):
            # one that does not build is the failure of those tests that run it
            subprocess.run(make + ["-k", "xtensa_progs"], check=False, timeout=300, stdin=subprocess.DEVNULL)


def program(name):
    """Path of a program for the simulated core."""
    return name if os.sep in name else os.path.join(SIM_BUILD, name + ".elf")


class Namespace:
    """A network namespace with a loopback interface that also takes the broadcast by which J-Links are looked for."""

    def __init__(self):
        self.root = os.geteuid() == 0
        setup = "ip link set lo up && ip route add 255.255.255.255/32 dev lo && echo ready && exec cat"
        self.holder = _start(["unshare", "-n" if self.root else "-rn", "sh", "-c", setup], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.holder.stdout.readline() != b"ready\n":
            said = self.holder.stderr.read().decode()
            self.close()
            raise RuntimeError("no network namespace: " + said)

    def inside(self, command):
        enter = ["nsenter", "-n"] if self.root else ["nsenter", "--preserve-credentials", "-U", "-n"]
        return enter + ["-t", str(self.holder.pid), "--"] + list(command)

    def close(self):
        for pipe in (self.holder.stdin, self.holder.stdout, self.holder.stderr):
            pipe.close()
        _end(self.holder)


class Run:
    """How a program went. `text` is all it said."""

    def __init__(self, returncode, stdout, stderr):
        self.returncode = returncode	# None: it had to be stopped
        self.stdout = stdout
        self.stderr = stderr
        self.text = stdout + stderr
        self.ok = returncode == 0


class ControlError(Exception):
    """The probe answered `error`."""


class Probe:
    """probe_sim with its options by name (rtt=1450, halt_latency="random:500", jtag2=True ...).

    Cortex-M targets are reached by SWD, or by JTAG with transport="jtag"."""

    def __init__(self, target, elf, wire="jlink", transport="swd", **options):
        self.target = target
        self.wire = wire
        self.options = dict(options, program=program(elf))
        if "program2" in options:
            self.options["program2"] = program(options["program2"])
        self.config = "esp32-one" if target == "esp32" and options.get("taps") == 1 else target
        if target in CORTEXM:
            self.config = "%s-%s" % (target, transport)
        self.namespace = self.process = self.channel = None
        self.path = tempfile.mkdtemp(prefix="probe-")
        self.control_path = os.path.join(self.path, "control")
        self.wire_path = os.path.join(self.path, "wire")	# of wire="unix"
        self.files = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.channel:
            self.channel.close()
        if self.process:
            _end(self.process)
        for file in self.files:
            file.close()
        if self.namespace:
            self.namespace.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def _output(self, name):
        file = open(os.path.join(self.path, name), "w+", encoding="utf-8", errors="replace")
        self.files.append(file)
        return file

    def _command(self):
        wires = {"jlink": ["--jlink"], "bitbang": ["--bitbang", BITBANG_PORT], "unix": ["--bitbang", self.wire_path]}
        command = [os.path.join(SIM_BUILD, "probe_sim"), "--target", self.target, "--control", self.control_path]
        command += wires[self.wire]
        for name, value in self.options.items():
            command.append("--" + name.replace("_", "-"))
            if value is not True:
                command.append(str(value))
        return command

    def _start(self):
        command = self._command()
        if self.wire != "unix":
            self.namespace = Namespace()
            command = self.namespace.inside(command)
        self.stdout, self.stderr = self._output("stdout"), self._output("stderr")
        self.process = _start(command, stdin=subprocess.DEVNULL, stdout=self.stdout, stderr=self.stderr)
        self.channel = self._connect(self.control_path)
        self.lines = self.channel.makefile("r", encoding="utf-8")

    def _connect(self, path):
        end = time.monotonic() + TIMEOUT
        while True:
            channel = socket.socket(socket.AF_UNIX)
            channel.settimeout(TIMEOUT)
            try:
                channel.connect(path)
                return channel
            except OSError:
                channel.close()
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("probe_sim did not start: " + self.said())
            time.sleep(0.01)

    def said(self):
        """What the probe wrote to its standard error so far."""
        with open(self.stderr.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def raw(self, *words):
        """One line to the control socket. Returns the answer as it is."""
        self.channel.sendall((" ".join(str(word) for word in words) + "\n").encode())
        return self.lines.readline().rstrip("\n")

    def control(self, *words):
        """The same; returns pairs as a dict with numbers for values, other answers as text."""
        kind, _, rest = self.raw(*words).partition(" ")
        if kind != "ok":
            raise ControlError("%s: %s" % (" ".join(map(str, words)), rest or "no answer"))
        parts = rest.split()
        try:
            return {key: int(value, 0) for key, value in zip(parts[::2], parts[1::2], strict=True)}
        except ValueError:
            return rest

    def records(self, what):
        """`residency` or `samples` as {core: {address or "outside": count}}."""
        path = os.path.join(self.path, what)
        self.control(what, path)
        found = {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                core, where, count = line.split()
                found.setdefault(int(core), {})[where if where == "outside" else int(where, 16)] = int(count)
        return found

    def openocd_command(self, script, config=None, openocd=None, arguments=()):
        """The command line that runs @a script (Tcl text; it needs no exit) with procedure `sim` from sim.tcl."""
        path = os.path.join(self.path, "script.tcl")
        with open(path, "w", encoding="utf-8") as file:
            file.write("set SIM_CONTROL {%s}\nsource {%s}\n%s\nexit\n" % (
                self.control_path, os.path.join(SIM, "sim.tcl"), script))
        openocd = openocd or os.environ.get("OPENOCD") or STOCK_OPENOCD
        return [openocd] + QUIET + WIRES[self.wire] + (CONFIGS[self.config] if config is None else list(config)) + \
            list(arguments) + ["-f", path]

    def openocd(self, script, timeout=TIMEOUT, **options):
        """Run OpenOCD to its end. Returns a Run."""
        command = self.namespace.inside(self.openocd_command(script, **options))
        for _ in range(5):
            run = self._openocd_once(command, timeout)
            # it listens for network J-Links for 20 ms, which a busy machine can miss
            if run.returncode in (None, 0) or "No J-Link device found" not in run.text:
                break
        return run

    def _openocd_once(self, command, timeout):
        out, err = self._output("openocd.out"), self._output("openocd.err")
        process = _start(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.path)
        try:
            returncode = process.wait(timeout)
        except subprocess.TimeoutExpired:
            returncode = None
        finally:
            _end(process)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
        return Run(returncode, *texts)

    def stop(self):
        """End the probe by SIGTERM. Returns its exit status."""
        return _end(self.process)

    def jtag(self):
        """A raw JTAG client, for wire="unix"."""
        return Jtag(self._connect(self.wire_path))


class Jtag:
    """JTAG by hand over remote_bitbang, with TCK counted. Scans go from Run-Test/Idle to Run-Test/Idle."""

    def __init__(self, channel):
        self.channel = channel
        self.tck = 0
        self.clocks([(1, 0)] * 6 + [(0, 0)])

    def close(self):
        self.channel.sendall(b"Q")
        self.channel.close()

    def clocks(self, steps, capture=False):
        """(TMS, TDI) pairs. Returns TDO before each rising edge if asked to."""
        text = bytearray()
        for tms, tdi in steps:
            low = 0x30 + 2 * tms + tdi
            text.append(low)
            if capture:
                text += b"R"
            text.append(low + 4)
        self.channel.sendall(text)
        self.tck += len(steps)
        got = b""
        while capture and len(got) < len(steps):
            more = self.channel.recv(65536)
            if not more:
                raise RuntimeError("the probe hung up")
            got += more
        return [byte & 1 for byte in got]

    def idle(self, tck):
        self.clocks([(0, 0)] * tck)

    def _scan(self, way, value, bits):
        steps = way + [(int(i == bits - 1), value >> i & 1) for i in range(bits)] + [(1, 0), (0, 0)]
        tdo = self.clocks(steps, capture=True)[len(way):len(way) + bits]
        return sum(bit << i for i, bit in enumerate(tdo))

    def ir(self, value, bits=5):
        """4 clocks there, 2 back."""
        return self._scan([(1, 0), (1, 0), (0, 0), (0, 0)], value, bits)

    def dr(self, value, bits):
        """3 clocks there, 2 back."""
        return self._scan([(1, 0), (0, 0), (0, 0)], value, bits)


class Xdm:
    """One Xtensa debug module that is alone in the chain."""

    PWRCTL, PWRSTAT, NARSEL = 0x08, 0x09, 0x1c
    DEBUGPC, OCDID, DCRCLR, DCRSET, DSR = 0x0f, 0x40, 0x42, 0x43, 0x44
    DDR, DDREXEC, DIR0EXEC, DIR0 = 0x45, 0x46, 0x47, 0x48

    def __init__(self, jtag, on=True):
        self.jtag = jtag
        self.status = None	# captured with the last address
        if on:
            self.power(0x07)
            self.power(0x87)

    def power(self, value):
        self.jtag.ir(self.PWRCTL)
        return self.jtag.dr(value, 8)

    def pwrstat(self, clear=0):
        self.jtag.ir(self.PWRSTAT)
        return self.jtag.dr(clear, 8)

    def access(self, register, write, value=0, bits=32):
        self.jtag.ir(self.NARSEL)
        self.status = self.jtag.dr(register << 1 | int(write), 8)
        return self.jtag.dr(value, bits)

    def read(self, register, bits=32):
        return self.access(register, False, bits=bits)

    def write(self, register, value, bits=32):
        self.access(register, True, value, bits)
