"""What may stand in text that others wrote and we show."""

import contextlib
import unicodedata
from typing import Any

__all__ = ["is_invisible", "looks_like", "plain", "strange_in_name", "uncomputed", "without_commands"]

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories of control, format and unassigned characters and of line separators."""
_BLANK = {
    0x034F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    0x2800,
    0x3164,
    0xFFA0,
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
}
"""Characters that Unicode counts as letters, marks or symbols, and that show nothing."""
_MOST_MARKS = 2
"""Marks that may stand on one letter: more of them reach into the lines above and below."""
_LIKE_LATIN = {
    "CYRILLIC": ("асԁеһіјӏорԛѕԝхуАВСЕНІЈКМОРЅТХУ", "acdehijlopqswxyABCEHIJKMOPSTXY"),
    "GREEK": ("αικνορυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aiknopuABEZHIKMNOPTYX"),
    "ARMENIAN": ("օսհոցՕՍ", "ouhngOU"),
    "LISU": ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU"),
    "CHEROKEE": ("ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎵᎷᎻᎽᏀᏂᏃᏎᏔᏙᏚᏞᏟᏢᏣᏦᏧᏩᏭᏮᏯᏳᏴ", "DRTiYAJEWPMHYGhZ4WVSLCPCKdGw6wGB"),
    "COPTIC": ("ⲀⲂⲈⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲟⲣⲥ", "ABEHIKMNOPCTYXopc"),
}
_LIKE_PLAIN = ("ɑɡıƖɩǀꞁʟᴀʙᴄᴅᴇɢʜɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢʋʼ’‘ʹ′´ˈ‐–−", "agilllllabcdeghIjkmnoprstuvwyzv'''''''---")
"""Latin letters, apostrophes and hyphens that an eye takes for more usual ones."""
_BESIDE_LATIN = {"", "LATIN", "MODIFIER", "FEMININE", "MASCULINE"}
"""What may stand in one word with Latin letters: what is no letter, and letters that belong to them."""
_SAME_SHAPE = {
    **{
        ord(other): latin
        for others, latins in _LIKE_LATIN.values()
        for other, latin in zip(others, latins, strict=True)
    },
    **{ord(other): usual for other, usual in zip(*_LIKE_PLAIN, strict=True)},
    **{ord("0"): "O", ord("1"): "l", ord("I"): "l", ord("|"): "l"},
}


def is_invisible(character: str) -> bool:
    """Whether a terminal or a browser would act on a character instead of showing it."""
    return unicodedata.category(character) in _INVISIBLE


def plain(text: str, limit: int = 500) -> str:
    """Text that somebody else wrote, fit to be shown: one line, nothing invisible, not longer than ``limit``."""
    shown = "".join("?" if is_invisible(character) else character for character in " ".join(text.split()))
    return without_commands(shown if len(shown) <= limit else f"{shown[: limit - 3]}...")


def without_commands(text: str) -> str:
    """The same text without what a workflow's log takes for a command: ``::error``, ``##[group]``."""
    while "::" in text:
        text = text.replace("::", ": :")
    return text.replace("##[", "## [")


def uncomputed(value: Any) -> Any:
    """A cell of a table that no spreadsheet computes: text that begins like a formula has an apostrophe before it.

    What begins with a sign and has no letter is a number, perhaps with its interval, and stays.
    """
    if not isinstance(value, str):
        return value
    with contextlib.suppress(ValueError):
        float(value)  # ``-1e-05`` has a letter
        return value
    first = unicodedata.normalize("NFKC", value.lstrip()[:1])
    formula = first in {"=", "@"} or (first in {"+", "-"} and any(one.isalpha() for one in value))
    return f"'{value}" if formula else value


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def _script(character: str) -> str:
    """The first word of a letter's name, which is its script for all that are mixed up with Latin."""
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def strange_in_name(text: str) -> str | None:
    """Why a text is no name, with the character that is to blame; None for a name that can be read and told apart."""
    return _unshown(text) or _unreadable(text) or _other_form(text) or _mixed(text)


def _unshown(text: str) -> str | None:
    """Why a character of the text shows nothing, or more than it should."""
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category.startswith("M") else 0
        if category in _INVISIBLE:
            return f"may not contain control or invisible characters ({_named(character)})"
        if ord(character) in _BLANK or (category == "Zs" and character != " "):
            return f"may not contain blank characters other than the space ({_named(character)})"
        if marks > _MOST_MARKS:
            return f"has more than {_MOST_MARKS} marks on one letter ({_named(character)})"
    return None


def _unreadable(text: str) -> str | None:
    if text != text.strip(" ") or "  " in text:
        return "may not begin or end with a space, or have two of them in a row (U+0020 SPACE)"
    if unicodedata.category(text[:1] or " ").startswith("M"):
        return f"may not begin with a mark that belongs on a letter ({_named(text[0])})"
    if text[0] in "=+-@":
        return f"may not begin with a character that makes a table compute ({_named(text[0])})"
    return None if any(character.isalnum() for character in text) else "has no letter and no digit"


def _other_form(text: str) -> str | None:
    for one in text:
        if unicodedata.normalize("NFKC", one) != unicodedata.normalize("NFC", one):
            return f"has a character that is another form of an ordinary one ({_named(one)})"
    return None


def _mixed(text: str) -> str | None:
    """Why a word of the text may look like another: Latin letters stand beside those of another script."""
    for word in text.split():
        others = [one for one in word if _script(one) not in _BESIDE_LATIN]
        if others and any(_script(one) == "LATIN" for one in word):
            return f"mixes Latin letters with others in one word ({_named(others[0])})"
    return None


def looks_like(text: str) -> str:
    """The same for names that an eye does not tell apart."""
    usual = unicodedata.normalize("NFKC", text).translate(_SAME_SHAPE)
    return " ".join(usual.translate(_SAME_SHAPE).casefold().split())  # twice: what looks like I looks like l as well
