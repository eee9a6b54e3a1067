/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* File systems that the guest needs. */
#include "mounts.h"
#include "fail.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>

void mount_devices(void)
{
	if (mkdir("/dev", 0755) && errno != EEXIST)
		fail_errno("cannot make /dev");
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		fail_errno("cannot mount /dev");
}

void mount_processes(void)
{
	if (mkdir("/proc", 0755) && errno != EEXIST)
		fail_errno("cannot make /proc");
	if (mount("proc", "/proc", "proc", 0, NULL))
		fail_errno("cannot mount /proc");
}

void mount_kernel_objects(void)
{
	if (mkdir("/sys", 0755) && errno != EEXIST)
		fail_errno("cannot make /sys");
	if (mount("sysfs", "/sys", "sysfs", 0, NULL))
		fail_errno("cannot mount /sys");
}
