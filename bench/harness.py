"""How everything is timed, tkc and peers alike.

Method. One launch is the time between two CUDA events around it. Ahead of each launch a buffer of
256 MiB is zeroed, as triton.testing.do_bench does, so that no input is left in the L2 cache; it
also gives the host time to enqueue the launch, so that host cost stays out of the figure.
(`is_host_bound` says when it did not: the device then waited for the host.) All candidates of a
case are timed in turn, A B C A B C, over several rounds; a round's figure is the median of its
launches and a candidate's is the median of its rounds. Inputs are random; nothing is timed on
zeros.
"""

import dataclasses
import statistics
import time

import torch

FLUSH_BYTES = 256 << 20
# The driver's queue takes about a thousand operations before it blocks the host; each timed launch
# is four of them.
_MOST_LAUNCHES = 200
_FEWEST_LAUNCHES = 5


@dataclasses.dataclass
class Timing:
    """Figures of one candidate, in microseconds."""

    rounds: list
    least: float
    is_host_bound: bool

    @property
    def median(self):
        return statistics.median(self.rounds)

    @property
    def spread(self):
        """Largest round over smallest, less one."""
        return max(self.rounds) / min(self.rounds) - 1


class Timer:
    """Times callables that launch work on the current stream."""

    def __init__(self):
        self._cache = torch.empty(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self._events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
                        for _ in range(_MOST_LAUNCHES)]

    def flush(self):
        self._cache.zero_()

    def _estimate_ms(self, launch):
        """Device time of a flush and a launch, after a warm-up."""
        for _ in range(3):
            launch()
        start, end = self._events[0]
        start.record()
        for _ in range(3):
            self.flush()
            launch()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 3

    def sample(self, launch, budget_ms):
        """([microseconds of each launch], whether the host was the bottleneck)."""
        count = int(budget_ms / self._estimate_ms(launch))
        events = self._events[:min(max(count, _FEWEST_LAUNCHES), _MOST_LAUNCHES)]
        self.flush()
        begin = time.perf_counter()
        for start, end in events:
            self.flush()
            start.record()
            launch()
            end.record()
        host_ms = (time.perf_counter() - begin) * 1e3
        torch.cuda.synchronize()
        device_ms = events[0][0].elapsed_time(events[-1][1])
        times = [start.elapsed_time(end) * 1e3 for start, end in events]
        return times, host_ms > 0.95 * device_ms and len(events) > _FEWEST_LAUNCHES


def compare(timer, candidates, rounds, budget_ms):
    """{name: Timing} of {name: callable}, timed in turn."""
    medians = {name: [] for name in candidates}
    least = dict.fromkeys(candidates, float("inf"))
    bound = dict.fromkeys(candidates, 0)
    for _ in range(rounds):
        for name, launch in candidates.items():
            times, is_host_bound = timer.sample(launch, budget_ms)
            medians[name].append(statistics.median(times))
            least[name] = min(least[name], min(times))
            bound[name] += is_host_bound
    return {name: Timing(medians[name], least[name], 2 * bound[name] > rounds)
            for name in candidates}


def copy_ceiling(timer, rounds, budget_ms, size=4 << 30):
    """GB/s, bytes read and written, of torch's copy of `size` bytes."""
    source = torch.empty(size // 4, dtype=torch.int32, device="cuda").random_()
    target = torch.empty_like(source)
    timing = compare(timer, {"copy": lambda: target.copy_(source)}, rounds, budget_ms)["copy"]
    return 2 * size / timing.median / 1e3


def host_microseconds(launch, batch=200, batches=15):
    """Host time of one warm call: the median over batches; the device is idle before each."""
    for _ in range(20):
        launch()
    samples = []
    for _ in range(batches):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(batch):
            launch()
        samples.append((time.perf_counter() - begin) / batch * 1e6)
    torch.cuda.synchronize()
    return statistics.median(samples)
