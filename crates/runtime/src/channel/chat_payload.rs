//! Messages for chats, in the form that their incoming webhooks take: Block Kit for Slack, an
//! Adaptive Card for Microsoft Teams.
//!
//! A model may have written the question. It is put only where the chat interprets nothing: into
//! `plain_text` objects of Slack and text runs of Teams, so that it can neither mention people nor
//! make links.

use serde_json::{Value, json};

use super::delivery_text::{DeliveryText, clean_line, truncate_chars};

/// Maximum length of a text in a message, in characters; Slack takes 3,000.
const MAX_TEXT_CHARS: usize = 2_000;

/// Maximum length of a fact, in characters; Slack takes 2,000 per field and 10 fields.
const MAX_FACT_CHARS: usize = 500;

/// Maximum number of facts in a message.
const MAX_FACTS: usize = 10;

/// Builds a message for an incoming webhook of Slack.
pub(super) fn build_slack_message(text: &DeliveryText) -> Value {
    let plain = |text: &str| json!({ "type": "plain_text", "emoji": false, "text": text });
    let mut blocks = vec![json!({
        "type": "header",
        "text": plain(&truncate_chars(&text.title, 140)),
    })];
    if let Some(message) = text.message.as_deref().filter(|message| !message.trim().is_empty()) {
        let message = plain(&truncate_chars(message, MAX_TEXT_CHARS));
        blocks.push(json!({ "type": "section", "text": message }));
    }
    let fields: Vec<Value> =
        text.facts.iter().take(MAX_FACTS).map(|fact| plain(&format_fact(fact))).collect();
    if !fields.is_empty() {
        blocks.push(json!({ "type": "section", "fields": fields }));
    }
    if let Some(link) = &text.link {
        let button = json!({ "type": "button", "text": plain("Open the run"), "url": link });
        blocks.push(json!({ "type": "actions", "elements": [button] }));
    }
    // `text` is shown in notifications, and is the only part that Slack would interpret.
    json!({ "text": escape_slack(&text.title), "blocks": blocks })
}

/// Builds a card for a workflow webhook of Microsoft Teams.
pub(super) fn build_teams_card(text: &DeliveryText) -> Value {
    let run = |text: &str, weight: &str| {
        let inline = json!({ "type": "TextRun", "text": text, "weight": weight });
        json!({ "type": "RichTextBlock", "inlines": [inline] })
    };
    let mut body = vec![run(&text.title, "Bolder")];
    if let Some(message) = text.message.as_deref().filter(|message| !message.trim().is_empty()) {
        body.push(run(&truncate_chars(message, MAX_TEXT_CHARS), "Default"));
    }
    body.extend(text.facts.iter().take(MAX_FACTS).map(|fact| run(&format_fact(fact), "Lighter")));
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": body,
    });
    if let Some(link) = &text.link {
        card["actions"] =
            json!([{ "type": "Action.OpenUrl", "title": "Open the run", "url": link }]);
    }
    let content_type = "application/vnd.microsoft.card.adaptive";
    let attachment = json!({ "contentType": content_type, "contentUrl": null, "content": card });
    json!({ "type": "message", "attachments": [attachment] })
}

fn format_fact((label, value): &(&str, String)) -> String {
    truncate_chars(&clean_line(&format!("{label}: {value}")), MAX_FACT_CHARS)
}

/// Escapes the three characters by which Slack recognizes mentions and links.
fn escape_slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile() -> DeliveryText {
        let hostile = "<!channel> <@U1> [pay](https://evil.example) <at>all</at> *bold*";
        DeliveryText {
            title: "Run <!here> needs an approval".to_owned(),
            message: Some(hostile.repeat(100)),
            facts: vec![("Who", "anna\n<@U2>".to_owned()); 20],
            link: Some("https://countersign.example/runs/r1".to_owned()),
        }
    }

    /// Every text that a chat would interpret: objects of another type than those that show text
    /// as it is.
    fn interpreted(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                let verbatim = matches!(
                    members.get("type").and_then(Value::as_str),
                    Some("plain_text" | "TextRun")
                );
                for (key, member) in members {
                    match member {
                        Value::String(text) if key == "text" && !verbatim => {
                            found.push(text.clone());
                        }
                        _ => interpreted(member, found),
                    }
                }
            }
            Value::Array(items) => {
                for item in items {
                    interpreted(item, found);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn no_text_is_interpreted_that_a_model_may_have_written() {
        let mut found = Vec::new();
        interpreted(&build_slack_message(&hostile()), &mut found);
        assert_eq!(found, ["Run &lt;!here&gt; needs an approval"]);
        found.clear();
        interpreted(&build_teams_card(&hostile()), &mut found);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn messages_are_bounded() {
        let slack = build_slack_message(&hostile());
        assert_eq!(slack["blocks"][2]["fields"].as_array().unwrap().len(), MAX_FACTS);
        assert_eq!(slack["blocks"][2]["fields"][0]["text"], "Who: anna <@U2>");
        assert!(slack["blocks"][1]["text"]["text"].as_str().unwrap().chars().count() <= 2_001);
        let teams = build_teams_card(&hostile());
        assert_eq!(teams["attachments"][0]["content"]["body"].as_array().unwrap().len(), 12);
        assert_eq!(teams["attachments"][0]["content"]["actions"][0]["type"], "Action.OpenUrl");
    }
}
