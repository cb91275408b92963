"""The grammar of a challenge line: honest forms go in as they are, whatever could reach an address or the system does not."""

import pytest

from kernels.compare import challenge, challenge_own, challenge_statement
from kernels.line import LineRefused, bare, tokens
from kernels.sources import load_source
from kernels.spec import registry

K = "mbarrier_handshake"
HAVE = [n for n, s in registry().items() if "CHALLENGE-BEGIN" in load_source(s.source).text]


@pytest.mark.parametrize("kernel", HAVE)
def test_every_kernels_own_line_is_admitted_and_unchanged(kernel):
    own = challenge_own(kernel)
    assert challenge_statement(kernel, own) == own
    value = own.partition(" = ")[2].rstrip(";")
    assert challenge_statement(kernel, value) == challenge_statement(kernel, value + "  // why") == own


HONEST = [
    (
        "roofline_probe",
        "const float ai = flops / bytes; const float roof = bytes > 0.0f ? fminf(peak, bandwidth * ai) : peak;",
        None,
    ),
    (
        "roofline_probe",
        "bytes > 0.0f and not (peak < 0) ? fmin(peak, bandwidth * (flops / bytes)) : peak /* FLOP/s */",
        "const float roof = bytes > 0.0f and not (peak < 0) ? fmin(peak, bandwidth * (flops / bytes)) : peak;",
    ),
    (
        "roofline_probe",
        "float roof = peak; if (bytes > 0) roof = fminf(roof, bandwidth * flops / bytes)",
        "float roof = peak; if (bytes > 0) roof = fminf(roof, bandwidth * flops / bytes);",
    ),
    (
        "roofline_probe",
        "roof = bytes > 0.0f ? fminf(peak, bandwidth * (flops / bytes)) : peak",
        "const float roof = bytes > 0.0f ? fminf(peak, bandwidth * (flops / bytes)) : peak;",
    ),
    ("stream_copy", "const float needed = 1'000 * bandwidth * latency / 1e3f;", None),
    ("stream_copy", "const float in_flight_ = bandwidth * latency, needed = in_flight_;", None),
    (K, "unsigned long expected = 0b10 * HALF_BYTES;", None),
    (K, "uint32_t expected = sizeof(sm.box[b]);", None),
    (K, "uint32_t expected(2 * HALF_BYTES)", "uint32_t expected(2 * HALF_BYTES);"),
    (
        K,
        "uint32_t expected = HALF_BYTES; expected += HALF_BYTES",
        "uint32_t expected = HALF_BYTES; expected += HALF_BYTES;",
    ),
    (
        "tma_tile_copy",
        "uint32_t c = byte / 16; row * ROW_BYTES + (c xor row % 8) * 16",
        "uint32_t c = byte / 16; uint32_t offset = row * ROW_BYTES + (c xor row % 8) * 16;",
    ),
    ("wgmma_tile", "Coordinates{.row = t, .column = r}", "const Coordinates at = Coordinates{.row = t, .column = r};"),
    ("wgmma_tile", "const int warp = t / 32, lane = t % 32; const Coordinates at = {16 * warp + lane / 4, r,};", None),
    ("wgmma_tile", "const Coordinates at = {accumulator_row(t, r), accumulator_column(t, r)};", None),
    ("ring_pipeline", "Place next = p; if (++next.index == STAGES) next.index = 0, next.phase ^= 1;", None),
    (
        "ring_pipeline",
        "const int i = (p.index + 1) % STAGES; Place next = {i, i ? p.phase : p.phase ^ 1}",
        "const int i = (p.index + 1) % STAGES; Place next = {i, i ? p.phase : p.phase ^ 1};",
    ),
    (
        "ring_pipeline",
        "Place next = p; if (p.index + 1 == STAGES) { next = {0, p.phase ^ 1}; } else { next.index++; }",
        "Place next = p; if (p.index + 1 == STAGES) { next = {0, p.phase ^ 1}; } else { next.index++; };",
    ),
    ("linear_epilogue", "bool read_c = fabsf(beta) > 0.0f;", None),
    (
        "linear_epilogue",
        "bool\tread_c = static_cast<bool>(beta);  // 仅当 beta 非零　全角空格也行",
        "bool\tread_c = static_cast<bool>(beta);",
    ),
    ("linear_epilogue", "bool read_c{beta != 0.0f}", "bool read_c{beta != 0.0f};"),
    ("gemm_dispatch", "static constexpr int ACCUMULATORS = TILE_M * TILE_N / (CONSUMERS * WARPGROUP);", None),
    ("gemm_dispatch", "inline constexpr auto ACCUMULATORS = TILE_M * TILE_N / (CONSUMERS * WARPGROUP);", None),
    ("gemm_dispatch", "enum { ACCUMULATORS = TILE_M * TILE_N / (CONSUMERS * WARPGROUP) };", None),
]


@pytest.mark.parametrize(("kernel", "line", "becomes"), HONEST)
def test_honest_forms(kernel, line, becomes):
    assert challenge_statement(kernel, line) == (becomes or line)


