"""Faulty shaders: one clear message each, and the process that tries them serves the next."""

import time

import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.shader import compile_process
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.worker.protocol.commands import Open
from verdigris.core.worker.session.opening import open_document

HEAD = "float3 response(float2 uv, float3 wi, float3 wo)"
LAMBERT = HEAD + " { return wi.z / 3.14159265; }\n"


def body(code, before=""):
    return f"{before}\n{HEAD}\n{{\n    {code}\n}}\n"


# text of the shader, what the message must contain, and other files
FAULTS = {
    "empty": ("", "is empty"),
    "blank": ("\n \n", "is empty"),
    "no function": ("float3 shade(float2 uv) { return 1; }", "has no function 'response'; its"),
    "only comments": ("// float3 response", "has no function 'response'"),
    "semicolon": (body("return wi.z"), "(5): unexpected '}', expected ';'"),
    "brace": (HEAD + " { return 1;", "shader.slang("),
    "undefined": (body("return colour;"), "(4): undefined identifier 'colour', in 'return col"),
    "misspelt type": (body("flaot3 x = 1; return x;"), "undefined identifier 'flaot3'"),
    "wrong type": (body("float3 x = uv; return x;"), "(4): "),
    "no return type": ("response(float2 uv) { return 1; }", "shader.slang("),
    "returns a number": (
        "float response(float2 uv, float3 wi, float3 wo) { return 1; }",
        "function 'response' is float response(float2, float3, float3): write float3 response(",
    ),
    "takes too little": ("float3 response(float3 wi, float3 wo) { return 1; }", "write float3"),
    "takes a struct": ("struct P { float a; }; float3 response(P p) { return 1; }", "response(P)"),
    "emission in one number": (
        LAMBERT + "float emission(float2 uv) { return 1; }",
        "function 'emission' is float emission(float2): write float3 emission(float2 uv)",
    ),
    "opacity in colour": (LAMBERT + "float3 opacity(float2 uv) { return 1; }", "is float3"),
    "marked twice": ("[VerdigrisResponse] float3 glow(float2 uv) { return 1; }", "is float3 glow"),
    "matrix": ("float3x3 turn;" + body("return mul(turn, wi);"), "'turn' has the type float3x3"),
    "array": ("float weights[4];" + body("return weights[0];"), "'weights' has the type float[4]"),
    "struct": ("struct P { float a; }; P p;" + body("return p.a;"), "'p' has the type P"),
    "cube map": ("TextureCube sky; SamplerState s;" + body("return sky.SampleLevel(s, wi, 0).rgb;"),
                 "'sky' has the type TextureCube"),
    "buffer": ("StructuredBuffer<float> table;" + body("return table[0];"),
               "parameter 'table' has no file: name an array"),
    "expression": ("static const float k = 2;\nfloat a = k * 2;" + body("return a;"),
                   "parameter 'a': the value 'k * 2' is not one number"),
    "two numbers": ("float3 tint = float3(1, 2);" + body("return tint;"), "is not 3 numbers"),
    "boolean": ("[VerdigrisValue(maybe)] bool on;" + body("return on ? 1 : 0;"), "true or false"),
    "range": ("[VerdigrisRange(1, 0)] float a;" + body("return a;"), "not two rising numbers"),
    "image": ('[VerdigrisFile("no.png")] Texture2D map; SamplerState s;'
              + body("return map.Sample(s, uv).rgb;"), "'no.png' was not found"),
    "broken image": ('[VerdigrisFile("a.png")] Texture2D map; SamplerState s;'
                     + body("return map.Sample(s, uv).rgb;"), "a.png", {"a.png": "no image"}),
    "include": ('#include "none.hlsli"\n' + LAMBERT, "(1): 'none.hlsli' was not found"),
    "long name": ('#include "' + "x" * 300 + '"\nimport ' + "y" * 300 + ";\n" + LAMBERT,
                  "xxx' was not found"),
    "include cycle": ('#include "a.h"\n' + LAMBERT,
                      "b.h(1): files include each other: shader.slang -> a.h -> b.h -> a.h",
                      {"a.h": '#include "b.h"\n', "b.h": '#include "a.h"\n'}),
    "include itself": ('#include "shader.slang"\n' + LAMBERT, "include each other"),
    "include by macro": ("#define F \"a.h\"\n#include F\n" + LAMBERT, "in quotes"),
    "include outside": (f'#include "{"../" * 40}etc/passwd"\n' + LAMBERT, "outside of the"),
    "include by path": ('#include "/etc/passwd"\n' + LAMBERT, "outside of the allowed folders"),
    "import": ("import nowhere;\n" + LAMBERT, "nowhere"),
    "large": ("/*" + "x" * (1 << 20) + "*/" + LAMBERT, "has more than 1 MB"),
    "large with includes": ("".join('#include "a.h"\n' for _ in range(9)) + LAMBERT,
                            "more than 4 MB with its incl", {"a.h": "/*" + "x" * 500_000 + "*/\n"}),
    "not text": (b"\xff\xfe\x00\x81", "is not UTF-8"),
    "error": ("#error not for you\n" + LAMBERT, "not for you"),
    "json": (LAMBERT, "shader.json: is not JSON", {"shader.json": "{"}),
    "json of something else": (LAMBERT, "is not known: use one of", {"shader.json": '{"a": 1}'}),
    "json for nothing": (LAMBERT, "'parameters.a' is not known",
                         {"shader.json": '{"parameters": {"a": {"value": 1}}}'}),
    "function in json": (LAMBERT, "has no function 'glow'",
                         {"shader.json": '{"functions": {"emission": "glow"}}'}),
    "division by zero": (body("return 1 / (wi.z - wi.z);"), "not finite, first at uv (0."),
    "root below zero": (body("return sqrt(-wi.z);"), "4,096 of 4,096 responses are not finite"),
    "negative": (body("return -wi.z;"), "responses are negative"),
    "name of the kernel": ("float gUse;" + body("return gUse;"), "'gUse'"),
}  # fmt: skip
HANGS = {
    "endless loop": (
        # llvmpipe ends a loop after 65,536 rounds
        body("float x = uv.x; while (x > -1) while (x < 9) while (x < 8) x = abs(x); return x;"),
        "does a loop never end?",
    ),
    "huge array": (
        body("float a[1 << 30]; for (int i = 0; i < 1 << 16; i++) a[i << 13] = uv.x + i;\n"
             "return a[int(uv.y * (1 << 29))];"),
        "shader.slang",
    ),
}  # fmt: skip


