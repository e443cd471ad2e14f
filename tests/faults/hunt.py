"""Lets the tests hunt each planted fault of a build of what plant.py made, until one of them fails.

    hunt.py --build=DIR --lit=PATH [--workers=N] [--only=N,N] [--json=FILE]   unit, lit, emulator
    hunt.py --tkc=PATH --device [...]                                           kernels on the GPU

Where the sources lie matters: run it in the planted tree. Status 1 when fewer than --least are caught.
What FILE says was caught is not hunted again, so that a hunt goes on where it stopped and new tests meet
what is left. Caught is what the suite catches; --long also runs kernels that are in no test.
"""

import argparse
import collections
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
import time

import numpy as np

import probes
import table

QUICK = 10  # kernels that are tried before the tests of other files
LONG_TEST_S = 8  # a test that takes more is tried last


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", help="the build folder")
    parser.add_argument("--tkc", help="the planted compiler, if not the build folder's")
    parser.add_argument("--lit")
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "tkc-faults"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="numbers of faults")
    parser.add_argument("--every", type=int, default=1, help="one of so many faults")
    parser.add_argument("--limit", type=int, default=600, help="seconds that one fault may take")
    parser.add_argument("--total", type=int, default=10**9, help="seconds after which none is begun")
    parser.add_argument("--least", type=float, default=0.95)
    parser.add_argument("--json", help="results: read when it is there, and written after each fault")
    parser.add_argument("--long", action="store_true", help="also kernels that the suite leaves out")
    options = parser.parse_args()
    options.tkc = os.path.abspath(options.tkc or os.path.join(options.build, "bin", "tkc"))
    return options


class Survey:
    """What each probe comes to; kept for the compiler and the test it was made with."""

    def __init__(self, options):
        with open(options.tkc, "rb") as file:
            state = hashlib.sha256(file.read()).hexdigest()[:16]
        self.folder = os.path.join(options.cache, state)
        os.makedirs(self.folder, exist_ok=True)
        setting = probes.Setting(options.tkc, self.folder, options.device)
        self.kernels = probes.kernels(setting, options.long or options.device)
        self.tests = probes.tests(os.path.abspath(options.build), options.lit) if options.lit else []
        self.path = os.path.join(self.folder, "survey.json")
        self.known = {}

    def take(self, workers):
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.known = json.load(file)
        missing = [probe for probe in self.tests + self.kernels if probe.key not in self.known]
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            for done, (key, found) in enumerate(pool.imap_unordered(survey_one, missing), 1):
                self.known[key] = found
                if done % 100 == 0 or done == len(missing):
                    print(f"surveyed {done} of {len(missing)} tests and kernels", flush=True)
                    with open(self.path, "w", encoding="utf-8") as file:
                        json.dump(self.known, file)
        for probe in self.tests + self.kernels:
            if "failed" in self.known[probe.key]:
                print(f"LEFT OUT, fails without a fault: {probe.name}: {self.known[probe.key]['failed'][-300:]}", flush=True)
        self.tests, self.kernels = ([probe for probe in some if "failed" not in self.known[probe.key]]
                                    for some in (self.tests, self.kernels))
        for kernel in self.kernels:
            kernel.text = self.known[kernel.key]["text"]

    def order(self, fault):
        """The probes that come to a fault: tests by the name of its file, a small kernel of each group, other tests,
        the quickest first, sharp kernels, the other ones, tests that take long."""
        seconds = {key: found["seconds"] for key, found in self.known.items()}
        reached = sorted((k for k in self.kernels if fault.number in self.known[k.key]["seen"]),
                         key=lambda kernel: (kernel.stage == "long", self.known[kernel.key]["size"]))
        small = list({kernel.group: kernel for kernel in reversed(reached)}.values())[-QUICK:]
        tests = sorted((test for test in self.tests if fault.number in self.known[test.key]["seen"]),
                       key=lambda test: seconds[test.key])
        own = [test for test in tests if test.is_of(fault.path) and seconds[test.key] <= LONG_TEST_S]
        unit = [test for test in tests if test.stage == "unit"]
        long = [test for test in tests if seconds[test.key] > LONG_TEST_S]
        others = sorted(reached, key=lambda k: (k.stage == "long", k.group not in probes.SHARP))
        return list(dict.fromkeys(own + small + unit + [test for test in tests if test not in long] + others + long))


