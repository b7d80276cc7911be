//! Why a host stops before its jobs have ended.

use crate::error::ReadOnly;
use crate::timing::front::Intake;
use std::fmt;

/// See the file's description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The drive refuses a write.
    Refused(ReadOnly),
    /// The run takes longer than the clock can tell.
    TooLate,
    /// The engine is wrong.
    Stuck(Stuck),
}

impl Halt {
    /// What the drive refuses, with which the run has an outcome; otherwise it ends with an error.
    pub fn refusal(self) -> Result<ReadOnly, Self> {
        match self {
            Self::Refused(reason) if !matches!(reason, ReadOnly::QueuesTooLong { .. }) => Ok(reason),
            other => Err(other),
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => reason.fmt(f),
            Self::TooLate => {
                write!(f, "a run with a clock ends before 2^48 ns of simulated time, three days; this one does not")
            }
            Self::Stuck(stuck) => stuck.fmt(f),
        }
    }
}

impl std::error::Error for Halt {}

/// Requests are outstanding that nothing will complete: an error of the engine. It ends the run with a message in place
/// of silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    because: String,
}

impl Stuck {
    /// No event is pending.
    pub fn without_event<F: Intake>(front: &F) -> Self {
        Self { because: format!("{} requests are outstanding and no event is pending", front.outstanding()) }
    }

    /// Events happen, and change nothing.
    pub fn in_vain(events: u64, now_ns: u64) -> Self {
        Self { because: format!("the last {events} events, until {now_ns} ns, completed no request and no operation") }
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "internal error: nothing can happen any more, because {}", self.because)
    }
}

impl From<ReadOnly> for Halt {
    fn from(reason: ReadOnly) -> Self {
        Self::Refused(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_for_which_there_is_no_memory_are_an_error_and_no_state_of_the_drive() {
        assert_eq!(Halt::from(ReadOnly::NothingToReclaim).refusal(), Ok(ReadOnly::NothingToReclaim));
        let error = Halt::from(ReadOnly::QueuesTooLong { programs_max: 5 }).refusal().unwrap_err();
        assert!(error.to_string().starts_with("more than 5 programs wait for the dies at once: "), "{error}");
    }
}
