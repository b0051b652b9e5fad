# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
# This file is made of the headers and written by: tools/python/generate --write
"""Constants, enumerations, structures and functions, as the headers of krdma declare them."""

import enum
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64,
                    c_size_t, c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Tuple

KRDMA_ABI_VERSION = 1
KRDMA_CONFINE_MAX = 4096
KRDMA_CONNS_MAX = 65536
KRDMA_DEVICE_PATH = "/dev/krdma"
KRDMA_FILE_LAST_MAX = 255
KRDMA_FILE_NAME_MAX = 4095
KRDMA_FILE_PORT = 7476
KRDMA_FILE_SECRET_MAX = 1024
KRDMA_FILE_SECRET_MIN = 16
KRDMA_FILE_STREAMS_MAX = 16
KRDMA_FOREVER = 0xffffffffffffffff
KRDMA_HELLO_MAX = 24
KRDMA_HUB_SECRET_MAX = 1024
KRDMA_HUB_SECRET_MIN = 16
KRDMA_IOCTL_TYPE = 188
KRDMA_KEEPALIVE_NEVER = 0xffffffff
KRDMA_LIMIT_UNKNOWN = 0xffffffffffffffff
KRDMA_MR_DESC_MAGIC = 0x6d44524b
KRDMA_MR_DESC_SIZE = 32
KRDMA_MR_DESC_VERSION = 1
KRDMA_NAME_MAX = 64
KRDMA_REQUEST_TIMEOUT_NEVER = 0xffffffff
KRDMA_RING_ENTRIES_MAX = 65536
KRDMA_RING_EXTRA = 3
KRDMA_RING_SGES_MAX = 128
KRDMA_SHARE_NAME_MAX = 64
KRDMA_STRUCT_SIZE_MAX = 4096
KRDMA_WAIT_ANY_MAX = 64
KRDMA_WHY_MAX = 120


class Feature(enum.IntFlag):
    """Bits of krdma_info_args.features."""

    DEVICES = 1
    TRANSFERS = 2


class DeviceQueryFlags(enum.IntFlag):
    """Bits of krdma_device_query_args.flags."""

    NEXT = 1
    NAME = 2


class Transport(enum.IntEnum):
    """krdma_device_query_args.transport."""

    OTHER = 0
    IB = 1
    IWARP = 2


class DeviceCap(enum.IntFlag):
    """Bits of krdma_device_query_args.caps."""

    ATOMIC = 1
    IMM = 2
    SRQ = 4
    FAST_REG = 8
    ODP = 16
    READ_LOCAL = 32
    ATOMIC_WRITE = 64
    FLUSH_GLOBAL = 128
    FLUSH_PERSISTENT = 256


class PortState(enum.IntEnum):
    """krdma_port_query_args.state."""

    DOWN = 1
    INIT = 2
    ARMED = 3
    ACTIVE = 4


class LinkLayer(enum.IntEnum):
    """krdma_port_query_args.link_layer."""

    OTHER = 0
    INFINIBAND = 1
    ETHERNET = 2


class Opcode(enum.IntEnum):
    """Operation of a work request."""

    SEND = 1
    SEND_IMM = 2
    SEND_INVALIDATE = 3
    RECV = 4
    WRITE = 5
    WRITE_IMM = 6
    READ = 7
    COMPARE_SWAP = 8
    FETCH_ADD = 9
    ATOMIC_WRITE = 10
    FLUSH = 11
    EVENT = 14


class Flush(enum.IntFlag):
    """Scope of KRDMA_OP_FLUSH, with the bits of the wire."""

    GLOBAL = 1
    PERSISTENT = 2
    MEMORY = 256


class WcStatus(enum.IntEnum):
    """Completion status of a work request."""

    SUCCESS = 0
    LOC_LEN_ERR = 1
    LOC_QP_OP_ERR = 2
    LOC_PROT_ERR = 3
    WR_FLUSH_ERR = 4
    MW_BIND_ERR = 5
    BAD_RESP_ERR = 6
    LOC_ACCESS_ERR = 7
    REM_INV_REQ_ERR = 8
    REM_ACCESS_ERR = 9
    REM_OP_ERR = 10
    RETRY_EXC_ERR = 11
    RNR_RETRY_EXC_ERR = 12
    GENERAL_ERR = 13


class Access(enum.IntFlag):
    """Access rights of a memory region."""

    LOCAL_WRITE = 1
    REMOTE_READ = 2
    REMOTE_WRITE = 4
    REMOTE_ATOMIC = 8


class ConnState(enum.IntEnum):
    """State of a connection."""

    NEW = 0
    RESOLVING_ADDRESS = 1
    RESOLVING_ROUTE = 2
    RESOLVED = 3
    REQUESTED = 4
    CONNECTING = 5
    ACCEPTING = 6
    CONNECTED = 7
    DISCONNECTING = 8
    CLOSING = 9
    CLOSED = 10


class EventType(enum.IntEnum):
    """Type of a connection's event record."""

    ADDR_RESOLVED = 1
    ADDR_ERROR = 2
    ROUTE_RESOLVED = 3
    ROUTE_ERROR = 4
    ESTABLISHED = 5
    CONNECT_ERROR = 6
    UNREACHABLE = 7
    REJECTED = 8
    DISCONNECTED = 9
    LOST = 10
    DEVICE_REMOVAL = 11
    ADDR_CHANGE = 12
    CLOSED = 13


class DeviceEventType(enum.IntEnum):
    """Type of a device record."""

    ADDED = 1
    REMOVED = 2
    PORT_ACTIVE = 3
    PORT_ERROR = 4
    ADDRESS_CHANGED = 5
    FATAL = 6
    MISSED = 7


class DeviceFindFlags(enum.IntFlag):
    """Bits of krdma_device_find_args.flags."""

    LOCAL = 1
    REMOTE = 2


class MrDescRights(enum.IntFlag):
    """Bits of krdma_mr_desc.rights."""

    READ = 1
    WRITE = 2
    ATOMIC = 4


class MrRegisterFlags(enum.IntFlag):
    """Bits of krdma_mr_register_args.flags."""

    LANES = 1
    WINDOWS = 2


class MrDeregisterFlags(enum.IntFlag):
    """Bits of krdma_mr_deregister_args.flags."""

    LATER = 1


class Advice(enum.IntEnum):
    """krdma_mr_advise_args.advice."""

    READ = 1
    WRITE = 2


class ListenFlags(enum.IntFlag):
    """Bits of krdma_listen_args.flags."""

    V6ONLY = 1
    LANES = 2


class ConnCreateFlags(enum.IntFlag):
    """Bits of krdma_conn_create_args.flags."""

    LANE = 1


class ResolveFlags(enum.IntFlag):
    """Bits of krdma_conn_resolve_args.flags."""

    LOCAL = 1


