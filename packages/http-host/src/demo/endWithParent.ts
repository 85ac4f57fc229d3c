/**
 * Preloaded into every process the demo starts: ends it when whoever started it is gone.
 *
 * The parent holds the other end of this process's standard input and never writes to it. When the
 * parent ends, however it ends, the system closes that end.
 */
const graceMillis = 10_000

const end = (): void => {
  process.kill(process.pid, "SIGTERM")
  setTimeout(() => process.exit(1), graceMillis).unref()
}

// Output during the exit may have no reader left.
process.stdout.on("error", () => {})
process.stderr.on("error", () => {})

process.stdin.on("end", end)
process.stdin.on("error", end)
process.stdin.resume()
// The watch on standard input must not keep a finished process alive.
if ("unref" in process.stdin) process.stdin.unref()
