//! Compiled expressions: a source compiled once and evaluated many times.

use serde_json::Value;

use super::analysis::{Analysis, TypeEnv, analyze_expr};
use super::ast::ExprNode;
use super::eval::ExprEvaluator;
use super::expr_error::{EvalError, ExprError};
use super::expr_value::ExprValue;
use super::inherited_names::{InheritedName, collect_inherited_names};
use super::literals::collect_literals;
use super::parser::{ParsedExpr, parse_expr};
use super::read_paths::{ReadPath, collect_read_paths};

/// Compiled expression that can be evaluated over different roots.
///
/// ```
/// use countersign_contract::expr::Expr;
/// use serde_json::json;
///
/// let gate = Expr::compile("state.tasks.some(t => t.status !== 'done')", &["state"])?;
/// let state = json!({"tasks": [{"status": "done"}, {"status": "open"}]});
/// assert!(gate.eval_bool(&[Some(&state)])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Expr {
    source: String,
    root: ExprNode,
    local_slots: usize,
    used_roots: Vec<bool>,
    read_paths: Vec<ReadPath>,
    inherited_names: Vec<InheritedName>,
}

impl Expr {
    /// Compiles a source. `names` are the root variables that it may use; their order defines the
    /// slots.
    pub fn compile(source: &str, names: &[&str]) -> Result<Self, ExprError> {
        let ParsedExpr { root, local_slots: locals, used_roots: uses } = parse_expr(source, names)?;
        let reads = collect_read_paths(&root, locals);
        let inherited = collect_inherited_names(&root);
        Ok(Self {
            source: source.to_owned(),
            root,
            local_slots: locals,
            used_roots: uses,
            read_paths: reads,
            inherited_names: inherited,
        })
    }

    /// Returns the source text that the expression was compiled from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether the expression reads the root variable in this slot.
    #[must_use]
    pub fn uses_root(&self, slot: usize) -> bool {
        self.used_roots.get(slot).copied().unwrap_or(false)
    }

    /// Returns the paths that the expression reads, as far as the source spells them out.
    #[must_use]
    pub fn read_paths(&self) -> &[ReadPath] {
        &self.read_paths
    }

    /// Returns the possible values of the expression, computed from what `known` tells about the
    /// paths of its roots.
    #[must_use]
    pub fn analyze(&self, known: TypeEnv<'_>) -> Analysis {
        analyze_expr(&self.root, self.local_slots, known)
    }

    /// Returns the names that the expression reads, or tests with `in`, and that JavaScript finds
    /// on every object.
    #[must_use]
    pub fn inherited_names(&self) -> &[InheritedName] {
        &self.inherited_names
    }

    /// Returns the string, number and boolean literals in the source.
    #[must_use]
    pub fn collect_literals(&self) -> Vec<Value> {
        collect_literals(&self.root)
    }

    /// Evaluates the expression. The result borrows from the roots; nothing is copied. Reading a
    /// root that is `None` is an error.
    pub fn eval<'a>(&self, roots: &[Option<&'a Value>]) -> Result<ExprValue<'a>, EvalError> {
        ExprEvaluator::new(&self.source, roots, self.local_slots)
            .eval(&self.root)
            .map_err(EvalError::from)
    }

    /// Evaluates the expression and requires a boolean; for any other value the error names its
    /// type.
    pub fn eval_bool(&self, roots: &[Option<&Value>]) -> Result<bool, EvalError> {
        self.eval_bool_counting_steps(roots, &mut 0)
    }

    /// Evaluates like [`Expr::eval_bool`], and adds the number of steps taken to `spent`, so that a
    /// caller can bound many evaluations together.
    pub fn eval_bool_counting_steps(
        &self,
        roots: &[Option<&Value>],
        spent: &mut usize,
    ) -> Result<bool, EvalError> {
        let mut evaluation = ExprEvaluator::new(&self.source, roots, self.local_slots);
        let value = evaluation.eval(&self.root);
        *spent = spent.saturating_add(evaluation.budget.spent_steps());
        match value.map_err(EvalError::from)? {
            ExprValue::Bool(truth) => Ok(truth),
            other => Err(EvalError {
                message: format!("expected true or false, found {}", other.describe()),
                span: 0..self.source.len(),
            }),
        }
    }
}
