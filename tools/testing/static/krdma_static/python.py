# SPDX-License-Identifier: GPL-2.0
"""The Python package: what is made of the headers, and the form of the rest."""

import ast
import os
import sys

from .cache import TOP
from .tree import Finding, run

FOLDER = "tools/python/"
MADE = FOLDER + "krdma/_abi.py"
GENERATE = FOLDER + "generate"
COLUMNS = 100


def sources(tree):
    """The sources of the package and its examples."""
    return [name for name in tree.files(under=(FOLDER,))
            if name.endswith(".py") or "python" in tree.interpreter(name)]


def without_type(function):
    """The arguments of a function that have no type; "return" stands for its result."""
    arguments = function.args
    every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
    every += [one for one in (arguments.vararg, arguments.kwarg) if one]
    names = [one.arg for one in every if not one.annotation]
    if arguments.args[:1] and arguments.args[0].arg in ("self", "cls"):
        names = names[1:]
    return names + ([] if function.returns else ["return"])


def untyped(tree, name):
    """A finding for each function without types."""
    for node in ast.walk(ast.parse(tree.text(name))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and without_type(node):
            yield Finding(name, node.lineno,
                          f"{node.name}(): no type for {', '.join(without_type(node))}")


def made(tree):
    """A finding if the file is not what the headers say."""
    status, output = run([sys.executable, "-B", os.path.join(TOP, GENERATE), "--root", tree.root])
    write = f"write it with: {GENERATE} --write"
    if status:
        yield Finding(MADE, 1, output.strip())
        return
    if MADE not in tree.files():
        yield Finding(MADE, 1, f"is not there; {write}")
        return
    is_lines, wanted = tree.text(MADE).splitlines(), output.splitlines()
    for number in range(max(len(is_lines), len(wanted))):
        one, other = (lines[number] if number < len(lines) else ""
                      for lines in (is_lines, wanted))
        if one != other:
            yield Finding(MADE, number + 1,
                          f"'{one}' instead of '{other}': the headers have changed; {write}")
            return


def python(tree):
    """the Python package has what the headers declare, 100 columns, and types"""
    for name in sources(tree):
        for number, line in tree.lines(name):
            if len(line) > COLUMNS:
                yield Finding(name, number, f"{len(line)} columns, {COLUMNS} are allowed")
        try:
            compile(tree.text(name), name, "exec")
        except SyntaxError as error:
            yield Finding(name, error.lineno or 1, f"python: {error.msg}")
            continue
        if name != GENERATE:
            yield from untyped(tree, name)
    yield from made(tree)
