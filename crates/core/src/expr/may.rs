//! Sets of values as analysis knows them: what something may be, before it exists.
//!
//! A set may hold more than there really is, never less; so "it is never this" can be trusted and
//! "it may be this" cannot.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::number::to_js_string;
use crate::limits::MAX_TOLD_VALUES;

/// What a value may be. Without anything in it, there is no such value: the way to it fails.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct May {
    /// The values that have no parts to tell apart.
    pub plain: BTreeSet<Plain>,
    /// The numbers.
    pub numbers: Numbers,
    /// The strings.
    pub texts: Texts,
    /// Lists with so few to so many elements.
    pub lists: Option<(usize, usize)>,
}

/// Values that are told apart by their kind alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plain {
    /// No value, such as a missing field.
    Undefined,
    /// `null`.
    Null,
    /// `false`.
    False,
    /// `true`.
    True,
    /// Some object.
    Object,
}

/// Some numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Numbers {
    /// None.
    #[default]
    None,
    /// These.
    OneOf(Vec<f64>),
    /// From one to another, both included. Without bounds, what is not a number counts among them.
    Between(f64, f64),
}

/// Some strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Texts {
    /// None.
    #[default]
    None,
    /// These.
    OneOf(BTreeSet<String>),
    /// Any.
    Any,
}

impl May {
    /// Whatever JSON holds.
    #[must_use]
    pub fn json() -> Self {
        use Plain::{False, Null, Object, True};
        Self {
            plain: [Null, False, True, Object].into(),
            numbers: Numbers::ANY,
            texts: Texts::Any,
            lists: Some((0, usize::MAX)),
        }
    }

    /// Whatever there is, and nothing.
    #[must_use]
    pub fn anything() -> Self {
        Self::json().or(&Self::only(Plain::Undefined))
    }

    /// One plain value.
    #[must_use]
    pub fn only(plain: Plain) -> Self {
        Self { plain: [plain].into(), ..Self::default() }
    }

    /// `true` or `false`, as far as either is said to be possible.
    #[must_use]
    pub fn truth(yes: bool, no: bool) -> Self {
        let mut plain = BTreeSet::new();
        plain.extend(yes.then_some(Plain::True));
        plain.extend(no.then_some(Plain::False));
        Self { plain, ..Self::default() }
    }

    /// Any number.
    #[must_use]
    pub fn number() -> Self {
        Self { numbers: Numbers::ANY, ..Self::default() }
    }

    /// Any string.
    #[must_use]
    pub fn text() -> Self {
        Self { texts: Texts::Any, ..Self::default() }
    }

    /// A list of so few to so many elements.
    #[must_use]
    pub fn list(least: usize, most: usize) -> Self {
        Self { lists: (least <= most).then_some((least, most)), ..Self::default() }
    }

    /// Exactly this value; of lists and objects only the kind is kept.
    #[must_use]
    pub fn value(value: &Value) -> Self {
        match value {
            Value::Null => Self::only(Plain::Null),
            Value::Bool(truth) => Self::truth(*truth, !truth),
            Value::Number(number) => Self {
                numbers: Numbers::one(number.as_f64().unwrap_or(f64::NAN)),
                ..Self::default()
            },
            Value::String(text) => {
                Self { texts: Texts::OneOf([text.clone()].into()), ..Self::default() }
            }
            Value::Array(items) => Self::list(items.len(), items.len()),
            Value::Object(_) => Self::only(Plain::Object),
        }
    }

    /// One of these values; of lists and objects only the kind is kept.
    #[must_use]
    pub fn one_of(values: &[Value]) -> Self {
        if values.len() > MAX_TOLD_VALUES {
            return Self::one_of_kinds(values);
        }
        let mut all = Self::default();
        let (mut texts, mut numbers) = (BTreeSet::new(), Vec::new());
        for value in values {
            match value {
                Value::String(text) => {
                    texts.insert(text.clone());
                }
                Value::Number(number) => numbers.extend(number.as_f64()),
                other => all = all.or(&Self::value(other)),
            }
        }
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        Self { texts: Texts::of(texts), numbers: Numbers::of(numbers), ..all }
    }

    /// Whatever is of the kind of one of these values.
    fn one_of_kinds(values: &[Value]) -> Self {
        let mut all = Self::default();
        for value in values {
            match value {
                Value::String(_) => all.texts = Texts::Any,
                Value::Number(_) => all.numbers = Numbers::ANY,
                other => all = all.or(&Self::value(other)),
            }
        }
        all
    }

