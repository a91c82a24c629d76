//! Numbers within the bounds of a schema.

use serde_json::{Map, Number, Value};

use super::splitmix64::SplitMix64;

/// The bounds of a number, rounded inward to multiples of the step; both ends are included.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberBounds {
    least: Option<f64>,
    most: Option<f64>,
    step: f64,
}

impl NumberBounds {
    /// Reads the bounds from schema keywords, for integers or for any number.
    pub(super) fn from_keywords(schema: &Map<String, Value>, whole: bool) -> Self {
        let number = |keyword| schema.get(keyword).and_then(Value::as_f64);
        // A quarter is exact in binary, so bounds and steps are exact.
        let step = number("multipleOf").filter(|step| *step > 0.0).unwrap_or(if whole {
            1.0
        } else {
            0.25
        });
        let step = if whole && step.fract() != 0.0 { 1.0 } else { step };
        let above = number("exclusiveMinimum").map(|bound| (bound / step).floor() * step + step);
        let below = number("exclusiveMaximum").map(|bound| (bound / step).ceil() * step - step);
        let from = number("minimum").map(|bound| (bound / step).ceil() * step);
        let to = number("maximum").map(|bound| (bound / step).floor() * step);
        let least = [above, from].into_iter().flatten().reduce(f64::max);
        let most = [below, to].into_iter().flatten().reduce(f64::min);
        Self { least, most, step }
    }

    /// Returns the lower bound, or else the upper bound or 0, if `smallest` is set, and otherwise a
    /// random value in the range; `None` if the range is empty.
    pub(super) fn pick_value(self, random: &mut SplitMix64, smallest: bool) -> Option<Value> {
        if let (Some(least), Some(most)) = (self.least, self.most)
            && least > most
        {
            return None;
        }
        let room = match (self.least, self.most) {
            (Some(least), Some(most)) => ((most - least) / self.step).min(1000.0) as usize,
            _ => 100,
        };
        let steps = if smallest { 0.0 } else { random.next_below(room + 1) as f64 * self.step };
        to_json_number(match (self.least, self.most) {
            (Some(least), _) => least + steps,
            (None, Some(most)) => most - steps,
            (None, None) => steps,
        })
    }

    /// Returns the bounds and the values one step inside them.
    pub(super) fn boundary_values(self) -> Vec<Value> {
        let least = self.least.map(|least| [least, least + self.step]);
        let most = self.most.map(|most| [most, most - self.step]);
        let edges = least.into_iter().chain(most).flatten();
        edges.filter_map(to_json_number).collect()
    }
}

fn to_json_number(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
