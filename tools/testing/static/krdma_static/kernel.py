# SPDX-License-Identifier: GPL-2.0
"""Checks with the tools of the kernel, and checks of scripts."""

import functools
import glob
import os
import re
import subprocess
import tempfile

from . import cache
from .tree import CannotCheck, Finding, Note, run

TOP = cache.TOP

C_FOLDERS = ("krdma/", "blk/", "include/", "uapi/", "kunit/", "tools/")

# (path, type) of the checkpatch messages that are ignored, with the reason.
CHECKPATCH_IGNORED = (
    # Only krdma/compat/ may depend on kernel versions.
    ("krdma/compat/", "LINUX_VERSION_CODE"),
    # Only the kernel has __printf() and similar macros; programs use the compiler's
    # attributes.
    ("tools/", "PREFER_DEFINED_ATTRIBUTE_MACRO"),
    # It uses the CPU's instruction for a CRC if the architecture has one.
    ("tools/files/file_crc.c", "ARCH_DEFINES"),
    # Each step of a check can fail; the macro then returns from the function.
    ("tools/cli/selftest.h", "MACRO_WITH_FLOW_CONTROL"),
    # Tests share memory between threads, and access memory wrongly on purpose.  The
    # compiler must not remove such an access, and only the kernel has READ_ONCE().
    ("tools/testing/", "VOLATILE"),
    # Macros that fill a table.  Their arguments are lists of errnos, which parentheses
    # would turn into one expression, and names of members, which have no side effects.
    ("tools/testing/e2e/fuzz_table.c", "COMPLEX_MACRO"),
    ("tools/testing/e2e/fuzz_table.c", "MACRO_ARG_REUSE"),
    # Lists of names.  Their arguments are macros, for which parentheses would be wrong, and what
    # these make of each name ends with its separator.
    ("krdma/core/name_list.h", "COMPLEX_MACRO"),
    ("krdma/core/name_list.h", "MACRO_ARG_REUSE"),
    ("krdma/trace.h", "COMPLEX_MACRO"),
    ("krdma/trace.h", "MACRO_ARG_REUSE"),
    ("krdma/trace.h", "TRAILING_SEMICOLON"),
    # Assertions; their arguments have no side effects either.
    ("krdma/user/layout.h", "MACRO_ARG_REUSE"),
    ("tools/testing/pure/abi_layout.c", "MACRO_ARG_REUSE"),
)


