// SPDX-License-Identifier: Apache-2.0

import {
  CompressedArrayTexture,
  CompressedTexture,
  DataTexture,
  HalfFloatType,
  LinearFilter,
  LinearMipmapLinearFilter,
  NoColorSpace,
  RGBAFormat,
  RGBA_ASTC_4x4_Format,
  RGBA_BPTC_Format,
  RGB_BPTC_UNSIGNED_Format,
  RedFormat,
  RepeatWrapping,
  UnsignedByteType,
} from "three";
import { isBlocks, withoutBlocks } from "./ktx2.js";

// By format: three.js's, and its type.
const FORMATS = {
  R8_UNORM: [RedFormat, UnsignedByteType],
  R8G8B8A8_UNORM: [RGBAFormat, UnsignedByteType],
  R16G16B16A16_SFLOAT: [RGBAFormat, HalfFloatType],
  BC6H_UFLOAT_BLOCK: [RGB_BPTC_UNSIGNED_Format, HalfFloatType],
  BC7_UNORM_BLOCK: [RGBA_BPTC_Format, UnsignedByteType],
  ASTC_4x4_UNORM_BLOCK: [RGBA_ASTC_4x4_Format, UnsignedByteType],
};

/**
 * A texture of a bundle with its own mip levels: KTX2Loader would keep layer 0 of the latents only, and
 * DataArrayTexture uploads no mip levels.
 * @param {(format: string) => boolean} reads whether the device reads blocks of a format
 */
export function makeTexture(texture, reads, file) {
  const stored = isBlocks(texture) && reads(texture.format) ? texture : withoutBlocks(texture, file);
  const { width, height, layers } = stored;
  const [format, type] = FORMATS[stored.format];
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
