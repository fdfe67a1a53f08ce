// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError } from "./errors.js";
import { FORMATS, blockSide, isBlocks } from "./formats.js";
import { halvesToFloats } from "./halves.js";

const IDENTIFIER = [0xab, 0x4b, 0x54, 0x58, 0x20, 0x32, 0x30, 0xbb, 0x0d, 0x0a, 0x1a, 0x0a];
const LARGEST_SIDE = 8192;

/**
 * A texture of a bundle. `levels[l]` has `width`, `height` and `data`: all layers one after another,
 * row 0 with the lowest v. `layers` is 0 for a texture that is not an array.
 * @typedef {{format: string, width: number, height: number, layers: number,
 *   levels: {width: number, height: number, data: Uint8Array}[]}} Texture
 */

/**
 * Reads a KTX 2.0 file of a bundle and compares it with the manifest's entry.
 * @param {Uint8Array} bytes
 * @param {string} file its name, for messages
 * @param {{format: string, width: number, height: number, levels: number, layers: number}} wanted
 * @returns {Texture}
 */
export function readKtx2(bytes, file, wanted) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const damaged = (field, message) => new VerdigrisError(file, `${message}: the file is damaged, copy the bundle again`, field);
  if (bytes.length < 80 || IDENTIFIER.some((each, index) => bytes[index] !== each)) {
    throw damaged("identifier", "is not that of a KTX 2.0 file");
  }
  const word = (at) => view.getUint32(at, true);
  const format = Object.keys(FORMATS).find((name) => FORMATS[name].number === word(12));
  if (!format) {
    const known = Object.entries(FORMATS).map(([name, { number }]) => `${name} (${number})`).join(", ");
    throw new VerdigrisError(file, `is ${word(12)}: this package reads ${known}`, "vkFormat");
  }
  if (word(44)) {
    throw new VerdigrisError(file, `is ${word(44)}: write the bundle without supercompression`, "supercompressionScheme");
  }
  const found = {
    format,
    width: word(20),
    height: word(24),
    layers: word(32),
    levels: word(40),
  };
  if (word(36) !== 1) throw damaged("faceCount", `is ${word(36)} and not 1`);
  for (const [field, value] of Object.entries(found)) {
    if (value !== wanted[field]) throw damaged(field, `is ${value}, and ${wanted[field]} in manifest.json`);
  }
  const { width, height, layers } = found;
  const count = layers || 1;
  const full = 1 + Math.floor(Math.log2(Math.max(width, height)));
  if (!width || !height || Math.max(width, height) > LARGEST_SIDE || found.levels !== full) {
    throw damaged("levelCount", `is ${found.levels} for ${width} x ${height} texels`);
  }
  if (80 + 24 * full > bytes.length) throw damaged("levelIndex", "ends behind the file's end");
  const levels = [];
  const side = blockSide(format);
  for (let level = 0; level < full; level++) {
    const at = 80 + 24 * level;
    const [w, h] = [Math.max(1, width >> level), Math.max(1, height >> level)];
    const blocks = Math.ceil(w / side) * Math.ceil(h / side);
    const length = blocks * FORMATS[format].bytes * count;
    const offset = Number(view.getBigUint64(at, true));
    if (Number(view.getBigUint64(at + 8, true)) !== length) {
      throw damaged(`levels[${level}].byteLength`, `is ${view.getBigUint64(at + 8, true)} and not ${length}`);
    }
    if (offset + length > bytes.length) throw damaged(`levels[${level}].byteOffset`, `is ${offset}, and the file has ${bytes.length} bytes`);
    levels.push({ width: w, height: h, data: bytes.subarray(offset, offset + length) });
  }
  return { format, width, height, layers, levels };
}

/** The same texture in plain texels, for devices that do not read its blocks. */
export function withoutBlocks(texture, file = "the texture") {
  if (!isBlocks(texture)) return texture;
  const { decode, plain } = FORMATS[texture.format];
  if (!decode) {
    throw new VerdigrisError(file, `has the format ${texture.format}, which this device cannot read: use the bundle that it was exported from`);
  }
  const levels = texture.levels.map(({ width, height, data }) => {
    const count = texture.layers || 1;
    const size = data.length / count;
    const decoded = FORMATS[plain].bytes * width * height;
    const texels = new Uint8Array(decoded * count);
    for (let layer = 0; layer < count; layer++) {
      texels.set(decode(data.subarray(size * layer, size * (layer + 1)), width, height, file), decoded * layer);
    }
    return { width, height, data: texels };
  });
  return { ...texture, format: plain, levels };
}

/** A level's values, bytes as 0 to 1, in the order of the file. */
export function levelValues(texture, level, file) {
  const { format, levels } = withoutBlocks({ ...texture, levels: [texture.levels[level]] }, file);
  const [{ data }] = levels;
  if (format === "R16G16B16A16_SFLOAT") return halvesToFloats(data);
  return Float64Array.from(data, (each) => each / 255);
}
