# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""libkrdma, and the handles of its objects."""

import ctypes
import errno
import os
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from . import _abi
from .errors import error_for

SONAME = "libkrdma.so.0"

_Filled = TypeVar("_Filled")


def load(name: str, variable: str, functions: Dict[str, Tuple[Any, List[Any]]]) -> ctypes.CDLL:
    """A library, with the types of its functions."""
    name = os.environ.get(variable) or name
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"cannot load {name}: {error}; install libkrdma with 'make "
                          f"install-tools', or set {variable} to the file") from None
    for function, (result, arguments) in functions.items():
        try:
            found = getattr(library, function)
        except AttributeError:
            raise ImportError(f"{name} is older than this package: it has no {function}(); "
                              "install the libkrdma of the same version") from None
        found.restype = result
        found.argtypes = arguments
    return library


lib = load(SONAME, "KRDMA_LIBRARY", _abi.FUNCTIONS)


def deadline_of(timeout: Optional[float]) -> int:
    """The deadline of the library for a timeout in seconds; None: without limit."""
    if timeout is None:
        return _abi.KRDMA_FOREVER
    if timeout < 0:
        raise ValueError(f"a timeout cannot be negative: {timeout}")
    if timeout == 0:
        return 0
    return min(time.monotonic_ns() + int(timeout * 1e9), _abi.KRDMA_FOREVER - 1)


def text(words: str, what: str) -> bytes:
    """Words for the library, which takes them up to the first zero."""
    if "\0" in words:
        raise ValueError(f"{what} has no zeroes")
    return words.encode()


def uint(value: Any, bits: int, what: str) -> int:
    """A number for an argument of the library; ctypes would cut one that has more bits."""
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{what} cannot be {value}")
    return int(value)


def fill(structure: _Filled, **values: Any) -> _Filled:
    """Sets fields of a structure; ctypes would cut a number that does not fit."""
    for name, value in values.items():
        setattr(structure, name, value)
        # A pointer to nothing reads as None.
        if hasattr(value, "__index__") and (getattr(structure, name) or 0) != value:
            raise ValueError(f"{name} cannot be {value}")
    return structure


def options_of(kind: Any, **values: Any) -> Any:
    """A structure of options, with its size."""
    return fill(kind(size=ctypes.sizeof(kind)), **values)


def check(err: int, what: str, hint: Optional[str] = None) -> int:
    """Raises the exception for a negative errno."""
    if err < 0:
        raise error_for(err, what, hint)
    return err


def retried(what: str, function: Callable[..., int], *arguments: Any) -> int:
    """Calls a function that waits; after a signal, which Python handles in between, once more."""
    while True:
        err = function(*arguments)
        if err != -errno.EINTR:
            return check(err, what)


# What has to know that it is in a child of fork().
_inheritors: "weakref.WeakSet[Any]" = weakref.WeakSet()


def inherits(one: Any) -> None:
    """Calls its method _forked() in each child of fork()."""
    _inheritors.add(one)


def _forked() -> None:
    for one in list(_inheritors):
        one._forked()


os.register_at_fork(after_in_child=_forked)


