//! Checks the commands in the documentation: the tests and benchmarks that they name exist.

use crate::process;

/// Returns every `--test` and `--bench` of a page whose file does not exist in its crate.
pub(crate) fn check_page(page: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for line in text.lines() {
        // The words after `-p countersign-…`, up to the next command.
        for command in line.split("-p countersign-").skip(1) {
            let command = command.split(['`', '&', '|']).next().unwrap_or_default();
            let mut words = command.split_whitespace();
            let Some(package) = words.next() else { continue };
            let words: Vec<&str> = words.collect();
            for pair in words.windows(2) {
                let folder = match pair[0] {
                    "--test" => "tests",
                    "--bench" => "benches",
                    _ => continue,
                };
                let target = format!("crates/{package}/{folder}/{}", pair[1]);
                let exists = |file: String| process::workspace_root().join(file).exists();
                if !exists(format!("{target}.rs")) && !exists(format!("{target}/main.rs")) {
                    faults.push(format!(
                        "{page}: `-p countersign-{package} {} {}` names no target; there is no {target}.rs",
                        pair[0], pair[1]
                    ));
                }
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_names_no_test_is_a_fault() {
        let page = "| x | `cargo test -p countersign-run --test journeys --test vanish` |\n\
                    `cargo bench -p countersign-runtime --bench steps && cargo test -p countersign-server --test http bodies`\n";
        assert_eq!(
            check_page("X.md", page),
            [
                "X.md: `-p countersign-run --test vanish` names no target; there is no crates/run/tests/vanish.rs"
            ]
        );
    }
}
