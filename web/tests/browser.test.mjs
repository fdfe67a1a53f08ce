// What needs a browser, in one Chromium. VERDIGRIS_BUNDLES names a folder of bundles; VERDIGRIS_PAGE a page
// of `verdigris publish` of the first, of a damaged one, of the one with live inputs, and of a thin one.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Decoder, loadMaterial } from "../src/index.js";
import { findBrowser, startBrowser, startServer } from "./browser.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = process.env.VERDIGRIS_BUNDLES;
const bundles = folder ? readdirSync(folder).filter((name) => name.endsWith(".vdg")).sort() : [];
const reason = !folder ? "VERDIGRIS_BUNDLES names no folder of bundles" : !findBrowser() ? "there is no Chromium" : false;
const three = [process.env.VERDIGRIS_THREE, path.join(here, "..", "node_modules", "three")].find((each) => {
  try {
    return each && readFileSync(path.join(each, "package.json"));
  } catch {
    return false;
  }
});
const ALL = { skip: reason };
const IN_THREE = { skip: reason || (three ? false : "three.js is not installed: npm install") };
const PAGE = { skip: reason || (process.env.VERDIGRIS_PAGE ? false : "VERDIGRIS_PAGE names no page") };
const LARGEST = 1e-3;

let browser;
let server;
let page;

before(async () => {
  if (reason) return;
  server = await startServer({ src: path.join(here, "..", "src"), bundles: folder, three });
  browser = await startBrowser();
  page = await browser.open(server.url, { width: 320, height: 240 });
  await page.evaluate(`(async () => {
    const { loadMaterial } = await import("/src/index.js");
    globalThis.loaded = new Map();
    globalThis.load = async (name) => {
      if (!loaded.has(name)) loaded.set(name, await loadMaterial("/bundles/" + name));
      return loaded.get(name);
    };
    globalThis.webgl2 = await import("/src/webgl2.js");
    globalThis.webgpu = await import("/src/webgpu.js");
    globalThis.gl = document.createElement("canvas").getContext("webgl2");
  })()`);
});

after(async () => {
  if (browser) console.log(`processor seconds of the browser: ${browser.processorSeconds().toFixed(1)}`);
  await browser?.close();
  server?.close();
});

const shipped = bundles.filter((name) => readdirSync(path.join(folder, name)).includes("runtime"));
const living = bundles.find((name) => name.includes("living"));
const plain = bundles.filter((name) => name === living || !shipped.includes(name));

for (const name of plain) {
  // a block of numbers takes this browser seconds to compile
  for (const numbers of name === plain.at(-2) ? ["block", "texture"] : ["texture"]) {
    test(`${name}: WebGL 2 gives all rows of the reference, numbers in a ${numbers}`, ALL, async () => {
      const found = await page.evaluate(`(async () => {
        const { compareWithReference } = await import("/src/index.js");
        const material = await load("${name}");
        const reference = await material.reference();
        return compareWithReference(reference, webgl2.evaluateRows(gl, material, reference, { numbers: "${numbers}" }));
      })()`);
      assert.ok(found.relative < LARGEST && found.absolute < 1e-5, JSON.stringify(found));
    });
  }
  test(`${name}: WebGPU gives all rows of the reference`, ALL, async (context) => {
    const found = await page.evaluate(`(async () => {
      const adapter = await navigator.gpu?.requestAdapter();
      if (!adapter) return null;
      globalThis.device ??= await adapter.requestDevice();
      return webgpu.check(device, await load("${name}"));
    })()`);
    if (!found) {
      context.skip("this Chromium has no WebGPU");
      return;
    }
    assert.ok(found.relative < LARGEST && found.absolute < 1e-5, JSON.stringify(found));
  });
}

// each row: uv and extent; wo and lod; wi
const RELIEF_GLSL = `NeuralRelief seen = neuralRelief(place.xy, view.xyz, place.zw, view.w);
  vec4 first = vec4(seen.uv, seen.height, neuralReliefShadow(seen, light.xyz, place.zw, view.w));
  vec3 normal = neuralReliefNormal(seen.uv, place.zw, view.w);
  vec4 second = vec4(normal, (normal * neuralReliefFrame(normal)).z);`;
for (const api of ["webgl2", "webgpu"]) {
  test(`relief in ${api} is that of numpy`, { skip: reason }, async (context) => {
    const { rows, scale } = JSON.parse(readFileSync(path.join(folder, "relief_rows.json")));
    const values = rows.flatMap(({ place, wo, wi }) => [...place, ...wo, ...wi, 0]);
    const found = await page.evaluate(`(async () => {
      const { relief, manifest } = await load("b_relief.vdg");
      const values = new Float32Array(${JSON.stringify(values)});
      const count = values.length / 12;
      const range = [relief.scale, relief.midlevel];
      if ("${api}" === "webgl2") {
        const { reliefGlsl } = await import("/src/relief.js");
        const program = webgl2.makeProgram(gl, webgl2.COVERING_VERTEX, reliefGlsl() + \`uniform sampler2D rows;
layout(location = 0) out vec4 one;
layout(location = 1) out vec4 two;
void main() {
  int row = int(gl_FragCoord.x);
  vec4 place = texelFetch(rows, ivec2(0, row), 0), view = texelFetch(rows, ivec2(1, row), 0), light = texelFetch(rows, ivec2(2, row), 0);
  ${RELIEF_GLSL}
  one = first;
  two = second;
}\`);
        const floats = (width, height, data) => {
          const texture = gl.createTexture();
          gl.bindTexture(gl.TEXTURE_2D, texture);
          gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, height, 0, gl.RGBA, gl.FLOAT, data);
          for (const each of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, each, gl.NEAREST);
          return texture;
        };
        gl.getExtension("EXT_color_buffer_float");
        const queries = floats(3, count, values);
        const outputs = [0, 1].map(() => floats(count, 1, null));
        gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
        outputs.forEach((each, index) => gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + index, gl.TEXTURE_2D, each, 0));
        gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1]);
        gl.viewport(0, 0, count, 1);
        gl.useProgram(program);
        [queries, webgl2.uploadTexture(gl, relief, manifest.relief.file)].forEach((each, unit) => {
          gl.activeTexture(gl.TEXTURE0 + unit);
          gl.bindTexture(gl.TEXTURE_2D, each);
        });
        gl.uniform1i(gl.getUniformLocation(program, "rows"), 0);
        gl.uniform1i(gl.getUniformLocation(program, "neuralHeights"), 1);
        gl.uniform2fv(gl.getUniformLocation(program, "neuralRange"), range);
        gl.drawArrays(gl.TRIANGLES, 0, 3);
        const read = [0, 1].map((index) => {
          const into = new Float32Array(4 * count);
          gl.readBuffer(gl.COLOR_ATTACHMENT0 + index);
          gl.readPixels(0, 0, count, 1, gl.RGBA, gl.FLOAT, into);
          return Array.from(into);
        });
        gl.bindFramebuffer(gl.FRAMEBUFFER, null);
        return read;
      }
      const adapter = await navigator.gpu?.requestAdapter();
      if (!adapter) return null;
      globalThis.device ??= await adapter.requestDevice();
      const { reliefWgsl } = await import("/src/wgsl_relief.js");
      const module = device.createShaderModule({ code: reliefWgsl() + \`
@group(0) @binding(0) var neuralHeights: texture_2d<f32>;
@group(0) @binding(1) var<uniform> neuralRange: vec2f;
struct Row { place: vec4f, view: vec4f, light: vec4f }
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read_write> answers: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= arrayLength(&rows)) { return; }
  let place = rows[id.x].place;
  let view = rows[id.x].view;
  let light = rows[id.x].light;
  ${RELIEF_GLSL.replace("NeuralRelief seen", "let seen").replace(/vec4 (first|second)/g, "let $1").replace("vec3 normal", "let normal").replaceAll("vec4(", "vec4f(")}
  answers[id.x] = first;
  answers[id.x + arrayLength(&rows)] = second;
}\` });
      const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
      const buffer = (data, usage) => {
        const made = device.createBuffer({ size: data.byteLength, usage: usage | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
        device.queue.writeBuffer(made, 0, data);
        return made;
      };
      const answers = buffer(new Float32Array(8 * count), GPUBufferUsage.STORAGE);
      const resources = [
        webgpu.uploadTexture(device, relief, manifest.relief.file).createView(),
        { buffer: buffer(new Float32Array(range), GPUBufferUsage.UNIFORM) },
        { buffer: buffer(values, GPUBufferUsage.STORAGE) },
        { buffer: answers },
      ];
      const entries = resources.map((resource, binding) => ({ binding, resource }));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
      pass.dispatchWorkgroups(Math.ceil(count / 64));
      pass.end();
      const copy = device.createBuffer({ size: 32 * count, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
      encoder.copyBufferToBuffer(answers, 0, copy, 0, 32 * count);
      device.queue.submit([encoder.finish()]);
      await copy.mapAsync(GPUMapMode.READ);
      const all = Array.from(new Float32Array(copy.getMappedRange()));
      return [all.slice(0, 4 * count), all.slice(4 * count)];
    })()`);
    if (!found) {
      context.skip("this Chromium has no WebGPU");
      return;
    }
    const of = (list, row) => list.slice(4 * row, 4 * row + 4);
    const far = (one, other) => Math.max(...other.map((each, index) => Math.abs(each - one[index])));
    // a ray that grazes an edge may miss it in single floats
    const isSame = rows.map(({ seen }, row) => far(of(found[0], row), seen) < 2e-3 && Math.abs(of(found[0], row)[2] - seen[2]) < 1e-3 * scale);
    const same = rows.map((_, row) => row).filter((row) => isSame[row]);
    assert.ok(same.length > 0.99 * rows.length, `${same.length} of ${rows.length} places`);
    const lit = same.filter((row) => of(found[0], row)[3] === rows[row].lit[0]);
    assert.ok(lit.length > 0.99 * same.length, `${lit.length} of ${same.length} shadows`);
    for (const row of same) assert.ok(far(of(found[1], row), [...rows[row].normal, 1]) < 4e-3, `${row}: ${of(found[1], row)}`);
  });
}

