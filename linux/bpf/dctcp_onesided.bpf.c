// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCTCP for one end of a connection, after Kato et al. (2015), as a BPF program:
 * tcp_dctcp_onesided without a module.
 */

#include "../modules/dctcp_onesided.h"
#include "dctcp_program.h"

struct dctcp_parameters dctcp_parameters = {
	.policy = DCTCP_ONESIDED_POLICY,
	.host = DCTCP_ONESIDED_HOST,
};

const volatile struct parameter dctcp_described[] SEC(".rodata.parameter") = {
	DCTCP_ONESIDED_PARAMETERS(DCTCP_DESCRIBE)
};

SEC(".struct_ops.link")
struct tcp_congestion_ops dctcp_onesided = {
	DCTCP_BPF_OPS,
	.name = "dctcp_onesided",
};

SEC(".struct_ops.link")
struct tcp_congestion_ops dctcp_1sided_rx = {
	DCTCP_BPF_OPS,
	.flags = TCP_CONG_NEEDS_ECN,
	.name = "dctcp_1sided_rx",
};
