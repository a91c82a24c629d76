//! Connections to a `PostgreSQL` server: address parsing, TLS, a connection pool, and errors in
//! words that a person understands.
//!
//! The crate knows no tables and runs no queries of its own. Its errors never contain a password,
//! an address as the user wrote it, or the text of a row.

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
