// SPDX-License-Identifier: GPL-2.0
/*
 * Captures whole packets: those that lines send or drop, and those that arrive at the named devices. They are read from
 * /proc/shoal_capture as records of the line (struct line_record), each followed by its packet, padded to eight bytes.
 *
 * Capturing does not change the result: a packet is copied in the context that handles it in any case. Hosts leave
 * checksums to their devices, and veth does not compute them; the missing checksums are filled into the copy.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/udp.h>
#include <linux/vmalloc.h>
#include <net/checksum.h>
#include <net/net_namespace.h>
#include "capture.h"

/* Bytes of the buffer. The reader is woken when half of it is filled. */
#define ROOM (32u << 20)

static void *buffer;
static size_t used, taken;
static bool lost;

struct tap {
	struct list_head list;
	struct packet_type type;
	u8 interface;
};
static LIST_HEAD(taps);

static void fill_in_checksum(const struct sk_buff *skb, u8 *copy, u32 size)
{
	int start = skb_checksum_start_offset(skb);
	__sum16 sum = csum_fold(csum_partial(copy + start, size - start, 0));

	/*
	 * A checksum of zero means "none" only in UDP (RFC 768,
	 * https://www.rfc-editor.org/rfc/rfc768); in TCP it is an ordinary sum.
	 */
	if (!sum && skb->csum_offset == offsetof(struct udphdr, check))
		sum = CSUM_MANGLED_0;
	*(__sum16 *)(copy + start + skb->csum_offset) = sum;
}

void capture_packet(const struct line_record *about, const struct sk_buff *skb)
{
	u32 size = skb->len, padded = ALIGN(size, 8);
	struct line_record *record = buffer + used;
	u8 *copy = (u8 *)(record + 1);

	if (!buffer)
		return;
	if (used + sizeof(*record) + padded > ROOM || size > U16_MAX) {
		lost = true;
		return;
	}
	*record = *about;
	record->size = size;
	memset(copy + size, 0, padded - size);
	if (skb_copy_bits(skb, 0, copy, size)) {
		lost = true;
		return;
	}
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		fill_in_checksum(skb, copy, size);
	used += sizeof(*record) + padded;
}

bool capture_half_full(void)
{
	return used >= ROOM / 2;
}

static int arrived(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		   struct net_device *orig_dev)
{
	const struct tap *tap = container_of(type, struct tap, type);
	struct line_record about = {
		.time_ns = ktime_get_ns(), .event = LINE_ARRIVED, .link = tap->interface,
	};

	capture_packet(&about, skb);
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/*
 * Writing `DEVICE INTERFACE` keeps packets that arrive at this device of the writer's namespace,
 * under this interface number.
 */
static ssize_t capture_write(struct file *file, const char __user *text, size_t size, loff_t *position)
{
	char line[32], name[IFNAMSIZ];
	struct tap *tap;

	if (size >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, text, size))
		return -EFAULT;
	line[size] = 0;
	tap = kzalloc(sizeof(*tap), GFP_KERNEL);
	if (!tap)
		return -ENOMEM;
	if (sscanf(line, "%15s %hhu", name, &tap->interface) != 2) {
		kfree(tap);
		return -EINVAL;
	}
	tap->type.dev = dev_get_by_name(current->nsproxy->net_ns, name);
	if (!tap->type.dev) {
		kfree(tap);
		return -ENODEV;
	}
	tap->type.type = htons(ETH_P_IP);
	tap->type.func = arrived;
	list_add(&tap->list, &taps);
	dev_add_pack(&tap->type);
	return size;
}

/* Reads the bytes since the last read; 0 if there are none. */
static ssize_t capture_read(struct file *file, char __user *into, size_t size, loff_t *position)
{
	size_t given = min(size, used - taken);

	if (lost)
		return -ENOBUFS;
	if (copy_to_user(into, buffer + taken, given))
		return -EFAULT;
	taken += given;
	/*
	 * Packets arrive in softirqs, and there is one CPU: with bottom halves disabled none
	 * arrives between these lines.
	 */
	local_bh_disable();
	if (taken == used)
		taken = used = 0;
	local_bh_enable();
	return given;
}

static const struct proc_ops capture_ops = {
	.proc_read = capture_read,
	.proc_write = capture_write,
	.proc_lseek = noop_llseek,
};

int capture_init(void)
{
	buffer = vmalloc(ROOM);
	if (!buffer)
		return -ENOMEM;
	if (!proc_create("shoal_capture", 0600, NULL, &capture_ops)) {
		vfree(buffer);
		buffer = NULL;
		return -ENOMEM;
	}
	return 0;
}

void capture_exit(void)
{
	struct tap *tap, *next;

	if (!buffer)
		return;
	remove_proc_entry("shoal_capture", NULL);
	list_for_each_entry_safe(tap, next, &taps, list) {
		dev_remove_pack(&tap->type);
		dev_put(tap->type.dev);
		kfree(tap);
	}
	vfree(buffer);
}
