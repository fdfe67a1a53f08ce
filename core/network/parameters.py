"""The student's parameters (the flat decoder vector and the latent texels) and their file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.arrays import UNREADABLE, open_archive, stored_array, why_unreadable
from verdigris.core.base.errors import SettingsError, VerdigrisError, reason, suggest_elsewhere
from verdigris.core.base.files import replace_file
from verdigris.core.base.json_fields import load_json
from verdigris.core.material.sides import THIN
from verdigris.core.network.spec import LatentLayout, LayerSpec, NetworkSpec

# He initialisation keeps the variance through rectifiers. The last layer starts small: first
# responses are nearly exp(-output_shift), and gradients stay small.
_OUTPUT_SCALE = 0.5
# Neighbouring texels must differ for the decoder, but less than half vectors.
_LATENT_SCALE = 0.1
# Names of arrays in a file.
_BELOW, _INDEX = "transmitted_decoder", "transmitted_index"
# Frames start near the surface's frame.
_FRAME_SCALE = 0.1


class CheckpointError(VerdigrisError):
    """A checkpoint that cannot be read or written, or has wrong contents."""


@dataclass
class TransmittedSide:
    """What a surface that transmits has for light from below, with the same latents."""

    decoder: FloatArray
    """Like that of Parameters. It is given the mirrored direction of light: see sides.py."""
    index: float = THIN
    """The index of the medium below; THIN for a thin wall."""
    head: FloatArray | None = None

    def converted(self, convert: Callable[[FloatArray], FloatArray]) -> TransmittedSide:
        """A copy with other arrays."""
        head = None if self.head is None else convert(self.head)
        return replace(self, decoder=convert(self.decoder), head=head)


@dataclass
class Parameters:
    """The decoder (flat, see spec.py) and the latents ([texels, channels], see LatentLayout)."""

    spec: NetworkSpec
    layout: LatentLayout
    decoder: FloatArray
    latents: FloatArray
    head: FloatArray | None = None
    """The heads of sampler and split (flat, see NetworkSpec.head_layers), fitted after
    training."""
    live: tuple[float, ...] = ()
    """Live values from 0 to 1 for evaluations without live values."""
    transmitted: TransmittedSide | None = None
    """For light from below; None for opaque surfaces."""

    def __post_init__(self) -> None:
        if not self.live:
            self.live = (0.0,) * self.spec.live_inputs
        if len(self.live) != self.spec.live_inputs:
            raise SettingsError(
                f"there are {len(self.live)} live values: the specification needs "
                f"{self.spec.live_inputs}"
            )
        expected = {
            "decoder": (self.spec.parameter_count,),
            "latents": (self.layout.texel_count, self.spec.latent_channels),
        }
        if self.head is not None:
            expected["head"] = (self.spec.head_layers[-1].end,)
        if self.transmitted is not None:
            expected["transmitted.decoder"] = expected["decoder"]
        for name, shape in expected.items():
            found = attrgetter(name)(self).shape
            if found != shape:
                raise SettingsError(f"{name} has shape {found}: the specification needs {shape}")

    def frames(self) -> FloatArray:
        """A view of the frame matrix, [frame rows, inputs of the place]."""
        start, size = self.spec.frame_offset, self.spec.frame_size
        return self.decoder[start : start + size].reshape(self.spec.frame_rows, -1)

    def weights(self, layer: LayerSpec) -> FloatArray:
        """A view of a layer's weights, [outputs, inputs]."""
        return self.decoder[layer.weight_offset : layer.bias_offset].reshape(layer.outputs, -1)

    def bias(self, layer: LayerSpec) -> FloatArray:
        """A view of a layer's bias."""
        return self.decoder[layer.bias_offset : layer.end]

    def level(self, level: int) -> FloatArray:
        """A view of a mip level's latents, [materials, height, width, channels]."""
        offsets = self.layout.level_offsets
        texels = self.latents[offsets[level] : offsets[level + 1]]
        return texels.reshape(self.layout.materials, *self.layout.level_size(level), -1)

    def of_material(self, material: int) -> Parameters:
        """The decoder with the texels of one material."""
        if self.layout.materials == 1:
            return self
        layout = replace(self.layout, materials=1)
        levels = [self.level(level)[material] for level in range(layout.levels)]
        own = np.concatenate([level.reshape(-1, level.shape[-1]) for level in levels])
        return replace(self, layout=layout, latents=own)

    @property
    def sides(self) -> tuple[Parameters, ...]:
        """Views for light from above, and from below if the surface transmits, each as parameters
        of one side. The second one is evaluated as the first, with mirrored directions."""
        above = replace(self, transmitted=None)
        if self.transmitted is None:
            return (above,)
        below = self.transmitted
        return above, replace(above, decoder=below.decoder, head=below.head)

    def with_heads(
        self, head: FloatArray | None = None, below: FloatArray | None = None
    ) -> Parameters:
        """The same with another head for each side."""
        transmitted = replace(self.transmitted, head=below) if self.transmitted else None
        return replace(self, head=head, transmitted=transmitted)

    @property
    def decoders(self) -> tuple[FloatArray, ...]:
        """The decoder of each side."""
        return tuple(side.decoder for side in self.sides)

    def with_decoders(self, decoder: FloatArray, below: FloatArray | None = None) -> Parameters:
        """The same with another decoder for each side."""
        transmitted = self.transmitted
        if transmitted is not None and below is not None:
            transmitted = replace(transmitted, decoder=below)
        return replace(self, decoder=decoder, transmitted=transmitted)

    def joined_decoders(self) -> FloatArray:
        """The decoders of all sides as devices hold them: see NetworkSpec.joined_count."""
        length = self.spec.joined_count(len(self.sides)) // len(self.sides)
        return np.concatenate([np.pad(each, (0, length - each.size)) for each in self.decoders])

    @property
    def index_below(self) -> float:
        """The index of the transmitted side; 0 if there is none."""
        return self.transmitted.index if self.transmitted else 0.0

    @property
    def byte_size(self) -> int:
        return int(self.decoder.nbytes + self.latents.nbytes)

    def astype(self, dtype: Any) -> Parameters:
        """A copy in another precision."""
        head = None if self.head is None else self.head.astype(dtype)
        decoder, latents = self.decoder.astype(dtype), self.latents.astype(dtype)
        below = self._converted(lambda each: each.astype(dtype))
        return replace(self, decoder=decoder, latents=latents, head=head, transmitted=below)

    def _converted(self, convert: Callable[[FloatArray], FloatArray]) -> TransmittedSide | None:
        return self.transmitted.converted(convert) if self.transmitted else None

    def with_double_decoder(self) -> Parameters:
        """Parameters with the decoder in doubles. Gathered latents become doubles with it, so the
        large texture need not be copied."""
        head = None if self.head is None else self.head.astype(np.float64)
        below = self._converted(lambda each: each.astype(np.float64))
        return replace(self, decoder=self.decoder.astype(np.float64), head=head, transmitted=below)

    def in_single_floats(self) -> Parameters:
        """Parameters in single floats, in which engines compute. Only doubles are copied."""
        head = None if self.head is None else np.asarray(self.head, np.float32)
        decoder, latents = (np.asarray(each, np.float32) for each in (self.decoder, self.latents))
        below = self._converted(lambda each: np.asarray(each, np.float32))
        return replace(self, decoder=decoder, latents=latents, head=head, transmitted=below)

    def copy(self) -> Parameters:
        return self.astype(self.decoder.dtype)


