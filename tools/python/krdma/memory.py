# SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
"""Memory that RDMA devices may access, on this side and on the peer's."""

import ctypes
import mmap
import weakref
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _abi
from ._abi import Access
from ._library import Handle, Object, check, lib, text, uint

_PYBUF_SIMPLE = 0
_PYBUF_WRITABLE = 1


class _View(ctypes.Structure):
    """Py_buffer of Python's stable interface."""

    buf: Any
    len: int
    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


ctypes.pythonapi.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_View),
                                                ctypes.c_int]
ctypes.pythonapi.PyBuffer_Release.argtypes = [ctypes.POINTER(_View)]
ctypes.pythonapi.PyBuffer_Release.restype = None


def memory_of(data: Optional[bytes]) -> Tuple[Any, int]:
    """A pointer to bytes, and their number; the caller keeps the pointer."""
    if data is None:
        return ctypes.c_void_p(), 0
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data)


class Buffer:
    """The bytes of an object, which stays where it is, and as long as it is, until release()."""

    def __init__(self, data: Any, writable: bool) -> None:
        self._view = _View()
        self._held = False
        ctypes.pythonapi.PyObject_GetBuffer(
            data, ctypes.byref(self._view), _PYBUF_WRITABLE if writable else _PYBUF_SIMPLE)
        self._held = True
        self.address: int = self._view.buf or 0
        self.length: int = self._view.len

    def release(self) -> None:
        """Ends the hold on the object."""
        if self._held:
            self._held = False
            ctypes.pythonapi.PyBuffer_Release(ctypes.byref(self._view))

    def __enter__(self) -> "Buffer":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


# Memory that a device may still access although nothing refers to it: it must not be used for
# anything else.
_kept: List[Buffer] = []


_REGISTER_HINT = "see 'ulimit -l', 'krdma info' and 'krdma doctor'"


class Region(Object):
    """Memory that work requests can use: a Memory, or a part of a MemoryCache."""

    address: int
    length: int
    device_id: int
    access: Access
    id: int
    _data: Any

    @property
    def view(self) -> memoryview:
        """Its bytes."""
        return memoryview(self._data).cast("B")

    def __len__(self) -> int:
        return self.length

    def part(self, offset: int, length: "Union[int, None]") -> int:
        """The length of a part of it; None: the rest."""
        if length is None:
            length = self.length - offset
        if offset < 0 or length < 0 or offset + length > self.length:
            raise ValueError(f"{length} bytes at {offset} are not in a memory region of "
                             f"{self.length} bytes")
        return length


class Memory(Region):
    """A memory region: memory that is registered with a device.

    Session.alloc() and Session.register() make them.  It is registered until close(), and the
    object it consists of stays in place until then.
    """

    def __init__(self, session: Handle, device_id: int, data: Any, access: Access,
                 lanes: bool = False, windows: bool = False) -> None:
        buffer = Buffer(data, bool(access))
        pointer = ctypes.c_void_p()
        register, flags = lib.krdma_mr_register, []
        if lanes or windows:
            register = lib.krdma_mr_register_for_lanes
            flags = [_abi.MrRegisterFlags.WINDOWS if windows else 0]

        def end(handle: int) -> None:
            if lib.krdma_mr_deregister(handle, 0):
                # Work requests use it.
                lib.krdma_mr_deregister(handle, _abi.MrDeregisterFlags.LATER)
                _kept.append(buffer)
            else:
                buffer.release()

        with session as owner:
            check(register(owner, device_id, buffer.address, buffer.length,
                           uint(access, 32, "a right"), *flags, ctypes.byref(pointer)),
                  f"register {buffer.length} bytes of memory", _REGISTER_HINT)
            self._handle = Handle("memory region", pointer, end, session)
        self._buffer = buffer
        self._data = data
        self.address = buffer.address
        self.length = buffer.length
        self.device_id = device_id
        self.access = access
        with self._handle as handle:
            self.id = lib.krdma_mr_id(handle)

    @property
    def rkey(self) -> int:
        """The key with which the peer accesses it; 0: none, or several."""
        with self._handle as handle:
            return int(lib.krdma_mr_rkey(handle))

    def describe(self, offset: int = 0, length: int = 0) -> bytes:
        """The memory descriptor of a part, for the peer: RemoteMemory.parse() takes it.

        A length of 0 stands for the rest.
        """
        data = ctypes.create_string_buffer(_abi.KRDMA_MR_DESC_SIZE)
        with self._handle as handle:
            check(lib.krdma_mr_describe(handle, uint(offset, 64, "an offset"),
                                        uint(length, 64, "a length"), data),
                  f"describe {length or 'all'} bytes at {offset} of a memory region",
                  "the part must be in the region, and the region have remote rights")
        return data.raw

    def set_name(self, name: Optional[str]) -> None:
        """Names it, for the peers of all lanes of the session; None takes the name away.

        Connection.find_memory() of the peer finds it.  It is registered with lanes=True, and has
        remote rights.
        """
        with self._handle as handle:
            check(lib.krdma_mr_set_name(handle, None if name is None else text(name, "a name")),
                  f"name a memory region '{name or ''}'",
                  "it must be registered for lanes, and have remote rights and a name of its own")

    def close(self) -> None:
        """Deregisters it: no device and no peer can access it afterwards.

        It fails with EBUSY, and is registered as before, while work requests use it.
        """
        def end(handle: int) -> int:
            err = int(lib.krdma_mr_deregister(handle, 0))
            if not err:
                # Only then: a device may still write to what abandon() has ended before.
                self._buffer.release()
            return err

        check(self._handle.end_if(end), "deregister a memory region",
              "work requests use it: wait for their completions, or close their connections")

    def abandon(self) -> None:
        """Deregisters it as soon as the last work request that uses it has ended."""
        self._handle.end()


