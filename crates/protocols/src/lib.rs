//! Protocols that ship: data, compiled into the binary. Nothing here knows what they are about.

mod shipped;

pub use shipped::{SHIPPED, Shipped, find};
