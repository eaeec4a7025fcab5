"""Makes one WebAssembly object of the LLVM code of all kernels. llvmlite does all of it; there is no other tool.

1. Rewrite: another processor, no calls of Python (a kernel that reaches one fails, as it would there), and square root
   and floor as instructions instead of the C library's functions.
2. Link everything and let nothing be seen from outside but the kernels.
3. Optimise with every fused multiply-add under the name of one that may be split: that one LLVM turns into vectors.
4. Put in its place the fused multiply-add of the variant, and optimise again.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from nematodebench.browser.runtime import EXPORTED, LAYOUT, TRIPLE, fused, runtime

__all__ = ["FEATURES", "ShortNames", "linked", "object_code", "vectorised"]

FEATURES = {
    "relaxed": "+simd128,+relaxed-simd,+bulk-memory,+nontrapping-fptoint,+sign-ext",
    "exact": "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext",
}
_LIBRARY = {"sqrt": "llvm.sqrt.f64", "sqrtf": "llvm.sqrt.f32", "floor": "llvm.floor.f64"}
_KINDS = {"f64": "double", "f32": "float"}
_FOR_PYTHON = re.compile(r"^define [^\n]*@(?:_ZN7cpython|cfunc\.)[^\n]*\{\n.*?^\}\n", re.MULTILINE | re.DOTALL)
_OF_PYTHON = re.compile(r"^declare ([^@\n]*)@((?:Py|_Py|numba_)\w*)\(([^\n]*)\)[^\n]*$", re.MULTILINE)
_VARIADIC = re.compile(r"call ptr \(ptr, \.\.\.\) @PyObject_CallFunctionObjArgs")
_BUFFER = re.compile(r"^(@\.const\.picklebuf\.\S+ = internal constant )(\{ [^}]*\}) \{.*$", re.MULTILINE)
_MANGLED = re.compile(r"(?<=[@%])_ZN[\w.$]+|^_ZN[\w.$]+(?=:)", re.MULTILINE)
_FUSED = re.compile(r"@llvm\.fma\.(?=v?\d*f)")
_SPLITTABLE = re.compile(r"@llvm\.fmuladd\.(?=v?\d*f)")
_NAMED = re.compile(r"@nb\.fma\.v(\d+)f(32|64)\b")
_DEFINED = re.compile(r"^(?:define|declare) [^@\n]*@([\w.$]+)\(", re.MULTILINE)
_DECLARED = re.compile(r"^declare [^@\n]*@([\w.$]+)\([^\n]*$", re.MULTILINE)
_INTRINSIC = re.compile(r"^declare [^\n]*@nb\.fma\.[^\n]*$", re.MULTILINE)


def _unreachable(found: re.Match[str]) -> str:
    """A function of Python, which is never called here: code that would is removed."""
    kind, name, given = found.groups()
    if name == "PyObject_CallFunctionObjArgs":
        given = "ptr, ptr, ptr, ptr"
    return f"define internal {kind.replace('noalias ', '')}@{name}({given}) alwaysinline {{\n  unreachable\n}}"


def rewritten(text: str) -> str:
    """A kernel's module for the other processor."""
    text = _FOR_PYTHON.sub("", text)
    text = re.sub(r'^target datalayout = ".*"$', f'target datalayout = "{LAYOUT}"', text, flags=re.MULTILINE)
    text = re.sub(r'^target triple = ".*"$', f'target triple = "{TRIPLE}"', text, flags=re.MULTILINE)
    text = _VARIADIC.sub("call ptr @PyObject_CallFunctionObjArgs", text)
    text = _OF_PYTHON.sub(_unreachable, text)
    text = text.replace(" = common global ", " = linkonce global ")
    text = _BUFFER.sub(r"\1\2 zeroinitializer", text)
    text = re.sub(r"^declare void @NRT_MemInfo_call_dtor.*$", "", text, flags=re.MULTILINE).replace(
        "call void @NRT_MemInfo_call_dtor", "call void @nb.no_destructor"
    )
    for name, instruction in _LIBRARY.items():
        if f"declare {_KINDS[instruction[-3:]]} @{instruction}(" in text:  # a module may use both
            text = re.sub(rf"^declare \w+ @{name}\(.*$", "", text, flags=re.MULTILINE)
        text = text.replace(f"@{name}(", f"@{instruction}(")
    return text + "\ndefine internal void @nb.no_destructor(ptr %info) alwaysinline {\n  ret void\n}\n"


