//! Work that is repeated for each item of a list: the items and the name of the current one.

use countersign_contract::expr::Expr;

/// The items that a phase repeats its work for.
#[derive(Debug)]
pub struct ForEachItems {
    /// Expression over `state` and `run` that gives the list.
    pub items: Expr,
    /// Name under which expressions read the current item.
    pub item_name: String,
}

impl ForEachItems {
    /// Name of the current item if the author sets none.
    pub const DEFAULT_ITEM_NAME: &'static str = "item";

    /// Maximum number of items. No process needs more, and a list written by a model must not block
    /// the engine.
    pub const MAX_ITEMS: usize = 1_000;
}
