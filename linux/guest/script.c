/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Plays a script on this kernel's TCP. It does not judge: packets that leave, results of calls, and what the kernel
 * says of a socket and of the network are recorded with their times, and the host compares them with what the script
 * expects.
 *
 * After `script`, `connection` and `begin`, which prepare the device, the connections and the clock, each line is a
 * step, `VERB EVENT TIME ...`. A time is a letter and nanoseconds: `a` after the start, `r` after the end of the
 * preceding event, `s` after the scheduled arrival of the preceding packet.
 */
#define _GNU_SOURCE
#include "guest.h"
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 64
#define MAX_DESCRIPTORS 256
#define MAX_LABELS 1024
#define MAX_PACKET (1 << 16)
#define MAX_WAITING 4096
#define KEPT_BYTES 120 /* bytes kept of a packet: headers without payload */
/*
 * Where the host has laid the memory of a call, whose addresses it writes itself (memory.rs); zeros, which serve as
 * payload, follow.
 */
#define MEMORY ((unsigned char *)0x100000000)
#define MEMORY_SIZE 4096
#define ZEROS_SIZE (4 << 20)
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
	unsigned char bytes[KEPT_BYTES];
} waiting[MAX_WAITING];
static size_t waiting_from, waiting_to;

static struct {
	uint32_t label, value;
} labels[MAX_LABELS];
static size_t label_count;

static int tun = -1, done = -1, descriptors[MAX_DESCRIPTORS];
static unsigned char packet[MAX_PACKET];
static FILE *records;
static uint64_t start, previous_arrival;

static struct {
	bool runs;
	struct job job;
	struct script_record record;
	size_t memory_size;
	long descriptor; /* the script's number for the descriptor that it returns, or -1 */
} call;

static void record_add(const struct script_record *record, const void *data)
{
	if (fwrite(record, sizeof(*record), 1, records) != 1 || fwrite(data, 1, record->size, records) != record->size)
		fail_errno("cannot write the records to the host");
}

/* Begins the record of a step; `at` is the time for which the step is meant. */
static struct script_record begin(struct words *w, uint64_t *at)
{
	struct script_record record = { .event = (uint32_t)number(w), .base_ns = now_ns() - start };
	const char *word = text(w);
	uint64_t value = strtoull(word + 1, NULL, 10);

	*at = value + (*word == 'a' ? start : *word == 's' ? previous_arrival : now_ns());
	return record;
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
		memcpy(waiting[at].bytes, packet, KEPT_BYTES);
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
	record_add(&call.record, MEMORY);
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

/* Ends the script with a last record. */
static _Noreturn void end_with(const struct script_record *record)
{
	if (record)
		record_add(record, NULL);
	if (fclose(records))
		fail_errno("cannot write the records to the host");
	power_off();
}

/* Waits for the end of the call that runs, if there is one. */
static void await_call(void)
{
	if (call.runs)
		wait_for(now_ns() + CALL_LIMIT, false, true);
	if (!call.runs)
		return;
	call.record.kind = SCRIPT_BLOCKED;
	end_with(&call.record);
}

/* Begins the record of a step and lets time pass until then. */
static struct script_record begin_at(struct words *w)
{
	uint64_t at;
	struct script_record record = begin(w, &at);

