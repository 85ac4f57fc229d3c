/** The ids of the simulated ledger, against the vectors that were given. */
import { Identifiers } from "@bursar/storage-adapters/simulated-ledger"
import { describe, expect, it } from "vitest"

const venue = "venue::1220035a791d845bbb8195615e7eccd7a57c2ec4075c2e88695f194bab4e0194a889"

describe("identifiers", () => {
  const change = { userId: "bursar-engine", actAs: [venue], commandId: "op1:1" }
  const changeId = "d45ac3fba103f6021a0ad14638de4e3416c2820203dfc3c2894b91c22d96fe3b"
  const seed = Identifiers.seed({ ledgerId: "sim", changeId, offset: 7 })

  it("a change has the id of the vector", () => {
    expect(Identifiers.changeId(change)).toBe(changeId)
  })

  it("the order of the acting parties does not make another change", () => {
    const other = "alice::1220ab"
    expect(Identifiers.changeId({ ...change, actAs: [venue, other] })).toBe(
      Identifiers.changeId({ ...change, actAs: [other, venue] })
    )
  })

  it("the update has the id of the vector", () => {
    expect(Identifiers.updateId(seed)).toBe(
      "1220db9592544237e5840a1ba6efe284a8e4c60f91d7c08e49a7cc9a77d26e7415e6"
    )
  })

  it.each([
    [0, "00de277542cefeaf7b6898e97d2b247e1a86a442a9154a9fc56195be884d7490e9"],
    [1, "003651a96e503180dba626e4a1c537be669e5fc1accd5871b6ae4f2d9bfed929ef"]
  ])("the contract of node %i has the id of the vector", (node, id) => {
    expect(Identifiers.contractId(seed, node)).toBe(id)
  })

  it.each([
    [
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      "1220035a791d845bbb8195615e7eccd7a57c2ec4075c2e88695f194bab4e0194a889"
    ],
    [
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
      "1220a5d7d280f5a16ae97e7fce02c6f148159a71a1fa9523cebfbca018fe5c0d7d88"
    ]
  ])("the key %s has the fingerprint of the vector", (key, fingerprint) => {
    expect(Identifiers.fingerprint(Buffer.from(key, "hex"))).toBe(fingerprint)
  })

  it("prepared bytes have the hash of the vector", () => {
    const hash = Identifiers.preparedHash(Buffer.from('{"bursarSim":1}'))
    expect(Buffer.from(hash).toString("hex")).toBe(
      "01fea59c03f2a2548a91bf8c39811622630ac44e8d0c074b6e7146b2c79a2f07"
    )
  })
})
