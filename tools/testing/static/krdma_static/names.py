# SPDX-License-Identifier: GPL-2.0
"""Names of things: one word for each thing, and the established one."""

import re

from .documents import HISTORY
from .layers import blank
from .tree import CannotCheck, Finding

MODULE = ("krdma/", "include/", "blk/")
LIBRARY = ("tools/lib/", "tools/files/", "tools/rpma/")
UAPI = ("uapi/",)
PROSE = (".rst", ".1", ".3", ".4", ".8")

STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
TAG = re.compile(r"\b(?:struct|enum|union)\s+(krdma_\w+)\s*\{")
# A definition or a declaration begins in the first column.
FUNCTION = re.compile(r"^[a-zA-Z_][\w \t*]*?\b(krdma_\w+)\(", re.MULTILINE)
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

# Words that are no longer used in identifiers, and the words to use instead.
GONE = (
    (r"krdma_(?:user_)?queues?(?:_\w+)?|KRDMA_(?:CMD_)?QUEUE_\w+",
     "a CQ of the device or a ring of a program"),
    (r"krdma_(?:user_)?(?:region|memory)(?:_\w+)?|KRDMA_(?:CMD_)?(?:REGION|MEMORY)_\w+", "an MR"),
    (r"krdma_(?:pieces?|split_piece)(?:_\w+)?|KRDMA_PIECES?_\w+|piece_count|piece_segments",
     "an SGE, or a part of a work request"),
    (r"krdma_(?:slots?|work_ring|chain|workbench\w*)(?:_\w+)?|KRDMA_(?:SLOT|CHAIN)\w*",
     "a WQE, a WQ, a list of work requests"),
    (r"krdma_domains?(?:_\w+)?", "a PD"),
    (r"krdma_watch(?:es|er|ers|ed)?(?:_\w+)?|KRDMA_WATCH\w*", "a device notifier"),
    (r"KRDMA_STATUS_\w+", "KRDMA_WC_*, with the names of IB_WC_*"),
    (r"\w*_SILENT|silent", "unsignaled"),
    (r"cookies?", "wr_id"),
    (r"remote_key|local_key", "rkey or lkey"),
    (r"\w*stash(?:ed)?", "a backlog"),
    (r"\w*linger(?:s|ed|ing)?", "grace"),
)


def code(tree, name):
    """A file without its comments and strings, with the same number of lines."""
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


def names(tree):
    """no name for two things, none of the words that are gone, none that is nowhere"""
    texts = {name: code(tree, name)
             for name in tree.files(".c", ".h", under=MODULE + LIBRARY + UAPI)}
    if not texts:
        raise CannotCheck("there is no source")
    module, library = ({name: text for name, text in texts.items() if name.startswith(part + UAPI)}
                       for part in (MODULE, LIBRARY))
    tags, functions = found_in(texts, TAG), found_in(texts, FUNCTION)
    for word in sorted(tags.keys() & functions.keys()):
        yield Finding(tags[word], first(tree, tags[word], word),
                      f"{word} is a type, and a function in {functions[word]}")
    theirs = found_in(library, FUNCTION)
    for word in sorted((found_in(module, FUNCTION).keys() & theirs.keys()) - SAME):
        yield Finding(theirs[word], first(tree, theirs[word], word),
                      f"{word}() is the name of a function of the module, too: if both do the "
                      "same, SAME has it")
    for regex, instead in GONE:
        whole = re.compile(rf"\b(?:{regex})\b")
        for name, text in texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                for word in sorted(set(whole.findall(line))):
                    yield Finding(name, number, f"{word}: the word is gone, this is {instead}")
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
