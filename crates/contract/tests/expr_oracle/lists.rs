//! The other half of the generator: arrays, objects, anything at all, and the callbacks that walk them.

use super::expressions::{Generator, KINDS, Kind};

const PARAMS: &[&str] = &["x", "y", "t", "a", "acc", "имя", "$v", "_", "reply"];
const FIELDS: &[&str] = &[
    "id",
    "title",
    "status",
    "agent",
    "priority",
    "tags",
    "name",
    "x",
    "length",
    "n",
    "s",
    "nums",
    "obj",
    "missing",
    "имя",
    "key",
    "a",
    "b",
    "map",
    "toString",
    "constructor",
    "valueOf",
];
const METHODS: &[&str] = &[
    "includes",
    "indexOf",
    "lastIndexOf",
    "concat",
    "toReversed",
    "join",
    "slice",
    "at",
    "startsWith",
    "endsWith",
    "split",
    "toLowerCase",
    "toUpperCase",
    "trim",
    "replace",
    "replaceAll",
    "toString",
];

impl Generator<'_> {
    pub(crate) fn nums(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(25) {
            return self
                .rng
                .pick_ref(&[
                    "state.nums",
                    "reply.nums",
                    "[3, 1, 2]",
                    "state?.nums",
                    "[]",
                    "[1, 2,]",
                ])
                .to_owned();
        }
        let depth = depth - 1;
        match self.rng.next_below(9) {
            6 => format!("{}.toReversed()", self.receiver(Kind::Nums, depth)),
            7 => {
                let list = self.receiver(Kind::Nums, depth);
                let other = KINDS[self.rng.next_below(KINDS.len())];
                format!(
                    "{list}.concat({}, {})",
                    self.draw(Kind::Nums, depth),
                    self.draw(other, depth)
                )
            }
            8 => self.spread(Kind::Nums, depth),
            0 => self.filtered(Kind::Nums, Kind::Num, depth),
            1 => self.sliced(Kind::Nums, depth),
            2 => {
                let (list, element) = self.receiver_of(depth);
                format!("{list}.map({})", self.callback(element, Kind::Num, depth))
            }
            3 => {
                let (list, element) = self.receiver_of(depth);
                let body = if self.rng.roll_percent(50) { Kind::Nums } else { Kind::Num };
                format!("{list}.flatMap({})", self.callback(element, body, depth))
            }
            4 => format!(
                "Object.values({})",
                self.rng.pick_ref(&["state.map", "reply.map", "state.nums"])
            ),
            _ => {
                let count = self.rng.next_below(4);
                format!("[{}]", self.many(Kind::Num, depth, count))
            }
        }
    }

    pub(crate) fn strs(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(25) {
            return self
                .rng
                .pick_ref(&["state.strs", "reply.strs", "['b', 'a']", "state.deep.a.list"])
                .to_owned();
        }
        let depth = depth - 1;
        match self.rng.next_below(7) {
            6 => {
                let kind = if self.rng.roll_percent(50) { Kind::Strs } else { Kind::Str };
                self.spread(kind, depth)
            }
            0 => self.filtered(Kind::Strs, Kind::Str, depth),
            1 => self.sliced(Kind::Strs, depth),
            2 => {
                let (list, element) = self.receiver_of(depth);
                format!("{list}.map({})", self.callback(element, Kind::Str, depth))
            }
            3 => {
                let kind = if self.rng.roll_percent(70) {
                    Kind::Object
                } else {
                    KINDS[self.rng.next_below(KINDS.len())]
                };
                format!("Object.keys({})", self.draw(kind, depth))
            }
            4 => format!("{}.map(String)", self.receiver_list(depth)),
            _ => {
                let text = self.receiver(Kind::Str, depth);
                let limit = self.optional_arg(depth);
                let separator = self.rng.pick_ref(&[
                    "','",
                    "''",
                    "' '",
                    "'a'",
                    "undefined",
                    "null",
                    "'😀'",
                    "1",
                ]);
                format!("{text}.split({separator}{limit})")
            }
        }
    }

    pub(crate) fn task(&mut self, depth: usize) -> String {
        let list = self.receiver(Kind::Tasks, depth.saturating_sub(1));
        if depth > 0 && self.rng.roll_percent(40) {
            return format!("{list}.find({})", self.callback(Kind::Task, Kind::Bool, depth - 1));
        }
        let index = self.rng.pick_ref(&["0", "1", "-1", "state.n"]).to_owned();
        self.element(&list, &index)
    }

    pub(crate) fn tasks(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(50) {
            return self.rng.pick_ref(&["state.tasks", "reply.tasks", "state['tasks']"]).to_owned();
        }
        if self.rng.roll_percent(60) {
            self.filtered(Kind::Tasks, Kind::Task, depth - 1)
        } else {
            self.sliced(Kind::Tasks, depth - 1)
        }
    }

    pub(crate) fn list(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.roll_percent(30) {
            return self
                .rng
                .pick_ref(&["state.mixed", "state.nested", "reply.mixed", "state.empty", "[]"])
                .to_owned();
        }
        let depth = depth - 1;
        match self.rng.next_below(7) {
            5 => {
                let kind = if self.rng.roll_percent(80) {
                    [Kind::Nums, Kind::Strs, Kind::Tasks, Kind::List][self.rng.next_below(4)]
                } else {
                    KINDS[self.rng.next_below(KINDS.len())]
                };
                self.spread(kind, depth)
            }
            6 => {
                let (list, element) = self.receiver_of(depth);
                format!("{list}.map({})", self.callback(element, Kind::Object, depth))
            }
            0 => {
                let count = self.rng.next_below(4);
                format!("[{}]", self.many(Kind::Any, depth, count))
            }
            1 => format!("Object.entries({})", self.draw(Kind::Object, depth)),
            2 => format!("Object.values({})", self.draw(Kind::Object, depth)),
            3 => {
                let body = KINDS[self.rng.next_below(KINDS.len())];
                let entries = format!("Object.entries({})", self.draw(Kind::Object, depth));
                let pattern = self.rng.pick_ref(&["([x, y])", "([, y])", "([y], x)", "([x, ])"]);
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
                let kind = [Kind::Nums, Kind::Strs, Kind::Tasks][self.rng.next_below(3)];
                self.draw(kind, depth)
            }
        }
    }

    pub(crate) fn object(&mut self, depth: usize) -> String {
        match self.rng.next_below(9) {
            0 => self.draw(Kind::Task, depth),
            1..=4 if depth > 0 => self.literal(depth - 1),
            _ => self
                .rng
                .pick_ref(&[
                    "state.obj",
                    "state.map",
                    "state.deep.a",
                    "reply.obj",
                    "state",
                    "reply.map",
                ])
                .to_owned(),
        }
    }

    /// An array literal with a spread in it.
    fn spread(&mut self, kind: Kind, depth: usize) -> String {
        let list = self.draw(kind, depth);
        match self.rng.next_below(4) {
            0 => format!("[...{list}]"),
            1 => format!("[{}, ...{list}]", self.draw(Kind::Num, depth)),
            2 => format!("[...{list}, ...{}]", self.draw(kind, depth)),
            _ => format!("[...{list}, {},]", self.draw(Kind::Num, depth)),
        }
    }

    /// An object literal with parts of every form.
    fn literal(&mut self, depth: usize) -> String {
        let count = self.rng.next_below(5);
        let parts: Vec<String> = (0..count).map(|_| self.part(depth)).collect();
        let comma = if count > 0 && self.rng.roll_percent(10) { "," } else { "" };
        format!("{{{}{comma}}}", parts.join(", "))
    }

    fn part(&mut self, depth: usize) -> String {
        let kind = KINDS[self.rng.next_below(KINDS.len())];
        match self.rng.next_below(10) {
            0..=3 => {
                let name = self.rng.pick_ref(&[
                    "id", "title", "status", "x", "n", "s", "имя", "class", "new", "in",
                    "toString", "'a b'", "\"10\"", "9", "1", "0x10", "1.5", "1e21", ".5", "''",
                    "length",
                ]);
                format!("{name}: {}", self.draw(kind, depth))
            }
            4 | 5 => {
                let key = if self.rng.roll_percent(70) { Kind::Str } else { kind };
                format!("[{}]: {}", self.draw(key, depth), self.draw(kind, depth))
            }
            6 => "['__proto__']: 1".to_owned(),
            7 => match self.locals.last() {
                Some((name, _)) => (*name).to_owned(),
                None => self.rng.pick_ref(&["state", "reply", "undefined", "NaN"]).to_owned(),
            },
            _ => {
                let kind = if self.rng.roll_percent(60) { Kind::Object } else { kind };
                format!("...{}", self.draw(kind, depth))
            }
        }
    }

    /// Anything at all: most of what throws comes from here.
    pub(crate) fn any(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self
                .rng
                .pick_ref(&[
                    "null",
                    "undefined",
                    "state.z",
                    "state.missing",
                    "NaN",
                    "state.obj",
                    "state.mixed[0]",
                    "''",
                ])
                .to_owned();
        }
        let depth = depth - 1;
        let kind = KINDS[self.rng.next_below(KINDS.len())];
        match self.rng.next_below(9) {
            8 => {
                let kind = KINDS[self.rng.next_below(KINDS.len())];
                let text = match self.rng.next_below(4) {
                    0 => self.draw(Kind::Str, depth),
                    1 => "'{\"a\": [1, -0, {\"10\": null, \"9\": \"\\u00e9\"}], \"a\": true}'"
                        .to_owned(),
                    _ => format!("JSON.stringify({})", self.draw(kind, depth)),
                };
                format!("JSON.parse({text})")
            }
            0 => {
                let object = self.receiver(kind, depth);
                let field = self.rng.pick_ref(FIELDS);
                format!("{object}{}{field}", self.rng.pick_ref(&[".", "?."]))
            }
            1 => {
                let object = self.receiver(kind, depth);
                let key = KINDS[self.rng.next_below(KINDS.len())];
                let key = if self.rng.roll_percent(60) {
                    self.draw(Kind::Num, 0)
                } else {
                    self.draw(key, depth)
                };
                format!("{object}{}{key}]", self.rng.pick_ref(&["[", "?.["]))
            }
            2 => {
                let object = self.receiver(kind, depth);
                let method = self.rng.pick_ref(METHODS);
                let bare = matches!(method, "trim" | "toLowerCase" | "toUpperCase" | "toReversed");
                let most = usize::from(!bare);
                let args = self.many(Kind::Any, depth, most);
                format!("{object}{}{method}({args})", self.rng.pick_ref(&[".", "?."]))
            }
            3 => {
                let (left, right) = (self.draw(kind, depth), self.draw(Kind::Any, depth));
                let op = self.rng.pick_ref(&[" + ", " - ", " * ", " == ", " < ", " >= ", " % "]);
                self.infix(&left, op, &right)
            }
            4 => {
                let object = self.receiver(kind, depth);
                let inner = self.rng.pick_ref(&[
                    "?.x.y",
                    "?.[0].x",
                    "?.a?.b.c",
                    "?.length",
                    "?.tags.length",
                ]);
                format!("{object}{inner}")
            }
            5 => {
                let list = self.receiver(kind, depth);
                format!(
                    "{list}{}map({})",
                    self.rng.pick_ref(&[".", "?."]),
                    self.callback(Kind::Any, Kind::Any, depth)
                )
            }
            _ => self.draw(kind, depth),
        }
    }

    pub(crate) fn reduce(&mut self, depth: usize) -> String {
        let (list, element) = self.receiver_of(depth);
        let before = self.locals.len();
        let (names, params) = [("x", "(acc, x)"), ("x", "(acc, x, i)"), ("x", "(acc, x, i, all)")]
            [self.rng.next_below(3)];
        self.locals.push(("acc", Kind::Num));
        self.locals.push((names, element));
        let body = self.draw(Kind::Num, depth);
        self.locals.truncate(before);
        let callback = if self.rng.roll_percent(6) {
            "Number".to_owned()
        } else {
            format!("{params} => {body}")
        };
        if self.rng.roll_percent(25) {
            return format!("{list}.reduce({callback})");
        }
        format!("{list}.reduce({callback}, {})", self.draw(Kind::Num, 0))
    }

    pub(crate) fn callback(&mut self, element: Kind, body: Kind, depth: usize) -> String {
        if self.rng.roll_percent(8) {
            return self.rng.pick_ref(&["Boolean", "Number", "String"]).to_owned();
        }
        let before = self.locals.len();
        let param = self.rng.pick_ref(PARAMS);
        let params = match self.rng.next_below(10) {
            0..=4 => {
                self.locals.push((param, element));
                if self.rng.roll_percent(50) { param.to_owned() } else { format!("({param})") }
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
        let body = if element == Kind::Task
            && self.rng.roll_percent(40)
            && params != "()"
            && !params.starts_with("({")
        {
            let field = self.rng.pick_ref(&[
                "status !== 'done'",
                "priority > 1",
                "title",
                "tags?.length",
                "agent?.name",
                "id",
            ]);
            format!("{param}.{field}")
        } else {
            self.draw(body, depth)
        };
        self.locals.truncate(before);
        // A brace would begin a block.
        let body = if body.starts_with('{') && !self.rng.roll_percent(2) {
            format!("({body})")
        } else {
            body
        };
        format!("{params} => {body}")
    }

    pub(crate) fn filtered(&mut self, kind: Kind, element: Kind, depth: usize) -> String {
        let list = self.receiver(kind, depth);
        format!("{list}.filter({})", self.callback(element, Kind::Bool, depth))
    }

    pub(crate) fn sliced(&mut self, kind: Kind, depth: usize) -> String {
        let list = self.receiver(kind, depth);
        let to = self.optional_arg(depth);
        format!("{list}.slice({}{to})", self.draw(Kind::Num, 0))
    }

    pub(crate) fn element(&mut self, list: &str, index: &str) -> String {
        match self.rng.next_below(3) {
            0 => format!("{list}.at({index})"),
            1 => format!("{list}?.[{index}]"),
            _ => format!("{list}[{index}]"),
        }
    }

    pub(crate) fn receiver_list(&mut self, depth: usize) -> String {
        self.receiver_of(depth).0
    }

    /// An array to call something on, and what its elements are.
    pub(crate) fn receiver_of(&mut self, depth: usize) -> (String, Kind) {
        let (list, element) = [
            (Kind::Nums, Kind::Num),
            (Kind::Strs, Kind::Str),
            (Kind::Tasks, Kind::Task),
            (Kind::List, Kind::Any),
        ][self.rng.next_below(4)];
        (self.receiver(list, depth), element)
    }
}
