/* Reads a trace, does what its input says, and writes what is heard; README.md says what that is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shoal.h"

static shoal_bottleneck *bottleneck;
/* When the link wants to be asked; UINT64_MAX if it does not. */
static uint64_t wanted = UINT64_MAX;

static void ask(uint64_t now) {
    struct shoal_event event;
    for (;;) {
        switch (shoal_bottleneck_next(bottleneck, now, &event)) {
        case SHOAL_PACKET:
            printf("p %" PRIu64 " %" PRIu64 " %u %u %u %u\n", event.at_ps, event.handle, event.flow, event.bytes,
                   event.ecn, event.is_marked);
            break;
        case SHOAL_LOST:
            printf("l %" PRIu64 " %" PRIu64 " %u\n", event.at_ps, event.handle, event.reason);
            break;
        case SHOAL_AT:
            wanted = event.at_ps;
            return;
        case SHOAL_NOTHING:
            wanted = UINT64_MAX;
            return;
        default:
            fputs("a call failed\n", stderr);
            exit(1);
        }
    }
}

static void until(uint64_t now) {
    while (wanted < now)
        ask(wanted);
}

static void packets(const uint64_t *number, const char *ecn, uint64_t flows) {
    static uint64_t handle;
    for (uint64_t n = 0; n < number[2]; n++, handle++) {
        uint64_t now = number[0] + n * number[1];
        uint8_t reason;
        until(now);
        int verdict = shoal_bottleneck_enqueue(bottleneck, now, (uint16_t)number[3],
                                               (uint8_t)(ecn[n % strlen(ecn)] - '0'), (uint32_t)(n % flows), handle,
                                               &reason);
        if (verdict != SHOAL_QUEUED)
            printf("e %" PRIu64 " %d %u\n", handle, verdict, reason);
        ask(now);
    }
}

static void change(const char *word, uint64_t at, uint64_t value) {
    until(at);
    int failed = word[0] == 'r' ? shoal_bottleneck_set_rate(bottleneck, at, value)
                                : shoal_bottleneck_set_delay(bottleneck, at, value);
    if (failed)
        puts("f");
    ask(at);
}

int main(void) {
    static char trace[1 << 20];
    size_t length = fread(trace, 1, sizeof trace - 1, stdin);
    trace[length] = 0;
    char *scenario = strstr(trace, "\nscenario\n") + strlen("\nscenario\n");
    char *input = strstr(scenario, "\ninput\n") + 1;
    char error[1000];
    bottleneck = shoal_bottleneck_new(scenario, (size_t)(input - scenario), NULL, 1, error, sizeof error);
    if (bottleneck == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    for (char *line = strtok(input, "\n"); line != NULL && strcmp(line, "output") != 0; line = strtok(NULL, "\n")) {
        char word[8], ecn[16];
        uint64_t number[4], flows;
        if (sscanf(line, "packets %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %15s %" SCNu64, &number[0],
                   &number[1], &number[2], &number[3], ecn, &flows) == 6)
            packets(number, ecn, flows);
        else if (sscanf(line, "%7s %" SCNu64 " %" SCNu64, word, &number[0], &number[1]) == 3)
            change(word, number[0], number[1]);
        else if (strcmp(line, "end") == 0)
            until(UINT64_MAX);
    }
    struct shoal_counters all;
    shoal_bottleneck_counters(bottleneck, &all);
    printf("c %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           all.arrived, all.marked, all.dropped, all.lost, all.delivered, all.delivered_bytes, all.waiting_packets,
           all.waiting_bytes);
    shoal_bottleneck_free(bottleneck);
    return 0;
}
