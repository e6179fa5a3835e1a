# SPDX-License-Identifier: GPL-2.0-or-later
"""What a profile costs on the simulated probe, for testing/bench/profile and for tests.

A case is measured by two profiles in one session of OpenOCD, a short and a long one. What counts is the difference:
beginning and end (self-test, break network, the last look) are left out, what remains is the cost of a sample.

Modelled time is what the wire takes: TCK, one round trip an exchange, and the sleep of 10 ms of each stock sample,
counted at its resume. The computing of the host counts for nothing. Wall time is what it took here, to be read beside
it.
"""

import re

import probe

KHZ = 10000
STOCK_SLEEP_US = 10000
ROUND_TRIPS = {"0.5ms": 500, "1.45ms": 1450}
READ_TCK = 56	# two TAPs, instruction register kept: the bits' own limit of reading DEBUGPC

# What each figure must be; with two TAPs unless it says something else.
FLOORS = {
    "stock-samples-1.45ms": (8 * 0.7, 10 * 1.3),
    "pipeline-flushes": (None, 1.02),
    "pipeline-duty50-flushes": (None, 1.02),
    "pipeline-tck-one-tap": (None, 400),
    "pipeline-tck": (None, 420),
    "pipeline-duty50-tck": (None, 420),
    "debugpc-tck-cpu0": (None, 62),
    "debugpc-tck-cpu1": (None, 62),
    "debugpc-samples-a-flush-cpu0": (250, None),
    "debugpc-samples-a-flush-cpu1": (250, None),
    "debugpc-of-limit": (0.8, None),
    "memory-mib": (None, 32),
    "pipeline-duty0-0.5ms": (85, None),
    "pipeline-duty0-1.45ms": (75, None),
    "pipeline-duty50-0.5ms": (48, None),
    "pipeline-duty50-1.45ms": (38, None),
    "pipeline-all-0.5ms": (1.8, None),
    "pipeline-all-1.45ms": (1.8, None),
    "debugpc-0.5ms": (5000, None),
    "debugpc-1.45ms": (5000, None),
    "debugpc-all-0.5ms": (1.15, None),
    "debugpc-all-1.45ms": (1.15, None),
    "batch-0.5ms": (600, None),
    "batch-1.45ms": (1000, None),
}

SCRIPT = """
proc memory {key} {
	set file [open /proc/self/status]
	set text [read $file]
	close $file
	return [lindex [regexp -inline "$key:\\\\s+(\\\\d+)" $text] 1]
}
init
targets [lindex [target names] CORE]
set idle [memory VmRSS]
foreach seconds {SECONDS} {
	set flushes [flush_count]
	sim mark
	puts "result: [COMMAND]"
	puts "counters: [sim counters] flushes [expr {[flush_count] - $flushes}]"
}
puts "memory: $idle [memory VmHWM]"
"""


class Case:
    """What to profile how. @a options None: the command of stock OpenOCD."""

    def __init__(self, name, options, core=0, cores=1, taps=2):
        self.name = name
        self.options = options
        self.core = core
        self.cores = cores
        self.taps = taps

    def command(self):
        if self.options is None:
            return "profile $seconds profile.gmon"
        return "xtensa profile $seconds profile.gmon -top 0 " + self.options


STOCK = Case("stock", None)
PIPELINE = Case("pipeline duty 0", "-method pipeline -duty 0")
PIPELINE_DUTY = Case("pipeline", "-method pipeline")
PIPELINE_ALL = Case("pipeline -cores all", "-method pipeline -cores all -duty 0", cores=2)
PIPELINE_ONE_TAP = Case("pipeline, one TAP", "-method pipeline -duty 0", taps=1)
WSR = Case("wsr", "-method wsr")
DEBUGPC = Case("debugpc cpu0", "-method debugpc")
DEBUGPC_CPU1 = Case("debugpc cpu1", "-method debugpc", core=1)
DEBUGPC_ALL = Case("debugpc -cores all", "-method debugpc -cores all", cores=2)
BATCH = Case("batch", "-method batch")
BATCH_FASTEST = Case("batch duty 0", "-method batch -duty 0")


