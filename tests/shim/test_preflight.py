"""What is seen of a program before it starts, held against what the kernel and the loader then do."""

import ctypes
import errno
import os
import shutil
import stat
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from olpick.shim.errors import ProgramError
from olpick.shim.preflight import REASONS, Preflight, Reason, preflight
from olpick.shim.probe import probe
from olpick.shim.program import SCRIPT_LEVELS, Unclear, binaries, find, frame

PATH = "/usr/bin:/bin"
PR_SET_NO_NEW_PRIVS = 38
LOADER = "/lib64/ld-linux-x86-64.so.2"

Build = Callable[..., Path]
WriteScript = Callable[[Path, str], Path]
AsNobody = Callable[[Callable[[], Sequence[str]]], list[str]]


def words(seen: Preflight) -> list[str]:
    return [reason.word for reason in seen.reasons]


def is_loaded(program: Path | str, library: Path) -> bool:
    """Whether the program, which is `show`, says that the library is in it."""
    done = subprocess.run([program], env={"LD_PRELOAD": str(library)}, capture_output=True, text=True, check=True)
    return "loaded 1" in done.stdout


# ---- The file that runs


@pytest.mark.parametrize("name", ["", "no-such-program", "./no-such-program", "/no/such/program"])
def test_nothing_of_the_name_is_127(name: str) -> None:
    with pytest.raises(ProgramError) as caught:
        find(name, PATH)
    assert (caught.value.code, caught.value.run_status) == ("not-found", 127)


