//! Reads the `memory` section of the index. The code that composes packets checks the content of
//! policy files.

use super::load_diagnostics::LoadDiagnostics;
use super::protocol_file::ProtocolFile;
use super::read_expression::read_expression;
use crate::{EXPRESSION_NAMES, ProtocolBundle, ProtocolMemoryConfig, WorkingStatePart};

/// Ids of the shipped policies.
const SHIPPED_POLICIES: [&str; 2] = ["default", "recall"];

/// Reads how runs use memory.
pub(super) fn read_memory_config(
    index: Option<&ProtocolFile>,
    bundle: &ProtocolBundle,
    faults: &LoadDiagnostics,
) -> ProtocolMemoryConfig {
    let Some(section) = index.and_then(|index| index.valid_member("memory")) else {
        return ProtocolMemoryConfig::default();
    };
    if let Some(policy) = section.get("policy")
        && let Some(name) = policy.text()
        && !SHIPPED_POLICIES.contains(&name)
        && !(name.starts_with("memory/") && bundle.files.contains_key(name))
    {
        let hint = "use `default` or `recall`, or name a file in `memory/`".to_owned();
        let fault = policy.diagnose("unknown_policy", format!("no policy `{name}`"));
        faults.push(fault.with_hint(Some(hint)));
    }
    let working_node = section.get("working");
    let part = |part: WorkingStatePart| {
        let member = working_node.as_ref()?.get(part.as_str())?;
        Some((part, read_expression(&member, &EXPRESSION_NAMES[..2], faults)?))
    };
    ProtocolMemoryConfig {
        off: section.value["off"].as_bool().unwrap_or(false),
        policy: section.string_at("policy"),
        tokens: section.value["tokens"].as_u64(),
        window: section.value["window"].as_u64().and_then(|most| usize::try_from(most).ok()),
        working: WorkingStatePart::ALL.into_iter().filter_map(part).collect(),
    }
}
