/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Plays a script on this kernel's TCP. It does not judge: packets that leave and results of calls are recorded with
 * their times, and the host compares them with what the script expects.
 *
 * A line of the program is `EVENT VERB TIME ...`. A time is a letter and nanoseconds: `a` after the start, `r` after
 * the end of the preceding event, `s` after the scheduled arrival of the preceding packet. Lines with `-` instead of an
 * event prepare the device and the connections.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 64
#define MAX_DESCRIPTORS 256
#define MAX_LABELS 1024
#define MAX_PACKET (1 << 16)
#define MAX_MEMORY 4096
#define MAX_WAITING 4096
#define KEPT_BYTES 120 /* bytes kept of a packet: headers without payload */
#define ZEROS (4 << 20)
#define SECOND UINT64_C(1000000000)
/* Time for a call that is not marked as blocking; the clock stands still while it works. */
#define CALL_LIMIT (10 * SECOND)
/*
 * Scripts count in milliseconds. This offset keeps their times away from the kernel's ticks, so
 * that none falls on a tick.
 */
#define OFFSET_IN_TICK 250000

static struct {
	uint16_t local, remote; /* ports in host byte order; a local port of 0 is not known yet */
	uint32_t isn;
	bool has_isn;
} connections[MAX_CONNECTIONS];
static size_t connection_count;

static struct {
	uint64_t at;
	size_t size;
	unsigned char *bytes;
} waiting[MAX_WAITING];
static size_t waiting_from, waiting_to;

static struct {
	uint32_t label, value;
} labels[MAX_LABELS];
static size_t label_count;

static int tun = -1, done = -1, descriptors[MAX_DESCRIPTORS];
static unsigned char zeros[ZEROS], packet[MAX_PACKET];
static uint64_t start, previous_arrival;

static struct {
	bool runs;
	struct job job;
	struct script_record record;
	unsigned char memory[MAX_MEMORY] __attribute__((aligned(16)));
	size_t memory_size;
	long descriptor; /* the script's number for the descriptor that it returns, or -1 */
} call;

/* Parsing the words of the program. */

static char *next_word;

static char *word(void)
{
	char *found = strsep(&next_word, " \n");

	if (!found || !*found)
		fail("a word is missing in the program");
	return found;
}

static long long integer(void)
{
	return strtoll(word(), NULL, 0);
}

static size_t hexadecimal(unsigned char *into, size_t room)
{
	const char *text = word();
	size_t size = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;

	if (size > room)
		fail("%zu bytes do not fit", size);
	for (size_t i = 0; i < size; i++)
		if (sscanf(text + 2 * i, "%2hhx", &into[i]) != 1)
			fail("`%s` is not hexadecimal", text);
	return size;
}

/* Converts a time of the program into a time of the clock. */
static uint64_t moment(void)
{
	const char *text = word();
	uint64_t value = strtoull(text + 1, NULL, 10);

	switch (*text) {
	case 'a':
		return start + value;
	case 's':
		return previous_arrival + value;
	default:
		return now_ns() + value;
	}
}

/* Packets that have left, with their times. */

static void collect(void)
{
	for (;;) {
		ssize_t size = tun_read(tun, packet, sizeof(packet));
		size_t at = waiting_to % MAX_WAITING;

		if (size < 0 && errno == EAGAIN)
			return;
		if (size < 0)
			fail_errno("cannot read from %s", TUN);
		if (waiting_to - waiting_from == MAX_WAITING)
			fail("more than %d packets wait", MAX_WAITING);
		waiting[at].at = now_ns();
		waiting[at].size = (size_t)size;
		waiting[at].bytes = malloc((size_t)size);
		memcpy(waiting[at].bytes, packet, (size_t)size);
		waiting_to++;
	}
}

static int script_descriptor(long long name)
{
	if (name < 0 || name >= MAX_DESCRIPTORS)
		return -1;
	return descriptors[name];
}

