"""What a bake drops is a short list, and each has its reason."""

from verdigris.core.material.analyse.features import DROPPED, NODE_FEATURES, SURFACE_FEATURES

LEFT_OUT = {"volume", "dispersion", "occlusion"}


def test_only_volumes_dispersion_and_occlusion_are_dropped():
    features = [each for listed in SURFACE_FEATURES.values() for each in listed]
    dropped = [each for each in (*features, *NODE_FEATURES.values()) if each.fate == DROPPED]
    assert {each.name for each in dropped} <= LEFT_OUT
    assert all(each.how for each in dropped)
