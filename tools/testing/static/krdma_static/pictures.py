# SPDX-License-Identifier: GPL-2.0
"""Pictures of terminals show what is printed today, and each picture is in a document."""

import importlib.machinery
import importlib.util
import re
import sys

from . import documents
from .tree import CannotCheck, Finding

FOLDER = "Documentation/pictures/"
DRAW = "tools/docs/terminal"
RECORD = ".session"
# What a record is from, and the program whose messages are in it.
DEMO = (FOLDER + "demo" + RECORD, "tools/demo")
MESSAGES = "tools/cli/"


def drawn(tree, name):
    """The picture of a record, with the title that its file has now."""
    loader = importlib.machinery.SourceFileLoader("krdma_terminal", tree.path(DRAW))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = written
    title = re.search(r"<title>(.*)</title>", tree.text(name.replace(RECORD, ".svg")))
    return module.draw(title.group(1) if title else "", tree.text(name))


def printed(text):
    """The commands and the sentences that a script shows, as patterns in their order."""
    said = re.findall(r"^\s*(?:must|see) '(.*?)'|^echo \"(.+)\"$", text, re.MULTILINE)
    return [re.escape("# " + command) if command else
            re.sub(r"\\\$\\\(.*?\\\)|\\\$\w+", ".+", re.escape(sentence)) for command, sentence in said]


def messages(tree):
    """The lines that the tool can print after its name, as patterns."""
    for name in tree.files(".c", under=(MESSAGES,)):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", tree.text(name))):
            for line in text.split("\\n"):
                if " " in line:
                    yield re.sub(r"%(?:\\?[-0-9.*])*(?:l|ll|z)?[a-z]", ".*", re.escape(line))


def demo(tree, record, script):
    """Findings about lines of a record that the script, or the tool, does not print."""
    patterns = printed(tree.text(script))
    possible = None
    place, after_blank, after_error = 0, True, False
    for number, line in tree.lines(record):
        starts = line.startswith("# ")
        if starts or after_blank and line:
            found = next((index for index in range(place, len(patterns))
                          if re.fullmatch(patterns[index], line)), None)
            if found is None:
                yield Finding(record, number, f"{script} does not print '{line}' here")
            else:
                place = found + 1
        elif line.startswith("krdma: ") or after_error and line:
            possible = possible or list(messages(tree))
            if not any(re.fullmatch(pattern, line.removeprefix("krdma: ")) for pattern in possible):
                yield Finding(record, number, f"nothing in {MESSAGES} prints '{line}'")
        after_blank, after_error = not line, line.startswith("krdma: ")


def pictures(tree):
    """each picture is in a document, and a picture of a terminal shows what is printed today"""
    shown = set()
    for name in documents.documents(tree):
        shown.update(documents.images(tree, name))
    for name in tree.files(under=(FOLDER,)):
        if name.endswith(".svg"):
            if name not in shown:
                yield Finding(name, 1, "is in no document")
            continue
        picture = name.replace(RECORD, ".svg")
        if not name.endswith(RECORD) or picture not in tree.files():
            yield Finding(name, 1, "is neither a picture nor the record of one")
            continue
        if DRAW not in tree.files():
            raise CannotCheck(f"{DRAW} is not there")
        if drawn(tree, name) != tree.text(picture):
            yield Finding(picture, 1, f"is not the picture of {name}: {DRAW} TITLE {name} >{picture}")
    record, script = DEMO
    if record not in tree.files():
        yield Finding(record, 1, "is not there")
    elif script in tree.files():
        yield from demo(tree, record, script)
    else:
        yield Finding(script, 1, "is not there")
