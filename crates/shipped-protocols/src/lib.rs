//! The protocols that ship with Countersign, as data compiled into the binary. No code in this
//! crate depends on what the protocols do.

mod shipped;
mod without_copy;

pub use shipped::{SHIPPED_PROTOCOLS, ShippedProtocol, find_shipped_protocol};

// The example of the README is a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeDoctest;
