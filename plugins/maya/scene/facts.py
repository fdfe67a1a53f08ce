"""What this Maya has: plug-ins, node types, flags and colours."""

from __future__ import annotations

from maya import cmds

from verdigris.core.hosts.probe import ON, Facts, fact, presence

_PLUGINS = ("mayaUsdPlugin", "LookdevXMaya", "mtoa")
_NODE_TYPES = (
    *("standardSurface", "openPBRSurface", "aiStandardSurface", "usdPreviewSurface"),
    *("materialxStack", "MaterialXSurfaceShader", "mayaUsdProxyShape"),
)
_EXPORT, _EXPORT_FLAGS = "mayaUSDExport", ("convertMaterialsTo", "exportAssignedMaterials")


def read_facts() -> Facts:
    """The facts of this Maya. Nothing is loaded for them."""
    loaded = {name: _is_loaded(name) for name in _PLUGINS}
    types = cmds.ls(nodeTypes=True) or []
    has_window = not cmds.about(batch=True)
    usage = fact(lambda: cmds.help(_EXPORT)) if loaded["mayaUsdPlugin"] else ""
    return Facts(
        application={
            "product": fact(lambda: cmds.about(product=True)),
            "build": fact(lambda: cmds.about(cutIdentifier=True)),
            "window": "yes" if has_window else "no",
        },
        plugins={
            name: fact(lambda name=name: cmds.pluginInfo(name, query=True, version=True))
            if is_loaded
            else "not loaded"
            for name, is_loaded in loaded.items()
        },
        node_types={name: presence(name in types) for name in _NODE_TYPES},
        flags={f"{_EXPORT} -{name}": presence(name in usage) for name in _EXPORT_FLAGS},
        colours={
            "enabled": fact(lambda: cmds.colorManagementPrefs(query=True, cmEnabled=True)),
            "rendering space": fact(
                lambda: cmds.colorManagementPrefs(query=True, renderingSpaceName=True)
            ),
            "configuration": fact(
                lambda: cmds.colorManagementPrefs(query=True, configFilePath=True)
            ),
        },
        features={
            "Materials of LookdevX": _why(loaded, "LookdevXMaya"),
            "Materials of Arnold": _why(loaded, "mtoa"),
            "Materials of USD stages": _why(loaded, "mayaUsdPlugin"),
            "Maya's brush": ON if has_window else "this Maya has no window",
        },
    )


def _is_loaded(name: str) -> bool:
    return bool(cmds.pluginInfo(name, query=True, loaded=True))


def _why(loaded: dict[str, bool], name: str) -> str:
    if loaded[name]:
        return ON
    return f"the plug-in {name} is not loaded: load it in Windows > Settings > Plug-in Manager"
