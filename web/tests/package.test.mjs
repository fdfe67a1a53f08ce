// The reader and the decoder on the processor. VERDIGRIS_BUNDLES names a folder of bundles.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { Decoder, VerdigrisError, compareWithReference, liveNumbers, liveValues, loadMaterial } from "../src/index.js";
import { decodeBc7 } from "../src/bc7.js";
import { halfToFloat } from "../src/halves.js";
import { readKtx2 } from "../src/ktx2.js";
import { irradianceHarmonics, makeCubeMap } from "../src/environment.js";

const folder = process.env.VERDIGRIS_BUNDLES;
const bundles = folder ? readdirSync(folder).filter((name) => name.endsWith(".vdg")).sort() : [];
const without = { skip: folder ? false : "VERDIGRIS_BUNDLES names no folder of bundles" };

function filesOf(name) {
  const root = path.join(folder, name);
  const names = readdirSync(root, { recursive: true }).filter((each) => statSync(path.join(root, each)).isFile());
  return new Map(names.map((each) => [each, new Uint8Array(readFileSync(path.join(root, each)))]));
}

function zipped(files, folderName = "", method = 8) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [name, data] of files) {
    const packed = method ? deflateRawSync(data) : data;
    const full = Buffer.from(folderName + name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(full.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(full.length, 28);
    entry.writeUInt32LE(at, 42);
    parts.push(local, full, packed);
    directory.push(entry, full);
    at += 30 + full.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...parts, ...directory, end]));
}

/** Files with another manifest. */
function changed(files, change) {
  const manifest = JSON.parse(Buffer.from(files.get("manifest.json")));
  change(manifest);
  return new Map([...files, ["manifest.json", new TextEncoder().encode(JSON.stringify(manifest))]]);
}

for (const name of bundles) {
  test(`${name}: the processor's decoder gives the rows of the reference`, async () => {
    const material = await loadMaterial(filesOf(name));
    const reference = await material.reference();
    const decoder = new Decoder(material);
    const single = (v) => v.map(Math.fround);
    const rows = reference.uv.map((uv, row) =>
      decoder.evaluate(single(uv), Math.fround(reference.lod[row]), single(reference.wi[row]), single(reference.wo[row]), reference.live?.[row]),
    );
    const found = compareWithReference(reference, rows);
    // rows of light from below have the mirrored direction: the refracted one is rounded here
    const most = material.transmission ? 2e-5 : 2e-6;
    assert.ok(found.relative < most && found.absolute < 1e-8, JSON.stringify(found));
    if (material.transmission) assert.ok(reference.wi.filter((wi) => wi[2] < 0).length > 200);
    assert.ok(reference.exported.flat().some((each) => each > 0.01));
  });
}

test("the transmitted albedo is read if a bundle has it", without, async () => {
  const files = filesOf(bundles.find((each) => filesOf(each).has("transmitted_albedo.ktx2")));
  const material = await loadMaterial(files);
  const { albedo } = material.transmission;
  assert.deepEqual([albedo.width, albedo.height, ...albedo.levels[0].data], [1, 1, 188, 99, 10, 255]);
  assert.ok((await material.file("transmitted_albedo.ktx2")).length > 80);
  const older = changed(files, (each) => { delete each.transmission.albedo; });
  assert.equal((await loadMaterial(older)).transmission.albedo, null);
});

test("curves of albedos are those of the manifest, or of the powers of an older bundle", without, async () => {
  const files = filesOf(bundles.find((each) => filesOf(each).has("proxies.ktx2")));
  const { proxies, manifest } = await loadMaterial(files);
  assert.deepEqual(proxies.curves, manifest.proxies.curves);
  const weights = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]];
  const older = changed(files, (each) => {
    delete each.proxies.curves;
    Object.assign(each.proxies, { powers: [0, 1, 2, 5], weights });
  });
  const [curve] = (await loadMaterial(older)).proxies.curves;
  assert.deepEqual(curve[31], weights[0]);
  const flat = 0.97;
  const grazing = 2 + 6 * flat + 10 * flat ** 2 + 14 * flat ** 5;
  assert.ok(Math.abs(curve[0][1] - grazing) < 1e-9);
  const odd = changed(older, (each) => { each.proxies.weights[1] = null; });
  await assert.rejects(loadMaterial(odd), /proxies\.weights\[1\] is null: it must be 4 numbers/);
  const short = changed(files, (each) => each.proxies.curves[1].pop());
  await assert.rejects(loadMaterial(short), /proxies\.curves\[1\].* it must be 32 lists of 4 numbers/);
});

