// SPDX-License-Identifier: Apache-2.0

import { shown } from "./errors.js";
import { halvesToFloats } from "./halves.js";

const ACTIVATIONS = ["silu", "relu", "leaky_relu", "leaky_smelu"];
// Outputs of a sampler's head for each frame, beside two more, by its kind. Lobes lean towards the next frame, but not in
// bundles before 4.6; before 4.4 they have no tilts. Before 4.7 the least cosine of the view does not follow the width.
export const SAMPLER_KINDS = {
  grazing_visible_normals_cosine_uniform: 6,
  leaning_visible_normals_cosine_uniform: 6,
  tilted_visible_normals_cosine_uniform: 5,
  visible_normals_cosine_uniform: 3,
};

/** The decoder's architecture and constants, from the manifest's table `network`. */
export function parseNetwork(manifest) {
  const network = manifest.object("network");
  const latents = network.count("latent_channels", 4, 8);
  if (latents % 4) throw network.error("latent_channels", `is ${latents}: it must be 4 or 8`);
  const frames = network.count("frame_count", 1, 4);
  const live = network.has("live_inputs") ? network.count("live_inputs", 0, 3) : 0;
  const sum = latents + live + 10 * frames;
  const inputs = network.count("inputs", sum, sum);
  const layers = network.objects("layers", 2, 9);
  const output = network.object("output");
  output.oneOf("transform", ["sum_of_exp"]);
  const lobes = output.count("lobes", 1, 4);
  const width = layers[0].count("outputs", 1, 256);
  const activation = layers[0].oneOf("activation", ACTIVATIONS);
  layers.forEach((layer, index) => {
    const isLast = index === layers.length - 1;
    layer.count("inputs", index ? width : inputs, index ? width : inputs);
    layer.count("outputs", isLast ? 3 * lobes : width, isLast ? 3 * lobes : width);
    layer.oneOf("activation", [isLast ? "none" : activation]);
    layer.oneOf("weights", [`layer${index}.weights`]);
    layer.oneOf("bias", [`layer${index}.bias`]);
  });
  network.oneOf("frames", ["frames"]);
  const directions = network.object("directions");
  directions.oneOf("parameterisation", ["stretched_half_difference_cosines"]);
  const constants = network.object("activation_constants");
  return {
    latents,
    frames,
    live,
    inputs,
    width,
    hiddenLayers: layers.length - 1,
    lobes,
    activation,
    slope: activation.startsWith("leaky") ? constants.number("slope", 0, 1) : 0,
    smeluWidth: activation === "leaky_smelu" ? constants.number("width", 1e-6, 1e6) : 1,
    shift: output.number("shift"),
    limit: output.number("limit"),
    halfZMinimum: directions.number("half_z_minimum", 1e-9, 1),
    lengthEpsilon: directions.number("length_epsilon", 1e-30, 1),
    stretchLimit: directions.number("stretch_limit", 1e-3, 100),
    cosineOffset: directions.number("cosine_offset", 1e-9, 1),
    logarithmShare: directions.number("logarithm_share", 0, 100),
  };
}

/** Inputs of the sampler's head: latents, and two for each frame and for the surface. */
export function headInputs({ latents, frames }) {
  return latents + 2 * frames + 2;
}

/** The sampler's constants, or null: bundles before 4.2 have none, and other kinds are ignored. */
export function parseSampler(manifest, network) {
  if (!manifest.has("sampler")) return null;
  const sampler = manifest.object("sampler");
  const kind = sampler.text("kind");
  if (!Object.hasOwn(SAMPLER_KINDS, kind)) return null;
  const outputs = SAMPLER_KINDS[kind] * network.frames + 2;
  const isTilted = SAMPLER_KINDS[kind] >= 5;
  const isLeaning = SAMPLER_KINDS[kind] >= 6;
  const isGrazing = kind.startsWith("grazing");
  const viewCosineMinimum = sampler.number("view_cosine_minimum", 1e-6, 1);
  const [first, last] = sampler.objects("layers", 2, 2);
  const inputs = headInputs(network) + network.live;
  first.count("inputs", inputs, inputs);
  const hidden = first.count("outputs", 1, 256);
  last.count("inputs", hidden, hidden);
  last.count("outputs", outputs, outputs);
  return {
    hidden,
    outputs,
    isTilted,
    isLeaning,
    tiltShare: isTilted ? sampler.number("tilt_share", 0, 100) : 0,
    tiltMaximum: isTilted ? sampler.number("tilt_maximum", 0, 100) : 0,
    leanCosineMinimum: isLeaning ? sampler.number("lean_cosine_minimum", 1e-6, 1) : 0,
    slope: sampler.number("slope", 0, 1),
    widthMinimum: sampler.number("width_minimum", 1e-6, 1e3),
    widthMaximum: sampler.number("width_maximum", 1e-6, 1e6),
    weightMinimum: sampler.number("weight_minimum", 0, 0.1),
    viewCosineMinimum,
    viewCosineMaximum: isGrazing ? sampler.number("view_cosine_maximum", viewCosineMinimum, 1) : viewCosineMinimum,
  };
}

