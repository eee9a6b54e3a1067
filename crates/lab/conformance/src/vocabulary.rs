//! Words of packetdrill, of Linux and of Python. They tell a word that exists, but that is not supported here, from one
//! that means nothing anywhere: a script with the first is refused, one with the second is wrong.
//!
//! The names are those of packetdrill's tables (`config.c`, `run_system_call.c`, `symbols_linux.c`, `script.c`,
//! `icmp_packet.c` and `lexer.l` of [packetdrill](https://github.com/google/packetdrill) at commit 2c4001c), with those
//! that scripts may use here beyond them.

use crate::ScriptError;

/// Whether a list of words that blanks separate has a word.
fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// The error for a word that no player of these scripts understands, or the refusal of one that only packetdrill or
/// Linux does. `what` says what kind of word it is, such as `the call`.
pub(crate) fn lacks(line: u32, what: &str, word: &str, exists: bool) -> ScriptError {
    if exists {
        ScriptError::refused(line, format!("{what} `{word}` is not supported"))
    } else {
        ScriptError::syntax(line, format!("{what} `{word}` is not known"))
    }
}

/// Whether packetdrill has the option `--name`.
pub(crate) fn is_option(name: &str) -> bool {
    has(OPTIONS, name)
}

/// Whether there is such a system call in scripts.
pub(crate) fn is_call(name: &str) -> bool {
    has(CALLS, name)
}

/// Whether there is such a symbol in arguments and results of calls.
pub(crate) fn is_symbol(name: &str) -> bool {
    has(SYMBOLS, name)
}

/// Whether a packet of ICMP may be called so.
pub(crate) fn is_icmp(name: &str) -> bool {
    has(ICMP, name)
}

/// Whether packetdrill has such a property of an IP packet in brackets.
pub(crate) fn is_ip_field(name: &str) -> bool {
    has("flowlabel ttl", name)
}

/// Whether Linux has such a queue discipline.
pub(crate) fn is_qdisc(name: &str) -> bool {
    has(QDISCS, name)
}

/// Whether `ethtool -K` may set such a feature: a short name, or a long one of several words.
pub(crate) fn is_offload(name: &str) -> bool {
    name.contains('-') || has("rx tx sg tso ufo gso gro lro rxvlan txvlan ntuple rxhash", name)
}

/// Whether the kernel's parameters have such a group.
pub(crate) fn is_group_of_parameters(name: &str) -> bool {
    has("abi crypto debug dev fs kernel net sunrpc user vm xen", name)
}

/// Whether the kernel may have a parameter with this path. Only those of TCP and the groups below `net` are known.
pub(crate) fn may_be_parameter(path: &str) -> bool {
    let mut parts = path.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("net"), Some("ipv4"), Some(name)) if name.starts_with("tcp_") => has(TCP_PARAMETERS, name),
        (Some("net"), Some(group), Some(_)) => has(NET_GROUPS, group),
        _ => false,
    }
}

/// Whether Linux has such a congestion controller, in its own source or beside it, or in modules of this project.
pub(crate) fn is_controller(name: &str) -> bool {
    has(CONTROLLERS, name)
        || ["dctcp_", "dctcp-", "prague_", "reno_"].iter().any(|ours| name.starts_with(ours))
}

/// Whether a check of Python may begin with this word, if `next` follows.
pub(crate) fn begins_statement(word: &str, next: Option<&str>) -> bool {
    has(STATEMENTS, word) || matches!(next, Some("(" | "[" | "," | "^" | "|" | "&"))
}

/// The command that was meant, if the words of a command are close to those of one that is supported.
pub(crate) fn meant_command(words: &[&str]) -> Option<String> {
    let (first, second) = (words.first()?, words.get(1));
    let near = |known: &[&'static str], word: &str| {
        known.iter().copied().find(|known| *known != word && distance(known, word) <= 2)
    };
    match (*first, second) {
        ("tc", Some(second)) => near(&["qdisc"], second).map(|meant| format!("tc {meant}")),
        ("ip", Some(second)) => near(&["tcp_metrics"], second).map(|meant| format!("ip {meant}")),
        ("netstat", _) => None,
        (word, _) if word.len() >= 5 => near(&["sysctl", "ethtool", "nstat"], word).map(str::to_string),
        _ => None,
    }
}

