// @NAME@ on a sphere, written by Verdigris for Babylon.js: showExample(canvas) is a whole scene.
// docs/engines/BABYLON.md of Verdigris describes all options.
import { ArcRotateCamera } from "@babylonjs/core/Cameras/arcRotateCamera.js";
import { Engine } from "@babylonjs/core/Engines/engine.js";
import { DirectionalLight } from "@babylonjs/core/Lights/directionalLight.js";
import { HemisphericLight } from "@babylonjs/core/Lights/hemisphericLight.js";
import { Color4 } from "@babylonjs/core/Maths/math.color.js";
import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
import { CreateSphere } from "@babylonjs/core/Meshes/Builders/sphereBuilder.js";
import { Scene } from "@babylonjs/core/scene.js";
import { NeuralMaterial } from "./verdigris/babylon.js";
import { loadMaterial } from "./verdigris/index.js";

/** The folder @BUNDLE@ lies in `public`, which Vite serves at the address "/". */
export const bundle = "/@BUNDLE@";

export async function showExample(canvas, from = bundle) {
  const engine = new Engine(canvas, true);
  const scene = new Scene(engine);
  scene.clearColor = new Color4(0.05, 0.05, 0.05, 1);
  const camera = new ArcRotateCamera("camera", -Math.PI / 2, Math.PI / 2, 4, Vector3.Zero(), scene);
  camera.attachControl(canvas, true);
  new DirectionalLight("sun", new Vector3(2, -2, 3), scene).intensity = 3;
  new HemisphericLight("sky", new Vector3(0, 1, 0), scene).intensity = 0.3;
  const sphere = CreateSphere("sphere", { diameter: 2, segments: 64 }, scene);
  sphere.material = new NeuralMaterial(await loadMaterial(from), scene);
  await scene.whenReadyAsync();
  engine.runRenderLoop(() => scene.render());
  return { engine, scene, sphere };
}
