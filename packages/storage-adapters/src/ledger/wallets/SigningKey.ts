/** Private key of an external party, kept in the wallet's own file only. */
import {
  createPrivateKey,
  createPublicKey,
  createHash,
  generateKeyPairSync,
  type KeyObject,
  sign
} from "node:crypto"
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

/** Key by which a party signs its transactions. */
export interface SigningKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** The part of the party's id after `::`. */
  readonly fingerprint: string
  readonly sign: (message: Uint8Array) => Uint8Array
}

const from = (key: KeyObject): SigningKey => {
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the key is no Ed25519 key")
  const publicKey = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32)
  const purpose = Buffer.alloc(4)
  purpose.writeInt32BE(12)
  const digest = createHash("sha256").update(purpose).update(publicKey).digest("hex")
  return {
    publicKey,
    fingerprint: `1220${digest}`,
    sign: (message) => sign(null, message, key)
  }
}

/** DER prefix of an Ed25519 private key, before the 32 bytes of the seed. */
const seedPrefix = Buffer.from("302e020100300506032b657004220420", "hex")

/** Key of a seed of 32 bytes; the same seed gives the same key. */
export const fromSeed = (seed: Uint8Array): SigningKey =>
  from(
    createPrivateKey({
      key: Buffer.concat([seedPrefix, seed]),
      format: "der",
      type: "pkcs8"
    })
  )

/** New key that nobody can guess. */
export const generate = (): SigningKey => from(generateKeyPairSync("ed25519").privateKey)

/** Reads a key file, which must be readable for its owner only. */
export const read = (file: string): SigningKey => {
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new Error(`${file} can be read by others; make it private with chmod 600`)
  }
  return from(createPrivateKey(readFileSync(file, "utf8")))
}

/** Flushes the names in a folder to the disk; on Windows, which opens no folder, the file system does so. */
const flushFolder = (folder: string): void => {
  if (process.platform === "win32") return
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Generates a key and writes it to a new file; never overwrites one. */
export const create = (file: string): SigningKey => {
  const { privateKey } = generateKeyPairSync("ed25519")
  // On the disk before the ledger knows its public key: no other key can act for the party.
  writeFileSync(file, privateKey.export({ format: "pem", type: "pkcs8" }), {
    mode: 0o600,
    flag: "wx",
    flush: true
  })
  flushFolder(dirname(file))
  return from(privateKey)
}
