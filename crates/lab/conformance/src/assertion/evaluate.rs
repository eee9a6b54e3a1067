//! Evaluates expressions. Integers have 64 bits; an overflow is an error and does not wrap.

use super::parse::{Assertion, Block, Comparison, Expression, Operator, expression};
use crate::ScriptError;
use std::collections::BTreeMap;

/// Values of names.
pub type Scope = BTreeMap<String, i64>;

/// Outcome of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All assertions hold.
    Holds,
    /// An assertion does not hold.
    Fails {
        /// Line of the assertion.
        line: u32,
        /// What the script asserts.
        wanted: String,
        /// Values of the names in the assertion.
        seen: String,
    },
    /// An assertion uses a name that is not known here.
    Unknown {
        /// Line of the assertion.
        line: u32,
        /// The unknown name.
        name: String,
    },
}

impl Block {
    /// Names that the assertions use.
    pub fn names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for assertion in &self.assertions {
            names(&assertion.condition, &mut found);
        }
        found
    }

    /// Whether all assertions hold.
    pub fn evaluate(&self, scope: &Scope) -> Verdict {
        for assertion in &self.assertions {
            let line = assertion.line;
            match value(&assertion.condition, scope) {
                Ok(value) if value.is_true() => {}
                Ok(_) => {
                    return Verdict::Fails {
                        line,
                        wanted: assertion.text.clone(),
                        seen: seen(assertion, scope),
                    };
                }
                Err(Problem::Unknown(name)) => return Verdict::Unknown { line, name },
                Err(Problem::Impossible(what)) => {
                    return Verdict::Fails { line, wanted: assertion.text.clone(), seen: what.to_string() };
                }
            }
        }
        Verdict::Holds
    }
}

/// The value of an integer expression.
///
/// # Errors
/// The expression cannot be read or computed.
pub(crate) fn evaluate_integer(text: &str, line: u32, scope: &Scope) -> Result<i64, ScriptError> {
    match value(&expression(text, line)?, scope) {
        Ok(Value::Integer(value)) => Ok(value),
        Ok(Value::Text(_)) => Err(ScriptError::syntax(line, format!("`{text}` is not an integer"))),
        Err(Problem::Unknown(name)) => Err(ScriptError::syntax(line, format!("`{name}` is not known"))),
        Err(Problem::Impossible(what)) => Err(ScriptError::syntax(line, format!("`{text}`: {what}"))),
    }
}

#[derive(PartialEq)]
enum Value {
    Integer(i64),
    Text(String),
}

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Integer(value) => *value != 0,
            Self::Text(text) => !text.is_empty(),
        }
    }
}

enum Problem {
    Unknown(String),
    Impossible(&'static str),
}

fn value(of: &Expression, scope: &Scope) -> Result<Value, Problem> {
    Ok(Value::Integer(match of {
        Expression::Integer(value) => *value,
        Expression::Text(text) => return Ok(Value::Text(text.clone())),
        Expression::Name(name) => match name.as_str() {
            "True" => 1,
            "False" => 0,
            name => *scope.get(name).ok_or_else(|| Problem::Unknown(name.to_string()))?,
        },
        Expression::Not(inner) => i64::from(!value(inner, scope)?.is_true()),
        Expression::Minus(inner) => integer(inner, scope)?.checked_neg().ok_or(TOO_LARGE)?,
        Expression::Invert(inner) => !integer(inner, scope)?,
        Expression::Binary(left, operator, right) => {
            arithmetic(integer(left, scope)?, *operator, integer(right, scope)?)?
        }
        Expression::Compare(first, rest) => {
            let mut left = value(first, scope)?;
            for (comparison, right) in rest {
                let right = value(right, scope)?;
                if !compare(&left, *comparison, &right)? {
                    return Ok(Value::Integer(0));
                }
                left = right;
            }
            1
        }
        Expression::And(all) => {
            for each in all {
                if !value(each, scope)?.is_true() {
                    return Ok(Value::Integer(0));
                }
            }
            1
        }
        Expression::Or(all) => {
            for each in all {
                if value(each, scope)?.is_true() {
                    return Ok(Value::Integer(1));
                }
            }
            0
        }
    }))
}

const TOO_LARGE: Problem = Problem::Impossible("the result does not fit 64 bits");

fn integer(of: &Expression, scope: &Scope) -> Result<i64, Problem> {
    match value(of, scope)? {
        Value::Integer(value) => Ok(value),
        Value::Text(_) => Err(Problem::Impossible("a text is used as a number")),
    }
}

fn arithmetic(left: i64, operator: Operator, right: i64) -> Result<i64, Problem> {
    let shift =
        || u32::try_from(right).ok().filter(|by| *by < 64).ok_or(Problem::Impossible("shift of no meaning"));
    match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        // Python rounds quotients down, and the remainder has the sign of the divisor.
        Operator::Divide | Operator::Modulo if right == 0 => {
            return Err(Problem::Impossible("division by zero"));
        }
        Operator::Divide => left.checked_div_euclid(right).and_then(|quotient| {
            let rest = left.checked_rem_euclid(right)?;
            if right < 0 && rest != 0 { quotient.checked_sub(1) } else { Some(quotient) }
        }),
        Operator::Modulo => left
            .checked_rem_euclid(right)
            .and_then(|rest| if right < 0 && rest != 0 { rest.checked_add(right) } else { Some(rest) }),
        Operator::Left => {
            left.checked_mul(1_i64.checked_shl(shift()?).filter(|by| *by > 0).ok_or(TOO_LARGE)?)
        }
        Operator::Right => Some(left >> shift()?),
        Operator::And => Some(left & right),
        Operator::Or => Some(left | right),
        Operator::Xor => Some(left ^ right),
    }
    .ok_or(TOO_LARGE)
}

