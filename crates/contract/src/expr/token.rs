//! Tokens that the lexer passes to the parser.

use super::ast::ExprSpan;

/// One token, its span, and whether a line ended before it.
#[derive(Debug, Clone)]
pub(super) struct ExprToken<'s> {
    pub(super) kind: ExprTokenKind<'s>,
    pub(super) span: ExprSpan,
    pub(super) after_newline: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprTokenKind<'s> {
    /// An identifier or a reserved word; only the parser can distinguish them.
    Name(&'s str),
    Num(f64),
    Str(String),
    /// A backtick; the parser requests the following chunks from the lexer.
    Template,
    Punct(ExprPunct),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExprPunct {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Spread,
    Dot,
    OptionalDot,
    Question,
    Colon,
    Arrow,
    Not,
    NotEqual,
    StrictNotEqual,
    Equal,
    StrictEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    And,
    Or,
    Coalesce,
}

/// Meaning of a punctuation spelling: a token of the language, or an unsupported part of
/// JavaScript.
pub(super) enum PunctSpelling {
    Token(ExprPunct),
    Unsupported { feature: &'static str, hint: Option<&'static str> },
}

const ASSIGNMENT: PunctSpelling =
    PunctSpelling::Unsupported { feature: "assignment", hint: Some("compare with `===`") };
const INCREMENT: PunctSpelling = PunctSpelling::Unsupported {
    feature: "increment and decrement",
    hint: Some("write `+ 1` or `- 1`"),
};
const BIT_OPERATOR: PunctSpelling = PunctSpelling::Unsupported {
    feature: "bit operators",
    hint: Some("combine conditions with `&&`, `||` and `!`"),
};
const COMMENT: PunctSpelling = PunctSpelling::Unsupported { feature: "comments", hint: None };

/// Every spelling, listed before its own prefixes so that the longest one matches.
pub(super) const PUNCT_SPELLINGS: &[(&str, PunctSpelling)] = &[
    (">>>=", ASSIGNMENT),
    ("<!--", COMMENT),
    ("===", PunctSpelling::Token(ExprPunct::StrictEqual)),
    ("!==", PunctSpelling::Token(ExprPunct::StrictNotEqual)),
    ("...", PunctSpelling::Token(ExprPunct::Spread)),
    ("**=", ASSIGNMENT),
    ("&&=", ASSIGNMENT),
    ("||=", ASSIGNMENT),
    ("??=", ASSIGNMENT),
    ("<<=", ASSIGNMENT),
    (">>=", ASSIGNMENT),
    (">>>", BIT_OPERATOR),
    ("==", PunctSpelling::Token(ExprPunct::Equal)),
    ("!=", PunctSpelling::Token(ExprPunct::NotEqual)),
    ("<=", PunctSpelling::Token(ExprPunct::LessOrEqual)),
    (">=", PunctSpelling::Token(ExprPunct::GreaterOrEqual)),
    ("=>", PunctSpelling::Token(ExprPunct::Arrow)),
    ("&&", PunctSpelling::Token(ExprPunct::And)),
    ("||", PunctSpelling::Token(ExprPunct::Or)),
    ("??", PunctSpelling::Token(ExprPunct::Coalesce)),
    ("?.", PunctSpelling::Token(ExprPunct::OptionalDot)),
    ("//", COMMENT),
    ("/*", COMMENT),
    ("++", INCREMENT),
    ("--", INCREMENT),
    (
        "**",
        PunctSpelling::Unsupported {
            feature: "the power operator",
            hint: Some("multiply instead"),
        },
    ),
    ("+=", ASSIGNMENT),
    ("-=", ASSIGNMENT),
    ("*=", ASSIGNMENT),
    ("/=", ASSIGNMENT),
    ("%=", ASSIGNMENT),
    ("&=", ASSIGNMENT),
    ("|=", ASSIGNMENT),
    ("^=", ASSIGNMENT),
    ("<<", BIT_OPERATOR),
    (">>", BIT_OPERATOR),
    ("(", PunctSpelling::Token(ExprPunct::OpenParen)),
    (")", PunctSpelling::Token(ExprPunct::CloseParen)),
    ("[", PunctSpelling::Token(ExprPunct::OpenBracket)),
    ("]", PunctSpelling::Token(ExprPunct::CloseBracket)),
    ("{", PunctSpelling::Token(ExprPunct::OpenBrace)),
    ("}", PunctSpelling::Token(ExprPunct::CloseBrace)),
    (",", PunctSpelling::Token(ExprPunct::Comma)),
    (".", PunctSpelling::Token(ExprPunct::Dot)),
    ("?", PunctSpelling::Token(ExprPunct::Question)),
    (":", PunctSpelling::Token(ExprPunct::Colon)),
    ("!", PunctSpelling::Token(ExprPunct::Not)),
    ("<", PunctSpelling::Token(ExprPunct::Less)),
    (">", PunctSpelling::Token(ExprPunct::Greater)),
    ("+", PunctSpelling::Token(ExprPunct::Plus)),
    ("-", PunctSpelling::Token(ExprPunct::Minus)),
    ("*", PunctSpelling::Token(ExprPunct::Star)),
    ("/", PunctSpelling::Token(ExprPunct::Slash)),
    ("%", PunctSpelling::Token(ExprPunct::Percent)),
    ("=", ASSIGNMENT),
    ("&", BIT_OPERATOR),
    ("|", BIT_OPERATOR),
    ("^", BIT_OPERATOR),
    ("~", BIT_OPERATOR),
    (";", PunctSpelling::Unsupported { feature: "more than one statement", hint: None }),
    ("#", PunctSpelling::Unsupported { feature: "private names", hint: None }),
    ("@", PunctSpelling::Unsupported { feature: "decorators", hint: None }),
];
