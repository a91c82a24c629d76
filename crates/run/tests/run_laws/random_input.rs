//! What may come to a run: what it waits for, what it does not, and what nobody should send.

use countersign_contract::reply::FinishReason;
use countersign_protocol::{ChannelEvent, ChannelSubscription, Protocol};
use countersign_run::{
    ForkOrigin, HookAnswer, IdentitySource, InputKind, InputSender, McpToolChanges,
    McpToolDefinition, ModelReply, ParentRun, PendingAction, ReplyUsage, RunInput, RunStart,
    RunState, Timestamp,
};
use serde_json::{Value, json};
use testkit::SeededRng;

/// The next input: mostly one that fits, sometimes a stale or hostile one.
pub(crate) fn random_input(
    chance: &mut SeededRng,
    protocol: &Protocol,
    state: &RunState,
) -> RunInput {
    let pause =
        *chance.pick(&[0, 1, 1_000, 1_000, 10_000, 10_000, 60_000, 600_000, -5_000, 4_000_000]);
    let what = if state.version == 0 && chance.roll_percent(95) {
        start(chance, protocol)
    } else {
        match chance.next_below(10) {
            0..6 => wanted(chance, state).unwrap_or_else(|| person(chance, state)),
            6..8 => person(chance, state),
            8 => {
                let action = order_id(chance, state);
                result(chance, &action)
            }
            _ => start(chance, protocol),
        }
    };
    let files = if chance.roll_percent(10) { [("go".to_owned(), true)].into() } else { [].into() };
    let key = chance.roll_percent(5).then(|| "k".to_owned());
    RunInput {
        time: Timestamp(state.updated_at.0.saturating_add(pause)),
        idempotency_key: key,
        sender: chance.roll_percent(60).then(|| InputSender {
            identity: *chance.pick(&[
                IdentitySource::Key,
                IdentitySource::System,
                IdentitySource::Claim,
            ]),
            principal: chance.roll_percent(5).then(|| "bob".to_owned()),
            groups: Vec::new(),
            roles: Vec::new(),
        }),
        files,
        file_digests: [].into(),
        payload: what,
    }
}

fn start(chance: &mut SeededRng, protocol: &Protocol) -> InputKind {
    let document = match chance.next_below(6) {
        0 => Some(json!({ "query": "q", "phase": "done", "over": true })),
        1 => Some(json!([])),
        2 => Some(json!({ "meta": { "status": "x", "stage": 1 }, "items": [1], "total": 1 })),
        _ => None,
    };
    let phase = chance
        .roll_percent(10)
        .then(|| chance.pick_ref(&["review", "act", "work", "ring", "count"]).to_owned());
    let workflow = chance.pick_ref(&["main", "main", "main", "main", "child", "none"]).to_owned();
    let parent = chance.roll_percent(20).then(|| ParentRun {
        run: "r0".to_owned(),
        action: "1.1".to_owned(),
        depth: *chance.pick(&[1, 10]),
    });
    let protocol =
        if chance.roll_percent(97) { protocol.digest.clone() } else { "other".to_owned() };
    let input = match chance.next_below(8) {
        0 => Some(json!(text(chance))),
        1 => Some(json!("a title")),
        2 => Some(json!({ "note": "given", "good": "y" })),
        _ => None,
    };
    let fork = chance.roll_percent(10).then(|| ForkOrigin {
        run: "r0".to_owned(),
        version: 3,
        hash: "0".to_owned(),
    });
    let tickets = match chance.next_below(12) {
        0 => vec!["plan".to_owned()],
        1 => vec!["plan".to_owned(), "count".to_owned()],
        _ => Vec::new(),
    };
    let channels = match chance.next_below(4) {
        0 => vec![ChannelSubscription {
            channel: "ops".to_owned(),
            on: ChannelEvent::ALL.into(),
            remind_before: *chance.pick(&[None, Some(1_000), Some(50_000), Some(i64::MAX)]),
            subject: chance.roll_percent(50),
        }],
        _ => Vec::new(),
    };
    let (model, by) = (None, chance.roll_percent(50).then(|| "anna".to_owned()));
    let halted = chance.roll_percent(10).then(|| "it was halted".to_owned());
    InputKind::Start(Box::new(RunStart {
        halted,
        protocol,
        workflow,
        document,
        input,
        tickets,
        phase,
        model,
        by,
        parent,
        fork,
        channels,
        ..RunStart::default()
    }))
}

