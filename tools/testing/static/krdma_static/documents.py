# SPDX-License-Identifier: GPL-2.0
"""Documents are well-formed, are in the index, and name only what exists."""

import functools
import glob
import os
import re
import threading

from .tree import CannotCheck, Finding

DOCS = "Documentation/"
INDEX = DOCS + "index.rst"
THREADS = DOCS + "threads.rst"
KERNEL_HEADER = "include/krdma/krdma.h"
# The check "pictures" looks for documents that show them.
PICTURES = DOCS + "pictures/"
# Paths of this tree in documents.  A path of another tree begins differently.
OUR_PATHS = re.compile(r"^(?:\./)?((?:tools|krdma|blk|kunit|include|uapi|packaging|Documentation|\.ci)"
                       r"/[\w./*-]*)")
# The page that says what each file of the module and of krdma_blk is for; files in the folder for
# older kernels are named by what they provide.
FILES = DOCS + "overview/files.rst"
FILES_OF = ("krdma/", "blk/")
NOT_FILES = ("krdma/compat/", "krdma/trace.c")

# The changelog also names what no longer exists.
HISTORY = "CHANGELOG.rst"


def documents(tree):
    """Names of all documents."""
    return [name for name in tree.files(".rst")
            if name.startswith(DOCS) or "/" not in name]


# docutils keeps what its parsers share in classes, and checks run in several threads.
PARSER = threading.Lock()


def parse(name, text):
    """The parsed document, and the parser's messages as (line, text)."""
    with PARSER:
        return parse_alone(name, text)


@functools.lru_cache(maxsize=None)
def parse_alone(name, text):
    """As parse(), called by one thread at a time."""
    try:
        import docutils.core
        import docutils.nodes
        import docutils.utils
    except ImportError as error:
        raise CannotCheck("python3-docutils is not installed; install what the checks need "
                          "with: tools/deps install check") from error
    document = docutils.core.publish_doctree(
        text, source_path=name,
        settings_overrides={"report_level": 5, "halt_level": 5, "file_insertion_enabled": False,
                            "raw_enabled": False, "syntax_highlight": "none"})
    bad = [(node.get("line") or 1, node.children[0].astext() if node.children else node.astext())
           for node in document.findall(docutils.nodes.system_message) if node["level"] >= 2]
    # The parser keeps messages without a position in the text separately.
    bad += [(node.get("line") or 1, node.astext()) for node in document.parse_messages
            if node["level"] >= 2 and not node.parent]
    return document, bad


def line_of(node):
    """The line of a node, or of its nearest parent whose line is known."""
    while node is not None:
        if node.line:
            return node.line
        node = node.parent
    return 1


def images(tree, name):
    """The files that a document shows as pictures."""
    import docutils.nodes
    document, _ = parse(name, tree.text(name))
    for node in document.findall(docutils.nodes.image):
        yield os.path.normpath(os.path.join(os.path.dirname(name), node["uri"]))


def docs(tree):
    """documents parse, their links lead somewhere, the index lists all"""
    reached = set()
    for name in documents(tree):
        document, bad = parse(name, tree.text(name))
        for line, text in bad:
            yield Finding(name, line, text.replace("\n", " "))
        for node in document.findall():
            target = node.get("refuri") if hasattr(node, "attributes") else None
            if not target or re.match(r"\w+:", target):
                continue
            place = os.path.normpath(os.path.join(os.path.dirname(name), target.split("#")[0]))
            if not os.path.exists(tree.path(place)):
                yield Finding(name, line_of(node), f"the link to {target} leads nowhere")
            elif name == INDEX:
                reached.add(place)
        for picture in images(tree, name):
            if not os.path.exists(tree.path(picture)):
                yield Finding(name, 1, f"there is no picture {picture}")
    if INDEX not in tree.files():
        yield Finding(INDEX, 1, "there is no index")
        return
    for name in tree.files(under=(DOCS,)):
        if name != INDEX and name not in reached and not name.startswith(PICTURES):
            yield Finding(INDEX, 1, f"{name} is not listed")


def files(tree):
    """the page about the files lists each C file of the module and of krdma_blk once"""
    if FILES not in tree.files():
        yield Finding(FILES, 1, "is not there")
        return
    rows = [line.split("``")[1] for _, line in tree.lines(FILES) if line.startswith("``")]
    for name in tree.files(".c", under=FILES_OF):
        if not name.startswith(NOT_FILES) and rows.count(name) != 1:
            yield Finding(FILES, 1, f"{name} is listed {rows.count(name)} times, not once")


