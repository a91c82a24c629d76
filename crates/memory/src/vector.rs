//! Embedding vectors with integer components.
//!
//! Floats are converted on entry. A vector is stored as signed bytes scaled to its largest
//! component, and two vectors are compared with integer arithmetic only, so a score is the same on
//! every machine and in every order of addition.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// The maximum number of dimensions of a vector.
pub const MAX_DIMENSIONS: usize = 8_192;

/// The value that the largest component is scaled to.
const LARGEST: f64 = 127.0;

/// The similarity of two vectors with the same direction, in millionths.
const SAME: i64 = 1_000_000;

/// The embedding of a text together with the name of its embedder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SerializedVector", into = "SerializedVector")]
pub struct EmbeddingVector {
    embedder: String,
    components: Vec<i8>,
}

/// Error for numbers that do not form a valid vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// The name of the embedder is empty.
    #[error("a vector must name its embedder")]
    Nameless,
    /// The number of dimensions is zero or above [`MAX_DIMENSIONS`].
    #[error("a vector must have 1 to {MAX_DIMENSIONS} numbers, found {found}")]
    Dimensions {
        /// The number of dimensions found.
        found: usize,
    },
    /// A component is infinite or NaN.
    #[error("number {index} of a vector is not finite")]
    NotFinite {
        /// The zero-based index of the first such component.
        index: usize,
    },
    /// All components are zero, so the vector has no direction.
    #[error("every number of a vector is 0")]
    Zero,
    /// The serialized components are not valid Base64.
    #[error("a vector must be written in base64")]
    Unreadable,
}

/// The serialized form of a vector.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedVector {
    embedder: String,
    components: String,
}

impl EmbeddingVector {
    /// Converts the floats that an embedder returned.
    ///
    /// ```
    /// use countersign_memory::EmbeddingVector;
    ///
    /// let one = EmbeddingVector::from_floats("small", &[0.3, 0.4, 0.0]).unwrap();
    /// let other = EmbeddingVector::from_floats("small", &[0.6, 0.8, 0.0]).unwrap();
    /// assert_eq!(one.similarity_to(other.components()), 1_000_000);
    /// ```
    pub fn from_floats(embedder: impl Into<String>, numbers: &[f32]) -> Result<Self, VectorError> {
        if let Some(place) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(VectorError::NotFinite { index: place });
        }
        let largest = numbers.iter().map(|number| f64::from(number.abs())).fold(0.0, f64::max);
        let whole = |number: &f32| (f64::from(*number) / largest * LARGEST).round() as i8;
        let body = if largest > 0.0 {
            numbers.iter().map(whole).collect()
        } else {
            vec![0; numbers.len()]
        };
        Self::new(embedder.into(), body)
    }

    /// Restores a vector from stored components.
    pub(crate) fn new(embedder: String, body: Vec<i8>) -> Result<Self, VectorError> {
        if embedder.trim().is_empty() {
            return Err(VectorError::Nameless);
        }
        if body.is_empty() || body.len() > MAX_DIMENSIONS {
            return Err(VectorError::Dimensions { found: body.len() });
        }
        if body.iter().all(|number| *number == 0) {
            return Err(VectorError::Zero);
        }
        Ok(Self { embedder, components: body })
    }

    /// Returns the name of the embedder. Vectors of different embedders are not comparable.
    #[must_use]
    pub fn embedder(&self) -> &str {
        &self.embedder
    }

    /// Returns the components, scaled so that the largest absolute value is 127.
    #[must_use]
    pub fn components(&self) -> &[i8] {
        &self.components
    }

    /// Returns the cosine similarity to another vector of the same embedder, from -1,000,000
    /// (opposite direction) to 1,000,000 (same direction). A vector with a different number of
    /// dimensions gets -1,000,000.
    #[must_use]
    pub fn similarity_to(&self, other: &[i8]) -> i64 {
        if other.len() != self.components.len() {
            return -SAME;
        }
        let (mut dot, mut own, mut its) = (0_i32, 0_i32, 0_i32);
        for (one, two) in self.components.iter().zip(other) {
            let (one, two) = (i32::from(*one), i32::from(*two));
            dot += one * two;
            own += one * one;
            its += two * two;
        }
        let length = (u64::from(own.unsigned_abs()) * u64::from(its.unsigned_abs())).isqrt();
        if length == 0 {
            return -SAME;
        }
        (i64::from(dot) * SAME / length as i64).clamp(-SAME, SAME)
    }
}

