# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Copies of whole files between machines, with libkrdma-files.

    with krdma.Session() as session, files.Client(session, ("10.77.0.2", files.PORT)) as client:
        client.get("data/numbers", "numbers")

A Server offers a folder or a file, to "krdma get" and "krdma put", too.  The name of a file at the
server is relative to its folder.  Received data are complete and checked before the file has its
name.
"""

import ctypes
import errno
import os
import threading
from contextlib import suppress
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._abi import (KRDMA_FILE_PORT, FileAccess, FileFlags, FileOperation, FileServerFlags, FileSide,
                   FileType)
from ._address import Address, packed, unpacked
from ._library import Handle, Object, check, fill, load, options_of, text, uint
from .errors import Error, error_for
from .memory import memory_of
from .session import Session

PORT = KRDMA_FILE_PORT

__all__ = ["Client", "Entry", "FileAccess", "FileFlags", "FileOperation", "FileSide", "FileType",
           "PORT", "Progress", "Report", "Result", "Server"]

Name = Union[str, bytes, "os.PathLike[str]"]

lib = load("libkrdma-files.so.0", "KRDMA_FILES_LIBRARY", _abi.FILE_FUNCTIONS)

_AT_FDCWD = -100
# As the structures have them.
_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p,
                             ctypes.POINTER(_abi.krdma_file_progress))
_REPORT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_abi.krdma_file_report))
_SIDES = {FileSide.PEER: "the other machine reports it", FileSide.HERE: "this machine reports it"}


class Progress(NamedTuple):
    """How far a transfer is, in bytes; resumed_from were there before."""

    done: int
    length: int
    resumed_from: int


class Result(NamedTuple):
    """What was transferred: bytes, seconds, and the last component of the file's name."""

    length: int
    transferred: int
    resumed_from: int
    seconds: float
    crc32c: int
    mode: int
    mtime_ns: int
    skipped: bool
    last: str


class Entry(NamedTuple):
    """An entry of a folder at the server; error is the errno of what it could not read."""

    name: str
    type: FileType
    mode: int
    length: int
    mtime_ns: int
    error: int = 0


class Report(NamedTuple):
    """A request of a client, as its server reports it; the name is as the client sent it."""

    operation: FileOperation
    error: Optional[Error]
    peer: Address
    name: str
    length: int
    transferred: int
    resumed_from: int
    seconds: float
    skipped: bool


def _encoded(name: Name) -> bytes:
    data = os.fsencode(name)
    if b"\0" in data:
        raise ValueError("a name cannot have a zero byte")
    return data


def _flags(flags: FileFlags) -> int:
    return uint(flags, 32, "flags")


def _result(found: _abi.krdma_file_result) -> Result:
    return Result(found.length, found.transferred, found.resumed_from, found.nanoseconds / 1e9,
                  found.crc32c, found.mode, found.mtime_s * 10 ** 9 + found.mtime_ns,
                  bool(found.skipped), os.fsdecode(found.last))


