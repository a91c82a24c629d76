//! The text around an object: fences, prose in four languages, reasoning, a byte-order mark.

use super::corrupt::Corruption;
use super::phrases::{self, ReplyLanguage};
use testkit::SeededRng;

/// Picks prose that introduces an object.
pub(crate) fn pick_lead_in(rng: &mut SeededRng, language: ReplyLanguage) -> &'static str {
    let known: &[&'static str] = match language {
        ReplyLanguage::English => &[
            "Here's the JSON you asked for:",
            "Sure! My verdict:",
            "Result (see [1] and {notes}):",
        ],
        ReplyLanguage::Russian => {
            &["Вот JSON, который вы просили:", "Конечно! Моё решение:", "Результат (см. [1]):"]
        }
        ReplyLanguage::Chinese => &["这是您要的 JSON：", "好的！我的结论：", "结果（见 [1]）："],
        ReplyLanguage::Korean => &["요청하신 JSON입니다:", "네! 제 판단은:", "결과([1] 참조):"],
    };
    known[rng.next_below(known.len())]
}

/// Picks prose that follows an object.
pub(crate) fn pick_closing(rng: &mut SeededRng, language: ReplyLanguage) -> &'static str {
    let known: &[&'static str] = match language {
        ReplyLanguage::English => &[
            "Let me know if you'd like changes.",
            "That's all; the \"annex\" follows.",
            "Note: {none}",
        ],
        ReplyLanguage::Russian => {
            &["Если нужно что-то изменить, напишите.", "Это всё, «приложение» следом."]
        }
        ReplyLanguage::Chinese => &["如需修改，请告诉我。", "以上就是全部“结论”。"],
        ReplyLanguage::Korean => &["수정이 필요하면 알려 주세요.", "이상입니다."],
    };
    known[rng.next_below(known.len())]
}

/// Wraps an object in a code fence.
pub(crate) fn wrap_in_fence(rng: &mut SeededRng, object: &str, closed: bool) -> String {
    let (mark, info) = *rng.pick(&[
        ("```", "json"),
        ("```", ""),
        ("```", "JSON"),
        ("~~~", "json"),
        ("````", "json5"),
    ]);
    let end = if closed { format!("\n{mark}") } else { String::new() };
    format!("{mark}{info}\n{object}{end}")
}

/// Wraps text in a reasoning block.
pub(crate) fn wrap_in_reasoning(rng: &mut SeededRng, inside: &str) -> String {
    let tag = *rng.pick(&["think", "thinking", "reasoning", "Think", "scratchpad"]);
    format!("<{tag}>{inside}</{tag}>")
}

/// Wraps an object as the corruptions of the last stage require. Nothing follows a truncated
/// object.
pub(crate) fn wrap_object(
    rng: &mut SeededRng,
    object: &str,
    around: &[Corruption],
    cut: bool,
) -> String {
    let language = *rng.pick(&ReplyLanguage::ALL);
    let mut text = object.to_owned();
    if around.contains(&Corruption::Fence) {
        text = wrap_in_fence(rng, &text, !cut);
    }
    if around.contains(&Corruption::Prose) {
        if rng.roll_percent(80) {
            text = format!("{}\n\n{text}", pick_lead_in(rng, language));
        }
        if !cut && rng.roll_percent(60) {
            text = format!("{text}\n\n{}", pick_closing(rng, language));
        }
    }
    if around.contains(&Corruption::Think) {
        let thought = phrases::random_plain_sentence(rng, language);
        let fragment =
            *rng.pick(&["", " {\"draft\": 1}", " so [a, b", " \"risk\": {", " maybe {}?"]);
        text = format!("{}\n\n{text}", wrap_in_reasoning(rng, &format!("{thought}{fragment}")));
    }
    if around.contains(&Corruption::ByteOrderMark) {
        text.insert(0, '\u{feff}');
    }
    text
}
