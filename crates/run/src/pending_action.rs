//! Actions that a run has requested and that have no result yet.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::delivery::RunDelivery;
use super::effect_call::{EffectCall, ToolCall};
use super::{RunNotification, Timestamp};

/// An action that the engine requested and whose result has not arrived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PendingAction {
    /// Calls the model of the current phase.
    Model {
        /// Earliest time of the call; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// Executes an effect outside the engine.
    Effect {
        /// Number of the attempt, from 1.
        attempt: u32,
        /// The effect to execute.
        effect: EffectCall,
        /// Earliest time of execution; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
        /// The item that the effect is for; absent in a phase without `each`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Value>,
    },
    /// Executes a tool call.
    Tool {
        /// The call to execute.
        call: ToolCall,
    },
    /// Lists the tools of an MCP server.
    ListMcpTools {
        /// Name of the server in the policy.
        server: String,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// Earliest time of the request; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// Runs a hook.
    Hook {
        /// Id of the hook in the protocol.
        hook: String,
        /// Position of the transition that waits for the answer; `None` for a hook on entering a
        /// phase.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transition: Option<usize>,
    },
    /// Starts a child run.
    Child {
        /// Id of the child run.
        run: String,
        /// Id of the child's workflow.
        workflow: String,
        /// What is merged into the child's initial document.
        document: Value,
        /// Nesting depth of the child; a run without a parent has depth 0.
        depth: u32,
        /// Key that distinguishes the child's item from the other items of the phase; absent
        /// without a fan-out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The item that the child is for; absent without a fan-out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Value>,
    },
    /// Notifies another run.
    Notify {
        /// Id of the run to notify.
        run: String,
        /// The content of the notification.
        notification: RunNotification,
    },
    /// Delivers a message to a channel.
    Delivery {
        /// Number of the attempt, from 1.
        attempt: u32,
        /// What is delivered, and to which channel.
        delivery: Box<RunDelivery>,
        /// Earliest time of the attempt; absent if it may start at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
}

impl PendingAction {
    /// Whether this action only tells others what is already true. The run does not wait for it;
    /// it survives a change of the phase, a halt and the end of the run.
    #[must_use]
    pub fn is_message(&self) -> bool {
        matches!(self, Self::Notify { .. } | Self::Delivery { .. })
    }

    /// The name of this kind of action in files and output.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Effect { .. } => "effect",
            Self::Tool { .. } => "tool",
            Self::ListMcpTools { .. } => "list_mcp_tools",
            Self::Hook { .. } => "hook",
            Self::Child { .. } => "child",
            Self::Notify { .. } => "notify",
            Self::Delivery { .. } => "delivery",
        }
    }

    /// The call that the action makes, as a policy and its approvers see it: its name, and a value
    /// with `name`, `origin` (`tool` or `effect`) and the arguments. `None` for actions that are
    /// neither tool calls nor effects.
    #[must_use]
    pub fn describe_call(&self) -> Option<(String, Value)> {
        let (origin, tag, call) = match self {
            Self::Tool { call: call @ ToolCall::Mcp { server, name, arguments } } => {
                let (name, tool) = (call.name().into_owned(), name);
                let call = json!({
                    "name": name, "origin": "tool", "server": server, "tool": tool, "arguments": arguments,
                });
                return Some((name, call));
            }
            Self::Tool { call } => ("tool", "tool", serde_json::to_value(call)),
            Self::Effect { effect, .. } => ("effect", "effect", serde_json::to_value(effect)),
            _ => return None,
        };
        let Ok(Value::Object(mut members)) = call else { return None };
        let name = members.remove(tag)?.as_str()?.to_owned();
        members.insert("name".to_owned(), Value::String(name.clone()));
        members.insert("origin".to_owned(), Value::String(origin.to_owned()));
        Some((name, Value::Object(members)))
    }

    /// Earliest time of execution; `None` if the action may start at once.
    #[must_use]
    pub fn not_before(&self) -> Option<Timestamp> {
        match self {
            Self::Model { not_before }
            | Self::Effect { not_before, .. }
            | Self::ListMcpTools { not_before, .. }
            | Self::Delivery { not_before, .. } => *not_before,
            _ => None,
        }
    }
}
