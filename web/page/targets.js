// SPDX-License-Identifier: Apache-2.0

import { CUBE_WIDTH } from "verdigris/environment.js";

/** What is drawn into: linear light with coverage, and depth. */
export function makeTarget(gl, width, height, isFloat) {
  const texture = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, isFloat ? gl.RGBA32F : gl.RGBA16F, width, height);
  // single floats are filtered by few phones
  const filter = isFloat && !gl.getExtension("OES_texture_float_linear") ? gl.NEAREST : gl.LINEAR;
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
  for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  const buffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const depth = gl.createRenderbuffer();
  gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { texture, buffer, depth, width, height };
}

export function freeTarget(gl, { texture, buffer, depth }) {
  gl.deleteTexture(texture);
  gl.deleteFramebuffer(buffer);
  gl.deleteRenderbuffer(depth);
}

/** The cube map of the environment, empty. */
export function makeCube(gl) {
  const cube = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_CUBE_MAP, cube);
  gl.texStorage2D(gl.TEXTURE_CUBE_MAP, 1 + Math.log2(CUBE_WIDTH), gl.RGBA16F, CUBE_WIDTH, CUBE_WIDTH);
  gl.texParameteri(gl.TEXTURE_CUBE_MAP, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  gl.texParameteri(gl.TEXTURE_CUBE_MAP, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
  return cube;
}
