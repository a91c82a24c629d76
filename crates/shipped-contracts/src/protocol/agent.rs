//! `agent`: an agent as defined in its file, before it is merged with its base.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::JsonObject;
use crate::nullable::optional_i64;

/// An agent of a protocol, as its file defines it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSpec {
    /// The agent id; unique in the protocol.
    pub id: String,
    /// What the agent does.
    pub description: String,
    /// The built-in agent that this agent derives from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// How the prompt is combined with the prompt of the base; `append` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PromptMode>,
    /// The prompt text; required if there is no base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Whether the agent uses the model of the base; `inherit` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelPolicy>,
    /// The model settings; required with `override`, and then `name` is required too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_config: Option<ModelConfig>,
    /// How the tools are combined with the tools of the base; `inherit` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolPolicy>,
    /// The tools to add, or the tools that replace those of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list: Option<Vec<String>>,
    /// The skills that the agent may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// The rules to include in the agent's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<String>>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How an agent's prompt is combined with the prompt of its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum PromptMode {
    Append,
    Prepend,
    Replace,
    Patch,
}

/// Whether an agent uses the model of its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ModelPolicy {
    Inherit,
    Override,
}

/// A model name and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// The model name, as the provider spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sampling temperature, with the digits that the author wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Number>,
    /// The maximum number of tokens in a reply.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub max_tokens: Option<i64>,
    /// Keys that the schema does not define.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How an agent's tools are combined with the tools of its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ToolPolicy {
    Inherit,
    Add,
    Replace,
}
