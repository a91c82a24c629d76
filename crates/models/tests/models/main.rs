#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
//! The models over real sockets: what is sent, what is heard, what fails, and what never shows.

mod loopback;
mod asking;
mod requests;
mod answers;
mod errors;
mod timeouts;
mod vectors;
mod keys;
mod proxy;
mod scripts;