class CachedMemory(Region):
    """Memory of an object, in a memory region of a cache.  MemoryCache.get() makes them.

    close() gives it back to the cache: no work request uses it any more.
    """

    def __init__(self, cache: "MemoryCache", data: Any) -> None:
        buffer = Buffer(data, bool(cache.access))
        pointer = ctypes.c_void_p()
        with cache._handle as caches:
            check(lib.krdma_mr_cache_get(caches, buffer.address, buffer.length,
                                         ctypes.byref(pointer)),
                  f"register {buffer.length} bytes of memory", _REGISTER_HINT)

            def end(handle: int) -> None:
                lib.krdma_mr_cache_put(caches, handle)
                buffer.release()

            self._handle = Handle("cached memory", pointer, end, cache._handle)
        self._buffer = buffer
        self._data = data
        self.address = buffer.address
        self.length = buffer.length
        self.device_id = cache.device_id
        self.access = cache.access
        with self._handle as handle:
            self.id = lib.krdma_mr_id(handle)
            # The memory region may begin before the object.
            self._offset: int = self.address - lib.krdma_mr_data(handle)

    def describe(self, offset: int = 0, length: int = 0) -> bytes:
        """The memory descriptor of a part, for the peer; a length of 0 stands for the rest."""
        length = self.part(offset, length or None)
        data = ctypes.create_string_buffer(_abi.KRDMA_MR_DESC_SIZE)
        with self._handle as handle:
            check(lib.krdma_mr_describe(handle, self._offset + offset, length, data),
                  f"describe {length} bytes at {offset} of a memory region",
                  "the cache must have remote rights")
        return data.raw


class MemoryCache(Object):
    """Memory regions that stay registered while they are not used: see Session.memory_cache().

    It keeps the objects whose memory it has registered, until forget() or close(): memory that is
    freed and used again would have other pages than those that are registered.
    """

    def __init__(self, session: Handle, device_id: int, access: Access, limit: int) -> None:
        pointer = ctypes.c_void_p()
        buffers: Dict[Tuple[int, int], Buffer] = {}

        def end(handle: int) -> None:
            lib.krdma_mr_cache_destroy(handle)
            for buffer in buffers.values():
                buffer.release()

        self._buffers = buffers
        self._used: "weakref.WeakSet[CachedMemory]" = weakref.WeakSet()
        with session as owner:
            check(lib.krdma_mr_cache_create(
                owner, device_id, uint(access, 32, "a right"), uint(limit, 64, "a limit"),
                ctypes.byref(pointer)),
                "create a cache of memory regions")
            self._handle = Handle("cache of memory regions", pointer, end, session)
        self.device_id = device_id
        self.access = access

    def get(self, data: Any) -> CachedMemory:
        """The memory of an object, in a memory region that may be registered already."""
        memory = CachedMemory(self, data)
        self._used.add(memory)
        where = memory.address, memory.length
        if where not in self._buffers:
            self._buffers[where] = Buffer(data, bool(self.access))
        return memory

    def forget(self, data: Any) -> None:
        """Drops the memory regions of an object, and the object, which may be freed afterwards.

        One that is in use is dropped when it is closed.
        """
        with Buffer(data, False) as buffer:
            where = buffer.address, buffer.length
            with self._handle as handle:
                lib.krdma_mr_cache_forget(handle, *where)
        kept = self._buffers.pop(where, None)
        if kept:
            kept.release()

    def close(self) -> None:
        """Closes it, and the memory that it has given out: no work request uses it any more."""
        for memory in list(self._used):
            memory.close()
        self._handle.end()


def allocated(length: int) -> mmap.mmap:
    """Zeroed memory in pages of its own."""
    return mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


@dataclass(frozen=True)
class RemoteMemory:
    """Memory of the peer."""

    address: int
    length: int
    rkey: int
    access: Access

    @classmethod
    def parse(cls, descriptor: bytes) -> "RemoteMemory":
        """From the descriptor that the peer has sent."""
        remote = _abi.krdma_remote_mr()
        check(lib.krdma_remote_mr_from_desc(bytes(descriptor), len(descriptor),
                                            ctypes.byref(remote)),
              "parse a memory descriptor", "the peer has sent something else, or a later version")
        return cls(remote.addr, remote.length, remote.key, Access(remote.access))

    def at(self, offset: int, length: int) -> int:
        """The peer's address of a part of it."""
        if offset < 0 or offset + length > self.length:
            raise ValueError(f"{length} bytes at {offset} are not in the peer's {self.length}")
        return self.address + offset
