"""The reader in C, under sanitizers: with libFuzzer where clang has it, else by the loop of
fuzz_header.c."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
_RUNTIME = HERE.parents[1] / "shaders" / "bundle" / "runtime"
_OPTIONS = ["-std=gnu99", "-O1", "-g", "-fno-sanitize-recover=all", "-I", str(_RUNTIME)]
# In the order of fuzz_header.c, which numbers those that there are.
_FILES = (
    "manifest.json", "weights.bin", "latents.ktx2", "emission.ktx2", "opacity.ktx2",
    "proxies.ktx2", "reference.json", "transmitted.bin", "transmitted_reference.json",
    "height.ktx2",
)  # fmt: skip
_LIMIT_MB = 512
_ASAN = f"hard_rss_limit_mb={_LIMIT_MB}:quarantine_size_mb=16"


def compile_header(output: Path, compiler: str = "", *options: str) -> Path | None:
    """The fuzzer of the reader in C; None without a compiler."""
    found = compiler or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if not found:
        return None
    command = [found, *_OPTIONS, *(options or ("-fsanitize=address,undefined",))]
    command += [str(HERE / "fuzz_header.c"), "-o", str(output), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return output


@cache
def find_libfuzzer() -> str | None:
    """A clang with its library, which Debian has in a package of its own."""
    clang = shutil.which("clang")
    if clang is None:
        return None
    asked = [clang, "--print-runtime-dir"]
    folder = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return clang if any(Path(folder).glob("libclang_rt.fuzzer*")) else None


def fuzz_header(bundle: Path, runs: int, seed: int, work: Path) -> str | None:
    """Reads damaged copies of a bundle. Returns the fault, empty if there is none; None without a
    compiler."""
    clang = find_libfuzzer()
    program = work / "fuzz_header"
    if not program.exists():
        sanitizers = ("-fsanitize=fuzzer,address,undefined", "-DVD_LIBFUZZER") if clang else ()
        if compile_header(program, clang or "", *sanitizers) is None:
            return None
    command = [str(program), str(bundle), str(runs), str(seed)]
    if clang:
        corpus = _make_corpus(bundle, work)
        command = [
            *(str(program), str(corpus), f"-runs={runs}", f"-seed={seed}", "-timeout=10"),
            *(f"-rss_limit_mb={_LIMIT_MB}", f"-artifact_prefix={work}/"),
            f"-dict={HERE / 'dictionaries' / 'json.dict'}",
        ]
    environment = {**os.environ, "VD_FUZZ_BUNDLE": str(bundle), "ASAN_OPTIONS": _ASAN}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=1800,
        env=environment,
    )
    if not done.returncode:
        return ""
    lines = [
        each for each in done.stderr.splitlines() if "ERROR" in each or "runtime error" in each
    ]
    first = lines[0] if lines else f"ended with {done.returncode}"
    return f"{first}\n{' '.join(command)}\n{done.stderr[-5000:]}"


def _make_corpus(bundle: Path, work: Path) -> Path:
    """The files of a bundle as inputs of libFuzzer, which adds those that come far."""
    corpus = work / f"corpus_{bundle.parent.name}"
    if not corpus.exists():
        corpus.mkdir()
        files = [each for each in _FILES if (bundle / each).exists()]
        for number, name in enumerate(files):
            data = (bundle / name).read_bytes()
            for checks in (0, 0x80):
                (corpus / f"{name}_{checks}").write_bytes(bytes([number | checks]) + data)
    return corpus
