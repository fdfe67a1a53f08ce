// SPDX-License-Identifier: Apache-2.0

import type { Comparison, Material, Reference, Texture } from "./index.js";

/** A material on a WebGPU device. @webgpu/types has the types of WebGPU. */
export class GpuMaterial {
  constructor(device: any, material: Material, options?: { filter?: "sampled" | "exact"; group?: number; binding?: number });
  readonly wgsl: string;
  readonly latents: any;
  readonly numbers: any;
  readonly emission: any | null;
  readonly opacity: any | null;
  readonly relief: any | null;
  /** Entries of a bind group, at the bindings of the shader text. */
  entries(): { binding: number; resource: any }[];
  /**
   * Shows another state of the material. False if it needs another shader, so that nothing was replaced. Make bind groups
   * again if a texture is another one than before.
   */
  update(material: Material): boolean;
  dispose(): void;
}

export function uploadTexture(device: any, texture: Texture, file?: string, into?: any): any;
export function evaluateRows(device: any, material: Material, reference: Reference, options?: { before?: Material }): Promise<number[][]>;
/** Compares this device's decoder with the bundle's reference. */
export function check(device: any, material: Material): Promise<Comparison>;

/** Relief in WGSL. The options are expressions for the texture `relief`, and for its scale and midlevel. */
export function reliefWgsl(options?: { heights?: string; range?: string }): string;
