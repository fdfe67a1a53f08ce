import { VerdigrisError } from "./errors.js";

const WEIGHTS = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64];

/**
 * Decodes blocks of BC7 mode 6 to RGBA bytes. Verdigris writes no other mode.
 * @param {Uint8Array} blocks 16 bytes for each block of 4 x 4 texels, row by row
 * @returns {Uint8Array} 4 bytes for each texel
 */
export function decodeBc7(blocks, width, height, file = "the texture") {
  const across = Math.ceil(width / 4);
  const result = new Uint8Array(4 * width * height);
  const low = new Uint8Array(4);
  const high = new Uint8Array(4);
  for (let block = 0; block < blocks.length / 16; block++) {
    const bits = bitReader(blocks, 16 * block);
    if (bits(7) !== 64) {
      throw new VerdigrisError(
        file,
        `has a BC7 block ${block} that is not of mode 6, the only one of this format: use a device with BC7 textures, or write the bundle again`,
      );
    }
    for (let channel = 0; channel < 4; channel++) {
      low[channel] = bits(7) << 1;
      high[channel] = bits(7) << 1;
    }
    const parity = [bits(1), bits(1)];
    for (let channel = 0; channel < 4; channel++) {
      low[channel] |= parity[0];
      high[channel] |= parity[1];
    }
    const x0 = 4 * (block % across);
    const y0 = 4 * Math.floor(block / across);
    for (let texel = 0; texel < 16; texel++) {
      const weight = WEIGHTS[bits(texel ? 4 : 3)];
      const x = x0 + (texel & 3);
      const y = y0 + (texel >> 2);
      if (x >= width || y >= height) continue;
      const at = 4 * (y * width + x);
      for (let channel = 0; channel < 4; channel++) {
        result[at + channel] = ((64 - weight) * low[channel] + weight * high[channel] + 32) >> 6;
      }
    }
  }
  return result;
}

/** Reads bits of a block, the lowest first. */
function bitReader(bytes, start) {
  let at = 0;
  return (count) => {
    let value = 0;
    for (let bit = 0; bit < count; bit++, at++) {
      value |= ((bytes[start + (at >> 3)] >> (at & 7)) & 1) << bit;
    }
    return value;
  };
}
