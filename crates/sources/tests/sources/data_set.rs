//! The data set that ships: its figures agree with each other, and questions in four languages
//! find the passage that answers them.

use serde_json::{Value, json};

use crate::asking::{Asking, data_set, refs};

fn db(queries: &Value) -> Asking {
    let settings = json!({ "script": "data/make.sql", "queries": queries });
    Asking::of("db", "sqlite", &settings, &data_set())
}

#[tokio::test]
async fn the_figures_agree_with_each_other() {
    let source = db(&json!({
        "completion": {
            "sql": "SELECT project, 100 * sum(status = 'done') / count(*) AS percent, count(*) AS tasks
                    FROM tasks GROUP BY project ORDER BY project",
            "key": "project",
        },
        "rows": {
            "sql": "SELECT (SELECT count(*) FROM people) + (SELECT count(*) FROM projects)
                         + (SELECT count(*) FROM milestones) + (SELECT count(*) FROM tasks)
                         + (SELECT count(*) FROM issues) + (SELECT count(*) FROM risks)
                         + (SELECT count(*) FROM budget) + (SELECT count(*) FROM hours) AS n",
        },
        "faults": {
            "sql": "SELECT 'task without assignee' AS fault, id FROM tasks
                      WHERE assignee NOT IN (SELECT id FROM people)
                    UNION ALL SELECT 'task of no project', id FROM tasks
                      WHERE project NOT IN (SELECT id FROM projects)
                    UNION ALL SELECT 'task at the milestone of another', t.id FROM tasks t
                      JOIN milestones m ON m.id = t.milestone WHERE m.project <> t.project
                    UNION ALL SELECT 'done without a day, or a day without done', id FROM tasks
                      WHERE (status = 'done') <> (done IS NOT NULL)
                    UNION ALL SELECT 'blocked without an open issue', id FROM tasks t WHERE status = 'blocked'
                      AND NOT EXISTS (SELECT 1 FROM issues i WHERE i.task = t.id AND i.status = 'open')
                    UNION ALL SELECT 'closed without a day, or a day without closed', id FROM issues
                      WHERE (status = 'closed') <> (closed IS NOT NULL)
                    UNION ALL SELECT 'issue of another project''s task', i.id FROM issues i
                      JOIN tasks t ON t.id = i.task WHERE t.project <> i.project
                    UNION ALL SELECT 'milestone reached with work left', m.id FROM milestones m
                      JOIN tasks t ON t.milestone = m.id WHERE m.reached IS NOT NULL AND t.status <> 'done'
                    UNION ALL SELECT 'hours of nobody', person FROM hours WHERE person NOT IN (SELECT id FROM people)
                    UNION ALL SELECT 'hours on no task', task FROM hours WHERE task NOT IN (SELECT id FROM tasks)
                    UNION ALL SELECT 'more spent than planned', project FROM budget WHERE spent > planned",
        },
    }));
    let ask = async |name: &str| source.ask(json!({ "query": name })).await.unwrap();
    assert_eq!(ask("faults").await["data"], json!([]));
    assert_eq!(ask("rows").await["data"][0]["n"], 140);
    assert_eq!(
        ask("completion").await["data"],
        json!([
            { "project": "ATLAS", "percent": 45, "tasks": 20 },
            { "project": "BEACON", "percent": 36, "tasks": 11 },
            { "project": "CEDAR", "percent": 50, "tasks": 6 },
            { "project": "DELTA", "percent": 100, "tasks": 5 },
        ])
    );
}

/// A question, and the place of its answer.
const ANSWERED: [(&str, &str, &str); 24] = [
    ("doc", "How is the completion rate of a project defined?", "metrics.md#completion-rate"),
    ("doc", "What does work in progress mean?", "reading-the-board.md#limits-on-work-in-progress"),
    ("doc", "When is a task overdue?", "reading-the-board.md#overdue-tasks"),
    ("doc", "Which severity must be answered within 4 hours?", "opening-an-issue.md#severity"),
    ("doc", "When does the weekly report have to be sent?", "weekly-report.md#rules"),
    ("doc", "How large may attachments be?", "claims-portal-design.md#attachments"),
    ("doc", "How often is a broken transfer retried?", "data-exchange-design.md#retry"),
    (
        "doc",
        "What was decided about the audit trail in the meeting?",
        "meeting-2026-11-09.md#atlas",
    ),
    ("doc", "Who is called when a file is late?", "run-book.pdf#page=2"),
    ("doc", "What should operations do when the disk is full?", "run-book.pdf#page=1"),
    ("doc", "Who decides the order of tasks?", "onboarding.md#who-decides-what"),
    ("doc", "예산을 변경하려면 누가 승인합니까?", "예산-안내.md#예산-변경-절차"),
    ("doc", "집행률은 어떻게 계산합니까?", "예산-안내.md#집행률"),
    ("doc", "시범 운영은 어느 지점에서 진행합니까?", "시범-운영-계획.md#범위"),
    ("doc", "Что делать, если лента не читается?", "архив-перенос.md#восстановление-ленты"),
    ("doc", "Переносятся ли черновики и дубликаты?", "архив-перенос.md#что-не-переносится"),
    ("doc", "Как сравнивают суммы в старой и новой системах?", "архив-перенос.md#порядок-работы"),
    ("doc", "日期应该怎么写？", "接口说明.md#文件格式"),
    ("doc", "传输中断后多久重试？", "接口说明.md#错误处理"),
    ("doc", "赔付金额对应哪个字段？", "接口说明.md#字段对应"),
    ("policy", "Who approves an increase of the budget?", "budget-changes.md#who-approves"),
    ("policy", "May production data be copied for tests?", "data-protection.md#test-data"),
    ("policy", "How long are log files kept?", "retention.md#periods"),
    ("policy", "Can a project go live with a critical issue?", "milestones.md#go-live"),
];

/// Questions that no document answers.
const UNANSWERED: [&str; 8] = [
    "What is the capital of Mongolia?",
    "How do I bake sourdough bread?",
    "Which unicorn won the horse race?",
    "Какая погода завтра в Париже?",
    "Где купить билеты в театр?",
    "今天天气怎么样？",
    "김치찌개는 어떻게 끓입니까?",
    "오늘 날씨는 어떻습니까?",
];

fn folder(name: &str) -> Asking {
    let path = if name == "policy" { "data/policies" } else { "data/documents" };
    Asking::of(name, "documents", &json!({ "path": path }), &data_set())
}

#[tokio::test]
async fn questions_find_their_answers_in_four_languages() {
    let (doc, policy) = (folder("doc"), folder("policy"));
    let mut astray = Vec::new();
    for (name, question, reference) in ANSWERED {
        let source = if name == "policy" { &policy } else { &doc };
        let answer = source.ask(json!(question)).await.unwrap();
        let found = refs(&answer);
        let confidence = answer["items"][0]["confidence"].as_f64().unwrap_or_default();
        if found.first() != Some(&reference) || confidence < 0.6 {
            astray.push(format!("{question} -> {confidence} {found:?}"));
        }
        assert_eq!(answer["skipped"], json!([]));
    }
    assert!(astray.is_empty(), "{astray:#?}");
}

#[tokio::test]
async fn a_question_that_nothing_answers_gets_no_confidence() {
    let (doc, policy) = (folder("doc"), folder("policy"));
    for question in UNANSWERED {
        for source in [&doc, &policy] {
            let answer = source.ask(json!(question)).await.unwrap();
            let confidence = answer["items"][0]["confidence"].as_f64().unwrap_or_default();
            assert!(confidence < 0.6, "{question}: {answer}");
        }
    }
}
