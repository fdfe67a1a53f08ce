"""The text of a shader: how images are sampled, and texts that would take minutes to read."""

import time

import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.files.paths import SearchPath
from verdigris.core.material.shader.declarations import read_declarations
from verdigris.core.material.shader.expand import expand_shader
from verdigris.core.material.shader.from_hlsl import from_hlsl
from verdigris.core.material.shader.reached_code import names_behind, without_unused


def expanded(folder, text):
    path = folder / "a.slang"
    path.write_text(text)
    return expand_shader(path, SearchPath.of(folder, True)).text


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("m.Sample(s, uv)", "m.SampleLevel(s, uv, 0.0)"),
        ("m.Sample(s, n.Sample(s, uv).xy)", "m.SampleLevel(s, n.SampleLevel(s, uv, 0.0).xy, 0.0)"),
        ("m.Sample(s, f(a, b), int2(1, 0))", "m.SampleLevel(s, f(a, b), 0.0, int2(1, 0))"),
        ("m.SampleBias(s, uv, -1)", "m.SampleLevel(s, uv, 0.0)"),
        ("m.SampleGrad(s, uv, x, y)", "m.SampleGrad(s, uv, x, y)"),
        ("Sample(uv) // m.Sample(s, uv)", "Sample(uv) // m.Sample(s, uv)"),
        ("queue.Sample()", "queue.Sample()"),
    ],
)
def test_images_are_sampled_with_a_level(tmp_path, call, expected):
    assert f"\n{expected}\n" in expanded(tmp_path, f"\n{call}\n")


@pytest.mark.parametrize(
    "text",
    [
        "m.Sample(" * 110_000,
        "namespace a{" * 80_000,
        "[VerdigrisRange(" * 60_000,
        "float a : register(" * 50_000,
        "float a" + ", b" * 300_000 + ";",
        "template<typename T> T f(T a){" * 30_000,
        "struct A{" * 100_000,
    ],
    ids=["samples", "namespaces", "attributes", "registers", "names", "templates", "types"],
)
def test_a_megabyte_of_one_thing_is_read_in_seconds(tmp_path, text):
    began = time.process_time()
    found = expanded(tmp_path, text)
    read_declarations(found).rewritten(())
    names_behind(found, ["response"])
    from_hlsl(text)
    without_unused(text, ["response"])
    assert time.process_time() - began < 10


def test_code_of_one_branch_is_included_in_each(tmp_path):
    (tmp_path / "once.h").write_text("#pragma once\nfloat one;\n")
    text = expanded(tmp_path, '#if 0\n#include "once.h"\n#endif\n#include "once.h"\n')
    assert text.count("float one;") == 2 and text.count("#ifndef VERDIGRIS_ONCE_1") == 2
    with pytest.raises(DocumentError, match=r"a\.slang: 'A B' cannot be defined"):
        expand_shader(tmp_path / "a.slang", SearchPath(), {"A B": "1"})
