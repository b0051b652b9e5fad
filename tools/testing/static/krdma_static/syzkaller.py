# SPDX-License-Identifier: GPL-2.0
"""tools/fuzz/krdma.txt, which describes the interface for programs to syzkaller."""

import re

from .tree import CannotCheck, Finding

WHERE = "tools/fuzz/krdma.txt"
HEADERS = ("uapi/linux/krdma.h", "uapi/linux/krdma_mr.h", "uapi/linux/krdma_conn.h",
           "uapi/linux/krdma_limit.h", "uapi/linux/krdma_ring.h")
WIDTHS = {"__u8": 8, "__u16": 16, "__u32": 32, "__s32": 32, "__aligned_u64": 64}


def header_structs(text):
    """Structures of a header: name, and its fields with their width in bits, or None."""
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        fields = re.findall(r"^\t((?:struct )?\w+) (\w+)(\[\w+\])?;", body, re.M)
        yield name, [(field, None if array else WIDTHS.get(kind))
                     for kind, field, array in fields]


def described_structs(text):
    """Structures of the descriptions: name to its fields, as (name, type)."""
    return {name: re.findall(r"^\t(\w+)\t+(.*?)$", body, re.M)
            for name, body in re.findall(r"^(\w+) \{\n(.*?)^\}", text, re.M | re.S)}


def width(kind, resources):
    """The width of a type of the descriptions in bits; None if it is not one number."""
    name = re.match(r"\w+", kind).group()
    base = resources.get(name, name)
    if re.match(r"(?:ptr64|int64|bytesize64)\b", base) or re.search(r", int64\]", kind):
        return 64
    if base == "fd" or base.startswith("fd_"):
        return 32
    number = re.match(r"int(\d+)", base) or re.search(r", int(\d+)\]", kind)
    return int(number.group(1)) if number and name != "array" else None


def compare_struct(name, fields, described, resources, line):
    """Findings about one structure."""
    names = [field for field, _ in described]
    wanted = [field for field, _ in fields]
    if names != wanted:
        lacks = [field for field in wanted if field not in names]
        what = f"lacks {', '.join(lacks)}" if lacks else "has other fields, or in another order"
        yield Finding(WHERE, line, f"{name} {what}: the header has {', '.join(wanted)}")
        return
    for (field, bits), (_, kind) in zip(fields, described):
        found = width(kind, resources)
        if bits and found and bits != found:
            yield Finding(WHERE, line, f"{name}.{field} has {found} bits, in the header {bits}")


def syzkaller(tree):
    """the descriptions for syzkaller are those of the headers"""
    if WHERE not in tree.files():
        yield Finding(WHERE, 1, "is not there: the interface for programs described")
        return
    text = tree.text(WHERE)
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    described = described_structs(code)
    resources = dict(re.findall(r"^resource (\w+)\[(\w+)\]", code, re.M))

    def at(pattern):
        return next((number for number, line in tree.lines(WHERE) if re.match(pattern, line)), 1)

    if HEADERS[0] not in tree.files():
        raise CannotCheck(f"{HEADERS[0]} is not there: it is what is described")
    for header in (name for name in HEADERS if name in tree.files()):
        body = tree.text(header)
        for request in re.findall(r"^#define (\w+)\s+_IO\w*\(", body, re.M):
            if not re.search(rf"^ioctl\${request}\(.*\bconst\[{request}\]", code, re.M):
                yield Finding(WHERE, 1, f"the request {request} is missing")
        for name, fields in header_structs(body):
            if name not in described:
                yield Finding(WHERE, 1, f"the structure {name} is missing")
                continue
            yield from compare_struct(name, fields, described[name], resources,
                                      at(rf"{name} \{{"))
        for constant in re.findall(r"^\t(KRDMA_\w+) = ", body, re.M):
            if not constant.startswith("KRDMA_CMD_") and not re.search(rf"\b{constant}\b", code):
                yield Finding(WHERE, 1, f"the constant {constant} is missing")
