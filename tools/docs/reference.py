# SPDX-License-Identifier: GPL-2.0
"""The pages of the reference, from the headers, the module's sources and the manual pages."""

import glob
import os
import re
import subprocess

import kdoc

GENERATED = ".. SPDX-License-Identifier: GPL-2.0\n\n"

# (header in tools, what it is for)
LIBRARY = (
    ("lib/krdma_simple.h", "One buffer on each side, blocking calls"),
    ("lib/krdma_hub.h", "Many peers: messages, calls, named memory"),
    ("lib/krdma_message.h", "Messages of any length"),
    ("files/krdma_file.h", "Files"),
    ("lib/krdma.h", "The whole interface"),
    ("lib/krdma_entry.h", "Entries of rings"),
    ("rpma/krdma_rpma.h", "Peers that use librpma"),
)
# What the libraries export.
MAPS = ("tools/lib/libkrdma.map", "tools/files/libkrdma-files.map", "tools/rpma/libkrdma-rpma.map")
UAPI = ("krdma.h", "krdma_conn.h", "krdma_mr.h", "krdma_mr_desc.h", "krdma_ring.h",
        "krdma_limit.h")
EXAMPLE_LINES = 6


def heading(text, mark):
    """A heading of reStructuredText."""
    text = re.sub(r"_(?!\w)", r"\\_", text)
    return f"{text}\n{mark * len(text)}\n\n"


def code(text):
    """A block of C."""
    return ".. code-block:: c\n\n" + "".join(
        ("    " + line.expandtabs(8)).rstrip() + "\n" for line in text.split("\n")) + "\n"


def members(entry):
    """The arguments or fields of an entry as a definition list."""
    out = ""
    for name, text in entry.members:
        out += f"``{name}``\n    {kdoc.quoted(text)}\n\n"
    return out


def page_examples(page):
    """The C of the examples of a manual page."""
    section = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH )", page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^\.EX\n(.*?)^\.EE", section.group(1) if section else "",
                        re.MULTILINE | re.DOTALL)
    text = "\n".join(blocks).replace("\\-", "-").replace("\\&", "")
    return text.replace("\\e", "\\")


class Examples:
    """Finds where the examples call a function."""

    def __init__(self, top):
        self.files = []
        for name in sorted(glob.glob(os.path.join(top, "tools/examples/*.[ch]"))):
            with open(name, encoding="utf-8") as stream:
                self.files.append((os.path.relpath(name, top), stream.read().split("\n")))
        for name in sorted(page for exported in MAPS for page in
                           glob.glob(os.path.join(top, os.path.dirname(exported), "man/*.3"))):
            page = re.sub(r"\.(\d)$", r"(\1)", os.path.basename(name))
            self.files.append((page, page_examples(read(name)).split("\n")))

    def of(self, function):
        """The statement of an example that calls the function; "" if none does."""
        best = None
        for name, lines in self.files:
            for number, line in enumerate(lines):
                if not re.search(rf"\b{function}\(", line) or line.lstrip().startswith(("*", "/*")):
                    continue
                first = number
                while first and not re.search(r"[;{}:]\s*$|^\s*$|\*/$", lines[first - 1]):
                    first -= 1
                last = number
                while last + 1 < len(lines) and not re.search(r"[;{]\s*$", lines[last]):
                    last += 1
                if last - first >= EXAMPLE_LINES or (best and len(best[1]) <= last - first + 1):
                    continue
                best = (name, lines[first:last + 1])
        if not best:
            return ""
        name, lines = best
        lines = [line.expandtabs(8) for line in lines]
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return f"Example, from ``{name}``:\n\n" + code("\n".join(line[indent:] for line in lines))


def sections(text):
    """The text of an entry, with a heading for its errors and its return value."""
    out = ""
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        match = re.match(r"(Errors|Return|Context): *", paragraph)
        if not match:
            out += kdoc.paragraphs(paragraph) + "\n"
            continue
        body = " ".join(paragraph[match.end():].split())
        if match.group(1) == "Errors":
            items = re.split(r"; (?=[A-Z])", body.rstrip("."))
            out += "**Errors**\n\n"
            out += "".join(f"* {kdoc.quoted(item)}\n" for item in items) + "\n"
        else:
            out += f"**{match.group(1)}:** {kdoc.quoted(body)}\n\n"
    return out


def page_of(source, examples=None):
    """The entries of one header."""
    out = ""
    for entry in kdoc.entries(source):
        if entry.kind == "text":
            if entry.formal:
                out += heading(entry.title, "~") + kdoc.paragraphs(entry.text) + "\n"
            elif "\n" in entry.text or ": " in entry.text:
                out += kdoc.paragraphs(entry.text) + "\n"
            else:
                out += heading(entry.text.rstrip("."), "~")
            continue
        if entry.kind == "group":
            if not entry.names:
                continue
            out += heading(", ".join(f"{name}()" if f"{name}(" in entry.code else name
                                     for name in entry.names[:3]) +
                           (", ..." if len(entry.names) > 3 else ""), "~")
            out += kdoc.paragraphs(entry.text) + "\n" + code(re.split(r"^\{", entry.code, 1,
                                                                     re.MULTILINE)[0].rstrip())
            continue
        name = entry.names[0]
        title = f"{name}()" if entry.kind == "function" else f"{entry.kind} {name}"
        out += heading(title, "~") + kdoc.quoted(entry.title[:1].upper() + entry.title[1:] + ".") + \
            "\n\n"
        declared = re.split(r"^\{", entry.code, 1, re.MULTILINE)[0].rstrip() \
            if entry.kind == "function" else entry.code
        out += code(declared) + members(entry) + sections(entry.text)
        if examples and entry.kind == "function":
            out += examples.of(name)
    return out


