# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Hubs, for programs with many peers: messages, calls with answers, and named memory.

    with krdma.Hub(":7474") as hub:
        for record in hub:
            if record.event == krdma.EpEvent.MESSAGE and record.is_call:
                record.answer(record.data.upper())
            elif record.event == krdma.EpEvent.LEFT:
                record.endpoint.close()

Any number of threads may use a hub and its endpoints, one at a time: while one waits in call() or
in another function, the others wait for it; next() lets them in between.  Different hubs are
independent.
"""

import ctypes
import errno
import threading
import time
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from . import _abi
from ._abi import Access, EpEvent
from ._address import Address, unpacked
from ._library import (Handle, Object, check, deadline_of, inherits, lib, options_of, retried,
                       text, uint)
from .errors import Error, error_for
from .memory import Buffer, memory_of

# How long next() waits before it lets other threads in, in nanoseconds.
_SLICE = 100_000_000

_EVENTS = frozenset(EpEvent)

# As the structures and the functions have them.
_ADMIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
                          ctypes.c_size_t)
_ALLOW = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def _bytes_at(address: Any, length: int) -> bytes:
    return ctypes.string_at(address, length) if length else b""


def _tag(tag: int) -> int:
    return uint(tag, 64, "a tag")


def _refusal(error: OSError) -> int:
    """The errno with which a peer is refused: any other number could admit it."""
    number: Any = error.errno
    return number if isinstance(number, int) and number in errno.errorcode else errno.EACCES


class Answer(NamedTuple):
    """The answer to a call."""

    tag: int
    data: bytes


class Record:
    """An event of an endpoint.

    JOINED: it is connected.  MESSAGE: tag and data; answer() it if is_call.  ANSWER: tag, data and
    user_data, or error.  LEFT: its last one, with the error, or None if the peer has closed its
    end; close the endpoint.
    """

    __slots__ = ("event", "endpoint", "error", "tag", "user_data", "data", "_hub", "_record")

    def __init__(self, hub: "Hub", record: _abi.krdma_ep_record) -> None:
        self._hub = hub
        # Answering needs it, also without the data.
        self._record = record
        self.event = EpEvent(record.event)
        self.endpoint: "Endpoint" = hub._endpoint(record.ep)
        self.tag = record.tag
        self.user_data = record.user_data
        self.data = _bytes_at(record.data, record.length)
        self.error: Optional[Error] = None
        if record.error:
            self.error = error_for(record.error, "get an answer" if self.event == EpEvent.ANSWER
                                   else "keep the peer", lib.krdma_ep_why(record.ep).decode())

    @property
    def is_call(self) -> bool:
        """Whether the peer waits for an answer."""
        return bool(self._record.call)

    def answer(self, data: Any = b"", tag: int = 0) -> None:
        """Answers a call, once.  It never waits."""
        with self._hub._turn(), self.endpoint._handle, Buffer(data, False) as buffer:
            check(lib.krdma_ep_answer(ctypes.byref(self._record), _tag(tag), buffer.address,
                                      buffer.length), "answer a call")

    def __repr__(self) -> str:
        call = ", a call" if self.is_call else ""
        return f"<Record {self.event.name}, {len(self.data)} bytes{call}>"


class PeerMemory(Object):
    """Named memory of a peer.  Endpoint.memory() opens it; it ends with its endpoint."""

    def __init__(self, endpoint: "Endpoint", name: str, access: Access,
                 timeout: Optional[float]) -> None:
        self._hub = endpoint.hub
        self._endpoint = endpoint
        pointer = ctypes.c_void_p()
        with self._hub._turn(), endpoint._handle as handle:
            retried(f"open the peer's memory '{name}'", lib.krdma_ep_memory_open, handle,
                    text(name, "a name"), uint(access, 32, "a right"), deadline_of(timeout),
                    ctypes.byref(pointer))
            # In the same turn: another thread may wait for its own to close the endpoint.
            self._handle = Handle("memory", pointer, lib.krdma_ep_memory_close, endpoint._handle)
            self._length = int(lib.krdma_ep_memory_length(pointer))
            endpoint._memories.append(self)

    def __len__(self) -> int:
        return self._length

    def read(self, offset: int = 0, length: Optional[int] = None,
             timeout: Optional[float] = None) -> bytearray:
        """Reads a part of it; the peer's program is not involved."""
        data = bytearray(self._length - offset if length is None else length)
        self.read_into(data, offset, timeout)
        return data

    def read_into(self, data: Any, offset: int = 0, timeout: Optional[float] = None) -> None:
        """Reads as much as an object with writable memory takes."""
        with Buffer(data, True) as buffer, self._hub._turn(), self._handle as handle:
            retried(f"read {buffer.length} bytes of the peer's memory", lib.krdma_ep_memory_read,
                    handle, uint(offset, 64, "an offset"), buffer.address, buffer.length,
                    deadline_of(timeout))

    def write(self, data: Any, offset: int = 0, timeout: Optional[float] = None) -> None:
        """Writes a part of it; when this returns, the bytes are there."""
        with Buffer(data, False) as buffer, self._hub._turn(), self._handle as handle:
            retried(f"write {buffer.length} bytes of the peer's memory", lib.krdma_ep_memory_write,
                    handle, uint(offset, 64, "an offset"), buffer.address, buffer.length,
                    deadline_of(timeout))

    def close(self) -> None:
        """Gives the access back."""
        with self._hub._turn():
            if self in self._endpoint._memories:
                self._endpoint._memories.remove(self)
            self._handle.end()

    def _forgotten(self) -> None:
        """Its endpoint holds it."""


