//! Protocols that ship: data, compiled into the binary. Nothing here knows what they are about.

mod shipped;
mod elsewhere;

pub use shipped::{SHIPPED, Shipped, find};