/// Something the run is waiting for.
fn wanted(chance: &mut SeededRng, state: &RunState) -> Option<InputKind> {
    let orders: Vec<&String> = state.pending.keys().collect();
    let waits: Vec<&String> = state.waits.keys().collect();
    match (orders.is_empty(), waits.is_empty()) {
        (false, true) => Some(fitting(chance, state, chance_of(&orders, state.seq))),
        (true, false) => Some(answer(chance, state, chance_of(&waits, state.seq))),
        (false, false) if chance.roll_percent(50) => {
            Some(fitting(chance, state, chance_of(&orders, state.seq)))
        }
        (false, false) => Some(answer(chance, state, chance_of(&waits, state.seq))),
        (true, true) => None,
    }
}

fn chance_of<'i>(items: &[&'i String], seed: u64) -> &'i str {
    items[seed as usize % items.len()]
}

fn fitting(chance: &mut SeededRng, state: &RunState, action: &str) -> InputKind {
    let action_id = action.to_owned();
    match state.pending.get(action) {
        Some(PendingAction::Model { .. }) if chance.roll_percent(85) => replied(chance, action),
        Some(PendingAction::Effect { .. }) if chance.roll_percent(70) => {
            InputKind::EffectFinished { action: action_id, result: value(chance) }
        }
        Some(PendingAction::Tool { .. }) => {
            let (ok, output) = (chance.roll_percent(70), text(chance));
            InputKind::ToolFinished { action: action_id, ok, output }
        }
        Some(PendingAction::ListMcpTools { .. }) if chance.roll_percent(80) => {
            listed(chance, action)
        }
        Some(PendingAction::ListMcpTools { .. }) => {
            let (failure, message) = ("away".to_owned(), text(chance));
            let retryable = chance.roll_percent(60);
            InputKind::McpToolsUnavailable { action: action_id, failure, message, retryable }
        }
        Some(PendingAction::Hook { .. }) => {
            let answer = match chance.next_below(6) {
                0 => HookAnswer::Abort { reason: text(chance) },
                1 => HookAnswer::Patch { ops: patch(chance) },
                2 => HookAnswer::Redirect {
                    to: chance.pick_ref(&["lost", "write", "no"]).to_owned(),
                },
                _ => HookAnswer::Ok,
            };
            InputKind::HookFinished { action: action_id, answer }
        }
        Some(PendingAction::Child { .. }) => {
            let (completed, reason) = (chance.roll_percent(70), None);
            InputKind::ChildEnded { action: action_id, completed, reason, document: value(chance) }
        }
        Some(PendingAction::Notify { .. }) => InputKind::Notified { action: action_id },
        Some(PendingAction::Delivery { .. }) if chance.roll_percent(70) => {
            InputKind::DeliveryFinished { action: action_id }
        }
        _ => failed(chance, state, action),
    }
}

fn failed(chance: &mut SeededRng, state: &RunState, action: &str) -> InputKind {
    let (action_id, failure, message) = (action.to_owned(), "down".to_owned(), text(chance));
    let retryable = chance.roll_percent(80);
    match state.pending.get(action) {
        Some(PendingAction::Effect { .. }) => {
            InputKind::EffectFailed { action: action_id, failure, message, retryable }
        }
        Some(PendingAction::Delivery { .. }) => {
            let retry_in = *chance.pick(&[None, Some(5_000), Some(i64::MAX), Some(i64::MIN)]);
            InputKind::DeliveryFailed { action: action_id, failure, message, retry_in }
        }
        _ => InputKind::ModelFailed {
            action: action_id,
            failure,
            message,
            retryable,
            retry_after: *chance.pick(&[None, Some(5_000), Some(i64::MAX), Some(i64::MIN)]),
            exchange: None,
        },
    }
}

