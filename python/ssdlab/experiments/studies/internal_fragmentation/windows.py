"""The article's steps as a PowerShell script, for a drive in a machine with Windows. Not for running it: that is done
there, and the script ends by printing the readings as the file that `--readings` takes.
"""

from ssdlab.experiments.protocols.contract import Setting, Step
from ssdlab.experiments.studies.internal_fragmentation import readers
from ssdlab.experiments.studies.internal_fragmentation.drives import CELLS, STEPS
from ssdlab.experiments.studies.internal_fragmentation.reading import FILE_BYTES, READINGS
from ssdlab.experiments.studies.internal_fragmentation.real import points

# NO_BUFFERING (0x20000000) is O_DIRECT of Windows: offsets, lengths and the buffer in memory must be aligned to
# sectors, so that the buffer comes from VirtualAlloc. WRITE_THROUGH (0x80000000) stands for the sync after each pass.
_HEAD = r"""# The steps of "Another look at the question: do I need defragmentation for SSD", for a drive with Windows.
# Writes a file of $Size bytes to $Folder, which it removes at the end; 2.2 times $Size is written in all, and it takes
# an hour and a quarter. Save it as rewrites.ps1, and run it in a PowerShell of version 5.1 or later:
#   powershell -ExecutionPolicy Bypass -File rewrites.ps1 -Folder D:\ -Output drive.toml
# Then, on any machine:
#   ssdlab study internal-fragmentation --readings drive.toml
param([Parameter(Mandatory)][string]$Folder, [Parameter(Mandatory)][string]$Output, [long]$Size = @SIZE@)
$ErrorActionPreference = 'Stop'
if ($Size -lt 64MB -or $Size % 1MB) { throw "Size is $Size; allowed is a multiple of 1 MiB, 64 MiB or more" }
if (-not (Test-Path -LiteralPath $Folder -PathType Container)) { throw "Folder is $Folder; there is no such folder" }

Add-Type -TypeDefinition @'
using System;
using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

public static class Direct
{
    [DllImport("kernel32.dll", SetLastError = true, CharSet = CharSet.Unicode)]
    static extern SafeFileHandle CreateFile(
        string name, uint access, uint share, IntPtr security, uint disposition, uint flags, IntPtr template);
    [DllImport("kernel32.dll", SetLastError = true)]
    static extern bool ReadFile(SafeFileHandle file, IntPtr buffer, uint length, out uint done, IntPtr overlapped);
    [DllImport("kernel32.dll", SetLastError = true)]
    static extern bool WriteFile(SafeFileHandle file, IntPtr buffer, uint length, out uint done, IntPtr overlapped);
    [DllImport("kernel32.dll", SetLastError = true)]
    static extern bool SetFilePointerEx(SafeFileHandle file, long distance, IntPtr position, uint method);
    [DllImport("kernel32.dll", SetLastError = true)]
    static extern IntPtr VirtualAlloc(IntPtr address, UIntPtr length, uint type, uint protection);

    const uint Read = 0x80000000, Write = 0x40000000, OpenAlways = 4;
    const uint NoBuffering = 0x20000000, WriteThrough = 0x80000000;
    const int Largest = 1 << 20;
    static readonly IntPtr Buffer = VirtualAlloc(IntPtr.Zero, (UIntPtr)(uint)Largest, 0x3000, 4);

    static SafeFileHandle Open(string name, uint access)
    {
        SafeFileHandle file =
            CreateFile(name, access, 0, IntPtr.Zero, OpenAlways, NoBuffering | WriteThrough, IntPtr.Zero);
        if (file.IsInvalid) throw new Win32Exception(Marshal.GetLastWin32Error());
        return file;
    }

    // One block after another, at the offsets that are given. Seconds.
    public static double Pass(string name, bool writes, int block, long[] offsets, int seed)
    {
        byte[] random = new byte[Largest];
        new Random(seed).NextBytes(random);
        if (writes) Marshal.Copy(random, 0, Buffer, Largest);
        using (SafeFileHandle file = Open(name, writes ? Read | Write : Read))
        {
            Stopwatch watch = Stopwatch.StartNew();
            foreach (long offset in offsets)
            {
                uint done;
                // Each block has contents of its own, so that no drive can store two of them as one.
                if (writes) Marshal.WriteInt64(Buffer, offset ^ ((long)seed << 40));
                bool moved = SetFilePointerEx(file, offset, IntPtr.Zero, 0) && (writes
                    ? WriteFile(file, Buffer, (uint)block, out done, IntPtr.Zero)
                    : ReadFile(file, Buffer, (uint)block, out done, IntPtr.Zero));
                if (!moved) throw new Win32Exception(Marshal.GetLastWin32Error());
            }
            return watch.Elapsed.TotalSeconds;
        }
    }

    public static long[] InOrder(long size)
    {
        long[] offsets = new long[size / Largest];
        for (long index = 0; index < offsets.Length; index++) offsets[index] = index * Largest;
        return offsets;
    }

    // Different blocks of 4 KiB: the beginning of a shuffled list of all.
    public static long[] AtRandom(long size, long bytes, int seed)
    {
        long[] offsets = new long[size / 4096];
        for (long index = 0; index < offsets.Length; index++) offsets[index] = index * 4096;
        Random random = new Random(seed);
        long wanted = Math.Min(bytes / 4096, offsets.Length);
        for (long index = 0; index < wanted; index++)
        {
            long other = index + (long)(random.NextDouble() * (offsets.Length - index));
            long kept = offsets[index];
            offsets[index] = offsets[other];
            offsets[other] = kept;
        }
        Array.Resize(ref offsets, (int)wanted);
        return offsets;
    }
}
'@

$Path = Join-Path (Resolve-Path -LiteralPath $Folder).ProviderPath 'ssdlab-rewrites.tmp'
$Output = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Output)
foreach ($Each in $Path, $Output) {
    if (Test-Path -LiteralPath $Each) { throw "$Each exists; it is not overwritten" }
}
$Seconds = [ordered]@{}

function Write-InOrder { [void][Direct]::Pass($Path, $true, 1MB, [Direct]::InOrder($Size), 1) }

function Write-AtRandom([long]$Bytes, [int]$Seed) {
    $scaled = [long]($Bytes * ($Size / @SIZE@))
    [void][Direct]::Pass($Path, $true, 4KB, [Direct]::AtRandom($Size, $scaled, $Seed), $Seed)
}

function Read-InOrder([string]$Cell, [int]$Wait) {
    Start-Sleep -Seconds $Wait
    $took = [Direct]::Pass($Path, $false, 1MB, [Direct]::InOrder($Size), 0)
    if (-not $Seconds.Contains($Cell)) { $Seconds[$Cell] = @() }
    $Seconds[$Cell] += $took.ToString('F4', [cultureinfo]::InvariantCulture)
}

try {
"""
_TAIL = r"""} finally {
    if (Test-Path -LiteralPath $Path) { Remove-Item -LiteralPath $Path }
}

$Letter = (Resolve-Path -LiteralPath $Folder).Drive.Name
$Disk = Get-Partition -DriveLetter $Letter -ErrorAction SilentlyContinue | Get-Disk -ErrorAction SilentlyContinue
function Quoted([string]$Text) { '"' + ($Text.Trim() -replace '[\\"]', '\$0') + '"' }
$Lines = @(
    'format = "@FORMAT@"'
    "drive = $(Quoted $(if ($Disk) { $Disk.Model } else { 'unknown' }))"
    "firmware = $(Quoted $(if ($Disk) { $Disk.FirmwareVersion } else { '' }))"
    "file_bytes = $Size"
    ''
    '[seconds]'
    $Seconds.GetEnumerator() | ForEach-Object { "$($_.Key) = [$($_.Value -join ', ')]" }
)
# Without a byte order mark, which a redirection and Out-File of PowerShell 5.1 would write.
[IO.File]::WriteAllText($Output, ($Lines -join "`n") + "`n")
Write-Host "readings: $Output"
"""


