# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Listeners and connections."""

import ctypes
import errno
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, Optional

from . import _abi
from ._abi import Access, ConnKind, ConnState, EventType, ListenFlags
from ._address import Address, packed, unpacked
from ._library import (Handle, Object, check, deadline_of, filled, lib, options_of, retried,
                       text, uint)
from .memory import RemoteMemory
from .message import Messenger
from .ring import Ring, known
from .srq import Srq

if TYPE_CHECKING:
    from .session import Session

_PRIVATE_DATA = 512
# How long a session waits for the end of a connection whose memory it deregisters.
_END = 1.0


@dataclass(frozen=True)
class Event:
    """What has happened to a connection."""

    type: EventType
    error: int
    reason: int


@dataclass(frozen=True)
class ConnectionInfo:
    """The state and the attributes of a connection."""

    state: ConnState
    error: int
    id: int
    device_id: int
    qp_number: int
    send_depth: int
    recv_depth: int
    max_inline: int
    read_depth: int
    read_depth_in: int
    path_mtu: int
    peer_is_krdma: bool
    sends_posted: int
    sends_completed: int
    receives_posted: int
    receives_completed: int
    local: Address
    remote: Address
    kind: ConnKind
    trunk: int


@dataclass(frozen=True)
class ListenerInfo:
    """The attributes of a listener, how many requests wait, and how many had waited too long."""

    address: Address
    flags: ListenFlags
    waiting: int
    oldest_ms: int
    expired: int


def _param(early: bool, *, plain: bool = False, rnr_retry: bool = True, read_depth: int = 0,
           read_depth_in: int = 0, retry_count: int = 0, rnr_retry_count: int = 0) -> Any:
    flags = _abi.ConnParamFlags.EARLY if early else _abi.ConnParamFlags(0)
    if plain:
        flags |= _abi.ConnParamFlags.PLAIN
    if not rnr_retry:
        flags |= _abi.ConnParamFlags.NO_RNR_RETRY
    return options_of(
        _abi.krdma_conn_param_args, flags=flags, read_depth=read_depth, read_depth_in=read_depth_in,
        retry_count=retry_count, rnr_retry_count=rnr_retry_count)


