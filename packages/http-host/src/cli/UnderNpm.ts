/**
 * End of a program that npm started (`npm run`, `npx`): npm passes a signal to its shell alone, which
 * ends and leaves the program behind, so the end of the parent is the signal.
 */

const everyMillis = 200

/** Sends this process SIGTERM once the process that started it has ended, where that was npm's shell. */
export const endWithParent = (environment: Readonly<Record<string, string | undefined>>): void => {
  if (environment["npm_command"] === undefined) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, "SIGTERM")
  }, everyMillis)
  watch.unref()
}
