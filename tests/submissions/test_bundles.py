"""Bundles of source: what is refused, each with its own message, and that nothing of them is ever imported here."""

import hashlib
import os
import shutil
import time

import pytest
from bundle_workshop import HONEST, REFUSED, SOURCES, bundle_repository, bundled, files_of
from pydantic import ValidationError
from submission_workshop import command, copied, official

from nematodebench.engine.isolation import sandbox
from nematodebench.errors import UsageError
from nematodebench.records.bundle_schema import MAX_FILES, Bundle, BundleFile, bundle_hash, entry_of
from nematodebench.submissions.bundles import BUNDLES, MAX_BYTES, MAX_FILE_BYTES, bundle_problems, pack
from nematodebench.submissions.store import load_submission

GOOD = "class Mine:\n    pass\n"


def packed(folder, brain="mine.py:Mine", needs=("numpy",), **files):
    """Packs files that are written first; keywords are their names without ``.py``."""
    for name, content in files.items():
        path = folder / f"{name}.py"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return pack([folder / f"{name}.py" for name in files], brain, needs)


def test_a_bundle_is_named_by_all_that_it_is(tmp_path):
    bundle, sources = packed(tmp_path, mine=GOOD, helper="x = 1\n")
    assert sources == {"mine.py": GOOD.encode(), "helper.py": b"x = 1\n"}
    assert (bundle.entry, bundle.dependencies) == ("mine.py:Mine", ["numpy"])
    assert bundle.sha256 == bundle_hash(bundle.entry, list(reversed(bundle.files)), bundle.dependencies)
    others = [packed(tmp_path, mine=GOOD)[0], packed(tmp_path, mine=GOOD, helper="x = 2\n")[0]]
    others += [packed(tmp_path, mine=GOOD, helper="x = 1\n", needs=["numpy", "torch"])[0]]
    assert len({bundle.sha256, *(other.sha256 for other in others)}) == 4


def test_comments_and_texts_may_be_in_any_language(tmp_path):
    assert packed(tmp_path, mine=f"# Öl und 李雷\n{GOOD}x = 'сара'\n")[0].entry == "mine.py:Mine"


@pytest.mark.parametrize("text", [r"'\'Öl'", r"r'\'Öl'", "b'x' 'Öl'", '"""f Öl\n"""', "'\\\n Öl'"])
def test_texts_end_where_python_ends_them(tmp_path, text):
    assert packed(tmp_path, mine=f"{GOOD}x = {text}\n")[0].entry == "mine.py:Mine"


def test_a_text_of_escaped_quotes_is_read_in_time_that_grows_with_its_length(tmp_path):
    """A quarter of a megabyte of them took Python's reader three quarters of an hour."""
    began = time.process_time()
    packed(tmp_path, mine=f"# Öl\n{GOOD}x = '" + "\\'" * 120_000 + "\n")
    assert time.process_time() - began < 20


def test_an_encoding_that_says_what_is_true_is_taken(tmp_path):
    assert packed(tmp_path, mine=f"# -*- coding: utf-8 -*-\n{GOOD}")[0].entry == "mine.py:Mine"


