//! Values of `protocol_index`, `workflow`, `agent` and `state`.

use countersign_shipped_contracts::protocol::agent::*;
use countersign_shipped_contracts::protocol::index::*;
use countersign_shipped_contracts::protocol::runtime_state::*;
use countersign_shipped_contracts::protocol::workflow::*;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{extra, maybe, number, object, one_of, text, texts, time};

strategy!(index: ProtocolIndex {
    name in text(0), version in text(0), description in maybe(text(0)), default_workflow in text(0), state in maybe(layout()),
    metadata in maybe(object()), extra in extra(),
});
strategy!(layout: StateLayout { format in maybe(one_of(&[StateLayoutFormat::Single, StateLayoutFormat::Multi])), extra in extra() });

strategy!(workflow: WorkflowSpec {
    id in text(0), name in maybe(text(0)), description in maybe(text(0)), include in maybe(include()),
    phases in vec(phase(), 0..3), transitions in vec(transition(), 0..3),
});

fn include() -> impl Strategy<Value = WorkflowIncludes> {
    prop_oneof![text(0).prop_map(WorkflowIncludes::One), texts().prop_map(WorkflowIncludes::Many)]
}

strategy!(phase: PhaseSpec {
    id in text(0), name in maybe(text(0)), terminal in maybe(any::<bool>()), on_enter in maybe(text(0)),
    on_exit in maybe(text(0)), extra in extra(),
});
strategy!(transition: TransitionSpec {
    from in text(0), to in text(0), priority in maybe(any::<i64>()), gate in maybe(gate()), extra in extra(),
});

fn gate() -> impl Strategy<Value = GateOrCheck> {
    let full = prop_oneof![manual(), checked(), file(), status()];
    prop_oneof![
        text(0).prop_map(GateOrCheck::Check),
        full.prop_map(|gate| GateOrCheck::Full(Box::new(gate)))
    ]
}

strategy!(manual: GateSpec {
    kind in Just(GateSpecKind::Manual), description in maybe(text(0)), check in maybe(text(0)), path in maybe(text(0)),
    field in maybe(text(0)), value in maybe(text(0)), retry in maybe(retry()), extra in extra(),
});
strategy!(checked: GateSpec {
    kind in one_of(&[GateSpecKind::Criteria, GateSpecKind::Expression]), description in maybe(text(0)), check in text(0).prop_map(Some),
    path in maybe(text(0)), field in maybe(text(0)), value in maybe(text(0)), retry in maybe(retry()), extra in extra(),
});
strategy!(file: GateSpec {
    kind in Just(GateSpecKind::FileExists), description in maybe(text(0)), check in maybe(text(0)), path in text(0).prop_map(Some),
    field in maybe(text(0)), value in maybe(text(0)), retry in maybe(retry()), extra in extra(),
});
strategy!(status: GateSpec {
    kind in Just(GateSpecKind::Status), description in maybe(text(0)), check in maybe(text(0)), path in maybe(text(0)),
    field in text(0).prop_map(Some), value in text(0).prop_map(Some), retry in maybe(retry()), extra in extra(),
});
strategy!(retry: GateRetrySpec {
    mode in maybe(one_of(&[RetryModeSpec::Fixed, RetryModeSpec::Exponential])), interval in maybe(text(0)),
    max_attempts in maybe(any::<i64>()), extra in extra(),
});

/// Agents with a model of their own, and agents that inherit one.
pub(crate) fn agent() -> impl Strategy<Value = AgentSpec> {
    prop_oneof![standalone(), overriding(), inheriting()]
}

strategy!(standalone: AgentSpec {
    id in text(0), description in text(0), base in Just(None), mode in mode(), prompt in text(0).prop_map(Some),
    model in Just(Some(ModelPolicy::Override)), model_config in named_config().prop_map(Some), tools in tools(),
    tools_list in maybe(texts()), skills in maybe(texts()), rules in maybe(texts()), extra in extra(),
});
strategy!(overriding: AgentSpec {
    id in text(0), description in text(0), base in text(0).prop_map(Some), mode in mode(), prompt in maybe(text(0)),
    model in Just(Some(ModelPolicy::Override)), model_config in named_config().prop_map(Some), tools in tools(),
    tools_list in maybe(texts()), skills in maybe(texts()), rules in maybe(texts()), extra in extra(),
});
strategy!(inheriting: AgentSpec {
    id in text(0), description in text(0), base in text(0).prop_map(Some), mode in mode(), prompt in maybe(text(0)),
    // Absent means inherit too, but only once defaults are filled in; the bare schema then asks for
    // a model.
    model in Just(Some(ModelPolicy::Inherit)), model_config in maybe(config()), tools in tools(),
    tools_list in maybe(texts()), skills in maybe(texts()), rules in maybe(texts()), extra in extra(),
});
strategy!(named_config: ModelConfig {
    name in text(0).prop_map(Some), temperature in maybe(number()), max_tokens in maybe(any::<i64>()), extra in extra(),
});
strategy!(config: ModelConfig {
    name in maybe(text(0)), temperature in maybe(number()), max_tokens in maybe(any::<i64>()), extra in extra(),
});

fn mode() -> impl Strategy<Value = Option<PromptMode>> {
    maybe(one_of(&[
        PromptMode::Append,
        PromptMode::Prepend,
        PromptMode::Replace,
        PromptMode::Patch,
    ]))
}

fn tools() -> impl Strategy<Value = Option<ToolPolicy>> {
    maybe(one_of(&[ToolPolicy::Inherit, ToolPolicy::Add, ToolPolicy::Replace]))
}

strategy!(state: RuntimeState {
    workflow in text(0), phase in text(0),
    status in one_of(&[RuntimeStatus::Running, RuntimeStatus::Waiting, RuntimeStatus::Halted, RuntimeStatus::Completed, RuntimeStatus::Failed]),
    updated_at in maybe(time()), sprint_id in maybe(text(0)), current_task_id in maybe(text(0)),
    tasks in maybe(vec(task(), 0..3)), extra in extra(),
});
strategy!(task: RuntimeTask { id in maybe(text(0)), status in maybe(text(0)), agent in maybe(text(0)), extra in extra() });
