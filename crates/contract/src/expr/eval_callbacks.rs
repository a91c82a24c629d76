//! Methods that call a function for each element: `some`, `every`, `map`, `reduce` and others.

use super::ast::{ExprCallback, ExprNode, ParamPattern, ParamPatternField};
use super::builtins::convert_value;
use super::coerce::to_boolean;
use super::eval::{EvalResult, ExprEvaluator, locate_error};
use super::expr_error::{BoxedEvalError, UnlocatedError};
use super::expr_value::{ArrayElements, ExprValue};
use super::property;
use super::vocabulary::{CallbackMethod, ConversionFunction};

/// Parts of a callback call that are the same for every element.
struct CallbackContext<'c, 'a> {
    node: &'c ExprNode,
    callback: &'c ExprCallback,
    array: &'c ExprValue<'a>,
}

impl<'a> ExprEvaluator<'_, 'a> {
    pub(super) fn eval_callback_method(
        &mut self,
        node: &ExprNode,
        value: &ExprValue<'a>,
        object: &ExprNode,
        each: CallbackMethod,
        callback: &ExprCallback,
        initial: Option<&ExprNode>,
    ) -> EvalResult<'a> {
        let Some(elements) = ArrayElements::from_value(value) else {
            return Err(self.missing_method_error(node, value, object, each.name()));
        };
        let call = CallbackContext { node, callback, array: value };
        match each {
            CallbackMethod::Some => {
                Ok(ExprValue::Bool(self.find_first(&call, &elements, true)?.is_some()))
            }
            CallbackMethod::Every => {
                Ok(ExprValue::Bool(self.find_first(&call, &elements, false)?.is_none()))
            }
            CallbackMethod::Find => {
                let found = self.find_first(&call, &elements, true)?;
                Ok(found.map_or(ExprValue::Undefined, |index| elements.get(index)))
            }
            CallbackMethod::FindIndex => {
                let found = self.find_first(&call, &elements, true)?;
                Ok(ExprValue::Num(found.map_or(-1.0, |index| index as f64)))
            }
            CallbackMethod::Filter | CallbackMethod::Map | CallbackMethod::FlatMap => {
                self.collect_results(&call, &elements, each)
            }
            CallbackMethod::Reduce => self.reduce_elements(&call, &elements, initial),
            CallbackMethod::ToSorted => self.sort_elements(node, callback, &elements),
        }
    }

    /// Returns the first element for which the callback is truthy, or falsy, as requested.
    fn find_first(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        elements: &ArrayElements<'a>,
        wanted: bool,
    ) -> Result<Option<usize>, BoxedEvalError> {
        for index in 0..elements.len() {
            if self.test_callback(call, elements.get(index), index)? == wanted {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn collect_results(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        elements: &ArrayElements<'a>,
        each: CallbackMethod,
    ) -> EvalResult<'a> {
        let mut items = Vec::new();
        for index in 0..elements.len() {
            let element = elements.get(index);
            if each == CallbackMethod::Filter {
                if self.test_callback(call, element.clone(), index)? {
                    items.push(element);
                }
                continue;
            }
            let result = self.call_callback(call, element, index)?;
            match each {
                CallbackMethod::FlatMap => match ArrayElements::from_value(&result) {
                    Some(inner) => {
                        // Charged before the elements are copied: a small callback may return a
                        // long array many times.
                        self.budget
                            .charge_bytes(inner.len() * size_of::<ExprValue<'a>>())
                            .map_err(|fault| locate_error(call.node, fault))?;
                        items.extend((0..inner.len()).map(|index| inner.get(index)));
                    }
                    None => items.push(result),
                },
                _ => items.push(result),
            }
        }
        ExprValue::new_list(items, &mut self.budget).map_err(|fault| locate_error(call.node, fault))
    }

    fn reduce_elements(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        elements: &ArrayElements<'a>,
        initial: Option<&ExprNode>,
    ) -> EvalResult<'a> {
        let (mut total, start) = match initial {
            Some(initial) => (self.eval(initial)?, 0),
            None if elements.len() == 0 => {
                return Err(locate_error(
                    call.node,
                    UnlocatedError::new("`reduce` of an empty array needs an initial value"),
                ));
            }
            None => (elements.get(0), 1),
        };
        for index in start..elements.len() {
            total = match call.callback {
                ExprCallback::Convert(by) => self.convert_element(call, *by, &total)?,
                ExprCallback::Arrow { params, body } => {
                    for (position, param) in params.iter().enumerate() {
                        let value = match position {
                            0 => total.clone(),
                            1 => elements.get(index),
                            2 => ExprValue::Num(index as f64),
                            _ => call.array.clone(),
                        };
                        self.bind_param(param, value)?;
                    }
                    self.eval(body)?
                }
            };
        }
        Ok(total)
    }

    fn call_callback(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        element: ExprValue<'a>,
        index: usize,
    ) -> EvalResult<'a> {
        match call.callback {
            ExprCallback::Convert(by) => self.convert_element(call, *by, &element),
            ExprCallback::Arrow { params, body } => {
                self.bind_params(call, params, element, index)?;
                self.eval(body)
            }
        }
    }

    /// Returns whether the result of the callback is truthy.
    fn test_callback(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        element: ExprValue<'a>,
        index: usize,
    ) -> Result<bool, BoxedEvalError> {
        match call.callback {
            ExprCallback::Convert(by) => {
                Ok(to_boolean(&self.convert_element(call, *by, &element)?))
            }
            ExprCallback::Arrow { params, body } => {
                self.bind_params(call, params, element, index)?;
                self.eval_condition(body)
            }
        }
    }

    fn bind_params(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        params: &[ParamPattern],
        element: ExprValue<'a>,
        index: usize,
    ) -> Result<(), BoxedEvalError> {
        // A single plain name is by far the most common form.
        if let [ParamPattern::Name(slot)] = params {
            self.locals[*slot] = element;
            return Ok(());
        }
        let mut params = params.iter();
        if let Some(param) = params.next() {
            self.bind_param(param, element)?;
        }
        if let Some(param) = params.next() {
            self.bind_param(param, ExprValue::Num(index as f64))?;
        }
        if let Some(param) = params.next() {
            self.bind_param(param, call.array.clone())?;
        }
        Ok(())
    }

    fn convert_element(
        &mut self,
        call: &CallbackContext<'_, 'a>,
        by: ConversionFunction,
        value: &ExprValue<'a>,
    ) -> EvalResult<'a> {
        self.budget
            .charge_steps(1)
            .and_then(|()| convert_value(by, value, &mut self.budget))
            .map_err(|fault| locate_error(call.node, fault))
    }

    pub(super) fn bind_param(
        &mut self,
        param: &ParamPattern,
        value: ExprValue<'a>,
    ) -> Result<(), BoxedEvalError> {
        match param {
            ParamPattern::Name(slot) => {
                self.locals[*slot] = value;
                Ok(())
            }
            ParamPattern::List { slots, span } => {
                self.bind_list(slots, &value).map_err(|fault| fault.with_span(span.range()))
            }
            ParamPattern::Fields { fields, span } if value.is_nullish() => {
                let wanted = fields.first().map_or("", |field| &field.name);
                let found = value.describe();
                let message = format!("cannot destructure `{{{wanted}}}` from {found}");
                Err(UnlocatedError::new(message).with_span(span.range()))
            }
            ParamPattern::Fields { fields, .. } => {
                fields.iter().try_for_each(|field| self.bind_field(field, &value))
            }
        }
    }

    fn bind_field(
        &mut self,
        field: &ParamPatternField,
        value: &ExprValue<'a>,
    ) -> Result<(), BoxedEvalError> {
        self.locals[field.slot] = property::read_named(value, &field.name, &mut self.budget)
            .map_err(|fault| fault.with_span(field.span.range()))?;
        Ok(())
    }

    fn bind_list(
        &mut self,
        slots: &[Option<usize>],
        value: &ExprValue<'a>,
    ) -> Result<(), UnlocatedError> {
        if let Some(elements) = ArrayElements::from_value(value) {
            for (index, slot) in slots.iter().enumerate() {
                if let Some(slot) = slot {
                    self.locals[*slot] = elements.get(index);
                }
            }
            return Ok(());
        }
        let ExprValue::Str(text) = value else {
            let found = value.describe();
            return Err(UnlocatedError::new(format!(
                "a list pattern needs an array, found {found}"
            )));
        };
        // A string is destructured into whole characters, not code units.
        let mut characters = text.as_str().char_indices();
        for slot in slots {
            let next = characters.next();
            if let Some(slot) = slot {
                self.locals[*slot] = match next {
                    Some((at, character)) => {
                        let part = text.slice(at..at + character.len_utf8(), &mut self.budget)?;
                        ExprValue::Str(part)
                    }
                    None => ExprValue::Undefined,
                };
            }
        }
        Ok(())
    }
}