def with_live(
    parameters: Parameters, latent: FloatArray, live: NDArray[Any] | None = None
) -> FloatArray:
    """The inputs of the place for frames and layers: latents [channels, N], then live values
    [N, inputs], or the parameters' own."""
    inputs = parameters.spec.live_inputs
    if not inputs:
        return latent
    values = np.asarray(parameters.live if live is None else live, latent.dtype).reshape(-1, inputs)
    rows = np.broadcast_to(values.T, (inputs, latent.shape[1]))
    return np.concatenate([latent, rows])


def from_joined(
    spec: NetworkSpec, layout: LatentLayout, joined: FloatArray, latents: FloatArray, index: float
) -> Parameters:
    """Parameters with joined decoders, of one side if the index below is 0."""
    parts = np.split(joined, 2 if index else 1)
    above, *below = (part[: spec.parameter_count] for part in parts)
    transmitted = TransmittedSide(below[0], index) if below else None
    return Parameters(spec, layout, above, latents, transmitted=transmitted)


def initialise(
    spec: NetworkSpec, layout: LatentLayout, seed: int, index_below: float = 0.0
) -> Parameters:
    """Initial fp32 parameters. The same seed gives the same values on every machine. With an index,
    they have a transmitted side."""
    decoder_random, latent_random = np.random.default_rng(seed).spawn(2)
    parameters = Parameters(
        spec,
        layout,
        np.zeros(spec.parameter_count, np.float32),
        np.empty((layout.texel_count, spec.latent_channels), np.float32),
    )
    if index_below:
        parameters.transmitted = TransmittedSide(np.zeros_like(parameters.decoder), index_below)
    for side in parameters.sides:
        _initialise_decoder(side, decoder_random)
    latent_random.standard_normal(out=parameters.latents, dtype=np.float32)
    parameters.latents *= np.float32(_LATENT_SCALE)
    return parameters


