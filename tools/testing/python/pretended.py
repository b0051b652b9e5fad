#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests what the Python package does with the library, where a test plays some functions of the
library: those of a time that no other test can force.  Prints TAP.

It needs neither the module nor a device: KRDMA_LIBRARY=build/tools/libkrdma.so.0
KRDMA_FILES_LIBRARY=build/tools/libkrdma-files.so.0 PYTHONPATH=tools/python
tools/testing/python/pretended.py
"""

import ctypes
import errno
import gc
import os
import signal
import sys
import threading
import time
import warnings

import krdma
from krdma import Access, EpEvent, entry, files
from krdma._library import lib

from suite import PATIENCE, Thread, holds, in_child, main, raises, same

ADDRESS = ctypes.create_string_buffer(128)


class Library:
    """Functions of the library that a test plays, and the calls of them."""

    lib = lib

    def __init__(self, **functions):
        self.functions = functions
        self.calls = []
        self.before = {}

    def played(self, name, function):
        """A function that keeps its calls: the name and the arguments."""
        def called(*arguments):
            self.calls.append((name, *arguments))
            return function(*arguments) if callable(function) else function
        return called

    def __enter__(self):
        for name, function in self.functions.items():
            self.before[name] = getattr(self.lib, "krdma_" + name)
            setattr(self.lib, "krdma_" + name, self.played(name, function))
        return self

    def __exit__(self, *_):
        for name, function in self.before.items():
            setattr(self.lib, "krdma_" + name, function)

    def of(self, name):
        """The arguments of each call of a function."""
        return [call[1:] for call in self.calls if call[0] == name]


def gives(pointer):
    """A function of the library whose last argument gets a pointer."""
    def function(*arguments):
        arguments[-1]._obj.value = pointer
        return 0
    return function


class SessionLibrary(Library):
    """The library of one session."""

    def __init__(self, **functions):
        super().__init__(**{"open": gives(0x1000), "close": 0, **functions})


class HubLibrary(Library):
    """The library of one hub.  What connect() is to do, a test says, with the function that asks
    the program for memory."""

    def __init__(self, **functions):
        self.admit = self.allow = None
        super().__init__(**{"hub_open": self.open, "hub_share": self.share, "hub_close": 0,
                            "hub_why": b"", "ep_close": None, "ep_why": b"", **functions})

    def open(self, _, options, hub):
        """Keeps the function that the options have."""
        self.admit = options._obj.admit
        hub._obj.value = 0x1000
        return 0

    def share(self, *arguments):
        """Keeps the function that decides on memory."""
        self.allow = arguments[5]
        return 0

    def closed(self):
        """What was closed: the endpoints, and the hub last."""
        return [call[1] for call in self.calls if call[0] in ("ep_close", "hub_close")]


def test_memory_that_a_peer_asks_for_while_connect_waits():
    seen = []

    def connect(*arguments):
        library.allow(None, 0x2000)
        return gives(0x2000)(*arguments)

    with HubLibrary(ep_connect=connect) as library:
        hub = krdma.Hub()
        hub.share("memory", bytearray(8), allow=lambda endpoint: seen.append(endpoint) or True)
        endpoint = hub.connect("host:1")
        same(seen, [endpoint], "the endpoint that the function has got")
        same(hub.endpoints, [endpoint])
        hub.close()
        same(library.closed(), [0x2000, 0x1000])


def test_memory_that_a_peer_asks_for_while_connect_fails():
    seen = []

    def connect(*arguments):
        attempts.append(1)
        library.allow(None, 0x2000)
        if len(attempts) == 1:
            return -errno.EINTR
        if len(attempts) == 2:
            return -errno.ECONNREFUSED
        return gives(0x2000)(*arguments)

    attempts = []
    with HubLibrary(ep_connect=connect) as library:
        hub = krdma.Hub()
        hub.share("memory", bytearray(8), allow=lambda endpoint: seen.append(endpoint) or True)
        raises(krdma.Refused, hub.connect, "host:1")
        # The library has freed both.
        holds("they are two, and closed", seen[0] is not seen[1] and seen[0].closed and
              seen[1].closed)
        same(hub.endpoints, [])
        raises(ValueError, seen[1].send, b"", says="closed")
        same(library.closed(), [])
        same(hub.connect("host:1"), seen[2])
        hub.close()
        same(library.closed(), [0x2000, 0x1000])


class Canceled(BaseException):
    """What a function raises that is no Exception."""


def test_a_function_that_admits_and_is_interrupted():
    refused, raised = [], []

    def admit(_, hello):
        raise raised[0]

    def next_record(*_):
        refused.append(library.admit(None, ctypes.addressof(ADDRESS), b"", 0))
        return -errno.EAGAIN

    with HubLibrary(hub_next=next_record) as library:
        hub = krdma.Hub(admit=admit)
        for kind in (KeyboardInterrupt, SystemExit, Canceled):
            raised[:] = [kind("in admit")]
            same(raises(kind, hub.next, 0), raised[0])
            same(refused.pop(), -errno.EACCES, f"the result after {kind.__name__}")
        # It ends the call that it came from, and no other.
        raised[:] = [ValueError("in admit")]
        raises(krdma.WouldBlock, hub.next, 0)
        hub.close()


def test_a_function_that_admits_and_raises_a_strange_errno():
    for number in ("text", 0, -1, errno.EUSERS, 1 << 32, 4096, 13.0, [13], None):
        def admit(_, hello, number=number):
            raise OSError(number, "refused")

        with HubLibrary() as library:
            hub = krdma.Hub(admit=admit)
            same(library.admit(None, ctypes.addressof(ADDRESS), b"", 0),
                 -(errno.EUSERS if number == errno.EUSERS else errno.EACCES), f"for {number!r}")
            hub.close()


def test_a_function_that_decides_on_memory_and_is_interrupted():
    refused = []

    def asks(*_):
        refused.append(library.allow(None, 0x2000))
        return 0

    def allow(_):
        raise KeyboardInterrupt

    shared = bytearray(8)
    with HubLibrary(ep_connect=gives(0x2000), ep_send=asks, hub_unshare=asks) as library:
        hub = krdma.Hub()
        endpoint = hub.connect("host:1")
        hub.share("memory", shared, allow=allow)
        raises(KeyboardInterrupt, endpoint.send, b"")
        raises(BufferError, shared.extend, b"more")
        # It is withdrawn all the same.
        raises(KeyboardInterrupt, hub.unshare, "memory")
        shared.extend(b"more")
        same([result != 0 for result in refused], [True, True])
        hub.close()
        same(library.closed(), [0x2000, 0x1000])


def test_memory_that_is_shared_when_share_is_interrupted():
    def share(*arguments):
        library.share(*arguments)
        return library.allow(None, 0x2000) * 0

    def allow(_):
        raise KeyboardInterrupt

    shared = bytearray(8)
    with HubLibrary(hub_share=share) as library:
        hub = krdma.Hub()
        raises(KeyboardInterrupt, hub.share, "memory", shared, allow=allow)
        raises(BufferError, shared.extend, b"more")
        hub.close()
        same(library.closed(), [0x2000, 0x1000])


def test_abandoned_memory_that_is_closed():
    """A device writes to it until its work requests have ended: it must not be used again."""
    busy = [True]

    def deregister(_, flags):
        return -errno.EBUSY if busy[0] and not flags else 0

    with SessionLibrary(mr_register=gives(0x2000), mr_id=1, mr_deregister=deregister) as library, \
            krdma.Session() as session:
        for ends in (krdma.Memory.abandon, lambda memory: session.close()):
            data = bytearray(8)
            memory = session.register(1, data)
            ends(memory)
            same(library.of("mr_deregister")[-2:], [(0x2000, 0), (0x2000, 1)])
            memory.close()
            raises(BufferError, data.extend, b"more")
    with SessionLibrary(mr_register=gives(0x2000), mr_id=1, mr_deregister=deregister), \
            krdma.Session() as session:
        data = bytearray(8)
        memory = session.register(1, data)
        raises(krdma.Error, memory.close, number=errno.EBUSY)
        raises(BufferError, data.extend, b"more")
        busy[0] = False
        memory.close()
        data.extend(b"more")


class WaitsForTurns:
    """A function of the library that waits until another thread wants the hub."""

    def __init__(self, function):
        self.function, self.hub, self.began = function, None, threading.Event()

    def __call__(self, *arguments):
        self.began.set()
        while not self.hub._wanted:
            time.sleep(0.001)
        return self.function(*arguments)

    def thread(self, hub, function, *arguments):
        """A thread that waits in it."""
        self.hub = hub
        thread = Thread(function, *arguments)
        holds("it waits", self.began.wait(PATIENCE))
        return thread


def joins(*arguments):
    """The record JOINED of an endpoint."""
    record = arguments[2]._obj
    record.event, record.ep = EpEvent.JOINED, 0x2000
    return 0


def test_a_peer_that_joins_while_its_hub_is_closed():
    waits = WaitsForTurns(joins)
    with HubLibrary(hub_next=waits, ep_done=None) as library:
        hub = krdma.Hub()
        thread = waits.thread(hub, hub.next, PATIENCE)
        hub.close()
        holds("its endpoint is closed", thread.get().endpoint.closed)
        same(library.closed(), [0x2000, 0x1000])


def test_memory_that_opens_while_its_endpoint_is_closed():
    for closes in (krdma.Endpoint.close, lambda endpoint: endpoint.hub.close()):
        waits = WaitsForTurns(gives(0x3000))
        with HubLibrary(ep_connect=gives(0x2000), ep_memory_open=waits, ep_memory_length=8,
                        ep_memory_close=None) as library:
            hub = krdma.Hub()
            endpoint = hub.connect("host:1")
            thread = waits.thread(hub, endpoint.memory, "x")
            closes(endpoint)
            holds("it is closed", thread.get().closed)
            same(library.of("ep_memory_close"), [(0x3000,)])
            same(library.closed()[0], 0x2000)
            hub.close()
            same(library.closed(), [0x2000, 0x1000])


def test_a_connection_that_another_thread_closes_first():
    """It is open when a thread looks, and closed when that begins to end it."""
    class Late(krdma.Connection):
        """What the thread has seen."""

        closed = property(lambda _: False)

    with ConnLibrary() as library:
        session = krdma.Session()
        conn = session.connection()
        conn.close()
        conn.__class__ = Late
        session.close()
        same(library.calls[-2:], [("conn_close", 0x2000), ("close", 0x1000)])


def in_own_time(function):
    """in_child() with an end: what the child waits for may be gone."""
    def limited():
        signal.alarm(PATIENCE)
        function()

    in_child(limited)


class Waits:
    """A function of the library that waits in another thread until go()."""

    def __init__(self, result=0):
        self.result = result
        self.began, self.ends = threading.Event(), threading.Event()

    def __call__(self, *_):
        self.began.set()
        holds("it was let go", self.ends.wait(PATIENCE))
        return self.result

    def thread(self, function, *arguments):
        """A thread that waits in it."""
        thread = Thread(function, *arguments)
        holds("it waits", self.began.wait(PATIENCE))
        return thread

    def go(self, *_):
        """Lets it go on."""
        self.ends.set()
        return 0


class ConnLibrary(SessionLibrary):
    """The library of one connection."""

    def __init__(self, **functions):
        super().__init__(**{"conn_create": gives(0x2000), "conn_id": 7, "conn_close": 0,
                            "conn_disconnect": 0, "conn_await_closed": 0, **functions})


def test_a_child_closes_a_connection_that_a_thread_waits_for():
    def child(close):
        close()
        same((library.of("conn_disconnect"), library.of("conn_close")), ([], [(0x2000,)]))
        raises(ValueError, conn.wait, says="closed")

    waits = Waits()
    with ConnLibrary(conn_wait=waits, conn_disconnect=waits.go) as library:
        session = krdma.Session()
        conn = session.connection()
        thread = waits.thread(conn.wait)
        in_own_time(lambda: child(conn.close))
        in_own_time(lambda: child(session.close))
        in_own_time(lambda: child(conn.end))
        same(library.of("conn_disconnect"), [])
        conn.close()
        thread.get()
        same([call for call in library.calls if call[0] != "open"],
             [("conn_create", *library.of("conn_create")[0]), ("conn_id", 0x2000),
              ("conn_wait", *library.of("conn_wait")[0]), ("conn_disconnect", 0x2000, 1),
              ("conn_close", 0x2000)])
        session.close()


def test_a_child_that_is_made_inside_of_a_call():
    def forks(*_):
        child.append(os.fork())
        if not child[0]:
            signal.alarm(PATIENCE)
            conn.close()
            same(library.of("conn_close"), [], "what was closed while the child is in the call")
        return 0

    child = []
    with ConnLibrary(conn_wait=forks) as library:
        session = krdma.Session()
        conn = session.connection()
        try:
            conn.wait()
            if not child[0]:
                same((library.of("conn_disconnect"), library.of("conn_close")), ([], [(0x2000,)]))
                os._exit(0)
        finally:
            if not child[0]:
                os._exit(1)
        same(os.waitpid(child[0], 0)[1], 0, "the child's status")
        same(library.of("conn_close"), [])
        session.close()


def test_a_child_of_a_thread_that_deregisters_memory():
    """Its parent's thread has the lock of the memory."""
    waits = Waits()
    parent = os.getpid()
    with SessionLibrary(mr_register=gives(0x2000), mr_id=1,
                        mr_deregister=lambda *_: waits() if os.getpid() == parent else 0), \
            krdma.Session() as session:
        data = bytearray(8)
        memory = session.register(1, data)
        thread = waits.thread(memory.close)
        in_own_time(lambda: (memory.close(), data.extend(b"more"), session.close()))
        waits.go()
        thread.get()


