//! Reads a password from a file in the format of `psql`: one `host:port:database:user:password` per
//! line, where `*` matches everything and `\` escapes a colon.

use std::fs;
use std::path::Path;

use crate::address::PgAddressError;

/// The connection that a password is needed for.
pub(crate) struct PassfileKey<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) database: &'a str,
    pub(crate) user: &'a str,
}

/// Finds the first password that matches. Like `psql`, refuses a file that other users may read.
pub(crate) fn find_password(
    path: &Path,
    wanted: &PassfileKey<'_>,
) -> Result<Option<String>, PgAddressError> {
    let unreadable = |why: String| PgAddressError::Passfile { path: path.to_owned(), reason: why };
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.kind().to_string()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let found = fs::metadata(path).map_err(|error| unreadable(error.kind().to_string()))?;
        if found.permissions().mode() & 0o077 != 0 {
            return Err(unreadable(
                "other users can read it; expected the permissions `0600`".to_owned(),
            ));
        }
    }
    Ok(text.lines().find_map(|line| match_line(line, wanted)))
}

fn match_line(line: &str, wanted: &PassfileKey<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = split_fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let port_wanted = wanted.port.to_string();
    let pairs = [
        (host, wanted.host),
        (port, port_wanted.as_str()),
        (database, wanted.database),
        (user, wanted.user),
    ];
    pairs.iter().all(|(said, wanted)| *said == "*" || said == wanted).then(|| password.clone())
}

fn split_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            // The password is the last field, so it may contain colons.
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(last) = fields.last_mut() {
            last.push(literal);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: PassfileKey<'_> =
        PassfileKey { host: "db", port: 5432, database: "runs", user: "cs" };

    #[test]
    fn the_first_line_that_fits_counts() {
        for (line, found) in [
            ("db:5432:runs:cs:secret", Some("secret")),
            ("*:*:*:cs:se\\:cr\\\\et", Some("se:cr\\et")),
            ("*:*:*:*:a:b", Some("a:b")),
            ("db:5433:runs:cs:secret", None),
            ("other:5432:runs:cs:secret", None),
            ("# db:5432:runs:cs:secret", None),
            ("db:5432", None),
            ("", None),
        ] {
            assert_eq!(match_line(line, &WANTED).as_deref(), found, "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pass");
        fs::write(&path, "*:*:*:*:secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let message = find_password(&path, &WANTED).unwrap_err().to_string();
        assert!(
            message.contains("other users can read it") && !message.contains("secret"),
            "{message}"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(find_password(&path, &WANTED).unwrap().as_deref(), Some("secret"));
        let gone = find_password(&folder.path().join("gone"), &WANTED).unwrap_err().to_string();
        assert!(gone.ends_with("cannot be used: entity not found"), "{gone}");
    }
}