def _initialise_decoder(parameters: Parameters, random: np.random.Generator) -> None:
    spec = parameters.spec
    parameters.frames()[:] = _FRAME_SCALE * random.standard_normal(
        (spec.frame_rows, spec.place_inputs)
    )
    for layer in spec.layers:
        scale = np.sqrt(2.0 / layer.inputs)
        if layer is spec.layers[-1]:
            scale *= _OUTPUT_SCALE
        shape = (layer.outputs, layer.inputs)
        parameters.weights(layer)[:] = scale * random.standard_normal(shape)


def save_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Writes an npz under a temporary name and renames it, so that readers never see a part."""
    try:
        # numpy's stub mistakes the keywords for allow_pickle
        replace_file(path, partial(cast("Any", np.savez), **arrays))
    except OSError as error:
        raise CheckpointError(
            f"{path}: cannot be written ({reason(error)}): {suggest_elsewhere(error)}"
        ) from error


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of an npz. A CheckpointError names file and array."""
    name = "archive"
    try:
        with open_archive(path) as archive:
            arrays = {}
            for name in archive.files:
                arrays[name] = stored_array(archive, name)
            return arrays
    except UNREADABLE as error:
        raise CheckpointError(f"{path}: {name} cannot be read ({why_unreadable(error)})") from error


def to_arrays(parameters: Parameters) -> dict[str, NDArray[Any]]:
    """The parameters as arrays; specification and layout are texts as bytes."""
    below = parameters.transmitted
    return {
        "spec": _text(parameters.spec.to_json()),
        "layout": _text(json.dumps(asdict(parameters.layout), sort_keys=True)),
        "decoder": parameters.decoder,
        "latents": parameters.latents,
        **({_BELOW: below.decoder, _INDEX: np.array(below.index)} if below else {}),
    }


def from_arrays(arrays: dict[str, NDArray[Any]], source: Path) -> Parameters:
    """The inverse of to_arrays. A CheckpointError names source and field."""
    for name in ("spec", "layout", "decoder", "latents"):
        if name not in arrays:
            raise CheckpointError(f"{source}: {name} is missing")
    below = None
    if _BELOW in arrays and arrays.get(_INDEX, np.empty(0)).shape == ():
        below = TransmittedSide(arrays[_BELOW], float(arrays[_INDEX]))
    for name in ("decoder", "latents", *((_BELOW,) if below else ())):
        if arrays[name].dtype.kind != "f":
            raise CheckpointError(f"{source}: {name} has type {arrays[name].dtype}, not float")
        if not np.isfinite(arrays[name]).all():
            raise CheckpointError(f"{source}: {name} contains values that are not finite")
    name = "spec"
    try:
        spec = NetworkSpec.from_json(arrays["spec"].tobytes().decode())
        name = "layout"
        layout = LatentLayout(**load_json(arrays["layout"].tobytes(), name, SettingsError))
    except (SettingsError, ValueError, TypeError) as error:
        raise CheckpointError(f"{source}: {name}: {error}") from error
    try:
        decoder, latents = arrays["decoder"], arrays["latents"]
        return Parameters(spec, layout, decoder, latents, transmitted=below)
    except SettingsError as error:
        raise CheckpointError(f"{source}: {error}") from error


def save(parameters: Parameters, path: Path) -> None:
    save_arrays(path, to_arrays(parameters))


def load(path: Path) -> Parameters:
    return from_arrays(load_arrays(path), path)


def _text(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
