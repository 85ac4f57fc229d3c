/**
 * Stage of tests of backed instruments over HTTP: a venue with the wallets of its registrar, a custodian,
 * a bank that registers the assets, an oracle and holders, and what each of them does.
 */
import { Workers } from "@bursar/engine-core"
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import {
  RegistrarBot,
  Wallet as InvestorWallet,
  type World
} from "@bursar/storage-adapters/wallets"
import { expect } from "vitest"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as WallClock from "./wallClock.ts"
import * as Wallets from "./wallets.ts"

export const policy = { accept: "all" } as const
export const refusing = { accept: [], reject: "all" } as const
const documentHash = "ab".repeat(32)

export type Row = Readonly<Record<string, unknown>>

export const clock = WallClock.start("2026-08-03T12:00:00Z")
export let venue: Wallets.WholeVenue
export let registrar: Wallets.Wallet
export let custodian: Wallets.Wallet
export let bank: Wallets.Wallet
export let oracle: Wallets.Wallet
const wallets = new Map<string, Wallets.Wallet>()
export const walletOf = (holderId: string): Wallets.Wallet => {
  const wallet = wallets.get(holderId)
  if (wallet === undefined) throw new Error(`${holderId} has no wallet`)
  return wallet
}

export const succeeds = async (path: string, body: object, as = "operator"): Promise<Row> => {
  const ended = await venue.write(path, body, as)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: "succeeded" })
  return ended["result"] as Row
}
export const refusedBy = async (path: string, body: object, as = "operator"): Promise<string> => {
  const ended = await venue.write(path, body, as)
  const { type, gate, check } = (ended["problem"] ?? ended) as Readonly<Record<string, string>>
  return [type?.split(":").at(-1), gate, check].filter((one) => one != null).join(" ")
}
/** The places of a refused body, or else the detail of the refusal. */
export const toldBy = async (path: string, body: object): Promise<string> => {
  const ended = await venue.write(path, body)
  const { detail, errors } = (ended["problem"] ?? ended) as {
    readonly detail: string
    readonly errors: ReadonlyArray<{ readonly pointer: string }> | null
  }
  return errors === null ? detail : errors.map(({ pointer }) => pointer).join(" ")
}
export const read = async (path: string, as = "auditor") =>
  (await venue.read(path, as)).value as Row
export const rows = async (path: string, as = "auditor") =>
  (await venue.read(path, as)).value as ReadonlyArray<Row>
export const events = async (type: string) =>
  (await rows(`/v1/events?type=${type}`, "operator")).map(({ payload }) => payload as Row)

/** Half a minute later the engine has opened the due writes by itself, and they have ended. */
export const turn = async () => {
  for (const _ of ["what is due", "what follows"]) {
    clock.set(new Date(Date.now() + 15_000).toISOString())
    await venue.run(Workers.runOnce("schedules"))
    await venue.settle()
  }
}

export const reserve = () => read("/v1/reserves/res-1")
export const coverOf = async () => {
  const { cover, mintable, outstanding, required, counted } = await reserve()
  const { ratio, state } = cover as Row
  return { ratio, state, mintable, outstanding, required, counted }
}

export const asset = (id: string) => ({ admin: bank.party, id })

export const terms = (minCover: number, ofBill: object = {}) => ({
  minCover,
  assets: [
    { asset: asset("USD"), priceSource: null, freshness: null, haircut: 0, maxShare: null },
    {
      asset: asset("BILL"),
      priceSource: oracle.party,
      freshness: "PT1H",
      haircut: 0.05,
      maxShare: 0.4,
      ...ofBill
    }
  ]
})

export const gives = async (to: Wallets.Wallet, id: string, amount: string) => {
  await bank.does(() => [
    RegistrarBot.issue(bank.party, {
      instrumentId: id,
      provider: venue.party,
      receiver: to.party,
      amount: Decimal.of(amount),
      executeBefore: Instant.add(Instant.of(new Date().toISOString()), Duration.days(1)),
      reference: `${to.party}-${id}-${amount}`
    })
  ])
  expect(await to.does(InvestorWallet.plan({ policy }))).toBe("accept-transfer")
}

export const prices = async (value: string) =>
  oracle.acts(
    Templates.create(Templates.OraclePoint, {
      oracle: oracle.party,
      venue: venue.party,
      fund: registrar.party,
      registrar: bank.party,
      attestors: [],
      instrumentId: "BILL",
      metric: "price",
      value: Decimal.of(value),
      valuationTime: Instant.of(new Date(Date.now() - 1000).toISOString()),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )

export const joins = async (
  holderId: string,
  {
    wallet: ownWallet,
    admitted = true
  }: { readonly wallet?: Wallets.Wallet; readonly admitted?: boolean } = {}
) => {
  const wallet = ownWallet ?? (await venue.wallet(holderId))
  wallets.set(holderId, wallet)
  await succeeds("/v1/holders", { holderId, party: wallet.party }, "app")
  expect(await wallet.does(InvestorWallet.invitations(policy))).toBe("accept-invitation")
  expect(await wallet.does(InvestorWallet.signTerms({ documentHash }))).toBe("sign-terms")
  await succeeds(`/v1/holders/${holderId}/accepted-terms:accept`, {})
  if (!admitted) return
  await succeeds(`/v1/holders/${holderId}/admissions`, { instrumentId: "fund-a" })
  expect(await wallet.does(InvestorWallet.offers(policy))).toBe("accept-offer")
}

export const mintBody = (mintId: string, id: string, deposit: number, holderId = "h1") => ({
  mintId,
  holderId,
  asset: asset(id),
  deposit
})

/** Starts a mint, which its depositor's wallet funds and accepts; the engine settles it by itself. */
export const mints = async (mintId: string, id: string, deposit: number, holderId = "h1") => {
  await succeeds("/v1/reserves/res-1/mints", mintBody(mintId, id, deposit, holderId))
  const wallet = walletOf(holderId)
  await gives(wallet, id, String(deposit))
  expect(await wallet.does(InvestorWallet.plan({ policy }))).toBe("allocate")
  expect(await wallet.does(InvestorWallet.plan({ policy }))).toBe("accept-mint-order")
  await turn()
  return read(`/v1/reserves/res-1/mints/${mintId}`)
}

/** Has a wallet perform its pending requests, after it has merged the holdings that they need. */
export const does = async (wallet: Wallets.Wallet, plan: World.Plan): Promise<string> => {
  const name = await wallet.does(plan)
  return name === "join" ? wallet.does(plan) : name
}

/** Opens the venue with `fund-a`, which its registrar issues, and two admitted holders. */
export const open = async (): Promise<void> => {
  venue = await Wallets.open({ plugged: clock.plugged })
  registrar = await venue.wallet("registrar")
  custodian = await venue.wallet("custodian")
  bank = await venue.wallet("bank")
  oracle = await venue.wallet("oracle")
  const configured = {
    instrumentId: "fund-a",
    provider: venue.party,
    issuer: registrar.party
  }
  const bot = RegistrarBot.plan({ policy, instruments: [configured] })
  await succeeds("/v1/instruments", {
    ...bodyOf(),
    valuation: "par",
    registrar: registrar.party,
    oracle: null,
    holderCap: 100
  })
  expect(await registrar.does(bot)).toBe("configure-instrument")
  await succeeds("/v1/instruments/fund-a/admission-consent:propose", {
    fund: registrar.party,
    terms: "terms"
  })
  expect(await registrar.does(bot)).toBe("accept-consent")
  for (const holderId of ["h1", "h2"]) await joins(holderId)
}

export const close = async (): Promise<void> => {
  await venue.close()
  clock.stop()
}
