"""The layers of the helmet, from bare copper up to the dust on it, as a MaterialX document."""

from __future__ import annotations

import MaterialX as mx
from closures import Closures
from graph import Graph, Port
from textures import TEXTURES

NAME = "diving_helmet"
FOLDER = "textures"

_COPPER_EDGE, _BRASS_EDGE, _TIN_EDGE = (0.99, 0.88, 0.78), (0.99, 0.93, 0.75), (0.9, 0.9, 0.9)


def document() -> mx.Document:
    made = mx.createDocument()
    made.setColorSpace("lin_rec709")
    made.setDocString("An antique diving helmet. Written by make_hero.py.")
    helmet = Helmet(Graph(made, f"NG_{NAME}"))
    graph = helmet.g.graph
    graph.addOutput("out", "surfaceshader").setNodeName(helmet.surface().node)
    material = made.addNode("surfacematerial", NAME, "material")
    shader = material.addInput("surfaceshader", "surfaceshader")
    shader.setNodeGraphString(graph.getName())
    shader.setOutputString("out")
    return made


class Helmet:
    """Each method puts layers on a closure and returns the closure of all."""

    def __init__(self, graph: Graph) -> None:
        self.g = graph
        self.c = Closures(graph)
        self.files = {file.split(".")[0]: f"{FOLDER}/{file}" for file in TEXTURES}
        self._read_masks()
        self._make_noises()
        self._make_normals()
        self.layers = 0

    def surface(self) -> Port:
        base = self.oxides(self.metals())
        base = self.finish(self.signs(self.paints(base)))
        return self.g.node(
            "surface", "surfaceshader", "helmet_surface", bsdf=self.touched(self.stains(base))
        )

    def _color(self, name: str) -> Port:
        return self.g.image("color3", f"{name}_color", self.files[f"{name}_color"])

    def _number(self, name: str, tiling: float = 1.0) -> Port:
        return self.g.image("float", name, self.files[name], tiling)

    def _vector(self, name: str) -> Port:
        return self.g.image("vector3", name, self.files[name])

    def _read_masks(self) -> None:
        split = self.g.split
        self.brass, self.window, self.seam = split("parts", self._vector("parts_mask"))
        self.primer, self.cream, self.enamel = split("paints", self._vector("paint_mask"))
        self.tarnish, self.green, self.heat = split("patinas", self._vector("patina_mask"))
        self.dust, self.grime, self.cavity = split("dirts", self._vector("dirt_mask"))
        self.prints, self.oil, self.film = split("films", self._vector("film_mask"))
        self.scratches = self._number("scratches", 2.0)

    def _make_noises(self) -> None:
        uv = self.g.node("texcoord", "vector2", "uv")

        def noise(category: str, name: str, scale: float, **options: int) -> Port:
            scaled = self.g.multiply(f"uv_{name}", uv, scale)
            return self.g.node(category, "float", name, texcoord=scaled, **options)

        self.cloud = noise("fractal2d", "cloud", 7.0, octaves=5)
        self.ragged = noise("fractal2d", "ragged", 38.0, octaves=3)
        self.grain = noise("noise2d", "grain", 120.0)
        self.plates = noise("worleynoise2d", "plates", 44.0)

    def _make_normals(self) -> None:
        form = self._vector("form_normal")
        reliefs = {"form": form}
        for name in ("hammer", "brush", "crust", "lacquer"):
            both = self.g.add(f"{name}_on_form", form, self._vector(f"{name}_normal"))
            # Slopes add; one of the two upright parts is taken off again.
            inputs = {"in1": both, "in2": (0.5, 0.5, 1.0)}
            reliefs[name] = self.g.node("subtract", "vector3", f"{name}_relief", **inputs)
        for name, relief in reliefs.items():
            bump = self.g.node("normalmap", "vector3", f"{name}_bump", **{"in": relief})
            self.c.normals[name] = bump

    def _layer(self, base: Port, what: str) -> Port:
        self.layers += 1
        return self.g.note(base, f"Layer {self.layers}: {what}")

    def metals(self) -> Port:
        g, c = self.g, self.c
        color = c.toned(self._color("copper"), self.cloud, 0.82, 1.0)
        roughness = c.uneven(self._number("copper_roughness"), self.cloud, 0.07)
        alpha = c.alpha("copper", roughness, 0.35)
        wide = g.multiply("copper_haze_alpha", alpha, 2.8)
        tight = c.conductor("copper_tight", color, _COPPER_EDGE, alpha, "hammer")
        haze = c.conductor("copper_haze", color, _COPPER_EDGE, wide, "hammer")
        base = self._layer(g.mix("copper", haze, tight, 0.4), "hammered copper")

        mask = c.torn("solder", self.seam, self.cloud, 0.3, 0.35, 0.6)
        tin = self._color("solder")
        solder = c.conductor("solder", tin, _TIN_EDGE, c.alpha("solder", 0.42), "crust")
        base = self._layer(g.mix("soldered", solder, base, mask), "tin solder of the seam")

        film = g.remap("film_thickness", self.film, 25.0, 330.0)
        tint = c.conductor(
            "heat_tint", color, _COPPER_EDGE, alpha, "hammer",
            thinfilm_thickness=film, thinfilm_ior=2.2,
        )  # fmt: skip
        mask = g.step("heat_cover", self.heat, 0.15, 0.9)
        base = self._layer(g.mix("heated", tint, base, mask), "oxide film with heat colours")

        color = c.toned(self._color("brass"), self.cloud, 0.8, 1.02)
        roughness = c.uneven(self._number("brass_roughness"), self.grain, 0.03)
        alpha = c.alpha("brass", roughness, 0.2)
        brass = c.conductor("brass", color, _BRASS_EDGE, alpha, "form")
        return self._layer(g.mix("fitted", brass, base, self.brass), "brass fittings")

    def oxides(self, base: Port) -> Port:
        g, c = self.g, self.c
        mask = c.torn("cuprite", self.tarnish, self.cloud, 0.28, 0.42, 0.78)
        thin = g.multiply("cuprite_amount", mask, 0.8)
        oxide = c.glossy("cuprite", self._color("cuprite"), 0.4, "hammer", ior=1.9, matt=0.5)
        base = self._layer(g.mix("oxidised", oxide, base, thin), "cuprite")

        mask = c.torn("verdigris", self.green, self.ragged, 0.22, 0.38, 0.62)
        color = c.toned(self._color("verdigris"), self.grain, 0.8, 1.1)
        roughness = self._number("verdigris_roughness")
        solid = c.glossy(
            "verdigris_solid", color, roughness, "crust", ior=1.6, weight=0.7, matt=0.9
        )
        crust = c.powdery("verdigris", solid, 0.3, (0.6, 0.82, 0.74), "crust")
        return self._layer(g.mix("aged", crust, base, mask), "verdigris")

    def paints(self, base: Port) -> Port:
        g, c = self.g, self.c
        ragged = g.multiply("paint_ragged", self.ragged, 0.035)
        border = g.add("paint_border", ragged, g.multiply("paint_plates", self.plates, 0.03))

        color = c.toned(self._color("primer"), self.grain, 0.85, 1.1)
        primer = c.glossy("primer", color, 0.65, "brush", matt=0.7)
        mask = c.torn("primer", self.primer, border, 1.0, 0.49, 0.53)
        base = self._layer(g.mix("primed", primer, base, mask), "red lead primer")

        color = c.toned(self._color("cream"), self.cloud, 0.9, 1.06)
        roughness = c.uneven(self._number("cream_roughness"), self.cloud, 0.06)
        cream = c.glossy("cream", color, roughness, "brush", matt=0.3)
        mask = c.torn("cream", self.cream, border, 1.0, 0.49, 0.53)
        base = self._layer(g.mix("undercoated", cream, base, mask), "cream paint")

        color = c.toned(self._color("enamel"), self.cloud, 0.85, 1.15)
        roughness = c.uneven(self._number("enamel_roughness"), self.cloud, 0.08)
        enamel = c.glossy("enamel", color, roughness, "brush", ior=1.55, matt=0.2)
        self.enamel_cover = c.torn("enamel", self.enamel, border, 1.0, 0.49, 0.53)
        return self._layer(g.mix("enamelled", enamel, base, self.enamel_cover), "blue enamel")

    def signs(self, base: Port) -> Port:
        g, c = self.g, self.c
        printed = c.torn("decal", self._number("decal_mask"), self.ragged, 0.45, 0.4, 0.62)
        mask = g.multiply("decal_amount", printed, self.enamel_cover)
        decal = c.glossy("decal", self._color("decal"), 0.45, "brush", ior=1.48)
        return self._layer(g.mix("signed", decal, base, mask), "stencilled signs")

    def finish(self, base: Port) -> Port:
        g, c = self.g, self.c
        tint: dict = {"fg": (0.95, 0.86, 0.68), "bg": (1.0, 1.0, 1.0), "mix": self.brass}
        amber = g.node("mix", "color3", "lacquer_tint", **tint)
        stained = g.multiply("stained", base, amber)
        left = c.torn("lacquer", self.oil, self.cloud, 0.4, 0.02, 0.4)
        roughness = c.uneven(self._number("lacquer_roughness"), self.scratches, 0.2)
        lacquer = c.gloss(
            "lacquer", 1.5, c.alpha("lacquer", roughness), "lacquer",
            weight=g.multiply("lacquer_weight", left, 0.8),
        )  # fmt: skip
        base = self._layer(g.over("lacquered", lacquer, stained), "amber lacquer")

        roughness = c.uneven(self._number("glass_roughness"), self.scratches, 0.1)
        glass = c.glossy("glass", self._color("glass"), roughness, "form", ior=1.52, matt=0.0)
        return self._layer(g.mix("glazed", glass, base, self.window), "window of dark glass")

    def stains(self, base: Port) -> Port:
        g, c = self.g, self.c
        rubbed = c.torn("rubbed", self._number("edge_mask"), self.cloud, 0.3, 0.42, 0.8)
        lines = g.step("scratch_lines", self.scratches, 0.45, 0.9)
        bare = g.multiply("bare", g.largest("bare_cover", rubbed, lines), 0.85)
        mask = g.multiply("bare_metal", bare, g.invert("not_window", self.window))
        kind: dict = {"fg": (0.95, 0.82, 0.52), "bg": (0.97, 0.72, 0.56), "mix": self.brass}
        color = g.node("mix", "color3", "polished_color", **kind)
        polished = c.conductor(
            "polished", color, _BRASS_EDGE, c.alpha("polished", 0.26, 0.3), "form"
        )
        base = self._layer(g.mix("worn", polished, base, mask), "bare edges and scratches")

        color = c.toned(self._color("rust"), self.grain, 0.75, 1.15)
        rust = c.glossy("rust", color, 0.7, "crust", ior=1.6, weight=0.5, matt=0.9)
        mask = c.torn("rust", self._number("rust_mask"), self.ragged, 0.3, 0.3, 0.75)
        base = self._layer(g.mix("rusted", rust, base, mask), "rust")

        body = c.body("salt_body", self._color("salt"), 0.8, "crust")
        salt = c.powdery("salt", body, 0.4, (0.9, 0.9, 0.9), "crust")
        mask = c.torn("salt", self._number("salt_mask"), self.grain, 0.25, 0.45, 0.9)
        mask = g.multiply("salt_amount", mask, 0.75)
        base = self._layer(g.mix("salted", salt, base, mask), "dried salt")

        grime = c.glossy(
            "grime", self._color("grime"), 0.5, "crust", ior=1.45, weight=0.6, matt=0.6
        )
        mask = c.torn("grime", self.grime, self.cloud, 0.25, 0.18, 0.8)
        mask = g.multiply("grime_amount", mask, 0.8)
        return self._layer(g.mix("grimy", grime, base, mask), "grime")

    def touched(self, base: Port) -> Port:
        g, c = self.g, self.c
        thin = g.multiply("oil_thin", self.oil, 0.35)
        amount = g.multiply("oil_weight", g.largest("touched", self.prints, thin), 0.55)
        thickness = g.remap("oil_thickness", self.oil, 120.0, 420.0)
        oil = c.gloss(
            "oil", 1.47, c.alpha("oil", 0.3), "lacquer",
            weight=amount, thinfilm_thickness=thickness, thinfilm_ior=1.34,
        )  # fmt: skip
        base = self._layer(g.over("oiled", oil, base), "oil and fingerprints")

        lies = c.torn("dust", self.dust, self.grain, 0.12, 0.3, 1.0)
        corners = g.remap("dust_corners", self.cavity, 0.3, 0.75)
        body = c.body("dust_body", self._color("dust"), 1.0, "form")
        dust = c.powdery("dust", body, 0.5, (0.75, 0.7, 0.62), "form")
        mask = g.multiply("dust_amount", lies, corners)
        return self._layer(g.mix("dusty", dust, base, mask), "dust")