class Client(Object):
    """Requests to a server, over one connection, which the first one makes.  One thread at a time.

    With streams the data of each file use that many connections, if the server grants them.

    flags are for all requests; those of a request are added.  progress(Progress) is called several
    times a second; what it raises cancels the transfer, and the request raises it.  So does an
    exception of a signal, as of Ctrl-C.  Therefore another thread than the main one makes the
    requests of that, and calls progress.
    """

    def __init__(self, session: Session, server: Address, flags: FileFlags = FileFlags(0), *,
                 secret: Optional[bytes] = None, patience: float = 0, buffer_size: int = 0,
                 buffer_count: int = 0, streams: int = 1,
                 progress: Optional[Callable[[Progress], Any]] = None) -> None:
        self._where = f"{server[0]} port {server[1]}"
        # What progress or a signal has raised, of the request that is made.
        self._now: List[List[BaseException]] = [[]]
        self._alone = threading.RLock()
        self._secret = memory_of(secret)
        options = options_of(
            _abi.krdma_file_options, flags=flags, patience_ms=int(patience * 1000),
            buffer_size=buffer_size, buffer_count=buffer_count, streams=streams,
            secret=self._secret[0], secret_length=self._secret[1])
        # Also for a program without one, because nothing else ends the request.
        self._called = _PROGRESS(self._calling(progress, self._now))
        options.progress = self._called
        # The library copies the options, but not what they refer to.
        self._kept = secret
        pointer = ctypes.c_void_p()
        with session._handle as handle:
            check(lib.krdma_file_client_create(handle, packed(server), ctypes.byref(options),
                                               ctypes.byref(pointer)),
                  f"make a client of the files of {self._where}")
            self._handle = Handle("client", pointer, lib.krdma_file_client_destroy, session._handle)
        session._children.add(self)

    @staticmethod
    def _calling(progress: Optional[Callable[[Progress], Any]],
                 requests: List[List[BaseException]]) -> Callable[..., int]:
        def called(_: Any, now: Any) -> int:
            raised = requests[0]
            try:
                if progress and not raised:
                    progress(Progress(now[0].done, now[0].length, now[0].resumed_from))
            except BaseException as error:      # is raised by the request
                raised.append(error)
            return 1 if raised else 0
        return called

    def _made(self, raised: List[BaseException], function: Callable[..., int],
              *arguments: Any) -> int:
        """Calls a function of the library, alone, and keeps what it uses."""
        with self._alone, self._handle as handle:
            self._now[0] = raised
            return -errno.ECANCELED if raised else function(handle, *arguments)

    def _made_aside(self, raised: List[BaseException], function: Callable[..., int],
                    *arguments: Any) -> int:
        """The same by another thread, so that an exception of a signal ends it.

        The library goes on after a signal.  Python handles it in the main thread only, and one that
        it handles where the library calls a function is lost.  The other thread keeps what the
        library uses, because an exception can come anywhere in this one.
        """
        begun, over = threading.Lock(), threading.Event()
        results: List[int] = []

        def make() -> None:
            if not begun.acquire(False):
                return
            try:
                results.append(self._made(raised, function, *arguments))
            except BaseException as error:
                raised.append(error)
            finally:
                over.set()

        # Not join(): that takes the thread for ended when an exception comes while it waits.
        try:
            threading.Thread(target=make, name="krdma files").start()
            while not over.wait(0.2):
                pass
        except BaseException as error:
            raised.append(error)
            # It may not have begun, and does not any more.  A second exception waits for nothing.
            while not begun.acquire(False) and not over.wait(0.2):
                pass
        return results[0] if results else -errno.ECANCELED

    def _request(self, what: str, function: Callable[..., int], *arguments: Any) -> Result:
        """Makes a request."""
        raised: List[BaseException] = []
        found = _abi.krdma_file_result()
        is_main = threading.current_thread() is threading.main_thread()
        make = self._made_aside if is_main else self._made
        err = make(raised, function, *arguments, ctypes.byref(found), ctypes.sizeof(found))
        if raised:
            raise raised[0]
        if err:
            raise error_for(err, f"{what} {self._where}", _SIDES.get(FileSide(found.side)))
        return _result(found)

    def get(self, name: Name, path: Name, flags: FileFlags = FileFlags(0)) -> Result:
        """Gets a file; "" is the one that the server offers.  The path may be a folder."""
        return self._request(f"get '{os.fsdecode(name)}' from", lib.krdma_file_client_get,
                             _encoded(name), _AT_FDCWD, _encoded(path), _flags(flags))

    def get_fd(self, name: Name, fd: int) -> Result:
        """Gets a file's content, and writes it to a descriptor."""
        return self._request(f"get '{os.fsdecode(name)}' from", lib.krdma_file_client_get_fd,
                             _encoded(name), uint(fd, 31, "a descriptor"))

    def put(self, path: Name, name: Name, flags: FileFlags = FileFlags(0)) -> Result:
        """Puts a file on the server, by this name."""
        return self._request(f"put '{os.fsdecode(path)}' on", lib.krdma_file_client_put,
                             _AT_FDCWD, _encoded(path), _encoded(name), _flags(flags))

    def make_folder(self, name: Name, flags: FileFlags = FileFlags(0)) -> Result:
        """Makes a folder on the server; it may be there already."""
        return self._request(f"make the folder '{os.fsdecode(name)}' on",
                             lib.krdma_file_client_make_folder, _encoded(name), None, _flags(flags))

    def list(self, name: Name = "", recursive: bool = False) -> List[Entry]:
        """What is in a folder at the server, in the order of the names."""
        entries = ctypes.POINTER(_abi.krdma_file_entry)()
        count = ctypes.c_size_t()
        self._request(f"list '{os.fsdecode(name)}' of", lib.krdma_file_client_list,
                      _encoded(name), FileFlags.RECURSIVE if recursive else 0,
                      ctypes.byref(entries), ctypes.byref(count))
        try:
            found = [entries[at] for at in range(count.value)]
            return sorted(Entry(os.fsdecode(ctypes.string_at(one.name)), FileType(one.type),
                                one.mode, one.length, one.mtime_s * 10 ** 9 + one.mtime_ns,
                                -one.error)
                          for one in found)
        finally:
            lib.krdma_file_list_free(entries)


