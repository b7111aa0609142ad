"""The table of controls, what it takes, and what holds."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import olpick.shim
import pytest
from hypothesis import given
from hypothesis import strategies as st
from olpick.elf.targets import names as cpu_names
from olpick.shim.controls import FLAGS, PATH_BYTES, Control, all_controls, effective, unknown_names, variables
from olpick.shim.errors import ControlError

TABLE = Path(olpick.shim.__path__[0]) / "data" / "controls.toml"
BY_NAME = {control.name: control for control in all_controls()}
CHOICE, WORDS, FLAG = BY_NAME["OLPICK_POLICY"], BY_NAME["OLPICK_LOG"], BY_NAME["OLPICK_DISABLE"]
FILE, CPU = BY_NAME["OLPICK_LOG_FILE"], BY_NAME["OLPICK_CPU"]

# No NUL and no lone surrogate: such text cannot be in an environment.
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def held(environment: Mapping[str, str], options: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    return {setting.control.name: (setting.value, setting.origin) for setting in effective(environment, options or {})}


def test_table_is_read_whole() -> None:
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))["control"]
    assert [control.name for control in all_controls()] == [row["name"] for row in rows]
    for control, row in zip(all_controls(), rows, strict=True):
        assert {**row, "values": tuple(row.get("values", ()))} == {
            "name": control.name,
            "type": control.type,
            "default": control.default,
            "option": control.option,
            "help": control.help,
            "values": control.values,
        }


@pytest.mark.parametrize("control", all_controls(), ids=lambda control: control.name)
def test_every_control_is_well_formed(control: Control) -> None:
    assert re.fullmatch(r"OLPICK_[A-Z_]+", control.name)
    assert re.fullmatch(r"--[a-z-]+", control.option)
    assert control.key.isidentifier()
    assert control.problem(control.default) == ""
    assert bool(control.values) == (control.type in ("choice", "words"))


@given(st.one_of(st.sampled_from(CHOICE.values), text))
def test_choice_takes_its_values(value: str) -> None:
    assert (CHOICE.problem(value) == "") == (value in ("", *CHOICE.values))


@given(st.lists(st.one_of(st.sampled_from(WORDS.values), st.sampled_from(["", " ", "Warn", "warn ", "warns"]), text)))
def test_words_are_taken_when_each_is_known(words: list[str]) -> None:
    value = ",".join(words)
    pattern = f"({'|'.join(WORDS.values)})(,({'|'.join(WORDS.values)}))*|"
    assert (WORDS.problem(value) == "") == (re.fullmatch(pattern, value) is not None)


@given(st.lists(st.sampled_from(WORDS.values), min_size=1), st.integers(0), text.filter(lambda word: "," not in word))
def test_one_unknown_word_spoils_the_list(words: list[str], place: int, word: str) -> None:
    words.insert(place % (len(words) + 1), word)
    problem = WORDS.problem(",".join(words))
    assert (problem == "") == (word in WORDS.values)
    assert not problem or f"'{word}'" in problem


@given(st.sampled_from(list(FLAGS)).flatmap(lambda word: st.sampled_from([word, word.upper(), word.title()])))
def test_flag_takes_its_words_in_any_case(value: str) -> None:
    assert FLAG.problem(value) == ""


@given(text)
def test_flag_takes_nothing_else(value: str) -> None:
    wrong = value != "" and re.fullmatch("0|1|true|false|yes|no|on|off", value, re.IGNORECASE | re.ASCII) is None
    assert bool(FLAG.problem(value)) == wrong


def test_path_is_taken_when_the_library_can_keep_it() -> None:
    assert FILE.problem("/a b/c:d") == ""
    assert FILE.problem("x" * (PATH_BYTES - 1)) == ""
    assert FILE.problem("x" * PATH_BYTES) != ""
    assert FILE.problem("ä" * (PATH_BYTES // 2)) != ""


def test_cpu_takes_the_names_of_the_table() -> None:
    assert {"x86-64-v3", "haswell"} <= set(cpu_names())
    for name in cpu_names():
        assert CPU.problem(name) == ""
    for name in ("Haswell", "z80", " haswell"):
        assert "no level or CPU" in CPU.problem(name)


def test_default_holds_where_nothing_is_set() -> None:
    assert held({}) == {control.name: (control.default, "default") for control in all_controls()}
    assert held({control.name: "" for control in all_controls()}) == held({})


def test_option_comes_before_the_environment_and_that_before_the_default() -> None:
    environment = {"OLPICK_POLICY": "first", "OLPICK_LOG": "all", "OTHER": "x"}
    holds = held(environment, {"OLPICK_LOG": "none"})
    assert holds["OLPICK_POLICY"] == ("first", "environment")
    assert holds["OLPICK_LOG"] == ("none", "option")
    assert holds["OLPICK_CPU"] == ("", "default")


@given(text)
def test_bad_value_leaves_the_default(value: str) -> None:
    (setting,) = (setting for setting in effective({WORDS.name: value}) if setting.control == WORDS)
    if WORDS.problem(value):
        assert (setting.value, setting.origin, setting.problem) == ("warn", "default", WORDS.problem(value))
    else:
        assert (setting.value, setting.problem) == (value or "warn", "")


def test_variables_that_no_control_has_are_found() -> None:
    assert unknown_names({"OLPICK_POLICI": "x", "OLPICK_EMPTY": "", "OLPICK_LOG": "all", "PATH": "x"}) == [
        "OLPICK_POLICI"
    ]


def test_settings_become_variables() -> None:
    assert variables({}) == {}
    assert variables({"log": "select", "host_fallback": True, "disable": False, "log_file": ""}) == {
        "OLPICK_LOG": "select",
        "OLPICK_HOST_FALLBACK": "1",
        "OLPICK_DISABLE": "0",
        "OLPICK_LOG_FILE": "",
    }


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"polices": "best"}, "no-control"), ({"policy": "worst"}, "bad-value"), ({"log": True}, "bad-value")],
)
def test_settings_that_cannot_be(settings: dict[str, str | bool], code: str) -> None:
    with pytest.raises(ControlError) as caught:
        variables(settings)
    assert caught.value.code == code