// the texts of evaluateRows(), with the sampler's density in place of the response
const dense = [bundles[0], ...bundles.filter((name) => /b_(solid|thin)/.test(name))];
for (const [api, name] of dense.flatMap((name) => [["webgl2", name], ["webgpu", name]])) {
  test(`${name}: the package's own text in ${api} has the reference's density`, ALL, async (context) => {
    const found = await page.evaluate(`(async () => {
      const material = await load("${name}");
      const reference = await material.reference();
      const swap = (text) => text
        .replace("neuralEvaluate(first.xy, first.z, wi, wo)", "vec3(neuralPdf(neuralPrepare(first.xy, first.z, wo), wi))")
        .replace("let row = rows[id.x];", "let row = rows[id.x]; var s = neuralPrepare(row.place.xy, row.place.z, row.wo.xyz);")
        .replace("neuralEvaluate(row.place.xy, row.place.z, row.wi.xyz, row.wo.xyz)", "vec3f(neuralPdf(&s, row.wi.xyz))");
      let rows;
      if ("${api}" === "webgl2") {
        gl.shaderSource = (shader, text) => WebGL2RenderingContext.prototype.shaderSource.call(gl, shader, swap(text));
        rows = webgl2.evaluateRows(gl, material, reference, { numbers: "texture" });
        delete gl.shaderSource;
      } else {
        const adapter = await navigator.gpu?.requestAdapter();
        if (!adapter) return null;
        globalThis.device ??= await adapter.requestDevice();
        device.createShaderModule = ({ code }) => GPUDevice.prototype.createShaderModule.call(device, { code: swap(code) });
        rows = await webgpu.evaluateRows(device, material, reference);
        delete device.createShaderModule;
      }
      return rows.map((each) => each[0]);
    })()`);
    if (!found) {
      context.skip("this Chromium has no WebGPU");
      return;
    }
    const { pdf } = await (await loadFrom(name)).reference();
    const wrong = Math.max(...found.map((each, row) => Math.abs(each - pdf[row]) / Math.max(pdf[row], 0.01)));
    assert.ok(found.length === pdf.length && wrong < LARGEST, `${wrong}`);
  });
}

for (const [kind, constant] of [["bc7", "COMPRESSED_RGBA_BPTC_UNORM_EXT"], ["bc6h", "COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT_EXT"]]) {
  test(`random blocks of ${kind} are decoded as the texture unit does`, ALL, async (context) => {
    const found = await page.evaluate(`(async () => {
      const { decodeBc7 } = await import("/src/bc7.js");
      const { decodeBc6h } = await import("/src/bc6h.js");
      const { halvesToFloats } = await import("/src/halves.js");
      const bptc = gl.getExtension("EXT_texture_compression_bptc");
      if (!bptc || !gl.getExtension("EXT_color_buffer_float")) return null;
      const [width, blocks] = [64, new Uint8Array(16 * 256)];
      let state = 7;
      for (let at = 0; at < blocks.length; at++) {
        state = (state * 48271) % 2147483647;
        blocks[at] = state >> 8;
        if (at % 16) continue;
        const mode = 4 + ((at / 16) % 3);
        // modes 4, 5 and 6; mode 11 of BC6H is the number 3
        if ("${kind}" === "bc7") blocks[at] = (blocks[at] & ~((2 << mode) - 1)) | (1 << mode);
        else blocks[at] = (blocks[at] & ~31) | 3;
      }
      const texture = gl.createTexture();
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.compressedTexImage2D(gl.TEXTURE_2D, 0, bptc.${constant}, width, width, 0, blocks);
      for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
      const program = webgl2.makeProgram(gl, webgl2.COVERING_VERTEX, "uniform sampler2D texels; out vec4 color; void main() { color = texelFetch(texels, ivec2(gl_FragCoord.xy), 0); }");
      const target = gl.createTexture();
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, target);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, width);
      gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
      gl.viewport(0, 0, width, width);
      gl.useProgram(program);
      gl.uniform1i(gl.getUniformLocation(program, "texels"), 0);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      const seen = new Float32Array(4 * width * width);
      gl.readPixels(0, 0, width, width, gl.RGBA, gl.FLOAT, seen);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      const ours = "${kind}" === "bc7" ? Float32Array.from(decodeBc7(blocks, width, width), (each) => each / 255) : halvesToFloats(decodeBc6h(blocks, width, width));
      const wrong = [...seen].findIndex((each, at) => Math.abs(each - ours[at]) > 1e-6 * Math.abs(ours[at]));
      return { wrong, seen: seen[wrong], ours: ours[wrong], distinct: new Set(seen).size };
    })()`);
    if (!found) {
      context.skip("this Chromium has no BC7 textures");
      return;
    }
    assert.equal(found.wrong, -1, JSON.stringify(found));
    assert.ok(found.distinct > 200);
  });
}

const SHIPPED = { skip: reason || (shipped.length ? false : "no bundle has shaders and constants.bin") };

