//! `countersign memory compose`: composes the packet for a prompt and stores the build, so that it
//! can be explained.

use countersign_memory::compose::ComposeError;
use countersign_memory::tokens::find_counter;
use countersign_memory::{MemoryScope, PacketRequest};
use countersign_run::Timestamp;
use countersign_runtime::memory_context::{
    ComposedContext, ContextError, ContextQuery, compose_context, parse_section_budgets, parse_time,
};
use countersign_shipped_contracts::memory::MemoryPacket;
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use countersign_view::wire::PacketView;
use serde_json::json;

use super::{open_memory, policy_and_build};
use crate::args::{MemoryComposeArgs, ScopeArgs};
use crate::context::block_on;
use crate::exit::{CliError, CliExit};
use crate::output;
use crate::render::HEADING;

pub(super) fn run(
    whose: &ScopeArgs,
    args: &MemoryComposeArgs,
    json: bool,
) -> Result<CliExit, CliError> {
    let request =
        build_request(args, open_memory::resolve_scope(whose)?, open_memory::resolve_now(whose)?)?;
    let policy = policy_and_build::load_policy(&args.policy)?;
    let name = if args.tokenizer == "chars" { "chars/4" } else { args.tokenizer.as_str() };
    let counter =
        find_counter(name).map_err(|error| CliError::Usage(format!("`--tokenizer`: {error}")))?;
    let embedder = open_memory::connect_embedder(args.embedder.as_ref())?;
    let embedder = embedder.as_ref().filter(|_| !policy.similarity.is_off());
    if args.embedder.is_some() && embedder.is_none() {
        return Err(CliError::Usage(format!(
            "`--embedder`: policy `{}` gives vectors no weight; one with `similarity: {{ weight: 500000 }}` does",
            policy.id
        )));
    }
    let memory = open_memory::open_or_create(whose)?;
    block_on(async {
        let request = open_memory::embed_request(&*memory, embedder, request).await;
        let made =
            compose_context(&*memory, &request, &policy, &*counter).await.map_err(to_flag_error)?;
        let ComposedContext { build: id, packet, text, .. } = &made;
        if json {
            output::print_json(&json!(PacketView::from(&made)));
            return Ok(CliExit::Success);
        }
        if args.packet {
            output::print_json(&json!(packet));
        } else {
            output::print_data(text);
        }
        output::print_message(&describe_packet(id, packet, counter.id()));
        Ok(CliExit::Success)
    })
}

fn build_request(
    args: &MemoryComposeArgs,
    scope: MemoryScope,
    as_of: Timestamp,
) -> Result<PacketRequest, CliError> {
    let at = |name: &str, text: &Option<String>| {
        text.as_deref().map(|text| parse_time(name, text)).transpose().map_err(CliError::Usage)
    };
    let asking = ContextQuery {
        purpose: Some(match args.purpose.as_str() {
            "tool" => PacketPurpose::Tool,
            "responder" => PacketPurpose::Responder,
            _ => PacketPurpose::Planner,
        }),
        message: args.message.clone(),
        keywords: args.keywords.clone(),
        entities: args.entities.clone(),
        tags: args.tags.clone(),
        since: at("--since", &args.since)?,
        until: at("--until", &args.until)?,
        task_type: args.task_type.clone(),
        tokens: args.tokens,
        sections: parse_section_budgets(args.sections.clone())
            .map_err(|error| CliError::Usage(format!("`--section`: {error}")))?,
    };
    Ok(asking.into_request(scope, as_of))
}

/// Converts an error that a flag caused into one that names the flag; other errors stay as they
/// are.
fn to_flag_error(error: ContextError) -> CliError {
    let error = match error {
        ContextError::Compose(error) => error,
        ContextError::Memory(error) => return error.into(),
        ContextError::Render(error) => return error.into(),
    };
    match error {
        ComposeError::Budget { minimum: least, found } => {
            CliError::Usage(format!("`--tokens` must be at least {least}, found {found}"))
        }
        ComposeError::Cue { expected, .. } => {
            CliError::Usage(format!("`--until` must be {expected}").replace("`start`", "`--since`"))
        }
        ComposeError::StateFloor { needed, allowed: 0 } => CliError::Usage(format!(
            "the goal, constraints and slots of the run need {needed} tokens; use `--section working_state={needed}`"
        )),
        other => other.into(),
    }
}

fn describe_packet(id: &str, packet: &MemoryPacket, tokenizer: &str) -> String {
    let report = &packet.budget_report;
    let what = if report.used_tokens_est == 0 {
        "no memory matches the request".to_owned()
    } else {
        format!(
            "{}, {} of {} tokens by {tokenizer}",
            open_memory::pluralize(packet.explain.selected.len() as u64, "item"),
            report.used_tokens_est,
            report.max_tokens
        )
    };
    let out = match packet.explain.omitted.len() {
        0 => "nothing was left out".to_owned(),
        out => format!("{out} left out"),
    };
    format!(
        "build {HEADING}{id}{HEADING:#}: {what}; {out}. Details: `countersign memory explain {id}`"
    )
}
