// SPDX-License-Identifier: Apache-2.0

import { compareWithReference } from "./decoder.js";
import { FORMATS } from "./formats.js";
import { NUMBERS_WIDTH, decoderGlsl } from "./glsl.js";
import { withoutBlocks } from "./ktx2.js";
import { liveVector } from "./live.js";
import { shaderKey } from "./network.js";
import { packNumbers } from "./packing.js";

export { reliefGlsl } from "./relief.js";

const TEXTURES = ["latents", "emission", "opacity", "relief"];
const HEAD = "#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\nprecision highp sampler2DArray;\n";

/** A material on a WebGL2 context: latents, numbers, maps, and the shader text that reads them. */
export class GlMaterial {
  /** @param {{filter?: "sampled" | "exact", numbers?: "block" | "texture"}} options */
  constructor(gl, material, { filter = "sampled", numbers } = {}) {
    this.gl = gl;
    this.material = material;
    const packed = packNumbers(material);
    // GPUs read uniform blocks faster, CPUs textures
    const fits = packed.floats.byteLength <= gl.getParameter(gl.MAX_UNIFORM_BLOCK_SIZE);
    const isBlock = numbers ? numbers === "block" : fits && !isSoftware(gl);
    /** The decoder's functions, which follow the precision statements of a fragment shader. */
    this.glsl = decoderGlsl(material, { filter, numbers: isBlock ? "block" : "texture" });
    this.numbers = isBlock ? uploadBlock(gl, packed.floats) : uploadNumbers(gl, packed);
    this.isBlock = isBlock;
    this.key = shaderKey(material);
    for (const name of TEXTURES) this[name] = material[name] && uploadTexture(gl, material[name], material.manifest[name].file);
  }

  /**
   * Shows another state of the material, as a live link does: replaces numbers and texels.
   * @returns {boolean} whether the shader text fits; if not, nothing was replaced: make a new GlMaterial
   */
  update(material) {
    const { gl } = this;
    if (shaderKey(material) !== this.key) return false;
    const packed = packNumbers(material);
    if (this.isBlock) {
      gl.bindBuffer(gl.UNIFORM_BUFFER, this.numbers);
      gl.bufferSubData(gl.UNIFORM_BUFFER, 0, packed.floats);
    } else {
      const { data, width, height } = paddedNumbers(packed);
      gl.bindTexture(gl.TEXTURE_2D, this.numbers);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.FLOAT, data);
    }
    for (const name of TEXTURES) {
      const [before, after] = [this.material[name], material[name]];
      if (!after) continue;
      const isAsLarge = ["format", "width", "height", "layers"].every((each) => before[each] === after[each]);
      if (!isAsLarge) gl.deleteTexture(this[name]);
      this[name] = uploadTexture(gl, after, material.manifest[name].file, isAsLarge ? this[name] : null);
    }
    this.material = material;
    return true;
  }

  /**
   * Binds latents and numbers to a program: at texture units `unit` and `unit` + 1, and at uniform block `block`.
   */
  bind(program, unit = 0, block = 0) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, this.latents);
    gl.uniform1i(gl.getUniformLocation(program, "neuralLatents"), unit);
    if (this.isBlock) {
      gl.uniformBlockBinding(program, gl.getUniformBlockIndex(program, "NeuralNumbers"), block);
      gl.bindBufferBase(gl.UNIFORM_BUFFER, block, this.numbers);
      return;
    }
    gl.activeTexture(gl.TEXTURE0 + unit + 1);
    gl.bindTexture(gl.TEXTURE_2D, this.numbers);
    gl.uniform1i(gl.getUniformLocation(program, "neuralNumbers"), unit + 1);
  }

  dispose() {
    const { gl } = this;
    for (const name of TEXTURES) if (this[name]) gl.deleteTexture(this[name]);
    if (this.isBlock) gl.deleteBuffer(this.numbers);
    else gl.deleteTexture(this.numbers);
  }
}

/** Whether a CPU draws. */
export function isSoftware(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** Uploads a texture of a bundle with its own mip levels, repeating and trilinear; or into one with its format and size. */
export function uploadTexture(gl, texture, file, into = null) {
  const isArray = texture.layers > 0;
  const target = isArray ? gl.TEXTURE_2D_ARRAY : gl.TEXTURE_2D;
  const needed = FORMATS[texture.format].blocks;
  const blocks = needed && gl.getExtension(needed.extension);
  const stored = blocks ? texture : withoutBlocks(texture, file);
  const [internal, format, type] = FORMATS[stored.format].gl.map((each) => gl[each] ?? each);
  const handle = into ?? gl.createTexture();
  gl.bindTexture(target, handle);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
  const { width, height, layers, levels } = stored;
  if (into) {
    // it has its memory
  } else if (isArray) gl.texStorage3D(target, levels.length, internal, width, height, layers);
  else gl.texStorage2D(target, levels.length, internal, width, height);
  levels.forEach(({ width: w, height: h, data }, level) => {
    const texels = type === gl.HALF_FLOAT ? new Uint16Array(data.slice().buffer) : data;
    if (blocks && isArray) gl.compressedTexSubImage3D(target, level, 0, 0, 0, w, h, layers, internal, data);
    else if (blocks) gl.compressedTexSubImage2D(target, level, 0, 0, w, h, internal, data);
    else if (isArray) gl.texSubImage3D(target, level, 0, 0, 0, w, h, layers, format, type, texels);
    else gl.texSubImage2D(target, level, 0, 0, w, h, format, type, texels);
  });
  gl.texParameteri(target, gl.TEXTURE_WRAP_S, gl.REPEAT);
  gl.texParameteri(target, gl.TEXTURE_WRAP_T, gl.REPEAT);
  gl.texParameteri(target, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
  gl.texParameteri(target, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
  return handle;
}

function uploadBlock(gl, floats) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.UNIFORM_BUFFER, buffer);
  gl.bufferData(gl.UNIFORM_BUFFER, floats, gl.STATIC_DRAW);
  return buffer;
}

/** The numbers as rows of a float texture, the last padded. */
export function paddedNumbers({ floats, count }) {
  const height = Math.ceil(count / NUMBERS_WIDTH);
  const data = new Float32Array(4 * NUMBERS_WIDTH * height);
  data.set(floats);
  return { data, width: NUMBERS_WIDTH, height };
}

function uploadNumbers(gl, packed) {
  const { data, width, height } = paddedNumbers(packed);
  return floatTexture(gl, data, width, height);
}

function floatTexture(gl, data, width, height) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, data);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return texture;
}

