//! Which event of the block layer stands for a request. A request is queued, inserted, issued and completed, and a
//! recording may have all of these events or only some: the first that it has is nearest to what was asked for.

/// A kind of event, the earliest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    #[default]
    Queue,
    Insert,
    Issue,
    Complete,
}

impl Stage {
    /// The earliest of these; queue events if there are none.
    pub fn earliest(stages: impl Iterator<Item = Stage>) -> Stage {
        stages.min().unwrap_or_default()
    }

    /// What the reader of a trace should know about this choice.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Stage::Queue => None,
            Stage::Insert => Some("has no queue events: insert events stand for the requests"),
            Stage::Issue => Some(
                "has no queue events: issue events stand for the requests, as the host sent them to the drive, merged and \
                 after their time in its queues",
            ),
            Stage::Complete => Some(
                "has completion events only: they stand for the requests, which arrive at the times at which they \
                 completed",
            ),
        }
    }
}
