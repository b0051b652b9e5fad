# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""RDMA through /dev/krdma, with libkrdma.

    with krdma.Session() as session:
        conn = session.connect(("10.77.0.2", 7471))

Programs with many peers have Hub; files are in the module krdma.files.

Times are in seconds; None waits without limit, and 0 does not wait.  An operation that fails raises
an Error, which is an OSError.  Objects are closed with close() or "with"; each has a descriptor,
fileno(), for select and its relatives.
"""

from . import entry, errors
from ._abi import (KRDMA_KEEPALIVE_NEVER, KRDMA_REQUEST_TIMEOUT_NEVER, Access, ConnKind, ConnState,
                   CqeFlags, DeviceCap, DeviceEventType, EpEvent, EventType, Feature, Flush, Limit,
                   LimitScope, LinkLayer, ListenFlags, Opcode, PortState, SqeFlags, Transport,
                   WcStatus)
from ._library import lib as _lib
from .connection import Connection, ConnectionInfo, Event, Listener, ListenerInfo
from .errors import (Aborted, Canceled, Denied, DeviceGone, Error, Exists, Left, NotConnected,
                     NotFound, QuotaExceeded, Refused, Reset, TimedOut, TooLong, WouldBlock)
from .hub import Answer, Endpoint, Hub, PeerMemory, Record
from .memory import CachedMemory, Memory, MemoryCache, Region, RemoteMemory
from .message import Messenger
from .ring import Completion, Entry, Failed, Ring, wait_any
from .session import Device, DeviceEvent, Info, LimitInfo, Port, Session
from .srq import Srq

KEEPALIVE_NEVER = KRDMA_KEEPALIVE_NEVER
REQUEST_TIMEOUT_NEVER = KRDMA_REQUEST_TIMEOUT_NEVER
__version__: str = _lib.krdma_version().decode()

__all__ = [
    "Aborted", "Access", "Answer", "CachedMemory", "Canceled", "Completion", "ConnKind",
    "ConnState", "Connection", "ConnectionInfo", "CqeFlags", "Denied", "Device", "DeviceCap",
    "DeviceEvent", "DeviceEventType", "DeviceGone", "Endpoint", "Entry", "EpEvent", "Error",
    "Event", "EventType", "Exists", "Failed", "Feature", "Flush", "Hub", "Info", "KEEPALIVE_NEVER",
    "Left", "Limit", "LimitInfo", "LimitScope", "LinkLayer", "ListenFlags", "Listener",
    "ListenerInfo", "Memory", "MemoryCache", "Messenger", "NotConnected", "NotFound", "Opcode",
    "PeerMemory", "Port", "PortState", "QuotaExceeded", "REQUEST_TIMEOUT_NEVER", "Record",
    "Refused", "Region", "RemoteMemory", "Reset", "Ring", "Session", "SqeFlags", "Srq", "TimedOut",
    "TooLong", "Transport", "WcStatus", "WouldBlock", "entry", "errors", "wait_any",
]
