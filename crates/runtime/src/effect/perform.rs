//! Performs one effect under the id of its action.
//!
//! Repeating is safe: a file is written whole and the same each time, looking up changes nothing,
//! and a program or a call that is known to have succeeded is answered from the journal. One whose
//! end nobody saw is done again, at least once in all, with its id where the other side can see it.

use countersign_core::protocol::Policy;
use countersign_core::run::Effect;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::http::Call;
use super::{EffectError, EffectErrorKind, Journal, JournalError, Sources, run};
use crate::workspace::{Workspace, Written};

/// What effects reach.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// What the owner allows.
    pub policy: &'a Policy,
    /// Where files are written and programs work.
    pub workspace: &'a Workspace,
    /// Where things are looked up.
    pub sources: &'a Sources,
    /// What is known of effects that were had before.
    pub journal: &'a Journal,
}

/// Has an effect, or finds that it was had.
pub async fn perform(order: &Effect, id: &str, world: World<'_>) -> Result<Value, EffectError> {
    match order {
        Effect::Write { path, content, once } => write(path, content, *once, world.workspace).await,
        Effect::Copy { from, to, once } => copy(from, to, *once, world.workspace).await,
        Effect::Retrieve { source, query } => world.sources.retrieve(source, query).await,
        Effect::Run { program: name, args, input } => {
            let prepare = || {
                let program = run::declared(name, world.policy)?;
                Ok(run::run(name, program, args, input.as_ref(), id, world.workspace))
            };
            once(order, id, world.journal, prepare).await
        }
        Effect::Http { method, url, body } => {
            let prepare =
                || Ok(Call::prepare(method, url, body.as_ref(), id, world.policy)?.send());
            once(order, id, world.journal, prepare).await
        }
    }
}

async fn write(
    path: &str,
    content: &str,
    once: bool,
    workspace: &Workspace,
) -> Result<Value, EffectError> {
    let (workspace, path, content) = (workspace.clone(), path.to_owned(), content.to_owned());
    let write = move || {
        let bytes = content.as_bytes();
        if once { workspace.write_once(&path, bytes) } else { workspace.write_atomic(&path, bytes) }
    };
    blocking(write).await.map(|written| told(&written))
}

/// The most that is copied: a file is read whole before it is written whole.
const LARGEST_COPY: u64 = 64 * 1024 * 1024;

async fn copy(
    from: &str,
    to: &str,
    once: bool,
    workspace: &Workspace,
) -> Result<Value, EffectError> {
    let (workspace, from, to) = (workspace.clone(), from.to_owned(), to.to_owned());
    let copy = move || -> Result<Written, EffectError> {
        let content = workspace.read(&from, LARGEST_COPY)?;
        if content.truncated {
            let (size, most) = (content.size >> 20, LARGEST_COPY >> 20);
            let message = format!("the file to copy has {size} MiB; at most {most} are taken");
            return Err(EffectError::lasting(EffectErrorKind::TooLarge, message));
        }
        let bytes = &content.bytes;
        Ok(if once {
            workspace.write_once(&to, bytes)?
        } else {
            workspace.write_atomic(&to, bytes)?
        })
    };
    blocking(copy).await.map(|written| told(&written))
}

fn told(written: &Written) -> Value {
    json!({ "path": written.path, "bytes": written.bytes, "sha256": written.sha256 })
}

/// Does something that the journal does not know to be done. What is refused was never started.
async fn once<F>(
    order: &Effect,
    id: &str,
    journal: &Journal,
    prepare: impl FnOnce() -> Result<F, EffectError>,
) -> Result<Value, EffectError>
where
    F: Future<Output = Result<Value, EffectError>>,
{
    let known = noted(journal, order, id, |journal, order, id| journal.result(id, order));
    if let Some(known) = known.await? {
        return Ok(known);
    }
    let doing = prepare()?;
    noted(journal, order, id, |journal, order, id| journal.start(id, order)).await?;
    let result = doing.await?;
    let kept = result.clone();
    let note = move |journal: &Journal, order: &Effect, id: &str| journal.finish(id, order, &kept);
    // It was done. Saying otherwise because the note failed would have it done twice.
    drop(noted(journal, order, id, note).await);
    Ok(result)
}

async fn noted<T: Send + 'static>(
    journal: &Journal,
    order: &Effect,
    id: &str,
    note: impl FnOnce(&Journal, &Effect, &str) -> Result<T, JournalError> + Send + 'static,
) -> Result<T, EffectError> {
    let (journal, order, id) = (journal.clone(), order.clone(), id.to_owned());
    blocking(move || note(&journal, &order, &id)).await
}

/// Waits for the disk without keeping others waiting.
async fn blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, EffectError>
where
    T: Send + 'static,
    E: Into<EffectError> + Send + 'static,
{
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(Into::into),
        Err(_) => {
            let message = "the work was broken off because the runtime is shutting down";
            Err(EffectError::passing(EffectErrorKind::Unavailable, message))
        }
    }
}
