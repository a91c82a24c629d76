//! The packet of a prompt: requested, composed, stored as a build, rendered as text.

use countersign_contract::source::SourceFile;
use countersign_memory::compose::compose_packet;
use countersign_memory::packet::MemoryPacket;
use countersign_memory::packet::meta::{PacketCues, PacketPurpose};
use countersign_memory::policy::{InjectionStrength, MemoryPolicy, MemoryPolicyError};
use countersign_memory::record::MemoryEventKind;
use countersign_memory::render::render_packet;
use countersign_memory::store::{PacketBuild, compute_packet_digest};
use countersign_memory::tokens::{TiktokenCounter, TokenCounter};
use countersign_memory::{BudgetOverride, Candidates, MemoryScope, PacketRequest};
use countersign_protocol::{self as protocol, Protocol};
use countersign_run::{RunState, StepPrompt, Timestamp};

use super::MemoryRecorderError;
use super::working_state::is_in_prompt;

/// Loads the policy that composes the packets of a protocol; the shipped policy `default` if the
/// protocol names none. A `window` of the protocol is part of the policy.
pub fn load_memory_policy(protocol: &Protocol) -> Result<MemoryPolicy, MemoryPolicyError> {
    let name = protocol.memory.policy.as_deref().unwrap_or("default");
    let mut policy = match MemoryPolicy::load_shipped(name) {
        Some(shipped) => shipped,
        None => {
            let text = protocol.bundle.files.get(name).map_or("", String::as_str);
            MemoryPolicy::parse(SourceFile::new(name, text))?
        }
    };
    if let Some(messages) = protocol.memory.window {
        policy.caps.window = messages;
        let rows = &mut policy.matrix;
        for row in [&mut rows.planner, &mut rows.tool, &mut rows.responder] {
            row.window = InjectionStrength::Strong;
        }
    }
    Ok(policy)
}

/// Builds the packet request of a prompt, with the first message of the prompt as the query.
pub(super) fn build_packet_request(
    scope: &MemoryScope,
    protocol: &Protocol,
    state: &RunState,
    prompt: &StepPrompt,
    now: Timestamp,
) -> PacketRequest {
    let budget =
        protocol.memory.tokens.map(|max_tokens| BudgetOverride { max_tokens, per_section: None });
    PacketRequest {
        scope: scope.clone(),
        purpose: match prompt.purpose {
            protocol::AgentPurpose::Planner => PacketPurpose::Planner,
            protocol::AgentPurpose::Tool => PacketPurpose::Tool,
            protocol::AgentPurpose::Responder => PacketPurpose::Responder,
        },
        task_type: Some(format!("{}/{}", state.workflow, state.phase)),
        cues: Some(PacketCues {
            tags: Some(vec![state.phase.clone()]),
            entities: None,
            keywords: None,
            time_range: None,
            extra: serde_json::Map::new(),
        }),
        message: prompt.messages.first().map(|turn| turn.text.clone()),
        vector: None,
        budget,
        as_of: now,
    }
}

/// Removes what the prompt shows already. Removed events are not part of the build.
pub(super) fn remove_shown_events(found: &mut Candidates, state: &RunState) {
    found.quotes.retain(|quote| !is_in_prompt(&quote.row, state));
    found.window.retain(|event| !is_in_prompt(event, state));
}

/// Keeps of the window what was said in earlier runs of the conversation, the newest messages.
pub(super) fn keep_earlier_turns(found: &mut Candidates, state: &RunState, messages: usize) {
    found
        .window
        .retain(|event| event.kind == MemoryEventKind::Message && event.scope.run() != state.run);
    let excess = found.window.len().saturating_sub(messages);
    found.window.drain(..excess);
}

/// Composes a packet, and the build that can compose it again.
pub(super) fn compose_build(
    id: String,
    request: &PacketRequest,
    policy: &MemoryPolicy,
    found: &Candidates,
) -> Result<(MemoryPacket, PacketBuild), MemoryRecorderError> {
    let counter = TiktokenCounter::o200k();
    let packet = compose_packet(request, policy, found, &counter)?;
    let build = PacketBuild::from_packet(id, request, policy, found, &packet, counter.id());
    Ok((packet, build))
}

/// Composes the packet of a build again.
pub(super) fn rebuild_packet(
    build: &PacketBuild,
    found: &Candidates,
) -> Result<MemoryPacket, MemoryRecorderError> {
    let packet = build.recompose(found)?;
    if compute_packet_digest(&packet) == build.digest {
        Ok(packet)
    } else {
        Err(MemoryRecorderError::BuildMismatch { id: build.id.clone() })
    }
}

/// Renders a packet as text.
pub(super) fn render_prompt_memory(packet: &MemoryPacket) -> Result<String, MemoryRecorderError> {
    Ok(render_packet(packet, packet.meta.purpose)?)
}

/// Returns whether a packet contains nothing but the goal of the run.
pub(super) fn is_empty_packet(packet: &MemoryPacket) -> bool {
    let MemoryPacket { short_term, long_term, insight, explain, .. } = packet;
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
        && explain.conflicts.iter().all(|conflict| conflict.list_shown_facts().is_empty())
        && long_term.procedures.is_empty()
        && long_term.episodes.is_empty()
        && insight.hypotheses.is_empty()
        && insight.strategy_sketches.is_empty()
        && insight.patterns.is_empty()
}
