/** The zone in which the page shows instants, in the address; and the present instant, a minute at a time. */
import { signal } from "@preact/signals"
import { isZone } from "../words/Instants.ts"

/** Zone of the page: UTC, or one that the person chose. */
export const zone = signal("UTC")

/** The present, for relative words. */
export const present = signal(new Date().toISOString())

setInterval(() => {
  if (!document.hidden) present.value = new Date().toISOString()
}, 30_000)

/** Takes the zone of an address; one that the platform does not know is UTC. */
export const takeZone = (text: string | undefined): void => {
  zone.value = text !== undefined && isZone(text) ? text : "UTC"
}
