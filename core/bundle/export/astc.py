"""ASTC blocks of 4 x 4 texels, by Arm's encoder: the package astc-encoder-py, an optional extra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import BundleError

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]

SIDE, BLOCK_BYTES = 4, 16
# Of 0 to 100: beyond it, seconds grow and errors hardly fall.
QUALITY = 98.0
_CHANNELS = 4


class AstcEncoder:
    """Encodes bytes of four channels as blocks, and decodes them again."""

    def __init__(self) -> None:
        try:
            import astc_encoder
        except ImportError:
            raise BundleError(
                "--target astc needs the package astc-encoder-py: install it with "
                "`pip install astc-encoder-py`, or choose --target rgba8"
            ) from None
        self._package: Any = astc_encoder
        profile = astc_encoder.ASTCProfile.LDR
        config = astc_encoder.ASTCConfig(profile, SIDE, SIDE, quality=QUALITY)
        self._context = astc_encoder.ASTCContext(config)
        self._swizzle = astc_encoder.ASTCSwizzle.from_str("RGBA")

    def encode(self, level: Bytes) -> Bytes:
        """Blocks [layers, rows, columns, 16] of bytes [layers, height, width, 4]."""
        layers, height, width, _ = level.shape
        rows, columns = -(-height // SIDE), -(-width // SIDE)
        data = [self._context.compress(self._image(each), self._swizzle) for each in level]
        blocks = np.frombuffer(b"".join(data), np.uint8)
        return blocks.reshape(layers, rows, columns, BLOCK_BYTES)

    def decode(self, blocks: Bytes, height: int, width: int) -> Floats:
        """What a texture unit reads, from 0 to 1: half floats of 16 bits. Bytes would be those of
        the mode `decode_unorm8`, up to a whole one off."""
        found = []
        for layer in blocks:
            image = self._package.ASTCImage(self._package.ASTCType.F32, width, height)
            self._context.decompress(layer.tobytes(), image, self._swizzle)
            found.append(np.frombuffer(image.data, np.float32).reshape(height, width, _CHANNELS))
        return np.stack(found)

    def _image(self, texels: Bytes) -> Any:
        height, width, _ = texels.shape
        data = np.ascontiguousarray(texels).tobytes()
        return self._package.ASTCImage(self._package.ASTCType.U8, width, height, data=data)


def encode_levels(levels: Sequence[Bytes]) -> tuple[list[Bytes], list[Floats]]:
    """The blocks of each level, and what they decode to."""
    encoder = AstcEncoder()
    blocks = [encoder.encode(level) for level in levels]
    decoded = [
        encoder.decode(each, *level.shape[1:3]) for each, level in zip(blocks, levels, strict=True)
    ]
    return blocks, decoded