class Connection(Object):
    """A connection, in any state.

    Session.connect() makes one that is connected, Session.connection() a new one, and
    Listener.accept() one that a peer has requested.
    """

    def __init__(self, session: "Session", pointer: ctypes.c_void_p) -> None:
        """In a call with the session."""
        self._handle = Handle("connection", pointer, lib.krdma_conn_close, session._handle)
        self.session: "Session" = session
        self.ring: Optional[Ring] = None
        self._what = "connect"
        with self._handle as handle:
            self.id: int = lib.krdma_conn_id(handle)
        session._children.add(self)

    def fileno(self) -> int:
        """The descriptor: readable while there are events."""
        with self._handle as handle:
            return int(lib.krdma_conn_fd(handle))

    def _wait(self, timeout: Optional[float]) -> ConnState:
        state = ctypes.c_uint32()
        with self._handle as handle:
            retried(self._what, lib.krdma_conn_wait, handle, deadline_of(timeout),
                    ctypes.byref(state))
        found: ConnState = known(ConnState, state.value)
        return found

    def wait(self, timeout: Optional[float] = None) -> ConnState:
        """Waits for the end of the current change of its state."""
        return self._wait(timeout)

    def resolve(self, address: Address, timeout: Optional[float] = 10,
                local: Optional[Address] = None, tos: int = 0, ack_timeout: int = 0) -> None:
        """Finds the device and the route for the address of a peer.

        tos and ack_timeout are those of struct krdma_conn_resolve_args.
        """
        self._what = f"connect to {address[0]} port {address[1]}"
        options = options_of(_abi.krdma_conn_resolve_args, tos=tos, ack_timeout=ack_timeout)
        if local:
            options.flags = _abi.ResolveFlags.LOCAL
            ctypes.memmove(options.local, packed(local), ctypes.sizeof(options.local))
        remote = packed(address)
        with self._handle as handle:
            check(lib.krdma_conn_resolve(handle, remote, ctypes.byref(options)), self._what)
        self._wait(timeout)

    def create_qp(self, ring: Optional[Ring] = None, recv_ring: Optional[Ring] = None, *,
                  srq: Optional[Srq] = None, send_depth: int = 0, recv_depth: int = 0,
                  max_send_sge: int = 0, max_recv_sge: int = 0, max_inline: int = 0,
                  keepalive_ms: int = 0) -> Ring:
        """Creates its queue pair; without a ring, it gets one of its own.  Returns the ring.

        With an SRQ, its messages take receives of that, and complete in the ring of the SRQ.
        """
        options = options_of(
            _abi.krdma_conn_create_qp_args, send_depth=send_depth, recv_depth=recv_depth,
            max_send_sge=max_send_sge, max_recv_sge=max_recv_sge, max_inline=max_inline,
            keepalive_ms=keepalive_ms)
        with ExitStack() as undo, ExitStack() as calls:
            if not ring:
                ring = self.session.ring()
                undo.callback(ring.close)
            handle, its = (calls.enter_context(one._handle) for one in (self, ring))
            other = calls.enter_context(recv_ring._handle) if recv_ring else None
            shared = calls.enter_context(srq._handle) if srq else None
            check(lib.krdma_conn_create_qp(handle, its, other, shared, ctypes.byref(options)),
                  "create a queue pair")
            undo.pop_all()
        self.ring = ring
        return ring

    def connect(self, private_data: bytes = b"", timeout: Optional[float] = 10,
                early: bool = False, **parameters: Any) -> None:
        """Connects: it is resolved and has its queue pair.

        With early, a lane does not wait: its first message, if that is short, goes with the
        request.  wait() waits until it is connected.

        The parameters read_depth, read_depth_in, retry_count and rnr_retry_count are those of
        struct krdma_conn_param_args.  With plain=True, the private data go without krdma's trailer.
        With rnr_retry=False, a message of the peer that finds no receive here fails at once.
        """
        early = early and bool(self.trunk)
        param = _param(early, **parameters)
        with self._handle as handle:
            check(lib.krdma_conn_connect(handle, ctypes.byref(param), private_data,
                                         len(private_data)), self._what)
        if not early:
            self._wait(timeout)

    def accept(self, private_data: bytes = b"", timeout: Optional[float] = 10,
               **parameters: Any) -> None:
        """Accepts the request of a peer.

        It needs a queue pair, and receives for all that the peer sends at once.  The parameters are
        those of connect().
        """
        self._what = "accept a connection"
        param = _param(False, **parameters)
        with self._handle as handle:
            check(lib.krdma_conn_accept(handle, ctypes.byref(param), private_data,
                                        len(private_data)), self._what)
        self._wait(timeout)

    def reject(self, private_data: bytes = b"") -> None:
        """Rejects the request of a peer."""
        with self._handle as handle:
            check(lib.krdma_conn_reject(handle, private_data, len(private_data)),
                  "reject a connection")

    def private_data(self) -> bytes:
        """What came with the peer's request or answer."""
        data = ctypes.create_string_buffer(_PRIVATE_DATA)
        length = ctypes.c_size_t(_PRIVATE_DATA)
        with self._handle as handle:
            check(lib.krdma_conn_private_data(handle, data, ctypes.byref(length)),
                  "get the private data")
        return data.raw[:length.value]

    def query(self) -> ConnectionInfo:
        """Its state and its attributes."""
        found = filled("query a connection", lib.krdma_conn_query, self._handle,
                       _abi.krdma_conn_query_args)
        return ConnectionInfo(
            known(ConnState, found.state), found.error, found.id, found.device_id, found.qp_number,
            found.send_depth, found.recv_depth, found.max_inline, found.read_depth,
            found.read_depth_in, found.path_mtu, bool(found.peer_is_krdma), found.sends_posted,
            found.sends_completed, found.receives_posted, found.receives_completed,
            unpacked(found.local), unpacked(found.remote), known(ConnKind, found.kind), found.trunk)

    @property
    def trunk(self) -> int:
        """The number of the trunk that carries the lane; 0: a plain connection, or not resolved."""
        found = ctypes.c_uint64()
        with self._handle as handle:
            check(lib.krdma_conn_trunk(handle, ctypes.byref(found)), "query a connection")
        return found.value

    def find_memory(self, name: str, offset: int = 0,
                    timeout: Optional[float] = 10) -> RemoteMemory:
        """The memory to which the peer of a lane has given a name, from an offset on.

        It ends where its key does.  If the memory has several keys, the next call begins there,
        until one fails with ERANGE: nothing is left.
        """
        remote = _abi.krdma_remote_mr()
        with self._handle as handle:
            retried(f"find the peer's memory '{name}'", lib.krdma_conn_find_mr, handle,
                    text(name, "a name"), uint(offset, 64, "an offset"), deadline_of(timeout),
                    ctypes.byref(remote), None)
        return RemoteMemory(remote.addr, remote.length, remote.key, Access(remote.access))

    @property
    def state(self) -> ConnState:
        """Its state."""
        return self.query().state

    @property
    def device_id(self) -> int:
        """The number of its device, with which its memory is registered."""
        return self.query().device_id

    def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """Its next event; None: it was closed, and all events were taken."""
        record = _abi.krdma_event_record()
        with self._handle as handle:
            try:
                retried("get the next event", lib.krdma_conn_next_event, handle,
                        deadline_of(timeout), ctypes.byref(record), ctypes.sizeof(record))
            except OSError as error:
                if error.errno == errno.ENODATA:
                    return None
                raise
        return Event(known(EventType, record.type), record.error, record.reason)

    def events(self, timeout: Optional[float] = None) -> Iterator[Event]:
        """Its events, until the last one, or until none comes for so long."""
        while True:
            try:
                event = self.next_event(timeout)
            except (TimeoutError, BlockingIOError):
                return
            if event is None:
                return
            yield event

    def disconnect(self, abort: bool = False) -> None:
        """Ends it: the peer is notified, and what is in flight is flushed."""
        flags = _abi.DisconnectFlags.ABORT if abort else 0
        with self._handle as handle:
            check(lib.krdma_conn_disconnect(handle, flags), "disconnect")

    def await_closed(self, timeout: Optional[float] = None) -> None:
        """Waits until everything of it is released, whatever the reason for its end."""
        with self._handle as handle:
            retried("wait for the end of a connection", lib.krdma_conn_await_closed, handle,
                    deadline_of(timeout))

    def messenger(self, **options: Any) -> Messenger:
        """Its messenger, which creates the queue pair: see Messenger."""
        return Messenger(self, **options)

    def close(self) -> None:
        """Closes it, which disconnects it.  Calls of other threads return.

        In a child of fork(), it closes the copy: the connection stays the parent's.
        """
        if self._handle.busy and not self._handle.inherited:
            # Another thread may close it meanwhile.
            with suppress(ValueError), self._handle as handle:
                lib.krdma_conn_disconnect(handle, _abi.DisconnectFlags.ABORT)
        self._handle.end()

    def end(self) -> None:
        """Closes it when nothing of it is in flight any more, after a second at the latest.

        In a child of fork(), the connection stays the parent's.
        """
        if self.closed:
            return
        if self._handle.inherited:
            self.close()
            return
        with suppress(ValueError), self._handle as handle:
            lib.krdma_conn_disconnect(handle, _abi.DisconnectFlags.ABORT)
            lib.krdma_conn_await_closed(handle, deadline_of(_END))
        self.close()

    def __repr__(self) -> str:
        return f"<Connection {self.id}{', closed' if self.closed else ''}>"


