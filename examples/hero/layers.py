"""The layers of the helmet, from bare copper up to the oil of hands, as a MaterialX document."""

from __future__ import annotations

import MaterialX as mx
from graph import Graph, Port, Value
from textures import TEXTURES

NAME = "diving_helmet"
FOLDER = "textures"


def document() -> mx.Document:
    made = mx.createDocument()
    made.setColorSpace("lin_rec709")
    made.setDocString("An antique diving helmet. Written by make_hero.py.")
    helmet = _Helmet(made)
    out = helmet.g.graph.addOutput("out", "surfaceshader")
    out.setNodeName(helmet.surface.node)
    material = made.addNode("surfacematerial", NAME, "material")
    shader = material.addInput("surfaceshader", "surfaceshader")
    shader.setNodeGraphString(helmet.g.graph.getName())
    shader.setOutputString("out")
    return made


class _Helmet:
    def __init__(self, document: mx.Document) -> None:
        self.g = Graph(document, f"NG_{NAME}")
        self.files = {file.split(".")[0]: f"{FOLDER}/{file}" for file in TEXTURES}
        self.read_masks()
        self.make_noises()
        self.make_normals()
        metal = self.age(self.metal())
        self.surface = self.g.node(
            "surface", "surfaceshader", "helmet_surface", bsdf=self.soil(self.coat(metal))
        )

    # Inputs

    def color(self, name: str) -> Port:
        return self.g.image("color3", name, self.files[name])

    def number(self, name: str, tiling: float = 1.0) -> Port:
        return self.g.image("float", name, self.files[name], tiling)

    def vector(self, name: str) -> Port:
        return self.g.image("vector3", name, self.files[name])

    def read_masks(self) -> None:
        g = self.g
        self.brass, self.window, self.seam = g.split("parts", self.vector("parts_mask"))
        self.primer, self.cream, self.enamel = g.split("paints", self.vector("paint_mask"))
        self.tarnish, self.verdigris, self.heat = g.split("patinas", self.vector("patina_mask"))
        self.dust, self.grime, self.cavity = g.split("dirts", self.vector("dirt_mask"))
        self.prints, self.oil, self.film = g.split("films", self.vector("film_mask"))
        self.scratches = self.number("scratches", 2.0)

    def make_noises(self) -> None:
        g = self.g
        uv = g.node("texcoord", "vector2", "uv")

        def at(name: str, scale: float) -> Port:
            return g.multiply(f"uv_{name}", uv, scale)

        self.cloud = g.node("fractal2d", "float", "cloud", texcoord=at("cloud", 7.0), octaves=5)
        self.ragged = g.node("fractal2d", "float", "ragged", texcoord=at("ragged", 38.0), octaves=3)
        self.grain = g.node("noise2d", "float", "grain", texcoord=at("grain", 120.0))
        self.plates = g.node("worleynoise2d", "float", "plates", texcoord=at("plates", 44.0))

    def make_normals(self) -> None:
        g = self.g
        form = self.vector("form_normal")
        self.normals: dict[str, Port] = {}
        for name in ("hammer", "brush", "crust", "lacquer"):
            both = g.add(f"{name}_on_form", form, self.vector(f"{name}_normal"))
            flat = g.node(
                "subtract", "vector3", f"{name}_relief", in1=both, in2=(0.5, 0.5, 1.0)
            )
            self.normals[name] = g.node("normalmap", "vector3", f"{name}_bump", **{"in": flat})
        self.normals["form"] = g.node("normalmap", "vector3", "form_bump", **{"in": form})

    # Closures

    def roughened(self, name: str, value: Port, by: Port, amount: float) -> Port:
        g = self.g
        total = g.add(f"{name}_rough", value, g.multiply(f"{name}_mottle", by, amount))
        return g.clamp(f"{name}_roughness_used", total, 0.12, 1.0)

    def alpha(self, name: str, roughness: Value, anisotropy: float = 0.0) -> Port:
        return self.g.node(
            "roughness_anisotropy", "vector2", name, roughness=roughness, anisotropy=anisotropy
        )

    def conductor(
        self, name: str, color: Port, edge: tuple[float, float, float], alpha: Port, normal: str,
        **film: Value,
    ) -> Port:  # fmt: skip
        g = self.g
        index = f"{name}_ior"
        g.node("artistic_ior", "multioutput", index, reflectivity=color)
        node = g.graph.getNode(index).addInput("edge_color", "color3")
        node.setValueString(", ".join(f"{each:g}" for each in edge))
        return g.node(
            "conductor_bsdf", "BSDF", name,
            ior=Port(index, "color3", "ior"), extinction=Port(index, "color3", "extinction"),
            roughness=alpha, normal=self.normals[normal], **film,
        )  # fmt: skip

    def body(self, name: str, color: Port, roughness: float, normal: str) -> Port:
        return self.g.node(
            "oren_nayar_diffuse_bsdf", "BSDF", name,
            color=color, roughness=roughness, normal=self.normals[normal],
        )  # fmt: skip

    def gloss(self, name: str, ior: float, alpha: Port, normal: str, **options: Value) -> Port:
        return self.g.node(
            "dielectric_bsdf", "BSDF", name,
            ior=ior, roughness=alpha, normal=self.normals[normal], **options,
        )  # fmt: skip

    def sheen(
        self, name: str, weight: float, color: tuple[float, float, float], normal: str
    ) -> Port:
        return self.g.node(
            "sheen_bsdf", "BSDF", name,
            weight=weight, color=color, roughness=0.5, normal=self.normals[normal],
        )  # fmt: skip

    def toned(self, name: str, color: Port, by: Port, low: float, high: float) -> Port:
        """A colour times a noise of -1 to 1, remapped."""
        tone = self.g.node(
            "remap", "float", f"{name}_tone",
            **{"in": by}, inlow=-1.0, inhigh=1.0, outlow=low, outhigh=high,
        )  # fmt: skip
        return self.g.multiply(f"{name}_toned", color, tone)

    # Layers

    def metal(self) -> Port:
        g = self.g
        rough = self.roughened("copper", self.number("copper_roughness"), self.cloud, 0.07)
        color = self.toned("copper", self.color("copper_color"), self.cloud, 0.82, 1.0)
        tight_alpha = self.alpha("copper_alpha", rough, 0.35)
        tight = self.conductor("copper_tight", color, (0.99, 0.88, 0.78), tight_alpha, "hammer")
        haze_alpha = g.multiply("copper_haze_alpha", tight_alpha, 2.8)
        haze = self.conductor("copper_haze", color, (0.99, 0.88, 0.78), haze_alpha, "hammer")
        copper = g.note(g.mix("copper", haze, tight, 0.4), "Layer 1: hammered copper")

        tin_mask = g.step(
            "solder_cover", g.add("solder_uneven", self.seam, self.scaled("solder_edge", self.cloud, 0.3)),
            0.35, 0.6,
        )  # fmt: skip
        tin = self.conductor(
            "solder", self.color("solder_color"), (0.9, 0.9, 0.9),
            self.alpha("solder_alpha", 0.42), "crust",
        )  # fmt: skip
        soldered = g.note(g.mix("soldered", tin, copper, tin_mask), "Layer 2: tin solder")

        thickness = g.node(
            "remap", "float", "film_thickness", **{"in": self.film}, outlow=25.0, outhigh=330.0
        )
        tinted = self.conductor(
            "heat_tint", color, (0.99, 0.88, 0.78), tight_alpha, "hammer",
            thinfilm_thickness=thickness, thinfilm_ior=2.2,
        )  # fmt: skip
        heat = g.step("heat_cover", self.heat, 0.15, 0.9)
        heated = g.note(
            g.mix("heated", tinted, soldered, heat), "Layer 3: oxide film with heat colours"
        )

        brass_rough = self.roughened("brass", self.number("brass_roughness"), self.grain, 0.03)
        brass_alpha = self.alpha("brass_alpha", brass_rough, 0.2)
        brass_color = self.toned("brass", self.color("brass_color"), self.cloud, 0.8, 1.02)
        brass = self.conductor("brass", brass_color, (0.99, 0.93, 0.75), brass_alpha, "form")
        return g.note(g.mix("fitted", brass, heated, self.brass), "Layer 4: brass fittings")

    def scaled(self, name: str, value: Port, by: float) -> Port:
        return self.g.multiply(name, value, by)

    def age(self, base: Port) -> Port:
        g = self.g
        uneven = self.scaled("tarnish_uneven", self.cloud, 0.28)
        mask = g.step("cuprite_cover", g.add("tarnish_sum", self.tarnish, uneven), 0.42, 0.78)
        oxide = g.over(
            "cuprite",
            self.gloss("cuprite_gloss", 1.9, self.alpha("cuprite_alpha", 0.4), "hammer"),
            self.body("cuprite_body", self.color("cuprite_color"), 0.5, "hammer"),
        )
        thin = g.multiply("cuprite_thin", mask, 0.8)
        base = g.note(g.mix("oxidised", oxide, base, thin), "Layer 5: cuprite")

        uneven = self.scaled("verdigris_uneven", self.ragged, 0.22)
        mask = g.step("verdigris_cover", g.add("verdigris_sum", self.verdigris, uneven), 0.38, 0.62)
        color = self.toned("verdigris", self.color("verdigris_color"), self.grain, 0.8, 1.1)
        solid = g.over(
            "verdigris_solid",
            self.gloss("verdigris_crystals", 1.6, self.alpha("verdigris_alpha", self.number("verdigris_roughness")), "crust", weight=0.7),
            self.body("verdigris_body", color, 0.9, "crust"),
        )  # fmt: skip
        powder = self.sheen("verdigris_powder", 0.3, (0.6, 0.82, 0.74), "crust")
        crust = g.over("verdigris", powder, solid)
        return g.note(g.mix("aged", crust, base, mask), "Layer 6: verdigris")

    def coat(self, base: Port) -> Port:
        g = self.g
        uneven = self.scaled("paint_uneven", self.ragged, 0.035)
        plates = self.scaled("paint_plates", self.plates, 0.03)
        edge = g.add("paint_edge", uneven, plates)

        def cover(name: str, field: Port) -> Port:
            return g.step(f"{name}_cover", g.add(f"{name}_sum", field, edge), 0.49, 0.53)

        primer = g.over(
            "primer",
            self.gloss("primer_gloss", 1.5, self.alpha("primer_alpha", 0.65), "brush"),
            self.body("primer_body", self.toned("primer", self.color("primer_color"), self.grain, 0.85, 1.1), 0.7, "brush"),
        )  # fmt: skip
        base = g.note(g.mix("primed", primer, base, cover("primer", self.primer)), "Layer 7: red lead primer")

        rough = self.roughened("cream", self.number("cream_roughness"), self.cloud, 0.06)
        cream = g.over(
            "cream",
            self.gloss("cream_gloss", 1.5, self.alpha("cream_alpha", rough), "brush"),
            self.body("cream_body", self.toned("cream", self.color("cream_color"), self.cloud, 0.9, 1.06), 0.3, "brush"),
        )  # fmt: skip
        base = g.note(g.mix("undercoated", cream, base, cover("cream", self.cream)), "Layer 8: cream paint")

        rough = self.roughened("enamel", self.number("enamel_roughness"), self.cloud, 0.08)
        color = self.toned("enamel", self.color("enamel_color"), self.cloud, 0.85, 1.15)
        enamel_cover = cover("enamel", self.enamel)
        enamel = g.over(
            "enamel",
            self.gloss("enamel_gloss", 1.55, self.alpha("enamel_alpha", rough), "brush"),
            self.body("enamel_body", color, 0.2, "brush"),
        )
        base = g.note(g.mix("enamelled", enamel, base, enamel_cover), "Layer 9: blue enamel")

        worn = g.add("decal_worn", self.number("decal_mask"), self.scaled("decal_uneven", self.ragged, 0.45))
        print_cover = g.multiply("decal_cover", g.step("decal_print", worn, 0.4, 0.62), enamel_cover)
        decal = g.over(
            "decal",
            self.gloss("decal_gloss", 1.48, self.alpha("decal_alpha", 0.45), "brush"),
            self.body("decal_body", self.color("decal_color"), 0.4, "brush"),
        )
        base = g.note(g.mix("signed", decal, base, print_cover), "Layer 10: stencilled signs")

        tint = g.node("mix", "color3", "lacquer_tint", fg=(0.95, 0.86, 0.68), bg=(1.0, 1.0, 1.0), mix=self.brass)
        stained = g.node("multiply", "BSDF", "stained", in1=base, in2=tint)
        left = g.step("lacquer_left", g.add("lacquer_sum", self.oil, self.scaled("lacquer_uneven", self.cloud, 0.4)), 0.02, 0.4)
        lacquer = self.gloss(
            "lacquer", 1.5, self.alpha("lacquer_alpha", self.roughened("lacquer", self.number("lacquer_roughness"), self.scratches, 0.2)),
            "lacquer", weight=g.multiply("lacquer_weight", left, 0.8),
        )  # fmt: skip
        base = g.note(g.over("lacquered", lacquer, stained), "Layer 11: amber lacquer")

        glass_rough = g.clamp("glass_roughness_used", self.number("glass_roughness"), 0.1, 0.8)
        glass = g.over(
            "glass",
            self.gloss("glass_surface", 1.52, self.alpha("glass_alpha", glass_rough), "form"),
            self.body("glass_depth", self.color("glass_color"), 0.0, "form"),
        )
        return g.note(g.mix("glazed", glass, base, self.window), "Layer 12: window")

    def soil(self, base: Port) -> Port:
        g = self.g
        rubbed = g.add("rubbed_sum", self.number("edge_mask"), self.scaled("rubbed_uneven", self.cloud, 0.3))
        lines = g.step("scratch_lines", self.scratches, 0.45, 0.9)
        bare = g.node("max", "float", "bare_cover", in1=g.step("rubbed_cover", rubbed, 0.42, 0.8), in2=lines)
        on_metal = g.multiply("bare_metal", bare, g.invert("not_window", self.window))
        color = g.node("mix", "color3", "bare_color", fg=(0.95, 0.82, 0.52), bg=(0.97, 0.72, 0.56), mix=self.brass)
        polished = self.conductor("polished", color, (1.0, 0.95, 0.85), self.alpha("polished_alpha", 0.24, 0.3), "form")
        base = g.note(g.mix("rubbed", polished, base, g.multiply("bare_amount", on_metal, 0.85)), "Layer 13: bare edges and scratches")

        mask = g.step("rust_cover", g.add("rust_sum", self.number("rust_mask"), self.scaled("rust_uneven", self.ragged, 0.3)), 0.3, 0.75)
        rust = g.over(
            "rust",
            self.gloss("rust_gloss", 1.6, self.alpha("rust_alpha", 0.7), "crust", weight=0.5),
            self.body("rust_body", self.toned("rust", self.color("rust_color"), self.grain, 0.75, 1.15), 0.9, "crust"),
        )  # fmt: skip
        base = g.note(g.mix("rusted", rust, base, mask), "Layer 14: rust")

        mask = g.step("salt_cover", g.add("salt_sum", self.number("salt_mask"), self.scaled("salt_uneven", self.grain, 0.25)), 0.45, 0.9)
        salt = g.over("salt", self.sheen("salt_powder", 0.4, (0.9, 0.9, 0.9), "crust"), self.body("salt_body", self.color("salt_color"), 0.8, "crust"))
        base = g.note(g.mix("salted", salt, base, g.multiply("salt_amount", mask, 0.75)), "Layer 15: salt")

        mask = g.step("grime_cover", g.add("grime_sum", self.grime, self.scaled("grime_uneven", self.cloud, 0.25)), 0.18, 0.8)
        grime = g.over(
            "grime",
            self.gloss("grime_gloss", 1.45, self.alpha("grime_alpha", 0.5), "crust", weight=0.6),
            self.body("grime_body", self.color("grime_color"), 0.6, "crust"),
        )
        base = g.note(g.mix("grimy", grime, base, g.multiply("grime_amount", mask, 0.8)), "Layer 16: grime")

        touched = g.node("max", "float", "touched", in1=self.prints, in2=g.multiply("oil_thin", self.oil, 0.35))
        rainbow = g.node("remap", "float", "oil_thickness", **{"in": self.oil}, outlow=120.0, outhigh=420.0)
        oil = self.gloss(
            "oil", 1.47, self.alpha("oil_alpha", 0.3), "lacquer", weight=g.multiply("oil_weight", touched, 0.55),
            thinfilm_thickness=rainbow, thinfilm_ior=1.34,
        )  # fmt: skip
        base = g.note(g.over("oiled", oil, base), "Layer 17: oil and fingerprints")

        grainy = g.add("dust_sum", self.dust, self.scaled("dust_uneven", self.grain, 0.12))
        mask = g.step("dust_cover", grainy, 0.3, 1.0)
        kept = g.multiply("dust_lies", mask, g.node("remap", "float", "dust_corners", **{"in": self.cavity}, outlow=0.35, outhigh=0.8))
        dust = g.over("dust", self.sheen("dust_fuzz", 0.5, (0.75, 0.7, 0.62), "form"), self.body("dust_body", self.color("dust_color"), 1.0, "form"))
        return g.note(g.mix("dusty", dust, base, kept), "Layer 18: dust")
