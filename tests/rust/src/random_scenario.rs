//! Small random scenarios for property tests and for the fuzz target `whole_run`.

use crate::Bytes;

/// A scenario file of at most two simulated seconds and a dozen flows. Some are refused (for example, for a
/// threshold above the buffer); the scenario crate decides which.
pub fn random_scenario(bytes: &mut Bytes<'_>) -> String {
    let kind = bytes.byte() % 5;
    let rate = bytes.pick(&["300 kbit/s", "2 Mbit/s", "10 Mbit/s", "70 Mbit/s"]);
    let buffer = bytes.pick(&["3 packets", "20 packets", "0.5 BDP", "4 BDP", "unlimited", "20 ms"]);
    let (aqm, overhead) = (law(bytes), bytes.pick(&["0 B", "38 B"]));
    let seed = bytes.byte();
    let network = match kind {
        0 => dumbbell(bytes, rate, buffer, &aqm, overhead),
        1 => {
            let delay = bytes.pick(&["50 us", "2 ms"]);
            format!(
                "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"{rate}\"\ndelay = \"{delay}\"\nbuffer = \
                 \"{buffer}\"\n\
                 overhead = \"{overhead}\"\nhost_buffer = \"100 packets\"\naqm = {aqm}\n{}",
                shared_buffer(bytes)
            )
        }
        2 => format!(
            "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 2\nrate = \"{rate}\"\n\
             fabric_rate = \"{}\"\ndelay = \"100 us\"\nfabric_delay = \"1 ms\"\nbuffer = \"{buffer}\"\noverhead = \
             \"{overhead}\"\n\
             reported = \"switches\"\naqm = {aqm}\nfabric_aqm = {}\n{}",
            bytes.pick(&["1 Mbit/s", "5 Mbit/s", "100 Mbit/s"]),
            law(bytes),
            shared_buffer(bytes)
        ),
        3 => format!(
            "[topology]\nkind = \"parking-lot\"\nbottlenecks = 3\nrate = \"{rate}\"\ndelay = \"2 ms\"\nbuffer = \
             \"{buffer}\"\n\
             access_rate = \"{}\"\naccess_delay = \"300 us\"\noverhead = \"{overhead}\"\naqm = {aqm}\n",
            bytes.pick(&["unlimited", "20 Mbit/s"]),
        ),
        // Two bottlenecks in a row, the second one faster or slower.
        _ => {
            let second = bytes.pick(&["1 Mbit/s", "5 Mbit/s", "100 Mbit/s"]);
            format!(
                "[topology]\nkind = \"graph\"\nbdp_rtt = \"20 ms\"\nnodes = [\"h1\", \"h2\", \"s\", \"t\", \
                 \"h4\"]\n[[topology.links]]\n\
                 from = \"h1\"\nto = \"s\"\nrate = \"unlimited\"\ndelay = \"1 ms\"\n[[topology.links]]\nfrom = \
                 \"h2\"\nto = \"s\"\n\
                 rate = \"20 Mbit/s\"\nbuffer = \"50 packets\"\n[[topology.links]]\nfrom = \"s\"\nto = \"t\"\nrate = \
                 \"{rate}\"\n\
                 delay = \"3 ms\"\nbuffer = \"{buffer}\"\naqm = {aqm}\nmonitored = true\n[[topology.links]]\nfrom = \
                 \"t\"\nto = \"h4\"\n\
                 rate = \"{second}\"\nbuffer = \"30 packets\"\noverhead = \"{overhead}\"\n"
            )
        }
    };
    let mut text = format!(
        "duration = \"{}\"\nwarmup = \"{}\"\nseed = {seed}\n",
        bytes.pick(&["300 ms", "1 s", "2 s"]),
        bytes.pick(&["0 s", "100 ms"]),
    );
    text += &network;
    let host = host(bytes);
    for number in 0..=(bytes.byte() % 3) {
        text += &group(bytes, number, kind);
        text += host;
    }
    text += "[distributions.mixed]\ncdf = [[\"100 B\", 0.4], [\"20 kB\", 0.8], [\"300 kB\", 1]]\n";
    text += "[trace]\nseries = \"50 ms\"\ncontroller_flows = 4\n";
    text
}