    /// Whether there is no such value.
    #[must_use]
    pub fn is_never(&self) -> bool {
        *self == Self::default()
    }

    /// Whether this plain value is among them.
    #[must_use]
    pub fn has(&self, plain: Plain) -> bool {
        self.plain.contains(&plain)
    }

    /// The one or the other.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.plain.extend(&other.plain);
        self.numbers = self.numbers.or(&other.numbers);
        self.texts = match (self.texts, &other.texts) {
            (Texts::None, some) => some.clone(),
            (some, Texts::None) => some,
            (Texts::OneOf(mut left), Texts::OneOf(right)) => {
                left.extend(right.iter().cloned());
                Texts::OneOf(left)
            }
            _ => Texts::Any,
        };
        self.lists = match (self.lists, other.lists) {
            (Some(left), Some(right)) => Some((left.0.min(right.0), left.1.max(right.1))),
            (left, right) => left.or(right),
        };
        self
    }

    /// The one and the other at once.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let texts = match (&self.texts, &other.texts) {
            (Texts::None, _) | (_, Texts::None) => Texts::None,
            (Texts::Any, some) | (some, Texts::Any) => some.clone(),
            (Texts::OneOf(left), Texts::OneOf(right)) => {
                Texts::of(left.intersection(right).cloned().collect())
            }
        };
        let lists = match (self.lists, other.lists) {
            (Some(left), Some(right)) => {
                let (least, most) = (left.0.max(right.0), left.1.min(right.1));
                (least <= most).then_some((least, most))
            }
            _ => None,
        };
        Self {
            plain: self.plain.intersection(&other.plain).copied().collect(),
            numbers: self.numbers.and(&other.numbers),
            texts,
            lists,
        }
    }

    /// These without those plain values.
    #[must_use]
    pub fn without(mut self, gone: &[Plain]) -> Self {
        self.plain.retain(|plain| !gone.contains(plain));
        self
    }

    /// Those that count as true, or those that count as false.
    #[must_use]
    pub fn counting_as(&self, truth: bool) -> Self {
        let counts = |plain: &Plain| matches!(plain, Plain::True | Plain::Object) == truth;
        let texts = match &self.texts {
            Texts::OneOf(texts) => {
                Texts::of(texts.iter().filter(|text| text.is_empty() != truth).cloned().collect())
            }
            Texts::Any if !truth => Texts::of([String::new()].into()),
            other => other.clone(),
        };
        let numbers = match &self.numbers {
            Numbers::OneOf(some) => {
                let kept = |number: &&f64| (**number != 0.0 && !number.is_nan()) == truth;
                Numbers::of(some.iter().filter(kept).copied().collect())
            }
            // Zero may be among them, and what is not a number with the unbounded ones.
            Numbers::Between(low, high) if !truth && (*low > 0.0 || *high < 0.0) => Numbers::None,
            other => other.clone(),
        };
        Self {
            plain: self.plain.iter().filter(|plain| counts(plain)).copied().collect(),
            numbers,
            texts,
            lists: self.lists.filter(|_| truth),
        }
    }

    /// Whether there is just one value, and a comparison can tell it.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.single().is_some()
    }

    /// The only value there is, where there is just one that a comparison can tell.
    pub(super) fn single(&self) -> Option<Self> {
        let told = self.plain.iter().filter(|plain| **plain != Plain::Object).count();
        let numbers = match &self.numbers {
            Numbers::OneOf(some) => some.len(),
            Numbers::None => 0,
            Numbers::Between(..) => return None,
        };
        let texts = match &self.texts {
            Texts::OneOf(some) => some.len(),
            Texts::None => 0,
            Texts::Any => return None,
        };
        let compound = self.lists.is_some() || self.has(Plain::Object);
        (!compound && told + numbers + texts == 1).then(|| self.clone())
    }

    /// These without one value; sets without end stay as they are.
    pub(super) fn minus(mut self, gone: &Self) -> Self {
        self.plain.retain(|plain| *plain == Plain::Object || !gone.has(*plain));
        if let (Texts::OneOf(left), Texts::OneOf(right)) = (&self.texts, &gone.texts) {
            self.texts = Texts::of(left.difference(right).cloned().collect());
        }
        if let (Numbers::OneOf(left), Numbers::OneOf(right)) = (&self.numbers, &gone.numbers) {
            let kept = left.iter().filter(|number| !right.contains(number));
            self.numbers = Numbers::of(kept.copied().collect());
        }
        self
    }
}

impl Numbers {
    /// Any number.
    pub const ANY: Self = Self::Between(f64::NEG_INFINITY, f64::INFINITY);

