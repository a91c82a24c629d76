//! A third-party reader of Word documents for tests, from `PyPI`.

use std::path::{Path, PathBuf};

use crate::python::prepare_virtualenv;

/// The pinned reader.
const PACKAGES: [&str; 1] = ["python-docx==1.2.0"];

/// Returns the Python interpreter that has the reader.
pub(crate) fn install_docx_reader(target: &Path) -> Result<PathBuf, String> {
    prepare_virtualenv(&target.join("foreign").join("docx"), &PACKAGES)
}
