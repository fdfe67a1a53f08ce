"""A sampler of bundles, written from docs/FORMAT.md alone, without Verdigris."""

import json
from pathlib import Path

import numpy as np

from .independent_decoder import dot, read_latents, read_tensors, trilinear


class Sampler:
    def __init__(self, folder):
        manifest = json.loads((Path(folder) / "manifest.json").read_text())
        self.table, self.network = manifest["sampler"], manifest["network"]
        assert self.table["kind"] == "grazing_visible_normals_cosine_uniform"
        names = {self.network["frames"]}
        for layer in (*self.table["layers"], *self.table["split"]["layers"]):
            names |= {layer["weights"], layer["bias"]}
        self.tensors = read_tensors(folder, manifest, names)
        self.levels = read_latents(folder, manifest["latents"])

    def at(self, uv, lod, wo):
        return Surface(self, trilinear(self.levels, uv, lod), wo)


class Surface:
    def __init__(self, sampler, latent, wo):
        network, table, tensors = sampler.network, sampler.table, sampler.tensors
        directions = network["directions"]

        def normalise(v):
            return v / np.maximum(np.sqrt(dot(v, v)), directions["length_epsilon"])

        def l(x):  # noqa: E743
            above = np.maximum(x, 0) + directions["cosine_offset"]
            return directions["logarithm_share"] * np.log(above)

        self.normalise = normalise
        raw = latent @ tensors["frames"].T
        self.axes, self.v, stretch, inputs = [], [], [], [latent]
        for k in range(network["frame_count"]):
            r = raw[:, 8 * k : 8 * k + 8]
            n = normalise(r[:, :3] + [0, 0, 1])
            tangent = r[:, 3:6] + [1, 0, 0]
            t = normalise(tangent - n * dot(n, tangent))
            b = np.cross(n, t)
            c = np.hstack([dot(t, wo), dot(b, wo), dot(n, wo)])
            inputs += [c[:, 2:], l(c[:, 2:])]
            self.axes.append((t, b, n))
            limit = directions["stretch_limit"]
            stretch.append(np.exp(limit * np.tanh(r[:, 6:] / limit)))
        self.inputs = np.hstack([*inputs, wo[:, 2:], l(wo[:, 2:])])
        self.wo, self.epsilon = wo, directions["length_epsilon"]

        def head(layers, x):
            hidden, last = layers
            x = x @ tensors[hidden["weights"]].T + tensors[hidden["bias"]]
            x = np.maximum(x, table["slope"] * x)
            return x @ tensors[last["weights"]].T + tensors[last["bias"]]

        self.split_head = lambda x: head(table["split"]["layers"], x)
        y = head(table["layers"], self.inputs)
        self.frames = frames = network["frame_count"]
        self.widths = [
            np.clip(
                np.exp(y[:, 2 * k : 2 * k + 2]) / stretch[k],
                table["width_minimum"],
                table["width_maximum"],
            )
            for k in range(frames)
        ]
        learned = self.axes
        self.axes = [self.tilted(learned, y, k, table) for k in range(frames)]
        for (t, b, n), width in zip(self.axes, self.widths, strict=True):
            c = np.hstack([dot(t, wo), dot(b, wo), dot(n, wo)])
            limits = table["view_cosine_minimum"], table["view_cosine_maximum"]
            least = np.clip(width.max(1, keepdims=True), *limits)
            self.v.append(normalise(np.hstack([c[:, :2], np.maximum(c[:, 2:], least)])))
        logits = y[:, 2 * frames : 3 * frames + 2]
        share = np.exp(logits - logits.max(1, keepdims=True))
        share /= share.sum(1, keepdims=True)
        least = table["weight_minimum"]
        self.weights = least + (1 - least * (frames + 2)) * share

    def tilted(self, learned, y, k, table):
        t, b, n = learned[k]
        following = learned[(k + 1) % self.frames][2]
        tangents = np.hstack([dot(t, following), dot(b, following)])
        tangents /= np.maximum(dot(n, following), table["lean_cosine_minimum"])
        most, first = table["tilt_maximum"], 3 * self.frames + 2 + 2 * k
        lean = y[:, 5 * self.frames + 2 + k, None]
        tilt = table["tilt_share"] * y[:, first : first + 2] + lean * tangents
        tilt = np.clip(tilt, -most, most)
        n = self.normalise(n + t * tilt[:, :1] + b * tilt[:, 1:])
        t = self.normalise(t - n * dot(n, t))
        return t, np.cross(n, t), n

    def density(self, wi):
        above = wi[:, 2] > 0
        cosine, even = self.weights[:, -2], self.weights[:, -1]
        result = np.where(above, cosine * wi[:, 2] / np.pi + even / (2 * np.pi), 0)
        for k in range(len(self.axes)):
            result += self.weights[:, k] * self.ggx(k, wi)
        return result

    def ggx(self, k, wi):
        (t, b, n), v, width = self.axes[k], self.v[k], self.widths[k]
        a = np.hstack([dot(t, wi), dot(b, wi), dot(n, wi)])
        h = self.normalise(a + v)
        s = ((h[:, :2] / width) ** 2).sum(1) + h[:, 2] ** 2
        root = np.sqrt(((width * v[:, :2]) ** 2).sum(1) + v[:, 2] ** 2)
        ggx = 1 / (np.pi * width[:, 0] * width[:, 1] * s * s * 2 * (v[:, 2] + root))
        hidden = (h[:, 2] <= 0) | (dot(a, h)[:, 0] <= 0)
        return np.where(hidden, 0, ggx)

    def split(self, response, radiance, irradiance):
        """Of response(wi), radiance(wi, solid angle) and irradiance(normal), all [N, 3]."""
        up = np.tile([0.0, 0, 1], (len(self.wo), 1))
        flat = irradiance(up) / np.pi
        s = np.array([w[:2] / np.linalg.norm(w[:2]) if w[:2] @ w[:2] > self.epsilon else (0, -1)
                      for w in self.wo])  # fmt: skip

        def ratio(wi):
            lit = wi[:, 2] > 0
            return np.where(lit, 1 / np.where(lit, self.density(wi), 1), 0)[:, None] * response(wi)

        def place(k, q, r):
            rows = range(len(self.wo))
            turned = [q + 0.25 * (self.widths[k][row][1] > self.widths[k][row][0]) for row in rows]
            return np.array([self._of_lobe(row, k, turned[row], r) for row in rows])

        def light(k, points, share):
            total, count = 0, 0
            for q, r in points:
                wi = place(k, q, r)
                lit = (wi[:, 2:] > 0) * 1.0
                total = total + lit * radiance(wi, share / np.maximum(self.ggx(k, wi), 1e-3))
                count = count + lit
            return np.where(count > 0, total / np.maximum(count, 1), flat)

        frames = range(len(self.axes))
        points = (0, 0), (0, 0.5), (0.5, 0.5)
        ratios = [ratio(place(k, *point)) for k in frames for point in points]
        for x, y in ((-s[:, 1], s[:, 0]), (s[:, 1], -s[:, 0])):
            ratios.append(ratio(np.stack([x, y, np.ones_like(x)], 1) / np.sqrt(2)))
        logarithms = [np.log(np.maximum(each.mean(1, keepdims=True), 0.01)) for each in ratios]
        f = np.exp(np.clip(self.split_head(np.hstack([self.inputs, *logarithms])), -4, 2))
        f = f.T[:, :, None]
        found, total = 0, 0
        for k in frames:
            w = self.weights[:, k : k + 1]
            own = ratios[3 * k : 3 * k + 3]
            c = [share * w * each for share, each in zip((0.2, 0.4, 0.4), own, strict=True)]
            looks = [(0, 0)], [(0, 0.102), (0, 0.472)], [(0.5, 0.102), (0.5, 0.472)]
            middle = sum(each * light(k, look, 0.2) for each, look in zip(c, looks, strict=True))
            border = sum(c) * light(k, [(q / 6, 0.85) for q in range(6)], 0.1)
            found = found + f[2 * k] * middle + f[2 * k + 1] * border
            total = total + (f[2 * k] + f[2 * k + 1]) * sum(c)
        d = self.weights[:, -2:].sum(1, keepdims=True) / 2 * (ratios[-1] + ratios[-2])
        sine, cosine = np.sin(np.radians(40)), np.full((len(s), 1), np.cos(np.radians(40)))
        g = f[2 * len(self.axes) :]
        normals = up, *(np.hstack([sign * sine * s, cosine]) for sign in (1, -1))
        for factor, n in zip(g, normals, strict=True):
            found, total = found + factor * d * irradiance(n) / np.pi, total + factor * d
        return found / np.maximum(total, 1)

    def draw(self, numbers):
        drawn = []
        for row, (x, y) in enumerate(numbers):
            before, weights = 0.0, self.weights[row]
            for j, weight in enumerate(weights):
                if x < before + weight or j == len(weights) - 1:
                    break
                before += weight
            drawn.append(self._of_lobe(row, j, max((x - before) / weights[j], 0), y))
        return np.array(drawn)

    def _of_lobe(self, row, j, q, y):
        if j == len(self.weights[row]) - 2:
            return around(np.sqrt(1 - y), q)
        if j == len(self.weights[row]) - 1:
            return around(y, q)
        v, width = self.v[j][row], self.widths[j][row]

        def unit(vector):
            return vector / np.linalg.norm(vector)

        e = unit(np.array([*(width * v[:2]), v[2]]))
        m = around((1 - y) * (1 + e[2]) - e[2], q) + e
        h = unit(np.array([*(width * m[:2]), max(m[2], 0)]))
        d = 2 * (h @ v) * h - v
        return sum(axis[row] * part for axis, part in zip(self.axes[j], d, strict=True))


def around(z, q):
    sine = np.sqrt(max(1 - z * z, 0))
    return np.array([sine * np.cos(2 * np.pi * q), sine * np.sin(2 * np.pi * q), z])
