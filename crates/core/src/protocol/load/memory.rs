//! The memory section of the index. That a policy file is one is for whoever composes to say.

use super::expression::expression;
use super::faults::Faults;
use super::file::File;
use crate::protocol::{Bundle, MemoryUse, NAMES, WorkingPart};

/// The policies that ship.
const SHIPPED: [&str; 2] = ["default", "recall"];

/// How runs use memory.
pub(super) fn memory(index: Option<&File>, bundle: &Bundle, faults: &Faults) -> MemoryUse {
    let Some(section) = index.and_then(|index| index.sound("memory")) else {
        return MemoryUse::default();
    };
    if let Some(policy) = section.get("policy")
        && let Some(name) = policy.text()
        && !SHIPPED.contains(&name)
        && !(name.starts_with("memory/") && bundle.files.contains_key(name))
    {
        let hint = "say `default` or `recall`, or name a file below `memory/`".to_owned();
        let fault = policy.fault("unknown_policy", format!("no policy `{name}`"));
        faults.push(fault.hinting(Some(hint)));
    }
    let given = section.get("working");
    let part = |part: WorkingPart| {
        let member = given.as_ref()?.get(part.as_str())?;
        Some((part, expression(&member, &NAMES[..2], faults)?))
    };
    MemoryUse {
        off: section.value["off"].as_bool().unwrap_or(false),
        policy: section.owned("policy"),
        tokens: section.value["tokens"].as_u64(),
        working: WorkingPart::ALL.into_iter().filter_map(part).collect(),
    }
}
