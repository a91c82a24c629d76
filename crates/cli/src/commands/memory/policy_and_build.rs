//! Loads policies by name or file, and builds by id.

use std::path::Path;

use countersign_contract::source::SourceFile;
use countersign_memory::policy::{MemoryPolicy, MemoryPolicyError};
use countersign_memory::store::{Memory, PacketBuild};
use countersign_memory::{Candidates, MemoryScope};

use crate::exit::CliError;
use crate::files;

/// Loads a shipped policy, or the policy in a file.
pub(super) fn load_policy(named: &str) -> Result<MemoryPolicy, CliError> {
    if let Some(policy) = MemoryPolicy::load_shipped(named) {
        return Ok(policy);
    }
    let path = Path::new(named);
    if !path.is_file() {
        return Err(CliError::Usage(format!(
            "`--policy`: unknown policy `{named}`; expected `default`, `recall`, or a file"
        )));
    }
    let text = files::read_text(path)?;
    MemoryPolicy::parse(SourceFile::new(named, text)).map_err(|error| match error {
        MemoryPolicyError::Unreadable(diagnostic) => CliError::InvalidFiles(vec![*diagnostic]),
        other => CliError::Usage(format!("`--policy`: {other}")),
    })
}

/// Loads a build of this scope with the candidates that were found for it.
pub(super) async fn load_build(
    memory: &dyn Memory,
    scope: &MemoryScope,
    id: &str,
) -> Result<(PacketBuild, Candidates), CliError> {
    memory.load_build(&scope.subject(), id).await?.ok_or_else(|| {
        CliError::Usage(format!(
            "no build `{id}` of user `{}` with agent `{}`; `countersign memory compose` creates one",
            scope.user(),
            scope.agent()
        ))
    })
}
