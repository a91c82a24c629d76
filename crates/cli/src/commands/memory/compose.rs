//! `countersign memory compose`: what goes into a prompt. The build is kept, so that it can be explained.

use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::meta::Purpose;
use countersign_core::run::Time;
use countersign_memory::compose::ComposeError;
use countersign_memory::tokens::counter;
use countersign_memory::{Request, Scope};
use countersign_runtime::remember::{Asking, Composed, PacketError, composed, moment, sections};
use countersign_server::wire::Packet;
use serde_json::json;

use super::{desk, packets};
use crate::args::{Compose, Whose};
use crate::exit::{Error, Exit};
use crate::house::wait;
use crate::output;
use crate::show::HEADING;

pub(super) fn run(whose: &Whose, args: &Compose, json: bool) -> Result<Exit, Error> {
    let request = request(args, desk::scope(whose)?, desk::now(whose)?)?;
    let policy = packets::policy(&args.policy)?;
    let name = if args.tokenizer == "chars" { "chars/4" } else { args.tokenizer.as_str() };
    let counter = counter(name).map_err(|error| Error::Usage(format!("`--tokenizer`: {error}")))?;
    let embedder = desk::embedder(args.embedder.as_ref())?;
    let embedder = embedder.as_ref().filter(|_| !policy.similarity.is_off());
    if args.embedder.is_some() && embedder.is_none() {
        return Err(Error::Usage(format!(
            "`--embedder`: policy `{}` gives vectors no weight; one with `similarity: {{ weight: 500000 }}` does",
            policy.id
        )));
    }
    let memory = desk::open(whose)?;
    wait(async {
        let request = desk::nearer(&*memory, embedder, request).await;
        let made = composed(&*memory, &request, &policy, &*counter).await.map_err(by_flag)?;
        let Composed { build: id, packet, text, .. } = &made;
        if json {
            output::json(&json!(Packet::from(&made)));
            return Ok(Exit::Good);
        }
        if args.packet {
            output::json(&json!(packet));
        } else {
            output::data(text);
        }
        output::talk(&told(id, packet, counter.id()));
        Ok(Exit::Good)
    })
}

fn request(args: &Compose, scope: Scope, as_of: Time) -> Result<Request, Error> {
    let at = |name: &str, text: &Option<String>| {
        text.as_deref().map(|text| moment(name, text)).transpose().map_err(Error::Usage)
    };
    let asking = Asking {
        purpose: Some(match args.purpose.as_str() {
            "tool" => Purpose::Tool,
            "responder" => Purpose::Responder,
            _ => Purpose::Planner,
        }),
        message: args.message.clone(),
        keywords: args.keywords.clone(),
        entities: args.entities.clone(),
        tags: args.tags.clone(),
        since: at("--since", &args.since)?,
        until: at("--until", &args.until)?,
        task_type: args.task_type.clone(),
        tokens: args.tokens,
        sections: sections(args.sections.clone())
            .map_err(|error| Error::Usage(format!("`--section`: {error}")))?,
    };
    Ok(asking.request(scope, as_of))
}

/// The fault of a flag, by its name; the rest as it is.
fn by_flag(error: PacketError) -> Error {
    let error = match error {
        PacketError::Compose(error) => error,
        PacketError::Memory(error) => return error.into(),
        PacketError::Render(error) => return error.into(),
    };
    match error {
        ComposeError::Budget { least, found } => {
            Error::Usage(format!("`--tokens` must be at least {least}, found {found}"))
        }
        ComposeError::Cue { expected, .. } => {
            Error::Usage(format!("`--until` must be {expected}").replace("`start`", "`--since`"))
        }
        ComposeError::Floor { needed, allowed: 0 } => Error::Usage(format!(
            "the goal, constraints and slots of the run need {needed} tokens: `--section working_state={needed}`"
        )),
        other => other.into(),
    }
}

fn told(id: &str, packet: &MemoryPacket, tokenizer: &str) -> String {
    let report = &packet.budget_report;
    let what = if report.used_tokens_est == 0 {
        "nothing that is remembered answers this".to_owned()
    } else {
        format!(
            "{}, {} of {} tokens by {tokenizer}",
            desk::counted(packet.explain.selected.len() as u64, "thing"),
            report.used_tokens_est,
            report.max_tokens
        )
    };
    let out = match packet.explain.omitted.len() {
        0 => "nothing stayed out".to_owned(),
        out => format!("{out} stayed out"),
    };
    format!("build {HEADING}{id}{HEADING:#}: {what}; {out}. Why: `countersign memory explain {id}`")
}
