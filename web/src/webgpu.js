// SPDX-License-Identifier: Apache-2.0

import { compareWithReference } from "./decoder.js";
import { FORMATS, blockSide } from "./formats.js";
import { withoutBlocks } from "./ktx2.js";
import { liveVector } from "./live.js";
import { shaderKey } from "./network.js";
import { packNumbers } from "./packing.js";
import { decoderWgsl, fitsUniform } from "./wgsl.js";

export { reliefWgsl } from "./wgsl_relief.js";

const TEXTURES = ["latents", "emission", "opacity", "relief"];

/** A material on a WebGPU device: latents, numbers, maps, and the shader text that reads them. */
export class GpuMaterial {
  /** @param {{filter?: "sampled" | "exact", group?: number, binding?: number}} options */
  constructor(device, material, { filter = "sampled", group = 0, binding = 0 } = {}) {
    this.material = material;
    this.device = device;
    this.filter = filter;
    this.binding = binding;
    /** The decoder's functions and their resources, to put in front of an entry point. */
    this.wgsl = decoderWgsl(material, { filter, group, binding });
    const packed = packNumbers(material);
    this.numbers = device.createBuffer({
      size: packed.floats.byteLength,
      usage: (fitsUniform(packed) ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE) | GPUBufferUsage.COPY_DST,
    });
    device.queue.writeBuffer(this.numbers, 0, packed.floats);
    this.key = shaderKey(material);
    for (const name of TEXTURES) this[name] = material[name] && uploadTexture(device, material[name], material.manifest[name].file);
  }

  /**
   * Shows another state of the material, as a live link does: replaces numbers and texels. Make bind groups again if
   * `latents`, `emission`, `opacity` or `relief` is another texture than before, because its size or format has changed.
   * @returns {boolean} whether the shader text fits; if not, nothing was replaced: make a new GpuMaterial
   */
  update(material) {
    const { device } = this;
    if (shaderKey(material) !== this.key) return false;
    device.queue.writeBuffer(this.numbers, 0, packNumbers(material).floats);
    for (const name of TEXTURES) {
      const [before, after] = [this.material[name], material[name]];
      if (!after) continue;
      const isAsLarge = ["format", "width", "height", "layers"].every((each) => before[each] === after[each]);
      if (!isAsLarge) this[name].destroy();
      this[name] = uploadTexture(device, after, material.manifest[name].file, isAsLarge ? this[name] : null);
    }
    this.material = material;
    return true;
  }

  /** Entries of a bind group, at the bindings of the shader text. */
  entries() {
    const repeat = { addressModeU: "repeat", addressModeV: "repeat", magFilter: "linear", minFilter: "linear", mipmapFilter: "linear" };
    return [
      { binding: this.binding, resource: this.latents.createView({ dimension: "2d-array" }) },
      { binding: this.binding + 1, resource: { buffer: this.numbers } },
      ...(this.filter === "exact" ? [] : [{ binding: this.binding + 2, resource: this.device.createSampler(repeat) }]),
    ];
  }

  dispose() {
    for (const each of [this.latents, this.numbers, this.emission, this.opacity, this.relief]) each?.destroy();
  }
}

/** Whether a device reads the blocks of a format. */
export function readsBlocks(device, format) {
  // SwiftShader claims to read blocks, but returns zeros
  return device.adapterInfo?.architecture !== "swiftshader" && device.features.has(FORMATS[format].blocks?.feature);
}

/** Uploads a texture of a bundle with its own mip levels; or into one with its format and size. */
export function uploadTexture(device, texture, file, into = null) {
  const stored = readsBlocks(device, texture.format) ? texture : withoutBlocks(texture, file);
  const { webgpu: format, bytes } = FORMATS[stored.format];
  const block = blockSide(stored.format);
  const { width, height, levels } = stored;
  const layers = stored.layers || 1;
  const result = into ?? device.createTexture({
    size: [width, height, layers],
    format,
    mipLevelCount: levels.length,
    usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST,
  });
  levels.forEach(({ width: w, height: h, data }, level) => {
    const [across, down] = [Math.ceil(w / block), Math.ceil(h / block)];
    device.queue.writeTexture(
      { texture: result, mipLevel: level },
      data,
      { bytesPerRow: across * bytes, rowsPerImage: down },
      [across * block, down * block, layers],
    );
  });
  return result;
}

/**
 * Evaluates the rows of a reference in a compute shader, with exact filtering, and reads them back. `before` is a material
 * that is uploaded first, and then updated.
 * @returns {Promise<number[][]>} a response for each row
 */
export async function evaluateRows(device, material, reference, { before } = {}) {
  const uploaded = new GpuMaterial(device, before ?? material, { filter: "exact" });
  if (before && !uploaded.update(material)) throw new Error("the materials have different shaders");
  const [prepared, evaluated] = reference.live
    ? [
        "var surface = neuralPrepareLive(row.place.xy, row.place.z, row.wo.xyz, vec3f(row.place.w, row.wi.w, row.wo.w));",
        "neuralShade(&surface, row.wi.xyz)",
      ]
    : ["", "neuralEvaluate(row.place.xy, row.place.z, row.wi.xyz, row.wo.xyz)"];
  const module = device.createShaderModule({
    code: `${uploaded.wgsl}
struct Row { place: vec4f, wi: vec4f, wo: vec4f }
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read_write> responses: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= arrayLength(&responses)) { return; }
  let row = rows[id.x];
  ${prepared}
  responses[id.x] = vec4f(${evaluated}, 1.0);
}`,
  });
  const problems = (await module.getCompilationInfo()).messages.filter((each) => each.type === "error");
  if (problems.length) throw new Error(`the shader does not compile on this device: ${problems[0].message}`);
  const input = new Float32Array(12 * reference.count);
  for (let row = 0; row < reference.count; row++) {
    const [x, y, z] = liveVector(reference.live?.[row] ?? []);
    input.set([...reference.uv[row], reference.lod[row], x, ...reference.wi[row], y, ...reference.wo[row], z], 12 * row);
  }
  const size = 16 * reference.count;
  const rows = device.createBuffer({ size: input.byteLength, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
  const responses = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
  const back = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(rows, 0, input);
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "main" } });
  const bindings = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [
      ...uploaded.entries(),
      { binding: 3, resource: { buffer: rows } },
      { binding: 4, resource: { buffer: responses } },
    ],
  });
  const commands = device.createCommandEncoder();
  const pass = commands.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, bindings);
  pass.dispatchWorkgroups(Math.ceil(reference.count / 64));
  pass.end();
  commands.copyBufferToBuffer(responses, 0, back, 0, size);
  device.queue.submit([commands.finish()]);
  await back.mapAsync(GPUMapMode.READ);
  const output = new Float32Array(back.getMappedRange().slice(0));
  for (const each of [rows, responses, back, uploaded]) (each.destroy ?? each.dispose).call(each);
  return Array.from({ length: reference.count }, (_, row) => [...output.subarray(4 * row, 4 * row + 3)]);
}

/** Compares this device's decoder with the bundle's reference. */
export async function check(device, material) {
  const reference = await material.reference();
  const responses = await evaluateRows(device, material, reference);
  return compareWithReference(reference, responses, material.manifest.bounds);
}
