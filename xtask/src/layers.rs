//! Checks the layer rules: dependencies point in one direction, and the core depends on no other
//! crate of the workspace.

use std::fs;

use crate::process;
use crate::tidy::list_rust_files;

/// Packages that no crate may depend on, directly or indirectly, unless an exception below allows
/// it.
const FORBIDDEN_PACKAGES: [&str; 10] = [
    "tokio",
    "async-std",
    "smol",
    "reqwest",
    "hyper",
    "rusqlite",
    "tokio-postgres",
    "rand",
    "chrono",
    "ureq",
];

/// For each crate: the workspace crates it may depend on, and the otherwise forbidden packages it
/// may use.
const ALLOWED_DEPENDENCIES: [(&str, &[&str], &[&str]); 10] = [
    ("countersign-core", &[], &[]),
    ("countersign-contracts", &["countersign-core"], &[]),
    // Connects to a server and defines no tables. `rand` comes with the `PostgreSQL`
    // authentication.
    ("countersign-postgres", &[], &["tokio", "tokio-postgres", "rand"]),
    // Stores bytes without knowing what they mean.
    ("countersign-store", &[], &["tokio", "rusqlite"]),
    ("countersign-protocols", &["countersign-core"], &[]),
    // Composing and ranking are pure; its store shares a file with the run store.
    (
        "countersign-memory",
        &["countersign-core", "countersign-contracts", "countersign-store"],
        &["tokio", "rusqlite"],
    ),
    ("countersign-models", &["countersign-core"], &["tokio", "reqwest", "hyper"]),
    // Executes decisions and does not know the command line. It depends on the contracts through
    // the memory, whose packets have a contract.
    (
        "countersign-runtime",
        &[
            "countersign-core",
            "countersign-contracts",
            "countersign-memory",
            "countersign-models",
            "countersign-store",
        ],
        &["tokio", "reqwest", "hyper", "rusqlite"],
    ),
    // Queries sources and makes no decisions. `rand` comes with the `PostgreSQL` authentication and
    // with PDF.
    (
        "countersign-sources",
        &[
            "countersign-core",
            "countersign-contracts",
            "countersign-memory",
            "countersign-models",
            "countersign-postgres",
            "countersign-store",
            "countersign-runtime",
        ],
        &["tokio", "reqwest", "hyper", "rusqlite", "tokio-postgres", "rand"],
    ),
    // Presents runs and makes no decisions. `rand` and `chrono` come with MCP.
    (
        "countersign-server",
        &[
            "countersign-core",
            "countersign-contracts",
            "countersign-memory",
            "countersign-models",
            "countersign-store",
            "countersign-runtime",
            "countersign-protocols",
        ],
        &["tokio", "reqwest", "hyper", "rusqlite", "rand", "chrono"],
    ),
];

/// Paths that the core's source may not contain outside of tests.
const IMPURE_PATHS: [&str; 9] = [
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "std::time",
    "std::io",
    "async fn",
    "HashMap",
];

/// Exceptions to the forbidden paths: `serde_json` counts bytes only through the trait `Write`, and
/// nothing is read or written there.
const IMPURITY_EXCEPTIONS: [(&str, &str); 1] = [("crates/core/src/json/measure.rs", "std::io")];

/// Returns every violation of the layer rules.
pub(crate) fn run() -> Vec<String> {
    let mut faults = Vec::new();
    for (package, known, allowed) in ALLOWED_DEPENDENCIES {
        let arguments =
            ["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--locked"];
        let Some(tree) = process::capture_output("cargo", &arguments) else {
            faults.push(format!("`cargo tree --package {package}` failed"));
            continue;
        };
        for name in tree.lines().filter_map(|line| line.split(' ').next()) {
            let ours = name.starts_with("countersign") && name != package && !known.contains(&name);
            if ours || (FORBIDDEN_PACKAGES.contains(&name) && !allowed.contains(&name)) {
                faults.push(format!("{package} must not depend on {name}"));
            }
        }
    }
    for file in list_rust_files("crates/core/src") {
        let text = fs::read_to_string(process::workspace_root().join(&file)).unwrap_or_default();
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = shipped.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.collect::<Vec<_>>().join("\n");
        if file.contains("/tests") {
            continue;
        }
        let excepted = |word: &str| IMPURITY_EXCEPTIONS.contains(&(file.as_str(), word));
        for word in IMPURE_PATHS.iter().filter(|word| code.contains(*word) && !excepted(word)) {
            faults.push(format!("{file}: the core is pure, and `{word}` is not"));
        }
    }
    faults
}
