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
    input: MemoryInput,
    voice: InputAuthor,
    scope: &MemoryScope,
    now: Timestamp,
) -> Result<MemoryWrite, String> {
    input.check_fields()?;
    let input = voice.authorize_input(input)?;
    let scope = narrow_scope(scope, &input)?;
    let role: SpeakerRole = parse_enum("role", input.role.as_deref(), SpeakerRole::User)?;
    let expires = input.expires.as_deref().map(parse_expiry).transpose()?;
    if let Some(text) = input.event {
        let (usual_kind, usual_origin) = match role {
            SpeakerRole::User => (MemoryEventKind::Message, MemoryOrigin::User),
            SpeakerRole::Assistant => (MemoryEventKind::Message, MemoryOrigin::Model),
            SpeakerRole::Tool => (MemoryEventKind::ToolResult, MemoryOrigin::Tool),
        };
        let ts = parse_optional_time("ts", input.ts.as_deref())?.unwrap_or(now);
        let said = json!([scope, text, ts, role, input.speaker]);
        return Ok(MemoryWrite::Event(NewMemoryEvent {
            id: input.id.unwrap_or_else(|| derive_id("e", &said)),
            ts,
            recorded_at: now,
            role,
            kind: parse_enum("kind", input.kind.as_deref(), usual_kind)?,
            origin: parse_enum("origin", input.origin.as_deref(), usual_origin)?,
            speaker: input.speaker,
            text,
            tags: input.tags,
            entities: input.entities,
            expires,
            scope,
            build: input.build,
            seen_insights: Vec::new(),
        }));
    }
    if let Some(state) = input.working_memory {
        let seen = match state.get("state_version") {
            None => None,
            Some(version) => Some(version.as_u64().ok_or_else(|| {
                format!("`working_memory.state_version` must be a whole number, found {version}")
            })?),
        };
        return Ok(MemoryWrite::WorkingMemory { scope, state, expected_version: seen });
    }
    if let Some(text) = input.summary {
        return Ok(MemoryWrite::Summary {
            scope,
            text,
            quotes: input.sources,
            by: voice.summary_writer(),
        });
    }
    let origin = parse_enum("origin", input.origin.as_deref(), MemoryOrigin::User)?;
    let assurance =
        if input.confirmed { ClaimAssurance::Confirmed } else { ClaimAssurance::Claimed };
    let claim = build_claim(input, &scope, expires, now)?;
    Ok(MemoryWrite::Claim { scope, claim, origin, assurance })
}

/// Builds the fact, episode, procedure or insight of an input.
fn build_claim(
    input: MemoryInput,
    scope: &MemoryScope,
    expires: Option<MemoryExpiry>,
    now: Timestamp,
) -> Result<MemoryClaim, String> {
    let id = |prefix: &str, said: Value| {
        input.id.clone().unwrap_or_else(|| derive_id(prefix, &json!([scope, said, now])))
    };
    Ok(if let Some(key) = input.fact {
        let value = input.value.ok_or("`value` is missing; a fact needs one")?;
        let mut quote = input.quote;
        let evidence =
            input.sources.into_iter().map(|event| FactEvidence { event, quote: quote.take() });
        MemoryClaim::Fact(Box::new(MemoryFact {
            id: id("f", json!([key, value])),
            revision: 1,
            key,
            value,
            status: FactStatus::Active,
            level: parse_enum("level", input.level.as_deref(), ScopeLevel::User)?,
            valid_from: parse_optional_time("valid_from", input.valid_from.as_deref())?,
            valid_to: parse_optional_time("valid_to", input.valid_to.as_deref())?,
            recorded_at: now,
            confidence: input.confidence.unwrap_or(0.5),
            evidence: evidence.collect(),
            preference: input.preference,
            tags: input.tags,
            entities: input.entities,
            notes: input.notes.unwrap_or_default(),
            superseded_by: None,
        }))
    } else if let Some(summary) = input.episode {
        let start = parse_optional_time("start", input.start.as_deref())?;
        let end = parse_optional_time("end", input.end.as_deref())?.or(start).unwrap_or(now);
        MemoryClaim::Episode(Box::new(MemoryEpisode {
            id: id("ep", json!(summary)),
            revision: 1,
            start: start.unwrap_or(end),
            end,
            recorded_at: now,
            summary,
            highlights: input.highlights,
            tags: input.tags,
            entities: input.entities,
            sources: input.sources,
            compression: parse_enum(
                "compression_level",
                input.compression_level.as_deref(),
                CompressionLevel::Raw,
            )?,
            merged_from: Vec::new(),
            merged_into: None,
        }))
    } else if let Some(content) = input.procedure {
        for purpose in &input.purposes {
            parse_enum("purposes", Some(purpose), PacketPurpose::Planner)?;
        }
        let mut applicability = input.applicability.unwrap_or_default();
        let lists =
            [("tags", input.tags), ("entities", input.entities), ("purposes", input.purposes)];
        for (name, list) in lists {
            if !list.is_empty() {
                applicability.insert(name.to_owned(), json!(list));
            }
        }
        MemoryClaim::Procedure(Box::new(MemoryProcedure {
            id: id("p", json!(content)),
            revision: 1,
            task_type: input.task_type.unwrap_or_else(|| "generic".to_owned()),
            content,
            priority: input.priority.unwrap_or(0),
            usage: input.usage.unwrap_or(0),
            sources: input.sources,
            applicability,
            recorded_at: now,
        }))
    } else {
        let statement = input.insight.ok_or("there is nothing to remember")?;
        MemoryClaim::Insight(Box::new(MemoryInsight {
            id: id("i", json!(statement)),
            revision: 1,
            run: scope.run().to_owned(),
            kind: parse_enum("type", input.insight_type.as_deref(), InsightKind::Hypothesis)?,
            statement,
            trigger: parse_enum("trigger", input.trigger.as_deref(), InsightTrigger::Synthesis)?,
            confidence: input.confidence.unwrap_or(0.3),
            validation: parse_enum(
                "validation",
                input.validation.as_deref(),
                InsightValidationState::Unvalidated,
            )?,
            tests: input.tests_suggested,
            expires: expires.unwrap_or(MemoryExpiry::RunEnd),
            sources: input.sources,
            recorded_at: now,
        }))
    })
}

/// Parses a timestamp, if one is present.
fn parse_optional_time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, String> {
    text.map(|text| parse_time(name, text)).transpose()
}

/// Returns the scope with the session and run that an input names.
fn narrow_scope(scope: &MemoryScope, input: &MemoryInput) -> Result<MemoryScope, String> {
    let session = input.session.as_deref().unwrap_or(scope.session());
    let run = input.run.as_deref().unwrap_or(scope.run());
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
