"""A decoder of bundles, written from docs/FORMAT.md alone, without Verdigris."""

import json
import struct
from pathlib import Path

import numpy as np

TEXELS = {37: (np.uint8, 4), 43: (np.uint8, 4), 97: (np.dtype("<f2"), 4), 9: (np.uint8, 1)}

# Shares of the second endpoint in 64ths, by bits of an index.
WEIGHTS = {
    2: (0, 21, 43, 64),
    3: (0, 9, 18, 27, 37, 46, 55, 64),
    4: (0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64),
}


def read_textures(path, width, height, layers):
    """Levels [layers, height, width, channels] of a KTX 2.0 file, finest first, bytes as 0 to 1."""
    data = path.read_bytes()
    assert data[:12] == b"\xabKTX 20\xbb\r\n\x1a\n"
    header = struct.unpack_from("<9I", data, 12)
    assert header[2:7] == (width, height, 0, layers, 1)
    layers = layers or 1
    levels = []
    for level in range(header[7]):
        offset, length, _ = struct.unpack_from("<3Q", data, 80 + 24 * level)
        stored = data[offset : offset + length]
        rows, columns = max(1, height >> level), max(1, width >> level)
        if header[0] == 145:
            levels.append(decode_blocks(stored, layers, rows, columns) / 255)
            continue
        dtype, channels = TEXELS[header[0]]
        texels = np.frombuffer(stored, dtype).reshape(layers, rows, columns, channels)
        levels.append(texels.astype(np.float64) / (255 if dtype == np.uint8 else 1))
    return levels


