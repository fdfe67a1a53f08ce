// Runs Chromium without a window and without packages: over a pipe, in the DevTools protocol.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html", ".json": "application/json", ".png": "image/png", ".wasm": "application/wasm" };

/** The browser's command, or undefined. VERDIGRIS_CHROMIUM names another. */
export function findBrowser() {
  const named = process.env.VERDIGRIS_CHROMIUM;
  if (named) return named;
  return NAMES.find((name) => !spawnSync(name, ["--version"], { stdio: "ignore" }).error);
}

/** Starts the browser. Its WebGL runs on SwiftShader, its WebGPU on the Vulkan driver that there is. */
export async function startBrowser(flags = []) {
  const profile = mkdtempSync(path.join(tmpdir(), "verdigris-web-"));
  const child = spawn(
    findBrowser(),
    [
      "--headless=new",
      "--no-sandbox",
      "--no-first-run",
      "--disable-extensions",
      "--disable-background-networking",
      "--hide-scrollbars",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--enable-unsafe-webgpu",
      ...flags,
      ...(process.env.VERDIGRIS_CHROMIUM_FLAGS ?? "").split(" ").filter(Boolean),
      `--user-data-dir=${profile}`,
      "--remote-debugging-pipe",
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
  );
  const waiting = new Map();
  const listeners = new Set();
  let last = 0;
  let rest = "";
  child.stdio[4].on("data", (data) => {
    rest += data;
    const messages = rest.split("\0");
    rest = messages.pop();
    for (const text of messages) {
      const message = JSON.parse(text);
      const done = waiting.get(message.id);
      if (!done) for (const each of listeners) each(message);
      else if (message.error) done.reject(new Error(message.error.message));
      else done.resolve(message.result);
      waiting.delete(message.id);
    }
  });
  const end = (failure) => {
    for (const each of waiting.values()) each.reject(new Error(`the browser ended: ${failure}`));
    waiting.clear();
  };
  child.on("exit", end);
  child.on("error", end);
  child.stdio[3].on("error", () => {});
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
  return {
    async open(url, { width = 1280, height = 800, scale = 1, touch = false, dark = true } = {}) {
      const { targetId } = await send("Target.createTarget", { url: "about:blank" });
      const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
      const on = (method, params) => send(method, params, sessionId);
      const problems = [];
      listeners.add((message) => {
        if (message.sessionId !== sessionId) return;
        if (message.method === "Runtime.exceptionThrown") {
          const { exception, text } = message.params.exceptionDetails;
          problems.push(exception?.description ?? text);
        }
        if (message.method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(message.params.type)) {
          problems.push(message.params.args.map((each) => each.value ?? each.description).join(" "));
        }
        if (message.method === "Network.requestWillBeSent") page.requests.push(message.params.request.url);
      });
      const page = {
        problems,
        requests: [],
        on,
        /** The value of an expression, awaited. */
        async evaluate(expression) {
          const { result, exceptionDetails: failure } = await on("Runtime.evaluate", {
            expression,
            awaitPromise: true,
            returnByValue: true,
          });
          if (failure) throw new Error(failure.exception?.description ?? failure.exception?.value ?? failure.text);
          return result.value;
        },
        async screenshot() {
          const { data } = await on("Page.captureScreenshot", { format: "png" });
          return Buffer.from(data, "base64");
        },
        close: () => send("Target.closeTarget", { targetId }),
      };
      await Promise.all([on("Runtime.enable"), on("Network.enable"), on("Page.enable")]);
      await on("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: scale, mobile: touch });
      await on("Emulation.setTouchEmulationEnabled", { enabled: touch });
      await on("Emulation.setEmulatedMedia", {
        features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }],
      });
      await on("Page.navigate", { url });
      return page;
    },
    /** Seconds of processor time of all its processes so far (Linux). */
    processorSeconds: () => processorSeconds(child.pid),
    async close() {
      await send("Browser.close").catch(() => {});
      await new Promise((resolve) => (child.exitCode === null ? child.once("exit", resolve) : resolve()));
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function processorSeconds(root) {
  const parents = new Map();
  const ticks = new Map();
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1].split(" ");
      parents.set(Number(name), Number(fields[1]));
      ticks.set(Number(name), Number(fields[11]) + Number(fields[12]));
    } catch {
      // it has ended
    }
  }
  const isOurs = (pid) => pid === root || (parents.has(pid) && isOurs(parents.get(pid)));
  return [...ticks].reduce((sum, [pid, each]) => sum + (isOurs(pid) ? each : 0), 0) / 100;
}

/** Serves folders by their first path segment: { src: "/…/src", … }. */
export async function startServer(folders) {
  const server = createServer(async (request, response) => {
    const [, first, ...rest] = decodeURIComponent(request.url.split("?")[0]).split("/");
    try {
      if (first === "") {
        response.writeHead(200, { "content-type": "text/html" });
        response.end(`<!doctype html><script type="importmap">{"imports":{"three":"/three/build/three.module.js","three/webgpu":"/three/build/three.webgpu.js","three/tsl":"/three/build/three.tsl.js","three/addons/":"/three/examples/jsm/"}}</script>`);
        return;
      }
      const file = path.join(folders[first], ...rest);
      const data = await readFile(file);
      response.writeHead(200, { "content-type": TYPES[path.extname(file)] ?? "application/octet-stream" });
      response.end(data);
    } catch {
      response.writeHead(404);
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
