// SPDX-License-Identifier: GPL-2.0-only
/* Dual RED by the wait of the packet that left last, on the egress of a device. */

#include "mark_dualred.h"
#define MARKER mark_dualred
#include "marker.h"

struct mark_parameters mark_parameters = MARK_DEFAULTS;

const volatile struct parameter mark_described[] SEC(".rodata.parameter") = {
	MARK_PARAMETERS(MARK_DESCRIBE)
};
