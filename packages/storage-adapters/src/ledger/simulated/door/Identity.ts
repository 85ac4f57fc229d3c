/** Endpoints of identity: the node, its packages, the caller and its parties. */
import { Effect } from "effect"
import * as Users from "../Users.ts"
import * as Answers from "./Answers.ts"
import { type EndpointContext, from, type Handler } from "./EndpointContext.ts"
import type { JsonObject } from "./Json.ts"
import * as Requests from "./Requests.ts"
import * as TypeNames from "./TypeNames.ts"

/** Longest interval between two checkpoints of a quiet stream; the node's default. */
const checkpointDelay = { seconds: 1, nanos: 0 }

export const version = ({ profile }: EndpointContext): JsonObject => ({
  version: `${profile}.0+bursar-sim`,
  features: {
    experimental: {
      staticTime: { supported: false },
      commandInspectionService: { supported: false }
    },
    userManagement: { supported: false, maxRightsPerUser: 0, maxUsersPageSize: 0 },
    partyManagement: { maxPartiesPageSize: 0 },
    offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: checkpointDelay },
    packageFeature: { maxVettedPackagesPageSize: 0 }
  }
})

export const authenticatedUser: Handler = (_, { user }) =>
  Effect.succeed({ user: Answers.user(user) })

export const rights: Handler = (_, { user, name }) =>
  name === user.userId
    ? Effect.succeed({ rights: user.rights.map(Answers.right) })
    : Effect.fail(Users.permissionDenied())

export const parties: Handler = ({ participant }, { user }) =>
  Effect.map(participant.parties(user), (own) => ({
    partyDetails: own.map(Answers.party),
    nextPageToken: ""
  }))

export const participantId: Handler = ({ participant }) =>
  Effect.map(participant.participantId, (id) => ({ participantId: id }))

export const packages: Handler = ({ names }) =>
  Effect.succeed({ packageIds: names.packages.map(({ packageId }) => packageId) })

export const packageStatus: Handler = ({ names }, { name }) =>
  Effect.succeed({
    packageStatus: names.byId.has(name) ? "PACKAGE_STATUS_REGISTERED" : "PACKAGE_STATUS_UNSPECIFIED"
  })

export const vettedPackages: Handler = (context, { body }) =>
  Effect.gen(function* () {
    const { packageMetadataFilter: filter } = yield* from(
      Requests.decode(Requests.VettedPackages, body)
    )
    const ids = filter?.packageIds ?? []
    const prefixes = filter?.packageNamePrefixes ?? []
    const all = ids.length === 0 && prefixes.length === 0
    const found = context.names.packages.filter(
      ({ packageId, name }) =>
        all || ids.includes(packageId) || prefixes.some((prefix) => name.startsWith(prefix))
    )
    return {
      vettedPackages: [
        {
          packages: found.map(({ packageId, name, version: packageVersion }) => ({
            packageId,
            packageName: name,
            packageVersion
          })),
          participantId: yield* context.participant.participantId,
          synchronizerId: context.synchronizerId,
          topologySerial: 1
        }
      ],
      nextPageToken: ""
    }
  })

export const preferredPackages: Handler = (context, { body }) =>
  Effect.gen(function* () {
    const { packageVettingRequirements } = yield* from(
      Requests.decode(Requests.PreferredPackages, body)
    )
    const names = [...new Set(packageVettingRequirements.map(({ packageName }) => packageName))]
    const references: Array<JsonObject> = []
    for (const name of names) {
      const found = context.names.byName.get(name)
      if (found === undefined) return yield* TypeNames.unknownPackage(name)
      const { packageId, version: packageVersion } = found
      references.push({ packageId, packageName: name, packageVersion })
    }
    return { packageReferences: references, synchronizerId: context.synchronizerId }
  })
