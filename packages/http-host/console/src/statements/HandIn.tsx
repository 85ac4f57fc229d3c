/** Handing in a file of a source: what it is before it is sent, and what came of it. */
import { CallRefusal } from "@bursar/http-host/plain-client"
import { useMemo, useState } from "preact/hooks"
import { announce } from "../kit/Announce.ts"
import { Loaded } from "../kit/Sheet.tsx"
import { Failure } from "../kit/Outcome.tsx"
import { Copy, IdLink, Quote, Term, Terms } from "../kit/Values.tsx"
import { client } from "../reads/Api.ts"
import { readAnew, useRead } from "../reads/Cache.ts"
import { listRead, mayWrite, type Row } from "../reads/Lists.ts"
import { point } from "../reads/Point.ts"
import * as Session from "../shell/Session.ts"
import { word } from "../words/Words.ts"
import * as Statements from "./Statements.ts"

interface Picked {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly sha256: string
}

const hex = (digest: ArrayBuffer): string =>
  [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")

const pick = async (file: File): Promise<Picked> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return { name: file.name, bytes, sha256: hex(await crypto.subtle.digest("SHA-256", bytes)) }
}

export const HandIn = ({ sourceId }: { readonly sourceId: string | null }) => {
  const [isOpen, open] = useState(false)
  const roles = Session.person.value?.roles ?? []
  if (point.value !== null || !mayWrite("external-statements.receive", roles)) return null
  return (
    <div class="acts">
      <button type="button" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        Hand in a file
      </button>
      {isOpen ? <HandInForm sourceId={sourceId} /> : null}
    </div>
  )
}

const HandInForm = ({ sourceId }: { readonly sourceId: string | null }) => {
  const sources = useRead(
    listRead("external-sources.list", { where: { state: ["active"] }, limit: 500 })
  )
  return (
    <section class="sheet">
      <h2>Hand in a file</h2>
      <Loaded state={sources}>
        {({ value }) => (
          <FileForm
            sources={value.filter(
              (source) => sourceId === null || source["externalSourceId"] === sourceId
            )}
          />
        )}
      </Loaded>
    </section>
  )
}

const FileForm = ({ sources }: { readonly sources: ReadonlyArray<Row> }) => {
  const [named, setNamed] = useState(
    sources.length === 1 ? String(sources[0]?.["externalSourceId"]) : ""
  )
  const [file, setFile] = useState<Picked | null>(null)
  const [instrumentId, setInstrument] = useState("")
  const [businessDate, setDate] = useState("")
  const [corrects, setCorrects] = useState("")
  const [isSending, sending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [received, setReceived] = useState<Row | null>(null)
  // The same file keeps its key, however often it is sent.
  const key = useMemo(() => crypto.randomUUID(), [file?.sha256, named, corrects])
  const source = sources.find(({ externalSourceId }) => externalSourceId === named)
  const instruments = (source?.["instruments"] ?? []) as ReadonlyArray<string>
  const send = async () => {
    if (source === undefined || file === null || isSending) return
    sending(true)
    setError(null)
    try {
      const statement = (await client.receive(
        named,
        { bytes: file.bytes, mediaType: Statements.mediaTypeOf(String(source["adapter"])) },
        {
          key,
          ...(instrumentId === "" ? {} : { instrumentId }),
          ...(businessDate === "" ? {} : { businessDate }),
          ...(corrects === "" ? {} : { corrects })
        }
      )) as unknown as Row
      setReceived(statement)
      announce(Statements.receiptSentence(statement))
      readAnew()
    } catch (failure) {
      setError(failure)
      announce("The file was not taken.")
    } finally {
      sending(false)
    }
  }
  if (sources.length === 0) return <p class="none">No source is active.</p>
  return (
    <form
      class="write"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <label class="entry">
        <span>Source</span>
        <select value={named} onChange={({ currentTarget }) => setNamed(currentTarget.value)}>
          <option value="" />
          {sources.map(({ externalSourceId, kind }) => (
            <option key={String(externalSourceId)} value={String(externalSourceId)}>
              {String(externalSourceId)} ({word(String(kind))})
            </option>
          ))}
        </select>
      </label>
      {instruments.length > 1 ? (
        <label class="entry">
          <span>Instrument</span>
          <select
            value={instrumentId}
            onChange={({ currentTarget }) => setInstrument(currentTarget.value)}
          >
            <option value="" />
            {instruments.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <label class="entry">
        <span>File</span>
        <input
          type="file"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? []
            setReceived(null)
            setError(null)
            if (chosen === undefined) setFile(null)
            else void pick(chosen).then(setFile, setError)
          }}
        />
      </label>
      <label class="entry">
        <span>
          Business date <span class="optional">where the form has none of its own</span>
        </span>
        <input
          type="date"
          value={businessDate}
          onInput={({ currentTarget }) => setDate(currentTarget.value)}
        />
      </label>
      <label class="entry">
        <span>
          Statement that it corrects <span class="optional">optional</span>
        </span>
        <input
          type="text"
          value={corrects}
          autoComplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setCorrects(currentTarget.value.trim())}
        />
      </label>
      {file === null ? null : (
        <Terms>
          <Term name="Name">
            <bdi>{file.name}</bdi>
          </Term>
          <Term name="Size">{String(file.bytes.length)} bytes</Term>
          <Term name="SHA-256">
            <span class="id">
              <bdi title={file.sha256}>{file.sha256}</bdi>
              <Copy text={file.sha256} />
            </span>
          </Term>
          {businessDate === "" || named === "" ? null : (
            <Term name="Statement of that date">
              <OfThatDate businessDate={businessDate} sourceId={named} />
            </Term>
          )}
        </Terms>
      )}
      {received === null ? null : (
        <section class="made" role="status">
          <p>
            {Statements.receiptSentence(received)}{" "}
            <IdLink
              id={String(received["externalStatementId"])}
              href={`external-statements/${encodeURIComponent(String(received["externalStatementId"]))}`}
            />
          </p>
        </section>
      )}
      {error === null ? null : <FileFaults error={error} />}
      <p class="acts">
        <button
          type="submit"
          class="main"
          disabled={isSending || file === null || named === "" || received !== null}
        >
          {isSending ? "Sending …" : "Hand in"}
        </button>
      </p>
    </form>
  )
}

const OfThatDate = ({
  businessDate,
  sourceId
}: {
  readonly businessDate: string
  readonly sourceId: string
}) => {
  const state = useRead(
    listRead("external-statements.list", {
      where: Statements.datesWhere(sourceId, { first: businessDate, last: businessDate }),
      limit: 10
    })
  )
  return (
    <Loaded state={state}>
      {({ value }) =>
        value.length === 0 ? (
          <span class="none">none yet</span>
        ) : (
          <>
            {value.map(({ externalStatementId }) => (
              <IdLink
                key={String(externalStatementId)}
                id={String(externalStatementId)}
                href={`external-statements/${encodeURIComponent(String(externalStatementId))}`}
              />
            ))}
          </>
        )
      }
    </Loaded>
  )
}

/** The refusal of a file, with each fault at its place in the file. */
const FileFaults = ({ error }: { readonly error: unknown }) => {
  const faults = error instanceof CallRefusal ? (error.problem.errors ?? []) : []
  return (
    <>
      <Failure error={error} />
      {faults.length === 0 ? null : (
        <ul class="faults">
          {faults.map(({ detail, pointer }) => (
            <li key={pointer + detail}>
              <code>{pointer}</code> <Quote value={detail} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
