"""The export of maya-usd in the fake Maya."""

from __future__ import annotations

import shutil
from typing import Any

from .scene import Scene


def teach_usd_export(scene: Scene, teach: Any) -> None:
    """Adds the command."""

    @teach
    def mayaUSDExport(
        *,
        file: str,
        shadingMode: str,
        convertMaterialsTo: list[str],
        mergeTransformAndShape: bool,
        exportRoots: tuple[str, ...] | list[str] = (),
        exportAssignedMaterials: bool = True,
        excludeExportTypes: tuple[str, ...] | list[str] = (),
    ) -> None:
        assert scene.plugins["mayaUsdPlugin"]
        if scene.has_old_usd and not exportAssignedMaterials:
            raise TypeError("Invalid flag 'exportAssignedMaterials'")
        assert set(excludeExportTypes) <= {"Meshes", "Cameras", "Lights"}
        scene.exports.append((list(exportRoots), exportAssignedMaterials))
        assert shadingMode == "useRegistry" and convertMaterialsTo == ["MaterialX"]
        for root in exportRoots:
            assert scene.require(root)["type"] == "transform"
        if scene.export is None:
            raise RuntimeError("Maya command error")
        shutil.copyfile(scene.export, file)
