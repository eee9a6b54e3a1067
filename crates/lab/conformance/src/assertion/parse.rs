//! Parses expressions with Python's operator precedences.

use crate::ScriptError;
use crate::vocabulary;

const MAX_DEPTH: u32 = 64;
const HINT: &str = "assertions may use integers, strings, names, + - * // % << >> & | ^ ~, comparisons, and, or, not, \
                    and parentheses";

/// The assertions of one check.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub(super) assertions: Vec<Assertion>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Assertion {
    pub(super) line: u32,
    pub(super) text: String,
    pub(super) condition: Expression,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expression {
    Integer(i64),
    Text(String),
    Name(String),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Invert(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
    /// `a < b <= c`
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Left,
    Right,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Block {
    /// Reads assertions; `line` is the line of the first character.
    ///
    /// # Errors
    /// The first construct that is not understood.
    pub fn parse(text: &str, line: u32) -> Result<Self, ScriptError> {
        let mut assertions = Vec::new();
        let mut prints = false;
        let mut parser = Parser { tokens: tokens(text, line)?, at: 0, last_line: line, depth: 0 };
        loop {
            while parser.eat(&Token::End) {}
            let Some((line, first)) = parser.tokens.get(parser.at).cloned() else { break };
            if first == Token::Word("print".into()) {
                parser.skip_statement();
                prints = true;
                continue;
            }
            if first != Token::Word("assert".into()) {
                let what = format!("the check begins with {first}, not `assert`");
                let next = match parser.tokens.get(parser.at + 1) {
                    Some((_, Token::Sign(sign))) => Some(*sign),
                    _ => None,
                };
                let is_python = match &first {
                    Token::Word(word) => vocabulary::begins_statement(word, next),
                    _ => true,
                };
                let error = if is_python {
                    ScriptError::refused(line, what)
                } else {
                    ScriptError::syntax(line, what)
                };
                return Err(error.hint("write `assert condition` or `assert condition, message`"));
            }
            parser.at += 1;
            let begin = parser.at;
            let condition = parser.expression()?;
            let text = render(&parser.tokens[begin..parser.at]);
            // The message is Python too; instead, the values in the condition are reported.
            if parser.eat(&Token::Sign(",")) {
                parser.skip_statement();
            }
            if parser.at < parser.tokens.len() && !parser.eat(&Token::End) {
                return Err(parser.unexpected("the end of the assertion"));
            }
            assertions.push(Assertion { line, text, condition });
        }
        // A block that only prints is for whoever looks on: it has nothing to fail.
        if assertions.is_empty() && !prints {
            return Err(
                ScriptError::syntax(line, "the check asserts nothing").hint("write `assert condition`")
            );
        }
        Ok(Self { assertions })
    }
}

/// Reads one expression.
pub(super) fn expression(text: &str, line: u32) -> Result<Expression, ScriptError> {
    let mut parser = Parser { tokens: tokens(text, line)?, at: 0, last_line: line, depth: 0 };
    let found = parser.expression()?;
    if parser.at < parser.tokens.len() {
        return Err(parser.unexpected("the end of the expression"));
    }
    Ok(found)
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Integer(i64),
    Text(String),
    Word(String),
    Sign(&'static str),
    /// The end of a line outside parentheses, or `;`.
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "`{value}`"),
            Self::Text(text) => write!(f, "the text '{text}'"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Sign(sign) => write!(f, "`{sign}`"),
            Self::End => f.write_str("the end of the line"),
        }
    }
}

/// Operator signs, longer ones first, so that `<=` is not read as `<`.
const SIGNS: [&str; 23] = [
    "//", "<<", ">>", "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "%", "&", "|", "^", "~", "(", ")",
    ",", "/", "[", "]",
];

fn tokens(text: &str, mut line: u32) -> Result<Vec<(u32, Token)>, ScriptError> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut open = 0_i32;
    while let Some(c) = rest.chars().next() {
        if c == '\n' || c == ';' {
            if open <= 0 {
                found.push((line, Token::End));
            }
            line += u32::from(c == '\n');
            rest = &rest[1..];
        } else if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
        } else if c == '#' {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if let Some(next) = rest.strip_prefix('\\') {
            let Some(next) = next.trim_start_matches([' ', '\t']).strip_prefix('\n') else {
                return Err(ScriptError::syntax(line, "`\\` is for the end of a line"));
            };
            line += 1;
            rest = next;
        } else if c == '\'' || c == '"' {
            let Some(end) = rest[1..].find(c) else {
                return Err(ScriptError::syntax(line, "the text has no end"));
            };
            found.push((line, Token::Text(rest[1..=end].to_string())));
            rest = &rest[end + 2..];
        } else if c.is_ascii_alphanumeric() || c == '_' {
            let size = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push((line, word(&rest[..size], line)?));
            rest = &rest[size..];
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            open += i32::from(*sign == "(") - i32::from(*sign == ")");
            found.push((line, Token::Sign(sign)));
            rest = &rest[sign.len()..];
        } else {
            return Err(sign_error(c, open, &found, line));
        }
    }
    Ok(found)
}

/// The error for a sign that assertions do not have: a refusal if Python may have it there.
fn sign_error(sign: char, open: i32, before: &[(u32, Token)], line: u32) -> ScriptError {
    let statement = before.rsplit(|(_, token)| *token == Token::End).next().unwrap_or_default();
    let asserts = matches!(statement.first(), Some((_, Token::Word(word))) if word == "assert");
    let in_python = match sign {
        // It assigns, or names an argument of a call.
        '=' => open > 0 || !asserts,
        '.' | ':' | '{' | '}' | '@' => true,
        _ => false,
    };
    let error = if in_python {
        ScriptError::refused(line, format!("`{sign}` in a check is not supported"))
    } else {
        ScriptError::syntax(line, format!("`{sign}` has no meaning here"))
    };
    error.hint(HINT)
}

