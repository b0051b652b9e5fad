# SPDX-License-Identifier: GPL-2.0
"""What was measured: lines of tools/bench/guest.sh become medians, ratios and verdicts."""

import collections
import dataclasses
import statistics

# As in tools/bench/peer/series.c.
PERCENTILES = ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9")
TIME = ("count", "mean", "min", *PERCENTILES, "max")
# Bytes of the MR of each end of a connection of the kind "own".
OWN_MEMORY = 4096
# Maximum bytes of a program's handle of a connection.
HANDLES = 512


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two programs to compare, the name of the ratio, and the label of the verdict."""

    ours: str
    theirs: str
    ratio: str
    label: str


PAIRS = (Pair("krdma", "verbs", "ratio", ""),
         Pair("krdma", "rpma", "ratio.rpma", "librpma: "),
         Pair("kernel-krdma", "kernel-verbs", "ratio", "in the kernel: "))
# Operations of other programs that consist of several operations of verbs, and which these are.
# The size is that of tools/bench/guest.sh; it does not matter as long as it is small.
SUMS = {"rping.64": {"echo.8.depth=1.event": 2, "read.8.depth=1.event": 1,
                     "write.8.depth=1.event": 1}}


class Malformed(Exception):
    """A line without a valid result."""


@dataclasses.dataclass(frozen=True)
class Target:
    """krdma's figure of one name, divided by a peer's of the same or another name."""

    mode: str
    name: str
    most: float
    peer: str = "verbs"
    of: str = ""
    what: str = ""


def targets(conns):
    """All targets; those without measured figures are left out later."""
    for mode, names in {
            "instructions": ["write.8.depth=1.poll", "read.8.depth=1.poll",
                             "fetch-add.8.depth=1.poll", "echo.8.depth=1.event"]}.items():
        for name in names:
            yield Target(mode, name, 1.00)
    yield Target("instructions", "write.8.depth=64.batch=64", 0.90)
    for mode in "instructions", "wall":
        for operation in "write", "read":
            yield Target(mode, f"{operation}.65536.depth=16.batch=4", 1.00)
    yield Target("instructions", "connect.own.at-once=1.busy", 0.80)
    yield Target("instructions", "connect.own.at-once=1", 0.80, what="idle time included")
    yield Target("wall", "connect.own.at-once=1", 0.80)
    for mode in "instructions", "wall":
        own = f"memory.own.{conns}.kernel"
        yield Target(mode, own, 1.00)
        yield Target(mode, f"memory.shared.{conns}.kernel", 0.50, of=own,
                     what="with what is shared, of verbs without")


def which(name, mode):
    """The figure of durations to use: real time is disturbed, instruction counts are not.  In a
    stream several operations may complete together, and then none for a while, so only the mean
    is meaningful."""
    return "p50" if mode == "wall" and ".batch=" not in name else "mean"


def figure(kind, values, name, mode):
    """The result of one round as one number."""
    return values["value" if kind == "value" else which(name, mode)]


def read(path):
    """The lines of a file: {name: {peer: [(kind, values)]}}."""
    results = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            try:
                _, peer, kind, name, *numbers = words
                keys = {"time": TIME, "value": ("value",)}[kind]
                values = dict(zip(keys, map(float, numbers), strict=True))
            except (KeyError, ValueError) as error:
                raise Malformed(f"{path}:{number}: not a result: {line.strip()}") from error
            results[name][peer].append((kind, values))
    return results


def summarize(rounds, name, mode):
    """All rounds of one name and peer."""
    kind = rounds[0][0]
    figures = [figure(kind, values, name, mode) for _, values in rounds]
    summary = {"figure": statistics.median(figures), "rounds": figures}
    if kind == "time":
        for key in TIME[1:]:
            summary[key] = statistics.median(values[key] for _, values in rounds)
    return summary


def paired(ours, theirs):
    """The median of the ratios of single rounds: a disturbance in a round affects both programs."""
    pairs = [one / other for one, other in zip(ours["rounds"], theirs["rounds"]) if other]
    return statistics.median(pairs) if pairs else None


def add_sums(results):
    """Adds verbs' sums for operations that consist of several operations of verbs."""
    for name, parts in SUMS.items():
        if name in results and all("verbs" in results.get(part, ()) for part in parts):
            results[name]["verbs-sum"] = {
                "figure": sum(times * results[part]["verbs"]["figure"]
                              for part, times in parts.items())}


def collect(paths, meta):
    """The whole report, as it is written to bench.json."""
    report = {**meta, "modes": {}, "targets": []}
    for mode, path in paths.items():
        results = {
            name: {peer: summarize(rounds, name, mode) for peer, rounds in peers.items()}
            for name, peers in read(path).items()}
        for peers in results.values():
            for pair in PAIRS:
                if pair.ours in peers and pair.theirs in peers:
                    peers[pair.ratio] = paired(peers[pair.ours], peers[pair.theirs])
        add_sums(results)
        report["modes"][mode] = {
            "unit": "instructions" if mode == "instructions" else "ns",
            "figure": "mean" if mode == "instructions" else "p50, of streams mean",
            "results": results}
    report["targets"] = list(judge(report, meta["conns"]))
    return report


def judge(report, conns):
    """The verdict of each target with measured figures."""
    for target in targets(conns):
        results = report["modes"].get(target.mode, {}).get("results", {})
        ours = results.get(target.name, {}).get("krdma")
        theirs = results.get(target.of or target.name, {}).get(target.peer)
        if ours and theirs:
            ratio = paired(ours, theirs)
            yield {"mode": target.mode, "name": target.name, "of": target.of or target.name,
                   "peer": target.peer, "what": target.what, "krdma": ours["figure"],
                   "theirs": theirs["figure"], "ratio": ratio, "target": target.most,
                   "met": ratio is not None and round(ratio, 2) <= target.most}
    for mode, measured in report["modes"].items():
        name = f"memory.own.{conns}.process.resident"
        ours = measured["results"].get(name, {}).get("krdma")
        theirs = measured["results"].get(name, {}).get("verbs")
        if ours and theirs:
            beyond = max(0, ours["figure"] - OWN_MEMORY)
            yield {"mode": mode, "name": name, "of": name, "peer": "verbs",
                   "what": "beside its own 4096 bytes; nothing but a handle",
                   "krdma": beyond, "theirs": max(0, theirs["figure"] - OWN_MEMORY),
                   "ratio": None, "target": HANDLES, "met": beyond <= HANDLES}
