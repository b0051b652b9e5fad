# SPDX-License-Identifier: GPL-2.0
"""Which interfaces each file of the module may use: its strata and its rooms."""

import re

from .tree import CannotCheck, Finding

COMPAT = "krdma/compat/"
# Tracepoints belong to all strata, and contain the names of the ioctls.
TRACE = "krdma/trace."
# Not krdma_mr_desc.h: its structure is for peers, so the core uses it too.
UAPI = ("uapi/linux/krdma.h", "uapi/linux/krdma_mr.h", "uapi/linux/krdma_conn.h",
        "uapi/linux/krdma_limit.h", "uapi/linux/krdma_ring.h")
RDMA = re.compile(r"#\s*include\s*[<\"](rdma/[^>\"]+)[>\"]")
PURE_LIST = "tools/testing/pure/Makefile"


def sources(tree):
    """C sources of the module, without krdma/compat/."""
    return [name for name in tree.files(".c", ".h", under=("krdma/", "include/"))
            if not name.startswith(COMPAT)]


def is_front(name):
    """Whether a file belongs to the front, the interface for programs."""
    return name.startswith("krdma/user/")


def matches(tree, name, regex):
    """The lines that match, with their numbers."""
    return [(number, line) for number, line in tree.lines(name) if regex.search(line)]


def pure(tree):
    """Files that the userspace build of the pure tests compiles, and their headers."""
    if PURE_LIST not in tree.files():
        raise CannotCheck(f"{PURE_LIST} is not there: it names the pure files")
    names = set(re.findall(r"\bkrdma/[\w/]+\.c\b", tree.text(PURE_LIST)))
    names |= {name[:-2] + ".h" for name in names if name[:-2] + ".h" in tree.files()}
    return sorted(names)


def versions(tree):
    """no kernel version outside krdma/compat/"""
    names = [name for name in tree.files()
             if name.startswith(("krdma/", "blk/", "include/", "uapi/", "kunit/", "tools/lib/",
                                 "tools/files/", "tools/rpma/", "tools/cli/"))
             and not name.startswith(COMPAT) or name == "Kbuild"]
    yield from tree.grep(names, r"\b(LINUX_VERSION_CODE|KERNEL_VERSION|RHEL_RELEASE_\w+)\b|"
                         r"linux/version\.h|\bKERNELVERSION\b|\bPATCHLEVEL\b|\bSUBLEVEL\b",
                         f"asks for a kernel version: only {COMPAT} may, named by feature")


def requests(tree):
    """A regex for what only programs and the front may use: structures and ioctls of the ABI."""
    if UAPI[0] not in tree.files():
        raise CannotCheck(f"{UAPI[0]} is not there: it says what the core must not know")
    text = "".join(tree.text(name) for name in UAPI if name in tree.files())
    structures = re.findall(r"^struct (\w+) \{", text, re.MULTILINE)
    commands = re.findall(r"^#define (\w+)\s+_IO\w*\(", text, re.MULTILINE)
    return re.compile(r"\bstruct (?:" + "|".join(structures or ["-"]) + r")\b|\b(?:" +
                      "|".join(commands or ["-"]) + r")\b(?!\.)")


def strata(tree):
    """core knows no structure of the ABI, front no RDMA, pure files neither"""
    known = requests(tree)
    for name in sources(tree):
        if is_front(name):
            for number, line in matches(tree, name, RDMA):
                yield Finding(name, number, f"the front includes {RDMA.search(line).group(1)}: "
                              "only the core speaks with the RDMA midlayer")
        else:
            if name.startswith(TRACE):
                continue
            for number, line in matches(tree, name, known):
                yield Finding(name, number, f"the core names {known.search(line).group(0)}: "
                              "only krdma/user/ may know what programs see")
    for name in pure(tree):
        for number, line in matches(tree, name, RDMA):
            yield Finding(name, number, f"a pure file includes {RDMA.search(line).group(1)}")


# The rooms of krdma/, from the lowest to the highest.  Files above them, such as main.c and
# trace.h, belong to no room.
ROOMS = ("compat", "core", "mr", "io", "cm", "lane", "user")
ROOM = re.compile(r"krdma/(" + "|".join(ROOMS) + r")/([\w.]+)$")
OWN_INCLUDE = re.compile(r"#\s*include\s+\"((?:" + "|".join(ROOMS) + r")/[\w.]+)\"")
# A definition begins in the first column; the parameters may be on the next line.
DEFINED = re.compile(r"^[a-z][\w \t*]*?\b(krdma_\w+)\((?![^;{]*;)", re.MULTILINE)
NAMED = re.compile(r"\bkrdma_\w+\b")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def room_of(name):
    """The number of the room that a file stands in, or None."""
    match = ROOM.match(name)
    return ROOMS.index(match.group(1)) if match else None


def blank(text):
    """The text without its comments, with the same number of lines."""
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)


def rooms(tree):
    """calls and includes within krdma/ go down only: user, lane, cm, io, mr, core, compat"""
    texts = {name: blank(tree.text(name)) for name in tree.files(".c", ".h", under=("krdma/",))
             if room_of(name) is not None}
    homes = {}
    for name, text in texts.items():
        if name.endswith(".c"):
            for function in DEFINED.findall(text):
                homes.setdefault(function, name)
    for name, text in sorted(texts.items()):
        for number, line in enumerate(text.splitlines(), 1):
            included = OWN_INCLUDE.match(line)
            if included and room_of("krdma/" + included.group(1)) > room_of(name):
                yield Finding(name, number, f"includes {included.group(1)}, which is above it")
            # A line of a header that begins in the first column is a prototype.
            if name.endswith(".h") and not line.startswith("\t"):
                continue
            for function in NAMED.findall(line):
                home = homes.get(function)
                if home and room_of(home) > room_of(name):
                    yield Finding(name, number, f"has {function}() of {home}, which is above it")
