# SPDX-License-Identifier: GPL-2.0
"""Documentation/coverage.rst: what is promised, and the tests that prove it."""

import re

from .documents import line_of, parse
from .tree import Finding

TABLE = "Documentation/coverage.rst"

ROWS = [f"{letter}{number}"
        for letter, last in (("A", 18), ("B", 9), ("C", 11), ("D", 14), ("E", 13), ("F", 8))
        for number in range(1, last + 1)]

DONE, PARTLY, NOT_YET = "done", "partly", "not yet"


def rows(tree):
    """The table's rows: (line, row, state, what, names of tests)."""
    import docutils.nodes
    document, _ = parse(TABLE, tree.text(TABLE))
    for node in document.findall(docutils.nodes.row):
        cells = [entry.astext().strip() for entry in node.children]
        if len(cells) != 4 or not re.match(r"^[A-Z]\d+$", cells[0]):
            continue
        tests = [literal.astext() for literal in
                 node.children[3].findall(docutils.nodes.literal)]
        lines = [number for number, text in tree.lines(TABLE)
                 if re.match(rf"\s*\* - {cells[0]}\s*$", text)]
        yield (lines[0] if lines else line_of(node)), cells[0], cells[1], cells[2], tests


def coverage(tree):
    """every promise has its row, every test named there exists"""
    if TABLE not in tree.files():
        yield Finding(TABLE, 1, "there is no table of what is promised")
        return
    known = set(test_names(tree))
    seen = set()
    for line, row, state, what, tests in rows(tree):
        if row in seen:
            yield Finding(TABLE, line, f"row {row} stands there twice")
        seen.add(row)
        if row not in ROWS:
            yield Finding(TABLE, line, f"row {row} is not one of those promised")
        if not what:
            yield Finding(TABLE, line, f"row {row} does not say what is offered")
        if state not in (DONE, PARTLY, NOT_YET):
            yield Finding(TABLE, line, f"row {row} is '{state}'; "
                          f"it can be {DONE}, {PARTLY} or {NOT_YET}")
        if state in (DONE, PARTLY) and not tests:
            yield Finding(TABLE, line, f"row {row} is {state} and names no test that shows it")
        if state == NOT_YET and tests:
            yield Finding(TABLE, line, f"row {row} is {NOT_YET} and names tests")
        for test in tests:
            if plain(test) not in known:
                yield Finding(TABLE, line, f"row {row} names the test '{test}', "
                              "which does not exist")
            elif tree.tests_ran is not None and ran(test, tree.tests_ran):
                yield Finding(TABLE, line, f"row {row} names the test '{test}', which did not "
                              f"run, or did not pass, in {ran(test, tree.tests_ran)}")
    for row in ROWS:
        if row not in seen:
            yield Finding(TABLE, 1, f"row {row} is missing")


# The same tests, run in several kernels; as a tier, "e2e" or "core" means all of them.
KERNELS = {tier: [f"{tier}-{kernel}" for kernel in ("6-1", "6-12", "7-2", "debug")]
           for tier in ("e2e", "core")}


def plain(test):
    """A test as the tree knows it, without where it runs."""
    tier, _, name = test.partition(": ")
    for whole, parts in KERNELS.items():
        if tier in parts:
            tier = whole
    tier = {"nodes": "e2e", "library": "e2e"}.get(tier, tier.removesuffix("-debug"))
    return f"{tier}: {name}"


def ran(test, tests_ran):
    """What is missing of a test among those that ran, or ""."""
    tier, _, name = test.partition(": ")
    wanted = KERNELS.get(tier, [tier])
    # The end-to-end tests say by which program: "e2e-6-1: device.64: device.one".
    done = {re.sub(r"^(e2e-[\w-]+|nodes|library|tool): \w+\.(?:\d+|sh): ", r"\1: ", line)
            for line in tests_ran}
    return ", ".join(tier for tier in wanted if f"{tier}: {name}" not in done)


SHELL_TEST = re.compile(
    r"^[^#\n]*?(?<![\w-])(?:ok|not_ok|skip|expect|check|same|result|ended|holds|fails\s+\d+)\s+"
    r"(?:\"([^\"$\n]+)\"|'([^'\n]+)'|([\w.-]+))(?=\s|$)", re.MULTILINE)


def test_names(tree):
    """Names of the tests that the tree holds: "tier: name", the tier is the folder."""
    for name in tree.files(".c", under=("kunit/",)):
        # A suite comes behind its cases.
        cases = []
        for case, suite in re.findall(r"\bKUNIT_CASE\w*\((\w+)|^\t\.name\s*=\s*\"([\w-]+)\"",
                                      tree.text(name), re.MULTILINE):
            if case:
                cases.append(case)
            else:
                yield from (f"kunit: {suite}: {one}" for one in cases)
                cases = []
    for name in tree.files(under=("tools/testing/",)):
        tier, _, rest = name.removeprefix("tools/testing/").partition("/")
        if not rest or tier == "static":
            continue
        if name.endswith(".c"):
            for test in (*c_tests(tree.text(name)), *core_cases(tree.text(name))):
                yield f"{tier}: {test}"
        elif tree.shell(name):
            for groups in SHELL_TEST.findall(tree.text(name)):
                yield f"{tier}: {''.join(groups)}"
    yield from (f"static: {test}" for test in static_tests(tree))


def c_tests(text):
    """Tests of a program made with kselftest_harness.h, as it prints them."""
    variants = re.findall(r"\bFIXTURE_VARIANT_ADD\((\w+),\s*(\w+)\)", text)
    for fixture, test in re.findall(r"^TEST_F\w*\((\w+),\s*(\w+)", text, re.MULTILINE):
        own = [variant for owner, variant in variants if owner == fixture]
        for variant in own or [None]:
            yield ".".join(filter(None, (fixture, variant, test)))
    yield from re.findall(r"^\tRUN\((\w+)\);", text, re.MULTILINE)
    for test in re.findall(r"^TEST(?:_SIGNAL)?\((\w+)[,)]", text, re.MULTILINE):
        yield f"global.{test}"


def core_cases(text):
    """Cases of krdma_core_test.ko, as its run.sh prints them: by device."""
    for kind, case in re.findall(r"^\tCORE_CASE(_\w+)?\((\w+)\)", text, re.MULTILINE):
        names = [case]
        if kind == "_CONTEXTS":
            names = [f"{case}.{where}" for where in ("workqueue", "softirq", "poll")]
        labels = ["rxe", "siw"]
        if kind == "_ADDRESSES":
            labels += ["rxe ipv6", "siw ipv6"]
        yield from (f"{label}: {one}" for label in labels for one in names)


def static_tests(tree):
    """The checks of this tier."""
    script = "tools/testing/static/run"
    if script in tree.files():
        yield from re.findall(r'^    "([\w.-]+)": \w+\.\w+,$', tree.text(script), re.MULTILINE)
    builds = "tools/testing/static/krdma_static/builds.py"
    if builds in tree.files():
        found = re.search(r"^SERIES = \((.*)\)$", tree.text(builds), re.MULTILINE)
        yield from (f"build-{series}" for series in re.findall(r'"([\w.]+)"', found.group(1)))
