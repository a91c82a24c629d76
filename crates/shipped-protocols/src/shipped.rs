//! The files of the shipped protocol folders, embedded at build time.

use countersign_protocol::ProtocolBundle;

/// A protocol that ships with Countersign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedProtocol {
    /// The name of the protocol, as `countersign init` and `countersign run` take it.
    pub name: &'static str,
    /// A one-line description of the protocol.
    pub description: &'static str,
    /// The files of the protocol folder, as pairs of path and text.
    pub files: &'static [(&'static str, &'static str)],
    /// Files that go into the workspace next to the protocol folder, as pairs of path and content.
    pub workspace_files: &'static [(&'static str, &'static [u8])],
}

macro_rules! folder {
    ($name:literal: $($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $name, "/", $path)))),*]
    };
}

macro_rules! beside {
    ($name:literal: $($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../templates/", $name, "/", $path)))),*]
    };
}

/// Every protocol that ships with Countersign.
pub const SHIPPED_PROTOCOLS: &[ShippedProtocol] = &[
    ShippedProtocol {
        name: "blank",
        description: "the smallest protocol that runs, with a comment for each key",
        files: folder!("blank":
            "index.yaml",
            "README.md",
            "workflows/main.yaml",
            "agents/assistant.yaml",
            "contracts/answer.yaml",
        ),
        workspace_files: beside!("blank":
            "replies.yaml",
            "examples/request.txt",
        ),
    },
    ShippedProtocol {
        name: "answer",
        description: "a question is answered from evidence, or refused safely",
        files: folder!("answer":
            "index.yaml",
            "workflows/answer.yaml",
            "agents/analyst.yaml",
            "agents/architect.yaml",
            "agents/classifier.yaml",
            "agents/guardian.yaml",
            "agents/librarian.yaml",
            "agents/writer.yaml",
            "contracts/answer_state.schema.json",
            "contracts/answer_state.yaml",
            "contracts/draft.yaml",
            "contracts/lookups.yaml",
            "contracts/request_kind.yaml",
            "rules/queries.md",
        ),
        workspace_files: beside!("answer":
            "replies.yaml",
            "replies/definition.yaml",
            "replies/design.yaml",
            "replies/policy.yaml",
            "data/documents/claims-portal-design.md",
            "data/documents/data-exchange-design.md",
            "data/documents/meeting-2026-11-09.md",
            "data/documents/metrics.md",
            "data/documents/onboarding.md",
            "data/documents/opening-an-issue.md",
            "data/documents/reading-the-board.md",
            "data/documents/run-book.pdf",
            "data/documents/weekly-report.md",
            "data/documents/архив-перенос.md",
            "data/documents/接口说明.md",
            "data/documents/시범-운영-계획.md",
            "data/documents/예산-안내.md",
            "data/make.sql",
            "data/make_pdf.py",
            "data/policies/access-rights.md",
            "data/policies/budget-changes.md",
            "data/policies/data-protection.md",
            "data/policies/milestones.md",
            "data/policies/retention.md",
        ),
    },
    ShippedProtocol {
        name: "demo",
        description: "a short text is planned, written, approved by a person and saved to a file",
        files: folder!("demo":
            "index.yaml",
            "workflows/text.yaml",
            "agents/planner.yaml",
            "agents/writer.yaml",
            "contracts/outline.yaml",
            "contracts/draft.yaml",
            "rules/voice.md",
        ),
        workspace_files: beside!("demo": "replies.yaml"),
    },
    ShippedProtocol {
        name: "intake",
        description: "a person is interviewed until enough is known, then a document is outlined, drafted, reviewed and exported",
        files: folder!("intake":
            "index.yaml",
            "workflows/intake.yaml",
            "workflows/skeleton.yaml",
            "agents/interpreter.yaml",
            "agents/gatekeeper.yaml",
            "agents/drafter.yaml",
            "agents/clause_writer.yaml",
            "agents/reviewer.yaml",
            "contracts/interview_state.yaml",
            "contracts/interview_step.yaml",
            "contracts/outline.yaml",
            "contracts/document_state.yaml",
            "contracts/document_state.schema.json",
            "contracts/clause.yaml",
            "contracts/document_review.yaml",
            "rules/style.md",
            "rules/style.ru.md",
        ),
        workspace_files: beside!("intake": "replies.yaml"),
    },
    ShippedProtocol {
        name: "ralph",
        description: "a goal is split into tasks, which are done one by one",
        files: folder!("ralph":
            "index.yaml",
            "workflows/task_loop.yaml",
            "agents/planner.yaml",
            "agents/worker.yaml",
            "contracts/plan.yaml",
            "contracts/report.yaml",
        ),
        workspace_files: beside!("ralph": "replies.yaml"),
    },
    ShippedProtocol {
        name: "delivery",
        description: "tasks are planned, executed, reviewed and reworked, and approved results are delivered",
        files: folder!("delivery":
            "index.yaml",
            "workflows/delivery.yaml",
            "workflows/task.yaml",
            "agents/xiaobo.yaml",
            "agents/xiaojing.yaml",
            "contracts/delivery_input.yaml",
            "contracts/delivery_state.yaml",
            "contracts/task_state.yaml",
            "contracts/xiaobo_plan_v1.yaml",
            "contracts/plan_review.yaml",
            "contracts/task_action.yaml",
            "contracts/node_review.yaml",
        ),
        workspace_files: beside!("delivery": "replies.yaml"),
    },
    ShippedProtocol {
        name: "expense",
        description: "an expense claim is read from free text, checked against a policy, approved if it is large, and paid",
        files: folder!("expense":
            "index.yaml",
            "README.md",
            "workflows/expense.yaml",
            "agents/clerk.yaml",
            "contracts/claim.yaml",
            "contracts/expense_state.yaml",
        ),
        workspace_files: beside!("expense":
            "replies.yaml",
            "examples/claim.txt",
            "examples/small.txt",
            "replies/small.yaml",
        ),
    },
    ShippedProtocol {
        name: "triage",
        description: "a support ticket is classified and answered with quotes that are checked, or handed to a person",
        files: folder!("triage":
            "index.yaml",
            "README.md",
            "workflows/triage.yaml",
            "agents/dispatcher.yaml",
            "agents/writer.yaml",
            "contracts/classification.yaml",
            "contracts/reply_draft.yaml",
            "contracts/triage_state.yaml",
            "rules/tone.md",
        ),
        workspace_files: beside!("triage":
            "replies.yaml",
            "examples/critical.txt",
            "examples/ticket.txt",
            "kb/billing.md",
            "kb/export.md",
            "kb/sign-in.md",
            "replies/critical.yaml",
        ),
    },
    ShippedProtocol {
        name: "review",
        description: "a document is reviewed and revised, then approved by two people one after the other",
        files: folder!("review":
            "index.yaml",
            "README.md",
            "workflows/review.yaml",
            "agents/author.yaml",
            "agents/reviewer.yaml",
            "contracts/comments.yaml",
            "contracts/review_state.yaml",
            "contracts/revision.yaml",
            "rules/style.md",
        ),
        workspace_files: beside!("review":
            "replies.yaml",
            "examples/draft.md",
        ),
    },
    ShippedProtocol {
        name: "change",
        description: "a code change is planned, tested first, limited to the planned files, verified and approved",
        files: folder!("change":
            "index.yaml",
            "README.md",
            "workflows/change.yaml",
            "agents/analyst.yaml",
            "agents/coder.yaml",
            "agents/reviewer.yaml",
            "contracts/change_state.yaml",
            "contracts/code_files.yaml",
            "contracts/code_review.yaml",
            "contracts/plan.yaml",
            "contracts/test_files.yaml",
            "contracts/test_report.yaml",
            "contracts/understanding.yaml",
            "rules/code.md",
        ),
        workspace_files: beside!("change":
            "replies.yaml",
            "examples/green.json",
            "examples/red.json",
            "examples/request.txt",
        ),
    },
];

/// Finds a shipped protocol by name.
#[must_use]
pub fn find_shipped_protocol(name: &str) -> Option<&'static ShippedProtocol> {
    SHIPPED_PROTOCOLS.iter().find(|shipped| shipped.name == name)
}

impl ShippedProtocol {
    /// Returns the protocol's files as a bundle that the loader accepts.
    #[must_use]
    pub fn to_bundle(&self) -> ProtocolBundle {
        let files = self.files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        ProtocolBundle { files: files.collect() }
    }
}
