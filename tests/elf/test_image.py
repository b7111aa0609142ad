"""The form of an image by its bytes (OLP-FACT-001)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from olpick.elf import form, table


def elf(machine: int, encoding: int = 1, length: int = 64) -> bytes:
    order = "little" if encoding == 1 else "big"
    ident = b"\x7fELF" + bytes([2, encoding, 1]) + bytes(9)
    return (ident + b"\3\0" + machine.to_bytes(2, order)).ljust(64, b"\0")[:length]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty"),
        (elf(62), "host-elf"),
        (elf(190), "cubin"),
        (elf(224), "hsaco"),
        (elf(205), "intel-elf"),
        (elf(183), "other-elf"),
        (elf(62, length=20), "host-elf"),
        (elf(62, length=19), "other-elf"),
        (elf(62, encoding=2), "other-elf"),
        (elf(62, encoding=0), "other-elf"),
        (b"\x7fELF", "other-elf"),
        (b"\x7fEL", "unknown"),
        (b"\x03\x02\x23\x07", "spirv"),
        (b"\x07\x23\x02\x03", "unknown"),
        (b"BC\xc0\xde", "bitcode"),
        (b"\xde\xc0\x17\x0b rest", "bitcode"),
        (b"\x50\xed\x55\xba", "fatbin"),
        (b"__CLANG_OFFLOAD_BUNDLE__", "clang-bundle"),
        (b"__CLANG_OFFLOAD_BUNDLE_", "unknown"),
        (b"CCOB", "compressed-bundle"),
        (b"\x10\xff\x10\xad", "offload-binary"),
        (b".version 8.0\n", "ptx"),
        (b".version\t8.0", "ptx"),
        (b".version\n", "ptx"),
        (b".version", "unknown"),
        (b".versions 8.0", "unknown"),
        (b".Version 8.0", "unknown"),
        (b" \t\r\n.version 8.0", "ptx"),
        (b"\v.version 8.0", "unknown"),
        (b"// a comment\r\n/* another\n*/ .version 8.0", "ptx"),
        (b"//\n//\n/**/.version 8.0", "ptx"),
        (b"/* a */ b */ .version 8.0", "unknown"),
        (b"/*/ .version 8.0", "unknown"),
        (b"/*/ */ .version 8.0", "ptx"),
        (b"/* .version 8.0", "unknown"),
        (b"// .version 8.0", "unknown"),
        (b"/ .version 8.0", "unknown"),
        (b".target sm_90\n.version 8.0", "unknown"),
        (b" " * 4087 + b".version 8.0", "ptx"),
        (b" " * 4088 + b".version 8.0", "unknown"),
        (b"junk", "unknown"),
    ],
)
def test_form(data: bytes, expected: str) -> None:
    assert form(data) == expected
    assert form(memoryview(b"\0" + data)[1:]) == expected


@given(st.binary(max_size=80) | st.text("/* \n.version", max_size=80).map(str.encode))
def test_any_bytes_have_a_form(data: bytes) -> None:
    assert form(data) in table("form")


@pytest.mark.parametrize("hostile", [b"/" * 5000, b"/*" * 3000, b"/**/" * 2000, b"//\n" * 2000, b"/* " + b"*/ " * 2000])
def test_hostile_comments_take_no_time(hostile: bytes) -> None:
    assert form(hostile) == "unknown"
