"""Files of numpy that are damaged on purpose."""

import struct


def npy_of(header):
    """A .npy file with this header and nothing behind it."""
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header


def npy_claiming(shape):
    """One of this shape, as text, of which no number is there."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
    return npy_of(header.encode().ljust(117) + b"\n")
