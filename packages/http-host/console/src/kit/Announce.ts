/** The page's live region: outcomes as sentences, at most one in five seconds. */
import { signal } from "@preact/signals"

export const announced = signal("")

const every = 5_000
let waiting: string | null = null
let timer: ReturnType<typeof setTimeout> | undefined

/** Says a sentence; of several within five seconds the last is said. */
export const announce = (sentence: string): void => {
  waiting = sentence
  if (timer !== undefined) return
  const say = () => {
    timer = undefined
    if (waiting === null) return
    announced.value = waiting
    waiting = null
    timer = setTimeout(say, every)
  }
  say()
}
