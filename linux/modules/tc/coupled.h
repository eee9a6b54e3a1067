/* SPDX-License-Identifier: GPL-2.0-only */
/* Parameters and statistics that coupled and dualq_coupled share on the command line. */
#ifndef _SHOAL_TC_COUPLED_H
#define _SHOAL_TC_COUPLED_H

#include "../uapi/pkt_sched_shoal.h"
#include "plugin.h"

static const char *const decides[] = { "enqueue", "dequeue", NULL };
static const char *const inputs[] = { "classic", "total", NULL };
static const char *const schedulers[] = { "priority", "weighted", "shifted", NULL };

static inline void coupled_usage(const char *kind, bool dual)
{
	fprintf(stderr,
		"Usage: ... %s [ limit PACKETS ] [ limit_bytes SIZE ] [ rate RATE ] [ decide enqueue|dequeue ]\n"
		"       [ saturation AMOUNT ] [ coupling K ]\n"
		"       [ reno_slope BITS ] [ dctcp_slope BITS ] [ unit AMOUNT ]\n",
		kind);
	if (dual)
		fprintf(stderr,
			"       [ threshold AMOUNT ] [ input classic|total ] [ scheduler priority|weighted|shifted ]\n"
			"       [ classic_percent PERCENT ] [ shift TIME ] [ mtu SIZE ]\n");
	fprintf(stderr,
		"AMOUNT := TIME | PACKETSp | SIZE. A limit of 0 is none.\n"
		"saturation chooses the linear slope, unit the slides' shifts; the unit of either is what Q is measured in.\n");
}

/* Time in ns, packets ("p") or bytes, with its enum tc_coupled_measure. */
static inline bool next_measured(struct words *words, const char *key, uint64_t *measure,
				 uint64_t *value)
{
	static const struct unit packets[] = { { "p", 1 }, { NULL, 0 } };
	const char *word = next_word(words);

	if (!word)
		return false;
	if (read_amount(word, times, 1e18, value)) {
		*measure = TC_COUPLED_TIME;
	} else if (read_amount(word, packets, 1e9, value)) {
		*measure = TC_COUPLED_PACKETS;
	} else if (read_amount(word, sizes, 1e12, value)) {
		*measure = TC_COUPLED_BYTES;
	} else {
		fprintf(stderr, "%s: %s %s: write a time (20ms), packets (30p) or a size (45kb)\n",
			words->kind, key, word);
		return false;
	}
	return true;
}

static inline bool put_slope(struct nlmsghdr *n, int type, uint64_t amount, uint64_t measure,
			     int form)
{
	return put_u64(n, type, amount) && put_u8(n, TCA_COUPLED_MEASURE, measure) &&
	       put_u8(n, TCA_COUPLED_FORM, form);
}

/* Returns 1 if @word was a parameter, 0 if not, -1 on error. */
static inline int parse_single(struct words *words, const char *word, struct nlmsghdr *n)
{
	uint64_t value, measure;
	bool ok;

	if (!strcmp(word, "limit"))
		ok = next_amount(words, word, counts, UINT32_MAX, &value) &&
		     put_u32(n, TCA_COUPLED_LIMIT_PACKETS, value);
	else if (!strcmp(word, "limit_bytes"))
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_COUPLED_LIMIT_BYTES, value);
	else if (!strcmp(word, "rate"))
		ok = next_amount(words, word, rates, 1e15, &value) &&
		     put_u64(n, TCA_COUPLED_RATE, value);
	else if (!strcmp(word, "decide"))
		ok = next_choice(words, word, decides, &value) &&
		     put_u8(n, TCA_COUPLED_DECIDE, value);
	else if (!strcmp(word, "saturation"))
		ok = next_measured(words, word, &measure, &value) &&
		     put_slope(n, TCA_COUPLED_SATURATION, value, measure, TC_COUPLED_LINEAR);
	else if (!strcmp(word, "coupling"))
		ok = next_amount(words, word, factors, UINT32_MAX, &value) &&
		     put_u32(n, TCA_COUPLED_COUPLING, value);
	else if (!strcmp(word, "reno_slope"))
		ok = next_amount(words, word, counts, 31, &value) &&
		     put_u8(n, TCA_COUPLED_DROP_BITS, value);
	else if (!strcmp(word, "dctcp_slope"))
		ok = next_amount(words, word, counts, 31, &value) &&
		     put_u8(n, TCA_COUPLED_MARK_BITS, value);
	else if (!strcmp(word, "unit"))
		ok = next_measured(words, word, &measure, &value) &&
		     put_slope(n, TCA_COUPLED_UNIT, value, measure, TC_COUPLED_SHIFTED);
	else
		return 0;
	return ok ? 1 : -1;
}

static inline int parse_dual(struct words *words, const char *word, struct nlmsghdr *n)
{
	uint64_t value, measure;
	bool ok;

	if (!strcmp(word, "threshold"))
		ok = next_measured(words, word, &measure, &value) &&
		     put_u64(n, TCA_COUPLED_THRESHOLD, value) &&
		     put_u8(n, TCA_COUPLED_THRESHOLD_MEASURE, measure);
	else if (!strcmp(word, "input"))
		ok = next_choice(words, word, inputs, &value) &&
		     put_u8(n, TCA_COUPLED_INPUT, value);
	else if (!strcmp(word, "scheduler"))
		ok = next_choice(words, word, schedulers, &value) &&
		     put_u8(n, TCA_COUPLED_SCHEDULER, value);
	else if (!strcmp(word, "classic_percent"))
		ok = next_amount(words, word, counts, 100, &value) &&
		     put_u8(n, TCA_COUPLED_CLASSIC_PERCENT, value);
	else if (!strcmp(word, "shift"))
		ok = next_amount(words, word, times, 1e18, &value) &&
		     put_u64(n, TCA_COUPLED_SHIFT, value);
	else if (!strcmp(word, "mtu"))
		ok = next_amount(words, word, sizes, UINT32_MAX, &value) &&
		     put_u32(n, TCA_COUPLED_MTU, value);
	else
		return 0;
	return ok ? 1 : -1;
}