def script() -> str:
    """The whole script."""
    # What the steps are on a place of the article's size, with all of its waits.
    (point,) = points(Setting(FILE_BYTES))
    head = _HEAD.replace("@SIZE@", str(FILE_BYTES))
    steps = "".join(f"    {line(step)}\n" for step in point.steps)
    return head + steps + _TAIL.replace("@FORMAT@", readers.FORMAT)


def line(step: Step) -> str:
    """A step as a line of the script. Raises ValueError for one that the script's functions cannot do."""
    options = dict(option.split("=", 1) for option in step.text.split() if "=" in option)
    wait = round(step.idle_seconds)
    match options.get("rw"), options.get("bs"):
        case "write", "1m" if not wait:
            return "Write-InOrder"
        case "read", "1m":
            return f"Read-InOrder '{CELL_OF[step.name]}' {wait}"
        case "randwrite", "4k" if not wait:
            # `steps` writes sizes in bytes.
            size = int(options["io_size"])
            return f"Write-AtRandom {size} {size // 2**20}"
        case other:
            raise ValueError(f"{step.name}: the script has no function for {other} after {wait} s")


CELL_OF = {
    f"read-{amount or 'fresh'}-{number}": cell
    for cell, amount in zip(CELLS, STEPS, strict=True)
    for number in range(1, READINGS + 1)
} | {name: cell for cell, name in readers.LATER.items()}
"""The cell of the readers' file by the name of the step."""
