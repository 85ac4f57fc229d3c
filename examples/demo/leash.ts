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

// What is still said on the way out may have nobody left to read it.
process.stdout.on("error", () => {})
process.stderr.on("error", () => {})

process.stdin.on("end", end)
process.stdin.on("error", end)
process.stdin.resume()
// A process that has nothing left to do may end before its parent.
if ("unref" in process.stdin) process.stdin.unref()
