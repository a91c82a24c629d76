//! Makes conversations from the material of talks: nine sessions in which a person asks, mentions
//! things in passing and gets long replies with headings and lists. The same material gives the
//! same conversation on every machine.
//!
//! Replies repeat what the person said, right away and weeks later, and speak about the same subject
//! all the time, so most words of a question are found everywhere.

use countersign_contract::Timestamp;
use countersign_memory::record::SpeakerRole;
use testkit::SeededRng;

use super::recall_data::{RecallConversation, RecallEvidence, RecallQuestion, RecallTurn};
use super::talk_source::{TalkSource, TalkStatement};

const SESSIONS: usize = 9;
/// 3 February 2025, nine in the morning.
const FIRST_DAY: i64 = 1_738_573_200_000;
const DAY: i64 = 86_400_000;
const MINUTE: i64 = 60_000;

/// How many characters of a statement must be shown for it to count as found.
const SHOWN_CHARS: usize = 48;

/// How a person begins and ends a message, and how the assistant begins and ends a reply, by
/// language.
struct TalkPhrases {
    openings: [&'static str; 6],
    pasted: &'static str,
    thanks: [&'static str; 4],
    closings: [&'static str; 4],
}

const ENGLISH: TalkPhrases = TalkPhrases {
    openings: [
        "Hi again.",
        "Thanks, that was useful.",
        "Okay, next point.",
        "I have been thinking about this the whole day.",
        "Let me come back to something.",
        "Sorry for the late reply, it was a long week.",
    ],
    pasted: "These are my notes so far:",
    thanks: [
        "Thank you for sharing that you said",
        "Good to know:",
        "Let me take up what you wrote:",
        "I will keep in mind what you mentioned, namely",
    ],
    closings: [
        "Would you like me to go into detail on any of these points?",
        "Let me know which part matters most to you and we will continue there.",
        "If you tell me more about your situation, I can make this more specific.",
        "Take it one step at a time; you are on a good path.",
    ],
};

const RUSSIAN: TalkPhrases = TalkPhrases {
    openings: [
        "Привет ещё раз.",
        "Спасибо, пригодилось.",
        "Хорошо, дальше.",
        "Целый день об этом думаю.",
        "Вернусь к одному вопросу.",
        "Извини, что долго не отвечала.",
    ],
    pasted: "Вот что я уже записала:",
    thanks: ["Спасибо, что рассказали:", "Понятно:", "Вы написали так:", "Буду иметь в виду, что"],
    closings: [
        "Хотите, разберём какой-нибудь пункт подробнее?",
        "Скажите, что для вас важнее, и продолжим.",
        "Если расскажете больше, отвечу точнее.",
        "Двигайтесь шаг за шагом, вы на верном пути.",
    ],
};

const CHINESE: TalkPhrases = TalkPhrases {
    openings: [
        "又来打扰你了。",
        "谢谢，很有用。",
        "好，下一个问题。",
        "我想了一整天。",
        "再回到之前的话题。",
        "抱歉回复晚了。",
    ],
    pasted: "这是我目前记下的：",
    thanks: ["谢谢你告诉我：", "明白了：", "你刚才提到：", "我会记住你说的："],
    closings: [
        "需要我详细说明其中某一点吗？",
        "告诉我哪一部分最重要，我们继续。",
        "如果能多说一些情况，我可以更具体。",
        "一步一步来，你做得很好。",
    ],
};

const GERMAN: TalkPhrases = TalkPhrases {
    openings: [
        "Da bin ich wieder.",
        "Danke, das hat geholfen.",
        "Gut, nächster Punkt.",
        "Ich denke seit gestern darüber nach.",
        "Noch einmal zurück zu etwas.",
        "Entschuldige die späte Antwort.",
    ],
    pasted: "Das habe ich mir bisher notiert:",
    thanks: [
        "Danke für den Hinweis:",
        "Gut zu wissen:",
        "Du hast geschrieben:",
        "Ich merke mir, was du sagst:",
    ],
    closings: [
        "Soll ich auf einen der Punkte näher eingehen?",
        "Sag mir, was dir am wichtigsten ist, dann machen wir dort weiter.",
        "Wenn du mehr erzählst, kann ich genauer antworten.",
        "Eins nach dem anderen, ihr seid auf einem guten Weg.",
    ],
};

const KOREAN: TalkPhrases = TalkPhrases {
    openings: [
        "안녕하세요, 또 왔어요.",
        "고마워요, 도움이 됐어요.",
        "좋아요, 다음 이야기예요.",
        "하루 종일 생각했어요.",
        "아까 이야기로 돌아갈게요.",
        "답이 늦어서 미안해요.",
    ],
    pasted: "지금까지 적어 둔 내용이에요:",
    thanks: [
        "알려 주셔서 감사합니다:",
        "알겠습니다:",
        "이렇게 말씀하셨지요:",
        "기억해 두겠습니다:",
    ],
    closings: [
        "어느 부분을 더 자세히 설명해 드릴까요?",
        "가장 중요한 것을 알려 주시면 이어서 말씀드리겠습니다.",
        "상황을 더 알려 주시면 구체적으로 답하겠습니다.",
        "하나씩 하시면 됩니다.",
    ],
};

/// Makes the conversation of a talk.
pub(crate) fn generate_conversation(talk: &TalkSource) -> RecallConversation {
    let seed = talk.id.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
    let mut writer = TalkWriter {
        talk,
        phrases: select_phrases(&talk.language),
        chance: SeededRng::new(seed),
        turns: Vec::new(),
        session: 1,
        ts: Timestamp(FIRST_DAY),
        said: Vec::new(),
    };
    let places = writer.write_all();
    let evidence = |key: &String| {
        let at = talk.statements.iter().position(|one| one.key == *key).expect("keys were checked");
        let words = talk.statements[at].text.chars().take(SHOWN_CHARS).collect();
        RecallEvidence { message: places[at].clone(), words: Some(words) }
    };
    let questions = talk.questions.iter().map(|question| RecallQuestion {
        text: question.text.clone(),
        category: question.category.clone(),
        evidence: question.keys.iter().map(evidence).collect(),
    });
    RecallConversation { id: talk.id.clone(), questions: questions.collect(), turns: writer.turns }
}

fn select_phrases(language: &str) -> &'static TalkPhrases {
    match language {
        "ru" => &RUSSIAN,
        "zh" => &CHINESE,
        "de" => &GERMAN,
        "ko" => &KOREAN,
        _ => &ENGLISH,
    }
}

struct TalkWriter<'t> {
    talk: &'t TalkSource,
    phrases: &'static TalkPhrases,
    chance: SeededRng,
    turns: Vec<RecallTurn>,
    session: u32,
    ts: Timestamp,
    /// What the person has said so far.
    said: Vec<String>,
}

impl TalkWriter<'_> {
    /// Writes all sessions and returns the message of each statement.
    fn write_all(&mut self) -> Vec<String> {
        let statements = &self.talk.statements;
        // What the assistant says is spread among what the person says.
        let mut order: Vec<usize> =
            (0..statements.len()).filter(|at| !statements[*at].by_assistant).collect();
        for at in (0..statements.len()).filter(|at| statements[*at].by_assistant) {
            let place = self.chance.next_between(1, order.len());
            order.insert(place, at);
        }
        let mut places = vec![String::new(); statements.len()];
        for (number, at) in order.iter().enumerate() {
            let session = number * SESSIONS / order.len() + 1;
            if session as u32 > self.session {
                self.session = session as u32;
                let days = self.chance.next_between(4, 11) as i64;
                self.ts = Timestamp(FIRST_DAY + (session as i64 - 1) * 12 * DAY + days * DAY);
            }
            for _ in 0..self.chance.next_between(3, 7) {
                self.write_exchange(None);
            }
            places[*at] = self.write_exchange(Some(&statements[*at]));
        }
        self.write_exchange(None);
        places
    }

