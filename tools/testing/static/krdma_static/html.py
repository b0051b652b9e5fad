# SPDX-License-Identifier: GPL-2.0
"""The documents as HTML: "make docs" has no warning, and leaves out nothing."""

import os
import re
import sys
import tempfile

from . import cache
from .tree import CannotCheck, Finding, Note, run

BUILD = "tools/docs/build"
# The files that the pages are made of.
SOURCES = ("Documentation/", "tools/docs/", "tools/lib/", "tools/files/", "tools/rpma/", "uapi/",
           "include/", "krdma/", "tools/examples/", "tools/cli/man/", "README.rst", "CHANGELOG.rst", "SECURITY.rst")


def html(tree):
    """make docs has no warning, and every function and field has a description"""
    names = tree.files(under=SOURCES)
    if BUILD not in names:
        yield Finding(BUILD, 1, "is not there")
        return
    key = cache.digest(cache.checkers(__file__) + cache.programs("sphinx-build", "mandoc"),
                       *(f"{name}\0{tree.text(name)}" for name in names))
    if tree.root == cache.TOP and key in cache.passed("html"):
        yield Note("the sources are what they were when the pages had no warning")
        return
    with tempfile.TemporaryDirectory(prefix="krdma-html-") as folder:
        # The distribution's Python has the distribution's Sphinx.
        status, output = run([sys.executable, "-B", tree.path(BUILD), "--output", folder])
    found = list(warnings(output, os.path.join(folder, "source")))
    if status and not found:
        raise CannotCheck(f"{BUILD} failed: {output.strip()}")
    yield from found
    if tree.root == cache.TOP and not found:
        cache.remember("html", {key})


def warnings(output, source):
    """A finding for each warning of Sphinx, in the file that the page was copied from."""
    for line in output.splitlines():
        match = re.match(r"(.*?):(?:(\d+):)? ?(?:WARNING|ERROR|CRITICAL): (.*)", line)
        if not match:
            match = re.match(r"([\w./-]+):(\d+): (.*)", line)
        if match:
            name = os.path.relpath(match.group(1), source) if os.path.isabs(match.group(1)) \
                else match.group(1)
            yield Finding(name, int(match.group(2) or 1), match.group(3))
