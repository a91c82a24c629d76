//! The doors through which strange bytes come in, and what must hold behind each.
//!
//! A door is a function over bytes. It panics where an invariant is broken and returns otherwise.
//! The fuzz targets and the seeded run of `crates/shipped-contracts/tests/fuzz_seeded.rs` call the same
//! doors, so both ask for the same things.

mod admit;
mod read;
mod expression;
mod contract_file;
mod schema;
mod versions;
mod patch;
mod text_ranges;
mod seeds;

pub use admit::admit;
pub use contract_file::contract_file;
pub use expression::expression;
pub use patch::patch;
pub use read::read;
pub use schema::schema;
pub use seeds::{Door, doors};
pub use versions::versions;
