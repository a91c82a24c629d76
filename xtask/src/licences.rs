//! Every dependency has a licence that `deny.toml` allows.

use std::fs;

use serde_json::Value;

use crate::steps;

/// Every package whose licence is not allowed.
pub(crate) fn run() -> Vec<String> {
    let policy = fs::read_to_string(steps::root().join("deny.toml")).unwrap_or_default();
    let allowed = allowed(&policy);
    let metadata = steps::output("cargo", &["metadata", "--format-version", "1", "--locked"]);
    let Some(metadata) = metadata.and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return vec!["`cargo metadata` failed".to_owned()];
    };
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| !fits(package["license"].as_str().unwrap_or_default(), &allowed))
        .map(|package| format!("{} is under {}", package["name"], package["license"]))
        .collect()
}

/// The names in `allow = […]` of `[licenses]`.
fn allowed(policy: &str) -> Vec<String> {
    let list = policy.split("allow = [").nth(1).and_then(|rest| rest.split(']').next());
    let names = list.unwrap_or_default().split(',').map(|name| name.trim().trim_matches('"'));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// `A OR B` needs one, `A AND B` needs both; brackets bind.
fn fits(expression: &str, allowed: &[String]) -> bool {
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
        let allowed = allowed("[licenses]\nallow = [\"MIT\", \"Apache-2.0\"]\n");
        assert_eq!(allowed, ["MIT", "Apache-2.0"]);
        assert!(fits("MIT OR AGPL-3.0", &allowed));
        assert!(fits("(MIT OR Unlicense) AND Apache-2.0", &allowed));
        assert!(!fits("AGPL-3.0", &allowed));
        assert!(!fits("MIT AND AGPL-3.0", &allowed));
        assert!(!fits("", &allowed));
    }
}
