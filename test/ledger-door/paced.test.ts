/** The door on the paced server of a deployment: calls of a connection in turn, sockets as before. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { PacedServer } from "#host/middleware/PacedServer.ts"
import { open, type Opened, socket } from "./opened.ts"
import { pipelined } from "./pipelined.ts"
import * as Wire from "./wire.ts"

const pipelinedMax = 3

describe("the door on a paced server", () => {
  let door: Opened
  beforeAll(async () => {
    door = await open({
      makeServer: ({ refuse }) =>
        new PacedServer(
          {},
          {
            pipelinedMax,
            stalledWithin: 5_000,
            movedWithin: 100,
            stoppedWithin: 1_000,
            arrived: () => {},
            begins: () => {},
            refuse: ({ request }) => refuse(request.socket),
            cut: ({ request }) => request.socket.destroy(),
            closed: () => {}
          }
        )
    })
  })
  afterAll(() => door.close())

  it("answers so many calls of a connection in turn, and refuses one more", async () => {
    const statuses = (text: string) =>
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
    const few = await pipelined(door.url, pipelinedMax + 1)
    expect(new Set(statuses(few)).size).toBe(1)
    const many = await pipelined(door.url, 2 * pipelinedMax)
    expect(statuses(many)).toEqual([...statuses(few), 409])
    expect(many).toContain("PARTICIPANT_BACKPRESSURE")
  })

  it("opens sockets as on any server", async () => {
    const venue = await door.add("venue")
    await Wire.submit(door, venue, "s0", Wire.createPoint(venue.party))
    const opened = await socket(door, venue.token, "/v2/updates", {
      beginExclusive: 0,
      updateFormat: Wire.effects(venue.party)
    })
    await opened.until(() => opened.frames.length >= 1)
    opened.ws.close()
  })
})
