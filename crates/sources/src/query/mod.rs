//! Named queries: what an author declares, what a caller may fill in, and nothing else.

mod scan;
mod value;
mod declared;
mod asked;

pub(crate) use asked::Asked;
pub(crate) use declared::{Language, Queries};
pub(crate) use value::{Bound, ParamType};
