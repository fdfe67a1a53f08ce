"""Measured materials of the RGL database (.bsdf): Dupuy and Jakob, "An Adaptive Parameterization
for Efficient Material Acquisition and Rendering", 2018.

A file holds named arrays. Its layout, and the integrals from which a distribution of visible
normals becomes a warp of the unit square, follow the readers that are published with the database
(powitacq; Mitsuba 3, src/core/tensor.cpp, src/bsdfs/measured.cpp, include/mitsuba/core/distr_2d.h).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Doubles, Floats

_MAGIC = b"tensor_file\0"
_MOST_FIELDS, _MOST_DIMENSIONS = 64, 8
# Types of fields that occur in files of the database.
_TYPES = {1: "u1", 9: "<f2", 10: "<f4", 11: "<f8"}
_HEADER = 24
# A single float counts so far.
_MOST_NUMBERS = 1 << 24
_TO_REC709 = np.array(
    [[3.2404542, -1.5371385, -0.4985314], [-0.969266, 1.8760108, 0.041556],
     [0.0556434, -0.2040259, 1.0572252]]
)  # fmt: skip


def read_rgl(path: Path, asker: str) -> Floats:
    """The tables of a material in one row, with the header that `rgl.slang` reads."""
    fields = _read_fields(path, asker)
    try:
        phis, thetas = (fields[each].astype(np.float64).ravel() for each in ("phi_i", "theta_i"))
        ndf, sigma, vndf = (fields[name].astype(np.float64) for name in ("ndf", "sigma", "vndf"))
        colours = _colours(fields)
    except KeyError as failure:
        raise DocumentError(
            f"{asker}: {path} has no field {failure.args[0]!r}: use a file of the RGL database"
        ) from None
    views = len(phis), len(thetas)
    fits = vndf.ndim == 4 and colours.ndim == 5 and ndf.ndim == sigma.ndim == 2
    fits = fits and vndf.shape[:2] == colours.shape[:2] == views
    sides = [each for image in (vndf, colours, ndf, sigma) for each in image.shape[-2:]]
    if (
        not fits
        or vndf.shape[:2] != views
        or colours.shape[:2] != views
        or min(views) < 1
        or min(sides) < 2
    ):
        raise DocumentError(
            f"{asker}: {path} has fields that do not fit each other: use a file of the RGL database"
        )
    is_isotropic = len(phis) <= 2
    reduction = 0.0
    if not is_isotropic:
        reduction = float(np.rint(2 * np.pi / max(float(phis[-1] - phis[0]), 1e-3)))
    density, conditional, marginal = _integrals(vndf)
    has_jacobian = bool(fields.get("jacobian", np.ones(1)).ravel()[0])
    header = [*views, reduction, is_isotropic, has_jacobian, _HEADER]
    rows: list[NDArray[np.float64]] = [phis, thetas]
    place = _HEADER + sum(views)
    for image in (ndf, sigma, density, conditional, marginal, colours):
        header += [image.shape[-1], image.shape[-2], place]
        rows.append(image.ravel())
        place += image.size
    if place > _MOST_NUMBERS:
        raise DocumentError(f"{asker}: {path} has more than {_MOST_NUMBERS:,} numbers")
    return np.concatenate([np.array(header, np.float64), *rows]).astype(np.float32)


def _integrals(vndf: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Densities of each view, whose integral is 1, their integrals along rows, and those over
    rows."""
    steps = 0.5 * (vndf[..., 1:] + vndf[..., :-1])
    conditional = np.zeros_like(vndf)
    conditional[..., 1:] = steps.cumsum(-1)
    sums = conditional[..., -1]
    marginal = np.zeros_like(sums)
    marginal[..., 1:] = (0.5 * (sums[..., 1:] + sums[..., :-1])).cumsum(-1)
    total = np.maximum(marginal[..., -1], 1e-30)
    whole = total[..., None, None]
    return vndf / whole, conditional / whole, (marginal / total[..., None])[..., None, :]


def _colours(fields: dict[str, NDArray[np.generic]]) -> Doubles:
    """Linear Rec.709, [phi, theta, channel, row, column]."""
    if "rgb" in fields:
        return fields["rgb"].astype(np.float64)
    spectra = fields["spectra"].astype(np.float64)
    weights = rec709_weights(fields["wavelengths"].astype(np.float64).ravel())
    return np.asarray(np.einsum("cw,ptwyx->ptcyx", weights, spectra), np.float64)


def rec709_weights(wavelengths: Doubles) -> Doubles:
    """The weights of wavelengths in nanometres for linear Rec.709, [3, wavelengths]. A spectrum of
    ones is white.

    The colour matching functions are the fits of Wyman, Sloan and Shirley, "Simple Analytic
    Approximations to the CIE XYZ Color Matching Functions", 2013.
    """

    def lobe(middle: float, below: float, above: float) -> Doubles:
        apart = wavelengths - middle
        return np.exp(-0.5 * (apart * np.where(apart < 0, below, above)) ** 2)

    x = 0.362 * lobe(442.0, 0.0624, 0.0374) + 1.056 * lobe(599.8, 0.0264, 0.0323)
    x -= 0.065 * lobe(501.1, 0.0490, 0.0382)
    y = 0.821 * lobe(568.8, 0.0213, 0.0247) + 0.286 * lobe(530.9, 0.0613, 0.0322)
    z = 1.217 * lobe(437.0, 0.0845, 0.0278) + 0.681 * lobe(459.0, 0.0385, 0.0725)
    # wavelengths may be unevenly spaced
    found = _TO_REC709 @ np.stack([x, y, z]) * np.gradient(wavelengths)
    return np.asarray(found / found.sum(1, keepdims=True))


def _read_fields(path: Path, asker: str) -> dict[str, NDArray[np.generic]]:
    data = path.read_bytes()
    fault = f"{asker}: {path} is damaged or no file of the RGL database: download it again"
    if not data.startswith(_MAGIC):
        raise DocumentError(fault)
    found: dict[str, NDArray[np.generic]] = {}
    try:
        _major, _minor, count = struct.unpack_from("<BBI", data, len(_MAGIC))
        at = len(_MAGIC) + 6
        for _ in range(min(count, _MOST_FIELDS)):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode("ascii")
            at += 2 + length
            dimensions, kind, offset = struct.unpack_from("<HBQ", data, at)
            if dimensions > _MOST_DIMENSIONS:
                raise DocumentError(fault)
            shape = struct.unpack_from(f"<{dimensions}Q", data, at + 11)
            at += 11 + 8 * dimensions
            size = int(np.prod(shape, dtype=object)) if shape else 1
            if kind in _TYPES:
                found[name] = np.frombuffer(data, _TYPES[kind], size, offset).reshape(shape)
    except (struct.error, ValueError, OverflowError):
        raise DocumentError(fault) from None
    return found
