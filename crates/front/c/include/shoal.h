/*
 * shoal: a link with its queue, in virtual time.
 *
 * A bottleneck takes packets, holds them as the queue of a link would, marks and drops them, and says when each reaches
 * the other end. It has no clock, no threads and no sockets: every call tells the time, in picoseconds since whatever
 * beginning the caller likes. It keeps no packet but its size, and a handle that the caller gives with it.
 *
 *     struct shoal_event event;
 *     char error[512];
 *     shoal_bottleneck *link = shoal_bottleneck_new(scenario, strlen(scenario), NULL, 1, error, sizeof error);
 *     if (link == NULL) { fputs(error, stderr); return 1; }
 *     shoal_bottleneck_enqueue(link, now_ps, 1500, SHOAL_ECT0, 0, 42, NULL);
 *     while (shoal_bottleneck_next(link, now_ps, &event) == SHOAL_PACKET)
 *         deliver(event.handle);
 *     shoal_bottleneck_free(link);
 *
 * The simulator calls the same functions: with the same scenario, packets and times, it has the same outcome. One
 * bottleneck must not be used by two threads at once. No function keeps a pointer that it is given, but for its
 * bottleneck. Whatever happens inside, no call unwinds into C: one that fails says SHOAL_FAILED, and so does every
 * later call with the same bottleneck.
 */
#ifndef SHOAL_H
#define SHOAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_bottleneck shoal_bottleneck;

/* The two ECN bits of the IP header (RFC 3168, https://www.rfc-editor.org/rfc/rfc3168#section-5). */
enum shoal_ecn { SHOAL_NOT_ECT = 0, SHOAL_ECT1 = 1, SHOAL_ECT0 = 2, SHOAL_CE = 3 };

/* The fate of a packet that comes. */
enum shoal_verdict {
    SHOAL_QUEUED = 0,
    /* Queued, and marked at once. Other queues mark on departure: see shoal_event. */
    SHOAL_MARKED = 1,
    /* Queued; packets that waited, perhaps this one, were dropped for it: shoal_bottleneck_next tells which. */
    SHOAL_DISPLACED = 2,
    SHOAL_DROPPED = 3
};

/* Why a packet was marked or dropped. */
enum shoal_reason {
    SHOAL_BUFFER = 0,        /* The buffer was full. */
    SHOAL_THRESHOLD = 1,     /* The queue was above a fixed threshold. */
    SHOAL_EARLY = 2,         /* A random early decision. */
    SHOAL_FORCED = 3,        /* The average queue was above its upper limit. */
    SHOAL_COUPLED = 4,       /* A random decision with the coupled probability. */
    SHOAL_SOJOURN = 5,       /* Packets waited for too long. */
    SHOAL_SHARED_BUFFER = 6, /* Memory that ports share was full. */
    SHOAL_NO_REASON = 255    /* None; of a loss, that of the wire, by impairments of the link. */
};

/* What shoal_bottleneck_next tells. */
enum shoal_next {
    SHOAL_NOTHING = 0, /* Nothing will happen unless packets come or the link changes. */
    SHOAL_AT = 1,      /* Nothing more by now; ask again at at_ps, or after a packet that comes before. */
    SHOAL_PACKET = 2,  /* A packet has reached the other end. Ask again. */
    SHOAL_LOST = 3     /* A packet that was queued has been dropped, or the wire has lost it. Ask again. */
};

/* What every function that returns int says if it cannot do what it is asked. */
#define SHOAL_FAILED (-1)

/* The last time, 2^62 ps (53 days): later ones count as it. A time before an earlier one counts as that one. */
#define SHOAL_LAST_PS (UINT64_C(1) << 62)

struct shoal_event {
    uint64_t at_ps;  /* When it happened, at most the time of the question; or when to ask again. */
    uint64_t handle; /* Of the packet. If impairments send packets twice, a handle comes twice. */
    uint32_t flow;
    uint16_t bytes;
    uint8_t ecn;       /* enum shoal_ecn, as it is now. */
    uint8_t is_marked; /* 1 if this queue has marked it. */
    uint8_t reason;    /* enum shoal_reason, of a loss. */
};

struct shoal_counters {
    uint64_t arrived, marked, dropped; /* At the queue. */
    uint64_t lost;                     /* On the wire, by impairments. */
    uint64_t delivered, delivered_bytes;
    uint64_t waiting_packets, waiting_bytes; /* Now, without the packet in transmission. */
};

/*
 * The link called `link` of a scenario, a text of `length` bytes as `shoal run` reads it; the first bottleneck if that
 * is NULL. Random draws are those of this link in a run with `seed`. Returns NULL if there is no such link, with the
 * reason and the remedy in `error`, as far as they fit into `size` bytes with their final zero.
 */
shoal_bottleneck *shoal_bottleneck_new(const char *scenario, size_t length, const char *link, uint64_t seed,
                                       char *error, size_t size);

/* NULL is no mistake. */
void shoal_bottleneck_free(shoal_bottleneck *bottleneck);

/*
 * A packet comes, as an IP packet of `bytes`. Returns an enum shoal_verdict, and writes its enum shoal_reason unless
 * `reason` is NULL. SHOAL_FAILED if `ecn` is none.
 */
int shoal_bottleneck_enqueue(shoal_bottleneck *bottleneck, uint64_t now_ps, uint16_t bytes, uint8_t ecn,
                             uint32_t flow, uint64_t handle, uint8_t *reason);

/* What has happened by now and was not told yet, one thing for each call. Returns an enum shoal_next. */
int shoal_bottleneck_next(shoal_bottleneck *bottleneck, uint64_t now_ps, struct shoal_event *event);

/*
 * Transmissions that begin now or later have this rate; at 0 bit/s the link is down. Returns 0, or SHOAL_FAILED if the
 * link is a pure delay or sends at opportunities.
 */
int shoal_bottleneck_set_rate(shoal_bottleneck *bottleneck, uint64_t now_ps, uint64_t bits_per_s);

/* Packets whose last bit leaves now or later have this delay. Returns 0, or SHOAL_FAILED beyond 2^62 ps. */
int shoal_bottleneck_set_delay(shoal_bottleneck *bottleneck, uint64_t now_ps, uint64_t delay_ps);

/* What has become of packets so far. Returns 0. */
int shoal_bottleneck_counters(const shoal_bottleneck *bottleneck, struct shoal_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
