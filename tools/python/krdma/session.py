# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Sessions: an open /dev/krdma, and what is made through it."""

import ctypes
import errno
import weakref
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Union

from . import _abi
from ._abi import (Access, DeviceCap, DeviceEventType, Feature, Limit, LimitScope, LinkLayer,
                   PortState, Transport)
from ._address import Address, packed
from ._library import Handle, Object, check, deadline_of, filled, lib, retried, text, uint
from .connection import Connection, Listener
from .errors import NotFound
from .memory import Memory, MemoryCache, allocated
from .message import Messenger
from .ring import Ring, known
from .srq import Srq

_OPEN = {
    errno.ENOENT: "the module is not loaded: run 'modprobe krdma' as root",
    errno.EACCES: "'ls -l /dev/krdma' shows which group may open it",
    errno.EPROTONOSUPPORT: "module and library do not fit: install both of one version",
    errno.EDQUOT: "close other sessions, or raise the module's parameter max_sessions",
}


@dataclass(frozen=True)
class Info:
    """The version and the features of the module."""

    abi_version: int
    features: Feature
    device_count: int
    module_version: str


@dataclass(frozen=True)
class Device:
    """An RDMA device."""

    id: int
    name: str
    port_count: int
    node_guid: int
    caps: DeviceCap
    transport: Transport
    max_mr_size: int
    max_qp: int
    max_send_wr: int
    max_recv_wr: int
    max_send_sge: int
    max_recv_sge: int
    max_read_sge: int
    max_cqe: int
    max_srq_wr: int
    max_read_depth: int
    max_read_depth_in: int
    max_fast_reg_pages: int


@dataclass(frozen=True)
class Port:
    """A port of a device."""

    device_id: int
    number: int
    state: PortState
    link_layer: LinkLayer
    max_mtu: int
    active_mtu: int
    max_msg_size: int
    gid_count: int
    speed_mbps: int
    netdev: str


@dataclass(frozen=True)
class LimitInfo:
    """A limit, and what counts against it; "max" is None if the module does not know it."""

    limit: Limit
    scope: LimitScope
    session_used: int
    user_used: int
    owner_used: int
    max: Optional[int]
    refused: int


@dataclass(frozen=True)
class DeviceEvent:
    """What has happened to a device."""

    type: DeviceEventType
    device_id: int
    port: int


def _device(found: _abi.krdma_device_query_args) -> Device:
    return Device(found.id, found.name.decode(), found.port_count, found.node_guid,
                  DeviceCap(found.caps), known(Transport, found.transport), found.max_mr_size,
                  found.max_qp, found.max_send_wr, found.max_recv_wr, found.max_send_sge,
                  found.max_recv_sge, found.max_read_sge, found.max_cqe, found.max_srq_wr,
                  found.max_read_depth, found.max_read_depth_in, found.max_fast_reg_pages)


def _limit(found: _abi.krdma_limit_query_args) -> LimitInfo:
    return LimitInfo(known(Limit, found.limit), known(LimitScope, found.scope), found.session_used,
                     found.user_used, found.owner_used,
                     None if found.max == _abi.KRDMA_LIMIT_UNKNOWN else found.max, found.refused)


def _number(device: Union[Device, int]) -> int:
    return device.id if isinstance(device, Device) else uint(device, 32, "a device")


