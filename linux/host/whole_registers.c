/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Registers of traced processes on processors whose extended state is large.
 *
 * User-mode Linux 6.12 keeps the vector registers of its processes in 2696 bytes, the size with AVX-512. If the
 * processor has more state (AMX: 11 KiB), the host's ptrace returns the beginning of the state, but accepts only the
 * whole of it (`xstateregs_set`), and the guest stops with "ptrace set fp regs failed". Later kernels ask for the size.
 * This function completes the state with what the process has at that moment, which is correct because the programs in
 * the guest do not use the additional registers.
 *
 * Only calls that failed are repaired, so kernels that know the size are not affected.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Larger than the state of any processor. It is static because the kernel's stacks are too small;
 * only one thread traces.
 */
static unsigned char whole[1 << 16];

static long set_beginning(long pid, const struct iovec *part)
{
	struct iovec all = { whole, sizeof(whole) };

	if (syscall(SYS_ptrace, PTRACE_GETREGSET, pid, (long)NT_X86_XSTATE, &all) < 0)
		return -1;
	if (part->iov_len > all.iov_len) {
		errno = EFAULT;
		return -1;
	}
	memcpy(whole, part->iov_base, part->iov_len);
	return syscall(SYS_ptrace, PTRACE_SETREGSET, pid, (long)NT_X86_XSTATE, &all);
}

/* Like the C library's function: a value that is read is the result. */
long ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	long pid, address, data, word, result;

	va_start(arguments, request);
	pid = va_arg(arguments, int);
	address = va_arg(arguments, long);
	data = va_arg(arguments, long);
	va_end(arguments);
	if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER) {
		result = syscall(SYS_ptrace, request, pid, address, &word);
		if (result < 0)
			return result;
		errno = 0;
		return word;
	}
	result = syscall(SYS_ptrace, request, pid, address, data);
	if (result < 0 && errno == EFAULT && request == PTRACE_SETREGSET && address == NT_X86_XSTATE)
		result = set_beginning(pid, (const struct iovec *)data);
	return result;
}
