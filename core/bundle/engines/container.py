"""NAME.verdigris: all that importers of Godot and Unity need of a bundle, as plain arrays in a zip.

`material.json` describes the arrays. A texture is layer after layer, in each the largest level
first, row 0 at v = 0.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Bytes
from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.engines.decoder_text import PackedNumbers, decoder_text, pack_numbers
from verdigris.core.bundle.engines.passing import Passing, conditions
from verdigris.core.bundle.files.ktx2 import BC7, RGBA8, RGBA16F
from verdigris.core.bundle.proxies.proxy_texture import encode_srgb, linear_texels, values_of

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle

FORMAT, VERSION = "verdigris.engine", 1
SUFFIX = ".verdigris"
NUMBERS_WIDTH = 64
_FORMATS = {BC7: "bc7", RGBA8: "rgba8", RGBA16F: "rgba16f"}
# Zips that are written twice are equal.
_TIME = (1980, 1, 1, 0, 0, 0)


def shader_name(bundle: Bundle, numbers: PackedNumbers, passing: Passing | None) -> str:
    """The name of the shader that bundles with this architecture share."""
    spec = bundle.spec
    text = decoder_text(spec, numbers.places)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    kinds = [*(["blend"] if bundle.manifest.opacity else []), *conditions(bundle, passing)]
    return "_".join([f"neural_{spec.hidden_layers}x{spec.hidden_width}_{mark}", *kinds])


def base_textures(bundle: Bundle) -> tuple[Bytes, Bytes]:
    """Texels [height, width, 4] of what the engine's own light sees: mean albedo in sRGB with the
    mean roughness, and the mean normal."""
    proxies = bundle.proxies()
    if proxies is None:
        raise BundleError(
            f"{bundle.folder}: has no proxies, which light of the surroundings needs: bake it again"
        )
    texels = linear_texels(proxies.levels[0])
    height, width = texels.shape[:2]
    values = values_of(texels.reshape(-1, *texels.shape[2:]), proxies.curves)
    base = np.empty((height * width, 4), np.uint8)
    base[:, :3] = encode_srgb(values.mean_albedo())
    base[:, 3] = np.rint(255 * np.clip(values.roughness, 0, 1))
    normal = np.full_like(base, 255)
    normal[:, :3] = np.rint(127.5 + 127.5 * values.normal)
    return base.reshape(height, width, 4), normal.reshape(height, width, 4)


def make_container(bundle: Bundle, passing: Passing | None) -> tuple[bytes, PackedNumbers, str]:
    """The bytes of the file, the numbers of the decoder, and the name of its shader."""
    numbers = pack_numbers(bundle.parameters())
    latents = bundle.latents()
    if latents.format not in _FORMATS:
        raise BundleError(
            f"{bundle.folder}: its latents are {latents.format}, which engines do not import: "
            "name the bundle that was exported"
        )
    height, width = latents.size
    files: dict[str, bytes] = {}
    shader = shader_name(bundle, numbers, passing)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": bundle.manifest.name,
        "shader": shader,
        "scale": _eight(latents.scale),
        "offset": _eight(latents.offset),
        "live": _live_inputs(bundle),
        "tiling": _tiling(bundle),
    }

    def add(name: str, kind: str, size: tuple[int, int], levels: Sequence[NDArray[Any]]) -> None:
        """`levels` have a first axis of layers."""
        layers = len(levels[0])
        files[f"{name}.bin"] = b"".join(
            np.ascontiguousarray(level[layer]).tobytes()
            for layer in range(layers)
            for level in levels
        )
        facts[name] = {
            "file": f"{name}.bin",
            "format": kind,
            "width": size[1],
            "height": size[0],
            "layers": layers,
            "levels": len(levels),
        }

    add("latents", _FORMATS[latents.format], (height, width), latents.levels)
    rows = -(-len(numbers.quads) // NUMBERS_WIDTH)
    quads = np.zeros((1, rows, NUMBERS_WIDTH, 4), np.float16)
    quads.reshape(-1, 4)[: len(numbers.quads)] = numbers.quads
    add("numbers", "rgba16f", quads.shape[1:3], [quads])
    for name, texels in zip(("base", "normal"), base_textures(bundle), strict=True):
        add(name, "rgba8", texels.shape[:2], [each[None] for each in _averaged(texels)])
    for name, kind, found in (
        ("emission", "rgba16f", bundle.emission()),
        ("opacity", "r8", bundle.opacity()),
    ):
        if found is not None:
            add(name, kind, found[0].shape[:2], [each[None] for each in found])
    if (heights := bundle.relief()) is not None:
        facts["range"] = [heights.scale, heights.midlevel]
        add(
            "heights", "rgba8", heights.levels[0].shape[:2], [each[None] for each in heights.levels]
        )
    if passing is not None:
        facts["passing"] = {"index": passing.index, "diffuse": passing.is_diffuse}
        levels = [each[None] for each in passing.albedo.levels]
        add("transmitted", "rgba8", levels[0].shape[1:3], levels)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        text = json.dumps(facts, indent=1, allow_nan=False, ensure_ascii=False)
        for name, data in {"material.json": text.encode(), **files}.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue(), numbers, shader


def _tiling(bundle: Bundle) -> list[float]:
    """Factors and offsets of uv: those of UDIM tiles, if there are any."""
    tiles = bundle.manifest.tiles
    if tiles is None:
        return [1.0, 1.0, 0.0, 0.0]
    return [
        1 / tiles.side,
        1 / tiles.side,
        -tiles.first[0] / tiles.side,
        -tiles.first[1] / tiles.side,
    ]


def _live_inputs(bundle: Bundle) -> list[dict[str, Any]]:
    """Ends of ranges in their own units; of a colour, 0 and 1."""
    found = []
    for each in bundle.manifest.live[: bundle.spec.live_inputs]:
        is_number = len(each.low) == 1
        low, high = (each.low[0], each.high[0]) if is_number else (0.0, 1.0)
        found.append({"name": each.name, "low": low, "high": high, "default": each.default})
    return found


def _eight(values: NDArray[np.float32]) -> list[float]:
    """Padded to two vectors of four."""
    return [float(each) for each in values] + [0.0] * (8 - len(values))


def _averaged(texels: Bytes) -> list[Bytes]:
    """All mip levels of bytes, each the mean of four texels of the one before."""
    levels = [texels]
    while max(levels[-1].shape[:2]) > 1:
        height, width = (max(side // 2, 1) for side in levels[-1].shape[:2])
        last = levels[-1].astype(np.float64)
        rows = [last[each : 2 * height : 2] for each in (0, 1 if len(last) > 1 else 0)]
        mean = (rows[0] + rows[1]) / 2
        columns = [mean[:, each : 2 * width : 2] for each in (0, 1 if mean.shape[1] > 1 else 0)]
        levels.append(np.rint((columns[0] + columns[1]) / 2).astype(np.uint8))
    return levels
