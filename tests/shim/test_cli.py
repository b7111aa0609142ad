"""The command `olpick`: its commands, messages and exit statuses."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import jsonschema
import pytest
from olpick.elf.errors import DecodeError, OlpickError
from olpick.shim import cli
from olpick.shim.cli import commands, messages
from olpick.shim.cli.parser import Commands
from olpick.shim.errors import LibraryError

Build = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Told = Callable[[str], dict[str, str]]
WriteScript = Callable[[Path, str], Path]
CommandLine = Callable[..., list[str]]

SHIM = Path(commands.__file__).parents[1]


@pytest.fixture(scope="session")
def static(build: Build) -> Path:
    return build("-static", name="static")


def is_error(text: str) -> bool:
    """One line in olpick's form, and perhaps a hint."""
    return re.fullmatch(r"olpick: error: [^\n]*[^\n.]\n(olpick: hint: [^\n]*[^\n.]\n)?", text) is not None


# ---- run: the statuses


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--"],
        ["-q"],
        ["--policy"],
        ["--policy", "worst", "true"],
        ["--policy=", "--", "--"],
        ["--log", "warn,,all", "true"],
        ["--cpu", "z80", "true"],
        ["--no-such-option", "true"],
        ["--pol", "best", "true"],
        ["-x", "true"],
    ],
)
def test_wrong_usage_of_run_is_125(arguments: list[str], olpick: Run) -> None:
    done = olpick("run", *arguments)
    assert is_error(done.stderr)
    assert done.stdout == ""
    assert done.returncode == (127 if arguments[-2:] == ["--", "--"] else 125)


def test_missing_library_is_125_and_nothing_runs(clean: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import sys, olpick.shim.library; from olpick.shim.cli import main\n"
        "olpick.shim.library.NAME = 'gone.so'; sys.exit(main())"
    )

    def without_library(*arguments: str) -> tuple[int, str, bool]:
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, is_error(done.stderr)

    assert without_library("run", "touch", str(tmp_path / "made")) == (125, "", True)
    assert list(tmp_path.iterdir()) == []
    assert without_library("lib") == (4, "", True)


def test_unknown_program_is_127(olpick: Run) -> None:
    for name in ("no-such-program", "/no/such/program", ""):
        done = olpick("run", "--", name)
        assert (done.returncode, done.stdout, is_error(done.stderr)) == (127, "", True)