@pytest.mark.parametrize(
    "brain", ["mine:Mine", "mine.py:Mine", "/home/ada/mine.py:Mine", "deep/mine.py:Mine", "a.mine:Mine"]
)
def test_every_way_to_name_a_brain_has_the_same_entry(brain):
    assert entry_of(brain) == "mine.py:Mine"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"mine": b"\xff\xfe"}, "is not UTF-8 text"),
        ({"mine": "x = 1\x00\n"}, r"control or invisible character \(U\+0000\)"),
        ({"mine": "x = 1  # \u202e\n"}, r"control or invisible character \(U\+202E\)"),
        ({"mine": "x = 1\u200b\n"}, r"control or invisible character \(U\+200B\)"),
        ({"mine": "\x1b[2J"}, r"control or invisible character \(U\+001B\)"),
        ({"mine": "x = 1\r\n"}, "line ends of Windows"),
        ({"mine": "#" * (MAX_FILE_BYTES + 1)}, f"at most {MAX_FILE_BYTES:,} are read"),
        ({f"{name}": "#" * (MAX_FILE_BYTES - 1) for name in ("mine", "a", "b", "c", "d")}, f"at most {MAX_BYTES:,}"),
        ({"mine": GOOD, "numpy": "x = 1\n"}, "has the name of a library"),
        ({"mine": GOOD, "random": "x = 1\n"}, "has the name of a library"),
        ({"mine": GOOD, "NumPy": "x = 1\n"}, "has the name of a library"),
        ({"mine": GOOD, "Encodings": "x = 1\n"}, "has the name of a library"),
        ({"mine": "\uff4fs = 1\n"}, "otherwise than people: use plain letters"),
        ({"mine": "\u0441lass_ = 1\n"}, "otherwise than people: use plain letters"),
        ({"mine": "x = f'{\uff4fs.name}'\n"}, "otherwise than people: use plain letters"),
        ({"mine": 'x = Rf"""\n{\uff4fs.name}"""\n'}, "otherwise than people: use plain letters"),
        ({"mine": "x = '\\\\'; \uff4fs = 1\n"}, "otherwise than people: use plain letters"),
        ({"mine": GOOD, "nematodebench": "x = 1\n"}, "has the name of a library"),
        ({"mine": "# coding: utf-7\nx = 1\n"}, "declares another encoding"),
        ({"mine": "#\n# -*- coding: unicode_escape -*-\n# \\u000aimport os\n"}, "declares another encoding"),
        ({"mine": "# vim: set fileencoding=nonsense :\n"}, "declares another encoding"),
        ({"mine": GOOD, "conftest": "x = 1\n"}, "conftest.py has a name that Python or its tools execute"),
        ({"mine": GOOD, "test_mine": "x = 1\n"}, "test_mine.py has a name that Python or its tools execute"),
        ({"mine": GOOD, "mine_test": "x = 1\n"}, "mine_test.py has a name that Python or its tools execute"),
        ({"mine": GOOD, "SiteCustomize": "x = 1\n"}, "SiteCustomize.py has a name that Python or its tools execute"),
        ({"mine": GOOD, "__init__": "x = 1\n"}, "__init__.py has a name that Python or its tools execute"),
        ({"helper": "x = 1\n"}, "lacks mine.py"),
        ({"mine": GOOD, "Mine": "x = 1\n"}, "differ only in upper and lower case"),
        ({"mine": GOOD, "my-helper": "x = 1\n"}, "String should match pattern"),
        ({"mine": GOOD, **{f"h{k}": "x = 1\n" for k in range(MAX_FILES)}}, f"at most {MAX_FILES} items"),
    ],
)
def test_files_that_make_no_bundle(tmp_path, files, message):
    with pytest.raises(UsageError, match=message):
        packed(tmp_path, **files)


def test_only_libraries_of_the_list_can_be_needed(tmp_path):
    with pytest.raises(UsageError, match="Input should be 'numba', 'numpy', 'scipy' or 'torch'"):
        packed(tmp_path, mine=GOOD, needs=["requests"])


def test_a_link_is_no_source(tmp_path):
    (tmp_path / "target.py").write_text(GOOD)
    (tmp_path / "mine.py").symlink_to(tmp_path / "target.py")
    with pytest.raises(UsageError, match="is a symbolic link"):
        pack([tmp_path / "mine.py"], "mine.py:Mine", [])


@pytest.fixture
def kept(tmp_path):
    """A bundle in its place below a root, as a submission has it."""
    bundle, sources = packed(tmp_path, mine=GOOD, helper="x = 1\n")
    folder = tmp_path / "root" / BUNDLES / bundle.sha256
    folder.mkdir(parents=True)
    for name, content in sources.items():
        (folder / name).write_bytes(content)
    return tmp_path / "root", folder, bundle


def _linked(folder):
    shutil.copytree(folder, folder.with_name("away"))
    shutil.rmtree(folder)
    folder.symlink_to("away")


def _link_to_file(folder):
    (folder / "helper.py").unlink()
    (folder / "helper.py").symlink_to("mine.py")


def _hard_link(folder):
    (folder.parent / "elsewhere.py").hardlink_to(folder / "helper.py")