/** Rows of 16 floats (response and pdf, direction drawn and its pdf, and its response) against the reference. */
async function compareAnswers(name, answers) {
  const rows = await (await loadFrom(name)).reference();
  const wrong = { response: 0, pdf: 0, drawn: 0 };
  answers.forEach((answer, row) => {
    for (let channel = 0; channel < 3; channel++) {
      const exact = rows.exported[row][channel];
      wrong.response = Math.max(wrong.response, Math.abs(answer[channel] - exact) / Math.max(exact, 0.01));
      if (rows.drawn) wrong.drawn = Math.max(wrong.drawn, Math.abs(answer[4 + channel] - rows.drawn[row][channel]));
    }
    wrong.pdf = Math.max(wrong.pdf, Math.abs(answer[3] - rows.pdf[row]) / Math.max(rows.pdf[row], 0.01));
  });
  assert.equal(answers.length, rows.count);
  // 2e-6 here; sine and cosine of the browser, which are wrong by 5e-4, would make it 2.6e-3
  assert.ok(wrong.response < LARGEST && wrong.pdf < LARGEST && wrong.drawn < 1e-4, JSON.stringify(wrong));
}

for (const name of shipped) {
  test(`${name}: portable.es300.glsl compiles unchanged and gives all rows`, SHIPPED, async () => {
    const answers = await page.evaluate(`(async () => {
      const material = await load("${name}");
      const rows = await material.reference();
      const text = new TextDecoder().decode(await material.file("runtime/portable.es300.glsl"));
      // of a surface that transmits, the second decoder behind the first
      const numbers = ["constants.bin", ...(material.transmission ? ["transmitted_constants.bin"] : [])];
      const parts = await Promise.all(numbers.map((each) => material.file(each)));
      const floats = new Float32Array(await new Blob(parts).arrayBuffer());
      const program = gl.createProgram();
      for (const [kind, source] of [
        [gl.VERTEX_SHADER, "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }"],
        [gl.FRAGMENT_SHADER, text],
      ]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, "#version 300 es\\n" + source);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
        gl.attachShader(program, shader);
      }
      gl.linkProgram(program);
      if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
      gl.useProgram(program);
      const at = (name) => gl.getUniformLocation(program, name);
      const plain = (unit, name, data, width) => {
        const padded = new Float32Array(4 * width * Math.ceil(data.length / 4 / width));
        padded.set(data);
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, padded.length / 4 / width, 0, gl.RGBA, gl.FLOAT, padded);
        for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
        gl.uniform1i(at(name), unit);
      };
      const liveOf = (row) => (rows.live ? [0, 1, 2, 3].map((each) => rows.live[row][each] ?? 0) : []);
      const W = 64, H = Math.ceil(rows.count / W);
      plain(0, "neuralFloats", floats, 16);
      const queries = rows.uv.flatMap((uv, row) => [...uv, rows.lod[row], 0, ...rows.wi[row], rows.random?.[row][0] ?? 0, ...rows.wo[row], rows.random?.[row][1] ?? 0, ...liveOf(row)]);
      plain(1, "neuralQueries", queries, (rows.live ? 4 : 3) * W);
      gl.activeTexture(gl.TEXTURE2);
      gl.bindTexture(gl.TEXTURE_2D_ARRAY, webgl2.uploadTexture(gl, material.latents));
      gl.uniform1i(at("neuralLatents"), 2);
      for (const record of ["neuralRecord", "neuralRecordBelow"]) {
        gl.uniform4fv(at(record + ".scale[0]"), material.latents.scale);
        gl.uniform4fv(at(record + ".offset[0]"), material.latents.offset);
        gl.uniform1ui(at(record + ".width"), material.latents.width);
        gl.uniform1ui(at(record + ".height"), material.latents.height);
        gl.uniform1ui(at(record + ".levels"), material.latents.levels.length);
      }
      gl.uniform1ui(at("neuralRecordBelow.weights"), parts[0].length / 2);
      gl.uniform1ui(at("neuralRecordBelow.reserved0"), new Uint32Array(new Float32Array([material.transmission?.index]).buffer)[0]);
      gl.getExtension("EXT_color_buffer_float");
      const targets = [0, 1, 2].map((index) => {
        const texture = gl.createTexture();
        gl.activeTexture(gl.TEXTURE3);
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, W, H);
        return texture;
      });
      gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
      targets.forEach((texture, index) => gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + index, gl.TEXTURE_2D, texture, 0));
      gl.drawBuffers(targets.map((_, index) => gl.COLOR_ATTACHMENT0 + index));
      gl.viewport(0, 0, W, H);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      const read = targets.map((_, index) => {
        const texels = new Float32Array(4 * W * H);
        gl.readBuffer(gl.COLOR_ATTACHMENT0 + index);
        gl.readPixels(0, 0, W, H, gl.RGBA, gl.FLOAT, texels);
        return texels;
      });
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      return rows.uv.map((_, row) => read.flatMap((texels) => [...texels.subarray(4 * row, 4 * row + 4)]));
    })()`);
    await compareAnswers(name, answers);
  });

  // tests in Python evaluate that of a surface that transmits
  if (name.includes("glass")) continue;
  test(`${name}: portable.wgsl is taken unchanged and gives all rows`, SHIPPED, async (context) => {
    const answers = await page.evaluate(`(async () => {
      const adapter = await navigator.gpu?.requestAdapter();
      if (!adapter) return null;
      globalThis.device ??= await adapter.requestDevice();
      const material = await load("${name}");
      const rows = await (await fetch("/bundles/${name}/reference.json")).json();
      const code = new TextDecoder().decode(await material.file("runtime/portable.wgsl"));
      const module = device.createShaderModule({ code });
      const { messages } = await module.getCompilationInfo();
      if (messages.length) return messages.map(({ type, message }) => type + " " + message);
      const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "evaluateQueries" } });
      const buffer = (data, usage) => {
        const made = device.createBuffer({ size: data.byteLength, usage: usage | GPUBufferUsage.COPY_DST });
        device.queue.writeBuffer(made, 0, data);
        return made;
      };
      const { latents } = material;
      const record = new DataView(new ArrayBuffer(128));
      latents.scale.forEach((each, index) => record.setFloat32(4 * index, each, true));
      latents.offset.forEach((each, index) => record.setFloat32(32 + 4 * index, each, true));
      [latents.width, latents.height, latents.levels.length].forEach((each, index) => record.setUint32(64 + 4 * index, each, true));
      const liveOf = (row) => (rows.live ? [0, 1, 2, 3].map((each) => rows.live[row][each] ?? 0) : []);
      const queries = rows.uv.flatMap((uv, row) => [...uv, rows.lod[row], 0, ...rows.wi[row], rows.random[row][0], ...rows.wo[row], rows.random[row][1], ...liveOf(row)]);
      const size = 48 * rows.count;
      const found = buffer(new Uint8Array(size), GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
      const back = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const bound = [
        { buffer: buffer(record, GPUBufferUsage.UNIFORM) },
        { buffer: buffer((await material.file("constants.bin")).slice(), GPUBufferUsage.UNIFORM) },
        webgpu.uploadTexture(device, latents, "latents.ktx2").createView({ dimension: "2d-array" }),
        device.createSampler(),
        { buffer: buffer(new Float32Array(queries), GPUBufferUsage.STORAGE) },
        { buffer: found },
        { buffer: buffer(new Uint32Array([rows.count, 0, 0, 0]), GPUBufferUsage.UNIFORM) },
      ];
      const commands = device.createCommandEncoder();
      const pass = commands.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: bound.map((resource, binding) => ({ binding, resource })),
      }));
      pass.dispatchWorkgroups(Math.ceil(rows.count / 64));
      pass.end();
      commands.copyBufferToBuffer(found, 0, back, 0, size);
      device.queue.submit([commands.finish()]);
      await back.mapAsync(GPUMapMode.READ);
      const floats = new Float32Array(back.getMappedRange());
      return rows.uv.map((_, row) => [...floats.subarray(12 * row, 12 * row + 12)]);
    })()`);
    if (!answers) {
      context.skip("this Chromium has no WebGPU");
      return;
    }
    assert.ok(Array.isArray(answers[0]), answers[0]);
    await compareAnswers(name, answers);
  });
}