def test_program_that_cannot_be_executed_is_126(olpick: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    for path in (tmp_path, tmp_path / "data"):
        done = olpick("run", path)
        assert (done.returncode, done.stdout, is_error(done.stderr)) == (126, "", True)


def test_what_only_the_kernel_refuses(olpick: Run, tmp_path: Path, make_elf: Build, write_script: WriteScript) -> None:
    broken = make_elf(tmp_path / "broken")
    no_interpreter = write_script(tmp_path / "script", "#!/no/such/interpreter\n")
    assert olpick("run", no_interpreter).returncode == 127
    done = olpick("run", broken)
    assert done.returncode in (126, -11)  # it has nothing to map: refused, or ended at once, as by any launcher
    assert done.stdout == ""


# ---- run: what the library cannot get into


def test_static_program_runs_with_a_warning(olpick: Run, told: Told, static: Path) -> None:
    done = olpick("run", static, "-x")
    assert told(done.stdout)["arg"] == f"{static} -x"
    assert told(done.stdout)["loaded"] == "0"
    warning, hint = done.stderr.splitlines()
    assert warning.startswith(f"olpick: warning: libolpick.so cannot get into {static}: it is statically linked")
    assert warning.endswith("; running it without")
    assert hint.startswith("olpick: hint: ")
    assert done.returncode == 0


def test_quiet_silences_the_warning(olpick: Run, static: Path) -> None:
    for option in ("-q", "--quiet"):
        done = olpick("run", option, static)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout != ""


def test_require_runs_nothing_without_the_library(olpick: Run, static: Path, show: Path, told: Told) -> None:
    for options in (["--require"], ["-q", "--require"]):
        done = olpick("run", *options, static)
        assert (done.returncode, done.stdout, is_error(done.stderr)) == (125, "", True)
    assert told(olpick("run", "--require", show).stdout)["loaded"] == "1"


def test_require_wants_to_be_sure(olpick: Run, tmp_path: Path, write_script: WriteScript) -> None:
    path = write_script(tmp_path / "script", "#!/usr/bin/env -S LC_ALL=C sh\necho ran\n")
    assert olpick("run", path).stdout == "ran\n"
    done = olpick("run", "--require", path)
    assert (done.returncode, done.stdout, is_error(done.stderr)) == (125, "", True)


def test_children_of_a_static_program_get_the_library(olpick: Run, told: Told, build: Build, show: Path) -> None:
    source = "#include <unistd.h>\nint main(int count, char **given) { return count && execv(given[1], given + 1); }"
    starter = build("-static", source=source, name="starter")
    assert told(olpick("run", "-q", starter, show).stdout)["loaded"] == "1"


def test_refused_library_is_not_in_the_environment(olpick: Run, show: Path, told: Told, tmp_path: Path) -> None:
    library = tmp_path / "libolpick.so"
    library.write_text("no library, and long enough that the loader reads its first bytes" * 10)
    done = olpick("run", "--log", "all", show, library=library, add={"LD_PRELOAD": ""})
    assert told(done.stdout)["loaded"] == "0"
    assert done.returncode == 0


def test_library_of_another_class_is_not_in_the_environment(
    olpick: Run, show: Path, told: Told, tmp_path: Path, make_elf: Build
) -> None:
    library = make_elf(tmp_path / "libolpick.so", bits=32, machine=3)
    done = olpick("run", "--log", "all", show, library=library)
    assert told(done.stdout)["preload"] == "-"
    assert "it is a 64-bit program and the library a 32-bit one; running it without" in done.stderr


def test_reason_of_the_loader_is_said(olpick: Run, show: Path, told: Told, tmp_path: Path, make_elf: Build) -> None:
    library = make_elf(tmp_path / "libolpick.so")
    done = olpick("run", show, library=library)
    assert "from its loader: " in done.stderr
    assert told(done.stdout)["preload"] == "-"


# ---- run: arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["echo", "-q", "--", "x"], "-q -- x\n"),
        (["--", "echo", "--policy", "first"], "--policy first\n"),
        (["-q", "echo", "--require"], "--require\n"),
        (["--policy", "first", "--", "echo", "--", "-V"], "-- -V\n"),
        (["echo", "-h"], "-h\n"),
    ],
)
def test_what_follows_the_command_is_its_own(arguments: list[str], expected: str, olpick: Run) -> None:
    assert olpick("run", *arguments).stdout == expected


