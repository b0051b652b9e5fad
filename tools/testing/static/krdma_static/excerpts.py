# SPDX-License-Identifier: GPL-2.0
"""Code in the tutorials and how-to pages is part of a file that the tests build and run."""

import re
import textwrap

from .tree import Finding

PAGES = ("Documentation/tutorial/", "Documentation/howto/")
FROM = re.compile(r"^\.\. (from|all of) (\S+)$")
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
    """code in tutorials and how-to pages is part of a file of the tree that is tested"""
    files = set(tree.files())
    for name in tree.files(".rst", under=PAGES):
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
