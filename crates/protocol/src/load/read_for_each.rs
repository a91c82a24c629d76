//! Reads `each` and `as`: the items that work is repeated for, and the name of the current item.

use countersign_contract::expr::Expr;

use super::file_node::FileNode;
use super::name_scope::NameScope;
use super::read_expression::read_expression;
use crate::{EXPRESSION_NAMES, ForEachItems};

/// Names that already have a meaning in expressions.
const RESERVED_NAMES: [&str; 6] = ["state", "run", "reply", "failure", "child", "new"];

/// Reads `each` and `as`; `Err` if they are invalid. `others` are further keys that require `each`.
pub(super) fn read_for_each(
    member: &FileNode<'_>,
    others: &[&str],
    scope: &NameScope<'_>,
) -> Result<Option<ForEachItems>, ()> {
    let Some(items) = member.get("each") else {
        for key in ["as"].iter().chain(others).filter(|key| member.get(key).is_some()) {
            let message = format!("`{key}` needs `each`, and there is none");
            let hint = "add the list: `each: state.LIST`".to_owned();
            let fault = member.diagnose_key("misplaced_key", key, message);
            scope.faults.push(fault.with_hint(Some(hint)));
        }
        return Ok(None);
    };
    let items = read_expression(&items, &EXPRESSION_NAMES[..2], scope.faults);
    let name = match member.get("as") {
        None => Some(ForEachItems::DEFAULT_ITEM_NAME.to_owned()),
        Some(name) => read_item_name(&name, scope),
    };
    Ok(Some(ForEachItems { items: items.ok_or(())?, item_name: name.ok_or(())? }))
}

/// Reads a name that expressions can use and that shadows no other name.
fn read_item_name(member: &FileNode<'_>, scope: &NameScope<'_>) -> Option<String> {
    let name = member.text()?;
    if !name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_') {
        // The schema check has reported it.
        return None;
    }
    let usable = Expr::compile(name, &[name]).is_ok_and(|expr| expr.uses_root(0));
    if usable && !RESERVED_NAMES.contains(&name) {
        return Some(name.to_owned());
    }
    let message = format!("an item cannot be named `{name}`: expressions already use that name");
    let hint = format!(
        "leave out `as` and use `{}`, or choose another name",
        ForEachItems::DEFAULT_ITEM_NAME
    );
    scope.faults.push(member.diagnose("reserved_id", message).with_hint(Some(hint)));
    None
}

/// The names that changes and texts may use, by slot, including the item of `each`.
pub(super) fn expression_names(each: Option<&ForEachItems>, child: bool) -> (Vec<&str>, Vec<&str>) {
    let item = each.map(|each| each.item_name.as_str());
    let child = child.then_some("child");
    let reads = EXPRESSION_NAMES.iter().copied().chain(child).chain(item);
    (reads.collect(), EXPRESSION_NAMES[..2].iter().copied().chain(item).collect())
}
