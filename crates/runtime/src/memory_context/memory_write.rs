//! Converts a memory input into a write to the memory.

use countersign_memory::MemoryScope;
use countersign_memory::record::{
    FactEvidence, MemoryClaim, MemoryEpisode, MemoryEventKind, MemoryExpiry, MemoryFact,
    MemoryInsight, MemoryOrigin, MemoryProcedure, SpeakerRole,
};
use countersign_memory::rules::ClaimAssurance;
use countersign_memory::store::NewMemoryEvent;
use countersign_run::Timestamp;
use countersign_shipped_contracts::JsonObject;
use countersign_shipped_contracts::memory::insight::{
    InsightKind, InsightTrigger, InsightValidationState,
};
use countersign_shipped_contracts::memory::long_term::{CompressionLevel, FactStatus, ScopeLevel};
use countersign_shipped_contracts::memory::meta::PacketPurpose;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{InputAuthor, MemoryInput, derive_id, parse_time};

/// A validated write to the memory.
#[derive(Debug)]
pub enum MemoryWrite {
    /// An event: something that was said or done.
    Event(NewMemoryEvent),
    /// A fact, an episode, a procedure or an insight.
    Claim {
        /// Scope of the claim.
        scope: MemoryScope,
        /// Content of the claim.
        claim: MemoryClaim,
        /// Where the claim came from.
        origin: MemoryOrigin,
        /// Whether a person confirms the claim.
        assurance: ClaimAssurance,
    },
    /// The working state of a run.
    WorkingMemory {
        /// Scope, with the run that the state belongs to.
        scope: MemoryScope,
        /// The working state as JSON.
        state: JsonObject,
        /// The version that the author has seen; the latest version if absent.
        expected_version: Option<u64>,
    },
    /// The summary of a session so far.
    Summary {
        /// Scope, with the session that the summary belongs to.
        scope: MemoryScope,
        /// Text of the summary.
        text: String,
        /// Ids of the events that the summary quotes.
        quotes: Vec<String>,
        /// Who wrote the summary; absent if it was a person.
        by: Option<String>,
    },
}

