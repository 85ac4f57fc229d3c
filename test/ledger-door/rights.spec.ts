/** Rights at the door: each right against each endpoint, for its own party and for another. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Ledger } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import { SigningKey } from "#adapters/ledger/wallets/index.ts"
import { dig, open, type Opened } from "./opened.ts"
import * as Wire from "./wire.ts"

type Kind = Ledger.Right["kind"] | "none"

let door: Opened
let subject: Sim.PartyAdded
let outside: Sim.PartyAdded
let engine: Sim.PartyAdded
const tokens = new Map<Kind, string>()

beforeAll(async () => {
  door = await open()
  engine = await door.add("venue")
  outside = await door.add("outside", SigningKey.generate().publicKey)
  subject = await door.add("subject")
  await Wire.submit(door, subject, "first", Wire.createPoint(subject.party))
  for (const kind of ["CanActAs", "CanReadAs", "CanExecuteAs", "none"] as const) {
    // Each user has a party of its own beside the right under test.
    const { token } = await door.run(
      Effect.flatMap(Sim.Participant, ({ admin }) =>
        admin.addParty({
          hint: `with-${kind}`,
          kind: "local",
          rights: kind === "none" ? [] : [{ kind, party: subject.party }]
        })
      )
    )
    tokens.set(kind, token)
  }
})
afterAll(() => door.close())

/** For each endpoint that acts or reads for a party, the rights that suffice. */
const rows: ReadonlyArray<
  readonly [path: string, body: (party: string) => unknown, suffice: ReadonlyArray<Kind>]
> = [
  [
    "/v2/commands/submit-and-wait",
    (party) => ({ commandId: "r", actAs: [party], commands: [Wire.createPoint(party)] }),
    ["CanActAs"]
  ],
  [
    "/v2/commands/submit-and-wait-for-transaction",
    (party) => ({
      commands: { commandId: "s", actAs: [party], commands: [Wire.createPoint(party)] }
    }),
    ["CanActAs"]
  ],
  [
    "/v2/commands/async/submit",
    (party) => ({ commandId: "t", actAs: [party], commands: [Wire.createPoint(party)] }),
    ["CanActAs"]
  ],
  [
    "/v2/commands/completions",
    (party) => ({ parties: [party], beginExclusive: 0 }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/updates",
    (party) => ({ beginExclusive: 0, endInclusive: 1, updateFormat: Wire.effects(party) }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/updates/get-updates-page",
    (party) => ({ updateFormat: Wire.effects(party) }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/updates/update-by-offset",
    (party) => ({ offset: 1, updateFormat: Wire.effects(party) }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/state/active-contracts",
    (party) => ({ activeAtOffset: 1, eventFormat: Wire.eventFormat(party) }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/state/active-contracts-page",
    (party) => ({ eventFormat: Wire.eventFormat(party) }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/events/events-by-contract-id",
    (party) => ({ contractId: "00ff", eventFormat: Wire.eventFormat(party) }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/contracts/contract-by-id",
    (party) => ({ contractId: "00ff", queryingParties: [party] }),
    ["CanActAs", "CanReadAs"]
  ],
  [
    "/v2/interactive-submission/prepare",
    (party) => ({ commandId: "p", actAs: [party], commands: [Wire.createPoint(party)] }),
    ["CanActAs", "CanReadAs", "CanExecuteAs"]
  ]
]

const cases = rows.flatMap(([path, body, suffice]) =>
  (["CanActAs", "CanReadAs", "CanExecuteAs", "none"] as const).map(
    (kind) => [path, kind, suffice.includes(kind), body] as const
  )
)

describe("a right", () => {
  it.each(cases)("%s with %s of the party: allowed is %s", async (path, kind, allowed, body) => {
    const { status, json } = await door.ask(tokens.get(kind) ?? "", path, body(subject.party))
    if (allowed) {
      expect(status).not.toBe(403)
      expect(status).not.toBe(401)
      return
    }
    expect([status, dig(json, "code"), dig(json, "cause")]).toEqual([
      403,
      "PERMISSION_DENIED",
      "A security-sensitive error has been received"
    ])
    expect(JSON.stringify(json)).not.toContain(subject.party)
  })

  it.each(rows.map(([path, body]) => [path, body] as const))(
    "%s without a token, or with a wrong one, is refused as unknown",
    async (path, body) => {
      for (const token of [null, "blt_wrong", `blt_${"A".repeat(43)}`]) {
        const { status, json } = await door.ask(token, path, body(subject.party))
        expect([status, dig(json, "code")]).toEqual([401, "UNAUTHENTICATED"])
      }
    }
  )

  it.each([
    "/v2/state/ledger-end",
    "/v2/state/latest-pruned-offsets",
    "/v2/authenticated-user",
    "/v2/parties",
    "/v2/packages"
  ])("%s needs a token, and no more", async (path) => {
    expect((await door.ask(null, path)).status).toBe(401)
    expect((await door.ask(tokens.get("none") ?? "", path)).status).toBe(200)
  })
})

describe("the engine's token", () => {
  it("acts as nobody but the venue, by no field of any request", async () => {
    const create = Wire.createPoint(subject.party)
    const tries: ReadonlyArray<readonly [string, unknown]> = [
      [
        "/v2/commands/submit-and-wait",
        { commandId: "e1", actAs: [subject.party], commands: [create] }
      ],
      [
        "/v2/commands/submit-and-wait",
        { commandId: "e2", actAs: [engine.party, subject.party], commands: [create] }
      ],
      [
        "/v2/commands/submit-and-wait",
        {
          commandId: "e3",
          actAs: [engine.party],
          readAs: [subject.party],
          commands: [Wire.createPoint(engine.party)]
        }
      ],
      [
        "/v2/commands/submit-and-wait",
        {
          commandId: "e4",
          userId: subject.userId,
          actAs: [engine.party],
          commands: [Wire.createPoint(engine.party)]
        }
      ],
      ["/v2/commands/async/submit", { commandId: "e5", actAs: [outside.party], commands: [create] }]
    ]
    for (const [path, body] of tries) {
      expect((await door.ask(engine.token, path, body)).status, JSON.stringify(body)).toBe(403)
    }
    const authority = await door.ask(engine.token, "/v2/commands/submit-and-wait", {
      commandId: "e6",
      actAs: [engine.party],
      commands: [create]
    })
    expect(dig(authority.json, "code")).toBe("DAML_AUTHORIZATION_ERROR")
  })

  it("reads nobody else's contracts, users or completions", async () => {
    expect((await door.ask(engine.token, `/v2/users/${subject.userId}/rights`)).status).toBe(403)
    const anybody = {
      transactionShape: "TRANSACTION_SHAPE_ACS_DELTA",
      eventFormat: { filtersForAnyParty: { cumulative: [] } }
    }
    const all = await door.ask(engine.token, "/v2/updates", {
      beginExclusive: 0,
      updateFormat: { includeTransactions: anybody }
    })
    expect(all.status).toBe(403)
    const completions = await door.ask(engine.token, "/v2/commands/completions", {
      userId: subject.userId,
      parties: [engine.party]
    })
    expect(completions.status).toBe(403)
  })
})

describe("an external party", () => {
  it("does not act by its token", async () => {
    const { status } = await door.ask(outside.token, "/v2/commands/submit-and-wait", {
      commandId: "x1",
      actAs: [outside.party],
      commands: [Wire.createPoint(outside.party)]
    })
    expect(status).toBe(403)
  })
})
