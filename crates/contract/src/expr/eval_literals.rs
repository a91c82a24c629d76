//! Evaluates array and object literals, and `Text.matches` with its precompiled pattern.

use regex::Regex;

use super::ast::{ArrayLiteralItem, ExprNode, ObjectLiteralEntry};
use super::coerce::to_expr_string;
use super::eval::{EvalResult, ExprEvaluator, locate_error};
use super::expr_error::{BoxedEvalError, UnlocatedError};
use super::expr_object::ExprObjectBuilder;
use super::expr_string::ExprString;
use super::expr_value::{ArrayElements, ExprValue};
use super::methods::array_methods::append_elements;

impl<'a> ExprEvaluator<'_, 'a> {
    #[inline(never)]
    pub(super) fn eval_array(
        &mut self,
        node: &ExprNode,
        parts: &[ArrayLiteralItem],
    ) -> EvalResult<'a> {
        let mut items = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                ArrayLiteralItem::Element(item) => items.push(self.eval(item)?),
                ArrayLiteralItem::Spread(list) => self.spread_list(list, &mut items)?,
            }
        }
        ExprValue::new_list(items, &mut self.budget).map_err(|fault| locate_error(node, fault))
    }

    fn spread_list(
        &mut self,
        node: &ExprNode,
        items: &mut Vec<ExprValue<'a>>,
    ) -> Result<(), BoxedEvalError> {
        let value = self.eval(node)?;
        self.append_elements(&value, items).map_err(|fault| locate_error(node, fault))
    }

    fn append_elements(
        &mut self,
        value: &ExprValue<'a>,
        items: &mut Vec<ExprValue<'a>>,
    ) -> Result<(), UnlocatedError> {
        if let Some(elements) = ArrayElements::from_value(value) {
            return append_elements(&elements, items, &mut self.budget);
        }
        let ExprValue::Str(text) = value else {
            let found = value.describe();
            return Err(UnlocatedError::new(format!("`...` needs an array here, found {found}")));
        };
        // A string is spread into whole characters, not code units.
        for (at, character) in text.as_str().char_indices() {
            self.budget.charge_steps(1)?;
            self.budget.charge_bytes(size_of::<ExprValue<'a>>())?;
            let part = text.slice(at..at + character.len_utf8(), &mut self.budget)?;
            items.push(ExprValue::Str(part));
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn eval_object(
        &mut self,
        node: &ExprNode,
        entries: &[ObjectLiteralEntry],
    ) -> EvalResult<'a> {
        let mut fields = ExprObjectBuilder::default();
        for entry in entries {
            let (name, value) = match entry {
                ObjectLiteralEntry::Named(name, value) => (ExprString::Shared(name.clone()), value),
                ObjectLiteralEntry::Computed(key, value) => {
                    let found = self.eval(key)?;
                    let name = to_expr_string(&found, &mut self.budget);
                    (name.map_err(|fault| locate_error(key, fault))?, value)
                }
                ObjectLiteralEntry::Spread(from) => {
                    let value = self.eval(from)?;
                    self.spread_fields(&value, &mut fields)
                        .map_err(|fault| locate_error(from, fault))?;
                    continue;
                }
            };
            let value = self.eval(value)?;
            fields
                .set_field(name, value, &mut self.budget)
                .map_err(|fault| locate_error(node, fault))?;
        }
        fields.build(&mut self.budget).map_err(|fault| locate_error(node, fault))
    }

    /// Adds the own fields of an object or the elements of an array. `null`, booleans and numbers
    /// add nothing. A string is an error: spreading it into code units is never intended.
    fn spread_fields(
        &mut self,
        value: &ExprValue<'a>,
        fields: &mut ExprObjectBuilder<'a>,
    ) -> Result<(), UnlocatedError> {
        if let Some(map) = value.as_object() {
            for (name, value) in map {
                fields.set_field(
                    ExprString::Borrowed(name),
                    ExprValue::from_json(value),
                    &mut self.budget,
                )?;
            }
            return Ok(());
        }
        let items = match value {
            ExprValue::Object(object) => {
                for (name, value) in object.fields() {
                    fields.set_field(name.clone(), value.clone(), &mut self.budget)?;
                }
                return Ok(());
            }
            ExprValue::Str(_) => {
                return Err(UnlocatedError::new(
                    "`...` needs an object or an array here, found a string",
                ));
            }
            _ => {
                let mut items = Vec::new();
                if ArrayElements::from_value(value).is_some() {
                    self.append_elements(value, &mut items)?;
                }
                items
            }
        };
        for (index, item) in items.into_iter().enumerate() {
            let name = index.to_string();
            self.budget.charge_bytes(name.len())?;
            fields.set_field(ExprString::from(name), item, &mut self.budget)?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn eval_text_matches(
        &mut self,
        node: &ExprNode,
        subject: &ExprNode,
        pattern: &Regex,
    ) -> EvalResult<'a> {
        let value = self.eval(subject)?;
        let ExprValue::Str(text) = &value else {
            let found = value.describe();
            let message = format!("`Text.matches` needs a string, found {found}");
            return Err(locate_error(node, UnlocatedError::new(message)));
        };
        let text = text.as_str();
        // The regex engine is linear in the text, but its cost per byte is higher than that of a
        // scan.
        self.budget.charge_steps(text.len() / 4).map_err(|fault| locate_error(node, fault))?;
        Ok(ExprValue::Bool(pattern.is_match(text)))
    }
}
