//! Checks that every dependency has a licence that `deny.toml` allows.

use std::fs;

use serde_json::Value;

use crate::process;

/// Returns every package whose licence is not allowed.
pub(crate) fn run() -> Vec<String> {
    let policy =
        fs::read_to_string(process::workspace_root().join("deny.toml")).unwrap_or_default();
    let allowed = parse_allowed_licences(&policy);
    let metadata =
        process::capture_output("cargo", &["metadata", "--format-version", "1", "--locked"]);
    let Some(metadata) = metadata.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return vec!["`cargo metadata` failed".to_owned()];
    };
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| {
            !is_licence_allowed(package["license"].as_str().unwrap_or_default(), &allowed)
        })
        .map(|package| {
            format!(
                "{} has the licence {}, which deny.toml does not allow",
                package["name"], package["license"]
            )
        })
        .collect()
}

/// Parses the names in `allow = […]` of `[licenses]`.
fn parse_allowed_licences(policy: &str) -> Vec<String> {
    let list = policy.split("allow = [").nth(1).and_then(|rest| rest.split(']').next());
    let names = list.unwrap_or_default().split(',').map(|name| name.trim().trim_matches('"'));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Evaluates a licence expression: `A OR B` requires one, `A AND B` requires both; brackets group.
fn is_licence_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], "");
    if expression.is_empty() {
        return false;
    }
    expression.split(" AND ").all(|part| {
        part.split(" OR ").any(|name| allowed.iter().any(|licence| licence == name.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let allowed = parse_allowed_licences("[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n");
        assert_eq!(allowed, ["MIT", "Apache-2.0"]);
        assert!(is_licence_allowed("MIT OR AGPL-3.0", &allowed));
        assert!(is_licence_allowed("(MIT OR Unlicense) AND Apache-2.0", &allowed));
        assert!(!is_licence_allowed("AGPL-3.0", &allowed));
        assert!(!is_licence_allowed("MIT AND AGPL-3.0", &allowed));
        assert!(!is_licence_allowed("", &allowed));
    }
}
