/**
 * Replay of the movements recorded before lots were kept, into lots: a page in a transaction, with
 * its place, so that a host that was stopped continues there.
 */
import { Effect, Option } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Start } from "../../projection/FromLedger.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import type { Act } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Movement, movements } from "../register/Movement.ts"
import type { RecordedMovements } from "../register/MovementFromLedger.ts"
import { registerEntries } from "../register/RegisterEntry.ts"
import { supplies } from "../register/Supply.ts"
import { lots } from "./Lot.ts"
import { begin, type Fact, type LotReplay, lotReplays, replayId } from "./LotReplay.ts"
import type { folding } from "./LotSteps.ts"

interface ReplaySettings {
  readonly fold: ReturnType<typeof folding>
  /** Largest number of records of a page. */
  readonly pageMax: number
}

/** Pages between two lines of the log. */
const loggedEvery = 20

/**
 * Computes the lots of movements that an earlier version recorded without them; does nothing in a
 * store that has kept lots from its first movement. The follower waits, and reads go on at the head
 * that the projection has reached.
 */
export const replay = (settings: ReplaySettings) =>
  Effect.fn("Lots.replay")(function* (start: Start) {
    if (!(yield* isDue)) return
    const records = yield* Records
    yield* Effect.logInfo("computing lots from the movements recorded before lots were kept")
    for (let pages = 1; ; pages += 1) {
      const { asset, isDone } = yield* records.transactAlone(replayPage(settings, start))
      if (isDone) return yield* Effect.logInfo("lots are computed", { pages })
      if (pages % loggedEvery === 0) {
        yield* Effect.logInfo("computing lots", { asset, movements: pages * settings.pageMax })
      }
    }
  })

const isDue = Effect.gen(function* () {
  const records = yield* Records
  const begun = yield* records.find(lotReplays, replayId)
  if (Option.isSome(begun)) return !begun.value.isDone
  // The first page has the replay's record with its lots: without one, lots were kept from the start.
  const [[supply], [lot]] = yield* Effect.all([
    records.list(supplies, { limit: 1 }),
    records.list(lots, { limit: 1 })
  ])
  return supply !== undefined && lot === undefined
})

/** Replays the next page, and records the place after it in the same transaction. */
export const replayPage = Effect.fnUntraced(function* (settings: ReplaySettings, start: Start) {
  const records = yield* Records
  const found = Option.getOrUndefined(yield* records.find(lotReplays, replayId))
  const act = actAt({ offset: start.offset, at: yield* Instant.now })
  const self = found ?? (yield* LedgerRecord.open(lotReplays, begin, { act }))
  if (self.isDone) return self
  const next = self.asset === "" ? yield* assetAfter("") : yield* pageOf(self, settings, start)
  return yield* records.append(lotReplays, self, { on: "advance", ...next }, act)
})

type Place = Omit<Fact, "on">

/** The place before the first page of the instrument that follows. */
const assetAfter = Effect.fnUntraced(function* (asset: string) {
  const records = yield* Records
  const [next] = yield* records.list(supplies, { after: asset, limit: 1 })
  const place = { asset: next?.sortKey ?? asset, phase: "register", after: null } as const
  return { ...place, isDone: next === undefined } satisfies Place
})

/** Folds a page of the register or of the movements; returns the place after it. */
const pageOf = Effect.fnUntraced(function* (
  { asset, after, phase }: LotReplay,
  { fold, pageMax }: ReplaySettings,
  start: Start
) {
  const records = yield* Records
  const page = {
    where: { asset: [asset] },
    limit: pageMax,
    ...(after === null ? {} : { after })
  }
  const register = yield* registerBefore(asset, start)
  if (phase === "register") {
    const rows =
      register === null ? [] : yield* records.list(registerEntries, { ...page, pin: register.pin })
    if (register !== null)
      yield* fold([{ ...register, movements: [], begunMovements: recordsOf(rows) }])
    return rows.length === pageMax
      ? { asset, phase, after: rows.at(-1)?.sortKey ?? null, isDone: false }
      : { asset, phase: "movements" as const, after: null, isDone: false }
  }
  const rows = yield* records.list(movements, page)
  const since = register?.pin.offset ?? Offset.zero
  yield* fold(
    recordsOf(rows)
      .filter(({ offset }) => offset > since)
      .map(recordedOf)
  )
  return rows.length === pageMax
    ? { asset, phase, after: rows.at(-1)?.sortKey ?? null, isDone: false }
    : yield* assetAfter(asset)
})

const recordsOf = <R>(rows: ReadonlyArray<{ readonly record: Stored<R> }>) =>
  rows.map(({ record }) => record)

const recordedOf = (movement: Movement): RecordedMovements => ({
  act: actAt(movement),
  ledgerTime: movement.ledgerTime,
  movements: [movement],
  begunMovements: []
})

const actAt = (
  movement: Pick<Movement, "offset" | "at"> & Partial<Pick<Movement, "updateId">>
): Act => ({
  cause: {
    by: "update",
    updateId: movement.updateId ?? Snapshot.updateId,
    offset: movement.offset,
    effectiveAt: movement.at
  },
  now: movement.at,
  offset: movement.offset
})

/**
 * The register that an instrument's movements begin from; null where they begin with the first unit.
 * It is the one at the horizon: of the snapshot that the projection began from, or of the pruning
 * since. Without a horizon it is the one before the first movement.
 */
const registerBefore = Effect.fnUntraced(function* (asset: string, start: Start) {
  const records = yield* Records
  const [row] = yield* records.list(movements, { where: { asset: [asset] }, limit: 1 })
  const first = row?.record
  if (first !== undefined && isFirstUnit(first)) return null
  const before = first === undefined ? start.offset : Offset.of(first.offset - 1)
  const offset = start.horizonOffset > Offset.zero ? start.horizonOffset : before
  const recorded = yield* start.ledgerTimeAt(offset)
  // A snapshot is no update of the log, which has no time of it.
  const ledgerTime = Option.getOrElse(recorded, () => first?.ledgerTime ?? start.ledgerTime)
  if (ledgerTime === null) return null
  const pin: Pin.ResolvedPin = {
    offset,
    ledgerTime,
    select: { by: "offset" },
    judgedAt: ledgerTime
  }
  return { pin, ledgerTime, act: actAt({ offset, at: ledgerTime }) }
})

/** Checks whether no party held units before the movement. */
const isFirstUnit = ({ from, units, balanceAfter }: Movement): boolean =>
  from === null && Decimal.equals(units, balanceAfter)