static void finish_call(void)
{
	struct job *job = &call.job;

	caller_take();
	call.runs = false;
	if (call.descriptor >= 0 && call.descriptor < MAX_DESCRIPTORS && job->result >= 0)
		descriptors[call.descriptor] = (int)job->result;
	call.record.kind = SCRIPT_CALLED;
	call.record.ended_ns = job->ended_ns - start;
	call.record.result = job->result;
	call.record.error = (uint32_t)job->error;
	call.record.size = (uint32_t)call.memory_size;
	record_add(&call.record, call.memory);
}

/*
 * Lets time pass until `until`, until a packet leaves (if asked for), or until the call ends (if
 * asked for).
 */
static void wait_for(uint64_t until, bool a_packet, bool the_call)
{
	for (;;) {
		struct pollfd fds[] = { { tun, POLLIN, 0 }, { done, POLLIN, 0 } };
		uint64_t now;
		struct timespec left = { 0 };

		collect();
		now = now_ns();
		if (now < until && !(a_packet && waiting_from != waiting_to) && !(the_call && !call.runs)) {
			left.tv_sec = (time_t)((until - now) / SECOND);
			left.tv_nsec = (long)((until - now) % SECOND);
		}
		if (ppoll(fds, call.runs ? 2 : 1, &left, NULL) < 0)
			fail_errno("cannot wait");
		if (call.runs && fds[1].revents)
			finish_call();
		collect();
		if (now >= until || (a_packet && waiting_from != waiting_to) || (the_call && !call.runs))
			return;
	}
}

static _Noreturn void end(void)
{
	record_close();
	power_off();
}

static struct script_record begin(uint32_t event)
{
	return (struct script_record){ .event = event, .base_ns = now_ns() - start };
}

