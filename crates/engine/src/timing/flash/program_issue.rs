//! The firmware's time for each program: while it issues a program to the flash it admits no write of the host.

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgramIssue {
    /// 0: no time.
    each_ns: u64,
    until_ns: u64,
}

impl ProgramIssue {
    pub fn taking(each_us: f64) -> Self {
        Self { each_ns: (each_us * 1000.0).round() as u64, until_ns: 0 }
    }

    pub fn takes_time(&self) -> bool {
        self.each_ns > 0
    }

    /// A program is issued as soon as those before it are.
    #[inline(always)]
    pub fn issue(&mut self, now: u64) {
        self.until_ns = self.until_ns.max(now) + self.each_ns;
    }

    pub fn until_ns(&self) -> u64 {
        self.until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_issued_one_after_another() {
        let mut firmware = ProgramIssue::taking(36.0);
        [1_000, 10_000, 100_000].into_iter().for_each(|now| firmware.issue(now));
        assert_eq!(firmware.until_ns(), 136_000, "it had rested");
        firmware.issue(100_000);
        assert_eq!(firmware.until_ns(), 172_000);
    }
}
