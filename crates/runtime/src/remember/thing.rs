//! From what was told to what a memory keeps.

use countersign_contracts::Object;
use countersign_contracts::memory::insight::{InsightKind, Trigger, ValidationState};
use countersign_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_contracts::memory::meta::Purpose;
use countersign_core::run::Time;
use countersign_memory::Scope;
use countersign_memory::record::{
    Claim, Episode, EventKind, Evidence, Expiry, Fact, Insight, Origin, Procedure, Role,
};
use countersign_memory::rules::Assurance;
use countersign_memory::store::NewEvent;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Told, Voice, id_of, moment};

/// What a memory keeps.
#[derive(Debug)]
pub enum Thing {
    /// Something that was said or done.
    Event(NewEvent),
    /// A fact, an episode, a procedure or a guess.
    Claim {
        /// Whose.
        scope: Scope,
        /// What.
        claim: Claim,
        /// Where it came from.
        origin: Origin,
        /// Whether a person answers for it.
        assurance: Assurance,
    },
    /// What a run is doing.
    Working {
        /// Whose.
        scope: Scope,
        /// What.
        state: Object,
        /// The version that its writer has seen, where it says one.
        seen: Option<u64>,
    },
    /// A session so far, in short.
    Summary {
        /// Whose.
        scope: Scope,
        /// What.
        text: String,
        /// The events it quotes.
        quotes: Vec<String>,
        /// Who wrote it, where that is not a person.
        by: Option<String>,
    },
}

/// What is meant by what was told, by whoever tells it, in the scope it was told in.
pub fn thing(told: Told, voice: Voice, scope: &Scope, now: Time) -> Result<Thing, String> {
    told.check()?;
    let told = voice.may_say(told)?;
    let scope = narrowed(scope, &told)?;
    let role: Role = word("role", told.role.as_deref(), Role::User)?;
    let expires = told.expires.as_deref().map(expiry).transpose()?;
    if let Some(text) = told.event {
        let (usual_kind, usual_origin) = match role {
            Role::User => (EventKind::Message, Origin::User),
            Role::Assistant => (EventKind::Message, Origin::Model),
            Role::Tool => (EventKind::ToolResult, Origin::Tool),
        };
        let ts = at("ts", told.ts.as_deref())?.unwrap_or(now);
        let said = json!([scope, text, ts, role, told.speaker]);
        return Ok(Thing::Event(NewEvent {
            id: told.id.unwrap_or_else(|| id_of("e", &said)),
            ts,
            recorded_at: now,
            role,
            kind: word("kind", told.kind.as_deref(), usual_kind)?,
            origin: word("origin", told.origin.as_deref(), usual_origin)?,
            speaker: told.speaker,
            text,
            tags: told.tags,
            entities: told.entities,
            expires,
            scope,
            build: told.build,
            seen_insights: Vec::new(),
        }));
    }
    if let Some(state) = told.working {
        let seen = match state.get("state_version") {
            None => None,
            Some(version) => Some(version.as_u64().ok_or_else(|| {
                format!("`working.state_version` must be a whole number, found {version}")
            })?),
        };
        return Ok(Thing::Working { scope, state, seen });
    }
    if let Some(text) = told.summary {
        return Ok(Thing::Summary { scope, text, quotes: told.sources, by: voice.writer() });
    }
    let origin = word("origin", told.origin.as_deref(), Origin::User)?;
    let assurance = if told.confirmed { Assurance::Confirmed } else { Assurance::Claimed };
    let claim = claim(told, &scope, expires, now)?;
    Ok(Thing::Claim { scope, claim, origin, assurance })
}

