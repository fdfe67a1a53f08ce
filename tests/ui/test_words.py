"""What is said to the artist in words: times, sizes, reports, settings."""

import pytest

from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.ui import words
from verdigris.ui.docs import field_docs


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (None, "not known")],
)
def test_times_are_said_as_one_says_them(seconds, text):
    assert words.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 bytes"), (4300, "4.3 KB"), (698_000, "698 KB"), (2.1e9, "2.1 GB")],
)
def test_sizes_are_said_as_files_show_them(count, text):
    assert words.size_of(count) == text


def test_a_report_is_said_by_what_becomes_of_each_part():
    report = {
        "parts": [
            {"name": "oren_nayar_diffuse_bsdf", "fate": "kept", "how": ""},
            {"name": "transmission", "fate": "dropped", "how": "light that passes through"},
        ]
    }
    assert words.parts_by_fate(report) == [
        ("kept", "Kept", ["oren nayar diffuse"]),
        ("dropped", "Left out", ["transmission: light that passes through"]),
    ]


def test_tooltips_are_the_docstrings_of_settings():
    docs = field_docs(BakeSettings)
    assert docs["resolution"] == "Latent texels a side. Detail finer than a texel is averaged."
    assert "draw" in docs
