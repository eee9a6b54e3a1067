// SPDX-License-Identifier: GPL-2.0-only
/* Coupled marking and dropping by the wait of the packet that left last, on the egress of a device. */

#include "mark_coupled.h"
#define MARKER mark_coupled
#include "marker.h"

struct mark_parameters mark_parameters = MARK_DEFAULTS;

const volatile struct parameter mark_described[] SEC(".rodata.parameter") = {
	MARK_PARAMETERS(MARK_DESCRIBE)
};
