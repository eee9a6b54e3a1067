/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Conformance scripts: one TUN device, one thread that plays the network, and one that makes the
 * application's calls.
 */
#ifndef SHOAL_SCRIPT_H
#define SHOAL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Plays the program in a file and writes /script.bin. crates/lab/conformance/src/kernel/program.rs
 * makes the program.
 */
void script_play(const char *path);

/*
 * tun.c: the device. Addresses are those of the kernel's own scripts: 192.168.0.1/16 on this side,
 * 192.0.2.1 on the other.
 */
#define TUN "tun0"
/*
 * Opens the device. Segments larger than `mss`, if it is not 0, are delivered as several that the
 * device has merged.
 */
int tun_open(unsigned mtu, unsigned mss);
/* Reads a packet; the result is that of read(2). */
ssize_t tun_read(int tun, unsigned char *into, size_t room);
/* Fills in a packet's checksums and writes it. */
void tun_write(int tun, unsigned char *packet, size_t size);
void tun_set_mtu(unsigned mtu);
void tun_set_offload(bool generic, bool on);

/* caller.c: system calls, which may block. */
#define MAX_ARGUMENTS 6
struct job {
	long number, arguments[MAX_ARGUMENTS];
	long result;
	int error;
	uint64_t ended_ns;
};
/* Starts the thread; returns a descriptor that is readable when a job has ended. */
int caller_start(void);
void caller_post(struct job *job);
/* Acknowledges the end of the job. */
void caller_take(void);

/*
 * records.c: the records that the host reads, in a fixed layout; see
 * crates/lab/conformance/src/kernel/records.rs.
 */
enum script_kind {
	SCRIPT_PACKET = 2,	/* data: the packet's headers */
	SCRIPT_SILENCE = 3, /* no packet came in time; the last record */
	SCRIPT_CALLED = 4,	 /* data: the memory of the call */
	SCRIPT_BLOCKED = 5, /* a call did not return in time; the last record */
	SCRIPT_STATE = 6,	 /* data: three lengths of 16 bits, followed by the three parts */
	SCRIPT_DONE = 7,
	SCRIPT_SKIPPED = 8, /* a sysctl that this kernel lacks */
	SCRIPT_COUNTED = 9, /* result: value of a counter */
};
struct script_record {
	uint32_t event, kind;
	uint64_t base_ns, at_ns, ended_ns;
	int64_t result;
	uint32_t error, size;
};
void record_open(const char *path);
void record_add(const struct script_record *record, const void *data);
void record_close(void);

/* counters.c: the network's counters, as nstat shows them. */
void counters_begin(void);
/*
 * Increase of the counter `name`, such as TcpExtBeyondWindow, since counters_begin(); -1 if it does
 * not exist.
 */
int64_t counter_read(const char *name);

#endif
