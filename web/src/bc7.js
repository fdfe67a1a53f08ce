// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError } from "./errors.js";

/** Shares of the second endpoint in 64ths, by the number of bits of an index. */
export const WEIGHTS = {
  2: [0, 21, 43, 64],
  3: [0, 9, 18, 27, 37, 46, 55, 64],
  4: [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64],
};

/**
 * Decodes BC7 blocks with modes 4, 5 and 6, which have one set of endpoints. Verdigris writes no others.
 * @param {Uint8Array} blocks 16 bytes for each block of 4 x 4 texels, row by row
 * @returns {Uint8Array} 4 bytes for each texel
 */
export function decodeBc7(blocks, width, height, file = "the texture") {
  const across = Math.ceil(width / 4);
  const result = new Uint8Array(4 * width * height);
  const texels = new Uint8Array(64);
  for (let block = 0; block < blocks.length / 16; block++) {
    const bits = bitReader(blocks, 16 * block);
    let mode = 0;
    while (mode < 8 && !bits(1)) mode++;
    if (mode < 4 || mode > 6) {
      throw new VerdigrisError(
        file,
        `has a BC7 block ${block} of mode ${mode}, and this package decodes modes 4 to 6: use a device with BC7 textures, or write the bundle again`,
      );
    }
    decodeBlock(bits, mode, texels);
    const [x0, y0] = [4 * (block % across), 4 * Math.floor(block / across)];
    for (let texel = 0; texel < 16; texel++) {
      const [x, y] = [x0 + (texel & 3), y0 + (texel >> 2)];
      if (x < width && y < height) result.set(texels.subarray(4 * texel, 4 * texel + 4), 4 * (y * width + x));
    }
  }
  return result;
}

function decodeBlock(bits, mode, texels) {
  const rotation = mode === 6 ? 0 : bits(2);
  const isSwapped = mode === 4 && bits(1) === 1;
  const sizes = { 4: [5, 5, 5, 6], 5: [7, 7, 7, 8], 6: [7, 7, 7, 7] }[mode];
  const ends = sizes.map((size) => [bits(size), bits(size)]);
  const parity = mode === 6 ? [bits(1), bits(1)] : null;
  const bytes = ends.map((pair, channel) =>
    pair.map((value, end) => (parity ? (value << 1) | parity[end] : (value << (8 - sizes[channel])) | (value >> (2 * sizes[channel] - 8)))),
  );
  const first = readIndices(bits, mode === 6 ? 4 : 2);
  const second = mode === 6 ? first : readIndices(bits, mode === 4 ? 3 : 2);
  const [colour, alpha] = isSwapped ? [second, first] : [first, second];
  for (let texel = 0; texel < 16; texel++) {
    for (let channel = 0; channel < 4; channel++) {
      const weight = (channel === 3 ? alpha : colour)[texel];
      // the channel that alpha was exchanged with
      let place = channel;
      if (rotation && channel === rotation - 1) place = 3;
      else if (rotation && channel === 3) place = rotation - 1;
      texels[4 * texel + place] = ((64 - weight) * bytes[channel][0] + weight * bytes[channel][1] + 32) >> 6;
    }
  }
}

/** The weights of all texels; the first index lacks its highest bit. */
export function readIndices(bits, size) {
  return Array.from({ length: 16 }, (_, texel) => WEIGHTS[size][bits(texel ? size : size - 1)]);
}

/** Reads bits of a block, the lowest first. */
export function bitReader(bytes, start) {
  let at = 0;
  return (count) => {
    let value = 0;
    for (let bit = 0; bit < count; bit++, at++) {
      value |= ((bytes[start + (at >> 3)] >> (at & 7)) & 1) << bit;
    }
    return value;
  };
}