@functools.lru_cache(maxsize=None)
def linux_source():
    """The folder of the unpacked kernel source."""
    if os.environ.get("KRDMA_LINUX_SOURCE"):
        return os.environ["KRDMA_LINUX_SOURCE"]
    try:
        # The progress and the reason of a failure go to the user, by stderr.
        done = subprocess.run([os.path.join(TOP, "tools/vm/source")],
                              stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise CannotCheck(f"cannot run tools/vm/source: {error}") from error
    folder = done.stdout.decode().strip()
    if done.returncode or not os.path.isfile(os.path.join(folder, "scripts/checkpatch.pl")):
        raise CannotCheck("no kernel source, hence no checkpatch and no kernel-doc; "
                          "see what tools/vm/source says")
    return folder


def unjudged(tree, check, judges, names):
    """The files that have not passed the check before, each with the digest under which a
    pass is remembered.  In a tree with a planted defect these are all files."""
    known = set(cache.passed(check)) if tree.root == TOP else set()
    keys = {name: cache.digest([], judges, name, tree.text(name)) for name in names}
    return {name: key for name, key in keys.items() if key not in known}


def spared(names, keys):
    """A Note about the files that need not be checked."""
    if len(keys) < len(names):
        yield Note(f"{len(names) - len(keys)} files are what they were when they passed; "
                   f"{len(keys)} judged")


def checkpatch(tree):
    """the kernel's coding style, strict, 100 columns"""
    script = os.path.join(linux_source(), "scripts/checkpatch.pl")
    # checkpatch checks each file separately, so a file that has passed under this name
    # passes again.
    judges = cache.digest(sorted(glob.glob(script) +
                                 glob.glob(os.path.join(linux_source(), "scripts/*.txt")) +
                                 glob.glob(os.path.join(linux_source(), "scripts/*.checkpatch"))) +
                          cache.checkers(__file__) + cache.programs("perl"))
    names = tree.files(".c", ".h", under=C_FOLDERS)
    keys = unjudged(tree, "checkpatch", judges, names)
    yield from spared(names, keys)
    batches = {}
    for name in keys:
        ignored = tuple(what for folder, what in CHECKPATCH_IGNORED if name.startswith(folder))
        batches.setdefault(ignored, []).append(name)
    # checkpatch leaves a file in a git checkout, and silently skips a file with a blank
    # in its path.  So it runs in another folder, with a link to the tree, and the last
    # file of each batch has an error that it must report.
    with tempfile.TemporaryDirectory(prefix="krdma-") as folder:
        os.symlink(tree.root, os.path.join(folder, "tree"))
        with open(os.path.join(folder, "wrong.c"), "w", encoding="utf-8") as stream:
            stream.write("int x = 1;   \n")
        for ignored, batch in sorted(batches.items()):
            command = [script, "--no-tree", "--strict", "--terse", "--show-types",
                       "--color=never", "--no-summary", "--max-line-length=100"]
            if ignored:
                command += ["--ignore", ",".join(ignored)]
            names = [os.path.join("tree", name) for name in batch] + ["wrong.c"]
            if any(" " in name for name in names):
                raise CannotCheck("checkpatch cannot read a file with a blank in its name")
            _, output = run(command + ["-f"] + names, cwd=folder)
            if "wrong.c:1: ERROR:TRAILING_WHITESPACE" not in output:
                raise CannotCheck(f"checkpatch failed: {output.strip()}")
            for finding in messages(re.sub("^tree/", "", output, flags=re.MULTILINE)):
                if finding.path != "wrong.c":
                    keys.pop(finding.path, None)
                    yield finding
    if tree.root == TOP and keys:
        cache.remember("checkpatch", set(keys.values()))


def messages(output):
    """Findings from lines such as "file:12: text" and "file:12:3: text"."""
    for line in output.splitlines():
        match = re.match(r"(?:\w+: )?([\w./+-][^:]*):(\d+):(?:\d+:)? *(.*)", line)
        if match:
            yield Finding(match.group(1), int(match.group(2)), match.group(3))


def kernel_doc(tree):
    """kernel-doc comments are complete and well-formed"""
    names = tree.files(".c", ".h", under=("krdma/", "blk/", "include/", "uapi/"))
    script = os.path.join(linux_source(), "scripts/kernel-doc")
    # kernel-doc checks each file separately.
    judges = cache.digest(sorted(
        [script] + glob.glob(os.path.join(linux_source(), "tools/lib/python/kdoc/*.py"))) +
        cache.checkers(__file__) + cache.programs("perl", "python3"))
    keys = unjudged(tree, "kernel-doc", judges, names)
    yield from spared(names, keys)
    if not keys:
        return
    status, output = run([script, "-none", "-Wall", "-Werror"] + sorted(keys), cwd=tree.root)
    found = []
    for line in output.splitlines():
        match = re.match(r"(?:Warning|Error|warning|error): *([^: ]+):(\d+) *:? *(.*)", line)
        if match:
            found.append(Finding(match.group(1), int(match.group(2)), match.group(3)))
    if status and not found:
        raise CannotCheck(f"kernel-doc failed: {output.strip()}")
    yield from found
    if tree.root == TOP and not found:
        cache.remember("kernel-doc", set(keys.values()))


# Proves: B9
def exports(tree):
    """every exported function says its context and what it returns"""
    names = tree.files(".c", ".h", under=("krdma/", "include/"))
    comments = {}
    for name in names:
        for match in re.finditer(r"/\*\*\n \* (\w+)(?:\(\))? - .*?\*/\n([^;{]*?)\b\1\(",
                                 tree.text(name), re.DOTALL):
            comments[match.group(1)] = match.group(0)
    for name in names:
        if name.startswith("krdma/compat/"):
            continue
        for number, line in tree.lines(name):
            match = re.match(r"\s*EXPORT_SYMBOL\w*\((\w+)", line)
            if not match:
                continue
            comment = comments.get(match.group(1))
            if comment is None:
                yield Finding(name, number, f"{match.group(1)} is exported without kernel-doc")
                continue
            text, _, declaration = comment.partition("*/")
            if not re.search(r"^ \* Context: \S", text, re.MULTILINE):
                yield Finding(name, number, f"{match.group(1)} does not say its Context:")
            returns_nothing = re.match(r"\s*void\s+\w", declaration)
            if not returns_nothing and not re.search(r"^ \* Return: \S", text, re.MULTILINE):
                yield Finding(name, number, f"{match.group(1)} does not say what it Return:s")


def shellcheck(tree):
    """shell scripts are clean"""
    # shellcheck also reads the scripts that a script sources, so the digest covers them.
    names = dict(tree.shells())
    sourced = {os.path.basename(path) for name in names for path in re.findall(
        r"^\s*# shellcheck source=(\S+)", tree.text(name), re.MULTILINE)}
    judges = cache.digest(cache.checkers(__file__) + cache.programs("shellcheck"), *(
        f"{name}\0{tree.text(name)}" for name in names if os.path.basename(name) in sourced))
    keys = unjudged(tree, "shellcheck", judges, names)
    yield from spared(names, keys)
    batches = {}
    for name in keys:
        batches.setdefault(names[name], []).append(name)
    wrong = False
    for shell, batch in sorted(batches.items()):
        # -x -P: follow the files that a script sources, relative to its folder
        status, output = run(["shellcheck", "-f", "gcc", "-x", "-P", "SCRIPTDIR", "-s", shell] +
                             batch, cwd=tree.root)
        found = list(messages(output))
        if status and not found:
            raise CannotCheck(f"shellcheck failed: {output.strip()}")
        wrong |= bool(found)
        yield from found
    if tree.root == TOP and keys and not wrong:
        cache.remember("shellcheck", set(keys.values()))
    for name, _ in tree.shells():
        for number, line in tree.lines(name):
            disable = re.match(r"\s*# shellcheck disable=(\S+)(.*)", line)
            if disable and not re.match(r" # \S", disable.group(2)):
                yield Finding(name, number, f"{disable.group(1)} is disabled without a reason: "
                              "# shellcheck disable=CODE # REASON")
            elif disable and not re.fullmatch(r"SC\d+(,SC\d+)*", disable.group(1)):
                yield Finding(name, number, f"{disable.group(1)} disables too much")


def syntax(tree):
    """scripts parse"""
    for name, shell in tree.shells():
        status, output = run([shell, "-n", tree.path(name)])
        if status:
            yield Finding(name, 1, f"{shell} -n: {output.strip()}")
    for name in tree.files():
        if name.endswith(".py") or "python" in tree.interpreter(name):
            try:
                compile(tree.text(name), name, "exec")
            except SyntaxError as error:
                yield Finding(name, error.lineno or 1, f"python: {error.msg}")


def modes(tree):
    """a script with an interpreter line can be executed, and nothing else"""
    for name in tree.files():
        executable = os.access(tree.path(name), os.X_OK)
        if tree.interpreter(name) and not executable:
            yield Finding(name, 1, "has an interpreter line and is not executable")
        elif executable and not tree.interpreter(name):
            yield Finding(name, 1, "is executable and has no interpreter line")
