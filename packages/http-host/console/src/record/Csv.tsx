/** Button that takes a table as a file of comma-separated values, at the page's point. */
import { type SavedFile, SaveButton } from "../kit/Save.tsx"
import { client } from "../reads/Api.ts"
import { point } from "../reads/Point.ts"

type CsvRead = Parameters<typeof client.csv>[0]

export const CsvButton = ({
  file,
  params,
  read
}: {
  readonly read: CsvRead
  readonly params: Readonly<Record<string, unknown>>
  /** Name of the file, without its ending. */
  readonly file: string
}) => {
  const load = async (): Promise<SavedFile> => {
    const parts: Array<string> = []
    const at = point.value === null ? {} : { at: point.value }
    // Cast: the parameters are those of the read that the caller names, and an offset goes out as its digits.
    for await (const text of client.csv(read, params as never, at as never)) parts.push(text)
    return { name: `${file.replaceAll(/[^\w.~-]/gu, "_")}.csv`, parts }
  }
  return <SaveButton title="Take as CSV" load={load} />
}
