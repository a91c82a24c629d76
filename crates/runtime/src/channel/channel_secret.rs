//! Where a secret of a channel comes from, and reading it when it is needed.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// Maximum size of a file with a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 4096;

/// Where a secret comes from: a text that the settings or the environment hold, or a file.
///
/// `Debug` and every message show the source and never the text.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// The secret itself, with the place it was read from, for messages.
    Text {
        /// The text of the secret.
        text: String,
        /// Where it was read: `environment variable X`, or the key of the settings file.
        origin: String,
    },
    /// A file that is read for every delivery, so that a new secret needs no restart.
    File(PathBuf),
    /// An environment variable that is not set.
    MissingVariable(String),
}

impl SecretSource {
    /// Reads the secret. Surrounding white space does not belong to it.
    ///
    /// # Errors
    /// Returns a sentence that names the source and not its content.
    pub(super) fn load_secret(&self) -> Result<String, String> {
        let text = match self {
            Self::Text { text, .. } => text.clone(),
            Self::MissingVariable(name) => {
                return Err(format!("environment variable `{name}` is not set"));
            }
            Self::File(path) => {
                let path_text = path.display();
                let unreadable = |error: &std::io::Error| {
                    format!("the file `{path_text}` with the secret cannot be read: {error}")
                };
                let mut text = String::new();
                let file = File::open(path).map_err(|error| unreadable(&error))?;
                file.take(MAX_SECRET_BYTES + 1)
                    .read_to_string(&mut text)
                    .map_err(|error| unreadable(&error))?;
                if text.len() as u64 > MAX_SECRET_BYTES {
                    return Err(format!(
                        "the file `{path_text}` with the secret has more than {MAX_SECRET_BYTES} bytes"
                    ));
                }
                text
            }
        };
        match text.trim() {
            "" => Err(format!("the secret from {self} is empty")),
            secret => Ok(secret.to_owned()),
        }
    }
}

/// Describes the source for people: `environment variable X`, `file secrets/x`.
impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { origin, .. } => f.write_str(origin),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::MissingVariable(name) => write!(f, "environment variable {name}"),
        }
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretSource({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_shown_and_its_secret_is_not() {
        let source = SecretSource::Text {
            text: " hunter2\n".to_owned(),
            origin: "environment variable X".to_owned(),
        };
        assert_eq!(source.load_secret().unwrap(), "hunter2");
        assert_eq!(format!("{source} {source:?}").matches("hunter2").count(), 0);
        let missing = SecretSource::MissingVariable("X".to_owned());
        assert_eq!(missing.load_secret().unwrap_err(), "environment variable `X` is not set");
    }

    #[test]
    fn a_file_is_read_anew_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let source = SecretSource::File(path.clone());
        assert!(source.load_secret().unwrap_err().contains("cannot be read"));
        for text in ["first", "second"] {
            std::fs::write(&path, format!("{text}\n")).unwrap();
            assert_eq!(source.load_secret().unwrap(), text);
        }
        std::fs::write(&path, " \n").unwrap();
        assert!(source.load_secret().unwrap_err().ends_with("is empty"));
        std::fs::write(&path, "x".repeat(5000)).unwrap();
        assert!(source.load_secret().unwrap_err().ends_with("has more than 4096 bytes"));
    }
}