def test_found_and_not_executable_is_126(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe", 0o755)
    for name in ("data", "folder", "pipe", "data/below"):
        with pytest.raises(ProgramError) as caught:
            find(str(tmp_path / name), PATH)
        assert (caught.value.code, caught.value.run_status) == ("not-executable", 126), name


def test_path_is_searched_as_execvp_does(tmp_path: Path, write_script: WriteScript) -> None:
    for folder in ("one", "two", "three"):
        (tmp_path / folder).mkdir()
    (tmp_path / "one" / "tool").mkdir()
    (tmp_path / "two" / "tool").write_text("not executable")
    search = f"{tmp_path}/missing:{tmp_path}/one:{tmp_path}/two"
    with pytest.raises(ProgramError) as caught:
        find("tool", search)
    assert caught.value.run_status == 126
    tool = write_script(tmp_path / "three" / "tool", "")
    assert find("tool", f"{search}:{tmp_path}/three") == str(tool)


def test_empty_folder_of_path_is_the_current_one(
    tmp_path: Path, write_script: WriteScript, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(tmp_path / "tool", "")
    monkeypatch.chdir(tmp_path)
    assert find("tool", "/nowhere:") == "tool"
    assert find("./tool", "") == "./tool"


# ---- Scripts


def test_script_comes_down_to_its_interpreter(tmp_path: Path, show: Path, write_script: WriteScript) -> None:
    first = write_script(tmp_path / "first", f"#! \t{show}\t-x  y \n")
    second = write_script(tmp_path / "second", f"#!{first}\n")
    assert list(binaries(str(second), PATH)) == [str(show)]


def test_env_is_followed(tmp_path: Path, show: Path, write_script: WriteScript) -> None:
    search = f"{show.parent}:{PATH}"
    for number, line in enumerate(("env show", "env -S show -x", "env -Sshow -x")):
        path = write_script(tmp_path / str(number), f"#!/usr/bin/{line}\n")
        assert list(binaries(str(path), search)) == ["/usr/bin/env", str(show)], line


@pytest.mark.parametrize(
    "line", ["env -i show", "env -S", "env -S A=1 show", "env -S 'show'", "env missing", "env a b"]
)
def test_what_env_runs_may_stay_unclear(line: str, tmp_path: Path, show: Path, write_script: WriteScript) -> None:
    path = write_script(tmp_path / "script", f"#!/usr/bin/{line}\n")
    found = binaries(str(path), f"{show.parent}:{PATH}")
    assert next(found) == "/usr/bin/env"
    with pytest.raises(Unclear):
        next(found)


def test_file_without_format_is_for_the_shell(tmp_path: Path, write_script: WriteScript) -> None:
    for text in ("", "echo hello\n", "#!\n", "#!  \necho\n"):
        assert list(binaries(str(write_script(tmp_path / "plain", text)), PATH)) == ["/bin/sh"]


def test_scripts_are_followed_so_far_and_no_further(tmp_path: Path, show: Path, write_script: WriteScript) -> None:
    path = show
    for level in range(SCRIPT_LEVELS):
        path = write_script(tmp_path / str(level), f"#!{path}\n")
    assert list(binaries(str(path), PATH)) == [str(show)]
    loop = tmp_path / "loop"
    write_script(loop, f"#!{loop}\n")
    with pytest.raises(Unclear, match="deep"):
        list(binaries(str(loop), PATH))


# ---- Why the library cannot get in


def test_library_gets_into_a_dynamic_program(show: Path, stand_in: Path) -> None:
    assert preflight(str(show), stand_in, PATH) == Preflight((), "", str(show), LOADER)
    assert is_loaded(show, stand_in)


@pytest.mark.parametrize("flags", [("-no-pie",), ("-pie", "-fPIE"), ("-static",), ("-static-pie",)])
def test_verdict_on_real_programs_is_what_happens(flags: tuple[str, ...], build: Build, stand_in: Path) -> None:
    program = build(*flags, name="show")
    expected = ["static"] if "-static" in flags[0] else []
    assert words(preflight(str(program), stand_in, PATH)) == expected
    assert is_loaded(program, stand_in) == (not expected)


def test_other_class_and_machine(tmp_path: Path, make_elf: Build, stand_in: Path) -> None:
    old = make_elf(tmp_path / "old", bits=32, machine=3, interpreter="/lib/ld-linux.so.2")
    arm = make_elf(tmp_path / "arm", machine=183, interpreter="/lib/ld-linux-aarch64.so.1")
    assert words(preflight(str(old), stand_in, PATH)) == ["wrong-class"]
    (reason,) = preflight(str(arm), stand_in, PATH).reasons
    assert (reason.word, reason.text) == ("wrong-machine", "it is for the machine AARCH64 and the library for X86_64")


@pytest.mark.parametrize("name", ["/lib/ld-musl-x86_64.so.1", "/lib/ld64-uClibc.so.1", "/system/bin/linker64"])
def test_other_libc(name: str, tmp_path: Path, make_elf: Build, stand_in: Path) -> None:
    program = make_elf(tmp_path / "program", interpreter=name)
    assert words(preflight(str(program), stand_in, PATH)) == ["other-libc"]


def test_other_libc_behind_a_link(tmp_path: Path, make_elf: Build, stand_in: Path) -> None:
    (tmp_path / "ld-linux-x86-64.so.2").symlink_to("/lib/ld-musl-x86_64.so.1")
    program = make_elf(tmp_path / "program", interpreter=f"{tmp_path}/ld-linux-x86-64.so.2")
    assert words(preflight(str(program), stand_in, PATH)) == ["other-libc"]


def test_unknown_loader_is_no_reason_and_is_not_asked(tmp_path: Path, make_elf: Build, stand_in: Path) -> None:
    program = make_elf(tmp_path / "program", interpreter="/opt/own/loader")
    assert preflight(str(program), stand_in, PATH) == Preflight(())


def test_loader_that_is_run_as_a_program(stand_in: Path) -> None:
    assert preflight(LOADER, stand_in, PATH) == Preflight(())


def test_reason_of_a_script_names_the_interpreter(
    tmp_path: Path, build: Build, stand_in: Path, write_script: WriteScript
) -> None:
    static = build("-static", name="show")
    path = write_script(tmp_path / "script", f"#!{static}\n")
    (reason,) = preflight(str(path), stand_in, PATH).reasons
    assert reason.word == "static"
    assert reason.text.startswith(f"{static} is statically linked")


def test_static_env_hands_the_library_on(
    tmp_path: Path, build: Build, show: Path, stand_in: Path, write_script: WriteScript
) -> None:
    source = "#include <unistd.h>\nint main(int count, char **given) { return count && execvp(given[1], given + 1); }"
    env = build("-static", source=source, name="env")
    path = write_script(tmp_path / "script", f"#!{env} show\n")
    search = f"{show.parent}:{PATH}"
    assert preflight(str(path), stand_in, search) == Preflight((), "", str(show), LOADER)


@pytest.mark.parametrize("size", [4, 20, 63, 64, 100])
def test_broken_elf_is_a_doubt(size: int, tmp_path: Path, show: Path, stand_in: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(show.read_bytes()[:size])
    broken.chmod(0o755)
    seen = preflight(str(broken), stand_in, PATH)
    assert seen.reasons == ()
    assert str(broken) in seen.doubt


def test_library_that_is_no_elf_file_is_a_doubt(tmp_path: Path, show: Path) -> None:
    (tmp_path / "libolpick.so").write_text("no library")
    assert "libolpick.so" in preflight(str(show), tmp_path / "libolpick.so", PATH).doubt


def test_every_reason_can_be_said() -> None:
    for word, (text, hint) in REASONS.items():
        reason = Reason.of(word, "it", "x", "y")
        assert "{" not in reason.text
        for said in (text, hint):
            assert said
            assert not said.endswith(".")


# ---- Programs of other users


@pytest.mark.parametrize(
    ("owner", "bits"),
    [
        (0, 0),
        (0, stat.S_ISUID),
        (0, stat.S_ISGID),
        (65534, 0),
        (65534, stat.S_ISUID),
        (65534, stat.S_ISGID),
        (65534, stat.S_ISUID | stat.S_ISGID),
        (12345, stat.S_ISUID),
    ],
)
def test_verdict_on_set_id_programs_is_what_happens(
    owner: int, bits: int, open_folder: Path, show: Path, stand_in: Path, as_nobody: AsNobody
) -> None:
    program, library = open_folder / "show", open_folder / "libolpick.so"
    shutil.copy(show, program)
    shutil.copy(stand_in, library)
    os.chown(program, owner, owner)
    program.chmod(0o755 | bits)
    assert bool(words(preflight(str(program), library, PATH))) != is_loaded(program, library)

    def of_nobody() -> list[str]:
        return [str(is_loaded(program, library)), *words(preflight(str(program), library, PATH))]

    loaded, *reasons = as_nobody(of_nobody)
    assert (loaded == "True") == (not reasons)
    if reasons:
        assert reasons == [word for word, bit in (("setuid", stat.S_ISUID), ("setgid", stat.S_ISGID)) if bits & bit]


def test_set_id_bits_that_the_process_has_given_up(
    open_folder: Path, show: Path, stand_in: Path, as_nobody: AsNobody
) -> None:
    program, library = open_folder / "show", open_folder / "libolpick.so"
    shutil.copy(show, program)
    shutil.copy(stand_in, library)
    program.chmod(0o4755)
    libc = ctypes.CDLL(None)

    def of_nobody() -> list[str]:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return [str(is_loaded(program, library)), *words(preflight(str(program), library, PATH))]

    assert as_nobody(of_nobody) == ["True"]


def test_set_group_bit_without_the_right_to_execute(open_folder: Path, show: Path, stand_in: Path) -> None:
    program = open_folder / "show"
    shutil.copy(show, program)
    os.chown(program, 0, 12345)
    program.chmod(0o745 | stat.S_ISGID)
    assert words(preflight(str(program), stand_in, PATH)) == []
    assert is_loaded(program, stand_in)


@pytest.mark.parametrize(
    ("flags", "permitted", "inheritable"),
    [(1, 1 << 10, 0), (0, 1 << 10, 0), (1, 1 << 38, 0), (0, 1 << 38, 0), (0, 0, 1 << 10)],
)
def test_verdict_on_file_capabilities_is_what_happens(
    flags: int, permitted: int, inheritable: int, open_folder: Path, show: Path, stand_in: Path, as_nobody: AsNobody
) -> None:
    program, library = open_folder / "show", open_folder / "libolpick.so"
    shutil.copy(show, program)
    shutil.copy(stand_in, library)
    low = 0xFFFFFFFF
    sets = (permitted & low, inheritable & low, permitted >> 32, inheritable >> 32)
    try:
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000000 | flags, *sets))
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.EPERM):
            raise
        pytest.skip("no file capabilities here")
    assert words(preflight(str(program), library, PATH)) == []

    def of_nobody() -> list[str]:
        return [str(is_loaded(program, library)), *words(preflight(str(program), library, PATH))]

    loaded, *reasons = as_nobody(of_nobody)
    assert (loaded == "True") == (not reasons)