/// A result of any kind for any order.
fn result(chance: &mut SeededRng, action: &str) -> InputKind {
    let action_id = action.to_owned();
    match chance.next_below(9) {
        0 => replied(chance, action),
        6 => listed(chance, action),
        7 => InputKind::DeliveryFinished { action: action_id },
        1 => InputKind::EffectFinished { action: action_id, result: value(chance) },
        2 => InputKind::ToolFinished { action: action_id, ok: true, output: text(chance) },
        3 => InputKind::HookFinished { action: action_id, answer: HookAnswer::Ok },
        4 => InputKind::Notified { action: action_id },
        5 => {
            let document = value(chance);
            InputKind::ChildEnded { action: action_id, completed: true, reason: None, document }
        }
        _ => InputKind::EffectFailed {
            action: action_id,
            failure: "down".to_owned(),
            message: text(chance),
            retryable: true,
        },
    }
}

/// What an MCP server lists: mostly the tools that the protocol names.
fn listed(chance: &mut SeededRng, action: &str) -> InputKind {
    let tool = |name: &str, input_schema: Value| {
        let description = String::new();
        McpToolDefinition { name: name.to_owned(), description, input_schema }
    };
    let add = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let mut tools = vec![tool("add", add), tool("find", json!({ "type": "object" }))];
    match chance.next_below(12) {
        0 => tools.clear(),
        1 => tools.push(tools[0].clone()),
        2 => tools.push(tool("odd", json!({ "type": 7 }))),
        3 => tools.push(tool(&text(chance), value(chance))),
        _ => {}
    }
    let changes = chance.roll_percent(20).then(|| McpToolChanges {
        run: "r0".to_owned(),
        added: vec!["find".to_owned()],
        removed: Vec::new(),
        changed: Vec::new(),
    });
    InputKind::McpToolsListed { action: action.to_owned(), tools, changes }
}

fn order_id(chance: &mut SeededRng, state: &RunState) -> String {
    let version = chance.next_between(1, state.version.max(1) as usize);
    format!("{version}.{}", chance.next_between(1, 3))
}

fn replied(chance: &mut SeededRng, action: &str) -> InputKind {
    let finish = *chance.pick(&[FinishReason::Stop, FinishReason::Stop, FinishReason::Length]);
    let tokens = *chance.pick(&[0, 0, 0, 0, 10, 10, 60, u64::MAX]);
    let usage = ReplyUsage { input_tokens: tokens, output_tokens: 1, cost: tokens };
    let reply = ModelReply {
        action: action.to_owned(),
        text: reply(chance),
        finish,
        by: "script".to_owned(),
        usage,
        response_format: None,
        exchange: None,
        packet_build: None,
        repairs: Vec::new(),
    };
    InputKind::ModelReplied(Box::new(reply))
}

fn reply(chance: &mut SeededRng) -> String {
    let note = *chance.pick(&["a", "b", "c", "much too long a note"]);
    match chance.next_below(14) {
        0 => text(chance),
        12 => json!({ "tool_calls": [
            { "tool": "aid.find", "arguments": { "q": text(chance) } },
            { "tool": "box.add", "arguments": { "n": value(chance) } },
        ] })
        .to_string(),
        13 => json!({ "tool_calls": [{ "tool": "aid.find", "arguments": {} }] }).to_string(),
        1 => String::from_utf8_lossy(&bytes(chance)).into_owned(),
        2 => json!({ "tool_calls": [{ "tool": "read", "path": "a" }, { "tool": "list" }] })
            .to_string(),
        3 => json!({ "tool_calls": [{ "tool": "search", "query": "a" }] }).to_string(),
        4 => json!({ "note": note, "patch": patch(chance) }).to_string(),
        5 | 6 => {
            let item = chance.next_below(6);
            json!({ "item": item, "total": item + chance.next_below(4) }).to_string()
        }
        7 => testkit::generate_hostile_texts(64)[chance.next_below(100)].clone(),
        _ => json!({ "note": note, "good": chance.roll_percent(60) }).to_string(),
    }
}

