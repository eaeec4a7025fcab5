"""What kernels need beside themselves, in LLVM's language: memory, multiplication, fused multiply-add, and hooks.

| function | what it is for |
|---|---|
| ``nb_watched_step``, ``nb_watched_act`` | take the place of a world's step or a brain's act: they call it, and then tell the page, which reads what it wants to show |
| ``nb_watch_step``, ``nb_watch_act`` | say which functions those two call, by their place in the table |
| ``nb_heap`` | says where memory begins that kernels may take; it is never given back |
"""  # noqa: E501

__all__ = ["EXPORTED", "LAYOUT", "TRIPLE", "fused", "runtime"]

TRIPLE = "wasm32-unknown-unknown"
LAYOUT = "e-m:e-p:32:32-p10:8:8-p20:8:8-i64:64-i128:128-n32:64-S128-ni:1:10:20"
EXPORTED = ("nb_watched_step", "nb_watched_act", "nb_watch_step", "nb_watch_act", "nb_heap")

_HEAD = f'target datalayout = "{LAYOUT}"\ntarget triple = "{TRIPLE}"\n'
_VECTOR = "ptr {0}0, ptr {0}1, i64 {0}2, i64 {0}3, ptr {0}4, i64 {0}5, i64 {0}6"
_MATRIX = "ptr {0}0, ptr {0}1, i64 {0}2, i64 {0}3, ptr {0}4, i64 {0}5, i64 {0}6, i64 {0}7, i64 {0}8"
_WORLD = (_VECTOR, _VECTOR, _VECTOR, _MATRIX, _MATRIX, _VECTOR)
_BRAIN = (_VECTOR, _VECTOR, _VECTOR, _VECTOR, _MATRIX, _MATRIX, _VECTOR)

# The allocator writes the head that Numba reads: count, two functions, the address of the data, its size.
_MEMORY = """
%info = type { i64, ptr, ptr, ptr, i64 }
@heap = internal global i32 0

define void @nb_heap(i32 %place) {
  store i32 %place, ptr @heap
  ret void
}

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %old = load i32, ptr @heap
  %up = add i32 %old, 127
  %place = and i32 %up, -64
  %data = add i32 %place, 64
  %bytes = trunc i64 %size to i32
  %end = add i32 %data, %bytes
  store i32 %end, ptr @heap
  %info = inttoptr i32 %place to ptr
  %pointer = inttoptr i32 %data to ptr
  store i64 1, ptr %info
  %at = getelementptr %info, ptr %info, i32 0, i32 3
  store ptr %pointer, ptr %at
  %last = getelementptr %info, ptr %info, i32 0, i32 4
  store i64 %size, ptr %last
  ret ptr %info
}
"""

# LLVM would recognise what this does and call it for that, so it must not be optimised.
_MULTIPLY = """
define void @__multi3(ptr %to, i64 %a, i64 %ah, i64 %b, i64 %bh) noinline optnone {
  %a0 = and i64 %a, 4294967295
  %a1 = lshr i64 %a, 32
  %b0 = and i64 %b, 4294967295
  %b1 = lshr i64 %b, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %c0 = lshr i64 %p00, 32
  %m0 = and i64 %p01, 4294967295
  %m1 = add i64 %c0, %m0
  %mid = add i64 %m1, %p10
  %c1 = lshr i64 %p01, 32
  %c2 = lshr i64 %mid, 32
  %h0 = add i64 %p11, %c1
  %h1 = add i64 %h0, %c2
  %x0 = mul i64 %ah, %b
  %x1 = mul i64 %a, %bh
  %h2 = add i64 %h1, %x0
  %high = add i64 %h2, %x1
  %low = mul i64 %a, %b
  store i64 %low, ptr %to
  %at = getelementptr i64, ptr %to, i32 1
  store i64 %high, ptr %at
  ret void
}
"""


