//! Descriptions of the stack profiles for `shoal describe`.

use shoal_units::{Difference, ModelDoc, ModelKind};

/// Difference: hosts send packet by packet.
pub const SEGMENTS: Difference = Difference::new(
    "Hosts are ideal unless the scenario names others: segments are sent one by one, without segmentation offload, \
     GRO, interrupt coalescing or small queues, and bursts are what window and ACKs make them. Measured on the \
     kernel, with host = \"linux-6-gso\" for host = \"ideal\" (docs/records/linux-hosts.md): single DCTCP flows have \
     up to 59 % fewer CE marks and a mean queue up to 31 % shorter, sixty at 200 Mbit/s one 25 % shorter, and a rate \
     ratio changes by up to 20 % (CUBIC and DCTCP, DualPI2).",
    "every_segment_is_a_packet_of_its_own",
);
const PACING: Difference = Difference::new(
    "Nothing is paced (no fq) unless the host says so (host.pacing), or the controller paces itself (Prague, BBR): \
     what the window allows leaves at once. A single DCTCP flow at 50 Mbit/s behind a CoDel threshold of 1 ms has \
     about twice the alpha of a paced sender in the same place, and about 1 % less goodput.",
    "what_the_window_allows_leaves_at_once",
);
const CLOCK: Difference = Difference::new(
    "RTT samples of senders are exact, as are the timers of kernels before 6. Timers of Linux 6 take the slots of the \
     kernel's timer wheel, at 1000 Hz and two seconds after the boot.",
    "a_timer_that_is_due_waits_for_its_slot",
);
const METRICS: Difference = Difference::new(
    "Nothing is remembered between connections (tcp_metrics): ssthresh starts without limit.",
    "without_ecn_nothing_is_marked",
);
const NO_ZERO_WINDOW_PROBES: Difference = Difference::new(
    "A closed window is not probed; receivers here never close theirs.",
    "the_receive_window_limits_the_flight",
);
const CONSTANT_WINDOW: Difference = Difference::new(
    "The receive window is constant, not tuned: a connection starts with 16 quick ACKs, where the kernel's small first \
     window allows about 10.",
    "a_connection_starts_with_quick_acks",
);
const MEMORY_OF_MERGED: Difference = Difference::new(
    "What merged packets take from the receive window is that of 17 packets in one sk_buff with 832 bytes of \
     overhead; in the kernel a payload that crosses a page of its sender takes two of the 17 places, and drivers \
     differ.",
    "large_batches_take_what_they_take_on_linux",
);
const KNOWN_MSS: Difference = Difference::new(
    "The receiver knows the MSS of its peer; the kernel learns it from the segments that come.",
    "small_segments_are_acknowledged_at_once",
);
const ONE_WAY: Difference = Difference::new(
    "Data goes one way: the receiver answers FIN with an ACK at once and closes nothing.",
    "a_fin_is_acknowledged_at_once_and_not_counted_as_data",
);
const NO_SYN_ACK_TIMER: Difference = Difference::new(
    "A lost SYN/ACK is repeated when the client repeats its SYN, not by a timer of the server.",
    "a_syn_ack_is_not_repeated",
);
const NEVER_GIVES_UP: Difference = Difference::new(
    "A connection never gives up (tcp_syn_retries, tcp_retries2) and knows no RST.",
    "a_connection_never_gives_up",
);
const REORDERING: Difference = Difference::new(
    "The degree of reordering is not learnt: it stays three packets, and FACK stays on. A path that reorders causes \
     more spurious retransmissions than on the kernel.",
    "the_degree_of_reordering_is_not_learnt",
);
const UNDO_NEEDS_PROGRESS: Difference = Difference::new(
    "Only an ACK that advances can undo by its timestamp (RFC 3522); kernels before 5.0 also believed duplicates in \
     Loss.",
    "a_duplicate_with_an_old_timestamp_undoes_nothing",
);
const NO_FORWARD_RETRANSMISSION: Difference = Difference::new(
    "Segments not known to be lost are not repeated in recovery when there is nothing new to send (removed in 4.18).",
    "holes_not_known_to_be_lost_are_not_repeated",
);
const TIMER_BESIDE_TIMER: Difference = Difference::new(
    "The retransmission timer runs beside the reordering timer; the kernel has one timer and sets it from the head's \
     transmission time afterwards.",
    "the_timer_finds_the_loss_that_two_sacks_do_not_prove",
);

