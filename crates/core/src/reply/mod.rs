//! A reply's way through the door: text, then candidates, then one accepted value or violations.
//!
//! ```text
//! text ── intake ──► Parsed ── schema ──► Valid ── rules ──► Accepted
//!            │                   │                  │
//!            └───────────── Vec<Violation> ─────────┘
//! ```

mod violation;
mod intake;
mod scan;
mod doors;
mod verdict;
mod place;
mod reask;

pub use doors::{Accepted, Context, Parsed, Valid};
pub use intake::{Candidate, Finish, Intake, MAX_BYTES, Terms};
pub use place::places;
pub use reask::{Reask, reask};
pub use verdict::Verdict;
pub use violation::{Code, Violation, show};
