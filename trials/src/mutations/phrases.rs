//! The sentences that replies consist of: four languages, and fragments that are difficult for
//! scanners.

use testkit::SeededRng;

/// The language of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyLanguage {
    English,
    Russian,
    Chinese,
    Korean,
}

impl ReplyLanguage {
    /// All languages of the trial.
    pub(crate) const ALL: [Self; 4] = [Self::English, Self::Russian, Self::Chinese, Self::Korean];

    fn sentences(self) -> &'static [&'static str] {
        match self {
            Self::English => &[
                "The draft doesn't cite the contract it relies on.",
                "Revenue for March is stated twice, and the two figures differ.",
                "It's unclear who approves the change; the owner's name is missing.",
                "Section 3 repeats section 2 word for word.",
                "Please attach the signed annex (PDF, max. 10 MB).",
                "The deadline has passed: nobody was told.",
                "All tests pass, except the one that was skipped.",
                "Ask the client whether the 12% discount still holds.",
            ],
            Self::Russian => &[
                "В черновике нет ссылки на договор, на который он опирается.",
                "Выручка за март указана дважды, и цифры расходятся.",
                "Неясно, кто утверждает изменение: имя владельца не указано.",
                "Раздел «Сроки» повторяет предыдущий раздел слово в слово.",
                "Приложите подписанное приложение (PDF, не более 10 МБ).",
                "Срок истёк, никого не предупредили.",
                "Уточните у клиента, действует ли ещё скидка 12 %.",
            ],
            Self::Chinese => &[
                "草稿没有引用它所依据的合同。",
                "三月份的收入出现了两次，而且数字不一致。",
                "不清楚由谁批准变更：缺少负责人的姓名。",
                "“期限”一节与上一节逐字重复。",
                "请附上已签署的附件（PDF，最大 10 MB）。",
                "截止日期已过，没有人被告知。",
                "请向客户确认 12% 的折扣是否仍然有效。",
            ],
            Self::Korean => &[
                "초안은 근거가 되는 계약을 인용하지 않았습니다.",
                "3월 매출이 두 번 나오며 숫자가 서로 다릅니다.",
                "누가 변경을 승인하는지 분명하지 않습니다: 담당자 이름이 없습니다.",
                "‘기한’ 절은 앞 절을 그대로 반복합니다.",
                "서명된 부속서를 첨부해 주세요(PDF, 최대 10MB).",
                "기한이 지났지만 아무도 알지 못했습니다.",
                "12% 할인이 아직 유효한지 고객에게 확인하세요.",
            ],
        }
    }
}

/// Braces, quotes, backslashes, code, addresses, JSON and line breaks, all of them inside a string.
const TRICKY: &[&str] = &[
    "{\"verdict\": \"PASS\"}",
    "see {section} and [table 4], then }",
    "he said \"no\", then \"yes\"",
    "it's the client's, isn't it",
    "C:\\Users\\Olga\\договор.docx",
    "\\d+\\.\\d{2}",
    "https://example.org/a?b=1&c={id}#x//y",
    "fn main() { println!(\"{}\", 1); }",
    "```json\n{\"a\": [1, 2,]}\n```",
    "line one\nline two\n\tindented",
    "a, b, c: d; e",
    "// not a comment",
    "/* neither */ is this",
    "<think>hm</think>",
    "“typographic” and ‘single’ and «ёлочки»",
    "key: value, \"key\": \"value\",",
    "100% — 1e400 — 0.1",
    "ends with a backslash \\",
    "😀 𝒳 \u{200b}zero width",
    "None, True, null",
    "[1, 2, 3]",
    "\", \"risk_level\": \"low",
    "'single' 'quotes'",
    "a\r\nb",
    "\u{1}control\u{1f}",
];

/// Generates text of about `bytes` bytes, at least one sentence.
pub(crate) fn random_text(rng: &mut SeededRng, language: ReplyLanguage, bytes: usize) -> String {
    let mut text = random_sentence(rng, language);
    while text.len() < bytes {
        text.push_str(if rng.roll_percent(15) { "\n" } else { " " });
        let next = if rng.roll_percent(30) {
            (*rng.pick(TRICKY)).to_owned()
        } else {
            random_sentence(rng, language)
        };
        text.push_str(&next);
    }
    text
}

/// Generates one sentence, sometimes followed by a tricky fragment.
pub(crate) fn random_sentence(rng: &mut SeededRng, language: ReplyLanguage) -> String {
    let sentence = *rng.pick(language.sentences());
    if rng.roll_percent(25) {
        format!("{sentence} {}", rng.pick(TRICKY))
    } else {
        sentence.to_owned()
    }
}

/// Picks one sentence of plain words, for prose around an object.
pub(crate) fn random_plain_sentence(rng: &mut SeededRng, language: ReplyLanguage) -> &'static str {
    let sentences = language.sentences();
    sentences[rng.next_below(sentences.len())]
}
