//! What a request passes on its way into a drive: for most nothing, for some a limit on commands. In front of several
//! devices it goes no further: `striped` deals its parts out.

use super::link::CommandLimit;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) enum Gate {
    Open,
    Limited(CommandLimit),
    /// Slots whose requests are to be dealt out, in order.
    Devices(VecDeque<u32>),
}

impl Gate {
    /// 0: no limit.
    pub fn limited_to(commands_per_second_max: u64) -> Self {
        CommandLimit::new(commands_per_second_max).map_or(Self::Open, Self::Limited)
    }

    /// The next slot whose request is to be dealt out.
    pub fn next_to_deal(&mut self) -> Option<u32> {
        match self {
            Self::Devices(slots) => slots.pop_front(),
            Self::Open | Self::Limited(_) => None,
        }
    }
}
