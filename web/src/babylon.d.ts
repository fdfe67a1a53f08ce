// SPDX-License-Identifier: Apache-2.0

import type { BaseTexture, Scene, ShaderMaterial } from "@babylonjs/core";
import type { Material } from "./index.js";

export interface Environment {
  /** A cube map with mip levels. */
  map: BaseTexture;
  harmonics: number[][];
}

export interface NeuralOptions {
  /** Directions of environment light for each pixel; 16 by default. */
  samples?: number;
  /** A few fixed directions without noise instead. */
  split?: boolean;
  /** For meshes whose v points down, as glTF. */
  flipV?: boolean;
  filter?: "sampled" | "exact";
}

/** A Babylon.js material of a loaded bundle, for engines on WebGL 2. */
export class NeuralMaterial extends ShaderMaterial {
  constructor(loaded: Material, scene: Scene, options?: NeuralOptions);
  readonly loaded: Material;
  environment: Environment | null;
  environmentIntensity: number;
  /** Values of the live inputs by name, in their own units. Inputs that are left out keep their values. */
  get live(): Record<string, number>;
  set live(values: Record<string, number>);
  tile(u: number, v?: number, offsetU?: number, offsetV?: number): this;
}

/** Light of a cube map that has loaded, such as an HDRCubeTexture. Take its sun out first. */
export function makeEnvironment(cube: BaseTexture): Promise<Environment>;