def test_a_child_of_a_thread_that_is_in_a_hub():
    waits = Waits(-errno.EAGAIN)
    with HubLibrary(hub_next=waits, ep_connect=gives(0x2000)) as library:
        hub = krdma.Hub()
        hub.connect("host:1")
        thread = waits.thread(hub.next, 0)
        in_own_time(lambda: (hub.close(), same(library.closed(), [0x2000, 0x1000])))
        waits.go()
        raises(krdma.WouldBlock, thread.get)
        same(library.closed(), [])
        hub.close()
        same(library.closed(), [0x2000, 0x1000])


def test_a_child_of_a_server_of_files():
    stops, ends = [], []

    def creates(*arguments):
        return gives(0x2000)(*arguments)

    before = {name: getattr(files.lib, "krdma_file_server_" + name)
              for name in ("create", "stop", "destroy")}
    files.lib.krdma_file_server_create = creates
    files.lib.krdma_file_server_stop = lambda server: stops.append(server) or 0
    files.lib.krdma_file_server_destroy = ends.append
    try:
        with SessionLibrary(), krdma.Session() as session:
            server = files.Server(session, ("127.0.0.1", 0), "/tmp")
            in_own_time(lambda: (server.close(), same((stops, ends), ([], [0x2000]))))
            server.close()
            same((stops, ends), ([0x2000], [0x2000]))
    finally:
        for name, function in before.items():
            setattr(files.lib, "krdma_file_server_" + name, function)