test("three.js lights a plane as the processor's decoder says", IN_THREE, async () => {
  // Seen from straight above; the light's direction and the texel are known at every pixel.
  const name = bundles[0];
  const [width, height] = [16, 16];
  const seen = await page.evaluate(`(async () => {
    globalThis.THREE = await import("three");
    globalThis.neural = await import("/src/three.js");
    globalThis.renderer = new THREE.WebGLRenderer();
    renderer.toneMapping = THREE.NoToneMapping;
    globalThis.scene = new THREE.Scene();
    globalThis.camera = new THREE.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
    camera.position.z = 2;
    const material = new neural.NeuralMaterial(await load("${name}"), renderer, { filter: "exact" });
    scene.add(new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material));
    const sun = new THREE.DirectionalLight(0xffffff, 2);
    sun.position.set(1, 2, 3);
    scene.add(sun);
    const target = new THREE.WebGLRenderTarget(${width}, ${height}, { type: THREE.FloatType });
    renderer.setRenderTarget(target);
    renderer.render(scene, camera);
    const texels = new Float32Array(4 * ${width} * ${height});
    renderer.readRenderTargetPixels(target, 0, 0, ${width}, ${height}, texels);
    return Array.from(texels);
  })()`);
  const material = await loadFrom(name);
  const decoder = new Decoder(material);
  const light = [1, 2, 3].map((each) => each / Math.sqrt(14));
  const lod = Math.log2(material.latents.width / width);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const exact = decoder.evaluate([(column + 0.5) / width, (row + 0.5) / height], lod, light, [0, 0, 1]);
      for (let channel = 0; channel < 3; channel++) {
        const found = seen[4 * (row * width + column) + channel];
        assert.ok(Math.abs(found - 2 * exact[channel]) < 2e-3 * Math.max(2 * exact[channel], 0.01), `${column} ${row}: ${found} and ${2 * exact[channel]}`);
      }
    }
  }
});

test("three.js takes live values as uniforms, on WebGL and on WebGPU", IN_THREE, async () => {
  const side = 8;
  const found = await page.evaluate(`(async () => {
    const loaded = await load("${living}");
    const values = { wetness: 1.5, tint: 0.25 };
    const camera = new THREE.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
    camera.position.z = 2;
    const world = (library, material) => {
      const sun = new library.DirectionalLight(0xffffff, 2);
      sun.position.set(1, 2, 3);
      return new library.Scene().add(new library.Mesh(new library.PlaneGeometry(1, 1), material), sun);
    };
    const material = new neural.NeuralMaterial(loaded, renderer, { filter: "exact" });
    const scene = world(THREE, material);
    const target = new THREE.WebGLRenderTarget(${side}, ${side}, { type: THREE.FloatType });
    renderer.setRenderTarget(target);
    const draw = () => {
      renderer.render(scene, camera);
      const texels = new Float32Array(4 * ${side} * ${side});
      renderer.readRenderTargetPixels(target, 0, 0, ${side}, ${side}, texels);
      return Array.from(texels);
    };
    const before = material.live;
    const webgl = [draw()];
    material.live = values;
    webgl.push(draw());
    let refused = "";
    try { material.live = { rain: 1 }; } catch (failure) { refused = failure.message; }
    let webgpu = null;
    if (await navigator.gpu?.requestAdapter()) {
      const GPU3 = await import("three/webgpu");
      const { NeuralNodeMaterial } = await import("/src/three_webgpu.js");
      const renderer = new GPU3.WebGPURenderer();
      await renderer.init();
      const target = new GPU3.RenderTarget(${side}, ${side}, { type: GPU3.FloatType });
      renderer.setRenderTarget(target);
      const material = new NeuralNodeMaterial(loaded, renderer, { filter: "exact" });
      const scene = world(GPU3, material);
      const eye = new GPU3.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
      eye.position.z = 2;
      webgpu = [];
      for (const live of [{}, values]) {
        material.live = live;
        renderer.render(scene, eye);
        webgpu.push(Array.from(await renderer.readRenderTargetPixelsAsync(target, 0, 0, ${side}, ${side})));
      }
    }
    return { before, after: material.live, refused, webgl, webgpu };
  })()`);
  assert.deepEqual([found.before, found.after], [{ wetness: 0.5, tint: 0.75 }, { wetness: 1.5, tint: 0.25 }]);
  assert.match(found.refused, /no live input rain: it has wetness, tint/);
  const decoder = new Decoder(await loadFrom(living));
  const light = [1, 2, 3].map((each) => each / Math.sqrt(14));
  const { width, height } = decoder.material.latents;
  const lod = Math.log2(Math.max(width, height) / side);
  for (const [pictures, isFromTop] of [[found.webgl, false], [found.webgpu ?? [], true]]) {
    pictures.forEach((texels, index) => {
      for (let at = 0; at < side * side; at++) {
        const row = Math.floor(at / side);
        const uv = [((at % side) + 0.5) / side, ((isFromTop ? side - 1 - row : row) + 0.5) / side];
        decoder.evaluate(uv, lod, light, [0, 0, 1], index ? [0.75, 0.25] : undefined).forEach((exact, channel) => {
          const seen = texels[4 * at + channel];
          assert.ok(Math.abs(seen - 2 * exact) < 2e-3 * Math.max(2 * exact, 0.01), `picture ${index}, pixel ${at}: ${seen} and ${2 * exact}`);
        });
      }
    });
  }
  assert.deepEqual(page.problems, []);
});

test("an environment of floats, halves or bytes has the same light, and mip levels", IN_THREE, async () => {
  const found = await page.evaluate(`(() => {
    const white = {
      FloatType: new Float32Array(4 * 16 * 8).fill(1),
      HalfFloatType: new Uint16Array(4 * 16 * 8).fill(THREE.DataUtils.toHalfFloat(1)),
      UnsignedByteType: new Uint8Array(4 * 16 * 8).fill(255),
    };
    return Object.entries(white).map(([type, texels]) => {
      // as HDRLoader leaves its textures
      const sky = new THREE.DataTexture(texels, 16, 8, THREE.RGBAFormat, THREE[type]);
      sky.mapping = THREE.EquirectangularReflectionMapping;
      sky.minFilter = sky.magFilter = THREE.LinearFilter;
      sky.generateMipmaps = false;
      sky.needsUpdate = true;
      const { map, harmonics } = neural.makeEnvironment(renderer, sky);
      return [harmonics[0].x, map.generateMipmaps && map.minFilter === THREE.LinearMipmapLinearFilter, sky.generateMipmaps, renderer.getContext().getError()];
    });
  })()`);
  for (const [first, isMipmapped, ofSource, error] of found) {
    // the harmonic of order 0, 1 / sqrt(4 pi), over the sphere, times pi of the cosine
    assert.ok(Math.abs(first - (4 * Math.PI * Math.PI) / Math.sqrt(4 * Math.PI)) < 0.02, `${first}`);
    assert.deepEqual([isMipmapped, ofSource, error], [true, false, 0]);
  }
});

