# SPDX-License-Identifier: GPL-2.0
"""The tests in the tree, and the rows of coverage.rst that they prove.

An annotation is a separate line, directly above its test; in C it may also be
the last line of the comment there:

    /* Proves: A4, B3 (core-debug), E9 (core-debug siw) */
    # Proves: F1

The parentheses name the tiers that count, if these are not the ones that run the test
by default, and a provider or a variant, if not all of them count.
"""

import re
from typing import NamedTuple

from .tree import Finding

HERE = "tools/testing/static/krdma_static/tests.py"

KERNELS = ("6-1", "6-12", "7-2", "debug")
# The tiers that run the tests of a folder: by default, and those that an annotation can name
# besides.
TIERS = {
    "e2e": [f"e2e-{kernel}" for kernel in KERNELS],
    "core": [f"core-{kernel}" for kernel in KERNELS],
    "blk": ["blk-6-1", "blk-6-12", "blk-7-2"],
}
# And those of scripts that run elsewhere.
SCRIPT_TIERS = {
    "tools/testing/blk/apart.sh": ["blk-apart"],
    "tools/testing/blk/attach.sh": ["blk-late"],
    "tools/testing/blk/hostile.sh": ["blk-hostile"],
    "tools/testing/blk/late.sh": ["blk-late"],
    "tools/testing/blk/limit.sh": ["blk-hostile"],
    "tools/testing/blk/mirror.sh": ["blk-mirror"],
    "tools/testing/blk/poll.sh": ["blk-hostile"],
    "tools/testing/blk/refused.sh": ["blk-hostile"],
    "tools/testing/blk/suspend.sh": ["blk-late"],
}
OTHER_TIERS = {
    "e2e": ("nodes", "losses", "losses-7-2", "lane-scale", "library", "peer"),
    "harness": ("harness-debug",),
    "storm": ("storm-debug",),
    "blk": ("blk-debug",),
    "peer": ("peer-debug",),
    "tool": ("tool-iwarp",),
    "packages": ("packages-13", "packages-rpm"),
    "system": ("units", "secure-boot"),
}

ANNOTATION = re.compile(r"^\s*(?:/\*| \*|#) Proves: (.*?)(?: \*/)?$")
# Lines that resemble an annotation, so that an annotation in a wrong form is reported.
RESEMBLES = re.compile(r"\bProves:|(?i:^\s*(?:/\*+|\*|//|#)\s*proves?(?:\s*:|\s+[A-Z]\d))")
ITEM = re.compile(r"([A-Z]\d+)(?: \(([\w. -]+)\))?")

SHELL_TEST = re.compile(
    r"^[^#\n]*?(?<![\w-])(?:ok|not_ok|skip|expect|check|same|result|ended|holds|fails\s+\d+)\s+"
    r"(?:\"([^\"$\n]+)\"|'([^'\n]+)'|([\w.-]+))(?=\s|$)")


# The providers that count for a case of the core, unless its annotation names one.
PROVIDERS = {"", "rxe"}


class Name(NamedTuple):
    """One of the names of a test.  A test that runs in variants has several."""

    name: str
    provider: str = ""
    variant: str = ""
    # Short form of this name and all others with the same pattern.
    pattern: str = ""


class Test:
    """A test: its folder, its names, and the program that its results are reported under."""

    def __init__(self, folder, names, program="", script=""):
        self.folder = folder
        self.names = names
        self.program = program
        self.default_tiers = SCRIPT_TIERS.get(script, TIERS.get(folder, [folder]))
        self.tiers = {*self.default_tiers, *OTHER_TIERS.get(folder, ())}
        self.providers = {name.provider for name in names} - {""}
        self.variants = {name.variant for name in names} - {""} - self.providers

    def knows(self, word):
        """Whether an annotation may name this tier, provider or variant."""
        return word in self.tiers | self.providers | self.variants

    def chosen(self, words):
        """The names that the words of an annotation select."""
        providers = self.providers & set(words) or PROVIDERS
        variants = self.variants & set(words)
        return [name for name in self.names
                if name.provider in providers and (not variants or name.variant in variants)]

    def shown(self, names):
        """The short forms of some of its names."""
        short = {}
        for name in names:
            alike = {one for one in self.names if name.pattern and one.pattern == name.pattern}
            short[name.pattern if len(alike) > 1 and alike <= set(names) else name.name] = None
        return list(short)


class Proof:
    """What an annotation states: this test proves this row, in these tiers."""

    def __init__(self, path, line, row, test, words):
        self.path = path
        self.line = line
        self.row = row
        names = test.chosen(words)
        tiers = [word for word in words if word in test.tiers]
        self.wanted = [f"{tier}: {test.program}{name.name}"
                       for tier in tiers or test.default_tiers for name in names]
        self.labels = [f"{tier}: {short}" for tier in tiers or [test.folder]
                       for short in test.shown(names)]

    def missing(self, ran):
        """The wanted tests that did not run, or did not pass."""
        return [one for one in self.wanted if one not in ran]


