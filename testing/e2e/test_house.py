# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts that hold the house together notice what they are there to notice."""

import os
import shutil
import subprocess

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False, universal_newlines=True, **options)
    done.text = done.stdout
    return done


@pytest.fixture(name="house")
def fixture_house(tmp_path):
    """A copy of what the scripts look at, to break."""
    house = tmp_path / "house"
    for name in ("contrib", "patches", "src-overlay"):
        shutil.copytree(os.path.join(TOP, name), house / name)
    shutil.copy(os.path.join(TOP, "configure.ac.diff"), house)
    return house


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


# ── the package sources that the tarball may come from ────────────────────────────────


def sources(etc):
    env = dict(os.environ, ITRACE_APT_ETC=str(etc))
    done = subprocess.run([os.path.join(TOP, "contrib/get-openocd"), "--sources"], stdout=subprocess.PIPE, env=env,
                          check=False, universal_newlines=True)
    return done.returncode, done.stdout


@pytest.fixture(name="codename")
def fixture_codename():
    with open("/etc/os-release", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VERSION_CODENAME="):
                return line.split("=")[1].strip().strip('"')
    return pytest.skip("no VERSION_CODENAME in /etc/os-release")


def test_one_line_entries(tmp_path, codename):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# deb http://a.invalid/commented %s main\n"
        "deb http://a.invalid/debian %s main contrib non-free-firmware # a remark\n"
        "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://a.invalid/s %s-security main\n"
        "deb [signed-by=/usr/share/keyrings/other.gpg] http://a.invalid/signed-by-other %s main\n"
        "deb http://a.invalid/other-component %s stable\n"
        "deb http://a.invalid/other-suite nodistro main\n"
        "deb http://a.invalid/other-suite %s-pgdg main\n" % ((codename,) * 6))
    status, text = sources(tmp_path)
    assert status == 0
    assert text.splitlines() == [
        "deb-src  http://a.invalid/debian %s main" % codename,
        "deb-src [ signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://a.invalid/s %s-security main"
        % codename,
    ]


def test_deb822_entries(tmp_path, codename):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "own.sources").write_text(
        "Types: deb\n# a remark\nURIs: http://a.invalid/ubuntu\nSuites: %s %s-updates other\n"
        "Components: main universe multiverse\nSigned-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n\n"
        "Types: deb\nURIs: http://a.invalid/disabled\nSuites: %s\nComponents: main\nEnabled: no\n\n"
        "Types: deb\nURIs: http://a.invalid/other\nSuites: %s\nComponents: main\nSigned-By: /etc/apt/keyrings/x.gpg\n"
        % ((codename,) * 4))
    (tmp_path / "sources.list.d" / "third.sources").write_text(
        "Types: deb\nURIs: http://a.invalid/third\nSuites: nodistro\nComponents: main\n")
    status, text = sources(tmp_path)
    assert status == 0
    assert text.strip().splitlines() == [
        "Types: deb-src",
        "URIs: http://a.invalid/ubuntu",
        "Suites: %s %s-updates" % (codename, codename),
        "Components: main universe",
        "Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg",
    ]