def _machine(variant: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(features=FEATURES[variant], opt=3, reloc="static")


def _optimise(module: Any, machine: Any, level: int = 3) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_unrolling = False  # modules are a third smaller
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _hide(module: Any, exported: set[str]) -> None:
    """Nothing but what is exported can be seen, so that what nobody uses goes away."""
    for value in [*module.functions, *module.global_variables]:
        if not value.is_declaration and value.name not in exported:
            value.linkage = llvm.Linkage.internal


class ShortNames:
    """Short names for those that Numba makes: LLVM cuts long ones, and takes two that are cut for the same."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The short name."""
        return self._given.setdefault(name, f"f{len(self._given)}")

    def put(self, text: str) -> str:
        """A text with short names in it."""
        return _MANGLED.sub(lambda found: self.of(found[0]), text)


def linked(folder: Path, files: Iterable[str], names: ShortNames) -> Any:
    """All kernels of a folder and the runtime in one module, before anything is optimised.

    Args:
        folder: Where the files are.
        files: Their names.
        names: The names that symbols get.
    """
    module = llvm.parse_assembly(runtime())
    for file in files:
        text = rewritten((folder / file).read_text(encoding="utf-8"))
        module.link_in(llvm.parse_assembly(names.put(text)))
    module.verify()
    return module


def vectorised(module: Any, exported: set[str]) -> str:
    """The optimised module, in which a fused multiply-add is still an instruction of LLVM."""
    text = _FUSED.sub("@llvm.fmuladd.", str(module))
    module = llvm.parse_assembly(text)
    _hide(module, exported | {*EXPORTED, "__multi3"})
    _optimise(module, _machine("exact"))
    return _SPLITTABLE.sub("@llvm.fma.", str(module))


def _wider(lanes: int, bits: str) -> str:
    """A fused multiply-add of vectors that are longer or shorter than those of the machine."""
    own, kind = (4, "float") if bits == "32" else (2, "double")
    wide, part = f"<{lanes} x {kind}>", f"<{own} x {kind}>"
    head = f"define internal {wide} @nb.fma.v{lanes}f{bits}({wide} %a, {wide} %b, {wide} %c) alwaysinline {{\n"
    lines, pieces = [], []
    for start in range(0, lanes, own):
        places = ", ".join(f"i32 {n}" if n < lanes else "i32 poison" for n in range(start, start + own))
        for name in "abc":
            lines.append(f"  %{name}{start} = shufflevector {wide} %{name}, {wide} poison, <{own} x i32> <{places}>")
        given = ", ".join(f"{part} %{name}{start}" for name in "abc")
        lines.append(f"  %r{start} = call {part} @nb.fma.v{own}f{bits}({given})")
        pieces.append((f"%r{start}", own))
    while len(pieces) > 1 and pieces[0][1] < lanes:
        (left, width), (right, _) = pieces[:2]
        joined = f"%j{len(lines)}"
        places = ", ".join(f"i32 {n}" for n in range(2 * width))
        of = f"<{width} x {kind}>"
        lines.append(f"  {joined} = shufflevector {of} {left}, {of} {right}, <{2 * width} x i32> <{places}>")
        pieces = [*pieces[2:], (joined, 2 * width)]
    last, width = pieces[0]
    if width > lanes:
        places = ", ".join(f"i32 {n}" for n in range(lanes))
        lines.append(f"  %cut = shufflevector {part} {last}, {part} poison, <{lanes} x i32> <{places}>")
        last = "%cut"
    return head + "\n".join(lines) + f"\n  ret {wide} {last}\n}}\n"


def object_code(text: str, variant: str, exported: set[str], exact: tuple[str, str]) -> bytes:
    """The object of a variant.

    Args:
        text: What :func:`vectorised` gave.
        variant: ``relaxed`` or ``exact``.
        exported: Names of the functions that can be called from outside.
        exact: Names of the functions that multiply and add exactly.
    """
    text = _INTRINSIC.sub("", _FUSED.sub("@nb.fma.", text))
    widths = {(int(lanes), bits) for lanes, bits in _NAMED.findall(text)} | {(4, "32"), (2, "64")}
    more = "".join(_wider(*one) for one in sorted(widths - {(4, "32"), (2, "64")}))
    here = set(_DEFINED.findall(text))
    functions = _DECLARED.sub(lambda found: "" if found[1] in here else found[0], fused(variant, *exact))
    body = functions.split("\n", 2)[2].replace("!0", "!9000000")
    module = llvm.parse_assembly(text + body + more)
    _hide(module, exported | {*EXPORTED, "__multi3"})
    machine = _machine(variant)
    _optimise(module, machine)
    module.verify()
    return bytes(machine.emit_object(module))