class FilesLibrary(Library):
    """The library of one client of files.  get() is played by a function that has what calls the
    program, as the library does: several times a second, until that returns something else than 0.
    """

    lib = files.lib

    def __init__(self, get):
        super().__init__(file_client_create=self.create, file_client_destroy=self.destroy,
                         file_client_get=self.get)
        self.progress = None
        self.results, self.running, self.destroyed_early = [], 0, False
        self._get = get

    def get(self, *_):
        """Notes when it runs, and what it returns."""
        self.running += 1
        try:
            self.results.append(self._get(self.progress))
        finally:
            self.running -= 1
        return self.results[-1]

    def destroy(self, *_):
        """No request may use the client any more."""
        self.destroyed_early |= self.running > 0

    def create(self, *arguments):
        """Keeps the function that the options have."""
        self.progress = arguments[2]._obj.progress
        return gives(0x2000)(*arguments)


def test_a_request_that_a_signal_ends():
    def get(progress):
        # A function of C goes on, in whichever thread it is.
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            pass
        while not (progress and progress(None, ctypes.byref(now))):
            if time.monotonic() > late:
                return 0
            time.sleep(0.01)
        # It has some things to end.
        time.sleep(0.3)
        return -errno.ECANCELED

    now = files._abi.krdma_file_progress(done=1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for steps in (None, []):
            late = time.monotonic() + PATIENCE
            with FilesLibrary(get) as library, SessionLibrary(), \
                    krdma.Session() as session, \
                    files.Client(session, ("127.0.0.1", 1),
                                 progress=steps.append if steps is not None else None) as client:
                raises(KeyboardInterrupt, client.get, "name", "name")
                assert (library.running, library.results) == (0, [-errno.ECANCELED])
            assert not library.destroyed_early
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_request_that_a_signal_ends_before_it_begins():
    name = "_start_joinable_thread" if hasattr(threading, "_start_joinable_thread") else \
        "_start_new_thread"
    starts = getattr(threading, name)

    def start(*arguments, **options):
        started = starts(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return started

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    setattr(threading, name, start)
    try:
        for _ in range(20):
            with FilesLibrary(lambda progress: 0) as library, SessionLibrary(), \
                    krdma.Session() as session, \
                    files.Client(session, ("127.0.0.1", 1)) as client:
                raises(KeyboardInterrupt, client.get, "name", "name")
                made = len(library.results)
                time.sleep(0.01)
                assert (library.running, len(library.results)) == (0, made)
            assert not library.destroyed_early
    finally:
        setattr(threading, name, starts)
        signal.signal(signal.SIGINT, before)


def test_an_object_whose_session_is_closed_while_it_is_made():
    """Another thread closes it.  The object ends before its session, and is no leak."""
    made = {"ring_create": "ring_close", "mr_register": "mr_deregister",
            "mr_cache_create": "mr_cache_destroy", "listen_options": "listener_close",
            "conn_create": "conn_close", "conn_create_lane": "conn_close",
            "srq_create": "srq_close", "messenger_create": "messenger_destroy",
            "listener_next": "conn_close", "mr_cache_get": "mr_cache_put"}

    def makes(session):
        conn, listener = session.connection(), session.listen(("127.0.0.1", 0))
        ring, cache = session.ring(), session.memory_cache(1)
        yield "ring_create", session.ring
        yield "srq_create", lambda: session.srq(ring)
        yield "mr_register", lambda: session.register(1, bytearray(8))
        yield "mr_cache_create", lambda: session.memory_cache(1)
        yield "listen_options", lambda: session.listen(("127.0.0.1", 0))
        yield "conn_create", session.connection
        yield "conn_create_lane", session.create_lane
        yield "messenger_create", conn.messenger
        yield "listener_next", listener.accept
        yield "mr_cache_get", lambda: cache.get(bytearray(8))

    functions = {**{name: gives(0x2000) for name in made}, **{name: 0 for name in made.values()}}
    for at in range(len(made)):
        with ConnLibrary(**{**functions, "mr_id": 1, "srq_id": 1, "mr_data": 0}) as library:
            session = krdma.Session()
            name, function = list(makes(session))[at]

            def closes(*arguments, session=session):
                session.close()
                return gives(0x3000)(*arguments)

            setattr(lib, "krdma_" + name, closes)
            raises(ValueError, function, says="closed")
            del function
            gc.collect()
            same(len([call for call in library.of(made[name]) if 0x3000 in call]), 1,
                 f"how often {name} is undone")
            same(library.calls[-1], ("close", 0x1000), f"the last call after {name}")


def test_what_is_forgotten_when_a_warning_is_an_exception():
    """Python prints such an exception of __del__()."""
    printed = []
    before, sys.unraisablehook = sys.unraisablehook, printed.append
    try:
        with SessionLibrary(ring_create=gives(0x3000), ring_close=0) as library, \
                warnings.catch_warnings():
            warnings.simplefilter("error")
            with krdma.Session() as session:
                session.ring()
                gc.collect()
                same(library.calls[-1], ("ring_close", 0x3000))
            same([one.exc_type for one in printed], [ResourceWarning])
    finally:
        sys.unraisablehook = before
        printed.clear()


def test_a_ring_of_its_own_for_what_cannot_be_made():
    with ConnLibrary(ring_create=gives(0x3000), ring_close=0, conn_create_qp=-errno.ENOSPC,
                     srq_create=-errno.EOPNOTSUPP, conn_resolve=0, conn_wait=0,
                     conn_connect=-errno.EINVAL) as library, krdma.Session() as session:
        conn = session.connection()
        for function in (conn.create_qp, session.srq):
            raises(krdma.Error, function)
            same(library.calls[-1], ("ring_close", 0x3000), "the last call")
        with session.ring() as ring:
            raises(krdma.Error, conn.create_qp, ring)
            raises(krdma.Error, session.srq, ring)
            holds("the program's stays", not ring.closed)
            lib.krdma_conn_create_qp = lambda *_: 0
            raises(krdma.Error, session.connect, ("127.0.0.1", 1), ring=ring)
            holds("the program's stays", not ring.closed)
        calls = len(library.of("ring_close"))
        error = raises(krdma.Error, session.connect, ("127.0.0.1", 1))
        same(len(library.of("ring_close")), calls + 1, f"rings that are closed after {error}")


def test_names_with_zeroes():
    """The library would take what is before the zero."""
    with HubLibrary(ep_connect=gives(0x2000)) as library, SessionLibrary(), \
            krdma.Session() as session:
        hub = krdma.Hub()
        endpoint = hub.connect("host:1")
        calls = len(library.calls)
        for function, *arguments in (
                (krdma.Hub, "host:1\0"), (hub.connect, "host:1\0"), (endpoint.memory, "a\0b"),
                (hub.share, "a\0b", bytearray(1)), (hub.unshare, "a\0b"), (endpoint.close, "a\0b"),
                (session.device, "rxe0\0")):
            raises(ValueError, function, *arguments, says="has no zeroes")
        raises(ValueError, krdma.Hub, allow="10.0.0.1\0", says="has no zeroes")
        raises(ValueError, files.Server, session, ("127.0.0.1", 0), "/tmp", allow="10.0.0.1\0",
               says="has no zeroes")
        same(library.calls[calls:], [])
        hub.close()


class Part(krdma.memory.Region):
    """A memory region of any length, which is nowhere."""

    def __init__(self, length):
        self.address, self.length, self.id = 1 << 40, length, 3


class Dest:
    """What work requests are for."""

    id = 7


def test_numbers_of_work_requests():
    """What has too many bits was cut: 4 GiB were no bytes."""
    longest, longer = Part((1 << 32) - 1), Part(1 << 32)
    remote = krdma.RemoteMemory(0, 1 << 40, (1 << 32) - 1, Access.REMOTE_WRITE)
    same(entry.send(Dest, longest).sge.length, (1 << 32) - 1)
    same(entry.write(Dest, longer, remote, 1).sge.length, (1 << 32) - 1)
    for function, *arguments in ((entry.send, longer), (entry.recv, longer),
                                 (entry.send_imm, 1, longer), (entry.write, longer, remote),
                                 (entry.write_imm, 1, longer, remote),
                                 (entry.read, longer, remote)):
        raises(ValueError, function, Dest, *arguments, says="length cannot be 4294967296")
    for imm in (-1, 1 << 32):
        raises(ValueError, entry.send_imm, Dest, imm, says="imm")
        raises(ValueError, entry.write_imm, Dest, imm, longest, remote, says="imm")
    for number in (-1, 1 << 64):
        raises(ValueError, entry.send, Dest, wr_id=number, says="wr_id")
    raises(ValueError, entry.send, Dest, flags=1 << 8, says="flags")
    wrong = krdma.RemoteMemory(0, 8, 1 << 32, Access.REMOTE_WRITE)
    raises(ValueError, entry.write, Dest, longest, wrong, 0, 8, says="rkey")
    wrong = krdma.RemoteMemory(1 << 64, 8, 1, Access.REMOTE_WRITE)
    raises(ValueError, entry.flush, Dest, wrong, says="remote_addr")


def test_a_wait_that_is_interrupted_after_posting():
    """What is posted is not posted again."""
    def enter(*arguments):
        arguments[3]._obj.value = posted
        return -errno.EINTR

    def wait(*arguments):
        arguments[5]._obj.value = 1
        return 0

    with SessionLibrary(ring_create=gives(0x2000), ring_close=0, ring_enter=enter,
                        ring_wait=wait) as library, krdma.Session() as session:
        with session.ring() as ring:
            posted = 2
            same(len(ring.enter([entry.send(Dest)] * 2)), 1, "completions")
            same((len(library.of("ring_enter")), len(library.of("ring_wait"))), (1, 1))
            posted = 1
            same(raises(krdma.Error, ring.enter, [entry.send(Dest)] * 2).accepted, 1)
            same((len(library.of("ring_enter")), len(library.of("ring_wait"))), (2, 1))


def test_entering_without_a_work_request():
    with SessionLibrary(ring_create=gives(0x2000), ring_close=0, ring_post=-errno.EINVAL,
                        ring_enter=-errno.EINVAL, ring_wait=0) as library, \
            krdma.Session() as session:
        with session.ring() as ring:
            for function in (ring.post, ring.enter):
                same(raises(krdma.Error, function, []).errno, errno.EINVAL, function.__name__)
            same(library.of("ring_wait"), [], "waits")


def test_numbers_of_atomics():
    """A negative one is added as such."""
    remote = krdma.RemoteMemory(0, 8, 1, Access.REMOTE_ATOMIC)
    for value, wanted in ((-1, (1 << 64) - 1), (-1 << 63, 1 << 63), ((1 << 64) - 1,) * 2):
        same(entry.fetch_add(Dest, Part(8), remote, value).operand, wanted)
        found = entry.compare_swap(Dest, Part(8), remote, value, value)
        same((found.operand, found.swap), (wanted, wanted))
    for value in (1 << 64, (-1 << 63) - 1):
        raises(ValueError, entry.fetch_add, Dest, Part(8), remote, value, says="operand")
        raises(ValueError, entry.compare_swap, Dest, Part(8), remote, value, 1, says="operand")
        raises(ValueError, entry.compare_swap, Dest, Part(8), remote, 1, value, says="swap")


def test_numbers_of_a_session():
    with ConnLibrary(mr_register=gives(0x2000), mr_id=1, mr_deregister=0) as library, \
            krdma.Session() as session:
        conn = session.connection()
        memory = session.register(1, bytearray(8))
        calls = len(library.calls)
        for much in (1 << 32, -1):
            for function, *arguments in (
                    (session.ring, much), (session.ring, 0, much), (session.device, much),
                    (session.port, 1, much), (session.port, much), (session.limit, much),
                    (session.register, much, bytearray(8)), (session.listen, ("", 0), much),
                    (session.memory_cache, much), (krdma.Session, much), (session.alloc, much, 8)):
                raises(ValueError, function, *arguments, says=f"cannot be {much}")
            for option in ("send_depth", "recv_depth", "max_inline", "keepalive_ms"):
                raises(ValueError, conn.create_qp, session, says=option, **{option: much})
            raises(ValueError, conn.messenger, pieces=much, says="pieces")
            raises(ValueError, krdma.Hub, peers=much, says="peers")
            raises(ValueError, krdma.Hub, idle=much, says="idle_ms")
            raises(ValueError, files.Client, session, ("127.0.0.1", 1), streams=much,
                   says="streams")
        for much in (1 << 64, -1):
            raises(ValueError, memory.describe, much, says="offset")
            raises(ValueError, memory.describe, 0, much, says="length")
            raises(ValueError, session.memory_cache, 1, limit=much, says="limit")
            raises(ValueError, conn.find_memory, "x", much, says="offset")
        for port in (1 << 16, -1):
            raises(ValueError, session.listen, ("127.0.0.1", port), says="port")
        same(library.calls[calls:], [])


def test_numbers_of_a_hub():
    with HubLibrary(ep_connect=gives(0x2000)) as library:
        hub = krdma.Hub()
        endpoint = hub.connect("host:1")
        calls = len(library.calls)
        for much in (1 << 64, -1):
            for function in (endpoint.send, endpoint.call, endpoint.call_begin):
                raises(ValueError, function, b"", much, says="a tag cannot be")
            raises(ValueError, endpoint.call_begin, b"", user_data=much, says="user_data")
            raises(ValueError, endpoint.memory, "x", much, says="right")
        same([call for call in library.calls[calls:] if call[0] != "ep_why"], [])
        hub.close()


if __name__ == "__main__":
    sys.exit(main(globals()))
