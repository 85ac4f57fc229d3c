/**
 * Conformance suite of the Crypto and Ids ports: published vectors, and what no vector says. Whatever
 * one implementation sealed, signed or hashed, another must read: a venue may change between them.
 */
import { Crypto, Ids } from "@bursar/engine-core/ports"
import { describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { expect } from "vitest"

/** A promise of the ports; `proves` says what a wrong adapter would do. */
export interface CryptoCheck {
  readonly group: "SHA-256" | "HMAC-SHA-256" | "Ed25519" | "AES-256-GCM" | "comparison" | "ids"
  readonly name: string
  readonly proves: string
  readonly run: Effect.Effect<void, never, Crypto | Ids>
}

const hexOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../gu) ?? [], (pair) => Number.parseInt(pair, 16))

const utf8 = new TextEncoder()

const checkOf = (
  group: CryptoCheck["group"],
  name: string,
  proves: string,
  judge: (crypto: Crypto["Service"]) => void
): CryptoCheck => ({
  group,
  name,
  proves,
  run: Effect.map(Crypto, judge)
})

/** FIPS 180-4, examples of NIST. */
const digests = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
  ],
  ["a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"]
] as const

/** RFC 4231, cases 1 to 4, 6 and 7: key in hex, data in hex, MAC. */
const macs = [
  [
    "0b".repeat(20),
    hexOf(utf8.encode("Hi There")),
    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
  ],
  [
    hexOf(utf8.encode("Jefe")),
    hexOf(utf8.encode("what do ya want for nothing?")),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
  ],
  [
    "aa".repeat(20),
    "dd".repeat(50),
    "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
  ],
  [
    "0102030405060708090a0b0c0d0e0f10111213141516171819",
    "cd".repeat(50),
    "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
  ],
  [
    "aa".repeat(131),
    hexOf(utf8.encode("Test Using Larger Than Block-Size Key - Hash Key First")),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
  ],
  [
    "aa".repeat(131),
    hexOf(
      utf8.encode(
        "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
      )
    ),
    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
  ]
] as const

/** RFC 8032 section 7.1, tests 1 to 3. */
const signatures = [
  {
    seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    data: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
  },
  {
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    data: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
  },
  {
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    data: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
  }
] as const

/** The specification of GCM (McGrew and Viega), test cases 13 to 15; the tag is last. */
const seals = [
  {
    key: "00".repeat(32),
    nonce: "00".repeat(12),
    data: "",
    sealed: "530f8afbc74536b9a963b4f1c4cb738b"
  },
  {
    key: "00".repeat(32),
    nonce: "00".repeat(12),
    data: "00".repeat(16),
    sealed: "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
  },
  {
    key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
    nonce: "cafebabefacedbaddecaf888",
    data: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
    sealed:
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015adb094dac5d93471bdec1a502270e3cc6c"
  }
] as const

/** The same bytes with the bit of one of them turned over. */
const turned = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))

/** Text with characters of one to four bytes, and a surrogate alone, which UTF-8 cannot have. */
const texts = ["", "bursar", "Zürich", "€ 1,00", "𝔅", "\ud835", `a${"é".repeat(2_000)}`] as const

const [vector] = signatures
const order = 2n ** 252n + 27742317777372353535851937790883648493n

/** A signature whose scalar is larger by the group's order: the same point, and never valid. */
const malleable = (signature: Uint8Array): Uint8Array => {
  const scalar = [...signature.subarray(32)].reduceRight(
    (sum, byte) => sum * 256n + BigInt(byte),
    0n
  )
  const larger = scalar + order
  const bytes = signature.slice()
  for (let index = 0; index < 32; index++) {
    bytes[32 + index] = Number((larger >> BigInt(8 * index)) & 0xffn)
  }
  return bytes
}

