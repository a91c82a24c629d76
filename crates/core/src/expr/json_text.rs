//! `JSON.stringify` and `JSON.parse`: every byte and every value is paid for, and depth is bounded.

use serde_json::Value;

use super::budget::Budget;
use super::builtins::fields;
use super::coerce::{to_integer, to_text};
use super::error::Fault;
use super::number::to_js_string;
use super::object::Fields;
use super::text::{self, Text};
use super::value::{Elements, Val};

/// How deep lists and objects may hold one another and still be written.
const MAX_WRITTEN_DEPTH: usize = 256;
/// The longest indentation of one level, in UTF-16 code units.
const MAX_INDENT: usize = 10;

/// `JSON.stringify(value, null, indent)`; `undefined` where there is no JSON for the value.
pub(super) fn stringify<'a>(
    value: &Val<'a>,
    replacer: &Val<'a>,
    indent: &Val<'a>,
    budget: &mut Budget,
) -> Result<Val<'a>, Fault> {
    if Elements::of(replacer).is_some() {
        return Err(Fault::new(
            "the second argument of `JSON.stringify` is `null` here; a list of names is not offered",
        ));
    }
    if matches!(value, Val::Undefined) {
        return Ok(Val::Undefined);
    }
    let indent = match indent {
        Val::Num(_) => {
            " ".repeat(to_integer(indent, budget)?.clamp(0.0, MAX_INDENT as f64) as usize)
        }
        Val::Str(given) => {
            let length = text::length(given.as_str()).min(MAX_INDENT);
            given.as_str()[text::range(given.as_str(), 0, length)?].to_owned()
        }
        _ => String::new(),
    };
    let mut writer = Writer { out: String::new(), indent, budget };
    writer.value(value, 0)?;
    Ok(Val::Str(writer.out.into()))
}

struct Writer<'b> {
    out: String,
    indent: String,
    budget: &'b mut Budget,
}

impl Writer<'_> {
    fn value(&mut self, value: &Val<'_>, depth: usize) -> Result<(), Fault> {
        self.budget.work(1)?;
        if depth > MAX_WRITTEN_DEPTH {
            return Err(Fault::new(format!(
                "the depth budget is spent: values more than {MAX_WRITTEN_DEPTH} deep cannot be made JSON"
            )));
        }
        match value {
            Val::Undefined | Val::Null => self.push("null"),
            Val::Bool(truth) => self.push(if *truth { "true" } else { "false" }),
            Val::Num(number) if number.is_finite() => self.push(&to_js_string(*number)),
            Val::Num(_) => self.push("null"),
            Val::Str(text) => self.string(text.as_str()),
            Val::Json(Value::Object(map)) => {
                let fields = fields(map, self.budget)?;
                let fields = fields.into_iter().map(|(name, value)| (name, Val::from_json(value)));
                self.object(fields, depth)
            }
            Val::Object(object) => {
                let fields = object.fields().iter();
                let fields = fields.filter(|(_, value)| !matches!(value, Val::Undefined));
                self.object(fields.map(|(name, value)| (name.as_str(), value.clone())), depth)
            }
            Val::Json(_) | Val::List(_) => {
                let elements = Elements::of(value);
                let count = elements.as_ref().map_or(0, Elements::len);
                self.push("[")?;
                for (index, element) in
                    elements.iter().flat_map(|all| (0..count).map(|index| (index, all.get(index))))
                {
                    self.next_line(index > 0, depth + 1)?;
                    self.value(&element, depth + 1)?;
                }
                self.end("]", count > 0, depth)
            }
        }
    }

    fn object<'v>(
        &mut self,
        fields: impl Iterator<Item = (&'v str, Val<'v>)>,
        depth: usize,
    ) -> Result<(), Fault> {
        self.push("{")?;
        let mut any = false;
        for (name, value) in fields {
            self.next_line(any, depth + 1)?;
            any = true;
            self.string(name)?;
            self.push(if self.indent.is_empty() { ":" } else { ": " })?;
            self.value(&value, depth + 1)?;
        }
        self.end("}", any, depth)
    }

    fn next_line(&mut self, comma: bool, depth: usize) -> Result<(), Fault> {
        if comma {
            self.push(",")?;
        }
        self.line_break(depth)
    }

    fn end(&mut self, bracket: &str, any: bool, depth: usize) -> Result<(), Fault> {
        if any {
            self.line_break(depth)?;
        }
        self.push(bracket)
    }

    fn line_break(&mut self, depth: usize) -> Result<(), Fault> {
        if self.indent.is_empty() {
            return Ok(());
        }
        self.budget.create(1 + depth * self.indent.len())?;
        self.out.push('\n');
        for _ in 0..depth {
            self.out.push_str(&self.indent);
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<(), Fault> {
        self.budget.scan(text.len())?;
        let quoted = Value::from(text).to_string();
        self.push(&quoted)
    }

    fn push(&mut self, text: &str) -> Result<(), Fault> {
        self.budget.create(text.len())?;
        self.out.push_str(text);
        Ok(())
    }
}

/// `JSON.parse(text)`. The message of a failure names a place in the text, never the text.
pub(super) fn parse<'a>(value: &Val<'a>, budget: &mut Budget) -> Result<Val<'a>, Fault> {
    let text = to_text(value, budget)?;
    // A value takes about as much room as sixteen bytes of its text; made ones pay again below.
    budget.work(text.as_str().len())?;
    budget.create(text.as_str().len())?;
    let parsed: Value = serde_json::from_str(text.as_str()).map_err(|error| {
        Fault::new(if error.to_string().starts_with("number out of range") {
            "`JSON.parse` cannot hold a number of the text: it is beyond all numbers".to_owned()
        } else {
            format!("`JSON.parse` needs JSON, found something else: {error}")
        })
    })?;
    made(parsed, budget)
}

fn made<'a>(value: Value, budget: &mut Budget) -> Result<Val<'a>, Fault> {
    budget.work(1)?;
    Ok(match value {
        Value::Null => Val::Null,
        Value::Bool(truth) => Val::Bool(truth),
        Value::Number(number) => Val::Num(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => Val::string(text, budget)?,
        Value::Array(items) => {
            let items = items.into_iter().map(|item| made(item, budget));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            Val::list(items, budget)?
        }
        Value::Object(members) => {
            let mut made_fields = Fields::default();
            for (name, member) in members {
                budget.create(name.len())?;
                let value = made(member, budget)?;
                made_fields.set(Text::from(name), value, budget)?;
            }
            made_fields.object(budget)?
        }
    })
}
