//! Recognizes requests for what the assistant said before: "which hotel did you recommend?".

/// Whom such a request speaks to, in lower case; in scripts without spaces, part of a phrase.
const ADDRESSED: [&str; 20] = [
    "you",
    "your",
    "ты",
    "вы",
    "твой",
    "твоя",
    "твое",
    "твои",
    "твоему",
    "вашему",
    "du",
    "dein",
    "deine",
    "deinem",
    "deiner",
    "ihr",
    "sie",
    "ihre",
    "assistant",
    "chatgpt",
];

/// How many words may stand between the addressed one and the verb.
const REACH: usize = 3;

/// The beginnings of words for what an assistant does, in the past.
const SAID: [&str; 50] = [
    "suggested",
    "recommended",
    "advised",
    "told",
    "said",
    "mentioned",
    "proposed",
    "explained",
    "listed",
    "described",
    "gave",
    "given",
    "provided",
    "outlined",
    "showed",
    "named",
    "offered",
    "compared",
    "came",
    "wrote",
    "estimated",
    "calculated",
    "suggestion",
    "recommendation",
    "advice",
    "proposal",
    "совет",
    "посовет",
    "порекоменд",
    "рекоменд",
    "предлаг",
    "предлож",
    "сказал",
    "говорил",
    "сравнил",
    "объяснил",
    "упомян",
    "назвал",
    "empfohlen",
    "empfiehlst",
    "empfahlst",
    "vorgeschlagen",
    "vorschlag",
    "gesagt",
    "geraten",
    "genannt",
    "erklärt",
    "erwähnt",
    "beschrieben",
    "meintest",
];

/// The same after "did you", where the verb is not in the past.
const SAY: [&str; 16] = [
    "suggest",
    "recommend",
    "advise",
    "tell",
    "say",
    "mention",
    "propose",
    "explain",
    "list",
    "describe",
    "give",
    "provide",
    "outline",
    "show",
    "name",
    "come",
];

/// Phrases in scripts without spaces, or whose grammar names nobody.
const PHRASES: [&str; 20] = [
    "你建议",
    "你推荐",
    "你说过",
    "你说怎",
    "你说应",
    "你教我",
    "你提到",
    "你给我",
    "你让我",
    "您建议",
    "您推荐",
    "추천했",
    "추천해 주셨",
    "추천하셨",
    "제안했",
    "제안해 주셨",
    "제안을 해",
    "말씀하셨",
    "말해 줬",
    "알려 주셨",
];

/// Returns whether a text asks for what the assistant said.
pub(super) fn asks_for_reply(text: &str) -> bool {
    let text = text.to_lowercase();
    if PHRASES.iter().any(|phrase| text.contains(phrase)) {
        return true;
    }
    let words: Vec<&str> =
        text.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        if !ADDRESSED.contains(word) {
            return false;
        }
        let asked = at > 0 && words[at - 1] == "did";
        let near =
            words.iter().skip(at + 1).take(if *word == "du" || *word == "ihr" { 9 } else { REACH });
        let after = near.clone().any(|word| {
            SAID.iter().any(|said| word.starts_with(said)) || (asked && SAY.contains(word))
        });
        after || (*word == "you" && at >= 2 && words[at - 2..at] == ["according", "to"])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_assistant_said_is_asked_for() {
        for text in [
            "Which grout did you recommend for the splashback?",
            "What was your advice about thumbnails?",
            "You suggested an extractor to me. Which one was it?",
            "How should I structure the discussion, according to you?",
            "Что ты советовал про карточки?",
            "Welches Gerät hast du empfohlen?",
            "退押金之前你让我拍什么？",
            "여름에 어떤 음료를 추천하셨어요?",
        ] {
            assert!(asks_for_reply(text), "{text}");
        }
        for text in [
            "Can you tell me when my stipend ends?",
            "What did I tell you about my knee?",
            "Could you recommend a hotel?",
            "When did the doctor say I could run?",
            "Ты помнишь, когда мы переезжаем?",
            "我的公司在哪里？",
        ] {
            assert!(!asks_for_reply(text), "{text}");
        }
    }
}
