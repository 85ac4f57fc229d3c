/** A form drawn from the schema of an operation's request; one key for as long as it is open. */
import { CallRefusal, NoAnswer } from "@bursar/http-host/plain-client"
import { useEffect, useRef, useState } from "preact/hooks"
import type { RequestSchemas } from "../interface/Interface.ts"
import { client } from "../reads/Api.ts"
import * as Session from "../shell/Session.ts"
import table from "virtual:interface"
import { faultsByField } from "../words/Problems.ts"
import { label, word } from "../words/Words.ts"
import { announce } from "./Announce.ts"
import { Failure, Loading, Outcome } from "./Outcome.tsx"
import * as OpenForms from "./OpenForms.ts"
import {
  enteredOf,
  faultAt,
  type Field,
  type FieldKind,
  formFields,
  type FormValue
} from "./Schema.ts"
import { IdLink, State } from "./Values.tsx"
import { zone } from "./Zone.ts"

/** Loads the schemas of all requests with the first form. */
const loadSchemas = (): Promise<RequestSchemas> =>
  import("virtual:requests").then((module) => module.default)

/** Schemas of all requests; null while they are loaded. A failure to load them is the page's. */
export const useSchemas = (): RequestSchemas | null => {
  const [schemas, set] = useState<RequestSchemas | null>(null)
  const [error, fail] = useState<unknown>(null)
  useEffect(() => void loadSchemas().then(set, fail), [])
  if (error !== null) throw error
  return schemas
}

type Values = { readonly [name: string]: FormValue }

interface FieldsProps {
  readonly fields: ReadonlyArray<Field>
  readonly values: Values
  readonly faults: ReadonlyMap<string, string>
  readonly pointer?: string
  readonly set: (values: Values) => void
}

export const Fields = ({ faults, fields, pointer = "", set, values }: FieldsProps) => (
  <>
    {fields.map((field) => (
      <FieldView
        key={field.name}
        field={field}
        faults={faults}
        pointer={`${pointer}/${field.name}`}
        value={values[field.name]}
        set={(value) => set({ ...values, [field.name]: value })}
      />
    ))}
  </>
)

interface FieldProps {
  readonly field: Field
  readonly faults: ReadonlyMap<string, string>
  readonly pointer: string
  readonly value: FormValue
  readonly set: (value: FormValue) => void
}

const hintOf = ({ is }: FieldKind): string | null =>
  is === "decimal"
    ? "digits, with a point before the fraction"
    : is === "instant"
      ? `an instant such as 2026-07-31T12:00:00Z, or a time in ${zone.value} without the Z`
      : is === "json"
        ? "JSON"
        : null

const FaultText = ({ detail, name }: { readonly name: string; readonly detail: string }) => (
  <span class="fault" role="alert">
    {name} {detail}.{" "}
  </span>
)

const Optional = ({ field: { isRequired } }: { readonly field: Field }) =>
  isRequired ? null : <span class="optional"> optional</span>

const FieldView = ({ faults, field, pointer, set, value }: FieldProps) => {
  const { description, kind, name } = field
  const fault = faultAt(faults, pointer, kind)
  const id = `field${pointer.replaceAll("/", "-")}`
  const hint = hintOf(kind)
  const about = (
    <p id={`${id}-about`} class="about">
      {fault === undefined ? null : <FaultText name={label(name)} detail={fault} />}
      {description ?? ""}
      {hint === null ? "" : `${description === null ? "" : " "}(${hint})`}
    </p>
  )
  const inner = (
    <Entry
      kind={kind}
      id={id}
      name={label(name)}
      value={value}
      set={set}
      faults={faults}
      pointer={pointer}
      isWrong={fault !== undefined}
    />
  )
  // Several entries of one field have a name together, and each its own within.
  return kind.is === "group" || kind.is === "list" || kind.is === "many" ? (
    <fieldset
      class={fault === undefined ? undefined : "wrong"}
      aria-describedby={`${id}-about`}
      tabIndex={-1}
    >
      <legend>
        {label(name)}
        <Optional field={field} />
      </legend>
      {kind.is === "group" && fault === undefined && description === null ? null : about}
      {inner}
    </fieldset>
  ) : (
    <div class={fault === undefined ? "entry" : "entry wrong"}>
      <label for={id}>
        {label(name)}
        <Optional field={field} />
      </label>
      {inner}
      {about}
    </div>
  )
}

interface EntryProps {
  readonly kind: FieldKind
  readonly id: string
  /** Name by which a person finds it. */
  readonly name: string
  readonly value: FormValue
  readonly set: (value: FormValue) => void
  readonly faults: ReadonlyMap<string, string>
  readonly pointer: string
  readonly isWrong: boolean
  /** True: no label stands beside it, so that it names itself. */
  readonly isAlone?: boolean
}