/** What the text of a shader depends on: materials for which it is equal share a program, and can replace each other. */
export function shaderKey({ network, sampler, live, emission, opacity, transmission, relief }) {
  return JSON.stringify([network, sampler, live.length, ...[emission, opacity, transmission, relief].map(Boolean)]);
}

/** Names, ranges and defaults of the live inputs; evaluations take values from 0 (low) to 1 (high). */
export function parseLive(manifest, network) {
  if (!network.live) return [];
  return manifest.objects("live", network.live, network.live).map((entry) => {
    const type = entry.oneOf("type", ["float", "color3", "time", "frame"]);
    const end = (name) => (type === "color3" ? entry.numbers(name, 3) : entry.number(name));
    return { name: entry.text("name"), type, low: end("low"), high: end("high"), default: entry.number("default", 0, 1) };
  });
}

/** Shapes by name of the tensors that decoder and sampler need. */
function tensorShapes(network, sampler) {
  const shapes = { frames: [8 * network.frames, network.latents + network.live] };
  for (let layer = 0; layer <= network.hiddenLayers; layer++) {
    const outputs = layer < network.hiddenLayers ? network.width : 3 * network.lobes;
    shapes[`layer${layer}.weights`] = [outputs, layer ? network.width : network.inputs];
    shapes[`layer${layer}.bias`] = [outputs];
  }
  if (sampler) {
    shapes["head0.weights"] = [sampler.hidden, headInputs(network) + network.live];
    shapes["head0.bias"] = [sampler.hidden];
    shapes["head1.weights"] = [sampler.outputs, sampler.hidden];
    shapes["head1.bias"] = [sampler.outputs];
  }
  return shapes;
}

/**
 * The tensors as floats, matrices row by row without padding.
 * @returns {Record<string, Float32Array>}
 */
export function readTensors(manifest, network, sampler, bytes) {
  const weights = manifest.object("weights");
  const entries = new Map(weights.objects("tensors", 1, 64).map((each) => [each.text("name"), each]));
  const tensors = {};
  for (const [name, shape] of Object.entries(tensorShapes(network, sampler))) {
    const entry = entries.get(name);
    if (!entry) throw weights.error("tensors", `has no entry ${name}`);
    entry.oneOf("type", ["float16"]);
    const found = entry.list("shape", shape.length, shape.length);
    if (found.some((each, axis) => each !== shape[axis])) {
      throw entry.error("shape", `is ${shown(found)} and not ${shown(shape)}`);
    }
    const columns = shape.at(-1);
    const rows = shape.length === 2 ? shape[0] : 1;
    const offset = entry.count("offset", 0, bytes.length);
    const stride = entry.count("row_stride", 2 * columns, bytes.length);
    const tensor = new Float32Array(rows * columns);
    if (offset % 2 || offset + (rows - 1) * stride + 2 * columns > bytes.length) {
      throw entry.error("offset", `is ${offset}: the tensor ends behind the end of the ${bytes.length} bytes of weights`);
    }
    for (let row = 0; row < rows; row++) {
      const start = offset + row * stride;
      tensor.set(halvesToFloats(bytes.subarray(start, start + 2 * columns)), row * columns);
    }
    if (!tensor.every(Number.isFinite)) {
      throw entry.error("name", `is ${name}, which contains numbers that are not finite: the file ${weights.text("file")} is damaged`);
    }
    tensors[name] = tensor;
  }
  return tensors;
}
