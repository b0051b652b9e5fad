# SPDX-License-Identifier: GPL-2.0
"""The first lines of commits."""

import os
import re

from .tree import CannotCheck, Finding, Note, run

PARTS = "MAINTAINERS"
LAST = 50
SUBJECT = re.compile(r"((?:[\w-]+, )*[\w-]+): \S")


def subjects(tree):
    """the subjects of the last 50 commits begin with parts that MAINTAINERS lists"""
    if not tree.has(PARTS):
        raise CannotCheck(f"{PARTS} is not there: it lists the parts that a subject may begin with")
    parts = set()
    for _, line in tree.lines(PARTS):
        if line.startswith("P:"):
            parts.update(line[2:].split())
    git = ["git", "-c", "safe.directory=*", "-C", tree.root]
    status, top = run(git + ["rev-parse", "--show-toplevel"])
    # The history of a repository around an unpacked archive is another project's.
    if status or os.path.realpath(top.rstrip("\n")) != tree.root:
        yield Note("skipped: this is no repository of git")
        return
    status, log = run(git + ["log", f"-{LAST}", "--no-merges", "--format=%h %s"])
    if status:
        yield Note("skipped: there is no history")
        return
    for commit in log.splitlines():
        name, _, subject = commit.partition(" ")
        match = SUBJECT.match(subject)
        unknown = set(match.group(1).split(", ")) - parts if match else ()
        if not match:
            yield Finding(PARTS, 1, f"commit {name} names no part: '{subject}'")
        for part in sorted(unknown):
            yield Finding(PARTS, 1, f"commit {name} names {part}, which no P: has: '{subject}'")
