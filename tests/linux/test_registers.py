"""Linux 6.12 knows 2696 bytes of vector registers; processors with AMX have more, and take back only all of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from shoal.linux import Image

# As user-mode Linux 6.12 does it: the beginning of a stopped process' state is read, changed and written.
TRACER = r"""
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	static unsigned char part[2696], whole[1 << 16];
	struct iovec some = { part, sizeof(part) }, all = { whole, sizeof(whole) };
	unsigned char *xmm3 = part + 160 + 16 * 3;
	int status;
	long set;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &some) < 0)
		return 2;
	memset(xmm3, 0x5a, 16);
	part[512] |= 3; /* x87 and SSE are in use */
	errno = 0;
	set = ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &some);
	printf("%ld %d ", set, set < 0 ? errno : 0);
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &all) < 0)
		return 2;
	printf("%zu %02x %d\n", all.iov_len, whole[160 + 16 * 3], memcmp(whole + 512 + 64, part + 512 + 64, 512));
	/* What is read by word comes as the result. */
	errno = 0;
	long word = ptrace(PTRACE_PEEKDATA, pid, &set, 0);
	printf("%d %d\n", word != -1 || errno == 0, errno);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}
"""


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tracer")
    (folder / "tracer.c").write_text(TRACER)
    gcc = shutil.which("gcc")
    assert gcc is not None
    subprocess.run([gcc, "-Wall", "-o", str(folder / "tracer"), str(folder / "tracer.c")], check=True)
    return folder / "tracer"


def told(tracer: Path, preload: Path | None) -> list[str]:
    env = {**os.environ, **({"LD_PRELOAD": str(preload)} if preload else {})}
    return subprocess.run([str(tracer)], env=env, capture_output=True, text=True, check=True).stdout.split()


def test_part_of_the_registers_can_be_written(tracer: Path, image: Image) -> None:
    result, error, whole, xmm3, other, *peek = told(tracer, image.helpers / "seeded_random.so")
    assert (result, error, xmm3, other, peek) == ("0", "0", "5a", "0", ["1", "0"])
    if int(whole) > 2696:
        # The processor has more than 6.12 knows: without the workaround this fails, and so does the kernel.
        assert told(tracer, None)[:2] == ["-1", "14"]
