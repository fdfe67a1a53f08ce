// A sphere of three.js in Chromium for bench_link.py: prints the step of each state and the time at which it is on the
// screen: behind the end of its frame on the device.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startBrowser, startServer } from "../../web/tests/browser.mjs";

const web = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..", "web");
const server = await startServer({ src: path.join(web, "src"), three: path.join(web, "node_modules", "three") });
const browser = await startBrowser();
const page = await browser.open(server.url, { width: 256, height: 256 });
const end = async () => {
  clearInterval(looking);
  await browser.close();
  process.exit();
};
process.on("SIGTERM", end);
// the import map
while (!(await page.evaluate("Boolean(document.querySelector('script'))"))) await new Promise((resolve) => setTimeout(resolve, 50));
await page.evaluate(`(async () => {
  const THREE = await import("three");
  const { connectLink } = await import("/src/index.js");
  const { NeuralMaterial } = await import("/src/three.js");
  const renderer = new THREE.WebGLRenderer();
  renderer.setSize(256, 256);
  document.body.append(renderer.domElement);
  const camera = new THREE.PerspectiveCamera(40, 1, 0.1, 10);
  camera.position.z = 3.4;
  const link = connectLink("${process.argv[2]}");
  const material = new NeuralMaterial(await link.first, renderer);
  const sun = new THREE.DirectionalLight(0xffffff, 3);
  sun.position.set(-2, 2, 3);
  const scene = new THREE.Scene().add(new THREE.Mesh(new THREE.SphereGeometry(1, 64, 32), material), sun);
  globalThis.shown = [];
  material.connect(link, {
    onMaterial(_, { step }) {
      renderer.render(scene, camera);
      // waits for the frame
      const gl = renderer.getContext();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      shown.push([step, Date.now() / 1000]);
    },
  });
})()`);
const looking = setInterval(async () => {
  for (const [step, at] of await page.evaluate("shown.splice(0)").catch(() => [])) console.log(step, at);
}, 200);
