//! An NBD server: the drive for programs that speak the protocol themselves (qemu, nbdcopy, fio's `nbd` engine).
//!
//! Small and our own rather than a plugin for nbdkit: users need nothing besides the wheel, statistics and commands work
//! as on a mount, and requests that come in a row are answered in a row. For TLS or filters, put nbdkit's `nbd` plugin
//! before the socket.

mod connection;
mod negotiation;
mod protocol;

use crate::device::Device;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Where clients find the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    /// Host and port; port 0 takes a free one.
    Tcp(String, u16),
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// Either kind of connection.
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    fn shut_down(&self) {
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(data),
            Self::Tcp(stream) => stream.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// Connections that are open, so that they can be shut.
    open: Mutex<Vec<(u64, Stream)>>,
    connections: AtomicU64,
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Vec<(u64, Stream)>> {
        self.open.lock().expect("no connection panics while it holds the list")
    }
}

/// A running server, until it is stopped or dropped.
pub struct Server {
    address: Address,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Serves the device to any number of clients at a time. A socket file that nobody listens at is replaced.
pub fn serve(device: Arc<dyn Device>, address: Address) -> io::Result<Server> {
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
    let shared = Arc::new(Shared::default());
    let listening = thread::Builder::new().name("nbd".to_owned()).spawn({
        let shared = shared.clone();
        move || listen(&listener, &device, &shared)
    })?;
    Ok(Server { address, shared, listening: Some(listening) })
}

fn is_socket(path: &std::path::Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_socket())
}

fn listen(listener: &Listener, device: &Arc<dyn Device>, shared: &Arc<Shared>) {
    while !shared.is_over.load(Ordering::Relaxed) {
        let accepted = match listener {
            Listener::Unix(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                Ok(Stream::Unix(stream))
            }),
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }),
        };
        let (Ok(stream), device, shared) = (accepted, device.clone(), shared.clone()) else {
            thread::sleep(LOOK_EVERY);
            continue;
        };
        let number = shared.connections.fetch_add(1, Ordering::Relaxed);
        let _ = thread::Builder::new().name(format!("nbd-{number}")).spawn(move || {
            // A client that breaks off hurts nobody else.
            let _ = attend(stream, number, &*device, &shared);
            shared.open().retain(|(open, _)| *open != number);
        });
    }
}

fn attend(mut stream: Stream, number: u64, device: &dyn Device, shared: &Shared) -> io::Result<()> {
    shared.open().push((number, stream.try_clone()?));
    if shared.is_over.load(Ordering::Relaxed) {
        return Ok(());
    }
    if negotiation::negotiate(&mut stream, &device.capabilities())? {
        let writer = stream.try_clone()?;
        connection::serve(stream, writer, device)?;
    }
    Ok(())
}

impl Server {
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// How many clients have come so far.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Shuts all connections and takes the socket away.
    pub fn stop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(listening) = self.listening.take() {
            let _ = listening.join();
            self.shared.open().iter().for_each(|(_, stream)| stream.shut_down());
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
