/** Button that takes a table as a file of comma-separated values, at the page's point. */
import { useState } from "preact/hooks"
import { announce } from "../kit/Announce.ts"
import { Failure } from "../kit/Outcome.tsx"
import { client } from "../reads/Api.ts"
import { point } from "../reads/Point.ts"

export const CsvButton = ({
  file,
  params,
  read
}: {
  readonly read: Parameters<typeof client.csv>[0]
  readonly params: Readonly<Record<string, unknown>>
  /** Name of the file, without its ending. */
  readonly file: string
}) => {
  const [isTaking, taking] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const take = async () => {
    taking(true)
    setError(null)
    try {
      const parts: Array<string> = []
      const at = point.value === null ? {} : { at: point.value }
      // Cast: the parameters are those of the read that the caller names, and an offset goes out as its digits.
      for await (const text of client.csv(read, params as never, at as never)) parts.push(text)
      const link = document.createElement("a")
      link.href = URL.createObjectURL(new Blob(parts, { type: "text/csv" }))
      link.download = `${file.replaceAll(/[^\w.~-]/gu, "_")}.csv`
      link.click()
      URL.revokeObjectURL(link.href)
      announce("The file was taken.")
    } catch (failure) {
      setError(failure)
    } finally {
      taking(false)
    }
  }
  return (
    <>
      <button type="button" disabled={isTaking} onClick={() => void take()}>
        {isTaking ? "Reading …" : "Take as CSV"}
      </button>
      {error === null ? null : <Failure error={error} />}
    </>
  )
}