test("the grain of an environment's light has no direction", IN_THREE, async () => {
  const side = 64, copies = 6;
  const pictures = await page.evaluate(`(async () => {
    const texels = new Float32Array(4 * 32 * 16);
    for (let at = 0; at < 32 * 16; at++) texels.fill(at % 32 < 16 ? 0.05 : 2, 4 * at, 4 * at + 4);
    const sky = new THREE.DataTexture(texels, 32, 16, THREE.RGBAFormat, THREE.FloatType);
    sky.mapping = THREE.EquirectangularReflectionMapping;
    sky.needsUpdate = true;
    const material = new neural.NeuralMaterial(await load("${bundles[0]}"), renderer, { samples: 4 });
    material.environment = neural.makeEnvironment(renderer, sky);
    const world = new THREE.Scene();
    world.add(new THREE.Mesh(new THREE.SphereGeometry(0.5, 48, 24), material));
    // the same sphere at several places of one target: only the random numbers of its pixels differ
    const target = new THREE.WebGLRenderTarget(${side * copies}, ${side}, { type: THREE.FloatType });
    renderer.setRenderTarget(target);
    renderer.autoClear = false;
    const pictures = [];
    for (let copy = 0; copy < ${copies}; copy++) {
      target.viewport.set(copy * ${side}, 0, ${side}, ${side});
      renderer.setRenderTarget(target);
      renderer.render(world, camera);
      const read = new Float32Array(4 * ${side * side});
      renderer.readRenderTargetPixels(target, copy * ${side}, 0, ${side}, ${side}, read);
      pictures.push(Array.from({ length: ${side * side} }, (_, at) => read[4 * at + 1]));
    }
    renderer.autoClear = true;
    return pictures;
  })()`);
  const mean = pictures[0].map((_, at) => pictures.reduce((sum, each) => sum + each[at], 0) / copies);
  for (const [x, y] of [[1, 0], [0, 1], [1, 1], [1, -1], [2, 1], [1, 2], [2, -1], [3, 3]]) {
    let product = 0, square = 0;
    for (const picture of pictures)
      for (let row = 16; row < 48; row++)
        for (let column = 16; column < 48; column++) {
          const at = row * side + column, beside = at + y * side + x;
          product += (picture[at] - mean[at]) * (picture[beside] - mean[beside]);
          square += (picture[at] - mean[at]) ** 2;
        }
    assert.ok(square > 1e-3, `no grain: ${square}`);
    assert.ok(Math.abs(product / square) < 0.08, `${product / square} towards ${x}, ${y}`);
  }
  assert.deepEqual(page.problems, []);
});

test("three.js draws instances, shadows and an environment without a warning", IN_THREE, async () => {
  const found = await page.evaluate(`(async () => {
    const sky = new THREE.DataTexture(new Float32Array(4 * 16 * 8).fill(0.5), 16, 8, THREE.RGBAFormat, THREE.FloatType);
    sky.mapping = THREE.EquirectangularReflectionMapping;
    sky.minFilter = sky.magFilter = THREE.LinearFilter;
    sky.needsUpdate = true;
    const material = new neural.NeuralMaterial(await load("${bundles[0]}"), renderer, { samples: 32 });
    material.environment = neural.makeEnvironment(renderer, sky);
    const world = new THREE.Scene();
    const plane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), material);
    plane.receiveShadow = true;
    world.add(plane);
    const draw = () => {
      const target = new THREE.WebGLRenderTarget(8, 8, { type: THREE.FloatType });
      renderer.setRenderTarget(target);
      renderer.render(world, camera);
      const texels = new Float32Array(256);
      renderer.readRenderTargetPixels(target, 0, 0, 8, 8, texels);
      return Array.from(texels);
    };
    const sky1 = draw();
    material.environment = null;
    const sun = new THREE.DirectionalLight(0xffffff, 2);
    sun.position.set(0, 0, 4);
    sun.castShadow = true;
    world.add(sun, sun.target);
    renderer.shadowMap.enabled = true;
    const lit = draw();
    const many = new THREE.InstancedMesh(new THREE.BoxGeometry(0.5, 0.5, 0.1), new neural.NeuralMaterial(await load("${bundles[0]}"), renderer), 2);
    many.castShadow = true;
    many.setMatrixAt(0, new THREE.Matrix4().makeTranslation(-0.25, 0, 3));
    many.setMatrixAt(1, new THREE.Matrix4().makeTranslation(0.25, 0, 3));
    many.layers.set(0);
    world.add(many);
    camera.near = 0.1;
    // between light and plane, behind the camera
    const shadowed = draw();
    return { sky: sky1, lit, shadowed };
  })()`);
  const material = await loadFrom(bundles[0]);
  const mean = (texels) => texels.filter((_, at) => at % 4 < 3).reduce((sum, each) => sum + each, 0) / (texels.length * 0.75);
  // a white sky of radiance .5 gives half of the directional albedo, by quadrature
  const decoder = new Decoder(material);
  const albedo = meanAlbedo(decoder, 8);
  assert.ok(Math.abs(mean(found.sky) / (0.5 * albedo) - 1) < 0.05, `${mean(found.sky)} and ${0.5 * albedo}`);
  assert.ok(mean(found.lit) > 0.01);
  // the middle is in the shadow, the rows at the edges are not
  const row = (texels, index) => mean(texels.slice(32 * index, 32 * (index + 1)));
  assert.ok(row(found.shadowed, 4) < 0.05 * row(found.lit, 4), `${row(found.shadowed, 4)} of ${row(found.lit, 4)}`);
  assert.ok(Math.abs(row(found.shadowed, 0) / row(found.lit, 0) - 1) < 0.1);
  assert.deepEqual(page.problems, []);
});

test("three.js shows relief on a plane that leans back, with its shadows, on WebGL and on WebGPU", IN_THREE, async () => {
  const side = 16;
  const tilt = (50 * Math.PI) / 180;
  const found = await page.evaluate(`(async () => {
    const loaded = await load("b_relief.vdg");
    const world = (library, material) => {
      const plane = new library.Mesh(new library.PlaneGeometry(1, 1), material);
      plane.rotation.x = -${tilt};
      const sun = new library.DirectionalLight(0xffffff, 2);
      sun.position.set(1, 2, 3);
      return new library.Scene().add(plane, sun);
    };
    const target = new THREE.WebGLRenderTarget(${side}, ${side}, { type: THREE.FloatType });
    renderer.setRenderTarget(target);
    renderer.render(world(THREE, new neural.NeuralMaterial(loaded, renderer, { filter: "exact" })), camera);
    const webgl = new Float32Array(4 * ${side * side});
    renderer.readRenderTargetPixels(target, 0, 0, ${side}, ${side}, webgl);
    let webgpu = null;
    if (await navigator.gpu?.requestAdapter()) {
      const GPU3 = await import("three/webgpu");
      const { NeuralNodeMaterial } = await import("/src/three_webgpu.js");
      const renderer = new GPU3.WebGPURenderer();
      await renderer.init();
      const target = new GPU3.RenderTarget(${side}, ${side}, { type: GPU3.FloatType });
      renderer.setRenderTarget(target);
      const eye = new GPU3.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
      eye.position.z = 2;
      renderer.render(world(GPU3, new NeuralNodeMaterial(loaded, renderer, { filter: "exact" })), eye);
      webgpu = Array.from(await renderer.readRenderTargetPixelsAsync(target, 0, 0, ${side}, ${side}));
    }
    return { webgl: Array.from(webgl), webgpu };
  })()`);
  const decoder = new Decoder(await loadFrom("b_relief.vdg"));
  const { width, height } = decoder.material.latents;
  const lod = Math.log2(Math.max(width, height / Math.cos(tilt)) / side);
  const { tilted } = JSON.parse(readFileSync(path.join(folder, "relief_rows.json")));
  const turned = (row) => side * (side - 1 - Math.floor(row / side)) + (row % side);
  for (const [texels, at] of [[found.webgl, (pixel) => pixel], [found.webgpu, turned]]) {
    if (!texels) continue;
    const isRight = tilted.map(({ pixel, uv, lit, wi, wo }) => {
      // as the shader does where the relief turns away from the viewer
      const seen = [wo[0], wo[1], Math.max(wo[2], 1e-3)];
      const exact = decoder.evaluate(uv, lod, wi, seen.map((each) => each / Math.hypot(...seen)));
      return exact.every((each, channel) => Math.abs(texels[4 * at(pixel) + channel] - 2 * lit * each) < 1e-2 * Math.max(2 * each, 0.01));
    });
    const right = isRight.filter(Boolean).length;
    // at the walls between the flat cells of a coarse level, single floats choose either side
    assert.ok(right > 0.94 * tilted.length, `${right} of ${tilted.length} pixels`);
  }
  const dark = tilted.filter(({ lit }) => !lit).length;
  assert.ok(dark > 0.03 * tilted.length && dark < 0.9 * tilted.length, `${dark} of ${tilted.length} are dark`);
  assert.deepEqual(page.problems, []);
});

