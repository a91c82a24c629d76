//! Abstract values: sets of possible values for static analysis.
//!
//! A set may contain more values than can really occur, but never fewer. So "this value never
//! occurs" is reliable, and "this value may occur" is not.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::js_number::to_js_string;
use crate::limits::MAX_ANALYZED_ENUM_VALUES;

/// Set of possible values. The empty set means that evaluation fails before it produces a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AbstractValue {
    /// Possible values that are distinguished only by type.
    pub plain_values: BTreeSet<PlainValue>,
    /// Possible numbers, `NumberSet::Empty` if none.
    pub numbers: NumberSet,
    /// Possible strings, `StringSet::Empty` if none.
    pub strings: StringSet,
    /// Minimum and maximum length of possible lists; `None` if the value is never a list.
    pub list_lengths: Option<(usize, usize)>,
}

/// Values that the analysis distinguishes only by type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlainValue {
    /// No value, such as a missing field.
    Undefined,
    /// The value `null`.
    Null,
    /// The value `false`.
    False,
    /// The value `true`.
    True,
    /// Any object, whatever its fields.
    Object,
}

/// Set of possible numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum NumberSet {
    /// No number is possible.
    #[default]
    Empty,
    /// One of these numbers.
    OneOf(Vec<f64>),
    /// A range with both bounds included. The range without bounds also includes NaN.
    Between(f64, f64),
}

/// Set of possible strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StringSet {
    /// No string is possible.
    #[default]
    Empty,
    /// One of these strings.
    OneOf(BTreeSet<String>),
    /// Any string is possible.
    Any,
}

impl AbstractValue {
    /// Returns the set of all JSON values.
    #[must_use]
    pub fn any_json() -> Self {
        use PlainValue::{False, Null, Object, True};
        Self {
            plain_values: [Null, False, True, Object].into(),
            numbers: NumberSet::ANY,
            strings: StringSet::Any,
            list_lengths: Some((0, usize::MAX)),
        }
    }

    /// Returns the set of all values, including undefined.
    #[must_use]
    pub fn any() -> Self {
        Self::any_json().union(&Self::from_plain(PlainValue::Undefined))
    }

    /// Returns the set with this one plain value.
    #[must_use]
    pub fn from_plain(plain: PlainValue) -> Self {
        Self { plain_values: [plain].into(), ..Self::default() }
    }

    /// Returns the set with `true` if `yes` is set, and with `false` if `no` is set.
    #[must_use]
    pub fn from_booleans(yes: bool, no: bool) -> Self {
        let mut plain_values = BTreeSet::new();
        plain_values.extend(yes.then_some(PlainValue::True));
        plain_values.extend(no.then_some(PlainValue::False));
        Self { plain_values, ..Self::default() }
    }

    /// Returns the set of all numbers.
    #[must_use]
    pub fn any_number() -> Self {
        Self { numbers: NumberSet::ANY, ..Self::default() }
    }

    /// Returns the set of all strings.
    #[must_use]
    pub fn any_string() -> Self {
        Self { strings: StringSet::Any, ..Self::default() }
    }

    /// Returns the set of all lists with `least` to `most` elements; empty if `least` is larger.
    #[must_use]
    pub fn list_of_length(least: usize, most: usize) -> Self {
        Self { list_lengths: (least <= most).then_some((least, most)), ..Self::default() }
    }

