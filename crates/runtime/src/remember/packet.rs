//! A packet of what is remembered, asked for by whoever has no run. The build is kept, so that it can be
//! explained.

use countersign_contracts::Object;
use countersign_contracts::memory::MemoryPacket;
use countersign_contracts::memory::meta::{CueTimeRange, Cues, Purpose};
use countersign_core::run::Time;
use countersign_memory::compose::{ComposeError, compose};
use countersign_memory::policy::Policy;
use countersign_memory::render::{RenderError, render};
use countersign_memory::store::{Build, Limits, Memory, MemoryError};
use countersign_memory::tokens::TokenCounter;
use countersign_memory::{Asked, Request, Scope};
use serde_json::json;
use thiserror::Error;

use super::id_of;

/// What a packet is asked for with.
#[derive(Debug, Clone, Default)]
pub struct Asking {
    /// Which kind of prompt it goes into: `planner` where absent.
    pub purpose: Option<Purpose>,
    /// What is being said now.
    pub message: Option<String>,
    /// Words it is about.
    pub keywords: Vec<String>,
    /// Whom or what it is about.
    pub entities: Vec<String>,
    /// Tags it is about.
    pub tags: Vec<String>,
    /// The beginning of the time it is about.
    pub since: Option<Time>,
    /// The end of the time it is about.
    pub until: Option<Time>,
    /// The kind of task.
    pub task_type: Option<String>,
    /// How many tokens, instead of the policy's.
    pub tokens: Option<u64>,
}

/// Why there is no packet.
#[derive(Debug, Error)]
pub enum PacketError {
    /// The memory could not.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// It cannot be composed.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// It cannot be written as text.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// A packet, and the build that explains it.
#[derive(Debug, Clone)]
pub struct Composed {
    /// The id of the build.
    pub build: String,
    /// The digest of the packet.
    pub digest: String,
    /// What goes into the prompt.
    pub text: String,
    /// The packet.
    pub packet: MemoryPacket,
}

impl Asking {
    /// The request in a scope, at a moment.
    #[must_use]
    pub fn request(self, scope: Scope, as_of: Time) -> Request {
        let list = |list: Vec<String>| (!list.is_empty()).then_some(list);
        let [start, end] = [self.since, self.until].map(|at| at.map(|at| at.to_string()));
        let cues = Cues {
            tags: list(self.tags),
            entities: list(self.entities),
            keywords: list(self.keywords),
            time_range: (start.is_some() || end.is_some()).then_some(CueTimeRange { start, end }),
            extra: Object::new(),
        };
        let any = cues.tags.is_some()
            || cues.entities.is_some()
            || cues.keywords.is_some()
            || cues.time_range.is_some();
        Request {
            scope,
            purpose: self.purpose.unwrap_or(Purpose::Planner),
            task_type: self.task_type,
            cues: any.then_some(cues),
            message: self.message,
            vector: None,
            budget: self.tokens.map(|max_tokens| Asked { max_tokens, per_section: None }),
            as_of,
        }
    }
}

/// Composes a packet, and keeps its build.
pub async fn composed(
    memory: &dyn Memory,
    request: &Request,
    policy: &Policy,
    counter: &dyn TokenCounter,
) -> Result<Composed, PacketError> {
    let found = memory.found(request, Limits::of(policy)).await?;
    let packet = compose(request, policy, &found, counter)?;
    let text = render(&packet, request.purpose)?;
    let mut build = Build::of("", request, policy, &found, &packet, counter.id());
    build.id = id_of("b", &json!(build));
    let (id, digest) = (build.id.clone(), build.digest.clone());
    memory.keep_build(build).await?;
    Ok(Composed { build: id, digest, text, packet })
}