def refused(folder, text, files=None):
    for name, content in (files or {}).items():
        (folder / name).write_text(content)
    path = folder / "shader.slang"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(VerdigrisError) as failure:
        Teacher(load_document(path, confined=True))
    return str(failure.value)


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_shader_is_refused_with_one_line(tmp_path, name):
    text, expected, *files = FAULTS[name]
    message = refused(tmp_path, text, *files)
    assert expected in message
    assert "\n" not in message
    assert str(tmp_path / "shader") in message
    assert len(message) < 1000


@pytest.mark.parametrize("name", HANGS)
def test_a_shader_that_never_ends_is_refused_and_the_next_is_served(tmp_path, monkeypatch, name):
    monkeypatch.setitem(compile_process.LIMITS, "run", 2.0)
    text, expected = HANGS[name]
    path = tmp_path / "shader.slang"
    path.write_text(text)
    # as the panel's worker opens it: a fault is in the report
    opened = open_document(Open(path=str(path), confined=True))
    assert opened.teacher is None
    assert expected in opened.reports[0].problem
    path = tmp_path / "next.slang"
    path.write_text(LAMBERT)
    assert load_document(path).require_material().name == "next"


def test_the_process_that_tries_shaders_ends_when_it_is_idle(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_process, "MOST_IDLE", 0.05)
    (tmp_path / "a.slang").write_text(LAMBERT.replace("3.14159265", "3.1415926"))
    load_document(tmp_path / "a.slang")
    process = compile_process.COMPILE_PROCESS
    end = time.monotonic() + 10
    while process.is_running and time.monotonic() < end:
        time.sleep(0.01)
    assert not process.is_running
    (tmp_path / "a.slang").write_text(LAMBERT.replace("3.14159265", "3.141592"))
    assert load_document(tmp_path / "a.slang").require_material().name == "a"
