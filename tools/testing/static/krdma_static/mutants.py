# SPDX-License-Identifier: GPL-2.0
"""The planted faults below tools/testing/mutants."""

import os
import re

from . import cache
from .tree import Finding, Note, run

FOLDER = "tools/testing/mutants/"


def faults(tree):
    """every planted fault applies to the source as it is"""
    # Whether a patch applies follows from its text and those of the files that it changes.
    known = set(cache.passed("faults")) if tree.root == cache.TOP else set()
    judges = cache.digest(cache.checkers(__file__) + cache.programs("git"))
    names = tree.files(".patch", under=(FOLDER,))
    applied, judged = set(), 0
    for name in names:
        patch = tree.text(name)
        changed = sorted(set(re.findall(r"^(?:---|\+\+\+) [ab]/(\S+)", patch, re.MULTILINE)))
        key = cache.digest([], judges, patch, *(
            f"{path}\0{tree.text(path)}" for path in changed if os.path.isfile(tree.path(path))))
        if key in known:
            continue
        judged += 1
        status, said = run(["git", "-c", "safe.directory=*", "-C", tree.root, "apply", "--check",
                            tree.path(name)])
        if status:
            why = said.strip().split("\n", 1)[0]
            yield Finding(name, 1, f"does not apply: {why}; renew it, its fault is not tried")
        else:
            applied.add(key)
    if judged < len(names):
        yield Note(f"{len(names) - judged} patches and their files are what they were when they "
                   f"applied; {judged} judged")
    if tree.root == cache.TOP and applied:
        cache.remember("faults", applied)


def noticed(tree):
    """nine of ten planted faults name a test that "make check" runs"""
    name = FOLDER + "run"
    if not os.path.isfile(tree.path(name)):
        return
    status, said = run([tree.path(name), "--share"])
    lines = said.strip().split("\n")
    if status:
        yield Finding(name, 1, "too few, or a test that is none: " + " ".join(
            next((line for line in lines if line.startswith("all ")), lines[-1]).split()))
