/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* File systems that the guest needs. */
#ifndef SHOAL_MOUNTS_H
#define SHOAL_MOUNTS_H

/* /dev */
void mount_devices(void);
/* /proc */
void mount_processes(void);
/* /sys */
void mount_kernel_objects(void);

#endif
