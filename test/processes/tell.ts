/** Messages from a test to a program that it started. */
import type { ChildProcess, Serializable } from "node:child_process"

/**
 * Sends a message to a program. One that has been killed meanwhile gets none, as it gets none that came
 * too late: without the callback the failed send would be an error that no test catches.
 */
export const tell = (child: ChildProcess, message: Serializable): void => {
  child.send(message, () => {})
}