def threads(tree):
    """the page about threads lists each function for kernel modules, and counts them"""
    header = tree.text(KERNEL_HEADER) if KERNEL_HEADER in tree.files() else ""
    exported = {function for name in tree.files(".c", under=("krdma/",)) for function in
                re.findall(r"^EXPORT_SYMBOL_NS_GPL\((\w+),", tree.text(name), re.MULTILINE)
                if f"{function}(" in header}
    if THREADS not in tree.files():
        yield Finding(THREADS, 1, "is not there")
        return
    listed, lines = set(), list(tree.lines(THREADS))
    for place, (number, line) in enumerate(lines):
        words = re.findall(r"``(\w+)``", line) if line.startswith("   * - ``krdma_") else []
        stem = ""
        for word in words:
            # A word without the prefix has that of the function before it.
            starts = [stem[:at + 1] for at, letter in enumerate(stem) if letter == "_"]
            name = next((start + word for start in reversed(starts) if start + word in exported), word)
            stem = name
            listed.add(name)
            if name not in exported:
                yield Finding(THREADS, number, f"{word} is no function for kernel modules")
        counts = [int(count) for _, text in lines[place + 1:place + 4]
                  for count in re.findall(r"^     - (\d+)$", text)]
        if words and sum(counts) != len(words):
            yield Finding(THREADS, number, f"{len(words)} functions, and the row counts {sum(counts)}")
    for function in sorted(exported - listed):
        yield Finding(THREADS, 1, f"{function} is not listed")


def literals(tree, name):
    """Code in a document, as (line, text); a block has an entry for each of its lines."""
    import docutils.nodes
    document, _ = parse(name, tree.text(name))
    for node in document.findall(docutils.nodes.literal):
        # The parser knows only the line of the paragraph, so search for the text.
        text = node.astext().replace("\n", " ")
        lines = [number for number, line in tree.lines(name) if f"``{text}``" in line]
        yield (lines[0] if lines else line_of(node)), text
    for node in document.findall(docutils.nodes.literal_block):
        for line in node.astext().replace("\\\n", " ").splitlines():
            yield line_of(node), re.sub(r"\s# .*", "", line.strip().removeprefix("$ "))


def claims(tree):
    """commands, paths, options and variables that documents name exist"""
    targets = set()
    for name in tree.files(".mk") + [name for name in ("Makefile",) if name in tree.files()]:
        for group in re.findall(r"^([\w -]+?):(?!=)", tree.text(name), re.MULTILINE):
            targets |= set(group.split())
    scripts = [name for name in tree.files()
               if not name.endswith((".rst", ".txt")) and not name.startswith(("LICENSES/",
                                                                    "tools/testing/static/"))]
    variables = set()
    for name in scripts:
        variables |= set(re.findall(r"\bKRDMA_[A-Z_]+\b", tree.text(name)))
    for name in documents(tree):
        if name == HISTORY:
            continue
        for line, text in literals(tree, name):
            # Quoted text is for another program, such as a second shell.
            for command in re.split(r"&&|[;|]", re.sub(r"'[^']*'", "''", text)):
                yield from claim(tree, name, line, command, targets, variables)


def claim(tree, name, line, text, targets, variables):
    """Findings about one command in a document."""
    words = text.split()
    while words and re.match(r"^(\w+=.*|sudo)$", words[0]):
        words.pop(0)
    if words and words[0] == "make":
        for word in words[1:]:
            if re.match(r"^[a-z][\w-]*$", word) and word not in targets:
                yield Finding(name, line, f"make has no target {word}")
    for word in text.split():
        match = OUR_PATHS.match(word)
        if match and not glob.glob(tree.path(match.group(1).rstrip("."))):
            yield Finding(name, line, f"{match.group(1)} does not exist")
    if words and os.path.isfile(tree.path(words[0])) and words[0].startswith("tools/"):
        script = tree.text(os.path.normpath(words[0]))
        for word in words[1:]:
            if word == "--":
                break
            option = re.match(r"--[a-z][\w-]*", word)
            if option and not re.search(re.escape(option.group(0)) + r"(?![\w-])", script):
                yield Finding(name, line, f"{words[0]} has no option {option.group(0)}")
    for variable in re.findall(r"\bKRDMA_[A-Z_]+\b", text):
        if variable not in variables:
            yield Finding(name, line, f"nothing reads or defines {variable}")
