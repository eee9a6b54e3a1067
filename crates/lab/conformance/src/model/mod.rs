//! Scripts on our models of TCP.
