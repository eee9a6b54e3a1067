//! What a check can ask of a connection: the names that packetdrill gives to `struct tcp_info`, to the congestion
//! controller's own information and to `SO_MEMINFO` (`include/uapi/linux/{tcp,inet_diag,sock_diag}.h`).

use crate::assertion::Scope;

/// Fields of `struct tcp_info` in their order, with their sizes in bytes; each is naturally aligned.
const FIELDS: &[(&str, usize)] = &[
    ("tcpi_state", 1),
    ("tcpi_ca_state", 1),
    ("tcpi_retransmits", 1),
    ("tcpi_probes", 1),
    ("tcpi_backoff", 1),
    ("tcpi_options", 1),
    ("scales", 1),
    ("bits", 1),
    ("tcpi_rto", 4),
    ("tcpi_ato", 4),
    ("tcpi_snd_mss", 4),
    ("tcpi_rcv_mss", 4),
    ("tcpi_unacked", 4),
    ("tcpi_sacked", 4),
    ("tcpi_lost", 4),
    ("tcpi_retrans", 4),
    ("tcpi_fackets", 4),
    ("tcpi_last_data_sent", 4),
    ("tcpi_last_ack_sent", 4),
    ("tcpi_last_data_recv", 4),
    ("tcpi_last_ack_recv", 4),
    ("tcpi_pmtu", 4),
    ("tcpi_rcv_ssthresh", 4),
    ("tcpi_rtt", 4),
    ("tcpi_rttvar", 4),
    ("tcpi_snd_ssthresh", 4),
    ("tcpi_snd_cwnd", 4),
    ("tcpi_advmss", 4),
    ("tcpi_reordering", 4),
    ("tcpi_rcv_rtt", 4),
    ("tcpi_rcv_space", 4),
    ("tcpi_total_retrans", 4),
    ("tcpi_pacing_rate", 8),
    ("tcpi_max_pacing_rate", 8),
    ("tcpi_bytes_acked", 8),
    ("tcpi_bytes_received", 8),
    ("tcpi_segs_out", 4),
    ("tcpi_segs_in", 4),
    ("tcpi_notsent_bytes", 4),
    ("tcpi_min_rtt", 4),
    ("tcpi_data_segs_in", 4),
    ("tcpi_data_segs_out", 4),
    ("tcpi_delivery_rate", 8),
    ("tcpi_busy_time", 8),
    ("tcpi_rwnd_limited", 8),
    ("tcpi_sndbuf_limited", 8),
    ("tcpi_delivered", 4),
    ("tcpi_delivered_ce", 4),
    ("tcpi_bytes_sent", 8),
    ("tcpi_bytes_retrans", 8),
    ("tcpi_dsack_dups", 4),
    ("tcpi_reord_seen", 4),
    ("tcpi_rcv_ooopack", 4),
    ("tcpi_snd_wnd", 4),
    ("tcpi_rcv_wnd", 4),
    ("tcpi_rehash", 4),
    ("tcpi_total_rto", 2),
    ("tcpi_total_rto_recoveries", 2),
    ("tcpi_total_rto_time", 4),
    ("tcpi_received_ce", 4),
    ("tcpi_delivered_e1_bytes", 4),
    ("tcpi_delivered_e0_bytes", 4),
    ("tcpi_delivered_ce_bytes", 4),
    ("tcpi_received_e1_bytes", 4),
    ("tcpi_received_e0_bytes", 4),
    ("tcpi_received_ce_bytes", 4),
    ("ecn_bits", 4),
];

const MEMINFO: [&str; 9] = [
    "SK_MEMINFO_RMEM_ALLOC",
    "SK_MEMINFO_RCVBUF",
    "SK_MEMINFO_WMEM_ALLOC",
    "SK_MEMINFO_SNDBUF",
    "SK_MEMINFO_FWD_ALLOC",
    "SK_MEMINFO_WMEM_QUEUED",
    "SK_MEMINFO_OPTMEM",
    "SK_MEMINFO_BACKLOG",
    "SK_MEMINFO_DROPS",
];

