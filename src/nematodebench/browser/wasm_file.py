"""Makes a module that a browser can start of an object that LLVM emits: adds exports, drops what linkers need."""

from collections.abc import Iterator

__all__ = ["data_end", "imports", "module_of"]

_CUSTOM, _TYPE, _IMPORT, _EXPORT, _ELEMENT, _CODE, _DATA = 0, 1, 2, 7, 9, 10, 11
_SYMBOLS = 8
_FUNCTION, _UNDEFINED, _EXPLICIT = 0, 0x10, 0x40
_HEADER = b"\0asm\1\0\0\0"
_ORDER = (1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11)


class _Reader:
    """Reads numbers and names one after the other."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.content[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        start = self.at
        value = self.number()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if self.content[self.at - 1] & 0x40 else value

    def bytes(self) -> bytes:
        size = self.number()
        self.at += size
        return self.content[self.at - size : self.at]

    def name(self) -> str:
        return self.bytes().decode()

    @property
    def more(self) -> bool:
        return self.at < len(self.content)


def _number(value: int) -> bytes:
    found = bytearray()
    while True:
        value, byte = value >> 7, value & 0x7F
        found.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(found)


def _sized(content: bytes) -> bytes:
    return _number(len(content)) + content


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    if not module.startswith(_HEADER):
        raise ValueError("this is no WebAssembly module")
    reader = _Reader(module)
    reader.at = len(_HEADER)
    while reader.more:
        kind = reader.content[reader.at]
        reader.at += 1
        yield kind, reader.bytes()


def _functions(linking: bytes) -> dict[str, int]:
    """The defined functions of an object's symbol table, with their numbers."""
    reader = _Reader(linking)
    reader.number()  # the version
    found: dict[str, int] = {}
    while reader.more:
        kind = reader.content[reader.at]
        reader.at += 1
        table = _Reader(reader.bytes())
        if kind == _SYMBOLS:
            for _ in range(table.number()):
                found |= _symbol(table)
    return found


def _symbol(table: _Reader) -> dict[str, int]:
    kind, flags = table.number(), table.number()
    if kind == 1:  # data: a name, and where it lies if it is here
        table.name()
        if not flags & _UNDEFINED:
            table.number(), table.number(), table.number()
        return {}
    if kind == 3:  # a section
        table.number()
        return {}
    number = table.number()
    named = not flags & _UNDEFINED or flags & _EXPLICIT
    name = table.name() if named else ""
    return {name: number} if kind == _FUNCTION and not flags & _UNDEFINED else {}


def module_of(compiled: bytes, exported: dict[str, str]) -> bytes:
    """A module that exports functions.

    Args:
        compiled: The object.
        exported: Names of functions in the object, by the names they are exported under.
    """
    sections, functions = {}, {}
    for kind, content in _sections(compiled):
        if kind != _CUSTOM:
            sections[kind] = content
        elif (reader := _Reader(content)).name() == "linking":
            functions = _functions(content[reader.at :])
    entries = [_sized(name.encode()) + b"\0" + _number(functions[symbol]) for name, symbol in exported.items()]
    sections[_EXPORT] = _number(len(entries)) + b"".join(entries)
    return _HEADER + b"".join(bytes([kind]) + _sized(sections[kind]) for kind in _ORDER if kind in sections)


def imports(module: bytes) -> list[str]:
    """Names of the functions that a module wants from outside."""
    content = next(content for kind, content in _sections(module) if kind == _IMPORT)
    reader, found = _Reader(content), []
    for _ in range(reader.number()):
        reader.name()
        name, kind = reader.name(), reader.number()
        if kind == 0:
            reader.number()
            found.append(name)
        elif kind == 3:
            reader.at += 2
        else:
            reader.at += kind == 1
            bounded = reader.number()
            reader.number()
            if bounded & 1:
                reader.number()
    return found


def data_end(module: bytes) -> int:
    """The first byte of memory behind the module's own data."""
    content = next((content for kind, content in _sections(module) if kind == _DATA), b"\0")
    reader, end = _Reader(content), 0
    for _ in range(reader.number()):
        reader.number()
        reader.number()  # i32.const
        offset = reader.signed()
        reader.number()  # end
        end = max(end, offset + len(reader.bytes()))
    return end
