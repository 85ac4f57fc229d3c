/**
 * Each outside party as its own process, with its own token file and key, controlled by a command
 * line.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Templates from "@bursar/engine-core/templates"
import { Decimal } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { Participant } from "#adapters/ledger/simulated/SimulatedLedger.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { dig } from "./opened.ts"
import { bundled } from "../processes/bundled.ts"
import * as Story from "./story.ts"
import { until } from "../waiting.ts"
import { isLong } from "../long-run.ts"

const main = await bundled("packages/storage-adapters/src/ledger/wallets/main.ts")
const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url))

interface Ran {
  readonly code: number
  readonly lines: ReadonlyArray<unknown>
}

const parsed = (text: string): ReadonlyArray<unknown> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

const run = (...args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(node, [main, ...args], (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), lines: parsed(stdout) })
    )
  })

interface Running {
  readonly lines: Array<unknown>
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
}

const start = async (...args: ReadonlyArray<string>): Promise<Running> => {
  const child = spawn(node, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  const lines: Array<unknown> = []
  let rest = ""
  child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n")
    rest = parts.pop() ?? ""
    lines.push(...parts.map((line) => JSON.parse(line)))
  })
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  await until(() => lines.some((line) => dig(line, "ready") === true))
  return { lines, child, ended }
}

describe("outside parties as processes", () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-actors-"))
  const path = (name: string): string => join(folder, name)
  let scene: Story.Scene
  const started: Array<Running> = []

  beforeAll(async () => {
    scene = await Story.set()
    for (const [name, token] of Object.entries(scene.tokens)) {
      writeFileSync(path(`${name}.token`), `${token}\n`, { mode: 0o600 })
    }
    writeFileSync(
      path("holder.pem"),
      "-----BEGIN PRIVATE KEY-----\n" +
        Buffer.concat([
          Buffer.from("302e020100300506032b657004220420", "hex"),
          Buffer.alloc(32, 7)
        ]).toString("base64") +
        "\n-----END PRIVATE KEY-----\n",
      { mode: 0o600 }
    )
  })
  afterAll(async () => {
    for (const { child } of started) child.kill("SIGKILL")
    await scene.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const as = (name: string) => ["--door", scene.door.url, "--token-file", path(`${name}.token`)]
  const wallet = () => [...as("holder"), "--key-file", path("holder.pem")]

  it("bring a claim to units, and stop when they are told to", async () => {
    const { venue, fund, registrar, attestor } = scene.parties
    writeFileSync(
      path("registrar.json"),
      JSON.stringify({
        instruments: [{ instrumentId: Story.instrumentId, provider: venue, issuer: fund }]
      })
    )
    started.push(
      await start("registrar", ...as("registrar"), "--policy", path("registrar.json")),
      await start("fund", ...as("fund")),
      await start(
        "attestor",
        ...as("attestor"),
        "--instrument",
        Story.instrumentId,
        "--unit-decimals",
        "6"
      )
    )
    await Story.proposeMarket(scene, [attestor])
    await scene.await(Templates.PrimaryMarket)
    await scene.act(
      Templates.create(Templates.HolderInvitation, {
        venue,
        holderId: "H1",
        holder: scene.holder.party,
        custodian: null,
        predecessor: null,
        attributesDigest: Story.digest,
        validUntil: null
      }),
      Templates.create(Templates.AdmissionConsentProposal, {
        venue,
        admissionConsentId: "C1",
        registrar,
        fund,
        instrumentId: Story.instrumentId,
        terms: "standard"
      })
    )
    const accepted = await run("investor", "accept-invitation", "--holder-id", "H1", ...wallet())
    expect(accepted.code).toBe(0)
    expect(dig(accepted.lines[0], "signing", "hash")).toMatch(/=$/)
    expect(dig(accepted.lines[1], "act")).toBe("accept-invitation")
    expect(dig(accepted.lines[1], "created", 0, "entity")).toBe("HolderRegistration")
    const signed = await run(
      "investor",
      "sign-terms",
      "--holder-id",
      "H1",
      "--document-hash",
      Story.digest,
      ...wallet()
    )
    expect(signed.code).toBe(0)
    const consent = await scene.await(Templates.AdmissionConsent)
    await scene.act(
      Templates.exercise(Templates.AdmissionConsent, consent.contractId, "Offer", {
        holder: scene.holder.party,
        credentialId: "K1",
        claims: [],
        validFrom: null,
        validUntil: null,
        expiresAt: null
      })
    )
    const offer = await run(
      "investor",
      "accept-offer",
      "--instrument",
      Story.instrumentId,
      ...wallet()
    )
    expect(offer.code).toBe(0)
    await Story.claim(scene, { subscriptionId: "S1", cash: "100000", attestors: [attestor] })
    const published = await run(
      "oracle",
      "publish",
      "--instrument",
      Story.instrumentId,
      "--price",
      "1.0437",
      "--valuation-time",
      "2026-01-05T16:00:00Z",
      ...as("oracle")
    )
    expect(published.code).toBe(0)
    const lot = await scene.await(Templates.Lot)
    await scene.act(
      Templates.exercise(Templates.Lot, lot.contractId, "Deliver", {
        marketCid: null,
        credentialCid: (await scene.await(Templates.Credential)).contractId,
        configurationCid: null,
        executeBefore: null
      })
    )
    const minted = await scene.await(Templates.Holding)
    expect(Decimal.formatPlain(minted.payload.amount)).toBe("95812.973076")
    const held = await run("investor", "holdings", ...wallet())
    expect(dig(held.lines[0], "sees", 0, "amount")).toBe("95812.973076")
    for (const { child, ended, lines } of started.splice(0)) {
      child.kill("SIGTERM")
      expect(await ended).toBe(0)
      expect(lines.filter((line) => dig(line, "error") !== undefined)).toEqual([])
    }
  })

  it.runIf(isLong)(
    "agree to powers, grant a consent that units move under, and take their word back",
    async () => {
      const { venue, fund, registrar } = scene.parties
      const { party: holder } = scene.holder
      const heir = await scene.door.add("heir")
      scene.tokens["heir"] = heir.token
      const heirs = await scene.session("heir")
      const admissions = await scene.await(Templates.AdmissionConsent)
      await scene.act(
        Templates.create(Templates.IssuerPowersAgreementProposal, {
          venue,
          issuerPowersAgreementId: "P1",
          instrument: Story.instrument(scene),
          issuer: fund,
          registrar,
          powers: ["force-transfer", "recover"],
          consentRevocable: true,
          until: null,
          accepted: []
        }),
        Templates.create(Templates.IssuerPowersConsentOffer, {
          venue,
          issuerPowersConsentId: "G1",
          holderId: "H1",
          holder,
          instrument: Story.instrument(scene),
          issuers: [fund],
          registrars: [registrar],
          powers: ["recover"],
          revocable: true,
          validUntil: null,
          expiresAt: null
        }),
        Templates.exercise(Templates.AdmissionConsent, admissions.contractId, "Offer", {
          holder: heir.party,
          credentialId: "K3",
          claims: [],
          validFrom: null,
          validUntil: null,
          expiresAt: null
        })
      )
      const acted = async (...args: ReadonlyArray<string>) => {
        const { code, lines } = await run(...args)
        expect(code, JSON.stringify(lines)).toBe(0)
        return dig(lines.at(-1), "act")
      }
      const powers = ["--reference", "P1"]
      expect(await acted("fund", "accept-powers", ...powers, ...as("fund"))).toBe("accept-powers")
      expect(await acted("registrar", "accept-powers", ...powers, ...as("registrar"))).toBe(
        "accept-powers"
      )
      const consent = ["--reference", "G1", ...wallet()]
      expect(await acted("investor", "grant-consent", ...consent)).toBe("grant-consent")
      const offered = await scene.await(
        Templates.AdmissionOffer,
        (one) => one.holder === heir.party
      )
      const accept = Templates.exercise(Templates.AdmissionOffer, offered.contractId, "Accept", {})
      await Effect.runPromise(heirs.submit({ commandId: "heir:1", commands: [accept] }))
      const agreement = await scene.await(Templates.IssuerPowersAgreement)
      const granted = await scene.await(Templates.IssuerPowersConsent)
      const credential = await scene.await(
        Templates.Credential,
        (payload) => payload.holder === heir.party
      )
      const held = await scene.await(Templates.Holding, ({ owner }) => owner === holder)
      await scene.act(
        Templates.exercise(Templates.IssuerPowersAgreement, agreement.contractId, "ForceMove", {
          consentCid: granted.contractId,
          holdingCids: [held.contractId],
          amounts: [held.payload.amount],
          receiverCredentialCid: credential.contractId,
          cause: { kind: "recovery", orderRef: null, successor: heir.party },
          releases: []
        })
      )
      const received = await scene.await(Templates.Holding, ({ owner }) => owner === heir.party)
      expect(received.payload.amount).toBe(held.payload.amount)
      expect(await acted("investor", "revoke-consent", ...consent)).toBe("revoke-consent")
      expect(await acted("registrar", "end-powers", ...powers, ...as("registrar"))).toBe(
        "end-powers"
      )
    }
  )

  it.runIf(isLong)(
    "burn what a custodian keeps for its client, and sign what a holder redeems",
    async () => {
      const { venue, fund, registrar, oracle } = scene.parties
      const client = await scene.door.add("client")
      const custodian = await scene.door.run(
        Effect.flatMap(Participant, ({ admin }) =>
          admin.addParty({
            hint: "custodian",
            kind: "local",
            rights: [{ kind: "CanActAs", party: client.party }]
          })
        )
      )
      writeFileSync(path("custodian.token"), custodian.token, { mode: 0o600 })
      const instruments = [{ instrumentId: Story.instrumentId, unitDecimals: 6 }]
      writeFileSync(path("oracle.json"), JSON.stringify({ instruments }))
      writeFileSync(path("prices.jsonl"), "")
      const consent = await scene.await(Templates.AdmissionConsent)
      await scene.act(
        Templates.exercise(Templates.AdmissionConsent, consent.contractId, "Offer", {
          holder: client.party,
          credentialId: "K2",
          claims: [],
          validFrom: null,
          validUntil: null,
          expiresAt: null
        })
      )
      const asClient = ["--party", client.party, ...as("custodian")]
      const offered = ["--instrument", Story.instrumentId]
      expect((await run("custodian", "accept-offer", ...offered, ...asClient)).code).toBe(0)
      const bots = await Promise.all([
        start("registrar", ...as("registrar"), "--policy", path("registrar.json")),
        start("custodian", ...as("custodian")),
        start(
          "oracle",
          ...as("oracle"),
          "--prices",
          path("prices.jsonl"),
          "--policy",
          path("oracle.json")
        )
      ])
      started.push(...bots)
      await scene.act(
        Templates.create(Templates.MintRequest, {
          requester: venue,
          holder: client.party,
          instrument: Story.instrument(scene),
          amount: Decimal.of("100"),
          reference: { kind: "subscription", id: "opening" },
          executeBefore: null
        }),
        Templates.create(Templates.RedemptionClaim, {
          venue,
          redemptionId: "R1",
          orderId: null,
          instrument: Story.instrument(scene),
          holder: client.party,
          custodian: custodian.party,
          fund: null,
          mode: "wire",
          currency: "EUR",
          paymentAsset: null,
          orderedUnits: Decimal.of("40"),
          orderedAmount: null,
          oracle,
          cycleId: null,
          remainderOf: null,
          cutOffAt: null
        })
      )
      const acts = () =>
        bots.flatMap(({ lines }) => lines.map((line) => dig(line, "act"))).filter(Boolean)
      // Each process prints its act after the ledger has it: the lines arrive in any order.
      await expect
        .poll(() => acts().toSorted())
        .toEqual(["accept-burn", "accept-mint", "price-redemption", "request-burn"])
      const held = await run("custodian", "holdings", ...asClient)
      expect(dig(held.lines[0], "sees", 0, "amount")).toBe("60")
      const ordered = await run(
        "investor",
        "redeem",
        "--venue",
        venue,
        "--fund",
        fund,
        "--order-id",
        "O2",
        "--instrument",
        Story.instrumentId,
        "--instrument-admin",
        registrar,
        "--payment-instrument",
        Story.cashId,
        "--payment-admin",
        registrar,
        "--units",
        "5",
        ...wallet()
      )
      expect(ordered.code).toBe(0)
      const { payload } = await scene.await(Templates.RedemptionOrder)
      expect(payload).toMatchObject({ holder: scene.holder.party, orderId: "O2", amount: null })
      const gone = await run("investor", "withdraw-order", "--order-id", "O2", ...wallet())
      expect(gone.code).toBe(0)
      for (const { child, ended, lines } of started.splice(0)) {
        child.kill("SIGTERM")
        expect(await ended).toBe(0)
        expect(lines.filter((line) => dig(line, "error") !== undefined)).toEqual([])
      }
    }
  )

  it.runIf(isLong)(
    "order a rebasing instrument in the units it shows, and leave nothing of all of them",
    async () => {
      const { venue, fund, registrar, oracle, attestor } = scene.parties
      const instrument = { admin: registrar, id: "REBASING-1" }
      const client = await scene.door.add("saver")
      const custodian = await scene.door.run(
        Effect.flatMap(Participant, ({ admin }) =>
          admin.addParty({
            hint: "keeper",
            kind: "local",
            rights: [{ kind: "CanActAs", party: client.party }]
          })
        )
      )
      writeFileSync(path("keeper.token"), custodian.token, { mode: 0o600 })
      const asClient = ["--party", client.party, ...as("keeper")]
      const issued = { instrumentId: instrument.id, provider: venue, issuer: fund }
      writeFileSync(path("rebasing-registrar.json"), JSON.stringify({ instruments: [issued] }))
      const terms = {
        instrumentId: instrument.id,
        unitDecimals: 6,
        feeRate: "0.005",
        redemptionFeeRate: "0.005"
      }
      writeFileSync(path("rebasing-oracle.json"), JSON.stringify({ instruments: [terms] }))
      writeFileSync(path("rebasing.jsonl"), "")
      const publishes = async (value: string, valuationTime: string) => {
        const quote = { instrumentId: instrument.id, metric: "index", value, valuationTime }
        appendFileSync(path("rebasing.jsonl"), `${JSON.stringify(quote)}\n`)
        await scene.await(Templates.OraclePoint, (point) => point.value === Decimal.of(value))
      }
      const bots = await Promise.all([
        start("registrar", ...as("registrar"), "--policy", path("rebasing-registrar.json")),
        start("fund", ...as("fund")),
        start("custodian", ...as("keeper")),
        start(
          "attestor",
          ...as("attestor"),
          ...["--instrument", instrument.id, "--unit-decimals", "6", "--fee-rate", "0.005"]
        ),
        start(
          "oracle",
          ...as("oracle"),
          ...["--prices", path("rebasing.jsonl"), "--policy", path("rebasing-oracle.json")]
        )
      ])
      started.push(...bots)
      await scene.act(
        Templates.create(Templates.PrimaryMarketProposal, {
          ...{ venue, fund, registrar, oracle, attestors: [attestor], required: 1 },
          ...{ marketId: "M2", instrument, cash: Story.cash(scene), until: null, accepted: [] }
        }),
        Templates.create(Templates.AdmissionConsentProposal, {
          ...{ venue, admissionConsentId: "C2", registrar, fund, instrumentId: instrument.id },
          terms: "standard"
        })
      )
      await scene.await(Templates.PrimaryMarket, ({ marketId }) => marketId === "M2")
      const consent = await scene.await(
        Templates.AdmissionConsent,
        ({ instrumentId }) => instrumentId === instrument.id
      )
      await scene.act(
        Templates.exercise(Templates.AdmissionConsent, consent.contractId, "Offer", {
          ...{ holder: client.party, credentialId: "K4", claims: [] },
          ...{ validFrom: null, validUntil: null, expiresAt: null }
        })
      )
      const accepted = await run(
        "custodian",
        "accept-offer",
        "--instrument",
        instrument.id,
        ...asClient
      )
      expect(accepted.code).toBe(0)
      await publishes("1.7", "2026-01-05T16:00:00Z")
      const ordered = {
        ...{ venue, orderId: null, instrument, holder: client.party, custodian: custodian.party },
        ...({ fund: null, mode: "wire", currency: "EUR", paymentAsset: null, oracle } as const),
        ...{ cycleId: null, shownDecimals: 6 }
      }
      await scene.act(
        Templates.create(Templates.SubscriptionClaim, {
          ...ordered,
          ...{ subscriptionId: "S-rebasing", cash: Decimal.of("1000"), orderedUnits: null },
          ...{ feeRate: null, cashDecimals: null, attestors: [attestor], required: 1 },
          ...{ attested: [], pointCid: null, price: null, units: null }
        })
      )
      const lot = await scene.await(
        Templates.Lot,
        ({ subscriptionId }) => subscriptionId === "S-rebasing"
      )
      // 1000.00 less 5.00 shows 995 units, which are 995 / 1.7 base units.
      expect(Decimal.formatPlain(lot.payload.units)).toBe("585.2941176471")
      const credential = await scene.await(
        Templates.Credential,
        ({ holder }) => holder === client.party
      )
      await scene.act(
        Templates.exercise(Templates.Lot, lot.contractId, "Deliver", {
          ...{ marketCid: null, credentialCid: credential.contractId },
          ...{ configurationCid: null, executeBefore: null }
        })
      )
      const isHeld = (amount: string) =>
        scene.await(
          Templates.Holding,
          (holding) => holding.owner === client.party && holding.amount === Decimal.of(amount)
        )
      await isHeld("585.2941176471")
      await publishes("1.7314", "2026-01-06T16:00:00Z")
      const redeems = (
        redemptionId: string,
        position: { readonly units: string; readonly free: string }
      ) =>
        scene.act(
          Templates.create(Templates.RedemptionClaim, {
            ...ordered,
            ...{ redemptionId, orderedUnits: Decimal.of(position.units), orderedAmount: null },
            ...{ remainderOf: null, cutOffAt: null, freeUnits: Decimal.of(position.free) }
          })
        )
      await redeems("R-part", { units: "500", free: "585.2941176471" })
      await isHeld("296.5104743527")
      await redeems("R-all", { units: "513.378235", free: "296.5104743527" })
      const acts = () =>
        bots.flatMap(({ lines }) => lines.map((line) => dig(line, "act"))).filter(Boolean)
      await expect.poll(() => acts().filter((act) => act === "accept-burn").length).toBe(2)
      const held = await run("custodian", "holdings", ...asClient)
      expect(dig(held.lines[0], "sees")).toEqual([])
      for (const { child, ended, lines } of started.splice(0)) {
        child.kill("SIGTERM")
        expect(await ended).toBe(0)
        expect(lines.filter((line) => dig(line, "error") !== undefined)).toEqual([])
      }
    }
  )

  it("with nothing to do, say so and end with 3", async () => {
    const nothing = await run(
      "investor",
      "accept-invitation",
      "--holder-id",
      "H9",
      "--wait",
      "0",
      ...wallet()
    )
    expect(nothing.code).toBe(3)
    expect(dig(nothing.lines[0], "error")).toBe("Ended")
  })

  it("not understood, say why and end with 2", async () => {
    const misread = [
      [],
      ["investor", "fly", ...wallet()],
      ["attestor", ...as("attestor")],
      [
        "oracle",
        "publish",
        "--instrument",
        "I",
        "--price",
        "1e3",
        "--valuation-time",
        "2026-01-05T16:00:00Z",
        ...as("oracle")
      ],
      ["fund", "--unknown", "x", ...as("fund")]
    ]
    const ends = await Promise.all(misread.map((args) => run(...args)))
    expect(ends.map(({ code, lines }) => [code, lines.length])).toEqual(misread.map(() => [2, 1]))
  })

  it("refused, tell the ledger's reason and end with 1", async () => {
    writeFileSync(path("wrong.token"), "blt_wrong\n", { mode: 0o600 })
    const { code, lines } = await run(
      "investor",
      "contracts",
      "--door",
      scene.door.url,
      "--token-file",
      path("wrong.token")
    )
    expect([code, dig(lines[0], "error")]).toEqual([1, "UNAUTHENTICATED"])
  })

  it("a key that others can read is not used, and a key file is never overwritten", async () => {
    const made = await run("key", "new", "--key-file", path("new.pem"))
    expect(made.code).toBe(0)
    expect(Buffer.from(String(dig(made.lines[0], "publicKey")), "base64")).toHaveLength(32)
    expect((await run("key", "new", "--key-file", path("new.pem"))).code).toBe(2)
    expect((await run("key", "show", "--key-file", path("new.pem"))).lines).toEqual(made.lines)
    chmodSync(path("new.pem"), 0o644)
    expect((await run("key", "show", "--key-file", path("new.pem"))).code).toBe(2)
  })
})
