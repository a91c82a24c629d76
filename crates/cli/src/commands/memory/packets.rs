//! Policies by name or file, and builds by id.

use std::path::Path;

use countersign_core::spec::Source;
use countersign_memory::policy::{Policy, PolicyError};
use countersign_memory::store::{Build, Memory};
use countersign_memory::{Found, Scope};

use crate::exit::Error;
use crate::files;

/// A policy that ships, or that of a file.
pub(super) fn policy(named: &str) -> Result<Policy, Error> {
    if let Some(policy) = Policy::shipped(named) {
        return Ok(policy);
    }
    let path = Path::new(named);
    if !path.is_file() {
        return Err(Error::Usage(format!(
            "`--policy`: no policy `{named}`; there are `default` and `recall`, or name a file"
        )));
    }
    let text = files::text(path)?;
    Policy::parse(Source::new(named, text)).map_err(|error| match error {
        PolicyError::Unreadable(diagnostic) => Error::Author(vec![*diagnostic]),
        other => Error::Usage(format!("`--policy`: {other}")),
    })
}

/// A build of this scope, with what was found for it then.
pub(super) async fn build(
    memory: &dyn Memory,
    scope: &Scope,
    id: &str,
) -> Result<(Build, Found), Error> {
    memory.build(&scope.subject(), id).await?.ok_or_else(|| {
        Error::Usage(format!(
            "no build `{id}` of user `{}` with agent `{}`; `countersign memory compose` makes one",
            scope.user(),
            scope.agent()
        ))
    })
}
