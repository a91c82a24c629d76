//! Protocols that ship: data, compiled into the binary. Nothing here knows what they are about.

mod shipped;
mod without_copy;

pub use shipped::{SHIPPED_PROTOCOLS, ShippedProtocol, find_shipped_protocol};