test("live inputs take values of their ranges by name, and wrong ones are refused", without, async () => {
  const material = await loadMaterial(filesOf(bundles.find((each) => each.includes("living"))));
  const defaults = liveNumbers(material);
  assert.deepEqual(defaults, [0.25, 0.75]);
  assert.deepEqual(liveNumbers(material, { wetness: 1.5 }), [0.75, 0.75]);
  assert.deepEqual(liveNumbers(material, { tint: 0 }, [0.75, 0.5]), [0.75, 0]);
  assert.deepEqual(liveValues(material, defaults), { wetness: 0.5, tint: 0.75 });
  for (const [values, message] of [
    [{ rain: 1 }, /has no live input rain: it has wetness, tint$/],
    [{ wetness: 3 }, /wetness is 3: use a number from 0 to 2$/],
    [{ tint: NaN }, /tint is NaN: use a number from 0 to 1$/],
  ]) {
    assert.throws(() => liveNumbers(material, values), (failure) => failure instanceof VerdigrisError && message.test(failure.message));
  }
});

test("a zip is read with and without compression, at its top and in one folder", without, async () => {
  const files = filesOf(bundles[0]);
  const one = await loadMaterial(files);
  for (const bytes of [zipped(files), zipped(files, "a.vdg/", 0)]) {
    const other = await loadMaterial(new Blob([bytes]));
    assert.deepEqual(other.tensors, one.tensors);
    assert.deepEqual(other.latents.levels, one.latents.levels);
    assert.equal((await loadMaterial(bytes.buffer)).name, one.name);
  }
});

test("a folder is read from an address", without, async () => {
  const files = filesOf(bundles[0]);
  const get = async (address) => {
    const data = files.get(address.replace("https://example.org/a.vdg/", ""));
    return data ? new Response(data) : new Response("", { status: 404 });
  };
  assert.equal((await loadMaterial("https://example.org/a.vdg", { fetch: get })).name, (await loadMaterial(files)).name);
  files.delete("weights.bin");
  await assert.rejects(loadMaterial("https://example.org/a.vdg/?a=1", { fetch: get }), /weights\.bin: is missing at https/);
});