class Server(Object):
    """Offers a folder or a file, until close().  run() serves the clients.

    rules are rights of folders, by their name; the innermost one counts.  allow has addresses and
    networks: "10.0.0.0/24, fd00::/8".  report(Report) is called after each request, by a thread of
    the client; what it raises is printed as that of a thread.
    """

    def __init__(self, session: Session, address: Address, path: Name, *, writable: bool = False,
                 sync: bool = True, max_clients: int = 0, max_per_peer: int = 0,
                 max_conns: int = 0, patience: float = 0, secret: Optional[bytes] = None,
                 allow: Optional[str] = None,
                 rules: Optional[Dict[str, FileAccess]] = None,
                 report: Optional[Callable[[Report], Any]] = None) -> None:
        flags = FileServerFlags.WRITABLE if writable else FileServerFlags(0)
        if not sync:
            flags |= FileServerFlags.NO_SYNC
        its = list((rules or {}).items())
        # The library does not copy what the options refer to.
        self._secret = secret
        self._allow = ctypes.c_char_p(
            text(allow, "a list of addresses") if allow is not None else None)
        self._names = [ctypes.c_char_p(_encoded(name)) for name, _ in its]
        table = (_abi.krdma_file_rule * len(its))()
        for at, (_, access) in enumerate(its):
            table[at].path = ctypes.cast(self._names[at], ctypes.c_void_p)
            fill(table[at], access=access)
        self._table = table
        pointer, length = memory_of(secret)
        options = options_of(
            _abi.krdma_file_server_options, flags=flags, max_clients=max_clients,
            max_per_peer=max_per_peer, max_conns=max_conns, patience_ms=int(patience * 1000),
            secret=pointer, secret_length=length,
            allow=ctypes.cast(self._allow, ctypes.c_void_p),
            rules=ctypes.cast(table, ctypes.c_void_p) if its else None, rule_count=len(its))
        if report:
            self._called = _REPORT(self._calling(report))
            options.report = self._called
        server = ctypes.c_void_p()
        with session._handle as handle:
            check(lib.krdma_file_server_create(handle, packed(address, True), _encoded(path),
                                               ctypes.byref(options), ctypes.byref(server)),
                  f"offer '{os.fsdecode(path)}' at {address[0] or 'all addresses'} "
                  f"port {address[1]}")
            self._handle = Handle("server", server, lib.krdma_file_server_destroy, session._handle)
        session._children.add(self)

    @staticmethod
    def _calling(report: Callable[[Report], Any]) -> Callable[..., None]:
        def called(_: Any, its: Any) -> None:
            one = its[0]
            operation = FileOperation(one.operation)
            error = error_for(one.error, f"serve the request {operation.name}", "") \
                if one.error else None
            report(Report(operation, error, unpacked(one.peer),
                          os.fsdecode(ctypes.string_at(one.name)) if one.name else "", one.length,
                          one.transferred, one.resumed_from, one.nanoseconds / 1e9,
                          bool(one.skipped)))
        return called

    @property
    def address(self) -> Address:
        """Where it listens, with the port."""
        data = (ctypes.c_uint8 * 128)()
        with self._handle as handle:
            check(lib.krdma_file_server_address(handle, data), "get the address of a server")
        return unpacked(data)

    def run(self) -> None:
        """Serves clients until stop() or close(), or an exception of a signal, as of Ctrl-C."""
        ended: List[int] = []
        over = threading.Event()

        def serve() -> None:
            try:
                with self._handle as handle:
                    ended.append(lib.krdma_file_server_run(handle))
            finally:
                over.set()

        # The library goes on after a signal, and Python would not handle it.
        threading.Thread(target=serve, name="krdma files").start()
        try:
            while not over.wait(0.2):
                pass
        except BaseException:
            with suppress(ValueError):
                self.stop()
            over.wait()
            raise
        if ended:
            check(ended[0], "serve files")

    def stop(self) -> None:
        """Ends run(), now or once it is called."""
        with self._handle as handle:
            check(lib.krdma_file_server_stop(handle), "stop a server")

    def close(self) -> None:
        """Stops, and ends with run().  In a child of fork(), the parent's goes on."""
        if not self.closed and not self._handle.inherited:
            # Another thread may close it meanwhile.
            with suppress(ValueError):
                self.stop()
        self._handle.end()
