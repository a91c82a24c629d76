//! The contents of a workflow graph, independent of the output format.

use countersign_protocol::{
    AnswerShape, EffectTemplate, FailureHandler, GateCheck, PhaseWork, TransitionGate,
    WorkflowDefinition, WorkflowPhase, WorkflowTransition, format_assignees,
};
use countersign_run::{RunEvent, RunState};

/// A workflow, optionally with the state of a run.
#[derive(Debug)]
pub struct WorkflowGraph {
    /// The title of the graph.
    pub(super) title: String,
    pub(super) nodes: Vec<GraphNode>,
    /// The transitions in the order of the workflow, then all other edges.
    pub(crate) edges: Vec<GraphEdge>,
    transitions: usize,
    /// Whether a run is shown; everything that it did not reach is then drawn faintly.
    pub(super) shows_run: bool,
}

/// A phase of the workflow.
#[derive(Debug)]
pub(super) struct GraphNode {
    pub(super) id: String,
    pub(super) name: Option<String>,
    /// A short description of the phase's work; `None` if it has none.
    pub(super) work: Option<String>,
    pub(super) description: Option<String>,
    pub(super) terminal: bool,
    pub(super) visited: bool,
    pub(super) current: bool,
}

/// An edge from one phase to another.
#[derive(Debug, Clone)]
pub(crate) struct GraphEdge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The complete description of the gate; empty if there is none.
    pub(crate) gate: String,
    /// The check behind the author's description; `None` if `gate` is it.
    pub(crate) check: Option<String>,
    /// Whether the edge is taken only after a failure.
    pub(crate) exception: bool,
    /// How often the run took the edge.
    pub(crate) taken_count: usize,
    /// Why the gate is currently closed; `None` if it is not.
    pub(crate) closed_reason: Option<String>,
    /// How many edges between the same phases a picture draws as this one; at least 1.
    pub(crate) parallel: usize,
}

impl GraphEdge {
    /// Creates an edge that no run has taken.
    fn new(from: usize, to: usize, gate: String, exception: bool) -> Self {
        let (check, closed_reason) = (None, None);
        Self { from, to, gate, check, exception, taken_count: 0, closed_reason, parallel: 1 }
    }

    /// Describes when the edge can be taken: in words, and with the check behind them.
    pub(super) fn describe(&self) -> String {
        let gate = if self.gate.is_empty() { "always open" } else { &self.gate };
        self.check.as_ref().map_or_else(|| gate.to_owned(), |check| format!("{gate}\n{check}"))
    }

    /// Joins an edge between the same phases. Any of the conditions is then enough; the reason why
    /// the gates are closed remains only if all of them are.
    fn join(&mut self, other: &Self) {
        let closed = match (&self.closed_reason, &other.closed_reason) {
            (Some(one), Some(other)) => Some(format!("{one}; {other}")),
            _ => None,
        };
        self.gate = format!("{}\nor: {}", self.describe(), other.describe());
        self.check = None;
        self.closed_reason = closed;
        self.taken_count += other.taken_count;
        self.parallel += 1;
    }
}

impl WorkflowGraph {
    /// Builds the graph of a workflow without a run.
    #[must_use]
    pub fn from_workflow(workflow: &WorkflowDefinition) -> Self {
        let index = |id: &str| workflow.phases.iter().position(|phase| phase.id == id);
        let nodes = workflow.phases.iter().map(|phase| build_node(workflow, phase)).collect();
        let mut edges = Vec::new();
        for transition in &workflow.transitions {
            // Loading guarantees that both phases exist.
            let (Some(from), Some(to)) = (index(&transition.from), index(&transition.to)) else {
                continue;
            };
            let gate = describe_condition(transition).unwrap_or_default();
            let check = transition.gate.as_ref().and_then(describe_behind);
            edges.push(GraphEdge { check, ..GraphEdge::new(from, to, gate, false) });
        }
        let transitions = edges.len();
        for (from, phase) in workflow.phases.iter().enumerate() {
            if let PhaseWork::Invoke(invoke) = &phase.work
                && let Some(to) = invoke.on_complete.as_deref().and_then(index)
            {
                let gate = "when the child run completes".to_owned();
                edges.push(GraphEdge::new(from, to, gate, false));
            }
            for (why, to) in collect_exceptions(phase) {
                let Some(to) = index(&to) else { continue };
                edges.push(GraphEdge::new(from, to, why, true));
            }
        }
        let title = workflow.name.clone().unwrap_or_else(|| workflow.id.clone());
        Self { title, nodes, edges, transitions, shows_run: false }
    }