    /// One number.
    #[must_use]
    pub fn one(number: f64) -> Self {
        if number.is_nan() { Self::ANY } else { Self::OneOf(vec![number]) }
    }

    fn of(some: Vec<f64>) -> Self {
        if some.is_empty() { Self::None } else { Self::OneOf(some) }
    }

    /// The least and the greatest.
    #[must_use]
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Self::None => None,
            Self::OneOf(some) => Some((
                some.iter().copied().fold(f64::INFINITY, f64::min),
                some.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            )),
            Self::Between(low, high) => Some((*low, *high)),
        }
    }

    fn or(self, other: &Self) -> Self {
        match (self, other) {
            (Self::None, some) => some.clone(),
            (some, Self::None) => some,
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

    fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => Self::None,
            (Self::OneOf(some), wide) | (wide, Self::OneOf(some)) => {
                let inside = |number: &&f64| match wide {
                    Self::OneOf(others) => others.contains(number),
                    Self::Between(low, high) => low <= *number && *number <= high,
                    Self::None => false,
                };
                Self::of(some.iter().filter(inside).copied().collect())
            }
            (Self::Between(low, high), Self::Between(from, to)) => {
                let (low, high) = (low.max(*from), high.min(*to));
                if low <= high { Self::Between(low, high) } else { Self::None }
            }
        }
    }
}

impl Texts {
    fn of(some: BTreeSet<String>) -> Self {
        if some.is_empty() { Self::None } else { Self::OneOf(some) }
    }
}

/// For people: `"running" or "waiting"`, `a number from 0 to 100`.
impl fmt::Display for May {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let mut words: Vec<String> = Vec::new();
        match &self.texts {
            Texts::None => {}
            Texts::OneOf(some) => {
                words.extend(some.iter().map(|text| Value::from(text.as_str()).to_string()));
            }
            Texts::Any => words.push("a string".to_owned()),
        }
        match &self.numbers {
            Numbers::None => {}
            Numbers::OneOf(some) => words.extend(some.iter().map(|number| to_js_string(*number))),
            Numbers::Between(low, high) => words.push(match (low.is_finite(), high.is_finite()) {
                (true, true) => {
                    format!("a number from {} to {}", to_js_string(*low), to_js_string(*high))
                }
                (true, false) => format!("a number of at least {}", to_js_string(*low)),
                (false, true) => format!("a number of at most {}", to_js_string(*high)),
                (false, false) => "a number".to_owned(),
            }),
        }
        words.extend(self.lists.map(|_| "a list".to_owned()));
        words.extend(self.plain.iter().rev().map(|plain| plain.as_str().to_owned()));
        if words.is_empty() {
            return out.write_str("nothing");
        }
        if words.len() > SHOWN {
            let more = words.len() - SHOWN;
            return write!(out, "{} or {more} more", words[..SHOWN].join(", "));
        }
        let last = words.pop().unwrap_or_default();
        if words.is_empty() {
            return out.write_str(&last);
        }
        write!(out, "{} or {last}", words.join(", "))
    }
}

impl Plain {
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

    fn of(values: &[Value]) -> May {
        values.iter().fold(May::default(), |all, value| all.or(&May::value(value)))
    }

    #[test]
    fn sets_meet_and_join() {
        let left = of(&[json!("a"), json!("b"), json!(1), json!(null)]);
        let right = of(&[json!("b"), json!("c"), json!(2), json!(null)]);
        assert_eq!(left.and(&right), of(&[json!("b"), json!(null)]));
        assert_eq!(left.and(&May::json()), left);
        assert!(May::text().and(&May::number()).is_never());
        assert_eq!(May::json().or(&left), May::json());
    }

    #[test]
    fn truth_divides_every_set() {
        let mixed = of(&[json!(""), json!("a"), json!(0), json!(2), json!(true), json!([])]);
        assert_eq!(mixed.counting_as(false), of(&[json!(""), json!(0)]));
        assert_eq!(
            mixed.counting_as(true),
            of(&[json!("a"), json!(2), json!(true)]).or(&May::list(0, 0))
        );
    }

    #[test]
    fn sets_are_told_in_words() {
        let told = |may: May| may.to_string();
        assert_eq!(told(of(&[json!("a"), json!("b")])), "\"a\" or \"b\"");
        assert_eq!(
            told(May { numbers: Numbers::Between(0.0, 5.0), ..May::default() }),
            "a number from 0 to 5"
        );
        assert_eq!(told(May::default()), "nothing");
        assert_eq!(told(May::truth(true, true)), "true or false");
    }
}
