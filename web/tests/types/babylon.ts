// Uses of the types in src/babylon.d.ts: what must compile, and what must not.
import { Scene } from "@babylonjs/core/scene.js";
import { loadMaterial } from "../../src/index.js";
import { NeuralMaterial, makeEnvironment } from "../../src/babylon.js";
export async function check(scene: Scene) {
  const material = new NeuralMaterial(await loadMaterial("/a.vdg"), scene, { samples: 8, flipV: true });
  material.live = { wetness: 0.5 };
  material.tile(4).environment = await makeEnvironment(scene.environmentTexture!);
  // @ts-expect-error there is no such option
  new NeuralMaterial(material.loaded, scene, { tangents: true });
  return material.live.wetness;
}
