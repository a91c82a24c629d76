//! `JSON.stringify` and `JSON.parse`. Every byte and every value is charged to the budget, and
//! depth is bounded.

use serde_json::Value;

use super::builtins::list_fields;
use super::coerce::{to_expr_string, to_integer};
use super::eval_budget::EvalBudget;
use super::expr_error::UnlocatedError;
use super::expr_object::ExprObjectBuilder;
use super::expr_string::{self, ExprString};
use super::expr_value::{ArrayElements, ExprValue};
use super::js_number::to_js_string;

/// Maximum nesting of lists and objects that can be stringified.
const MAX_STRINGIFY_DEPTH: usize = 256;
/// Maximum indentation of one level, in UTF-16 code units.
const MAX_INDENT: usize = 10;

/// `JSON.stringify(value, null, indent)`; returns `undefined` if the value has no JSON form.
pub(super) fn stringify_json<'a>(
    value: &ExprValue<'a>,
    replacer: &ExprValue<'a>,
    indent: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    if ArrayElements::from_value(replacer).is_some() {
        return Err(UnlocatedError::new(
            "the second argument of `JSON.stringify` must be `null`; a list of names is not supported",
        ));
    }
    if matches!(value, ExprValue::Undefined) {
        return Ok(ExprValue::Undefined);
    }
    let indent = match indent {
        ExprValue::Num(_) => {
            " ".repeat(to_integer(indent, budget)?.clamp(0.0, MAX_INDENT as f64) as usize)
        }
        ExprValue::Str(text) => {
            let length = expr_string::utf16_len(text.as_str()).min(MAX_INDENT);
            text.as_str()[expr_string::find_byte_range(text.as_str(), 0, length)?].to_owned()
        }
        _ => String::new(),
    };
    let mut writer = StringifyWriter { out: String::new(), indent, budget };
    writer.write_value(value, 0)?;
    Ok(ExprValue::Str(writer.out.into()))
}

struct StringifyWriter<'b> {
    out: String,
    indent: String,
    budget: &'b mut EvalBudget,
}

impl StringifyWriter<'_> {
    fn write_value(&mut self, value: &ExprValue<'_>, depth: usize) -> Result<(), UnlocatedError> {
        self.budget.charge_steps(1)?;
        if depth > MAX_STRINGIFY_DEPTH {
            return Err(UnlocatedError::new(format!(
                "the depth budget is spent: values more than {MAX_STRINGIFY_DEPTH} deep cannot be converted to JSON"
            )));
        }
        match value {
            ExprValue::Undefined | ExprValue::Null => self.append_text("null"),
            ExprValue::Bool(truth) => self.append_text(if *truth { "true" } else { "false" }),
            ExprValue::Num(number) if number.is_finite() => {
                self.append_text(&to_js_string(*number))
            }
            ExprValue::Num(_) => self.append_text("null"),
            ExprValue::Str(text) => self.write_string(text.as_str()),
            ExprValue::Json(Value::Object(map)) => {
                let fields = list_fields(map, self.budget)?;
                let fields =
                    fields.into_iter().map(|(name, value)| (name, ExprValue::from_json(value)));
                self.write_object(fields, depth)
            }
            ExprValue::Object(object) => {
                let fields = object.fields().iter();
                let fields = fields.filter(|(_, value)| !matches!(value, ExprValue::Undefined));
                self.write_object(fields.map(|(name, value)| (name.as_str(), value.clone())), depth)
            }
            ExprValue::Json(_) | ExprValue::List(_) => {
                let elements = ArrayElements::from_value(value);
                let count = elements.as_ref().map_or(0, ArrayElements::len);
                self.append_text("[")?;
                for (index, element) in
                    elements.iter().flat_map(|all| (0..count).map(|index| (index, all.get(index))))
                {
                    self.begin_item(index > 0, depth + 1)?;
                    self.write_value(&element, depth + 1)?;
                }
                self.close_bracket("]", count > 0, depth)
            }
        }
    }

    fn write_object<'v>(
        &mut self,
        fields: impl Iterator<Item = (&'v str, ExprValue<'v>)>,
        depth: usize,
    ) -> Result<(), UnlocatedError> {
        self.append_text("{")?;
        let mut any = false;
        for (name, value) in fields {
            self.begin_item(any, depth + 1)?;
            any = true;
            self.write_string(name)?;
            self.append_text(if self.indent.is_empty() { ":" } else { ": " })?;
            self.write_value(&value, depth + 1)?;
        }
        self.close_bracket("}", any, depth)
    }

    fn begin_item(&mut self, comma: bool, depth: usize) -> Result<(), UnlocatedError> {
        if comma {
            self.append_text(",")?;
        }
        self.write_line_break(depth)
    }

    fn close_bracket(
        &mut self,
        bracket: &str,
        any: bool,
        depth: usize,
    ) -> Result<(), UnlocatedError> {
        if any {
            self.write_line_break(depth)?;
        }
        self.append_text(bracket)
    }

    fn write_line_break(&mut self, depth: usize) -> Result<(), UnlocatedError> {
        if self.indent.is_empty() {
            return Ok(());
        }
        self.budget.charge_bytes(1 + depth * self.indent.len())?;
        self.out.push('\n');
        for _ in 0..depth {
            self.out.push_str(&self.indent);
        }
        Ok(())
    }

    fn write_string(&mut self, text: &str) -> Result<(), UnlocatedError> {
        self.budget.charge_scan(text.len())?;
        let quoted = Value::from(text).to_string();
        self.append_text(&quoted)
    }

    fn append_text(&mut self, text: &str) -> Result<(), UnlocatedError> {
        self.budget.charge_bytes(text.len())?;
        self.out.push_str(text);
        Ok(())
    }
}

/// `JSON.parse(text)`. An error message contains a position in the text, never the text itself.
pub(super) fn parse_json_value<'a>(
    value: &ExprValue<'a>,
    budget: &mut EvalBudget,
) -> Result<ExprValue<'a>, UnlocatedError> {
    let text = to_expr_string(value, budget)?;
    // A parsed value takes about as much memory as sixteen bytes of its text; `build_value` charges
    // again for the values that it creates.
    budget.charge_steps(text.as_str().len())?;
    budget.charge_bytes(text.as_str().len())?;
    let parsed: Value = serde_json::from_str(text.as_str()).map_err(|error| {
        UnlocatedError::new(if error.to_string().starts_with("number out of range") {
            "`JSON.parse`: a number in the text is out of range".to_owned()
        } else {
            format!("`JSON.parse` needs JSON, found something else: {error}")
        })
    })?;
    build_value(parsed, budget)
}

fn build_value<'a>(value: Value, budget: &mut EvalBudget) -> Result<ExprValue<'a>, UnlocatedError> {
    budget.charge_steps(1)?;
    Ok(match value {
        Value::Null => ExprValue::Null,
        Value::Bool(truth) => ExprValue::Bool(truth),
        Value::Number(number) => ExprValue::Num(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => ExprValue::new_string(text, budget)?,
        Value::Array(items) => {
            let items = items.into_iter().map(|item| build_value(item, budget));
            let items = items.collect::<Result<Vec<_>, _>>()?;
            ExprValue::new_list(items, budget)?
        }
        Value::Object(members) => {
            let mut made_fields = ExprObjectBuilder::default();
            for (name, member) in members {
                budget.charge_bytes(name.len())?;
                let value = build_value(member, budget)?;
                made_fields.set_field(ExprString::from(name), value, budget)?;
            }
            made_fields.build(budget)?
        }
    })
}