    /// Writes a message and its reply; returns the id of the one that has the statement.
    fn write_exchange(&mut self, statement: Option<&TalkStatement>) -> String {
        let said = statement.filter(|statement| !statement.by_assistant);
        let told = statement.filter(|statement| statement.by_assistant);
        let message = self.write_message(said);
        let reply = self.write_reply(said, told);
        self.said.extend(said.map(|said| said.text.clone()));
        let asked = self.push_turn(SpeakerRole::User, message);
        let answered = self.push_turn(SpeakerRole::Assistant, reply);
        if told.is_some() { answered } else { asked }
    }

    fn write_message(&mut self, said: Option<&TalkStatement>) -> String {
        let ask = self.chance.pick(&self.talk.asks).clone();
        let mut parts = Vec::new();
        if self.chance.roll_percent(60) {
            parts.push((*self.chance.pick(&self.phrases.openings)).to_owned());
        }
        match said {
            Some(statement) if self.chance.roll_percent(25) => {
                parts.push(statement.text.clone());
            }
            Some(statement) if self.chance.roll_percent(50) => {
                parts.extend([statement.text.clone(), ask]);
            }
            Some(statement) => parts.extend([ask, statement.text.clone()]),
            None => {
                parts.push(ask);
                if self.chance.roll_percent(30) {
                    parts.push(self.chance.pick(&self.talk.asks).clone());
                }
            }
        }
        let mut text = parts.join(" ");
        if self.chance.roll_percent(20) {
            let lines = self.chance.next_between(5, 12);
            let notes: Vec<String> =
                self.pick_advice(lines).into_iter().map(|line| format!("- {line}")).collect();
            text = format!("{text}\n\n{}\n{}", self.phrases.pasted, notes.join("\n"));
        }
        text
    }

