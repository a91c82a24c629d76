//! Where the documents of a run are: each run has its own folder below `inputs`, so that a document
//! that was provided for one run never answers another.
//!
//! Protocols and models write `inputs/brief.md` (or `workspace/inputs/brief.md`) and mean the
//! inputs of the run that reads the path.

use countersign_contract::json::sha256_hex;

use crate::RunState;

/// The folder of the workspace that has one folder per run.
pub const INPUTS_FOLDER: &str = "inputs";

/// The folder that the specification writes before `inputs` and `artifacts`. It means the workspace
/// itself.
const WORKSPACE_PREFIX: &str = "workspace";

/// Maximum length of a run id that names its folder unchanged, in bytes.
const MAX_PLAIN_ID_BYTES: usize = 100;

/// The folders below `inputs` that a run can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInputs {
    /// The folder that `inputs` means for the run.
    own: String,
    /// Folders that the run may also read, because its document can name files in them: those of
    /// its parent and of the run that it is forked from.
    related: Vec<String>,
}

impl RunInputs {
    /// Returns the folders of a run.
    #[must_use]
    pub fn for_run(state: &RunState) -> Self {
        let parent = state.parent.as_ref().map(|parent| parent.run.as_str());
        let origin = state.fork.as_ref().map(|fork| fork.run.as_str());
        Self {
            own: inputs_folder_name(&state.run),
            related: parent.into_iter().chain(origin).map(inputs_folder_name).collect(),
        }
    }

    /// Returns the own folder of a run, by its id.
    #[must_use]
    pub fn for_run_id(run: &str) -> Self {
        Self { own: inputs_folder_name(run), related: Vec::new() }
    }

    /// Returns the folder of the run's own documents, such as `inputs/wk3vq2`.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("{INPUTS_FOLDER}/{}", self.own)
    }

    /// Returns where the run expects a document that a protocol or a model suggests at `path`:
    /// always below [`folder`](Self::folder).
    #[must_use]
    pub fn expect_at(&self, path: &str) -> String {
        let names = split_path(path);
        let below = match &names[..] {
            [first, second, rest @ ..] if first == WORKSPACE_PREFIX && second == INPUTS_FOLDER => {
                rest
            }
            [first, rest @ ..] if first == INPUTS_FOLDER => rest,
            all => all,
        };
        let below = match below {
            [first, rest @ ..] if *first == self.own && !rest.is_empty() => rest,
            all => all,
        };
        format!("{}/{}", self.folder(), below.join("/"))
    }

    /// Returns the path that `path` means for this run: below `inputs`, the run's own folder.
    #[must_use]
    pub fn resolve_path(&self, path: &str) -> String {
        self.resolve_names(split_path(path)).join("/")
    }

    /// Returns whether a path means the same file for every run, or one that this run can reach. A
    /// path in the folder of another run does not, and neither does one directly in `inputs`.
    #[must_use]
    pub fn is_reachable(&self, path: &str) -> bool {
        self.resolve_names(split_path(path)) == split_path(path)
    }

    /// Returns the names of the path that `names` means for this run.
    #[must_use]
    pub fn resolve_names(&self, mut names: Vec<String>) -> Vec<String> {
        if matches!(&names[..], [first, second, ..]
            if first == WORKSPACE_PREFIX && (second == INPUTS_FOLDER || second == "artifacts"))
        {
            names.remove(0);
        }
        let is_inputs = names.first().is_some_and(|first| first == INPUTS_FOLDER);
        if is_inputs && !names.get(1).is_some_and(|folder| self.can_reach(folder)) {
            names.insert(1, self.own.clone());
        }
        names
    }

    /// Returns whether a path is the run's own document: below [`folder`](Self::folder).
    #[must_use]
    pub fn is_own_path(&self, path: &str) -> bool {
        path.strip_prefix(&self.folder()).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns whether the run can reach a folder of `inputs`, by its name.
    #[must_use]
    pub fn can_reach(&self, folder: &str) -> bool {
        self.own == folder || self.related.iter().any(|related| related == folder)
    }
}

/// Splits a path into its names, without the dots that mean "here".
fn split_path(path: &str) -> Vec<String> {
    path.split('/').filter(|name| *name != ".").map(str::to_owned).collect()
}

