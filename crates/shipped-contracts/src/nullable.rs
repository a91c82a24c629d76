//! Deserialization helpers for cases where JSON Schema and serde differ by default: a `null` as
//! opposed to an absent field, and whole numbers written as `3.0`.
//!
//! Apart from [`Nullable`], which contract types use as a field type, everything here serves
//! `deserialize_with`.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// The value of a field that is present and may be null. An absent field is `None` in the
/// surrounding `Option`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nullable<T> {
    /// The field is `null`.
    Null,
    /// The field has a value.
    Value(T),
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Value(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

/// Preserves an explicit null. By default serde reads `null` into an `Option` as `None`, as if the
/// field were absent.
pub(crate) fn deserialize_present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// A whole number as JSON Schema defines it, so that `3.0` counts as one.
struct WholeNumber<T>(T);

macro_rules! whole {
    ($int:ty, $reader:ident, $optional:ident) => {
        impl<'de> Deserialize<'de> for WholeNumber<$int> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct WholeNumberVisitor;
                impl Visitor<'_> for WholeNumberVisitor {
                    type Value = $int;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter
                            .write_str(concat!("a whole number that fits into ", stringify!($int)))
                    }

                    fn visit_u64<E: de::Error>(self, value: u64) -> Result<$int, E> {
                        <$int>::try_from(value)
                            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
                    }

                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$int, E> {
                        <$int>::try_from(value)
                            .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
                    }

                    fn visit_f64<E: de::Error>(self, value: f64) -> Result<$int, E> {
                        let whole = value as $int;
                        // As a float, the upper bound rounds up to a power of two, which is itself
                        // out of range.
                        if whole as f64 == value && value < <$int>::MAX as f64 {
                            Ok(whole)
                        } else {
                            Err(E::invalid_value(de::Unexpected::Float(value), &self))
                        }
                    }
                }
                deserializer.deserialize_any(WholeNumberVisitor).map(Self)
            }
        }

        pub(crate) fn $reader<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<$int, D::Error> {
            WholeNumber::<$int>::deserialize(deserializer).map(|whole| whole.0)
        }

        pub(crate) fn $optional<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<$int>, D::Error> {
            $reader(deserializer).map(Some)
        }
    };
}

whole!(u64, whole_u64, optional_u64);
whole!(i64, whole_i64, optional_i64);

/// Deserializes an object whose values are whole numbers.
pub(crate) fn deserialize_counts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<crate::NamedCounts, D::Error> {
    let read = std::collections::BTreeMap::<String, WholeNumber<u64>>::deserialize(deserializer)?;
    Ok(read.into_iter().map(|(name, count)| (name, count.0)).collect())
}

/// Deserializes an optional object whose values are whole numbers.
pub(crate) fn deserialize_optional_counts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<crate::NamedCounts>, D::Error> {
    deserialize_counts(deserializer).map(Some)
}