class Endpoint(Object):
    """One peer of a hub.  Hub.connect() makes one, and a record JOINED has one."""

    def __init__(self, hub: "Hub", pointer: ctypes.c_void_p) -> None:
        self.hub = hub
        self.own: Any = None        # the program's
        self._why: Optional[bytes] = None
        self._memories: List[PeerMemory] = []
        address = pointer.value
        self._handle = Handle("endpoint", pointer, self._end, hub._handle)
        if address is not None:
            hub._endpoints[address] = self

    def _end(self, pointer: int) -> None:
        self.hub._endpoints.pop(pointer, None)
        lib.krdma_ep_close(pointer, self._why)

    def close(self, why: Optional[str] = None) -> None:
        """Disconnects; does not wait.  The peer gets what was sent before, and the words."""
        with self.hub._turn():
            if why is not None:
                self._why = text(why, "a reason")
            self._close()

    def _close(self) -> None:
        """Ends it and its memory, in a turn of its hub."""
        while self._memories:
            self._memories.pop()._handle.end()
        self._handle.end()

    @property
    def address(self) -> Address:
        """The peer's address; ("", 0) if it is not known yet."""
        data = (ctypes.c_uint8 * 128)()
        with self.hub._turn(), self._handle as handle:
            err = lib.krdma_ep_address(handle, data)
        if err == -errno.ENOTCONN:
            return "", 0
        check(err, "get a peer's address")
        return unpacked(data)

    @property
    def why(self) -> str:
        """Why the peer has left, or the connection has failed, in words; "" if it has not."""
        with self.hub._turn(), self._handle as handle:
            return str(lib.krdma_ep_why(handle).decode())

    def send(self, data: Any = b"", tag: int = 0, timeout: Optional[float] = None) -> None:
        """Sends a message, which is copied; waits only until the peer has a receive for it."""
        with Buffer(data, False) as buffer, self.hub._turn(), self._handle as handle:
            retried(f"send a message of {buffer.length} bytes", lib.krdma_ep_send, handle,
                    _tag(tag), buffer.address, buffer.length, deadline_of(timeout))

    def call(self, data: Any = b"", tag: int = 0, timeout: Optional[float] = None) -> Answer:
        """Sends a message and waits for the answer.

        A signal ends the wait with an Error whose errno is EINTR: to send the message again is the
        caller's decision.
        """
        record = _abi.krdma_ep_record()
        with Buffer(data, False) as buffer, self.hub._turn(), self._handle as handle:
            check(lib.krdma_ep_call(handle, _tag(tag), buffer.address, buffer.length,
                                    deadline_of(timeout), ctypes.byref(record),
                                    ctypes.sizeof(record)), "call the peer",
                  lib.krdma_ep_why(handle).decode() or None)
            try:
                return Answer(record.tag, _bytes_at(record.data, record.length))
            finally:
                lib.krdma_ep_done(ctypes.byref(record))

    def call_begin(self, data: Any = b"", tag: int = 0, timeout: Optional[float] = None,
                   user_data: int = 0) -> None:
        """Sends a message; the answer comes as a record ANSWER with this number."""
        with Buffer(data, False) as buffer, self.hub._turn(), self._handle as handle:
            check(lib.krdma_ep_call_begin(handle, _tag(tag), buffer.address, buffer.length,
                                          deadline_of(timeout),
                                          uint(user_data, 64, "user_data")), "call the peer")

    def memory(self, name: str, access: Access = Access.REMOTE_READ,
               timeout: Optional[float] = None) -> PeerMemory:
        """Opens memory that the peer offers by this name."""
        return PeerMemory(self, name, access, timeout)

    def _forgotten(self) -> None:
        """Its hub holds it until it is closed."""


