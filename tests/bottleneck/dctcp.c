/*
 * A sender of one's own over a link of shoal: DCTCP (RFC 8257, https://www.rfc-editor.org/rfc/rfc8257) on a path whose
 * packets are each acknowledged, and none is lost. Reads a scenario, and writes what its flow got in the seconds given:
 *
 *     dctcp DELAY_BACK_US BEGIN_S END_S < SCENARIO
 *
 * tests/python/test_bottleneck.py compares that with what the simulator says of the same scenario.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shoal.h"

#define MSS 1448
#define PACKET 1500
/* More packets than can be on their way at once. */
#define ROOM 4096

static double cwnd = 10, ssthresh = ROOM / 2, alpha = 1;
/* Packets sent and acknowledged, those of this window, and where it and the present reduction end. */
static uint64_t sent, acked, window_acked, window_marked, window_end, reduction_end;

static void on_ack(int is_marked) {
    acked++;
    window_acked++;
    window_marked += is_marked;
    if (acked > window_end) {
        alpha += ((double)window_marked / (double)window_acked - alpha) / 16;
        window_acked = window_marked = 0;
        window_end = sent;
    }
    if (is_marked && acked > reduction_end) {
        ssthresh = cwnd * (1 - alpha / 2);
        cwnd = ssthresh = ssthresh < 2 ? 2 : ssthresh;
        reduction_end = sent;
    } else if (acked > reduction_end) {
        cwnd += cwnd < ssthresh ? 1 : 1 / cwnd;
    }
}

int main(int count, char **words) {
    static char scenario[1 << 16];
    /* When packets were sent, and when their acknowledgements come, which carry the marks. */
    static uint64_t sent_at[ROOM], ack_at[ROOM];
    static uint8_t is_marked[ROOM];
    char error[1000];
    if (count != 4) {
        fputs("usage: dctcp DELAY_BACK_US BEGIN_S END_S < SCENARIO\n", stderr);
        return 2;
    }
    const uint64_t back = strtoull(words[1], NULL, 10) * 1000000;
    const uint64_t begin = strtoull(words[2], NULL, 10) * 1000000000000;
    const uint64_t end = strtoull(words[3], NULL, 10) * 1000000000000;
    size_t length = fread(scenario, 1, sizeof scenario, stdin);
    shoal_bottleneck *link = shoal_bottleneck_new(scenario, length, NULL, 1, error, sizeof error);
    if (link == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    uint64_t arrived = 0, delivered = 0, marked = 0, delay = 0;
    for (uint64_t now = 0; now < end;) {
        struct shoal_event event;
        int next;
        while ((next = shoal_bottleneck_next(link, now, &event)) == SHOAL_PACKET) {
            ack_at[event.handle % ROOM] = event.at_ps + back;
            is_marked[event.handle % ROOM] = event.is_marked;
            arrived++;
            if (event.at_ps >= begin) {
                delivered++;
                marked += event.is_marked;
                delay += event.at_ps - sent_at[event.handle % ROOM];
            }
        }
        if (next == SHOAL_LOST || next == SHOAL_FAILED) {
            fputs("a packet is lost: this sender has no recovery\n", stderr);
            return 1;
        }
        while (acked < arrived && ack_at[acked % ROOM] <= now)
            on_ack(is_marked[acked % ROOM]);
        while ((double)(sent - acked) + 1 <= cwnd && sent - acked < ROOM) {
            sent_at[sent % ROOM] = now;
            if (shoal_bottleneck_enqueue(link, now, PACKET, SHOAL_ECT0, 0, sent, NULL) == SHOAL_DROPPED) {
                fputs("a packet is dropped: this sender has no recovery\n", stderr);
                return 1;
            }
            sent++;
        }
        /* What was sent now changes when the link wants to be asked, and takes time: nothing of it has arrived. */
        next = shoal_bottleneck_next(link, now, &event);
        uint64_t wanted = next == SHOAL_AT ? event.at_ps : end;
        if (acked < arrived && ack_at[acked % ROOM] < wanted)
            wanted = ack_at[acked % ROOM];
        now = wanted;
    }
    shoal_bottleneck_free(link);
    /* The delay is that from one end to the other, with transmission and propagation. */
    printf("goodput_bps %.0f\n", (double)(delivered * MSS * 8) / ((double)(end - begin) / 1e12));
    printf("marked %.5f\n", (double)marked / (double)delivered);
    printf("delay_us %.1f\n", (double)delay / (double)delivered / 1e6);
    return 0;
}
