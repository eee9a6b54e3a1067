/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernel modules that a user wrote. */
#ifndef SHOAL_MODULES_H
#define SHOAL_MODULES_H

#include <stdbool.h>

/* Loads /NAME.ko, and says at which address it lies. */
void user_module_load(const char *name, const char *parameters);
/* Says which congestion controls the kernel has, and which of the candidates are names of queue disciplines. */
void user_modules_known(const char *const *candidates);
/*
 * Unloads them, the last one first. After an experiment what uses them goes before: queues, connections, programs; and
 * packets that a queue took and neither gave back nor freed are counted.
 */
void user_modules_unload(bool after_experiment);

#endif
