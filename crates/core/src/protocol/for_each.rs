//! Work for each of several items: which they are, and what one of them is called.

use crate::expr::Expr;

/// The items of a phase that does the same for each of them.
#[derive(Debug)]
pub struct ForEachItems {
    /// A list, over `state` and `run`.
    pub items: Expr,
    /// The name by which expressions read the item they are about.
    pub item_name: String,
}

impl ForEachItems {
    /// What an item is called where the author does not say.
    pub const DEFAULT_ITEM_NAME: &'static str = "item";

    /// How many items there may be at once. No process needs more, and a list that a model wrote must not
    /// hold the engine.
    pub const MAX_ITEMS: usize = 1_000;
}