class ConnCreateQpFlags(enum.IntFlag):
    """Bits of krdma_conn_create_qp_args.flags."""

    RECV_RING = 1
    SRQ = 2


class ConnParamFlags(enum.IntFlag):
    """Bits of krdma_conn_param_args.flags."""

    PLAIN = 1
    NO_RNR_RETRY = 2
    EARLY = 4


class DisconnectFlags(enum.IntFlag):
    """Bits of krdma_conn_disconnect_args.flags."""

    ABORT = 1


class ConnKind(enum.IntEnum):
    """krdma_conn_query_args.kind."""

    PLAIN = 0
    LANE = 1


class ConnsFlags(enum.IntFlag):
    """Bits of krdma_conns_args.flags."""

    LANES = 1
    SRQ = 2


class Limit(enum.IntEnum):
    """Limits that can cause EDQUOT."""

    SESSIONS = 0
    OBJECTS = 1
    MEMORY = 2
    PORTS = 3
    DEVICE = 4


class LimitScope(enum.IntEnum):
    """The account that has reached a limit."""

    NONE = 0
    USER = 1
    OWNER = 2
    GROUP = 3


class LimitQueryFlags(enum.IntFlag):
    """Bits of krdma_limit_query_args.flags."""

    REFUSED = 1


class RingHeaderFlags(enum.IntFlag):
    """Bits of krdma_ring_header.cq_flags."""

    CQ_OVERFLOW = 1
    DEAD = 2


class SqeFlags(enum.IntFlag):
    """Bits of krdma_sqe.flags."""

    UNSIGNALED = 1
    INLINE = 2
    FENCE = 4
    SOLICITED = 8


class CqeFlags(enum.IntFlag):
    """Bits of krdma_cqe.flags."""

    IMM = 1
    INVALIDATED = 2
    WRITTEN = 4


class RingCreateFlags(enum.IntFlag):
    """Bits of krdma_ring_create_args.flags."""

    POLLED = 1
    VECTOR = 2


class SrqCreateFlags(enum.IntFlag):
    """Bits of krdma_srq_create_args.flags."""

    LANES = 1


class EpEvent(enum.IntEnum):
    """What a record reports."""

    JOINED = 1
    MESSAGE = 2
    ANSWER = 3
    SENT = 4
    LEFT = 5


class FileFlags(enum.IntFlag):
    """Bits of krdma_file_options.flags."""

    CONTINUE = 1
    EXACT_MODE = 2
    NO_SYNC = 4
    TIMES = 8
    UPDATE = 16
    NEW = 32
    PARENTS = 64
    NO_FOLLOW = 128
    RECURSIVE = 256
    CHECKSUM = 512


class FileSide(enum.IntEnum):
    """Location of a failure."""

    NONE = 0
    HERE = 1
    PEER = 2
    BETWEEN = 3


class FileType(enum.IntEnum):
    """Type of an entry in a folder."""

    FILE = 1
    FOLDER = 2
    LINK = 3
    OTHER = 4
    UNREADABLE = 5


class FileNameFlags(enum.IntFlag):
    """Flags of krdma_file_name_check()."""

    HIDDEN = 1


class FileOperation(enum.IntEnum):
    """Operation that a client requested."""

    NOTHING = 0
    GET = 1
    PUT = 2
    LIST = 3
    MAKE_FOLDER = 4


class FileServerFlags(enum.IntFlag):
    """Bits of krdma_file_server_options.flags."""

    WRITABLE = 1
    NO_SYNC = 2


class FileAccess(enum.IntFlag):
    """Bits of krdma_file_rule.access."""

    READ = 1
    WRITE = 2


class krdma_info_args(Structure):
    """ioctl(KRDMA_INFO): query the module's version and features."""

    size: int
    flags: int
    abi_version: int
    max_struct_size: int
    features: int
    device_count: int
    max_devices: int
    module_version: bytes
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("abi_version", c_uint32), ("max_struct_size",
        c_uint32), ("features", c_uint64), ("device_count", c_uint32), ("max_devices", c_uint32),
        ("module_version", c_char * 32)
    ]


class krdma_device_query_args(Structure):
    """ioctl(KRDMA_DEVICE_QUERY): query an RDMA device."""

    size: int
    flags: int
    id: int
    port_count: int
    name: bytes
    node_guid: int
    caps: int
    max_mr_size: int
    transport: int
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
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("port_count", c_uint32),
        ("name", c_char * 64), ("node_guid", c_uint64), ("caps", c_uint64), ("max_mr_size",
        c_uint64), ("transport", c_uint32), ("max_qp", c_uint32), ("max_send_wr", c_uint32),
        ("max_recv_wr", c_uint32), ("max_send_sge", c_uint32), ("max_recv_sge", c_uint32),
        ("max_read_sge", c_uint32), ("max_cqe", c_uint32), ("max_srq_wr", c_uint32),
        ("max_read_depth", c_uint32), ("max_read_depth_in", c_uint32), ("max_fast_reg_pages",
        c_uint32)
    ]


class krdma_port_query_args(Structure):
    """ioctl(KRDMA_PORT_QUERY): query a port of a device."""

    size: int
    flags: int
    device_id: int
    port: int
    state: int
    link_layer: int
    max_mtu: int
    active_mtu: int
    max_msg_size: int
    gid_count: int
    speed_mbps: int
    netdev_ifindex: int
    netdev_name: bytes
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("device_id", c_uint32), ("port", c_uint32),
        ("state", c_uint32), ("link_layer", c_uint32), ("max_mtu", c_uint32), ("active_mtu",
        c_uint32), ("max_msg_size", c_uint32), ("gid_count", c_uint32), ("speed_mbps", c_uint32),
        ("netdev_ifindex", c_uint32), ("netdev_name", c_char * 64)
    ]


class krdma_device_record(Structure):
    """Record returned by read() of a session."""

    size: int
    type: int
    device_id: int
    port: int
    _fields_ = [
        ("size", c_uint32), ("type", c_uint32), ("device_id", c_uint32), ("port", c_uint32)
    ]


class krdma_device_find_args(Structure):
    """ioctl(KRDMA_DEVICE_FIND): find the device for an address."""

    size: int
    flags: int
    deadline_ns: int
    id: int
    reserved: int
    local: Any
    remote: Any
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("deadline_ns", c_uint64), ("id", c_uint32),
        ("reserved", c_uint32), ("local", c_uint8 * 128), ("remote", c_uint8 * 128)
    ]


class krdma_device_notify_args(Structure):
    """ioctl(KRDMA_DEVICE_NOTIFY): enable device records."""

    size: int
    flags: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32)
    ]


