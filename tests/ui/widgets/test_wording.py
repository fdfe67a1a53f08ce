"""Texts of the panel: times, sizes, reports, tooltips."""

import pytest

from verdigris.core.base.text import format_bytes
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.ui.widgets.wording import field_docs, format_duration, parts_by_fate


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (None, "unknown")],
)
def test_durations_are_formatted(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 bytes"), (4300, "4.3 KB"), (698_000, "698 KB"), (2.1e9, "2.1 GB")],
)
def test_sizes_are_formatted(count, text):
    assert format_bytes(count) == text


def test_a_report_is_grouped_by_fate():
    report = {
        "parts": [
            {"name": "oren_nayar_diffuse_bsdf", "fate": "kept", "how": ""},
            {"name": "transmission", "fate": "dropped", "how": "light that passes through"},
        ]
    }
    assert parts_by_fate(report) == [
        ("kept", "Kept", ["diffuse"]),
        ("dropped", "Left out", ["transmission: light that passes through"]),
    ]


def test_tooltips_are_the_docstrings_of_settings():
    docs = field_docs(BakeSettings)
    assert docs["resolution"].startswith("Latent texels")
    assert "draw" in docs
