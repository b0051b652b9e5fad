#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""A server for many clients: it counts words, and its clients read the counts by RDMA.

    hub.py serve                a server
    hub.py ADDRESS WORD...      counts the words, and prints all counts
"""

import struct
import sys
from typing import Dict, List

import krdma
from krdma import Access, EpEvent

PORT = 7475
COUNT, STOP = 1, 2              # tags of calls
PLACES = 1024
COUNTER = struct.Struct("=Q24s")


class Counts:
    """A table that clients read: a word has its place for as long as the server runs."""

    def __init__(self) -> None:
        self.table = bytearray(PLACES * COUNTER.size)
        self.places: Dict[bytes, int] = {}

    def add(self, word: bytes) -> int:
        """Counts a word; how often it has come.  0: there is no place for it."""
        word = word[:24]
        place = self.places.setdefault(word, len(self.places))
        if place >= PLACES:
            del self.places[word]
            return 0
        count, _ = COUNTER.unpack_from(self.table, place * COUNTER.size)
        COUNTER.pack_into(self.table, place * COUNTER.size, count + 1, word)
        return int(count) + 1


def serve() -> None:
    """Answers calls until one wants it to stop."""
    counts = Counts()
    with krdma.Hub(f":{PORT}") as hub:
        hub.share("counts", counts.table, Access.REMOTE_READ)
        for record in hub:
            if record.event == EpEvent.LEFT:
                record.endpoint.close()
            elif record.event == EpEvent.MESSAGE and record.is_call:
                if record.tag == STOP:
                    record.answer()
                    return
                record.answer(struct.pack("=Q", counts.add(record.data)))


def client(address: str, words: List[str]) -> None:
    """Counts words, and prints all counts."""
    with krdma.Hub() as hub:
        server = hub.connect(f"{address}:{PORT}", timeout=10)
        for word in words:
            if word == "--stop":
                server.call(tag=STOP, timeout=10)
                return
            server.call(word.encode(), tag=COUNT, timeout=10)
        with server.memory("counts", timeout=10) as counts:
            for count, word_bytes in COUNTER.iter_unpack(counts.read(timeout=10)):
                if count:
                    print(f"{count:8} {word_bytes.rstrip(bytes(1)).decode(errors='replace')}")


def main(arguments: List[str]) -> int:
    """The program."""
    try:
        if arguments == ["serve"]:
            serve()
            return 0
        if arguments:
            client(arguments[0], arguments[1:])
            return 0
    except krdma.Error as error:
        print(f"hub: {error}", file=sys.stderr)
        return 1
    print("usage: hub.py serve | hub.py ADDRESS WORD...", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