def _watched(kind: str, arrays: tuple[str, ...]) -> str:
    given = ", ".join(array.format(f"%{name}") for name, array in zip("abcdefg", arrays, strict=False))
    return f"""
@{kind} = internal global ptr null
declare void @nb_after_{kind}()

define void @nb_watch_{kind}(ptr %function) {{
  store ptr %function, ptr @{kind}
  ret void
}}

define i32 @nb_watched_{kind}(ptr %r, ptr %x, {given}) {{
  %function = load ptr, ptr @{kind}
  %status = call i32 %function(ptr %r, ptr %x, {given})
  call void @nb_after_{kind}()
  ret i32 %status
}}
"""


def runtime() -> str:
    """The module that all others are linked with."""
    return _HEAD + _MEMORY + _MULTIPLY + _watched("step", _WORLD) + _watched("act", _BRAIN)


_RELAXED = """
declare <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare <2 x double> @llvm.wasm.relaxed.madd.v2f64(<2 x double>, <2 x double>, <2 x double>)

define internal <4 x float> @nb.fma.v4f32(<4 x float> %a, <4 x float> %b, <4 x float> %c) alwaysinline {
  %r = call <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float> %a, <4 x float> %b, <4 x float> %c)
  ret <4 x float> %r
}

define internal <2 x double> @nb.fma.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %c) alwaysinline {
  %r = call <2 x double> @llvm.wasm.relaxed.madd.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %c)
  ret <2 x double> %r
}

define internal float @nb.fma.f32(float %a, float %b, float %c) alwaysinline {
  %x = insertelement <4 x float> poison, float %a, i32 0
  %y = insertelement <4 x float> poison, float %b, i32 0
  %z = insertelement <4 x float> poison, float %c, i32 0
  %u = shufflevector <4 x float> %x, <4 x float> poison, <4 x i32> zeroinitializer
  %v = shufflevector <4 x float> %y, <4 x float> poison, <4 x i32> zeroinitializer
  %w = shufflevector <4 x float> %z, <4 x float> poison, <4 x i32> zeroinitializer
  %s = call <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float> %u, <4 x float> %v, <4 x float> %w)
  %r = extractelement <4 x float> %s, i32 0
  ret float %r
}

define internal double @nb.fma.f64(double %a, double %b, double %c) alwaysinline {
  %x = insertelement <2 x double> poison, double %a, i32 0
  %y = insertelement <2 x double> poison, double %b, i32 0
  %z = insertelement <2 x double> poison, double %c, i32 0
  %u = shufflevector <2 x double> %x, <2 x double> poison, <2 x i32> zeroinitializer
  %v = shufflevector <2 x double> %y, <2 x double> poison, <2 x i32> zeroinitializer
  %w = shufflevector <2 x double> %z, <2 x double> poison, <2 x i32> zeroinitializer
  %s = call <2 x double> @llvm.wasm.relaxed.madd.v2f64(<2 x double> %u, <2 x double> %v, <2 x double> %w)
  %r = extractelement <2 x double> %s, i32 0
  ret double %r
}
"""

