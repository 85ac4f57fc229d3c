/** Faults of the work queue. */
import { WorkQueue } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "hastens-nothing": {
    does: "leaves an item that is hastened waiting",
    noticedBy: ["hastens an item that waits"],
    spoil: replace(WorkQueue, () => ({ hasten: () => Effect.void }))
  },
  "renews-nothing": {
    does: "lets a lease run out that its worker renews",
    noticedBy: [
      "keeps an item for a worker that renews",
      "renews a lease that a transaction holds"
    ],
    spoil: replace(WorkQueue, () => ({ renew: () => Effect.void }))
  },
  "stale-fence": {
    does: "takes the word of a worker whose lease was taken over",
    noticedBy: ["gives an item to another when its lease has run out"],
    spoil: replace(WorkQueue, ({ fence }) => ({
      fence: (lease) => Effect.ignore(fence(lease))
    }))
  },
  "fence-of-the-item": {
    does: "starts the fence anew when an item comes back",
    noticedBy: ["refuses an old lease of an item that left and came back"],
    spoil: replace(WorkQueue, (sound) => {
      const latest = new Map<string, number>()
      const renewed = <L extends { itemId: string; queue: string; fence: number }>(
        lease: L
      ): L => ({
        ...lease,
        fence: latest.get(`${lease.queue} ${lease.itemId}`) ?? lease.fence
      })
      return {
        lease: (request) =>
          Effect.map(sound.lease(request), (leases) =>
            leases.map((lease) => {
              // Only the first attempt of an item can be confused with that of its successor.
              if (lease.attempt === 1) latest.set(`${lease.queue} ${lease.itemId}`, lease.fence)
              return lease
            })
          ),
        fence: (lease) => sound.fence(renewed(lease)),
        renew: (lease, millis) => sound.renew(renewed(lease), millis),
        finish: (lease) => sound.finish(renewed(lease)),
        release: (lease, outcome) => sound.release(renewed(lease), outcome)
      }
    })
  },
  "leased-twice": {
    does: "gives an item to a second worker while the first has it",
    noticedBy: ["leases no item twice", "does not lease ahead of an older item"],
    spoil: replace(WorkQueue, ({ lease }) => {
      let last: ReadonlyArray<Parameters<WorkQueue["Service"]["fence"]>[0]> = []
      return {
        lease: (request) =>
          Effect.map(lease(request), (leases) => {
            const again = last.filter((old) => old.queue === request.queue)
            last = leases
            return [...again, ...leases]
          })
      }
    })
  },
  "resource-ignored": {
    does: "runs the items of one resource side by side",
    noticedBy: [
      "leases the oldest first and one of each resource",
      "runs the items of a resource one"
    ],
    spoil: replace(WorkQueue, ({ enqueue }) => ({
      enqueue: (items) => enqueue(items.map((item) => ({ ...item, resource: item.itemId })))
    }))
  },
  "queued-first": {
    does: "leases what was queued first, however late it was due",
    noticedBy: ["leases what was due first"],
    spoil: replace(WorkQueue, ({ enqueue, lease }) => {
      const places = new Map<string, number>()
      const placeOf = ({ queue, itemId }: { queue: string; itemId: string }) =>
        places.get(`${queue} ${itemId}`) ?? 0
      return {
        enqueue: (items) =>
          Effect.suspend(() => {
            for (const { queue, itemId } of items) places.set(`${queue} ${itemId}`, places.size)
            return enqueue(items)
          }),
        lease: (request) =>
          Effect.map(lease(request), (leases) => leases.toSorted((a, b) => placeOf(a) - placeOf(b)))
      }
    })
  },
  "newest-first": {
    does: "leases the newest item first",
    noticedBy: ["leases the oldest first"],
    spoil: replace(WorkQueue, ({ lease }) => ({
      lease: (request) => Effect.map(lease(request), (leases) => leases.toReversed())
    }))
  },
  "delay-ignored": {
    does: "leases an item before its delay is over",
    noticedBy: ["does not lease an item before its delay"],
    spoil: replace(WorkQueue, ({ enqueue }) => ({
      enqueue: (items) => enqueue(items.map((item) => ({ ...item, delay: 0 })))
    }))
  },
  "lease-for-ever": {
    does: "never gives the item of a dead worker to another",
    noticedBy: ["gives an item to another when its lease has run out"],
    spoil: replace(WorkQueue, ({ lease }) => ({
      lease: (request) => lease({ ...request, leaseMillis: 3_600_000 })
    }))
  },
  "payload-overwritten": {
    does: "replaces an item that is there already",
    noticedBy: ["leaves an item that is there already alone"],
    spoil: replace(WorkQueue, ({ enqueue, settle }) => ({
      enqueue: (items) =>
        Effect.andThen(
          Effect.forEach(items, ({ queue, itemId }) => settle({ queue, itemIds: [itemId] })),
          enqueue(items)
        )
    }))
  }
} satisfies Record<string, Fault>
