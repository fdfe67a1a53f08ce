// SPDX-License-Identifier: Apache-2.0

import { decodeBc6h } from "./bc6h.js";
import { decodeBc7 } from "./bc7.js";

// What a device needs for blocks: a feature of WebGPU, an extension of WebGL 2.
const BC = { feature: "texture-compression-bc", extension: "EXT_texture_compression_bptc" };
const ASTC = { feature: "texture-compression-astc", extension: "WEBGL_compressed_texture_astc" };
// Constants of three.js: formats, then types. For blocks it has the numbers of OpenGL.
const [RGBA, RED] = [1023, 1028];
const [BYTES, HALVES] = [1009, 1016];

/**
 * The texel formats of bundles, by their name in the manifest. A new one is a row here, in verdigris.h and in
 * core/bundle/files/ktx2.py; tests/core/bundle/files/test_formats.py compares the three.
 *
 * `number` is its VkFormat, `bytes` are those of a texel, or of a block of 4 x 4 texels if the format has `blocks`.
 * `uses` names the textures of a bundle that may have it. `gl` is internal format, format and type of WebGL 2, by name,
 * or the number of a compressed format. `decode` makes texels of the format `plain` from a level of blocks; without it
 * only devices read them.
 */
export const FORMATS = {
  R8_UNORM: { number: 9, bytes: 1, uses: ["opacity"], words: "8-bit", gl: ["R8", "RED", "UNSIGNED_BYTE"], webgpu: "r8unorm", three: [RED, BYTES] },
  R8G8B8A8_UNORM: { number: 37, bytes: 4, uses: ["latents", "relief"], words: "8-bit", gl: ["RGBA8", "RGBA", "UNSIGNED_BYTE"], webgpu: "rgba8unorm", three: [RGBA, BYTES] },
  R8G8B8A8_SRGB: { number: 43, bytes: 4, uses: ["proxies"], words: "sRGB", gl: ["SRGB8_ALPHA8", "RGBA", "UNSIGNED_BYTE"], webgpu: "rgba8unorm-srgb", three: [RGBA, BYTES] },
  R16G16B16A16_SFLOAT: { number: 97, bytes: 8, uses: ["latents", "emission"], words: "half-float", gl: ["RGBA16F", "RGBA", "HALF_FLOAT"], webgpu: "rgba16float", three: [RGBA, HALVES] },
  BC6H_UFLOAT_BLOCK: { number: 143, bytes: 16, uses: ["emission"], words: "BC6H", blocks: BC, decode: decodeBc6h, plain: "R16G16B16A16_SFLOAT", gl: [0x8e8f], webgpu: "bc6h-rgb-ufloat", three: [0x8e8f, HALVES] },
  BC7_UNORM_BLOCK: { number: 145, bytes: 16, uses: ["latents"], words: "BC7", blocks: BC, decode: decodeBc7, plain: "R8G8B8A8_UNORM", gl: [0x8e8c], webgpu: "bc7-rgba-unorm", three: [0x8e8c, BYTES] },
  ASTC_4x4_UNORM_BLOCK: { number: 157, bytes: 16, uses: ["latents"], words: "ASTC", blocks: ASTC, gl: [0x93b0], webgpu: "astc-4x4-unorm", three: [0x93b0, BYTES] },
};

/** Names of the formats that a texture of a bundle may have: `latents`, `emission`, `opacity`, `relief` or `proxies`. */
export function formatsOf(texture) {
  return Object.keys(FORMATS).filter((name) => FORMATS[name].uses.includes(texture));
}

/** Texels along a side of a block; 1 for plain texels. */
export function blockSide(format) {
  return FORMATS[format].blocks ? 4 : 1;
}

/** Whether a texture is stored in blocks of 4 x 4 texels. */
export function isBlocks({ format }) {
  return blockSide(format) > 1;
}
