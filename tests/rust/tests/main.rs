//! Integration tests: one binary, one file a subject. See the README.

mod applications;
mod barriers;
mod bounds;
mod closed_loop;
mod coexistence;
mod completion;
mod conservation;
mod corpora;
mod coupled_queues;
mod delay_laws;
mod determinism;
mod ended_flows;
mod exact_times;
mod feedback;
mod frames;
mod hosts;
mod impairments;
mod live;
mod one_sided;
mod recount;
mod requests;
mod routes;
mod shared_buffer;
mod threads;
mod unresponsive;
mod waiting;