fn word(word: &str, line: u32) -> Result<Token, ScriptError> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Token::Word(word.to_string()));
    }
    let value = match word.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16),
        None => word.parse(),
    };
    value.map(Token::Integer).map_err(|_| ScriptError::syntax(line, format!("`{word}` is not an integer")))
}

fn render(tokens: &[(u32, Token)]) -> String {
    let words = tokens.iter().map(|(_, token)| match token {
        Token::Integer(value) => value.to_string(),
        Token::Text(text) => format!("'{text}'"),
        Token::Word(word) => word.clone(),
        Token::Sign(sign) => (*sign).to_string(),
        Token::End => String::new(),
    });
    words.collect::<Vec<_>>().join(" ").replace("( ", "(").replace(" )", ")")
}

struct Parser {
    tokens: Vec<(u32, Token)>,
    at: usize,
    last_line: u32,
    depth: u32,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }
    fn eat(&mut self, token: &Token) -> bool {
        let there = self.peek() == Some(token);
        self.at += usize::from(there);
        there
    }
    fn sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let Some(Token::Sign(found)) = self.peek() else { return None };
        let found = signs.iter().find(|sign| *sign == found).copied();
        self.at += usize::from(found.is_some());
        found
    }
    fn line(&self) -> u32 {
        let here = self.tokens.get(self.at).or(self.tokens.last());
        here.map_or(self.last_line, |(line, _)| *line)
    }
    /// Skips a statement that only prints, since nothing depends on it.
    fn skip_statement(&mut self) {
        while self.peek().is_some_and(|token| *token != Token::End) {
            self.at += 1;
        }
    }
    fn unexpected(&self, wanted: &str) -> ScriptError {
        let found = self.peek().map_or("the end of the check".to_string(), ToString::to_string);
        ScriptError::syntax(self.line(), format!("expected {wanted}, found {found}")).hint(HINT)
    }

    fn expression(&mut self) -> Result<Expression, ScriptError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ScriptError::syntax(self.line(), "the expression is nested too deeply"));
        }
        let found = self.list("or", Self::conjunction, Expression::Or);
        self.depth -= 1;
        found
    }
    fn conjunction(&mut self) -> Result<Expression, ScriptError> {
        self.list("and", Self::negation, Expression::And)
    }
    fn list(
        &mut self,
        word: &str,
        inner: fn(&mut Self) -> Result<Expression, ScriptError>,
        make: fn(Vec<Expression>) -> Expression,
    ) -> Result<Expression, ScriptError> {
        let first = inner(self)?;
        let mut all = vec![first];
        while self.eat(&Token::Word(word.into())) {
            all.push(inner(self)?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { make(all) })
    }
    fn negation(&mut self) -> Result<Expression, ScriptError> {
        let mut negated = false;
        let mut any = false;
        while self.eat(&Token::Word("not".into())) {
            (negated, any) = (!negated, true);
        }
        let inner = self.comparison()?;
        if !any {
            return Ok(inner);
        }
        let once = Expression::Not(Box::new(inner));
        Ok(if negated { once } else { Expression::Not(Box::new(once)) })
    }
    fn comparison(&mut self) -> Result<Expression, ScriptError> {
        let first = self.binary(0)?;
        let mut rest = Vec::new();
        while let Some(sign) = self.sign(&["==", "!=", "<", "<=", ">", ">="]) {
            let comparison = match sign {
                "==" => Comparison::Equal,
                "!=" => Comparison::Unequal,
                "<" => Comparison::Less,
                "<=" => Comparison::AtMost,
                ">" => Comparison::Greater,
                _ => Comparison::AtLeast,
            };
            rest.push((comparison, self.binary(0)?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(Box::new(first), rest) })
    }
    /// Binary operators, from the lowest precedence to the highest.
    fn binary(&mut self, level: usize) -> Result<Expression, ScriptError> {
        const LEVELS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "//", "%"]];
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(sign) = self.sign(signs) {
            let operator = match sign {
                "|" => Operator::Or,
                "^" => Operator::Xor,
                "&" => Operator::And,
                "<<" => Operator::Left,
                ">>" => Operator::Right,
                "+" => Operator::Add,
                "-" => Operator::Subtract,
                "*" => Operator::Multiply,
                "//" => Operator::Divide,
                _ => Operator::Modulo,
            };
            left = Expression::Binary(Box::new(left), operator, Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }
    fn unary(&mut self) -> Result<Expression, ScriptError> {
        let mut signs = Vec::new();
        while let Some(sign) = self.sign(&["-", "~", "+"]) {
            signs.push(sign);
        }
        if signs.len() > MAX_DEPTH as usize {
            return Err(ScriptError::syntax(self.line(), "the expression is nested too deeply"));
        }
        let mut found = self.atom()?;
        for sign in signs.iter().rev() {
            found = match *sign {
                "-" => Expression::Minus(Box::new(found)),
                "~" => Expression::Invert(Box::new(found)),
                _ => found,
            };
        }
        Ok(found)
    }
    fn atom(&mut self) -> Result<Expression, ScriptError> {
        let found = match self.peek() {
            Some(Token::Integer(value)) => Expression::Integer(*value),
            Some(Token::Text(text)) => Expression::Text(text.clone()),
            Some(Token::Word(word)) if !matches!(word.as_str(), "and" | "or" | "not" | "assert") => {
                Expression::Name(word.clone())
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let inner = self.expression()?;
                if self.sign(&[")"]).is_none() {
                    return Err(self.unexpected("`)`"));
                }
                return Ok(inner);
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.at += 1;
        Ok(found)
    }
}
