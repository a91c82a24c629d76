//! Every name the language knows beside the author's own: methods, builtins, reserved words, and the
//! names JavaScript finds on its prototypes, which an expression may not hold.

/// Methods that call a function for each element of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Each {
    Some,
    Every,
    Filter,
    Map,
    Find,
    FindIndex,
    FlatMap,
    Reduce,
    ToSorted,
}

/// Methods of arrays and strings that take values only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    At,
    Concat,
    EndsWith,
    Includes,
    IndexOf,
    Join,
    LastIndexOf,
    Replace,
    ReplaceAll,
    Slice,
    Split,
    StartsWith,
    ToLowerCase,
    ToReversed,
    ToString,
    ToUpperCase,
    Trim,
}

/// Functions that may also stand as a callback by their bare name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Convert {
    Boolean,
    Number,
    String,
}

/// Functions that belong to no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    Convert(Convert),
    Keys,
    Values,
    Entries,
    IsArray,
    Min,
    Max,
    Abs,
    Floor,
    Ceil,
    Round,
    Sqrt,
    Pow,
    Trunc,
    Sign,
    Stringify,
    Parse,
    Text(TextFunction),
    Pointer(PointerFunction),
}

/// Functions of `Text`: ours, not JavaScript's. `matches` is not among them: its pattern is compiled
/// with the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextFunction {
    Words,
    Fingerprint,
    Similarity,
    Numbers,
    Slug,
    Fields,
}

/// Functions of `Pointer`: ours too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointerFunction {
    Has,
    Get,
}

const EACH: &[(&str, Each)] = &[
    ("some", Each::Some),
    ("every", Each::Every),
    ("filter", Each::Filter),
    ("map", Each::Map),
    ("find", Each::Find),
    ("findIndex", Each::FindIndex),
    ("flatMap", Each::FlatMap),
    ("reduce", Each::Reduce),
    ("toSorted", Each::ToSorted),
];

/// Name, id, and the most arguments it takes.
const METHODS: &[(&str, Method, usize)] = &[
    ("includes", Method::Includes, 2),
    ("indexOf", Method::IndexOf, 2),
    ("lastIndexOf", Method::LastIndexOf, 2),
    ("concat", Method::Concat, ANY),
    ("join", Method::Join, 1),
    ("slice", Method::Slice, 2),
    ("at", Method::At, 1),
    ("startsWith", Method::StartsWith, 2),
    ("endsWith", Method::EndsWith, 2),
    ("toReversed", Method::ToReversed, 0),
    ("toLowerCase", Method::ToLowerCase, 0),
    ("toUpperCase", Method::ToUpperCase, 0),
    ("trim", Method::Trim, 0),
    ("split", Method::Split, 2),
    ("replace", Method::Replace, 2),
    ("replaceAll", Method::ReplaceAll, 2),
    ("toString", Method::ToString, 1),
];

const ONE: usize = 1;
const TWO: usize = 2;
const THREE: usize = 3;
const ANY: usize = usize::MAX;

/// Namespace (empty for a plain function), name, id, and the most arguments it takes.
const BUILTINS: &[(&str, &str, Builtin, usize)] = &[
    ("", "Boolean", Builtin::Convert(Convert::Boolean), ONE),
    ("", "Number", Builtin::Convert(Convert::Number), ONE),
    ("", "String", Builtin::Convert(Convert::String), ONE),
    ("Object", "keys", Builtin::Keys, ONE),
    ("Object", "values", Builtin::Values, ONE),
    ("Object", "entries", Builtin::Entries, ONE),
    ("Array", "isArray", Builtin::IsArray, ONE),
    ("Math", "min", Builtin::Min, ANY),
    ("Math", "max", Builtin::Max, ANY),
    ("Math", "abs", Builtin::Abs, ONE),
    ("Math", "floor", Builtin::Floor, ONE),
    ("Math", "ceil", Builtin::Ceil, ONE),
    ("Math", "round", Builtin::Round, ONE),
    ("Math", "sqrt", Builtin::Sqrt, ONE),
    ("Math", "pow", Builtin::Pow, TWO),
    ("Math", "trunc", Builtin::Trunc, ONE),
    ("Math", "sign", Builtin::Sign, ONE),
    ("JSON", "stringify", Builtin::Stringify, THREE),
    ("JSON", "parse", Builtin::Parse, ONE),
    ("Text", "words", Builtin::Text(TextFunction::Words), ONE),
    ("Text", "fingerprint", Builtin::Text(TextFunction::Fingerprint), ONE),
    ("Text", "similarity", Builtin::Text(TextFunction::Similarity), TWO),
    ("Text", "numbers", Builtin::Text(TextFunction::Numbers), ONE),
    ("Text", "slug", Builtin::Text(TextFunction::Slug), ONE),
    ("Text", "fields", Builtin::Text(TextFunction::Fields), ONE),
    ("Pointer", "has", Builtin::Pointer(PointerFunction::Has), TWO),
    ("Pointer", "get", Builtin::Pointer(PointerFunction::Get), TWO),
];

/// The function whose second argument is a pattern.
pub(super) const MATCHES: (&str, &str) = ("Text", "matches");

