//! Draws expressions: typed, so that most have a value, with an untyped part wherever chance wants one.

use super::rng::Rng;
use super::states::STRINGS;

/// What an expression is meant to give; a drawn one may still give something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
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

const KINDS: &[Kind] = &[
    Kind::Num, Kind::Str, Kind::Bool, Kind::Nums, Kind::Strs, Kind::Task, Kind::Tasks, Kind::List,
    Kind::Object, Kind::Any,
];

const PARAMS: &[&str] = &["x", "y", "t", "a", "acc", "имя", "$v", "_", "reply"];
const FIELDS: &[&str] = &[
    "id", "title", "status", "agent", "priority", "tags", "name", "x", "length", "n", "s", "nums",
    "obj", "missing", "имя", "key", "a", "b", "map", "toString", "constructor", "valueOf",
];
const METHODS: &[&str] = &[
    "includes", "indexOf", "join", "slice", "at", "startsWith", "endsWith", "split", "toLowerCase",
    "toUpperCase", "trim",
];
const NUMBERS: &[&str] = &[
    "0", "1", "2", "3", "-1", "- 1", "0.5", ".5", "5.", "1e3", "1e21", "1e-7", "0x1F", "0o17", "0b11",
    "NaN", "Infinity", "-Infinity", "-0", "2.5", "10", "4294967296", "9007199254740993", "1.5e300",
];
/// Parts of JavaScript that are not ours, for the list of refusals.
const FOREIGN: &[&str] = &[
    "typeof state.n", "[...state.nums]", "state.n ** 2", "state.n & 1", "void 0", "state.s.padEnd(3)",
    "state?.n?.toFixed?.(1)", "/a/.test('a')", "Number.isInteger(1)", "Math.PI", "(1, 2)",
    "state.nums.map(x => { return x })", "'a'.trim(1)", "[1,,2]", "state.nums.map(x => x, 1)", "010",
    "1_000", "10n", "new Array(3)", "state.nums['map'](x => x)", "1 /* c */", "Math", "isNaN(1)",
];

pub(crate) struct Generator<'r> {
    rng: &'r mut Rng,
    locals: Vec<(&'static str, Kind)>,
}

impl<'r> Generator<'r> {
    pub(crate) fn new(rng: &'r mut Rng) -> Self {
        Self { rng, locals: Vec::new() }
    }

    pub(crate) fn expression(&mut self) -> String {
        if self.rng.below(200) == 0 {
            return self.rng.pick(FOREIGN).to_owned();
        }
        let kind = KINDS[self.rng.below(KINDS.len())];
        let depth = 1 + self.rng.below(4);
        self.draw(kind, depth)
    }

