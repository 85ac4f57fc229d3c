/** Template of a write's sentence: what it does, by ids and figures, without the name of a person. */
import type { PlainNumber } from "../kernel/PlainNumber.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import type { Figures } from "./Figures.ts"
import type { Resource } from "./Resource.ts"

/** Largest number of characters of a summary. */
export const lengthMax = 200

/** Members of a stored operation or action, beside its request, that its summary may name. */
export interface SummarySubject {
  readonly resource: Resource
  readonly instrumentId: string | null
  readonly holderId: string | null
  /** The figures that approvers sign; empty where the write has none. */
  readonly figures: Figures
}

/** A stored operation or action, as far as its summary is made of it. */
interface SummarisedWrite extends Omit<SummarySubject, "figures"> {
  readonly kind: OperationKind
  readonly request: Plain
  readonly figures?: Figures
}

interface SummaryDeclaration {
  summary?(request: unknown, subject: SummarySubject): string
}

/**
 * Summary of a stored operation or action; of one whose kind is declared no more, and of one whose kind
 * declares no summary, the kind and the record.
 */
export const summaryOf = (
  declaration: SummaryDeclaration | undefined,
  { figures = {}, kind, request, ...subject }: SummarisedWrite
): string =>
  declaration?.summary?.(request, { ...subject, figures }) ??
  sentence`${kind} of ${subject.resource.kind} ${subject.resource.id}.`

/** Part of a sentence whose ids are shortened with those of the whole. */
export interface Phrase {
  readonly texts: ReadonlyArray<string>
  readonly values: ReadonlyArray<string>
}

type Piece = string | number | PlainNumber | Phrase

const isPhrase = (piece: Piece): piece is Phrase => typeof piece === "object" && "texts" in piece

/** Makes a part of a sentence, to be put into `sentence`. */
export const phrase = (texts: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): Phrase => {
  const flat = { texts: [texts[0] ?? ""], values: Array<string>() }
  const add = (text: string): void => {
    flat.texts.push(`${flat.texts.pop() ?? ""}${text}`)
  }
  pieces.forEach((piece, nth) => {
    if (isPhrase(piece)) {
      piece.texts.forEach((text, at) => {
        if (at > 0) {
          flat.values.push(piece.values[at - 1] ?? "")
          flat.texts.push("")
        }
        add(text)
      })
    } else {
      flat.values.push(inLine(String(piece)))
      flat.texts.push("")
    }
    add(texts[nth + 1] ?? "")
  })
  return flat
}

/**
 * A value within one line: ids of others, such as that of an asset, may have line breaks, or marks that
 * turn the direction of the text.
 */
const inLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, " ").trim() || "?"

/** The part of a sentence that is left out. */
export const nothing: Phrase = { texts: [""], values: [] }

/**
 * Makes a summary. One that is longer than `lengthMax` characters has its longest values cut, each at its
 * end, marked by an ellipsis.
 */
export const sentence = (texts: TemplateStringsArray, ...pieces: ReadonlyArray<Piece>): string => {
  const whole = phrase(texts, ...pieces)
  const fixed = whole.texts.reduce((sum, text) => sum + text.length, 0)
  const longest = longestWithin(whole.values, lengthMax - fixed)
  return whole.texts.reduce((text, next, nth) => {
    const value = whole.values[nth - 1] ?? ""
    return `${text}${value.length <= longest ? value : cut(value, longest)}${next}`
  })
}

/** Cuts a text to `length` characters; half of a character is dropped. */
const cut = (text: string, length: number): string => {
  const start = text.slice(0, Math.max(0, length - 1))
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`
}

/** Length to which values are cut so that together they fit into `room` characters. */
const longestWithin = (values: ReadonlyArray<string>, room: number): number => {
  const lengths = values.map(({ length }) => length).toSorted((a, b) => a - b)
  let left = room
  for (const [nth, length] of lengths.entries()) {
    const share = Math.floor(left / (lengths.length - nth))
    if (length > share) return share
    left -= length
  }
  return Infinity
}

/** A number of things, such as `1 order` and `2 orders`. */
export const count = (number: number, noun: string, plural = `${noun}s`): Phrase =>
  number === 1 ? phrase`1 ${noun}` : phrase`${number} ${plural}`

/** Part of a sentence about a member that a request may leave out. */
export const optionally = <A extends string | number | object>(
  value: A | null | undefined,
  part: (value: A) => Phrase
): Phrase => (value === null || value === undefined ? nothing : part(value))

/** End of an agreement, where it has one. */
export const ending = (until: string | null | undefined): Phrase =>
  optionally(until, (instant) => phrase` until ${instant}`)

/** One instrument by its id, or every instrument. */
export const instrumentOrAll = (instrumentId: string | null | undefined): Phrase =>
  instrumentId === null || instrumentId === undefined
    ? phrase`every instrument`
    : phrase`instrument ${instrumentId}`

/** Several instruments by their number, or every instrument. */
export const instrumentsOrAll = (instruments: ReadonlyArray<unknown> | null | undefined): Phrase =>
  instruments === null || instruments === undefined
    ? phrase`every instrument`
    : count(instruments.length, "instrument")

/** What a change of terms does, by the direction that its approvers sign (`TermChange.figuresOf`). */
export const directionIn = ({ direction }: Figures): Phrase =>
  direction === undefined || direction === "none"
    ? phrase`neither looser nor tighter`
    : phrase`the change ${direction}s them`

/** `of holder H in instrument I`, as far as the write concerns one of each. */
export const concerning = ({
  holderId,
  instrumentId
}: {
  readonly holderId?: string | null
  readonly instrumentId?: string | null
}): Phrase =>
  phrase`${optionally(holderId, (id) => phrase` of holder ${id}`)}${optionally(instrumentId, (id) => phrase` in instrument ${id}`)}`
