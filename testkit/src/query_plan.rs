//! Checks query plans, as `EXPLAIN (ANALYZE, COSTS off)` of `PostgreSQL` prints them.

/// Panics unless a plan searches an index by all these conditions, such as `(tenant =`, reads no
/// table from beginning to end, and reads no row that a filter then removes.
#[track_caller]
pub fn check_index_search(statement: &str, plan: &str, index: &str, conditions: &[&str]) {
    assert!(!plan.contains("Seq Scan on"), "{statement}:\n{plan}");
    assert!(!plan.contains("Rows Removed by Filter"), "{statement} reads in vain:\n{plan}");
    let scans = [format!("using {index} on "), format!("Bitmap Index Scan on {index} ")];
    let is_scan = |line: &str| scans.iter().any(|scan| line.contains(scan));
    let mut lines = plan.lines().skip_while(|line| !is_scan(line));
    assert!(lines.next().is_some(), "{statement} does not use {index}:\n{plan}");
    let searched = lines.next().and_then(|line| line.trim_start().strip_prefix("Index Cond: "));
    let searched = searched.unwrap_or_default();
    let complete = conditions.iter().all(|condition| searched.contains(condition));
    assert!(complete, "{statement} does not search {index} by {conditions:?}:\n{plan}");
}