def test_no_own_entry(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    assert sources(tmp_path)[0] != 0


def test_another_tarball_is_refused(tmp_path):
    path = tmp_path / "openocd.tar"
    path.write_bytes(b"something else")
    done = run(os.path.join(TOP, "contrib/get-openocd"), env=dict(os.environ, OPENOCD_TARBALL=str(path)))
    assert done.returncode == 1 and "SHA-256" in done.text
    done = run(os.path.join(TOP, "contrib/get-openocd"), env=dict(os.environ, OPENOCD_TARBALL="/nonexistent"))
    assert done.returncode == 1 and "/nonexistent" in done.text


# ── the series ────────────────────────────────────────────────────────────────────────


def test_check_series_sees_what_is_no_hook(house):
    patches = house / "patches"
    (patches / "0900-stray.patch").write_text("--- a/x\n+++ b/x\n")
    change(patches / "0100-build-itrace.patch", "--- a/src/Makefile.am", "--- /dev/null")
    change(patches / "0110-build-armtrace.patch", "Forwarded:", "Forwards:")
    change(patches / "0120-register-armtrace.patch", "@@ COMMAND_HANDLER(handle_fast_load_command", "@@ int main(void)")
    change(patches / "0130-doc-itrace.patch", " * General Commands::", " * Generous Commands::")
    (house / "src-overlay/src/target/target.c").write_text("")
    with open(patches / "series", "a", encoding="utf-8") as file:
        file.write("0950-nowhere.patch\n")
    done = run(house / "contrib/check-series")
    assert done.returncode == 1
    for words in ("0900-stray.patch is not in the series", "0950-nowhere.patch does not exist",
                  "adds or removes a file", "no line 'Forwarded:'", "its @@ line says 'int main(void)'",
                  "does not apply", "src/target/target.c exists in release"):
        assert words in done.text


def test_check_series_sees_a_context_that_is_not_unique(house):
    patch = house / "patches" / "0100-build-itrace.patch"
    head = patch.read_text(encoding="utf-8").split("--- a/")[0]
    patch.write_text(head + "--- a/src/hello.c\n+++ b/src/hello.c\n@@ -1,1 +1,2 @@\n {\n+\n", encoding="utf-8")
    done = run(house / "contrib/check-series")
    assert done.returncode == 1
    assert "times (lines" in done.text


def test_apply_series_replaces_nothing(house, tmp_path):
    tree = tmp_path / "tree"
    (tree / "src/itrace").mkdir(parents=True)
    (tree / "configure.ac").write_text("")
    (tree / "src/itrace/event.h").write_text("theirs")
    done = run(house / "contrib/apply-series", tree)
    assert done.returncode != 0
    assert "src/itrace/event.h exists" in done.text
    assert (tree / "src/itrace/event.h").read_text() == "theirs"
    assert (tree / "configure.ac").read_text() == ""


def test_refresh_series_changes_nothing(house):
    before = {path.name: path.read_bytes() for path in (house / "patches").iterdir()}
    done = run(house / "contrib/refresh-series")
    assert done.returncode == 0, done.text
    assert before == {path.name: path.read_bytes() for path in (house / "patches").iterdir()}


# ── layers and lists of files ─────────────────────────────────────────────────────────


def test_check_layers_sees_arrows_up_and_strangers(house):
    core = house / "src-overlay/src/itrace"
    (core / "bytes.c").write_text('#include <stdlib.h>\n#include <helper/log.h>\n#include "ete_flow.h"\n')
    (core / "attic.c").write_text("")
    done = run(house / "contrib/check-layers", "--includes")
    assert done.returncode == 1
    for words in ("includes stdlib.h: not for the core", "includes helper/log.h: not for the core",
                  "includes ete_flow.h, which is on a higher floor", "attic: has no floor"):
        assert words in done.text


def test_check_layers_sees_a_circle(house):
    core = house / "src-overlay/src/itrace"
    (core / "status.h").write_text('#include "event.h"\n')
    (core / "event.h").write_text('#include "status.h"\n')
    done = run(house / "contrib/check-layers", "--includes")
    assert done.returncode == 1
    assert "a circle" in done.text


def test_check_makefiles_sees_a_file_too_many_and_one_too_few(house):
    core = house / "src-overlay/src/itrace"
    (core / "event.c").unlink()
    (core / "attic.c").write_text("")
    done = run(house / "contrib/check-makefiles")
    assert done.returncode == 1
    assert "lacks %D%/attic.c" in done.text
    assert "names %D%/event.c, which is not there" in done.text
    run(house / "contrib/check-makefiles", "--update")
    assert run(house / "contrib/check-makefiles").returncode == 0


# ── the front door ────────────────────────────────────────────────────────────────────


def test_check_bases_says_what_it_wants():
    done = run("make", "-s", "check-bases", cwd=TOP)
    assert done.returncode != 0 and "BASES" in done.text


def test_install_deps_keeps_its_hands_off(tmp_path):
    # a PATH in which nothing is found that could be missing
    for name in ("bash", "sh", "env", "cat", "id", "printf", "dirname"):
        os.symlink(shutil.which(name), tmp_path / name)
    done = run(os.path.join(TOP, "contrib/install-deps"), "cli", env={"PATH": str(tmp_path), "DEPS": "no"})
    assert done.returncode == 1
    assert "gcc" in done.text and "make" in done.text and "DEPS=no" in done.text
    done = run(os.path.join(TOP, "contrib/install-deps"), "nonsense")
    assert done.returncode == 2
