/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads /config line by line and carries out its instructions. */
#include "guest.h"
#include "modules.h"
#include "mounts.h"
#include "script.h"
#include "words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static int host(struct words *w)
{
	return host_find(text(w));
}

static uint32_t address(struct words *w)
{
	const char *word = text(w);
	struct in_addr parsed;

	if (inet_pton(AF_INET, word, &parsed) != 1)
		fail("`%s` is not an address", word);
	return parsed.s_addr;
}

static struct end end_of(struct words *w)
{
	struct end end = { .host = host(w) };

	copy_name(end.device, sizeof(end.device), text(w));
	end.address = address(w);
	return end;
}

/* route HOST NETWORK LENGTH GATEWAY [initcwnd N] [quickack 1] */
static void route(struct words *w)
{
	int at = host(w);
	uint32_t network = address(w);
	int length = (int)number(w);
	uint32_t gateway = address(w);
	struct metrics metrics = { 0 };

	while (w->next < w->count) {
		const char *name = text(w);
		uint32_t value = (uint32_t)number(w);

		if (strcmp(name, "initcwnd") == 0)
			metrics.initial_window = value;
		else if (strcmp(name, "quickack") == 0)
			metrics.quick_acks = value;
		else
			fail("routes have no `%s`", name);
	}
	route_add(at, network, length, gateway, &metrics);
}

/* nic HOST DEVICE NAME VALUE [NAME VALUE...] */
static void nic(struct words *w)
{
	int at = host(w);
	const char *device = text(w);

	while (w->next < w->count) {
		const char *name = text(w);

		nic_set(at, device, name, (uint32_t)number(w));
	}
}

/* Joins the remaining words of the line with single blanks. */
static void join(struct words *w, char *into, size_t size)
{
	*into = 0;
	while (w->next < w->count) {
		if (strlen(into) + strlen(w->word[w->next]) + 2 > size)
			fail("the value is too long");
		strcat(strcat(into, *into ? " " : ""), text(w));
	}
}

/* qdisc HOST DEVICE PARENT HANDLE KIND HEX: the options as the bytes of their netlink attributes. */
static void qdisc(struct words *w)
{
	int at = host(w);
	const char *device = text(w);
	uint32_t parent = (uint32_t)number(w), handle = (uint32_t)number(w);
	const char *kind = text(w);
	static unsigned char options[16384];
	size_t size = hexadecimal(w, options, sizeof(options));

	qdisc_add(at, device, parent, handle, kind, options, size);
}

static void flow(struct words *w)
{
	struct flow_plan plan = { 0 };
	const char *app;

	plan.sender = host(w);
	plan.receiver = host(w);
	plan.source = address(w);
	plan.destination = address(w);
	copy_name(plan.cc, sizeof(plan.cc), text(w));
	copy_name(plan.connect_cc, sizeof(plan.connect_cc), text(w));
	copy_name(plan.listen_cc, sizeof(plan.listen_cc), text(w));
	plan.read_chunk = (uint32_t)number(w);
	plan.unsent_limit = (uint32_t)number(w);
	plan.in_pieces = number(w);
	plan.start = number(w);
	plan.stop = number(w);
	app = text(w);
	plan.barrier = plan.replaced = NEVER;
	if (strcmp(app, "bulk") == 0) {
		plan.app = APP_BULK;
	} else if (strcmp(app, "transfers") == 0) {
		plan.app = APP_TRANSFERS;
		plan.bytes = number(w);
		plan.rounds = number(w);
		plan.interval = number(w);
		plan.barrier = number(w);
		plan.news = number(w);
	} else if (strcmp(app, "rate") == 0) {
		plan.app = APP_RATE;
		plan.bytes = number(w);
		plan.interval = number(w);
	} else if (strcmp(app, "on-off") == 0) {
		plan.app = APP_ON_OFF;
		plan.interval = number(w);
		plan.off = number(w);
	} else if (strcmp(app, "frames") == 0) {
		plan.app = APP_FRAMES;
		plan.bytes = number(w);
		plan.most = number(w);
		plan.budget = number(w);
		plan.interval = number(w);
	} else if (strcmp(app, "requests") == 0) {
		plan.app = APP_REQUESTS;
		plan.request = number(w);
		plan.bytes = number(w);
		plan.rounds = number(w);
		plan.interval = number(w);
		plan.barrier = number(w);
	} else if (strcmp(app, "datagrams") == 0) {
		plan.app = APP_DATAGRAMS;
		plan.bytes = number(w);
		plan.interval = number(w);
		plan.ecn = (uint32_t)number(w);
	} else if (strcmp(app, "iperf3") == 0) {
		plan.app = APP_IPERF3;
		plan.interval = number(w);
	} else {
		fail("no application `%s`", app);
	}
	flow_add(&plan);
}

/* gaps flow|barrier NUMBER NANOSECONDS... */
static void gaps(struct words *w)
{
	bool of_flow = strcmp(text(w), "flow") == 0;
	uint64_t of = number(w);

	while (w->next < w->count) {
		if (of_flow)
			flow_gap(of, number(w));
		else
			barrier_gap(of, number(w));
	}
}