def test_program_that_cannot_be_read_is_a_doubt(
    open_folder: Path, show: Path, stand_in: Path, as_nobody: AsNobody
) -> None:
    program = open_folder / "show"
    shutil.copy(show, program)
    program.chmod(0o711)
    library = open_folder / "libolpick.so"
    shutil.copy(stand_in, library)

    def of_nobody() -> list[str]:
        seen = preflight(str(program), library, PATH)
        return [seen.doubt, *words(seen)]

    assert as_nobody(of_nobody) == [f"{program} cannot be read (permission denied)"]


# ---- The loader's own word


def ask(binary: Path, library: Path | str, environment: Mapping[str, str] | None = None, loader: str = LOADER) -> str:
    return probe(loader, str(binary), str(library), {"LD_PRELOAD": str(library), **(environment or {})}, timeout=5)


def test_loader_takes_the_library(show: Path, stand_in: Path) -> None:
    assert ask(show, stand_in) == ""


def test_loader_says_why_it_does_not(tmp_path: Path, show: Path, stand_in: Path) -> None:
    missing = tmp_path / "libolpick.so"
    assert f"object '{missing}' from LD_PRELOAD cannot be preloaded" in ask(show, missing)
    missing.write_text("no library")
    assert "file too short" in ask(show, missing)
    missing.write_bytes(stand_in.read_bytes()[:1000])
    assert "fails with the library" in ask(show, missing)


