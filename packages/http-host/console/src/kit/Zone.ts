/** The zone in which the page shows instants, in the address; and the present instant, a minute at a time. */
import { computed, effect, signal } from "@preact/signals"
import * as Clock from "../reads/Clock.ts"
import { point, pointTime } from "../reads/Point.ts"
import { isZone } from "../words/Instants.ts"

/** Zone of the page: UTC, or one that the person chose. */
export const zone = signal("UTC")

const clock = signal(new Date(Clock.now()).toISOString())

const tick = () => {
  if (!document.hidden) clock.value = new Date(Clock.now()).toISOString()
}
setInterval(tick, 30_000)
document.addEventListener("visibilitychange", tick)
// A clock of this machine that is wrong is found with the first answer.
effect(() => {
  void Clock.clockOff.value
  tick()
})

/** The present for relative words, by the venue's clock; on a page of the past, the time of its point. */
export const present = computed(() =>
  point.value === null ? clock.value : (pointTime.value ?? clock.value)
)

/** Takes the zone of an address; one that the platform does not know is UTC. */
export const takeZone = (text: string | undefined): void => {
  zone.value = text !== undefined && isZone(text) ? text : "UTC"
}
