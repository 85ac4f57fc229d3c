/** Files that a page saves: read when they are asked for, and never shown as markup. */
import { useState } from "preact/hooks"
import { Failure } from "./Outcome.tsx"

export interface SavedFile {
  readonly name: string
  readonly parts: ReadonlyArray<string | Uint8Array<ArrayBuffer>>
}

export const SaveButton = ({
  load,
  title
}: {
  readonly title: string
  readonly load: () => Promise<SavedFile>
}) => {
  const [error, setError] = useState<unknown>(null)
  const [isLoading, loading] = useState(false)
  const save = async () => {
    setError(null)
    loading(true)
    try {
      const { name, parts } = await load()
      const address = URL.createObjectURL(
        new Blob([...parts], { type: "application/octet-stream" })
      )
      const link = document.createElement("a")
      link.href = address
      link.download = name
      link.click()
      URL.revokeObjectURL(address)
    } catch (failure) {
      setError(failure)
    } finally {
      loading(false)
    }
  }
  return (
    <span class="acts">
      <button type="button" disabled={isLoading} onClick={() => void save()}>
        {isLoading ? "Reading …" : title}
      </button>
      {error === null ? null : <Failure error={error} />}
    </span>
  )
}
