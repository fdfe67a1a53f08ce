"""The closures and masks that the layers of the helmet are made of."""

from __future__ import annotations

from graph import Graph, Port, Value

Colour = tuple[float, float, float]


class Closures:
    """Adds closures to a graph; `normals` has the surface of each kind of layer."""

    def __init__(self, graph: Graph) -> None:
        self.g = graph
        self.normals: dict[str, Port] = {}

    # Masks and inputs

    def torn(
        self, name: str, field: Port, noise: Port, amount: float, low: float, high: float
    ) -> Port:
        """A painted mask whose border a noise tears."""
        uneven = self.g.multiply(f"{name}_uneven", noise, amount)
        return self.g.step(f"{name}_cover", self.g.add(f"{name}_sum", field, uneven), low, high)

    def toned(self, color: Port, noise: Port, low: float, high: float) -> Port:
        """A colour times a noise of -1 to 1, remapped."""
        tone = self.g.remap(f"{color.node}_tone", noise, low, high, inlow=-1.0, inhigh=1.0)
        return self.g.multiply(f"{color.node}_toned", color, tone)

    def uneven(self, roughness: Port, noise: Port, amount: float) -> Port:
        """A roughness with a noise, in the range that a picture shows."""
        name = roughness.node
        mottle = self.g.multiply(f"{name}_mottle", noise, amount)
        return self.g.clamp(f"{name}_used", self.g.add(f"{name}_sum", roughness, mottle), 0.12, 1.0)

    def alpha(self, name: str, roughness: Value, anisotropy: float = 0.0) -> Port:
        inputs: dict[str, Value] = {"roughness": roughness, "anisotropy": anisotropy}
        return self.g.node("roughness_anisotropy", "vector2", f"{name}_alpha", **inputs)

    # Closures

    def conductor(
        self, name: str, color: Port, edge: Colour, alpha: Port, normal: str, **film: Value
    ) -> Port:
        self.g.node("artistic_ior", "multioutput", f"{name}_ior", reflectivity=color)
        self.g.set_color(f"{name}_ior", "edge_color", edge)
        inputs: dict[str, Value] = {
            "ior": Port(f"{name}_ior", "color3", "ior"),
            "extinction": Port(f"{name}_ior", "color3", "extinction"),
            "roughness": alpha,
            "normal": self.normals[normal],
        }
        return self.g.node("conductor_bsdf", "BSDF", name, **inputs, **film)

    def body(self, name: str, color: Port, roughness: float, normal: str) -> Port:
        inputs: dict[str, Value] = {"color": color, "roughness": roughness}
        return self.g.node(
            "oren_nayar_diffuse_bsdf", "BSDF", name, **inputs, normal=self.normals[normal]
        )

    def gloss(self, name: str, ior: float, alpha: Port, normal: str, **options: Value) -> Port:
        inputs: dict[str, Value] = {"ior": ior, "roughness": alpha}
        return self.g.node(
            "dielectric_bsdf", "BSDF", name, **inputs, normal=self.normals[normal], **options
        )

    def glossy(
        self,
        name: str,
        color: Port,
        roughness: Value,
        normal: str,
        *,
        ior: float = 1.5,
        weight: float = 1.0,
        matt: float = 0.4,
    ) -> Port:
        """A pigment under a surface that reflects: paint, oxide, rust."""
        surface = self.gloss(
            f"{name}_gloss", ior, self.alpha(name, roughness), normal, weight=weight
        )
        return self.g.over(name, surface, self.body(f"{name}_body", color, matt, normal))

    def powdery(self, name: str, base: Port, weight: float, color: Colour, normal: str) -> Port:
        """A closure under fine grains, which light up at grazing angles."""
        inputs: dict[str, Value] = {"weight": weight, "color": color, "roughness": 0.5}
        grains = self.g.node(
            "sheen_bsdf", "BSDF", f"{name}_powder", **inputs, normal=self.normals[normal]
        )
        return self.g.over(name, grains, base)