class Session(Object):
    """An open /dev/krdma.  Any thread may use it and what is made through it."""

    def __init__(self, fd: Optional[int] = None) -> None:
        """Opens the device, or takes over a descriptor of it."""
        pointer = ctypes.c_void_p()
        if fd is None:
            err = lib.krdma_open(ctypes.byref(pointer))
            check(err, f"open {_abi.KRDMA_DEVICE_PATH}", _OPEN.get(-err))
        else:
            check(lib.krdma_open_fd(uint(fd, 31, "a descriptor"), ctypes.byref(pointer)),
                  f"use descriptor {fd} as a session",
                  f"it must be an open {_abi.KRDMA_DEVICE_PATH}")
        self._handle = Handle("session", pointer, lib.krdma_close)
        self._children: "weakref.WeakSet[Any]" = weakref.WeakSet()

    def fileno(self) -> int:
        """The descriptor: readable while there are device events, if device_events() was called."""
        with self._handle as handle:
            return int(lib.krdma_fd(handle))

    def info(self) -> Info:
        """The version and the features of the module."""
        found = filled("query the module", lib.krdma_info_query, self._handle, _abi.krdma_info_args)
        return Info(found.abi_version, Feature(found.features), found.device_count,
                    found.module_version.decode())

    def limit(self, limit: Limit) -> LimitInfo:
        """A limit, and what counts against it."""
        return _limit(filled("query a limit", lib.krdma_limit_query, self._handle,
                             _abi.krdma_limit_query_args, uint(limit, 32, "a limit")))

    def limits(self) -> List[LimitInfo]:
        """All limits."""
        found: List[LimitInfo] = []
        while True:
            try:
                found.append(self.limit(len(found)))    # type: ignore[arg-type]
            except NotFound:
                return found

    def limit_refused(self) -> LimitInfo:
        """The limit that was the cause of the last QuotaExceeded."""
        return _limit(filled("query the limit that was reached", lib.krdma_limit_refused,
                             self._handle, _abi.krdma_limit_query_args))

    def devices(self) -> Iterator[Device]:
        """The RDMA devices."""
        last = 0
        while True:
            try:
                found = filled("query the next device", lib.krdma_device_next, self._handle,
                               _abi.krdma_device_query_args, last)
            except NotFound:
                return
            yield _device(found)
            last = found.id

    def device(self, which: Union[str, int]) -> Device:
        """The RDMA device with that name or number."""
        if isinstance(which, str):
            return _device(filled(f"find the device {which}", lib.krdma_device_find, self._handle,
                                  _abi.krdma_device_query_args, text(which, "a name")))
        return _device(filled(f"find the device {which}", lib.krdma_device_query, self._handle,
                              _abi.krdma_device_query_args, uint(which, 32, "a device")))

    def port(self, device: Union[Device, int], number: int = 1) -> Port:
        """A port of a device."""
        found = filled(f"query port {number}", lib.krdma_port_query, self._handle,
                       _abi.krdma_port_query_args, _number(device), uint(number, 32, "a port"))
        return Port(found.device_id, found.port, known(PortState, found.state),
                    known(LinkLayer, found.link_layer), found.max_mtu, found.active_mtu,
                    found.max_msg_size, found.gid_count, found.speed_mbps,
                    found.netdev_name.decode())

    def device_for(self, remote: Optional[Address] = None, local: Optional[Address] = None,
                   timeout: Optional[float] = 10) -> Device:
        """The RDMA device that has a local address, or that reaches a peer's."""
        found = ctypes.c_uint32()
        with self._handle as handle:
            retried(f"find the device for {(remote or local or ('no address',))[0]}",
                    lib.krdma_device_by_address, handle, packed(local) if local else None,
                    packed(remote) if remote else None, deadline_of(timeout), ctypes.byref(found))
        return self.device(found.value)

    def device_events(self, timeout: Optional[float] = None) -> Iterator[DeviceEvent]:
        """The events of all devices, until none comes for so long.

        The first ones report the devices that are there.
        """
        with self._handle as handle:
            err = lib.krdma_device_notify(handle)
        if err != -errno.EALREADY:
            check(err, "enable device events")
        while True:
            record = _abi.krdma_device_record()
            with self._handle as handle:
                try:
                    retried("get the next device event", lib.krdma_device_next_event, handle,
                            deadline_of(timeout), ctypes.byref(record), ctypes.sizeof(record))
                except (TimeoutError, BlockingIOError):
                    return
            yield DeviceEvent(known(DeviceEventType, record.type), record.device_id, record.port)

    def listen(self, address: Address, backlog: int = 0, v6only: bool = False,
               lanes: bool = False, *, keepalive_ms: int = 0,
               request_timeout_ms: int = 0) -> Listener:
        """Listens at an address; the host "" stands for all addresses, port 0 for a free one.

        With lanes, it takes lanes, too: Connection.trunk says of an accepted connection what it is.
        keepalive_ms is for connections whose create_qp() has none.  A request that is not taken in
        time is rejected: request_timeout_ms, which may be REQUEST_TIMEOUT_NEVER; 0 is 60 seconds.
        """
        return Listener(self, address, v6only, lanes, backlog=backlog, keepalive_ms=keepalive_ms,
                        request_timeout_ms=request_timeout_ms)

    def connection(self) -> Connection:
        """A new connection: resolve(), create_qp() or messenger(), and connect() come next."""
        pointer = ctypes.c_void_p()
        with self._handle as handle:
            check(lib.krdma_conn_create(handle, ctypes.byref(pointer)), "create a connection")
            return Connection(self, pointer)

    def create_lane(self) -> Connection:
        """A new connection that is a lane, if the peer takes lanes; otherwise it is a plain one.

        Connection.trunk says which, after resolve().  A lane carries messages, in memory that is
        registered with lanes=True.
        """
        pointer = ctypes.c_void_p()
        with self._handle as handle:
            check(lib.krdma_conn_create_lane(handle, ctypes.byref(pointer)), "create a lane")
            return Connection(self, pointer)

    def connect(self, address: Address, private_data: bytes = b"",
                timeout: Optional[float] = 10, ring: Optional[Ring] = None, lane: bool = False,
                **options: Any) -> Connection:
        """A connection to a peer; the options are those of Connection.create_qp().

        With lane, it is one of create_lane().
        """
        conn = self.create_lane() if lane else self.connection()
        try:
            conn.resolve(address, timeout)
            conn.create_qp(ring, **options)
            conn.connect(private_data, timeout)
        except BaseException:
            conn.close()
            if conn.ring and not ring:
                conn.ring.close()
            raise
        return conn

    def ring(self, entries: int = 0, completions: int = 0, polled: bool = False,
             device: Union[Device, int] = 0, vector: Optional[int] = None) -> Ring:
        """A ring; it belongs to the device, or to that of its first connection.

        With a completion vector of the device, the processor of that has its interrupts.
        """
        ring = Ring(self._handle, entries, completions, polled, _number(device), vector)
        self._children.add(ring)
        return ring

    def srq(self, ring: Optional[Ring] = None, depth: int = 0, max_recv_sge: int = 0,
            device: Union[Device, int] = 0, lanes: bool = False) -> Srq:
        """A shared receive queue; without a ring, it gets one of its own.

        It belongs to the device, or to that of the ring.  With lanes, lanes can use it, too, and
        the memory of its receives is registered with lanes=True.
        """
        with ExitStack() as undo:
            if not ring:
                ring = self.ring(device=device)
                undo.callback(ring.close)
            srq = Srq(self._handle, ring, depth, max_recv_sge, _number(device), lanes)
            undo.pop_all()
        self._children.add(srq)
        return srq

    def register(self, device: Union[Device, int], data: Any,
                 access: Access = Access.LOCAL_WRITE, lanes: bool = False,
                 windows: bool = False) -> Memory:
        """Registers the memory of an object: a bytearray, a memoryview, an array of numpy.

        The object's memory must be contiguous, and writable unless there is no right.  With lanes,
        lanes can use it, too.  With windows, the devices of lanes' peers access it themselves.
        """
        memory = Memory(self._handle, _number(device), data, access, lanes, windows)
        self._children.add(memory)
        return memory

    def alloc(self, device: Union[Device, int], length: int,
              access: Access = Access.LOCAL_WRITE, lanes: bool = False,
              windows: bool = False) -> Memory:
        """Zeroed memory that is registered; Memory.view is its bytes."""
        return self.register(device, allocated(length), access, lanes, windows)

    def memory_cache(self, device: Union[Device, int], access: Access = Access.LOCAL_WRITE,
                     limit: int = 1 << 26) -> MemoryCache:
        """A cache of memory regions: so many bytes may stay registered while they are not used."""
        cache = MemoryCache(self._handle, _number(device), access, limit)
        self._children.add(cache)
        return cache

    def close(self) -> None:
        """Closes it, and all that was made through it."""
        children = list(self._children)
        # Clients and servers of files, whose library need not be there.
        for child in children:
            if not isinstance(child, _KINDS):
                child.close()
        for kind in _KINDS:
            for child in children:
                if isinstance(child, kind):
                    getattr(child, _ENDS.get(kind, "close"))()
        self._handle.end()


# In this order.
_KINDS = (Connection, Listener, Messenger, Srq, Ring, MemoryCache, Memory)
# How a session ends what is made through it.
_ENDS = {Connection: "end", Memory: "abandon"}