for (const name of bundles.filter((each) => /b_(solid|thin)/.test(each))) {
  test(`${name}: three.js shows both sides, also from behind and under a sky`, IN_THREE, async () => {
    const side = 8;
    const isThin = name.includes("thin");
    const found = await page.evaluate(`(async () => {
      const loaded = await load("${name}");
      const sky = new THREE.DataTexture(new Float32Array(4 * 16 * 8).fill(0.5), 16, 8, THREE.RGBAFormat, THREE.FloatType);
      sky.mapping = THREE.EquirectangularReflectionMapping;
      sky.minFilter = sky.magFilter = THREE.LinearFilter;
      sky.needsUpdate = true;
      const world = (library, material) => {
        const plane = new library.Mesh(new library.PlaneGeometry(1, 1), material);
        const sun = new library.DirectionalLight(0xffffff, 2);
        sun.position.set(1, 2, -3);
        const scene = new library.Scene().add(plane, sun);
        return { scene, plane, sun };
      };
      const material = new neural.NeuralMaterial(loaded, renderer, { filter: "exact", samples: 64 });
      material.side = THREE.DoubleSide;
      const { scene, plane, sun } = world(THREE, material);
      const target = new THREE.WebGLRenderTarget(${side}, ${side}, { type: THREE.FloatType });
      const draw = () => {
        renderer.setRenderTarget(target);
        renderer.render(scene, camera);
        const texels = new Float32Array(4 * ${side * side});
        renderer.readRenderTargetPixels(target, 0, 0, ${side}, ${side}, texels);
        return Array.from(texels);
      };
      const through = draw();
      plane.rotation.set(0, Math.PI, 0);
      const behind = draw();
      plane.rotation.set(0, 0, 0);
      sun.intensity = 0;
      material.environment = neural.makeEnvironment(renderer, sky);
      const surrounded = draw();
      let webgpu = null;
      if (await navigator.gpu?.requestAdapter()) {
        const GPU3 = await import("three/webgpu");
        const { NeuralNodeMaterial, makeEnvironment } = await import("/src/three_webgpu.js");
        const renderer = new GPU3.WebGPURenderer();
        await renderer.init();
        const target = new GPU3.RenderTarget(${side}, ${side}, { type: GPU3.FloatType });
        renderer.setRenderTarget(target);
        const material = new NeuralNodeMaterial(loaded, renderer, { filter: "exact", samples: 64 });
        const { scene, sun } = world(GPU3, material);
        const eye = new GPU3.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
        eye.position.z = 2;
        const draw = async () => {
          renderer.render(scene, eye);
          return Array.from(await renderer.readRenderTargetPixelsAsync(target, 0, 0, ${side}, ${side}));
        };
        webgpu = { through: await draw() };
        sun.intensity = 0;
        const white = new GPU3.DataTexture(sky.image.data, 16, 8, GPU3.RGBAFormat, GPU3.FloatType);
        white.mapping = GPU3.EquirectangularReflectionMapping;
        white.needsUpdate = true;
        material.environment = await makeEnvironment(renderer, white);
        webgpu.surrounded = await draw();
      }
      return { through, behind, surrounded, webgpu };
    })()`);
    const decoder = new Decoder(await loadFrom(name));
    const lod = Math.log2(decoder.material.latents.width / side);
    const compare = (texels, [x, y, z], isFromTop = false, isTurned = false) => {
      for (let at = 0; at < side * side; at++) {
        const [column, row] = [at % side, Math.floor(at / side)];
        const uv = [((isTurned ? side - 1 - column : column) + 0.5) / side, ((isFromTop ? side - 1 - row : row) + 0.5) / side];
        // a lamp behind a solid is a caustic, which is not shown
        const exact = isThin ? decoder.evaluate(uv, lod, [x, y, z].map((each) => each / Math.sqrt(14)), [0, 0, 1]) : [0, 0, 0];
        exact.forEach((each, channel) => {
          const seen = texels[4 * at + channel];
          assert.ok(Math.abs(seen - 2 * each) < 2e-3 * Math.max(2 * each, 0.01), `pixel ${at}: ${seen} and ${2 * each}`);
        });
        if (isThin) assert.ok(exact[0] > 0);
      }
    };
    compare(found.through, [1, 2, -3]);
    // the plane is turned about y, so its tangent points to -x; its lower side faces the viewer
    compare(found.behind, [-1, 2, -3], false, true);
    const mean = (texels) => texels.filter((_, at) => at % 4 < 3).reduce((sum, each) => sum + each, 0) / (texels.length * 0.75);
    const white = 0.5 * meanAlbedo(decoder, side, decoder.material.transmission.index);
    assert.ok(Math.abs(mean(found.surrounded) / white - 1) < 0.05, `${mean(found.surrounded)} and ${white}`);
    if (found.webgpu) {
      compare(found.webgpu.through, [1, 2, -3], true);
      assert.ok(Math.abs(mean(found.webgpu.surrounded) / white - 1) < 0.05, `${mean(found.webgpu.surrounded)} and ${white}`);
    }
    assert.deepEqual(page.problems, []);
  });
}

