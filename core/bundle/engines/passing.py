"""What passes through a surface, as shaders of engines show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.bundle import shader_templates as templates
from verdigris.core.bundle.proxies.make_proxies import numpy_respond_at
from verdigris.core.bundle.proxies.proxy_texture import TransmittedAlbedo, decode_srgb
from verdigris.core.bundle.proxies.transmitted_albedo import make_transmitted_albedo
from verdigris.core.material.sides import THIN, passes_diffusely

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

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
        index = bundle.manifest.transmitted.index
        return cls(albedo, index, index == THIN and passes_diffusely(respond_at(0), share))


def conditions(bundle: Bundle, passing: Passing | None) -> list[str]:
    """Of the templates, for this material."""
    found = [templates.RELIEF] if bundle.manifest.relief else []
    if passing is not None:
        found += [templates.THIN] if passing.index == THIN else []
        found += [templates.LEAF] if passing.is_diffuse else [templates.CLEAR]
    return found
