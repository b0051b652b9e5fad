# SPDX-License-Identifier: GPL-2.0
"""Builds for each kernel with W=1 and sparse.  Every warning is a finding."""

import contextlib
import glob
import os
import re
import shutil
import subprocess

from . import cache
from .cache import TOP
from .tree import CannotCheck, Finding, Note, run

SERIES = ("6.1", "6.12", "7.2", "debug")
MODULE = ("Kbuild", "krdma", "blk", "include", "uapi", "kunit")

# Functions that the newest headers use and sparse 0.6.4 does not know.  After its first
# error in a file, sparse reports nothing more about that file.
SPARSE_HEADER = """\
#define __typeof_unqual__ __typeof__
#define __builtin_strlen(text) (sizeof(text) - 1)
"""

# Messages of the build system about the machine, not about the sources.
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
# The lines of PLANTED for which a build must report a warning.
PLANTED_LINES = {8: "an unused variable (gcc W=1)", 10: "a wrong byte order (sparse)",
                 11: "a user pointer read directly (sparse)"}


def kernel_folder(series):
    """The folder of a kernel."""
    # Fetching or building a kernel takes long, so the progress is not captured.
    done = subprocess.run([os.path.join(TOP, "tools/vm/kernel"), "path", series],
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise CannotCheck(f"there is no kernel {series}, see above")
    return done.stdout.decode().strip()


def judges(series):
    """A digest of all that the result depends on, apart from the sources."""
    kernel = kernel_folder(series)
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, text=True,
                              check=False).stdout.strip()
    files = [os.path.join(kernel, name) for name in ("vmlinuz", "config", "build/Module.symvers")]
    files += [name for name in (compiler,) if os.path.isfile(name)]
    files += cache.programs("gcc", "as", "ld", "make", "sparse") + cache.checkers(__file__)
    # The compilers of the other suites, and the scripts that run them.
    for pattern in ("usr/lib*/gcc/*/*/cc1", "usr/bin/sparse", "etc/krdma-tree"):
        files += sorted(glob.glob(os.path.join(cache.root(), "trees/*", pattern)))
    files += [os.path.join(TOP, "tools/vm", name) for name in ("kernel", "tree")]
    return cache.digest(files, kernel)


def make(series, folder):
    """The output of a build, with all checkers, of what has changed since the last one."""
    write(folder, "sparse.h", SPARSE_HEADER)
    # Debian's headers of 7.2 lack the script that checks whether sparse can be used, so C=1
    # alone does nothing there.  KBUILD_CHECKSRC=1 overrides this.
    status, output = run([os.path.join(TOP, "tools/vm/kernel"), "make", series, folder,
                          "W=1", "C=1", "KBUILD_CHECKSRC=1",
                          f"CF=-D__CHECK_ENDIAN__ -include {folder}/sparse.h",
                          # the stock kernels have no KUnit
                          f"KRDMA_KUNIT={'y' if series == 'debug' else 'n'}", "modules"])
    if status:
        raise CannotCheck(f"tools/vm/kernel make {series} failed:\n{output.strip()}")
    return output


def write(folder, name, text):
    """Writes a file, unless it has this content already: make compares times."""
    path = os.path.join(folder, name)
    with contextlib.suppress(FileNotFoundError):
        with open(path, encoding="utf-8") as stream:
            if stream.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def lay(tree, folder, sources):
    """Writes the sources, and the planted one, which is always compiled again."""
    for path in glob.glob(os.path.join(folder, "**/*.[chS]"), recursive=True):
        name = os.path.relpath(path, folder)
        if name not in (*sources, PLANTED_NAME, "sparse.h") and not name.endswith(".mod.c"):
            os.remove(path)
            with contextlib.suppress(FileNotFoundError):
                os.remove(path[:-2] + ".o")
    for name in sources:
        text = tree.text(name)
        if name == "Kbuild":
            text += f"\nobj-m += {PLANTED_NAME[:-2]}.o\n"
        write(folder, name, text)
    write(folder, PLANTED_NAME, PLANTED)
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.join(folder, PLANTED_NAME[:-2] + ".o"))


@contextlib.contextmanager
def continued(series):
    """The folder of the last build if that had no warnings and the same checkers; otherwise
    an empty folder.  The build system knows which objects are out of date; the others have
    passed.  Also yields a function to call if this build has no warnings."""
    with cache.locked(f"build-{series}") as folder:
        clean = os.path.join(folder, ".clean")
        by_whom = judges(series)
        last = ""
        with contextlib.suppress(FileNotFoundError):
            with open(clean, encoding="utf-8") as stream:
                last = stream.read()
            # all_is_well() writes it again.  A build may be interrupted before that.
            os.remove(clean)
        if last != by_whom:
            shutil.rmtree(folder)
            os.makedirs(folder)
        yield folder, lambda: write(folder, ".clean", by_whom)


def complaints(output, folder):
    """Every warning and error of a build: (file, line, text)."""
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
        with continued(series) as (folder, all_is_well):
            lay(tree, folder, sources)
            output = make(series, folder)
            found = sorted(set(complaints(output, folder)))
            planted = {line for path, line, _ in found if path.endswith(PLANTED_NAME)}
            found = [one for one in found if not one[0].endswith(PLANTED_NAME)]
            yield from (Finding(*complaint) for complaint in found)
            missed = [what for line, what in PLANTED_LINES.items() if line not in planted]
            for what in missed:
                yield Finding("Kbuild", 1, f"a build for {series} does not notice {what}, "
                              "so it proves nothing")
            if not found and not missed:
                all_is_well()
            # Without the planted file.
            judged = len(re.findall(r"^\s*CC \[M\]\s+(?!.*(?:\.mod|module-common)\.o$).*$",
                                    output, re.MULTILINE)) - 1
            yield Note(f"{judged} objects judged; the others are what they were when they passed")
    build.__doc__ = f"builds for {series}: no warning with W=1 and sparse"
    return build


CHECKS = {f"build-{series}": builder(series) for series in SERIES}
