// SPDX-License-Identifier: GPL-2.0-only
/* tc's plugin for sch_dualred. */

#include "../uapi/pkt_sched_shoal.h"
#include "plugin.h"

static const char *const averages[] = { "shared", "class", NULL };
static const char *const spacings[] = { "uniform", "independent", NULL };

static void usage(void)
{
	fprintf(stderr,
		"Usage: ... dualred [ limit PACKETS ] [ limit_bytes SIZE ] [ rate RATE ] [ mean_packet SIZE ]\n"
		"                   [ average shared|class ] [ not_ect RED ] [ ect RED ]\n"
		"RED := [ min SIZE ] [ max SIZE ] [ prob P ] [ weight W ] [ gentle|nogentle ]\n"
		"       [ spacing uniform|independent ] [ step SIZE ]\n"
		"step K stands for min K max K prob 1 weight 1. A limit of 0 is none.\n");
}

/* Returns 1 if @word was a parameter of a RED instance, 0 if not, -1 on error. */
static int parse_red(struct words *words, const char *word, struct nlmsghdr *n)
{
	uint64_t value;
	bool ok;

	if (!strcmp(word, "min")) {
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_DUALRED_RED_MIN, value);
	} else if (!strcmp(word, "max")) {
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_DUALRED_RED_MAX, value);
	} else if (!strcmp(word, "prob")) {
		ok = next_amount(words, word, fractions, 4294967296.0, &value) &&
		     put_u64(n, TCA_DUALRED_RED_MAX_P, value);
	} else if (!strcmp(word, "weight")) {
		ok = next_amount(words, word, fractions, 4294967296.0, &value) &&
		     put_u64(n, TCA_DUALRED_RED_WEIGHT, value);
	} else if (!strcmp(word, "gentle") || !strcmp(word, "nogentle")) {
		ok = put_u8(n, TCA_DUALRED_RED_GENTLE, word[0] == 'g');
	} else if (!strcmp(word, "spacing")) {
		ok = next_choice(words, word, spacings, &value) &&
		     put_u8(n, TCA_DUALRED_RED_INDEPENDENT, value);
	} else if (!strcmp(word, "step")) {
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_DUALRED_RED_MIN, value) &&
		     put_u32(n, TCA_DUALRED_RED_MAX, value) &&
		     put_u64(n, TCA_DUALRED_RED_MAX_P, 1ULL << 32) &&
		     put_u64(n, TCA_DUALRED_RED_WEIGHT, 1ULL << 32);
	} else {
		return 0;
	}
	return ok ? 1 : -1;
}

static int parse_common(struct words *words, const char *word, struct nlmsghdr *n)
{
	uint64_t value;
	bool ok;

	if (!strcmp(word, "limit")) {
		ok = next_amount(words, word, counts, UINT32_MAX, &value) &&
		     put_u32(n, TCA_DUALRED_LIMIT_PACKETS, value);
	} else if (!strcmp(word, "limit_bytes")) {
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_DUALRED_LIMIT_BYTES, value);
	} else if (!strcmp(word, "rate")) {
		ok = next_amount(words, word, rates, 1e15, &value) &&
		     put_u64(n, TCA_DUALRED_RATE, value);
	} else if (!strcmp(word, "mean_packet")) {
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_DUALRED_MEAN_PACKET, value);
	} else if (!strcmp(word, "average")) {
		ok = next_choice(words, word, averages, &value) &&
		     put_u8(n, TCA_DUALRED_AVERAGE, value);
	} else {
		return 0;
	}
	return ok ? 1 : -1;
}