/** Compiles a program. The fragment shader's text starts behind version and precision. */
export function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  const shaders = [
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ].map(([kind, text]) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, HEAD + text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    return shader;
  });
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = [...shaders.map((shader) => gl.getShaderInfoLog(shader)), gl.getProgramInfoLog(program)];
    throw new Error(`the shader does not compile on this device: ${logs.filter(Boolean).join(" ").trim()}`);
  }
  return program;
}

/** A triangle that covers the picture, without buffers: draw 3 vertices. */
export const COVERING_VERTEX = `out vec2 place;
void main() {
  place = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(place, 0.0, 1.0);
}`;

const ROWS_WIDTH = 256;

/**
 * Evaluates the rows of a reference in a fragment shader, with exact filtering, and reads them back. `before` is a material
 * that is uploaded first, and then updated.
 * @returns {number[][]} a response for each row
 */
export function evaluateRows(gl, material, reference, { before, ...options } = {}) {
  // half floats are enough, if the device cannot draw to single floats
  const isSingle = gl.getExtension("EXT_color_buffer_float");
  if (!isSingle && !gl.getExtension("EXT_color_buffer_half_float")) {
    throw new Error("this device cannot draw to float textures, so the decoder cannot be checked on it");
  }
  const uploaded = new GlMaterial(gl, before ?? material, { filter: "exact", ...options });
  if (before && !uploaded.update(material)) throw new Error("the materials have different shaders");
  const evaluate = reference.live
    ? "neuralShade(neuralPrepareLive(first.xy, first.z, wo, vec3(first.w, light.w, view.w)), wi)"
    : "neuralEvaluate(first.xy, first.z, wi, wo)";
  const program = makeProgram(
    gl,
    COVERING_VERTEX,
    `${uploaded.glsl}
uniform sampler2D rows;
out vec4 color;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 first = texelFetch(rows, ivec2(3 * at.x, at.y), 0);
  vec4 light = texelFetch(rows, ivec2(3 * at.x + 1, at.y), 0);
  vec4 view = texelFetch(rows, ivec2(3 * at.x + 2, at.y), 0);
  vec3 wi = light.xyz;
  vec3 wo = view.xyz;
  color = vec4(${evaluate}, 1.0);
}`,
  );
  const height = Math.ceil(reference.count / ROWS_WIDTH);
  const input = new Float32Array(12 * ROWS_WIDTH * height);
  for (let row = 0; row < reference.count; row++) {
    const [x, y, z] = liveVector(reference.live?.[row] ?? []);
    input.set([...reference.uv[row], reference.lod[row], x, ...reference.wi[row], y, ...reference.wo[row], z], 12 * row);
  }
  const rows = floatTexture(gl, input, 3 * ROWS_WIDTH, height);
  const target = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, target);
  gl.texStorage2D(gl.TEXTURE_2D, 1, isSingle ? gl.RGBA32F : gl.RGBA16F, ROWS_WIDTH, height);
  const buffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
  gl.viewport(0, 0, ROWS_WIDTH, height);
  gl.disable(gl.BLEND);
  gl.disable(gl.DEPTH_TEST);
  gl.useProgram(program);
  uploaded.bind(program, 1, 0);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, rows);
  gl.uniform1i(gl.getUniformLocation(program, "rows"), 0);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
  const output = new Float32Array(4 * ROWS_WIDTH * height);
  gl.readPixels(0, 0, ROWS_WIDTH, height, gl.RGBA, gl.FLOAT, output);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.deleteFramebuffer(buffer);
  gl.deleteTexture(target);
  gl.deleteTexture(rows);
  gl.deleteProgram(program);
  uploaded.dispose();
  return Array.from({ length: reference.count }, (_, row) => [...output.subarray(4 * row, 4 * row + 3)]);
}

/** Compares this device's decoder with the bundle's reference. */
export async function check(gl, material) {
  const reference = await material.reference();
  return compareWithReference(reference, evaluateRows(gl, material, reference), material.manifest.bounds);
}