/** Every promise of the ports of cryptography and ids, against published vectors. */
export const cryptoChecks: ReadonlyArray<CryptoCheck> = [
  checkOf(
    "SHA-256",
    "gives the published digests, of a text and of its bytes",
    "a digest in upper case or base64, or of a text's UTF-16 units",
    (crypto) => {
      for (const [text, digest] of digests) {
        expect(crypto.sha256(text)).toBe(digest)
        expect(crypto.sha256(utf8.encode(text))).toBe(digest)
      }
      for (const text of texts) expect(crypto.sha256(text)).toBe(crypto.sha256(utf8.encode(text)))
    }
  ),
  checkOf(
    "SHA-256",
    "gives the same digest of parts, wherever they are cut",
    "a digest of each part, or one that forgets what does not fill a block",
    (crypto) => {
      const bytes = utf8.encode("0123456789".repeat(20))
      for (const cut of [0, 1, 55, 56, 63, 64, 65, 128, 199, 200]) {
        const parts = crypto.sha256Parts()
        parts.update(bytes.subarray(0, cut))
        parts.update(bytes.subarray(cut))
        expect(parts.digest(), `cut at ${cut}`).toBe(crypto.sha256(bytes))
      }
    }
  ),
  checkOf(
    "HMAC-SHA-256",
    "gives the published codes, of short keys and of those longer than a block",
    "a key that is cut to a block, where it must be hashed",
    (crypto) => {
      for (const [key, data, code] of macs) {
        expect(hexOf(crypto.hmacSha256(bytesOf(key), bytesOf(data)))).toBe(code)
      }
    }
  ),
  checkOf(
    "HMAC-SHA-256",
    "gives the code of a text as of its bytes, short and long",
    "a fast path for short texts that counts units instead of bytes",
    (crypto) => {
      const key = bytesOf("aa".repeat(32))
      for (const text of texts) {
        expect(hexOf(crypto.hmacSha256(key, text))).toBe(
          hexOf(crypto.hmacSha256(key, utf8.encode(text)))
        )
      }
    }
  ),
  checkOf(
    "Ed25519",
    "gives the published keys and signatures, and verifies them",
    "a seed taken for the scalar, a prehashed variant, a signature of the text's hash",
    (crypto) => {
      for (const { seed, key, data, signature } of signatures) {
        expect(hexOf(crypto.ed25519.publicKey(bytesOf(seed)))).toBe(key)
        expect(hexOf(crypto.ed25519.sign(bytesOf(seed), bytesOf(data)))).toBe(signature)
        expect(
          crypto.ed25519.verify({
            publicKey: bytesOf(key),
            data: bytesOf(data),
            signature: bytesOf(signature)
          })
        ).toBe(true)
      }
    }
  ),
  checkOf(
    "Ed25519",
    "answers false to another message, key, signature or length, and never throws",
    "a forged or damaged signature that is taken, or one that ends the program",
    ({ ed25519 }) => {
      const publicKey = bytesOf(vector.key)
      const signature = bytesOf(vector.signature)
      const data = new Uint8Array()
      expect(ed25519.verify({ publicKey, data, signature })).toBe(true)
      expect(ed25519.verify({ publicKey, data: "x", signature })).toBe(false)
      for (const at of [0, 31, 32, 63]) {
        expect(ed25519.verify({ publicKey, data, signature: turned(signature, at) })).toBe(false)
      }
      expect(ed25519.verify({ publicKey, data, signature: malleable(signature) })).toBe(false)
      const other = bytesOf(signatures[1].key)
      expect(ed25519.verify({ publicKey: other, data, signature })).toBe(false)
      for (const length of [0, 31, 33, 64]) {
        const wrong = new Uint8Array(length)
        expect(ed25519.verify({ publicKey: wrong, data, signature })).toBe(false)
      }
      for (const length of [0, 63, 65]) {
        const wrong = new Uint8Array(length)
        expect(ed25519.verify({ publicKey, data, signature: wrong })).toBe(false)
      }
      // No point has these bytes.
      const noPoint = new Uint8Array(32).fill(0xff)
      expect(ed25519.verify({ publicKey: noPoint, data, signature })).toBe(false)
    }
  ),
  checkOf(
    "AES-256-GCM",
    "seals to the published bytes, the tag last, and opens them",
    "a tag in front, a counter that begins elsewhere, a nonce that is hashed",
    (crypto) => {
      for (const { key, nonce, data, sealed } of seals) {
        const keyed = { key: bytesOf(key), nonce: bytesOf(nonce) }
        expect(hexOf(crypto.seal({ ...keyed, data: bytesOf(data) }))).toBe(sealed)
        const opened = crypto.unseal({ ...keyed, sealed: bytesOf(sealed) })
        expect(opened === undefined ? undefined : hexOf(opened)).toBe(data)
      }
    }
  ),
  checkOf(
    "AES-256-GCM",
    "opens nothing under another key or nonce, nor bytes of which one was changed or left out",
    "data that nobody sealed, handed on as if it were whole",
    (crypto) => {
      const { key, nonce, sealed } = seals[2]
      const keyed = { key: bytesOf(key), nonce: bytesOf(nonce) }
      const bytes = bytesOf(sealed)
      for (const at of [0, bytes.length - 17, bytes.length - 16, bytes.length - 1]) {
        expect(crypto.unseal({ ...keyed, sealed: turned(bytes, at) }), `byte ${at}`).toBe(undefined)
      }
      for (const length of [0, 15, 16, bytes.length - 1]) {
        expect(crypto.unseal({ ...keyed, sealed: bytes.subarray(0, length) })).toBe(undefined)
      }
      expect(crypto.unseal({ ...keyed, key: turned(keyed.key, 0), sealed: bytes })).toBe(undefined)
      expect(crypto.unseal({ ...keyed, nonce: turned(keyed.nonce, 0), sealed: bytes })).toBe(
        undefined
      )
    }
  ),
  checkOf(
    "comparison",
    "is true of equal bytes alone, and false of unequal lengths",
    "a comparison that throws, or that ends with the shorter one",
    ({ equal }) => {
      const bytes = bytesOf("00ff10")
      expect(equal(bytes, bytes.slice())).toBe(true)
      expect(equal(new Uint8Array(), new Uint8Array())).toBe(true)
      for (const at of [0, 1, 2]) expect(equal(bytes, turned(bytes, at))).toBe(false)
      expect(equal(bytes, bytes.subarray(0, 2))).toBe(false)
      expect(equal(bytes, bytesOf("00ff1000"))).toBe(false)
    }
  ),
  {
    group: "ids",
    name: "makes ids that differ, with their prefix, and UUIDs of version 4",
    proves: "an id that comes twice, or a UUID that a reader refuses",
    run: Effect.gen(function* () {
      const ids = yield* Ids
      const made = yield* Effect.all(Array.from({ length: 100 }, () => ids.make("act")))
      expect(new Set(made).size).toBe(100)
      for (const id of made) expect(id).toMatch(/^act_[0-9A-Za-z]+$/u)
      const uuids = yield* Effect.all(Array.from({ length: 100 }, () => ids.uuid))
      expect(new Set(uuids).size).toBe(100)
      for (const uuid of uuids) {
        expect(uuid).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u
        )
      }
    })
  },
  {
    group: "ids",
    name: "draws as many random bytes as were asked for, more than 65,536 as well",
    proves: "a platform's limit of one call that becomes a defect, or zeros in its place",
    run: Effect.gen(function* () {
      const { bytes } = yield* Ids
      for (const count of [0, 1, 32, 65_536, 200_000]) {
        expect((yield* bytes(count)).length).toBe(count)
      }
      // A run of 32 zeros at the end of random bytes comes once in 2^256 times.
      const drawn = yield* bytes(200_000)
      expect(drawn.subarray(-32).some((byte) => byte !== 0)).toBe(true)
    })
  }
]

/** Runs every check against a layer of both ports. */
export const cryptoSuite = <E>(name: string, layer: Layer.Layer<Crypto | Ids, E>): void => {
  const groups = [...new Set(cryptoChecks.map(({ group }) => group))]
  describe(name, () => {
    for (const group of groups) {
      describe(group, () => {
        for (const check of cryptoChecks.filter((one) => one.group === group)) {
          it.effect(check.name, () => Effect.provide(check.run, layer))
        }
      })
    }
  })
}