class krdma_mr_desc(Structure):
    """Memory descriptor."""

    magic: int
    version: int
    reserved: int
    addr: int
    length: int
    key: int
    rights: int
    _fields_ = [
        ("magic", c_uint32), ("version", c_uint16), ("reserved", c_uint16), ("addr", c_uint64),
        ("length", c_uint64), ("key", c_uint32), ("rights", c_uint32)
    ]


class krdma_mr_register_args(Structure):
    """ioctl(KRDMA_MR_REGISTER): register memory for a device."""

    size: int
    flags: int
    addr: int
    length: int
    device_id: int
    access: int
    id: int
    rkey: int
    remote_addr: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("addr", c_uint64), ("length", c_uint64),
        ("device_id", c_uint32), ("access", c_uint32), ("id", c_uint32), ("rkey", c_uint32),
        ("remote_addr", c_uint64)
    ]


class krdma_mr_deregister_args(Structure):
    """ioctl(KRDMA_MR_DEREGISTER): deregister a memory region."""

    size: int
    flags: int
    id: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("reserved", c_uint32)
    ]


class krdma_mr_query_args(Structure):
    """ioctl(KRDMA_MR_QUERY): query a memory region."""

    size: int
    flags: int
    id: int
    access: int
    addr: int
    length: int
    remote_addr: int
    rkey: int
    device_id: int
    part_offset: int
    part_length: int
    descriptor: krdma_mr_desc
    part_key: int
    key_count: int
    part_reach: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("access", c_uint32), ("addr",
        c_uint64), ("length", c_uint64), ("remote_addr", c_uint64), ("rkey", c_uint32),
        ("device_id", c_uint32), ("part_offset", c_uint64), ("part_length", c_uint64),
        ("descriptor", krdma_mr_desc), ("part_key", c_uint32), ("key_count", c_uint32),
        ("part_reach", c_uint64)
    ]


class krdma_mr_advise_args(Structure):
    """ioctl(KRDMA_MR_ADVISE): announce the use of a memory region."""

    size: int
    flags: int
    id: int
    advice: int
    offset: int
    length: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("advice", c_uint32), ("offset",
        c_uint64), ("length", c_uint64)
    ]


class krdma_mr_set_name_args(Structure):
    """ioctl(KRDMA_MR_SET_NAME): name a memory region for peers."""

    size: int
    flags: int
    id: int
    reserved: int
    name: bytes
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("reserved", c_uint32), ("name",
        c_char * 64)
    ]


class krdma_event_record(Structure):
    """Record returned by read() of a connection."""

    size: int
    type: int
    error: int
    reason: int
    _fields_ = [
        ("size", c_uint32), ("type", c_uint32), ("error", c_int32), ("reason", c_int32)
    ]


class krdma_listen_args(Structure):
    """ioctl(KRDMA_LISTEN): listen for connection requests."""

    size: int
    flags: int
    fd: int
    backlog: int
    address: Any
    keepalive_ms: int
    request_timeout_ms: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("fd", c_int32), ("backlog", c_uint32), ("address",
        c_uint8 * 128), ("keepalive_ms", c_uint32), ("request_timeout_ms", c_uint32)
    ]


class krdma_listener_query_args(Structure):
    """ioctl(KRDMA_LISTENER_QUERY): query the listener."""

    size: int
    flags: int
    address: Any
    listen_flags: int
    reserved: int
    waiting: int
    oldest_ms: int
    expired: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("address", c_uint8 * 128), ("listen_flags",
        c_uint32), ("reserved", c_uint32), ("waiting", c_uint32), ("oldest_ms", c_uint32),
        ("expired", c_uint64)
    ]


class krdma_listener_next_args(Structure):
    """ioctl(KRDMA_LISTENER_NEXT): get the next connection request."""

    size: int
    flags: int
    deadline_ns: int
    fd: int
    id: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("deadline_ns", c_uint64), ("fd", c_int32), ("id",
        c_uint32)
    ]


class krdma_conn_create_args(Structure):
    """ioctl(KRDMA_CONN_CREATE): create a connection."""

    size: int
    flags: int
    fd: int
    id: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("fd", c_int32), ("id", c_uint32)
    ]


class krdma_conn_resolve_args(Structure):
    """ioctl(KRDMA_CONN_RESOLVE): resolve address and route."""

    size: int
    flags: int
    timeout_ms: int
    tos: int
    ack_timeout: int
    reserved: int
    local: Any
    remote: Any
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("timeout_ms", c_uint32), ("tos", c_uint32),
        ("ack_timeout", c_uint32), ("reserved", c_uint32), ("local", c_uint8 * 128), ("remote",
        c_uint8 * 128)
    ]


class krdma_conn_create_qp_args(Structure):
    """ioctl(KRDMA_CONN_CREATE_QP): create the queue pair."""

    size: int
    flags: int
    ring_fd: int
    recv_ring_fd: int
    srq_fd: int
    send_depth: int
    recv_depth: int
    max_send_sge: int
    max_recv_sge: int
    max_inline: int
    device_id: int
    keepalive_ms: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("ring_fd", c_int32), ("recv_ring_fd", c_int32),
        ("srq_fd", c_int32), ("send_depth", c_uint32), ("recv_depth", c_uint32), ("max_send_sge",
        c_uint32), ("max_recv_sge", c_uint32), ("max_inline", c_uint32), ("device_id", c_uint32),
        ("keepalive_ms", c_uint32)
    ]


class krdma_conn_param_args(Structure):
    """ioctl(KRDMA_CONN_CONNECT), ioctl(KRDMA_CONN_ACCEPT)."""

    size: int
    flags: int
    private_data: int
    private_data_len: int
    read_depth: int
    read_depth_in: int
    retry_count: int
    rnr_retry_count: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("private_data", c_uint64), ("private_data_len",
        c_uint32), ("read_depth", c_uint32), ("read_depth_in", c_uint32), ("retry_count", c_uint32),
        ("rnr_retry_count", c_uint32), ("reserved", c_uint32)
    ]


class krdma_conn_reject_args(Structure):
    """ioctl(KRDMA_CONN_REJECT): reject a connection request."""

    size: int
    flags: int
    private_data: int
    private_data_len: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("private_data", c_uint64), ("private_data_len",
        c_uint32), ("reserved", c_uint32)
    ]


class krdma_conn_disconnect_args(Structure):
    """ioctl(KRDMA_CONN_DISCONNECT): disconnect."""

    size: int
    flags: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32)
    ]


class krdma_conn_wait_args(Structure):
    """ioctl(KRDMA_CONN_WAIT): wait for a state change to finish."""

    size: int
    flags: int
    deadline_ns: int
    state: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("deadline_ns", c_uint64), ("state", c_uint32),
        ("reserved", c_uint32)
    ]


