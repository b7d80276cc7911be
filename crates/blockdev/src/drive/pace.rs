//! Answering requests at the speed of the simulated drive.
//!
//! Simulated time follows this machine's clock: a request arrives when it is made, and its caller waits until the
//! simulated flash has completed it, sleeping first and spinning for the last moments. A machine may be too slow for
//! this, so intended and achieved times are both recorded. Background operations are computed when the next request
//! arrives, at the times at which they would have been performed.

use super::core::Core;
use crate::device::DeviceError;
use crate::queue::SPUN;
use serde::Serialize;
use ssdlab_engine::timing::histogram::Histogram;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The result of real pace. A real latency ends when the answer is made. Sending it comes after that, and together with
/// answers that are made within `GATHERED`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Achieved {
    /// Requests answered.
    pub requests: u64,
    /// Mean of the simulated latencies; None without requests.
    pub intended_mean_ns: Option<f64>,
    /// Mean of the real latencies; None without requests.
    pub achieved_mean_ns: Option<f64>,
    /// 99th percentile of the simulated latencies.
    pub intended_p99_ns: Option<u64>,
    /// 99th percentile of the real latencies.
    pub achieved_p99_ns: Option<u64>,
}

pub struct RealPace {
    started: Instant,
    /// Simulated time when it started.
    started_ns: u64,
    latencies: Mutex<[Histogram; 2]>,
}

impl RealPace {
    pub fn new(started_ns: u64) -> Self {
        Self { started: Instant::now(), started_ns, latencies: Mutex::default() }
    }

    /// The simulated time.
    pub fn now_ns(&self) -> u64 {
        self.started_ns + self.started.elapsed().as_nanos() as u64
    }

    /// Makes a request now and waits until it completes in simulated time. One that `is_durable` also waits for its
    /// data to be safe.
    pub fn carry_out(
        &self,
        core: &Mutex<Core>,
        is_durable: bool,
        request: impl FnOnce(&mut Core) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let lock = || core.lock().expect("no request panics while it holds the drive");
        let made = Instant::now();
        let (answer, tag) = {
            let mut core = lock();
            core.advance_to(self.now_ns());
            let answer = request(&mut core);
            (answer, core.take_submitted())
        };
        let Some(tag) = tag else { return answer };
        loop {
            let next_ns = {
                let mut core = lock();
                core.advance_to(self.now_ns());
                if let Some((intended_ns, carried_out)) = core.collect(tag) {
                    self.note(intended_ns, made.elapsed().as_nanos() as u64);
                    if is_durable {
                        core.settle_durable()?;
                    }
                    return answer.and(carried_out);
                }
                core.next_event_ns().ok_or(DeviceError::Stalled)?
            };
            let left = Duration::from_nanos(next_ns.saturating_sub(self.now_ns()));
            if left > SPUN {
                std::thread::sleep(left.saturating_sub(SPUN));
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// When this machine's clock shows a simulated time.
    pub fn instant(&self, simulated_ns: u64) -> Instant {
        self.started + Duration::from_nanos(simulated_ns.saturating_sub(self.started_ns))
    }

    pub fn note(&self, intended_ns: u64, achieved_ns: u64) {
        let mut latencies = self.latencies.lock().expect("counting does not panic");
        latencies[0].add(intended_ns);
        latencies[1].add(achieved_ns);
    }

    pub fn achieved(&self) -> Achieved {
        let latencies = self.latencies.lock().expect("counting does not panic");
        let [intended, achieved] = &*latencies;
        Achieved {
            requests: intended.count(),
            intended_mean_ns: intended.mean(),
            achieved_mean_ns: achieved.mean(),
            intended_p99_ns: intended.percentile(0.99),
            achieved_p99_ns: achieved.percentile(0.99),
        }
    }
}
