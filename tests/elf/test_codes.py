"""The closed lists, and the exceptions that carry their words."""

import copy
import pickle
import re
from importlib.resources import files

import pytest
from olpick.elf import DecodeError, FileError, OlpickError, table
from olpick.elf.codes import tables


def test_every_list_is_there_and_closed() -> None:
    assert set(tables()) >= {"error", "finding", "form", "verdict", "reason", "step", "policy", "key"}
    for kind, codes in tables().items():
        for name, code in codes.items():
            assert name == code.name
            assert re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", name)
            assert (code.severity != "") == (kind == "finding")
            assert (code.class_ != "") == (kind == "reason")
    assert {code.severity for code in table("finding").values()} == {"note", "warning"}
    assert {code.class_ for code in table("reason").values()} == {"C", "P", "E"}


def test_a_list_that_is_not_there() -> None:
    with pytest.raises(KeyError):
        table("errors")


def test_the_lists_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        table("error")["mine"] = table("error")["truncated"]  # type: ignore[index]


def test_every_word_that_is_raised_is_in_its_list() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in files("olpick.elf").iterdir() if path.name.endswith(".py")
    )
    raised = set(re.findall(r"(?:DecodeError|FileError|_MalformedError|_malformed)\(\s*\"([a-z-]+)\"", source))
    found = set(re.findall(r"Finding\.of\(\s*\"([a-z-]+)\"", source))
    assert raised == set(table("error"))
    assert found == {"junk-after-binary", "duplicate-key", "unknown-kind", "cannot-inflate", "bad-inner"}


@pytest.mark.parametrize("kind", [DecodeError, FileError])
def test_errors_survive_pickle_and_copy(kind: type[DecodeError]) -> None:
    error = kind("bad-size", 8, "why")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301
        assert type(twin) is kind
        assert (twin.code, twin.offset, twin.why, str(twin)) == ("bad-size", 8, "why", str(error))


def test_messages() -> None:
    assert str(DecodeError("bad-size", 8, "why")) == "at offset 8: why"
    assert str(DecodeError("bad-size", 8, "why").moved(100)) == "at offset 108: why"
    assert str(FileError("cannot-read", 0, "why")) == "why"
    assert isinstance(FileError("cannot-read", 0, "why"), OlpickError)
