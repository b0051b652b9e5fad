# SPDX-License-Identifier: GPL-2.0
"""Builds for each kernel with W=1 under sparse, in which every warning counts."""

import os
import re
import shutil
import subprocess

from .kernel import TOP
from .tree import CannotCheck, Finding, run

SERIES = ("6.1", "6.12", "7.2", "debug")
MODULE = ("Kbuild", "krdma", "include", "uapi", "kunit")

# What sparse 0.6.4 does not know and the newest headers use.  After its first
# error in a file it says nothing more of that file.
SPARSE_HEADER = """\
#define __typeof_unqual__ __typeof__
#define __builtin_strlen(text) (sizeof(text) - 1)
"""

# What the build system says of the machine, not of the sources.
NOT_OF_SOURCES = (
    # another point release of the compiler than the distribution's builder had
    r"warning: the compiler differs from the one used to build the kernel",
    # only modules with type information would need the kernel's image
    r"Skipping BTF generation for .* due to unavailability of vmlinux",
)

PLANTED_NAME = "krdma_planted.c"
PLANTED = """\
// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <rdma/ib_verbs.h>

int krdma_planted(int __user *user, __be32 *wire);
int krdma_planted(int __user *user, __be32 *wire)
{
	int unused = 1;		/* gcc, W=1 */

	*wire = 0x01020304;	/* sparse, endianness */
	return *user;		/* sparse, address space */
}

MODULE_DESCRIPTION("defects that must be found");
MODULE_LICENSE("GPL");
"""
# The lines of PLANTED that must be complained about.
PLANTED_LINES = {8: "an unused variable (gcc W=1)", 10: "a wrong byte order (sparse)",
                 11: "a user pointer read directly (sparse)"}


def make(series, folder):
    """Output of a build with all judges."""
    kernel = os.path.join(TOP, "tools/vm/kernel")
    # Fetching or building a kernel takes a while: its progress is not captured.
    if subprocess.run([kernel, "path", series], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        raise CannotCheck(f"there is no kernel {series}, see above")
    header = os.path.join(folder, "sparse.h")
    with open(header, "w", encoding="utf-8") as stream:
        stream.write(SPARSE_HEADER)
    # Debian's headers of 7.2 lack the script that looks whether sparse can be
    # used, so C=2 alone does nothing there; the second setting wins over that.
    status, output = run([kernel, "make", series, folder,
                          "W=1", "C=2", "KBUILD_CHECKSRC=2",
                          f"CF=-D__CHECK_ENDIAN__ -include {header}",
                          # the stock kernels have no KUnit
                          f"KRDMA_KUNIT={'y' if series == 'debug' else 'n'}", "modules"])
    if status:
        raise CannotCheck(f"tools/vm/kernel make {series} failed:\n{output.strip()}")
    return output


def fresh(tree, name):
    """An empty folder for a build: what is up to date is not judged again."""
    folder = os.path.join(tree.root, "build", "static", name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def complaints(output, folder):
    """Every warning of a build: (file, line, text)."""
    for line in output.splitlines():
        if any(re.search(pattern, line) for pattern in NOT_OF_SOURCES):
            continue
        match = re.match(r"\s*([^\s:]+):(\d+):(?:\d+:)? *((?:fatal )?(?:warning|error): .*)", line)
        if match:
            path = match.group(1)
            inside = path.removeprefix(folder + "/")
            yield inside, int(match.group(2)), match.group(3)
        elif re.search(r"\b(warning|error)\b *:", line, re.IGNORECASE):
            yield "Kbuild", 1, line.strip()


def builder(series):
    """The check that builds for a series."""
    def build(tree):
        sources = [name for name in tree.files() if name.split("/")[0] in MODULE]
        if "Kbuild" not in sources:
            raise CannotCheck("there is no Kbuild")
        folder = fresh(tree, series)
        for name in sources:
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(tree.path(name), target)
        seen = set()
        for complaint in complaints(make(series, folder), folder):
            if complaint not in seen:
                seen.add(complaint)
                yield Finding(*complaint)

        folder = fresh(tree, series + "-planted")
        with open(os.path.join(folder, PLANTED_NAME), "w", encoding="utf-8") as stream:
            stream.write(PLANTED)
        with open(os.path.join(folder, "Kbuild"), "w", encoding="utf-8") as stream:
            stream.write(f"obj-m := {PLANTED_NAME[:-2]}.o\n")
        found = {line for path, line, _ in complaints(make(series, folder), folder)
                 if path.endswith(PLANTED_NAME)}
        for line, what in PLANTED_LINES.items():
            if line not in found:
                yield Finding("Kbuild", 1, f"a build for {series} does not notice {what}, "
                              "so it proves nothing")
    build.__doc__ = f"builds for {series}: no warning with W=1 and sparse"
    return build


CHECKS = {f"build-{series}": builder(series) for series in SERIES}
