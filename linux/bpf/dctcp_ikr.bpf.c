// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCTCP with the changes of Kuehlewind et al. (2014) as a BPF program: tcp_dctcp_ikr without a
 * module.
 */

#include "../modules/dctcp_ikr.h"
#include "dctcp_program.h"

struct dctcp_parameters dctcp_parameters = {
	.policy = DCTCP_IKR_POLICY,
	.host = DCTCP_IKR_HOST,
};

const volatile struct parameter dctcp_described[] SEC(".rodata.parameter") = {
	DCTCP_IKR_PARAMETERS(DCTCP_DESCRIBE)
};

SEC(".struct_ops.link")
struct tcp_congestion_ops dctcp_ikr = {
	DCTCP_BPF_OPS,
	.flags = TCP_CONG_NEEDS_ECN,
	.name = "dctcp_ikr",
};
