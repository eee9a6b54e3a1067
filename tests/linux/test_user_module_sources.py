"""Kernel modules that a user wrote, up to where they run: compiled, and asked for what they register."""

from __future__ import annotations

import hashlib
import re
import warnings
from pathlib import Path

import pytest
from user_modules import RENO, SHORT, line_of, written

from shoal.errors import ModuleWarning
from shoal.linux import Image, LinuxError
from shoal.linux.errors import ModuleError
from shoal.linux.user_modules import refuse_shared_names, user_module


def test_a_controller_says_its_name_and_parameters(image: Image) -> None:
    module = user_module(RENO, image)
    assert (module.controllers, module.disciplines) == (("reno_again",), ())
    assert module.parameters == {"floor_packets": "uint"}
    description = module.description
    assert description["source_sha256"] == hashlib.sha256(RENO.read_bytes()).hexdigest()
    assert description["module_sha256"] == hashlib.sha256(module.file.path.read_bytes()).hexdigest()
    assert description["compiler"].startswith("gcc")
    assert description["kernel"] == image.release


def test_a_discipline_says_its_name(image: Image) -> None:
    module = user_module(SHORT, image)
    assert (module.controllers, module.disciplines) == ((), ("short",))


def test_what_is_compiled_does_not_depend_on_its_place(image: Image, tmp_path: Path) -> None:
    """The paths of the source and of the cache are in neither the module nor in what the kernel says of it."""
    with_line = RENO.read_text().replace("u32 half =", "WARN_ON_ONCE(!sk);\n\tu32 half =")
    copies = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        copies.append(written(tmp_path / name / "tcp_placed.c", with_line))
    first, second = (user_module(path, image) for path in copies)
    assert first.file.path != second.file.path
    assert first.file.path.read_bytes() == second.file.path.read_bytes()
    assert str(tmp_path).encode() not in first.file.path.read_bytes()


def test_an_error_of_the_compiler_has_the_users_path_and_line(image: Image, tmp_path: Path) -> None:
    lines = ["#include <linux/module.h>", "", "", "", "", "", "int wrong = nonsense;", 'MODULE_LICENSE("GPL");', ""]
    path = written(tmp_path / "tcp_wrong.c", "\n".join(lines))
    with pytest.raises(ModuleError) as caught:
        user_module(path, image)
    said = str(caught.value).splitlines()
    assert said[0] == f"{path} does not compile for Linux {image.release}:"
    assert said[1].startswith(f"{path}:7:13: error: 'nonsense' undeclared")
    assert "user-modules" not in str(caught.value)


def test_files_of_the_folder_are_included_and_a_change_of_them_is_seen(image: Image, tmp_path: Path) -> None:
    text = RENO.read_text().replace("#include <net/tcp.h>", '#include <net/tcp.h>\n#include "name.h"')
    path = written(tmp_path / "tcp_included.c", text.replace('"reno_again"', "NAME"))
    for name in ("first_name", "second_name"):
        header = written(tmp_path / "name.h", f'#define NAME "{name}"\n')
        module = user_module(path, image)
        assert module.controllers == (name,)
        assert module.description["includes"] == {"name.h": hashlib.sha256(header.read_bytes()).hexdigest()}
    header.write_text("#define NAME nonsense\n")
    with pytest.raises(ModuleError, match=rf"{re.escape(str(tmp_path))}/name\.h:1:\d+: error: 'nonsense' undeclared"):
        user_module(path, image)


