#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Tests lanes of the Python package in a virtual machine.  Prints TAP."""

import errno
import sys

import krdma
from krdma import Access, ConnKind, ConnState, ListenFlags, WcStatus, entry

from suite import HOST, PATIENCE, Thread, holds, main, raises, same


# Proves: F12, F14
def test_lanes():
    with krdma.Session() as first, krdma.Session() as second:
        listener = second.listen((HOST, 0), lanes=True)
        same(listener.flags, ListenFlags.LANES)
        ends = []
        for _ in range(2):
            a = first.create_lane()
            same(a.trunk, 0, "the trunk before it is resolved")
            a.resolve(listener.address)
            a.create_qp()
            asks = Thread(a.connect, b"from a")
            b = listener.accept(PATIENCE)
            b.create_qp()
            b.accept(b"from b")
            asks.get()
            same(a.private_data()[:6], b"from b")
            ends.append((a, b))
        (a, b), (other, _) = ends
        holds("both ends are lanes", a.trunk and b.trunk and a.trunk == a.query().trunk)
        same((a.query().kind, b.query().kind), (ConnKind.LANE, ConnKind.LANE))
        same(other.trunk, a.trunk, "the trunk of another lane")
        here = first.alloc(a.device_id, 8192, lanes=True)
        there = second.register(b.device_id, bytearray(8192), lanes=True)
        here.view[:4] = b"lane"
        b.ring.post(entry.recv(b, there))
        a.ring.post(entry.send_imm(a, 7, here, 0, 8000))
        a.ring.wait(timeout=PATIENCE)[0].check()
        got = b.ring.wait(timeout=PATIENCE)[0].check()
        same((got.length, got.imm, bytes(there.view[:4])), (8000, 7, b"lane"))
        raises(krdma.Error, there.set_name, "there", number=errno.EACCES)
        raises(krdma.NotFound, a.find_memory, "there", timeout=PATIENCE)
        with second.register(b.device_id, bytearray(8192), Access.REMOTE_READ,
                             windows=True) as named:
            named.set_name("there")
            remote = a.find_memory("there", 4096, timeout=PATIENCE)
            same((remote.address, remote.length, remote.rkey, remote.access),
                 (named.address + 4096, 4096, named.rkey, Access.REMOTE_READ))
            named.set_name(None)
            for _ in range(20):
                a.ring.post(entry.read(a, here, remote, 0, 64))
                a.ring.wait(timeout=PATIENCE)[0].check()
            raises(krdma.NotFound, a.find_memory, "there", timeout=PATIENCE)
        plain = first.alloc(a.device_id, 64)
        raises(krdma.Error, a.ring.post, entry.send(a, plain), number=errno.EOPNOTSUPP)
        remote = krdma.RemoteMemory(0, 64, 1, Access.REMOTE_WRITE)
        a.ring.post(entry.write(a, here, remote, 0, 8))
        same(a.ring.wait(timeout=PATIENCE)[0].status, WcStatus.REM_ACCESS_ERR)


# Proves: F18
def test_an_early_message():
    with krdma.Session() as first, krdma.Session() as second:
        listener = second.listen((HOST, 0), lanes=True)
        for lane in True, False:
            a = first.create_lane() if lane else first.connection()
            a.resolve(listener.address)
            a.create_qp()
            here = first.alloc(a.device_id, 64, lanes=True)
            here.view[:5] = b"early"
            if lane:
                a.connect(early=True)
                a.ring.post(entry.send(a, here))
                same(a.query().state, ConnState.CONNECTING)
            else:
                asks = Thread(a.connect, early=True)
            b = listener.accept(PATIENCE)
            b.create_qp()
            there = second.alloc(b.device_id, 64, lanes=True)
            b.ring.post(entry.recv(b, there))
            b.accept()
            if not lane:
                asks.get()
                a.ring.post(entry.send(a, here))
            b.ring.wait(timeout=PATIENCE)[0].check()
            same(bytes(there.view[:5]), b"early")
            a.ring.wait(timeout=PATIENCE)[0].check()
            same(a.wait(PATIENCE), ConnState.CONNECTED)


def test_a_lane_to_a_listener_without_lanes():
    with krdma.Session() as first, krdma.Session() as second:
        listener = second.listen((HOST, 0))
        same(listener.flags, ListenFlags(0))
        asks = Thread(first.connect, listener.address, lane=True)
        b = listener.accept(PATIENCE)
        b.create_qp()
        b.accept()
        a = asks.get()
        same((a.trunk, a.query().kind), (0, ConnKind.PLAIN))


# Proves: F12, F14
def test_a_shared_receive_queue_of_lanes():
    with krdma.Session() as first, krdma.Session() as second:
        listener = second.listen((HOST, 0), lanes=True)
        device = second.device_for(local=(HOST, 0))
        ring = second.ring(completions=256, device=device)
        memory = second.alloc(device, 16 * 64, lanes=True)
        plain, srq = second.srq(ring, depth=16), second.srq(ring, depth=16, lanes=True)
        srq.post([entry.recv(srq, memory, 64 * i, 64, wr_id=i) for i in range(16)])
        ends = []
        for lane in True, False, True:
            asks = Thread(first.connect, listener.address, lane=lane, send_depth=4)
            b = listener.accept(PATIENCE)
            if lane:
                raises(krdma.Error, b.create_qp, ring, srq=plain, number=errno.EOPNOTSUPP)
            b.create_qp(ring, srq=srq, send_depth=4)
            b.accept()
            a = asks.get()
            same((bool(a.trunk), bool(b.trunk)), (lane, lane), "whether it is a lane")
            ends.append((a, b))
        here = first.alloc(ends[0][0].device_id, 64, lanes=True)
        for number, (a, b) in enumerate(ends):
            here.view[:6] = b"from %d" % number
            a.ring.post(entry.send(a, here, 0, 6))
            a.ring.wait(timeout=PATIENCE)[0].check()
            got = ring.wait(timeout=PATIENCE)[0].check()
            same((got.dest, bytes(memory.view[64 * got.wr_id:64 * got.wr_id + got.length])),
                 (b.id, b"from %d" % number))


if __name__ == "__main__":
    sys.exit(main(globals()))
