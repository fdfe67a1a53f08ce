// SPDX-License-Identifier: Apache-2.0

import type { Texture, Vector4 } from "three";
import type { NodeMaterial, WebGPURenderer } from "three/webgpu";
import type { Link, LinkOptions, Material } from "./index.js";

export interface Environment {
  map: Texture;
  harmonics: Vector4[];
  dispose(): void;
}

export interface NeuralNodeOptions {
  /** Directions of environment light for each pixel; 16 by default. */
  samples?: number;
  /** For meshes whose v points down, as glTF. */
  flipV?: boolean;
  /** Use the geometry's attribute `tangent`. */
  tangents?: boolean;
  filter?: "sampled" | "exact";
}

/** A three.js material of a loaded bundle, for WebGPURenderer. */
export class NeuralNodeMaterial extends NodeMaterial {
  constructor(loaded: Material, renderer: WebGPURenderer, options?: NeuralNodeOptions);
  readonly loaded: Material;
  environment: Environment | null;
  environmentIntensity: number;
  /** Values of the live inputs by name, in their own units. Inputs that are left out keep their values. */
  get live(): Record<string, number>;
  set live(values: Record<string, number>);
  /** Shows another state of the material. Returns whether the shader stays. */
  update(loaded: Material): boolean;
  /** Shows the material of a live link from now on. */
  connect(address: string | Link, options?: LinkOptions): Link;
  readonly link?: Link;
  tile(u: number, v?: number, offsetU?: number, offsetV?: number): this;
}

/** Light of an equirectangular texture. Take its sun out first. */
export function makeEnvironment(renderer: WebGPURenderer, texture: Texture): Promise<Environment>;
