//! `toSorted`: a stable sort by a compare function of the author's.

use super::ast::{Callback, Node};
use super::error::{Failure, Fault};
use super::eval::{Evaluation, Outcome, located};
use super::value::{Elements, Val};

impl<'a> Evaluation<'_, 'a> {
    /// A sorted copy; what is undefined goes to the end, unasked, as in JavaScript.
    pub(super) fn sorted(
        &mut self,
        node: &Node,
        callback: &Callback,
        elements: &Elements<'a>,
    ) -> Outcome<'a> {
        let length = elements.len();
        // The list, and the room that merging takes.
        self.budget
            .work(length)
            .and_then(|()| self.budget.create(length * size_of::<Val<'a>>()))
            .map_err(|fault| located(node, fault))?;
        let all = (0..length).map(|index| elements.get(index));
        let mut items: Vec<Val<'a>> = all.filter(|item| !matches!(item, Val::Undefined)).collect();
        self.merge_sort(node, callback, &mut items)?;
        items.resize(length, Val::Undefined);
        Val::list(items, &mut self.budget).map_err(|fault| located(node, fault))
    }

    // The standard library's sort may panic where an author's function contradicts itself.
    fn merge_sort(
        &mut self,
        node: &Node,
        callback: &Callback,
        items: &mut Vec<Val<'a>>,
    ) -> Result<(), Failure> {
        if items.len() < 2 {
            return Ok(());
        }
        let mut right = items.split_off(items.len() / 2);
        self.merge_sort(node, callback, items)?;
        self.merge_sort(node, callback, &mut right)?;
        let mut left = std::mem::take(items).into_iter().peekable();
        let mut right = right.into_iter().peekable();
        while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
            let after = self.compare(node, callback, first.clone(), second.clone())? > 0.0;
            items.extend(if after { right.next() } else { left.next() });
        }
        items.extend(left);
        items.extend(right);
        Ok(())
    }

    fn compare(
        &mut self,
        node: &Node,
        callback: &Callback,
        left: Val<'a>,
        right: Val<'a>,
    ) -> Result<f64, Failure> {
        let Callback::Arrow { params, body } = callback else { return Ok(0.0) };
        for (param, value) in params.iter().zip([left, right]) {
            self.bind(param, value)?;
        }
        match self.eval(body)? {
            Val::Num(order) => Ok(order),
            // `a > b` gives an order that depends on who sorts.
            other => Err(located(
                node,
                Fault::new(format!(
                    "the function given to `toSorted` must give a number, found {}",
                    other.describe()
                )),
            )),
        }
    }
}
