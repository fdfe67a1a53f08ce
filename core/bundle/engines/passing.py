"""What passes through a surface, as shaders of engines show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.proxies.make_proxies import numpy_respond_at
from verdigris.core.bundle.proxies.proxy_texture import TransmittedAlbedo, decode_srgb
from verdigris.core.bundle.proxies.transmitted_albedo import make_transmitted_albedo
from verdigris.core.bundle.shader_templates import CLEAR, LEAF, RELIEF, THIN
from verdigris.core.material import sides

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

_PLACES = 64
# For the transmitted albedo of bundles that have none: some tenths of a second.
_EVALUATIONS = 1 << 17


@dataclass(frozen=True)
class Passing:
    """What passes through a surface."""

    albedo: TransmittedAlbedo
    index: float
    """Of the solid behind; 1 for a thin wall."""
    is_diffuse: bool
    """As through a leaf; otherwise things are seen through the surface."""

    @classmethod
    def of(cls, bundle: Bundle) -> Passing | None:
        """None for an opaque material."""
        if bundle.manifest.transmitted is None:
            return None
        parameters = bundle.parameters()
        respond_at = numpy_respond_at(parameters)
        albedo = bundle.transmitted_albedo() or make_transmitted_albedo(
            parameters, respond_at, _EVALUATIONS
        )
        share = float(decode_srgb(albedo.levels[-1][..., :3]).mean())
        uv = np.random.default_rng(1).random((_PLACES, 2)).astype(np.float32)
        up = np.tile(np.array([0, 0, 1], np.float32), (_PLACES, 1))
        behind = float(np.pi * respond_at(0)(uv, -up, up).mean())
        index = bundle.manifest.transmitted.index
        return cls(albedo, index, index == sides.THIN and behind <= sides.MOST_OF_DIFFUSE * share)


def conditions(bundle: Bundle, passing: Passing | None) -> list[str]:
    """Of the templates, for this material."""
    found = [RELIEF] if bundle.manifest.relief else []
    if passing is not None:
        found += [THIN] if passing.index == sides.THIN else []
        found += [LEAF] if passing.is_diffuse else [CLEAR]
    return found
