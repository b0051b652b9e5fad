#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""The key-value store of the tutorial: clients read the server's table by RDMA.

    kv.py serve                 a server, also for clients of tools/examples/kv.c
    kv.py ADDRESS KEY           prints the value of a key
    kv.py ADDRESS KEY VALUE     stores it
"""

import errno
import struct
import sys
import threading
from typing import List, Optional

import krdma
from krdma import Access, entry

PORT = 7473
SLOTS = 1024
SLOT = struct.Struct("=Q24s96s")    # sum of the rest, key, value
STATUS = struct.Struct("=i")        # 0 or a negative errno


def hash_of(data: bytes) -> int:
    """FNV-1a."""
    result = 0xcbf29ce484222325
    for byte in data:
        result = (result ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return result


def place(key: bytes) -> int:
    """Where the slot of a key is in the table."""
    return hash_of(key) % SLOTS * SLOT.size


class Server:
    """The table belongs to the device of the first client."""

    def __init__(self, session: krdma.Session) -> None:
        self.session = session
        self.table: Optional[krdma.Memory] = None
        self.lock = threading.Lock()

    def store(self, request: bytes) -> int:
        """Stores what a client has sent."""
        _, key, value = SLOT.unpack(request)
        if key[-1] or value[-1]:
            return -errno.EINVAL        # not zero-terminated: do not trust the client
        assert self.table
        at = place(key.split(b"\0")[0])
        with self.lock:
            self.table.view[at:at + SLOT.size] = SLOT.pack(hash_of(request[8:]), key, value)
        return 0

    def serve(self, conn: krdma.Connection) -> None:
        """Serves a client until it has left."""
        assert self.table
        memory = self.session.alloc(conn.device_id, 2 * SLOT.size)
        receive = entry.recv(conn, memory, 0, SLOT.size)
        answer = entry.send(conn, memory, SLOT.size, STATUS.size, flags=entry.UNSIGNALED)
        ring = conn.create_qp()
        try:
            ring.post(receive)
            conn.accept(self.table.describe())
            while ring.wait()[0].ok:
                memory.view[SLOT.size:SLOT.size + STATUS.size] = \
                    STATUS.pack(self.store(bytes(memory.view[:SLOT.size])))
                ring.post([receive, answer])
        except krdma.Error:
            pass        # the client has left
        conn.close()
        ring.close()
        memory.abandon()

    def run(self) -> None:
        """Accepts clients."""
        with self.session.listen(("", PORT)) as listener:
            for conn in listener:
                if not self.table:
                    self.table = self.session.alloc(conn.device_id, SLOTS * SLOT.size,
                                                    Access.LOCAL_WRITE | Access.REMOTE_READ)
                threading.Thread(target=self.serve, args=(conn,), daemon=True).start()


def client(session: krdma.Session, address: str, key: bytes, value: Optional[bytes]) -> int:
    """Stores a key, or prints its value."""
    conn = session.connect((address, PORT))
    ring = conn.ring
    assert ring
    table = krdma.RemoteMemory.parse(conn.private_data())
    memory = session.alloc(conn.device_id, 2 * SLOT.size)
    if value is not None:
        memory.view[:SLOT.size] = SLOT.pack(0, key[:23], value[:95])
        ring.post([entry.recv(conn, memory, SLOT.size, STATUS.size),
                   entry.send(conn, memory, 0, SLOT.size)])
        for completion in ring.wait(least=2, timeout=10):
            completion.check()
        status, = STATUS.unpack(memory.view[SLOT.size:SLOT.size + STATUS.size])
        if status:
            print(f"kv: the server refuses it: {errno.errorcode.get(-status, status)}",
                  file=sys.stderr)
        return 1 if status else 0
    while True:
        ring.post(entry.read(conn, memory, table, 0, SLOT.size, place(key)))
        ring.wait(timeout=10)[0].check()
        found = bytes(memory.view[:SLOT.size])
        total, its, text = SLOT.unpack(found)
        if not total or total == hash_of(found[8:]):
            break       # another sum: the server is writing it
    if not total or its.rstrip(b"\0") != key:
        print("kv: no such key", file=sys.stderr)
        return 1
    print(text.rstrip(b"\0").decode())
    return 0


def main(arguments: List[str]) -> int:
    """The program."""
    try:
        with krdma.Session() as session:
            if arguments == ["serve"]:
                Server(session).run()
            elif len(arguments) in (2, 3):
                address, key, *value = arguments
                return client(session, address, key.encode(),
                              value[0].encode() if value else None)
    except krdma.Error as error:
        print(f"kv: {error}", file=sys.stderr)
        return 1
    print("usage: kv.py serve | kv.py ADDRESS KEY [VALUE]", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
