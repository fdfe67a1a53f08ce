// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError, shown } from "./errors.js";
import { Fields, LARGEST_MANIFEST, parseJson } from "./fields.js";
import { formatsOf } from "./formats.js";
import { readKtx2 } from "./ktx2.js";
import { parseLive, parseNetwork, parseSampler, readTensors } from "./network.js";
import { joinReferences } from "./sides.js";
import { openSource } from "./source.js";

const MANIFEST = "manifest.json";
const MAJOR = 4;
// Layers of the textures that are arrays, beside the latents.
const LAYERS = { proxies: 5 };

/**
 * A loaded bundle: everything is in memory, nothing on a GPU. The types are in index.d.ts.
 */
export class Material {
  constructor(parts) {
    Object.assign(this, parts);
  }
}

/**
 * Loads a bundle: the URL of a folder NAME.vdg or of a zip of it, a Blob, an ArrayBuffer, or an
 * object of bytes by file name.
 */
export async function loadMaterial(from, options = {}) {
  const source = await openSource(from, options);
  const manifest = new Fields(MANIFEST, parseJson(MANIFEST, await source.read(MANIFEST, LARGEST_MANIFEST), LARGEST_MANIFEST));
  checkVersion(manifest);
  const network = parseNetwork(manifest);
  const live = parseLive(manifest, network);
  const sampler = parseSampler(manifest, network);
  const read = (entry) => readRecorded(source, entry);
  const texture = async (name, table = manifest, field = name) => {
    if (!table?.has(field)) return null;
    const entry = table.object(field);
    const wanted = {
      format: entry.oneOf("format", formatsOf(name)),
      width: entry.count("width", 1, 8192),
      height: entry.count("height", 1, 8192),
      levels: entry.count("levels", 1, 14),
      layers: name === "latents" ? network.latents / 4 : (LAYERS[field] ?? 0),
    };
    return readKtx2(await read(entry), entry.text("file"), wanted);
  };
  const entry = manifest.object("latents");
  const scale = entry.numbers("scale", network.latents, 1.1754943e-38, 1e30);
  const offset = entry.numbers("offset", network.latents, -1e30, 1e30);
  const below = manifest.has("transmission") ? manifest.object("transmission") : null;
  const [weights, passed, latents, emission, opacity, proxies, relief, albedo] = await Promise.all([
    read(manifest.object("weights")),
    below && read(below.object("weights")),
    texture("latents"),
    texture("emission"),
    texture("opacity"),
    texture("proxies"),
    texture("relief"),
    texture("proxies", below, "albedo"),
  ]);
  return new Material({
    name: manifest.text("name"),
    label: source.label,
    manifest: manifest.value,
    network,
    live,
    sampler,
    tensors: readTensors(manifest, network, sampler, weights),
    transmission: below && { index: below.number("index", 0.05, 20), tensors: readTensors(manifest, network, sampler, passed), albedo },
    latents: { ...latents, scale, offset },
    emission,
    opacity,
    relief: relief && heightMap(manifest.object("relief"), relief),
    proxies: proxies && { ...proxies, ...albedoCurves(manifest.object("proxies")) },
    /** Loads reference.json, and the rows of light from below. */
    reference: async () => {
      const rows = await readReference(manifest, read, network.live);
      if (!below?.has("reference")) return rows;
      return joinReferences(rows, await readReference(below, read, network.live, rows.count), below.number("index"));
    },
    /** A file of the bundle that the manifest lists, such as preview.png. */
    file: (name) => readListed(manifest, read, name),
  });
}

function checkVersion(manifest) {
  const format = manifest.raw("format");
  if (format === "verdigris.scene") {
    throw manifest.error("format", "is verdigris.scene, a scene pack: load the bundles that it was made of");
  }
  if (format !== "verdigris.material") throw manifest.error("format", `is ${shown(format)} and not "verdigris.material"`);
  const version = manifest.raw("version");
  const match = typeof version === "string" && /^(\d{1,4})\.(\d{1,4})$/.exec(version);
  if (!match) throw manifest.error("version", `is ${shown(version)}: it must be MAJOR.MINOR`);
  if (Number(match[1]) !== MAJOR) {
    const remedy = Number(match[1]) > MAJOR ? "update @verdigris/material" : "bake the material again";
    throw manifest.error("version", `is ${version}, and this package reads ${MAJOR}.x: ${remedy}`);
  }
}