    fn draw(&mut self, kind: Kind, depth: usize) -> String {
        if self.rng.percent(4) {
            return self.any(depth);
        }
        let known: Vec<&'static str> =
            self.locals.iter().filter(|(_, known)| *known == kind).map(|(name, _)| *name).collect();
        if !known.is_empty() && self.rng.percent(45) {
            return self.rng.pick(&known).to_owned();
        }
        if depth > 0 && self.rng.percent(6) {
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
    fn choice(&mut self, kind: Kind, depth: usize) -> String {
        let (left, right) = (self.draw(kind, depth), self.draw(kind, depth));
        match self.rng.below(4) {
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

    fn num(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(15) {
            return match self.rng.below(3) {
                0 => self.rng.pick(NUMBERS).to_owned(),
                1 => self.root("n"),
                _ => self.rng.pick(&["state.m", "state['n']", "state.deep.a.b.c", "reply?.n"]).to_owned(),
            };
        }
        let depth = depth - 1;
        match self.rng.below(14) {
            0..=2 => {
                let (left, right) = (self.draw(Kind::Num, depth), self.draw(Kind::Num, depth));
                let op = self.rng.pick(&[" + ", " - ", " * ", " / ", " % "]);
                self.infix(&left, op, &right)
            }
            3 => {
                let operand = self.draw(Kind::Num, depth);
                let op = self.rng.pick(&["- ", "+ ", "-", "+"]);
                self.grouped(format!("{op}{operand}"))
            }
            4 => {
                let name = self.rng.pick(&["abs", "floor", "ceil", "round"]);
                format!("Math.{name}({})", self.draw(Kind::Num, depth))
            }
            5 => {
                let count = self.rng.below(4);
                let args = self.many(Kind::Num, depth, count);
                format!("Math.{}({args})", self.rng.pick(&["min", "max"]))
            }
            6 => {
                let kind = KINDS[self.rng.below(KINDS.len())];
                let arg = if self.rng.percent(3) { String::new() } else { self.draw(kind, depth) };
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

    fn str(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(15) {
            return match self.rng.below(3) {
                0 => self.quoted(),
                1 => self.root("s"),
                _ => self.rng.pick(&["state.t", "state.имя", "state['s']", "reply?.['t']"]).to_owned(),
            };
        }
        let depth = depth - 1;
        match self.rng.below(13) {
            0 | 1 => {
                let (left, right) = (self.draw(Kind::Str, depth), self.draw(Kind::Str, depth));
                self.infix(&left, " + ", &right)
            }
            2 | 3 => {
                let first = KINDS[self.rng.below(KINDS.len())];
                let (first, second) = (self.draw(first, depth), self.draw(Kind::Num, depth));
                format!("`a${{{first}}} я $ \\u{{41}}${{{second}}}`")
            }
            4 => {
                let name = self.rng.pick(&["trim", "toUpperCase", "toLowerCase"]);
                format!("{}.{name}()", self.receiver(Kind::Str, depth))
            }
            5 | 6 => {
                let text = self.receiver(Kind::Str, depth);
                let to = self.optional_arg(depth);
                format!("{text}.slice({}{to})", self.draw(Kind::Num, 0))
            }
            7 => {
                let kind = KINDS[self.rng.below(KINDS.len())];
                let arg = if self.rng.percent(3) { String::new() } else { self.draw(kind, depth) };
                format!("String({arg})")
            }
            8 | 9 => {
                let list = self.receiver_list(depth);
                let separator = if self.rng.percent(30) { String::new() } else { self.draw(Kind::Str, 0) };
                format!("{list}.join({separator})")
            }
            10 => {
                let task = self.receiver(Kind::Task, depth);
                format!("{task}{}{}", self.rng.pick(&[".", "?."]), self.rng.pick(&["title", "status", "agent?.name"]))
            }
            _ => {
                let list = if self.rng.percent(60) { Kind::Strs } else { Kind::Str };
                let list = self.receiver(list, depth);
                let index = self.draw(Kind::Num, 0);
                self.element(&list, &index)
            }
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(5) {
            return self.rng.pick(&["true", "false", "state.b", "!state.b", "reply.b"]).to_owned();
        }
        let depth = depth - 1;
        match self.rng.below(12) {
            0..=2 => {
                let kind = KINDS[self.rng.below(KINDS.len())];
                let other = if self.rng.percent(75) { kind } else { KINDS[self.rng.below(KINDS.len())] };
                let (left, right) = (self.draw(kind, depth), self.draw(other, depth));
                let op = self.rng.pick(&[" === ", " !== ", " == ", " != ", " < ", " <= ", " > ", " >= "]);
                self.infix(&left, op, &right)
            }
            3 => {
                let kind = KINDS[self.rng.below(KINDS.len())];
                let operand = self.receiver(kind, depth);
                format!("!{operand}")
            }
            4 => {
                let (left, right) = (self.draw(Kind::Bool, depth), self.draw(Kind::Bool, depth));
                let op = self.rng.pick(&[" && ", " || ", " ?? "]);
                self.infix(&left, op, &right)
            }
            5 | 6 => {
                let (list, element) = self.receiver_of(depth);
                let name = self.rng.pick(&["some", "every"]);
                format!("{list}.{name}({})", self.callback(element, Kind::Bool, depth))
            }
            7 => {
                let (list, element) = self.receiver_of(depth);
                let from = self.optional_arg(depth);
                format!("{list}.includes({}{from})", self.draw(element, depth))
            }
            8 => {
                let text = self.receiver(Kind::Str, depth);
                let name = self.rng.pick(&["includes", "startsWith", "endsWith"]);
                let at = self.optional_arg(depth);
                format!("{text}.{name}({}{at})", self.draw(Kind::Str, depth))
            }
            9 => {
                let key = if self.rng.percent(60) { self.field_name() } else { self.draw(Kind::Num, 0) };
                let kind = if self.rng.percent(60) { Kind::Object } else { Kind::List };
                let object = self.draw(kind, depth);
                self.infix(&key, " in ", &object)
            }
            10 => {
                let kind = KINDS[self.rng.below(KINDS.len())];
                format!("Array.isArray({})", self.draw(kind, depth))
            }
            _ => {
                let kind = KINDS[self.rng.below(KINDS.len())];
                format!("Boolean({})", self.draw(kind, depth))
            }
        }
    }

    fn nums(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(25) {
            return self.rng.pick(&["state.nums", "reply.nums", "[3, 1, 2]", "state?.nums", "[]", "[1, 2,]"]).to_owned();
        }
        let depth = depth - 1;
        match self.rng.below(6) {
            0 => self.filtered(Kind::Nums, Kind::Num, depth),
            1 => self.sliced(Kind::Nums, depth),
            2 => {
                let (list, element) = self.receiver_of(depth);
                format!("{list}.map({})", self.callback(element, Kind::Num, depth))
            }
            3 => {
                let (list, element) = self.receiver_of(depth);
                let body = if self.rng.percent(50) { Kind::Nums } else { Kind::Num };
                format!("{list}.flatMap({})", self.callback(element, body, depth))
            }
            4 => format!("Object.values({})", self.rng.pick(&["state.map", "reply.map", "state.nums"])),
            _ => {
                let count = self.rng.below(4);
                format!("[{}]", self.many(Kind::Num, depth, count))
            }
        }
    }

    fn strs(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(25) {
            return self.rng.pick(&["state.strs", "reply.strs", "['b', 'a']", "state.deep.a.list"]).to_owned();
        }
        let depth = depth - 1;
        match self.rng.below(6) {
            0 => self.filtered(Kind::Strs, Kind::Str, depth),
            1 => self.sliced(Kind::Strs, depth),
            2 => {
                let (list, element) = self.receiver_of(depth);
                format!("{list}.map({})", self.callback(element, Kind::Str, depth))
            }
            3 => {
                let kind = if self.rng.percent(70) { Kind::Object } else { KINDS[self.rng.below(KINDS.len())] };
                format!("Object.keys({})", self.draw(kind, depth))
            }
            4 => format!("{}.map(String)", self.receiver_list(depth)),
            _ => {
                let text = self.receiver(Kind::Str, depth);
                let limit = self.optional_arg(depth);
                let separator = self.rng.pick(&["','", "''", "' '", "'a'", "undefined", "null", "'😀'", "1"]);
                format!("{text}.split({separator}{limit})")
            }
        }
    }

    fn task(&mut self, depth: usize) -> String {
        let list = self.receiver(Kind::Tasks, depth.saturating_sub(1));
        if depth > 0 && self.rng.percent(40) {
            return format!("{list}.find({})", self.callback(Kind::Task, Kind::Bool, depth - 1));
        }
        let index = self.rng.pick(&["0", "1", "-1", "state.n"]).to_owned();
        self.element(&list, &index)
    }

    fn tasks(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(50) {
            return self.rng.pick(&["state.tasks", "reply.tasks", "state['tasks']"]).to_owned();
        }
        if self.rng.percent(60) {
            self.filtered(Kind::Tasks, Kind::Task, depth - 1)
        } else {
            self.sliced(Kind::Tasks, depth - 1)
        }
    }

    fn list(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.percent(30) {
            return self.rng.pick(&["state.mixed", "state.nested", "reply.mixed", "state.empty", "[]"]).to_owned();
        }
        let depth = depth - 1;
        match self.rng.below(5) {
            0 => {
                let count = self.rng.below(4);
                format!("[{}]", self.many(Kind::Any, depth, count))
            }
            1 => format!("Object.entries({})", self.draw(Kind::Object, depth)),
            2 => format!("Object.values({})", self.draw(Kind::Object, depth)),
            3 => {
                let body = KINDS[self.rng.below(KINDS.len())];
                let entries = format!("Object.entries({})", self.draw(Kind::Object, depth));
                let pattern = self.rng.pick(&["([x, y])", "([, y])", "([y], x)", "([x, ])"]);
                let before = self.locals.len();
                self.locals.push(("y", Kind::Any));
                if pattern != "([, y])" {
                    self.locals.push(("x", Kind::Any));
                }
                let body = self.draw(body, depth);
                self.locals.truncate(before);
                format!("{entries}.map({pattern} => {body})")
            }
            _ => {
                let kind = [Kind::Nums, Kind::Strs, Kind::Tasks][self.rng.below(3)];
                self.draw(kind, depth)
            }
        }
    }

    fn object(&mut self, depth: usize) -> String {
        match self.rng.below(5) {
            0 => self.draw(Kind::Task, depth),
            _ => self.rng.pick(&["state.obj", "state.map", "state.deep.a", "reply.obj", "state", "reply.map"]).to_owned(),
        }
    }

    /// Anything at all: most of what throws comes from here.
    fn any(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.rng.pick(&["null", "undefined", "state.z", "state.missing", "NaN", "state.obj", "state.mixed[0]", "''"]).to_owned();
        }
        let depth = depth - 1;
        let kind = KINDS[self.rng.below(KINDS.len())];
        match self.rng.below(8) {
            0 => {
                let object = self.receiver(kind, depth);
                let field = self.rng.pick(FIELDS);
                format!("{object}{}{field}", self.rng.pick(&[".", "?."]))
            }
            1 => {
                let object = self.receiver(kind, depth);
                let key = KINDS[self.rng.below(KINDS.len())];
                let key = if self.rng.percent(60) { self.draw(Kind::Num, 0) } else { self.draw(key, depth) };
                format!("{object}{}{key}]", self.rng.pick(&["[", "?.["]))
            }
            2 => {
                let object = self.receiver(kind, depth);
                let method = self.rng.pick(METHODS);
                let most = if matches!(method, "trim" | "toLowerCase" | "toUpperCase") { 0 } else { 1 };
                let args = self.many(Kind::Any, depth, most);
                format!("{object}{}{method}({args})", self.rng.pick(&[".", "?."]))
            }
            3 => {
                let (left, right) = (self.draw(kind, depth), self.draw(Kind::Any, depth));
                let op = self.rng.pick(&[" + ", " - ", " * ", " == ", " < ", " >= ", " % "]);
                self.infix(&left, op, &right)
            }
            4 => {
                let object = self.receiver(kind, depth);
                let inner = self.rng.pick(&["?.x.y", "?.[0].x", "?.a?.b.c", "?.length", "?.tags.length"]);
                format!("{object}{inner}")
            }
            5 => {
                let list = self.receiver(kind, depth);
                format!("{list}{}map({})", self.rng.pick(&[".", "?."]), self.callback(Kind::Any, Kind::Any, depth))
            }
            _ => self.draw(kind, depth),
        }
    }

    fn reduce(&mut self, depth: usize) -> String {
        let (list, element) = self.receiver_of(depth);
        let before = self.locals.len();
        let (names, params) = [("x", "(acc, x)"), ("x", "(acc, x, i)"), ("x", "(acc, x, i, all)")][self.rng.below(3)];
        self.locals.push(("acc", Kind::Num));
        self.locals.push((names, element));
        let body = self.draw(Kind::Num, depth);
        self.locals.truncate(before);
        let callback = if self.rng.percent(6) { "Number".to_owned() } else { format!("{params} => {body}") };
        if self.rng.percent(25) {
            return format!("{list}.reduce({callback})");
        }
        format!("{list}.reduce({callback}, {})", self.draw(Kind::Num, 0))
    }

    fn callback(&mut self, element: Kind, body: Kind, depth: usize) -> String {
        if self.rng.percent(8) {
            return self.rng.pick(&["Boolean", "Number", "String"]).to_owned();
        }
        let before = self.locals.len();
        let param = self.rng.pick(PARAMS);
        let params = match self.rng.below(10) {
            0..=4 => {
                self.locals.push((param, element));
                if self.rng.percent(50) { param.to_owned() } else { format!("({param})") }
            }
            5 => {
                self.locals.push((param, element));
                self.locals.push(("i", Kind::Num));
                format!("({param}, i)")
            }
            6 => {
                self.locals.push((param, element));
                self.locals.push(("all", Kind::List));
                format!("({param}, i, all)")
            }
            7 if element == Kind::Task => {
                self.locals.push(("priority", Kind::Num));
                self.locals.push(("title", Kind::Str));
                self.locals.push(("missing", Kind::Any));
                "({title, priority, missing})".to_owned()
            }
            8 if matches!(element, Kind::Str | Kind::Any) => {
                self.locals.push(("p", element));
                "([p, q])".to_owned()
            }
            9 => "()".to_owned(),
            _ => {
                self.locals.push((param, element));
                param.to_owned()
            }
        };
        let body = if element == Kind::Task && self.rng.percent(40) && params != "()" && !params.starts_with("({") {
            let field = self.rng.pick(&["status !== 'done'", "priority > 1", "title", "tags?.length", "agent?.name", "id"]);
            format!("{param}.{field}")
        } else {
            self.draw(body, depth)
        };
        self.locals.truncate(before);
        format!("{params} => {body}")
    }

    fn filtered(&mut self, kind: Kind, element: Kind, depth: usize) -> String {
        let list = self.receiver(kind, depth);
        format!("{list}.filter({})", self.callback(element, Kind::Bool, depth))
    }

    fn sliced(&mut self, kind: Kind, depth: usize) -> String {
        let list = self.receiver(kind, depth);
        let to = self.optional_arg(depth);
        format!("{list}.slice({}{to})", self.draw(Kind::Num, 0))
    }

    fn element(&mut self, list: &str, index: &str) -> String {
        match self.rng.below(3) {
            0 => format!("{list}.at({index})"),
            1 => format!("{list}?.[{index}]"),
            _ => format!("{list}[{index}]"),
        }
    }

    fn receiver_list(&mut self, depth: usize) -> String {
        self.receiver_of(depth).0
    }

    /// An array to call something on, and what its elements are.
    fn receiver_of(&mut self, depth: usize) -> (String, Kind) {
        let (list, element) = [
            (Kind::Nums, Kind::Num),
            (Kind::Strs, Kind::Str),
            (Kind::Tasks, Kind::Task),
            (Kind::List, Kind::Any),
        ][self.rng.below(4)];
        (self.receiver(list, depth), element)
    }

    /// An operand of a postfix: in parentheses unless it is simple.
    fn receiver(&mut self, kind: Kind, depth: usize) -> String {
        let text = self.draw(kind, depth);
        if is_simple(&text) && !self.rng.percent(5) { text } else { format!("({text})") }
    }

    fn many(&mut self, kind: Kind, depth: usize, count: usize) -> String {
        let items: Vec<String> = (0..count).map(|_| self.draw(kind, depth)).collect();
        items.join(", ")
    }

    fn optional_arg(&mut self, depth: usize) -> String {
        match self.rng.below(10) {
            0..=5 => String::new(),
            6..=8 => format!(", {}", self.draw(Kind::Num, 0)),
            _ => format!(", {}", self.draw(Kind::Any, depth)),
        }
    }

    fn infix(&mut self, left: &str, op: &str, right: &str) -> String {
        self.grouped(format!("{left}{op}{right}"))
    }

    /// Mostly in parentheses; without them precedence is under test.
    fn grouped(&mut self, text: String) -> String {
        if self.rng.percent(60) { format!("({text})") } else { text }
    }

    fn root(&mut self, field: &str) -> String {
        format!("{}.{field}", self.rng.pick(&["state", "reply"]))
    }

    fn field_name(&mut self) -> String {
        format!("'{}'", self.rng.pick(&["x", "id", "10", "a", "length", "toString", "missing", "0"]))
    }

    fn quoted(&mut self) -> String {
        let text = self.rng.pick(STRINGS);
        match self.rng.below(3) {
            0 => format!("'{}'", text.replace('\n', "\\n")),
            1 => format!("\"{}\"", text.replace('\n', "\\x0a")),
            _ => {
                let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
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
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ' ' | '-' | '+' | '!' if depth == 0 => return false,
            _ => {}
        }
    }
    !text.starts_with(|first: char| first.is_ascii_digit() || first == '.')
}
