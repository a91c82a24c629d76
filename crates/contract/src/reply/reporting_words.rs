//! Words that mark an object as an example, as someone else's, or as not meant.
//!
//! "Here is the result: {…}" and "an example of the format: {…}" have the same position, so the
//! position alone cannot tell them apart. These words only ever refuse, and only in the sentence
//! that introduces an object or follows it on its line. If a word is missing from a list, an object
//! is accepted that would also be accepted without the lists.

/// The number of characters of a line, counted from the object, that are examined.
const WINDOW_CHARS: usize = 240;

/// Words of examples, quotations and reported speech.
const REPORTING_WORDS: &str = "\
    example examples instance sample template placeholder snippet e.g wrote writes \
    says said saying asks tells told instructs instructed claims claimed demands demanded \
    wants quoted quote quotes quoting quotation injected injection attacker malicious \
    pasted embedded suspicious пример примеру например шаблон написал \
    написала написали написано пишет говорит сказано сказал просит требует велит цитата \
    цитирую содержит вставил beispiel vorlage schrieb schreibt sagt sagte verlangt fordert \
    steht zitat enthält exemple écrit dit contient ejemplo plantilla escribió dice dijo pide \
    contiene exemplo escreveu esempio earlier previous previously hypothetical";

/// Words of the same kind that also occur when a model presents its own reply: "here is the JSON
/// according to the schema, with the invalid field removed".
const WEAK_REPORTING_WORDS: &str =
    "according incorrect invalid contains contained written wanted instead no rather";

/// Words that present a corrected version of a refused answer.
const CORRECTION_WORDS: &str =
    "corrected fixed updated revised исправленный исправленная korrigierte";

/// Words of a short label that names someone else's text: `Input: {…}`.
const LABEL_WORDS: &str = "\
    input prompt schema document context question original user expected ввод документ \
    вопрос 输入 문서";

/// The maximum number of words in a label.
const MAX_LABEL_WORDS: usize = 3;

/// Words that negate or reject what follows them.
const NEGATION_WORDS: &str = "\
    not never cannot dont wont cant doesnt ignore ignored ignoring refuse refused disagree \
    не нельзя игнорирую nicht niemals kein pas jamais nunca não non mai wrong reject decline";

/// Words that begin the presentation of the model's own reply.
const PRESENTATION_WORDS: &str = "here heres вот hier voici aquí aqui ecco";

/// Words of reports and refusals in scripts that do not separate words by spaces.
const UNSPACED_REPORTING_WORDS: &str = "\
    例如 例子 示例 样例 範例 模板 写道 写着 说道 说： 说: 要求我 声称 引用 不要 不能 不会 请勿 忽略 注入 包含 예시 예: 템플릿 썼 쓰여 적혀 라고 인용 \
    마세요 않 무시 書いて 例：";

/// Returns whether the sentence at the end of `line` says that the object after it is quoted, an
/// example or refused.
pub(super) fn reports_before(line: &str) -> bool {
    let skipped = line.chars().count().saturating_sub(WINDOW_CHARS);
    let start = line.char_indices().nth(skipped).map_or(0, |(at, _)| at);
    let line = &line[start..];
    let end = line.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let sentence = line[..end].rfind(['.', '!', '?', '。', '！', '？']);
    // The dots of `e.g.` do not end a sentence.
    let sentence = sentence.filter(|at| !line[..*at].ends_with("e.g"));
    let sentence = sentence.map_or(line, |at| &line[at..]);
    let clause = sentence[..sentence.len() - (line.len() - end)].rfind([',', '，']);
    let clause = clause.map_or(sentence, |at| &sentence[at..]);
    // "For the mail you pasted, here is …" presents a reply; the part before the comma is the
    // reason.
    let first = clause.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let presents = first.is_some_and(|word| contains_any_word(word, PRESENTATION_WORDS));
    let sentence = if presents { clause } else { sentence };
    if presents && contains_any_word(sentence, CORRECTION_WORDS) {
        return contains_any_word(sentence, NEGATION_WORDS);
    }
    let label = sentence.split_whitespace().count() <= MAX_LABEL_WORDS;
    contains_any_word(sentence, REPORTING_WORDS)
        || (!presents && contains_any_word(sentence, WEAK_REPORTING_WORDS))
        || contains_any_word(clause, NEGATION_WORDS)
        || (label && contains_any_word(sentence, LABEL_WORDS))
        || is_unspaced_report(sentence)
}

/// Returns whether the text after an object says that the object is quoted, an example or refused.
pub(super) fn reports_after(rest: &str) -> bool {
    let rest = take_window(rest);
    contains_any_word(rest, REPORTING_WORDS)
        || contains_any_word(rest, WEAK_REPORTING_WORDS)
        || contains_any_word(rest, NEGATION_WORDS)
        || is_unspaced_report(rest)
}

/// Returns whether a comment after an object says that it is an example or someone else's.
pub(super) fn reports_in_comment(rest: &str) -> bool {
    let rest = take_window(rest);
    contains_any_word(rest, REPORTING_WORDS) || is_unspaced_report(rest)
}

fn take_window(rest: &str) -> &str {
    let end = rest.char_indices().nth(WINDOW_CHARS).map_or(rest.len(), |(at, _)| at);
    &rest[..end]
}

fn contains_any_word(text: &str, words: &str) -> bool {
    let text = text.to_lowercase().replace(['\'', '’'], "");
    text.split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .any(|word| words.split_whitespace().any(|known| known == word))
}

fn is_unspaced_report(text: &str) -> bool {
    UNSPACED_REPORTING_WORDS.split_whitespace().any(|word| text.contains(word))
}
