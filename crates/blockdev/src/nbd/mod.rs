//! An NBD server: the drive for programs that use the protocol themselves (qemu, nbdcopy, fio's `nbd` engine).
//!
//! A small server instead of a plugin for nbdkit: users need nothing but the wheel, statistics and commands work as on
//! a mount, and requests that arrive together are answered together. For TLS or filters, put nbdkit's `nbd` plugin
//! before the socket.
//!
//! Clients are not trusted: their number and their total memory are bounded, and one that stops in the middle of a
//! message is disconnected after a time.

mod answers;
mod connection;
mod memory;
mod negotiation;
mod protocol;
mod stream;

use crate::device::Device;
use crate::queue::{Immediate, Queue, sleep_exactly};
use memory::Share;
use negotiation::Offer;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use stream::{Stream, Until};

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// The path of a unix socket.
    Unix(PathBuf),
    /// Host and port; port 0 selects a free one.
    Tcp(String, u16),
}

/// What clients may ask of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most simultaneous connections, 1 to `CONNECTIONS_MAX`; a further one is closed at once.
    pub connections_max: u32,
    /// The time from the greeting to the first request.
    pub negotiation: Duration,
    /// The time without a byte in the middle of a request. Between requests there is no limit.
    pub half_request: Duration,
}

/// With more connections the memory of each would not suffice for a usual request.
pub const CONNECTIONS_MAX: u32 = 1024;

impl Limits {
    /// With time limits that an active client never reaches.
    pub fn with_connections(connections_max: u32) -> Self {
        let patience = Duration::from_secs(30);
        Self { connections_max, negotiation: patience, half_request: patience }
    }
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Ok(Stream::Unix(stream))
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

/// State shared by the server and the threads of its connections. Only the threads hold the device: it is released when
/// they have ended.
struct Shared {
    limits: Limits,
    is_over: AtomicBool,
    /// Open connections, so that they can be closed.
    open: Mutex<Vec<(u64, Stream)>>,
    /// The threads of connections.
    attending: Mutex<Vec<JoinHandle<()>>>,
    connections: AtomicU64,
    refused: AtomicU64,
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Vec<(u64, Stream)>> {
        self.open.lock().expect("no connection panics while it holds the list")
    }

    fn attending(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.attending.lock().expect("nothing panics while it holds the list")
    }
}

/// A running server, until it is stopped or dropped.
pub struct Server {
    address: Address,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Makes a queue of the device for each client.
pub type Queues = Arc<dyn Fn() -> Box<dyn Queue> + Send + Sync>;

/// Serves the device to several clients at a time, each of which has a queue of its own. Replaces a socket file without a
/// listener.
pub fn serve(device: Arc<dyn Device>, queues: Queues, address: Address, limits: Limits) -> io::Result<Server> {
    assert!((1..=CONNECTIONS_MAX).contains(&limits.connections_max), "{limits:?}");
    let (listener, address) = match address {
        Address::Unix(path) => {
            if path.exists() && UnixStream::connect(&path).is_err() && is_socket(&path) {
                std::fs::remove_file(&path)?;
            }
            let listener = UnixListener::bind(&path)?;
            listener.set_nonblocking(true)?;
            (Listener::Unix(listener), Address::Unix(path))
        }
        Address::Tcp(host, port) => {
            let listener = TcpListener::bind((host.as_str(), port))?;
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            (Listener::Tcp(listener), Address::Tcp(host, port))
        }
    };
    let shared = Arc::new(Shared {
        limits,
        is_over: AtomicBool::new(false),
        open: Mutex::default(),
        attending: Mutex::default(),
        connections: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let listening = thread::Builder::new().name("nbd".to_owned()).spawn({
        let shared = shared.clone();
        move || listen(&listener, &(device, queues), &shared)
    })?;
    Ok(Server { address, shared, listening: Some(listening) })
}

fn is_socket(path: &std::path::Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// The device, and queues of it.
type Served = (Arc<dyn Device>, Queues);

fn listen(listener: &Listener, served: &Served, shared: &Arc<Shared>) {
    while !shared.is_over.load(Ordering::Relaxed) {
        match listener.accept() {
            // A client that cannot be served is disconnected.
            Ok(stream) => drop(admit(stream, served, shared)),
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// Serves the client in a separate thread. One above the limit is disconnected at once: clients report that, whereas
/// they would wait silently in the socket's queue, some of them for a connection of their own.
fn admit(stream: Stream, served: &Served, shared: &Arc<Shared>) -> io::Result<()> {
    let to_shut = stream.try_clone()?;
    let number = shared.connections.fetch_add(1, Ordering::Relaxed);
    {
        let mut open = shared.open();
        if open.len() >= shared.limits.connections_max as usize {
            shared.refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        open.push((number, to_shut));
    }
    let attending = thread::Builder::new().name(format!("nbd-{number}")).spawn({
        let ((device, queues), shared) = (served.clone(), shared.clone());
        move || {
            sleep_exactly();
            // The end of a connection does not affect others.
            let _ = attend(stream, (&*device, queues()), shared.limits);
            shared.open().retain(|(open, _)| *open != number);
        }
    });
    let attending = attending.inspect_err(|_| shared.open().retain(|(open, _)| *open != number))?;
    let mut threads = shared.attending();
    threads.retain(|thread| !thread.is_finished());
    threads.push(attending);
    Ok(())
}

fn attend(stream: Stream, (device, queue): (&dyn Device, Box<dyn Queue>), limits: Limits) -> io::Result<()> {
    let moment = Instant::now() + limits.negotiation;
    let (mut reader, mut writer) = (Until { stream: stream.try_clone()?, moment }, Until { stream, moment });
    let Some(agreed) = negotiation::negotiate(&mut reader, &mut writer, &offer(device, limits))? else {
        return Ok(());
    };
    let (reader, writer) = (reader.stream, writer.stream);
    // There is no limit for a client that does not receive its answers: no request of it is read in the meantime, so it
    // needs no memory.
    reader.limit(Some(limits.half_request), None)?;
    let incoming = reader.try_clone()?;
    let wait = |left: Duration| incoming.wait(left);
    connection::serve(reader, writer, (device, queue), &wait, agreed, Share::of(limits.connections_max))
}

fn offer(device: &dyn Device, limits: Limits) -> Offer {
    Offer { capabilities: device.capabilities(), many_connections: limits.connections_max > 1 }
}

/// A complete connection over any pair of streams, without time limits, with a device that executes at once. Returns
/// errors of the connection.
pub fn converse(
    mut reader: impl Read,
    mut writer: impl Write,
    device: &Arc<dyn Device>,
    connections_max: u32,
) -> io::Result<()> {
    let offer = offer(&**device, Limits::with_connections(connections_max));
    let queue = Box::new(Immediate::new(device.clone()));
    match negotiation::negotiate(&mut reader, &mut writer, &offer)? {
        Some(agreed) => {
            let share = Share::of(connections_max);
            connection::serve(reader, writer, (&**device, queue), &|_| Ok(true), agreed, share)
        }
        None => Ok(()),
    }
}

impl Server {
    /// The address at which it listens; with port 0 the chosen port.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The number of clients so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// How many of them were disconnected at once because of the limit.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }

    /// Closes all connections, waits for their threads and removes the socket: the device is released afterwards.
    pub fn stop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
            self.shared.open().iter().for_each(|(_, stream)| stream.shut_down());
            let attending = std::mem::take(&mut *self.shared.attending());
            attending.into_iter().for_each(|thread| drop(thread.join()));
            if let Address::Unix(path) = &self.address {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
