//! The shipped folders, file by file.

use countersign_core::protocol::Bundle;

/// A shipped protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    /// What it is called.
    pub name: &'static str,
    /// What it is for, in a line.
    pub about: &'static str,
    /// The files of the protocol folder: path and text.
    pub files: &'static [(&'static str, &'static str)],
    /// Files that go beside it, into the folder of work.
    pub beside: &'static [(&'static str, &'static str)],
}

macro_rules! folder {
    ($name:literal: $($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../templates/", $name, "/", $path)))),*]
    };
}

/// Every protocol that ships.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        name: "demo",
        about: "a short text is planned, written, approved by a person and put into a file",
        files: folder!("demo":
            "index.yaml",
            "workflows/text.yaml",
            "agents/planner.yaml",
            "agents/writer.yaml",
            "contracts/outline.yaml",
            "contracts/draft.yaml",
            "rules/voice.md",
        ),
        beside: folder!("demo": "replies.yaml"),
    },
    Shipped {
        name: "ralph",
        about: "a goal is cut into tasks, and the tasks are done one by one until all are",
        files: folder!("ralph":
            "index.yaml",
            "workflows/task_loop.yaml",
            "agents/planner.yaml",
            "agents/worker.yaml",
            "contracts/plan.yaml",
            "contracts/report.yaml",
        ),
        beside: folder!("ralph": "replies.yaml"),
    },
    Shipped {
        name: "delivery",
        about: "tasks are planned, carried out, reviewed and reworked, and what was approved is delivered",
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
        beside: folder!("delivery": "replies.yaml"),
    },
];

/// A shipped protocol by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

impl Shipped {
    /// Its files, as a loader takes them.
    #[must_use]
    pub fn bundle(&self) -> Bundle {
        let files = self.files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Bundle { files: files.collect() }
    }
}