/// The differences that all profiles share are repeated for each profile, since constants cannot be joined.
macro_rules! with_common {
    ($($own:expr),* $(,)?) => {
        &[
            SEGMENTS, PACING, CLOCK, METRICS, NO_ZERO_WINDOW_PROBES, CONSTANT_WINDOW, MEMORY_OF_MERGED,
            KNOWN_MSS, ONE_WAY, NO_SYN_ACK_TIMER, NEVER_GIVES_UP, $($own),*
        ]
    };
}

const LINUX_3_2: &[Difference] = with_common![
    REORDERING,
    UNDO_NEEDS_PROGRESS,
    NO_FORWARD_RETRANSMISSION,
    Difference::new(
        "F-RTO is that of 3.10 and later (RFC 5682), not the older one with frto_counter; its response is the full \
         undo.",
        "frto_finds_a_spurious_timeout",
    ),
    Difference::new(
        "Segments older than the timeout are not marked lost in recovery (tcp_timeout_skbs): the timer is exact and \
         comes first.",
        "fack_and_prr",
    ),
];

const LINUX_3_18: &[Difference] = with_common![
    REORDERING,
    UNDO_NEEDS_PROGRESS,
    NO_FORWARD_RETRANSMISSION,
    Difference::new(
        "No early retransmit (RFC 5827, 3.5 to 4.18): a flight too small for three SACKs waits for the timeout.",
        "two_packets_do_not_make_three_duplicates",
    ),
    Difference::new(
        "Without SACK a recovery that ends exactly at its recovery point keeps its reduction; the kernel forgot that \
         it had retransmitted and undid it (fixed in 6.16).",
        "after_the_recovery_point_something_above_it_ends_recovery",
    ),
    Difference::new(
        "The ACK that a change of CE flushes leaves the delayed ACK of the packet that changed it waiting; the kernel \
         cancelled that one, too, so that a sender of few packets stood still for 40 ms or longer (fixed in 4.18).",
        "a_change_flushes_the_pending_ack",
    ),
];

const LINUX_6: &[Difference] = with_common![
    TIMER_BESIDE_TIMER,
    Difference::new(
        "The smallest RTT by which rate samples are judged is that of the connection; the kernel's is that of the last \
         five minutes (tcp_min_rtt_wlen).",
        "the_smallest_rtt_is_kept_for_ever",
    ),
    Difference::new(
        "Accurate ECN is asked for and granted only where the scenario says so (on hosts: tcp_ecn = 3). The halves \
         of a connection that sends both ways count by themselves: CE on ACKs is not in the counters that data carry.",
        "data_feed_back_what_the_other_half_of_their_end_has_received",
    ),
    Difference::new(
        "Beside three SACK blocks an option of accurate ECN without fields is left out, and so is one with three \
         fields beside two blocks, for which only a connection without timestamps has room.",
        "three_sack_blocks_leave_no_room_for_an_option",
    ),
    Difference::new(
        "No difference, but younger than some of Linux 6: four timeouts of a SYN do not double, as since 6.5 \
         (tcp_syn_linear_timeouts).",
        "the_timeout_of_a_syn_doubles",
    ),
    Difference::new(
        "A compressed ACK waits for a third of the RTT, as in the newest kernels (tcp_comp_sack_rtt_percent); earlier \
         ones waited for 5 %, at 20 ms and more the same 1 ms.",
        "a_third_of_a_short_rtt",
    ),
    Difference::new(
        "The ACK of data that fill a part of a hole is always the first of the three that are sent at once beyond the \
         next; in the kernel it is none of them if what waits takes nothing from the window (__tcp_select_window).",
        "progress_begins_three_more",
    ),
    Difference::new(
        "The smallest RTT is that of the whole connection, not of the last five minutes.",
        "reordering_within_a_quarter_rtt_does_nothing",
    ),
];

const FREEBSD_CLOCK: Difference = Difference::new(
    "Timers fire at the exact instant; only RTT samples and what is computed from them count ticks of 1 ms, by a \
     clock that starts with the simulation.",
    "the_timeout_is_at_least_230_ms",
);
const NO_NAGLE: Difference = Difference::new(
    "Nagle's algorithm is off, as in Kato et al. 2015; the kernel has it on unless the application says TCP_NODELAY.",
    "small_segments_leave_at_once",
);
const REPEATED_IS_LOST: Difference = Difference::new(
    "Losses in results are segments sent again: the kernel declares none lost.",
    "a_timeout_goes_back_to_the_first_byte",
);
const INITIAL_WINDOW: Difference = Difference::new(
    "The initial window is ten segments of any size; the kernel limits it to 14,600 B or two segments.",
    "slow_start_counts_bytes_up_to_two_segments_an_ack",
);

