//! The user, as the operating system knows them.

use countersign_run::{IdentitySource, InputSender};
use countersign_server::access::AccessRole;

/// Tells whether a user name is the one that the operating system knows this process by. Any other
/// name, such as that of `--as`, is only claimed.
pub(crate) fn identify_sender(user: &str) -> InputSender {
    match find_os_user() {
        Some((name, groups)) if name == user => InputSender {
            identity: IdentitySource::System,
            principal: None,
            groups,
            // Whoever runs commands on the files of a store owns it.
            roles: AccessRole::Admin.included_names(),
        },
        found => InputSender {
            identity: IdentitySource::Claim,
            principal: found.map(|(name, _)| name),
            groups: Vec::new(),
            roles: Vec::new(),
        },
    }
}

/// The name of the user who runs this process, and of the groups that the user belongs to.
#[cfg(unix)]
pub(crate) fn find_os_user() -> Option<(String, Vec<String>)> {
    let user = uzers::get_user_by_uid(uzers::get_effective_uid())?;
    let groups = uzers::get_user_groups(user.name(), user.primary_group_id()).unwrap_or_default();
    let name_text = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
    let groups = groups.iter().map(|group| name_text(group.name())).collect();
    Some((name_text(user.name()), groups))
}

/// Elsewhere, no name is verified.
#[cfg(not(unix))]
pub(crate) fn find_os_user() -> Option<(String, Vec<String>)> {
    None
}