test("three.js on WebGPU lights a plane as the processor's decoder says, also by its surroundings", IN_THREE, async (context) => {
  const [width, height] = [16, 16];
  const found = await page.evaluate(`(async () => {
    if (!(await navigator.gpu?.requestAdapter())) return null;
    globalThis.GPU3 = await import("three/webgpu");
    const { NeuralNodeMaterial, makeEnvironment } = await import("/src/three_webgpu.js");
    const renderer = new GPU3.WebGPURenderer();
    const material = await load("${bundles[0]}");
    let refused = null;
    try {
      new NeuralNodeMaterial(material, renderer);
    } catch (failure) {
      refused = failure.message;
    }
    await renderer.init();
    const camera = new GPU3.OrthographicCamera(-0.5, 0.5, 0.5, -0.5, 0.1, 10);
    camera.position.z = 2;
    const target = new GPU3.RenderTarget(${width}, ${height}, { type: GPU3.FloatType });
    renderer.setRenderTarget(target);
    const draw = async (scene) => {
      renderer.render(scene, camera);
      return Array.from(await renderer.readRenderTargetPixelsAsync(target, 0, 0, ${width}, ${height}));
    };
    const plane = new GPU3.Mesh(new GPU3.PlaneGeometry(1, 1), new NeuralNodeMaterial(material, renderer, { filter: "exact", samples: 32 }));
    const scene = new GPU3.Scene().add(plane);
    const sun = new GPU3.DirectionalLight(0xffffff, 2);
    sun.position.set(1, 2, 3);
    scene.add(sun);
    const lit = await draw(scene);
    scene.remove(sun);
    const sky = new GPU3.DataTexture(new Float32Array(4 * 16 * 8).fill(0.5), 16, 8, GPU3.RGBAFormat, GPU3.FloatType);
    sky.mapping = GPU3.EquirectangularReflectionMapping;
    sky.needsUpdate = true;
    plane.material.environment = await makeEnvironment(renderer, sky);
    const surrounded = await draw(scene);
    plane.material.environmentIntensity = 2;
    const twice = await draw(scene);
    plane.material.environmentIntensity = 1;
    // a sky that differs along each axis, on a plane that is turned to x, here and with WebGL
    const towards = Float32Array.from({ length: 4 * 16 * 8 }, (_, at) => {
      const [turn, down] = [(2 * Math.PI * (((at >> 2) % 16) + 0.5)) / 16, (Math.PI * ((at >> 6) + 0.5)) / 8];
      return 1 + 0.9 * [Math.cos(turn) * Math.sin(down), Math.sin(turn) * Math.sin(down), Math.cos(down), 0][at & 3];
    });
    plane.rotation.set(0.5, 0.8, 0);
    const turnedSky = (library) => {
      const made = new library.DataTexture(towards, 16, 8, library.RGBAFormat, library.FloatType);
      made.mapping = library.EquirectangularReflectionMapping;
      made.minFilter = made.magFilter = library.LinearFilter;
      made.needsUpdate = true;
      return made;
    };
    plane.material.environment = await makeEnvironment(renderer, turnedSky(GPU3));
    const turned = await draw(scene);
    const old = new neural.NeuralMaterial(material, globalThis.renderer, { filter: "exact", samples: 32 });
    old.environment = neural.makeEnvironment(globalThis.renderer, turnedSky(THREE));
    const oldPlane = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), old);
    oldPlane.rotation.set(0.5, 0.8, 0);
    const oldTarget = new THREE.WebGLRenderTarget(${width}, ${height}, { type: THREE.FloatType });
    globalThis.renderer.setRenderTarget(oldTarget);
    globalThis.renderer.render(new THREE.Scene().add(oldPlane), globalThis.camera);
    const texels = new Float32Array(4 * ${width} * ${height});
    globalThis.renderer.readRenderTargetPixels(oldTarget, 0, 0, ${width}, ${height}, texels);
    plane.rotation.set(0, 0, 0);
    plane.material.environment = null;
    // instances between the light and the plane, behind the camera; emission and opacity
    plane.receiveShadow = true;
    sun.position.set(0, 0, 4);
    sun.castShadow = true;
    scene.add(sun, sun.target);
    renderer.shadowMap.enabled = true;
    const open = await draw(scene);
    const many = new GPU3.InstancedMesh(new GPU3.BoxGeometry(0.5, 0.5, 0.1), new NeuralNodeMaterial(material, renderer), 2);
    many.castShadow = true;
    many.setMatrixAt(0, new GPU3.Matrix4().makeTranslation(-0.25, 0, 3));
    many.setMatrixAt(1, new GPU3.Matrix4().makeTranslation(0.25, 0, 3));
    scene.add(many);
    const shadowed = await draw(scene);
    plane.material.dispose();
    const other = new NeuralNodeMaterial(await load("${bundles[1]}"), renderer);
    const emitting = await draw(new GPU3.Scene().add(new GPU3.Mesh(new GPU3.PlaneGeometry(1, 1), other)));
    return { refused, lit, surrounded, twice, turned, withWebGl: Array.from(texels), open, shadowed, emitting };
  })()`);
  if (!found) {
    context.skip("this Chromium has no WebGPU");
    return;
  }
  assert.match(found.refused, /await renderer\.init\(\) first/);
  const material = await loadFrom(bundles[0]);
  const decoder = new Decoder(material);
  const light = [1, 2, 3].map((each) => each / Math.sqrt(14));
  const lod = Math.log2(material.latents.width / width);
  for (let at = 0; at < width * height; at++) {
    // rows come from the top
    const uv = [((at % width) + 0.5) / width, 1 - (Math.floor(at / width) + 0.5) / height];
    decoder.evaluate(uv, lod, light, [0, 0, 1]).forEach((exact, channel) => {
      const seen = found.lit[4 * at + channel];
      assert.ok(Math.abs(seen - 2 * exact) < 2e-3 * Math.max(2 * exact, 0.01), `pixel ${at}: ${seen} and ${2 * exact}`);
    });
  }
  const mean = (texels) => texels.filter((_, at) => at % 4 < 3).reduce((sum, each) => sum + each, 0) / (texels.length * 0.75);
  const albedo = meanAlbedo(decoder, width);
  assert.ok(Math.abs(mean(found.surrounded) / (0.5 * albedo) - 1) < 0.05, `${mean(found.surrounded)} and ${0.5 * albedo}`);
  assert.ok(Math.abs(mean(found.twice) / mean(found.surrounded) - 2) < 1e-3);
  for (let channel = 0; channel < 3; channel++) {
    const [here, there] = [found.turned, found.withWebGl].map((texels) => mean(texels.flatMap((each, at) => (at % 4 === channel ? [each, each, each, 1] : []))));
    assert.ok(Math.abs(here / there - 1) < 0.03, `channel ${channel}: ${here} and ${there}`);
  }
  const row = (texels, index) => mean(texels.slice(4 * width * index, 4 * width * (index + 1)));
  assert.ok(row(found.shadowed, 8) < 0.05 * row(found.open, 8), `${row(found.shadowed, 8)} of ${row(found.open, 8)}`);
  assert.ok(Math.abs(row(found.shadowed, 0) / row(found.open, 0) - 1) < 0.1);
  // the stored emission and opacity, not multiplied
  assert.ok(Math.abs(found.emitting[0] - 0.5) < 1e-3 && Math.abs(found.emitting[3] - 200 / 255) < 1e-2, `${found.emitting.slice(0, 4)}`);
  assert.deepEqual(page.problems, []);
});

/**
 * Mean directional albedo of a square of pixels that is seen from above, by quadrature. With an index, of both sides: behind a
 * solid, light enters once more through a smooth interface.
 */
function meanAlbedo(decoder, side, index = 0) {
  let albedo = 0;
  const lod = Math.log2(decoder.material.latents.width / side);
  for (let place = 0; place < side * side; place++) {
    const uv = [((place % side) + 0.5) / side, (Math.floor(place / side) + 0.5) / side];
    const prepared = decoder.prepare(uv, lod, [0, 0, 1]);
    for (let step = 0; step < 256; step++) {
      const [z, turn] = [(step + 0.5) / 256, 2 * Math.PI * ((step * 0.61803398875) % 1)];
      const flat = Math.sqrt(1 - z * z);
      for (const up of index ? [z, -z] : [z]) {
        const light = decoder.shade(prepared, [flat * Math.cos(turn), flat * Math.sin(turn), up]).reduce((sum, each) => sum + each, 0);
        albedo += light * (up < 0 ? enters(z, index) : 1);
      }
    }
  }
  return (albedo * 2 * Math.PI) / (side * side * 256 * 3);
}

