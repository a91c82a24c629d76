//! What an expression costs. The bar: over 1,000 tasks at most 50 µs, without a copy of the state.

use countersign_contract::expr::Expr;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// Tasks that are all done but the last, so that every one must be looked at.
fn state(tasks: usize) -> Value {
    let tasks: Vec<Value> = (0..tasks)
        .map(|id| {
            let status = if id + 1 == tasks { "pending" } else { "done" };
            json!({
                "id": id,
                "title": format!("Task number {id}"),
                "status": status,
                "agent": "worker",
                "priority": id % 5,
            })
        })
        .collect();
    json!({ "tasks": tasks })
}

fn run(bencher: Bencher<'_, '_>, source: &str, tasks: usize) {
    let state = state(tasks);
    let expr = Expr::compile(source, &["state"]).expect("the expression is good");
    bencher
        .bench_local(|| expr.eval(black_box(&[Some(&state)])).expect("it has a value").to_string());
}

#[divan::bench(args = [3, 1_000])]
fn some_task_is_open(bencher: Bencher<'_, '_>, tasks: usize) {
    run(bencher, "state.tasks.some(t => t.status !== 'done')", tasks);
}

#[divan::bench(args = [3, 1_000])]
fn every_task_is_done(bencher: Bencher<'_, '_>, tasks: usize) {
    run(
        bencher,
        "state.tasks.every(t => t.status === 'done' || t.priority > 3 || t.id >= 0)",
        tasks,
    );
}

#[divan::bench(args = [3, 1_000])]
fn count_what_is_open(bencher: Bencher<'_, '_>, tasks: usize) {
    run(bencher, "state.tasks.filter(({status}) => status !== 'done').length === 1", tasks);
}

#[divan::bench(args = [3, 1_000])]
fn sum_of_priorities(bencher: Bencher<'_, '_>, tasks: usize) {
    run(bencher, "state.tasks.reduce((sum, t) => sum + t.priority, 0)", tasks);
}

#[divan::bench]
fn compile() -> Expr {
    Expr::compile(black_box("state.tasks.some(t => t.status !== 'done')"), &["state"])
        .expect("the expression is good")
}
