"""Neural materials in Mitsuba 3: a BSDF `verdigris`, and a texture `verdigris_emission`.

Importing this module after mi.set_variant() registers both for that variant; after a change of the
variant, call register(). It works in the variants `*_rgb` and `*_mono` of LLVM and CUDA.

    mi.load_dict({"type": "verdigris", "filename": "copper_tray.vdg"})

docs/engines/MITSUBA.md describes it. Mitsuba calls the direction to the viewer `wi` and that to the
light `wo`; here they are `view` and `light`, as the names differ in bundles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import drjit as dr
import mitsuba as mi
import numpy as np

from verdigris.core.bundle.files.read import Bundle, open_bundle
from verdigris.core.material.sides import THIN
from verdigris.core.network.light.both_sides import EVEN_SHARE
from verdigris.core.network.light.sampler import head_views
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import (
    AXIS_ROWS,
    COSINE_OFFSET,
    FRAME_ROWS,
    HALF_Z_MINIMUM,
    HEAD_SLOPE,
    LEAKY_SLOPE,
    LEAST_LEAN_COSINE,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    LEAST_VIEW_COSINES,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    MOST_LOBE_WIDTH,
    MOST_TILT,
    SMELU_WIDTH,
    STRETCH_LIMIT,
    TILT_SHARE,
    LatentLayout,
)

# A texel of a packet: Dr.Jit gathers four numbers at once.
_PACKET = 4
# Nearer to 1, single floats lose the length of a drawn direction.
_LARGEST_NUMBER = 0.9999
_SMALLEST = 1e-12
# Weights of a network whose layers are written out; larger ones use cooperative vectors.
_MOST_UNROLLED = 8192
Numbers = list[Any]


@dataclass
class _Frame:
    """An orthonormal frame of a lobe."""

    tangent: Any
    bitangent: Any
    normal: Any

    def local(self, vector: Any) -> Any:
        return mi.Vector3f(
            dr.dot(self.tangent, vector),
            dr.dot(self.bitangent, vector),
            dr.dot(self.normal, vector),
        )

    def world(self, vector: Any) -> Any:
        return self.tangent * vector.x + self.bitangent * vector.y + self.normal * vector.z


@dataclass
class _Lobe:
    """A GGX lobe of the sampler."""

    frame: _Frame
    seen: Any
    """The view direction in the frame, above its horizon."""
    width: Any
    weight: Any


@dataclass
class _Surface:
    """A place seen from a direction."""

    latent: Numbers
    frames: list[_Frame]
    stretch: list[Any]
    view: Any
    lobes: list[_Lobe]
    cosine_weight: Any
    uniform_weight: Any


def _normalise(vector: Any) -> Any:
    return vector / dr.maximum(dr.norm(vector), LENGTH_EPSILON)


def _logarithm(cosine: Any) -> Any:
    return LOGARITHM_SHARE * dr.log(dr.maximum(cosine, 0) + COSINE_OFFSET)


def _row(weights: np.ndarray[Any, Any], inputs: Numbers, bias: float = 0.0) -> Any:
    start = mi.Float(float(bias))
    pairs = zip(weights, inputs, strict=True)
    return reduce(lambda total, pair: dr.fma(float(pair[0]), pair[1], total), pairs, start)


def _around(cosine: Any, turn: Any) -> Any:
    sine, (s, c) = dr.safe_sqrt(1 - cosine * cosine), dr.sincos(dr.two_pi * turn)
    return mi.Vector3f(sine * c, sine * s, cosine)


class _Texture:
    """Mip levels of a texture whose uv wraps: gathered by hand, for the precision of bundles."""

    def __init__(self, levels: Sequence[np.ndarray[Any, Any]]) -> None:
        self.channels = levels[0].shape[2]
        sizes = np.array([level.shape[:2] for level in levels], np.uint32)
        offsets = np.cumsum([0, *(int(height) * int(width) for height, width in sizes[:-1])])
        self.texels = mi.Float(
            np.concatenate([np.ravel(each) for each in levels], dtype=np.float32)
        )
        self.heights, self.widths = mi.UInt32(sizes[:, 0]), mi.UInt32(sizes[:, 1])
        self.offsets = mi.UInt32(offsets.astype(np.uint32))
        self.levels = len(levels)

    def at(self, uv: Any, level: Any, active: Any) -> Numbers:
        """Channels, linear between texels and levels."""
        level = dr.clip(level, 0, self.levels - 1)
        lower = mi.UInt32(dr.floor(level))
        upper = dr.minimum(lower + 1, self.levels - 1)
        part = level - mi.Float(lower)
        first, second = (self._level(uv, each, active) for each in (lower, upper))
        return [dr.fma(b - a, part, a) for a, b in zip(first, second, strict=True)]

    def _level(self, uv: Any, level: Any, active: Any) -> Numbers:
        width, height, offset = (
            dr.gather(mi.UInt32, each, level, active)
            for each in (self.widths, self.heights, self.offsets)
        )
        columns, along = self._pair(uv.x, width)
        rows, across = self._pair(uv.y, height)
        total = [mi.Float(0)] * self.channels
        for row, in_row in zip(rows, (1 - across, across), strict=True):
            for column, in_column in zip(columns, (1 - along, along), strict=True):
                texel = self._texel(offset + row * width + column, active)
                total = [
                    dr.fma(value, in_row * in_column, sum_)
                    for value, sum_ in zip(texel, total, strict=True)
                ]
        return total

    def _pair(self, coordinate: Any, size: Any) -> tuple[list[Any], Any]:
        """Both texels around a coordinate, and the share of the second."""
        place = (coordinate - dr.floor(coordinate)) * mi.Float(size) - 0.5
        first = dr.floor(place)
        whole, last = mi.Int32(first), mi.Int32(size) - 1
        before = mi.UInt32(dr.select(whole < 0, last, whole))
        after = mi.UInt32(dr.select(whole >= last, 0, whole + 1))
        return [before, after], place - first

    def _texel(self, index: Any, active: Any) -> Numbers:
        if self.channels % _PACKET:
            return [
                dr.gather(mi.Float, self.texels, index * self.channels + channel, active)
                for channel in range(self.channels)
            ]
        packets = self.channels // _PACKET
        return [
            value
            for packet in range(packets)
            for value in dr.gather(mi.Vector4f, self.texels, index * packets + packet, active)
        ]


class _Decoder:
    """The numbers of a bundle in Dr.Jit: docs/FORMAT.md, step by step."""

    index = 0.0
    """Of the medium below a surface that transmits."""

    def __init__(self, bundle: Bundle, parameters: Parameters) -> None:
        if parameters.head is None:
            raise ValueError(f"{bundle.folder}: the bundle has no sampler: bake the material again")
        self._spec, layout = parameters.spec, parameters.layout
        levels = [
            parameters.latents[start : start + height * width].reshape(height, width, -1)
            for start, (height, width) in zip(
                layout.level_offsets, map(layout.level_size, range(layout.levels)), strict=False
            )
        ]
        self._latents = _Texture(levels)
        self._live = [float(each) for each in parameters.live]
        self._frames = parameters.frames()
        self._head = head_views(self._spec, parameters.head)
        self._layers = [
            (parameters.weights(each), parameters.bias(each)) for each in self._spec.layers
        ]
        advised = bundle.manifest.arithmetic.advised if bundle.manifest.arithmetic else "portable"
        size = sum(weights.size for weights, _ in self._layers)
        self._cooperative = None
        if "cuda" in mi.variant() and size > _MOST_UNROLLED and advised == "cooperative":
            self._cooperative = _pack(self._layers)

    def prepare(self, uv: Any, lod: Any, view: Any, active: Any) -> _Surface:
        level = dr.maximum(lod / 2, lod - 1)
        latent = [*self._latents.at(uv, level, active), *map(mi.Float, self._live)]
        raw = [_row(row, latent) for row in self._frames]
        frames, stretch, inputs = [], [], list(latent)
        for start in range(0, len(raw), FRAME_ROWS):
            r = raw[start : start + FRAME_ROWS]
            normal = _normalise(mi.Vector3f(r[0], r[1], r[2] + 1))
            tangent = mi.Vector3f(r[3] + 1, r[4], r[5])
            tangent = _normalise(tangent - normal * dr.dot(normal, tangent))
            frames.append(_Frame(tangent, dr.cross(normal, tangent), normal))
            limited = [STRETCH_LIMIT * dr.tanh(each / STRETCH_LIMIT) for each in r[AXIS_ROWS:]]
            stretch.append(mi.Vector2f(dr.exp(limited[0]), dr.exp(limited[1])))
            cosine = dr.dot(normal, view)
            inputs += [cosine, _logarithm(cosine)]
        inputs += [view.z, _logarithm(view.z)]
        lobes, cosine_weight, uniform_weight = self._mixture(inputs, frames, stretch, view)
        return _Surface(latent, frames, stretch, view, lobes, cosine_weight, uniform_weight)

    def _mixture(
        self, inputs: Numbers, frames: list[_Frame], stretch: list[Any], view: Any
    ) -> tuple[list[_Lobe], Any, Any]:
        first, first_bias, last, last_bias = self._head
        hidden = [_row(row, inputs, bias) for row, bias in zip(first, first_bias, strict=True)]
        hidden = [dr.maximum(each, HEAD_SLOPE * each) for each in hidden]
        y = [_row(row, hidden, bias) for row, bias in zip(last, last_bias, strict=True)]
        count = len(frames)
        logits = y[2 * count : 3 * count + 2]
        most = reduce(dr.maximum, logits)
        shares = [dr.exp(each - most) for each in logits]
        total = sum(shares[1:], shares[0])
        free = 1 - LEAST_LOBE_WEIGHT * len(shares)
        weights = [LEAST_LOBE_WEIGHT + free * each / total for each in shares]
        lobes = []
        for k, frame in enumerate(frames):
            # beyond these numbers the limits hold, and exp could overflow
            logarithm = dr.clip(mi.Vector2f(y[2 * k], y[2 * k + 1]), -40, 40)
            width = dr.clip(dr.exp(logarithm) / stretch[k], LEAST_LOBE_WIDTH, MOST_LOBE_WIDTH)
            following = frame.local(frames[(k + 1) % count].normal)
            lean = y[5 * count + 2 + k] / dr.maximum(following.z, LEAST_LEAN_COSINE)
            tilts = 3 * count + 2 + 2 * k
            tilt = [
                dr.clip(
                    TILT_SHARE * y[tilts + axis] + lean * following[axis], -MOST_TILT, MOST_TILT
                )
                for axis in range(2)
            ]
            normal = dr.normalize(
                frame.normal + frame.tangent * tilt[0] + frame.bitangent * tilt[1]
            )
            tangent = dr.normalize(frame.tangent - normal * dr.dot(normal, frame.tangent))
            tilted = _Frame(tangent, dr.cross(normal, tangent), normal)
            seen = tilted.local(view)
            least = dr.clip(dr.maximum(width.x, width.y), *LEAST_VIEW_COSINES)
            seen = _normalise(mi.Vector3f(seen.x, seen.y, dr.maximum(seen.z, least)))
            lobes.append(_Lobe(tilted, seen, width, weights[k]))
        return lobes, weights[-2], weights[-1]

    def response(self, surface: _Surface, light: Any) -> Numbers:
        """The BSDF times the cosine, red, green and blue."""
        inputs = list(surface.latent)
        for frame, stretch in zip(surface.frames, surface.stretch, strict=True):
            a, c = frame.local(light), frame.local(surface.view)
            h = _normalise(a + c)
            cosine = dr.dot(h, a)
            s = (cosine + a.z) / dr.maximum(1 + h.z, HALF_Z_MINIMUM)
            g = _normalise(mi.Vector3f(h.x * stretch.x, h.y * stretch.y, h.z))
            inputs += [*g, a.x - h.x * s, a.y - h.y * s, cosine]
            inputs += [a.z, c.z, _logarithm(a.z), _logarithm(c.z)]
        y = self._network(inputs)
        shift, limit = float(self._spec.output_shift), float(self._spec.output_limit)
        parts = [dr.exp(dr.minimum(each - shift, limit)) for each in y]
        is_lit = self.is_lit(surface, light)
        return [
            dr.select(is_lit, sum(parts[channel + 3 :: 3], parts[channel]), 0)
            for channel in range(3)
        ]

    def is_lit(self, surface: _Surface, light: Any) -> Any:
        return (light.z > 0) & (surface.view.z > 0)

    def _network(self, x: Numbers) -> Numbers:
        if self._cooperative is not None:
            return self._with_cooperative_vectors(x)
        for index, (weights, bias) in enumerate(self._layers):
            x = [_row(row, x, each) for row, each in zip(weights, bias, strict=True)]
            if index < self._spec.hidden_layers:
                x = [self._activation(each) for each in x]
        return x

    def _with_cooperative_vectors(self, x: Numbers) -> Numbers:
        from drjit import nn

        assert self._cooperative is not None
        vector = nn.CoopVec(*[mi.Float16(each) for each in x])
        for index, (weights, bias) in enumerate(self._cooperative):
            vector = nn.matvec(weights, vector, bias)
            if index < self._spec.hidden_layers:
                bent = [mi.Float16(self._activation(mi.Float(each))) for each in vector]
                vector = nn.CoopVec(*bent)
        return [mi.Float(each) for each in vector]

    def _activation(self, x: Any) -> Any:
        name = self._spec.activation
        if name == "relu":
            return dr.maximum(x, 0)
        if name == "leaky_relu":
            return dr.maximum(x, LEAKY_SLOPE * x)
        if name == "silu":
            return x / (1 + dr.exp(dr.minimum(-x, 80)))
        q = dr.clip(x + SMELU_WIDTH, 0, 2 * SMELU_WIDTH)
        bent = q * q / (4 * SMELU_WIDTH) + dr.maximum(x - SMELU_WIDTH, 0)
        return LEAKY_SLOPE * x + (1 - LEAKY_SLOPE) * bent

    def density(self, surface: _Surface, light: Any) -> Any:
        even = surface.cosine_weight * light.z * dr.inv_pi + surface.uniform_weight * dr.inv_two_pi
        total = dr.select(light.z > 0, even, 0)
        for lobe in surface.lobes:
            total += lobe.weight * _ggx_density(lobe, lobe.frame.local(light))
        return total

    def draw(self, surface: _Surface, numbers: Any) -> Any:
        """A direction to the light; one below the horizon carries no light."""
        weights = [
            *(lobe.weight for lobe in surface.lobes),
            surface.cosine_weight,
            surface.uniform_weight,
        ]
        height = dr.minimum(numbers.y, _LARGEST_NUMBER)
        drawn = [
            lambda turn, lobe=lobe: lobe.frame.world(_draw_ggx(lobe, turn, height))
            for lobe in surface.lobes
        ]
        drawn.append(lambda turn: _around(dr.safe_sqrt(1 - height), turn))
        drawn.append(lambda turn: _around(height, turn))
        before, light = mi.Float(0), mi.Vector3f(0, 0, 1)
        for index, (weight, direction) in enumerate(zip(weights, drawn, strict=True)):
            is_chosen = numbers.x >= before
            turn = dr.clip((numbers.x - before) / weight, 0, dr.one_minus_epsilon(mi.Float))
            light = dr.select(is_chosen, direction(turn), light) if index else direction(turn)
            before = before + weight
        return light


@dataclass
class _BothSides:
    """A place of a surface that transmits."""

    above: _Surface
    below: _Surface

    @property
    def view(self) -> Any:
        return self.above.view


class _Sides:
    """Both decoders of a surface that transmits, as one over the whole sphere."""

    def __init__(self, bundle: Bundle, parameters: Parameters) -> None:
        self._above, self._below = (_Decoder(bundle, side) for side in parameters.sides)
        self.index = parameters.index_below

    def prepare(self, uv: Any, lod: Any, view: Any, active: Any) -> _BothSides:
        return _BothSides(
            self._above.prepare(uv, lod, view, active), self._below.prepare(uv, lod, view, active)
        )

    def is_lit(self, surface: _BothSides, light: Any) -> Any:
        return (light.z != 0) & (surface.view.z > 0)

    def response(self, surface: _BothSides, light: Any) -> Numbers:
        mirrored = self._mirrored(light, surface.view)
        upper = self._above.response(surface.above, light)
        lower = self._below.response(surface.below, mirrored)
        return [dr.select(light.z < 0, b, a) for a, b in zip(upper, lower, strict=True)]

    def density(self, surface: _BothSides, light: Any) -> Any:
        mirrored = self._mirrored(light, surface.view)
        _, change = self._passed(mirrored, surface.view)
        upper = EVEN_SHARE * self._above.density(surface.above, light)
        lower = (1 - EVEN_SHARE) * change * self._below.density(surface.below, mirrored)
        lower = dr.select(mirrored.z > 0, lower, 0)
        return dr.select(light.z < 0, lower, dr.select(light.z > 0, upper, 0))

    def draw(self, surface: _BothSides, numbers: Any) -> Any:
        """A direction to the light; one without length carries no light."""
        is_above = numbers.x < EVEN_SHARE
        rest = (numbers.x - EVEN_SHARE) / (1 - EVEN_SHARE)
        turn = dr.select(is_above, numbers.x / EVEN_SHARE, rest)
        turn = dr.clip(turn, 0, dr.one_minus_epsilon(mi.Float))
        chosen = mi.Point2f(turn, numbers.y)
        upper = self._above.draw(surface.above, chosen)
        mirrored = self._below.draw(surface.below, chosen)
        lower, _ = self._passed(mirrored, surface.view)
        light = dr.select(is_above, upper, lower)
        is_lit = dr.select(is_above, upper.z > 0, (mirrored.z > 0) & (lower.z < 0))
        return dr.select(is_lit, light, mi.Vector3f(0))

    def _mirrored(self, light: Any, view: Any) -> Any:
        if self.index == THIN:
            return mi.Vector3f(light.x, light.y, -light.z)
        h = _normalise(-(view + self.index * light))
        h = dr.select(h.z < 0, -h, h)
        seen = dr.dot(view, h)
        is_lit = (seen > 0) & (dr.dot(light, h) < 0)
        return dr.select(is_lit, 2 * seen * h - view, mi.Vector3f(0, 0, -1))

    def _passed(self, mirrored: Any, view: Any) -> tuple[Any, Any]:
        """The light of a mirrored direction, and its density by that of the mirrored one."""
        if self.index == THIN:
            return mi.Vector3f(mirrored.x, mirrored.y, -mirrored.z), mi.Float(1)
        h = _normalise(mirrored + view)
        seen = dr.dot(view, h)
        inner2 = 1 - (1 - seen * seen) / self.index**2
        light = (seen / self.index - dr.safe_sqrt(inner2)) * h - view / self.index
        light = dr.select(inner2 > 0, light, mi.Vector3f(0))
        across = dr.dot(light, h)
        path = seen + self.index * across
        change = 4 * seen * self.index**2 * dr.abs(across) / dr.maximum(path * path, 1e-6)
        return light, change


def _ggx_density(lobe: _Lobe, a: Any) -> Any:
    h = _normalise(a + lobe.seen)
    x, y = h.x / lobe.width.x, h.y / lobe.width.y
    spread = x * x + y * y + h.z * h.z
    across = mi.Vector3f(lobe.seen.x * lobe.width.x, lobe.seen.y * lobe.width.y, lobe.seen.z)
    area = dr.pi * lobe.width.x * lobe.width.y * spread * spread
    density = 1 / (area * 2 * (lobe.seen.z + dr.norm(across)))
    return dr.select((h.z > 0) & (dr.dot(a, h) > 0), density, 0)


def _draw_ggx(lobe: _Lobe, turn: Any, height: Any) -> Any:
    width, seen = lobe.width, lobe.seen
    e = _normalise(mi.Vector3f(width.x * seen.x, width.y * seen.y, seen.z))
    m = _around(dr.fma(1 - height, 1 + e.z, -e.z), turn) + e
    h = _normalise(mi.Vector3f(width.x * m.x, width.y * m.y, dr.maximum(m.z, 0)))
    return 2 * dr.dot(h, seen) * h - seen


def _pack(layers: Sequence[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]) -> list[Any]:
    from drjit import nn

    tensors = [mi.TensorXf16(np.asarray(each, np.float16)) for layer in layers for each in layer]
    _, *views = nn.pack(*tensors, layout="inference")
    return list(zip(views[::2], views[1::2], strict=True))


def _colour(channels: Numbers) -> Any:
    if mi.is_monochromatic:
        return mi.Color1f(mi.luminance(mi.Color3f(*channels)))
    return mi.Color3f(*channels)


def _opened(properties: Any) -> Bundle:
    if mi.is_spectral or mi.is_polarized or "scalar" in mi.variant():
        raise ValueError(
            f"{properties.plugin_name()} cannot work in the variant {mi.variant()}: "
            "use llvm_ad_rgb or cuda_ad_rgb"
        )
    if not properties.has_property("filename"):
        raise ValueError("verdigris needs `filename`, the folder of a bundle: NAME.vdg")
    path = Path(str(mi.file_resolver().resolve(properties["filename"])))
    return open_bundle(path)


def _place(si: Any) -> Any:
    """uv as bundles have it: v grows upwards in an image."""
    return mi.Point2f(si.uv.x, 1 - si.uv.y)


def _lod(si: Any, layout: LatentLayout) -> Any:
    """log2 of the footprint's longer side, in texels of the latents; a ray without differentials
    gets the finest texels."""
    scale = mi.Vector2f(layout.width, layout.height)
    along, across = dr.norm(si.duv_dx * scale), dr.norm(si.duv_dy * scale)
    return dr.log2(dr.maximum(dr.maximum(along, across), _SMALLEST))


def _towards_growing_v(si: Any) -> Any:
    """1 or -1: the sign of y in a bundle's tangent space, whose y grows with v."""
    return dr.select(dr.dot(si.sh_frame.t, si.dp_dv) > 0, -1.0, 1.0)


