//! Ids of what is said, so that the same twice is once.

use countersign_core::json::digest_json;
use serde_json::Value;

/// How many digits of a digest are shown: 80 bits, so that no two of a million are alike but by a chance of less
/// than one in a million millions.
const ID_HEX_DIGITS: usize = 20;

/// An id of what is said: the same twice is the same id.
#[must_use]
pub fn derive_id(prefix: &str, said: &Value) -> String {
    let digest = digest_json(said);
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    format!("{prefix}-{}", &hex[..ID_HEX_DIGITS.min(hex.len())])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_has_eighty_bits_of_what_is_said() {
        let one = derive_id("e", &json!(["I am vegetarian."]));
        assert_eq!(one, derive_id("e", &json!(["I am vegetarian."])));
        assert_ne!(one, derive_id("e", &json!(["I am vegan."])));
        let hex = one.strip_prefix("e-").unwrap();
        assert_eq!((hex.len(), hex.chars().all(|digit| digit.is_ascii_hexdigit())), (20, true));
    }
}
