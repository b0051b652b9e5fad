#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests the Python package in a virtual machine.  Prints TAP.

suite.py [NAME...]    these tests only
"""

import errno
import faulthandler
import gc
import os
import pickle
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

import numpy

import krdma
from krdma import (Access, ConnState, EpEvent, EventType, Limit, ListenFlags, Opcode, WcStatus,
                   entry, files)
from krdma.files import FileAccess, FileFlags, FileType

HERE = os.path.dirname(os.path.abspath(__file__))
HOST = "10.77.0.1"
PATIENCE = 30
PARAMETERS = "/sys/module/krdma/parameters/"
ALL = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC


class Wrong(Exception):
    """A test has failed."""


def same(found, wanted, what=""):
    """Fails unless two values are equal."""
    if found != wanted:
        raise Wrong(f"{what or 'it'} is {found!r}, not {wanted!r}")


def holds(what, condition):
    """Fails unless a condition is true."""
    if not condition:
        raise Wrong(f"not so: {what}")


def raises(kind, function, *arguments, number=None, says=None, **named):
    """The exception that a call must raise."""
    try:
        found = function(*arguments, **named)
    except kind as error:
        if number is not None:
            same(error.errno, number, "errno")
        if says is not None and says not in str(error):
            raise Wrong(f"'{error}' does not say '{says}'") from error
        return error
    raise Wrong(f"no {kind.__name__}, but {found!r}")


class Thread(threading.Thread):
    """A thread whose exception the test gets."""

    def __init__(self, function, *arguments, **named):
        super().__init__(daemon=True)
        self.call = function, arguments, named
        self.result = self.error = None
        self.start()

    def run(self):
        function, arguments, named = self.call
        try:
            self.result = function(*arguments, **named)
        except BaseException as error:      # is raised by get()
            self.error = error

    def get(self):
        """What the function has returned."""
        self.join(PATIENCE)
        holds("the thread has ended", not self.is_alive())
        if self.error:
            raise self.error
        return self.result


class Pair:
    """Two connected ends, a and b, each with a session and memory of its own."""

    def __init__(self, messengers=False, access=ALL, depth=0, connect=True, **options):
        self.sessions = krdma.Session(), krdma.Session()
        first, second = self.sessions
        self.listener = second.listen((HOST, 0))
        self.a = first.connection()
        self.a.resolve(self.listener.address)
        device = self.a.device_id
        if messengers:
            self.ma = self.a.messenger()
        else:
            self.a.create_qp(send_depth=depth, max_inline=64)
        self.here = first.alloc(device, 8192, ALL)
        self.there = second.alloc(device, 8192, access)
        if not connect:
            return
        asks = Thread(self.a.connect, b"from a")
        self.b = self.listener.accept(PATIENCE)
        if messengers:
            self.mb = self.b.messenger(**options)
        else:
            self.b.create_qp(max_inline=64)
        self.b.accept(b"from b")
        asks.get()
        self.remote = krdma.RemoteMemory.parse(self.there.describe())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for session in self.sessions:
            session.close()

    def does(self, *requests):
        """Posts work requests of a, and takes their completions."""
        self.a.ring.post(list(requests))
        done = self.a.ring.wait(least=len(requests), timeout=PATIENCE)
        same(len(done), len(requests), "completions")
        return [one.check() for one in done]


# Proves: F12
def test_a_session_tells_of_the_module():
    with krdma.Session() as session:
        info = session.info()
        same(info.abi_version, 1)
        same(info.module_version, krdma.__version__)
        holds("it has transfers", krdma.Feature.TRANSFERS in info.features)
        same(info.device_count, len(list(session.devices())))
    holds("it is closed", session.closed)
    session.close()
    raises(ValueError, session.info, says="closed")
    raises(ValueError, session.__enter__, says="closed")


def test_a_session_from_a_descriptor():
    with krdma.Session(os.open("/dev/krdma", os.O_RDWR)) as session:
        same(session.info().abi_version, 1)
    null = os.open("/dev/null", os.O_RDWR)
    raises(krdma.Error, krdma.Session, null, number=errno.ENOTTY, says="descriptor")
    os.close(null)


def test_devices_and_ports():
    with krdma.Session() as session:
        device, = session.devices()
        same(device.name, "rxe0")
        same(session.device("rxe0"), device)
        same(session.device(device.id), device)
        holds("it has atomics", krdma.DeviceCap.ATOMIC in device.caps)
        same(device.transport, krdma.Transport.IB)
        port = session.port(device)
        same((port.number, port.state, port.link_layer, port.netdev),
             (1, krdma.PortState.ACTIVE, krdma.LinkLayer.ETHERNET, "dummy0"))
        error = raises(FileNotFoundError, session.device, "nobody", number=errno.ENOENT,
                       says="nobody")
        holds("it is krdma's too", isinstance(error, krdma.NotFound))
        raises(krdma.NotFound, session.device, device.id + 1)
        raises(krdma.NotFound, session.port, device, 9)


def test_the_device_for_an_address():
    with krdma.Session() as session:
        same(session.device_for(local=(HOST, 0)).name, "rxe0")
        same(session.device_for((HOST, 1)).name, "rxe0")
        same(session.device_for(("fd77::1", 1)).name, "rxe0")
        raises(krdma.Error, session.device_for, ("192.0.2.1", 1), number=errno.EHOSTUNREACH,
               says="krdma doctor")


# The first events were not there yet when the notification had been enabled.
def test_device_events_begin_with_the_devices_present():
    for _ in range(50):
        with krdma.Session() as session:
            events = list(session.device_events(0))
            same([(one.type.name, one.device_id) for one in events],
                 [("ADDED", one.id) for one in session.devices()], "events")
            same(list(session.device_events(0)), [])


def test_limits():
    with krdma.Session() as session:
        limits = session.limits()
        same([one.limit for one in limits], list(Limit))
        before = session.limit(Limit.OBJECTS)
        with session.listen((HOST, 0)):
            same(session.limit(Limit.OBJECTS).session_used, before.session_used + 1)
        raises(krdma.NotFound, session.limit_refused)


def test_memory_of_its_own():
    with krdma.Session() as session:
        device = session.device("rxe0")
        with session.alloc(device, 5000, ALL) as memory:
            same(len(memory), 5000)
            same(bytes(memory.view[:8]), bytes(8))
            memory.view[4992:] = b"the last"
            array = numpy.frombuffer(memory.view, dtype=numpy.uint8)
            same(bytes(array[-8:]), b"the last")
            remote = krdma.RemoteMemory.parse(memory.describe(1000, 100))
            same((remote.address, remote.length), (memory.address + 1000, 100))
            same(remote.rkey, memory.rkey)
            holds("the peer may write", Access.REMOTE_WRITE in remote.access)
            raises(krdma.Error, memory.describe, 5000, 1, number=errno.ERANGE)
        # An array that refers to it stays valid.
        same(bytes(array[-8:]), b"the last")
        raises(ValueError, memory.describe, says="closed")
        raises(krdma.Error, krdma.RemoteMemory.parse, b"nothing", number=errno.EINVAL)


def test_memory_of_objects():
    with krdma.Session() as session:
        device = session.device("rxe0")
        data = bytearray(100)
        with session.register(device, data) as memory:
            memory.view[:3] = b"abc"
            same(bytes(data[:3]), b"abc")
            raises(BufferError, data.extend, b"more")
        data.extend(b"more")
        array = numpy.zeros((4, 5))
        with session.register(device, array, ALL) as memory:
            same(len(memory), array.nbytes)
        raises((BufferError, ValueError), session.register, device, array[:, ::2])
        raises((BufferError, TypeError), session.register, device, b"read only")
        with session.register(device, b"read only", Access(0)) as memory:
            same(bytes(memory.view), b"read only")
        raises(krdma.Error, session.register, device, bytearray(0), number=errno.EINVAL)
        raises(krdma.DeviceGone, session.alloc, device.id + 1, 100)


# Proves: F12
def test_connecting():
    with Pair() as pair:
        same(pair.a.private_data()[:6], b"from b")
        same(pair.b.private_data()[:6], b"from a")
        query, other = pair.a.query(), pair.b.query()
        same((query.state, other.state), (ConnState.CONNECTED, ConnState.CONNECTED))
        same((query.remote, query.local), (other.local, other.remote))
        same(query.remote, pair.listener.address)
        holds("both are krdma", query.peer_is_krdma and other.peer_is_krdma)
        pair.a.disconnect()
        pair.b.await_closed(PATIENCE)
        error = raises(BrokenPipeError, pair.b.wait, PATIENCE, number=errno.EPIPE)
        holds("it is krdma's too", isinstance(error, krdma.Left))
        raises(krdma.NotConnected, pair.a.wait, PATIENCE)


def test_connecting_to_nobody():
    with krdma.Session() as session:
        error = raises(ConnectionRefusedError, session.connect, (HOST, 9),
                       number=errno.ECONNREFUSED,
                       says=f"cannot connect to {HOST} port 9: Connection refused; see that")
        holds("it is krdma's too", isinstance(error, krdma.Refused))
        again = pickle.loads(pickle.dumps(error))
        same((type(again), str(again), again.errno), (type(error), str(error), error.errno))
        raises(krdma.Error, session.connect, ("192.0.2.1", 9), number=errno.EHOSTUNREACH)
        with session.listen(("", 0)) as listener:
            same(listener.address[0], "::")
            port = listener.address[1]
            asks = Thread(session.connect, (HOST, port))
            listener.accept(PATIENCE).reject(b"no")
            raises(krdma.Refused, asks.get)
            raises(krdma.Error, session.listen, ("", port), number=errno.EADDRNOTAVAIL,
                   says=f"listen at all addresses port {port}")


def test_times():
    with Pair() as pair:
        begin = time.monotonic()
        error = raises(TimeoutError, pair.listener.accept, 0.2, number=errno.ETIMEDOUT)
        holds("it is krdma's too", isinstance(error, krdma.TimedOut))
        holds("it has waited", time.monotonic() - begin >= 0.2)
        raises(BlockingIOError, pair.listener.accept, 0)
        raises(krdma.TimedOut, pair.a.ring.wait, 1, 0.05)
        same(pair.a.ring.wait(timeout=0), [])
        same(pair.a.ring.poll(), [])
        raises(ValueError, pair.a.ring.wait, 1, -1)


# Proves: F12
def test_messages_of_the_thin_layer():
    with Pair() as pair:
        pair.b.ring.post([entry.recv(pair.b, pair.there, at * 100, 100, wr_id=at)
                          for at in range(3)])
        pair.here.view[:5] = b"hello"
        done = pair.does(entry.send(pair.a, pair.here, 0, 5, wr_id=7),
                         entry.send_imm(pair.a, 0xfeed, pair.here, 0, 2, wr_id=8),
                         entry.send_inline(pair.a, b"copied", wr_id=9))
        same([(one.wr_id, one.opcode) for one in done],
             [(7, Opcode.SEND), (8, Opcode.SEND_IMM), (9, Opcode.SEND)])
        got = pair.b.ring.wait(least=3, timeout=PATIENCE)
        same([(one.wr_id, one.length) for one in got], [(0, 5), (1, 2), (2, 6)])
        same(got[1].imm, 0xfeed)
        same([bytes(pair.there.view[at:at + 6]) for at in (0, 200)], [b"hello\0", b"copied"])
        raises(ValueError, entry.send, pair.a, pair.here, 8000, 200, says="not in a memory region")


# Proves: F12
def test_one_sided_operations():
    with Pair() as pair:
        a, here, there, remote = pair.a, pair.here, pair.there, pair.remote
        here.view[:6] = b"across"
        pair.does(entry.write(a, here, remote, 0, 6, 100))
        same(bytes(there.view[100:106]), b"across")
        pair.does(entry.read(a, here, remote, 4000, 6, 100))
        same(bytes(here.view[4000:4006]), b"across")
        there.view[:8] = (5).to_bytes(8, "little")
        pair.does(entry.fetch_add(a, here, remote, 7, 8),
                  entry.compare_swap(a, here, remote, 12, 99, 16))
        pair.does(entry.atomic_write(a, remote, -2, 40))
        same(bytes(there.view[40:48]), (-2).to_bytes(8, "little", signed=True))
        raises(ValueError, entry.atomic_write, a, remote, 1, 8185, says="the peer's")
        same([int.from_bytes(here.view[at:at + 8], "little") for at in (8, 16)], [5, 12])
        same(int.from_bytes(there.view[:8], "little"), 99)
        pair.b.ring.post(entry.recv(pair.b))
        pair.does(entry.write_imm(a, 3, here, remote, 0, 6), entry.flush(a, remote))
        got, = pair.b.ring.wait(timeout=PATIENCE)
        same((got.imm, got.flags), (3, krdma.CqeFlags.IMM | krdma.CqeFlags.WRITTEN))
        raises(ValueError, entry.write, a, here, remote, 0, 10, 8190, says="the peer's")


def test_a_work_request_that_fails():
    with Pair(access=Access.LOCAL_WRITE | Access.REMOTE_READ) as pair:
        pair.a.ring.post(entry.write(pair.a, pair.here, pair.remote))
        done, = pair.a.ring.wait(timeout=PATIENCE)
        holds("it has failed", not done.ok)
        same(done.status, WcStatus.REM_ACCESS_ERR)
        error = raises(krdma.Failed, done.check, number=errno.EIO,
                       says="cannot complete a write: remote access error")
        same(error.completion, done)


def test_a_work_request_that_is_refused():
    with Pair(depth=4) as pair:
        depth = pair.a.query().send_depth
        error = raises(krdma.WouldBlock, pair.a.ring.post,
                       [entry.write(pair.a, pair.here, pair.remote, 0, 8)] * (depth + 9))
        holds("some were accepted", depth <= error.accepted < depth + 9)
        same(len(pair.a.ring.wait(error.accepted, PATIENCE)), error.accepted)
    with Pair(connect=False) as pair:
        error = raises(krdma.NotConnected, pair.a.ring.post, entry.send(pair.a))
        same(error.accepted, 0)


def test_memory_in_use_stays_registered():
    with Pair() as pair:
        pair.b.ring.post(entry.recv(pair.b, pair.there))
        error = raises(krdma.Error, pair.there.close, number=errno.EBUSY, says="completions")
        holds("the error is no other one", type(error) is krdma.Error)
        holds("it is not closed", not pair.there.closed)
        pair.a.ring.post(entry.send(pair.a))
        pair.b.ring.wait(timeout=PATIENCE)
        pair.there.close()
        holds("it is closed", pair.there.closed)
        data = bytearray(64)
        with pair.sessions[1].register(pair.b.device_id, data) as memory:
            pair.b.ring.post(entry.recv(pair.b, memory))
            memory.abandon()
        raises(BufferError, data.extend, b"more")
        pair.here.view[:4] = b"late"
        pair.a.ring.post(entry.send(pair.a, pair.here, 0, 4))
        pair.b.ring.wait(timeout=PATIENCE)[0].check()
        same(bytes(data[:4]), b"late")


# Proves: F12
def test_parameters_of_a_connection():
    with krdma.Session() as first, krdma.Session() as second:
        listener = second.listen((HOST, 0), keepalive_ms=krdma.KEEPALIVE_NEVER,
                                 request_timeout_ms=krdma.REQUEST_TIMEOUT_NEVER)
        same(listener.query(), krdma.ListenerInfo(listener.address, ListenFlags(0), 0, 0, 0))
        raises(krdma.Error, second.listen, (HOST, 0), request_timeout_ms=1, number=errno.EINVAL)
        a = first.connection()
        a.resolve(listener.address, ack_timeout=20)
        device = a.device_id
        a.create_qp(first.ring(device=device, vector=0), max_inline=64)
        raises(krdma.Error, a.connect, retry_count=8, number=errno.EINVAL)
        raises(TypeError, a.connect, retries=8)
        asks = Thread(a.connect, b"mine", plain=True, read_depth=2, read_depth_in=3,
                      rnr_retry=False)
        while not listener.query().waiting:
            time.sleep(0.01)
        b = listener.accept(PATIENCE)
        same((b.query().peer_is_krdma, b.private_data()[:4]), (False, b"mine"))
        b.create_qp(max_inline=64)
        b.accept(read_depth=1, rnr_retry_count=1)
        asks.get()
        same((a.query().read_depth, a.query().read_depth_in), (2, 1))
        same((b.query().read_depth, b.query().read_depth_in), (1, 2))
        b.ring.post(entry.send_inline(b, b"for nobody"))
        same(b.ring.wait(timeout=PATIENCE)[0].status, WcStatus.RNR_RETRY_EXC_ERR)


# Proves: F12
def test_posting_and_waiting_in_one_call():
    with Pair() as pair:
        pair.b.ring.post([entry.recv(pair.b, wr_id=at) for at in range(3)])
        done = pair.a.ring.enter([entry.send(pair.a, wr_id=at) for at in range(3)], 3, PATIENCE)
        same([(one.wr_id, one.ok) for one in done], [(0, True), (1, True), (2, True)])
        same(pair.b.ring.enter(entry.recv(pair.b), 3, PATIENCE)[2].wr_id, 2)
        same(pair.b.ring.enter(entry.recv(pair.b), timeout=0), [])
        raises(krdma.TimedOut, pair.b.ring.enter, entry.recv(pair.b), timeout=0.05)
        pair.a.disconnect()
        pair.a.await_closed(PATIENCE)
        error = raises(krdma.NotConnected, pair.a.ring.enter, entry.send(pair.a))
        same(error.accepted, 0)


# Proves: F12
def test_a_shared_receive_queue():
    with krdma.Session() as first, krdma.Session() as second:
        listener = second.listen((HOST, 0))
        device = second.device_for(local=(HOST, 0))
        ring = second.ring(completions=128, device=device)
        srq = second.srq(ring, depth=16)
        same((srq.ring, srq.query().device_id, srq.query().id), (ring, device.id, srq.id))
        holds("it has a descriptor", os.fstat(srq.fileno()))
        memory = second.alloc(device, 16 * 64)
        srq.post([entry.recv(srq, memory, 64 * i, 64, wr_id=i) for i in range(16)])
        more = [entry.recv(srq, memory, 0, 64)] * (srq.query().depth - 15)
        error = raises(krdma.WouldBlock, srq.post, more)
        same(error.accepted, len(more) - 1)
        senders, receivers = [], []
        for _ in range(2):
            asks = Thread(first.connect, listener.address, send_depth=4, max_inline=64)
            b = listener.accept(PATIENCE)
            b.create_qp(ring, srq=srq, send_depth=4)
            b.accept()
            receivers.append(b)
            senders.append(asks.get())
        for number, a in enumerate(senders):
            a.ring.post(entry.send_inline(a, b"from %d" % number))
        got = ring.wait(least=2, timeout=PATIENCE)
        texts = {one.check().dest: bytes(memory.view[64 * one.wr_id:64 * one.wr_id + one.length])
                 for one in got}
        same(texts, {receivers[0].id: b"from 0", receivers[1].id: b"from 1"})
        srq.close()
        raises(ValueError, srq.post, [], says="closed")


# Proves: F12
def test_a_cache_of_memory():
    with Pair() as pair:
        first = pair.sessions[0]
        cache = first.memory_cache(pair.here.device_id)
        data = bytearray(b"kept" * 4096)
        with cache.get(data) as memory:
            same(len(memory), 16384)
            same(bytes(memory.view[:4]), b"kept")
            number = memory.id
            pair.does(entry.write(pair.a, memory, pair.remote, 4, 4000))
            same(bytes(pair.there.view[:8]), b"keptkept")
            raises(ValueError, memory.part, 16000, 400)
            raises(krdma.Error, memory.describe, says="remote rights")
        used = first.limit(Limit.MEMORY).session_used
        with cache.get(data) as memory:
            same(memory.id, number, "the memory region of the same object")
        same(first.limit(Limit.MEMORY).session_used, used, "memory that is registered")
        raises(BufferError, data.extend, b"more")
        cache.forget(data)
        holds("it is deregistered", first.limit(Limit.MEMORY).session_used < used)
        data.extend(b"more")
        remote = first.memory_cache(pair.here.device_id, ALL)
        with remote.get(numpy.arange(64)) as memory:
            found = krdma.RemoteMemory.parse(memory.describe(8, 16))
            same((found.address, found.length), (memory.address + 8, 16))
        memory = cache.get(data)
        cache.close()
        holds("what it has given out is closed", memory.closed)
        data.extend(b"more")
        raises(ValueError, cache.get, data, says="closed")


def test_events():
    with Pair() as pair:
        types = [pair.a.next_event(PATIENCE).type for _ in range(3)]
        same(types, [EventType.ADDR_RESOLVED, EventType.ROUTE_RESOLVED, EventType.ESTABLISHED])
        same(list(pair.a.events(0)), [])
        pair.b.disconnect()
        last = list(pair.a.events(PATIENCE))
        same([(one.type, one.error) for one in last],
             [(EventType.DISCONNECTED, -errno.EPIPE), (EventType.CLOSED, -errno.EPIPE)])
        same(pair.a.next_event(0), None)


def test_descriptors_for_poll():
    with Pair() as pair:
        poll = select.poll()
        poll.register(pair.b.ring, select.POLLIN)
        poll.register(pair.listener, select.POLLIN)
        same(poll.poll(0), [])
        pair.b.ring.post(entry.recv(pair.b, pair.there))
        pair.does(entry.send_inline(pair.a, b"x"))
        same(poll.poll(PATIENCE * 1000), [(pair.b.ring.fileno(), select.POLLIN)])
        same(krdma.wait_any([pair.a.ring, pair.b.ring], PATIENCE), 1)
        raises(krdma.TimedOut, krdma.wait_any, [pair.a.ring], 0.05)


# Proves: F12
def test_messages_of_any_length():
    with Pair(messengers=True) as pair:
        for length in (0, 1, 5000, 3 << 20):
            data = os.urandom(length)
            sends = Thread(pair.ma.send, data, PATIENCE)
            same(pair.mb.next(PATIENCE), length)
            holds("it is the same", bytes(pair.mb.recv(PATIENCE)) == data)
            sends.get()
        array, back = numpy.arange(1000), numpy.zeros(1000, dtype=int)
        sends = Thread(pair.mb.send, array, PATIENCE)
        same(pair.ma.recv_into(back, PATIENCE), array.nbytes)
        sends.get()
        holds("the array is the same", numpy.array_equal(array, back))
        pair.here.view[100:103] = b"mem"
        sends = Thread(pair.ma.send_memory, pair.here, 100, 3, PATIENCE)
        same(pair.mb.recv_memory(pair.there, 200, None, PATIENCE), 3)
        sends.get()
        same(bytes(pair.there.view[200:203]), b"mem")


def test_messages_that_are_refused():
    seen = []

    def progress(done, length):
        seen.append((done, length))
        if length == 2 << 20 and done > 0:
            raise KeyError("enough")

    with Pair(messengers=True, progress=progress) as pair:
        sends = Thread(pair.ma.send, bytes(1000), PATIENCE)
        raises(krdma.TooLong, pair.mb.recv, PATIENCE, 999)
        raises(krdma.TooLong, sends.get, number=errno.EMSGSIZE, says="message of 1000 bytes")
        sends = Thread(pair.ma.send, bytes(2 << 20), PATIENCE)
        raises(KeyError, pair.mb.recv, PATIENCE, says="enough")
        raises(krdma.Canceled, sends.get)
        raises(krdma.TimedOut, pair.mb.recv, 0.05)
        sends = Thread(pair.ma.send, b"still connected", PATIENCE)
        same(bytes(pair.mb.recv(PATIENCE)), b"still connected")
        sends.get()
        same(seen[-1], (15, 15))


def test_closing_while_another_thread_waits():
    with Pair() as pair:
        waits = Thread(pair.b.events(None).__next__)
        same(waits.get().type, EventType.ESTABLISHED)
        waits = Thread(pair.b.await_closed)
        time.sleep(0.1)
        holds("it waits", waits.is_alive())
        pair.b.close()
        waits.get()
        raises(ValueError, pair.b.query, says="the connection is closed")
        waits = Thread(pair.listener.accept, 0.5)
        time.sleep(0.1)
        pair.listener.close()
        raises(krdma.TimedOut, waits.get)
        raises(ValueError, pair.listener.fileno, says="the listener is closed")


def test_signals():
    class Stop(Exception):
        pass

    count = []

    def handler(*_):
        count.append(1)
        if len(count) == 2:
            raise Stop

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with Pair() as pair:
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
            raises(Stop, pair.a.ring.wait, 1, PATIENCE)
            signal.setitimer(signal.ITIMER_REAL, 0)
            same(len(count), 2, "signals that were handled")
            pair.does(entry.write(pair.a, pair.here, pair.remote))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def used(session):
    """Objects and memory that count against the user."""
    return [session.limit(one).user_used for one in (Limit.OBJECTS, Limit.MEMORY, Limit.SESSIONS)]


def settled(session):
    """used(), when what has ended before counts no more."""
    found, last = used(session), None
    end = time.monotonic() + PATIENCE
    while found != last and time.monotonic() < end:
        time.sleep(0.3)
        found, last = used(session), found
    return found


# Proves: F12
def test_what_is_forgotten_is_closed():
    with krdma.Session() as session:
        before = settled(session)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            pair = Pair()
            holds("it is in use", used(session) > before)
            # In a circle, so that the collector chooses the order.
            pair.circle = pair
            pair.here.session, pair.sessions[0].memory = pair.sessions[0], pair.here
            del pair
            gc.collect()
        same(settled(session), before)
        texts = sorted({str(one.message) for one in said if one.category is ResourceWarning})
        holds(f"there are warnings: {texts}", any("unclosed <Session>" in one for one in texts))


def test_a_session_closes_what_it_has():
    with krdma.Session() as session:
        before = settled(session)
        pair = Pair(messengers=True)
        thrown = pair.sessions[0].register(pair.a.device_id, bytearray(10))
        with pair:
            pass
        for one in (pair.a, pair.b, pair.ma, pair.mb, pair.here, pair.there, pair.listener, thrown):
            holds(f"{one!r} is closed", one.closed)
        same(settled(session), before)


def in_child(function):
    """Runs a function in a child, which must end with 0."""
    child = os.fork()
    if not child:
        try:
            function()
            os._exit(0)
        except BaseException:
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
            os._exit(1)
    same(os.waitpid(child, 0)[1], 0, "the child's status")


def test_fork():
    with Pair() as pair:
        in_child(pair.sessions[0].close)
        waits = Thread(pair.a.await_closed)
        while not pair.a._handle.busy:
            time.sleep(0.01)
        in_child(pair.a.close)
        same(pair.a.state, ConnState.CONNECTED)
        pair.here.view[:4] = b"fork"
        pair.does(entry.write(pair.a, pair.here, pair.remote, 0, 4))
        same(bytes(pair.there.view[:4]), b"fork")
        pair.a.close()
        waits.get()


def test_a_quota():
    def as_nobody():
        os.setuid(65534)
        with krdma.Session() as session:
            rings = [session.ring() for _ in range(3)]
            error = raises(krdma.QuotaExceeded, session.ring, number=errno.EDQUOT,
                           says="krdma info")
            holds("it is no other error", isinstance(error, OSError))
            same(session.limit_refused().limit, Limit.OBJECTS)
            holds("they are open", not any(ring.closed for ring in rings))

    mode = os.stat("/dev/krdma").st_mode
    with open(PARAMETERS + "max_objects", encoding="utf-8") as stream:
        before = stream.read()
    try:
        os.chmod("/dev/krdma", 0o600)
        in_child(lambda: (os.setuid(65534),
                          raises(PermissionError, krdma.Session, number=errno.EACCES,
                                 says="ls -l")))
        os.chmod("/dev/krdma", 0o666)
        with open(PARAMETERS + "max_objects", "w", encoding="utf-8") as stream:
            stream.write("3")
        in_child(as_nobody)
    finally:
        with open(PARAMETERS + "max_objects", "w", encoding="utf-8") as stream:
            stream.write(before)
        os.chmod("/dev/krdma", mode)


class Hubs:
    """A hub that listens, served by a thread, and one that connects to it."""

    def __init__(self, handler, **options):
        self.records = []
        self.hub = krdma.Hub(f"{HOST}:0", **options)
        self.at = "{}:{}".format(*self.hub.address)
        self.near = krdma.Hub(secret=options.get("secret"))
        self.thread = Thread(self.serve, handler)

    def serve(self, handler):
        """Keeps the records, and answers calls, until the hub is closed."""
        for record in self.hub:
            self.records.append(record)
            if record.event == EpEvent.MESSAGE:
                handler(record)
            elif record.event == EpEvent.LEFT:
                record.endpoint.close()

    def connect(self, **options):
        """An endpoint of the one that connects."""
        return self.near.connect(self.at, timeout=PATIENCE, **options)

    def of(self, event):
        """The records of an event."""
        return [record for record in self.records if record.event == event]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.near.close()
        self.hub.close()
        self.thread.get()


# Proves: F12
def test_a_hub_has_messages_and_calls():
    def handler(record):
        if record.is_call:
            record.answer(record.data[::-1], tag=record.tag + 1)

    with Hubs(handler) as hubs:
        server = hubs.connect(hello=b"it is me")
        same(server.address[0], HOST)
        same(server.why, "")
        same(server.call(b"drawer", tag=7, timeout=PATIENCE), (8, b"reward"))
        same(server.call(timeout=PATIENCE), (1, b""))
        # Longer than what is sent as a whole.
        data = os.urandom(300000)
        same(server.call(data, timeout=PATIENCE).data, data[::-1])
        server.send(data, tag=99)
        server.send(b"", tag=100)
        server.call_begin(b"abc", tag=5, timeout=PATIENCE, user_data=1 << 40)
        record = hubs.near.next(PATIENCE)
        same((record.event, record.endpoint, record.tag, record.user_data, record.data,
              record.error), (EpEvent.ANSWER, server, 6, 1 << 40, b"cba", None))
        raises(krdma.Error, record.answer, number=errno.ENOENT)
        raises(krdma.WouldBlock, hubs.near.next, 0, number=errno.EAGAIN)
        raises(krdma.TimedOut, hubs.near.next, 0.2, number=errno.ETIMEDOUT)
        raises(krdma.TooLong, server.send, bytes((16 << 20) + 1), number=errno.EMSGSIZE)
        same(hubs.near.endpoints, [server])
        server.close("enough")
        server.close()
        raises(ValueError, server.send, b"more", says="closed")
        same(hubs.near.endpoints, [])
        for _ in range(PATIENCE * 20):
            if hubs.of(EpEvent.LEFT):
                break
            time.sleep(0.05)
        left, = hubs.of(EpEvent.LEFT)
        same(left.error, None)
        same([(one.tag, one.data) for one in hubs.of(EpEvent.MESSAGE) if not one.is_call],
             [(99, data), (100, b"")])
        holds("it joined", hubs.records[0].event == EpEvent.JOINED)


def test_a_hub_shares_memory():
    shared, secret = bytearray(b"0123456789"), bytearray(10)
    with Hubs(lambda record: None) as hubs:
        hubs.hub.share("numbers", shared, Access.REMOTE_READ | Access.REMOTE_WRITE)
        hubs.hub.share("secret", secret, allow=lambda endpoint: endpoint.address[0] != HOST)
        hubs.hub.share("broken", secret, allow=lambda endpoint: 1 // 0)
        raises(krdma.Exists, hubs.hub.share, "numbers", bytearray(1), number=errno.EEXIST)
        raises((BufferError, TypeError), hubs.hub.share, "of bytes", b"constant")
        raises(BufferError, shared.extend, b"more")
        server = hubs.connect()
        with server.memory("numbers", Access.REMOTE_READ | Access.REMOTE_WRITE, PATIENCE) as memory:
            same(len(memory), 10)
            same(memory.read(), shared)
            same(memory.read(2, 3), b"234")
            memory.write(b"abc", 4)
            same(shared, b"0123abc789")
            raises(krdma.Error, memory.read, 5, 6, number=errno.ERANGE)
            array = numpy.zeros(5, dtype=numpy.uint8)
            memory.read_into(array, 3)
            same(bytes(array), b"3abc7")
        raises(ValueError, memory.read, says="closed")
        hubs.hub.share("constant", bytearray(8))
        with server.memory("constant", timeout=PATIENCE) as memory:
            raises(krdma.Denied, memory.write, b"x", number=errno.EACCES)
        raises(krdma.Denied, server.memory, "constant", Access.REMOTE_WRITE, PATIENCE)
        for name in ("secret", "broken"):
            raises(krdma.Denied, server.memory, name, timeout=PATIENCE, number=errno.EACCES)
        raises(krdma.NotFound, server.memory, "none", timeout=PATIENCE, says="'none'")
        memory = server.memory("numbers", timeout=PATIENCE)
        server.close()
        holds("it ended with its endpoint", memory.closed)
        hubs.hub.unshare("numbers", PATIENCE)
        shared.extend(b"more")
        raises(krdma.NotFound, hubs.hub.unshare, "numbers", 1)


def test_a_hub_admits_whom_it_wants():
    seen = []

    def admit(address, hello):
        seen.append((address[0], hello))
        if hello == b"busy":
            raise OSError(errno.EUSERS, "busy")
        if hello == b"inside":
            hubs.hub.endpoints[0].send(b"")
        return hello == b"password"

    with Hubs(lambda record: None, admit=admit, peers=4) as hubs:
        hubs.connect(hello=b"password")
        raises(krdma.Denied, hubs.connect, number=errno.EACCES, says=hubs.at)
        raises(krdma.Denied, hubs.connect, hello=b"inside", number=errno.EACCES)
        raises(krdma.Error, hubs.connect, hello=b"busy", number=errno.EUSERS)
        raises(krdma.Error, hubs.connect, hello=bytes(25), number=errno.EINVAL)
        same(seen, [(HOST, b"password"), (HOST, b""), (HOST, b"inside"), (HOST, b"busy")])
    with Hubs(lambda record: None, allow="10.99.0.0/16") as hubs:
        raises(krdma.Error, hubs.connect)
    raises(krdma.Error, krdma.Hub, f"{HOST}:0", allow="10.0.0.0/99", number=errno.EINVAL)
    raises(krdma.Error, krdma.Hub, "192.0.2.1:0", says="192.0.2.1:0")
    with krdma.Hub() as hub:
        raises(krdma.Refused, hub.connect, f"{HOST}:9", timeout=PATIENCE, number=errno.ECONNREFUSED,
               says="nothing listens there")
        raises(krdma.Error, lambda: hub.address, number=errno.EINVAL, says="does not listen")


# Proves: F12
def test_a_hub_with_a_secret():
    seen = []

    def admit(address, hello):
        seen.append((address[0], hello))
        return hello != b"foe"

    secret = bytes(range(32))
    with Hubs(lambda record: record.answer(record.data), admit=admit, secret=secret) as hubs:
        for other, number in ((None, errno.ENOKEY), (secret[:31], errno.EKEYREJECTED),
                              (os.urandom(32), errno.EKEYREJECTED)):
            with krdma.Hub(secret=other) as hub:
                raises(OSError, hub.connect, hubs.at, b"foe", PATIENCE, number=number, says=hubs.at)
                endpoint = hub.connect(hubs.at, timeout=0)
                left = hub.next(PATIENCE)
                same((left.event, left.endpoint, left.error.errno),
                     (EpEvent.LEFT, endpoint, number))
                holds("it says why", "secret" in endpoint.why)
        same((seen, hubs.records), ([], []))
        raises(krdma.Denied, hubs.connect, hello=b"foe", number=errno.EACCES)
        same(hubs.connect(hello=b"friend").call(b"a", timeout=PATIENCE).data, b"a")
        same(seen, [(HOST, b"foe"), (HOST, b"friend")])
    with Hubs(lambda record: None) as hubs, krdma.Hub(secret=secret) as hub:
        raises(OSError, hub.connect, hubs.at, timeout=PATIENCE, number=errno.EKEYREJECTED)
    for wrong in (b"", b"short", bytes(1025)):
        raises(krdma.Error, krdma.Hub, secret=wrong, number=errno.EINVAL)


def test_the_threads_of_a_hub():
    with Hubs(lambda record: record.answer(record.data)) as hubs:
        server = hubs.connect()
        waits = Thread(hubs.near.next, PATIENCE * 4)
        for at in range(20):
            same(server.call(b"%d" % at, timeout=PATIENCE).data, b"%d" % at)
        ready, _, _ = select.select([hubs.near], [], [], 0.3)
        same(ready, [])
        server.call_begin(b"for the other", timeout=PATIENCE)
        same(waits.get().data, b"for the other")
    holds("the hub is closed", hubs.hub.closed and hubs.near.closed)
    raises(ValueError, hubs.hub.next, 0, says="closed")


def test_a_hub_whose_peer_dies():
    with krdma.Hub(f"{HOST}:0") as hub:
        at = "{}:{}".format(*hub.address)
        child = os.fork()
        if not child:
            other = krdma.Hub()
            other.connect(at, timeout=PATIENCE).send(b"the last")
            signal.pause()
        same(hub.next(PATIENCE).event, EpEvent.JOINED)
        record = hub.next(PATIENCE)
        same((record.event, record.data), (EpEvent.MESSAGE, b"the last"))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        left = hub.next(PATIENCE)
        same((left.event, left.endpoint), (EpEvent.LEFT, record.endpoint))
        holds(f"it says why: {left.error}", isinstance(left.error, ConnectionResetError))
        raises(krdma.Reset, left.endpoint.send, b"x", number=errno.ECONNRESET)
        holds("in words", left.endpoint.why)


class Folder:
    """A folder that is offered, served by a thread, and the session of clients."""

    def __init__(self, **options):
        self.path = tempfile.mkdtemp()
        os.mkdir(self.path + "/offered")
        self.reports = []
        self.session = krdma.Session()
        self.server = files.Server(self.session, (HOST, 0), self.path + "/offered",
                                   report=self.reports.append, **options)
        self.thread = Thread(self.server.run)

    def file(self, name, data):
        """Writes a file; its path."""
        with open(os.path.join(self.path, name), "wb") as stream:
            stream.write(data)
        return stream.name

    def data(self, name):
        """What is in a file."""
        with open(os.path.join(self.path, name), "rb") as stream:
            return stream.read()

    def client(self, *flags, **options):
        """A client of the server."""
        return files.Client(self.session, self.server.address, *flags, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.close()
        self.thread.get()
        self.session.close()
        shutil.rmtree(self.path)


# Proves: F12
def test_files_come_and_go():
    data = os.urandom(3 << 20)
    with Folder(writable=True) as folder, folder.client() as client:
        folder.file("offered/numbers", data)
        steps = []
        result = client.get("numbers", folder.path)
        same((result.length, result.transferred, result.resumed_from, result.skipped, result.last),
             (len(data), len(data), 0, False, "numbers"))
        same(folder.data("numbers"), data)
        same(client.make_folder("deep").length, 0)
        client.put(folder.file("small", b"some words"), "deep/small")
        same(folder.data("offered/deep/small"), b"some words")
        same([(one.name, one.type, one.length) for one in client.list()],
             [("deep", FileType.FOLDER, 0), ("numbers", FileType.FILE, len(data))])
        same([one.name for one in client.list("", True)], ["deep", "deep/small", "numbers"])
        reads, writes = os.pipe()
        same(client.get_fd("deep/small", writes).length, 10)
        same(os.read(reads, 100), b"some words")
        os.close(reads)
        os.close(writes)
        with folder.client(FileFlags.TIMES | FileFlags.UPDATE, progress=steps.append) as other:
            holds("it is not there", not other.get("numbers", folder.path + "/copy").skipped)
            same(os.stat(folder.path + "/copy").st_mtime_ns,
                 os.stat(folder.path + "/offered/numbers").st_mtime_ns)
            holds("it is up to date", other.get("numbers", folder.path + "/copy").skipped)
        holds("the progress was told", (len(data), len(data), 0) in steps)
        raises(FileExistsError, client.put, folder.path + "/small", "numbers", FileFlags.NEW)
        same([(one.operation.name, one.name, one.error, one.peer[0]) for one in folder.reports[:3]],
             [("GET", "numbers", None, HOST), ("MAKE_FOLDER", "deep", None, HOST),
              ("PUT", "deep/small", None, HOST)])


def test_files_that_cannot_be_copied():
    class Enough(Exception):
        """Raised by a function for progress."""

    def enough(step):
        if step.length:
            raise Enough(step.length)

    with Folder() as folder, folder.client() as client:
        folder.file("offered/file", bytes(100000))
        where = "{} port {}".format(*folder.server.address)
        error = raises(krdma.NotFound, client.get, "none", folder.path, number=errno.ENOENT,
                       says=f"cannot get 'none' from {where}: No such file or directory; the other")
        holds("it is Python's too", isinstance(error, FileNotFoundError))
        raises(krdma.Denied, client.get, "../out", folder.path)
        raises(krdma.NotFound, client.get, "file", folder.path + "/no/way", says="this machine")
        raises(OSError, client.put, folder.path + "/offered/file", "more", number=errno.EROFS)
        raises(ValueError, client.get, "a\0b", folder.path, says="zero byte")
        with folder.client(progress=enough) as other:
            same(raises(Enough, other.get, "file", folder.path + "/x").args, (100000,))
            holds("there is no file", not os.path.exists(folder.path + "/x"))
        holds("the server knows", any(one.error and one.error.errno == errno.ENOENT
                                      for one in folder.reports))
        folder.session.close()
        holds("all is closed", client.closed and folder.server.closed)
        raises(ValueError, client.list, says="closed")


def test_files_with_a_secret_and_rules():
    secret = os.urandom(32)
    with Folder(secret=secret, writable=True) as folder:
        folder.file("offered/file", b"data")
        with folder.client() as client:
            raises(OSError, client.list, number=errno.ENOKEY)
        with folder.client(secret=os.urandom(32)) as client:
            raises(OSError, client.list, number=errno.EKEYREJECTED)
        with folder.client(secret=secret) as client:
            same([one.name for one in client.list()], ["file"])
    with krdma.Session() as session:
        raises(OSError, files.Server, session, (HOST, 0), "/nowhere", number=errno.ENOENT,
               says="/nowhere")
        raises(OSError, files.Server, session, (HOST, 0), "/", secret=b"short", number=errno.EINVAL)
        raises(OSError, files.Server, session, (HOST, 0), "/etc",
               rules={"nowhere": FileAccess.READ}, number=errno.ENOENT)
        raises(OSError, files.Client, session, (HOST, 9), FileFlags(1 << 20),
               number=errno.EOPNOTSUPP)
        with files.Client(session, (HOST, 9)) as client:
            raises(krdma.Refused, client.list, number=errno.ECONNREFUSED)


def program(*arguments, status=0):
    """What a program prints, which must end with that status."""
    if arguments[0].endswith(".py"):
        arguments = (sys.executable, *arguments)
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=PATIENCE * 4)
    same(done.returncode, status, f"the status of {arguments} ({done.stdout.strip()})")
    return done.stdout.strip()


def listens(process, port):
    """Whether a process has a listener there.  To listen there oneself could be in its way."""
    for name in os.listdir(f"/proc/{process}/fdinfo"):
        try:
            with open(f"/proc/{process}/fdinfo/{name}", encoding="utf-8") as stream:
                text = stream.read()
        except OSError:
            continue
        if "\tlistener\n" in text and f":{port}\n" in text:
            return True
    return False


class Server:
    """A server that is killed at the end, if it has not ended."""

    def __init__(self, port, *arguments):
        if arguments[0].endswith(".py"):
            arguments = (sys.executable, *arguments)
        self.child = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        for _ in range(PATIENCE * 20):
            if listens(self.child.pid, port):
                return
            time.sleep(0.05)
        self.child.kill()
        raise Wrong(f"{arguments} does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()


# Proves: F12
def test_keys_and_values():
    """Servers and clients of Python and of C, each with each."""
    programs = os.path.join(HERE, "kv.py"), os.path.join(HERE, "kv")
    for server in programs:
        with Server(7473, server, "serve"):
            for client, other in (programs, programs[::-1]):
                same(program(client, HOST, "key", f"of {client}"), "")
                same(program(other, HOST, "key"), f"of {client}")
    with Server(7473, programs[0], "serve"):
        same(program(programs[0], HOST, "moon", status=1), "kv: no such key")
    holds("nobody serves", "kv: cannot connect to 10.77.0.1 port 7473: Connection refused" in
          program(programs[0], HOST, "planet", status=1))
    holds("the usage", program(programs[0], status=2).startswith("usage: kv.py serve"))


# Proves: F12
def test_an_array():
    array = os.path.join(HERE, "array.py")
    with Server(7474, array, "serve") as server:
        said = program(array, HOST, "50000")
        for text in ("400000 bytes written,", "400000 bytes read,", "the same numbers have"):
            holds(f"it says {text}: {said}", text in said)
        said, _ = server.child.communicate(timeout=PATIENCE)
        same(server.child.returncode, 0)
        same(said, "array: the client has left 50000 numbers, and their sum is 1249975000\n")
    holds("nobody serves", "Connection refused" in program(array, HOST, status=1))


# Proves: F12
def test_the_example_of_a_hub():
    hub = os.path.join(HERE, "hub.py")
    with Server(7475, hub, "serve") as server:
        same(program(hub, HOST, "moon", "sun", "moon").split("\n"),
             ["2 moon", "       1 sun"])
        same(program(hub, HOST, "sun").split("\n"), ["2 moon", "       2 sun"])
        same(program(hub, HOST, "--stop"), "")
        server.child.communicate(timeout=PATIENCE)
        same(server.child.returncode, 0)
    holds("nobody serves", "Connection refused" in program(hub, HOST, status=1))
    holds("the usage", program(hub, status=2).startswith("usage: hub.py serve"))


# Proves: F12
def test_the_example_of_files():
    """Also with the tool, which knows nothing of Python."""
    mirror = os.path.join(HERE, "mirror.py")
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(folder + "/here/deep")
        for name in ("one", "deep/two"):
            with open(f"{folder}/here/{name}", "w", encoding="utf-8") as stream:
                stream.write(name)
        with Server(7476, mirror, "serve", folder + "/here") as server:
            same(program(mirror, HOST, folder + "/there"), "2 files copied")
            same(program(mirror, HOST, folder + "/there"), "0 files copied")
            program("krdma", "get", "-q", f"{HOST}:deep/two", folder + "/by tool")
            for name in ("there/deep/two", "by tool"):
                with open(f"{folder}/{name}", encoding="utf-8") as stream:
                    same(stream.read(), "deep/two")
            server.child.send_signal(signal.SIGINT)
            said, _ = server.child.communicate(timeout=PATIENCE)
            same(server.child.returncode, 0)
            holds(f"it reports: {said}", "10.77.0.1: GET 'deep/two': 8 bytes" in said)
        with Server(7476, "krdma", "serve", folder + "/here"):
            same(program(mirror, HOST, folder + "/other"), "2 files copied")


def main(names):
    """Runs the tests of a module."""
    faulthandler.enable()
    tests = [(name[5:], test) for name, test in names.items() if name.startswith("test_")]
    if len(sys.argv) > 1:
        tests = [(name, test) for name, test in tests if name in sys.argv[1:]]
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        faulthandler.dump_traceback_later(PATIENCE * 8, exit=True)
        try:
            test()
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
        else:
            print(f"ok {number} - {name}")
        sys.stdout.flush()
    print(f"1..{len(tests)}")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main(globals()))