class krdma_conn_query_args(Structure):
    """ioctl(KRDMA_CONN_QUERY): query the connection."""

    size: int
    flags: int
    private_data: int
    private_data_len: int
    state: int
    error: int
    id: int
    device_id: int
    qp_number: int
    send_depth: int
    recv_depth: int
    max_send_sge: int
    max_recv_sge: int
    max_inline: int
    read_depth: int
    read_depth_in: int
    path_mtu: int
    peer_is_krdma: int
    reserved: int
    sends_posted: int
    sends_completed: int
    receives_posted: int
    receives_completed: int
    local: Any
    remote: Any
    kind: int
    request_age_ms: int
    trunk: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("private_data", c_uint64), ("private_data_len",
        c_uint32), ("state", c_uint32), ("error", c_int32), ("id", c_uint32), ("device_id",
        c_uint32), ("qp_number", c_uint32), ("send_depth", c_uint32), ("recv_depth", c_uint32),
        ("max_send_sge", c_uint32), ("max_recv_sge", c_uint32), ("max_inline", c_uint32),
        ("read_depth", c_uint32), ("read_depth_in", c_uint32), ("path_mtu", c_uint32),
        ("peer_is_krdma", c_uint32), ("reserved", c_uint32), ("sends_posted", c_uint64),
        ("sends_completed", c_uint64), ("receives_posted", c_uint64), ("receives_completed",
        c_uint64), ("local", c_uint8 * 128), ("remote", c_uint8 * 128), ("kind", c_uint32),
        ("request_age_ms", c_uint32), ("trunk", c_uint64)
    ]


class krdma_conn_find_mr_args(Structure):
    """ioctl(KRDMA_CONN_FIND_MR): find an MR of the peer by its name."""

    size: int
    flags: int
    deadline_ns: int
    offset: int
    remote_addr: int
    length: int
    reach: int
    rkey: int
    access: int
    name: bytes
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("deadline_ns", c_uint64), ("offset", c_uint64),
        ("remote_addr", c_uint64), ("length", c_uint64), ("reach", c_uint64), ("rkey", c_uint32),
        ("access", c_uint32), ("name", c_char * 64)
    ]


class krdma_conns_entry(Structure):
    """One of many connections."""

    id: int
    error: int
    wr_id: int
    private_data: int
    private_data_len: int
    reserved: int
    remote: Any
    _fields_ = [
        ("id", c_uint32), ("error", c_int32), ("wr_id", c_uint64), ("private_data", c_uint64),
        ("private_data_len", c_uint32), ("reserved", c_uint32), ("remote", c_uint8 * 128)
    ]


class krdma_conns_args(Structure):
    """ioctl(KRDMA_CONNS_OPEN), ioctl(KRDMA_CONNS_TAKE), ioctl(KRDMA_CONNS_ACCEPT),
    ioctl(KRDMA_CONNS_CLOSE): many connections at a time."""

    size: int
    flags: int
    entries: int
    count: int
    done: int
    error: int
    fd: int
    deadline_ns: int
    send_depth: int
    recv_depth: int
    max_send_sge: int
    max_recv_sge: int
    max_inline: int
    keepalive_ms: int
    srq_fd: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("entries", c_uint64), ("count", c_uint32),
        ("done", c_uint32), ("error", c_int32), ("fd", c_int32), ("deadline_ns", c_uint64),
        ("send_depth", c_uint32), ("recv_depth", c_uint32), ("max_send_sge", c_uint32),
        ("max_recv_sge", c_uint32), ("max_inline", c_uint32), ("keepalive_ms", c_uint32), ("srq_fd",
        c_int32), ("reserved", c_uint32)
    ]


class krdma_conns_fd_args(Structure):
    """ioctl(KRDMA_CONNS_FD): give one of many connections a descriptor."""

    size: int
    flags: int
    id: int
    fd: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("fd", c_int32)
    ]


class krdma_limit_query_args(Structure):
    """ioctl(KRDMA_LIMIT_QUERY): query usage and maximum of a limit."""

    size: int
    flags: int
    limit: int
    scope: int
    session_used: int
    user_used: int
    owner_used: int
    max: int
    refused: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("limit", c_uint32), ("scope", c_uint32),
        ("session_used", c_uint64), ("user_used", c_uint64), ("owner_used", c_uint64), ("max",
        c_uint64), ("refused", c_uint64)
    ]


class krdma_ring_header(Structure):
    """Header of a ring's memory."""

    sq_entries: int
    cq_entries: int
    sqe_offset: int
    cqe_offset: int
    constant_padding: Any
    sq_head: int
    sq_head_padding: Any
    sq_tail: int
    sq_tail_padding: Any
    cq_tail: int
    cq_flags: int
    cq_tail_padding: Any
    cq_head: int
    cq_head_padding: Any
    _fields_ = [
        ("sq_entries", c_uint32), ("cq_entries", c_uint32), ("sqe_offset", c_uint32), ("cqe_offset",
        c_uint32), ("constant_padding", c_uint32 * 12), ("sq_head", c_uint32), ("sq_head_padding",
        c_uint32 * 15), ("sq_tail", c_uint32), ("sq_tail_padding", c_uint32 * 15), ("cq_tail",
        c_uint32), ("cq_flags", c_uint32), ("cq_tail_padding", c_uint32 * 14), ("cq_head",
        c_uint32), ("cq_head_padding", c_uint32 * 15)
    ]


class krdma_ring_sge(Structure):
    """SGE of a ring entry: a range of local memory."""

    addr: int
    length: int
    mr: int
    _fields_ = [
        ("addr", c_uint64), ("length", c_uint32), ("mr", c_uint32)
    ]


class krdma_sqe(Structure):
    """SQ entry: a work request."""

    opcode: int
    flags: int
    sge_count: int
    dest: int
    wr_id: int
    sge: krdma_ring_sge
    remote_addr: int
    rkey: int
    imm: int
    operand: int
    swap: int
    _fields_ = [
        ("opcode", c_uint8), ("flags", c_uint8), ("sge_count", c_uint16), ("dest", c_uint32),
        ("wr_id", c_uint64), ("sge", krdma_ring_sge), ("remote_addr", c_uint64), ("rkey", c_uint32),
        ("imm", c_uint32), ("operand", c_uint64), ("swap", c_uint64)
    ]


class krdma_cqe(Structure):
    """CQ entry: a completion."""

    wr_id: int
    dest: int
    opcode: int
    status: int
    flags: int
    length: int
    imm: int
    vendor_error: int
    reserved: int
    _fields_ = [
        ("wr_id", c_uint64), ("dest", c_uint32), ("opcode", c_uint8), ("status", c_uint8), ("flags",
        c_uint16), ("length", c_uint32), ("imm", c_uint32), ("vendor_error", c_uint32), ("reserved",
        c_uint32)
    ]


