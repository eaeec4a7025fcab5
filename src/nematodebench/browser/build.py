"""Builds the modules for pages: ``python -m nematodebench.browser.build [FOLDER]``, or ``make wasm``.

Both variants come from the same LLVM code and differ in their fused multiply-add alone. The same sources and the same
versions of Python, Numba and llvmlite give the same bytes.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from nematodebench.browser.extract import EXACT
from nematodebench.browser.link import ShortNames, linked, object_code, vectorised
from nematodebench.browser.runtime import EXPORTED
from nematodebench.browser.sources import BUILT, VARIANTS, sources_hash
from nematodebench.browser.wasm_file import data_end, imports, module_of
from nematodebench.files import atomic_write

__all__ = ["build"]

_ASKED_OF_THE_PAGE = {"nb_after_step", "nb_after_act", "fmod"}
"""The hooks, and the remainder of a division, which is exact in JavaScript."""


def _extract(folder: Path) -> dict[str, dict[str, str]]:
    """The LLVM code of all kernels, from a process that optimises nothing and has nothing compiled before."""
    environment = {
        **os.environ, "NUMBA_OPT": "0", "NEMATODEBENCH_CACHE_DIR": str(folder / "cache"), "PYTHONHASHSEED": "0",
    }  # fmt: skip
    command = [sys.executable, "-m", "nematodebench.browser.extract", str(folder)]
    subprocess.run(command, check=True, env=environment)
    found: dict[str, dict[str, str]] = json.loads((folder / "kernels.json").read_text(encoding="utf-8"))
    return found


def _modules(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """The modules of both variants, and the kernels in them."""
    kernels, names = _extract(folder), ShortNames()
    module = linked(folder, [kernel["file"] for kernel in kernels.values()], names)
    symbols = {key: names.of(kernel["symbol"]) for key, kernel in kernels.items()}
    exact = (symbols[EXACT[0]], symbols[EXACT[1]])
    text = vectorised(module, set(symbols.values()))
    exported = {key: symbol for key, symbol in symbols.items() if key not in EXACT}
    exported |= {name: name for name in EXPORTED}
    made = {}
    for variant in VARIANTS:
        made[variant] = module_of(object_code(text, variant, set(exported.values()), exact), exported)
        if unknown := set(imports(made[variant])) - _ASKED_OF_THE_PAGE:
            raise RuntimeError(f"the kernels call what a page does not have: {', '.join(sorted(unknown))}")
    return made, sorted(exported)


def build(folder: Path = BUILT) -> dict[str, Any]:
    """Builds both variants into a folder, with ``manifest.json``; returns what that says."""
    hashed = sources_hash()  # before anything else: what is edited while this runs is not in it
    with tempfile.TemporaryDirectory() as temporary:
        modules, kernels = _modules(Path(temporary))
    folder.mkdir(parents=True, exist_ok=True)
    for variant, content in modules.items():
        atomic_write(folder / f"{variant}.wasm", content)
    versions = {name: importlib.metadata.version(name) for name in ("numba", "llvmlite")}
    manifest = {
        "sources": hashed,
        "versions": versions,
        "kernels": kernels,
        "data_end": {variant: data_end(content) for variant, content in modules.items()},
    }
    atomic_write(folder / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())
    return manifest


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT)
