# SPDX-License-Identifier: GPL-2.0
"""What earlier runs, of any clone on this machine, have found to be right."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil

from .tree import CannotCheck

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "..", "..", "..", ".."))
# Verdicts on files: so many are kept.
PASSED_KEPT = 5000


def root():
    """The folder that tools/common.sh calls krdma_cache."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME") or "/root",
                                                            ".cache")
    return os.environ.get("KRDMA_CACHE") or os.path.join(home, "krdma")


def digest(paths, *words):
    """One for the contents of files, in this order, and some words.  A file of the project
    has the same name in every clone: by another one each clone would judge all anew."""
    total = hashlib.sha256("\0".join(words).encode())
    for path in paths:
        with open(path, "rb") as stream:
            name = os.path.realpath(path).removeprefix(TOP + "/")
            total.update(name.encode() + b"\0" + hashlib.sha256(stream.read()).digest())
    return total.hexdigest()


def programs(*names):
    """Where the programs are of these names that this machine has."""
    return [os.path.realpath(path) for path in map(shutil.which, names) if path]


def checkers(module):
    """The module's file and those of this package that it imports, directly or not: what
    they look for is part of each verdict of the module."""
    found, left = set(), {os.path.realpath(module)}
    while left:
        path = left.pop()
        found.add(path)
        with open(path, encoding="utf-8") as stream:
            imports = re.findall(r"^from \.(\w*) import (.+)$", stream.read(), re.MULTILINE)
        for package, names in imports:
            left.update(os.path.join(HERE, f"{name.strip()}.py")
                        for name in ([package] if package else names.split(",")))
        left -= found
    return sorted(found)


@contextlib.contextmanager
def locked(name):
    """One at a time on this machine; gives the folder static/NAME of the cache."""
    folder = os.path.join(root(), "static", name)
    try:
        os.makedirs(os.path.join(root(), "locks"), exist_ok=True)
        os.makedirs(folder, exist_ok=True)
        lock = open(os.path.join(root(), "locks", f"static-{name}"), "w", encoding="utf-8")
    except OSError as error:
        raise CannotCheck(f"cannot write to {root()}: {error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def passed(name):
    """The digests of what has passed the check of this name."""
    with locked(name) as folder:
        try:
            with open(os.path.join(folder, "passed"), encoding="utf-8") as stream:
                return stream.read().split()
        except FileNotFoundError:
            return []


def remember(name, digests):
    """These have passed as well."""
    known = [one for one in passed(name) if one not in digests]
    with locked(name) as folder:
        new = os.path.join(folder, "passed.new")
        with open(new, "w", encoding="utf-8") as stream:
            stream.write("\n".join((known + sorted(digests))[-PASSED_KEPT:]) + "\n")
        os.replace(new, os.path.join(folder, "passed"))
