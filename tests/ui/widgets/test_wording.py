"""Texts of the panel: times, sizes, reports, tooltips."""

import pytest

from verdigris.core.base.text import format_bytes, format_seconds, format_share
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.ui.widgets.wording import field_docs, parts_by_fate


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0.4, "0.4 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min 0 s")),
        *((200, "3 min 20 s"), (7500, "2 h 5 min"), (None, "unknown")),
    ],
)
def test_durations_are_formatted(seconds, text):
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.29, "29%"), (0.45, "45%"), (0.999, "99%"), (1, "100%")]
)
def test_only_what_is_complete_has_100_percent(share, text):
    assert format_share(share) == text


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
