//! What a request passes between host and flash, as types: the code for a drive that has nothing there is without it.

use super::gate::Gate;
use super::{Client, Host, TimedDrive};
use crate::error::ReadOnly;

pub(super) trait Way {
    /// No link, no limit of commands, no buffer, no map pages or streams to wait for, and nobody asks for the load.
    const IS_DIRECT: bool;
    /// Whether it is told where the time of requests went; nothing: it is looked up.
    const TELLS_PARTS: Option<bool>;
}

pub(super) enum Direct {}
pub(super) enum DirectWithoutParts {}
pub(super) enum AnyWay {}

impl Way for Direct {
    const IS_DIRECT: bool = true;
    const TELLS_PARTS: Option<bool> = Some(true);
}

impl Way for DirectWithoutParts {
    const IS_DIRECT: bool = true;
    const TELLS_PARTS: Option<bool> = Some(false);
}

impl Way for AnyWay {
    const IS_DIRECT: bool = false;
    const TELLS_PARTS: Option<bool> = None;
}

impl Host {
    /// Tells nothing of where the time of requests went, which is quicker.
    pub fn without_parts(self) -> Self {
        Self { tells_parts: false, ..self }
    }

    #[inline(always)]
    pub(super) fn tells_parts<W: Way>(&self) -> bool {
        W::TELLS_PARTS.unwrap_or(self.tells_parts)
    }

    /// Carries out about `events` events. Returns false when nothing is outstanding any more and nothing will be.
    pub fn advance(
        &mut self,
        events: u64,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<bool, ReadOnly> {
        match (self.is_direct(), self.tells_parts) {
            (true, true) => self.advance_as::<Direct>(events, drive, client),
            (true, false) => self.advance_as::<DirectWithoutParts>(events, drive, client),
            (false, _) => self.advance_as::<AnyWay>(events, drive, client),
        }
    }

    fn is_direct(&self) -> bool {
        let is_open = matches!(self.gate, Gate::Open);
        let passes_nothing = is_open && self.link.is_none() && self.reading.is_none();
        passes_nothing && !self.buffer.exists() && !self.flash.is_asked_for_load()
    }
}