static inline int coupled_parse(const struct qdisc_util *util, int argc, char **argv,
				struct nlmsghdr *n, bool dual)
{
	struct words words = { util->id, argc, argv };
	struct rtattr *options = nest_start(n, TCA_OPTIONS);

	if (!options)
		return -1;
	while (words.argc) {
		const char *word = next_word(&words);
		int known = parse_single(&words, word, n);

		if (!known && dual)
			known = parse_dual(&words, word, n);
		if (known < 0)
			return -1;
		if (!known) {
			if (strcmp(word, "help"))
				fprintf(stderr, "%s: what is \"%s\"?\n", util->id, word);
			coupled_usage(util->id, dual);
			return -1;
		}
	}
	nest_end(n, options);
	return 0;
}

static inline void show_amount(const char *key, uint64_t measure, uint64_t amount)
{
	static const char *const units[] = { "ns", "b", "p" };
	char format[64], text[64];
	const char *unit = units[measure <= TC_COUPLED_PACKETS ? measure : TC_COUPLED_BYTES];

	snprintf(text, sizeof(text), "%llu%s", (unsigned long long)amount, unit);
	snprintf(format, sizeof(format), " %s %%s", key);
	show_text(key, format, text);
}

static inline void show_choice(const char *key, const char *format, const char *const *names,
			       uint64_t value)
{
	uint64_t known = 0;

	while (names[known])
		known++;
	show_text(key, format, value < known ? names[value] : "?");
}

static inline int coupled_print(struct rtattr *opt, bool dual)
{
	struct rtattr *found[TCA_COUPLED_MAX + 1];
	uint64_t measure;

	if (!opt)
		return 0;
	parse(opt, found, TCA_COUPLED_MAX);
	measure = number(found[TCA_COUPLED_MEASURE]);
	show_u64("limit", "limit %llu", number(found[TCA_COUPLED_LIMIT_PACKETS]));
	show_u64("limit_bytes", " limit_bytes %llub", number(found[TCA_COUPLED_LIMIT_BYTES]));
	show_u64("rate", " rate %llubps", number(found[TCA_COUPLED_RATE]));
	show_choice("decide", " decide %s", decides, number(found[TCA_COUPLED_DECIDE]));
	if (number(found[TCA_COUPLED_FORM]) == TC_COUPLED_LINEAR) {
		show_amount("saturation", measure, number(found[TCA_COUPLED_SATURATION]));
		show_float("coupling", " coupling %.6g",
			   number(found[TCA_COUPLED_COUPLING]) / 65536.0);
	} else {
		show_u64("reno_slope", " reno_slope %llu", number(found[TCA_COUPLED_DROP_BITS]));
		show_u64("dctcp_slope", " dctcp_slope %llu", number(found[TCA_COUPLED_MARK_BITS]));
		show_amount("unit", measure, number(found[TCA_COUPLED_UNIT]));
	}
	if (!dual)
		return 0;
	show_amount("threshold", number(found[TCA_COUPLED_THRESHOLD_MEASURE]),
		    number(found[TCA_COUPLED_THRESHOLD]));
	show_choice("input", " input %s", inputs, number(found[TCA_COUPLED_INPUT]));
	show_choice("scheduler", " scheduler %s", schedulers, number(found[TCA_COUPLED_SCHEDULER]));
	show_u64("classic_percent", " classic_percent %llu",
		 number(found[TCA_COUPLED_CLASSIC_PERCENT]));
	show_u64("shift", " shift %lluns", number(found[TCA_COUPLED_SHIFT]));
	show_u64("mtu", " mtu %llub", number(found[TCA_COUPLED_MTU]));
	return 0;
}

static inline void show_class(const char *name, const struct tc_coupled_class *class)
{
	open_json_object(name);
	show_break("\n  ");
	show_break(name);
	show_u64("packets", " packets %llu", class->packets);
	show_u64("backlog_packets", " backlog %llup", class->backlog_packets);
	show_u64("backlog_bytes", " %llub", class->backlog_bytes);
	show_u64("delay_ns", " delay %lluns", class->delay);
	show_u64("delay_sum_ns", " delay_sum %lluns", class->delay_sum);
	show_u64("sent", " sent %llu", class->sent);
	show_u64("threshold", " threshold %llu", class->threshold);
	show_u64("coupled", " coupled %llu", class->coupled);
	show_u64("dropped", " dropped %llu", class->dropped);
	show_u64("overlimit", " overlimit %llu", class->overlimit);
	close_json_object();
}

static inline int coupled_print_xstats(struct rtattr *xstats, bool dual)
{
	struct tc_coupled_xstats st;

	if (!xstats)
		return 0;
	if (RTA_PAYLOAD(xstats) < sizeof(st))
		return -1;
	memcpy(&st, RTA_DATA(xstats), sizeof(st));
	show_float("probability", "  probability %.9g", fraction(st.probability));
	if (dual)
		print_color_float(PRINT_ANY, COLOR_NONE, "credit", " credit %.0f", st.credit);
	show_class("ect_stats", &st.ect);
	show_class("classic_stats", &st.classic);
	return 0;
}

#endif
