//! Adds memory to the prompt of a model, and records a run that becomes idle. Every failure here
//! causes a warning, and the run continues without memory.

use countersign_memory::rules::MemoryRefusal;
use countersign_memory::store::{MemoryError, RetrievalLimits};
use countersign_run::{AttributedInput, InputKind, StepPrompt};
use countersign_store::RunId;

use super::prompt_packet::{
    build_packet_request, compose_build, is_empty_packet, keep_earlier_turns, load_memory_policy,
    rebuild_packet, remove_shown_events, render_prompt_memory,
};
use super::session_summary::update_session_summary;
use super::{
    CatchUpStep, MemoryRecorder, MemoryRecorderError, catch_up, catch_up_next, update_working_state,
};
use crate::engine::{Engine, LiveRun};
use crate::memory_context::try_add_vector;

/// How many more events are retrieved than may be quoted, because those of the current step are
/// removed afterwards.
const EXTRA_QUOTES: usize = 60;

/// How many of the latest events of a conversation are searched for its earlier turns.
const WINDOW_EVENTS: usize = 400;

/// A prompt with the memory that belongs to it.
#[derive(Debug, Clone)]
pub struct PromptWithMemory {
    /// The prompt; its system text ends with the memory.
    pub prompt: StepPrompt,
    /// Id of the packet's build; absent if nothing was added.
    pub build: Option<String>,
}

/// Adds the relevant memory to the prompt of the pending step. The same action always gets the same
/// text.
pub async fn add_memory_to_prompt(
    engine: &Engine,
    live: &LiveRun,
    prompt: StepPrompt,
) -> PromptWithMemory {
    let Some(recall) = engine.memory_recorder().filter(|_| !live.protocol.memory.off) else {
        return PromptWithMemory { prompt, build: None };
    };
    // Boxed, so that callers without a memory do not carry the size of this future.
    match Box::pin(build_memory_section(engine, recall, live, &prompt)).await {
        Ok(None) => PromptWithMemory { prompt, build: None },
        Ok(Some((build, memory))) => {
            let system = format!("{}\n\n## Memory\n\n{}", prompt.system, memory.trim_end());
            PromptWithMemory { prompt: StepPrompt { system, ..prompt }, build: Some(build) }
        }
        Err(error) => {
            let message = format!("memory is unavailable; the prompt is sent without it: {error}");
            engine.observer().on_warning(&live.state.run, &message);
            PromptWithMemory { prompt, build: None }
        }
    }
}