class krdma_ring_create_args(Structure):
    """ioctl(KRDMA_RING_CREATE): create a ring."""

    size: int
    flags: int
    fd: int
    device_id: int
    sq_entries: int
    cq_entries: int
    vector: int
    sqe_offset: int
    cqe_offset: int
    reserved: int
    ring_size: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("fd", c_int32), ("device_id", c_uint32),
        ("sq_entries", c_uint32), ("cq_entries", c_uint32), ("vector", c_uint32), ("sqe_offset",
        c_uint32), ("cqe_offset", c_uint32), ("reserved", c_uint32), ("ring_size", c_uint64)
    ]


class krdma_ring_enter_args(Structure):
    """ioctl(KRDMA_RING_ENTER): submit entries and wait for completions."""

    size: int
    flags: int
    to_submit: int
    min_complete: int
    deadline_ns: int
    submitted: int
    error: int
    completed: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("to_submit", c_uint32), ("min_complete",
        c_uint32), ("deadline_ns", c_uint64), ("submitted", c_uint32), ("error", c_int32),
        ("completed", c_uint32), ("reserved", c_uint32)
    ]


class krdma_ring_post_args(Structure):
    """ioctl(KRDMA_RING_POST), ioctl(KRDMA_SRQ_POST)."""

    size: int
    flags: int
    entries: int
    count: int
    accepted: int
    error: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("entries", c_uint64), ("count", c_uint32),
        ("accepted", c_uint32), ("error", c_int32), ("reserved", c_uint32)
    ]


class krdma_ring_reap_args(Structure):
    """ioctl(KRDMA_RING_REAP): take completions."""

    size: int
    flags: int
    entries: int
    count: int
    min_complete: int
    deadline_ns: int
    reaped: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("entries", c_uint64), ("count", c_uint32),
        ("min_complete", c_uint32), ("deadline_ns", c_uint64), ("reaped", c_uint32), ("reserved",
        c_uint32)
    ]


class krdma_ring_confine_args(Structure):
    """ioctl(KRDMA_RING_CONFINE): restrict the MRs that entries may use."""

    size: int
    flags: int
    mr: int
    count: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("mr", c_uint64), ("count", c_uint32), ("reserved",
        c_uint32)
    ]


class krdma_ring_query_args(Structure):
    """ioctl(KRDMA_RING_QUERY): query the ring."""

    size: int
    flags: int
    device_id: int
    sq_entries: int
    cq_entries: int
    reserved: int
    submitted: int
    completed: int
    ring_size: int
    sqe_offset: int
    cqe_offset: int
    ring_flags: int
    vector: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("device_id", c_uint32), ("sq_entries", c_uint32),
        ("cq_entries", c_uint32), ("reserved", c_uint32), ("submitted", c_uint64), ("completed",
        c_uint64), ("ring_size", c_uint64), ("sqe_offset", c_uint32), ("cqe_offset", c_uint32),
        ("ring_flags", c_uint32), ("vector", c_uint32)
    ]


class krdma_srq_create_args(Structure):
    """ioctl(KRDMA_SRQ_CREATE): create a shared receive queue."""

    size: int
    flags: int
    fd: int
    id: int
    ring_fd: int
    device_id: int
    depth: int
    max_sge: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("fd", c_int32), ("id", c_uint32), ("ring_fd",
        c_int32), ("device_id", c_uint32), ("depth", c_uint32), ("max_sge", c_uint32)
    ]


class krdma_srq_query_args(Structure):
    """ioctl(KRDMA_SRQ_QUERY): query the shared receive queue."""

    size: int
    flags: int
    id: int
    device_id: int
    depth: int
    max_sge: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("id", c_uint32), ("device_id", c_uint32),
        ("depth", c_uint32), ("max_sge", c_uint32)
    ]


class krdma_remote_mr(Structure):
    """Memory of a peer."""

    addr: int
    length: int
    key: int
    access: int
    _fields_ = [
        ("addr", c_uint64), ("length", c_uint64), ("key", c_uint32), ("access", c_uint32)
    ]


class krdma_messenger_options(Structure):
    """Options of a messenger; 0 or NULL: the default."""

    size: int
    polled: int
    piece_size: int
    pieces: int
    progress: Any
    context: Any
    _fields_ = [
        ("size", c_uint32), ("polled", c_uint32), ("piece_size", c_uint32), ("pieces", c_uint32),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)), ("context", c_void_p)
    ]


class krdma_hub_options(Structure):
    """Options of a hub; 0 or NULL: the default."""

    size: int
    peers: int
    per_address: int
    depth: int
    eager: int
    idle_ms: int
    longest: int
    budget: int
    allow: Any
    admit: Any
    context: Any
    secret: Any
    secret_length: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("peers", c_uint32), ("per_address", c_uint32), ("depth", c_uint32),
        ("eager", c_uint32), ("idle_ms", c_uint32), ("longest", c_uint64), ("budget", c_uint64),
        ("allow", c_void_p), ("admit", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_size_t)),
        ("context", c_void_p), ("secret", c_void_p), ("secret_length", c_uint32), ("reserved",
        c_uint32)
    ]


class krdma_ep_record(Structure):
    """An event of an endpoint."""

    size: int
    event: int
    ep: Any
    error: int
    reserved: int
    tag: int
    user_data: int
    call: int
    data: Any
    length: int
    lent: Any
    _fields_ = [
        ("size", c_uint32), ("event", c_uint32), ("ep", c_void_p), ("error", c_int32), ("reserved",
        c_uint32), ("tag", c_uint64), ("user_data", c_uint64), ("call", c_uint64), ("data",
        c_void_p), ("length", c_size_t), ("lent", c_void_p)
    ]


class krdma_file_progress(Structure):
    """Progress of a transfer."""

    done: int
    length: int
    resumed_from: int
    _fields_ = [
        ("done", c_uint64), ("length", c_uint64), ("resumed_from", c_uint64)
    ]


class krdma_file_options(Structure):
    """Options of a transfer."""

    size: int
    flags: int
    patience_ms: int
    buffer_size: int
    buffer_count: int
    streams: int
    progress: Any
    context: Any
    secret: Any
    secret_length: int
    reserved2: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("patience_ms", c_uint32), ("buffer_size",
        c_uint32), ("buffer_count", c_uint32), ("streams", c_uint32), ("progress", CFUNCTYPE(c_int,
        c_void_p, POINTER(krdma_file_progress))), ("context", c_void_p), ("secret", c_void_p),
        ("secret_length", c_uint32), ("reserved2", c_uint32)
    ]