class Hub(Object):
    """Many peers, with one descriptor; iterate over it for its records.

    It listens at "HOST:PORT", "[ADDRESS]:PORT", "DEVICE:PORT" or ":PORT", unless that is None.  The
    limits are those of struct krdma_hub_options; 0 is the default.  allow has addresses and
    networks: "10.0.0.0/8, fd00::1".  admit(address, hello) is called for each peer: what it
    raises, or a result that is false, refuses the peer.  What is no Exception, as that of Ctrl-C,
    is also raised by the call in which the hub has asked.  Peers must prove to know the secret, 16
    to 1024 random bytes, before that, and this hub proves it to them: connect() raises ENOKEY if
    only the peer has one, and EKEYREJECTED if the peer has another or none.
    """

    def __init__(self, at: Optional[str] = None, *, peers: int = 0, per_address: int = 0,
                 depth: int = 0, eager: int = 0, idle: float = 0, longest: int = 0,
                 budget: int = 0, allow: Optional[str] = None,
                 admit: Optional[Callable[[Address, bytes], Any]] = None,
                 secret: Optional[bytes] = None) -> None:
        self._lock = threading.RLock()
        # The thread that has its turn.
        self._inside: Optional[int] = None
        # What the program's functions have raised.
        self._raised: List[BaseException] = []
        # Threads that wait for their turn, about.
        self._wanted = 0
        self._endpoints: Dict[int, Endpoint] = {}
        # What the library refers to, by the name of the memory.
        self._shared: Dict[str, List[Any]] = {}
        self._allow = ctypes.c_char_p(
            text(allow, "a list of addresses") if allow is not None else None)
        pointer, length = memory_of(secret)
        options = options_of(
            _abi.krdma_hub_options, peers=peers, per_address=per_address, depth=depth, eager=eager,
            idle_ms=int(idle * 1000), longest=longest, budget=budget,
            allow=ctypes.cast(self._allow, ctypes.c_void_p), secret=pointer, secret_length=length)
        if admit:
            self._admit = _ADMIT(self._admitting(admit, self._raised))
            options.admit = self._admit
        # The library copies the secret.
        pointer = ctypes.c_void_p()
        check(lib.krdma_hub_open(None if at is None else text(at, "an address"),
                                 ctypes.byref(options), ctypes.byref(pointer)),
              f"open a hub at {at}" if at is not None else "open a hub")
        self._handle = Handle("hub", pointer, self._end)
        inherits(self)

    @staticmethod
    def _admitting(admit: Callable[[Address, bytes], Any],
                   raised: List[BaseException]) -> Callable[..., int]:
        def called(_: Any, peer: Any, hello: Any, length: int) -> int:
            try:
                # The library has a whole struct sockaddr_storage there.
                address = unpacked(ctypes.string_at(peer, 128))
                return 0 if admit(address, _bytes_at(hello, length)) else -errno.EACCES
            except OSError as error:
                return -_refusal(error)
            except Exception:
                return -errno.EACCES
            except BaseException as error:      # is raised by the call that runs the hub
                raised.append(error)
                return -errno.EACCES
        return called

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One thread at a time; and no function that the library calls."""
        self._wanted += 1
        lock = self._lock       # a child of fork() has another one
        try:
            lock.acquire()
        finally:
            self._wanted -= 1
        try:
            if self._inside:
                raise RuntimeError("a function that a hub calls must not use the hub")
            self._inside = threading.get_ident()
            try:
                yield
            finally:
                self._inside = None
                if self._raised:
                    raised = self._raised[0]
                    self._raised.clear()
                    raise raised
        finally:
            lock.release()

    def _forked(self) -> None:
        self._wanted = 0
        if self._inside != threading.get_ident():
            self._lock = threading.RLock()
            self._inside = None
            self._raised.clear()

    def _end(self, pointer: int) -> None:
        lib.krdma_hub_close(pointer)
        self._shared.clear()

    def _endpoint(self, pointer: Any) -> Endpoint:
        """The object of an endpoint, which is new if it has joined just now."""
        return self._endpoints.get(pointer) or Endpoint(self, ctypes.c_void_p(pointer))

    def close(self) -> None:
        """Closes it with its endpoints.  Peers get what was sent before, if they take it soon."""
        # In one turn, or another thread could let in a peer that nobody closes.
        with self._turn():
            for endpoint in list(self._endpoints.values()):
                endpoint._close()
            self._handle.end()

    def _forgotten(self) -> None:
        self.close()

    def fileno(self) -> int:
        """The descriptor: readable when next(0) has something to do, which may be no record."""
        with self._turn(), self._handle as handle:
            return check(lib.krdma_hub_fd(handle), "get the descriptor of a hub")

    @property
    def address(self) -> Address:
        """Where it listens, with the port."""
        data = (ctypes.c_uint8 * 128)()
        with self._turn(), self._handle as handle:
            check(lib.krdma_hub_address(handle, data), "get the address of a hub",
                  "it does not listen")
        return unpacked(data)

    @property
    def endpoints(self) -> List[Endpoint]:
        """Those that are not closed."""
        return list(self._endpoints.values())

    def _take(self, deadline: int) -> Optional[Record]:
        """The next record, or None if there is none until a deadline."""
        found = _abi.krdma_ep_record()
        with self._turn(), self._handle as handle:
            err = lib.krdma_hub_next(handle, deadline, ctypes.byref(found), ctypes.sizeof(found))
            if err in (-errno.ETIMEDOUT, -errno.EAGAIN, -errno.EINTR):
                return None
            check(err, "wait for a record of a hub")
            try:
                # Events of later versions are not for this one.
                return Record(self, found) if found.event in _EVENTS else None
            finally:
                lib.krdma_ep_done(ctypes.byref(found))

    def next(self, timeout: Optional[float] = None) -> Record:
        """Waits for the next record.  Its data are copied, so that the peer may send more."""
        deadline = deadline_of(timeout)
        while True:
            record = self._take(min(deadline, time.monotonic_ns() + _SLICE))
            if record:
                return record
            if time.monotonic_ns() >= deadline:
                check(-errno.ETIMEDOUT if deadline else -errno.EAGAIN, "wait for a record of a hub",
                      "")
            if self._wanted:
                time.sleep(0.001)

    def __iter__(self) -> Iterator[Record]:
        """All records, until the hub is closed, perhaps by another thread."""
        while not self.closed:
            try:
                record = self.next()
            except ValueError:
                return
            yield record

    def _connect(self, *arguments: Any) -> int:
        """An attempt to connect; its error.

        The peer may ask for memory meanwhile, so that a function of the program has got the
        endpoint.  If the attempt fails, the library has freed it: no other call may.
        """
        before = set(self._endpoints)
        err = -errno.ECONNABORTED
        try:
            err = lib.krdma_ep_connect(*arguments)
        finally:
            if err:
                # One that joined meanwhile is among them; its record brings another object.
                for address in set(self._endpoints) - before:
                    self._endpoints.pop(address)._handle.ended()
        return err

    def connect(self, to: str, hello: bytes = b"", timeout: Optional[float] = None) -> Endpoint:
        """Connects to a hub, "HOST:PORT".  With a timeout of 0 a record JOINED or LEFT follows."""
        pointer = ctypes.c_void_p()
        deadline = deadline_of(timeout)
        with self._turn(), self._handle as handle:
            err = -errno.EINTR
            while err == -errno.EINTR:
                err = self._connect(handle, text(to, "an address"), hello, len(hello), deadline,
                                    ctypes.byref(pointer))
            check(err, f"connect to the hub at {to}", lib.krdma_hub_why(handle).decode() or None)
            return self._endpoint(pointer.value)

    def share(self, name: str, data: Any, access: Access = Access.REMOTE_READ,
              allow: Optional[Callable[[Endpoint], Any]] = None) -> None:
        """Offers the memory of an object to the peers by a name.

        The object must be writable and stays in place until unshare().  allow(endpoint) is called
        when a peer asks for it; a result that is false refuses it, as does an exception: see Hub.
        """
        def called(_: Any, pointer: Any) -> int:
            try:
                return 0 if allow is None or allow(self._endpoint(pointer)) else 1
            except Exception:
                return 1
            except BaseException as error:      # is raised by the call that runs the hub
                self._raised.append(error)
                return 1

        function = _ALLOW(called)
        with Buffer(data, True) as buffer, self._turn(), self._handle as handle:
            check(lib.krdma_hub_share(handle, text(name, "a name"), buffer.address, buffer.length,
                                      uint(access, 32, "a right"), function, None),
                  f"share memory as '{name}'")
            # Now the library refers to both, whatever follows.
            self._shared[name] = [Buffer(data, True), function]

    def unshare(self, name: str, timeout: Optional[float] = None) -> None:
        """Withdraws memory: then no peer can access it.

        Peers that have not given it back in time are disconnected.
        """
        with self._turn(), self._handle as handle:
            retried(f"withdraw the memory '{name}'", lib.krdma_hub_unshare, handle,
                    text(name, "a name"), deadline_of(timeout))
            self._shared.pop(name)[0].release()
