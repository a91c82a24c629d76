//! Array and object literals, evaluated; and the one function whose pattern was compiled with it.

use regex::Regex;

use super::ast::{Entry, Item, Node};
use super::coerce::to_text;
use super::error::{Failure, Fault};
use super::eval::{Evaluation, Outcome, located};
use super::methods::array::gather;
use super::object::Fields;
use super::text::Text;
use super::value::{Elements, Val};

impl<'a> Evaluation<'_, 'a> {
    #[inline(never)]
    pub(super) fn array(&mut self, node: &Node, parts: &[Item]) -> Outcome<'a> {
        let mut items = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Item::One(item) => items.push(self.eval(item)?),
                Item::Spread(list) => self.spread_list(list, &mut items)?,
            }
        }
        Val::list(items, &mut self.budget).map_err(|fault| located(node, fault))
    }

    fn spread_list(&mut self, node: &Node, items: &mut Vec<Val<'a>>) -> Result<(), Failure> {
        let value = self.eval(node)?;
        self.elements_of(&value, items).map_err(|fault| located(node, fault))
    }

    fn elements_of(&mut self, value: &Val<'a>, items: &mut Vec<Val<'a>>) -> Result<(), Fault> {
        if let Some(elements) = Elements::of(value) {
            return gather(&elements, items, &mut self.budget);
        }
        let Val::Str(text) = value else {
            let found = value.describe();
            return Err(Fault::new(format!("`...` needs an array here, found {found}")));
        };
        // A string comes apart by whole characters, not by code units.
        for (at, character) in text.as_str().char_indices() {
            self.budget.work(1)?;
            self.budget.create(size_of::<Val<'a>>())?;
            let part = text.part(at..at + character.len_utf8(), &mut self.budget)?;
            items.push(Val::Str(part));
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn object(&mut self, node: &Node, entries: &[Entry]) -> Outcome<'a> {
        let mut fields = Fields::default();
        for entry in entries {
            let (name, value) = match entry {
                Entry::Named(name, value) => (Text::Shared(name.clone()), value),
                Entry::Computed(key, value) => {
                    let found = self.eval(key)?;
                    let name = to_text(&found, &mut self.budget);
                    (name.map_err(|fault| located(key, fault))?, value)
                }
                Entry::Spread(from) => {
                    let value = self.eval(from)?;
                    self.spread_fields(&value, &mut fields)
                        .map_err(|fault| located(from, fault))?;
                    continue;
                }
            };
            let value = self.eval(value)?;
            fields.set(name, value, &mut self.budget).map_err(|fault| located(node, fault))?;
        }
        fields.object(&mut self.budget).map_err(|fault| located(node, fault))
    }

    /// Own fields of an object, elements of an array; of `null`, truths and numbers nothing. A string
    /// would come apart into its code units, which nobody means.
    fn spread_fields(&mut self, value: &Val<'a>, fields: &mut Fields<'a>) -> Result<(), Fault> {
        if let Some(map) = value.as_object() {
            for (name, value) in map {
                fields.set(Text::Borrowed(name), Val::from_json(value), &mut self.budget)?;
            }
            return Ok(());
        }
        let items = match value {
            Val::Object(object) => {
                for (name, value) in object.fields() {
                    fields.set(name.clone(), value.clone(), &mut self.budget)?;
                }
                return Ok(());
            }
            Val::Str(_) => {
                return Err(Fault::new("`...` needs an object or an array here, found a string"));
            }
            _ => {
                let mut items = Vec::new();
                if Elements::of(value).is_some() {
                    self.elements_of(value, &mut items)?;
                }
                items
            }
        };
        for (index, item) in items.into_iter().enumerate() {
            let name = index.to_string();
            self.budget.create(name.len())?;
            fields.set(Text::from(name), item, &mut self.budget)?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn matches(&mut self, node: &Node, subject: &Node, pattern: &Regex) -> Outcome<'a> {
        let value = self.eval(subject)?;
        let Val::Str(text) = &value else {
            let found = value.describe();
            let message = format!("`Text.matches` needs a string, found {found}");
            return Err(located(node, Fault::new(message)));
        };
        let text = text.as_str();
        // The engine is linear in the text, but a step of it is dearer than a look at a byte.
        self.budget.work(text.len() / 4).map_err(|fault| located(node, fault))?;
        Ok(Val::Bool(pattern.is_match(text)))
    }
}
