//! Runs specifications, one a line of standard input, and writes their outcomes, one a line, as JSON. What is refused
//! gives `{"refused": KEY}`. `tools/golden check --engine cargo` compares the outcomes with what was recorded.

use serde_json::{Value, json};
use ssdlab_engine::simulation::start;
use ssdlab_engine::specification::Specification;
use std::error::Error;
use std::io::{self, BufRead, Write};

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let specification: Specification = serde_json::from_str(&line?)?;
        serde_json::to_writer(&mut out, &outcome_of(&specification)?)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

fn outcome_of(specification: &Specification) -> Result<Value, Box<dyn Error + Send + Sync>> {
    let mut run = match start(specification) {
        Ok(run) => run,
        Err(error) => return Ok(json!({ "refused": error.key })),
    };
    while !run.advance(u64::MAX)?.is_finished {}
    Ok(serde_json::to_value(run.finish())?)
}