    /// Returns the set with exactly this value. Of a list only the length is kept, of an object
    /// only the type.
    #[must_use]
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::Null => Self::from_plain(PlainValue::Null),
            Value::Bool(truth) => Self::from_booleans(*truth, !truth),
            Value::Number(number) => Self {
                numbers: NumberSet::from_number(number.as_f64().unwrap_or(f64::NAN)),
                ..Self::default()
            },
            Value::String(text) => {
                Self { strings: StringSet::OneOf([text.clone()].into()), ..Self::default() }
            }
            Value::Array(items) => Self::list_of_length(items.len(), items.len()),
            Value::Object(_) => Self::from_plain(PlainValue::Object),
        }
    }

    /// Returns the set of these values. Of a list only the length is kept, of an object only the
    /// type; of more than [`MAX_ANALYZED_ENUM_VALUES`] values only their types.
    #[must_use]
    pub fn from_json_values(values: &[Value]) -> Self {
        if values.len() > MAX_ANALYZED_ENUM_VALUES {
            return Self::from_json_kinds(values);
        }
        let mut all = Self::default();
        let (mut texts, mut numbers) = (BTreeSet::new(), Vec::new());
        for value in values {
            match value {
                Value::String(text) => {
                    texts.insert(text.clone());
                }
                Value::Number(number) => numbers.extend(number.as_f64()),
                other => all = all.union(&Self::from_json(other)),
            }
        }
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        Self {
            strings: StringSet::from_strings(texts),
            numbers: NumberSet::from_numbers(numbers),
            ..all
        }
    }

    /// Returns the set of all values that have the same type as one of these values.
    fn from_json_kinds(values: &[Value]) -> Self {
        let mut all = Self::default();
        for value in values {
            match value {
                Value::String(_) => all.strings = StringSet::Any,
                Value::Number(_) => all.numbers = NumberSet::ANY,
                other => all = all.union(&Self::from_json(other)),
            }
        }
        all
    }

    /// Returns whether the set is empty, so that no value is possible.
    #[must_use]
    pub fn is_never(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the set contains this plain value.
    #[must_use]
    pub fn has_plain(&self, plain: PlainValue) -> bool {
        self.plain_values.contains(&plain)
    }

    /// Returns the values that are in either set.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.plain_values.extend(&other.plain_values);
        self.numbers = self.numbers.union(&other.numbers);
        self.strings = match (self.strings, &other.strings) {
            (StringSet::Empty, some) => some.clone(),
            (some, StringSet::Empty) => some,
            (StringSet::OneOf(mut left), StringSet::OneOf(right)) => {
                left.extend(right.iter().cloned());
                StringSet::OneOf(left)
            }
            _ => StringSet::Any,
        };
        self.list_lengths = match (self.list_lengths, other.list_lengths) {
            (Some(left), Some(right)) => Some((left.0.min(right.0), left.1.max(right.1))),
            (left, right) => left.or(right),
        };
        self
    }

    /// Returns the values that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let texts = match (&self.strings, &other.strings) {
            (StringSet::Empty, _) | (_, StringSet::Empty) => StringSet::Empty,
            (StringSet::Any, some) | (some, StringSet::Any) => some.clone(),
            (StringSet::OneOf(left), StringSet::OneOf(right)) => {
                StringSet::from_strings(left.intersection(right).cloned().collect())
            }
        };
        let lists = match (self.list_lengths, other.list_lengths) {
            (Some(left), Some(right)) => {
                let (least, most) = (left.0.max(right.0), left.1.min(right.1));
                (least <= most).then_some((least, most))
            }
            _ => None,
        };
        Self {
            plain_values: self.plain_values.intersection(&other.plain_values).copied().collect(),
            numbers: self.numbers.intersection(&other.numbers),
            strings: texts,
            list_lengths: lists,
        }
    }

    /// Returns the set without these plain values.
    #[must_use]
    pub fn without_plain(mut self, gone: &[PlainValue]) -> Self {
        self.plain_values.retain(|plain| !gone.contains(plain));
        self
    }

    /// Returns the values that are truthy, or those that are falsy.
    #[must_use]
    pub fn filter_truthiness(&self, truth: bool) -> Self {
        let counts =
            |plain: &PlainValue| matches!(plain, PlainValue::True | PlainValue::Object) == truth;
        let texts = match &self.strings {
            StringSet::OneOf(texts) => StringSet::from_strings(
                texts.iter().filter(|text| text.is_empty() != truth).cloned().collect(),
            ),
            StringSet::Any if !truth => StringSet::from_strings([String::new()].into()),
            other => other.clone(),
        };
        let numbers = match &self.numbers {
            NumberSet::OneOf(some) => {
                let kept = |number: &&f64| (**number != 0.0 && !number.is_nan()) == truth;
                NumberSet::from_numbers(some.iter().filter(kept).copied().collect())
            }
            // A range may contain zero, and the unbounded range contains NaN.
            NumberSet::Between(low, high) if !truth && (*low > 0.0 || *high < 0.0) => {
                NumberSet::Empty
            }
            other => other.clone(),
        };
        Self {
            plain_values: self.plain_values.iter().filter(|plain| counts(plain)).copied().collect(),
            numbers,
            strings: texts,
            list_lengths: self.list_lengths.filter(|_| truth),
        }
    }

    /// Returns whether the set has exactly one value that a comparison can identify.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.as_single().is_some()
    }

    /// Returns the set if it has exactly one value that a comparison can identify. Lists and
    /// objects cannot be identified.
    pub(super) fn as_single(&self) -> Option<Self> {
        let count = self.plain_values.iter().filter(|plain| **plain != PlainValue::Object).count();
        let numbers = match &self.numbers {
            NumberSet::OneOf(some) => some.len(),
            NumberSet::Empty => 0,
            NumberSet::Between(..) => return None,
        };
        let texts = match &self.strings {
            StringSet::OneOf(some) => some.len(),
            StringSet::Empty => 0,
            StringSet::Any => return None,
        };
        let compound = self.list_lengths.is_some() || self.has_plain(PlainValue::Object);
        (!compound && count + numbers + texts == 1).then(|| self.clone())
    }

    /// Returns the set without one value; infinite sets stay unchanged.
    pub(super) fn without_single(mut self, gone: &Self) -> Self {
        self.plain_values.retain(|plain| *plain == PlainValue::Object || !gone.has_plain(*plain));
        if let (StringSet::OneOf(left), StringSet::OneOf(right)) = (&self.strings, &gone.strings) {
            self.strings = StringSet::from_strings(left.difference(right).cloned().collect());
        }
        if let (NumberSet::OneOf(left), NumberSet::OneOf(right)) = (&self.numbers, &gone.numbers) {
            let kept = left.iter().filter(|number| !right.contains(number));
            self.numbers = NumberSet::from_numbers(kept.copied().collect());
        }
        self
    }
}

