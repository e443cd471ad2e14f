"""Checks and benchmarks on a machine with a GPU, out of the folder that bundle.py made.

    python3 run.py                      everything: checks, then benchmarks, one table last
    python3 run.py --quick              fewer shapes and rounds
    python3 run.py --only=softmax       one of: checks differential random runtime apps tuning faults shrinking copy compile
                                      host, or a family; repeatable
    python3 run.py --out=DIR            where results.json, results.md and checks.json go
    python3 run.py --markdown [DIR]     the table of an earlier run, for docs/performance.md
    python3 run.py --dry-run            no GPU: the checks on an emulated driver, and what would run

Status 1 when a check fails, a benchmark's result is wrong or a kernel is missing.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import traceback

import plan
import report
import unpack

FOLDER = os.path.dirname(os.path.abspath(__file__))
EXTRAS = ("checks", "differential", "random", "runtime", "copy", "compile", "host")
ASKED_FOR = ("apps", "tuning", "faults", "shrinking")  # only when named
SUITES = ("checks", "differential", "random", "runtime", *ASKED_FOR)  # without torch
CHECKS_LIMIT_S = 240
COMPILE_LIMIT_S = 100
DIFFERENTIAL_LIMIT_S, RANDOM_PROGRAMS, EFFORT_PROGRAMS = 560, 4000, 500
SLOW_PROGRAM_S = 60
FAULTS_LIMIT_S = 540
APPS_LIMIT_S, TUNING_LIMIT_S = 300, 400
RUNTIME_LIMIT_S, STRESS_S = 400, 60


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--out", default=os.path.join(FOLDER, "results"))
    parser.add_argument("--markdown", nargs="?", const="", metavar="DIR")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--configs", default=os.path.join(FOLDER, "configs.json"))
    parser.add_argument("--rounds", type=int, help="of the final comparison (default 5, quick 3)")
    parser.add_argument("--budget-ms", type=float,
                        help="of one candidate in one round (default 40, quick 15)")
    parser.add_argument("--workers", type=int, default=min(12, os.cpu_count() or 1),
                        help="processes that compile Triton's kernels")
    options = parser.parse_args(words)
    options.rounds = options.rounds or (3 if options.quick else 5)
    options.budget_ms = options.budget_ms or (15 if options.quick else 40)
    return options


class Run:
    """One run: what is wanted, and the results as they come."""

    def __init__(self, options):
        self.options = options
        families = [n for n in options.only or [] if n not in EXTRAS + ASKED_FOR]
        wants_all = not options.only
        cases = plan.load_cases(options.configs, options.quick, families or None)
        known = {case.family for case in cases}
        for name in set(families) - known:
            raise SystemExit(f"run.py: no family `{name}`; there are {', '.join(sorted(known))}, "
                             f"{', '.join(EXTRAS)}")
        self.cases = cases if wants_all or families else []
        self.extras = set(EXTRAS) if wants_all else set(options.only) & set(EXTRAS + ASKED_FOR)
        self.results = {"rows": [], "quick": options.quick, "rounds": options.rounds,
                        "budget_ms": options.budget_ms}
        self.failed = []

    def save(self):
        """The results so far: a run that is cut short leaves what it had."""
        path = os.path.join(self.options.out, "results.json")
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump({**self.results, "failed": self.failed}, file, indent=1)
        os.replace(path + ".part", path)


def say(text):
    print(text, flush=True)


def start_checks(out, quick):
    """The checks in a process of their own: a fault there ends no benchmark."""
    command = [sys.executable, os.path.join(FOLDER, "checks.py"), "-v",
               f"--json={os.path.join(out, 'checks.json')}"] + (["--small"] if quick else [])
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish_checks(run, process):
    try:
        text, _ = process.communicate(timeout=CHECKS_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        text = process.communicate()[0] + f"\nstopped after {CHECKS_LIMIT_S} s"
    say(text)
    with open(os.path.join(run.options.out, "checks.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    if process.returncode:
        run.failed.append(f"checks: status {process.returncode}")


def run_program(run, limit, marks, name, command):
    """What the program says on lines with one of the marks is shown; all of it goes to NAME.txt."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False)
        text, status = done.stdout.decode(errors="replace"), done.returncode
        if status:
            text += done.stderr.decode(errors="replace")[-2000:]
    except subprocess.TimeoutExpired as error:
        text, status = (error.stdout or b"").decode(errors="replace"), "stopped"
    # Kernels that print write here too.
    say("\n".join(line for line in text.splitlines() if any(mark in line for mark in marks)))
    with open(os.path.join(run.options.out, os.path.basename(name) + ".txt"), "a", encoding="utf-8") as file:
        file.write(text)
    if status:
        run.failed.append(f"{name}: status {status}")
    return f"{time.monotonic() - start:.0f} s, status {status}"