const Entry = ({
  faults,
  id,
  isAlone = false,
  isWrong,
  kind,
  name,
  pointer,
  set,
  value
}: EntryProps) => {
  const common = {
    id,
    "aria-describedby": `${id}-about`,
    "aria-invalid": isWrong,
    ...(isAlone ? { "aria-label": name } : {})
  }
  if (kind.is === "group") {
    return (
      <Fields
        fields={kind.fields}
        faults={faults}
        pointer={pointer}
        values={(value ?? {}) as Values}
        set={set}
      />
    )
  }
  if (kind.is === "list") {
    return <Rows {...{ faults, id, kind, name, pointer, set, value }} />
  }
  if (kind.is === "flag") {
    return (
      <select
        {...common}
        value={value === undefined ? "" : String(value)}
        onChange={({ currentTarget }) =>
          set(currentTarget.value === "" ? undefined : currentTarget.value === "true")
        }
      >
        <option value="">as by default</option>
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    )
  }
  if (kind.is === "choice") {
    return (
      <select
        {...common}
        value={typeof value === "string" ? value : ""}
        onChange={({ currentTarget }) => set(currentTarget.value)}
      >
        <option value="" />
        {kind.words.map((each) => (
          <option key={each} value={each}>
            {word(each)}
          </option>
        ))}
      </select>
    )
  }
  if (kind.is === "many") {
    const chosen = Array.isArray(value) ? (value as ReadonlyArray<string>) : []
    return (
      <span class="toggles" id={id}>
        {kind.words.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={chosen.includes(each)}
            onClick={() =>
              set(chosen.includes(each) ? chosen.filter((one) => one !== each) : [...chosen, each])
            }
          >
            {word(each)}
          </button>
        ))}
      </span>
    )
  }
  const text = typeof value === "string" ? value : ""
  if (kind.is === "json" || (kind.is === "text" && kind.longest !== null && kind.longest > 200)) {
    return (
      <textarea
        {...common}
        rows={3}
        value={text}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    )
  }
  const typed = {
    ...common,
    value: text,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      set(currentTarget.value)
  }
  return kind.is === "date" ? (
    <input {...typed} type="date" />
  ) : (
    <input
      {...typed}
      type="text"
      inputMode={kind.is === "decimal" ? "decimal" : kind.is === "integer" ? "numeric" : "text"}
      autoComplete="off"
      spellcheck={false}
    />
  )
}

interface RowsProps extends Omit<EntryProps, "isWrong" | "isAlone" | "kind"> {
  readonly kind: Extract<FieldKind, { readonly is: "list" }>
}

/** Rows of a list, each with its own faults. */
const Rows = ({ faults, id, kind: { item }, name, pointer, set, value }: RowsProps) => {
  const items = Array.isArray(value) ? (value as ReadonlyArray<FormValue>) : []
  const add = useRef<HTMLButtonElement>(null)
  const put = (at: number, one: FormValue) =>
    set(items.map((each, nth) => (nth === at ? one : each)))
  const remove = (at: number) => {
    set(items.filter((_, nth) => nth !== at))
    // The button that had the focus goes with its row.
    add.current?.focus()
  }
  return (
    <div class="entries" id={id}>
      {items.map((each, at) => {
        const place = `${pointer}/${at}`
        const fault = faultAt(faults, place, item)
        const rowName = `Row ${at + 1}`
        const entry = (
          <Entry
            kind={item}
            id={`${id}-${at}`}
            name={`${name}, row ${at + 1}`}
            value={each}
            set={(one) => put(at, one)}
            faults={faults}
            pointer={place}
            isWrong={fault !== undefined}
            isAlone
          />
        )
        const about =
          fault === undefined ? null : (
            <p id={`${id}-${at}-about`} class="about">
              <FaultText name={rowName} detail={fault} />
            </p>
          )
        return (
          <div key={at} class={fault === undefined ? "row" : "row wrong"}>
            {item.is === "group" || item.is === "list" || item.is === "many" ? (
              <fieldset tabIndex={-1}>
                <legend>{rowName}</legend>
                {about}
                {entry}
              </fieldset>
            ) : (
              <>
                {entry}
                {about}
              </>
            )}
            <button type="button" class="plain" onClick={() => remove(at)}>
              Remove row {at + 1}
            </button>
          </div>
        )
      })}
      <button
        type="button"
        ref={add}
        onClick={() => set([...items, item.is === "group" ? {} : item.is === "list" ? [] : ""])}
      >
        Add a row
      </button>
    </div>
  )
}

/** Says that nothing was sent, and brings the first entry that is wrong to the person. */
export const FaultsNotice = ({ faults }: { readonly faults: ReadonlyMap<string, string> }) => {
  const place = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    const form = place.current?.closest("form")
    form
      ?.querySelector<HTMLElement>('[aria-invalid="true"], fieldset.wrong, .wrong > fieldset')
      ?.focus()
  }, [faults])
  return faults.size === 0 ? null : (
    <p ref={place} class="fault" role="alert">
      {faults.size === 1 ? "One entry is wrong" : `${faults.size} entries are wrong`}.
    </p>
  )
}

interface Made {
  readonly state: string
  readonly operationId: string | null
  readonly actionKey: string | null
}