/// Number of letters to insert, delete or replace, or of neighbours to swap, that turns one word into another.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

const OPTIONS: &str = "ip_version bind_port code_command code_format code_sockopt connect_port remote_ip \
    local_ip gateway_ip netmask_ip speed mss mtu init_scripts tolerance_usecs tolerance_percent wire_client \
    wire_server wire_server_ip wire_server_at wire_server_port wire_client_dev wire_server_dev so_filename \
    so_flags tcp_ts_ecr_scaled tcp_ts_tick_usecs strict_segments non_fatal dry_run is_anyip send_omit_free \
    psp_udp_port debug define verbose";

const CALLS: &str = "socket bind listen accept accept4 connect read readv recv recvfrom recvmsg write \
    writev send sendto sendmsg fcntl ioctl close shutdown getsockopt setsockopt poll cap_set open sendfile \
    epoll_create epoll_ctl epoll_wait pipe splice psp_rx_assoc psp_tx_assoc";

const ICMP: &str = "unreachable echo_reply echo_request source_quench redirect time_exceeded \
    parameter_problem timestamp_request timestamp_reply information_request information_reply \
    address_mask_request address_mask_reply packet_too_big";

const QDISCS: &str = "bfifo cake cake_mq cbs choke clsact codel drr dualpi2 etf ets fq fq_codel fq_pie \
    gred hfsc hhf htb ingress mq mqprio multiq netem noqueue pfifo pfifo_fast pfifo_head_drop pie plug prio \
    qfq red sfb sfq skbprio taprio tbf teql";

const CONTROLLERS: &str = "bbr bbr1 bbr2 bbr3 bic bpf_cubic bpf_dctcp cdg cubic dctcp dctcp-reno \
    highspeed htcp hybla illinois lp nv prague reno scalable vegas veno westwood yeah";

const NET_GROUPS: &str = "bridge core ipv4 ipv6 mpls mptcp netfilter sctp unix vsock xdp";

/// Words that begin statements of Python.
const STATEMENTS: &str = "assert async await break class continue def del for from global if import \
    lambda match nonlocal not pass print raise return try while with yield";

/// Parameters of TCP in Linux 7.3, and those that earlier versions had
/// ([`net/ipv4/sysctl_net_ipv4.c`](https://elixir.bootlin.com/linux/v7.3/source/net/ipv4/sysctl_net_ipv4.c)).
const TCP_PARAMETERS: &str = "tcp_abort_on_overflow tcp_adv_win_scale tcp_allowed_congestion_control \
    tcp_app_win tcp_autocorking tcp_available_congestion_control tcp_available_ulp tcp_backlog_ack_defer \
    tcp_base_mss tcp_challenge_ack_limit tcp_child_ehash_entries tcp_comp_sack_delay_ns tcp_comp_sack_nr \
    tcp_comp_sack_rtt_percent tcp_comp_sack_slack_ns tcp_congestion_control tcp_dsack tcp_early_demux \
    tcp_early_retrans tcp_ecn tcp_ecn_fallback tcp_ecn_option tcp_ecn_option_beacon tcp_ehash_entries \
    tcp_fack tcp_fastopen tcp_fastopen_blackhole_timeout_sec tcp_fastopen_key tcp_fin_timeout tcp_frto \
    tcp_fwmark_accept tcp_invalid_ratelimit tcp_keepalive_intvl tcp_keepalive_probes tcp_keepalive_time \
    tcp_l3mdev_accept tcp_limit_output_bytes tcp_low_latency tcp_max_orphans tcp_max_reordering \
    tcp_max_syn_backlog tcp_max_tw_buckets tcp_mem tcp_migrate_req tcp_min_rtt_wlen tcp_min_snd_mss \
    tcp_min_tso_segs tcp_moderate_rcvbuf tcp_mtu_probe_floor tcp_mtu_probing tcp_no_metrics_save \
    tcp_no_ssthresh_metrics_save tcp_notsent_lowat tcp_orphan_retries tcp_pacing_ca_ratio \
    tcp_pacing_ss_ratio tcp_pingpong_thresh tcp_plb_cong_thresh tcp_plb_enabled tcp_plb_idle_rehash_rounds \
    tcp_plb_rehash_rounds tcp_plb_suspend_rto_sec tcp_probe_interval tcp_probe_threshold tcp_rcvbuf_low_rtt \
    tcp_recovery tcp_reflect_tos tcp_reordering tcp_retrans_collapse tcp_retries1 tcp_retries2 tcp_rfc1337 \
    tcp_rmem tcp_rto_max_ms tcp_rto_min_us tcp_sack tcp_shrink_window tcp_slow_start_after_idle tcp_stdurg \
    tcp_syn_linear_timeouts tcp_syn_retries tcp_synack_retries tcp_syncookies tcp_thin_linear_timeouts \
    tcp_timestamps tcp_tso_rtt_log tcp_tso_win_divisor tcp_tw_reuse tcp_tw_reuse_delay tcp_window_scaling \
    tcp_wmem tcp_workaround_signed_windows tcp_fack tcp_low_latency tcp_tw_recycle tcp_max_ssthresh \
    tcp_cookie_size tcp_default_init_rwnd";