impl TryFrom<SerializedVector> for EmbeddingVector {
    type Error = VectorError;

    fn try_from(
        SerializedVector { embedder, components: body }: SerializedVector,
    ) -> Result<Self, VectorError> {
        let bytes = BASE64_STANDARD.decode(body).map_err(|_| VectorError::Unreadable)?;
        Self::new(embedder, decode_components(&bytes))
    }
}

impl From<EmbeddingVector> for SerializedVector {
    fn from(EmbeddingVector { embedder, components: body }: EmbeddingVector) -> Self {
        Self { embedder, components: BASE64_STANDARD.encode(encode_components(&body)) }
    }
}

/// Encodes components as bytes for storage.
pub(crate) fn encode_components(numbers: &[i8]) -> Vec<u8> {
    numbers.iter().map(|number| number.cast_unsigned()).collect()
}

/// Decodes stored bytes into components.
pub(crate) fn decode_components(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(numbers: &[f32]) -> EmbeddingVector {
        EmbeddingVector::from_floats("e", numbers).unwrap()
    }

    #[test]
    fn directions_are_compared_and_lengths_are_not() {
        let east = vector(&[2.0, 0.0]);
        assert_eq!(east.similarity_to(vector(&[0.01, 0.0]).components()), 1_000_000);
        assert_eq!(east.similarity_to(vector(&[-7.0, 0.0]).components()), -1_000_000);
        assert_eq!(east.similarity_to(vector(&[0.0, 1.0]).components()), 0);
        // Slightly more than √½, because lengths are rounded down.
        assert_eq!(east.similarity_to(vector(&[1.0, 1.0]).components()), 707_133);
    }

    #[test]
    fn bytes_keep_what_floats_say() {
        // With a thousand pseudo-random components, the rounding error of bytes stays below 0.01.
        let mut seed = 7_u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 8_388_608.0 - 1.0
        };
        let (one, two): (Vec<f32>, Vec<f32>) = (0..1_000).map(|_| (random(), random())).unzip();
        let mixed: Vec<f32> = one.iter().zip(&two).map(|(a, b)| a + b / 2.0).collect();
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let exact = dot(&one, &mixed) / (dot(&one, &one) * dot(&mixed, &mixed)).sqrt();
        let found = vector(&one).similarity_to(vector(&mixed).components()) as f64 / 1e6;
        assert!((exact - found).abs() < 0.01, "{exact} {found}");
    }

    #[test]
    fn the_largest_one_does_not_overflow() {
        let long = vector(&vec![1.0; MAX_DIMENSIONS]);
        assert_eq!(long.similarity_to(long.components()), 1_000_000);
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        let refused =
            |numbers: &[f32]| EmbeddingVector::from_floats("e", numbers).unwrap_err().to_string();
        assert_eq!(refused(&[]), "a vector must have 1 to 8192 numbers, found 0");
        assert_eq!(refused(&[0.0, 0.0]), "every number of a vector is 0");
        assert_eq!(refused(&[1.0, f32::NAN]), "number 1 of a vector is not finite");
        assert_eq!(EmbeddingVector::from_floats(" ", &[1.0]), Err(VectorError::Nameless));
        assert_eq!(vector(&[1.0]).similarity_to(&[1, 2]), -1_000_000);
    }

    #[test]
    fn it_is_written_and_read() {
        let one = vector(&[0.5, -1.0, 0.0]);
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(text, r#"{"embedder":"e","components":"QIEA"}"#);
        assert_eq!(serde_json::from_str::<EmbeddingVector>(&text).unwrap(), one);
        assert!(
            serde_json::from_str::<EmbeddingVector>(r#"{"embedder":"e","components":"*"}"#)
                .is_err()
        );
    }
}
