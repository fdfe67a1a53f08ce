// A project for the web build of Godot, which an npm package brings.
import { createHash } from "node:crypto";

const PROJECT = `config_version=5

[application]
run/main_scene="res://main.tscn"

[rendering]
renderer/rendering_method="gl_compatibility"
renderer/rendering_method.web="gl_compatibility"
`;
const SCENE = `[gd_scene load_steps=2 format=3]

[ext_resource type="Script" path="res://main.gd" id="1"]

[node name="Main" type="Node3D"]
script = ExtResource("1")
`;

/** A pack (PCK, version 2) of a project whose scene has the script: bytes by path. */
export function packProject(script, files) {
  const entries = Object.entries({ "project.godot": PROJECT, "main.tscn": SCENE, "main.gd": script, ...files }).map(
    ([name, data]) => ({ name: Buffer.from(`res://${name}`), data: Buffer.from(data) }),
  );
  const padded = (size) => size + (-size & 3);
  const head = Buffer.alloc(100);
  head.write("GDPC");
  [2, 4].forEach((each, index) => head.writeUInt32LE(each, 4 + 4 * index));
  head.writeUInt32LE(entries.length, 96);
  let at = head.length + entries.reduce((sum, { name }) => sum + 40 + padded(name.length), 0);
  const table = entries.map(({ name, data }) => {
    const entry = Buffer.alloc(40 + padded(name.length));
    entry.writeUInt32LE(padded(name.length), 0);
    name.copy(entry, 4);
    const rest = 4 + padded(name.length);
    entry.writeBigUInt64LE(BigInt(at), rest);
    entry.writeBigUInt64LE(BigInt(data.length), rest + 8);
    createHash("md5").update(data).digest().copy(entry, rest + 16);
    at += data.length;
    return entry;
  });
  return Buffer.concat([head, ...table, ...entries.map(({ data }) => data)]);
}

/** A page that runs a pack and keeps what it prints in the list `lines`. */
export function godotPage(engine, pack) {
  return `<!doctype html><canvas id="screen" width="32" height="32"></canvas><script src="${engine}/index.js"></script><script>
    globalThis.lines = [];
    const keep = (...parts) => lines.push(parts.join(" "));
    new Engine({
      canvas: document.getElementById("screen"), executable: "${engine}/index", mainPack: "${pack}", args: ["--audio-driver", "Dummy"],
      canvasResizePolicy: 0, ensureCrossOriginIsolationHeaders: false, onPrint: keep, onPrintError: keep,
    }).startGame().catch((failure) => keep("ERROR:", failure));
  </script>`;
}
