/* SPDX-License-Identifier: GPL-2.0-only */
/* Module parameters that are checked when they are set. */
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

#endif
