/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the guest ends. */
#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

static unsigned line_number;

void fail_in_line(unsigned number)
{
	line_number = number;
}

_Noreturn void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static _Noreturn void end_with(const char *format, va_list arguments, int reason)
{
	fputs("shoal-guest: ", stdout);
	if (line_number)
		printf("config line %u: ", line_number);
	vprintf(format, arguments);
	if (reason)
		printf(": %s", strerror(reason));
	putchar('\n');
	fflush(stdout);
	power_off();
}

_Noreturn void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	end_with(format, arguments, 0);
}

_Noreturn void fail_errno(const char *format, ...)
{
	int reason = errno;
	va_list arguments;

	va_start(arguments, format);
	end_with(format, arguments, reason);
}