def register() -> None:
    """Registers the plug-ins for the current variant."""

    class Verdigris(mi.BSDF):
        """A neural material, with its opacity."""

        def __init__(self, properties: Any) -> None:
            mi.BSDF.__init__(self, properties)
            bundle = _opened(properties)
            parameters = bundle.parameters()
            decoder = _Decoder if parameters.transmitted is None else _Sides
            self._name, self._decoder = str(bundle.folder), decoder(bundle, parameters)
            self._index = self._decoder.index
            self._layout = bundle.layout
            opacity = bundle.opacity()
            levels = opacity and [each.astype(np.float32) / 255 for each in opacity]
            self._opacity = _Texture(levels) if levels else None
            glossy = mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.DiffuseReflection
            spatial = mi.BSDFFlags.SpatiallyVarying
            both = mi.BSDFFlags.FrontSide | mi.BSDFFlags.BackSide
            if self._index:
                glossy |= mi.BSDFFlags.GlossyTransmission | mi.BSDFFlags.DiffuseTransmission
            sides = both if self._index == THIN else mi.BSDFFlags.FrontSide
            self.m_components = [glossy | spatial | sides]
            if self._is_solid:
                smooth = mi.BSDFFlags.DeltaReflection | mi.BSDFFlags.DeltaTransmission
                self.m_components += [smooth | mi.BSDFFlags.BackSide]
            if self._opacity is not None:
                self.m_components += [mi.BSDFFlags.Null | spatial | both]
            self.m_flags = reduce(lambda first, second: first | second, self.m_components)

        @property
        def _is_solid(self) -> bool:
            return self._index not in (0.0, THIN)

        def needs_differentials(self) -> bool:
            return True

        def _surface(self, si: Any, active: Any) -> tuple[Any, Any]:
            """The place, and the signs of directions in a bundle's space."""
            sign = mi.Vector3f(1, _towards_growing_v(si), 1)
            if self._index == THIN:
                # a thin wall looks the same from behind
                sign.z = dr.select(si.wi.z < 0, -1.0, 1.0)
            view = si.wi * sign
            lod = _lod(si, self._layout)
            return self._decoder.prepare(_place(si), lod, view, active), sign

        def _cover(self, si: Any, active: Any) -> Any:
            if self._opacity is None:
                return mi.Float(1)
            return self._opacity.at(_place(si), _lod(si, self._layout), active)[0]

        def sample(
            self, ctx: Any, si: Any, sample1: Any, sample2: Any, active: Any = True
        ) -> tuple[Any, Any]:
            surface, sign = self._surface(si, active)
            drawn = self._sample(surface, sign, si, sample1, sample2, active)
            return self._from_inside(drawn, si, sample1, active)

        def _from_inside(
            self, drawn: tuple[Any, Any], si: Any, sample1: Any, active: Any
        ) -> tuple[Any, Any]:
            """Bundles do not describe a solid that is seen from inside: its surface is smooth."""
            if not self._is_solid:
                return drawn
            result, weight = drawn
            is_inside = active & (si.wi.z < 0)
            reflected, cosine, by_it, by_ti = mi.fresnel(si.wi.z, self._index)
            turns = sample1 <= reflected
            smooth = dr.zeros(mi.BSDFSample3f, dr.width(result.wo))
            smooth.wo = dr.select(turns, mi.reflect(si.wi), mi.refract(si.wi, cosine, by_ti))
            smooth.pdf = dr.select(turns, reflected, 1 - reflected)
            smooth.eta = dr.select(turns, 1.0, by_it)
            smooth.sampled_component = mi.UInt32(1)
            kinds = mi.BSDFFlags.DeltaReflection, mi.BSDFFlags.DeltaTransmission
            smooth.sampled_type = dr.select(turns, *(mi.UInt32(int(kind)) for kind in kinds))
            result = dr.select(is_inside, smooth, result)
            return result, dr.select(is_inside, dr.select(turns, 1.0, by_ti * by_ti), weight)

        def _below_a_solid(self, value: Any, light: Any) -> Any:
            """Bundles divide the light below a solid by the square of the index."""
            return (
                dr.select(light.z < 0, value / self._index**2, value) if self._is_solid else value
            )

        def _sample(
            self, surface: Any, sign: Any, si: Any, sample1: Any, sample2: Any, active: Any
        ) -> tuple[Any, Any]:
            light = self._decoder.draw(surface, sample2)
            density = self._decoder.density(surface, light)
            value = self._below_a_solid(_colour(self._decoder.response(surface, light)), light)
            is_lit = active & self._decoder.is_lit(surface, light) & (density > 0)
            cover = self._cover(si, active)
            passes = active & (sample1 >= cover)
            result = dr.zeros(mi.BSDFSample3f, dr.width(light))
            result.wo = dr.select(passes, -si.wi, light * sign)
            result.pdf = dr.select(passes, 1 - cover, density * cover)
            result.eta = dr.select(light.z < 0, self._index or 1.0, 1.0)
            null = len(self.m_components) - 1
            result.sampled_component = dr.select(passes, mi.UInt32(null), mi.UInt32(0))
            kinds = mi.BSDFFlags.GlossyTransmission, mi.BSDFFlags.GlossyReflection
            kind = dr.select(light.z < 0, *(mi.UInt32(int(each)) for each in kinds))
            result.sampled_type = dr.select(passes, mi.UInt32(int(mi.BSDFFlags.Null)), kind)
            # the response contains the cover already
            weight = value / dr.maximum(density * cover, _SMALLEST)
            weight = dr.select(is_lit, weight, 0)
            return result, dr.select(
                passes, mi.Color3f(1) if not mi.is_monochromatic else 1, weight
            )

        def eval(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
            return self.eval_pdf(ctx, si, wo, active)[0]

        def pdf(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> Any:
            return self.eval_pdf(ctx, si, wo, active)[1]

        def eval_pdf(self, ctx: Any, si: Any, wo: Any, active: Any = True) -> tuple[Any, Any]:
            surface, sign = self._surface(si, active)
            return self._eval_pdf(surface, sign, si, wo, active)

        def _eval_pdf(
            self, surface: Any, sign: Any, si: Any, wo: Any, active: Any
        ) -> tuple[Any, Any]:
            light = wo * sign
            is_lit = active & self._decoder.is_lit(surface, light)
            value = self._below_a_solid(_colour(self._decoder.response(surface, light)), light)
            density = self._decoder.density(surface, light) * self._cover(si, active)
            return dr.select(is_lit, value, 0), dr.select(is_lit, density, 0)

        def eval_pdf_sample(
            self, ctx: Any, si: Any, wo: Any, sample1: Any, sample2: Any, active: Any = True
        ) -> tuple[Any, Any, Any, Any]:
            surface, sign = self._surface(si, active)
            drawn = self._sample(surface, sign, si, sample1, sample2, active)
            drawn = self._from_inside(drawn, si, sample1, active)
            return (*self._eval_pdf(surface, sign, si, wo, active), *drawn)

        def eval_null_transmission(self, si: Any, active: Any = True) -> Any:
            return _colour([1 - self._cover(si, active)] * 3)

        def traverse(self, callback: Any) -> None:
            """Its numbers are no parameters of the scene."""

        def to_string(self) -> str:
            return f"Verdigris[{self._name}]"

    class VerdigrisEmission(mi.Texture):
        """The light that a bundle emits, as the radiance of an area emitter."""

        def __init__(self, properties: Any) -> None:
            mi.Texture.__init__(self, properties)
            bundle = _opened(properties)
            levels = bundle.emission()
            if levels is None:
                raise ValueError(f"{bundle.folder}: the material emits no light")
            self._map = _Texture([each[..., :3].astype(np.float32) for each in levels])
            self._layout = bundle.layout
            self._mean = float(levels[-1][..., :3].mean())

        def eval(self, si: Any, active: Any = True) -> Any:
            return _colour(self._map.at(_place(si), _lod(si, self._layout), active))

        def mean(self) -> Any:
            return mi.Float(self._mean)

        def is_spatially_varying(self) -> bool:
            return True

        def traverse(self, callback: Any) -> None:
            """Its texels are no parameters of the scene."""

        def to_string(self) -> str:
            return "VerdigrisEmission[]"

    mi.register_bsdf("verdigris", Verdigris)
    mi.register_texture("verdigris_emission", VerdigrisEmission)


if mi.variant() is not None:
    register()
