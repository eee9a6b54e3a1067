// SPDX-License-Identifier: GPL-2.0-only
/*
 * The plugins of tc without a kernel: the attributes that they make of a command line are printed
 * again by them. This program takes the place of tc: it exports the print functions and calls the
 * functions in the table of the plugin.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>

#include "../tc/plugin.h"

static char output[4096];

static void append(const char *format, ...)
{
	size_t used = strlen(output);
	va_list args;

	va_start(args, format);
	vsnprintf(output + used, sizeof(output) - used, format, args);
	va_end(args);
}

int print_color_u64(int type, int color, const char *key, const char *format, uint64_t value)
{
	(void)type, (void)color, (void)key;
	append(format, (unsigned long long)value);
	return 0;
}

int print_color_string(int type, int color, const char *key, const char *format, const char *value)
{
	(void)type, (void)color, (void)key;
	append(format, value);
	return 0;
}

int print_color_float(int type, int color, const char *key, const char *format, double value)
{
	(void)type, (void)color, (void)key;
	append(format, value);
	return 0;
}

void open_json_object(const char *key)
{
	(void)key;
}

void close_json_object(void)
{
}

struct example {
	const char *kind;
	const char *command;
	/* NULL: refused. */
	const char *printed;
};

/* Attributes that a command does not name are printed as 0: the kernel would send their values. */
static const struct example examples[] = {
	{ "dualred", "limit 400 limit_bytes 10kb rate 10mbit mean_packet 1000 average class",
	  "limit 400 limit_bytes 10240b rate 1250000bps mean_packet 1000b average class" },
	{ "dualred", "not_ect min 31250 max 93750 prob 10% weight 0.5 gentle ect step 36250",
	  "limit 0 limit_bytes 0b rate 0bps mean_packet 0b average shared\n"
	  " not_ect min 31250b max 93750b prob 0.1 weight 0.5 gentle spacing uniform\n"
	  " ect min 36250b max 36250b prob 1 weight 1 nogentle spacing uniform" },
	{ "dualred", "ect spacing independent nogentle weight 0.25",
	  "limit 0 limit_bytes 0b rate 0bps mean_packet 0b average shared\n"
	  " ect min 0b max 0b prob 0 weight 0.25 nogentle spacing independent" },
	{ "dualred", "ect limit 5", NULL },
	{ "dualred", "min 5", NULL },
	{ "dualred", "ect weight 1.01", NULL },
	{ "dualred", "ect min", NULL },
	{ "dualred", "average both", NULL },
	{ "dualred", "rate 10parsec", NULL },
	{ "coupled", "saturation 20ms coupling 1.5 decide dequeue limit 7",
	  "limit 7 limit_bytes 0b rate 0bps decide dequeue saturation 20000000ns coupling 1.5" },
	{ "coupled", "reno_slope 3 dctcp_slope 5 unit 1p",
	  "limit 0 limit_bytes 0b rate 0bps decide enqueue reno_slope 3 dctcp_slope 5 unit 1p" },
	{ "coupled", "threshold 5p", NULL },
	{ "coupled", "reno_slope 32", NULL },
	{ "coupled", "coupling -1", NULL },
	{ "dualq_coupled",
	  "saturation 45kb coupling 8 threshold 1ms input total scheduler shifted shift 40ms mtu 9000",
	  "limit 0 limit_bytes 0b rate 0bps decide enqueue saturation 46080b coupling 8 threshold 1000000ns"
	  " input total scheduler shifted classic_percent 0 shift 40000000ns mtu 9000b" },
	{ "dualq_coupled", "scheduler weighted classic_percent 35 threshold 20p",
	  "limit 0 limit_bytes 0b rate 0bps decide enqueue saturation 0ns coupling 0 threshold 20p"
	  " input classic scheduler weighted classic_percent 35 shift 0ns mtu 0b" },
	{ "dualq_coupled", "classic_percent 101", NULL },
	{ "dualq_coupled", "threshold 5x", NULL },
};

static const struct qdisc_util *plugin(const char *folder, const char *kind)
{
	char path[512], symbol[64];
	void *library;

	snprintf(path, sizeof(path), "%s/q_%s.so", folder, kind);
	snprintf(symbol, sizeof(symbol), "%s_qdisc_util", kind);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return dlsym(library, symbol);
}

static bool try_example(const char *folder, const struct example *example)
{
	static union {
		struct nlmsghdr header;
		char room[2 * REQUEST_ROOM];
	} request;
	const struct qdisc_util *util = plugin(folder, example->kind);
	char words[256], *rest = words, *argv[64];
	int argc = 0, result;

	snprintf(words, sizeof(words), "%s", example->command);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	memset(&request, 0, sizeof(request));
	request.header.nlmsg_len = NLMSG_LENGTH(0);
	result = util->parse_qopt(util, argc, argv, &request.header, "eth0");
	if (result || !example->printed) {
		snprintf(output, sizeof(output), "%s", result ? "refused" : "not refused");
		return !!result == !example->printed;
	}
	output[0] = 0;
	util->print_qopt(util, stdout, NLMSG_DATA(&request.header));
	return !strcmp(output, example->printed);
}

int main(int argc, char **argv)
{
	size_t count = sizeof(examples) / sizeof(*examples), passed = 0, n;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER_OF_PLUGINS\n", argv[0]);
		return 2;
	}
	/* A refused command has a message. */
	if (!freopen("/dev/null", "w", stderr))
		return 2;
	for (n = 0; n < count; n++) {
		if (try_example(argv[1], &examples[n]))
			passed++;
		else
			printf("tc_plugins.c, example %zu (%s %s):\n%s\n", n + 1,
			       examples[n].kind, examples[n].command, output);
	}
	if (passed == count)
		printf("tc plugins: %zu command lines\n", passed);
	return passed != count;
}
