# SPDX-License-Identifier: GPL-2.0
"""Files that depend on each other in a circle, by the functions and objects that they use."""

import os
import re

from .tree import CannotCheck, Finding, Note

# Sets of files without such circles, each as a regex for their names.
SETS = (r"kunit/\w+\.c", r"blk/\w+\.c")
# The circles of other folders: the number of files of each, largest first.  They may only become
# fewer and smaller; then the finding says what belongs here.
LARGEST = {
    "krdma/core": (8,),
    "krdma/mr": (5, 2),
    "krdma/io": (2, 2),
    "krdma/cm": (7,),
    "krdma/lane": (15,),
    "krdma/user": (13,),
}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)
DEFINE = re.compile(r"[ \t]*#\s*define\s+(\w+)(.*)", re.DOTALL)
INCLUDE = re.compile(r"^[ \t]*#\s*include\s*([<\"])([^>\"]+)[>\"]", re.MULTILINE)
# Where builds look for headers: ccflags-y in Kbuild, and the options of programs.
SEARCHED = ("uapi", "include", "krdma", "kunit", "tools/lib", "tools/files", "tools/rpma",
            "tools/cli", "tools/testing/core", "tools/testing/e2e")
TOKEN = re.compile(r"[A-Za-z_]\w*|->|\S")
TAGS = ("struct", "union", "enum")
# Macros whose first argument is an object that they define.
DEFINING = re.compile(r"(DEFINE|DECLARE)_\w+|\w*LIST_HEAD")
STATEMENTS = ("return", "goto", "case", "else", "do")


def empty(match):
    """Blanks with as many newlines as what they replace."""
    return " " + "\n" * match.group().count("\n")


def tokens(text, line=1):
    """The tokens of a text, with their lines."""
    result, end = [], 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", end, match.start())
        end = match.start()
        result.append((match.group(), line))
    return result


def is_name(token):
    """Whether a token is an identifier."""
    return token[0].isalpha() or token[0] == "_"


def used(found, without=()):
    """The identifiers among tokens, with their lines, that are neither members nor tags."""
    names = {}
    for number, (token, line) in enumerate(found):
        before = found[number - 1][0] if number else ""
        if is_name(token) and before not in (".", "->", *TAGS) and token not in without:
            names.setdefault(token, line)
    return names


def variables(body):
    """The names of the variables that a function declares."""
    names, start, depth = set(), 0, 0
    for number, (token, _) in enumerate(body):
        depth += (token in "([") - (token in ")]")
        if token in "{};" and depth <= 0:
            start, depth = number + 1, 0
        elif token in ("=", ";", ",", "[") or number + 1 == len(body):
            continue
        elif body[number + 1][0] in ("=", ";", ",", "[") and is_name(token) and depth <= 0:
            before = [one for one, _ in body[start:number]]
            if not before or before[0] in STATEMENTS or not is_name(before[0]):
                continue
            # A type and stars, or another variable in front.
            if all(is_name(one) or one == "*" for one in before) or before[-1] in (",", "*"):
                names.add(token)
    return names


class Source:
    """What a C file defines and uses."""

    def __init__(self, text):
        # By name: the identifiers in a macro or an inline function, with their lines.
        self.macros = {}
        self.statics = {}
        # Functions that other files can use, and declarations of such, with their lines.
        self.functions = {}
        self.prototypes = {}
        # Functions and objects that other files can use.
        self.globals = set()
        # Identifiers that the definitions use, with the line of the first use.
        self.uses = {}

        text = COMMENT.sub(empty, text)
        for match in DIRECTIVE.finditer(text):
            define = DEFINE.match(match.group())
            if define:
                line = text.count("\n", 0, match.start()) + 1
                self.macros[define.group(1)] = used(tokens(define.group(2), line))
        self.read(tokens(DIRECTIVE.sub(empty, text)))

    def read(self, found):
        """Splits the file at the end of each function and each declaration."""
        item, depth, function = [], 0, False
        for token, line in found:
            if token == "{" and not depth and item:
                function = item[-1][0] == ")" and "=" not in self.outer(item)
            depth += (token in "{([") - (token in "})]")
            item.append((token, line))
            if not depth and (token == ";" or token == "}" and function):
                self.define(item, function)
                item, function = [], False

    @staticmethod
    def outer(item):
        """The tokens outside of brackets, and the opening brackets."""
        result, depth = [], 0
        for token, _ in item:
            depth -= token in "})]"
            if not depth and token not in "})]":
                result.append(token)
            depth += token in "{(["
        return result

    def define(self, item, function):
        """Notes what a function or a declaration defines and uses."""
        outer = self.outer(item)
        calls = [name for name, after in zip(outer, outer[1:])
                 if after == "(" and is_name(name) and not name.startswith("__")]
        static = "static" in outer
        if function:
            start = [token for token, _ in item].index("{")
            head, body = item[:start], item[start:]
            name = calls[0] if calls else ""
            names = used(body, {token for token, _ in head} | variables(body))
        elif "typedef" in outer or "extern" in outer:
            return
        elif "=" in outer:
            start = [token for token, _ in item].index("=")
            before = outer[:outer.index("=")]
            name = next((one for one in reversed(before) if is_name(one)), "")
            names = used(item[start:])
        elif calls:
            # LIST_HEAD(name) defines an object; a prototype defines nothing.
            name, names = "", {}
            self.prototypes.setdefault(calls[0], item[0][1])
            if DEFINING.fullmatch(calls[0]):
                name = next((token for token, _ in item[1:] if is_name(token) and
                             token not in outer), "")
        else:
            before = outer[:-1]
            name, names = "", {}
            if len(before) > 1 and is_name(before[-1]) and before[-2] not in TAGS:
                name = before[-1]
            elif "[" in before:
                name = before[before.index("[") - 1]
        if static and name:
            self.statics.setdefault(name, {}).update(names)
        elif name:
            self.globals.add(name)
            if function:
                self.functions.setdefault(name, item[0][1])
        for used_name, line in names.items():
            self.uses.setdefault(used_name, line)


