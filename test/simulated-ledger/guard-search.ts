/**
 * Search for exercises that a guard of the simulated ledger refuses: exercises of played stories, with one
 * or two of their values changed, are judged by the body of their choice again.
 */
import type { Ledger } from "@bursar/engine-core/ports"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { all } from "#adapters/ledger/simulated/choices/index.ts"
import type { Entity, Scope } from "#adapters/ledger/simulated/Entity.ts"
import * as LedgerError from "#adapters/ledger/simulated/LedgerError.ts"

type Value = Ledger.LfValue

/** A contract that an exercise fetched. */
interface Fetched {
  readonly template: Templates.Template
  readonly payload: Ledger.LfRecord
}

/** An exercise of a story, with everything that its body read and was answered. */
interface Exercise {
  readonly contractId: string
  readonly payload: Ledger.LfRecord
  readonly argument: Value
  readonly now: Instant.Instant
  readonly fetched: ReadonlyMap<string, Fetched>
  /** Outcomes of the exercises inside, by contract and choice. */
  readonly inner: ReadonlyMap<string, unknown>
}

/** Exercises of different shapes that are kept of a choice. */
const keptMax = 40
/** Exercises of a choice with two changes that are judged. */
const secondMax = 5_000
/** Values that are kept of a place in the contracts of a template, or the arguments of a choice. */
const seenMax = 8

/** Exercises that the played stories recorded. */
export interface Recording {
  /** Guards that refused an exercise of a story, after the choice: `Holding.Lock: the holding is locked`. */
  readonly met: Set<string>
  readonly exercises: ReadonlyMap<string, ReadonlyMap<string, Exercise>>
  readonly seen: ReadonlyMap<string, ReadonlyMap<string, Value>>
  readonly contracts: ReadonlyMap<string, Fetched>
  readonly reads: ReadonlyMap<Entity, Entity["read"]>
}

/** Name of a guard of a choice. */
export const guardName = ({ typeRef }: Entity, choice: string, guard: string): string =>
  `${typeRef.entity}.${choice}: ${guard}`

/** Records every exercise of this process from now on. */
export const record = (): Recording => {
  const met = new Set<string>()
  const exercises = new Map<string, Map<string, Exercise>>()
  const seen = new Map<string, Map<string, Value>>()
  const contracts = new Map<string, Fetched>()
  const reads = new Map<Entity, Entity["read"]>()

  const see = (place: string, value: Value): void => {
    const there = seen.get(place) ?? new Map<string, Value>()
    seen.set(place, there)
    if (there.size < seenMax) there.set(JSON.stringify(value), value)
  }
  const seeAll = (root: string, value: Value): void => {
    for (const path of pathsOf(value)) {
      see(placeOf(root, path), at(value, path))
      see(wordPlaceOf(path), at(value, path))
    }
  }

  for (const entity of all) {
    const read = entity.read
    reads.set(entity, read)
    const recording: Entity["read"] = (payload) =>
      Result.map(read(payload), (instance) => ({
        ...instance,
        pending: (ask) =>
          Result.map(instance.pending(ask), (pending) => ({
            ...pending,
            run: (scope) => {
              const fetched = new Map<string, Fetched>()
              const inner = new Map<string, unknown>()
              const { argument } = pending
              const outcome = pending.run({
                ...scope,
                fetch: (template, contractId) =>
                  Result.map(scope.fetch(template, contractId), (found) => {
                    const one = { template, payload: Templates.encodePayload(template, found) }
                    fetched.set(contractId, one)
                    contracts.set(contractId, one)
                    return found
                  }),
                exercise: (template, contractId, choice, given) =>
                  Result.map(scope.exercise(template, contractId, choice, given), (result) => {
                    inner.set(`${contractId} ${choice}`, result)
                    return result
                  })
              })
              const guard = guardOf(outcome)
              if (guard !== null) met.add(guardName(entity, ask.choice, guard))
              const name = `${entity.typeRef.entity}.${ask.choice}`
              const kept = exercises.get(name) ?? new Map<string, Exercise>()
              exercises.set(name, kept)
              const shape = `${guard} ${shapeOf(instance.payload)} ${shapeOf(argument)}`
              if (kept.size < keptMax && !kept.has(shape)) {
                const { contractId } = ask
                const { now } = scope
                kept.set(shape, {
                  contractId,
                  payload: instance.payload,
                  argument,
                  now,
                  fetched,
                  inner
                })
                seeAll(Templates.key(entity.typeRef), instance.payload)
                seeAll(name, argument)
                for (const { payload, template } of fetched.values()) {
                  seeAll(Templates.key(template.typeRef), payload)
                }
              }
              return outcome
            }
          }))
      }))
    Object.assign(entity, { read: recording })
  }
  return { met, exercises, seen, contracts, reads }
}