def run_script(run, limit, marks, script, *words):
    """A script of the bundle's tree."""
    command = [sys.executable, "-W", "ignore", os.path.join(FOLDER, "tree", "tests", script), *words]
    end = run_program(run, limit, marks, script, command)
    say(f"{script} {' '.join(words[1:])}: {end}")


def run_runtime(run):
    """The loader's suite: a line for each check."""
    command = [os.path.join(FOLDER, "loader_suite"),
               f"--seconds={STRESS_S // 10 if run.options.quick else STRESS_S}"]
    end = run_program(run, RUNTIME_LIMIT_S, ("",), "runtime", command)
    say(f"loader_suite: {end}")


def run_differential(run):
    """The emulator's cases, compiled here and compared with the interpreter."""
    words = ["gpu/differential.py", "--tkc=" + unpack.tool(FOLDER, "tkc"), f"--limit={DIFFERENTIAL_LIMIT_S - SLOW_PROGRAM_S}"]
    marks = ("FAILED", " cases", "Error")
    run_script(run, DIFFERENTIAL_LIMIT_S, marks, *words, *(() if run.options.quick else ("--grid",)))
    run_script(run, DIFFERENTIAL_LIMIT_S, marks, *words, "--targets=sm_80,sm_89")


def run_random(run):
    """Random programs, compiled here and compared with the interpreter."""
    tools = {name: unpack.tool(FOLDER, name) for name in ("tkc", "tk-fuzz")}
    part = 10 if run.options.quick else 1
    run_script(run, DIFFERENTIAL_LIMIT_S, ("FAILED", "differs", "slow", " programs", "smaller", "Error"),
               "gpu/random_programs.py", f"--limit={DIFFERENTIAL_LIMIT_S - 2 * SLOW_PROGRAM_S}", f"--tkc={tools['tkc']}", f"--fuzz={tools['tk-fuzz']}",
               f"--count={RANDOM_PROGRAMS // part}", f"--levels={EFFORT_PROGRAMS // part}",
               "--failures=" + os.path.join(run.options.out, "failures"))


def run_faults(run):
    """Planted faults, hunted by the emulator's cases on the GPU."""
    tkc = "--tkc=" + unpack.tool(FOLDER, "tkc-planted")
    run_script(run, FAULTS_LIMIT_S, ("planted", "NOT CAUGHT", "Error"), "faults/hunt.py", tkc, "--device",
               f"--total={FAULTS_LIMIT_S - 120}", "--limit=100", "--json=" + os.path.join(run.options.out, "faults.json"))


def run_shrinking(run):
    """How small the random programs get that show planted faults."""
    tools = {name: unpack.tool(FOLDER, name) for name in ("tkc-planted", "tk-fuzz")}
    run_script(run, FAULTS_LIMIT_S, (" lines", "Error"), "faults/shrink.py", f"--tkc={tools['tkc-planted']}",
               f"--fuzz={tools['tk-fuzz']}", "--out=" + os.path.join(run.options.out, "shrunk"))


def run_apps(run):
    """The programs of examples/apps, and the Python package with torch."""
    run_script(run, APPS_LIMIT_S, ("",), os.path.join(FOLDER, "apps.py"))


def run_tuning(run):
    """tkc tune, libtkctune and tkc bench, beside Triton's autotuner and harness.py."""
    run_script(run, TUNING_LIMIT_S, ("",), "gpu/tuning.py", "--tkc=" + unpack.tool(FOLDER, "tkc"),
               "--folder=" + FOLDER, "--out=" + os.path.join(run.options.out, "tuning"),
               *(("--quick",) if run.options.quick else ()))


def describe_machine(torch, triton):
    """Device, versions, and the state of its clocks."""
    fields = "driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw"
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"],
                              capture_output=True, text=True, check=False)
        state = done.stdout.strip()
    except OSError:
        state = "unknown"
    return {"device": torch.cuda.get_device_name(), "date": time.strftime("%Y-%m-%d"),
            "versions": f"driver {state.split(',')[0]}, torch {torch.__version__}, "
                        f"Triton {triton.__version__}",
            f"state ({fields})": state}


def load_kernel(spec):
    """The loaded kernel of a compilation."""
    import tkcrt
    path = os.path.join(FOLDER, "cubins", spec.file_name)
    return tkcrt.Module(path).kernel(spec.kernel)