@pytest.mark.parametrize(
    "line",
    [
        # native code: immediates, a jump, a way to an address
        "uint32_t expected = 2 * HALF_BYTES; auto f=+[](int*x){*x=0xc3050f;};auto y=(int(*)(...))((size_t)f+11);",
        "uint32_t expected = 1; auto f=[&](auto f)->void{ f(f); }; f(f);",
        "uint32_t expected = (int(*)(...))b;",
        "uint32_t expected = static_cast<int(int)>(b);",
        "uint32_t expected = reinterpret_cast<uint64_t>(b);",
        "uint32_t expected = 0xc3050f0000;",
        "uint32_t expected = *sm;",
        "uint32_t expected = &b == 0;",
        "uint32_t expected = map->x;",
        "uint32_t expected = sm.box[b][0];",
        "uint32_t* expected = 0;",
        "auto& r = b; uint32_t expected = 1;",
        "uint32_t expected = sizeof(int*);",
        # writes to what is not its own
        "sm.box[0] = 1;",
        "uint32_t expected = 1; b = 3;",
        "uint32_t expected = 1; (b)++;",
        "uint32_t expected = 1; if (b) { int b = 0; } b = 2;",
        "uint32_t expected = 1; if (b) int b = 0; else b = 2;",
        "auto sm = b; uint32_t expected = 1;",
        # memory
        "uint32_t expected = 1; int d[200000000] = {1};",
        "uint32_t expected = 1; uint64_t v[] = {1};",
        # calls and declarations of functions
        "uint32_t expected = 1; mbarrier_wait(b, 1);",
        "uint32_t expected = 1; extern int system(int);",
        "uint32_t expected = 1; int abort(); abort();",
        "uint32_t expected = 1; int system(int); system(1);",
        "uint32_t expected = BUGGY(no_full_wait);",
        "uint32_t expected = std::abs(1);",
        "uint32_t expected = new int;",
        "uint32_t expected = decltype(b)(1);",
        # never ends
        "for (;;);",
        "uint32_t expected = 1; while (true);",
        "uint32_t expected = 1; goto x;",
        # another text for the compiler than for us
        "uint32_t expected = 1; //\r __builtin_trap();",
        "uint32_t expected = 1; //\x0c x",
        "uint32_t expected = 1; //\x85 x",
        "uint32_t expected = 1; // \u2028 x",
        "uint32_t expected\u3000= 1;",
        "uint32_t\u00a0expected = 1;",
        "uint32_t expected = 1; /*",
        "uint32_t expected = 1; \\",
        "uint32_t expected = <:1:>;",
        "uint32_t expected = 1'; 2;",
        "uint32_t expected = 1'000';",
        "uint32_t expected = a\ud800;",
        "uint32_t expected = u8'a';",
        "#define expected 1",
        "uint32_t expected = 1; [[gnu::x]] int y = 1;",
        "uint32_t expected = 1; asm(1);",
        # too much of it
        "uint32_t expected = " + "!" * 300 + "1;",
        "uint32_t expected = " + "(" * 180 + "1" + ")" * 180 + ";",
        "uint32_t expected = 1;" + "if(b)" * 70 + ";",
        "{" * 100,
        "x" * 401,
        "1 //" + "x" * 1000,
        "",
        "  // nothing",
        "uint32_t expected = 1;\nint y;",
    ],
)
def test_what_is_no_form_is_refused_in_both_languages(line):
    with pytest.raises(LineRefused) as e:
        challenge_statement(K, line)
    assert e.value.zh.endswith("。") and e.value.en.endswith(".") and str(e.value) == e.value.en
    assert all(c.isprintable() for c in e.value.zh + e.value.en)


def test_the_reason_says_what_is_taken():
    with pytest.raises(LineRefused, match="uses offset. It may use .* that it declares itself, .* fminf"):
        challenge_statement(K, "uint32_t expected = offset;")
    with pytest.raises(LineRefused, match="may not call system. It may call abs"):
        challenge_statement(K, "uint32_t expected = system(1);")
    with pytest.raises(LineRefused, match="does not compile: a value is missing before `;`"):
        challenge_statement("linear_epilogue", "beta !=")


def test_equal_by_tokens():
    text = lambda line: [t.text for t in tokens(bare(line))]
    assert text("bool  read_c=beta!=0.0f;// x") == text("bool read_c = beta /* y */ != 0.0f;") and text(
        "a and b"
    ) == text("a&&b")
    assert text("beta - -1") != text("beta --1") and text("1'000") == ["1'000"]


@pytest.mark.emulator
@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        (
            "roofline_probe",
            "const float ai = flops / bytes; const float roof = bytes > 0.0f and true ? fmin(peak, bandwidth * ai) : peak",
        ),
        (
            "ring_pipeline",
            "Place next = p; if (p.index + 1 == STAGES) { next = {0, p.phase ^ 1}; } else { next.index++; }",
        ),
        ("tma_tile_copy", "const uint32_t c = byte / 16; row * ROW_BYTES + (c xor row % 8) * 16"),
        ("wgmma_tile", "const Coordinates at = {accumulator_row(t, r), accumulator_column(t, r)}"),
        ("gemm_dispatch", "enum { ACCUMULATORS = TILE_M * TILE_N / (CONSUMERS * WARPGROUP) };"),
    ],
)
def test_admitted_forms_compile_and_are_right(kernel, line):
    found = challenge(kernel, challenge_statement(kernel, line), count=2)
    assert found.passed, str(found)
