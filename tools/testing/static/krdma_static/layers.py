# SPDX-License-Identifier: GPL-2.0
"""Which interfaces each file of the module may use: its strata and its rooms."""

import os
import re

from .circles import headers, includes, needs, source_of
from .tree import CannotCheck, Finding

COMPAT = "krdma/compat/"
# Tracepoints belong to all strata, and contain the names of the ioctls.
TRACE = "krdma/trace."
# Not krdma_mr_desc.h: its structure is for peers, so the core uses it too.
UAPI = ("uapi/linux/krdma.h", "uapi/linux/krdma_mr.h", "uapi/linux/krdma_conn.h",
        "uapi/linux/krdma_limit.h", "uapi/linux/krdma_ring.h")
# Files that get an RDMA header by one header, which they may include: split.h defines struct ib_sge
# itself where a pure file is built as a program; inline functions for the core in the headers of
# MRs and SRQs, of which the front uses others, need it.
RDMA_BY = {
    "krdma/mr/split.c": "krdma/mr/split.h",
    "krdma/mr/split.h": "krdma/mr/split.h",
    "krdma/user/mr.c": "krdma/mr/split.h",
    "krdma/user/srq.c": "krdma/io/srq.h",
}
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


def rdma(tree, name):
    """(line, text) of the includes of a file that lead to an RDMA header, one for each."""
    for header, included, line in includes(tree, name):
        ways, waiting = {header: included}, [header]
        if included.startswith("rdma/") and RDMA_BY.get(name) != name:
            yield line, included
        elif header and header != RDMA_BY.get(name):
            found = None
            while waiting and not found:
                last = waiting.pop(0)
                for other, text, _ in includes(tree, last):
                    if text.startswith("rdma/"):
                        found = f"{text} by {ways[last]}"
                    elif other and other not in ways and other != RDMA_BY.get(name):
                        ways[other] = f"{ways[last]}, {text}"
                        waiting.append(other)
            if found:
                yield line, found


def strata(tree):
    """core knows no structure of the ABI, front no RDMA, pure files neither"""
    known = requests(tree)
    for name in sources(tree):
        if is_front(name):
            for number, text in rdma(tree, name):
                yield Finding(name, number, f"the front includes {text}: only the core speaks with "
                              "the RDMA midlayer")
        else:
            if name.startswith(TRACE):
                continue
            for number, line in matches(tree, name, known):
                yield Finding(name, number, f"the core names {known.search(line).group(0)}: "
                              "only krdma/user/ may know what programs see")
    for name in pure(tree):
        for number, text in rdma(tree, name):
            yield Finding(name, number, f"a pure file includes {text}")
    for name, by in RDMA_BY.items():
        if tree.has(name) and by != name and by not in headers(tree, name, set()):
            yield Finding(name, 1, f"does not include {by} any more, and RDMA_BY allows it")


# The rooms of krdma/, from the lowest to the highest.  C files beside them, such as main.c, stand
# above all rooms.  Headers beside them, such as trace.h, stand nowhere: what they include counts
# for the files that include them.
ROOMS = ("compat", "core", "mr", "io", "cm", "lane", "user")
ROOM = re.compile(r"krdma/(\w+)/")
OWN_MACRO = re.compile(r"krdma_|KRDMA_")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def height(name):
    """The number of the room that a file of krdma/ stands in, or None."""
    match = ROOM.match(name)
    if match:
        return ROOMS.index(match.group(1)) if match.group(1) in ROOMS else None
    return len(ROOMS) if re.fullmatch(r"krdma/\w+\.c", name) else None


def blank(text):
    """The text without its comments, with the same number of lines."""
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)


def carried(tree, name, seen):
    """(header with a room, line) for each include of a file, directly or by headers without one."""
    for header, included, line in includes(tree, name):
        # A header that is not there has the room of its folder.
        header = header or "krdma/" + included
        if height(header) is not None:
            yield header, line
        elif header not in seen and tree.has(header):
            seen.add(header)
            for other, _ in carried(tree, header, seen):
                yield other, line


def rooms(tree):
    """calls and includes within krdma/ go down only: user, lane, cm, io, mr, core, compat"""
    heights, homes = {}, {}
    for name in tree.files(".c", ".h", under=("krdma/",)):
        if height(name) is not None:
            heights[name] = height(name)
        elif ROOM.match(name):
            yield Finding(name, 1, f"the folder {os.path.dirname(name)} is not in ROOMS, which says "
                          "what it may use")
    for name in heights:
        source = source_of(tree, name)
        own = source.globals
        if name.endswith(".h"):
            # Other macros stand in for the kernel's, where a pure file is built as a program.
            own = own | source.statics.keys() | set(filter(OWN_MACRO.match, source.macros))
        for defined in own:
            homes.setdefault(defined, []).append(name)
    for name, own in sorted(heights.items()):
        for header, line in carried(tree, name, set()):
            if height(header) > own:
                yield Finding(name, line, f"includes {header}, which is above it")
        for used_name, line in needs(tree, name).items():
            lowest = min(homes.get(used_name, ()), key=heights.get, default=name)
            if heights[lowest] > own and used_name not in source_of(tree, name).macros:
                yield Finding(name, line, f"uses {used_name} of {lowest}, which is above it")
