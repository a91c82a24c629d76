//! `countersign memory compose`: what goes into a prompt. The build is kept, so that it can be explained.

use countersign_contracts::Object;
use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::meta::{CueTimeRange, Cues, Purpose};
use countersign_core::run::Time;
use countersign_memory::compose::{ComposeError, compose};
use countersign_memory::render::render;
use countersign_memory::store::{Build, Limits, Memory as _};
use countersign_memory::tokens::counter;
use countersign_memory::{Asked, Request, Scope};
use serde_json::json;

use super::moments::moment;
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
    let memory = desk::open(whose)?;
    wait(async {
        let found = memory.found(&request, Limits::of(&policy)).await?;
        let packet = compose(&request, &policy, &found, &*counter).map_err(by_flag)?;
        let text = render(&packet, request.purpose)?;
        let mut build = Build::of("", &request, &policy, &found, &packet, counter.id());
        build.id = desk::id_of("b", &json!(build));
        let (id, digest) = (build.id.clone(), build.digest.clone());
        memory.keep_build(build).await?;
        if json {
            output::json(&json!({
                "build": id,
                "digest": digest,
                "tokens": packet.budget_report.used_tokens_est,
                "text": text,
                "packet": packet,
            }));
            return Ok(Exit::Good);
        }
        if args.packet {
            output::json(&json!(packet));
        } else {
            output::data(&text);
        }
        output::talk(&told(&id, &packet, counter.id()));
        Ok(Exit::Good)
    })
}

fn request(args: &Compose, scope: Scope, as_of: Time) -> Result<Request, Error> {
    let at = |name: &str, text: &Option<String>| {
        let moment = text.as_deref().map(|text| moment(name, text)).transpose();
        moment.map(|moment| moment.map(|moment| moment.to_string())).map_err(Error::Usage)
    };
    let (start, end) = (at("--since", &args.since)?, at("--until", &args.until)?);
    let list = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let cues = Cues {
        tags: list(&args.tags),
        entities: list(&args.entities),
        keywords: list(&args.keywords),
        time_range: (start.is_some() || end.is_some()).then_some(CueTimeRange { start, end }),
        extra: Object::new(),
    };
    let any = cues.tags.is_some()
        || cues.entities.is_some()
        || cues.keywords.is_some()
        || cues.time_range.is_some();
    Ok(Request {
        scope,
        purpose: match args.purpose.as_str() {
            "tool" => Purpose::Tool,
            "responder" => Purpose::Responder,
            _ => Purpose::Planner,
        },
        task_type: args.task_type.clone(),
        cues: any.then_some(cues),
        message: args.message.clone(),
        budget: args.tokens.map(|max_tokens| Asked { max_tokens, per_section: None }),
        as_of,
    })
}

/// The fault of a flag, by its name; the rest as it is.
fn by_flag(error: ComposeError) -> Error {
    match error {
        ComposeError::Budget { least, found } => {
            Error::Usage(format!("`--tokens` must be at least {least}, found {found}"))
        }
        ComposeError::Cue { expected, .. } => {
            Error::Usage(format!("`--until` must be {expected}").replace("`start`", "`--since`"))
        }
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
