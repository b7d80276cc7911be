//! An NVMe target over TCP: the drive as a controller that an unmodified host attaches (`nvme connect -t tcp`).
//!
//! NVM Express Base Specification 2.0, NVMe over Fabrics as a part of it, TCP Transport Specification 1.0, NVM Command
//! Set Specification 1.0, Zoned Namespace Command Set Specification 1.1; flexible data placement as in 2.1 and 1.1. Not here: authentication, TLS, multipath states,
//! namespace management.
//!
//! Hosts are not trusted: connections, controllers, commands and memory are bounded, every length is checked before it
//! is used, and every wait for a host has a limit.

mod connection;
mod controller;
mod discovery;
mod fields;
mod health;
mod identify;
mod io;
mod limits;
mod logs;
mod pdu;
mod placement;
mod session;
mod status;
mod subject;
mod works;
mod zones;

pub use health::{
    BadBlocks, Configuration, Configurations, EraseCounts, Event, Events, Fdp, HandleStatus, HandleStatuses,
    HandleType, HandleUsage, Health, Host, Ocp, Smart, Statistics, Usage,
};
pub use subject::{Identity, Namespace};

use crate::placement::Placement;
use crate::queue::Queue;
use crate::zones::Zones;
use session::{Shared, Target};
use std::io as std_io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use subject::Subject;

/// The figures of the logs; an error says why there are none.
pub type Figures = Box<dyn Fn() -> Result<Health, String> + Send>;

/// A running target, until it is stopped or dropped.
pub struct Server {
    address: SocketAddr,
    nqn: String,
    shared: Arc<Shared>,
    serving: Option<JoinHandle<()>>,
}

/// What hosts see of a drive.
pub struct Presented {
    /// Its names.
    pub identity: Identity,
    /// Its namespaces, at least one, each behind the one before.
    pub namespaces: Vec<Namespace>,
    /// Its placement handles; None for a drive without.
    pub placement: Option<Box<dyn Placement>>,
    /// Its zones, which its only namespace has; None for a drive without.
    pub zones: Option<Box<dyn Zones>>,
    /// Its figures.
    pub figures: Figures,
}

/// Serves a drive at an address; port 0 selects a free one.
pub fn serve(queue: Box<dyn Queue>, presented: Presented, (host, port): (&str, u16)) -> std_io::Result<Server> {
    let listener = TcpListener::bind((host, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let Presented { identity, namespaces, placement, zones, figures } = presented;
    let nqn = identity.nqn();
    let capabilities = queue.capabilities();
    let subject = Subject { identity, capabilities, namespaces, placement, zones, health: figures };
    let shared = Arc::new(Shared::default());
    let target = Target::new(listener, queue, subject, shared.clone());
    let serving = thread::Builder::new().name("nvme".to_owned()).spawn(move || target.run())?;
    Ok(Server { address, nqn, shared, serving: Some(serving) })
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The name of the drive's subsystem.
    pub fn nqn(&self) -> &str {
        &self.nqn
    }

    /// Hosts that have the drive attached.
    pub fn hosts(&self) -> u64 {
        self.shared.hosts.load(Ordering::Relaxed)
    }

    /// Closes all connections. Hosts that have the drive attached come back, for at most 12 s, to hear that it is gone.
    pub fn stop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