/** What came of a write: an operation that runs, or an action that awaits its approvers; never "done" before. */
export const MadeView = ({ made }: { readonly made: Made }) => (
  <Outcome className="made">
    {made.actionKey !== null && made.operationId === null ? (
      <p>
        It awaits its approvers: nothing has happened yet.{" "}
        <IdLink id={made.actionKey} href={`approvals/${made.actionKey}`} />
      </p>
    ) : (
      <p>
        The operation is <State value={made.state} />.{" "}
        {made.operationId === null ? null : (
          <IdLink id={made.operationId} href={`operations/${made.operationId}`} />
        )}
      </p>
    )}
  </Outcome>
)

export interface WriteFormProps {
  readonly kind: string
  /** Members that the page gives, such as the id of the record. */
  readonly fixed: Readonly<Record<string, unknown>>
  /** Entries that a new form begins with, such as the version that the page shows. */
  readonly initial?: Values
  readonly close: () => void
}

/** The forms of the person who is signed in. */
export const forms = OpenForms.make(() => crypto.randomUUID())
Session.onEnd(forms.clear)
// Leaving the page would drop what was typed: the browser asks first.
addEventListener("beforeunload", (event) => {
  if (forms.hasWork()) event.preventDefault()
})

/** A write's form: sent with one key however often, faults at their fields, the outcome in its place. */
export const WriteForm = ({ close, fixed: shown, initial = {}, kind }: WriteFormProps) => {
  const schemas = useSchemas()
  // The record that the form was opened for, also where the page shows another by now.
  const [fixed] = useState(shown)
  const name = OpenForms.nameOf(kind, fixed)
  const [first] = useState(() => forms.open(name, initial))
  const { key } = first
  const [values, setValues] = useState<Values>(first.values)
  const set = (next: Values) => {
    forms.type(name, key, next)
    setValues(next)
  }
  const leave = () => {
    forms.close(name)
    close()
  }
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [error, setError] = useState<unknown>(null)
  const [isSending, sending] = useState(false)
  const [made, setMade] = useState<Made | null>(null)
  const isOut = useRef(false)
  if (schemas === null) return <Loading />
  const row = table.writes[kind]
  const fields = formFields(schemas, { kind, fixed })
  const send = async () => {
    if (isOut.current) return
    const entered = enteredOf(fields, values, { pointer: "", zone: zone.value })
    setFaults(entered.faults)
    setError(null)
    if (entered.faults.size > 0) {
      announce("Nothing was sent: entries of the form are wrong.")
      return
    }
    isOut.current = true
    sending(true)
    forms.sent(name, key)
    try {
      const body = { ...fixed, ...(entered.input as object) }
      const answer = (await client.write(kind as never, body as never, { key })) as unknown as Made
      forms.made(name, key)
      setMade(answer)
      announce(
        answer.operationId === null
          ? "It awaits its approvers."
          : `The operation is ${answer.state}.`
      )
    } catch (failure) {
      forms.failed(name, key, OpenForms.outcomeOf(failure))
      if (failure instanceof CallRefusal) setFaults(faultsByField(failure.problem.errors ?? []))
      setError(failure)
      announce(
        failure instanceof NoAnswer ? "No answer came; the form is kept." : "It was refused."
      )
    } finally {
      isOut.current = false
      sending(false)
    }
  }
  return (
    <form
      class="write"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      noValidate
    >
      <h2>{row?.title ?? kind}</h2>
      {first.isUncertain && made === null ? (
        <p class="notice" role="status">
          No answer came when this form was sent before. Sent again as it is, it is the same call
          and makes no second write.
          {first.isOther
            ? " Its entries are those of that call, not those that the page gives now: once its outcome is certain, a form that is opened again begins with the page's."
            : null}
        </p>
      ) : null}
      <p>{schemas.requests[kind]?.description}</p>
      <p class="fine">
        {row === undefined || row.approvers === 0
          ? "It runs at once, under your name."
          : `It runs once ${row.approvers === 1 ? "another person has" : "two other persons have"} signed it.`}
      </p>
      {made === null ? (
        <>
          <Fields fields={fields} values={values} faults={faults} set={set} />
          {error === null ? null : <Failure error={error} />}
          <FaultsNotice faults={faults} />
          <p class="acts">
            {/* Disabled, it would lose the focus while its answer is awaited. */}
            <button type="submit" class="main" aria-disabled={isSending}>
              {isSending
                ? "Sending …"
                : row !== undefined && row.approvers > 0
                  ? "Send for approval"
                  : "Send"}
            </button>
            <button type="button" onClick={leave}>
              Close
            </button>
          </p>
        </>
      ) : (
        <>
          <MadeView made={made} />
          <p class="acts">
            {/* The second click of a double click on Send would close what came of it unread. */}
            <button type="button" onClick={({ detail }) => (detail > 1 ? undefined : leave())}>
              Close
            </button>
          </p>
        </>
      )}
    </form>
  )
}
