# SPDX-License-Identifier: GPL-2.0
"""Where functions are declared: each once, in the header of its own file."""

import os

from .circles import source_of
from .tree import CannotCheck, Finding, Note

MODULE = ("krdma/", "blk/")
# What other modules use is declared here.
INTERFACE = "include/"
# Headers that declare functions of files of their folder that have no header, and how many.  The
# numbers may only fall; the finding says what belongs here.
SHARED = {
    "krdma/compat/compat.h": 1,
}
# C files that have a header, and another one that declares some of their functions: the front
# includes flat.h, and may not include cq.h, which includes RDMA headers.
NARROW = {"krdma/io/cq.c": "krdma/io/flat.h"}


def declared(tree):
    """a function of krdma/ or blk/ is declared once, in the header of its own file"""
    headers, shared = {}, dict.fromkeys(SHARED, 0)
    for header in tree.files(".h", under=MODULE + (INTERFACE,)):
        for function in source_of(tree, header).prototypes:
            headers.setdefault(function, []).append(header)
    names = tree.files(".c", under=MODULE)
    if not names:
        raise CannotCheck("there is no source")
    for name in names:
        own = name[:-2] + ".h"
        for function, line in sorted(source_of(tree, name).functions.items()):
            where = headers.get(function, [])
            if len(where) != 1:
                yield Finding(name, line, f"{function}() is declared in " +
                              (" and in ".join(where) or "no header"))
            elif where[0] == own or where[0].startswith(INTERFACE) or where[0] == NARROW.get(name):
                continue
            elif tree.has(own) or os.path.dirname(where[0]) != os.path.dirname(name):
                yield Finding(name, line, f"{function}() is declared in {where[0]}: this belongs "
                              f"in {own}")
            else:
                shared[where[0]] = shared.get(where[0], 0) + 1
    for header, count in sorted(shared.items()):
        allowed = SHARED.get(header, 0)
        if count > allowed:
            yield Finding(header, 1, f"declares {count} functions of files without a header, and "
                          f"SHARED allows {allowed}: a new one belongs in a header of its file")
        elif count < allowed:
            yield Note(f"{header} declares {count} functions of files without a header, and SHARED "
                       f"allows {allowed}")