impl NumberSet {
    /// All numbers, including NaN.
    pub const ANY: Self = Self::Between(f64::NEG_INFINITY, f64::INFINITY);

    /// Returns the set with this one number.
    #[must_use]
    pub fn from_number(number: f64) -> Self {
        if number.is_nan() { Self::ANY } else { Self::OneOf(vec![number]) }
    }

    fn from_numbers(some: Vec<f64>) -> Self {
        if some.is_empty() { Self::Empty } else { Self::OneOf(some) }
    }

    /// Returns the least and the greatest number; `None` if the set is empty.
    #[must_use]
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::Empty => None,
            Self::OneOf(some) => Some((
                some.iter().copied().fold(f64::INFINITY, f64::min),
                some.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )),
            Self::Between(low, high) => Some((*low, *high)),
        }
    }

    fn union(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Empty, some) => some.clone(),
            (some, Self::Empty) => some,
            (Self::OneOf(mut left), Self::OneOf(right)) => {
                left.extend(right);
                left.sort_by(f64::total_cmp);
                left.dedup();
                Self::OneOf(left)
            }
            (left, right) => match (left.bounds(), right.bounds()) {
                (Some(left), Some(right)) => {
                    Self::Between(left.0.min(right.0), left.1.max(right.1))
                }
                _ => Self::ANY,
            },
        }
    }

    fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Empty, _) | (_, Self::Empty) => Self::Empty,
            (Self::OneOf(some), wide) | (wide, Self::OneOf(some)) => {
                let inside = |number: &&f64| match wide {
                    Self::OneOf(others) => others.contains(number),
                    Self::Between(low, high) => low <= *number && *number <= high,
                    Self::Empty => false,
                };
                Self::from_numbers(some.iter().filter(inside).copied().collect())
            }
            (Self::Between(low, high), Self::Between(from, to)) => {
                let (low, high) = (low.max(*from), high.min(*to));
                if low <= high { Self::Between(low, high) } else { Self::Empty }
            }
        }
    }
}

