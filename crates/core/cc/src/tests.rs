//! Behaviour of the controllers through their public interface, with the arithmetic in comments.

pub(crate) mod connection;
mod dispatch;
mod documentation;
pub(crate) mod drive;
mod growth;
mod laws;
mod model;
mod reno;
