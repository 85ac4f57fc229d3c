/** Cache of the forms that a person has opened: what was typed, and the idempotency key of the write. */
import type { FormValue } from "./Schema.ts"

export type FormValues = { readonly [name: string]: FormValue }

export interface OpenForm {
  readonly key: string
  readonly values: FormValues
  /** True: a call was sent of which no answer says whether it took effect. */
  readonly isUncertain: boolean
  /** True: the page gives other entries now than those that the form began with. */
  readonly isOther: boolean
}

interface HeldForm extends Omit<OpenForm, "isOther"> {
  /** Entries that it began with. */
  readonly initial: FormValues
  /** Calls that were sent and have not ended. */
  readonly inFlight: number
  /** True: a person has typed into it. */
  readonly isTyped: boolean
}

/** Checks whether the page gives the same entries, in whatever order it names them. */
const isSame = (left: FormValues, right: FormValues): boolean =>
  JSON.stringify(inOrder(left)) === JSON.stringify(inOrder(right))

const inOrder = (value: FormValue): unknown =>
  Array.isArray(value)
    ? value.map(inOrder)
    : typeof value === "object"
      ? Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, member]) => [name, inOrder(member)])
      : value

/** Names a form by its write and the members that the page gives. */
export const nameOf = (kind: string, fixed: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([kind, ...Object.entries(fixed).toSorted(([a], [b]) => (a < b ? -1 : 1))])

/**
 * Forms by their name. A form that goes off the screen stays with its key; closing it, or opening it with other
 * entries of the page, drops it only where no call is uncertain, since a new key could then make a second write.
 */
export const make = (newKey: () => string) => {
  const forms = new Map<string, HeldForm>()
  const isUncertain = (form: HeldForm): boolean => form.isUncertain || form.inFlight > 0
  const open = (name: string, values: FormValues = {}): OpenForm => {
    const found = forms.get(name)
    const isOther = found !== undefined && !isSame(found.initial, values)
    if (found !== undefined && (!isOther || isUncertain(found))) {
      return { key: found.key, values: found.values, isUncertain: isUncertain(found), isOther }
    }
    const form = { key: newKey(), initial: values, values, isUncertain: false }
    forms.set(name, { ...form, inFlight: 0, isTyped: false })
    return { key: form.key, values, isUncertain: false, isOther: false }
  }
  /** Changes a form as long as it has the key: one that was dropped meanwhile is another form. */
  const change = (
    name: string,
    key: string,
    members: (form: HeldForm) => Partial<HeldForm>
  ): void => {
    const form = forms.get(name)
    if (form?.key === key) forms.set(name, { ...form, ...members(form) })
  }
  const ended = ({ inFlight }: HeldForm): Pick<HeldForm, "inFlight"> => ({
    inFlight: Math.max(0, inFlight - 1)
  })
  return {
    /**
     * The form as it was left, where it began with these values or a call of it is uncertain; else one with
     * these values and a key of its own.
     */
    open,
    type: (name: string, key: string, values: FormValues) =>
      change(name, key, () => ({ values, isTyped: true })),
    /** A call is sent: until an answer comes, its outcome is uncertain. */
    sent: (name: string, key: string) =>
      change(name, key, ({ inFlight }) => ({ inFlight: inFlight + 1 })),
    /** A call has ended without a write; what it says of it and of the calls before decides. */
    failed: (name: string, key: string, outcome: FailedOutcome) =>
      change(name, key, (form) => ({
        ...ended(form),
        ...(outcome === "not-taken" ? {} : { isUncertain: outcome === "unknown" })
      })),
    /** The write was made: the next form of its kind is another write. */
    made: (name: string, key: string): void => {
      if (forms.get(name)?.key === key) forms.delete(name)
    },
    /** The person closes the form. */
    close: (name: string): void => {
      const form = forms.get(name)
      if (form !== undefined && !isUncertain(form)) forms.delete(name)
    },
    /** Checks whether anything was typed into a form, or any call is uncertain. */
    hasWork: (): boolean => [...forms.values()].some((form) => isUncertain(form) || form.isTyped),
    /** Another person signs in, or nobody is signed in any longer. */
    clear: () => forms.clear()
  }
}

/**
 * Outcome of a failed call: `refused` says that neither it nor an earlier call of its key took effect,
 * `not-taken` that it did not, and `unknown` that it may have.
 */
export type FailedOutcome = "refused" | "not-taken" | "unknown"

/** Statuses of refusals that come after the look for an earlier call of the same key. */
const afterTheKey = new Set([404, 409, 422])

/** Refusals that tell of an earlier call of the same key. */
const ofTheKey = /^idempotency-/u

export const outcomeOf = (failure: unknown): FailedOutcome => {
  const {
    _tag: tag,
    slug,
    status
  } = (failure ?? {}) as {
    readonly _tag?: unknown
    readonly slug?: unknown
    readonly status?: unknown
  }
  if (tag === "InputFault") return "not-taken"
  // An answer of something else than the service says nothing of what the service did.
  if (tag !== "CallRefusal" || typeof status !== "number" || status >= 500) return "unknown"
  if (typeof slug === "string" && ofTheKey.test(slug)) return "unknown"
  return afterTheKey.has(status) ? "refused" : "not-taken"
}