const FAULTS = {
  "a newer major version": [(f) => changed(f, (m) => { m.version = "5.0"; }), "manifest.json", "version", /5\.0.*update/],
  "an older major version": [(f) => changed(f, (m) => { m.version = "3.0"; }), "manifest.json", "version", /bake the material again/],
  "no version": [(f) => changed(f, (m) => { m.version = 4; }), "manifest.json", "version", /MAJOR\.MINOR/],
  "a scene pack": [(f) => changed(f, (m) => { m.format = "verdigris.scene"; }), "manifest.json", "format", /scene pack/],
  "another format": [(f) => changed(f, (m) => { m.format = "gltf"; }), "manifest.json", "format", /gltf/],
  "an unknown activation": [(f) => changed(f, (m) => { m.network.layers[0].activation = "gelu"; }), "manifest.json", "network.layers[0].activation", /gelu/],
  "another width": [(f) => changed(f, (m) => { m.network.layers[1].inputs = 7; }), "manifest.json", "network.layers[1].inputs", /is 7/],
  "no latents": [(f) => changed(f, (m) => { delete m.latents; }), "manifest.json", "latents", /missing/],
  "a scale that is no number": [(f) => changed(f, (m) => { m.latents.scale[3] = "x"; }), "manifest.json", "latents.scale[3]", /number/],
  "another size of the texture": [(f) => changed(f, (m) => { m.latents.width *= 2; }), "latents.ktx2", "width", /manifest\.json/],
  "an unknown texture format": [(f) => changed(f, (m) => { m.latents.format = "ASTC"; }), "manifest.json", "latents.format", /ASTC/],
  "a tensor behind the file's end": [(f) => changed(f, (m) => { m.weights.tensors[1].offset = 1e6; }), "manifest.json", "weights.tensors[1].offset", /1000000/],
  "a file name with a path": [(f) => changed(f, (m) => { m.weights.file = "../weights.bin"; }), "manifest.json", "weights.file", /plain name/],
  "a missing file": [(f) => (f.delete("latents.ktx2"), f), "latents.ktx2", undefined, /missing/],
  "a short file": [(f) => f.set("weights.bin", f.get("weights.bin").subarray(128)), "weights.bin", undefined, /weights\.bytes/],
  "a changed byte": [(f) => { const d = f.get("latents.ktx2").slice(); d[d.length - 1] ^= 1; return f.set("latents.ktx2", d); }, "latents.ktx2", undefined, /latents\.sha256/],
  "a manifest cut short": [(f) => f.set("manifest.json", f.get("manifest.json").subarray(0, 99)), "manifest.json", undefined, /not JSON/],
  "a manifest nested 200,000 deep": [(f) => f.set("manifest.json", new TextEncoder().encode('{"a":' + "[".repeat(200000) + "]".repeat(200000) + "}")), "manifest.json", undefined, /nested more than 100 deep/],
  "a manifest of 5 MB": [(f) => f.set("manifest.json", new Uint8Array(5e6).fill(32)), "manifest.json", undefined, /5000000 bytes, and the limit is 4194304/],
  "a manifest that is a list": [(f) => f.set("manifest.json", new TextEncoder().encode("[]")), "manifest.json", "the file", /object/],
};
for (const [what, [damage, file, field, message]] of Object.entries(FAULTS)) {
  test(`${what} is an error that names file and field`, without, async () => {
    const error = await loadMaterial(damage(filesOf(bundles[0]))).then(() => assert.fail("it was read"), (failure) => failure);
    assert.ok(error instanceof VerdigrisError, error.stack);
    assert.equal(error.file, file);
    assert.equal(error.field, field);
    assert.match(error.message, message);
    assert.ok(!error.message.includes("\n"));
  });
}

test("a manifest that unpacks to a gigabyte is refused before it is unpacked", async () => {
  const bomb = deflateRawSync(new Uint8Array(1 << 20));
  const archive = zipped(new Map([["manifest.json", bomb]]), "", 0);
  const view = new DataView(archive.buffer);
  const entry = 30 + "manifest.json".length + bomb.length;
  view.setUint16(entry + 10, 8, true);
  view.setUint32(entry + 24, 1 << 30, true);
  const before = process.memoryUsage().arrayBuffers;
  await assert.rejects(loadMaterial(archive), (failure) => {
    assert.ok(failure instanceof VerdigrisError, failure.stack);
    assert.match(failure.message, /1073741824 bytes, and the limit is 4194304/);
    return true;
  });
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 << 20);
});

test("damaged bytes of any place are an error of ours, or read as before", without, async () => {
  // digests are left out, so that the readers behind them see the damage
  const files = changed(filesOf(bundles[0]), () => {});
  const { subtle } = globalThis.crypto;
  Object.defineProperty(globalThis.crypto, "subtle", { value: undefined, configurable: true });
  const whole = zipped(files);
  let state = 1;
  const random = (most) => (state = (state * 48271) % 2147483647) % most;
  try {
    for (let turn = 0; turn < 150; turn++) {
      const name = ["manifest.json", "latents.ktx2", "weights.bin"][turn % 3];
      const data = files.get(name).slice();
      for (let flip = 0; flip < 3; flip++) data[random(name === "latents.ktx2" ? 200 : data.length)] = random(256);
      await loadMaterial(new Map([...files, [name, data]])).catch((failure) => {
        if (!(failure instanceof VerdigrisError)) throw failure;
      });
      const archive = whole.slice();
      archive[archive.length - 1 - random(900)] = random(256);
      await loadMaterial(archive).catch((failure) => {
        if (!(failure instanceof VerdigrisError)) throw failure;
      });
    }
  } finally {
    Object.defineProperty(globalThis.crypto, "subtle", { value: subtle, configurable: true });
  }
});

