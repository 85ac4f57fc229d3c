/**
 * Kills its own process at the n-th message to the database after it was armed, or from the first one
 * that says something: loaded before the host by `--import`, so that the host that runs is the one that
 * is shipped, and knows nothing of it.
 */
import { Socket } from "node:net"

const port = Number(process.env["TRIPWIRE_PORT"])
/** `before`: the message never leaves; `after`: it has been handed to the kernel. */
let when = "after"
let left = Number.POSITIVE_INFINITY
/** Messages count from the first that matches; null: all count. */
let says: RegExp | null = null

/** A host that starts armed would else have done its work before it is told. */
const armed = process.env["TRIPWIRE_SAYS"]
if (armed !== undefined) {
  says = new RegExp(armed, "u")
  left = Number(process.env["TRIPWIRE_ARM"])
}

process.on("message", (message) => {
  if (typeof message === "object" && message !== null && "arm" in message) {
    left = Number(message.arm)
    when = String(Reflect.get(message, "when"))
    const text: unknown = Reflect.get(message, "says")
    says = typeof text === "string" ? new RegExp(text, "u") : null
  }
})

const die = (): void => {
  process.kill(process.pid, "SIGKILL")
}

const write = Socket.prototype.write
Socket.prototype.write = function (this: Socket, ...given: Parameters<typeof write>): boolean {
  if (this.remotePort !== port) return Reflect.apply(write, this, given)
  if (says !== null) {
    const [sent] = given
    const text = typeof sent === "string" ? sent : Buffer.from(sent).toString("latin1")
    if (!says.test(text)) return Reflect.apply(write, this, given)
    says = null
  }
  left -= 1
  if (left <= 0 && when === "before") die()
  const sent = Reflect.apply(write, this, given)
  if (left <= 0) die()
  return sent
} as typeof write
