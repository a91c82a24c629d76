//! Ids of what is said, so that the same twice is once.

use countersign_core::json::digest;
use serde_json::Value;

/// How many digits of a digest are shown: 80 bits, so that no two of a million are alike but by a chance of less
/// than one in a million millions.
const SHOWN: usize = 20;

/// An id of what is said: the same twice is the same id.
#[must_use]
pub fn id_of(prefix: &str, said: &Value) -> String {
    let digest = digest(said);
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{prefix}-{}", &hex[..SHOWN.min(hex.len())])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_has_eighty_bits_of_what_is_said() {
        let one = id_of("e", &json!(["I am vegetarian."]));
        assert_eq!(one, id_of("e", &json!(["I am vegetarian."])));
        assert_ne!(one, id_of("e", &json!(["I am vegan."])));
        let hex = one.strip_prefix("e-").unwrap();
        assert_eq!((hex.len(), hex.chars().all(|digit| digit.is_ascii_hexdigit())), (20, true));
    }
}