/// Constants that checks may use
/// ([`include/net/tcp_states.h`](https://elixir.bootlin.com/linux/v6.12/source/include/net/tcp_states.h),
/// [`include/uapi/linux/tcp.h`](https://elixir.bootlin.com/linux/v6.12/source/include/uapi/linux/tcp.h)).
const SYMBOLS: &[(&str, i64)] = &[
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_NEW_SYN_RECV", 12),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];

/// Further fields, which are bits of others, and those of later versions of the kernel.
const BIT_FIELDS: [&str; 8] = [
    "tcpi_snd_wscale",
    "tcpi_rcv_wscale",
    "tcpi_delivery_rate_app_limited",
    "tcpi_fastopen_client_fail",
    "tcpi_ecn_mode",
    "tcpi_accecn_opt_seen",
    "tcpi_accecn_fail_mode",
    "tcpi_options2",
];

/// Whether a name has the form of a field of a socket's state and is none.
pub(crate) fn is_no_state(name: &str) -> bool {
    let known = FIELDS.iter().any(|(field, _)| *field == name) || BIT_FIELDS.contains(&name);
    (name.starts_with("tcpi_") && !known) || (name.starts_with("SK_MEMINFO_") && !MEMINFO.contains(&name))
}

/// The constants alone, without values of a connection.
pub(crate) fn symbols() -> Scope {
    SYMBOLS.iter().map(|(name, value)| ((*name).to_string(), *value)).collect()
}

/// Values that the kernel reported, by name.
pub(super) fn scope(tcp_info: &[u8], controller: &[u8], meminfo: &[u8]) -> Scope {
    let mut found = symbols();
    let mut at = 0_usize;
    for (name, size) in FIELDS {
        at = at.next_multiple_of(*size);
        let Some(bytes) = tcp_info.get(at..at + size) else { break };
        at += size;
        let value = little(bytes);
        match *name {
            "scales" => {
                found.insert("tcpi_snd_wscale".into(), value & 15);
                found.insert("tcpi_rcv_wscale".into(), value >> 4);
            }
            "bits" => {
                found.insert("tcpi_delivery_rate_app_limited".into(), value & 1);
                found.insert("tcpi_fastopen_client_fail".into(), (value >> 1) & 3);
            }
            "ecn_bits" => {
                found.insert("tcpi_ecn_mode".into(), value & 3);
                found.insert("tcpi_accecn_opt_seen".into(), (value >> 2) & 3);
                found.insert("tcpi_accecn_fail_mode".into(), (value >> 4) & 15);
            }
            name => {
                found.insert(name.into(), value);
            }
        }
    }
    // `union tcp_cc_info`: 16 bytes belong to DCTCP, 20 bytes to BBR.
    if let [enabled @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _] = controller
        && controller.len() == 16
    {
        found.insert("dctcp_enabled".into(), little(enabled));
        found.insert("dctcp_ce_state".into(), little(&controller[2..4]));
        found.insert("dctcp_alpha".into(), little(&controller[4..8]));
        found.insert("dctcp_ab_ecn".into(), little(&controller[8..12]));
        found.insert("dctcp_ab_tot".into(), little(&controller[12..16]));
    }
    for (name, value) in MEMINFO.iter().zip(meminfo.chunks_exact(4)) {
        found.insert((*name).to_string(), little(value));
    }
    found
}

fn little(bytes: &[u8]) -> i64 {
    bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets as `offsetof` gives them for the kernel's header (Linux 7.3): tcpi_snd_cwnd 80, tcpi_delivered 192.
    #[test]
    fn fields_lie_where_the_kernel_has_them() {
        let mut bytes = vec![0_u8; 280];
        bytes[80] = 12;
        bytes[192] = 34;
        bytes[6] = 0x87;
        bytes[276] = 0b1001_0110;
        let found = scope(&bytes, &[1, 0, 0, 0, 0xc0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]);
        let get = |name: &str| found.get(name).copied();
        assert_eq!(get("tcpi_snd_cwnd"), Some(12));
        assert_eq!(get("tcpi_delivered"), Some(34));
        assert_eq!((get("tcpi_snd_wscale"), get("tcpi_rcv_wscale")), (Some(7), Some(8)));
        assert_eq!(get("tcpi_ecn_mode"), Some(2));
        assert_eq!(get("tcpi_accecn_fail_mode"), Some(9));
        assert_eq!((get("dctcp_enabled"), get("dctcp_alpha")), (Some(1), Some(960)));
    }

    #[test]
    fn an_older_kernel_says_less() {
        let found = scope(&[1; 104], &[], &[]);
        assert!(found.contains_key("tcpi_total_retrans") && !found.contains_key("tcpi_pacing_rate"));
    }
}
