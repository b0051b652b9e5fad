#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Moves an array of numpy to another machine and back: one write and one read, no copy.

    array.py serve              offers memory for an array, until the client has left
    array.py ADDRESS [COUNT]    writes COUNT numbers there, and reads them back
"""

import sys
import time
from typing import List

import numpy

import krdma
from krdma import Access, entry

PORT = 7474
LONGEST = 1 << 30
COUNT = 100000


def server(session: krdma.Session) -> None:
    """Offers an array to one client, which says its length in the private data of its request."""
    with session.listen(("", PORT)) as listener:
        conn = listener.accept()
    length = int.from_bytes(conn.private_data()[:8], "little")
    if not 0 < length <= LONGEST or length % 8:
        conn.reject()
        raise SystemExit(f"array: the client wants {length} bytes")
    array = numpy.zeros(length // 8)
    with session.register(conn.device_id, array, Access.LOCAL_WRITE | Access.REMOTE_READ |
                          Access.REMOTE_WRITE) as memory:
        conn.create_qp()
        conn.accept(memory.describe())
        conn.await_closed()
        conn.close()
    print(f"array: the client has left {array.size} numbers, and their sum is {array.sum():.0f}")


def client(session: krdma.Session, address: str, count: int) -> int:
    """Writes an array to the server's memory, and reads it back into another one."""
    array = numpy.arange(count, dtype=numpy.float64)
    back = numpy.zeros_like(array)
    with session.connect((address, PORT), array.nbytes.to_bytes(8, "little")) as conn:
        ring = conn.ring
        assert ring
        remote = krdma.RemoteMemory.parse(conn.private_data())
        with session.register(conn.device_id, array) as source, \
                session.register(conn.device_id, back) as target:
            for what, request in (("written", entry.write(conn, source, remote)),
                                  ("read", entry.read(conn, target, remote))):
                begin = time.monotonic()
                ring.post(request)
                ring.wait(timeout=60)[0].check()
                rate = array.nbytes / max(time.monotonic() - begin, 1e-9) / 1e6
                print(f"array: {array.nbytes} bytes {what}, {rate:.0f} MB/s")
    if not numpy.array_equal(array, back):
        print("array: other numbers have come back", file=sys.stderr)
        return 1
    print("array: the same numbers have come back")
    return 0


def main(arguments: List[str]) -> int:
    """The program."""
    try:
        with krdma.Session() as session:
            if arguments == ["serve"]:
                server(session)
                return 0
            if len(arguments) in (1, 2):
                count = int(arguments[1]) if len(arguments) == 2 else COUNT
                return client(session, arguments[0], count)
    except krdma.Error as error:
        print(f"array: {error}", file=sys.stderr)
        return 1
    print("usage: array.py serve | array.py ADDRESS [COUNT]", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