    fn write_reply(
        &mut self,
        said: Option<&TalkStatement>,
        told: Option<&TalkStatement>,
    ) -> String {
        let mut parts = Vec::new();
        if let Some(said) = said {
            // The beginning of a statement in other words than its own would be rarer.
            let half = said.text.split_inclusive([',', ':', ';', '，', '：']).next();
            let thanks = self.chance.pick(&self.phrases.thanks);
            let echo = half.unwrap_or(&said.text).trim_end_matches([',', ':', ';', '，', '：']);
            parts.push(format!("{thanks} {echo}."));
        }
        if !self.said.is_empty() && self.chance.roll_percent(60) {
            for _ in 0..self.chance.next_between(1, 2) {
                let thanks = self.chance.pick(&self.phrases.thanks);
                let earlier = self.chance.pick(&self.said);
                parts.push(format!("{thanks} {earlier}"));
            }
        }
        let sections = self.chance.next_between(3, 6);
        let special = self.chance.next_below(sections);
        for number in 0..sections {
            let heading = self.chance.pick(&self.talk.headings).clone();
            let bullets = self.chance.next_between(3, 5);
            let mut lines = self.pick_advice(bullets);
            if let Some(told) = told.filter(|_| number == special) {
                let place = self.chance.next_below(lines.len() + 1);
                lines.insert(place, told.text.clone());
            }
            let lines: Vec<String> = lines.into_iter().map(|line| format!("- {line}")).collect();
            parts.push(format!("## {}. {heading}\n\n{}", number + 1, lines.join("\n")));
        }
        parts.push((*self.chance.pick(&self.phrases.closings)).to_owned());
        parts.join("\n\n")
    }

    fn pick_advice(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.chance.pick(&self.talk.advice).clone()).collect()
    }

    fn push_turn(&mut self, role: SpeakerRole, text: String) -> String {
        let id = format!("m{}", self.turns.len() + 1);
        let (session, ts) = (self.session, self.ts);
        self.ts = ts.plus_millis(3 * MINUTE);
        self.turns.push(RecallTurn {
            id: id.clone(),
            message: id.clone(),
            session,
            ts,
            role,
            speaker: None,
            text,
        });
        id
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use countersign_memory::tokens::CharCounter;

    use super::super::piece_cutter::cut_messages;
    use super::super::talk_source::read_talks;
    use super::*;

    #[test]
    fn every_question_has_its_evidence() {
        let talks = read_talks(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/talks"))).unwrap();
        let (mut questions, mut held_out) = (0, 0);
        for talk in &talks {
            let whole = generate_conversation(talk);
            let again = generate_conversation(talk);
            let texts = |one: &RecallConversation| -> Vec<String> {
                one.turns.iter().map(|turn| turn.text.clone()).collect()
            };
            assert_eq!(texts(&whole), texts(&again), "the same talk");
            for gold in whole.questions.iter().flat_map(|question| &question.evidence) {
                let mut turns = whole.turns.iter();
                let shown = turns.any(|turn| gold.is_shown_by(&turn.message, &turn.text));
                assert!(shown, "{}: {gold:?}", talk.id);
            }
            questions += whole.questions.len();
            held_out += usize::from(talk.held_out);
        }
        assert!(questions > 500, "{questions}");
        assert_eq!((talks.len(), held_out), (15, 5));
    }

    #[test]
    fn pieces_keep_their_message_and_their_words() {
        let talks = read_talks(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/talks"))).unwrap();
        let whole = generate_conversation(&talks[0]);
        let pieces = cut_messages(&whole, 200, &CharCounter);
        assert!(pieces.turns.len() > 2 * whole.turns.len());
        for turn in &whole.turns {
            let of_it = pieces.turns.iter().filter(|piece| piece.message == turn.id);
            let words: Vec<&str> = of_it.flat_map(|piece| piece.text.split_whitespace()).collect();
            assert_eq!(words, turn.text.split_whitespace().collect::<Vec<_>>(), "{}", turn.id);
        }
    }
}
