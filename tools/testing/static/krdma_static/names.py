# SPDX-License-Identifier: GPL-2.0
"""Names of things: one word for each thing, and the established one."""

import re

from .circles import headers
from .documents import HISTORY
from .layers import blank
from .tree import CannotCheck, Finding

MODULE = ("krdma/", "include/", "blk/")
LIBRARY = ("tools/lib/", "tools/files/", "tools/rpma/")
UAPI = ("uapi/",)
KERNEL = MODULE + UAPI
OURS = KERNEL + LIBRARY
EVERYWHERE = KERNEL + ("kunit/", "tools/")
PROSE = (".rst", ".1", ".3", ".4", ".8")

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
PYTHON_TEXT = re.compile(r'"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*')
WORD = re.compile(r"\b[A-Za-z_]\w*")
TAG = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{")
# A definition or a declaration begins in the first column.
FUNCTION = re.compile(r"^[a-zA-Z_][\w \t*]*?\b(krdma_\w+)\(", re.MULTILINE)
ANY_FUNCTION = re.compile(r"^(?!return\b|else\b)[a-zA-Z_][\w \t*]*?[ *](\w+)\(", re.MULTILINE)
IDENTIFIER = re.compile(r"\b(?:krdma|KRDMA)_\w*[a-zA-Z0-9]\b(?!_)")

# Functions that do the same for a program and for a kernel module, so their names are the same.
SAME = set("""
krdma_conn_accept krdma_conn_close krdma_conn_connect krdma_conn_create krdma_conn_create_lane
krdma_conn_create_qp krdma_listener_query
krdma_conn_disconnect krdma_conn_find_mr krdma_conn_next_event krdma_conn_private_data krdma_conn_query
krdma_conn_reject krdma_conn_resolve krdma_conn_state_name krdma_conn_wait
krdma_device_event_name krdma_device_next krdma_event_name
krdma_listen krdma_listener_address krdma_listener_close krdma_listener_next
krdma_mr_deregister krdma_mr_describe krdma_mr_register krdma_mr_rkey_at krdma_mr_set_name
krdma_opcode_name krdma_srq_close krdma_srq_create krdma_wc_status_name
""".split())

# Words that are no longer used in identifiers, examples of each, the words to use instead, and
# where that holds.
GONE = (
    (r"krdma_(?:user_)?queues?(?:_\w+)?|KRDMA_(?:CMD_)?QUEUE_\w+",
     "krdma_queue krdma_user_queues_get KRDMA_QUEUE_POST KRDMA_CMD_QUEUE_POST",
     "a CQ of the device or a ring of a program", EVERYWHERE),
    (r"krdma_(?:user_)?(?:region|memory)(?:_\w+)?|KRDMA_(?:CMD_)?(?:REGION|MEMORY)_\w+",
     "krdma_region krdma_user_memory_get KRDMA_REGION_MAX KRDMA_CMD_MEMORY_QUERY", "an MR",
     EVERYWHERE),
    (r"krdma_(?:pieces?|split_piece)(?:_\w+)?|KRDMA_PIECES?_\w+|piece_count|piece_segments",
     "krdma_piece krdma_split_piece_next KRDMA_PIECES_MAX piece_count piece_segments",
     "an SGE, or a part of a work request", EVERYWHERE),
    (r"krdma_(?:slots?|work_ring|chain|workbench\w*)(?:_\w+)?|KRDMA_(?:SLOT|CHAIN)\w*",
     "krdma_slot krdma_work_ring_get krdma_chain krdma_workbench KRDMA_SLOTS KRDMA_CHAIN",
     "a WQE, a WQ, a list of work requests", EVERYWHERE),
    (r"krdma_domains?(?:_\w+)?", "krdma_domain krdma_domains_get", "a PD", EVERYWHERE),
    (r"krdma_watch(?:es|er|ers|ed)?(?:_\w+)?|KRDMA_WATCH\w*",
     "krdma_watch krdma_watchers_get KRDMA_WATCHES", "a device notifier", EVERYWHERE),
    (r"KRDMA_STATUS_\w+", "KRDMA_STATUS_SUCCESS", "KRDMA_WC_*, with the names of IB_WC_*",
     EVERYWHERE),
    # Peers of tests can be silent.
    (r"\w*_SILENT|silent", "KRDMA_SEND_SILENT silent", "unsignaled",
     OURS + ("tools/cli/", "tools/python/")),
    (r"cookies?", "cookie cookies", "wr_id", EVERYWHERE),
    (r"remote_key|local_key", "remote_key local_key", "rkey or lkey", EVERYWHERE),
    (r"\w*stash(?:ed)?", "krdma_stash stashed", "a backlog", EVERYWHERE),
    # Sockets have SO_LINGER.
    (r"\w*linger(?:s|ed|ing)?", "krdma_linger lingers", "grace",
     OURS + ("kunit/", "tools/bench/", "tools/cli/", "tools/examples/", "tools/python/")),
    (r"\w*kick\w*", "kick krdma_trunk_kick kicked", "scheduled", EVERYWHERE),
    (r"\w*registrars?(?:_\w*)?", "registrar krdma_registrar_get", "krdma_frwr_qp", EVERYWHERE),
    (r"krdma_provider(?!_error\b)\w*", "krdma_provider krdma_provider_find", "a quirk", EVERYWHERE),
    (r"\w+_(?:tell|told)(?:_\w*)?", "krdma_link_tell_closed writes_told",
     "a completion, or a notification", KERNEL),
    (r"watch(?!dog)\w*", "watch watched_node", "a device notifier", KERNEL),
    (r"(?!sg_|\w*notifier_)\w*chain\w*", "chain krdma_blk_queue_unchain", "a list of work requests",
     KERNEL),
)


def code(tree, name):
    """A file without its comments and strings; C with the same number of lines."""
    if name.endswith(".py"):
        return PYTHON_TEXT.sub(lambda match: "\n" * match.group().count("\n"), tree.text(name))
    return STRING.sub('""', blank(tree.text(name)))


def first(tree, name, word):
    """The number of the first line with a word."""
    for number, line in tree.lines(name):
        if re.search(rf"\b{word}\b", line):
            return number
    return 1


def found_in(texts, regex):
    """The words that match a regular expression: word to the first file that has it."""
    words = {}
    for name, text in texts.items():
        for word in regex.findall(text):
            words.setdefault(word, name)
    return words


def twice(tree, texts):
    """Types and functions of one name that one C file sees, in itself and in its headers."""
    tags = {name: set(TAG.findall(text)) for name, text in texts.items()}
    functions = {name: set(ANY_FUNCTION.findall(text)) for name, text in texts.items()}
    reported = set()
    for name in tree.files(".c", under=EVERYWHERE):
        files = sorted({name} | headers(tree, name, set()) & texts.keys())
        seen = {word: file for file in files for word in functions[file]}
        for file in files:
            for word in sorted(tags[file] & seen.keys() - reported):
                reported.add(word)
                yield Finding(file, first(tree, file, word),
                              f"{word} is a type, and a function in {seen[word]}")


def gone(texts):
    """Words that are no longer used, as parts of identifiers."""
    files = {}
    for name, text in texts.items():
        for word in set(WORD.findall(text)):
            files.setdefault(word, []).append(name)
    for regex, _, instead, folders in GONE:
        whole = re.compile(regex)
        for word in sorted(filter(whole.fullmatch, files)):
            for name in files[word]:
                if name.startswith(folders):
                    for number, line in enumerate(texts[name].splitlines(), 1):
                        if re.search(rf"\b{word}\b", line):
                            yield Finding(name, number,
                                          f"{word}: the word is gone, this is {instead}")


def names(tree):
    """no name for two things, none of the words that are gone, none that is nowhere"""
    texts = {name: code(tree, name)
             for name in tree.files(".c", ".h", ".py", under=EVERYWHERE)}
    if not texts:
        raise CannotCheck("there is no source")
    module, library = ({name: text for name, text in texts.items() if name.startswith(part + UAPI)}
                       for part in (MODULE, LIBRARY))
    ours = {name: text for name, text in texts.items() if name.startswith(OURS)}
    tags, functions = found_in(ours, TAG), found_in(ours, FUNCTION)
    for word in sorted(tags.keys() & functions.keys()):
        yield Finding(tags[word], first(tree, tags[word], word),
                      f"{word} is a type, and a function in {functions[word]}")
    yield from twice(tree, texts)
    theirs = found_in(library, FUNCTION)
    for word in sorted((found_in(module, FUNCTION).keys() & theirs.keys()) - SAME):
        yield Finding(theirs[word], first(tree, theirs[word], word),
                      f"{word}() is the name of a function of the module, too: if both do the "
                      "same, SAME has it")
    yield from gone(texts)
    everywhere = set()
    for name in tree.files():
        if not name.endswith(PROSE):
            everywhere.update(IDENTIFIER.findall(tree.text(name)))
    for name in tree.files(*PROSE):
        if name == HISTORY:
            continue
        for number, line in tree.lines(name):
            if line.startswith(".TH "):
                continue
            for word in sorted(set(IDENTIFIER.findall(line)) - everywhere):
                yield Finding(name, number, f"there is no {word}")