class Listener(Object):
    """Accepts connections.  Session.listen() makes them."""

    def __init__(self, session: "Session", address: Address, v6only: bool, lanes: bool,
                 **numbers: int) -> None:
        pointer = ctypes.c_void_p()
        flags = (ListenFlags.V6ONLY if v6only else 0) | (ListenFlags.LANES if lanes else 0)
        options = options_of(_abi.krdma_listen_args, flags=flags, **numbers)
        with session._handle as owner:
            check(lib.krdma_listen_options(owner, packed(address, passive=True),
                                           ctypes.byref(options), ctypes.byref(pointer)),
                  f"listen at {address[0] or 'all addresses'} port {address[1]}")
            self._handle = Handle("listener", pointer, lib.krdma_listener_close, session._handle)
        self.session = session
        session._children.add(self)

    def fileno(self) -> int:
        """The descriptor: readable while a request waits."""
        with self._handle as handle:
            return int(lib.krdma_listener_fd(handle))

    @property
    def address(self) -> Address:
        """Its address, with the port that it has got."""
        data = ctypes.create_string_buffer(128)
        with self._handle as handle:
            check(lib.krdma_listener_address(handle, data), "query a listener")
        return unpacked(data.raw)

    @property
    def flags(self) -> ListenFlags:
        """What it was made with: whether it takes lanes, for one."""
        found = ctypes.c_uint32()
        with self._handle as handle:
            check(lib.krdma_listener_flags(handle, ctypes.byref(found)), "query a listener")
        return ListenFlags(found.value)

    def query(self) -> ListenerInfo:
        """Its attributes, and the requests that wait to be taken."""
        found = filled("query a listener", lib.krdma_listener_query, self._handle,
                       _abi.krdma_listener_query_args)
        return ListenerInfo(unpacked(found.address), ListenFlags(found.listen_flags),
                            found.waiting, found.oldest_ms, found.expired)

    def accept(self, timeout: Optional[float] = None) -> Connection:
        """The connection that the next peer has requested, to be accepted or rejected."""
        pointer = ctypes.c_void_p()
        with self._handle as handle:
            retried("wait for a connection", lib.krdma_listener_next, handle, deadline_of(timeout),
                    ctypes.byref(pointer))
            return Connection(self.session, pointer)

    def __iter__(self) -> Iterator[Connection]:
        while True:
            yield self.accept()
