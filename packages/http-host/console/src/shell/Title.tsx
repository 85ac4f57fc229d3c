/** Title of a page, in its head and in the window. */
import { useEffect } from "preact/hooks"
import { announce } from "../kit/Announce.ts"

export const Title = ({ text }: { readonly text: string }) => {
  useEffect(() => {
    document.title = text
    announce(text)
  }, [text])
  return <h1 tabIndex={-1}>{text}</h1>
}
