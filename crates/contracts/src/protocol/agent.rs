//! `agent`: an agent as its file has it, before anything of its base is merged in.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::JsonObject;
use crate::nullable::optional_i64;

/// An agent of a protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSpec {
    /// Unique in the protocol.
    pub id: String,
    /// What the agent does.
    pub description: String,
    /// The built-in agent it derives from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// How the prompt joins that of the base; `append` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PromptMode>,
    /// Needed without a base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Whether the model of the base is kept; `inherit` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelPolicy>,
    /// Needed with `override`, and then with a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_config: Option<ModelConfig>,
    /// What happens to the tools of the base; `inherit` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolPolicy>,
    /// The tools that are added, or that replace the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list: Option<Vec<String>>,
    /// The skills the agent may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// The rules that are put into its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<String>>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// How an agent's prompt joins that of its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum PromptMode {
    Append,
    Prepend,
    Replace,
    Patch,
}

/// Whether the model of the base is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ModelPolicy {
    Inherit,
    Override,
}

/// A model and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelConfig {
    /// The name of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sampling temperature, with the digits the author wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Number>,
    /// The most tokens a reply may have.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "optional_i64")]
    pub max_tokens: Option<i64>,
    /// What the schema does not name.
    #[serde(flatten)]
    pub extra: JsonObject,
}

/// What happens to the tools of the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ToolPolicy {
    Inherit,
    Add,
    Replace,
}
