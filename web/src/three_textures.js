// SPDX-License-Identifier: Apache-2.0

import {
  CompressedArrayTexture,
  CompressedTexture,
  DataTexture,
  LinearFilter,
  LinearMipmapLinearFilter,
  NoColorSpace,
  RepeatWrapping,
} from "three";
import { FORMATS, isBlocks } from "./formats.js";
import { withoutBlocks } from "./ktx2.js";

/**
 * A texture of a bundle with its own mip levels. KTX2Loader would keep only layer 0 of the latents, and DataArrayTexture
 * uploads no mip levels.
 * @param {(format: string) => boolean} reads whether the device reads blocks of a format
 * @param {import("three").Texture | null} before a texture that this one replaces: it is kept if it has the size and format
 */
export function makeTexture(texture, reads, file, before = null) {
  const stored = isBlocks(texture) && reads(texture.format) ? texture : withoutBlocks(texture, file);
  const { width, height, layers } = stored;
  const [format, type] = FORMATS[stored.format].three;
  const isHalf = stored.format === "R16G16B16A16_SFLOAT";
  const mipmaps = stored.levels.map((level) => ({ ...level, data: isHalf ? asHalves(level.data) : level.data }));
  if (before && before.format === format && before.type === type && isAsLarge(before.mipmaps, mipmaps)) {
    // into the same memory of the device, level by level
    before.mipmaps = mipmaps;
    if (before.isDataTexture) before.image = { ...before.image, data: mipmaps[0].data };
    before.needsUpdate = true;
    return before;
  }
  before?.dispose();
  if (layers) return repeating(new CompressedArrayTexture(mipmaps, width, height, layers, format, type));
  if (isBlocks(stored)) return repeating(new CompressedTexture(mipmaps, width, height, format, type));
  const result = new DataTexture(mipmaps[0].data, width, height, format, type);
  result.mipmaps = mipmaps;
  result.unpackAlignment = 1;
  return repeating(result);
}

function isAsLarge(first, second) {
  return first.length === second.length && first[0].data.length === second[0].data.length && first[0].width === second[0].width;
}

function repeating(texture) {
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.magFilter = LinearFilter;
  texture.generateMipmaps = false;
  texture.flipY = false;
  texture.colorSpace = NoColorSpace;
  texture.needsUpdate = true;
  return texture;
}

function asHalves(bytes) {
  return new Uint16Array(bytes.slice().buffer);
}