test("BC7 of mode 6 is decoded by its formula, and modes with several lines are refused", () => {
  const bits = [];
  const put = (value, count) => { for (let bit = 0; bit < count; bit++) bits.push((value >> bit) & 1); };
  const [low, high] = [[10, 20, 30, 40], [100, 110, 90, 127]];
  put(64, 7);
  for (let channel = 0; channel < 4; channel++) { put(low[channel], 7); put(high[channel], 7); }
  put(1, 1);
  put(0, 1);
  const indices = Array.from({ length: 16 }, (_, texel) => (texel ? texel : 5));
  indices.forEach((index, texel) => put(index, texel ? 4 : 3));
  const block = new Uint8Array(16);
  bits.forEach((bit, at) => { block[at >> 3] |= bit << (at & 7); });
  const weights = [0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64];
  const decoded = decodeBc7(block, 4, 4);
  indices.forEach((index, texel) => {
    for (let channel = 0; channel < 4; channel++) {
      const [a, b] = [2 * low[channel] + 1, 2 * high[channel]];
      const exact = Math.floor(((64 - weights[index]) * a + weights[index] * b + 32) / 64);
      assert.equal(decoded[4 * texel + channel], exact);
    }
  });
  assert.equal(decodeBc7(block, 2, 1).length, 8);
  block[0] = 1;
  assert.throws(() => decodeBc7(block, 4, 4, "latents.ktx2"), /latents\.ktx2: .*mode 0/);
});

test("halves have the values of IEEE 754", () => {
  for (const [bits, value] of [[0x3c00, 1], [0xc000, -2], [0x7bff, 65504], [1, 2 ** -24], [0x8400, -(2 ** -14)], [0x7c00, Infinity]]) {
    assert.equal(halfToFloat(bits), value);
  }
  assert.ok(Number.isNaN(halfToFloat(0x7e00)));
});

test("supercompressed and unknown textures are refused with their field", () => {
  const bytes = new Uint8Array(200);
  bytes.set([0xab, 0x4b, 0x54, 0x58, 0x20, 0x32, 0x30, 0xbb, 0x0d, 0x0a, 0x1a, 0x0a]);
  bytes[12] = 37;
  bytes[44] = 2;
  assert.throws(() => readKtx2(bytes, "a.ktx2", {}), /a\.ktx2: supercompressionScheme is 2/);
  bytes[12] = 1;
  assert.throws(() => readKtx2(bytes, "a.ktx2", {}), /a\.ktx2: vkFormat is 1/);
});

test("harmonics give the irradiance of skies in closed form", () => {
  const irradiance = (harmonics, [x, y, z]) => {
    const basis = [0.282095, 0.488603 * y, 0.488603 * z, 0.488603 * x, 1.092548 * x * y, 1.092548 * y * z,
      0.315392 * (3 * z * z - 1), 1.092548 * x * z, 0.546274 * (x * x - y * y)];
    return basis.reduce((sum, value, index) => sum + value * harmonics[index][0], 0);
  };
  const of = (radiance) => irradianceHarmonics(makeCubeMap((d, into) => into.fill(radiance(d)), 32)[0], 32);
  assert.ok(Math.abs(irradiance(of(() => 2), [0, 0, 1]) - 2 * Math.PI) < 1e-3);
  // 1 + y: pi + 2 pi / 3 y
  assert.ok(Math.abs(irradiance(of((d) => 1 + d[1]), [0, 1, 0]) - (5 * Math.PI) / 3) < 1e-2);
  // z squared: pi (1 + n.z²) / 4
  assert.ok(Math.abs(irradiance(of((d) => d[2] ** 2), [0, 0, 1]) - Math.PI / 2) < 1e-2);
});
