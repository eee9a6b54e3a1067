/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages of rtnetlink under construction. */
#include "message.h"
#include "fail.h"

#include <string.h>

static void *tail(struct message *m)
{
	return (char *)m + NLMSG_ALIGN(m->header.nlmsg_len);
}

void message_start(struct message *m, int type, int flags, const void *fixed, size_t size)
{
	memset(m, 0, sizeof(*m));
	m->header.nlmsg_len = NLMSG_LENGTH(size);
	m->header.nlmsg_type = (uint16_t)type;
	m->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	memcpy(NLMSG_DATA(&m->header), fixed, size);
}

struct rtattr *message_put(struct message *m, int type, const void *value, size_t size)
{
	struct rtattr *attribute = tail(m);

	if (NLMSG_ALIGN(m->header.nlmsg_len) + RTA_SPACE(size) > sizeof(*m))
		fail("a netlink message is too long");
	attribute->rta_type = (uint16_t)type;
	attribute->rta_len = (uint16_t)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attribute), value, size);
	m->header.nlmsg_len = NLMSG_ALIGN(m->header.nlmsg_len) + (uint32_t)RTA_ALIGN(attribute->rta_len);
	return attribute;
}

void message_put_u32(struct message *m, int type, uint32_t value)
{
	message_put(m, type, &value, sizeof(value));
}

struct rtattr *message_nest(struct message *m, int type)
{
	return message_put(m, type, NULL, 0);
}

void message_nest_end(struct message *m, struct rtattr *outer)
{
	outer->rta_len = (uint16_t)((char *)tail(m) - (char *)outer);
}
