//! The driver itself: runs are worked on until nothing is left that can be done now.

use std::collections::VecDeque;
use std::sync::Arc;

use countersign_core::run::{Incoming, Pending, Rejection, State, Status, Time, next_alarm};
use countersign_store::{Lease, RunId, StoreError};

use super::hold;
use super::models::Models;
use super::perform::Hands;
use super::rest::Rest;
use crate::engine::{Along, Engine, EngineError, Live};

/// Works on runs.
pub struct Driver {
    engine: Arc<Engine>,
    models: Arc<dyn Models>,
    hands: Hands,
    worker: String,
}

impl Driver {
    /// A worker with a name that no other has.
    #[must_use]
    pub fn new(engine: Arc<Engine>, models: Arc<dyn Models>, hands: Hands, worker: String) -> Self {
        Self { engine, models, hands, worker }
    }

    /// Works on a run, and on those it starts and tells, until each has come to rest. Tells where
    /// the first one did.
    pub async fn drive(&self, run: &str) -> Result<Rest, EngineError> {
        let first = self.engine.run_id(run);
        let mut queue = VecDeque::from([first.clone()]);
        let mut rest = Rest::Held;
        while let Some(run) = queue.pop_front() {
            let reached = self.work(&run, &mut queue).await?;
            if run == first {
                rest = reached;
            }
        }
        Ok(rest)
    }

    /// Works on one run until it rests. Runs that have to be worked on because of it join the queue.
    async fn work(&self, run: &RunId, queue: &mut VecDeque<RunId>) -> Result<Rest, EngineError> {
        let Some(lease) = hold::take(&self.engine, run, &self.worker).await? else {
            return Ok(Rest::Held);
        };
        self.engine.forget(run);
        let rest = self.work_held(run, &lease, queue).await;
        let released = self.engine.store().release(&lease).await;
        let rest = rest?;
        released?;
        Ok(rest)
    }

    async fn work_held(
        &self,
        run: &RunId,
        lease: &Lease,
        queue: &mut VecDeque<RunId>,
    ) -> Result<Rest, EngineError> {
        // Orders that only other runs, or people, can finish.
        let mut left: Vec<String> = Vec::new();
        loop {
            let live = self.engine.live(run).await?;
            let now = self.engine.clock().now();
            let next = next_order(&live.state, now, &left);
            let Some((action, order)) = next else {
                match self.tick(run, lease, &live, now).await? {
                    true => continue,
                    false => return Ok(rest(&live, now)),
                }
            };
            let done = match &order {
                Pending::Child { run: child, .. } => {
                    self.start_child(&live, &action, &order).await?;
                    queue.push_back(self.engine.run_id(child));
                    None
                }
                Pending::Tell { run: other, tell } => {
                    let told = self.tell(run, &live.state, other, tell).await?;
                    queue.push_back(self.engine.run_id(other));
                    told.then(|| (Incoming::Told { action: action.clone() }, Vec::new()))
                }
                _ => {
                    let work =
                        self.hands.perform(&self.engine, &*self.models, &live, &action, &order);
                    hold::while_held(&self.engine, lease, work).await??
                }
            };
            match done {
                None => left.push(action),
                Some((what, blobs)) => {
                    let along = Along { lease: Some(lease.clone()), blobs, ..Along::default() };
                    match self.engine.give_along(run, what, along).await {
                        // Its order was dropped meanwhile: a person cancelled, a deadline passed.
                        Ok(_) | Err(EngineError::Rejected(_)) => {}
                        Err(other) => return Err(other),
                    }
                }
            }
        }
    }

    /// Lets time go by for a run, where something is due.
    async fn tick(
        &self,
        run: &RunId,
        lease: &Lease,
        live: &Live,
        now: Time,
    ) -> Result<bool, EngineError> {
        let due = next_alarm(&live.protocol, &live.state).is_some_and(|at| at <= now);
        if !due {
            return Ok(false);
        }
        let along = Along { lease: Some(lease.clone()), ..Along::default() };
        match self.engine.give_along(run, Incoming::Ticked, along).await {
            Ok(_) => Ok(true),
            Err(EngineError::Rejected(Rejection::NothingDue)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Starts a child run, unless it was started before a crash.
    async fn start_child(
        &self,
        live: &Live,
        action: &str,
        order: &Pending,
    ) -> Result<(), EngineError> {
        let Pending::Child { run, workflow, document, depth } = order else { return Ok(()) };
        let parent = countersign_core::run::Parent {
            run: live.state.run.clone(),
            action: action.to_owned(),
            depth: *depth,
        };
        let start = countersign_core::run::Start {
            protocol: live.protocol.digest.clone(),
            workflow: workflow.clone(),
            document: Some(document.clone()),
            phase: None,
            model: live.state.model.clone(),
            by: None,
            parent: Some(parent),
            fork: None,
        };
        match self.engine.start(run, &live.protocol, start, None).await {
            Ok(_) | Err(EngineError::Store(StoreError::Conflict { .. })) => Ok(()),
            Err(EngineError::Rejected(rejection)) => {
                let what = Incoming::ChildEnded {
                    action: action.to_owned(),
                    completed: false,
                    reason: Some(rejection.to_string()),
                    document: serde_json::Value::Null,
                };
                self.engine.give(&live.state.run, what, None).await.map(|_| ())
            }
            Err(other) => Err(other),
        }
    }

    /// Tells another run something. True when it knows, now or since before.
    async fn tell(
        &self,
        teller: &RunId,
        state: &State,
        other: &str,
        tell: &countersign_core::run::Tell,
    ) -> Result<bool, EngineError> {
        let what = match tell {
            countersign_core::run::Tell::ChildEnded { action } => Incoming::ChildEnded {
                action: action.clone(),
                completed: state.status() == Status::Completed,
                reason: state.end.as_ref().and_then(|(_, reason)| reason.clone()),
                document: (*state.document).clone(),
            },
            countersign_core::run::Tell::Cancel { reason } => {
                let by = format!("run {}", teller.id);
                Incoming::Cancelled { by, reason: Some(reason.clone()) }
            }
        };
        match self.engine.give(other, what, Some(format!("told by {}", teller.id))).await {
            // One that was told before, has ended, or never began needs no telling.
            Ok(_) | Err(EngineError::Rejected(_) | EngineError::NoRun { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }
}

/// The order to do next: the first that is due and not left for others.
fn next_order(state: &State, now: Time, left: &[String]) -> Option<(String, Pending)> {
    let ready = |(id, order): &(&String, &Pending)| {
        let tell = matches!(order, Pending::Tell { .. });
        let due = order.not_before().is_none_or(|at| at <= now);
        due && (state.halted.is_none() || tell) && !left.contains(id)
    };
    let found = state.pending.iter().find(|pair| ready(pair));
    found.map(|(id, order)| (id.clone(), order.clone()))
}

/// Why nothing can be done now.
fn rest(live: &Live, now: Time) -> Rest {
    let state = &live.state;
    let status = state.status();
    if status.ended() {
        return Rest::Ended(status);
    }
    if state.halted.is_some() {
        return Rest::Halted;
    }
    for order in state.pending.values() {
        match order {
            Pending::Child { run, .. } => return Rest::Child(run.clone()),
            Pending::Model { not_before } if not_before.is_none_or(|at| at <= now) => {
                return if state.waits.is_empty() { Rest::NeedsReply } else { Rest::Waiting };
            }
            _ => {}
        }
    }
    let people = !state.waits.is_empty();
    match next_alarm(&live.protocol, state) {
        Some(at) if !people => Rest::Until(at),
        _ => Rest::Waiting,
    }
}
