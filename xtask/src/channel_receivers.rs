//! Third-party receivers of deliveries for tests: a library that verifies webhooks, and a mail server.

use std::path::{Path, PathBuf};

use crate::python::prepare_virtualenv;

/// The pinned verifier of the Standard Webhooks project, and a mail server.
const PACKAGES: [&str; 2] = ["standardwebhooks==1.1.0", "aiosmtpd==1.4.6"];

/// Returns the Python interpreter that has the packages from `PyPI`.
pub(crate) fn install_channel_receivers(target: &Path) -> Result<PathBuf, String> {
    prepare_virtualenv(&target.join("foreign").join("channel-receivers"), &PACKAGES)
}
