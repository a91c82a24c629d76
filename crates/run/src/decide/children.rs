//! Child workflows: the phase starts one child run, or one per item, and waits for them. A child is
//! a run with its own document.

use std::collections::BTreeSet;
use std::ops::ControlFlow::{self, Break, Continue};

use countersign_contract::reply::format_value;
use countersign_protocol::{
    ChildFanOut, FailurePolicy, ForEachItems, PhaseWork, WorkflowInvocation,
};
use serde_json::{Map, Value, json};

use super::document_update::{ChangeScope, accept_any_value, any_value_contract};
use super::effects::describe_first_violation;
use super::run_decision::RunDecision;
use super::settle_failure::PhaseFailure;
use super::size_limits::clip_text;
use crate::RunState;
use crate::apply_event::set_at_pointer;
use crate::event::RunEvent;
use crate::pending_action::PendingAction;
use crate::state::Continuation;

/// Maximum depth of child runs; a child of a run without a parent has depth 1.
const MAX_CHILD_DEPTH: u32 = 10;

/// The key of an item, unique in its phase, and the item.
type KeyedItem = (String, Value);

impl RunDecision<'_> {
    /// Requests the child of the phase, or children for the items that have none yet, up to the
    /// concurrency limit. The phase is complete when every item has ended.
    pub(super) fn request_children(&mut self, invoke: &WorkflowInvocation) -> Option<Continuation> {
        let Some(several) = &invoke.fan_out else {
            if let Break(instead) = self.check_time_budget(&Continuation::BeginWork) {
                return instead;
            }
            let Err(failure) = self.request_child(invoke, None) else { return None };
            return match self.settle_failed_child(invoke, None, None, &failure) {
                Break(instead) => instead,
                Continue(()) => Some(self.complete_children(invoke, "", false)),
            };
        };
        // Once a size limit is exceeded, this decision is discarded.
        while self.limit_exceeded.is_none() {
            let fresh = match self.find_unstarted_item(several) {
                Ok(fresh) => fresh,
                // Pending children continue; the error is reported when they have ended.
                Err(_) if self.count_pending_children() > 0 => return None,
                Err(why) => {
                    let message =
                        format!("Workflow `{}` cannot be started: {why}", invoke.workflow);
                    return self.apply_failure_policy(
                        &FailurePolicy::Wait,
                        message,
                        Continuation::BeginWork,
                    );
                }
            };
            let Some(keyed) = fresh else { break };
            if self.count_pending_children() >= several.max_concurrent {
                return None;
            }
            if let Break(instead) = self.check_time_budget(&Continuation::BeginWork) {
                return instead;
            }
            if let Err(failure) = self.request_child(invoke, Some(&keyed))
                && let Break(instead) =
                    self.settle_failed_child(invoke, Some(keyed), None, &failure)
            {
                return instead;
            }
        }
        if self.count_pending_children() > 0 || self.limit_exceeded.is_some() {
            return None;
        }
        if !self.state.item_progress.failed.is_empty() {
            return self.report_failed_items(Continuation::BeginWork);
        }
        let whole = self.state.item_progress.skipped == 0;
        Some(self.complete_children(invoke, "for every item", whole))
    }

    /// Finds the first item without a child; an error if the items or their keys are invalid.
    fn find_unstarted_item(&self, several: &ChildFanOut) -> Result<Option<KeyedItem>, String> {
        let items = self.evaluate_items(&several.for_each)?;
        let run = self.run_value();
        let mut keys = BTreeSet::new();
        let mut fresh = None;
        for item in items {
            let key = match &several.key {
                None => item.clone(),
                Some(key) => {
                    let roots = [Some(&*self.state.document), Some(&run), Some(&item)];
                    let value = key.eval(&roots).map_err(|error| error.message)?.to_json();
                    value.ok_or_else(|| format!("`{}` is undefined", key.source().trim()))?
                }
            };
            let key = match key {
                Value::String(key) if !key.trim().is_empty() => key,
                other => {
                    let found = format_value(&other);
                    return Err(format!(
                        "the key of an item must be a non-blank string, found {found}"
                    ));
                }
            };
            if !keys.insert(key.clone()) {
                return Err(format!("two items have the key `{key}`"));
            }
            if fresh.is_none() && !self.state.item_progress.started.contains(&key) {
                fresh = Some((key, item));
            }
        }
        if fresh.is_some() && self.state.item_progress.started.len() >= ForEachItems::MAX_ITEMS {
            return Err(format!(
                "this phase has already started {} children, which is the limit",
                ForEachItems::MAX_ITEMS
            ));
        }
        Ok(fresh)
    }

    fn count_pending_children(&self) -> usize {
        let child = |action: &&PendingAction| matches!(action, PendingAction::Child { .. });
        self.state.pending.values().filter(child).count()
    }

    /// Requests one child run.
    fn request_child(
        &mut self,
        invoke: &WorkflowInvocation,
        keyed: Option<&KeyedItem>,
    ) -> Result<(), PhaseFailure> {
        let depth = self.state.parent.as_ref().map_or(0, |parent| parent.depth) + 1;
        if depth > MAX_CHILD_DEPTH {
            let why = format!("child runs can be nested at most {MAX_CHILD_DEPTH} deep");
            return Err(PhaseFailure::new("too_deep", &why));
        }
        let item = keyed.map(|(_, item)| item);
        let document = self.build_child_document(invoke, item);
        let document = document.map_err(|why| PhaseFailure::new("invalid", &why))?;
        let action = self.next_action_id();
        let run = match keyed {
            None => format!("{}.{}", self.state.run, self.state.version),
            // One version can request several children; the action number distinguishes them.
            Some(_) => format!("{}.{}", self.state.run, action.replace('.', "-")),
        };
        let workflow = invoke.workflow.clone();
        let (key, item) = (keyed.map(|(key, _)| key.clone()), item.cloned());
        self.emit(RunEvent::ChildRequested { action, run, workflow, document, depth, key, item });
        Ok(())
    }

    fn build_child_document(
        &self,
        invoke: &WorkflowInvocation,
        item: Option<&Value>,
    ) -> Result<Value, String> {
        let run = self.run_value();
        let roots: Vec<_> =
            [Some(&*self.state.document), Some(&run)].into_iter().chain(item.map(Some)).collect();
        let mut document = Value::Object(Map::new());
        for (at, expr) in &invoke.input {
            let value = expr.eval(&roots).map_err(|error| error.message)?.to_json();
            let value = value.ok_or_else(|| format!("`{}` is undefined", expr.source()))?;
            set_at_pointer(&mut document, at, &value);
        }
        Ok(document)
    }

    /// Handles the end of a child: applies its output, or settles its failure.
    pub(super) fn handle_child_ended(
        &mut self,
        before: &RunState,
        action: &str,
        completed: bool,
        reason: Option<&str>,
        document: &Value,
    ) -> Option<Continuation> {
        self.emit(RunEvent::ChildEnded { action: action.to_owned(), completed });
        let PhaseWork::Invoke(invoke) = &self.current_phase().work else { return None };
        let Some(PendingAction::Child { run, key, item, .. }) = before.pending.get(action) else {
            return None;
        };
        let status = if completed { "completed" } else { "failed" };
        let child = json!({ "id": run, "status": status });
        let keyed = key.clone().zip(item.clone());
        let scope = ChangeScope { child: Some(child.clone()), item: item.clone() };
        let outcome = if completed {
            match self.build_update(
                &invoke.output,
                &accept_any_value(any_value_contract(), document),
                &scope,
                None,
            ) {
                Ok(update) => {
                    self.record_update(update);
                    Ok(())
                }
                Err(violations) => Err(PhaseFailure::from_violations(
                    &violations,
                    &describe_first_violation(&violations),
                )),
            }
        } else {
            Err(PhaseFailure::new(
                "child_failed",
                &clip_text(reason.unwrap_or("no reason was given")),
            ))
        };
        let (several, whole) = (keyed.is_some(), outcome.is_ok());
        if let Err(failure) = outcome
            && let Break(instead) = self.settle_failed_child(invoke, keyed, Some(child), &failure)
        {
            return instead;
        }
        if !several {
            return Some(self.complete_children(invoke, "", whole));
        }
        // The update may have added items, and there is room for one more child.
        self.state.blocked.is_none().then_some(Continuation::BeginWork)
    }

    /// Completes the work of the phase. It counts as accepted, and issues tickets, only if `whole`:
    /// no child was given up.
    fn complete_children(
        &mut self,
        invoke: &WorkflowInvocation,
        how: &str,
        whole: bool,
    ) -> Continuation {
        if whole {
            self.issue_phase_tickets();
        }
        let name = &invoke.workflow;
        match &invoke.on_complete {
            Some(to) => {
                let because = format!("workflow `{name}` completed {how}");
                let because = because.trim_end().to_owned();
                Continuation::MoveToPhase { transition: None, to: to.clone(), reason: because }
            }
            None => Continuation::ChooseTransition,
        }
    }

    /// Settles a child that could not be started, that failed, or whose output was refused.
    /// `Continue`: the phase goes on, with the other items or because its failure policy says so.
    fn settle_failed_child(
        &mut self,
        invoke: &WorkflowInvocation,
        keyed: Option<KeyedItem>,
        child: Option<Value>,
        failure: &PhaseFailure,
    ) -> ControlFlow<Option<Continuation>> {
        let name = &invoke.workflow;
        let of = keyed.as_ref().map_or_else(String::new, |(key, _)| format!(" for `{key}`"));
        let why = failure.message();
        let what = match &child {
            None => format!("Workflow `{name}` cannot be started{of}: {why}"),
            Some(child) if child["status"] == "failed" => {
                format!("Workflow `{name}` did not complete{of}: {why}")
            }
            Some(_) => format!("The output of workflow `{name}`{of} was refused: {why}"),
        };
        // A child that was never started has no id.
        let child = child.unwrap_or_else(|| json!({ "id": null, "status": "failed" }));
        let (key, item) = keyed.unzip();
        let scope = ChangeScope { child: Some(child), item };
        let (then, what) = self.settle_failure(&invoke.on_failed, failure, &scope, what);
        match (then, scope.item) {
            (FailurePolicy::GoOn, None) => Continue(()),
            (then @ (FailurePolicy::GoOn | FailurePolicy::Wait), Some(item)) => {
                let again = then == FailurePolicy::Wait;
                self.emit(RunEvent::ItemFailed { item, key, message: what, retryable: again });
                Continue(())
            }
            (then, _) => Break(self.apply_failure_policy(&then, what, Continuation::BeginWork)),
        }
    }
}