def c_tests(name, text, tables):
    """(line, tests declared there) of a C file; "tables": see case_tables()."""
    folder = "kunit" if name.startswith("kunit/") else name.split("/")[2]
    program = f"{name.rsplit('/', 1)[1][:-2]}.64: " if folder == "e2e" else ""
    variants = re.findall(r"^[^#\n]*?\bFIXTURE_VARIANT_ADD\((\w+),\s*(\w+)\)", text, re.MULTILINE)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"TEST_F\w*\((\w+),\s*(\w+)", line)
        if match:
            yield number, [Test(folder, fixture_names(folder, variants, *match.groups()), program)]
            continue
        match = re.match(r"TEST(?:_SIGNAL)?\((\w+)[,)]", line)
        if match:
            yield number, [Test(folder, [Name(f"global.{match.group(1)}")], program)]
            continue
        match = re.match(r"static (?:\w+ )+(\w+)\((?:struct (?:core_test|kunit|case_report) \*\w+|void)\)$",
                         line)
        if match:
            found = tables.get((name, match.group(1)), []) + tables.get((None, match.group(1)), [])
            if found:
                yield number, found


def fixture_names(folder, variants, fixture, test):
    """The names of a test of a fixture, one for each variant of the fixture."""
    names = []
    for variant in dict.fromkeys(variant for owner, variant in variants if owner == fixture):
        # The core's program has two variants for each provider.
        provider = variant.split("_")[0] if folder == "core" else ""
        names.append(Name(f"{fixture}.{variant}.{test}", provider, variant,
                          f"{fixture}.{provider}*.{test}"))
    return names or [Name(f"{fixture}.{test}")]


def core_case(kind, case):
    """A case of krdma_core_test.ko, with the names that its run.sh prints for each device."""
    names = []
    for provider in ("rxe", "siw"):
        names.append(Name(f"{provider}: {case}", provider))
        if kind == "_ADDRESSES":
            names.append(Name(f"{provider} ipv6: {case}", provider))
        elif kind == "_CONTEXTS":
            # Over siw, run.sh tests callbacks in a workqueue only.
            names.pop()
            names += [Name(f"{provider}: {case}.{context}", provider, context,
                           f"{provider}: {case}.*")
                      for context in ("workqueue", "softirq", "poll")
                      if provider == "rxe" or context == "workqueue"]
    return Test("core", names)


def case_tables(tree):
    """Functions that a table declares as tests: (file or None for any, function) to tests."""
    tables = {}
    for name in tree.files(".c", under=("kunit/", "tools/testing/")):
        text = tree.text(name)
        # The name of a suite follows its cases.
        cases = []
        for case, suite in re.findall(r"\bKUNIT_CASE\w*\((\w+)|^\t\.name\s*=\s*\"([\w-]+)\"",
                                      text, re.MULTILINE):
            if case:
                cases.append(case)
                continue
            for one in cases:
                test = Test("kunit", [Name(f"{suite}: {one}")])
                tables.setdefault((name, one), []).append(test)
                # The function of a pure test is in a header, because a program runs it too.
                pure = one.removeprefix("test_")
                if f"PURE_TEST({pure})" in text:
                    tables.setdefault((None, pure), []).append(test)
            cases = []
        if name.startswith("kunit/"):
            continue
        folder = name.split("/")[2]
        for kind, case in re.findall(r"^\tCORE_CASE(_\w+)?\((\w+)\)", text, re.MULTILINE):
            tables.setdefault((name, case), []).append(core_case(kind, case))
        for case in re.findall(r"^\tRUN\((\w+)\);", text, re.MULTILINE):
            place = None if folder == "pure" else name
            tables.setdefault((place, case), []).append(Test(folder, [Name(case)]))
    return tables


def shell_tests(name, text):
    """(line, the test named there) of a shell script."""
    folder = name.split("/")[2]
    program = name.rsplit("/", 1)[1] + ": " if folder == "tool" else ""
    for number, line in enumerate(text.splitlines(), 1):
        match = SHELL_TEST.match(line)
        if match:
            yield number, [Test(folder, [Name("".join(filter(None, match.groups())))], program,
                                name)]


def python_tests(name, text):
    """(line, the test declared there) of a suite in Python."""
    folder, program = name.split("/")[2], name.rsplit("/", 1)[1] + ": "
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"def test_(\w+)\(", line)
        if match:
            yield number, [Test(folder, [Name(match.group(1))], program)]


