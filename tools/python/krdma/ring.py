# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Rings: where work requests are posted, and where they complete."""

import ctypes
import errno
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Union

from . import _abi
from ._abi import CqeFlags, Opcode, WcStatus
from ._library import Handle, Object, check, deadline_of, filled, lib, options_of, retried, uint
from .errors import Error, error_for

Entry = _abi.krdma_sqe

_ROOM = 64


def known(kind: Any, value: int) -> Any:
    """A member of an enumeration; the number if a later version has added it."""
    try:
        return kind(value)
    except ValueError:
        return value


class Failed(Error):
    """A work request has completed with an error."""

    def __init__(self, completion: "Completion") -> None:
        operation = (lib.krdma_opcode_name(completion.opcode) or b"").decode()
        super().__init__(errno.EIO, f"complete a {operation}")
        self.completion = completion

    def __str__(self) -> str:
        status = (lib.krdma_wc_status_name(self.completion.status) or b"").decode()
        return f"cannot {self.what}: {status}"


@dataclass(frozen=True)
class Completion:
    """The end of a work request."""

    wr_id: int
    dest: int
    opcode: Opcode
    status: WcStatus
    flags: CqeFlags
    length: int
    imm: int
    vendor_error: int

    @property
    def ok(self) -> bool:
        """Whether the work request has succeeded."""
        return self.status == WcStatus.SUCCESS

    def check(self) -> "Completion":
        """Itself; raises Failed if the work request has failed."""
        if not self.ok:
            raise Failed(self)
        return self


def _array(entries: Union[Entry, Sequence[Entry]]) -> Any:
    if isinstance(entries, Entry):
        entries = [entries]
    return (Entry * len(entries))(*entries)


def _refused(err: int, array: Any, accepted: int) -> Error:
    error: Any = error_for(err, f"post work request {accepted + 1} of {len(array)}",
                           "take completions first" if err == -errno.EAGAIN else None)
    error.accepted = accepted
    return error  # type: ignore[no-any-return]


def posted(function: Callable[..., int], handle: Handle,
           entries: Union[Entry, Sequence[Entry]]) -> None:
    """Posts work requests with a function of the library."""
    array = _array(entries)
    accepted = ctypes.c_size_t()
    with handle as pointer:
        err = function(pointer, array, len(array), ctypes.byref(accepted))
    if err:
        raise _refused(err, array, accepted.value)


def _places(least: int, room: int) -> Any:
    return (_abi.krdma_cqe * max(room, uint(least, 32, "a number of completions")))()


def _completions(array: Any, count: int) -> List[Completion]:
    return [Completion(one.wr_id, one.dest, known(Opcode, one.opcode), known(WcStatus, one.status),
                       CqeFlags(one.flags), one.length, one.imm, one.vendor_error)
            for one in array[:count]]


def _taken(ring: int, array: Any, least: int, deadline: int) -> List[Completion]:
    """The completions that a wait takes; none if it is not to wait."""
    taken = ctypes.c_size_t()
    try:
        retried("wait for completions", lib.krdma_ring_wait, ring, array, len(array), least,
                deadline, ctypes.byref(taken))
    except BlockingIOError:
        return []
    return _completions(array, taken.value)


class Ring(Object):
    """A submission queue and a completion queue.  Session.ring() makes them."""

    def __init__(self, session: Handle, entries: int, completions: int, polled: bool,
                 device_id: int, vector: Optional[int]) -> None:
        flags = _abi.RingCreateFlags.POLLED if polled else 0
        if vector is not None:
            flags |= _abi.RingCreateFlags.VECTOR
        options = options_of(
            _abi.krdma_ring_create_args, sq_entries=entries, cq_entries=completions,
            device_id=device_id, vector=vector or 0, flags=flags)
        pointer = ctypes.c_void_p()
        with session as owner:
            check(lib.krdma_ring_create(owner, ctypes.byref(options), ctypes.byref(pointer)),
                  "create a ring")
            self._handle = Handle("ring", pointer, lib.krdma_ring_close, session)

    def fileno(self) -> int:
        """The descriptor: readable while there are completions."""
        with self._handle as handle:
            return int(lib.krdma_ring_fd(handle))

    def query(self) -> _abi.krdma_ring_query_args:
        """Its attributes."""
        found: _abi.krdma_ring_query_args = filled(
            "query a ring", lib.krdma_ring_query, self._handle, _abi.krdma_ring_query_args)
        return found

    def post(self, entries: Union[Entry, Sequence[Entry]]) -> None:
        """Posts work requests, in this order.

        If one is refused, those before it are posted: the exception has their number as "accepted".
        """
        posted(lib.krdma_ring_post, self._handle, entries)

    def poll(self, room: int = _ROOM) -> List[Completion]:
        """The completions that are there, at most so many."""
        return self.wait(timeout=0, room=room)

    def wait(self, least: int = 1, timeout: Optional[float] = None,
             room: int = _ROOM) -> List[Completion]:
        """Waits until there are that many completions, or the time is over, and takes them.

        It returns fewer if the time is over, none with a timeout of 0, and raises TimedOut if
        another time is over before the first.
        """
        array = _places(least, room)
        with self._handle as handle:
            return _taken(handle, array, least, deadline_of(timeout))

    def enter(self, entries: Union[Entry, Sequence[Entry]], least: int = 1,
              timeout: Optional[float] = None, room: int = _ROOM) -> List[Completion]:
        """post() and wait(), in one call of the kernel where that is possible.

        If a work request is refused, it does not wait: see post().
        """
        requests, array = _array(entries), _places(least, room)
        accepted, taken = ctypes.c_size_t(), ctypes.c_size_t()
        deadline = deadline_of(timeout)
        with self._handle as handle:
            err = lib.krdma_ring_enter(handle, requests, len(requests), ctypes.byref(accepted),
                                       array, len(array), least, deadline, ctypes.byref(taken))
            if err and (accepted.value < len(requests) or not requests):
                raise _refused(err, requests, accepted.value)
            # All are posted, so that only the wait may begin again.
            return _taken(handle, array, least, deadline) if err else \
                _completions(array, taken.value)


def wait_any(rings: Sequence[Ring], timeout: Optional[float] = None) -> int:
    """The index of the first ring that has completions; waits until one has."""
    if not rings:
        raise ValueError("there is no ring to wait for")
    which = ctypes.c_size_t()
    held: List[Handle] = []
    try:
        array = (ctypes.c_void_p * len(rings))()
        for index, ring in enumerate(rings):
            array[index] = ring._handle.__enter__()
            held.append(ring._handle)
        retried("wait for completions", lib.krdma_ring_wait_any, array, len(rings),
                deadline_of(timeout), ctypes.byref(which))
    finally:
        for handle in held:
            handle.__exit__()
    return which.value
