/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How the guest ends. */
#ifndef SHOAL_FAIL_H
#define SHOAL_FAIL_H

/* Ends the guest with a message on the console: the host shows it. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, with the reason of errno. */
_Noreturn void fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on such messages name this line of the configuration; 0: none. */
void fail_in_line(unsigned number);
_Noreturn void power_off(void);

#endif