def _resources(kernel, variant):
    """Registers and spills of the variant that runs."""
    info = json.loads(kernel.describe(variant))
    resources = info.get("resources", {})
    return {"variant": info.get("id"), "registers": resources.get("registers"),
            "spills": resources.get("spill_store_bytes"),
            "shared": resources.get("shared_dynamic", 0) + resources.get("shared_static", 0)}


def tkc_candidates(run, family, row):
    """{label: callable} of tkc's configurations that are there and right."""
    candidates = {}
    for config in family.case.tkc:
        try:
            kernels = [load_kernel(launch.spec) for launch in config.launches]
            launch, variants = family.tkc([(kernel, launch.args) for kernel, launch
                                           in zip(kernels, config.launches)])
            row["resources"][config.label] = list(map(_resources, kernels, variants))
            problem = family.verify(launch)
        except Exception as error:  # a missing file, a refusal, a fault: the others go on
            problem = f"{type(error).__name__}: {error}"
        if problem:
            row["problems"].append(f"tkc {config.label}: {problem}")
            run.failed.append(f"{family.case.name} {config.label}")
        else:
            candidates[config.label] = launch
    return candidates


def triton_candidates(family, row, refused):
    """{label: callable} of Triton's configurations that compile, fit and are right."""
    candidates, case = {}, family.case
    for config in case.triton:
        problem = refused.get((case.name, config.label))
        if problem is None:
            try:
                launch = family.triton(config)
                problem = family.verify(launch)
            except Exception as error:  # does not fit, mostly
                problem = f"{type(error).__name__}: {error}".splitlines()[0][:160]
        if problem:
            row["skipped"].append(f"Triton {config.label}: {problem}")
        else:
            candidates[config.label] = launch
    return candidates


def library_candidates(family, row):
    """{label: callable} of PyTorch's operations that run."""
    candidates = {}
    for label, launch in family.library().items():
        try:
            launch()
            candidates[label] = launch
        except RuntimeError as error:  # a backend that this machine lacks
            row["skipped"].append(f"{label}: {str(error).splitlines()[0][:160]}")
    return candidates


def _entry(label, timing):
    return {"label": label, "us": timing.median, "least_us": timing.least,
            "spread": timing.spread, "host_bound": timing.is_host_bound,
            "rounds_us": timing.rounds}


def _sweep_and_final(run, timer, sides):
    """Times all candidates shortly, then the best two of each side against one another for longer.

    The second time is what counts: the least of many short ones flatters who has more of them.
    """
    import harness
    rounds, budget = run.options.rounds, run.options.budget_ms
    everyone = {(side, label): launch for side, some in sides.items()
                for label, launch in some.items()}
    sweep = harness.compare(timer, everyone, 2, budget / 3)
    ranked = [sorted((key for key in everyone if key[0] == side),
                     key=lambda key: sweep[key].median) for side in sides]
    # Sides take turns: tkc, Triton, library, tkc, Triton.
    chosen = [keys[place] for place in range(2) for keys in ranked if place < len(keys)]
    return sweep, harness.compare(timer, {key: everyone[key] for key in chosen}, rounds, budget)


def run_case(run, timer, case, refused):
    """One line of the table."""
    import families
    import torch
    row = {"family": case.family, "shape": case.shape_text, "dtype": case.dtype, "problems": [],
           "skipped": [], "resources": {}}
    family = families.FAMILIES[case.family](case)
    row["work"], row["unit"] = family.work(), family.unit
    sides = {"tkc": tkc_candidates(run, family, row),
             "triton": triton_candidates(family, row, refused),
             "library": library_candidates(family, row)}
    sweep, final = _sweep_and_final(run, timer, sides)
    for side in sides:
        row[side] = [_entry(key[1], t) for key, t in final.items() if key[0] == side]
        row[f"{side}_sweep"] = [_entry(key[1], t) for key, t in sweep.items() if key[0] == side]
    del family, sides
    torch.cuda.empty_cache()
    return row


def _say_row(row):
    for side in report.SIDES:
        figures = [f"{c['label']} {c['us']:.1f} us {report.rate(row, c):.0f}"
                   for c in row[side + "_sweep"]]
        say(f"  {side}: {', '.join(figures)}")
    for skipped in row["skipped"]:
        say(f"  left out: {skipped}")
    for problem in row["problems"]:
        say(f"  PROBLEM: {problem}")
    spilling = [f"{label} {one['spills']} B" for label, all_ in row["resources"].items()
                for one in all_ if one["spills"]]
    if spilling:
        say(f"  spills: {', '.join(spilling)}")


