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
 */
export function makeTexture(texture, reads, file) {
  const stored = isBlocks(texture) && reads(texture.format) ? texture : withoutBlocks(texture, file);
  const { width, height, layers } = stored;
  const [format, type] = FORMATS[stored.format].three;
  const isHalf = stored.format === "R16G16B16A16_SFLOAT";
  const mipmaps = stored.levels.map((level) => ({ ...level, data: isHalf ? asHalves(level.data) : level.data }));
  if (layers) return repeating(new CompressedArrayTexture(mipmaps, width, height, layers, format, type));
  if (isBlocks(stored)) return repeating(new CompressedTexture(mipmaps, width, height, format, type));
  const result = new DataTexture(mipmaps[0].data, width, height, format, type);
  result.mipmaps = mipmaps;
  result.unpackAlignment = 1;
  return repeating(result);
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
