//! What every door shows of a run, in words and pictures: HTTP, the web page and the command line alike.
//!
//! Not here: reading a store (but for what a run made), colours, a terminal.

mod line;
mod parking;
mod product;
mod standing;
pub mod incoming;
pub mod waiting;
pub mod graph;

pub use line::shortened;
pub use parking::describe_parking;
pub use product::{Product, products};
pub use standing::{Spending, Standing, children, effect_told, order_told, tool_told};