impl StringSet {
    fn from_strings(some: BTreeSet<String>) -> Self {
        if some.is_empty() { Self::Empty } else { Self::OneOf(some) }
    }
}

/// Formats the set for people: `"running" or "waiting"`, `a number from 0 to 100`.
impl fmt::Display for AbstractValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_SHOWN_VALUES: usize = 8;
        let mut words: Vec<String> = Vec::new();
        match &self.strings {
            StringSet::Empty => {}
            StringSet::OneOf(some) => {
                words.extend(some.iter().map(|text| Value::from(text.as_str()).to_string()));
            }
            StringSet::Any => words.push("a string".to_owned()),
        }
        match &self.numbers {
            NumberSet::Empty => {}
            NumberSet::OneOf(some) => words.extend(some.iter().map(|number| to_js_string(*number))),
            NumberSet::Between(low, high) => {
                words.push(match (low.is_finite(), high.is_finite()) {
                    (true, true) => {
                        format!("a number from {} to {}", to_js_string(*low), to_js_string(*high))
                    }
                    (true, false) => format!("a number of at least {}", to_js_string(*low)),
                    (false, true) => format!("a number of at most {}", to_js_string(*high)),
                    (false, false) => "a number".to_owned(),
                });
            }
        }
        words.extend(self.list_lengths.map(|_| "a list".to_owned()));
        words.extend(self.plain_values.iter().rev().map(|plain| plain.as_str().to_owned()));
        if words.is_empty() {
            return out.write_str("nothing");
        }
        if words.len() > MAX_SHOWN_VALUES {
            let more = words.len() - MAX_SHOWN_VALUES;
            return write!(out, "{} or {more} more", words[..MAX_SHOWN_VALUES].join(", "));
        }
        let last = words.pop().unwrap_or_default();
        if words.is_empty() {
            return out.write_str(&last);
        }
        write!(out, "{} or {last}", words.join(", "))
    }
}

impl PlainValue {
    fn as_str(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::False => "false",
            Self::True => "true",
            Self::Object => "an object",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(values: &[Value]) -> AbstractValue {
        values.iter().fold(AbstractValue::default(), |all, value| {
            all.union(&AbstractValue::from_json(value))
        })
    }

    #[test]
    fn sets_meet_and_join() {
        let left = of(&[json!("a"), json!("b"), json!(1), json!(null)]);
        let right = of(&[json!("b"), json!("c"), json!(2), json!(null)]);
        assert_eq!(left.intersection(&right), of(&[json!("b"), json!(null)]));
        assert_eq!(left.intersection(&AbstractValue::any_json()), left);
        assert!(AbstractValue::any_string().intersection(&AbstractValue::any_number()).is_never());
        assert_eq!(AbstractValue::any_json().union(&left), AbstractValue::any_json());
    }

    #[test]
    fn truth_divides_every_set() {
        let mixed = of(&[json!(""), json!("a"), json!(0), json!(2), json!(true), json!([])]);
        assert_eq!(mixed.filter_truthiness(false), of(&[json!(""), json!(0)]));
        assert_eq!(
            mixed.filter_truthiness(true),
            of(&[json!("a"), json!(2), json!(true)]).union(&AbstractValue::list_of_length(0, 0))
        );
    }

    #[test]
    fn sets_are_told_in_words() {
        let text = |may: AbstractValue| may.to_string();
        assert_eq!(text(of(&[json!("a"), json!("b")])), "\"a\" or \"b\"");
        assert_eq!(
            text(AbstractValue {
                numbers: NumberSet::Between(0.0, 5.0),
                ..AbstractValue::default()
            }),
            "a number from 0 to 5"
        );
        assert_eq!(text(AbstractValue::default()), "nothing");
        assert_eq!(text(AbstractValue::from_booleans(true, true)), "true or false");
    }
}
