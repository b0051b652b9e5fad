# SPDX-License-Identifier: GPL-2.0
"""The manual: options of the tool, examples, errors, and functions of the library."""

import re

from .tree import Finding

CLI = "tools/cli/"
CLI_PAGES = "tools/cli/man/"
LIBS = ("tools/lib/", "tools/files/", "tools/rpma/")
LIB_PAGES = tuple(folder + "man/" for folder in LIBS)
EXAMPLES = "tools/examples/"
COMMON = "tools/cli/options.c"

# A table of options, and an entry: { "port", 'p', true } or { "once", OPTION_ONCE, false }.
TABLE = re.compile(r"^static const struct (?:own_option|option) \w+\[\] = \{\n(.*?)^\};",
                   re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^\t\{ \"([a-z][\w-]*)\", (?:'(.)'|no_argument, NULL, COMMON \| '(.)'|\w+)",
                   re.MULTILINE)
# A table of commands or verbs, and an entry with its function.
WORDS = re.compile(r"^(?:static const struct command \w+|\} verbs)\[\] = \{\n(.*?)^\};",
                   re.MULTILINE | re.DOTALL)
WORD = re.compile(r"^\t\{ \"([a-z]+)\", .*?(\w+) \},$", re.MULTILINE)
LONG = re.compile(r"(?<![\w-])--([a-z][a-z0-9-]*)")
LETTER = re.compile(r"(?<![\w-])-([A-Za-z0-9])(?![\w-])")


def strings(text):
    """What the string literals of a piece of C contain, with its lines in place."""
    return "\n".join("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', line)) for line in text.split("\n"))


def definitions(text):
    """(name, first line, last line) of each text of help in a C file: usage, a macro of options."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = re.match(r"(?:static const char (\w*usage)\[\]|#define (\w*OPTIONS\w*))", line)
        if not match:
            continue
        last = number
        while last + 1 < len(lines) and (match.group(1) and not lines[last].endswith(";") or
                                         match.group(2) and lines[last].endswith("\\")):
            last += 1
        yield match.group(1) or match.group(2), number, last


def help_texts(tree, name):
    """(line, what the help says there) of a C file; only lines that describe options."""
    lines = tree.text(name).split("\n")
    for _, first, last in definitions(tree.text(name)):
        for number in range(first, last + 1):
            yield number + 1, strings(lines[number])


def tables(tree, name):
    """(line, long name, letter or "") of the options in a C file."""
    text = tree.text(name)
    for table in TABLE.finditer(text):
        for match in ENTRY.finditer(text, table.start(1), table.end(1)):
            yield text.count("\n", 0, match.start()) + 1, match.group(1), \
                match.group(2) or match.group(3) or ""


def words(tree, name):
    """(line, command or verb) of a C file.  Another word for the same function does not count."""
    text, seen = tree.text(name), set()
    for table in WORDS.finditer(text):
        for match in WORD.finditer(text, table.start(1), table.end(1)):
            if match.group(1) != "help" and match.group(2) not in seen:
                seen.add(match.group(2))
                yield text.count("\n", 0, match.start()) + 1, match.group(1)


def plain(line):
    """A line of a manual page without its macro, fonts and quotes."""
    line = re.sub(r"^\.[A-Z]+ ?", "", line)
    line = re.sub(r"\\f.|\\[|^&]", "", line.replace("\\-", "-"))
    return line.replace('"', "").replace(" , ", ", ")


def sections(tree, name):
    """Section of a manual page to its lines, with their numbers."""
    found, section = {}, ""
    for number, line in tree.lines(name):
        if line.startswith(".SH "):
            section = line[4:].strip().strip('"')
            found[section] = []
        elif section:
            found[section].append((number, line))
    return found


def tags(lines):
    """(line, tag without fonts) of the paragraphs that describe options."""
    wanted = False
    for number, line in lines:
        if wanted and plain(line).lstrip().startswith("-"):
            yield number, plain(line)
        wanted = line.startswith((".TP", ".TQ"))


def users(tree):
    """Manual page to the C files whose help names it."""
    found = {}
    for name in tree.files(".c", under=(CLI,)):
        for page, section in re.findall(r'"Manual: ([\w-]+)\((\d)\)', tree.text(name)):
            found.setdefault(f"{CLI_PAGES}{page}.{section}", set()).add(name)
    return found


def options_of_page(tree, page, sources, common):
    """Findings about the options of the commands that one page describes."""
    if page not in tree.files():
        for name in sources:
            yield Finding(name, 1, f"the help names the page {page}, which does not exist")
        return
    lines = sections(tree, page).get("OPTIONS", [])
    tagged = {option for _, tag in tags(lines) for option in LONG.findall(tag)}
    letters = {option for _, tag in tags(lines) for option in LETTER.findall(tag)}
    described = " ".join(plain(line) for _, line in tree.lines(page))
    known, known_letters = set(common), set(common.values())
    for name in sorted(sources):
        helped = "\n".join(text for _, text in help_texts(tree, name))
        for line, word in words(tree, name):
            if not re.search(rf"\b{word}\b", helped):
                yield Finding(name, line, f"the command {word} is not in the help")
            if not re.search(rf"\b{word}\b", described):
                yield Finding(page, 1, f"the command {word} has no description")
        for line, option, letter in tables(tree, name):
            known.add(option)
            known_letters.add(letter)
            if option not in LONG.findall(helped) and letter not in LETTER.findall(helped):
                yield Finding(name, line, f"the option --{option} is not in the help")
            if option not in tagged:
                yield Finding(page, 1, f"the option --{option} has no description")
            if letter and letter not in letters:
                yield Finding(page, 1, f"the option -{letter} has no description")
    for number, tag in tags(lines):
        for option in LONG.findall(tag):
            if option not in known:
                yield Finding(page, number, f"there is no option --{option}")
        for letter in LETTER.findall(tag):
            if letter not in known_letters:
                yield Finding(page, number, f"there is no option -{letter}")
    for name in sorted(sources):
        for number, text in help_texts(tree, name):
            for option in LONG.findall(text) if re.match(r"\s+-", text) else ():
                if option not in known:
                    yield Finding(name, number, f"there is no option --{option}")


def options(tree):
    """each command and option is in its help and its manual page, and no other is"""
    if COMMON not in tree.files():
        return
    common = {option: letter for _, option, letter in tables(tree, COMMON)}
    pages = users(tree)
    if not pages:
        yield Finding(COMMON, 1, "no help names a manual page")
    for page in tree.files(under=(CLI_PAGES,)):
        if page not in pages:
            yield Finding(page, 1, "no command's help names this page")
    for page, sources in sorted(pages.items()):
        # The page of the tool itself has the common options.
        if CLI + "main.c" in sources:
            lines = sections(tree, page).get("OPTIONS", []) if page in tree.files() else []
            tagged = {option for _, tag in tags(lines) for option in LONG.findall(tag)}
            helped = "".join(text for name in (CLI + "cli.h", CLI + "main.c")
                             if name in tree.files() for _, text in help_texts(tree, name))
            for option in common:
                if option not in tagged:
                    yield Finding(page, 1, f"the option --{option} has no description")
                if option not in LONG.findall(helped):
                    yield Finding(CLI + "main.c", 1, f"the option --{option} is not in the help")
        yield from options_of_page(tree, page, sources, common)


def has_block(lines):
    """Whether a section has a block that is set as an example."""
    return any(line.startswith((".EX", ".nf", ".TP")) for _, line in lines)


def manual(tree):
    """each manual page has an example, those of the library and the device their errors"""
    for page in tree.files(under=(CLI_PAGES,) + LIB_PAGES):
        if not re.search(r"\.\d$", page):
            continue
        found = sections(tree, page)
        if "EXAMPLES" not in found:
            yield Finding(page, 1, "the page has no section EXAMPLES")
        elif not has_block(found["EXAMPLES"]):
            yield Finding(page, found["EXAMPLES"][0][0] if found["EXAMPLES"] else 1,
                          "the section EXAMPLES has no example")
        wanted = "ERRORS" if page.startswith(LIB_PAGES) else "EXIT STATUS"
        if not any(line.strip() for _, line in found.get(wanted, ())):
            yield Finding(page, 1, f"the page has no section {wanted}")


# A comment of kernel-doc and the function that it describes.
DESCRIBED = re.compile(r"^/\*\*\n((?: \*.*\n)+?) \*/\n((?:\w[\w ]*?[ *])(krdma_\w+))\(", re.MULTILINE)


def functions(tree):
    """each function of the library has its errors or its result, and an example"""
    shown = "\n".join(tree.text(name) for name in tree.files(under=(EXAMPLES,)))
    for page in tree.files(under=LIB_PAGES):
        shown += "\n".join(line for _, line in sections(tree, page).get("EXAMPLES", ()))
    for name in tree.files(".h", under=tuple(folder + "krdma" for folder in LIBS)):
        text = tree.text(name)
        for match in DESCRIBED.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            if match.group(2).startswith("int ") and \
                    not re.search(r"^ \* (?:Errors|Return): ", match.group(1), re.MULTILINE):
                yield Finding(name, line, f"{match.group(3)}() has neither 'Errors:' nor 'Return:'")
            if not re.search(rf"\b{match.group(3)}\(", shown):
                yield Finding(name, line, f"{match.group(3)}() is in no example and no manual "
                              "page's EXAMPLES")


# Where people read of a command of the tool, and the quotes that stand before it.
NAMING = (((".rst",), ("Documentation/", "README.rst", "CHANGELOG.rst"), "``"),
          ((".c", ".h", ".py"), ("tools/cli/", "tools/lib/", "tools/python/"), "'"),
          ((), ("tools/install/", "packaging/"), "'"))
# A command of the scripts for completion, which no page shows.
HIDDEN = {"completion"}


def named(tree):
    """each command of the tool that a document or a message names exists"""
    main = CLI + "main.c"
    table = WORDS.search(tree.text(main)) if main in tree.files() else None
    if not table:
        yield Finding(main, 1, "there is no table of commands")
        return
    known = {word for word, _ in WORD.findall(table.group(1))} | HIDDEN
    for suffixes, folders, quote in NAMING:
        for name in tree.files(*suffixes, under=folders):
            for line, text in tree.lines(name):
                for word in re.findall(quote + r"krdma ([a-z]+)\b", text):
                    if word not in known:
                        yield Finding(name, line, f"krdma has no command '{word}'")
