//! Methods that call a function for each element: `some`, `every`, `map`, `reduce` and their kin.

use super::ast::{Callback, Field, Node, Pattern};
use super::builtins::convert;
use super::coerce::to_boolean;
use super::error::{Failure, Fault};
use super::eval::{Evaluation, Outcome, located};
use super::property;
use super::value::{Elements, Val};
use super::vocabulary::{Convert, Each};

/// What stays the same from one element to the next.
struct Call<'c, 'a> {
    node: &'c Node,
    callback: &'c Callback,
    array: &'c Val<'a>,
}

impl<'a> Evaluation<'_, 'a> {
    pub(super) fn each(
        &mut self,
        node: &Node,
        value: &Val<'a>,
        object: &Node,
        each: Each,
        callback: &Callback,
        initial: Option<&Node>,
    ) -> Outcome<'a> {
        let Some(elements) = Elements::of(value) else {
            return Err(self.no_method(node, value, object, each.name()));
        };
        let call = Call { node, callback, array: value };
        match each {
            Each::Some => Ok(Val::Bool(self.first(&call, &elements, true)?.is_some())),
            Each::Every => Ok(Val::Bool(self.first(&call, &elements, false)?.is_none())),
            Each::Find => {
                let found = self.first(&call, &elements, true)?;
                Ok(found.map_or(Val::Undefined, |index| elements.get(index)))
            }
            Each::FindIndex => {
                let found = self.first(&call, &elements, true)?;
                Ok(Val::Num(found.map_or(-1.0, |index| index as f64)))
            }
            Each::Filter | Each::Map | Each::FlatMap => self.collect(&call, &elements, each),
            Each::Reduce => self.reduce(&call, &elements, initial),
            Each::ToSorted => self.sorted(node, callback, &elements),
        }
    }

    /// The first element for which the callback is true, or false, as wanted.
    fn first(
        &mut self,
        call: &Call<'_, 'a>,
        elements: &Elements<'a>,
        wanted: bool,
    ) -> Result<Option<usize>, Failure> {
        for index in 0..elements.len() {
            if self.holds(call, elements.get(index), index)? == wanted {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn collect(&mut self, call: &Call<'_, 'a>, elements: &Elements<'a>, each: Each) -> Outcome<'a> {
        let mut items = Vec::new();
        for index in 0..elements.len() {
            let element = elements.get(index);
            if each == Each::Filter {
                if self.holds(call, element.clone(), index)? {
                    items.push(element);
                }
                continue;
            }
            let result = self.call(call, element, index)?;
            match each {
                Each::FlatMap => match Elements::of(&result) {
                    Some(inner) => {
                        // Paid before it is gathered: a small callback may give a long array many times.
                        self.budget
                            .create(inner.len() * size_of::<Val<'a>>())
                            .map_err(|fault| located(call.node, fault))?;
                        items.extend((0..inner.len()).map(|index| inner.get(index)));
                    }
                    None => items.push(result),
                },
                _ => items.push(result),
            }
        }
        Val::list(items, &mut self.budget).map_err(|fault| located(call.node, fault))
    }

    fn reduce(
        &mut self,
        call: &Call<'_, 'a>,
        elements: &Elements<'a>,
        initial: Option<&Node>,
    ) -> Outcome<'a> {
        let (mut total, start) = match initial {
            Some(initial) => (self.eval(initial)?, 0),
            None if elements.len() == 0 => {
                return Err(located(
                    call.node,
                    Fault::new("`reduce` of an empty array needs an initial value"),
                ));
            }
            None => (elements.get(0), 1),
        };
        for index in start..elements.len() {
            total = match call.callback {
                Callback::Convert(by) => self.converted(call, *by, &total)?,
                Callback::Arrow { params, body } => {
                    for (position, param) in params.iter().enumerate() {
                        let value = match position {
                            0 => total.clone(),
                            1 => elements.get(index),
                            2 => Val::Num(index as f64),
                            _ => call.array.clone(),
                        };
                        self.bind(param, value)?;
                    }
                    self.eval(body)?
                }
            };
        }
        Ok(total)
    }

    fn call(&mut self, call: &Call<'_, 'a>, element: Val<'a>, index: usize) -> Outcome<'a> {
        match call.callback {
            Callback::Convert(by) => self.converted(call, *by, &element),
            Callback::Arrow { params, body } => {
                self.bind_all(call, params, element, index)?;
                self.eval(body)
            }
        }
    }

    /// Whether the callback's answer counts as true.
    fn holds(
        &mut self,
        call: &Call<'_, 'a>,
        element: Val<'a>,
        index: usize,
    ) -> Result<bool, Failure> {
        match call.callback {
            Callback::Convert(by) => Ok(to_boolean(&self.converted(call, *by, &element)?)),
            Callback::Arrow { params, body } => {
                self.bind_all(call, params, element, index)?;
                self.truth(body)
            }
        }
    }

    fn bind_all(
        &mut self,
        call: &Call<'_, 'a>,
        params: &[Pattern],
        element: Val<'a>,
        index: usize,
    ) -> Result<(), Failure> {
        // One plain name is by far the most common.
        if let [Pattern::Name(slot)] = params {
            self.locals[*slot] = element;
            return Ok(());
        }
        let mut params = params.iter();
        if let Some(param) = params.next() {
            self.bind(param, element)?;
        }
        if let Some(param) = params.next() {
            self.bind(param, Val::Num(index as f64))?;
        }
        if let Some(param) = params.next() {
            self.bind(param, call.array.clone())?;
        }
        Ok(())
    }

    fn converted(&mut self, call: &Call<'_, 'a>, by: Convert, value: &Val<'a>) -> Outcome<'a> {
        self.budget
            .work(1)
            .and_then(|()| convert(by, value, &mut self.budget))
            .map_err(|fault| located(call.node, fault))
    }

    pub(super) fn bind(&mut self, param: &Pattern, value: Val<'a>) -> Result<(), Failure> {
        match param {
            Pattern::Name(slot) => {
                self.locals[*slot] = value;
                Ok(())
            }
            Pattern::List { slots, span } => {
                self.bind_list(slots, &value).map_err(|fault| fault.at(span.range()))
            }
            Pattern::Fields { fields, span } if value.is_nullish() => {
                let wanted = fields.first().map_or("", |field| &field.name);
                let found = value.describe();
                let message = format!("cannot take `{{{wanted}}}` apart from {found}");
                Err(Fault::new(message).at(span.range()))
            }
            Pattern::Fields { fields, .. } => {
                fields.iter().try_for_each(|field| self.bind_field(field, &value))
            }
        }
    }

    fn bind_field(&mut self, field: &Field, value: &Val<'a>) -> Result<(), Failure> {
        self.locals[field.slot] = property::named(value, &field.name, &mut self.budget)
            .map_err(|fault| fault.at(field.span.range()))?;
        Ok(())
    }

    fn bind_list(&mut self, slots: &[Option<usize>], value: &Val<'a>) -> Result<(), Fault> {
        if let Some(elements) = Elements::of(value) {
            for (index, slot) in slots.iter().enumerate() {
                if let Some(slot) = slot {
                    self.locals[*slot] = elements.get(index);
                }
            }
            return Ok(());
        }
        let Val::Str(text) = value else {
            let found = value.describe();
            return Err(Fault::new(format!("a list pattern needs an array, found {found}")));
        };
        // A string comes apart by whole characters, not by code units.
        let mut characters = text.as_str().char_indices();
        for slot in slots {
            let next = characters.next();
            if let Some(slot) = slot {
                self.locals[*slot] = match next {
                    Some((at, character)) => {
                        let part = text.part(at..at + character.len_utf8(), &mut self.budget)?;
                        Val::Str(part)
                    }
                    None => Val::Undefined,
                };
            }
        }
        Ok(())
    }
}
