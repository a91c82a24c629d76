//! The registry of all MCP tools.

use std::sync::LazyLock;

use super::tool::McpTool;
use super::{inbox_tools, memory_decision_tools, memory_tools, protocol_tools, run_tools};

static TOOLS: LazyLock<Vec<McpTool>> = LazyLock::new(|| {
    let mut all = protocol_tools::build_tools();
    all.extend(run_tools::build_tools());
    all.extend(inbox_tools::build_tools());
    all.extend(memory_tools::build_tools());
    all.extend(memory_decision_tools::build_tools());
    all
});

/// Every tool, in the order of the list.
pub(super) fn tools() -> &'static [McpTool] {
    &TOOLS
}

/// Finds a tool by its name.
pub(super) fn find_tool(name: &str) -> Option<&'static McpTool> {
    tools().iter().find(|tool| tool.name() == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_tool_says_what_it_takes_gives_and_is_for() {
        let mut names = BTreeSet::new();
        for tool in tools() {
            let listed = json!(tool.to_rmcp_tool());
            let name = tool.name();
            assert!(names.insert(name), "{name} is there twice");
            assert!(listed["description"].as_str().unwrap().len() > 100, "{name}");
            for which in ["inputSchema", "outputSchema"] {
                assert_eq!(listed[which]["type"], "object", "{name} {which}");
                assert!(!listed[which].to_string().contains("$ref"), "{name} {which}");
                jsonschema::validator_for(&listed[which]).unwrap();
            }
            let members = listed["inputSchema"]["properties"].as_object().unwrap();
            for (member, schema) in members {
                let said = schema["description"].as_str().unwrap_or_default();
                assert!(!said.is_empty(), "{name}: nothing is said of `{member}`");
            }
            assert_eq!(listed["inputSchema"]["additionalProperties"], false, "{name}");
        }
        assert_eq!(names.len(), 24);
    }

    #[test]
    fn what_is_for_a_person_to_say_is_not_offered() {
        let listed = json!(find_tool("remember").unwrap().to_rmcp_tool());
        let things = &listed["inputSchema"]["properties"]["items"]["items"];
        assert_eq!(things["additionalProperties"], false);
        let members = things["properties"].as_object().unwrap();
        assert!(!members.contains_key("confirmed"), "{things}");
        for (name, schema) in members {
            assert!(schema["description"].is_string(), "nothing is said of `{name}`");
            let line = json!({"event": "x", name: Value::Null});
            let read = countersign_runtime::memory_context::MemoryInput::from_json(line);
            let unknown = read.err().is_some_and(|said| said.starts_with("unknown field"));
            assert!(!unknown, "`{name}` is read by nobody");
        }
    }

    #[test]
    fn a_type_in_a_type_is_written_out() {
        let listed = json!(find_tool("admit_text").unwrap().to_rmcp_tool());
        let intake = listed["inputSchema"]["properties"]["intake"].to_string();
        assert!(intake.contains("tolerant") && intake.contains("null"), "{intake}");
        let waits = &json!(find_tool("submit_reply").unwrap().to_rmcp_tool())["outputSchema"];
        let wait = &waits["properties"]["waits"]["items"];
        assert_eq!(wait["properties"]["question"]["type"], Value::from("string"));
    }
}
