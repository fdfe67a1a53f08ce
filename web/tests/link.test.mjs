// The live link in one Chromium. VERDIGRIS_LINK is the address of a server that shows in turn, again and again: a training
// (numbers 1, 4, …), and two finished bundles with the same shader (2, 5, … and 3, 6, …).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findBrowser, startBrowser, startServer } from "./browser.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const address = process.env.VERDIGRIS_LINK;
const reason = !address ? "VERDIGRIS_LINK is no address" : !findBrowser() ? "there is no Chromium" : false;
const three = path.join(here, "..", "node_modules", "three");
const hasThree = (() => {
  try {
    return Boolean(readFileSync(path.join(three, "package.json")));
  } catch {
    return false;
  }
})();
const ALL = { skip: reason };
const IN_THREE = { skip: reason || (hasThree ? false : "three.js is not installed: npm install") };
const LARGEST = 1e-3;
const ELSEWHERE = "elsewhere.test";

let browser;
let server;
let page;

/** Waits until a page is no longer about:blank. */
async function isLoaded(page) {
  while ((await page.evaluate("location.href + document.readyState")).match(/^about|loading$/)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

before(async () => {
  if (reason) return;
  server = await startServer({ src: path.join(here, "..", "src"), three });
  browser = await startBrowser([`--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`]);
  page = await browser.open(server.url, { width: 320, height: 240 });
  await isLoaded(page);
  await page.evaluate(`(async () => {
    globalThis.verdigris = await import("/src/index.js");
    globalThis.webgl2 = await import("/src/webgl2.js");
    globalThis.webgpu = await import("/src/webgpu.js");
    // a state of each of the three kinds
    globalThis.states = [];
    await new Promise((resolve, reject) => {
      const link = verdigris.connectLink("${address}", {
        onMaterial(loaded, { number, final, step }) {
          states[number % 3] = { loaded, final, step };
          if (states.filter(Boolean).length === 3) resolve(link.close());
        },
        onEnd: reject,
      });
    });
  })()`);
});

after(async () => {
  await browser?.close();
  server?.close();
});

test("snapshots say what they are, and come complete", ALL, async () => {
  const found = await page.evaluate(`states.map(({ final, step, loaded }) => [final, step ?? null, Object.keys(loaded.manifest)])`);
  assert.deepEqual(found.map(([final, step]) => [final, step]), [[true, null], [false, 7], [true, null]]);
  assert.ok(!found[1][2].includes("reference") && found[0][2].includes("reference"));
});

for (const numbers of ["texture", "block"]) {
  test(`WebGL 2: numbers in a ${numbers} and texels that replace a training's give all rows of the bundle`, ALL, async () => {
    const found = await page.evaluate(`(async () => {
      const gl = document.createElement("canvas").getContext("webgl2");
      const reference = await states[2].loaded.reference();
      const rows = webgl2.evaluateRows(gl, states[2].loaded, reference, { before: states[1].loaded, numbers: "${numbers}" });
      const others = await states[0].loaded.reference();
      const { compareWithReference } = verdigris;
      return [compareWithReference(reference, rows), compareWithReference(others, rows)];
    })()`);
    assert.ok(found[0].relative < LARGEST && found[0].absolute < 1e-5, JSON.stringify(found));
    assert.ok(found[1].relative > 0.1, "the two bundles are the same");
  });
}

test("WebGPU: numbers and texels that replace a training's give all rows of the bundle", ALL, async (context) => {
  const found = await page.evaluate(`(async () => {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) return null;
    const device = await adapter.requestDevice();
    const reference = await states[2].loaded.reference();
    const rows = await webgpu.evaluateRows(device, states[2].loaded, reference, { before: states[1].loaded });
    return verdigris.compareWithReference(reference, rows);
  })()`);
  if (!found) {
    context.skip("this Chromium has no WebGPU");
    return;
  }
  assert.ok(found.relative < LARGEST && found.absolute < 1e-5, JSON.stringify(found));
});

for (const kind of ["WebGL", "WebGPU"]) {
  test(`three.js on ${kind} follows a link without compiling again`, IN_THREE, async (context) => {
    const side = 6;
    const found = await page.evaluate(`(async () => {
      const isWebGpu = "${kind}" === "WebGPU";
      if (isWebGpu && !(await navigator.gpu?.requestAdapter())) return null;
      const library = await import(isWebGpu ? "three/webgpu" : "three");
      const neural = await import(isWebGpu ? "/src/three_webgpu.js" : "/src/three.js");
      const renderer = isWebGpu ? new library.WebGPURenderer() : new library.WebGLRenderer();
      await renderer.init?.();
      const Target = isWebGpu ? library.RenderTarget : library.WebGLRenderTarget;
      const target = new Target(${side}, ${side}, { type: library.FloatType });
      renderer.setRenderTarget(target);
      const eye = new library.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
      eye.position.z = 2;
      const sun = new library.DirectionalLight(0xffffff, 2);
      sun.position.set(1, 2, 3);
      const Material = isWebGpu ? neural.NeuralNodeMaterial : neural.NeuralMaterial;
      // the training comes first
      const material = new Material(states[1].loaded, renderer, { filter: "exact" });
      const scene = new library.Scene().add(new library.Mesh(new library.PlaneGeometry(1, 1), material), sun);
      const light = [1, 2, 3].map((each) => each / Math.sqrt(14));
      const wrongBy = async () => {
        renderer.render(scene, eye);
        const shown = material.loaded;
        let texels = new Float32Array(4 * ${side} * ${side});
        if (isWebGpu) texels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, ${side}, ${side});
        else renderer.readRenderTargetPixels(target, 0, 0, ${side}, ${side}, texels);
        const decoder = new verdigris.Decoder(shown);
        const lod = Math.log2(Math.max(shown.latents.width, shown.latents.height) / ${side});
        let wrong = 0;
        for (let at = 0; at < ${side * side}; at++) {
          const row = Math.floor(at / ${side});
          const uv = [((at % ${side}) + 0.5) / ${side}, ((isWebGpu ? ${side} - 1 - row : row) + 0.5) / ${side}];
          decoder.evaluate(uv, lod, light, [0, 0, 1]).forEach((exact, channel) => {
            wrong = Math.max(wrong, Math.abs(texels[4 * at + channel] - 2 * exact) / Math.max(2 * exact, 0.01));
          });
        }
        return wrong;
      };
      const first = await wrongBy();
      const programs = () => renderer.info.programs?.length ?? 0;
      const before = programs();
      const seen = new Map();
      const waiting = [];
      const link = material.connect(isWebGpu ? verdigris.connectLink("${address}") : "${address}", {
        onMaterial: (_, { number }, fits) => waiting.splice(0).forEach((each) => each([number % 3, fits])),
      });
      while (seen.size < 3) {
        const [number, fits] = await new Promise((resolve) => waiting.push(resolve));
        // no snapshot may come between an update and its picture
        const wrong = await wrongBy();
        if (!seen.has(number)) seen.set(number, [fits, wrong]);
      }
      material.dispose();
      return { first, seen: [...seen], programs: [before, programs()], isClosed: link.isClosed };
    })()`);
    if (!found) {
      context.skip("this Chromium has no WebGPU");
      return;
    }
    assert.ok(found.first < 2e-3, `${found.first}`);
    for (const [number, [fits, wrong]] of found.seen) assert.ok(fits && wrong < 2e-3, `${number}: ${fits} ${wrong}`);
    assert.equal(found.programs[1], found.programs[0] - (kind === "WebGL" ? 1 : 0));
    assert.ok(found.isClosed);
  });
}

test("the server's page shows the link", ALL, async () => {
  const shown = await browser.open(address.replace("ws:", "http:"), { width: 400, height: 300 });
  await isLoaded(shown);
  const found = await shown.evaluate(`(async () => {
    for (let tries = 0; !window.verdigrisReview && tries < 200; tries++) await new Promise((resolve) => setTimeout(resolve, 50));
    const review = await window.verdigrisReview.ready;
    const first = review.viewer.material;
    const seen = new Set();
    for (let tries = 0; seen.size < 3 && tries < 200; tries++) {
      seen.add(review.viewer.loaded.manifest.weights.sha256);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { name: document.querySelector("h1").textContent, states: seen.size, stays: review.viewer.material === first };
  })()`);
  assert.deepEqual(found, { name: "copper", states: 3, stays: true });
  const own = shown.problems.filter((each) => !/favicon/.test(each));
  assert.deepEqual(own, []);
  for (const wrong of [address.replace(/token=.*/, "token=guess"), address.replace("/?", "/x?")]) {
    assert.equal((await fetch(wrong.replace("ws:", "http:"))).status, wrong.includes("/x") ? 404 : 403);
  }
});

test("a wrong token, a wrong version and garbage have a clear end", ALL, async () => {
  const found = await page.evaluate(`(async () => {
    const wrong = new URL("${address}");
    wrong.searchParams.set("token", "guess");
    const told = await verdigris.connectLink(wrong.href).first.then(() => "", (failure) => failure.message);
    const end = (address, say) => new Promise((resolve) => {
      const socket = new WebSocket(address);
      socket.onopen = () => say && socket.send(say);
      socket.onclose = ({ code, reason }) => resolve([code, reason]);
    });
    return { told, version: await end("${address}&version=7"), garbage: await end("${address}&version=1", "hello") };
  })()`);
  assert.equal(found.told, "the link: the token is wrong: copy the whole address of the link");
  assert.deepEqual(found.version, [4426, "the link has version 1: update the client"]);
  assert.deepEqual(found.garbage, [4400, "clients of a link say only next"]);
});

test("a page from elsewhere is refused, with the token too", ALL, async () => {
  const other = await browser.open(server.url.replace("127.0.0.1", ELSEWHERE));
  await isLoaded(other);
  const found = await other.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket("${address}&version=1");
    socket.onclose = ({ code, reason }) => resolve([location.hostname, code, reason]);
    socket.onmessage = () => resolve(["a message came"]);
  })`);
  assert.equal(found[0], ELSEWHERE);
  assert.equal(found[1], 4403);
  assert.match(found[2], /origin http:.*elsewhere.* is not known/);
});
