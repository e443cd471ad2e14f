"""Lets the tests hunt each planted fault of a build of what plant.py made, until one of them fails.

    hunt.py --build=DIR --lit=PATH [--workers=N] [--only=N,N] [--json=FILE]   unit, lit, emulator
    hunt.py --tkc=PATH --device [...]                                           kernels on the GPU

Where the sources lie matters: run it in the planted tree. Status 1 when fewer than --least are caught.
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

QUICK = 10  # kernels that are tried before anything else


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
    parser.add_argument("--json")
    options = parser.parse_args()
    options.tkc = os.path.abspath(options.tkc or os.path.join(options.build, "bin", "tkc"))
    return options


class Survey:
    """What each probe comes to; kept for the compiler it was made with."""

    def __init__(self, options):
        with open(options.tkc, "rb") as file:
            state = hashlib.sha256(file.read()).hexdigest()[:16]
        self.folder = os.path.join(options.cache, state)
        os.makedirs(self.folder, exist_ok=True)
        setting = probes.Setting(options.tkc, self.folder, options.device)
        self.kernels = probes.kernels(setting)
        self.tests = probes.tests(os.path.abspath(options.build), options.lit) if options.lit else []
        self.path = os.path.join(self.folder, "survey.json")
        self.known = {}

    def take(self, workers):
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.known = json.load(file)
        missing = [probe for probe in self.tests + self.kernels if probe.name not in self.known]
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            for name, found in pool.imap_unordered(survey_one, missing):
                self.known[name] = found
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.known, file)
        for kernel in self.kernels:
            kernel.text = self.known[kernel.name]["text"]

    def order(self, fault):
        """The probes that come to a fault: a small kernel of each group, tests, sharp kernels, the others."""
        reached = sorted((k for k in self.kernels if fault.number in self.known[k.name]["seen"]),
                         key=lambda kernel: self.known[kernel.name]["size"])
        first = list({kernel.group: kernel for kernel in reversed(reached)}.values())[-QUICK:]
        tests = [test for test in self.tests if fault.number in self.known[test.name]["seen"]]
        others = sorted((k for k in reached if k not in first), key=lambda k: k.group not in probes.SHARP)
        return first + tests + others


def survey_one(probe):
    with tempfile.TemporaryDirectory() as folder:
        return probe.name, probe.survey(folder)


def hunt(fault, order, connection):
    """In a process of its own: what catches the fault."""
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        for probe in order:
            by = probe.catches(fault.number, folder)
            if by:
                connection.send(by)
                break
        else:
            connection.send("")


class Hunts:
    """Processes, one a fault, each with a limit of time: a fault may make what it runs stand still."""

    def __init__(self, options, survey):
        self.options, self.survey = options, survey
        self.running, self.results = {}, []
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
        by = "the process ends" if not late else ""
        if connection.poll():
            try:
                by = connection.recv()
            except EOFError:
                pass
        state = "late" if late and not by else "caught" if by else "reached" if probes_left else "not reached"
        process.kill()
        process.join()
        del self.running[process]
        self.results.append({"number": fault.number, "where": fault.where, "kind": fault.kind, "name": fault.name(),
                             "state": state, "by": by, "seconds": round(seconds, 1)})
        print(f"{fault.number:3} {state:11} {seconds:6.1f} s  {fault.name()[:100]}  [{by[:110]}]", flush=True)
        return True

    def all(self, faults):
        waiting, start = list(faults)[::-1], time.monotonic()
        while self.running or waiting:
            if time.monotonic() - start > self.options.total:
                waiting.clear()
            while waiting and len(self.running) < self.options.workers:
                self.start(waiting.pop())
            if not any([self.finish(process) for process in list(self.running)]):
                time.sleep(0.02)
        return self.results


def report(results):
    """A row a class; how much of all is caught."""
    rows = collections.defaultdict(collections.Counter)
    for result in results:
        rows[result["kind"]][result["state"]] += 1
    for kind, counts in sorted(rows.items()):
        print(f"{kind:11} {sum(counts.values()):4} planted {counts['caught']:4} caught")
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
    survey = Survey(options)
    survey.take(options.workers)
    results = Hunts(options, survey).all(faults[:: options.every])
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=0)
    return 0 if report(results) >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
