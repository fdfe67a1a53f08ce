// SPDX-License-Identifier: Apache-2.0

import { bitReader, readIndices } from "./bc7.js";
import { VerdigrisError } from "./errors.js";

const MODE = 3; // five bits, called mode 11
const HALF_ONE = 0x3c00;

/**
 * Decodes blocks of unsigned BC6H with mode 11, which has two endpoints of 10 bits, to RGBA halves. Verdigris writes no
 * other mode.
 * @returns {Uint8Array} 8 bytes for each texel
 */
export function decodeBc6h(blocks, width, height, file = "the texture") {
  const across = Math.ceil(width / 4);
  const result = new Uint16Array(4 * width * height);
  for (let block = 0; block < blocks.length / 16; block++) {
    const bits = bitReader(blocks, 16 * block);
    if (bits(5) !== MODE) {
      throw new VerdigrisError(
        file,
        `has a BC6H block ${block} that is not of mode 11, the only one that this package decodes: use a device with BC6H textures, or write the bundle again`,
      );
    }
    const ends = [0, 1].map(() => [0, 1, 2].map(() => whole(bits(10))));
    const weights = readIndices(bits, 4);
    const [x0, y0] = [4 * (block % across), 4 * Math.floor(block / across)];
    for (let texel = 0; texel < 16; texel++) {
      const [x, y] = [x0 + (texel & 3), y0 + (texel >> 2)];
      if (x >= width || y >= height) continue;
      const at = 4 * (y * width + x);
      for (let channel = 0; channel < 3; channel++) {
        const value = ((64 - weights[texel]) * ends[0][channel] + weights[texel] * ends[1][channel] + 32) >> 6;
        result[at + channel] = (value * 31) >> 6;
      }
      result[at + 3] = HALF_ONE;
    }
  }
  return new Uint8Array(result.buffer);
}

/** 10 bits as 16, with both ends of the range exact. */
function whole(value) {
  if (value === 0) return 0;
  return value === 1023 ? 0xffff : ((value << 16) + 0x8000) >> 10;
}
