//! `each` and `as`: which items a work is done for, and what one of them is called.

use super::expression::expression;
use super::member::Member;
use super::scope::Scope;
use crate::expr::Expr;
use crate::protocol::{Each, NAMES};

/// Names that mean something already.
const TAKEN: [&str; 6] = ["state", "run", "reply", "failure", "child", "new"];

/// Reads `each` and `as`; `Err` where they have a fault. `others` are keys that need it.
pub(super) fn each(
    member: &Member<'_>,
    others: &[&str],
    scope: &Scope<'_>,
) -> Result<Option<Each>, ()> {
    let Some(items) = member.get("each") else {
        for key in ["as"].iter().chain(others).filter(|key| member.get(key).is_some()) {
            let message = format!("`{key}` belongs to `each`, and there is none");
            let hint = "say of what: `each: state.LIST`".to_owned();
            let fault = member.fault_at_key("misplaced_key", key, message);
            scope.faults.push(fault.hinting(Some(hint)));
        }
        return Ok(None);
    };
    let items = expression(&items, &NAMES[..2], scope.faults);
    let name = match member.get("as") {
        None => Some(Each::NAME.to_owned()),
        Some(name) => named(&name, scope),
    };
    Ok(Some(Each { items: items.ok_or(())?, name: name.ok_or(())? }))
}

/// A name that expressions can use and that hides nothing.
fn named(member: &Member<'_>, scope: &Scope<'_>) -> Option<String> {
    let name = member.text()?;
    if !name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_') {
        // The schema has told it.
        return None;
    }
    let usable = Expr::compile(name, &[name]).is_ok_and(|expr| expr.uses(0));
    if usable && !TAKEN.contains(&name) {
        return Some(name.to_owned());
    }
    let message =
        format!("an item cannot be called `{name}`: expressions know that name otherwise");
    let hint = format!("leave `as` out and say `{}`, or choose another name", Each::NAME);
    scope.faults.push(member.fault("reserved_id", message).hinting(Some(hint)));
    None
}

/// The names of changes and of texts, by slot, where this work is done for each of several items.
pub(super) fn names(each: Option<&Each>, child: bool) -> (Vec<&str>, Vec<&str>) {
    let item = each.map(|each| each.name.as_str());
    let child = child.then_some("child");
    let reads = NAMES.iter().copied().chain(child).chain(item);
    (reads.collect(), NAMES[..2].iter().copied().chain(item).collect())
}
