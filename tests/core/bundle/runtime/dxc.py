"""Microsoft's shader compiler by its C++ interface: a package brings its library."""

import ctypes
import importlib.util
import uuid
from functools import cache
from pathlib import Path

import pytest

_PACKAGE, _LIBRARY = "compushady", "backends/libdxcompiler_*.so"
_COMPILER = "73e22d93-e6ce-47f3-b5bf-f0664f39c1b0"
_ICOMPILER = "228b4687-5a6a-4730-900c-9702b2203f54"
_IRESULT = "58346cda-dde7-4497-9461-6f87af5e0659"
_UTF8 = 65001
# Places in the tables of functions.
_COMPILE, _STATUS, _OUTPUT, _ERRORS, _POINTER, _SIZE = 3, 3, 4, 5, 3, 4


class _Buffer(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t), ("encoding", ctypes.c_uint32))


def _identifier(text):
    return (ctypes.c_ubyte * 16).from_buffer_copy(uuid.UUID(text).bytes_le)


def _call(thing, place, *arguments, result=ctypes.c_int32):
    table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))).contents
    types = [ctypes.c_uint32 if isinstance(each, int) else ctypes.c_void_p for each in arguments]
    return ctypes.CFUNCTYPE(result, ctypes.c_void_p, *types)(table[place])(thing, *arguments)


def _bytes_of(thing, place):
    blob = ctypes.c_void_p()
    _call(thing, place, ctypes.byref(blob))
    if not blob:
        return b""
    data = _call(blob, _POINTER, result=ctypes.c_void_p)
    return ctypes.string_at(data, _call(blob, _SIZE, result=ctypes.c_size_t))


@cache
def _compiler():
    found = importlib.util.find_spec(_PACKAGE)
    files = sorted(Path(found.origin).parent.glob(_LIBRARY)) if found and found.origin else []
    if not files:
        pytest.skip("DXC is not installed: install compushady-lrtu")
    compiler = ctypes.c_void_p()
    create = ctypes.CDLL(str(files[0])).DxcCreateInstance
    failed = create(_identifier(_COMPILER), _identifier(_ICOMPILER), ctypes.byref(compiler))
    assert not failed
    return compiler


def compile_hlsl(text, profile, entry, options=("-WX",)):
    """The DXIL of a shader in one text, with warnings as errors unless `options` differ."""
    words = ["-T", profile, "-E", entry, *options]
    source = _Buffer(text, len(text), _UTF8)
    result, status = ctypes.c_void_p(), ctypes.c_int32()
    _call(
        _compiler(),
        _COMPILE,
        ctypes.byref(source),
        (ctypes.c_wchar_p * len(words))(*words),
        len(words),
        None,
        _identifier(_IRESULT),
        ctypes.byref(result),
    )
    _call(result, _STATUS, ctypes.byref(status))
    assert status.value == 0, _bytes_of(result, _ERRORS).decode()
    return _bytes_of(result, _OUTPUT)