/** Fresnel's transmission into a solid, by the cosine inside; 1 where all light stays inside. */
function enters(cosine, index) {
  const outer2 = 1 - index * index * (1 - cosine * cosine);
  if (index === 1 || outer2 <= 0) return 1;
  const outer = Math.sqrt(outer2);
  const [s, p] = [(outer - index * cosine) / (outer + index * cosine), (index * outer - cosine) / (index * outer + cosine)];
  return 1 - (s * s + p * p) / 2;
}

async function loadFrom(name) {
  const root = path.join(folder, name);
  const files = new Map();
  for (const each of readdirSync(root)) if (each.includes(".")) files.set(each, new Uint8Array(readFileSync(path.join(root, each))));
  return loadMaterial(files);
}

/** Pixels of the page's square, seen exactly and lit by one light, against the decoder. */
function compareSquare(material, pixels, turns, live) {
  const decoder = new Decoder(material);
  const { width, height, values } = pixels;
  const tan = Math.tan((12 * Math.PI) / 180);
  let compared = 0;
  for (let at = 0; at < width * height; at += 37) {
    const place = [(2 * ((at % width) + 0.5)) / width - 1, (2 * (Math.floor(at / width) + 0.5)) / height - 1];
    const xy = place.map((each, axis) => each * turns.window[axis] + turns.window[2 + axis]);
    if (Math.max(...xy.map(Math.abs)) > 0.95) continue;
    const toEye = [-xy[0] / 2, -xy[1] / 2, 0.5 / tan];
    const length = Math.hypot(...toEye);
    const uv = xy.map((each) => each / 2 + 0.5);
    const lod = Math.log2(Math.max(material.latents.width * turns.window[0] / width, material.latents.height * turns.window[1] / height));
    const exact = decoder.evaluate(uv, lod, turns.toLight, toEye.map((each) => each / length), live);
    for (let channel = 0; channel < 3; channel++) {
      const wanted = exact[channel] * turns.colour[channel];
      // the texture unit's filter
      assert.ok(Math.abs(values[4 * at + channel] - wanted) < 0.06 * Math.max(wanted, 0.02), `pixel ${at}: ${values[4 * at + channel]} and ${wanted}`);
    }
    compared++;
  }
  assert.ok(compared > 100);
}

test("a published page draws the decoder's pixels without a network, and says what is damaged", PAGE, async () => {
  const shown = await browser.open(`file://${process.env.VERDIGRIS_PAGE}`, { width: 320, height: 300 });
  await shown.evaluate("new Promise((resolve) => (document.readyState === 'complete' ? resolve() : addEventListener('load', resolve)))");
  await shown.evaluate("verdigrisReview.ready.then(() => 1)");
  // one light, the exact view of the square, no accumulation
  const { pixels, turns } = await shown.evaluate(`(async () => {
    const { viewer } = verdigrisReview;
    const drawn = new Promise((resolve) => { viewer.onPicture = resolve; });
    viewer.change({ shape: "plane", environment: "dark" });
    await drawn;
    // what follows needs no finer picture
    viewer.wake = () => {};
    return { pixels: viewer.pixels(), turns: { toLight: viewer.toLight, window: viewer.window(), colour: viewer.lightColour, canvas: [viewer.canvas.width, viewer.canvas.height] } };
  })()`);
  compareSquare(await loadFrom(bundles[0]), pixels, turns);
  assert.deepEqual(shown.requests.filter((url) => !/^(data|blob|file):/.test(url)), []);
  assert.deepEqual(shown.problems, []);
  // on a phone nothing is wider than the screen
  await shown.on("Emulation.setDeviceMetricsOverride", { width: 390, height: 844, deviceScaleFactor: 1, mobile: true });
  assert.equal(await shown.evaluate("document.documentElement.scrollWidth"), 390);
  assert.equal(await shown.evaluate("document.querySelectorAll('#facts tbody tr').length > 0"), true);
  // the second bundle of the page is damaged
  const failure = await shown.evaluate(`(async () => {
    document.querySelectorAll("#picker input")[1].click();
    while (document.getElementById("failure").hidden) await new Promise((resolve) => setTimeout(resolve, 20));
    const { textContent } = document.getElementById("failure");
    document.querySelectorAll("#picker input")[0].click();
    while (!document.getElementById("failure").hidden || !verdigrisReview.material) await new Promise((resolve) => setTimeout(resolve, 20));
    return textContent;
  })()`);
  assert.match(failure, /cannot be shown.*latents\.ktx2: does not have the digest of manifest\.json \(latents\.sha256\)/);
  // the third has live inputs, and a slider for each
  const moved = await shown.evaluate(`(async () => {
    const { viewer } = verdigrisReview;
    document.querySelectorAll("#picker input")[2].click();
    while (!verdigrisReview.material?.live.length) await new Promise((resolve) => setTimeout(resolve, 20));
    const sliders = [...document.querySelectorAll(".lives input")];
    const before = sliders.map((each) => [each.getAttribute("aria-label"), Number(each.min), Number(each.max), Number(each.value)]);
    delete viewer.wake;
    const drawn = new Promise((resolve) => { viewer.onPicture = resolve; });
    viewer.change({ shape: "plane", environment: "dark" });
    sliders[0].value = 2;
    sliders[0].dispatchEvent(new Event("input"));
    await drawn;
    viewer.wake = () => {};
    const texts = [...document.querySelectorAll(".lives output")].map((each) => each.textContent);
    return { before, texts, pixels: viewer.pixels(), turns: { toLight: viewer.toLight, window: viewer.window(), colour: viewer.lightColour } };
  })()`);
  assert.deepEqual(moved.before, [["wetness", 0, 2, 0.5], ["tint", 0, 1, 0.75]]);
  assert.deepEqual(moved.texts, ["2", "0.75"]);
  compareSquare(await loadFrom(living), moved.pixels, moved.turns, [1, 0.75]);
  // the fourth lets light pass: the lamp is behind the square
  const through = await shown.evaluate(`(async () => {
    const { viewer } = verdigrisReview;
    document.querySelectorAll("#picker input")[3].click();
    while (!verdigrisReview.material?.transmission) await new Promise((resolve) => setTimeout(resolve, 20));
    delete viewer.wake;
    const drawn = new Promise((resolve) => { viewer.onPicture = resolve; });
    viewer.change({ shape: "plane", environment: "dark", lightYaw: 180 });
    await drawn;
    viewer.wake = () => {};
    const [x, y, z] = viewer.toLight;
    return { pixels: viewer.pixels(), turns: { toLight: [-x, y, -z], window: viewer.window(), colour: viewer.lightColour } };
  })()`);
  compareSquare(await loadFrom("b_thin.vdg"), through.pixels, through.turns);
  // from behind, a thin wall looks the same: its mirrored picture is that of the front with the mirrored lamp
  const behind = await shown.evaluate(`(async () => {
    const { viewer } = verdigrisReview;
    delete viewer.wake;
    const drawn = new Promise((resolve) => { viewer.onPicture = resolve; });
    viewer.change({ turn: 180 });
    await drawn;
    viewer.wake = () => {};
    const { width, values, ...others } = viewer.pixels();
    const mirrored = values.map((_, at) => values[at - 4 * (2 * (Math.floor(at / 4) % width) - width + 1)]);
    return { width, values: mirrored, ...others };
  })()`);
  const [x, y, z] = through.turns.toLight;
  compareSquare(await loadFrom("b_thin.vdg"), behind, { ...through.turns, toLight: [-x, y, z] });
  assert.deepEqual(shown.problems.filter((each) => !/latents\.ktx2/.test(each)), []);
  await shown.close();
});