def static_tests(tree):
    """(file, line, test) of the checks of this tier."""
    script = "tools/testing/static/run"
    if script not in tree.files():
        return
    functions = {(module, function): check for check, module, function in
                 re.findall(r'^    "([\w.-]+)": (\w+)\.(\w+),$', tree.text(script), re.MULTILINE)}
    for (module, function), check in functions.items():
        name = f"tools/testing/static/krdma_static/{module}.py"
        for number, line in (tree.lines(name) if name in tree.files() else ()):
            if line.startswith(f"def {function}("):
                yield name, number, Test("static", [Name(check)])
    builds = "tools/testing/static/krdma_static/builds.py"
    if builds in tree.files():
        found = re.search(r"^SERIES = \((.*)\)$", tree.text(builds), re.MULTILINE)
        for series in re.findall(r'"([\w.]+)"', found.group(1)):
            yield builds, tree.text(builds).count("\n", 0, found.start()) + 1, \
                Test("static", [Name(f"build-{series}")])


def all_tests(tree):
    """All tests: file to line to the tests that are declared there."""
    tables = case_tables(tree)
    found = {}
    for name in tree.files(under=("kunit/", "tools/testing/")):
        if name.startswith("tools/testing/static/") or \
                not name.startswith("kunit/") and name.count("/") < 3:
            continue
        if name.endswith((".c", ".h")):
            found[name] = dict(c_tests(name, tree.text(name), tables))
        elif name.endswith(".py"):
            found[name] = dict(python_tests(name, tree.text(name)))
        elif name.startswith("tools/testing/") and tree.shell(name):
            found[name] = dict(shell_tests(name, tree.text(name)))
    for name, line, test in static_tests(tree):
        found.setdefault(name, {}).setdefault(line, []).append(test)
    return found


def test_names(tree):
    """The names of all tests, "folder: name"."""
    for lines in all_tests(tree).values():
        for tests in lines.values():
            for test in tests:
                yield from (f"{test.folder}: {name.name}" for name in test.names)


def may_annotate(name):
    """Whether a file can have annotations.  Documents, selftest and this file quote them."""
    return not name.startswith(("Documentation/", "tools/testing/static/")) or \
        name.startswith("tools/testing/static/krdma_static/") and name != HERE


def proofs(tree, rows):
    """The Proofs that the annotations of the tree state, and Findings for wrong annotations."""
    asked = asked_programs(tree)
    tests = all_tests(tree)
    for name in tree.files():
        if not may_annotate(name) or "proves" not in tree.text(name).lower():
            continue
        lines = [""] + tree.text(name).splitlines()
        for number, line in enumerate(lines):
            match = ANNOTATION.match(line)
            if not match:
                if RESEMBLES.search(line):
                    yield Finding(name, number, "this is no annotation: it is a line of its own, "
                                  "'/* Proves: A1, B2 (TIER) */', or with '#'")
                continue
            below = number + 1
            while below < len(lines) and (ANNOTATION.match(lines[below]) or
                                          lines[below].strip() == "*/"):
                below += 1
            if below in tests.get(name, ()):
                yield from statements(name, number, match.group(1), tests[name][below], rows,
                                      name in asked)
            else:
                yield Finding(name, number, "there is no test in the line below this annotation")


def statements(name, number, text, tests, rows, asked):
    """The Proofs, or Findings, of one annotation and the tests below it.  "asked": their
    program runs only in tiers that name it.
    """
    seen = set()
    for item in text.split(", "):
        match = ITEM.fullmatch(item)
        if not match:
            yield Finding(name, number, f"'{item}' is no row such as 'A1' or 'A1 (TIER)'")
            continue
        row, words = match.group(1), (match.group(2) or "").split()
        if row in seen:
            yield Finding(name, number, f"row {row} is named twice")
        seen.add(row)
        if row not in rows:
            yield Finding(name, number, f"there is no row {row}")
            continue
        unknown = [word for word in words if not any(test.knows(word) for test in tests)]
        if unknown:
            yield Finding(name, number, f"the test has no tier and no variant '{unknown[0]}'")
            continue
        tiers = {word for word in words for test in tests if word in test.tiers}
        if asked and not tiers:
            yield Finding(name, number, f"the program of this test runs only where it is asked "
                          f"for: name that tier, as in '{row} (library)'")
            continue
        found = [Proof(name, number, row, test, words) for test in tests
                 if not tiers or tiers & test.tiers]
        if any(not proof.wanted for proof in found):
            yield Finding(name, number, f"'{' '.join(words)}' leaves nothing of the test")
        yield from found


def asked_programs(tree):
    """The sources of end-to-end programs that run only in tiers that name them."""
    name = "tools/testing/e2e/Makefile"
    if name not in tree.files():
        return set()
    match = re.search(r"^PROGRAMS_ASKED := ((?:.*\\\n)*.*)$", tree.text(name), re.MULTILINE)
    return {f"tools/testing/e2e/{one}.c"
            for one in (match.group(1).replace("\\\n", " ").split() if match else ())}