def survey_one(probe):
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        try:
            found = probe.survey(folder)
        except RuntimeError as error:
            found = {"seen": [], "failed": str(error)}
        return probe.key, {**found, "seconds": round(time.monotonic() - start, 2)}


def hunt(fault, order, connection):
    """In a process of its own: (stage, what catches the fault), and which kernels became others."""
    np.seterr(all="ignore")
    stage = by = ""
    try:
        with tempfile.TemporaryDirectory() as folder:
            for probe in order:
                by = probe.catches(fault.number, folder)
                if by and not probe.holds(folder):
                    print(f"{probe.name} fails without a fault too", flush=True)
                    by = ""
                if by:
                    stage = probe.stage
                    break
    except probes.NotKnown as error:
        stage, by = "not known", str(error)
    changed = [probe.name for probe in order if getattr(probe, "changed", False)]
    connection.send((stage, by, changed))


class Hunts:
    """Processes, one a fault, each with a limit of time: a fault may make what it runs stand still."""

    def __init__(self, options, survey, results):
        self.options, self.survey = options, survey
        self.running, self.results = {}, results
        self.context = multiprocessing.get_context("fork")

    def start(self, fault):
        order = self.survey.order(fault)
        here, there = self.context.Pipe(duplex=False)
        process = self.context.Process(target=hunt, args=(fault, order, there))
        process.start()
        there.close()
        self.running[process] = (fault, here, time.monotonic(), len(order))

    def finish(self, process):
        fault, connection, start, probes_left = self.running[process]
        seconds = time.monotonic() - start
        late = seconds > self.options.limit
        if process.is_alive() and not late and not connection.poll():
            return False
        stage, by, changed = "late" if late else "not known", "", []
        if connection.poll():
            try:
                stage, by, changed = connection.recv()
            except EOFError:
                pass
        state = stage if stage in ("late", "not known") else "not in the suite" if stage == "long" else \
            "caught" if by else "reached" if probes_left else "not reached"
        process.kill()
        process.join()
        del self.running[process]
        self.add({"number": fault.number, "where": fault.where, "kind": fault.kind, "name": fault.name(), "state": state,
                  "stage": stage, "by": by, "changed": changed, "seconds": round(seconds, 1)})
        print(f"{fault.number:10} {state:11} {seconds:6.1f} s  {fault.name()[:100]}  [{by[:110]}]", flush=True)
        return True

    def add(self, result):
        self.results[result["number"]] = result
        if self.options.json:
            with open(self.options.json, "w", encoding="utf-8") as file:
                json.dump(list(self.results.values()), file, indent=0)

    def all(self, faults):
        waiting, start = list(faults)[::-1], time.monotonic()
        while self.running or waiting:
            if time.monotonic() - start > self.options.total:
                waiting.clear()
            while waiting and len(self.running) < self.options.workers:
                self.start(waiting.pop())
            if not any([self.finish(process) for process in list(self.running)]):
                time.sleep(0.02)


def report(results):
    """A row a class and a stage; how much of all is caught."""
    rows = collections.defaultdict(collections.Counter)
    for result in results:
        rows[result["kind"]][result["state"]] += 1
    for kind, counts in sorted(rows.items()):
        print(f"{kind:11} {sum(counts.values()):4} planted {counts['caught']:4} caught")
    stages = collections.Counter(result["stage"] for result in results if result["state"] == "caught")
    print("first caught by: " + ", ".join(f"{stage} {count}" for stage, count in stages.most_common()))
    missed = [result for result in results if result["state"] != "caught"]
    for result in missed:
        print(f"NOT CAUGHT {result['where']} ({result['state']}): {result['name']}")
    rate = 1 - len(missed) / max(len(results), 1)
    print(f"{len(results)} faults planted, {len(results) - len(missed)} caught: {rate:.1%}")
    return rate


def main():
    options = parse_arguments()
    faults = table.read()
    if options.only:
        wanted = {int(number) for number in options.only.split(",")}
        faults = [fault for fault in faults if fault.number in wanted]
    faults = faults[:: options.every]
    known = {}
    if options.json and os.path.exists(options.json):
        with open(options.json, encoding="utf-8") as file:
            known = {result["number"]: result for result in json.load(file)}
    survey = Survey(options)
    survey.take(options.workers)
    hunts = Hunts(options, survey, known)
    hunts.all(fault for fault in faults if known.get(fault.number, {}).get("state") != "caught")
    results = [known[fault.number] for fault in faults if fault.number in known]
    return 0 if report(results) >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