/// Returns the name of a run's folder: its id, or, if that is not a plain name on every file
/// system, a digest of it.
fn inputs_folder_name(run: &str) -> String {
    let plain = |sign: u8| {
        sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, b'-' | b'_' | b'.')
    };
    let is_plain = run.len() <= MAX_PLAIN_ID_BYTES
        && run.bytes().all(plain)
        && run.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && !run.ends_with('.');
    if is_plain { run.to_owned() } else { format!("run-{}", &sha256_hex(&[run.as_bytes()])[..32]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ForkOrigin, ParentRun};

    fn inputs(run: &str) -> RunInputs {
        RunInputs::for_run(&RunState::new(run))
    }

    #[test]
    fn a_suggested_path_is_always_below_the_folder_of_its_run() {
        let run = inputs("r1");
        for (suggested, expected) in [
            ("brief.md", "inputs/r1/brief.md"),
            ("inputs/note/style.md", "inputs/r1/note/style.md"),
            ("workspace/inputs/note/style.md", "inputs/r1/note/style.md"),
            ("./inputs/./brief.md", "inputs/r1/brief.md"),
            ("inputs/r1/brief.md", "inputs/r1/brief.md"),
            ("inputs/r2/brief.md", "inputs/r1/r2/brief.md"),
            ("inputs/r1", "inputs/r1/r1"),
            ("docs/brief.md", "inputs/r1/docs/brief.md"),
        ] {
            assert_eq!(run.expect_at(suggested), expected, "{suggested}");
            assert_eq!(run.expect_at(expected), expected, "{suggested} twice");
            assert!(run.is_own_path(expected));
            assert_ne!(run.expect_at(suggested), inputs("r2").expect_at(suggested));
        }
        assert!(!run.is_own_path("inputs/r10/brief.md"));
        assert!(!run.is_own_path("inputs/r1"));
    }

    #[test]
    fn inputs_mean_the_inputs_of_the_run_that_reads_them() {
        let run = inputs("r1");
        for (path, expected) in [
            ("inputs/brief.md", "inputs/r1/brief.md"),
            ("workspace/inputs/brief.md", "inputs/r1/brief.md"),
            ("inputs/r2/brief.md", "inputs/r1/r2/brief.md"),
            ("inputs/r1/brief.md", "inputs/r1/brief.md"),
            ("inputs", "inputs/r1"),
            ("workspace/artifacts/t1/a.md", "artifacts/t1/a.md"),
            ("workspace/src/a.md", "workspace/src/a.md"),
            ("./inputs/r2/a.md", "inputs/r1/r2/a.md"),
            ("docs/inputs/a.md", "docs/inputs/a.md"),
        ] {
            assert_eq!(run.resolve_path(path), expected, "{path}");
            assert_eq!(run.is_reachable(path), path == expected, "{path}");
        }
        let mut state = RunState::new("r3");
        state.parent =
            Some(ParentRun { run: "r1".to_owned(), action: "1.0.1".to_owned(), depth: 1 });
        state.fork = Some(ForkOrigin {
            run: "r2".to_owned(),
            version: 1,
            hash: String::new(),
            other_protocol: false,
        });
        let related = RunInputs::for_run(&state);
        for known in ["inputs/r1/a.md", "inputs/r2/a.md", "inputs/r3/a.md"] {
            assert_eq!(related.resolve_path(known), known);
        }
        assert_eq!(related.resolve_path("inputs/r4/a.md"), "inputs/r3/r4/a.md");
        assert_eq!(related.expect_at("inputs/r1/a.md"), "inputs/r3/r1/a.md");
    }

    #[test]
    fn every_id_has_a_folder_of_its_own() {
        for plain in ["wk3vq2", "r1.1-1", "key-a_b"] {
            assert_eq!(inputs_folder_name(plain), plain);
        }
        let odd = ["", ".", "..", ".git", "a/b", "a\\b", "key-A", "con.", "дело", &"x".repeat(101)];
        for id in odd {
            let name = inputs_folder_name(id);
            assert_eq!((name.len(), &name[..4]), (36, "run-"), "{id}");
        }
    }
}
