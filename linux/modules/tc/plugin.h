/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plugin of `tc`: it loads q_KIND.so from TC_LIB_DIR for a kind it does not know and looks up
 * KIND_qdisc_util in it.
 *
 * iproute2 installs no headers. What is declared here is the binary interface that has been the
 * same since 4.18: the table of functions, and three print functions that `tc` exports to plugins,
 * which write text or JSON.
 */
#ifndef _SHOAL_TC_PLUGIN_H
#define _SHOAL_TC_PLUGIN_H

#include <errno.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *util, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev);
	int (*print_qopt)(const struct qdisc_util *util, FILE *f, struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *util, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *util, int argc, char **argv, struct nlmsghdr *n,
			  const char *dev);
	int (*print_copt)(const struct qdisc_util *util, FILE *f, struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *util, struct rtattr *opt, bool *has);
};

enum { PRINT_FP = 1, PRINT_JSON = 2, PRINT_ANY = 4 };
enum { COLOR_NONE = 6 };

int print_color_u64(int type, int color, const char *key, const char *format, uint64_t value);
int print_color_string(int type, int color, const char *key, const char *format, const char *value);
int print_color_float(int type, int color, const char *key, const char *format, double value);
void open_json_object(const char *key);
void close_json_object(void);

/* Room that `tc` has in its request, less than all its versions have. */
#define REQUEST_ROOM	4096

static inline struct rtattr *end_of(struct nlmsghdr *n)
{
	return (struct rtattr *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));
}

static inline bool put(struct nlmsghdr *n, int type, const void *data, size_t len)
{
	struct rtattr *attr = end_of(n);

	if (NLMSG_ALIGN(n->nlmsg_len) + RTA_SPACE(len) > REQUEST_ROOM) {
		fprintf(stderr, "the request is too long\n");
		return false;
	}
	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_SPACE(len);
	return true;
}

static inline bool put_u8(struct nlmsghdr *n, int type, uint8_t value)
{
	return put(n, type, &value, sizeof(value));
}

static inline bool put_u32(struct nlmsghdr *n, int type, uint32_t value)
{
	return put(n, type, &value, sizeof(value));
}

static inline bool put_u64(struct nlmsghdr *n, int type, uint64_t value)
{
	return put(n, type, &value, sizeof(value));
}

static inline struct rtattr *nest_start(struct nlmsghdr *n, int type)
{
	struct rtattr *nest = end_of(n);

	return put(n, type | NLA_F_NESTED, NULL, 0) ? nest : NULL;
}

static inline void nest_end(struct nlmsghdr *n, struct rtattr *nest)
{
	nest->rta_len = (char *)end_of(n) - (char *)nest;
}

/* The last attribute of each type in @nest; @found has @max + 1 places. */
static inline void parse(struct rtattr *nest, struct rtattr **found, int max)
{
	struct rtattr *attr = RTA_DATA(nest);
	int len = RTA_PAYLOAD(nest);

	memset(found, 0, (max + 1) * sizeof(*found));
	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len)) {
		int type = attr->rta_type & NLA_TYPE_MASK;

		if (type <= max)
			found[type] = attr;
	}
}

/* 0 if it is missing, as from an older module. */
static inline uint64_t number(const struct rtattr *attr)
{
	uint64_t value = 0;

	if (attr)
		memcpy(&value, RTA_DATA(attr),
		       RTA_PAYLOAD(attr) < sizeof(value) ? RTA_PAYLOAD(attr) : sizeof(value));
	return value;
}

/* Units of a command line, with their factors; the first one with which the word ends applies. */
struct unit {
	const char *name;
	double factor;
};

static const struct unit sizes[] = {
	{ "kb", 1024 },	  { "mb", 1048576 }, { "b", 1 },  { "k", 1024 },
	{ "m", 1048576 }, { "", 1 },	     { NULL, 0 },
};

/* As in tc: "bit" means bit/s, "bps" bytes/s. The result is in bytes per second. */
static const struct unit rates[] = {
	{ "kbit", 125 },  { "mbit", 125000 }, { "gbit", 125000000 }, { "bit", 0.125 },
	{ "kbps", 1000 }, { "mbps", 1e6 },    { "gbps", 1e9 },	     { "bps", 1 },
	{ "", 0.125 },	  { NULL, 0 },
};

static const struct unit times[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
};

static const struct unit counts[] = { { "", 1 }, { NULL, 0 } };

/* Probabilities and weights, in 2^-32. */
static const struct unit fractions[] = { { "%", 42949672.96 }, { "", 4294967296.0 }, { NULL, 0 } };

/* A factor, in 2^-16. */
static const struct unit factors[] = { { "", 65536 }, { NULL, 0 } };

static inline bool read_amount(const char *text, const struct unit *units, double max,
			       uint64_t *value)
{
	char *unit;
	double amount = strtod(text, &unit);

	if (unit == text || !(amount >= 0))
		return false;
	for (; units->name; units++) {
		if (strcmp(unit, units->name))
			continue;
		amount = floor(amount * units->factor + 0.5);
		if (amount > max)
			return false;
		*value = amount;
		return true;
	}
	return false;
}

/* The remaining words of a command line. */
struct words {
	const char *kind;
	int argc;
	char **argv;
};

static inline const char *next_word(struct words *words)
{
	if (!words->argc) {
		fprintf(stderr, "%s: the command ends too early\n", words->kind);
		return NULL;
	}
	words->argc--;
	return *words->argv++;
}

static inline bool next_amount(struct words *words, const char *key, const struct unit *units,
			       double max, uint64_t *value)
{
	const char *word = next_word(words);

	if (!word)
		return false;
	if (read_amount(word, units, max, value))
		return true;
	fprintf(stderr, "%s: %s %s: not a number in range, or an unknown unit\n", words->kind, key,
		word);
	return false;
}

/* One of @names, which end with NULL. */
static inline bool next_choice(struct words *words, const char *key, const char *const *names,
			       uint64_t *value)
{
	const char *word = next_word(words);

	if (!word)
		return false;
	for (*value = 0; names[*value]; ++*value)
		if (!strcmp(word, names[*value]))
			return true;
	fprintf(stderr, "%s: %s is one of", words->kind, key);
	for (; *names; names++)
		fprintf(stderr, " %s", *names);
	fprintf(stderr, "; not %s\n", word);
	return false;
}

static inline void show_u64(const char *key, const char *format, uint64_t value)
{
	print_color_u64(PRINT_ANY, COLOR_NONE, key, format, value);
}

static inline void show_float(const char *key, const char *format, double value)
{
	print_color_float(PRINT_ANY, COLOR_NONE, key, format, value);
}

static inline void show_text(const char *key, const char *format, const char *value)
{
	print_color_string(PRINT_ANY, COLOR_NONE, key, format, value);
}

/* Only in text. */
static inline void show_break(const char *text)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s", text);
}

static inline double fraction(uint64_t q32)
{
	return q32 / 4294967296.0;
}

#endif