def read(*path):
    """The text of a file."""
    with open(os.path.join(*path), encoding="utf-8") as stream:
        return stream.read()


def library(top):
    """Functions of libkrdma."""
    examples = Examples(top)
    out = GENERATED + heading("libkrdma: functions", "=")
    out += ("Made of the comments in the headers of the libraries.  Each example is part of a "
            "program in ``tools/examples`` that the tests compile and run, or of a manual page, which "
            "they compile.\n\n")
    for header, title in LIBRARY:
        out += heading(f"{os.path.basename(header)}: {title}", "-")
        out += page_of(read(top, "tools", header), examples)
    return out


def uapi(top):
    """The user interface of the module."""
    out = GENERATED + heading("/dev/krdma: ioctls and structures", "=")
    out += ("Made of the comments in the headers of ``uapi/linux``.  "
            "`abi.rst <../abi.rst>`_ says what is guaranteed.\n\n")
    for header in UAPI:
        out += heading(header, "-") + page_of(read(top, "uapi/linux", header))
    return out


def exported(top):
    """(name, comment with declaration) of each exported function."""
    names, comments = [], {}
    for name in sorted(glob.glob(os.path.join(top, "krdma/**/*.c"), recursive=True)):
        text = read(name)
        names += re.findall(r"^EXPORT_SYMBOL\w*\((\w+)", text, re.MULTILINE)
        for entry in kdoc.entries(text):
            if entry.formal and entry.kind == "function":
                comments[entry.names[0]] = entry
    return names, comments


def kernel(top):
    """The interface for kernel modules."""
    out = GENERATED + heading("krdma.h: functions for kernel modules", "=")
    out += ("Made of ``include/krdma/krdma.h`` and of the comments of the exported functions in "
            "``krdma/``.  `kernel-api.rst <../kernel-api.rst>`_ is the overview.\n\n")
    out += heading("Types", "-") + page_of(read(top, "include/krdma/krdma.h"))
    out += heading("Functions", "-")
    names, comments = exported(top)
    for name in sorted(names):
        entry = comments.get(name)
        if not entry:
            continue
        out += heading(f"{name}()", "~") + kdoc.quoted(entry.title[:1].upper() + entry.title[1:] +
                                                       ".") + "\n\n"
        out += code(re.split(r"^\{", entry.code, 1, re.MULTILINE)[0].rstrip())
        out += members(entry) + sections(entry.text)
    return out


def manual(top, version):
    """The manual pages, as (name, page)."""
    for name in sorted(glob.glob(os.path.join(top, "tools/cli/man/*.[1-8]")) +
                       glob.glob(os.path.join(top, "tools/lib/man/*.4"))):
        text = read(name).replace("@VERSION@", version)
        done = subprocess.run(["mandoc", "-T", "html", "-O", "fragment"], input=text, text=True,
                              stdout=subprocess.PIPE, check=True)
        base = os.path.basename(name)
        title = re.sub(r"\.(\d)$", r"(\1)", base)
        yield base.replace(".", "-"), GENERATED + heading(title, "=") + ".. raw:: html\n\n" + \
            "".join(f"    {line}\n" for line in done.stdout.split("\n")) + "\n"


def index(title, text, pages):
    """A page that lists others."""
    return GENERATED + heading(title, "=") + text + "\n\n.. toctree::\n   :maxdepth: 1\n\n" + \
        "".join(f"   {page}\n" for page in pages)


def documented(top, names):
    """The functions and macros that the headers describe."""
    found = set()
    for name in names:
        for entry in kdoc.entries(read(top, name)):
            found.update(entry.names)
    return found


def fields(code):
    """The fields of a structure, or the values of an enumeration."""
    body = code[code.index("{") + 1:code.rindex("}")]
    if code.startswith("enum"):
        return re.findall(r"^\s*(\w+)(?:\s*=|,|$)", body, re.MULTILINE)
    return re.findall(r"(\w+)(?:\[\w+\])?;", re.sub(r"\(\*(\w+)\)\([^;]*\)", r"\1", body))


def missing(top):
    """What has no description, as FILE:LINE: TEXT."""
    headers = [f"tools/{header}" for header, _ in LIBRARY]
    names = documented(top, headers)
    for exported in MAPS:
        for number, line in enumerate(read(top, exported).split("\n"), 1):
            for name in re.findall(r"\b(krdma_\w+);", line):
                if name not in names:
                    yield f"{exported}:{number}: no header describes {name}"
    for header in [f"uapi/linux/{name}" for name in UAPI] + ["include/krdma/krdma.h"] + headers:
        text = read(top, header)
        for entry in kdoc.entries(text):
            if entry.kind not in ("struct", "enum") or not entry.formal:
                continue
            line = text[:text.index(entry.code)].count("\n") + 1
            described = {name.split(".")[-1] for name, _ in entry.members}
            for field in fields(entry.code):
                if field not in described:
                    yield f"{header}:{line}: {entry.names[0]} has no text for {field}"
