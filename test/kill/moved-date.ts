/**
 * Moves the time of day of its process: loaded before the host by `--import`, so that the host that is
 * shipped runs in a month that the test chooses. Timers keep the real time.
 */
let offset = Number(process.env["DATE_OFFSET"] ?? 0)

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
