// SPDX-License-Identifier: GPL-2.0
/*
 * The clock of a stock host: it has a resolution of nanoseconds, and reading it costs no time.
 *
 * The virtual clock of user-mode Linux (arch/um/kernel/time.c,
 * https://elixir.bootlin.com/linux/v6.12/source/arch/um/kernel/time.c) ticks every 256 ns, fires
 * timers 500 ns from now at the earliest and a nanosecond late, and advances by 256 ns whenever it
 * is read in the context of a process. The last is meant for programs that ask for the time until
 * it has passed. But TCP reads the clock, too (`tcp_mstamp_refresh`), once for each packet, and
 * what arrives while a process works on its socket is handled in the context of that process
 * (`release_sock`). So a testbed took one packet per 256 ns: with packets of 1500 B 47 Gbit/s, once
 * they came faster than that.
 *
 * With this module a read of the clock costs the kernel no time, and a program `asking_ns`. The virtual time itself,
 * and the device that interrupts at a given time, remain those of user-mode Linux; both are static symbols, found by
 * their distance from the only exported symbol of that file.
 */
#include <linux/module.h>
#include <linux/clockchips.h>
#include <linux/clocksource.h>
#include <linux/sched.h>
#include <linux/time-internal.h>
#include <asm/delay.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

static uint asking_ns = 256;
module_param(asking_ns, uint, 0444);
MODULE_PARM_DESC(asking_ns, 
		 "Time that passes when a program asks for the time; 0 only if none does so until it has passed");

/*
 * Address of a static function or variable: AT_NAME is the address of NAME in System.map (Kbuild).
 */
#define STATIC_OF_TIME_C(name) ((void *)((char *)&time_travel_mode + (AT_##name - AT_time_travel_mode)))

static unsigned long long *virtual_ns;
static int (*next_event)(unsigned long delta, struct clock_event_device *device);

/*
 * Whether the running program asks for the time while interrupts and softirqs may come in, so that
 * asking may take time.
 */
static bool asked_by_program(void)
{
	if (irqs_disabled() || in_interrupt() || in_softirq() || (current->flags & PF_KTHREAD))
		return false;
	switch (syscall_get_nr(current, task_pt_regs(current))) {
	case __NR_clock_gettime:
	case __NR_gettimeofday:
	case __NR_time:
		return true;
	default:
		return false;
	}
}

static u64 fine_clock_read(struct clocksource *clock)
{
	if (asking_ns && asked_by_program())
		time_travel_ndelay(asking_ns);
	return READ_ONCE(*virtual_ns);
}

static struct clocksource fine_clock = {
	.name	= "shoal-virtual",
	.rating	= 400,
	.read	= fine_clock_read,
	.mask	= CLOCKSOURCE_MASK(64),
	.flags	= CLOCK_SOURCE_IS_CONTINUOUS,
};

/* Undoes the nanosecond that `itimer_next_event` adds. */
static int exact_next_event(unsigned long delta, struct clock_event_device *device)
{
	return next_event(delta - 1, device);
}

static int __init fine_clock_init(void)
{
	struct clock_event_device *device = STATIC_OF_TIME_C(timer_clockevent);
	unsigned long long before;

	virtual_ns = STATIC_OF_TIME_C(time_travel_time);
	before = READ_ONCE(*virtual_ns);
	time_travel_ndelay(1000);
	if (time_travel_mode != TT_MODE_INFCPU || READ_ONCE(*virtual_ns) - before != 1000 ||
	    !device->name || strcmp(device->name, "time-travel-timer-infcpu")) {
		pr_err("fine_clock: this kernel was not built with the System.map that the module was built with\n");
		return -ENODEV;
	}
	next_event = device->set_next_event;
	device->set_next_event = exact_next_event;
	device->min_delta_ns = 1;
	device->min_delta_ticks = 1;
	return clocksource_register_hz(&fine_clock, NSEC_PER_SEC);
}

/* There is no exit function: a clock in use cannot be removed. */
module_init(fine_clock_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Virtual time in nanoseconds, which looking at it does not advance");
