// The right half of docs/make_link_picture.py: a scene of three.js in Chromium, which follows a live link. Each line on
// standard input names a file for the next picture.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startBrowser, startServer } from "../web/tests/browser.mjs";

const [address, width, height] = process.argv.slice(2);
const web = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "web");
const server = await startServer({ src: path.join(web, "src"), three: path.join(web, "node_modules", "three") });
const browser = await startBrowser();
const page = await browser.open(server.url, { width: Number(width), height: Number(height) });
// the import map
while (!(await page.evaluate("Boolean(document.querySelector('script'))"))) await new Promise((resolve) => setTimeout(resolve, 50));
await page.evaluate(`(async () => {
  const THREE = await import("three");
  const { connectLink } = await import("/src/index.js");
  const { NeuralMaterial } = await import("/src/three.js");
  document.body.style.cssText = "margin:0;overflow:hidden;background:#20262b";
  const renderer = new THREE.WebGLRenderer({ antialias: false, preserveDrawingBuffer: true });
  renderer.setSize(innerWidth, innerHeight);
  renderer.toneMapping = THREE.ACESFilmicToneMapping;
  document.body.append(renderer.domElement);
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0x39434c);
  scene.fog = new THREE.Fog(0x39434c, 6, 13);
  const camera = new THREE.PerspectiveCamera(36, innerWidth / innerHeight, 0.1, 30);
  const grey = new THREE.MeshStandardMaterial({ color: 0x888888 });
  const outline = [[0, 0], [0.55, 0], [0.5, 0.08], [0.3, 0.2], [0.34, 0.5], [0.62, 0.95], [0.6, 1.25], [0.36, 1.5], [0.3, 1.62], [0.42, 1.75]];
  const vase = new THREE.LatheGeometry(new THREE.SplineCurve(outline.map(([x, y]) => new THREE.Vector2(x, y))).getPoints(40), 48);
  const shapes = [vase, new THREE.SphereGeometry(0.6, 40, 24), new THREE.TorusKnotGeometry(0.42, 0.17, 120, 20)].map((each) => new THREE.Mesh(each, grey));
  shapes[1].position.set(-1.45, 0.6, 0.5);
  shapes[2].position.set(1.4, 0.72, 0.4);
  const tiles = new Uint8Array(64 * 64).map((_, at) => ((at ^ (at >> 6)) & 8 ? 92 : 70));
  const floor = new THREE.DataTexture(new Uint8Array([...tiles].flatMap((each) => [each, each, each + 6, 255])), 64, 64);
  floor.wrapS = floor.wrapT = THREE.RepeatWrapping;
  floor.repeat.set(3, 3);
  floor.needsUpdate = true;
  const ground = new THREE.Mesh(new THREE.PlaneGeometry(24, 24), new THREE.MeshStandardMaterial({ map: floor, roughness: 0.9 }));
  ground.rotation.x = -Math.PI / 2;
  const sun = new THREE.DirectionalLight(0xfff2e0, 3.5);
  sun.position.set(-3, 5, 4);
  const sky = new THREE.DirectionalLight(0x9fc4ff, 2.5);
  sky.position.set(4, 2, -1);
  const low = new THREE.DirectionalLight(0xffe0c0, 1.5);
  low.position.set(-2, 0.6, -4);
  scene.add(...shapes, ground, sun, sky, low, new THREE.AmbientLight(0xffffff, 0.5));
  let turn = 0;
  globalThis.draw = () => {
    turn += 0.05;
    camera.position.set(4.6 * Math.sin(turn), 2.1, 4.6 * Math.cos(turn));
    camera.lookAt(0, 0.75, 0);
    renderer.render(scene, camera);
  };
  const link = connectLink("${address}");
  link.first.then((loaded) => {
    const material = new NeuralMaterial(loaded, renderer);
    material.connect(link);
    for (const each of shapes) each.material = material;
  });
})()`);
console.log("ready");
for await (const file of createInterface({ input: process.stdin })) {
  await page.evaluate("draw()");
  writeFileSync(file, await page.screenshot());
  console.log(page.problems.splice(0).join(" ").slice(0, 300) || "drawn");
}
await browser.close();
server.close();
