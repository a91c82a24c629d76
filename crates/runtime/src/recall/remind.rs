//! Reminding a model that is asked, and remembering a run that rests. Whatever goes wrong here is told,
//! and the run goes on without.

use countersign_core::run::{Incoming, Prompt};
use countersign_memory::rules::Refusal;
use countersign_memory::store::{Limits, MemoryError};
use countersign_store::RunId;

use super::packet::{again, built, is_bare, policy_of, request, text, without_own};
use super::summary::roll;
use super::{CatchUpStep, Recall, RecallError, catch_up, catch_up_next, follow};
use crate::engine::{Engine, Live};
use crate::remember::nearer;

/// So many more events are found than may be quoted: those of the step under way are taken out again.
const SHOWN_ALREADY: usize = 60;

/// A prompt with what of the memory belongs to it.
#[derive(Debug, Clone)]
pub struct Reminded {
    /// The prompt; its system text ends with the memory.
    pub prompt: Prompt,
    /// The build of the packet; `None` where nothing was added.
    pub build: Option<String>,
}

/// Adds what of the memory belongs to the prompt of the step that is out. The same order is given the
/// same text, however often it is asked.
pub async fn remind(engine: &Engine, live: &Live, prompt: Prompt) -> Reminded {
    let Some(recall) = engine.recall().filter(|_| !live.protocol.memory.off) else {
        return Reminded { prompt, build: None };
    };
    // In a box: whoever has no memory need not carry its future.
    match Box::pin(reminder(engine, recall, live, &prompt)).await {
        Ok(None) => Reminded { prompt, build: None },
        Ok(Some((build, memory))) => {
            let system = format!("{}\n\n## Memory\n\n{}", prompt.system, memory.trim_end());
            Reminded { prompt: Prompt { system, ..prompt }, build: Some(build) }
        }
        Err(error) => {
            let told = format!("memory is away, and the prompt goes without: {error}");
            engine.watch().warned(&live.state.run, &told);
            Reminded { prompt, build: None }
        }
    }
}

async fn reminder(
    engine: &Engine,
    recall: &Recall,
    live: &Live,
    prompt: &Prompt,
) -> Result<Option<(String, String)>, RecallError> {
    let state = &live.state;
    let run = engine.run_id(state.run.as_str());
    let beginning = recall.beginning(engine, &run, live).await?;
    if beginning.unremembered {
        return Ok(None);
    }
    let subject = beginning.scope.subject();
    let id = build_id(&run, &prompt.action);
    if let Some((build, found)) = recall.memory().build(&subject, &id).await? {
        return Ok(Some((id, text(&again(&build, &found)?)?)));
    }
    if recall.is_first() {
        catch_up_others(engine, CatchUpStep::BeforePacket).await?;
    }
    catch_up(engine, &state.run).await?;
    follow(engine, recall, &beginning, live).await?;
    let now = engine.clock().now();
    let policy = policy_of(&live.protocol)?;
    let request = request(&beginning.scope, &live.protocol, state, prompt, now);
    let embedder = recall.embedder().filter(|_| !policy.similarity.is_off());
    let (request, away) =
        nearer(&**recall.memory(), embedder.map(|embedder| &**embedder), request).await;
    if let Some(error) = away {
        engine.watch().warned(&state.run, &format!("memory goes by words alone: {error}"));
    }
    let usual = Limits::of(&policy);
    let limits = Limits { quotes: usual.quotes + SHOWN_ALREADY, ..usual };
    let mut once_more = true;
    loop {
        let mut found = recall.memory().found(&request, limits).await?;
        without_own(&mut found, state);
        let (packet, build) = built(id.clone(), &request, &policy, &found)?;
        if is_bare(&packet) {
            return Ok(None);
        }
        match recall.memory().keep_build(build).await {
            Ok(()) => return Ok(Some((id, text(&packet)?))),
            // Somebody was forgotten meanwhile; there is another packet of what is left.
            Err(MemoryError::Refused(Refusal::Forgotten { .. }))
                if std::mem::take(&mut once_more) => {}
            // Another process was asked at the same moment; there is one prompt for one order.
            Err(refused @ MemoryError::Refused(_)) => {
                return match recall.memory().build(&subject, &id).await? {
                    Some((build, found)) => Ok(Some((id, text(&again(&build, &found)?)?))),
                    None => Err(refused.into()),
                };
            }
            Err(other) => return Err(other.into()),
        }
    }
}

/// Remembers a run that came to rest, and what it is doing, and rolls the summary of its session forward.
pub(crate) async fn rested(engine: &Engine, run: &RunId) {
    let Some(recall) = engine.recall() else { return };
    let remembered = async {
        let live = engine.live(run).await?;
        if live.protocol.memory.off {
            return Ok(());
        }
        let beginning = recall.beginning(engine, run, &live).await?;
        if beginning.unremembered {
            return Ok(());
        }
        catch_up(engine, &run.id).await?;
        follow(engine, recall, &beginning, &live).await?;
        roll(engine, recall, &beginning).await?;
        catch_up_others(engine, CatchUpStep::AtRest).await
    };
    if let Err(error) = Box::pin(remembered).await {
        engine.watch().warned(&run.id, &format!("it is not remembered: {error}"));
    }
}

/// Takes a step through the runs that a crash may have left behind.
async fn catch_up_others(engine: &Engine, step: CatchUpStep) -> Result<(), RecallError> {
    for (other, error) in catch_up_next(engine, step).await? {
        engine.watch().warned(&other, &format!("it is not remembered: {error}"));
    }
    Ok(())
}

/// Names the build in a reply that somebody hands in: whoever was asked was shown it.
pub(crate) async fn linked(engine: &Engine, run: &RunId, what: Incoming) -> Incoming {
    let Some(recall) = engine.recall() else { return what };
    let Incoming::ModelReplied(mut reply) = what else { return what };
    if reply.build.is_none() {
        let id = build_id(run, &reply.action);
        let shown = Box::pin(was_shown(engine, recall, run, &id)).await;
        reply.build = shown.then_some(id);
    }
    Incoming::ModelReplied(reply)
}

async fn was_shown(engine: &Engine, recall: &Recall, run: &RunId, id: &str) -> bool {
    let Ok(live) = engine.live(run).await else { return false };
    let Ok(beginning) = recall.beginning(engine, run, &live).await else { return false };
    let build = recall.memory().build(&beginning.scope.subject(), id).await;
    // One whose rows are gone was shown all the same.
    matches!(build, Ok(Some(_)) | Err(MemoryError::Gone { .. }))
}

fn build_id(run: &RunId, action: &str) -> String {
    format!("{}/{action}", run.id)
}
