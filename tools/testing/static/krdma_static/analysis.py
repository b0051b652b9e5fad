# SPDX-License-Identifier: GPL-2.0
"""Findings of compilers that analyse the paths through a file."""

import os
import re

from . import cache
from .cache import TOP
from .tree import Finding, Note, run

FOLDERS = ("tools/lib/", "tools/files/", "tools/rpma/", "tools/cli/")
FLAGS = ["-std=c11", "-Iuapi", "-Itools/lib", "-Itools/files", "-D_GNU_SOURCE",
         '-DKRDMA_VERSION="analysed"']
WARNING = re.compile(r"(\S+?):(\d+):(?:\d+:)? (?:warning|error|fatal error): (.*)")

# Each analyser checks every file: they find different defects.
ANALYSERS = {
    "gcc": ["gcc", "-O1", "-Wall", "-fanalyzer", "-c", "-o", os.devnull],
    "clang": ["clang", "--analyze", "--analyzer-output", "text", "-o", os.devnull],
}


# What gcc 12 takes for a leak: memory that is kept in an array or a list behind a member.
KEPT = {
    ("tools/cli/copy_tree_put.c", "add_folder"),
    ("tools/files/file_list.c", "add_folder"),
    ("tools/lib/hub_device.c", "add_chunk"),
    ("tools/lib/hub_send.c", "try_send"),
    ("tools/lib/hub_send.c", "krdma_ep_answer"),
}


def function_at(text, line):
    """The name of the function that a line is in, in the kernel's style."""
    for before in reversed(text.splitlines()[:line]):
        name = re.match(r"[A-Za-z_][\w *]*?(\w+)\(", before)
        if name:
            return name.group(1)
    return ""


def is_kept(tree, path, line, text):
    return text.startswith("leak of") and path in tree.files() and \
        (path, function_at(tree.text(path), line)) in KEPT


def findings(analyser, tree, name):
    """The warnings of one analyser about one file."""
    status, output = run(ANALYSERS[analyser] + FLAGS + [name], cwd=tree.root)
    seen = set()
    for path, line, text in WARNING.findall(output):
        if (path, line, text) not in seen:
            seen.add((path, line, text))
            if is_kept(tree, path, int(line), text):
                continue
            yield Finding(path, int(line), f"{analyser}: {text}")
    if status and not seen:
        yield Finding(name, 1, f"{analyser} failed: {output.strip()[-500:]}")


def analyse(tree):
    """gcc -fanalyzer and clang --analyze find nothing in the library and the tool"""
    # A file that had no finding has none again, as long as it and all headers are the same.
    # A tree with a planted defect is always checked.
    headers = [tree.text(name) for name in tree.files(".h", under=FOLDERS + ("uapi/",))]
    names = tree.files(".c", under=FOLDERS)
    for analyser in ANALYSERS:
        paths = cache.programs(analyser)
        if not paths and analyser != "gcc":
            yield Note(f"{analyser} is not installed, and has judged nothing")
            continue
        judges = cache.digest(cache.checkers(__file__) + paths, analyser, *headers)
        known = set(cache.passed("analyse")) if tree.root == TOP else set()
        clean = set()
        for name in names:
            key = cache.digest([], judges, name, tree.text(name))
            if key in known:
                continue
            found = list(findings(analyser, tree, name))
            yield from found
            if not found:
                clean.add(key)
        if tree.root != TOP:
            continue
        spared = sum(1 for n in names if cache.digest([], judges, n, tree.text(n)) in known)
        yield Note(f"{analyser}: {len(names)} files, {spared} of them as they were when they passed")
        if clean:
            cache.remember("analyse", clean)


CHECKS = {"analyse": analyse}