class Figures:
    """What the samples of one profile cost, or of the difference of two."""

    def __init__(self, case, samples, wall_s, counts):
        self.case = case
        self.samples = samples	# of each core
        self.wall_s = wall_s
        self.counts = counts

    def __sub__(self, other):
        return Figures(self.case, self.samples - other.samples, self.wall_s - other.wall_s,
                       {key: self.counts[key] - other.counts[key] for key in self.counts})

    def __getattr__(self, name):
        """A counter of the probe, of the core sampled where there is one for each."""
        counts = self.__dict__["counts"]
        for key in (name, "%s%d" % (name, self.__dict__["case"].core)):
            if key in counts:
                return counts[key]
        raise AttributeError(name)

    def modelled_s(self, rtt_us=None):
        """With another round trip than it was measured with: only for what the host does not steer by its clock."""
        passed_us = self.modelled_us if rtt_us is None else self.tck * 1000 / KHZ + self.exchanges * rtt_us
        if self.case.options is None:
            passed_us += STOCK_SLEEP_US * self.rfdo
        return passed_us / 1e6

    def rate(self, rtt_us=None):
        """PCs a second of modelled time."""
        return self.samples * self.case.cores / self.modelled_s(rtt_us)

    def wall_rate(self):
        return self.samples * self.case.cores / self.wall_s

    def tck_a_sample(self):
        return self.tck / self.samples

    def tck_beside(self):
        """TCK while the core stood."""
        running = "tck_running" if self.case.core == 0 else "tck_running1"
        return (self.tck - self.counts[running]) / self.samples

    def flushes_a_sample(self):
        return self.flushes / self.samples

    def samples_a_flush(self):
        return self.samples / self.flushes

    def exchanges_a_sample(self):
        return self.exchanges / self.samples

    def duty(self):
        """Share of its time that the core ran."""
        return 1 - self.standing_us / (self.modelled_us + self.idle_us)


class Measurement:
    """All that came of a case: profiles one after the other, and memory in MiB above that of an idle OpenOCD."""

    def __init__(self, case, run):
        if not run.ok:
            raise RuntimeError("%s: %s" % (case.name, run.text))
        self.text = run.text
        lines = re.findall(r"counters: (.*)", run.text)
        counts = [dict(zip(line.split()[::2], map(int, line.split()[1::2]), strict=True)) for line in lines]
        if case.options is None:
            # it may have stopped the core once more when its time was up
            said = [(count["stops%d" % case.core], seconds) for count, seconds in zip(counts, run.seconds, strict=True)]
        else:
            said = re.findall(r"samples +(\d+) in ([0-9.]+) s", run.text)
        self.profiles = [Figures(case, int(samples), float(wall_s), count)
                         for (samples, wall_s), count in zip(said, counts, strict=True)]
        idle, peak = map(int, re.search(r"memory: (\d+) (\d+)", run.text).groups())
        self.memory_mib = (peak - idle) / 1024

    def sample_cost(self):
        """The last profile without what the first one has as well."""
        return self.profiles[-1] - self.profiles[0]


def measure(case, rtt_us, seconds, pace="model", openocd=None):
    """Take a profile of each of @a seconds. @a openocd None: $OPENOCD, or the stock one for the stock case."""
    script = SCRIPT
    for word, value in (("CORE", case.core), ("SECONDS", " ".join(map(str, seconds))), ("COMMAND", case.command())):
        script = script.replace(word, str(value))
    if case.options is None:
        openocd = probe.STOCK_OPENOCD
    options = {"taps": 1} if case.taps == 1 else {"program2": "xtensa-second"}
    with probe.Probe("esp32", "xtensa-profile", rtt=rtt_us, pace=pace, **options) as sim:
        run = sim.openocd(script, openocd=openocd, timeout=60 + 4 * sum(seconds))
    run.seconds = seconds
    return Measurement(case, run)


def floor_text(name):
    low, high = FLOORS[name]
    return " and ".join("%s %g" % (word, bound) for word, bound in (("at least", low), ("at most", high))
                        if bound is not None)


def floor_met(name, value):
    low, high = FLOORS[name]
    return (low is None or value >= low) and (high is None or value <= high)
