# SPDX-License-Identifier: GPL-2.0
"""Reads the comments of headers, and prints them as reStructuredText.

A comment is kernel-doc (/** ... */), or a plain comment directly above declarations.  Both are
described in the kernel's Documentation/doc-guide/kernel-doc.rst, as far as they are used here.
"""

import re

# An entry: the comment's text without its stars, and the declarations below it.
ENTRY = re.compile(r"^/\*(\*?)((?:[^*]|\*(?!/))*)\*/\n((?:(?!/\*|#include|#ifdef|#endif|extern \"C\")"
                   r"[^\n]+\n)*)", re.MULTILINE)
BODY = re.compile(r"^\{.*?^\}", re.MULTILINE | re.DOTALL)


class Entry:
    """A comment with what it describes."""

    def __init__(self, text, code, formal):
        self.code = code
        self.formal = formal
        self.kind, self.names, self.title = "", [], ""
        self.members = []
        self.text = text
        if formal:
            self._read(text)
        else:
            self.kind = "group" if code.strip() else "text"
            self.names = re.findall(r"\b(krdma_\w+)\(", code) or \
                re.findall(r"^#define (\w+)|^struct (\w+);", code, re.MULTILINE)
            self.names = [name if isinstance(name, str) else "".join(name) for name in self.names]

    def _read(self, text):
        first, _, rest = text.partition("\n")
        match = re.match(r"(DOC|struct|enum|union|typedef)?:? ?(.*?)(?:\(\))?(?: - (.*))?$", first)
        self.kind = {None: "function", "DOC": "text"}.get(match.group(1), match.group(1))
        self.names = [] if self.kind == "text" else [match.group(2)]
        self.title = match.group(3) or (match.group(2) if self.kind == "text" else "")
        # A title can take several lines.
        while rest and self.kind != "text" and re.match(r"[^@\n]", rest) and "\n" in rest:
            line, _, rest = rest.partition("\n")
            self.title += " " + line.strip()
        lines, self.text = rest.split("\n"), ""
        member = None
        for number, line in enumerate(lines):
            found = re.match(r"@([\w.]+|\.\.\.):\s*(.*)", line)
            if found:
                member = [found.group(1), found.group(2)]
                self.members.append(member)
            elif member and line.startswith(("\t", "    ")):
                member[1] += " " + line.strip()
            elif not line.strip() and member and number + 1 < len(lines) and \
                    lines[number + 1].startswith("@"):
                continue
            else:
                member = None
                self.text += line + "\n"


def strip(comment):
    """The text of a comment without its stars."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip("\n").split("\n")]
    return "\n".join(lines).strip()


def entries(source):
    """All entries of a header, in its order."""
    found = []
    for match in ENTRY.finditer(source):
        text = strip(match.group(2))
        if text.startswith("SPDX") or not text:
            continue
        code = match.group(3)
        if re.match(r"#ifndef \w+_H\n", code):
            code = ""
        if code:
            # A structure or a function goes on to its closing brace, over empty lines.
            rest = source[match.start(3):]
            opened = re.match(r"[^;]*?\{", rest)
            if opened and "\n\n" not in opened.group(0):
                end = re.search(r"^\}[^\n]*\n", rest, re.MULTILINE)
                code = rest[:end.end()] if end else code
        found.append(Entry(text, code.rstrip("\n"), bool(match.group(1))))
    return found


def quoted(text):
    """A text of a comment as reStructuredText."""
    parts = re.split(r"(``[^`]+``)", text)
    for number, part in enumerate(parts):
        if part.startswith("``"):
            continue
        part = part.replace("\\", "\\\\")
        marked = []

        def keep(match, marked=marked):
            marked.append("``" + re.sub(r"^[&@%]", "", match.group(0)) + "``")
            return f"\0{len(marked) - 1}\0"

        part = re.sub(r"&(?:struct|enum|union) \w+(?:\.\w+)?|[@%]\w+(?:->\w+|\.\w+)*|&\w+|"
                      r"\b\w+\(\)|\b_?\w+_\*|\bKRDMA_\w+", keep, part)
        part = re.sub(r"([*|`])", r"\\\1", part)
        part = re.sub(r"(\w)_(?!\w)", r"\1\\_", part)
        part = re.sub("\0(\\d+)\0", lambda match: marked[int(match.group(1))], part)
        parts[number] = part
    joined = "".join(parts)
    # Inline markup begins and ends at a blank or punctuation only.
    parts = re.split(r"(``[^`]+``)", joined)
    for number in range(1, len(parts), 2):
        if re.search(r"[\w*&.]$", parts[number - 1]):
            parts[number] = "\\ " + parts[number]
        if re.match(r"[\w(*\\]", parts[number + 1]):
            parts[number] += "\\ "
    return re.sub(r"  +", " ", "".join(parts))


def paragraphs(text):
    """Paragraphs, bullets and blocks of code of a comment, as reStructuredText."""
    out, block = [], []

    def flush():
        if block:
            # A block of code gets its own colons below.
            out.append(quoted(re.sub("::$", ":", " ".join(block))))
            out.append("")
            block.clear()

    lines = text.strip("\n").split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        bullet = re.match(r"\s*- (.*)", line)
        if bullet:
            flush()
            item = bullet.group(1)
            while number + 1 < len(lines) and re.match(r"\s{2,}[^\s-]", lines[number + 1]):
                number += 1
                item += " " + lines[number].strip()
            out.append("* " + quoted(item))
            if number + 1 >= len(lines) or not re.match(r"\s*- ", lines[number + 1]):
                out.append("")
        elif not line.strip():
            flush()
        elif line.startswith(("\t", "    ")) and not block:
            out += ["::", ""]
            while number < len(lines) and (lines[number].startswith(("\t", "    ")) or
                                           not lines[number].strip()):
                out.append(("    " + lines[number].expandtabs(8)).rstrip())
                number += 1
            out.append("")
            continue
        else:
            block.append(line.strip())
        number += 1
    flush()
    return "\n".join(out)