class krdma_file_result(Structure):
    """Result of a transfer."""

    size: int
    side: int
    crc32c: int
    mode: int
    length: int
    resumed_from: int
    transferred: int
    nanoseconds: int
    mtime_s: int
    mtime_ns: int
    skipped: int
    last: bytes
    streams: int
    reserved: int
    _fields_ = [
        ("size", c_uint32), ("side", c_uint32), ("crc32c", c_uint32), ("mode", c_uint32), ("length",
        c_uint64), ("resumed_from", c_uint64), ("transferred", c_uint64), ("nanoseconds", c_uint64),
        ("mtime_s", c_int64), ("mtime_ns", c_uint32), ("skipped", c_uint32), ("last", c_char * 256),
        ("streams", c_uint32), ("reserved", c_uint32)
    ]


class krdma_file_entry(Structure):
    """An entry of a folder at the server."""

    name: Any
    type: int
    mode: int
    length: int
    mtime_s: int
    mtime_ns: int
    error: int
    _fields_ = [
        ("name", c_void_p), ("type", c_uint32), ("mode", c_uint32), ("length", c_uint64),
        ("mtime_s", c_int64), ("mtime_ns", c_uint32), ("error", c_int32)
    ]


class krdma_file_report(Structure):
    """A server's report about one request of a client."""

    operation: int
    error: int
    side: int
    crc32c: int
    length: int
    resumed_from: int
    transferred: int
    nanoseconds: int
    skipped: int
    streams: int
    peer: Any
    name: Any
    _fields_ = [
        ("operation", c_uint32), ("error", c_int32), ("side", c_uint32), ("crc32c", c_uint32),
        ("length", c_uint64), ("resumed_from", c_uint64), ("transferred", c_uint64), ("nanoseconds",
        c_uint64), ("skipped", c_uint32), ("streams", c_uint32), ("peer", c_uint8 * 128), ("name",
        c_void_p)
    ]


class krdma_file_rule(Structure):
    """Access rule for a folder and its subfolders."""

    path: Any
    access: int
    reserved: int
    _fields_ = [
        ("path", c_void_p), ("access", c_uint32), ("reserved", c_uint32)
    ]


class krdma_file_server_options(Structure):
    """Options of a server."""

    size: int
    flags: int
    max_clients: int
    patience_ms: int
    buffer_size: int
    buffer_count: int
    report: Any
    context: Any
    request_ms: int
    progress_ms: int
    max_per_peer: int
    secret_length: int
    secret: Any
    allow: Any
    rules: Any
    rule_count: int
    max_conns: int
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("max_clients", c_uint32), ("patience_ms",
        c_uint32), ("buffer_size", c_uint32), ("buffer_count", c_uint32), ("report", CFUNCTYPE(None,
        c_void_p, POINTER(krdma_file_report))), ("context", c_void_p), ("request_ms", c_uint32),
        ("progress_ms", c_uint32), ("max_per_peer", c_uint32), ("secret_length", c_uint32),
        ("secret", c_void_p), ("allow", c_void_p), ("rules", c_void_p), ("rule_count", c_uint32),
        ("max_conns", c_uint32)
    ]


# Bytes of each structure.
SIZES: Dict[type, int] = {
    krdma_info_args: 64,
    krdma_device_query_args: 152,
    krdma_port_query_args: 112,
    krdma_device_record: 16,
    krdma_device_find_args: 280,
    krdma_device_notify_args: 8,
    krdma_mr_desc: 32,
    krdma_mr_register_args: 48,
    krdma_mr_deregister_args: 16,
    krdma_mr_query_args: 112,
    krdma_mr_advise_args: 32,
    krdma_mr_set_name_args: 80,
    krdma_event_record: 16,
    krdma_listen_args: 152,
    krdma_listener_query_args: 160,
    krdma_listener_next_args: 24,
    krdma_conn_create_args: 16,
    krdma_conn_resolve_args: 280,
    krdma_conn_create_qp_args: 48,
    krdma_conn_param_args: 40,
    krdma_conn_reject_args: 24,
    krdma_conn_disconnect_args: 8,
    krdma_conn_wait_args: 24,
    krdma_conn_query_args: 384,
    krdma_conn_find_mr_args: 120,
    krdma_conns_entry: 160,
    krdma_conns_args: 72,
    krdma_conns_fd_args: 16,
    krdma_limit_query_args: 56,
    krdma_ring_header: 320,
    krdma_ring_sge: 16,
    krdma_sqe: 64,
    krdma_cqe: 32,
    krdma_ring_create_args: 48,
    krdma_ring_enter_args: 40,
    krdma_ring_post_args: 32,
    krdma_ring_reap_args: 40,
    krdma_ring_confine_args: 24,
    krdma_ring_query_args: 64,
    krdma_srq_create_args: 32,
    krdma_srq_query_args: 24,
    krdma_remote_mr: 24,
    krdma_messenger_options: 32,
    krdma_hub_options: 80,
    krdma_ep_record: 72,
    krdma_file_progress: 24,
    krdma_file_options: 56,
    krdma_file_result: 328,
    krdma_file_entry: 40,
    krdma_file_report: 192,
    krdma_file_rule: 16,
    krdma_file_server_options: 88,
}

