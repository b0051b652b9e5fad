# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Shared receive queues: receives that several connections take from."""

import ctypes
from typing import Sequence, Union

from . import _abi
from ._library import Handle, Object, check, filled, lib, options_of
from .ring import Entry, Ring, posted


class Srq(Object):
    """A shared receive queue (SRQ).  Session.srq() makes them.

    Its receives complete in its ring; Completion.dest is the connection that the message came from.
    """

    def __init__(self, session: Handle, ring: Ring, depth: int, max_recv_sge: int,
                 device_id: int, lanes: bool) -> None:
        options = options_of(_abi.krdma_srq_create_args, depth=depth, max_sge=max_recv_sge,
                             device_id=device_id,
                             flags=_abi.SrqCreateFlags.LANES if lanes else 0)
        pointer = ctypes.c_void_p()
        with session as owner, ring._handle as its:
            check(lib.krdma_srq_create(owner, its, ctypes.byref(options), ctypes.byref(pointer)),
                  "create a shared receive queue",
                  "the device must have the capability SRQ, and the ring room for its completions")
            self._handle = Handle("shared receive queue", pointer, lib.krdma_srq_close, session)
        self.ring = ring
        with self._handle as handle:
            self.id: int = lib.krdma_srq_id(handle)

    def fileno(self) -> int:
        """The descriptor: writable while receives can be posted."""
        with self._handle as handle:
            return int(lib.krdma_srq_fd(handle))

    def query(self) -> _abi.krdma_srq_query_args:
        """Its attributes."""
        found: _abi.krdma_srq_query_args = filled(
            "query a shared receive queue", lib.krdma_srq_query, self._handle,
            _abi.krdma_srq_query_args)
        return found

    def post(self, entries: Union[Entry, Sequence[Entry]]) -> None:
        """Posts receives, entry.recv(srq, memory), in this order; errors as with Ring.post()."""
        posted(lib.krdma_srq_post, self._handle, entries)