impl Each {
    pub(super) fn named(name: &str) -> Option<Self> {
        EACH.iter().find(|(known, _)| *known == name).map(|(_, each)| *each)
    }

    pub(super) fn name(self) -> &'static str {
        EACH.iter().find(|(_, each)| *each == self).map_or("", |(name, _)| name)
    }
}

impl Method {
    pub(super) fn named(name: &str) -> Option<(Self, usize)> {
        METHODS.iter().find(|(known, ..)| *known == name).map(|(_, method, most)| (*method, *most))
    }

    pub(super) fn name(self) -> &'static str {
        METHODS.iter().find(|(_, method, _)| *method == self).map_or("", |(name, ..)| name)
    }
}

impl Builtin {
    /// Finds `Math.max` as `("Math", "max")` and `Number` as `("", "Number")`.
    pub(super) fn named(namespace: &str, name: &str) -> Option<(Self, usize)> {
        BUILTINS
            .iter()
            .find(|(space, known, ..)| *space == namespace && *known == name)
            .map(|(_, _, builtin, most)| (*builtin, *most))
    }

    /// Whether it is ours: JavaScript fills up missing arguments, our functions want them all.
    pub(super) fn is_ours(self) -> bool {
        matches!(self, Self::Text(_) | Self::Pointer(_))
    }
}

impl Convert {
    pub(super) fn named(name: &str) -> Option<Self> {
        match Builtin::named("", name) {
            Some((Builtin::Convert(convert), _)) => Some(convert),
            _ => None,
        }
    }
}

pub(super) fn is_namespace(name: &str) -> bool {
    BUILTINS.iter().any(|(space, ..)| *space == name)
}

/// The members of a namespace, for a hint.
pub(super) fn members(namespace: &str) -> Vec<&'static str> {
    let of = |space: &str| space == namespace;
    let named = BUILTINS.iter().filter(|(space, ..)| of(space)).map(|(_, name, ..)| *name);
    named.chain(of(MATCHES.0).then_some(MATCHES.1)).collect()
}

/// The names that stand for themselves: `Math`, `Number` and so on.
pub(super) fn globals() -> Vec<&'static str> {
    let mut names: Vec<&str> = BUILTINS
        .iter()
        .map(|(space, name, ..)| if space.is_empty() { *name } else { *space })
        .collect();
    names.dedup();
    names.extend(["undefined", "null", "true", "false", "NaN", "Infinity"]);
    names
}

/// Every method, for a hint.
pub(super) fn methods() -> Vec<&'static str> {
    each_methods().into_iter().chain(METHODS.iter().map(|(name, ..)| *name)).collect()
}

/// The methods that take a function, for a hint.
pub(super) fn each_methods() -> Vec<&'static str> {
    EACH.iter().map(|(name, _)| *name).collect()
}

/// Words that cannot name a parameter or a variable.
pub(super) fn is_reserved(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "arguments",
        "async",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
        "yield",
        "undefined",
        "NaN",
        "Infinity",
    ];
    WORDS.contains(&word)
}

/// Whose prototype a name is looked for on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prototype {
    Object,
    Array,
    String,
    Number,
    Boolean,
}

impl Prototype {
    /// Whether JavaScript would find a built-in function or accessor of this name.
    pub(super) fn has(self, name: &str) -> bool {
        let own = match self {
            Self::Object | Self::Boolean => &[],
            Self::Array => ARRAY_PROTOTYPE,
            Self::String => STRING_PROTOTYPE,
            Self::Number => NUMBER_PROTOTYPE,
        };
        own.contains(&name) || OBJECT_PROTOTYPE.contains(&name)
    }
}

const OBJECT_PROTOTYPE: &[&str] = &[
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

#[rustfmt::skip]
const ARRAY_PROTOTYPE: &[&str] = &[
    "at", "concat", "copyWithin", "entries", "every", "fill", "filter", "find", "findIndex",
    "findLast", "findLastIndex", "flat", "flatMap", "forEach", "includes", "indexOf", "join",
    "keys", "lastIndexOf", "map", "pop", "push", "reduce", "reduceRight", "reverse", "shift",
    "slice", "some", "sort", "splice", "toReversed", "toSorted", "toSpliced", "unshift", "values",
    "with",
];

#[rustfmt::skip]
const STRING_PROTOTYPE: &[&str] = &[
    "anchor", "at", "big", "blink", "bold", "charAt", "charCodeAt", "codePointAt", "concat",
    "endsWith", "fixed", "fontcolor", "fontsize", "includes", "indexOf", "isWellFormed", "italics",
    "lastIndexOf", "link", "localeCompare", "match", "matchAll", "normalize", "padEnd", "padStart",
    "repeat", "replace", "replaceAll", "search", "slice", "small", "split", "startsWith", "strike",
    "sub", "substr", "substring", "sup", "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase",
    "toUpperCase", "toWellFormed", "trim", "trimEnd", "trimLeft", "trimRight", "trimStart",
];

const NUMBER_PROTOTYPE: &[&str] = &["toExponential", "toFixed", "toPrecision"];
