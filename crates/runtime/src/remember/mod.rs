//! Memory by itself: what somebody tells it, and packets of what it knows. What runs live through is `recall`.
//!
//! ```text
//! Told ──► Thing ──► remember ──► Account: kept, refused
//! Asking ──► Request ──► compose, render ──► Composed: packet, text, build
//! ```

mod moments;
mod ids;
mod told;
mod thing;
mod keep;
mod packet;

pub use ids::id_of;
pub use keep::{Account, Done, remember};
pub use moments::moment;
pub use packet::{Asking, Composed, PacketError, composed};
pub use thing::{Thing, thing};
pub use told::Told;
