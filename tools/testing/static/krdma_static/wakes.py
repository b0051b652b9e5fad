# SPDX-License-Identifier: GPL-2.0
"""What comes before a thread is woken."""

import re

from .layers import blank
from .tree import Finding

MODULE = ("krdma/", "blk/", "kunit/")
WAKE = re.compile(r"\bwake_up_(?:var|bit)\(")
# A full barrier, or an atomic operation that is one: it changes a value and returns something.
BARRIER = re.compile(r"\bsmp_mb(?:__(?:after|before)_atomic)?\(\)|\btest_and_\w+_bit\(|"
                     r"\batomic\w*_(?:return|(?:dec|sub)_and_test|fetch_[a-z]+|(?:cmp)?xchg)\(")


def wakes(tree):
    """a full barrier is right before each wake_up_var() and wake_up_bit()"""
    for name in tree.files(".c", ".h", under=MODULE):
        before = ""
        for number, line in enumerate(blank(tree.text(name)).splitlines(), 1):
            if WAKE.search(line) and not BARRIER.search(before) and not BARRIER.search(line):
                yield Finding(name, number, "wakes without a full barrier between the change and "
                              "the look for waiters: a thread that waits may miss it")
            if line.strip():
                before = line