static uint16_t get16(const unsigned char *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static void put16(unsigned char *at, uint32_t value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static void put32(unsigned char *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

/*
 * Whether a port belongs to a connection; its SYN may be retransmitted after the next connection
 * has begun.
 */
static bool is_known(uint16_t local)
{
	for (size_t i = 0; i < connection_count; i++)
		if (connections[i].local == local)
			return true;
	return false;
}

/*
 * Whether a packet that left is TCP of a connection; the first SYN of a connecting one reveals its
 * port.
 */
static bool belongs(const unsigned char *bytes, size_t size, size_t connection)
{
	const unsigned char *tcp = bytes + 20;

	if (size < 40 || bytes[0] != 0x45 || bytes[9] != IPPROTO_TCP || get16(tcp + 2) != connections[connection].remote)
		return false;
	if (!connections[connection].local && (tcp[13] & 0x12) == 0x02 && !is_known(get16(tcp)))
		connections[connection].local = get16(tcp);
	return get16(tcp) == connections[connection].local;
}

/*
 * Stores what the kernel chose: its initial sequence number, and its timestamp where the script has
 * `label`.
 */
static void learn(const unsigned char *bytes, size_t size, size_t connection, const char *label)
{
	const unsigned char *tcp = bytes + 20;
	size_t header = (size_t)(tcp[12] >> 4) * 4;

	if ((tcp[13] & 0x02) && !connections[connection].has_isn) {
		connections[connection].isn = get32(tcp + 4);
		connections[connection].has_isn = true;
	}
	if (strcmp(label, "-") == 0)
		return;
	for (size_t i = 20; i + 10 <= header && 20 + header <= size;) {
		if (tcp[i] == 8) {
			if (label_count == MAX_LABELS)
				fail("more than %d timestamps", MAX_LABELS);
			labels[label_count].label = (uint32_t)strtoul(label, NULL, 10);
			labels[label_count++].value = get32(tcp + i + 2);
			return;
		}
		i += tcp[i] <= 1 || tcp[i + 1] < 2 ? 1 : tcp[i + 1];
	}
}

static size_t payload_of(const unsigned char *bytes)
{
	size_t headers = 20 + (size_t)(bytes[32] >> 4) * 4, size = get16(bytes + 2);

	return size > headers ? size - headers : 0;
}

/* EVENT expect LIMIT CONNECTION PAYLOAD LABEL: one packet, or as many as carry that payload. */
static void expect(uint32_t event)
{
	struct script_record record = begin(event);
	uint64_t limit = moment();
	size_t connection = (size_t)integer();
	size_t payload = (size_t)integer(), found_payload = 0;
	const char *label = word();

	for (;;) {
		size_t at = waiting_from % MAX_WAITING;
		bool found;

		if (waiting_from == waiting_to)
			wait_for(limit, true, false);
		if (waiting_from == waiting_to) {
			/*
			 * After a part of the payload, the record still holds the size of that
			 * packet.
			 */
			record.size = 0;
			record.kind = SCRIPT_SILENCE;
			record.at_ns = now_ns() - start;
			record_add(&record, NULL);
			end();
		}
		found = belongs(waiting[at].bytes, waiting[at].size, connection);
		if (found) {
			learn(waiting[at].bytes, waiting[at].size, connection, label);
			record.kind = SCRIPT_PACKET;
			record.at_ns = waiting[at].at - start;
			record.result = connections[connection].isn;
			record.size = (uint32_t)(waiting[at].size < KEPT_BYTES ? waiting[at].size : KEPT_BYTES);
			record_add(&record, waiting[at].bytes);
			found_payload += payload_of(waiting[at].bytes);
		}
		free(waiting[at].bytes);
		waiting_from++;
		if (found && found_payload >= payload)
			return;
	}
}

static uint32_t sum(const unsigned char *bytes, size_t size)
{
	uint32_t total = 0;

	for (size_t i = 0; i < size; i++)
		total += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	return total;
}

static uint32_t folded(uint32_t total)
{
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return ~total & 0xffff;
}

static void checksums(unsigned char *bytes, size_t size)
{
	bool tcp = bytes[9] == IPPROTO_TCP;
	unsigned char *field = bytes + 20 + (tcp ? 16 : 2);
	uint32_t pseudo = tcp ? sum(bytes + 12, 8) + IPPROTO_TCP + (uint32_t)size - 20 : 0;

	put16(bytes + 10, folded(sum(bytes, 20)));
	if (!tcp)
		put16(bytes + 38, folded(sum(bytes + 28, 20))); /* checksum of the inner header */
	put16(field, folded(sum(bytes + 20, size - 20) + pseudo));
}

static uint32_t timestamp_of(uint32_t label)
{
	for (size_t i = label_count; i-- > 0;)
		if (labels[i].label == label)
			return labels[i].value;
	return label;
}

/* EVENT inject TIME CONNECTION BYTES PATCHES; patches are written as `L40,T44:100,p20,q22`. */
static void inject(uint32_t event)
{
	struct script_record record = begin(event);
	uint64_t at = moment();
	size_t connection = (size_t)integer();
	static unsigned char bytes[MAX_PACKET];
	size_t size = hexadecimal(bytes, sizeof(bytes));
	char *patches = word(), *patch;

	previous_arrival = at;
	wait_for(at, false, false);
	while ((patch = strsep(&patches, ",")) != NULL) {
		char *rest;
		size_t offset = strtoul(patch + 1, &rest, 10);

		if (offset + 4 > size)
			continue;
		if (*patch == 'L')
			put32(bytes + offset, get32(bytes + offset) + connections[connection].isn);
		else if (*patch == 'T')
			put32(bytes + offset, timestamp_of((uint32_t)strtoul(rest + 1, NULL, 10)));
		else if (*patch == 'p')
			put16(bytes + offset, connections[connection].local);
		else if (*patch == 'q')
			put16(bytes + offset, connections[connection].remote);
	}
	checksums(bytes, size);
	record.at_ns = now_ns() - start;
	tun_write(tun, bytes, size);
	record.kind = SCRIPT_DONE;
	record_add(&record, NULL);
}

/*
 * EVENT call TIME LIMIT NUMBER DESCRIPTOR MEMORY RELOCATIONS ARGUMENTS...; with LIMIT `-` the call
 * does not block.
 */
static void make_call(uint32_t event)
{
	struct script_record record = begin(event);
	uint64_t at = moment(), limit;
	const char *blocks = word();
	char *relocations, *relocation;

	wait_for(at, false, false);
	if (call.runs) {
		wait_for(now_ns() + CALL_LIMIT, false, true);
		if (call.runs) {
			call.record.kind = SCRIPT_BLOCKED;
			record_add(&call.record, NULL);
			end();
		}
	}
	memset(&call.job, 0, sizeof(call.job));
	call.job.number = integer();
	call.descriptor = integer();
	call.memory_size = hexadecimal(call.memory, sizeof(call.memory));
	relocations = word();
	while ((relocation = strsep(&relocations, ",")) != NULL) {
		char *rest;
		size_t place = strtoul(relocation + 1, &rest, 10);
		unsigned char *target = zeros;

		if (*relocation == '-' || place + 8 > call.memory_size)
			continue;
		if (*relocation == 'P')
			target = call.memory + strtoul(rest + 1, NULL, 10);
		memcpy(call.memory + place, &target, sizeof(target));
	}
	for (int i = 0; i < MAX_ARGUMENTS && next_word && *next_word; i++) {
		const char *text = word();
		long long value = strtoll(text + 1, NULL, 10);

		if (*text == 'i')
			call.job.arguments[i] = (long)value;
		else if (*text == 'f')
			call.job.arguments[i] = script_descriptor(value);
		else if (*text == 'm')
			call.job.arguments[i] = (long)(call.memory + value);
		else
			call.job.arguments[i] = (long)zeros;
	}
	record.at_ns = now_ns() - start;
	call.record = record;
	call.runs = true;
	caller_post(&call.job);
	if (strcmp(blocks, "-") != 0) {
		/*
		 * Lets the call begin, for which this thread must sleep; it continues in parallel
		 * with the next events.
		 */
		wait_for(now_ns() + 1, false, true);
		return;
	}
	limit = now_ns() + CALL_LIMIT;
	wait_for(limit, false, true);
	if (call.runs) {
		call.record.kind = SCRIPT_BLOCKED;
		record_add(&call.record, NULL);
		end();
	}
}

static socklen_t option(int fd, int level, int name, void *into, socklen_t room, int *error)
{
	if (getsockopt(fd, level, name, into, &room)) {
		if (!*error)
			*error = errno;
		return 0;
	}
	return room;
}

/* EVENT state TIME DESCRIPTOR */
static void state(uint32_t event)
{
	struct script_record record = begin(event);
	uint64_t at = moment();
	long long name = integer();
	int fd, error = 0, ignored = 0;
	struct {
		uint16_t sizes[3];
		unsigned char bytes[1024];
	} found;
	size_t used = 0;

	wait_for(at, false, false);
	record.at_ns = now_ns() - start;
	/* Only now, because a call that returns the descriptor may have ended in the meantime. */
	fd = script_descriptor(name);
	for (int i = 0; i < 3; i++) {
		static const int names[] = { TCP_INFO, TCP_CC_INFO, SO_MEMINFO };
		int level = i == 2 ? SOL_SOCKET : IPPROTO_TCP;
		socklen_t room = i == 0 ? 512 : 64;

		found.sizes[i] = (uint16_t)option(fd, level, names[i], found.bytes + used, room, i == 0 ? &error : &ignored);
		used += found.sizes[i];
	}
	record.kind = SCRIPT_STATE;
	record.error = (uint32_t)error;
	record.size = (uint32_t)(sizeof(found.sizes) + used);
	record_add(&record, &found);
}

/* sysctl PATH OPTIONAL VALUE... */
static bool set_sysctl(void)
{
	char path[256];
	bool optional;

	snprintf(path, sizeof(path), "/proc/sys/%s", word());
	optional = integer();
	next_word[strcspn(next_word, "\n")] = 0;
	if (optional) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);
		bool written = fd >= 0 && write(fd, next_word, strlen(next_word)) >= 0;

		close(fd);
		return written;
	}
	sysctl_write(host_find("init"), path + strlen("/proc/sys/"), next_word);
	return true;
}

/* Carries out a command, before or during the script. */
static bool set(const char *verb)
{
	if (strcmp(verb, "sysctl") == 0) {
		return set_sysctl();
	} else if (strcmp(verb, "qdisc") == 0) {
		/* qdisc KIND LIMIT: the limit is in packets; -1 is the device's queue length. */
		const char *kind = word();
		long long limit = integer();
		struct tc_fifo_qopt options = { .limit = (uint32_t)limit };

		qdisc_add(host_find("init"), TUN, TC_H_ROOT, 0, kind, &options, limit < 0 ? 0 : sizeof(options));
	} else if (strcmp(verb, "offload") == 0) {
		bool generic = strcmp(word(), "gso") == 0;

		tun_set_offload(generic, integer());
	} else if (strcmp(verb, "recount") == 0) {
		counters_begin();
	} else if (strcmp(verb, "mtu") == 0) {
		tun_set_mtu((unsigned)integer());
	} else if (strcmp(verb, "tun") == 0) {
		/*
		 * tun MTU MSS: arriving segments that are larger than MSS represent several that
		 * the device has merged.
		 */
		unsigned mtu = (unsigned)integer();

		tun = tun_open(mtu, (unsigned)integer());
	} else if (strcmp(verb, "connection") == 0) {
		if (connection_count == MAX_CONNECTIONS)
			fail("more than %d connections", MAX_CONNECTIONS);
		connections[connection_count].local = (uint16_t)integer();
		connections[connection_count++].remote = (uint16_t)integer();
	} else if (strcmp(verb, "nothing") != 0) {
		fail("no verb `%s` in the program", verb);
	}
	return true;
}

static void play(uint32_t event, const char *verb)
{
	if (strcmp(verb, "expect") == 0) {
		expect(event);
	} else if (strcmp(verb, "inject") == 0) {
		inject(event);
	} else if (strcmp(verb, "call") == 0) {
		make_call(event);
	} else if (strcmp(verb, "state") == 0) {
		state(event);
	} else if (strcmp(verb, "set") == 0) {
		struct script_record record = begin(event);

		wait_for(moment(), false, false);
		record.at_ns = now_ns() - start;
		verb = word();
		if (strcmp(verb, "counter") == 0) {
			/* counter NAME GOES-ON */
			record.kind = SCRIPT_COUNTED;
			record.result = counter_read(word());
			if (!integer())
				counters_begin();
		} else {
			record.kind = set(verb) ? SCRIPT_DONE : SCRIPT_SKIPPED;
		}
		record_add(&record, NULL);
	} else {
		fail("no verb `%s` in the program", verb);
	}
}

static void begin_time(void)
{
	start = (now_ns() / SECOND + 1) * SECOND + OFFSET_IN_TICK;
	wait_for(start, false, false);
	/* A timer may be a little late: the script begins when the timer has fired. */
	start = now_ns();
	while (waiting_from != waiting_to)
		free(waiting[waiting_from++ % MAX_WAITING].bytes);
}

void script_play(const char *path)
{
	static char line[MAX_PACKET * 2 + 1024];
	FILE *program = fopen(path, "re");
	bool started = false;

	if (!program)
		fail_errno("cannot open %s", path);
	record_open("/script.bin");
	memset(descriptors, -1, sizeof(descriptors));
	done = caller_start();
	while (fgets(line, sizeof(line), program)) {
		const char *event;

		next_word = line;
		event = word();
		if (strcmp(event, "-") == 0) {
			set(word());
			continue;
		}
		if (!started)
			begin_time();
		started = true;
		play((uint32_t)strtoul(event, NULL, 10), word());
	}
	/* Calls that still block have until their time. */
	if (call.runs)
		wait_for(now_ns() + CALL_LIMIT, false, true);
	if (call.runs) {
		call.record.kind = SCRIPT_BLOCKED;
		record_add(&call.record, NULL);
	}
	end();
}
