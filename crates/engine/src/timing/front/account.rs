//! The time of a request in progress: each stage is charged with the time since the previous one.

use crate::timing::breakdown::{PARTS, Part, Parts};
use crate::timing::service::Service;

#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// The time until when all time has been charged. May be in the future, where it is known what happens until then.
    settled_to_ns: u64,
    parts: Parts,
}

/// The fraction bits of a share.
const SHARE_BITS: u32 = 16;

/// Garbage collection's share of a program's wait; a division that is done once for all who waited for its space.
#[derive(Clone, Copy, Debug)]
pub struct GcShare(u64);

impl GcShare {
    #[inline]
    pub fn of(service: &Service) -> Self {
        let whole_ns = service.ended_ns - service.queued_ns;
        Self((service.gc_ns << SHARE_BITS).checked_div(whole_ns).unwrap_or(0))
    }
}

impl Account {
    #[inline]
    pub fn since(issued_ns: u64) -> Self {
        Self { settled_to_ns: issued_ns, parts: [0; PARTS] }
    }

    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The time until `until_ns`, which may be in the future, was spent on this part.
    #[inline]
    pub fn spend(&mut self, part: Part, until_ns: u64) {
        if until_ns > self.settled_to_ns {
            self.parts[part as usize] += until_ns - self.settled_to_ns;
            self.settled_to_ns = until_ns;
        }
    }

    /// The time until now was spent on an operation of the flash, queued at a known time.
    #[inline(always)]
    pub fn spend_on_flash(&mut self, service: &Service) {
        let gathered = if service.is_held_by_copies { Part::Gc } else { Part::Controller };
        self.spend(gathered, service.queued_ns.min(service.ended_ns));
        let passed_ns = service.ended_ns.saturating_sub(self.settled_to_ns);
        // Part of the operation may precede the time to be charged, if something else was waited for then.
        let array_ns = service.array_ns.min(passed_ns);
        let channel_ns = service.channel_ns.min(passed_ns - array_ns);
        let waited_ns = passed_ns - array_ns - channel_ns;
        let gc_ns = service.gc_ns.min(waited_ns);
        self.parts[Part::Flash as usize] += array_ns;
        self.parts[Part::Channel as usize] += channel_ns;
        self.parts[Part::Gc as usize] += gc_ns;
        self.parts[Part::HostOperations as usize] += waited_ns - gc_ns;
        self.settled_to_ns += passed_ns;
    }

    /// The time until now was spent waiting for space, freed by a program that has just ended: garbage collection's
    /// share of the wait is that of the program's own wait.
    pub fn spend_on_room(&mut self, service: &Service, share: GcShare) {
        let waited_ns = service.ended_ns.saturating_sub(self.settled_to_ns);
        let gc_ns = (waited_ns * share.0) >> SHARE_BITS;
        self.parts[Part::Gc as usize] += gc_ns;
        self.parts[Part::HostOperations as usize] += waited_ns - gc_ns;
        self.settled_to_ns += waited_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued_at(queued_ns: u64) -> Service {
        Service { queued_ns, is_held_by_copies: false, ended_ns: 1000, array_ns: 0, channel_ns: 0, gc_ns: 0 }
    }

    #[test]
    fn an_operation_that_began_early_counts_only_from_where_the_last_stage_ended() {
        let service = Service { array_ns: 300, channel_ns: 50, gc_ns: 200, ..queued_at(100) };
        let split = |since: u64| {
            let mut account = Account::since(since);
            account.spend_on_flash(&service);
            assert_eq!(account.parts().iter().sum::<u64>(), 1000 - since);
            let [_, controller, _, _, channel, flash, host_operations, gc] = *account.parts();
            [controller, host_operations, gc, channel, flash]
        };
        assert_eq!(split(0), [100, 350, 200, 50, 300]);
        assert_eq!(split(100), [0, 350, 200, 50, 300]);
        assert_eq!(split(600), [0, 0, 50, 50, 300]);
        assert_eq!(split(900), [0, 0, 0, 0, 100]);
    }

    #[test]
    fn waiting_for_room_was_as_much_gc_as_the_program_that_made_it() {
        let service = Service { array_ns: 300, channel_ns: 50, gc_ns: 400, ..queued_at(200) };
        let mut account = Account::since(500);
        account.spend_on_room(&service, GcShare::of(&service));
        assert_eq!(account.parts()[6..], [250, 250]);
    }
}
