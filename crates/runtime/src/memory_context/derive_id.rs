//! Ids derived from content, so that the same content is stored once.

use countersign_contract::json::digest_json;
use serde_json::Value;

/// Number of hexadecimal digits of the digest: 80 bits, so that the chance of a collision among a
/// million ids is below one in 10^12.
const ID_HEX_DIGITS: usize = 20;

/// Derives an id from content: equal content gives an equal id.
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
