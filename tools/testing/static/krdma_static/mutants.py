# SPDX-License-Identifier: GPL-2.0
"""The planted faults below tools/testing/mutants."""

from .tree import Finding, run

FOLDER = "tools/testing/mutants/"


def faults(tree):
    """every planted fault applies to the source as it is"""
    for name in tree.files(".patch", under=(FOLDER,)):
        status, said = run(["git", "-c", "safe.directory=*", "-C", tree.root, "apply", "--check",
                            tree.path(name)])
        if status:
            why = said.strip().split("\n", 1)[0]
            yield Finding(name, 1, f"does not apply: {why}; renew it, its fault is not tried")
