//! A text as a point among others: what a model for embeddings makes of it, in whole numbers.
//!
//! Floats end here. A vector is kept as signed bytes, each beside the largest of them, and two are compared
//! by whole numbers alone, so that a score is the same on every machine and in every order of adding.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// No model has more dimensions.
pub const MAX_DIMENSIONS: usize = 8_192;

/// The value of the largest component.
const LARGEST: f64 = 127.0;

/// Two vectors that point the same way are so similar, in millionths.
const SAME: i64 = 1_000_000;

/// What an embedder made of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SerializedVector", into = "SerializedVector")]
pub struct EmbeddingVector {
    embedder: String,
    components: Vec<i8>,
}

/// Numbers that are no vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorError {
    /// Nobody made it.
    #[error("a vector must say which embedder made it")]
    Nameless,
    /// Too few or too many.
    #[error("a vector must have 1 to {MAX_DIMENSIONS} numbers, found {found}")]
    Dimensions {
        /// How many there are.
        found: usize,
    },
    /// Infinite, or no number.
    #[error("number {index} of a vector is not finite")]
    NotFinite {
        /// Which one, counted from 0.
        index: usize,
    },
    /// It points nowhere.
    #[error("every number of a vector is 0")]
    Zero,
    /// Text that stands for no bytes.
    #[error("a vector must be written in base64")]
    Unreadable,
}

/// A vector in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SerializedVector {
    embedder: String,
    body: String,
}

impl EmbeddingVector {
    /// What an embedder made, given as it came.
    ///
    /// ```
    /// use countersign_memory::Vector;
    ///
    /// let one = Vector::of("small", &[0.3, 0.4, 0.0]).unwrap();
    /// let other = Vector::of("small", &[0.6, 0.8, 0.0]).unwrap();
    /// assert_eq!(one.similarity(other.body()), 1_000_000);
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

    /// One that was kept.
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

    /// Who made it. Vectors of two embedders have nothing to do with each other.
    #[must_use]
    pub fn embedder(&self) -> &str {
        &self.embedder
    }

    /// Its numbers.
    #[must_use]
    pub fn components(&self) -> &[i8] {
        &self.components
    }

    /// How near another one of the same embedder points, from -1,000,000 (away) to 1,000,000 (the same way).
    /// One with another number of dimensions is not near at all.
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
        SerializedVector { embedder, body }: SerializedVector,
    ) -> Result<Self, VectorError> {
        let bytes = BASE64_STANDARD.decode(body).map_err(|_| VectorError::Unreadable)?;
        Self::new(embedder, decode_components(&bytes))
    }
}

impl From<EmbeddingVector> for SerializedVector {
    fn from(EmbeddingVector { embedder, components: body }: EmbeddingVector) -> Self {
        Self { embedder, body: BASE64_STANDARD.encode(encode_components(&body)) }
    }
}

/// The numbers as bytes, for a file.
pub(crate) fn encode_components(numbers: &[i8]) -> Vec<u8> {
    numbers.iter().map(|number| number.cast_unsigned()).collect()
}

/// The numbers of bytes.
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
        // A little more than √½: lengths are rounded down.
        assert_eq!(east.similarity_to(vector(&[1.0, 1.0]).components()), 707_133);
    }

    #[test]
    fn bytes_keep_what_floats_say() {
        // A thousand pseudo-random components: the error of bytes stays below a hundredth.
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
        assert_eq!(text, r#"{"embedder":"e","body":"QIEA"}"#);
        assert_eq!(serde_json::from_str::<EmbeddingVector>(&text).unwrap(), one);
        assert!(serde_json::from_str::<EmbeddingVector>(r#"{"embedder":"e","body":"*"}"#).is_err());
    }
}
