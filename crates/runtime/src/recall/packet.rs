//! The packet of one prompt: asked for, composed, kept as a build, written as text.

use countersign_core::protocol::{self, Protocol};
use countersign_core::run::{Prompt, State, Time};
use countersign_core::spec::Source;
use countersign_memory::compose::compose;
use countersign_memory::packet::MemoryPacket;
use countersign_memory::packet::meta::{Cues, Purpose};
use countersign_memory::policy::{Policy, PolicyError};
use countersign_memory::render::render;
use countersign_memory::store::{Build, packet_digest};
use countersign_memory::tokens::{TiktokenCounter, TokenCounter};
use countersign_memory::{Asked, Found, Request, Scope};

use super::RecallError;
use super::working::is_shown;

/// The policy that a protocol's packets are composed by.
pub fn policy_of(protocol: &Protocol) -> Result<Policy, PolicyError> {
    let name = protocol.memory.policy.as_deref().unwrap_or("default");
    if let Some(shipped) = Policy::shipped(name) {
        return Ok(shipped);
    }
    let text = protocol.bundle.files.get(name).map_or("", String::as_str);
    Policy::parse(Source::new(name, text))
}

/// What the packet of a prompt is asked for with: by the words that the model is asked with.
pub(super) fn request(
    scope: &Scope,
    protocol: &Protocol,
    state: &State,
    prompt: &Prompt,
    now: Time,
) -> Request {
    let budget = protocol.memory.tokens.map(|max_tokens| Asked { max_tokens, per_section: None });
    Request {
        scope: scope.clone(),
        purpose: match prompt.purpose {
            protocol::Purpose::Planner => Purpose::Planner,
            protocol::Purpose::Tool => Purpose::Tool,
            protocol::Purpose::Responder => Purpose::Responder,
        },
        task_type: Some(format!("{}/{}", state.workflow, state.phase)),
        cues: Some(Cues {
            tags: Some(vec![state.phase.clone()]),
            entities: None,
            keywords: None,
            time_range: None,
            extra: serde_json::Map::new(),
        }),
        message: prompt.turns.first().map(|turn| turn.text.clone()),
        vector: None,
        budget,
        as_of: now,
    }
}

/// Takes out what the prompt shows already. What is taken out here is no part of the build.
pub(super) fn without_own(found: &mut Found, state: &State) {
    found.quotes.retain(|quote| !is_shown(&quote.row, state));
    found.window.retain(|event| !is_shown(event, state));
}

/// Composes a packet, and the build that composes it again.
pub(super) fn built(
    id: String,
    request: &Request,
    policy: &Policy,
    found: &Found,
) -> Result<(MemoryPacket, Build), RecallError> {
    let counter = TiktokenCounter::o200k();
    let packet = compose(request, policy, found, &counter)?;
    let build = Build::of(id, request, policy, found, &packet, counter.id());
    Ok((packet, build))
}

/// The packet of a build, composed again.
pub(super) fn again(build: &Build, found: &Found) -> Result<MemoryPacket, RecallError> {
    let packet = build.again(found)?;
    if packet_digest(&packet) == build.digest {
        Ok(packet)
    } else {
        Err(RecallError::Build { id: build.id.clone() })
    }
}

/// A packet as text.
pub(super) fn text(packet: &MemoryPacket) -> Result<String, RecallError> {
    Ok(render(packet, packet.meta.purpose)?)
}

/// Whether a packet says nothing but what the run is after.
pub(super) fn is_bare(packet: &MemoryPacket) -> bool {
    let MemoryPacket { short_term, long_term, insight, .. } = packet;
    let state = &short_term.working_state;
    let none = |list: Option<usize>| list.unwrap_or(0) == 0;
    none(state.plan.as_ref().map(Vec::len))
        && none(state.slots.as_ref().map(serde_json::Map::len))
        && none(state.constraints.as_ref().map(serde_json::Map::len))
        && none(state.decisions.as_ref().map(Vec::len))
        && none(state.risks.as_ref().map(Vec::len))
        && none(short_term.key_quotes.as_ref().map(Vec::len))
        && none(short_term.conversation_window.as_ref().map(Vec::len))
        && none(short_term.open_loops.as_ref().map(Vec::len))
        && none(short_term.last_tool_evidence.as_ref().map(Vec::len))
        && none(long_term.preferences.as_ref().map(Vec::len))
        && short_term.rolling_summary.is_empty()
        && long_term.facts.is_empty()
        && long_term.procedures.is_empty()
        && long_term.episodes.is_empty()
        && insight.hypotheses.is_empty()
        && insight.strategy_sketches.is_empty()
        && insight.patterns.is_empty()
}
