/** Keys of the page: `/` for the palette, `g` then a letter for a page, `?` for the list; all can be off. */
import { signal } from "@preact/signals"

/** True: keys alone do something. Kept for the tab, and no longer. */
export const areOn = signal(sessionStorage.getItem("bursar.keys") !== "off")

export const switchKeys = (): void => {
  areOn.value = !areOn.value
  sessionStorage.setItem("bursar.keys", areOn.value ? "on" : "off")
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName))

/** Milliseconds within which the letter follows `g`. */
const letterWithin = 1_500

export interface KeyActs {
  readonly search: () => void
  readonly help: () => void
  readonly go: (letter: string) => void
}

/** Listens until the returned function is called. No key alone signs, sends or ends anything. */
export const listen = ({ go, help, search }: KeyActs): (() => void) => {
  let until = 0
  const hear = (event: KeyboardEvent) => {
    if (!areOn.value || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey)
      return
    if (document.querySelector("dialog[open]") !== null) return
    if (event.timeStamp < until && /^[a-z]$/u.test(event.key)) {
      until = 0
      go(event.key)
    } else if (event.key === "g") until = event.timeStamp + letterWithin
    else if (event.key === "/") {
      event.preventDefault()
      search()
    } else if (event.key === "?") help()
  }
  document.addEventListener("keydown", hear)
  return () => document.removeEventListener("keydown", hear)
}