/** Text of the guard by which a body refused; null: by none. */
const guardOf = (outcome: Result.Result<unknown, LedgerError.LedgerError>): string | null =>
  Result.isFailure(outcome) && outcome.failure.code === "DAML_FAILURE"
    ? outcome.failure.cause
    : null

const isRecord = (value: Value): value is Ledger.LfRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Kinds of the members and lengths of the lists of a value. */
const shapeOf = (value: Value): string => {
  if (Array.isArray(value)) return `[${Math.min(value.length, 2)}${shapeOf(value[0] ?? null)}]`
  if (isRecord(value)) return `{${Object.values(value).map(shapeOf).join()}}`
  return value === null ? "n" : value === true ? "y" : value === false ? "f" : "t"
}

type Path = ReadonlyArray<string>

const pathsOf = (value: Value, path: Path = []): ReadonlyArray<Path> => [
  path,
  ...(typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))
    : [])
]

const at = (value: Value, path: Path): Value =>
  path.reduce<Value>((inner, name) => (inner as Record<string, Value>)[name] ?? null, value)

const placeOf = (root: string, path: Path): string =>
  `${root}/${path.map((name) => (/^\d+$/u.test(name) ? "*" : name)).join("/")}`

/** The first path of each place: members of a list are alike to a body, and stories have lists of hundreds. */
const oneOfEachPlace = (value: Value): ReadonlyArray<Path> => [
  ...new Map(
    pathsOf(value)
      .toReversed()
      .map((path) => [placeOf("", path), path])
  ).values()
]

/** Place of the words that a member of this name has in any template, such as its mode. */
const wordPlaceOf = (path: Path): string => `*/${path.at(-1)}`

const changed = (value: Value, [name, ...rest]: Path, to: Value): Value => {
  if (name === undefined) return to
  if (Array.isArray(value)) {
    return value.map((item, index) => (String(index) === name ? changed(item, rest, to) : item))
  }
  const record = value as Ledger.LfRecord
  return { ...record, [name]: changed(record[name] ?? null, rest, to) }
}

/** Largest number of a count: an Int of 64 bits. */
const countMax = "9223372036854775807"

