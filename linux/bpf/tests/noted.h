/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes each operation of the law that dctcp_sock.h carries out, as the vectors of the modules have
 * them (crates/core/cc/tests/linux_modules.rs): the program that includes this writes them down.
 * crates/core/cc/examples/replay_operations.rs gives them to the model.
 */
#ifndef _SHOAL_BPF_NOTED_H
#define _SHOAL_BPF_NOTED_H

#include <stdio.h>

#include "../../modules/law/dctcp.h"

/* Windows before and after; NULL if the operation does not change it. */
static void note(const char *operation, const struct law_window *before,
		 const struct law_window *after, const char *arguments);
/* enum law_counting of the host, and the upper bound of the window. */
static u32 growth_counts(void);
static u32 upper_bound(void);

#define NOTED(operation, before, after, format, ...) do { \
	char text[256]; \
\
	snprintf(text, sizeof(text), format, ##__VA_ARGS__); \
	note(operation, before, after, text); \
} while (0)

static inline void noted_init(struct law_dctcp *law, const struct law_dctcp_policy *p, u32 snd_nxt)
{
	law_dctcp_init(law, p, snd_nxt);
	NOTED("config", NULL, NULL, "\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u",
	      p->alpha_bits, p->alpha_on_init, p->gain_shift, p->counting, p->alpha_per_ack,
	      p->gain_per_window, p->progressive, p->ssthresh_minus_one, p->counter,
	      p->alpha_reset_after_idle, p->alpha_update_on_timeout, p->alpha_update_on_loss,
	      p->cut_on_loss_in_cwr, growth_counts(), snd_nxt, upper_bound());
}

static inline void noted_on_ack(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				const struct law_dctcp_ack *ack)
{
	law_dctcp_on_ack(law, policy, ack);
	NOTED("k", NULL, NULL, "\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u", ack->snd_una, ack->snd_nxt,
	      ack->delivered, ack->marked, ack->flight, ack->advanced, ack->duplicate, ack->ece);
}

static inline void noted_on_ecn(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				struct law_window *win)
{
	const struct law_window before = *win;

	law_dctcp_on_ecn(law, policy, win);
	NOTED("e", &before, win, "%s", "");
}

static inline void noted_on_ece_in_cwr(struct law_dctcp *law,
				       const struct law_dctcp_policy *policy,
				       struct law_window *win)
{
	const struct law_window before = *win;

	law_dctcp_on_ece_in_cwr(law, policy, win);
	NOTED("m", &before, win, "%s", "");
}

static inline void noted_grow(struct law_window *win, enum law_counting counting, u32 acked)
{
	const struct law_window before = *win;

	law_grow(win, counting, acked);
	NOTED("g", &before, win, "\t%u", acked);
}

static inline void noted_on_loss(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				 struct law_window *win, u32 snd_nxt, bool in_cwr)
{
	const struct law_window before = *win;

	law_dctcp_on_loss(law, policy, win, snd_nxt, in_cwr);
	NOTED("l", &before, win, "\t%u\t%u", snd_nxt, in_cwr);
}

static inline void noted_on_timeout(struct law_dctcp *law, const struct law_dctcp_policy *policy,
				    struct law_window *win, u32 snd_nxt, u32 mss, bool fresh)
{
	const struct law_window before = *win;

	law_dctcp_on_timeout(law, policy, win, snd_nxt, mss, fresh);
	NOTED("t", &before, win, "\t%u\t%u\t%u", snd_nxt, mss, fresh);
}

static inline void noted_on_exit(struct law_dctcp *law)
{
	law_dctcp_on_exit(law);
	NOTED("x", NULL, NULL, "%s", "");
}

static inline void noted_after_idle(struct law_dctcp *law, const struct law_dctcp_policy *policy)
{
	law_dctcp_after_idle(law, policy);
	NOTED("i", NULL, NULL, "%s", "");
}

#define law_dctcp_init		noted_init
#define law_dctcp_on_ack	noted_on_ack
#define law_dctcp_on_ecn	noted_on_ecn
#define law_dctcp_on_ece_in_cwr	noted_on_ece_in_cwr
#define law_grow		noted_grow
#define law_dctcp_on_loss	noted_on_loss
#define law_dctcp_on_timeout	noted_on_timeout
#define law_dctcp_on_exit	noted_on_exit
#define law_dctcp_after_idle	noted_after_idle

#endif
