/** Title of a page, in its head and in the window; after a step to another page it has the focus. */
import { useEffect, useRef } from "preact/hooks"
import { announce } from "../kit/Announce.ts"

/** True: a page was shown before, so that the next one is a step to it. */
let wasShown = false

export const Title = ({ text }: { readonly text: string }) => {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = text
    announce(text)
  }, [text])
  useEffect(() => {
    // What was pressed may have gone with its page, and a reader would go on from nowhere.
    if (wasShown) title.current?.focus()
    wasShown = true
  }, [])
  return (
    <h1 ref={title} tabIndex={-1}>
      {text}
    </h1>
  )
}