/// Symbols of packetdrill, those that its callers define (`ksft_runner.sh` of the kernel), and those of the player.
const SYMBOLS: &str = "AF_INET AF_INET6 AF_PACKET AF_UNSPEC CAP_AUDIT_CONTROL CAP_AUDIT_WRITE \
    CAP_BLOCK_SUSPEND CAP_CHOWN CAP_CLEAR CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_EFFECTIVE CAP_FOWNER \
    CAP_FSETID CAP_INHERITABLE CAP_IPC_LOCK CAP_IPC_OWNER CAP_KILL CAP_LEASE CAP_LINUX_IMMUTABLE \
    CAP_MAC_ADMIN CAP_MAC_OVERRIDE CAP_MKNOD CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_BROADCAST \
    CAP_NET_RAW CAP_PERMITTED CAP_SET CAP_SETFCAP CAP_SETGID CAP_SETPCAP CAP_SETUID CAP_SYSLOG CAP_SYS_ADMIN \
    CAP_SYS_BOOT CAP_SYS_CHROOT CAP_SYS_MODULE CAP_SYS_NICE CAP_SYS_PACCT CAP_SYS_PTRACE CAP_SYS_RAWIO \
    CAP_SYS_RESOURCE CAP_SYS_TIME CAP_SYS_TTY_CONFIG CAP_WAKE_ALARM CMSG_LEVEL_IP CMSG_TYPE_RECVERR E2BIG \
    EACCES EADDRINUSE EADDRNOTAVAIL EADV EAFNOSUPPORT EAGAIN EALREADY EBADE EBADF EBADFD EBADMSG EBADR \
    EBADRQC EBADSLT EBFONT EBUSY ECANCELED ECHILD ECHRNG ECOMM ECONNABORTED ECONNREFUSED ECONNRESET EDEADLK \
    EDEADLOCK EDESTADDRREQ EDOM EDOTDOT EDQUOT EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EIDRM EILSEQ \
    EINPROGRESS EINTR EINVAL EIO EISCONN EISDIR EISNAM EKEYEXPIRED EKEYREJECTED EKEYREVOKED EL2HLT EL2NSYNC \
    EL3HLT EL3RST ELIBACC ELIBBAD ELIBEXEC ELIBMAX ELIBSCN ELNRNG ELOOP EMEDIUMTYPE EMFILE EMLINK EMSGSIZE \
    EMULTIHOP ENAMETOOLONG ENAVAIL ENETDOWN ENETRESET ENETUNREACH ENFILE ENOANO ENOBUFS ENOCSI ENODATA \
    ENODEV ENOENT ENOEXEC ENOKEY ENOLCK ENOLINK ENOMEDIUM ENOMEM ENOMSG ENONET ENOPKG ENOPROTOOPT ENOSPC \
    ENOSR ENOSTR ENOSYS ENOTBLK ENOTCONN ENOTDIR ENOTEMPTY ENOTNAM ENOTRECOVERABLE ENOTSOCK ENOTTY ENOTUNIQ \
    ENXIO EOPNOTSUPP EOVERFLOW EOWNERDEAD EPERM EPFNOSUPPORT EPIPE EPOLLERR EPOLLET EPOLLEXCLUSIVE EPOLLHUP \
    EPOLLIN EPOLLMSG EPOLLONESHOT EPOLLOUT EPOLLPRI EPOLLRDBAND EPOLLRDHUP EPOLLRDNORM EPOLLWRBAND \
    EPOLLWRNORM EPOLL_CTL_ADD EPOLL_CTL_DEL EPOLL_CTL_MOD EPROTO EPROTONOSUPPORT EPROTOTYPE ERANGE EREMCHG \
    EREMOTE EREMOTEIO ERESTART ERFKILL EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ESRMNT ESTALE ESTRPIPE \
    ETIME ETIMEDOUT ETOOMANYREFS ETXTBSY EUCLEAN EUNATCH EUSERS EWOULDBLOCK EXDEV EXFULL FD_CLOEXEC FIONREAD \
    F_DUPFD F_DUPFD_CLOEXEC F_EXLCK F_GETFD F_GETFL F_GETLEASE F_GETLK F_GETLK64 F_GETOWN F_GETSIG F_NOTIFY \
    F_RDLCK F_SETFD F_SETFL F_SETLEASE F_SETLK F_SETLK64 F_SETLKW F_SETLKW64 F_SETOWN F_SETSIG F_SHLCK \
    F_UNLCK F_WRLCK IPPROTO_ICMP IPPROTO_ICMPV6 IPPROTO_IP IPPROTO_IPV6 IPPROTO_RAW IPPROTO_TCP IPPROTO_UDP \
    IPV6_HOPLIMIT IPV6_MTU IPV6_MTU_DISCOVER IPV6_RECVERR IPV6_TCLASS IP_FREEBIND IP_MTU IP_MTU_DISCOVER \
    IP_PMTUDISC_DO IP_PMTUDISC_DONT IP_PMTUDISC_PROBE IP_PMTUDISC_WANT IP_RECVERR IP_TOS IP_TTL LOCK_EX \
    LOCK_NB LOCK_SH LOCK_UN MSG_CMSG_CLOEXEC MSG_CONFIRM MSG_CTRUNC MSG_DONTROUTE MSG_DONTWAIT MSG_EOR \
    MSG_ERRQUEUE MSG_FASTOPEN MSG_FIN MSG_MORE MSG_NOSIGNAL MSG_OOB MSG_PEEK MSG_PROXY MSG_RST MSG_SYN \
    MSG_TRUNC MSG_WAITALL MSG_ZEROCOPY NULL O_ACCMODE O_APPEND O_CREAT O_EXCL O_NOCTTY O_NONBLOCK O_RDONLY \
    O_RDWR O_TRUNC O_WRONLY PF_INET PF_INET6 POLLERR POLLHUP POLLIN POLLMSG POLLNVAL POLLOUT POLLPRI \
    POLLRDBAND POLLRDHUP POLLRDNORM POLLREMOVE POLLWRBAND POLLWRNORM SCM_TIMESTAMPING \
    SCM_TIMESTAMPING_OPT_STATS SCM_TSTAMP_ACK SCM_TSTAMP_SCHED SCM_TSTAMP_SND SEEK_CUR SEEK_END SEEK_SET \
    SHUT_RD SHUT_RDWR SHUT_WR SIOCINQ SOCK_CLOEXEC SOCK_DGRAM SOCK_NONBLOCK SOCK_RAW SOCK_STREAM \
    SOF_TIMESTAMPING_OPT_CMSG SOF_TIMESTAMPING_OPT_ID SOF_TIMESTAMPING_OPT_ID_TCP SOF_TIMESTAMPING_OPT_STATS \
    SOF_TIMESTAMPING_OPT_TSONLY SOF_TIMESTAMPING_RAW_HARDWARE SOF_TIMESTAMPING_RX_HARDWARE \
    SOF_TIMESTAMPING_RX_SOFTWARE SOF_TIMESTAMPING_SOFTWARE SOF_TIMESTAMPING_SYS_HARDWARE \
    SOF_TIMESTAMPING_TX_ACK SOF_TIMESTAMPING_TX_HARDWARE SOF_TIMESTAMPING_TX_SCHED \
    SOF_TIMESTAMPING_TX_SOFTWARE SOL_IP SOL_IPV6 SOL_SOCKET SOL_TCP SOL_UDP SO_ACCEPTCONN SO_ATTACH_FILTER \
    SO_BINDTODEVICE SO_BROADCAST SO_BSDCOMPAT SO_DEBUG SO_DETACH_FILTER SO_DONTROUTE \
    SO_EE_CODE_ZEROCOPY_COPIED SO_EE_ORIGIN_TIMESTAMPING SO_EE_ORIGIN_ZEROCOPY SO_ERROR SO_KEEPALIVE \
    SO_LINGER SO_MARK SO_MAX_PACING_RATE SO_NO_CHECK SO_OOBINLINE SO_PASSCRED SO_PEERCRED SO_PEERNAME \
    SO_PEERSEC SO_PRIORITY SO_RCVBUF SO_RCVLOWAT SO_RCVTIMEO SO_REUSEADDR SO_REUSEPORT \
    SO_SECURITY_AUTHENTICATION SO_SECURITY_ENCRYPTION_NETWORK SO_SECURITY_ENCRYPTION_TRANSPORT SO_SNDBUF \
    SO_SNDLOWAT SO_SNDTIMEO SO_TIMESTAMP SO_TIMESTAMPING SO_TYPE SO_ZEROCOPY SPLICE_F_GIFT SPLICE_F_MORE \
    SPLICE_F_MOVE SPLICE_F_NONBLOCK TCP_CA_CWR TCP_CA_DISORDER TCP_CA_LOSS TCP_CA_OPEN TCP_CA_RECOVERY \
    TCP_CM_INQ TCP_CONGESTION TCP_COOKIE_TRANSACTIONS TCP_CORK TCP_DEFER_ACCEPT TCP_FASTOPEN \
    TCP_FASTOPEN_CONNECT TCP_FASTOPEN_KEY TCP_FASTOPEN_NO_COOKIE TCP_INFINITE_SSTHRESH TCP_INFO TCP_INQ \
    TCP_KEEPCNT TCP_KEEPIDLE TCP_KEEPINTVL TCP_LINGER2 TCP_MAXSEG TCP_MD5SIG TCP_NLA_BUSY \
    TCP_NLA_BYTES_RETRANS TCP_NLA_BYTES_SENT TCP_NLA_CA_STATE TCP_NLA_DATA_SEGS_OUT TCP_NLA_DELIVERED \
    TCP_NLA_DELIVERED_CE TCP_NLA_DELIVERY_RATE TCP_NLA_DELIVERY_RATE_APP_LMT TCP_NLA_DSACK_DUPS \
    TCP_NLA_MIN_RTT TCP_NLA_PACING_RATE TCP_NLA_RECUR_RETRANS TCP_NLA_REORDERING TCP_NLA_REORD_SEEN \
    TCP_NLA_RWND_LIMITED TCP_NLA_SNDBUF_LIMITED TCP_NLA_SNDQ_SIZE TCP_NLA_SND_CWND TCP_NLA_SND_SSTHRESH \
    TCP_NLA_SRTT TCP_NLA_TOTAL_RETRANS TCP_NODELAY TCP_NOTSENT_LOWAT TCP_QUICKACK TCP_SYNCNT TCP_THIN_DUPACK \
    TCP_THIN_LINEAR_TIMEOUTS TCP_TIMESTAMP TCP_TX_DELAY TCP_USER_TIMEOUT TCP_WINDOW_CLAMP";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_player_has_is_in_the_vocabulary() {
        for (name, _) in crate::kernel::CONSTANTS.iter().chain(crate::kernel::ERRORS) {
            assert!(is_symbol(name), "{name}");
        }
        for (name, _) in crate::kernel::SYSTEM_CALLS {
            assert!(is_call(name), "{name}");
        }
    }

    #[test]
    fn distances_count_typing_errors() {
        for (a, b, n) in
            [("sysctl", "sysclt", 1), ("sysctl", "sysctl", 0), ("nstat", "netstat", 2), ("", "tc", 2)]
        {
            assert_eq!(distance(a, b), n, "{a} {b}");
        }
    }

    #[test]
    fn commands_that_exist_are_not_taken_for_others() {
        assert_eq!(meant_command(&["sysclt", "-q"]).as_deref(), Some("sysctl"));
        assert_eq!(meant_command(&["tc", "qdsic", "add"]).as_deref(), Some("tc qdisc"));
        for words in [["tc", "class"], ["ip", "rule"], ["grep", "x"], ["netstat", "-s"], ["stat", "x"]] {
            assert_eq!(meant_command(&words), None, "{words:?}");
        }
    }
}
