//! A page of a list, with the cursor of the next page.

use serde::Serialize;
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CursorPage<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// The cursor of the next page: pass it as `cursor`. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}