fn dumbbell(bytes: &mut Bytes<'_>, rate: &str, buffer: &str, aqm: &str, overhead: &str) -> String {
    let topology = match bytes.byte() % 3 {
        0 => String::new(),
        1 => "[topology]\nkind = \"dumbbell\"\naccess_rate = \"30 Mbit/s\"\naccess_buffer = \"10 packets\"\nhosts = \
              3\n".into(),
        _ => "[topology]\nkind = \"dumbbell\"\naccess_rate = \"30 Mbit/s\"\nswitches = true\n".into(),
    };
    format!(
        "{topology}[bottleneck]\nrate = \"{rate}\"\nbuffer = \"{buffer}\"\nbdp_rtt = \"20 ms\"\noverhead = \
         \"{overhead}\"\naqm = {aqm}\n"
    )
}

fn shared_buffer(bytes: &mut Bytes<'_>) -> String {
    if bytes.flag() {
        return String::new();
    }
    let size = bytes.pick(&["15 kB", "60 kB"]);
    let (alpha, reserved) = (bytes.pick(&["0.125", "1.0", "8.0"]), bytes.pick(&["0 B", "1500 B"]));
    format!("shared_buffer = {{ size = \"{size}\", alpha = {alpha}, reserved = \"{reserved}\" }}\n")
}

