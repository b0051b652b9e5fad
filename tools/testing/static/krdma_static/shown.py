# SPDX-License-Identifier: GPL-2.0
"""Tests that documents name as proofs of what they state exist."""

import re

from . import documents, tests
from .tree import Finding

# Its names are made of the annotations beside the tests.
TABLE = "Documentation/coverage.rst"
LABELLED = re.compile(r"^([a-z][\w-]*): (.*[^.])$")
# Without a label, only what is too long for a name of something else.
FIXTURE = re.compile(r"^([a-z]\w*)\.[a-z][a-z0-9.]*_[a-z0-9]+_[\w.]*$")
CASE = re.compile(r"^(krdma_\w+): (test_\w+)$")


def literals(tree, name):
    """(line, text) of the literals of a document, apart from blocks."""
    import docutils.nodes
    document, _ = documents.parse(name, tree.text(name))
    for node in document.findall(docutils.nodes.literal):
        yield documents.line_of(node), " ".join(node.astext().split())


def printed(tree, folder, text):
    """Whether a file of a folder of tests prints this name, as an argument of a function there."""
    forms = (f'"{text}"', f"'{text}'", f"{text}\\n", f"int {text.replace(' ', '_')}(")
    return any(form in tree.text(name) for name in tree.files(under=(f"tools/testing/{folder}/",))
               for form in forms)


def known(names, pattern):
    """Whether there is a test of this name; a name that ends with "*" has to fit one."""
    if pattern.endswith("*"):
        return any(name.startswith(pattern[:-1]) for name in names)
    return pattern in names


def shown(tree):
    """tests that documents name exist"""
    names = set(tests.test_names(tree))
    folders = {name.split(": ", 1)[0] for name in names}
    tiers = set(tests.OTHER_TIERS.get("e2e", ())) - folders | {"peer"}
    fixtures = {}
    for name in names:
        folder, _, rest = name.partition(": ")
        if folder in ("e2e", "core") and "." in rest:
            fixtures.setdefault(rest.split(".")[0], set()).add(rest)
    for name in documents.documents(tree):
        if name == TABLE:
            continue
        for line, text in literals(tree, name):
            label, fixture, case = LABELLED.match(text), FIXTURE.match(text), CASE.match(text)
            if case:
                right = known(names, f"kunit: {text}")
            elif label and label.group(1) in folders | tiers:
                folder, test = label.groups()
                right = known(names, text) or printed(tree, folder, test) or \
                    folder in tiers and known(names, f"e2e: {test}")
            elif fixture and fixture.group(1) in fixtures:
                right = known(fixtures[fixture.group(1)], text) or \
                    any(test.endswith(text.partition(".")[2]) for test in fixtures[fixture.group(1)])
            else:
                continue
            if not right:
                yield Finding(name, line, f"there is no test '{text}'")
