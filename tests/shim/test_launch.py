"""The environment that brings the library in, and becoming the program."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from olpick.shim import library as installed
from olpick.shim import run_env
from olpick.shim.errors import ControlError, LibraryError
from olpick.shim.launch import preload_entry, prepended
from olpick.shim.link import plain_path

Build = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Told = Callable[[str], dict[str, str]]
WriteScript = Callable[[Path, str], Path]
CommandLine = Callable[..., list[str]]


def copied(library: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    copy = folder / library.name
    copy.write_bytes(library.read_bytes())
    return copy


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """What XDG_RUNTIME_DIR names."""
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    return folder


# ---- LD_PRELOAD


def test_library_is_put_in_front_of_what_is_there(
    olpick: Run, told: Told, show: Path, stand_in: Path, build: Build
) -> None:
    other = build("-shared", "-fPIC", source="int other;", name="libother.so")
    said = told(olpick("run", show, add={"LD_PRELOAD": str(other)}).stdout)
    assert said["preload"] == f"{stand_in}:{other}"
    assert said["loaded"] == "1"


@pytest.mark.parametrize("separator", [":", " "])
def test_library_that_is_there_is_not_added(
    separator: str, olpick: Run, told: Told, show: Path, stand_in: Path, build: Build, tmp_path: Path
) -> None:
    other = build("-shared", "-fPIC", source="int other;", name="libother.so")
    link = tmp_path / "libolpick.so"
    link.symlink_to(stand_in)
    for there in (stand_in, link):
        before = f"{other}{separator}{there}"
        done = olpick("run", show, add={"LD_PRELOAD": before})
        assert told(done.stdout)["preload"] == before
        assert told(done.stdout)["loaded"] == "1"
        assert done.stderr == ""


@given(st.lists(st.sampled_from(["/a.so", "/b.so", "libc.so", "", " "])), st.sampled_from(":  "))
def test_prepending_keeps_what_was_there_and_is_done_once(entries: list[str], separator: str) -> None:
    before = separator.join(entries)
    after = prepended("/x/libolpick.so", before)
    assert after.endswith(before)
    assert after.replace(":", " ").split() == ["/x/libolpick.so", *before.replace(":", " ").split()]
    assert prepended("/x/libolpick.so", after) == after


@pytest.mark.parametrize("name", ["a b", "a:b", "a$LIB", "$ORIGIN", " ", "ä b"])
def test_library_under_any_path_gets_in(
    name: str, olpick: Run, told: Told, show: Path, stand_in: Path, tmp_path: Path, private: Path
) -> None:
    library = copied(stand_in, tmp_path / name)
    for _ in range(2):
        done = olpick("run", show, library=library, add={"XDG_RUNTIME_DIR": str(private)})
        said = told(done.stdout)
        assert (said["loaded"], done.stderr) == ("1", "")
    (link,) = (private / "olpick").iterdir()
    assert said["preload"] == str(link)
    assert link.readlink() == library
    assert (private / "olpick").stat().st_mode & 0o777 == 0o700


def test_link_is_not_added_to_itself(stand_in: Path, tmp_path: Path, private: Path) -> None:
    library = copied(stand_in, tmp_path / "a b")
    environment = {"XDG_RUNTIME_DIR": str(private)}
    entry = preload_entry(library, environment)
    assert entry is not None
    assert preload_entry(library, {**environment, "LD_PRELOAD": f"/lib/other.so {entry}"}) == entry


def test_plain_path_stays_as_it_is(stand_in: Path) -> None:
    assert plain_path(stand_in, {}) == stand_in


def test_folder_that_others_can_change_is_not_used(tmp_path: Path, private: Path) -> None:
    library = tmp_path / "a b" / "libolpick.so"
    folder = private / "olpick"

    def used() -> bool:
        path = plain_path(library, {"XDG_RUNTIME_DIR": str(private), "TMPDIR": "/"})
        return path is not None and path.parent == folder

    folder.mkdir(mode=0o700)
    assert used()
    folder.chmod(0o770)
    assert not used()
    folder.chmod(0o700)
    private.chmod(0o777)
    assert not used()
    private.chmod(0o1777)
    assert used()
    private.chmod(0o700)
    for entry in folder.iterdir():
        entry.unlink()
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert not used()
    folder.unlink()
    folder.write_text("")
    assert not used()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folder_of_another_user_is_not_used(tmp_path: Path, private: Path) -> None:
    (private / "olpick").mkdir(mode=0o700)
    os.chown(private / "olpick", 65534, 65534)
    path = plain_path(tmp_path / "a b" / "libolpick.so", {"XDG_RUNTIME_DIR": str(private)})
    assert path is None or path.parent != private / "olpick"


def test_wrong_link_is_replaced(tmp_path: Path, private: Path) -> None:
    library = tmp_path / "a b" / "libolpick.so"
    environment = {"XDG_RUNTIME_DIR": str(private)}
    link = plain_path(library, environment)
    assert link is not None
    link.unlink()
    link.symlink_to("/somewhere/else")
    assert plain_path(library, environment) == link
    assert link.readlink() == library


def test_links_can_be_made_at_once(tmp_path: Path, private: Path) -> None:
    library = tmp_path / "a b" / "libolpick.so"
    code = (
        "import sys, pathlib; from olpick.shim.link import plain_path\n"
        "print(plain_path(pathlib.Path(sys.argv[1]), {'XDG_RUNTIME_DIR': sys.argv[2]}))"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", code, library, private], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    paths = {child.communicate(timeout=60)[0].strip() for child in children}
    assert [child.returncode for child in children] == [0] * 6
    (link,) = (private / "olpick").iterdir()
    assert paths == {str(link)}


def test_no_safe_place_for_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "a b" / "libolpick.so"
    monkeypatch.setattr(
        "olpick.shim.link._folders", lambda _: iter([tmp_path / "c d", tmp_path / "missing" / "olpick"])
    )
    assert plain_path(library, {}) is None
    monkeypatch.setattr(installed, "library_path", lambda: library)
    with pytest.raises(LibraryError, match="blank"):
        run_env(environment={})


# ---- From Python


@pytest.fixture
def standing_in(monkeypatch: pytest.MonkeyPatch, stand_in: Path) -> Path:
    monkeypatch.setattr(installed, "library_path", lambda: stand_in)
    return stand_in


def test_run_env_gives_the_changes(standing_in: Path) -> None:
    changes = run_env(environment={"LD_PRELOAD": "/x.so", "HOME": "/"}, policy="first", host_fallback=True)
    assert changes == {
        "LD_PRELOAD": f"{standing_in}:/x.so",
        "OLPICK_POLICY": "first",
        "OLPICK_HOST_FALLBACK": "1",
    }


@pytest.mark.usefixtures("standing_in")
def test_run_env_starts_programs(show: Path, told: Told, clean: Mapping[str, str]) -> None:
    environment = {**clean, **run_env(environment=clean, log="none")}
    done = subprocess.run([show], env=environment, capture_output=True, text=True, check=True)
    assert told(done.stdout)["loaded"] == "1"


@pytest.mark.usefixtures("standing_in")
@pytest.mark.parametrize(
    ("name", "value"), [("policy", "worst"), ("log", "warn;all"), ("nothing", "1"), ("cpu", "z80")]
)
def test_run_env_refuses_what_the_library_would(name: str, value: str) -> None:
    with pytest.raises(ControlError):
        run_env(environment={}, **{name: value})


@pytest.mark.usefixtures("standing_in")
def test_relative_log_file_is_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_env(environment={}, log_file="log")["OLPICK_LOG_FILE"] == f"{tmp_path}/log"


# ---- Becoming the program


def test_process_id_stays(command_line: CommandLine, show: Path, told: Told, clean: Mapping[str, str]) -> None:
    with subprocess.Popen(command_line("run", show), env=clean, stdout=subprocess.PIPE, text=True) as child:
        output, _ = child.communicate(timeout=60)
    assert int(told(output)["pid"]) == child.pid


def test_arguments_arrive_as_they_are(olpick: Run, show: Path) -> None:
    arguments = ["", " ", "--", "-q", "--require", "a\nb", "\udcff", "$x", "--policy=first"]
    done = olpick("run", "--", show, *arguments, errors="surrogateescape")
    assert done.stdout.split("arg ", 2)[2] == "arg ".join(f"{argument}\n" for argument in arguments)


def test_name_of_the_program_is_the_one_given(olpick: Run, show: Path, told: Told) -> None:
    done = olpick("run", "show", add={"PATH": f"{show.parent}:/usr/bin:/bin"})
    assert told(done.stdout)["arg"] == "show"


@pytest.mark.parametrize("status", [0, 1, 2, 125, 255])
def test_exit_status_is_the_program_s(status: int, olpick: Run) -> None:
    assert olpick("run", "sh", "-c", f"exit {status}").returncode == status


def test_signal_that_ends_the_program_is_seen(olpick: Run) -> None:
    assert olpick("run", "sh", "-c", "kill -SEGV $$").returncode == -signal.SIGSEGV


def test_signals_reach_the_program(command_line: CommandLine, clean: Mapping[str, str]) -> None:
    work = 'trap "echo got it; exit 7" USR1; echo ready; while :; do sleep 0.05; done'
    with subprocess.Popen(command_line("run", "sh", "-c", work), env=clean, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGUSR1)
        assert child.stdout.readline() == "got it\n"
        assert child.wait(timeout=60) == 7


def test_program_has_the_signals_that_it_would_have_without(olpick: Run, clean: Mapping[str, str]) -> None:
    # A path, not a name: subprocess then starts both in the same way, which has an effect on signals 32 and 33.
    command = ["/bin/grep", "^Sig[BIC]", "/proc/self/status"]
    bare = subprocess.run(command, env=clean, capture_output=True, text=True, check=True)
    assert olpick("run", *command).stdout == bare.stdout


@pytest.mark.parametrize("locale", [{}, {"LC_CTYPE": "C"}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C"}, {"LANG": "C"}])
def test_program_has_the_environment_that_it_would_have_without(
    locale: dict[str, str], olpick: Run, stand_in: Path
) -> None:
    """The interpreter sets LC_CTYPE in the C locale."""
    environment = {"PATH": "/usr/bin:/bin", "EMPTY": "", **locale}
    if path := os.environ.get("PYTHONPATH"):
        environment["PYTHONPATH"] = path
    done = olpick("run", "--log", "all", "env", "-0", env=environment)
    wanted = {**environment, "LD_PRELOAD": str(stand_in), "OLPICK_LOG": "all"}
    assert dict(line.split("=", 1) for line in done.stdout.split("\0") if line) == wanted


def test_open_files_stay_open(olpick: Run) -> None:
    reader, writer = os.pipe()
    try:
        olpick("run", "sh", "-c", f"echo through >/proc/self/fd/{writer}", pass_fds=[writer])
    finally:
        os.close(writer)
    with os.fdopen(reader) as stream:
        assert stream.read() == "through\n"


def test_input_is_left_to_the_program(olpick: Run) -> None:
    assert olpick("run", "cat", input="line\n").stdout == "line\n"


def test_script_without_an_interpreter_is_run_by_the_shell(
    olpick: Run, tmp_path: Path, write_script: WriteScript
) -> None:
    path = write_script(tmp_path / "script", 'echo "$0" "$@" "$LD_PRELOAD"\n')
    done = olpick("run", path, "a b", "c")
    assert done.stdout.startswith(f"{path} a b c /")
    assert done.returncode == 0


def test_script_sees_its_name_as_it_was_given(olpick: Run, tmp_path: Path, write_script: WriteScript) -> None:
    write_script(tmp_path / "script", "#!/bin/sh\necho $0\n")
    assert olpick("run", "./script", cwd=tmp_path).stdout == "./script\n"