def _pipe(folder):
    (folder / "helper.py").unlink()
    os.mkfifo(folder / "helper.py")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "other.py").write_text("x\n"), "holds files that are not part of the bundle: 'other.py'"),
        (lambda f: (f / ".hidden").write_text("x\n"), "not part of the bundle: '.hidden'"),
        (lambda f: (f / "__pycache__").mkdir(), "not part of the bundle: '__pycache__'"),
        (lambda f: (f / "mine.cpython-311.pyc").write_bytes(b"x"), "not part of the bundle: 'mine.cpython-311.pyc'"),
        (lambda f: (f / "mine.py").write_text(GOOD + "\n"), "mine.py of the bundle is not the file that was submitted"),
        (lambda f: (f / "helper.py").write_text("x = 2\n"), "helper.py of the bundle is not the file"),
        (lambda f: (f / "helper.py").unlink(), "helper.py does not exist"),
        (shutil.rmtree, "mine.py does not exist"),
        (_linked, "is a symbolic link"),
        (_link_to_file, "is a symbolic link"),
        (_pipe, "is not a regular file"),
        (_hard_link, "is a hard link"),
        (lambda f: (f / "mine.pth").write_text("import os\n"), "not part of the bundle: 'mine.pth'"),
        (lambda f: (f / "numpy").mkdir(), "not part of the bundle: 'numpy'"),
        (lambda f: (f / "helper.py").write_bytes(b"#" * (MAX_FILE_BYTES + 1)), "are read"),
    ],
)
def test_a_folder_that_is_not_the_bundle(kept, spoil, message):
    root, folder, bundle = kept
    assert bundle_problems(root, bundle) == []
    spoil(folder)
    assert any(message in problem for problem in bundle_problems(root, bundle))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"entry": "helper.py:Mine"}, "sha256 is not that of its entry"),
        ({"entry": "absent.py:Mine"}, "lacks absent.py"),
        ({"dependencies": ["torch"]}, "sha256 is not that of its entry"),
        ({"dependencies": ["numpy", "numpy"]}, "listed twice"),
        ({"sha256": "0" * 64}, "sha256 is not that of its entry"),
    ],
)
def test_a_list_that_is_not_the_bundle(kept, change, message):
    root, _, bundle = kept
    assert any(message in problem for problem in bundle_problems(root, bundle.model_copy(update=change)))


def test_a_file_that_is_listed_twice(kept):
    root, _, bundle = kept
    twice = bundle.model_copy(update={"files": [*bundle.files, bundle.files[0]]})
    assert any("is listed twice in the bundle" in problem for problem in bundle_problems(root, twice))


@pytest.mark.parametrize(
    "change",
    [
        {"entry": "../mine.py:Mine"},
        {"entry": "mine.py:Mine.inner"},
        {"entry": "mine:Mine"},
        {"entry": "mine.py"},
        {"files": []},
        {"files": [{"name": "../../x.py", "sha256": "0" * 64}]},
        {"files": [{"name": "/etc/x.py", "sha256": "0" * 64}]},
        {"files": [{"name": "data.bin", "sha256": "0" * 64}]},
        {"files": [{"name": "mine.py\n", "sha256": "0" * 64}]},
        {"files": [{"name": "mine.py", "sha256": "0" * 63}]},
        {"files": [{"name": "mine.py", "sha256": "0" * 64, "mode": "0755"}]},
        {"files": [{"name": f"f{k}.py", "sha256": "0" * 64} for k in range(MAX_FILES + 1)]},
        {"dependencies": ["os"]},
        {"dependencies": ["numpy>=2"]},
        {"dependencies": "numpy"},
        {"install": "setup.py"},
    ],
)  # fmt: skip
def test_what_has_not_the_shape_of_a_bundle(change):
    good = {
        "sha256": "0" * 64, "entry": "mine.py:Mine", "files": [{"name": "mine.py", "sha256": "0" * 64}],
        "dependencies": ["numpy"],
    }  # fmt: skip
    Bundle.model_validate(good)
    with pytest.raises(ValidationError):
        Bundle.model_validate({**good, **change})