fn compare(left: &Value, comparison: Comparison, right: &Value) -> Result<bool, Problem> {
    let order = match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        _ => return Err(Problem::Impossible("a text is compared with a number")),
    };
    Ok(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::Unequal => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
    })
}

fn names<'a>(of: &'a Expression, found: &mut Vec<&'a str>) {
    match of {
        Expression::Integer(_) | Expression::Text(_) => {}
        Expression::Name(name) => {
            if !found.contains(&name.as_str()) {
                found.push(name);
            }
        }
        Expression::Not(inner) | Expression::Minus(inner) | Expression::Invert(inner) => names(inner, found),
        Expression::Binary(left, _, right) => {
            names(left, found);
            names(right, found);
        }
        Expression::Compare(first, rest) => {
            names(first, found);
            for (_, each) in rest {
                names(each, found);
            }
        }
        Expression::And(all) | Expression::Or(all) => all.iter().for_each(|each| names(each, found)),
    }
}

fn seen(assertion: &Assertion, scope: &Scope) -> String {
    let mut used = Vec::new();
    names(&assertion.condition, &mut used);
    let values = used.iter().filter_map(|name| Some(format!("{name} = {}", scope.get(*name)?)));
    values.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> i64 {
        let scope = Scope::from([("tcpi_snd_cwnd".to_string(), 12), ("alpha".to_string(), 960)]);
        evaluate_integer(text, 1, &scope).expect(text)
    }

    /// The expected values were computed by hand from the Python language reference.
    #[test]
    fn python_precedences() {
        assert_eq!(of("1 | 6 & 3 << 1"), 7);
        assert_eq!(of("2 + 3 * 4 - -1"), 15);
        assert_eq!(of("~0 & 0xff"), 255);
        assert_eq!(of("(tcpi_snd_cwnd & 4) != 0"), 1);
        assert_eq!(of("10 <= tcpi_snd_cwnd <= 12 and not alpha == 1024"), 1);
        assert_eq!(of("12 < tcpi_snd_cwnd or alpha > 960"), 0);
        assert_eq!(of("-7 // 2"), -4);
        assert_eq!(of("-7 % 2"), 1);
        assert_eq!(of("7 // -2"), -4);
        assert_eq!(of("7 % -2"), -1);
        assert_eq!(of("1024 - (1024 >> 4) == alpha"), 1);
    }

    #[test]
    fn a_failed_assertion_shows_its_values() {
        let block =
            Block::parse("\n assert tcpi_snd_cwnd == 10, 'cwnd=%d' % tcpi_snd_cwnd\n", 7).expect("a block");
        let scope = Scope::from([("tcpi_snd_cwnd".to_string(), 11)]);
        assert_eq!(
            block.evaluate(&scope),
            Verdict::Fails {
                line: 8,
                wanted: "tcpi_snd_cwnd == 10".into(),
                seen: "tcpi_snd_cwnd = 11".into()
            }
        );
        assert_eq!(block.evaluate(&Scope::new()), Verdict::Unknown { line: 8, name: "tcpi_snd_cwnd".into() });
    }

    #[test]
    fn several_assertions_in_a_block() {
        let text = "assert a == 1, a; \\\n assert b == 2,b   # and a comment\nassert (a +\n b) == 3";
        let block = Block::parse(text, 1).expect("a block");
        assert_eq!(block.assertions.iter().map(|a| a.line).collect::<Vec<_>>(), [1, 2, 3]);
        let scope = Scope::from([("a".to_string(), 1), ("b".to_string(), 2)]);
        assert_eq!(block.evaluate(&scope), Verdict::Holds);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in
            ["", "import os", "assert", "assert a ==", "assert f(1)", "assert a.b", "assert 1 / 2", "x = 1"]
        {
            assert!(Block::parse(text, 1).is_err(), "{text}");
        }
        for text in ["1 // 0", "1 << 64", "0x7fffffffffffffff + 1", "'a' + 1", "'a' < 1"] {
            assert!(evaluate_integer(text, 1, &Scope::new()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[a-z0-9 ()<>=!+*/%&|~^'\\\\\n;,#-]{0,60}") {
            if let Ok(block) = Block::parse(&text, 1) {
                block.evaluate(&Scope::new());
            }
        }
        #[test]
        fn division_is_exact(a in any::<i32>(), b in any::<i32>()) {
            prop_assume!(b != 0);
            let text = format!("({a}) // ({b}) * ({b}) + ({a}) % ({b}) == {a}");
            prop_assert_eq!(of(&text), 1);
        }
    }
}