fn law(bytes: &mut Bytes<'_>) -> String {
    let spacing = bytes.pick(&["uniform", "independent"]);
    let (min, max) = bytes.pick(&[(1, 3), (2, 12), (5, 5)]);
    let weight = bytes.pick(&["0.002", "0.25", "1.0"]);
    let gentle = bytes.flag();
    let slope =
        format!("min = \"{min} packets\", max = \"{max} packets\", weight = {weight}, gentle = {gentle}");
    match bytes.byte() % 16 {
        0 => "{ kind = \"fifo\" }".into(),
        10 => format!(
            "{{ kind = \"open-loop\", mark = {}, drop = {}, spacing = \"{}\" }}",
            bytes.pick(&["0", "0.1", "1"]),
            bytes.pick(&["0", "0.03", "0.5"]),
            bytes.pick(&["independent", "even", "bursts\", on = \"3 ms"]),
        ),
        11 => format!(
            "{{ kind = \"codel\", target = \"{}\", interval = \"{}\", ecn = {}{} }}",
            bytes.pick(&["1 ms", "5 ms"]),
            bytes.pick(&["10 ms", "100 ms"]),
            bytes.flag(),
            bytes.pick(&["", ", ce_threshold = \"500 us\"", ", limit = \"15 packets\""]),
        ),
        12 => format!(
            "{{ kind = \"fq-codel\", {}, quantum = \"{}\", target = \"1 ms\", interval = \"20 ms\", ecn = {}{}, \
             drop_batch = \"{}\" }}",
            bytes.pick(&["classifier = \"flow\"", "flows = 1024", "flows = 2", "flows = 1"]),
            bytes.pick(&["256 B", "1514 B", "9014 B"]),
            bytes.flag(),
            bytes.pick(&[
                "",
                ", ce_threshold = \"500 us\", ce_threshold_for = \"ect1\"",
                ", limit = \"12 packets\"",
                ", memory_limit = \"20 kB\"",
            ]),
            bytes.pick(&["1 packets", "64 packets"]),
        ),
        13 => format!(
            "{{ kind = \"pie\", target = \"{}\", tupdate = \"{}\", ecn = {}, bytemode = {}, dq_rate_estimator = {} }}",
            bytes.pick(&["1 ms", "15 ms"]),
            bytes.pick(&["2 ms", "15 ms"]),
            bytes.flag(),
            bytes.flag(),
            bytes.flag(),
        ),
        14 => {
            let queue = |bytes: &mut Bytes<'_>, prio: u8| {
                format!(
                    "{{ min = \"{}\", max = \"12 kB\", burst = \"6 packets\", probability = {}, ecn = {}, harddrop = \
                     {}{} }}",
                    bytes.pick(&["2 kB", "6 kB"]),
                    bytes.pick(&["0.02", "1"]),
                    bytes.flag(),
                    bytes.flag(),
                    if prio == 0 { String::new() } else { format!(", prio = {prio}") },
                )
            };
            // Equal priorities share an average; without grio there are none.
            let (grio, first, second) = bytes.pick(&[(true, 8, 8), (true, 2, 9), (false, 0, 0)]);
            let (not_ect, ect) = (queue(bytes, first), queue(bytes, second));
            format!(
                "{{ kind = \"gred\", grio = {grio}, limit = \"40 kB\", not_ect = {not_ect}, ect = {ect} }}"
            )
        }
        15 => wred(bytes),
        6 => format!(
            "{{ kind = \"coupled\", saturation = \"{}\", decide = \"{}\" }}",
            bytes.pick(&["30 ms", "20 packets", "30 kB"]),
            bytes.pick(&["enqueue", "dequeue"]),
        ),
        7 => format!(
            "{{ kind = \"dualq-coupled\", reno_slope = {}, scheduler = \"{}\", decide = \"{}\", input = \"{}\" }}",
            bytes.byte() % 12,
            bytes.pick(&["priority", "weighted", "time-shifted"]),
            bytes.pick(&["enqueue", "dequeue"]),
            bytes.pick(&["classic", "total"]),
        ),
        8 => format!(
            "{{ kind = \"dualpi2\", ecn_mask = \"{}\", {}, marking = \"{}\", overload = \"{}\", \
             scheduler = \"{}\", target = \"{}\"{} }}",
            bytes.pick(&["any-ect", "l4s-ect"]),
            bytes.pick(&[
                "native = \"step\"",
                "native = \"ramp\"",
                "native = \"docsis-ramp\", decide = \"enqueue\"",
            ]),
            bytes.pick(&["random", "recur"]),
            bytes.pick(&["drop", "overflow"]),
            bytes.pick(&["priority", "weighted", "time-shifted"]),
            bytes.pick(&["15 ms", "1 ms"]),
            bytes.pick(&["", ", form = \"l4steam\"", ", protection = { critical_score = \"1 ms\" }"]),
        ),
        9 => format!(
            "{{ kind = \"pi2\", target = \"{}\", estimate = \"{}\", ecn = {} }}",
            bytes.pick(&["20 ms", "1 ms"]),
            bytes.pick(&["rate", "sojourn"]),
            bytes.flag(),
        ),
        1 => {
            let decide = bytes.pick(&["enqueue", "dequeue"]);
            let threshold = bytes.pick(&["2 packets", "3 kB", "5 ms"]);
            let drop = bytes.pick(&["unlimited", "3 packets", "4 ms"]);
            format!(
                "{{ kind = \"step\", threshold = \"{threshold}\", decide = \"{decide}\", drop_threshold = \"{drop}\" }}"
            )
        }
        2 => format!("{{ kind = \"red\", {slope}, ecn = {}, spacing = \"{spacing}\" }}", bytes.flag()),
        3 => {
            let average = bytes.pick(&["shared", "per-class"]);
            format!(
                "{{ kind = \"dual-red\", reno = {{ {slope} }}, dctcp = {{ threshold = \"2 packets\" }}, average = \
                 \"{average}\", spacing = \"{spacing}\" }}"
            )
        }
        4 => format!(
            "{{ kind = \"dual-red\", reno = {{ {slope} }}, dctcp = {{ {slope} }}, spacing = \"{spacing}\" }}"
        ),
        _ => format!(
            "{{ kind = \"linux-red\", min = \"3 kB\", max = \"9 kB\", burst = \"4 packets\", limit = \"40 kB\", ecn = \
             {}, harddrop = {}, adaptive = {}, kernel = \"{}\" }}",
            bytes.flag(),
            bytes.flag(),
            bytes.flag(),
            bytes.pick(&["3.2", "6.12"]),
        ),
    }
}