	wait_for(at, false, false);
	record.at_ns = now_ns() - start;
	return record;
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

/* expect EVENT LIMIT CONNECTION PAYLOAD LABEL: one packet, or as many as carry that payload. */
static void expect(struct words *w)
{
	uint64_t limit;
	struct script_record record = begin(w, &limit);
	size_t connection = number(w), payload = number(w), found_payload = 0;
	const char *label = text(w);

	for (;;) {
		size_t at = waiting_from % MAX_WAITING;
		bool found;

		if (waiting_from == waiting_to)
			wait_for(limit, true, false);
		if (waiting_from == waiting_to) {
			/* After a part of the payload, the record still holds the size of that packet. */
			record.size = 0;
			record.kind = SCRIPT_SILENCE;
			record.at_ns = now_ns() - start;
			end_with(&record);
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
		waiting_from++;
		if (found && found_payload >= payload)
			return;
	}
}

/* Fills in a checksum over `size` bytes and what `sum` begins with. */
static void checksum(unsigned char *field, const unsigned char *bytes, size_t size, uint32_t sum)
{
	for (size_t i = 0; i < size; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	put16(field, ~sum & 0xffff);
}

static void checksums(unsigned char *bytes, size_t size)
{
	checksum(bytes + 10, bytes, 20, 0);
	if (bytes[9] == IPPROTO_TCP) {
		/* The pseudo-header: addresses, protocol and size. */
		checksum(bytes + 36, bytes + 12, size - 12, IPPROTO_TCP + (uint32_t)size - 20);
		return;
	}
	/* An ICMP error repeats the header of another packet. */
	checksum(bytes + 38, bytes + 28, 20, 0);
	checksum(bytes + 22, bytes + 20, size - 20, 0);
}

static uint32_t timestamp_of(uint32_t label)
{
	for (size_t i = label_count; i-- > 0;)
		if (labels[i].label == label)
			return labels[i].value;
	return label;
}

/* inject EVENT TIME CONNECTION BYTES PATCHES; patches are written as `L40,T44:100,p20,q22`. */
static void inject(struct words *w)
{
	uint64_t at;
	struct script_record record = begin(w, &at);
	size_t connection = number(w);
	static unsigned char bytes[MAX_PACKET];
	size_t size = hexadecimal(w, bytes, sizeof(bytes));
	char *patches = strdupa(text(w)), *patch;

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
 * call EVENT TIME LIMIT NUMBER DESCRIPTOR MEMORY ARGUMENTS...; with LIMIT `-` the call does not block. An argument is a
 * number, or `f` and the script's number of a descriptor.
 */
static void make_call(struct words *w)
{
	uint64_t at;
	struct script_record record = begin(w, &at);
	bool blocks = strcmp(text(w), "-") != 0;

	wait_for(at, false, false);
	await_call();
	memset(&call.job, 0, sizeof(call.job));
	call.job.number = (long)number(w);
	call.descriptor = (long)number(w);
	call.memory_size = hexadecimal(w, MEMORY, MEMORY_SIZE);
	for (int i = 0; i < MAX_ARGUMENTS && w->next < w->count; i++)
		call.job.arguments[i] = *w->word[w->next] == 'f' ? script_descriptor(strtol(text(w) + 1, NULL, 10)) : (long)number(w);
	record.at_ns = now_ns() - start;
	call.record = record;
	call.runs = true;
	caller_post(&call.job);
	/* A call that blocks continues in parallel with the next events; for its beginning this thread must sleep. */
	if (blocks)
		wait_for(now_ns() + 1, false, true);
	else
		await_call();
}

/* state EVENT TIME DESCRIPTOR: what the kernel says of a socket, in a record for each of three options. */
static void state(struct words *w)
{
	static const int options[][2] = {
		{ IPPROTO_TCP, TCP_INFO }, { IPPROTO_TCP, TCP_CC_INFO }, { SOL_SOCKET, SO_MEMINFO },
	};
	struct script_record record = begin_at(w);
	/* Only now, because a call that returns the descriptor may have ended in the meantime. */
	int fd = script_descriptor((long)number(w));

	record.kind = SCRIPT_STATE;
	for (int i = 0; i < 3; i++) {
		unsigned char found[512];
		socklen_t size = sizeof(found);

		record.error = getsockopt(fd, options[i][0], options[i][1], found, &size) ? (uint32_t)errno : 0;
		record.size = record.error ? 0 : size;
		record_add(&record, found);
	}
}

/* count EVENT TIME: the network's counters, as the kernel writes them. */
static void count(struct words *w)
{
	static const char *const files[] = { "/proc/net/snmp", "/proc/net/netstat" };
	static char found[64 << 10];
	struct script_record record = begin_at(w);

	record.kind = SCRIPT_COUNTERS;
	for (int i = 0; i < 2; i++) {
		int fd = open(files[i], O_RDONLY | O_CLOEXEC);
		ssize_t size;

		if (fd < 0)
			fail_errno("cannot open %s", files[i]);
		while ((size = read(fd, found + record.size, sizeof(found) - record.size)) > 0)
			record.size += (uint32_t)size;
		close(fd);
	}
	record_add(&record, found);
}

void script_at(struct words *w)
{
	struct script_record record = begin_at(w);

	record.kind = SCRIPT_DONE;
	record_add(&record, NULL);
}

/* script MTU MSS: arriving segments that are larger than MSS represent several that the device has merged. */
static void open_script(struct words *w)
{
	static char buffer[8 << 20];
	unsigned mtu = (unsigned)number(w);

	tun = tun_open(mtu, (unsigned)number(w));
	done = caller_start();
	memset(descriptors, -1, sizeof(descriptors));
	if (mmap(MEMORY, MEMORY_SIZE + ZEROS_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		 -1, 0) != MEMORY)
		fail_errno("cannot lay out the memory of calls");
	/* Writing to the host costs time there: once is enough. */
	records = fopen("/script.bin", "we");
	if (!records || setvbuf(records, buffer, _IOFBF, sizeof(buffer)))
		fail_errno("cannot write the records to the host");
}

/* connection LOCAL REMOTE: its ports. */
static void add_connection(struct words *w)
{
	if (connection_count == MAX_CONNECTIONS)
		fail("more than %d connections", MAX_CONNECTIONS);
	connections[connection_count].local = (uint16_t)number(w);
	connections[connection_count++].remote = (uint16_t)number(w);
}

static void begin_time(struct words *unused)
{
	(void)unused;
	start = (now_ns() / SECOND + 1) * SECOND + OFFSET_IN_TICK;
	wait_for(start, false, false);
	/* A timer may be a little late: the script begins when the timer has fired. */
	start = now_ns();
	waiting_from = waiting_to;
}

static void end(struct words *unused)
{
	(void)unused;
	/* Calls that still block have until their time. */
	await_call();
	end_with(NULL);
}

bool script_obey(const char *verb, struct words *w)
{
	static const struct {
		const char *verb;
		void (*obey)(struct words *w);
	} verbs[] = {
		{ "script", open_script }, { "connection", add_connection }, { "begin", begin_time }, { "expect", expect },
		{ "inject", inject }, { "call", make_call }, { "state", state }, { "count", count }, { "end", end },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (strcmp(verb, verbs[i].verb) == 0) {
			verbs[i].obey(w);
			return true;
		}
	return false;
}
