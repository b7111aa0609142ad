"""The codes that commands fail with are words of the closed lists, and each is used."""

import re
from importlib.resources import files

from olpick.elf.codes import table


def test_each_failure_is_a_word_of_its_list() -> None:
    raised = set()
    for path in files("olpick.shim").rglob("*.py"):  # type: ignore[attr-defined]
        text = path.read_text()
        raised |= set(re.findall(r'(?:Library|Control|Program|Device|Toolchain|Shim)Error\(\s*"([a-z-]+)"', text))
        raised |= set(re.findall(r'code = "([a-z-]+)"', text))
        raised |= set(re.findall(r'"(not-[a-z]+)"', text))
    words = set(table("failure"))
    assert words <= raised
    assert {word for word in raised if word not in words} <= {"not-loaded"}