# The functions of libkrdma: the type of the result, and those of the arguments.
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "krdma_deadline": (c_uint64, [c_uint]),
    "krdma_open": (c_int, [POINTER(c_void_p)]),
    "krdma_open_fd": (c_int, [c_int, POINTER(c_void_p)]),
    "krdma_close": (c_int, [c_void_p]),
    "krdma_fd": (c_int, [c_void_p]),
    "krdma_info_query": (c_int, [c_void_p, POINTER(krdma_info_args), c_size_t]),
    "krdma_limit_query": (c_int, [c_void_p, c_uint32, POINTER(krdma_limit_query_args), c_size_t]),
    "krdma_limit_refused": (c_int, [c_void_p, POINTER(krdma_limit_query_args), c_size_t]),
    "krdma_device_query": (
        c_int, [c_void_p, c_uint32, POINTER(krdma_device_query_args), c_size_t]),
    "krdma_device_find": (c_int, [c_void_p, c_char_p, POINTER(krdma_device_query_args), c_size_t]),
    "krdma_device_next": (c_int, [c_void_p, c_uint32, POINTER(krdma_device_query_args), c_size_t]),
    "krdma_port_query": (
        c_int, [c_void_p, c_uint32, c_uint32, POINTER(krdma_port_query_args), c_size_t]),
    "krdma_device_by_address": (
        c_int, [c_void_p, c_void_p, c_void_p, c_uint64, POINTER(c_uint32)]),
    "krdma_device_notify": (c_int, [c_void_p]),
    "krdma_device_next_event": (
        c_int, [c_void_p, c_uint64, POINTER(krdma_device_record), c_size_t]),
    "krdma_listen": (c_int, [c_void_p, c_void_p, c_uint32, c_uint32, POINTER(c_void_p)]),
    "krdma_listen_options": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_listen_args), POINTER(c_void_p)]),
    "krdma_listener_query": (c_int, [c_void_p, POINTER(krdma_listener_query_args), c_size_t]),
    "krdma_listener_address": (c_int, [c_void_p, c_void_p]),
    "krdma_listener_flags": (c_int, [c_void_p, POINTER(c_uint32)]),
    "krdma_listener_next": (c_int, [c_void_p, c_uint64, POINTER(c_void_p)]),
    "krdma_conn_create": (c_int, [c_void_p, POINTER(c_void_p)]),
    "krdma_conn_create_lane": (c_int, [c_void_p, POINTER(c_void_p)]),
    "krdma_conns_open": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_conns_entry), c_uint32, POINTER(krdma_conns_args),
        c_uint64, POINTER(c_uint32)]),
    "krdma_conns_take": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_conns_entry), c_uint32, c_uint64,
        POINTER(c_uint32)]),
    "krdma_conns_accept": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_conns_entry), c_uint32, POINTER(krdma_conns_args),
        POINTER(c_uint32)]),
    "krdma_conns_close": (
        c_int, [c_void_p, POINTER(krdma_conns_entry), c_uint32, POINTER(c_uint32)]),
    "krdma_conns_fd": (c_int, [c_void_p, c_uint32, POINTER(c_void_p)]),
    "krdma_conn_trunk": (c_int, [c_void_p, POINTER(c_uint64)]),
    "krdma_conn_resolve": (c_int, [c_void_p, c_void_p, POINTER(krdma_conn_resolve_args)]),
    "krdma_conn_create_qp": (
        c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(krdma_conn_create_qp_args)]),
    "krdma_conn_connect": (c_int, [c_void_p, POINTER(krdma_conn_param_args), c_void_p, c_size_t]),
    "krdma_conn_accept": (c_int, [c_void_p, POINTER(krdma_conn_param_args), c_void_p, c_size_t]),
    "krdma_conn_reject": (c_int, [c_void_p, c_void_p, c_size_t]),
    "krdma_conn_disconnect": (c_int, [c_void_p, c_uint32]),
    "krdma_conn_wait": (c_int, [c_void_p, c_uint64, POINTER(c_uint32)]),
    "krdma_conn_await_closed": (c_int, [c_void_p, c_uint64]),
    "krdma_conn_query": (c_int, [c_void_p, POINTER(krdma_conn_query_args), c_size_t]),
    "krdma_conn_private_data": (c_int, [c_void_p, c_void_p, POINTER(c_size_t)]),
    "krdma_conn_next_event": (c_int, [c_void_p, c_uint64, POINTER(krdma_event_record), c_size_t]),
    "krdma_conn_id": (c_uint32, [c_void_p]),
    "krdma_ring_create": (c_int, [c_void_p, POINTER(krdma_ring_create_args), POINTER(c_void_p)]),
    "krdma_ring_post": (c_int, [c_void_p, POINTER(krdma_sqe), c_size_t, POINTER(c_size_t)]),
    "krdma_ring_poll": (c_int, [c_void_p, POINTER(krdma_cqe), c_size_t, POINTER(c_size_t)]),
    "krdma_ring_wait": (
        c_int, [c_void_p, POINTER(krdma_cqe), c_size_t, c_size_t, c_uint64, POINTER(c_size_t)]),
    "krdma_ring_wait_any": (c_int, [POINTER(c_void_p), c_size_t, c_uint64, POINTER(c_size_t)]),
    "krdma_ring_enter": (
        c_int, [c_void_p, POINTER(krdma_sqe), c_size_t, POINTER(c_size_t), POINTER(krdma_cqe),
        c_size_t, c_size_t, c_uint64, POINTER(c_size_t)]),
    "krdma_ring_query": (c_int, [c_void_p, POINTER(krdma_ring_query_args), c_size_t]),
    "krdma_ring_confine": (c_int, [c_void_p, POINTER(c_uint32), c_size_t]),
    "krdma_srq_create": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_srq_create_args), POINTER(c_void_p)]),
    "krdma_srq_post": (c_int, [c_void_p, POINTER(krdma_sqe), c_size_t, POINTER(c_size_t)]),
    "krdma_srq_query": (c_int, [c_void_p, POINTER(krdma_srq_query_args), c_size_t]),
    "krdma_srq_id": (c_uint32, [c_void_p]),
    "krdma_listener_fd": (c_int, [c_void_p]),
    "krdma_listener_open_fd": (c_int, [c_int, POINTER(c_void_p)]),
    "krdma_listener_close": (c_int, [c_void_p]),
    "krdma_conn_fd": (c_int, [c_void_p]),
    "krdma_conn_open_fd": (c_int, [c_int, POINTER(c_void_p)]),
    "krdma_conn_close": (c_int, [c_void_p]),
    "krdma_ring_fd": (c_int, [c_void_p]),
    "krdma_ring_open_fd": (c_int, [c_int, POINTER(c_void_p)]),
    "krdma_ring_close": (c_int, [c_void_p]),
    "krdma_srq_fd": (c_int, [c_void_p]),
    "krdma_srq_open_fd": (c_int, [c_int, POINTER(c_void_p)]),
    "krdma_srq_close": (c_int, [c_void_p]),
    "krdma_mr_register": (
        c_int, [c_void_p, c_uint32, c_void_p, c_size_t, c_uint32, POINTER(c_void_p)]),
    "krdma_mr_register_for_lanes": (
        c_int, [c_void_p, c_uint32, c_void_p, c_size_t, c_uint32, c_uint32, POINTER(c_void_p)]),
    "krdma_mr_alloc": (c_int, [c_void_p, c_uint32, c_size_t, c_uint32, POINTER(c_void_p)]),
    "krdma_mr_alloc_for_lanes": (
        c_int, [c_void_p, c_uint32, c_size_t, c_uint32, c_uint32, POINTER(c_void_p)]),
    "krdma_mr_deregister": (c_int, [c_void_p, c_uint32]),
    "krdma_mr_data": (c_void_p, [c_void_p]),
    "krdma_mr_length": (c_size_t, [c_void_p]),
    "krdma_mr_id": (c_uint32, [c_void_p]),
    "krdma_mr_rkey": (c_uint32, [c_void_p]),
    "krdma_mr_rkey_at": (c_int, [c_void_p, c_size_t, POINTER(c_uint32), POINTER(c_size_t)]),
    "krdma_mr_advise": (c_int, [c_void_p, c_uint32, c_size_t, c_size_t]),
    "krdma_mr_describe": (c_int, [c_void_p, c_size_t, c_size_t, c_void_p]),
    "krdma_mr_set_name": (c_int, [c_void_p, c_char_p]),
    "krdma_remote_mr_from_desc": (c_int, [c_void_p, c_size_t, POINTER(krdma_remote_mr)]),
    "krdma_conn_find_mr": (
        c_int, [c_void_p, c_char_p, c_uint64, c_uint64, POINTER(krdma_remote_mr),
        POINTER(c_uint64)]),
    "krdma_mr_cache_create": (c_int, [c_void_p, c_uint32, c_uint32, c_size_t, POINTER(c_void_p)]),
    "krdma_mr_cache_get": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    "krdma_mr_cache_put": (None, [c_void_p, c_void_p]),
    "krdma_mr_cache_forget": (None, [c_void_p, c_void_p, c_size_t]),
    "krdma_mr_cache_destroy": (None, [c_void_p]),
    "krdma_transport_name": (c_char_p, [c_uint32]),
    "krdma_port_state_name": (c_char_p, [c_uint32]),
    "krdma_link_layer_name": (c_char_p, [c_uint32]),
    "krdma_device_cap_name": (c_char_p, [c_uint64]),
    "krdma_feature_name": (c_char_p, [c_uint64]),
    "krdma_limit_name": (c_char_p, [c_uint32]),
    "krdma_limit_scope_name": (c_char_p, [c_uint32]),
    "krdma_access_name": (c_char_p, [c_uint32]),
    "krdma_opcode_name": (c_char_p, [c_uint32]),
    "krdma_wc_status_name": (c_char_p, [c_uint32]),
    "krdma_conn_state_name": (c_char_p, [c_uint32]),
    "krdma_event_name": (c_char_p, [c_uint32]),
    "krdma_device_event_name": (c_char_p, [c_uint32]),
    "krdma_error_name": (c_char_p, [c_int]),
    "krdma_version": (c_char_p, []),
    "krdma_messenger_create": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_messenger_options), POINTER(c_void_p)]),
    "krdma_messenger_destroy": (None, [c_void_p]),
    "krdma_message_send": (c_int, [c_void_p, c_void_p, c_size_t, c_uint64]),
    "krdma_message_send_mr": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, c_uint64]),
    "krdma_message_next": (c_int, [c_void_p, POINTER(c_size_t), c_uint64]),
    "krdma_message_recv": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t), c_uint64]),
    "krdma_message_recv_mr": (
        c_int, [c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_size_t), c_uint64]),
    "krdma_hub_open": (c_int, [c_char_p, POINTER(krdma_hub_options), POINTER(c_void_p)]),
    "krdma_hub_close": (c_int, [c_void_p]),
    "krdma_hub_fd": (c_int, [c_void_p]),
    "krdma_hub_address": (c_int, [c_void_p, c_void_p]),
    "krdma_hub_next": (c_int, [c_void_p, c_uint64, POINTER(krdma_ep_record), c_size_t]),
    "krdma_ep_done": (None, [POINTER(krdma_ep_record)]),
    "krdma_ep_connect": (
        c_int, [c_void_p, c_char_p, c_void_p, c_size_t, c_uint64, POINTER(c_void_p)]),
    "krdma_hub_why": (c_char_p, [c_void_p]),
    "krdma_ep_close": (None, [c_void_p, c_char_p]),
    "krdma_ep_set": (None, [c_void_p, c_void_p]),
    "krdma_ep_get": (c_void_p, [c_void_p]),
    "krdma_ep_why": (c_char_p, [c_void_p]),
    "krdma_ep_address": (c_int, [c_void_p, c_void_p]),
    "krdma_ep_send": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, c_uint64]),
    "krdma_ep_send_lent": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, c_uint64, c_uint64]),
    "krdma_ep_call": (
        c_int, [c_void_p, c_uint64, c_void_p, c_size_t, c_uint64, POINTER(krdma_ep_record),
        c_size_t]),
    "krdma_ep_call_begin": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, c_uint64, c_uint64]),
    "krdma_ep_answer": (c_int, [POINTER(krdma_ep_record), c_uint64, c_void_p, c_size_t]),
    "krdma_hub_share": (
        c_int, [c_void_p, c_char_p, c_void_p, c_size_t, c_uint32, CFUNCTYPE(c_int, c_void_p,
        c_void_p), c_void_p]),
    "krdma_hub_unshare": (c_int, [c_void_p, c_char_p, c_uint64]),
    "krdma_ep_memory_open": (c_int, [c_void_p, c_char_p, c_uint32, c_uint64, POINTER(c_void_p)]),
    "krdma_ep_memory_close": (None, [c_void_p]),
    "krdma_ep_memory_length": (c_uint64, [c_void_p]),
    "krdma_ep_memory_read": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, c_uint64]),
    "krdma_ep_memory_write": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t, c_uint64]),
}