fn patch(chance: &mut SeededRng) -> Value {
    let pointer = |chance: &mut SeededRng| {
        *chance.pick(&[
            "/phase",
            "/status",
            "",
            "/note",
            "/list/0",
            "/list/-",
            "/free",
            "/free/x/y",
            "/meta",
            "/meta/status",
            "/meta/count",
            "/items/0",
            "/total",
            "/workflow",
            "/~",
            "x",
        ])
    };
    let op = *chance.pick(&["add", "remove", "replace", "move", "copy", "test", "none"]);
    let one = json!({ "op": op, "path": pointer(chance), "from": pointer(chance), "value": value(chance) });
    match chance.next_below(5) {
        0 => json!({ "format": "merge_patch", "ops": { "phase": 1, "free": { "a": null } } }),
        1 => one,
        2 => json!([one.clone(), one]),
        _ => json!([one]),
    }
}

fn answer(chance: &mut SeededRng, state: &RunState, wait: &str) -> InputKind {
    let shown = state.waits.get(wait).and_then(|wait| wait.subject.as_ref());
    let (wait, by) = (wait.to_owned(), by(chance));
    if chance.roll_percent(40) {
        let note = chance.roll_percent(30).then(|| text(chance));
        let approve = chance.roll_percent(94);
        let subject = match chance.next_below(10) {
            0 => None,
            1 => Some("sha256:0".to_owned()),
            _ => shown.map(|subject| subject.digest.clone()),
        };
        return InputKind::ApprovalDecided { wait, approve, by, note, subject };
    }
    if chance.roll_percent(4) {
        let to = chance.pick_ref(&["bob", "carl"]).to_owned();
        return InputKind::Delegated { wait, to, by, note: None };
    }
    let value = match chance.next_below(6) {
        0 | 1 => json!(*chance.pick(&["x", "y"])),
        2 | 3 => json!(chance.next_below(6)),
        4 => json!({ "path": "in/a.md" }),
        _ => value(chance),
    };
    InputKind::Answered { wait, value, by }
}

fn by(chance: &mut SeededRng) -> String {
    chance.pick_ref(&["anna", "anna", "anna", "anna", "bob", "carl", ""]).to_owned()
}

fn person(chance: &mut SeededRng, state: &RunState) -> InputKind {
    let (by, reason) = (by(chance), None);
    match chance.next_below(14) {
        0..5 => InputKind::Ticked,
        5..8 => InputKind::ManualPatch { text: handed_in(chance), by },
        8..11 => {
            let mut grants = std::collections::BTreeMap::new();
            if chance.roll_percent(30) {
                let name = *chance.pick(&["tokens", "loops@ask", "rework", "x", "violations"]);
                grants.insert(name.to_owned(), *chance.pick(&[0, 1, 50, u64::MAX]));
            }
            InputKind::Resumed { by, grants }
        }
        11 => InputKind::Halted { by, reason },
        12 if chance.roll_percent(4) => InputKind::Cancelled { by, reason },
        _ => answer(chance, state, &format!("w{}", state.waits_opened.saturating_sub(1))),
    }
}

fn handed_in(chance: &mut SeededRng) -> String {
    match chance.next_below(4) {
        0 => json!({ "patch": patch(chance) }).to_string(),
        1 => json!({ "merge": { "over": true, "good": true } }).to_string(),
        2 => json!({ "merge": value(chance) }).to_string(),
        _ => reply(chance),
    }
}

fn text(chance: &mut SeededRng) -> String {
    chance
        .pick_ref(&["", "Ё 谁 🙂", "no", "{", "\u{0}\u{feff}", "\"tool_calls\" {\"a\":1}"])
        .to_owned()
}

fn bytes(chance: &mut SeededRng) -> Vec<u8> {
    let length = chance.next_below(40);
    (0..length).map(|_| chance.next_u64() as u8).collect()
}

fn value(chance: &mut SeededRng) -> Value {
    match chance.next_below(8) {
        0 => Value::Null,
        1 => json!(1.5e300),
        2 => json!(text(chance)),
        3 => json!([text(chance), { "id": 1 }]),
        4 => json!({ "note": "a", "result": "r" }),
        5 => json!({ "result": [1], "phase": "done" }),
        6 => json!({ "note": "x" }),
        _ => json!(chance.next_below(9)),
    }
}