    /// The edges of a picture: those between the same two phases, of the same kind, are one.
    pub(super) fn join_parallel_edges(&self) -> Vec<GraphEdge> {
        let mut joined: Vec<GraphEdge> = Vec::new();
        for edge in &self.edges {
            let same = joined.iter_mut().find(|one| {
                (one.from, one.to, one.exception) == (edge.from, edge.to, edge.exception)
            });
            match same {
                Some(one) => one.join(edge),
                None => joined.push(edge.clone()),
            }
        }
        joined
    }

    /// Adds a run: its current phase, the transitions it took, and why the other gates are closed.
    #[must_use]
    pub fn with_run(mut self, state: &RunState, events: &[RunEvent]) -> Self {
        self.shows_run = true;
        self.title = format!("{}: run {}", self.title, state.run);
        let index = |id: &str, nodes: &[GraphNode]| nodes.iter().position(|node| node.id == id);
        for event in events {
            match event {
                RunEvent::PhaseEntered { phase } => {
                    if let Some(node) = index(phase, &self.nodes) {
                        self.nodes[node].visited = true;
                    }
                }
                RunEvent::TransitionTaken { transition, from, to, reason: because, .. } => {
                    let (Some(from), Some(to)) = (index(from, &self.nodes), index(to, &self.nodes))
                    else {
                        continue;
                    };
                    // An edge that is not a transition is identified by its two phases.
                    let drawn = transition
                        .filter(|transition| *transition < self.transitions)
                        .or_else(|| {
                            let rest = self.edges.iter().skip(self.transitions);
                            let mut ends = rest.map(|edge| (edge.from, edge.to));
                            ends.position(|ends| ends == (from, to)).map(|at| at + self.transitions)
                        });
                    match drawn {
                        Some(drawn) => self.edges[drawn].taken_count += 1,
                        None => self.edges.push(GraphEdge {
                            taken_count: 1,
                            ..GraphEdge::new(from, to, because.clone(), true)
                        }),
                    }
                }
                _ => {}
            }
        }
        if let Some(here) = index(&state.phase, &self.nodes) {
            self.nodes[here].current = true;
            self.nodes[here].visited = true;
        }
        for gate in &state.closed_gates {
            if let Some(edge) = self.edges.get_mut(gate.transition) {
                edge.closed_reason = Some(gate.reason.clone());
            }
        }
        self
    }
}

fn build_node(workflow: &WorkflowDefinition, phase: &WorkflowPhase) -> GraphNode {
    GraphNode {
        id: phase.id.clone(),
        name: phase.name.clone().filter(|name| *name != phase.id),
        work: describe_work(&phase.work),
        description: phase.description.clone(),
        terminal: workflow.ends_in(phase),
        visited: false,
        current: false,
    }
}

