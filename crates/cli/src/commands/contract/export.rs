//! `countersign contract export`

use std::path::Path;

use countersign_core::contract::{Export, Target, export};
use countersign_server::wire::ContractExport;
use serde_json::json;

use crate::args::TargetName;
use crate::exit::{Error, Exit};
use crate::{files, output};

pub(super) fn run(
    folder: Option<&Path>,
    id: &str,
    target: TargetName,
    json: bool,
) -> Result<Exit, Error> {
    let contract = files::contract(id, folder)?;
    let target = match target {
        TargetName::Openai => Target::OpenAi,
        TargetName::Anthropic => Target::Anthropic,
        TargetName::Gemini => Target::Gemini,
        TargetName::Grammar => Target::Grammar,
    };
    let exported = export(&contract, target);
    if json {
        output::json(&json!(ContractExport::of(&exported, target)));
        return Ok(Exit::Good);
    }
    match exported.grammar() {
        Some(grammar) => output::json_text(grammar),
        None => output::json(&exported.schema_or_grammar),
    }
    talk(&exported);
    Ok(Exit::Good)
}

/// The loss report, for people.
fn talk(exported: &Export) {
    if exported.losses.is_empty() {
        output::talk("nothing is lost");
        return;
    }
    output::talk(&format!("{} things only Countersign still enforces:", exported.losses.len()));
    for loss in &exported.losses {
        let place = if loss.pointer.is_empty() { "the whole" } else { &loss.pointer };
        output::talk(&format!(
            "  {} {place}, {}: {}",
            loss.effect.as_str(),
            loss.keyword,
            loss.reason
        ));
    }
    if !exported.nullable.is_empty() {
        let places = exported.nullable.join(", ");
        output::talk(&format!("null means absent, and is dropped before admission, at: {places}"));
    }
}
