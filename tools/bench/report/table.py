# SPDX-License-Identifier: GPL-2.0
"""The table on the terminal."""

from figures import PAIRS


def number(value):
    """Format a number, with two decimals only if it is small."""
    if value is None:
        return "-"
    return f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"


def verdicts(report, mode):
    """The text of the last columns, by name."""
    return {one["name"]: (f"{one['target']:.2f}" if one["ratio"] is not None
                          else f"{one['target']} B", "yes" if one["met"] else "NO")
            for one in report["targets"] if one["mode"] == mode and one["of"] == one["name"]}


def rows(report, mode):
    """A row for each name that both programs of a pair have; targets apply to verbs."""
    said = verdicts(report, mode)
    for pair in PAIRS:
        for name, peers in report["modes"][mode]["results"].items():
            if pair.ours not in peers or pair.theirs not in peers:
                continue
            one, other = peers[pair.ours], peers[pair.theirs]
            yield (pair.label + name, number(one["figure"]), number(one.get("p99")),
                   number(other["figure"]), number(other.get("p99")),
                   number(peers.get(pair.ratio)),
                   *(said.get(name, ("", "")) if pair.theirs == "verbs" else ("", "")))


def alone(report, mode):
    """Figures of only one cross-check, with those of verbs if it has the same or a sum."""
    for name, peers in report["modes"][mode]["results"].items():
        for peer, result in peers.items():
            if peer in ("perftest", "rping"):
                beside = peers.get("verbs") or peers.get("verbs-sum")
                of_sum = ", of a sum" if "verbs-sum" in peers else ""
                yield (f"{peer}: {name}{of_sum}", number(result["figure"]),
                       number(beside["figure"]) if beside else "-",
                       number(result["figure"] / beside["figure"]) if beside else "-")


def detail(name):
    """True for items of memory, which are only in the report."""
    return name.startswith("grown.") or (
        name.startswith("memory.") and not name.endswith((".kernel", ".process.resident")))


def lines(report):
    """The whole table."""
    for mode, measured in report["modes"].items():
        yield ""
        yield (f"krdma and its peers on Linux {report['kernel']}, {mode} "
               f"({measured['figure']} of a round, median of {report['rounds']} rounds; "
               f"in {measured['unit']}, memory in bytes)")
        form = "{:<42} {:>12} {:>12} {:>12} {:>12} {:>7} {:>7} {:>4}"
        yield form.format("", "krdma", "p99", "peer", "p99", "ratio", "target", "met")
        for row in rows(report, mode):
            if not detail(row[0]):
                yield form.format(*row)
        checks = list(alone(report, mode))
        if checks:
            yield ""
            yield "{:<42} {:>12} {:>12} {:>12}".format("cross-check", "figure", "verbs",
                                                        "of verbs")
        for row in checks:
            yield "{:<42} {:>12} {:>12} {:>12}".format(*row)
    yield ""
    yield "targets"
    for one in report["targets"]:
        ratio = (f"{one['ratio']:.2f} of {one['peer']}" if one["ratio"] is not None
                 else f"{number(one['krdma'])} bytes")
        what = f" ({one['what']})" if one["what"] else ""
        yield (f"  {'met   ' if one['met'] else 'MISSED'} {one['mode']:<12} {one['name']}{what}: "
               f"{ratio}, at most {one['target']:g}")
    met = sum(one["met"] for one in report["targets"])
    yield f"{met} of {len(report['targets'])} targets are met"
