"""The facts about CPUs in targets.toml against clang's own, and the generator that makes C of them."""

import ctypes
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from olpick.elf import targets

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "shim" / "native" / "generate.py"
INPUTS = {
    "codes": ROOT / "elf" / "data" / "codes.toml",
    "targets": ROOT / "elf" / "data" / "targets.toml",
    "controls": ROOT / "shim" / "data" / "controls.toml",
}
OUTPUTS = ("olpick_codes.h", "olpick_tables.h", "olpick_tables.c")
TARGET = "--target=x86_64-pc-linux-gnu"

# The psABI's own lists, in its spelling; FPU, OSFXSR, OSXSAVE and SCE are the system's.
PSABI = {
    "x86-64": "CMOV CX8 FXSR MMX SSE SSE2",
    "x86-64-v2": "CMPXCHG16B LAHF-SAHF POPCNT SSE3 SSE4_1 SSE4_2 SSSE3",
    "x86-64-v3": "AVX AVX2 BMI1 BMI2 F16C FMA LZCNT MOVBE",
    "x86-64-v4": "AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL",
}
LLVM_SPELLING = {"CMPXCHG16B": "cx16", "LAHF-SAHF": "sahf", "SSE4_1": "sse4.1", "SSE4_2": "sse4.2", "BMI1": "bmi"}


# ---- Against clang


