# SPDX-License-Identifier: GPL-2.0
"""Code in README, the tutorials and the how-to pages is part of a file that the tests build and run,
and their commands are typed by a test."""

import re
import textwrap

from .tree import Finding, Note

PAGES = ("Documentation/tutorial/", "Documentation/howto/")
FROM = re.compile(r"^\.\. (from|all of) (\S+)$")
TYPED = re.compile(r"^ +(one|two)# ")
PROMPT = re.compile(r"^ +([\w@:~-]*[#$]) \S")
WHERE = (".. in a clean system", ".. on both machines")
NOT_TYPED = re.compile(r"^\.\. not typed: (.+)$")
# The pages that the tier first-hour follows: FIRST in tools/testing/packages/run, and one more.
FOLLOWED = ("README.rst", "Documentation/tutorial/", "Documentation/howto/python.rst")
CODE = re.compile(r"^\.\. code-block:: (c|make|python)$")


def plain(lines):
    """Lines without their common indentation."""
    return textwrap.dedent("\n".join(lines).expandtabs(8)).strip("\n").split("\n")


def contains(lines, wanted):
    """The first place of consecutive lines in a file, apart from indentation; None if none."""
    for first in range(len(lines) - len(wanted) + 1):
        if lines[first].strip() == wanted[0].strip() and \
                plain(lines[first:first + len(wanted)]) == wanted:
            return first
    return None


def blocks(tree, name):
    """(line, file that it is from or None, lines) of each block of C, make or Python of a page."""
    lines = tree.text(name).split("\n")
    source, number = None, 0
    while number < len(lines):
        match = FROM.match(lines[number])
        if match and match.group(1) == "from":
            source = match.group(2)
        if CODE.match(lines[number]):
            start, number = number, number + 1
            while number < len(lines) and (not lines[number].strip() or
                                           lines[number][0] in " \t"):
                number += 1
            yield start + 1, source, plain(lines[start + 1:number])
            source = None
            continue
        number += 1


def excerpts(tree):
    """code in README, tutorials and how-to pages is part of a file of the tree that is tested"""
    files = set(tree.files())
    for name in tree.files(".rst", under=("README.rst", *PAGES)):
        shown = {}
        for line, source, code in blocks(tree, name):
            if not source:
                yield Finding(name, line, "the line above must say where it is from: .. from FILE")
            elif source not in files:
                yield Finding(name, line, f"there is no {source}")
            else:
                text = tree.text(source).split("\n")
                first = contains(text, code)
                if first is None:
                    yield Finding(name, line, f"this is not part of {source}")
                else:
                    shown.setdefault(source, set()).update(range(first, first + len(code)))
        for number, text in tree.lines(name):
            match = FROM.match(text)
            if match and match.group(1) == "all of" and match.group(2) in files:
                for missing, line in tree.lines(match.group(2)):
                    if line.strip() and missing - 1 not in shown.get(match.group(2), ()):
                        yield Finding(name, number, f"line {missing} of {match.group(2)} is not shown")
                        break


def commands(tree):
    """commands in README, tutorials and how-to pages are typed by a test, or say why they are not"""
    for name in tree.files(".rst", under=("README.rst", *PAGES)):
        where, reason, inside = None, None, False
        for number, line in tree.lines(name):
            text = line.strip()
            match = NOT_TYPED.match(text)
            if match:
                reason = match.group(1)
            elif text in WHERE:
                where = text
            elif PROMPT.match(line):
                if not inside and reason:
                    yield Note(f"{name}:{number}: not typed: {reason}")
                inside = True
                if TYPED.match(line) or reason:
                    continue
                if not where:
                    yield Finding(name, number, "no test types this command: its prompt is not one# or "
                                  "two#, and no line above says where it runs, or why it is .. not typed")
                elif not name.startswith(FOLLOWED):
                    yield Finding(name, number, "the tier first-hour does not follow this page")
            elif inside and not text:
                where, reason, inside = None, None, False
