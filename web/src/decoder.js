// SPDX-License-Identifier: Apache-2.0

import { levelValues } from "./ktx2.js";
import { mirroredLight } from "./sides.js";

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/**
 * Evaluates a material on the CPU in double precision, in the plain form of docs/FORMAT.md: to check shaders, and to
 * bake textures. src/glsl.js and src/wgsl.js do the same on a GPU.
 */
export class Decoder {
  constructor(material, tensors = material.tensors, levels = null) {
    this.material = material;
    this.tensors = tensors;
    this.levels = levels ?? material.latents.levels.map((_, level) => levelValues(material.latents, level, material.manifest.latents.file));
    const { network, transmission } = material;
    // of light from below a surface that transmits
    this.below = transmission && !levels ? new Decoder(material, transmission.tensors, this.levels) : null;
    this.layers = Array.from({ length: network.hiddenLayers + 1 }, (_, layer) => ({
      weights: tensors[`layer${layer}.weights`],
      bias: tensors[`layer${layer}.bias`],
    }));
    this.activate = activationOf(network);
  }

  /**
   * The response for unit vectors to light and viewer in the tangent frame. `live`: values of the live inputs from 0
   * to 1, by default the bundle's.
   */
  evaluate(uv, lod, wi, wo, live) {
    return this.shade(this.prepare(uv, lod, wo, live), wi);
  }

  /** The part of an evaluation that does not depend on the light. */
  prepare(uv, lod, wo, live = this.material.live.map((each) => each.default)) {
    const { network } = this.material;
    const { tensors } = this;
    const latent = [...this.latent(uv, lod), ...live];
    const raw = multiply(tensors.frames, latent);
    const unit = (v) => scaled(v, 1 / Math.max(Math.sqrt(dot(v, v)), network.lengthEpsilon));
    const frames = [];
    for (let k = 0; k < network.frames; k++) {
      const r = raw.slice(8 * k, 8 * k + 8);
      const n = unit([r[0], r[1], r[2] + 1]);
      const tangent = [r[3] + 1, r[4], r[5]];
      const along = dot(n, tangent);
      const t = unit(tangent.map((each, axis) => each - n[axis] * along));
      const b = cross(n, t);
      const stretch = r.slice(6).map((x) => Math.exp(network.stretchLimit * Math.tanh(x / network.stretchLimit)));
      frames.push({ t, b, n, stretch, c: [dot(t, wo), dot(b, wo), dot(n, wo)] });
    }
    const below = this.below?.prepare(uv, lod, wo, live);
    return { latent, frames, wo, below };
  }

  /** The response of a prepared place for one light. */
  shade({ latent, frames, wo, below }, wi) {
    if (below && wi[2] < 0) return this.below.shade(below, mirroredLight(wi, wo, this.material.transmission.index));
    if (!(wi[2] > 0) || !(wo[2] > 0)) return [0, 0, 0];
    const { network } = this.material;
    const unit = (v) => scaled(v, 1 / Math.max(Math.sqrt(dot(v, v)), network.lengthEpsilon));
    let x = [...latent];
    for (const { t, b, n, stretch, c } of frames) {
      const a = [dot(t, wi), dot(b, wi), dot(n, wi)];
      const h = unit(a.map((each, axis) => each + c[axis]));
      const cosine = dot(h, a);
      const s = (cosine + a[2]) / Math.max(1 + h[2], network.halfZMinimum);
      const g = unit([h[0] * stretch[0], h[1] * stretch[1], h[2]]);
      x.push(...g, a[0] - h[0] * s, a[1] - h[1] * s, cosine, a[2], c[2], this.logarithm(a[2]), this.logarithm(c[2]));
    }
    this.layers.forEach(({ weights, bias }, index) => {
      const y = multiply(weights, x, bias);
      x = index < network.hiddenLayers ? y.map(this.activate) : y;
    });
    const response = [0, 0, 0];
    x.forEach((y, index) => {
      response[index % 3] += Math.exp(Math.min(y - network.shift, network.limit));
    });
    return response;
  }

  logarithm(cosine) {
    const { cosineOffset, logarithmShare } = this.material.network;
    return logarithmShare * Math.log(Math.max(cosine, 0) + cosineOffset);
  }

  /** The latent channels, filtered exactly. */
  latent([u, v], lod) {
    const { levels, scale, offset } = this.material.latents;
    const level = Math.min(Math.max(lod / 2, lod - 1, 0), levels.length - 1);
    const finer = Math.floor(level);
    const part = level - finer;
    const stored = this.bilinear(u, v, finer);
    if (part > 0) {
      this.bilinear(u, v, finer + 1).forEach((each, channel) => {
        stored[channel] += (each - stored[channel]) * part;
      });
    }
    return stored.map((each, channel) => offset[channel] + scale[channel] * each);
  }

  bilinear(u, v, level) {
    const { width, height } = this.material.latents.levels[level];
    const values = this.levels[level];
    const [x, y] = [(u - Math.floor(u)) * width - 0.5, (v - Math.floor(v)) * height - 0.5];
    const [i, j] = [Math.floor(x), Math.floor(y)];
    const [fx, fy] = [x - i, y - j];
    const columns = [(i + width) % width, (i + 1) % width];
    const rows = [(j + height) % height, (j + 1) % height];
    const result = new Array(this.material.network.latents);
    for (let channel = 0; channel < result.length; channel++) {
      const layer = 4 * width * height * (channel >> 2) + (channel & 3);
      const at = (column, row) => values[layer + 4 * (rows[row] * width + columns[column])];
      result[channel] =
        (1 - fy) * ((1 - fx) * at(0, 0) + fx * at(1, 0)) + fy * ((1 - fx) * at(0, 1) + fx * at(1, 1));
    }
    return result;
  }
}

function scaled(v, factor) {
  return v.map((each) => each * factor);
}

function multiply(matrix, x, bias) {
  const result = new Array(matrix.length / x.length);
  for (let row = 0; row < result.length; row++) {
    let sum = bias ? bias[row] : 0;
    for (let column = 0; column < x.length; column++) sum += matrix[row * x.length + column] * x[column];
    result[row] = sum;
  }
  return result;
}

function activationOf({ activation, slope, smeluWidth }) {
  switch (activation) {
    case "silu":
      return (x) => x / (1 + Math.exp(-x));
    case "relu":
      return (x) => Math.max(x, 0);
    case "leaky_relu":
      return (x) => Math.max(x, slope * x);
    default:
      return (x) => {
        const q = Math.min(Math.max(x + smeluWidth, 0), 2 * smeluWidth);
        return slope * x + (1 - slope) * ((q * q) / (4 * smeluWidth) + Math.max(x - smeluWidth, 0));
      };
  }
}

/** The largest differences of responses from a reference: relative ones above `floor`, absolute ones below. */
export function compareWithReference(reference, responses, bounds = {}) {
  const floor = bounds.floor ?? 0.01;
  let relative = 0;
  let absolute = 0;
  let worst = -1;
  reference.exported.forEach((row, index) => {
    row.forEach((exact, channel) => {
      const difference = Math.abs(responses[index][channel] - exact);
      const wrong = Number.isFinite(difference) ? difference : Infinity;
      if (exact >= floor) {
        if (wrong / exact > relative) worst = index;
        relative = Math.max(relative, wrong / exact);
      } else {
        absolute = Math.max(absolute, wrong);
      }
    });
  });
  return { relative, absolute, worst, rows: reference.count };
}
