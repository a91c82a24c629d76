//! The way to a `PostgreSQL` server: where it is, how it is talked to so that nobody listens in,
//! connections that are used again, and what went wrong in words that a person understands.
//!
//! It knows no table and asks no question of its own. No error of its holds a password, an address as
//! it was given, or the text of a row.

mod address;
mod passfile;
mod tls;
mod encrypted;
mod server;
mod outage;
mod pool;

pub use address::{AddressError, Given, is_address};
pub use outage::Outage;
pub use pool::{Lent, Pool};
pub use server::{Hear, Server};
pub use tls::{TlsError, connector, is_loopback};