static void obey(struct words *w)
{
	const char *verb = text(w);

	if (strcmp(verb, "module") == 0) {
		const char *path = text(w);
		char parameters[512];

		join(w, parameters, sizeof(parameters));
		module_load(path, parameters);
	} else if (strcmp(verb, "load") == 0) {
		/* load NAME [PARAMETERS]: a module that the user wrote. */
		const char *name = text(w);
		char parameters[1024];

		join(w, parameters, sizeof(parameters));
		user_module_load(name, parameters);
	} else if (strcmp(verb, "known") == 0) {
		/* known [CANDIDATE...] */
		w->word[w->count] = NULL;
		user_modules_known((const char *const *)&w->word[w->next]);
	} else if (strcmp(verb, "host") == 0) {
		host_add(text(w));
	} else if (strcmp(verb, "sysctl") == 0 || strcmp(verb, "write") == 0 || strcmp(verb, "try") == 0) {
		/* VERB HOST PATH VALUE...: `write` does not read the value back, and `try` does without the parameter. */
		int at = host(w);
		const char *path = text(w);
		char value[256];

		join(w, value, sizeof(value));
		if (*verb == 's')
			sysctl_set(at, path, value);
		else if (*verb == 'w')
			sysctl_write(at, path, value);
		else
			sysctl_try(at, path, value);
	} else if (strcmp(verb, "veth") == 0) {
		struct end a = end_of(w), b = end_of(w);

		veth_add(&a, &b, (uint32_t)number(w));
	} else if (strcmp(verb, "nic") == 0) {
		nic(w);
	} else if (strcmp(verb, "pace") == 0) {
		host_pace(host(w));
	} else if (strcmp(verb, "show") == 0) {
		/* show HOST DEVICE SYSCTL... */
		int at = host(w);

		show(at, text(w));
		while (w->next < w->count)
			show_sysctl(at, text(w));
	} else if (strcmp(verb, "route") == 0) {
		route(w);
	} else if (strcmp(verb, "address") == 0) {
		int at = host(w);
		const char *device = text(w);

		address_add(at, device, address(w));
	} else if (strcmp(verb, "capture") == 0) {
		int at = host(w);
		const char *device = text(w);

		capture_add(at, device, (uint32_t)number(w));
	} else if (strcmp(verb, "qdisc") == 0) {
		qdisc(w);
	} else if (strcmp(verb, "tc") == 0) {
		int at = host(w);

		if (w->next >= w->count)
			fail("tc has nothing to do");
		w->word[w->count] = NULL;
		tc_run(at, &w->word[w->next]);
	} else if (strcmp(verb, "queue") == 0) {
		/* queue HOST DEVICE PARENT HANDLE */
		int at = host(w);
		const char *device = text(w);
		uint32_t parent = (uint32_t)number(w);

		queue_show(at, device, parent, (uint32_t)number(w));
	} else if (strcmp(verb, "halt") == 0) {
		fail_in_line(0);
		user_modules_unload(false);
		power_off();
	} else if (strcmp(verb, "path") == 0) {
		int at = host(w);
		const char *device = text(w);

		path_add(at, device, (uint32_t)number(w));
	} else if (strcmp(verb, "card") == 0) {
		int at = host(w);
		const char *device = text(w);
		uint32_t handle = (uint32_t)number(w);

		card_add(at, device, handle, (uint32_t)number(w));
	} else if (strcmp(verb, "change") == 0) {
		uint64_t at = number(w);

		line_change(at, number(w));
	} else if (strcmp(verb, "flow") == 0) {
		flow(w);
	} else if (strcmp(verb, "gaps") == 0) {
		gaps(w);
	} else if (strcmp(verb, "dscp") == 0) {
		/* dscp FLOW CODE_POINT */
		uint64_t of = number(w);

		flow_code_point(of, (uint32_t)number(w));
	} else if (strcmp(verb, "replace") == 0) {
		/* replace FLOW NANOSECONDS CONTROLLER */
		uint64_t of = number(w), at = number(w);

		flow_replace(of, at, text(w));
	} else if (strcmp(verb, "at") == 0) {
		script_at(w);
		if (w->next < w->count)
			obey(w);
	} else if (strcmp(verb, "run") == 0) {
		uint64_t duration = number(w), sample = number(w), window = number(w);

		fail_in_line(0);
		flows_run(duration, sample, window);
		user_modules_unload(true);
		power_off();
	} else if (!script_obey(verb, w)) {
		fail("no verb `%s`", verb);
	}
}

/* Raises the limit of open files: two for each host, three for each flow. */
static void many_files(void)
{
	struct rlimit files = { 1 << 19, 1 << 19 };

	if (setrlimit(RLIMIT_NOFILE, &files))
		fail_errno("cannot open many files");
}

int main(void)
{
	static char line[1 << 18];
	unsigned line_number = 0;
	FILE *config;

	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	mount_processes();
	many_files();
	host_init();
	config = fopen("/config", "re");
	if (!config)
		fail_errno("cannot open /config");
	while (fgets(line, sizeof(line), config)) {
		struct words words;

		fail_in_line(++line_number);
		words = words_of(line);
		if (words.count && words.word[0][0] != '#')
			obey(&words);
	}
	fail("the configuration ends without `run`");
}
