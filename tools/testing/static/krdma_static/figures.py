# SPDX-License-Identifier: GPL-2.0
"""Figures in documents are those of the record that they are said to be from."""

import re

from . import documents
from .tree import Finding

BEGIN = re.compile(r"^\.\. figures of (\S+)$")
END = re.compile(r"^(?:\.\. end of figures|([-=~])\1{3,})$")
# Smaller numbers are depths and counts of rounds.
LEAST = 128


def recorded(text):
    """The rounded figures of a record, and what krdma adds to each of verbs."""
    figures = {key: float(value) for key, value in re.findall(r"^([\w.=-]+) ([\d.]+)$", text, re.MULTILINE)}
    others = [(key.replace(".verbs.", f".{way}."), value) for way in ("krdma", "krdma-template")
              for key, value in figures.items() if ".verbs." in key]
    added = {figures[key] - value for key, value in others if key in figures}
    return {round(value) for value in added.union(figures.values())}


def figures(tree):
    """figures that a document has from a record are in the record"""
    for name in documents.documents(tree):
        source, known = None, set()
        for line, text in tree.lines(name):
            begin = BEGIN.match(text)
            if begin:
                source = begin.group(1)
                if source not in tree.files():
                    yield Finding(name, line, f"there is no {source}")
                    source = None
                else:
                    known = recorded(tree.text(source))
            elif END.match(text):
                source = None
            elif source:
                for number in re.findall(r"(?<![\w.,])\d[\d,]*\d(?![\w.]\d)", text):
                    if int(number.replace(",", "")) >= LEAST and int(number.replace(",", "")) not in known:
                        yield Finding(name, line, f"{number} is not in {source}")