def run(*command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


def printed_features(clang: str, march: str) -> dict[str, bool] | None:
    """Every feature that clang writes into a function's attributes, with whether it is on; None for an unknown name."""
    done = run(clang, TARGET, f"-march={march}", "-x", "c", "-S", "-emit-llvm", "-", "-o", "-", text="void f(void){}")
    found = re.search(r'"target-features"="([^"]*)"', done.stdout)
    if done.returncode or not found:
        return None
    return {item[1:]: item[0] == "+" for item in found[1].split(",")}


@pytest.fixture(scope="module")
def listed(clang: str) -> list[str]:
    """The names that clang lists, for 64 and 32 bits and cpu_dispatch together."""
    done = run(clang, "--print-supported-cpus", TARGET)
    return re.findall(r"^\t(\S+)$", done.stderr + done.stdout, re.MULTILINE)


@pytest.fixture(scope="module")
def accepted(clang: str, listed: list[str]) -> dict[str, frozenset[str]]:
    """The names that clang takes for 64-bit code, with the features that each turns on."""
    with ThreadPoolExecutor(4) as pool:
        found = zip(listed, pool.map(lambda name: printed_features(clang, name), listed), strict=True)
    return {name: frozenset(item for item, on in has.items() if on) for name, has in found if has}


@pytest.fixture(scope="module")
def native(clang: str) -> dict[str, bool]:
    """Every feature that clang knows of, and whether this machine has it."""
    found = printed_features(clang, "native")
    if found is None:
        pytest.skip("clang -march=native does not work on this machine")
    return found


def test_every_name_that_clang_takes_is_here(accepted: dict[str, frozenset[str]]) -> None:
    assert len(accepted) > 70
    assert accepted.keys() <= targets.names().keys()


def test_every_name_here_is_one_that_clang_takes(accepted: dict[str, frozenset[str]], listed: list[str]) -> None:
    assert targets.cpus().keys() <= accepted.keys()
    assert targets.names().keys() <= set(listed)


def test_counted_features_of_every_name_are_clangs(accepted: dict[str, frozenset[str]]) -> None:
    # clang leaves cmov out for AMD's first ones; every x86-64 CPU has it.
    baseline = targets.cpus()["x86-64"].features
    counted = frozenset(targets.features())
    wrong = {name: (on & counted | baseline) ^ targets.names()[name].features for name, on in accepted.items()}
    assert not {name: sorted(difference) for name, difference in wrong.items() if difference}


def test_every_feature_that_clang_knows_is_counted_or_not(
    accepted: dict[str, frozenset[str]], native: dict[str, bool]
) -> None:
    known = frozenset(native).union(*accepted.values())
    assert known == targets.features().keys() | targets.not_counted()


def test_names_of_one_processor_have_one_set_of_features(accepted: dict[str, frozenset[str]]) -> None:
    for cpu in targets.cpus().values():
        assert {accepted[name] for name in (cpu.name, *cpu.aliases) if name in accepted} == {accepted[cpu.name]}


def test_library_finds_what_clang_finds_on_this_machine(native: dict[str, bool]) -> None:
    class Device(ctypes.Structure):
        _fields_ = (("words", ctypes.c_uint64 * 2), ("cpu", ctypes.c_int32))

    device = Device()
    with as_file(files("olpick.shim").joinpath("libolpick.so")) as path:
        assert ctypes.CDLL(str(path)).olp_device_host(ctypes.byref(device)) == 0
    mask = device.words[0] | device.words[1] << 64
    found = {name for bit, name in enumerate(targets.features()) if mask >> bit & 1}
    expected = {name for name in targets.features() if native[name]}
    # Some versions of LLVM read every AVX10 as version 1.
    assert found - {"avx10.2"} == expected - {"avx10.2"}


# ---- The reader


def test_levels_are_the_psabis() -> None:
    so_far: set[str] = set()
    for number, (level, (name, words)) in enumerate(zip(targets.levels(), PSABI.items(), strict=True), 1):
        so_far |= {LLVM_SPELLING.get(word, word.lower()) for word in words.split()}
        assert (level.name, level.level) == (name, number)
        assert level.features - {"crc32"} == so_far
    assert targets.level_of(targets.names()["skx"].features) == 4
    assert targets.level_of(targets.names()["knl"].features) == 3
    assert targets.level_of([]) == 0


def test_every_cpu_has_the_baseline() -> None:
    baseline = targets.levels()[0].features
    assert all(baseline <= cpu.features for cpu in targets.cpus().values())


def test_models_name_cpus_and_features_that_are_here() -> None:
    for model in targets.models():
        assert model.cpu in targets.cpus()
        assert not model.needs or model.needs in targets.cpus()[model.cpu].features
        assert all(0 <= first <= last <= 255 for first, last in model.models)


def test_aliases_name_one_processor() -> None:
    for name, alias in (
        ("skylake-avx512", "skx"),
        ("haswell", "core-avx2"),
        ("bonnell", "atom"),
        ("silvermont", "slm"),
        ("graniterapids-d", "graniterapids_d"),
        ("knl", "mic_avx512"),
        ("k8", "opteron"),
    ):
        assert targets.names()[alias] is targets.names()[name]
    assert targets.names()["emeraldrapids"] is not targets.names()["sapphirerapids"]


# ---- The generator


def generate(out: Path, inputs: dict[str, Path] = INPUTS, seed: str = "0") -> subprocess.CompletedProcess[str]:
    options = [f"--{name}={path}" for name, path in inputs.items()]
    command = [sys.executable, str(GENERATOR), *options, "--version=1.2.3", f"--out={out}"]
    environment = {"PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated")
    done = generate(out)
    assert done.returncode == 0, done.stderr
    return out


def test_same_input_gives_the_same_bytes(generated: Path, tmp_path: Path) -> None:
    assert generate(tmp_path, seed="1").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(OUTPUTS)
    for name in OUTPUTS:
        assert (tmp_path / name).read_bytes() == (generated / name).read_bytes()


def test_file_that_would_not_change_is_not_written(tmp_path: Path) -> None:
    assert generate(tmp_path).returncode == 0
    before = [(tmp_path / name).stat().st_mtime_ns for name in OUTPUTS]
    assert generate(tmp_path).returncode == 0
    assert [(tmp_path / name).stat().st_mtime_ns for name in OUTPUTS] == before


def c_table(generated: Path, name: str) -> list[str]:
    """The first string of each row of an array of olpick_tables.c."""
    text = (generated / "olpick_tables.c").read_text()
    found = re.search(rf" {name}\[\w+\] = \{{\n(.*?)^\}};$", text, re.MULTILINE | re.DOTALL)
    assert found
    return re.findall(r'^  \{"([^"]*)"', found[1], re.MULTILINE)


def test_numbers_in_c_are_places_in_python(generated: Path) -> None:
    assert c_table(generated, "olp_feature_table") == list(targets.features())
    assert c_table(generated, "olp_cpus") == list(targets.cpus())
    assert c_table(generated, "olp_cpu_names") == sorted(targets.names(), key=str.encode)


def test_public_header_numbers_every_list(generated: Path) -> None:
    text = (generated / "olpick_codes.h").read_text()
    for member in ("OLP_ERROR_TRUNCATED", "OLP_FORM_HOST_ELF", "OLP_REASON_CPU_FEATURES", "OLP_KEY_REQUIRES_FEATURES"):
        assert f"  {member}," in text
    for kind in ("ERROR", "FINDING", "FORM", "VERDICT", "REASON", "STEP", "POLICY", "KEY"):
        assert f"  OLP_{kind}_COUNT," in text
    assert '#define OLP_VERSION_TEXT "1.2.3"' in (generated / "olpick_tables.h").read_text()


@pytest.mark.parametrize(
    ("which", "old", "new", "message"),
    [
        ("targets", 'name = "nocona", base', 'name = "nocona", bse', "targets.toml: cpu 'nocona': unknown key 'bse'"),
        (
            "targets",
            'adds = ["avx2", "bmi"',
            'adds = ["avx3", "bmi"',
            "targets.toml: cpu 'haswell': unknown feature 'avx3'",
        ),
        (
            "targets",
            'base = "penryn"',
            'base = "haswell"',
            "targets.toml: cpu 'nehalem': 'base' is 'haswell', no level and no earlier cpu",
        ),
        ("targets", 'aliases = ["atom"]', 'aliases = ["slm"]', "targets.toml: CPU name 'slm' stands twice"),
        ("targets", '{ name = "core2"', '{ name = "nocona"', "targets.toml: cpu 'nocona': stands twice"),
        ("targets", '{ name = "cx8"', '{ name = "cmov"', "targets.toml: feature 'cmov' stands twice"),
        ("targets", '"64bit", "x87"', '"64bit", "sse2"', "targets.toml: feature 'sse2' stands in not_counted too"),
        (
            "targets",
            'base = "core2", adds = ["sse4.1"]',
            'base = "core2", adds = ["sse3"]',
            "'sse3' is in what it build",
        ),
        ("targets", 'register = "edx", bit = 15', 'register = "edi", bit = 15', "'register' is 'edi', not one of eax"),
        ("targets", 'register = "edx", bit = 15', 'register = "edx", bit = 32', "'bit' is 32, not in 0 to 31"),
        ("targets", "width = 8, least = 1", "width = 8, least = 256", "feature 'avx10.1': 'least' is 256"),
        ("targets", "width = 8, least = 1", "width = 33, least = 1", "feature 'avx10.1': 'width' is 33"),
        ("targets", "level = 2", "level = 3", "targets.toml: level 'x86-64-v2': 'level' is 3 in place 2"),
        ("targets", 'cpu = "haswell" }', 'cpu = "hasnot" }', "unknown cpu 'hasnot'"),
        ("targets", 'needs = "avx512vnni"', 'needs = "avx512"', "unknown feature 'avx512'"),
        ("targets", "[0x60, 0x7f]", "[0x7f, 0x60]", "models 127 to 96 are no range"),
        ("targets", "models = [0x55]", 'models = ["0x55"]', "'0x55' is neither a number nor a pair of them"),
        ("targets", 'vendor = "GenuineIntel", family = 15', 'vendor = "Intel", family = 15', "not the 12 characters"),
        ("targets", "schema = 1", "schema = ", "targets.toml: Invalid value"),
        ("codes", 'name = "bad-size"', 'name = "truncated"', "codes.toml: error 'truncated' stands twice"),
        ("codes", 'name = "bad-size"', 'name = "bad size"', "codes.toml: error 'bad size': not a word"),
        ("codes", 'class = "E"', 'class = "X"', "codes.toml: reason 'exact': 'class' is 'X', not one of C, P, E"),
        ("codes", "[[step]]", "[[steps]]", "codes.toml: lists ["),
        ("controls", 'default = "best"', 'default = "worst"', "'default' is 'worst', not one of best, first"),
        ("controls", 'type = "path"', 'type = "file"', "'type' is 'file', not one of choice"),
        ("controls", 'name = "OLPICK_CPU"', 'name = "OLPICK_LOG"', "controls.toml: control 'OLPICK_LOG' stands twice"),
        ("controls", 'values = ["best", "first"]', "values = []", "a choice has values to name"),
    ],
)
def test_input_that_is_wrong_is_refused_by_name(tmp_path: Path, which: str, old: str, new: str, message: str) -> None:
    text = INPUTS[which].read_text()
    assert old in text
    wrong = tmp_path / f"{which}.toml"
    wrong.write_text(text.replace(old, new, 1))
    done = generate(tmp_path / "out", INPUTS | {which: wrong})
    assert done.returncode == 1
    assert done.stderr.startswith("generate.py: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