def run_benchmarks(run, refused):
    import harness
    timer = harness.Timer()
    if "copy" in run.extras:
        run.results["copy_gbs"] = harness.copy_ceiling(timer, run.options.rounds, 60)
        say(f"copy {run.results['copy_gbs']:.0f} GB/s")
    for case in run.cases:
        begin = time.perf_counter()
        try:
            row = run_case(run, timer, case, refused)
        except Exception:  # the other cases still tell something
            run.failed.append(f"{case.name}: {traceback.format_exc()}")
            continue
        run.results["rows"].append(row)
        say(f"{case.name}: {time.perf_counter() - begin:.1f} s, {row['unit']}")
        _say_row(row)
        run.save()


def _host_costs():
    import cases
    import host
    spec = cases.add_spec("places", "f32")
    costs = host.launch_costs_c(FOLDER)
    return {**costs, **host.launch_costs_python(load_kernel(spec))}


def run_host(run):
    """Compile times and launch costs, whichever are wanted."""
    import host
    for name, measure in (("compile", lambda: host.compile_times(FOLDER)), ("host", _host_costs)):
        if name in run.extras:
            try:
                run.results[name] = measure()
            except Exception:  # the table still comes
                run.failed.append(f"{name}: {traceback.format_exc()}")


def run_all(run):
    """Checks and Triton's compilations side by side (neither is timed), then the benchmarks."""
    os.makedirs(run.options.out, exist_ok=True)
    begin = time.perf_counter()
    if "checks" in run.extras:
        if unpack.expect(FOLDER):
            run.failed.append("expected.py failed: see above")
        say(f"the interpreter's results after {time.perf_counter() - begin:.1f} s")
    checks = start_checks(run.options.out, run.options.quick) if "checks" in run.extras else None
    refused = {}
    if run.cases:
        import peers
        refused = peers.precompile(run.cases, run.options.workers, COMPILE_LIMIT_S)
        say(f"Triton compiled in {time.perf_counter() - begin:.1f} s, {len(refused)} refused")
    if checks:
        finish_checks(run, checks)
        say(f"checks done after {time.perf_counter() - begin:.1f} s")
    if "differential" in run.extras:
        run_differential(run)
        say(f"differential suite done after {time.perf_counter() - begin:.1f} s")
    if "random" in run.extras:
        run_random(run)
    if "apps" in run.extras:
        run_apps(run)
    if "tuning" in run.extras:
        run_tuning(run)
    if "runtime" in run.extras:
        run_runtime(run)
    if "faults" in run.extras:
        run_faults(run)
    if "shrinking" in run.extras:
        run_shrinking(run)
    if run.cases or run.extras - set(SUITES):
        import torch
        import triton
        run.results.update(describe_machine(torch, triton))
        run_benchmarks(run, refused)
        run_host(run)
        run.results["state after"] = list(describe_machine(torch, triton).values())[-1]
    run.results["wall_s"] = time.perf_counter() - begin
    run.save()


def show_results(run):
    if run.cases or run.extras - set(SUITES):
        with open(os.path.join(run.options.out, "results.md"), "w", encoding="utf-8") as file:
            file.write(report.markdown(run.results))
        say(report.text(run.results))
    say(f"{run.results['wall_s']:.0f} s; results in {run.options.out}")
    for what in run.failed:
        say(f"FAILED: {what}")
    return 1 if run.failed else 0


def dry_run(run):
    """What would run; every configuration is loaded and encoded by the real loader."""
    import dryrun
    problems = dryrun.list_cases(run.cases, FOLDER)
    for what in problems:
        say(f"FAILED: {what}")
    status = 1 if problems else 0
    if "runtime" in run.extras:
        done = subprocess.run([os.path.join(FOLDER, "loader_suite"), "--list"], capture_output=True, text=True,
                              check=False)
        say("loader_suite: " + (done.stderr or ", ".join(done.stdout.splitlines())))
        status |= done.returncode
    if "checks" in run.extras:
        import checks
        status |= checks.main(["--dry-run"] + (["--small"] if run.options.quick else []))
        status |= checks.main(["--dry-run", "--spoil", "--small", "--only=add", "--only=rows"])
    return status


def main():
    options = parse_arguments()
    if options.markdown is not None:
        folder = options.markdown or options.out
        with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
            print(report.markdown(json.load(file)), end="")
        return 0
    run = Run(options)
    unpack.kernels(FOLDER)
    if options.dry_run:
        return dry_run(run)
    run_all(run)
    return show_results(run)


if __name__ == "__main__":
    sys.exit(main())
