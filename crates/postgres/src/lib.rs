//! The way to a `PostgreSQL` server: where it is, how it is talked to so that nobody listens in,
//! connections that are used again, and what went wrong in words that a person understands.
//!
//! It knows no table and asks no question of its own. No error of its holds a password, an address as
//! it was given, or the text of a row.

mod address;
mod passfile;
mod tls;
mod rustls_connect;
mod server;
mod error;
mod pool;

pub use address::{PgAddressError, PgConnectOptions, is_address};
pub use error::PgError;
pub use pool::{PgPool, PooledClient};
pub use server::{NotificationHandler, PgServer};
pub use tls::{TlsError, build_tls_connector, is_loopback};
