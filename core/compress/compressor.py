"""Trains two BC7 textures and a network that stand for all textures of a material."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.compress.compressed_set import (
    INPUTS,
    NEAR,
    QUAD,
    CompressedSet,
    Latents,
    level_sizes,
    lines_of,
    pack_lines,
    unpack_lines,
    whole_blocks,
)
from verdigris.core.compress.mlp import (
    Adam,
    Layer,
    Network,
    Program,
    first_layers,
    network_defines,
    read,
)
from verdigris.core.compress.texture_set import resized
from verdigris.core.network.latents import bc7

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats

NETWORK_RATE, LATENT_RATE = 3e-3, 2e-2
# Parts of the steps after which indices are rounded, and after which blocks stay as they are.
ROUNDED_FROM, FROZEN_FROM = 0.4, 0.85
# Exponent of the weights: 0 counts all errors alike, 2 counts them relative to the variation of
# their channel.
_EVENNESS, _LEAST_SPREAD = 1.5, 0.02
_KERNELS = "compress/textures"


@dataclass(frozen=True)
class Effort:
    """The size of the network, and how long it is trained."""

    width: int
    hidden: int
    samples: int
    """Number of texels in a step."""
    steps: int


class Grid:
    """A BC7 texture while it is trained: ends of blocks, and shares of texels between them."""

    def __init__(self, program: Program, levels: Sequence[Floats]) -> None:
        self._program = program
        lines = [lines_of(texels) for texels in levels]
        ends, shares = (np.concatenate(parts) for parts in zip(*lines, strict=True))
        self.sizes = [texels.shape[:2] for texels in levels]
        self._counts = [len(level) for level, _ in lines]
        first = np.cumsum([0, *self._counts[:-1]])
        table = [(columns, rows, at) for (rows, columns), at in zip(self.sizes, first, strict=True)]
        self._adam = Adam(program, np.concatenate([ends.ravel(), shares.ravel()]))
        self._texels = program.zeros(len(ends), bc7.TEXELS, QUAD)
        self.arguments = {
            "blocks": len(ends),
            "levels": len(levels),
            "sizes": program.buffer(np.array(table, np.uint32)),
            "values": self._adam.values,
            "gradients": self._adam.gradients,
            "texels": self._texels,
            "byTexels": program.zeros(len(ends), bc7.TEXELS, QUAD),
        }
        self.expand(is_rounded=False)

    @property
    def blocks(self) -> int:
        """Number of blocks of all levels."""
        return sum(self._counts)

    def expand(self, is_rounded: bool) -> None:
        """Computes the texels from the values."""
        self._program.run_in_parts(
            "expandBlocks", self.blocks * bc7.TEXELS, grid=self.arguments, isRounded=int(is_rounded)
        )

    def step(self, rate: float) -> None:
        self._program.run("collectGradients", self.blocks, grid=self.arguments)
        self._adam.step(rate)

    def pack(self) -> Latents:
        """The BC7 blocks. From now on, the texels are what the blocks decode to."""
        values = np.clip(read(self._adam.values, self._adam.count), 0, 1)
        ends, shares = np.split(values, [self.blocks * 2 * QUAD])
        blocks = pack_lines(ends.reshape(-1, 2, QUAD), shares.reshape(-1, bc7.TEXELS))
        self._texels.copy_from_numpy(unpack_lines(blocks).ravel())
        parts = np.split(blocks, np.cumsum(self._counts)[:-1])
        levels = [
            part.reshape(bc7.blocks_of(rows), bc7.blocks_of(columns), bc7.BLOCK_BYTES)
            for part, (rows, columns) in zip(parts, self.sizes, strict=True)
        ]
        rows, columns = self.sizes[0]
        return Latents(rows, columns, levels)


class Compressor:
    """The textures of a material on a device, and the latents and network that stand for them."""

    def __init__(
        self,
        device: Device,
        levels: Sequence[Floats],
        shares: tuple[float, float],
        effort: Effort,
        weights: Floats | None = None,
    ) -> None:
        """`levels` are the mip levels [rows, columns, channels] of the textures, finest first, with
        numbers from 0 to 1. `shares` are the sides of both latent textures, in sides of the finest.
        `weights` weigh the square errors of each channel; by default they are equal."""
        rows, columns, channels = levels[0].shape
        self._shapes = [level.shape[:2] for level in levels]
        self._effort, self._channels = effort, channels
        weights = np.ones(channels, np.float32) if weights is None else weights
        layers = first_layers([INPUTS, *[effort.width] * effort.hidden, channels])
        # the network starts with the mean of each channel
        layers[-1].bias[:] = levels[0].mean((0, 1))
        layers[-1].matrix[:] *= 0.1
        defines: dict[str, Any] = {**network_defines(device, layers), "NEAR": NEAR}
        self._program = Program(device, _KERNELS, **defines)
        self._network = Network(self._program, layers, effort.samples)
        table, first = [], 0
        for height, width in self._shapes:
            table.append((width, height, first))
            first += height * width
        self._textures = {
            "levels": len(levels),
            "sizes": self._program.buffer(np.array(table, np.uint32)),
            "texels": self._program.buffer(np.concatenate([each.ravel() for each in levels])),
            "weights": self._program.buffer(weights),
        }
        parts = principal_components([np.sqrt(weights) * each for each in levels], 2 * QUAD)
        # each texture has its own line in a block, so the two largest components are apart
        self._grids = [
            Grid(
                self._program,
                [
                    resized(part[..., index::2], *size)
                    for part, size in zip(
                        parts,
                        level_sizes(*whole_blocks(share, rows, columns)),
                        # a latent texture has fewer levels than the textures, or as many
                        strict=False,
                    )
                ],
            )
            for index, share in enumerate(shares)
        ]
        self._latents: list[Latents] = []
        names = zip(("fine", "coarse"), self._grids, strict=True)
        self._arguments = {name: grid.arguments for name, grid in names}

    def train(
        self, begun: int = 0, until: float = 1.0, show: Callable[[float], None] | None = None
    ) -> int:
        """Trains from a step on, until a part of the steps is done. Returns the next step."""
        steps = self._effort.steps
        last = round(until * steps)
        for step in range(begun, last):
            done = step / steps
            fallen = 0.5 + 0.5 * np.cos(np.pi * done)
            if done >= FROZEN_FROM and not self._latents:
                self._latents = [grid.pack() for grid in self._grids]
            self._program.run(
                "trainTexels",
                self._effort.samples,
                latents=self._arguments,
                textures=self._textures,
                step=step,
                **self._network.training,
            )
            self._network.step(NETWORK_RATE * fallen)
            for grid in self._grids if not self._latents else []:
                grid.step(LATENT_RATE * fallen)
                grid.expand(done >= ROUNDED_FROM)
            if show and step % 10 == 0:
                show(done)
        return last

    def decode(self, level: int = 0) -> Floats:
        """All channels of a level, [rows, columns, channels]."""
        rows, columns = self._shapes[level]
        found = self._program.zeros(rows, columns, self._channels)
        self._program.run_in_parts(
            "decodeTexels",
            rows * columns,
            network=self._network.buffers,
            latents=self._arguments,
            size=(columns, rows),
            level=level,
            found=found,
        )
        return read(found, rows, columns, self._channels)

    def compressed(self) -> CompressedSet:
        """The result to store; it ends the training."""
        halves = [
            Layer(*(part.astype(np.float16).astype(np.float32) for part in layer))
            for layer in self._network.layers()
        ]
        latents = self._latents or [grid.pack() for grid in self._grids]
        return CompressedSet(self._shapes[0], len(self._shapes), latents, halves)


def channel_weights(texels: Floats) -> Floats:
    """Weights of the channels, with mean 1. They are larger for channels that vary little, such as
    normals, which a mean over all channels would give up for a strong mask."""
    weights = (texels.std((0, 1)) + _LEAST_SPREAD) ** -_EVENNESS
    return np.asarray(weights / weights.mean(), np.float32)


def principal_components(levels: Sequence[Floats], count: int) -> list[Floats]:
    """The first principal components of the channels, for each level, from 0 to 1 with one scale:
    the latents at the start. The axes are those of the finest level."""
    flat = levels[0].reshape(-1, levels[0].shape[-1])
    mean = flat.mean(0)
    centred = flat - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :count]
    scale: Any = 2 * np.abs(centred @ axes).max() + 1e-6
    found = []
    for level in levels:
        parts = (level - mean) @ axes / scale + 0.5
        missing: Any = np.full((*level.shape[:2], count - parts.shape[-1]), 0.5)
        found.append(np.concatenate([parts, missing], -1).astype(np.float32))
    return found
