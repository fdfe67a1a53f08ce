// SPDX-License-Identifier: Apache-2.0

import { FORMATS } from "verdigris/formats.js";

const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)}%`;

/** Measures of `verdigris measure`: how they are shown. The page's `aims` have their names. */
const MEASURES = [
  { title: "Sphere, PSNR", name: "sphere.psnr", shown: (v) => `${v.toFixed(1)} dB`, isMore: true },
  { title: "Sphere, FLIP", name: "sphere.ldr_flip", shown: (v) => v.toFixed(3) },
  { title: "Samples, log MAE", name: "samples.log_mae", shown: (v) => v.toFixed(4) },
  { title: "Sky, median error", name: "sky.median", shown: percent },
  { title: "Sky, 90th percentile", name: "sky.p90", shown: percent },
  { title: "Sky, bias", name: "sky.bias", shown: (v) => `${v > 0 ? "+" : v < 0 ? "\u2212" : ""}${percent(Math.abs(v))}` },
];
const MOST_DOTS = 5;

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function size(bytes) {
  if (bytes < 1000 * 1024) return `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(bytes < 10485760 ? 2 : 1)} MiB`;
}

/** Fills the panel. Without a material, only what the page itself says. */
export function describe(panel, material, entry, data) {
  if (!material) {
    panel.replaceChildren(element("h1", { textContent: entry.name }), footer(data));
    return;
  }
  const { manifest } = material;
  const report = manifest.report ?? {};
  panel.replaceChildren(
    element("h1", { textContent: material.name }),
    element("p", { className: "kind", textContent: kindOf(material) }),
    ...verdict(entry.verdict),
    ...errors(manifest.errors ?? {}, data.aims),
    element("h2", { textContent: "Size in memory" }),
    ...sizes(material),
    element("h2", { textContent: "This device" }),
    element("p", { id: "check", className: "note", textContent: "The decoder is compared with the bundle's reference when the picture is done." }),
    ...changes(report),
    footer(data, manifest),
  );
}

function kindOf({ network, latents, manifest }) {
  const surface = manifest.report?.surface;
  return `${surface ? `${surface} · ` : ""}decoder ${network.hiddenLayers}x${network.width} · ${latents.width} × ${latents.height} ${FORMATS[latents.format].words} latents`;
}

/** The verdict of `verdigris measure`: words before and after the semicolon, and dots. */
function verdict(found) {
  if (!found) return [];
  const [title, text = ""] = found.text.split("; ");
  const kind = found.dots >= 4 ? "good" : found.dots >= 3 ? "fair" : "poor";
  const dots = element("span", { textContent: "●".repeat(found.dots) + "○".repeat(MOST_DOTS - found.dots), ariaLabel: `${found.dots} of ${MOST_DOTS}` });
  return [
    element("div", { className: `verdict ${kind}` }, dots,
      element("div", {}, element("strong", { textContent: title }), element("small", { textContent: text }))),
  ];
}

function errors(found, aims) {
  const rows = MEASURES.map((measure) => {
    const [table, field] = measure.name.split(".");
    return { ...measure, value: found[table]?.[field], aim: aims[measure.name] };
  }).filter(({ value }) => typeof value === "number");
  // a training has none
  if (!rows.length) return [];
  const body = rows.map(({ title, value, shown, aim, isMore }) => {
    const isMet = isMore ? value >= aim : Math.abs(value) <= aim;
    return element("tr", {},
      element("th", { scope: "row", textContent: title }),
      element("td", { className: isMet ? "met" : "", textContent: shown(value) }),
      element("td", { className: "aim", textContent: isMet ? "✓ met" : `${isMore ? "≥" : "≤"} ${shown(aim).replace("+", "±")}` }));
  });
  const head = element("tr", {}, element("th", { scope: "col" }), element("th", { scope: "col", textContent: "measured" }), element("th", { scope: "col", textContent: "aim" }));
  return [
    element("h2", { textContent: "Error" }),
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)),
    element("p", { className: "note", textContent: "Against the source material. At the aim, an eye sees no difference." }),
  ];
}

function sizes(material) {
  const { cost = {}, source = {} } = material.manifest;
  const { weights, latents, transmission } = material.manifest;
  const decoders = weights.bytes + (transmission?.weights.bytes ?? 0);
  const own = cost.loaded_bytes ?? decoders + latents.bytes;
  const { images: count = 0, plain = 0, compressed = 0 } = source.images ?? {};
  const most = Math.max(own, plain, compressed);
  const bar = (label, bytes, className) => [
    element("span", { textContent: label }),
    element("div", { className }, Object.assign(element("i"), { style: `width:${(100 * bytes) / most}%` })),
    element("span", { textContent: size(bytes) }),
  ];
  const parts = [`weights ${size(decoders)}`, `latents ${size(latents.bytes)}`];
  for (const name of ["emission", "opacity", "relief"]) if (material.manifest[name]) parts.push(`${name} ${size(material.manifest[name].bytes)}`);
  return [
    element("div", { className: "bars" }, ...bar("Neural", own, "own"), ...(count ? [...bar("Source, BC", compressed, ""), ...bar("Source", plain, "")] : [])),
    element("p", {
      className: "note",
      textContent: `${parts.join(", ")}.${count ? ` Source: ${count} texture${count === 1 ? "" : "s"} with mip levels, uncompressed and block-compressed (BC).` : ""}`,
    }),
  ];
}

function changes(report) {
  const lists = [["Approximated", report.approximated], ["Ignored", report.ignored], ["Dropped", report.dropped]].filter(([, list]) => list?.length);
  const kept = report.kept?.length ? [element("p", { className: "note", textContent: `Kept: ${report.kept.map(({ name }) => name).join(", ")}.` })] : [];
  const title = element("h2", { textContent: "Against the source" });
  if (!lists.length && !kept.length) return [];
  return [
    title,
    ...(lists.length ? [] : [element("p", { className: "note", textContent: "Nothing was dropped or approximated." })]),
    ...kept,
    ...lists.map(([name, list]) =>
      element("details", {}, element("summary", { textContent: `${name} (${list.length})` }),
        element("ul", {}, ...list.map(({ name: what, how }) => element("li", { textContent: how ? `${what}: ${how}` : what }))))),
  ];
}

function footer(data, manifest) {
  const source = manifest?.source ?? {};
  const lines = [source.document && `Baked from ${source.document}`, data.made].filter(Boolean);
  return element("footer", { textContent: lines.join(" · ") });
}

/** How the decoder agrees with the bundle's reference on the device that shows the page. */
export function showCheck(result) {
  const note = document.getElementById("check");
  if (!note || !result) return;
  if (result.failure) {
    note.textContent = `The decoder could not be compared with the reference: ${result.failure}`;
    return;
  }
  const isRight = result.relative <= 1e-3;
  note.className = isRight ? "note" : "note bad";
  note.textContent = isRight
    ? `All ${result.rows} reference values agree on this device. Largest difference: ${(100 * result.relative).toPrecision(2)}%.`
    : `This device decodes the material wrongly: the largest difference from the reference is ${(100 * result.relative).toPrecision(2)}%.`;
}
