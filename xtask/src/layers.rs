//! Checks the layer rules: dependencies point in one direction, and the crates that decide are pure.

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

/// For each crate: the workspace crates it may name, and the otherwise forbidden packages it may
/// use. What a named crate may depend on is allowed as well.
const ALLOWED_DEPENDENCIES: [(&str, &[&str], &[&str]); 15] = [
    ("countersign-contract", &[], &[]),
    // Reads bytes and knows nothing of runs. `rand` comes with PDF, here and below.
    ("countersign-documents", &[], &["rand"]),
    ("countersign-schema-tools", &["countersign-contract"], &[]),
    ("countersign-protocol", &["countersign-schema-tools"], &[]),
    ("countersign-run", &["countersign-protocol"], &[]),
    ("countersign-shipped-contracts", &["countersign-contract"], &[]),
    ("countersign-shipped-protocols", &["countersign-protocol"], &[]),
    // Connects to a server and defines no tables. `rand` comes with the `PostgreSQL`
    // authentication.
    ("countersign-postgres", &[], &["tokio", "tokio-postgres", "rand"]),
    // Stores bytes without knowing what they mean.
    ("countersign-store", &[], &["tokio", "rusqlite"]),
    // Composing and ranking are pure; its store shares a file with the run store.
    (
        "countersign-memory",
        &["countersign-shipped-contracts", "countersign-store"],
        &["tokio", "rusqlite"],
    ),
    ("countersign-models", &["countersign-schema-tools"], &["tokio", "reqwest", "hyper"]),
    // Executes decisions and does not know the command line. It depends on the contracts through
    // the memory, whose packets have a contract. `chrono` comes with MCP, here and below.
    (
        "countersign-runtime",
        &["countersign-run", "countersign-memory", "countersign-models", "countersign-documents"],
        &["tokio", "reqwest", "hyper", "rusqlite", "rand", "chrono"],
    ),
    // Queries sources and makes no decisions. `rand` comes with the `PostgreSQL` authentication and
    // with PDF.
    (
        "countersign-sources",
        &["countersign-runtime", "countersign-postgres"],
        &["tokio", "reqwest", "hyper", "rusqlite", "tokio-postgres", "rand", "chrono"],
    ),
    // Describes runs and makes no decisions.
    (
        "countersign-view",
        &["countersign-runtime", "countersign-shipped-protocols"],
        &["tokio", "reqwest", "hyper", "rusqlite", "rand", "chrono"],
    ),
    // Serves and makes no decisions. `rand` and `chrono` come with MCP.
    (
        "countersign-server",
        &["countersign-view"],
        &["tokio", "reqwest", "hyper", "rusqlite", "rand", "chrono"],
    ),
];

/// The crates that do no I/O and use no clock.
const PURE_CRATES: [&str; 4] = ["contract", "schema-tools", "protocol", "run"];

/// Paths that the source of a pure crate may not contain outside of tests.
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
const IMPURITY_EXCEPTIONS: [(&str, &str); 1] = [("crates/contract/src/json/measure.rs", "std::io")];

/// Returns every violation of the layer rules.
pub(crate) fn run() -> Vec<String> {
    let mut faults = Vec::new();
    for (package, _, allowed) in ALLOWED_DEPENDENCIES {
        let known = allowed_crates(package);
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
    for file in PURE_CRATES.iter().flat_map(|name| list_rust_files(&format!("crates/{name}/src"))) {
        let text = fs::read_to_string(process::workspace_root().join(&file)).unwrap_or_default();
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = shipped.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.collect::<Vec<_>>().join("\n");
        if file.contains("/tests") {
            continue;
        }
        let excepted = |word: &str| IMPURITY_EXCEPTIONS.contains(&(file.as_str(), word));
        for word in IMPURE_PATHS.iter().filter(|word| code.contains(*word) && !excepted(word)) {
            faults.push(format!("{file}: the crate must be pure, but `{word}` is not"));
        }
    }
    faults
}

/// Returns the workspace crates that a crate may depend on, directly or indirectly.
fn allowed_crates(package: &str) -> Vec<&'static str> {
    let named = ALLOWED_DEPENDENCIES.iter().find(|(name, ..)| *name == package);
    let named = named.map_or(&[][..], |(_, named, _)| named);
    named.iter().flat_map(|name| [vec![*name], allowed_crates(name)].concat()).collect()
}
