//! QuickJS as the judge: evaluates a source over parsed states and writes the result so that nothing is lost.

use std::fmt::Write as _;

use countersign_contract::expr::ExprValue;
use rquickjs::{Context, Ctx, Function, Runtime};
use serde_json::Value;

/// `judge(source, i, j)` answers with a letter and a text: S(yntax error), T(hrows), V(alue).
const SETUP: &str = r"
const states = [];
function freeze(v) {
    if (v !== null && typeof v === 'object') { Object.freeze(v); Object.values(v).forEach(freeze); }
    return v;
}
function addState(text) { states.push(freeze(JSON.parse(text))); }
// A source we refuse may assign or call anything; no case may change the world of the next.
function seal() {
    for (const name of Object.getOwnPropertyNames(globalThis)) {
        const v = globalThis[name];
        if (v === globalThis || v === null || !['object', 'function'].includes(typeof v)) continue;
        for (const member of Object.getOwnPropertyNames(v)) {
            const inner = Object.getOwnPropertyDescriptor(v, member).value;
            if (inner !== null && typeof inner === 'object') Object.freeze(inner);
        }
        Object.freeze(v);
    }
    Object.freeze(globalThis);
}
const bits = new DataView(new ArrayBuffer(8));
function write(v) {
    if (v === undefined) return 'u';
    if (v === null) return 'n';
    switch (typeof v) {
        case 'boolean': return v ? 't' : 'f';
        // By its bits: QuickJS writes some powers of two with one digit more than the standard asks for.
        case 'number':
            if (v !== v) return 'dNaN;';
            bits.setFloat64(0, v);
            return 'd' + bits.getBigUint64(0).toString(16) + ';';
        case 'string': return v.isWellFormed() ? 's' + v.length + ':' + v : 'L';
        case 'function': return 'F';
    }
    if (Array.isArray(v)) return '[' + v.map(write).join('') + ']';
    return '{' + Object.keys(v).sort().map(k => write(k) + write(v[k])).join('') + '}';
}
function judge(source, i, j) {
    let run;
    try {
        // `a)(b` parses between parentheses only: it must parse without them as well.
        new Function('state', 'reply', '0, ' + source);
        run = new Function('state', 'reply', 'return (' + source + '\n)');
    }
    catch (e) { return 'S' + e.message; }
    try { return 'V' + write(run(states[i], states[j])); }
    catch (e) { return 'T' + e.message; }
}
function prototypeNames(name) {
    return Object.getOwnPropertyNames(globalThis[name].prototype).join(' ');
}
";

/// What JavaScript says of a source.
#[derive(Debug)]
pub(crate) enum Verdict {
    Syntax(#[expect(dead_code, reason = "printed with a mismatch")] String),
    Throws(#[expect(dead_code, reason = "printed with a mismatch")] String),
    Value(String),
}

/// An engine that holds the states.
pub(crate) struct Judge<'js> {
    ctx: Ctx<'js>,
    judge: Function<'js>,
}

impl Judge<'_> {
    /// Starts one engine, gives it the states, and lends it out.
    pub(crate) fn hold(states: &[Value], work: impl FnOnce(&Judge<'_>)) {
        let runtime = Runtime::new().expect("the engine starts");
        let context = Context::full(&runtime).expect("the engine has a context");
        context.with(|ctx| {
            ctx.eval::<(), _>(SETUP).expect("the set-up is JavaScript");
            let add: Function<'_> = ctx.globals().get("addState").expect("it is set up");
            for state in states {
                add.call::<_, ()>((state.to_string(),)).expect("the state is JSON");
            }
            let judge = ctx.globals().get("judge").expect("it is set up");
            ctx.eval::<(), _>("seal()").expect("the world can be sealed");
            work(&Judge { ctx: ctx.clone(), judge });
        });
    }

    pub(crate) fn ask(&self, source: &str, at: (usize, usize)) -> Verdict {
        let answer: String = self
            .judge
            .call((source, at.0 as i32, at.1 as i32))
            .unwrap_or_else(|error| panic!("the judge fails on {source}: {error}"));
        let text = answer[1..].to_owned();
        match answer.as_bytes()[0] {
            b'S' => Verdict::Syntax(text),
            b'T' => Verdict::Throws(text),
            _ => Verdict::Value(text),
        }
    }

    pub(crate) fn prototype_names(&self, of: &str) -> Vec<String> {
        let ask: Function<'_> = self.ctx.globals().get("prototypeNames").expect("it is set up");
        let names: String = ask.call((of,)).expect("the prototype exists");
        names.split(' ').map(str::to_owned).collect()
    }
}

/// Writes our value as the judge writes its own.
pub(crate) fn write(value: &ExprValue<'_>) -> String {
    let mut out = String::new();
    write_to(&mut out, value);
    out
}

fn write_to(out: &mut String, value: &ExprValue<'_>) {
    match value {
        ExprValue::Undefined => out.push('u'),
        ExprValue::Null => out.push('n'),
        ExprValue::Bool(truth) => out.push(if *truth { 't' } else { 'f' }),
        ExprValue::Num(number) => write_number(out, *number),
        ExprValue::Str(text) => write_string(out, text.as_str()),
        ExprValue::Json(Value::Array(items)) => {
            out.push('[');
            for item in items {
                write_to(out, &ExprValue::from_json(item));
            }
            out.push(']');
        }
        ExprValue::Json(json) => {
            let fields = json.as_object().expect("an object").iter();
            write_fields(
                out,
                fields.map(|(name, value)| (name.as_str(), ExprValue::from_json(value))),
            );
        }
        ExprValue::Object(object) => {
            let fields = object.fields().iter();
            write_fields(out, fields.map(|(name, value)| (name.as_str(), value.clone())));
        }
        ExprValue::List(list) => {
            out.push('[');
            for item in list.items() {
                write_to(out, item);
            }
            out.push(']');
        }
    }
}

fn write_fields<'v>(out: &mut String, fields: impl Iterator<Item = (&'v str, ExprValue<'v>)>) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    out.push('{');
    for (name, value) in fields {
        write_string(out, name);
        write_to(out, &value);
    }
    out.push('}');
}

fn write_number(out: &mut String, value: f64) {
    if value.is_nan() {
        return out.push_str("dNaN;");
    }
    write!(out, "d{:x};", value.to_bits()).expect("a string takes all");
}

fn write_string(out: &mut String, text: &str) {
    write!(out, "s{}:{text}", text.encode_utf16().count()).expect("a string takes all");
}
