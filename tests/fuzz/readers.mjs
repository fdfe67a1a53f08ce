// The readers of web/src. A line of standard input names a folder with a bundle or a zip, and a line of JSON answers.
import { readFileSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Decoder, VerdigrisError, compareWithReference, loadMaterial } from "../../web/src/index.js";

// Above the input's own need.
const LARGEST_GROWTH = 256 << 20;

function filesOf(root) {
  const names = readdirSync(root, { recursive: true }).filter((each) => statSync(path.join(root, each)).isFile());
  return new Map(names.map((each) => [each, new Uint8Array(readFileSync(path.join(root, each)))]));
}

async function read(folder) {
  const zip = path.join(folder, "a.zip");
  const from = statSync(zip, { throwIfNoEntry: false }) ? new Uint8Array(readFileSync(zip)) : filesOf(path.join(folder, "a.vdg"));
  const material = await loadMaterial(from);
  const decoder = new Decoder(material);
  const response = decoder.evaluate([0.3, 0.7], 0.5, [0.6, 0, 0.8], [0, 0, 1]);
  if (response.length !== 3) throw new Error(`a response has ${response.length} numbers`);
  const reference = await material.reference();
  const { uv, lod, wi, wo, live } = reference;
  const rows = uv.map((each, index) => decoder.evaluate(each, lod[index], wi[index], wo[index], live?.[index]));
  compareWithReference(reference, rows, material.manifest.bounds);
  await material.file("preview.png").catch((failure) => {
    if (!(failure instanceof VerdigrisError)) throw failure;
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const before = process.resourceUsage().maxRSS * 1024;
  const answer = { is_own: false, text: "" };
  try {
    await read(JSON.parse(line));
  } catch (failure) {
    answer.is_own = failure instanceof VerdigrisError;
    answer.text = answer.is_own ? failure.message : String(failure?.stack ?? failure).slice(0, 2000);
  }
  const grown = process.resourceUsage().maxRSS * 1024 - before;
  if (grown > LARGEST_GROWTH) Object.assign(answer, { is_own: false, text: `grows by ${grown} bytes` });
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
