//! A third-party YAML parser and JSON Schema validator for tests of the shipped files.

use std::path::{Path, PathBuf};

use crate::python::prepare_virtualenv;

/// The pinned parser and validator.
const PACKAGES: [&str; 2] = ["PyYAML==6.0.3", "jsonschema==4.26.0"];

/// Returns the Python interpreter that has the packages from `PyPI`.
pub(crate) fn install_yaml_reader(target: &Path) -> Result<PathBuf, String> {
    prepare_virtualenv(&target.join("foreign").join("yaml-reader"), &PACKAGES)
}