/// Describes the work of a phase in a few words; `None` if it has none.
#[must_use]
pub fn describe_work(work: &PhaseWork) -> Option<String> {
    match work {
        PhaseWork::None => None,
        PhaseWork::Agent(work) => Some(format!("{} → {}", work.agent.id, work.contract.id)),
        PhaseWork::Ask(questions) => {
            let documents =
                questions.iter().all(|one| matches!(one.shape, AnswerShape::Document { .. }));
            Some(match (questions.len(), documents) {
                (1, true) => "asks for a document".to_owned(),
                (1, false) => "asks a person".to_owned(),
                (several, true) => format!("asks for {several} documents"),
                (several, false) => format!("asks {several} questions"),
            })
        }
        PhaseWork::Effect { effect, .. } => Some(match effect {
            EffectTemplate::Write { .. } => "writes a file".to_owned(),
            EffectTemplate::Copy { .. } => "copies a file".to_owned(),
            EffectTemplate::Run { program, .. } => format!("runs {program}"),
            EffectTemplate::Http { method, .. } => format!("sends an HTTP request ({method})"),
            EffectTemplate::Retrieve { source, .. } if source.source().contains("{{") => {
                "retrieves from a source".to_owned()
            }
            EffectTemplate::Retrieve { source, .. } => {
                format!("retrieves from {}", source.source())
            }
        }),
        PhaseWork::Invoke(invoke) => Some(format!("runs {}", invoke.workflow)),
    }
}

/// Describes when a transition can be taken; `None` if it always can.
#[must_use]
pub fn describe_condition(transition: &WorkflowTransition) -> Option<String> {
    let after = transition.after.map(|after| format!("the approval {}", after.as_verb()));
    let gate = transition.gate.as_ref().map(describe_gate);
    match (after, gate) {
        (Some(after), Some(gate)) => Some(format!("{after}, and {gate}")),
        (after, gate) => after.or(gate),
    }
}

/// Describes a gate in a few words; prefers the author's own description. The description of a
/// manual gate is the question that is asked, a template: who approves is shorter.
fn describe_gate(gate: &TransitionGate) -> String {
    match (&gate.description, &gate.check) {
        (Some(description), check) if !matches!(check, GateCheck::Manual { .. }) => {
            description.clone()
        }
        (_, check) => describe_check(check),
    }
}

/// What is behind the short description of a gate: the check, or the question that is asked.
fn describe_behind(gate: &TransitionGate) -> Option<String> {
    let description = gate.description.as_ref()?;
    match &gate.check {
        GateCheck::Manual { .. } => Some(description.clone()),
        check => Some(describe_check(check)),
    }
}

/// Describes what a gate checks.
fn describe_check(check: &GateCheck) -> String {
    match check {
        GateCheck::Expression(expression) => expression.source().to_owned(),
        GateCheck::Status { pointer, value } => format!("{pointer} is {value}"),
        GateCheck::FileExists { path } => format!("{path} exists"),
        GateCheck::FileExistsTemplate { path } => format!("{} exists", path.source()),
        GateCheck::Manual { rules, .. } if rules.who.is_empty() => "a person approves".to_owned(),
        GateCheck::Manual { rules, .. } => format!("{} approves", format_assignees(&rules.who)),
    }
}

/// Returns where a run goes when something in a phase fails: each reason and its target phase.
fn collect_exceptions(phase: &WorkflowPhase) -> Vec<(String, String)> {
    let mut transitions = Vec::new();
    let mut add = |why: String, outcome: &FailureHandler| {
        if let Some(to) = outcome.target_phase() {
            transitions.push((why, to.to_owned()));
        }
    };
    if let Some((after, otherwise)) = &phase.timeout {
        add(format!("after {after}"), otherwise);
    }
    match &phase.work {
        PhaseWork::Agent(work) => {
            if let Some(otherwise) = &work.on_refused {
                add("when every attempt is refused".to_owned(), otherwise);
            }
        }
        PhaseWork::Ask(questions) => {
            for question in questions {
                add(format!("when {} is not answered in time", question.id), &question.on_timeout);
            }
        }
        PhaseWork::Effect { on_failed, .. } => add("when it fails".to_owned(), on_failed),
        PhaseWork::Invoke(invoke) => add("when the child run fails".to_owned(), &invoke.on_failed),
        PhaseWork::None => {}
    }
    for (name, limit) in &phase.budget.limits {
        if let Some(to) = limit.then.target_phase() {
            transitions.push((format!("when {name} is spent"), to.to_owned()));
        }
    }
    transitions
}
