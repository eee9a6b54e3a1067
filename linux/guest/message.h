/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages of rtnetlink under construction. */
#ifndef SHOAL_MESSAGE_H
#define SHOAL_MESSAGE_H

#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

struct message {
	struct nlmsghdr header;
	char body[18432]; /* netem's table of a distribution takes 8 KiB */
};

/* Begins a request; `fixed` is the structure that its type demands. */
void message_start(struct message *m, int type, int flags, const void *fixed, size_t size);
/* Appends an attribute. */
struct rtattr *message_put(struct message *m, int type, const void *value, size_t size);
void message_put_u32(struct message *m, int type, uint32_t value);
/* Attributes within an attribute. */
struct rtattr *message_nest(struct message *m, int type);
void message_nest_end(struct message *m, struct rtattr *outer);

/* net.c: requests of a host. */
unsigned host_device(int host, const char *device); /* index of the device */
const char *host_name(int host);
int host_space(int host); /* its network namespace */
/* Has something done; `what` names the request in an error message. */
void host_request(int host, struct message *m, const char *what);
/* Sends a question and gives the size of the (first part of the) answer. */
size_t host_question(int host, struct message *m, void *answer, size_t room, const char *what);
/* Attributes of a device, in `answer`; their size in bytes is put into `left`. */
const struct rtattr *link_attributes(int host, unsigned index, void *answer, size_t room, int *left);
/*
 * Reads counters of a queue discipline, the attribute of this type, into `counters`: of the one below `parent`, or of
 * the one with this handle if `parent` is zero. Returns their size, which is zero if it has none.
 */
size_t qdisc_counters(int host, const char *device, uint32_t parent, uint32_t handle, int type, void *counters,
		      size_t room);
/* Receives the next part of an answer. */
size_t host_answer(int host, void *answer, size_t room, const char *what);

#endif