def source_of(tree, name):
    """The parsed file; each file of a tree is parsed once."""
    if name not in tree.parsed:
        tree.parsed[name] = Source(tree.text(name))
    return tree.parsed[name]


def includes(tree, name):
    """(file of this tree or None, what is included, line) for each include of a file."""
    if (name, "includes") not in tree.parsed:
        text = tree.text(name)
        tree.parsed[name, "includes"] = []
        for match in INCLUDE.finditer(text):
            opening, included = match.groups()
            folders = (os.path.dirname(name),) * (opening == '"') + SEARCHED
            paths = [os.path.normpath(os.path.join(folder, included)) for folder in folders]
            tree.parsed[name, "includes"].append((next(filter(tree.has, paths), None), included,
                                                  text.count("\n", 0, match.start(1)) + 1))
    return tree.parsed[name, "includes"]


def headers(tree, name, seen):
    """The headers of this tree that a file includes, directly or by others."""
    for header, _, _ in includes(tree, name):
        if header and header not in seen:
            seen.add(header)
            headers(tree, header, seen)
    return seen


def needs(tree, name):
    """The identifiers that a file uses and does not define, with their lines.  What its headers
    define as macros or inline functions counts as if it was written where it is used; what a
    header defines so counts as a use of the header."""
    source = source_of(tree, name)
    inline = {}
    for header in headers(tree, name, set()):
        inline.update(source_of(tree, header).macros)
        inline.update(source_of(tree, header).statics)
    inline.update(source.macros)
    names, waiting = {}, list(source.uses.items())
    if name.endswith(".h"):
        waiting += [use for macro in source.macros.values() for use in macro.items()]
    while waiting:
        used_name, line = waiting.pop()
        if used_name in names or used_name in source.statics:
            continue
        names[used_name] = line
        waiting += [(other, line) for other in inline.get(used_name, ())]
    return {used_name: line for used_name, line in names.items() if used_name not in source.globals}


def way(edges, start, end):
    """The files on the shortest way from one file to another, or None."""
    before, waiting = {start: None}, [start]
    for name in waiting:
        if name == end:
            result = []
            while name:
                result.append(name)
                name = before[name]
            return result[::-1]
        for other in sorted(edges[name]):
            if other not in before:
                before[other] = name
                waiting.append(other)
    return None


def graph(tree, names):
    """For each file the files that it needs, each with a name that it uses and the line."""
    homes = {}
    for name in names:
        for defined in source_of(tree, name).globals:
            homes.setdefault(defined, set()).add(name)
    edges = {name: {} for name in names}
    for name in names:
        for used_name, line in needs(tree, name).items():
            for home in homes.get(used_name, set()) - {name}:
                first = edges[name].get(home)
                if not first or line < first[1]:
                    edges[name][home] = used_name, line
    return edges


def groups(edges):
    """The sets of files that need each other, as sorted lists, largest first."""
    found = {tuple(sorted(other for other in edges
                          if way(edges, name, other) and way(edges, other, name)))
             for name in edges}
    return sorted((group for group in found if len(group) > 1), key=lambda group: (-len(group), group))


def ratchet(tree, folder, largest):
    """The circles of a folder that may have some: their sizes are compared."""
    found = groups(graph(tree, [name for name in tree.files(".c", under=(folder + "/",))
                                if os.path.dirname(name) == folder]))
    sizes = tuple(map(len, found))
    for number, group in enumerate(found):
        allowed = largest[number] if number < len(largest) else 0
        if len(group) > allowed:
            yield Finding(group[0], 1, f"a circle of {len(group)} files, and {allowed or 'none'} "
                          f"may be in one: {', '.join(group)} (LARGEST has {largest}, and {folder} "
                          f"{sizes})")
            return
    if sizes != largest:
        yield Note(f"{folder} has smaller circles than LARGEST says: {sizes} instead of {largest}")


def circles(tree):
    """no file of krdma_blk or KUnit needs itself by others, and in krdma/ no more than today"""
    for files in SETS:
        names = [name for name in tree.files(".c") if re.fullmatch(files, name)]
        if not names:
            raise CannotCheck(f"no file has a name such as {files}")
        edges = graph(tree, names)
        for name in names:
            for home, (used_name, line) in sorted(edges[name].items()):
                back = way(edges, home, name)
                if back:
                    yield Finding(name, line, f"a circle: uses {used_name} of " +
                                  ", which needs ".join(back))
    for folder in sorted({os.path.dirname(name) for name in tree.files(".c", under=("krdma/",))}):
        yield from ratchet(tree, folder, LARGEST.get(folder, ()))
