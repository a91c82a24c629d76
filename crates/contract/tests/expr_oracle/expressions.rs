//! Draws expressions: typed, so that most have a value, with an untyped part wherever chance wants one.

use super::states::STRINGS;
use testkit::SeededRng;

/// What an expression is meant to give; a drawn one may still give something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Num,
    Str,
    Bool,
    Nums,
    Strs,
    Task,
    Tasks,
    List,
    Object,
    Any,
}

pub(crate) const KINDS: &[Kind] = &[
    Kind::Num,
    Kind::Str,
    Kind::Bool,
    Kind::Nums,
    Kind::Strs,
    Kind::Task,
    Kind::Tasks,
    Kind::List,
    Kind::Object,
    Kind::Any,
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "- 1",
    "0.5",
    ".5",
    "5.",
    "1e3",
    "1e21",
    "1e-7",
    "0x1F",
    "0o17",
    "0b11",
    "NaN",
    "Infinity",
    "-Infinity",
    "-0",
    "2.5",
    "10",
    "4294967296",
    "9007199254740993",
    "1.5e300",
];
/// Parts of JavaScript that are not ours, for the list of refusals.
const FOREIGN: &[&str] = &[
    "Math.max(...state.nums)",
    "{a() { return 1 }}",
    "{get a() { return 1 }}",
    "{__proto__: null}",
    "{static}",
    "state.nums.toSorted()",
    "state.nums.map((...x) => x)",
    "state.n ** 2",
    "state.n & 1",
    "void 0",
    "state.s.padEnd(3)",
    "state?.n?.toFixed?.(1)",
    "/a/.test('a')",
    "Number.isInteger(1)",
    "Math.PI",
    "(1, 2)",
    "state.nums.map(x => { return x })",
    "'a'.trim(1)",
    "[1,,2]",
    "state.nums.map(x => x, 1)",
    "010",
    "1_000",
    "10n",
    "new Array(3)",
    "state.nums['map'](x => x)",
    "1 /* c */",
    "Math",
    "isNaN(1)",
];

pub(crate) struct Generator<'r> {
    pub(crate) rng: &'r mut SeededRng,
    pub(crate) locals: Vec<(&'static str, Kind)>,
}

impl<'r> Generator<'r> {
    pub(crate) fn new(rng: &'r mut SeededRng) -> Self {
        Self { rng, locals: Vec::new() }
    }

    pub(crate) fn expression(&mut self) -> String {
        if self.rng.next_below(200) == 0 {
            return self.rng.pick_ref(FOREIGN).to_owned();
        }
        let kind = KINDS[self.rng.next_below(KINDS.len())];
        let depth = 1 + self.rng.next_below(4);
        self.draw(kind, depth)
    }

    pub(crate) fn draw(&mut self, kind: Kind, depth: usize) -> String {
        if self.rng.roll_percent(4) {
            return self.any(depth);
        }
        let known: Vec<&'static str> =
            self.locals.iter().filter(|(_, known)| *known == kind).map(|(name, _)| *name).collect();
        if !known.is_empty() && self.rng.roll_percent(45) {
            return self.rng.pick_ref(&known).to_owned();
        }
        if depth > 0 && self.rng.roll_percent(6) {
            return self.choice(kind, depth - 1);
        }
        match kind {
            Kind::Num => self.num(depth),
            Kind::Str => self.str(depth),
            Kind::Bool => self.bool(depth),
            Kind::Nums => self.nums(depth),
            Kind::Strs => self.strs(depth),
            Kind::Task => self.task(depth),
            Kind::Tasks => self.tasks(depth),
            Kind::List => self.list(depth),
            Kind::Object => self.object(depth),
            Kind::Any => self.any(depth),
        }
    }