# Those of libkrdma-files.
FILE_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "krdma_file_get": (
        c_int, [c_void_p, c_void_p, c_char_p, c_char_p, POINTER(krdma_file_options),
        POINTER(krdma_file_result), c_size_t]),
    "krdma_file_get_fd": (
        c_int, [c_void_p, c_void_p, c_char_p, c_int, POINTER(krdma_file_options),
        POINTER(krdma_file_result), c_size_t]),
    "krdma_file_put": (
        c_int, [c_void_p, c_void_p, c_char_p, c_char_p, POINTER(krdma_file_options),
        POINTER(krdma_file_result), c_size_t]),
    "krdma_file_client_create": (
        c_int, [c_void_p, c_void_p, POINTER(krdma_file_options), POINTER(c_void_p)]),
    "krdma_file_client_destroy": (None, [c_void_p]),
    "krdma_file_client_get": (
        c_int, [c_void_p, c_char_p, c_int, c_char_p, c_uint32, POINTER(krdma_file_result),
        c_size_t]),
    "krdma_file_client_get_fd": (
        c_int, [c_void_p, c_char_p, c_int, POINTER(krdma_file_result), c_size_t]),
    "krdma_file_client_put": (
        c_int, [c_void_p, c_int, c_char_p, c_char_p, c_uint32, POINTER(krdma_file_result),
        c_size_t]),
    "krdma_file_client_make_folder": (
        c_int, [c_void_p, c_char_p, c_void_p, c_uint32, POINTER(krdma_file_result), c_size_t]),
    "krdma_file_client_list": (
        c_int, [c_void_p, c_char_p, c_uint32, POINTER(POINTER(krdma_file_entry)), POINTER(c_size_t),
        POINTER(krdma_file_result), c_size_t]),
    "krdma_file_list_free": (None, [POINTER(krdma_file_entry)]),
    "krdma_file_name_check": (c_int, [c_char_p, c_uint32]),
    "krdma_file_server_create": (
        c_int, [c_void_p, c_void_p, c_char_p, POINTER(krdma_file_server_options),
        POINTER(c_void_p)]),
    "krdma_file_server_address": (c_int, [c_void_p, c_void_p]),
    "krdma_file_server_run": (c_int, [c_void_p]),
    "krdma_file_server_stop": (c_int, [c_void_p]),
    "krdma_file_server_destroy": (None, [c_void_p]),
}