fn wred(bytes: &mut Bytes<'_>) -> String {
    let names = bytes.pick(&[&["mark"][..], &["mark", "drop"], &["drop_ect"], &["mark", "drop", "drop_ect"]]);
    let mut profiles = String::new();
    for name in names {
        let (min, max) = bytes.pick(&[
            ("2 packets", "9 packets"),
            ("3 kB", "3 kB"),
            ("1 ms", "5 ms"),
            ("0.2 BDP", "12 kB"),
        ]);
        let probability = bytes.pick(&["0.1", "1"]);
        profiles +=
            &format!(", {name} = {{ min = \"{min}\", max = \"{max}\", max_probability = {probability} }}");
    }
    format!(
        "{{ kind = \"wred\", decide = \"{}\", weight = {}, cell = \"{}\"{profiles} }}",
        bytes.pick(&["enqueue", "dequeue"]),
        bytes.pick(&["0", "3"]),
        bytes.pick(&["1 B", "256 B"]),
    )
}

/// Hosts of all groups, since those that share a node must be alike.
fn host(bytes: &mut Bytes<'_>) -> &'static str {
    bytes.pick(&[
        "",
        "",
        "host = \"linux-6-gso\"\n",
        "host = \"linux-6-10g\"\n",
        "host = \"linux-3.2-1g\"\n",
        "host = \"freebsd-14-10g\"\n",
        "host = { nic_rate = \"20 Mbit/s\", pacing = \"internal\", coalescing = \"gro\", cpu_per_packet = \"100 us\", \
         ring_packets = 8, interrupt_delay = \"1 ms\", interrupt_packets = 5 }\n",
    ])
}

fn group(bytes: &mut Bytes<'_>, number: u8, topology: u8) -> String {
    let cc = bytes.pick(&[
        "reno",
        "cubic",
        "dctcp",
        "dctcp-ikr",
        "dctcp-stanford",
        "dctcp-linux-3.18",
        "dctcp-freebsd",
        "dctcp-freebsd-14",
        "ecn-newreno",
    ]);
    let stack = bytes.pick(&["linux-3.2", "linux-3.18", "linux-6", "freebsd-2015", "freebsd-14"]);
    let receiver = bytes.pick(&[
        "",
        "",
        "receiver = { feedback = \"classic\" }\n",
        "receiver = { stack = \"freebsd-14\", feedback = \"dctcp\", delays_cwr_acks = true }\n",
    ]);
    let app = bytes.pick(&[
        "{ unresponsive = \"1 Mbit/s\", arrivals = \"poisson\", ecn = \"ect1\" }",
        "{ unresponsive = \"3 Mbit/s\", packet = \"300 B\", ecn = \"ect0\" }",
        "\"bulk\"",
        "{ transfer = \"1 B\", rounds = 5, every = \"30 ms\" }",
        "{ transfer = \"40 kB\", rounds = 3, every = \"100 ms\" }",
        "{ constant_rate = \"400 kbit/s\" }",
        "{ constant_rate = \"3 Mbit/s\", packet = \"100 B\" }",
        "{ on = \"100 ms\", off = \"300 ms\" }",
        "{ transfer = \"9 kB\", rounds = 30, barrier = true }",
        "{ request = \"200 B\", response = \"20 kB\", think = { exponential = \"10 ms\" } }",
        "{ request = \"5 kB\", response = \"3 kB\", rounds = 20, barrier = true }",
        "{ frame = \"4 kB\", every = \"20 ms\", deadline = \"50 ms\" }",
        "{ transfer = { distribution = \"web-search\" } }",
        "{ transfer = { distribution = \"mixed\" } }",
    ]);
    let start = bytes.pick(&[
        "\"0 s\"",
        "\"10 ms\"",
        "{ uniform = [\"0 s\", \"100 ms\"] }",
        "{ every = \"7 ms\", first = \"1 ms\" }",
        "{ poisson = \"20 per s\" }",
        "{ load = 0.7, from = \"50 ms\", until = \"250 ms\" }",
    ]);
    let cc = if app.contains("unresponsive") { "none" } else { cc };
    let receiver = if app.contains("request") { "" } else { receiver };
    // A load of tiny transfers would be tens of thousands of flows.
    let start = if start.contains("load") && app.contains("\"1 B\"") { "\"0 s\"" } else { start };
    let at_random = |start: &str| start.contains("poisson") || start.contains("load");
    // Flows that arrive at random cannot wait for each other.
    let start = if app.contains("barrier") && at_random(start) { "\"5 ms\"" } else { start };
    let at_random = at_random(start);
    let switches = bytes.byte();
    let count = 1 + usize::from(bytes.byte() % 4);
    let stops_one_by_one = switches & 64 != 0 && switches & 32 == 0 && !at_random && !app.contains("barrier");
    let stops = [r#""never""#, r#""150 ms""#, r#""210 ms""#, r#""never""#];
    let stop =
        if stops_one_by_one { format!("stop = [{}]\n", stops[..count].join(", ")) } else { String::new() };
    let count = if at_random { String::new() } else { format!("count = {count}\n") };
    let mut text = format!(
        "[[flows]]\nname = \"g{number}\"\ncc = \"{cc}\"\nstack = \"{stack}\"\n{receiver}app = {app}\nstart = \
         {start}\n{count}{stop}sack = {}\ndelayed_ack = {}\n",
        switches & 1 == 0,
        switches & 2 == 0
    );
    if switches & 4 != 0 {
        text += bytes.pick(&["mtu = \"576 B\"\n", "mtu = \"9000 B\"\n"]);
    }
    if switches & 8 != 0 {
        text += bytes.pick(&["receive_window = \"5 kB\"\n", "receive_window = \"65535 B\"\n"]);
    }
    if switches & 16 != 0 {
        text += bytes.pick(&["ecn = \"on\"\n", "ecn = \"off\"\n"]);
    }
    if switches & 32 != 0 {
        text += bytes.pick(&[
            "cwnd_clamp = \"3 packets\"\n",
            "initial_window = \"1 packets\"\n",
            "stop = \"200 ms\"\n",
        ]);
    }
    if topology == 0 {
        text += bytes.pick(&["rtt = \"2 ms\"\n", "rtt = \"20 ms\"\n", "rtt = \"90 ms\"\n"]);
    } else if topology == 3 {
        text += bytes.pick(&[
            "from = \"in\"\nto = \"out\"\n",
            "from = \"in2\"\nto = \"out2\"\n",
            "from = [\"in1\", \"in3\"]\nto = \"out3\"\n",
            "from = \"out\"\nto = \"in1\"\n",
        ]);
    } else if topology < 3 && bytes.flag() {
        text += "from = \"h1..h4\"\nto = \"h1..h4\"\npairing = \"random\"\n";
    } else {
        text += bytes.pick(&["from = [\"h1\", \"h2\"]\n", "from = \"h1\"\n", "from = \"h2\"\n"]);
        text += "to = \"h4\"\n";
        // h4 is at the other leaf.
        if topology == 2 {
            text += bytes.pick(&[
                "",
                "",
                "via = \"spine2\"\n",
                "via = [\"leaf1\", \"spine3\"]\nvia_back = \"spine1\"\n",
            ]);
        }
    }
    text
}