    /// `? :`, `??`, `||`, `&&` between two of a kind.
    pub(crate) fn choice(&mut self, kind: Kind, depth: usize) -> String {
        let (left, right) = (self.draw(kind, depth), self.draw(kind, depth));
        match self.rng.next_below(4) {
            0 => {
                let condition = self.draw(Kind::Bool, depth);
                let text = format!("{condition} ? {left} : {right}");
                self.grouped(text)
            }
            1 => self.infix(&left, " ?? ", &right),
            2 => self.infix(&left, " || ", &right),
            _ => self.infix(&left, " && ", &right),
        }
    }

    pub(crate) fn num(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(15) {
            return match self.rng.next_below(3) {
                0 => self.rng.pick_ref(NUMBERS).to_owned(),
                1 => self.root("n"),
                _ => self
                    .rng
                    .pick_ref(&["state.m", "state['n']", "state.deep.a.b.c", "reply?.n"])
                    .to_owned(),
            };
        }
        let depth = depth - 1;
        match self.rng.next_below(16) {
            14 => {
                let list = self.receiver(Kind::Nums, depth);
                let from = self.optional_arg(depth);
                format!("{list}.lastIndexOf({}{from})", self.draw(Kind::Num, depth))
            }
            15 => {
                let text = self.receiver(Kind::Str, depth);
                let from = self.optional_arg(depth);
                format!("{text}.lastIndexOf({}{from})", self.draw(Kind::Str, 0))
            }
            0..=2 => {
                let (left, right) = (self.draw(Kind::Num, depth), self.draw(Kind::Num, depth));
                let op = self.rng.pick_ref(&[" + ", " - ", " * ", " / ", " % "]);
                self.infix(&left, op, &right)
            }
            3 => {
                let operand = self.draw(Kind::Num, depth);
                let op = self.rng.pick_ref(&["- ", "+ ", "-", "+"]);
                self.grouped(format!("{op}{operand}"))
            }
            4 => {
                let name = self
                    .rng
                    .pick_ref(&["abs", "floor", "ceil", "round", "sqrt", "trunc", "sign", "pow"]);
                if name == "pow" {
                    let base = self.draw(Kind::Num, depth);
                    return format!("Math.pow({base}, {})", self.draw(Kind::Num, 0));
                }
                format!("Math.{name}({})", self.draw(Kind::Num, depth))
            }
            5 => {
                let count = self.rng.next_below(4);
                let args = self.many(Kind::Num, depth, count);
                format!("Math.{}({args})", self.rng.pick_ref(&["min", "max"]))
            }
            6 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let arg =
                    if self.rng.roll_percent(3) { String::new() } else { self.draw(kind, depth) };
                format!("Number({arg})")
            }
            7 => format!("{}.length", self.receiver_list(depth)),
            8 => format!("{}.length", self.receiver(Kind::Str, depth)),
            9 => {
                let list = self.receiver(Kind::Nums, depth);
                let from = self.optional_arg(depth);
                format!("{list}.indexOf({}{from})", self.draw(Kind::Num, depth))
            }
            10 => {
                let text = self.receiver(Kind::Str, depth);
                let from = self.optional_arg(depth);
                format!("{text}.indexOf({}{from})", self.draw(Kind::Str, depth))
            }
            11 => self.reduce(depth),
            12 => {
                let (list, element) = self.receiver_of(depth);
                format!("{list}.findIndex({})", self.callback(element, Kind::Bool, depth))
            }
            _ => {
                let list = self.receiver(Kind::Nums, depth);
                let index = self.draw(Kind::Num, 0);
                self.element(&list, &index)
            }
        }
    }

    pub(crate) fn str(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(15) {
            return match self.rng.next_below(3) {
                0 => self.quoted(),
                1 => self.root("s"),
                _ => self
                    .rng
                    .pick_ref(&["state.t", "state.имя", "state['s']", "reply?.['t']"])
                    .to_owned(),
            };
        }
        let depth = depth - 1;
        match self.rng.next_below(18) {
            14 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                format!("typeof {}", self.receiver(kind, depth))
            }
            15 => self.replaced(depth),
            16 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let base = match self.rng.next_below(4) {
                    0 => self.rng.pick_ref(&["2", "16", "36", "10", "7", "undefined", "'8'", "1"]),
                    _ => "",
                };
                format!("{}.toString({base})", self.receiver(kind, depth))
            }
            17 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let more = self.rng.pick_ref(&[
                    "",
                    "",
                    "",
                    ", null, 2",
                    ", undefined, '\\t'",
                    ", null, '--------------'",
                    ", 1, 20",
                    ", null, -1",
                    ", null, true",
                ]);
                format!("JSON.stringify({}{more})", self.draw(kind, depth))
            }
            0 | 1 => {
                let (left, right) = (self.draw(Kind::Str, depth), self.draw(Kind::Str, depth));
                self.infix(&left, " + ", &right)
            }
            13 => {
                let text = self.receiver(Kind::Str, depth);
                let count = self.rng.next_below(3);
                format!("{text}.concat({})", self.many(Kind::Any, depth, count))
            }
            2 | 3 => {
                let first = KINDS[self.rng.next_below(KINDS.len())];
                let (first, second) = (self.draw(first, depth), self.draw(Kind::Num, depth));
                format!("`a${{{first}}} я $ \\u{{41}}${{{second}}}`")
            }
            4 => {
                let name = self.rng.pick_ref(&["trim", "toUpperCase", "toLowerCase"]);
                format!("{}.{name}()", self.receiver(Kind::Str, depth))
            }
            5 | 6 => {
                let text = self.receiver(Kind::Str, depth);
                let to = self.optional_arg(depth);
                format!("{text}.slice({}{to})", self.draw(Kind::Num, 0))
            }
            7 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let arg =
                    if self.rng.roll_percent(3) { String::new() } else { self.draw(kind, depth) };
                format!("String({arg})")
            }
            8 | 9 => {
                let list = self.receiver_list(depth);
                let separator =
                    if self.rng.roll_percent(30) { String::new() } else { self.draw(Kind::Str, 0) };
                format!("{list}.join({separator})")
            }
            10 => {
                let task = self.receiver(Kind::Task, depth);
                format!(
                    "{task}{}{}",
                    self.rng.pick_ref(&[".", "?."]),
                    self.rng.pick_ref(&["title", "status", "agent?.name"])
                )
            }
            _ => {
                let list = if self.rng.roll_percent(60) { Kind::Strs } else { Kind::Str };
                let list = self.receiver(list, depth);
                let index = self.draw(Kind::Num, 0);
                self.element(&list, &index)
            }
        }
    }

    fn replaced(&mut self, depth: usize) -> String {
        let text = self.receiver(Kind::Str, depth);
        let name = self.rng.pick_ref(&["replace", "replaceAll"]);
        let pattern = match self.rng.next_below(4) {
            0 => self.draw(Kind::Any, 0),
            1 => "'a'".to_owned(),
            _ => self.draw(Kind::Str, 0),
        };
        let replacement = match self.rng.next_below(3) {
            0 => self.draw(Kind::Str, depth),
            _ => self
                .rng
                .pick_ref(&["'[$&]'", "'$$'", "'$`|'", "\"$'\"", "'$1$<a>$'", "'$$$&$'", "1"])
                .to_owned(),
        };
        format!("{text}.{name}({pattern}, {replacement})")
    }

    pub(crate) fn bool(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(5) {
            return self
                .rng
                .pick_ref(&["true", "false", "state.b", "!state.b", "reply.b"])
                .to_owned();
        }
        let depth = depth - 1;
        match self.rng.next_below(12) {
            0..=2 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let other = if self.rng.roll_percent(75) {
                    kind
                } else {
                    KINDS[self.rng.next_below(KINDS.len())]
                };
                let (left, right) = (self.draw(kind, depth), self.draw(other, depth));
                let op = self
                    .rng
                    .pick_ref(&[" === ", " !== ", " == ", " != ", " < ", " <= ", " > ", " >= "]);
                self.infix(&left, op, &right)
            }
            3 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let operand = self.receiver(kind, depth);
                format!("!{operand}")
            }
            4 => {
                let (left, right) = (self.draw(Kind::Bool, depth), self.draw(Kind::Bool, depth));
                let op = self.rng.pick_ref(&[" && ", " || ", " ?? "]);
                self.infix(&left, op, &right)
            }
            5 | 6 => {
                let (list, element) = self.receiver_of(depth);
                let name = self.rng.pick_ref(&["some", "every"]);
                format!("{list}.{name}({})", self.callback(element, Kind::Bool, depth))
            }
            7 => {
                let (list, element) = self.receiver_of(depth);
                let from = self.optional_arg(depth);
                format!("{list}.includes({}{from})", self.draw(element, depth))
            }
            8 => {
                let text = self.receiver(Kind::Str, depth);
                let name = self.rng.pick_ref(&["includes", "startsWith", "endsWith"]);
                let at = self.optional_arg(depth);
                format!("{text}.{name}({}{at})", self.draw(Kind::Str, depth))
            }
            9 => {
                let key = if self.rng.roll_percent(60) {
                    self.field_name()
                } else {
                    self.draw(Kind::Num, 0)
                };
                let kind = if self.rng.roll_percent(60) { Kind::Object } else { Kind::List };
                let object = self.draw(kind, depth);
                self.infix(&key, " in ", &object)
            }
            10 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                format!("Array.isArray({})", self.draw(kind, depth))
            }
            _ => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                format!("Boolean({})", self.draw(kind, depth))
            }
        }
    }

    /// An operand of a postfix: in parentheses unless it is simple.
    pub(crate) fn receiver(&mut self, kind: Kind, depth: usize) -> String {
        let text = self.draw(kind, depth);
        if is_simple(&text) && !self.rng.roll_percent(5) { text } else { format!("({text})") }
    }

    pub(crate) fn many(&mut self, kind: Kind, depth: usize, count: usize) -> String {
        let items: Vec<String> = (0..count).map(|_| self.draw(kind, depth)).collect();
        items.join(", ")
    }

    pub(crate) fn optional_arg(&mut self, depth: usize) -> String {
        match self.rng.next_below(10) {
            0..=5 => String::new(),
            6..=8 => format!(", {}", self.draw(Kind::Num, 0)),
            _ => format!(", {}", self.draw(Kind::Any, depth)),
        }
    }

    pub(crate) fn infix(&mut self, left: &str, op: &str, right: &str) -> String {
        self.grouped(format!("{left}{op}{right}"))
    }

    /// Mostly in parentheses; without them precedence is under test.
    pub(crate) fn grouped(&mut self, text: String) -> String {
        if self.rng.roll_percent(60) { format!("({text})") } else { text }
    }

    pub(crate) fn root(&mut self, field: &str) -> String {
        format!("{}.{field}", self.rng.pick_ref(&["state", "reply"]))
    }

    pub(crate) fn field_name(&mut self) -> String {
        format!(
            "'{}'",
            self.rng.pick_ref(&["x", "id", "10", "a", "length", "toString", "missing", "0"])
        )
    }

    pub(crate) fn quoted(&mut self) -> String {
        let text = self.rng.pick_ref(STRINGS);
        match self.rng.next_below(3) {
            0 => format!("'{}'", text.replace('\n', "\\n")),
            1 => format!("\"{}\"", text.replace('\n', "\\x0a")),
            _ => {
                let escaped: Vec<String> =
                    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                let escaped = escaped.concat();
                format!("'{escaped}'")
            }
        }
    }
}

/// Whether a postfix may follow without parentheses: no sign stands outside brackets, and it is no number.
fn is_simple(text: &str) -> bool {
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' | '-' | '+' | '!' if depth == 0 => return false,
            _ => {}
        }
    }
    !text.starts_with(|first: char| first.is_ascii_digit() || first == '.')
}