# A whole submission
@pytest.mark.slow
def test_a_submission_with_a_bundle_passes_without_its_source_being_anywhere(tmp_path):
    work = bundled(tmp_path / "repo", HONEST)
    assert work.path.parent.name == "open"
    claims = load_submission(work.path)
    assert (claims.brain_type, claims.brain_class) == (HONEST, "open")
    assert claims.bundle is not None
    folder = work.root / BUNDLES / claims.bundle.sha256
    assert {path.name: path.read_text() for path in folder.iterdir()} == {n: SOURCES[n] for n in files_of(HONEST)}
    outcome = work.evaluate()
    assert outcome.code == 0, outcome.out
    assert outcome.report["category"] == "pattern_memory_easy/open"


def _without_bundle(work):
    work.claims["bundle"] = None


def _declared_class(work):
    work.claims["brain_class"] = "spiking"
    work.move(category="pattern_memory_easy/spiking")


def _replaced_source(work):
    """Another source in a bundle that agrees with itself: only the sessions were made with the first."""
    old, new = work.claims["bundle"], SOURCES["bundled_table.py"].replace("0.2", "0.9").encode()
    folder = copied(work.root / BUNDLES / old["sha256"], work.root / BUNDLES / "new")
    (folder / "bundled_table.py").write_bytes(new)
    next(f for f in old["files"] if f["name"] == "bundled_table.py")["sha256"] = hashlib.sha256(new).hexdigest()
    old["sha256"] = bundle_hash(old["entry"], [BundleFile(**file) for file in old["files"]], old["dependencies"])
    folder.rename(folder.with_name(old["sha256"]))


def _other_entry(work):
    old = work.claims["bundle"]
    work.claims["brain_type"] = old["entry"] = "bundled_rows.py:Rows"


@pytest.mark.parametrize(
    ("spoil", "check", "message"),
    [
        (_without_bundle, "brain", "carries no bundle of its source: it cannot be verified"),
        (_declared_class, "identity", "brain_class is not that of the sessions"),
        (_declared_class, "category", "belong to 'pattern_memory_easy/open'"),
        (_replaced_source, "bundle", "made with another bundled_table.py than the bundle has"),
        (_other_entry, "bundle", "but the entry of the bundle is 'bundled_rows.py:Rows'"),
    ],
)
def test_forged_submissions_with_bundles(tmp_path, spoil, check, message):
    work = bundled(tmp_path / "repo", HONEST)
    spoil(work)
    work.save()
    outcome = work.evaluate()
    assert outcome.code == 1
    assert message in outcome.check(check)["message"]


def test_a_brain_of_this_repository_carries_no_bundle(tmp_path):
    work = official(tmp_path / "repo")
    work.claims["bundle"] = bundled(tmp_path / "other", HONEST).claims["bundle"]
    work.save()
    assert "is part of this repository: a bundle has no place here" in work.evaluate().check("bundle")["message"]


def test_without_a_bundle_verify_says_in_one_line_that_it_cannot(tmp_path):
    work = bundled(tmp_path / "repo", HONEST)
    _without_bundle(work)
    work.save()
    outcome = command(work.root, "verify", work.path, "--work", tmp_path / "work")
    assert outcome.code == 2
    assert "carries no bundle of its source: it cannot be verified" in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_without_bubblewrap_nothing_of_a_bundle_is_executed(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "_bubblewrap", lambda: None)
    work = bundled(tmp_path / "repo", HONEST)
    outcome = command(work.root, "verify", work.path, "--work", tmp_path / "work")
    assert outcome.code == 2
    assert "Install it (Debian: bubblewrap)" in outcome.err
    assert "--trust-code" in outcome.err


def test_the_class_of_a_brain_of_this_repository_is_not_assigned(tmp_path):
    work = official(tmp_path / "repo")
    outcome = command(work.root, "verify", work.path, "--work", tmp_path / "work", "--class", "spiking")
    assert outcome.code == 2
    assert "is part of this repository: its class is not assigned" in outcome.err


def test_sessions_of_a_brain_from_outside_are_not_submitted_without_its_source():
    bundle_repository(HONEST)
    nothing, a_part = REFUSED[HONEST]
    assert (nothing.code, a_part.code) == (1, 2)
    assert f"brain '{HONEST}' is not part of this repository: give its source with --bundle FILE" in nothing.err
    assert "the bundle lacks bundled_table.py" in a_part.err
