/* SPDX-License-Identifier: GPL-2.0-only */
/* A parameter as the loader reads it from the map .rodata.parameter: least, least + step, ... most. */
#ifndef _SHOAL_BPF_PARAMETER_H
#define _SHOAL_BPF_PARAMETER_H

struct parameter {
	char name[24];
	u32 at;
	u32 bytes;
	u32 least;
	u32 most;
	u32 step;
	char text[100];
};

/* As an item of the lists in mark_step.h and its fellows. */
#define MARK_DESCRIBE(name, least, most, text) \
	{ #name, __builtin_offsetof(struct mark_parameters, name), \
	  sizeof(((struct mark_parameters *)0)->name), least, most, 1, text },

#endif
