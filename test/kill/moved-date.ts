/**
 * Moves the time of day of its process: loaded before the host by `--import`, so that the host that is
 * shipped runs in a month that the test chooses. Timers keep the real time. Programs that no message
 * reaches read the milliseconds from the file that `DATE_OFFSET_FILE` names, again and again.
 */
import { readFileSync } from "node:fs"

let offset = Number(process.env["DATE_OFFSET"] ?? 0)

/** Moves the time of day of this process, where a test loads the file itself. */
export const move = (millis: number): void => {
  offset = millis
}

const file = process.env["DATE_OFFSET_FILE"]
if (file !== undefined) {
  const look = (): void => {
    offset = Number(readFileSync(file, "utf8"))
  }
  look()
  setInterval(look, 50).unref()
}

process.on("message", (message) => {
  if (typeof message === "object" && message !== null && "dateOffset" in message) {
    offset = Number(message.dateOffset)
  }
})

const Real = Date
const now = (): number => Real.now() + offset

globalThis.Date = class extends Real {
  constructor(...given: ReadonlyArray<never>) {
    if (given.length === 0) super(now())
    else super(...(given as unknown as [number]))
  }
  static override now = now
} as DateConstructor
