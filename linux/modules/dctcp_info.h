/* SPDX-License-Identifier: GPL-2.0-only */
/* DCTCP's state as `ss -i` shows it, which a BPF program cannot report. */
#ifndef _DCTCP_INFO_H
#define _DCTCP_INFO_H

#include <linux/inet_diag.h>

#include "dctcp_sock.h"

/**
 * dctcp_fill_info() - Report DCTCP's state, as `ss -i` shows it
 * @sk: the socket
 * @ext: requested attributes
 * @attr: result: type of the attribute
 * @info: result: the state
 * @enabled: ECN was negotiated
 *
 * Alpha is in 1/1024.
 *
 * Return: size of the attribute in bytes, or 0.
 */
static inline size_t dctcp_fill_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info,
				     bool enabled)
{
	const struct dctcp_sock *ca = inet_csk_ca(sk);
	const u32 wanted = 1 << (INET_DIAG_DCTCPINFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1);

	if (!(ext & wanted))
		return 0;
	memset(&info->dctcp, 0, sizeof(info->dctcp));
	if (enabled) {
		info->dctcp.dctcp_enabled = 1;
		info->dctcp.dctcp_ce_state = ca->ce_state;
		info->dctcp.dctcp_alpha = ca->law.alpha >> (ca->law.alpha_bits > 10 ? 10 : 0);
		info->dctcp.dctcp_ab_ecn = ca->law.marked * tcp_sk(sk)->mss_cache;
		info->dctcp.dctcp_ab_tot = ca->law.total * tcp_sk(sk)->mss_cache;
	}
	*attr = INET_DIAG_DCTCPINFO;
	return sizeof(info->dctcp);
}

#endif