# A sum of float64 that is half way between two float32, or too small for all digits of one (below 2**-126), is
# rounded with care. Vectors compare floating-point numbers: WebAssembly compares no vectors of unsigned integers.
_EXACT = """
declare i32 @{fma32}(ptr, ptr, double, double)
declare i32 @{fma64}(ptr, ptr, double, double, double)

define internal float @nb.fma.slow(double %p, double %c) noinline {{
  %r = alloca float
  %x = alloca ptr
  %status = call i32 @{fma32}(ptr %r, ptr %x, double %p, double %c)
  %value = load float, ptr %r
  ret float %value
}}

define internal double @nb.fma.f64(double %a, double %b, double %c) noinline {{
  %r = alloca double
  %x = alloca ptr
  %status = call i32 @{fma64}(ptr %r, ptr %x, double %a, double %b, double %c)
  %value = load double, ptr %r
  ret double %value
}}

define internal <2 x double> @nb.fma.v2f64(<2 x double> %a, <2 x double> %b, <2 x double> %c) alwaysinline {{
{pair}}}

define internal float @nb.fma.f32(float %a, float %b, float %c) alwaysinline {{
  %da = fpext float %a to double
  %db = fpext float %b to double
  %dc = fpext float %c to double
  %p = fmul double %da, %db
  %s = fadd double %p, %dc
  %bits = bitcast double %s to i64
  %low = and i64 %bits, 536870911
  %middle = icmp eq i64 %low, 268435456
  %size = and i64 %bits, 9223372036854775807
  %less = add i64 %size, -1
  %small = icmp ult i64 %less, 4039728865751334911
  %look = or i1 %middle, %small
  br i1 %look, label %slow, label %fast, !prof !0
fast:
  %quick = fptrunc double %s to float
  ret float %quick
slow:
  %value = call float @nb.fma.slow(double %p, double %dc)
  ret float %value
}}

define internal <4 x float> @nb.fma.v4f32(<4 x float> %a, <4 x float> %b, <4 x float> %c) noinline {{
  %da = fpext <4 x float> %a to <4 x double>
  %db = fpext <4 x float> %b to <4 x double>
  %dc = fpext <4 x float> %c to <4 x double>
  %p = fmul <4 x double> %da, %db
  %s = fadd <4 x double> %p, %dc
  %bits = bitcast <4 x double> %s to <4 x i64>
  %low = and <4 x i64> %bits, splat (i64 536870911)
  %middle = icmp eq <4 x i64> %low, splat (i64 268435456)
  %size = call <4 x double> @llvm.fabs.v4f64(<4 x double> %s)
  %less = fcmp olt <4 x double> %size, splat (double 0x3810000000000000)
  %more = fcmp one <4 x double> %s, zeroinitializer
  %small = and <4 x i1> %less, %more
  %look = or <4 x i1> %middle, %small
  %any = call i1 @llvm.vector.reduce.or.v4i1(<4 x i1> %look)
  br i1 %any, label %slow, label %fast, !prof !0
fast:
  %quick = fptrunc <4 x double> %s to <4 x float>
  ret <4 x float> %quick
slow:
{quad}}}

declare i1 @llvm.vector.reduce.or.v4i1(<4 x i1>)
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)
!0 = !{{!"branch_weights", i32 1, i32 1000000}}
"""


def _lane_by_lane(lanes: int, kind: str, names: tuple[str, ...], sources: str, function: str) -> str:
    """The body of a function of vectors that calls one of numbers for each lane."""
    lines, made = [], "poison"
    inner = "double"
    for n in range(lanes):
        taken = []
        for name, source in zip(names, sources, strict=True):
            lines.append(f"  %{name}{n} = extractelement <{lanes} x {inner}> %{source}, i32 {n}")
            taken.append(f"{inner} %{name}{n}")
        lines.append(f"  %v{n} = call {kind} @{function}({', '.join(taken)})")
        lines.append(f"  %w{n} = insertelement <{lanes} x {kind}> {made}, {kind} %v{n}, i32 {n}")
        made = f"%w{n}"
    return "\n".join([*lines, f"  ret <{lanes} x {kind}> {made}\n"])


def fused(variant: str, fma32: str, fma64: str) -> str:
    """The module with the fused multiply-add of a variant; the names are those of the exact functions."""
    if variant == "relaxed":
        return _HEAD + _RELAXED
    pair = _lane_by_lane(2, "double", ("x", "y", "z"), "abc", "nb.fma.f64")
    quad = _lane_by_lane(4, "float", ("x", "y"), "pd", "nb.fma.slow").replace("> %d,", "> %dc,")
    return _HEAD + _EXACT.format(fma32=fma32, fma64=fma64, pair=pair, quad=quad)
