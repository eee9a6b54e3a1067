/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Module parameters that are checked when they are set, made of the lists in dctcp_ikr.h and
 * dctcp_onesided.h: a name, its place in dctcp_policy or dctcp_host, its kind, what it is.
 */
#ifndef _DCTCP_PARAM_H
#define _DCTCP_PARAM_H

#include <linux/moduleparam.h>

#include "law/bounds.h"

/* Sets a parameter that is the number of bits of a shift. */
static inline int dctcp_set_shift(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 0, LAW_GAIN_SHIFT_MAX);
}

static const struct kernel_param_ops dctcp_shift_ops = {
	.set = dctcp_set_shift,
	.get = param_get_uint,
};

static inline int dctcp_set_alpha(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 0, LAW_ALPHA_MAX);
}

static const struct kernel_param_ops dctcp_alpha_ops = {
	.set = dctcp_set_alpha,
	.get = param_get_uint,
};

/* The resolution of alpha. */
static inline int dctcp_set_bits(const char *value, const struct kernel_param *kp)
{
	unsigned int bits;
	int err = kstrtouint(value, 0, &bits);

	if (!err && bits != 10 && bits != 20)
		err = -EINVAL;
	return err ? err : param_set_uint(value, kp);
}

static const struct kernel_param_ops dctcp_bits_ops __maybe_unused = {
	.set = dctcp_set_bits,
	.get = param_get_uint,
};

static inline int dctcp_set_choice(const char *value, const struct kernel_param *kp)
{
	return param_set_uint_minmax(value, kp, 0, 1);
}

/* One of two. */
static const struct kernel_param_ops dctcp_choice_ops __maybe_unused = {
	.set = dctcp_set_choice,
	.get = param_get_uint,
};

#define DCTCP_PARAMETER_BITS(name, place)	module_param_cb(name, &dctcp_bits_ops, &place, 0644)
#define DCTCP_PARAMETER_ALPHA(name, place)	module_param_cb(name, &dctcp_alpha_ops, &place, 0644)
#define DCTCP_PARAMETER_SHIFT(name, place)	module_param_cb(name, &dctcp_shift_ops, &place, 0644)
#define DCTCP_PARAMETER_CHOICE(name, place)	module_param_cb(name, &dctcp_choice_ops, &place, 0644)
#define DCTCP_PARAMETER_SWITCH(name, place)	module_param_named(name, place, bool, 0644)
#define DCTCP_PARAMETER(name, place, kind, text) \
	DCTCP_PARAMETER_##kind(name, dctcp_##place); \
	MODULE_PARM_DESC(name, text);

#endif
