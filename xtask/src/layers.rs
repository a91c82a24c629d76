//! Layer rules: arrows point one way, and the core stands alone.

use std::fs;

use crate::process;
use crate::tidy::list_rust_files;

/// Packages that may be nowhere below a room, but where it says so.
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

/// Whom each of our own may know: of ours, and of the packages that are forbidden otherwise.
const ALLOWED_DEPENDENCIES: [(&str, &[&str], &[&str]); 10] = [
    ("countersign-core", &[], &[]),
    ("countersign-contracts", &["countersign-core"], &[]),
    // The way to a server, and no table on it. `rand` comes with PostgreSQL's log-in.
    ("countersign-postgres", &[], &["tokio", "tokio-postgres", "rand"]),
    // It keeps bytes, and needs to know nothing of what they mean.
    ("countersign-store", &[], &["tokio", "rusqlite"]),
    ("countersign-protocols", &["countersign-core"], &[]),
    // Composing and ranking are pure; its store shares a file with whoever keeps runs.
    (
        "countersign-memory",
        &["countersign-core", "countersign-contracts", "countersign-store"],
        &["tokio", "rusqlite"],
    ),
    ("countersign-models", &["countersign-core"], &["tokio", "reqwest", "hyper"]),
    // It does what was decided, and knows no command line. Contracts are below it with the memory, whose
    // packets are of one.
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
    // It looks up, and decides nothing. `rand` comes with PostgreSQL's log-in and with PDF.
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
    // It shows, and decides nothing. `rand` and `chrono` come with MCP.
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

/// What the core's own text may not name, outside tests.
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

/// Where such a word may stand all the same: `serde_json` counts bytes through the trait `Write`
/// only, and nothing is read or written there.
const IMPURITY_EXCEPTIONS: [(&str, &str); 1] = [("crates/core/src/json/measure.rs", "std::io")];

/// Every breach.
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
