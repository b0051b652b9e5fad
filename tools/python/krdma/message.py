# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Messages of any length."""

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _abi
from ._library import Handle, Object, check, deadline_of, lib, options_of, retried
from .memory import Buffer, Memory

if TYPE_CHECKING:
    from .connection import Connection

# What a peer may announce before recv() refuses it.
LONGEST = 1 << 30

# As the structure has it.
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


class Messenger(Object):
    """One end of a connection, for messages of any length.

    It is made by Connection.messenger(), instead of Connection.create_qp(): when the connection
    is resolved, or requested by a peer.  Both ends need one.  The sender registers the message,
    and the receiver reads it by RDMA into memory of its choice.

    progress(done, length) is called by recv() after each piece.  What it raises cancels the
    message, for the sender too.
    """

    def __init__(self, conn: "Connection", polled: bool = False, piece_size: int = 0,
                 pieces: int = 0, progress: Optional[Callable[[int, int], Any]] = None) -> None:
        self._raised: Optional[BaseException] = None
        self._conn = conn

        def called(_: Any, done: int, length: int) -> int:
            try:
                if progress:
                    progress(done, length)
            except BaseException as error:      # is raised by recv()
                self._raised = error
                return 1
            return 0

        options = options_of(_abi.krdma_messenger_options, polled=polled, piece_size=piece_size,
                             pieces=pieces)
        if progress:
            self._called = _PROGRESS(called)
            options.progress = self._called
        pointer = ctypes.c_void_p()
        with conn.session._handle as session, conn._handle as handle:
            check(lib.krdma_messenger_create(session, handle, ctypes.byref(options),
                                             ctypes.byref(pointer)), "create a messenger")
            self._handle = Handle("messenger", pointer, lib.krdma_messenger_destroy,
                                  conn.session._handle)
        conn.session._children.add(self)

    def send(self, data: Any, timeout: Optional[float] = None) -> None:
        """Sends a message; the peer has received it when this returns."""
        with Buffer(data, False) as buffer, self._conn._handle, self._handle as handle:
            retried(f"send a message of {buffer.length} bytes", lib.krdma_message_send, handle,
                    buffer.address, buffer.length, deadline_of(timeout))

    def send_memory(self, memory: Memory, offset: int = 0, length: Optional[int] = None,
                    timeout: Optional[float] = None) -> None:
        """Sends a message from a memory region with Access.REMOTE_READ."""
        length = memory.part(offset, length)
        with memory._handle as its, self._conn._handle, self._handle as handle:
            retried(f"send a message of {length} bytes", lib.krdma_message_send_mr, handle, its,
                    offset, length, deadline_of(timeout))

    def next(self, timeout: Optional[float] = None) -> int:
        """Waits for the next message; its length.  It stays the next one."""
        length = ctypes.c_size_t()
        with self._conn._handle, self._handle as handle:
            retried("wait for a message", lib.krdma_message_next, handle, ctypes.byref(length),
                    deadline_of(timeout))
        return length.value

    def recv(self, timeout: Optional[float] = None, longest: int = LONGEST) -> bytearray:
        """Receives a message.  A longer one is refused with TooLong, for the sender too."""
        data = bytearray(min(self.next(timeout), longest))
        self.recv_into(data, timeout)
        return data

    def recv_into(self, data: Any, timeout: Optional[float] = None) -> int:
        """Receives a message into an object with writable memory; its length."""
        length = ctypes.c_size_t()
        with Buffer(data, True) as buffer, self._conn._handle, self._handle as handle:
            self._finish(lambda: retried(
                "receive a message", lib.krdma_message_recv, handle, buffer.address, buffer.length,
                ctypes.byref(length), deadline_of(timeout)))
        return length.value

    def recv_memory(self, memory: Memory, offset: int = 0, room: Optional[int] = None,
                    timeout: Optional[float] = None) -> int:
        """Receives a message into a memory region with Access.LOCAL_WRITE; its length."""
        length = ctypes.c_size_t()
        room = memory.part(offset, room)
        with memory._handle as its, self._conn._handle, self._handle as handle:
            self._finish(lambda: retried(
                "receive a message", lib.krdma_message_recv_mr, handle, its, offset, room,
                ctypes.byref(length), deadline_of(timeout)))
        return length.value

    def _finish(self, receive: Callable[[], int]) -> None:
        try:
            receive()
        finally:
            raised, self._raised = self._raised, None
            if raised:
                raise raised
