//! Numeric values of names in the stable interface of Linux on x86-64 (`include/uapi`).

/// Value of a symbol in an argument.
pub(super) fn constant(name: &str) -> Option<i64> {
    find(CONSTANTS, name)
}

/// Symbols of arguments with their values.
pub(crate) const CONSTANTS: &[(&str, i64)] = &[
    ("AF_INET", 2),
    ("PF_INET", 2),
    ("SOCK_STREAM", 1),
    ("SOCK_NONBLOCK", 0o4000),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_IP", 0),
    ("SOL_SOCKET", 1),
    ("SOL_IP", 0),
    ("SOL_TCP", 6),
    ("SO_REUSEADDR", 2),
    ("SO_ERROR", 4),
    ("SO_SNDBUF", 7),
    ("SO_RCVBUF", 8),
    ("SO_KEEPALIVE", 9),
    ("SO_LINGER", 13),
    ("SO_RCVLOWAT", 18),
    ("IP_TOS", 1),
    ("IP_MTU_DISCOVER", 10),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_FREEBIND", 15),
    ("TCP_NODELAY", 1),
    ("TCP_MAXSEG", 2),
    ("TCP_CORK", 3),
    ("TCP_KEEPIDLE", 4),
    ("TCP_KEEPINTVL", 5),
    ("TCP_KEEPCNT", 6),
    ("TCP_SYNCNT", 7),
    ("TCP_LINGER2", 8),
    ("TCP_DEFER_ACCEPT", 9),
    ("TCP_WINDOW_CLAMP", 10),
    ("TCP_QUICKACK", 12),
    ("TCP_CONGESTION", 13),
    ("TCP_USER_TIMEOUT", 18),
    ("TCP_FASTOPEN", 23),
    ("TCP_NOTSENT_LOWAT", 25),
    ("TCP_FASTOPEN_CONNECT", 30),
    ("TCP_FASTOPEN_KEY", 33),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("F_GETFL", 3),
    ("F_SETFL", 4),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0o4000),
    ("MSG_OOB", 1),
    ("MSG_PEEK", 2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("NULL", 0),
];

/// Name of an error number.
pub(crate) fn error_name(number: i64) -> String {
    let known = ERRORS.iter().find(|(_, value)| *value == number);
    known.map_or_else(|| format!("error {number}"), |(name, _)| (*name).to_string())
}

/// Names of errors with their numbers.
pub(crate) const ERRORS: &[(&str, i64)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EFAULT", 14),
    ("EINVAL", 22),
    ("EPIPE", 32),
    ("EMSGSIZE", 90),
    ("ENOPROTOOPT", 92),
    ("EOPNOTSUPP", 95),
    ("EADDRINUSE", 98),
    ("ENETUNREACH", 101),
    ("ECONNABORTED", 103),
    ("ECONNRESET", 104),
    ("ENOBUFS", 105),
    ("EISCONN", 106),
    ("ENOTCONN", 107),
    ("ETIMEDOUT", 110),
    ("ECONNREFUSED", 111),
    ("EHOSTUNREACH", 113),
    ("EALREADY", 114),
    ("EINPROGRESS", 115),
];

/// Number of a system call.
pub(super) fn system_call(name: &str) -> Option<i64> {
    find(SYSTEM_CALLS, name)
}

/// System calls with their numbers.
pub(crate) const SYSTEM_CALLS: &[(&str, i64)] = &[
    ("read", 0),
    ("write", 1),
    ("close", 3),
    ("socket", 41),
    ("connect", 42),
    ("accept", 43),
    ("sendto", 44),
    // The C library's `send` and `recv` are these calls without an address.
    ("send", 44),
    ("recv", 45),
    ("recvfrom", 45),
    ("sendmsg", 46),
    ("shutdown", 48),
    ("bind", 49),
    ("listen", 50),
    ("setsockopt", 54),
    ("getsockopt", 55),
    ("fcntl", 72),
    ("accept4", 288),
];

fn find(pairs: &[(&str, i64)], name: &str) -> Option<i64> {
    pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}