/// The differences that both FreeBSD profiles share.
macro_rules! freebsd_with_common {
    ($($own:expr),* $(,)?) => {
        &[
            SEGMENTS_OF_FREEBSD, PACING, FREEBSD_CLOCK, METRICS, NO_ZERO_WINDOW_PROBES, ONE_WAY,
            NO_SYN_ACK_TIMER, NEVER_GIVES_UP, NO_NAGLE, REPEATED_IS_LOST, INITIAL_WINDOW, $($own),*
        ]
    };
}

const SEGMENTS_OF_FREEBSD: Difference = Difference::new(
    "Hosts are ideal unless the scenario names others (freebsd-14-10g): segments are sent one by one, without TSO and \
     LRO, and bursts are what window and ACKs make them. How much that matters on Linux says `shoal describe linux-6`.",
    "slow_start_counts_bytes_up_to_two_segments_an_ack",
);

const FREEBSD_2015: &[Difference] = freebsd_with_common![
    Difference::new(
        "A change of the CE state is acknowledged at once, as Kato et al. 2015 says and later versions do. The module \
         of 2015 asks whether an ACK is delayed by a flag (TF_DELACK) that is never set between segments, so that it \
         never did.",
        "a_change_of_state_is_acknowledged_at_once_with_the_new_state",
    ),
    Difference::new(
        "The first SACK block is all that has arrived around a segment; the kernel joins the segment with those blocks \
         that it touches of six that it remembers (tcp_update_sack_list).",
        "sack_blocks_are_the_receivers_own",
    ),
];

const FREEBSD_14: &[Difference] = freebsd_with_common![Difference::new(
    "The counters of PRR begin anew with every episode; the kernel lets some of them run on from one ECN episode to \
     the next.",
    "an_ecn_episode_is_spread_by_prr",
)];

/// All profiles.
pub const DOCS: &[ModelDoc] = &[
    ModelDoc {
        name: "linux-3.2",
        kind: ModelKind::Stack,
        summary: "Linux 3.2: counts ACKs, slow start at cwnd <= ssthresh, rate halving in CWR, PRR in recovery, FACK.",
        follows: "net/ipv4/tcp_input.c, tcp_output.c, tcp_cong.c of Linux 3.2",
        differences: LINUX_3_2,
    },
    ModelDoc {
        name: "linux-3.18",
        kind: ModelKind::Stack,
        summary: "Linux 3.18: slow start by packets, avoidance by ACKs, growth before the mark is seen, PRR in CWR and \
                  recovery, FACK, tail loss probes.",
        follows: "net/ipv4/tcp_input.c, tcp_output.c, tcp_cong.c of Linux 3.18",
        differences: LINUX_3_18,
    },
    ModelDoc {
        name: "linux-6",
        kind: ModelKind::Stack,
        summary: "Current Linux: counts packets, slow start below ssthresh, PRR in CWR and recovery, RACK, tail loss \
                  probes.",
        follows: "net/ipv4/tcp_input.c, tcp_output.c, tcp_recovery.c, tcp_cong.c of Linux 6.x",
        differences: LINUX_6,
    },
    ModelDoc {
        name: "freebsd-2015",
        kind: ModelKind::Stack,
        summary: "FreeBSD-CURRENT of 2014/15: windows in bytes with appropriate byte counting, SACK recovery from one \
                  segment, delayed ACKs of 100 ms for every second segment, timers of 1 ms with 200 ms of slop.",
        follows: "FreeBSD-CURRENT of January 2015: sys/netinet/tcp_input.c, tcp_output.c, tcp_sack.c, tcp_timer.c",
        differences: FREEBSD_2015,
    },
    ModelDoc {
        name: "freebsd-14",
        kind: ModelKind::Stack,
        summary: "FreeBSD 14: windows in bytes, RFC 6675 and PRR also after ECN-Echo, delayed ACKs of 40 ms, CWR \
                  acknowledged at once.",
        follows: "FreeBSD 14: sys/netinet/tcp_input.c, tcp_output.c, tcp_sack.c, tcp_ecn.c, tcp_timer.c (PRR and \
                  recovery as in CURRENT of 2021)",
        differences: FREEBSD_14,
    },
];
