# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes results to USD materials when Blender exports a scene."""

from __future__ import annotations

from typing import Any

import bpy

from .results import find_result

USD_ATTRIBUTE = "verdigris:bundle"


class VerdigrisUSDHook(bpy.types.USDHook):
    """Adds the bundle of a material as an asset, which resolvers and farms find."""

    bl_idname = "VERDIGRIS_usd_hook"
    bl_label = "Verdigris results"

    @staticmethod
    def on_material_export(context: Any, material: bpy.types.Material, usd_material: Any) -> bool:
        bundle = find_result(material)
        if not bundle:
            return False
        # Blender exports without its Python modules of USD, too
        bpy.utils.expose_bundled_modules()
        from pxr import Sdf

        prim = usd_material.GetPrim()
        attribute = prim.CreateAttribute(USD_ATTRIBUTE, Sdf.ValueTypeNames.Asset, True)
        attribute.Set(Sdf.AssetPath(bundle))
        return True
