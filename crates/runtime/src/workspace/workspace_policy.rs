//! The workspace as the runs of a protocol see it.

use std::path::Path;
use std::sync::Arc;

use countersign_protocol::ProtocolPolicy;
use countersign_run::{RunInputs, RunState};

use super::hidden_paths::path_components;
use super::{Workspace, WorkspacePath};

/// Returns the commands whose files no run may change.
pub(crate) type TrustedCommands = Arc<dyn Fn() -> Vec<Vec<String>> + Send + Sync>;

impl Workspace {
    /// Returns the same folder with the hidden files that a policy shows, and with the files of its
    /// programs protected: a run that could change a program could run anything.
    #[must_use]
    pub fn with_policy(&self, policy: &ProtocolPolicy) -> Self {
        let commands = policy.programs.values().map(|program| &program.command);
        let protected = commands.flat_map(|command| self.find_program_files(command));
        let hidden = self.hidden.with_policy(&policy.files, protected.collect());
        Self { hidden, ..self.clone() }
    }

    /// Returns the same folder as one run sees it: `inputs` means the documents of this run, and
    /// those of other runs are hidden.
    #[must_use]
    pub fn with_run(&self, run: &RunState) -> Self {
        let hidden = self.hidden.with_inputs(RunInputs::for_run(run));
        Self { hidden, ..self.clone() }
    }

    /// Also protects the files of these commands, whatever a policy shows, because they are
    /// programs of others. The list is requested at each write.
    #[must_use]
    pub(crate) fn with_trusted_commands(self, commands: TrustedCommands) -> Self {
        Self { trusted_commands: Some(commands), ..self }
    }

    /// Returns the words of a command that name a file of the workspace, also one that does not
    /// exist yet.
    pub(super) fn find_program_files(&self, command: &[String]) -> Vec<WorkspacePath> {
        let inside = command.iter().filter_map(|word| {
            let path = self.path().join(word);
            let names: Vec<String> =
                path_components(path.strip_prefix(self.path()).ok()?).collect();
            let resolved = WorkspacePath::parse(&names.join("/")).ok()?;
            // `clippy` is an argument; `tool.py` and `bin/tool` are files.
            let is_path = Path::new(word).extension().is_some() || word.contains('/');
            (is_path || self.root.is_file(resolved.to_path_buf())).then_some(resolved)
        });
        inside.collect()
    }
}