def test_warnings_of_the_compiler_are_shown_each_time(image: Image, tmp_path: Path) -> None:
    text = RENO.read_text().replace("u32 half =", "u32 idle, half =")
    path = written(tmp_path / "tcp_idle.c", text)
    for _ in range(2):
        with pytest.warns(ModuleWarning, match=rf"{path}:{line_of(path, 'idle')}:\d+: warning: unused variable 'idle'"):
            user_module(path, image)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        user_module(RENO, image)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.c", "/* nothing */\n// here\n", "{path}:1: this file has no code"),
        ("bytes.c", "\0\1", "`{path}` is no C source"),
        ("words.txt", "int a;", "`{path}` is no C source"),
        ("two words.c", "int a;", "`two words.c` is no name for a module"),
        ("prose.c", "hello world\n", "{path}:1:1: error: unknown type name 'hello'"),
    ],
)
def test_a_file_that_is_no_module_is_refused(name: str, text: str, said: str, image: Image, tmp_path: Path) -> None:
    path = written(tmp_path / name, text)
    with pytest.raises(ModuleError) as caught:
        user_module(path, image)
    assert said.format(path=path) in str(caught.value)


def test_a_module_that_registers_nothing_is_refused(image: Image, tmp_path: Path) -> None:
    text = RENO.read_text().replace("return tcp_register_congestion_control(&again);", "return 0;")
    text = text.replace("tcp_unregister_congestion_control(&again);", "")
    path = written(tmp_path / "tcp_idle.c", text)
    with pytest.raises(ModuleError, match=rf"{path} registers neither a congestion control nor .* it calls neither"):
        user_module(path, image)


def test_a_module_without_a_licence_is_refused(image: Image, tmp_path: Path) -> None:
    path = written(tmp_path / "tcp_free.c", RENO.read_text().replace('MODULE_LICENSE("GPL");', ""))
    with pytest.raises(ModuleError, match=rf"{path}:\d+: the module names no licence: add MODULE_LICENSE"):
        user_module(path, image)
    path.write_text(RENO.read_text().replace('MODULE_LICENSE("GPL");', 'MODULE_LICENSE("Proprietary");'))
    with pytest.raises(ModuleError, match=r"gives `tcp_\w+` to modules of the GPL alone"):
        user_module(path, image)


def test_symbols_that_the_kernel_does_not_give_are_named_with_their_lines(image: Image, tmp_path: Path) -> None:
    text = RENO.read_text().replace("static u32 again_ssthresh", "int WANTED(void);\n\nstatic u32 again_ssthresh")
    text = text.replace("u32 half =", "u32 half = WANTED() +")
    path = written(tmp_path / "tcp_wants.c", text.replace("WANTED", "probe_of_mine"))
    place = f"{path}:{line_of(path, 'probe_of_mine')}"
    with pytest.raises(ModuleError) as caught:
        user_module(path, image)
    assert f"{place}: `probe_of_mine` is not in Linux {image.release} as configured" in str(caught.value)
    path.write_text(text.replace("WANTED", "do_idle"))
    with pytest.raises(ModuleError) as caught:
        user_module(path, image)
    assert f"{place}: `do_idle` belongs to Linux {image.release}, which does not export it" in str(caught.value)


def test_a_name_that_the_kernel_has_already_is_said_to_be_taken(image: Image, tmp_path: Path) -> None:
    path = written(tmp_path / "tcp_cubic_too.c", RENO.read_text().replace('"reno_again"', '"cubic"'))
    with pytest.raises(ModuleError) as caught:
        user_module(path, image)
    assert str(caught.value).startswith(f"{path}:{line_of(path, 'static int __init')}: ")
    assert "has a congestion control or queue discipline of this name already" in (caught.value.hint or "")


def test_two_modules_of_the_same_name_are_refused(image: Image, tmp_path: Path) -> None:
    other = written(tmp_path / "tcp_reno_third.c", RENO.read_text())
    with pytest.raises(ModuleError, match="both register `reno_again`"):
        refuse_shared_names([user_module(RENO, image), user_module(other, image)])


def test_a_kernel_without_its_headers_says_so(image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(image), "tree", property(lambda _: tmp_path / "gone"))
    path = written(tmp_path / "tcp_headless.c", RENO.read_text())
    with pytest.raises(LinuxError, match=r"of its tree `.*gone` there is no Module\.symvers") as caught:
        user_module(path, image)
    assert "shoal linux build" in (caught.value.hint or "")
