# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Addresses: (host, port) for programs, a socket address for the library."""

import ctypes
import errno
import os
import socket
import struct
from typing import Any, Tuple

Address = Tuple[str, int]

_SIZE = 128


def packed(address: Address, passive: bool = False) -> "ctypes.Array[ctypes.c_char]":
    """The socket address of a host and a port; "" stands for all addresses."""
    host, port = address
    if not 0 <= port < 1 << 16:
        raise ValueError(f"a port cannot be {port}")
    flags = socket.AI_PASSIVE if passive else 0
    if passive and not host:
        host = "::"
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    if not found:
        raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL), host)
    family, where = found[0][0], found[0][4]
    if family == socket.AF_INET:
        data = struct.pack("=H", family) + struct.pack("!H", port) + socket.inet_aton(where[0])
    else:
        bare, scope = str(where[0]).partition("%")[0], where[-1]
        data = (struct.pack("=H", family) + struct.pack("!HI", port, 0) +
                socket.inet_pton(family, bare) + struct.pack("=I", scope))
    return ctypes.create_string_buffer(data, _SIZE)


def unpacked(data: Any) -> Address:
    """The host and the port of a socket address; ("", 0) if it is not known yet."""
    raw = bytes(data)
    family, = struct.unpack_from("=H", raw)
    port, = struct.unpack_from("!H", raw, 2)
    if family == socket.AF_INET:
        return socket.inet_ntoa(raw[4:8]), port
    if family != socket.AF_INET6:
        return "", 0
    host = socket.inet_ntop(family, raw[8:24])
    scope, = struct.unpack_from("=I", raw, 24)
    if scope:
        try:
            host += "%" + socket.if_indextoname(scope)
        except OSError:
            host += f"%{scope}"
    return host, port
