// SPDX-License-Identifier: Apache-2.0

import { headInputs } from "./network.js";

/**
 * The decoder's numbers as shaders read them: vectors of four, matrices as blocks of 4 x 4 by columns,
 * padded with zeros. One array for uniform blocks, storage buffers and float textures.
 *
 * The first layer is split: the part that depends on the view alone is computed once for all lights.
 */
export function packNumbers(material) {
  const above = packSide(material, material.tensors);
  if (!material.transmission) return above;
  // the second decoder behind the first, and the index behind both
  const { index, tensors } = material.transmission;
  const below = packSide(material, tensors);
  const floats = new Float32Array(above.floats.length + below.floats.length + 4);
  floats.set(above.floats);
  floats.set(below.floats, above.floats.length);
  floats[floats.length - 4] = index;
  return { floats, count: floats.length / 4, places: { ...above.places, below: above.count, index: 2 * above.count } };
}

function packSide(material, tensors) {
  const { network, sampler } = material;
  const { latents, frames, width, inputs, hiddenLayers, lobes, live } = network;
  const values = [];
  const places = {};
  const begin = (name) => {
    places[name] = values.length / 4;
  };
  const vector = (name, numbers) => {
    begin(name);
    for (let index = 0; index < 4 * Math.ceil(numbers.length / 4); index++) values.push(numbers[index] ?? 0);
  };
  const matrix = (name, numbers, rows, stride, columns) => {
    begin(name);
    for (let row = 0; row < rows; row += 4) {
      for (let index = 0; index < 4 * Math.ceil(columns.length / 4); index++) {
        for (let lane = 0; lane < 4; lane++) {
          const isThere = row + lane < rows && index < columns.length;
          values.push(isThere ? numbers[(row + lane) * stride + columns[index]] : 0);
        }
      }
    }
  };
  const all = (count) => Array.from({ length: count }, (_, index) => index);
  // inputs of a place: its latent, then the live values
  const place = latents + live;
  const ofLive = all(live).map((each) => latents + each);
  const perFrame = (offsets) => all(frames).flatMap((frame) => offsets.map((each) => place + 10 * frame + each));

  vector("scale", material.latents.scale);
  vector("offset", material.latents.offset);
  matrix("frames", tensors.frames, 8 * frames, place, all(latents));
  // c.z and l(c.z) are inputs 7 and 9 of a frame; g, d, a.z and l(a.z) are the others
  matrix("view", tensors["layer0.weights"], width, inputs, [...all(latents), ...perFrame([7, 9])]);
  vector("bias0", tensors["layer0.bias"]);
  matrix("light", tensors["layer0.weights"], width, inputs, perFrame([0, 1, 2, 3, 4, 5, 6, 8]));
  for (let layer = 1; layer <= hiddenLayers; layer++) {
    const rows = layer < hiddenLayers ? width : 3 * lobes;
    matrix(`layer${layer}`, tensors[`layer${layer}.weights`], rows, width, all(width));
    vector(`bias${layer}`, tensors[`layer${layer}.bias`]);
  }
  if (sampler) {
    const seen = headInputs(network) + live;
    const others = all(seen).filter((each) => !ofLive.includes(each));
    matrix("head0", tensors["head0.weights"], sampler.hidden, seen, others);
    vector("headBias0", tensors["head0.bias"]);
    matrix("head1", tensors["head1.weights"], sampler.outputs, sampler.hidden, all(sampler.hidden));
    vector("headBias1", tensors["head1.bias"]);
  }
  if (live) {
    // the part of live values in raw frames and in sums of the first layers, and the default values
    matrix("framesLive", tensors.frames, 8 * frames, place, ofLive);
    matrix("viewLive", tensors["layer0.weights"], width, inputs, ofLive);
    if (sampler) matrix("headLive", tensors["head0.weights"], sampler.hidden, headInputs(network) + live, ofLive);
    vector("live", material.live.map((each) => each.default));
  }
  return { floats: new Float32Array(values), count: values.length / 4, places };
}
