# SPDX-License-Identifier: GPL-2.0
"""Checks of every file: its form, its licence, and that it refers to the project only."""

import re

from .tests import ANNOTATION
from .tree import Finding

MAX_LINES = 1200
# One table, with a row for each promise and a line for each test.
TABLES = ("Documentation/coverage.rst",)
# Made of the headers, and as long as they are.
MADE = ("tools/python/krdma/_abi.py",)

# Texts of others, which are copied unchanged.
FOREIGN = ("LICENSES/",)

GPL = "GPL-2.0"
# The first folder that matches decides.
LICENCES = (
    ("uapi/", "GPL-2.0 WITH Linux-syscall-note"),
    ("tools/testing/e2e/abi_v1/", "GPL-2.0 WITH Linux-syscall-note"),
    # The library includes it.
    ("krdma/core/name_list.h", "LGPL-2.1 OR BSD-2-Clause"),
    ("tools/lib/", "LGPL-2.1 OR BSD-2-Clause"),
    ("tools/files/", "LGPL-2.1 OR BSD-2-Clause"),
    ("tools/rpma/", "LGPL-2.1 OR BSD-2-Clause"),
    ("tools/cli/", "LGPL-2.1 OR BSD-2-Clause"),
    ("tools/examples/", "LGPL-2.1 OR BSD-2-Clause"),
    ("tools/python/", "LGPL-2.1 OR BSD-2-Clause"),
    ("", GPL),
)
# The patches there contain empty lines of the sources, with a blank before each.
PLANTED = "tools/testing/mutants/"
# Files that have no comments: lists, output to compare with, and the planted faults.
DATA = re.compile(r"^(LICENSE|\.gitignore|tools/testing/static/urls)$|/golden/|"
                  r"^packaging/debian/(?!rules$)|"
                  r"^" + PLANTED + r".*\.patch$|"
                  r"\.(expected|samples|clean|json|session)$")

URLS = "tools/testing/static/urls"

# References to what a reader of the project does not have or need.  Because of the
# brackets, the patterns do not match themselves.
NOT_OURS = (
    (r"(?<![\w.$}/])(\.\./)+share[d]\b|(?<![\w.}-])/(home|wor[k]|User[s])/\w",
     "names a folder of somebody's machine"),
    (r"(?i)\b(co-authore[d]|generate[d] (by|with) [A-Z]|assisted-b[y])", "names a tool or helper"),
    (r"(?i)\bissu[e]s? #?\d|\bTOD[O]\b|\bFIXM[E]\b|\bXX[X]\b",
     "points to a list of work to do: say in words what is missing and why"),
    (r"(?i)\b(apt|deb|ftp|mirrors?)\.[\w-]+\.(org|com|net|io)\b",
     "names a package mirror: take it from the machine's own configuration"),
)


def ours(tree):
    """The files that the project wrote itself."""
    return [name for name in tree.files() if not name.startswith(FOREIGN)]


def form(tree):
    """1,200 lines at most (annotations of tests apart), no blanks at line ends, a newline at the end"""
    for name in ours(tree):
        text = tree.text(name)
        if "\0" in text:
            yield Finding(name, 1, "is a binary file")
            continue
        if not text:
            yield Finding(name, 1, "is empty")
            continue
        if not text.endswith("\n"):
            yield Finding(name, text.count("\n") + 1, "no newline at the end of the file")
        if text.endswith("\n\n"):
            yield Finding(name, text.count("\n"), "empty line at the end of the file")
        # Annotations are not counted, because they add no subject to the file.
        count = sum(not ANNOTATION.match(line) for _, line in tree.lines(name))
        if count > MAX_LINES and name not in TABLES + MADE:
            yield Finding(name, count, f"{count} lines, {MAX_LINES} are allowed: "
                          "there is a second noun or role in it")
        for number, line in tree.lines(name):
            if re.search(r"[ \t\r]$", line) and not (line == " " and name.startswith(PLANTED)):
                yield Finding(name, number, "blanks at the end of the line")


def licences(tree):
    """the licence line is there and is the folder's"""
    for name in ours(tree):
        if DATA.search(name):
            continue
        wanted = next(licence for folder, licence in LICENCES if name.startswith(folder))
        head = tree.text(name).split("\n", 2)[:2]
        match = re.search(r"SPDX-License-Identifier: (.*?)(?:\s*(?:\*/|-->))?$",
                          "\n".join(head), re.MULTILINE)
        if not match:
            yield Finding(name, 1, f"no 'SPDX-License-Identifier: {wanted}' in the first two lines")
        elif match.group(1).strip("() ") != wanted:
            yield Finding(name, 1, f"licence is {match.group(1)}, here it must be {wanted}")


def alone(tree):
    """the project speaks of itself alone"""
    for name in ours(tree):
        for pattern, what in NOT_OURS:
            yield from tree.grep([name], pattern, what)


def urls(tree):
    """every address on the network is one of those listed"""
    allowed = set()
    if URLS in tree.files():
        allowed = {line for _, line in tree.lines(URLS) if line and not line.startswith("#")}
    seen = set()
    for name in ours(tree):
        if name == URLS:
            continue
        for number, line in tree.lines(name):
            for url in re.findall(r"\b(?:https?|ftp|git|ssh)://[^\s\"'`<>)\]]+", line):
                url = url.rstrip(".,;:")
                seen.add(url)
                if url not in allowed:
                    yield Finding(name, number, f"{url} is not listed in {URLS}")
    for url in sorted(allowed - seen):
        yield Finding(URLS, 1, f"{url} is listed and used nowhere")
