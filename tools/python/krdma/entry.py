# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Work requests, to be posted with Ring.post().

A part of a memory region is an offset and a length; without a length it is the rest.  Memory that a
work request uses stays registered until the work request completes.
"""

from typing import Any, Optional

from . import _abi
from ._abi import Flush, Opcode, SqeFlags
from ._library import fill
from .memory import Buffer, Region, RemoteMemory
from .ring import Entry

UNSIGNALED = SqeFlags.UNSIGNALED
FENCE = SqeFlags.FENCE
SOLICITED = SqeFlags.SOLICITED


def _entry(opcode: Opcode, conn: Any, memory: Optional[Region], offset: int, length: Optional[int],
           wr_id: int, flags: int = 0) -> Entry:
    entry = fill(Entry(opcode=opcode, dest=conn.id), flags=flags, wr_id=wr_id)
    if memory is not None:
        length = memory.part(offset, length)
        entry.sge_count = 1
        entry.sge = fill(_abi.krdma_ring_sge(mr=memory.id), addr=memory.address + offset,
                         length=length)
    return entry


def _imm(entry: Entry, imm: int) -> Entry:
    return fill(entry, imm=imm)


def _operand(value: int) -> int:
    """A number of 64 bits; of a negative one the two's complement, as for adding it."""
    return value + (1 << 64) if -(1 << 63) <= value < 0 else value


def _remote(opcode: Opcode, conn: Any, memory: Optional[Region], remote: RemoteMemory, offset: int,
            length: Optional[int], remote_offset: int, wr_id: int, flags: int) -> Entry:
    entry = _entry(opcode, conn, memory, offset, length, wr_id, flags)
    return fill(entry, remote_addr=remote.at(remote_offset, entry.sge.length), rkey=remote.rkey)


def recv(dest: Any, memory: Optional[Region] = None, offset: int = 0,
         length: Optional[int] = None, *, wr_id: int = 0) -> Entry:
    """A receive of a connection, or of an SRQ: see Srq.post()."""
    return _entry(Opcode.RECV, dest, memory, offset, length, wr_id)


def send(conn: Any, memory: Optional[Region] = None, offset: int = 0,
         length: Optional[int] = None, *, wr_id: int = 0, flags: int = 0) -> Entry:
    """A send."""
    return _entry(Opcode.SEND, conn, memory, offset, length, wr_id, flags)


def send_imm(conn: Any, imm: int, memory: Optional[Region] = None, offset: int = 0,
             length: Optional[int] = None, *, wr_id: int = 0, flags: int = 0) -> Entry:
    """A send with 32 bits of immediate data."""
    return _imm(_entry(Opcode.SEND_IMM, conn, memory, offset, length, wr_id, flags), imm)


def send_inline(conn: Any, data: Any, *, wr_id: int = 0, flags: int = 0) -> Entry:
    """A send of bytes that are copied when it is posted, and need not be registered.

    The connection needs max_inline for that: see Connection.create_qp().
    """
    buffer = Buffer(data, False)
    entry = _entry(Opcode.SEND, conn, None, 0, None, wr_id, flags | SqeFlags.INLINE)
    entry.sge_count = 1
    entry.sge = fill(_abi.krdma_ring_sge(), addr=buffer.address, length=buffer.length)
    setattr(entry, "buffer", buffer)    # stays until the entry is gone
    return entry


def write(conn: Any, memory: Region, remote: RemoteMemory, offset: int = 0,
          length: Optional[int] = None, remote_offset: int = 0, *, wr_id: int = 0,
          flags: int = 0) -> Entry:
    """An RDMA write to the peer's memory."""
    return _remote(Opcode.WRITE, conn, memory, remote, offset, length, remote_offset, wr_id, flags)


def write_imm(conn: Any, imm: int, memory: Region, remote: RemoteMemory, offset: int = 0,
              length: Optional[int] = None, remote_offset: int = 0, *, wr_id: int = 0,
              flags: int = 0) -> Entry:
    """An RDMA write that also completes a receive of the peer, with 32 bits of immediate data."""
    return _imm(_remote(Opcode.WRITE_IMM, conn, memory, remote, offset, length, remote_offset,
                        wr_id, flags), imm)


def read(conn: Any, memory: Region, remote: RemoteMemory, offset: int = 0,
         length: Optional[int] = None, remote_offset: int = 0, *, wr_id: int = 0,
         flags: int = 0) -> Entry:
    """An RDMA read of the peer's memory."""
    return _remote(Opcode.READ, conn, memory, remote, offset, length, remote_offset, wr_id, flags)


def compare_swap(conn: Any, memory: Region, remote: RemoteMemory, compare: int, swap: int,
                 offset: int = 0, remote_offset: int = 0, *, wr_id: int = 0,
                 flags: int = 0) -> Entry:
    """A compare-and-swap of 64 bits; the local memory gets the value before."""
    entry = _remote(Opcode.COMPARE_SWAP, conn, memory, remote, offset, 8, remote_offset, wr_id,
                    flags)
    return fill(entry, operand=_operand(compare), swap=_operand(swap))


def fetch_add(conn: Any, memory: Region, remote: RemoteMemory, add: int, offset: int = 0,
              remote_offset: int = 0, *, wr_id: int = 0, flags: int = 0) -> Entry:
    """A fetch-and-add of 64 bits; the local memory gets the value before."""
    entry = _remote(Opcode.FETCH_ADD, conn, memory, remote, offset, 8, remote_offset, wr_id, flags)
    return fill(entry, operand=_operand(add))


def atomic_write(conn: Any, remote: RemoteMemory, value: int, remote_offset: int = 0, *,
                 wr_id: int = 0, flags: int = 0) -> Entry:
    """A write of 8 aligned bytes at once, as far as Opcode.ATOMIC_WRITE promises it."""
    address = remote.at(remote_offset, 8)
    entry = _remote(Opcode.ATOMIC_WRITE, conn, None, remote, 0, None, 0, wr_id, flags)
    return fill(entry, remote_addr=address, operand=_operand(value))


def flush(conn: Any, remote: RemoteMemory, *, wr_id: int = 0, flags: int = 0) -> Entry:
    """A flush: when it completes, the earlier writes to that memory are visible to every reader."""
    return _imm(_remote(Opcode.FLUSH, conn, None, remote, 0, None, 0, wr_id, flags),
                Flush.GLOBAL | Flush.MEMORY)
