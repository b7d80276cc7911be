//! The thin shell between the engine and a web page: requests as JSON, answers as JSON or as the bytes of a picture.
//!
//! A page calls `room` for a place of so many bytes in the module's memory, writes its request there, calls `answer`,
//! and reads the answer from where `address` says, as many bytes as `answer` returned. No strings, objects or pointers
//! into the page cross the boundary, so that no generated code is needed on either side. Not for what a page shows, nor
//! for the clock on the wall: the page says how many requests to execute.

// For the names of the exports alone; there is no unsafe code.
#![allow(unsafe_code)]

use serde::{Deserialize, Serialize};
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::ftl::picture::CellsBy;
use ssdlab_engine::simulation::live::LiveRun;
use ssdlab_engine::simulation::start;
use ssdlab_engine::specification::{Job, Specification};
use std::cell::RefCell;
use std::panic;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
enum Request {
    /// A whole run; the answer is its outcome.
    Run {
        specification: Box<Specification>,
    },
    /// A drive in this place, of which there are as many as were opened.
    Open {
        drive: usize,
        specification: Box<Specification>,
    },
    Close,
    Advance {
        drive: usize,
        requests: u64,
    },
    Append {
        drive: usize,
        job: Box<Job>,
    },
    End {
        drive: usize,
        after: Option<Vec<u64>>,
    },
    Drop {
        drive: usize,
    },
    Issued {
        drive: usize,
    },
    Specification {
        drive: usize,
    },
    Outcome {
        drive: usize,
    },
    Figures {
        drive: usize,
    },
    Cells {
        drive: usize,
        by: CellsBy,
    },
    Marks {
        drive: usize,
    },
    EraseUnit {
        drive: usize,
        index: u32,
    },
    CutPower {
        drive: usize,
    },
}

#[derive(Serialize)]
struct Refusal {
    error: String,
}

thread_local! {
    static EXCHANGE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static DRIVES: RefCell<Vec<LiveRun>> = const { RefCell::new(Vec::new()) };
}

/// A place for so many bytes of a request.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    EXCHANGE.with_borrow_mut(|exchange| {
        exchange.clear();
        exchange.resize(bytes, 0);
        exchange.as_mut_ptr()
    })
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn address() -> *const u8 {
    EXCHANGE.with_borrow(Vec::as_ptr)
}

/// Does what is asked in `room`. Gives the length of the answer in bytes: of a picture its cells, else JSON, an object
/// with `error` where the request is refused. After a panic, which is a trap, the answer is what it said.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    panic::set_hook(Box::new(|said| {
        keep(serde_json::to_vec(&Refusal { error: said.to_string() }).unwrap_or_default());
    }));
    let text = EXCHANGE.take();
    let answer = serde_json::from_slice(&text).map_err(|error| error.to_string()).and_then(carry_out);
    keep(answer.unwrap_or_else(|error| serde_json::to_vec(&Refusal { error }).expect("a text is JSON")));
    length()
}

/// The length of the answer, for callers that a trap has kept from the returned one.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    EXCHANGE.with_borrow(Vec::len)
}

fn keep(bytes: Vec<u8>) {
    EXCHANGE.set(bytes);
}

fn carry_out(request: Request) -> Result<Vec<u8>, String> {
    match request {
        Request::Run { specification } => run(&specification),
        Request::Open { drive, specification } => {
            let opened = LiveRun::new(*specification).map_err(in_words)?;
            DRIVES.with_borrow_mut(|drives| {
                drives.truncate(drive);
                drives.push(opened);
                json(&drives.len())
            })
        }
        Request::Close => json(&DRIVES.take().len()),
        Request::Advance { drive, requests } => {
            on(drive, |run| json(&run.advance(requests).map_err(|error| error.to_string())?))
        }
        Request::Append { drive, job } => on(drive, |run| json(&run.append_job(*job).map_err(in_words)?)),
        Request::End { drive, after } => on(drive, |run| json(&run.end_job(after.as_deref()).map_err(in_words)?)),
        Request::Drop { drive } => on(drive, |run| json(&run.drop_jobs_to_come().map_err(in_words)?)),
        Request::Issued { drive } => on(drive, |run| json(&run.issued())),
        Request::Specification { drive } => on(drive, |run| json(run.specification().map_err(in_words)?)),
        Request::Outcome { drive } => on(drive, |run| json(&run.outcome())),
        Request::Figures { drive } => on(drive, |run| json(&run.figures())),
        Request::Cells { drive, by } => on(drive, |run| {
            let mut cells = Vec::new();
            run.cells(by, &mut cells);
            Ok(cells)
        }),
        Request::Marks { drive } => on(drive, |run| json(&run.marks())),
        Request::EraseUnit { drive, index } => {
            on(drive, |run| json(&run.close_up(index).ok_or_else(|| format!("there is no erase unit {index}"))?))
        }
        Request::CutPower { drive } => on(drive, |run| json(&run.power_loss())),
    }
}

/// Requests of a whole run between two looks at whether it has ended.
const AT_ONCE: u64 = 100_000;

fn run(specification: &Specification) -> Result<Vec<u8>, String> {
    let mut simulation = start(specification).map_err(in_words)?;
    while !simulation.advance(AT_ONCE).map_err(|error| error.to_string())?.is_finished {}
    json(&simulation.finish())
}

fn on(drive: usize, work: impl FnOnce(&mut LiveRun) -> Result<Vec<u8>, String>) -> Result<Vec<u8>, String> {
    DRIVES.with_borrow_mut(|drives| work(drives.get_mut(drive).ok_or_else(|| format!("there is no drive {drive}"))?))
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|error| error.to_string())
}

fn in_words(error: SpecificationError) -> String {
    format!("{} = {} should be {}", error.key, error.value, error.allowed)
}
