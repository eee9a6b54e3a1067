"""Fields of SONiC's CONFIG_DB that are about queues: one list for the reader and the writer.

After the YANG models of sonic-buildimage (src/sonic-yang-models/yang-models at 086b03bd) and orchagent (sonic-swss,
orchagent/qosorch.cpp at e6b0c5b5).
"""

from __future__ import annotations

from shoal.switch.presets import COLOURS

# The tables that are read; what stands in others is never shown.
MAPS = ("PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP")
OF_DEVICES = ("PORT", "DEVICE_METADATA")
TABLES = ("WRED_PROFILE", "QUEUE", "SCHEDULER", "BUFFER_PROFILE", "BUFFER_POOL", "BUFFER_QUEUE")

# ECT packets of these colours are marked.
ECN_MODES = {
    "ecn_none": (),
    "ecn_green": ("green",),
    "ecn_yellow": ("yellow",),
    "ecn_red": ("red",),
    "ecn_green_yellow": ("green", "yellow"),
    "ecn_green_red": ("green", "red"),
    "ecn_yellow_red": ("yellow", "red"),
    "ecn_all": COLOURS,
}

MIN, MAX, PROBABILITY = "{}_min_threshold", "{}_max_threshold", "{}_drop_probability"
ENABLE = "wred_{}_enable"
# Proposed (sonic-swss#4718 and #4719, sonic-buildimage#28164, SONiC#2433), open in July 2026.
ECT_MIN, ECT_MAX, ECT_PROBABILITY = (
    "{}_ect_min_threshold",
    "{}_ect_max_threshold",
    "{}_ect_mark_probability",
)

PROFILE_FIELDS = [
    "ecn",
    *(pattern.format(colour) for colour in COLOURS for pattern in (MIN, MAX, PROBABILITY, ENABLE)),
    *(pattern.format(colour) for colour in COLOURS for pattern in (ECT_MIN, ECT_MAX, ECT_PROBABILITY)),
]
QUEUE_FIELDS = ["scheduler", "wred_profile"]

# Traffic classes of the maps (sonic-dscp-tc-map.yang, sonic-tc-queue-map.yang).
LARGEST_CLASS = 7

# orchagent reads thresholds with a conversion to int.
LARGEST_THRESHOLD = 2**31 - 1