const instants = ["2000-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]

/** Other values in the place of one: of its kind, and those that other contracts have there. */
const othersOf = (value: Value, elsewhere: Iterable<Value>): ReadonlyArray<Value> => {
  const own = ((): ReadonlyArray<Value> => {
    if (value === null) return [...instants, "1.0000000000"]
    if (Array.isArray(value)) {
      return [[], [...value, ...value.slice(0, 1)], value.slice(1), value.toReversed()]
    }
    if (typeof value === "boolean") return [!value]
    if (typeof value !== "string") return []
    if (value.includes("::")) return [`stranger::${value.split("::")[1]}`]
    if (/^\d{4}-\d\d-\d\dT/u.test(value)) {
      return [...instants, value.replace(/\d\d(?=T)/u, (day) => (day === "28" ? "27" : "28"))]
    }
    if (/^\d{4}-\d\d-\d\d$/u.test(value)) return ["2000-01-01", "2099-01-01"]
    if (/^-?\d+\.\d+$/u.test(value)) {
      return [
        "0.0000000000",
        "0.0000000001",
        `-${value}`,
        `9${value}`,
        "9999999999999999999999999999.0000000000"
      ]
    }
    if (/^\d+$/u.test(value)) return ["0", "1", `9${value}`, countMax]
    return [`${value}0`, `other-${value}`]
  })()
  return [...own, null, ...elsewhere]
}

/** An exercise whose values may be changed; `fetched` by contract. */
interface Draft extends Omit<Exercise, "fetched"> {
  readonly fetched: Readonly<Record<string, Fetched>>
}

const draftOf = (exercise: Exercise): Draft => ({
  ...exercise,
  fetched: Object.fromEntries(exercise.fetched)
})

/** Ten centuries before and after everything. */
const ends = ["1970-01-02T00:00:00Z", "2199-01-01T00:00:00Z"].map(Instant.of)

/** First and last second that a ledger counts. */
const yearEnds = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map(Instant.of)

/** Changes of the exercises of a choice, and what its body says to each. */
const drafting = (
  { contracts, exercises, reads, seen }: Recording,
  entity: Entity,
  choice: string
) => {
  const name = `${entity.typeRef.entity}.${choice}`
  const read = reads.get(entity)
  const readOf = ({ template }: Fetched): Entity["read"] | undefined => {
    const found = all.find(({ typeRef }) => Templates.same(typeRef, template.typeRef))
    return found && reads.get(found)
  }

  /** Judges a draft: its outcome, or null where the ledger would not judge it. */
  const judge = (draft: Draft): Result.Result<unknown, LedgerError.LedgerError> | null => {
    const created = new Map<string, Fetched>()
    const absent = Result.fail(LedgerError.contractNotFound(draft.contractId))
    const scope: Scope = {
      now: draft.now,
      create: (template, payload) => {
        const contractId = `00${(0xee0000 + created.size).toString(16)}`
        created.set(contractId, { template, payload: Templates.encodePayload(template, payload) })
        return Result.succeed(contractId)
      },
      exercise: (template, contractId, inside) => {
        const result = draft.inner.get(`${contractId} ${inside}`)
        return result === undefined
          ? Result.fail(LedgerError.contractNotFound(contractId))
          : Result.succeed(result as never)
      },
      fetch: (template, contractId) => {
        const found =
          draft.fetched[contractId] ?? created.get(contractId) ?? contracts.get(contractId)
        if (found === undefined || !Templates.same(found.template.typeRef, template.typeRef)) {
          return Result.fail(LedgerError.contractNotFound(contractId))
        }
        const isOnLedger = Result.match(readOf(found)?.(found.payload) ?? absent, {
          onFailure: () => false,
          onSuccess: ({ ensured }) => ensured
        })
        return isOnLedger
          ? Result.mapError(Templates.decodePayload(template, found.payload), () =>
              LedgerError.make("COMMAND_PREPROCESSING_FAILED", contractId)
            )
          : Result.fail(LedgerError.contractNotFound(contractId))
      },
      archive: () => Result.void
    }
    const { argument, contractId, payload } = draft
    // A contract that breaches its template's preconditions never is on a ledger.
    const pending = Result.flatMap(read?.(payload) ?? absent, (instance) =>
      instance.ensured ? instance.pending({ contractId, choice, argument }) : absent
    )
    return Result.isFailure(pending) ? null : pending.success.run(scope)
  }

  const ids = contractIdsOf(contracts)
  function* changesOf(draft: Draft): Generator<Draft> {
    for (const path of pathsOf(draft.argument)) {
      const value = at(draft.argument, path)
      const mayBeId = value === null || (typeof value === "string" && contracts.has(value))
      const elsewhere = [
        ...(seen.get(placeOf(name, path))?.values() ?? []),
        ...(isParty(value) ? partiesOf(draft.payload) : []),
        ...(mayBeId ? ids : []),
        ...(Array.isArray(value) && value.length === 0 ? ids.map((id) => [id]) : [])
      ]
      for (const to of othersOf(value, elsewhere)) {
        yield { ...draft, argument: changed(draft.argument, path, to) }
      }
    }
    const key = Templates.key(entity.typeRef)
    for (const path of pathsOf(draft.payload).slice(1)) {
      const elsewhere = [
        ...(seen.get(placeOf(key, path))?.values() ?? []),
        ...(isWord(at(draft.payload, path)) ? (seen.get(wordPlaceOf(path))?.values() ?? []) : [])
      ]
      for (const to of othersOf(at(draft.payload, path), elsewhere)) {
        yield { ...draft, payload: changed(draft.payload, path, to) as Ledger.LfRecord }
      }
    }
    for (const [contractId, { payload, template }] of Object.entries(draft.fetched)) {
      const root = Templates.key(template.typeRef)
      for (const path of pathsOf(payload).slice(1)) {
        const elsewhere = seen.get(placeOf(root, path))?.values() ?? []
        for (const to of othersOf(at(payload, path), elsewhere)) {
          const one = { template, payload: changed(payload, path, to) as Ledger.LfRecord }
          yield { ...draft, fetched: { ...draft.fetched, [contractId]: one } }
        }
      }
    }
    for (const [act, result] of draft.inner) {
      if (typeof result === "object" && result !== null && "change" in result) {
        yield { ...draft, inner: new Map([...draft.inner, [act, { ...result, change: null }]]) }
      }
    }
    for (const now of ends) yield { ...draft, now }
  }

  /** Figures, counts and instants of a draft, each in turn as absurd as it may be written. */
  function* absurditiesOf(draft: Draft): Generator<Draft> {
    for (const path of oneOfEachPlace(draft.argument)) {
      for (const to of absurditiesAt(at(draft.argument, path))) {
        yield { ...draft, argument: changed(draft.argument, path, to) }
      }
    }
    for (const path of oneOfEachPlace(draft.payload)) {
      for (const to of absurditiesAt(at(draft.payload, path))) {
        yield { ...draft, payload: changed(draft.payload, path, to) as Ledger.LfRecord }
      }
    }
    for (const [contractId, { payload, template }] of Object.entries(draft.fetched)) {
      for (const path of oneOfEachPlace(payload)) {
        for (const to of absurditiesAt(at(payload, path))) {
          const one = { template, payload: changed(payload, path, to) as Ledger.LfRecord }
          yield { ...draft, fetched: { ...draft.fetched, [contractId]: one } }
        }
      }
    }
    for (const now of yearEnds) yield { ...draft, now }
  }

  const drafts = [...(exercises.get(name)?.values() ?? [])].map(draftOf)
  return { absurditiesOf, changesOf, drafts, judge }
}

/** Looks for exercises of a choice that its guards refuse, until all of them have refused one. */
export const search = (recording: Recording, entity: Entity, choice: string): void => {
  const { met } = recording
  const declared = entity.declaration.choices.find(({ name }) => name === choice)
  const open = new Set(
    (declared?.guards ?? []).filter((guard) => !met.has(guardName(entity, choice, guard)))
  )
  if (open.size === 0) return
  const { changesOf, drafts, judge } = drafting(recording, entity, choice)

  /** The guard that refuses a draft, `success`, or null where the ledger would not judge it. */
  const judged = (draft: Draft): string | null => {
    const outcome = judge(draft)
    if (outcome === null) return null
    const guard = guardOf(outcome)
    if (guard !== null && open.delete(guard)) met.add(guardName(entity, choice, guard))
    return guard ?? (Result.isSuccess(outcome) ? "success" : null)
  }

  const next: Array<Draft> = []
  for (const draft of drafts) {
    for (const change of changesOf(draft)) {
      if (open.size === 0) return
      const outcome = judged(change)
      if (outcome === "success" && isOpened(draft, change)) next.push(change)
      if (outcome !== null && wordsOf(draft) !== wordsOf(change)) next.push(change)
    }
  }
  let budget = secondMax
  for (const draft of next) {
    for (const change of changesOf(draft)) {
      if (open.size === 0 || budget-- <= 0) return
      judged(change)
    }
  }
}

/** Exercises of a choice whose figures are made absurd. */
const absurdMax = 4

/**
 * Exercises a choice with absurd figures; the texts of what its body throws, and how many exercises it
 * judged. A body that throws is a defect of the ledger, and no answer to the party that submitted.
 */
export const absurdities = (
  recording: Recording,
  entity: Entity,
  choice: string
): { readonly judged: number; readonly refused: number; readonly thrown: ReadonlySet<string> } => {
  const { absurditiesOf, drafts, judge } = drafting(recording, entity, choice)
  const thrown = new Set<string>()
  let judged = 0
  let refused = 0
  for (const draft of drafts.slice(0, absurdMax)) {
    for (const once of absurditiesOf(draft)) {
      try {
        const outcome = judge(once)
        judged += 1
        if (outcome !== null && Result.isFailure(outcome)) {
          refused += outcome.failure.code === "UNHANDLED_EXCEPTION" ? 1 : 0
        }
      } catch (error) {
        thrown.add(`${entity.typeRef.entity}.${choice}: ${String(error)}`)
      }
    }
  }
  return { judged, refused, thrown }
}

const largest = "9999999999999999999999999999.9999999999"

/** Absurd values in the place of a figure, a count or an instant; none in another's. */
const absurditiesAt = (value: Value): ReadonlyArray<Value> => {
  if (typeof value !== "string") return []
  if (/^\d{4}-\d\d-\d\dT/u.test(value)) return ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
  if (/^-?\d+\.\d+$/u.test(value)) {
    return ["0.0000000000", "0.0000000001", "-0.0000000001", largest, `-${largest}`]
  }
  return /^\d+$/u.test(value) ? ["0", countMax] : []
}

/** Ids of the first contracts of each template. */
const contractIdsOf = (contracts: Recording["contracts"]): ReadonlyArray<string> =>
  [...Map.groupBy(contracts, ([, { template }]) => template).values()].flatMap((some) =>
    [...some.slice(0, 3), ...some.slice(-3)].map(([contractId]) => contractId)
  )

/** Checks whether a change took a limit away: another time, or an optional member that is absent. */
const isOpened = (before: Draft, after: Draft): boolean =>
  before.now !== after.now ||
  nullsOf(before.payload) !== nullsOf(after.payload) ||
  nullsOf(before.argument) !== nullsOf(after.argument) ||
  Object.keys(before.fetched).some(
    (contractId) =>
      nullsOf(before.fetched[contractId]?.payload ?? null) !==
      nullsOf(after.fetched[contractId]?.payload ?? null)
  )

const nullsOf = (value: Value): number =>
  value === null
    ? 1
    : typeof value === "object"
      ? Object.values(value).reduce<number>((sum, member: Value) => sum + nullsOf(member), 0)
      : 0

const isParty = (value: Value): value is string => typeof value === "string" && value.includes("::")

const partiesOf = (value: Value): ReadonlyArray<string> =>
  isParty(value)
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap((member: Value) => partiesOf(member))
      : []

/** Checks for a word of a small set, such as `wire`. */
const isWord = (value: Value): value is string =>
  typeof value === "string" && /^[a-z][a-z-]*$/u.test(value)

/** Words of the contract's own members. */
const wordsOf = ({ payload }: Draft): string => Object.values(payload).filter(isWord).join()
