//! `toSorted`: a stable sort with the author's compare function.

use super::ast::{ExprCallback, ExprNode};
use super::eval::{EvalResult, ExprEvaluator, locate_error};
use super::expr_error::{BoxedEvalError, UnlocatedError};
use super::expr_value::{ArrayElements, ExprValue};

impl<'a> ExprEvaluator<'_, 'a> {
    /// Returns a sorted copy. Undefined elements go to the end without a comparison, as in
    /// JavaScript.
    pub(super) fn sort_elements(
        &mut self,
        node: &ExprNode,
        callback: &ExprCallback,
        elements: &ArrayElements<'a>,
    ) -> EvalResult<'a> {
        let length = elements.len();
        // The list, and the memory for merging.
        self.budget
            .charge_steps(length)
            .and_then(|()| self.budget.charge_bytes(length * size_of::<ExprValue<'a>>()))
            .map_err(|fault| locate_error(node, fault))?;
        let all = (0..length).map(|index| elements.get(index));
        let mut items: Vec<ExprValue<'a>> =
            all.filter(|item| !matches!(item, ExprValue::Undefined)).collect();
        self.merge_sort(node, callback, &mut items)?;
        items.resize(length, ExprValue::Undefined);
        ExprValue::new_list(items, &mut self.budget).map_err(|fault| locate_error(node, fault))
    }

    // Not the standard library's sort, which may panic if the author's function is inconsistent.
    fn merge_sort(
        &mut self,
        node: &ExprNode,
        callback: &ExprCallback,
        items: &mut Vec<ExprValue<'a>>,
    ) -> Result<(), BoxedEvalError> {
        if items.len() < 2 {
            return Ok(());
        }
        let mut right = items.split_off(items.len() / 2);
        self.merge_sort(node, callback, items)?;
        self.merge_sort(node, callback, &mut right)?;
        let mut left = std::mem::take(items).into_iter().peekable();
        let mut right = right.into_iter().peekable();
        while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
            let after = self.compare_elements(node, callback, first.clone(), second.clone())? > 0.0;
            items.extend(if after { right.next() } else { left.next() });
        }
        items.extend(left);
        items.extend(right);
        Ok(())
    }

    fn compare_elements(
        &mut self,
        node: &ExprNode,
        callback: &ExprCallback,
        left: ExprValue<'a>,
        right: ExprValue<'a>,
    ) -> Result<f64, BoxedEvalError> {
        let ExprCallback::Arrow { params, body } = callback else { return Ok(0.0) };
        for (param, value) in params.iter().zip([left, right]) {
            self.bind_param(param, value)?;
        }
        match self.eval(body)? {
            ExprValue::Num(order) => Ok(order),
            // `a > b` returns a boolean, so the resulting order would depend on the sort algorithm.
            other => Err(locate_error(
                node,
                UnlocatedError::new(format!(
                    "the function passed to `toSorted` must return a number, found {}",
                    other.describe()
                )),
            )),
        }
    }
}
