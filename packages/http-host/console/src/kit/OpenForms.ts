/** Cache of the forms that a person has opened: what was typed, and the idempotency key of the write. */
import type { FormValue } from "./Schema.ts"

export type FormValues = { readonly [name: string]: FormValue }

export interface OpenForm {
  readonly key: string
  readonly values: FormValues
  /** True: a call was sent of which no answer says whether it took effect. */
  readonly isUncertain: boolean
}

/** Names a form by its write and the members that the page gives. */
export const nameOf = (kind: string, fixed: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([kind, ...Object.entries(fixed).toSorted(([a], [b]) => (a < b ? -1 : 1))])

/**
 * Forms by their name. A form that goes off the screen stays with its key; closing it drops it only where no
 * call is uncertain, since a new key could then make a second write.
 */
export const make = (newKey: () => string) => {
  const forms = new Map<string, OpenForm>()
  const open = (name: string): OpenForm => {
    const found = forms.get(name)
    if (found !== undefined) return found
    const form = { key: newKey(), values: {}, isUncertain: false }
    forms.set(name, form)
    return form
  }
  /** Changes a form as long as it has the key: one that was dropped meanwhile is another form. */
  const change = (name: string, key: string, members: Partial<OpenForm>): void => {
    const form = forms.get(name)
    if (form?.key === key) forms.set(name, { ...form, ...members })
  }
  return {
    /** The form as it was left, else an empty one with a key of its own. */
    open,
    type: (name: string, key: string, values: FormValues) => change(name, key, { values }),
    /** A call is sent: until an answer comes, its outcome is uncertain. */
    sent: (name: string, key: string) => change(name, key, { isUncertain: true }),
    /** The service refused the call, so that it took no effect; the form stays to be corrected. */
    refused: (name: string, key: string) => change(name, key, { isUncertain: false }),
    /** The write was made: the next form of its kind is another write. */
    made: (name: string, key: string): void => {
      if (forms.get(name)?.key === key) forms.delete(name)
    },
    /** The person closes the form. */
    close: (name: string): void => {
      if (forms.get(name)?.isUncertain === false) forms.delete(name)
    },
    /** Another person signs in, or nobody is signed in any longer. */
    clear: () => forms.clear()
  }
}

/**
 * Whether a failed call certainly took no effect: a refusal of the service, or a fault found before anything
 * was sent. A lost answer and a failure of the server leave it open.
 */
export const isCertain = (failure: unknown): boolean => {
  const { _tag: tag, status } = (failure ?? {}) as {
    readonly _tag?: unknown
    readonly status?: unknown
  }
  return tag === "InputFault" || (typeof status === "number" && status >= 400 && status < 500)
}
