/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Conformance scripts: one TUN device, one thread that plays the network, and one that makes the
 * application's calls.
 */
#ifndef SHOAL_SCRIPT_H
#define SHOAL_SCRIPT_H

#include "words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Carries out a line of a script, which crates/lab/conformance/src/kernel/program.rs has written, and adds to
 * /script.bin; false if the verb is not one of scripts.
 */
bool script_obey(const char *verb, struct words *w);
/* EVENT TIME VERB...: waits for a step that is any other line of the configuration, and records it. */
void script_at(struct words *w);

/*
 * tun.c: the device. Addresses are those of the kernel's own scripts: 192.168.0.1 on this side,
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
/* Writes a packet. */
void tun_write(int tun, unsigned char *packet, size_t size);

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

/* The records that the host reads, in a fixed layout; see crates/lab/conformance/src/kernel/records.rs. */
enum script_kind {
	SCRIPT_PACKET = 2,	/* data: the packet's headers */
	SCRIPT_SILENCE = 3, /* no packet came in time; the last record */
	SCRIPT_CALLED = 4,	 /* data: the memory of the call */
	SCRIPT_BLOCKED = 5, /* a call did not return in time; the last record */
	SCRIPT_STATE = 6,	 /* data: value of an option of the socket */
	SCRIPT_DONE = 7,
	SCRIPT_COUNTERS = 8, /* data: text of the kernel */
};
struct script_record {
	uint32_t event, kind;
	uint64_t base_ns, at_ns, ended_ns;
	int64_t result;
	uint32_t error, size;
};

#endif
