//! Memory by itself: what somebody tells it, and packets of what it knows. What runs live through is `recall`.
//!
//! ```text
//! Told ──► Thing ──► remember ──► Account: kept, refused
//! events, a question ──► embedder ──► vectors, which are kept
//! Asking ──► Request ──► compose, render ──► Composed: packet, text, build
//! ```

mod moments;
mod ids;
mod told;
mod voice;
mod thing;
mod keep;
mod packet;
mod vectors;

pub use ids::id_of;
pub use keep::{Account, Done, remember};
pub use moments::moment;
pub use packet::{Asking, Composed, PacketError, UnknownSection, composed, sections};
pub use thing::{Thing, thing};
pub use told::Told;
pub use vectors::{EmbedError, embed_all, nearer, with_vector};
pub use voice::Voice;