def test_loader_leaves_the_library_out(show: Path, stand_in: Path) -> None:
    assert ask(show, stand_in, {"LD_PRELOAD": ""}) == "it leaves the library out of its list"


def test_library_that_would_end_the_program_is_seen(tmp_path: Path, build: Build, show: Path) -> None:
    """As one that was built against a newer glibc than the program's own."""
    old, new = tmp_path / "old", tmp_path / "new"
    flags = ("-shared", "-fPIC", "-Wl,-soname,libbase.so")
    old.write_text("V1 { base; };")
    new.write_text("V1 { }; V2 { base; };")
    base = build(*flags, f"-Wl,--version-script={new}", source="int base(void) { return 0; }", name="libbase.so")
    source = "int base(void); int olpick(void) { return base(); }"
    library = build("-shared", "-fPIC", str(base), f"-Wl,-rpath,{base.parent}", source=source, name="libolpick.so")
    assert ask(show, library) == ""
    older = build(*flags, f"-Wl,--version-script={old}", source="int base(void) { return 1; }", name="libbase.so")
    shutil.copy(older, base)
    done = subprocess.run([show], env={"LD_PRELOAD": str(library)}, capture_output=True, check=False)
    assert done.returncode != 0
    assert f"required by {library}" in ask(show, library)


def test_loader_is_not_disturbed_by_its_variables(show: Path, stand_in: Path, tmp_path: Path) -> None:
    trouble = {
        "LD_DEBUG": "all",
        "LD_DEBUG_OUTPUT": f"{tmp_path}/log",
        "LD_AUDIT": "/no/such/audit.so",
        "LD_VERBOSE": "1",
    }
    assert ask(show, stand_in, trouble) == ""
    assert list(tmp_path.iterdir()) == []


def test_program_linked_to_the_library(tmp_path: Path, stand_in: Path, build: Build) -> None:
    program = build("-Wl,--no-as-needed", str(stand_in), f"-Wl,-rpath,{stand_in.parent}")
    assert ask(program, stand_in) == ""
    elsewhere = tmp_path / "libolpick.so"
    elsewhere.symlink_to(stand_in)
    assert ask(program, elsewhere) == ""


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexec sleep 60\n", "#!/bin/sh\nexit 1\n", "#!/bin/sh\n", "#!/no/such/thing\n"]
)
def test_odd_loader_is_no_reason(
    text: str, tmp_path: Path, show: Path, stand_in: Path, write_script: WriteScript
) -> None:
    loader = write_script(tmp_path / "ld-linux-x86-64.so.2", text)
    assert probe(str(loader), str(show), str(stand_in), {"PATH": PATH}, timeout=0.3) == ""
    assert probe(str(tmp_path / "missing"), str(show), str(stand_in), {}, timeout=0.3) == ""


def test_endless_loader_is_no_reason(tmp_path: Path, show: Path, stand_in: Path, write_script: WriteScript) -> None:
    loader = write_script(tmp_path / "ld.so", f"#!/bin/sh\nwhile :; do echo {'x' * 4000}; done\n")
    assert probe(str(loader), str(show), str(stand_in), {"PATH": PATH}, timeout=10) == ""


def test_frame_of_this_machine(show: Path, stand_in: Path) -> None:
    assert frame(stand_in).interpreter == ""
    assert frame(show).interpreter == LOADER
    assert frame(show).machine == frame(stand_in).machine