async fn build_memory_section(
    engine: &Engine,
    recall: &MemoryRecorder,
    live: &LiveRun,
    prompt: &StepPrompt,
) -> Result<Option<(String, String)>, MemoryRecorderError> {
    let state = &live.state;
    let run = engine.run_id(state.run.as_str());
    let beginning = recall.load_origin(engine, &run, live).await?;
    if beginning.memory_disabled {
        return Ok(None);
    }
    let subject = beginning.scope.subject();
    let id = format_build_id(&run, &prompt.action);
    if let Some((build, found)) = recall.memory().load_build(&subject, &id).await? {
        return Ok(Some((id, render_prompt_memory(&rebuild_packet(&build, &found)?)?)));
    }
    if recall.claim_first_use() {
        catch_up_others(engine, CatchUpStep::BeforePacket).await?;
    }
    catch_up(engine, &state.run).await?;
    update_working_state(engine, recall, &beginning, live).await?;
    let now = engine.clock().now();
    let policy = load_memory_policy(&live.protocol)?;
    let request = build_packet_request(&beginning.scope, &live.protocol, state, prompt, now);
    let embedder = recall.embedder().filter(|_| !policy.similarity.is_off());
    let (request, away) =
        try_add_vector(&**recall.memory(), embedder.map(|embedder| &**embedder), request).await;
    if let Some(error) = away {
        engine.observer().on_warning(
            &state.run,
            &format!("memory search uses words only, without vectors: {error}"),
        );
    }
    let usual = RetrievalLimits::from_policy(&policy);
    let turns = live.protocol.memory.window;
    let window = turns.map_or(usual.window, |_| WINDOW_EVENTS);
    let limits = RetrievalLimits { quotes: usual.quotes + EXTRA_QUOTES, window, ..usual };
    let mut once_more = true;
    loop {
        let mut found = recall.memory().retrieve_candidates(&request, limits).await?;
        remove_shown_events(&mut found, state);
        if let Some(turns) = turns {
            keep_earlier_turns(&mut found, state, turns);
        }
        let (packet, build) = compose_build(id.clone(), &request, &policy, &found)?;
        if is_empty_packet(&packet) {
            return Ok(None);
        }
        match recall.memory().store_build(build).await {
            Ok(()) => return Ok(Some((id, render_prompt_memory(&packet)?))),
            // Records were erased meanwhile; compose another packet from the rest.
            Err(MemoryError::Refused(MemoryRefusal::Forgotten { .. }))
                if std::mem::take(&mut once_more) => {}
            // Another process built the prompt at the same time; an action has only one prompt.
            Err(refused @ MemoryError::Refused(_)) => {
                return match recall.memory().load_build(&subject, &id).await? {
                    Some((build, found)) => {
                        Ok(Some((id, render_prompt_memory(&rebuild_packet(&build, &found)?)?)))
                    }
                    None => Err(refused.into()),
                };
            }
            Err(other) => return Err(other.into()),
        }
    }
}

/// Records a run that becomes idle and its working state, and updates the summary of its session.
pub(crate) async fn record_idle_run(engine: &Engine, run: &RunId) {
    let Some(recall) = engine.memory_recorder() else { return };
    let remembered = async {
        let live = engine.get_live_run(run).await?;
        if live.protocol.memory.off {
            return Ok(());
        }
        let beginning = recall.load_origin(engine, run, &live).await?;
        if beginning.memory_disabled {
            return Ok(());
        }
        catch_up(engine, &run.id).await?;
        update_working_state(engine, recall, &beginning, &live).await?;
        update_session_summary(engine, recall, &beginning).await?;
        catch_up_others(engine, CatchUpStep::WhenIdle).await
    };
    if let Err(error) = Box::pin(remembered).await {
        engine
            .observer()
            .on_warning(&run.id, &format!("the run is not recorded in memory: {error}"));
    }
}

/// Takes a step through the runs that a crash may have left behind.
async fn catch_up_others(engine: &Engine, step: CatchUpStep) -> Result<(), MemoryRecorderError> {
    for (other, error) in catch_up_next(engine, step).await? {
        engine
            .observer()
            .on_warning(&other, &format!("the run is not recorded in memory: {error}"));
    }
    Ok(())
}

/// Adds the build to a manually submitted reply, because its author was shown that build.
pub(crate) async fn link_build(
    engine: &Engine,
    run: &RunId,
    mut what: AttributedInput,
) -> AttributedInput {
    let Some(recall) = engine.memory_recorder() else { return what };
    let InputKind::ModelReplied(reply) = &mut what.payload else { return what };
    if reply.packet_build.is_none() {
        let id = format_build_id(run, &reply.action);
        let shown = Box::pin(is_build_known(engine, recall, run, &id)).await;
        reply.packet_build = shown.then_some(id);
    }
    what
}

async fn is_build_known(engine: &Engine, recall: &MemoryRecorder, run: &RunId, id: &str) -> bool {
    let Ok(live) = engine.get_live_run(run).await else { return false };
    let Ok(beginning) = recall.load_origin(engine, run, &live).await else { return false };
    let build = recall.memory().load_build(&beginning.scope.subject(), id).await;
    // A build whose rows are gone was shown as well.
    matches!(build, Ok(Some(_)) | Err(MemoryError::RowGone { .. }))
}

fn format_build_id(run: &RunId, action: &str) -> String {
    format!("{}/{action}", run.id)
}