def decode_blocks(data, layers, height, width):
    """Bytes [layers, height, width, 4] of BC7 blocks of modes 4, 5 and 6."""
    texels = np.zeros((layers, height, width, 4))
    across, down = -(-width // 4), -(-height // 4)
    for number in range(len(data) // 16):
        decoded = decode_block(int.from_bytes(data[16 * number : 16 * number + 16], "little"))
        layer, place = divmod(number, across * down)
        for texel in range(16):
            row, column = 4 * (place // across) + texel // 4, 4 * (place % across) + texel % 4
            if row < height and column < width:
                texels[layer, row, column] = decoded[texel]
    return texels


def decode_block(block):
    """16 texels of four bytes."""

    def take(bits):
        nonlocal block
        value = block & (1 << bits) - 1
        block >>= bits
        return value

    mode = (block & -block).bit_length() - 1
    assert mode in (4, 5, 6)
    take(mode + 1)
    rotation = take(2) if mode < 6 else 0
    swaps = take(1) if mode == 4 else 0
    bits = {4: (5, 5, 5, 6), 5: (7, 7, 7, 8), 6: (7, 7, 7, 7)}[mode]
    ends = [[take(count) for _ in range(2)] for count in bits]
    if mode == 6:
        last = [take(1), take(1)]
        ends = [[2 * code + bit for code, bit in zip(pair, last, strict=True)] for pair in ends]
    else:
        ends = [
            [code << 8 - count | code >> 2 * count - 8 for code in pair]
            for pair, count in zip(ends, bits, strict=True)
        ]

    def indices(count):
        return [WEIGHTS[count][take(count - (texel == 0))] for texel in range(16)]

    if mode == 6:
        colour = alpha = indices(4)
    else:
        colour, alpha = indices(2), indices(3 if mode == 4 else 2)
        if swaps:
            colour, alpha = alpha, colour
    texels = []
    for texel in range(16):
        weights = [colour[texel]] * 3 + [alpha[texel]]
        values = [(64 - w) * a + w * b + 32 >> 6 for w, (a, b) in zip(weights, ends, strict=True)]
        if rotation:
            values[3], values[rotation - 1] = values[rotation - 1], values[3]
        texels.append(values)
    return texels


def read_reference(folder):
    """Columns of reference.json, by name: the single floats that its decimals stand for."""
    document = json.loads((Path(folder) / "reference.json").read_text())
    count = document.pop("count")
    columns = {name: np.float32(column).astype(float) for name, column in document.items()}
    assert {len(column) for column in columns.values()} == {count}
    return columns


def bilinear(texels, uv):
    """[N, channels] of texels [height, width, channels], repeating."""
    height, width, _ = texels.shape
    x = (uv[:, 0] - np.floor(uv[:, 0])) * width - 0.5
    y = (uv[:, 1] - np.floor(uv[:, 1])) * height - 0.5
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    fx, fy = (x - i)[:, None], (y - j)[:, None]

    def at(column, row):
        return texels[row % height, column % width]

    lower = (1 - fx) * at(i, j) + fx * at(i + 1, j)
    upper = (1 - fx) * at(i, j + 1) + fx * at(i + 1, j + 1)
    return (1 - fy) * lower + fy * upper


def trilinear(levels, uv, lod):
    level = np.clip(np.maximum(lod / 2, lod - 1), 0, len(levels) - 1)
    finer = np.floor(level).astype(int)
    coarser = np.minimum(finer + 1, len(levels) - 1)
    each = np.stack([bilinear(texels, uv) for texels in levels])
    row = np.arange(len(uv))
    fine, coarse = each[finer, row], each[coarser, row]
    return fine + (coarse - fine) * (level - finer)[:, None]


def ordinary(levels, uv, level):
    """Trilinear values of levels [height, width, channels], whose texels represent their width."""
    level = np.clip(level, 0, len(levels) - 1)
    finer = np.floor(level).astype(int)
    each = np.stack([bilinear(texels, uv) for texels in levels])
    row = np.arange(len(uv))
    fine, coarse = each[finer, row], each[np.minimum(finer + 1, len(levels) - 1), row]
    return fine + (coarse - fine) * (level - finer)[:, None]


def read_maps(folder, uv, lod, wo):
    """Columns of the textures beside the latents, by name."""
    manifest = json.loads((Path(folder) / "manifest.json").read_text())
    found = {}

    def sample(name, layers, decode=lambda texels: texels):
        facts = manifest[name]
        ratio = 1
        if name == "proxies":
            sides = [max(each["width"], each["height"]) for each in (manifest["latents"], facts)]
            ratio = sides[0] / sides[1]
        levels = read_textures(
            Path(folder) / facts["file"], facts["width"], facts["height"], facts.get("layers", 0)
        )
        decoded = [decode(level) for level in levels]
        return [
            ordinary([level[layer] for level in decoded], uv, lod - np.log2(ratio))
            for layer in range(layers)
        ]

    if "emission" in manifest:
        found["emission"] = sample("emission", 1)[0][:, :3]
    if "opacity" in manifest:
        found["opacity"] = sample("opacity", 1)[0][:, 0]
    if "proxies" in manifest:
        facts = manifest["proxies"]

        def decode(texels):
            curve = np.where(texels <= 0.04045, texels / 12.92, ((texels + 0.055) / 1.055) ** 2.4)
            return np.concatenate([curve[..., :3], texels[..., 3:]], axis=-1)

        layers = sample("proxies", facts["layers"], decode)
        found["diffuse"], found["roughness"] = layers[0][:, :3], layers[0][:, 3]
        x, y = 2 * layers[1][:, 3] - 1, 2 * layers[2][:, 3] - 1
        normal = np.stack([x, y, np.sqrt(np.maximum(1 - x * x - y * y, 0))], axis=1)
        found["normal"] = normal / np.sqrt(dot(normal, normal))
        steps = np.linspace(facts["cosines"][3], 1, 32)
        columns = [
            sum(
                np.interp(wo[:, 2], steps, curve[:, k]) * layer[:, channel]
                for k, layer in enumerate(layers[1:])
            )
            for channel, curve in enumerate(np.array(facts["curves"]))
        ]
        found["albedo"] = np.clip(np.stack(columns, axis=1), 0, 1)
    return found


def dot(a, b):
    return (a * b).sum(1, keepdims=True)


ACTIVATIONS = {
    "none": lambda x: x,
    "silu": lambda x: x / (1 + np.exp(np.minimum(-x, 700))),
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x, slope: np.maximum(x, slope * x),
    "leaky_smelu": lambda x, slope, width: (
        slope * x
        + (1 - slope)
        * (np.clip(x + width, 0, 2 * width) ** 2 / (4 * width) + np.maximum(x - width, 0))
    ),
}


def read_tensors(folder, manifest, names):
    """Tensors of weights.bin, by name."""
    data = (Path(folder) / manifest["weights"]["file"]).read_bytes()
    tensors = {}
    for tensor in manifest["weights"]["tensors"]:
        if tensor.get("name") not in names:
            continue
        *rows, length = tensor["shape"]
        starts = tensor["offset"] + tensor["row_stride"] * np.arange(*rows or [1])
        read = [np.frombuffer(data, "<f2", length, start) for start in starts]
        tensors[tensor["name"]] = np.array(read, float).reshape(tensor["shape"])
    return tensors


def read_latents(folder, facts):
    """Levels [height, width, channels]."""
    size = facts["width"], facts["height"], facts["layers"]
    levels = read_textures(Path(folder) / facts["file"], *size)
    return [
        np.array(facts["offset"]) + np.array(facts["scale"]) * np.concatenate([*level], axis=2)
        for level in levels
    ]


class Material:
    def __init__(self, folder):
        manifest = json.loads((Path(folder) / "manifest.json").read_text())
        assert manifest["format"] == "verdigris.material"
        assert manifest["version"].split(".")[0] == "4"
        self.network = manifest["network"]
        pairs = [(layer["weights"], layer["bias"]) for layer in self.network["layers"]]
        names = {self.network["frames"], *sum(pairs, ())}
        self.tensors = read_tensors(folder, manifest, names)
        self.latents = read_latents(folder, manifest["latents"])

    def response(self, uv, lod, wi, wo):
        network, directions = self.network, self.network["directions"]

        def normalise(v):
            return v / np.maximum(np.sqrt(dot(v, v)), directions["length_epsilon"])

        latent = trilinear(self.latents, uv, lod)
        raw = latent @ self.tensors["frames"].T
        inputs = [latent]
        for k in range(network["frame_count"]):
            r = raw[:, 8 * k : 8 * k + 8]
            n = normalise(r[:, :3] + [0, 0, 1])
            tangent = r[:, 3:6] + [1, 0, 0]
            t = normalise(tangent - n * dot(n, tangent))
            b = np.cross(n, t)
            a = np.hstack([dot(t, wi), dot(b, wi), dot(n, wi)])
            c = np.hstack([dot(t, wo), dot(b, wo), dot(n, wo)])
            h = normalise(a + c)
            cosine = dot(h, a)
            s = (cosine + a[:, 2:]) / np.maximum(1 + h[:, 2:], directions["half_z_minimum"])
            limit = directions["stretch_limit"]
            p = np.exp(limit * np.tanh(r[:, 6:] / limit))
            g = normalise(np.hstack([h[:, :2] * p, h[:, 2:]]))
            cosines = np.hstack([a[:, 2:], c[:, 2:]])
            above = np.maximum(cosines, 0) + directions["cosine_offset"]
            logarithms = directions["logarithm_share"] * np.log(above)
            inputs += [g, a[:, :2] - h[:, :2] * s, cosine, cosines, logarithms]
        x = np.hstack(inputs)
        for layer in network["layers"]:
            x = x @ self.tensors[layer["weights"]].T + self.tensors[layer["bias"]]
            used = network["activation_constants"] if layer["activation"] != "none" else {}
            x = ACTIVATIONS[layer["activation"]](x, **used)
        output = network["output"]
        lobes = np.exp(np.minimum(x - output["shift"], output["limit"]))
        response = lobes.reshape(len(x), output["lobes"], 3).sum(1)
        below = (wi[:, 2] <= 0) | (wo[:, 2] <= 0)
        return np.where(below[:, None], 0, response)