def test_command_may_begin_with_a_dash_after_two(olpick: Run, show: Path, told: Told, tmp_path: Path) -> None:
    (tmp_path / "-q").symlink_to(show)
    done = olpick("run", "--", "-q", "x", add={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert told(done.stdout)["arg"] == "-q x"


def test_each_option_sets_its_variable(olpick: Run, tmp_path: Path) -> None:
    options = [
        "--policy=first",
        "--log",
        "select,warn",
        "--log-file=out",
        "--cpu",
        "haswell",
        "--host-fallback",
        "--disable",
    ]
    done = olpick("run", *options, "env", add={"OLPICK_POLICY": "best", "OLPICK_LOG": "nonsense"}, cwd=tmp_path)
    assert {line for line in done.stdout.splitlines() if line.startswith("OLPICK_")} == {
        "OLPICK_CPU=haswell",
        "OLPICK_DISABLE=1",
        "OLPICK_HOST_FALLBACK=1",
        f"OLPICK_LOG_FILE={tmp_path}/out",
        "OLPICK_LOG=select,warn",
        "OLPICK_POLICY=first",
    }
    assert done.stderr == ""


def test_variables_that_are_set_are_left_to_the_library(olpick: Run) -> None:
    done = olpick("run", "printenv", "OLPICK_LOG", add={"OLPICK_LOG": "nonsense"})
    assert (done.stdout, done.stderr) == ("nonsense\n", "")


def test_run_imports_only_what_it_needs(command_line: CommandLine, clean: dict[str, str]) -> None:
    command = command_line("run", "--", "true")
    command[2] = "import os, sys\nos.execve = lambda *_: sys.exit(print(*sys.modules))\n" + command[2]
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
    imported = set(done.stdout.split())
    ours = {name for name in imported if name.startswith("olpick.") and name.count(".") > 2}
    assert ours == {f"olpick.shim.cli.{name}" for name in ("commands", "messages", "parser", "run")}
    heavy = {
        "rich",
        "subprocess",
        "ctypes",
        "importlib.metadata",
        "importlib.resources",
        "olpick.elf",
        "olpick.conformance",
    }
    assert imported & heavy == set()


# ---- lib, controls


def test_lib_prints_the_path(olpick: Run, stand_in: Path) -> None:
    done = olpick("lib")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{stand_in}\n", "")


def test_controls_are_listed_with_what_holds(olpick: Run) -> None:
    done = olpick("controls", add={"OLPICK_LOG": "all", "OLPICK_POLICY": "worst", "OLPICK_TYPO": "1"})
    assert "OLPICK_LOG = all  [environment]" in done.stdout
    assert "OLPICK_POLICY = best  [default]" in done.stdout
    assert done.stderr.splitlines() == [
        "olpick: warning: OLPICK_POLICY: 'worst' is not one of best, first; the default holds",
        "olpick: warning: OLPICK_TYPO: there is no such control; it is ignored",
    ]
    assert done.returncode == 0


def test_controls_as_json(olpick: Run) -> None:
    done = olpick("controls", "--json", add={"OLPICK_LOG": "all", "OLPICK_POLICY": "worst", "OLPICK_TYPO": "1"})
    document = json.loads(done.stdout)
    schema = json.loads((SHIM / "schemas" / "controls.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    by_name = {control["name"]: control for control in document["controls"]}
    assert (by_name["OLPICK_LOG"]["value"], by_name["OLPICK_LOG"]["origin"]) == ("all", "environment")
    assert by_name["OLPICK_POLICY"]["problem"].startswith("'worst'")
    assert document["unknown"] == ["OLPICK_TYPO"]
    assert (done.returncode, done.stderr) == (0, "")


# ---- The command itself


@pytest.mark.parametrize("arguments", [[], ["--no-such-option"], ["no-such-command"], ["lib", "extra"], ["--", "lib"]])
def test_wrong_usage_is_2(arguments: list[str], olpick: Run) -> None:
    done = olpick(*arguments)
    assert (done.returncode, done.stdout, is_error(done.stderr)) == (2, "", True)


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version_says_which_installation_it_is(option: str, olpick: Run, stand_in: Path) -> None:
    done = olpick(option)
    first, second, third = done.stdout.splitlines()
    assert first.startswith("olpick ")
    assert second == f"library: {stand_in}"
    assert third.startswith(f"python: {sys.version_info[0]}.{sys.version_info[1]}.")
    assert (done.returncode, done.stderr) == (0, "")


def test_help_lists_all_commands(olpick: Run) -> None:
    done = olpick("--help")
    for name, entry in commands.BUILT_IN.items():
        assert re.search(rf"^ +{name} +{re.escape(entry.help)}$", done.stdout, re.MULTILINE)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["run", "lib", "controls"])
def test_help_of_a_command_has_an_example(name: str, olpick: Run) -> None:
    done = olpick(name, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "example:\n  " in done.stdout
    assert all(len(line) <= 120 for line in done.stdout.splitlines())


def test_module_can_be_run(clean: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "olpick.shim", "-h"], env=clean, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("usage: olpick ")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_closed_output_is_no_error(unbuffered: str, command_line: CommandLine, clean: dict[str, str]) -> None:
    for arguments in (["controls"], ["lib"], ["--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        environment = {**clean, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(
            command_line(*arguments), env=environment, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert done.stderr == ""
        # argparse says nothing of what it could not write.
        assert done.returncode == 141 or (arguments == ["--help"] and unbuffered)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_full_output_is_an_error(unbuffered: str, command_line: CommandLine, clean: dict[str, str]) -> None:
    environment = {**clean, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command_line("lib"), env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, is_error(done.stderr)) == (4, True)


def test_closed_standard_error_does_not_reach_the_output(olpick: Run) -> None:
    done = olpick(
        "run", "sh", "-c", 'exec 2>&-; exec "$@"', "sh", sys.executable, "-m", "olpick.shim", "no-such-command"
    )
    assert (done.returncode, done.stdout) == (2, "")


def test_what_is_said_stays_on_its_line(olpick: Run) -> None:
    done = olpick("run", "a\nb\x1b[1m\udcff")
    assert done.stderr == "olpick: error: cannot run 'a\\nb\\x1b[1m\\udcff': it is in no folder of PATH\n"


# ---- Commands of other packages, and what goes wrong inside


class Plugin:
    """The module of a command."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure

    def configure(self, parsers: Commands) -> None:
        parsers.add_parser("added", help="a command of another package").add_argument("--word")

    def execute(self, args: object) -> int:
        if self.failure:
            raise self.failure
        print(vars(args)["word"])
        return 1


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[Plugin | None], None]:
    """Installs a command `added`; None stands for one that cannot be imported."""

    def install(plugin: Plugin | None) -> None:
        points = EntryPoints(
            [EntryPoint("added", "olpick_added", commands.GROUP), EntryPoint("lib", "x", commands.GROUP)]
        )
        monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points.select(group=group))
        if plugin:
            monkeypatch.setitem(sys.modules, "olpick_added", plugin)

    return install


def test_command_of_another_package(install: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    install(Plugin())
    assert cli.main(["added", "--word", "x"]) == 1
    assert capsys.readouterr() == ("x\n", "")
    assert cli.main(["added", "--wor", "x"]) == 2
    assert is_error(capsys.readouterr().err)
    assert cli.main(["--help"]) == 0
    listed = capsys.readouterr().out
    assert "added        a command of another package" in listed
    assert listed.count(" lib ") == 1


def test_command_that_cannot_be_imported(install: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    install(None)
    assert cli.main(["--help"]) == 0
    assert "(cannot be loaded: No module named 'olpick_added')" in capsys.readouterr().out
    assert cli.main(["added"]) == 4
    assert "olpick: error: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("failure", "status", "said"),
    [
        (DecodeError("bad-size", 8, "too small"), 3, "at offset 8: too small"),
        (LibraryError("no-library", "there is none", "make one"), 4, "there is none\nolpick: hint: make one"),
        (OlpickError("other", "something else"), 3, "something else"),
        (FileNotFoundError(2, "No such file or directory", "/x"), 3, "/x: no such file or directory"),
    ],
)
def test_failures_have_a_message_and_a_status(
    failure: Exception, status: int, said: str, install: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    install(Plugin(failure))
    assert cli.main(["added"]) == status
    assert capsys.readouterr() == ("", f"olpick: error: {said}\n")


def test_bug_is_no_negative_answer(install: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    install(Plugin(ZeroDivisionError("division by zero")))
    assert cli.main(["added"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" in said.err
    assert "olpick: error: internal error: ZeroDivisionError: division by zero\n" in said.err


def test_interrupt_is_130(install: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    install(Plugin(KeyboardInterrupt()))
    assert cli.main(["added"]) == 130
    assert capsys.readouterr() == ("", "")


def test_messages_survive_without_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    messages.error("nobody hears it")