static int dualred_parse(const struct qdisc_util *util, int argc, char **argv, struct nlmsghdr *n,
			 const char *dev)
{
	struct words words = { util->id, argc, argv };
	struct rtattr *options = nest_start(n, TCA_OPTIONS), *instance = NULL;

	(void)dev;
	if (!options)
		return -1;
	while (words.argc) {
		const char *word = next_word(&words);
		bool ect = !strcmp(word, "ect");
		int known;

		if (ect || !strcmp(word, "not_ect")) {
			if (instance)
				nest_end(n, instance);
			instance = nest_start(n, ect ? TCA_DUALRED_ECT : TCA_DUALRED_NOT_ECT);
			if (!instance)
				return -1;
			continue;
		}
		known = instance ? parse_red(&words, word, n) : parse_common(&words, word, n);
		if (known < 0)
			return -1;
		if (!known) {
			if (strcmp(word, "help"))
				fprintf(stderr, "dualred: what is \"%s\"? %s.\n", word,
					instance ? "Common parameters come before ect, not_ect" :
						   "Those of an instance follow ect, not_ect");
			usage();
			return -1;
		}
	}
	if (instance)
		nest_end(n, instance);
	nest_end(n, options);
	return 0;
}

static void show_red(const char *name, struct rtattr *attr)
{
	struct rtattr *found[TCA_DUALRED_RED_LAST + 1];

	if (!attr)
		return;
	parse(attr, found, TCA_DUALRED_RED_LAST);
	open_json_object(name);
	show_break("\n ");
	show_break(name);
	show_u64("min", " min %llub", number(found[TCA_DUALRED_RED_MIN]));
	show_u64("max", " max %llub", number(found[TCA_DUALRED_RED_MAX]));
	show_float("prob", " prob %.9g", fraction(number(found[TCA_DUALRED_RED_MAX_P])));
	show_float("weight", " weight %.9g", fraction(number(found[TCA_DUALRED_RED_WEIGHT])));
	show_text("gentle", " %s", number(found[TCA_DUALRED_RED_GENTLE]) ? "gentle" : "nogentle");
	show_text("spacing", " spacing %s",
		  spacings[number(found[TCA_DUALRED_RED_INDEPENDENT]) ? 1 : 0]);
	close_json_object();
}

static int dualred_print(const struct qdisc_util *util, FILE *f, struct rtattr *opt)
{
	struct rtattr *found[TCA_DUALRED_MAX + 1];

	(void)util;
	(void)f;
	if (!opt)
		return 0;
	parse(opt, found, TCA_DUALRED_MAX);
	show_u64("limit", "limit %llu", number(found[TCA_DUALRED_LIMIT_PACKETS]));
	show_u64("limit_bytes", " limit_bytes %llub", number(found[TCA_DUALRED_LIMIT_BYTES]));
	show_u64("rate", " rate %llubps", number(found[TCA_DUALRED_RATE]));
	show_u64("mean_packet", " mean_packet %llub", number(found[TCA_DUALRED_MEAN_PACKET]));
	show_text("average", " average %s", averages[number(found[TCA_DUALRED_AVERAGE]) ? 1 : 0]);
	show_red("not_ect", found[TCA_DUALRED_NOT_ECT]);
	show_red("ect", found[TCA_DUALRED_ECT]);
	return 0;
}

static void show_class(const char *name, const char *lead, const struct tc_dualred_class *class)
{
	open_json_object(name);
	show_break(lead);
	show_break(name);
	show_float("average", " average %.1fb", ldexp(class->average, -24));
	show_u64("packets", " packets %llu", class->packets);
	show_u64("marked", " marked %llu", class->marked);
	show_u64("early", " early %llu", class->early);
	show_u64("forced", " forced %llu", class->forced);
	show_u64("overlimit", " overlimit %llu", class->overlimit);
	close_json_object();
}

static int dualred_print_xstats(const struct qdisc_util *util, FILE *f, struct rtattr *xstats)
{
	struct tc_dualred_xstats st;

	(void)util;
	(void)f;
	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));
	show_class("not_ect_stats", "  ", &st.not_ect);
	show_class("ect_stats", "\n  ", &st.ect);
	return 0;
}

struct qdisc_util dualred_qdisc_util = {
	.id = "dualred",
	.parse_qopt = dualred_parse,
	.print_qopt = dualred_print,
	.print_xstats = dualred_print_xstats,
};