/// Converts an input into a write, as far as its author may submit it, in the given scope.
pub fn to_memory_write(
    told: MemoryInput,
    voice: InputAuthor,
    scope: &MemoryScope,
    now: Timestamp,
) -> Result<MemoryWrite, String> {
    told.check_fields()?;
    let told = voice.authorize_input(told)?;
    let scope = narrow_scope(scope, &told)?;
    let role: SpeakerRole = parse_enum("role", told.role.as_deref(), SpeakerRole::User)?;
    let expires = told.expires.as_deref().map(parse_expiry).transpose()?;
    if let Some(text) = told.event {
        let (usual_kind, usual_origin) = match role {
            SpeakerRole::User => (MemoryEventKind::Message, MemoryOrigin::User),
            SpeakerRole::Assistant => (MemoryEventKind::Message, MemoryOrigin::Model),
            SpeakerRole::Tool => (MemoryEventKind::ToolResult, MemoryOrigin::Tool),
        };
        let ts = parse_optional_time("ts", told.ts.as_deref())?.unwrap_or(now);
        let said = json!([scope, text, ts, role, told.speaker]);
        return Ok(MemoryWrite::Event(NewMemoryEvent {
            id: told.id.unwrap_or_else(|| derive_id("e", &said)),
            ts,
            recorded_at: now,
            role,
            kind: parse_enum("kind", told.kind.as_deref(), usual_kind)?,
            origin: parse_enum("origin", told.origin.as_deref(), usual_origin)?,
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
    if let Some(state) = told.working_memory {
        let seen = match state.get("state_version") {
            None => None,
            Some(version) => Some(version.as_u64().ok_or_else(|| {
                format!("`working_memory.state_version` must be a whole number, found {version}")
            })?),
        };
        return Ok(MemoryWrite::WorkingMemory { scope, state, expected_version: seen });
    }
    if let Some(text) = told.summary {
        return Ok(MemoryWrite::Summary {
            scope,
            text,
            quotes: told.sources,
            by: voice.summary_writer(),
        });
    }
    let origin = parse_enum("origin", told.origin.as_deref(), MemoryOrigin::User)?;
    let assurance =
        if told.confirmed { ClaimAssurance::Confirmed } else { ClaimAssurance::Claimed };
    let claim = build_claim(told, &scope, expires, now)?;
    Ok(MemoryWrite::Claim { scope, claim, origin, assurance })
}

/// Builds the fact, episode, procedure or insight of an input.
fn build_claim(
    told: MemoryInput,
    scope: &MemoryScope,
    expires: Option<MemoryExpiry>,
    now: Timestamp,
) -> Result<MemoryClaim, String> {
    let id = |prefix: &str, said: Value| {
        told.id.clone().unwrap_or_else(|| derive_id(prefix, &json!([scope, said, now])))
    };
    Ok(if let Some(key) = told.fact {
        let value = told.value.ok_or("`value` is missing; a fact needs one")?;
        let mut quote = told.quote;
        let evidence =
            told.sources.into_iter().map(|event| FactEvidence { event, quote: quote.take() });
        MemoryClaim::Fact(Box::new(MemoryFact {
            id: id("f", json!([key, value])),
            revision: 1,
            key,
            value,
            status: FactStatus::Active,
            level: parse_enum("level", told.level.as_deref(), ScopeLevel::User)?,
            valid_from: parse_optional_time("valid_from", told.valid_from.as_deref())?,
            valid_to: parse_optional_time("valid_to", told.valid_to.as_deref())?,
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
        let start = parse_optional_time("start", told.start.as_deref())?;
        let end = parse_optional_time("end", told.end.as_deref())?.or(start).unwrap_or(now);
        MemoryClaim::Episode(Box::new(MemoryEpisode {
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
            merged_from: Vec::new(),
            merged_into: None,
        }))
    } else if let Some(content) = told.procedure {
        for purpose in &told.purposes {
            parse_enum("purposes", Some(purpose), PacketPurpose::Planner)?;
        }
        let mut applicability = JsonObject::new();
        let lists = [("tags", told.tags), ("entities", told.entities), ("purposes", told.purposes)];
        for (name, list) in lists {
            if !list.is_empty() {
                applicability.insert(name.to_owned(), json!(list));
            }
        }
        MemoryClaim::Procedure(Box::new(MemoryProcedure {
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
        let statement = told.insight.ok_or("there is nothing to remember")?;
        MemoryClaim::Insight(Box::new(MemoryInsight {
            id: id("i", json!(statement)),
            revision: 1,
            run: scope.run().to_owned(),
            kind: parse_enum("type", told.insight_type.as_deref(), InsightKind::Hypothesis)?,
            statement,
            trigger: InsightTrigger::Synthesis,
            confidence: told.confidence.unwrap_or(0.3),
            validation: parse_enum(
                "validation",
                told.validation.as_deref(),
                InsightValidationState::Unvalidated,
            )?,
            tests: Vec::new(),
            expires: expires.unwrap_or(MemoryExpiry::RunEnd),
            sources: told.sources,
            recorded_at: now,
        }))
    })
}

/// Parses a timestamp, if one is present.
fn parse_optional_time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, String> {
    text.map(|text| parse_time(name, text)).transpose()
}

/// Returns the scope with the session and run that an input names.
fn narrow_scope(scope: &MemoryScope, told: &MemoryInput) -> Result<MemoryScope, String> {
    let session = told.session.as_deref().unwrap_or(scope.session());
    let run = told.run.as_deref().unwrap_or(scope.run());
    MemoryScope::new(scope.tenant(), scope.user(), scope.agent(), session, run)
        .map_err(|error| error.to_string())
}

/// Parses an enum value by its serialized name; absent means `usual`.
fn parse_enum<T: DeserializeOwned>(name: &str, text: Option<&str>, usual: T) -> Result<T, String> {
    let Some(text) = text else { return Ok(usual) };
    serde_json::from_value(json!(text)).map_err(|error| format!("`{name}`: {error}"))
}

fn parse_expiry(text: &str) -> Result<MemoryExpiry, String> {
    if text == "run_end" {
        return Ok(MemoryExpiry::RunEnd);
    }
    parse_time("expires", text)
        .map(MemoryExpiry::Until)
        .map_err(|said| format!("{said}; `run_end` is also allowed"))
}
