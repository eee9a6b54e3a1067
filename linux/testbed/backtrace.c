// SPDX-License-Identifier: GPL-2.0
/*
 * Shows the call trace when the kernel panics.
 *
 * A kernel without CONFIG_DEBUG_BUGVERBOSE shows none (`panic` in kernel/panic.c,
 * https://elixir.bootlin.com/linux/v6.12/source/kernel/panic.c), and user-mode Linux shows registers of a fault, but not
 * who called (`show_regs`). The trace begins at the fault: `show_stack` of user-mode Linux looks where the signal came.
 * The guest loads this only before modules that a user wrote.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>

static int show(struct notifier_block *block, unsigned long event, void *message)
{
	dump_stack();
	return NOTIFY_DONE;
}

/* User-mode Linux ends in a notifier of its own, of the priority INT_MAX - 1. */
static struct notifier_block notifier = {
	.notifier_call	= show,
	.priority	= INT_MAX,
};

static int __init backtrace_init(void)
{
	return atomic_notifier_chain_register(&panic_notifier_list, &notifier);
}

static void __exit backtrace_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &notifier);
}

module_init(backtrace_init);
module_exit(backtrace_exit);
MODULE_DESCRIPTION("Shows the call trace of a panic");
MODULE_LICENSE("GPL");
