# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Errors: what failed, why, and what can be done about it.

Each is an Error, and also the exception that Python has for its errno: ConnectionRefusedError,
TimeoutError, PermissionError and so on.
"""

import errno
import os
from typing import Any, Dict, Optional, Tuple, Type


class Error(OSError):
    """An operation of krdma has failed."""

    def __init__(self, number: int, what: str, hint: str = "") -> None:
        super().__init__(number, os.strerror(number))
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        text = f"cannot {self.what}: {self.strerror}"
        return f"{text}; {self.hint}" if self.hint else text

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.errno, self.what, self.hint)


class NotFound(Error, FileNotFoundError):
    """There is no such object."""


class Exists(Error, FileExistsError):
    """There is such an object already."""


class Denied(Error, PermissionError):
    """The caller has no right to it."""


class TimedOut(Error, TimeoutError):
    """The time is over; or the peer does not answer, and the connection has ended."""


class WouldBlock(Error, BlockingIOError):
    """Nothing is there yet, and the call was not to wait."""


class Refused(Error, ConnectionRefusedError):
    """The peer has rejected the connection, or nothing listens there."""


class Reset(Error, ConnectionResetError):
    """The peer has ended the connection, or is gone."""


class Aborted(Error, ConnectionAbortedError):
    """This side has aborted the connection."""


class Left(Error, BrokenPipeError):
    """The peer has ended the connection, and has said so."""


class NotConnected(Error):
    """The connection is not connected, or no longer."""


class DeviceGone(Error):
    """The RDMA device was removed."""


class QuotaExceeded(Error):
    """A limit of the module, or of the control group, refuses it."""


class TooLong(Error):
    """A message is longer than what is there to receive it."""


class Canceled(Error):
    """The receiver of a message has given it up."""


_CLASSES: Dict[int, Type[Error]] = {
    errno.ENOENT: NotFound,
    errno.EEXIST: Exists,
    errno.EACCES: Denied,
    errno.EPERM: Denied,
    errno.ETIMEDOUT: TimedOut,
    errno.EAGAIN: WouldBlock,
    errno.EALREADY: WouldBlock,
    errno.EINPROGRESS: WouldBlock,
    errno.ECONNREFUSED: Refused,
    errno.ECONNRESET: Reset,
    errno.ECONNABORTED: Aborted,
    errno.EPIPE: Left,
    errno.ENOTCONN: NotConnected,
    errno.ENODEV: DeviceGone,
    errno.EDQUOT: QuotaExceeded,
    errno.EMSGSIZE: TooLong,
    errno.ECANCELED: Canceled,
}

_HINTS: Dict[int, str] = {
    errno.ECONNREFUSED: "see that a program listens there, and that it takes this kind of client",
    errno.EHOSTUNREACH: "no RDMA device has a route there; 'krdma doctor ADDRESS' says why",
    errno.ENODEV: "'krdma dev' lists the devices present",
    errno.EDQUOT: "'krdma info' shows what is used; the module's parameters set the limits",
    errno.ENOTCONN: "connect it first, or make a new connection",
}


def error_for(number: int, what: str, hint: Optional[str] = None) -> Error:
    """The exception for a negative errno of the library."""
    number = abs(number)
    if hint is None:
        hint = _HINTS.get(number, "")
    return _CLASSES.get(number, Error)(number, what, hint)
