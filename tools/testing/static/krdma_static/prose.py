# SPDX-License-Identifier: GPL-2.0
"""The language of documents, manual pages and help: words, patterns and the length of sentences."""

import os
import re

from . import documents
from .tree import Finding, Note

# What a reader cannot search for, or has to read twice, with what to write instead.
BANNED = (
    (r"\b(?:is|are|was|were|be|been|being) told\b", "name who reports what: 'the call returns ...'"),
    (r"\bwhoever\b|\bwhomever\b", "name the program, the peer or the caller"),
    (r"\b(?:he|she|himself|herself)\b", "name the program, the peer or the user"),
    (r"\b(?:nobody|somebody|everybody)\b", "'no process', 'a peer', 'every user'"),
    (r"\bstrangers?\b", "'a peer without krdma', 'an unknown client'"),
    (r"\bgoodbyes?\b", "the term is disconnect"),
    (r"\bcookies?\b", "the term is wr_id"),
    (r"\blikewise\b|\bditto\b", "say it again"),
    (r"\bso many\b|\bas many as is\b", "'this number of'"),
    (r"\bunless (?:it is )?said otherwise\b", "'by default'"),
    (r"\bone's own\b", "'the local'"),
    (r"\bunder way\b", "the term is in flight, or in progress"),
    (r"\bmends?\b|\bmended\b", "'repairs', 'corrects'"),
    (r"\bof which it (?:is|was) said\b|\bwhat is said\b", "name it"),
    (r"\bthere and back\b", "the term is round trip"),
    (r"\bkicks?\b|\bkicked\b", "'schedules'"),
    (r"\b(?:simply|obviously|of course|blazing|seamless(?:ly)?|powerful|state of the art)\b",
     "leave it out"),
    (r"\bit is (?:not )?(?:to be )?hoped\b|\bhopefully\b", "say what is guaranteed"),
)
WORDS_MAX = 45

# Reports of what was found and when, in the words of that time.
HISTORY = ("CHANGELOG.rst", "Documentation/coverage.rst", "Documentation/status.rst")
# Folders whose comments are read, and those where BANNED still finds something: how often it does.
# The numbers may only fall; the finding says what belongs here.
COMMENTED = ("krdma/", "blk/", "include/", "uapi/", "tools/lib/")
LEFT = {
    "krdma/core": 1,
    "krdma/lane": 1,
    "krdma/user": 5,
    "uapi/linux": 1,
}
COMMENT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|/\*(.*?)\*/|//([^\n]*)", re.DOTALL)
MANUAL = ("tools/cli/man/", "tools/lib/man/", "tools/files/man/", "tools/rpma/man/")


def paragraphs(tree, name):
    """(line, text) of the paragraphs of a document, without code and literals."""
    import docutils.nodes
    document, _ = documents.parse(name, tree.text(name))
    for node in document.findall(docutils.nodes.paragraph):
        text = ""
        for child in node.findall(docutils.nodes.Text):
            inside = child.parent
            text += "X" if isinstance(inside, docutils.nodes.literal) else child.astext()
        yield documents.line_of(node), " ".join(text.split())


def roff(tree, name):
    """The same of a manual page."""
    text, first, literal = "", 1, False
    for number, line in tree.lines(name):
        if re.match(r"\.(nf|EX)\b", line):
            literal = True
        elif re.match(r"\.(fi|EE)\b", line):
            literal = False
        elif literal or line.startswith((".\\\"", ".TH", ".BI", ".IR ", ".RB ", ".BR ", ".B ", ".I ")):
            if not literal and line.startswith((".IR ", ".RB ", ".BR ", ".B ", ".I ", ".BI ")):
                words = re.sub(r"\\f.|\\", "", line[3:]).replace('"', "").split()
                # The words of a command or file are not prose; its punctuation is.
                text += " X" + (words[-1] if words and re.fullmatch(r"[.,;:)]+", words[-1]) else "")
        elif line.startswith((".", "'")) or not line.strip():
            if text.strip():
                yield first, " ".join(text.split())
            text, first = "", number + 1
        else:
            text += " " + re.sub(r"\\f.|\\", "", line)
    if text.strip():
        yield first, " ".join(text.split())


def sentences(text):
    """The sentences of a paragraph; what stands before a colon is one of its own."""
    return re.split(r"(?<=[.!?:;])\s+(?=[\"'(]?[A-Za-z0-9X/])", text)


def judged(name, line, text):
    """The findings about one paragraph."""
    for pattern, instead in BANNED:
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            yield Finding(name, line, f"'{match.group(0)}': {instead}")
    for sentence in sentences(text):
        words = len(sentence.split())
        if words > WORDS_MAX:
            yield Finding(name, line, f"a sentence of {words} words, {WORDS_MAX} are allowed: "
                          f"'{' '.join(sentence.split()[:6])} ...'")


def prose(tree):
    """documents, manual pages and help use the language of the glossary, in short sentences"""
    for name in documents.documents(tree):
        if name not in HISTORY:
            for line, text in paragraphs(tree, name):
                yield from judged(name, line, text)
    for name in tree.files(under=MANUAL):
        for line, text in roff(tree, name):
            yield from judged(name, line, text)


def remarks(tree, name):
    """(line, words) for each word of a comment that BANNED has."""
    text = tree.text(name)
    for comment in COMMENT.finditer(text):
        words = re.sub(r"(?<=\n)[ \t]*\*?", "", comment.group(1) or comment.group(2) or "")
        line = text.count("\n", 0, comment.start()) + 1
        for pattern, instead in BANNED:
            for match in re.finditer(pattern.replace(" ", r"\s+"), words, re.IGNORECASE):
                yield (line + words.count("\n", 0, match.start()),
                       f"'{' '.join(match.group(0).split())}': {instead}")


def comments(tree):
    """comments of the module, the uapi and libkrdma's headers use the language of the glossary"""
    found = {}
    for name in tree.files(".c", ".h", under=COMMENTED):
        if not name.startswith("tools/") or name.endswith(".h"):
            found.setdefault(os.path.dirname(name), []).extend(
                Finding(name, line, text) for line, text in remarks(tree, name))
    for folder, findings in sorted(found.items()):
        allowed = LEFT.get(folder, 0)
        if len(findings) > allowed:
            yield from findings
            yield Finding(findings[0].path, findings[0].line, f"{folder} has {len(findings)} of these, "
                          f"and LEFT allows {allowed}")
        elif len(findings) < allowed:
            yield Note(f"the comments of {folder} have {len(findings)} words of BANNED, and LEFT "
                       f"allows {allowed}")