class Handle:
    """An object of the library, which ends once, and never while a thread is in a call with it.

    A call is a "with" block.  If another thread ends the object in the meantime, it ends with the
    last call.  The handle holds its parent, which does not end before it; it is made in the call
    with the parent that has made the object.

    A child of fork() has copies of handles, and none of the other threads: no call of theirs ends
    there, and no lock that they have taken.
    """

    __slots__ = ("what", "_pointer", "_end", "_parent", "_lock", "_calls", "_children", "_doomed",
                 "_pid", "__weakref__")

    def __init__(self, what: str, pointer: ctypes.c_void_p, end: Callable[[int], Any],
                 parent: "Optional[Handle]" = None) -> None:
        self.what = what
        self._pointer: Optional[int] = pointer.value
        self._end = end
        self._parent = parent
        # Garbage collection may end a child while its parent is locked.
        self._lock = threading.RLock()
        # Of each thread that is in one.
        self._calls: Dict[int, int] = {}
        self._children = 0
        self._doomed = False
        self._pid = os.getpid()
        if parent:
            try:
                parent._enter_child()
            except ValueError:
                # Another thread has closed it.  It is there until the caller's call with it ends.
                end(pointer.value)      # type: ignore[arg-type]
                raise
        inherits(self)

    def _forked(self) -> None:
        thread = threading.get_ident()
        self._lock = threading.RLock()
        self._calls = {one: calls for one, calls in self._calls.items() if one == thread}

    @property
    def inherited(self) -> bool:
        """Whether it is a copy, in a child of fork()."""
        return self._pid != os.getpid()

    def _check(self) -> int:
        if self._pointer is None or self._doomed:
            raise ValueError(f"the {self.what} is closed")
        return self._pointer

    def __enter__(self) -> int:
        thread = threading.get_ident()
        with self._lock:
            pointer = self._check()
            self._calls[thread] = self._calls.get(thread, 0) + 1
        return pointer

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._lock:
            self._calls[thread] -= 1
            if not self._calls[thread]:
                del self._calls[thread]
            pointer = self._take_if_doomed()
        self._finish(pointer)

    def _enter_child(self) -> None:
        with self._lock:
            self._check()
            self._children += 1

    def _exit_child(self) -> None:
        with self._lock:
            self._children -= 1
            pointer = self._take_if_doomed()
        self._finish(pointer)

    @property
    def _used(self) -> bool:
        return bool(self._calls or self._children)

    def _take_if_doomed(self) -> Optional[int]:
        return self._take() if self._doomed and not self._used else None

    def _take(self) -> Optional[int]:
        pointer, self._pointer = self._pointer, None
        return pointer

    def _finish(self, pointer: Optional[int]) -> None:
        if pointer is None:
            return
        self._end(pointer)
        self._leave()

    def _leave(self) -> None:
        """Its parent may end."""
        parent, self._parent = self._parent, None
        if parent:
            parent._exit_child()

    @property
    def closed(self) -> bool:
        """Whether it has ended, or ends with the calls that use it."""
        return self._pointer is None or self._doomed

    @property
    def busy(self) -> bool:
        """Whether a thread is in a call with it."""
        return bool(self._calls) and not self.closed

    def end(self) -> None:
        """Ends it; a second time does nothing."""
        with self._lock:
            self._doomed = True
            pointer = self._take_if_doomed()
        self._finish(pointer)

    def end_if(self, attempt: Callable[[int], int]) -> int:
        """Ends it with a function that may refuse: returns its error, and nothing has changed."""
        with self._lock:
            if self._pointer is None or self._doomed:
                return 0
            if self._used:
                return -errno.EBUSY
            err = attempt(self._pointer)
            if err:
                return err
            self._take()
        self._leave()
        return 0

    def ended(self) -> None:
        """The library has ended it."""
        with self._lock:
            self._doomed = True
            pointer = self._take()
        if pointer is not None:
            self._leave()


class Object:
    """What all objects have: a handle, close(), and "with"."""

    _handle: Handle

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._handle.closed

    def close(self) -> None:
        """Closes it.  A second time does nothing."""
        self._handle.end()

    def __enter__(self) -> Any:
        if self.closed:
            raise ValueError(f"the {self._handle.what} is closed")
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{', closed' if self.closed else ''}>"

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle and not handle.closed:
            self._forgotten()

    def _forgotten(self) -> None:
        """Nothing refers to it any more."""
        try:
            # The program may want it to be an exception.
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self)
        finally:
            self._handle.end()


def filled(what: str, function: Callable[..., int], handle: Handle, structure: Any,
           *arguments: Any) -> Any:
    """A structure that a query of the library fills in."""
    value = structure()
    with handle as pointer:
        check(function(pointer, *arguments, ctypes.byref(value), ctypes.sizeof(value)), what)
    return value
