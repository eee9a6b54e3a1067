//! The functions that a law's module may export: none of them takes an argument, and each answers an i32.

/// Declares them: their names, and what each is for.
macro_rules! calls {
    ($(#[$list_doc:meta])* $list:ident, $docs:ident { $($(#[doc = $doc:literal])+ $name:ident),* $(,)? }) => {
        $(#[$list_doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $list<F> { $($(#[doc = $doc])+ pub $name: Option<F>,)* }

        /// Names and sentences of all of them.
        pub const $docs: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc),+)),)*];

        impl<F> $list<F> {
            /// The functions that `look` gives by their names.
            ///
            /// # Errors
            /// The first error of `look`.
            pub fn of<E>(mut look: impl FnMut(&'static str) -> Result<Option<F>, E>) -> Result<Self, E> {
                Ok(Self { $($name: look(stringify!($name))?,)* })
            }
        }
    };
}
calls! {
    /// The functions of a controller, for each of which there is one value, if its module has it.
    Calls, CALL_DOCS {
        /// The connection is made, and the parameters have their values; answers 0, or the address of a text that says
        /// what is wrong with them.
        on_init,
        /// The connection is established.
        on_established,
        /// An ACK arrived, before any window logic.
        on_ack,
        /// The window may grow.
        on_growth,
        /// The first ECN-Echo of an episode: sets ssthresh. Answers 0 if the endpoint is to bring cwnd there, 1 if cwnd
        /// is already as it should be. Without it, `on_loss` is called.
        on_ecn,
        /// A further ACK with ECN-Echo in CWR.
        on_ece_in_cwr,
        /// Fast recovery begins: sets ssthresh.
        on_loss,
        /// Fast recovery begins during a reduction for ECN. Answers 1 if that reduction counts from the present window.
        on_loss_in_cwr,
        /// A retransmission timeout: sets ssthresh. Without it, `on_loss` is called unless the flight was cut already.
        on_rto,
        /// An episode (CWR, Recovery or Loss) ended.
        on_exit,
        /// Fast recovery or an ECN episode ended on a FreeBSD stack. Without it, `on_exit` is called.
        on_recovered,
        /// Sending resumes after the connection had nothing in flight for `idle`.
        on_idle_restart,
        /// That was longer than the retransmission timeout (FreeBSD).
        on_idle_beyond_rto,
        /// New packets were sent.
        on_sent,
        /// The time in the word `timer` has come.
        on_timer,
        /// A reduction was spurious: answers the window to restore. Without it, the larger of cwnd and twice ssthresh.
        undo_cwnd,
        /// Answers the lowest cwnd that rate halving may reach. Without it, ssthresh.
        rate_halving_floor,
        /// A law of rate samples: the connection is open.
        on_start,
        /// A law of rate samples: an ACK declares a packet lost.
        on_packet_lost,
        /// A law of rate samples: the end of the processing of an ACK; sets cwnd in every state. Answers 1 if the law
        /// keeps the flow below what it could send.
        on_sample,
        /// A law of rate samples: sending resumes with nothing in flight.
        on_restart,
        /// A law of rate samples: a retransmission timeout has passed.
        on_timeout,
        /// A law of rate samples: a reduction was spurious.
        on_undo,
    }
}

calls! {
    /// The functions of a queue's law, for each of which there is one value, if its module has it.
    QueueCalls, QUEUE_CALL_DOCS {
        /// The queue is made, and the parameters have their values; answers 0, or the address of a text that says what
        /// is wrong with them.
        on_init,
        /// A packet arrived. Answers 0 to let it wait, 1 to mark it, 2 to drop it; a mark of a packet that is not
        /// ECN-capable has no effect.
        on_arrival,
        /// A packet arrived that does not fit, and that the host drops. `on_arrival` is not called for it.
        on_overflow,
        /// A packet leaves. Answers 0 to send it, 1 to mark it, 2 to drop it; after a drop the next one leaves.
        on_departure,
        /// The line is free and nothing waits: called again while that lasts, and at the latest before the next
        /// arrival.
        on_empty,
        /// The time in the word `timer` has come.
        on_timer,
    }
}
