//! Objects that an expression creates: fields in JavaScript's order, with lookup by name.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_string::ExprString;
use super::expr_value::{ExprValue, compute_depth};
use super::property::parse_array_index;

/// Up to this many fields, a linear search is as fast as an index.
const FEW_FIELDS: usize = 8;

/// Object created by an expression, from an object literal or `JSON.parse`.
#[derive(Debug)]
pub struct ExprObject<'a> {
    fields: Vec<(ExprString<'a>, ExprValue<'a>)>,
    /// Position of each field by name; empty while the object has few fields.
    index_by_name: BTreeMap<ExprString<'a>, usize>,
    // Bounded, like the depth of a list.
    depth: usize,
}

impl<'a> ExprObject<'a> {
    /// Returns the fields in the order of `Object.entries`: array indices ascending, then the
    /// others in the order of the source.
    #[must_use]
    pub fn fields(&self) -> &[(ExprString<'a>, ExprValue<'a>)] {
        &self.fields
    }

    pub(super) fn get(&self, name: &str) -> Option<&ExprValue<'a>> {
        find_field(&self.fields, &self.index_by_name, name).map(|index| &self.fields[index].1)
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }
}

/// Builder for an [`ExprObject`].
#[derive(Debug, Default)]
pub(super) struct ExprObjectBuilder<'a> {
    fields: Vec<(ExprString<'a>, ExprValue<'a>)>,
    index_by_name: BTreeMap<ExprString<'a>, usize>,
}

impl<'a> ExprObjectBuilder<'a> {
    /// Sets a field; an existing field keeps its position.
    pub(super) fn set_field(
        &mut self,
        name: ExprString<'a>,
        value: ExprValue<'a>,
        budget: &mut EvalBudget,
    ) -> Result<(), UnlocatedError> {
        budget.charge_steps(1)?;
        if let Some(index) = find_field(&self.fields, &self.index_by_name, name.as_str()) {
            self.fields[index].1 = value;
            return Ok(());
        }
        // The field and its index entry.
        budget.charge_bytes(
            size_of::<(ExprString<'a>, ExprValue<'a>)>() + size_of::<(ExprString<'a>, usize)>(),
        )?;
        self.fields.push((name, value));
        let count = self.fields.len();
        if count > FEW_FIELDS {
            let unplaced = if self.index_by_name.is_empty() { 0 } else { count - 1 };
            for (at, (name, _)) in self.fields.iter().enumerate().skip(unplaced) {
                self.index_by_name.insert(name.clone(), at);
            }
        }
        Ok(())
    }

    /// Finishes the object: sorts the fields and checks its depth.
    pub(super) fn build(
        mut self,
        budget: &mut EvalBudget,
    ) -> Result<ExprValue<'a>, UnlocatedError> {
        budget.charge_bytes(size_of::<ExprObject<'a>>())?;
        let depth = compute_depth(self.fields.iter().map(|(_, value)| value))?;
        let order =
            |name: &ExprString<'a>| parse_array_index(name.as_str()).map_or(u64::MAX, u64::from);
        if !self.fields.is_sorted_by_key(|(name, _)| order(name)) {
            self.fields.sort_by_key(|(name, _)| order(name));
            for (at, (name, _)) in self.fields.iter().enumerate() {
                if let Some(index) = self.index_by_name.get_mut(name.as_str()) {
                    *index = at;
                }
            }
        }
        let Self { fields, index_by_name } = self;
        Ok(ExprValue::Object(Rc::new(ExprObject { fields, index_by_name, depth })))
    }
}

fn find_field(
    fields: &[(ExprString<'_>, ExprValue<'_>)],
    index_by_name: &BTreeMap<ExprString<'_>, usize>,
    name: &str,
) -> Option<usize> {
    if index_by_name.is_empty() {
        fields.iter().position(|(known, _)| known.as_str() == name)
    } else {
        index_by_name.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_fields_are_found_and_keep_their_order() {
        let mut budget = EvalBudget::new();
        let mut fields = ExprObjectBuilder::default();
        for round in 0..3 {
            for name in 0..40 {
                let name = if name % 2 == 0 { format!("n{name}") } else { (40 - name).to_string() };
                fields
                    .set_field(
                        ExprString::from(name),
                        ExprValue::Num(f64::from(round)),
                        &mut budget,
                    )
                    .unwrap();
            }
        }
        let ExprValue::Object(object) = fields.build(&mut budget).unwrap() else { panic!() };
        let names: Vec<&str> = object.fields().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 40);
        assert_eq!(names[..3], ["1", "3", "5"]);
        assert_eq!(names[20..23], ["n0", "n2", "n4"]);
        for name in names {
            assert!(matches!(object.get(name), Some(ExprValue::Num(2.0))), "{name}");
        }
        assert!(object.get("n1").is_none());
    }
}
