# SPDX-License-Identifier: GPL-2.0
"""report.html: all results, in one file that loads no other."""

import html
import re

from figures import PAIRS, PERCENTILES
from plot import Line, plot
from table import number, rows

STYLE = """
:root { --ink: #1b1f24; --paper: #fff; --faint: #d5dae0; --ours: #1565c0; --theirs: #c75300; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e6ea; --paper: #15181c; --faint: #363c44; --ours: #6fb1ff; --theirs: #ffa45c; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 75em; margin: 2em auto; padding: 0 1em; }
figure { display: inline-block; width: 28em; max-width: 100%; margin: 0 1em 1em 0; }
figcaption { font-weight: 600; }
svg { width: 100%; }
svg text { font-size: 11px; fill: var(--ink); }
.middle { text-anchor: middle; } .end { text-anchor: end; }
svg .grid { stroke: var(--faint); stroke-width: 1; }
.ours { stroke: var(--ours); } .theirs { stroke: var(--theirs); }
circle.ours { fill: var(--ours); } circle.theirs { fill: var(--theirs); }
polyline, line { fill: none; stroke-width: 1.8; }
.second { stroke-dasharray: 5 3; } circle.second { stroke-dasharray: none; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin-bottom: 1.5em; }
th, td { text-align: right; padding: .15em .7em; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; }
.missed { color: var(--theirs); font-weight: 600; } .met { color: var(--ours); }
"""
CLASSES = {"krdma": "ours", "verbs": "theirs"}


def table(head, body):
    """A table; each cell is a text, or a text and its class."""
    def cell(value, tag="td"):
        text, style = value if isinstance(value, tuple) else (value, "")
        mark = f' class="{style}"' if style else ""
        return f"<{tag}{mark}>{html.escape(str(text))}</{tag}>"

    lines = ["<table><tr>" + "".join(cell(one, "th") for one in head) + "</tr>"]
    lines += ["<tr>" + "".join(cell(one) for one in row) + "</tr>" for row in body]
    return "\n".join([*lines, "</table>"])


def targets(report):
    """The table of verdicts."""
    body = []
    for one in report["targets"]:
        what = one["name"] + (f" ({one['what']})" if one["what"] else "")
        body.append((what, one["mode"], number(one["krdma"]), number(one["theirs"]),
                     number(one["ratio"]), f"{one['target']:g}",
                     ("met", "met") if one["met"] else ("missed", "missed")))
    return table(("target", "mode", "krdma", "peer", "krdma / peer", "at most", ""), body)


def distributions(results, unit):
    """The distribution of latencies: a plot for each operation at depth 1."""
    for name, peers in results.items():
        if ".depth=1." not in name and not name.startswith("wake"):
            continue
        lines = [
            Line(peer, CLASSES[peer],
                 [(peers[peer][key], float(key[1:])) for key in PERCENTILES])
            for peer in CLASSES if "p50" in peers.get(peer, {})]
        yield plot(name, lines, (unit, "per cent took no more"), (True, False))


def binary(size):
    """Format a size with a binary unit: 65536 is 64Ki."""
    return f"{size // 1024}Ki" if size >= 1024 else str(size)


def bandwidths(results, unit):
    """Throughput over the size of the operations."""
    lines = []
    sizes = set()
    for operation, second in ("write", ""), ("read", " second"):
        for peer, style in CLASSES.items():
            points = []
            for name, peers in results.items():
                match = re.fullmatch(operation + r"\.(\d+)\.depth=16\.batch=4", name)
                if match and peer in peers:
                    size = int(match[1])
                    sizes.add(size)
                    points.append((size, size * 1000 / peers[peer]["figure"]))
            lines.append(Line(f"{peer} {operation}", style + second, sorted(points)))
    label = "MB/s" if unit == "ns" else "bytes for 1,000 instructions"
    return plot(f"bandwidth over size, depth 16, {label}", lines, ("bytes of an operation", label),
                (True, False), [(size, binary(size)) for size in sorted(sizes)])


def growth(results):
    """The kernel's memory over the number of connections."""
    lines = []
    for kind, second in ("own", ""), ("shared", " second"):
        for peer, style in CLASSES.items():
            points = [(0, 0)]
            for name, peers in results.items():
                match = re.fullmatch(rf"grown\.{kind}\.(\d+)", name)
                if match and peer in peers:
                    points.append((int(match[1]), peers[peer]["figure"] / 2 ** 20))
            lines.append(Line(f"{peer} {kind}", style + second,
                              sorted(points) if len(points) > 1 else []))
    return plot("kernel memory over connections, both ends", lines, ("connections", "MiB"))


def memory(results, conns):
    """The table of memory, item by item."""
    for kind in "own", "shared":
        prefix = f"memory.{kind}.{conns}."
        body = [(name.removeprefix(prefix), *(number(peers.get(peer, {}).get("figure"))
                                              for peer in CLASSES))
                for name, peers in results.items()
                if name.startswith(prefix) and ".sum." not in name]
        if body:
            yield f"<h3>{conns} connections, {kind}</h3>"
            yield table(("item", *CLASSES), body)


def mode_parts(report, mode):
    """All parts of one mode."""
    measured = report["modes"][mode]
    results, unit = measured["results"], measured["unit"]
    yield f"<h2>By {mode}</h2>"
    yield (f"<p>In {unit}; of each round the {measured['figure']} counts, and of the "
           f"{report['rounds']} rounds the median.</p>")
    yield from distributions(results, unit)
    yield bandwidths(results, unit)
    yield growth(results)
    yield "<h3>All figures</h3>"
    yield table(("", "krdma", "p99", "peer", "p99", "ratio", "target", "met"),
                [row for row in rows(report, mode)
                 if not row[0].startswith(("memory.", "grown."))])
    paired = {side for pair in PAIRS for side in (pair.ours, pair.theirs, pair.ratio)}
    checks = [(f"{peer}: {name}", number(result["figure"]))
              for name, peers in results.items() for peer, result in peers.items()
              if peer not in paired]
    if checks:
        yield "<h3>Cross-check</h3>" + table(("", "figure"), checks)
    yield "<h3>Memory of a connection, both ends, in bytes</h3>"
    yield from memory(results, report["conns"])


def page(report):
    """The whole file."""
    met = sum(one["met"] for one in report["targets"])
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>krdma and its peers</title><style>{STYLE}</style></head><body>",
        "<h1>krdma and its peers</h1>",
        f"<p>Linux {html.escape(report['kernel'])}, rxe, both ends on one machine, by turns in "
        "one boot.  krdma: libkrdma's thin layer.  verbs: libibverbs and librdmacm.  librpma: what "
        "it has of the same, where it is installed.</p>",
        f"<h2>{met} of {len(report['targets'])} targets are met</h2>", targets(report)]
    for mode in report["modes"]:
        parts += mode_parts(report, mode)
    return "\n".join([*parts, "</body></html>", ""])