/// The fact, episode, procedure or guess that was told.
fn claim(told: Told, scope: &Scope, expires: Option<Expiry>, now: Time) -> Result<Claim, String> {
    let id = |prefix: &str, said: Value| {
        told.id.clone().unwrap_or_else(|| id_of(prefix, &json!([scope, said, now])))
    };
    Ok(if let Some(key) = told.fact {
        let value = told.value.ok_or("`value` is missing: a fact has one")?;
        let mut quote = told.quote;
        let evidence =
            told.sources.into_iter().map(|event| Evidence { event, quote: quote.take() });
        Claim::Fact(Box::new(Fact {
            id: id("f", json!([key, value])),
            revision: 1,
            key,
            value,
            status: FactStatus::Active,
            level: word("level", told.level.as_deref(), ScopeLevel::User)?,
            valid_from: at("valid_from", told.valid_from.as_deref())?,
            valid_to: at("valid_to", told.valid_to.as_deref())?,
            recorded_at: now,
            confidence: told.confidence.unwrap_or(0.5),
            evidence: evidence.collect(),
            preference: told.preference,
            tags: told.tags,
            entities: told.entities,
            notes: String::new(),
            superseded_by: None,
        }))
    } else if let Some(summary) = told.episode {
        let start = at("start", told.start.as_deref())?;
        let end = at("end", told.end.as_deref())?.or(start).unwrap_or(now);
        Claim::Episode(Box::new(Episode {
            id: id("ep", json!(summary)),
            revision: 1,
            start: start.unwrap_or(end),
            end,
            recorded_at: now,
            summary,
            highlights: told.highlights,
            tags: told.tags,
            entities: told.entities,
            sources: told.sources,
            compression: CompressionLevel::Raw,
            from: Vec::new(),
            into: None,
        }))
    } else if let Some(content) = told.procedure {
        for purpose in &told.purposes {
            word("purposes", Some(purpose), Purpose::Planner)?;
        }
        let mut applicability = Object::new();
        let lists = [("tags", told.tags), ("entities", told.entities), ("purposes", told.purposes)];
        for (name, list) in lists {
            if !list.is_empty() {
                applicability.insert(name.to_owned(), json!(list));
            }
        }
        Claim::Procedure(Box::new(Procedure {
            id: id("p", json!(content)),
            revision: 1,
            task_type: told.task_type.unwrap_or_else(|| "generic".to_owned()),
            content,
            priority: told.priority.unwrap_or(0),
            usage: told.usage.unwrap_or(0),
            sources: told.sources,
            applicability,
            recorded_at: now,
        }))
    } else {
        let statement = told.insight.ok_or("nothing is named")?;
        Claim::Insight(Box::new(Insight {
            id: id("i", json!(statement)),
            revision: 1,
            run: scope.run().to_owned(),
            kind: word("type", told.guess.as_deref(), InsightKind::Hypothesis)?,
            statement,
            trigger: Trigger::Synthesis,
            confidence: told.confidence.unwrap_or(0.3),
            validation: word(
                "validation",
                told.validation.as_deref(),
                ValidationState::Unvalidated,
            )?,
            tests: Vec::new(),
            expires: expires.unwrap_or(Expiry::RunEnd),
            sources: told.sources,
            recorded_at: now,
        }))
    })
}

/// A moment, where one was told.
fn at(name: &str, text: Option<&str>) -> Result<Option<Time>, String> {
    text.map(|text| moment(name, text)).transpose()
}

/// The scope with the session and run that a line names.
fn narrowed(scope: &Scope, told: &Told) -> Result<Scope, String> {
    let session = told.session.as_deref().unwrap_or(scope.session());
    let run = told.run.as_deref().unwrap_or(scope.run());
    Scope::new(scope.tenant(), scope.user(), scope.agent(), session, run)
        .map_err(|error| error.to_string())
}

/// One of the words that a kind of thing has.
fn word<T: DeserializeOwned>(name: &str, text: Option<&str>, usual: T) -> Result<T, String> {
    let Some(text) = text else { return Ok(usual) };
    serde_json::from_value(json!(text)).map_err(|error| format!("`{name}`: {error}"))
}

fn expiry(text: &str) -> Result<Expiry, String> {
    if text == "run_end" {
        return Ok(Expiry::RunEnd);
    }
    moment("expires", text).map(Expiry::At).map_err(|said| format!("{said}, nor `run_end`"))
}
