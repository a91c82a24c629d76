//! A workflow as a graph, as the API sends it: every phase with its work and, for a run, how often
//! and how long the run was in it.

use countersign_protocol::{PhaseWork, WorkflowDefinition, WorkflowPhase};
use countersign_run::{RunEvent, RunLogEntry, RunState, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::show::graph::{WorkflowGraph, describe_work};

/// A workflow as a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphView {
    /// The id of the workflow.
    pub workflow: String,
    /// The phases, in the order of the workflow.
    pub phases: Vec<GraphPhaseView>,
    /// The edges: transitions first, then what happens after failures.
    pub edges: Vec<GraphEdgeView>,
}

/// A phase of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphPhaseView {
    /// The id of the phase, unique in the workflow.
    pub id: String,
    /// The display name. Null if it has none.
    pub name: Option<String>,
    /// What happens in the phase. Null if the author gives no description.
    pub description: Option<String>,
    /// The work of the phase, in a few words. Null if it has none.
    pub work: Option<String>,
    /// The agent that is called. Null for other work.
    pub agent: Option<String>,
    /// The model that the agent names. Null if the caller or the protocol decides.
    pub model: Option<String>,
    /// The contract of the reply, as `ID@VERSION`. Null for other work.
    pub contract: Option<String>,
    /// The JSON Pointers that may be written in the phase. Null if every field may be.
    pub writes: Option<Vec<String>>,
    /// The tickets that a run must hold to enter the phase.
    pub needs: Vec<String>,
    /// The tickets that the phase issues.
    pub issues: Vec<String>,
    /// Whether entering the phase ends the run.
    pub terminal: bool,
    /// Whether the run is in the phase now.
    pub current: bool,
    /// How often the run entered the phase. 0 without a run.
    pub visits: u64,
    /// How long the run was in the phase, in milliseconds. 0 without a run.
    pub time_ms: u64,
}

/// An edge of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct GraphEdgeView {
    /// The phase that the edge leaves.
    pub from: String,
    /// The phase that the edge enters.
    pub to: String,
    /// When the run may take the edge, in words or as the author described it. Empty if always.
    pub condition: String,
    /// The expression or the check behind the author's description. Null if `condition` is it.
    pub check: Option<String>,
    /// Whether the edge is taken only after a failure.
    pub exception: bool,
    /// How often the run took the edge.
    pub taken: u64,
    /// Why the gate is closed now. Null if it is not.
    pub closed_reason: Option<String>,
}

impl GraphView {
    /// Builds the view of a workflow without a run.
    #[must_use]
    pub fn from_workflow(workflow: &WorkflowDefinition) -> Self {
        Self::from_graph(workflow, &WorkflowGraph::from_workflow(workflow))
    }

    /// Builds the view of the workflow of a run. `log` has its entries with their events, `now` is
    /// the end of the time in the current phase.
    #[must_use]
    pub fn from_run(
        workflow: &WorkflowDefinition,
        state: &RunState,
        log: &[(RunLogEntry, Vec<RunEvent>)],
        now: Timestamp,
    ) -> Self {
        let events: Vec<RunEvent> =
            log.iter().flat_map(|(_, events)| events.iter().cloned()).collect();
        let graph = WorkflowGraph::from_workflow(workflow).with_run(state, &events);
        let mut view = Self::from_graph(workflow, &graph);
        let end = if state.end.is_some() { state.updated_at } else { now };
        let mut inside: Option<(usize, Timestamp)> = None;
        for (entry, events) in log {
            for event in events {
                let RunEvent::PhaseEntered { phase } = event else { continue };
                view.add_time(inside, entry.time);
                let index = view.phases.iter().position(|one| one.id == *phase);
                inside = index.map(|index| (index, entry.time));
                if let Some(index) = index {
                    view.phases[index].visits += 1;
                }
            }
        }
        view.add_time(inside, end);
        if let Some(here) = view.phases.iter_mut().find(|one| one.id == state.phase) {
            here.current = true;
        }
        view
    }

    fn add_time(&mut self, inside: Option<(usize, Timestamp)>, until: Timestamp) {
        if let Some((index, since)) = inside {
            let spent = u64::try_from(until.0.saturating_sub(since.0)).unwrap_or_default();
            self.phases[index].time_ms += spent;
        }
    }

    fn from_graph(workflow: &WorkflowDefinition, graph: &WorkflowGraph) -> Self {
        let name = |index: usize| workflow.phases[index].id.clone();
        let edges = graph.edges.iter().map(|edge| GraphEdgeView {
            from: name(edge.from),
            to: name(edge.to),
            condition: edge.gate.clone(),
            check: edge.check.clone(),
            exception: edge.exception,
            taken: edge.taken_count as u64,
            closed_reason: edge.closed_reason.clone(),
        });
        Self {
            workflow: workflow.id.clone(),
            phases: workflow
                .phases
                .iter()
                .map(|phase| GraphPhaseView::from_phase(workflow, phase))
                .collect(),
            edges: edges.collect(),
        }
    }
}

impl GraphPhaseView {
    fn from_phase(workflow: &WorkflowDefinition, phase: &WorkflowPhase) -> Self {
        let agent = match &phase.work {
            PhaseWork::Agent(work) => Some(work),
            _ => None,
        };
        let contract = agent.map(|work| &work.contract);
        Self {
            id: phase.id.clone(),
            name: phase.name.clone(),
            description: phase.description.clone(),
            work: describe_work(&phase.work),
            agent: agent.map(|work| work.agent.id.clone()),
            model: agent.and_then(|work| work.agent.model.clone()),
            contract: contract.map(|contract| format!("{}@{}", contract.id, contract.version)),
            writes: phase.writes.clone(),
            needs: phase.needs.clone(),
            issues: phase.issues.clone(),
            terminal: workflow.ends_in(phase),
            current: false,
            visits: 0,
            time_ms: 0,
        }
    }
}
