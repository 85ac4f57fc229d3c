/** A form drawn from the schema of an operation's request; one key for as long as it is open. */
import { CallRefusal, NoAnswer } from "@bursar/http-host/plain-client"
import { useEffect, useState } from "preact/hooks"
import type { RequestSchemas } from "../interface/Interface.ts"
import { client } from "../reads/Api.ts"
import * as Session from "../shell/Session.ts"
import table from "virtual:interface"
import { faultsByField } from "../words/Problems.ts"
import { label, word } from "../words/Words.ts"
import { announce } from "./Announce.ts"
import { Failure, Loading } from "./Outcome.tsx"
import * as OpenForms from "./OpenForms.ts"
import { enteredOf, type Field, type FieldKind, fieldsOf, type FormValue } from "./Schema.ts"
import { IdLink, State } from "./Values.tsx"

/** Loads the schemas of all requests with the first form. */
const loadSchemas = (): Promise<RequestSchemas> =>
  import("virtual:requests").then((module) => module.default)

export const useSchemas = (): RequestSchemas | null => {
  const [schemas, set] = useState<RequestSchemas | null>(null)
  useEffect(() => void loadSchemas().then(set), [])
  return schemas
}

/** Fields of a write: those of its path that are not given, then those of its body. */
export const formFields = (
  { components, requests }: RequestSchemas,
  { fixed, kind }: { readonly kind: string; readonly fixed: Readonly<Record<string, unknown>> }
): ReadonlyArray<Field> => {
  const request = requests[kind]
  if (request === undefined) return []
  const path = fieldsOf(
    { type: "object", properties: request.path, required: Object.keys(request.path) },
    components
  )
  const body = request.body === null ? [] : fieldsOf(request.body, components)
  return [...path, ...body].filter(({ name }) => !Object.hasOwn(fixed, name))
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

const hints: Readonly<Record<string, string>> = {
  decimal: "digits, with a point before the fraction",
  instant: "an instant in UTC, such as 2026-07-31T12:00:00Z",
  json: "JSON"
}

const FieldView = ({ faults, field, pointer, set, value }: FieldProps) => {
  const { description, isRequired, kind, name } = field
  const fault = faults.get(pointer)
  const id = `field${pointer.replaceAll("/", "-")}`
  if (kind.is === "group") {
    return (
      <fieldset>
        <legend>
          {label(name)}
          {isRequired ? null : <span class="optional"> optional</span>}
        </legend>
        {fault === undefined ? null : (
          <p class="fault" role="alert">
            {fault}
          </p>
        )}
        <Fields
          fields={kind.fields}
          faults={faults}
          pointer={pointer}
          values={(value ?? {}) as Values}
          set={set}
        />
      </fieldset>
    )
  }
  const about = hints[kind.is]
  return (
    <div class={fault === undefined ? "entry" : "entry wrong"}>
      <label for={id}>
        {label(name)}
        {isRequired ? null : <span class="optional"> optional</span>}
      </label>
      <Entry
        kind={kind}
        id={id}
        value={value}
        set={set}
        describedBy={`${id}-about`}
        isWrong={fault !== undefined}
      />
      <p id={`${id}-about`} class="about">
        {fault === undefined ? null : (
          <span class="fault" role="alert">
            {label(name)} {fault}.{" "}
          </span>
        )}
        {description ?? ""}
        {about === undefined ? "" : `${description === null ? "" : " "}(${about})`}
      </p>
    </div>
  )
}

interface EntryProps {
  readonly kind: FieldKind
  readonly id: string
  readonly value: FormValue
  readonly set: (value: FormValue) => void
  readonly describedBy: string
  readonly isWrong: boolean
}

const Entry = ({ describedBy, id, isWrong, kind, set, value }: EntryProps) => {
  const common = { id, "aria-describedby": describedBy, "aria-invalid": isWrong }
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
  if (kind.is === "list") {
    const items = Array.isArray(value) ? (value as ReadonlyArray<FormValue>) : []
    const { item } = kind
    const put = (at: number, one: FormValue) =>
      set(items.map((each, nth) => (nth === at ? one : each)))
    return (
      <div class="entries" id={id}>
        {items.map((each, at) => (
          <div key={at} class="row">
            {item.is === "group" ? (
              <fieldset>
                <legend>Row {at + 1}</legend>
                <Fields
                  fields={item.fields}
                  faults={new Map()}
                  pointer={`${id}/${at}`}
                  values={(each ?? {}) as Values}
                  set={(one) => put(at, one)}
                />
              </fieldset>
            ) : (
              <Entry
                kind={item}
                id={`${id}-${at}`}
                value={each}
                set={(one) => put(at, one)}
                describedBy={describedBy}
                isWrong={isWrong}
              />
            )}
            <button
              type="button"
              class="plain"
              onClick={() => set(items.filter((_, nth) => nth !== at))}
            >
              Remove row {at + 1}
            </button>
          </div>
        ))}
        <button type="button" onClick={() => set([...items, item.is === "group" ? {} : ""])}>
          Add a row
        </button>
      </div>
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

interface Made {
  readonly state: string
  readonly operationId: string | null
  readonly actionKey: string | null
}

/** What came of a write: an operation that runs, or an action that awaits its approvers; never "done" before. */
export const MadeView = ({ made }: { readonly made: Made }) => (
  <section class="made" role="status">
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
  </section>
)

export interface WriteFormProps {
  readonly kind: string
  /** Members that the page gives, such as the id of the record. */
  readonly fixed: Readonly<Record<string, unknown>>
  readonly close: () => void
}

const forms = OpenForms.make(() => crypto.randomUUID())
Session.onEnd(forms.clear)

/** A write's form: sent with one key however often, faults at their fields, the outcome in its place. */
export const WriteForm = ({ close, fixed, kind }: WriteFormProps) => {
  const schemas = useSchemas()
  const name = OpenForms.nameOf(kind, fixed)
  const [first] = useState(() => forms.open(name))
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
  if (schemas === null) return <Loading />
  const row = table.writes[kind]
  const fields = formFields(schemas, { kind, fixed })
  const send = async () => {
    const entered = enteredOf(fields, values)
    setFaults(entered.faults)
    setError(null)
    if (entered.faults.size > 0 || isSending) return
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
      if (OpenForms.isCertain(failure)) forms.refused(name, key)
      if (failure instanceof CallRefusal) setFaults(faultsByField(failure.problem.errors ?? []))
      setError(failure)
      announce(
        failure instanceof NoAnswer ? "No answer came; the form is kept." : "It was refused."
      )
    } finally {
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
          <p class="acts">
            <button type="submit" class="main" disabled={isSending}>
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
            <button type="button" onClick={leave}>
              Close
            </button>
          </p>
        </>
      )}
    </form>
  )
}