/** Reads a file, and compares its length and, if the page may, its digest with the manifest. */
async function readRecorded(source, entry) {
  const name = entry.text("file");
  if (!/^(runtime\/)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(name)) {
    throw entry.error("file", `is ${shown(name)}: it must be a plain name`);
  }
  const length = entry.count("bytes", 0, 2 ** 31);
  const digest = entry.text("sha256");
  const bytes = await source.read(name, length);
  if (bytes.length !== length) {
    throw new VerdigrisError(
      name,
      `has ${bytes.length} bytes, and manifest.json ${length} (${entry.place("bytes")}): copy the bundle again`,
    );
  }
  const subtle = globalThis.crypto?.subtle;
  if (subtle && hex(await subtle.digest("SHA-256", bytes)) !== digest) {
    throw new VerdigrisError(name, `does not have the digest of manifest.json (${entry.place("sha256")}): the file is damaged, copy the bundle again`);
  }
  return bytes;
}

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), (each) => each.toString(16).padStart(2, "0")).join("");
}

async function readListed(manifest, read, name) {
  const single = ["weights", "constants", "latents", "emission", "opacity", "proxies", "relief", "reference", "preview"]
    .filter((field) => manifest.has(field))
    .map((field) => manifest.object(field));
  if (manifest.has("transmission")) {
    const below = manifest.object("transmission");
    single.push(...["weights", "constants", "reference", "albedo"].filter((field) => below.has(field)).map((field) => below.object(field)));
  }
  const runtime = manifest.has("runtime") ? manifest.objects("runtime", 1, 64) : [];
  const entry = [...single, ...runtime].find((each) => each.text("file") === name);
  if (!entry) throw new VerdigrisError(MANIFEST, `lists no file ${name}`);
  return read(entry);
}

async function readReference(holder, read, live, known) {
  const entry = holder.object("reference");
  const count = known ?? entry.count("count", 1, 16384);
  const file = entry.text("file");
  const rows = new Fields(file, parseJson(file, await read(entry)));
  rows.count("count", count, count);
  const reference = { count };
  const widths = { uv: 2, wi: 3, wo: 3, exported: 3, teacher: 3, random: 2, drawn: 3, lod: 0, pdf: 0, drawn_pdf: 0 };
  const required = ["uv", "lod", "wi", "wo", "exported"];
  if (live) {
    widths.live = live;
    required.push("live");
  }
  for (const [name, width] of Object.entries(widths)) {
    if (!rows.has(name) && !required.includes(name)) continue;
    const column = rows.list(name, count, count);
    const isRow = width ? (row) => Array.isArray(row) && row.length === width && row.every(Number.isFinite) : Number.isFinite;
    const wrong = column.findIndex((row) => !isRow(row));
    if (wrong >= 0) throw rows.error(`${name}[${wrong}]`, `is ${shown(column[wrong])}: it must have ${width || 1} finite numbers`);
    reference[name] = column;
  }
  return reference;
}

/** The height map with its scale and midlevel; a march needs sides in powers of two, and all levels. */
function heightMap(entry, texture) {
  for (const side of ["width", "height"]) {
    if (!Number.isInteger(Math.log2(texture[side]))) throw entry.error(side, `is ${texture[side]}: it must be a power of two`);
  }
  const levels = 1 + Math.log2(Math.max(texture.width, texture.height));
  if (texture.levels.length !== levels) throw entry.error("levels", `is ${texture.levels.length}: it must be ${levels}`);
  return { ...texture, scale: entry.number("scale", 1.1754943e-38, 1e30), midlevel: entry.number("midlevel", -1e30, 1e30) };
}

const CURVE_POINTS = 32;

/** Weights of the stored albedos by channel and cosine: docs/WRITING.md, "Proxies". */
function albedoCurves(entry) {
  const cosines = entry.numbers("cosines", 4);
  const isRow = (row) => Array.isArray(row) && row.length === 4 && row.every(Number.isFinite);
  if (!entry.has("powers")) {
    const curves = entry.list("curves", 3, 3);
    const wrong = curves.findIndex((each) => !Array.isArray(each) || each.length !== CURVE_POINTS || !each.every(isRow));
    if (wrong >= 0) throw entry.error(`curves[${wrong}]`, `is ${shown(curves[wrong])}: it must be ${CURVE_POINTS} lists of 4 numbers`);
    return { cosines, curves };
  }
  // an older bundle
  const powers = entry.numbers("powers", 4);
  const weights = entry.list("weights", 4, 4);
  const odd = weights.findIndex((row) => !isRow(row));
  if (odd >= 0) throw entry.error(`weights[${odd}]`, `is ${shown(weights[odd])}: it must be 4 numbers`);
  const curve = Array.from({ length: CURVE_POINTS }, (_, point) => {
    const flat = (1 - cosines[3]) * (1 - point / (CURVE_POINTS - 1));
    return cosines.map((_, k) => powers.reduce((sum, power, p) => sum + flat ** power * weights[p][k], 0));
  });
  return { cosines, curves: [curve, curve, curve] };
}
