// SPDX-License-Identifier: GPL-2.0-only
/* tc's plugin for sch_coupled: one queue. */

#include "coupled.h"

static int parse_options(const struct qdisc_util *util, int argc, char **argv, struct nlmsghdr *n,
			 const char *dev)
{
	(void)dev;
	return coupled_parse(util, argc, argv, n, false);
}

static int print_options(const struct qdisc_util *util, FILE *f, struct rtattr *opt)
{
	(void)util;
	(void)f;
	return coupled_print(opt, false);
}

static int print_statistics(const struct qdisc_util *util, FILE *f, struct rtattr *xstats)
{
	(void)util;
	(void)f;
	return coupled_print_xstats(xstats, false);
}

struct qdisc_util coupled_qdisc_util = {
	.id = "coupled",
	.parse_qopt = parse_options,
	.print_qopt = print_options,
	.print_xstats = print_statistics,
};
